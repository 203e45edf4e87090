# SPDX-License-Identifier: Apache-2.0
"""Jobs on a Slurm cluster, as job arrays. The spool must lie on a file system that the nodes share.

Jobs that want the same cores and memory go into one array. Its script, NAME.sh in the spool, picks the command by
the element's index, keeps what it printed in KEY.err and how it ended in KEY.exit:

    start:  NAME and keys -> slurm.jobs, then sbatch
    wait:   KEY.exit in the spool -> ended; no longer in squeue, and no KEY.exit after a while -> lost, and why

NAME is unique and stands in slurm.jobs before sbatch is called. So a later runner finds the jobs of one that was
killed, whenever that was: it asks the queue for their names.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import secrets
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Collection, Iterable, Iterator, NamedTuple, Sequence

from .backend import Ended, Job, message_of

LOOKS_PER_QUESTION = 5  # looks into the spool for each squeue, which costs the whole cluster something
MEMORY_STEP = 64 << 20  # bytes; requests are rounded up to it, so that similar jobs share an array
PATIENCE = 120.0  # seconds for which a controller that does not answer is asked again

OVER = {  # states in which nothing happens any more: (status, what it means)
    "BOOT_FAIL": (3, "its node did not boot"),
    "CANCELLED": (143, "someone cancelled it"),
    "COMPLETED": (3, "but it left no record in the spool: is that on a file system that the nodes share?"),
    "DEADLINE": (143, "it could not end before its deadline"),
    "FAILED": (3, "it ended without a record in the spool"),
    "NODE_FAIL": (3, "its node failed"),
    "OUT_OF_MEMORY": (137, "it used more memory than it had asked for"),
    "PREEMPTED": (143, "others took its place"),
    "TIMEOUT": (143, "it reached its time limit"),
}
GONE = {  # the last state that was seen of jobs that the queue has forgotten; one cancelled while it waits is such
    "PENDING": (143, "it left the queue while it waited: most likely someone cancelled it"),
}
LOST = (3, "the queue has forgotten it, and it left no record in the spool")
TRANSIENT = re.compile("unable to contact|timed out|connection refused|temporarily|zero bytes|in standby mode", re.I)

SCRIPT = """\
#!/bin/sh
# An array of jobs. Slurm asks a job that it stops to end: what it then leaves is no product.
fw_stopped=
trap 'fw_stopped=1' TERM
fw_run() {{ # KEY COMMAND...
    fw_files={spool}/$1
    shift
    fw_started=$(date +%s.%N)
    (exec "$@" </dev/null >/dev/null 2>"$fw_files.err")
    fw_status=$?
    if [ "$fw_stopped" ]; then
        rm -f "$fw_files.json"
        exit 143
    fi
    {{ echo {name} "$fw_status" "$fw_started" "$(date +%s.%N)"; times; }} >"$fw_files.exit.part"
    mv -f "$fw_files.exit.part" "$fw_files.exit"
    exit "$fw_status"
}}
case $SLURM_ARRAY_TASK_ID in
{cases}
esac
"""


class SlurmError(Exception):
    """Slurm is not there or refuses; the message is its own."""


class _Row(NamedTuple):
    """What the queue tells of an element."""

    id: str = ""  # of its array
    number: str = ""  # its own, which the node's messages name
    state: str = ""


@dataclass
class _Array:
    name: str
    id: str  # empty where only an end in the spool tells of it
    left: set[str] = field(default_factory=set)  # keys whose end nobody has been told


@dataclass
class _Element:
    array: _Array
    index: int
    gone: float | None = None  # since when it is not pending or running
    state: str = "PENDING"  # the last that is known
    number: str = ""

    @property
    def id(self) -> str:
        return f"{self.array.id}_{self.index}"


class Slurm:
    """Jobs in a cluster's queue, `at_most` at once; `options` are further options of sbatch.

    `poll` is the time between two looks into the spool, `grace` how long a file may take to be seen there.
    """

    speculates = 0

    def __init__(self, spool: Path, *, partition: str | None = None, account: str | None = None,
                 time_limit: str | None = None, at_most: int = 1000, options: Sequence[str] = (), poll: float = 2.0,
                 grace: float = 30.0):
        if not shutil.which("sbatch"):
            raise SlurmError("there is no 'sbatch' here: the slurm backend runs where jobs are submitted to Slurm")
        self.spool = Path(os.path.abspath(spool))
        self.spool.mkdir(parents=True, exist_ok=True)
        self.at_most, self.poll, self.grace = at_most, poll, grace
        given = {"partition": partition, "account": account, "time": time_limit}
        self._options = [f"--{name}={value}" for name, value in given.items() if value is not None] + list(options)
        self._elements: dict[str, _Element] = {}  # by key
        self._largest = 0  # elements of an array; 0: not asked yet
        self._look_at = self._ask_at = 0.0
        self._has_accounting = True  # until sacct says otherwise

    # ---- the backend ----

    def adopt(self, keys: Collection[str]) -> set[str]:
        submitted = self._submitted()
        wanted = {key: submitted[key] for key in keys if key in submitted}
        if not wanted:
            return set()
        queue = self._queue()
        arrays: dict[str, _Array] = {}
        for key, (name, index) in wanted.items():
            row = queue.get((name, index), _Row())
            if (row.state and row.state not in OVER) or self._record(key, name):
                array = arrays.setdefault(name, _Array(name, row.id))
                array.id = array.id or row.id
                array.left.add(key)
                self._elements[key] = _Element(array, index, state=row.state)
        return set(wanted) & set(self._elements)

    def start(self, jobs: Iterable[Job]) -> list[str]:
        """Starts as many as there is room for, earlier ones first; their keys."""
        taken = list(islice(jobs, max(0, self.at_most - len(self._elements))))
        alike: dict[tuple[int, int], list[Job]] = {}
        for job in taken:
            alike.setdefault((job.cores, -(-job.memory // MEMORY_STEP)), []).append(job)
        for (cores, steps), group in alike.items():
            largest = self._largest_array()
            memory = [f"--mem={steps * (MEMORY_STEP >> 20)}M"] if steps else []
            for first in range(0, len(group), largest):
                self._submit(group[first:first + largest], [f"--cpus-per-task={cores}", *memory])
        return [job.key for job in taken]

    def wait(self, timeout: float | None) -> list[Ended]:
        limit = math.inf if timeout is None else time.monotonic() + timeout
        while self._elements or limit < math.inf:
            if self._elements and time.monotonic() >= self._look_at:
                ended = self._look()
                self._look_at = time.monotonic() + self.poll
                if ended:
                    return ended
            now = time.monotonic()
            if now >= limit:
                break
            time.sleep(max(0.0, min(limit, self._look_at if self._elements else limit) - now))
        return []

    def cancel(self, key: str) -> None:
        element = self._elements.get(key)
        if element:
            self._scancel([element.id] if element.array.id else [])
            self._forget(key)
            for ending in ("json", "err", "exit"):
                (self.spool / f"{key}.{ending}").unlink(missing_ok=True)

    def close(self) -> None:
        self._scancel(sorted({element.array.id for element in self._elements.values()} - {""}))
        for key in list(self._elements):
            self._forget(key)

    # ---- submitting ----

    def _submit(self, jobs: Sequence[Job], resources: Sequence[str]) -> None:
        name = f"flitwarp-{secrets.token_hex(6)}"
        script = self.spool / f"{name}.sh"
        cases = "\n".join(f"{index}) fw_run {shlex.join((job.key, *job.command))} ;;" for index, job in enumerate(jobs))
        text = SCRIPT.format(name=name, spool=shlex.quote(str(self.spool)), cases=cases)
        script.write_bytes(os.fsencode(text))
        for job in jobs:
            (self.spool / f"{job.key}.exit").unlink(missing_ok=True)
            (self.spool / f"{job.key}.err").write_bytes(b"")  # the spool shows which jobs there are
        log = str(self.spool / f"{name}.log").replace("%", "%%")
        file = shlex.quote(str(script))
        command = ["sbatch", "--parsable", f"--job-name={name}", f"--array=0-{len(jobs) - 1}", "--nodes=1",
                   "--ntasks=1", *resources, f"--output={log}", "--open-mode=append", *self._options,
                   # The script stays in the spool: the controller need not send it to every node.
                   f"--wrap=n=0; until [ -r {file} ] || [ $((n += 1)) -gt 60 ]; do sleep 1; done; exec /bin/sh {file}"]
        with self._locked() as lock:
            self._note(lock, {"name": name, "keys": [job.key for job in jobs]})
            id = self._sbatch(command, name, lock)
        array = _Array(name, id, {job.key for job in jobs})
        self._elements.update({job.key: _Element(array, index) for index, job in enumerate(jobs)})

    def _sbatch(self, command: Sequence[str], name: str, lock: int) -> str:
        """The job's id. A controller that does not answer may have taken the job all the same."""
        until = time.monotonic() + PATIENCE
        while True:
            ended = self._tool(command, pass_fds=(lock,))
            if ended.returncode == 0:
                return ended.stdout.strip().split(";")[0]
            while TRANSIENT.search(ended.stderr) and time.monotonic() < until:
                time.sleep(self.poll)
                with contextlib.suppress(SlurmError):
                    ids = [row.id for (other, _), row in self._queue().items() if other == name]
                    if ids:
                        return ids[0]
                    break  # it knows nothing of it: once more
            else:
                raise SlurmError(f"sbatch ended with status {ended.returncode}: {ended.stderr.strip()}")

    def _largest_array(self) -> int:
        if not self._largest:
            ended = self._tool(["scontrol", "show", "config"])
            size = re.search(r"^MaxArraySize\s*=\s*(\d+)", ended.stdout, re.M)
            if ended.returncode or not size:
                raise SlurmError(f"scontrol show config ended with status {ended.returncode}: {ended.stderr.strip()}")
            tasks = re.search(r"^SchedulerParameters\s*=.*\bmax_array_tasks=(\d+)", ended.stdout, re.M)
            self._largest = min(int(size[1]), int(tasks[1]) if tasks else math.inf)
            if not self._largest:
                raise SlurmError("this cluster takes no job arrays: MaxArraySize is 0")
        return self._largest

    # ---- what was submitted: slurm.jobs ----

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """Locks slurm.jobs. sbatch holds the lock too: it may outlive a runner that is killed."""
        file = os.open(self.spool / "slurm.jobs", os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
        try:
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    @staticmethod
    def _note(file: int, line: dict) -> None:
        os.write(file, b"\n" + json.dumps(line).encode() + b"\n")  # in front: ends a line that a crash cut short
        os.fsync(file)

    def _submitted(self) -> dict[str, tuple[str, int]]:
        """Array's name and index of each job, as it was submitted last."""
        found: dict[str, tuple[str, int]] = {}
        with self._locked():
            for line in (self.spool / "slurm.jobs").read_text().splitlines():
                with contextlib.suppress(json.JSONDecodeError):
                    note = json.loads(line)
                    found.update({key: (note["name"], index) for index, key in enumerate(note.get("keys", ()))})
        return found

    # ---- how they end ----

    def _look(self) -> list[Ended]:
        if time.monotonic() >= self._ask_at:
            self._ask()
            self._ask_at = time.monotonic() + LOOKS_PER_QUESTION * self.poll
        there = {entry.name for entry in os.scandir(self.spool)}  # a listing is fresh where a look-up may be old
        ended = {key: self._record(key, element.array.name) for key, element in self._elements.items()
                 if f"{key}.exit" in there}
        told = [one for one in ended.values() if one]
        late = time.monotonic() - self.grace
        told += self._lost([key for key, element in self._elements.items()
                            if not ended.get(key) and element.gone is not None and element.gone <= late])
        for one in told:
            self._forget(one.key)
            for ending in ("err", "exit"):
                (self.spool / f"{one.key}.{ending}").unlink(missing_ok=True)
        return told

    def _record(self, key: str, name: str) -> Ended | None:
        """What KEY.exit tells, if this array wrote it."""
        try:
            words = (self.spool / f"{key}.exit").read_text().replace(",", ".").split()
        except FileNotFoundError:
            return None
        if len(words) < 8 or words[0] != name:
            return None
        status, started, ended = int(words[1]), float(words[2]), float(words[3])
        minutes = [re.fullmatch(r"(\d+)m([\d.]+)s", word) for word in words[6:8]]  # of `times`: the shell's children
        cpu = sum(60 * int(m[1]) + float(m[2]) for m in minutes) if all(minutes) else math.nan
        return Ended(key, status, message_of(self.spool, key), started, max(0.0, ended - started), cpu)

    def _ask(self) -> None:
        """Learns from the queue which jobs are over. A controller that does not answer is asked again later."""
        with contextlib.suppress(SlurmError):
            queue, now = self._queue(), time.monotonic()
            for element in self._elements.values():
                row = queue.get((element.array.name, element.index), _Row())
                if row.state and row.state not in OVER:
                    element.gone = None
                elif element.gone is None:
                    element.gone = now
                element.state, element.number = row.state or element.state, row.number or element.number

    def _lost(self, keys: Sequence[str]) -> list[Ended]:
        """Jobs that ended without a record."""
        elements = {key: self._elements[key] for key in keys}
        accounted = self._accounted([e.id for e in elements.values() if e.array.id and e.state not in OVER])
        ended = []
        for key, element in elements.items():
            state = accounted.get(element.id, element.state)
            word, (status, meaning) = (state, OVER[state]) if state in OVER else ("gone", GONE.get(state, LOST))
            product = self.spool / f"{key}.json"
            if product.exists() and word in ("gone", "COMPLETED"):
                ended.append(Ended(key, 0, "", math.nan, math.nan, math.nan))
                continue
            product.unlink(missing_ok=True)
            lines = [f"slurm job {element.id}: {word}, {meaning}", *self._told_by_node(element),
                     message_of(self.spool, key)]
            ended.append(Ended(key, status, "\n".join(lines).strip(), math.nan, math.nan, math.nan))
        return ended

    def _told_by_node(self, element: _Element) -> list[str]:
        """What the node wrote into the array's log about one element."""
        try:
            lines = (self.spool / f"{element.array.name}.log").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []
        about = re.compile(rf"(JOB |JobId=|StepId=){element.number}\b")
        return list(dict.fromkeys(line for line in lines if element.number and about.search(line)))

    def _accounted(self, ids: Sequence[str]) -> dict[str, str]:
        """States by job id, where the cluster keeps accounts."""
        if not ids or not self._has_accounting or not shutil.which("sacct"):
            return {}
        ended = self._tool(["sacct", "--allocations", "--noheader", "--parsable2", "--format=JobID,State",
                            f"--jobs={','.join(ids)}"])
        self._has_accounting = "disabled" not in ended.stderr
        rows = [line.split("|") for line in ended.stdout.splitlines() if line.count("|") == 1]
        return {id: state.split()[0] for id, state in rows if state}  # "CANCELLED by 1000"

    def _forget(self, key: str) -> None:
        array = self._elements.pop(key).array
        array.left.discard(key)
        if not array.left:
            (self.spool / f"{array.name}.sh").unlink(missing_ok=True)
            log = self.spool / f"{array.name}.log"
            if log.exists() and not log.stat().st_size:
                log.unlink(missing_ok=True)

    # ---- Slurm's programs ----

    def _queue(self) -> dict[tuple[str, int], _Row]:
        """By array's name and index: what waits, what runs, and what has ended lately."""
        ended = self._tool(["squeue", "--noheader", "--array", "--states=all", f"--user={os.getuid()}",
                            "--format=%j|%K|%F|%A|%T"])
        if ended.returncode:
            raise SlurmError(f"squeue ended with status {ended.returncode}: {ended.stderr.strip()}")
        rows = [line.strip().split("|") for line in ended.stdout.splitlines()]
        return {(row[0], int(row[1])): _Row(*row[2:]) for row in rows if len(row) == 5 and row[1].isdigit()}

    def _scancel(self, ids: Sequence[str]) -> None:
        if ids:
            self._tool(["scancel", "--quiet", *ids])  # one that has ended meanwhile is no error

    @staticmethod
    def _tool(command: Sequence[str], pass_fds: tuple[int, ...] = ()) -> subprocess.CompletedProcess:
        """Runs one of Slurm's programs; the user's own filters of what it shows are left out."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SACCT_"))}
        try:
            return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", pass_fds=pass_fds, check=False)
        except OSError as error:
            raise SlurmError(f"cannot run '{command[0]}': {error.strerror}") from None

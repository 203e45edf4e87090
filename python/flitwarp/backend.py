# SPDX-License-Identifier: Apache-2.0
"""Where jobs run. A backend starts processes and tells when they have ended; it knows nothing of studies.

All backends share a spool folder. A job's command leaves its product there (`KEY.json`, renamed into place when
whole); the backend keeps what it printed in `KEY.err`. So a product that is there is good, whoever made it: this
process, an earlier one that was killed, a cluster's node, or make.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Collection, Iterable, Protocol, Sequence

MESSAGE_BYTES = 4000  # of what a failed job printed
ORPHAN_POLL = 0.2  # seconds between looks at jobs that another process started


@dataclass(frozen=True)
class Job:
    """A command to run."""

    key: str  # names its files in the spool
    name: str  # for people
    command: tuple[str, ...]
    cores: int = 1
    memory: int = 0  # bytes; 0: not known


@dataclass(frozen=True)
class Ended:
    """A job that has ended. Times are NaN where nobody knows them."""

    key: str
    status: int  # exit status; 128 + signal as in a shell
    message: str  # the end of what it printed to standard error
    started: float  # seconds since the epoch
    wall_seconds: float
    cpu_seconds: float


class Backend(Protocol):
    """What the runner asks of a backend."""

    speculates: int  # with how many runs that a plan is only likely to want idle room may be filled

    def adopt(self, keys: Collection[str]) -> set[str]:
        """Those of the jobs that an earlier process started and that still run; wait() will tell their end."""

    def start(self, jobs: Iterable[Job]) -> list[str]:
        """Starts those of the jobs that there is room for, earlier ones first; their keys."""

    def wait(self, timeout: float | None) -> list[Ended]:
        """Jobs that have ended, as soon as there is one; none when the time is over."""

    def cancel(self, key: str) -> None:
        """Ends a job; wait() does not tell of it any more."""

    def close(self) -> None:
        """Ends all jobs."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory in this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def message_of(spool: Path, key: str) -> str:
    """The end of what a job printed."""
    try:
        return (spool / f"{key}.err").read_bytes()[-MESSAGE_BYTES:].decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


@dataclass
class _Process:
    job: Job
    pid: int
    descriptor: int  # a pidfd: readable once the process has ended
    popen: subprocess.Popen
    started: float
    clock: float


class Local:
    """Processes on this machine, as many as there are cores and memory for.

    Each job holds a lock on KEY.lock for as long as it lives: a later runner sees by it that a job of a killed
    runner is still at work, and waits for it rather than run it twice.
    """

    speculates = 16

    def __init__(self, spool: Path, cores_limit: int | None = None, memory_limit: int | None = None):
        self.spool = spool
        self.cores = cores_limit or cores()
        self.memory = memory_limit or memory()
        self._running: dict[str, _Process] = {}
        self._orphans: dict[str, float] = {}
        self._poll = select.poll()
        self._keys: dict[int, str] = {}  # by pidfd
        self._failed: list[Ended] = []  # that could not be started

    def adopt(self, keys: Collection[str]) -> set[str]:
        for key in keys:
            if self._is_locked(key):
                self._orphans[key] = time.time()
        return set(self._orphans)

    def start(self, jobs: Iterable[Job]) -> list[str]:
        started, waiting = [], iter(jobs)
        while self._free_cores() > 0:
            job = next((job for job in waiting if self._has_room(job)), None)
            if job is None:
                break
            self._start(job)
            started.append(job.key)
        return started

    def _free_cores(self) -> int:
        return self.cores - sum(process.job.cores for process in self._running.values()) - len(self._orphans)

    def _has_room(self, job: Job) -> bool:
        if not self._running and not self._orphans:
            return True  # a job larger than the machine runs alone
        memory_left = self.memory - sum(process.job.memory for process in self._running.values())
        return job.cores <= self._free_cores() and job.memory <= memory_left

    def _start(self, job: Job) -> None:
        lock = os.open(self.spool / f"{job.key}.lock", os.O_CREAT | os.O_WRONLY, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(self.spool / f"{job.key}.err", "wb") as errors:
                # A session of its own: the terminal's interrupt reaches the runner, which ends its jobs in order.
                popen = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=errors, pass_fds=(lock,), start_new_session=True)
            os.write(lock, str(popen.pid).encode())
        except OSError as error:  # no such program, no room on the disk
            self._failed.append(Ended(job.key, 127, str(error), time.time(), 0.0, 0.0))
            return
        finally:
            os.close(lock)  # the job has it
        descriptor = os.pidfd_open(popen.pid)
        self._running[job.key] = _Process(job, popen.pid, descriptor, popen, time.time(), time.monotonic())
        self._keys[descriptor] = job.key
        self._poll.register(descriptor, select.POLLIN)

    def wait(self, timeout: float | None) -> list[Ended]:
        limit = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if limit is None else max(0.0, limit - time.monotonic())
            if self._failed:
                left = 0.0
            if self._orphans:
                left = ORPHAN_POLL if left is None else min(left, ORPHAN_POLL)
            ready = self._poll.poll(None if left is None else left * 1000)
            ended = [self._reap(self._keys[descriptor]) for descriptor, _ in ready]
            ended += [Ended(key, 0 if (self.spool / f"{key}.json").exists() else 1, message_of(self.spool, key),
                            since, float("nan"), float("nan"))
                      for key, since in list(self._orphans.items()) if not self._is_locked(key)]
            for item in ended:
                self._orphans.pop(item.key, None)
            ended, self._failed = ended + self._failed, []
            if ended or (limit is not None and time.monotonic() >= limit):
                return ended

    def cancel(self, key: str) -> None:
        process = self._running.get(key)
        if process:
            os.killpg(process.pid, signal.SIGKILL)  # with what it has started itself
            self._reap(key)
        elif self._orphans.pop(key, None) is not None and self._is_locked(key):
            with contextlib.suppress(OSError, ValueError):
                os.killpg(int((self.spool / f"{key}.lock").read_text()), signal.SIGKILL)
        for ending in ("json", "csv.zst"):
            (self.spool / f"{key}.{ending}").unlink(missing_ok=True)

    def close(self) -> None:
        for key in list(self._running):
            self.cancel(key)

    def _reap(self, key: str) -> Ended:
        process = self._running.pop(key)
        self._poll.unregister(process.descriptor)
        del self._keys[process.descriptor]
        os.close(process.descriptor)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - process.clock
        process.popen.returncode = code = os.waitstatus_to_exitcode(status)
        (self.spool / f"{key}.lock").unlink(missing_ok=True)
        message = message_of(self.spool, key)
        (self.spool / f"{key}.err").unlink(missing_ok=True)
        return Ended(key, code if code >= 0 else 128 - code, message, process.started, wall,
                     usage.ru_utime + usage.ru_stime)

    def _is_locked(self, key: str) -> bool:
        try:
            lock = os.open(self.spool / f"{key}.lock", os.O_WRONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        (self.spool / f"{key}.lock").unlink(missing_ok=True)
        return False


class Queue(Local):
    """Jobs in a cluster's queue by a command that submits one and waits for its end, such as `qsub -sync y`.

    In its words {script} stands for a shell script of the job's command, {cores}, {megabytes}, {name} and {err} for what the
    job wants, its name and the file that its messages belong into. Without {script} the command itself is put behind it:
    for queues that hand words on as they are. One such process waits here for each of `at_most` jobs.
    """

    speculates = 0

    def __init__(self, spool: Path, *, submit: Sequence[str], at_most: int = 100):
        if isinstance(submit, str) or not submit:
            raise TypeError("submit: expected a list of words, such as [\"qsub\", \"-sync\", \"y\", \"{script}\"]")
        super().__init__(Path(os.path.abspath(spool)), at_most, 1 << 62)
        self.submit = list(submit)

    def start(self, jobs: Iterable[Job]) -> list[str]:
        return super().start(self._submitted(job) for job in jobs)

    def _submitted(self, job: Job) -> Job:
        script = self.spool / f"{job.key}.sh"
        words = {"cores": job.cores, "megabytes": -(-job.memory >> 20) or 1024, "name": f"fw-{job.key[:10]}",
                 "err": self.spool / f"{job.key}.err", "script": script}
        command = tuple(word.format(**words) for word in self.submit)
        if any("{script}" in word for word in self.submit):
            script.write_text(f"#!/bin/sh\nexec {shlex.join(job.command)}\n")  # it stays until all jobs have ended
            script.chmod(0o755)
        else:
            command += job.command
        return replace(job, command=command, cores=1, memory=0)

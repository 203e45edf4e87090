# SPDX-License-Identifier: Apache-2.0
"""The task runner: does what plans ask for, once each, on a backend, and remembers it in a store.

A plan is a generator. It yields what it needs next and is sent how that ended; so a load sweep that stops after
saturation, a bisection and a chain of dependent commands all read as plain loops:

    def plan():
        first, = yield Need([simulate])
        if first.ok:
            yield Need([plot])

Every task has a key, the hash of all that it depends on. An outcome with that key in the store, or a product with
it in the spool, is taken as it is. So a study that was killed goes on where it stood: its plans run again from
their beginning and are answered from what is there.

What a plan would probably ask for next (`likely`) is started when nothing that is needed can use a free core. Such
a run enters the store only when a plan really asks for it: the store's content never depends on timing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Generator, Iterable, Iterator, Sequence

from .backend import Backend, Ended, Job
from .progress import Costs
from .store import Outcome, Store

FAILURE_POLICIES = {
    "continue": "does all that does not depend on what failed",
    "finish": "starts nothing more, waits for what runs",
    "stop": "ends everything at once",
}
SPOOLED = re.compile(r"[0-9a-f]{32}\..*|flitwarp-.*\.(sh|log)|slurm\.jobs|device\.(json|lock|err)")  # names of files in a spool
SKIPPED = -1  # status of a task that never ran, since one that it comes after failed


class Stopped(Exception):
    """The failure policy ended the work."""


@dataclass(eq=False)
class Task:
    """A command, run at most once.

    With `product`, the command leaves a JSON document at the path that stands for `{product}` in it; `outputs` are
    other files that must be there for the task to count as done. A packet log that it writes to `{log}` is moved to `log`
    once the task counts. `after` are tasks that must have succeeded; with `completed` they must have ended, and it makes
    the product whole by their outcomes. `objection` may find fault with a product.
    """

    name: str
    command: Sequence[str]
    key: str = ""  # hash of all that it depends on; made of command and inputs when not given
    after: Sequence[Task] = ()
    inputs: Sequence[str | Path] = ()
    outputs: Sequence[str | Path] = ()
    product: bool = False
    log: Path | None = None
    objection: Callable[[object], str] | None = None
    completed: Callable[[object, Sequence[Outcome]], object] | None = None
    cores: int = 1
    memory: int = 0  # bytes
    retries: int = 0
    weight: float = 1  # expected effort, in any unit

    def __post_init__(self) -> None:
        self.command = tuple(str(word) for word in self.command)
        if not self.key:
            made = {str(p) for task in self.after for p in task.outputs}  # known by the keys of those tasks
            files = [file_hash(p) for p in self.inputs if str(p) not in made and Path(p).exists()]
            self.key = hash_of([self.command, [str(p) for p in self.outputs], files, [t.key for t in self.after]])

    def job(self, spool: Path) -> Job:
        files = {"{product}": str(spool / f"{self.key}.json"), "{log}": str(spool / f"{self.key}.csv.zst")}
        command = tuple(files.get(word, word) for word in self.command)
        return Job(self.key, self.name, command, self.cores, self.memory)


@dataclass
class Need:
    """What a plan waits for, and what it will probably ask for afterwards."""

    tasks: Sequence[Task]
    likely: Sequence[Task] = ()


Plan = Generator[Need, "list[Outcome]", None]


def hash_of(value: object) -> str:
    """A name for a value: equal values, equal names."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def file_hash(path: str | Path) -> str:
    """Of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def call(function: Callable, *arguments: object, name: str = "", **settings: object) -> Task:
    """A task that calls a function with arguments that JSON can express, in a process of its own.

    The function must stand at the top level of its module; what it returns becomes the outcome's document.
    """
    module = sys.modules[function.__module__]
    file = Path(module.__file__ or "").resolve()
    command = [sys.executable, "-m", "flitwarp.call", str(file), function.__qualname__, json.dumps(list(arguments)),
               "{product}"]
    inputs = [file, *settings.pop("inputs", ())]  # type: ignore[misc]
    return Task(name or function.__qualname__, command, inputs=inputs, product=True, **settings)  # type: ignore[arg-type]


@dataclass(eq=False)
class _Running:
    """A plan at work."""

    plan: Plan
    need: Need = field(default_factory=lambda: Need(()))
    is_over: bool = False


class Runner:
    """Runs plans to their end. `observer(runner)` is called whenever something may have changed."""

    def __init__(self, store: Store, backend: Backend, spool: Path, *, on_failure: str = "continue",
                 retries: int = 0, observer: Callable[[Runner], None] | None = None):
        if on_failure not in FAILURE_POLICIES:
            raise ValueError(f"on_failure: '{on_failure}' is unknown; accepted: {', '.join(FAILURE_POLICIES)}")
        self.store, self.backend, self.spool = store, backend, spool
        self.on_failure, self.retries, self.observer = on_failure, retries, observer
        self.outcomes: dict[str, Outcome] = {}  # of all that was needed so far
        self.running: dict[str, Task] = {}
        self.last = ""  # the name of the task that ended last
        self.ran = self.failed = self.found = 0
        self.costs = Costs()  # of what ran just now
        self._plans: list[_Running] = []
        self._ready: deque[_Running] = deque()
        self._waiting: dict[str, list[_Running]] = {}  # plans that need a task, by its key
        self._queue: dict[str, Task] = {}  # needed and not yet started, in order
        self._ordered: set[str] = set()  # tasks whose dependencies are being seen to
        self._attempts: dict[str, int] = {}
        self._early: dict[str, Ended] = {}  # likely runs that ended before anyone needed them
        self._adopted: set[str] = set()  # started by a runner that is no more, and not asked for yet
        self._orphans: set[str] = set()  # the same, asked for
        self._is_draining = False
        self._lost: Task | None = None  # the first that failed

    def run(self, plans: Iterable[Plan]) -> None:
        """Returns when all plans have ended; raises Stopped when a failure ends the work before that."""
        self.spool.mkdir(parents=True, exist_ok=True)
        self._adopted = self.backend.adopt({path.name.split(".")[0] for path in self.spool.iterdir()})
        for plan in plans:
            self._add(plan)
        try:
            while self._go_on():
                ended = self.backend.wait(1.0)
                if not self._is_draining and (self.on_failure == "continue" or all(e.status == 0 for e in ended)):
                    self._start(self._queue.values())  # no core waits while documents are read
                for item in ended:
                    self._end(item)
                if self.observer:
                    self.observer(self)
        finally:
            self.backend.close()
        if self._is_draining and self._lost:
            raise Stopped(f"'{self._lost.name}' failed: {self.outcomes[self._lost.key].message}\n"
                          f"on_failure is '{self.on_failure}', which {FAILURE_POLICIES[self.on_failure]}")
        unfinished = [plan for plan in self._plans if not plan.is_over]
        assert not unfinished, "a plan waits for what nobody does"
        self._empty_spool()

    def _empty_spool(self) -> None:
        """Removes what was likely and then not needed, and what backends noted; nobody else's files."""
        for path in self.spool.iterdir():
            if SPOOLED.fullmatch(path.name):
                path.unlink()
        with contextlib.suppress(OSError):
            self.spool.rmdir()

    def _add(self, plan: Plan) -> None:
        running = _Running(plan)
        self._plans.append(running)
        self._ready.append(running)

    def _go_on(self) -> bool:
        """Lets plans go on and starts what there is room for; whether anything runs."""
        while self._ready:
            self._step(self._ready.popleft())
        if self._is_draining:
            return bool(self.running)
        self._start(self._queue.values())
        likely = {task.key: task for plan in self._plans for task in plan.need.likely[:self.backend.speculates]}
        for key in [key for key in (*self.running, *self._adopted) if key not in self._waiting and key not in likely]:
            self.backend.cancel(key)
            self.running.pop(key, None)
            self._adopted.discard(key)
        if self.backend.speculates and not self._queue:
            self._start(task for task in list(likely.values()) if self._is_new(task))
        return bool(self.running or self._queue)  # orphans may have taken all room

    def _step(self, running: _Running) -> None:
        """Sends a plan what it waited for, and asks for what it needs next."""
        if running.is_over or any(task.key not in self.outcomes for task in running.need.tasks):
            return
        try:
            if running.need.tasks:
                running.need = running.plan.send([self.outcomes[task.key] for task in running.need.tasks])
            else:
                running.need = next(running.plan)
        except StopIteration:
            running.is_over, running.need = True, Need(())
            return
        for task in running.need.tasks:
            if task.key not in self.outcomes:
                self._waiting.setdefault(task.key, []).append(running)
                self._ask(task)
        self._ready.append(running)  # all may be known already

    def _ask(self, task: Task) -> None:
        if not task.after:
            self._find_or_queue(task)
        elif task.key not in self._ordered:
            self._ordered.add(task.key)
            self._add(self._in_order(task))

    def _in_order(self, task: Task) -> Plan:
        """A task after those that it comes after."""
        before = yield Need(task.after)
        lost = [] if task.completed else [t.name for t, outcome in zip(task.after, before) if not outcome.ok]
        if lost:
            self._finish(Outcome(task.key, SKIPPED, f"not run: '{lost[0]}' failed", attempts=0))
        else:
            self._find_or_queue(task)

    def _find_or_queue(self, task: Task) -> None:
        known = self.store.outcome(task.key)
        if known and known.is_final and (not known.ok or all(Path(p).exists() for p in task.outputs)):
            self.found += 1
            self._clean(task.key)
            self._finish(known)
        elif task.key in self._early:
            self._settle(task, self._early.pop(task.key))
        elif task.key in self._adopted:
            self._adopted.discard(task.key)
            self._orphans.add(task.key)
            self.running[task.key] = task
        elif task.product and self._is_good(self._product(task.key)):
            self._settle(task, Ended(task.key, 0, "", math.nan, math.nan, math.nan))
        elif task.key not in self.running:
            self._queue[task.key] = task

    def _is_new(self, task: Task) -> bool:
        return (task.key not in self.running and task.key not in self._early and task.key not in self._adopted
                and not (self.spool / f"{task.key}.json").exists() and not self.store.outcome(task.key))

    def _start(self, tasks: Iterable[Task]) -> None:
        offered: dict[str, Task] = {}

        def jobs() -> Iterator[Job]:
            for task in tasks:
                offered[task.key] = task
                yield task.job(self.spool)

        for key in self.backend.start(jobs()):
            self.running[key] = offered[key]
            self._queue.pop(key, None)
            self._attempts[key] = self._attempts.get(key, 0) + 1

    def _end(self, ended: Ended) -> None:
        self._adopted.discard(ended.key)
        task = self.running.pop(ended.key, None)
        if task and ended.key in self._orphans:
            self._orphans.discard(ended.key)
            if not self._is_good(self._product(ended.key)):  # how it ended nobody knows: it has not been tried yet
                self._queue[task.key] = task
                return
        if task and ended.key in self._waiting:
            self._settle(task, ended)
        elif task:
            self._early[ended.key] = ended

    def _settle(self, task: Task, ended: Ended) -> None:
        """A task that was needed has ended: tries it again, or records how."""
        spooled = self.spool / f"{task.key}.csv.zst"
        if task.log and spooled.exists():
            task.log.parent.mkdir(parents=True, exist_ok=True)
            os.replace(spooled, task.log)
        outcome = self._outcome(task, ended)
        if not outcome.is_final and outcome.attempts <= max(self.retries, task.retries):
            self._queue[task.key] = task
            return
        self.store.record(outcome)
        self._clean(task.key)
        self.last = task.name
        self.ran += 1
        if not math.isnan(outcome.wall_seconds):
            self.costs.add(task.weight, outcome.wall_seconds * task.cores)
        if not outcome.ok:
            self.failed += 1
            self._lost = self._lost or task
            self._is_draining = self.on_failure != "continue"
            if self.on_failure == "stop":
                self.backend.close()
                self.running.clear()
        self._finish(outcome)

    def _outcome(self, task: Task, ended: Ended) -> Outcome:
        status, message = ended.status, ended.message
        document = self._product(task.key) if task.product else None
        if task.product and document is None and status == 0:
            status, message = 3, "it left no product"
        if status == 0 and isinstance(document, dict) and document.get("outcome") == "deadlock":
            status = 2  # an orphan's: its exit status went to a runner that is no more
        if status == 0 and document is not None and not self._is_good(document):  # it was asked to stop
            status, message = 130, "it was interrupted"
        fault = task.objection(document) if task.objection and document is not None else ""
        if fault:
            raise Stopped(f"'{task.name}': {fault}")
        if task.completed and document is not None:
            document = task.completed(document, [self.outcomes[before.key] for before in task.after])
        missing = [str(p) for p in task.outputs if not Path(p).exists()]
        if status == 0 and missing:
            status, message = 3, f"it did not make {', '.join(missing)}"
        return Outcome(task.key, status, "" if status == 0 else message or f"exit status {status}", document,
                       self._attempts.get(task.key, 1), ended.started, ended.wall_seconds, ended.cpu_seconds)

    def _product(self, key: str) -> object:
        """What a task has left in the spool; None when there is nothing, or nothing whole."""
        try:
            return json.loads((self.spool / f"{key}.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    @staticmethod
    def _is_good(document: object) -> bool:
        """Whether a product is there and whole. A deadlock is an end like any other."""
        if isinstance(document, dict) and document.get("complete") is False:
            return document.get("outcome") == "deadlock"
        return document is not None

    def _finish(self, outcome: Outcome) -> None:
        self.outcomes[outcome.key] = outcome
        self._ready.extend(self._waiting.pop(outcome.key, ()))

    def _clean(self, key: str) -> None:
        """What is recorded need not lie in the spool any more."""
        for ending in ("json", "err", "lock", "exit", "csv.zst"):
            (self.spool / f"{key}.{ending}").unlink(missing_ok=True)

# SPDX-License-Identifier: Apache-2.0
"""Sweeps: a base configuration, variables, loads and seeds become runs, curves, figures and a report.

    sweep = Sweep("examples/torus_uniform.json", "vcs")
    sweep.add_variable("VCs", "VC", [2, 4, 8], "network.router.num_vcs")
    sweep.add_loads(0.1, 1.0, 0.1)
    study = sweep.run()                  # out/vcs/study.sqlite; again: only what is not there yet
    sweep.write(study)                   # figures, table, report.html
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Callable, Iterable, Iterator, Mapping, Sequence

from . import jobs
from .backend import Backend, Local, Queue, cores
from .binary import find_binary, version
from .files import write_file
from .lines import Line, Seeds
from .probe import Probe
from .progress import Costs, Progress
from .results import unknown
from .settings import LOAD, SEED, Config, Overrides, Reader, WrongSettings, arguments
from .store import RunRow, Store, StudyError, writer_of
from .study import Study, open_study
from .tasks import Plan, Runner, Task, file_hash, hash_of
from .variables import Along, Override, Variable, grid, labelled

RESERVED = ("run", "seed")  # columns of results.csv
NAME_LENGTH = 150  # of a run

@dataclass(frozen=True)
class FigureSpec:
    """A figure for each combination of the variables that it does not draw as lines."""

    kind: str
    lines: tuple[str, ...] | None
    where: dict
    options: dict


RUNNER_DEFAULTS = {"backend": "local", "cores_limit": None, "memory_limit": None, "retries": 0, "on_failure": "continue",
                   "cores_per_run": 1, "memory_per_run": 0}


class Sweep:
    """The definition of a study."""

    def __init__(self, base: Config, name: str, *, out: str | Path | None = None, title: str | None = None,
                 overrides: Overrides | None = None, plugins: Sequence[str | Path] = (), logs: bool = False,
                 baseline: bool = False):
        if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name):
            raise ValueError(f"name: '{name}' cannot name files; accepted: letters, digits and _ . + -")
        self.base, self.name, self.title = base, name, title or name
        self.out = Path(out) if out else Path("out") / name
        self.overrides = arguments(overrides)
        self.plugins = [Path(p).absolute() for p in plugins]
        self.logs = logs  # keep each run's packet log
        self.baseline = baseline  # run each job by itself as well, for its slowdown
        self.variables: list[Variable] = []
        self.along: Along | None = None
        self.seeds = Seeds()
        self.figures: list[FigureSpec] = []
        self.runner: dict = {}  # what run() is to do where its caller does not say
        self._excluded: list[Callable[[dict], bool]] = []

    def __repr__(self) -> str:
        """In a line: a notebook shows what add_variable() and the like return."""
        varied = [f"{v.name} {', '.join(map(str, v.values))}" for v in self.variables]
        over = [f"over {self.along.variable.name} {', '.join(map(str, self.along.variable.values))}"] if self.along else []
        return f"<Sweep {self.name}: {shorten('; '.join([*varied, *over]) or 'nothing varies yet', 200, placeholder=' ...')}>"

    # ---- definition ---------------------------------------------------------------------------------------------

    def add_variable(self, name: str, short: str, values: Iterable[object] | Mapping[object, object],
                     override: Override) -> Sweep:
        """Varies something. `values` is a list, or {label: value}; `short` goes into the names of runs.

        `override` is a setting's path, or a function of the value (and, with a second parameter, of the values of
        the variables before it) that returns {path: value}, "path=value", or a list of those.
        """
        self._check_new(name, short)
        self.variables.append(Variable(name, short, labelled(name, values), override))
        return self

    def add_pairs(self, name: str = "jobs", short: str = "J") -> Sweep:
        """Runs every two applications of the base beside each other, and each alone: who slows whom."""
        with _Work(self) as work:
            config, files = work.reader.effective([])
        self.baseline = True
        return self.add_variable(name, short, jobs.pairs(config, files), lambda settings: settings)

    def add_loads(self, start: float | None = None, stop: float | None = None, step: float | None = None, *,
                  values: Iterable[float] | None = None, past: int = 1, refine: int = 0, name: str = "load",
                  short: str = "L", override: Override = LOAD) -> Sweep:
        """Raises the load along each line, until `past` values have saturated (0: through all of them).

        Then the gap below the first saturated one is halved `refine` times, and up to as many values are run where latency bends.
        Another variable can take the load's place with `override`.
        """
        if values is None:
            if start is None or stop is None or step is None:
                raise ValueError("loads: give start, stop and step, or values=[...]")
            values = grid(start, stop, step)
        rising = list(values)
        for value in rising:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"variable '{name}': found {value!r} among its values, expected numbers")
        rising.sort()
        self._check_new(name, short)
        self.along = Along(Variable(name, short, labelled(name, rising), override), past, refine)
        return self

    def find_saturation(self, precision: float = 0.01, low: float = 0.0, high: float = 1.0, *, name: str = "load",
                        short: str = "L", override: Override = LOAD) -> Sweep:
        """Finds by bisection, along each line, the load at which saturation begins; Study.saturation() tells it."""
        if not 0 < precision < high - low:
            raise ValueError(f"precision: {precision:g} does not lie between 0 and {high - low:g}, the range searched")
        self._check_new(name, short)
        self.along = Along(Variable(name, short, {low: low, high: high}, override), search=precision)
        return self

    def add_seeds(self, at_least: int = 1, at_most: int | None = None, precision: float | None = None,
                  column: str = "packet_latency.mean", first: int = 1) -> Sweep:
        """Repeats each point with several seeds.

        With `precision`, points get further seeds, `at_most` so many, until the 95 % interval of the column's mean
        is that narrow, relative to the mean.
        """
        if precision is None and at_most not in (None, at_least):
            raise ValueError(f"seeds: at most {at_most} takes a precision that says when to stop")
        if precision is None:
            self.seeds = Seeds(at_least, at_least, column=column, first=first)
        else:
            self.seeds = Seeds(at_least, at_most or 10 * at_least, precision, column, first)
        return self

    def exclude(self, predicate: Callable[[dict], bool]) -> Sweep:
        """Leaves out the combinations for which the function of their values is true."""
        self._excluded.append(predicate)
        return self

    def add_figure(self, kind: str, lines: str | Sequence[str] | None = None, where: Mapping[str, object] | None = None,
                   **options: object) -> Sweep:
        """Asks for a figure with a line for each value of `lines`, and one such figure for each combination of the
        other variables. `where` holds variables at values; options are those of the figure's function."""
        chosen = None if lines is None else (lines,) if isinstance(lines, str) else tuple(lines)
        self.figures.append(FigureSpec(kind, chosen, dict(where or {}), options))
        return self

    def check_figures(self) -> None:
        """Raises when a figure is asked for that cannot be: better now than after hours of runs."""
        from .report.plan import TITLES
        known = [v.name for v in self.variables] + ([self.along.variable.name] if self.along else [])
        for spec in self.figures:
            if spec.kind.replace("-", "_") not in TITLES:
                raise ValueError(unknown("figure of the kind", spec.kind, [k.replace("_", "-") for k in TITLES], "flitwarp"))
            named = [*(spec.lines or ()), *spec.where, *(spec.options[key] for key in ("x", "panels") if key in spec.options)]
            if spec.kind == "throughput" and "x" not in spec.options:
                raise ValueError("figure 'throughput': name the variable along its axis, x=...")
            for name in named:
                if name not in known:
                    raise ValueError(unknown("variable", str(name), known, f"figure '{spec.kind}': the sweep"))

    def on_device(self, device: str = "opencl") -> Sweep:
        """All runs run on an OpenCL device ("opencl:1" is number 1), many of them together where this machine has it."""
        self.overrides.append(f"simulator.device={device}")
        if self.runner.get("backend", "local") == "local":
            self.runner["backend"] = {"type": "device", "device": device}
        return self

    def _check_new(self, name: str, short: str) -> None:
        if name in RESERVED or short == "S":
            raise ValueError(f"variable '{name}' ({short}): the names {', '.join(RESERVED)} and the short name S are taken; "
                             "runs are repeated by seeds: --seeds 3, \"seeds\": 3 in a file, add_seeds(3)")
        taken = [*self.variables, *([self.along.variable] if self.along else [])]
        if any(name == v.name or short == v.short for v in taken):
            raise ValueError(f"variable '{name}' ({short}): that name or short name is taken; "
                             f"there are {', '.join(f'{v.name} ({v.short})' for v in taken)}")

    def combinations(self) -> list[dict[Variable, object]]:
        """The labels of all variables along which no line runs, in all combinations."""
        every = itertools.product(*(list(v.values) for v in self.variables))
        chosen = [dict(zip((v.name for v in self.variables), labels)) for labels in every]
        return [c for c in chosen if not any(predicate(c) for predicate in self._excluded)]

    # ---- running ------------------------------------------------------------------------------------------------

    def run(self, *, backend: str | Mapping | Backend | None = None, cores_limit: int | None = None,
            memory_limit: int | None = None, retries: int | None = None, on_failure: str | None = None,
            again: bool = False, cores_per_run: int | None = None, memory_per_run: int | None = None,
            quiet: bool = False) -> Study:
        """Runs what is not there yet, and returns the study.

        What is not said is as `runner` has it: the settings of a study's file, or else on all cores of this machine, a
        core each, going on after failures. `again` tries what failed once more. Settings of all runs are checked before
        the first one starts.
        """
        said = {"backend": backend, "cores_limit": cores_limit, "memory_limit": memory_limit, "retries": retries,
                "on_failure": on_failure, "cores_per_run": cores_per_run, "memory_per_run": memory_per_run}
        how = {**RUNNER_DEFAULTS, **self.runner, **{name: value for name, value in said.items() if value is not None}}
        with _Work(self, how["cores_per_run"], how["memory_per_run"]) as work:
            lines = list(work.lines())
            with work.open_store() as store:
                if again:
                    store.forget_failures()
                place = make_backend(how["backend"], work.spool, how["cores_limit"], how["memory_limit"])
                work.execute(lines, store, place, how["retries"], how["on_failure"], quiet)
        return open_study(self.path)

    @property
    def path(self) -> Path:
        """Of the study's file."""
        return self.out / "study.sqlite"

    def jobs(self) -> list:
        """All runs of the grid as jobs, for make and for a look: no early stop, no search, the least seeds."""
        with _Work(self) as work:
            return [task.job(work.spool) for task in work.grid_tasks()]

    def planned(self) -> list[tuple[dict, int, dict]]:
        """Values of the variables, seed and all settings of the runs that jobs() has."""
        with _Work(self) as work:
            return [(row.variables, row.seed, row.config) for row in work.grid_rows()]

    def estimate(self, *, cores_limit: int | None = None) -> tuple[int, float, bool]:
        """How many runs there are at most, the seconds of those left, and whether it may be more by far.

        By the runs that have been done, or else by a look at a second of the lightest and the heaviest. Keeps nothing.
        """
        with _Work(self) as work:
            tasks = work.grid_tasks()
            known = Store(self.path) if self.path.exists() else None
            try:
                slots = cores_limit or self.runner.get("cores_limit") or cores()
                return len(tasks), *work.estimate(tasks, known, slots)
            finally:
                if known:
                    known.close()

    def write(self, study: Study | None = None, figures: Sequence[str] | None = None) -> list[Path]:
        """Writes figures (all, or those of these names), results.csv and report.html beside the study; the files that it made."""
        from .report import write_report
        return write_report(study or open_study(self.path), self.out, figures)

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Runs the study as a program: see `--help` of any script that ends in `sweep.main()`."""
        from .sweep_command import sweep_main
        return sweep_main(self, argv)


def make_backend(backend: str | Mapping | Backend, spool: Path, cores_limit: int | None = None,
                 memory_limit: int | None = None) -> Backend:
    """A backend by name ("local", "slurm", "queue") or by settings ({"type": "slurm", "partition": "short"})."""
    if not isinstance(backend, (str, Mapping)):
        return backend
    settings = {"type": backend} if isinstance(backend, str) else dict(backend)
    kind = settings.pop("type", "local")
    try:
        if kind == "local":
            return Local(spool, cores_limit, memory_limit, **settings)
        if kind == "slurm":
            from .slurm import Slurm
            return Slurm(spool, **settings)
        if kind == "queue":
            return Queue(spool, **settings)
        if kind == "device":
            from .device import Device
            return Device(spool, **settings)
    except TypeError as error:
        raise ValueError(f"backend '{kind}': {error}") from None
    raise ValueError(f"backend: '{kind}' is unknown; accepted: local, slurm, queue, device")


def _state(file: str | Path) -> tuple[int, int, int] | None:
    """By which one sees that a file has changed."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class _Work:
    """A sweep at work: the program that answers for its settings, its tasks, its lines."""

    def __init__(self, sweep: Sweep, cores_per_run: int = 1, memory_per_run: int = 0):
        self.sweep, self.cores_per_run, self.memory_per_run = sweep, cores_per_run, memory_per_run
        self.spool = sweep.out.absolute() / "study.runs"
        self.program = str(find_binary())
        self.program_hash = hash_of([file_hash(self.program), *(file_hash(p) for p in sweep.plugins)])
        if isinstance(sweep.base, (str, Path)):
            self.config = Path(sweep.base).absolute()
        else:
            self.config = sweep.out.absolute() / "base.json"
            self._write_base()
        self._tasks: dict[tuple, tuple[Task, RunRow]] = {}
        self._alone: dict[str, Task] = {}  # with a baseline: which runs measure jobs alone, by what these notice
        self._hashes: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}  # of runs, with their overrides
        self._states = {str(file): _state(file) for file in (self.program, *sweep.plugins)}  # as they were hashed
        self._kept: dict[str, RunRow] = {}

    def _write_base(self) -> None:
        """The settings of a base that has no file; who runs this very study may be reading them."""
        text = json.dumps(self.sweep.base, indent=2) + "\n"
        if not self.config.exists() or self.config.read_text() != text:
            if writer_of(self.sweep.path) is not None:
                raise StudyError(f"'{self.sweep.path}' is in use by process {writer_of(self.sweep.path)}: wait for it, or "
                                 "end it first")
            write_file(self.config, text)

    def __enter__(self) -> _Work:
        self.reader = Reader(self.config, self.sweep.overrides, self.sweep.plugins)
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()

    def open_store(self) -> Store:
        """The study's file; not before all settings have been found right."""
        sweep = self.sweep
        store = Store(sweep.path, write=True)
        store.set_facts({
            "name": sweep.name, "title": sweep.title, "x": sweep.along.variable.name if sweep.along else None,
            "variables": {v.name: list(v.values) for v in sweep.variables},
            "base": {"file": self.config.name, "text": self.config.read_text(), "overrides": sweep.overrides,
                     "plugins": [plugin.name for plugin in sweep.plugins], "baseline": sweep.baseline},
            "program": {"version": version(), "hash": self.program_hash},
            "figures": [spec.__dict__ for spec in sweep.figures],
        })
        return store

    # ---- tasks --------------------------------------------------------------------------------------------------

    def task(self, number: int, labels: Mapping[str, object], x: float | None, seed: int) -> Task:
        """The run of one combination at x with a seed."""
        place = number, x, seed
        if place not in self._tasks:
            self._tasks[place] = self._make(number, labels, x, seed)
        return self._tasks[place][0]

    def _make(self, number: int, labels: Mapping[str, object], x: float | None, seed: int) -> tuple[Task, RunRow]:
        sweep = self.sweep
        overrides: list[str] = []
        names: list[str] = []
        for variable in sweep.variables:
            label = labels[variable.name]
            overrides += variable.settings(variable.values[label], labels)
            names.append(f"{variable.short}{label}")
        values = dict(labels)
        if sweep.along and x is not None:
            overrides += sweep.along.variable.settings(x, labels)
            names.append(f"{sweep.along.variable.short}{x:.12g}")
            values[sweep.along.variable.name] = x
        if sweep.seeds != Seeds():
            overrides += arguments({SEED: seed})
            names.append(f"S{seed}")
        name = self._unique("_".join(re.sub(r"[^A-Za-z0-9.+-]+", "-", part) for part in names) or "run", overrides)
        try:
            config, files = self.reader.effective(overrides)
        except WrongSettings as error:
            raise WrongSettings(f"run {name} ({' '.join(overrides)}): {error}") from None
        log = sweep.out.absolute() / "logs" / f"{name}.csv.zst" if sweep.logs else None
        key = hash_of([config, [self._hash(f) for f in files], self.program_hash, sweep.logs, *(["baseline"] if sweep.baseline else [])])
        measures = self._alone.get(jobs.alone(config)) if sweep.baseline else None  # jobs alone, for this run too
        command = [self.program, *(word for p in sweep.plugins for word in ("--plugin", str(p))), "run",
                   str(self.config), *sweep.overrides, *overrides, "--quiet", "--results", "{product}",
                   *(["--log", "{log}"] if log else []), *(["--baseline"] if sweep.baseline and not measures else [])]
        task = Task(name, command, key, product=True, outputs=[log] if log else [], log=log, cores=self.cores_per_run,
                    objection=lambda document: self._objection(config, document), memory=self.memory_per_run,
                    weight=max(x, 0.01) if x is not None else 1, after=[measures] if measures else [],
                    completed=jobs.completed if measures else None)
        if sweep.baseline:
            self._alone.setdefault(jobs.alone(config), task)
        return task, RunRow(name, key, number, x, seed, values, [*sweep.overrides, *overrides], config)

    def _unique(self, name: str, overrides: Sequence[str]) -> str:
        """Names files: not too long, and no other run's."""
        known = self._names.setdefault(name.lower(), list(overrides))
        if len(name) > NAME_LENGTH or known != list(overrides):
            return f"{name[:NAME_LENGTH]}-{hash_of(list(overrides))[:8]}"
        return name

    def _objection(self, planned: dict, document: object) -> str:
        """What is wrong with a run's results: they are of other settings, or of another program, than was planned."""
        if isinstance(document, dict) and document.get("config") != planned:
            return "its settings changed while the study ran; run the study again"
        changed = [file for file, state in self._states.items() if _state(file) != state]
        return f"'{changed[0]}' changed while the study ran; run the study again" if changed else ""

    def _hash(self, file: str) -> str:
        if file not in self._hashes:
            self._states[file] = _state(file)
            self._hashes[file] = file_hash(file) if Path(file).exists() else ""  # the run will say what is wrong
        return self._hashes[file]

    def lines(self) -> Iterator[tuple[Line, Plan]]:
        """Each combination's line and its plan; makes, and so checks, the tasks of the whole grid."""
        self.sweep.check_figures()
        for number, labels in enumerate(self.sweep.combinations()):
            line = Line(lambda x, seed, n=number, c=labels: self.task(n, c, x, seed), self.sweep.seeds,
                        lambda x, seed, n=number: self._keep(n, x, seed))
            if self.sweep.along:
                yield line, self.sweep.along.plan(line)
            else:
                line.expect([None])  # type: ignore[list-item]
                yield line, line.rise([None])  # type: ignore[list-item]

    def _keep(self, number: int, x: float, seed: int) -> None:
        row = self._tasks[number, x, seed][1]
        self._kept[row.name] = row
        self._store.add_run(row)

    def grid_tasks(self) -> list[Task]:
        return [line.task(x, seed) for line, _ in self.lines() for x, seed in line.expected]

    def grid_rows(self) -> list[RunRow]:
        self.grid_tasks()
        return [row for _, row in self._tasks.values()]

    # ---- execution ----------------------------------------------------------------------------------------------

    def execute(self, lines: Sequence[tuple[Line, Plan]], store: Store, backend: Backend, retries: int, on_failure: str,
                quiet: bool) -> None:
        def ahead() -> list[float]:
            return [weight for line, _ in lines for weight in line.expected.values()]

        self._store = store
        progress = None if quiet else Progress(ahead, getattr(backend, "cores", 1))
        runner = Runner(store, backend, self.spool, on_failure=on_failure, retries=retries, observer=progress)
        try:
            runner.run(plan for _, plan in lines)
        finally:
            if progress:
                progress.end()
        store.keep_runs(self._kept)

    def estimate(self, tasks: Sequence[Task], store: Store | None, slots: int) -> tuple[float, bool]:
        """Seconds that all tasks take which have not run yet; whether that is no more than a lower bound."""
        costs, left, is_least = Costs(), [], False
        for task in tasks:
            outcome = store.outcome(task.key) if store else None
            if not outcome:
                left.append(task)
            elif outcome.wall_seconds > 0:
                costs.add(task.weight, outcome.wall_seconds * task.cores)
        if left and math.isnan(costs.of(1)):
            rising = sorted(left, key=lambda task: task.weight)
            ends = rising if len(rising) == 1 else [rising[0], rising[-1]]
            probes = [Probe(task.command) for task in ends]
            for task, probe in zip(ends, probes):
                seconds, is_bound = probe.end()
                costs.add(task.weight, seconds * task.cores)
                is_least = is_least or is_bound
        return sum(costs.of(task.weight) for task in left) / slots if left else 0.0, is_least

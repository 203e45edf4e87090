# SPDX-License-Identifier: Apache-2.0
"""A study that has been run, as figures, tables and notebooks want it: open_study("out/study.sqlite").

    study = open_study("out/vcs/study.sqlite")
    for curve in study.curves(lines=["VCs"]):
        print(curve.label, curve.saturation())
    frame = study.frame()                       # pandas, where installed
"""

from __future__ import annotations

import csv
import io
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping, Sequence

from .apart import at, called, distinct
from .curve import Curve, Point
from .files import write_file
from .jobs import TRAFFIC, is_job
from .results import Results, flatten, frame, several, unknown
from .store import DAMAGED, Outcome, RunRow, Store, StudyError

STATES = {0: "done", 1: "wrong settings", 2: "simulation error", 3: "input or output failed", 130: "interrupted"}


@dataclass(repr=False)
class Run:
    """One run of a study."""

    row: RunRow
    outcome: Outcome | None

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.state}>"

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def variables(self) -> dict:
        """What the sweep set, by name, the load among it."""
        return self.row.variables

    @property
    def is_done(self) -> bool:
        """Whether it ended well and its results are there."""
        return bool(self.outcome and self.outcome.ok and self.outcome.document)

    @property
    def results(self) -> Results | None:
        document = self.outcome.document if self.outcome else None
        return Results(document, self.name, self.variables) if document else None

    @property
    def state(self) -> str:
        """In a word or two."""
        if not self.outcome:
            return "not run"
        if self.outcome.ok and not self.outcome.document:
            return "results are missing"
        if self.outcome.message == DAMAGED:
            return "damaged"
        if self.outcome.status == 2 and self.outcome.document and self.outcome.document.get("outcome") == "deadlock":
            return "deadlock"
        return STATES.get(self.outcome.status, f"ended with status {self.outcome.status}")

    def warnings(self) -> list[str]:
        """What a reader of its numbers should know, each as "kind: explanation"."""
        found: list[str] = []
        if not self.is_done:
            first = self.outcome.message.splitlines()[:1] if self.outcome else []
            return [": ".join([self.state, *first])]
        applications = self.outcome.document["applications"]
        workload = self.row.config.get("workload", {"applications": [{}] * len(applications)})  # a model has none
        for settings, a in zip(workload["applications"], applications):
            if a["saturated"]:
                found.append("saturated: latency grows with the length of the run")
                continue
            if a["unfinished_packets"]:
                found.append(f"unfinished: {a['unfinished_packets']} sampled packets did not arrive")
            ci95, mean = a["packet_latency"]["ci95"], a["packet_latency"]["mean"]
            precision = settings.get("precision")
            if mean and precision and settings.get("sample") == "auto" and (ci95 is None or ci95 > precision * mean):
                reached = "no confidence interval" if ci95 is None else f"+- {100 * ci95 / mean:.2g} %"
                found.append(f"not converged: {reached}, asked for {100 * precision:g} %")
        return found


@dataclass(repr=False)
class Study:
    """Runs with what they were made from."""

    name: str
    title: str
    path: Path
    variables: dict[str, list[str]]  # the labels of each variable's values, in order; without x and seeds
    x: str | None  # the variable along a line: load, mostly
    facts: dict
    runs: list[Run] = field(default_factory=list)

    def __repr__(self) -> str:
        varied = [f"{name} {', '.join(map(str, values))}" for name, values in self.variables.items()]
        return f"<Study {self.name}: {several(len(self.runs), 'run')}, {sum(run.is_done for run in self.runs)} done; " + \
            "; ".join([*varied, *([f"over {self.x}"] if self.x else [])]) + ">"

    def select(self, where: Mapping[str, object] | None = None) -> list[Run]:
        """The runs whose variables have these values; a list of values accepts each of them."""
        chosen = {name: list(wanted) if isinstance(wanted, (list, tuple, set)) else [wanted]
                  for name, wanted in (where or {}).items()}
        for name, wanted in chosen.items():
            self._check(name)
            known = [*self.variables.get(name, ()), *(run.variables[name] for run in self.runs)]
            for value in wanted:
                if self.runs and not any(same(value, other) for other in known):
                    raise ValueError(unknown(f"value of {name}", str(value), dict.fromkeys(map(str, known)), f"the study '{self.name}'"))
        return [run for run in self.runs
                if all(any(same(run.variables[name], v) for v in wanted) for name, wanted in chosen.items())]

    def _check(self, name: str) -> None:
        known = [*self.variables, *([self.x] if self.x else [])]
        if name not in known:
            raise ValueError(unknown("variable", name, known, f"the study '{self.name}'"))

    def results(self, where: Mapping[str, object] | None = None) -> list[Results]:
        """Of all runs that ended well."""
        return [run.results for run in self.select(where) if run.is_done]

    def curves(self, x: str | None = None, lines: str | Sequence[str] | None = None,
               where: Mapping[str, object] | None = None) -> list[Curve]:
        """Curves over `x` (the load), one for each combination of the variables in `lines` (all that differ)."""
        x = x or self.x
        if x is None:
            raise ValueError(f"the study '{self.name}' has no variable along its lines; name one: x=...")
        self._check(x)
        runs = [run for run in self.select(where) if run.is_done]
        if lines is None:
            lines = [v for v in self.variables if v != x and len({str(r.variables[v]) for r in runs}) > 1]
        lines = [lines] if isinstance(lines, str) else list(lines)
        self._check_told([x, *lines], runs)
        curves: dict[tuple[str, ...], Curve] = {}
        for run in runs:
            label = ", ".join(self.label(name, run.variables[name]) for name in lines) or self.title
            curve = curves.setdefault(at(run.variables, lines), Curve(label, x=x))
            value = _number(run.variables[x])
            point = next((p for p in curve.points if p.x == value), None)
            if point is None:
                curve.points.append(point := Point(value))
            point.runs.append(run.results)
        for curve in curves.values():
            curve.points.sort(key=lambda p: p.x)
        labels = distinct([curve.label for curve in curves.values()], [", ".join(key) for key in curves])
        for curve, label in zip(curves.values(), labels):
            curve.label = label
        return list(curves.values())

    def check_told(self, names: Sequence[str], where: Mapping[str, object] | None = None) -> None:
        """Raises where runs differ in a variable that is not among these: they would be drawn as one."""
        self._check_told(names, [run for run in self.select(where) if run.is_done])

    def _check_told(self, names: Sequence[str], runs: Sequence[Run]) -> None:
        for name in names:
            self._check(name)
        hidden = [v for v in (*self.variables, self.x) if v and v not in names and len({str(run.variables[v]) for run in runs}) > 1]
        if hidden:
            raise ValueError(f"the runs differ in {', '.join(hidden)} too: name it among the lines, or hold it at a value (where)")

    label = staticmethod(called)

    def combinations(self, names: Sequence[str], where: Mapping[str, object] | None = None) -> list[dict]:
        """The values of these variables that occur together, in the order of the runs."""
        for name in names:
            self._check(name)
        found = {tuple(str(run.variables[n]) for n in names): {n: run.variables[n] for n in names}
                 for run in self.select(where)}
        return list(found.values())

    def saturation(self) -> list[dict]:
        """A row for each line: its variables, the highest load carried, the lowest that was not, most accepted.

        A line without results has None in all three places. No rows where the study has no variable along its lines.
        """
        rows: list[dict] = []
        if self.x is None:
            return rows
        for values in self.combinations(list(self.variables)):
            for curve in self.curves(lines=[], where=values) or [Curve("")]:
                stable = curve.stable()
                traffic = next((i for run in curve.runs() for i, a in enumerate(run["applications"]) if not is_job(a)), 0)
                rows.append({**values, "carried": stable[-1].x if stable else None, "saturated": curve.saturation(),
                             "accepted": max((p.mean("accepted_load", traffic) for p in curve.points), default=None)})
        return rows

    def jobs(self) -> list[tuple[dict, str, Point]]:
        """Of each application that comes to an end: values of all variables, its name, and the runs of all seeds."""
        found: dict[tuple[str, ...], tuple[dict, str, Point]] = {}
        for run in self.runs:
            for application in run.results["applications"] if run.is_done else ():
                if is_job(application):
                    key = *at(run.variables, run.variables), application["name"]
                    found.setdefault(key, (run.variables, application["name"], Point(0)))[2].runs.append(run.results)
        return list(found.values())

    def rows(self) -> list[dict]:
        """A flat row for each run that ended well: variables and seed, what counts of each application, then all numbers."""
        rows = []
        for run in self.runs:
            if run.is_done:
                every = {**{k: v for k, v in run.results.row().items() if not k.startswith("config.")}, **flatten(_others(run.results))}
                rows.append({"run": run.name, **run.variables, "seed": run.row.seed, **_what_counts(run.results, every), **every})
        return rows

    def frame(self) -> object:
        """The rows as a pandas data frame."""
        return frame(self.rows())

    def write_csv(self, path: str | Path) -> None:
        """The rows as CSV."""
        rows = self.rows()
        columns = list(dict.fromkeys(key for row in rows for key in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: str(v).lower() if isinstance(v, bool) else v for key, v in row.items()})
        write_file(path, text.getvalue())


def same(value: object, other: object) -> bool:
    """Whether two values of a variable are one: 2, 2.0 and "2" are.

    >>> same(2, "2"), same(2.0, 2), same("a", "b")
    (True, True, False)
    """
    return value == other or str(value) == str(other)


def _others(results: Results) -> dict:
    """Applications after the first, under their names, and their numbers where names are alike."""
    names = [a["name"] for a in results["applications"]]
    return {name if names.count(name) == 1 else f"{name}.{i}": a
            for i, (name, a) in enumerate(zip(names, results["applications"])) if i}


def _what_counts(results: Results, every: dict) -> dict:
    """The first columns of a table: of jobs their times in seconds and slowdowns, of other traffic loads and latencies."""
    found: dict[str, object] = {}
    several = len(results["applications"]) > 1
    for number, (name, block) in enumerate({results.application()["name"]: results.application(), **_others(results)}.items()):
        before = f"{name}." if several else ""
        if not is_job(block):
            row = flatten({key: block[key] for key in block if any(column.startswith(key) for column in TRAFFIC)})
            found.update({before + column: row[column] for column in TRAFFIC if column in row})
            continue
        time, steps = block["completion_time"], results.steps(number)
        found[before + "completion_seconds"] = None if time is None else time * results.tick_seconds
        if steps is not None and steps > 1:
            found[before + "step_seconds"] = None if time is None else time * results.tick_seconds / steps
        found.update({before + "slowdown": block["slowdown"]} if "slowdown" in block else {})
    if "channels.utilisation.max" in every:
        found["channels.utilisation.max"] = every["channels.utilisation.max"]
    return found


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is no number: it cannot stand on an x axis") from None


def open_study(path: str | Path) -> Study:
    """Reads a study's file; also while its sweep is running."""
    path = Path(path)
    if path.is_dir():
        path = path / "study.sqlite"
    try:
        with Store(path) as store:
            facts = {name: store.fact(name) for name in ("name", "title", "variables", "x", "base", "program", "figures")}
            runs = [Run(row, outcome) for row, outcome in store.runs()]
    except sqlite3.DatabaseError as error:
        raise StudyError(f"'{path}' is damaged: {error}; take a copy of it, or move it away and run the sweep again") from None
    names = {*(facts["variables"] or {}), facts["x"]} - {None}
    return Study(str(facts["name"]), str(facts["title"]), path, dict(facts["variables"] or {}), facts["x"], facts,
                 [run for run in runs if names <= set(run.variables)])  # none of an older form

# SPDX-License-Identifier: Apache-2.0
"""What the page's script shows of a study, as one JSON value: small enough for thousands of runs.

Names stand once and runs are lists of numbers in their order. Numbers have seven digits; results.csv and
study.sqlite have all of them.
"""

from __future__ import annotations

import json
import math
import re
from typing import Sequence

from ..apart import differences, exact, leaves_of
from ..jobs import is_job
from ..results import flatten
from ..study import Run, Study
from ..units import tick_of

BARS = 48  # of the small picture of a run's latencies
MESSAGE_LIMIT = 2000  # characters of what a failed run printed


def text_of(value: object) -> str:
    """A value as a table shows it.

    >>> text_of("tornado"), text_of(0.30000000000000004), text_of([8, 8]), text_of(True)
    ('tornado', '0.3', '[8, 8]', 'true')
    """
    if isinstance(value, str):
        return value
    return f"{value:.7g}" if isinstance(value, float) else json.dumps(value)


def short(value: object) -> object:
    """A number with seven digits; None for what is none."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        rounded = float(f"{value:.7g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value


def kind_of(warning: str) -> str:
    """What warnings are counted by.

    >>> kind_of("not converged: +- 2 %, asked for 1 %")
    'not converged'
    """
    return re.sub(r"^[\d.]+ ", "", warning.partition(":")[0])


def histogram(rows: Sequence[Sequence[float]], bars: int = BARS) -> list[int]:
    """Latencies as [first tick, ticks of a bar, packets beyond the last bar, packets of each bar ...].

    The bars end where one packet in a thousand is left.

    >>> histogram([[10, 10, 5], [11, 11, 7], [14, 14, 1]])
    [10, 1, 0, 5, 7, 0, 0, 1]
    """
    rows = [row for row in rows if row[2] > 0]
    if not rows:
        return []
    total = sum(row[2] for row in rows)
    low, seen, high = rows[0][0], 0.0, rows[-1][1]
    for row in rows:
        seen += row[2]
        if seen >= 0.999 * total:
            high = row[1]
            break
    width = max(math.ceil((high - low + 1) / bars), 1)
    counts = [0] * max(math.ceil((high - low + 1) / width), 1)
    for row in rows:
        place = int(((row[0] + row[1]) / 2 - low) // width)
        if row[0] <= high and place < len(counts):
            counts[place] += int(row[2])
    return [int(low), width, int(total - sum(counts)), *counts]


class Settings:
    """In which settings the runs differ, and their values."""

    def __init__(self, runs: Sequence[Run]):
        self.paths = differences([run.row.config for run in runs]) if runs else []
        self.values: list[list[str]] = [[] for _ in self.paths]  # of each path, in order of appearance
        self.counts: list[list[int]] = [[] for _ in self.paths]
        self.rows: list[list[int]] = []  # of each run, the number of its value
        places: list[dict[str, int]] = [{} for _ in self.paths]
        for run in runs:
            leaves = leaves_of(run.row.config)
            row = []
            for i, path in enumerate(self.paths):
                text = text_of(leaves[path]) if path in leaves else "\N{EN DASH}"
                place = places[i].setdefault(text, len(places[i]))
                if place == len(self.values[i]):
                    self.values[i].append(text)
                    self.counts[i].append(0)
                self.counts[i][place] += 1
                row.append(place)
            self.rows.append(row)


def data_of(study: Study, settings: Settings) -> dict:
    """The value of the page's data block."""
    names = [*study.variables, *([study.x] if study.x else [])]
    values = {name: list(dict.fromkeys([*map(text_of, study.variables.get(name, ())),
                                        *(text_of(run.variables[name]) for run in study.runs)])) for name in names}
    if study.x:
        values[study.x].sort(key=as_number)
    places = {name: {text: i for i, text in enumerate(texts)} for name, texts in values.items()}
    applications: dict[tuple[str, int], dict] = {}  # by name, and which of that name; runs may have others each
    for run in study.runs:
        applications.update({key: a for key, a in _applications(run).items() if key not in applications})
    numbers = [_numbers(run, list(applications)) for run in study.runs]
    columns = list(dict.fromkeys(column for row in numbers for column in row))
    base = study.facts.get("base") or {}
    shared = list(base.get("overrides") or [])
    messages: dict[str, int] = {}
    kinds: dict[str, dict[tuple[int, int], str]] = {}  # classes of channels, by topology
    runs = []
    for run, row, differing in zip(study.runs, numbers, settings.rows):
        outcome = run.outcome
        message = _cut(outcome.message) if outcome and outcome.message else ""
        overrides = run.row.overrides
        runs.append({
            "name": run.name, "seed": run.row.seed, "state": state_of(run), "warnings": run.warnings(),
            "at": [places[name][text_of(run.variables[name])] for name in names],
            "overrides": overrides[len(shared):] if overrides[:len(shared)] == shared else overrides,
            "settings": differing, "numbers": [short(row.get(column)) for column in columns],
            "busiest": _busiest(run, kinds),
            "message": messages.setdefault(message, len(messages)) if message else None,
            "seconds": short(outcome.wall_seconds) if outcome else None,
            "cpu": short(outcome.cpu_seconds) if outcome else None, "attempts": outcome.attempts if outcome else 0,
            "bars": [histogram(_applications(run).get(key, {}).get("latency_distribution", ())) for key in applications],
        })
    return {
        "name": study.name, "config": base.get("file") or "CONFIG", "overrides": shared,
        "plugins": list(base.get("plugins") or []), "baseline": bool(base.get("baseline")),
        "variables": [{"name": name, "values": values[name]} for name in names],
        "applications": [name for name, _ in applications], "jobs": [is_job(a) for a in applications.values()],
        "tick": _tick(study), "columns": columns,
        "settings": [{"path": path, "values": texts} for path, texts in zip(settings.paths, settings.values)],
        "messages": list(messages), "runs": runs,
    }


def _tick(study: Study) -> float | None:
    """Seconds of a tick, where that is the same in all runs."""
    ticks = {run.results.tick_seconds for run in study.runs if run.is_done and tick_of(run.results)}
    return ticks.pop() if len(ticks) == 1 else None


def state_of(run: Run) -> str:
    """A run's state; a saturated run is done, and more."""
    return "saturated" if run.is_done and run.results.saturated else run.state


def as_number(text: str) -> tuple[float, str]:
    """What texts are sorted by: numbers by size, then all else.

    >>> sorted(["0.72", "x", "0.3", "12"], key=as_number)
    ['0.3', '0.72', '12', 'x']
    """
    try:
        return float(text), text
    except ValueError:
        return math.inf, text


def _cut(message: str) -> str:
    return message if len(message) <= MESSAGE_LIMIT else message[:MESSAGE_LIMIT] + "\n... (all of it: study.sqlite)"


def _busiest(run: Run, kinds: dict[str, dict[tuple[int, int], str]]) -> list[list]:
    """Of the channels that carried most: router, target, class ("" where it is not known), utilisation."""
    if not run.results or not run.results.get("channels", {}).get("list"):
        return []
    from ..figures.maps import channels_of
    from ..figures.network import NAMED, NoPicture, picture_of
    topology = exact(run.results["config"].get("network", {}).get("topology"))
    table, _ = channels_of(run.results)
    if topology not in kinds:
        try:
            kinds[topology] = {(c.router, c.target): c.kind for c in picture_of(run.results, table)[0]}
        except (NoPicture, OSError):
            kinds[topology] = {}
    order = sorted(range(len(table["router"])), key=lambda i: -table["utilisation"][i])[:NAMED]
    ends = [(int(table["router"][i]), int(table["target"][i])) for i in order]
    return [[*pair, kinds[topology].get(pair, ""), short(float(table["utilisation"][i]))] for pair, i in zip(ends, order)]


def _applications(run: Run) -> dict[tuple[str, int], dict]:
    """By name, and which of that name."""
    blocks = run.results["applications"] if run.results else []
    return {(a["name"], sum(b["name"] == a["name"] for b in blocks[:i])): a for i, a in enumerate(blocks)}


def _numbers(run: Run, applications: Sequence[tuple[str, int]]) -> dict[str, object]:
    """Of the simulation, the channels, and of each application under its place."""
    if not run.results:
        return {}
    row = {key: value for part in ("simulation", "channels")
           for key, value in flatten(run.results.get(part, {}), part).items()}
    for key, application in _applications(run).items():
        row.update(flatten({k: v for k, v in application.items() if k != "series"}, str(applications.index(key))))
    return row

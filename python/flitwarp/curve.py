# SPDX-License-Identifier: Apache-2.0
"""Curves: what a figure draws. A curve has points, a point the runs of all its seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Sequence

from .results import Results, Which

# Student's t, two-sided 95 %, by degrees of freedom from 1.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


def half_width(values: Sequence[float]) -> float:
    """Half the 95 % confidence interval of the mean; NaN from fewer than two values.

    >>> round(half_width([10.0, 11.0, 12.0]), 3)
    2.484
    """
    count = len(values)
    if count < 2:
        return math.nan
    t = _T95[count - 2] if count - 2 < len(_T95) else 1.96 + 2.5 / (count - 1)
    return t * stdev(values) / math.sqrt(count)


@dataclass
class Point:
    """One place on a curve: the value on the x axis, and the results of every seed."""

    x: float
    runs: list[Results] = field(default_factory=list)

    @property
    def saturated(self) -> bool:
        """Whether at least half of the seeds saturated."""
        return 2 * sum(run.saturated for run in self.runs) >= max(len(self.runs), 1)

    def values(self, column: str, which: Which = 0) -> list[float]:
        """The column's value in every seed."""
        return [float(run.value(column, which)) for run in self.runs]  # type: ignore[arg-type]

    def mean(self, column: str, which: Which = 0) -> float:
        """Over the seeds."""
        return fmean(self.values(column, which)) if self.runs else math.nan

    def ci95(self, column: str, which: Which = 0) -> float:
        """Half the 95 % interval: over the seeds, or a single run's own where it measured one; else NaN."""
        if len(self.runs) > 1:
            return half_width(self.values(column, which))
        block, _, last = column.rpartition(".")
        if last != "mean" or not self.runs:
            return math.nan
        return float(self.runs[0].value(f"{block}.ci95", which))  # type: ignore[arg-type]


@dataclass
class Curve:
    """Points in rising order of x, with the label of the legend.

    `x` names what the axis shows: `load`, another variable of the sweep, or a column.
    """

    label: str
    points: list[Point] = field(default_factory=list)
    x: str = "load"

    def stable(self) -> list[Point]:
        """The points below saturation: those whose latency means something."""
        end = self.saturation()
        return [p for p in self.points if not p.saturated and (end is None or p.x < end)]

    def saturation(self) -> float | None:
        """The lowest x that saturated; None when all were carried."""
        return min((p.x for p in self.points if p.saturated), default=None)

    def runs(self) -> list[Results]:
        """All results of the curve."""
        return [run for point in self.points for run in point.runs]


def curves_of_files(documents: Sequence[Results], which: Which = 0) -> list[Curve]:
    """Results documents as curves of latency over load: those that differ in load and seed alone share a curve."""
    groups: dict[str, Curve] = {}
    for document, label in labelled(documents, [_load_path(documents, which), SEED]):
        curve = groups.setdefault(label, Curve(label or document.application(which)["name"]))
        x = float(document.value("target_load", which))  # type: ignore[arg-type]
        if math.isnan(x):
            raise ValueError(f"application '{document.application(which)['name']}' has no load to be drawn over; "
                             "flitwarp-plot comparison --by SETTING draws bars over that of another")
        point = next((p for p in curve.points if p.x == x), None)
        if point is None:
            curve.points.append(point := Point(x))
        point.runs.append(document)
    for curve in groups.values():
        curve.points.sort(key=lambda p: p.x)
    return list(groups.values())


def replicas(documents: Sequence[Results], which: Which = 0) -> list[tuple[str, list[Results]]]:
    """Results that differ in nothing but the seed, together, under a label that tells them from the others."""
    groups: dict[str, list[Results]] = {}
    for document, label in labelled(documents, [SEED]):
        groups.setdefault(label or document.application(which)["name"], []).append(document)
    return list(groups.items())


# ---- what tells runs apart ----

SEED = "simulator.seed"
LOAD = "workload.applications.{}.load"


def _load_path(documents: Sequence[Results], which: Which) -> str:
    number = which
    if documents and not isinstance(which, int):
        number = documents[0]["applications"].index(documents[0].application(which))
    return LOAD.format(number)


def leaves_of(tree: object, path: str = "") -> dict[str, object]:
    """Every setting by its path."""
    if isinstance(tree, dict):
        return {k: v for key, child in tree.items()
                for k, v in leaves_of(child, f"{path}.{key}" if path else key).items()}
    if isinstance(tree, list) and any(isinstance(child, dict) for child in tree):
        return {k: v for i, child in enumerate(tree) for k, v in leaves_of(child, f"{path}.{i}").items()}
    return {path: tree}


def differences(configs: Sequence[dict]) -> list[str]:
    """The paths of the settings in which configurations differ.

    Where components of different types stand, the type tells them apart; keys that one of them lacks do not count.

    >>> differences([{"traffic": {"type": "tornado"}}, {"traffic": {"type": "uniform", "self": False}}])
    ['traffic.type']
    """
    leaves = [leaves_of(config) for config in configs]
    paths = dict.fromkeys(path for leaf in leaves for path in leaf)
    found = [p for p in paths if any(leaf.get(p) != leaves[0].get(p) for leaf in leaves)]
    owners = tuple(p[: -len("type")] for p in found if p.rpartition(".")[2] == "type")
    return [p for p in found if not (p.startswith(owners) and any(p not in leaf for leaf in leaves))]


def names_of(paths: Sequence[str]) -> dict[str, str]:
    """Short names of settings: the last key, or the component's where that is `type`; longer ones where two are alike.

    >>> names_of(["network.channel.latency", "network.terminal_channel.latency", "workload.applications.0.traffic.type"])
    {'network.channel.latency': 'channel.latency', 'network.terminal_channel.latency': 'terminal_channel.latency', \
'workload.applications.0.traffic.type': 'traffic'}
    """
    steps = {path: path.split(".") for path in paths}
    for path, parts in steps.items():
        if parts[-1] == "type" and len(parts) > 1:
            parts.pop()
        if parts[-1].isdigit() and len(parts) > 1:  # an application's own type
            parts[-2:] = [f"{parts[-2].rstrip('s')} {parts[-1]}"]
    names = {path: parts[-1] for path, parts in steps.items()}
    alike = [path for path, name in names.items() if list(names.values()).count(name) > 1]
    return {path: ".".join(steps[path][-2:]) if path in alike else name for path, name in names.items()}


def shown(value: object) -> str:
    """A setting's value as a label shows it.

    >>> shown([8, 8]), shown(0.30000000000000004), shown("uniform_random"), shown(True)
    ('8x8', '0.3', 'uniform random', 'on')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "x".join(map(shown, value)) if value and len(value) <= 6 else f"({len(value)} values)"
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value).replace("_", " ")


def labelled(documents: Sequence[Results], along: Sequence[str] = ()) -> list[tuple[Results, str]]:
    """Each document with a label: the settings in which it differs from others, such as "num_vcs 2, traffic tornado".

    Settings `along` a curve do not count. In rising order of numbers among those settings; otherwise as they came.
    """
    leaves = [leaves_of(document.get("config", {})) for document in documents]
    paths = [path for path in differences([document.get("config", {}) for document in documents]) if path not in along]
    names = names_of(paths)
    firsts = {path: list(dict.fromkeys(str(leaf.get(path)) for leaf in leaves)) for path in paths}

    def order(i: int) -> list[tuple[float, int]]:
        return [rank(leaves[i].get(path), firsts[path]) for path in paths]

    return [(documents[i], ", ".join(f"{names[p]} {shown(leaves[i][p])}" for p in paths if p in leaves[i]))
            for i in sorted(range(len(documents)), key=order)]


def rank(value: object, firsts: Sequence[str]) -> tuple[float, int]:
    """Where a value stands among others: numbers by size, all else as it came."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value), 0
    return -math.inf, firsts.index(str(value))

# SPDX-License-Identifier: Apache-2.0
"""Curves: what a figure draws. A curve has points, a point the runs of all its seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Sequence

from .apart import SEED, groups, repetitions
from .results import Results, UnknownColumn, Which, several

# Student's t, two-sided 95 %, by degrees of freedom from 1.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


def half_width(values: Sequence[float]) -> float:
    """Half the 95 % confidence interval of the mean; NaN from fewer than two values, or where one is missing (NaN).

    >>> round(half_width([10.0, 11.0, 12.0]), 3)
    2.484
    """
    count = len(values)
    if count < 2 or any(math.isnan(value) for value in values):
        return math.nan
    t = _T95[count - 2] if count - 2 < len(_T95) else 1.96 + 2.5 / (count - 1)
    return t * stdev(values) / math.sqrt(count)


@dataclass(repr=False)
class Point:
    """One place on a curve: the value on the x axis, and the results of every seed."""

    x: float
    runs: list[Results] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Point {self.x:g}: {several(len(self.runs), 'run')}{', saturated' if self.runs and self.saturated else ''}>"

    @property
    def saturated(self) -> bool:
        """Whether at least half of the seeds saturated."""
        return 2 * sum(run.saturated for run in self.runs) >= max(len(self.runs), 1)

    def values(self, column: str, which: Which = 0) -> list[float]:
        """The column's value in every seed."""
        found = [run.value(column, which) for run in self.runs]
        if any(isinstance(value, str) for value in found):
            raise UnknownColumn(f"column '{column}' of {self.runs[0].source} is no number")
        return [float(value) for value in found]  # type: ignore[arg-type]

    def mean(self, column: str, which: Which = 0) -> float:
        """Over the seeds."""
        return fmean(self.values(column, which)) if self.runs else math.nan

    def ci95(self, column: str, which: Which = 0) -> float:
        """Half the 95 % interval over the seeds; NaN from one of them, which tells nothing of others."""
        return half_width(self.values(column, which))


@dataclass(repr=False)
class Curve:
    """Points in rising order of x, with the label of the legend.

    `x` names what the axis shows: `load`, another variable of the sweep, or a column.
    """

    label: str
    points: list[Point] = field(default_factory=list)
    x: str = "load"

    def __repr__(self) -> str:
        end = self.saturation()
        return f"<Curve {self.label}: {several(len(self.points), 'point')} over {self.x}" + \
            (f", saturated from {end:g}>" if end is not None else ">")

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
    curves = []
    for label, runs in groups(documents, lambda run: (LOAD.format(_number(run, which)), SEED)):
        curve = Curve(label or runs[0].application(which)["name"])
        for same in repetitions(runs):
            x = float(same[0].value("target_load", which))  # type: ignore[arg-type]
            if math.isnan(x):
                raise ValueError(f"application '{runs[0].application(which)['name']}' has no load to be drawn over; "
                                 "flitwarp-plot comparison --by SETTING draws bars over that of another")
            curve.points.append(Point(x, same))
        curve.points.sort(key=lambda p: p.x)
        curves.append(curve)
    return curves


def replicas(documents: Sequence[Results], which: Which = 0) -> list[tuple[str, list[Results]]]:
    """Results that differ in nothing but the seed, together, under a label that tells them from the others."""
    return [(label or runs[0].application(which)["name"], runs) for label, runs in groups(documents, names=True)]


LOAD = "workload.applications.{}.load"


def _number(run: Results, which: Which) -> int:
    return which if isinstance(which, int) else run["applications"].index(run.application(which))

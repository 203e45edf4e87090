# SPDX-License-Identifier: Apache-2.0
"""The plans of a sweep's lines: points with seeds, a rising load that stops after saturation, a bisection.

They are generators for the task runner. They know neither settings nor files: a line is given a function that
makes the task of a load and a seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Generator, Iterable, Sequence

from .curve import Point
from .results import Results, UnknownColumn
from .settings import WrongSettings
from .store import Outcome
from .tasks import Need, Task

DIGITS = 6  # of a load between two others
ROUNDING = 1e-3  # of a gap between loads that have so many digits
FIGURE_TOP = 5  # times the lowest latency: where a figure of it ends
BEND = 0.5  # times the lowest latency, between neighbours: a curve that rises less has no bend there

PointPlan = Generator[Need, "list[Outcome]", Point]
LinePlan = Generator[Need, "list[Outcome]", None]


@dataclass(frozen=True)
class Seeds:
    """Replicas of each point: a fixed number, or as many as the confidence interval takes."""

    at_least: int = 1
    at_most: int = 1
    precision: float = math.inf  # half width of the 95 % interval, relative to the mean
    column: str = "packet_latency.mean"
    first: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.at_least <= self.at_most:
            raise ValueError(f"seeds: at least {self.at_least}, at most {self.at_most}; accepted: 1 <= at_least <= at_most")
        if self.precision != math.inf and self.at_least < 2:
            raise ValueError("seeds: a confidence interval takes at_least 2 of them")
        if not self.precision > 0:
            raise ValueError(f"seeds: precision {self.precision} is not above 0; 0.02 is 2 % of the mean")

    def are_enough(self, point: Point) -> bool:
        """Whether a point needs no further seed."""
        if len(point.runs) >= self.at_most or point.saturated:
            return True
        return not point.ci95(self.column) > self.precision * abs(point.mean(self.column))


class Line:
    """One combination of the sweep's variables, measured along x."""

    def __init__(self, task: Callable[[float, int], Task], seeds: Seeds, keep: Callable[[float, int], None]):
        self.task, self.seeds = task, seeds
        self.keep = keep  # told of each run that belongs to the study
        self.expected: dict[tuple[float, int], float] = {}  # runs that may still come, with their weight
        self.lost: set[float] = set()  # points without results that another attempt might have

    def expect(self, values: Iterable[float]) -> None:
        """Says which points will be asked for at most."""
        for x in values:
            for seed in self._first_seeds():
                self.expected[x, seed] = self.task(x, seed).weight

    def _first_seeds(self) -> range:
        return range(self.seeds.first, self.seeds.first + self.seeds.at_least)

    def point(self, x: float, then: Sequence[float] = ()) -> PointPlan:
        """Measures at x; `then` are the places that will probably be asked for next."""
        point = Point(x)
        ahead = [task for y in then for seed in self._first_seeds() if (task := self._possible(y, seed))]
        yield from self._measure(point, list(self._first_seeds()), ahead)
        end = self.seeds.first + self.seeds.at_most
        seed = self.seeds.first + self.seeds.at_least
        while seed < end and not self.seeds.are_enough(point):
            more = [task for s in range(seed + 1, end) if (task := self._possible(x, s))]
            yield from self._measure(point, [seed], more + ahead)
            seed += 1
        return point

    def _possible(self, x: float, seed: int) -> Task | None:
        """The task of a point that may never be asked for; None where there can be none."""
        try:
            return self.task(x, seed)
        except WrongSettings:
            return None

    def _measure(self, point: Point, seeds: Sequence[int], likely: Sequence[Task]) -> LinePlan:
        outcomes = yield Need([self.task(point.x, seed) for seed in seeds], likely)
        for seed, outcome in zip(seeds, outcomes):
            self.keep(point.x, seed)
            self.expected.pop((point.x, seed), None)
            if outcome.ok and outcome.document:
                point.runs.append(Results(outcome.document))
            elif not outcome.is_final:
                self.lost.add(point.x)

    def rise(self, values: Sequence[float], past: int = 0, refine: int = 0) -> LinePlan:
        """Goes through the values until `past` of them have saturated (0: through all).

        Where one has, the gap below it is halved `refine` times, and up to as many further values are taken where the
        curve bends, each in the middle of the gap over which latency rises most.
        """
        above: float | None = None
        count = 0
        carried: list[Point] = []
        for i, x in enumerate(values):
            point = yield from self.point(x, values[i + 1:])
            if self.is_carried(point) is False:
                count += 1
                above = x if above is None else above
            elif self.is_carried(point) and above is None:
                carried.append(point)
            if past and count >= past:
                break
        if carried and above is not None:
            yield from self._refine(carried, above, refine)
        self.expected.clear()

    def _refine(self, carried: list[Point], above: float, times: int) -> LinePlan:
        """Goes on between the loads that were carried and the lowest that was not. One of a bend may turn out not to be carried:
        then there is another gap to narrow."""
        narrow = (above - carried[-1].x) / 2 ** times
        bends = 0
        while carried:
            gap: tuple[float, float] | None = (carried[-1].x, above)
            if above - carried[-1].x <= narrow * (1 + ROUNDING) or not _can_be_halved(carried[-1].x, above):
                gap = _steepest(carried) if bends < times else None
                bends += 1
            middle = _middle(*gap) if gap else 0
            if gap is None or not self._possible(middle, self.seeds.first):
                return
            point = yield from self.point(middle, [_middle(gap[0], middle), _middle(middle, gap[1])])
            if self.is_carried(point) is None:
                return
            if self.is_carried(point):
                carried = sorted([*carried, point], key=lambda p: p.x)
            else:
                above = middle
                carried = [p for p in carried if p.x < middle]

    def search(self, low: float, high: float, precision: float) -> LinePlan:
        """Finds by bisection where saturation begins, to the precision."""
        top = yield from self.point(high, [_middle(low, high)])
        if self.is_carried(top) is False:
            yield from self.halve(low, high, math.ceil(math.log2((high - low) / precision)))
        self.expected.clear()

    def halve(self, low: float, high: float, times: int) -> LinePlan:
        """Halves the gap between a load that was carried and one that was not."""
        for _ in range(times):
            middle = _middle(low, high)
            if not _can_be_halved(low, high) or not self._possible(middle, self.seeds.first):
                return
            point = yield from self.point(middle, [_middle(low, middle), _middle(middle, high)])
            if self.is_carried(point) is None:
                return
            low, high = (middle, high) if self.is_carried(point) else (low, middle)

    def is_carried(self, point: Point) -> bool | None:
        """Whether the network carried the load. One in which it deadlocks it did not; None where runs were lost."""
        if not point.runs:
            return None if point.x in self.lost else False
        return not point.saturated


def _steepest(carried: Sequence[Point]) -> tuple[float, float] | None:
    """The gap between neighbours over which latency rises most, as far as a figure shows it; None: the curve has no bend."""
    latencies = [_latency(point) for point in carried]
    heights = [min(latency, FIGURE_TOP * latencies[0]) for latency in latencies]
    gaps = [(abs(b - a), low.x, high.x) for low, high, a, b in zip(carried, carried[1:], heights, heights[1:])
            if abs(b - a) > BEND * latencies[0] and _can_be_halved(low.x, high.x)]
    return max(gaps)[1:] if gaps else None


def _latency(point: Point) -> float:
    """The mean latency of a point; NaN where it has none, of a job, say."""
    try:
        return point.mean("packet_latency.mean")
    except UnknownColumn:
        return math.nan


def _can_be_halved(low: float, high: float) -> bool:
    return low < _middle(low, high) < high


def _middle(low: float, high: float) -> float:
    """Between two whole numbers, a whole number."""
    if isinstance(low, int) and isinstance(high, int):
        return (low + high) // 2
    return round((low + high) / 2, DIGITS)

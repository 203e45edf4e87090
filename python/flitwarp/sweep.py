# SPDX-License-Identifier: Apache-2.0
"""Load sweeps: latency and throughput over offered load, up to and a little past saturation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator

from .run import Config, run

LOAD = "workload.applications.0.load"


@dataclass
class Point:
    """One run of a sweep: the load that was asked for and the whole results document."""

    load: float
    results: dict
    path: Path | None = None

    @property
    def application(self) -> dict:
        return self.results["applications"][0]

    @property
    def saturated(self) -> bool:
        return self.application["saturated"]


@dataclass
class Curve:
    """A configuration, what makes it differ from the other curves, and its points by load."""

    label: str
    config: Config
    overrides: dict[str, object] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)

    def stable(self) -> list[Point]:
        """The points below saturation: those whose latency means something."""
        end = self.saturation()
        return [p for p in self.points if not p.saturated and (end is None or p.load < end)]

    def saturation(self) -> float | None:
        """The lowest load that saturated; None when all were carried."""
        return min((p.load for p in self.points if p.saturated), default=None)


def load_sweep(curve: Curve, *, step: float = 0.02, last: float = 1.0, past: int = 3, refine: int = 3,
               keep: Callable[[float], Path] | None = None, progress: Callable[[Point], None] | None = None) -> Curve:
    """Raises the load by `step` until `past` points have saturated or `last` is reached.

    Then it halves the gap between the last stable and the first saturated load `refine` times, so that the
    knee is well resolved. `keep` names the file of a load's results.
    """

    def measure(load: float) -> Point:
        path = keep(load) if keep else None
        point = Point(load, run(curve.config, {**curve.overrides, LOAD: load}, results=path), path)
        curve.points.append(point)
        curve.points.sort(key=lambda p: p.load)
        if progress:
            progress(point)
        return point

    for load in _grid(step, last):
        measure(load)
        if sum(p.saturated for p in curve.points) >= past:
            break
    for _ in range(refine):
        high = curve.saturation()
        low = max((p.load for p in curve.stable()), default=None)
        if high is None or low is None:
            break
        measure(round((low + high) / 2, 6))
    return curve


def _grid(step: float, last: float) -> Iterator[float]:
    count = int(last / step + 1e-9)
    for i in range(1, count + 1):
        yield round(i * step, 6)

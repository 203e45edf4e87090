# SPDX-License-Identifier: Apache-2.0
"""How far a sweep is: one line that renews itself on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Callable, TextIO

if TYPE_CHECKING:
    from .tasks import Runner

BAR = 20  # characters
RENEW = 0.1, 15.0  # seconds between lines on a terminal, and elsewhere


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42), duration(260), duration(26300)
    ('42 s', '4 min 20 s', '7 h 18 min')
    """
    whole = int(round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Costs:
    """What runs cost by weight, learned from those that have ended."""

    def __init__(self) -> None:
        self._seen: dict[float, list[float]] = {}

    def add(self, weight: float, seconds: float) -> None:
        """A run has ended."""
        self._seen.setdefault(weight, []).append(seconds)

    def of(self, weight: float) -> float:
        """The mean of runs of that weight, or of the nearest weight in proportion; NaN when nothing is known.

        >>> costs = Costs()
        >>> costs.add(0.1, 2.0); costs.add(0.2, 4.0); costs.add(0.2, 6.0)
        >>> costs.of(0.2), costs.of(0.4)
        (5.0, 10.0)
        """
        if not self._seen:
            return math.nan
        nearest = min(self._seen, key=lambda seen: abs(seen - weight))
        return fmean(self._seen[nearest]) * weight / nearest


class Progress:
    """Shows a runner's progress. `ahead` tells the weights of the runs that may still come."""

    def __init__(self, ahead: Callable[[], list[float]], slots: int, stream: TextIO | None = None):
        self.ahead, self.slots, self.stream = ahead, slots, stream or sys.stderr
        self.start = time.monotonic()
        self.last = self.start if not self.stream.isatty() else 0.0

    def left(self, runner: Runner) -> float:
        """Seconds to the end; NaN before the first run has ended."""
        counts = Counter(self.ahead())
        return sum(count * runner.costs.of(weight) for weight, count in counts.items()) / self.slots if counts else 0.0

    def text(self, runner: Runner) -> str:
        ahead = len(self.ahead())
        done = runner.ran + runner.found
        share = done / max(done + ahead, 1)
        bar = "=" * int(share * BAR)
        left = self.left(runner)
        parts = [f"{done} of at most {done + ahead} runs", f"{len(runner.running)} at work"]
        if runner.failed:
            parts.append(f"{runner.failed} failed")
        times = f"{duration(time.monotonic() - self.start)} gone"
        if not math.isnan(left):
            times += f", about {duration(left)} left"
        return f"{share:4.0%} [{bar:{BAR}s}] {', '.join(parts)}; {times}; {runner.last}"

    def __call__(self, runner: Runner) -> None:
        terminal = self.stream.isatty()
        now = time.monotonic()
        if now - self.last < RENEW[not terminal]:
            return
        self.last = now
        self.stream.write(f"\r{self.text(runner)}\033[K" if terminal else self.text(runner) + "\n")
        self.stream.flush()

    def end(self) -> None:
        """Takes the line away."""
        if self.stream.isatty():
            self.stream.write("\r\033[K")
            self.stream.flush()

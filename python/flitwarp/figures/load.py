# SPDX-License-Identifier: Apache-2.0
"""Figures over load: latency with its percentiles, accepted load, and any other column.

Latency lines end at the last load that the network carries. A vertical line marks the first load that saturated it:
what lies beyond says how long the run was, not how the network is.
"""

from __future__ import annotations

import math
from typing import Callable, Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from ..curve import Curve, Point
from ..jobs import TIMES
from ..results import Results, UnknownColumn, Which
from ..units import Unit, choose, is_time, words
from .distribution import percentile
from .style import LINES, MARK, Figure, Layout, add_intervals, drawing, finish, look

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
BAND_TOP = 12  # times the lowest latency: the end of a linear axis
MEAN_TOP = 5
FULL_MARKS = 4  # curves whose saturation is marked over the whole height


def load_latency(curves: Sequence[Curve], *, latency: str = "packet", percentiles: Sequence[float] | None = None,
                 application: Which = 0, unit: str | None = None, **layout: object) -> Figure:
    """Latency over offered load up to saturation, which a vertical line marks.

    One curve shows its percentiles as nested bands around the mean; several show means with 95 % intervals,
    and those percentiles that are asked for as further lines. On a linear axis latency is shown up to a few
    times that of the lowest load. `layout`: see style.Layout.

    >>> from flitwarp.figures import demo
    >>> figure = load_latency(demo.curves(1), percentiles=[50, 99])
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['p50 to p99', 'mean', 'saturated']
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    column = f"{latency}_latency.mean"
    carried = [carried_points(curve) for curve in curves]
    if not any(carried):
        raise ValueError("no stable point: every load of every curve is saturated, and latency means nothing there; "
                         "run lower loads")
    scale_of = _time(curves, unit, application, column)
    low = min(scale_of.mean(points[0], column) for points in carried if points)
    banded = len(curves) == 1 and (percentiles is None or len(percentiles) > 0)
    wanted = sorted(percentiles if percentiles is not None else PERCENTILES if banded else ())
    logarithmic = "y" in (chosen.log or "")
    top = math.inf if logarithmic else low * (BAND_TOP if wanted else MEAN_TOP)
    with drawing(chosen) as (figure, ax):
        highest = low
        for i, (curve, points) in enumerate(zip(curves, carried)):
            style = look(i, len(curves))
            x = [p.x for p in points]
            means = [scale_of.mean(p, column) for p in points]
            rows = {p: [scale_of.percentile(point, latency, p) for point in points] for p in wanted}
            highest = max([highest, *means, *(v for row in rows.values() for v in row)])
            if banded:
                _bands(ax, x, wanted, rows, style["color"])
                style["color"] = "black"
                ax.plot(x, means, label="mean", zorder=4, **style)
            else:
                if wanted:  # the line style tells means from percentiles, not curves
                    style["linestyle"] = "-"
                halves = [scale_of.ci95(p, column) if mean <= top else math.nan for p, mean in zip(points, means)]
                highest = max(highest, _highest(means, halves))
                _line(ax, x, means, halves, curve.label, style)  # a bar without its point would puzzle
                for line, p in enumerate(wanted, start=1):
                    ax.plot(x, rows[p], **{**style, "linestyle": LINES[line % len(LINES)]}, markersize=2.4)
        _mark_saturation(ax, curves)
        if wanted and not banded:
            for line, name in enumerate(["mean", *map(name_of, wanted)]):
                ax.plot([], [], color="0.35", linestyle=LINES[line % len(LINES)], label=name)
        if any(curve.saturation() is not None for curve in curves if curve.x == "load"):
            ax.plot([], [], color="0.35", label="saturated", **MARK)
        if not logarithmic:
            ax.set_ylim(0, min(top, highest * 1.08))
        if curves[0].x == "load" and "x" not in (chosen.log or ""):
            ax.set_xlim(0, max(p.x for c in curves for p in c.points if not p.saturated or p.x == c.saturation()) * 1.04)
        statistic = "" if wanted else "mean "
        finish(ax, chosen, _along(curves, application, scale_of.unit),
               f"{statistic}{latency} latency ({scale_of.unit.text})")
    return figure


def _along(curves: Sequence[Curve], application: Which, unit: Unit) -> str:
    """The label of the x axis. Where there are replies, the load that was asked for is the requests' alone."""
    replies = any("transactions" in run.application(application) for curve in curves for run in curve.runs())
    label = words(curves[0].x, unit)
    return label.replace("offered load", "offered load of requests") if replies else label


def _line(ax: Axes, x: Sequence[float], y: Sequence[float], halves: Sequence[float], label: str, style: dict) -> None:
    """A curve with bars of half widths; NaN is no bar."""
    ax.plot(x, y, label=label, **style)
    add_intervals(ax, x, y, halves, style["color"], 1.6)


def _highest(y: Sequence[float], halves: Sequence[float]) -> float:
    """Where the highest bar ends, or the highest point without one."""
    return max((value + (0 if math.isnan(half) else half) for value, half in zip(y, halves) if math.isfinite(value)), default=-math.inf)


def _mark_saturation(ax: Axes, curves: Sequence[Curve]) -> None:
    """A vertical line where each curve saturates; many are short ones, and those at one load share it in dashes."""
    ends: dict[float, list[int]] = {}
    for i, curve in enumerate(curves):
        if curve.x == "load" and curve.saturation() is not None:
            ends.setdefault(curve.saturation(), []).append(i)  # type: ignore[arg-type]
    height = 1 if len(curves) <= FULL_MARKS else 0.12
    for end, sharing in ends.items():
        for turn, i in enumerate(sharing):
            dashes = (4 * turn, (4, 4 * (len(sharing) - 1))) if len(sharing) > 1 else "-"
            colour = "black" if len(curves) == 1 else look(i, len(curves))["color"]
            ax.plot([end, end], [0, height], transform=ax.get_xaxis_transform(), color=colour, linewidth=0.7, linestyle=dashes,
                    zorder=1.5, gid="saturation")


def _bands(ax: Axes, x: list[float], wanted: list[float], rows: dict[float, list[float]], colour: str) -> None:
    """From the widest to the narrowest, paler outwards; the lowest percentile is a thin line."""
    count = max(len(wanted) - 1, 1)
    base = numpy.array(to_rgb(colour))
    for i in range(len(wanted) - 1, 0, -1):
        paler = 1 - (1 - base) * (0.75 - 0.6 * (i - 1) / count)
        ax.fill_between(x, rows[wanted[i - 1]], rows[wanted[i]], facecolor=paler, edgecolor=0.75 * paler, linewidth=0.4,
                        label=f"{name_of(wanted[i - 1])} to {name_of(wanted[i])}", zorder=2)
    if len(wanted) == 1:
        ax.plot(x, rows[wanted[0]], color=colour, linestyle=LINES[1], label=name_of(wanted[0]), zorder=3)


def name_of(p: float) -> str:
    """A percentile as the results name it.

    >>> name_of(99.9), name_of(50)
    ('p99.9', 'p50')
    """
    return f"p{p:g}"


def offered_accepted(curves: Sequence[Curve], *, application: Which = 0, **layout: object) -> Figure:
    """Accepted over offered load; the diagonal is a network that carries everything.

    >>> from flitwarp.figures import demo
    >>> offered_accepted(demo.curves(2)).axes[0].get_xlabel()
    'offered load (flits/terminal/cycle)'
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    _need_points(curves)
    with drawing(chosen) as (figure, ax):
        offered = {id(curve): [p.mean("offered_load", application) for p in curve.points] for curve in curves}
        high = highest = max(load for loads in offered.values() for load in loads)
        ax.plot([0, high], [0, high], color="0.6", linewidth=0.7, zorder=1)
        for i, curve in enumerate(curves):
            x = offered[id(curve)]
            y = [p.mean("accepted_load", application) for p in curve.points]
            halves = [p.ci95("accepted_load", application) if len(p.runs) > 1 else math.nan for p in curve.points]
            highest = max(highest, _highest(y, halves))
            _line(ax, x, y, halves, curve.label, look(i, len(curves)))
        ax.plot([], [], color="0.6", linewidth=0.7, label="all accepted")
        if not chosen.log:
            ax.set_xlim(0, high * 1.03)
            ax.set_ylim(0, highest * 1.03)
        finish(ax, chosen, words("offered_load", Unit("ticks")), words("accepted_load", Unit("ticks")))
    return figure


def load_column(curves: Sequence[Curve], column: str = "hops.mean", *, application: Which = 0, unit: str | None = None,
                **layout: object) -> Figure:
    """Any column of the results over load; `percent_minimal` is the share of packets on shortest ways, in percent.

    Latencies end at saturation, all else goes on, the times of jobs too.

    >>> from flitwarp.figures import demo
    >>> load_column(demo.curves(2), "hops.mean").axes[0].get_ylabel()
    'mean hops'
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    _need_points(curves)
    scale_of = _time(curves, unit, application, column)
    with drawing(chosen) as (figure, ax):
        drawn = 0
        values: list[float] = []
        highest = -math.inf
        for i, curve in enumerate(curves):
            points = carried_points(curve) if is_time(column) and column not in TIMES else curve.points
            y = [scale_of.mean(p, column) for p in points]
            halves = [scale_of.ci95(p, column) for p in points]
            highest = max(highest, _highest(y, halves))
            _line(ax, [p.x for p in points], y, halves, curve.label, look(i, len(curves)))
            drawn += len(points)
            values += y
        if not drawn:
            raise ValueError(f"no stable point: every load is saturated, and {column} means nothing there; "
                             "run lower loads")
        finite = [v for v in values if math.isfinite(v)]
        if not chosen.log and finite:
            high, low = max(finite), min(finite)
            if low >= 0 and high - low > 0.25 * high:
                ax.set_ylim(0, max(high * 1.08, highest * 1.03) or 1)
            elif high - low < 0.02 * abs(high) or high == low:  # noise about a constant: no magnifying glass
                ax.set_ylim(min(0, 1.2 * high), max(0, 1.2 * high, 1.03 * highest) or 1)
        if curves[0].x == "load" and "x" not in (chosen.log or ""):
            ax.set_xlim(0, max(p.x for c in curves for p in c.points) * 1.04)
        finish(ax, chosen, _along(curves, application, scale_of.unit), words(column, scale_of.unit))
    return figure


# ---- numbers ----


def carried_points(curve: Curve) -> list[Point]:
    """The points whose latency means something: those below saturation, or those that are not saturated."""
    points = curve.stable() if curve.x == "load" else [p for p in curve.points if not p.saturated]
    return [p for p in points if p.runs]


def _need_points(curves: Sequence[Curve]) -> None:
    if not any(curve.points for curve in curves):
        raise ValueError("there is nothing to draw: no curve has a point")


DERIVED: dict[str, tuple[str, Callable[[float], float], float]] = {
    "percent_minimal": ("nonminimal_share", lambda share: 100 * (1 - share), 100),
}


class Scaled:
    """Columns of points in the unit of the axis."""

    def __init__(self, unit: Unit, application: Which):
        self.unit, self.application = unit, application

    def _scale(self, point: Point, column: str) -> float:
        return self.unit.scale(point.runs[0]) if is_time(column) else 1.0

    def mean(self, point: Point, column: str) -> float:
        """The column's mean over the seeds."""
        if column in DERIVED:
            source, derive, _ = DERIVED[column]
            return derive(point.mean(source, self.application))
        try:
            return point.mean(column, self.application) * self._scale(point, column)
        except (TypeError, ValueError) as error:
            if isinstance(error, UnknownColumn):
                raise
            raise UnknownColumn(f"column '{column}' holds no number") from None

    def ci95(self, point: Point, column: str) -> float:
        """Half of its 95 % interval; NaN where there is none."""
        source, _, factor = DERIVED.get(column, (column, None, 1.0))
        try:
            return point.ci95(source, self.application) * factor * self._scale(point, column)
        except UnknownColumn:  # a mean without an interval
            return math.nan

    def percentile(self, point: Point, latency: str, p: float) -> float:
        """A percentile of latency, the mean over the seeds."""
        return float(numpy.mean([percentile(run, p, latency, self.application) for run in point.runs])) \
            * self.unit.scale(point.runs[0])


def _time(curves: Sequence[Curve], unit: str | None, application: Which, column: str) -> Scaled:
    runs: list[Results] = [run for curve in curves for run in curve.runs()]
    first = next((p for c in curves for p in carried_points(c)), None)
    ticks = 0.0
    if first is not None and is_time(column):
        value = first.mean(column, application)
        ticks = 0.0 if math.isnan(value) else value
    return Scaled(choose(runs, unit, ticks), application)

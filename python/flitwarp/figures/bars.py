# SPDX-License-Identifier: Apache-2.0
"""Bars: one number of many runs, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Mapping, Sequence

import numpy

from ..apart import SEED, Labels, config_of, differences, groups, identity, names_of, once, settings_of, shown, wording
from ..curve import Point
from ..jobs import TIMES, is_job
from ..results import Results, UnknownColumn, Which, unknown
from ..units import choose, is_time, words
from .distribution import bar_look
from .load import Scaled
from .style import Figure, Layout, add_intervals, drawing, finish, fit_ticks

if TYPE_CHECKING:
    from ..study import Study

BARS = 0.8  # of a group's width


def comparison(results: Sequence[Results], column: str = "packet_latency.mean", *, by: str | None = None,
               application: Which = 0, unit: str | None = None, labels: Sequence[str] | None = None,
               **layout: object) -> Figure:
    """Bars of a column with 95 % intervals over seeds.

    Runs that differ in one setting make a bar each; those that differ in several are grouped by `by` (a
    setting's name; load by default, or the first of them), and the others tell the bars of a group apart. Saturated
    runs have no latency: their place shows a cross.

    >>> from flitwarp.figures import demo
    >>> figure = comparison([run for curve in demo.curves(2) for run in curve.runs()], "accepted_load", by="load")
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('load', 'accepted load (flits/terminal/cycle)')
    """
    runs = list(results)
    if not runs:
        raise ValueError("there is nothing to draw: no results were given")
    group_name, groups, bars, cells = _arranged(runs, by)
    if labels is not None:
        named = bars if len(bars) > 1 else groups
        if len(labels) != len(named):
            raise ValueError(f"{len(labels)} labels for {len(named)} bars: {'; '.join(named)}")
        named[:] = labels
    return grouped_bars(group_name, groups, bars, cells, column, application=application, unit=unit, **layout)


def jobs(results: Sequence[Results], column: str | None = None, *, unit: str | None = None,
         labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """Jobs side by side: a group of bars for each, a bar for each set of runs, with 95 % intervals over seeds.

    The column is `slowdown` where there is one, else `completion_time`; `step_time` is that of a step of training.
    """
    found = groups(list(results), names=True)
    names = list(dict.fromkeys(a["name"] for _, runs in found for run in runs for a in run["applications"] if is_job(a)))
    if not names:
        raise ValueError("there is nothing to draw: no application of these results comes to an end")
    if column is None:
        measured = any("slowdown" in a for _, runs in found for run in runs for a in run["applications"])
        column = "slowdown" if measured else "completion_time"
    cells = {(i, j): Point(i, runs) for i, name in enumerate(names) for j, (_, runs) in enumerate(found)
             if all(any(a["name"] == name and is_job(a) for a in run["applications"]) for run in runs)}
    bars = [label for label, _ in found] if labels is None else list(labels)
    if len(bars) != len(found):
        raise ValueError(f"{len(bars)} labels for {len(found)} bars: {'; '.join(label for label, _ in found)}")
    figure = grouped_bars("", names, bars, cells, column, application=names, unit=unit, **layout)
    if column == "slowdown":
        figure.axes[0].axhline(1, color="0.3", linewidth=0.7, zorder=3)
    return figure


def grouped_bars(group_name: str, groups: Sequence[str], bars: Sequence[str], cells: Mapping[tuple[int, int], Point],
                 column: str, *, application: Which | Sequence[str] = 0, unit: str | None = None, **layout: object) -> Figure:
    """Bars of a column in groups: `cells` has the point of each (group, bar) that there is.

    `application` may be a list: of each group. What a job took counts also where others are saturated.
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    of = [application] * len(groups) if isinstance(application, (int, str)) else list(application)

    def is_void(point: Point) -> bool:
        return is_time(column) and column not in TIMES and point.saturated

    first = next((place for place, point in cells.items() if not is_void(point)), None)
    if first is None:
        raise ValueError(f"no stable point: every run is saturated, and {column} means nothing there; run lower loads")
    typical = cells[first].mean(column, of[first[0]]) if is_time(column) else 0
    runs = [run for point in cells.values() for run in point.runs]
    unit_of = choose(runs, unit, 0 if math.isnan(typical) else typical)
    scales = [Scaled(unit_of, which) for which in of]
    with drawing(chosen) as (figure, ax):
        crosses: list[float] = []
        for j, bar in enumerate(bars):
            places = {i + (j - (len(bars) - 1) / 2) * BARS / len(bars): (scales[i], cells[i, j])
                      for i in range(len(groups)) if (i, j) in cells}
            crosses += [place for place, (_, point) in places.items() if is_void(point)]
            drawn = {place: cell for place, cell in places.items() if place not in crosses}
            heights = [scale.mean(point, column) for scale, point in drawn.values()]
            halves = [scale.ci95(point, column) for scale, point in drawn.values()]
            none = [math.nan]  # bars of which none is drawn have a place in the legend
            ax.bar(list(drawn) or none, heights or none, 0.92 * BARS / len(bars), label=bar or None,
                   **bar_look(j, len(bars)))
            add_intervals(ax, list(drawn), heights, halves, "0.15", 1.8)
        if "y" not in (chosen.log or ""):
            ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
        if crosses:
            ax.plot(crosses, numpy.full(len(crosses), 0.045), transform=ax.get_xaxis_transform(), linestyle="none",
                    marker="x", color="0.25", markersize=4.5, markeredgewidth=1.2, label="saturated")
        ax.set_xticks(range(len(groups)))
        ax.set_xticklabels(groups)
        ax.tick_params(axis="x", length=0)
        ax.grid(False, axis="x")
        ax.set_xlim(-0.5, len(groups) - 0.5)
        finish(ax, chosen, group_name, words(column, unit_of))
        fit_ticks(ax)
    return figure


def throughput(study: Study, x: str, lines: Sequence[str] = (), where: Mapping[str, object] | None = None,
               application: Which = 0, **layout: object) -> Figure:
    """The most that each line of a study accepted at any load: a group of bars for each value of the variable `x`,
    a bar for each combination of the variables `lines`."""
    fixed = dict(where or {})
    groups, bars = study.combinations([x], fixed), study.combinations(list(lines), fixed)
    cells: dict[tuple[int, int], Point] = {}
    for i, group in enumerate(groups):
        for j, bar in enumerate(bars):
            points = [p for curve in study.curves(lines=[], where={**fixed, **group, **bar}) for p in curve.points]
            if points:
                cells[i, j] = max(points, key=lambda p: p.mean("accepted_load", application))
    names = [", ".join(study.label(name, value) for name, value in bar.items()) for bar in bars]
    layout["y_label"] = layout.get("y_label") or "throughput (flits/terminal/cycle)"
    return grouped_bars(x, [str(group[x]) for group in groups], names, cells, "accepted_load", application=application,
                        **layout)


def _arranged(runs: Sequence[Results], by: str | None) -> tuple[str, list[str], list[str], dict[tuple[int, int], Point]]:
    """The x axis' name, groups along it, bars in a group, and the runs of each bar."""
    settings = settings_of(runs, names=True)
    paths = differences(settings, [SEED])
    names = names_of(paths)
    if by is not None:
        grouping = [p for p in paths if by in (p, names[p])]
        if not grouping:
            raise UnknownColumn(unknown("setting that differs", by, names.values(), "these results"))
    else:
        loads = [p for p in paths if p.rpartition(".")[2] == "load"]
        grouping = loads[:1] or paths[:1]
    along = Labels(settings, grouping, lambda _, value: shown(value))
    along.texts = [text or "all" for text in along.texts]
    within: dict[int, list[dict]] = {}
    for leaves in settings:
        within.setdefault(along.place(leaves), []).append(leaves)
    needed = {p for same in within.values() for p in differences(same, [SEED, *grouping])}
    telling = [p for p in (*paths, *sorted(needed - set(paths))) if p in needed]
    bars = Labels(settings, telling, wording(runs, settings, {**names_of(telling), **names}))
    cells: dict[tuple[int, int], Point] = {}
    for run, leaves in zip(runs, settings):
        place = along.place(leaves), bars.place(leaves)
        cells.setdefault(place, Point(float(place[0]))).runs.append(run)
    for point in cells.values():
        if len({identity(config_of(run)) for run in point.runs}) > 1:
            raise ValueError(f"{point.runs[0].source} and {point.runs[1].source} differ in more than the seed: draw them apart")
        point.runs = once(point.runs)
    return ", ".join(names[p] for p in grouping), along.texts, bars.texts, cells


def names_of_bars(results: Sequence[Results], by: str | None = None) -> list[str]:
    """What `labels` of a comparison rename: the bars of a group, or the groups where each has one bar."""
    _, groups, bars, _ = _arranged(results, by)
    return bars if len(bars) > 1 else groups

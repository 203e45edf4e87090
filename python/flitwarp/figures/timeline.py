# SPDX-License-Identifier: Apache-2.0
"""Figures over time: latency and accepted load in intervals, and every packet by itself."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import blended_transform_factory

from ..results import Results, UnknownColumn, Which, seconds, unknown
from ..units import LOAD, Unit, choose
from .style import COLOURS, LINES, MARKERS, Figure, Layout, drawing, finish

PHASES = ("warming", "generating", "finishing", "draining")
SHADES = ("0.93", "1.0", "0.96", "0.91")  # what is sampled is white
MOST_POINTS = 200_000
LATENCIES = {"packet_latency": ("tail_arrived", "created"), "network_latency": ("tail_arrived", "injected"),
             "head_latency": ("head_arrived", "created"), "queueing": ("injected", "created"),
             "extra_hops": ("hops", "minimal_hops")}
INSTANTS = ("created", "injected", "head_arrived", "tail_arrived")


def time_series(results: Results | Mapping, *, application: Which | None = None, unit: str | None = None,
                labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """Latency and accepted load over time, each application a line, with the phases of the run above.

    Needs workload.series_interval in the configuration.

    >>> from flitwarp.figures import demo
    >>> figure = time_series(demo.results())
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['warming', 'generating', 'finishing', 'draining']
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    run = results if isinstance(results, Results) else Results(results)
    if application is None:
        shown = [i for i, block in enumerate(run["applications"]) if "series" in block] or [0]
    else:
        shown = [application]
    series = [run.series(which) for which in shown]
    blocks = [run.application(which) for which in shown]
    names = [block["name"] for block in blocks] if labels is None else list(labels)
    clock = choose([run], unit, max(float(s["time"][-1]) for s in series if len(s["time"])))
    unit_of_latency = choose([run], unit)
    cycle = _channel_cycle(run)
    with drawing(chosen, 2.9, 3.7, rows=2) as (figure, (above, below)):
        for i, (name, block, values) in enumerate(zip(names, blocks, series)):
            width = block["series"]["interval"]
            style = {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % 2], "label": name, "linewidth": 0.9}
            # A bin without packets has no latency: points on both sides of gaps are seen by their markers.
            alone = _alone(values["packet_latency"])
            above.plot(values["time"] * clock.scale(run), values["packet_latency"] * unit_of_latency.scale(run), **style)
            above.plot((values["time"] * clock.scale(run))[alone],
                       (values["packet_latency"] * unit_of_latency.scale(run))[alone], linestyle="none",
                       marker=".", markersize=2, color=style["color"])
            below.plot(values["time"] * clock.scale(run),
                       values["flits_accepted"] / width * cycle / block["terminals"], **style)
        for ax in (above, below):
            if not (ax is above and "y" in (chosen.log or "")):
                ax.set_ylim(bottom=0)
        end = max(float(run.value("simulation.end_tick")) if "end_tick" in run.get("simulation", {}) else 0,
                  *(float(s["time"][-1]) for s in series)) * clock.scale(run)
        below.set_xlim(0, end)
        if chosen.xlim:
            below.set_xlim(*chosen.xlim)
        below.set_ylabel(f"accepted load\n({LOAD})" if chosen.size != "page" else f"accepted ({LOAD})")
        figure.align_ylabels()
        phases = {name: tick * clock.scale(run) for name, tick in blocks[0].get("phases", {}).items()}
        _mark_phases(above, below, phases, end)
        finish(above, chosen, f"time ({clock.text})", f"packet latency ({unit_of_latency.text})", x_axis=below, lift=13)
        _spread_labels(above)
    return figure


def _channel_cycle(run: Results) -> float:
    """Ticks of a terminal channel's cycle: loads are flits per cycle."""
    try:
        cycle = run.value("config.network.terminal_channel.cycle")
    except UnknownColumn:
        return 1.0
    return seconds(cycle) / run.tick_seconds if isinstance(cycle, str) else float(cycle)  # type: ignore[arg-type]


def _alone(values: numpy.ndarray) -> numpy.ndarray:
    there = numpy.isfinite(values)
    padded = numpy.concatenate([[False], there, [False]])
    return there & ~padded[:-2] & ~padded[2:]


def _mark_phases(above: Axes, below: Axes, phases: Mapping[str, float], end: float) -> None:
    """Shades and borders in both panels; names over the upper one, at the middle of what is visible of a phase."""
    low, high = below.get_xlim()
    begins = sorted((tick, name) for name, tick in phases.items())
    for i, (begin, name) in enumerate(begins):
        until = begins[i + 1][0] if i + 1 < len(begins) else max(end, begin)
        shade = SHADES[PHASES.index(name) % len(SHADES)] if name in PHASES else "1.0"
        for ax in (above, below):
            ax.axvspan(begin, until, facecolor=shade, edgecolor="none", zorder=0, gid="background")
            if i:
                ax.axvline(begin, color="0.55", linewidth=0.5, zorder=1, gid="background")
        left, right = max(begin, low), min(until, high)
        if right < left:
            continue
        above.annotate(name, ((left + right) / 2, 1),
                       xycoords=blended_transform_factory(above.transData, above.transAxes), xytext=(0, 5), textcoords="offset points", ha="center", va="bottom", fontsize=7, color="0.25",
                       annotation_clip=False, arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "0.45",
                                                          "shrinkA": 0, "shrinkB": 0})


def _spread_labels(ax: Axes) -> None:
    """Moves the names of phases apart, each joined to its phase by a thin line, and keeps them over the axes."""
    notes = sorted(ax.texts, key=lambda note: note.xy[0])
    if not notes:
        return
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    pixels = ax.figure.dpi / 72
    widths = [Text.get_window_extent(note).width for note in notes]  # an annotation's own extent holds its line too
    middles = [ax.transData.transform((note.xy[0], 0))[0] for note in notes]
    placed = spread(middles, widths, 4 * pixels, frame.x0, frame.x1)
    for note, middle, place in zip(notes, middles, placed):
        note.set_position(((place - middle) / pixels, 5))


def spread(middles: Sequence[float], widths: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Middles of boxes in a row that do not overlap, near where they want to be.

    >>> spread([0, 1, 9], [4, 4, 4], 0, 0, 20)
    [2.0, 6.0, 10.0]
    """
    placed = [float(m) for m in middles]
    for i, width in enumerate(widths):
        left = low + width / 2 if i == 0 else placed[i - 1] + (widths[i - 1] + width) / 2 + gap
        placed[i] = max(placed[i], left)
    for i in range(len(placed) - 1, -1, -1):
        right = high - widths[i] / 2 if i == len(placed) - 1 else placed[i + 1] - (widths[i + 1] + widths[i]) / 2 - gap
        placed[i] = min(placed[i], right)
    return placed


def scatter(packets: Mapping[str, numpy.ndarray], x: str = "created", y: str = "packet_latency", *,
            results: Results | None = None, application: int | None = None, unit: str | None = None,
            labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """A dot for each packet of a packet log (packet_log.read): any two of its columns, or of LATENCIES.

    The run's results give the unit of time and the names of applications. Of more than 200,000 packets
    evenly spaced ones are drawn, and a line above says so.

    >>> from flitwarp.figures import demo
    >>> scatter(demo.log(), results=demo.results()).axes[0].get_ylabel()
    'packet latency (ns)'
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    everything = len(next(iter(packets.values()))) if packets else 0
    rows = numpy.arange(everything)
    if application is not None:
        rows = rows[packets["application"] == application]
    if not len(rows):
        raise ValueError("there is nothing to draw: the log holds no packet"
                         + (f" of application {application}" if everything else ""))
    total = len(rows)
    if total > MOST_POINTS:
        rows = rows[numpy.linspace(0, total - 1, MOST_POINTS).astype(int)]
    values = {name: column_of(packets, name)[rows] for name in (x, y)}
    kinds = numpy.unique(packets["application"][rows]) if "application" in packets else numpy.array([0])
    with drawing(chosen) as (figure, ax):
        labels_of_axes = []
        for name in (x, y):
            if name in INSTANTS or name in ("packet_latency", "network_latency", "head_latency", "queueing"):
                runs = [results] if results is not None else []
                scaled: Unit = choose(runs, unit, float(values[name].max()) if name in INSTANTS else 0)
                values[name] = values[name] * scaled.scale(results)
                labels_of_axes.append(f"{_name(name)} ({scaled.text})")
            else:
                labels_of_axes.append(_name(name))
        size = 0.4 if len(rows) > 20_000 else 1.5 if len(rows) > 2_000 else 5
        for i, kind in enumerate(kinds):
            of = packets["application"][rows] == kind if "application" in packets else slice(None)
            ax.scatter(values[x][of], values[y][of], s=size, color=COLOURS[i % len(COLOURS)], rasterized=True,
                       marker=MARKERS[i % len(MARKERS)] if len(rows) <= 2_000 else "o", linewidths=0,
                       alpha=0.35 if len(rows) > 20_000 else 0.7, zorder=2 + i)
            name = labels[i] if labels and i < len(labels) else _application(results, int(kind))
            ax.plot([], [], linestyle="none", marker="o", color=COLOURS[i % len(COLOURS)], label=name)
        if "y" not in (chosen.log or "") and values[y].min() >= 0:
            ax.set_ylim(bottom=0)
        if total > len(rows):
            ax.set_title(f"{len(rows):,} of {total:,} packets, evenly spaced", fontsize=7, loc="right", pad=2,
                         color="0.3")
        finish(ax, chosen, *labels_of_axes, lift=9 if total > len(rows) else 0)
    return figure


def column_of(log: Mapping[str, numpy.ndarray], name: str) -> numpy.ndarray:
    """A column of a packet log, or a difference of two by its name."""
    if name in log:
        return log[name]
    if name in LATENCIES and all(part in log for part in LATENCIES[name]):
        later, earlier = LATENCIES[name]
        return log[later] - log[earlier]
    raise UnknownColumn(unknown("column", name, [*log, *LATENCIES], "the packet log"))


def _name(column: str) -> str:
    words = {"created": "time of creation", "injected": "time of injection", "head_arrived": "arrival of the head",
             "tail_arrived": "arrival of the tail", "queueing": "time before injection"}
    return words.get(column, column.replace("_", " "))


def _application(results: Results | None, number: int) -> str:
    if results is None or number >= len(results["applications"]):
        return f"application {number}"
    return results["applications"][number]["name"]

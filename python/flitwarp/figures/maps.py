# SPDX-License-Identifier: Apache-2.0
"""Maps in colour: how busy each channel is, and who sends how much to whom."""

from __future__ import annotations

import math
from typing import Mapping, Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import MaxNLocator

from ..apart import groups
from ..curve import Point
from ..results import Results, UnknownColumn
from ..units import choose
from .network import NoPicture, draw_network, picture_of
from .style import COLOURS, Figure, Layout, drawing, fit_ticks

COLOUR_MAP = "viridis_r"  # dark is much: light stands back on white paper
WIDEST_DRAWING = 40  # routers along a side: more would be dots
MOST_ROWS = 400
FORMS = ("auto", "drawing", "picture", "matrix", "profile")


def channel_heatmap(results: Results, *, form: str = "auto", limits: tuple[float | None, float | None] | None = None,
                    **layout: object) -> Figure:
    """How busy each channel between routers is.

    A mesh or torus of up to two dimensions is drawn: an arrow on the right-hand side of the way for each
    direction, channels around the edge as stubs at both of their ends. Other networks are the program's picture of them,
    with the busiest channels named below; those that it does not draw a matrix of routers and ports, or a profile: all
    channels from the busiest down. `form` chooses.
    Needs workload.per_channel in the configuration.

    >>> from flitwarp.figures import demo
    >>> figure = channel_heatmap(demo.results())
    >>> len(figure.axes[0].collections[0].get_array()) >= 256  # an 8x8 torus has 256 channels
    True
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    if form not in FORMS:
        raise ValueError(f"form '{form}': expected {', '.join(FORMS)}")
    table, coordinates = channels_of(results)
    can_draw = _is_grid(table, coordinates)
    busy = table["utilisation"]
    low, high = limits or (None, None)
    norm = Normalize(0 if low is None else low, (float(busy.max()) or 1) if high is None else high)
    if form == "picture" or (form == "auto" and not (can_draw and coordinates.max() < WIDEST_DRAWING)):
        try:
            return draw_network(*picture_of(results, table), COLOUR_MAP, norm, chosen)
        except (NoPicture, FileNotFoundError):
            if form == "picture":
                raise
        form = "matrix" if len(numpy.unique(table["router"])) <= MOST_ROWS else "profile"
    elif form == "auto":
        form = "drawing"
    if form == "drawing" and not can_draw:
        raise ValueError(f"{results.source} is no mesh or torus of at most two dimensions and cannot be drawn as one; "
                         "use form matrix or profile")
    if form == "profile":
        return _profile(table, chosen)
    if form == "matrix":
        return _matrix(table, norm, chosen)
    span = coordinates.max(axis=0) + 1
    tall = min(max((span[1] if len(span) > 1 else 1) / span[0], 0.12), 1.3)
    flat = tall < 0.6  # the scale then lies below
    with drawing(chosen, (3.3 if flat else 2.75) * tall + (0.8 if flat else 0.25), (6.6 if flat else 4.9) * tall +
                 (0.9 if flat else 0.3)) as (figure, ax):
        bar = _draw_grid(ax, table, coordinates, norm)
        figure.colorbar(bar, ax=ax, label="channel utilisation", shrink=0.9, aspect=35 if flat else 25, pad=0.05 if flat else 0.02,
                        location="bottom" if flat else "right").outline.set_linewidth(0.5)
        ax.set_xlabel(("" if span[0] == 1 else "x") if chosen.x_label is None else chosen.x_label)
        is_row = len(span) == 1 or span[1] == 1
        ax.set_ylabel(("" if is_row else "y") if chosen.y_label is None else chosen.y_label)
        _title(figure, chosen)
    return figure


def channels_of(results: Results) -> tuple[dict[str, numpy.ndarray], numpy.ndarray]:
    """The list of channels by column, and routers' coordinates (of size 0 where there are none)."""
    block = results.get("channels", {})
    if "list" not in block:
        raise UnknownColumn(f"{results.source} lists no channels: set workload.per_channel=true, and run again")
    if not block["list"]:
        raise ValueError(f"there is nothing to draw: the network of {results.source} has no channels between routers")
    numbers = numpy.array(block["list"], dtype=float)
    table = {name: numbers[:, i] for i, name in enumerate(block["columns"])}
    for name in ("router", "port", "target", "utilisation"):
        if name not in table:
            raise UnknownColumn(f"{results.source} has no column '{name}' in channels.columns")
    return table, numpy.array(block.get("coordinates") or [], dtype=int)


def _is_grid(table: Mapping[str, numpy.ndarray], coordinates: numpy.ndarray) -> bool:
    """Whether each channel leads one step along one of at most two dimensions, or around its end."""
    if coordinates.ndim != 2 or coordinates.shape[1] > 2 or not len(coordinates):
        return False
    steps = numpy.abs(coordinates[table["target"].astype(int)] - coordinates[table["router"].astype(int)])
    around = coordinates.max(axis=0)
    along = (steps > 0).sum(axis=1) == 1
    return bool(numpy.all(along & numpy.all((steps <= 1) | (steps == around), axis=1)))


def _draw_grid(ax: Axes, table: Mapping[str, numpy.ndarray], coordinates: numpy.ndarray,
               norm: Normalize) -> PolyCollection:
    if coordinates.shape[1] == 1:
        coordinates = numpy.column_stack([coordinates, numpy.zeros(len(coordinates), int)])
    span = coordinates.max(axis=0) + 1
    side, seen = 0.17, {}
    shapes, colours, stubs = [], [], False
    order = numpy.lexsort((table["port"], table["router"]))
    for i in order:
        source, target = coordinates[int(table["router"][i])], coordinates[int(table["target"][i])]
        step = target - source
        axis = int(numpy.flatnonzero(step)[0])
        pair = (int(table["router"][i]), int(table["target"][i]))
        lane = seen[pair] = seen.get(pair, -1) + 1
        # Of a ring of two routers the second channel between them is the one around its end.
        wraps = abs(step[axis]) > 1 or (span[axis] == 2 and lane > 0 and lane % 2 == 1)
        direction = numpy.sign(step) * (-1 if wraps else 1)
        shift = (0.075 + (0.13 * (lane // 2 if span[axis] == 2 else lane))) * numpy.array([direction[1], -direction[0]])
        if wraps:
            stubs = True
            parts = [(source + side * direction, source + 0.48 * direction),
                     (target - 0.48 * direction, target - side * direction)]
        else:
            parts = [(source + side * direction, target - side * direction)]
        for begin, end in parts:
            shapes.append(_arrow(begin + shift, end + shift, direction))
            colours.append(table["utilisation"][i])
    arrows = PolyCollection(shapes, array=numpy.array(colours), cmap=COLOUR_MAP, norm=norm, edgecolors="0.35",
                            linewidths=0.2 if span.max() <= 12 else 0)
    ax.add_collection(arrows)
    half = side - 0.03
    boxes = [[(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
             for x, y in coordinates]
    ax.add_collection(PolyCollection(boxes, facecolors="0.93", edgecolors="0.5",
                                     linewidths=0.3 if span.max() <= 12 else 0))
    edge = 0.55 if stubs else 0.3
    ax.set_xlim(-edge, span[0] - 1 + edge)
    ax.set_ylim(-edge, span[1] - 1 + edge)
    ax.set_aspect("equal")
    ax.grid(False)
    for name in ax.spines:
        ax.spines[name].set_visible(False)
    ax.tick_params(length=0)
    for axis, count in ((ax.xaxis, span[0]), (ax.yaxis, span[1])):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=16, steps=[1, 2, 4, 5, 8, 10]))
        if count == 1:
            axis.set_ticks([])
    return arrows


def _arrow(begin: numpy.ndarray, end: numpy.ndarray, direction: numpy.ndarray, width: float = 0.055) -> numpy.ndarray:
    """An arrow's outline: a bar, and a head at the end of it."""
    across = numpy.array([-direction[1], direction[0]]) * width
    neck = end - 0.14 * direction
    return numpy.array([begin - 0.7 * across, neck - 0.7 * across, neck - 1.25 * across, end, neck + 1.25 * across,
                        neck + 0.7 * across, begin + 0.7 * across])


def _matrix(table: Mapping[str, numpy.ndarray], norm: Normalize, chosen: Layout) -> Figure:
    """Ports along x, routers along y; where a port has no channel to a router the place stays white."""
    routers, ports = table["router"].astype(int), table["port"].astype(int)
    first = ports.min()
    grid = numpy.full((routers.max() + 1, ports.max() - first + 1), numpy.nan)
    grid[routers, ports - first] = table["utilisation"]
    with drawing(chosen, 3.0, 4.0) as (figure, ax):
        image = ax.imshow(grid, cmap=COLOUR_MAP, norm=norm, aspect="auto", interpolation="nearest",
                          extent=(first - 0.5, ports.max() + 0.5, routers.max() + 0.5, -0.5))
        ax.grid(False)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        figure.colorbar(image, ax=ax, label="channel utilisation", aspect=25, pad=0.02).outline.set_linewidth(0.5)
        ax.set_xlabel("port" if chosen.x_label is None else chosen.x_label)
        ax.set_ylabel("router" if chosen.y_label is None else chosen.y_label)
        _title(figure, chosen)
    return figure


def _profile(table: Mapping[str, numpy.ndarray], chosen: Layout) -> Figure:
    busy = numpy.sort(table["utilisation"])[::-1]
    with drawing(chosen) as (figure, ax):
        ax.fill_between(numpy.arange(1, len(busy) + 1), busy, step="mid", facecolor=COLOURS[0], alpha=0.25)
        ax.plot(numpy.arange(1, len(busy) + 1), busy, color=COLOURS[0], drawstyle="steps-mid")
        ax.axhline(busy.mean(), color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), label="mean")
        if "x" in (chosen.log or ""):
            ax.set_xscale("log")
        if "y" in (chosen.log or ""):
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        ax.set_xlim(*(chosen.xlim or (1, len(busy))))
        if chosen.ylim:
            ax.set_ylim(*chosen.ylim)
        ax.set_xlabel("channels, busiest first" if chosen.x_label is None else chosen.x_label)
        ax.set_ylabel("channel utilisation" if chosen.y_label is None else chosen.y_label)
        ax.legend(loc="upper right" if chosen.legend in ("auto", "above", "right", "none") else chosen.legend) \
            .set_visible(chosen.legend != "none")
        _title(figure, chosen)
    return figure


def _title(figure: Figure, chosen: Layout) -> None:
    if chosen.title:
        figure.suptitle(chosen.title)


def communication_matrix(matrix: Mapping[str, Sequence[float]], value: str = "flits", *, log: bool = False,
                         terminals: int | None = None, results: Results | None = None, unit: str | None = None,
                         limits: tuple[float | None, float | None] | None = None, **layout: object) -> Figure:
    """Who sends how much to whom: `value` is flits, packets or latency (its mean). Pairs that sent nothing stay white.

    `matrix` is what packet_log.matrix returns; `log` a logarithmic scale of colours.

    >>> from flitwarp.figures import demo
    >>> figure = communication_matrix(demo.matrix(), "packets")
    >>> figure.axes[0].get_xlabel(), figure.axes[1].get_ylabel()
    ('destination', 'packets')
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    keys = {"flits": "flits", "packets": "count", "latency": "latency"}
    if value not in keys:
        raise UnknownColumn(f"no value '{value}' in a communication matrix; there are {', '.join(keys)}")
    if keys[value] not in matrix:
        raise UnknownColumn(f"the communication matrix has no column for {value}; it has {', '.join(matrix)}")
    source, destination = numpy.asarray(matrix["source"], int), numpy.asarray(matrix["destination"], int)
    if not len(source):
        raise ValueError("there is nothing to draw: no packet is in the matrix")
    size = terminals or int(max(source.max(), destination.max())) + 1
    grid = numpy.full((size, size), numpy.nan)
    values = numpy.asarray(matrix[keys[value]], float)
    label = value
    if value == "latency":
        runs = [results] if results is not None else []
        scaled = choose(runs, unit, float(values[values > 0].min()) if (values > 0).any() else 0)
        values = values * scaled.scale(results)
        label = f"mean packet latency ({scaled.text})"
    grid[source, destination] = values
    grid[~(grid > 0)] = numpy.nan
    low, high = limits or (None, None)
    top = float(numpy.nanmax(grid)) if high is None else high
    if log:
        norm = LogNorm(float(numpy.nanmin(grid)) if low is None else low, top)
    else:
        norm = Normalize((float(numpy.nanmin(grid)) if value == "latency" else 0) if low is None else low, top)
    with drawing(chosen, 2.75, 4.9) as (figure, ax):
        image = ax.imshow(grid, cmap=COLOUR_MAP, norm=norm, interpolation="nearest" if size <= 600 else "antialiased")
        ax.grid(False)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, nbins=6, steps=[1, 2, 2.5, 4, 5, 8, 10]))
        figure.colorbar(image, ax=ax, label=label, aspect=25, pad=0.02).outline.set_linewidth(0.5)
        ax.set_xlabel("destination" if chosen.x_label is None else chosen.x_label)
        ax.set_ylabel("source" if chosen.y_label is None else chosen.y_label)
        if chosen.xlim:
            ax.set_xlim(*chosen.xlim)
        if chosen.ylim:
            ax.set_ylim(*chosen.ylim)
        _title(figure, chosen)
    return figure




def interference(results: Sequence[Results], *, limits: tuple[float | None, float | None] | None = None,
                 **layout: object) -> Figure:
    """Who slows whom: the slowdown of each job (rows) beside each other application (columns), mean over seeds.

    It takes runs of two applications each, with times alone: a study with `pairs`.
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    cells: dict[tuple[str, str], float] = {}
    for _, runs in groups(list(results), names=True):
        blocks = runs[0]["applications"]
        if len(blocks) != 2:
            continue
        for job, other in ((0, 1), (1, 0)):
            slowdown = Point(0, runs).mean("slowdown", job) if "slowdown" in blocks[job] else math.nan
            if math.isnan(slowdown):
                continue
            place = blocks[job]["name"], blocks[other]["name"]
            if place in cells:
                raise ValueError(f"{place[0]} runs beside {place[1]} with several settings: hold the others at a value (--where)")
            cells[place] = slowdown
    if not cells:
        raise ValueError("there is nothing to draw: no run has two applications and the slowdown of one of them; a study "
                         "with \"pairs\": true has them")
    jobs = list(dict.fromkeys(name for name, _ in cells))
    others = sorted(dict.fromkeys(name for _, name in cells), key=lambda name: (name not in jobs, jobs.index(name) if name in jobs else 0))
    grid = numpy.array([[cells.get((job, other), math.nan) for other in others] for job in jobs])
    low, high = limits or (None, None)
    norm = Normalize(1 if low is None else low, max(float(numpy.nanmax(grid)), 1.1) if high is None else high)
    with drawing(chosen, min(0.28 * len(jobs) + 1.2, 3.2), min(0.45 * len(jobs) + 1.4, 6.0)) as (figure, ax):
        image = ax.imshow(grid, cmap=COLOUR_MAP, norm=norm, aspect="auto")
        ax.grid(False)
        ax.tick_params(length=0)
        ax.set_xticks(range(len(others)), others)
        ax.set_yticks(range(len(jobs)), jobs)
        for i, j in numpy.argwhere(numpy.isfinite(grid)):
            ax.text(j, i, f"{grid[i, j]:.2f}", ha="center", va="center", fontsize=7,
                    color="white" if norm(grid[i, j]) > 0.55 else "black")
        figure.colorbar(image, ax=ax, label="slowdown", aspect=25, pad=0.02).outline.set_linewidth(0.5)
        ax.set_xlabel("beside" if chosen.x_label is None else chosen.x_label)
        ax.set_ylabel("job" if chosen.y_label is None else chosen.y_label)
        fit_ticks(ax)
        _title(figure, chosen)
    return figure

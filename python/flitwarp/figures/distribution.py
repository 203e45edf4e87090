# SPDX-License-Identifier: Apache-2.0
"""Distributions: of latency as density, cumulative share and percentiles, and of hops.

All come from the histograms in the results, so that no packet log is needed. Runs that differ in nothing
but the seed are added up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Sequence

import numpy
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from ..curve import replicas
from ..results import Results, UnknownColumn, Which
from ..units import Unit, choose
from .style import Figure, Layout, drawing, finish, look

BINS = 90  # of a density, at most: more would draw noise
ALL_BUT = 0.001  # the share of packets that a linear axis may leave out


def rows_of(run: Results, latency: str = "packet", application: Which = 0) -> numpy.ndarray:
    """Rows (low, high, count) of a latency's histogram, in ticks."""
    if latency == "packet":
        return run.latency_distribution(application)
    rows = run.application(application).get(f"{latency}_latency_distribution")
    if rows is None:
        raise UnknownColumn(f"{run.source} has no distribution of {latency} latency, only that of packet latency")
    return numpy.array(rows, dtype=float).reshape(-1, 3)


def percentile(run: Results, p: float, latency: str = "packet", application: Which = 0) -> float:
    """A percentile in ticks: from the results, or from the histogram where they do not list it.

    >>> from flitwarp.figures import demo
    >>> percentile(demo.results(), 99) == demo.results().value("packet_latency.p99")
    True
    """
    if not 0 <= p <= 100:
        raise ValueError(f"percentile {p:g} is not between 0 and 100")
    listed = run.application(application).get(f"{latency}_latency")
    if isinstance(listed, dict) and f"p{p:g}" in listed:
        return math.nan if listed[f"p{p:g}"] is None else float(listed[f"p{p:g}"])
    if listed is None:
        run.value(f"{latency}_latency.mean", application)  # raises, and names what is there
    rows = rows_of(run, latency, application)
    if not len(rows):
        return math.nan
    total = rows[:, 2].sum()
    at = numpy.searchsorted(numpy.cumsum(rows[:, 2]), p / 100 * total * (1 - 1e-12))
    return float(rows[min(at, len(rows) - 1), 1])


class Lines:
    """The histograms to draw, by label, and the unit of their axis."""

    def __init__(self, results: Results | Sequence[Results], latency: str, application: Which, unit: str | None,
                 labels: Sequence[str] | None, *, with_width: bool = False):
        runs = [results] if isinstance(results, Results) else list(results)
        if not runs:
            raise ValueError("there is nothing to draw: no results were given")
        groups = replicas(runs, application)
        named = [f"{label} (saturated)" if _is_saturated(group) and len(groups) > 1 else label
                 for label, group in groups] if labels is None else list(labels)
        self.carried: list[numpy.ndarray] = []  # those whose axis matters: a saturated run's latencies go anywhere
        self.rows: list[tuple[str, numpy.ndarray]] = []
        histograms = [_added([rows_of(run, latency, application) for run in group]) for _, group in groups]
        first = next((rows for rows in histograms if len(rows)), None)
        if first is None:
            raise ValueError(f"there is nothing to draw: no sampled packet arrived in {runs[0].source}")
        middle = first[numpy.searchsorted(numpy.cumsum(first[:, 2]), first[:, 2].sum() / 2), 0]
        self.unit: Unit = choose(runs, unit, middle)
        for label, (_, group), rows in zip(named, groups, histograms):
            if len(rows):
                edges = rows * [1, 1, 0] + [0, with_width, 0]  # for densities a bucket of one tick is one tick wide
                self.rows.append((label, edges * self.unit.scale(group[0]) + rows * [0, 0, 1]))
                if not _is_saturated(group):
                    self.carried.append(self.rows[-1][1])

    def far(self) -> float:
        """The latency that all but few packets of every line stay below; saturated runs count among themselves only."""
        return max(float(r[numpy.searchsorted(numpy.cumsum(r[:, 2]), (1 - ALL_BUT) * r[:, 2].sum()), 1])
                   for r in self.carried or [rows for _, rows in self.rows])


def _is_saturated(group: Sequence[Results]) -> bool:
    return any(run.saturated for run in group)


def _added(histograms: Sequence[numpy.ndarray]) -> numpy.ndarray:
    if len(histograms) == 1:
        return histograms[0]
    every = numpy.concatenate(histograms)
    buckets, where = numpy.unique(every[:, :2], axis=0, return_inverse=True)
    return numpy.column_stack([buckets, numpy.bincount(where.ravel(), every[:, 2])])


def latency_pdf(results: Results | Sequence[Results], *, latency: str = "packet", application: Which = 0,
                unit: str | None = None, labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """The density of latency. A linear axis leaves out the last packet in a thousand; a logarithmic one shows all.

    >>> from flitwarp.figures import demo
    >>> latency_pdf(demo.results()).axes[0].get_ylabel()
    'probability density (1/ns)'
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    lines = Lines(results, latency, application, unit, labels, with_width=True)
    log = chosen.log or ""
    with drawing(chosen) as (figure, ax):
        end = max(rows[-1, 1] for _, rows in lines.rows) if log else lines.far()
        begin = min(rows[0, 0] for _, rows in lines.rows)
        for i, (label, rows) in enumerate(lines.rows):
            style = look(i, len(lines.rows))
            edges, density = _density(rows, begin, end, "x" in log)
            if len(lines.rows) == 1:
                ax.stairs(density, edges, fill=True, facecolor=style["color"], alpha=0.25)
            ax.stairs(density, edges, label=label, edgecolor=style["color"], linestyle=style["linestyle"], linewidth=1.0,
                      baseline=None if "y" in log else 0)
        if "x" not in log:
            ax.set_xlim(0 if begin < 0.3 * end else begin - 0.05 * (end - begin), end)
        if "y" not in log:
            ax.set_ylim(bottom=0)
        finish(ax, chosen, f"{latency} latency ({lines.unit.text})", f"probability density (1/{lines.unit.text})")
    return figure


def _density(rows: numpy.ndarray, begin: float, end: float, logarithmic: bool) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Edges and densities in at most BINS bins, whose edges are edges of buckets: no bucket is cut."""
    buckets = numpy.unique(numpy.concatenate([rows[:, 0], rows[:, 1]]))
    widths = rows[:, 1] - rows[:, 0]
    if logarithmic:
        ideal = numpy.geomspace(max(begin, 1e-9), end, BINS)
    else:
        fine = float(widths.min())
        width = max(math.ceil((end - begin) / BINS / fine - 1e-9), 1) * fine
        ideal = numpy.arange(begin, end + width, width)
    if not logarithmic and numpy.allclose(widths, widths[0]):
        edges = ideal  # buckets of one width: bins of whole numbers of them, empty ones too
    else:
        edges = numpy.unique(buckets[numpy.clip(numpy.searchsorted(buckets, ideal), 0, len(buckets) - 1)])
    cumulative = numpy.concatenate([[0], numpy.cumsum(rows[:, 2])])
    upto = cumulative[numpy.searchsorted(rows[:, 1], edges * (1 + 1e-12), side="right")]
    return edges, numpy.diff(upto) / numpy.diff(edges) / cumulative[-1]


def latency_cdf(results: Results | Sequence[Results], *, latency: str = "packet", application: Which = 0,
                unit: str | None = None, labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """The share of packets up to each latency; with log="y" the share above it, which shows the tail.

    >>> from flitwarp.figures import demo
    >>> line = latency_cdf(demo.results()).axes[0].lines[0]
    >>> float(line.get_ydata()[0]), float(line.get_ydata()[-1])
    (0.0, 1.0)
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    lines = Lines(results, latency, application, unit, labels)
    log = chosen.log or ""
    with drawing(chosen) as (figure, ax):
        for i, (label, rows) in enumerate(lines.rows):
            style = look(i, len(lines.rows))
            share = numpy.concatenate([[0], numpy.cumsum(rows[:, 2]) / rows[:, 2].sum()])
            share[-1] = 1
            latencies = numpy.concatenate([rows[:1, 0], rows[:, 1]])
            shown = 1 - share if "y" in log else share
            keep = slice(0, -1) if "y" in log else slice(None)  # none is above the largest: no logarithm of it
            ax.plot(latencies[keep], shown[keep], label=label, color=style["color"], linestyle=style["linestyle"],
                    marker=style["marker"] if len(lines.rows) > 1 else "none", markevery=(0.03 * i, 0.23))
        begin = min(rows[0, 0] for _, rows in lines.rows)
        end = max(rows[-1, 1] for _, rows in lines.rows) if log else lines.far()
        if "x" not in log:
            ax.set_xlim(0 if begin < 0.3 * end else begin - 0.05 * (end - begin), end)
        if "y" not in log:
            ax.set_ylim(0, 1.02)
        finish(ax, chosen, f"{latency} latency ({lines.unit.text})",
               "share of packets above" if "y" in log else "share of packets")
    return figure


def _nines(p: object) -> numpy.ndarray:
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return -numpy.log10(numpy.clip(1 - numpy.asarray(p, float) / 100, 1e-13, None))


def _from_nines(n: object) -> numpy.ndarray:
    return 100 * (1 - 10.0 ** -numpy.clip(numpy.asarray(n, float), -3, 13))


def latency_percentile(results: Results | Sequence[Results], *, latency: str = "packet", application: Which = 0,
                       unit: str | None = None, labels: Sequence[str] | None = None, **layout: object) -> Figure:
    """Latency over its percentile, on a scale on which each further nine has the same width.

    >>> from flitwarp.figures import demo
    >>> ax = latency_percentile(demo.results()).axes[0]
    >>> [text.get_text() for text in ax.get_xticklabels()][:4]
    ['0', '90', '99', '99.9']
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    lines = Lines(results, latency, application, unit, labels)
    log = (chosen.log or "").replace("x", "")
    with drawing(chosen) as (figure, ax):
        nines = 1
        for i, (label, rows) in enumerate(lines.rows):
            style = look(i, len(lines.rows))
            total = rows[:, 2].sum()
            before = numpy.concatenate([[0], numpy.cumsum(rows[:, 2])[:-1]])
            x = numpy.repeat(before / total * 100, 2)[1:]  # steps: a bucket holds from the share before it on
            y = numpy.repeat(rows[:, 1], 2)[:-1]
            last = 100 * (1 - 0.5 / total)
            ax.plot(numpy.append(x, last), numpy.append(y, rows[-1, 1]), label=label, color=style["color"],
                    linestyle=style["linestyle"])
            nines = max(nines, math.floor(math.log10(total)))
        ax.set_xscale("function", functions=(_nines, _from_nines))
        ticks = [0.0] + [100 * (1 - 10.0 ** -n) for n in range(1, nines + 1)]
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_major_formatter(FixedFormatter([_percent(n) for n in range(nines + 1)]))
        ax.xaxis.set_minor_locator(FixedLocator([50.0] + [100 * (1 - 5 * 10.0 ** -(n + 1)) for n in range(1, nines)]))
        ax.set_xlim(0, 100 * (1 - 10.0 ** -(nines + 0.3)))
        if "y" not in log:
            ax.set_ylim(bottom=0)
        finish(ax, replace(chosen, log=log), "percentile", f"{latency} latency ({lines.unit.text})")
    return figure


def _percent(nines: int) -> str:
    return "0" if nines == 0 else "90" if nines == 1 else "99" + ("." + "9" * (nines - 2) if nines > 2 else "")


def hop_histogram(results: Results | Sequence[Results], *, application: Which = 0, labels: Sequence[str] | None = None,
                  **layout: object) -> Figure:
    """The share of packets by hops, several results side by side; a dashed line is the mean of shortest ways.

    >>> from flitwarp.figures import demo
    >>> bars = hop_histogram(demo.results()).axes[0].patches
    >>> round(sum(bar.get_height() for bar in bars), 6)
    1.0
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    runs = [results] if isinstance(results, Results) else list(results)
    if not runs:
        raise ValueError("there is nothing to draw: no results were given")
    groups = replicas(runs, application)
    named = [label for label, _ in groups] if labels is None else list(labels)
    with drawing(chosen) as (figure, ax):
        width = 0.84 / len(groups)
        minimal = []
        for i, (label, (_, group)) in enumerate(zip(named, groups)):
            every = numpy.concatenate([run.hop_distribution(application) for run in group])
            if not every[:, 1].sum():
                raise ValueError(f"there is nothing to draw: no sampled packet arrived in {group[0].source}")
            hops, where = numpy.unique(every[:, 0], return_inverse=True)
            counts = numpy.bincount(where, every[:, 1])
            ax.bar(hops + (i - (len(groups) - 1) / 2) * width, counts / counts.sum(), 0.92 * width, label=label,
                   **bar_look(i, len(groups)))
            mean, least = group[0].value("hops.mean", application), group[0].value("minimal_hops.mean", application)
            if float(mean) > 1.001 * float(least):  # type: ignore[arg-type]
                minimal.append(least)
        for i, least in enumerate(sorted(set(minimal))):
            ax.axvline(least, color="0.25", linewidth=0.8, linestyle=(0, (4, 2)),
                       label="mean minimal hops" if i == 0 else None)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=14 if chosen.size == "page" else 9))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.grid(False, axis="x")
        if "y" not in (chosen.log or ""):
            ax.set_ylim(bottom=0)
        finish(ax, chosen, "hops", "share of packets")
    return figure


HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")


def bar_look(i: int, count: int) -> dict:
    """Colour and hatching of bar i of `count` in a group."""
    colour = look(i, count)["color"]
    return {"facecolor": colour, "edgecolor": "white" if colour != "#000000" else "0.6", "linewidth": 0.3,
            "hatch": HATCHES[i % len(HATCHES)]}

# SPDX-License-Identifier: Apache-2.0
"""Figures of paper quality. Each function returns a matplotlib figure; save() writes it in three formats.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; curves differ in marker and
line style as well, so that they survive a black-and-white printer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from .sweep import Curve  # noqa: E402

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "*"]
LINES = ["-", "--", "-.", (0, (1, 1.2)), "-", "--", "-."]
CROSS = {"marker": "x", "markersize": 6.5, "markeredgewidth": 1.6, "linestyle": "none"}
OFFERED = "offered load (flits/terminal/cycle)"
STYLE = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],
    "mathtext.fontset": "stix",
    "font.size": 10,
    "axes.labelsize": 10,
    "legend.fontsize": 8.5,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "flitwarp",  # the same figure is the same file
    "savefig.dpi": 300,
}


def save(figure: Figure, stem: Path) -> list[Path]:
    """Writes stem.png, stem.svg and stem.pdf; the same data gives the same bytes."""
    written = []
    with plt.rc_context(STYLE):
        for suffix, metadata in (("png", None), ("svg", {"Date": None}), ("pdf", {"CreationDate": None})):
            path = stem.with_suffix(f".{suffix}")
            figure.savefig(path, metadata=metadata, bbox_inches="tight", pad_inches=0.03)
            written.append(path)
    plt.close(figure)
    return written


def _axes(height: float = 3.2, rows: int = 1):
    figure, axes = plt.subplots(rows, 1, figsize=(4.8, height), sharex=rows > 1)
    for ax in axes if rows > 1 else [axes]:
        ax.grid(True, linewidth=0.4, color="0.88")
        ax.set_axisbelow(True)
    return figure, axes


def _legend_above(ax) -> None:
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.01, 1, 0.2), mode="expand", ncol=2, borderaxespad=0,
              handlelength=2.8)


def _look(i: int) -> dict:
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "linestyle": LINES[i % len(LINES)]}


def load_latency(curves: Sequence[Curve]) -> Figure:
    """Mean packet latency over offered load with 95 % intervals; a cross ends each curve at saturation.

    The axis ends at five times the latency of an empty network: above it a mean says how long the run was.
    """
    with plt.rc_context(STYLE):
        figure, ax = _axes()
        lowest = min((c.stable()[0].application["packet_latency"]["mean"] for c in curves if c.stable()), default=1)
        top = 5 * lowest
        for i, curve in enumerate(curves):
            look = _look(i)
            latency = [(p.application["offered_load"], p.application["packet_latency"]) for p in curve.stable()]
            inside = [(load, l["mean"], l["ci95"] or 0) for load, l in latency if l["mean"] <= top]
            if not inside:
                continue
            ax.plot([load for load, _ in latency], [l["mean"] for _, l in latency], label=curve.label, **look)
            loads, means, errors = zip(*inside)
            ax.errorbar(loads, means, yerr=errors, fmt="none", ecolor=look["color"], elinewidth=0.8, capsize=1.8)
            if curve.saturation() is not None:
                end = min(latency[-1][1]["mean"], top)
                ax.plot([latency[-1][0], curve.saturation()], [end, end], linewidth=0.8, linestyle=":",
                        color=look["color"])
                ax.plot([curve.saturation()], [end], color=look["color"], clip_on=False, zorder=5, **CROSS)
        ax.plot([], [], color="0.3", label="saturated from here on", **CROSS)
        ax.set_xlim(left=0)
        ax.set_ylim(0, top)
        ax.set_xlabel(OFFERED)
        ax.set_ylabel("packet latency (ticks)")
        _legend_above(ax)
    return figure


def offered_accepted(curves: Sequence[Curve]) -> Figure:
    """Accepted over offered load; the diagonal is a network that carries everything."""
    with plt.rc_context(STYLE):
        figure, ax = _axes()
        high = max((p.application["offered_load"] for c in curves for p in c.points), default=1)
        for i, curve in enumerate(curves):
            ax.plot([p.application["offered_load"] for p in curve.points],
                    [p.application["accepted_load"] for p in curve.points], label=curve.label, **_look(i))
        ax.plot([0, high], [0, high], color="0.55", linewidth=0.8, zorder=1, label="all accepted")
        ax.set_xlim(0, high * 1.03)
        ax.set_ylim(0, high * 1.03)
        ax.set_xlabel(OFFERED)
        ax.set_ylabel("accepted load (flits/terminal/cycle)")
        _legend_above(ax)
    return figure


def time_series(results: dict) -> Figure:
    """Latency and accepted load over time, each application a line: a pulse over a blast.

    Needs workload.series_interval in the configuration.
    """
    applications = [a for a in results["applications"] if "series" in a]
    if not applications:
        raise ValueError("the results hold no time series: set workload.series_interval")
    with plt.rc_context(STYLE):
        figure, (above, below) = _axes(height=4.4, rows=2)
        for i, application in enumerate(applications):
            series = application["series"]
            width = series["interval"]
            start = series.get("start", 0)
            times = [start + (k + 0.5) * width for k in range(len(series["packet_latency"]))]
            latency = [float("nan") if value is None else value for value in series["packet_latency"]]
            accepted = [flits / width / application["terminals"] for flits in series["flits_accepted"]]
            style = {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % 2], "label": application["name"]}
            above.plot(times, latency, **style)
            below.plot(times, accepted, **style)
        phases = applications[0]["phases"]
        for ax in (above, below):
            if "generating" in phases and "finishing" in phases:
                ax.axvspan(phases["generating"], phases["finishing"], color="0.955", zorder=0, linewidth=0)
            ax.set_ylim(bottom=0)
        above.set_ylabel("packet latency (ticks)")
        below.set_ylabel("accepted load\n(flits/terminal/cycle)")
        below.set_xlabel("time (ticks); shaded: sampling")
        below.set_xlim(left=0)
        above.legend(loc="upper right")
        figure.align_ylabels()
    return figure

# SPDX-License-Identifier: Apache-2.0
"""Panels: the same figure for each value of a variable, side by side, with axes and colours that can be compared."""

from __future__ import annotations

import math
from typing import Callable, Mapping, Sequence

from ..curve import Curve
from .style import Figure, Layout, drawing

ACROSS = {"column": 2, "page": 4}  # panels beside each other
NARROW = 2.5  # inches of a panel, in which the unit of load has no place


def panels(draw: Callable[..., Figure], parts: Mapping[str, Sequence[Curve]], *, options: Mapping[str, object] | None = None,
           **layout: object) -> Figure:
    """A panel for each of `parts`, drawn by a function of curves such as load_latency. Lines of one label look alike in all.

    >>> from flitwarp.figures import demo, load_latency
    >>> figure = panels(load_latency, {"uniform": demo.curves(1), "tornado": demo.curves(2)})
    >>> [ax.get_title() for ax in figure.axes]
    ['uniform', 'tornado']
    """
    chosen = Layout(**layout)  # type: ignore[arg-type]
    if not parts:
        raise ValueError("there is nothing to draw: no panel has a curve")
    labels = list(dict.fromkeys(curve.label for curves in parts.values() for curve in curves))
    of_named = ACROSS.get(chosen.size, 4) if isinstance(chosen.size, str) else 4
    across = min(len(parts), of_named)
    rows = math.ceil(len(parts) / across)
    with drawing(chosen, 0.35 + 1.55 * rows, 0.4 + 2.1 * rows, rows=rows, columns=across) as (figure, grid):
        axes = list(grid.flat)
        for ax in axes[len(parts):]:
            ax.remove()
        axes = axes[:len(parts)]
        for ax, (name, curves) in zip(axes, parts.items()):
            there = {curve.label: curve for curve in curves}
            same = [there.get(label, Curve(label, x=curves[0].x)) for label in labels]
            draw(same, **{**(options or {}), **layout, "title": None, "legend": "none", "ax": ax})
            ax.set_title(name, pad=3)
        _share_limits(axes)
        for i, ax in enumerate(axes):
            if i % across:
                ax.set_ylabel("")
                ax.tick_params(labelleft=False)
            if i + across < len(axes):
                ax.set_xlabel("")
                ax.tick_params(labelbottom=False)
        if figure.get_figwidth() / across < NARROW and chosen.x_label is None:
            for ax in axes:
                ax.set_xlabel(ax.get_xlabel().replace(" (flits/terminal/cycle)", ""))
        if chosen.title:
            figure.suptitle(chosen.title)
        if chosen.legend != "none" and len(labels) > 1:
            found = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels())}
            order = [*(label for label in labels if label in found), *(label for label in found if label not in labels)]
            _legend(figure, [found[label] for label in order], order, grows=isinstance(chosen.size, str))
    return figure


def _legend(figure: Figure, handles: list, labels: list[str], grows: bool) -> None:
    """Over all panels, in as many columns as fit; the panels share what is left below it."""
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles, labels, loc="upper left", ncol=columns, borderpad=0.1, bbox_to_anchor=(0.02, 1))
        legend.set_in_layout(False)
        box = legend.get_window_extent(figure.canvas.get_renderer())
        if box.width <= 0.97 * figure.bbox.width or columns == 1:
            break
        legend.remove()
    inches = box.height / figure.dpi + 0.06
    width, height = figure.get_size_inches()
    if grows:
        height += inches
        figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - inches / height))


def _share_limits(axes: Sequence) -> None:
    for limits, change in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        found = [getattr(ax, limits)() for ax in axes]
        for ax in axes:
            getattr(ax, change)(min(low for low, _ in found), max(high for _, high in found))

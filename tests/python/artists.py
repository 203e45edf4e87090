# SPDX-License-Identifier: Apache-2.0
"""Looks at what a figure draws: the boxes of its texts, and whether they run into each other."""
from functools import lru_cache
from itertools import combinations

import matplotlib
from matplotlib.text import Text

from flitwarp.figures.style import STYLE


@lru_cache(1)  # a figure is laid out once for all questions about it
def texts(figure):
    """(text, box in pixels) of all that is written and visible; ticks outside of the axes are not drawn."""
    with matplotlib.rc_context(STYLE):
        figure.draw_without_rendering()
        found = []
        hidden = set()
        for ax in figure.axes:
            for axis in (ax.xaxis, ax.yaxis):
                drawn = {id(label) for tick in axis._update_ticks() for label in (tick.label1, tick.label2)}
                hidden |= {id(label) for tick in (*axis.majorTicks, *axis.minorTicks)
                           for label in (tick.label1, tick.label2)} - drawn
                if not axis.get_visible():
                    hidden |= drawn
        for text in figure.findobj(Text):
            if id(text) in hidden or not text.get_visible() or not text.get_text().strip():
                continue
            box = Text.get_window_extent(text)
            if box.width > 0:
                found.append((text, box))
        return found


def overlaps(figure):
    """Pairs of texts whose boxes intersect, but for slivers below a pixel."""
    found = []
    for (first, a), (second, b) in combinations(texts(figure), 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        if wide > 1 and high > 1:
            found.append((first.get_text(), second.get_text()))
    return found


def outside(figure):
    """Texts that the edge of the figure cuts."""
    edge = figure.bbox.padded(1)
    return [text.get_text() for text, box in texts(figure)
            if box.x0 < edge.x0 or box.x1 > edge.x1 or box.y0 < edge.y0 or box.y1 > edge.y1]


def smallest(figure):
    """The size of the smallest text, in points."""
    return min(text.get_fontsize() for text, _ in texts(figure))


def legend(ax):
    """The texts of a legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []

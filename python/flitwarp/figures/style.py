# SPDX-License-Identifier: Apache-2.0
"""How all figures look: sizes, fonts, colours, legends that cover nothing, files that repeat byte for byte.

Text is 7.5 to 8 points at the size at which the figure is printed: a column of a paper is 3.4 inches, a
page 7. Colours are those of Okabe and Ito, which colour-blind readers tell apart; curves differ in marker
and line style as well, so that they survive a black-and-white printer.
"""

from __future__ import annotations

import os
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, floor, isnan, log10
from pathlib import Path
from typing import Iterable, Iterator, Sequence

import matplotlib
import numpy
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator, ScalarFormatter
from matplotlib.transforms import Bbox

if not hasattr(Figure, "get_layout_engine"):
    raise ModuleNotFoundError(f"matplotlib is {matplotlib.__version__}, and figures need 3.6 or newer")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1, 1.2, 1, 1.2)), (0, (8, 2)),
         (0, (3, 1.2, 1.2, 1.2)))
MARK = {"marker": "|", "markersize": 7, "markeredgewidth": 0.9, "linestyle": "none"}  # where a curve saturates
SEQUENTIAL = "viridis"
WIDTHS = {"column": 3.4, "page": 7.0}  # inches
FORMATS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
PLACES = ("auto", "none", "above", "right", "upper left", "upper right", "lower left", "lower right", "center left",
          "center right", "upper center", "lower center", "center")
STYLE = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.titlesize": 8,
    "figure.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.handlelength": 2.6,
    "legend.labelspacing": 0.25,
    "legend.columnspacing": 1.2,
    "legend.borderpad": 0.25,
    "legend.borderaxespad": 0.4,
    "legend.frameon": True,
    "legend.framealpha": 1,
    "legend.facecolor": "white",
    "legend.edgecolor": "white",
    "legend.fancybox": False,
    "patch.linewidth": 0.5,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.pad": 4.5,  # the zeros of both axes stand apart
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 1.8,
    "ytick.minor.size": 1.8,
    "axes.linewidth": 0.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-4, 5),
    "axes.xmargin": 0.02,
    "grid.linewidth": 0.35,
    "grid.color": "0.88",
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0.6,
    "hatch.linewidth": 0.5,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.h_pad": 0.02,
    "pdf.fonttype": 42,  # whole fonts: text stays text
    "svg.fonttype": "path",  # drawn letters look the same everywhere
    "svg.hashsalt": "flitwarp",  # the same figure is the same file
    "savefig.dpi": 300,
}


@dataclass(frozen=True)
class Layout:
    """What every figure function takes by keyword, beside what it draws.

    title            above the figure; papers have captions instead
    x_label, y_label in place of the usual ones
    log              axes with a logarithmic scale: "x", "y" or "xy"; "" is linear; None: as the kind has it
    xlim, ylim       (low, high); None in either place leaves it
    size             "column" (3.4 in), "page" (7 in), or (width, height) in inches
    legend           a place of PLACES; "auto" is inside where nothing is covered, else above
    ax               axes of another figure to draw in, for panels
    """

    title: str | None = None
    x_label: str | None = None
    y_label: str | None = None
    log: str | None = None
    xlim: tuple[float | None, float | None] | None = None
    ylim: tuple[float | None, float | None] | None = None
    size: str | tuple[float, float] = "column"
    legend: str = "auto"
    ax: Axes | None = None

    def __post_init__(self) -> None:
        if isinstance(self.size, str) and self.size not in WIDTHS:
            raise ValueError(f"size '{self.size}': expected {' or '.join(WIDTHS)}, or width and height in inches")
        if self.legend not in PLACES:
            raise ValueError(f"no place '{self.legend}' for a legend; there are {', '.join(PLACES)}")
        if self.log is not None and set(self.log) - set("xy"):
            raise ValueError(f"log '{self.log}': expected x, y or xy")

    def inches(self, column: float, page: float) -> tuple[float, float]:
        """Width and height; the heights are those for the two named widths."""
        if not isinstance(self.size, str):
            return self.size
        return WIDTHS[self.size], column if self.size == "column" else page


@contextmanager
def drawing(layout: Layout, column: float = 2.3, page: float = 3.1, rows: int = 1,
            columns: int = 0) -> Iterator[tuple[Figure, object]]:
    """A figure and its axes, to be filled inside the block, where the style holds; with `columns` a grid of them."""
    with matplotlib.rc_context(STYLE):
        if layout.ax is not None:
            yield layout.ax.figure, layout.ax
            return
        figure = Figure(figsize=layout.inches(column, page), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns or 1, sharex=rows > 1 and not columns, squeeze=not columns)


def look(i: int, count: int = 1) -> dict:
    """Colour, marker and line style of curve i of `count`; more than seven take their colours from a map.

    >>> look(0)["color"], len({(look(i, 20)["marker"], str(look(i, 20)["linestyle"])) for i in range(20)})
    ('#0072B2', 20)
    """
    if count <= len(COLOURS):
        colour = COLOURS[i]
    else:
        colour = matplotlib.colors.to_hex(matplotlib.colormaps[SEQUENTIAL](0.93 * i / (count - 1)))
    turn = i // len(MARKERS)  # the eighth has the first one's marker, and another line
    return {"color": colour, "marker": MARKERS[i % len(MARKERS)], "linestyle": LINES[(i + turn) % len(LINES)]}


def add_intervals(ax: Axes, x: Sequence[float], y: Sequence[float], halves: Sequence[float], colour: str, cap: float) -> None:
    """Bars of half widths; none, not even its ends, where there is no interval (NaN)."""
    there = [place for place in zip(x, y, halves) if not isnan(place[2])]
    if there:
        places, values, widths = zip(*there)
        ax.errorbar(places, values, yerr=widths, fmt="none", ecolor=colour, elinewidth=0.7, capsize=cap, capthick=0.7)


def finish(ax: Axes, layout: Layout, x_label: str, y_label: str, *, x_axis: Axes | None = None, lift: float = 0,
           log: str = "") -> None:
    """Labels, scales, limits, title and legend.

    `x_axis` is the lowest of several panels, `lift` the points that are kept free above.
    """
    x_axis = x_axis or ax
    log = log if layout.log is None else layout.log
    if "x" in log:
        x_axis.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
    if layout.xlim:
        x_axis.set_xlim(*layout.xlim)
    if layout.ylim:
        ax.set_ylim(*layout.ylim)
    x_axis.set_xlabel(x_label if layout.x_label is None else layout.x_label)
    ax.set_ylabel(y_label if layout.y_label is None else layout.y_label)
    if "x" in log:
        _log_ticks(x_axis.xaxis)
    if "y" in log:
        _log_ticks(ax.yaxis)
    for axis in (x_axis.xaxis, ax.yaxis):
        _power_of_ten(axis)
    if layout.title:
        ax.figure.suptitle(layout.title)
    add_legend(ax, layout, lift)


def _power_of_ten(axis: Axis) -> None:
    """Numbers that have a power of ten beside the axis are set as formulas, which takes a while; others are plain text."""
    if isinstance(axis.get_major_formatter(), ScalarFormatter):
        low, high = (abs(end) for end in axis.get_view_interval())
        axis.get_major_formatter().set_useMathText(not 1e-3 <= max(low, high) < 1e5)


def _log_ticks(axis: Axis) -> None:
    """Numbers one can read, a few of them: 20, 50, 100 rather than 2 x 10^1; powers of ten over many decades."""
    low, high = sorted(axis.get_view_interval())
    for subs in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)):
        ticks = [s * 10.0 ** e for e in range(floor(log10(low)), ceil(log10(high)) + 1) for s in subs]
        count = sum(low <= tick <= high for tick in ticks)
        if count >= 4:
            break
    axis.set_minor_formatter(NullFormatter())
    if count < 3:  # hardly more than one number: as on a linear axis
        axis.set_major_locator(MaxNLocator(5))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(10, subs=subs, numticks=8))
        axis.set_minor_locator(LogLocator(10, subs=range(1, 10), numticks=8))
    if low >= 1e-4 and high < 1e5:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def fit_ticks(ax: Axes) -> None:
    """Slants the names of groups where they would run into each other."""
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    if any(left.x1 + 3 > right.x0 for left, right in zip(boxes, boxes[1:])):
        for text in ax.get_xticklabels():
            text.set(rotation=35, ha="right", rotation_mode="anchor")


# ---- legends -------------------------------------------------------------------------------------------------------

MANY = 8  # lines above which a legend is set closely, in two columns if they fit
INSIDE = ("upper left", "upper right", "lower right", "lower left", "center left", "center right")


def add_legend(ax: Axes, layout: Layout, lift: float = 0) -> None:
    """The legend where it covers nothing; the figure grows when it has to stand above a figure of a named size."""
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] == "saturated")
    handles, labels = [handles[i] for i in order], [labels[i] for i in order]
    if layout.legend == "none" or not handles or (len(handles) < 2 and layout.legend == "auto"):
        return
    figure = ax.figure
    wide = figure.get_figwidth() * 72 / STYLE["legend.fontsize"] * 1.6  # characters in the figure's width
    labels = [textwrap.fill(label, max(int(wide) - 10, 12)) for label in labels]
    if layout.legend not in ("auto", "above"):
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)} if layout.legend == "right" else {"loc": layout.legend}
        ax.legend(handles, labels, **place)
        return
    legend = ax.legend(handles, labels, loc="upper left")
    legend.set_in_layout(False)
    figure.draw_without_rendering()
    place = _free_place(ax, legend.get_window_extent()) if layout.legend == "auto" else None
    if place:
        ax.legend(handles, labels, loc=place).set_in_layout(False)
        return
    _legend_above(ax, handles, labels, lift, grows=isinstance(layout.size, str))


def _legend_above(ax: Axes, handles: list, labels: list[str], lift: float, grows: bool) -> None:
    """In as many columns as fit between the axis and the figure's right edge."""
    figure = ax.figure
    room = figure.bbox.x1 - ax.get_window_extent().x0
    height = ax.get_window_extent().height
    base = 1 + (lift + 3.5) * figure.dpi / 72 / height

    close = {"fontsize": 7, "handlelength": 2.2, "columnspacing": 0.8, "handletextpad": 0.5} if len(handles) > MANY else {}
    for columns in sorted({ceil(len(handles) / rows) for rows in range(1, len(handles) + 1)}, reverse=True):
        legend = ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, base), borderaxespad=0, ncol=columns,
                           borderpad=0.1, **close)
        box = legend.get_window_extent(figure.canvas.get_renderer())
        if box.width <= room:
            break
    if grows:
        width, inches = figure.get_size_inches()
        figure.set_size_inches(width, inches + box.height / figure.dpi)


def _free_place(ax: Axes, box: Bbox) -> str | None:
    """A corner or side of the axes where a box of this size covers nothing that is drawn."""
    frame = ax.get_window_extent()
    if box.width > 0.75 * frame.width or box.height > 0.75 * frame.height:
        return None
    pad = STYLE["legend.borderaxespad"] * STYLE["legend.fontsize"] * ax.figure.dpi / 72
    middle = (frame.y0 + frame.y1 - box.height) / 2
    for place in INSIDE:
        x = frame.x0 + pad if "left" in place else frame.x1 - pad - box.width
        y = middle if "center" in place else frame.y1 - pad - box.height if "upper" in place else frame.y0 + pad
        if not covers(ax, Bbox.from_bounds(x, y, box.width, box.height).padded(2)):
            return place
    return None


def covers(ax: Axes, box: Bbox) -> bool:
    """Whether a box, in pixels, lies over a line, a bar, a band, a point or a text of the axes."""
    if any(text.get_window_extent().overlaps(box) for text in ax.texts if text.get_text()):
        return True
    visible = Bbox.intersection(box, ax.get_window_extent())
    if visible is None or visible.height < 1:
        return False
    box = visible
    for line in ax.lines:
        if line.get_gid() == "background":
            continue
        points = numpy.ma.filled(numpy.ma.asarray(line.get_transform().transform(line.get_xydata()), float), numpy.nan)
        points = points[numpy.isfinite(points).all(axis=1)]
        if len(points) and (_contains(box, points) or (line.get_linestyle() != "None" and len(points) > 1
                                                       and Outline(points).intersects_bbox(box, filled=False))):
            return True
    for patch in ax.patches:
        if patch.get_gid() != "background" and \
                patch.get_path().transformed(patch.get_transform()).intersects_bbox(box, filled=True):
            return True
    for collection in ax.collections:
        if collection.get_gid() == "background":
            continue
        offsets = collection.get_offsets()
        if len(offsets) > 1:
            if _contains(box, collection.get_offset_transform().transform(offsets)):
                return True
        elif any(path.transformed(collection.get_transform()).intersects_bbox(box, filled=True)
                 for path in collection.get_paths()):
            return True
    return False


def _contains(box: Bbox, points: numpy.ndarray) -> bool:
    return bool(((points[:, 0] >= box.x0) & (points[:, 0] <= box.x1) & (points[:, 1] >= box.y0)
                 & (points[:, 1] <= box.y1)).any())


# ---- files ---------------------------------------------------------------------------------------------------------


def save(figure: Figure, stem: str | Path, formats: Sequence[str] = ("png", "svg", "pdf")) -> list[Path]:
    """Writes stem.png, stem.svg and stem.pdf; the same data gives the same bytes.

    >>> import tempfile
    >>> with drawing(Layout()) as (figure, ax), tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(figure, Path(folder) / "load_0.3", ("png", "svg"))]
    ['load_0.3.png', 'load_0.3.svg']
    """
    paths = [Path(f"{stem}.{suffix}") for suffix in formats]
    write(figure, paths)
    return paths


def write(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Writes a figure to files, each in the format of its ending: beside their places first, then all are renamed."""
    written: list[tuple[Path, Path]] = []
    for path in map(Path, paths):
        check_format(path)
    try:
        with matplotlib.rc_context(STYLE):
            figure.draw_without_rendering()
            engine = figure.get_layout_engine()
            figure.set_layout_engine("none")  # places are found once, not for every format
            for path in map(Path, paths):
                beside = path.with_name(f".{path.name}.{os.getpid()}{path.suffix}")
                written.append((beside, path))
                figure.savefig(beside, metadata=FORMATS[path.suffix.lower()])
        for beside, path in written:
            beside.replace(path)
        figure.set_layout_engine(engine)
    finally:
        for beside, _ in written:
            beside.unlink(missing_ok=True)


def check_format(path: Path, formats: Iterable[str] = tuple(FORMATS)) -> None:
    """Raises when a file's ending names no format that figures are written in."""
    if path.suffix.lower() not in formats:
        raise ValueError(f"'{path}' ends in no format of figures; endings are {', '.join(formats)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder '{path.parent}' to write '{path.name}' to; make it first")

# SPDX-License-Identifier: Apache-2.0
"""Which figures a study has, and drawing them.

A figure that cannot be drawn (every load saturated, no time series) is not the end of the report: it keeps its place,
and says why.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import re
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Mapping, Sequence

from ..backend import cores
from ..jobs import is_job
from ..study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "load_latency": "Latency over load", "offered_accepted": "Accepted over offered load", "load_column": "Over load",
    "latency_pdf": "Distribution of latency", "latency_cdf": "Cumulative distribution of latency",
    "latency_percentile": "Percentiles of latency", "hop_histogram": "Hops", "comparison": "Comparison",
    "time_series": "Latency and load over time", "channel_heatmap": "How busy channels are",
    "throughput": "Throughput", "jobs": "Jobs", "interference": "Who slows whom",
}
OVER_X = ("load_latency", "offered_accepted", "load_column")  # drawn from curves
OF_A_STUDY = ("throughput",)  # drawn from all runs of lines, with the variable `x` along the axis
OF_ONE_RUN = ("time_series", "channel_heatmap")  # drawn from one results document; all others from several
SVG_LIMIT = 60_000  # bytes, compressed, of a figure that is embedded as SVG; curves take 10,000
PNG_DPI = 200  # of larger ones, such as maps of thousands of channels
MOST_BARS = 12  # of a group, in figures that nobody asked for
MOST_NAMED = 12  # in a message
AT_ONCE = 2  # figures above which processes share the work


@dataclass(frozen=True)
class Spec:
    """Figures that differ only in the values of the variables that they do not draw."""

    kind: str
    lines: tuple[str, ...] | None
    where: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)

    @property
    def function(self) -> str:
        return self.kind.replace("-", "_")

    @property
    def panels(self) -> str | None:
        """The variable with a panel for each value."""
        return self.options.get("panels") if self.function in OVER_X else None

    @property
    def title(self) -> str:
        """As the page calls them."""
        title = TITLES.get(self.function, self.kind.replace("-", " ").replace("_", " ").capitalize())
        if self.options.get("title"):
            title = str(self.options["title"])
        if self.lines:
            title += f", by {' and '.join(self.lines)}"
        more = [str(value).replace("_", " ") if name in ("column", "application") else f"{name.replace('_', ' ')} {value}"
                for name, value in self.options.items() if name != "title"]
        more += [f"{name} {_words(value)}" for name, value in self.where.items()]
        return f"{title} ({', '.join(more)})" if more else title


@dataclass
class Drawn:
    """One figure: what it shows, its files, and what the page embeds."""

    spec: Spec
    number: int  # of the spec
    at: dict  # the values of the other variables
    stem: str
    labels: list[str] = field(default_factory=list)  # of its lines
    files: list[Path] = field(default_factory=list)
    svg: bytes = b""  # compressed (zlib)
    png: bytes = b""  # where that would be large
    error: str = ""

    @property
    def caption(self) -> str:
        values = ", ".join(f"{name} {_words(value)}" for name, value in self.at.items())
        return f"{self.spec.title}: {values}" if values else self.spec.title


def _words(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, (list, tuple, set)) else \
        f"{value:g}" if isinstance(value, float) else str(value)


def specs_of(study: Study) -> list[Spec]:
    """Those the study asks for; else latency and accepted load by each variable."""
    asked = study.facts.get("figures") or []
    if asked:
        return [Spec(s["kind"], None if s.get("lines") is None else tuple(s["lines"]), dict(s.get("where") or {}),
                     dict(s.get("options") or {})) for s in asked]
    varied = [name for name, values in study.variables.items() if len(values) > 1]
    if any(is_job(a) for run in study.runs if run.is_done for a in run.results["applications"]):
        return _specs_of_jobs(study)
    if study.x is None:
        return [Spec("comparison", None)] if varied else [Spec("latency-pdf", None)]
    return [Spec(kind, (name,)) for kind in ("load-latency", "offered-accepted") for name in varied] or \
        [Spec("load-latency", None)]


def _specs_of_jobs(study: Study) -> list[Spec]:
    """What counts of jobs is when they end, and how much later than alone: side by side, and over the load of the others."""
    documents = [run.results for run in study.runs if run.is_done]
    blocks = [a for document in documents for a in document["applications"] if is_job(a)]
    column = "slowdown" if any("slowdown" in a for a in blocks) else "completion_time"
    varied = [name for name, values in study.variables.items() if len(values) > 1]
    lines = None if len(study.combinations(varied)) <= MOST_BARS else (varied[0],)
    names = list(dict.fromkeys(a["name"] for a in blocks))
    columns = list(dict.fromkeys((column, "completion_time")))
    if len(names) > 1 or not varied:
        specs = [Spec("jobs", lines, options={"column": c}) for c in columns]
    else:
        specs = [Spec("comparison", lines, options={"column": c, "application": names[0]}) for c in columns]
    if column == "slowdown" and any(len(document["applications"]) == 2 for document in documents):
        specs.insert(0, Spec("interference", lines))
    if study.x is not None:
        specs += [Spec("load-column", lines, options={"column": column, "application": name}) for name in names]
    return specs


def plan(study: Study) -> list[Drawn]:
    """All figures, in order: one of a spec for each combination of the variables that it neither draws nor fixes."""
    planned: list[Drawn] = []
    taken: set[str] = set()
    for number, spec in enumerate(specs_of(study)):
        for at in _places(study, spec):
            stem = _stem(spec, at)
            while stem.lower() in taken:
                stem += "+"
            taken.add(stem.lower())
            planned.append(Drawn(spec, number, at, stem))
    return planned


def choose(planned: Sequence[Drawn], names: Sequence[str] | None) -> list[Drawn]:
    """Those that are asked for by the names of their files, which may have * and ?, or by their kind; None asks for all."""
    if names is None:
        return list(planned)
    chosen: list[Drawn] = []
    for name in names:
        found = [f for f in planned if f.spec.function == name.replace("-", "_") or fnmatch(f.stem.lower(), name.lower())]
        if not found:
            there = [figure.stem for figure in planned]
            more = f" and {len(there) - MOST_NAMED} more" if len(there) > MOST_NAMED else ""
            raise ValueError(f"figures: there is none of the name '{name}'; accepted: all, none, {', '.join(there[:MOST_NAMED])}{more}, "
                             "kinds of figures, and names with *")
        chosen += found
    return [figure for figure in planned if figure in chosen]


def _places(study: Study, spec: Spec) -> list[dict]:
    fixed = [name for name, value in spec.where.items() if not isinstance(value, (list, tuple, set))]
    if spec.function in OF_ONE_RUN:
        others = [*study.variables, study.x]
    elif spec.function in OF_A_STUDY:
        others = [name for name in study.variables if name not in (*(spec.lines or ()), spec.options.get("x"))]
    elif spec.lines is None:
        others = [] if spec.function in OVER_X else [study.x]
    else:
        others = [name for name in study.variables if name not in (*spec.lines, spec.panels)]
        others += [] if spec.function in OVER_X or study.x in spec.lines else [study.x]
    try:
        return study.combinations([name for name in others if name is not None and name not in fixed], spec.where)
    except ValueError:
        return [{}]  # drawing it says what is wrong


def _stem(spec: Spec, at: Mapping) -> str:
    """A file's name without its ending."""
    parts = [spec.kind.replace("_", "-"), *(["by", *spec.lines] if spec.lines else []),
             *(f"{name}-{_words(value)}" for name, value in {**spec.where, **at}.items())]
    stem = "_".join(re.sub(r"[^A-Za-z0-9.+-]+", "-", part).strip("-") for part in parts)
    if len(stem) > 120:
        stem = f"{stem[:100]}_{hashlib.sha256(stem.encode()).hexdigest()[:12]}"
    return stem


# ---- drawing -------------------------------------------------------------------------------------------------------


def make_figure(study: Study, spec: Spec, at: Mapping) -> tuple[Figure, list[str]]:
    """The one place where the page meets the figure functions: a figure, and the labels of its lines."""
    from .. import figures
    function = getattr(figures, spec.function, None)
    if spec.function.startswith("_") or not callable(function):
        raise ValueError(f"there are no figures of the kind '{spec.kind}'")
    where = {**spec.where, **at}
    if spec.function in OVER_X:
        return _over_load(study, spec, function, where)
    if spec.function in OF_A_STUDY:
        return function(study, lines=spec.lines or (), where=where, **spec.options), []
    results = study.results(where)
    if not results:
        raise ValueError("no run of it has results")
    return function(results[0] if spec.function in OF_ONE_RUN else results, **spec.options), []


def _over_load(study: Study, spec: Spec, function: Callable[..., Figure], where: Mapping) -> tuple[Figure, list[str]]:
    from .. import figures
    options = {name: value for name, value in spec.options.items() if name != "panels"}
    parts = {}
    for at in study.combinations([spec.panels], where) if spec.panels else [{}]:
        curves = [curve for curve in study.curves(lines=spec.lines, where={**where, **at}) if curve.points]
        if curves:
            parts[", ".join(study.label(*pair) for pair in at.items())] = curves
    if not parts:
        raise ValueError("no run of it has results")
    labels = list(dict.fromkeys(curve.label for curves in parts.values() for curve in curves))
    if not spec.panels:
        return function(parts[""], **options), labels
    layout = {name: options.pop(name) for name in list(options) if name in figures.Layout.__dataclass_fields__}
    return figures.panels(function, parts, options=options, **{"size": "page", **layout}), labels


def draw_all(study: Study, folder: Path, names: Sequence[str] | None = None) -> list[Drawn]:
    """Draws the figures of these names into the folder, or all."""
    planned = choose(plan(study), names)
    if planned:
        folder.mkdir(parents=True, exist_ok=True)
    if len(planned) <= AT_ONCE or cores() < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return [_draw_one(study, figure, folder) for figure in planned]
    global _shared
    _shared = study, planned, folder  # what processes inherit need not be copied to them
    try:
        with ProcessPoolExecutor(cores(), multiprocessing.get_context("fork")) as pool:
            return list(pool.map(_draw_shared, range(len(planned))))
    finally:
        _shared = None


_shared: tuple[Study, Sequence[Drawn], Path] | None = None


def _draw_shared(number: int) -> Drawn:
    assert _shared
    study, planned, folder = _shared
    return _draw_one(study, planned[number], folder)


def _draw_one(study: Study, figure: Drawn, folder: Path) -> Drawn:
    from .. import figures
    try:
        made, figure.labels = make_figure(study, figure.spec, figure.at)
        figure.files = figures.save(made, folder / figure.stem)
        svg = lean(next(path for path in figure.files if path.suffix == ".svg").read_text())
        figure.svg = zlib.compress(svg.encode(), 9)
        if len(figure.svg) > SVG_LIMIT:
            image = io.BytesIO()
            made.savefig(image, format="png", dpi=PNG_DPI, metadata={"Software": None})
            figure.png = image.getvalue()
    except Exception as error:  # noqa: BLE001: one figure must not cost the page
        figure.error = str(error) or type(error).__name__
    return figure


def lean(svg: str) -> str:
    """An SVG file without what a picture in a page has no use for: where it came from, digits that no one sees.

    >>> lean('<?xml version="1.0"?>\\n<!DOCTYPE svg>\\n<svg a="1">\\n <metadata>by</metadata>\\n <path d="M 1.23456 7"/>\\n</svg>\\n')
    '<svg a="1">\\n<path d="M 1.23 7"/>\\n</svg>'
    """
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg"):], flags=re.DOTALL)
    svg = re.sub(r"\s*\n\s*", "\n", svg).strip()
    return re.sub(r' (?:d|x|y)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), svg)

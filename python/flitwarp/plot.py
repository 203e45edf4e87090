# SPDX-License-Identifier: Apache-2.0
"""The command flitwarp-plot: files in, a figure out. Each kind is a row in KINDS."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Sequence

from .apart import distinct, split
from .curve import Curve, curves_of_files, replicas
from .files import write_file
from .needed import how_to_install
from .plot_options import Parser, Usage, application_of, pair_of, percentiles_of, place_of, size_of
from .results import NotResults, Results, Which, one_version, unknown
from .store import StudyError
from .study import Study, open_study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "flitwarp-plot"
RESULTS = "flitwarp run CONFIG --results FILE.json writes them"
LOG = "flitwarp run CONFIG --log FILE.csv writes one"


@dataclass
class Input:
    """What the files hold, and the options."""

    options: argparse.Namespace
    results: list[Results] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # packet logs and matrices

    @property
    def application(self) -> Which:
        """That of --application, the first by default."""
        return 0 if self.options.application is None else self.options.application

    def documents(self) -> list[Results]:
        """All results, those of studies too."""
        found = list(self.results)
        for path in self.studies:
            study = _study(path)
            if self.options.lines is not None:
                study.check_told(self.options.lines if self.by is None else [*self.options.lines, self.by], self.where)
            found += study.results(self.where)
        return self._checked(found)

    @property
    def by(self) -> str | None:
        """The variable of --by."""
        return getattr(self.options, "by", None)

    @property
    def where(self) -> dict:
        """The values of --where; the same name again adds a value."""
        chosen: dict[str, list[str]] = {}
        for asked in self.options.where or []:
            name, equals, value = asked.partition("=")
            if not equals:
                raise Usage(f"--where '{asked}': expected NAME=VALUE, such as VCs=4")
            chosen.setdefault(name, []).append(value)
        return chosen

    def parts(self) -> dict[str, list[Curve]]:
        """Results as curves over load for each value of --panels, under the labels of --label."""
        panels = self.options.panels
        found: dict[str, list[Curve]] = {}
        for value, runs in split(self.results, panels).items() if self.results else ():
            found.setdefault(value, []).extend(curves_of_files(runs, self.application))
        for path in self.studies:
            study = _study(path)
            if panels is not None and panels == study.x:
                raise Usage(f"--panels {panels}: it runs along the axis; name another variable of the study")
            values = [at[panels] for at in study.combinations([panels], self.where)] if panels else []
            titles = distinct([study.label(panels, value) for value in values], [str(value) for value in values])
            for title, at in zip(titles, [{panels: value} for value in values]) if panels else [("", {})]:
                curves = study.curves(lines=self.options.lines, where={**self.where, **at})
                found.setdefault(title, []).extend(curves)
        every = [curve for curves in found.values() for curve in curves]
        self._checked([run for curve in every for run in curve.runs()])
        labels = list(dict.fromkeys(curve.label for curve in every)) if panels else [curve.label for curve in every]
        new = self.renamed(labels)
        for i, curve in enumerate(every):
            curve.label = new[labels.index(curve.label) if panels else i]
        return found

    def drawn(self, function: Callable[..., Figure], *arguments: object, **options: object) -> Figure:
        """A figure over load, in panels where they are asked for."""
        from . import figures
        parts = self.parts()
        if not self.options.panels:
            return function(parts[""], *arguments, **options, **self.layout())
        return figures.panels(lambda curves, **more: function(curves, *arguments, **more), parts, options=options, **self.layout())

    def _checked(self, found: list[Results]) -> list[Results]:
        if not found:
            raise Usage("there is nothing to draw: no results in " + ", ".join(self.options.files))
        if not self.options.mixed_versions:
            one_version(found)
        for run in found:
            if not run.get("complete", True):
                _note(f"{run.source} is of a run that did not come to its end ({run.get('outcome', 'incomplete')})")
        return found

    def one(self) -> Results:
        """The only run."""
        found = self.documents()
        if len(found) > 1:
            pick = "; --where NAME=VALUE picks one" if self.studies else ""
            raise Usage(f"{self.options.kind} draws one run, and {len(found)} were given{pick}")
        return found[0]

    def companion(self) -> Results | None:
        """The results beside a packet log, for units and names."""
        found = self.documents() if self.results or self.studies else [None]  # type: ignore[list-item]
        if len(found) > 1:
            raise Usage(f"{self.options.kind} takes the results of one run beside its log, and {len(found)} were given")
        return found[0]

    def table(self) -> str:
        """The only packet log or matrix."""
        if len(self.tables) > 1:
            raise Usage(f"{self.options.kind} draws one packet log, and {len(self.tables)} were given")
        return self.tables[0]

    def renamed(self, labels: Sequence[str]) -> list[str]:
        """Labels after --label: NEW in order, or OLD=NEW by name."""
        new = list(labels)
        place = 0
        for asked in self.options.label:
            old, equals, name = asked.partition("=")
            if equals and old in labels:
                new[list(labels).index(old)] = name
            elif equals:
                raise Usage(unknown("label", old, labels, "the figure"))
            elif place < len(new):
                new[place] = asked
                place += 1
            else:
                raise Usage(f"--label '{asked}': there are only {len(labels)} labels: {'; '.join(labels)}")
        return new

    def labels(self, runs: Sequence[Results]) -> list[str] | None:
        """Of the lines of a distribution; None where none is renamed."""
        return self.renamed([label for label, _ in replicas(runs, self.application)]) if self.options.label else None

    def layout(self) -> dict:
        """The options that every figure takes."""
        asked = self.options
        log = "" if asked.linear else asked.log
        return {"title": asked.title, "x_label": asked.x_label, "y_label": asked.y_label,
                "log": None if isinstance(log, bool) else log, "xlim": asked.xlim, "ylim": asked.ylim, "size": asked.size,
                "legend": asked.legend}


def _study(path: str) -> Study:
    try:
        study = open_study(path)
    except StudyError as error:
        raise Usage(str(error)) from None
    for run in study.runs:
        if run.state == "damaged":
            _note(f"{run.name} of {path} is left out: {run.outcome.message}")
    return study


def _note(text: str) -> None:
    print(f"{PROGRAM}: {text}", file=sys.stderr)


# ---- kinds ---------------------------------------------------------------------------------------------------------


def _load_latency(given: Input) -> Figure:
    from . import figures
    asked = given.options
    return given.drawn(figures.load_latency, latency=asked.latency, percentiles=asked.percentiles,
                       application=given.application, unit=asked.unit)


def _offered_accepted(given: Input) -> Figure:
    from . import figures
    return given.drawn(figures.offered_accepted, application=given.application)


def _load_column(given: Input) -> Figure:
    from . import figures
    return given.drawn(figures.load_column, given.options.column, application=given.application, unit=given.options.unit)


def _distribution(name: str) -> Callable[[Input], Figure]:
    def draw(given: Input) -> Figure:
        from . import figures
        runs = given.documents()
        return getattr(figures, name)(runs, latency=given.options.latency, application=given.application,
                                      unit=given.options.unit, labels=given.labels(runs), **given.layout())
    return draw


def _hop_histogram(given: Input) -> Figure:
    from . import figures
    runs = given.documents()
    return figures.hop_histogram(runs, application=given.application, labels=given.labels(runs), **given.layout())


def _time_series(given: Input) -> Figure:
    from . import figures
    run = given.one()
    which = given.options.application
    shown = [block for block in run["applications"] if "series" in block] if which is None else [run.application(which)]
    return figures.time_series(run, application=which, unit=given.options.unit,
                               labels=given.renamed([block["name"] for block in shown]), **given.layout())


def _scatter(given: Input) -> Figure:
    from . import figures, packet_log
    run = given.companion()
    which = given.options.application
    if isinstance(which, str):
        if run is None:
            raise Usage(f"--application {which}: a packet log numbers applications; give the results of the run too, "
                        "or a number")
        which = run["applications"].index(run.application(which))
    log = packet_log.read(given.table())
    rows = len(log["application"]) if which is None else int((log["application"] == which).sum())
    if rows > figures.timeline.MOST_POINTS:
        _note(f"{figures.timeline.MOST_POINTS:,} of {rows:,} packets are drawn, evenly spaced")
    return figures.scatter(log, given.options.x, given.options.y, results=run, application=which, unit=given.options.unit,
                           labels=given.options.label or None, **given.layout())


def _channel_heatmap(given: Input) -> Figure:
    from . import figures
    return figures.channel_heatmap(given.one(), form=given.options.form, limits=given.options.limits, **given.layout())


def _communication_matrix(given: Input) -> Figure:
    from . import figures, packet_log
    run = given.companion()
    layout = given.layout()
    return figures.communication_matrix(packet_log.matrix(given.table()), given.options.value, results=run,
                                        unit=given.options.unit, limits=given.options.limits,
                                        **{**layout, "log": bool(given.options.log) and not given.options.linear})


def _comparison(given: Input) -> Figure:
    from . import figures
    runs, by = given.documents(), given.options.by
    return figures.comparison(runs, given.options.column, by=by, application=given.application, unit=given.options.unit,
                              labels=given.renamed(figures.bars.names_of_bars(runs, by)), **given.layout())


def _jobs(given: Input) -> Figure:
    from . import figures
    runs = given.documents()
    return figures.jobs(runs, given.options.column, unit=given.options.unit, labels=given.labels(runs), **given.layout())


def _interference(given: Input) -> Figure:
    from . import figures
    return figures.interference(given.documents(), limits=given.options.limits, **given.layout())


def _throughput(given: Input) -> Figure:
    from . import figures
    if len(given.studies) != 1 or given.results:
        raise Usage("throughput draws one study (.sqlite); flitwarp-sweep makes one")
    study = _study(given.studies[0])
    over = given.options.over or next((name for name in study.variables if name not in (given.options.lines or ())), None)
    if over is None:
        raise Usage(f"the study '{study.name}' has no variable to put along the axis")
    lines = given.options.lines
    if lines is None:
        lines = [name for name, values in study.variables.items() if name != over and name not in given.where and len(values) > 1]
    return figures.throughput(study, over, lines, given.where, given.application, **given.layout())


def _table(given: Input) -> str:
    from .table import latex
    return latex(given.documents(), given.options.columns, application=given.options.application, unit=given.options.unit)


@dataclass(frozen=True)
class Kind:
    """A kind of figure: how it is drawn, from what, and which options it takes beside the common ones."""

    draw: Callable[[Input], "Figure | str"]
    summary: str
    options: tuple[str, ...] = ()
    needs: str = "results"  # or "log", which may have results beside it


KINDS = {
    "load-latency": Kind(_load_latency, "latency over offered load up to saturation; percentiles as bands or lines",
                         ("application", "latency", "percentiles", "lines", "panels", "unit")),
    "offered-accepted": Kind(_offered_accepted, "accepted over offered load", ("application", "lines", "panels")),
    "load-column": Kind(_load_column, "any column of the results over offered load",
                        ("application", "column", "lines", "panels", "unit")),
    "throughput": Kind(_throughput, "the most that was accepted at any load, bars over a variable of a study",
                       ("application", "over", "lines")),
    "latency-pdf": Kind(_distribution("latency_pdf"), "density of latency", ("application", "latency", "lines", "unit")),
    "latency-cdf": Kind(_distribution("latency_cdf"), "share of packets up to each latency; --log y: above it",
                        ("application", "latency", "lines", "unit")),
    "latency-percentile": Kind(_distribution("latency_percentile"), "latency over percentile: 90, 99, 99.9, ...",
                               ("application", "latency", "lines", "unit")),
    "hop-histogram": Kind(_hop_histogram, "share of packets by hops", ("application", "lines")),
    "time-series": Kind(_time_series, "latency and accepted load over time, with the phases of the run",
                        ("application", "unit")),
    "scatter": Kind(_scatter, "each packet of a packet log: latency over creation, or any two columns",
                    ("application", "x", "y", "unit"), "log"),
    "channel-heatmap": Kind(_channel_heatmap, "how busy each channel is, drawn on the network",
                            ("form", "limits")),
    "comparison": Kind(_comparison, "bars of a column with confidence intervals",
                       ("application", "column", "by", "lines", "unit")),
    "jobs": Kind(_jobs, "bars for each job: slowdown, completion_time or step_time", ("column", "lines", "unit")),
    "interference": Kind(_interference, "who slows whom: a matrix of runs of two jobs each", ("limits",)),
    "communication-matrix": Kind(_communication_matrix, "who sends how much to whom, from a packet log",
                                 ("value", "limits", "unit"), "log"),
    "table": Kind(_table, "means and 95 % intervals over seeds as a table for LaTeX", ("application", "columns", "unit")),
}
ALIASES = {"load-average-hops": ("load-column", {"column": "hops.mean"}),
           "load-percent-minimal": ("load-column", {"column": "percent_minimal"})}
COLUMN = {"load-column": "hops.mean", "comparison": "packet_latency.mean"}


# ---- options -------------------------------------------------------------------------------------------------------


def kind_parser(name: str) -> Parser:
    """The reader of the arguments of one kind of figure."""
    kind = KINDS[ALIASES[name][0] if name in ALIASES else name]
    what = "results documents (.json) or studies (.sqlite)" if kind.needs == "results" else \
        "a packet log (.csv, .csv.zst); the run's results (.json) beside it give units and names"
    parser = Parser(prog=f"{PROGRAM} {name}", description=kind.summary, allow_abbrev=False)
    parser.add_argument("files", nargs="*", metavar="FILE", help=what)
    own = parser.add_argument_group("what to draw")
    if "application" in kind.options:
        own.add_argument("--application", type=application_of, metavar="N|NAME", help="one of the run's applications "
                         + ("(all of them)" if name in ("time-series", "scatter") else "(the first)"))
    if "latency" in kind.options:
        own.add_argument("--latency", choices=("packet", "network", "message", "transaction"), default="packet",
                         help="whose latency (packet)")
    if "percentiles" in kind.options:
        own.add_argument("--percentiles", type=percentiles_of, metavar="P,...",
                         help="such as 50,99,99.9, or none (50,90,99,99.9 for one curve, none for several)")
    if "column" in kind.options:
        own.add_argument("--column", default=COLUMN.get(name), help=f"of the results ({COLUMN.get(name, 'slowdown, or completion_time')})")
    if "columns" in kind.options:
        own.add_argument("--column", dest="columns", action="append", metavar="COLUMN",
                         help="of the results; may be given again (loads and latencies, times of jobs)")
    if "over" in kind.options:
        own.add_argument("--over", metavar="NAME", help="the variable along the axis (the first of the study)")
    if "lines" in kind.options:
        own.add_argument("--lines", action="append", metavar="NAME",
                         help="of a study: a line or bar for each value of this variable; may be given again (all that vary)")
    if "panels" in kind.options:
        own.add_argument("--panels", metavar="NAME", help="a panel for each value of this variable, or setting of files")
    if kind.needs == "results":
        own.add_argument("--where", action="append", metavar="NAME=VALUE",
                         help="of a study: only runs with this value; may be given again")
    if "by" in kind.options:
        own.add_argument("--by", metavar="NAME", help="setting, or variable of a study, that groups the bars (load, or the first that "
                         "differs)")
    if "x" in kind.options:
        columns = "a column of the log, or packet_latency, network_latency, head_latency, queueing, extra_hops"
        own.add_argument("--x", default="created", metavar="COLUMN", help=f"{columns} (created)")
        own.add_argument("--y", default="packet_latency", metavar="COLUMN", help="the same (packet_latency)")
    if "form" in kind.options:
        own.add_argument("--form", choices=("auto", "drawing", "picture", "matrix", "profile"), default="auto", help="how (auto)")
    if "value" in kind.options:
        own.add_argument("--value", choices=("flits", "packets", "latency"), default="flits", help="(flits)")
    if "limits" in kind.options:
        own.add_argument("--limits", type=pair_of, metavar="LOW,HIGH", help="of the colours; either may be left out")
    if "unit" in kind.options:
        own.add_argument("--unit", choices=("ticks", "fs", "ps", "ns", "us", "ms", "s"),
                         help="of time (that of simulator.tick)")
    own.add_argument("--label", action="append", default=[], metavar="[OLD=]NEW",
                     help="renames curves: in order, or by name")
    own.add_argument("--mixed-versions", action="store_true", help="allows results of different versions of flitwarp")
    how = parser.add_argument_group("how it looks")
    how.add_argument("-o", "--output", action="append", metavar="FILE",
                     help="ending in .tex; may be given again (table.tex)" if name == "table" else
                     f"ending in .png, .svg or .pdf; may be given again ({name}.png)")
    how.add_argument("--size", type=size_of, default="column", metavar="WxH",
                     help="inches, column (3.4 wide) or page (7) (column)")
    how.add_argument("--title")
    how.add_argument("--x-label", metavar="TEXT")
    how.add_argument("--y-label", metavar="TEXT")
    if name == "communication-matrix":
        how.add_argument("--log", action="store_true", help="logarithmic colours")
    else:
        how.add_argument("--log", choices=("x", "y", "xy"), help="axes with a logarithmic scale")
    how.add_argument("--linear", action="store_true", help="none of them")
    how.add_argument("--xlim", type=pair_of, metavar="LOW,HIGH",
                     help="either may be left out; --xlim=-1,2 for negative ones")
    how.add_argument("--ylim", type=pair_of, metavar="LOW,HIGH")
    how.add_argument("--legend", type=place_of, default="auto", metavar="PLACE",
                     help="none, above, right, upper-left, ... (where it covers nothing)")
    parser.set_defaults(kind=name, application=None, unit=None, lines=None, panels=None, where=None, **(ALIASES[name][1] if name in ALIASES else {}))
    return parser


def usage() -> str:
    """The text of flitwarp-plot --help."""
    lines = [f"usage: {PROGRAM} KIND FILE ... [-o FIGURE.pdf] [OPTIONS]", "", "kinds:"]
    lines += [f"  {name:21s} {kind.summary}" for name, kind in KINDS.items()]
    lines += [f"  {name:21s} {of} --column {more['column']}" for name, (of, more) in ALIASES.items()]
    lines += ["", "FILEs are results documents (.json), studies (.sqlite) or packet logs (.csv, .csv.zst).",
              f"{PROGRAM} KIND --help lists the options of a kind."]
    return "\n".join(lines)


# ---- files ---------------------------------------------------------------------------------------------------------


def _sort_files(given: Input) -> None:
    """Reads results and puts each file where it belongs; raises where a kind cannot use it."""
    kind = KINDS[ALIASES[given.options.kind][0] if given.options.kind in ALIASES else given.options.kind]
    name = given.options.kind
    if not given.options.files:
        raise Usage(f"{name} needs files to draw: " + (f"results ({RESULTS})" if kind.needs == "results" else
                                                       f"a packet log ({LOG})"))
    for file in given.options.files:
        path = Path(file)
        if (path / "study.sqlite").exists():
            given.studies.append(str(path / "study.sqlite"))
            continue
        if path.is_dir():
            raise Usage(f"'{file}' is a folder; name the files in it: {path / '*.json'}")
        if path.name.endswith((".csv", ".csv.zst")):
            if not path.exists():
                raise FileNotFoundError(f"there is no file '{file}'; {LOG}")
            if kind.needs == "results":
                raise Usage(f"{name} draws results, and '{file}' is a table such as a packet log; {RESULTS}")
            given.tables.append(file)
        elif path.suffix in (".sqlite", ".db"):
            if not path.exists():
                raise FileNotFoundError(f"there is no file '{file}'")
            given.studies.append(file)
        else:
            given.results.append(Results.read(path))
    if kind.needs == "log" and not given.tables:
        raise Usage(f"{name} draws a packet log, and {', '.join(map(repr, given.options.files[:3]))} "
                    f"{'is none' if len(given.options.files) == 1 else 'are none'}; {LOG}")


def _kind(asked: str) -> str:
    name = asked.replace("_", "-")
    if name in KINDS or name in ALIASES:
        return name
    near = get_close_matches(name, [*KINDS, *ALIASES], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}"
    raise Usage(f"there is no kind '{asked}'; {hint}")


def plot(arguments: Sequence[str]) -> list[Path]:
    """Does what the command line asks; returns the files written."""
    name = _kind(arguments[0])
    options = kind_parser(name).parse_intermixed_args(list(arguments[1:]))
    from .figures.style import FORMATS, check_format, write
    is_text = name == "table"
    outputs = [Path(output) for output in options.output or [f"{name}.{'tex' if is_text else 'png'}"]]
    for output in outputs:
        check_format(output, [".tex"] if is_text else FORMATS)
    given = Input(options)
    _sort_files(given)
    kind = KINDS[ALIASES[name][0] if name in ALIASES else name]
    made = kind.draw(given)
    if isinstance(made, str):
        for output in outputs:
            write_file(output, made)
    else:
        write(made, outputs)
    return outputs


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 1
    try:
        for path in plot(arguments):
            print(path)
    except (OSError, ValueError, NotResults) as error:
        _note(" ".join(str(error).split()))
        return 1
    except ImportError as error:
        _note(how_to_install(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0

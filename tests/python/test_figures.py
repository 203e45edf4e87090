# SPDX-License-Identifier: Apache-2.0
"""Figures show the numbers that they were given, with units, legibly, and the same each time."""
import copy
import doctest
import functools
import importlib
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]

from artists import legend, outside, overlaps, smallest  # noqa: E402
from support import blast, config_of, network_of, run_all, run_logged  # noqa: E402

from flitwarp import figures  # noqa: E402
from flitwarp.apart import SEED, differences, groups, names_of  # noqa: E402
from flitwarp.curve import Curve, Point, curves_of_files, replicas  # noqa: E402
from flitwarp.figures import demo  # noqa: E402
from flitwarp.figures.bars import _arranged  # noqa: E402
from flitwarp.figures.distribution import percentile  # noqa: E402
from flitwarp.figures.maps import COLOUR_MAP  # noqa: E402
from flitwarp.figures.style import COLOURS, covers, look  # noqa: E402
from flitwarp.results import NotResults, Results, UnknownColumn  # noqa: E402

MODULES = ["results", "apart", "table", "curve", "units", "packet_log", "plot"] + [
    f"figures.{name}" for name in ("style", "load", "panels", "distribution", "timeline", "maps", "bars", "demo")]
VCS = (1, 4)
LOADS = (0.1, 0.3, 0.5, 0.9)


@pytest.fixture(scope="module")
def runs():
    """A sweep of a small mesh by the program."""
    configs = [config_of(network_of({"type": "mesh", "widths": [4, 4]}, router={"num_vcs": vcs}),
                         blast(load, flits=2, warmup=500, sample=2000), series_interval=100)
               for vcs in VCS for load in LOADS]
    return [Results(document, f"run{i}.json") for i, document in enumerate(run_all(configs))]


@pytest.fixture(scope="module")
def logged():
    document, packets = run_logged(config_of(network_of({"type": "mesh", "widths": [4, 4]}),
                                             blast(0.2, flits=3, warmup=200, sample=1000)))
    return Results(document), {key: numpy.array([p[key] for p in packets]) for key in packets[0]}


@functools.lru_cache(maxsize=None)
def sweeps(count, seeds=1):
    return demo.curves(count, seeds)


def many(count):
    return [demo.results(0.05 * (i + 1)) for i in range(count)]


def wide_runs():
    return [run for curve in sweeps(4) for run in curve.runs()]


def nonminimal(vcs=2):
    run = copy.deepcopy(demo.results(vcs=vcs))
    run["applications"][0]["minimal_hops"]["mean"] = 3.2
    return Results(run)


KINDS = {
    "load_latency of one curve": lambda **k: figures.load_latency(sweeps(1), **k),
    "load_latency, logarithmic": lambda **k: figures.load_latency(sweeps(1), log="y", **k),
    "load_latency of five curves": lambda **k: figures.load_latency(sweeps(5, seeds=3), **k),
    "load_latency of five curves, logarithmic": lambda **k: figures.load_latency(sweeps(5), log="xy", **k),
    "load_latency of twelve curves": lambda **k: figures.load_latency(sweeps(12), **k),
    "load_latency with percentiles": lambda **k: figures.load_latency(sweeps(3), percentiles=[50, 99], **k),
    "offered_accepted of one curve": lambda **k: figures.offered_accepted(sweeps(1), **k),
    "offered_accepted of five curves": lambda **k: figures.offered_accepted(sweeps(5, seeds=2), **k),
    "load_column": lambda **k: figures.load_column(sweeps(5), "hops.mean", **k),
    "load_column, percent": lambda **k: figures.load_column(sweeps(2), "percent_minimal", **k),
    "latency_pdf of one": lambda **k: figures.latency_pdf(demo.results(), **k),
    "latency_pdf of five": lambda **k: figures.latency_pdf(many(5), **k),
    "latency_pdf, logarithmic": lambda **k: figures.latency_pdf(many(9), log="xy", **k),
    "latency_cdf of one": lambda **k: figures.latency_cdf(demo.results(), **k),
    "latency_cdf of five": lambda **k: figures.latency_cdf(many(5), **k),
    "latency_cdf, logarithmic": lambda **k: figures.latency_cdf(many(5), log="xy", **k),
    "latency_percentile of one": lambda **k: figures.latency_percentile(demo.results(), **k),
    "latency_percentile of five": lambda **k: figures.latency_percentile(many(5), log="y", **k),
    "hop_histogram of one": lambda **k: figures.hop_histogram(demo.results(), **k),
    "hop_histogram of two": lambda **k: figures.hop_histogram([nonminimal(2), nonminimal(4)], **k),
    "time_series": lambda **k: figures.time_series(demo.results(), **k),
    "time_series, logarithmic": lambda **k: figures.time_series(demo.results(), log="y", **k),
    "scatter": lambda **k: figures.scatter(demo.log(3000, 2), results=demo.results(), **k),
    "channel_heatmap": lambda **k: figures.channel_heatmap(demo.results(), **k),
    "channel_heatmap, matrix": lambda **k: figures.channel_heatmap(demo.results(), form="matrix", **k),
    "channel_heatmap, profile": lambda **k: figures.channel_heatmap(demo.results(), form="profile", **k),
    "comparison of loads": lambda **k: figures.comparison(many(4), **k),
    "comparison in groups": lambda **k: figures.comparison(wide_runs(), "accepted_load", by="traffic", **k),
    "panels": lambda **k: figures.panels(figures.load_latency, {"one": sweeps(2), "two": sweeps(3), "three": sweeps(2)[:1]}, **k),
    "jobs": lambda **k: figures.jobs([demo.with_job(seed) for seed in (1, 2, 3)], **k),
    "interference": lambda **k: figures.interference([demo.with_job()], **k),
    "communication_matrix": lambda **k: figures.communication_matrix(demo.matrix(), **k),
    "communication_matrix, logarithmic": lambda **k: figures.communication_matrix(demo.matrix(), log=True, **k),
}


# ---- how all of them look ----


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module):
    failed, tried = doctest.testmod(importlib.import_module(f"flitwarp.{module}"))
    assert failed == 0
    assert tried > 0 or module in ("packet_log", "plot")


@pytest.mark.parametrize("size, width", [("column", 3.4), ("page", 7.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_legible_and_legends_cover_nothing(kind, size, width):
    figure = KINDS[kind](size=size)
    assert figure.get_figwidth() == width
    assert not overlaps(figure)
    assert not outside(figure)
    assert smallest(figure) >= 7
    for ax in figure.axes:
        assert not ax.get_legend() or not covers(ax, ax.get_legend().get_window_extent())


@pytest.mark.parametrize("kind", KINDS)
def test_title_and_labels_can_be_given(kind):
    figure = KINDS[kind](title="A title", x_label="across", y_label="up")
    assert figure._suptitle.get_text() == "A title"
    assert {"across", "up"} <= {label for ax in figure.axes for label in (ax.get_xlabel(), ax.get_ylabel())}
    assert not overlaps(figure) and not outside(figure)


@pytest.mark.parametrize("kind", ["load_latency of one curve", "time_series", "scatter", "channel_heatmap"])
def test_same_data_gives_the_same_bytes(kind, tmp_path):
    written = [figures.save(KINDS[kind](), tmp_path / f"{i}") for i in range(2)]
    assert [path.suffix for path in written[0]] == [".png", ".svg", ".pdf"]
    for first, second in zip(*written):
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 1000
    assert b"CreationDate" not in written[0][2].read_bytes()
    assert b"<dc:date>" not in written[0][1].read_bytes()
    assert b"/Type3" not in written[0][2].read_bytes()  # fonts are whole


def test_nothing_is_left_beside_a_file_that_failed(tmp_path):
    with pytest.raises(ValueError, match="endings are .png, .svg, .pdf"):
        figures.write(KINDS["scatter"](), [tmp_path / "a.png", tmp_path / "a.gif"])
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        figures.write(KINDS["scatter"](), [tmp_path / "none" / "a.png"])
    (tmp_path / "a.pdf").mkdir()
    with pytest.raises(OSError):
        figures.write(KINDS["scatter"](), [tmp_path / "a.pdf"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]


def test_size_in_inches_is_kept_to():
    figure = figures.load_latency(demo.curves(5), size=(4.5, 2.0))
    assert tuple(figure.get_size_inches()) == (4.5, 2.0)


@pytest.mark.parametrize("wrong, message", [({"size": "poster"}, "size 'poster'"), ({"legend": "nowhere"}, "no place"),
                                            ({"log": "z"}, "expected x, y or xy")])
def test_wrong_layout_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        figures.offered_accepted(demo.curves(1), **wrong)


def test_legend_can_be_placed_or_left_out():
    assert figures.offered_accepted(demo.curves(2), legend="none").axes[0].get_legend() is None
    figure = figures.offered_accepted(demo.curves(2), legend="right")
    figure.draw_without_rendering()
    ax = figure.axes[0]
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert not outside(figure)


def test_twenty_curves_look_different():
    looks = [look(i, 20) for i in range(20)]
    assert len({(style["color"], style["marker"], str(style["linestyle"])) for style in looks}) == 20
    assert len({style["color"] for style in looks}) == 20


# ---- over load ----


def lines_of(ax):
    """Those with a label in the legend and points in them."""
    return [line for line in ax.lines if not line.get_label().startswith("_") and len(line.get_xdata())]


def test_latency_ends_at_saturation(runs):
    curves = curves_of_files(runs)
    assert [curve.label for curve in curves] == ["num_vcs 1", "num_vcs 4"]
    ax = figures.load_latency(curves).axes[0]
    drawn = lines_of(ax)
    assert [line.get_label() for line in drawn] == ["num_vcs 1", "num_vcs 4"]
    for line, curve in zip(drawn, curves):
        assert list(line.get_xdata()) == [p.x for p in curve.stable()]
        assert list(line.get_ydata()) == pytest.approx([p.mean("packet_latency.mean") for p in curve.stable()])
        marks = [l for l in ax.lines if l.get_gid() == "saturation" and l.get_color() == line.get_color()]
        assert [list(l.get_xdata()) for l in marks] == [[curve.saturation()] * 2]
    assert legend(ax)[-1] == "saturated"
    assert ax.get_xlabel() == "offered load (flits/terminal/cycle)"
    assert ax.get_ylabel() == "mean packet latency (ns)"


def test_bands_lie_in_order(runs):
    ax = figures.load_latency(curves_of_files(runs[:4]), percentiles=[99, 50, 99.9, 90]).axes[0]
    bands = {band.get_label(): band.get_paths()[0].vertices for band in ax.collections}
    assert list(bands) == ["p99 to p99.9", "p90 to p99", "p50 to p90"]
    tops = [vertices[:, 1].max() for vertices in bands.values()]
    assert tops == sorted(tops, reverse=True)
    stable = curves_of_files(runs[:4])[0].stable()
    assert tops[0] == max(p.mean("packet_latency.p99.9") for p in stable)
    assert bands["p50 to p90"][:, 1].min() == min(p.mean("packet_latency.p50") for p in stable)


def test_several_curves_have_their_percentiles_as_lines():
    ax = figures.load_latency(demo.curves(2), percentiles=[99]).axes[0]
    assert {"mean", "p99"} <= set(legend(ax))
    assert not [band for band in ax.collections if band.get_label().startswith("p")]


@pytest.mark.parametrize("draw, column", [(functools.partial(figures.load_latency, percentiles=()), "packet_latency.mean"), (figures.offered_accepted, "accepted_load"),
                                          (figures.load_column, "packet_latency.mean"), (figures.load_column, "accepted_load")])
def test_no_bar_of_an_interval_is_cut_off(draw, column):
    """Seeds that lie far apart, at the highest point of the figure."""
    (curve,) = copy.deepcopy(demo.curves(1, seeds=3))
    curve.points = last = curve.points[:3]
    for run, factor in zip(last[-1].runs, (0.8, 1.0, 1.2)):
        for block in run["applications"]:
            block["accepted_load"] *= factor
            block["packet_latency"] = {key: factor * value for key, value in block["packet_latency"].items()}
    figure = draw([curve], column) if draw is figures.load_column else draw([curve])
    assert figure.axes[0].get_ylim()[1] > last[-1].mean(column) + last[-1].ci95(column)


def test_bars_are_the_interval_over_seeds():
    curve = demo.curves(2, seeds=3)[0]
    ax = figures.load_latency(demo.curves(2, seeds=3)).axes[0]
    segments = ax.containers[0].lines[2][0].get_segments()
    drawn = 0
    for point, segment in zip(curve.stable(), segments):
        if point.mean("packet_latency.mean") <= ax.get_ylim()[1]:  # beyond the axis there are none
            assert (segment[1][1] - segment[0][1]) / 2 == pytest.approx(point.ci95("packet_latency.mean"))
            drawn += 1
    assert drawn >= 2


def test_latency_that_is_not_there_is_refused():
    with pytest.raises(UnknownColumn, match="transaction_latency"):
        figures.load_latency(demo.curves(1), latency="transaction")


def test_other_latencies_and_percentiles_can_be_chosen(runs):
    curves = curves_of_files(runs)
    ax = figures.load_latency(curves, latency="network").axes[0]
    assert ax.get_ylabel() == "mean network latency (ns)"
    assert lines_of(ax)[0].get_ydata()[0] == curves[0].points[0].mean("network_latency.mean")
    ax = figures.load_latency(curves[:1], percentiles=[95, 97]).axes[0]  # only the histogram knows them
    assert "p95 to p97" in legend(ax)


def test_a_curve_that_is_all_saturated_shows_its_mark_only():
    full = [demo.results(0.9), demo.results(1.0)]
    with pytest.raises(ValueError, match="no stable point"):
        figures.load_latency(curves_of_files(full))
    curves = curves_of_files([demo.results(0.1), demo.results(0.3), demo.results(0.9, vcs=4)])
    assert legend(figures.load_latency(curves).axes[0]) == ["num_vcs 2", "num_vcs 4", "saturated"]


def test_any_network_is_drawn_with_what_its_channels_carry():
    document = run_all([config_of(network_of({"type": "dragonfly", "terminals": 1, "routers": 2, "global": 1}, routing="minimal", router={"num_vcs": 3}),
                                  blast(0.2, warmup=100, sample=500), per_channel=True)])[0]
    figure = figures.channel_heatmap(Results(document))
    lines = next(c for c in figure.axes[0].collections if len(c.get_array()))
    listed = sorted(row[3] for row in document["channels"]["list"])
    assert list(lines.get_array()) == pytest.approx(listed)  # every channel, the busiest on top
    router, _, target, busy = max(document["channels"]["list"], key=lambda row: row[3])
    names = "\n".join(text.get_text() for text in figure.axes[0].texts).splitlines()
    kind = "local" if router // 2 == target // 2 else "global"
    assert f"{router} \N{RIGHTWARDS ARROW} {target}  {kind}  {busy:.2f}" in names
    places = figure.axes[0].lines[0].get_xydata()
    ends = {tuple(lines.get_paths()[i].vertices[0].round(1)) for i in range(len(listed))}
    assert ends == {tuple(place) for place in places.round(1)}  # each half of a link begins at its router


def test_lines_of_panels_look_alike_and_share_axes():
    figure = figures.panels(figures.load_latency, {"all": sweeps(3), "one": sweeps(3)[2:]})
    left, right = figure.axes
    colour = {line.get_label(): line.get_color() for line in lines_of(left)}
    assert [line.get_color() for line in lines_of(right) if len(line.get_xdata())] == [colour[sweeps(3)[2].label]]
    assert left.get_ylim() == right.get_ylim() and left.get_xlim() == right.get_xlim()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*(curve.label for curve in sweeps(3)), "saturated"]


def test_accepted_load_goes_past_saturation(runs):
    ax = figures.offered_accepted(curves_of_files(runs)).axes[0]
    line = lines_of(ax)[0]
    assert list(line.get_xdata()) == [run.value("offered_load") for run in runs[:4]]
    assert list(line.get_ydata()) == [run.value("accepted_load") for run in runs[:4]]


def test_replies_are_offered_and_accepted_too():
    runs = []
    for load in (0.1, 0.2):
        run = demo.results(load)
        run["applications"][0].update(transactions=100, offered_load=6 * load, accepted_load=6 * load)
        runs.append(run)
    ax = figures.offered_accepted(curves_of_files(runs)).axes[0]
    assert list(lines_of(ax)[0].get_xdata()) == pytest.approx([0.6, 1.2]) and ax.get_ylim()[1] > 1.2
    assert figures.load_latency(curves_of_files(runs)).axes[0].get_xlabel().startswith("offered load of requests")


def test_accepted_load_over_time_counts_channel_cycles():
    run = demo.results(0.3)
    run["config"]["simulator"]["tick"] = "2ns"
    plain = figures.time_series(run).axes[1].lines[0].get_ydata()
    run["config"]["network"].setdefault("terminal_channel", {})["cycle"] = "4ns"  # two ticks: twice the flits a cycle
    assert numpy.nanmax(figures.time_series(run).axes[1].lines[0].get_ydata()) == pytest.approx(2 * numpy.nanmax(plain))


def test_any_column_over_load(runs):
    curves = curves_of_files(runs)
    ax = figures.load_column(curves, "channels.utilisation.max").axes[0]
    assert ax.get_ylabel() == "maximum channel utilisation"
    assert list(lines_of(ax)[0].get_ydata()) == [run.value("channels.utilisation.max") for run in runs[:4]]
    assert len(lines_of(figures.load_column(curves, "packet_latency.p99").axes[0])[0].get_xdata()) < len(LOADS)
    ax = figures.load_column(demo.curves(1), "percent_minimal").axes[0]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(100 - 100 * 0.02 * 0.05)
    with pytest.raises(UnknownColumn, match="did you mean hops.mean"):
        figures.load_column(curves, "hops.men")
    with pytest.raises(UnknownColumn, match="no number"):
        figures.load_column(curves, "name")


def test_ticks_become_the_unit_of_the_configuration():
    def ticking(tick):
        run = copy.deepcopy(demo.results(0.1))
        run["config"]["simulator"]["tick"] = tick
        return Results(run)

    mean = demo.results(0.1).value("packet_latency.mean")
    for tick, unit, asked, factor in (("1ns", "ns", None, 1), ("100ps", "ps", None, 100), ("500ps", "ns", None, 0.5),
                                      ("500ps", "ps", "ps", 500),
                                      ("2us", "µs", None, 2), ("1ns", "ticks", "ticks", 1)):
        ax = figures.load_latency(curves_of_files([ticking(tick)]), percentiles=[], unit=asked).axes[0]
        assert ax.get_ylabel() == f"mean packet latency ({unit})"
        assert ax.lines[0].get_ydata()[0] == pytest.approx(mean * factor)
    with pytest.raises(ValueError, match="no unit of time"):
        figures.load_latency(demo.curves(1), unit="weeks")


# ---- distributions ----


def test_density_sums_to_one():
    run = demo.results(0.5)
    ax = figures.latency_pdf(run, log="y").axes[0]
    values, edges, _ = ax.patches[-1].get_data()
    assert sum(values * numpy.diff(edges)) == pytest.approx(1)


def test_distribution_is_that_of_the_results(runs):
    line = figures.latency_cdf(runs[0]).axes[0].lines[0]
    shares = line.get_ydata()
    assert shares[0] == 0 and shares[-1] == 1 and (numpy.diff(shares) >= 0).all()
    assert (numpy.diff(line.get_xdata()) >= 0).all()
    rows = runs[0].latency_distribution()
    assert shares[4] == pytest.approx(rows[:4, 2].sum() / rows[:, 2].sum()) and line.get_xdata()[4] == rows[3, 1]
    assert line.get_xdata()[-1] == runs[0].value("packet_latency.max")


@pytest.mark.parametrize("name", ["p50", "p90", "p99", "p99.9"])
def test_percentiles_are_those_of_the_results(runs, name):
    for run in runs[:4]:
        line = figures.latency_percentile(run).axes[0].lines[0]
        drawn = numpy.interp(float(name[1:]) - 1e-9, line.get_xdata(), line.get_ydata())
        listed = run.value(f"packet_latency.{name}")
        assert listed * 0.996 <= drawn <= listed * 1.004  # half a bucket's width; exact below 256
        stripped = copy.deepcopy(run)
        del stripped["applications"][0]["packet_latency"][name]
        assert percentile(stripped, float(name[1:])) == pytest.approx(listed, rel=0.008)


def test_seeds_are_added_up():
    seeds = [demo.results(0.3, seed=seed) for seed in (1, 2)]
    assert [(label, len(group)) for label, group in replicas(seeds)] == [("blast", 2)]
    assert len(figures.latency_cdf(seeds).axes[0].lines) == 1
    assert len(figures.latency_cdf(many(3)).axes[0].lines) == 3
    assert legend(figures.latency_cdf(many(2)).axes[0]) == ["load 0.05", "load 0.1"]
    assert legend(figures.latency_cdf(many(2), labels=["calm", "busy"]).axes[0]) == ["calm", "busy"]


def test_saturated_runs_are_named_and_do_not_stretch_the_axis():
    calm, full = demo.results(0.1), demo.results(0.9)
    ax = figures.latency_cdf([calm, full]).axes[0]
    assert legend(ax) == ["load 0.1", "load 0.9 (saturated)"]
    assert ax.get_xlim() == figures.latency_cdf(calm).axes[0].get_xlim()


def test_only_packets_have_a_distribution():
    with pytest.raises(UnknownColumn, match="no distribution of network latency"):
        figures.latency_pdf(demo.results(), latency="network")
    empty = copy.deepcopy(demo.results())
    empty["applications"][0]["latency_distribution"] = []
    with pytest.raises(ValueError, match="no sampled packet arrived"):
        figures.latency_cdf(Results(empty))
    with pytest.raises(ValueError, match="no results were given"):
        figures.latency_cdf([])


def test_hops_are_shares_side_by_side():
    ax = figures.hop_histogram([nonminimal(2), nonminimal(4)]).axes[0]
    assert sum(bar.get_height() for bar in ax.containers[0]) == pytest.approx(1)
    assert len(ax.containers) == 2
    assert legend(ax) == ["mean minimal hops", "num_vcs 2", "num_vcs 4"]
    without = copy.deepcopy(demo.results())
    del without["applications"][0]["hop_distribution"]
    with pytest.raises(UnknownColumn, match="no hop_distribution"):
        figures.hop_histogram(Results(without))


# ---- over time ----


def test_series_and_phases(runs):
    run = runs[0]
    figure = figures.time_series(run)
    above, below = figure.axes
    series = run.series()
    assert list(above.lines[0].get_xdata()) == list(series["time"])
    assert above.get_ylabel() == "packet latency (ns)" and below.get_xlabel() == "time (ns)"
    accepted = below.lines[0].get_ydata()
    assert accepted[10] == pytest.approx(series["flits_accepted"][10] / 100 / 16)
    assert [text.get_text() for text in above.texts] == ["warming", "generating", "finishing", "draining"]
    borders = [line.get_xdata()[0] for line in above.lines if line.get_gid() == "background"]
    assert borders == [run["applications"][0]["phases"][name] for name in ("generating", "finishing", "draining")]
    assert not overlaps(figure)


@pytest.mark.parametrize("phases", [(0, 20, 5960, 5980), (0, 2900, 2950, 3000), (0, 0, 10, 20)])
@pytest.mark.parametrize("size", ["column", "page"])
def test_names_of_narrow_phases_stand_apart(phases, size):
    run = copy.deepcopy(demo.results())
    run["applications"][0]["phases"] = dict(zip(("warming", "generating", "finishing", "draining"), phases))
    run["applications"].append({**run["applications"][0], "name": "another application with a long name"})
    figure = figures.time_series(Results(run), size=size, title="A title")
    assert not overlaps(figure) and not outside(figure)


def test_long_times_take_a_larger_unit():
    run = copy.deepcopy(demo.results())
    run["applications"][0]["series"]["interval"] = 1000
    assert figures.time_series(Results(run)).axes[1].get_xlabel() == "time (µs)"


def test_no_series_says_what_to_set():
    run = copy.deepcopy(demo.results())
    del run["applications"][0]["series"]
    with pytest.raises(UnknownColumn, match="set workload.series_interval"):
        figures.time_series(Results(run))


def test_every_packet_is_a_dot(logged):
    run, log = logged
    ax = figures.scatter(log, results=run).axes[0]
    dots = ax.collections[0].get_offsets()
    assert len(dots) == len(log["created"])
    assert dots[5][1] == log["tail_arrived"][5] - log["created"][5]
    assert ax.collections[0].get_rasterized()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time of creation (ns)", "packet latency (ns)")
    ax = figures.scatter(log, "hops", "network_latency").axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hops", "network latency (ticks)")
    with pytest.raises(UnknownColumn, match="did you mean created"):
        figures.scatter(log, "creatd")
    with pytest.raises(ValueError, match="how long a tick is"):
        figures.scatter(log, unit="ns")
    with pytest.raises(ValueError, match="no packet of application 7"):
        figures.scatter(log, application=7)


def test_large_logs_are_sampled_evenly_and_say_so():
    figure = figures.scatter(demo.log(450_000), results=demo.results())
    dots = figure.axes[0].collections[0].get_offsets()
    assert len(dots) == 200_000
    gaps = numpy.diff(dots[:, 0])
    assert gaps.max() <= 2 * gaps.min() + 1e-9 or gaps.max() / gaps.min() <= 1.6
    assert figure.axes[0].get_title(loc="right") == "200,000 of 450,000 packets, evenly spaced"
    assert not overlaps(figure)


# ---- maps ----


def test_colours_are_the_utilisation_of_the_channel():
    run = demo.results()
    figure = figures.channel_heatmap(run)
    arrows = figure.axes[0].collections[0]
    shown = sorted(set(numpy.round(arrows.get_array(), 6)))
    assert shown == sorted({round(row[3], 6) for row in run["channels"]["list"]})
    # Of 256 channels of an 8x8 torus 32 go around an edge, and are drawn at both ends.
    assert len(arrows.get_array()) == 256 + 32
    figure.draw_without_rendering()
    arrows.update_scalarmappable()
    import matplotlib
    busiest = int(numpy.argmax(arrows.get_array()))
    assert tuple(arrows.get_facecolor()[busiest]) == matplotlib.colormaps[COLOUR_MAP](1.0)
    assert figure.axes[1].get_ylabel() == "channel utilisation"


def arrow_at(figure, begin, end):
    """The colour value of the arrow that leads from one router to another."""
    for path, value in zip(figure.axes[0].collections[0].get_paths(), figure.axes[0].collections[0].get_array()):
        tip = path.vertices[3]
        if numpy.hypot(*(tip - end)) < 0.25 and numpy.dot(tip - path.vertices[:-1].mean(axis=0), numpy.array(end) - begin) > 0.1:
            return value
    raise AssertionError("no such arrow")


def test_an_arrow_points_where_its_channel_leads():
    run = demo.results()
    figure = figures.channel_heatmap(run)
    for router, port, target, busy in run["channels"]["list"][36:60:7]:
        begin, end = run["channels"]["coordinates"][router], run["channels"]["coordinates"][target]
        if max(abs(begin[0] - end[0]), abs(begin[1] - end[1])) == 1:
            assert arrow_at(figure, begin, end) == pytest.approx(busy)


def test_networks_without_a_grid_are_a_matrix_or_a_profile():
    run = copy.deepcopy(demo.results())
    del run["channels"]["coordinates"]
    image = figures.channel_heatmap(Results(run), form="matrix").axes[0].images[0].get_array()
    assert image.shape == (64, 4)
    for router, port, _, busy in run["channels"]["list"][::37]:
        assert image[router, port - 1] == busy
    with pytest.raises(ValueError, match="cannot be drawn"):
        figures.channel_heatmap(Results(run), form="drawing")
    other = Results({**run, "config": {"network": {"topology": {"type": "of a plugin"}}}})  # which the program does not know
    assert len(figures.channel_heatmap(other).axes[0].images) == 1
    with pytest.raises(ValueError, match="its network cannot be drawn"):
        figures.channel_heatmap(other, form="picture")
    profile = figures.channel_heatmap(Results(run), form="profile").axes[0].lines[0].get_ydata()
    assert len(profile) == 256 and (numpy.diff(profile) <= 0).all()
    del run["channels"]["list"]
    with pytest.raises(UnknownColumn, match="set workload.per_channel"):
        figures.channel_heatmap(Results(run))


def ring(width):
    rows = [[i, port, (i + step) % width, 0.1 * (i + port)] for i in range(width) for port, step in ((1, 1), (2, -1))]
    run = copy.deepcopy(demo.results())
    run["channels"].update(list=rows, coordinates=[[i] for i in range(width)])
    return Results(run)


@pytest.mark.parametrize("width", [2, 3, 8])
def test_a_ring_is_drawn_as_a_row(width):
    for size in ("column", "page"):
        figure = figures.channel_heatmap(ring(width), size=size)
        assert len(figure.axes[0].collections[0].get_array()) == 2 * width + 2
        assert not overlaps(figure) and not outside(figure)


def test_matrix_is_that_of_the_log(logged, tmp_path):
    _, log = logged
    matrix = demo.matrix()
    image = figures.communication_matrix(matrix, "packets").axes[0].images[0].get_array()
    assert image[0, 1] == 900 and numpy.ma.is_masked(image[3, 3]) or math.isnan(image[3, 3])
    figure = figures.communication_matrix(matrix, "latency", results=demo.results())
    assert figure.axes[1].get_ylabel() == "mean packet latency (ns)"
    with pytest.raises(UnknownColumn, match="there are flits, packets, latency"):
        figures.communication_matrix(matrix, "bytes")
    with pytest.raises(ValueError, match="no packet"):
        figures.communication_matrix({key: values[:0] for key, values in matrix.items()})


def test_packet_log_and_matrix_are_read(logged, tmp_path):
    from flitwarp import packet_log
    _, log = logged
    path = tmp_path / "log.csv"
    names = list(log)
    path.write_text(",".join(names) + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*log.values())) + "\n")
    subprocess.run(["zstd", "-q", str(path)], check=True)
    for file in (path, tmp_path / "log.csv.zst"):
        assert all((packet_log.read(file)[name] == log[name]).all() for name in names)
        matrix = packet_log.matrix(file)
        assert matrix["count"].sum() == len(log["source"])
        assert matrix["flits"].sum() == log["packet_flits"].sum()
        here = (log["source"] == matrix["source"][3]) & (log["destination"] == matrix["destination"][3])
        assert matrix["count"][3] == here.sum()
        assert matrix["latency"][3] == pytest.approx((log["tail_arrived"] - log["created"])[here].mean(), abs=0.01)
    table = tmp_path / "matrix.csv"
    table.write_text("source,destination,count,flits,mean_latency\n0,1,5,20,13.5\n1,0,2,8,11\n")
    assert list(packet_log.matrix(table)["latency"]) == [13.5, 11]
    with pytest.raises(packet_log.NotLog, match="it is a communication matrix"):
        packet_log.read(table)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(packet_log.NotLog, match="neither a packet log nor"):
        packet_log.matrix(tmp_path / "other.csv")
    (tmp_path / "bad.csv.zst").write_text("not compressed")
    with pytest.raises(packet_log.NotLog, match="no packet log"):
        packet_log.read(tmp_path / "bad.csv.zst")


# ---- bars ----


def test_bars_are_grouped(runs):
    stable = [run for run in runs if run.value("target_load") in (0.1, 0.3)]
    ax = figures.comparison(stable).axes[0]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.1", "0.3"]
    assert ax.get_xlabel() == "load" and ax.get_ylabel() == "mean packet latency (ns)"
    bars = [c for c in ax.containers if len(c) and hasattr(c[0], "get_height")]
    assert [bar.get_height() for bar in bars[0]] == pytest.approx(
        [run.value("packet_latency.mean") for run in stable[:2] if not run.saturated])
    assert [text.get_text() for text in figures.comparison(stable, by="num_vcs").axes[0].get_xticklabels()] == ["1", "4"]
    with pytest.raises(UnknownColumn, match="did you mean num_vcs"):
        figures.comparison(stable, by="num_vc")


def test_bars_need_as_many_labels():
    with pytest.raises(ValueError, match="1 labels for 2 bars: 0.05; 0.1"):
        figures.comparison(many(2), labels=["one"])


def test_saturated_bars_are_crosses():
    ax = figures.comparison([demo.results(0.1), demo.results(0.9)]).axes[0]
    cross = next(line for line in ax.lines if line.get_marker() == "x")
    assert list(cross.get_xdata()) == [1]
    with pytest.raises(ValueError, match="no stable point"):
        figures.comparison([demo.results(0.9)])


# ---- labels ----


def test_labels_name_what_differs():
    labels = [curve.label for curve in demo.curves(4)]
    assert labels == ["num_vcs 2, traffic uniform random", "num_vcs 2, traffic tornado",
                      "num_vcs 4, traffic uniform random", "num_vcs 4, traffic tornado"]


def test_curves_come_in_the_order_of_their_numbers():
    documents = [demo.results(0.1, vcs=vcs) for vcs in (16, 2, 8)]
    assert [curve.label for curve in curves_of_files(documents)] == ["num_vcs 2", "num_vcs 8", "num_vcs 16"]


def test_keys_of_other_types_are_no_difference():
    first = {"traffic": {"type": "hotspot", "share": 0.1}, "x": 1}
    assert differences([first, {"traffic": {"type": "tornado"}, "x": 1}]) == ["traffic.type"]
    assert differences([first, {"traffic": {"type": "hotspot", "share": 0.2}, "x": 1}]) == ["traffic.share"]


def drawn_config(rng):
    """Settings as components have them: types with keys of their own, lists, numbers that look alike, keys left out."""
    topology = rng.choice([{"type": "torus", "widths": rng.choice([[8, 8], [16, 16]])}, {"type": "cube", "dimensions": 6},
                           {"type": "file", "edges": rng.choice([list(range(9)), list(range(1, 10))])}, {"type": "torus"}])
    application = {"type": "blast", "load": rng.choice([0.1, 0.2]),
                   "traffic": rng.choice([{"type": "uniform"}, {"type": "mix", "of": {"type": "uniform"}},
                                          {"type": "mix", "of": {"type": "hotspot", "share": rng.choice([0.1, 0.10000001])}}])}
    config = {"simulator": {"seed": rng.randrange(3)}, "network": {"topology": topology},
              "workload": {"applications": [application] * rng.choice([1, 1, 2])}}
    for key, values in (("a", (None, 1, True, "on", "1")), ("b", ({}, [], 0.5)), ("c", ("x_y", "x y"))):
        if rng.random() < 0.3:
            config["network"][key] = rng.choice(values)
    return config


def test_only_repetitions_are_merged():
    for number in range(60):
        rng = random.Random(number)
        configs = [drawn_config(rng) for _ in range(rng.randrange(2, 12))]
        measured = {json.dumps(config): {"mean": rng.random()} for config in configs}  # one run, one result
        runs = [Results({"flitwarp": {}, "config": config, "applications": [
            {"name": "blast", "target_load": config["workload"]["applications"][0]["load"], "packet_latency": measured[json.dumps(config)]}]},
            f"{i}.json") for i, config in enumerate(configs)]

        def expected():
            found = {}
            for run in runs:
                config = copy.deepcopy(run["config"])
                del config["simulator"]["seed"]
                found.setdefault(json.dumps(config), set()).add(run["config"]["simulator"]["seed"])
            return sorted(sorted(seeds) for seeds in found.values())

        def seeds_of(sets):
            return sorted(sorted(run["config"]["simulator"]["seed"] for run in same) for same in sets)

        found = groups(runs)
        assert seeds_of(same for _, same in found) == expected(), number
        assert len({label for label, _ in found}) == len(found), number
        curves = curves_of_files(runs)
        assert seeds_of(p.runs for curve in curves for p in curve.points) == expected(), number
        assert len({curve.label for curve in curves}) == len(curves), number
        for by in (None, *({"load", "topology"} & set(names_of(differences(configs, [SEED])).values()))):
            _, _, bars, cells = _arranged(runs, by)
            assert seeds_of(point.runs for point in cells.values()) == expected(), number
            assert len(set(bars)) == len(bars), number


def test_a_run_counts_once_and_one_seed_has_no_interval():
    assert [len(p.runs) for p in curves_of_files([demo.results(0.3), demo.results(0.3)])[0].points] == [1]
    other = demo.results(0.3)
    other["applications"] = [{**other["applications"][0], "packets": 1}]
    with pytest.raises(ValueError, match="the same settings and seed, and different results"):
        curves_of_files([demo.results(0.3), other])
    assert not figures.load_latency(demo.curves(2)).axes[0].containers  # no bars, and no ends of bars
    assert not [bar for bar in figures.comparison(many(3)).axes[0].containers if hasattr(bar, "has_yerr")]


def test_another_axis_than_load():
    points = [Point(float(vcs), [demo.results(0.3, vcs=vcs)]) for vcs in (2, 4)]
    ax = figures.load_latency([Curve("torus", points, x="config.network.router.num_vcs")], percentiles=[]).axes[0]
    assert ax.get_xlabel() == "num_vcs"
    assert list(lines_of(ax)[0].get_xdata()) == [2, 4]


def test_colours_are_those_of_okabe_and_ito():
    assert COLOURS[0] == "#0072B2" and len(set(COLOURS)) == 7


def test_a_configuration_is_no_results():
    with pytest.raises(NotResults, match="run it with flitwarp run"):
        Results({"network": {}})

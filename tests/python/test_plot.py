# SPDX-License-Identifier: Apache-2.0
"""flitwarp-plot: every kind from files, every option, and every message when something is wrong."""
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]

from artists import legend, outside, overlaps  # noqa: E402
from made_study import make_study  # noqa: E402
from support import PROGRAM, blast, config_of, network_of  # noqa: E402

import flitwarp.figures.style  # noqa: E402
from flitwarp import apart, figures, plot  # noqa: E402
from flitwarp.curve import half_width  # noqa: E402
from flitwarp.figures import demo  # noqa: E402

COMMAND = ROOT / "bin" / "flitwarp-plot"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files by name: a sweep of two networks, one run, its log, a matrix."""
    folder = tmp_path_factory.mktemp("files")
    made = {"folder": folder, "sweep": [], "seeds": []}

    def write(name, document):
        path = folder / name
        path.write_text(json.dumps(document))
        return str(path)

    for vcs in (2, 4):
        for load in (0.1, 0.3, 0.5, 0.9):
            made["sweep"].append(write(f"sweep_{vcs}_{load}.json", demo.results(load, vcs)))
    for seed in (1, 2, 3):
        made["seeds"].append(write(f"seed_{seed}.json", demo.results(0.3, 2, seed)))
    made["jobs"] = [write(f"job_{seed}.json", demo.with_job(seed)) for seed in (1, 2)]
    made["run"] = write("run.json", demo.results())
    made["full"] = write("full.json", demo.results(0.9))
    older = copy.deepcopy(demo.results(0.2))
    older["flitwarp"]["version"] = "0.0.9"
    made["older"] = write("older.json", older)
    bare = copy.deepcopy(demo.results())
    for key in ("series", "hop_distribution"):
        del bare["applications"][0][key]
    del bare["channels"]["list"]
    made["bare"] = write("bare.json", bare)
    cut = copy.deepcopy(demo.results())
    cut.update(complete=False, outcome="interrupted")
    made["cut"] = write("cut.json", cut)
    config = config_of(network_of({"type": "mesh", "widths": [4, 4]}), blast(0.2, flits=3, warmup=200, sample=1000))
    made["config"] = write("config.json", config)
    made["logged"] = str(folder / "logged.json")
    for name in ("log.csv", "log.csv.zst"):
        made[name] = str(folder / name)
        subprocess.run([PROGRAM, "run", made["config"], "--quiet", "--results", made["logged"], "--log", made[name]], check=True)
    made["matrix"] = str(folder / "matrix.csv")
    Path(made["matrix"]).write_text("source,destination,count,flits,packet_latency_mean\n0,1,3,9,14.5\n1,0,1,3,12\n")
    made["empty"] = str(folder / "empty.csv")
    Path(made["empty"]).write_text(Path(made["log.csv"]).read_text().splitlines()[0] + "\n")
    made["table"] = str(folder / "table.csv")
    Path(made["table"]).write_text("a,b\n1,2\n")
    made["text"] = str(folder / "text.json")
    Path(made["text"]).write_text("hello")
    made["list"] = write("list.json", [1, 2])
    made["study"] = str(folder / "a" / "study.sqlite")
    make_study(made["study"], {"VCs": [2, 4], "kind": ["a", "b"]})
    made["fake"] = str(folder / "fake.sqlite")
    Path(made["fake"]).write_text("no database, but longer than the header of one " * 9)
    made["nothing"] = str(folder / "nothing.json")
    Path(made["nothing"]).write_text("")
    return made


@pytest.fixture
def drawn(monkeypatch):
    """What was drawn instead of written."""
    caught = []
    monkeypatch.setattr(flitwarp.figures.style, "write", lambda figure, paths: caught.append((figure, paths)))
    return caught


def named(files, arguments):
    """Arguments with the names of files in place of {name}; those of several are spread."""
    found = []
    for argument in arguments:
        value = files[argument[1:-1]] if argument.startswith("{") else argument
        found += value if isinstance(value, list) else [str(value)]
    return found


COMMANDS = [
    ["load-latency", "{sweep}"],
    ["load-latency", "{sweep}", "--percentiles", "p50,99", "--log", "y"],
    ["load-latency", "{seeds}", "--percentiles", "none"],
    ["offered-accepted", "{sweep}", "--legend", "lower-right"],
    ["load-column", "{sweep}", "--column", "hops.mean"],
    ["load-average-hops", "{sweep}"],
    ["load-percent-minimal", "{sweep}"],
    ["throughput", "{study}"],
    ["latency-pdf", "{run}"],
    ["latency-cdf", "{sweep}", "--log", "xy"],
    ["latency-percentile", "{run}", "{full}", "--log", "y"],
    ["hop-histogram", "{run}", "{full}"],
    ["time-series", "{run}"],
    ["scatter", "{log.csv}"],
    ["scatter", "{log.csv.zst}", "{logged}", "--x", "hops", "--y", "network_latency", "--application", "blast"],
    ["channel-heatmap", "{run}", "--limits", "0,1"],
    ["channel-heatmap", "{run}", "--form", "profile"],
    ["comparison", "{sweep}", "--column", "accepted_load"],
    ["comparison", "{seeds}", "{full}"],
    ["comparison", "{study}", "--by", "kind", "--lines", "VCs", "--lines", "load"],
    ["jobs", "{jobs}"],
    ["jobs", "{jobs}", "--column", "completion_time", "--unit", "us"],
    ["interference", "{jobs}"],
    ["communication-matrix", "{log.csv}", "--value", "packets"],
    ["communication-matrix", "{log.csv.zst}", "{logged}", "--value", "latency", "--log"],
    ["communication-matrix", "{matrix}", "--value", "latency"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: " ".join(a))
def test_every_kind_by_command(files, drawn, arguments, capsys):
    for size, name in (("column", arguments[0]), ("page", arguments[0].replace("-", "_"))):
        assert plot.main([name, *named(files, arguments[1:]), "--size", size]) == 0, capsys.readouterr().err
        figure, outputs = drawn[-1]
        assert outputs == [Path(f"{arguments[0]}.png")]
        assert not overlaps(figure) and not outside(figure)


def test_every_kind_is_tried():
    assert {*(arguments[0] for arguments in COMMANDS), "table"} == {*plot.KINDS, *plot.ALIASES}
    assert set(plot.KINDS) - {"table"} == {name.replace("_", "-") for name in figures.__all__
                                           if name not in ("Layout", "panels", "save", "write")}


def test_command_writes_files_that_repeat(files, tmp_path):
    arguments = [str(COMMAND), "load-latency", *files["sweep"]]
    subprocess.run([*arguments, "-o", "a.png", "-o", "a.pdf", "-o", "a.svg"], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    ended = subprocess.run([*arguments, "-o", "b.png", "--output", "b.pdf", "-o", "b.svg"], cwd=tmp_path, check=True,
                           capture_output=True, text=True)
    assert ended.stdout == "b.png\nb.pdf\nb.svg\n" and ended.stderr == ""
    for suffix in ("png", "pdf", "svg"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 6
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    subprocess.run([*arguments], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert (tmp_path / "load-latency.png").exists()


def test_help_lists_kinds_and_options(capsys):
    assert plot.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in plot.KINDS)
    assert plot.main([]) == 1
    for name in (*plot.KINDS, *plot.ALIASES):
        with pytest.raises(SystemExit) as ended:
            plot.main([name, "--help"])
        assert ended.value.code == 0
        assert "--output" in capsys.readouterr().out


def draw(drawn, files, *arguments):
    assert plot.main(named(files, arguments)) == 0
    return drawn[-1][0]


def test_options_reach_the_figure(files, drawn):
    figure = draw(drawn, files, "load-latency", "{sweep}", "--title", "T", "--x-label", "X", "--y-label", "Y", "--xlim",
                  "0,0.6", "--ylim", ",99", "--size", "5x3", "--log", "x", "--linear")
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel(), figure._suptitle.get_text()) == ("X", "Y", "T")
    assert ax.get_xlim() == (0, 0.6) and ax.get_ylim()[1] == 99
    assert tuple(figure.get_size_inches()) == (5, 3) and ax.get_xscale() == "linear"
    ax = draw(drawn, files, "load-latency", "{sweep}", "--log", "xy", "--unit", "ticks", "--latency", "network").axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_ylabel() == "mean network latency (ticks)"
    assert draw(drawn, files, "load-latency", "{sweep}", "--legend", "none").axes[0].get_legend() is None
    assert draw(drawn, files, "time-series", "{run}", "--unit", "us").axes[1].get_xlabel() == "time (µs)"


def test_curves_are_renamed(files, drawn):
    assert legend(draw(drawn, files, "load-latency", "{sweep}", "--label", "few", "--label", "many").axes[0])[:2] \
        == ["few", "many"]
    assert legend(draw(drawn, files, "load-latency", "{sweep}", "--label", "num_vcs 4=many").axes[0])[:2] \
        == ["num_vcs 2", "many"]
    assert legend(draw(drawn, files, "latency-cdf", "{run}", "{full}", "--label", "calm").axes[0]) == ["calm", "load 0.9"]
    assert legend(draw(drawn, files, "comparison", "{sweep}", "--label", "num_vcs 4=many").axes[0])[:2] == ["num_vcs 2", "many"]
    ax = draw(drawn, files, "comparison", "{run}", "{full}", "--label", "calm").axes[0]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["calm", "0.9"]


def test_versions_may_be_mixed_when_asked(files, drawn):
    draw(drawn, files, "load-latency", "{run}", "{older}", "--mixed-versions")


def test_incomplete_runs_are_named(files, drawn, capsys):
    draw(drawn, files, "latency-cdf", "{cut}")
    assert "did not come to its end (interrupted)" in capsys.readouterr().err


def test_studies_are_drawn_by_their_variables(files, drawn):
    def lines(*arguments):
        return legend(draw(drawn, files, *arguments).axes[0])

    assert lines("load-latency", "{study}")[:4] == ["2 VCs, a", "2 VCs, b", "4 VCs, a", "4 VCs, b"]
    assert lines("load-latency", str(Path(files["study"]).parent))[:1] == ["2 VCs, a"]  # its folder will do
    assert lines("load-latency", "{study}", "--lines", "VCs", "--where", "kind=a")[:2] == ["2 VCs", "4 VCs"]
    assert lines("load-latency", "{study}", "--where", "VCs=4", "--where", "kind=b", "--percentiles", "50,99")[0] == "p50 to p99"
    figure = draw(drawn, files, "throughput", "{study}", "--over", "VCs")
    heights = [[bar.get_height() for bar in bars] for bars in figure.axes[0].containers if len(bars) == 2]
    # Loads to 0.3 are carried; 0.4 is not, and 0.28 of it is accepted: so the most is 0.3
    assert heights[:2] == [pytest.approx([0.3, 0.3])] * 2 and legend(figure.axes[0]) == ["a", "b"]
    assert figure.axes[0].get_ylabel() == "throughput (flits/terminal/cycle)"


WRONG = [
    (["throughput", "{run}"], "throughput draws one study"),
    (["throughput", "{study}", "--over", "VC"], "no variable 'VC'; did you mean VCs"),
    (["load-latency", "{study}", "--where", "VCs"], "expected NAME=VALUE"),
    (["load-latency", "{study}", "--where", "VCs=9"], "has no value of VCs '9'; it has 2, 4"),
    (["load-latency", "{study}", "--lines", "VCs"], "the runs differ in kind too: name it among the lines"),
    (["time-series", "{study}"], "--where NAME=VALUE picks one"),
    (["load-latency", "{fake}"], "is no study of flitwarp"),
    (["load-latency", "none.json"], "there is no file 'none.json'"),
    (["scatter", "none.csv"], "there is no file 'none.csv'"),
    (["load-latency", "none.sqlite"], "there is no file 'none.sqlite'"),
    (["load-latency", "{text}"], "is no results document"),
    (["load-latency", "{nothing}"], "is no results document"),
    (["load-latency", "{list}"], "is no results document"),
    (["load-latency", "{config}"], "is a configuration: run it with flitwarp run"),
    (["load-latency", "{folder}"], "is a folder; name the files in it"),
    (["load-latency"], "needs files to draw: results"),
    (["scatter"], "needs files to draw: a packet log"),
    (["load-latency", "{run}", "{older}"], "results of different versions of flitwarp: 0."),
    (["latency-cdf", "{run}", "{older}"], "or allow it (--mixed-versions"),
    (["latency-cdf", "{log.csv}"], "draws results, and"),
    (["scatter", "{run}"], "scatter draws a packet log, and"),
    (["communication-matrix", "{run}"], "communication-matrix draws a packet log"),
    (["scatter", "{matrix}"], "it is a communication matrix"),
    (["communication-matrix", "{table}"], "neither a packet log nor a communication matrix"),
    (["scatter", "{empty}"], "the log holds no packet"),
    (["scatter", "{log.csv}", "{log.csv.zst}"], "draws one packet log, and 2 were given"),
    (["scatter", "{log.csv}", "{run}", "{full}"], "the results of one run beside its log"),
    (["scatter", "{log.csv}", "--application", "blast"], "give the results of the run too, or a number"),
    (["scatter", "{log.csv}", "--unit", "ns"], "does not say how long a tick is"),
    (["scatter", "{log.csv}", "--x", "creatd"], "did you mean created"),
    (["time-series", "{bare}"], "has no time series: set workload.series_interval"),
    (["time-series", "{run}", "{full}"], "time-series draws one run, and 2 were given"),
    (["channel-heatmap", "{bare}"], "set workload.per_channel=true"),
    (["hop-histogram", "{bare}"], "has no hop_distribution"),
    (["load-latency", "{full}"], "no stable point"),
    (["comparison", "{full}"], "no stable point"),
    (["load-column", "{run}", "--column", "hops.men"], "did you mean hops.mean"),
    (["comparison", "{run}", "--column", "hops.men"], "did you mean hops.mean"),
    (["load-latency", "{run}", "--latency", "message"], "has no column 'message_latency.mean'"),
    (["load-latency", "{run}", "--application", "blats"], "has no application 'blats'"),
    (["load-latency", "{run}", "--application", "3"], "has no application 3"),
    (["load-latncy", "{run}"], "did you mean load-latency?"),
    (["xyzzy", "{run}"], "there are load-latency, "),
    (["load-latency", "{run}", "-o", "a.gif"], "'a.gif' ends in no format of figures; endings are .png, .svg, .pdf"),
    (["load-latency", "{run}", "-o", "a"], "ends in no format"),
    (["load-latency", "{run}", "-o", "none/a.png"], "there is no folder 'none'"),
    (["load-latency", "{run}", "--size", "big"], "is no size: column, page"),
    (["load-latency", "{run}", "--size", "0x9"], "is no size"),
    (["load-latency", "{run}", "--xlim", "5"], "is no range"),
    (["load-latency", "{run}", "--percentiles", "101"], "no list of percentiles"),
    (["load-latency", "{run}", "--legend", "nowhere"], "no place 'nowhere'"),
    (["load-latency", "{run}", "--unit", "weeks"], "invalid choice: 'weeks'"),
    (["load-latency", "{run}", "--column", "hops.mean"], "unrecognized arguments"),
    (["load-latency", "{sweep}", "--label", "nun=x"], "no label 'nun'"),
    (["load-latency", "{run}", "--label", "a", "--label", "b"], "there are only 1 labels"),
    (["comparison", "{sweep}", "--by", "num_vc"], "did you mean num_vcs"),
]


@pytest.mark.parametrize("arguments, message", WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_is_wrong_is_said_in_one_line(files, arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert plot.main(named(files, arguments)) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("flitwarp-plot: ")
    assert os.listdir(tmp_path) == []


def test_the_script_exits_with_1_and_one_line(tmp_path):
    ended = subprocess.run([str(COMMAND), "load-latency", "none.json"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("flitwarp-plot: there is no file") and ended.stderr.count("\n") == 1


def test_the_gallery_is_made_by_the_commands_on_its_page(tmp_path):
    ended = subprocess.run(["/usr/bin/python3", str(ROOT / "docs" / "gallery.py"), str(tmp_path)], capture_output=True, text=True,
                           env={**os.environ, "FLITWARP": PROGRAM})
    assert ended.returncode == 0, ended.stderr
    made = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(made) <= {path.name for path in (ROOT / "docs" / "images").iterdir()}
    assert len(made) >= 10 and max(made.values()) < 60_000


def test_a_table_has_means_and_intervals_over_seeds(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plot.main(["table", *files["seeds"], files["full"], "--column", "packet_latency.mean", "--column", "accepted_load"]) == 0
    rows = [line for line in Path("table.tex").read_text().splitlines() if line.endswith(r"\\")]
    means = [demo.results(0.3, 2, seed).value("packet_latency.mean") for seed in (1, 2, 3)]
    half = half_width(means)
    assert rows[:2] == [r" & mean packet & accepted load \\", r"load & latency (ns) & (flits/terminal/cycle) \\"]
    mean, interval = rows[2].split(" & ")[1].strip("$").split(r" \pm ")
    assert float(mean) == pytest.approx(sum(means) / 3, abs=half / 10) and float(interval) == pytest.approx(half, rel=0.06)
    assert rows[3].startswith("0.9 & saturated & $")


@pytest.mark.parametrize("source, arguments, titles", [
    ("sweep", ["--panels", "num_vcs"], ["num_vcs 2", "num_vcs 4"]), ("study", ["--panels", "VCs"], ["2 VCs", "4 VCs"])])
def test_panels_of_settings_and_of_variables(files, source, arguments, titles, monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(flitwarp.figures.style, "write", lambda figure, paths: made.append(figure))
    given = files[source] if source == "sweep" else [files[source]]
    assert plot.main(["load-latency", *given, *arguments]) == 0
    assert [ax.get_title() for ax in made[0].axes] == titles
    assert plot.main(["load-latency", *given, "--panels", "depth"]) == 1
    assert plot.main(["load-latency", files["study"], "--panels", "load"]) == 1
    assert plot.main(["table", *files["jobs"], "--column", "completion_time", "--application", "solver", "-o", str(tmp_path / "t.tex")]) == 0


def test_values_that_look_alike_have_panels_of_their_own(tmp_path, drawn):
    config = config_of(network_of({"type": "torus", "widths": [2, 2]}), blast(0.1, warmup=50, sample=200, traffic={"type": "hotspot"}))
    sweep = flitwarp.Sweep(config, "alike", out=tmp_path).add_loads(values=[0.1, 0.2])
    sweep.add_variable("hot", "H", [0.3, 0.3000001], "workload.applications.0.traffic.share")
    study = sweep.run(quiet=True)
    assert plot.main(["load-latency", str(study.path), "--panels", "hot"]) == 0
    assert [(ax.get_title(), len(ax.lines)) for ax in drawn[-1][0].axes] == [("hot 0.3 (0.3)", 1), ("hot 0.3 (0.3000001)", 1)]


def test_names_of_a_study_tell_bars_and_lines_apart(files, drawn, capsys):
    assert plot.main(["comparison", files["study"], "--by", "kind", "--lines", "VCs", "--where", "load=0.2"]) == 0
    ax = drawn[-1][0].axes[0]
    assert ax.get_xlabel() == "kind" and [t.get_text() for t in ax.get_xticklabels()] == ["a", "b"] and legend(ax) == ["2 VCs", "4 VCs"]
    assert plot.main(["latency-cdf", files["study"], "--lines", "VCs", "--where", "load=0.2", "--where", "kind=a"]) == 0
    assert legend(drawn[-1][0].axes[0]) == ["2 VCs", "4 VCs"]
    assert plot.main(["latency-cdf", files["study"], "--lines", "VCs"]) == 1
    assert "differ in kind, load too" in capsys.readouterr().err


def test_networks_in_files_of_one_name_are_kept_apart(tmp_path):
    """Settings and seeds alone would make repetitions of them."""
    for name, (count, seed) in {"six": (6, 1), "again": (6, 2), "eight": (8, 3)}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.txt").write_text("".join(f"router {i} node {i} router {(i + 1) % count}\n" for i in range(count)))
        (tmp_path / name / "ring.json").write_text(json.dumps({
            "simulator": {"seed": seed}, "network": {"topology": {"type": "file", "file": "net.txt"}, "routing": "minimal", "router": {"num_vcs": 8}},
            "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 100, "sample": 500}]}}))
        subprocess.run([PROGRAM, "run", tmp_path / name / "ring.json", "--quiet", "--results", tmp_path / f"{name}.json"], check=True)
    runs = [flitwarp.Results.read(tmp_path / f"{name}.json") for name in ("six", "again", "eight")]
    (first, same), (second, other) = apart.groups(runs)
    assert (same, other) == (runs[:2], runs[2:]) and first != second and first.startswith("net.txt ")
    renamed = [flitwarp.Results(json.loads(json.dumps(run))) for run in runs]
    renamed[2]["config"]["network"]["topology"]["file"] = "eight.txt"
    renamed[2]["data"] = {"eight.txt": renamed[2]["data"]["net.txt"]}
    assert [label for label, _ in apart.groups(renamed)] == ["file net.txt", "file eight.txt"]  # which says enough

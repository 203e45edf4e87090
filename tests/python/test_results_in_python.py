# SPDX-License-Identifier: Apache-2.0
"""Results documents in Python: one run in one line, numbers by name, arrays, frames; and what wrong input is told."""

import ast
import doctest
import importlib
import json
import math
import pkgutil
from pathlib import Path

import numpy
import pytest

import flitwarp
from flitwarp.curve import Curve, Point, curves_of_files, half_width
from flitwarp.results import NotResults, Results, UnknownColumn, one_version
from made_study import make_study

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"network": {"topology": {"type": "torus", "widths": [4, 4]}},
         "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 500, "sample": 2000}],
                      "series_interval": 100}}
MODULES = [name for _, name, _ in pkgutil.walk_packages(flitwarp.__path__, "flitwarp.")]


@pytest.fixture(scope="module")
def result():
    return flitwarp.run(SMALL, load=0.3, seed=5)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_public_functions_have_docstrings_and_type_hints(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for function in vars(module).values():
        if callable(function) and getattr(function, "__module__", "") == name and not function.__name__.startswith("_"):
            assert function.__doc__ or function.__name__ == "main", function
            if not isinstance(function, type):
                assert "return" in function.__annotations__, function



def test_numbers_of_a_level_of_service_are_columns():
    run = Results({"flitwarp": {}, "applications": [{"name": "blast"}], "levels": [
        {"level": 0, "packet_latency": {"mean": 5.0}}, {"level": 1, "packet_latency": {"mean": 70.5}}]})
    assert run.value("levels.1.packet_latency.mean") == 70.5
    assert "levels.0.packet_latency.mean" in run.columns()


def test_keywords_are_settings(result):
    assert result["config"]["simulator"]["seed"] == 5 and result.value("target_load") == 0.3
    other = flitwarp.run(SMALL, {"load": 0.3}, network__router__num_vcs=4)
    assert other["config"]["network"]["router"]["num_vcs"] == 4


def test_a_keyword_that_is_no_path_is_refused():
    with pytest.raises(flitwarp.WrongSettings, match="network__router__num_vcs"):
        flitwarp.run(SMALL, vcs=4)


def test_numbers_are_found_by_name(result):
    document = result["applications"][0]
    assert result.value("packet_latency.p99.9") == document["packet_latency"]["p99.9"]
    assert result.value("simulation.flit_hops") == result["simulation"]["flit_hops"]
    assert result.value("config.network.router.num_vcs") == 2
    assert result.value("packets", "blast") == document["packets"]
    assert math.isnan(result.value("hops.ci95"))  # null in the document
    assert result.tick_seconds == 1e-9


@pytest.mark.parametrize("column, hint", [("packet_latncy.mean", "packet_latency.mean"), ("p99", "packet_latency.p99"),
                                          ("simulation.hops", "simulation.flit_hops")])
def test_an_unknown_column_is_answered_with_those_like_it(result, column, hint):
    with pytest.raises(UnknownColumn, match=hint):
        result.value(column)


def test_an_unknown_application_is_answered_with_those_there_are(result):
    with pytest.raises(UnknownColumn, match=r"it has 0 \(blast\)"):
        result.value("packets", "pulse")


def test_arrays_hold_what_the_document_holds(result):
    rows = result.latency_distribution()
    assert rows[:, 2].sum() == result.value("packets") and numpy.all(rows[:, 0] <= rows[:, 1])
    assert rows[0, 0] == result.value("packet_latency.min")
    hops = result.hop_distribution()
    assert (hops[:, 0] * hops[:, 1]).sum() / hops[:, 1].sum() == pytest.approx(result.value("hops.mean"))
    series = result.series()
    assert series["time"][0] == 50 and len(series["time"]) == len(series["flits_accepted"])


def test_results_without_a_series_say_what_to_set():
    with pytest.raises(UnknownColumn, match="workload.series_interval"):
        flitwarp.run(SMALL, workload__series_interval=0).series()


def test_frames_need_pandas_and_say_so(result, monkeypatch):
    pandas = pytest.importorskip("pandas")
    from flitwarp.results import frame
    made = frame([result.row(), result.row()])
    assert isinstance(made, pandas.DataFrame) and made["packet_latency.mean"].iloc[1] == result.value("packet_latency.mean")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="python3-pandas"):
        frame([])


@pytest.mark.parametrize("content, message", [
    (None, "flitwarp run CONFIG --results"), (b"{", "is no results document"), (b"[1]", "no results document"),
    (b"\xff\xfe", "not text"), (json.dumps(SMALL).encode(), "a configuration: run it"), (b"{}", "no results document")])
def test_files_that_are_no_results_are_told_apart(tmp_path, content, message):
    path = tmp_path / "file.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((NotResults, FileNotFoundError), match=message):
        Results.read(path)


def test_results_of_different_versions_are_not_mixed(result):
    older = Results({**result, "flitwarp": {"version": "0.0.9"}}, "old.json")
    with pytest.raises(NotResults, match=r"0\.0\.9 \(old\.json\); run the older ones again"):
        one_version([result, older])
    one_version([result, result])


def test_files_that_differ_in_load_and_seed_share_a_curve():
    documents = [flitwarp.run(SMALL, load=load, seed=seed, network__router__num_vcs=vcs)
                 for vcs in (2, 4) for load in (0.3, 0.1) for seed in (1, 2)]
    curves = curves_of_files(documents)
    assert [curve.label for curve in curves] == ["num_vcs 2", "num_vcs 4"]
    assert [[(p.x, len(p.runs)) for p in curve.points] for curve in curves] == [[(0.1, 2), (0.3, 2)]] * 2


def test_a_mean_has_student_s_interval():
    # Ten values of mean 5.5 and deviation 3.0277: t(9) = 2.262, so 2.262 * 3.0277 / sqrt(10)
    assert half_width(list(range(1, 11))) == pytest.approx(2.1658, abs=1e-3)
    assert math.isnan(half_width([1.0]))


def test_a_curve_is_stable_below_its_first_saturated_point():
    def at(x, saturated):
        return Point(x, [Results({"flitwarp": {}, "applications": [{"saturated": saturated}]})])
    curve = Curve("c", [at(0.1, False), at(0.2, True), at(0.3, False)])
    assert curve.saturation() == 0.2 and [p.x for p in curve.stable()] == [0.1]


@pytest.mark.parametrize("notebook", sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        assert not cell.get("outputs"), "outputs belong to whoever runs it"
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(lines, []), notebook.name, "exec"), names)
            if isinstance(last, ast.Expr):
                assert len(repr(eval(compile(ast.Expression(last.value), notebook.name, "eval"), names))) < 600
            else:
                exec(compile(ast.Module([last], []), notebook.name, "exec"), names)


def test_what_a_notebook_shows_is_short(tmp_path):
    sweep = flitwarp.Sweep("net.json", "new")
    assert repr(sweep) == "<Sweep new: nothing varies yet>"
    sweep.add_variable("VCs", "VC", [2, 4], "network.router.num_vcs")
    assert repr(sweep.add_loads(0.1, 0.3, 0.1)) == "<Sweep new: VCs 2, 4; over load 0.1, 0.2, 0.3>"
    assert len(repr(flitwarp.Sweep("net.json", "long").add_loads(0.001, 0.9, 0.001))) < 240
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]})
    assert repr(study) == "<Study made: 8 runs, 8 done; VCs 2, 4; over load>"
    assert repr(study.runs[0]) == f"<Run {study.runs[0].name}: done>"
    curve = study.curves(lines="VCs")[0]
    assert repr(curve) == "<Curve 2 VCs: 4 points over load, saturated from 0.4>" and repr(curve.points[3]) == "<Point 0.4: 1 run, saturated>"
    assert repr(study.runs[3].results) == f"<Results {study.runs[3].name}: blast accepted 0.28, saturated>"
    assert repr(study.runs[0].results) == f"<Results {study.runs[0].name}: blast accepted 0.1, latency 30.1, p99 20>"

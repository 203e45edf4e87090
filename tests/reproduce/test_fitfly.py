# SPDX-License-Identifier: Apache-2.0
"""The Fit Fly paper, in reduced forms of the scripts in examples/papers/fitfly. `./dev reproduce fitfly` runs them in full, and says
of every order that the paper reports whether it holds.
"""
import os
import sys

import pytest

from support import ROOT, SHARED, script

FOLDER = ROOT / "examples" / "papers" / "fitfly"
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))


def ran(sweep, folder):
    sweep.out = folder
    return sweep.run(quiet=True)


def test_networks_are_those_of_tables_2_and_4():
    rows = {row.what: row for row in script(FOLDER / "tables_2_and_4.py").compare()}
    assert len(rows) == 5 * 10 and all(row.holds for row in rows.values())
    assert rows["Fit Fly: routers"].ours == "676" and rows["Megafly: terminals of a group and rail"].ours == "324"
    assert rows["Slim Fly: global connections of a group"].ours == "169"
    assert rows["Fit Fly FDR: cost of all, $"].ours == "14,462,344"


def test_accepted_load_is_proportional_to_the_rails(tmp_path):
    """Figure 3, on a Slim Fly of 50 routers; within 5 %."""
    module = script(FOLDER / "figure_3_rails.py")
    study = ran(module.study((0.5, 1.0), 4 * module.MICROSECOND, {"q": 5, "terminals": 4}), tmp_path)
    rows = list(module.compare(study))
    assert len(rows) == 4 * 2 and all(row.holds for row in rows)
    for rails, curve in zip(module.RAILS, study.curves(lines="rails")):
        half, whole = curve.points
        assert half.mean("accepted_load") == pytest.approx(0.5 * rails, rel=0.05)
        assert half.mean("accepted_load") < whole.mean("accepted_load") < 0.9615 * rails  # the channels' bound


def test_threads_come_to_the_same_on_all_four_networks_in_full(tmp_path):
    module = script(FOLDER / "full_size_speed.py")
    study = ran(module.study((4,)), tmp_path)
    assert len(study.runs) == 4 * 3
    for network, terminals in (("Slim Fly", 3042), ("Fit Fly", 3042), ("Dragonfly", 3078), ("Megafly", 3240)):
        results = [run.results for run in study.select({"network": network})]
        assert {each.value("terminals") for each in results} == {terminals}
        assert len({each["simulation"]["digest"] for each in results}) == 1
        assert results[0].value("accepted_load") == pytest.approx(0.3, rel=0.1) and results[0].value("packets") > 5000
        assert [each["simulation"]["sync"]["type"] for each in results] == ["sequential", "conservative", "optimistic"]


@pytest.fixture(scope="module")
def interference(tmp_path_factory):
    """AMG at 72.5 %, on networks of 180 and 200 terminals."""
    module = script(FOLDER / "figures_4_to_9_interference.py")
    sweep = module.study(("AMG",), shares=(module.TOP,), seeds=2, scale=module.REDUCED)
    return module, ran(sweep, tmp_path_factory.mktemp("interference"))


def test_networks_order_as_in_table_3(interference):
    """And, of links whose bandwidths are made equal, as in Figures 6 and 8: in time, latency and hops."""
    module, study = interference
    rows = list(module.orders(study, "AMG"))
    assert len(rows) == 3 * 4 and all(row.holds for row in rows)
    time = {name: module.values(study, "AMG", name, "communication time")[module.TOP] for name in module.FOUR}
    assert 5 * time["Fit Fly"] < time["Slim Fly"] and 2 * time["Slim Fly"] < min(time["Dragonfly"], time["Megafly"])


@pytest.mark.skipif(not (SHARED / "traces").exists(), reason="the reference traces are not there")
def test_networks_order_as_in_table_3_with_a_trace_of_amg(tmp_path):
    """Of 27 ranks; on dragonfly and megafly it may take too long."""
    module = script(FOLDER / "amg_trace.py")
    sweep = module.study({27: module.main_file(SHARED / "traces" / "dumpi" / "amg_n27")}, (module.interference.TOP,),
                         limit=3000 * module.MICROSECOND)
    study = ran(sweep, tmp_path)
    orders = [row for row in module.interference.orders(study, "AMG of 27 ranks") if row.what.endswith("communication time")]
    assert len(orders) == 2 and all(row.holds for row in orders)
    sent = [run.results["applications"][0] for run in study.runs if not run.results["applications"][0]["unfinished_ranks"]]
    assert len(sent) >= 2 and {each["bytes"] for each in sent} == {13_584_368}  # what the trace's calls of MPI_Isend name


def test_interference_is_drawn(interference, tmp_path):
    module, study = interference
    module.figures(study, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"figures_{first}_and_{first + 1}_amg.{form}" for first in (4, 6, 8) for form in ("png", "svg")}
    axes = module.drawn(study, "AMG", module.FOUR).axes
    assert [ax.get_ylabel() for ax in axes] == ["communication time (us)", "packet latency (us)", "hops (routers)"]
    assert all(len(ax.lines) >= 4 for ax in axes)


def test_a_paper_s_order_that_does_not_hold_is_a_failure(interference, monkeypatch):
    module, study = interference
    monkeypatch.setitem(module.MEASURES, "hops", ("routers", lambda results: -results.value("hops.mean")))
    assert [row.holds for row in module.orders(study, "AMG") if row.what.endswith("hops")] == [False] * 4

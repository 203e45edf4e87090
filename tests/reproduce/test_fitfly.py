# SPDX-License-Identifier: Apache-2.0
"""The Fit Fly paper, in reduced forms of the scripts in examples/papers/fitfly. `./dev reproduce fitfly` runs them in full, and says
of every order that the paper reports whether it holds.
"""
import os
import sys

import pytest

from support import ROOT, script

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

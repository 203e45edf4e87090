# SPDX-License-Identifier: Apache-2.0
"""OPASim's Figures 3 to 5 and the readings of its report, in reduced forms of the scripts in examples/papers/opasim.
`./dev reproduce opasim` runs them in full; tests/paper/test_omnipath.py has what follows from counting."""
import os
import sys

from support import ROOT, script

FOLDER = ROOT / "examples" / "papers" / "opasim"
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))


def rows(paper, sweep, folder):
    sweep.out = folder
    return {row.what: row for row in paper.compare(sweep.run(quiet=True))}


def test_figures_hold_what_was_published(tmp_path):
    paper = script(FOLDER / "figures_3_to_5.py")
    found = rows(paper, paper.study((0.6, 0.8, 1.0), 2, 4000, ("simple", "iSLIP")), tmp_path)
    assert len(found) == 1 + 1 + 3 + 1 + 3
    assert not [row for row in found.values() if not row.holds]


def test_two_readings_have_both_results(tmp_path):
    """Of those that differ in where the 16 cycles of arbitration are spent, who arbitrates, and whether buffers send meanwhile."""
    paper = script(FOLDER / "readings.py")
    few = [name for name in paper.READINGS if "figures" in name or "one by one" in name or "cycles" in name or "pipelined" in name]
    assert len(few) == 6
    paper.READINGS = {name: paper.READINGS[name] for name in few}
    found = {what: float(row.ours.split()[0]) for what, row in rows(paper, paper.study(1, 3000), tmp_path).items()}
    both = [name for name in few
            if abs(found[f"uniform, {name}"] - 0.72) <= 0.03 and found[f"neighbour, {name}"] > 0.99]
    assert both == few[:2]

# SPDX-License-Identifier: Apache-2.0
"""SuperSim's study of flow control techniques: its script is short, its full form is the paper's, a small form runs.

What the paper says of its Figure 11: with messages of one flit the three techniques are the same; differences are small
otherwise. Its Figure 12 (4096 terminals, 8 VCs, 32 flits) takes hours; its figures are in docs/supersim.md.
"""
import sys

import pytest

import support

ROOT = support.ROOT
SCRIPT = ROOT / "examples" / "papers" / "supersim" / "C_flow_control.py"
sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture(scope="module")
def script():
    return support.script(SCRIPT)


@pytest.fixture(scope="module")
def study(script, tmp_path_factory):
    sweep = script.study((4, 4), (2, 8), (1, 32), 0.1, 2000)
    sweep.out = tmp_path_factory.mktemp("flow_control")
    assert sweep.main(["--quiet"]) == 0
    return sweep


def test_the_script_has_at_most_fifty_lines():
    assert len(SCRIPT.read_text().splitlines()) <= 50


def test_the_full_form_is_the_paper_s(script):
    sweep = script.study()
    assert sweep.base["network"]["topology"] == {"type": "torus", "widths": [8, 8, 8, 8]}
    assert [list(v.values) for v in sweep.variables] == [[2, 4, 8], [1, 2, 4, 8, 16, 32], ["FB", "PB", "WTA"]]
    runs = len(sweep.combinations()) * len(sweep.along.variable.values)
    assert 1750 <= runs <= 1850  # 1,800 in the paper


def test_techniques_are_the_same_for_single_flits(study):
    from flitwarp import open_study
    runs = open_study(study.out).select({"flits": 1})
    digests = {}
    for run in runs:
        place = run.variables["VCs"], run.variables["load"]
        digests.setdefault(place, set()).add(run.results["simulation"]["digest"])
    assert len(digests) >= 12 and all(len(found) == 1 for found in digests.values())


def test_differences_are_small(study):
    """So the paper of its Figure 11. Seeds differ by about 1 % at saturation."""
    from flitwarp import open_study
    for vcs in (2, 8):
        accepted = [row["accepted"] for row in open_study(study.out).saturation() if row["VCs"] == vcs and row["flits"] == 32]
        assert len(accepted) == 3 and max(accepted) < 1.05 * min(accepted)


# SuperSim of 2022, measured: torus 8x8, messages of 8 flits at load 0.5. By packet and winner takes all were equal to the digit.
@pytest.mark.parametrize("vcs, by_flit, by_packet", [(2, 221.8, 216.4), (4, 204.3, 200.5), (8, 205.4, 199.8)])
def test_on_a_small_torus_packets_are_slightly_ahead_of_flits(script, tmp_path, vcs, by_flit, by_packet):
    sweep = script.study((8, 8), (vcs,), (8,), 0.5, 10000)
    sweep.out = tmp_path
    assert sweep.main(["--quiet"]) == 0
    from flitwarp import open_study
    runs = {run.variables["technique"]: run for run in open_study(tmp_path).select({"load": 0.5})}
    assert runs["PB"].results["simulation"]["digest"] == runs["WTA"].results["simulation"]["digest"]
    ours = {name: run.results.application()["packet_latency"]["mean"] for name, run in runs.items()}
    assert ours["FB"] / ours["PB"] == pytest.approx(by_flit / by_packet, abs=0.02)
    assert ours["PB"] == pytest.approx(by_packet, rel=0.11)


def test_it_leaves_the_paper_s_figures_and_a_report(study):
    names = {path.name for path in (study.out / "figures").glob("*.pdf")}
    assert names == {"throughput_by_technique_VCs-2.pdf", "throughput_by_technique_VCs-8.pdf",
                     "load-latency_by_technique_VCs-8_flits-32.pdf"}
    assert (study.out / "report.html").stat().st_size > 50_000


def test_the_full_form_can_be_listed_without_running(script, capsys, tmp_path):
    assert script.study().main(["--list", "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1782 and lines[0].startswith("VC2_M1_FCFB_L0.03: ")

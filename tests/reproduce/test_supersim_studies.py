# SPDX-License-Identifier: Apache-2.0
"""SuperSim's case studies A and B and its Figures 5 and 8, in reduced forms of the scripts in examples/papers/supersim.

Case study A is small enough to run as it is, against the paper's throughputs and, counting as it does, against those that SuperSim
itself was measured at.
"""
import os
import sys

import pytest

from support import ROOT, script

FOLDER = ROOT / "examples" / "papers" / "supersim"
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))


def ran(sweep, folder):
    sweep.out = folder
    return sweep.run(quiet=True)


def accepted(sweep, folder, *variables):
    """What each line accepts at most: known when the window ends, so that nobody waits for packets that come later."""
    sweep.base["workload"]["applications"][0]["finish_limit"] = 1
    return {tuple(row[name] for name in variables): row["accepted"] for row in ran(sweep, folder).saturation()}


A = script(FOLDER / "A_latent_congestion.py")


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """As SuperSim was measured: output queues alone count, 900 to 1500 ns from an empty network."""
    sweep = A.study(16, (1.0,), (1, 2, 4, 8), 600, accounting="output")
    sweep.base["workload"]["applications"][0]["warmup"] = 900
    return accepted(sweep, tmp_path_factory.mktemp("A"), "sensing")


@pytest.mark.parametrize("sensing, measured", [("1 ns", 0.914), ("2 ns", 0.914), ("4 ns", 0.807), ("8 ns", 0.507)])
def test_late_sensing_costs_what_supersim_was_measured_at(late, sensing, measured):
    assert late[sensing,] == pytest.approx(measured, abs=0.05)


@pytest.mark.parametrize("sensing, printed, beyond", [(1, 0.9, 0.95), (2, 0.9, 0.95), (4, 0.75, 0.8), (8, 0.4, 0.45)])
def test_curves_of_late_sensing_end_where_the_paper_prints(sensing, printed, beyond, tmp_path):
    row, = ran(A.study(16, (printed, beyond), (sensing,), 600), tmp_path).saturation()
    assert (row["carried"], row["saturated"]) == (printed, beyond)


def test_endless_queues_keep_their_throughput(tmp_path):
    sweep = A.study(16, (1.0,), (1, 2, 4, 8), 600, endless=True)
    sweep.base["workload"]["applications"][0]["warmup"] = 1500
    found = accepted(sweep, tmp_path, "sensing")
    assert len(found) == 4 and min(found.values()) > 0.95


def is_not_compared(row):
    """What none of the claims below is about: other VCs on uniform traffic, and what shows too little or enough by itself."""
    if row["straight"] == "both":
        return row["traffic"] == "uniform" or row["counts"] == "output"
    return (row["traffic"], row["per"], row["counts"]) == ("complement", "port", "downstream")


@pytest.fixture(scope="module")
def accounting(tmp_path_factory):
    sweep = script(FOLDER / "B_credit_accounting.py").study(16, (1.0,), 1000)
    sweep.exclude(is_not_compared)
    return accepted(sweep, tmp_path_factory.mktemp("B"), "straight", "traffic", "per", "counts")


def test_accounting_by_port_is_ahead_on_uniform_traffic(accounting):
    mean = {per: sum(accounting["second", "uniform", per, counts] for counts in ("output", "downstream", "both"))
            for per in ("vc", "port")}
    assert mean["port"] > 1.02 * mean["vc"]


def test_accounting_by_vc_is_ahead_on_bit_complement(accounting):
    for counts in ("output", "both"):
        assert accounting["second", "complement", "vc", counts] > 1.03 * accounting["second", "complement", "port", counts]


def test_the_buffer_downstream_alone_does_not_show_congestion(accounting):
    for straight, per in (("second", "vc"), ("both", "vc"), ("both", "port")):
        assert accounting[straight, "complement", per, "downstream"] < 0.8 * accounting[straight, "complement", per, "both"]


def test_phantom_congestion_fades_with_load(tmp_path):
    curve, = ran(script(FOLDER / "figure_8_phantom_congestion.py").study(16, (0.02, 0.12, 0.4), 2000), tmp_path).curves()
    shares = [point.mean("nonminimal_share") for point in curve.points]
    assert shares[0] > 0.05 and shares[1] < 0.3 * shares[0] and shares[2] < 0.1 * shares[1]
    # A detour is one more channel and router: 50 ns each, of 500 ps ticks; seen by one packet in ten at zero load
    latency = curve.points[0].runs[0].application()["packet_latency"]
    assert latency["p99"] - latency["p50"] == pytest.approx(200, abs=6)


def test_a_pulse_disturbs_a_blast_and_dies_away(tmp_path):
    module = script(FOLDER / "figure_5_pulse.py")
    study = ran(module.study(), tmp_path)
    assert len(list(module.compare(study))) == 2
    weak, strong = (max(run.results.series("steady")["packet_latency"][30:]) for run in study.select())
    assert weak < strong


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_studies_are_short(path):
    assert len(path.read_text().splitlines()) <= 75

# SPDX-License-Identifier: Apache-2.0
"""The ROSS torus paper, in reduced forms of the scripts in examples/papers/torus.

Five of the nine rows of Tables 1 and 2 run as they are: a billion nodes take seconds. The other four differ in having
millions of packets in flight, and take minutes.
"""
import os
import sys

import pytest

from support import ROOT, script

FOLDER = ROOT / "examples" / "papers" / "torus"
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))


def ran(sweep, folder):
    sweep.out = folder
    return sweep.run(quiet=True)


TABLES = script(FOLDER / "tables_1_and_2.py")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    study = ran(TABLES.study(TABLES.LIGHT), tmp_path_factory.mktemp("tables"))
    rows = list(TABLES.compare(study))
    assert len(rows) == 4 * len(TABLES.LIGHT) + len(TABLES.TABLE_2)
    return {run.variables["torus"]: run.results for run in study.select()}


@pytest.mark.parametrize("row", TABLES.LIGHT)
def test_latency_and_packets_in_flight_are_within_one_percent_of_what_was_printed(tables, row):
    """Table 2 averages over all packets from the start, and its runs are not long: docs/torus.md."""
    _, rate, waiting, printed, _, _ = TABLES.ROWS[row]
    results = tables[row]
    of_the_paper = "model.from_the_start.mean_latency" if row in TABLES.TABLE_2 else "packet_latency.mean"
    assert results.value(of_the_paper) == pytest.approx(printed, rel=0.01)
    assert results.value("model.packets_in_flight.time_average") == pytest.approx(waiting, rel=0.01)
    assert results.value("model.packets_in_flight.agree")
    assert results.value("accepted_rate") == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("row", TABLES.LIGHT)
def test_a_billion_nodes_fit_a_corner_of_a_workstation(tables, row):
    assert tables[row].value("simulation.peak_rss_bytes") < 256 << 20
    assert tables[row].value("simulation.cpu_seconds") < 300


def test_latency_is_flat_and_rises_before_servers_are_always_busy(tmp_path):
    module = script(FOLDER / "figures_5_to_7_latency.py")
    shapes = {"8-ary 3-cube": [8] * 3, "23-ary 2-cube": [23] * 2}
    study = ran(module.study(tuple(shapes), (0.02, 0.3, 0.9, 1.1), 40, shapes), tmp_path)
    assert len(list(module.compare(study))) == 2 * (3 + 4)
    for curve in study.curves(lines="torus"):
        low, some, high, over = curve.points
        zero = low.runs[0]["model"]["zero_load_latency"]
        assert low.mean("packet_latency.mean") == pytest.approx(zero, rel=0.02)
        assert zero < some.mean("packet_latency.mean") < 1.3 * zero < high.mean("packet_latency.mean")
        assert [point.saturated for point in curve.points] == [False, False, False, True]


def test_a_ping_pong_takes_as_long_as_its_hops(tmp_path):
    module = script(FOLDER / "figure_8_ping_pong.py")
    curve, = ran(module.study((2, 5, 8)), tmp_path).curves()
    assert [point.mean("packet_latency.mean") for point in curve.points] == [4948, 12820, 20692]
    assert [point.mean("hops.mean") for point in curve.points] == [2, 5, 8]


def test_the_scaling_table_has_the_papers_columns(tmp_path):
    module = script(FOLDER / "tables_3_to_5_scaling.py")
    study = ran(module.study((1, 2), 0.05, (32,) * 6, "30us", "5us"), tmp_path)
    rows = list(module.compare(study))
    assert len(rows) == 1 + 4 + 1 + 2
    assert next(row for row in rows if row.what == "digests").ours == "all the same"
    for run in study.select():
        sync = run.results["simulation"]["sync"]
        assert 0.5 < sync["efficiency"] <= 1 and sync["committed"] == run.results["simulation"]["events"]
        assert (sync["remote_share"] > 0) == (sync["threads"] > 1)

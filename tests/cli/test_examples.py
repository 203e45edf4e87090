# SPDX-License-Identifier: Apache-2.0
"""Every example runs and ends as it says; tests/contract/test_digests.py has what they give against what was recorded."""

import json
import subprocess

import pytest

from support import PROGRAM, ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
STATUS = {"deadlock_torus": 2, "deadlock_adaptive_mesh": 2}  # all others end with 0


def run(example, results, *overrides):
    command = [PROGRAM, "run", str(example), *overrides, "--quiet", "--results", str(results)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_ends_as_it_says(example, tmp_path):
    ended = run(example, tmp_path / "results.json")
    assert ended.returncode == STATUS.get(example.stem, 0), ended.stderr
    assert json.loads((tmp_path / "results.json").read_text())["complete"] == (example.stem not in STATUS)


def results_of(name, tmp_path, *overrides):
    results = tmp_path / "results.json"
    ended = run(ROOT / "examples" / f"{name}.json", results, *overrides)
    assert ended.returncode == 0, ended.stderr
    return json.loads(results.read_text())


def test_round_robin_halves_the_share_at_every_stop(tmp_path):
    application = results_of("parking_lot_round_robin", tmp_path)["applications"][0]
    # The last two stops merge as equals: 1/2, 1/4, ... 1/64, 1/64.
    expected = [2**-min(stop, 6) for stop in range(1, 8)]
    assert application["accepted_by_terminal"][1:] == pytest.approx(expected, rel=0.03)


def test_age_gives_every_stop_the_same_share(tmp_path):
    application = results_of("parking_lot_age", tmp_path)["applications"][0]
    assert application["accepted_by_terminal"][1:] == pytest.approx([1 / 7] * 7, rel=0.05)


def test_o1turn_carries_what_dimension_order_cannot(tmp_path):
    assert not results_of("mesh_transpose_o1turn", tmp_path)["applications"][0]["saturated"]
    ordered = results_of("mesh_transpose_o1turn", tmp_path, 'network.routing="dimension_order"')
    assert ordered["applications"][0]["saturated"]


def test_pulse_disturbs_the_blast_and_passes(tmp_path):
    steady = results_of("pulse_on_blast", tmp_path)["applications"][0]
    series = steady["series"]["packet_latency"]
    calm, pulse = series[50], max(series[70:80])  # bins of 100 ticks; the pulse comes at 2000 + 5000
    assert pulse > 3 * calm
    assert series[150] == pytest.approx(calm, rel=0.1)


def test_deadlock_names_the_cycle(tmp_path):
    ended = run(ROOT / "examples" / "deadlock_torus.json", tmp_path / "results.json")
    assert ended.returncode == 2
    assert "deadlock at tick" in ended.stderr and "holds" in ended.stderr and "wants" in ended.stderr


def test_the_dateline_cures_the_deadlock(tmp_path):
    results_of("deadlock_torus", tmp_path, "network.routing.dateline=balanced", "network.router.num_vcs=2")

# SPDX-License-Identifier: Apache-2.0
"""flitwarp diff: what differs between two runs, and whether that is noise."""
import json
import re
import subprocess

import pytest

from support import PROGRAM, ROOT, blast, config_of, network_of


def diff(*paths, status):
    ended = subprocess.run([PROGRAM, "diff", *paths], capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    return ended.stdout if status != 1 else ended.stderr


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Results of three short runs: by seed, and with another router."""
    place = tmp_path_factory.mktemp("runs")
    config = config_of(network_of({"type": "torus", "widths": [4, 4]}), blast(0.2, warmup=500, sample=3000))
    (place / "config.json").write_text(json.dumps(config))
    for name, overrides in {"one": [], "seed": ["simulator.seed=9"], "slow": ["network.channel.latency=4"]}.items():
        subprocess.run([PROGRAM, "run", place / "config.json", *overrides, "--quiet", "--results", place / f"{name}.json"], check=True)
    return place


def line(shown, path):
    return re.search(rf"^  {re.escape(path)} +(.*)$", shown, re.M)[1]


def test_a_run_is_like_itself_but_for_the_machine(runs):
    again = json.loads((runs / "one.json").read_text())
    again["simulation"].update(wall_seconds=99.0, cpu_seconds=99.0, peak_rss_bytes=1)
    (runs / "again.json").write_text(json.dumps(again))
    assert diff(runs / "one.json", runs / "again.json", status=0) == "0 settings differ, 0 results differ\n"


def test_another_seed_is_noise_and_a_longer_channel_is_not(runs):
    shown = diff(runs / "one.json", runs / "seed.json", status=2)
    assert line(shown, "simulator.seed") == "1 -> 9" and "1 setting differs" in shown
    assert line(shown, "packet_latency.mean").endswith(", within noise") and "of 1 with an interval 0 by more than noise" in shown
    shown = diff(runs / "one.json", runs / "slow.json", status=2)
    assert line(shown, "network.channel.latency") == "1 -> 4"
    one, slow = (json.loads((runs / f"{name}.json").read_text())["applications"][0]["packet_latency"] for name in ("one", "slow"))
    told = line(shown, "packet_latency.mean")
    assert told.endswith(", more than noise") and f"{one['mean']:.4g} +- {one['ci95']:.2g} -> {slow['mean']:.4g}" in told
    assert f"{100 * (slow['mean'] - one['mean']) / one['mean']:+.2g} %" in told
    assert "ci95" not in shown and "wall_seconds" not in shown


def test_large_differences_are_whole_percents(runs):
    changed = json.loads((runs / "one.json").read_text())
    latency = changed["applications"][0]["packet_latency"]
    latency["p50"], latency["p90"] = 40 * latency["p50"], 0
    changed["applications"].append({"name": "another"})
    (runs / "changed.json").write_text(json.dumps(changed))
    shown = diff(runs / "one.json", runs / "changed.json", status=2)
    assert line(shown, "packet_latency.p50").endswith("  +3900 %") and line(shown, "packet_latency.p90").endswith("  -100 %")
    assert "results of another\n" in shown and line(shown, "application").startswith("(none) -> ")


def test_configurations_are_compared_by_their_settings_with_defaults(tmp_path):
    (tmp_path / "a.json").write_text('{"network": {"topology": "torus"}}')
    (tmp_path / "b.json").write_text('{"network": {"topology": {"type": "torus", "widths": [8, 8]}}, "simulator": {"seed": 1}}')
    assert diff(tmp_path / "a.json", tmp_path / "b.json", status=0) == "0 settings differ\n"
    shown = diff(tmp_path / "a.json", ROOT / "examples" / "hyperx.json", status=2)
    assert line(shown, "network.topology.type") == "torus -> hyperx"
    assert "network.topology.channels" not in shown  # a setting of another component


def test_what_cannot_be_compared_is_refused(tmp_path):
    assert "two files are compared, found 1" in diff("a.json", status=1)
    assert "none.json: cannot be read: No such file" in diff(ROOT / "examples" / "hyperx.json", tmp_path / "none.json", status=1)
    (tmp_path / "bad.json").write_text('{"netwerk": {}}')
    assert "did you mean 'network'" in diff(ROOT / "examples" / "hyperx.json", tmp_path / "bad.json", status=1)
    for text in ("application,source\n0,1\n", "", "[1]", "3"):
        (tmp_path / "bad.json").write_text(text)
        assert "bad.json:1" in diff(tmp_path / "bad.json", ROOT / "examples" / "hyperx.json", status=1)
    (tmp_path / "bad.json").write_text('{"flitwarp": {}, "config": 5, "applications": 3}')
    assert "config: unknown key" in diff(tmp_path / "bad.json", ROOT / "examples" / "hyperx.json", status=1)
    for applications in ("", ', "applications": 3', ', "applications": [1]'):
        (tmp_path / "bad.json").write_text('{"flitwarp": {}, "config": {}%s}' % applications)
        assert "flitwarp: unknown key" in diff(tmp_path / "bad.json", tmp_path / "bad.json", status=1)

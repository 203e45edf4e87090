# SPDX-License-Identifier: Apache-2.0
"""The results document: parts that are there for figures (hops, and channels one by one), and the rows that describe it."""
import json
import subprocess

import pytest

from support import PROGRAM, ROOT, blast, config_of, network_of, run, run_logged

MESH = {"type": "mesh", "widths": [4, 3]}


def results_of(topology, routing="dimension_order", per_channel=True, **network):
    application = blast(0.2, warmup=200, sample=2000)
    return run(config_of(network_of(topology, routing, **network), application, per_channel=per_channel))


def test_hops_are_counted_one_by_one():
    results, packets = run_logged(config_of(network_of(MESH), blast(0.2, warmup=200, sample=2000)))
    application = results["applications"][0]
    hops = [packet["hops"] for packet in packets]
    assert application["hop_distribution"] == [[value, hops.count(value)] for value in sorted(set(hops))]
    assert sum(count for _, count in application["hop_distribution"]) == application["packets"]


def test_channels_are_listed_where_asked_for():
    channels = results_of(MESH)["channels"]
    assert channels["columns"] == ["router", "port", "target", "utilisation"]
    assert channels["coordinates"] == [[x, y] for y in range(3) for x in range(4)]
    assert len(channels["list"]) == channels["count"] == 2 * (3 * 3 + 4 * 2)
    place = channels["coordinates"]
    for router, port, target, utilisation in channels["list"]:
        assert sum(abs(a - b) for a, b in zip(place[router], place[target])) == 1
        assert 1 <= port <= 4 and 0 <= utilisation <= 1  # port 0 is the terminal's
    assert channels["list"] == sorted(channels["list"])
    shares = [row[3] for row in channels["list"]]
    assert sum(shares) / len(shares) == pytest.approx(channels["utilisation"]["mean"])
    assert (min(shares), max(shares)) == (channels["utilisation"]["min"], channels["utilisation"]["max"])


def test_two_terminals_use_the_channels_between_them_alone():
    # Terminals 0 and 3 send to each other, a flit in ten cycles: along the first row, and back.
    application = {**blast(0.1, injection="periodic", warmup=200, sample=2000),
                   "allocation": {"type": "list", "terminals": [0, 3]}}
    channels = run(config_of(network_of(MESH), application, per_channel=True))["channels"]
    used = {(router, target): share for router, _, target, share in channels["list"] if share > 0}
    assert used == {way: 0.1 for way in [(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)]}


def test_channels_are_not_listed_unless_asked_for():
    channels = results_of(MESH, per_channel=False)["channels"]
    assert list(channels) == ["count", "utilisation"]


@pytest.mark.parametrize("topology, dimensions", [({"type": "torus", "widths": [3, 3, 2]}, 3),
                                                  ({"type": "hypercube", "dimensions": 3}, 3),
                                                  ({"type": "mesh", "widths": [5], "concentration": 2}, 1)])
def test_grids_have_coordinates(topology, dimensions):
    channels = results_of(topology)["channels"]
    assert len(channels["coordinates"]) == max(row[0] for row in channels["list"]) + 1
    assert all(len(place) == dimensions for place in channels["coordinates"])


def test_without_a_grid_there_are_no_coordinates():
    channels = results_of({"type": "single_router", "terminals": 4}, "minimal")["channels"]
    assert channels["list"] == [] and "coordinates" not in channels


# ---- rows of results ----


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


def results_schema():
    return json.loads(call(PROGRAM, "schema", "--results").stdout)


def wrong_in(value, rule, defs, path="results"):
    """Places of a document that its schema does not allow, and keys that it does not know."""
    rule = defs[rule["$ref"].removeprefix("#/$defs/")] if "$ref" in rule else rule
    allowed = rule.get("type", [])
    kind = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}.get(type(value), "null")
    if allowed and kind not in allowed and not (kind == "integer" and "number" in allowed):
        yield f"{path} is {kind}, not {allowed}"
    if isinstance(value, list) and "items" in rule:
        for i, item in enumerate(value):
            yield from wrong_in(item, rule["items"], defs, f"{path}[{i}]")
    if isinstance(value, dict) and "properties" in rule:
        yield from (f"{path}.{key} has no row" for key in value.keys() - rule["properties"].keys())
        for key in value.keys() & rule["properties"].keys():
            yield from wrong_in(value[key], rule["properties"][key], defs, f"{path}.{key}")


@pytest.mark.parametrize("example, more", [
    ("request_reply", ["workload.per_terminal=true", "workload.per_channel=true", "workload.series_interval=500"]),
    ("planes", []), ("priorities", ["--sync", "optimistic", "--threads", "2"]), ("memory", []), ("stencil", []), ("alltoall", []),
    ("stream", []), ("goal_dissemination", ["--baseline"]), ("deadlock_torus", []), ("deadlock_recovery", []), ("phold", [])])
def test_every_value_of_the_results_has_a_row(example, more):
    schema = results_schema()
    ended = subprocess.run([PROGRAM, "run", ROOT / "examples" / f"{example}.json", "--quiet", *more], capture_output=True, text=True,
                           timeout=100, check=False)
    assert list(wrong_in(json.loads(ended.stdout), schema, schema["$defs"])) == []


def test_the_reference_is_what_the_program_says():
    page = (ROOT / "docs" / "guide" / "results_reference.md").read_text()
    assert page.split("```\n")[1] == call(PROGRAM, "explain", "results").stdout, "docs/guide/results_reference.md: write it anew"


def test_explain_tells_what_a_result_is():
    lines = call(PROGRAM, "explain", "results.packet_latency").stdout.splitlines()
    assert lines[0].split() == ["key", "value", "unit", "meaning"]
    assert ["applications.packet_latency", "summary", "ticks"] == lines[1].split()[:3]
    shown = {line.split()[0] for line in call(PROGRAM, "explain", "results").stdout.splitlines()[1:]}
    assert {"simulation.digest", "applications.rank_time", "levels.packets", "channels.utilisation.max"} <= shown
    refused = subprocess.run([PROGRAM, "explain", "results.packet_latncy"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "did you mean 'packet_latency'" in refused.stderr


# ---- the end ----

HOURS = "num_ranks 2\nrank 0 {\na: calc 7200000000000\nb: send 8b to 1 tag 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0 tag 1\n}\n"
SHORT = {"warmup": 100, "sample": 500, "finish_limit": 100}
LATE_TIMERS = {
    "a load of next to nothing": blast(1e-12, **SHORT),
    "a trace that is cut short": {"type": "trace", "file": "hours.goal", "limit": 500},
    "a compute of hours": {"type": "trace", "file": "hours.goal", "limit": 10**15},
    "replies that take long": blast(0.1, reply={"type": "fixed"}, reply_delay=10**9, **SHORT),
}


@pytest.mark.parametrize("mode", [[], ["--sync", "conservative", "--threads", "2"]], ids=["alone", "threads"])
@pytest.mark.parametrize("case", LATE_TIMERS)
def test_a_run_ends_when_its_network_is_empty(case, mode, tmp_path):
    """Whatever timers its applications have set; only requests that are under way come to their end."""
    (tmp_path / "hours.goal").write_text(HOURS)
    (tmp_path / "config.json").write_text(json.dumps(config_of(network_of({"type": "torus", "widths": [4]}), LATE_TIMERS[case])))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "config.json", "--quiet", *mode], capture_output=True, text=True, timeout=60, check=True)
    end = json.loads(ended.stdout)["simulation"]["end_tick"]
    first = {"a compute of hours": 7200 * 10**9, "replies that take long": 10**9}.get(case, 0)
    assert first < end < first + 2000


def ring(place, name, count, file="net.txt", **overrides):
    """Results, written to a file, of a ring of `count` routers that a file in a folder of its own lists."""
    folder = place / name
    folder.mkdir(exist_ok=True)
    (folder / file).write_text("".join(f"router {i} node {i} router {(i + 1) % count}\n" for i in range(count)))
    config = config_of(network_of({"type": "file", "file": file}, "minimal", router={"num_vcs": 8}), blast(0.1, warmup=100, sample=500))
    (folder / "ring.json").write_text(json.dumps(config))
    path = folder / "results.json"
    subprocess.run([PROGRAM, "run", folder / "ring.json", "--quiet", "--results", path, *(f"{k}={v}" for k, v in overrides.items())], check=True)
    return path


def test_results_tell_what_was_in_the_files_that_settings_name(tmp_path):
    data = [json.loads(ring(tmp_path, *asked).read_text())["data"] for asked in [("a", 6), ("b", 6), ("c", 8), ("d", 6, "other.txt")]]
    assert data[0] == data[1] and data[0].keys() == data[2].keys() == {"net.txt"} and data[3].keys() == {"other.txt"}
    assert data[0]["net.txt"] != data[2]["net.txt"] and data[0]["net.txt"] == data[3]["other.txt"]
    assert "data" not in results_of(MESH)
    told = subprocess.run([PROGRAM, "diff", tmp_path / "a" / "results.json", tmp_path / "c" / "results.json"], capture_output=True, text=True, check=False)
    assert f"{data[0]['net.txt']} -> {data[2]['net.txt']}" in told.stdout and "1 setting differs" in told.stdout


def test_all_files_of_a_trace_count(tmp_path):
    for rank in range(3):
        (tmp_path / f"step.{rank}.et").write_bytes(b"\x07\x0a\x050.0.4")
    (tmp_path / "another.0.et").write_bytes(b"")
    (tmp_path / "step.json").write_text(json.dumps(
        config_of(network_of({"type": "torus", "widths": [2, 2]}), {"type": "trace", "file": "step.0.et"})))
    told = subprocess.run([PROGRAM, "settings", tmp_path / "step.json"], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)["data"] == [str(tmp_path / f"step.{rank}.et") for rank in range(3)]

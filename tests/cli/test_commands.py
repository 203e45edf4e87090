# SPDX-License-Identifier: Apache-2.0
"""The commands from outside: what they print, write and exit with."""
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest

from support import OF_THE_RUN, PROGRAM, ROOT, blast, config_of, network_of, schema

MESH = {"type": "mesh", "widths": [4, 4]}
TORUS = {"type": "torus", "widths": [4, 4]}
SMALL = config_of(network_of(MESH), blast(0.2, flits=3, warmup=200, sample=1000))
UNLIKE = (*OF_THE_RUN, "events_per_second")  # what no two runs share
COLUMNS = ["application", "source", "destination", "packet", "message", "message_flits", "packet_flits", "hops",
           "minimal_hops", "created", "injected", "head_arrived", "tail_arrived", "initiator",
           "transaction", "transaction_messages"]


def flitwarp(*arguments, cwd=None, status=0):
    ended = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=60,
                           check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    return path


def written(tmp_path, config, name="config.json"):
    (tmp_path / name).write_text(json.dumps(config))
    return tmp_path / name


def packets_of(text):
    reader = csv.DictReader(io.StringIO(text))
    assert reader.fieldnames == COLUMNS
    return [{key: int(value) for key, value in row.items()} for row in reader]


def stable(text):
    """Results without the lines that no two runs share."""
    return [line for line in text.splitlines() if not line.strip().startswith(tuple(f'"{key}"' for key in UNLIKE))]


# ---- run ----


def test_results_go_to_standard_output_and_a_summary_to_standard_error(small):
    ended = flitwarp("run", small)
    results = json.loads(ended.stdout)
    assert results["complete"] is True
    assert re.match(r"blast: offered [\d.]+, accepted [\d.]+ flits/terminal/cycle; packet latency ", ended.stderr)


def test_results_go_to_a_file_as_they_would_to_standard_output(small, tmp_path):
    shown = flitwarp("run", small).stdout
    ended = flitwarp("run", small, "--results", tmp_path / "results.json")
    assert ended.stdout == ""
    assert stable((tmp_path / "results.json").read_text()) == stable(shown)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "small.json"]


def test_a_results_file_that_exists_is_replaced(small, tmp_path):
    (tmp_path / "results.json").write_text("old")
    flitwarp("run", small, f"--results={tmp_path / 'results.json'}")
    assert json.loads((tmp_path / "results.json").read_text())["complete"]


def test_quiet_says_nothing(small):
    assert flitwarp("run", small, "--quiet").stderr == ""


def test_results_hold_the_effective_settings_and_can_be_run_again(small, tmp_path):
    first = flitwarp("run", small, "--quiet").stdout
    again = written(tmp_path, json.loads(first)["config"], "again.json")
    assert stable(flitwarp("run", again, "--quiet").stdout) == stable(first)


def test_results_add_up(small):
    results = json.loads(flitwarp("run", small).stdout)
    application = results["applications"][0]
    latency = application["packet_latency"]
    percentiles = [latency[key] for key in ("min", "p50", "p90", "p99", "p99.9", "p99.99", "max")]
    assert percentiles == sorted(percentiles) and latency["min"] <= latency["mean"] <= latency["max"]
    assert application["network_latency"]["mean"] <= latency["mean"]
    assert application["offered_load"] == pytest.approx(0.2, rel=0.1)
    assert application["accepted_load"] == pytest.approx(application["offered_load"], rel=0.1)
    assert application["hops"]["mean"] == application["minimal_hops"]["mean"]
    assert application["nonminimal_share"] == 0 and application["terminals"] == 16
    assert results["simulation"]["packet_hops"] == pytest.approx(
        application["packets"] * (application["hops"]["mean"] + 1))
    assert 0 < results["channels"]["utilisation"]["mean"] <= results["channels"]["utilisation"]["max"] <= 1


def test_same_seed_same_bytes_and_another_seed_another_digest(small):
    first, second, other = (flitwarp("run", small, f"simulator.seed={seed}").stdout for seed in (7, 7, 8))
    assert stable(first) == stable(second)
    digests = [json.loads(text)["simulation"]["digest"] for text in (first, other)]
    assert digests[0] != digests[1] and all(re.fullmatch("[0-9a-f]{32}", digest) for digest in digests)


# ---- the packet log ----


@pytest.mark.parametrize("name", ["packets.csv", "packets.csv.zst"])
def test_log_has_one_line_a_sampled_packet_with_times_in_order(name, small, tmp_path):
    results = json.loads(flitwarp("run", small, "--log", tmp_path / name).stdout)
    content = (tmp_path / name).read_bytes()
    if name.endswith(".zst"):
        assert content.startswith(b"\x28\xb5\x2f\xfd")
        content = subprocess.run(["zstd", "-dc", tmp_path / name], capture_output=True, check=True).stdout
    packets = packets_of(content.decode())
    application = results["applications"][0]
    assert len(packets) == application["packets"] > 100
    assert len({(packet["source"], packet["packet"]) for packet in packets}) == len(packets)
    for packet in packets:
        assert packet["created"] <= packet["injected"] < packet["head_arrived"] <= packet["tail_arrived"]
        assert packet["tail_arrived"] - packet["head_arrived"] >= packet["packet_flits"] - 1 == 2
        source, destination = packet["source"], packet["destination"]
        distance = abs(source % 4 - destination % 4) + abs(source // 4 - destination // 4)
        assert packet["hops"] == packet["minimal_hops"] == distance
        assert source != destination and packet["message_flits"] == 3
        assert (packet["initiator"], packet["transaction"]) == (source, packet["message"])
        assert packet["transaction_messages"] == 1
    latencies = [packet["tail_arrived"] - packet["created"] for packet in packets]
    assert sum(latencies) / len(latencies) == pytest.approx(application["packet_latency"]["mean"], abs=1e-6)
    assert max(latencies) == application["packet_latency"]["max"]


def test_both_forms_of_the_log_hold_the_same(small, tmp_path):
    for name in ("packets.csv", "packets.csv.zst"):
        flitwarp("run", small, "--log", tmp_path / name)
    unpacked = subprocess.run(["zstd", "-dc", tmp_path / "packets.csv.zst"], capture_output=True, check=True).stdout
    assert unpacked == (tmp_path / "packets.csv").read_bytes()


def test_log_shows_the_packets_of_a_message_and_detours(tmp_path):
    config = config_of(network_of(MESH, "valiant"),
                       blast(0.1, flits=10, max_packet=4, warmup=100, sample=1000))
    flitwarp("run", written(tmp_path, config), "--log", tmp_path / "packets.csv")
    packets = packets_of((tmp_path / "packets.csv").read_text())
    messages = {}
    for packet in packets:
        messages.setdefault((packet["source"], packet["message"]), []).append(packet)
        assert packet["hops"] >= packet["minimal_hops"] and packet["message_flits"] == 10
    assert all([p["packet_flits"] for p in sorted(parts, key=lambda p: p["packet"])] == [4, 4, 2]
               for parts in messages.values())
    assert any(packet["hops"] > packet["minimal_hops"] for packet in packets)


# ---- interruption, deadlock ----


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_writes_what_it_has(signal_number, tmp_path):
    endless = config_of(network_of(MESH), blast(0.2, flits=100, warmup=1000, sample=10**12))
    process = subprocess.Popen([PROGRAM, "run", written(tmp_path, endless), "--results", tmp_path / "results.json",
                                "--log", tmp_path / "packets.csv"], stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal_number)
    process.communicate(timeout=30)
    assert process.returncode == 130
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["complete"] is False
    application = results["applications"][0]
    assert application["packets"] > 100
    assert application["offered_load"] == pytest.approx(0.2, rel=0.1)
    assert len(packets_of((tmp_path / "packets.csv").read_text())) == application["packets"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "packets.csv", "results.json"]


def ring_job(name, first, iterations):
    return {"type": "trace", "name": name, "motif": {"type": "nearest_neighbour", "iterations": iterations},
            "allocation": {"type": "linear", "first": first, "count": 4}}


@pytest.mark.parametrize("config, shown", [
    (config_of(network_of(MESH), blast(0.2, warmup=0, sample=10**12)), r"generating 0 %  tick \d+  .* M events/s .* packets in the network"),
    (config_of(network_of(MESH), blast(0.2, warmup=0, sample=10**6)), r"generating \d+ %, \d+ s left  tick \d+"),
    (config_of(network_of(MESH), ring_job("one", 0, 10**3), ring_job("two", 4, 10**5)), r"generating  one \d+ %  two \d %  all \d %, \d+ s left"),
    ({"model": {"type": "phold", "end": 10**15}}, r"tick \d+ 0 %  .* M events/s +efficiency 1\.000"),
], ids=["network", "time left", "jobs", "model"])
def test_a_terminal_shows_how_far_a_run_is(config, shown, tmp_path):
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, "run", written(tmp_path, config)], stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        said = ""
        while not re.search(shown, said):
            said += os.read(ours, 4096).decode()
        process.send_signal(signal.SIGINT)
    os.close(ours)
    assert process.returncode == 130


def test_deadlock_ends_with_status_2_its_cycle_and_incomplete_results(tmp_path):
    ended = flitwarp("run", ROOT / "examples" / "deadlock_torus.json", "--results", tmp_path / "results.json", status=2)
    assert "deadlock at tick" in ended.stderr
    waits = re.findall(r"packet (\d+\.\d+) .* holds (.+) and wants (?:room in )?(.+)", ended.stderr)
    assert len(waits) == int(re.search(r"a cycle of (\d+) waits", ended.stderr).group(1)) >= 4
    assert json.loads((tmp_path / "results.json").read_text())["complete"] is False


# ---- check ----


def check(tmp_path, network, status=0):
    return flitwarp("check", written(tmp_path, config_of(network, blast(0.1))), status=status).stdout


def test_check_passes_the_torus_with_a_dateline(tmp_path):
    text = check(tmp_path, network_of(TORUS))
    assert "settings: correct" in text and "no deadlock" in text
    assert "16 routers of 5 ports, 16 terminals, 2 VCs" in text


def test_check_shows_the_cycle_without_a_dateline(tmp_path):
    text = check(tmp_path, network_of(TORUS, {"type": "dimension_order", "dateline": "none"}), status=2)
    edges = re.findall(r"channel (\S+ vc \d+) waits for channel (\S+ vc \d+)", text)
    assert "deadlock is possible" in text and len(edges) >= 3
    for (_, wanted), (held, _) in zip(edges, edges[1:] + edges[:1]):
        assert wanted == held, "the waits do not close a circle"


@pytest.mark.parametrize("routing, is_free", [({"type": "minimal", "vcs": "hops"}, True),
                                              ({"type": "minimal", "vcs": "all"}, False), ("valiant", True),
                                              ("o1turn", True)])
def test_check_judges_other_routing(routing, is_free, tmp_path):
    text = check(tmp_path, network_of(TORUS, routing, {"num_vcs": 8}), status=0 if is_free else 2)
    assert ("no deadlock" in text) == is_free


def test_check_runs_nothing_and_writes_nothing(tmp_path):
    endless = written(tmp_path, config_of(network_of(MESH), blast(0.2, sample=10**15)))
    flitwarp("check", endless, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


# ---- trace ----


def router_functions():
    text = "".join(path.read_text() for path in (ROOT / "src" / "network" / "router").glob("*.[ch]"))
    return set(re.findall(r"^(?:STAGE|static)[^;=(]*?(\w+)\(", text, re.M))


@pytest.mark.parametrize("router", [{}, {"switching": "virtual_cut_through"}, {"routing_latency": 2, "cycle": 2},
                                    {"allocator": "islip", "num_vcs": 4}],
                         ids=["plain", "cut_through", "slow", "islip"])
def test_trace_tells_a_packet_s_walk_as_the_log_does(router, tmp_path):
    config = written(tmp_path, config_of(network_of(MESH, router=router), blast(0.1, flits=3, warmup=0, sample=500)))
    flitwarp("run", config, "--log", tmp_path / "packets.csv")
    packets = packets_of((tmp_path / "packets.csv").read_text())
    packet = max((packet for packet in packets if packet["source"] == 2), key=lambda packet: packet["hops"])
    text = flitwarp("trace", config, "--packet", f"2.{packet['packet']}").stdout
    head, *lines = text.splitlines()
    assert head.split() == ["tick", "where", "stage", "what"]
    walk = [re.match(r" *(\d+)  (terminal|\(\d,\d\)) +(\w+) +(.*)", line).groups() for line in lines]
    stages = [stage for _, _, stage, _ in walk]
    at_routers = {stage for _, where, stage, _ in walk if where != "terminal"}
    assert at_routers == {"route", "allocate_vc", "traverse"} and at_routers <= router_functions()
    ticks = [int(tick) for tick, *_ in walk]
    assert ticks == sorted(ticks) and ticks[0] == packet["injected"]
    routers = packet["hops"] + 1
    assert stages.count("route") == stages.count("allocate_vc") == routers
    assert stages.count("traverse") == 3 * routers and stages.count("inject") == 3
    assert list(dict.fromkeys(where for _, where, _, _ in walk if where != "terminal"))[0] == "(2,0)"
    arrivals = [int(re.search(r"arrives at (\d+)", what).group(1)) for _, _, stage, what in walk if stage == "traverse"]
    assert max(arrivals) == packet["tail_arrived"]
    assert min(arrivals[-3:]) == packet["head_arrived"]
    assert walk[-1][:3] == (str(packet["tail_arrived"]), "terminal", "eject")


@pytest.mark.parametrize("router, stages", [("packet", {"route": 1, "send_chunk": 1}),
                                            ("simured", {"route": 1, "grant": 1, "cross": 3})])
def test_trace_has_the_stages_of_other_routers(router, stages, tmp_path):
    """By router: once a packet, or once a flit, of which there are three; packet routers send all flits at one time."""
    config = written(tmp_path, config_of(network_of(MESH, router={"type": router, "num_vcs": 2}), blast(0.1, flits=3, warmup=0, sample=500)))
    flitwarp("run", config, "--log", tmp_path / "packets.csv")
    packet = next(packet for packet in packets_of((tmp_path / "packets.csv").read_text()) if packet["source"] == 2 and packet["hops"] > 2)
    walk = flitwarp("trace", config, "--packet", f"2.{packet['packet']}").stdout
    assert {stage: walk.count(f" {stage} ") for stage in stages} == {stage: count * (packet["hops"] + 1) for stage, count in stages.items()}
    assert re.search(rf"^ *{packet['tail_arrived']}  terminal +eject ", walk.splitlines()[-1])


def test_trace_says_when_there_is_no_such_packet(small):
    assert re.search(r"terminal 3 made only \d+ packets", flitwarp("trace", small, "--packet", "3.100000").stdout)


def test_trace_counts_packets_of_terminal_0_without_a_source(small):
    assert flitwarp("trace", small, "--packet", "1").stdout == flitwarp("trace", small, "--packet", "0.1").stdout


@pytest.mark.parametrize("settings", [("sync=conservative", "threads=2"), ("sync=optimistic", "threads=2", "window=50"),
                                      ("sync=optimistic", "check_reversal=true")])
def test_trace_walks_once_however_the_run_goes(small, settings):
    walk = flitwarp("trace", small, "--packet", "1").stdout
    assert flitwarp("trace", small, "--packet", "1", *(f"simulator.{setting}" for setting in settings)).stdout == walk


# ---- list, explain, schema, version, help ----


def components():
    return json.loads(flitwarp("list", "--json").stdout)


def test_list_is_the_same_as_table_and_as_json():
    rows = [line.split(None, 2) for line in flitwarp("list").stdout.splitlines()]
    listed = components()
    assert rows == [[entry["kind"], entry["name"], entry["summary"] + " (device)" * entry["device"]] for entry in listed]
    assert rows == sorted(rows)
    assert {row[0] for row in rows} == {"allocation", "allocator", "application", "arbiter", "congestion", "injection",
                                        "interface", "model", "motif", "reduction", "router", "routing", "selection", "size", "topology",
                                        "trace_reader", "traffic"}
    assert json.loads(flitwarp("list", "router", "--json").stdout) == [e for e in listed if e["kind"] == "router"]


def test_every_component_is_named_in_the_folder_of_its_kind():
    named = {}
    for entry in components():
        if entry["kind"] not in named:
            folder = "trace/reader" if entry["kind"] == "trace_reader" else entry["kind"]
            texts = [path.read_text() for path in (ROOT / "src").glob(f"**/{folder}/**/*.c")]
            named[entry["kind"]] = [name for text in texts if "REGISTER_" in text for name in re.findall(r'"(\w+)"', text)]
        assert entry["name"] in named[entry["kind"]], entry


def test_every_component_is_explained_with_an_example_that_is_accepted(tmp_path):
    document = schema()
    for entry in components():
        text = flitwarp("explain", entry["kind"], entry["name"]).stdout
        assert text == flitwarp("explain", f"{entry['kind']}/{entry['name']}").stdout
        assert ("runs on a device" in text.splitlines()[:3]) == entry["device"]
        assert text.startswith(f"{entry['kind']} {entry['name']}: {entry['summary']}")
        for key in document["$defs"][f"{entry['kind']}.{entry['name']}"]["properties"]:
            assert key in ("type", "$include") or re.search(rf"^  {key} ", text, re.M), (entry, key)
        example = re.search(r"example: (.*)", text).group(1)
        (key, block), = json.loads("{" + example + "}").items()
        assert f'"{key}": {{' in json.dumps(document), "no such setting"
        block = block[0] if isinstance(block, list) else block
        assert (block if isinstance(block, str) else block["type"]) == entry["name"]


def test_every_routing_algorithm_says_which_vcs_it_needs():
    for entry in json.loads(flitwarp("list", "routing", "--json").stdout):
        needs = flitwarp("explain", "routing", entry["name"]).stdout.splitlines()[1]
        assert re.match(r"needs .*\bVCs?\b", needs), entry["name"]
    assert "twice the diameter and 1" in flitwarp("explain", "routing", "par").stdout


@pytest.mark.parametrize("example", ["fat_tree", "butterfly", "network_file", "voq_islip"])
def test_check_and_topology_count_the_same_ports(example):
    """Those that lead somewhere, though all routers have room for as many as the largest."""
    path = ROOT / "examples" / f"{example}.json"
    ports = re.search(r"ports of a router +(.*)", flitwarp("topology", path).stdout).group(1).strip()
    routers = re.search(r"^routers +(\d+)", flitwarp("topology", path).stdout, re.M).group(1)
    assert f"network: {routers} router{'s' * (routers != '1')} of {ports} ports" in flitwarp("check", path).stdout


@pytest.mark.parametrize("path, words", [
    ("network.interface", ["interface: one of", "single_channel"]), ("network.router.num_vcs", ["num_vcs of input_queued", "num_vcs of packet"]),
    ("workload.applications[0].load", ["load of blast"]), ("workload.applications.0.traffic", ["traffic: one of", "tornado"]),
    ("network.topology.widths[1]", ["widths of torus"]), ("simulator.seed", ["simulator.seed:", "whole number"]),
    ("network.router.type", ["router: one of"]), ("workload.applications.0.format.ranks", ["ranks of astrasim"]),
])
def test_any_path_is_explained(path, words):
    text = flitwarp("explain", path).stdout
    assert all(word in text for word in words), text


@pytest.mark.parametrize("block", ["simulator", "network", "workload"])
def test_blocks_are_explained(block):
    assert flitwarp("explain", block).stdout.startswith(f"{block}: ")


def test_schema_points_nowhere_into_the_void():
    document = schema()

    def pointers(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            for child in node.values():
                yield from pointers(child)
        elif isinstance(node, list):
            for child in node:
                yield from pointers(child)

    assert set(document["properties"]) == {"simulator", "network", "workload", "model", "$include", "$schema"}
    names = {pointer.removeprefix("#/$defs/") for pointer in pointers(document)}
    assert names <= set(document["$defs"])
    for entry in components():
        assert f"{entry['kind']}.{entry['name']}" in document["$defs"]


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version_is_that_of_the_results(word, small):
    version = flitwarp(word).stdout
    assert re.match(r"flitwarp \d+\.\d+\.\d+\n", version)
    assert json.loads(flitwarp("run", small).stdout)["flitwarp"]["version"] == version.split()[1]


@pytest.mark.parametrize("word", ["help", "--help"])
def test_help_has_a_line_for_every_command(word):
    text = flitwarp(word).stdout
    for command in ("run", "check", "trace", "parse", "list", "explain", "schema", "new"):
        assert re.search(rf"^  {command} ", text, re.M)


# ---- pulse over blast ----


def test_pulse_shows_in_the_series_and_passes(tmp_path):
    steady = blast(0.2, name="steady", warmup=1000, sample=9000)
    pulse = {"type": "pulse", "name": "burst", "load": 0.9, "messages": 300, "delay": 3000}
    config = config_of(network_of(TORUS), steady, pulse, series_interval=100)
    results = json.loads(flitwarp("run", written(tmp_path, config), "--quiet").stdout)
    calm, burst = results["applications"]
    assert [calm["name"], burst["name"]] == ["steady", "burst"]
    latency = calm["series"]["packet_latency"]
    before = sum(latency[20:40]) / 20  # bins of 100 ticks; the pulse comes at 1000 + 3000
    assert max(latency[40:45]) > 1.5 * before
    assert sum(latency[75:95]) / 20 == pytest.approx(before, rel=0.1)
    assert burst["packets"] == 16 * 300
    made = burst["series"]["packets"]
    assert sum(made[:40]) == 0 and sum(made) == 16 * 300


# ---- where settings come from ----


def effective(*arguments, cwd):
    return json.loads(flitwarp("run", *arguments, "--quiet", cwd=cwd).stdout)["config"]


def test_includes_references_and_both_forms_of_overrides_give_the_same_settings(tmp_path):
    wanted = config_of({"topology": {"type": "torus", "widths": [4, 2]}, "routing": "dimension_order",
                        "router": {"type": "input_queued", "num_vcs": 4, "buffer_depth": 4, "vc_needs_credit": True}},
                       blast(0.25, "tornado", warmup=100, sample=300), seed=3)
    written(tmp_path, wanted, "plain.json")
    plain = effective("plain.json", cwd=tmp_path)

    # by files: the including object's own keys win, objects merge, references repeat
    (tmp_path / "parts").mkdir()
    written(tmp_path, {"network": {"topology": {"type": "torus", "widths": [8, 8]}, "routing": "dimension_order",
                                   "router": {"$include": "router.json", "num_vcs": 4}}}, "parts/network.json")
    written(tmp_path, {"type": "input_queued", "num_vcs": 64, "buffer_depth": {"$ref": "/network/router/num_vcs"},
                       "vc_needs_credit": True}, "parts/router.json")
    written(tmp_path, {"simulator": {"seed": 3}}, "parts/seed.json")
    (tmp_path / "included.json").write_text("""{
      "$include": ["parts/network.json", "parts/seed.json"], // later files win
      "network": {"topology": {"widths": [4, 2]}}, /* the type comes from the file */
      "workload": {"applications": %s}
    }""" % json.dumps(wanted["workload"]["applications"]))
    assert effective("included.json", cwd=tmp_path) == plain

    # by overrides, plain and typed
    written(tmp_path, {"network": {"router": "input_queued"}, "workload": {"applications": ["blast"]}}, "bare.json")
    settings = [("simulator.seed", "uint", 3), ("network.topology", None, '{"type": "torus", "widths": [8, 2]}'),
                ("network.topology.widths.0", "int", 4), ("network.router.num_vcs", "uint", 4),
                ("network/router/buffer_depth", "ref", "/network/router/num_vcs"),
                ("network.router.vc_needs_credit", "bool", "true"), ("workload.applications[0].load", "float", 0.25),
                ("workload.applications.0.traffic", "string", "tornado"),
                ("workload.applications.0.warmup", "uint", 100), ("workload.applications.0.sample", "uint", 300)]
    typed = [f"{path}={kind}={value}" if kind else f"{path}={value}" for path, kind, value in settings]
    untyped = [f"{path}={value}" if kind != "ref" else f'{path}={{"$ref": "{value}"}}' for path, kind, value in settings]
    assert effective("bare.json", *typed, cwd=tmp_path) == plain
    assert effective("bare.json", *untyped, cwd=tmp_path) == plain

    # from a file on the command line
    written(tmp_path, wanted["network"], "network.json")
    rest = [setting for setting in untyped if not setting.startswith("network")]
    assert effective("bare.json", "network=file=network.json", *rest, cwd=tmp_path) == plain


def test_overrides_reach_what_references_repeat(small, tmp_path):
    config = {**SMALL, "network": {**SMALL["network"], "router": {
        "type": "input_queued", "num_vcs": 2, "buffer_depth": {"$ref": "/network/router/num_vcs"}}}}
    router = effective(written(tmp_path, config), "network.router.num_vcs=16", cwd=tmp_path)["network"]["router"]
    assert router["num_vcs"] == router["buffer_depth"] == 16


def test_files_are_looked_for_beside_the_file_that_names_them(tmp_path):
    (tmp_path / "deep").mkdir()
    written(tmp_path, {**SMALL, "workload": {"$include": "workload.json"}}, "deep/config.json")
    written(tmp_path, {"applications": [blast(0.1, {"type": "matrix", "file": "matrix.csv"}, warmup=0, sample=100)]},
            "deep/workload.json")
    (tmp_path / "deep" / "matrix.csv").write_text("\n".join([",".join(["1"] * 16)] * 16))
    flitwarp("run", "deep/config.json", cwd=tmp_path)

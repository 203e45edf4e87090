# SPDX-License-Identifier: Apache-2.0
"""The logs of a run beside its packet log: they add up to what the results and the packet log say."""
import csv
import io
import json
import os
import subprocess

import pytest

from support import PROGRAM, blast, config_of, network_of

MESH = network_of({"type": "mesh", "widths": [4, 3]}, interface={"type": "standard", "ejection_channels": 2})
STEADY = {**blast(0.2, flits=5, warmup=300, sample=2000), "max_packet": 2}
ANSWERED = {**STEADY, "load": 0.05, "reply": {"type": "fixed", "flits": 7}, "messages_per_transaction": 3}
LOGS = {"--log": "packets.csv", "--message-log": "messages.csv", "--traffic-log": "traffic.csv",
        "--rate-log": "rates.csv", "--channel-log": "channels.csv"}


def start(directory, config, *arguments):
    (directory / "config.json").write_text(json.dumps(config))
    return subprocess.run([PROGRAM, "run", "config.json", "--quiet", "--results", "results.json", *arguments],
                          cwd=directory, capture_output=True, text=True, check=False)


def rows(path):
    with open(path) as file:
        return [{key: value if key == "kind" else float(value) if "." in value else int(value)
                 for key, value in row.items()} for row in csv.DictReader(file)]


@pytest.fixture(params=[(STEADY,), (ANSWERED,), (STEADY, {"type": "pulse", "messages": 20, "load": 0.1,
                                                          "allocation": {"type": "list", "terminals": [2, 9]}})],
                ids=["steady", "answered", "two"])
def logged(request, tmp_path):
    arguments = [part for flag, name in LOGS.items() for part in (flag, name)]
    ended = start(tmp_path, config_of(MESH, *request.param), *arguments, "--rate-interval", "150")
    assert ended.returncode == 0, ended.stderr
    assert sorted(os.listdir(tmp_path)) == sorted(["config.json", "results.json", *LOGS.values()])
    found = {flag: rows(tmp_path / name) for flag, name in LOGS.items()}
    return tmp_path, json.loads((tmp_path / "results.json").read_text()), found


def test_logs_change_nothing(logged, tmp_path):
    directory, results, _ = logged
    ended = subprocess.run([PROGRAM, "run", "config.json", "--quiet"], cwd=directory, capture_output=True, check=True)
    assert json.loads(ended.stdout)["simulation"]["digest"] == results["simulation"]["digest"]


def test_the_message_log_is_that_of_parse(logged):
    directory, _, found = logged
    parsed = subprocess.run([PROGRAM, "parse", "packets.csv", "--of", "messages", "--csv", "-"], cwd=directory,
                            capture_output=True, text=True, check=True)
    assert parsed.stdout == (directory / "messages.csv").read_text()
    assert {row["packets"] for row in found["--message-log"]} >= {3}  # 5 flits in packets of 2


def test_the_message_log_follows_from_the_packets(logged):
    _, _, found = logged
    messages = {}
    for packet in found["--log"]:
        messages.setdefault((packet["application"], packet["source"], packet["message"]), []).append(packet)
    assert len(messages) == len(found["--message-log"]) > 100
    for row in found["--message-log"]:
        packets = messages[row["application"], row["source"], row["message"]]
        assert row["packets"] == len(packets) and row["flits"] == sum(p["packet_flits"] for p in packets)
        assert row["created"] == min(p["created"] for p in packets)
        assert row["injected"] == min(p["injected"] for p in packets)
        assert row["tail_arrived"] == max(p["tail_arrived"] for p in packets)
        assert row["latency"] == row["tail_arrived"] - row["created"]
        assert row["hops"] == max(p["hops"] for p in packets)
        assert (row["initiator"], row["transaction"]) == (packets[0]["initiator"], packets[0]["transaction"])


def test_the_traffic_log_counts_sampled_packets_by_pair(logged):
    _, results, found = logged
    pairs = {}
    for packet in found["--log"]:
        count, flits = pairs.get((packet["source"], packet["destination"]), (0, 0))
        pairs[packet["source"], packet["destination"]] = (count + 1, flits + packet["packet_flits"])
    assert {(row["source"], row["destination"]): (row["count"], row["flits"]) for row in found["--traffic-log"]} == pairs
    assert sum(row["count"] for row in found["--traffic-log"]) == sum(a["packets"] for a in results["applications"])


def test_the_rate_log_adds_up(logged):
    _, results, found = logged
    rates = found["--rate-log"]
    for number, application in enumerate(results["applications"]):
        own = [row for row in rates if row["application"] == number]
        assert len({row["terminal"] for row in own}) == application["terminals"]
        starts = sorted({row["start"] for row in own})
        assert starts == [150 * n for n in range(len(starts))]
        assert len(own) == len(starts) * application["terminals"]
        # What entered the network came out of it; what was made and did not enter was withdrawn at the end.
        injected, delivered = sum(row["injected"] for row in own), sum(row["delivered"] for row in own)
        offered = sum(row["offered"] for row in own)
        assert injected == delivered <= offered and offered - injected <= 0.02 * offered
        assert sum(row["accepted"] for row in own) == delivered
        if application["sampled_ticks"] % 150 == 0 and application["warmup_ticks"] % 150 == 0:
            end = application["warmup_ticks"] + application["sampled_ticks"]
            inside = [row for row in own if application["warmup_ticks"] <= row["start"] < end]
            cycles = application["sampled_ticks"] * application["terminals"]
            assert sum(row["delivered"] for row in inside) / cycles == pytest.approx(application["accepted_load"])
            assert sum(row["offered"] for row in inside) / cycles == pytest.approx(application["offered_load"])


def test_rates_are_those_of_single_terminals(tmp_path):
    # Terminal 0 sends a flit every fourth tick to terminal 3 of four on one router: 5 ticks on the way.
    application = {"type": "stream", "sources": [0], "destinations": [3], "load": 0.25, "warmup": 0, "sample": 1000}
    network = network_of({"type": "single_router", "terminals": 4}, "minimal")
    ended = start(tmp_path, config_of(network, application, series_interval=100), "--rate-log", "rates.csv")
    assert ended.returncode == 0, ended.stderr
    bins = {(row["start"], row["terminal"]): (row["offered"], row["injected"], row["delivered"], row["accepted"])
            for row in rows(tmp_path / "rates.csv")}
    assert bins[0, 0] == (25, 25, 0, 24)
    assert bins[500, 0] == (25, 25, 0, 25)
    assert bins[0, 3] == (0, 0, 24, 0)  # made at 0, 4 ... 92 and there by tick 99
    assert bins[500, 3] == (0, 0, 25, 0)
    assert bins[500, 1] == bins[500, 2] == (0, 0, 0, 0)


def test_rates_count_every_flit_when_it_enters(tmp_path):
    # A message of 10 flits every 100 ticks, one flit each tick from the tick on when it is made, at 0, 100 ...; in
    # intervals of 4 ticks that is 4, 4, 2, and nothing until the next one.
    application = {"type": "stream", "sources": [0], "destinations": [3], "load": 0.1, "warmup": 0, "sample": 1000,
                   "size": {"type": "fixed", "flits": 10}}
    network = network_of({"type": "single_router", "terminals": 4}, "minimal", router={"buffer_depth": 16})
    ended = start(tmp_path, config_of(network, application), "--rate-log", "rates.csv", "--rate-interval", "4")
    assert ended.returncode == 0, ended.stderr
    entered = {row["start"]: row["injected"] for row in rows(tmp_path / "rates.csv") if row["terminal"] == 0}
    for tick in (0, 100, 500):
        assert [entered[tick + 4 * n] for n in range(5)] == [4, 4, 2, 0, 0]


def test_the_channel_log_is_that_of_the_results(tmp_path):
    ended = start(tmp_path, config_of(MESH, STEADY, per_channel=True), "--channel-log", "channels.csv")
    assert ended.returncode == 0, ended.stderr
    channels = rows(tmp_path / "channels.csv")
    results = json.loads((tmp_path / "results.json").read_text())
    between = [[row["router"], row["port"], row["target"], pytest.approx(row["utilisation"], abs=1e-6)]
               for row in channels if row["kind"] == "between"]
    assert results["channels"]["list"] == between
    assert all(row["flits"] == row["vc0"] + row["vc1"] for row in channels)
    out = [row for row in channels if row["kind"] == "ejection"]
    into = [row for row in channels if row["kind"] == "injection"]
    assert len(into) == 12 and {row["target"] for row in into} == set(range(12))
    assert len(out) == 12 * 2 and {row["target"] for row in out} == set(range(12))  # two ejection channels each
    application = results["applications"][0]
    flits = application["accepted_load"] * 12 * application["sampled_ticks"]
    assert sum(row["flits"] for row in out) == pytest.approx(flits, rel=0.01)  # a tick earlier than they are accepted
    assert sum(row["flits"] for row in into) == pytest.approx(flits, rel=0.05)  # some are still under way at the ends


@pytest.mark.parametrize("router", ["input_queued", "output_queued", "input_output_queued"])
def test_the_channel_log_tells_vcs_apart(router, tmp_path):
    # Replies have VCs of their own: 2 and 3 of 4. A request of 1 flit goes from 0 to 2 on a row every 10 ticks, and a
    # reply of 3 flits comes back: in a window of 1000 ticks 100 flits one way and 300 the other, on each channel.
    network = network_of({"type": "mesh", "widths": [3]}, "dimension_order", router={"type": router, "num_vcs": 4},
                         protocol_classes=2)
    application = {"type": "blast", "load": 0.1, "injection": "periodic", "warmup": 1000, "sample": 1000,
                   "traffic": {"type": "matrix", "file": "matrix.csv"}, "reply": {"type": "fixed", "flits": 3},
                   "reply_protocol_class": 1}
    (tmp_path / "matrix.csv").write_text("0,0,1\n0,0,0\n0,0,0\n")
    ended = start(tmp_path, config_of(network, application), "--channel-log", "channels.csv")
    assert ended.returncode == 0, ended.stderr
    for row in rows(tmp_path / "channels.csv"):
        there = (row["kind"], row["router"], row["target"]) in [("injection", 0, 0), ("between", 0, 1), ("between", 1, 2),
                                                               ("ejection", 2, 2)]
        back = (row["kind"], row["router"], row["target"]) in [("injection", 2, 2), ("between", 2, 1), ("between", 1, 0),
                                                              ("ejection", 0, 0)]
        assert row["vc0"] + row["vc1"] == pytest.approx(100 * there, abs=1), row
        assert row["vc2"] + row["vc3"] == pytest.approx(300 * back, abs=3), row
        assert row["utilisation"] == pytest.approx(0.1 * there + 0.3 * back, abs=0.003)


def test_logs_are_compressed_by_their_name(tmp_path):
    arguments = [part for flag, name in LOGS.items() for part in (flag, name + ".zst")]
    ended = start(tmp_path, config_of(MESH, STEADY), *arguments, "--rate-interval=500")
    assert ended.returncode == 0, ended.stderr
    plain = [part for flag, name in LOGS.items() for part in (flag, name)]
    assert start(tmp_path, config_of(MESH, STEADY), *plain, "--rate-interval=500").returncode == 0
    for name in LOGS.values():
        shown = subprocess.run(["zstd", "-dc", name + ".zst"], cwd=tmp_path, capture_output=True, check=False)
        assert shown.returncode == 0 and io.BytesIO(shown.stdout).getvalue() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("arguments, status, message", [
    (["--message-log", "messages.txt"], 1, "--message-log: 'messages.txt' is no log; accepted: names that end in .csv"),
    (["--rate-log", "rates.csv"], 1, "--rate-log: there is no interval"),
    (["--rate-log", "rates.csv", "--rate-interval", "0"], 1, "--rate-interval: '0' is no number of ticks"),
    (["--rate-log", "rates.csv", "--rate-interval", "ten"], 1, "--rate-interval: 'ten'"),
    (["--rate-log", "rates.csv", "--rate-interval", "-5"], 1, "--rate-interval: '-5'"),
    (["--log", "a.csv", "--traffic-log", "a.csv"], 1, "--traffic-log: 'a.csv' is the file of --log too"),
    (["--log", "a.csv", "--message-log", "b.csv", "--channel-log", "none/c.csv"], 3, "none/c.csv"),
    (["--traffic-log", "none/c.csv"], 3, "none/c.csv"),
    (["--rate-log", "none/c.csv", "--rate-interval", "9"], 3, "none/c.csv"),
    (["--channel-log"], 1, "'--channel-log' needs a value"),
])
def test_logs_that_cannot_be_are_refused_before_the_run(arguments, status, message, tmp_path):
    ended = start(tmp_path, config_of(MESH, STEADY), *arguments)
    assert ended.returncode == status and message in ended.stderr
    assert os.listdir(tmp_path) == ["config.json"]

# SPDX-License-Identifier: Apache-2.0
"""Deadlock on show. Routing that can deadlock does, `flitwarp check` says so beforehand, and the packets that are named
really wait for each other: that is seen from the results alone, where each packet's channels must be a minimal way on
the grid and one of those that it wants must be held by the next. Recovery takes one out and goes on.
"""
import csv
import json
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import PROGRAM, Failed, blast, config_of, invoke, network_of, run, run_logged

SHORT_BUFFERS = {"num_vcs": 1, "buffer_depth": 2}
TORUS, MESH = {"type": "torus", "widths": [6, 6]}, {"type": "mesh", "widths": [4, 4]}
NO_DATELINE = {"type": "dimension_order", "dateline": "none"}
CASES = {  # SimuRed's two, and the same routing on a ring and a torus
    "dimension order on a ring": ({"type": "torus", "widths": [8]}, NO_DATELINE, SHORT_BUFFERS),
    "dimension order on a torus": (TORUS, NO_DATELINE, SHORT_BUFFERS),
    "fully adaptive on a mesh": (MESH, "fully_adaptive", SHORT_BUFFERS),
    "fully adaptive on a torus": (TORUS, "fully_adaptive", SHORT_BUFFERS),
}
ROUTERS = {
    "input_queued": {},
    "output_queued": {"type": "output_queued", "output_depth": 2},
    "input_output_queued": {"type": "input_output_queued", "output_depth": 2},
    "packet": {"type": "packet", "buffer_depth": 12},
    "chunks": {"type": "packet", "buffer_depth": 4, "chunk": 64},
    "simured": {"type": "simured", "buffer_depth": 2},
    "single_cycle": {"type": "single_cycle"},
}


def deadlocking(case, router="input_queued", **more):
    topology, routing, buffers = CASES[case]
    network = network_of(topology, routing, {**buffers, **ROUTERS[router]}, **more)
    return config_of(network, blast(0.9, flits=12, warmup=1000, sample=20000))


def started(command, config, tmp_path, *arguments):
    (tmp_path / "config.json").write_text(json.dumps(config))
    ended = subprocess.run([PROGRAM, command, tmp_path / "config.json", *arguments], capture_output=True, text=True, check=False)
    return ended


def stuck_run(config):
    """What results say of the deadlock, and the packets that arrived before it."""
    with tempfile.TemporaryDirectory() as directory:
        ended = started("run", config, Path(directory), "--quiet", "--log", f"{directory}/log.csv")
        assert ended.returncode == 2, ended.stderr
        with open(f"{directory}/log.csv") as log:
            arrived = {(int(row["source"]), int(row["packet"])) for row in csv.DictReader(log)}
    return json.loads(ended.stdout)["deadlock"], arrived


# ---- is it a cycle? ----

def point(name):
    return tuple(int(number) for number in name.strip("()").split(",")) if name.startswith("(") else name


def channel_of(block):
    return point(block["from"]), point(block["to"]), block["vc"]


def distance(topology, a, b):
    apart = [abs(x - y) for x, y in zip(a, b)]
    if topology["type"] == "torus":
        apart = [min(d, width - d) for d, width in zip(apart, topology["widths"])]
    return sum(apart)


def router_of(topology, terminal):
    width = topology["widths"][0]
    return (terminal % width, terminal // width)[:len(topology["widths"])]


def expect_minimal_way(topology, packet, way):
    """Channels one behind the other, each a step closer to the destination; from the source if it begins there."""
    home = router_of(topology, packet["destination"])
    for before, after in zip(way, way[1:]):
        assert before[1] == after[0], packet
    for start, end, _ in way:
        if isinstance(start, str):
            assert start == f"terminal {packet['source']}" and end == router_of(topology, packet["source"])
        else:
            assert distance(topology, start, end) == 1 and distance(topology, end, home) == distance(topology, start, home) - 1


def expect_cycle(topology, packets):
    assert len(packets) >= 2
    names = [(packet["source"], packet["sequence"]) for packet in packets]
    occupied = [channel for packet in packets
                for channel in map(channel_of, packet["holds"][:-1] if packet["wants_room"] else packet["holds"])]
    assert len(set(names)) == len(names) and len(set(occupied)) == len(occupied)  # a buffer's front is one packet's
    for packet, following, name in zip(packets, packets[1:] + packets[:1], names[1:] + names[:1]):
        held = [channel_of(block) for block in packet["holds"]]
        expect_minimal_way(topology, packet, held)
        assert packet["wants"], packet
        waits_for = []
        for block in packet["wants"]:
            wanted = channel_of(block)
            assert wanted == held[-1] if packet["wants_room"] else wanted[0] == held[-1][1]
            assert block["waits_for"], packet  # whatever it could take is taken: a knot
            if wanted in [channel_of(other) for other in following["holds"]]:
                waits_for.append((block["waits_for"]["source"], block["waits_for"]["sequence"]))
        assert name in waits_for, (packet, following)


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("case", CASES)
def test_what_can_deadlock_does_and_names_a_true_cycle(case, router, tmp_path):
    ended = started("run", deadlocking(case, router), tmp_path, "--results", tmp_path / "results.json", "--quiet")
    assert ended.returncode == 2
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["outcome"] == "deadlock" and not results["complete"]
    deadlock = results["deadlock"]
    assert deadlock["tick"] == results["simulation"]["end_tick"] > 0 and deadlock["packets_in_network"] >= len(deadlock["packets"])
    expect_cycle(CASES[case][0], deadlock["packets"])
    # what is printed is the same cycle
    assert f"a cycle of {len(deadlock['packets'])} waits" in ended.stderr
    printed = re.findall(r"^  packet (\d+)\.(\d+) \(terminal \d+ to \d+, 12 flits\) holds .* and wants ", ended.stderr, re.M)
    assert [(int(source), int(sequence)) for source, sequence in printed] == \
        [(packet["source"], packet["sequence"]) for packet in deadlock["packets"]]


@pytest.mark.parametrize("case", CASES)
def test_check_predicts_each_with_a_cycle_of_channels(case, tmp_path):
    ended = started("check", deadlocking(case), tmp_path)
    assert ended.returncode == 2 and ended.stdout.endswith("deadlock is possible\n")
    waits = re.findall(r"channel \((.+?)\)->\((.+?)\) vc (\d) waits for channel \((.+?)\)->\((.+?)\) vc (\d)", ended.stdout)
    topology = CASES[case][0]
    assert len(waits) == (topology["widths"][0] if "dimension order" in case else 4)  # round the ring, round a square
    for here, following in zip(waits, waits[1:] + waits[:1]):
        a, b, c, d = (point(f"({name})") for name in (*here[:2], *here[3:5]))
        assert b == c and distance(topology, a, b) == distance(topology, c, d) == 1
        assert here[3:] == following[:3]


CURES = {
    "a dateline": (TORUS, "dimension_order", {"num_vcs": 2, "buffer_depth": 2}),
    "an escape VC": (MESH, "duato", {"num_vcs": 2, "buffer_depth": 2}),
    "escape VCs on a torus": (TORUS, "duato", {"num_vcs": 3, "buffer_depth": 2}),
    "west first": (MESH, {"type": "turn_model", "model": "west_first"}, SHORT_BUFFERS),
    "north last": (MESH, {"type": "turn_model", "model": "north_last"}, SHORT_BUFFERS),
    "negative first": (MESH, {"type": "turn_model", "model": "negative_first"}, SHORT_BUFFERS),
    "odd-even": (MESH, {"type": "turn_model", "model": "odd_even"}, SHORT_BUFFERS),
}


def test_a_deadlock_in_the_sampling_window_ends_what_is_counted_of_channels(tmp_path):
    """A channel carries a flit a tick at most, and no flit goes through more channels than routers."""
    config = deadlocking("dimension order on a torus")
    config["workload"] = {**config["workload"], "check_interval": 100}
    config["workload"]["applications"][0]["warmup"] = 0
    (tmp_path / "config.json").write_text(json.dumps(config))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "config.json", "--quiet"], capture_output=True, text=True, check=False)
    results = json.loads(ended.stdout)
    channels, ticks = results["channels"], results["applications"][0]["sampled_ticks"]
    assert ended.returncode == 2 and ticks > 0 and channels["count"] == 4 * 36
    assert 0 < channels["utilisation"]["max"] <= 1
    assert 0 < channels["utilisation"]["mean"] * channels["count"] * ticks <= results["simulation"]["flit_hops"]


@pytest.mark.parametrize("routing, router, is_free", [("one_way_escape", {"buffer_depth": 4}, False), ("duato", {"buffer_depth": 8}, True)])
def test_escape_vcs_are_no_way_out_for_a_packet_that_stands_in_several_buffers(routing, router, is_free, tmp_path):
    """Packets of eight flits that take adaptive VCs without room for all of them come to stand behind each other's tails."""
    network = network_of({"type": "mesh", "widths": [8, 8]}, routing, {"num_vcs": 4, **router}, deadlock_interval=1000)
    config = config_of(network, blast(1.0, flits=8, warmup=1000, sample=10000))
    (tmp_path / "config.json").write_text(json.dumps(config))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "config.json", "--quiet"], capture_output=True, text=True, check=False)
    checked = subprocess.run([PROGRAM, "check", tmp_path / "config.json"], capture_output=True, text=True, check=True).stdout
    assert ended.returncode == (0 if is_free else 2), ended.stderr
    assert checked.endswith(": no deadlock\n" if is_free else "without room for a whole packet, which can deadlock\n")


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("cure", CURES)
def test_what_avoids_deadlock_is_never_said_to_be_stuck(cure, router):
    """With the same traffic, looked at every five ticks while it moves: whoever waits will move."""
    topology, routing, buffers = CURES[cure]
    network = network_of(topology, routing, {**buffers, **ROUTERS[router]}, deadlock_interval=5)
    config = config_of(network, blast(0.9, flits=12, warmup=500, sample=1500, finish_limit=1), check_interval=5)
    looked_at = run(config)
    assert looked_at["complete"]
    assert run(config, network__deadlock_interval=0)["simulation"]["digest"] == looked_at["simulation"]["digest"]


# ---- a part of the network stands, the rest moves ----

ORIGINAL = {"type": "simured", "order": "original", "buffer_depth": 2}
KNOT_ROUTERS = {**ROUTERS, "SimuRed's order": ORIGINAL, "SimuRed's shortest buffers": {**ORIGINAL, "buffer_depth": 1, "buffer_forwarding": False}}


def one_ring_stuck(router="input_queued", **more):
    """Row 0 of a torus talks to itself without a dateline; the other rows do without it, and go on."""
    network = network_of({"type": "torus", "widths": [8, 4]}, NO_DATELINE, {**SHORT_BUFFERS, **KNOT_ROUTERS[router]}, **more)
    row = {"type": "list", "terminals": list(range(8))}
    rest = {"type": "list", "terminals": list(range(8, 32))}
    return config_of(network, blast(0.9, flits=12, allocation=row, warmup=500, sample=4000),
                     blast(0.05, allocation=rest, warmup=500, sample=4000))


@pytest.mark.parametrize("router", KNOT_ROUTERS)
def test_a_knot_is_found_while_others_go_on(router, tmp_path):
    ended = started("run", one_ring_stuck(router, deadlock_interval=1000), tmp_path, "--results", tmp_path / "results.json")
    assert ended.returncode == 2 and "can never move again" in ended.stderr
    deadlock = json.loads((tmp_path / "results.json").read_text())["deadlock"]
    assert deadlock["tick"] % 1000 == 0 and not deadlock["stands_still"]
    expect_cycle({"type": "torus", "widths": [8, 4]}, deadlock["packets"])
    assert all(packet["source"] < 8 for packet in deadlock["packets"])


# What a packet waits for in each of these is more than a lane that another holds, or one flit's room.
UNEVEN = {
    "a claim of a larger packet": {"type": "packet", "buffer_depth": 6},
    "lines by output": {"type": "packet", "buffer_depth": 6, "queueing": "by_output"},
    "a whole packet in an output queue": {"type": "input_output_queued", "switching": "virtual_cut_through", "buffer_depth": 6, "output_depth": 6},
    "a stored packet in an output queue": {"type": "input_output_queued", "switching": "store_and_forward", "buffer_depth": 6, "output_depth": 5},
    "a lane that is empty": {"type": "simured", "buffer_depth": 3, "lane_free": "when_empty"},
    "slots": {"type": "simured", "buffer_depth": 3, "buffer_forwarding": False, "buffer_delay": 3},
    "BookSim's empty lane": {"type": "booksim", "buffer_depth": 3, "vc_freed": "when_empty", "output_depth": 1},
    "SuperSim's whole packet": {"type": "staged", "buffer_depth": 4, "output_depth": 5, "output_room": "packet"},
    "SuperSim's lines": {"type": "staged_output", "buffer_depth": 4, "output_depth": 6},
    "a buffer that lanes share": {"type": "omnipath", "num_vcs": 2, "queue_size": 12, "exclusive_credits": 4, "max_credits": 6, "flits_per_credit": 1},
    "slots in SimuRed's order": {**ORIGINAL, "buffer_depth": 3, "buffer_forwarding": False, "buffer_delay": 3},
    "longer buffers in SimuRed's order": {**ORIGINAL, "buffer_depth": 5, "channel_delay": 2},
}


def test_a_lane_that_must_be_empty_is_not_said_to_wait_for_those_that_share_its_buffer():
    """Credits take 300 ticks to come back, and until then the VCs of a channel seem full to its sender. Who waits for one
    to be empty waits for these alone, not for packets in other VCs of the same buffer: with an escape VC nothing is stuck."""
    router = {"type": "booksim", "num_vcs": 4, "buffer_depth": 8, "vc_freed": "when_empty", "buffer_exclusive": 2}
    for seed in range(4):
        network = network_of({"type": "mesh", "widths": [3, 3]}, "one_way_escape", router, channel=300, deadlock_interval=100)
        found = run(config_of(network, blast(0.6, flits=4, max_packet=4, warmup=100, sample=300, finish_limit=20000), seed=seed))
        assert found["outcome"] == "done"


@pytest.mark.parametrize("router", UNEVEN)
def test_packets_of_different_sizes_are_seen_to_be_stuck_beside_a_pair_that_goes_on(router):
    """And none of those that are named arrives where nobody looks."""
    concentration = 1 if "SimuRed's order" in router else 2
    network = network_of({**MESH, "concentration": concentration}, "fully_adaptive", {"num_vcs": 1, **UNEVEN[router]}, deadlock_interval=100)
    every = {"max_packet": 4, "warmup": 100, "sample": 2000, "finish_limit": 1000}
    job = blast(0.9, allocation={"type": "list", "terminals": list(range(2, 16 * concentration))}, **every)
    job["size"] = {"type": "mix", "sizes": [1, 4], "weights": [3, 1]}
    pair = blast(0.2, "neighbor", allocation={"type": "list", "terminals": [0, 1]}, **every)
    config = config_of(network, job, pair, check_interval=100)
    found, _ = stuck_run(config)
    assert not found["stands_still"] and found["tick"] < 2000
    unseen, arrived = stuck_run({**config, "network": {**network, "deadlock_interval": 0}})
    assert unseen["stands_still"] and unseen["tick"] > 2000
    assert not {(packet["source"], packet["sequence"]) for packet in found["packets"]} & arrived


@pytest.mark.parametrize("router", [{"speculation": "always"}, {"speculation": "always", "allocator": "islip"}, {"allocator": "maximum_size"}], ids=str)
def test_routers_that_ask_for_ever_do_not_hide_a_knot_where_nobody_looks_while_others_go_on(router):
    """Something is about to happen in every cycle, but nothing does."""
    network = network_of(MESH, "fully_adaptive", {"type": "booksim", **SHORT_BUFFERS, **router}, interface="booksim", deadlock_interval=0)
    config = config_of(network, blast(0.9, flits=8, warmup=200, sample=1000, finish_limit=100))
    found, _ = stuck_run(config)
    looked_at, _ = stuck_run({**config, "network": {**network, "deadlock_interval": 1000}})
    assert found["tick"] > looked_at["tick"] and found["packets"] == looked_at["packets"]
    expect_cycle(MESH, found["packets"])


def test_what_another_lane_of_the_same_input_can_end_is_no_knot():
    """The turn for an output's room is an input port's: a packet of another of its lanes, which is empty yet, ends it. This one was drawn:
    at tick 3720 packets were said to be stuck that go on at 3940."""
    router = {"type": "omnipath", "num_vcs": 2, "queue_size": 8, "central_queue_size": 8, "exclusive_credits": 4, "max_credits": 4,
              "flits_per_credit": 2, "candidates": "all", "allocator": "separable_input_first"}
    every = {"max_packet": 8, "warmup": 100, "finish_limit": 1}
    job = blast(0.9, sample=1500, allocation={"type": "list", "terminals": [0, 1, 2, 3, 5, 7, 8]}, **every)
    job["size"] = {"type": "mix", "sizes": [2, 7], "weights": [1, 1]}
    pair = blast(0.1, "neighbor", flits=1, sample=6000, allocation={"type": "list", "terminals": [6, 4]}, **every)
    network = network_of({"type": "mesh", "widths": [3, 3]}, "fully_adaptive", router, deadlock_interval=60)
    config = {**config_of(network, job, pair, check_interval=20), "simulator": {"seed": 17}}
    found, _ = stuck_run(config)
    _, arrived = stuck_run({**config, "network": {**network, "deadlock_interval": 0}})
    assert not found["stands_still"]
    assert not {(packet["source"], packet["sequence"]) for packet in found["packets"]} & arrived


def test_a_knot_is_found_where_others_wander_without_end():
    """On a ring of odd width SimuRed's packets may go half the ring either way: who finds one way held goes back, for ever."""
    network = network_of({"type": "torus", "widths": [5, 3, 3]}, NO_DATELINE, {**ORIGINAL, "num_vcs": 1}, deadlock_interval=20)
    found, _ = stuck_run(config_of(network, blast(0.9, flits=4, warmup=100, sample=1000), check_interval=20))
    assert not found["stands_still"] and found["packets"]


def test_a_knot_is_found_at_the_end_where_nobody_looks_before(tmp_path):
    ended = started("run", one_ring_stuck(deadlock_interval=0), tmp_path, "--results", tmp_path / "results.json")
    assert ended.returncode == 2
    assert json.loads((tmp_path / "results.json").read_text())["deadlock"]["stands_still"]


# ---- recovery ----

@pytest.mark.parametrize("case", CASES)
def test_recovery_goes_on_and_loses_nothing(case):
    """Every flit, credit and packet is counted at the end, or the run stops with an error. Ways stay minimal."""
    results, packets = run_logged(deadlocking(case, deadlock="recover", deadlock_interval=100))
    recoveries = results["recoveries"]
    assert results["complete"] and "deadlock" not in results
    assert recoveries["packets"] > 0 and recoveries["first_tick"] <= recoveries["last_tick"]
    topology = CASES[case][0]
    assert packets
    for packet in packets:
        ends = [router_of(topology, packet[key]) for key in ("source", "destination")]
        assert packet["hops"] == distance(topology, *ends), packet


def test_recovery_goes_on_where_the_topology_does_not_know_its_distances():
    """The side path is as long as a shortest way, which is searched for then."""
    network = network_of({"type": "jellyfish", "routers": 16, "degree": 4}, {"type": "minimal", "vcs": "all"}, SHORT_BUFFERS,
                         deadlock="recover", deadlock_interval=100)
    results = run(config_of(network, blast(0.9, flits=16, warmup=1000, sample=5000)))
    assert results["complete"] and results["recoveries"]["packets"] > 0


def test_recovery_leaves_a_network_that_does_not_deadlock_alone():
    topology, routing, buffers = CURES["a dateline"]
    config = config_of(network_of(topology, routing, buffers), blast(0.9, flits=12, warmup=500, sample=1500))
    plain, recovering = run(config), run(config, network__deadlock="recover", network__deadlock_interval=100)
    assert recovering["recoveries"] == {"packets": 0, "first_tick": None, "last_tick": None} and "recoveries" not in plain
    assert recovering["simulation"]["digest"] == plain["simulation"]["digest"]


MODES = [("--sync", "conservative", "--threads", "3"), ("--sync", "optimistic", "--threads", "2", "simulator.window=40"),
         ("--sync", "optimistic", "--check-reversal")]


@pytest.mark.parametrize("router", [{}, {"routing_latency": 1, "vc_allocator": "islip"}, {"switching": "virtual_cut_through"}],
                         ids=["plain", "general", "cut-through"])
def test_recovery_is_the_same_in_every_mode(router):
    """With messages of several packets and replies, whose facts travel with the packets."""
    whole = {"buffer_depth": 4, "num_vcs": 1, **router}
    network = network_of({"type": "mesh", "widths": [4, 4]}, "fully_adaptive", whole, deadlock="recover", deadlock_interval=20)
    application = blast(0.7, flits=10, max_packet=4, warmup=200, sample=1500, finish_limit=1, reply={"type": "fixed", "flits": 3})
    config = config_of(network, application, check_interval=20)
    results = [json.loads(invoke(config, arguments=mode)[0]) for mode in ((), *MODES)]
    assert results[0]["recoveries"]["packets"] > 0
    for other in results[1:]:
        for key in ("recoveries", "applications"):
            assert other[key] == results[0][key]
        assert other["simulation"]["digest"] == results[0]["simulation"]["digest"]


def test_recovery_is_refused_where_a_router_cannot_give_a_packet_up():
    with pytest.raises(Failed, match='network.router: "output_queued" cannot give a packet up') as refused:
        run(deadlocking("fully adaptive on a mesh", "output_queued", deadlock="recover"))
    assert refused.value.status == 1 and 'accepted: router "input_queued", or "report"' in refused.value.message


def test_recovery_is_refused_where_levels_are_told_apart():
    config = deadlocking("fully adaptive on a mesh", deadlock="recover", protocol_classes=2, service={"levels": [0, 1]})
    with pytest.raises(Failed, match='network.service.arbitration: .*; accepted: "alike", or "report"') as refused:
        run(config, network__router__num_vcs=2)
    assert refused.value.status == 1
    alike = run(config, network__router__num_vcs=2, network__service__arbitration="alike", network__deadlock_interval=100)
    assert alike["recoveries"]["packets"] > 0


@pytest.mark.parametrize("injection, ejection", [(1, 2), (2, 1), (3, 3)])
def test_recovery_goes_on_whatever_channels_terminals_have(injection, ejection):
    """Several packets of a terminal enter at once, or none where its other channels lead out."""
    channels = {"type": "standard", "injection_channels": injection, "ejection_channels": ejection}
    network = network_of({**MESH, "concentration": 2}, "fully_adaptive",
                         {"num_vcs": 1, "buffer_depth": 8, "switching": "virtual_cut_through"}, channel=2,
                         interface=channels, deadlock="recover", deadlock_interval=20)
    config = config_of(network, blast(0.9, flits=8, warmup=200, sample=600, finish_limit=1), check_interval=20)
    results = [json.loads(invoke(config, arguments=mode)[0]) for mode in ((), *MODES)]
    assert results[0]["complete"] and results[0]["recoveries"]["packets"] > 0
    for other in results[1:]:
        assert other["recoveries"] == results[0]["recoveries"] and other["applications"] == results[0]["applications"]

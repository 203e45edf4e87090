# SPDX-License-Identifier: Apache-2.0
"""Channels of different latencies, to the tick: by class of channel, by length of cable, from the file of a topology.

Packets are alone in the network (see test_zero_load.py): a packet of one flit through H routers of three cycles takes
the terminal channels' latencies, 3 H, and the latencies of the channels on its way.
"""
import re

import pytest

from support import Failed, blast, config_of, network_of, run, run_logged
from test_zero_load import lonely

ROUTER = {"num_vcs": 4, "buffer_depth": 128}


def lonely_packets(topology, channel, terminals, routing="minimal"):
    network = network_of(topology, routing, ROUTER, channel, 2)
    _, packets = run_logged(config_of(network, blast(1 / 1000 / terminals, warmup=0, sample=400000)))
    alone = lonely(packets)
    assert len(alone) > 100
    return alone


def expect(packets, channels_between):
    """Every packet takes what its way of channels takes; also that there were several kinds of ways."""
    seen = set()
    for packet in packets:
        way = channels_between(packet["source"], packet["destination"])
        assert packet["tail_arrived"] - packet["created"] == 2 * 2 + 3 * (len(way) + 1) + sum(way), packet
        seen.add(tuple(way))
    assert len(seen) > 2


def test_hyperx_has_a_latency_for_each_dimension():
    def channels(source, destination):
        return ([2] if source % 3 != destination % 3 else []) + ([7] if source // 3 != destination // 3 else [])
    expect(lonely_packets({"type": "hyperx", "widths": [3, 4]}, {"latencies": [2, 7]}, 12), channels)


def test_torus_has_a_latency_for_each_dimension():
    def channels(source, destination):
        apart = [abs(source % 4 - destination % 4), abs(source // 4 - destination // 4)]
        return [3] * min(apart[0], 4 - apart[0]) + [9] * min(apart[1], 5 - apart[1])
    expect(lonely_packets({"type": "torus", "widths": [4, 5]}, {"latencies": [3, "9ns"]}, 20, "dimension_order"), channels)


def test_tree_has_a_latency_for_each_level():
    def channels(source, destination):  # two terminals at a leaf, four below a router of level 1
        if source // 2 == destination // 2:
            return []
        return [2, 2] if source // 4 == destination // 4 else [2, 11, 11, 2]
    expect(lonely_packets({"type": "folded_clos", "radix": 4, "levels": 3}, {"latencies": [2, 11]}, 16), channels)


def test_dragonfly_has_local_and_global_latencies():
    # One global channel at each router: router i of a group has the channel to the group of rank i, all groups in
    # order. Ways of three channels are left out: a shortest way may take two global channels, too.
    def channels(source, destination):
        groups = source // 4, destination // 4
        if groups[0] == groups[1]:
            return [3] if source != destination else []
        gates = groups[1] - (groups[1] > groups[0]), groups[0] - (groups[0] > groups[1])
        return [3] * (source % 4 != gates[0]) + [40] + [3] * (destination % 4 != gates[1])
    packets = lonely_packets({"type": "dragonfly", "terminals": 1, "routers": 4, "global": 1}, {"latencies": [3, 40]}, 20)
    expect([packet for packet in packets if packet["hops"] < 3], channels)


def test_cables_add_their_length(tmp_path):
    # Routers of a line at 0, 1, 3 and 7.5 m, the last one 0.5 m up; 5 ticks a metre: 5, 10 and 25 ticks and 4 of the channel
    (tmp_path / "plan.csv").write_text("router,x,y,z\n# the line\n0,0,1,0\n1,1,1\n3,7.5,1,0.5\n2,3,1,0\n")
    channel = {"latency": 4, "cable": {"per_metre": 5, "plan": str(tmp_path / "plan.csv")}}
    ways = [9, 14, 29]
    expect(lonely_packets({"type": "mesh", "widths": [4]}, channel, 4),
           lambda source, destination: ways[min(source, destination):max(source, destination)])


def test_short_cables_take_a_tick_and_parts_of_ticks_count_up(tmp_path):
    # 0.1 m, 0.3 m and 2 m at 4.9 ns: 0.49, 1.47 and 9.8 ticks
    (tmp_path / "plan.csv").write_text("0,0,0\n1,0.1,0\n2,0.1,0.3\n3,2.1,0.3\n")
    channel = {"cable": {"per_metre": "4.9ns", "plan": str(tmp_path / "plan.csv")}}
    ways = [2, 3, 11]
    expect(lonely_packets({"type": "mesh", "widths": [4]}, channel, 4),
           lambda source, destination: ways[min(source, destination):max(source, destination)])


def test_a_file_says_how_long_each_direction_and_each_terminal_takes(tmp_path):
    # A line of routers 0 - 1 - 2; latencies that the file does not give are 6 and 2
    (tmp_path / "line.txt").write_text("router 0 node 0 5 router 1 9\nrouter 1 router 0 4 node 1 router 2\nnode 2 router 2 8\n")
    times = {(0, 1): [9], (1, 0): [4], (0, 2): [9, 6], (2, 0): [6, 4], (1, 2): [6], (2, 1): [6]}
    terminals = [5, 2, 8]
    packets = lonely_packets({"type": "file", "file": str(tmp_path / "line.txt")}, 6, 3)
    assert {(packet["source"], packet["destination"]) for packet in packets} == set(times)
    for packet in packets:
        way = times[packet["source"], packet["destination"]]
        ends = terminals[packet["source"]] + terminals[packet["destination"]]
        assert packet["tail_arrived"] - packet["created"] == ends + 3 * (len(way) + 1) + sum(way)


@pytest.mark.parametrize("channel", [{"latencies": [5]}, {"latencies": [5, 5]}, {"latency": 3, "latencies": ["5ns"]},
                                     {"latency": 4, "cable": {"per_metre": 0, "plan": "plan.csv"}}])
def test_equal_latencies_are_one_latency(channel, tmp_path):
    """However they are given: the same packets at the same ticks."""
    (tmp_path / "plan.csv").write_text("".join(f"{router},0,0\n" for router in range(16)))
    if "cable" in channel:
        channel = {**channel, "cable": {**channel["cable"], "plan": str(tmp_path / "plan.csv")}}
    application = blast(0.4, flits=3, warmup=500, sample=2000)
    digests = {run(config_of(network_of({"type": "torus", "widths": [4, 4]}, channel=each), application))["simulation"]
               ["digest"] for each in (channel, 5)}
    assert len(digests) == 1


def test_one_longer_channel_leaves_all_others_as_they_were(tmp_path):
    """The general router does what the plain one does: a channel that nobody uses may be of any length."""
    links = "router 0 node 0 node 1 router 1\nrouter 1 node 2 node 3\nrouter 2 router 1{}\n"
    digests = set()
    for number, latency in enumerate(["", " 77"]):
        (tmp_path / f"{number}.txt").write_text(links.format(latency))
        network = network_of({"type": "file", "file": str(tmp_path / f"{number}.txt")}, "minimal", {"num_vcs": 2}, 4)
        results = run(config_of(network, blast(0.4, flits=3, warmup=500, sample=2000)))
        digests.add(results["simulation"]["digest"])
    assert len(digests) == 1


# --- Speed ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("router", ["input_queued", "output_queued", "packet"])
@pytest.mark.parametrize("channel", [{"cycles": [2]}, {"cycles": [2, 2]}, {"bandwidth": 16}, {"bandwidths": ["16GB/s", 16]},
                                     {"cycle": 1, "cycles": [2]}, {"cycle": 2, "bandwidth": "128Gb/s"}])
def test_equal_cycles_are_one_cycle(channel, router):
    """However they are given, bandwidths for flits of 32 bytes: the same packets at the same ticks."""
    application = blast(0.2, flits=3, warmup=500, sample=2000)
    digests = {run(config_of(network_of({"type": "torus", "widths": [4, 4]}, router={"type": router},
                                        channel={"latency": 3, **each}), application))["simulation"]["digest"]
               for each in (channel, {"cycle": 2})}
    assert len(digests) == 1


def test_flits_are_as_far_apart_as_the_slowest_class_on_their_way():
    # 12 flits over a torus whose dimensions have cycles of 2 and 5, terminals 1: the tail comes 11 cycles after the head
    # (a head alone would pay for its VC allocation)
    router = {**ROUTER, "vc_allocation_latency": 0}
    network = network_of({"type": "torus", "widths": [4, 4]}, "dimension_order", router, {"latency": 3, "cycles": [2, 5]}, 2)
    _, packets = run_logged(config_of(network, blast(12 / 2000 / 16, flits=12, warmup=0, sample=400000)))
    alone, seen = lonely(packets), set()
    for packet in alone:
        apart = [packet["source"] // size % 4 != packet["destination"] // size % 4 for size in (1, 4)]
        slowest = 5 if apart[1] else 2 if apart[0] else 1
        assert packet["tail_arrived"] - packet["head_arrived"] == 11 * slowest
        seen.add(slowest)
    assert len(alone) > 100 and seen >= {2, 5}


def test_utilisation_counts_the_cycles_of_each_channel():
    # A ring of one class and another: the same flits fill a channel of twice the cycle twice as much
    network = network_of({"type": "torus", "widths": [4, 4]}, "dimension_order", ROUTER, {"latency": 3, "cycles": [1, 2]}, 2)
    result = run(config_of(network, blast(0.2, warmup=1000, sample=20000), per_channel=True))
    rows = result["channels"]["list"]
    sums = [sum(share for router, port, target, share in rows if abs(router - target) in apart) for apart in ({1, 3}, {4, 12})]
    assert sums[1] == pytest.approx(2 * sums[0], rel=0.03)


def test_a_chip_has_latencies_by_distance():
    # Four routers in two rows, each with 4 by 4 terminals: 4 ticks from column to column and from row to row. Routers are in the
    # middle of their tiles: 1 tick to the inner terminals, 2 to those at an edge, 3 to those in a corner.
    def beyond(slot):
        return (slot % 4 in (0, 3)) + (slot // 4 in (0, 3))
    network = network_of({"type": "hyperx", "widths": [4], "concentration": 16}, "dimension_order", ROUTER, {"chip": {"row": 2, "tile": [4, 4]}}, 1)
    _, packets = run_logged(config_of(network, blast(1 / 1000 / 64, warmup=0, sample=400000)))
    seen = set()
    for packet in lonely(packets):
        source, destination = packet["source"], packet["destination"]
        a, b = source // 16, destination // 16
        length = 4 * (abs(a % 2 - b % 2) + abs(a // 2 - b // 2))
        ends = 2 + beyond(source % 16) + beyond(destination % 16)
        assert packet["tail_arrived"] - packet["created"] == ends + 3 * (1 + (a != b)) + length, packet
        seen.add((length, ends))
    assert len(seen) > 10


@pytest.mark.parametrize("change, message", [
    ({"network__channel__latency": 10**9}, "the longest channel of the chip takes 8000000000 ticks"),  # more than 2^32
    ({"network__terminal_channel__latency": 500000000}, "takes 1500000000 ticks, more than 1e+09"),
    ({"network__channel__latencies": [3]}, "channels have latencies by class, not by distance"),
    ({"network__channel__chip__tile": [4, 2]}, "product is the 16 terminals of a router"),
    ({"network__channel__chip__row": 3}, "4 routers do not fill rows of 3"),
])
def test_chips_without_their_lengths_are_refused(change, message):
    network = network_of({"type": "hyperx", "widths": [4], "concentration": 16}, "dimension_order", ROUTER,
                         {"chip": {"row": 2, "tile": [4, 4]}}, 1)
    with pytest.raises(Failed, match=re.escape(message)):
        run(config_of(network, blast(0.1, warmup=0, sample=10)), **change)


def test_a_latency_of_one_way_does_not_hold_back(tmp_path):
    (tmp_path / "net.txt").write_text("router 0 node 0 router 1 9\nrouter 1 node 1\n")
    for one_way, back in ((False, 9), (True, 1)):
        topology = {"type": "file", "file": str(tmp_path / "net.txt"), "one_way": one_way}
        network = network_of(topology, "least_latency", ROUTER, 1, 1)
        _, packets = run_logged(config_of(network, blast(0.001, warmup=0, sample=100000)))
        times = {(packet["source"], packet["destination"]): packet["tail_arrived"] - packet["created"] for packet in lonely(packets)}
        assert times[0, 1] == 2 + 6 + 9 and times[1, 0] == 2 + 6 + back


def test_the_way_of_least_latency_may_be_the_one_with_more_channels(tmp_path):
    # Three by way of routers 1 and 2, or 9 at once; back 2, at once.
    (tmp_path / "net.txt").write_text("router 0 node 0 router 3 9 router 1\nrouter 1 router 2\nrouter 2 router 3\nrouter 3 node 1 router 0 2\n")
    network = network_of({"type": "file", "file": str(tmp_path / "net.txt"), "one_way": True}, "least_latency", ROUTER, 1, 1)
    _, packets = run_logged(config_of(network, blast(0.001, warmup=0, sample=100000)))
    times = {(packet["source"], packet["destination"]): packet["tail_arrived"] - packet["created"] for packet in lonely(packets)}
    assert times[0, 1] == 2 + 3 * 4 + 3 and times[1, 0] == 2 + 3 * 2 + 2

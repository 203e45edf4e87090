# SPDX-License-Identifier: Apache-2.0
"""SimuRed's router against SimuRed: the latency of a lone packet to the cycle, and what it does under load.

A lone packet: all rows that the original program gave (zero_load.csv), and other settings drawn at random against a count by
hand: a row of slots, flits visited from the head to the tail in every cycle, each moving at most one slot when it has been there
long enough and the next one is free; with forwarding it then jumps to the furthest free slot of that buffer.

SimuRed's latency leaves out the cycle in which a head enters its injection buffer, which ours counts. A cycle has 32 ticks here,
more than there are routers in a row, and terminals fill a buffer within a cycle, as SimuRed does.
"""
import csv
import json
import random
import subprocess

import pytest

from support import PROGRAM, SHARED, blast, config_of, network_of, run, run_logged

CYCLE = 32
DELAYS = ("buffer_delay", "crossbar_delay", "switching_delay", "channel_delay")
ZERO_LOAD = SHARED / "reference" / "simured" / "zero_load.csv"


def simured(**settings):
    return {"type": "simured", "num_vcs": 1, **settings}


def lone_packet(router, flits, x, y, tmp_path):
    """SimuRed's latency of the head and of the packet from a corner of an 8x8 mesh."""
    (tmp_path / "lone.trc").write_text(f"0 0 {x + 8 * y} {flits}\n")
    network = {"topology": {"type": "mesh", "widths": [8, 8]}, "routing": "dimension_order",
               "router": {**router, "cycle": CYCLE}, "channel": {"cycle": CYCLE}}
    _, [packet] = run_logged({"network": network, "workload": {
        "applications": [{"type": "trace", "file": str(tmp_path / "lone.trc")}]}})
    begin, *ends = (packet[key] // CYCLE for key in ("injected", "head_arrived", "tail_arrived"))
    return tuple(end - begin - 1 for end in ends)


def counted(delays, length, forwards, flits, hops):
    """The same by hand. Slots of all buffers in a row: injection, then an output and an input buffer for each hop, ejection."""
    buffer, crossbar, switching, channel = delays
    end = 2 * (hops + 1) * length
    crossbars = set(range(length - 1, end, 2 * length))
    channels = set(range(2 * length - 1, end - 1, 2 * length))

    def delay(slot, is_head):
        if slot in crossbars:
            return max(1, crossbar + switching if is_head else crossbar)
        return max(1, channel if slot in channels else buffer)

    at, since, taken, arrived, cycle = [-1] * flits, [0] * flits, set(), [0] * flits, 0
    while not arrived[-1]:
        cycle += 1
        for flit in range(flits):
            slot = at[flit]
            if arrived[flit] or slot + 1 in taken or (slot >= 0 and cycle - since[flit] < delay(slot, flit == 0)):
                continue
            taken.discard(slot)
            slot += 1
            while forwards and slot < end and (slot + 1) % length and slot + 1 not in taken:
                slot += 1
            at[flit], since[flit] = slot, cycle
            if slot == end:
                arrived[flit] = cycle
            else:
                taken.add(slot)
    return arrived[0] - 2, arrived[-1] - 2  # the head enters in cycle 1


@pytest.mark.skipif(not ZERO_LOAD.exists(), reason="no reference data")
def test_a_lone_packet_takes_what_it_takes_in_simured(tmp_path):
    with open(ZERO_LOAD) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 82
    for row in rows:
        router = simured(**{key: int(row[key]) for key in DELAYS}, buffer_depth=int(row["buffer_length"]),
                         buffer_forwarding=row["forwarding"] == "1", num_vcs=int(row["vcs"]))
        found = lone_packet(router, int(row["packet_flits"]), int(row["dist_x"]), int(row["dist_y"]), tmp_path)
        assert found == (float(row["head_latency"]), float(row["packet_latency"])), row


def test_a_lone_packet_takes_what_its_slots_say(tmp_path):
    draw = random.Random(8)
    for _ in range(60):
        delays = [draw.randint(0, 4) for _ in DELAYS]
        length, forwards, flits = draw.randint(1, 5), draw.random() < 0.5, draw.randint(1, 20)
        x, y = draw.randint(0, 7), draw.randint(1, 7)
        router = simured(**dict(zip(DELAYS, delays)), buffer_depth=length, buffer_forwarding=forwards)
        assert lone_packet(router, flits, x, y, tmp_path) == counted(delays, length, forwards, flits, x + y), router


def test_usual_delays_are_exact_with_a_tick_a_cycle():
    """Head 3 D + 2 cycles, and the tail as many later as there are flits behind the head; ours count one more."""
    network = network_of({"type": "mesh", "widths": [4, 4]}, "dimension_order", simured(buffer_depth=2))
    _, packets = run_logged(config_of(network, blast(0.002, flits=8, warmup=0, sample=30000)))
    packets.sort(key=lambda packet: packet["created"])
    alone = [one for before, one, after in zip(packets, packets[1:], packets[2:])
             if before["tail_arrived"] < one["created"] and one["tail_arrived"] < after["created"]]
    assert len(alone) > 30
    for packet in alone:
        assert packet["tail_arrived"] - packet["injected"] - 1 == 3 * packet["hops"] + 2 + 7


def counted_by_turns(packets, flits):
    """Latencies of two packets (cycle, source, destination) on a line, each on a virtual channel of its own, in slots as above.

    A packet moves all its flits before the younger one does. A flit on a channel, slot 3 of each four, leaves only in its turn, which
    it has at once where it finds the channel idle. Then the other has it if it has a flit there, but not in the same cycle; also if the
    first has no room and the other has. Heads need a cycle more before they cross, slot 1 of each four.
    """
    last = [4 * (destination - source) + 3 for _, source, destination in packets]
    places = [[-1] * flits for _ in packets]
    granted, turn, handed, ends = set(), {}, {}, {}

    def on(packet, link):
        """The slot of a packet on a link, if there is a flit in it."""
        slot = 4 * (link - packets[packet][1]) + 3
        return slot if 0 < slot < last[packet] and slot in places[packet] else None

    def move(packet, flit, link, now):
        slot = places[packet][flit] + 1
        slot += slot % 2 == 0 and slot + 1 not in places[packet]
        places[packet][flit] = slot
        if link is not None and on(1 - packet, link) is not None:
            turn[link], handed[link] = 1 - packet, now
        reached = packets[packet][1] + slot // 4
        if slot % 4 == 3 and slot < last[packet] and on(1 - packet, reached) is None:
            turn[reached], handed[reached] = packet, None

    def visit(packet, flit, now):
        slot, other = places[packet][flit], 1 - packet
        is_free = slot == last[packet] or slot + 1 not in places[packet]
        if flit == 0 and slot % 4 == 1 and (packet, slot) not in granted:
            granted.add((packet, slot))
        elif slot % 4 == 3 and 0 < slot < last[packet]:
            link = packets[packet][1] + slot // 4
            there = on(other, link)
            if turn[link] != packet:
                return
            if is_free and handed[link] != now:
                move(packet, flit, link, now)
            elif not is_free and there is not None and there + 1 not in places[other]:
                turn[link], handed[link] = other, now
        elif is_free and slot <= last[packet]:
            move(packet, flit, None, now)
            if flit == flits - 1 and slot == last[packet]:
                ends[packet] = now - packets[packet][0] - 1

    for now in range(1000):
        for packet in sorted(range(2), key=lambda number: packets[number][:2]):
            for flit in range(flits) if now >= packets[packet][0] else ():
                visit(packet, flit, now)
        if len(ends) == 2:
            return [ends[packet] for packet in range(2)]


def test_two_packets_share_channels_as_in_simured(tmp_path):
    """Pairs on a line of 6, one pair after the other."""
    draw, pairs = random.Random(1), []
    for _ in range(60):
        ways = [sorted(draw.sample(range(6), 2)) for _ in range(2)]
        pairs.append([(0, *ways[0]), (draw.randrange(6), *ways[1])])
    (tmp_path / "pairs.trc").write_text("".join(
        f"{(200 * number + cycle) * CYCLE} {source} {destination} 32\n"
        for number, pair in enumerate(pairs) for cycle, source, destination in pair))
    network = {"topology": {"type": "mesh", "widths": [6]}, "routing": "dimension_order", "channel": {"cycle": CYCLE},
               "router": simured(num_vcs=2, cycle=CYCLE), "interface": {"injection_channels": 2, "ejection_channels": 2}}
    _, logged = run_logged({"network": network, "workload": {
        "applications": [{"type": "trace", "file": str(tmp_path / "pairs.trc")}]}})
    found = {}
    for packet in logged:
        begin, end = packet["injected"] // CYCLE, packet["tail_arrived"] // CYCLE
        found.setdefault(begin // 200, []).append((packet["source"], packet["destination"], end - begin - 1))
    for number, pair in enumerate(pairs):
        latencies = counted_by_turns(pair, 32)
        expected = [(source, destination, latency) for (_, source, destination), latency in zip(pair, latencies)]
        assert sorted(found[number]) == sorted(expected), pair


def carried_by_a_channel(**router):
    """Flits a cycle from four terminals of one router to those of another, all that they can."""
    network = network_of({"type": "mesh", "widths": [2], "concentration": 4}, "dimension_order", simured(num_vcs=2, **router))
    found = run(config_of(network, blast(1.0, "bit_complement", flits=16, warmup=1000, sample=8000)))
    return 4 * found["applications"][0]["accepted_load"]


def test_virtual_channels_share_a_channel_by_turns_or_have_their_own():
    """By turns a flit a cycle in all, else one for each of the two; a little less, since packets do not follow at once."""
    assert 0.9 < carried_by_a_channel() <= 1.0
    assert 1.7 < carried_by_a_channel(physical_channels=True) <= 2.0


def test_a_slow_channel_carries_a_flit_in_each_of_its_delays():
    assert 0.9 / 4 < carried_by_a_channel(channel_delay=4) <= 1 / 4


def test_long_buffers_are_virtual_cut_through():
    """Blocked packets leave their channels: more is carried than with short buffers, where they stand across the network."""
    network = {"topology": {"type": "mesh", "widths": [6, 6]}, "routing": "dimension_order"}
    carried = [run(config_of({**network, "router": simured(buffer_depth=depth)},
                             blast(1.0, flits=16, warmup=2000, sample=4000)))["applications"][0]["accepted_load"]
               for depth in (2, 32)]
    assert carried[1] > 1.3 * carried[0]


def test_a_torus_of_one_way_channels_takes_the_long_way_round():
    """On a ring of 5 a packet to any other router makes 1 to 4 hops, 2.5 in the mean; by the shorter way 1.5."""
    network = network_of({"type": "torus", "widths": [5]}, "one_way", simured(num_vcs=2))
    found = run(config_of(network, blast(0.05, flits=4, warmup=1000, sample=100000)))["applications"][0]
    assert found["hops"]["max"] == 4
    assert found["hops"]["mean"] == pytest.approx(2.5, rel=0.05)
    assert found["minimal_hops"]["mean"] == pytest.approx(1.5, rel=0.05)


def test_stages_are_shown(tmp_path):
    network = network_of({"type": "mesh", "widths": [4]}, "dimension_order", simured())
    (tmp_path / "config.json").write_text(json.dumps(config_of(network, blast(0.1, flits=2, warmup=0, sample=500))))
    shown = subprocess.run([PROGRAM, "trace", tmp_path / "config.json", "--packet", "0"], capture_output=True, text=True, check=True)
    for stage in ("route", "grant", "cross", "leave", "eject"):
        assert f" {stage} " in shown.stdout

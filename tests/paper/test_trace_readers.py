# SPDX-License-Identifier: Apache-2.0
"""Traces of packets, of VEF and of Chakra, against times that are counted by hand.

On the ideal network a message of s bytes takes L + ceil(s / 8) - 1 ticks from terminal to terminal; ranks need no
time of their own. A tick is 1 ns, and so is a cycle of SimuRed and of Netrace.
"""
import bz2
import json
import struct
from collections import defaultdict, deque

import pytest

from support import SHARED, Failed, config_of, invoke, network_of

L = 100
NETRACE = SHARED / "traces" / "netrace"
CHAKRA = SHARED / "traces" / "chakra"
IDEAL = {"flit_bytes": 8, "topology": {"type": "ideal", "terminals": 64, "latency": L}, "routing": "minimal",
         "router": {"type": "packet", "num_vcs": 1, "buffer_depth": 1048576, "delay": 0}}
TORUS = network_of({"type": "torus", "widths": [4, 4]}, router={"num_vcs": 2}, channel=3)
MESH = network_of({"type": "mesh", "widths": [8, 8]}, router={"num_vcs": 2}, flit_bytes=8)
THREADS = ("--sync", "conservative", "--threads", "2")


def one_way(size):
    return L + -(-size // 8) - 1


def config_for(file, network):
    largest = 1048576 if network is IDEAL else 8
    return config_of(network, {"type": "trace", "file": str(file), "per_rank": True, "max_packet": largest})


def replay(file, network=IDEAL, arguments=()):
    text, _ = invoke(config_for(file, network), arguments=arguments)
    results = json.loads(text)
    assert results["complete"] and results["applications"][0]["unfinished_ranks"] == 0
    return results["applications"][0], results["simulation"]["digest"]


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


# ---- SimuRed ----

def ping_pong(packets, flits):
    """Between nodes 0 and 5, each packet named, and sent when the one before has arrived."""
    lines = [f"{f'p{i - 1}' if i else 0} {5 * (i % 2)} {5 - 5 * (i % 2)} {flits} p{i}" for i in range(packets)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("network", [IDEAL, TORUS], ids=["packets", "flits"])
def test_a_ping_pong_takes_one_way_latencies(network, written):
    single, _ = replay(written("one.trc", ping_pong(1, 8)), network)
    block, digest = replay(written("many.trc", ping_pong(1000, 8)), network)
    assert block["completion_time"] == 1000 * single["completion_time"]
    assert replay(written("many.trc", ping_pong(1000, 8)), network, THREADS)[1] == digest


def test_packets_leave_in_their_cycle_or_when_another_has_arrived(written):
    """Two wait for p1, which comes behind them in the file; they leave one behind the other, as both are of node 3."""
    block, _ = replay(written("fan.trc", "p1 3 0 1\np1 3 1 1\n500 2 3 2 p1\n"))
    arrived = 500 + one_way(2 * 32)
    assert block["time_by_rank"][3] == arrived
    assert block["time_by_rank"][0] == arrived + one_way(32)
    assert block["time_by_rank"][1] == arrived + one_way(32) + 4


def test_a_node_is_told_of_packets_that_arrive_elsewhere(written):
    """Node 4 waits for a packet from 2 to 3, and hears of it from 3 by a message of a flit."""
    block, digest = replay(written("told.trc", "p1 4 0 1\n500 2 3 2 p1\n"))
    arrived = 500 + one_way(2 * 32)
    told = arrived + one_way(8)
    assert block["time_by_rank"][:5] == [told + one_way(32), 0, 500, arrived, told]
    assert replay(written("told.trc", "p1 4 0 1\n500 2 3 2 p1\n"), IDEAL, THREADS)[1] == digest


# ---- CSV ----

def test_messages_leave_at_their_times(written):
    block, _ = replay(written("sent.csv", "time_us,source,destination,bytes\n2,0,1,800\n0.5,0,2,80\n.75,3,3,8\n"))
    assert block["bytes"] == 888
    assert block["time_by_rank"][:3] == [2000, 2000 + one_way(800), 500 + one_way(80)]


# ---- Netrace ----

def netrace_packets(path):
    """(cycle, number, type, source, destination, numbers of those that wait for it), and the header's own count."""
    data = bz2.decompress(path.read_bytes())
    count, notes, regions = struct.unpack_from("<QII", data, 48)
    at, packets = 72 + notes + 24 * regions, []
    while at < len(data):
        cycle, number, _, kind, source, destination, _, waiting = struct.unpack_from("<QIIBBBBB", data, at)
        packets.append((cycle, number, kind, source, destination, struct.unpack_from(f"<{waiting}I", data, at + 21)))
        at += 21 + 4 * waiting
    return packets, count


LONG = {2, 3, 4, 6, 16, 30}  # types that carry a line of the cache: 72 bytes and not 8


def check_times(packets, log, start):
    """Each packet is created in its cycle, or in the tick in which the last of those that list it has arrived. One to its own
    terminal takes a tick and never enters the network."""
    rows, ready = defaultdict(deque), defaultdict(int)
    for row in log:
        rows[row["source"], row["destination"], row["packet_flits"], row["created"]].append(row)
    for cycle, number, kind, source, destination, waiting in packets:
        expected = max(start + cycle, ready[number])
        arrived = expected + 1
        if source != destination:
            arrived = rows[source, destination, 9 if kind in LONG else 1, expected].popleft()["tail_arrived"]
        for other in waiting:
            ready[other] = max(ready[other], arrived)


@pytest.mark.skipif(not NETRACE.exists(), reason="shared/traces/netrace is not there")
@pytest.mark.parametrize("name", ["shrtex", "example", "multiregion"])
def test_netrace_packets_leave_when_they_may(name):
    packets, count = netrace_packets(NETRACE / f"{name}.tra.bz2")
    text, log = invoke(config_for(NETRACE / f"{name}.tra.bz2", IDEAL), log=True)
    block = json.loads(text)["applications"][0]
    assert len(packets) == count
    assert len(log) == sum(source != destination for _, _, _, source, destination, _ in packets)
    assert block["bytes"] == sum(72 if kind in LONG else 8 for _, _, kind, _, _, _ in packets)
    check_times(packets, log, block["phases"]["generating"])


@pytest.mark.skipif(not NETRACE.exists(), reason="shared/traces/netrace is not there")
def test_netrace_on_threads_is_the_same():
    file = NETRACE / "example.tra.bz2"
    assert replay(file, MESH)[1] == replay(file, MESH, THREADS)[1]


# ---- VEF ----

def test_vef_records_wait_and_delay(written):
    """Message 1 answers 0 after 20 ticks; rank 0 waits for both and then 5 ticks until message 2."""
    block, _ = replay(written("waits.vef", """VEF3 2 4 1 0 0 0 1000
C0 0 1
0 0 1 80 4 100 -1
1 1 0 800 6 20 0
2 0 0 0 2 0 1
3 0 1 8 5 5 2
"""))
    answered = 100 + one_way(80) + 20 + one_way(800)
    assert block["time_by_rank"][:2] == [answered + 5, answered + 5 + one_way(8)]


def test_vef_collectives_begin_when_the_last_rank_comes(written):
    """A barrier of two ranks takes a message each way; what follows waits for it."""
    block, _ = replay(written("barrier.vef", """VEF3 2 1 1 1 2 0 1000
C0 0 1
G0 C0 6 0 0 0 0 0 -1
G0 C0 6 1 0 0 0 700 -1
0 0 1 8 7 10 G0
"""))
    assert block["time_by_rank"][:2] == [700 + L + 10, 700 + L + 10 + one_way(8)]


# ---- Chakra ----

@pytest.mark.skipif(not CHAKRA.exists(), reason="shared/traces/chakra is not there")
def test_chakra_ring_takes_its_steps():
    """14 steps of 128 KiB; behind each of the first seven every rank computes for 7 us."""
    block, _ = replay(CHAKRA / "custom_ring_allreduce_8npus_1MB" / "custom_allreduce.0.et")
    assert block["bytes"] == 8 * 14 * 131072
    assert block["time_by_rank"][:8] == [14 * one_way(131072) + 7 * 7000] * 8


@pytest.mark.skipif(not CHAKRA.exists(), reason="shared/traces/chakra is not there")
@pytest.mark.parametrize("ranks", [4, 8])
def test_chakra_collectives_replay_to_the_end(ranks):
    block, _ = replay(CHAKRA / f"all_reduce_{ranks}npus_1MB" / "all_reduce.0.et")
    assert block["ranks"] == block["tasks"] == ranks


# ---- refusals ----

def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def proto(**fields):
    """Field n of a message is passed as f_n: a number, or bytes."""
    text = b""
    for name, value in fields.items():
        key = int(name[2:]) << 3
        text += varint(key) + varint(value) if isinstance(value, int) else varint(key | 2) + varint(len(value)) + value
    return text


def chakra_file(path, nodes):
    """Of nodes (type, microseconds, waits, attributes), numbered from 1."""
    messages = [proto(f_1=b"0.0.4")]
    for number, (kind, duration, waits, attributes) in enumerate(nodes, 1):
        node = proto(f_1=number, f_3=kind, f_5=b"".join(map(varint, waits)), f_7=duration)
        messages.append(node + b"".join(proto(f_10=proto(f_1=name.encode(), f_9=value))
                                        for name, value in attributes.items()))
    path.write_bytes(b"".join(varint(len(message)) + message for message in messages))


def test_collectives_that_ranks_begin_in_another_order_are_told_apart(tmp_path):
    """An allreduce and a broadcast go on side by side. Rank 0 computes for 10 us before the one, rank 1 before the other:
    the allreduce ends at rank 1 when the message of rank 0 is there, all else has arrived long before, as messages do not
    wait for computing."""
    compute, allreduce, broadcast = 4, {"comm_type": 0, "comm_size": 8}, {"comm_type": 5, "comm_size": 800}
    chakra_file(tmp_path / "two.0.et", [(compute, 10, [], {}), (7, 0, [1], allreduce), (7, 0, [], broadcast)])
    chakra_file(tmp_path / "two.1.et", [(compute, 10, [], {}), (7, 0, [], allreduce), (7, 0, [1], broadcast)])
    block, digest = replay(tmp_path / "two.0.et")
    assert block["time_by_rank"][:2] == [10000, 10000 + one_way(8)]
    assert replay(tmp_path / "two.0.et", IDEAL, THREADS)[1] == digest


def test_a_trace_that_is_wrong_is_refused_at_its_line(written):
    with pytest.raises(Failed) as failed:
        replay(written("unnamed.trc", "0 0 1 8 p1\np2 1 0 8\n"))
    assert failed.value.status == 1
    assert "workload.applications[0].file: " in failed.value.message
    assert "unnamed.trc:2: the packet waits for p2, and no line has a packet of that name" in failed.value.message

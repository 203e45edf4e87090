# SPDX-License-Identifier: Apache-2.0
"""Applications that wait for messages, against times that are counted by hand.

A message of L flits that meets nobody takes 2 ct + H (r + v + s + x) + (H - 1) c + L - 1 (test_zero_load.py). On one
router with the stages below, and terminal channels of one tick, that is WAY + L - 1 with WAY = 2 + 3.
"""
import math

import pytest

from support import Failed, config_of, network_of, run, run_logged

STAGES = {"routing_latency": 0, "vc_allocation_latency": 1, "switch_allocation_latency": 1, "crossbar_latency": 1}
DEEP = {"num_vcs": 4, "buffer_depth": 64, **STAGES}
WAY = 2 + 3


def one_router(terminals, **more):
    return network_of({"type": "single_router", "terminals": terminals}, "minimal", DEEP, **more)


def fixed(flits):
    return {"type": "fixed", "flits": flits}


def block_of(config):
    results = run(config)
    assert results["complete"]
    return results["applications"][0]


# ---- stream ----

@pytest.mark.parametrize("load, flits, messages", [(0, 1, 50), (0, 6, 20), (0.5, 6, 20), (0.25, 1, 30), (0.3, 7, 10)])
def test_a_stream_takes_the_time_of_its_flits(load, flits, messages):
    # Message n is made after n L / load ticks, rounded down; the last one takes its way alone.
    application = {"type": "stream", "sources": [0], "destinations": [2], "load": load, "messages": messages,
                   "size": fixed(flits), "delay": 7}
    results, packets = run_logged(config_of(one_router(4), application))
    start = results["applications"][0]["phases"]["generating"] + 7
    expected = [start + math.floor(n * flits / (load or 1) + 1e-9) for n in range(messages)]
    assert sorted(packet["created"] for packet in packets) == expected
    assert results["applications"][0]["completion_time"] == expected[-1] - start + WAY + flits - 1
    assert results["applications"][0]["packets"] == messages


def test_two_streams_to_one_terminal_share_its_channel():
    # 2 x 100 flits through one ejection channel, one a tick; the first one leaves after its way.
    application = {"type": "stream", "sources": [0, 1], "destinations": [3], "messages": 100}
    assert block_of(config_of(one_router(4), application))["completion_time"] == WAY + 2 * 100 - 1


@pytest.mark.parametrize("mapping, pairs", [("pairs", {(0, 4), (1, 5), (2, 4)}),
                                            ("turns", {(s, d) for s in (0, 1, 2) for d in (4, 5)})])
def test_streams_are_mapped_as_told(mapping, pairs):
    application = {"type": "stream", "sources": [0, 1, 2], "destinations": [4, 5], "mapping": mapping, "messages": 10}
    _, packets = run_logged(config_of(one_router(8), application))
    assert {(packet["source"], packet["destination"]) for packet in packets} == pairs
    assert len(packets) == 30


def test_a_stream_without_end_is_sampled_as_a_blast_is():
    application = {"type": "stream", "sources": [1], "destinations": [6], "warmup": 300, "sample": 2000}
    block = block_of(config_of(one_router(8), application))
    assert block["sampled_ticks"] == 2000 and block["packets"] == 2000 and "completion_time" not in block
    assert block["accepted_load"] * 8 == pytest.approx(1) and block["target_load"] * 8 == 1
    assert block["packet_latency"]["min"] == block["packet_latency"]["max"] == WAY


# ---- all to all ----

@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("order", ["linear", "shifted", "random"])
def test_all_send_to_all_once_in_an_iteration(order, wait):
    application = {"type": "alltoall", "iterations": 4, "order": order, "wait": wait, "size": {"type": "uniform", "max": 9},
                   "max_packet": 4}
    results, packets = run_logged(config_of(network_of({"type": "torus", "widths": [3, 4]}), application))
    sent = {}
    for packet in sorted(packets, key=lambda packet: packet["packet"]):
        if packet["message"] == packet["packet"]:  # the first of its message
            sent.setdefault(packet["source"], []).append(packet["destination"])
    orders = set()
    for source, destinations in sent.items():
        assert len(destinations) == 4 * 11
        for iteration in range(4):
            part = destinations[11 * iteration:11 * (iteration + 1)]
            assert sorted(part) == [rank for rank in range(12) if rank != source]
            orders.add(tuple(part))
            if order == "linear":
                assert part == sorted(part)
            if order == "shifted":
                assert part == [(source + n) % 12 for n in range(1, 12)]
    assert len(orders) == (48 if order == "random" else 12)
    block = results["applications"][0]
    start = block["phases"]["generating"]
    assert block["completion_time"] == max(packet["tail_arrived"] for packet in packets) - start
    assert block["iterations"] == 4 and ("iteration_time" in block) == wait


def test_shifted_all_to_all_keeps_every_channel_busy():
    # Each tick every rank sends to another one, so no two meet: n - 1 messages of L flits, then the way of the last.
    for ranks, flits in [(5, 1), (8, 4)]:
        application = {"type": "alltoall", "order": "shifted", "size": fixed(flits)}
        assert block_of(config_of(one_router(ranks), application))["completion_time"] == (ranks - 1) * flits + WAY - 1
        # With wait, an iteration takes that and the next begins at once, everywhere.
        application = {"type": "alltoall", "order": "shifted", "size": fixed(flits), "iterations": 3, "wait": True}
        block = block_of(config_of(one_router(ranks), application))
        once = (ranks - 1) * flits + WAY - 1
        assert block["completion_time"] == 3 * once
        assert block["iteration_time"]["min"] == block["iteration_time"]["max"] == once


def test_no_rank_begins_before_it_has_all_of_the_last_iteration():
    application = {"type": "alltoall", "iterations": 5, "order": "random", "wait": True, "size": {"type": "uniform", "max": 6}}
    _, packets = run_logged(config_of(network_of({"type": "mesh", "widths": [3, 3]}), application))
    messages = {}
    for packet in sorted(packets, key=lambda packet: packet["packet"]):
        messages.setdefault(packet["source"], []).append(packet)
    for rank, sent in messages.items():
        received = [[parts[8 * i + k] for parts in messages.values() for k in range(8)
                     if parts[8 * i + k]["destination"] == rank] for i in range(5)]
        for iteration in range(1, 5):
            assert len(received[iteration - 1]) == 8
            first = min(packet["created"] for packet in sent[8 * iteration:8 * iteration + 8])
            last = max(packet["tail_arrived"] for packet in received[iteration - 1])
            done = max(packet["created"] for packet in sent[8 * iteration - 8:8 * iteration])
            assert first >= max(last, done)


# ---- stencil ----

@pytest.mark.parametrize("collective, ranks, flits, halo, compute", [
    ("none", [4], 1, [3], 50), ("none", [4, 4], 1, [2], 0), ("barrier", [4], 1, [1], 20), ("barrier", [5], 2, [1], 20),
    ("allreduce", [8], 4, [1], 10), ("allreduce", [4, 2], 1, [3], 0)])
def test_an_iteration_is_the_sum_of_its_parts(collective, ranks, flits, halo, compute):
    # On one router each rank sends its halos one behind the other and gets as many, in turn from all sides: with n faces
    # of L flits in each direction the last tail comes after n L flits and the way. Then each round takes its way.
    application = {"type": "stencil", "ranks": ranks, "halo": halo, "iterations": 6, "compute": compute,
                   "collective": collective, "collective_flits": flits}
    count = math.prod(ranks)
    block = block_of(config_of(one_router(count), application))
    rounds = {"none": 0, "barrier": math.ceil(math.log2(count)), "allreduce": int(math.log2(count))}[collective]
    faces = 2 * len(ranks)
    once = compute + WAY - 1 + faces * halo[0] + rounds * (WAY + flits - 1)
    time = block["iteration_time"]
    if len(ranks) == 1:  # both faces are exchanged with ranks that send in the same order: nobody waits
        assert time["min"] == time["max"] == once
        assert block["completion_time"] == 6 * once
    assert time["min"] >= once - (faces - 1) * halo[0] and time["mean"] >= compute + WAY
    assert block["iterations"] == 6


@pytest.mark.parametrize("ranks, halo, wraps, neighbours", [
    ([3, 4], [5], True, 4), ([3, 4], [5, 2], True, 8), ([3, 2, 2], [4, 2, 1], True, 26), ([3, 2, 2], [4], True, 6),
    ([12], [7], True, 2), ([4, 3], [2], False, None)])
def test_halos_go_to_all_neighbours_and_no_further(ranks, halo, wraps, neighbours):
    application = {"type": "stencil", "ranks": ranks, "halo": halo, "wraps": wraps, "iterations": 3, "compute": 10}
    _, packets = run_logged(config_of(network_of({"type": "torus", "widths": [4, 3]}), application))
    width = ranks + [1] * (3 - len(ranks))
    place = [(r % width[0], r // width[0] % width[1], r // width[0] // width[1]) for r in range(12)]
    expected = {}
    for r in range(12):
        for way in range(1, 27):
            step = [(way // 3**d % 3 + 1) % 3 - 1 for d in range(3)]
            to = [place[r][d] + step[d] for d in range(3)]
            inside = all(0 <= to[d] < width[d] for d in range(3))
            kind = sum(map(bool, step))
            if kind > len(halo) or any(step[d] and width[d] == 1 for d in range(3)) or not (wraps or inside):
                continue
            key = (r, place.index(tuple(to[d] % width[d] for d in range(3))), halo[kind - 1])
            expected[key] = expected.get(key, 0) + 3
    found = {}
    for packet in packets:
        key = (packet["source"], packet["destination"], packet["message_flits"])
        found[key] = found.get(key, 0) + 1
    assert found == expected
    if neighbours:
        assert len(packets) == 12 * neighbours * 3


@pytest.mark.parametrize("collective", ["barrier", "allreduce"])
@pytest.mark.parametrize("count", [2, 5, 8, 12])
def test_nobody_passes_a_collective_before_all_have_come(collective, count):
    # Halos differ in length along the line, so that ranks come at different times.
    application = {"type": "stencil", "ranks": [count], "halo": [40], "wraps": False, "iterations": 4, "compute": 5,
                   "collective": collective, "max_packet": 8}
    _, packets = run_logged(config_of(network_of({"type": "mesh", "widths": [count]}), application))
    halos = {}
    for packet in packets:
        if packet["message_flits"] == 40:
            halos.setdefault(packet["source"], set()).add(packet["created"])
    starts = {rank: sorted(times) for rank, times in halos.items()}
    assert all(len(times) == 4 for times in starts.values())
    for iteration in range(3):
        last = max(times[iteration] for times in starts.values())
        assert all(times[iteration + 1] > last for times in starts.values())


# ---- memory ----

@pytest.mark.parametrize("reads, asked, answered", [(1, 2, 6), (0, 7, 3)])
def test_one_request_at_a_time_takes_both_ways_and_the_memory(reads, asked, answered):
    kind = "read" if reads else "write"
    application = {"type": "memory", "memories": [1], "outstanding": 1, "latency": 40, "think": 9, "warmup": 0,
                   "sample": 5000, "size": {"type": "read_write", "reads": reads, f"{kind}_request": asked,
                                            f"{kind}_reply": answered}}
    block = block_of(config_of(one_router(2), application))
    once = (WAY + asked - 1) + 40 + (WAY + answered - 1)
    assert block["transaction_latency"]["min"] == block["transaction_latency"]["max"] == once
    assert block["transactions"] == math.ceil(5000 / (once + 9)) and block["unfinished_transactions"] == 0
    assert block[f"{kind}_latency"]["mean"] == once and block["memories"] == 1
    assert block["write_latency" if reads else "read_latency"]["mean"] is None


def test_the_bandwidth_of_a_memory_is_one_reply_an_interval():
    # Seven processors with eight requests each keep the memory busy: a reply every 10 ticks; each waits for the 55 others.
    application = {"type": "memory", "memories": [7], "outstanding": 8, "latency": 20, "interval": 10, "warmup": 2000,
                   "sample": 10000, "size": {"type": "read_write", "reads": 1, "read_reply": 1}}
    results, packets = run_logged(config_of(one_router(8), application))
    block = results["applications"][0]
    assert block["transactions"] == pytest.approx(1000, abs=1)
    assert block["transaction_latency"]["mean"] == pytest.approx(56 * 10, abs=2)
    made = sorted(packet["created"] for packet in packets if packet["source"] == 7)
    assert {b - a for a, b in zip(made, made[1:])} == {10}


@pytest.mark.parametrize("block, expected", [(1, [0, 1, 2, 0, 1, 2]), (2, [0, 0, 1, 1, 2, 2])])
def test_sequential_addresses_go_round_the_memories(block, expected):
    application = {"type": "memory", "memories": [1, 3, 5], "outstanding": 1, "addresses": "sequential", "block": block,
                   "latency": 3, "warmup": 0, "sample": 2000}
    _, packets = run_logged(config_of(one_router(6), application))
    for processor in (0, 2, 4):
        asked = [[1, 3, 5].index(packet["destination"]) for packet in sorted(packets, key=lambda p: p["created"])
                 if packet["source"] == processor]
        period = 3 * block
        assert len(asked) > 20
        assert any(asked == [expected[(n + shift) % period] for n in range(len(asked))] for shift in range(period))


def test_processors_never_have_more_requests_under_way_than_they_may():
    application = {"type": "memory", "share": 0.25, "outstanding": 3, "latency": 15, "interval": 5, "warmup": 0,
                   "sample": 3000}
    _, packets = run_logged(config_of(network_of({"type": "mesh", "widths": [4, 4]}), application))
    memories = {packet["destination"] for packet in packets if packet["source"] == packet["initiator"]}
    assert memories == {3, 7, 11, 15}
    moments = {}
    for packet in packets:
        if packet["source"] == packet["initiator"]:
            moments.setdefault(packet["initiator"], []).append((packet["created"], 1))
        else:
            moments.setdefault(packet["initiator"], []).append((packet["tail_arrived"], -1))
    assert len(moments) == 12
    for times in moments.values():
        under_way = most = 0
        for _, change in sorted(times):  # a reply frees its place before the next request is made
            under_way += change
            most = max(most, under_way)
        assert most == 3


# ---- what does not fit ----

REFUSED = {
    "a stream from nobody": ({"type": "stream", "sources": []}, "sources", "one rank or more"),
    "a stream from a rank that is not there": ({"type": "stream", "sources": [8]}, "sources", "there is no rank 8"),
    "a stream to a rank that is not there": ({"type": "stream", "destinations": [9]}, "destinations", "there is no rank 9"),
    "a source listed twice": ({"type": "stream", "sources": [3, 3]}, "sources", "3 is listed twice"),
    "a stream above its channel": ({"type": "stream", "load": 1.5}, "load", "accepted: 0 to 1"),
    "all to all above the channel": ({"type": "alltoall", "load": 2}, "load", "accepted: 0 to 1"),
    "a stencil of other ranks": ({"type": "stencil", "ranks": [3, 3]}, "ranks", "a grid of 9 for an application on 8"),
    "a stencil of four dimensions": ({"type": "stencil", "ranks": [2, 2, 2, 1]}, "ranks", "accepted: 1 to 3"),
    "corners in a plane": ({"type": "stencil", "ranks": [4, 2], "halo": [3, 2, 1]}, "halo", "accepted: 1 to 2"),
    "no halo": ({"type": "stencil", "ranks": [8], "halo": []}, "halo", "accepted: 1 to 1"),
    "memories alone": ({"type": "memory", "share": 1}, "share", "both kinds"),
    "processors alone": ({"type": "memory", "share": 0}, "share", "both kinds"),
    "a memory that is not there": ({"type": "memory", "memories": [8]}, "memories", "there is no rank 8"),
    "a memory listed twice": ({"type": "memory", "memories": [1, 1]}, "memories", "1 is listed twice"),
    "memories whose sizes have no replies": ({"type": "memory", "size": "fixed"}, "size", "accepted: read_write"),
}


@pytest.mark.parametrize("application, key, message", REFUSED.values(), ids=REFUSED)
def test_application_is_refused(application, key, message):
    with pytest.raises(Failed) as failed:
        run(config_of(one_router(8), application))
    assert failed.value.status == 1
    assert f"workload.applications[0].{key}" in failed.value.message and message in failed.value.message


@pytest.mark.parametrize("application", [
    {"type": "alltoall", "iterations": 1000}, {"type": "alltoall", "iterations": 1000, "wait": True},
    {"type": "stencil", "ranks": [4, 4], "iterations": 1000, "collective": "barrier"},
    {"type": "stream", "messages": 100000}], ids=["alltoall", "wait", "stencil", "stream"])
def test_what_takes_longer_than_its_limit_is_given_up(application):
    block = block_of(config_of(network_of({"type": "mesh", "widths": [4, 4]}), {**application, "limit": 700}))
    assert block["completion_time"] is None and block["packets"] > 0
    assert block["phases"]["finishing"] == 100 + 700 + 100  # the grid point after the one that saw it
    assert block["phases"]["draining"] == 100 + 700 + 200


@pytest.mark.parametrize("application", [
    {"type": "alltoall"}, {"type": "alltoall", "self": True, "wait": True, "iterations": 3},
    {"type": "stencil", "ranks": [1], "collective": "barrier", "compute": 3}, {"type": "stencil", "ranks": [1]}],
    ids=["alone", "to itself", "barrier of one", "stencil of one"])
def test_a_rank_that_is_alone_comes_to_its_end(application):
    application = {**application, "allocation": {"type": "list", "terminals": [2]}}
    assert block_of(config_of(one_router(4), application))["unfinished_packets"] == 0


def test_applications_run_side_by_side_and_after_a_blast_has_warmed():
    applications = [
        {"type": "blast", "load": 0.1, "warmup": 700, "sample": 1000},
        {"type": "stencil", "ranks": [4, 2], "iterations": 3, "compute": 50, "collective": "barrier", "delay": 33,
         "allocation": {"type": "linear", "count": 8}},
        {"type": "alltoall", "iterations": 2, "wait": True, "allocation": {"type": "linear", "first": 8, "count": 8}},
        {"type": "memory", "share": 0.5, "warmup": 0, "sample": 100},
        {"type": "stream", "sources": [15], "destinations": [0], "messages": 5}]
    results = run(config_of(network_of({"type": "mesh", "widths": [4, 4]}), *applications))
    assert results["complete"]
    for block in results["applications"]:
        assert block["phases"]["generating"] == 700 and block["unfinished_packets"] == 0 and block["packets"] > 0
    assert results["applications"][1]["completion_time"] > 150


# ---- where they run ----

def mapped(*allocations, widths=(6, 6), seed=1):
    """Terminals of applications whose ranks all send to each other."""
    applications = [{"type": "alltoall", "name": str(i), "allocation": {"type": "random", **allocation}}
                    for i, allocation in enumerate(allocations)]
    _, packets = run_logged(config_of(network_of({"type": "mesh", "widths": list(widths)}), *applications, seed=seed))
    return [{packet["source"] for packet in packets if int(packet["application"]) == i} for i in range(len(allocations))]


def test_applications_of_one_map_share_out_the_terminals():
    whole, first, second = {"map": 7, "count": 36}, {"map": 7, "count": 20}, {"map": 7, "count": 16, "skip": 20}
    both, one, other = mapped(whole, first, second)
    assert (len(both), len(one), len(other)) == (36, 20, 16)
    assert not one & other and one | other == both
    assert mapped(first, second, seed=2) == [one, other]  # of any seed
    assert mapped({**first, "map": 8}) != [one] and len(one & mapped({**first, "map": 8})[0]) < 20


def test_a_map_among_some_terminals_is_the_same_on_a_larger_network():
    chosen = {"map": 7, "count": 10, "skip": 5, "among": 30}
    small, large = mapped(chosen), mapped(chosen, widths=(9, 9))
    assert small == large and small[0] <= set(range(30)) and len(small[0]) == 10


def test_without_a_map_each_application_draws_its_own():
    one, other = mapped({"count": 18}, {"count": 18})
    assert one != other and mapped({"count": 18}, seed=2) != [one]


# ---- blast ----

@pytest.mark.parametrize("waits", [True, False])
def test_a_saturated_flow_is_waited_for_where_that_is_asked(waits):
    # A packet a tick for a channel that takes one in two: each waits a tick longer than the one before it. When the window of
    # 1,000 closes, 500 are on their way at the most.
    application = {"type": "blast", "load": 1, "traffic": "neighbor", "injection": "periodic", "warmup": 0, "sample": 1000,
                   "wait_when_saturated": waits}
    network = network_of({"type": "mesh", "widths": [2]}, "dimension_order", {"num_vcs": 1, "buffer_depth": 8}, {"latency": 1, "cycle": 2})
    block = block_of(config_of(network, application))
    latency = block["packet_latency"]
    assert block["saturated"]
    assert (block["unfinished_packets"] == 0) == waits
    if waits:
        assert latency["max"] - latency["min"] == 999 and latency["mean"] == latency["min"] + 999 / 2
    else:
        assert latency["max"] - latency["min"] < 600

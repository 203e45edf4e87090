# SPDX-License-Identifier: Apache-2.0
"""Requests and their replies: what a transaction takes is the sum of its parts, to the tick, and none is lost.

A request of L flits that meets nobody takes 2 ct + H (r + v + s + x) + (H - 1) c + L - 1 (test_zero_load.py). The reply
is made `reply_delay` after the request's last tail has arrived, in the same tick where that is 0, and takes the same way
back through as many routers. So a transaction alone in the network takes

    2 (2 ct + H (r + v + s + x) + (H - 1) c) + (L request - 1) + reply_delay + (L reply - 1)

A message that is cut into packets of at most M flits takes as long as one packet of all its flits where the buffers are
deep enough: its packets follow each other by one flit a tick on the injection channel, through routers that are idle.
"""
import pytest

from support import blast, config_of, network_of, run, run_logged

STAGES = {"routing_latency": 0, "vc_allocation_latency": 1, "switch_allocation_latency": 1, "crossbar_latency": 1}
DEEP = {"num_vcs": 4, "buffer_depth": 64}
MESH = {"type": "mesh", "widths": [4, 4]}


def transactions_of(packets):
    """{(initiator, transaction): (packets of the request, packets of the reply)}"""
    found = {}
    for packet in packets:
        request, reply = found.setdefault((packet["initiator"], packet["transaction"]), ([], []))
        is_request = (packet["source"], packet["message"]) == (packet["initiator"], packet["transaction"])
        (request if is_request else reply).append(packet)
    return found


def begin(part):
    return min(packet["created"] for packet in part)


def end(part):
    return max(packet["tail_arrived"] for packet in part)


def expect_whole(found, request_flits, reply_flits, delay):
    """Every request has one reply, back to its sender and `delay` after its last tail."""
    for (initiator, number), (request, reply) in found.items():
        assert request and reply
        assert {packet["transaction_messages"] for packet in request + reply} == {2}
        assert {packet["source"] for packet in request} == {packet["destination"] for packet in reply} == {initiator}
        assert {packet["destination"] for packet in request} == {packet["source"] for packet in reply}
        assert {packet["message"] for packet in request} == {number} and len({packet["message"] for packet in reply}) == 1
        assert sum(packet["packet_flits"] for packet in request) == request[0]["message_flits"] == request_flits
        assert sum(packet["packet_flits"] for packet in reply) == reply[0]["message_flits"] == reply_flits
        assert {packet["created"] for packet in reply} == {end(request) + delay}


@pytest.mark.parametrize("delay", [0, 1, 37, 5000])  # the last lies beyond the engine's wheel
@pytest.mark.parametrize("request_flits, reply_flits, max_packet", [(1, 1, 1024), (1, 5, 1024), (6, 2, 1024), (7, 10, 4)])
def test_a_lonely_transaction_takes_the_sum_of_its_parts(request_flits, reply_flits, max_packet, delay):
    network = network_of(MESH, router={**DEEP, **STAGES}, channel=2, terminal_channel=3)
    application = blast(request_flits / 20000 / 16, flits=request_flits, reply={"type": "fixed", "flits": reply_flits},
                        reply_delay=delay, max_packet=max_packet, warmup=0, sample=4000000)
    results, packets = run_logged(config_of(network, application))
    found = transactions_of(packets)
    expect_whole(found, request_flits, reply_flits, delay)
    in_order = sorted(found.values(), key=lambda parts: begin(parts[0]))
    lonely, busy_until = 0, -1
    latencies = []
    for number, (request, reply) in enumerate(in_order):
        latencies.append(end(reply) - begin(request))
        after = begin(in_order[number + 1][0]) if number + 1 < len(in_order) else float("inf")
        if begin(request) > busy_until and end(reply) < after:
            routers = request[0]["hops"] + 1
            way = 2 * 3 + routers * 3 + (routers - 1) * 2
            assert latencies[-1] == 2 * way + (request_flits - 1) + delay + (reply_flits - 1)
            lonely += 1
        busy_until = max(busy_until, end(reply))
    assert lonely > 50
    application = results["applications"][0]
    latency = application["transaction_latency"]
    assert application["transactions"] == len(found) and application["unfinished_transactions"] == 0
    assert latency["mean"] == pytest.approx(sum(latencies) / len(latencies))
    assert (latency["min"], latency["max"]) == (min(latencies), max(latencies))


@pytest.mark.parametrize("delay", [0, 250])
@pytest.mark.parametrize("network", [network_of(MESH), network_of({"type": "torus", "widths": [4, 4]}),
                                     network_of(MESH, interface={"type": "standard", "injection_channels": 2,
                                                                 "ejection_channels": 3})], ids=["mesh", "torus", "wide"])
def test_under_load_every_sampled_request_has_its_reply(network, delay):
    application = blast(0.05, flits=1, reply={"type": "fixed", "flits": 6}, reply_delay=delay, max_packet=4, warmup=500,
                        sample=3000)
    results, packets = run_logged(config_of(network, application))
    found = transactions_of(packets)
    expect_whole(found, 1, 6, delay)
    block = results["applications"][0]
    assert block["transactions"] == len(found) > 2000 and block["unfinished_transactions"] == 0
    assert block["packets"] == len(packets) == 3 * len(found)  # a request, and a reply of 4 + 2 flits
    assert block["unfinished_packets"] == 0 and not block["saturated"]
    # Requests were made within the window, and the run waited for the last of their replies.
    window = (block["warmup_ticks"], block["warmup_ticks"] + block["sampled_ticks"])
    assert all(window[0] <= begin(request) < window[1] for request, _ in found.values())
    assert max(end(reply) for _, reply in found.values()) <= block["phases"]["draining"]
    assert max(begin(reply) for _, reply in found.values()) >= window[1]
    # load is the load of requests; offered and accepted count all flits: 1 + 6 for each.
    assert block["target_load"] == 0.05
    assert block["offered_load"] == pytest.approx(7 * 0.05, rel=0.05)
    assert block["accepted_load"] == pytest.approx(block["offered_load"], rel=0.02)
    assert sum(count for _, count in block["hop_distribution"]) == block["packets"]


def test_a_request_without_its_reply_keeps_the_run_waiting():
    # The last request arrives a few ticks after the window; for 30,000 ticks nothing that is sampled is on its way.
    application = blast(0.01, reply="fixed", reply_delay=30000, warmup=0, sample=1000)
    block = run(config_of(network_of(MESH), application))["applications"][0]
    assert block["transactions"] > 100 and block["unfinished_transactions"] == 0
    assert block["phases"]["draining"] > 1000 + 30000
    assert block["transaction_latency"]["min"] > 30000 and block["packet_latency"]["max"] < 100
    assert block["packet_latency"]["ci95"] is not None  # replies belong to the moment of their request


def test_the_finish_limit_ends_the_wait():
    application = blast(0.01, reply="fixed", reply_delay=30000, warmup=0, sample=1000, finish_limit=5000)
    block = run(config_of(network_of(MESH), application))["applications"][0]
    assert block["transactions"] == 0 and block["unfinished_transactions"] > 100
    assert block["transaction_latency"]["mean"] is None and block["phases"]["draining"] < 10000


@pytest.mark.parametrize("max_packet", [1024, 3])
def test_replies_alone_can_saturate_a_network_which_still_drains(max_packet):
    # 0.2 flits of requests are little; 4 flits back for each are 0.8, more than an 8x8 mesh carries.
    mesh = network_of({"type": "mesh", "widths": [8, 8]})
    alone = run(config_of(mesh, blast(0.2, warmup=1000, sample=3000)))["applications"][0]
    assert not alone["saturated"]
    both = run(config_of(mesh, blast(0.2, reply={"type": "fixed", "flits": 4}, max_packet=max_packet, warmup=1000,
                                     sample=3000)))["applications"][0]
    assert both["saturated"] and both["accepted_load"] < both["offered_load"]
    assert both["unfinished_transactions"] > 0


def test_requests_are_the_same_with_and_without_replies():
    def requests(**more):
        _, packets = run_logged(config_of(network_of(MESH), blast(0.05, warmup=500, sample=2000, **more)))
        return sorted((packet["created"], packet["source"], packet["destination"]) for packet in packets
                      if packet["source"] == packet["initiator"] and packet["message"] == packet["transaction"])
    alone = requests()
    assert len(alone) > 1000
    assert requests(reply={"type": "uniform", "max": 8}) == alone
    assert requests(reply="fixed", reply_delay=100) == alone


def test_sizes_of_replies_follow_their_component():
    _, packets = run_logged(config_of(network_of(MESH), blast(0.02, reply={"type": "mix", "sizes": [2, 9]}, warmup=500,
                                                              sample=10000)))
    replies = [packet["packet_flits"] for packet in packets if packet["source"] != packet["initiator"]]
    assert set(replies) == {2, 9} and replies.count(9) == pytest.approx(len(replies) / 2, rel=0.1)


def test_a_pulse_takes_replies_too():
    pulse = {"type": "pulse", "load": 0.1, "messages": 20, "reply": {"type": "fixed", "flits": 3}, "reply_delay": 5}
    results = run(config_of(network_of(MESH), blast(0.1, warmup=500, sample=2000), pulse))
    steady, burst = results["applications"]
    assert "transaction_latency" not in steady and "transactions" not in steady
    assert burst["transactions"] == 16 * 20 and burst["unfinished_transactions"] == 0
    assert burst["packets"] == 2 * burst["transactions"]

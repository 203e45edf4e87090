# SPDX-License-Identifier: Apache-2.0
"""Levels of service: what strict priority, weights and preemption must give by counting."""
import json
import subprocess

import pytest
from support import PROGRAM, Failed, blast, config_of, network_of, run, run_all, run_logged

ROUTERS = ["input_queued", "input_output_queued", "output_queued"]
WINDOW = {"warmup": 1000, "sample": 4000, "finish_limit": 2000}


def to(target, source, **more):
    """From one terminal to another."""
    traffic = {"type": "hotspot", "terminals": [1]}
    return {**more, "traffic": traffic, "allocation": {"type": "list", "terminals": [source, target]}}


# --- A high level beside a low one that fills the network --------------------------------------------------------

def two_levels(topology, router, service, low=0.9, low_flits=8, **settings):
    """Both levels at every terminal: single flits at 10 % of what a terminal can send, and long packets."""
    routing = "minimal" if topology["type"] == "single_router" else "dimension_order"
    network = network_of(topology, routing, {"type": router, "num_vcs": 4, **settings}, channel=2, protocol_classes=2,
                         service={"levels": [0, 1], **service})
    return config_of(network, blast(0.1, **WINDOW), blast(low, flits=low_flits, protocol_class=1, **WINDOW))


TOPOLOGIES = [{"type": "mesh", "widths": [4, 4]}, {"type": "single_router", "terminals": 8}]


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology["type"])
def test_a_high_level_does_not_notice_that_a_low_one_saturates(topology, router):
    preempting = {"arbitration": "strict", "preemption": True}
    alone, beside = run_all([two_levels(topology, router, preempting, low=load) for load in (0.00001, 0.95)])
    high, low = beside["levels"]
    assert beside["applications"][1]["saturated"] and low["accepted_load"] < 0.95 * low["offered_load"]
    assert high["accepted_load"] == pytest.approx(high["offered_load"], rel=0.02)
    assert high["packet_latency"]["mean"] == pytest.approx(alone["levels"][0]["packet_latency"]["mean"], rel=0.02)


@pytest.mark.parametrize("router", ["input_queued", "input_output_queued"])
def test_without_preemption_it_waits_for_what_is_being_sent(router):
    """On the mesh most of a packet's time is routers, and it waits for a low packet at its source alone: half of one
    and less. Where levels are alike it is held up by all that is before it."""
    mesh = TOPOLOGIES[0]
    alone, strict, alike = run_all([two_levels(mesh, router, {}, low=0.00001), two_levels(mesh, router, {}),
                                    two_levels(mesh, router, {"arbitration": "alike"})])
    expected, got, without = [result["levels"][0]["packet_latency"]["mean"] for result in (alone, strict, alike)]
    assert expected < got < 1.1 * expected
    assert without > 5 * expected


# --- How long a packet waits for one that is being sent -----------------------------------------------------------
#
# Terminals 1 and 2 send packets of L flits to terminal 0 without pause, terminal 3 now and then a flit of the higher
# level. The queues of an output_queued router have no end, so that two VCs of low packets always wait there, and
# packets follow each other without a gap. A flit that comes finds 0 to L - 1 flits left of the packet that is being
# sent, each as likely: it waits for (L - 1) / 2 on average and for L - 1 at most. Where it may interrupt, or where
# every flit is a new choice, it waits for nobody.

def at_an_output(hold, preemption, flits):
    network = network_of({"type": "single_router", "terminals": 4}, "minimal", protocol_classes=2, router={
        "type": "output_queued", "num_vcs": 4, "output_hold": hold}, service={"levels": [0, 1], "preemption": preemption})
    window = {"warmup": 1000, "sample": 40000, "finish_limit": 1}
    return config_of(network, {**blast(0.02, **window), **to(0, 3)},
                     *[{**blast(1.0, flits=flits, protocol_class=1, **window), **to(0, low)} for low in (1, 2)])


@pytest.mark.parametrize("flits", [4, 32])
def test_a_packet_waits_for_half_of_one_that_is_held_and_for_none_that_it_interrupts(flits):
    held, interrupted, by_flit = run_all([at_an_output("packet", False, flits), at_an_output("packet", True, flits),
                                          at_an_output("flit", False, flits)])
    for result in (interrupted, by_flit):
        latency = result["levels"][0]["packet_latency"]
        assert latency["min"] == latency["max"]
    least = interrupted["levels"][0]["packet_latency"]["min"]
    latency = held["levels"][0]["packet_latency"]
    assert latency["min"] == least
    assert flits - 1 <= latency["max"] - least <= flits  # of two on different VCs the second may go first
    assert latency["mean"] - least == pytest.approx((flits - 1) / 2, rel=0.1)  # about 800 packets
    for result in (held, interrupted, by_flit):  # the output is never idle
        assert sum(level["accepted_load"] for level in result["levels"]) == pytest.approx(1 / 4, rel=0.001)


# --- Weights ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("weights", [[3, 1], [1, 1], [5, 2, 1]])
def test_levels_share_an_output_by_weight(router, weights):
    """Each level has a terminal that sends all it can to terminal 0; packets are the longer the lower the level."""
    count = len(weights)
    network = network_of({"type": "single_router", "terminals": count + 1}, "minimal", protocol_classes=count, router={
        "type": router, "num_vcs": 2 * count, "buffer_depth": 16}, service={
        "levels": list(range(count)), "arbitration": "weighted", "weights": weights})
    result = run(config_of(network, *[
        {**blast(1.0, flits=1 + 3 * level, protocol_class=level, warmup=500, sample=8000, finish_limit=1),
         **to(0, level + 1)} for level in range(count)]))
    flits = [level["accepted_load"] * (count + 1) for level in result["levels"]]
    assert sum(flits) == pytest.approx(1, rel=0.001)
    for got, weight in zip(flits, weights):
        assert got == pytest.approx(weight / sum(weights), rel=0.005)


@pytest.mark.parametrize("router", ROUTERS)
def test_levels_share_a_terminals_channel_by_weight(router):
    """One terminal sends more than its channel carries, to two others that are free."""
    network = network_of({"type": "single_router", "terminals": 3}, "minimal", protocol_classes=2, router={
        "type": router, "num_vcs": 4, "buffer_depth": 16}, service={
        "levels": [0, 1], "arbitration": "weighted", "weights": [2, 1]})
    window = {"warmup": 500, "sample": 9000, "finish_limit": 1}
    result = run(config_of(network, {**blast(1.0, flits=3, **window), **to(1, 0)},
                           {**blast(1.0, flits=5, protocol_class=1, **window), **to(2, 0)}))
    for level, share in zip(result["levels"], (2 / 3, 1 / 3)):
        assert level["accepted_load"] * 3 == pytest.approx(share, rel=0.005)


@pytest.mark.parametrize("router", ROUTERS)
def test_a_strict_level_that_asks_for_all_gets_all(router):
    network = network_of({"type": "single_router", "terminals": 3}, "minimal", protocol_classes=2, router={
        "type": router, "num_vcs": 4}, service={"levels": [0, 1]})
    window = {"warmup": 500, "sample": 2000, "finish_limit": 1}
    result = run(config_of(network, *[{**blast(1.0, flits=4, protocol_class=level, injection="periodic", **window),
                                       **to(0, 1 + level)} for level in (0, 1)]))
    high, low = [level["accepted_load"] * 3 for level in result["levels"]]
    assert high == pytest.approx(1, rel=0.01) and low < 0.01


# --- Results ------------------------------------------------------------------------------------------------------

def test_requests_and_replies_can_be_of_two_levels(tmp_path):
    network = network_of({"type": "mesh", "widths": [3, 3]}, router={"num_vcs": 4}, protocol_classes=2,
                         service={"levels": [1, 0]})
    config = config_of(network, blast(0.05, reply={"type": "fixed", "flits": 3}, reply_protocol_class=1, warmup=200,
                                      sample=1000))
    result, packets = run_logged(config)
    replies, requests = result["levels"]
    assert replies["protocol_classes"] == [1] and requests["protocol_classes"] == [0]
    assert replies["packets"] == requests["packets"] == result["applications"][0]["packets"] / 2
    assert replies["accepted_load"] == pytest.approx(3 * requests["accepted_load"], rel=0.1)
    for level, number in ((requests, 0), (replies, 1)):
        latencies = [packet["tail_arrived"] - packet["created"] for packet in packets if packet["class"] == number]
        assert len(latencies) == level["packets"] and max(latencies) == level["packet_latency"]["max"]
        assert sum(latencies) / len(latencies) == pytest.approx(level["packet_latency"]["mean"])

    (tmp_path / "config.json").write_text(json.dumps(config))
    subprocess.run([PROGRAM, "run", "config.json", "--quiet", "--log", "log.csv", "--results", "results.json"],
                   cwd=tmp_path, check=True)
    for unit in ("packets", "messages"):
        parsed = subprocess.run([PROGRAM, "parse", "log.csv", "+class=1", "--json", "--of", unit], cwd=tmp_path,
                                capture_output=True, text=True, check=True).stdout
        assert json.loads(parsed)["latency"]["mean"] == pytest.approx(replies["packet_latency"]["mean"])


def test_levels_stand_in_results_only_where_there_are_several():
    network = network_of({"type": "mesh", "widths": [2]}, protocol_classes=2)
    assert "levels" not in run(config_of(network, blast(0.1, warmup=10, sample=50)))


@pytest.mark.parametrize("service, message", [
    ({"levels": [0]}, "levels: 1 levels, expected one for each of network.protocol_classes (2)"),
    ({"levels": [0, 2]}, "levels: no protocol class is of level 1, but one is of level 2"),
    ({"levels": [0, 16]}, "levels[1]: 16 is above 15"),
    ({"levels": [0, 1], "arbitration": "weighted", "weights": [1]}, "weights: 1 weights, expected one for each of 2 levels"),
    ({"levels": [0, 1], "arbitration": "weighted", "weights": [1, 0]}, "weights[1]: 0 is below 1"),
    ({"levels": [0, 1], "weights": [1, 2]}, 'weights: arbitration is not "weighted"; accepted: none'),
    ({"levels": [0, 0], "preemption": True}, 'preemption: needs several levels and arbitration "strict"'),
    ({"levels": [0, 1], "arbitration": "alike", "preemption": True}, "preemption: needs several levels"),
    ({"levels": [0, 1], "arbitration": "best"}, "arbitration"),
])
def test_a_service_that_cannot_be_is_refused(service, message):
    with pytest.raises(Failed) as failed:
        run(config_of(network_of({"type": "mesh", "widths": [2]}, protocol_classes=2, service=service), blast(0.1)))
    assert failed.value.status == 1 and message in failed.value.message


def test_a_router_that_treats_levels_alike_says_so():
    network = network_of({"type": "mesh", "widths": [2]}, router={"type": "packet"}, protocol_classes=2,
                         service={"levels": [0, 1]})
    with pytest.raises(Failed) as failed:
        run(config_of(network, blast(0.1)))
    assert 'arbitration: "strict", but router "packet" treats levels alike; accepted: "alike"' in failed.value.message
    network["service"]["arbitration"] = "alike"
    assert len(run(config_of(network, blast(0.1, warmup=10, sample=50)))["levels"]) == 2

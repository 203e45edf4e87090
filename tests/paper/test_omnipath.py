# SPDX-License-Identifier: Apache-2.0
"""The Omni-Path router: latencies, throughputs and buffers that follow from counting, and OPASim's published numbers
(Cano et al., DIAB-18-12-1, 2018). docs/omnipath.md tells how its report is read."""
import json
import re
import subprocess

import pytest

from support import PROGRAM, Failed, blast, config_of, network_of, run, run_all, run_logged

# Table 1; arbitration is 16 cycles in all.
LATENCIES = {"input_latency": 50, "routing_latency": 32, "mport_arbitration_latency": 8, "mport_crossbar_latency": 2,
             "central_arbitration_latency": 8, "central_crossbar_latency": 2, "output_latency": 50}
CENTRAL = ("central_arbitration_latency", "central_crossbar_latency")
OTHERS = dict(zip(LATENCIES, (3, 0, 5, 1, 0, 4, 7)))
PERIODIC = {"injection": "periodic"}


def omnipath(terminals=48, **router):
    return network_of({"type": "single_router", "terminals": terminals}, "minimal", {"type": "omnipath", **router},
                      terminal_channel=8)


def steady(load, traffic="uniform_random", flits=16, **more):
    return blast(load, traffic, flits, **{"warmup": 3000, "sample": 4000, "finish_limit": 100, **more})


def accepted(results, which=0):
    return results["applications"][which]["accepted_load"]


def throughputs(*configs):
    return [accepted(results) for results in run_all(configs)]


# --- A packet alone ---------------------------------------------------------------------------------------------

def through(latencies, crosses_centre):
    return sum(cycles for stage, cycles in latencies.items() if crosses_centre or stage not in CENTRAL)


def test_the_report_has_160_cycles_across_mports_with_the_channel():
    assert through(LATENCIES, True) + 8 == 160
    assert through(LATENCIES, False) + 8 == 150


@pytest.mark.parametrize("latencies, flits, cycle", [({}, 16, 1), ({}, 1, 1), (OTHERS, 16, 1), (OTHERS, 5, 3)], ids=str)
def test_latency_at_zero_load_is_the_sum_of_the_stages(latencies, flits, cycle):
    """A channel of 9 in front and one behind; the tail comes a cycle of the channel after each flit before it."""
    network = omnipath(16, **latencies, cycle=cycle)
    network["terminal_channel"] = {"latency": 9 * cycle, "cycle": cycle}
    _, packets = run_logged(config_of(network, blast(0.00006 * flits, flits=flits, warmup=0, sample=30000 * cycle)))
    seen = set()
    for packet in packets:
        crosses = packet["source"] // 4 != packet["destination"] // 4
        edge = -(-(packet["created"] + 9 * cycle) // cycle) * cycle  # of the router's clock
        head = edge + cycle * through({**LATENCIES, **latencies}, crosses) + 9 * cycle
        assert packet["head_arrived"] == head, packet
        assert packet["tail_arrived"] == head + (flits - 1) * cycle
        seen.add(crosses)
    assert seen == {True, False}


def test_latency_over_several_routers_counts_which_of_them_are_crossed_at_the_centre():
    """A line of routers with four terminals each, an MPort of them; the ports along the line are in the next MPort."""
    network = network_of({"type": "mesh", "widths": [4], "concentration": 4}, router={"type": "omnipath"}, channel=8,
                         terminal_channel=8)
    _, packets = run_logged(config_of(network, blast(0.001, flits=16, warmup=0, sample=30000)))
    for packet in packets:
        hops = packet["hops"]
        cycles = 150 if hops == 0 else 2 * 160 + (hops - 1) * 150
        assert packet["head_arrived"] - packet["created"] == 8 + cycles
    assert {packet["hops"] for packet in packets} == {0, 1, 2, 3}


def test_the_walk_of_a_packet_names_the_stages(tmp_path):
    # Flits follow at 3 a cycle through the MPort and at 4 through the centre, one a cycle on the channel.
    (tmp_path / "config.json").write_text(json.dumps(config_of(
        omnipath(8), blast(0.02, "bit_complement", 16, warmup=0, sample=4000))))
    walk = subprocess.run([PROGRAM, "trace", "config.json", "--packet", "0"], cwd=tmp_path, capture_output=True, text=True,
                          check=True).stdout
    stages = re.findall(r"^ *(\d+) +\d+ +(\S+)", walk, re.M)
    begun = int(next(tick for tick, stage in stages if stage == "IB"))
    rt, central = begun + 82, begun + 82 + 8 + 2
    assert [(stage, int(tick)) for tick, stage in stages] == (
        [("IB", begun), ("RT", rt), ("VA-SA", rt + 8)] + [("X", rt + 8 + i) for i in range(6)]
        + [("VA-SA", central + 8)] + [("X", central + 8 + i) for i in range(4)]
        + [("OB", central + 8 + 2 + 50 + i) for i in range(16)])


# --- Throughput -------------------------------------------------------------------------------------------------
#
# A buffer arbitrates for 8 cycles, then its packet of 16 flits crosses at 3 or 4 a cycle, in 6 or 4. So an input carries
# a packet in 14 cycles, which is more than the channel brings; the two central buffers of an MPort carry one each in 12,
# which is 2 * 16 / 12 flits a cycle for four terminals, of whose uniform traffic 44 / 47 goes there: .712 a terminal.

CENTRAL_LIMIT = 2 * 16 / 12 / 4 * 47 / 44


@pytest.fixture(scope="module")
def saturated():
    islip = {"allocator": "islip", "candidates": "all"}
    routers = {"simple": {}, "islip": islip, "pipelined": {"pipelined_arbitration": True}}
    return dict(zip(routers, throughputs(*(config_of(omnipath(**router), steady(1.0, sample=8000))
                                           for router in routers.values()))))


def test_uniform_traffic_reaches_what_opasim_does(saturated):
    assert saturated["simple"] == pytest.approx(0.72, abs=0.03)
    assert saturated["simple"] < 1.01 * CENTRAL_LIMIT


def test_islip_carries_more_as_far_as_arbitration_lets_it(saturated):
    assert 1.005 * saturated["simple"] < saturated["islip"] < 1.01 * CENTRAL_LIMIT


def test_arbitration_that_is_pipelined_leaves_nearly_everything_to_the_channels(saturated):
    assert saturated["pipelined"] > 0.93  # 8000 cycles after an empty start, by chance


def test_an_allocator_that_takes_its_time_loses_to_conflicts_and_islip_finds_a_way_around_them():
    """Nine cycles from one allocation to the next: the 24 central buffers name an output each, of which 48 / 24 (1 - (1 - 1 / 48)^24)
    = .794 are granted at most; a packet of 16 flits each of .794 * 24 in 9 cycles, 44 / 47 of all: .754 a terminal."""
    shared = {"pipelined_arbitration": True, "allocation_interval": 9}
    islip = {"allocator": {"type": "islip", "iterations": 3}, "candidates": "all"}
    simple, better = throughputs(*(config_of(omnipath(**shared, **more), steady(1.0, sample=8000)) for more in ({}, islip)))
    bound = 2 * (1 - (1 - 1 / 48) ** 24) * 24 * 16 / 9 / 48 * 47 / 44
    assert 0.93 * bound < simple < bound and better > 1.15 * simple


def test_congestion_begins_between_the_loads_of_the_report():
    calm, jammed = run_all([config_of(omnipath(), steady(load)) for load in (0.65, 0.8)])
    assert not calm["applications"][0]["saturated"] and jammed["applications"][0]["saturated"]


@pytest.mark.parametrize("router, carried", [
    ({}, 1.0),  # 14 cycles a packet
    ({"mport_arbitration_latency": 16}, 16 / 22),  # the report's text has 16 at each crossbar: 22
    ({"mport_arbitration_latency": 16, "pipelined_arbitration": True}, 1.0),
    ({"pipelined_arbitration": True, "allocation_interval": 9}, 1.0),  # all that ask are served in one allocation
    ({"pipelined_arbitration": True, "allocation_interval": 32}, 16 / 32),  # a packet of each buffer in each
    ({"mport_speedup": 1, "local_speedup": 1}, 16 / 24),
    ({"mport_speedup": 2, "local_speedup": 2}, 1.0),  # 16
], ids=str)
def test_neighbour_traffic_is_carried_as_fast_as_inputs_send(router, carried):
    for load in (0.5, 1.0):
        throughput, = throughputs(config_of(omnipath(**router), steady(load, "neighbor", **PERIODIC)))
        assert throughput == pytest.approx(min(load, carried), rel=0.005)


@pytest.mark.parametrize("flits", [1, 2, 4, 8])
def test_short_packets_wait_for_their_arbitration(flits):
    """Within an MPort an input carries a packet in 8 cycles and those that it takes to cross; over the centre, where all traffic
    but that to 3 of 47 goes, two central buffers carry one each."""
    inside, over = throughputs(*(config_of(omnipath(terminals), steady(1.0, flits=flits)) for terminals in (4, 48)))
    assert inside == pytest.approx(flits / (8 + -(-flits // 3)), rel=0.01)
    assert over == pytest.approx(2 * flits / (8 + -(-flits // 4)) / 4 * 47 / 44, rel=0.015)


# --- Buffers ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("flits, credits", [(16, 48), (16, 32), (2, 64), (6, 48)])
def test_a_lane_fills_its_maximum_and_no_more(flits, credits):
    """Three terminals send to one of their MPort on one lane. Once all is full, a packet waits for all that are in the router,
    each for as long as it has flits: those of three input lanes and of the output's, in whole credits of four flits each."""
    router = {"num_vcs": 1, "queue_size": 256, "max_credits": credits, "pipelined_arbitration": True}
    hot = steady(0.5, {"type": "hotspot", "terminals": [0], "share": 1.0}, flits, warmup=4000, sample=2000, finish_limit=9000)
    measured = run(config_of(omnipath(4, **router), hot))["applications"][0]["network_latency"]["mean"]
    packets = 4 * (credits // -(-flits // 4))
    assert measured == pytest.approx(packets * flits, rel=0.03)


def test_a_jammed_lane_leaves_others_their_share():
    """Class 1 jams a terminal and takes all that it may; class 0 passes through the same buffers as if it were alone."""
    network = omnipath(8, num_vcs=2, queue_size=32, exclusive_credits=4, max_credits=28)
    network.update(protocol_classes=2, service={"levels": [0, 1], "arbitration": "weighted", "weights": [1, 1]})
    calm = blast(0.02, "neighbor", 16, warmup=4000, sample=8000, name="calm", **PERIODIC)
    jam = steady(1.0, {"type": "hotspot", "terminals": [7], "share": 1.0}, protocol_class=1, name="jam", warmup=4000, sample=8000)
    alone, jammed = run_all([config_of(network, calm), config_of(network, calm, jam)])
    assert accepted(jammed) == pytest.approx(accepted(alone), rel=0.01)
    assert jammed["applications"][0]["network_latency"]["p50"] <= alone["applications"][0]["network_latency"]["p50"] + 40


@pytest.mark.parametrize("router", [{}, {"num_vcs": 1}, {"pipelined_arbitration": True}, {"allocator": "islip", "candidates": "all"}],
                         ids=str)
def test_all_inputs_have_their_part_of_an_output_that_is_full(router):
    """Fifteen terminals send to one, three of them from its own MPort: packets of 16 flits, one of each in 15 * 16 cycles."""
    hot = blast(1.0, {"type": "hotspot", "terminals": [0], "share": 1.0}, 16, warmup=0, sample=24000, finish_limit=1)
    _, packets = run_logged(config_of(omnipath(16, **router), hot))
    arrived = [packet["source"] for packet in packets if 12000 < packet["tail_arrived"] <= 24000]
    assert len(arrived) == pytest.approx(12000 / 16, abs=1)
    for terminal in range(1, 16):
        assert arrived.count(terminal) == pytest.approx(12000 / 16 / 15, abs=4)


# --- Levels of service ------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def urgent():
    """Latency of an urgent class at a load of 0.1 beside another that has all of the rest, by what is done for it."""
    def config(load, service, bulk_flits, sample=5000):
        network = omnipath()
        network.update(protocol_classes=2, service={"levels": [0, 1], **service})
        bulk = [steady(0.9, flits=bulk_flits, protocol_class=1, name="bulk")] if load == 0.1 else []
        return config_of(network, steady(load, sample=sample), *bulk)

    cases = {"alone": (0.002, {}, 16, 30000), "alike": (0.1, {"arbitration": "alike"}, 16), "strict": (0.1, {}, 16),
             "strict, long": (0.1, {}, 64), "preempted, long": (0.1, {"preemption": True}, 64)}
    return dict(zip(cases, run_all([config(*case) for case in cases.values()])))


def latency(results):
    return results["applications"][0]["packet_latency"]["mean"]


def test_strict_priority_keeps_the_latency_of_an_urgent_class(urgent):
    assert urgent["strict"]["applications"][1]["saturated"]
    assert latency(urgent["strict"]) < 1.1 * latency(urgent["alone"]) < latency(urgent["alike"])


def test_preemption_spares_it_the_rest_of_long_packets(urgent):
    # At its source and at its output a packet of 64 flits has 32 left on the mean, wherever there is one.
    assert latency(urgent["preempted, long"]) < latency(urgent["strict, long"]) - 30
    assert latency(urgent["preempted, long"]) > latency(urgent["alone"])


@pytest.mark.parametrize("terminals", [4, 8])  # within an MPort, and over the centre too
@pytest.mark.parametrize("weights", [[3, 1], [5, 2]], ids=str)
def test_levels_share_a_channel_by_their_weights(weights, terminals):
    network = omnipath(terminals, num_vcs=2)
    network.update(protocol_classes=2, service={"levels": [0, 1], "arbitration": "weighted", "weights": weights})
    hot = {"type": "hotspot", "terminals": [0], "share": 1.0}
    results = run(config_of(network, steady(0.5, hot, name="a"), steady(0.5, hot, protocol_class=1, name="b")))
    shares = [terminals * accepted(results, which) for which in (0, 1)]
    assert shares == pytest.approx([weight / sum(weights) for weight in weights], rel=0.02)


# --- What is refused, and deadlock ------------------------------------------------------------------------------

@pytest.mark.parametrize("router, message", [
    ({"ports": 10}, "network.router.ports: 10 is no multiple of 4, the ports of an MPort; accepted: 8 or 12"),
    ({"ports": 12}, "network.router.ports: 12, but the routers of this topology have 16; accepted: 16 or more, or null"),
    ({"queue_unit": "flits"}, "network.router.queue_size: 256 flits hold 64 credits of 4 flits, but 8 lanes have 16 each "
     "for themselves; accepted: 128 credits or more"),
    ({"central_queue_size": 100}, "network.router.central_queue_size: 100 credits hold 100 credits"),
    ({"max_credits": 8}, "network.router.max_credits: 8 is below exclusive_credits (16)"),
    ({"num_vcs": 2, "queue_size": 40}, "network.router.max_credits: 48, but queue_size is 40 credits; "
     "accepted: exclusive_credits (16) to that"),
    ({"queue_size": 65535}, "network.router.queue_size: 65535 credits are 262140 flits; accepted: at most 65535"),
    ({"exclusive_credits": 1}, "exclusive_credits"),  # packets of 16 flits
], ids=str)
def test_what_cannot_be_is_refused(router, message):
    with pytest.raises(Failed) as failed:
        run(config_of(omnipath(16, **router), steady(0.1)))
    assert failed.value.status == 1 and message in failed.value.message


def test_recovery_from_deadlock_is_refused():
    network = omnipath(8)
    network["deadlock"] = "recover"
    with pytest.raises(Failed) as failed:
        run(config_of(network, steady(0.1)))
    assert failed.value.status == 1 and 'network.router: "omnipath" cannot give a packet up' in failed.value.message


def test_deadlock_is_told_as_a_cycle_of_packets():
    network = network_of({"type": "torus", "widths": [8]}, {"type": "dimension_order", "dateline": "none"},
                         {"type": "omnipath", "num_vcs": 1, "queue_size": 4, "exclusive_credits": 4, "max_credits": 4})
    with pytest.raises(Failed) as failed:
        run(config_of(network, steady(1.0, "tornado", sample=20000)))
    assert failed.value.status == 2 and "a cycle of 8 waits" in failed.value.message

# SPDX-License-Identifier: Apache-2.0
"""The "Single switch" table of the published numbers: one router, all latencies 0, N terminals.

With no latencies, a flit that wins leaves in the tick in which it arrived, so a tick is a slot of the models.
Windows are long enough for a standard error of about a quarter of each tolerance.
"""
import pytest

from support import NO_LATENCY, blast, config_of, network_of, run, run_all

UNIFORM = {"type": "uniform_random", "self": True}


def switch(terminals, allocator, load=1.0, routing="minimal", traffic=UNIFORM, flits=1, warmup=2000, sample=20000, **router):
    router = {**NO_LATENCY, "num_vcs": 1, "buffer_depth": 32, "allocator": allocator, **router}
    network = network_of({"type": "single_router", "terminals": terminals}, routing, router)
    return config_of(network, blast(load, traffic, flits, warmup=warmup, sample=sample, finish_limit=1))


def voq(terminals, allocator, depth, **more):
    return switch(terminals, allocator, routing="voq", num_vcs=terminals, buffer_depth=depth, **more)


def accepted(results):
    return [result["applications"][0]["accepted_load"] for result in results]


# Saturation of FIFO input queues: Karol, Hluchyj and Morgan 1987, table I; N > 8 simulated; the limit is 2 - sqrt(2).
FIFO = {2: .7500, 3: .6825, 4: .6553, 5: .6399, 6: .6302, 7: .6234, 8: .6184, 16: .602, 32: .593, 64: .589}


@pytest.mark.parametrize("allocator", ["pim", "separable_input_first"])
def test_fifo_queues_saturate_where_head_of_line_blocking_says(allocator):
    if allocator != "pim":  # the same rule by other means: the output picks at random
        allocator = {"type": allocator, "input_arbiter": "random", "output_arbiter": "random"}
    found = accepted(run_all([switch(n, allocator, sample=max(20000, 700000 // n)) for n in FIFO]))
    assert found == [pytest.approx(expected, rel=0.005) for expected in FIFO.values()]


def test_the_small_router_saturates_there_too():
    # How many wait for an output changes alike whoever is served first: the table holds for inputs in turn.
    network = lambda n: network_of({"type": "single_router", "terminals": n}, "minimal", {
        "type": "single_cycle", "num_vcs": 1, "buffer_depth": 32, "latency": 0})
    sizes = [2, 4, 8]
    found = accepted(run_all([config_of(network(n), blast(1.0, UNIFORM, warmup=2000, sample=800000 // n, finish_limit=1)) for n in sizes]))
    assert found == [pytest.approx(FIFO[n], rel=0.005) for n in sizes]


def test_one_round_of_random_matching_wastes_what_collides():
    # Each output offers itself to one input: an input gets none of N offers with (1 - 1/N)^N. All queues must
    # be backlogged: they are deep (1024), and a terminal makes more than it can send.
    sizes = [4, 8, 16, 32, 64]
    found = accepted(run_all([voq(n, "pim", 1024, sample=max(5000, 100000 // n)) for n in sizes]))
    assert found == [pytest.approx(1 - (1 - 1 / n) ** n, rel=0.01) for n in sizes]


def test_islip_fills_the_switch_under_uniform_load():
    # McKeown 1999: 1.000. At an offered load of exactly 1 the queues grow as the square root of time, so that any
    # finite run loses a little: 0.9986, 0.9978, 0.9971 were found here, and 0.9948, 0.9929, 0.9889 with a sixth of it.
    sizes = [4, 8, 16]
    found = accepted(run_all([voq(n, "islip", 32768, warmup=300000, sample=300000) for n in sizes]))
    assert all(0.995 <= load <= 1 for load in found), found


def test_islip_keeps_up_with_an_offered_load_just_below_one():
    result = run(voq(8, "islip", 4096, load=0.98, warmup=50000, sample=200000))["applications"][0]
    assert not result["saturated"]
    assert result["accepted_load"] == pytest.approx(0.98, rel=0.005)


@pytest.mark.parametrize("terminals", [4, 8, 16])
def test_output_queues_wait_as_karol_hluchyj_and_morgan_say(terminals):
    # A switch that takes N flits at each output in a slot is an output queue. Mean wait of a queue with binomial
    # arrivals: (N - 1) / N * p / (2 (1 - p)). The rest of the latency is the two terminal channels.
    loads = [.3, .5, .7, .8, .9]
    samples = [200000, 200000, 200000, 400000, 800000 if terminals == 4 else 400000] if terminals < 16 else [100000, 100000, 100000, 200000, 400000]
    results = run_all([voq(terminals, "wavefront", 256, load=p, sample=sample, input_speedup=terminals,
                           output_speedup=terminals) for p, sample in zip(loads, samples)])
    for p, result in zip(loads, results):
        application = result["applications"][0]
        wait = application["network_latency"]["mean"] - 2
        assert application["packet_latency"]["mean"] == application["network_latency"]["mean"]
        assert wait == pytest.approx((terminals - 1) / terminals * p / (2 * (1 - p)), rel=0.02), p


@pytest.mark.parametrize("flits", [2, 4, 8])
def test_source_queues_wait_as_a_geometric_d_1_queue_does(flits):
    # A packet of L flits comes with probability r / L in each cycle and holds the channel for L cycles. Mean wait of
    # that queue: r (L - 1) / (2 (1 - r)). Nobody shares a channel: terminal i sends to terminal i + 1.
    loads = [.2, .5, .7, .8]
    samples = {2: [900000, 400000, 400000, 400000], 4: [900000, 400000, 400000, 600000], 8: [1500000] * 4}[flits]
    results = run_all([switch(8, "round_robin", load, traffic="neighbor", flits=flits, warmup=5000, sample=sample, num_vcs=2,
                              buffer_depth=32) for load, sample in zip(loads, samples)])
    for load, result in zip(loads, results):
        application = result["applications"][0]
        assert application["network_latency"]["mean"] == 2 + flits - 1
        wait = application["packet_latency"]["mean"] - application["network_latency"]["mean"]
        assert wait == pytest.approx(load * (flits - 1) / (2 * (1 - load)), rel=0.02), load

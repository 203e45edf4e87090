# SPDX-License-Identifier: Apache-2.0
"""Routers with output queues: latencies, waits and throughputs that follow from counting.

The output-queued router routes a head (r), moves a flit of each lane a cycle, and has it in the output queue x cycles
after it began to move. The input-output-queued one is the input-queued router with queues behind its crossbar; where
nothing waits it is as fast, which test_zero_load.py checks.
"""
import json
import subprocess

import pytest

from support import NO_LATENCY, PROGRAM, ROOT, blast, config_of, network_of, run, run_all, run_logged
from test_zero_load import OTHER_CLOCKS, mesh, send_seldom, torus, walk

UNIFORM = {"type": "uniform_random", "self": True}
STAGES = ("routing_latency", "transfer_latency")


def routing_of(topology):
    return "minimal" if topology["type"] == "single_router" else "dimension_order"


# --- A packet alone ---------------------------------------------------------------------------------------------
#
# L flits through H routers: 2 ct + H (r + x) + (H - 1) c + L - 1.

#    topology, (r, x), c, ct, L
ALONE = [
    (mesh(4, 4), (0, 1), 1, 1, 1), (mesh(4, 4), (0, 0), 1, 1, 8), (mesh(4, 4), (2, 3), 5, 2, 7),
    (torus(5, 5), (1, 50), 50, 50, 4), (torus(4, 4, concentration=3), (3, 0), 2, 4, 3), (mesh(9), (0, 7), 1, 1, 16),
    ({"type": "single_router", "terminals": 8}, (1, 2), 1, 3, 5),
]


@pytest.mark.parametrize("output_depth", [None, 64])
@pytest.mark.parametrize("topology, stages, c, ct, flits", ALONE, ids=str)
def test_output_queued_latency_at_zero_load_is_the_sum_of_its_parts(topology, stages, c, ct, flits, output_depth):
    router = {"type": "output_queued", "output_depth": output_depth}
    for packet in send_seldom(topology, stages, flits, c, ct, routing_of(topology), router, STAGES):
        routers = packet["hops"] + 1
        head = 2 * ct + routers * sum(stages) + (routers - 1) * c
        assert packet["head_arrived"] - packet["created"] == head
        assert packet["tail_arrived"] - packet["created"] == head + flits - 1


@pytest.mark.parametrize("topology, stages, cycle, channel, terminal, flits", OTHER_CLOCKS, ids=str)
def test_output_queued_latency_is_exact_where_clocks_differ(topology, stages, cycle, channel, terminal, flits):
    # The walk of the input-queued router, with r before the first flit and x after each
    channel, terminal = ({"latency": latency, "cycle": step} for latency, step in (channel, terminal))
    routing, _, switch, crossbar = stages
    for packet in send_seldom(topology, (routing, switch + crossbar), flits, channel, terminal, routing_of(topology),
                              {"type": "output_queued", "cycle": cycle}, STAGES):
        head, tail = walk(packet["created"], packet["hops"] + 1, flits, (routing, 0, switch, crossbar), cycle, channel,
                          terminal)
        assert (packet["head_arrived"], packet["tail_arrived"]) == (head, tail)


# --- One switch -------------------------------------------------------------------------------------------------

def switch(terminals, load, router, sample, channel=None, **more):
    router = {"num_vcs": 1, "buffer_depth": 8, **router}
    network = network_of({"type": "single_router", "terminals": terminals}, "minimal", router,
                         terminal_channel=channel or 1)
    return config_of(network, blast(load, UNIFORM, warmup=2000, sample=sample, **more))


def test_output_queues_make_packets_wait_as_theory_says():
    # Karol, Hluchyj and Morgan 1987: (N - 1) / N * p / (2 (1 - p)) slots, beyond the two channels of 1. With
    # transfers in no time a flit that finds its queue empty goes on in the tick in which it comes.
    ideal = {"type": "output_queued", "transfer_latency": 0}
    cases = [(n, p) for n in (8, 16, 32, 64) for p in (0.2, 0.5, 0.8, 0.9)]
    results = run_all([switch(n, p, ideal, 3200000 // n) for n, p in cases])
    for (n, p), result in zip(cases, results):
        wait = result["applications"][0]["packet_latency"]["mean"] - 2
        assert wait == pytest.approx((n - 1) / n * p / (2 * (1 - p)), rel=0.03), (n, p)


def test_input_output_queues_with_twice_the_speed_fill_the_switch():
    # FIFO input queues alone carry .602 of 16 lines (test_single_switch.py); a crossbar at twice the speed of the
    # channels carries up to 2 x .602 of them, which is more than there is. Output queues of 64 would leave .976.
    line = {"latency": 2, "cycle": 2}
    fast = {**NO_LATENCY, "type": "input_output_queued", "allocator": "pim", "buffer_depth": 32, "output_depth": 1024}
    slow, full = run_all([switch(16, 1.0, {**fast, "cycle": cycle}, 40000, line, finish_limit=1) for cycle in (2, 1)])
    assert slow["applications"][0]["accepted_load"] == pytest.approx(.602, rel=0.01)
    assert full["applications"][0]["accepted_load"] > .99


def test_output_queued_switch_is_full_at_full_load():
    result = run(switch(16, 1.0, {"type": "output_queued", "buffer_depth": 32}, 20000, finish_limit=1))
    assert result["applications"][0]["accepted_load"] > .98


@pytest.mark.parametrize("depth", [1, 3, None])
def test_inputs_that_want_one_output_take_turns(depth):
    # 5 of 6 terminals send to the last one all the time: whoever waited longest goes first, so each gets a fifth.
    # Without an end of the queue nobody waits: it grows, and its order is that of arrival.
    router = {"type": "output_queued", "num_vcs": 1, "output_depth": depth, "transfer_latency": 2}
    network = network_of({"type": "single_router", "terminals": 6}, "minimal", router)
    application = blast(1.0, {"type": "hotspot", "terminals": [5]}, warmup=2000, sample=20000, finish_limit=1)
    accepted = run(config_of(network, application, per_terminal=True))["applications"][0]["accepted_by_terminal"]
    total = sum(accepted[:5])
    assert accepted[:5] == [pytest.approx(total / 5, abs=2 / 20000)] * 5
    assert total == pytest.approx(min(1, (depth or 3) / 3), rel=0.01)


# --- Back-pressure ----------------------------------------------------------------------------------------------
#
# Terminal 0 sends to terminal 1 without pause over two routers, as in test_flow_control.py. A place in an output queue of
# D flits is taken when a flit begins to cross; x later it is there, leaves at once, and the input side hears of the
# place a tick later: D flits in x + 1 cycles. In the input-output-queued router the crossing takes s + x. An input
# buffer of B flits is refilled in a loop of a channel each way and the time of a credit.

def flow(router, channel=2):
    router = {"num_vcs": 1, "buffer_depth": 64, "credit_latency": 0, **router}
    network = network_of({"type": "mesh", "widths": [2]}, router=router, channel=channel)
    return config_of(network, blast(1.0, "neighbor", 1000, injection="periodic", warmup=10000, sample=40000,
                                    finish_limit=1))


def accepted_loads(configs):
    return [result["applications"][0]["accepted_load"] for result in run_all(configs)]


def test_output_queue_limits_what_is_crossing():
    cases = [(depth, x) for x in (0, 1, 4, 10) for depth in (1, 2, 5, 11, 16)]
    found = accepted_loads([flow({"type": "output_queued", "output_depth": depth, "transfer_latency": x})
                            for depth, x in cases])
    for (depth, x), load in zip(cases, found):
        assert load == pytest.approx(min(1, depth / (x + 1)), rel=0.006), (depth, x)


def test_output_queue_behind_a_crossbar_limits_what_is_crossing():
    cases = [(depth, s, x) for s, x in ((0, 0), (1, 1), (2, 7)) for depth in (1, 2, 5, 16)]
    found = accepted_loads([flow({"type": "input_output_queued", "output_depth": depth, "vc_allocation_latency": 0,
                                  "switch_allocation_latency": s, "crossbar_latency": x}) for depth, s, x in cases])
    for (depth, s, x), load in zip(cases, found):
        assert load == pytest.approx(min(1, depth / (s + x + 1)), rel=0.006), (depth, s, x)


@pytest.mark.parametrize("router, takes", [("output_queued", 0), ("input_output_queued", 1)])
def test_input_buffer_is_refilled_once_a_credit_loop(router, takes):
    # A credit goes back when a flit begins to cross; in the input-output-queued router when its switch grant is over.
    cases = [(depth, channel, credit) for channel in (2, 10) for credit in (0, 3) for depth in (1, 2, 4, 8, 32)]
    found = accepted_loads([flow({"type": router, "buffer_depth": depth, "credit_latency": credit, "output_depth": 64},
                                 channel) for depth, channel, credit in cases])
    for (depth, channel, credit), load in zip(cases, found):
        expected = min(1, depth / (2 * channel + credit + takes))
        assert load == pytest.approx(expected, rel=0.006), (depth, channel, credit)


def test_a_credit_may_take_longer_than_32_bits_of_ticks():
    """Two packets, a buffer of one flit: the second enters when the credit of the first, 10^10 ticks old, is there."""
    router = {"type": "output_queued", "num_vcs": 1, "buffer_depth": 1, "cycle": 10**6, "credit_latency": 10**4}
    config = config_of(network_of({"type": "single_router", "terminals": 2}, "minimal", router),
                       {"type": "alltoall", "iterations": 2, "limit": 10**11}, check_interval=10**9)
    _, packets = run_logged(config)
    first, second = sorted(packet["injected"] for packet in packets if packet["source"] == 0)
    # arrives a tick after the router's edge, leaves at the next one, and the credit takes a tick of channel
    assert second - first == 10**6 + 10**10 + 1


# --- What sensors are told --------------------------------------------------------------------------------------

# Minimal routing on one router that is adaptive in name, and writes down what it sees of the output that it takes.
WATCH = r"""
#include "flitwarp/congestion.h"
#include "flitwarp/routing.h"
#include <stdio.h>

static void watch_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)self, (void)arena, (void)errors;
    routing->classes = 1;
}

static void watch_route(struct route *route)
{
    route_eject(route);
    if (!route->congestion)
        return;
    uint32_t lane = route->routing->terminal_slot[route->packet->destination];
    fprintf(stderr, "saw %llu %g\n", (unsigned long long)route->now,
            route->congestion->ops->value(route->congestion, route->router, lane, route->now));
}

static const struct routing_ops watch = {
    .name = "watch", .summary = "to one router's terminals, watching", .is_adaptive = true, .is_minimal = true,
    .prepare = watch_prepare, .route = watch_route,
};
REGISTER_ROUTING(watch);
"""


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    directory = tmp_path_factory.mktemp("watch")
    (directory / "watch.c").write_text(WATCH)
    subprocess.run(["gcc", "-std=c17", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{ROOT / 'include'}", "watch.c", "-o",
                    "watch.so"], cwd=directory, check=True)

    def seen(router, sensor):
        router = {"num_vcs": 1, "buffer_depth": 16, **router, "congestion": {"normalised": False, **sensor}}
        network = network_of({"type": "single_router", "terminals": 2}, "watch", router,
                             terminal_channel={"latency": 3})
        # one flit a tick from each terminal to the other
        application = blast(1.0, "neighbor", injection="periodic", warmup=0, sample=200)
        (directory / "config.json").write_text(json.dumps(config_of(network, application)))
        ended = subprocess.run([PROGRAM, "--plugin", "./watch.so", "run", "config.json", "--quiet"], cwd=directory,
                               capture_output=True, text=True, check=True)
        lines = [line.split()[1:] for line in ended.stderr.splitlines() if line.startswith("saw ")]
        return [(int(tick), float(value)) for tick, value in lines if 100 <= int(tick) < 200]
    return seen


# A flit a tick for each output. In a steady flow a queue holds as many flits as ticks pass from a flit's entry to its
# leaving, the tick of leaving not counted: x in an output queue that it crosses into in x; downstream two channels of
# 3, since a terminal gives its credit back at once. That is the truth at the end of a tick in which a flit entered
# and another left.
STEADY = {"output_queued": {"transfer_latency": 5, "output_depth": 64},
          "input_output_queued": {**NO_LATENCY, "crossbar_latency": 5, "output_depth": 64},
          "input_queued": {**NO_LATENCY}}


@pytest.mark.parametrize("latency", [1, 4])
@pytest.mark.parametrize("router", STEADY)
def test_sensors_see_a_steady_flow_as_it_is(watch, router, latency):
    expected = {"downstream": 6, "output": 5, "both": 11}
    if router == "input_queued":
        expected = {"downstream": 6, "both": 6}
    for accounting, flits in expected.items():
        seen = watch({"type": router, **STEADY[router]}, {"accounting": accounting, "latency": latency})
        assert len(seen) > 100
        assert {value for _, value in seen} == {flits}, accounting


def test_a_router_without_output_queues_cannot_count_them(watch):
    with pytest.raises(subprocess.CalledProcessError):
        watch({"type": "input_queued"}, {"accounting": "output"})


# --- Told otherwise ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("router", ["output_queued", "input_output_queued"])
def test_a_deadlock_is_named_with_its_cycle(router, tmp_path):
    settings = json.dumps({"type": router, "num_vcs": 1, "buffer_depth": 2, "output_depth": 2})
    ended = subprocess.run([PROGRAM, "run", ROOT / "examples" / "deadlock_torus.json", f"network.router={settings}"],
                           cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "a cycle of" in ended.stderr and " holds " in ended.stderr and " and wants " in ended.stderr


@pytest.mark.parametrize("router, stages", [
    ("output_queued", ["inject", "route", "transfer", "step_port", "eject"]),
    ("input_output_queued", ["inject", "route", "allocate_vc", "traverse", "step_port", "eject"])])
def test_trace_names_the_stages(router, stages):
    settings = ["network.topology.widths=[2]", "network.topology.type=mesh", f"network.router.type={router}"]
    shown = subprocess.run([PROGRAM, "trace", ROOT / "examples" / "torus_uniform.json", *settings, "--packet", "0"],
                           capture_output=True, text=True, check=True).stdout
    named = [line[22:].split()[0] for line in shown.splitlines()[1:]]
    assert list(dict.fromkeys(named)) == stages

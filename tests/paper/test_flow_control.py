# SPDX-License-Identifier: Apache-2.0
"""Credits and merging: throughputs that follow from counting buffers and turns."""
from fractions import Fraction

import pytest

from support import NO_LATENCY, blast, config_of, network_of, run, run_all


# --- One flow through a small buffer ----------------------------------------------------------------------------
#
# Terminal 0 sends to terminal 1 without pause over two routers with one VC. Single flits would pay for a VC allocation
# each, so packets are long: body flits only need the switch. The buffer of B flits at the second router is refilled
# once in a credit loop of
#
#     t = s + x   the flit crosses the first router
#       + c       and the channel; it is granted the switch of the second router in the tick in which it arrives
#       + s + credit_latency    the switch grant is over, the credit is made ready
#       + c       and goes back; the first router may send again in the tick in which it arrives
#
# so throughput is min(1, B / t). The injection buffer has the same B but a shorter loop (ct = 1):
# s + credit_latency + 1 + ct, the ejection buffer s + x + 2 ct: with c >= 1 + x neither is the bottleneck.

def flow(depth, channel, stages, flits=1000):
    routing, vc, switch, crossbar, credit = stages
    router = {"num_vcs": 1, "buffer_depth": depth, "routing_latency": routing, "vc_allocation_latency": vc,
              "switch_allocation_latency": switch, "crossbar_latency": crossbar, "credit_latency": credit}
    network = network_of({"type": "mesh", "widths": [2]}, router=router, channel=channel)
    return config_of(network, blast(1.0, "neighbor", flits, injection="periodic", warmup=10000, sample=40000,
                                    finish_limit=1))


FLOWS = [(depth, channel, stages)
         for stages in [(0, 1, 1, 1, 1), (0, 0, 0, 0, 0), (0, 0, 2, 1, 3), (1, 1, 1, 0, 2)]
         for channel in (2, 5, 10)
         for depth in (1, 2, 4, 8, 16, 32)]


def test_one_flow_gets_its_buffer_over_the_credit_loop():
    # 0.5 %: heads take r + v longer than body flits, once in 1000 flits, and the window cuts loops in two
    results = run_all([flow(*case) for case in FLOWS])
    for (depth, channel, stages), result in zip(FLOWS, results):
        _, _, switch, crossbar, credit = stages
        loop = 2 * channel + 2 * switch + crossbar + credit
        expected = min(1, depth / loop)
        accepted = result["applications"][0]["accepted_load"]
        assert accepted == pytest.approx(expected, rel=0.006), (depth, channel, stages)


def test_buffers_are_as_deep_as_their_channels_are_long():
    """By buffer_per_latency, with default stages: s = x = credit_latency = 1. The channel between the routers takes 10
    ticks, those of terminals 30, and each loop has the buffers of its own channel: 24 ticks between the routers, 62 for
    injection (30 + s + credit_latency + 30) and as many for ejection (s + x + 30 + 30)."""
    cases = [(2, 1, 100), (1.05, 1, 100), (0.5, 1, 100), (1, 15, 100), (2, 1, 12), (0.01, 4, 100), (0.01, 1, 100)]
    configs = []
    for per_latency, least, most in cases:
        config = flow(most, 10, (0, 1, 1, 1, 1))
        config["network"]["terminal_channel"] = {"latency": 30}
        config["network"]["router"].update(buffer_per_latency=per_latency, buffer_min=least)
        configs.append(config)
    between = [20, 11, 5, 15, 12, 4, 1]
    terminal = [60, 32, 15, 30, 12, 4, 1]  # 31.5 is rounded up
    for case, result, near, far in zip(cases, run_all(configs), between, terminal):
        accepted = result["applications"][0]["accepted_load"]
        assert accepted == pytest.approx(min(near / 24, far / 62), rel=0.01), case


@pytest.mark.parametrize("cycle", [1, 2])
def test_zero_latency_router_forwards_a_flit_each_cycle_with_two_slots(cycle):
    # t = 2 c = 2 channel cycles, so two slots are enough at any frequency, and one gives half.
    for depth, expected in ((1, 0.5), (2, 1.0)):
        config = flow(depth, 1, (0, 0, 0, 0, 0))
        config["network"]["router"]["cycle"] = cycle
        for channel in ("channel", "terminal_channel"):
            config["network"][channel] = {"latency": cycle, "cycle": cycle}
        assert run(config)["applications"][0]["accepted_load"] == pytest.approx(expected, rel=0.006)


# --- The parking lot --------------------------------------------------------------------------------------------
#
# All send to terminal 0 at the end of a line. Router 0's exit is shared by its own terminal (which sends to itself:
# it must not take part, so it is left out) and the channel from router 1. Router 1 merges its own terminal with the
# line behind it, one to one, and so on: stop i gets half of what stops i, i+1, ... have together, the last two
# get the same: 1/2, 1/4, ..., 2^-(n-1), 2^-(n-1) for n senders.

def parking(stops, allocator, arbiter):
    router = {**NO_LATENCY, "num_vcs": 1, "buffer_depth": 16, "allocator": allocator, "vc_allocator": allocator,
              "arbiter": arbiter}
    network = network_of({"type": "parking_lot", "stops": stops}, router=router)
    application = blast(1.0, {"type": "hotspot", "terminals": [0]}, warmup=20000, sample=64000, finish_limit=1)
    return config_of(network, application, per_terminal=True)


def shares(stops, allocator, arbiter):
    accepted = run(parking(stops, allocator, arbiter))["applications"][0]["accepted_by_terminal"]
    assert accepted[0] == 0
    return accepted[1:]


@pytest.mark.parametrize("stops", [3, 4, 6, 9])
@pytest.mark.parametrize("allocator", ["round_robin", "islip", "separable_input_first", "separable_output_first"])
def test_round_robin_halves_the_parking_lot_at_every_stop(stops, allocator):
    # Exact but for where the window cuts a turn of 2^(stops - 2) ticks.
    expected = [Fraction(1, 2 ** i) for i in range(1, stops - 1)] + [Fraction(1, 2 ** (stops - 2))]
    for got, want in zip(shares(stops, allocator, "round_robin"), expected):
        assert got == pytest.approx(float(want), abs=2 / 64000)


@pytest.mark.parametrize("stops", [4, 6, 9])
def test_age_gives_every_stop_of_the_parking_lot_the_same(stops):
    # The oldest packet of all in the line's fronts goes first, so stops take turns by age; the shares are
    # equal up to the ends of the window, far inside the 2 % of published fairness figures.
    oldest = {"type": "separable_input_first", "input_arbiter": "age", "output_arbiter": "age"}
    for got in shares(stops, oldest, "age"):
        assert got == pytest.approx(1 / (stops - 1), rel=0.002)


# --- Turns of virtual channels ----------------------------------------------------------------------------------
#
# Three VCs of an input, where u and v want one output and w another. An arbiter that remembers only the VC that the input
# served last, whatever the output, serves u after w, w after u, and v never, as long as u has packets. Here are 24 VCs
# and packets that come and go; with one memory for all outputs a packet or two waited for as long as the others went on.

def test_no_virtual_channel_loses_its_turn_to_another_output():
    network = network_of({"type": "slim_fly", "q": 4, "terminals": 2}, "minimal_adaptive", {"num_vcs": 24, "buffer_depth": 8},
                         channel={"latencies": [3, 27]})
    result = run(config_of(network, blast(0.9, "random_permutation", warmup=1000, sample=2000),
                           {"type": "alltoall"}, seed=938))
    assert result["outcome"] == "done"
    assert result["applications"][1]["packets"] == 64 * 63 and result["simulation"]["end_tick"] < 6000

# SPDX-License-Identifier: Apache-2.0
"""A run is a function of its configuration and seed, and of nothing else."""
import json
import re

import pytest

from support import NO_LATENCY, blast, config_of, invoke, network_of, run

DEFAULTS = {"vc_allocator": "round_robin", "allocator": "round_robin"}
ISLIP = {"vc_allocator": "islip", "allocator": "islip"}


def torus(load=0.4, flits=4, seed=1, routing="dimension_order", **router):
    network = network_of({"type": "torus", "widths": [4, 4]}, routing, {"num_vcs": 4, "buffer_depth": 8, **router})
    return config_of(network, blast(load, flits=flits, warmup=1000, sample=4000), seed=seed)


CONFIGURATIONS = {
    "default": torus(),
    "overloaded": torus(0.95),
    "random arbiters": torus(vc_allocator="pim", allocator="pim", arbiter="random"),
    "islip": torus(**ISLIP),
    "valiant": torus(0.3, routing="valiant"),
    "slow clock": torus(cycle=2),
    "many lanes": torus(num_vcs=32),
    "store and forward": torus(switching="store_and_forward"),
    "output queued": torus(type="output_queued", output_depth=4, transfer_latency=3, arbiter="random"),
    "output queued without an end": torus(0.95, type="output_queued", num_vcs=32),
    "input-output queued": torus(type="input_output_queued", output_depth=4),
    "input-output queued, overloaded": torus(0.95, type="input_output_queued", num_vcs=16, output_arbiter="random"),
}


def digest(config, **overrides):
    return run(config, **overrides)["simulation"]["digest"]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_same_run_twice_gives_the_same_bytes(name):
    def lasting(text):  # all but what the machine did
        return re.sub(r'"(cpu_seconds|wall_seconds|peak_rss_bytes|bytes_per_router)": [^,\n]*', "", text)

    (first, packets), (second, again) = (invoke(CONFIGURATIONS[name], log=True) for _ in range(2))
    assert lasting(first) == lasting(second)
    assert packets == again
    assert json.loads(first)["complete"]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_another_seed_gives_another_digest(name):
    assert len({digest(CONFIGURATIONS[name], simulator__seed=seed) for seed in (1, 2, 3)}) == 3


def test_a_default_given_explicitly_changes_nothing():
    assert digest(torus()) == digest(torus(**DEFAULTS, arbiter="round_robin", cycle=1, input_speedup=1, output_speedup=1))


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
def test_lean_and_general_router_agree(load):
    # The router has a lean variant for usual settings (see input_queued.c). Switching by packets changes nothing for
    # packets of one flit, but makes the router take its general variant.
    for router in ({}, {"vc_allocation_latency": 0}, {**NO_LATENCY}, {"num_vcs": 2, "buffer_depth": 2}):
        usual = torus(load, flits=1, **router)
        found = {digest(usual, network__router__switching=switching)
                 for switching in ("wormhole", "virtual_cut_through", "store_and_forward")}
        assert len(found) == 1, router


@pytest.mark.parametrize("config", [
    torus(cycle=2), torus(num_vcs=20), torus(num_vcs=64, buffer_depth=1), torus(0.9, num_vcs=32, routing="valiant"),
    torus(0.9, input_speedup=2, output_speedup=2), torus(0.9, switching="virtual_cut_through"),
    torus(0.9, crossbar_flow="packet_buffer"), torus(0.9, crossbar_flow="winner_take_all"),
    torus(0.9, vc_needs_credit=True, routing_latency=3),
], ids=str)
def test_the_general_router_loses_nothing(config):
    # The program itself checks at the end that every flit has arrived and every credit is back; 0 means that it has.
    result = run(config)
    application = result["applications"][0]
    assert result["complete"] and result["outcome"] == "done"
    if not application["saturated"]:
        assert application["accepted_load"] == pytest.approx(application["offered_load"], rel=0.05)


def test_a_network_at_half_the_frequency_is_the_same_network():
    # All cycles and latencies doubled, and the same load in channel cycles: latencies double, within sampling noise.
    fast = torus(0.4, flits=2)
    slow = torus(0.4, flits=2, cycle=2)
    for channel in ("channel", "terminal_channel"):
        slow["network"][channel] = {"latency": 2, "cycle": 2}
    means = []
    for config in (fast, slow):
        config["workload"]["applications"][0]["sample"] = 40000
        means.append(run(config)["applications"][0]["packet_latency"]["mean"])
    assert means[1] / means[0] == pytest.approx(2, rel=0.02)

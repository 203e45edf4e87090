# SPDX-License-Identifier: Apache-2.0
"""Flit level and packet level on five networks: one configuration, of which the router's type alone differs.

tests/reproduce/fidelity.py prints the tables of docs/checks.md.

At zero load both are the same to the tick (tests/paper/test_packet_router.py). The packet router is an ideal in two
respects: a channel carries a packet in one piece, and all VCs of an input can be read at once. A flit-level router that is
so too (LIKE) gives the same latencies. The usual one (input_queued) mixes the flits of packets on a channel, so that both
arrive late, and has conflicts at its inputs; that difference is one of architectures, not of fidelity.
"""
import pytest

from support import blast, config_of, network_of, run_all
from test_adaptive import DRAGONFLY, FLAT, NEXT_GROUP, UNIFORM

FLITS = 16
CHANNELS = {"channel": 10, "terminal_channel": 5}
# name: topology, routing, VCs, a load in the middle of what it carries
NETWORKS = {
    "mesh 8x8": ({"type": "mesh", "widths": [8, 8]}, "dimension_order", 4, 0.25),
    "torus 8x8": ({"type": "torus", "widths": [8, 8]}, "dimension_order", 4, 0.4),
    "dragonfly, 72 terminals": ({"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "ugal", 6, 0.4),
    "hyperx 4x4, 64 terminals": ({"type": "hyperx", "widths": [4, 4], "concentration": 4}, "omniwar", 8, 0.3),
    "folded Clos, 128 terminals": ({"type": "folded_clos", "radix": 8, "levels": 3}, "up_down", 4, 0.4),
}
VCT = {"type": "input_queued", "switching": "virtual_cut_through"}
ROUTERS = {
    "packet": lambda num_vcs: {"type": "packet"},
    "like it, in flits": lambda num_vcs: {**VCT, "crossbar_flow": "winner_take_all", "input_speedup": num_vcs},
    "input_queued": lambda num_vcs: VCT,
    "output_queued": lambda num_vcs: {"type": "output_queued", "transfer_latency": 3,  # the sum of the others' stages
                                      "congestion": {"type": "buffer_occupancy", "accounting": "downstream"}},
}
PACKET, LIKE, USUAL, IDEAL = ROUTERS


def config(name, router, load, sample, warmup=5000):
    topology, routing, num_vcs, _ = NETWORKS[name]
    settings = {**ROUTERS[router](num_vcs), "num_vcs": num_vcs, "buffer_depth": 4 * FLITS}
    return config_of(network_of(topology, routing, settings, **CHANNELS),
                     blast(load, flits=FLITS, warmup=warmup, sample=sample, finish_limit=1 if load == 1 else 100000))


def latency(result):
    return result["applications"][0]["packet_latency"]["mean"]


def accepted(result):
    return result["applications"][0]["accepted_load"]


@pytest.mark.parametrize("name", NETWORKS)
def test_both_fidelities_agree(name):
    for load, bound in ((0.05, 0.005), (NETWORKS[name][3], 0.06)):
        packet, flit = run_all([config(name, router, load, 20000) for router in (PACKET, LIKE)])
        assert latency(packet) == pytest.approx(latency(flit), rel=bound), load
        assert accepted(packet) == pytest.approx(accepted(flit), rel=0.01), load


@pytest.mark.parametrize("name", NETWORKS)
def test_packets_carry_what_flits_do(name):
    packet, flit = run_all([config(name, router, 1.0, 10000) for router in (PACKET, USUAL)])
    assert accepted(packet) > 0.95 * accepted(flit)


# --- Adaptive routing sees queues of packets: the bounds of test_adaptive.py, packets of 8 flits ------------------

def accepted_in_packets(topology, routings, traffic, load=1.0, num_vcs=8):
    router = {"type": "packet", "num_vcs": num_vcs, "buffer_depth": 128}
    return [accepted(result) for result in
            run_all([config_of(network_of(topology, routing, router), blast(load, traffic, 8, warmup=20000, sample=30000,
                                                                             finish_limit=1)) for routing in routings])]


def test_adaptive_routing_spreads_what_is_not_spread():
    routings = ["dimension_order", "valiant", "ugal", {"type": "ugal", "mode": "vc"}, "dal", "omniwar"]
    minimal, *spread = accepted_in_packets(FLAT, routings, "bit_complement")
    assert minimal == pytest.approx(1 / 8, rel=0.01)
    for load in spread:
        assert 0.95 * 0.5 < load < 1.005 * 0.5
    minimal, valiant, *adaptive = accepted_in_packets(FLAT, routings, UNIFORM)
    assert valiant == pytest.approx(4 / 7, rel=0.02)
    for load in (minimal, *adaptive):
        assert load > 0.95


def test_a_dragonfly_meets_its_bounds():
    routings = ["dragonfly_minimal", {"type": "valiant", "intermediate": "group"}, "ugal"]
    minimal, valiant, ugal = accepted_in_packets(DRAGONFLY, routings, UNIFORM, num_vcs=12)
    assert 0.95 < minimal <= 1.0 and 0.95 * 0.514 < valiant < 1.005 * 0.514 and ugal > 0.95 * minimal
    minimal, valiant, ugal = accepted_in_packets(DRAGONFLY, routings, NEXT_GROUP, num_vcs=12)
    assert minimal == pytest.approx(0.125, rel=0.01) and 0.95 * 0.4375 < valiant < 1.005 * 0.4375
    assert 0.95 * valiant < ugal < 0.125 + 0.4375


def test_escape_vcs_let_a_torus_carry_more_of_a_transpose():
    fixed, adaptive = accepted_in_packets({"type": "torus", "widths": [8, 8]}, ["dimension_order", "torus_adaptive"],
                                          "transpose", 0.6)
    assert adaptive > 1.3 * fixed

# SPDX-License-Identifier: Apache-2.0
"""The dragonfly family at overload meets what its channels allow, in flits and in packets.

Bounds are derived and counted exactly in tests/unit/network/routing/test_routing.c; those of the plain dragonfly are the rows of
published.md. Where all send to the next group, straight packets have one channel of their group and detours two of the
g - 2 others: together they carry at most 1 + (g - 2) / 2 flits a cycle from a group, the sum of the two bounds.
"""
import pytest

from support import blast, config_of, network_of, run_all, run_logged
from test_adaptive import DRAGONFLY, MANY_VCS, UGAL_G, UNIFORM

MEGAFLY = {"type": "megafly", "terminals": 2, "leaves": 2, "spines": 2, "global": 2}
GRIDS = {"type": "dragonfly_2d", "terminals": 1, "columns": 2, "rows": 2, "row_channels": 2, "column_channels": 2}
LARGE = {"type": "dragonfly", "terminals": 4, "routers": 8, "global": 4}
ROUTINGS = ["dragonfly_minimal", "valiant", "ugal", UGAL_G, "par"]


def flits(topology, routing, traffic, load, length):
    """Routers at twice the clock of the channels, as in test_adaptive.py."""
    network = network_of(topology, routing, MANY_VCS)
    network["channel"] = network["terminal_channel"] = {"cycle": 2}
    return config_of(network, blast(load, traffic, warmup=length, sample=length, finish_limit=1))


def packets(topology, routing, traffic, load, length):
    router = {"type": "packet", "num_vcs": 12, "buffer_depth": 128}
    return config_of(network_of(topology, routing, router), blast(load, traffic, 8, warmup=4 * length, sample=4 * length, finish_limit=1))


FIDELITIES = pytest.mark.parametrize("fidelity", [flits, packets])


def accepted(fidelity, topology, routings, traffic, load=1.0, length=2000):
    results = run_all([fidelity(topology, routing, traffic, load, length) for routing in routings])
    return [result["applications"][0]["accepted_load"] for result in results]


def groups_on(terminals, offset):
    return {"type": "group_attack", "group": terminals, "offset": offset, "place": "random"}


# topology: terminals of a group, bound of Valiant's detours on uniform traffic, of minimal and of detours on the next group
BOUNDS = {"megafly": (MEGAFLY, 4, 5 / 9, 1 / 4, 3 / 8), "dragonfly_2d": (GRIDS, 4, 10 / 19, 1 / 4, 3 / 8)}


@FIDELITIES
@pytest.mark.parametrize("name", BOUNDS)
def test_uniform_traffic_goes_straight(name, fidelity):
    """Valiant: all but those that stay at their router cross two global channels, of which there is one a terminal."""
    topology, _, spread, _, _ = BOUNDS[name]
    minimal, valiant, *adaptive = accepted(fidelity, topology, ROUTINGS, UNIFORM)
    assert minimal > 0.97 and 0.95 * spread < valiant < 1.005 * spread
    assert min(adaptive) > 0.95 * minimal


@FIDELITIES
@pytest.mark.parametrize("name", BOUNDS)
def test_traffic_to_the_next_group_is_spread(name, fidelity):
    topology, terminals, _, straight, spread = BOUNDS[name]
    minimal, valiant, *adaptive = accepted(fidelity, topology, ROUTINGS, groups_on(terminals, 1))
    assert minimal == pytest.approx(straight, rel=0.01) and 0.95 * spread < valiant < 1.005 * spread
    for load in adaptive:
        assert 1.1 * valiant < load < 1.005 * (straight + spread)
    ugal, _, par = adaptive
    assert par > ugal and par > 0.95 * (straight + spread)  # where the global channel is, it shows that it is full


@FIDELITIES
def test_a_dragonfly_spreads_less_where_all_groups_of_a_router_go_on_to_one(fidelity):
    """Two groups on: all that came to a router takes one local channel on. That binds some flows and not others, so that what
    arrives may be a little more than the bound of all together."""
    minimal, valiant = accepted(fidelity, DRAGONFLY, ["dragonfly_minimal", "valiant"], groups_on(8, 2))
    assert minimal == pytest.approx(1 / 8, rel=0.01) and valiant == pytest.approx(7 / 24, rel=0.1)


@FIDELITIES
def test_a_large_dragonfly_carries_one_channel_of_a_group_straight(fidelity):
    assert accepted(fidelity, LARGE, ["dragonfly_minimal"], groups_on(32, 1), 0.1, 500)[0] == pytest.approx(1 / 32, rel=0.02)


@pytest.mark.parametrize("topology, longest", [(MEGAFLY, 3), (GRIDS, 5)], ids=["megafly", "dragonfly_2d"])
def test_thresholds_and_biases_keep_packets_on_the_straight_way(topology, longest):
    """All to the next group: there is nothing but congestion that a threshold or a bias could hide."""
    for routing in ("ugal", "par"):
        for setting, is_straight in (({"threshold": 1e6}, True), ({"bias": 1e6}, True), ({"bias": -1e6}, False)):
            network = network_of(topology, {"type": routing, **setting}, {"num_vcs": 8, "buffer_depth": 8})
            _, log = run_logged(config_of(network, blast(0.3, groups_on(BOUNDS[topology["type"]][1], 1), warmup=100, sample=200,
                                                         finish_limit=5000)))
            assert log and (max(packet["hops"] for packet in log) <= longest) == is_straight, (routing, setting)

# SPDX-License-Identifier: Apache-2.0
"""What adaptive routing is for, in whole runs: spread traffic goes straight, other traffic is spread.

Bounds are 1 / (the largest channel load), counted exactly in tests/unit/network/routing/test_routing.c. The network is a flattened
butterfly of 8 routers with 8 terminals each. Bit complement sends all terminals of a router to one other router: minimal
ways carry 1/8 of it, Valiant's 1/2. Routers run at twice the clock of the channels, so that what waits waits in their
output queues, where sensors see it: without that speedup it waits in input buffers, and UGAL carries half as much.
"""
import pytest

from support import blast, config_of, network_of, run_all, run_logged

OLDEST = {"type": "separable_input_first", "iterations": 3, "input_arbiter": "age", "output_arbiter": "age"}
ROUTER = {"type": "input_output_queued", "num_vcs": 8, "buffer_depth": 16, "output_depth": 16, "input_speedup": 2,
          "vc_allocator": OLDEST, "allocator": OLDEST, "arbiter": "age"}
FLAT = {"type": "hyperx", "widths": [8], "concentration": 8}
DRAGONFLY = {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}
UNIFORM = {"type": "uniform_random", "self": True}
UGAL_BY_VC = {"type": "ugal", "mode": "vc"}


def accepted(topology, routings, traffic, load=1.0, router=None, cycle=1):
    configs = []
    for routing in routings:
        network = network_of(topology, routing, router or ROUTER)
        network["channel"] = network["terminal_channel"] = {"cycle": cycle}
        configs.append(config_of(network, blast(load, traffic, warmup=2000, sample=4000, finish_limit=1)))
    return [result["applications"][0]["accepted_load"] for result in run_all(configs)]


def test_adaptive_routing_spreads_what_is_not_spread():
    routings = ["dimension_order", "valiant", "ugal", UGAL_BY_VC, "dal", "omniwar"]
    minimal, *spread = accepted(FLAT, routings, "bit_complement", cycle=2)
    assert minimal == pytest.approx(1 / 8, rel=0.01)
    for load in spread:
        assert 0.95 * 0.5 < load < 1.005 * 0.5


def test_adaptive_routing_sends_spread_traffic_straight():
    valiant, *others = accepted(FLAT, ["valiant", "dimension_order", "ugal", "dal", "omniwar"], UNIFORM, cycle=2)
    assert valiant == pytest.approx(4 / 7, rel=0.02)  # 7/8 of it leaves its router
    for load in others:
        assert load > 0.95


def test_congestion_by_port_carries_more_uniform_traffic_and_credits_alone_do_not_see_all():
    """SuperSim's case study B has 31.6 % more by port than by VC, on 32 routers. With many VCs it takes straight packets that
    keep to the second leg's: else they spread over all VCs, and a VC says as much as its port."""
    second = {"straight_vcs": "second"}
    by_vc, by_port = accepted(FLAT, [{**UGAL_BY_VC, **second}, {"type": "ugal", **second}], UNIFORM, cycle=2)
    assert 1.2 < by_port / by_vc < 1.5
    downstream = {**ROUTER, "congestion": {"type": "buffer_occupancy", "accounting": "downstream"}}
    for load in accepted(FLAT, ["ugal", UGAL_BY_VC], "bit_complement", router=downstream, cycle=2):
        assert load < 0.3


def test_an_unloaded_network_has_no_detours():
    for topology, routing in [(FLAT, "ugal"), (DRAGONFLY, "ugal"), (DRAGONFLY, "par"), (FLAT, "omniwar"), (FLAT, "dal")]:
        bias = {"bias": 1} if routing in ("ugal", "par") else {"reduction": {"type": "weighted", "independent_bias": 1}}
        _, packets = run_logged(config_of(network_of(topology, {"type": routing, **bias}, {"num_vcs": 6}),
                                          blast(0.01, "uniform_random", warmup=0, sample=2000)))
        longest = 1 if topology is FLAT else 3
        assert packets and all(packet["hops"] <= longest for packet in packets), routing


def test_an_adaptive_torus_carries_more_of_a_transpose_than_dimension_order():
    router = {"num_vcs": 8, "buffer_depth": 8}
    fixed, adaptive = accepted({"type": "torus", "widths": [8, 8]}, ["dimension_order", "torus_adaptive"], "transpose", 0.6,
                               router)
    assert adaptive > 1.3 * fixed


# ---- turn models (Glass and Ni 1992, Chiu 2000): more than dimension order of a transpose, less of uniform traffic ----

TURNS = [{"type": "turn_model", "model": model} for model in ("west_first", "north_last", "odd_even", "negative_first")]


def accepted_on_a_mesh(traffic, load):
    configs = [config_of(network_of({"type": "mesh", "widths": [8, 8]}, routing, {"num_vcs": 1, "buffer_depth": 8}),
                         blast(load, traffic, warmup=1000, sample=3000, finish_limit=1))
               for routing in ["dimension_order", *TURNS]]
    return [result["applications"][0]["accepted_load"] for result in run_all(configs)]


def test_turn_models_carry_more_of_a_transpose():
    # (x,y) to (y,x) leads north-west or south-east, where negative_first has no choice to make and the others have one
    fixed, *freer, negative_first = accepted_on_a_mesh("transpose", 0.6)
    assert min(freer) > 1.1 * fixed and 0.97 * fixed < negative_first < 1.03 * fixed
    # the other diagonal, which is Glass and Ni's transpose: north-east or south-west, negative_first's best case
    fixed, *freer, negative_first = accepted_on_a_mesh("dim_complement_reverse", 0.6)
    assert min(freer) > 1.1 * fixed and negative_first > 1.3 * fixed and negative_first > max(freer)


def test_turn_models_carry_less_of_uniform_traffic():
    fixed, *turns = accepted_on_a_mesh("uniform_random", 0.9)
    assert max(turns) < 0.9 * fixed


@pytest.mark.parametrize("topology", [{"type": "mesh", "widths": [8, 8]}, {"type": "torus", "widths": [8, 8]},
                                      {"type": "hypercube", "dimensions": 6}])
def test_duatos_protocol_carries_more_of_a_transpose_than_dimension_order(topology):
    fixed, adaptive = accepted(topology, ["dimension_order", "duato"], "transpose", 0.8, {"num_vcs": 4, "buffer_depth": 8})
    assert adaptive > 1.3 * fixed


def test_a_fat_tree_carries_a_permutation_that_a_way_for_each_destination_cannot():
    tree = {"type": "folded_clos", "down": [4, 4, 4], "up": [4, 4]}
    router = {"type": "output_queued", "num_vcs": 1, "buffer_depth": 32, "output_depth": 64}
    ways = [{"type": "up_down", "selection": selection} for selection in ("deterministic", "random", "adaptive")]
    deterministic, random, adaptive = accepted(tree, ways, "transpose", 0.95, router)
    assert deterministic < 0.5  # the bound is 1/4; terminals that stay at their leaf get more
    assert random > 0.8 and adaptive > 0.9


# ---- dragonfly of 72 terminals; published.md has the bounds ----

NEXT_GROUP = {"type": "group_attack", "group": 8, "offset": 1, "place": "random"}
MANY_VCS = {**ROUTER, "num_vcs": 12}


UGAL_G = {"type": "ugal", "knowledge": "global"}


def test_a_dragonfly_meets_its_bounds():
    routings = ["dragonfly_minimal", {"type": "valiant", "intermediate": "group"}, "ugal", UGAL_G, "par"]
    minimal, valiant, *adaptive = accepted(DRAGONFLY, routings, UNIFORM, router=MANY_VCS, cycle=2)
    assert 0.95 < minimal <= 1.0 and 0.95 * 0.514 < valiant < 1.005 * 0.514
    for load in adaptive:
        assert load > 0.95 * minimal  # straight, where that is best
    minimal, valiant, *adaptive = accepted(DRAGONFLY, routings, NEXT_GROUP, router=MANY_VCS, cycle=2)
    assert minimal == pytest.approx(0.125, rel=0.01) and 0.95 * 0.4375 < valiant < 1.005 * 0.4375
    # Both kinds of ways together: no more than minimal and Valiant ways carry side by side
    for load in adaptive:
        assert 0.95 * valiant < load < 0.125 + 0.4375
    ugal, ugal_g, par = adaptive
    assert ugal_g > ugal and par > ugal  # they see the channel that is full; ugal waits until that shows at the source


def test_by_vc_detours_seem_free_where_only_they_use_a_class():
    """The second local channel of par, and all behind the first global one of UGAL-G, are in VCs that straight packets never
    use: empty, so that packets leave the straight way for channels that are just as busy."""
    ugal, ugal_g, par = accepted(DRAGONFLY, [{"type": "ugal", "mode": "vc"}, {**UGAL_G, "mode": "vc"},
                                             {"type": "par", "mode": "vc"}], UNIFORM, router=MANY_VCS, cycle=2)
    assert ugal > 0.95  # both of its ways begin in the same class
    assert ugal_g < 0.9 and par < 0.75


def test_a_full_channel_without_a_queue_behind_it_shows_by_port():
    """Without output queues or speedup a channel that carries a flit every cycle leaves some VC downstream empty."""
    router = {"num_vcs": 8, "buffer_depth": 16}
    by_port, by_vc = accepted(FLAT, ["ugal", UGAL_BY_VC], "bit_complement", router=router)
    assert by_vc == pytest.approx(1 / 8, rel=0.02) and by_port > 2 * by_vc

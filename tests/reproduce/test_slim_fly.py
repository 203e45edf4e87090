# SPDX-License-Identifier: Apache-2.0
"""What a Slim Fly of q 5 with 4 terminals at each router carries at full load, against bounds by channel loads.

Its graph is that of Hoffman and Singleton, in which all channels are alike: 7 routers are one away and 42 are two. A
leg to a router drawn at random therefore crosses 91/50 channels and loads each of the 350 with 200 * 1.82 / 350 = 1.04
flits when 200 terminals send one: the bound of uniform traffic is 1/1.04. Valiant makes two such legs, except for the
packets of uniform traffic that go to their own router. Where every router sends to the next by number, minimal routing
leaves each of them a channel of its own or, to 20 of the 25 routers of the second subgraph, in which the next in the
group is two channels away (c, c + 3, c + 6 = c + 1 modulo 5), the half of one: (30 / 4 + 20 / 8) / 50.
"""
import pytest

from support import blast, config_of, network_of, run_all

NETWORK = {"type": "slim_fly", "q": 5, "terminals": 4}
ROUTER = {"type": "input_output_queued", "num_vcs": 12, "buffer_depth": 16, "output_depth": 16, "arbiter": "age",
          "output_arbiter": "age"}
UNIFORM = {"type": "uniform_random", "self": True}
NEXT_ROUTER = {"type": "adversarial", "group": 4, "offset": 1}
UNIFORM_BOUND = 1 / 1.04
ROUTINGS = ["minimal", "valiant", "ugal", "par"]


def accepted(routings, traffic):
    channel = {"latency": 2, "cycle": 2}  # routers at twice the clock of the channels
    blasts = blast(0.999, traffic, warmup=1500, sample=1500, finish_limit=500)
    configs = [config_of(network_of(NETWORK, routing, ROUTER, channel, channel), blasts) for routing in routings]
    return [results["applications"][0]["accepted_load"] for results in run_all(configs)]


def test_uniform_traffic_goes_straight():
    minimal, valiant, *adaptive = accepted(ROUTINGS, UNIFORM)
    assert minimal == pytest.approx(UNIFORM_BOUND, rel=0.015) and minimal < UNIFORM_BOUND * 1.002
    assert valiant == pytest.approx(UNIFORM_BOUND / 2 / 0.98, rel=0.02)
    assert all(load > 0.96 * UNIFORM_BOUND for load in adaptive)


def test_traffic_between_two_routers_goes_by_detours():
    minimal, valiant, *adaptive = accepted(ROUTINGS, NEXT_ROUTER)
    assert minimal == pytest.approx(0.2, rel=0.01)
    assert valiant == pytest.approx(UNIFORM_BOUND / 2, rel=0.02)
    assert all(load > 1.8 * minimal for load in adaptive)

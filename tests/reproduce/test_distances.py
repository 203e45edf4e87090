# SPDX-License-Identifier: Apache-2.0
"""Hops against distances in the graph, found here a second time by breadth-first search over the channels that a run
lists: on average under minimal routing at low load, and packet by packet under routing that makes detours.
"""
import json
from collections import deque

import pytest

from support import blast, config_of, invoke, network_of, run, run_logged

ROUTERS = {"input_queued": {"type": "input_queued", "num_vcs": 4}, "packet": {"type": "packet", "num_vcs": 4}}
# Topology, terminals at a router, ticks of sampling such that a mean over all packets has an error far below 0.5 %.
TOPOLOGIES = {
    "slim_fly of 5": ({"type": "slim_fly", "q": 5, "terminals": 4}, 4, 3000),
    "slim_fly of 7": ({"type": "slim_fly", "q": 7, "terminals": 2}, 2, 3000),
    "jellyfish": ({"type": "jellyfish", "routers": 40, "degree": 5, "terminals": 3}, 3, 6000),
    "dragonfly": ({"type": "dragonfly"}, 2, 9000),
    "hyperx": ({"type": "hyperx", "widths": [4, 3, 3], "concentration": 2}, 2, 9000),
}


def distances_of(results):
    """By router and router, over the channels of channels.list."""
    neighbours = {}
    for router, _, target, _ in results["channels"]["list"]:
        neighbours.setdefault(router, []).append(target)
    distances = []
    for start in sorted(neighbours):
        found, queue = {start: 0}, deque([start])
        while queue:
            here = queue.popleft()
            for there in neighbours[here]:
                if there not in found:
                    found[there] = found[here] + 1
                    queue.append(there)
        distances.append(found)
    return distances


def mean_between_terminals(distances, concentration):
    """Over all pairs of two different terminals, as uniform traffic draws them."""
    pairs = sum(sum(found.values()) for found in distances) * concentration**2
    terminals = len(distances) * concentration
    return pairs / (terminals * (terminals - 1))


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_mean_hops_of_minimal_routing_are_the_mean_distance(name, router):
    topology, concentration, sample = TOPOLOGIES[name]
    network = network_of(topology, "minimal", ROUTERS[router])
    results = run(config_of(network, blast(0.1, warmup=200, sample=sample), per_channel=True))
    mean = mean_between_terminals(distances_of(results), concentration)
    if topology["type"] == "slim_fly":  # diameter 2: those that are not linked are two apart
        routers, degree = 2 * topology["q"]**2, {5: 7, 7: 11}[topology["q"]]
        assert mean == pytest.approx(concentration * (degree + 2 * (routers - 1 - degree)) / (routers * concentration - 1))
    application = results["applications"][0]
    assert application["packets"] > 55000
    assert application["hops"]["mean"] == pytest.approx(mean, rel=0.005)
    assert application["nonminimal_share"] == 0


def shares(values):
    return [[value, values.count(value)] for value in sorted(set(values))]


@pytest.mark.parametrize("routing", ["minimal", "minimal_adaptive", "valiant", "ugal", "par"])
@pytest.mark.parametrize("topology", [{"type": "slim_fly", "q": 4, "terminals": 2},
                                      {"type": "jellyfish", "routers": 18, "degree": 3, "terminals": 2},
                                      {"type": "polarfly", "q": 3, "terminals": 2},
                                      {"type": "kautz", "degree": 2, "diameter": 3, "terminals": 2},
                                      {"type": "dragonfly", "terminals": 2}], ids=lambda block: block["type"])
def test_detours_are_told_from_shortest_ways(topology, routing):
    router = {"type": "packet" if routing == "par" else "input_queued", "num_vcs": 12}
    config = config_of(network_of(topology, routing, router), blast(0.4, warmup=200, sample=400), per_channel=True)
    results, packets = run_logged(config)
    application, distances = results["applications"][0], distances_of(results)
    expected = [distances[packet["source"] // 2][packet["destination"] // 2] for packet in packets]
    assert [packet["minimal_hops"] for packet in packets] == expected
    longer = sum(packet["hops"] > least for packet, least in zip(packets, expected))
    assert application["nonminimal_share"] == pytest.approx(longer / len(packets))
    assert (longer > 0) == (routing in ("valiant", "ugal", "par"))
    assert application["hops"]["distribution"] == shares([packet["hops"] for packet in packets])
    assert application["minimal_hops"]["distribution"] == shares(expected)


def test_distributions_are_the_same_on_threads():
    config = config_of(network_of({"type": "slim_fly", "q": 4, "terminals": 2}, "par", {"num_vcs": 5}),
                       blast(0.5, warmup=200, sample=1000))
    alone, in_parts = (json.loads(invoke(config, arguments=arguments)[0])["applications"]
                       for arguments in ([], ["--sync", "conservative", "--threads", "3"]))
    assert alone == in_parts and len(alone[0]["hops"]["distribution"]) == 6  # 0 to 5 hops

# SPDX-License-Identifier: Apache-2.0
"""Parts of the results document that are there for figures: hops, and channels one by one."""
import pytest

from support import blast, config_of, network_of, run, run_logged

MESH = {"type": "mesh", "widths": [4, 3]}


def results_of(topology, routing="dimension_order", per_channel=True, **network):
    application = blast(0.2, warmup=200, sample=2000)
    return run(config_of(network_of(topology, routing, **network), application, per_channel=per_channel))


def test_hops_are_counted_one_by_one():
    results, packets = run_logged(config_of(network_of(MESH), blast(0.2, warmup=200, sample=2000)))
    application = results["applications"][0]
    hops = [packet["hops"] for packet in packets]
    assert application["hop_distribution"] == [[value, hops.count(value)] for value in sorted(set(hops))]
    assert sum(count for _, count in application["hop_distribution"]) == application["packets"]


def test_channels_are_listed_where_asked_for():
    channels = results_of(MESH)["channels"]
    assert channels["columns"] == ["router", "port", "target", "utilisation"]
    assert channels["coordinates"] == [[x, y] for y in range(3) for x in range(4)]
    assert len(channels["list"]) == channels["count"] == 2 * (3 * 3 + 4 * 2)
    place = channels["coordinates"]
    for router, port, target, utilisation in channels["list"]:
        assert sum(abs(a - b) for a, b in zip(place[router], place[target])) == 1
        assert 1 <= port <= 4 and 0 <= utilisation <= 1  # port 0 is the terminal's
    assert channels["list"] == sorted(channels["list"])
    shares = [row[3] for row in channels["list"]]
    assert sum(shares) / len(shares) == pytest.approx(channels["utilisation"]["mean"])
    assert (min(shares), max(shares)) == (channels["utilisation"]["min"], channels["utilisation"]["max"])


def test_two_terminals_use_the_channels_between_them_alone():
    # Terminals 0 and 3 send to each other, a flit in ten cycles: along the first row, and back.
    application = {**blast(0.1, injection="periodic", warmup=200, sample=2000),
                   "allocation": {"type": "list", "terminals": [0, 3]}}
    channels = run(config_of(network_of(MESH), application, per_channel=True))["channels"]
    used = {(router, target): share for router, _, target, share in channels["list"] if share > 0}
    assert used == {way: 0.1 for way in [(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)]}


def test_channels_are_not_listed_unless_asked_for():
    channels = results_of(MESH, per_channel=False)["channels"]
    assert list(channels) == ["count", "utilisation"]


@pytest.mark.parametrize("topology, dimensions", [({"type": "torus", "widths": [3, 3, 2]}, 3),
                                                  ({"type": "hypercube", "dimensions": 3}, 3),
                                                  ({"type": "mesh", "widths": [5], "concentration": 2}, 1)])
def test_grids_have_coordinates(topology, dimensions):
    channels = results_of(topology)["channels"]
    assert len(channels["coordinates"]) == max(row[0] for row in channels["list"]) + 1
    assert all(len(place) == dimensions for place in channels["coordinates"])


def test_without_a_grid_there_are_no_coordinates():
    channels = results_of({"type": "single_router", "terminals": 4}, "minimal")["channels"]
    assert channels["list"] == [] and "coordinates" not in channels

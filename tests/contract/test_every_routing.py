# SPDX-License-Identifier: Apache-2.0
"""What every routing algorithm owes to protocol classes, to routers and to parallel channels: a class's packets go by its
own VCs as another class's do by theirs, whichever router asks, and no channel is left out.
"""
import csv
import json
import subprocess

import pytest

import test_everything_runs as everything
from support import PROGRAM

TOPOLOGIES = [{"type": "mesh", "widths": [6, 6]}, {"type": "torus", "widths": [6, 6]}, {"type": "hyperx", "widths": [4, 4]},
              {"type": "folded_clos", "radix": 4, "levels": 3}, {"type": "butterfly", "radix": 4, "stages": 3},
              {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, {"type": "express_mesh", "width": 4},
              {"type": "single_router", "terminals": 8}, {"type": "bcube", "n": 3, "k": 1}, {"type": "spidergon", "routers": 10},
              {"type": "hierarchical_rings", "widths": [3, 2]}, {"type": "express_cube", "widths": [7], "interval": [3]},
              {"type": "hamming_mesh", "boards": [2, 2]}]
MODES = ["vc", "offered_sum", "port_average"]


def forms(routing):
    """By default, as in its example, and with each way to read congestion that it can be told."""
    text = subprocess.run([PROGRAM, "explain", "routing", routing], capture_output=True, text=True, check=True).stdout
    modes = [{"type": routing, "mode": mode} for mode in MODES] if "offered_sum" in text else []
    return [routing, everything.registered()["routing"][routing], *modes]


def ran(network, application, directory, *arguments):
    config = {"network": network, "workload": {"applications": [{
        "type": "blast", "warmup": 200, "sample": 1000, "load": 0.45, "traffic": "random_permutation", "finish_limit": 1,
        "size": {"type": "fixed", "flits": 3}, **application}]}}
    ended = everything.start([PROGRAM, *arguments], config, directory)
    assert ended.returncode == 0 or ended.stderr.startswith("deadlock"), ended.stderr
    return json.loads(ended.stdout)


FIXED = {"type": "fixed_priority"}  # round robins would begin elsewhere in another class
ALLOCATOR = {"type": "separable_input_first", "input_arbiter": FIXED, "output_arbiter": "age"}


@pytest.mark.parametrize("routing", sorted(everything.registered()["routing"]))
def test_packets_of_another_class_fare_alike(routing, tmp_path):
    """They are alone in their VCs, and do exactly what those of the first class do in theirs."""
    for topology in TOPOLOGIES:
        for block in forms(routing):
            if not everything.is_accepted(block, topology):
                continue
            router = {"num_vcs": 2 * everything.vcs_needed(block, topology), "vc_allocator": ALLOCATOR, "allocator": ALLOCATOR}
            network = {"topology": topology, "routing": block, "router": router, "protocol_classes": 2,
                       "interface": {"injection_vcs": 1}}
            first, second = [ran(network, {"protocol_class": number}, tmp_path)["applications"] for number in range(2)]
            assert second == first, (topology, block)


def test_a_router_that_ranks_vcs_knows_the_escape_vcs_of_another_class(tmp_path):
    router = {"type": "booksim", "num_vcs": 4, "vc_allocator": ALLOCATOR, "allocator": ALLOCATOR}
    network = {"topology": TOPOLOGIES[0], "routing": "one_way_escape", "router": router, "protocol_classes": 2, "interface": {"injection_vcs": 1}}
    first, second = [ran(network, {"protocol_class": number}, tmp_path)["applications"] for number in range(2)]
    assert second == first


@pytest.mark.parametrize("routing", sorted(set(everything.registered()["routing"]) - {"least_latency"}))  # which has one way
def test_parallel_channels_are_used(routing, tmp_path):
    """On every VC that a dimension's first channels carry flits on, its second ones do too, if less: routers take the first
    that is free."""
    for kind in ("mesh", "torus", "hyperx"):
        topology = {"type": kind, "widths": [4, 4], "channels": [2, 2]}
        if not everything.is_accepted(routing, topology):
            continue
        vcs = 2 * everything.vcs_needed(routing, topology)
        network = {"topology": topology, "routing": routing, "router": {"num_vcs": vcs}}
        ran(network, {"traffic": "uniform_random", "load": 0.9}, tmp_path, "--channel-log", tmp_path / "channels.csv")
        flits, seen = {}, set()
        with open(tmp_path / "channels.csv") as file:
            for row in csv.DictReader(file):
                router, target = int(row["router"]), int(row["target"])
                if row["kind"] != "between":
                    continue
                is_second, dimension = (router, target) in seen, router // 4 != target // 4
                seen.add((router, target))
                for vc in range(vcs):
                    flits.setdefault((dimension, vc), [0, 0])[is_second] += int(row[f"vc{vc}"])
        assert len(seen) > 40 and all(second > 0 for first, second in flits.values() if first), (topology, flits)


@pytest.mark.parametrize("selection, channels", [("deterministic", 1), ("random", 2), ("first", 2)])
def test_a_destination_has_one_way_down_joined_roots_unless_it_is_drawn(selection, channels, tmp_path):
    """All send to terminal 7, by the one root, router 8, and from there by one of two channels to its group, or both."""
    network = {"topology": {"type": "folded_clos", "down": [2, 2, 2], "up": [2, 1], "joined": 2},
               "routing": {"type": "up_down", "selection": selection}}
    ran(network, {"traffic": {"type": "hotspot", "terminals": [7], "share": 1.0}, "load": 0.1}, tmp_path, "--channel-log",
        tmp_path / "channels.csv")
    with open(tmp_path / "channels.csv") as file:
        used = [row for row in csv.DictReader(file) if row["kind"] == "between" and row["router"] == "8" and int(row["flits"])]
    assert len(used) == channels

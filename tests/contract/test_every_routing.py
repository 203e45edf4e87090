# SPDX-License-Identifier: Apache-2.0
"""What every routing algorithm owes to protocol classes, to routers and to parallel channels: a class's packets go by its
own VCs as another class's do by theirs, whichever router asks, and no channel is left out.
"""
import json
import subprocess

import pytest

import test_everything_runs as everything
from support import PROGRAM

TOPOLOGIES = [{"type": "mesh", "widths": [6, 6]}, {"type": "torus", "widths": [6, 6]}, {"type": "hyperx", "widths": [4, 4]},
              {"type": "folded_clos", "radix": 4, "levels": 3}, {"type": "butterfly", "radix": 4, "stages": 3},
              {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, {"type": "express_mesh", "width": 4},
              {"type": "single_router", "terminals": 8}]
MODES = ["vc", "offered_sum", "port_average"]


def forms(routing):
    """By default, as in its example, and with each way to read congestion that it can be told."""
    text = subprocess.run([PROGRAM, "explain", "routing", routing], capture_output=True, text=True, check=True).stdout
    modes = [{"type": routing, "mode": mode} for mode in MODES] if "offered_sum" in text else []
    return [routing, everything.registered()["routing"][routing], *modes]


def ran(network, application, directory):
    config = {"network": network, "workload": {"applications": [{
        "type": "blast", "warmup": 200, "sample": 1000, "load": 0.45, "traffic": "random_permutation", "finish_limit": 1,
        "size": {"type": "fixed", "flits": 3}, **application}]}}
    ended = everything.start([PROGRAM], config, directory)
    assert ended.returncode == 0 or ended.stderr.startswith("deadlock"), ended.stderr
    return json.loads(ended.stdout)["applications"][0]


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
            first, second = [ran(network, {"protocol_class": number}, tmp_path) for number in range(2)]
            assert second == first, (topology, block)

# SPDX-License-Identifier: Apache-2.0
"""Every topology lives with failures, also one that is new: what is left of it is routed free of deadlock, a run drains, and
threads give the same results."""
import json
import random
import subprocess

import pytest

import test_everything_runs as everything
from support import PROGRAM

ROUTINGS = [("minimal", 40), ("escape_adaptive", 3), ("tree_up_down", 1), ("ugal", 60)]  # and VCs that are enough


@pytest.mark.parametrize("topology", sorted(everything.registered()["topology"]))
def test_every_topology_lives_with_failures(topology, tmp_path):
    draw = random.Random(f"failures {topology}")
    shape = draw.choice(everything.shapes_of(topology))
    routing, vcs = draw.choice(ROUTINGS)
    failures = {"links": {"share": draw.choice([0.1, 0.3]), "seed": draw.randrange(1000)}, "cut_off": "lose"}
    if draw.random() < 0.5:
        failures["routers"] = {"count": 1}
    network = {"topology": shape, "routing": routing, "router": {"num_vcs": vcs}, "failures": failures}
    config = {"network": network, "workload": {"applications": [{"type": "blast", "load": 0.2, "warmup": 100, "sample": 300,
                                                                 "size": {"type": "fixed", "flits": 3}, "finish_limit": 20000}]}}
    checked = subprocess.run([PROGRAM, "check", everything.write(config, tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert checked.returncode == 0 and ": no deadlock\n" in checked.stdout, f"{checked.stdout}{checked.stderr}\n{json.dumps(config)}"
    told = []
    for program in ([PROGRAM], [PROGRAM, *everything.IN_PARTS]):
        ended = everything.start(program, config, tmp_path)
        assert ended.returncode == 0, f"{ended.stderr}\n{json.dumps(config)}"
        results = json.loads(ended.stdout)
        told.append((results["simulation"]["digest"], results["failures"], results["applications"][0]["packets"]))
    assert told[0] == told[1]

# SPDX-License-Identifier: Apache-2.0
"""Draws the small configurations of drawn.jsonl: every routing algorithm in every router, all else at random, as
tests/contract/test_everything_runs.py draws it. Those that are there stay as they are: only what is missing is added."""
import json
import random
import sys
import tempfile
from pathlib import Path

import cases

sys.path[:0] = [str(cases.ROOT / "tests"), str(cases.ROOT / "tests" / "contract")]
import test_everything_runs as everything  # noqa: E402

COSTLY_SECONDS = {"": 0.1, "conservative": 0.3, "optimistic": 0.5, "reversal": 0.5}  # of CPU time, by the way of running


def is_quick(config, way=""):
    """It is also accepted."""
    with tempfile.TemporaryDirectory() as folder:
        ended = everything.start([everything.PROGRAM, *cases.WAYS.get(way, ())], config, Path(folder))
    return ended.returncode in (0, 2) and json.loads(ended.stdout)["simulation"]["cpu_seconds"] < COSTLY_SECONDS[way]


def other_way(config, number):
    """Each way of running has its share of the configurations, where it is quick too."""
    way = list(cases.WAYS)[number % len(cases.WAYS)]
    return way if is_quick(config, way) else ""


def pair(routing, router):
    """A configuration with both on one of the topologies that the algorithm accepts; None where no try is quick and accepted."""
    draw = random.Random(f"digests {routing} {router}")
    topologies = sorted(everything.registered()["topology"])
    for _ in range(60):
        shape = everything.topology_of(draw.randint(0, 5), draw.choice(topologies))
        block = draw.choice([routing, everything.registered()["routing"][routing]])
        if not everything.is_accepted(block, shape):
            continue
        num_vcs = min(64, everything.vcs_needed(block, shape) * draw.choice([1, 1, 2]) + draw.choice([0, 0, 1]))
        config = everything.config_for(draw, shape, block, router, num_vcs)
        if is_quick(config):
            return config
    return None


def add_missing():
    known = cases.drawn_configs()
    names = {config["name"] for config in known}
    added = []
    for routing in sorted(everything.registered()["routing"]):
        for router in sorted(everything.registered()["router"]):
            name = f"{routing} {router}"
            config = None if name in names else pair(routing, router)
            if config:
                added.append({"name": name, "way": other_way(config, len(known) + len(added)), **config})
    lines = [json.dumps(config, separators=(",", ":")) for config in known + added]
    cases.DRAWN.write_text("".join(line + "\n" for line in lines))
    return len(added)

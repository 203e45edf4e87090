# SPDX-License-Identifier: Apache-2.0
"""Draws the small configurations of drawn.jsonl: every routing algorithm in every router, all else at random, as
tests/contract/test_everything_runs.py draws it; and lists in settings.jsonl what each setting of them can be. Those that are
there stay as they are: only what is missing is added."""
import json
import random
import sys
import tempfile
from pathlib import Path

import cases

sys.path.insert(0, str(cases.ROOT / "tests" / "contract"))
import test_everything_runs as everything  # noqa: E402
from support import schema  # noqa: E402

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
        shape = draw.choice(everything.shapes_of(draw.choice(topologies)))
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
    write(cases.DRAWN, known + added)
    return len(added) + add_missing_settings()


def write(path, documents):
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in documents))


# ---- each setting by itself ------------------------------------------------------------------------------------------------------

MESH = {"type": "mesh", "widths": [3, 3]}
PLACES = {  # one of each kind of topology, as small as shows all of an algorithm
    "torus": {"type": "torus", "widths": [3, 4]}, "mesh": MESH, "hyperx": {"type": "hyperx", "widths": [3, 3]},
    "butterfly": {"type": "butterfly", "radix": 2, "stages": 3}, "dragonfly": {"type": "dragonfly", "terminals": 1, "routers": 2, "global": 2},
    "dragonfly_2d": {"type": "dragonfly_2d", "terminals": 1, "columns": 2, "rows": 2, "groups": 3}, "megafly": {"type": "megafly", "terminals": 1},
    "folded_clos": {"type": "folded_clos", "down": [2, 2, 2], "up": [2, 2]}, "jellyfish": {"type": "jellyfish", "routers": 10, "degree": 3},
    "hypercube": {"type": "hypercube", "dimensions": 3}, "single_router": {"type": "single_router", "terminals": 5},
}


def values_of(row, defs):
    """What to try of a setting: all names, the least and some more."""
    kinds = [one for kind in row.get("anyOf", [row]) for one in kind.get("anyOf", [kind])]
    for kind in kinds:
        name = kind.get("$ref", "").rpartition("/")[2]
        if name not in ("", "reference", "include"):
            return defs[name]["anyOf"][0]["enum"]
        if "enum" in kind:
            return kind["enum"]
        if kind.get("type") == "boolean":
            return [True, False]
        if kind.get("type") in ("integer", "number"):
            usual = row.get("default") or 0
            usual = usual if isinstance(usual, (int, float)) else 0
            tried = {max(kind["minimum"], -1), usual + 1, 2 * usual + 3}
            return sorted(value for value in tried if kind["minimum"] <= value <= kind["maximum"] and value != usual)
    return []


def each_setting(kind, name, defs):
    """PATH=VALUE of every setting of a component."""
    for key, row in defs[f"{kind}.{name}"].get("properties", {}).items():
        for value in values_of(row, defs) if key not in ("type", "$include") else []:
            yield f"network.{kind}.{key}={json.dumps(value)}"


def settings_of(name, topology, routing, router, asked):
    application = {"type": "blast", "load": 0.5, "size": {"type": "uniform", "max": 4}, "warmup": 50, "sample": 150, "finish_limit": 3000}
    return {"name": name, "asked": list(asked), "simulator": {"seed": 7}, "workload": {"applications": [application], "check_interval": 100},
            "network": {"topology": topology, "routing": {"type": routing}, "router": router, "channel": {"latency": 2}, "deadlock_interval": 100}}


def add_missing_settings():
    known, defs = cases.settings(), schema()["$defs"]
    names = {config["name"] for config in known}
    wanted = {}
    for routing in sorted(everything.registered()["routing"]):
        for place, topology in PLACES.items():
            block = {"type": routing}
            if everything.is_accepted(block, topology):
                num_vcs = min(64, 2 * everything.vcs_needed(block, topology))
                wanted[f"{routing} on {place}"] = (topology, routing, {"type": "input_queued", "num_vcs": num_vcs}, each_setting("routing", routing, defs))
            else:
                wanted[f"{routing} on {place}"] = (topology, routing, {"type": "input_queued", "num_vcs": 8}, ())
    for router in sorted(everything.registered()["router"]):
        wanted[f"{router} by setting"] = (MESH, "dimension_order", {"type": router}, each_setting("router", router, defs))
        wanted[f"{router} by setting, adaptive"] = (MESH, "duato", {"type": router, "num_vcs": 3}, each_setting("router", router, defs))
    added = [settings_of(name, *rest) for name, rest in wanted.items() if name not in names]
    write(cases.SETTINGS, known + added)
    return len(added)

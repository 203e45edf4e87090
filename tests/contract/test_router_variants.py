# SPDX-License-Identifier: Apache-2.0
"""The input-queued router's stages are compiled for the usual router and for all others, and do without matchings where
allocators take turns or match by words. The hidden setting `general` makes a network do without both: every example, every
benchmark and 300 drawn configurations must give the same results. BookSim's router has a usual variant too: 300 more.
Deep buffers are rings of their own depth in the usual router and grow as they fill in all others.
"""
import json
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import OF_THE_RUN, PROGRAM, ROOT, shorter

ROUTERS = ("input_queued", "input_output_queued", "booksim")
SHORT = ["workload.applications.0.warmup=100", "workload.applications.0.sample=200", "workload.check_interval=100"]
DRAWN, BATCHES = 300, 10
FILES = [path for pattern in ("examples/*.json", "bench/*.json", "bench/short/*.json") for path in sorted(ROOT.glob(pattern))
         if (text := path.read_text()) and "network" in text and not any(
             f'"type": "{other}"' in text for other in ("packet", "omnipath", "output_queued", "simured", "single_cycle"))]


def results(config, *overrides):
    """What a run gives, but for times and memory; its messages where it has no results."""
    ended = subprocess.run([PROGRAM, "run", config, "--quiet", *overrides], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode in (0, 2), ended.stderr
    found = json.loads(ended.stdout)
    for key in (*OF_THE_RUN, "bytes_per_router"):
        found["simulation"].pop(key, None)
    return found, ended.stderr


def compare(config, *overrides):
    usual = results(config, *overrides)
    assert usual[0]["config"]["network"]["router"]["type"] in ROUTERS
    general = results(config, *overrides, "network.router.general=true")
    assert general[0]["simulation"]["digest"] == usual[0]["simulation"]["digest"], overrides
    assert general == usual, overrides


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT).with_suffix("")) for path in FILES])
def test_variants_agree_on(path):
    compare(path, *(SHORT if "bench" in path.relative_to(ROOT).parts else shorter(path)))


def test_the_general_variant_is_taken_where_it_is_asked_for():
    """What the usual one does without takes no memory there."""
    sizes = [json.loads(subprocess.run([PROGRAM, "run", ROOT / "bench" / "mesh_8x8.json", "--quiet", *SHORT, *words], capture_output=True,
                                       text=True, check=True).stdout)["simulation"]["bytes_per_router"]
             for words in ((), ("network.router.general=true",))]
    assert sizes[0] < sizes[1]


ARBITERS = ("age", "random", "least_recently_served", "weighted", "fixed_priority", "random_priority", "round_robin")


def draw_allocator(rng):
    """Those that match by words, and one that does not."""
    kind = rng.choice(["islip", "pim", "separable_input_first", "separable_output_first", "wavefront", "round_robin", "lonely_output"])
    more = {"islip": {}, "pim": {"draw": rng.choice(["request", "place"])}, "wavefront": {"first": rng.choice(["next", "behind_served"])}}
    if kind in ("islip", "pim") or kind.startswith("separable"):
        more.setdefault(kind, {})
        more[kind] |= {"iterations": rng.choice([1, 1, 2, 3])}
    if kind.startswith("separable"):
        more[kind] |= {side: rng.choice(ARBITERS) for side in ("input_arbiter", "output_arbiter") if rng.random() < 0.5}
    return {"type": kind, **more.get(kind, {})}


def draw(rng):
    """A small network: most of them have the usual router, some one thing that it does not know."""
    topology = rng.choice([
        {"type": "mesh", "widths": [rng.randint(2, 5), rng.randint(2, 4)], "concentration": rng.choice([1, 1, 2])},
        {"type": "torus", "widths": [rng.randint(3, 5), rng.randint(2, 4)], "concentration": rng.choice([1, 1, 2])},
        {"type": "torus", "widths": [3, 3, 2]},
        {"type": "hypercube", "dimensions": rng.randint(2, 4)},
    ])
    router = {"type": "input_queued", "num_vcs": 2 * rng.randint(1, 3), "buffer_depth": rng.choice([1, 2, 3, 4, 8, 16, 40]),
              "vc_allocation_latency": rng.choice([0, 1, 1]), "switch_allocation_latency": rng.choice([0, 1, 1]),
              "crossbar_latency": rng.choice([0, 1, 3]), "credit_latency": rng.choice([1, 1, 2])}
    router |= rng.choice([{}] * 6 + [
        {"input_speedup": 2}, {"output_speedup": 2}, {"cycle": 2}, {"routing_latency": 2}, {"vc_needs_credit": True},
        {"num_vcs": 16}, {"crossbar_flow": "winner_take_all"}, {"switching": "virtual_cut_through", "buffer_depth": 16},
        {"arbiter": rng.choice(["age", "random", "least_recently_served"])},
        {"allocator": draw_allocator(rng)}, {"vc_allocator": draw_allocator(rng)},
        {"allocator": draw_allocator(rng), "vc_allocator": draw_allocator(rng)},
        {"allocator": draw_allocator(rng), "vc_allocator": draw_allocator(rng), "arbiter": rng.choice(ARBITERS)},
        {"type": "input_output_queued", "output_depth": 16},
    ])
    config = {"simulator": {"seed": rng.randint(1, 10**6)},
              "network": {"topology": topology, "router": router, "channel": {"latency": rng.choice([1, 2, 7])},
                          "terminal_channel": {"latency": rng.choice([1, 3])}},
              "workload": {"check_interval": 50, "applications": [{
                  "type": "blast", "load": rng.choice([0.1, 0.3, 0.5, 0.9]), "warmup": 50, "sample": 250,
                  "traffic": rng.choice(["uniform_random", "uniform_random", "neighbor", "random_permutation"]),
                  "size": {"type": "fixed", "flits": rng.choice([1, 1, 2, 5])}}]}}
    return config


def draw_booksim(rng):
    """BookSim's router, mostly with settings that its usual variant knows; ports that it counts as we do, turned round, and not."""
    topology, routing = rng.choice([
        ({"type": "mesh", "widths": [rng.randint(2, 5), rng.randint(2, 4)], "concentration": rng.choice([1, 1, 2])}, None),
        ({"type": "torus", "widths": [rng.randint(3, 5), rng.randint(2, 4)]}, None),
        ({"type": "hyperx", "widths": [3, 3], "concentration": 2}, rng.choice(["dimension_order", "ugal"])),
        ({"type": "butterfly", "radix": 3, "stages": 2}, "destination_tag"),
        ({"type": "folded_clos", "down": [3, 3], "up": [2]}, "up_down"),
        ({"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2, "groups": 9}, {"type": "dragonfly_phases", "detours": True}),
    ])
    router = {"type": "booksim", "num_vcs": rng.choice([2, 4]), "buffer_depth": rng.choice([1, 2, 4, 8]),
              "routing_latency": rng.choice([0, 0, 1]), "credit_latency": rng.choice([0, 1, 2]),
              "vc_freed": rng.choice(["behind_tail", "behind_tail", "when_empty"]), "shuffled": rng.random() < 0.2,
              "vc_allocator": rng.choice(["islip", draw_allocator(rng)]), "allocator": rng.choice(["islip", draw_allocator(rng)])}
    if rng.random() < 0.15:
        router |= rng.choice([{"input_speedup": 2}, {"priority": "age"}, {"speculation": "on_credit"}, {"num_vcs": 16}])
    if topology["type"] in ("dragonfly", "hyperx"):
        router["num_vcs"] = 4
    return {"simulator": {"seed": rng.randint(1, 10**6)},
            "network": {"topology": topology, **({"routing": routing} if routing else {}), "router": router,
                        "interface": rng.choice(["booksim", "booksim", "standard"]),
                        "channel": {"latency": rng.choice([1, 2, 7])}, "terminal_channel": {"latency": rng.choice([1, 3])}},
            "workload": {"check_interval": 50, "applications": [{
                "type": "blast", "load": rng.choice([0.1, 0.3, 0.5, 0.9]), "warmup": 50, "sample": 250,
                "traffic": rng.choice(["uniform_random", "uniform_random", "random_permutation"]),
                "size": {"type": "fixed", "flits": rng.choice([1, 1, 2, 5])}}]}}


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("draw_one", [draw, draw_booksim])
def test_variants_agree_on_drawn(batch, draw_one, tmp_path):
    rng = random.Random(f"variants {batch}")
    paths = []
    for number in range(DRAWN // BATCHES):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(draw_one(rng)))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compare, paths))


def test_the_setting_is_hidden():
    said = [subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout
            for words in (("explain", "input_queued"), ("schema",), ("settings", ROOT / "bench" / "mesh_8x8.json", "network.router.general=true"))]
    assert '"general"' not in said[1] + said[2] and "general " not in said[0]

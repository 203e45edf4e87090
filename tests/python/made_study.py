# SPDX-License-Identifier: Apache-2.0
"""Studies for tests, made up: no program runs."""

import copy
from itertools import product

from flitwarp.store import Outcome, RunRow, Store
from flitwarp.study import open_study

LOADS = (0.1, 0.2, 0.3, 0.4)
STARTED = 1.7e9
LATENCIES = [[9, 9, 40], [10, 10, 90], [11, 11, 200], [14, 14, 100], [20, 21, 30], [300, 303, 1]]


def statistics(mean, ci95=None):
    return {"mean": mean, "ci95": ci95, "min": 9, "max": 303, "p50": 11, "p90": 14, "p99": 20, "p99.9": 300, "p99.99": 303}


def document(config, load, latency, saturated=False):
    """Results of a run."""
    block = {"name": "blast", "terminals": 64, "target_load": load, "offered_load": load + 0.0001,
             "accepted_load": load * (0.7 if saturated else 1), "saturated": saturated, "warmup_ticks": 1000,
             "sampled_ticks": 5000, "packets": 461, "unfinished_packets": 0, "packet_latency": statistics(latency, 0.1),
             "network_latency": statistics(latency), "message_latency": statistics(latency), "hops": statistics(4.0),
             "latency_distribution": LATENCIES, "hop_distribution": [[1, 61], [4, 400]], "phases": {"warming": 0}}
    return {"flitwarp": {"version": "0.1.0"}, "config": config, "complete": True, "outcome": "done",
            "simulation": {"flit_hops": 1000000, "cpu_seconds": 0.1, "digest": "0f"}, "applications": [block],
            "channels": {"count": 256, "utilisation": {"mean": load, "max": load * 1.1}}}


def make_study(path, variables, loads=LOADS, seeds=(1,), figures=(), title="a study", saturates=0.35, x="load"):
    """A study whose runs saturate above a load; latency rises with the load and falls with the first variable."""
    base = {"simulator": {"seed": 1, "tick": "1ns"}, "network": {"router": {"num_vcs": 2}},
            "workload": {"applications": [{"type": "blast", "load": 0.1, "sample": "auto", "precision": 0.01}]}}
    with Store(path, write=True) as store:
        facts = {"name": "made", "title": title, "x": x, "variables": variables, "figures": list(figures),
                 "base": {"file": "base.json", "text": "// a base\n{}\n", "overrides": ["workload.applications.0.sample=auto"]},
                 "program": {"version": "flitwarp 0.1.0", "hash": "0"}}
        store.set_facts(facts)
        store._base.execute("begin")
        count = 0
        for line, values in enumerate(product(*variables.values())):
            for load, seed in product(loads if x else (None,), seeds):
                labels = dict(zip(variables, values))
                config = copy.deepcopy(base)
                config["simulator"]["seed"] = seed
                config["network"]["router"]["num_vcs"] = values[0] if values else 2
                config["workload"]["applications"][0]["load"] = load or 0.1
                name = "_".join([*(f"V{i}-{variables[n].index(labels[n])}" for i, n in enumerate(variables)),
                                 f"L{load}", f"S{seed}"])
                latency = 20 + 100 * (load or 0.1) - line + seed / 10
                store.record(Outcome(f"{count:032x}", 0, "", document(config, load or 0.1, latency, (load or 0) > saturates), 1,
                                     STARTED + count, 0.5, 0.25))
                store.add_run(RunRow(name, f"{count:032x}", line, load, seed, {**labels, **({x: load} if x else {})},
                                     ["workload.applications.0.sample=auto", f"network.router.num_vcs={line}", f"a.b=[{count}, 1]"],
                                     config))
                count += 1
        store._base.execute("commit")
    return open_study(path)


def damage(path, runs):
    """Makes runs fail: {name: "deadlock" | "failed" | "not run" | "missing"}."""
    with Store(path, write=True) as store:
        keys = dict(store._base.execute("select name, key from runs"))
        for name, how in runs.items():
            outcome = store.outcome(keys[name])
            if how == "not run":
                store._remove("outcomes", "key", [keys[name]])
                continue
            made = {"deadlock": (2, "deadlock at tick 1000: <b>none</b> can move\na cycle of 2 waits", {**outcome.document, "outcome": "deadlock"}),
                    "failed": (3, "no space left on device", None), "missing": (0, "", None)}[how]
            store.record(Outcome(keys[name], *made, attempts=2, started=STARTED, wall_seconds=1.0, cpu_seconds=0.5))
    return open_study(path)

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What OPASim's report leaves open, and what each reading of it gives: throughput of one Omni-Path router of 48 ports at full
load, uniform traffic (0.72 in the report) and each terminal to the next (1.0). docs/omnipath.md has the table.

    examples/papers/opasim/readings.py     135 runs, half a minute of one core
"""
import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp.reproduce import Row, reproduce  # noqa: E402

FIGURES = Path(__file__).with_name("figures_3_to_5.py")
ROUTER, APPLICATION = "network.router", "workload.applications.0"


def arbitration(mport, central):
    return {f"{ROUTER}.mport_arbitration_latency": mport, f"{ROUTER}.central_arbitration_latency": central}


DEFAULTS = {f"{ROUTER}.{key}": value for key, value in {  # of the router: each buffer arbitrates by itself and sends nothing meanwhile
    "pipelined_arbitration": False, "allocation_interval": 1, "queue_unit": "credits", "exclusive_credits": 16, "max_credits": 48}.items()}
READINGS = {
    "as in the figures": {},
    "buffers arbitrate one by one": {},
    "a terminal sends to itself too": {f"{APPLICATION}.traffic.self": True},
    "16 cycles of arbitration at each crossbar, as the text": arbitration(16, 16),
    "16 cycles at the MPort, none at the centre": arbitration(16, 0),
    "none at the MPort, 16 cycles at the centre": arbitration(0, 16),
    "arbitration is pipelined": {f"{ROUTER}.pipelined_arbitration": True},
    "all lanes ask": {f"{ROUTER}.candidates": "all"},
    "all lanes ask, iSLIP": {f"{ROUTER}.candidates": "all", f"{ROUTER}.allocator": "islip"},
    "all lanes ask, iSLIP of 3 iterations": {f"{ROUTER}.candidates": "all", f"{ROUTER}.allocator": {"type": "islip", "iterations": 3}},
    "one lane": {f"{ROUTER}.num_vcs": 1},
    "queue in flits, 4 lanes": {f"{ROUTER}.queue_unit": "flits", f"{ROUTER}.num_vcs": 4},
    "queue, own share and maximum in flits": {f"{ROUTER}.queue_unit": "flits", f"{ROUTER}.exclusive_credits": 4,
                                              f"{ROUTER}.max_credits": 12},
    "within an MPort 4 flits a cycle": {f"{ROUTER}.local_speedup": 4},
    "within an MPort 1 flit a cycle": {f"{ROUTER}.local_speedup": 1},
}


def figures():
    spec = importlib.util.spec_from_file_location("figures_3_to_5", FIGURES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def study(seeds=5, sample=10000):
    sweep = figures().study((1.0,), seeds, sample, ("simple",))
    sweep.name, sweep.title, sweep.out = "opasim_readings", "Readings of OPASim's report", Path("out/opasim_readings")
    sweep.figures.clear()
    sweep.add_variable("reading", "R", {name: name for name in READINGS},
                       lambda name: {**(DEFAULTS if name != "as in the figures" else {}), **READINGS[name]})
    sweep.exclude(lambda at: at["traffic"] == "neighbour" and "itself" in at["reading"])
    return sweep.add_figure("throughput", x="reading", lines="traffic")


def compare(study):
    for traffic, printed in (("uniform", "0.72"), ("neighbour", "1.0")):
        for curve in study.curves(lines="reading", where={"traffic": traffic}):
            yield Row(f"{traffic}, {curve.label}", figures().spread(curve.points[0].values("accepted_load"), 3), printed)


if __name__ == "__main__":
    sys.exit(reproduce(study(), compare, sys.argv[1:]))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""OPASim's Figures 3 to 5: one Omni-Path router of 48 ports and 48 terminals, packets of 16 flits of 8 bytes, 30 seeds.
Uniform traffic: throughput (Figure 3) and network latency (Figure 4) over what is offered. Each terminal to the next by
number: throughput (Figure 5). Then what the report leaves for later, the iSLIP allocator. docs/omnipath.md says what the
report leaves open and what other readings give.

    examples/papers/opasim/figures_3_to_5.py             1,200 runs, five minutes of one core
    examples/papers/opasim/figures_3_to_5.py --reduced   3 seeds, fewer loads
"""
import sys
from pathlib import Path
from statistics import fmean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

ROUTER, APPLICATION = "network.router", "workload.applications.0"
READING = {  # of what the report leaves open
    "pipelined_arbitration": True, "allocation_interval": 9,  # the allocator takes 8 cycles, and begins again in the next
    "queue_unit": "flits", "exclusive_credits": 4, "max_credits": 12}  # 256, 16 and 48 flits


def islip(iterations):
    return {f"{ROUTER}.allocator": {"type": "islip", "iterations": iterations}, f"{ROUTER}.candidates": "all"}


ALLOCATORS = {"simple": {}, "iSLIP": islip(3), "iSLIP, 1 iteration": islip(1)}
TRAFFIC = {  # where nothing competes, nothing is left to chance either
    "uniform": {f"{APPLICATION}.traffic": "uniform_random"},
    "neighbour": {f"{APPLICATION}.traffic": "neighbor", f"{APPLICATION}.injection": "periodic"},
}


def study(loads=tuple(i / 10 for i in range(1, 11)), seeds=30, sample=10000, allocators=tuple(ALLOCATORS)):
    base = {
        "simulator": {"tick": "625ps"},  # 64 bits at 100 Gb/s
        "network": {
            "topology": {"type": "single_router", "terminals": 48}, "routing": "minimal", "flit_bytes": 8,
            "router": {"type": "omnipath", **READING}, "terminal_channel": {"latency": 8}},
        "workload": {"applications": [{"type": "blast", "size": {"type": "fixed", "flits": 16}, "warmup": 5000,
                                       "sample": sample, "finish_limit": 1000}]}}
    sweep = Sweep(base, "opasim", title="One Omni-Path router of 48 ports")
    sweep.add_variable("traffic", "T", {name: name for name in TRAFFIC}, lambda name: TRAFFIC[name])
    sweep.add_variable("allocator", "A", {name: name for name in allocators}, lambda name: ALLOCATORS[name])
    sweep.exclude(lambda at: at["traffic"] == "neighbour" and at["allocator"] != "simple")
    sweep.add_loads(values=loads, past=0).add_seeds(seeds)
    sweep.add_figure("offered-accepted", lines="allocator", where={"traffic": "uniform"}, title="Figure 3: throughput")
    sweep.add_figure("load-column", lines="allocator", where={"traffic": "uniform"}, column="network_latency.mean",
                     title="Figure 4: network latency")
    return sweep.add_figure("offered-accepted", lines="allocator", where={"traffic": "neighbour"},
                            title="Figure 5: throughput without contention")


def spread(values, digits=4):
    """Mean and standard deviation over the seeds, and the extremes."""
    deviation = stdev(values) if len(values) > 1 else 0
    return f"{fmean(values):.{digits}f} +- {deviation:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def compare(study):
    most = {}
    for curve in study.curves(lines="allocator", where={"traffic": "uniform"}):
        top = max(curve.points, key=lambda point: point.mean("accepted_load"))
        most[curve.label] = top.mean("accepted_load")
        yield Row(f"uniform, {curve.label}: maximum, flits/cycle/NIC", spread(top.values("accepted_load")),
                  {"simple": "0.72", "iSLIP": "drastically more"}.get(curve.label, "-"),
                  {"simple": abs(most["simple"] - 0.72) <= 0.036, "iSLIP": most[curve.label] > 1.1 * most["simple"]}.get(
                      curve.label, True))
        if curve.label == "simple":
            yield Row("uniform, simple: first load that is congested", f"{curve.saturation()}", "0.8",
                      curve.saturation() in (0.7, 0.75, 0.8))
            for point in curve.points:
                yield Row(f"uniform, simple, {point.x:g} offered: network latency, cycles",
                          spread(point.values("network_latency.mean"), 1), "rises, then stays" if point.x == 1 else "-")
    for curve in study.curves(lines="allocator", where={"traffic": "neighbour"}):
        for point in curve.points:
            lost = max(abs(got - point.x) for got in point.values("accepted_load"))
            yield Row(f"neighbour, {point.x:g} offered: throughput", spread(point.values("accepted_load")), f"{point.x:g}",
                      lost <= 0.005)


if __name__ == "__main__":
    reduced = "--reduced" in sys.argv
    sweep = study((0.2, 0.6, 0.7, 0.8, 1.0), 3, 5000) if reduced else study()
    sys.exit(reproduce(sweep, compare, [word for word in sys.argv[1:] if word != "--reduced"]))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's case study B: what counts as congestion. A flattened butterfly of 32 routers with 32 terminals each, routers
with queues at inputs and outputs, UGAL; congestion of a VC or of a port, of the output queue, the buffer downstream, or both;
uniform random and bit complement traffic. The paper does not say which VCs packets that go straight may use: SuperSim's own rule
gives them one set of VCs, that of the last leg of a detour ("second"); an option of it gives them all ("both").

    examples/papers/supersim/B_credit_accounting.py             1024 terminals, some loads
    examples/papers/supersim/B_credit_accounting.py --curves    all loads: Figure 10
"""
import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

TRAFFIC = {"uniform": "uniform_random", "complement": "bit_complement"}


def study(routers=32, loads=(0.4, 0.6, 0.8, 1.0), sample=2000):
    base = {
        "network": {
            "topology": {"type": "hyperx", "widths": [routers], "concentration": routers},
            "routing": {"type": "ugal", "mode": "vc"},
            # The router's clock is twice the channel's: a channel takes a flit every other tick of half a nanosecond. As in
            # SuperSim the crossbar has an input and an output for each VC.
            "router": {"type": "input_output_queued", "num_vcs": 2, "buffer_depth": 128, "output_depth": 256, "cycle": 1,
                       "crossbar_latency": 100, "input_speedup": 2, "output_speedup": 2,
                       "congestion": {"type": "buffer_occupancy", "latency": 2}},
            "channel": {"latency": 100, "cycle": 2}, "terminal_channel": {"latency": 100, "cycle": 2}},
        "simulator": {"tick": "500ps"},
        "workload": {"applications": [{"type": "blast", "warmup": 6000, "sample": 2 * sample, "finish_limit": 10000}]}}
    sweep = Sweep(base, "credit_accounting", title="Credit accounting for UGAL on a flattened butterfly")
    sweep.add_variable("traffic", "T", TRAFFIC, "workload.applications.0.traffic")
    sweep.add_variable("straight", "V", ["second", "both"], "network.routing.straight_vcs")
    sweep.add_variable("per", "P", ["vc", "port"], "network.router.congestion.per")
    sweep.add_variable("counts", "C", ["output", "downstream", "both"], "network.router.congestion.accounting")
    sweep.add_loads(values=loads)
    sweep.add_figure("load-latency", lines=["per", "counts"]).add_figure("throughput", x="counts", lines="per")
    return sweep


def compare(study):
    accepted = {(r["straight"], r["traffic"], r["per"], r["counts"]): r["accepted"] for r in study.saturation()}
    for (straight, traffic, per, counts), value in accepted.items():
        yield Row(f"{traffic}, straight by {straight}, per {per}, {counts}", f"{value:.3f}", "-")
    for straight in ("second", "both"):
        mean = {(t, p): fmean(v for (s, u, q, _), v in accepted.items() if (s, u, q) == (straight, t, p))
                for t in TRAFFIC for p in ("vc", "port")}
        yield Row(f"uniform, straight by {straight}: port ahead of vc by",
                  f"{100 * (mean['uniform', 'port'] / mean['uniform', 'vc'] - 1):.1f} %", "31.6 %")
        yield Row(f"complement, straight by {straight}: vc ahead of port by",
                  f"{100 * (mean['complement', 'vc'] / mean['complement', 'port'] - 1):.1f} %", "3.33 %")


if __name__ == "__main__":
    loads = [round(0.05 * i, 2) for i in range(1, 21)] if "--curves" in sys.argv else (0.4, 0.6, 0.8, 1.0)
    sys.exit(reproduce(study(loads=loads), compare, [word for word in sys.argv[1:] if word != "--curves"]))

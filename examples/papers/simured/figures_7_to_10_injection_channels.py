#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 7 to 10 of Pardo and Boluda, "SimuRed: a flit-level event-driven simulator for multicomputer network performance
evaluation" (2009): injection channels, and deterministic against adaptive routing, on an 8x8 mesh and a hypercube of 64 nodes.

    examples/papers/simured/figures_7_to_10_injection_channels.py            about 3 minutes of one core
    examples/papers/simured/figures_7_to_10_injection_channels.py --reduced  a few points: seconds

The paper has curves only. Each point stands beside what the original program measured on it (section6.csv of the reference
data), where that is at hand. Packets are made at each terminal by itself; the original makes them for the whole network, a nearly
constant number in each cycle, which it shows near saturation: same_packets.py runs that.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "common"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from simured import FLITS, NETWORKS, ROUTINGS, TICKS, beside, highest, in_cycles, measured, network_of  # noqa: E402

CHANNELS = {"mesh8x8": (1, 2, 4, 8), "hcube64": (4, 8, 16)}
LOADS = {"mesh8x8": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.5), "hcube64": (0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.4)}
REDUCED = {"mesh8x8": (0.1, 0.25, 0.5), "hcube64": (0.4, 0.8, 1.4)}
NAMES = {"mesh8x8": "mesh", "hcube64": "hypercube", "dor_mesh": "deterministic", "duato_mesh": "adaptive"}


def study(network, loads, packets=20000, channels=None):
    base = {"network": network_of(NETWORKS[network], vcs=2, ejection=4),
            "workload": {"applications": [{"type": "blast", "size": {"type": "fixed", "flits": FLITS},
                                           "warmup": 1000 * TICKS, "finish_limit": 1}]}}
    sweep = Sweep(base, f"simured_{NAMES[network]}", title=f"Injection channels and routing on a {NAMES[network]} of 64 nodes")
    sweep.add_variable("routing", "R", {NAMES[name]: value for name, value in ROUTINGS.items()}, "network.routing")
    sweep.add_variable("channels", "I", channels or CHANNELS[network], "network.interface.injection_channels")

    def settings(load):
        cycles = packets * FLITS / 64 / load
        return {"workload.applications.0.load": load, "workload.applications.0.sample": int(cycles) * TICKS}

    sweep.add_loads(values=loads, past=0, override=settings)
    for routing in ("deterministic", "adaptive"):  # Figures 7 and 8
        sweep.add_figure("load-column", lines="channels", column="network_latency.mean", where={"routing": routing}, log="y")
    for count in channels or CHANNELS[network]:  # Figures 9 and 10
        sweep.add_figure("load-column", lines="routing", column="network_latency.mean", where={"channels": count}, log="y")
    return sweep.add_figure("load-column", lines="channels", column="accepted_load", where={"routing": "adaptive"})


def points(study):
    """(network's routing, channels, load), accepted load and latency of each run."""
    routings = {NAMES[name]: name for name in ROUTINGS}
    for run in study.select():
        key = routings[run.variables["routing"]], int(run.variables["channels"]), float(run.variables["load"])
        yield key, run.results.value("accepted_load"), in_cycles(run.results.value("network_latency.mean"))


def compare_with(network):
    def compare(study):
        rows = measured()
        for (routing, count, load), accepted, latency in points(study):
            theirs = rows.get((network, routing, count, load))
            most = highest(rows, network, routing, count)
            yield Row(f"{NAMES[network]}, {NAMES[routing]}, {count} channels at {load:g}: accepted, latency",
                      f"{beside(accepted, theirs and theirs[0], 4)}, {beside(latency, theirs and theirs[1], 1)}",
                      f"{theirs[0]:.4f}, {theirs[1]:.1f}" + (" saturated" if theirs[0] < 0.97 * load else "") if theirs else "")
            if most and routing == "dor_mesh" and load == max(LOADS[network]):
                yield Row(f"{NAMES[network]}, {NAMES[routing]}, {count} channels: highest accepted",
                          beside(max(a for (r, c, _), a, _ in points(study) if (r, c) == (routing, count)), most, 4),
                          f"{most:.4f}")
    return compare


if __name__ == "__main__":
    reduced = "--reduced" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--reduced"]
    sys.exit(max(reproduce(study(name, (REDUCED if reduced else LOADS)[name], 4000 if reduced else 20000),
                           compare_with(name), arguments) for name in NETWORKS))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 6 of SimuRed's paper: how long 200,000 packets of 32 flits take at 0.3 flits/node/cycle on meshes of two and three
dimensions, up to 65,536 nodes. More than any of them carries: the networks are full all the time.

    examples/papers/simured/figure_6_run_time.py             meshes of up to 4,096 nodes: a minute and a half of one core
    examples/papers/simured/figure_6_run_time.py --full      65,536 nodes too: 3 more minutes
    examples/papers/simured/figure_6_run_time.py --reduced   2,000 packets: seconds

The original took 82 minutes for the last one on a Pentium IV of 2.54 GHz, and time grew as nodes^0.8. Measured again on a core of
today it moves 2.2 to 0.5 million flit-hops a CPU second, and time grows as nodes^0.85.
"""
import math
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from simured import network_of, write_trace  # noqa: E402

MESHES = {"8x8": [8, 8], "16x16": [16, 16], "32x32": [32, 32], "64x64": [64, 64],
          "4x4x4": [4] * 3, "8x8x8": [8] * 3, "16x16x16": [16] * 3}
LARGE = {"128x128": [128, 128], "256x256": [256, 256], "32x32x32": [32] * 3}
SMALL = {"8x8": [8, 8], "16x16": [16, 16], "4x4x4": [4] * 3}


def study(meshes, packets=200000, folder=Path("out/simured_packets")):
    base = {"network": network_of({"type": "mesh", "widths": [8, 8]}, ticks=1),
            "workload": {"applications": [{"type": "trace", "file": None, "format": "simured"}]}}
    sweep = Sweep(base, "simured_run_time", title="Time against nodes")

    def settings(name):
        trace = folder / f"{name}_{packets}.trc"
        if not trace.exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_trace(trace, math.prod(meshes[name]), 0.3, packets, seed=1, ticks=1)
        return {"network.topology.widths": meshes[name], "workload.applications.0.file": str(trace.resolve())}

    sweep.add_variable("mesh", "M", {name: name for name in meshes}, settings)
    return sweep.add_figure("comparison", column="simulation.cpu_seconds", log="y")


def exponent(points):
    """Of time over nodes: the slope of the best line through their logarithms."""
    logs = [(math.log(nodes), math.log(seconds)) for nodes, seconds in points]
    x, y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def compare_meshes(meshes):
    def compare(study):
        seconds = {2: [], 3: []}
        for run in study.select():
            widths, results = meshes[run.variables["mesh"]], run.results
            cpu, hops = results.value("simulation.cpu_seconds"), results.value("simulation.flit_hops")
            seconds[len(widths)].append((math.prod(widths), cpu))
            yield Row(f"{run.variables['mesh']}: CPU s, million flit-hops a CPU s", f"{cpu:.1f}, {1e-6 * hops / cpu:.1f}",
                      "4920 s on a Pentium IV" if widths == [256, 256] else "")
        for dimensions, points in seconds.items():
            if len(points) > 1:
                yield Row(f"{dimensions}-D meshes: time grows as nodes to the power of", f"{exponent(points):.2f}",
                          "0.8" if dimensions == 2 else "")
    return compare


if __name__ == "__main__":
    reduced, full = "--reduced" in sys.argv, "--full" in sys.argv
    chosen = SMALL if reduced else {**MESHES, **LARGE} if full else MESHES
    arguments = [word for word in sys.argv[1:] if word not in ("--reduced", "--full")]
    sys.exit(reproduce(study(chosen, 2000 if reduced else 200000), compare_meshes(chosen), arguments))

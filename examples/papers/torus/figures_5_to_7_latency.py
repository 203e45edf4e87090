#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 5, 6 and 7 of the ROSS torus paper: latency over the rate of packets, to saturation, on three tori of 262,144 nodes:
512-ary 2-cube, 64-ary 3-cube and 8-ary 6-cube.

    examples/papers/torus/figures_5_to_7_latency.py           8^6 and 64^3: about 20 minutes of one core
    examples/papers/torus/figures_5_to_7_latency.py --full    512^2 too, whose longest way takes 1.4 ms: an hour more

The paper prints the curves only. Where they rise is worked out: a link that passes h packets for each one that a node makes
holds each for 2358 ns, a processing unit for 300 ns.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

HOLDING, PROCESSING = 2358, 300  # ns
CUBES = {"8-ary 6-cube": [8] * 6, "64-ary 3-cube": [64] * 3, "512-ary 2-cube": [512] * 2}
LOADS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.05)


def capacity(widths):
    """Packets per ns over all nodes at which links or units are always busy."""
    nodes, hops = 1, 0
    for width in widths:
        nodes *= width
        hops += width / 4
    return nodes / max(hops / (2 * len(widths)) * HOLDING, hops * PROCESSING)


def study(cubes=("8-ary 6-cube", "64-ary 3-cube"), loads=LOADS, sample=0.5, shapes=CUBES):
    base = {"simulator": {"tick": "1ns"}, "model": {"type": "node", "widths": [8, 8]}}
    sweep = Sweep(base, "torus_latency", title="Latency of tori of 262,144 nodes")

    def settings(load, others):
        """Packets that wait are under way for longer, and queues fill one after another: near saturation that takes long."""
        longest = sum(width // 2 for width in shapes[others["torus"]]) * (HOLDING + PROCESSING)
        warmup = 1.2 * longest / (1 - min(load, 0.85)) if load < 1 else 1.2 * longest
        return {"model.rate": load * capacity(shapes[others["torus"]]), "model.warmup": int(warmup),
                "model.sample": int(sample * longest)}

    sweep.add_variable("torus", "T", {name: name for name in cubes}, lambda name: {"model.widths": shapes[name]})
    sweep.add_loads(values=loads, past=1, override=settings)
    axis = "packets, as a share of what the busiest servers carry"
    sweep.add_figure("load-latency", lines="torus", log="y", x_label=axis)
    sweep.add_figure("load-column", lines="torus", column="packet_latency.max", log="y", x_label=axis)
    return sweep.add_figure("load-column", lines="torus", column="model.packets_in_flight.time_average", log="y", x_label=axis)


def compare(study):
    for curve in study.curves(lines="torus"):
        first, stable = curve.points[0], [point for point in curve.points if not point.saturated]
        model = first.runs[0]["model"]
        yield Row(f"{curve.label}: longest way, hops", f"{first.runs[0].value('hops.max')}",
                  {"8-ary 6-cube": "24", "64-ary 3-cube": "96", "512-ary 2-cube": "512"}.get(curve.label, ""))
        yield Row(f"{curve.label}: latency at low load, us", f"{1e-3 * first.mean('packet_latency.mean'):.2f}",
                  f"{1e-3 * model['zero_load_latency']:.2f} by hand")
        saturated = curve.saturation()
        yield Row(f"{curve.label}: saturates above, packets/ns", f"{stable[-1].mean('accepted_rate'):.2f}",
                  "1.00 of what servers carry" if saturated else "")
        for point in curve.points:
            yield Row(f"{curve.label} at {point.x:g}: mean and maximum, us",
                      f"{1e-3 * point.mean('packet_latency.mean'):.1f}, {1e-3 * point.mean('packet_latency.max'):.1f}"
                      + (" saturated" if point.saturated else ""), "flat, then rises" if point is first else "")


if __name__ == "__main__":
    cubes = tuple(CUBES) if "--full" in sys.argv else ("8-ary 6-cube", "64-ary 3-cube")
    sys.exit(reproduce(study(cubes), compare, [word for word in sys.argv[1:] if word != "--full"]))

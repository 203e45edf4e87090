#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's Figure 8: phantom congestion. At low load a flit that has left for an empty buffer still counts as congestion
until its credit is back: a share of packets makes a detour of one more channel and router, 100 ns, for nothing. The mean hardly
shows it, the percentiles do. The network is that of case study B, sensing by port, output queue and buffer downstream.

    examples/papers/supersim/figure_8_phantom_congestion.py
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent)]
import B_credit_accounting  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

LOADS = (0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
PRINTED = {0.02: "more than 1 in 10 at zero load", 0.12: "1 in 100", 0.4: "fewer than 1 in 10,000"}


def study(routers=32, loads=LOADS, sample=4000):
    sweep = B_credit_accounting.study(routers, loads, sample)
    sweep.name, sweep.title, sweep.out = "phantom_congestion", "Phantom congestion", Path("out/phantom_congestion")
    sweep.variables, sweep.figures = [], []
    sweep.base["network"]["router"]["congestion"].update(per="port", accounting="both")
    sweep.add_figure("load-latency", percentiles=[50, 90, 99, 99.9, 99.99])
    return sweep.add_figure("load-column", column="nonminimal_share", log="y")


def compare(study):
    curve, = study.curves()
    for point in curve.points:
        if point.x in PRINTED:
            share = point.mean("nonminimal_share")
            yield Row(f"packets on detours at load {point.x:g}", f"1 in {1 / share:,.0f}" if share else "none", PRINTED[point.x])
    yield Row("saturates at", f"{curve.saturation()}", "0.98")


if __name__ == "__main__":
    sys.exit(reproduce(study(), compare, sys.argv[1:]))

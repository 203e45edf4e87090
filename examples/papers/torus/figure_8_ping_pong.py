#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 8 of the ROSS torus paper: a ping-pong of 250 bytes between nodes 2 to 8 hops apart on a torus of 1,024 nodes
(1 x 32 x 32), as the model sees it and as Blue Gene/L's MPI had it.

    examples/papers/torus/figure_8_ping_pong.py

The paper prints the figure only; its text gives the difference between model and machine, 2 us. Without other traffic the
model's answer is a straight line: H links and H - 1 processing units.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

LINK, PROCESSING = 895 + 1429, 300  # ns; 250 bytes at 175 MB/s are 1428.6 ns


def study(hops=range(2, 9)):
    base = {"simulator": {"tick": "1ns"},
            "model": {"type": "node", "widths": [32, 32], "traffic": "ping_pong", "from": [0, 0], "to": [0, 1],
                      "packet_bytes": 250, "warmup": 0, "sample": "10ms"}}
    sweep = Sweep(base, "torus_ping_pong", title="Ping-pong on a torus of 1,024 nodes")
    sweep.add_loads(values=list(hops), past=0, name="hops", short="H",
                    override=lambda count: {"model.to": [int(count) // 2, int(count) - int(count) // 2]})
    return sweep.add_figure("load-column", column="packet_latency.mean", x_label="hops between the two nodes")


def compare(study):
    curve, = study.curves()
    for point in curve.points:
        expected = point.x * LINK + (point.x - 1) * PROCESSING
        yield Row(f"one way, {point.x:g} hops, us", f"{1e-3 * point.mean('packet_latency.mean'):.3f}",
                  f"{1e-3 * expected:.3f} by hand")


if __name__ == "__main__":
    sys.exit(reproduce(study(), compare, sys.argv[1:]))

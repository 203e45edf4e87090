# SPDX-License-Identifier: Apache-2.0
"""The picture of docs/booksim.md that has BookSim's curves and ours: python3 tests/reproduce/figures.py"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from support import BOOKSIM_TABLES, ROOT
from test_booksim import curves

TITLES = {"a_mesh8x8_p1": "mesh, uniform, 1 flit", "a_mesh8x8_p8": "mesh, uniform, 8 flits",
          "b_torus8x8_uniform": "torus, uniform", "b_torus8x8_uniform_lat1": "torus, uniform, channel latency 1",
          "b_torus8x8_tornado": "torus, tornado", "b_torus8x8_bitcomp": "torus, bit complement",
          "b_torus8x8_transpose": "torus, transpose"}


def figure():
    figure, panels = plt.subplots(2, 4, figsize=(13, 6.2), layout="constrained")
    for panel, name in zip(panels.flat, BOOKSIM_TABLES):
        stable = [(row, latency) for row, latency, _ in curves(name) if row["stable"] and row["packet_latency"] < 200]
        loads = [row["offered"] for row, _ in stable]
        panel.plot(loads, [latency for _, latency in stable], color="#1f5fa8", marker=".", label="flitwarp (+1 cycle)")
        panel.plot(loads, [row["packet_latency"] for row, _ in stable], "o", mfc="none", color="#c4532d", label="BookSim 2")
        panel.set_title(TITLES[name], fontsize=10)
        panel.set_xlim(left=0)
        panel.set_ylim(0, min(120, 1.15 * max(row["packet_latency"] for row, _ in stable)))
        panel.grid(alpha=0.3)
    panel = panels.flat[-1]
    for name in BOOKSIM_TABLES:
        rows = [(row["accepted"], accepted) for row, _, accepted in curves(name) if not row["stable"]]
        panel.plot(*zip(*rows), "o", mfc="none", color="#1f5fa8")
    panel.plot([0, 0.65], [0, 0.65], color="#888888", linewidth=1)
    panel.set(title="accepted load past saturation", xlabel="BookSim 2", ylabel="flitwarp")
    panel.title.set_fontsize(10)
    panel.grid(alpha=0.3)
    panels[0][0].legend(fontsize=8)
    for panel in panels[:, 0]:
        panel.set_ylabel("mean packet latency, cycles")
    for panel in panels.flat[:-1]:
        panel.set_xlabel("offered load, flits/terminal/cycle", fontsize=8)
    (ROOT / "docs" / "images").mkdir(parents=True, exist_ok=True)
    figure.savefig(ROOT / "docs" / "images" / "booksim.png", dpi=110)


if __name__ == "__main__":
    figure()

# SPDX-License-Identifier: Apache-2.0
"""The figure of "Priorities and shared buffers" in docs/guide/priorities.md: python3 tests/reproduce/lanes_figure.py"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "paper")]

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from support import ROOT, run_all
from test_priorities import TOPOLOGIES, at_an_output, two_levels
from test_shared_buffers import hotspot

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#c4532d", "#3d8b4f", "#888888"


def latencies(panel):
    loads = [0.00001, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    for service, color, label in (({"arbitration": "alike"}, GREY, "alike"), ({}, ORANGE, "strict"),
                                  ({"preemption": True}, BLUE, "strict, preemption")):
        results = run_all([two_levels(TOPOLOGIES[0], "input_output_queued", service, low=load, low_flits=32,
                                      output_hold="packet") for load in loads])
        panel.plot(loads, [result["levels"][0]["packet_latency"]["mean"] for result in results], ".-", color=color,
                   label=label)
    panel.set(title="high level at load 0.1, 4x4 mesh", xlabel="load of the low level, offered", ylim=(0, 60), xlim=(0, 0.9),
              ylabel="mean packet latency of the high level, ticks")


def waits(panel):
    sizes = [1, 4, 8, 16, 24, 32, 48, 64]
    held, free = [run_all([at_an_output("packet", preemption, size) for size in sizes]) for preemption in (False, True)]

    def wait(results):
        return [result["levels"][0]["packet_latency"]["mean"] - free[0]["levels"][0]["packet_latency"]["min"]
                for result in results]

    panel.plot(sizes, [(size - 1) / 2 for size in sizes], color=GREY, label="(L - 1) / 2")
    panel.plot(sizes, wait(held), "o", mfc="none", color=ORANGE, label="strict")
    panel.plot(sizes, wait(free), ".-", color=BLUE, label="strict, preemption")
    panel.set(title="at an output that low packets saturate", xlabel="flits of a low packet, L", xlim=0,
              ylabel="mean wait of a high flit, ticks")


def throughputs(panel):
    loads = [0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.18, 0.21, 0.25, 0.3, 0.4]
    for exclusive, maximum, color, label in ((None, None, GREY, "4 flits for each VC"), (1, 8, GREEN, "1 for each, at most 8"),
                                             (1, None, BLUE, "1 for each, no maximum")):
        configs = [hotspot("input_queued", load) for load in loads]
        for config in configs:
            config["network"]["router"].update(buffer_exclusive=exclusive, buffer_maximum=maximum)
        panel.plot(loads, [result["applications"][0]["accepted_load"] for result in run_all(configs)], ".-", color=color,
                   label=label)
    panel.plot([0, 0.25, 0.4], [0, 0.25, 0.25], ":", color=GREY, label="what the hot terminals can take")
    panel.set(title="four hot terminals of 16, 16 flits a port", xlabel="load to the hot terminals, offered", xlim=(0, 0.4),
              ylim=0, ylabel="accepted")


def main():
    figure, panels = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for panel, draw in zip(panels, (latencies, waits, throughputs)):
        draw(panel)
        panel.title.set_fontsize(10)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    figure.savefig(ROOT / "docs" / "images" / "priorities.png", dpi=110)


if __name__ == "__main__":
    main()

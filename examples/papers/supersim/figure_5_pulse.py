#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's Figure 5: a pulse disturbs a blast. One application sends steadily; in the middle of its sampling another sends a
burst; the mean latency of the first over time shows how the network takes it and how long it needs to recover.

    examples/papers/supersim/figure_5_pulse.py
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

BASE = Path(__file__).resolve().parents[2] / "pulse_on_blast.json"


def study():
    sweep = Sweep(BASE, "pulse", title="A pulse disturbs a blast")
    sweep.add_variable("pulse", "P", {"weak": 100, "strong": 400}, "workload.applications.1.messages")
    return sweep.add_figure("time-series")


def compare(study):
    for run in study.runs:
        series = run.results.series("steady")
        calm, peak = series["packet_latency"][30], max(series["packet_latency"][30:])
        recovered = next(t for t, latency in zip(series["time"], series["packet_latency"])
                         if t > series["time"][list(series["packet_latency"]).index(peak)] and latency < 1.05 * calm)
        yield Row(f"{run.variables['pulse']} pulse: latency before, at most, recovered after",
                  f"{calm:.0f}, {peak:.0f} ns, {recovered - 7000:.0f} ns", "a peak that dies away")


if __name__ == "__main__":
    sys.exit(reproduce(study(), compare, sys.argv[1:]))

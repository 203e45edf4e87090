#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's case study A, read off where the curves of Figure 9 end. Three things are not printed, and taken otherwise than in
A_latent_congestion.py: a port's congestion is what waits in its output queue and in the buffer behind it; throughput is the highest
load, by 5 %, that the network carries without piling up traffic; routers and interfaces have SuperSim's own stages. 512 terminals
then carry 90, 90, 75 and 40 %, as printed.

    examples/papers/supersim/figure_9_ends.py             512 terminals (routers of 16 ports)
    examples/papers/supersim/figure_9_ends.py --full      4096 terminals (32 ports): an hour of one core
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent)]
import A_latent_congestion  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

LOADS = tuple(round(0.05 * i, 2) for i in range(1, 21))


def study(radix=16, loads=LOADS, latencies=(1, 2, 4, 8), sample=2000):
    sweep = A_latent_congestion.study(radix, loads, latencies, sample)
    sweep.name, sweep.out = f"figure_9_ends_{radix}", Path(f"out/figure_9_ends_{radix}")
    network, application = sweep.base["network"], sweep.base["workload"]["applications"][0]
    # 64 flits, and one that is next on the channel; endless queues never end a curve
    network["router"].update(type="staged_output", output_depth=65, routing_latency=1, output_latency=2, output_hold="packet")
    network["router"]["congestion"].update(accounting="both", per="port")
    network["interface"] = {"type": "queue_per_vc", "latency": 2, "room": "packet", "lock": "packet", "choice": "shortest"}
    application.update(injection={"type": "periodic", "rounding": "random"}, finish_limit=1)
    sweep.variables = [variable for variable in sweep.variables if variable.name != "queue"]
    sweep.along, sweep.figures = None, []
    sweep.add_loads(values=loads, past=1)
    return sweep.add_figure("load-latency", lines="sensing")


def compare(radix):
    def rows(study):
        for row in study.saturation():
            yield Row(f"sensed after {row['sensing']}: carried", f"{100 * (row['carried'] or 0):.0f} %",
                      A_latent_congestion.PUBLISHED[radix].get(row["sensing"], "-"))
    return rows


if __name__ == "__main__":
    radix = 32 if "--full" in sys.argv else 16
    sys.exit(reproduce(study(radix), compare(radix), [word for word in sys.argv[1:] if word != "--full"]))

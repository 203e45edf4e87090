#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's case study A: congestion that is sensed late. A folded Clos of three levels, output-queued routers, one VC,
one-flit packets to random destinations by way of the root, each going up by the port that seems least congested.

    examples/papers/supersim/A_latent_congestion.py             512 terminals (routers of 16 ports), full load
    examples/papers/supersim/A_latent_congestion.py --curves    the same over all loads: Figure 9
    examples/papers/supersim/A_latent_congestion.py --full      4096 terminals (32 ports)
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

PUBLISHED = {16: {"1 ns": "90 %", "2 ns": "90 %", "4 ns": "75 %", "8 ns": "40 %"},
             32: {"1 ns": "good", "2 ns": "loses about 15 %", "4 ns": "loses about 45 %", "8 ns": "loses about 65 %"}}


def study(radix=16, loads=(1.0,), latencies=(1, 2, 4, 8), sample=2000):
    base = {
        "network": {
            "topology": {"type": "folded_clos", "down": [radix // 2] * 3, "up": [radix // 2] * 2},
            "routing": {"type": "up_down", "selection": "adaptive", "common_ancestor": "top"},
            "router": {"type": "output_queued", "num_vcs": 1, "buffer_depth": 150, "transfer_latency": 50,
                       "congestion": {"type": "buffer_occupancy", "accounting": "output", "normalised": False}},
            "channel": {"latency": "50ns"}, "terminal_channel": {"latency": "50ns"}},
        "workload": {"applications": [{"type": "blast", "warmup": 3000, "sample": sample, "finish_limit": 5000,
                                       "traffic": {"type": "to_root", "block": (radix // 2) ** 2}}]}}
    sweep = Sweep(base, f"latent_congestion_{radix}", title=f"Late sensing of congestion, {radix ** 3 // 8} terminals")
    sweep.add_variable("queue", "Q", {"64 flits": 64, "infinite": None}, "network.router.output_depth")
    sweep.add_variable("sensing", "D", {f"{n} ns": n for n in latencies}, "network.router.congestion.latency")
    sweep.add_loads(values=loads, past=0 if len(loads) == 1 else 1)
    if len(loads) == 1:
        sweep.add_figure("throughput", x="sensing", lines="queue")
    else:
        sweep.add_figure("load-latency", lines="sensing").add_figure("offered-accepted", lines="sensing")
    return sweep


def compare(radix):
    def rows(study):
        accepted = {(r["queue"], r["sensing"]): r["accepted"] for r in study.saturation()}
        for (queue, sensing), value in accepted.items():
            printed = PUBLISHED[radix].get(sensing, "-") if queue == "64 flits" else "not affected"
            yield Row(f"{queue}, sensed after {sensing}", f"{100 * value:.1f} %", printed)
    return rows


if __name__ == "__main__":
    radix = 32 if "--full" in sys.argv else 16
    loads = [round(0.1 * i, 1) for i in range(1, 11)] if "--curves" in sys.argv else (1.0,)
    arguments = [word for word in sys.argv[1:] if word not in ("--full", "--curves")]
    sys.exit(reproduce(study(radix, loads), compare(radix), arguments))

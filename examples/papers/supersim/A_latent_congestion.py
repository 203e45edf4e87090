#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's case study A: congestion that is sensed late. A folded Clos of three levels, SuperSim's output-queued router and
interface, one VC, one-flit packets to random destinations by way of the root, each going up by the port that seems least congested.
Two things are not printed, and were chosen by the figures of 512 terminals: a port's congestion is what waits in its output queue and
in the buffer behind it, and throughput is the highest load, by 5 %, that the network carries without piling up traffic.

    examples/papers/supersim/A_latent_congestion.py             512 terminals (routers of 16 ports)
    examples/papers/supersim/A_latent_congestion.py --full      4096 terminals (32 ports): an hour of one core
    examples/papers/supersim/A_latent_congestion.py --endless   output queues without an end, at full load; with --full too
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

PUBLISHED = {16: {"1 ns": "90 %", "2 ns": "90 %", "4 ns": "75 %", "8 ns": "40 %"},
             32: {"1 ns": "good", "2 ns": "drops by about 15 %", "4 ns": "drops by about 45 %", "8 ns": "drops by about 65 %"}}
LOADS = tuple(round(0.05 * i, 2) for i in range(1, 21))
LATENCIES = (1, 2, 4, 8, 16, 32)


def study(radix=16, loads=LOADS, latencies=LATENCIES, sample=2000, accounting="both", endless=False):
    base = {
        "network": {
            "topology": {"type": "folded_clos", "down": [radix // 2] * 3, "up": [radix // 2] * 2},
            "routing": {"type": "up_down", "selection": "adaptive", "common_ancestor": "top"},
            # 64 flits, and one that is next on the channel
            "router": {"type": "staged_output", "num_vcs": 1, "buffer_depth": 150, "output_depth": None if endless else 65,
                       "routing_latency": 1, "transfer_latency": 50, "output_latency": 2, "output_hold": "packet",
                       "congestion": {"type": "buffer_occupancy", "accounting": accounting, "normalised": False, "per": "port"}},
            "interface": {"type": "queue_per_vc", "latency": 2, "room": "packet", "lock": "packet", "choice": "shortest"},
            "channel": {"latency": "50ns"}, "terminal_channel": {"latency": "50ns"}},
        "workload": {"applications": [{"type": "blast", "warmup": 3000, "sample": sample, "finish_limit": 5000 if endless else 1,
                                       "injection": {"type": "periodic", "rounding": "random"},
                                       "traffic": {"type": "to_root", "block": (radix // 2) ** 2}}]}}
    kind = "endless" if endless else "64 flits"
    sweep = Sweep(base, f"latent_congestion_{radix}{'_endless' if endless else ''}",
                  title=f"Late sensing of congestion, {radix ** 3 // 8} terminals, output queues {kind}")
    sweep.add_variable("sensing", "D", {f"{n} ns": n for n in latencies}, "network.router.congestion.latency")
    sweep.add_loads(values=loads, past=0 if len(loads) == 1 else 1)
    return sweep.add_figure("throughput", x="sensing") if len(loads) == 1 else sweep.add_figure("load-latency", lines="sensing")


def compare(radix, endless):
    def rows(study):
        for row in study.saturation():
            if endless:
                yield Row(f"endless queues, sensed after {row['sensing']}: accepted", f"{100 * row['accepted']:.1f} %", "not affected")
            else:
                yield Row(f"sensed after {row['sensing']}: carried", f"{100 * (row['carried'] or 0):.0f} %",
                          PUBLISHED[radix].get(row["sensing"], "-"))
    return rows


if __name__ == "__main__":
    radix, endless = 32 if "--full" in sys.argv else 16, "--endless" in sys.argv
    arguments = [word for word in sys.argv[1:] if word not in ("--full", "--endless")]
    sys.exit(reproduce(study(radix, (1.0,) if endless else LOADS, endless=endless), compare(radix, endless), arguments))

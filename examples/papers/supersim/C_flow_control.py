#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SuperSim's study of flow control techniques (case study C): 4096 terminals on a 4D torus, input-queued routers,
2, 4 and 8 VCs, messages of 1 to 32 flits, crossbars scheduled by flit, by packet, or winner takes all.

    examples/papers/supersim/C_flow_control.py --estimate     how long the 1,782 runs take here
    examples/papers/supersim/C_flow_control.py                runs them; the same command goes on after a stop
    examples/papers/supersim/C_flow_control.py --reduced      256 terminals, fewer sizes and loads: a minute or two
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402

TECHNIQUES = {"FB": "flit_buffer", "PB": "packet_buffer", "WTA": "winner_take_all"}


def study(widths=(8, 8, 8, 8), vcs=(2, 4, 8), sizes=(1, 2, 4, 8, 16, 32), step=0.03, sample=5000):
    base = {
        "simulator": {"tick": "1ns"},
        "network": {
            "topology": {"type": "torus", "widths": list(widths)}, "routing": "dimension_order",
            "router": {"type": "input_queued", "buffer_depth": 128, "crossbar_latency": 25},
            "channel": {"latency": "5ns"}, "terminal_channel": {"latency": "5ns"}},
        "workload": {"applications": [{"type": "blast", "warmup": 3000, "sample": sample, "finish_limit": 20000}]}}
    sweep = Sweep(base, "flow_control", title="Flow control techniques on a 4D torus")
    # Each VC has an input of the crossbar to itself, as in SuperSim
    sweep.add_variable("VCs", "VC", vcs, lambda n: {"network.router.num_vcs": n, "network.router.input_speedup": n})
    sweep.add_variable("flits", "M", sizes, "workload.applications.0.size.flits")
    sweep.add_variable("technique", "FC", TECHNIQUES, "network.router.crossbar_flow")
    sweep.add_loads(step, 1.0, step, past=1)
    sweep.add_figure("throughput", x="flits", lines="technique")
    sweep.add_figure("load-latency", lines="technique", where={"VCs": max(vcs), "flits": max(sizes)})
    return sweep


if __name__ == "__main__":
    reduced = "--reduced" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--reduced"]
    sys.exit((study((4, 4, 4, 4), (2, 8), (1, 32), 0.1, 2000) if reduced else study()).main(arguments))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 5 of SimuRed's paper: latency against load on a 4x4 mesh, dimension order, with 1, 2, 4, 8 and 16 virtual channels.

    examples/papers/simured/figure_5_virtual_channels.py            a minute of one core
    examples/papers/simured/figure_5_virtual_channels.py --reduced  a few points: seconds

The figure is a picture of the program's window and says no more than that. It comes out of the original program with packets of 64
flits, as many injection and ejection channels as virtual channels, and buffers of one flit on either side of a channel
(common/drawn.py); so it does here, with SimuRed's own order of packets. The figure's axis is the load that arrives.
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from drawn import FIGURE_5, FIGURE_5_LOADS, SETTINGS  # noqa: E402
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from simured import beside, original_of  # noqa: E402

FLITS = 64
REDUCED = {1: FIGURE_5[1], 4: FIGURE_5[4]}


def study(curves=FIGURE_5, loads=FIGURE_5_LOADS, packets=5000):
    base = {"network": original_of({"type": "mesh", "widths": [4, 4]}, **SETTINGS["mesh4x4"]),
            "workload": {"applications": [{"type": "blast", "size": {"type": "fixed", "flits": FLITS}, "finish_limit": 1}]}}
    sweep = Sweep(base, "simured_virtual_channels", title="Virtual channels on a 4x4 mesh")
    sweep.add_variable("vcs", "V", list(curves), lambda vcs: {
        "network.router.num_vcs": vcs, "network.interface.injection_channels": vcs, "network.interface.ejection_channels": vcs})

    def settings(load):
        cycles = int(packets * FLITS / 16 / load)
        return {"workload.applications.0.load": load, "workload.applications.0.sample": cycles,
                "workload.applications.0.warmup": cycles // 10}

    sweep.add_loads(values=[round(load, 4) for load in loads], past=0, override=settings)
    return sweep.add_figure("load-column", lines="vcs", column="network_latency.mean", log="y")


def carried(study):
    """{virtual channels: the most that arrives}"""
    found = {}
    for run in study.select():
        vcs = int(run.variables["vcs"])
        found[vcs] = max(found.get(vcs, 0), run.results.value("accepted_load"))
    return found


def compare(study):
    for vcs, most in carried(study).items():
        yield Row(f"{vcs} virtual channels: highest productivity", beside(most, FIGURE_5[vcs][1], 3), f"{FIGURE_5[vcs][1]:.3f}")


if __name__ == "__main__":
    is_reduced = "--reduced" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--reduced"]
    sys.exit(reproduce(study(REDUCED, FIGURE_5_LOADS[4::5], 500) if is_reduced else study(), compare, arguments))

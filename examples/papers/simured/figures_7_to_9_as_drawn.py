#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The curves of Figures 7 to 9 of SimuRed's paper as they are drawn: injection channels on an 8x8 mesh.

    examples/papers/simured/figures_7_to_9_as_drawn.py            a minute of one core
    examples/papers/simured/figures_7_to_9_as_drawn.py --reduced  a few points: seconds

With 2 virtual channels that share a channel and buffers of 2 flits, as the paper seems to print, the mesh carries 0.31, here and in
the original program; the curves end at 0.48, and latency hardly rises up to 0.2. Both programs give the curves with a channel for each
virtual channel and buffers of one flit on either side of it (common/drawn.py). figures_7_to_10_injection_channels.py has the other.
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from drawn import FIGURE_7, FIGURE_8, SETTINGS  # noqa: E402
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from simured import FLITS, NETWORKS, beside, original_of  # noqa: E402

CURVES = {**{("deterministic", channels): curve for channels, curve in FIGURE_7.items()}, ("adaptive", 1): FIGURE_8}
KNEE = 0.48


def study(routing, channels, loads, packets=20000, network="mesh8x8"):
    """Of the mesh, or with `network` hcube64 of the hypercube of Figure 10."""
    base = {"network": original_of(NETWORKS[network], "dimension_order" if routing == "deterministic" else "duato", 2, 1, 4,
                                   **SETTINGS[network]),
            "workload": {"applications": [{"type": "blast", "size": {"type": "fixed", "flits": FLITS}, "finish_limit": 1}]}}
    sweep = Sweep(base, f"simured_as_drawn_{routing}", title=f"Injection channels on a mesh, {routing} routing")
    sweep.add_variable("channels", "I", channels, "network.interface.injection_channels")

    def settings(load):
        cycles = int(packets * FLITS / 64 / load)
        return {"workload.applications.0.load": load, "workload.applications.0.sample": cycles,
                "workload.applications.0.warmup": cycles // 10}

    sweep.add_loads(values=loads, past=0, override=settings)
    return sweep.add_figure("load-column", lines="channels", column="network_latency.mean", log="y")


def points(study):
    """{(channels, load): (accepted load, SimuRed's latency)}"""
    return {(int(run.variables["channels"]), float(run.variables["load"])):
            (run.results.value("accepted_load"), run.results.value("network_latency.mean") - 1) for run in study.select()}


def drawn_at(curve, load):
    """Between two marks of a curve; None beyond them."""
    for (low, below), (high, above) in zip(curve, curve[1:]):
        if low <= load <= high:
            return below + (load - low) / (high - low) * (above - below)
    return None


def compare_with(routing):
    def compare(study):
        found = points(study)
        for (channels, load), (accepted, latency) in found.items():
            theirs = drawn_at(CURVES.get((routing, channels), []), load)
            if theirs:
                yield Row(f"{routing}, {channels} channels: latency at {load:g}", beside(latency, theirs, 1), f"{theirs:.1f}")
        if routing == "deterministic":
            yield Row("the most that is carried, one channel", beside(max(a for (c, _), (a, _) in found.items() if c == 1), KNEE, 3), f"{KNEE}")
    return compare


if __name__ == "__main__":
    is_reduced = "--reduced" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--reduced"]
    LOADS = (0.2, 0.5) if is_reduced else (0.1, 0.2, 0.3, 0.4, 0.45, 0.5)
    sys.exit(max(reproduce(study(routing, (1, 4) if is_reduced else (1, 2, 4, 8), LOADS, 2000 if is_reduced else 20000), compare_with(routing),
                           arguments) for routing in ("deterministic", "adaptive")))

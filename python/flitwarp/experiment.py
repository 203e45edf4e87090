# SPDX-License-Identifier: Apache-2.0
"""The default experiment of ./dev run: load-latency curves of an 8x8 torus.

    python3 -m flitwarp.experiment [--quick] [options of every sweep, see --help]
"""

from __future__ import annotations

import sys
from pathlib import Path

from .binary import ROOT, find_example
from .sweep import Sweep


def experiment(quick: bool = False) -> Sweep:
    """Two traffic patterns with two counts of virtual channels."""
    out = ROOT / "out" if (ROOT / "dev").exists() else Path("out")
    sweep = Sweep(find_example("torus_uniform.json"), "torus", out=out,
                  title="8x8 torus: load and latency",
                  overrides={"workload.applications.0.max_sample": 100000})  # near saturation no precision is reached
    sweep.add_variable("traffic", "T", {"uniform random": "uniform_random", "tornado": "tornado"},
                       "workload.applications.0.traffic")
    sweep.add_variable("VCs", "VC", [2, 4], "network.router.num_vcs")
    if quick:
        sweep.add_loads(0.1, 1.0, 0.1, past=1, refine=1)
    else:
        sweep.add_loads(0.02, 1.0, 0.02, past=3, refine=3)
    for kind in ("load-latency", "offered-accepted"):
        sweep.add_figure(kind, lines=["traffic", "VCs"])
    return sweep


def main() -> int:
    arguments = [word for word in sys.argv[1:] if word != "--quick"]
    return experiment("--quick" in sys.argv).main(arguments)


if __name__ == "__main__":
    sys.exit(main())

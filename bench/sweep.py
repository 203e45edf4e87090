#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a sweep costs beside its simulations: 200 runs of 8x8 tori, on all cores.

    bench/sweep.py [SAMPLE]     ticks of a run; 4000 make runs of about a tenth of a second

Prints how busy the cores were, and the time of all cores less that of simulating, divided by the runs. Meaningful
only on a machine that does nothing else.
"""
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.backend import cores  # noqa: E402

sample = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
with tempfile.TemporaryDirectory() as folder:
    sweep = Sweep(ROOT / "examples" / "torus_uniform.json", "bench", out=folder,
                  overrides={"workload.applications.0.sample": sample, "workload.applications.0.warmup": 500})
    sweep.add_variable("VCs", "VC", [2, 4, 8, 16], "network.router.num_vcs")
    sweep.add_loads(0.02, 1.0, 0.02, past=0)
    start = time.monotonic()
    study = sweep.run(quiet=True)
    wall = time.monotonic() - start
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    simulating = sum(run.results["simulation"]["cpu_seconds"] for run in study.runs)
    runs = len(study.runs)
print(f"{runs} runs in {wall:.2f} s on {cores()} cores: busy {used / wall / cores():.1%}, "
      f"overhead {1000 * (cores() * wall - simulating) / runs:.1f} ms a run")

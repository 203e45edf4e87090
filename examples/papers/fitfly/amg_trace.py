#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Table 3 of the Fit Fly paper with traces as jobs: runs of AMG on 27 and 64 ranks, without their compute times, beside 60 ranks
of background, on networks of 180 and 200 terminals. Needs the traces in $FLITWARP_SHARED, or in shared/ beside the tree.

    examples/papers/fitfly/amg_trace.py           one seed: a CPU minute
    examples/papers/fitfly/amg_trace.py --full    three seeds
"""
import os
import sys
import tarfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
sys.path[:0] = [str(ROOT / "python"), str(FOLDER / "common"), str(FOLDER)]
import figures_4_to_9_interference as interference  # noqa: E402
from flitwarp.reproduce import reproduce  # noqa: E402
from networks import FOUR, MICROSECOND  # noqa: E402

DUMPI = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared")) / "traces" / "dumpi"


def study(traces, shares=(0, interference.TOP), seeds=1, limit=100_000 * MICROSECOND):
    """`traces` by the number of their ranks."""
    jobs = {f"AMG of {ranks} ranks": ranks for ranks in traces}
    return interference.study(tuple(jobs), FOUR, shares, limit, seeds, interference.REDUCED, "fitfly_amg_trace",
                              lambda job, scale: ({"file": str(traces[jobs[job]]), "compute_scale": 0}, jobs[job]))


def main_file(folder):
    return next(folder.glob("*.meta"))


def unpacked(folder):
    """The large trace. Its folder is always the same, so that a study goes on where it was broken off."""
    with tarfile.open(DUMPI / "amg_n64.tar.xz") as files:
        files.extractall(folder)
    return main_file(folder / "amg_n64")


def main(argv):
    if not DUMPI.exists():
        print(f"no traces: {DUMPI} is not there")
        return 0
    traces = {27: main_file(DUMPI / "amg_n27"), 64: unpacked(Path("out/fitfly_amg_trace/trace").resolve())}
    chosen = study(traces, seeds=3 if "--full" in argv else 1)
    return reproduce(chosen, interference.compare, [word for word in argv if word != "--full"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

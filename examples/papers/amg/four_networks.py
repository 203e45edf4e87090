#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of AMG on 8, 27 and 64 ranks, replayed without their compute times on four networks of 64 terminals or a few more; and
who sends how much to whom, as pictures. Needs the traces in $FLITWARP_SHARED, or in shared/ beside the tree.

    examples/papers/amg/four_networks.py

The table is about bytes: those that the ranks send, beside those that the archives' summaries name. Collectives send more than
they are given: over n ranks, a power of two, allreduce log2 n times, scan the same for all but the last ranks of each step,
broadcast and reduce n - 1 times what one rank gives; allgather among m ranks m - 1 times what each gives.
"""
import math
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.binary import find_binary  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

DUMPI = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared")) / "traces" / "dumpi"
NETWORKS = {  # topology, routing, virtual channels
    "torus": ({"type": "torus", "widths": [4, 4, 4]}, "dimension_order", 2),
    "dragonfly": ({"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "minimal", 3),
    "hyperx": ({"type": "hyperx", "widths": [4, 4], "concentration": 4}, "dimension_order", 1),
    "folded_clos": ({"type": "folded_clos", "radix": 8}, "up_down", 1),
}


def traces(folder):
    """The main files by number of ranks; what is packed goes to the folder."""
    for name in ("amg_n8", "amg_n64"):
        with tarfile.open(DUMPI / f"{name}.tar.xz") as files:
            files.extractall(folder)
    homes = {8: folder / "amg_n8", 27: DUMPI / "amg_n27", 64: folder / "amg_n64"}
    return {ranks: next(home.glob("*.meta")) for ranks, home in homes.items()}


def study(files):
    def network(name):
        topology, routing, vcs = NETWORKS[name]
        return {"network.topology": topology, "network.routing": routing, "network.router.num_vcs": vcs}

    def replayed(ranks):
        return {"workload.applications": [{"type": "trace", "file": str(files[ranks]), "compute_scale": 0, "max_packet": 64,
                                           "overhead": "100ns", "allocation": {"type": "linear", "count": ranks}}]}

    base = {"simulator": {"tick": "1ns"},
            "network": {"flit_bytes": 64, "topology": "torus", "routing": "dimension_order", "channel": {"latency": 20},
                        "router": {"type": "packet", "num_vcs": 2, "buffer_depth": 32768, "delay": 10}},
            "workload": {"check_interval": "20us", "applications": [{"type": "blast"}]}}
    sweep = Sweep(base, "amg_four_networks", title="AMG on 8, 27 and 64 ranks")
    sweep.add_variable("ranks", "R", list(files), replayed)
    return sweep.add_variable("network", "N", {name: name for name in NETWORKS}, network)


def summary_bytes(text, ranks):
    """What the ranks send by an archive's summary: messages, and what their collectives make of what they are given."""
    rows = dict(re.findall(r"^\| (MPI_\w+) \| (\d+) \|$", text, re.M))
    given = {call: int(size) for call, size in re.findall(r"^\| (MPI_\w+) \| \d+ \| (\d+) \|$", text, re.M)}
    steps, members = math.log2(ranks), int(rows["MPI_Comm_free"])  # who is in the only other communicator frees it
    return (int(re.search(r"bytes sent: (\d+)", text)[1]) + steps * given["MPI_Allreduce"]
            + (ranks - 1) / ranks * (given["MPI_Bcast"] + given["MPI_Reduce"])
            + (steps - (ranks - 1) / ranks) * given["MPI_Scan"]
            + (members - 1) * (given["MPI_Allgather"] + given["MPI_Allgatherv"]))


def expected_bytes(file, ranks):
    summary = file.parent / "SUMMARY.md"
    return int(summary_bytes(summary.read_text(), ranks)) if summary.exists() else 13_584_368  # what its sends name


def compare(study, files):
    for run in study.runs:
        ranks, job = int(run.variables["ranks"]), run.results["applications"][0]
        expected = expected_bytes(files[ranks], ranks)
        yield Row(f"{ranks} ranks, {run.variables['network']}: us; bytes",
                  f"{job['completion_time'] / 1000:.1f}; {job['bytes']:,}", f"{expected:,}",
                  job["bytes"] == expected and job["unfinished_ranks"] == 0)


def draw(files, folder):
    for ranks, file in files.items():
        subprocess.run([find_binary(), "trace-info", file, "--matrix", folder / f"amg_{ranks}.svg"], check=True,
                       stdout=subprocess.DEVNULL)


def main(argv):
    if not DUMPI.exists():
        print(f"no traces: {DUMPI} is not there")
        return 0
    sweep = study(files := traces(Path("out/amg_four_networks/trace").resolve()))
    status = reproduce(sweep, lambda done: compare(done, files), argv)
    draw(files, sweep.out)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where optimistic execution overtakes conservative: PHOLD over lookahead and remote share, or a network over load and
remote share, on all cores or --threads; or on MPI ranks of as many threads, whose every exchange is made to take longer.

    bench/crossover.py [--network] [--threads N] [--processes N] [--runs N] [--ranks N [--delay MICROSECONDS]]

Prints a table in Markdown: million committed events per second of both, best of some runs, their ratio, and the share of
the work that optimism kept. A ratio above 1 means that the optimistic run was faster.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from flitwarp.binary import find_binary  # noqa: E402
from flitwarp.run import run  # noqa: E402
from flitwarp.settings import arguments  # noqa: E402

MEAN = 10000  # ticks
LOOKAHEADS = (1, 10, 100, 1000, 5000)
REMOTE = (0.001, 0.01, 0.1, 0.5)
WIDTH, ROWS = 32, 16  # of the network: routers of a row, rows of a thread
FLITS = 4
LOADS = (0.0001, 0.001, 0.01, 0.1)
EVENTS_A_HOP = 3


# What ranks call to meet, on a transport as slow as is wished.
SLOW = """
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static void wait(void)
{
    const struct timespec delay = {.tv_nsec = atol(getenv("EXCHANGE_DELAY_NS"))};
    nanosleep(&delay, 0);
}
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) { wait(); return PMPI_Allreduce(a, b, n, t, o, c); }
int MPI_Reduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c) { wait(); return PMPI_Reduce(a, b, n, t, o, r, c); }
int MPI_Alltoall(const void *a, int m, MPI_Datatype s, void *b, int n, MPI_Datatype t, MPI_Comm c)
{
    wait();
    return PMPI_Alltoall(a, m, s, b, n, t, c);
}
int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
    if (n)
        wait();
    return PMPI_Waitall(n, r, s);
}
"""


@functools.cache
def slow_exchange() -> tuple[tempfile.TemporaryDirectory, Path]:
    """A library for LD_PRELOAD, and its folder, which goes with the program."""
    folder = tempfile.TemporaryDirectory(prefix="flitwarp-")
    library = Path(folder.name) / "slow.so"
    subprocess.run(["mpicc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SLOW, text=True, check=True)
    return folder, library


def run_ranks(config: dict, settings: dict, options: argparse.Namespace) -> dict:
    folder, library = slow_exchange()
    path, results = Path(folder.name) / "config.json", Path(folder.name) / "results.json"
    path.write_text(json.dumps(config))
    subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(options.ranks),
                    "-x", f"LD_PRELOAD={library}", "-x", f"EXCHANGE_DELAY_NS={options.delay * 1000}",
                    find_binary(), "run", path, *arguments(settings), "--quiet", "--results", results], check=True)
    return json.loads(results.read_text())


def fastest(config: dict, settings: dict, sync: str, options: argparse.Namespace) -> tuple[float, float]:
    """Million events per second, and efficiency, of the fastest of some runs."""
    settings = {"simulator.sync": sync, "simulator.threads": options.threads} | settings
    once = functools.partial(run_ranks, options=options) if options.ranks > 1 else run
    found = [once(config, settings)["simulation"]["sync"] for _ in range(options.runs)]
    best = max(found, key=lambda sync: sync["events_per_second"])
    return best["events_per_second"] / 1e6, best.get("efficiency", 1)


def phold(lookahead: int, remote: float, options: argparse.Namespace) -> tuple[dict, dict]:
    end = options.events * (MEAN + lookahead) // options.processes
    return {"model": {"type": "phold"}}, {"model.processes": options.processes, "model.lookahead": lookahead,
                                          "model.mean_delay": MEAN, "model.remote": remote, "model.end": end}


def network(load: float, remote: float, options: argparse.Namespace) -> tuple[dict, dict]:
    """A packet-level mesh whose rows are shared out; a packet stays with its thread's rows, or goes to any others'."""
    rows = options.ranks * options.threads * ROWS
    traffic = {"type": "local_remote_random", "block": WIDTH * ROWS, "local": 1 - remote}
    hops = load / FLITS * WIDTH * rows * (WIDTH + ROWS) / 3 * EVENTS_A_HOP
    return {"network": {"topology": {"type": "mesh", "widths": [WIDTH, rows]}, "router": {"type": "packet"}},
            "workload": {"check_interval": 1000,
                         "applications": [{"type": "blast", "load": load, "traffic": traffic, "warmup": 1000,
                                           "size": {"type": "fixed", "flits": FLITS},
                                           "sample": int(options.events / hops)}]}}, {}


def main() -> int:
    parser = argparse.ArgumentParser(description="optimistic against conservative")
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--delay", type=int, default=0, metavar="US", help="that every exchange between ranks takes longer")
    parser.add_argument("--processes", type=int, default=4096)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    case, rows, name = (network, LOADS, "load") if options.network else (phold, LOOKAHEADS, "lookahead / mean")
    print(f"| {name} | remote share | conservative M/s | optimistic M/s | ratio | efficiency |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        for remote in REMOTE:
            conservative, _ = fastest(*case(row, remote, options), "conservative", options)
            optimistic, efficiency = fastest(*case(row, remote, options), "optimistic", options)
            print(f"| {row if options.network else row / MEAN:g} | {remote:g} | {conservative:.2f} | {optimistic:.2f} "
                  f"| {optimistic / conservative:.2f} | {efficiency:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where optimistic execution overtakes conservative: PHOLD over lookahead and remote share, or a network over load and
remote share, on all cores or --threads.

    bench/crossover.py [--network] [--threads N] [--processes N] [--runs N]

Prints a table in Markdown: million committed events per second of both, best of some runs, their ratio, and the share of
the work that optimism kept. A ratio above 1 means that the optimistic run was faster.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from flitwarp.run import run  # noqa: E402

MEAN = 10000  # ticks
LOOKAHEADS = (1, 10, 100, 1000, 5000)
REMOTE = (0.001, 0.01, 0.1, 0.5)
WIDTH, ROWS = 32, 16  # of the network: routers of a row, rows of a thread
FLITS = 4
LOADS = (0.0001, 0.001, 0.01, 0.1)
EVENTS_A_HOP = 3


def fastest(config: dict, settings: dict, sync: str, options: argparse.Namespace) -> tuple[float, float]:
    """Million events per second, and efficiency, of the fastest of some runs."""
    settings = {"simulator.sync": sync, "simulator.threads": options.threads} | settings
    found = [run(config, settings)["simulation"]["sync"] for _ in range(options.runs)]
    best = max(found, key=lambda sync: sync["events_per_second"])
    return best["events_per_second"] / 1e6, best.get("efficiency", 1)


def phold(lookahead: int, remote: float, options: argparse.Namespace) -> tuple[dict, dict]:
    end = options.events * (MEAN + lookahead) // options.processes
    return {"model": {"type": "phold"}}, {"model.processes": options.processes, "model.lookahead": lookahead,
                                          "model.mean_delay": MEAN, "model.remote": remote, "model.end": end}


def network(load: float, remote: float, options: argparse.Namespace) -> tuple[dict, dict]:
    """A packet-level mesh whose rows are shared out; a packet stays with its thread's rows, or goes to any others'."""
    rows = options.threads * ROWS
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

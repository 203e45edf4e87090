#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where optimistic execution overtakes conservative: PHOLD over lookahead and remote share, on all cores or --threads.

    bench/crossover.py [--threads N] [--processes N] [--runs N]

Prints a table in Markdown: million committed events per second of both, best of some runs, their ratio, and the share of
the work that Time Warp kept. A ratio above 1 means that the optimistic run was faster.
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


def rate(sync: str, options: argparse.Namespace, lookahead: int, remote: float) -> tuple[float, float]:
    """Million events per second, and efficiency, of the fastest of some runs."""
    end = options.events * (MEAN + lookahead) // options.processes
    settings = {"simulator.sync": sync, "simulator.threads": options.threads, "model.processes": options.processes,
                "model.lookahead": lookahead, "model.mean_delay": MEAN, "model.remote": remote, "model.end": end}
    config = {"model": {"type": "phold"}}
    found = [run(config, settings)["simulation"]["sync"] for _ in range(options.runs)]
    best = max(found, key=lambda sync: sync["events_per_second"])
    return best["events_per_second"] / 1e6, best["efficiency"]


def main() -> int:
    parser = argparse.ArgumentParser(description="PHOLD: optimistic against conservative")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--processes", type=int, default=4096)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("| lookahead / mean | remote share | conservative M/s | optimistic M/s | ratio | efficiency |")
    print("|---|---|---|---|---|---|")
    for lookahead in LOOKAHEADS:
        for remote in REMOTE:
            conservative, _ = rate("conservative", options, lookahead, remote)
            optimistic, efficiency = rate("optimistic", options, lookahead, remote)
            print(f"| {lookahead / MEAN:g} | {remote:g} | {conservative:.2f} | {optimistic:.2f} "
                  f"| {optimistic / conservative:.2f} | {efficiency:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/checks.md that compare flit and packet level: python3 tests/reproduce/fidelity.py"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from support import run
from test_fidelity import NETWORKS, ROUTERS, accepted, config, latency


def row(name, sample=40000):
    """Latency at two loads, accepted load when all is offered, CPU seconds at the larger of the two loads."""
    found = []
    for router in ROUTERS:
        low, middle, full = (run(config(name, router, load, sample)) for load in (0.05, NETWORKS[name][3], 1.0))
        found.append((latency(low), latency(middle), accepted(full), middle["simulation"]["cpu_seconds"]))
    return found


def tables():
    rows = {name: row(name) for name in NETWORKS}
    names = " | ".join(ROUTERS)
    print(f"| network | load | {names} |\n|---|---|---|---|---|---|")
    for name, found in rows.items():
        for number, load in enumerate((0.05, NETWORKS[name][3])):
            print(f"| {name} | {load} | " + " | ".join(f"{columns[number]:.1f}" for columns in found) + " |")
    print(f"\n| network | {names} |\n|---|---|---|---|---|")
    for name, found in rows.items():
        print(f"| {name} | " + " | ".join(f"{columns[2]:.3f}" for columns in found) + " |")
    print(f"\n| network | {names} | packet is faster by |\n|---|---|---|---|---|---|")
    for name, found in rows.items():
        seconds = [columns[3] for columns in found]
        faster = ", ".join(f"{second / seconds[0]:.0f}" for second in seconds[1:])
        print(f"| {name} | " + " | ".join(f"{second:.2f}" for second in seconds) + f" | {faster} |")


if __name__ == "__main__":
    tables()

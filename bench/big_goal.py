#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What replaying a large trace takes: memory, and events per CPU second.

    bench/big_goal.py [--ranks N] [--bytes N] [--folder DIR] [--json FILE]

Makes a GOAL schedule of N bytes or a little more (1 GiB) for N ranks (512) as text, turns it into the binary form by trace-convert,
and replays both on a torus with a terminal for each rank. In an iteration a rank computes, then exchanges a message with
its four neighbours on a grid of ranks, and begins the next when it has theirs.

Memory is the peak of what is resident, pages of mapped files among it. A trace takes 32 bytes a task and 4 for each task
that waits for another; beyond 256 MiB these lie in a temporary file, of which the system keeps in memory what it likes.
"""
from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
from flitwarp.binary import find_binary  # noqa: E402
from flitwarp.run import run  # noqa: E402

MESSAGE = 64  # bytes: one flit, so that the trace is large and not what it sends
COMPUTE = 1000  # ns
DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def grid(ranks: int) -> tuple[int, int]:
    """Rows and columns, as even as they can be."""
    rows = max(n for n in range(1, int(ranks ** 0.5) + 1) if ranks % n == 0)
    if rows < 3:
        raise ValueError(f"{ranks} ranks make no grid of at least 3 by 3")
    return rows, ranks // rows


def iteration(number: int, neighbours: list[int]) -> str:
    """What a rank does once: the labels are those of the iteration."""
    lines = [f"c{number}: calc {COMPUTE}"]
    lines += [f"c{number} requires r{way}_{number - 1}" for way in range(4) if number]
    for way, peer in enumerate(neighbours):  # what goes one way comes from the opposite one
        lines += [f"s{way}_{number}: send {MESSAGE}b to {peer} tag {way}", f"s{way}_{number} requires c{number}",
                  f"r{way}_{number}: recv {MESSAGE}b from {peer} tag {way ^ 1}", f"r{way}_{number} requires c{number}"]
    return "\n".join(lines) + "\n"


def neighbours_of(rank: int, ranks: int) -> list[int]:
    rows, columns = grid(ranks)
    row, column = divmod(rank, columns)
    return [(row + down) % rows * columns + (column + right) % columns for down, right in DIRECTIONS]


def make(path: Path, ranks: int, size: int) -> None:
    """A schedule of so many bytes or a little more: as many iterations as rank 0 needs for its share, whose lines are the
    shortest."""
    iterations = written = 0
    while written * ranks < size:
        written += len(iteration(iterations, neighbours_of(0, ranks)))
        iterations += 1
    with path.open("w") as file:
        file.write(f"num_ranks {ranks}\n")
        for rank in range(ranks):
            neighbours = neighbours_of(rank, ranks)
            file.write(f"rank {rank} {{\n")
            file.writelines(iteration(number, neighbours) for number in range(iterations))
            file.write("}\n")


def config(path: Path, ranks: int) -> dict:
    rows, columns = grid(ranks)
    return {"simulator": {"tick": "1ns"},
            "network": {"flit_bytes": MESSAGE, "topology": {"type": "torus", "widths": [columns, rows]},
                        "routing": "dimension_order", "router": {"type": "packet", "num_vcs": 2, "buffer_depth": 64},
                        "channel": {"latency": "20ns"}},
            "workload": {"check_interval": "100us", "applications": [{"type": "trace", "file": str(path)}]}}


def cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def replay(path: Path, ranks: int) -> dict:
    before = cpu_seconds_of_children()
    results = run(config(path, ranks))
    simulation, application = results["simulation"], results["applications"][0]
    return {"file": path.name, "file_bytes": path.stat().st_size, "ranks": application["ranks"],
            "tasks": application["tasks"], "unfinished_ranks": application["unfinished_ranks"],
            "messages": application["bytes"] // MESSAGE, "completion_time": application["completion_time"],
            "peak_rss_bytes": simulation["peak_rss_bytes"], "cpu_seconds": simulation["cpu_seconds"],
            "cpu_seconds_with_reading": cpu_seconds_of_children() - before, "events": simulation["events"], "digest": simulation["digest"]}


def measure(folder: Path, ranks: int, size: int) -> list[dict]:
    """Both forms of one schedule, as rows; its files are gone afterwards."""
    text, binary = folder / "big.goal", folder / "big.bin"
    try:
        make(text, ranks, size)
        subprocess.run([str(find_binary()), "trace-convert", str(text), "-o", str(binary)], check=True)
        return [replay(path, ranks) for path in (text, binary)]
    finally:
        text.unlink(missing_ok=True)
        binary.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="memory and speed of replaying a large GOAL trace")
    parser.add_argument("--ranks", type=int, default=512, metavar="N")
    parser.add_argument("--bytes", type=int, default=1 << 30, metavar="N", help="of the text (1 GiB)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="for the two files, else a temporary one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="big-goal-", dir=options.folder) as folder:
        rows = measure(Path(folder), options.ranks, options.bytes)
    print(f"{'file':9} {'MiB':>7} {'tasks':>11} {'peak MiB':>9} {'CPU s':>7} {'with reading':>12} {'M events per CPU s':>19}")
    for row in rows:
        rate = row["events"] / row["cpu_seconds"] / 1e6
        print(f"{row['file']:9} {row['file_bytes'] / 2 ** 20:7.1f} {row['tasks']:11,} {row['peak_rss_bytes'] / 2 ** 20:9.1f} "
              f"{row['cpu_seconds']:7.1f} {row['cpu_seconds_with_reading']:12.1f} {rate:19.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

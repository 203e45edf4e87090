#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: hops per CPU second, memory, and instructions per hop.

A hop is a flit's through a router, or a packet's where the router moves packets whole (`packet`).

Run by ./dev bench. CPU time is the best of three runs, so that what else the machine does shows least.
Instructions are counted by callgrind in two runs of different length, and the difference is divided by
the difference in hops: start-up drops out, and the number is the same on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from flitwarp.binary import find_binary, version  # noqa: E402
from flitwarp.run import RunFailed, run  # noqa: E402
from flitwarp.settings import arguments  # noqa: E402

SAMPLE = "workload.applications.0.sample"
RUNS = 3


def every_benchmark() -> dict[str, Path]:
    """All configurations by name: mesh_8x8, growth/mesh_128."""
    return {str(path.relative_to(HERE).with_suffix("")): path for path in sorted(HERE.rglob("*.json"))}


def choose(names: list[str]) -> dict[str, Path]:
    """Those named, by name, by name without folder or by folder; all outside folders when none is named."""
    known = every_benchmark()
    if not names:
        return {name: path for name, path in known.items() if "/" not in name}
    chosen: dict[str, Path] = {}
    for name in names:
        plain = name.removesuffix(".json").removeprefix("bench/").rstrip("/")
        found = {n: p for n, p in known.items() if n == plain or n.startswith(plain + "/") or n.endswith("/" + plain)}
        if not found:
            raise ValueError(f"no benchmark is called '{name}'; there are {', '.join(known)}")
        chosen.update(found)
    return chosen


def hops_of(results: dict) -> int:
    """Hops of what moves at once; packets of these benchmarks have one size."""
    hops = results["simulation"]["flit_hops"]
    if results["config"]["network"]["router"]["type"] != "packet":
        return hops
    return hops // results["config"]["workload"]["applications"][0]["size"]["flits"]


def measure(path: Path) -> tuple[dict, int]:
    """The best of some runs, and the sample that the configuration asks for."""
    results = min((run(path) for _ in range(RUNS)), key=lambda results: results["simulation"]["cpu_seconds"])
    best = results["simulation"]
    seconds, hops = best["cpu_seconds"], hops_of(results)
    row = {"flit_hops": best["flit_hops"], "hops": hops, "cpu_seconds": seconds, "hops_per_cpu_second": hops / seconds if hops else None,
           "peak_rss_bytes": best["peak_rss_bytes"], "bytes_per_router": best["bytes_per_router"],
           "digest": best["digest"]}
    return row, results["config"]["workload"]["applications"][0]["sample"]


def count(path: Path, sample: int) -> tuple[int, int]:
    """Instructions and hops of a run with this sample."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", str(find_binary()), "run",
                   str(path), *arguments({SAMPLE: sample}), "--quiet", "--results", str(results)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        collected = re.search(r"Collected : (\d+)", ended.stderr)
        if ended.returncode != 0 or not collected:
            raise RunFailed(ended.returncode, f"callgrind: {ended.stderr.strip()}", None)
        return int(collected.group(1)), hops_of(json.loads(results.read_text()))


def instructions_per_hop(path: Path, sample: int) -> float | None:
    """From the difference of two runs; None when nothing moves."""
    short = max(100, sample // 50)
    few, few_hops = count(path, short)
    many, many_hops = count(path, 4 * short)
    return (many - few) / (many_hops - few_hops) if many_hops > few_hops else None


def cell(value: float | None, width: int, digits: int = 0, scale: float = 1) -> str:
    return f"{'-' if value is None else f'{value * scale:,.{digits}f}':>{width}}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="hops per CPU second of bench/*.json")
    parser.add_argument("--instructions", action="store_true", help="instructions per hop, by callgrind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks or folders of them (growth)")
    options = parser.parse_args()
    try:
        chosen = choose(options.names)
        width = max(9, *map(len, chosen))
        print(f"{'name':{width}} {'hops':>13} {'CPU s':>8} {'Mhops/CPU s':>12} {'peak MiB':>9} {'bytes/router':>13}"
              + (f" {'instr/hop':>10}" if options.instructions else ""))
        rows = {}
        for name, path in chosen.items():
            row, sample = measure(path)
            line = (f"{name:{width}} {cell(row['hops'], 13)} {cell(row['cpu_seconds'], 8, 3)} "
                    f"{cell(row['hops_per_cpu_second'], 12, 2, 1e-6)} {cell(row['peak_rss_bytes'], 9, 1, 2**-20)} "
                    f"{cell(row['bytes_per_router'], 13)}")
            if options.instructions:
                print(line, end="", flush=True)
                row["instructions_per_hop"] = instructions_per_hop(path, sample)
                line = f" {cell(row['instructions_per_hop'], 10, 1)}"
            print(line, flush=True)
            rows[name] = row
        if options.json:
            document = {"version": version(), "machine": platform.machine(), "benchmarks": rows}
            options.json.write_text(json.dumps(document, indent=2) + "\n")
    except (RunFailed, OSError, ValueError) as error:
        print(f"./dev bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: hops (events of a model) per CPU second, memory, and instructions per hop.

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

SAMPLE = "workload.applications.0.sample"  # what makes a network's run longer
ENDS = ("end", "sample")  # and a model's
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


def work(results: dict) -> int:
    """Hops of what moves at once in a network (packets of these benchmarks have one size), packet-hops of a model that has
    packets, events of any other."""
    simulation, config = results["simulation"], results["config"]
    if "model" in config:
        return results["model"].get("hop_events", simulation["events"])
    if config["network"]["router"]["type"] != "packet":
        return simulation["flit_hops"]
    return simulation["flit_hops"] // config["workload"]["applications"][0]["size"]["flits"]


def measure(path: Path) -> tuple[dict, str, int]:
    """The best of some runs, and the setting that says how long the configuration runs."""
    results = min((run(path) for _ in range(RUNS)), key=lambda results: results["simulation"]["cpu_seconds"])
    best, config = results["simulation"], results["config"]
    seconds, hops = best["cpu_seconds"], work(results)
    row = {"cpu_seconds": seconds, "hops_per_cpu_second": hops / seconds if hops else None,
           "peak_rss_bytes": best["peak_rss_bytes"], "digest": best["digest"]}
    if "model" in config:
        processes = results["model"].get("processes")
        row |= {"events": hops, "bytes_per_process": best["peak_rss_bytes"] / processes if processes else None}
        key = next(key for key in ENDS if key in config["model"])
        return row, f"model.{key}", config["model"][key]
    row |= {"flit_hops": best["flit_hops"], "hops": hops, "bytes_per_router": best["bytes_per_router"]}
    return row, SAMPLE, config["workload"]["applications"][0]["sample"]


def count(path: Path, setting: str, length: int) -> tuple[int, int]:
    """Instructions and flit-hops or events of a run of this length."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", str(find_binary()), "run",
                   str(path), *arguments({setting: length}), "--quiet", "--results", str(results)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        collected = re.search(r"Collected : (\d+)", ended.stderr)
        if ended.returncode != 0 or not collected:
            raise RunFailed(ended.returncode, f"callgrind: {ended.stderr.strip()}", None)
        return int(collected.group(1)), work(json.loads(results.read_text()))


def instructions_per_hop(path: Path, setting: str, length: int) -> float | None:
    """From the difference of two runs; None when nothing moves."""
    short = max(100, length // 50)
    few, few_hops = count(path, setting, short)
    many, many_hops = count(path, setting, 4 * short)
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
        print(f"{'name':{width}} {'hops, events':>13} {'CPU s':>8} {'M per CPU s':>12} {'peak MiB':>9} {'bytes each':>13}"
              + (f" {'instr/hop':>10}" if options.instructions else ""))
        rows = {}
        for name, path in chosen.items():
            row, setting, length = measure(path)
            each = row.get("bytes_per_router", row.get("bytes_per_process"))
            line = (f"{name:{width}} {cell(row.get('hops', row.get('events')), 13)} {cell(row['cpu_seconds'], 8, 3)} "
                    f"{cell(row['hops_per_cpu_second'], 12, 2, 1e-6)} {cell(row['peak_rss_bytes'], 9, 1, 2**-20)} "
                    f"{cell(each, 13)}")
            if options.instructions:
                print(line, end="", flush=True)
                row["instructions_per_hop"] = instructions_per_hop(path, setting, length)
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

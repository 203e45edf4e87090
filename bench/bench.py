#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: hops (events of a model) per CPU second, memory, and instructions per hop.

A hop is a flit's through a router, or a packet's where the router moves packets whole (`packet`).

Run by ./dev bench. CPU time is the best of three runs, so that what else the machine does shows least.
Instructions are counted by callgrind in two runs of different length, and the difference is divided by
the difference in hops: start-up drops out, and the number is the same on a busy machine. So it can be
recorded (--record, history.py) and compared with what was recorded before (--check).
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
from typing import Callable

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

import history  # noqa: E402
from flitwarp.binary import find_binary, version  # noqa: E402
from flitwarp.run import RunFailed, run  # noqa: E402
from flitwarp.settings import Reader, arguments  # noqa: E402

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


def measure(path: Path) -> dict:
    """The best of some runs."""
    results = min((run(path) for _ in range(RUNS)), key=lambda results: results["simulation"]["cpu_seconds"])
    best, config = results["simulation"], results["config"]
    seconds, hops = best["cpu_seconds"], work(results)
    row = {"cpu_seconds": seconds, "hops_per_cpu_second": hops / seconds if hops else None,
           "peak_rss_bytes": best["peak_rss_bytes"], "digest": best["digest"]}
    if "model" in config:
        processes = results["model"].get("processes")
        row |= {"events": hops, "bytes_per_process": best["peak_rss_bytes"] / processes if processes else None}
    else:
        row |= {"flit_hops": best["flit_hops"], "hops": hops, "bytes_per_router": best["bytes_per_router"]}
    return row


def length_of(path: Path) -> tuple[str, int]:
    """The setting that says how long a configuration runs, and its value."""
    reader = Reader(path)
    try:
        config, _ = reader.effective([])
    finally:
        reader.close()
    if "model" not in config:
        return SAMPLE, config["workload"]["applications"][0]["sample"]
    key = next(key for key in ENDS if key in config["model"])
    return f"model.{key}", config["model"][key]


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


def instructions_per_hop(path: Path) -> float | None:
    """From the difference of two runs; None when nothing moves."""
    setting, length = length_of(path)
    short = max(100, length // 50)
    few, few_hops = count(path, setting, short)
    many, many_hops = count(path, setting, 4 * short)
    return (many - few) / (many_hops - few_hops) if many_hops > few_hops else None


def cell(value: float | None, width: int, digits: int = 0, scale: float = 1) -> str:
    return f"{'-' if value is None else f'{value * scale:,.{digits}f}':>{width}}"


def show(chosen: dict[str, Path], with_instructions: bool) -> dict[str, dict]:
    """Measures, prints a table and returns its rows."""
    width = max(9, *map(len, chosen))
    print(f"{'name':{width}} {'hops, events':>13} {'CPU s':>8} {'M per CPU s':>12} {'peak MiB':>9} {'bytes each':>13}"
          + (f" {'instr/hop':>10}" if with_instructions else ""))
    rows = {}
    for name, path in chosen.items():
        row = measure(path)
        each = row.get("bytes_per_router", row.get("bytes_per_process"))
        line = (f"{name:{width}} {cell(row.get('hops', row.get('events')), 13)} {cell(row['cpu_seconds'], 8, 3)} "
                f"{cell(row['hops_per_cpu_second'], 12, 2, 1e-6)} {cell(row['peak_rss_bytes'], 9, 1, 2**-20)} "
                f"{cell(each, 13)}")
        if with_instructions:
            print(line, end="", flush=True)
            row["instructions_per_hop"] = instructions_per_hop(path)
            line = f" {cell(row['instructions_per_hop'], 10, 1)}"
        print(line, flush=True)
        rows[name] = row
    return rows


def record(chosen: dict[str, Path]) -> None:
    """Adds what is measured to the history; speed only where nothing else runs."""
    is_idle = os.getloadavg()[0] < 1
    if not is_idle:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): no speed is recorded", file=sys.stderr)
    commit, date = history.commit()
    compiler, flags = history.toolchain(find_binary())
    for name, path in chosen.items():
        speed = measure(path)["hops_per_cpu_second"] if is_idle else None
        count_of = instructions_per_hop(path)
        print(f"{name}: {cell(count_of, 1, 1)} instructions per hop", flush=True)
        history.write([*history.read(), history.Record(commit, date, history.machine(), compiler, flags, name,
                                                       count_of and round(count_of, 2), speed and round(speed * 1e-6, 2))])


def check(chosen: dict[str, Path]) -> int:
    """Counts instructions again; 1 where there are too many more than last recorded."""
    records, tools, failed = history.read(), history.toolchain(find_binary()), []
    for name, path in chosen.items():
        count_of = instructions_per_hop(path)
        if count_of is None:
            continue
        is_within, line = history.compare(records, name, count_of, tools)
        print(line, flush=True)
        if not is_within:
            failed.append(name)
    if failed:
        print(f"./dev bench: more than {history.MOST_GROWTH:.0%} more instructions per hop than last recorded: "
              f"{', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def status_of(action: Callable[[], int]) -> int:
    """What it returns; a mistake is told in words."""
    try:
        return action()
    except (RunFailed, OSError, ValueError) as error:
        print(f"./dev bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="hops per CPU second of bench/*.json")
    parser.add_argument("--instructions", action="store_true", help="instructions per hop, by callgrind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    parser.add_argument("--record", action="store_true", help="add them to bench/HISTORY.md, with commit and machine")
    parser.add_argument("--check", action="store_true",
                        help="compare instructions per hop with those last recorded; fails on 5 %% more")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks or folders of them (growth, short)")
    options = parser.parse_args()
    chosen = choose(options.names)
    if options.record or options.check:
        if options.record:
            record(chosen)
        return check(chosen) if options.check else 0
    rows = show(chosen, options.instructions)
    if options.json:
        document = {"version": version(), "machine": platform.machine(), "benchmarks": rows}
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))

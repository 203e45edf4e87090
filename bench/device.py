#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of an OpenCL device: flit-hops a second of all of it, microseconds a tick, memory.

Run by ./dev bench --device. Seconds are those that the program waited for the device; building and compiling are apart.
--beside runs each here too: its speed on a core, and the digests must be equal.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

from bench import cell, status_of  # noqa: E402
from flitwarp.binary import find_binary  # noqa: E402


class Row(NamedTuple):
    config: str
    overrides: list[str] = []
    runs: int = 1  # together, of one seed each


ROWS = {
    "mesh_8x8": Row("mesh_8x8"),
    "mesh_32x32": Row("mesh_32x32"),
    "torus_16x16": Row("torus_16x16"),
    "torus_16x16_1000": Row("torus_16x16", runs=1000),
    "torus_8x8x8x8": Row("torus_4d"),
    "torus_16x16x16x16": Row("torus_4d", ["network.topology.widths=[16,16,16,16]"]),
    "torus_32x32x32x32": Row("torus_4d", ["network.topology.widths=[32,32,32,32]", "workload.applications.0.load=0.1",
                                         "workload.applications.0.warmup=100", "workload.applications.0.sample=300"]),
    "dragonfly": Row("dragonfly"),
    "dragonfly_16512": Row("scaling/dragonfly_16512"),
}


def run_simulation(words: list[str], documents: list[Path]) -> list[dict]:
    """The simulation block of each document that `flitwarp run` leaves."""
    ended = subprocess.run([str(find_binary()), "run", *words, "--quiet"], capture_output=True, text=True, check=False)
    if ended.returncode:
        told = [json.loads(line)["said"] for line in ended.stdout.splitlines()]
        raise ValueError(next(filter(None, told), ended.stderr).strip() or f"exit status {ended.returncode}")
    return [json.loads(document.read_text())["simulation"] for document in documents]


def measure(row: Row, settings: list[str], device: str, beside: bool) -> dict:
    with tempfile.TemporaryDirectory(prefix="flitwarp-") as folder:
        documents = [Path(folder) / f"{i}.json" for i in range(row.runs)]
        runs = [[str(HERE / f"{row.config}.json"), *row.overrides, *settings, f"simulator.seed={seed}", "--results", str(document)]
                for seed, document in enumerate(documents, 1)]
        together = Path(folder) / "runs.json"
        together.write_text(json.dumps(runs))
        there = run_simulation(["--runs", str(together), "--device", device], documents)
        hops, seconds = sum(one["flit_hops"] for one in there), sum(one["device"]["seconds"] / one["device"]["runs"] for one in there)
        figures = {"runs": row.runs, "flit_hops": hops, "ticks": max(one["end_tick"] for one in there), "seconds": seconds,
                   "hops_per_second": hops / seconds, "device": there[0]["device"], "digest": there[0]["digest"]}
        if beside:
            here = run_simulation(runs[0], documents[:1])[0]
            if here["digest"] != there[0]["digest"]:
                raise ValueError(f"{row.config}: the device's digest is {there[0]['digest']}, the program's {here['digest']}")
            figures["hops_per_cpu_second_here"] = here["flit_hops"] / here["cpu_seconds"]
        return figures


def show(names: list[str], settings: list[str], device: str, beside: bool) -> dict[str, dict]:
    """Measures, prints a table and returns its rows."""
    width = max(map(len, names))
    print(f"{'name':{width}} {'runs':>5} {'flit-hops':>15} {'seconds':>9} {'M a second':>11} {'us a tick':>10} {'compiling':>10} "
          f"{'MiB there':>10} {'M on a core':>12}  digest")
    rows = {}
    for name in names:
        row = measure(ROWS[name], settings, device, beside)
        told = row["device"]
        print(f"{name:{width}} {row['runs']:>5} {cell(row['flit_hops'], 15)} {cell(row['seconds'], 9, 3)} "
              f"{cell(row['hops_per_second'], 11, 1, 1e-6)} {cell(row['seconds'] / row['ticks'], 10, 1, 1e6)} "
              f"{cell(told['compile_seconds'], 10, 2)} {cell(told['memory_bytes'], 10, 0, 2**-20)} "
              f"{cell(row.get('hops_per_cpu_second_here'), 12, 1, 1e-6)}  {row['digest']}", flush=True)
        rows[name] = row
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --device", description="flit-hops a second of an OpenCL device")
    parser.add_argument("--device", required=True, metavar="opencl[:N]", help="see `flitwarp list device`")
    parser.add_argument("--beside", action="store_true", help="run each here too, and compare digests")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    parser.add_argument("words", nargs="*", metavar="NAME | PATH=VALUE", help=f"of {', '.join(ROWS)}; settings of all of them")
    options = parser.parse_intermixed_args()
    settings = [word for word in options.words if "=" in word]
    names = [word for word in options.words if "=" not in word] or list(ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        raise ValueError(f"no benchmark of devices is called '{unknown[0]}'; there are {', '.join(ROWS)}")
    rows = show(names, settings, options.device, options.beside)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))

# SPDX-License-Identifier: Apache-2.0
"""The default experiment of ./dev run: load-latency curves of an 8x8 torus.

    python3 -m flitwarp.experiment [--out DIR] [--quick]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import threading
import time
from pathlib import Path

from . import figures, report
from .binary import ROOT, find_binary
from .run import RunFailed, arguments, cores, parallel
from .sweep import LOAD, Curve, Point, load_sweep

CONFIG = ROOT / "examples" / "torus_uniform.json"
TITLE = "8x8 torus: load and latency"
MAX_SAMPLE = 100000  # ticks: near saturation no precision is reached


def curves() -> list[Curve]:
    """Two traffic patterns with two counts of virtual channels."""
    return [Curve(f"{traffic.replace('_', ' ')}, {vcs} VCs", CONFIG,
                  {"workload.applications.0.traffic": traffic, "network.router.num_vcs": vcs,
                   "workload.applications.0.max_sample": MAX_SAMPLE})
            for traffic in ("uniform_random", "tornado") for vcs in (2, 4)]


def near(path: Path) -> str:
    """A path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


class Progress:
    """A line a run; on a terminal each replaces the one before."""

    def __init__(self) -> None:
        self.lock, self.runs, self.start = threading.Lock(), 0, time.monotonic()

    def show(self, curve: Curve, point: Point) -> None:
        with self.lock:
            self.runs += 1
            a = point.application
            latency = "saturated" if point.saturated else f"latency {a['packet_latency']['mean']:.1f} ticks"
            text = (f"{self.runs:4d} runs, {time.monotonic() - self.start:3.0f} s   {curve.label:24s} "
                    f"load {point.load:<7g} accepted {a['accepted_load']:.3f}  {latency}")
            terminal = sys.stderr.isatty()
            sys.stderr.write(f"\r{text}\033[K" if terminal else text + "\n")
            sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def sweep(all_curves: list[Curve], runs: Path, quick: bool) -> None:
    """Runs all curves side by side."""
    progress = Progress()
    grid = {"step": 0.1, "refine": 1, "past": 1} if quick else {"step": 0.02, "refine": 3, "past": 3}

    def one(curve: Curve) -> None:
        stem = re.sub(r"[^a-z0-9]+", "_", curve.label.lower())
        load_sweep(curve, keep=lambda load: runs / f"{stem}_{load:.4f}.json",
                   progress=lambda point: progress.show(curve, point), **grid)

    parallel(one, all_curves)
    progress.end()


def write(all_curves: list[Curve], out: Path) -> list[tuple[Path, str]]:
    """Figures, table and page."""
    drawn = [(figures.save(figures.load_latency(all_curves), out / "load_latency")[0],
              "Mean packet latency over offered load. Bars: 95 % confidence intervals. "
              "A cross marks the load from which on the network is saturated."),
             (figures.save(figures.offered_accepted(all_curves), out / "offered_accepted")[0],
              "Accepted over offered load, a little past saturation.")]
    report.write_csv(all_curves, out / "results.csv")
    typical = next((c.stable()[-1] for c in all_curves if c.stable()), all_curves[0].points[0])
    owner = next(c for c in all_curves if typical in c.points)
    config = os.path.relpath(CONFIG, ROOT)
    commands = ["./dev run", "# one of its runs:",
                " ".join(["build/flitwarp run", config, *arguments({**owner.overrides, LOAD: typical.load})])]
    runs = [p for c in all_curves for p in c.points]
    hops = sum(p.results["simulation"]["flit_hops"] for p in runs)
    cpu = sum(p.results["simulation"]["cpu_seconds"] for p in runs)
    summary = f"{len(runs)} runs, {hops / 1e6:.0f} million flit-hops, {cpu:.1f} s of CPU time, on {cores()} cores."
    report.write_html(out / "report.html", TITLE, summary, all_curves, drawn, CONFIG.read_text(), commands)
    return drawn


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev run", description="load-latency curves of an 8x8 torus")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="folder for what it makes (default: out/)")
    parser.add_argument("--quick", action="store_true", help="few points: to see that it works")
    options = parser.parse_args()
    out: Path = options.out
    start = time.monotonic()
    try:
        find_binary()
        runs = out / "runs"
        shutil.rmtree(runs, ignore_errors=True)  # of an earlier experiment
        runs.mkdir(parents=True)
        all_curves = curves()
        print(f"load-latency sweep of an 8x8 torus: {len(all_curves)} curves on {cores()} cores", file=sys.stderr)
        sweep(all_curves, runs, options.quick)
        write(all_curves, out)
    except (RunFailed, OSError, ValueError) as error:
        print(f"\n./dev run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n./dev run: interrupted", file=sys.stderr)
        return 130
    print(f"done in {time.monotonic() - start:.0f} s:")
    for name, what in (("report.html", "everything on one page"),
                       ("load_latency.png", "the figure; .svg and .pdf beside it"),
                       ("offered_accepted.png", "accepted over offered load; .svg and .pdf too"),
                       ("results.csv", "all numbers, a line a run"),
                       ("runs/", "each run's results")):
        print(f"  {near(out / name) + ('/' if name.endswith('/') else ''):32s} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

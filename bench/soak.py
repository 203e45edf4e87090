#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A soak: simulations of many kinds run for hours, and their memory must stay as it is.

Run by ./dev soak. All kinds run side by side on one core, each a process that lives from the first minute to the last;
its resident memory is sampled. The first tenth of the time is its warm-up: buffers and pools reach their size, and the
rare moments that need most of them begin to come. After it no kind may exceed what it had by more than BOUND. At the end
each is told to stop (SIGTERM) and has to write its results.

What grows by design is not among them: docs/guide/trouble.md, "When something goes wrong", says what that is.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "python"))

from flitwarp.binary import find_binary  # noqa: E402

FIRST = "workload.applications.0"
STEADY = (f"{FIRST}.warmup=1000", f"{FIRST}.sample=1000000000000000")
LOGS = ("--log", "packets.csv.zst", "--traffic-log", "traffic.csv", "--channel-log", "channels.csv")  # 10 GB in ten hours
BOUND = (0.02, 512 << 10)  # a share of the memory in warm-up, and bytes
SAMPLES = 360

KINDS = {  # arguments of flitwarp
    "flit level": ("run", "bench/mesh_8x8.json", *STEADY),
    "adaptive": ("run", "examples/torus_adaptive.json", *STEADY),
    "requests and replies": ("run", "examples/request_reply.json", *STEADY),
    "memory": ("run", "examples/memory.json", *STEADY),
    "Omni-Path": ("run", "examples/omnipath.json", *STEADY),
    "packet level": ("run", "bench/packet_dragonfly.json", *STEADY),
    "logs": ("run", "bench/mesh_8x8.json", *STEADY, f"{FIRST}.load=0.01", *LOGS),
    "stencil": ("run", "examples/stencil.json", f"{FIRST}.iterations=10000000"),
    "two threads": ("run", "bench/torus_16x16.json", *STEADY, "--sync", "conservative", "--threads", "2"),
    "optimistic": ("run", "bench/torus_16x16.json", *STEADY, "--sync", "optimistic", "--threads", "2"),
    "model": ("run", "bench/node_1e5.json", "model.sample=4398046511104"),
    "optimistic model": ("run", "examples/phold.json", "model.end=1000000000000000", "--sync", "optimistic", "--threads", "2"),
    "traces in the viewer": ("view", "examples/goal_dissemination.json", "--no-open"),
}


class Soaked:
    """One kind: its process and the samples of its memory."""

    def __init__(self, name: str, folder: Path):
        self.name, self.samples, self.repetitions = name, [], 0
        self.results, self.message = folder / f"{name}.json", ""
        self.is_viewer = KINDS[name][0] == "view"
        more = () if self.is_viewer else ("--quiet", "--results", str(self.results))
        command, configuration, *settings = KINDS[name]
        self.errors = open(folder / f"{name}.txt", "w+")
        self.process = subprocess.Popen([find_binary(), command, str(ROOT / configuration), *settings, *more], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)
        if self.is_viewer:
            threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Opens a run in the viewer's process and steps it to its end, again and again."""
        address = self.process.stdout.readline().strip()
        try:
            while True:
                ask(address, "api/restart", overrides=[f"simulator.seed={self.repetitions}"])
                while not ask(address, "api/step", cycles=1000)["over"]:
                    pass
                ask(address, "api/run-results")
                self.repetitions += 1
        except OSError as error:  # as expected once the program ends
            self.message = str(error)

    def sample(self) -> None:
        try:
            with open(f"/proc/{self.process.pid}/statm") as file:
                self.samples.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except (FileNotFoundError, IndexError):
            pass  # it has ended: finish() will tell

    def finish(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        expected = 0 if self.is_viewer else 130
        if self.process.returncode != expected:
            self.errors.seek(0)
            raise RuntimeError(f"{self.name}: ended with status {self.process.returncode}, expected {expected}: "
                               f"{self.errors.read().strip()} {self.message}")

    def work(self) -> str:
        if self.is_viewer:
            return f"{self.repetitions} runs"
        simulation = json.loads(self.results.read_text())["simulation"]
        return f"{simulation['cpu_seconds']:.0f} CPU s, {simulation['events']:.3g} events"

    def growth(self) -> tuple[int, int]:
        """The most in warm-up, and how much more there was later."""
        warmup = max(1, len(self.samples) // 10)
        most = max(self.samples[:warmup])
        return most, max(self.samples[warmup:], default=most) - most


def ask(address: str, path: str, **body) -> dict:
    request = urllib.request.Request(address + path, json.dumps(body).encode() if body else None,
                                     {"Content-Type": "application/json"} if body else {})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def write_samples(soaked: list[Soaked], interval: float, folder: Path) -> None:
    with open(folder / "soak.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seconds", *(kind.name for kind in soaked)])
        for i, row in enumerate(zip(*(kind.samples for kind in soaked))):
            writer.writerow([f"{(i + 1) * interval:.0f}", *row])


def draw(soaked: list[Soaked], interval: float, folder: Path) -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for kind in soaked:
        axes.plot([(i + 1) * interval / 60 for i in range(len(kind.samples))], [s / 2**20 for s in kind.samples], label=kind.name)
    axes.set(xlabel="minutes", ylabel="resident memory (MiB)", ylim=(0, None))
    axes.legend(fontsize="small", ncol=2)
    figure.savefig(folder / "soak.svg")


def report(soaked: list[Soaked]) -> bool:
    is_flat = True
    print(f"{'kind':22} {'warm-up KiB':>12} {'more KiB':>9}  work")
    for kind in soaked:
        most, more = kind.growth()
        share, some = BOUND
        grows = more > share * most + some
        is_flat &= not grows
        print(f"{kind.name:22} {most >> 10:12,} {more >> 10:9,}  {kind.work()}{'  GROWS' if grows else ''}")
    return is_flat


def soak(names: list[str], hours: float, folder: Path) -> bool:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # of all that is started here
    interval = hours * 3600 / SAMPLES
    with tempfile.TemporaryDirectory() as scratch:
        soaked = [Soaked(name, Path(scratch)) for name in names]
        try:
            until = time.monotonic()
            for _ in range(SAMPLES):
                until += interval
                time.sleep(max(0.0, until - time.monotonic()))
                for kind in soaked:
                    kind.sample()
            for kind in soaked:
                kind.finish()
        finally:
            for kind in soaked:
                kind.process.kill()
            write_samples(soaked, interval, folder)
        draw(soaked, interval, folder)
        return report(soaked)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description="long runs of every kind, whose memory must not grow")
    parser.add_argument("hours", nargs="?", type=float, default=1, metavar="HOURS", help="1 by default")
    parser.add_argument("names", nargs="*", metavar="KIND", help=f"some of: {', '.join(KINDS)}")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="FOLDER", help="for soak.csv and soak.svg; out by default")
    options = parser.parse_args()
    unknown = set(options.names) - set(KINDS)
    if unknown or not 0 < options.hours <= 1000:
        parser.error(f"no kind is called '{unknown.pop()}'" if unknown else "HOURS is above 0 and at most 1000")
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        return 0 if soak(options.names or list(KINDS), options.hours, options.out) else 1
    except RuntimeError as error:
        print(f"./dev soak: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

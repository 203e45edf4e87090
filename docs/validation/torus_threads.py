#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The ROSS torus paper's scaling study (Tables 3 to 5, Figures 9 to 12) on the threads of one machine, by optimistic runs of the
model `node`, and its Figure 5, whose queues take too long to fill for one core.

    docs/validation/torus_threads.py FILE.csv                        every run, threads 1, 2, 4, 8, 16
    docs/validation/torus_threads.py FILE.csv --seconds 100          begins no run after so many seconds
    docs/validation/torus_threads.py FILE.csv --threads 1,2 --share 0.1 --no-curve     a tenth of the simulated time

A row is a run: what it simulated, and what it measured (efficiency is 1 - rolled back / committed events, as there). Runs of the
same name on other numbers of threads must have the same digest; if not that is said, and the exit status is 1.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("FLITWARP", str(HERE.parents[1] / "build" / "flitwarp"))
COLUMNS = ("study", "sync", "threads", "events", "wall_seconds", "events_per_second", "efficiency", "remote_share",
           "primary_rollbacks", "secondary_rollbacks", "rolled_back", "mean_latency", "max_latency", "accepted_rate", "saturated",
           "digest")
SHORT = {"link_setup": 0, "bandwidth": "6.4GB/s", "processing": "10ns"}  # a hop of 50 ns, which is the lookahead
# widths, packets/ns, ns before what is measured and ns measured, other settings, numbers of threads left out
SCALING = {
    "8^8 at 160, hop 2658": ([8] * 8, 160, 20000, 10000, {}, ()),
    "8^8 at 160, hop 50": ([8] * 8, 160, 2000, 2000, SHORT, ()),
    "8^8 at 4, hop 50": ([8] * 8, 4, 2000, 38000, SHORT, ()),
    "32^6 at 160": ([32] * 6, 160, 15000, 5000, {}, ()),
    "32^6 at 200": ([32] * 6, 200, 15000, 5000, {}, (1, 2)),
    "32^6 at 400": ([32] * 6, 400, 15000, 5000, {}, (1, 2)),
}
CURVE, WIDTHS, CAPACITY = "512^2 at {:g} of capacity", [512] * 2, 512 ** 2 / (128 * 2 / 4 * 2358)  # packets/ns: links are busy
LOADS = (0.02, 0.1, 0.9, 1.05, 0.3, 0.7, 0.5)  # the most telling first
LONGEST = 512 * 2658  # ns that the longest way takes


def run(study, model, sync, threads):
    with tempfile.TemporaryDirectory() as folder:
        config, results = Path(folder) / "config.json", Path(folder) / "results.json"
        config.write_text(json.dumps({"simulator": {"tick": "1ns"}, "model": {"type": "node", **model}}))
        done = subprocess.run([PROGRAM, "run", config, "--quiet", "--results", results, "--sync", sync, "--threads", str(threads)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        found = json.loads(results.read_text())
    simulation, application = found["simulation"], found["applications"][0]
    measured = simulation["sync"]
    return {"study": study, "sync": sync, "threads": threads, "events": simulation["events"],
            "wall_seconds": f"{simulation['wall_seconds']:.3f}",
            "events_per_second": f"{simulation['events'] / simulation['wall_seconds']:.0f}",
            **{key: measured.get(key, "") for key in COLUMNS[6:11]},
            "mean_latency": application["packet_latency"]["mean"], "max_latency": application["packet_latency"]["max"],
            "accepted_rate": application["accepted_rate"], "saturated": application["saturated"], "digest": simulation["digest"]}


def scaling(threads, share):
    """Runs of the study: first those of all threads, then fewer, so that what takes longest comes last."""
    for name, (widths, rate, warmup, sample, settings, without) in SCALING.items():
        model = {"widths": widths, "rate": rate, "warmup": int(share * warmup), "sample": int(share * sample), **settings}
        for count in sorted(threads, reverse=True):
            if count not in without or count == max(threads):
                yield name, model, "optimistic", count


def curve(threads):
    """Queues near saturation fill for longer than the longest way takes."""
    for load in LOADS:
        warmup = min(2.5, 1.2 / (1 - min(load, 0.85))) if load < 1 else 1.2
        yield (CURVE.format(load), {"widths": WIDTHS, "rate": load * CAPACITY, "warmup": int(warmup * LONGEST),
                                    "sample": int(0.2 * LONGEST)}, "conservative", max(threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--share", type=float, default=1, help="of the simulated time of the scaling study")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--no-curve", action="store_true")
    options = parser.parse_args()
    threads = [int(word) for word in options.threads.split(",")]
    begun, digests = time.monotonic(), {}
    with open(options.file, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for what in [*scaling(threads, options.share), *([] if options.no_curve else curve(threads))]:
            if time.monotonic() - begun > options.seconds:
                print(f"out of time: {what[0]}, {what[3]} threads", flush=True)
                continue
            row = run(*what)
            writer.writerow(row)
            file.flush()
            digests.setdefault(row["study"], set()).add((row["digest"], row["events"]))
            print(*(row[key] for key in COLUMNS[:11]), sep=", ", flush=True)
    different = [study for study, found in digests.items() if len(found) > 1]
    if different:
        print("DIFFERENT digests:", *different)
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())

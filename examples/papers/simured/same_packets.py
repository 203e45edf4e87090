#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Section 6 of SimuRed's paper below saturation, with packets made as the original makes them: for the whole network, so many in
each cycle that their number hardly varies, each from any node to any other. They are written to a trace and replayed.

    examples/papers/simured/same_packets.py            means of 3 seeds: about 5 minutes of one core
    examples/papers/simured/same_packets.py --reduced  seconds

Where every terminal makes packets by itself, as in figures_7_to_10_injection_channels.py, their number varies more, which
lengthens queues near saturation. Beside each latency stands what the original measured, where the reference data are at hand.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp.reproduce import Row, table  # noqa: E402
from simured import NETWORKS, ROOT, ROUTINGS, beside, highest, in_cycles, measured, network_of, write_trace  # noqa: E402

POINTS = {("mesh8x8", (1, 2, 4, 8)): (0.1, 0.2, 0.25, 0.3), ("hcube64", (4, 8, 16)): (0.4, 0.8, 0.9, 1.0)}
REDUCED = {("mesh8x8", (1, 4)): (0.2,), ("hcube64", (8,)): (0.8,)}


def latency(network, routing, channels, load, packets, seed=1, warmup=2000):
    """Of packets that arrive after the first ones, as SimuRed counts it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_trace(place / "packets.trc", 64, load, packets + warmup, seed)
        config = {"network": network_of(NETWORKS[network], ROUTINGS[routing], 2, channels, 4),
                  "workload": {"applications": [{"type": "trace", "file": "packets.trc", "format": "simured"}]}}
        (place / "config.json").write_text(json.dumps(config))
        subprocess.run([os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp")), "run", place / "config.json", "--quiet",
                        "--log", place / "packets.csv", "--results", place / "results.json"], check=True)
        with open(place / "packets.csv") as file:
            arrived = sorted((int(row["tail_arrived"]), int(row["injected"])) for row in csv.DictReader(file))[warmup:]
    return in_cycles(sum(end - begin for end, begin in arrived) / len(arrived))


def compare(points, packets, seeds):
    """Within 5 %, and 10 % above 0.85 of the highest load that is carried, where SimuRed's runs differ by as much."""
    rows = measured()
    for (network, counts), loads in points.items():
        for channels in counts:
            for load in loads:
                theirs = rows.get((network, "dor_mesh", channels, load))
                ours = sum(latency(network, "dor_mesh", channels, load, packets, seed) for seed in seeds) / len(seeds)
                most = highest(rows, network, "dor_mesh", channels)
                near = 0.05 if not most or load < 0.85 * most else 0.1
                yield Row(f"{network}, {channels} channels at {load:g}: latency", beside(ours, theirs and theirs[1], 1),
                          f"{theirs[1]:.1f}" if theirs else "", not theirs or abs(ours / theirs[1] - 1) < near)


if __name__ == "__main__":
    found = list(compare(REDUCED, 4000, (1,)) if "--reduced" in sys.argv else compare(POINTS, 20000, (1, 2, 3)))
    print(table(found), end="")
    sys.exit(not all(row.holds for row in found))

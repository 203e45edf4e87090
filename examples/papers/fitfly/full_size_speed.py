#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The four networks of the Fit Fly paper in full: a millisecond of uniform traffic at 30 % of the links' bandwidth, events a CPU
second and memory; and that several threads come to the same result.

    examples/papers/fitfly/full_size_speed.py           1 ms on one thread, 50 us on two: two CPU minutes
    examples/papers/fitfly/full_size_speed.py --full    1 ms in all of them

The paper has an optimistic run of 24 cores about 7 times as fast as one on one core.
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from networks import FOUR, MICROSECOND, overrides, settings  # noqa: E402

WAYS = {"sequential": ("sequential", 1), "conservative, 2 threads": ("conservative", 2),
        "optimistic, 2 threads": ("optimistic", 2)}


def study(windows=(50, 1000), everywhere=False, networks=FOUR):
    """`windows` in microseconds, a tenth of each before what is measured; the longest on one thread unless `everywhere`."""
    chosen = {name: settings(name)["network"] for name in networks}
    sweep = Sweep(settings(networks[0]), "fitfly_speed", title="Networks of 3,000 terminals in full")
    sweep.add_variable("network", "N", {name: name for name in networks}, lambda name: overrides(chosen[name]))
    sweep.add_variable("way", "W", {name: name for name in WAYS},
                       lambda name: {"simulator.sync": WAYS[name][0], "simulator.threads": WAYS[name][1]})
    sweep.add_variable("us", "U", list(windows), lambda us: {
        "workload.applications.0.warmup": us * MICROSECOND // 10,
        "workload.applications.0.sample": us * MICROSECOND - us * MICROSECOND // 10})
    if not everywhere:
        sweep.exclude(lambda values: values["us"] == max(windows) > min(windows) and values["way"] != "sequential")
    sweep.runner["cores_limit"] = 1  # one run at a time: they are timed
    return sweep


def compare(study):
    for network in study.variables["network"]:
        digests = {}
        for run in study.select({"network": network}):
            found = run.results["simulation"]
            digests.setdefault(run.variables["us"], set()).add(found["digest"])
            yield Row(f"{network}, {run.variables['us']} us, {run.variables['way']}: million events, CPU s, million a CPU s, MiB",
                      f"{1e-6 * found['events']:.1f}, {found['cpu_seconds']:.1f}, "
                      f"{1e-6 * found['events'] / found['cpu_seconds']:.2f}, {found['peak_rss_bytes'] >> 20}", "")
        same = all(len(each) == 1 for each in digests.values())
        yield Row(f"{network}: digests", "the same" if same else "different", "the same", same)


if __name__ == "__main__":
    rest = [word for word in sys.argv[1:] if word != "--full"]
    sys.exit(reproduce(study(everywhere="--full" in sys.argv), compare, rest))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tables 3 to 5 of the ROSS torus paper: strong scaling of a torus of a billion nodes (32^6), with their columns: efficiency
(1 - rolled back / committed events), events a second, remote events and secondary rollbacks.

    examples/papers/torus/tables_3_to_5_scaling.py                        as many threads as there are cores, 4 packets/ns
    examples/papers/torus/tables_3_to_5_scaling.py --threads 1,2,4,8,16 --rate 160

The paper ran 160 to 400 packets/ns on 4,096 to 131,072 Blue Gene cores; one machine has fewer, and what can be compared is how
the columns move: efficiency falls and remote events rise with the number of processors.
"""
import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

# Table 5, 160 packets/ns on Blue Gene/P: processors, efficiency, million events/s, remote, secondary rollbacks x 1e-5
PRINTED = ((4096, "99.83 %", 609, "11.71 %", 1.06), (131072, "97.51 %", 12359, "17.22 %", 21.7))


def study(threads=(1, 2), rate=4, widths=(32,) * 6, warmup="100us", sample="20us"):
    base = {"simulator": {"tick": "1ns"},
            "model": {"type": "node", "widths": list(widths), "rate": rate, "warmup": warmup, "sample": sample}}
    sweep = Sweep(base, "torus_scaling", title="Strong scaling of a torus of a billion nodes")
    sweep.add_variable("sync", "M", ["conservative", "optimistic"], "simulator.sync")
    sweep.add_loads(values=list(threads), past=0, name="threads", short="P",
                    override=lambda count: {"simulator.threads": int(count)})
    sweep.runner["cores_limit"] = 1  # one run at a time: they are timed
    sweep.add_figure("load-column", lines="sync", column="simulation.sync.events_per_second", x_label="threads")
    sweep.add_figure("load-column", lines="sync", column="simulation.sync.efficiency", x_label="threads")
    return sweep.add_figure("load-column", lines="sync", column="simulation.sync.remote_share", x_label="threads")


def columns(sync):
    secondary = sync["secondary_rollbacks"] / sync["committed"]
    return (f"{100 * sync['efficiency']:.2f} %, {1e-6 * sync['events_per_second']:.2f}, {100 * sync['remote_share']:.2f} %, "
            f"{1e5 * secondary:.3g}")


def compare(study):
    head = "efficiency, million events/s, remote, secondary rollbacks x 1e-5"
    yield Row(head, "", "")
    for run in study.select():
        sync = run.results["simulation"]["sync"]
        yield Row(f"{sync['type']}, {sync['threads']} threads", columns(sync), "")
    digests = {run.results["simulation"]["digest"] for run in study.select()}
    yield Row("digests", "all the same" if len(digests) == 1 else "DIFFERENT", "")
    for processors, efficiency, events, remote, secondary in PRINTED:
        yield Row(f"{processors:,} Blue Gene/P cores, 160 packets/ns", "", f"{efficiency}, {events:,}, {remote}, {secondary:g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--threads", default=",".join(str(2 ** i) for i in range(os.cpu_count().bit_length())))
    parser.add_argument("--rate", type=float, default=4)
    asked, rest = parser.parse_known_args()
    sys.exit(reproduce(study([int(n) for n in asked.threads.split(",")], asked.rate), compare, rest))

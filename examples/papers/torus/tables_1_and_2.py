#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tables 1 and 2 of Liu, Carothers, Cope, Carns and Ross, "Model and Simulation of Exascale Communication Networks" (ROSS):
latency and packets in flight on tori of 16 million and of a billion nodes.

    examples/papers/torus/tables_1_and_2.py                   about 12 minutes of one core and 1 GiB
    examples/papers/torus/tables_1_and_2.py --light           without the three rows with millions of packets on 64^4, 16^6

The paper averages the latency of all packets since the start. Where its runs were long that is the latency of the
steady state; in Table 2 it is not: 209,686 ns at 0.5 packets/ns would be 104,843 packets by Little's law, and it prints
107,135. Packets that are slow have not arrived when a run ends, and a run of 0.9 ms leaves out as much. All nine are compared with
the steady state; for Table 2 the average since the start is shown besides.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402

# torus: packets/ns, then what is printed (packets waiting, simulated latency), and when our run measures
TABLE_1 = {"8^8 at 4": ([8] * 8, 4, 168201, 42022, "90us", "200us"),
           "8^8 at 5": ([8] * 8, 5, 210240, 42043, "90us", "200us"),
           "16^6 at 40": ([16] * 6, 40, 2531687, 63260, "130us", "40us"),
           "16^6 at 50": ([16] * 6, 50, 3166931, 63306, "130us", "40us"),
           "64^4 at 30": ([64] * 4, 30, 5095405, 169908, "345us", "40us"),
           "64^4 at 40": ([64] * 4, 40, 6805740, 169571, "345us", "40us")}
TABLE_2 = {"8^10 at 2": ([8] * 10, 2, 105505, 52688, "450us", "450us"),
           "32^6 at 0.5": ([32] * 6, 0.5, 64109, 126710, "450us", "450us"),
           "64^5 at 0.5": ([64] * 5, 0.5, 107135, 209686, "450us", "450us")}
ROWS = {**TABLE_1, **TABLE_2}
LIGHT = ("8^8 at 4", "8^8 at 5", *TABLE_2)


def settings(label):
    widths, rate, _, _, warmup, sample = ROWS[label]
    return {"model.widths": widths, "model.rate": rate, "model.warmup": warmup, "model.sample": sample}


def study(rows=tuple(ROWS)):
    base = {"simulator": {"tick": "1ns"}, "model": {"type": "node", "widths": [8, 8]}}
    sweep = Sweep(base, "torus_tables", title="Tori of 16 million and a billion nodes")
    sweep.add_variable("torus", "T", {row: row for row in rows}, settings)
    sweep.add_figure("comparison", column="packet_latency.mean")
    sweep.add_figure("comparison", column="model.packets_in_flight.time_average", log="y")
    return sweep


def shown(ours, printed):
    return f"{ours:,.0f} ({100 * (ours / printed - 1):+.2f} %)"


def compare(study):
    for run in study.select():
        label, results = run.variables["torus"], run.results
        _, _, waiting, printed, _, _ = ROWS[label]
        yield Row(f"{label}: latency, ns", shown(results.value("packet_latency.mean"), printed), f"{printed:,}")
        if label in TABLE_2:
            yield Row(f"{label}: average since the start", shown(results.value("model.from_the_start.mean_latency"), printed), "")
        yield Row(f"{label}: packets in flight", shown(results.value("model.packets_in_flight.time_average"), waiting),
                  f"{waiting:,}")
        yield Row(f"{label}: by Little's law", f"{results.value('model.packets_in_flight.littles_law'):,.0f}", "")
        yield Row(f"{label}: million events, CPU s, MiB",
                  f"{1e-6 * results.value('simulation.events'):,.0f}, {results.value('simulation.cpu_seconds'):.0f}, "
                  f"{results.value('simulation.peak_rss_bytes') / 2 ** 20:.0f}", "")


if __name__ == "__main__":
    rows = LIGHT if "--light" in sys.argv else tuple(ROWS)
    sys.exit(reproduce(study(rows), compare, [word for word in sys.argv[1:] if word != "--light"]))

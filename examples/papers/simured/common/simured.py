# SPDX-License-Identifier: Apache-2.0
"""What the studies of SimuRed's paper share: its network, and what the original program measured on it.

Latencies are SimuRed's: from a packet's head entering its injection buffer to its tail leaving the network, in cycles, less
one. Ours count the cycle of entering.
"""
import collections
import csv
import os
import random
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
MEASURED = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared")) / "reference" / "simured" / "section6.csv"
TICKS = 16  # of a cycle: routers in a row learn within it what is free
NETWORKS = {"mesh8x8": {"type": "mesh", "widths": [8, 8]}, "hcube64": {"type": "hypercube", "dimensions": 6}}
ROUTINGS = {"dor_mesh": "dimension_order", "duato_mesh": "duato"}
FLITS = 32


def original_of(topology, routing="dimension_order", vcs=1, injection=1, ejection=1, buffers=2, physical=False):
    """The network with packets in SimuRed's own order, to the tick: a cycle is a tick."""
    network = network_of(topology, routing, vcs, injection, ejection, ticks=1)
    network["router"].update(order="original", buffer_depth=buffers, physical_channels=physical)
    del network["interface"]["injection_vcs"]
    return network


def network_of(topology, routing="dimension_order", vcs=1, injection=1, ejection=1, ticks=TICKS):
    return {"topology": topology, "routing": routing,
            "router": {"type": "simured", "num_vcs": vcs, "buffer_depth": 2, "lane_free": "behind_tail", "cycle": ticks},
            "channel": {"cycle": ticks}, "terminal_channel": {"cycle": ticks},
            "interface": {"injection_channels": injection, "ejection_channels": ejection, "injection_vcs": 1}}


def measured():
    """{(network, routing, injection channels, offered load): (accepted load, packet latency, in how many runs)}, means."""
    rows = collections.defaultdict(list)
    if MEASURED.exists():
        with open(MEASURED) as file:
            for row in csv.DictReader(file):
                key = row["network"], row["routing"], int(row["injection"]), float(row["offered"])
                rows[key].append((float(row["accepted"]), float(row["mean_packet_latency"])))
    return {key: (sum(a for a, _ in runs) / len(runs), sum(b for _, b in runs) / len(runs), len(runs))
            for key, runs in rows.items()}


def highest(rows, network, routing, injection):
    """The highest load that the original carried: its maximum over the loads offered."""
    return max((row[0] for key, row in rows.items() if key[:3] == (network, routing, injection)), default=None)


def in_cycles(ticks, of_a_cycle=TICKS):
    """SimuRed's latency from ours."""
    return ticks / of_a_cycle - 1


def beside(ours, theirs, digits):
    return f"{ours:.{digits}f}" + (f" ({100 * (ours / theirs - 1):+.1f} %)" if theirs else "")


def write_trace(path, nodes, load, packets, seed, ticks=TICKS):
    """Packets as SimuRed makes them: the same number in every cycle, and one more with the probability that is left."""
    draw = random.Random(seed)
    rate = load * nodes / FLITS
    made = cycle = 0
    with open(path, "w") as file:
        while made < packets:
            for _ in range(min(packets - made, int(rate) + (draw.random() < rate % 1))):
                source = draw.randrange(nodes)
                destination = (source + draw.randrange(1, nodes)) % nodes
                file.write(f"{cycle * ticks} {source} {destination} {FLITS}\n")
                made += 1
            cycle += 1

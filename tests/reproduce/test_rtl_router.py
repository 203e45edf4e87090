# SPDX-License-Identifier: Apache-2.0
"""`input_queued` beside a router in Verilog: the same packets, each head and tail in the same cycle.

The router is Stanford's open-source network-on-chip router (vcr_top: lookahead routing, separable allocation, no speculation),
simulated by Icarus Verilog in a mesh (tests/compare/rtl_mesh.v); docs/rtl.md tells how. What it did is recorded: of each
case their parameters and our settings in rtl_router.json, of each packet when it was created and when its head and tail arrived in
rtl_router.csv.gz. Each case begins with lone packets by all ways through all routers, since their arbiters and ours begin with
another port; then packets are drawn, few, or so many that the network is saturated.
"""
import collections
import csv
import gzip
import json

import pytest

from support import ROOT, config_of, network_of, run_logged

CASES = json.loads((ROOT / "tests/compare/rtl_router.json").read_text())
START = 100  # a trace begins with its first sampled tick


def recorded():
    """By case: its packets."""
    packets = collections.defaultdict(list)
    with gzip.open(ROOT / "tests/compare/rtl_router.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            packets[int(row.pop("case"))].append({key: int(value) for key, value in row.items()})
    return packets


@pytest.fixture(scope="module")
def packets_of():
    return recorded()


def ours(case, packets, folder):
    """When heads and tails arrive here, in the order of the packets."""
    trace = folder / "packets.trc"
    trace.write_text("".join(f"{p['created']} {p['source']} {p['destination']} {p['flits']}\n" for p in packets))
    network = network_of({"type": "mesh", "widths": [case["side"]] * 2}, router=case["router"])
    _, log = run_logged(config_of(network, {"type": "trace", "file": str(trace), "format": "simured"}))
    by_name = {(row["source"], row["packet"]): row for row in log}
    sent = collections.Counter()
    for packet in packets:
        row = by_name[packet["source"], sent[packet["source"]]]
        sent[packet["source"]] += 1
        assert (row["destination"], row["packet_flits"], row["created"]) == (packet["destination"], packet["flits"], packet["created"] + START)
        yield row["head_arrived"] - START, row["tail_arrived"] - START


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_every_flit_arrives_in_the_cycle_of_the_hardware(number, packets_of, tmp_path):
    case, packets = CASES[number], packets_of[number]
    other = [(packet, found) for packet, found in zip(packets, ours(case, packets, tmp_path))
             if found != (packet["head_arrived"], packet["tail_arrived"])]
    if "differs" in case:
        assert other, f"this was known to differ, and does no more: {case['differs']}"
    else:
        assert not other, f"{len(other)} of {len(packets)} differ, first {other[0]}"

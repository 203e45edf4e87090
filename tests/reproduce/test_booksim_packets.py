# SPDX-License-Identifier: Apache-2.0
"""BookSim's router beside ours of that name: the same packets, each head and tail in the same cycle.

BookSim 2's own program, with lines added that print when every packet was created and arrived, drew the packets from an empty network
on, at three quarters of what it carries and above. Recorded are of each case its settings (booksim_packets.json) and of each packet
when it was created and when its head and tail arrived (booksim_packets.csv.gz). Here the settings are imported as any file of BookSim,
and the packets sent as a trace. What BookSim draws at random (pim, ways of equal length) cannot be compared so, and is not among them.
"""
import collections
import csv
import gzip
import json
import re
import subprocess

import pytest

from support import PROGRAM, ROOT, run_logged

CASES = json.loads((ROOT / "tests/compare/booksim_packets.json").read_text())
START = 100  # a trace begins with its first sampled tick


@pytest.fixture(scope="module")
def packets_of():
    packets = collections.defaultdict(list)
    with gzip.open(ROOT / "tests/compare/booksim_packets.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            packets[int(row.pop("case"))].append({key: int(value) for key, value in row.items()})
    return packets


def imported(settings, folder):
    (folder / "peer.cfg").write_text("".join(f"{key} = {value};\n" for key, value in settings.items()))
    subprocess.run([PROGRAM, "import", "peer.cfg", "--from", "booksim", "--strict", "-o", "ours.json"], cwd=folder, check=True, capture_output=True)
    return json.loads(re.sub(r"^\s*//.*$", "", (folder / "ours.json").read_text(), flags=re.M))


def ours(settings, packets, folder):
    """When heads and tails arrive here, in the order of the packets."""
    config = imported(settings, folder)
    trace = folder / "packets.trc"
    trace.write_text("".join(f"{p['created']} {p['source']} {p['destination']} {p['flits']}\n" for p in packets))
    config["workload"]["applications"] = [{"type": "trace", "file": str(trace), "format": "simured"}]
    _, log = run_logged(config)
    by_name = {(row["source"], row["packet"]): row for row in log}
    sent = collections.Counter()
    for packet in packets:
        row = by_name[packet["source"], sent[packet["source"]]]
        sent[packet["source"]] += 1
        assert (row["destination"], row["packet_flits"], row["created"]) == (packet["destination"], packet["flits"], packet["created"] + START)
        yield row["head_arrived"] - START, row["tail_arrived"] - START


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_every_packet_arrives_in_booksim_s_cycle(number, packets_of, tmp_path):
    case, packets = CASES[number], packets_of[number]
    other = [(packet, found) for packet, found in zip(packets, ours(case["settings"], packets, tmp_path))
             if found != (packet["head_arrived"], packet["tail_arrived"])]
    if "differs" in case:
        assert other, f"this was known to differ, and does no more: {case['differs']}"
    else:
        assert not other, f"{len(other)} of {len(packets)} differ, first {other[0]}"


def test_as_many_packets_are_held_beside_booksim_s_as_the_page_says(packets_of):
    exact = [number for number, case in enumerate(CASES) if "differs" not in case]
    words = f"{sum(len(packets_of[number]) for number in exact):,} packets of {len(exact)} runs"
    assert words in (ROOT / "docs/booksim.md").read_text(), words

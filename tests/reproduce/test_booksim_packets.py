# SPDX-License-Identifier: Apache-2.0
"""BookSim's router beside ours of that name: the same packets, each head and tail in the same cycle.

BookSim 2's own program, with lines added that print when every packet was created and arrived, drew the packets from an empty network
on, at three quarters of what it carries and above. Recorded are of each case its settings (booksim_packets.json) and of each packet
when it was created and when its head and tail arrived (booksim_packets.csv.gz). Here the settings are imported as any file of BookSim,
and the packets sent as a trace. What BookSim draws at random (pim, ways of equal length) cannot be compared so, and is not among them.
"""
import json
import re
import subprocess

import pytest

from support import PROGRAM, ROOT, arrivals, assert_same_cycles, packets_by_case

CASES = json.loads((ROOT / "tests/compare/booksim_packets.json").read_text())


@pytest.fixture(scope="module")
def packets_of():
    return packets_by_case(ROOT / "tests/compare/booksim_packets.csv.gz")


def imported(case, folder):
    """The network of a configuration of BookSim."""
    settings = case["settings"]
    for name, words in case.get("files", {}).items():
        (folder / name).write_text(words)
    (folder / "peer.cfg").write_text("".join(f"{key} = {value};\n" for key, value in settings.items()))
    subprocess.run([PROGRAM, "import", "peer.cfg", "--from", "booksim", "--strict", "-o", "ours.json"], cwd=folder, check=True, capture_output=True)
    network = json.loads(re.sub(r"^\s*//.*$", "", (folder / "ours.json").read_text(), flags=re.M))["network"]
    if "files" in case:
        network["topology"]["file"] = str(folder / network["topology"]["file"])
    return network


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_every_packet_arrives_in_booksim_s_cycle(number, packets_of, tmp_path):
    case, packets = CASES[number], packets_of[number]
    assert_same_cycles(case, packets, arrivals(imported(case, tmp_path), packets, tmp_path))


def test_as_many_packets_are_held_beside_booksim_s_as_the_page_says(packets_of):
    exact = [number for number, case in enumerate(CASES) if "differs" not in case]
    words = f"{sum(len(packets_of[number]) for number in exact):,} packets of {len(exact)} runs"
    assert words in (ROOT / "docs/booksim.md").read_text(), words

# SPDX-License-Identifier: Apache-2.0
"""`input_queued` beside a router in Verilog: the same packets, each head and tail in the same cycle.

The router is Stanford's open-source network-on-chip router (vcr_top: lookahead routing, separable allocation, no speculation),
simulated by Icarus Verilog in a mesh (tests/compare/rtl_mesh.v); docs/rtl.md tells how. What it did is recorded: of each
case their parameters and our settings in rtl_router.json, of each packet when it was created and when its head and tail arrived in
rtl_router.csv.gz. Each case begins with lone packets by all ways through all routers, since their arbiters and ours begin with
another port; then packets are drawn, few, or so many that the network is saturated.
"""
import json

import pytest

from support import ROOT, arrivals, assert_same_cycles, network_of, packets_by_case

CASES = json.loads((ROOT / "tests/compare/rtl_router.json").read_text())


@pytest.fixture(scope="module")
def packets_of():
    return packets_by_case(ROOT / "tests/compare/rtl_router.csv.gz")


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_every_flit_arrives_in_the_cycle_of_the_hardware(number, packets_of, tmp_path):
    case, packets = CASES[number], packets_of[number]
    network = network_of({"type": "mesh", "widths": [case["side"]] * 2}, router=case["router"])
    assert_same_cycles(case, packets, arrivals(network, packets, tmp_path))

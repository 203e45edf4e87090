# SPDX-License-Identifier: Apache-2.0
"""`flitwarp import`: BookSim's, SimuRed's and SuperSim's configurations as ours, and what is said of the rest.

Everything that is written must pass `flitwarp check`.
"""
import functools
import json
import os
import random
import re
import subprocess

import pytest

from support import BOOKSIM, BOOKSIM_TABLES, PROGRAM, ROOT, booksim_rows, from_booksim, run_all

ASAN = os.environ.get("FLITWARP_ASAN", "")
PROGRAMS = [PROGRAM] + ([ASAN] if ASAN and os.access(ASAN, os.X_OK) else [])


def flitwarp(*arguments, cwd=None, status=0, program=PROGRAM):
    ended = subprocess.run([program, *map(str, arguments)], cwd=cwd, capture_output=True, timeout=60, check=False)
    ended.stdout, ended.stderr = ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


def plain(text):
    """Our writer's comments have lines of their own."""
    return json.loads("\n".join(line for line in text.splitlines() if not line.strip().startswith("//")))


def at(config, path):
    for step in path.split("."):
        config = config[int(step)] if isinstance(config, list) else config[step]
    return config


class Imported:
    def __init__(self, folder, text, name, *arguments, checked=0):
        (folder / name).write_text(text)
        ended = flitwarp("import", name, *arguments, "-o", "result.json", cwd=folder)
        self.text = (folder / "result.json").read_text()
        self.config = plain(self.text)
        lines = ended.stderr.splitlines()
        assert all(line.endswith((" [decisive]", " [harmless]")) for line in lines[:-1])
        decisive = sum(line.endswith(" [decisive]") for line in lines)
        self.notes = [line.rpartition(" [")[0] for line in lines[:-1]]
        self.decisive = [line.removesuffix(" [decisive]") for line in lines[:-1] if line.endswith(" [decisive]")]
        assert not lines or lines[-1] == f"{len(lines) - 1} setting{'s' * (len(lines) != 2)} not carried over, {decisive} of them decisive"
        flitwarp("check", "result.json", cwd=folder, status=checked)

    def __getitem__(self, path):
        return at(self.config, path)

    def note(self, words):
        found = [note for note in self.notes if words in note]
        assert found, f"no '{words}' in {self.notes}"
        return found[0]


@pytest.fixture
def booksim(tmp_path):
    (tmp_path / "net").write_text("router 0 node 0 router 1\nrouter 1 node 1\n")
    return lambda text, *arguments, **more: Imported(tmp_path, text, "a.cfg", *arguments, **more)


# ---- BookSim ---------------------------------------------------------------------------------------------------


def test_what_a_file_leaves_out_has_booksim_s_default(booksim):
    imported = booksim("routing_function = dim_order;")
    assert imported.config == {
        "simulator": {"seed": 0},
        "network": {
            "topology": {"type": "torus", "widths": [8, 8]},
            "routing": {"type": "ring_halves"},
            "router": {"type": "booksim", "num_vcs": 16, "buffer_depth": 8, "routing_latency": 1, "credit_latency": 0,
                       "input_speedup": 1, "output_speedup": 1, "crossbar_latency": 1, "steps": 1, "priority": "none",
                       "vc_allocator": {"type": "islip", "iterations": 1},
                       "allocator": {"type": "islip", "iterations": 1}},
            "channel": {"latency": 2}, "terminal_channel": {"latency": 1},
            "interface": {"type": "booksim"}},
        "workload": {"applications": [
            {"type": "blast", "load": 0.1, "traffic": {"type": "uniform_random", "self": True},
             "size": {"type": "fixed", "flits": 1}, "injection": "bernoulli", "warmup": 3000, "sample": 7000,
             "wait_when_saturated": True}]}}
    assert imported.notes == []


@pytest.mark.parametrize("name", BOOKSIM_TABLES if BOOKSIM.is_dir() else [])
def test_reference_files_become_the_settings_of_the_reproduction(name, tmp_path):
    ended = flitwarp("import", BOOKSIM / f"{name}.cfg", "-o", tmp_path / "a.json")
    assert [line.split(": ")[1] for line in ended.stderr.splitlines()[:-1]] == ["latency_thres = 1000.0"]
    ours = json.loads(flitwarp("settings", tmp_path / "a.json").stdout)["config"]
    (tmp_path / "b.json").write_text(json.dumps(from_booksim(name, 0.1)))
    theirs = json.loads(flitwarp("settings", tmp_path / "b.json").stdout)["config"]
    for setting in ("finish_limit", "wait_when_saturated"):  # the reproduction's windows are shorter
        theirs["workload"]["applications"][0][setting] = ours["workload"]["applications"][0][setting]
    assert ours == theirs


@pytest.mark.parametrize("name", BOOKSIM_TABLES if BOOKSIM.is_dir() else [])
def test_reference_files_give_their_tables(name, tmp_path):
    # The tolerance is that of tests/reproduce/test_booksim.py.
    flitwarp("import", BOOKSIM / f"{name}.cfg", "-o", tmp_path / "a.json")
    config = plain((tmp_path / "a.json").read_text())
    rows = [row for row in booksim_rows(name) if row["stable"]][:3]
    loaded = []
    for row in rows:
        copy = json.loads(json.dumps(config))
        copy["workload"]["applications"][0]["load"] = row["offered"]
        loaded.append(copy)
    for row, results in zip(rows, run_all(loaded)):
        mean = results["applications"][0]["packet_latency"]["mean"]
        assert mean == pytest.approx(row["packet_latency"], rel=0.03), row["offered"]


TOPOLOGIES = [
    ("topology = mesh; k = 4; n = 3;", {"type": "mesh", "widths": [4, 4, 4]}, "dimension_order"),
    ("topology = torus; k = 5; n = 1;", {"type": "torus", "widths": [5]}, "ring_halves"),
    ("topology = cmesh; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2;",
     {"type": "express_mesh", "width": 4, "concentration": 4}, "express_order"),
    ("topology = fly; k = 2; n = 4;", {"type": "butterfly", "radix": 2, "stages": 4}, "destination_tag"),
    ("topology = qtree; k = 4; n = 3;", {"type": "folded_clos", "down": [4, 4, 4], "up": [1, 1]}, "up_down"),
    ("topology = tree4; k = 4; n = 3;", {"type": "folded_clos", "down": [4, 4, 4], "up": [2, 4], "joined": 2}, "up_down"),
    ("topology = fattree; k = 4; n = 3;", {"type": "folded_clos", "down": [4, 4, 4], "up": [4, 4]}, "up_down"),
    ("topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2;",
     {"type": "hyperx", "widths": [4, 4], "concentration": 4}, "dimension_order"),
    ("topology = dragonflynew; k = 2; n = 1;",
     {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2, "groups": 9}, "dragonfly_phases"),
    ("topology = anynet; network_file = net;", {"type": "file", "file": "net", "one_way": True}, "least_latency"),
    ("topology = single; in_ports = 6; out_ports = 6;", {"type": "single_router", "terminals": 6}, "minimal"),
]


@pytest.mark.parametrize("text,topology,routing", TOPOLOGIES, ids=[text.split(";")[0] for text, _, _ in TOPOLOGIES])
def test_topologies_of_booksim(booksim, text, topology, routing):
    imported = booksim(text)
    assert imported["network.topology"] == topology
    assert imported["network.routing.type"] == routing
    assert "the file names no routing_function" in imported.text
    assert imported.notes == []


FLATFLY_UGAL = {"mode": "port_total", "intermediate": "unaligned", "straight_vcs": "second", "bias": 2}
ROUTINGS = [
    ("mesh", "dor", "dimension_order", {}), ("mesh", "dim_order", "dimension_order", {}),
    ("mesh", "xy_yx", "o1turn", {}), ("mesh", "min_adapt", "one_way_escape", {"dimensions": "first"}),
    ("mesh", "valiant", "valiant", {"own_router": True, "joins_legs": True}), ("mesh", "romm", "valiant", {"intermediate": "between"}),
    ("mesh", "planar_adapt", "planar_adaptive", {"dimensions": "first"}),
    ("torus", "dim_order", "ring_halves", {}), ("torus", "dim_order_bal", "ring_halves", {"halves": "by_lot"}),
    ("torus", "min_adapt", "ring_halves", {"adaptive_vc": 3}),
    ("torus", "valiant", "valiant", {"own_router": True, "dateline": "by_wrap"}),
    ("mesh", "adaptive_xy_yx", "o1turn", {"choice": "adaptive"}),
    ("fattree", "nca", "up_down", {"selection": "random"}), ("fattree", "anca", "up_down", {"selection": "of_two"}),
    ("tree4", "anca", "up_down", {"selection": "first"}), ("qtree", "nca", "up_down", {"selection": "random"}),
    ("flatfly", "ran_min", "dimension_order", {}), ("flatfly", "xyyx", "o1turn", {}), ("flatfly", "valiant", "valiant", {"passes_by": False}),
    ("flatfly", "adaptive_xyyx", "o1turn", {"choice": "adaptive"}), ("flatfly", "ugal", "ugal", FLATFLY_UGAL),
    ("flatfly", "ugal_xyyx", "ugal", {**FLATFLY_UGAL, "order": "either"}),
    ("cmesh", "dor", "express_order", {"first": "x"}), ("cmesh", "dor_no_express", "dimension_order", {}),
    ("cmesh", "xy_yx", "express_order", {"first": "either", "from": 2}), ("cmesh", "xy_yx_no_express", "o1turn", {}),
    ("dragonflynew", "min", "dragonfly_phases", {}),
    ("dragonflynew", "ugal", "dragonfly_phases", {"detours": True, "factor": 2, "bias": 30}),
    ("fly", "dest_tag", "destination_tag", {}),
]


@pytest.mark.parametrize("topology,function,ours,options", ROUTINGS)
def test_routing_functions_of_booksim(booksim, topology, function, ours, options):
    n = {"dragonflynew": 1, "qtree": 3, "tree4": 3}.get(topology, 2)
    more = "c = 4; x = 4; y = 4; xr = 2; yr = 2;" if topology in ("cmesh", "flatfly") else ""
    more += "num_vcs = 3;" if topology == "dragonflynew" else ""
    imported = booksim(f"topology = {topology}; k = 4; n = {n}; routing_function = {function}; {more}",
                       checked=2 if {"detours", "joins_legs"} & set(options) else 0)  # it may deadlock, there as here
    assert imported["network.routing"] == {"type": ours, **options}
    assert not [note for note in imported.notes if "routing_function" in note]


@pytest.mark.parametrize("topology,function,ours", [
    ("mesh", "romm_ni", "valiant"), ("mesh", "dim_order_ni", "dimension_order"),
    ("mesh", "chaos", "minimal"), ("flatfly", "ugal_pni", "ugal"),
    ("torus", "nonsense", "minimal")])
def test_routing_functions_that_are_not_the_same_are_said_so(booksim, topology, function, ours):
    imported = booksim(f"topology = {topology}; routing_function = {function};")
    assert imported["network.routing.type"] == ours
    assert ours in imported.note(f"routing_function = {function}").split("nearest: ")[1]


def test_a_chip_has_lengths_and_numbers_of_its_own(booksim):
    text = "topology = flatfly; k = 4; c = 4; x = 4; y = 4; xr = 2; yr = 2; routing_function = ran_min; use_noc_latency = %d;"
    chip = {"row": 4, "tile": [2, 2]}
    imported = booksim(text % 1)
    assert imported["network.channel"] == {"chip": chip, "latency": 1}
    assert imported["workload.applications.0.allocation"] == {"type": "tiles", **chip}
    imported = booksim(text % 0)
    assert imported["network.channel"] == {"latency": 1} and imported["workload.applications.0.allocation.type"] == "tiles"


def test_a_dragonfly_has_its_own_latencies_whatever_is_said(booksim):
    for noc in 0, 1:
        imported = booksim(f"topology = dragonflynew; k = 2; n = 1; num_vcs = 3; routing_function = ugal; use_noc_latency = {noc};", checked=2)
        assert imported["network.channel"] == {"latencies": [10, 100]} and imported["network.interface.vc_order"] == "random"


@pytest.mark.parametrize("line, words", [
    ("node 0 5", "for one of a channel to the router"), ("router 1 router 1 2", "lists twice"),
    (" ".join(f"router {other}" for other in range(1, 200)) + " router 7", "lists twice"),  # more than 256 words
    ("router 1  # as node 1 2 of another", "BookSim knows no comments"), ("# of any kind", "BookSim knows no comments"),
])
def test_what_booksim_reads_otherwise_in_a_network_file_is_said(booksim, tmp_path, line, words):
    (tmp_path / "net").write_text(f"router 0 {line}\nrouter 0 node 0\n" + "".join(f"router {i} node {i} router 0\n" for i in range(1, 200)))
    assert words in booksim("topology = anynet; network_file = net; routing_function = min;").note("network_file")


def test_a_network_file_is_judged_to_its_end(booksim, tmp_path):
    (tmp_path / "net").write_bytes(b"router 0 node 0 node 1\n\0\nrouter 0 router 1 # 5\nrouter 1 node 2 node 3\n")
    text = "topology = anynet; network_file = net; routing_function = min;"
    assert "knows no comments" in booksim(text, checked=1).note("network_file")  # the NUL itself is refused by all that reads networks


def test_a_network_file_that_both_read_alike_is_not_noted(booksim, tmp_path):
    (tmp_path / "net").write_text("router 0 node 0 router 1 5\nrouter 1 node 1 router 0 3\n")
    assert booksim("topology = anynet; network_file = net; routing_function = min;").notes == []


VALUES = [
    ("num_vcs = 4;", "network.router.num_vcs", 4),
    ("vc_buf_size = 5;", "network.router.buffer_depth", 5),
    ("num_vcs = 4; buf_size = 32;", "network.router.buffer_depth", 8),
    ("routing_delay = 0;", "network.router.routing_latency", 0),
    ("st_prepare_delay = 1; st_final_delay = 2;", "network.router.crossbar_latency", 3),
    ("credit_delay = 2;", "network.router.credit_latency", 2),
    ("input_speedup = 2;", "network.router.input_speedup", 2),
    ("output_speedup = 2;", "network.router.output_speedup", 2),
    ("hold_switch_for_packet = 1;", "network.router.holds_switch", True),
    ("vc_busy_when_full = 1;", "network.router.vc_needs_credit", True),
    ("vc_allocator = pim(3);", "network.router.vc_allocator", {"type": "pim", "iterations": 3, "draw": "place"}),
    ("sw_allocator = max_size;", "network.router.allocator", {"type": "maximum_size", "paths": "shortest"}),
    ("sw_allocator = wavefront;", "network.router.allocator", {"type": "wavefront"}),
    ("sw_allocator = rr_wavefront;", "network.router.allocator", {"type": "wavefront", "first": "behind_served"}),
    ("sw_allocator = loa;", "network.router.allocator", {"type": "lonely_output"}),
    ("vc_allocator = select(2);", "network.router.vc_allocator", {"type": "standing_offers", "iterations": 2}),
    ("sw_allocator = separable_input_first(matrix);", "network.router.allocator",
     {"type": "separable_input_first", "input_arbiter": "least_recently_served", "output_arbiter": "least_recently_served"}),
    ("wait_for_tail_credit = 1;", "network.router.vc_freed", "when_empty"),
    ("vc_prioritize_empty = 1;", "network.router.empty_vcs_first", True),
    ("vc_shuffle_requests = 1;", "network.router.shuffled", True),
    ("noq = 1; routing_delay = 0;", "network.router.vcs_by_next_output", True),
    ("output_buffer_size = 3;", "network.router.output_depth", 3),
    ("speculative = 1;", "network.router.speculation", "on_credit"),
    ("speculative = 1; spec_check_cred = 0;", "network.router.speculation", "on_vc"),
    ("speculative = 1; spec_check_cred = 0; spec_check_elig = 0;", "network.router.speculation", "always"),
    ("internal_speedup = 1.5;", "network.router.steps", 1.5),
    ("buffer_policy = shared; buf_size = 64; private_buf_size = 2;", "network.router.buffer_exclusive", 2),
    ("buffer_policy = limited; private_buf_size = 2; max_held_slots = 9;", "network.router.buffer_maximum", 9),
    ("priority = class; classes = 2; class_priority = {0,3};", "network.router.class_priority", [0, 3]),
    ("priority = hop_count;", "network.router.priority", "hops"),
    ("classes = 2;", "network.interface.classes", 2),
    ("use_noc_latency = 0;", "network.channel.latency", 1),
    ("seed = 42;", "simulator.seed", 42),
    ("warmup_periods = 5; sample_period = 200; max_samples = 15; stopping_thres = 0;",
     "workload.applications.0.sample", 2000),
    ("warmup_periods = 5; sample_period = 200;", "workload.applications.0.warmup", 1000),
    ("warmup_periods = 9; max_samples = 4;", "workload.applications.0.sample", 1000),
    ("injection_rate = 0.05; packet_size = 4;", "workload.applications.0.load", 0.2),
    ("injection_rate = 0.05; packet_size = 4; injection_rate_uses_flits = 1;", "workload.applications.0.load", 0.05),
    ("const_flits_per_packet = 4;", "workload.applications.0.size", {"type": "fixed", "flits": 4}),
    ("packet_size = {{1,5}}; packet_size_rate = {{3,1}};", "workload.applications.0.size",
     {"type": "mix", "sizes": [1, 5], "weights": [3, 1]}),
    ("packet_size = {{1,5}}; packet_size_rate = {{3,1}}; injection_rate = 0.1;", "workload.applications.0.load", 0.2),
    ("injection_process = on_off; burst_alpha = 0.1; burst_beta = 0.25; burst_r1 = 0.8;",
     "workload.applications.0.injection", {"type": "on_off", "burst": 4, "on_rate": 0.8}),
    ("injection_process = on_off; burst_alpha = 0.2; burst_beta = 0.05; injection_rate = 0.9;",
     "workload.applications.0.load", 0.8),
    ("injection_process = on_off(0.5,0.5); injection_rate = 0.2;", "workload.applications.0.injection",
     {"type": "on_off", "burst": 2, "on_rate": 0.4}),
    ("use_read_write = 1; read_reply_size = 5; write_request_size = 5; write_fraction = 0.25;",
     "workload.applications.0.size", {"type": "read_write", "reads": 0.75, "read_request": 1, "write_request": 5,
                                      "read_reply": 5, "write_reply": 1}),
    ("use_read_write = 1; read_reply_size = 5; write_request_size = 5; injection_rate = 0.1;",
     "workload.applications.0.load", 0.30000000000000004),
    ("sim_type = batch; batch_size = 20; batch_count = 3;", "workload.applications.0.messages", 60),
]


@pytest.mark.parametrize("text,path,value", VALUES)
def test_settings_of_booksim(booksim, text, path, value):
    imported = booksim("topology = torus; routing_function = dim_order; " + text)
    assert imported[path] == pytest.approx(value) if isinstance(value, float) else imported[path] == value
    keys = [setting.split("=")[0].strip() for setting in text.split(";")[:-1]]
    assert not [note for note in imported.notes for key in keys if f": {key} = " in note and key not in ("sim_type", "use_read_write")]


TRAFFIC = [
    ("uniform", {"type": "uniform_random", "self": True}), ("bitcomp", {"type": "bit_complement"}),
    ("transpose", {"type": "transpose"}), ("bitrev", {"type": "bit_reverse"}), ("shuffle", {"type": "shuffle"}),
    ("tornado", {"type": "tornado"}),
    ("neighbor; k = 3", {"type": "listed", "destinations": [4, 5, 3, 7, 8, 6, 1, 2, 0]}),
    ("asymmetric; k = 2", {"type": "mix", "patterns": [{"type": "listed", "destinations": [0, 1, 0, 1]},
                                                       {"type": "listed", "destinations": [2, 3, 2, 3]}]}),
    ("hotspot(5)", {"type": "hotspot", "self": True, "terminals": [5]}),
    ("hotspot({{0, 7},\n{3,1}})", {"type": "hotspot", "self": True, "terminals": [0, 7], "weights": [3, 1]}),
    # BookSim reads the items of the first list: one node, one rate.
    ("hotspot({3,1},{4,4})", {"type": "hotspot", "self": True, "terminals": [3], "weights": [1]}),
    ("hotspot({{{5}}})", None),
    ("diagonal", {"type": "mix", "patterns": ["loopback", "neighbor"], "weights": [2, 1]}),
    ("bad_dragon; topology = dragonflynew; k = 2; n = 1; routing_function = min",
     {"type": "adversarial", "group": 8}),
]


@pytest.mark.parametrize("theirs,ours", TRAFFIC)
def test_traffic_of_booksim(booksim, tmp_path, theirs, ours):
    text = f"{'' if 'routing' in theirs else 'routing_function = dim_order; '}traffic = {theirs};"
    if ours is None:
        (tmp_path / "a.cfg").write_text(text)
        assert "a.cfg:1:41: traffic: found '{5}', expected a whole number from 0" in flitwarp(
            "import", "a.cfg", cwd=tmp_path, status=1).stderr
        return
    imported = booksim(text)
    assert imported["workload.applications.0.traffic"] == ours and imported.notes == []


@pytest.mark.parametrize("theirs,ours", [
    ("background({1,2})", "uniform_random"), ("badperm_yarc", "random_permutation"), ("nonsense", "uniform_random")])
def test_traffic_that_is_not_the_same_is_said_so(booksim, theirs, ours):
    imported = booksim(f"routing_function = dim_order; traffic = {theirs};")
    assert imported["workload.applications.0.traffic.type"] == ours
    assert imported.note(f"traffic = {theirs}").endswith("nearest: " + ours)


PARTNERS = {0: [2, 8, 6, 1, 0, 11, 4, 5, 3, 14, 10, 7, 15, 12, 9, 13], 5: [1, 7, 2, 0, 6, 8, 3, 4, 15, 11, 12, 9, 5, 14, 10, 13]}


def test_partners_that_are_drawn_are_those_that_booksim_draws(booksim):
    # Printed by BookSim's own generator for perm_seed 0 and 5, of 16 nodes.
    for seed, partners in PARTNERS.items():
        imported = booksim(f"topology = mesh; k = 4; routing_function = dor; traffic = randperm; perm_seed = {seed};")
        assert imported["workload.applications.0.traffic"] == {"type": "listed", "destinations": partners}
        assert imported.notes == []


def test_partners_of_many_nodes_are_drawn_in_time(tmp_path):
    """Of a million: to close the gap that each of them leaves takes minutes."""
    (tmp_path / "a.cfg").write_text("topology = mesh; k = 1024; routing_function = dor; traffic = randperm; perm_seed = 5;")
    flitwarp("import", "a.cfg", "-o", "a.json", cwd=tmp_path)
    destinations = plain((tmp_path / "a.json").read_text())["workload"]["applications"][0]["traffic"]["destinations"]
    assert sorted(destinations) == list(range(1024 * 1024)) != destinations


def test_requests_and_replies_with_halves_of_the_vcs_are_protocol_classes(booksim):
    halves = "".join(f"{kind}_{word}_{end}_vc = {vc};" for kind in ("read", "write")
                     for word, end, vc in (("request", "begin", 0), ("request", "end", 7), ("reply", "begin", 8), ("reply", "end", 15)))
    imported = booksim("routing_function = dim_order; use_read_write = 1;" + halves)
    assert imported["network.protocol_classes"] == 2 and imported["network.interface.answers"] == 1
    assert imported["workload.applications.0.reply_protocol_class"] == 1 and imported.notes == []
    assert "half of the VCs" in booksim("routing_function = dim_order; use_read_write = 1;").decisive[0]
    assert "numbers a packet when it begins to leave" in booksim("routing_function = dim_order; use_read_write = 1; priority = sequence;"
                                                                 + halves).decisive[0]
    dragonfly = booksim("topology = dragonflynew; k = 2; n = 1; routing_function = min; use_read_write = 1;" + halves)
    assert dragonfly["network.routing"] == {"type": "dragonfly_phases", "shared_vcs": True}


def test_classes_are_applications(booksim):
    imported = booksim("classes = 3; traffic = {uniform,hotspot({{0,1}}),tornado}; injection_rate = {0.1,0.2};"
                       "packet_size = {1,{2,4},4}; packet_size_rate = {1,{1,3},1};")
    applications = imported["workload.applications"]
    assert [application["name"] for application in applications] == ["class_0", "class_1", "class_2"]
    assert [application["load"] for application in applications] == [0.1, pytest.approx(0.7), 0.8]
    assert applications[1]["traffic"] == {"type": "hotspot", "self": True, "terminals": [0, 1]}
    assert applications[1]["size"] == {"type": "mix", "sizes": [2, 4], "weights": [1, 3]}
    assert applications[2]["size"] == {"type": "fixed", "flits": 4}


def test_a_load_beyond_a_terminal_s_channel_is_said(booksim):
    imported = booksim("routing_function = dim_order; packet_size = 8;\ninjection_rate = 0.3;")
    assert imported["workload.applications.0.load"] == 1 and imported.notes == [
        "a.cfg:2:18: injection_rate = 0.3: 2.4 flits a cycle are more than a terminal can send; nearest: load 1"]


@pytest.mark.parametrize("text,ours,words", [
    ("topology = mesh; traffic = bad_dragon;", "uniform_random", "next group of a dragonfly")])
def test_patterns_off_their_topology_are_said_so(booksim, text, ours, words):
    imported = booksim(text)
    assert imported["workload.applications.0.traffic.type"] == ours
    assert imported.note(words).endswith("nearest: " + ours)


def test_a_flat_list_of_sizes_is_one_for_each_class(booksim):
    imported = booksim("packet_size = {1,5};")
    assert imported["workload.applications.0.size"] == {"type": "fixed", "flits": 1}
    assert "{{1,5}} are two sizes of one class" in imported.note("packet_size = {1,5}")


LISTED = [
    ("channel_file = lengths;", "network.channel.cable.plan"), ("subnets = 2;", "network.planes.count"),
    ("link_failures = 1;", ""), ("channel_width = 64;", "flit_bytes"),
    ("express_channels = 1;", ""), ("limit = 16;", "allocation"), ("output_delay = 1;", ""), ("spec_mask_by_reqs = 1;", ""), ("sw_alloc_delay = 2;", ""),
    ("arb_type = matrix;", "islip(2)"), ("alloc_iters = 2;", "islip(2)"),
    ("router = chaos;", "booksim"), ("sw_allocator = prio;", "islip"),
    ("vc_priority_donation = 1;", ""), ("read_request_end_vc = 3;", "network.protocol_classes"),
    ("read_reply_subnet = 1;", "by_class"), ("max_outstanding_requests = 4;", ""),
    ("latency_thres = 100;", "saturated"), ("stopping_thres = 0.01;", "sample auto"), ("warmup_thres = 0.1;", "auto"),
    ("sim_count = 5;", "sweep"), ("include_queuing = 0;", "network_latency"), ("measure_stats = 0;", "sample 0"),
    ("print_activity = 1;", "results"), ("viewer_trace = 1;", "trace"), ("watch_file = w;", "trace"),
    ("stats_out = s;", "results"), ("sim_power = 1;", ""), ("sim_type = throughput;", "accepted_load"),
    ("sim_type = other;", "blast"), ("injection_process = other;", "bernoulli"), ("seed = time;", "simulator.seed"),
    ("burst_alpha = 0.1;", ""), ("in_ports = 3;", ""), ("vct = 1;", "virtual_cut_through"),
]


@pytest.mark.parametrize("text,nearest", LISTED)
def test_what_is_not_carried_over_is_listed(booksim, text, nearest):
    imported = booksim("routing_function = dim_order;\n" + text)
    key, value = text.split(";")[0].split(" = ")
    note = imported.note(f"{key} = {value}: ")
    assert note.startswith("a.cfg:2:") and nearest in note
    assert f"//   {note}" in imported.text


def test_what_comes_nearest_is_there():
    """Every setting of ours that a table of the importers names is one that the program knows."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "src/import").glob("*.c")))
    named = set(re.findall(r'"((?:network|workload|simulator)\.[a-z_.\[\]]+)(?: [^"]*)?"', sources))
    theirs = set(re.findall(r'(?:\{|#define \w+ )"([^"]*)"', sources))
    keys = set(re.findall(r'"(\w+)": ?\{', flitwarp("schema").stdout))
    unknown = {path for path in named for step in path.replace("[]", "").split(".") if step and step not in keys}
    assert len(named) > 40 and {path for path in unknown if not any(path in keys for keys in theirs)} == set()


@pytest.mark.parametrize("text,words", [
    ("vc_bufsize = 4;", "no setting of BookSim that is known here (did you mean 'vc_buf_size'?)"),
    ("my_own_thing = 4;", "no setting of BookSim that is known here"),
    ("k = 8; k = 4;", "k = 8: set again in line 1"),
    ("topology = mesh; c = 4;", "c = 4: has no effect beside the other settings"),
])
def test_nothing_is_dropped_in_silence(booksim, text, words):
    assert words in booksim(text).note(words)


def test_strict_writes_nothing_when_anything_is_lost(tmp_path):
    (tmp_path / "a.cfg").write_text("routing_function = dim_order;\nvc_priority_donation = 1;\n")
    ended = flitwarp("import", "a.cfg", "--strict", "-o", "a.json", cwd=tmp_path, status=1)
    assert ended.stderr.splitlines()[-1] == "1 setting not carried over, 1 of them decisive; nothing is written"
    assert not (tmp_path / "a.json").exists()
    (tmp_path / "a.cfg").write_text("routing_function = dim_order;")
    flitwarp("import", "a.cfg", "--strict", "-o", "a.json", cwd=tmp_path)
    assert (tmp_path / "a.json").exists()


def test_files_are_named_as_seen_from_the_result(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "net").write_text("router 0 node 0\n")
    (tmp_path / "in" / "a.cfg").write_text("topology = anynet; network_file = net;")
    flitwarp("import", "in/a.cfg", "-o", "in/a.json", cwd=tmp_path)
    assert plain((tmp_path / "in" / "a.json").read_text())["network"]["topology"]["file"] == "net"
    flitwarp("import", "in/a.cfg", "-o", "out/a.json", cwd=tmp_path)
    assert plain((tmp_path / "out" / "a.json").read_text())["network"]["topology"]["file"] == str(tmp_path / "in" / "net")


BROKEN = [
    ("k = ;", "a.cfg:1:5: found ';', expected a value"),
    ("k = 8", "a.cfg:1:6: found the end of the file, expected ';' after the value of 'k'"),
    ("k 8;", "a.cfg:1:1: found 'k', expected '{' (a configuration of SuperSim), 'key = value;' (of BookSim), 'KEY value' (of SimuRed) or 'vendid=' (of ibnetdiscover)"),
    ("n = 2;\nk 8;", "a.cfg:2:3: found '8', expected '=' after the name 'k'"),
    ("k = 8\nn = 2;", "a.cfg:2:1: found 'n', expected ';' after the value of 'k'"),
    ("k = 8;\n  8 = k;", "a.cfg:2:3: found '8', expected the name of a setting"),
    ("k = 8;\ntraffic = hotspot({0,1;", "found the end of the file, expected the bracket that closes the list"),
    ("k = 8;\ntraffic = };", "a.cfg:2:11: found '}' in a value"),
    ("k = 8;\nx = \"abc", "expected '\"' at the end of the text"),
    ("k = 8=9;", "a.cfg:1:6: found '=' in a value"),
    ("k = eight;", "a.cfg:1:5: k: found 'eight', expected a whole number from 1 to 65536"),
    ("k = 1.5;", "a.cfg:1:5: k: found '1.5', expected a whole number from 1 to 65536"),
    ("k = -3;", "a.cfg:1:5: k: found '-3', expected a whole number"),
    ("k = nan;", "a.cfg:1:5: k: found 'nan', expected a whole number"),
    ("topology = ring;", "a.cfg:1:12: topology: found 'ring', expected one of: mesh, torus, cmesh"),
    ("num_vcs = 65;", "a.cfg:1:11: num_vcs: found '65', expected a whole number from 1 to 64"),
    ("input_speedup = 0;", "a.cfg:1:17: input_speedup: found '0', expected a whole number from 1 to 64"),
    ("packet_size = {{1,2.5}};", "a.cfg:1:15: packet_size: found '2.5', expected a whole number from 1"),
    ("packet_size = 0;", "a.cfg:1:15: packet_size: found '0', expected a whole number from 1"),
    ("injection_rate = -1;", "a.cfg:1:18: injection_rate: found '-1', expected a number from 0"),
    ("use_read_write = 1; write_fraction = 1.5;", "write_fraction: found '1.5', expected a number from 0 to 1"),
    ("traffic = hotspot({{1,2},{1}});", "a.cfg:1:11: traffic: found 1 rates for 2 nodes, expected one each"),
    ("k = 1;", "a.cfg, as ours: network.topology.widths[0]: 1 is below 2"),
    ("topology = anynet;", "anynet needs a network_file"),
    ("k = 8192; traffic = neighbor;", "67108864 nodes, each with a destination of its own; accepted: up to 16777216"),
    ("topology = flatfly; k = 4; c = 4;", "c = 4 nodes of a router are no square of xr = 1 by yr = 1"),
    ("topology = flatfly; k = 4; x = 4; y = 1;", "x = 4 and y = 1 differ, which BookSim refuses"),
    ("topology = flatfly; k = 4; x = 8; y = 8;", "x = 8 by y = 8 are not the 16 routers that there are"),
    ("topology = cmesh; k = 8;", "cmesh with n = 2 and c = 1, BookSim's has n = 2 and c = 4"),
    ("topology = cmesh; k = 8; c = 4; xr = 2; yr = 2; routing_function = xy_yx;", "lead past the goal for ever"),
    ("topology = qtree; k = 2; n = 3;", "k = 2 and n = 3, BookSim's has k = 4 and n = 3"),
    ("topology = dragonflynew; k = 2; n = 2;", "dragonflynew has n = 1"),
    ("topology = dragonflynew; k = 2; n = 1; routing_function = ugal; num_vcs = 4;", "ugal on dragonflynew has 3 VCs"),
    ("classes = 2; traffic = {};", "found an empty list, expected a value for each class"),
    ("", "a.cfg:1:1: found the end, expected '{'"),
    ("// nothing\n", "a.cfg:2:1: found the end, expected '{'"),
    ("<xml/>", "a.cfg:1:1: found '<', expected '{'"),
]


@pytest.mark.parametrize("text,message", BROKEN)
@pytest.mark.parametrize("program", PROGRAMS)
def test_wrong_files_are_refused_with_their_place(tmp_path, text, message, program):
    (tmp_path / "a.cfg").write_text(text)
    ended = flitwarp("import", "a.cfg", "-o", "a.json", cwd=tmp_path, status=1, program=program)
    assert message in ended.stderr and not (tmp_path / "a.json").exists()


def test_an_error_is_said_once(tmp_path):
    (tmp_path / "a.cfg").write_text("num_vcs = 100; k = eight;")
    errors = flitwarp("import", "a.cfg", cwd=tmp_path, status=1).stderr.splitlines()
    assert len(errors) == 2 and len(set(errors)) == 2


def test_halves_that_share_a_vc_are_named(tmp_path):
    """With an odd number of VCs BookSim's two halves overlap by one, ours do not."""
    for text, is_said in (("topology = mesh; routing_function = xy_yx; num_vcs = 3;", True),
                          ("topology = mesh; routing_function = xy_yx; num_vcs = 4;", False),
                          ("topology = mesh; routing_function = dor; num_vcs = 3;", False),
                          ("topology = torus; routing_function = dim_order; num_vcs = 5;", True)):
        (tmp_path / "a.cfg").write_text(text)
        ended = flitwarp("import", "a.cfg", "--strict", "-o", "a.json", cwd=tmp_path, status=1 if is_said else 0)
        assert ("share one VC" in ended.stderr) == is_said


# ---- SuperSim --------------------------------------------------------------------------------------------------

ALLOCATOR = {"type": "rc_separable", "slip_latch": True, "iterations": 2, "resource_arbiter": {"type": "lslp"},
             "client_arbiter": {"type": "lslp"}}
ONE_SIDED = {"type": "r_separable", "slip_latch": True, "resource_arbiter": {"type": "lru"}}
SIZE = {"type": "single", "message_size": 4}


def blast_of(traffic=None, size=None, **more):
    return {"type": "blast", "warmup_threshold": 0.9, "kill_on_saturation": False, "log_during_saturation": False,
            "blast_terminal": {"request_protocol_class": 0, "request_injection_rate": 0.25, "enable_responses": False,
                               "warmup_interval": 200, "warmup_window": 15, "warmup_attempts": 20,
                               "num_transactions": 100, "max_packet_size": 16, "transaction_size": 1,
                               "traffic_pattern": traffic or {"type": "uniform_random", "send_to_self": True},
                               "message_size_distribution": size or SIZE, **more},
            "rate_log": {"file": None}}


def supersim_config(topology=None, routing=None, router=None, application=None, channels=None, simulator=None, **more):
    """A whole configuration; parts replace or add keys."""
    return {
        "simulator": {"channel_cycle_time": 1, "router_cycle_time": 1, "interface_cycle_time": 1,
                      "terminal_cycle_time": 1, "random_seed": 12345678, "info_log": {"file": None}, **(simulator or {})},
        "network": {
            **(topology or {"topology": "torus", "dimension_widths": [4, 4], "dimension_weights": [1, 1],
                            "concentration": 1, "interface_ports": 1}),
            "protocol_classes": [{"num_vcs": 4, "routing": {
                **(routing or {"algorithm": "dimension_order"}), "latency": 1}}],
            **(channels or {"internal_channel": {"latency": 5}}), "external_channel": {"latency": 2},
            "channel_log": {"file": None}, "traffic_log": {"file": None},
            "router": {"architecture": "input_queued", "input_queue_mode": "fixed", "input_queue_depth": 32,
                       "vca_swa_wait": True, "store_and_forward": False, "crossbar": {"latency": 3},
                       "vc_scheduler": {"allocator": ALLOCATOR},
                       "crossbar_scheduler": {"allocator": ONE_SIDED, "full_packet": False, "packet_lock": False,
                                              "idle_unlock": False}, **(router or {})},
            "interface": {"type": "standard", "init_credits_mode": "$&(/network/router/input_queue_mode)&$",
                          "init_credits": "$&(network.router.input_queue_depth)&$", "crossbar": {"latency": 1}}},
        "metadata_handler": {"type": "zero"},
        "workload": {"message_log": {"file": None}, "applications": [application or blast_of()]},
        "debug": [], **more}


@pytest.fixture
def supersim(tmp_path):
    (tmp_path / "m.csv").write_text("\n".join([",".join(["1"] * 16)] * 16))
    return lambda *arguments, checked=0, **parts: Imported(tmp_path, json.dumps(supersim_config(**parts), indent=1), "a.json",
                                                           *arguments, checked=checked)


def test_channels_of_several_lengths_of_supersim(supersim):
    imported = supersim(topology=DRAGONFLY, routing={"algorithm": "minimal"},
                        channels={"local_channel": {"latency": 5}, "global_channel": {"latency": 50}})
    assert imported["network.channel"] == {"cycle": 1, "latencies": [5, 50]}


def test_a_whole_configuration_of_supersim(supersim):
    imported = supersim()
    assert imported.config == {
        "simulator": {"seed": 12345678},
        "network": {
            "topology": {"type": "torus", "widths": [4, 4], "concentration": 1},
            "routing": {"type": "dimension_order", "dateline": "from_wrap"},
            "router": {"type": "staged", "routing_latency": 1, "num_vcs": 4, "buffer_depth": 32, "cycle": 1,
                       "waits_for_exit": True, "stores_packet": False, "crossbar_latency": 3, "room": "flit", "lock": "none",
                       "vc_allocator": {"type": "separable_output_first", "iterations": 2, "input_arbiter": "round_robin",
                                        "output_arbiter": "round_robin"},
                       "allocator": {"type": "separable_output_first", "iterations": 1,
                                     "input_arbiter": "least_recently_served",
                                     "output_arbiter": "least_recently_served"}},
            "channel": {"latency": 5, "cycle": 1}, "terminal_channel": {"latency": 2, "cycle": 1},
            "interface": {"type": "queue_per_vc", "latency": 2, "room": "flit", "lock": "none", "arbiter": "round_robin",
                          "choice": "random", "per_message": False}},
        "workload": {"applications": [
            {"type": "blast", "load": 0.25, "max_packet": 16, "traffic": {"type": "uniform_random", "self": True},
             "gap_by_size": True, "injection": {"type": "periodic", "rounding": "random"}, "size": {"type": "fixed", "flits": 4},
             "warmup": "auto", "sample": 1600,
             "wait_when_saturated": True, "messages_per_transaction": 1}]}}
    assert all("warmup_" in note for note in imported.notes) and len(imported.notes) == 4


def test_what_is_imported_from_supersim_runs(supersim, tmp_path):
    supersim(application=blast_of(enable_responses=True, request_processing_latency=5, response_protocol_class=0))
    results = json.loads(flitwarp("run", "result.json", "--quiet", cwd=tmp_path).stdout)
    assert results["complete"] and results["applications"][0]["transaction_latency"]["mean"] > 50


SUPERSIM_TOPOLOGIES = [
    ({"topology": "mesh", "dimension_widths": [4, 3], "dimension_weights": [1, 2], "concentration": 2,
      "interface_ports": 1}, "dimension_order", {"type": "mesh", "widths": [4, 3], "concentration": 2, "channels": [1, 2]}),
    ({"topology": "torus", "dimension_widths": [4], "concentration": 4, "interface_ports": 2}, "dimension_order",
     {"type": "torus", "widths": [4], "concentration": 2}),
    ({"topology": "hyperx", "dimension_widths": [3, 4], "dimension_weights": [2, 1], "concentration": 2,
      "interface_ports": 1}, "dimension_order", {"type": "hyperx", "widths": [3, 4], "concentration": 2, "channels": [2, 1]}),
    ({"topology": "fat_tree", "down_up": [[4, 3], [3, 5], [5]], "interface_ports": 1}, "common_ancestor",
     {"type": "folded_clos", "down": [4, 3, 5], "up": [3, 5]}),
    ({"topology": "dragonfly", "global_width": 9, "global_weight": 1, "local_width": 4, "local_weight": 1,
      "concentration": 2, "interface_ports": 1}, "minimal",
     {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2, "groups": 9, "arrangement": "relative"}),
    ({"topology": "butterfly", "radix": 4, "stages": 3, "interface_ports": 1}, "dest_tag",
     {"type": "butterfly", "radix": 4, "stages": 3}),
    ({"topology": "parking_lot", "routers": 6, "concentration": 2, "interface_ports": 1}, "exit_lot",
     {"type": "parking_lot", "stops": 6, "concentration": 2}),
    ({"topology": "single_router", "concentration": 8, "interface_ports": 1}, "direct",
     {"type": "single_router", "terminals": 8}),
]


@pytest.mark.parametrize("theirs,algorithm,ours", SUPERSIM_TOPOLOGIES, ids=lambda part: str(part)[14:30])
def test_topologies_of_supersim(supersim, theirs, algorithm, ours):
    imported = supersim(topology=theirs, routing={"algorithm": algorithm})
    assert imported["network.topology"] == ours
    if theirs.get("interface_ports") == 2:
        assert imported["network.interface.injection_channels"] == imported["network.interface.ejection_channels"] == 2
    assert all("warmup_" in note for note in imported.notes)


def test_interfaces_alone_are_joined_by_a_router(supersim):
    imported = supersim(topology={"topology": "interface_only", "num_interfaces": 2}, routing={"algorithm": "direct"})
    assert imported["network.topology"] == {"type": "single_router", "terminals": 2}
    imported.note("num_interfaces = 2: ")


HYPERX = {"topology": "hyperx", "dimension_widths": [4, 4], "concentration": 2, "interface_ports": 1}
DRAGONFLY = {"topology": "dragonfly", "global_width": 9, "local_width": 4, "concentration": 2, "interface_ports": 1}
TREE = {"topology": "fat_tree", "down_up": [[4, 4], [4]], "interface_ports": 1}
SUPERSIM_ROUTINGS = [
    (None, {"algorithm": "valiants"}, "valiant"), (HYPERX, {"algorithm": "dimension_order"}, "dimension_order"),
    (HYPERX, {"algorithm": "minimal"}, "minimal_adaptive"), (HYPERX, {"algorithm": "valiants"}, "valiant"),
    (HYPERX, {"algorithm": "ugal"}, "ugal"), (HYPERX, {"algorithm": "dal", "adaptivity_type": "variable"}, "omniwar"),
    (HYPERX, {"algorithm": "dal"}, "dal"), (HYPERX, {"algorithm": "least_congested_queue"}, "least_congested_queue"),
    (HYPERX, {"algorithm": "skipping_dimensions"}, "skipping_dimensions"), (DRAGONFLY, {"algorithm": "minimal"}, "dragonfly_minimal"),
    (DRAGONFLY, {"algorithm": "valiants"}, "valiant"),
    (DRAGONFLY, {"algorithm": "adaptive"}, "dragonfly_adaptive"),
]


@pytest.mark.parametrize("topology,routing,ours", SUPERSIM_ROUTINGS)
def test_routing_of_supersim(supersim, topology, routing, ours):
    imported = supersim(topology=topology, routing=routing)
    assert imported["network.routing.type"] == ours and imported["network.router.routing_latency"] == 1
    assert all("warmup_" in note for note in imported.notes)


@pytest.mark.parametrize("routing,selection", [
    ({"selection": "flow_hash"}, "hash"), ({"selection": "flow_cache"}, "hash"),
    ({"selection": "all", "reduction": {"algorithm": "all_minimal"}}, "adaptive"),
    ({"selection": "all", "reduction": {"algorithm": "least_congested_minimal"}}, "adaptive")])
def test_ways_up_a_tree(supersim, routing, selection):
    imported = supersim(topology=TREE, routing={"algorithm": "common_ancestor", **routing})
    assert imported["network.routing.type"] == "up_down" and imported["network.routing.selection"] == selection
    assert ("reduced" in imported["network.routing"]) == ("reduction" in routing)


def test_routing_that_is_not_there_is_said_so(supersim):
    imported = supersim(routing={"algorithm": "nonsense"})
    assert imported["network.routing.type"] == "minimal"
    assert imported.note("algorithm = nonsense").endswith("nearest: minimal")


LEAST_CONGESTED = {"algorithm": "least_congested_queue", "minimal": "dimension_order", "output_type": "port",
                   "max_outputs": 1, "output_algorithm": "random", "short_cut": True}
SKIPPING = {"algorithm": "skipping_dimensions", "num_rounds": 2, "step": 0.25, "skipping_algorithm": "dimension_adaptive",
            "finishing_algorithm": "dimension_adaptive", "decision_scheme": "monolithic_weighted", "bias_mode": "regular",
            "independent_bias": 0.5, "congestion_bias": 0.125, "hop_count_mode": "absolute", "output_type": "vc",
            "max_outputs": 3, "output_algorithm": "random"}


@pytest.mark.parametrize("routing,ours", [
    (LEAST_CONGESTED, {"type": "least_congested_queue", "finish": "dimension_order", "mode": "offered_sum",
                       "reduction": {"type": "least_congested", "max_outputs": 1}}),
    ({**LEAST_CONGESTED, "minimal": "adaptive", "output_type": "vc", "max_outputs": 0},
     {"type": "least_congested_queue", "finish": "adaptive", "mode": "vc",
      "reduction": {"type": "least_congested", "max_outputs": 0}}),
    (SKIPPING, {"type": "skipping_dimensions", "rounds": 2, "step": 0.25, "deroutes": True, "mode": "vc", "reduction": {
        "type": "weighted", "congestion_bias": 0.125, "independent_bias": 0.5, "max_outputs": 3}}),
    ({**SKIPPING, "num_rounds": 4, "skipping_algorithm": "dimension_order", "finishing_algorithm": "dimension_order"},
     {"type": "skipping_dimensions", "rounds": 4, "step": 0.25, "deroutes": False, "mode": "vc", "reduction": {
         "type": "weighted", "congestion_bias": 0.125, "independent_bias": 0.5, "max_outputs": 3}})])
def test_adaptive_routing_of_a_hyperx_with_its_settings(supersim, routing, ours):
    imported = supersim(topology=HYPERX, routing=routing)
    assert imported["network.routing"] == ours and other_notes(imported) == []


@pytest.mark.parametrize("routing,words", [
    ({**LEAST_CONGESTED, "short_cut": False}, "short_cut = false: "),
    ({**LEAST_CONGESTED, "minimal": "random"}, "minimal = random: "),
    ({**LEAST_CONGESTED, "output_algorithm": "minimal"}, "output_algorithm = minimal: "),
    ({**SKIPPING, "finishing_algorithm": "dimension_order"},
     "finishing_algorithm = dimension_order: all rounds deroute or none; nearest: dimension_adaptive"),
    ({**SKIPPING, "decision_scheme": "staged_threshold"}, "decision_scheme = staged_threshold: "),
    ({**SKIPPING, "hop_count_mode": "normalized"}, "hop_count_mode = normalized: ")])
def test_what_adaptive_routing_of_a_hyperx_lacks_is_listed(supersim, routing, words):
    imported = supersim(topology=HYPERX, routing=routing)
    assert [words in note for note in other_notes(imported)] == [True]


@pytest.mark.parametrize("theirs,ours", [(True, "together"), (False, "second")])
@pytest.mark.parametrize("output,detour_vcs,mode", [("vc", "by_leg", "vc"), ("port", "first", "offered_sum")])
def test_vcs_of_packets_that_go_straight_or_not(supersim, theirs, ours, output, detour_vcs, mode):
    imported = supersim(topology=HYPERX, routing={"algorithm": "ugal", "min_all_vc_sets": theirs, "output_type": output},
                        checked=2 if output == "port" else 0)  # it may deadlock, there as here
    assert imported["network.routing"] == {"type": "ugal", "straight_vcs": ours, "by_destination": False, "detour_vcs": detour_vcs,
                                           "mode": mode} and other_notes(imported) == []


WEIGHTED = {"algorithm": "weighted", "max_outputs": 1, "congestion_bias": 0.1, "independent_bias": 0.5,
            "non_minimal_weight_func": "regular"}


@pytest.mark.parametrize("progressive,node", [(True, False), (False, True), (False, False)])
def test_adaptive_routing_of_a_dragonfly(supersim, progressive, node):
    imported = supersim(topology=DRAGONFLY, routing={"algorithm": "adaptive", "progressive_adaptive": progressive, "valiant_node": node,
                                                     "mode": "port_ave", "reduction": WEIGHTED})
    assert imported["network.routing"] == {
        "type": "dragonfly_adaptive", "mode": "port_average", "by_router": node, "progressive": progressive,
        "reduction": {"type": "weighted", "congestion_bias": 0.1, "independent_bias": 0.5, "max_outputs": 1}}
    assert other_notes(imported) == []


def test_several_outputs_of_a_dragonfly_are_decisive(supersim):
    imported = supersim(topology=DRAGONFLY, routing={"algorithm": "adaptive", "progressive_adaptive": False, "valiant_node": False,
                                                     "mode": "vc", "reduction": {**WEIGHTED, "max_outputs": 2}})
    assert imported["network.routing.reduction.max_outputs"] == 1
    assert "max_outputs = 2: one output is offered; nearest: 1" in imported.note("max_outputs")


def test_clocks_become_ticks(supersim):
    imported = supersim(simulator={"channel_cycle_time": 4, "router_cycle_time": 2, "interface_cycle_time": 3,
                                   "terminal_cycle_time": 2},
                        application=blast_of(enable_responses=True, request_processing_latency=5))
    assert imported["network.channel"] == {"latency": 20, "cycle": 4}
    assert imported["network.terminal_channel"] == {"latency": 8, "cycle": 4}
    assert imported["network.router.cycle"] == 2 and imported["network.interface.latency"] == 2
    application = imported["workload.applications.0"]
    assert application["load"] == 0.5  # 0.25 flits every 2 ticks
    assert application["reply_delay"] == 10 and application["sample"] == 100 * 4 * 8


def with_classes(*classes, **parts):
    """A configuration whose protocol classes are as the usual one, each with changes."""
    config = supersim_config(**parts)
    usual = config["network"]["protocol_classes"][0]
    config["network"]["protocol_classes"] = [
        {**usual, **changes, "routing": {**usual["routing"], **changes.get("routing", {})}} for changes in classes]
    return config


@pytest.fixture
def classed(tmp_path):
    return lambda *classes, **parts: Imported(tmp_path, json.dumps(with_classes(*classes, **parts), indent=1), "a.json")


def other_notes(imported):
    return [note.split(": ", 1)[1] for note in imported.notes if "warmup_" not in note]


def test_protocol_classes_are_carried_over(classed, tmp_path):
    imported = classed({}, {}, application=blast_of(enable_responses=True, request_protocol_class=1,
                                                    response_protocol_class=0))
    assert imported["network.protocol_classes"] == 2 and imported["network.router.num_vcs"] == 8
    application = imported["workload.applications.0"]
    assert (application["protocol_class"], application["reply_protocol_class"]) == (1, 0)
    assert other_notes(imported) == []
    results = json.loads(flitwarp("run", "result.json", "--quiet", cwd=tmp_path).stdout)
    assert results["complete"] and results["applications"][0]["transaction_latency"]["mean"] > 50


def test_a_single_protocol_class_needs_no_word(supersim):
    imported = supersim()
    assert "protocol_class" not in imported.text


def test_protocol_classes_of_unequal_vcs_become_one(classed):
    imported = classed({}, {"num_vcs": 2}, {}, application=blast_of(
        enable_responses=True, request_protocol_class=0, response_protocol_class=2))
    assert imported["network.router.num_vcs"] == 10 and "protocol_classes" not in imported["network"]
    assert "protocol_class" not in json.dumps(imported["workload"])
    assert other_notes(imported) == [
        "network.protocol_classes[1].num_vcs = 2: protocol classes have equal shares of the VCs, and the first has 4; "
        "nearest: one class of all 10 VCs",
        "workload.applications[0].blast_terminal.response_protocol_class = 2: packets of all protocol classes share the "
        "VCs; nearest: network.router.num_vcs"]


def test_protocol_classes_are_routed_as_the_first(classed):
    usual = {"algorithm": "valiants", "reduction": {"algorithm": "all_minimal"}, "mode": "vc"}
    imported = classed({"routing": usual}, {"routing": {**usual, "algorithm": "dimension_order"}},
                       {"routing": {**usual, "latency": 3, "reduction": {"algorithm": "weighted"}}})
    assert imported["network.protocol_classes"] == 3 and imported["network.routing.type"] == "valiant"
    assert imported["network.router.routing_latency"] == 1
    differences = [note for note in other_notes(imported) if "routed as" in note]
    assert differences == [
        "network.protocol_classes[1].routing.algorithm = dimension_order: all protocol classes are routed as the first; "
        "nearest: valiants",
        "network.protocol_classes[2].routing.latency = 3: all protocol classes are routed as the first; nearest: 1",
        "network.protocol_classes[2].routing.reduction.algorithm = weighted: all protocol classes are routed as the first; "
        "nearest: all_minimal"]


def test_a_setting_that_one_class_lacks_is_said(tmp_path):
    config = with_classes({"routing": {"mode": "vc"}}, {})
    imported = Imported(tmp_path, json.dumps(config), "a.json")
    imported.note("network.protocol_classes[0].routing.mode = vc: protocol class 1 has no such setting, but is routed as")


def test_protocol_classes_by_reference_are_the_same(tmp_path):
    config = supersim_config()
    config["network"]["protocol_classes"].append("$&(/network/protocol_classes/0)&$")
    imported = Imported(tmp_path, json.dumps(config), "a.json")
    assert imported["network.protocol_classes"] == 2 and other_notes(imported) == []


def test_injection_of_a_class_is_listed_where_it_chooses(classed):
    usual = {"algorithm": "common", "adaptive": False, "fixed_msg_vc": False}
    imported = classed({"injection": usual}, {"injection": {**usual, "adaptive": True}})
    assert [note.split(": ")[0] for note in other_notes(imported)] == [
        "network.protocol_classes[1].injection.adaptive = true"]


@pytest.mark.parametrize("architecture", ["input_queued", "input_output_queued"])
@pytest.mark.parametrize("flags,room,lock", [
    ((False, False, False), "flit", "none"), ((True, True, False), "packet", "packet"), ((True, True, True), "packet", "until_idle"),
    ((False, True, True), "flit", "until_idle"), ((False, True, False), "flit", "packet"), ((True, False, False), "packet", "none")])
def test_crossbar_schedulers(supersim, flags, room, lock, architecture):
    scheduler = {"allocator": ONE_SIDED, **dict(zip(("full_packet", "packet_lock", "idle_unlock"), flags))}
    imported = supersim(router={"architecture": architecture, "output_queue_depth": 16, "crossbar_scheduler": scheduler})
    ours = imported["network.router"]
    assert ours["room"] == room
    if architecture == "input_queued":
        assert ours["lock"] == lock and "allocator" in ours
    else:  # an output of the crossbar is one packet's queue: neither has an effect
        assert "lock" not in ours and "allocator" not in ours
    assert all("warmup_" in note for note in imported.notes)


@pytest.mark.parametrize("allocator,ours", [
    ({**ALLOCATOR, "iterations": 1}, {"type": "islip", "iterations": 1}),
    (ALLOCATOR, {"type": "separable_output_first", "iterations": 2, "input_arbiter": "round_robin",
                 "output_arbiter": "round_robin"}),
    ({**ALLOCATOR, "type": "cr_separable"}, {"type": "separable_input_first", "iterations": 2,
                                             "input_arbiter": "round_robin", "output_arbiter": "round_robin"}),
    ({**ALLOCATOR, "client_arbiter": {"type": "random"}}, {"type": "separable_output_first", "iterations": 2,
                                                           "input_arbiter": "random", "output_arbiter": "round_robin"}),
    ({**ALLOCATOR, "resource_arbiter": {"type": "random_priority"}}, {
        "type": "separable_output_first", "iterations": 2, "input_arbiter": "round_robin",
        "output_arbiter": "random_priority"}),
    ({"type": "wavefront", "scheme": "sequential"}, {"type": "wavefront"})])
def test_allocators(supersim, allocator, ours):
    imported = supersim(router={"vc_scheduler": {"allocator": allocator}})
    assert imported["network.router.vc_allocator"] == ours
    assert all("warmup_" in note for note in imported.notes)


@pytest.mark.parametrize("handler,arbiter,words", [
    ("creation_timestamp", "age", None), ("zero", "round_robin", "all the same"),
    ("local_timestamp", "age", "not the age of a packet")])
def test_arbiters_that_compare_metadata(supersim, handler, arbiter, words):
    allocator = {"type": "r_separable", "slip_latch": True, "resource_arbiter": {"type": "comparing", "greater": False}}
    imported = supersim(router={"crossbar_scheduler": {"allocator": allocator}}, metadata_handler={"type": handler})
    assert imported["network.router.allocator"]["output_arbiter"] == arbiter
    if words:
        imported.note(words)


DUAL = {"type": "dual_stage_class", "classes": 3, "class_map": [0, 2, 0, 1], "metadata_func": "min",
        "stage1_arbiter": {"type": "comparing", "greater": False}, "stage2_arbiter": {"type": "lru"}}


@pytest.mark.parametrize("architecture", ["input_queued", "output_queued", "input_output_queued"])
def test_arbiters_of_two_stages(supersim, architecture):
    scheduler = {"allocator": {**ONE_SIDED, "resource_arbiter": DUAL}}
    imported = supersim(router={"architecture": architecture, "crossbar_scheduler": scheduler,
                                "output_crossbar_scheduler": scheduler},
                        metadata_handler={"type": "creation_timestamp"})
    ours = {"type": "dual_stage_class", "class_map": [0, 2, 0, 1], "class_arbiter": "age",
            "input_arbiter": "least_recently_served"}
    if architecture == "output_queued":
        assert imported["network.router.arbiter"] == ours
    elif architecture == "input_queued":  # with output queues its crossbar has nothing to decide
        assert imported["network.router.allocator"] == {"type": "separable_output_first", "iterations": 1,
                                                        "input_arbiter": ours, "output_arbiter": ours}
    if architecture == "input_output_queued":
        assert "allocator" not in imported["network.router"] and imported["network.router.output_arbiter"] == ours
    assert not [note for note in imported.notes if "stage" in note or "class" in note or "metadata" in note]


@pytest.mark.parametrize("first,is_said", [({"type": "comparing", "greater": False}, True), ({"type": "lslp"}, False)])
def test_the_age_of_a_class_matters_where_ages_are_compared(supersim, first, is_said):
    scheduler = {"allocator": {**ONE_SIDED, "resource_arbiter": {**DUAL, "metadata_func": "max", "stage1_arbiter": first}}}
    imported = supersim(router={"crossbar_scheduler": scheduler}, metadata_handler={"type": "creation_timestamp"})
    assert [note.split(": ", 1)[1] for note in other_notes(imported)] == is_said * [
        "a class is as old as its oldest packet; nearest: min"]


def tailored(depth=2.5, least=4, most=64, **more):
    return {"input_queue_mode": "tailored", "input_queue_depth": depth, "input_queue_min": least, "input_queue_max": most,
            **more}


def buffers(imported):
    return [imported["network.router." + key] for key in ("buffer_per_latency", "buffer_min", "buffer_depth")]


@pytest.mark.parametrize("architecture", ["input_queued", "output_queued", "input_output_queued"])
def test_queues_tailored_to_channels(supersim, architecture):
    imported = supersim(router=tailored(architecture=architecture))
    assert buffers(imported) == [2.5, 4, 64]
    assert not [note for note in imported.notes if "credits" in note or "input_queue" in note]


def test_tailored_queues_without_a_least_or_beyond_our_most(supersim):
    imported = supersim(router=tailored(2, 0, 1000000))
    assert buffers(imported) == [2, 1, 32768]
    imported.note("input_queue_max = 1000000: a buffer holds 32768 flits at most")


@pytest.mark.parametrize("router", [
    {"store_and_forward": True}, {"crossbar_scheduler": {"allocator": ONE_SIDED, "full_packet": True, "packet_lock": True}}])
def test_whole_packets_fit_the_queue_of_the_shortest_channel(supersim, router):
    imported = supersim(router=tailored(10, 1, 64, **router))  # 16 flits behind channels of 2 and of 5 cycles
    assert buffers(imported) == [10, 20, 64] and "that of the shortest channel" in imported.text


def test_tailored_queues_look_at_no_crossbar_of_an_output_queued_router(supersim):
    imported = supersim(router=tailored(architecture="output_queued", crossbar_scheduler={"full_packet": 1}))
    imported.note("an output-queued router has none")


def test_credits_of_an_interface_other_than_its_router_s_buffers_are_said(tmp_path):
    config = supersim_config(router=tailored())
    config["network"]["interface"].update(credits_min=4, credits_max=32)
    imported = Imported(tmp_path, json.dumps(config), "a.json")
    assert [note.split(": ")[0] for note in other_notes(imported)] == ["network.interface.credits_max = 32"]


SENSOR = {"algorithm": "buffer_occupancy", "latency": 1, "granularity": 0, "minimum": 0.0, "offset": 0.5,
          "mode": "absolute_port"}


@pytest.mark.parametrize("architecture", ["input_queued", "output_queued", "input_output_queued"])
def test_router_architectures(supersim, architecture):
    router = {"architecture": architecture, "congestion_sensor": SENSOR, "congestion_mode": "downstream",
              "output_queue_depth": 16, "transfer_latency": 7,
              "output_crossbar": {"latency": 1}, "output_crossbar_scheduler": {"allocator": ONE_SIDED}}
    imported = supersim(router=router)
    ours = imported["network.router"]
    assert ours["type"] == ("staged_output" if architecture == "output_queued" else "staged")
    assert ours["num_vcs"] == 4 and ours["buffer_depth"] == 32
    assert ours.get("output_depth") == (None if architecture == "input_queued" else 17)  # and what is next on the channel
    assert ours.get("output_latency") == (None if architecture == "input_queued" else 2)
    assert ours.get("transfer_latency") == (7 if architecture == "output_queued" else None)
    assert ours.get("crossbar_latency") == (None if architecture == "output_queued" else 3)
    assert ours.get("output_arbiter") == ("least_recently_served" if architecture == "input_output_queued" else None)
    assert ours.get("arbiter") == ("least_recently_served" if architecture == "output_queued" else None)
    assert architecture == "input_queued" or not [note for note in imported.notes if "output_crossbar" in note]
    assert ours["congestion"] == {"type": "buffer_occupancy", "accounting": "downstream", "per": "port",
                                  "normalised": False, "latency": 1, "granularity": 0, "minimum": 0, "offset": 0.5}


@pytest.mark.parametrize("flags,room,hold", [((False, False, False), "flit", "flit"), ((False, True, True), "flit", "packet"),
                                             ((True, True, False), "packet", "packet")])
def test_what_an_output_sends_before_others_may(supersim, flags, room, hold):
    scheduler = {"allocator": ONE_SIDED, **dict(zip(("full_packet", "packet_lock", "idle_unlock"), flags))}
    imported = supersim(router={"architecture": "input_output_queued", "output_crossbar_scheduler": scheduler, "output_queue_depth": 16})
    assert imported["network.router.output_room"] == room and imported["network.router.output_hold"] == hold
    assert other_notes(imported) == []


def test_an_output_that_is_never_unlocked_is_said_so(supersim):
    scheduler = {"allocator": ONE_SIDED, "full_packet": False, "packet_lock": True, "idle_unlock": False}
    imported = supersim(router={"architecture": "input_output_queued", "output_crossbar_scheduler": scheduler, "output_queue_depth": 16})
    assert imported.note("packet_lock = true: ").endswith("output_hold packet")


@pytest.mark.parametrize("adaptive,fixed", [(False, True), (True, False)])
def test_queues_of_an_interface(supersim, tmp_path, adaptive, fixed):
    config = supersim_config()
    config["network"]["protocol_classes"][0]["injection"] = {"algorithm": "common", "adaptive": adaptive, "fixed_msg_vc": fixed}
    config["network"]["interface"]["crossbar_scheduler"] = {"allocator": ONE_SIDED, "full_packet": True, "packet_lock": True,
                                                            "idle_unlock": False}
    imported = Imported(tmp_path, json.dumps(config), "a.json")
    ours = imported["network.interface"]
    assert ours["choice"] == ("shortest" if adaptive else "random") and ours["per_message"] is fixed
    assert ours["room"] == "packet" and ours["lock"] == "packet" and ours["arbiter"] == "least_recently_served"


@pytest.mark.parametrize("mode,per,is_normalised", [
    ("normalized_min", "lesser", True), ("normalized_max", "greater", True), ("absolute_min", "lesser", False),
    ("absolute_max", "greater", False), ("normalized_vc", "vc", True)])
def test_what_a_sensor_tells_of_a_vc(supersim, mode, per, is_normalised):
    imported = supersim(topology=HYPERX, routing={"algorithm": "minimal"},
                        router={"congestion_sensor": {**SENSOR, "mode": mode}, "congestion_mode": "downstream"})
    assert imported["network.router.congestion.per"] == per
    assert imported["network.router.congestion.normalised"] == is_normalised


PHANTOM = {**SENSOR, "phantom": True, "value_coeff": 0.5, "length_coeff": 2.0}


def test_phantom_congestion(supersim):
    imported = supersim(topology=HYPERX, routing={"algorithm": "minimal"},
                        router={"congestion_sensor": PHANTOM, "congestion_mode": "downstream"})
    congestion = imported["network.router.congestion"]
    assert (congestion["phantom_value"], congestion["phantom_length"]) == (0.5, 2) and other_notes(imported) == []
    imported = supersim(router={"congestion_sensor": {**PHANTOM, "phantom": False}, "congestion_mode": "downstream"})
    assert "phantom" not in imported.text and other_notes(imported) == []


@pytest.mark.parametrize("router,key,value,words", [
    ({"architecture": "input_output_queued", "congestion_sensor": PHANTOM}, "accounting", "output", "phantom = true: "),
    ({"architecture": "input_queued", "congestion_sensor": SENSOR}, "accounting", "downstream", "congestion_mode = output: "),
    ({"architecture": "output_queued", "output_queue_depth": "infinite", "congestion_sensor": {
        **SENSOR, "mode": "normalized_vc"}}, "normalised", False, "mode = normalized_vc: ")])
def test_congestion_of_outputs_that_is_not_there_is_said(supersim, router, key, value, words):
    imported = supersim(topology=HYPERX, routing={"algorithm": "minimal"}, router={**router, "congestion_mode": "output"})
    assert imported["network.router.congestion." + key] == value and "phantom" not in imported["network.router.congestion"]
    imported.note(words)


def test_endless_output_queues(supersim):
    imported = supersim(router={"architecture": "output_queued", "output_queue_depth": "infinite"})
    assert "output_depth" not in imported["network.router"]  # without one it is endless here too


def test_a_rate_beyond_a_terminal_s_channels_is_said(supersim):
    imported = supersim(simulator={"channel_cycle_time": 4}, application=blast_of(request_injection_rate=0.5))
    assert imported["workload.applications.0.load"] == 1
    assert "2 flits a cycle are more" in imported.note("request_injection_rate = 0.5")


def test_a_grid_over_other_topologies(supersim):
    pattern = {"type": "dim_rotate", "direction": "left", "dimensions": [4, 4], "concentration": 2, "interface_ports": 1}
    imported = supersim(topology=HYPERX, application=blast_of(traffic=pattern))
    assert imported["workload.applications.0.traffic"] == {"type": "dim_rotate", "direction": "left", "widths": [4, 4]}
    imported = supersim(topology=TREE, routing={"algorithm": "common_ancestor"}, application=blast_of(
        traffic={**pattern, "concentration": 1}))
    assert imported["workload.applications.0.traffic"]["widths"] == [4, 4]


def test_a_tornado_off_the_grid_is_said(supersim):
    pattern = {"type": "tornado", "dimensions": [4, 4], "concentration": 2, "interface_ports": 1}
    imported = supersim(topology=HYPERX, application=blast_of(traffic=pattern))
    assert imported["workload.applications.0.traffic"] == {"type": "random_permutation"}
    assert imported.note("type = tornado").endswith("nearest: random_permutation")


GRID = {"dimensions": [4, 4], "concentration": 1, "interface_ports": 1}
PATTERNS = [
    ({"type": "uniform_random", "send_to_self": False}, {"type": "uniform_random", "self": False}),
    ({"type": "bit_complement"}, {"type": "bit_complement"}), ({"type": "bit_reverse"}, {"type": "bit_reverse"}),
    ({"type": "bit_rotate"}, {"type": "bit_rotation"}), ({"type": "bit_transpose"}, {"type": "transpose"}),
    ({"type": "tornado", **GRID}, {"type": "tornado", "dimensions": "first"}),
    ({"type": "tornado", "enabled_dimensions": [True, True], **GRID}, {"type": "tornado", "dimensions": "all"}),
    ({"type": "loopback"}, {"type": "loopback"}), ({"type": "matrix", "file": "m.csv"}, {"type": "matrix", "file": "m.csv"}),
    ({"type": "scan", "direction": "descend", "initial": 3, "send_to_self": True},
     {"type": "scan", "self": True, "direction": "down", "first": 3}),
    ({"type": "scan", "direction": "random", "initial": "random", "send_to_self": False},
     {"type": "scan", "self": False, "direction": "random", "start": "random"}),
    ({"type": "swap2", **GRID}, {"type": "swap2"}),
    ({"type": "swap2", "enabled_dimensions": [True, True], **GRID}, {"type": "swap2", "dimensions": [0, 1]}),
    ({"type": "dim_reverse", **GRID}, {"type": "dim_reverse"}),
    ({"type": "dim_complement_reverse", **GRID}, {"type": "dim_complement_reverse"}),
    ({"type": "dim_rotate", "direction": "right", **GRID}, {"type": "dim_rotate", "direction": "right"}),
    ({"type": "dim_transpose", **GRID}, {"type": "dim_transpose"}),
    ({"type": "dim_bisection_stress", "mode": "quadrant", **GRID}, {"type": "dim_bisection_stress", "groups": "quadrant"}),
    ({"type": "group_attack", "group_size": 4, "concentration": 1, "group_mode": "half", "destination_mode": "complement"},
     {"type": "group_attack", "target": "half", "place": "mirrored", "group": 4}),
    ({"type": "group_attack", "group_size": 4, "concentration": 1, "group_mode": 2, "destination_mode": "random"},
     {"type": "group_attack", "offset": 2, "place": "random", "group": 4}),
    ({"type": "local_remote_random", "block_size": 4, "local_probability": 0.25},
     {"type": "local_remote_random", "self": True, "block": 4, "local": 0.25}),
    ({"type": "local_random_remote_attack", "block_size": 4, "local_probability": 0.5, "remote_mode": "opposite"},
     {"type": "local_random_remote_attack", "self": True, "block": 4, "local": 0.5, "target": "opposite"}),
    ({"type": "random_block_out", "block_size": 4}, {"type": "random_block_out", "block": 4}),
    ({"type": "random_exchange"}, {"type": "random_exchange"}),
    ({"type": "random_exchange_neighbor", "all_interfaces": True, "enabled_dimensions": [False, True], **GRID},
     {"type": "random_exchange_neighbor", "all_slots": True, "dimensions": [1]}),
    ({"type": "random_exchange_quadrant", **GRID}, {"type": "random_exchange_quadrant"}),
    ({"type": "uniform_random_bisection", **GRID}, {"type": "uniform_random_bisection"}),
    ({"type": "uniform_random_quadrant", "send_to_self": True, **GRID}, {"type": "uniform_random_quadrant", "self": True}),
]


@pytest.mark.parametrize("theirs,ours", PATTERNS)
def test_traffic_patterns(supersim, theirs, ours):
    imported = supersim(application=blast_of(traffic=theirs))
    assert imported["workload.applications.0.traffic"] == ours
    assert all("warmup_" in note for note in imported.notes)


@pytest.mark.parametrize("theirs,words", [
    ({"type": "neighbor", "direction": "right", **GRID}, "type = neighbor"), ({"type": "nonsense"}, "type = nonsense"),
    ({"type": "tornado", "dimensions": [8, 8]}, "traffic_pattern.dimensions = [8, 8]"),
    ({"type": "uniform_random", "mystery": 3}, "traffic_pattern.mystery = 3"),
    ({"type": "tornado", "enabled_dimensions": [False, True], **GRID}, "enabled_dimensions = [false, true]")])
def test_patterns_that_are_not_the_same_are_said_so(supersim, theirs, words):
    supersim(application=blast_of(traffic=theirs)).note(words)


RW = {"type": "read_write", "read_request_size": 1, "read_response_size": 5, "write_request_size": 6,
      "write_response_size": 2, "read_probability": 0.75}
SIZES = [
    ({"type": "single", "message_size": 3}, False, {"type": "fixed", "flits": 3}, None),
    ({"type": "single", "message_size": 3, "dependent_message_size": 1}, True, {"type": "fixed", "flits": 3},
     {"type": "fixed", "flits": 1}),
    ({"type": "single", "message_size": 3}, True, {"type": "fixed", "flits": 3}, {"type": "fixed", "flits": 3}),
    ({"type": "random", "min_message_size": 2, "max_message_size": 6}, False, {"type": "uniform", "min": 2, "max": 6}, None),
    ({"type": "random", "min_message_size": 2, "max_message_size": 6, "dependent_min_message_size": 1,
      "dependent_max_message_size": 2}, True, {"type": "uniform", "min": 2, "max": 6}, {"type": "uniform", "min": 1, "max": 2}),
    ({"type": "probability", "message_sizes": [1, 8], "size_probabilities": [50, 12.5]}, False,
     {"type": "mix", "sizes": [1, 8], "weights": [50, 12.5]}, None),
    (RW, False, {"type": "mix", "sizes": [1, 6], "weights": [0.75, 0.25]}, None),
]


@pytest.mark.parametrize("theirs,has_replies,size,reply", SIZES)
def test_message_sizes(supersim, theirs, has_replies, size, reply):
    application = supersim(application=blast_of(size=theirs, enable_responses=has_replies))["workload.applications.0"]
    assert application["size"] == size and application.get("reply") == reply


def test_reads_and_writes(supersim):
    application = supersim(application=blast_of(size=RW, enable_responses=True))["workload.applications.0"]
    assert application["size"] == {"type": "read_write", "reads": 0.75, "read_request": 1, "write_request": 6,
                                   "read_reply": 5, "write_reply": 2}


def test_no_warm_up_and_no_sampling(supersim):
    application = supersim(application=blast_of(warmup_interval=0, num_transactions=0))["workload.applications.0"]
    assert application["warmup"] == 0 and application["sample"] == 0


STREAM = {"type": "stream", "stream_terminal": {"injection_rate": 0.5, "protocol_class": 0, "num_messages": 50,
                                                "max_packet_size": 16, "message_size_distribution": SIZE},
          "source_terminal": 2, "destination_terminal": 7, "rate_log": {"file": None}}
PULSE = {"type": "pulse", "pulse_terminal": {"request_protocol_class": 0, "request_injection_rate": 0.5,
                                             "enable_responses": False, "delay": 100, "num_transactions": 20,
                                             "max_packet_size": 16, "traffic_pattern": {"type": "bit_complement"},
                                             "message_size_distribution": SIZE}}
ALLTOALL = {"type": "alltoall", "alltoall_terminal": {
    "request_protocol_class": 0, "request_injection_rate": 0.5, "enable_responses": False, "delay": 10,
    "num_iterations": 3, "perform_barriers": True, "max_packet_size": 16,
    "traffic_pattern": {"type": "random", "send_to_self": True}, "message_size_distribution": SIZE}}
MEMORY = {"type": "simple_mem", "block_size": 64, "bytes_per_flit": 4, "header_overhead": 16, "max_packet_size": 32,
          "processor_terminal": {"protocol_class": 0, "latency": 10},
          "memory_terminal": {"protocol_class": 0, "latency": 15}}
STENCIL = {"type": "stencil", "stencil_terminal": {
    "num_iterations": 3, "max_packet_size": 16, "collective_size": 2, "exchange_protocol_class": 0,
    "collective_protocol_class": 0, "compute_delay": 7}}
APPLICATIONS = [
    (STREAM, {"type": "stream", "load": 0.5, "messages": 50, "sources": [2], "destinations": [7], "max_packet": 16,
              "size": {"type": "fixed", "flits": 4}}),
    (PULSE, {"type": "pulse", "load": 0.5, "max_packet": 16, "messages": 20, "delay": 100,
             "traffic": {"type": "bit_complement"}, "injection": {"type": "periodic", "rounding": "random"}, "gap_by_size": True, "size": {"type": "fixed", "flits": 4}}),
    (ALLTOALL, {"type": "alltoall", "load": 0.5, "iterations": 3, "delay": 10, "wait": True, "max_packet": 16,
                "order": "random", "self": True, "size": {"type": "fixed", "flits": 4}}),
    (MEMORY, {"type": "memory", "think": 10, "latency": 15, "outstanding": 1, "max_packet": 32,
              "size": {"type": "read_write", "read_request": 4, "read_reply": 20, "write_request": 20, "write_reply": 4}}),
    (STENCIL, {"type": "stencil", "ranks": [16], "iterations": 3, "compute": 7, "collective": "barrier",
               "collective_flits": 2, "max_packet": 16}),
]


@pytest.mark.parametrize("theirs,ours", APPLICATIONS, ids=lambda part: part["type"])
def test_applications(supersim, theirs, ours):
    imported = supersim(application=theirs)
    assert imported["workload.applications"] == [ours] and imported.notes == []


@pytest.mark.parametrize("theirs,algorithm,ours", SUPERSIM_TOPOLOGIES, ids=lambda part: str(part)[14:30])
def test_a_stencil_has_a_rank_at_every_terminal(supersim, theirs, algorithm, ours):
    imported = supersim(topology=theirs, routing={"algorithm": algorithm}, application=STENCIL)
    assert imported["network.topology"] == ours  # the check counts the ranks


@pytest.mark.parametrize("theirs,block,keys,classes", [
    (STREAM, "stream_terminal", {"protocol_class": 1}, (1, None)),
    (PULSE, "pulse_terminal", {"request_protocol_class": 1, "enable_responses": True, "response_protocol_class": 2}, (1, 2)),
    (PULSE, "pulse_terminal", {"request_protocol_class": 2}, (2, None)),
    (ALLTOALL, "alltoall_terminal", {"request_protocol_class": 2}, (2, None)),
    (MEMORY, "processor_terminal", {"protocol_class": 2}, (2, 0)),
    (MEMORY, "memory_terminal", {"protocol_class": 1}, (0, 1)),
    (STENCIL, "stencil_terminal", {"exchange_protocol_class": 1, "collective_protocol_class": 1}, (1, None))])
def test_classes_of_applications(classed, theirs, block, keys, classes):
    imported = classed({}, {}, {}, application={**theirs, block: {**theirs[block], **keys}})
    application = imported["workload.applications.0"]
    assert (application["protocol_class"], application.get("reply_protocol_class")) == classes
    assert not [note for note in imported.notes if "protocol_class" in note]


def test_a_stencil_has_one_class(classed):
    terminals = {**STENCIL["stencil_terminal"], "exchange_protocol_class": 1, "collective_protocol_class": 0}
    imported = classed({}, {}, application={**STENCIL, "stencil_terminal": terminals})
    assert imported["workload.applications.0.protocol_class"] == 1
    assert imported.note("collective_protocol_class = 0").endswith("nearest: 1, that of the exchange")


@pytest.mark.parametrize("key", ["request_protocol_class", "response_protocol_class"])
def test_a_class_that_the_network_lacks_is_refused(tmp_path, key):
    config = with_classes({}, {}, application=blast_of(enable_responses=True, **{key: 2}))
    (tmp_path / "a.json").write_text(json.dumps(config))
    ended = flitwarp("import", "a.json", "-o", "b.json", cwd=tmp_path, status=1)
    assert f"blast_terminal.{key}: found a number '2', expected a whole number from 0 to 1" in ended.stderr
    assert not (tmp_path / "b.json").exists()


def test_a_reply_s_class_without_replies_is_said(classed):
    imported = classed({}, {}, application=blast_of(response_protocol_class=1, request_processing_latency=5))
    assert [note.split(": ", 1)[1] for note in imported.notes if "no replies" in note] == [
        "workload.applications[0].blast_terminal.response_protocol_class = 1: there are no replies",
        "workload.applications[0].blast_terminal.request_processing_latency = 5: there are no replies"]


def test_random_terminals_are_said_so(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(supersim_config(application={**STREAM, "source_terminal": -1})))
    ended = flitwarp("import", "a.json", cwd=tmp_path)
    assert plain(ended.stdout)["workload"]["applications"][0]["sources"] == [0]
    assert "source_terminal = -1: terminals are named, not drawn" in ended.stderr


SUPERSIM_LISTED = [
    ({"simulator": {"print_progress": True}}, "simulator.print_progress = true"),
    ({"simulator": {"info_log": {"file": "info.csv"}}}, "simulator.info_log = {\"file\": \"info.csv\"}"),
    ({"debug": ["Network"]}, "debug = [\"Network\"]"),
    ({"mystery": {"deep": 1}}, "mystery.deep = 1: no setting of SuperSim that is known here"),
    ({"router": {"mystery": "x"}}, "network.router.mystery = x"),
    ({"router": {"congestion_sensor": {"algorithm": "crystal_ball"}}}, "algorithm = crystal_ball: no such sensor; nearest: "),
    ({"application": blast_of(max_outstanding_transactions=2)}, "max_outstanding_transactions = 2"),
    ({"metadata_handler": {"type": "creation_timestamp", "delay": 5}}, "metadata_handler.delay = 5"),
]


@pytest.mark.parametrize("parts,words", SUPERSIM_LISTED)
def test_what_supersim_has_alone_is_listed(tmp_path, parts, words):
    (tmp_path / "a.json").write_text(json.dumps(supersim_config(**parts)))
    ended = flitwarp("import", "a.json", cwd=tmp_path)
    assert words in ended.stderr
    flitwarp("import", "a.json", "--strict", cwd=tmp_path, status=1 if "0 of them decisive" not in ended.stderr else 0)


def test_inclusion_and_references(tmp_path):
    whole = supersim_config()
    flitwarp_of = functools.partial(flitwarp, cwd=tmp_path)
    (tmp_path / "whole.json").write_text(json.dumps(whole))
    parts = json.loads(json.dumps(whole))
    (tmp_path / "parts").mkdir()
    inner = parts["network"].pop("router")
    (tmp_path / "parts" / "scheduler.json").write_text(json.dumps(inner["crossbar_scheduler"]))
    inner["crossbar_scheduler"] = "$$(scheduler.json)$$"
    (tmp_path / "parts" / "router.json").write_text("// a comment\n" + json.dumps(inner))
    parts["network"]["router"] = "$$(parts/router.json)$$"
    parts["network"]["external_channel"] = {"latency": "$&(/metadata_handler/two)&$"}
    parts["metadata_handler"]["two"] = 2
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    from_whole, from_parts = flitwarp_of("import", "whole.json"), flitwarp_of("import", "parts.json")
    assert plain(from_whole.stdout) == plain(from_parts.stdout)
    assert "metadata_handler.two = 2" in from_parts.stderr
    over = flitwarp_of("import", "parts.json", "-o", "parts/scheduler.json", status=1)
    assert "-o: 'parts/scheduler.json' is read, and would be written over" in over.stderr


SUPERSIM_BROKEN = [
    ("{", "a.json:1:2: "), ('{"network": }', "a.json:1:13: "), ("[1]", "expected '{'"),
    ("{}", "expected an object 'network'"), ('{"network": {}}', "expected an object 'workload'"),
    ('{"network": {"topology": {"type": "mesh"}}}', "this is a configuration of flitwarp already"),
    ('{"network": "$$(none.json)$$", "workload": {}}', "a.json:1:13: network: cannot read 'none.json'"),
    ('{"network": "$$(a.json)$$", "workload": {}}', "files include each other without end"),
    ('{"network": "$&(/none)&$", "workload": {}}', "/none"),
    ('{"network": {"a": "$&(/network)&$"}, "workload": {}}', "network.a"),
    ('{"network": {"topology": "ring"}, "workload": {}}', "a.json:1:26: network.topology: found 'ring', expected one of"),
    ('{"network": {"topology": 3}, "workload": {}}', "network.topology: found a number '3', expected text"),
    ('{"network": {"topology": "mesh"}, "workload": {}}', "network: has no 'dimension_widths'"),
    ('{"network": {"topology": "mesh", "dimension_widths": 3}, "workload": {}}', "expected an array of whole numbers"),
    ('{"network": {"topology": "mesh", "dimension_widths": [1.5]}, "workload": {}}',
     "network.dimension_widths[0]: found a number '1.5', expected a whole number"),
    ('{"network": {"topology": "fat_tree", "down_up": [[1], [1]]}, "workload": {}}', "expected [down, up]"),
    ('{"network": {"topology": "mesh", "dimension_widths": [2]}, "workload": {}}', "expected an array 'protocol_classes'"),
]


SUPERSIM_REFUSED = [
    ({"router": {"architecture": "torus"}}, "network.router.architecture: found 'torus', expected one of: input_queued, "
                                            "output_queued, input_output_queued"),
    ({"router": {"input_queue_mode": "elastic"}}, "input_queue_mode: found 'elastic', expected one of: fixed, tailored"),
    ({"router": {"congestion_mode": "up", "congestion_sensor": {"algorithm": "buffer_occupancy"}}},
     "network.router.congestion_mode: found 'up', expected one of: output, downstream, output_and_downstream"),
    ({"router": {"congestion_sensor": {"algorithm": "buffer_occupancy", "mode": "relative_vc"}}},
     "network.router.congestion_sensor.mode: found 'relative_vc', expected one of: normalized_vc, normalized_port, "),
    ({"router": {"vc_scheduler": 3}}, "network.router.vc_scheduler: found a number '3', expected an object"),
    ({"router": {"architecture": "output_queued", "output_queue_depth": "long"}},
     "network.router.output_queue_depth: found text 'long', expected a number of flits or \"infinite\""),
    ({"router": {"architecture": "input_output_queued", "output_queue_depth": "infinite"}},
     "network.router.output_queue_depth: found text 'infinite', expected a whole number from 1 to 32767"),
    ({"router": tailored(0)}, "network.router.input_queue_depth: found 0, expected a number above 0"),
    ({"router": tailored(least=65)}, "input_queue_min: found a number '65', expected a whole number from 0 to 64"),
    ({"router": {"congestion_sensor": {**SENSOR, "phantom": True}}},
     "network.router.congestion_sensor: has no 'value_coeff', which is needed"),
    ({"router": {"congestion_sensor": {**PHANTOM, "length_coeff": -1}}},
     "length_coeff: found -1, expected a number from 0 to 1000"),
    ({"router": {"crossbar_scheduler": {"allocator": {**ONE_SIDED, "resource_arbiter": {"type": "dual_stage_class"}}}}},
     "resource_arbiter: has no 'class_map', which is needed"),
    ({"router": {"crossbar_scheduler": {"allocator": {**ONE_SIDED, "resource_arbiter": {**DUAL, "class_map": []}}}}},
     "class_map: found none, expected a class for each input"),
    ({"router": {"crossbar_scheduler": {"allocator": {**ONE_SIDED, "resource_arbiter": {**DUAL, "classes": 2}}}}},
     "class_map[1]: found a number '2', expected a whole number from 0 to 1"),
    ({"router": {"architecture": "input_output_queued", "crossbar_scheduler": {"packet_lock": 1}}},
     "packet_lock: found a number '1', expected true or false"),
    ({"topology": HYPERX, "routing": {**SKIPPING, "skipping_algorithm": "any"}},
     "skipping_algorithm: found 'any', expected one of: dimension_order, dimension_adaptive"),
    ({"topology": HYPERX, "routing": {**SKIPPING, "num_rounds": 33}},
     "num_rounds: found a number '33', expected a whole number from 1 to 32"),
    ({"topology": HYPERX, "routing": {**SKIPPING, "step": -1}}, "step: found -1, expected a number from 0 to 1e+09"),
    ({"topology": {"topology": "ring"}, "application": {"type": "stencil"}}, "network.topology: found 'ring', expected one"),
    ({"application": {"type": "paragraph"}}, "workload.applications[0].type: found 'paragraph', expected one of: blast, pulse"),
    ({"router": {"input_queue_depth": 40000}}, "input_queue_depth: found a number '40000', expected a whole number from 1 to 32768"),
    ({"topology": {"topology": "mesh", "dimension_widths": []}}, "network.dimension_widths: found none, expected a number of"),
    ({"topology": {"topology": "mesh", "dimension_widths": [4], "concentration": 4, "interface_ports": 3}},
     "network.concentration: found a concentration of 4, expected a multiple of interface_ports (3)"),
    ({"simulator": {"random_seed": -1}}, "random_seed: found a number '-1', expected a whole number from 0 to 9007199254740992"),
    ({"application": {"type": "blast"}}, "workload.applications[0]: has no 'blast_terminal', which is needed"),
    ({"application": blast_of(size={"type": "random", "min_message_size": 9, "max_message_size": 8})},
     "max_message_size: found a number '8', expected a whole number from 9 to 1073741824"),
    ({"application": blast_of(size={"type": "probability", "message_sizes": [1, 2], "size_probabilities": [1]})},
     "size_probabilities: found 1 probabilities for 2 sizes, expected one for each"),
    ({"application": blast_of(traffic="$$(pattern.json)")},
     "traffic_pattern: found '$$(pattern.json)', expected ')$$' at its end"),
    ({"application": blast_of(request_injection_rate="$&(/network/load")},
     "request_injection_rate: found '$&(/network/load', expected ')&$' at its end"),
    ({"application": blast_of(traffic=7)}, "blast_terminal.traffic_pattern: found a number '7', expected an object"),
    ({"application": blast_of(traffic={"type": "matrix"})}, "traffic_pattern: has no 'file', which is needed"),
]


@pytest.mark.parametrize("parts,message", SUPERSIM_REFUSED)
@pytest.mark.parametrize("program", PROGRAMS)
def test_wrong_values_of_supersim_are_refused_with_what_is_accepted(tmp_path, parts, message, program):
    (tmp_path / "a.json").write_text(json.dumps(supersim_config(**parts), indent=1))
    ended = flitwarp("import", "a.json", "-o", "b.json", cwd=tmp_path, status=1, program=program)
    assert message in ended.stderr and ended.stderr.startswith("a.json:") and not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("text,message", SUPERSIM_BROKEN)
@pytest.mark.parametrize("program", PROGRAMS)
def test_wrong_files_of_supersim_are_refused(tmp_path, text, message, program):
    (tmp_path / "a.json").write_text(text)
    ended = flitwarp("import", "a.json", "-o", "b.json", cwd=tmp_path, status=1, program=program)
    assert message in ended.stderr and not (tmp_path / "b.json").exists()


# ---- the command -----------------------------------------------------------------------------------------------


def test_help_tells_the_usage():
    ended = flitwarp("import", "--help")
    assert ended.stdout.startswith("usage: flitwarp import FILE [--from booksim|simured|supersim|infiniband]") and "--strict" in ended.stdout


def test_standard_output_gets_the_result(tmp_path):
    (tmp_path / "a.cfg").write_text("routing_function = dim_order;")
    assert flitwarp("import", "a.cfg", cwd=tmp_path).stdout.startswith("// Imported from BookSim's a.cfg.\n{\n")


def test_a_full_disk_is_said(tmp_path):
    (tmp_path / "a.cfg").write_text("routing_function = dim_order;")
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([PROGRAM, "import", "a.cfg"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 3 and b"cannot write to standard output: No space left" in ended.stderr


def test_an_older_result_outlives_a_failed_import(tmp_path):
    (tmp_path / "a.cfg").write_text("k = eight;")
    (tmp_path / "a.json").write_text("older")
    flitwarp("import", "a.cfg", "-o", "a.json", cwd=tmp_path, status=1)
    assert (tmp_path / "a.json").read_text() == "older" and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("arguments,status,words", [
    ((), 1, "no configuration is given"), (("none.cfg",), 1, "cannot read 'none.cfg'"),
    (("a.cfg", "--from", "noxim"), 1, "expected booksim, simured, supersim or infiniband"), (("a.cfg", "k=4"), 1, "overrides belong to run"),
    (("a.cfg", "--from", "supersim"), 1, "a.cfg:1:1"), (("a.cfg", "-o", "no/such/place.json"), 3, "no/such/place.json")])
def test_wrong_usage(tmp_path, arguments, status, words):
    (tmp_path / "a.cfg").write_text("k = 8;")
    assert words in flitwarp("import", *arguments, cwd=tmp_path, status=status).stderr


def mutations(text, count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        data = bytearray(text.encode())
        for _ in range(draw.randint(1, 8)):
            place = draw.randrange(len(data))
            kind = draw.randrange(4)
            if kind == 0:
                data[place] = draw.randrange(256)
            elif kind == 1:
                del data[place:place + draw.randint(1, 30)]
            elif kind == 2:
                data[place:place] = draw.choice([b"{", b"}", b"[]", b"null", b"-1", b"1e300", b"\"\"", b"(", b";", b"=", b"{}"])
            else:
                end = place + draw.randint(1, 60)
                data[place:place] = data[place:end]
            if not data:
                data = bytearray(b"{")
        yield bytes(data)


FUZZED = {
    "booksim": "classes = 2; traffic = {hotspot({0,1},{2,1}),tornado}; injection_process = on_off(0.1,0.2);"
               "packet_size = {{1,2},4}; topology = dragonflynew; k = 2; n = 1; use_read_write = {0,1};\nnoq = 1; // c\n",
    "supersim": json.dumps(supersim_config(topology=DRAGONFLY, routing={"algorithm": "adaptive", "reduction": {
        "algorithm": "weighted", "congestion_bias": 0.1}}, router={"congestion_sensor": SENSOR}, application=blast_of(
            traffic=PATTERNS[-8][0], size=RW, enable_responses=True))),
    "supersim hyperx": json.dumps(supersim_config(topology=HYPERX, routing=SKIPPING, router=tailored(
        architecture="input_output_queued", congestion_sensor=PHANTOM, congestion_mode="output_and_downstream",
        crossbar_scheduler={"allocator": {**ONE_SIDED, "resource_arbiter": DUAL}, "full_packet": True}))),
}


@pytest.mark.parametrize("program", PROGRAMS[-1:])
@pytest.mark.parametrize("form", FUZZED)
def test_broken_input_ends_in_a_message_or_a_result(tmp_path, form, program):
    for number, data in enumerate(mutations(FUZZED[form], 150, form)):
        (tmp_path / "a").write_bytes(data)
        ended = subprocess.run([program, "import", "a", "--from", form.split()[0], "-o", "b.json"], cwd=tmp_path,
                               capture_output=True, timeout=60, check=False)
        errors = ended.stderr.decode("utf-8", "replace")
        assert ended.returncode in (0, 1) and "Sanitizer" not in errors and "runtime error" not in errors, (number, errors)
        if ended.returncode == 0:
            plain((tmp_path / "b.json").read_text(errors="replace"))


# ---- SimuRed ----

@pytest.fixture
def simured(tmp_path):
    def read(text):
        deadlocks = 2 if "ROUTING 1" in text or "ROUTING 3" in text else 0  # as check says of what SimuRed has for teaching
        return Imported(tmp_path, text, "simured.conf", checked=deadlocks)

    return read


def test_what_a_file_leaves_out_has_simured_s_default(simured):
    imported = simured("# nothing but comments is no configuration\nDIMENSIONS 2\n")
    assert imported["network.topology"] == {"type": "mesh", "widths": [4, 4]}
    assert imported["network.routing"] == {"type": "dimension_order"}
    assert imported["network.router"] == {
        "type": "simured", "num_vcs": 1, "buffer_depth": 2, "buffer_delay": 1, "crossbar_delay": 1, "switching_delay": 1,
        "channel_delay": 1, "buffer_forwarding": True, "physical_channels": False, "lane_free": "behind_tail", "order": "original"}
    assert imported["network.interface"] == {"injection_channels": 1, "ejection_channels": 1}
    assert imported["workload.applications.0.size"] == {"type": "fixed", "flits": 64}
    assert len(imported.notes) == 1 and "JUSTONE = false, SimuRed's default: SimuRed runs several simulations" in imported.decisive[0]


@pytest.mark.parametrize("text", ["JUSTONE true", "SIMUVAR2 0\nPUNTOS 1"])
def test_a_single_simulation_of_simured_is_carried_over_whole(simured, text, tmp_path):
    """Its load is LAVARINI, unless SIMUVAR says that something else is varied; and as many channels of terminals as the file says, or 1."""
    imported = simured(text + "\nNUMVIRT 3\n")
    assert imported.notes == [] and imported["network.interface.ejection_channels"] == 1
    assert imported["workload.applications.0.load"] == 0.1
    assert simured(text + "\nLAVARINI 0.2\n")["workload.applications.0.load"] == 0.2
    assert simured(text + "\nSIMUVAR 1\n")["workload.applications.0.load"] == 0.5
    assert simured(text + "\nSIMUVAR 1\nPACKPROD 0.3\n")["workload.applications.0.load"] == 0.3
    ignored = simured(text + "\nPACKPROD 0.3\n")
    assert ignored["workload.applications.0.load"] == 0.1 and not ignored.decisive and ignored.note("PACKPROD = 0.3: SimuRed takes LAVARINI")
    flitwarp("import", "simured.conf", "--from", "simured", "--strict", cwd=tmp_path)


@pytest.mark.parametrize("text, path, value", [
    ("PHYSICAL 1", "network.router.physical_channels", False),  # it reads the word "true" alone
    ("DIMENSIONS 3\nNODOSDIM 5", "network.topology.widths", [5, 5, 5]),
    ("ROUTING 1", "network.routing", {"type": "dimension_order", "dateline": "none"}),
    ("ROUTING 1", "network.topology.type", "torus"),
    ("ROUTING 1\nNUMDIR 1", "network.routing", {"type": "one_way", "dateline": "none"}),
    ("ROUTING 2", "network.routing.type", "duato"), ("ROUTING 3", "network.routing.type", "fully_adaptive"),
    ("NUMVIRT 3", "network.router.num_vcs", 3), ("NUMVIRT 3", "network.interface.ejection_channels", 3),
    ("NUMVIRT 3\nALLVIRTEQ 0", "network.interface.ejection_channels", 1),
    ("NUMVIRTINJ 4", "network.interface.injection_channels", 4), ("LONBUFFER 5", "network.router.buffer_depth", 5),
    ("FORWARDING 0", "network.router.buffer_forwarding", False), ("PHYSICAL true", "network.router.physical_channels", True),
    ("DELFIFO 2", "network.router.buffer_delay", 2), ("DELCROSS 3", "network.router.crossbar_delay", 3),
    ("DELSWITCH 4", "network.router.switching_delay", 4), ("DELCHANNEL 5", "network.router.channel_delay", 5),
    ("PACKLEN 30\nPACKHEADLEN 2", "workload.applications.0.size.flits", 32),
    ("PACKLEN 30\nPACKHEADLEN 15\nPACKPROD 0.2", "workload.applications.0.load", 0.3),
    # 1000 packets of 32 flits from 16 nodes at 0.2 flits a cycle: 32000 / 3.2 cycles
    ("PACKNUM 1000\nPACKLEN 32\nPACKPROD 0.2", "workload.applications.0.sample", 10000),
    ("PACKNUMDUMMY 100\nPACKLEN 32\nPACKPROD 0.2", "workload.applications.0.warmup", 1000),
])
def test_settings_of_simured(simured, text, path, value):
    assert simured(text + "\n")[path] == pytest.approx(value) if isinstance(value, float) else simured(text + "\n")[path] == value


def test_a_trace_of_simured_is_replayed(simured, tmp_path):
    (tmp_path / "one.trc").write_text("0 0 3 8\n")
    application = simured("USETRACE 1\nTRACENAME one.trc\nPACKLEN 30\nPACKHEADLEN 2\n")["workload.applications.0"]
    assert application == {"type": "trace", "file": "one.trc", "format": {"type": "simured", "default_flits": 32, "compatible": True},
                           "max_packet": 2**24, "eager_limit": 1e18}
    flitwarp("run", "result.json", "--quiet", cwd=tmp_path)


@pytest.mark.parametrize("text, words", [
    ("LAVARFIN 1", "LAVARFIN = 1: of several simulations"), ("SWITCH 1", "SWITCH = 1: SimuRed switches by wormhole, whatever this says"),
    ("NUMVIRTINJ 4\nNUMVIRTEJE 2", "NUMVIRTINJ = 4: SimuRed's program overruns an array"), ("STATPOINTS 5", "STATPOINTS = 5: of what"),
    ("NUMDIR 1", "NUMDIR = 1: a mesh needs"), ("NUMVIRTS 3", "did you mean 'NUMVIRT"), ("LONBUFFER 2\nLONBUFFER 3", "set again in line 2"),
])
def test_what_of_simured_is_not_carried_over_is_listed(simured, text, words):
    assert any(words in note for note in simured(text + "\n").notes)


@pytest.mark.parametrize("text", ["NUMVIRTINJ 4\nNUMVIRTEJE 2", "SIMSTOPEMIT 1", "NUMDIR 1", "JUSTONE false"])
def test_where_simured_may_give_other_figures_is_decisive(simured, text):
    assert len(simured(f"JUSTONE true\n{text}\n" if "JUSTONE" not in text else text + "\n").decisive) == 1


@pytest.mark.parametrize("text, words", [
    ("DIMENSIONS", "simured.conf:1: found \"DIMENSIONS\", expected a KEY and a value"),
    ("ROUTING 4", "ROUTING: found a number '4', expected a whole number from 0 to 3"),
    ("PHYSICAL maybe", "PHYSICAL: found 'maybe', expected one of: true, false"),
])
def test_wrong_files_of_simured_are_refused(text, words, tmp_path):
    (tmp_path / "simured.conf").write_text(text + "\n")
    assert words in flitwarp("import", "simured.conf", "--from", "simured", cwd=tmp_path, status=1).stderr

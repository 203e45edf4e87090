# SPDX-License-Identifier: Apache-2.0
"""Routes of your own: what routing `file` reads, what `flitwarp topology --routes` writes, and that one is the other's inverse."""
import csv
import json
import os
import subprocess

import pytest

from support import PROGRAM, mpirun

ASAN = os.environ.get("FLITWARP_ASAN", "")
CAREFUL = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM  # small networks go through the sanitizers
RING = "\n".join(f"router {at} node {at} router {(at + 1) % 4}" for at in range(4))
ROUND = "\n".join(f"router {at} to node {to} via router {(at + 1) % 4}" for at in range(4) for to in range(4) if at != to)
DATELINE = "\n".join(f"router {at} from {came} to node {to} via router {(at + 1) % 4} vc {int(at == 3 or came == 'vc 1')}"
                     for at in range(4) for to in range(4) if at != to for came in ("node", "vc 0", "vc 1"))


def flitwarp(*arguments, cwd=None, status=0, program=CAREFUL, before=()):
    ended = subprocess.run([*before, program, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}{ended.stdout[-500:]}"
    return ended


def write(folder, topology, routing, vcs=2, load=0.2, **application):
    path = folder / "config.json"
    path.write_text(json.dumps({
        "network": {"topology": topology, "routing": routing, "router": {"type": "input_queued", "num_vcs": vcs, "buffer_depth": 8}},
        "workload": {"applications": [{"type": "blast", "load": load, "traffic": "uniform_random", "warmup": 200, "sample": 800,
                                       **application}]}}))
    return path


def ring(folder, routes, name="routes.txt", **more):
    (folder / "ring.txt").write_text(RING)
    (folder / name).write_text(routes)
    return write(folder, {"type": "file", "file": "ring.txt"}, {"type": "file", "file": name}, **more)


def results(config, *arguments, **keywords):
    return json.loads(flitwarp("run", config, "--quiet", *arguments, **keywords).stdout)


def digest(config, *arguments, **keywords):
    return results(config, *arguments, **keywords)["simulation"]["digest"]


# ---- ours, written and read back ----

BACK = {
    "mesh": ({"type": "mesh", "widths": [4, 3]}, "dimension_order", 1),
    "torus": ({"type": "torus", "widths": [5, 4], "concentration": 2}, "dimension_order", 2),
    "fixed datelines": ({"type": "torus", "widths": [4, 3]}, {"type": "dimension_order", "dateline": "fixed"}, 2),
    "parallel channels": ({"type": "torus", "widths": [3, 3], "channels": [2]}, "dimension_order", 4),
    "hyperx": ({"type": "hyperx", "widths": [4, 3], "concentration": 2}, "dimension_order", 2),
    "fat tree": ({"type": "folded_clos", "radix": 4, "levels": 3}, {"type": "up_down", "selection": "deterministic"}, 1),
    "joined roots": ({"type": "folded_clos", "down": [2, 2, 2], "up": [2, 1], "joined": 2},
                     {"type": "up_down", "selection": "deterministic"}, 1),
    "butterfly": ({"type": "butterfly", "radix": 2, "stages": 3}, "destination_tag", 1),
    "hops": ({"type": "slim_fly", "q": 3, "terminals": 1}, {"type": "minimal", "select": "first"}, 2),
    "all offered": ({"type": "jellyfish", "routers": 9, "degree": 4, "terminals": 1}, {"type": "minimal", "select": "all"}, 4),
    "least latency": ({"type": "dragonfly", "terminals": 2, "routers": 2, "global": 1}, "least_latency", 4),
    "phases": ({"type": "dragonfly", "terminals": 2, "routers": 2, "global": 1}, "dragonfly_minimal", 2),
    "escape VCs": ({"type": "mesh", "widths": [3, 3]}, "duato", 2),
}


@pytest.mark.parametrize("name", BACK)
def test_what_is_written_and_read_back_is_the_same_network(name, tmp_path):
    topology, routing, vcs = BACK[name]
    ours = digest(write(tmp_path, topology, routing, vcs))
    for file in ("routes.txt", "routes.csv")[:1 + (name != "escape VCs")]:
        flitwarp("topology", write(tmp_path, topology, routing, vcs), "--routes", tmp_path / file)
        assert "choice differs" not in (tmp_path / file).read_text()
        read = write(tmp_path, topology, {"type": "file", "file": file}, vcs)
        assert digest(read) == ours, file
    assert "no deadlock" in flitwarp("check", read, status=2 * (name == "least latency")).stdout or name == "least latency"


def test_the_rows_of_a_mesh_are_those_of_x_before_y(tmp_path):
    """All of them, from the rule: along x (ports 0 up, 1 down) until that fits, then along y (ports 2 and 3)."""
    flitwarp("topology", write(tmp_path, {"type": "mesh", "widths": [4, 3]}, "dimension_order"), "--routes", tmp_path / "routes.csv")
    with open(tmp_path / "routes.csv") as file:
        written = {(int(row["router"]), int(row["to"].removeprefix("router "))): (row["via"], row["vc"], row["from"])
                   for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    expected = {}
    for at in range(12):
        for to in range(12):
            dx, dy = to % 4 - at % 4, to // 4 - at // 4
            port = 0 if dx > 0 else 1 if dx < 0 else 2 if dy > 0 else 3
            if at != to:
                expected[at, to] = (f"port {port}", "0-1", "")
    assert written == expected


@pytest.mark.parametrize("arguments", [["--sync", "conservative", "--threads", "2"], ["--sync", "optimistic", "--threads", "2"]])
def test_parts_do_not_show(arguments, tmp_path):
    config = ring(tmp_path, DATELINE + "\nnode 0 to node 2 path router 3 vc 0 router 2 vc 0\nnode 0 to node 2 path router 1 router 2 weight 3")
    assert digest(config, *arguments) == digest(config)


def test_ranks_do_not_show(tmp_path):
    config = ring(tmp_path, DATELINE + "\nrouter 0 to router 2 path router 3 vc 0 router 2 vc 0")
    assert digest(config, "--sync", "conservative", program=PROGRAM, before=mpirun(2)) == digest(config)


@pytest.mark.parametrize("routing, topology, vcs, says", [
    ("valiant", {"type": "mesh", "widths": [3, 3]}, 2, "goes by what they carry, which a table cannot tell"),
    ("voq", {"type": "single_router", "terminals": 3}, 3, "there is one router, so there are no routes"),
])
def test_what_lines_cannot_tell_is_refused(routing, topology, vcs, says, tmp_path):
    ended = flitwarp("topology", write(tmp_path, topology, routing, vcs), "--routes", tmp_path / "routes.txt", status=1)
    assert says in ended.stderr and not (tmp_path / "routes.txt").exists()


@pytest.mark.parametrize("selection, says", [("adaptive", "chooses by congestion"), ("hash", "chooses once for a source and a destination")])
def test_a_choice_that_differs_is_said_in_the_head(selection, says, tmp_path):
    config = write(tmp_path, {"type": "folded_clos", "radix": 4, "levels": 2}, {"type": "up_down", "selection": selection})
    flitwarp("topology", config, "--routes", tmp_path / "routes.txt")
    assert says in (tmp_path / "routes.txt").read_text().split("\nrouter")[0]


def test_other_names_are_refused(tmp_path):
    config = write(tmp_path, {"type": "mesh", "widths": [2, 2]}, "dimension_order")
    assert "accepted: a name that ends with .txt or .csv" in flitwarp("topology", config, "--routes", "x.json", status=1).stderr
    assert "--routes takes one network" in flitwarp("topology", config, config, "--routes", "x.txt", status=1).stderr


# ---- what lines mean ----

def used(config, folder):
    """Flits of every channel between routers by VC."""
    flitwarp("run", config, "--quiet", "--channel-log", folder / "channels.csv", "--results", folder / "results.json")
    with open(folder / "channels.csv") as file:
        return {(int(row["router"]), int(row["target"])): [int(row[f"vc{vc}"]) for vc in range(2)]
                for row in csv.DictReader(file) if row["kind"] == "between"}


def test_a_table_says_channel_and_vc_of_each_hop(tmp_path):
    """All go up; VC 1 is taken from router 3 to 0 and behind it, by those that come in VC 1."""
    channels = used(ring(tmp_path, DATELINE), tmp_path)
    assert all(sum(channels[at, (at - 1) % 4]) == 0 for at in range(4))
    assert [[flits > 0 for flits in channels[at, (at + 1) % 4]] for at in range(4)] == [[True, True], [True, True], [True, False], [False, True]]


FROM_0_TO_3 = {"traffic": {"type": "hotspot", "terminals": [3], "share": 1.0}, "load": 0.25, "sample": 8000}


def test_paths_are_drawn_by_weight(tmp_path):
    """From node 0 one hop back three times as often as three hops up: 1.5 in the mean, within four standard errors."""
    routes = ROUND + "\nnode 0 to node 3 path router 0 router 3 weight 3\nnode 0 to node 3 path port 0 router 2 router 3"
    config = ring(tmp_path, routes, **FROM_0_TO_3)
    flitwarp("run", config, "--quiet", "--log", tmp_path / "log.csv", "--results", tmp_path / "results.json")
    with open(tmp_path / "log.csv") as file:
        hops = [int(row["hops"]) for row in csv.DictReader(file) if row["source"] == "0"]
    assert set(hops) == {1, 3} and len(hops) > 1000
    assert abs(hops.count(1) / len(hops) - 0.75) < 4 * (0.75 * 0.25 / len(hops)) ** 0.5


def test_csv_says_the_same_as_text(tmp_path):
    text = digest(ring(tmp_path, ROUND + "\nnode 0 to node 2 path router 3 vc 1 router 2 vc 0\n"))
    rows = ["router,to,via"] + [f"{at},{to},{(at + 1) % 4}" for at in range(4) for to in range(4) if at != to]
    table = digest(ring(tmp_path, "\n".join(rows), "routes.csv"))
    assert table == digest(ring(tmp_path, ROUND)) != text
    paths = ["source,to,path,vc,weight", "0,2,0 3 2,1 0,1"]
    for source in range(4):
        for to in range(4):
            if source != to and (source, to) != (0, 2):
                paths.append(f"{source},{to},{' '.join(str((source + i) % 4) for i in range((to - source) % 4 + 1))},,")
    assert digest(ring(tmp_path, "\n".join(paths), "routes.csv")) == text


LANES = [(at, to, int(at > to)) for at in range(4) for to in range(4) if at != to]


def test_packets_of_a_pair_keep_to_its_lanes(tmp_path):
    """As tables have it all round a ring, those that pass its seam in VC 1: from 3 to 0, 1 and 2, from 2 to 0 and 1, from 1 to 0.
    In that lane each channel waits for the next still."""
    lanes = "".join(f"\nnode {at} to node {to} vc {vc}" for at, to, vc in LANES)
    config = ring(tmp_path, ROUND + lanes)
    passing = {(at, vc): sum((at - source) % 4 < (to - source) % 4 for source, to, lane in LANES if lane == vc) for at in range(4) for vc in range(2)}
    assert {(at, vc) for (at, to), flits in used(config, tmp_path).items() for vc in range(2) if flits[vc]} == {key for key, pairs in passing.items() if pairs}
    assert "deadlock is possible" in flitwarp("check", config, status=2).stdout
    text = digest(config)
    rows = ["source,to,vc", *(f"{at},{to},{vc}" for at, to, vc in LANES)]
    assert digest(ring(tmp_path, ROUND)) != text
    assert "12 of 12 pairs have no way" in flitwarp("check", ring(tmp_path, "\n".join(rows), "routes.csv"), status=1).stderr


def test_outputs_of_one_choice_are_offered_at_once(tmp_path):
    """From router 0 to node 2 both ways, as rows of one choice and as a line; as two choices one of them is drawn instead."""
    ways = {(at, to): (at + 1) % 4 for at in range(4) for to in range(4) if at != to} | {(3, 2): 2}
    del ways[0, 2]
    lines = [f"router {at} to node {to} via router {next}" for (at, to), next in ways.items()]
    both = digest(ring(tmp_path, "\n".join([*lines, "router 0 to node 2 via router 1 router 3"])))
    one = digest(ring(tmp_path, "\n".join([*lines, "router 0 to node 2 via router 1 or router 3"])))
    rows = [f"{at},{to},{next}," for (at, to), next in ways.items()]
    assert both != one
    for choices, expected in (((0, 0), both), ((0, 1), one), (("", ""), one)):
        table = ["router,to,via,choice", *rows, f"0,2,1,{choices[0]}", f"0,2,3,{choices[1]}"]
        assert digest(ring(tmp_path, "\n".join(table), "routes.csv")) == expected, choices


def test_a_node_of_a_plane_is_known_in_all_planes(tmp_path):
    """In plane 1 terminal 3 hangs where 0 does in plane 0: its way to node 2 there is node 0's to node 1 here."""
    config = ring(tmp_path, ROUND + "\nnode 0 to node 1 path router 3 router 2 router 1", load=0.1,
                  traffic={"type": "hotspot", "terminals": [2], "share": 1.0})
    flitwarp("run", config, "network.planes={\"count\": 2, \"order\": \"reversed\"}", "--quiet", "--log", tmp_path / "log.csv",
             "--results", tmp_path / "results.json")
    with open(tmp_path / "log.csv") as file:
        hops = {(int(row["plane"]), int(row["source"])): int(row["hops"]) for row in csv.DictReader(file)}
    assert hops == {(0, 0): 2, (0, 1): 1, (0, 3): 3, (1, 0): 2, (1, 1): 3, (1, 3): 3}


# ---- check ----

def test_check_refutes_a_ring_and_proves_its_dateline(tmp_path):
    refuted = flitwarp("check", ring(tmp_path, ROUND), status=2).stdout
    assert "4 VCs can wait for each other" in refuted and "deadlock is possible" in refuted
    assert "12 of 12" not in refuted and "16 of 16 pairs of terminals" in refuted
    assert "no deadlock" in flitwarp("check", ring(tmp_path, DATELINE)).stdout


def test_check_follows_every_choice(tmp_path):
    """Two hops up from each router make a circle. From router 0 they are drawn once in a thousand times; or are paths of pairs."""
    one = [f"router {at} to node {(at + step) % 4} via router {(at + step) % 4}" for at in range(4) for step in (1, 3)]
    up = [f"router {at} to node {(at + 2) % 4} via router {at + 1 & 3}" for at in (1, 2, 3)]
    mostly = "router 0 to node 2 via router 3 weight 999"
    assert "no deadlock" in flitwarp("check", ring(tmp_path, "\n".join([*one, *up, mostly]))).stdout
    assert "4 VCs can wait" in flitwarp("check", ring(tmp_path, "\n".join([*one, *up, mostly + " or router 1"])), status=2).stdout
    paths = [f"node {at} to node {(at + 2) % 4} path router {(at + 1) % 4} router {(at + 2) % 4}" for at in range(4)]
    assert "4 VCs can wait" in flitwarp("check", ring(tmp_path, "\n".join([*one, *paths])), status=2).stdout
    assert "no deadlock" in flitwarp("check", ring(tmp_path, "\n".join([*one, *paths[1:], mostly]))).stdout


def test_pairs_without_a_way_are_named_before_the_run(tmp_path):
    """Without its line at router 1 for node 0, nodes 1, and by no other way, none: 2 and 3 do not go by router 1 upwards."""
    missing = "\n".join(line for line in ROUND.splitlines() if line != "router 3 to node 0 via router 0")
    config = ring(tmp_path, missing, load=0.1)
    says = flitwarp("check", config, status=1).stderr
    assert "3 of 12 pairs have no way: node 1 to node 0 (it ends at router 3), node 2 to node 0" in says
    assert says.replace("check", "run") == flitwarp("run", config, status=1).stderr
    allowed = [config, "network.routing.unreachable=allow"]
    checked = flitwarp("check", *allowed, "network.router.num_vcs=1", status=2).stdout
    assert "no way from terminal 1 to terminal 0" in checked and "no way between 3 of 16 pairs of terminals, as the settings allow" in checked
    assert "nowhere to go" in flitwarp("run", *allowed, "--quiet", status=2).stderr
    spared = results(*allowed, 'workload.applications.0.traffic={"type": "hotspot", "terminals": [3], "share": 1.0}')
    assert spared["complete"] and spared["applications"][0]["packets"] > 100


WRONG = [
    ("# nothing", "12 of 12 pairs have no way: node 1 to node 0 (it ends at router 1)"),
    ("router 4 to node 1 via port 0", '"4" where the number of a router is due; accepted: 0 to 3'),
    ("router 0 to node 4 via port 0", '"4" where the number of a node is due; accepted: 0 to 3'),
    ("router 0 to node 1 via port 2", '"2" where the number of a port between routers is due; accepted: 0 to 1'),
    ("router 0 to node 1 by port 0", '"by" where "via", "path" or "vc" is due'),
    ("router 0 from vc 0 to node 1 path router 1", '"path" where "via" is due'),
    ("node 0 to node 1 via router 1", '"via" where "path" or "vc" is due'),
    ("node 0 to node 1 vc 0 1", '"1" where the end of the line is due'),
    ("router 0 to node 1 via router 1 vc 0\nnode 0 to node 2 vc 1", "routes.txt:1: port 0 is offered in none of the VCs that some pair of nodes keeps to"),
    ("router 0 via port 0", '"via" where "to" is due'),
    ("link 0", '"link" where "router", "node" or "escape" is due'),
    ("router 0 to node 1 via", 'the line ends where "port" or "router" is due'),
    ("router 0 to node 1 via port 0 then", '"then" where "port", "router", "node", "weight" or "or" is due'),
    ("router 0 to node 1 via port 0 choice 1", '"choice" where'),
    ("router 0 to node 2 via router 2", "router 0 has no link to router 2"),
    ("router 0 to node 1 via router 1 link 1", '"1" where the number of a link between these routers is due; accepted: 0 to 0'),
    ("router 0 to node 1 via port 0 vc 2", '"2" where VCs are due; accepted: numbers from 0 to 1, as 0 or 0,2 or 0-2'),
    ("router 0 to node 1 via port 0 vc 1-0", '"1-0" where VCs are due'),
    ("router 0 to node 1 via port 0 vc", '"" where VCs are due'),
    ("router 0 to node 1 via port 0 weight 0", '"0" where a weight is due; accepted: 1 to 65535'),
    ("router 0 from port to node 1 via port 0", '"to" where the number of a port between routers is due'),
    ("router 0 from here to node 1 via port 0", '"here" where "node", "port", "router" or "vc" is due'),
    ("router 0 to node 0 via port 0", 'packets to node 0 leave at router 0; accepted here: "node"'),
    ("router 0 to node 1 via node", 'packets to node 1 leave at router 1; accepted here: "port" or "router"'),
    ("node 0 to node 2 path router 1", "the path ends at router 1, but node 2 is at router 2"),
    ("router 0 to router 2 path router 1", "the path ends at router 1, but router 2 is 2"),
    ("node 0 to node 1 path router 1 at once", '"at" where "port" or "router" is due'),
    ("node 0 to node 1 path router 1 weight 2 3", '"3" where the end of the line is due'),
    ("escape 1", '"1" where "vc" is due'),
    ("escape vc 1 2", '"2" where the end of the line is due'),
    ("router 0 to node 1 via port 0\nrouter 0 to node 1 via port 1", "routes.txt:2: line 1 says the same place and destination already"),
    ("router 0 from vc 0 to node 1 via port 0\nrouter 0 from vc 0-1 to node 1 via port 0", "routes.txt:2: a packet may come as here and as in line 1"),
    ("router 0 to node 2 via router 1\nrouter 1 to node 2 via router 0", "routes.txt:2: packets to node 2 can go in a circle: router 0, router 1, router 0"),
]
WRONG_ROWS = [
    ("router,to,next", 'routes.csv:1: there is no column "next"; accepted: router, from, to'),
    ("router,to,to,via", 'routes.csv:1: column "to" is there twice'),
    ("router,to,via,path", "routes.csv:1: these columns are no routes"),
    ("router,to,via\n0,1", "routes.csv:2: there are 2 cells, but 3 columns"),
    ("router,to,via\n0,1,2", "routes.csv:2: router 0 has no link to router 2"),
    ("router,to,port,vc\n0,1,0,0;3", 'routes.csv:2: "0,3" where VCs are due'),
    ("router,to,via\n0,,1", 'routes.csv:2: "via" where "node" or "router" is due'),
    ("source,to,path,vc\n0,2,0 1 2,0", "routes.csv:2: column vc has fewer entries than the path has links"),
    ("source,to,path,vc\n0,2,0 1 2,0 1 1", 'routes.csv:2: column vc goes on with "1" where the path ends'),
    ("router,to,via,choice,weight\n0,2,1,0,1\n0,2,3,0,2", "routes.csv:3: choice 0 weighs 2 here, but 1 in line 2"),
]


@pytest.mark.parametrize("routes, says", WRONG + WRONG_ROWS)
def test_wrong_lines_are_refused_by_number(routes, says, tmp_path):
    name = "routes.csv" if (routes, says) in WRONG_ROWS else "routes.txt"
    refused = flitwarp("check", ring(tmp_path, routes, name), status=1).stderr
    assert "network.routing.file: " in refused and f"{name}:" in refused and says in refused


def test_links_side_by_side_are_told_by_number(tmp_path):
    (tmp_path / "pair.txt").write_text("router 0 node 0 router 1 router 1\nrouter 1 node 1\n")
    for line, shares in (("router 0 to node 1 via router 1 link 1", [False, True]), ("router 0 to node 1 via router 1", [True, True])):
        (tmp_path / "routes.txt").write_text(line + "\nrouter 1 to node 0 via router 0\n")
        config = write(tmp_path, {"type": "file", "file": "pair.txt"}, {"type": "file", "file": "routes.txt"}, load=0.9)
        flitwarp("run", config, "--quiet", "--channel-log", tmp_path / "channels.csv", "--results", tmp_path / "results.json")
        with open(tmp_path / "channels.csv") as file:
            flits = [int(row["flits"]) for row in csv.DictReader(file) if row["kind"] == "between" and row["router"] == "0"]
        assert [count > 0 for count in flits] == shares

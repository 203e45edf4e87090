# SPDX-License-Identifier: Apache-2.0
"""`flitwarp topology`: what networks are, side by side, as files and pictures."""
import csv
import json
import os
import re
import subprocess
import xml.etree.ElementTree as tree
from collections import Counter

import pytest

from support import PROGRAM, ROOT

ASAN = os.environ.get("FLITWARP_ASAN", "")
CAREFUL = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM  # small networks go through the sanitizers
PRICES = ROOT / "examples" / "papers" / "fitfly"
EDR, FDR = PRICES / "prices_edr.json", PRICES / "prices_fdr.json"
EXAMPLES = ROOT / "examples"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
SVG = "{http://www.w3.org/2000/svg}"


def flitwarp(*arguments, cwd=None, status=0, program=CAREFUL):
    ended = subprocess.run([program, "topology", *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
                           timeout=120, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


def write(folder, topology, name="config.json", **network):
    path = folder / name
    path.write_text(json.dumps({"network": {"topology": topology, **network}}))
    return path


def facts(*arguments, **keywords):
    document = json.loads(flitwarp(*arguments, "--json", **keywords).stdout)
    assert list(document) == ["networks"]
    return document["networks"]


def rows(text):
    """Cells of a table by the label of their row; columns are two spaces apart."""
    return {cells[0].strip(): cells[1:] for cells in (re.split(r"\s{2,}", line.strip()) for line in text.splitlines()[1:])}


# ---- numbers ----

def test_mesh_is_as_the_formulas_say(tmp_path):
    """An 8x8 mesh: 2 * 7 * 8 links, (k^2 - 1) / 3k a dimension, 8 links in its middle."""
    [mesh] = facts(write(tmp_path, {"type": "mesh", "widths": [8, 8], "concentration": 2}))
    assert (mesh["routers"], mesh["terminals"], mesh["topology"]) == (64, 128, "mesh")
    assert mesh["links"] == {"total": 240, "by_class": {"terminal": 128, "dimension 0": 56, "dimension 1": 56}}
    assert mesh["radix"] == {"min": 4, "max": 6} and mesh["diameter"] == 14
    assert mesh["distance"]["exact"] and mesh["distance"]["sources"] == 64
    assert mesh["distance"]["routers"] == {"mean": pytest.approx(16 / 3), "standard_error": 0}
    assert mesh["distance"]["terminals"]["mean"] == pytest.approx(2 * 63 / 24 * 128 / 127)
    assert [row["hops"] for row in mesh["distance"]["distribution"]] == list(range(1, 15))
    assert sum(row["pairs"] for row in mesh["distance"]["distribution"]) == 64 * 63
    assert mesh["distance"]["distribution"][0] == {"hops": 1, "pairs": 2 * 112, "mean_paths": 1}
    assert mesh["shortest_paths"]["min"] == 1 and mesh["disjoint_paths"]["exact"]
    assert mesh["bisection"]["links"] == 8 and mesh["bisection"]["is"] == "upper bound of the minimum"
    assert mesh["bisection"]["bandwidth"] == 8 * 32e9  # a flit of 32 bytes each nanosecond
    assert "cost" not in mesh


def test_table_says_the_same(tmp_path):
    table = rows(flitwarp(write(tmp_path, {"type": "mesh", "widths": [8, 8]})).stdout)
    assert table["routers"] == ["64"] and table["diameter"] == ["14"] and table["ports of a router"] == ["3 to 5"]
    assert table["mean distance of routers"] == ["5.333"]
    assert table["bisection, upper bound"] == ["8 links"] and table["one way"] == ["256 GB/s"]
    assert table["searched from"] == ["all 64 routers"]


def test_networks_stand_side_by_side(tmp_path):
    mesh = write(tmp_path, {"type": "mesh", "widths": [4, 4]}, "mesh.json")
    fly = write(tmp_path, {"type": "dragonfly"}, "fly.json")
    text = flitwarp(mesh, fly, mesh).stdout
    assert text.splitlines()[0].split() == [str(mesh), str(fly), str(mesh)]
    table = rows(text)
    assert table["topology"] == ["mesh", "dragonfly", "mesh"]
    assert table["routers"] == ["16", "36", "16"]
    assert table["dimension 1"] == ["12", "-", "12"] and table["global"] == ["-", "36", "-"]
    assert [one["topology"] for one in facts(mesh, fly)] == ["mesh", "dragonfly"]


def test_overrides_are_for_all(tmp_path):
    first, second = (write(tmp_path, {"type": "mesh", "widths": [size, 4]}, f"{size}.json") for size in (3, 5))
    both = facts(first, second, "network.topology.concentration=2")
    assert [one["terminals"] for one in both] == [24, 40]


def test_channels_of_terminals_are_counted(tmp_path):
    """Two injection channels are two links; a butterfly's terminals have one at each side."""
    [torus] = facts(write(tmp_path, {"type": "torus", "widths": [4, 4]}, interface={"injection_channels": 2}))
    assert torus["links"]["by_class"]["terminal"] == 32 and torus["radix"] == {"min": 6, "max": 6}
    [fly] = facts(write(tmp_path, {"type": "butterfly", "radix": 2, "stages": 3}))
    assert fly["links"]["by_class"] == {"terminal": 16, "router": 16} and fly["radix"] == {"min": 4, "max": 4}
    assert fly["distance"]["terminals"]["mean"] == 2


def test_bandwidth_of_the_cut_is_that_of_its_links(tmp_path):
    """Cut in the middle of its long dimension, whose flits of 64 bytes take 4 ns."""
    [mesh] = facts(write(tmp_path, {"type": "mesh", "widths": [8, 2]}, channel={"cycles": [4, 1]}, flit_bytes=64))
    assert mesh["bisection"]["links"] == 2 and mesh["bisection"]["bandwidth"] == pytest.approx(2 * 64 / 4e-9)


@pytest.mark.parametrize("topology, routers, terminals, mean, bisection", [
    ({"type": "torus", "widths": [256, 256]}, 65536, 65536, 128 * 65536 / 65535, 512),
    ({"type": "dragonfly", "terminals": 16, "routers": 32, "global": 16}, 16416, 262656, None, None)])
def test_large_networks_are_sampled_and_say_so(topology, routers, terminals, mean, bisection, tmp_path):
    config = write(tmp_path, topology)
    [large] = facts(config, program=PROGRAM)
    distance = large["distance"]
    assert (large["routers"], large["terminals"]) == (routers, terminals)
    assert not distance["exact"] and 100 <= distance["sources"] < routers
    assert not large["disjoint_paths"]["exact"] and large["disjoint_paths"]["standard_error"] > 0
    if mean:
        assert distance["routers"]["mean"] == pytest.approx(mean, rel=1e-9) and large["bisection"]["links"] == bisection
    else:  # of a source's 16415 others 31 are local; 2 or 3 hops to the rest
        assert distance["routers"]["standard_error"] > 0 and 2.8 < distance["routers"]["mean"] < 3
        assert large["diameter"] == 3


def test_what_is_counted_in_each_plane_says_so(tmp_path):
    """A ring of 4 in 3 planes: 12 routers, 12 links between them and 12 of terminals; 2 links cut any one ring in two."""
    config = write(tmp_path, {"type": "torus", "widths": [4]}, planes={"count": 3})
    table = rows(flitwarp(config).stdout)
    assert table["routers"] == ["12"] and table["links"] == ["24"]
    assert table["bisection, upper bound"] == ["2 links in each plane"]
    assert table["one way"] == ["64 GB/s in each plane"] and table["links a terminal of a half"] == ["1 in each plane"]
    assert rows(flitwarp(config, "network.planes.count=1").stdout)["bisection, upper bound"] == ["2 links"]


@pytest.mark.parametrize("placed", [2, 3, 4])
def test_a_floor_plan_may_have_routers_of_all_planes(placed, tmp_path):
    """Two routers 3 m apart, at 5 ticks a metre; in the second plane, if the plan has it, somewhere else."""
    (tmp_path / "plan.csv").write_text("".join(f"{router},{3 * router},{router // 2}\n" for router in range(placed)))
    config = write(tmp_path, {"type": "mesh", "widths": [2]}, planes={"count": 2}, channel={"cable": {"plan": "plan.csv"}})
    flitwarp(config, "--export", tmp_path / "links.csv")
    with open(tmp_path / "links.csv", encoding="utf-8") as file:
        [link] = [row for row in csv.DictReader(file) if row["class"] != "terminal"]
    assert link["latency"] == link["latency_back"] == "16"  # and the channel's own


@pytest.mark.parametrize("topology", ["single_router", {"type": "mesh", "widths": [2]}], ids=["single_router", "mesh"])
def test_a_floor_plan_has_all_routers_of_the_first_plane(topology, tmp_path):
    (tmp_path / "plan.csv").write_text("router,x,y\n" if topology == "single_router" else "0,0,0\n")
    config = write(tmp_path, topology, planes={"count": 2}, channel={"cable": {"plan": "plan.csv"}})
    assert "has no place" in flitwarp(config, status=1).stderr


# ---- the Fit Fly study ----

SLIM_FLY = {"type": "slim_fly", "q": 13, "terminals": 9}
FIT_FLY = {  # Tables 2 and 4: settings, routers, links, terminals, prices, total
    "Slim Fly": (SLIM_FLY, 1, 338, 6253, 3042, EDR, 9_501_856),
    "Fit Fly": (SLIM_FLY, 2, 676, 12506, 3042, EDR, 19_003_712),
    "Fit Fly FDR": (SLIM_FLY, 2, 676, 12506, 3042, FDR, 14_462_344),
    "Dragonfly": ({"type": "dragonfly", "terminals": 9, "routers": 18, "global": 9, "groups": 19}, 1, 342, 7524, 3078,
                  EDR, 9_774_702),
    "Megafly": ({"type": "megafly", "terminals": 18, "leaves": 18, "spines": 18, "global": 18, "groups": 10}, 1, 360,
                8100, 3240, EDR, 10_313_280),
}


@pytest.mark.parametrize("network", FIT_FLY)
def test_costs_are_those_of_the_fit_fly_study(network, tmp_path):
    topology, planes, routers, links, terminals, prices, total = FIT_FLY[network]
    [found] = facts(write(tmp_path, topology, planes={"count": planes}), "--prices", prices, program=PROGRAM)
    assert (found["routers"], found["links"]["total"], found["terminals"]) == (routers, links, terminals)
    assert found["cost"]["total"] == total
    assert found["cost"]["per_terminal"] == pytest.approx(total / terminals)


def test_costs_are_shown(tmp_path):
    config = write(tmp_path, FIT_FLY["Dragonfly"][0])
    table = rows(flitwarp(config, "--prices", EDR, program=PROGRAM).stdout)
    assert table["cost"] == ["$9,774,702"] and table["all links"] == ["$1,008,216"]
    prices = tmp_path / "prices.json"
    prices.write_text('{"currency": "EUR ", "router": 100, "port": 1, "terminal": 10.5, "links": {"terminal": 1, "local": 2, '
                      '"global": 20}}')
    [fly] = facts(write(tmp_path, {"type": "dragonfly"}), "--prices", prices)
    assert fly["cost"] == {"currency": "EUR ", "routers": 36 * 107, "links": 72 + 2 * 54 + 20 * 36, "terminals": 756,
                           "total": 36 * 107 + 900 + 756, "per_terminal": pytest.approx(5508 / 72)}


# ---- files ----

def torus_links(widths, latencies):
    """(from, to, class, latency) of every link between routers, as often as it is there; ends in rising order."""
    wide, high = widths
    links = Counter()
    for y in range(high):
        for x in range(wide):
            here = y * wide + x
            for to, dimension in ((y * wide + (x + 1) % wide, 0), ((y + 1) % high * wide + x, 1)):
                ends = tuple(f"r{end}" for end in sorted((here, to)))
                links[(*ends, f"dimension {dimension}", latencies[dimension])] += 1
    return links


def read_graphml(path):
    graph = tree.parse(path).getroot().find(f"{GRAPHML}graph")

    def data(element):
        return {one.get("key"): one.text for one in element.iter(f"{GRAPHML}data")}
    nodes = {node.get("id"): data(node) for node in graph.iter(f"{GRAPHML}node")}
    edges = [{"from": edge.get("source"), "to": edge.get("target"), **data(edge)} for edge in graph.iter(f"{GRAPHML}edge")]
    return nodes, edges


def read_dot(path):
    nodes, edges = {}, []
    for line in path.read_text().splitlines():
        if match := re.fullmatch(r"  (\w+)( -- (\w+))? \[(.*)\];", line):
            found = {key: value.strip('"') for key, value in re.findall(r'(\w+)=("[^"]*"|[^,]+)', match[4])}
            if match[3]:
                edges.append({"from": match[1], "to": match[3], **found})
            else:
                nodes[match[1]] = found
    return nodes, edges


def read_csv(path):
    with open(path) as file:
        edges = list(csv.DictReader(file))
    nodes = {}
    for edge in edges:
        for end in ("from", "to"):
            kind = "router" if edge[end][0] == "r" else "terminal"
            nodes[edge[end]] = {"kind": kind, **({"coordinates": edge[f"{end}_coordinates"]} if kind == "router" else {})}
    return nodes, edges


READERS = {"graphml": read_graphml, "dot": read_dot, "csv": read_csv}


@pytest.mark.parametrize("ending", READERS)
def test_exported_file_has_every_link(ending, tmp_path):
    config = write(tmp_path, {"type": "torus", "widths": [4, 2]}, channel={"latencies": [3, 7], "cycles": [1, 2]},
                   terminal_channel={"latency": 5})
    out = tmp_path / f"network.{ending}"
    flitwarp(config, "--export", out)
    nodes, edges = READERS[ending](out)
    assert {name for name in nodes} == {f"{letter}{i}" for letter in "rt" for i in range(8)}
    assert nodes["r6"]["kind"] == "router" and nodes["r6"]["coordinates"] == "2 1" and nodes["t6"]["kind"] == "terminal"
    between = [edge for edge in edges if edge["class"] != "terminal"]
    found = Counter((*sorted((edge["from"], edge["to"])), edge["class"], int(edge["latency"])) for edge in between)
    assert found == torus_links((4, 2), (3, 7))  # two links between the routers of a column: it wraps at 2
    assert all(edge["latency"] == edge["latency_back"] for edge in edges)
    assert {(edge["class"], float(edge["bandwidth"])) for edge in edges} == {
        ("dimension 0", 32e9), ("dimension 1", 16e9), ("terminal", 32e9)}
    ends = {(edge["from"], edge["to"], edge["latency"]) for edge in edges if edge["class"] == "terminal"}
    assert ends == {(f"t{i}", f"r{i}", "5") for i in range(8)}


def test_groups_and_levels_are_exported(tmp_path):
    fly, tree_, out = write(tmp_path, {"type": "dragonfly"}, "fly.json"), write(
        tmp_path, {"type": "folded_clos", "radix": 4, "levels": 2}, "tree.json"), tmp_path / "network.graphml"
    flitwarp(fly, "--export", out)
    nodes, edges = read_graphml(out)
    assert all(nodes[f"r{i}"]["group"] == str(i // 4) for i in range(36))  # four routers a group
    assert all((nodes[edge["from"]]["group"] == nodes[edge["to"]]["group"]) == (edge["class"] == "local")
               for edge in edges if edge["class"] != "terminal")
    flitwarp(tree_, "--export", out)
    assert [read_graphml(out)[0][f"r{i}"]["level"] for i in range(6)] == ["0"] * 4 + ["1"] * 2


@pytest.mark.parametrize("example", ["network_file", "dragonfly", "torus_uniform", "fat_tree"])
def test_exported_text_is_the_same_network(example, tmp_path):
    """Read back by topology `file` it has the same distances and cuts; links that are named twice have their latencies."""
    original, back = EXAMPLES / f"{example}.json", tmp_path / "back.json"
    back.write_text(json.dumps({"network": {"topology": {"type": "file", "file": "network.txt"}}}))
    flitwarp(original, "--export", tmp_path / "network.txt")
    [one], [other] = facts(original), facts(back)
    for key in ("routers", "terminals", "radix", "diameter", "distance", "shortest_paths", "disjoint_paths"):
        assert one[key] == other[key], key
    assert one["links"]["total"] == other["links"]["total"]
    assert one["bisection"]["links"] == other["bisection"]["links"]

    def links(config):
        flitwarp(config, "--export", tmp_path / "links.csv")
        found = Counter()
        for edge in read_csv(tmp_path / "links.csv")[1]:
            found[edge["from"], edge["to"], edge["latency"]] += 1
            found[edge["to"], edge["from"], edge["latency_back"]] += 1
        return found
    assert links(original) == links(back)


# ---- pictures ----

def test_picture_has_every_router_and_link(tmp_path):
    out = tmp_path / "network.svg"
    flitwarp(write(tmp_path, {"type": "dragonfly"}), "--picture", out, "--terminals")
    root = tree.parse(out).getroot()
    assert root.tag == f"{SVG}svg"
    groups = {group.get("stroke"): len(group.findall(f"{SVG}path")) for group in root.iter(f"{SVG}g")}
    assert sorted(groups.values()) == [36, 54] and len(groups) == 2  # global, local
    fills = Counter(circle.get("fill") for circle in root.iter(f"{SVG}circle"))
    assert sorted(fills.values()) == [9, 36, 73]  # groups, routers, terminals and their place in the legend
    words = " ".join(text.text for text in root.iter(f"{SVG}text"))
    assert "dragonfly" in words and "36 routers, 72 terminals" in words
    assert "local: 54 links" in words and "global: 36 links" in words
    width, height = float(root.get("width")), float(root.get("height"))
    for circle in root.iter(f"{SVG}circle"):
        assert 0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height


def test_routers_of_a_picture_lie_apart(tmp_path):
    for example in ("torus_uniform", "hypercube", "fat_tree", "butterfly", "dragonfly", "hyperx", "network_file"):
        flitwarp(EXAMPLES / f"{example}.json", "--picture", tmp_path / "network.svg", program=PROGRAM)
        circles = [one for one in tree.parse(tmp_path / "network.svg").getroot().iter(f"{SVG}circle")
                   if one.get("fill") == "#ffffff"]
        places = [(float(one.get("cx")), float(one.get("cy")), float(one.get("r"))) for one in circles]
        for i, (x, y, radius) in enumerate(places):
            assert all((x - a) ** 2 + (y - b) ** 2 > 4 * radius * radius for a, b, _ in places[:i]), example


def test_every_topology_is_surveyed_drawn_and_exported(tmp_path):
    listed = subprocess.run([PROGRAM, "list", "topology"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[1] for line in listed.splitlines()]
    assert len(names) >= 10
    (tmp_path / "network.txt").write_text("router 0 node 0 router 1\nrouter 1 node 1\n")
    for name in names:
        topology = {"type": name, **({"file": "network.txt"} if name == "file" else {})}
        if name == "hierarchy":
            topology |= {"inside": ["torus"], "outside": "single_router", "spare": "terminals"}
        config = write(tmp_path, topology)
        [found] = facts(config, "--picture", tmp_path / "out.svg", "--export", tmp_path / "out.graphml")
        nodes, edges = read_graphml(tmp_path / "out.graphml")
        assert len(nodes) == found["routers"] + found["terminals"] and len(edges) == found["links"]["total"], name
        assert found["distance"]["exact"] and found["distance"]["unreached_pairs"] == 0, name
        assert tree.parse(tmp_path / "out.svg").getroot().tag == f"{SVG}svg"


# ---- refusals ----

REFUSED = {
    "nothing": ([], "no configuration is given", "usage: flitwarp topology"),
    "an unknown option": (["good.json", "--fast"], "'--fast' is not understood", "usage:"),
    "an option without its value": (["good.json", "--export"], "'--export' needs a value"),
    "a missing configuration": (["none.json"], "none.json", "No such file"),
    "a wrong setting": (["good.json", "network.topology.widths=[1,4]"], "network.topology.widths"),
    "a second configuration that is wrong": (["good.json", "wrong.json"], "wrong.json", "tours"),
    "a model": (["model.json"], "found a model, expected a network"),
    "an unknown ending": (["good.json", "--export", "out.gml"], "--export: found 'out.gml'", ".graphml, .dot, .csv"),
    "an ending alone": (["good.json", "--export", ".dot"], "--export: found '.dot'"),
    "a picture of another kind": (["good.json", "--picture", "out.png"], "--picture: found 'out.png'", ".svg"),
    "a picture of too many routers": (["good.json", "network.topology.widths=[64,64]", "--picture", "out.svg"],
                                      "4096 routers are too many to see", "up to 1024"),
    "a picture of too many links": (["full.json", "--picture", "out.svg"], "19900 links", "up to 16384"),
    "too many terminals": (["good.json", "network.topology.concentration=1000", "--picture", "out.svg", "--terminals"],
                           "16000 are too many to see", "up to 4096"),
    "terminals without a picture": (["good.json", "--terminals"], "--terminals needs --picture"),
    "two networks in a file": (["good.json", "good.json", "--export", "out.csv"], "--export takes one network", "2"),
    "a butterfly as text": (["fly.json", "--export", "out.txt"], "leave at another router", ".graphml, .dot, .csv"),
    "missing prices": (["good.json", "--prices", "none.json"], "cannot read 'none.json'", "No such file"),
    "prices of nothing": (["good.json", "--prices", "empty.json"], "router"),
    "a class without a price": (["good.json", "--prices", "some.json", "--export", "out.csv"],
                                'no price of a "dimension 0" link'),
    "a price of an unknown class": (["good.json", "--prices", "other.json", "--picture", "out.svg"],
                                    'no links of class "globl"', "terminal, dimension 0"),
    "a price of an unknown part": (["good.json", "--prices", "part.json"], "routr", "did you mean 'router'?"),
}


@pytest.mark.parametrize("arguments, expected", [(case[0], case[1:]) for case in REFUSED.values()], ids=REFUSED)
def test_mistakes_are_refused(arguments, expected, tmp_path):
    files = {"good.json": {"network": {"topology": {"type": "mesh", "widths": [4, 4]}}},
             "wrong.json": {"network": {"topology": "tours"}}, "model.json": {"model": "phold"},
             "fly.json": {"network": {"topology": "butterfly"}},
             "full.json": {"network": {"topology": {"type": "hyperx", "widths": [200]}}}, "empty.json": {},
             "some.json": {"router": 1, "links": {"terminal": 2}},
             "other.json": {"router": 1, "link": 1, "links": {"globl": 2}}, "part.json": {"routr": 1}}
    for name, document in files.items():
        (tmp_path / name).write_text(json.dumps(document))
    ended = flitwarp(*arguments, cwd=tmp_path, status=1)
    assert ended.stdout == "" and set(os.listdir(tmp_path)) == set(files), "a file was left behind"
    for part in expected:
        assert part in ended.stderr, f"no '{part}' in: {ended.stderr}"


def test_a_file_that_cannot_be_written_is_an_error_of_its_own(tmp_path):
    config = write(tmp_path, {"type": "mesh", "widths": [4, 4]})
    for flag, name in (("--export", "none/out.csv"), ("--picture", "none/out.svg")):
        assert "cannot write 'none/" in flitwarp(config, flag, name, cwd=tmp_path, status=3).stderr


def test_help_tells_the_usage():
    shown = flitwarp("--help").stdout
    assert shown.startswith("usage: flitwarp topology CONFIG") and "--prices" in shown and "--picture" in shown

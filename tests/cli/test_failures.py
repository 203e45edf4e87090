# SPDX-License-Identifier: Apache-2.0
"""What has failed from the start: which links, what is left to reach, and what a run does about it. Every graph is searched
again here, on the list of links without failures and the list of dead ones, by a search that shares nothing with the
program's."""
import csv
import json
import random
import re
import subprocess
from collections import Counter, defaultdict

import pytest

from support import PROGRAM, mpirun, run

TOPOLOGIES = [
    {"type": "mesh", "widths": [4, 4]},
    {"type": "torus", "widths": [3, 4]},
    {"type": "hypercube", "dimensions": 4},
    {"type": "hyperx", "widths": [3, 4], "channels": [2, 1]},
    {"type": "dragonfly", "terminals": 1, "routers": 3, "global": 1},
    {"type": "megafly", "terminals": 1},
    {"type": "folded_clos", "radix": 4, "levels": 3},
    {"type": "slim_fly", "q": 3, "terminals": 1},
    {"type": "jellyfish", "routers": 16, "degree": 3, "terminals": 1},
    {"type": "express_mesh", "width": 4},
]
SETS = 100  # drawn for each


def flitwarp(*arguments, status=0):
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stdout} {ended.stderr}"
    return ended


def write(path, topology, failures=None, **network):
    failures = {} if failures is None else {"failures": failures}
    path.write_text(json.dumps({"network": {"topology": topology, **failures, **network}}))
    return path


def exported(folder, topology, failures=None):
    """Links between routers as (a, b, class), and the routers of terminals."""
    path = folder / "links.csv"
    flitwarp("topology", write(folder / "whole.json", topology, failures), "--export", path)
    links, hosts = [], Counter()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["class"] == "terminal":
                hosts[int(row["to"][1:])] += 1
            else:
                links.append((int(row["from"][1:]), int(row["to"][1:]), row["class"]))
    return links, hosts


def paths_from(start, joined):
    """Distance and number of shortest ways to all that can be reached; parallel links make different ways."""
    distance, ways, layer = {start: 0}, Counter({start: 1}), {start}
    while layer:
        following = Counter()
        for at in layer:
            for to, links in joined[at].items():
                if to not in distance:
                    following[to] += ways[at] * links
        distance.update({to: distance[next(iter(layer))] + 1 for to in following})
        ways.update(following)
        layer = set(following)
    return distance, ways


def searched(links, dead_links, dead_routers, hosts):
    """Pairs of routers with terminals by distance, the mean number of ways of these, pairs out of reach, parts."""
    joined = defaultdict(Counter)
    for number, (a, b, _) in enumerate(links):
        if number not in dead_links and a not in dead_routers and b not in dead_routers:
            joined[a][b] += 1
            joined[b][a] += 1
    pairs, ways, unreached, parts = Counter(), Counter(), 0, {}
    routers = {end for a, b, _ in links for end in (a, b)}
    for start in routers:
        distance, count = paths_from(start, joined)
        parts[start] = min(distance)
        if start not in hosts:
            continue
        for to in hosts:
            if to == start:
                continue
            unreached += to not in distance
            if to in distance:
                pairs[distance[to]] += 1
                ways[distance[to]] += count[to]
    return pairs, ways, unreached, Counter(parts.values())


def nth(links, number):
    """A link as the settings name it: of several between the same routers, which."""
    a, b, _ = links[number]
    among = [i for i, other in enumerate(links) if {other[0], other[1]} == {a, b}]
    return [a, b, among.index(number)] if len(among) > 1 else [a, b]


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology["type"])
def test_what_is_left_is_as_an_independent_search_finds_it(topology, tmp_path):
    links, hosts = exported(tmp_path, topology)
    routers = sorted({end for a, b, _ in links for end in (a, b)})
    draw = random.Random(topology["type"])
    sets = [(draw.sample(range(len(links)), draw.randint(1, max(1, len(links) // 3))),
             draw.sample(routers, draw.choice([0, 0, 1, 2]))) for _ in range(SETS)]
    configs = [write(tmp_path / f"{i}.json", topology, {"links": [nth(links, n) for n in dead], "routers": gone})
               for i, (dead, gone) in enumerate(sets)]
    document = json.loads(flitwarp("topology", "--json", *configs).stdout)
    for (dead, gone), facts in zip(sets, document["networks"], strict=True):
        pairs, ways, unreached, parts = searched(links, set(dead), set(gone), hosts)
        assert facts["distance"]["unreached_pairs"] == unreached
        assert facts["diameter"] == max(pairs, default=0)
        assert {row["hops"]: row["pairs"] for row in facts["distance"]["distribution"] if row["pairs"]} == pairs
        assert {row["hops"]: round(row["mean_paths"] * row["pairs"]) for row in facts["distance"]["distribution"]
                if row["pairs"]} == ways
        assert facts["failures"]["parts"] == len(parts)
        assert facts["failures"]["largest_part"] == max(parts.values())
        assert facts["failures"]["routers"] == len(gone)


# ---- draws ----

def left_of(folder, topology, failures, whole):
    """The dead links, as a multiset."""
    return Counter(whole) - Counter(exported(folder, topology, failures)[0])


def test_a_share_is_rounded_and_grows_with_the_same_seed(tmp_path):
    """A dragonfly of 7 groups of 6 routers: 21 global links, 105 local ones."""
    dragonfly = {"type": "dragonfly", "terminals": 1, "routers": 6, "global": 1}
    whole, _ = exported(tmp_path, dragonfly)
    assert Counter(kind for _, _, kind in whole) == {"local": 105, "global": 21}
    before = Counter()
    for share in (0, 0.03, 0.1, 0.5, 1):
        dead = left_of(tmp_path, dragonfly, {"links": {"share": share, "seed": 5}}, whole)
        assert sum(dead.values()) == round(126 * share) and not before - dead
        before = dead
    one, two = [left_of(tmp_path, dragonfly, {"links": {"count": 20, "seed": seed}}, whole) for seed in (1, 2)]
    assert sum(one.values()) == sum(two.values()) == 20 and one != two
    of_kind = left_of(tmp_path, dragonfly, {"links": [{"share": 0.25, "kind": "global"}, {"count": 3, "kind": "local"}]}, whole)
    assert Counter(kind for _, _, kind in of_kind.elements()) == {"global": 5, "local": 3}


def test_every_link_is_drawn_as_often(tmp_path):
    """Half of the 24 links of a mesh, 40 times: each 20 times, within 4 standard deviations of 3.2."""
    mesh = {"type": "mesh", "widths": [4, 4]}
    whole, _ = exported(tmp_path, mesh)
    drawn = Counter()
    for seed in range(40):
        drawn += left_of(tmp_path, mesh, {"links": {"count": 12, "seed": seed}}, whole)
    assert sum(drawn.values()) == 480 and all(abs(drawn[link] - 20) <= 12 for link in whole)


def test_ports_and_files_name_the_same_links(tmp_path):
    """Ports of a mesh: up and down of dimension 0, then of dimension 1. So port 0 of router 5 leads to 6, port 3 to 1."""
    mesh = {"type": "mesh", "widths": [4, 4]}
    whole, _ = exported(tmp_path, mesh)
    (tmp_path / "dead.txt").write_text("# two links\nlink 5 6\n\nport 5 3   # to router 1\nrouter 15\n")
    by_port = left_of(tmp_path, mesh, {"ports": [[5, 0], [5, 3]], "routers": [15]}, whole)
    assert {(a, b) for a, b, _ in by_port} == {(5, 6), (1, 5), (14, 15), (11, 15)}
    assert left_of(tmp_path, mesh, {"file": "dead.txt"}, whole) == by_port


def test_failures_of_htsim_are_links_up_of_a_tree(tmp_path):
    """Leaf 2 of a tree of 8 leaves and 4 roots (routers 8 to 11) loses its link to the second root; of three levels a
    router of the middle its first one."""
    (tmp_path / "flows.cm").write_text("Nodes 8\nConnections 1\nFailures 1\n0->1 start 0 size 64\n"
                                       "failure switch_type TOR switch_id 2 link_id 1\n")
    tree = {"type": "folded_clos", "radix": 8, "levels": 2}
    whole, _ = exported(tmp_path, tree)
    assert left_of(tmp_path, tree, {"file": "flows.cm"}, whole) == {(2, 9, "level 0"): 1}
    config = {"network": {"topology": tree, "routing": "up_down", "failures": {"file": "flows.cm"}}, "workload": {"applications": [
        {"type": "trace", "file": "flows.cm", "format": {"type": "htsim", "failures_apart": True},
         "allocation": {"type": "linear", "count": 8}}]}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    told = json.loads(flitwarp("run", tmp_path / "config.json", "--quiet").stdout)
    assert told["complete"] and told["failures"]["links"][0]["dead"] == 1
    (tmp_path / "deep.txt").write_text("failure link_id 0 switch_id 3 switch_type AGG\n")
    deep = {"type": "folded_clos", "radix": 4, "levels": 3}
    [(dead, count)] = left_of(tmp_path, deep, {"file": "deep.txt"}, exported(tmp_path, deep)[0]).items()
    assert (dead[0], dead[2], count) == (8 + 3, "level 1", 1)


# ---- runs ----

MODES = [{}, {"simulator__sync": "conservative", "simulator__threads": 3}, {"simulator__sync": "optimistic", "simulator__threads": 2}]
BLAST = {"type": "blast", "load": 0.2, "warmup": 200, "sample": 1500, "finish_limit": 20000}
NETWORKS = {
    "grid": {"topology": {"type": "torus", "widths": [4, 4]}, "routing": "escape_adaptive", "router": {"num_vcs": 3},
             "failures": {"links": {"share": 0.2}, "routers": [5], "cut_off": "lose"}},
    "tree": {"topology": {"type": "folded_clos", "radix": 4, "levels": 3}, "routing": "up_down",
             "failures": {"links": {"share": 0.15, "kind": "level 0", "seed": 2}, "cut_off": "lose"}},
    "packets": {"topology": {"type": "slim_fly", "q": 5, "terminals": 1}, "routing": {"type": "minimal"},
                "router": {"type": "packet", "num_vcs": 4},
                "failures": {"links": [{"share": 0.1}, {"share": 0.2, "bandwidth": 0.25, "extra_latency": 9, "seed": 4}]}},
    "planes": {"topology": {"type": "hyperx", "widths": [3, 3], "concentration": 2}, "routing": "ugal", "planes": {"count": 3},
               "router": {"num_vcs": 12}, "failures": {"links": {"share": 0.3}, "routers": [4, 20], "cut_off": "lose"}},
}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_synchronisation_has_the_same_results(name):
    config = {"network": NETWORKS[name], "workload": {"applications": [BLAST]}}
    runs = [run(config, **mode) for mode in MODES]
    told = [(each["simulation"]["digest"], each["failures"], each["applications"], each["channels"]) for each in runs]
    assert told[0] == told[1] == told[2]
    assert runs[0]["complete"] and runs[0]["applications"][0]["packets"] > 1000


@pytest.mark.parametrize("name", ["grid", "tree"])
def test_ranks_have_the_same_results(name, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"network": NETWORKS[name], "workload": {"applications": [BLAST]}}))
    subprocess.run([*mpirun(3), PROGRAM, "run", config, "--sync", "conservative", "--quiet", "--results", tmp_path / "r.json"],
                   check=True, capture_output=True, timeout=120)
    ranks, one = json.loads((tmp_path / "r.json").read_text()), run({"network": NETWORKS[name], "workload": {"applications": [BLAST]}})
    assert ranks["simulation"]["digest"] == one["simulation"]["digest"] and ranks["failures"] == one["failures"]


def test_messages_without_a_way_are_counted_where_they_are_made():
    """Four routers in a row, cut in the middle. Every terminal sends to its mirror image: nobody has a way. To the next:
    two of four have."""
    network = {"topology": {"type": "mesh", "widths": [4]}, "routing": "minimal", "router": {"num_vcs": 3},
               "failures": {"links": [[1, 2]], "cut_off": "lose"}}
    blast = {**BLAST, "load": 0.1, "injection": "periodic", "size": {"type": "fixed", "flits": 5}, "max_packet": 2}
    whole, far, near = (run({"network": {**network, "failures": failures}, "workload": {"applications": [
        {**blast, "traffic": traffic}]}})
        for failures, traffic in (({}, "neighbor"), (network["failures"], "bit_complement"), (network["failures"], "neighbor")))
    assert "failures" not in whole and whole["applications"][0]["packets"] > 0
    for told in (far, near):
        assert told["failures"]["links"] == [{"kind": "dimension 0", "dead": 1, "slow": 0, "all": 3}]
        assert told["failures"]["pairs_cut_off"] == 8
        assert told["failures"]["flits_not_sent"] == 5 * told["failures"]["messages_not_sent"] > 0
    sent = whole["applications"][0]
    share = near["applications"][0]["accepted_load"] / sent["accepted_load"]
    assert far["applications"][0]["packets"] == 0 and not far["applications"][0]["saturated"]
    assert share == pytest.approx(0.5, abs=0.02)


def test_a_share_of_nothing_is_told_too():
    """So that a study that begins at 0 has the same columns everywhere; and it is the network without failures."""
    network = {"topology": {"type": "mesh", "widths": [4, 4]}}
    whole, none = (run({"network": {**network, **more}, "workload": {"applications": [BLAST]}})
                   for more in ({}, {"failures": {"links": {"share": 0}}}))
    assert "failures" not in whole and [links["dead"] for links in none["failures"]["links"]] == [0, 0]
    assert none["simulation"]["digest"] == whole["simulation"]["digest"]


def test_a_plane_takes_what_another_cannot():
    """All of a plane's links but one plane's are dead: everything arrives, by the plane that is left."""
    ring = {"topology": {"type": "torus", "widths": [6]}, "routing": "minimal", "router": {"num_vcs": 3},
            "planes": {"count": 2, "order": "identical"}}
    dead = [[6 + router, 6 + (router + 1) % 6] for router in range(6)]
    told = run({"network": {**ring, "failures": {"links": dead}}, "workload": {"applications": [BLAST]}})
    assert told["failures"]["pairs_cut_off"] == 0 and told["failures"]["links"][0]["dead"] == 6
    assert told["applications"][0]["planes"]["share"] == [1, 0]
    assert told["applications"][0]["unfinished_packets"] == 0


def test_a_slow_link_is_as_slow_as_it_is_said_to_be():
    """Ten flits more take ten cycles of the link more: 40 ticks at a quarter of the bandwidth. Latency comes on top once."""
    network = {"topology": {"type": "mesh", "widths": [2]}, "routing": "minimal", "router": {"buffer_depth": 256}}

    def latency(flits, failures):
        stream = {"type": "stream", "messages": 1, "size": {"type": "fixed", "flits": flits}}
        told = run({"network": {**network, "failures": failures}, "workload": {"applications": [stream]}})
        return told["applications"][0]["packet_latency"]["max"]

    slow, late = ({"links": {"list": [[0, 1]], "bandwidth": share, "extra_latency": ticks}} for share, ticks in ((0.25, 0), (1, 100)))
    both = {"ports": [{"list": [[1, 1]], "bandwidth": 0.5}, {"list": [[0, 0]], "bandwidth": 0.5, "extra_latency": 3}]}
    assert [latency(20, failures) - latency(10, failures) for failures in ({}, slow, late, both)] == [10, 40, 10, 40]
    assert [latency(10, late) - latency(10, {}), latency(10, both) - latency(10, slow)] == [100, 3]


def test_a_tree_climbs_to_routers_that_have_a_way_down(tmp_path):
    """A two-level tree of 4 leaves and 2 roots; root 4 has lost leaf 3. Packets to leaf 3 climb to root 5 alone."""
    tree = {"topology": {"type": "folded_clos", "radix": 4, "levels": 2}, "routing": {"type": "up_down", "selection": "random"},
            "failures": {"links": [[3, 4]]}}
    path = tmp_path / "log.csv"
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"network": tree, "workload": {"applications": [{**BLAST, "traffic": "uniform_random"}]}}))
    flitwarp("run", config, "--quiet", "--channel-log", path, "--results", tmp_path / "results.json")
    with open(path, encoding="utf-8") as file:
        used = {(int(row["router"]), int(row["target"])) for row in csv.DictReader(file)
                if row["kind"] == "between" and int(row["flits"])}
    assert used == {(leaf, root) for leaf in range(4) for root in (4, 5)} - {(3, 4)} | \
                   {(root, leaf) for leaf in range(4) for root in (4, 5)} - {(4, 3)}


# ---- ways that go up and then down ----

def up_down_hops(links, dead, orders, hosts):
    """How many pairs of hosts have a shortest way of so many hops that goes up (to a lower order) and then down."""
    joined = defaultdict(set)
    for number, (a, b, _) in enumerate(links):
        if number not in dead:
            joined[a].add(b)
            joined[b].add(a)
    pairs = Counter()
    for start in hosts:
        reached, layer, hops = {(start, True): 0}, {(start, True)}, 0
        while layer:
            hops += 1
            layer = {(to, orders[to] < orders[at]) for at, may_rise in layer for to in joined[at]
                     if may_rise or orders[to] > orders[at]} - reached.keys()
            reached.update((state, hops) for state in layer)
        for to in hosts:
            pairs[min(hops for (at, _), hops in reached.items() if at == to)] += to != start
    return pairs - Counter({0: pairs[0]})


def levels_from(root, links, dead):
    joined = defaultdict(Counter)
    for number, (a, b, _) in enumerate(links):
        if number not in dead:
            joined[a][b] += 1
            joined[b][a] += 1
    return paths_from(root, joined)[0]


@pytest.mark.parametrize("topology, dead, root", [
    ({"type": "mesh", "widths": [4, 4]}, [0, 9, 17], 5), ({"type": "slim_fly", "q": 3, "terminals": 1}, [1, 5, 30], 3),
    ({"type": "jellyfish", "routers": 16, "degree": 4, "terminals": 1}, [2, 11], 0),
    ({"type": "folded_clos", "down": [1, 3, 4], "up": [3, 2]}, [0, 7, 13, 30], None)], ids=lambda value: value["type"] if isinstance(value, dict) else "")
def test_up_and_down_is_by_the_shortest_of_such_ways(topology, dead, root, tmp_path):
    """Every terminal sends one packet to every other; each router has one. In a tree the top is up, elsewhere the root."""
    links, hosts = exported(tmp_path, topology)
    if root is None:
        sizes = [len(hosts), 12, 6]  # 12 leaves of a terminal in 4 groups of 3, each below 3 routers; 6 at the top
        levels = {router: level for level in range(3) for router in range(sum(sizes[:level]), sum(sizes[:level + 1]))}
        orders, routing = {router: -level for router, level in levels.items()}, {"type": "up_down", "selection": "random"}
    else:
        levels = levels_from(root, links, dead)
        orders = {router: (level, router) for router, level in levels.items()}
        routing = {"type": "tree_up_down", "selection": "random", "roots": [root]}
    network = {"topology": topology, "routing": routing, "failures": {"links": [nth(links, number) for number in dead]}}
    told = run({"network": network, "workload": {"applications": [{"type": "alltoall"}]}})
    found = {hops: count for hops, count in told["applications"][0]["hops"]["distribution"] if count}
    assert told["complete"] and found == up_down_hops(links, set(dead), orders, hosts)


# ---- checks ----

ROUTERS = ["(0,0)", "(1,0)", "(0,1)", "(1,1)"]
ROUTINGS = ["minimal", {"type": "minimal_adaptive", "mode": "port_average"}, {"type": "escape_adaptive", "mode": "port_average"},
            "tree_up_down", {"type": "tree_up_down", "selection": "random"}, "valiant", "ugal", "par"]


@pytest.mark.parametrize("topology", TOPOLOGIES[::3], ids=lambda topology: topology["type"])
def test_no_deadlock_where_the_check_says_so(topology, tmp_path):
    """Far beyond saturation, in small buffers, with long packets: nothing ever stands still."""
    draw = random.Random(topology["type"])
    for routing in ROUTINGS:
        name = routing if isinstance(routing, str) else routing["type"]
        failures = {"links": {"share": draw.choice([0.1, 0.25]), "seed": draw.randrange(1000)}, "cut_off": "lose"}
        vcs = 2 if name in ("escape_adaptive", "tree_up_down") else 32
        depth = 6 if name == "escape_adaptive" else 2  # which gives VCs to whole packets alone
        network = {"topology": topology, "routing": routing, "router": {"num_vcs": vcs, "buffer_depth": depth}, "failures": failures}
        blast = {**BLAST, "load": 0.9, "size": {"type": "fixed", "flits": 6}, "sample": 600, "finish_limit": 1}
        config = tmp_path / "config.json"
        config.write_text(json.dumps({"network": network, "workload": {"applications": [blast]}}))
        assert ": no deadlock" in flitwarp("check", config).stdout
        assert json.loads(flitwarp("run", config, "--quiet").stdout)["outcome"] == "done"


def test_packets_that_escape_find_room_for_themselves():
    """A VC without room is given to nobody: who had taken one would wait in it, and could not escape any more."""
    network = {"topology": {"type": "slim_fly", "q": 5}, "routing": "escape_adaptive", "router": {"num_vcs": 4, "buffer_depth": 16},
               "failures": {"links": {"share": 0.1, "seed": 2}}}
    blast = {**BLAST, "load": 1.0, "warmup": 1000, "sample": 3000, "finish_limit": 1}
    told = run({"simulator": {"seed": 2}, "network": network, "workload": {"applications": [blast]}})
    assert told["outcome"] == "done" and told["applications"][0]["saturated"]


def test_a_check_tells_which_pairs_are_cut_off(tmp_path):
    config = write(tmp_path / "config.json", {"type": "mesh", "widths": [2, 2]}, {"routers": [3], "cut_off": "lose"}, routing="minimal",
                   router={"num_vcs": 2})
    told = flitwarp("check", config).stdout
    cut = re.search(r"cut off: no way from (.*) and others, 6 of 16 pairs of routers with terminals", told).group(1)
    assert set(cut.split(", ")) < {f"{a} to {b}" for a in ROUTERS for b in ROUTERS if (a == "(1,1)") != (b == "(1,1)")}
    assert "checked 10 of 10 pairs" in told


def test_planes_that_differ_are_checked_each(tmp_path):
    config = write(tmp_path / "config.json", {"type": "mesh", "widths": [2, 2]}, {"routers": [7]}, routing="minimal", router={"num_vcs": 2},
                   planes={"count": 2, "order": "identical"})
    told = flitwarp("check", config).stdout
    one, other = told.split("plane 0:\n")[1].split("plane 1:\n")
    assert "checked 16 of 16 pairs" in one and "cut off" not in one
    assert "6 of 16 pairs of routers with terminals" in other and "checked 10 of 10 pairs" in other


# ---- refusals ----

MESH = {"type": "mesh", "widths": [2, 2]}
WRONG = [
    ({"links": [[0, 3]]}, "links.list[0]: there is no link between routers 0 and 3"),
    ({"links": [[0, 4]]}, "links.list[0]: there is no router 4; accepted: 0 to 3"),
    ({"links": [[0, 1, 1]]}, "links.list[0]: there is no link 1 between routers 0 and 1; accepted: 0 to 0"),
    ({"links": [[0]]}, "links.list[0]: found 1 numbers, expected the routers at both ends, and which of several links"),
    ({"links": {"share": 1.5}}, "links.share: 1.5 is above 1"),
    ({"links": {"count": 5}}, "links.count: 5 links are to fail, but there are 4"),
    ({"links": {"count": 1, "share": 0.5}}, "links.count: has no effect beside share"),
    ({"links": {"kind": "global", "count": 1}}, "links.kind: \"mesh\" has no links of the kind 'global'; accepted: \"dimension 0\", "
                                                "\"dimension 1\", null"),
    ({"links": {"list": [[0, 1]], "extra_latency": 5}}, "links.extra_latency: has no effect without bandwidth"),
    ({"links": {"list": [[0, 1]], "bandwidth": 0.3}}, "at 0.3 of its bandwidth it would take 3.33333, expected a whole number"),
    ({"links": [{"count": 1}, {"counts": 1}]}, "links[1].counts: unknown key (did you mean 'count'?)"),
    ({"links": 3}, "links: found the number 3, expected an object, or an array of them"),
    ({"ports": [[0, 1]]}, "ports.list[0]: router 0 has no link behind port 1"),
    ({"ports": [[0, 0, 0]]}, "ports.list[0]: found 3 numbers, expected a router and a port"),
    ({"ports": [[4, 0]]}, "ports.list[0]: there is no router 4; accepted: 0 to 3"),
    ({"ports": {"count": 9}}, "ports.count: 9 ports are to fail, but there are 8"),
    ({"routers": [4]}, "routers.list[0]: there is no router 4; accepted: 0 to 3"),
    ({"routers": {"count": 5}}, "routers.count: 5 routers are to fail, but there are 4"),
    ({"terminals": [4]}, "terminals.list[0]: there is no terminal 4; accepted: 0 to 3"),
    ({"routers": [3]}, "failures.cut_off: 6 of 12 pairs of terminals of \"blast\" have no way to each other"),
    ({"file": "none.txt"}, "none.txt\": No such file"),
]
LINES = [
    ("link 0 3", "there is no link between routers 0 and 3"),
    ("cable 0 1", "found \"cable\", expected link A B [N], port ROUTER PORT, router N or terminal N"),
    ("link 0 1 0 1", "found \"1\", expected link A B [N]"),
    ("link 0 1.5", "found \"1.5\", expected link A B [N]"),
    ("router 0 1", "found 2 numbers behind \"router\", expected one"),
    ("router 1 bandwidth 0.5", "a router is dead or not"),
    ("link 0 1 bandwidth 2", "found \"2\", expected a number from 0 to 1"),
    ("link 0 1 bandwidth", "found \"\", expected a number from 0 to 1"),
    ("link 0 1 speed 2", "found \"speed\", expected bandwidth, extra_latency, bit_error_rate, at or until"),
    ("link 0 1 extra_latency 2.5", "found 2.5, expected a whole number of ticks"),
    ("link 0 1 extra_latency 2", "a dead link is neither late nor wrong"),
    ("link 0 1 at 5 until 5", "found an until that is not after at"),
    ("failure switch_type TOR switch_id 0 link_id 0", "a failure of htsim is of a fat tree, not of a \"mesh\""),
    ("failure switch_type CORE", "found \"CORE\", expected TOR or AGG"),
    ("failure link 3", "found \"link\", expected switch_type, switch_id or link_id"),
    ("failure switch_type TOR link_id 3", "a failure without switch_id"),
    ("failure switch_id 0.5", "found 0.5, expected a whole number"),
]


@pytest.mark.parametrize("failures, message", WRONG, ids=lambda value: value if isinstance(value, str) else None)
def test_what_cannot_fail_is_refused(failures, message, tmp_path):
    config = write(tmp_path / "config.json", MESH, failures, routing="minimal", router={"num_vcs": 3})
    assert message in flitwarp("check", config, status=1).stderr


@pytest.mark.parametrize("line, message", LINES, ids=lambda value: value)
def test_a_line_that_is_wrong_is_named(line, message, tmp_path):
    (tmp_path / "dead.txt").write_text(f"# none so far\n{line}\n")
    config = write(tmp_path / "config.json", MESH, {"file": "dead.txt"}, routing="minimal", router={"num_vcs": 3})
    assert f"dead.txt:2: {message}" in flitwarp("check", config, status=1).stderr


def test_routing_that_needs_the_whole_network_says_what_would_do(tmp_path):
    config = write(tmp_path / "config.json", MESH, {"links": [[0, 1]]})
    told = flitwarp("check", config, status=1).stderr
    assert "\"dimension_order\" needs a grid of routers (torus, mesh, hypercube) without failures" in told
    assert "accepted: \"minimal\", \"minimal_adaptive\", \"escape_adaptive\"" in told
    for setting, value in (("common_ancestor", "top"), ("reduced", "always")):
        config = write(tmp_path / "config.json", {"type": "folded_clos", "radix": 4, "levels": 2}, {"links": [[3, 4]]},
                       routing={"type": "up_down", setting: value})
        assert f"{setting}: \"{value}\" is not for a tree with failures" in flitwarp("check", config, status=1).stderr
    config = write(tmp_path / "config.json", {"type": "hyperx", "widths": [3, 3]}, {"links": [[0, 1]]}, router={"num_vcs": 9},
                   routing={"type": "valiant", "intermediate": "unaligned"})
    assert "\"unaligned\" needs topology \"hyperx\" without failures" in flitwarp("check", config, status=1).stderr


def test_applications_that_wait_for_messages_are_not_given_dead_ends(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({
        "network": {"topology": MESH, "routing": "minimal", "router": {"num_vcs": 3}, "failures": {"routers": [3], "cut_off": "lose"}},
        "workload": {"applications": [{"type": "blast", "reply": {"type": "fixed", "flits": 1}}]}}))
    assert "it would wait for messages that are lost" in flitwarp("check", config, status=1).stderr
    flitwarp("check", config, "workload.applications.0.allocation={\"type\":\"list\",\"terminals\":[0,1,2]}")


def test_roots_have_to_be_there_and_to_reach_all(tmp_path):
    for roots, message in (([9], "there is no router 9; accepted: 0 to 3"),
                           ([0, 3], "from router 0 to router 3 no way goes up and then down; accepted: one root")):
        config = write(tmp_path / "config.json", MESH, routing={"type": "tree_up_down", "roots": roots})
        told = flitwarp("check", config, status=1 if message else 0).stderr
        assert message in told


def test_planes_are_one_picture_only_while_they_are_alike(tmp_path):
    config = write(tmp_path / "config.json", MESH, {"links": [[0, 1]]}, planes={"count": 2})
    assert "2 planes are described as one, and failures make them differ" in flitwarp("topology", config, status=1).stderr

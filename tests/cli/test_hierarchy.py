# SPDX-License-Identifier: Apache-2.0
"""Networks of networks and clusters: every link against a construction that works otherwise, sizes by formulas, freedom from
deadlock of whatever is offered, latencies by hand, and what is refused."""
import csv
import itertools
import json
import subprocess
from collections import Counter

import pytest

from support import PROGRAM, Failed, blast, config_of, invoke, network_of, run_logged


def flitwarp(*arguments, status=0):
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stdout}{ended.stderr}"
    return ended


def write(folder, topology, **network):
    path = folder / "config.json"
    path.write_text(json.dumps({"network": {"topology": topology, **network}}))
    return path


def mesh(*widths, **more):
    return {"type": "mesh", "widths": list(widths), **more}


def tree(down, up):
    return {"type": "folded_clos", "down": down, "up": up}


# ---- a construction of our own: levels by name, joined by name ----

def level(settings):
    """Links between the routers of a topology, how many it has, and the router of each terminal."""
    kind = settings["type"]
    if kind == "single_router":
        return [], 1, [0] * settings["terminals"]
    if kind == "folded_clos":  # two levels: every leaf has a channel to every root
        (below, leaves), roots = settings["down"], settings["up"][0]
        return ([(leaf, leaves + root) for leaf in range(leaves) for root in range(roots)], leaves + roots,
                [leaf for leaf in range(leaves) for _ in range(below)])
    widths = settings["widths"]
    points = list(itertools.product(*(range(width) for width in reversed(widths))))  # the first coordinate is the fastest
    at = {point: number for number, point in enumerate(points)}
    links = []
    for point in points:
        for axis in range(len(widths)):
            width, moved = widths[len(widths) - 1 - axis], list(point)
            moved[axis] += 1
            if kind == "torus":
                moved[axis] %= width
            if tuple(moved) in at:
                links += [(at[point], at[tuple(moved)])] * settings.get("channels", [1])[0]
    return links, len(points), [at[point] for point in points for _ in range(settings.get("concentration", 1))]


def joined_by_routers(parts, outside, hangs, copies=1, channels=1, spare=False):
    """`parts`: settings and gateways of each sub-network; `hangs`: terminal outside of its gateway i of sub-network s."""
    links, homes, first, gateways = Counter(), [], 0, {}
    for number, (settings, own) in enumerate(parts):
        inside, count, terminals = level(settings)
        links.update((first + a, first + b, name_of(parts, settings)) for a, b in inside)
        homes += [first + router for router in terminals]
        gateways.update({(number, i): first + router for i, router in enumerate(own)})
        first += count
    inside, count, terminals = level(outside)
    seats = [first + copy * count + router for copy in range(copies) for router in terminals]
    links.update((first + copy * count + a, first + copy * count + b, "outside") for copy in range(copies) for a, b in inside)
    taken = {hangs(*key): router for key, router in gateways.items()}
    assert len(taken) == len(gateways)
    for seat, router in taken.items():
        links[router, seats[seat], "up"] += channels
    homes += [router for seat, router in enumerate(seats) if seat not in taken] if spare else []
    return links, homes


def name_of(parts, settings):
    kinds = [kind for number, (kind, _) in enumerate(parts) if kind not in [other for other, _ in parts[:number]]]
    return "inside" if len(kinds) == 1 else f"inside {kinds.index(settings)}"


def exported(folder, topology):
    flitwarp("topology", write(folder, topology), "--export", folder / "links.csv")
    links, homes = Counter(), {}
    with open(folder / "links.csv") as file:
        for row in csv.DictReader(file):
            a, b = row["from"], row["to"]
            if row["class"] == "terminal":
                terminal, router = (a, b) if a[0] == "t" else (b, a)
                homes[int(terminal[1:])] = int(router[1:])
            else:
                links[(*sorted((int(a[1:]), int(b[1:]))), row["class"])] += 1
    return links, [homes[terminal] for terminal in range(len(homes))]


def ordered(links):
    found = Counter()
    for (a, b, name), count in links.items():
        found[(*sorted((a, b)), name)] += count
    return found


CHIPLETS = {"type": "hierarchy", "inside": [mesh(3, 2)], "copies": [4], "gateways": [[4, 0, 4]],
            "outside": mesh(2, 2, concentration=3), "channels": 2}
PODS = {"type": "hierarchy", "inside": [{"type": "torus", "widths": [3, 3]}, tree([2, 3], [2])], "copies": [2, 3],
        "gateways": [[0, 4], [1]], "outside": mesh(5, concentration=2), "spare": "terminals"}
RAILS = {"type": "hierarchy", "inside": [tree([1, 4], [2])], "copies": [3], "gateways": [[0, 1, 2, 3]], "in_a_row": 1,
         "outside": {"type": "single_router", "terminals": 3}, "outside_copies": 4}
TOLD = {"type": "hierarchy", "inside": [mesh(2, 2)], "copies": [2], "gateways": [[0, 3]], "outside": mesh(3, concentration=2),
        "hung_at": [5, 0, 1, 4], "spare": "unused"}
IN_PLACE = {"type": "hierarchy", "inside": [mesh(2, 2)], "copies": [9], "joined": "directly",
            "gateways": [[1, 3, 0, 2, 2, 3, 0, 1]], "outside": mesh(3, 3, channels=[2])}
FEW = {"type": "hierarchy", "inside": [mesh(3)], "copies": [5], "joined": "directly", "gateways": [[0, 2]],
       "outside": {"type": "torus", "widths": [5]}}

BY_ROUTERS = {
    "chiplets": (CHIPLETS, joined_by_routers([(mesh(3, 2), [4, 0, 4])] * 4, mesh(2, 2, concentration=3),
                                             lambda s, i: 3 * s + i, channels=2)),
    "pods of two kinds": (PODS, joined_by_routers([(PODS["inside"][0], [0, 4])] * 2 + [(PODS["inside"][1], [1])] * 3, PODS["outside"],
                                                  lambda s, i: 2 * s + i if s < 2 else 2 + s, spare=True)),
    "rails": (RAILS, joined_by_routers([(tree([1, 4], [2]), range(4))] * 3, RAILS["outside"], lambda s, i: 3 * i + s, copies=4)),
    "as told": (TOLD, joined_by_routers([(mesh(2, 2), [0, 3])] * 2, TOLD["outside"], lambda s, i: TOLD["hung_at"][2 * s + i])),
}


@pytest.mark.parametrize("name", BY_ROUTERS)
def test_every_link_is_where_another_construction_has_it(name, tmp_path):
    topology, (links, homes) = BY_ROUTERS[name]
    assert exported(tmp_path, topology) == (ordered(links), homes)


def test_sub_networks_in_place_of_routers_have_their_channels(tmp_path):
    """Chiplets of 2x2 in a 3x3 mesh with two channels a side: one mesh of 6x6, in blocks."""
    found, homes = exported(tmp_path, IN_PLACE)
    number = {(x, y): 4 * (x // 2 + 3 * (y // 2)) + x % 2 + 2 * (y % 2) for x in range(6) for y in range(6)}
    expected = Counter()
    for (x, y), router in number.items():
        for step in ((x + 1, y), (x, y + 1)):
            if step in number:
                inside = (step[0] // 2, step[1] // 2) == (x // 2, y // 2)
                expected[(*sorted((router, number[step])), "inside" if inside else "outside")] += 1
    assert (found, homes) == (expected, list(range(36)))
    assert Counter(name for _, _, name in found.elements()) == {"inside": 36, "outside": 24}  # 9 * 4; 2 * 12


def test_gateways_take_the_ports_outside_in_turn(tmp_path):
    found, _ = exported(tmp_path, FEW)  # up is port 0, of router 0; down is port 1, of router 2
    ring = [((3 * i), (3 * ((i + 1) % 5) + 2)) for i in range(5)]
    assert found == ordered(Counter([(a, b, "outside") for a, b in ring] +
                                    [(3 * i + j, 3 * i + j + 1, "inside") for i in range(5) for j in range(2)]))


CLUSTERS = [(servers, gpus, switches, rails, leaf_servers, spines)
            for servers, gpus, rails, leaf_servers in [(4, 8, 8, 4), (4, 8, 8, 2), (6, 4, 2, 3), (4, 6, 1, 1), (2, 6, 3, 2)]
            for switches in (0, 1, 3) for spines in (0, 2)
            if spines or (switches and leaf_servers == servers)]


@pytest.mark.parametrize("servers,gpus,switches,rails,leaf_servers,spines", CLUSTERS)
def test_cluster_is_wired_by_rails(servers, gpus, switches, rails, leaf_servers, spines, tmp_path):
    """GPU i of server s hangs on the leaf of rail i mod rails that serves server s; every leaf on every spine."""
    found, homes = exported(tmp_path, {
        "type": "cluster", "servers": servers, "gpus": gpus, "switches": switches, "rails": rails, "leaf_servers": leaf_servers,
        **({"spines": spines} if spines else {"rail_only": True})})
    each = gpus + switches  # routers of a server: its GPUs, then its switches
    leaf = lambda rail, server: servers * each + rail * (servers // leaf_servers) + server // leaf_servers
    spine = servers * each + rails * (servers // leaf_servers)
    links = [(s * each + i, s * each + gpus + w, "scale-up") for s in range(servers) for i in range(gpus) for w in range(switches)]
    links += [(s * each + i, leaf(i % rails, s), "rail") for s in range(servers) for i in range(gpus)]
    links += [(leaf(rail, s), spine + top, "leaf-spine") for rail in range(rails) for s in range(0, servers, leaf_servers)
              for top in range(spines)]
    assert (found, homes) == (ordered(Counter(links)), [s * each + i for s in range(servers) for i in range(gpus)])


# ---- sizes ----

def facts(folder, topology):
    [network] = json.loads(flitwarp("topology", write(folder, topology), "--json").stdout)["networks"]
    return network


@pytest.mark.parametrize("side,inner,gateway", [(2, 3, 4), (4, 4, 5), (3, 2, 0)])
def test_chiplets_on_an_interposer_have_the_size_of_the_formulas(side, inner, gateway, tmp_path):
    """The farthest are corners: to the gateway, up, along the interposer, and the same down."""
    found = facts(tmp_path, {"type": "hierarchy", "inside": [mesh(inner, inner)], "copies": [side * side], "gateways": [[gateway]],
                             "outside": mesh(side, side)})
    chiplets, x, y = side * side, gateway % inner, gateway // inner
    reach = max(x, inner - 1 - x) + max(y, inner - 1 - y)
    assert (found["routers"], found["terminals"]) == (chiplets * (inner * inner + 1), chiplets * inner * inner)
    assert found["diameter"] == 2 * reach + 2 + 2 * (side - 1)
    assert found["links"]["by_class"] == {"terminal": chiplets * inner * inner, "inside": chiplets * 2 * inner * (inner - 1),
                                          "up": chiplets, "outside": 2 * side * (side - 1)}


def test_domains_of_72_with_18_switches_are_as_they_are_sold(tmp_path):
    """Eight domains: each GPU has 18 channels inside and one outside; a rail has a leaf of 8 ports down and 8 up."""
    found = facts(tmp_path, {"type": "cluster", "servers": 8, "gpus": 72, "switches": 18})
    assert found["links"]["by_class"] == {"terminal": 576, "scale-up": 8 * 72 * 18, "rail": 576, "leaf-spine": 72 * 8}
    assert found["routers"] == 8 * (72 + 18) + 72 + 8 and found["diameter"] == 4
    assert found["radix"]["max"] == 72  # a spine hears of every leaf, a switch of every GPU


def test_classes_are_levels_or_those_of_their_topologies(tmp_path):
    levels = facts(tmp_path, PODS)["links"]["by_class"]
    every = facts(tmp_path, {**PODS, "classes": "all"})["links"]["by_class"]
    assert list(levels) == ["terminal", "inside 0", "inside 1", "up", "outside"]
    assert list(every) == ["terminal", "inside 0: dimension 0", "inside 0: dimension 1", "inside 1: level 0", "up", "outside: dimension 0"]
    assert every["inside 0: dimension 0"] == every["inside 0: dimension 1"] == levels["inside 0"] / 2 == 2 * 9


def test_latencies_of_files_hold_on_their_levels(tmp_path):
    (tmp_path / "line.txt").write_text("router 0 node 0 3 router 1 7\nrouter 1 node 1\n")
    line = {"type": "file", "file": "line.txt"}
    def latencies(topology):
        flitwarp("topology", write(tmp_path, topology, channel={"latency": 5}), "--export", tmp_path / "links.csv")
        with open(tmp_path / "links.csv") as file:
            return Counter((row["class"], int(row["latency"])) for row in csv.DictReader(file))
    common = {"type": "hierarchy", "inside": [line], "copies": [2]}
    assert latencies({**common, "gateways": [[1]], "outside": mesh(2)}) == {
        ("terminal", 3): 2, ("terminal", 1): 2, ("inside", 7): 2, ("up", 5): 2, ("outside", 5): 1}
    assert latencies({**common, "gateways": [[1]], "outside": line, "joined": "directly"}) == {
        ("terminal", 3): 2, ("terminal", 1): 2, ("inside", 7): 2, ("outside", 7): 1}


def test_levels_may_be_nested(tmp_path):
    """Boards of two chiplets, joined by a switch: 2 * (2 * 4 + 2) + 1 routers."""
    board = {"type": "hierarchy", "inside": [mesh(2, 2)], "copies": [2], "gateways": [[0]], "outside": mesh(2)}
    topology = {"type": "hierarchy", "inside": [board], "copies": [2], "gateways": [[8]], "outside": {"type": "single_router", "terminals": 2}}
    found = facts(tmp_path, topology)
    assert (found["routers"], found["terminals"], found["diameter"]) == (21, 16, 2 + 1 + 1 + 2 + 1 + 1 + 2)
    checked(tmp_path, topology, {"type": "hierarchical", "inside": ["minimal"]}, 16)


# ---- deadlock ----

def checked(folder, topology, routing, num_vcs, pairs=True):
    config = write(folder, topology, routing=routing, router={"num_vcs": num_vcs})
    printed = flitwarp("check", config).stdout
    assert printed.rstrip().endswith(": no deadlock"), printed
    assert "a sample" not in printed


RULES = ("nearest", "destination", "source", "hash", "random")
OF_MESHES = [{}, {"inside": ["o1turn"], "outside": "minimal_adaptive"}, {"inside": ["valiant"], "outside": "valiant"}, {"inside": ["minimal"], "outside": "minimal"}]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("topology,forms", [
    (CHIPLETS, OF_MESHES), (TOLD, OF_MESHES[:2]), (RAILS, [{}, {"inside": ["minimal_adaptive"]}, {"inside": [{"type": "up_down", "selection": "hash"}]}]),
    (PODS, [{}, {"inside": ["minimal", "up_down"]}, {"inside": ["valiant", "minimal_adaptive"], "outside": "valiant"}]),
    ({"type": "cluster", "servers": 4, "gpus": 4, "rails": 2, "leaf_servers": 2}, [{}, {"outside": {"type": "up_down", "selection": "deterministic"}}]),
    ({"type": "cluster", "servers": 3, "gpus": 4, "rail_only": True}, [{}, {"inside": ["valiant"]}]),
], ids=["chiplets", "as told", "rails", "pods", "cluster", "rail only"])
def test_no_level_waits_for_another_in_a_circle(topology, forms, rule, tmp_path):
    for form in forms:
        checked(tmp_path, topology, {"type": "hierarchical", "gateways": rule, **form}, 32)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "source"])
@pytest.mark.parametrize("topology", [IN_PLACE, FEW], ids=["in place", "few"])
def test_no_sub_network_on_the_way_waits_in_a_circle(topology, rule, tmp_path):
    for inside in ([], ["minimal"], ["valiant"]):
        checked(tmp_path, topology, {"type": "hierarchical", "gateways": rule, "inside": inside}, 40)


@pytest.mark.parametrize("routing", ["minimal", "minimal_adaptive", "valiant", "ugal"])
def test_routing_by_table_takes_it_for_any_graph(routing, tmp_path):
    for topology in (CHIPLETS, PODS, RAILS, IN_PLACE):
        checked(tmp_path, topology, routing, 40)


# ---- ways and latencies ----

INSIDE, UP, OUTSIDE = 2, 5, 11


def expect_latencies(topology, ways, terminals, routing, num_vcs=4, flits=1, channel=None):
    """A packet alone takes the terminals' channels, 3 ticks at each router and its channels; each flit behind the first a
    cycle of the slowest (see test_zero_load.py)."""
    network = network_of(topology, routing, {"num_vcs": num_vcs, "buffer_depth": 128}, channel or {"latencies": [INSIDE, UP, OUTSIDE]}, 2)
    _, packets = run_logged(config_of(network, blast(flits / 2000 / terminals, flits=flits, warmup=0, sample=400000)))
    packets.sort(key=lambda packet: packet["created"])
    seen, busy_until = set(), -1
    for packet, after in zip(packets, packets[1:]):
        if packet["created"] > busy_until and packet["tail_arrived"] < after["created"]:
            way = ways(packet["source"], packet["destination"])
            took = packet["tail_arrived"] - packet["created"]
            assert took == 2 * 2 + 3 * (len(way) + 1) + sum(way) + flits - 1, (packet, way)
            seen.add(tuple(way))
        busy_until = max(busy_until, packet["tail_arrived"])
    assert len(seen) > 2


def in_mesh(width, a, b):
    return abs(a % width - b % width) + abs(a // width - b // width)


def test_packet_goes_to_a_gateway_across_and_down(tmp_path):
    """Chiplets of 3x3 with gateways at opposite corners; the nearest is taken, the first where both are as near."""
    def ways(source, destination):
        (s, a), (t, b) = divmod(source, 9), divmod(destination, 9)
        if s == t:
            return [INSIDE] * in_mesh(3, a, b)
        gateway = lambda place: min((0, 8), key=lambda corner: in_mesh(3, place, corner))
        return ([INSIDE] * in_mesh(3, a, gateway(a)) + [UP] + [OUTSIDE] * in_mesh(2, s, t) + [UP] + [INSIDE] * in_mesh(3, b, gateway(b)))
    topology = {"type": "hierarchy", "inside": [mesh(3, 3)], "copies": [4], "gateways": [[0, 8]], "outside": mesh(2, 2, concentration=2)}
    expect_latencies(topology, ways, 36, "hierarchical")


def test_packet_takes_every_level_at_its_own_cycle():
    """A channel takes a flit every 4 ticks up, 2 outside and 1 inside. A head stays 3 ticks at a router, flits behind it 2."""
    topology = {"type": "hierarchy", "inside": [mesh(4)], "copies": [3], "gateways": [[0]], "outside": mesh(3)}
    inside, up, outside = levels = (4, 1), (8, 4), (12, 2)  # latency and cycle
    channel = {"latencies": [latency for latency, _ in levels], "cycles": [cycle for _, cycle in levels]}

    def tail_after(way, flits):
        at = [2 + flit for flit in range(flits)]  # at the first router
        for latency, cycle in [*way, (2, 1)]:
            left = []
            for flit, arrived in enumerate(at):
                left.append(arrived + 3 if flit == 0 else max(arrived + 2, left[-1] + cycle))
            at = [when + latency for when in left]
        return at[-1]

    network = network_of(topology, "hierarchical", {"num_vcs": 2, "buffer_depth": 128}, channel, 2)
    _, packets = run_logged(config_of(network, blast(3 / 3000 / 12, flits=3, warmup=0, sample=400000)))
    packets.sort(key=lambda packet: packet["created"])
    checks, busy_until = 0, -1
    for packet, after in zip(packets, packets[1:]):
        if packet["created"] > busy_until and packet["tail_arrived"] < after["created"]:
            (s, a), (t, b) = divmod(packet["source"], 4), divmod(packet["destination"], 4)
            way = [inside] * abs(a - b) if s == t else [inside] * a + [up] + [outside] * abs(s - t) + [up] + [inside] * b
            assert packet["tail_arrived"] - packet["created"] == tail_after(way, 3), (packet, way)
            checks += s != t
        busy_until = max(busy_until, packet["tail_arrived"])
    assert checks > 20


def test_packet_crosses_sub_networks_that_are_joined_directly():
    """Chiplets of two in a row: a line of routers, every second channel of which leads outside."""
    topology = {"type": "hierarchy", "inside": [mesh(2)], "copies": [4], "gateways": [[1, 0]], "outside": mesh(4), "joined": "directly"}
    def ways(source, destination):
        low, high = sorted((source, destination))
        return [OUTSIDE if place % 2 else INSIDE for place in range(low, high)]
    expect_latencies(topology, ways, 8, "hierarchical", channel={"latencies": [INSIDE, OUTSIDE]})


@pytest.mark.parametrize("rule", ["nearest", "destination", "source"])
def test_cluster_changes_rails_where_the_rule_says(rule):
    """3 servers of 4 GPUs; the nearest gateway of a GPU is its own. Over the spines, in the source's server, in the destination's."""
    def ways(source, destination):
        (s, a), (t, b) = divmod(source, 4), divmod(destination, 4)
        if s == t:
            return [INSIDE] * 2 * (a != b)
        if a == b:
            return [UP] * 2
        return {"nearest": [UP, OUTSIDE, OUTSIDE, UP], "destination": [INSIDE, INSIDE, UP, UP], "source": [UP, UP, INSIDE, INSIDE]}[rule]
    expect_latencies({"type": "cluster", "servers": 3, "gpus": 4, "switches": 2}, ways, 12, {"type": "hierarchical", "gateways": rule})


def test_packets_of_a_flow_keep_their_gateways():
    """Gateways at the ends of a line, by flow: each of the ways from end to end is taken, and a pair always takes the same."""
    topology = {"type": "hierarchy", "inside": [mesh(4)], "copies": [2], "gateways": [[0, 3]],
                "outside": {"type": "single_router", "terminals": 4}}
    for rule in ("hash", "random"):
        network = network_of(topology, {"type": "hierarchical", "gateways": rule}, {"num_vcs": 2, "buffer_depth": 32}, 1, 1)
        _, packets = run_logged(config_of(network, blast(0.02, warmup=0, sample=20000)))
        hops = {}
        for packet in packets:
            if packet["source"] // 4 != packet["destination"] // 4:
                hops.setdefault((packet["source"], packet["destination"]), set()).add(packet["hops"])
        assert len(hops) == 32 and (max(map(len, hops.values())) == 1) == (rule == "hash")
        for (source, destination), found in hops.items():
            a, b = source % 4, destination % 4
            assert found <= {2 + abs(a - out) + abs(b - back) for out in (0, 3) for back in (0, 3)}
        assert rule == "random" or len({tuple(found) for found in hops.values()}) > 3


# ---- the same everywhere ----

@pytest.mark.parametrize("router", [{"num_vcs": 4}, {"type": "packet", "num_vcs": 4, "buffer_depth": 32}, {"type": "input_output_queued", "num_vcs": 4}],
                         ids=lambda router: router.get("type", "flits"))
@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("topology", [PODS, {"type": "cluster", "servers": 3, "gpus": 4, "switches": 2}], ids=["pods", "cluster"])
def test_results_are_the_same_in_every_synchronisation(topology, planes, router):
    network = network_of(topology, "hierarchical", router, 3, 1, planes={"count": planes})
    config = config_of(network, blast(0.3, warmup=200, sample=1500))
    digests = {json.loads(invoke(config, arguments=more)[0])["simulation"]["digest"]
               for more in ([], ["--sync", "conservative", "--threads", "3"], ["--sync", "optimistic", "--threads", "2"])}
    assert len(digests) == 1


# ---- refusals ----

REFUSED = {
    "a gateway that is none": ({**CHIPLETS, "gateways": [[6]]}, "topology.gateways: there is no router 6 in \"mesh\"; accepted: 0 to 5"),
    "no gateway": ({**CHIPLETS, "gateways": [[]]}, "topology.gateways: a sub-network has none; accepted: at least one"),
    "lists of two lengths": ({**CHIPLETS, "copies": [2, 2]}, "topology.copies: 2 entries for 1 kinds of sub-networks"),
    "too many gateways": ({**CHIPLETS, "copies": [5]}, "15 gateways are more than the 12 terminals of the outside network"),
    "too few gateways": ({**CHIPLETS, "copies": [3]}, "9 gateways leave 3 of the 12 terminals of the outside network"),
    "sub-networks for no router": ({**IN_PLACE, "copies": [8]}, "8 sub-networks cannot stand in place of the 9 routers of \"mesh\""),
    "two gateways at a place": ({**TOLD, "hung_at": [5, 0, 1, 5]}, "terminal 5 of the outside stands for two gateways"),
    "a place that is none": ({**TOLD, "hung_at": [6, 0, 1, 5]}, "there is no terminal 6 outside; accepted: 0 to 5"),
    "a place too few": ({**TOLD, "hung_at": [5, 0, 1]}, "3 entries for 4 gateways"),
    "networks in pieces": ({**RAILS, "in_a_row": 4, "copies": [3], "outside_copies": 3, "outside": {"type": "single_router", "terminals": 4}},
                           "there is no way from router 0 to router 6 of the whole"),
    "one-way terminals": ({**CHIPLETS, "inside": [{"type": "butterfly", "radix": 2, "stages": 2}]}, "the terminals of \"butterfly\" leave where they do not enter"),
    "a wrong level": ({**CHIPLETS, "inside": [{"type": "mesh", "widths": []}]}, "topology.inside[0].widths: 0 dimensions"),
    "channels directly": ({**IN_PLACE, "channels": 2}, "has no effect without joined \"by_routers\""),
    "uneven rails": ({"type": "cluster", "gpus": 8, "rails": 3}, "topology.rails: 8 GPUs cannot be shared evenly by 3 rails"),
    "uneven leaves": ({"type": "cluster", "leaf_servers": 3}, "topology.leaf_servers: 4 servers cannot be shared evenly by leaves of 3"),
    "half a spine": ({"type": "cluster", "taper": 3}, "topology.taper: the 4 channels down of a leaf make 1.33333 channels up"),
    "rails of two leaves": ({"type": "cluster", "rail_only": True, "leaf_servers": 2}, "with rail_only a rail is one leaf"),
    "rails apart": ({"type": "cluster", "rail_only": True, "switches": 0}, "leaves rails without a way to each other"),
    "a leaf of too many ports": ({"type": "cluster", "servers": 5000, "rail_only": True},
                                 "topology.servers: the cluster is too large: configuration: outside.terminals: 5000 is above 4096"),
    "leaves of too many ports": ({"type": "cluster", "servers": 65536, "rails": 1}, "topology.servers: leaves of 524288 ports down and 524288 up"),
    "too many spines": ({"type": "cluster", "servers": 100, "taper": 0.001}, "topology.servers: leaves of 100 ports down and 100000 up"),
    "spines without": ({"type": "cluster", "rail_only": True, "spines": 2}, "topology.spines: has no effect beside rail_only"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_topology_is_refused(name, tmp_path):
    topology, message = REFUSED[name]
    ended = flitwarp("topology", write(tmp_path, topology), status=1)
    assert message in ended.stderr, ended.stderr


ROUTING_REFUSED = {
    "on a mesh": (mesh(4, 4), {}, 4, "\"hierarchical\" needs topology \"hierarchy\" or \"cluster\", not \"mesh\""),
    "too few VCs": (CHIPLETS, {}, 1, "\"hierarchical\" needs 2 VCs on this topology"),
    "too few VCs directly": (IN_PLACE, {}, 4, "\"hierarchical\" needs 5 VCs on this topology"),
    "escape VCs": (CHIPLETS, {"inside": ["duato"]}, 8, "\"duato\" on \"mesh\" cannot be one level's routing beside others"),
    "another's topology": (CHIPLETS, {"inside": ["up_down"]}, 8, "\"up_down\" needs topology \"folded_clos\", not \"mesh\""),
    "a list too short": (PODS, {"inside": ["minimal"] * 3}, 32, "routing.inside: 3 entries for 2 kinds of sub-networks"),
    "gateways without terminals": ({**RAILS, "gateways": [[0, 1, 4, 5]]}, {"inside": ["up_down"]}, 8, "\"up_down\" goes by terminals, and a gateway"),
    "source directly": (IN_PLACE, {"gateways": "source"}, 8, "\"source\" is for sub-networks that are joined by routers"),
    "outside directly": (IN_PLACE, {"outside": "minimal"}, 8, "routing.outside: has no effect where sub-networks are joined directly"),
    "VCs that are not there": (CHIPLETS, {"inside_vcs": [8]}, 4, "routing.inside_vcs: 8 of 4 VCs"),
    "too few VCs of a level": (CHIPLETS, {"inside_vcs": [1]}, 4, "routing.inside_vcs: 1 VCs; accepted: at least 2"),
    "a copy without a gateway": ({**RAILS, "copies": [3], "gateways": [[0, 1]], "outside_copies": 3, "hung_at": [0, 3, 1, 6, 4, 7], "spare": "unused",
                                  "in_a_row": None}, {}, 4, "sub-network 0 has no gateway on copy 2 of the outside network"),
}


@pytest.mark.parametrize("name", ROUTING_REFUSED)
def test_wrong_routing_is_refused(name, tmp_path):
    topology, routing, num_vcs, message = ROUTING_REFUSED[name]
    ended = flitwarp("check", write(tmp_path, topology, routing={"type": "hierarchical", **routing}, router={"num_vcs": num_vcs}), status=1)
    assert message in ended.stderr, ended.stderr


def test_levels_use_the_vcs_that_they_are_given():
    """With 2 of 8 VCs inside and 1 outside more wait; and it is another result."""
    def of(**limits):
        network = network_of(CHIPLETS, {"type": "hierarchical", **limits}, {"num_vcs": 8, "buffer_depth": 4}, 1, 1)
        return json.loads(invoke(config_of(network, blast(0.5, flits=8, warmup=500, sample=3000)))[0])["applications"][0]["accepted_load"]
    assert of(inside_vcs=[2], outside_vcs=1) < of()

# SPDX-License-Identifier: Apache-2.0
"""Topologies from papers: each is built a second time here, as its paper defines it, and the two are compared link by link by
what `flitwarp topology --export` writes; and their numbers are those that the papers give or that follow from them."""
import itertools
import json
import subprocess
from collections import Counter, deque

import pytest

from support import PROGRAM


def exported(tmp_path, topology):
    """{(router, router, class): links}, ends in rising order; the routers of terminals in order; how many routers there are."""
    config, out = tmp_path / "config.json", tmp_path / "links.csv"
    config.write_text(json.dumps({"network": {"topology": topology}}))
    subprocess.run([PROGRAM, "topology", config, "--export", out], check=True, capture_output=True)
    links, homes = Counter(), {}
    with open(out) as file:
        head = file.readline().rstrip("\n").split(",")
        places = [head.index(name) for name in ("from", "to", "class")]
        for line in file:
            one, other, kind = (line.rstrip("\n").split(",")[place] for place in places)
            if kind == "terminal":
                homes[int(one[1:])] = int(other[1:])
            else:
                links[(*sorted((int(one[1:]), int(other[1:]))), kind)] += 1
    return links, [homes[terminal] for terminal in sorted(homes)]


def surveyed(tmp_path, topology):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"network": {"topology": topology}}))
    ended = subprocess.run([PROGRAM, "topology", config, "--json"], check=True, capture_output=True, text=True)
    return json.loads(ended.stdout)["networks"][0]


def link(one, other, kind):
    return (min(one, other), max(one, other), kind)


def neighbours(links):
    found = {}
    for one, other, _ in links:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def distances(joined, start):
    reached, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in joined[here]:
            if there not in reached:
                reached[there] = reached[here] + 1
                queue.append(there)
    return reached


# ---- BCube: Guo et al., SIGCOMM 2009 ----

def bcube(n, k):
    """Section 3.1: BCube_0 is n servers at a switch; BCube_k is n BCubes of k - 1 and n^k switches, of which switch i joins the
    i-th server of each. Servers are named by their place, switches by level and place."""
    if k == 0:
        return n, {0: 1}, [(server, (0, 0)) for server in range(n)]
    servers, switches, inner = bcube(n, k - 1)
    links = [(copy * servers + server, (level, copy * switches[level] + place))
             for copy in range(n) for server, (level, place) in inner]
    links += [(copy * servers + place, (k, place)) for copy in range(n) for place in range(servers)]
    return n * servers, {**{level: n * count for level, count in switches.items()}, k: servers}, links


@pytest.mark.parametrize("n, k", [(2, 0), (4, 1), (3, 2), (2, 3)])
def test_bcube_is_as_it_is_defined(n, k, tmp_path):
    servers, switches, links = bcube(n, k)
    assert servers == n**(k + 1) and switches == {level: n**k for level in range(k + 1)}
    expected = Counter((server, servers + level * n**k + place, f"level {level}") for server, (level, place) in links)
    found, homes = exported(tmp_path, {"type": "bcube", "n": n, "k": k})
    assert found == expected and homes == list(range(servers))


@pytest.mark.parametrize("n, k, servers, switches", [(8, 1, 64, 16), (8, 2, 512, 192), (4, 3, 256, 256)])
def test_bcube_has_the_size_and_diameter_of_the_paper(n, k, servers, switches, tmp_path):
    """Theorem 1: servers are at most k + 1 switches apart; each switch takes two channels."""
    found = surveyed(tmp_path, {"type": "bcube", "n": n, "k": k})
    assert (found["terminals"], found["routers"]) == (servers, servers + switches)
    assert found["links"]["total"] - servers == (k + 1) * servers
    assert found["diameter"] == 2 * (k + 1)


# ---- DCell: Guo et al., SIGCOMM 2008 ----

def dcell(n, k):
    """Figure 3, BuildDCells: servers by their prefixes, cells from the largest in. Servers, links and the switch of each."""
    sizes = [n]
    for _ in range(k):
        sizes.append(sizes[-1] * (sizes[-1] + 1))
    links = Counter()

    def number(prefix, place, level):
        """uid of server `place` of the DCell of a level that the prefix names."""
        at = place
        for height, cell in zip(range(level + 1, k + 1), reversed(prefix)):
            at += cell * sizes[height - 1]
        return at

    def build(prefix, level):
        if level == 0:
            switch = sizes[k] + number(prefix, 0, 0) // n
            for place in range(n):
                links[(number(prefix, place, 0), switch, "level 0")] += 1
            return
        for cell in range(sizes[level - 1] + 1):
            build((*prefix, cell), level - 1)
        for i in range(sizes[level - 1]):
            for j in range(i + 1, sizes[level - 1] + 1):
                one, other = number((*prefix, i), j - 1, level - 1), number((*prefix, j), i, level - 1)
                links[link(one, other, f"level {level}")] += 1
    build((), k)
    return sizes[k], links


@pytest.mark.parametrize("n, k", [(3, 0), (4, 1), (2, 2), (3, 2)])
def test_dcell_is_as_it_is_defined(n, k, tmp_path):
    servers, links = dcell(n, k)
    found, homes = exported(tmp_path, {"type": "dcell", "n": n, "k": k})
    assert found == links and homes == list(range(servers))
    degrees = Counter(router for ends in found for router in ends[:2])
    assert all(degrees[server] == k + 1 for server in range(servers))
    assert [degrees[servers + switch] for switch in range(servers // n)] == [n] * (servers // n)


# Servers, and the mean and the standard deviation of shortest ways: for (4, 2) as quoted of Table 2, without the paper's text at hand.
# Theorem 3: at most 2^(k+1) - 1 long.
@pytest.mark.parametrize("n, k, servers, mean, deviation", [(4, 2, 420, 4.87, 1.27), (2, 2, 42, None, None), (5, 1, 30, None, None)])
def test_dcell_ways_are_as_long_as_in_the_paper(n, k, servers, mean, deviation, tmp_path):
    """Of servers; a way by a switch is one hop there."""
    links, homes = exported(tmp_path, {"type": "dcell", "n": n, "k": k})
    assert len(homes) == servers
    joined = {server: set() for server in range(servers)}
    for one, other, _ in links:
        if other < servers:
            joined[one].add(other)
            joined[other].add(one)
    for server in range(servers):
        joined[server] |= set(range(server // n * n, server // n * n + n)) - {server}
    hops = [length for server in range(servers) for there, length in distances(joined, server).items() if there != server]
    assert max(hops) <= 2**(k + 1) - 1
    if mean:
        found = sum(hops) / len(hops)
        assert found == pytest.approx(mean, abs=0.005)
        assert (sum(length**2 for length in hops) / len(hops) - found**2)**0.5 == pytest.approx(deviation, abs=0.005)


# ---- HammingMesh: Hoefler et al., SC 2022 ----

def hamming_mesh(board, boards, radix=64):
    """Rows of boards, and columns, each with a switch, or leaves of radix / 2 ports down and spines. Links, and how
    many routers there are."""
    width = [side * count for side, count in zip(board, boards)]
    links, next_switch = Counter(), width[0] * width[1]

    def at(d, line, place):
        return (place * width[0] + line) if d else (line * width[0] + place)
    for d, kind in enumerate(("row", "column")):
        ends = 2 * boards[d]
        down = ends if ends <= radix else radix // 2
        leaves = -(-ends // down)
        spines = 0 if leaves == 1 else next(s for s in range(1, radix) if radix // 2 % s == 0 and leaves * (radix // 2 // s) <= radix)
        for line in range(width[1 - d]):
            for board_ in range(boards[d]):
                first = board_ * board[d]
                for place in range(first, first + board[d] - 1):
                    links[link(at(d, line, place), at(d, line, place + 1), "board")] += 1
                for end, place in ((2 * board_, first), (2 * board_ + 1, first + board[d] - 1)):
                    links[link(at(d, line, place), next_switch + end // down, kind)] += 1
            for leaf, spine in itertools.product(range(leaves), range(spines)):
                links[link(next_switch + leaf, next_switch + leaves + spine, kind)] += radix // 2 // spines
            next_switch += leaves + spines
    return links, next_switch


@pytest.mark.parametrize("board, boards, radix", [((2, 2), (2, 3), 64), ((1, 1), (4, 2), 64), ((4, 3), (2, 2), 64), ((3, 1), (7, 2), 8), ((2, 2), (9, 6), 8)])
def test_hamming_mesh_is_as_it_is_defined(board, boards, radix, tmp_path):
    links, routers = hamming_mesh(board, boards, radix)
    found, homes = exported(tmp_path, {"type": "hamming_mesh", "board": board, "boards": boards, "radix": radix})
    assert found == links
    assert homes == list(range(board[0] * board[1] * boards[0] * boards[1]))
    assert max(max(ends[:2]) for ends in found) == routers - 1


def test_hamming_mesh_of_single_accelerators_is_a_hyperx_by_way_of_switches(tmp_path):
    found = surveyed(tmp_path, {"type": "hamming_mesh", "board": [1, 1], "boards": [5, 4]})
    assert found["diameter"] == 4 and found["terminals"] == 20 and found["routers"] == 20 + 4 + 5


# ---- HyperX in use: Domke et al., SC 2019 ----

def test_hyperx_of_tsubame2_has_the_bisection_of_the_paper(tmp_path):
    """12 x 8 switches with 7 nodes each: the cut across the 8 leaves 57.1 % of what half of the nodes could send."""
    found = surveyed(tmp_path, {"type": "hyperx", "widths": [12, 8], "concentration": 7})
    assert (found["routers"], found["terminals"], found["diameter"]) == (96, 672, 2)
    assert found["links"]["total"] - 672 == 8 * 66 + 12 * 28
    assert found["bisection"]["links"] / (672 / 2) == pytest.approx(0.571, abs=0.0005)


def folded_hyperx(widths, channels, leaves, spines):
    """A leaf is joined to all spines of its point, a spine to those of its place at points of which one coordinate differs."""
    points = [point[::-1] for point in itertools.product(*(range(width) for width in reversed(widths)))]
    links, here = Counter(), leaves + spines
    for number, point in enumerate(points):
        for leaf, spine in itertools.product(range(leaves), range(spines)):
            links[link(number * here + leaf, number * here + leaves + spine, "leaf")] += 1
        for other, there in enumerate(points[:number]):
            differ = [d for d in range(len(widths)) if point[d] != there[d]]
            for spine in range(leaves, here) if len(differ) == 1 else ():
                links[link(number * here + spine, other * here + spine, f"dimension {differ[0]}")] += channels[differ[0]]
    return links


@pytest.mark.parametrize("widths, channels, leaves, spines", [([3, 4], [1, 2], 3, 2), ([5], [1], 1, 3), ([2, 3, 2], [2, 1, 1], 2, 1)])
def test_folded_hyperx_is_as_it_is_defined(widths, channels, leaves, spines, tmp_path):
    topology = {"type": "folded_hyperx", "widths": widths, "channels": channels, "leaves": leaves, "spines": spines, "terminals": 1}
    found, homes = exported(tmp_path, topology)
    assert found == folded_hyperx(widths, channels, leaves, spines)
    assert homes == [router for router in range(max(max(ends[:2]) for ends in found) + 1) if router % (leaves + spines) < leaves]


# ---- spidergon and octagon: Coppola et al. 2004; Karim, Nguyen and Dey, IEEE Micro 2002 ----

@pytest.mark.parametrize("routers", [4, 6, 8, 10, 12, 16, 22, 40])
def test_spidergon_is_as_it_is_defined(routers, tmp_path):
    expected = Counter(link(i, (i + 1) % routers, "ring") for i in range(routers))
    expected.update(link(i, i + routers // 2, "across") for i in range(routers // 2))
    found, homes = exported(tmp_path, {"type": "spidergon", "routers": routers})
    assert found == expected and sum(found.values()) == 3 * routers // 2 and homes == list(range(routers))
    assert max(distances(neighbours(found), 0).values()) == -(-routers // 4)


# ---- rings of rings ----

def rings_of_rings(widths):
    """From the top: a ring whose members are rings below, each with a bridge in front of its members. Names are paths."""
    links, levels = [], len(widths)

    def ring(path, level):
        members = [(*path, child) for child in range(widths[level])]
        if level < levels - 1:
            members = [(*path, "bridge"), *members]
        spoken = [(*member, "bridge") if level and member[-1] != "bridge" else member for member in members]
        links.extend((one, other, f"level {level}") for one, other in zip(spoken, [*spoken[1:], spoken[0]]))
        for child in range(widths[level] if level else 0):
            ring((*path, child), level - 1)
    ring((), levels - 1)
    return links


@pytest.mark.parametrize("widths", [[4, 4], [2, 2], [3, 5, 2], [2, 2, 3, 2]])
def test_hierarchical_rings_are_as_they_are_defined(widths, tmp_path):
    defined, names = rings_of_rings(widths), {}
    paths = {end for one, other, _ in defined for end in (one, other)}
    ranks = sorted(paths, key=lambda path: (len(widths) - len(path) + 1 if path[-1] == "bridge" else 0, path))
    names = {path: number for number, path in enumerate(ranks)}
    expected = Counter(link(names[one], names[other], kind) for one, other, kind in defined)
    found, homes = exported(tmp_path, {"type": "hierarchical_rings", "widths": widths})
    assert found == expected
    product = [1]
    for width in widths:
        product.append(product[-1] * width)
    bridges = sum(product[-1] // below for below in product[1:-1])
    assert len(paths) == product[-1] + bridges and homes == list(range(product[-1]))
    assert sum(found.values()) == product[-1] + 2 * bridges  # a ring has as many links as routers, and bridges are in two


# ---- express cubes: Dally, IEEE Transactions on Computers 1991 ----

@pytest.mark.parametrize("widths, interval", [([8, 8], [4]), ([7], [3]), ([5, 4, 6], [2, 3, 5])])
def test_express_cube_is_as_it_is_defined(widths, interval, tmp_path):
    intervals = interval * len(widths) if len(interval) == 1 else interval
    points = list(itertools.product(*(range(width) for width in reversed(widths))))
    expected = Counter()
    for number, point in enumerate(points):
        place = point[::-1]
        for d, width in enumerate(widths):
            for step, kind in ((1, "local"), (intervals[d], "express")):
                there = place[:d] + (place[d] + step,) + place[d + 1:]
                if there[d] < width and place[d] % step == 0:
                    expected[link(number, points.index(there[::-1]), kind)] += 1
    found, _ = exported(tmp_path, {"type": "express_cube", "widths": widths, "interval": interval})
    assert found == expected


# ---- interposers: Kannan, Enright Jerger and Loh, MICRO 2015; Bharadwaj, Yin, Beckmann and Krishna, DAC 2020 ----

COLUMNS, ROWS = 5, 4
# Links, diameter, mean hops, and the fewest links between halves, as NetSmith's comparison has them (Green and Thottethodi, ICPP 2024).
INTERPOSERS = {"kite_small": (38, 4, 2.38, 8), "folded_torus": (40, 4, 2.32, 10), "kite_medium": (40, 4, 2.25, 8),
               "butter_donut": (36, 4, 2.32, 8), "double_butterfly": (32, 4, 2.59, 8), "kite_large": (36, 5, 2.27, 8)}
# Of the lists that it has published, the two without a rule: to routers with higher numbers, router by router.
LISTED = {
    "kite_medium": "1 2 5 10/3 7 11/4 6 8/4 7 13/9 14/6 7 15/8 16/9/9 18/19/11 12 15/13 17/14 16 18/14 17/19/16 17/18/19/19",
    "kite_large": "1 5 7 11/8/5 9 11 13/4 6/7 9 13/6 12/15 17/10 14/9 17 19/12/11 15 17/18/15 19/14 16/17 19/16///19",
}


def interposer(layout):
    def at(row, column):
        return row * COLUMNS + column

    def ring(line):  # folded: first the even ones upwards, then the odd ones back
        order = line[::2] + line[1::2][::-1]
        return list(zip(order, order[1:] + order[:1]))
    rows = [[at(row, column) for column in range(COLUMNS)] for row in range(ROWS)]
    columns = [list(column) for column in zip(*rows)]
    crosses = [(at(row, column), at(row + apart, column + 1)) for column, span in enumerate((1, 2, 2, 1)) for row in range(ROWS)
               for apart in (span, -span) if 0 <= row + apart < ROWS and (row // span % 2 == 0) == (apart > 0)]
    if layout in LISTED:
        return [(router, int(other)) for router, others in enumerate(LISTED[layout].split("/")) for other in others.split()]
    if layout == "folded_torus":
        return [pair for line in rows + columns for pair in ring(line)]
    if layout == "butter_donut":
        return crosses + [pair for row in rows for pair in ring(row)]
    if layout == "double_butterfly":
        return crosses + [pair for row in rows for pair in zip(row, row[1:])]
    border = [line for line in (rows[0], rows[-1], columns[0], columns[-1])]
    diagonals = [(one, one + COLUMNS + side) for one in range(15) for side in (1, -1) if 0 <= one % COLUMNS + side < COLUMNS]
    return diagonals + [pair for line in border for pair in zip(line, line[1:])]


def span_of(one, other):
    spans = sorted((abs(one % COLUMNS - other % COLUMNS), abs(one // COLUMNS - other // COLUMNS)))
    return {(0, 1): "straight 1", (1, 1): "diagonal", (0, 2): "straight 2", (1, 2): "one and two"}[tuple(spans)]


@pytest.mark.parametrize("layout", INTERPOSERS)
def test_interposers_are_those_of_the_papers(layout, tmp_path):
    count, diameter, mean, bisection = INTERPOSERS[layout]
    found, _ = exported(tmp_path, {"type": "interposer", "layout": layout})
    assert found == Counter(link(one, other, span_of(one, other)) for one, other in interposer(layout))
    facts = surveyed(tmp_path, {"type": "interposer", "layout": layout})
    assert sum(found.values()) == facts["links"]["total"] - 20 == count
    assert facts["diameter"] == diameter
    assert round(facts["distance"]["routers"]["mean"], 2) == mean
    assert facts["bisection"]["links"] == bisection


# ---- what is refused ----

REFUSED = [
    ({"type": "bcube", "n": 1024, "k": 3}, "network.topology.n: more than 2147483647 terminals"),
    ({"type": "dcell", "n": 4, "k": 4}, "network.topology.n: more than 2147483647 terminals"),
    ({"type": "spidergon", "routers": 9}, "network.topology.routers: 9 is odd, and no router is opposite to another; accepted: 8 or 10"),
    ({"type": "hierarchical_rings", "widths": [4]}, "network.topology.widths: 1 levels; accepted: 2 to 16"),
    ({"type": "hierarchical_rings", "widths": [65536, 65536]}, "more than 2147483647 terminals"),
    ({"type": "express_cube", "widths": [8, 4], "interval": [4]},
     "network.topology.interval: 4 leaves a row of 4 routers without an express channel; accepted: 2 to 3"),
    ({"type": "express_cube", "widths": [8, 4], "interval": [4, 2, 2]}, "3 values for 2 dimensions; give one for all or one for each"),
    ({"type": "express_cube", "widths": [65536, 65536]}, "more than 2147483647 terminals"),
    ({"type": "folded_hyperx", "channels": [1, 1, 1]}, "network.topology.channels: 3 values for 2 dimensions; give one for all or one for each"),
    ({"type": "folded_hyperx", "widths": []}, "network.topology.widths: "),
    ({"type": "folded_hyperx", "widths": [65536, 65536]}, "more than 2147483647 terminals"),
    ({"type": "interposer", "rows": 5}, 'network.topology.rows: "kite_medium" of 5 rows is not defined; accepted: 4'),
    ({"type": "interposer", "layout": "butter_donut", "columns": 8}, '"butter_donut" of 8 columns is not defined; accepted: 5'),
    ({"type": "hamming_mesh", "board": [2]}, "network.topology.board: 1 numbers; accepted: 2, of accelerators along a row and a column"),
    ({"type": "hamming_mesh", "boards": [2, 2, 2]}, "network.topology.boards: 3 numbers; accepted: 2, of boards along a row and a column"),
    ({"type": "hamming_mesh", "up": 8}, "network.topology.up: no row or column has more than 8 ends, which one switch joins; leave it out"),
    ({"type": "hamming_mesh", "radix": 7}, "network.topology.radix: 7 is odd, but a leaf has both ends of a board; accepted: 6 or 8"),
    ({"type": "hamming_mesh", "radix": 6, "up": 6}, "network.topology.up: 6 of 6 ports leave none down; accepted: 2 to 4"),
    ({"type": "hamming_mesh", "radix": 6, "up": 3}, "network.topology.up: 3 is odd, but a leaf has both ends of a board; accepted: 4 or 2"),
    ({"type": "hamming_mesh", "boards": [40, 1], "radix": 8}, "network.topology.boards: 40 boards need 20 leaves, more than a spine of 8 ports joins"),
    ({"type": "hamming_mesh", "boards": [16384, 16384], "radix": 32768}, "more than 2147483647 channels"),
]


@pytest.mark.parametrize("topology, message", REFUSED)
def test_sizes_that_there_are_not_are_refused(topology, message, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"network": {"topology": topology}}))
    ended = subprocess.run([PROGRAM, "topology", config], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and message in ended.stderr

# SPDX-License-Identifier: Apache-2.0
"""InfiniBand fabrics, as ibnetdiscover and opensm wrote them (tests/fabrics/record.py): imported, checked and run. What is expected
comes from a reader and a walker of these files that know nothing of ours, and from what is known of opensm's engines.
"""
import csv
import gzip
import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

ASAN = os.environ.get("FLITWARP_ASAN", "")
CAREFUL = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM  # small networks go through the sanitizers
FABRICS = ROOT / "tests" / "fabrics"
RECORDED = sorted(path.name.removesuffix(".lfts.gz") for path in FABRICS.glob("*.lfts.gz"))
# Shortest ways and dimension order without a second lane have circles on a torus, and so have those of engines that break them by
# lanes, taken without; up*/down* has none anywhere, and in a tree all of whose ways go up and then down neither have the others.
CIRCLES = {"torus.minhop", "torus.dor", "torus_cut.minhop", "torus_cut.dor", "torus.lash", "torus.dfsssp"}
LANES = {"torus.lash", "torus.dfsssp"}  # which have none in the lanes of their path records


def flitwarp(*arguments, cwd=None, status=0):
    ended = subprocess.run([CAREFUL, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


def unpacked(name):
    with gzip.open(FABRICS / name, "rt") as file:
        return file.read()


# ---- a reader and a walker of their own ----

class Fabric:
    """Cables by (GUID, port), lids of adapters, and the port by (GUID, lid)."""

    def __init__(self, name):
        self.cables, self.lids, self.tables = {}, {}, {}
        for block in unpacked(name.split(".")[0] + ".topology.gz").split("\n\n"):
            head = re.search(r'^(Switch|Ca)\s+\d+ "\w-(\w+)"', block, re.M)
            for port, peer, peer_port, rest in re.findall(r'^\[(\d+)\](?:\(\w+\))?\s+"\w-(\w+)"\[(\d+)\](.*)$', block, re.M):
                self.cables[int(head[2], 16), int(port)] = int(peer, 16), int(peer_port)
                if head[1] == "Ca":
                    self.lids[int(re.search(r"# lid (\d+)", rest)[1])] = int(head[2], 16)
        for table in re.split(r"^(?=Unicast lids|dump_ucast_routes)", unpacked(name + ".lfts.gz"), flags=re.M)[1:]:
            guid = int(re.search(r"(?:guid|: Switch) 0x(\w+)", table)[1], 16)
            for lid, port in re.findall(r"^0x(\w+) (?:: )?(\d{3})\b", table, re.M):
                self.tables[guid, int(lid, 16)] = int(port)

    def walk(self, source, lid):
        """The channels from an adapter to a lid: (switch, port) each, the last of which leads to the adapter."""
        at, way = self.cables[source, 1][0], []
        while at != self.lids[lid]:
            way.append((at, self.tables[at, lid]))
            at = self.cables[way[-1]][0]
            assert len(way) < 100
        return way

    def ways(self):
        """Of all pairs of adapters."""
        return {(source, destination): self.walk(source, lid) for source in self.lids.values()
                for lid, destination in self.lids.items() if source != destination}


    def levels(self, name):
        """Service levels by pair, of path records."""
        records = unpacked(name + ".paths.gz").split("PathRecord dump:")[1:]
        fields = [{key: int(value, 0) for key, value in re.findall(r"^\s*(slid|dlid|sl)\.+(\w+)$", record, re.M)} for record in records]
        return {(self.lids[record["slid"]], self.lids[record["dlid"]]): record["sl"] for record in fields}


def has_circle(ways, lanes=None):
    """Can channels between switches wait for each other, in the lane of each pair? By taking away, again and again, what waits for
    nothing."""
    waits = {}
    for pair, way in ways.items():
        held_and_wanted = [(channel, lanes[pair] if lanes else 0) for channel in way[:-1]]
        for held, wanted in zip(held_and_wanted, held_and_wanted[1:]):
            waits.setdefault(held, set()).add(wanted)
    while True:
        free = [held for held, wanted in waits.items() if not wanted & waits.keys()]
        if not free:
            return bool(waits)
        for held in free:
            del waits[held]


# ---- ours ----

class Imported:
    def __init__(self, folder, name, *arguments):
        (folder / "topology.txt").write_text(unpacked(name.split(".")[0] + ".topology.gz"))
        (folder / "lfts.txt").write_text(unpacked(name + ".lfts.gz"))
        self.folder = folder
        self.notes = flitwarp("import", "topology.txt", "--routes", "lfts.txt", "-o", "fabric.json", *arguments, cwd=folder).stderr
        network = (folder / "fabric.network.txt").read_text()
        self.routers = {int(guid, 16): int(number) for number, guid in re.findall(r"^router (\d+).* guid 0x(\w+)$", network, re.M)}
        lids = {int(lid): int(node) for node, lid in re.findall(r"^# node (\d+): .* lid (\d+)$", network, re.M)}
        self.nodes = {guid: lids[lid] for lid, guid in Fabric(name).lids.items()}

    def run(self):
        """A packet from each node to each other one: hops by pair, and packets by channel between routers."""
        application = {"type": "alltoall", "size": {"type": "fixed", "flits": 1}}
        flitwarp("run", "fabric.json", f"workload.applications=[{json.dumps(application)}]", "--quiet", "--results", "results.json", "--log",
                 "log.csv", "--channel-log", "channels.csv", cwd=self.folder)
        with open(self.folder / "log.csv") as file:
            hops = {(int(row["source"]), int(row["destination"])): int(row["hops"]) for row in csv.DictReader(file)}
        with open(self.folder / "channels.csv") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "between"]
        first = min(int(row["port"]) for row in rows)  # terminals' ports come before
        self.targets = {(int(row["router"]), int(row["port"]) - first): int(row["target"]) for row in rows}
        used = Counter()
        for row in rows:
            used[int(row["router"]), int(row["target"])] += int(row["flits"])
        return hops, +used

    def walks(self):
        """Routers from node to node by what --routes writes; run() comes before."""
        flitwarp("topology", "fabric.json", "--routes", "routes.csv", cwd=self.folder)
        with open(self.folder / "routes.csv") as file:
            rows = {(int(row["router"]), row["to"]): row["via"] for row in csv.DictReader(line for line in file if line[0] != "#")}
        places = {int(node): int(router) for router, nodes in re.findall(r"^router (\d+)((?: node \d+)*)", (
            self.folder / "fabric.network.txt").read_text(), re.M) for node in re.findall(r"\d+", nodes)}
        found = {}
        for source, at in places.items():
            for destination, end in places.items():
                router, way = at, [at]
                while router != end:
                    via = rows.get((router, f"node {destination}")) or rows[router, f"router {end}"]
                    router = self.targets[router, int(via.removeprefix("port "))]
                    way.append(router)
                found[source, destination] = way
        return found


@pytest.mark.parametrize("name", RECORDED)
def test_packets_go_as_the_tables_say(name, tmp_path):
    """Each pair's hops, how many packets each channel carries, and each pair's whole way as it is written."""
    theirs, ours = Fabric(name).ways(), Imported(tmp_path, name)
    expected = {(ours.nodes[source], ours.nodes[destination]): [ours.routers[switch] for switch, _ in way]
                for (source, destination), way in theirs.items()}
    hops, used = ours.run()
    assert len(expected) == 16 * 15 and hops == {pair: len(way) - 1 for pair, way in expected.items()}
    assert used == Counter(channel for way in expected.values() for channel in zip(way, way[1:]))
    assert {pair: way for pair, way in ours.walks().items() if pair[0] != pair[1]} == expected


@pytest.mark.parametrize("name", RECORDED)
def test_check_knows_circles_as_they_are_known_of_the_engine(name, tmp_path):
    Imported(tmp_path, name)
    assert has_circle(Fabric(name).ways()) == (name in CIRCLES)
    verdict = flitwarp("check", "fabric.json", cwd=tmp_path, status=2 * (name in CIRCLES)).stdout
    assert ("deadlock is possible" if name in CIRCLES else "no deadlock") in verdict


@pytest.mark.parametrize("name", sorted(LANES))
def test_service_levels_are_lanes_without_circles(name, tmp_path):
    """Packets go as before, by each channel as many in each VC as there are pairs of that level."""
    (tmp_path / "paths.txt").write_text(unpacked(name + ".paths.gz"))
    fabric, ours = Fabric(name), Imported(tmp_path, name, "--paths", "paths.txt")
    ways, levels = fabric.ways(), fabric.levels(name)
    assert not has_circle(ways, levels) and len(set(levels.values())) > 1
    assert "no deadlock" in flitwarp("check", "fabric.json", cwd=tmp_path).stdout and "0 of them decisive" in ours.notes
    ours.run()
    used = {}
    with open(tmp_path / "channels.csv") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "between":
                used[int(row["router"]), int(row["target"])] = [int(value) for key, value in row.items() if key.startswith("vc")]
    expected = {channel: [0] * (max(levels.values()) + 1) for channel in used}
    for pair, way in ways.items():
        routers = [ours.routers[switch] for switch, _ in way]
        for channel in zip(routers, routers[1:]):
            expected[channel][levels[pair]] += 1
    assert used == expected


def test_what_is_not_in_the_files_is_noted(tmp_path):
    notes = Imported(tmp_path, "tree.minhop").notes
    assert "the speed of links, 4xSDR" in notes and "virtual lane" in notes and "1 of them decisive" in notes


def test_a_network_without_tables_has_shortest_ways(tmp_path):
    (tmp_path / "topology.txt").write_text(unpacked("torus.topology.gz"))
    flitwarp("import", "topology.txt", "-o", "fabric.json", cwd=tmp_path)
    assert "16 routers of 5 ports, 16 terminals" in flitwarp("check", "fabric.json", cwd=tmp_path).stdout
    assert not (tmp_path / "fabric.routes.txt").exists()


def test_pairs_whose_packets_are_dropped_are_named(tmp_path):
    """Switch S00 (router 0) has no entry for H10 (node 4): its own node has no way there, nor who goes by it."""
    (tmp_path / "topology.txt").write_text(unpacked("torus.topology.gz"))
    tables = unpacked("torus.minhop.lfts.gz")
    head = "guid 0x0000000000200000 (S00)"
    before, table = tables.split(head)
    table = re.sub(r"^0x\w+ \d+ : .*'H10'.*\n", "", table, count=1, flags=re.M)
    (tmp_path / "lfts.txt").write_text(before + head + table)
    notes = flitwarp("import", "topology.txt", "--routes", "lfts.txt", "-o", "fabric.json", cwd=tmp_path).stderr
    assert "1 entries that drop packets" in notes
    fabric = Fabric("torus.minhop")
    to = next(lid for lid, guid in fabric.lids.items() if fabric.cables[guid, 1][0] == 0x200004)
    lost = sum(any(switch == 0x200000 for switch, _ in fabric.walk(source, to)) for source in fabric.lids.values())
    refused = flitwarp("check", "fabric.json", cwd=tmp_path, status=1).stderr
    assert f"{lost} of 240 pairs have no way: node 0 to node 4 (it ends at router 0)" in refused


SWITCH = 'switchguid=0x1(1)\nSwitch 4 "S-1" # "one" base port 0 lid 1 lmc 0\n'
PAIR = SWITCH + '[1] "H-2"[1] # "two" lid 2\n[2] "H-3"[1] # "three" lid 3\n\ncaguid=0x2\nCa 1 "H-2" # "two"\n[1](2) "S-1"[1] # lid 2 lmc 0 "one"\n\n' \
              'caguid=0x3\nCa 1 "H-3" # "three"\n[1](3) "S-1"[2] # lid 3 lmc 0 "one"\n'
TABLE = "Unicast lids [0x0-0x3] of switch Lid 1 guid 0x0000000000000001 (one):\n0x0002 001 : (two)\n0x0003 002 : (three)\n"


@pytest.mark.parametrize("topology, tables, says", [
    (PAIR.replace('"H-3"[1] # "three"', '"H-3"[2] # "three"', 1), TABLE, 't.txt:4: port 2 of "H-3" does not say that its cable ends here'),
    (PAIR.replace("[2] ", "2 ", 1), TABLE, "t.txt:4: found '2 "),
    (PAIR.replace("[2] ", "[x] ", 1), TABLE, "t.txt:4: found '[x] "),
    (PAIR + "\n" + SWITCH, TABLE, 't.txt:15: node "S-1" is there twice'),
    (SWITCH, TABLE, "there are 1 switches and 0 ports of adapters"),
    (PAIR.replace("lid 3 lmc", "lid 2 lmc"), TABLE, "t.txt:12: lid 2 belongs to another port too"),
    (PAIR.replace("# lid 3 lmc 0", "#"), TABLE, "t.txt:12: the adapter's port has no lid"),
    (PAIR, TABLE.replace("0x0000000000000001", "0x9"), "l.txt:1: found the table of a switch that t.txt has not"),
    (PAIR, "0x0002 001\n" + TABLE, "l.txt:1: found an entry before the head of a table"),
    (PAIR, TABLE.replace("0x0003 002", "0x0003 two"), "l.txt:3: found '0x0003 two"),
    (PAIR, "nothing\n", 'l.txt: there is no table of switch "one" (guid 0x0000000000000001)'),
    (PAIR, TABLE.replace("0x0003 002", "0x0003 001"), 'switch "one" sends packets to lid 3 by port 1, but that hangs on its port 2'),
])
def test_wrong_files_are_refused_by_line(topology, tables, says, tmp_path):
    (tmp_path / "t.txt").write_text(topology)
    (tmp_path / "l.txt").write_text(tables)
    assert says in flitwarp("import", "t.txt", "--routes", "l.txt", "-o", "o.json", "--from", "infiniband", cwd=tmp_path, status=1).stderr
    assert not list(tmp_path.glob("o.*"))


RECORD = "PathRecord dump:\n\tdlid....3\n\tslid....2\n\tsl......0x1\n"


@pytest.mark.parametrize("records, says", [
    (RECORD, "p.txt: there is no path record from lid 3 to lid 2"),
    (RECORD.replace("0x1", "0x10") + "PathRecord dump:\n", "p.txt:5: found a path record without slid, dlid or sl, or beyond"),
    (RECORD.replace("\tslid....2\n", ""), "p.txt:3: found a path record without slid"),
])
def test_wrong_path_records_are_refused(records, says, tmp_path):
    for name, text in (("t.txt", PAIR), ("l.txt", TABLE), ("p.txt", records)):
        (tmp_path / name).write_text(text)
    assert says in flitwarp("import", "t.txt", "--routes", "l.txt", "--paths", "p.txt", "-o", "o.json", cwd=tmp_path, status=1).stderr
    assert "--paths needs --routes" in flitwarp("import", "t.txt", "--paths", "p.txt", "-o", "o.json", cwd=tmp_path, status=1).stderr


def test_files_are_beside_a_result_that_has_a_name(tmp_path):
    (tmp_path / "t.txt").write_text(PAIR)
    assert "accepted: -o OUT.json" in flitwarp("import", "t.txt", cwd=tmp_path, status=1).stderr
    (tmp_path / "o.network.txt").write_text(PAIR)
    assert "o.network.txt" in flitwarp("import", "o.network.txt", "-o", "o.json", cwd=tmp_path, status=1).stderr
    assert (tmp_path / "o.network.txt").read_text() == PAIR
    (tmp_path / "b.cfg").write_text("topology = mesh;\n")
    assert "--routes belongs to" in flitwarp("import", "b.cfg", "--routes", "t.txt", cwd=tmp_path, status=1).stderr


def test_nothing_is_written_where_something_decisive_is_left_out(tmp_path):
    (tmp_path / "t.txt").write_text(PAIR)
    (tmp_path / "l.txt").write_text(TABLE)
    strict = flitwarp("import", "t.txt", "--routes", "l.txt", "-o", "o.json", "--strict", cwd=tmp_path, status=1).stderr
    assert "1 of them decisive; nothing is written" in strict and not list(tmp_path.glob("o.*"))
    flitwarp("import", "t.txt", "--routes", "l.txt", "-o", "o.json", cwd=tmp_path)
    assert len(list(tmp_path.glob("o.*"))) == 3


def test_the_recorded_files_are_small():
    assert sum(path.stat().st_size for path in Path(FABRICS).iterdir()) < 100_000

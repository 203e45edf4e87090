# SPDX-License-Identifier: Apache-2.0
"""`flitwarp trace-convert`: what it writes is read here by readers of these tests' own, made from the description of the
formats, and carried out: every send must find its receive and every node must come to its end."""
import csv
import json
import os
import re
import struct
import subprocess
import tarfile
from collections import Counter, defaultdict, deque

import pytest

from support import PROGRAM, SHARED

TRACES = SHARED / "traces"
needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no traces in {TRACES}")
ASAN = os.environ.get("FLITWARP_ASAN", "")
CHECKED = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM
GOAL = """num_ranks 2
rank 0 {
a: calc 100 cpu 1
b: send 10b to 1 tag 3
b requires a
c: recv 20b from 1
c irequires b
}
rank 1 {
x: recv 10b from -1 tag -1
y: send 20b to 0
y requires x
}
"""


def convert(file, out, *arguments, status=0, program=PROGRAM):
    ended = subprocess.run([program, "trace-convert", file, "-o", out, *arguments], capture_output=True, text=True, timeout=60)
    assert ended.returncode == status, ended.stderr
    return ended.stderr


# ---- readers ----

EAGER = 65535
NODE = re.compile(r"l(\d+): (send|recv|calc) (\d+)b?(?: (?:to|from) (-?\d+) tag (-?\d+))?(?: cpu (\d+))?(?: nic (\d+))?$")
EDGE = re.compile(r"l(\d+) (i?requires) l(\d+)$")


def read_text(path):
    """By rank: the nodes (type, peer, size, tag, cpu, nic) and the edges (later, earlier, on start)."""
    ranks = []
    for line in path.read_text().splitlines()[1:]:
        node, edge = NODE.match(line), EDGE.match(line)
        if line.startswith("rank "):
            assert line == f"rank {len(ranks)} {{"
            ranks.append(([], []))
        elif node:
            number, kind, size, peer, tag, cpu, nic = node.groups()
            assert int(number) == len(ranks[-1][0]) + 1
            ranks[-1][0].append((kind, int(peer or 0), int(size), int(tag or 0), int(cpu or 0), int(nic or 0)))
        elif edge:
            ranks[-1][1].append((int(edge[1]) - 1, int(edge[3]) - 1, edge[2] == "irequires"))
        else:
            assert line in ("", "}")
    return ranks


def read_binary(path):
    data = path.read_bytes()
    cookie, count, cpus, nics = struct.unpack_from("<QIBB", data)
    assert cookie == 4223
    ranks = []
    for rank in range(count):
        start, end = struct.unpack_from("<QQ", data, 14 + 16 * rank)
        at = start + 8
        size, root_count = struct.unpack_from("<II", data, at)
        roots = struct.unpack_from(f"<{root_count}I", data, at + 8)
        at += 8 + 4 * root_count
        appendix = at + 39 * size
        edges_end = end + 8
        targets = struct.unpack_from(f"<{(edges_end - appendix) // 4}I", data, appendix)
        nodes, edges, waits = [], [], []
        for number in range(size):
            row = struct.unpack_from("<IBiQiBBIIII", data, at + 39 * number)
            waits.append(row[0])
            nodes.append((("send", "recv", "calc")[row[1] - 1], *row[2:7]))
            assert row[5] < cpus and row[6] < nics
            edges += [(later, number, False) for later in targets[row[8]:row[8] + row[7]]]
            edges += [(later, number, True) for later in targets[row[10]:row[10] + row[9]]]
        awaited = Counter(edge[0] for edge in edges)
        assert waits == [awaited[number] for number in range(size)] and len(edges) == len(targets)
        assert list(roots) == [number for number in range(size) if waits[number] == 0]
        ranks.append((nodes, edges))
    assert edges_end == len(data)
    return ranks


def carry_out(ranks):
    """Runs a schedule without times; a send of over EAGER bytes ends when its receive is there, others at once. Returns
    the messages of each pair."""
    waits = [Counter(edge[0] for edge in edges) for _, edges in ranks]
    on_start, on_end = [defaultdict(list) for _ in ranks], [defaultdict(list) for _ in ranks]
    for rank, (_, edges) in enumerate(ranks):
        for later, earlier, is_start in edges:
            (on_start if is_start else on_end)[rank][earlier].append(later)
    ready = deque((rank, number) for rank, (nodes, _) in enumerate(ranks) for number in range(len(nodes))
                  if not waits[rank][number])
    sends, receives, messages, done = defaultdict(deque), defaultdict(deque), Counter(), 0

    def release(rank, waiting):
        for later in waiting:
            waits[rank][later] -= 1
            if not waits[rank][later]:
                ready.append((rank, later))

    while ready:
        rank, number = ready.popleft()
        kind, peer, size, tag, _, _ = ranks[rank][0][number]
        release(rank, on_start[rank][number])
        if kind == "calc":
            done += 1
            release(rank, on_end[rank][number])
            continue
        assert tag != -1 and peer != -1, "these traces have no wildcards left"
        key = (rank, peer, tag) if kind == "send" else (peer, rank, tag)
        (sends if kind == "send" else receives)[key].append((number, size))
        if kind == "send" and size <= EAGER:
            release(rank, on_end[rank][number])
        while sends[key] and receives[key]:
            (sender, sent), (receiver, room) = sends[key].popleft(), receives[key].popleft()
            assert sent <= room
            messages[key[:2]] += 1
            done += 2
            if sent > EAGER:
                release(key[0], on_end[key[0]][sender])
            release(key[1], on_end[key[1]][receiver])
    assert done == sum(len(nodes) for nodes, _ in ranks), "something waits for ever"
    return messages


# ---- DUMPI to GOAL ----

@needs_traces
@pytest.mark.parametrize("name", ["ring_n4", "halo3d_n8", "allmix_n4", "sst-dumpi-tests", "amg_n27"])
def test_dumpi_traces_come_to_their_end_as_goal(name, tmp_path):
    meta = next((TRACES / "dumpi" / name).glob("*.meta"))
    convert(meta, tmp_path / "out.goal", "--lossy")
    convert(meta, tmp_path / "out.bin", "--lossy")
    ranks = read_text(tmp_path / "out.goal")
    assert [(nodes, sorted(edges)) for nodes, edges in ranks] == [
        (nodes, sorted(edges)) for nodes, edges in read_binary(tmp_path / "out.bin")]
    carry_out(ranks)


@needs_traces
def test_amg_with_probes_and_a_communicator_of_some_ranks_comes_to_its_end_as_goal(tmp_path):
    with tarfile.open(TRACES / "dumpi" / "amg_n8.tar.xz") as archive:
        archive.extractall(tmp_path)
    meta = next((tmp_path / "amg_n8").glob("*.meta"))
    convert(meta, tmp_path / "out.goal", "--lossy", "allreduce=ring")
    carry_out(read_text(tmp_path / "out.goal"))


@needs_traces
def test_collectives_of_the_ring_are_the_messages_of_the_chosen_algorithm(tmp_path):
    """48 allreduces are 12 of 4 ranks: recursive doubling sends 2 messages a rank, a ring 2 (4 - 1); the barrier's
    dissemination 2."""
    meta = next((TRACES / "dumpi" / "ring_n4").glob("*.meta"))
    for algorithm, steps in (("recursive_doubling", 2), ("ring", 6)):
        convert(meta, tmp_path / "out.goal", f"allreduce={algorithm}")
        assert sum(carry_out(read_text(tmp_path / "out.goal")).values()) == 144 + 4 * 2 + 48 * steps


# ---- small traces ----

def test_goal_text_becomes_binary_and_the_same_text_again(tmp_path):
    (tmp_path / "in.goal").write_text(GOAL)
    convert(tmp_path / "in.goal", tmp_path / "out.bin")
    convert(tmp_path / "out.bin", tmp_path / "back.goal")
    expected = [([("calc", 0, 100, 0, 1, 0), ("send", 1, 10, 3, 0, 0), ("recv", 1, 20, 0, 0, 0)],
                 [(1, 0, False), (2, 1, True)]),
                ([("recv", -1, 10, -1, 0, 0), ("send", 0, 20, 0, 0, 0)], [(1, 0, False)])]
    assert read_binary(tmp_path / "out.bin") == expected and read_text(tmp_path / "back.goal") == expected


def test_collectives_that_go_on_at_once_are_told_apart_as_goal(tmp_path):
    """Two allreduces begin together, beside computing, which is what cpu 0 does; each is a message of its vector to the other."""
    (tmp_path / "micro.txt").write_text("MICRO\n2\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1000 1\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 3000 1\n")
    convert(tmp_path / "micro.txt", tmp_path / "out.goal", "format.ranks=2", "allreduce=recursive_doubling")
    ranks = read_text(tmp_path / "out.goal")
    tags = [{size: tag for kind, _, size, tag, cpu, _ in nodes if kind == "send" and cpu != 0} for nodes, _ in ranks]
    assert sorted(tags[0]) == [1000, 3000] and tags[0] == tags[1] and tags[0][1000] != tags[0][3000]
    assert carry_out(ranks) == {(0, 1): 2, (1, 0): 2}


def test_csv_keeps_its_times_through_goal(tmp_path):
    """Times become a chain of computing on a processor of its own: 500, then 250 and 1250 more."""
    (tmp_path / "in.csv").write_text("time_ns,source,destination,bytes\n750,0,2,64\n500,0,1,32\n2000,0,1,8\n")
    convert(tmp_path / "in.csv", tmp_path / "out.goal")
    nodes, edges = read_text(tmp_path / "out.goal")[0]
    assert [node[2] for node in nodes if node[4] == 1] == [500, 250, 1250]
    before = defaultdict(list)
    for later, earlier, _ in edges:
        before[later].append(earlier)

    def start(number):
        return max((start(at) + (nodes[at][2] if nodes[at][0] == "calc" else 0) for at in before[number]), default=0)

    assert sorted((start(number), node[1], node[2]) for number, node in enumerate(nodes) if node[0] == "send") == [
        (500, 1, 32), (750, 2, 64), (2000, 1, 8)]
    convert(tmp_path / "out.goal", tmp_path / "back.csv")
    with open(tmp_path / "back.csv") as file:
        assert [tuple(map(int, row.values())) for row in csv.DictReader(file)] == [
            (500000, 0, 1, 32), (750000, 0, 2, 64), (2000000, 0, 1, 8)]


# ---- refusals ----

def test_sends_that_wait_for_others_are_no_csv(tmp_path):
    (tmp_path / "in.goal").write_text(GOAL)
    message = convert(tmp_path / "in.goal", tmp_path / "out.csv", status=1, program=CHECKED)
    assert "CSV cannot express 1 sends that wait for other ranks" in message and not (tmp_path / "out.csv").exists()
    convert(tmp_path / "in.goal", tmp_path / "out.csv", "--lossy")
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["0,1,0,20", "100000,0,1,10"]


@needs_traces
def test_probes_are_no_goal(tmp_path):
    meta = next((TRACES / "dumpi" / "allmix_n4").glob("*.meta"))
    message = convert(meta, tmp_path / "out.goal", status=1, program=CHECKED)
    assert "GOAL cannot express 5 probes" in message and "4 synchronous" in message


@pytest.mark.parametrize("arguments, message", [
    (["-o", "out.txt"], "found 'out.txt', accepted: a name that ends with .goal, .bin (binary GOAL) or .csv"),
    (["-o", "out.goal", "--to", "vef"], "--to: found 'vef', accepted: goal, goal_binary, csv"),
    (["-o", "out.goal", "allreduce=rign"], "rign"),
    (["-o", "out.goal", "allreduse=ring"], "allreduce"),
    (["-o", "out.goal", "--format", "gaol"], "there is no trace format 'gaol'; accepted: auto"),
    ([], "no file to write is given: -o OUT"),
    (["-o"], "'-o' needs a value"),
    (["-o", "out.goal", "other.goal"], "'other.goal' is not understood; one trace is converted at a time"),
    (["-o", "out.goal", "allreduce=ring", "allreduce=ring"], "'allreduce' is given twice"),
    (["-o", "out.goal", "--copies", "0"], "--copies 0; accepted: 1 to 16777216"),
    (["-o", "out.goal", "--repeats", "few"], "--repeats few; accepted: 1 to 16777216"),
    (["-o", "out.csv", "--lossy", "--repeats", "2"], "--copies and --repeats are for GOAL"),
])
def test_wrong_usage_is_refused(tmp_path, arguments, message):
    (tmp_path / "in.goal").write_text(GOAL)
    ended = subprocess.run([CHECKED, "trace-convert", "in.goal", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1 and message in ended.stderr and not (tmp_path / "out.goal").exists()


def test_a_trace_has_to_be_given():
    ended = subprocess.run([CHECKED, "trace-convert", "-o", "out.goal"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "no trace is given" in ended.stderr


def test_a_file_that_cannot_be_written_is_an_error_of_output(tmp_path):
    (tmp_path / "in.goal").write_text(GOAL)
    convert(tmp_path / "in.goal", tmp_path / "nowhere" / "out.goal", status=3)
    convert(tmp_path / "in.goal", tmp_path / "nowhere" / "out.csv", "--lossy", status=3)


# ---- a larger one ----

@pytest.mark.parametrize("reader, ending", [(read_text, "goal"), (read_binary, "bin")])
def test_a_trace_grows(tmp_path, reader, ending):
    """Copies talk to themselves alone. A pass begins behind all of the one before: by hand, of the schedule above."""
    (tmp_path / "in.goal").write_text(GOAL.replace("from -1 tag -1", "from 0 tag 3"))
    once, grown = tmp_path / f"once.{ending}", tmp_path / f"grown.{ending}"
    convert(tmp_path / "in.goal", once)
    convert(tmp_path / "in.goal", grown, "--copies", "3", "--repeats", "2", program=CHECKED)
    once, grown = reader(once), reader(grown)
    assert len(grown) == 3 * 2
    for rank, (nodes, edges) in enumerate(grown):
        before, count = once[rank % 2], len(once[rank % 2][0])
        shifted = [(kind, peer if kind == "calc" else peer + rank // 2 * 2, *rest) for kind, peer, *rest in before[0]]
        assert [tuple(node) for node in nodes[:count]] == shifted and [tuple(node) for node in nodes[count + 1:]] == shifted
        passes = {(later + shift, earlier + shift, how) for later, earlier, how in before[1] for shift in (0, count + 1)}
        join = {(count, 1, False), (count, 2, False), (count + 1, count, False)} if rank % 2 == 0 else {
            (count, 1, False), (count + 1, count, False)}
        assert {tuple(edge) for edge in edges} == passes | join
    carry_out(grown)


# ---- trace-info of any format ----

def test_trace_info_counts_a_small_schedule(tmp_path):
    (tmp_path / "in.goal").write_text(GOAL)
    facts = json.loads(subprocess.run([PROGRAM, "trace-info", tmp_path / "in.goal", "--json"], capture_output=True,
                                      check=True).stdout)
    assert (facts["format"], facts["ranks"]) == ("goal", 2)
    assert facts["tasks"] == {"compute": 1, "send": 2, "receive": 2}
    assert facts["messages"] == {"count": 2, "bytes": 30, "largest": 20, "sizes": [[8, 15, 1], [16, 31, 1]]}
    assert facts["destinations"] == {"min": 1, "mean": 1, "max": 1}
    assert facts["compute"] == {"total_seconds": 1e-7, "longest_seconds": 1e-7, "longest_rank": 0}


@pytest.mark.parametrize("arguments, message", [
    (["in.goal", "--matrix", "m.png"], "--matrix: found 'm.png', accepted: a name that ends with .csv, .csv.zst or .svg"),
    (["in.goal", "--list"], "--list: format 'goal' has no listing"),
    (["in.goal", "other.goal"], "'other.goal' is not understood"),
    ([], "no trace is given"),
    (["nothing.goal"], "nothing.goal"),
])
def test_trace_info_refuses_wrong_usage(tmp_path, arguments, message):
    (tmp_path / "in.goal").write_text(GOAL)
    ended = subprocess.run([CHECKED, "trace-info", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1 and message in ended.stderr

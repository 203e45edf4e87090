# SPDX-License-Identifier: Apache-2.0
"""Traces on an ideal network, against times that are counted by hand.

The network is LogGOPS's: a message's head takes L from terminal to terminal and every further byte G; a cpu has o for
a message that it sends and for one that it receives. So a message of s bytes that is sent at t and whose receive is
there is received at

    eager        t + o + L + (s - 1) G + o
    rendezvous   t + o + L + L + L + (s - 1) G + o      offer, acceptance (both of one byte), message
"""
import json
import math
import random
import re
import struct
import subprocess

import pytest

from support import PROGRAM, SHARED, Failed, invoke

L, O, G, GAP = 2500, 1500, 6, 1000
LIMIT = 65535
GOAL = SHARED / "traces" / "goal"


def config(file, terminals, **settings):
    return {
        "simulator": {"tick": "1ns"},
        "network": {
            "flit_bytes": 1,
            "topology": {"type": "ideal", "terminals": terminals, "latency": "2500ns"},
            "routing": "minimal",
            "router": {"type": "packet", "num_vcs": 1, "buffer_depth": 1048576, "delay": 0},
            "channel": {"cycle": "6ns"}, "terminal_channel": {"cycle": "6ns"},
        },
        "workload": {"check_interval": "20us", "applications": [{"type": "trace", "file": str(file), "overhead": "1500ns", "eager_limit": LIMIT,
                                       "max_packet": 1048576, "per_rank": True, **settings}]},
    }


@pytest.fixture
def replay(tmp_path):
    """The block of results of a trace: a list of the statements of each rank, or a file."""
    def play(ranks, terminals=None, arguments=(), network=None, **settings):
        file = ranks
        if isinstance(ranks, list):
            file = tmp_path / "made.goal"
            file.write_text(text_of(ranks))
        count = terminals or max(2, int(re.search(r"num_ranks (\d+)", file.read_text())[1]))
        text, _ = invoke(config(file, count, **settings), network, arguments=arguments)
        results = json.loads(text)
        assert results["complete"]
        return results["applications"][0]
    return play


def text_of(ranks):
    blocks = ["rank %d {\n%s\n}\n" % (rank, "\n".join(line.strip() for line in text.split(";")))
              for rank, text in enumerate(ranks)]
    return f"num_ranks {len(ranks)}\n" + "".join(blocks)


def eager(size, sent=0):
    return sent + O + L + (size - 1) * G + O


# ---- published results: LogGOPSim's documentation, by way of the notes on the format ----

def dissemination(ranks):
    """Each round waits for the last one's message."""
    rounds = math.ceil(math.log2(ranks))
    made = []
    for rank in range(ranks):
        lines = []
        for k in range(rounds):
            lines += [f"s{k}: send 1b to {(rank + 2 ** k) % ranks}", f"r{k}: recv 1b from {(rank - 2 ** k) % ranks}"]
            lines += [f"s{k} requires r{k - 1}"] if k else []
        made.append("; ".join(lines))
    return made


@pytest.mark.parametrize("ranks", [2, 8, 16, 33])
def test_dissemination_takes_its_rounds(ranks, replay):
    block = replay(dissemination(ranks), gap="1000ns")
    assert block["time_by_rank"] == [math.ceil(math.log2(ranks)) * (2 * O + L)] * ranks


@pytest.mark.skipif(not GOAL.exists(), reason="shared/traces/goal is not there")
@pytest.mark.parametrize("name, ranks, time", [("dissemination_16", 16, 22000), ("dissemination_32", 32, 27500)])
def test_loggopsims_dissemination_ends_when_it_says(name, ranks, time, replay):
    assert replay(GOAL / f"{name}.goal", gap="1000ns")["time_by_rank"] == [time] * ranks


@pytest.mark.skipif(not GOAL.exists(), reason="shared/traces/goal is not there")
@pytest.mark.parametrize("name", ["binary_tree_16", "binary_tree_32", "schedule_schedgen2"])
def test_loggopsims_other_samples_replay_to_the_end(name, replay):
    assert replay(GOAL / f"{name}.goal")["unfinished_ranks"] == 0


REDUCE = ["a: recv 1024b from 4; b: recv 1024b from 2; c: recv 1024b from 1; b requires a; c requires b",
          "a: recv 1024b from 5; b: recv 1024b from 3; s: send 1024b to 0; b requires a; s requires b",
          "a: recv 1024b from 6; s: send 1024b to 0; s requires a",
          "a: recv 1024b from 7; s: send 1024b to 1; s requires a",
          "send 1024b to 0", "send 1024b to 1", "send 1024b to 2", "send 1024b to 3"]


def test_a_binomial_reduce_ends_as_loggopsim_says(replay):
    block = replay(REDUCE, gap="1000ns")
    assert block["time_by_rank"] == [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]
    assert block["bytes"] == 7 * 1024
    assert block["completion_time"] == block["communication_time"]["max"] == 34914


# ---- messages ----

@pytest.mark.parametrize("size", [1, 1000, LIMIT])
def test_an_eager_send_ends_without_its_receive(size, replay):
    late = 1000000
    block = replay([f"send {size}b to 1", f"c: calc {late}; r: recv {size}b from 0; r requires c"])
    assert block["time_by_rank"] == [O, late + O]
    assert replay([f"send {size}b to 1", f"recv {size}b from 0"])["time_by_rank"] == [O, eager(size)]


@pytest.mark.parametrize("posted", [0, 100000])
def test_a_large_send_waits_for_its_receive(posted, replay):
    size = LIMIT + 1
    block = replay([f"send {size}b to 1", f"c: calc {posted}; r: recv {size}b from 0; r requires c"])
    matched = max(posted, O + L)
    assert block["time_by_rank"] == [matched + L, matched + L + L + (size - 1) * G + O]


def test_messages_of_a_rank_match_in_order_whatever_the_receive_takes(replay):
    # Tags 1, 2, 1: any tag takes the first, tag 2 the second, any source the last. The calc tells whether all came.
    lines = "a: send 8b to 1 tag 1; b: send 9b to 1 tag 2; c: send 7b to 1 tag 1; b requires a; c requires b"
    late = "w: calc 100000; x: recv 8b from 0 tag -1; y: recv 9b from -1 tag 2; z: recv 9b from -1 tag -1; " \
           "x requires w; y requires x; z requires y"
    assert replay([lines, late])["time_by_rank"] == [3 * O, 100000 + 3 * O]


def test_the_first_receive_that_fits_takes_a_message(replay):
    # Both fit; the later one, whose message comes after a calc, is what rank 1 ends with.
    sends = "a: send 1b to 1 tag 5; c: calc 50000; b: send 1b to 1 tag 6; c requires a; b requires c"
    block = replay([sends, "x: recv 1b from -1 tag -1; y: recv 1b from 0 tag -1"])
    assert block["time_by_rank"][1] == eager(1, sent=O + 50000)


def test_messages_do_not_overtake_each_other(replay):
    # Two planes: the second message is small and goes by the other one. The receive takes the first all the same.
    lines = "a: send 60000b to 1; b: send 1b to 1; b requires a"
    planes = {"network.planes": {"count": 2, "selection": "round_robin"}}
    block = replay([lines, "recv 60000b from 0"], network=planes)
    assert block["time_by_rank"][1] == eager(60000)


def test_a_gap_lies_between_messages_of_an_interface(replay):
    # The third waits for its turn at interface 0, which the first and then the second have for a gap and 9 bytes more.
    lines = "send 10b to 1 cpu 0; send 10b to 1 cpu 1; send 10b to 1 cpu 2 tag 3; send 10b to 1 cpu 3 nic 1 tag 4"
    block = replay([lines, "recv 10b from 0 tag 3"], gap="1000ns", overhead=0)
    assert block["time_by_rank"] == [2 * (GAP + 9 * G), 2 * (GAP + 9 * G) + L + 9 * G]


def test_messages_of_billions_of_flits_come_in_pieces(replay):
    # 5 GiB in flits of a byte: more than a message's 2^30. Serial from end to end: the last byte is there as if it were one.
    size = 5 << 30
    block = replay([f"send {size}b to 1", f"recv {size}b from 0"], eager_limit=10 ** 15, max_packet=1 << 24,
                   network={"network.router.buffer_depth": 1 << 28, "workload.check_interval": 10 ** 9})
    assert block["time_by_rank"] == [O, eager(size)]
    assert block["bytes"] == size


# ---- time ----

def test_cpus_do_one_thing_at_a_time(replay):
    block = replay(["calc 100; calc 200", "calc 100 cpu 1; calc 200"])
    assert block["time_by_rank"] == [300, 200]
    assert block["communication_time"]["max"] == 0


def test_irequires_waits_for_the_beginning(replay):
    block = replay(["a: calc 100; b: calc 30 cpu 1; b irequires a", "a: calc 100; b: calc 30 cpu 1; b requires a"])
    assert block["time_by_rank"] == [100, 130]


@pytest.mark.parametrize("scale", [0, 0.5, 2])
def test_compute_is_scaled(scale, replay):
    lines = "a: calc 1000; s: send 1b to 1; s requires a"
    block = replay([lines, "recv 1b from 0"], compute_scale=scale)
    assert block["time_by_rank"] == [1000 * scale + O, 1000 * scale + 2 * O + L]
    assert block["communication_time"]["max"] == 1000 * scale + 2 * O + L


def test_a_cpu_has_time_for_each_byte(replay):
    block = replay(["send 101b to 1", "recv 101b from 0"], overhead_per_byte="2ns")
    assert block["time_by_rank"] == [O + 200, eager(101) + 2 * 200]


@pytest.mark.parametrize("bytes_, copied", [(100, 200), (5000, 10000), (5001, 0)])
def test_an_eager_message_is_copied_before_it_leaves(bytes_, copied, replay):
    lines = ["s: send %db to 1" % bytes_, "recv %db from 0" % bytes_]
    alone, block = (replay(lines, eager_limit=5000, **more) for more in ({}, {"copy_per_byte": "2ns"}))
    assert [one - other for one, other in zip(block["time_by_rank"], alone["time_by_rank"])] == [copied, copied]


def test_a_copy_takes_no_cpu_and_later_messages_do_not_overtake(replay):
    block = replay(["send 100b to 1; send 10b to 2; calc 500", "recv 100b from 0", "recv 10b from 0"], copy_per_byte="2ns")
    assert block["time_by_rank"][0] == 2 * O + 500
    receives = "a: recv 1000b from 0; c: calc 9000; b: recv 10b from 0; c requires a; b requires c"
    block = replay(["a: send 1000b to 1; b: send 10b to 1; b irequires a", receives], copy_per_byte="2ns")
    assert block["time_by_rank"][1] == eager(1000) + 2000 + 9000 + O


def test_what_is_not_copied_waits_for_nothing_but_copies_before_it(replay):
    # Two offers in the first tick to a rank of the same terminal: neither loses a tick by a setting that is not for them.
    lines = ["send 5001b to 1; send 5001b to 1", "recv 5001b from 0; recv 5001b from 0"]
    block = replay(lines, overhead=0, eager_limit=5000, copy_per_byte="2ns", ranks_per_terminal=2, local_latency="40ns")
    assert block["time_by_rank"] == [2 * 40, 3 * 40]
    # An offer behind a copy of 200 ticks goes when that message has: 100 bytes at G, there and back.
    lines = ["send 100b to 1; send 5001b to 1", "calc 90000 cpu 1; recv 100b from 0; recv 5001b from 0"]
    block = replay(lines, overhead=0, eager_limit=5000, copy_per_byte="2ns")
    assert block["time_by_rank"][0] == 200 + 100 * G + 2 * L


# ---- several ranks at a terminal ----

@pytest.mark.parametrize("placing, neighbour", [("block", 1), ("cyclic", 3)])
def test_ranks_of_a_terminal_are_neighbours_or_as_many_apart_as_there_are_terminals(placing, neighbour, replay):
    # Six ranks at three terminals: 0 1, 2 3, 4 5 or 0 3, 1 4, 2 5. Another terminal is L away.
    for peer in (1, 2, 3):
        lines = ["send 1b to %d" % peer, *("recv 1b from 0" if rank == peer else "calc 0" for rank in range(1, 6))]
        block = replay(lines, terminals=3, ranks_per_terminal=2, placing=placing, local_latency="40ns")
        assert block["time_by_rank"][peer] == O + (40 if peer == neighbour else L) + O


@pytest.mark.parametrize("bandwidth, ticks", [(None, 0), (4, 250), ("500MB/s", 2000)])
def test_bytes_within_a_terminal_take_the_time_of_its_bandwidth(bandwidth, ticks, replay):
    block = replay(["send 1000b to 1", "recv 1000b from 0"], terminals=2, ranks_per_terminal=2, local_latency="40ns",
                   local_bandwidth=bandwidth)
    assert block["time_by_rank"] == [O, O + 40 + ticks + O]


# ---- the same under every synchronisation ----

MIXED = ["a: send 100000b to 1 tag 3; b: send 8b to 1 tag 3; c: send 8b to 1 tag 4 cpu 1; d: calc 5000 cpu 1; "
         "d irequires c; e: recv 8b from -1 tag -1; e requires d; f: send 70000b to 3 tag 1; f requires e",
         "c: calc 20000; a: recv 100000b from -1 tag 3; b: recv 8b from 0 tag -1; e: recv 8b from 0 tag -1; "
         "a requires c; b requires a; e requires b; s: send 8b to 0 tag 9; s requires e",
         "a: calc 100; b: send 70000b to 3 tag 1; b requires a", "recv 70000b from -1 tag 1; recv 70000b from -1 tag -1"]


@pytest.mark.parametrize("arguments", [["--sync", "conservative", "--threads", "2"],
                                       ["--sync", "conservative", "--threads", "3"],
                                       ["--sync", "optimistic", "--threads", "2"],
                                       ["--sync", "optimistic", "--check-reversal"]], ids=" ".join)
def test_replays_are_the_same_on_threads_and_backwards(arguments, tmp_path):
    file = tmp_path / "mixed.goal"
    file.write_text(text_of(MIXED))
    runs = [json.loads(invoke(config(file, 4, gap="10ns"), arguments=more)[0]) for more in ((), arguments)]
    assert runs[0]["simulation"]["digest"] == runs[1]["simulation"]["digest"]
    assert runs[0]["applications"] == runs[1]["applications"]


def drawn(seed, ranks, steps):
    """Messages of all sizes, one after the other in one order for all ranks, so that they can always complete."""
    draw = random.Random(seed)
    lines, last = [[] for _ in range(ranks)], [None] * ranks

    def add(rank, text):
        label = f"t{len(lines[rank])}"
        lines[rank].append(f"{label}: {text} cpu {draw.choice([0, 0, 1])}")
        if last[rank]:
            lines[rank].append(f"{label} requires {last[rank]}")
        return label

    for tag in range(steps):
        source, target = draw.sample(range(ranks), 2)
        size = draw.choice([0, 1, 100, 5000, 70000])
        sent = add(source, f"send {size}b to {target} tag {tag}")
        received = add(target, f"recv {size}b from {draw.choice([source, -1])} tag {tag}")
        last[source] = draw.choice([last[source], sent])
        last[target] = draw.choice([last[target], received])
    return ["; ".join(rank) for rank in lines]


TORUS = {"topology": {"type": "torus", "widths": [4, 4]}, "flit_bytes": 32, "planes": {"count": 2, "selection": "round_robin"}}


@pytest.mark.parametrize("router", ["input_queued", "packet"])
def test_drawn_schedules_complete_alike_where_messages_overtake_each_other(router, tmp_path):
    file = tmp_path / "drawn.goal"
    file.write_text(text_of(drawn(1, 12, 200)))
    made = config(file, 16, eager_limit=5000, max_packet=64, overhead="50ns", allocation={"type": "random", "count": 12})
    made["network"] = {**TORUS, "router": {"type": router, "num_vcs": 2, "buffer_depth": 64}, "channel": {"latency": 10}}
    runs = [json.loads(invoke(made, arguments=more)[0])
            for more in ((), ["--sync", "conservative", "--threads", "3"], ["--sync", "optimistic", "--check-reversal"])]
    assert runs[0]["applications"][0]["unfinished_ranks"] == 0
    for other in runs[1:]:
        assert other["simulation"]["digest"] == runs[0]["simulation"]["digest"]
        assert other["applications"] == runs[0]["applications"]


# ---- what cannot complete ----

@pytest.mark.parametrize("ranks, left, lines", [
    (["send 8b to 1 tag 1", "recv 8b from 0 tag 2"], "1 of 2 ranks have not ended",
     ["rank 1: task 0 (receive of 8 bytes from rank 0, tag 2) waits for a message of rank 0, which has ended",
      "rank 1: no receive has taken the message of rank 0, task 0 (send of 8 bytes to rank 1, tag 1)"]),
    (["send 100000b to 1", "a: recv 1b from 0 tag 7; send 1b to 0"], "2 of 2 ranks have not ended",
     ["rank 0: task 0 (send of 100000 bytes to rank 1, tag 0) waits for a receive of rank 1, which has not ended"]),
    (["a: recv 1b from 1; b: send 1b to 1; b requires a", "a: recv 1b from -1; b: send 1b to 0; b requires a"],
     "2 of 2 ranks have not ended",
     ["rank 0: task 0 (receive of 1 bytes from rank 1, tag 0) waits for a message of rank 1, which has not ended",
      "rank 1: task 0 (receive of 1 bytes from any rank, tag 0) waits for a message from any rank"]),
])
@pytest.mark.parametrize("arguments", [[], ["--sync", "conservative", "--threads", "2"]], ids=["alone", "threads"])
def test_who_waits_for_what_is_said(ranks, left, lines, arguments, replay):
    with pytest.raises(Failed) as failed:
        replay(ranks, arguments=arguments)
    assert failed.value.status == 2
    assert f"application 'trace' cannot go on at tick" in failed.value.message and left in failed.value.message
    for line in lines:
        assert line in failed.value.message


# ---- the binary form ----

def binary_of(ranks):
    """As txt2bin writes it; statements as above, with the order of `tag`, `cpu`, `nic` free."""
    pieces = []
    for text in ranks:
        labels, nodes = {}, []
        for statement in text.split(";"):
            words = statement.split()
            if "requires" in words or "irequires" in words:
                earlier = nodes[labels[words[2]]]
                earlier["after" if words[1] == "requires" else "during"].append(labels[words[0]])
                nodes[labels[words[0]]]["waits"] += 1
                continue
            if words[0].endswith(":"):
                labels[words.pop(0)[:-1]] = len(nodes)
            given = dict(zip(words[2:][::2], words[3:][::2]))
            number = {key: int(value) % 2 ** 32 for key, value in given.items()}
            nodes.append({"type": {"send": 1, "recv": 2, "calc": 3}[words[0]], "size": int(words[1].rstrip("b")),
                          "peer": number.get("to", number.get("from", 0)), "tag": number.get("tag", 0),
                          "cpu": number.get("cpu", 0), "nic": number.get("nic", 0), "waits": 0, "after": [], "during": []})
        roots = [i for i, node in enumerate(nodes) if not node["waits"]]
        edges, packed = [], b""
        for node in nodes:
            first = len(edges)
            edges += node["after"] + node["during"]
            packed += struct.pack("<IBIQIBBIIII", node["waits"], node["type"], node["peer"], node["size"], node["tag"],
                                  node["cpu"], node["nic"], len(node["after"]), first, len(node["during"]),
                                  first + len(node["after"]))
        pieces.append(struct.pack(f"<II{len(roots)}I", len(nodes), len(roots), *roots) + packed +
                      struct.pack(f"<{len(edges)}I", *edges))
    at, ranges = 6 + 16 * len(pieces), b""
    for piece in pieces:
        ranges += struct.pack("<QQ", at, at + len(piece))
        at += len(piece)
    return struct.pack("<QIBB", 4223, len(pieces), 1, 1) + ranges + b"".join(pieces)


@pytest.mark.parametrize("ranks", [REDUCE, MIXED], ids=["reduce", "mixed"])
def test_the_binary_form_gives_the_same_run(ranks, tmp_path):
    text, binary = tmp_path / "form.goal", tmp_path / "form.bin"
    text.write_text(text_of(ranks))
    binary.write_bytes(binary_of(ranks))
    runs = [json.loads(invoke(config(file, len(ranks)))[0]) for file in (text, binary)]
    assert runs[0]["simulation"]["digest"] == runs[1]["simulation"]["digest"]
    assert runs[0]["applications"] == runs[1]["applications"]


@pytest.mark.parametrize("damage, words", [
    (lambda file: file[:10], "at byte 10: the file ends within its first 14 bytes"),
    (lambda file: file[:40], "at byte 8: 8 ranks in a file of 40 bytes; accepted: 1 to 1"),
    (lambda file: file[:-20], "rank 7 lies at"),
    (lambda file: file[:7:-1] + file[8:], "the file is of a machine of the other byte order"),
    (lambda file: struct.pack("<Q", 2342) + file[8:], "was marked as invalid (2342)"),
    (lambda file: file[:8] + struct.pack("<I", 4000000000) + file[12:], "4000000000 ranks in a file of"),
])
def test_damaged_binary_files_are_refused(damage, words, tmp_path):
    file = tmp_path / "form.bin"
    good = binary_of(REDUCE)
    file.write_bytes(struct.pack(">Q", 4223) + good[8:] if "order" in words else damage(good))
    with pytest.raises(Failed) as failed:
        invoke(config(file, 8))
    assert failed.value.status == 1 and f"{file}: at byte" in failed.value.message and words in failed.value.message


def test_more_ranks_than_terminals_are_refused(tmp_path):
    file = tmp_path / "wide.goal"
    file.write_text(text_of(REDUCE))
    with pytest.raises(Failed) as failed:
        invoke(config(file, 4))
    assert failed.value.status == 1 and "8 ranks for an application on 4 terminals" in failed.value.message
    done = subprocess.run([PROGRAM, "explain", "trace"], capture_output=True, text=True, check=True)
    assert "eager_limit" in done.stdout

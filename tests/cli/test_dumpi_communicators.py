# SPDX-License-Identifier: Apache-2.0
"""Communicators of DUMPI traces, which no rank knows alone, in traces that are made here: ranks as the MPI standard deals
them out."""
import json
import os
import re
import subprocess

import pytest

from dumpi_writer import B, H, L, write_trace
from support import PROGRAM, invoke

ASAN = os.environ.get("FLITWARP_ASAN", "")
CHECKED = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM
WORLD, NULL = H(2), H(1)


def info(file, *arguments, program=PROGRAM, status=0):
    ended = subprocess.run([program, "trace-info", file, *arguments], capture_output=True, text=True, timeout=60)
    assert ended.returncode == status, ended.stderr
    return ended.stderr if status else ended.stdout


def sends_of(folder, ranks):
    """By rank: the peers of its sends, and what tells their communicators apart."""
    subprocess.run([PROGRAM, "trace-convert", write_trace(folder, ranks), "-o", folder / "made.goal"], check=True)
    text = (folder / "made.goal").read_text()
    return [re.findall(r"send \d+b to (\d+) tag (\d+)", block) for block in text.split("\nrank ")[1:]]


def send(place, communicator):
    return ("Send", 1, H(5), place, 7, H(communicator))


def apart(rank, tag=5):
    """Ranks 0 and 1, each alone in a group, and then joined as communicator 9."""
    return ("Comm_split", WORLD, rank, 0, H(8)), ("Intercomm_create", H(8), 0, WORLD, 1 - rank, tag, H(9))


def test_communicators_have_the_ranks_that_mpi_gives_them(tmp_path):
    """Six ranks. Split by parity, highest first: 4 2 0 and 5 3 1. A grid of two rows of three: ranks 0 1 2 and 3 4 5, columns
    0 3, 1 4 and 2 5. A group of 5, 3 and 1. Then a handle that comes again."""
    ranks = []
    for rank in range(6):
        is_odd = rank % 2 == 1
        ranks.append([
            ("Comm_split", WORLD, rank % 2, -rank, H(4)), send(0, 4), send(2, 4),
            ("Cart_create", WORLD, 2, [2, 3], [0, 0], 0, H(5)), ("Cart_sub", 2, H(5), [0, 1], H(6)), send(2, 6),
            ("Cart_sub", 2, H(5), [1, 0], H(7)), send(1, 7),
            ("Comm_group", WORLD, H(3)), ("Group_range_incl", H(3), 1, [[5, 1, -2]], H(4)),
            ("Comm_create", WORLD, H(4), H(8) if is_odd else NULL), *([send(0, 8), send(2, 8)] if is_odd else []),
            ("Comm_free", H(4)), ("Comm_dup", H(6), H(4)), send(1, 4),
        ])
    sends = sends_of(tmp_path, ranks)
    for rank, found in enumerate(sends):
        column, row = rank % 3, rank // 3
        expected = [4 + rank % 2, rank % 2, 3 * row + 2, 3 + column, *([5, 1] if rank % 2 else []), 3 * row + 1]
        assert [int(peer) for peer, _ in found] == expected
        assert len({tag for _, tag in found}) == (5 if rank % 2 else 4)
    assert len({tag for found in sends for _, tag in found}) == 2 + 2 + 3 + 1 + 2


def test_two_groups_are_joined_and_merged(tmp_path):
    """Ranks 0 1 2 and 3 4, led by 1 and 4. Each side sends to the other's ranks. Merged with the first group high: 3 4 0 1 2;
    the group of the others: 3 4 for the first three, and so on; one of them alone in a communicator of its own."""
    ranks = []
    for rank in range(5):
        is_low = rank < 3
        ranks.append([
            ("Comm_split", WORLD, int(is_low), rank, H(8)),
            ("Intercomm_create", H(8), 1, WORLD, 4 if is_low else 1, 7, H(9)), send(0, 9), send(1, 9), ("Barrier", H(9)),
            ("Intercomm_merge", H(9), int(is_low), H(10)), send(0, 10), send(4, 10),
            ("Comm_remote_group", H(9), H(3)), ("Group_incl", H(3), 1, [0], H(4)), ("Comm_group", H(9), H(5)),
            ("Comm_create", H(10), H(4) if rank in (0, 3) else H(5), NULL if rank not in (0, 3) else H(11)),
        ])
    sends = sends_of(tmp_path, ranks)
    assert [[int(peer) for peer, _ in found if peer] for found in sends] == [
        [*([3, 4] if rank < 3 else [0, 1]), *barrier_peers(rank, 5), 3, 2] for rank in range(5)]
    facts = json.loads(info(tmp_path / "made.meta", "--json"))
    assert facts["collectives"] == {"barrier": {"calls": 5, "bytes": 0}}


def barrier_peers(rank, ranks):
    """By dissemination over 1, 2, 4 ..."""
    return [(rank + distance) % ranks for distance in (1, 2, 4) if distance < ranks]


def test_groups_are_united_and_taken_apart(tmp_path):
    """{0, 1} with {1, 2, 3} is {0, 1, 2, 3}; without {1} and in a communicator: 0, 2, 3."""
    ranks = [[("Comm_group", WORLD, H(3)), ("Group_incl", H(3), 2, [0, 1], H(4)), ("Group_excl", H(3), 1, [0], H(5)),
              ("Group_union", H(4), H(5), H(6)), ("Group_incl", H(6), 1, [1], H(7)), ("Group_difference", H(6), H(7), H(8)),
              ("Comm_create", WORLD, H(8), NULL if rank == 1 else H(4)), *([] if rank == 1 else [send(1, 4), send(2, 4)])]
             for rank in range(4)]
    assert [[int(peer) for peer, _ in found] for found in sends_of(tmp_path, ranks)] == [[2, 3], [], [2, 3], [2, 3]]


def test_a_rank_is_alone_in_its_own_communicator_and_unknown_ones_have_all(tmp_path):
    """Handle 3 is MPI_COMM_SELF; 12 was made before the trace begins."""
    sends = sends_of(tmp_path, [[send(0, 3), send(2, 12)] for _ in range(3)])
    assert [[int(peer) for peer, _ in found] for found in sends] == [[rank, 2] for rank in range(3)]


def test_calls_are_listed_with_arrays_of_arrays(tmp_path):
    write_trace(tmp_path, [[("Comm_group", WORLD, H(3)), ("Group_range_incl", H(3), 2, [[0, 0, 1], [5, 1, -2]], H(4))]])
    listed = info(tmp_path / "made-0000.bin", "--list")
    assert "MPI_Group group=3\n" in listed and "int ranges[2]=[[0, 0, 1], [5, 1, -2]]\n" in listed


def test_counts_that_only_the_root_knows_reach_all_ranks(tmp_path):
    """MPI_Gatherv to rank 1 of 3: blocks of 10, 20 and 30 bytes, the root's own included."""
    def gather(rank, count):
        return ("Gatherv", rank, 3, count, H(5), 1, WORLD, *([[10, 20, 30], [0, 10, 30]] if rank == 1 else []), H(5))
    ranks = [[gather(rank, 10 * (rank + 1))] for rank in range(3)]
    facts = json.loads(info(write_trace(tmp_path, ranks), "--json"))
    assert facts["collectives"] == {"gather": {"calls": 3, "bytes": 60}}
    subprocess.run([PROGRAM, "trace-convert", tmp_path / "made.meta", "-o", tmp_path / "made.goal"], check=True)
    text = (tmp_path / "made.goal").read_text()
    assert sorted(re.findall(r"(send|recv) (\d+)b (?:to|from) (\d)", text)) == [
        ("recv", "10", "0"), ("recv", "30", "2"), ("send", "10", "1"), ("send", "30", "1")]


@pytest.mark.parametrize("calls, message", [
    ([[("Comm_dup", WORLD, H(4))], []], r"made-0000\.bin: at byte 16: MPI_Comm_dup: 1 of the 2 ranks of the communicator call "
                                       "it, the others do not"),
    ([[("Comm_dup", WORLD, H(4))], [("Comm_split", WORLD, 0, 0, H(4))]],
     r"made-0001\.bin: at byte 16: MPI_Comm_split, where rank 0 calls MPI_Comm_dup"),
    ([[send(2, 2)], []], r"made-0000\.bin: at byte 16: MPI_Send: rank 2 of a communicator of 2"),
    ([[("Send", -1, H(5), 0, 7, WORLD)], []], "MPI_Send: a count of -1"),
    ([[("Send", 1, H(99), 0, 7, WORLD)], []], "MPI_Send: the size of datatype 99 is not known"),
    ([[("Send", 1, H(5), 0, 7, NULL)], []], "MPI_Send: communicator 1 is none"),
    ([[("Intercomm_create", WORLD, 0, WORLD, 0, 5, H(9))]] * 2, r"made-0000\.bin: at byte 16: MPI_Intercomm_create: no other "
     "group calls it with leaders that name each other and the same tag"),
    ([[*apart(rank, tag=rank)] for rank in range(2)], "MPI_Intercomm_create: no other group calls it"),
    ([[*apart(rank), ("Bcast", 1, H(5), 0, H(9))] for rank in range(2)], "MPI_Bcast: communicator 9 joins two groups; supported "
     "there: messages, MPI_Barrier and MPI_Intercomm_merge"),
    ([[*apart(rank), ("Comm_dup", H(9), H(10))] for rank in range(2)], "MPI_Comm_dup: communicator 9 joins two groups"),
    ([[*apart(rank), send(1, 9)] for rank in range(2)], "MPI_Send: rank 1 of a communicator of 1"),
    ([[("Intercomm_merge", WORLD, 0, H(4))]] * 2, "MPI_Intercomm_merge: communicator 2 does not join two groups"),
    ([[("Comm_spawn", 1, 0, WORLD, H(9)), send(0, 9)], []], "communicator 9 joins processes that are not in the trace"),
    ([[("Put", 1, H(5), 0, 0, 1, H(5), H(7))], []], "MPI_Put: no call made window 7"),
    ([[("Win_create", 8, 1, H(1), WORLD, H(2)), ("Get", 1, H(5), 4, 0, 1, H(5), H(2))]] * 2, "MPI_Get: rank 4 of a communicator of 2"),
    ([[("Cart_create", WORLD, 2, [2, 2], [0, 0], 0, H(5))]] * 2, "MPI_Cart_create: a grid that 2 ranks do not fill"),
    ([[("Cart_sub", 1, WORLD, [1], H(5))]] * 2, "MPI_Cart_sub: 1 dimensions of a communicator that has 0"),
    ([[("Comm_create", WORLD, H(9), H(4))]] * 2, "MPI_Comm_create: group 9 is not known"),
    ([[("Comm_group", WORLD, H(3)), ("Group_incl", H(3), 1, [5], H(4))], []], "MPI_Group_incl: rank 5 of a group of 2"),
    ([[("Gatherv", 0, 2, 1, H(5), 1, WORLD, H(0))], []], "MPI_Gatherv: rank 1, its root, has no such call"),
    ([[("Gatherv", 0, 2, 1, H(5), 0, WORLD, [1], [0], H(5))], []], "MPI_Gatherv: 1 recvcounts in a communicator of 2 ranks"),
])
def test_calls_that_do_not_fit_together_are_refused_with_their_place(tmp_path, calls, message):
    assert re.search(message, info(write_trace(tmp_path, calls), program=CHECKED, status=1))


# ---- one-sided calls and files ----

NETWORK = {"flit_bytes": 1, "topology": {"type": "ideal", "terminals": 2, "latency": "1us"}, "routing": "minimal",
           "router": {"type": "packet", "num_vcs": 1, "buffer_depth": 1048576, "delay": 0},
           "channel": {"cycle": "1ns"}, "terminal_channel": {"cycle": "1ns"}}


def replayed(file, *arguments):
    """No overhead, and the time between the calls of the writer, 1 us each, is left out."""
    config = {"simulator": {"tick": "1ns"}, "network": NETWORK, "workload": {"check_interval": "100us", "applications": [
        {"type": "trace", "file": str(file), "compute_scale": 0, "per_rank": True, "max_packet": 1048576}]}}
    return json.loads(invoke(config, arguments=arguments)[0])["applications"][0]


def window(*calls):
    return [("Win_create", 4096, 1, H(1), WORLD, H(2)), *calls, ("Win_free", H(2))]


BARRIER = 1000  # of two ranks, at once: a message of one flit takes 1 us


@pytest.mark.parametrize("name, there, back", [("Put", 1000, 1), ("Accumulate", 1000, 1), ("Get", 1, 1000)])
def test_what_is_put_and_got_needs_no_receive(tmp_path, name, there, back):
    """Rank 0 reaches 1000 bytes of rank 1, whose program does nothing: data one way, one flit the other. At the fence rank 1's
    message of the barrier has long been there, so that rank 0 goes on and sends a second one behind that of the fence, a flit
    later; rank 1 answers the end when it has left the fence."""
    operation = (name, 1000, H(5), 1, 0, 1000, H(5), *([B(3)] if name == "Accumulate" else []), H(2))
    file = write_trace(tmp_path, [window(operation, ("Win_fence", B(0), H(2))), window(("Win_fence", B(0), H(2)))])
    trip = 1000 + there - 1 + 1000 + back - 1
    result = replayed(file)
    fence = BARRIER + trip
    assert result["time_by_rank"] == [fence + 2 * BARRIER, fence + BARRIER + 1]
    facts = json.loads(info(file, "--json", "--matrix", tmp_path / "matrix.csv", program=CHECKED))
    assert facts["calls"][f"MPI_{name}"] == 1 and facts["call_bytes"] == {f"MPI_{name}": 1000}
    assert facts["tasks"]["get" if name == "Get" else "put"] == 1 and facts["messages"]["bytes"] == result["bytes"] == 1000
    assert (tmp_path / "matrix.csv").read_text().splitlines()[1] == ("1,0,1,1000" if name == "Get" else "0,1,1,1000")


def test_an_epoch_of_one_rank_ends_when_its_puts_are_there(tmp_path):
    """Two of them at once, the second behind the first's bytes; then a message that nobody takes. Rank 1 has been at the end for
    long, and gets rank 0's message of the barrier behind that one's flit."""
    put = ("Put", 500, H(5), 1, 0, 500, H(5), H(2))
    file = write_trace(tmp_path, [window(put, put, ("Win_unlock", 1, H(2)), send(1, 2)), window()])
    answered = BARRIER + 1000 + 999 + 1000
    assert replayed(file)["time_by_rank"] == [answered, answered + 1 + BARRIER]


@pytest.mark.parametrize("arguments", [("--sync", "conservative", "--threads", "2"), ("--sync", "optimistic", "--threads", "2"),
                                       ("--sync", "optimistic", "--check-reversal")], ids=" ".join)
def test_puts_and_gets_are_the_same_on_threads_and_backwards(tmp_path, arguments):
    def calls(rank):
        reached = [(name, 300 * (rank + 1), H(5), 1 - rank, 0, 300, H(5), H(2)) for name in ("Put", "Get", "Put")]
        return window(*reached, ("Win_complete", H(2)), *reached, ("Win_fence", B(0), H(2)))
    file = write_trace(tmp_path, [calls(0), calls(1)])
    assert replayed(file, *arguments) == replayed(file)
    assert replayed(file)["bytes"] == 6 * (300 + 600)


def test_goal_and_csv_have_no_puts(tmp_path):
    file = write_trace(tmp_path, [window(("Put", 1, H(5), 1, 0, 1, H(5), H(2))), window()])
    for name in ("made.goal", "made.csv"):
        ended = subprocess.run([PROGRAM, "trace-convert", file, "-o", tmp_path / name], capture_output=True, text=True)
        assert ended.returncode == 1 and "cannot express 1 puts and gets, which would be left out" in ended.stderr


def test_time_in_files_counts_as_computing(tmp_path):
    """The writer's calls take 1 us, and 1 us lies between them: from the return of the first to the entry of the last."""
    calls = [("Barrier", WORLD), ("File_open", WORLD, "data", B(1), H(1), H(3)),
             ("File_write_at_all", H(3), L(0), 100, H(5)), ("File_close", H(3)), ("Barrier", WORLD)]
    facts = json.loads(info(write_trace(tmp_path, [calls, calls]), "--json", program=CHECKED))
    assert facts["files"] == {"calls": 6, "seconds": pytest.approx(6e-6)}
    assert facts["call_bytes"] == {"MPI_File_write_at_all": 200}
    assert facts["compute"]["total_seconds"] == pytest.approx(2 * (4 + 3) * 1e-6)

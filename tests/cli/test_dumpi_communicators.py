# SPDX-License-Identifier: Apache-2.0
"""Communicators of DUMPI traces, which no rank knows alone, in traces that are made here: ranks as the MPI standard deals
them out."""
import json
import os
import re
import subprocess

import pytest

from dumpi_writer import H, write_trace
from support import PROGRAM

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


def test_groups_are_united_and_taken_apart(tmp_path):
    """{0, 1} with {1, 2, 3} is {0, 1, 2, 3}; without {1} and in a communicator: 0, 2, 3."""
    ranks = [[("Comm_group", WORLD, H(3)), ("Group_incl", H(3), 2, [0, 1], H(4)), ("Group_excl", H(3), 1, [0], H(5)),
              ("Group_union", H(4), H(5), H(6)), ("Group_incl", H(6), 1, [1], H(7)), ("Group_difference", H(6), H(7), H(8)),
              ("Comm_create", WORLD, H(8), NULL if rank == 1 else H(4)), *([] if rank == 1 else [send(1, 4), send(2, 4)])]
             for rank in range(4)]
    assert [[int(peer) for peer, _ in found] for found in sends_of(tmp_path, ranks)] == [[2, 3], [], [2, 3], [2, 3]]


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
    ([[("Intercomm_create", WORLD, 0, WORLD, 0, 5, H(9)), send(0, 9)], []], "communicator 9 joins two groups"),
    ([[("Cart_create", WORLD, 2, [2, 2], [0, 0], 0, H(5))]] * 2, "MPI_Cart_create: a grid that 2 ranks do not fill"),
    ([[("Cart_sub", 1, WORLD, [1], H(5))]] * 2, "MPI_Cart_sub: 1 dimensions of a communicator that has 0"),
    ([[("Comm_create", WORLD, H(9), H(4))]] * 2, "MPI_Comm_create: group 9 is not known"),
    ([[("Comm_group", WORLD, H(3)), ("Group_incl", H(3), 1, [5], H(4))], []], "MPI_Group_incl: rank 5 of a group of 2"),
    ([[("Gatherv", 0, 2, 1, H(5), 1, WORLD, H(0))], []], "MPI_Gatherv: rank 1, its root, has no such call"),
    ([[("Gatherv", 0, 2, 1, H(5), 0, WORLD, [1], [0], H(5))], []], "MPI_Gatherv: 1 recvcounts in a communicator of 2 ranks"),
])
def test_calls_that_do_not_fit_together_are_refused_with_their_place(tmp_path, calls, message):
    assert re.search(message, info(write_trace(tmp_path, calls), program=CHECKED, status=1))

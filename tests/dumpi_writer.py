# SPDX-License-Identifier: Apache-2.0
"""Writes small DUMPI traces, for what no stored trace has. A call is a name and its arguments in the order of the file:
numbers are ints of four bytes, H(n) handles of two, B(n) of one, L(n) of eight, lists arrays with their length before them,
texts as they are. Calls take 1 us each, with 1 us between them or `gap`; ("compute", ns) makes that longer once."""
import struct

MAGIC = bytes.fromhex("FFAADD44554D5049")
IDS = {"Send": 0, "Comm_size": 81, "Recv": 1, "Bsend": 3, "Ssend": 4, "Rsend": 5, "Isend": 8, "Irecv": 12, "Wait": 13, "Test": 14, "Waitany": 16,
       "Waitall": 18, "Waitsome": 20, "Probe": 23, "Send_init": 26, "Recv_init": 30, "Start": 31, "Sendrecv": 33, "Gatherv": 55, "Comm_group": 72, "Group_incl": 76, "Group_excl": 77, "Group_range_incl": 78,
       "Group_union": 73, "Group_difference": 75, "Comm_dup": 84, "Comm_create": 85, "Comm_split": 86, "Comm_free": 87,
       "Barrier": 52, "Bcast": 53, "Comm_remote_group": 90, "Intercomm_create": 91, "Intercomm_merge": 92, "Cart_create": 99,
       "Cart_sub": 111, "Comm_spawn": 135, "Accumulate": 141, "Get": 142, "Put": 143, "Win_complete": 144, "Win_create": 145,
       "Win_fence": 146, "Win_free": 147, "Win_unlock": 153, "File_open": 230, "File_close": 231, "File_write_at_all": 245}


class H(int):
    """A handle."""


class B(int):
    """One of a byte."""


class L(int):
    """An offset in a file."""


def encoded(value):
    if isinstance(value, list):
        return struct.pack(">i", len(value)) + b"".join(map(encoded, value))
    if isinstance(value, str):
        return struct.pack(">i", len(value)) + value.encode()
    return struct.pack({H: ">H", B: ">B", L: ">q"}.get(type(value), ">i"), value)


def write_rank(path, calls, gap=1000):
    body, now = bytearray(MAGIC + bytes(8)), 0
    for name, *arguments in calls:
        if name == "compute":
            now += arguments[0]
            continue
        body += struct.pack(">HB", IDS[name], 0x08)
        body += b"".join(struct.pack(">HI", 1, now + end) for end in (0, 1000))
        body += b"".join(map(encoded, arguments))
        now += 1000 + gap
    body += struct.pack(">H", 293)
    header = len(body)
    body += bytes([13, 0, 0]) + bytes(20) + MAGIC + struct.pack(">7Q", 0, 0, 0, header, 8, 0, 0)
    path.write_bytes(body)


def write_trace(folder, ranks, gap=1000):
    """One list of calls a rank; returns the .meta file."""
    for rank, calls in enumerate(ranks):
        write_rank(folder / f"made-{rank:04}.bin", calls, gap)
    meta = folder / "made.meta"
    meta.write_text(f"hostname=made\nnumprocs={len(ranks)}\n")
    return meta

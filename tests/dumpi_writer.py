# SPDX-License-Identifier: Apache-2.0
"""Writes small DUMPI traces, for what no stored trace has. A call is a name and its arguments in the order of the file:
numbers are ints of four bytes, H(n) handles of two, lists arrays with their length before them."""
import struct

MAGIC = bytes.fromhex("FFAADD44554D5049")
IDS = {"Send": 0, "Gatherv": 55, "Comm_group": 72, "Group_incl": 76, "Group_excl": 77, "Group_range_incl": 78,
       "Group_union": 73, "Group_difference": 75, "Comm_dup": 84, "Comm_create": 85, "Comm_split": 86, "Comm_free": 87,
       "Intercomm_create": 91, "Cart_create": 99, "Cart_sub": 111}


class H(int):
    """A handle."""


def encoded(value):
    if isinstance(value, list):
        return struct.pack(">i", len(value)) + b"".join(map(encoded, value))
    return struct.pack(">H" if isinstance(value, H) else ">i", value)


def write_rank(path, calls):
    body = bytearray(MAGIC + bytes(8))
    for number, (name, *arguments) in enumerate(calls):
        body += struct.pack(">HB", IDS[name], 0x08)
        body += b"".join(struct.pack(">HI", 1, 1000 * (2 * number + end)) for end in (0, 1))
        body += b"".join(map(encoded, arguments))
    body += struct.pack(">H", 293)
    header = len(body)
    body += bytes([13, 0, 0]) + bytes(20) + MAGIC + struct.pack(">7Q", 0, 0, 0, header, 8, 0, 0)
    path.write_bytes(body)


def write_trace(folder, ranks):
    """One list of calls a rank; returns the .meta file."""
    for rank, calls in enumerate(ranks):
        write_rank(folder / f"made-{rank:04}.bin", calls)
    meta = folder / "made.meta"
    meta.write_text(f"hostname=made\nnumprocs={len(ranks)}\n")
    return meta

# SPDX-License-Identifier: Apache-2.0
"""Packet logs as arrays, and who sent how much to whom.

A log is what `flitwarp run --log FILE` wrote: CSV, or CSV compressed with zstd.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Iterator, Sequence

import numpy

from .binary import find_binary
from .results import UnknownColumn, unknown

HEADER = ("application", "source", "destination", "packet")  # how a packet log begins
MATRIX = ("source", "destination", "count")  # how a communication matrix begins
HOW_LOG = "flitwarp run CONFIG --log FILE.csv writes one"


class NotLog(ValueError):
    """A file that is no packet log."""


@contextmanager
def opened(path: str | Path) -> Iterator[IO[str]]:
    """A log's text, unpacked."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file '{path}'; {HOW_LOG}")
    if path.suffix != ".zst":
        with path.open(encoding="utf-8", errors="replace") as text:
            yield text
        return
    if not shutil.which("zstd"):
        raise NotLog(f"'{path}' is compressed, and there is no program zstd to unpack it: install it (package zstd)")
    with subprocess.Popen(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as unpacking:
        text = io.TextIOWrapper(unpacking.stdout, encoding="utf-8", errors="replace")  # type: ignore[arg-type]
        try:
            yield text
            rest = text.read(1)
        finally:
            text.close()
        complaint = unpacking.stderr.read().decode(errors="replace").strip() if unpacking.stderr else ""
        if unpacking.wait() != 0 and not rest:
            raise NotLog(f"'{path}' is no packet log: {complaint or 'it cannot be unpacked'}")


def header(path: str | Path) -> list[str]:
    """The names of a file's columns."""
    with opened(path) as text:
        names = text.readline().strip().split(",")
        for _ in text:  # to the end, or the unpacking program would complain
            break
    return names


def read(path: str | Path, columns: Sequence[str] | None = None) -> dict[str, numpy.ndarray]:
    """Columns of a packet log as arrays of whole numbers; all of them by default."""
    with opened(path) as text:
        names = text.readline().strip().split(",")
        if tuple(names[: len(HEADER)]) != HEADER:
            what = "it is a communication matrix" if tuple(names[:2]) == MATRIX[:2] else "its columns are others"
            raise NotLog(f"'{path}' is no packet log: {what}; {HOW_LOG}")
        wanted = list(columns) if columns is not None else names
        for name in wanted:
            if name not in names:
                raise UnknownColumn(unknown("column", name, names, f"'{path}'"))
        table = _numbers(path, text, [names.index(name) for name in wanted], numpy.int64)
    return {name: table[:, i] for i, name in enumerate(wanted)}


def _numbers(path: str | Path, text: IO[str], which: Sequence[int], kind: type) -> numpy.ndarray:
    import warnings
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an empty file
            return numpy.loadtxt(text, dtype=kind, delimiter=",", usecols=which, ndmin=2).reshape(-1, len(which))
    except ValueError as error:
        raise NotLog(f"'{path}' is damaged: {str(error).splitlines()[0]}") from None


def matrix(path: str | Path) -> dict[str, numpy.ndarray]:
    """Who sent how much to whom: a row for each pair that did, with `count` (packets), `flits` and `latency` (mean).

    From a packet log, or from what `flitwarp parse LOG --matrix FILE.csv` made of one.
    """
    names = header(path)
    if tuple(names[:3]) == MATRIX:
        with opened(path) as text:
            text.readline()
            return _matrix_of(path, names, text)
    if tuple(names[: len(HEADER)]) != HEADER:
        raise NotLog(f"'{path}' is neither a packet log nor a communication matrix; {HOW_LOG}")
    asked = _ask_program(path)
    if asked is not None:
        text = io.StringIO(asked)
        return _matrix_of(path, text.readline().strip().split(","), text)
    log = read(path, ["source", "destination", "packet_flits", "created", "tail_arrived"])
    pairs, where = numpy.unique(numpy.column_stack([log["source"], log["destination"]]), axis=0, return_inverse=True)
    where = where.ravel()
    count = numpy.bincount(where, minlength=len(pairs))
    return {"source": pairs[:, 0], "destination": pairs[:, 1], "count": count,
            "flits": numpy.bincount(where, log["packet_flits"], len(pairs)),
            "latency": numpy.bincount(where, log["tail_arrived"] - log["created"], len(pairs)) / numpy.maximum(count, 1)}


def _ask_program(path: str | Path) -> str | None:
    """What the program makes of a log; None where there is none, or where it does not know how."""
    try:
        answer = subprocess.run([str(find_binary()), "parse", str(path), "--matrix", "-"], capture_output=True, text=True,
                                check=False)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 and answer.stdout.startswith(",".join(MATRIX)) else None


def _matrix_of(path: str | Path, names: list[str], text: IO[str]) -> dict[str, numpy.ndarray]:
    numbers = _numbers(path, text, range(len(names)), float)
    table = {name: numbers[:, i] for i, name in enumerate(names)}
    for key in ("source", "destination"):
        table[key] = table[key].astype(int)
    mean = next((name for name in names if "latency" in name and "mean" in name), None) or \
        next((name for name in names if "latency" in name), None)
    if mean and mean != "latency":
        table["latency"] = table[mean]
    return table

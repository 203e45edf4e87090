# SPDX-License-Identifier: Apache-2.0
"""Reproducing a published study: a sweep, and a table of what came out beside what was printed.

    def compare(study):
        yield Row("64 flits, 1 ns", study_value, "90 %")

    sys.exit(reproduce(sweep, compare, sys.argv[1:]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterable, Sequence

from .files import write_file
from .study import Study, open_study
from .sweep import Sweep


@dataclass(frozen=True)
class Row:
    """A number of ours beside the published one, and whether what the paper says of it is so here."""

    what: str
    ours: str
    published: str
    holds: bool = True


def table(rows: Sequence[Row]) -> str:
    """The rows as a table that reads as text and as Markdown.

    >>> print(table([Row("throughput", "0.91", "0.90")]), end="")
    | what       | ours | published |
    |------------|------|-----------|
    | throughput | 0.91 | 0.90      |
    """
    def ours(row: Row) -> str:
        return row.ours if row.holds else f"{row.ours} (DIFFERS)"

    lines = [("what", "ours", "published"), *((row.what, ours(row), row.published) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    shown = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    shown.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(shown) + "\n"


def reproduce(sweep: Sweep, compare: Callable[[Study], Iterable[Row]], argv: Sequence[str]) -> int:
    """Runs the sweep as sweep.main() does, and writes published.md beside its report; 1 where something does not hold."""
    status = sweep.main(argv)
    if status == 0 and sweep.path.exists() and not {"--list", "--estimate", "--makefile", "--help"} & set(argv):
        rows = list(compare(open_study(sweep.path)))
        write_file(sweep.out / "published.md", table(rows))
        print(table(rows), end="")
        status = int(not all(row.holds for row in rows))
    return status

# SPDX-License-Identifier: Apache-2.0
"""What benchmarks came to, commit by commit: history.csv, the table HISTORY.md made of it, and the check against it.

Instructions per hop do not depend on what else a machine does, so they can be compared from day to day, as long as
the same compiler made the program for the same processor.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Iterable

HERE = Path(__file__).resolve().parent
FILE, TABLE = "history.csv", "HISTORY.md"
MOST_GROWTH = 0.05  # of instructions per hop

HEADING = """# Benchmarks, commit by commit

Made from `bench/history.csv` by `./dev bench --record [NAME ...]`, which adds what it measures of the tree as it is.
`./dev bench --check [NAME ...]` counts instructions again and fails where one takes more than 5 % more of them per hop than
last recorded with the same compiler and flags; `./dev bench --check short` does so in seconds, and the tests do that.

Instructions are callgrind's, per flit-hop (packet-hop, event). The other figure is million hops (events) per CPU second, the
best of three runs; it is recorded only on a machine that is otherwise idle. Where compiler and flags are not
named, the figures were taken over from the README or the docs as of that commit; some machines did other work then.
"""


@dataclasses.dataclass
class Record:
    """One benchmark of one commit; the fields are the columns of history.csv."""

    commit: str
    date: str
    machine: str
    compiler: str  # with its version; empty: not known
    flags: str
    benchmark: str
    instructions_per_hop: float | None
    million_per_cpu_second: float | None


def read(folder: Path = HERE) -> list[Record]:
    """All records, the oldest first; none where there is no file yet."""
    path = folder / FILE
    if not path.exists():
        return []

    def number(text: str) -> float | None:
        return float(text) if text else None

    with path.open(newline="") as file:
        return [Record(**{**row, "instructions_per_hop": number(row["instructions_per_hop"]),
                          "million_per_cpu_second": number(row["million_per_cpu_second"])})
                for row in csv.DictReader(file)]


def write(records: Iterable[Record], folder: Path = HERE) -> None:
    """Both files."""
    records = list(records)
    with (folder / FILE).open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in dataclasses.fields(Record)], lineterminator="\n")
        rows.writeheader()
        rows.writerows({key: "" if value is None else value for key, value in dataclasses.asdict(record).items()}
                       for record in records)
    (folder / TABLE).write_text(table(records))


def table(records: Iterable[Record]) -> str:
    """The history as a page: for each benchmark its records."""
    sections: dict[str, list[str]] = {}
    for record in records:
        instructions, speed = record.instructions_per_hop, record.million_per_cpu_second
        cells = [record.commit, record.date, "" if instructions is None else f"{instructions:,.1f}",
                 "" if speed is None else f"{speed:.1f}", record.machine, f"{record.compiler} {record.flags}".strip()]
        sections.setdefault(record.benchmark, []).append(f"| {' | '.join(cells)} |")
    head = "| commit | date | instructions per hop | million per CPU s | machine | compiler |\n|---|---|---|---|---|---|\n"
    return HEADING + "".join(f"\n## {name}\n\n{head}" + "\n".join(rows) + "\n" for name, rows in sorted(sections.items()))


# ---- what is measured with ----


def machine() -> str:
    """The processor's name and how many cores there are."""
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    return f"{names[0] if names else os.uname().machine}, {os.cpu_count()} cores"


def toolchain(binary: Path) -> tuple[str, str]:
    """Compiler and flags of a program that lies in its build folder; empty where that does not tell."""
    try:
        commands = json.loads((binary.resolve().parent / "compile_commands.json").read_text())
        words = shlex.split(commands[0]["command"])
    except (OSError, ValueError, LookupError):
        return "", ""
    compiler = words[1] if Path(words[0]).name == "ccache" else words[0]
    about = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    found = re.search(r"\d+\.\d+(\.\d+)?\S*$|(?<=version )\d\S*", about)
    flags = [word for word in words if re.match(r"-O|-march=|-fsanitize|--coverage", word)]
    return f"{'clang' if 'clang' in about else 'gcc'} {found.group() if found else ''}".strip(), " ".join(flags)


def commit() -> tuple[str, str]:
    """The commit that lies here and its date; marked where files differ from it."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(HERE), *words], capture_output=True, text=True, check=False).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "../src", "../include", "../CMakeLists.txt")
    date = git("log", "-1", "--format=%cs") or datetime.date.today().isoformat()
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else ""), date


# ---- the check ----


def last(records: Iterable[Record], benchmark: str, tools: tuple[str, str]) -> Record | None:
    """The last count of a benchmark that can be compared with one of these tools."""
    alike = [record for record in records if record.benchmark == benchmark and record.instructions_per_hop
             and record.compiler and (record.compiler, record.flags) == tools]
    return alike[-1] if alike else None


def compare(records: Iterable[Record], benchmark: str, instructions: float, tools: tuple[str, str]) -> tuple[bool, str]:
    """Whether a count is within what was last recorded, and a line that says so."""
    known = last(records, benchmark, tools)
    if not known:
        return True, (f"{benchmark}: {instructions:,.1f} instructions per hop; cannot compare: nothing is recorded with "
                      f"{' '.join(tools).strip() or 'this compiler, which is not known'}")
    assert known.instructions_per_hop
    growth = instructions / known.instructions_per_hop - 1
    return growth <= MOST_GROWTH, (f"{benchmark}: {instructions:,.1f} instructions per hop, {growth:+.1%} from "
                                   f"{known.instructions_per_hop:,.1f} at {known.commit}")

# SPDX-License-Identifier: Apache-2.0
"""Which lines of src/ the tests run: a table by file, the file with most uncovered lines first, and the total.

usage: report.py BUILD OUT [--target PERCENT] [--sources DIR]

BUILD holds the objects of a build with -DFLITWARP_COVERAGE=ON and what its programs have counted. OUT gets the table
(summary.txt) and for each file with uncovered lines its text with a mark on those. The status is 1 below the target.
"""
import argparse
import json
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def counted(note):
    """What gcov says of one object, run or not: its files and their lines."""
    ended = subprocess.run(["gcov", "--json-format", "--stdout", str(note)], capture_output=True, text=True, check=True, cwd=note.parent)
    return [(Path(told["current_working_directory"], file["file"]).resolve(), file["lines"])
            for told in map(json.loads, ended.stdout.splitlines()) for file in told["files"]]


def lines_by_file(build, sources):
    """{file below the sources: {line: is it ever run}}: a header's line counts as run where any object runs it."""
    files = defaultdict(lambda: defaultdict(bool))
    notes = sorted(build.glob("CMakeFiles/flitwarp*.dir/**/*.gcno"))
    with ThreadPoolExecutor(cpu_count()) as pool:
        for objects in pool.map(counted, notes):
            for path, lines in objects:
                if path.is_relative_to(sources):
                    for line in lines:
                        files[path][line["line_number"]] |= line["count"] > 0
    return files


def percent(covered, lines):
    return 100 * covered / lines if lines else 100.0


def table(files, sources):
    """Its text and the percentage of all lines."""
    rows = sorted((sum(not is_run for is_run in lines.values()), len(lines), str(path.relative_to(sources.parent))) for path, lines in files.items())
    all_uncovered, all_lines = (sum(row[i] for row in rows) for i in (0, 1))
    rows = [*((uncovered, lines, name) for uncovered, lines, name in reversed(rows) if uncovered), (all_uncovered, all_lines, "total")]
    text = "uncovered   lines  covered  file\n"
    for uncovered, lines, name in rows:
        text += f"{uncovered:9} {lines:7} {percent(lines - uncovered, lines):6.1f} %  {name}\n"
    return text, percent(all_lines - all_uncovered, all_lines)


def write_marked(path, lines, marked):
    """The file's text with '>' before the lines that were never run."""
    marked.parent.mkdir(parents=True, exist_ok=True)
    marks = {True: " ", False: ">"}
    marked.write_text("".join(f"{marks[lines.get(number, True)]}{number:5} {line}\n"
                              for number, line in enumerate(path.read_text().splitlines(), 1)))


def main():
    parser = argparse.ArgumentParser(description="which lines of src/ the tests run")
    parser.add_argument("build", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--target", type=float, default=90, help="percent of lines")
    parser.add_argument("--sources", type=Path, default=ROOT / "src")
    arguments = parser.parse_args()
    sources = arguments.sources.resolve()
    files = lines_by_file(arguments.build.resolve(), sources)
    if not files:
        sys.exit(f"report.py: {arguments.build} has no objects that count lines")
    text, covered = table(files, sources)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "summary.txt").write_text(text)
    for path, lines in files.items():
        if not all(lines.values()):
            write_marked(path, lines, arguments.out / f"{path.relative_to(sources.parent)}.txt")
    print(text, end="")
    if covered < arguments.target:
        sys.exit(f"report.py: {covered:.1f} % of lines is below {arguments.target:g} %")


if __name__ == "__main__":
    main()

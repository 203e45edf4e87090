#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the validation table again, and makes its page.

    docs/validation/measure.py GROUP...          runs what the groups need, and puts ours into docs/validation/*.csv
    docs/validation/measure.py SOURCE            all groups of a source; `all` for everything: hours of one core
    docs/validation/measure.py --list            the groups; with --tasks FILE GROUP... writes what they would run
    docs/validation/measure.py --page            makes out/validation_table.md, for people, from the CSV files, and the totals
                                                 in README.md and docs/validation.md

Runs are kept in out/validation (--keep FOLDER) and not made again. The reference data are those of $FLITWARP_SHARED, or of
shared/ beside the tree.
"""
import argparse
import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
import figure  # noqa: E402
import page  # noqa: E402
from group import Results  # noqa: E402
from work import ROOT, run_all  # noqa: E402

SOURCES = ("supersim", "simured", "fitfly", "torus", "opasim", "booksim", "published", "codes")


def groups_of(source):
    return importlib.import_module(f"source_{source}").GROUPS


def chosen(names):
    """Groups by name, by source, or all."""
    found = [group for source in SOURCES if any(name in ("all", source) or name.startswith(f"{source}.") for name in names)
             for group in groups_of(source) if any(name in ("all", source, group.name) for name in names)]
    if not found:
        raise SystemExit(f"measure.py: no group is called '{' '.join(names)}'; sources are {', '.join(SOURCES)}")
    return found


def measured(groups, keep, processes=None):
    """{group's name: figures}"""
    tasks = [one for group in groups for one in group.tasks()]
    results = Results(run_all(tasks, keep, processes, lambda text: print(text, file=sys.stderr, flush=True)))
    return {group.name: list(group.figures(results)) for group in groups}


def store(found):
    """Puts rows in the place of those of the same groups: what papers print is all in one file."""
    groups = {group.name: group for source in SOURCES for group in groups_of(source)}
    files = dict.fromkeys(file_of(groups[name]) for name in found)
    for file in files:
        order = [name for name, group in groups.items() if file_of(group) == file]
        there = figure.read(file) if (HERE / f"{file}.csv").exists() else []
        kept = [one for one in there if one.group not in found and one.group in order]
        fresh = [one for name in found if name in order for one in found[name]]
        figure.write(file, sorted(kept + fresh, key=lambda one: order.index(one.group)))


def file_of(group):
    return "papers" if group.total == "papers" else group.source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tasks", metavar="FILE")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--keep", default=str(ROOT / "out" / "validation"), metavar="FOLDER")
    parser.add_argument("--processes", type=int)
    options = parser.parse_args()
    if options.list:
        for source in SOURCES:
            for group in groups_of(source):
                print(f"{group.name:28}{group.total:10}{group.title}")
    elif options.tasks:
        tasks = [one for group in chosen(options.groups) for one in group.tasks()]
        Path(options.tasks).write_text(json.dumps(tasks))
        print(f"{len(tasks)} tasks")
    elif options.groups:
        store(measured(chosen(options.groups), options.keep, options.processes))
    if options.page:
        page.write({source: groups_of(source) for source in SOURCES})
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The manual pages of flitwarp-sweep and flitwarp-plot, from their own parsers: python3 -m flitwarp.manual DIR.

The pages of the program itself it writes by `flitwarp manual`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Iterable, Iterator

from . import plot, sweep_command

ESCAPES = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def escaped(text: str) -> str:
    """Text that stands in a page as it is."""
    text = "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()))
    return re.sub(r"^([.'])", r"\\&\1", text)


def page(name: str, summary: str, synopsis: str, body: Iterable[str]) -> str:
    """A whole page of section 1."""
    return "\n".join([r'.\" Made by python3 -m flitwarp.manual.', f'.TH {name.upper()} 1 "" "flitwarp" "flitwarp"', ".nh", ".ad l",
                      ".SH NAME", f"{name} \\- {escaped(summary)}", ".SH SYNOPSIS", f"\\fB{escaped(name)}\\fR {escaped(synopsis)}",
                      *body, ".SH SEE ALSO", ".BR flitwarp (1),", ".BR flitwarp\\-run (1),", ".BR flitwarp\\-sweep (1),",
                      ".BR flitwarp\\-plot (1)", ""])


def item(term: str, behind: str, meaning: str) -> list[str]:
    """A bold term, what stands behind it, and below both what it means."""
    return [".TP", f"\\fB{escaped(term)}\\fR{' ' if behind else ''}{escaped(behind)}", escaped(meaning) or r"\&"]


def takes(action: argparse.Action) -> str:
    """What stands behind an option."""
    if action.nargs == 0:
        return ""
    return "|".join(action.choices) if action.choices else action.metavar or action.dest.upper()


def meaning(action: argparse.Action) -> str:
    """An option's help, as --help would print it."""
    return (action.help or "") % {"default": action.default, "prog": ""}


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All that the parser takes."""
    return (action for action in parser._actions if action.option_strings)  # argparse offers no other way to ask


def sweep_page() -> str:
    """The page of flitwarp-sweep."""
    parser = sweep_command.command_parser()
    body = [".SH OPTIONS"]
    for action in options(parser):
        body += item(", ".join(action.option_strings), takes(action), meaning(action))
    return page("flitwarp-sweep", "runs a study of flitwarp: its runs, figures and report", "STUDY.json [OPTIONS], or CONFIG.json --load FROM:TO:STEP [PATH=VALUE ...] [OPTIONS]", body)


def plot_page() -> str:
    """Kinds, then all options, each with the kinds that take it where not all do."""
    parsers = {name: plot.kind_parser(name) for name in plot.KINDS}
    body = [".SH KINDS"]
    for name, kind in plot.KINDS.items():
        body += item(name, "", kind.summary)
    takers: dict[str, list[str]] = {}
    first: dict[str, argparse.Action] = {}
    for name, parser in parsers.items():
        for action in options(parser):
            key = ", ".join(action.option_strings)
            takers.setdefault(key, []).append(name)
            first.setdefault(key, action)
    body.append(".SH OPTIONS")
    for key, action in first.items():
        among = "" if len(takers[key]) == len(parsers) else f" (of {', '.join(takers[key])})"
        body += item(key, takes(action), meaning(action) + among)
    return page("flitwarp-plot", "figures from results, studies and packet logs of flitwarp",
                "KIND FILE ... [-o FIGURE.pdf] [OPTIONS]", body)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python3 -m flitwarp.manual DIR", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1]) / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flitwarp-sweep.1").write_text(sweep_page())
    (folder / "flitwarp-plot.1").write_text(plot_page())
    return 0


if __name__ == "__main__":
    sys.exit(main())

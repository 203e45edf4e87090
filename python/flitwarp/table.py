# SPDX-License-Identifier: Apache-2.0
"""Results as a table for LaTeX: a row for each set of runs, means over seeds with their 95 % intervals."""

from __future__ import annotations

import math
import textwrap
from itertools import zip_longest
from typing import Sequence

from .apart import SEED, Labels, called, differences, groups, names_of, settings_of, shown, wording
from .curve import Point
from .jobs import is_job
from .results import Results, UnknownColumn, Which
from .units import Unit, choose, is_time, words

TRAFFIC = ("accepted_load", "packet_latency.mean", "packet_latency.p99")
HEAD = 14  # letters in a line of a column's head, where no word is longer
JOBS = ("completion_time", "slowdown")
SPECIAL = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
           "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "µ": r"\textmu{}", "μ": r"\textmu{}",
           "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",  # LaTeX's first fonts have others in their places
           "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "≠": r"$\neq$", "∞": r"$\infty$", "−": "$-$"}
GREEK = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda nu xi pi rho sigma tau upsilon phi chi psi omega "
         "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega").split()
SPECIAL |= {letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", GREEK)}


def escaped(text: str) -> str:
    r"""
    >>> print(escaped("num_vcs, 95 %"), escaped('<λ> ≤ "1|2"'))
    num\_vcs, 95 \% \textless{}$\lambda$\textgreater{} $\leq$ ''1\textbar{}2''
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def scientific(mean: float) -> str:
    """A number of few digits as a power of ten, for LaTeX."""
    digits, power = f"{mean:.3e}".split("e")
    return rf"${digits} \times 10^{{{int(power)}}}$"


def number(mean: float, half: float) -> str:
    r"""A mean with its interval, to the digits that the interval leaves; alone with four.

    >>> number(23.4567, 0.0321), number(23.4567, math.nan), number(162098.4, 1234.0), number(math.nan, 1)
    ('$23.457 \\pm 0.032$', '$23.46$', '$162100 \\pm 1230$', '--')
    >>> number(35.8004, 0), number(37, 0), number(12345.6, 0), number(0.00001234, 0)
    ('$35.80$', '$37$', '$12346$', '$1.234 \\times 10^{-5}$')
    """
    if math.isnan(mean):
        return "--"
    if math.isnan(half) or half == 0:
        if mean == int(mean) or abs(mean) >= 1e3:
            return f"${mean:.0f}$"
        return f"${mean:#.4g}$" if abs(mean) >= 1e-4 else scientific(mean)
    digits = 1 - math.floor(math.log10(half))
    if digits < 0:
        digits = min(digits + 1, 0)
    return rf"${round(mean, digits):.{max(digits, 0)}f} \pm {round(half, digits):.{max(digits, 0)}f}$"


def latex(results: Sequence[Results], columns: Sequence[str] | None = None, *, application: Which | None = None,
          unit: str | None = None) -> str:
    """A tabular of booktabs, with `\\input` in mind.

    By default it has the time and slowdown of each job, and of other traffic accepted load and latency; a saturated
    network has no latency.
    """
    found = [runs for _, runs in groups(results, names=True)]
    if not found:
        raise ValueError("there is nothing to tabulate: no results were given")
    firsts = [runs[0] for runs in found]
    settings = settings_of(firsts, names=True)
    paths = differences(settings, [SEED])
    names = names_of(paths)
    blocks = {a["name"]: a for run in firsts for a in run["applications"]}
    chosen = [(which, column) for which in (blocks if application is None else [firsts[0].application(application)["name"]])
              for column in columns or (JOBS if is_job(blocks[which]) else TRAFFIC)
              if columns is not None or column != "slowdown" or "slowdown" in blocks[which]]
    units = {cell: _unit(found, *cell, unit) for cell in chosen}
    several = len({which for which, _ in chosen}) > 1
    heads = [*(names[path] for path in paths),
             *((f"{which}: " if several else "") + words(column, units[which, column]) for which, column in chosen)]
    says_itself = wording(firsts, settings, names) is called  # a study's own words stay as they are
    single = {path: Labels(settings, [path], lambda _, value: value if says_itself and isinstance(value, str) else shown(value))
              for path in paths}
    lines = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{'l' * len(paths)}{'r' * len(chosen)}}}", r"\toprule",
             *_head(heads), r"\midrule"]
    for runs, leaves in zip(found, settings):
        cells = [escaped(single[path].texts[single[path].place(leaves)]) for path in paths]
        cells += [_cell(Point(0, runs), which, column, units[which, column]) for which, column in chosen]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _head(heads: Sequence[str]) -> list[str]:
    """Rows with the heads of columns, broken between words so that the table fits on a page; the last row is full."""
    broken = [textwrap.wrap(head, max(HEAD, *map(len, head.split())), break_on_hyphens=False)[::-1] for head in heads]
    return [" & ".join(map(escaped, row)) + r" \\" for row in [*zip_longest(*broken, fillvalue="")][::-1]]


def _unit(found: Sequence[Sequence[Results]], which: str, column: str, asked: str | None) -> Unit:
    for runs in found if is_time(column) else ():
        try:
            ticks = Point(0, list(runs)).mean(column, which)
        except UnknownColumn:
            continue
        if not math.isnan(ticks) and not runs[0].saturated:
            return choose(runs, asked, ticks)
    return choose(found[0], asked)


def _cell(point: Point, which: str, column: str, unit: Unit) -> str:
    if not any(a["name"] == which for a in point.runs[0]["applications"]):
        return "--"
    is_void = is_time(column) and point.saturated and not is_job(point.runs[0].application(which))
    scale = unit.scale(point.runs[0]) if is_time(column) else 1
    return "saturated" if is_void else number(point.mean(column, which) * scale, point.ci95(column, which) * scale)

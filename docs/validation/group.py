# SPDX-License-Identifier: Apache-2.0
"""A group of rows that come from the same runs: what to run, and how rows are made of it."""
from dataclasses import dataclass
from typing import Callable, Iterable

from figure import Figure, Printed, shown
from work import key_of

ALIKE, SLIGHTLY = 1.05, 1.10  # what statements of papers mean, largest over smallest: see figure.py
TOTALS = {"papers": "Results printed in the five papers", "drawn": "Points of curves that papers draw",
          "peers": "The peers' programs, measured",
          "theory": "Theory and published analysis",
          "speed": "Speed and memory, at least as good", "inputs": "Inputs, defaults and names"}


class Results:
    """Of tasks that were run: results[task]."""

    def __init__(self, found):
        self.found = found

    def __getitem__(self, one):
        return self.found[key_of(one)]

    def application(self, one, number=0):
        return self[one]["applications"][number]

    def column(self, tasks, path):
        """A value of each run's first application, by its dotted path."""
        values = []
        for one in tasks:
            value = self.application(one)
            for name in path.split("/"):
                value = value[name]
            values.append(value)
        return values


@dataclass
class Group:
    name: str  # SOURCE.NAME
    total: str  # one of TOTALS: what its rows are counted with
    title: str
    tolerance: str  # and its reason
    command: str  # that gives ours by itself; else `measure.py NAME` does
    tasks: Callable[[], Iterable]
    figures: Callable[[Results], Iterable]  # Printed where the total is papers, else Figure
    explained: str = ""  # what is outside, and why
    wide: bool = False  # a line of the page has all that was measured at a place

    @property
    def source(self):
        return self.name.partition(".")[0]


def maker(group):
    """Makes figures of a group: figure(place, what, unit, theirs, ours, tolerance)."""
    def make(place, what, unit, theirs, ours, tolerance, remark=""):
        return Figure(group, place, what, unit, shown(theirs), shown(ours), tolerance, remark)
    return make


class Paper:
    """Makes the rows of a group of what a paper prints. Of what is inside no reason is given."""

    def __init__(self, group):
        self.group = group

    def row(self, where, what, unit, printed, ours, kind, meant="", reason="", original=""):
        made = Printed(self.group, where, what, unit, shown(printed), ours, kind, shown(meant), reason, original)
        if made.verdict == "inside":
            made.reason = ""
        return made

    def number(self, where, what, unit, printed, ours, kind="printed", **words):
        """`ours` None: no figure of ours is there to be held against it. `words`: meant, reason, original."""
        return self.row(where, what, unit, printed, "" if ours is None else shown(ours), kind, **words)

    def count(self, where, what, printed, ours, **words):
        return self.number(where, what, "", printed, ours, "count", **words)

    def says(self, where, claim, holds, figures="", printed="so", **words):
        """A sentence: what the paper says of its results, and whether it is so here. None: that cannot be told."""
        answer = "" if holds is None else ("so" if holds else "not so") + (f": {figures}" if figures else "")
        return self.row(where, claim, "", printed, answer, "statement", **words)


def alike(values, ratio=ALIKE):
    return max(values) <= ratio * min(values)

# SPDX-License-Identifier: Apache-2.0
"""A group of figures that come from the same runs and share a tolerance: what to run, and how figures are made of it."""
from dataclasses import dataclass
from typing import Callable, Iterable

from figure import Figure, shown
from work import key_of


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
    title: str
    tolerance: str  # and its reason
    command: str  # that gives ours by itself; else `measure.py NAME` does
    tasks: Callable[[], Iterable]
    figures: Callable[[Results], Iterable[Figure]]
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


def says(make, place, claim, holds, remark=""):
    """A figure that is a sentence: what the source says of its results, and whether it is so here."""
    return make(place, claim, "", "so", "so" if holds else "not so", "same", "" if holds else remark)

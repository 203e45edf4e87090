# SPDX-License-Identifier: Apache-2.0
"""Rows of the validation table: what others printed or measured, what we get, and how far apart the two may be.

A result that one of the five papers prints is a `Printed`. Its kind, and nothing else, says how far ours may be:
    count           exact
    printed         5 %: a number that their simulation gave
    curve           10 %: read off a drawing
    statement       it is so here, or not. Of numbers that are "alike", "unaffected", "close", "in proportion" the largest is no
                    more than 5 % above the smallest; "slightly", "a little" is no more than 10 %, "significantly" more than 10 %
    machine         a number of theirs that a thousand processors or more gave: ours is listed, and not judged

All others are a `Figure`, with a tolerance of its own. How far is one of
    exact           the same number
    to the digit    the same when rounded to as many digits as theirs has
    5 %             relative
    +- 0.03         absolute
    0.35 to 0.56    ours lies between
    at most         ours is no larger; at least: no smaller
    same            the same words
    not compared    theirs is listed, and the remark says why it cannot be held against ours
"""
import csv
import math
from dataclasses import dataclass, fields
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = {"count": "exact", "printed": "5 %", "curve": "10 %", "statement": "same", "machine": "5 %"}
VERDICTS = ("inside", "misprint", "outside", "no figure", "machine")


@dataclass
class Printed:
    """A result of a paper, one row each. `meant`: where the paper's own other numbers contradict what is printed."""

    group: str
    where: str
    what: str
    unit: str
    printed: str
    ours: str
    kind: str
    meant: str = ""
    reason: str = ""  # why it is outside
    original: str = ""  # what the original program gives

    @property
    def tolerance(self):
        return KINDS[self.kind]

    @property
    def verdict(self):
        if self.kind == "machine":
            return "machine"
        if not self.ours:
            return "no figure"
        if self.meant:  # even where 5 % reach from one to the other
            return "misprint" if is_inside(self.meant, self.ours, self.tolerance) else "outside"
        return "inside" if is_inside(self.printed, self.ours, self.tolerance) else "outside"

    @property
    def difference(self):
        return "" if self.kind == "statement" else Figure("", "", "", "", self.printed, self.ours, self.tolerance).difference


@dataclass
class Figure:
    group: str
    place: str  # where in the source
    what: str
    unit: str
    theirs: str
    ours: str
    tolerance: str
    remark: str = ""

    @property
    def compared(self):
        return self.tolerance != "not compared"

    @property
    def inside(self):
        return self.compared and is_inside(self.theirs, self.ours, self.tolerance)

    @property
    def difference(self):
        theirs, ours = number(self.theirs), number(self.ours)
        if theirs is None or ours is None or not self.compared:
            return ""
        if self.tolerance.startswith("+-") or theirs == 0:
            return f"{ours - theirs:+.3g}"
        if self.tolerance in ("at most", "at least") and ours > 0 and (ratio := max(theirs / ours, ours / theirs)) >= 2:
            return f"{ratio:.3g} times {'less' if ours < theirs else 'more'}"
        return "0" if ours == theirs else f"{100 * (ours / theirs - 1):+.2f} %"


def number(text):
    """Of a figure, or None where it is words."""
    text = str(text).replace(",", "").replace("$", "").lstrip("~<>= ")
    try:
        return float(text)
    except ValueError:
        return None


def digits(text):
    """Behind the point."""
    return len(str(text).partition(".")[2])


def is_inside(theirs, ours, tolerance):
    if tolerance == "same":
        return ours in ("so", theirs) or ours.startswith("so: ")
    theirs_number, ours = number(theirs), number(ours)
    if ours is None:
        return False
    if " to " in tolerance and tolerance != "to the digit":
        low, high = (float(word) for word in tolerance.split(" to "))
        return low <= ours <= high
    if theirs_number is None:
        return False
    if tolerance == "exact":
        return ours == theirs_number
    if tolerance == "to the digit":
        return abs(ours - theirs_number) <= 0.5 * 10 ** -digits(theirs) + 1e-12
    if tolerance == "at most":
        return ours <= theirs_number
    if tolerance == "at least":
        return ours >= theirs_number
    if tolerance.startswith("+-"):
        return abs(ours - theirs_number) <= float(tolerance[2:]) * (1 + 1e-9)
    if tolerance.endswith("%"):
        return abs(ours - theirs_number) <= float(tolerance[:-1]) / 100 * abs(theirs_number) * (1 + 1e-9)
    raise ValueError(f"tolerance '{tolerance}'")


def shown(value, places=6):
    """A number as it stands in the table: so many digits, no more."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, float) and math.isnan(value):
        return "none"
    if isinstance(value, int) or float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{places}g}" if 1e-4 < abs(value) < 10 ** places else f"{value:.{places - 1}e}" if abs(value) <= 1e-4 \
        else f"{value:.0f}"


def read(source):
    """Figures of a source, or of "papers" what they print."""
    kind = Printed if source == "papers" else Figure
    names = {field.name for field in fields(kind)}
    with open(FOLDER / f"{source}.csv", newline="") as file:
        return [kind(**{key: value for key, value in row.items() if key in names}) for row in csv.DictReader(file)]


def write(source, rows):
    """`tolerance` and `verdict` of what papers print are written for people: they are not read."""
    columns = PAPER_COLUMNS if source == "papers" else [field.name for field in fields(Figure)]
    with open(FOLDER / f"{source}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([getattr(row, column) for column in columns] for row in rows)


PAPER_COLUMNS = ("group", "where", "what", "unit", "printed", "kind", "tolerance", "ours", "verdict", "meant", "reason", "original")

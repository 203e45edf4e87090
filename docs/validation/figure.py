# SPDX-License-Identifier: Apache-2.0
"""A figure of the validation table: what others printed or measured, what we get, and how far apart the two may be.

How far is one of
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
from dataclasses import astuple, dataclass, fields
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


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
        return theirs == ours
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


COLUMNS = [field.name for field in fields(Figure)]


def read(source):
    with open(FOLDER / f"{source}.csv", newline="") as file:
        return [Figure(**row) for row in csv.DictReader(file)]


def write(source, figures):
    with open(FOLDER / f"{source}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(astuple(figure) for figure in figures)

# SPDX-License-Identifier: Apache-2.0
"""The validation table: complete, counted right, explained where it does not match, and a sample of what is quick measured again."""
import collections
import csv
import datetime
import random
import re
import sys

import pytest

from support import BOOKSIM_TABLES, ROOT, SHARED, booksim_rows

sys.path[:0] = [str(ROOT / "docs" / "validation"), str(ROOT / "python")]
import figure  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
from figure import KINDS, Figure, Printed  # noqa: E402
from group import TOTALS  # noqa: E402

SIMURED = SHARED / "reference" / "simured"
FIGURES = {source: figure.read(source) for source in measure.SOURCES}
ALL = [one for figures in FIGURES.values() for one in figures]
PAPERS = figure.read("papers")
SOURCES = {source: measure.groups_of(source) for source in measure.SOURCES}
GROUPS = {group.name: group for groups in SOURCES.values() for group in groups}
QUICK = ("simured.two_packets", "simured.zero_load", "simured.semantics", "simured.deadlock", "opasim.alone", "opasim.model",
         "fitfly.tables", "fitfly.inputs", "torus.figure_8", "supersim.table_1", "supersim.figure_5", "codes.amg", "codes.hops")
needs_reference = pytest.mark.skipif(not SIMURED.exists(), reason="no reference data")


def theirs(source, group):
    """{(place, what): theirs}"""
    return {(one.place, one.what): float(one.theirs) for one in FIGURES[source] if one.group == group}


@needs_reference
def test_every_row_of_booksim_is_there():
    found = theirs("booksim", "booksim.tables")
    columns = {"accepted": "accepted load", "packet_latency": "packet latency", "network_latency": "network latency",
               "routers_visited": "routers visited", "max_latency": "longest packet latency"}
    for name in BOOKSIM_TABLES:
        for row in booksim_rows(name):
            place = f"{name}, {'SAT' if row['offered'] == 0.999 else format(row['offered'], 'g')}"
            for column, what in columns.items() if row["stable"] else [("accepted", "accepted load")]:
                if column in row:
                    assert found[place, what] == pytest.approx(row[column], rel=1e-5), (place, what)


@needs_reference
def test_every_row_of_simured_is_there():
    found = theirs("simured", "simured.zero_load")
    by_row = {}
    for (place, what), value in found.items():
        by_row.setdefault(place, {})[what.rpartition(": ")[2]] = value
    with open(SIMURED / "zero_load.csv") as file:
        rows = list(csv.DictReader(file))
    assert by_row == {f"zero_load.csv, row {number}": {"head": float(row["head_latency"]), "packet": float(row["packet_latency"])}
                      for number, row in enumerate(rows, 1)}
    found = theirs("simured", "simured.section6")
    names = {"mesh8x8": "mesh", "hcube64": "hypercube", "dor_mesh": "deterministic", "duato_mesh": "adaptive"}
    with open(SIMURED / "section6.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 256
    for row in rows:
        offered, accepted = float(row["offered"]), float(row["accepted"])
        place = f"{names[row['network']]}, {names[row['routing']]}, {row['injection']} channels, {offered:g}, seed {row['seed']}"
        expected = {"hops": row["mean_hops"], **({"packet latency": row["mean_packet_latency"],
                                                  "head latency": row["mean_head_latency"]}
                                                 if accepted >= 0.97 * offered else {"accepted load": accepted})}
        for what, value in expected.items():
            assert found[place, what] == pytest.approx(float(value), rel=1e-5), (place, what)


@pytest.mark.parametrize("theirs, ours, tolerance, inside, difference", [
    ("100", "105", "5 %", True, "+5.00 %"), ("100", "94.9", "5 %", False, "-5.10 %"), ("0.72", "0.7026", "+- 0.03", True,
                                                                                       "-0.0174"),
    ("0.72", "0.76", "+- 0.03", False, "+0.04"), ("18", "18", "exact", True, "0"), ("18", "18.5", "exact", False, "+2.78 %"),
    ("1.857", "1.85714", "to the digit", True, "+0.01 %"), ("1.857", "1.8566", "to the digit", True, "-0.02 %"),
    ("1.857", "1.8564", "to the digit", False, "-0.03 %"), ("9200", "447", "at most", True, "20.6 times less"), ("10", "11",
                                                                                                                 "at most", False,
                                                                                                                 "+10.00 %"),
    ("7", "3.4", "at least", False, "2.06 times less"), ("0.4", "0.49", "0.35 to 0.56", True, "+22.50 %"), ("0.4", "0.57",
                                                                                                            "0.35 to 0.56", False,
                                                                                                            "+42.50 %"),
    ("so", "so", "same", True, ""), ("so", "not so", "same", False, ""), ("592", "", "not compared", False, ""), ("5", "none",
                                                                                                                  "5 %", False,
                                                                                                                  "")])
def test_verdicts_and_differences(theirs, ours, tolerance, inside, difference):
    one = Figure("a.b", "", "", "", theirs, ours, tolerance)
    assert (one.inside, one.difference) == (inside, difference)


@pytest.mark.parametrize("printed, ours, kind, meant, verdict", [
    ("28", "28", "count", "", "inside"), ("28", "28.01", "count", "", "outside"), ("0.72", "0.7026", "printed", "", "inside"),
    ("0.75", "0.7907", "printed", "", "outside"), ("0.48", "0.44", "curve", "", "inside"), ("0.48", "0.42", "curve", "", "outside"),
    ("so", "so", "statement", "", "inside"), ("> 1 s", "so: 1.2 s", "statement", "", "inside"),
    ("so", "not so: 1, 2", "statement", "", "outside"), ("so", "", "statement", "", "no figure"), ("592", "", "printed", "", "no figure"),
    ("9277880", "9227880", "count", "9227880", "misprint"), ("9277880", "9227881", "count", "9227880", "outside"),
    ("40700", "42278", "printed", "42050", "misprint"), ("40700", "40700", "count", "42050", "outside"),
    ("4.78", "0.01", "machine", "", "machine")])
def test_verdicts_of_what_papers_print(printed, ours, kind, meant, verdict):
    assert Printed("a.b", "", "", "", printed, ours, kind, meant).verdict == verdict


def test_tolerances_are_those_of_their_kind():
    assert KINDS == {"count": "exact", "printed": "5 %", "curve": "10 %", "statement": "same", "machine": "5 %"}
    with open(figure.FOLDER / "papers.csv", newline="") as file:
        for row, one in zip(csv.DictReader(file), PAPERS, strict=True):
            assert (row["tolerance"], row["verdict"]) == (KINDS[one.kind], one.verdict), row


# Rows of ours beyond those of the list, where it has one for several statements of a place.
MORE = {("supersim", "Fig 9"): 1, ("simured", "Fig 7"): 1, ("simured", "Fig 8"): 1, ("simured", "Fig 10"): 1, ("fitfly", "7.1"): 2,
        ("fitfly", "7.3"): 1, ("fitfly", "Fig 4c"): 1, ("fitfly", "Fig 5c"): 1}


def as_listed(where):
    """A place as the list of results names it.

    >>> as_listed("7.2, Figures 6c to 9c"), as_listed("6.2, 7")
    ('Fig 6-9c', '6.2')
    """
    _, _, figure = where.rpartition("Figure")
    return "Fig " + figure.removeprefix("s").strip().replace("6c to 9c", "6-9c") if figure != where else where.partition(",")[0]


@needs_reference
def test_every_result_of_the_papers_has_a_row():
    """shared/reference/papers_one_by_one.csv is the list, without the points of drawn curves. As many rows at each place of each paper."""
    names = {"SuperSim": "supersim", "SimuRed": "simured", "Fit Fly": "fitfly", "ROSS torus": "torus", "OPASim": "opasim"}
    with open(SHARED / "reference" / "papers_one_by_one.csv", newline="") as file:
        asked = list(csv.DictReader(file))
    wanted = collections.Counter((names[row["paper"]], row["where"]) for row in asked) + collections.Counter(MORE)
    assert collections.Counter((one.group.partition(".")[0], as_listed(one.where)) for one in PAPERS) == wanted
    assert sum(one.kind == "machine" for one in PAPERS) == sum(row["kind"] == "machine" for row in asked)


def test_every_row_is_of_a_group_and_what_is_not_inside_is_explained():
    assert {one.group for one in ALL + PAPERS} == set(GROUPS)
    assert {group.total for group in GROUPS.values()} == set(TOTALS)
    for one in ALL:
        assert one.inside or one.remark or GROUPS[one.group].explained, one
    for one in PAPERS:
        assert GROUPS[one.group].total == "papers" and (one.verdict in ("inside", "machine") or one.reason), one
    for group in GROUPS.values():
        assert group.tolerance.strip() and group.command, group.name


class Anything(float):
    """A result of a run that was not made: a number, and a block or list of such."""

    def __new__(cls):
        return super().__new__(cls, 0.5)

    def __getitem__(self, _):
        return self

    def __iter__(self):
        return iter([self, self])


class NotRun:
    """Results of any task."""

    def __getitem__(self, _):
        return Anything()

    def application(self, _):
        return Anything()

    def column(self, tasks, _):
        return [Anything() for _ in tasks]


@needs_reference
@pytest.mark.parametrize("name", [group.name for group in GROUPS.values() if group.total == "papers" and group.name not in QUICK])
def test_rows_are_those_that_their_source_makes(name):
    """All but what was measured: where, what, what is printed; and figures beside "so" where the source has some."""
    made = list(GROUPS[name].figures(NotRun()))
    there = [one for one in PAPERS if one.group == name]
    assert [(one.where, one.what, one.unit, one.printed, one.kind, one.meant) for one in there] == [
        (one.where, one.what, one.unit, one.printed, one.kind, one.meant) for one in made]
    for one, fresh in zip(there, made):
        assert one.ours not in ("so", "not so") or ":" not in fresh.ours, one


def test_no_row_stands_twice():
    keys = [(one.group, one.place, one.what, one.unit) for one in ALL] + [(one.group, one.where, one.what, one.unit) for one in PAPERS]
    assert len(keys) == len(set(keys))


def test_the_page_has_every_row():
    text = page.text(SOURCES)
    for one in ALL:
        assert page.cell(one.place) in text and page.cell(one.what) in text, one
    for one in PAPERS:
        assert page.cell(one.where) in text and page.cell(one.what) in text, one


def test_readme_and_validation_page_say_what_the_data_say():
    for name, marks in page.marked(SOURCES).items():
        content = (ROOT / name).read_text()
        for mark, words in marks.items():
            assert page.between(content, mark).group(1) == words, f"{name}: docs/validation/measure.py --page"
    _, machine, judged, inside, *_ = page.counted(PAPERS)
    assert machine + judged == len(PAPERS)
    assert f"Of {judged} results" in (ROOT / "README.md").read_text() and f"{inside} ({100 * inside / judged:.1f} %)" in (
        ROOT / "README.md").read_text()


@needs_reference
def test_a_sample_gives_the_same_again(tmp_path):
    """Some of the quick groups, others each day: what the table says is what the program gives now."""
    drawn = random.Random(datetime.date.today().toordinal()).sample(QUICK, 5)
    for name, rows in measure.measured(measure.chosen(drawn), tmp_path).items():
        assert rows == [one for one in PAPERS + ALL if one.group == name], name

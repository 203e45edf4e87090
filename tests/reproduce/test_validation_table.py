# SPDX-License-Identifier: Apache-2.0
"""The validation table: complete, counted right, explained where it does not match, and what is cheap measured again."""
import csv
import re
import sys

import pytest

from support import BOOKSIM_TABLES, ROOT, SHARED, booksim_rows

sys.path[:0] = [str(ROOT / "docs" / "validation"), str(ROOT / "python")]
import figure  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
from figure import Figure  # noqa: E402

SIMURED = SHARED / "reference" / "simured"
FIGURES = {source: figure.read(source) for source in measure.SOURCES}
ALL = [one for figures in FIGURES.values() for one in figures]
needs_reference = pytest.mark.skipif(not SIMURED.exists(), reason="no reference data")


def theirs(source, group):
    """{(place, what): theirs}"""
    return {(one.place, one.what): float(one.theirs) for one in FIGURES[source] if one.group == group}


@needs_reference
def test_every_row_of_booksim_is_there():
    found = theirs("booksim", "booksim.tables")
    columns = {"accepted": "accepted load", "packet_latency": "packet latency", "network_latency": "network latency",
               "flit_latency": "flit latency", "routers_visited": "routers visited", "max_latency": "longest packet latency"}
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


def test_at_least_95_of_100_figures_are_inside_and_the_others_are_explained():
    assert len(ALL) > 1500
    compared = [one for one in ALL if one.compared]
    assert sum(one.inside for one in compared) >= 0.95 * len(compared)
    assert len(compared) >= 0.95 * len(ALL)
    said = " ".join((ROOT / "docs" / "validation.md").read_text().split())
    assert f"{len(ALL):,} figures, of which {len(ALL) - len(compared)} cannot be compared" in said
    assert f"{sum(one.inside for one in compared):,} ({100 * sum(one.inside for one in compared) / len(compared):.1f} %)" in said
    groups = {group.name: group for source in measure.SOURCES for group in measure.groups_of(source)}
    assert {one.group for one in ALL} == set(groups)
    for one in ALL:
        assert one.inside or page.explanation(one, groups), one
    for group in groups.values():
        assert group.tolerance.strip() and group.command, group.name


def test_no_figure_stands_twice():
    keys = [(one.group, one.place, one.what, one.unit) for one in ALL]
    assert len(keys) == len(set(keys))


def test_the_page_has_every_figure_and_its_links_lead_somewhere():
    text = page.text({source: measure.groups_of(source) for source in measure.SOURCES})
    anchors = {page.anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= anchors
    outside = [one for one in ALL if one.compared and not one.inside]
    assert text.partition("## Not compared")[0].count("\n| ") >= len(outside) + len(measure.SOURCES)
    for one in ALL:
        assert page.cell(one.place) in text and page.cell(one.what) in text, one


def test_what_is_cheap_gives_the_same_again(tmp_path):
    """A packet alone, two packets, the Omni-Path router's stages, sizes and costs of networks."""
    names = ["simured.two_packets", "opasim.model", "fitfly.tables", "torus.figure_8"]
    for name, figures in measure.measured(measure.chosen(names), tmp_path).items():
        assert figures == [one for one in ALL if one.group == name], name

# SPDX-License-Identifier: Apache-2.0
"""Makes out/validation_table.md from the CSV files and what the groups say of themselves."""
import collections
import re

import figure
from figure import FOLDER, number

PAGE = FOLDER.parents[1] / "out" / "validation_table.md"
TITLES = {"supersim": "SuperSim (McDonald and others, 2018)", "simured": "SimuRed (Pardo and Boluda, 2009)",
          "fitfly": "Fit Fly (McGlohon and others, 2019)", "torus": "The ROSS torus model (Liu and others, 2012)",
          "opasim": "OPASim (Cano and others, 2018)", "booksim": "BookSim 2, measured",
          "published": "Theory and the literature", "codes": "ROSS and CODES, measured"}
HEAD = """# The validation table

Every figure of the five papers that flitwarp unites and every row of the reference data: theirs, ours, and whether the two are
as near as they should be. [validation.md](../docs/validation.md) explains. This page is made by `docs/validation/measure.py --page` from
`docs/validation/*.csv`, one line a figure, where all digits and the tolerance of each line stand. Any group is measured again by

    docs/validation/measure.py GROUP --page     # or all of a SOURCE, or all: some three hours of one core; --list names them

A tolerance comes from what was asked for beforehand, from counting, or from the chance that is in a run like theirs; the group
says which. *Inside*: ours is within it. What cannot be held against ours is listed, with the reason, and not compared.
Left out are figures of other people's programs that are no results (lines of code, how they take wrong input:
`tests/cli/test_refusals.py` is our side of that) and plots of which no number is printed. Speeds and memory of ours are those of
single runs on a server of 16 cores with as many side by side, unless a line says more.

Tables with a column for each quantity have *theirs / ours, difference* in a cell; one in bold is outside. Near saturation a little more
load is much more latency: there a tolerance of load may be a large one of latency, as the group says.
"""


def cell(text):
    return str(text).replace("|", "\\|")


def short(text):
    """A number with as many digits as one reads."""
    value = number(text)
    if value is None or not re.fullmatch(r"-?[\d.e+-]+", str(text)):
        return cell(text)
    if abs(value) >= 1e5:
        return f"{value:,.0f}"
    return f"{value:.5g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def verdict(one):
    return "" if one.inside else "**outside**" if one.compared else "not compared"


def long_rows(figures):
    """A line for each figure."""
    return table(("place", "what", "unit", "theirs", "ours", "difference", "tolerance", ""), (
        (cell(one.place), cell(one.what), one.unit, short(one.theirs), short(one.ours), one.difference, one.tolerance,
         verdict(one))
        for one in figures))


def wide_rows(figures):
    """A line for each place, a column for each thing measured there: theirs, ours and the difference."""
    columns = list(dict.fromkeys(one.what for one in figures))
    places = collections.defaultdict(dict)
    for one in figures:
        places[one.place][one.what] = one
    def shown(one):
        if one is None:
            return ""
        if not one.compared:
            return f"{short(one.theirs)}, not compared"
        text = f"{short(one.theirs)} / {short(one.ours)}, {one.difference}"
        return text if one.inside else f"**{text}**"
    units = {one.what: one.unit for one in figures}
    return table(["place", *(f"{what}, {units[what]}" for what in columns)],
                 ([cell(place), *(shown(found.get(what)) for what in columns)] for place, found in places.items()))


def explanation(one, groups):
    """Its own, or that of its group."""
    return one.remark or (f"see [{one.group}](#{anchor(groups[one.group].title)})" if groups[one.group].explained else "")


def counted(figures):
    compared = [one for one in figures if one.compared]
    inside = sum(one.inside for one in compared)
    return (f"{len(figures)}", f"{len(figures) - len(compared)}", f"{len(compared)}", f"{inside}", f"{len(compared) - inside}",
            f"{100 * inside / len(compared):.1f} %")


def other_than(source, figures):
    return [one for name, each in figures.items() if name != source for one in each]


def text(sources):
    """`sources`: {name: its groups}"""
    figures = {name: figure.read(name) for name in sources}
    groups = {group.name: group for each in sources.values() for group in each}
    everything = [one for each in figures.values() for one in each]
    parts = [HEAD, "## Counts\n"]
    head = ("", "figures", "not compared", "compared", "inside", "outside", "inside, of those compared")
    parts.append(table(head, [(f"[{TITLES[name]}](#{anchor(TITLES[name])})", *counted(each)) for name, each in figures.items()]
                       + [("all", *counted(everything)),
                          ("all but SimuRed, which has half of them", *counted(other_than("simured", figures)))]))
    parts.append("## Outside their tolerance\n")
    outside = [one for one in everything if one.compared and not one.inside]
    parts.append(table(("figure", "theirs", "ours", "difference", "tolerance", "why"), (
        (cell(f"{one.group}: {one.place}, {one.what}"), short(one.theirs), short(one.ours), one.difference, one.tolerance,
         cell(explanation(one, groups)))
        for one in outside)))
    parts.append("## Not compared\n")
    why = collections.Counter((one.group, one.remark) for one in everything if not one.compared)
    parts.append(table(("group", "figures", "why"), ((group, str(count), cell(remark)) for (group, remark),
                                                     count in why.items())))
    for name, each in sources.items():
        parts.append(f"## {TITLES[name]}\n")
        for group in each:
            own = [one for one in figures[name] if one.group == group.name]
            parts.append(f"### {group.title}\n\n`{group.name}`, {len(own)} figures. {' '.join(group.tolerance.split())} Ours: "
                         f"`{group.command}`\n")
            if group.explained:
                parts.append(group.explained.strip() + "\n")
            parts.append((wide_rows if group.wide else long_rows)(own))
    return "\n".join(parts)


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def write(sources):
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(sources))
    print(PAGE)

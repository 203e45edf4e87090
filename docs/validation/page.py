# SPDX-License-Identifier: Apache-2.0
"""Makes out/validation_table.md from the CSV files and what the groups say of themselves, and puts the totals and what does not
come out into README.md and docs/validation.md, between the marks there."""
import collections
import re
import textwrap

import figure
from figure import FOLDER, number
from group import TOTALS

ROOT = FOLDER.parents[1]
PAGE = ROOT / "out" / "validation_table.md"
TITLES = {"supersim": "SuperSim (McDonald and others, 2018)", "simured": "SimuRed (Pardo and Boluda, 2009)",
          "fitfly": "Fit Fly (McGlohon and others, 2019)", "torus": "The ROSS torus model (Liu and others, 2012)",
          "opasim": "OPASim (Cano and others, 2018)", "booksim": "BookSim 2",
          "published": "Theory and the literature", "codes": "ROSS and CODES"}
PAPERS = {name: TITLES[name] for name in ("supersim", "simured", "fitfly", "torus", "opasim")}
HEAD = """# The validation table

[validation.md](../docs/validation.md) explains. This page is made by `docs/validation/measure.py --page` from `docs/validation/*.csv`, one
line a row, where all digits stand. Any group is measured again by

    docs/validation/measure.py GROUP --page     # or all of a SOURCE, or all: some three hours of one core; --list names them

Tables with a column for each quantity have *theirs / ours, difference* in a cell; one in bold is outside. Speeds and memory of
ours are those of single runs on a server of 16 cores with as many side by side, unless a line says more.
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


# ---- what papers print -------------------------------------------------------------------------------------------


def judged(rows):
    """Those that need no thousand processors."""
    return [row for row in rows if row.kind != "machine"]


def counted(rows):
    """Results, and of those that are judged how many are inside, misprints, outside, without a figure of ours; the share that is inside."""
    verdicts = collections.Counter(row.verdict for row in rows)
    of = len(judged(rows))
    return [len(rows), verdicts["machine"], of, verdicts["inside"], verdicts["misprint"], verdicts["outside"], verdicts["no figure"],
            f"{100 * verdicts['inside'] / of:.1f} %"]


def headline(rows):
    """The first total in a sentence."""
    _, machine, of, inside, misprints, _, _, share = counted(rows)
    return textwrap.fill(
            f"Of {of} results that the five papers print and that need no thousand processors {inside} ({share}) come out of flitwarp "
            f"within a tolerance fixed for their kind; {misprints} of the others are misprints by the papers' own arithmetic. "
            f"{machine} more were measured on 1,024 to 131,072 processors: they are listed, and not judged.", 130, break_on_hyphens=False)


def paper_totals(rows):
    head = ("", "printed results", "on a thousand processors", "judged", "inside", "misprints", "outside", "no figure", "inside")
    lines = [(title, *map(str, counted(of_paper(rows, name)))) for name, title in PAPERS.items()]
    return table(head, [*lines, ("**all**", *map(str, counted(rows)))])


def of_paper(rows, name):
    return [row for row in rows if row.group.startswith(f"{name}.")]


def misses(rows):
    """What does not come out, and why."""
    return table(("paper, where", "what", "printed", "ours", "why, and what the original program gives"), (
        (cell(f"{PAPERS[row.group.partition('.')[0]].partition(' (')[0]}, {row.where}"), cell(row.what),
         f"{short(row.printed)} {row.unit}".strip(), short(row.ours.removeprefix("not so: ")) or "no figure",
         cell("; ".join(filter(None, ("misprint" if row.verdict == "misprint" else "", row.reason,
                                      row.original and f"original: {row.original}")))))
        for row in judged(rows) if row.verdict != "inside"))


def paper_rows(rows):
    return table(("where", "what", "unit", "printed", "kind", "tolerance", "ours", "verdict", "why", "original"), (
        (cell(row.where), cell(row.what), row.unit, short(row.printed), row.kind, row.tolerance, short(row.ours), row.verdict,
         cell(row.reason), cell(row.original)) for row in rows))


# ---- all others --------------------------------------------------------------------------------------------------


def verdict(one):
    return "" if one.inside else "**outside**" if one.compared else "not compared"


def long_rows(figures):
    """A line for each figure."""
    return table(("place", "what", "unit", "theirs", "ours", "difference", "tolerance", "", "remark"), (
        (cell(one.place), cell(one.what), one.unit, short(one.theirs), short(one.ours), one.difference, one.tolerance,
         verdict(one), cell("" if one.inside else one.remark))
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


def other_totals(figures, groups):
    """A line for each total and source but the first total."""
    found = collections.defaultdict(list)
    for one in figures:
        found[groups[one.group].total, groups[one.group].source].append(one)
    def line(total, source, ones):
        compared = [one for one in ones if one.compared]
        inside = sum(one.inside for one in compared)
        return (TOTALS[total], TITLES[source], str(len(compared)), str(inside), f"{100 * inside / len(compared):.1f} %",
                str(len(ones) - len(compared)))
    order = list(TOTALS)
    return table(("total", "of", "compared", "inside", "", "listed, not compared"), (
        line(*key, found[key]) for key in sorted(found, key=lambda key: order.index(key[0]))))


# ---- pages -------------------------------------------------------------------------------------------------------


def text(sources):
    """`sources`: {name: its groups}"""
    papers, figures, groups = everything(sources)
    parts = [HEAD, f"## {TOTALS['papers']}\n", headline(papers) + "\n", paper_totals(papers), "## Other totals\n",
             other_totals(figures, groups)]
    for name, each in sources.items():
        parts.append(f"## {TITLES[name]}\n")
        for group in each:
            rows = [one for one in (papers if group.total == "papers" else figures) if one.group == group.name]
            parts.append(f"### {group.title}\n\n`{group.name}`, {len(rows)} rows, counted as *{TOTALS[group.total]}*. "
                         f"{' '.join(group.tolerance.split())} Ours: `{group.command}`\n")
            if group.explained:
                parts.append(group.explained.strip() + "\n")
            layout = paper_rows if group.total == "papers" else wide_rows if group.wide else long_rows
            parts.append(layout(rows))
    return "\n".join(parts)


def everything(sources):
    """What papers print, all other figures, groups by name."""
    figures = [one for name in sources for one in figure.read(name)]
    return figure.read("papers"), figures, {group.name: group for each in sources.values() for group in each}


def marked(sources):
    """{file: {mark: text}}"""
    papers, figures, groups = everything(sources)
    return {"README.md": {"first total": headline(papers) + "\n"},
            "docs/validation.md": {"first total": headline(papers) + "\n\n" + paper_totals(papers), "misses": misses(papers),
                                   "other totals": other_totals(figures, groups)}}


def between(file, mark):
    """What stands between the marks, with them."""
    return re.search(rf"(?s)<!-- {mark} -->\n(.*?)<!-- end -->\n", file)


def write(sources):
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(sources))
    for name, marks in marked(sources).items():
        content = (ROOT / name).read_text()
        for mark, words in marks.items():
            found = between(content, mark)
            content = content[:found.start(1)] + words + content[found.end(1):]
        (ROOT / name).write_text(content)
    print(PAGE)

# SPDX-License-Identifier: Apache-2.0
"""The page: page.html with everything in its place, style and script inside it.

What a reader needs without a script (facts, saturation, warnings, configuration, files) is plain HTML; the browser of
figures and the table of runs come from the data block. The page may load nothing: its content security policy allows
its own style and script by their hashes, and pictures that are part of the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections import Counter
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Iterable, Sequence
from urllib.parse import quote, urlencode

from ..curve import Point
from ..results import UnknownColumn
from ..store import writer_of
from ..study import Study
from ..units import Unit, choose, is_time
from .data import Settings, as_number, data_of, kind_of, state_of, text_of
from .plan import Drawn

HERE = Path(__file__).resolve().parent
NAMED = 40  # runs that a group of warnings names; the table shows all
SHOWN_VALUES = 12  # values of a setting that differs
MINUS = "\N{EN DASH}"
NOTES = {  # what to make of a kind of warning
    "saturated": "More was offered than the network carried. Latency then grows with the length of the run, so it is "
                 "no number to quote; accepted load is.",
    "not converged": "The confidence interval of the mean latency is wider than was asked for: a longer "
                     "<code>max_sample</code> narrows it.",
    "unfinished": "Sampled packets were still under way when the run gave up waiting for them: their latencies are "
                  "missing among the numbers.",
    "deadlock": "Packets wait for each other in a cycle. What was measured before is kept, and means little.",
    "not run": "The study does not have them yet; running the sweep again does what is left.",
    "damaged": "A bit of the file has changed since they were written. Running the sweep again does them once more.",
    "results are missing": "The run ended well, but its results are not in the study; run it again.",
}
JOB_COLUMNS = {"completion_time": "time ({})", "step_time": "a step ({})", "alone_time": "alone ({})", "slowdown": "slowdown"}
MILD = ("saturated", "not converged", "unfinished", "not run")


def page(study: Study, figures: Sequence[Drawn], out: Path) -> str:
    """The whole page as text."""
    settings = Settings(study.runs)
    style, script = (HERE / "page.css").read_text(), (HERE / "page.js").read_text()
    policy = (f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
              "base-uri 'none'; form-action 'none'")
    jobs = _jobs(study)
    parts = {
        "policy": escape(policy), "title": escape(study.title), "style": style, "script": script, "facts": _facts(study),
        "jobs": jobs, "jobs_link": "<a href='#jobs'>Jobs</a>\n" if jobs else "", "saturation": _saturation(study), "figures_count": str(len(figures)), "runs_count": str(len(study.runs)),
        "warnings": _warnings(study, figures), "configuration": _configuration(study, settings),
        "files": _files(study, figures, out), "units": _units(study),
        "data": _json({**data_of(study, settings), "figures": [_figure(figure) for figure in figures]}),
        "pictures": "\n".join(_picture(i, figure) for i, figure in enumerate(figures)),
    }
    return fill((HERE / "page.html").read_text(), parts)


def fill(template: str, parts: dict[str, str]) -> str:
    """A template with each {{name}} replaced, once: what is put in is not looked at again.

    >>> fill("<h1>{{title}}</h1>", {"title": "{{title}}"})
    '<h1>{{title}}</h1>'
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(value: object) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


# ---- facts ---------------------------------------------------------------------------------------------------------


def _facts(study: Study) -> str:
    states = Counter(state_of(run) for run in study.runs)
    done = sum(run.is_done for run in study.runs)
    waiting = states["not run"]
    failed = len(study.runs) - done - waiting
    simulations = [run.results["simulation"] for run in study.runs if run.is_done]
    work = "flit-hops" if all("flit_hops" in simulation for simulation in simulations) else "events"  # models count events
    hops = sum(simulation["flit_hops" if work == "flit-hops" else "events"] for simulation in simulations)
    outcomes = [run.outcome for run in study.runs if run.outcome]
    cpu = sum(o.cpu_seconds for o in outcomes if math.isfinite(o.cpu_seconds))
    begins = [o.started for o in outcomes if math.isfinite(o.started)]
    ends = [o.started + o.wall_seconds for o in outcomes if math.isfinite(o.started + o.wall_seconds)]
    sentences = [f"<strong>{_count(len(study.runs), 'run')}</strong>: {done} done" +
                 (f", {states['saturated']} of them saturated" if states["saturated"] else "") +
                 (f", <a href='#warnings' class=bad>{failed} failed</a>" if failed else "") +
                 (f", {waiting} not run yet" if waiting else "") + "."]
    if hops:
        speed = f", {_large(hops / cpu)} of them a second" if cpu > 0 else ""
        sentences.append(f"{_large(hops)} {work} in {_duration(cpu)} of CPU time{speed}.")
    program = (study.facts.get("program") or {}).get("version")
    when = f" {_span(min(begins), max(ends, default=max(begins)))}" if begins else ""
    if program:
        sentences.append(f"Run by {escape(str(program))}{when}.")
    elif when:
        sentences.append(f"Run{when}.")
    if writer_of(study.path):
        sentences.append("<strong>The study was still running when this page was written.</strong>")
    return " ".join(sentences)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}".replace(",", "\N{THIN SPACE}")


def _large(number: float) -> str:
    """
    >>> _large(1234567890), _large(950)
    ('1.23 billion', '950')
    """
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:,.0f}".replace(",", "\N{THIN SPACE}")


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.5), _duration(75), _duration(7300), _duration(200000)
    ('0.50 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    for size, unit, part, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} {int(seconds % size // part)} {smaller}"
    raise AssertionError


def _span(begin: float, end: float) -> str:
    first, last = (datetime.fromtimestamp(t, timezone.utc) for t in (begin, end))
    if first.date() == last.date():
        return f"on {first:%Y-%m-%d}, {first:%H:%M} to {last:%H:%M} UTC" if f"{first:%H:%M}" != f"{last:%H:%M}" \
            else f"on {first:%Y-%m-%d} at {first:%H:%M} UTC"
    return f"from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _units(study: Study) -> str:
    ticks = {str(run.results["config"]["simulator"]["tick"]) for run in study.runs
             if run.is_done and "tick" in run.results["config"].get("simulator", {})}
    tick = f" of {escape(ticks.pop())}" if len(ticks) == 1 else ""
    return f"Loads are flits per terminal and cycle, latencies are ticks{tick}."


# ---- jobs ----------------------------------------------------------------------------------------------------------


def _jobs(study: Study) -> str:
    """A table of the applications that come to an end; nothing where there is none."""
    found = study.jobs()
    if not found:
        return ""
    ticks = [point.mean("completion_time", job) for _, job, point in found]
    unit = choose([point.runs[0] for _, _, point in found], None, max((t for t in ticks if not math.isnan(t)), default=0))
    rows = [(values, job, [_job_number(point, job, column, unit) for column in JOB_COLUMNS]) for values, job, point in found]
    shown = [i for i in range(len(JOB_COLUMNS)) if any(numbers[i] for _, _, numbers in rows)]
    heads = [*(f"<th scope=col>{escape(name)}</th>" for name in (*found[0][0], "job")),
             *(f"<th scope=col class=number>{list(JOB_COLUMNS.values())[i].format(unit.text)}</th>" for i in shown)]
    lines = [f"<tr>{''.join(f'<td>{escape(text_of(value))}</td>' for value in (*values.values(), job))}"
             + "".join(numbers[i] or f"<td class=number data-value=''>{MINUS}</td>" for i in shown) + "</tr>"
             for values, job, numbers in rows]
    slowdown = " Slowdown is the time beside the others by the time alone: of a trace what it spent communicating, of other jobs " \
        "all of it." if any("slowdown" in run.application(job) for _, job, point in found for run in point.runs) else ""
    return ("<section id=jobs aria-labelledby=jobs-title>\n<h2 id=jobs-title>Jobs</h2>\n"
            "<div class='scroll tall' tabindex=0 role=region aria-label='Times of jobs'><table class=sortable>"
            f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>" + "\n".join(lines) + "</tbody></table></div>\n<p class=note>"
            "Means over seeds, with 95 % intervals where there are several." + slowdown + "</p>\n</section>\n\n")


def _job_number(point: Point, job: str, column: str, unit: Unit) -> str:
    """A cell of the table; "" where a job has no such number."""
    if column == "step_time" and point.runs[0].steps(job) == 1:
        return ""
    try:
        mean, half = point.mean(column, job), point.ci95(column, job)
    except UnknownColumn:
        return ""
    scale = unit.scale(point.runs[0]) if is_time(column) else 1
    if math.isnan(mean):
        return ""
    half *= scale
    interval = "" if math.isnan(half) else f" \N{PLUS-MINUS SIGN} {half:.0f}" if half >= 100 else f" \N{PLUS-MINUS SIGN} {half:.2g}"
    return f"<td class=number data-value='{mean * scale:.7g}'>{mean * scale:.4g}{interval}</td>"


# ---- saturation ----------------------------------------------------------------------------------------------------


def _saturation(study: Study) -> str:
    rows = study.saturation()
    if not rows:
        return "<p>The study raises no load: there is nothing to saturate along.</p>"
    x = escape(study.x or "load")
    top = max([1e-9, *(row[key] for row in rows for key in ("carried", "saturated") if row[key] is not None)])
    heads = [*(f"<th scope=col>{escape(name)}</th>" for name in study.variables),
             f"<th scope=col class=number>highest {x} carried</th>",
             f"<th scope=col class=number>lowest {x} saturated</th>",
             "<th scope=col class=number>most accepted</th>",
             "<th scope=col class=wide><span class=unseen>picture</span></th>"]
    lines = []
    for row in rows:
        values = [f"<td>{escape(text_of(row[name]))}</td>" for name in study.variables]
        numbers = [f"<td class=number data-value='{'' if value is None else value}'>{text}</td>" for value, text in
                   ((row["carried"], _load(row["carried"])), (row["saturated"], _load(row["saturated"])),
                    (row["accepted"], _load(row["accepted"], 4)))]
        lines.append(f"<tr>{''.join(values + numbers)}<td class=wide>{_bar(row, top)}</td></tr>")
    return (f"<div class='scroll tall' tabindex=0 role=region aria-label='Saturation of each combination'>"
            f"<table class=sortable><thead><tr>{''.join(heads)}</tr></thead>\n<tbody>" + "\n".join(lines) +
            "</tbody></table></div>\n<p class=note>"
            "<span class='key carried'></span> carried, <span class='key gap'></span> saturation begins somewhere in this gap; "
            f"full width is {top:g}. A dash: no run showed it.</p>")


def _load(value: float | None, digits: int | None = None) -> str:
    return MINUS if value is None else f"{value:g}" if digits is None else f"{value:.{digits}f}"


def _bar(row: dict, top: float) -> str:
    carried, end = row["carried"] or 0, row["saturated"]
    gap = f"<rect class=gap x='{200 * carried / top:.4g}' width='{200 * max(end - carried, 0) / top:.4g}' height=8 />" \
        if end is not None else ""
    return (f"<svg class=bar viewBox='0 0 200 8' preserveAspectRatio=none aria-hidden=true>{gap}"
            f"<rect class=carried width='{200 * carried / top:.4g}' height=8 /></svg>")


# ---- warnings ------------------------------------------------------------------------------------------------------


def _warnings(study: Study, figures: Sequence[Drawn]) -> str:
    groups: dict[str, list[tuple[str, str]]] = {}
    for run in study.runs:
        for warning in run.warnings():
            groups.setdefault(kind_of(warning), []).append((run.name, warning))
    parts = [_group(kind, groups[kind]) for kind in sorted(groups, key=lambda k: (k in MILD, MILD.index(k) if k in MILD
                                                                                   else 0, -len(groups[k]), k))]
    undrawn = [figure for figure in figures if figure.error]
    if undrawn:
        listed = "".join(f"<li>{escape(f.caption)}: {escape(f.error)}</li>" for f in undrawn[:NAMED])
        more = f"<li>and {len(undrawn) - NAMED} more</li>" if len(undrawn) > NAMED else ""
        parts.append(f"<details class=group><summary><b>not drawn</b> <span class=badge>{_count(len(undrawn), 'figure')}"
                     f"</span></summary><ul>{listed}{more}</ul></details>")
    return "\n".join(parts) or "<p>None: every run ended, converged, and stayed below saturation.</p>"


def _group(kind: str, found: Sequence[tuple[str, str]]) -> str:
    runs = list(dict.fromkeys(name for name, _ in found))
    link = escape("#" + urlencode({"warning": kind}))
    note = f"<p>{NOTES[kind]}</p>" if kind in NOTES else ""
    items = []
    for name, warning in found[:NAMED]:
        more = warning.partition(": ")[2] if kind != "saturated" else ""
        items.append(f"<li><a href='{escape('#' + urlencode({'run': name}))}'>{escape(name)}</a>"
                     f"{' ' + escape(more) if more else ''}</li>")
    rest = f"<p><a href='{link}'>All {len(runs)} in the table</a></p>" if len(runs) > NAMED else \
        f"<p><a href='{link}'>Show in the table</a></p>"
    severe = "" if kind in MILD else " severe"
    return (f"<details class='group{severe}'{' open' if severe else ''}><summary><b>{escape(kind)}</b> "
            f"<span class=badge>{_count(len(runs), 'run')}</span></summary>{note}"
            f"<ul class={'names' if kind == 'saturated' else 'lines'}>{''.join(items)}</ul>{rest}</details>")


# ---- configuration -------------------------------------------------------------------------------------------------


def _configuration(study: Study, settings: Settings) -> str:
    base = study.facts.get("base") or {}
    parts = []
    if settings.paths:
        rows = "\n".join(f"<tr><th scope=row><code>{escape(path)}</code></th><td class=number>{len(values)}</td>"
                         f"<td>{_values(values, counts)}</td></tr>"
                         for path, values, counts in zip(settings.paths, settings.values, settings.counts))
        parts.append("<p>What differs between runs:</p><div class=scroll tabindex=0 role=region "
                     "aria-label='Settings that differ'><table class=settings><thead><tr><th scope=col>setting</th>"
                     "<th scope=col class=number>values</th><th scope=col>each with its number of runs</th></tr></thead>"
                     f"<tbody>{rows}</tbody></table></div>")
    elif study.runs:
        parts.append("<p>All runs have the same settings.</p>")
    if base.get("overrides"):
        parts.append("<p>Set for all runs: " + ", ".join(f"<code>{escape(o)}</code>" for o in base["overrides"]) + ".</p>")
    if base.get("text"):
        parts.append(f"<details open><summary>Base: <code>{escape(str(base.get('file')))}</code></summary>"
                     f"<pre tabindex=0>{escape(base['text'])}</pre></details>")
    if study.runs:
        first = study.runs[0]
        parts.append(f"<details><summary>All settings of the first run, <code>{escape(first.name)}</code></summary>"
                     f"<pre tabindex=0>{escape(json.dumps(first.row.config, indent=2))}</pre></details>")
    return "\n".join(parts)


def _values(values: Sequence[str], counts: Sequence[int]) -> str:
    """Numbers by size, all else as it came; the last of many is the largest."""
    are_numbers = all(math.isfinite(as_number(value)[0]) for value in values)
    every = sorted(zip(values, counts), key=lambda pair: as_number(pair[0])) if are_numbers else list(zip(values, counts))
    shown = [f"<span class=value>{escape(value)} <span class=times>\N{MULTIPLICATION SIGN}{count}</span></span>"
             for value, count in every[:SHOWN_VALUES]]
    if len(every) > SHOWN_VALUES:
        end = f", up to {escape(every[-1][0])}" if are_numbers else ""
        shown.append(f"<span class=value>and {len(every) - SHOWN_VALUES} more{end}</span>")
    return " ".join(shown)


# ---- figures and files ---------------------------------------------------------------------------------------------


def _figure(figure: Drawn) -> dict:
    return {"spec": figure.number, "title": figure.spec.title, "caption": figure.caption, "labels": figure.labels,
            "at": {name: text_of(value) for name, value in figure.at.items()}, "error": figure.error,
            "files": {path.suffix[1:]: f"figures/{quote(path.name)}" for path in figure.files}}


def _picture(number: int, figure: Drawn) -> str:
    """A figure's picture in a block of its own, so that only those that are looked at are unpacked."""
    if figure.error:
        return ""
    kind, content = ("png", figure.png) if figure.png else ("svg+zlib", figure.svg)
    return f'<script type="text/plain" id="picture-{number}" data-kind="{kind}">{base64.b64encode(content).decode()}</script>'


def _files(study: Study, figures: Sequence[Drawn], out: Path) -> str:
    base = os.path.relpath(study.path.absolute(), out.absolute())
    shell = re.sub(r"[^\w./+-]", lambda c: "\\" + c[0], base)
    formats: Iterable[str] = ("svg", "pdf", "png")
    listed = "\n".join(
        f"<tr><td>{escape(f.caption)}</td>" + "".join(
            "<td>" + "".join(f"<a href='figures/{escape(quote(p.name))}'>{format}</a>" for p in f.files
                             if p.suffix == f".{format}") + "</td>" for format in formats) + "</tr>"
        for f in figures if f.files)
    pictures = (f"<details><summary>Figures: {_count(sum(bool(f.files) for f in figures), 'figure')} in three formats "
                f"in <code>figures/</code></summary><div class='scroll tall' tabindex=0 role=region "
                f"aria-label='Files of figures'><table><tbody>{listed}</tbody></table></div></details>") if listed else ""
    query = "select name, json_extract(document, '$.applications[0].accepted_load') from runs join outcomes using (key)"
    return f"""<dl>
<dt><a href='{escape(quote(base))}'><code>{escape(base)}</code></a></dt>
<dd>All settings and results. <code>sqlite3 {escape(shell)} "{escape(query)}"</code>, or in Python
<code>flitwarp.open_study({escape(json.dumps(base))})</code>, which has <code>curves()</code> and <code>frame()</code>.</dd>
<dt><a href='results.csv'><code>results.csv</code></a></dt>
<dd>A row for each run that ended well, with all its numbers. <code>pandas.read_csv("results.csv")</code>, or any
spreadsheet.</dd>
<dt><a href='table.tex'><code>table.tex</code></a></dt>
<dd>Means and 95&nbsp;% intervals over seeds, for <code>\\input</code> in LaTeX with <code>booktabs</code>.</dd>
</dl>
{pictures}"""

# SPDX-License-Identifier: Apache-2.0
"""Results as a table and as one HTML page that needs no other file and no network."""

from __future__ import annotations

import base64
import csv
import html
import json
from pathlib import Path
from typing import Mapping, Sequence

from .binary import version
from .sweep import Curve, Point

STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.2rem }
figure { margin: 1.5rem 0 } figure img { width: 100%; max-width: 44rem } figcaption { color: #555 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font: 13px/1.35 ui-monospace, monospace }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap } th { border-bottom: 1px solid #888 }
td:first-child, th:first-child { text-align: left } tr.saturated td { color: #a33 }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto; font: 13px/1.4 ui-monospace, monospace }
"""


def flatten(value: object, prefix: str = "") -> dict[str, object]:
    """A nested document as one row: {"packet_latency.mean": 23.4, ...}; lists are left out."""
    if isinstance(value, Mapping):
        row: dict[str, object] = {}
        for key, child in value.items():
            row.update(flatten(child, f"{prefix}.{key}" if prefix else key))
        return row
    return {} if isinstance(value, list) else {prefix: value}


def row_of(curve: Curve, point: Point) -> dict[str, object]:
    """All numbers of one run, named as in the results document."""
    row: dict[str, object] = {"curve": curve.label, **curve.overrides, "load": point.load}
    row.update(flatten(point.application))
    row.update(flatten(point.results["simulation"], "simulation"))
    row.update(flatten(point.results["channels"], "channels"))
    return row


def write_csv(curves: Sequence[Curve], path: Path) -> None:
    """One line a run, all numbers in it."""
    rows = [row_of(curve, point) for curve in curves for point in curve.points]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: str(v).lower() if isinstance(v, bool) else v for key, v in row.items()})


def _number(value: object, digits: int) -> str:
    return "&ndash;" if value is None else f"{value:.{digits}f}"


def _table(curves: Sequence[Curve]) -> str:
    heads = ["curve", "load", "offered", "accepted", "latency", "&plusmn; 95 %", "p50", "p99", "hops",
             "busiest channel", "packets"]
    lines = ["<div class=scroll><table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for curve in curves:
        for point in curve.points:
            a = point.application
            latency = a["packet_latency"]
            # Past saturation latency grows with the length of the run: no number to quote.
            shown = {} if point.saturated else latency
            cells = [html.escape(curve.label), f"{point.load:g}", _number(a["offered_load"], 4),
                     _number(a["accepted_load"], 4),
                     "saturated" if point.saturated else _number(latency["mean"], 2), _number(shown.get("ci95"), 2),
                     _number(shown.get("p50"), 0), _number(shown.get("p99"), 0), _number(a["hops"]["mean"], 2),
                     _number(point.results["channels"]["utilisation"]["max"], 3), str(a["packets"])]
            kind = " class=saturated" if point.saturated else ""
            lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join(lines) + "\n</table></div>"


def _figure(path: Path, caption: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return (f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>")


def write_html(path: Path, title: str, summary: str, curves: Sequence[Curve], figures: Sequence[tuple[Path, str]],
               configuration: str, commands: Sequence[str]) -> None:
    """The page: what was run, figures, the numbers, the configuration and the commands that repeat it."""
    effective = next((p.results["config"] for c in curves for p in c.points), {})
    ends = "".join(f"<li>{html.escape(c.label)}: " + (
        f"carries {c.stable()[-1].load:g}, saturated at {c.saturation():g} flits/terminal/cycle"
        if c.stable() and c.saturation() is not None else "no saturation found up to "
        f"{c.points[-1].load:g}" if c.saturation() is None else "saturated from the lowest load on") + "</li>"
        for c in curves if c.points)
    parts = [
        f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>",
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>",
        f"<h1>{html.escape(title)}</h1><p>{html.escape(summary)}</p><ul>{ends}</ul>",
        *(_figure(figure, caption) for figure, caption in figures),
        "<h2>Repeat it</h2><pre>" + html.escape("\n".join(commands)) + "\n</pre>",
        "<h2>Numbers</h2><p>Loads in flits per terminal and cycle, latencies in ticks. All of them: results.csv "
        "and runs/ beside this page.</p>", _table(curves),
        "<h2>Configuration</h2><pre>" + html.escape(configuration) + "</pre>",
        "<h2>Effective settings of the first run</h2><pre>" + html.escape(json.dumps(effective, indent=2)) + "</pre>",
        f"<p>Made by {html.escape(version())}.</p></html>",
    ]
    path.write_text("\n".join(parts) + "\n")

# SPDX-License-Identifier: Apache-2.0
"""A study as a page to look at and to send: report.html, with figures and a table beside it.

The page is one file that needs no server and no network. Its parts: `plan` says which figures there are and draws
them, `data` gathers what the script of the page shows, `page` fills page.html, page.css and page.js together.
A study that is still running, or some of whose runs failed, has a report too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Sequence

from ..files import write_file
from ..study import Study
from ..table import latex
from .page import page
from .plan import draw_all

__all__ = ["write_report"]


def write_table(study: Study, path: Path) -> None:
    """Means and intervals over seeds for LaTeX; an older one goes where there is nothing to tabulate."""
    results = study.results()
    if results:
        write_file(path, latex(results))
    else:
        path.unlink(missing_ok=True)


def write_report(study: Study, out: str | Path, figures: Sequence[str] | None = None) -> list[Path]:
    """Writes report.html, results.csv, table.tex and figures/ into a folder; the files that it made.

    Of the figures those of these names, or all. The same study gives the same bytes.
    """
    out = Path(out)
    drawn = draw_all(study, out / "figures", figures)
    study.write_csv(out / "results.csv")
    write_table(study, out / "table.tex")
    write_file(out / "report.html", page(study, drawn, out))
    for figure in drawn:
        if figure.error:
            print(f"not drawn: {figure.caption}: {figure.error}", file=sys.stderr)
    return [out / "report.html", out / "results.csv", *([out / "table.tex"] if (out / "table.tex").exists() else []), *(path for figure in drawn for path in figure.files)]

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The documents as HTML that can be searched, without a server.

    docs/site/make.py [FOLDER]        FOLDER: out/docs/ by default

Every document becomes a page beside page.css and search.js. search.js has the text of all sections, since a page that is opened as a
file may not read others.
"""
import html
import json
import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

import markdown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIRST = "README.md"
GROUPS = (("Start", [FIRST, *("docs/tasks/" + name for name in ("first_plot.md", "own_router_and_topology.md", "compare_networks.md", "ai_cluster.md",
                                                           "deadlock_lecture.md"))]),
          ("Guide", ["docs/guide.md"]),  # and the pages that it leads to, in its order
          ("More", []))  # all others


def documents():
    """(group, [path]) of all documents, in the order in which the pages list them."""
    named = re.findall(r"\]\(((?:\w+/)?\w+\.md)\)", (ROOT / "docs" / "guide.md").read_text())
    known = dict.fromkeys(path for _, paths in GROUPS for path in paths)
    guide = [path for path in dict.fromkeys("docs/" + name for name in named) if path not in known]
    others = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
    rest = [path for path in [*others, "bench/HISTORY.md", "CONTRIBUTING.md", "CHANGELOG.md"] if path not in known and path not in guide]
    more = {"Guide": guide, "More": rest}
    return [(group, paths + more.get(group, [])) for group, paths in GROUPS]


def title_of(path):
    if path == FIRST:
        return "flitwarp"
    return re.search(r"^# (.*)$", (ROOT / path).read_text(), re.M)[1]


def page_of(path):
    """Where the page of a document lies, below the folder of the site."""
    return "index.html" if path == FIRST else str(PurePosixPath(path.removeprefix("docs/")).with_suffix(".html"))


def from_page(path, target):
    """A link from the page of a document to a file of the site."""
    return os.path.relpath(target, os.path.dirname(page_of(path)) or ".")


def slug(text, _separator):
    """As GitHub names the anchor of a heading: the links in the documents count on it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def linked(path, text, pages):
    """The document with links that lead to pages; what is not a page is named, and not linked."""
    def link(match):
        words, target = match[1], match[2]
        name, _, anchor = target.partition("#")
        if "://" in target or not name:
            return match[0]
        found = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if found in pages:
            return f"[{words}]({from_page(path, page_of(found))}{'#' + anchor if anchor else ''})"
        if found.startswith("docs/images/"):
            return f"[{words}]({from_page(path, found.removeprefix('docs/'))})"
        return words
    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def plain_fences(text):
    """Without the words behind the language of a block, which tests read."""
    return re.sub(r"^```(\w+) [^\n]*$", r"```\1", text, flags=re.M)


def sections(text):
    """(heading, anchor, words) of each part of a page."""
    parts = re.split(r'<h[1-4] id="([^"]*)">(.*?)</h[1-4]>', text)
    for anchor, heading, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        words = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body))).strip()
        yield html.unescape(re.sub(r"<[^>]*>", "", heading)), anchor, words


def sidebar(path, groups, titles):
    lines = []
    for group, paths in groups:
        lines.append(f"<h2>{group}</h2>")
        lines += [f'<a href="{from_page(path, page_of(one))}"{" class=here" if one == path else ""}>{html.escape(titles[one])}</a>'
                  for one in paths]
    return "\n".join(lines)


def make(folder):
    groups = documents()
    pages = [path for _, paths in groups for path in paths]
    titles = {path: title_of(path) for path in pages}
    frame = (HERE / "page.html").read_text()
    index = []
    for path in pages:
        text = linked(path, plain_fences((ROOT / path).read_text()), pages)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists", "toc"], extension_configs={"toc": {"slugify": slug}})
        index += [[titles[path], heading, f"{page_of(path)}#{anchor}", words] for heading, anchor, words in sections(body)]
        target = folder / page_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        values = {"TITLE": html.escape(titles[path]), "ROOT": from_page(path, "."), "SIDEBAR": sidebar(path, groups, titles), "BODY": body}
        target.write_text(re.sub(r"@(TITLE|ROOT|SIDEBAR|BODY)@", lambda match: values[match[1]], frame))
    shutil.copy(HERE / "page.css", folder)
    (folder / "search.js").write_text(f"const SECTIONS = {json.dumps(index)};\n" + (HERE / "search.js").read_text())
    shutil.copytree(ROOT / "docs" / "images", folder / "images", dirs_exist_ok=True)
    return folder / page_of(FIRST)


if __name__ == "__main__":
    print(make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out" / "docs"))

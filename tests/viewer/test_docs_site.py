# SPDX-License-Identifier: Apache-2.0
"""The documents as pages (./dev docs): all are there, their links lead somewhere, and they can be searched without a server."""
import re
import subprocess

import pytest

import browser
from browser import Browser
from support import ROOT

pytest.importorskip("markdown", reason="there is no python3-markdown here")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(["/usr/bin/python3", ROOT / "docs" / "site" / "make.py", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def test_every_document_is_a_page_and_all_links_lead_somewhere(site):
    pages = {page.relative_to(site).with_suffix(".md").as_posix(): page.read_text() for page in site.rglob("*.html")}
    assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} | {"index.md"} <= set(pages)
    for name, text in pages.items():
        assert "```" not in text and "](" not in text, name  # nothing is left as it was written
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            there = (site / name).parent / path if path else site / name.replace(".md", ".html")
            assert there.exists(), (name, target)
            assert not anchor or f'id="{anchor}"' in there.read_text(), (name, target)


@pytest.mark.skipif(bool(browser.MISSING), reason=f"there is no {browser.MISSING} here")
def test_search_leads_from_words_to_a_section(site):
    with Browser() as window:
        window.open((site / "guide" / "routing.html").as_uri())
        found = """const query = document.getElementById("query"); query.value = arguments[0]; query.dispatchEvent(new Event("input"));
                   return [...document.querySelectorAll("#found a")].map(link => [link.firstChild.textContent, link.href]);"""
        links = window.run(found, "checkpoint every")
        assert any(href.endswith("guide/running.html#checkpoints") for _, href in links[:3]), links
        assert window.run(found, "no such words anywhere") == []
        assert window.run("return document.getElementById('pages').hidden")
        assert window.run(found, "") == [] and not window.run("return document.getElementById('pages').hidden")
        window.open(links[0][1])
        assert "checkpoint" in window.run("return document.querySelector('main').textContent").lower()

# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: filters, sorting, details, figures, and addresses that bring a view back."""

import csv
import time
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib")

import browser
import made_study
from browser import Browser
from flitwarp.report import write_report
from flitwarp.report.page import page
from made_study import damage, make_study

pytestmark = pytest.mark.skipif(bool(browser.MISSING), reason=f"there is no {browser.MISSING} here")

LATENCY = "#table tbody tr[data-run] td:nth-child(9)"
FIGURES = [{"kind": kind, "lines": ["VCs"], "where": {}, "options": {}} for kind in ("load-latency", "offered-accepted")]
TRAFFIC = ["uniform", "tornado", "<img src=x onerror=window.hacked=1>", "transpose"]


@pytest.fixture(scope="module")
def window():
    with Browser() as opened:
        opened.tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=opened.folder.name)
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a report with 32 runs, one of which deadlocked, and eight figures."""
    folder = tmp_path_factory.mktemp("page")
    study = make_study(folder / "study.sqlite", {"VCs": [2, 4], "traffic": TRAFFIC}, figures=FIGURES)
    study = damage(study.path, {study.runs[1].name: "deadlock"})
    write_report(study, folder)
    return (folder / "report.html").as_uri()


@pytest.fixture
def opened(window, address):
    """The report, freshly opened; the page must not complain about anything meanwhile."""
    window.open("about:blank")
    window.console()
    window.open(address)
    yield window
    assert window.console() == []
    assert window.run("return window.hacked ?? null") is None


def rows(window):
    return window.texts("#table tbody tr[data-run] th")


def choose(window, label, value):
    window.run("""const field = [...document.querySelectorAll('form label')].filter(l => l.firstChild.textContent === arguments[0])
                  .at(-1).lastChild; field.value = arguments[1]; field.dispatchEvent(new Event('change'))""", label, value)


def test_a_filter_leaves_the_right_rows(opened):
    assert len(rows(opened)) == 32 and opened.texts("#shown-count") == ["All 32 runs"]
    choose(opened, "VCs", "4")
    assert opened.texts("#shown-count") == ["16 of 32 runs"]
    choose(opened, "load", "0.2")
    assert len(rows(opened)) == 4
    opened.click("#run-controls .reset")
    opened.type("#run-controls input", "traffic=tornado vcs=2")
    assert len(rows(opened)) == 4
    opened.click("#run-controls .reset")
    choose(opened, "warnings", "*")
    assert len(rows(opened)) == 9  # eight saturated, one deadlock
    choose(opened, "warnings", "deadlock")
    assert rows(opened) == ["V0-0_V1-0_L0.2_S1"]


def test_a_head_sorts_up_down_and_not(opened):
    before = rows(opened)
    opened.click("#table th[data-key=latency] button")
    shown = opened.texts(LATENCY)
    numbers = [float(text) for text in shown if text != "\u2013"]
    assert numbers == sorted(numbers) and shown[len(numbers):] == ["\u2013"] * 9
    assert opened.run("return document.querySelector('#table th[data-key=latency]').ariaSort") == "ascending"
    opened.type("#table th[data-key=latency] button", "\ue007")  # Enter
    shown = opened.texts(LATENCY)
    assert [float(text) for text in shown if text != "\u2013"] == numbers[::-1] and shown[-1] == "\u2013"
    opened.click("#table th[data-key=latency] button")
    assert rows(opened) == before


def test_details_open_and_close(opened):
    name = rows(opened)[6]
    opened.click("#table tbody tr:nth-child(7) td:nth-child(4)")
    assert opened.run("return document.querySelector('dialog').open")
    text = opened.texts("dialog")[0]
    assert opened.texts("dialog h2") == [name]
    command = opened.texts("dialog pre.command")[0]
    assert command == "flitwarp run base.json workload.applications.0.sample=auto network.router.num_vcs=1 'a.b=[6, 1]'"
    assert "workload.applications.0.load" in text and "packet latency" in text and "461" in text
    assert opened.run("return document.querySelectorAll('dialog .histogram rect').length") > 5
    opened.click("dialog button[aria-label='next run']")
    assert opened.texts("dialog h2") == [rows(opened)[7]]
    assert "saturated: latency grows" in opened.texts("dialog .warnings")[0]
    opened.click("dialog button[aria-label=close]")
    assert not opened.run("return document.querySelector('dialog').open")
    assert "run=" not in opened.run("return location.hash")


def test_what_a_failed_run_printed_is_shown_as_it_is(opened):
    opened.run("document.querySelector('#warnings details').open = true")
    opened.click("#warnings li a")
    assert "<b>none</b> can move" in opened.texts("dialog pre")[0]


def test_an_address_brings_the_view_back(opened, address):
    choose(opened, "VCs", "4")
    opened.click("#table th[data-key=accepted] button")
    choose(opened, "figure", "1")
    choose(opened, "traffic", "transpose")
    caption, order = opened.texts("#gallery figcaption"), rows(opened)
    opened.click("#table tbody tr:nth-child(2) th a")
    fragment = opened.run("return location.hash")
    opened.open("about:blank")
    opened.open(address + fragment)
    assert rows(opened) == order and len(order) == 4
    assert opened.texts("#gallery figcaption") == caption
    assert opened.texts("dialog h2") == [order[1]]
    opened.open(address + "#warning=saturated")
    assert len(rows(opened)) == 8


def test_back_closes_a_run(opened):
    opened.click("#table tbody tr:nth-child(2) th a")
    opened.back()
    assert not opened.run("return document.querySelector('dialog').open")


def test_selectors_choose_figures(opened):
    def wait_for_picture():
        for _ in range(100):
            found = opened.run("return [...document.querySelectorAll('#gallery img')].map(i => i.naturalWidth)")
            if found and all(found):
                return len(found)
            time.sleep(0.02)
        raise AssertionError(f"a figure is not shown: {found}")

    assert wait_for_picture() == 1
    assert opened.texts("#gallery figcaption")[0].startswith("Latency over load, by VCs: traffic uniform")
    opened.click("#figure-controls [aria-label='next figure']")
    assert opened.texts("#gallery figcaption")[0].startswith("Latency over load, by VCs: traffic tornado")
    opened.run("""const [first] = document.querySelectorAll('#figure-controls select');
                  first.value = '*'; first.dispatchEvent(new Event('change'))""")
    assert wait_for_picture() == 2
    opened.click("#gallery figure:nth-child(2) a")
    assert wait_for_picture() == 1
    assert opened.texts("#gallery figcaption")[0].startswith("Accepted over offered load, by VCs: traffic tornado")


def test_the_rows_shown_can_be_downloaded(opened):
    choose(opened, "VCs", "2")
    opened.click("#download")
    path = Path(opened.folder.name) / "made-runs.csv"
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.02)
    found = list(csv.DictReader(path.open()))
    assert len(found) == 16 and found[0]["latency"] == "30.1" and found[1]["state"] == "deadlock" and found[1]["latency"] == ""
    assert {row["traffic"] for row in found} == set(TRAFFIC)


def test_nothing_is_wider_than_a_phone(opened):
    opened.tell("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    try:
        assert opened.run("return document.documentElement.scrollWidth") <= 390
        opened.run("location.hash = 'run=V0-0_V1-0_L0.2_S1'")
        assert opened.run("return document.querySelector('dialog').scrollWidth") <= 390
    finally:
        opened.tell("Emulation.clearDeviceMetricsOverride")


def test_names_of_percentiles_near_each_other_do_not_overlap_on_a_phone(window, tmp_path, monkeypatch):
    usual = made_study.statistics
    monkeypatch.setattr(made_study, "statistics", lambda *arguments: usual(*arguments) | {"p99": 260})  # p99.9 is 300, and 310 the edge
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2]}, loads=(0.1,))
    write_report(study, tmp_path)
    window.tell("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    try:
        window.open((tmp_path / "report.html").as_uri())
        window.click("#table tbody tr th a")
        boxes = window.run("""return [...document.querySelectorAll('dialog .histogram text')].map(text => {
            const box = text.getBoundingClientRect();
            return [text.textContent, box.left, box.right, box.top];
        })""")
        assert {text for text, *_ in boxes} >= {"p50", "p99", "310 ticks"}
        for text, left, right, top in boxes:
            assert 0 <= left and right <= 390
            assert not [other for other, start, end, line in boxes if other != text and line == top and start < right and left < end], text
    finally:
        window.tell("Emulation.clearDeviceMetricsOverride")


def test_the_policy_refuses_foreign_scripts(window, address):
    window.open(address)
    window.run("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
    assert window.run("return window.ran ?? null") is None
    assert any("Content Security Policy" in message for message in window.console())


def test_five_thousand_rows_are_quick(window, tmp_path):
    study = make_study(tmp_path / "study.sqlite", {"VCs": list(range(50))}, loads=[i / 100 for i in range(1, 101)])
    (tmp_path / "report.html").write_text(page(study, [], tmp_path))
    window.open((tmp_path / "report.html").as_uri())
    assert window.texts("#shown-count") == ["All 5\u2009000 runs"]
    assert len(rows(window)) < 150
    took = window.run("""const start = performance.now(); document.querySelector('#table th[data-key=accepted] button').click();
                         return performance.now() - start""")
    assert took < 1000
    window.run("const w = document.getElementById('table-window'); w.scrollTop = w.scrollHeight")
    for _ in range(100):
        if rows(window)[-1] == "V0-49_L1.0_S1":
            break
        time.sleep(0.02)
    assert rows(window)[-1] == "V0-49_L1.0_S1"
    assert window.console() == []

# SPDX-License-Identifier: Apache-2.0
"""The viewer's page in a real browser, against the program that steps the simulation."""

import csv
import json
import math
import re
import subprocess
import time
from pathlib import Path

import pytest

import browser
from browser import Browser
from shown import Page, ask, flits_of_engine, flits_of_page, viewed, wait_for
from support import PROGRAM, ROOT, blast, config_of, invoke, network_of
from viewed import View

pytestmark = [
    pytest.mark.skipif(bool(browser.MISSING), reason=f"there is no {browser.MISSING} here"),
    pytest.mark.skipif(not (ROOT / "viewer" / "dist" / "index.html").exists(), reason="the viewer's page is not built"),
]

# Three routers by three fill the window close up. Packets of 5 flits in buffers of 4 lie over several routers.
SMALL = config_of(network_of({"type": "mesh", "widths": [3, 3]}, router={"num_vcs": 2, "buffer_depth": 4}),
                  blast(0.9, flits=5, warmup=500, sample=100000))
ROUTERS = ",".join(map(str, range(9)))


@pytest.fixture(scope="module")
def window():
    with Browser(1280, 720) as opened:
        opened.tell("Emulation.setDeviceMetricsOverride", width=1280, height=720, deviceScaleFactor=1, mobile=False)
        opened.tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=opened.folder.name)
        yield opened


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "small.json"
    path.write_text(json.dumps(SMALL))
    return path


@pytest.fixture(scope="module")
def small_address(small_file):
    with View(small_file) as view:
        yield view.address


@pytest.fixture
def small(window, small_address):
    """At its beginning."""
    ask(small_address, "restart", {"overrides": []})
    page = Page(window, small_address)
    yield page
    page.leave(refused=["packet"])  # one that was selected may have arrived


def downloaded(window, name):
    path = Path(window.folder.name) / name
    wait_for(lambda: path.exists() and path.stat().st_size)
    content = path.read_bytes()
    path.unlink()
    return content


def test_the_tour_comes_on_first_use_only(window, small_address):
    window.tell("Network.clearBrowserCookies")
    Page(window, small_address, tour=True)
    seen = []
    while not window.run("return document.getElementById('tour').hidden"):
        seen += window.texts("#tour h2")
        assert window.run("return document.activeElement.id") == "tour-next"
        window.click("#tour-next")
    assert [re.sub(r"\d of \d", "", title) for title in seen] == ["The network", "Time", "Close up", "Inspect", "Settings", "Gallery"]
    again = Page(window, small_address, tour=True)
    assert window.run("return document.getElementById('tour').hidden")
    again.leave()


def test_a_step_draws_every_flit_where_the_engine_has_it(small):
    small.go_to(60)
    before = small.at(60)
    assert before["level"] == "near" and len(before["routers"]) == 9
    for tick in range(61, 66):
        small.window.click("#step")
        drawn = small.at(tick)
        frame = ask(small.address, f"frame?routers={ROUTERS}")
        assert frame["now"] == tick
        assert flits_of_page(drawn) == flits_of_engine(frame) != flits_of_page(before)
        assert {place[0] for place in flits_of_page(drawn)} == {"input", "channel"}
        before = drawn


def test_flits_lie_in_their_router_in_their_packets_colour(small):
    small.go_to(200)
    small.at(200)
    small.find_router(4)
    drawn = small.drawn()
    middle = next(router for router in drawn["routers"] if router["router"] == 4)
    inside = [flit for flit in drawn["flits"] if flit["where"].get("router") == 4]
    assert len(inside) > 5
    points = []
    for flit in inside:
        x, y = flit["screen"]["x"], flit["screen"]["y"]
        assert max(abs(x - middle["x"]), abs(y - middle["y"])) < middle["half"]
        # Beside the number, inside the edge; a buffer at a corner lies across.
        if 0 in (flit["way"]["x"], flit["way"]["y"]):
            aside = 0.33 * flit["screen"]["thickness"]
            points.append((flit["colour"], [x + aside * abs(flit["way"]["y"]), y + aside * abs(flit["way"]["x"])]))
    assert small.colours_at([point for _, point in points]) == [colour for colour, _ in points]
    # The front of a queue waits at the crossbar.
    for flit in inside:
        behind = [other for other in inside if {**other["where"], "slot": 0} == flit["where"] and other["where"]["slot"] == 1]
        for other in behind:
            away = [math.hypot(each["screen"]["x"] - middle["x"], each["screen"]["y"] - middle["y"]) for each in (flit, other)]
            assert away[0] < away[1]


def test_inspectors_tell_what_the_engine_knows(small):
    small.go_to(100)
    small.at(100)
    small.find_router(4)
    wait_for(lambda: "Router (1,1)" in small.text("#inspect h2"))
    state = ask(small.address, "router?id=4")["router"]
    lanes = small.window.texts(".lanes li")
    assert len(lanes) == len(state["inputs"]) > 0
    for lane, text in zip(state["inputs"], lanes):
        assert f"VC {lane['vc']}" in text and lane["state"] in text and lane["why"] in text
    packet = state["inputs"][0]["flits"][0][0] if state["inputs"][0]["flits"] else None
    flit = next(flit for flit in small.drawn()["flits"] if packet is None or flit["packet"] == packet)
    small.window.run("""const canvas = document.getElementById('network'), at = {offsetX: 0, pointerId: 1, bubbles: true};
        const box = canvas.getBoundingClientRect();
        for (const kind of ['pointerdown', 'pointerup']) canvas.dispatchEvent(new PointerEvent(kind,
            {clientX: box.left + arguments[0], clientY: box.top + arguments[1], pointerId: 1, bubbles: true}));""",
                     flit["screen"]["x"], flit["screen"]["y"])
    wait_for(lambda: small.text("#inspect h2") == f"Packet {flit['packet']}")
    known = ask(small.address, f"packet?id={flit['packet']}")
    assert f"to terminal{known['destination']}" in small.text("#inspect .facts")
    assert len(small.window.texts("#inspect tbody tr")) == len(known["path"]) > 0
    now = small.drawn()["now"]
    small.window.click("#next-event")
    wait_for(lambda: small.window.run("return window.flitwarp.drawn().now") > now)


def test_the_past_is_found_again(small):
    small.go_to(60)
    before = flits_of_page(small.at(60))
    small.go_to(90)
    assert flits_of_page(small.at(90)) != before
    small.go_to(60)
    assert flits_of_page(small.at(60)) == before


def lightness(colour):
    return sum(int(colour[i:i + 2], 16) for i in (1, 3, 5))


def test_colours_tell_how_full_routers_are_and_how_busy_channels(window):
    window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    with viewed(window, ROOT / "examples" / "view" / "05_hotspot.json") as page:
        page.go_to(400)
        drawn = page.at(400)
        filled = ask(page.address, "frame")["occupancy"]
        routers = sorted(drawn["routers"], key=lambda each: filled[each["router"]])
        # Left of the label, away from flits that come in at the middle of the edge and from the terminal's corner.
        shown = page.colours_at([[each["x"] - 0.6 * each["half"], each["y"] - 0.6 * each["half"]] for each in routers])
        lights = {filled[each["router"]]: lightness(colour) for each, colour in zip(routers, shown)}
        assert len(lights) > 10 and list(lights.values()) == sorted(lights.values(), reverse=True)
        assert max(lights.values()) - min(lights.values()) > 200
    with viewed(window, ROOT / "examples" / "view" / "02_tornado_torus.json") as page:
        page.go_to(1500)
        places = {each["router"]: each for each in page.at(1500)["routers"]}

        def darkest(one, other):
            """Of a short line across both channels between two neighbours; flits are dots of other colours, so several are taken."""
            a, b = places[one], places[other]
            found = []
            for part in (0.4, 0.5, 0.6):
                x, y = a["x"] + part * (b["x"] - a["x"]), a["y"] + part * (b["y"] - a["y"])
                across = (0, 1) if other == one + 1 else (1, 0)
                found.append(min(map(lightness, page.colours_at([[x + across[0] * i, y + across[1] * i] for i in range(-14, 15)]))))
            return sorted(found)[1]

        # Tornado traffic along the rows: their channels are in use, those of the columns idle.
        assert all(darkest(router, router + 1) + 60 < darkest(router, router + 8) for router in (9, 18, 27, 36))


def test_a_terminal_is_found_at_its_router(small):
    small.find_router("t5")
    wait_for(lambda: "Router (2,1)" in small.text("#inspect h2"))


def test_a_run_to_deadlock_shows_its_circle(window):
    with viewed(window, ROOT / "examples" / "view" / "03_torus_deadlock.json") as page:
        page.go_to(100000)
        wait_for(lambda: window.run("return window.flitwarp.drawn().deadlock.length"))
        found = ask(page.address, "frame")["deadlock"]
        drawn = page.drawn()
        assert [each["packet"] for each in drawn["deadlock"]] == [each["packet"] for each in found["packets"]]
        assert page.text("#deadlock h2") == f"Deadlock at tick {found['tick']}"
        rows = window.texts(".cycle li")
        assert len(rows) == len(found["packets"]) and all(each["packet"] in row for each, row in zip(found["packets"], rows))
        assert window.run("return document.getElementById('tab-deadlock').ariaSelected") == "true"
        assert len({each["colour"] for each in drawn["deadlock"]}) == len({each["packet"] for each in drawn["deadlock"]})
        # Each packet's colour lies on the channel that it holds; a dashed line of wishes may cross it.
        held = [each for each in drawn["deadlock"] if each["line"]]
        assert len(held) > 2
        for each in held:
            start, end = each["line"][0], each["line"][1]
            points = [[start["x"] + i / 40 * (end["x"] - start["x"]), start["y"] + i / 40 * (end["y"] - start["y"])] for i in range(41)]
            assert each["colour"] in page.colours_at(points)
        window.click("#walk-cycle")
        wait_for(lambda: window.run("return document.querySelector('.cycle li:nth-child(2)').hasAttribute('data-chosen')"))
        page.press(" ")
        assert window.run("return document.getElementById('play').dataset.state") == "play"  # nothing is left to run
        window.click("#open-results")
        wait_for(lambda: page.text("#ending") == f"The run ended (deadlock) at tick {found['tick']}; until then no packet had been measured.")


def test_another_load_starts_anew_and_the_chart_follows(window):
    with viewed(window, ROOT / "examples" / "torus_uniform.json") as page:

        def offered():
            found = re.search(r"offered ([\d.]+)", page.text(".chart .value"))
            return float(found[1]) if found else None

        page.go_to(1000)
        page.at(1000)
        last = ask(page.address, "series?from=0")
        wait_for(lambda: window.run("return window.flitwarp.chartPoints()") == len(last["time"]) > 5)
        assert offered() == pytest.approx(last["offered"][-1], rel=1e-3) and 0.25 < offered() < 0.35  # examples/torus_uniform.json has 0.3
        window.click("#tab-settings")
        load = "[data-path='workload.applications.0.load']"
        window.run("document.querySelector(arguments[0]).value = '.1'", load)
        window.click("#apply")
        page.at(0)
        assert window.run("return document.querySelector(arguments[0]).value", load) == "0.1"
        page.go_to(1000)
        page.at(1000)
        wait_for(lambda: window.run("return window.flitwarp.chartPoints()") == len(last["time"]))
        assert 0.07 < offered() < 0.13
        window.run("document.querySelector(\"[data-path='network.topology.widths']\").value = '[1, 8]'")
        window.click("#apply")
        wait_for(lambda: "network.topology.widths[0]" in page.text(".errors"))
        assert page.drawn()["now"] == 1000  # the old one is still there
        page.leave(refused=["restart"])


def test_every_scenario_of_the_gallery_opens(window, small_file):
    with viewed(window, small_file) as page:
        scenarios = ask(page.address, "gallery")["scenarios"]
        assert len(scenarios) == 10
        for scenario in scenarios:
            window.click("#open-gallery")
            card = f"[data-scenario='{scenario['name']}']"
            wait_for(lambda: window.run("return document.getElementById('gallery').open"))
            assert scenario["about"] in page.text(card)
            window.run("document.querySelector(arguments[0]).click()", card)
            wait_for(lambda: page.text("#title") == scenario["title"])
            page.at(0)
            window.click("#step-100")
            assert page.at(100)["flits"], scenario["name"]


def test_buffers_on_both_sides_are_drawn(window):
    """SimuRed's router has buffers before and behind its crossbar: 2 slots a VC each, in examples/simured.json."""
    with viewed(window, ROOT / "examples" / "simured.json", "workload.applications.0.load=0.9") as page:
        page.go_to(3200)
        page.at(3200)
        # A program that takes its time: what was not there before is not taken for settled.
        window.run("const fetch = window.fetch; window.fetch = (...what) => new Promise((on) => setTimeout(on, 300)).then(() => fetch(...what))")
        page.find_router("(1,1)")
        drawn = page.drawn()
        middle = next(router for router in drawn["routers"] if router["router"] == 5)
        expected = [flit for flit in flits_of_engine(ask(page.address, "frame?routers=5")) if flit[0] in ("input", "output")]
        assert {flit[0] for flit in expected} == {"input", "output"}
        assert [flit for flit in flits_of_page(drawn) if flit[0] in ("input", "output") and flit[1] == 5] == expected
        places = [(flit["screen"]["x"], flit["screen"]["y"]) for flit in drawn["flits"] if flit["where"].get("router") == 5]
        assert len({(round(x), round(y)) for x, y in places}) == len(places)  # each in a slot of its own
        assert all(max(abs(x - middle["x"]), abs(y - middle["y"])) < middle["half"] for x, y in places)


def test_an_application_that_cannot_go_on_is_shown_to(window, tmp_path):
    (tmp_path / "one.goal").write_text("num_ranks 2\nrank 0 {\n a: recv 8b from 1 tag 7\n}\nrank 1 {\n}\n")
    config = config_of(network_of({"type": "mesh", "widths": [2]}), {"type": "trace", "file": str(tmp_path / "one.goal")})
    (tmp_path / "stuck.json").write_text(json.dumps(config))
    with viewed(window, tmp_path / "stuck.json") as page:
        page.go_to(100000)
        wait_for(lambda: "rank 0: task 0 (receive of 8 bytes from rank 1, tag 7) waits" in page.text("#notice p"))
        assert not window.run("return document.getElementById('notice').hidden") and page.text("#status b") == "stuck"
        page.press("r")
        wait_for(lambda: window.run("return document.getElementById('notice').hidden"))


def test_a_study_is_drawn_as_it_was_varied(window, tmp_path):
    """One that flitwarp-sweep has run."""
    (tmp_path / "base.json").write_text(json.dumps(config_of(SMALL["network"], blast(0.1, flits=5, warmup=200, sample=500))))
    study = {"name": "vcs", "base": str(tmp_path / "base.json"), "load": {"values": [0.05, 0.15]},
             "variables": [{"name": "VCs", "short": "VC", "values": [1, 2], "path": "network.router.num_vcs"}]}
    (tmp_path / "study.json").write_text(json.dumps(study))
    subprocess.run([ROOT / "bin" / "flitwarp-sweep", tmp_path / "study.json", "--out", tmp_path / "out", "--no-report", "--quiet"], check=True)
    with viewed(window, tmp_path / "out" / "study.sqlite") as page:
        assert len(window.texts("#runs tbody tr")) == 4
        assert window.texts(".figure:nth-child(1) .legend li") == ["VCs 1", "VCs 2"]
        window.run("document.querySelector('.export-data').click()")
        rows = list(csv.DictReader(downloaded(window, "latency.csv").decode().splitlines()))
        runs = {(f"VCs {run['variables']['VCs']}", run["x"]): run["results"]["applications"][0]["packet_latency"]["mean"]
                for run in ask(page.address, "results")["documents"]}
        assert {(row["line"], float(row["load, flits a terminal and cycle"])): float(row["packet latency, ticks"]) for row in rows} == runs


def test_jobs_have_columns_and_half_saturated_loads_no_latency(window, tmp_path):
    def document(load, seed, saturated):
        blocks = [{"name": "others", "target_load": load, "saturated": saturated, "packet_latency": {"mean": 10 * seed}},
                  {"name": "solver", "completion_time": 5000 + seed, "slowdown": 1.5}]
        return {"flitwarp": {"version": "0"}, "config": {"simulator": {"seed": seed, "tick": "2ns"}, "load": load}, "outcome": "done", "complete": True,
                "applications": blocks}

    paths = []
    for load, saturated in ((0.1, (False, False, True)), (0.2, (False, True, True))):
        for seed, is_full in enumerate(saturated, start=1):
            paths.append(tmp_path / f"{load}_{seed}.json")
            paths[-1].write_text(json.dumps(document(load, seed, is_full)))
    with viewed(window, *paths):
        assert window.texts("#runs thead th")[1:3] == ["solver, \u00b5s", "solver, slowdown"]
        assert window.texts("#runs tbody tr:first-child td")[1:3] == ["10", "1.5"]
        window.run("document.querySelector('.export-data').click()")
        rows = list(csv.DictReader(downloaded(window, "latency.csv").decode().splitlines()))
        found = {float(row["load, flits a terminal and cycle"]): float(row["packet latency, ticks"]) for row in rows}
        assert found == {0.1: 20}  # of three seeds two have saturated at 0.2: the third says nothing of the load


def test_lines_of_different_networks_are_told_by_their_components(window, tmp_path):
    """What a component alone has goes without saying, unless runs of that component differ in it."""
    networks = {"grid": {"topology": {"type": "torus", "widths": [4, 4], "wrap": True}, "routing": {"type": "dimension_order", "balanced": True}},
                "wide": {"topology": {"type": "torus", "widths": [8, 4], "wrap": True}, "routing": {"type": "dimension_order", "balanced": True}},
                "groups": {"topology": {"type": "dragonfly", "groups": None}, "routing": {"type": "ugal", "threshold": 0}}}
    paths = []
    for name, network in networks.items():
        for load in (0.1, 0.2):
            paths.append(tmp_path / f"{name}{load}.json")
            paths[-1].write_text(json.dumps({
                "flitwarp": {"version": "0"}, "config": {"network": network, "load": load}, "outcome": "done", "complete": True,
                "applications": [{"name": "blast", "target_load": load, "saturated": False, "packet_latency": {"mean": 10}}]}))
    with viewed(window, *paths):
        assert set(window.texts(".figure:nth-child(1) .legend li")) == {
            "topology torus, widths.0 4, routing dimension_order", "topology torus, widths.0 8, routing dimension_order",
            "topology dragonfly, routing ugal"}


def test_results_are_drawn_compared_and_taken_away(window, tmp_path):
    documents = {}
    for load in (0.1, 0.3):
        text, _ = invoke(SMALL, {"workload.applications.0.load": load, "workload.applications.0.sample": 2000,
                                 "workload.per_channel": True, "workload.series_interval": 500})
        (tmp_path / f"load{load}.json").write_text(text)
        documents[load] = json.loads(text)
    with viewed(window, tmp_path / "load0.1.json", tmp_path / "load0.3.json"):
        window.run("document.querySelector('.export-data').click()")
        rows = list(csv.DictReader(downloaded(window, "latency.csv").decode().splitlines()))
        found = {float(row["load, flits a terminal and cycle"]): float(row["packet latency, ticks"]) for row in rows}
        assert found == {load: document["applications"][0]["packet_latency"]["mean"] for load, document in documents.items()}
        assert window.run("return document.querySelectorAll('.figure canvas').length") == 6
        window.run("document.querySelectorAll('.export-data')[3].click()")
        rows = list(csv.DictReader(downloaded(window, "hops.csv").decode().splitlines()))
        counted = dict(documents[0.1]["applications"][0]["hop_distribution"])
        assert {int(row["hops"]): float(row["share of packets"]) for row in rows if row["line"].startswith("load0.1")} == {
            hops: pytest.approx(count / sum(counted.values())) for hops, count in counted.items()}
        window.run("[...document.querySelectorAll('.export-data')].at(-1).click()")
        rows = list(csv.DictReader(downloaded(window, "channels.csv").decode().splitlines()))
        assert len(rows) == 24  # 12 links of a 3x3 mesh, both ways
        window.run("document.querySelector('.export-picture').click()")
        assert downloaded(window, "latency.png").startswith(b"\x89PNG")
        heads = window.texts("#runs tbody th")
        assert heads == [f"load{load}.json" for load in documents] or heads == [f"load{load}" for load in documents]
        window.click("#runs thead th:nth-child(6) button")
        window.click("#runs thead th:nth-child(6) button")
        assert window.texts("#runs tbody th") == heads[::-1]
        window.click("#runs tbody tr:first-child input")
        assert len(window.texts(".figure:nth-child(3) .legend li")) == 1


def test_a_job_is_told_by_its_time_and_not_by_the_latency_of_packets(window, tmp_path):
    job = {"type": "alltoall", "name": "job", "allocation": {"type": "linear", "count": 4}}
    text, _ = invoke(config_of(network_of({"type": "mesh", "widths": [2, 2]}, router={"num_vcs": 2}), job), {"simulator.tick": "250ps"})
    (tmp_path / "job.json").write_text(text)
    with viewed(window, tmp_path / "job.json"):
        time = f"{json.loads(text)['applications'][0]['completion_time'] * 0.25e-3:.4g}"
        heads = window.texts("#runs thead th")
        assert heads == ["run", "job, \u00b5s", "packets", "channels, mean", "state"] and window.texts("#runs tbody td")[1] == time
        assert window.texts("#jobs .bars span") == ["job", "", time] and "Latency over load" not in window.texts(".figure h3")


def test_a_run_that_has_ended_shows_its_results(window, small_file):
    with viewed(window, small_file, "workload.applications.0.sample=500") as page:
        assert window.run("return document.getElementById('open-results').hidden")
        page.go_to(1000000)
        wait_for(lambda: not window.run("return document.getElementById('open-results').hidden"))
        window.click("#open-results")
        wait_for(lambda: window.texts("#runs tbody tr"))
        packets = ask(page.address, "run-results")["results"]["applications"][0]["packets"]
        assert window.texts("#runs tbody td:nth-child(9)") == [str(packets)]
        window.click("#close-results")
        assert page.drawn()["routers"]


def test_a_recording_plays_from_a_file_as_the_engine_ran(window, small_file, tmp_path):
    subprocess.run([PROGRAM, "record", small_file, "-o", tmp_path / "run.html", "--cycles", "120"], check=True, capture_output=True)
    page = Page(window, (tmp_path / "run.html").as_uri())
    with View(small_file) as view:
        for tick in (40, 41, 90):  # 50 frames are a chunk
            page.go_to(tick)
            drawn = page.at(tick)
            frame = ask(view.address, f"step?routers={ROUTERS}", {"until": tick})
            assert flits_of_page(drawn) == flits_of_engine(frame) and drawn["flits"]
            if tick == 41:
                kept = flits_of_page(drawn)
                page.find_router(4)
                wait_for(lambda: "Router (1,1)" in page.text("#inspect h2"))
                words = window.texts(".lanes .note")
                spoken = [lane["why"] for lane in frame["detail"]["4"]["inputs"]]
                # Whose turn it was is told by the port alone.
                assert len(words) == len(spoken) > 3 and all(why.startswith(word) for word, why in zip(words, spoken)), (words, spoken)
    page.press(",")
    page.at(89)
    window.run("const line = document.getElementById('timeline'); line.value = 41; line.dispatchEvent(new Event('input'))")
    assert flits_of_page(page.at(41)) == kept
    window.run("const speed = document.getElementById('speed'); speed.value = 60; speed.dispatchEvent(new Event('input'))")
    window.click("#play")
    page.at(120)
    assert window.run("return document.getElementById('play').dataset.state") == "play"  # it stopped at the end
    page.leave()


TORUS = config_of(network_of({"type": "torus", "widths": [8, 8]}, router={"num_vcs": 4}), blast(0.1, warmup=200, sample=500))


def fill(window, path, value):
    """A field of the settings."""
    window.run("document.getElementById(`option-${arguments[0]}`).value = arguments[1]", path, value)


@pytest.mark.skipif(not (ROOT / "viewer" / "dist" / "engine.wasm.gz").exists(), reason="the engine for pages is not built")
def test_a_page_runs_the_network_itself_as_the_program_does(window, tmp_path):
    (tmp_path / "torus.json").write_text(json.dumps(TORUS))
    subprocess.run([PROGRAM, "record", tmp_path / "torus.json", "-o", tmp_path / "run.html", "--cycles", "20"], check=True, capture_output=True)
    page = Page(window, (tmp_path / "run.html").as_uri())
    page.go_to(20)
    recorded = flits_of_page(page.at(20))
    window.click("#tab-settings")
    for load, routing in ((0.1, "dimension_order"), (0.3, "dimension_order"), (0.1, "valiant"), (0.3, "valiant")):
        fill(window, "workload.applications.0.load", load)
        fill(window, "network.routing", routing)
        window.run("document.querySelector('form.settings').requestSubmit()")
        page.at(0)
        page.go_to(1000000)
        wait_for(lambda: not window.run("return document.getElementById('open-results').hidden"))
        window.click("#open-results")
        document = json.loads(invoke(TORUS, {"workload.applications.0.load": load, "network.routing": routing})[0])
        wait_for(lambda document=document: page.text("#digest") == document["simulation"]["digest"])
        window.click("#close-results")
    fill(window, "network.topology.widths", "[900,900]")  # more than a page can have
    window.run("document.querySelector('form.settings').requestSubmit()")
    wait_for(lambda: "memory" in page.text(".errors"))
    fill(window, "network.topology.widths", "[4,4]")
    window.run("document.querySelector('form.settings').requestSubmit()")
    wait_for(lambda: len(page.drawn()["routers"]) == 16)
    window.click("#play-again")
    assert flits_of_page(page.at(20)) == recorded
    page.leave()


def test_a_page_without_the_engine_says_why(window, tmp_path):
    (tmp_path / "pair.txt").write_text("router 0 router 1\nrouter 0 node 0\nrouter 1 node 1\n")
    (tmp_path / "pair.json").write_text(json.dumps(config_of(
        network_of({"type": "file", "file": "pair.txt"}, routing="minimal", router={"num_vcs": 2}), blast(0.1, warmup=10, sample=10))))
    subprocess.run([PROGRAM, "record", tmp_path / "pair.json", "-o", tmp_path / "run.html", "--cycles", "2"], check=True, capture_output=True)
    page = Page(window, (tmp_path / "run.html").as_uri())
    window.click("#tab-settings")
    assert "a file that the page does not hold, pair.txt" in page.text("#settings") or "without the engine" in page.text("#settings")
    assert window.run("return document.getElementById('open-gallery').hidden")
    page.leave()


def test_what_is_on_show_is_saved_with_notes_as_a_page(window, small_file):
    with viewed(window, small_file, "workload.applications.0.load=0.3") as page:
        fill(window, "network.router.num_vcs", 1)
        window.run("document.querySelector('form.settings').requestSubmit()")
        page.go_to(20)
        frame = flits_of_page(page.at(20))
        window.click("#tab-notes")
        window.type("#note-text", "Look at the middle.")
        window.click("#add-note")
        assert page.text("#caption") == "Look at the middle."
        window.click("#open-save")
        window.click("#save-picture")
        assert downloaded(window, "small-20.png").startswith(b"\x89PNG")
        window.click("#open-save")
        window.run("document.getElementById('save-cycles').value = 30")
        window.click("#save-page")
        saved = downloaded(window, "small.html")
    (small_file.parent / "saved.html").write_bytes(saved)
    page = Page(window, (small_file.parent / "saved.html").as_uri())
    assert window.run("return document.getElementById('caption').hidden")
    window.run("const speed = document.getElementById('speed'); speed.value = 60; speed.dispatchEvent(new Event('input'))")
    window.click("#play")
    assert flits_of_page(page.at(20)) == frame  # with the settings of then; and playing stopped at the note
    assert page.text("#caption") == "Look at the middle." and window.run("return document.getElementById('play').dataset.state") == "play"
    page.leave()


def test_two_runs_go_side_by_side(window, small_file):
    with viewed(window, small_file) as page:
        window.click("#tab-settings")
        fill(window, "workload.applications.0.load", 0.1)
        window.click("#run-beside")
        for tick in (30, 12):  # the past too
            page.go_to(tick)
            page.at(tick)
            wait_for(lambda: window.run("return window.flitwarp.besideTick()") == tick)
        shown, beside = ask(page.address, "frame"), ask(page.address, "frame?run=beside")
        assert shown["now"] == beside["now"] == 12 and beside["in_flight"] < shown["in_flight"]
        assert f"load 0.1 {beside['in_flight']} in flight" in page.text("#beside-label")
        assert f"as it is {shown['in_flight']} in flight" in page.text("#first-label")
        window.click("#close-beside")
        wait_for(lambda: window.run("return document.getElementById('beside').hidden"))


def test_what_the_text_speaks_of_is_tried_by_a_button(window, small_file):
    with viewed(window, small_file) as page:
        window.click("#open-gallery")
        wait_for(lambda: len(window.texts(".cards .try")) == 10)
        window.run("document.querySelector('[data-scenario=\"01_wormhole_blocking\"] ~ .try').click()")
        wait_for(lambda: ask(page.address, "scene")["router"]["num_vcs"] == 4)
        window.click("#open-gallery")
        window.run("document.querySelector('[data-scenario=\"03_torus_deadlock\"]').click()")
        wait_for(lambda: window.texts("#inspect .try") == ["Try datelines"])
        window.run("document.querySelector('#inspect .try').click()")  # it may be written anew meanwhile
        wait_for(lambda: ask(page.address, "scene")["config"]["network"]["routing"]["dateline"] == "balanced")


def test_nothing_of_a_network_before_is_written_late(window, small_file):
    with viewed(window, small_file) as page:
        window.click("#open-gallery")
        wait_for(lambda: len(window.texts(".cards .try")) == 10)
        window.run("""document.getElementById('gallery').close();
                      for (let i = 0; i < 4; i++) document.getElementById('step').click(); // what is inspected waits to be written again
                      document.querySelector('[data-scenario="03_torus_deadlock"]').click()""")
        wait_for(lambda: window.texts("#inspect .try") == ["Try datelines"])
        time.sleep(0.4)
        assert window.texts("#inspect .try") == ["Try datelines"]


def test_everything_can_be_done_from_the_keyboard(small):
    window = small.window
    window.run("document.querySelector('.skip').focus()")
    reached = []
    for _ in range(24):
        window.press("\ue004")  # Tab
        reached.append(window.run("""const at = document.activeElement;
            return [at.id, at.matches(':focus-visible') && getComputedStyle(at).outlineStyle]"""))
    names = [name for name, _ in reached]
    for name in ("search", "open-gallery", "open-tour", "open-help", "theme", "network", "zoom-in", "zoom-out", "zoom-fit", "tab-inspect",
                 "inspect", "restart", "play", "step", "step-10", "step-100", "speed", "go-to"):
        assert name in names, (name, names)
    assert all(outline == "solid" for name, outline in reached if name), reached
    small.press(".")
    assert small.at(1)
    small.press("/")
    assert window.run("return document.activeElement.id") == "search"
    window.type("#search", "1,2\ue007")
    wait_for(lambda: "Router (1,2)" in small.text("#inspect h2"))
    small.press("]")
    wait_for(lambda: "Router (2,2)" in small.text("#inspect h2"))
    small.press("0")
    whole = small.drawn()["routers"][0]["half"]
    small.press("+")
    assert small.drawn()["routers"][0]["half"] > whole
    theme = window.run("return document.documentElement.dataset.theme")
    small.press("d")
    assert window.run("return document.documentElement.dataset.theme") != theme
    small.press("?")
    assert "Play or pause" in small.text("#help[open]")
    window.run("document.getElementById('help').close()")


def test_two_dimensions_of_three_are_chosen_as_planes(window, tmp_path):
    cube = config_of(network_of({"type": "torus", "widths": [3, 3, 3]}, router={"num_vcs": 2}), blast(0.2, warmup=500, sample=100000))
    (tmp_path / "cube.json").write_text(json.dumps(cube))
    with viewed(window, tmp_path / "cube.json") as page:
        def steps():
            """From router 0 to its neighbours in each dimension, in the distance of the nearest of them."""
            places = {each["router"]: (each["x"], each["y"]) for each in page.drawn()["routers"]}
            away = [tuple(b - a for a, b in zip(places[0], places[other])) for other in (1, 3, 9)]
            unit = min(math.hypot(*each) for each in away)
            return [tuple(round(part / unit, 1) for part in each) for each in away]

        first, second, third = steps()
        assert (first, second) == ((1, 0), (0, 1)) and third[0] > 3 and third[1] == 0
        window.run("const choice = document.getElementById('plane-choice'); choice.value = 2; choice.dispatchEvent(new Event('change'))")
        wait_for(lambda: steps()[1] == (1, 0))
        assert steps()[2] == (0, 1) and steps()[0][0] > 3


CONTRAST = """
    const light = (text) => {
        const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const behind = (element) => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return colour.startsWith('rgb') ? colour : getComputedStyle(document.body).backgroundColor;
        }
    };
    return [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && !element.closest('.unseen, .skip, svg') &&
        !element.disabled && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((element) => {
            const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
            return [element.tagName + '#' + element.id + '.' + element.className, (a + 0.05) / (b + 0.05)];
        }).filter(([, ratio]) => ratio < 4.5)"""


def test_text_can_be_read_in_both_themes(small):
    small.window.click("#tab-settings")
    for _ in range(2):
        assert small.window.run(CONTRAST) == []
        small.window.click("#theme")


def test_the_page_fits_a_small_and_a_wide_screen(small):
    for width, height in ((1280, 720), (2560, 1440)):
        small.window.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        wait_for(lambda: small.window.run("return innerWidth") == width)
        assert small.window.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [width, height]
        assert len(small.drawn()["routers"]) == 9  # all of it is on the screen
    small.window.tell("Emulation.setDeviceMetricsOverride", width=1280, height=720, deviceScaleFactor=1, mobile=False)


def test_the_page_fits_a_telephone(window, small_file, tmp_path):
    """No wider than the screen, what lies over the network side by side, and a low header: live and recorded."""
    subprocess.run([PROGRAM, "record", small_file, "-o", tmp_path / "run.html", "--cycles", "5"], check=True, capture_output=True)

    def place(element):
        return window.run("const at = document.querySelector(arguments[0]).getBoundingClientRect(); return [at.left, at.right, at.height]", element)

    def fits():
        for width in (360, 390, 420):
            window.tell("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            wait_for(lambda width=width: window.run("return innerWidth") == width)
            legend, zoom = place("#legend"), place("#zoom-buttons")
            assert window.run("return document.documentElement.scrollWidth") == width
            assert legend[1] < zoom[0] and zoom[1] < width
            assert place("header")[2] < 150
            placeholder = "const at = document.getElementById('search'); return at.scrollWidth <= at.clientWidth"
            assert window.run(placeholder)  # none of it is cut off

    with viewed(window, small_file):
        fits()
    page = Page(window, (tmp_path / "run.html").as_uri())
    fits()
    page.leave()
    window.tell("Emulation.setDeviceMetricsOverride", width=1280, height=720, deviceScaleFactor=1, mobile=False)


def test_a_large_mesh_plays_and_can_be_stopped(window, tmp_path, capsys):
    """Its frame rate is printed, not asserted: other programs share these processors."""
    large = config_of(network_of({"type": "mesh", "widths": [32, 32]}, router={"num_vcs": 2, "buffer_depth": 8}),
                      blast(0.2, flits=4, warmup=1000, sample=100000))
    (tmp_path / "large.json").write_text(json.dumps(large))
    with viewed(window, tmp_path / "large.json") as page:
        page.go_to(400)
        page.at(400)
        window.run("const speed = document.getElementById('speed'); speed.value = 60; speed.dispatchEvent(new Event('input'))")
        window.click("#play")
        time.sleep(0.3)
        read = "return [window.flitwarp.drawn().frames, performance.now(), window.flitwarp.drawn().milliseconds]"
        first, start, _ = window.run(read)
        time.sleep(1.5)
        last, end, milliseconds = window.run(read)
        window.click("#play")
        assert last > first
        page.go_to(10000000)
        wait_for(lambda: window.run("return document.getElementById('play').dataset.state") == "pause")
        window.click("#play")
        wait_for(lambda: window.run("return document.getElementById('play').dataset.state") == "play")
        time.sleep(0.4)  # the step that was under way takes 0.2 s
        stopped = ask(page.address, "frame")["now"]
        time.sleep(0.3)
        assert ask(page.address, "frame")["now"] == stopped < 10000000
        with capsys.disabled():
            print(f"\n32x32 mesh at load 0.2: {1000 * (last - first) / (end - start):.0f} frames a second, {milliseconds:.1f} ms to draw one")


def test_ten_thousand_routers_can_be_dragged(window, tmp_path, capsys):
    """Its frame rate is printed, not asserted."""
    huge = config_of(network_of({"type": "mesh", "widths": [100, 100]}, router={"num_vcs": 2}), blast(0.1, warmup=100, sample=1000))
    (tmp_path / "huge.json").write_text(json.dumps(huge))
    with viewed(window, tmp_path / "huge.json") as page:
        page.drawn()
        before, after, milliseconds = window.run("""
            const place = () => { const [first] = window.flitwarp.drawn().routers; return [first.x, first.y]; };
            const before = place(), start = performance.now();
            return new Promise((done) => {
                let moves = 0;
                const move = () => {
                    if (moves++ === 60) {
                        const took = performance.now() - start;
                        done([before, place(), took]);
                        return;
                    }
                    window.flitwarp.pan(1, 1);
                    requestAnimationFrame(move);
                };
                move();
            })""")
        assert [round(b - a) for a, b in zip(before, after)] == [60, 60]
        with capsys.disabled():
            print(f"\n100x100 mesh, dragged: {60000 / milliseconds:.0f} frames a second")

# SPDX-License-Identifier: Apache-2.0
"""What the viewer shows is what the engine does: digests, flits, deadlocks, settings, results and recordings."""
import base64
import gzip
import json
import math
import re
import subprocess
import sys

import pytest

from support import PROGRAM, ROOT, config_of, network_of, shorter
from viewed import View

EXAMPLES = ROOT / "examples"
SCENARIOS = sorted((EXAMPLES / "view").glob("*.json"))
# One of each kind of router, topology and application.
ALSO = ["alltoall", "butterfly", "dragonfly_ugal", "hyperx_omniwar", "megafly", "packet_dragonfly", "planes", "request_reply",
        "stencil", "torus_adaptive", "virtual_cut_through", "voq_islip"]


def run(*arguments):
    ended = subprocess.run([PROGRAM, "run", *map(str, arguments), "--quiet"], capture_output=True, text=True, check=False)
    return json.loads(ended.stdout), ended.stderr


# ---- the same run ----

@pytest.mark.parametrize("config", [*SCENARIOS, *(EXAMPLES / f"{name}.json" for name in ALSO)], ids=lambda path: path.stem)
def test_stepping_gives_the_digest_of_a_run(config):
    few = shorter(config)
    expected, _ = run(config, *few)
    with View(config, *few) as view:
        for cycles in (1, 2, 13, 211, 97):
            view.post("api/step?routers=0", cycles=cycles)
        frame = view.step_to_end(cycles=1789)
        results = view.get("api/run-results")["results"]
    assert frame["outcome"] == expected["outcome"]
    assert results["simulation"]["digest"] == expected["simulation"]["digest"]
    assert results["applications"] == expected["applications"]


def test_results_are_there_once_the_run_is_over():
    with View(SCENARIOS[2]) as view:
        assert view.get("api/run-results") == {"ok": False, "errors": ["the run has not ended yet"]}
        view.step_to_end()
        assert view.get("api/run-results")["ok"]


# ---- flits where they are ----

def walk(config, packet):
    """Where each flit of a packet is, by `flitwarp trace`: [flit, router or None, port, vc, sent, arrives, leaves]."""
    text = subprocess.run([PROGRAM, "trace", str(config), "--packet", packet], capture_output=True, text=True, check=True).stdout
    stays, current = [], {}
    for line in text.splitlines()[1:]:
        tick, place, stage, what = line.split(maxsplit=3)
        if stage == "inject":
            flit = int(re.match(r"flit (\d+)", what)[1])
            current[flit] = {"flit": flit, "from": place, "sent": int(tick), "arrives": int(tick) + 1}
        elif stage == "traverse":
            flit, port, vc, arrives = map(int, re.match(r"flit (\d+) by port (\d+) vc (\d+), arrives at (\d+)", what).groups())
            stays.append({**current[flit], "at": place, "leaves": int(tick)})
            current[flit] = {"flit": flit, "from": place, "port": port, "vc": vc, "sent": int(tick), "arrives": arrives}
    return stays + [{**last, "at": None, "leaves": last["arrives"]} for last in current.values()]


def test_frames_show_each_flit_of_a_packet_where_its_trace_has_it():
    config, packet = SCENARIOS[0], "3.0"
    stays = walk(config, packet)
    last = max(stay["leaves"] for stay in stays)
    assert len(stays) > 12 * 3
    with View(config) as view:
        scene = view.get("api/scene")
        names, channels = scene["names"], scene["channels"]
        everywhere = ",".join(map(str, range(len(names))))
        for now in range(1, last + 2):
            frame = view.post(f"api/step?routers={everywhere}", cycles=1)
            assert frame["now"] == now
            shown = {(flit, names[channels["from"][channel]] if channel < len(channels["from"]) else "terminal")
                     for channel, _, name, flit, _, _ in frame["links"] if name == packet and
                     (channel < len(channels["from"]) or (channel - len(channels["from"])) % 2 == 0)}
            expected = {(stay["flit"], stay["from"]) for stay in stays if stay["sent"] < now <= stay["arrives"] and stay["at"]}
            assert shown == expected, now
            held = {(first + i, names[int(router)]) for router, state in frame["detail"].items() for lane in state["inputs"]
                    for name, first, _, count in lane["flits"] if name == packet for i in range(count)}
            assert held == {(stay["flit"], stay["at"]) for stay in stays
                            if stay["arrives"] < now <= stay["leaves"] and stay["at"]}, now
            crossed = {(names[int(router)], tuple(way)) for router, state in frame["detail"].items() for way in state["crossbar"]}
            for stay in stays:  # what left its buffer in the last tick
                if stay["at"] and stay["leaves"] == now - 1:
                    onward = next(s for s in stays if s["flit"] == stay["flit"] and s["from"] == stay["at"])
                    assert any(where == stay["at"] and way[1:] == (onward["port"], onward["vc"]) for where, way in crossed), now


def test_a_packets_path_is_that_of_its_trace():
    config, packet = SCENARIOS[0], "3.0"
    heads = [stay for stay in walk(config, packet) if stay["flit"] == 0]
    with View(config) as view:
        names = view.get("api/scene")["names"]
        view.post("api/step", until=heads[-1]["arrives"])
        shown = view.get(f"api/packet?id={packet}")
    assert [(names[router], tick) for router, tick, _, _ in shown["path"]] == [(h["at"], h["arrives"]) for h in heads if h["at"]]
    assert shown["source"] == 3 and shown["destination"] == 13 and shown["size"] == 12 and shown["entered"] == 26


def test_steps_to_the_next_event_of_a_packet_stop_where_its_trace_does():
    config, packet = SCENARIOS[0], "3.0"
    stays = walk(config, packet)
    # A flit moves when it is sent, and when it arrives: the tick is over in the first frame behind it.
    ticks = sorted({stay["sent"] + 1 for stay in stays} | {stay["arrives"] + 1 for stay in stays})
    with View(config) as view:
        assert [view.post("api/step", packet=packet)["now"] for _ in ticks[:20]] == ticks[:20]


def test_a_packet_that_has_arrived_is_said_to_be():
    config, packet = SCENARIOS[0], "3.0"
    last = max(stay["arrives"] for stay in walk(config, packet))
    with View(config) as view:
        view.post("api/step", until=last + 1)
        told = {"ok": False, "errors": [f"packet {packet} has arrived, in tick {last}"]}
        assert view.get(f"api/packet?id={packet}") == told
        assert view.post("api/step", packet=packet) == told
        assert view.get("api/frame")["now"] == last + 1
        assert "there is no terminal 25" in view.get("api/packet?id=25.0")["errors"][0]


# ---- deadlock ----

def test_a_deadlocks_cycle_is_the_one_that_a_run_prints():
    _, report = run(SCENARIOS[2])
    tick = int(re.search(r"deadlock at tick (\d+)", report)[1])
    printed = [(name, holds.split(", "), wants) for name, holds, wants in
               re.findall(r"packet (\S+) .* holds (.+) and wants (.+ vc \d+) \(packet", report)]
    with View(SCENARIOS[2]) as view:
        scene = view.get("api/scene")
        frame = view.step_to_end()
    channels, names, terminals = scene["channels"], scene["names"], scene["terminals"]

    def name(channel):
        count = len(channels["from"])
        if channel < count:
            return f"{names[channels['from'][channel]]}->{names[channels['to'][channel]]}"
        seat, out = divmod(channel - count, 2)
        ends = [f"terminal {terminals['terminal'][seat]}", names[terminals["router"][seat]]]
        return "->".join(reversed(ends) if out else ends)

    shown = []
    for wait in frame["deadlock"]["packets"]:  # lanes of one packet come one after the other
        holds, wants = (f"{name(channel)} vc {vc}" for channel, vc in ((wait["holds"], wait["vc"]), wait["wants"][0]))
        before = shown.pop()[1] if shown and shown[-1][0] == wait["packet"] else []
        shown.append((wait["packet"], before + [holds], wants))
    assert frame["now"] == frame["deadlock"]["tick"] == tick
    assert len(shown) == 5 and shown == printed


# ---- scenes ----

def test_scenarios_say_what_they_are_and_open():
    with View(SCENARIOS[0]) as view:
        gallery = view.get("api/gallery")["scenarios"]
        assert [scenario["name"] for scenario in gallery] == [path.stem for path in SCENARIOS] and len(gallery) == 10
        for scenario in gallery:
            (offer,) = scenario["tries"]  # and what it offers is accepted, whatever the page makes of it
            assert offer["text"].startswith("Try ") and view.post("api/open", scenario=scenario["name"])["tries"] == [offer]
            assert view.post("api/restart", overrides=offer["overrides"])["ok"], offer
            assert scenario["title"] and scenario["about"].count(".") >= 2
            scene = view.post("api/open", scenario=scenario["name"])
            assert scene["title"] == scenario["title"] and scene["tick"] == 0
            routers = scene["topology"]["routers"]
            places = list(zip(scene["layout"]["x"], scene["layout"]["y"]))
            assert len(places) == len(set(places)) == len(scene["names"]) == routers
        assert view.post("api/open", scenario="../x")["ok"] is False


def test_titles_come_from_comments():
    with View(SCENARIOS[2]) as view:
        scene = view.get("api/scene")
        assert scene["title"] == "Deadlock on a torus" and scene["about"].startswith("Rings without datelines")
    with View(EXAMPLES / "alltoall.json") as view:
        scene = view.get("api/scene")
        assert scene["title"] == "alltoall.json" and scene["about"].startswith("Every terminal of a torus sends")
        assert scene["about"].endswith("shows what happens otherwise.")  # up to an empty line
    with View(SCENARIOS[8]) as view:
        scene = view.get("api/scene")
        assert scene["title"] == "A Slim Fly: everybody two channels away" and scene["about"].startswith("50 routers with 7 channels")


def test_an_application_that_cannot_go_on_says_why(tmp_path):
    (tmp_path / "one.goal").write_text("num_ranks 2\nrank 0 {\n a: recv 8b from 1 tag 7\n}\nrank 1 {\n}\n")
    config = config_of(network_of({"type": "mesh", "widths": [2]}), {"type": "trace", "file": str(tmp_path / "one.goal")})
    (tmp_path / "stuck.json").write_text(json.dumps(config))
    with View(tmp_path / "stuck.json") as view:
        assert view.get("api/frame")["report"] is None
        frame = view.step_to_end()
        assert frame["outcome"] == "stuck" and frame["deadlock"] is None
        assert "rank 0: task 0 (receive of 8 bytes from rank 1, tag 7) waits for a message of rank 1, which has ended" in frame["report"]
    if record(tmp_path / "stuck.json", "-o", tmp_path / "stuck.html").returncode == 0:  # 3: built without the page
        _, frames = unpack((tmp_path / "stuck.html").read_text())
        assert frames[-1]["report"] == frame["report"] and "report" not in frames[0]


def test_layouts_are_those_of_the_topologies(tmp_path):
    jellyfish = {"network": {"topology": {"type": "jellyfish"}, "routing": "minimal", "router": {"type": "input_queued", "num_vcs": 4}}}
    (tmp_path / "jellyfish.json").write_text(json.dumps(jellyfish))
    with View(tmp_path / "jellyfish.json") as view:
        layout = view.get("api/scene")["layout"]
        assert layout["style"] == "force"
        places = list(zip(layout["x"], layout["y"]))
        apart = [math.dist(one, other) for i, one in enumerate(places) for other in places[:i]]
        assert min(apart) == pytest.approx(1, abs=0.01) and max(apart) > 3
        for scenario, style in (("02_tornado_torus", "grid"), ("04_valiant_dragonfly", "groups"), ("10_clos_up_down", "levels")):
            assert view.post("api/open", scenario=scenario)["layout"]["style"] == style
        layout = view.post("api/open", scenario="09_slim_fly")["layout"]
    assert layout["style"] == "blocks"  # two of 5 x 5, groups as columns: all of a group have the same x
    assert len(set(zip(layout["group"], layout["x"]))) == 10 and len(set(layout["x"])) == 10 and len(set(layout["y"])) == 5
    columns = sorted(set(layout["x"]))
    assert columns[5] - columns[4] > 1 and all(columns[i + 1] - columns[i] == 1 for i in (0, 1, 2, 3, 5, 6, 7, 8))


def test_a_scene_tells_what_has_failed(tmp_path):
    """Routers stand where they do without failures; a slow link is two channels."""
    network = {"topology": {"type": "mesh", "widths": [3, 3]}, "routing": "minimal", "router": {"num_vcs": 4}}
    failures = {"links": [{"list": [[0, 1], [4, 7]]}, {"list": [[1, 2]], "bandwidth": 0.25}]}
    whole, left = tmp_path / "whole.json", tmp_path / "left.json"
    whole.write_text(json.dumps({"network": network}))
    left.write_text(json.dumps({"network": {**network, "failures": failures}}))
    with View(whole) as view:
        before = view.get("api/scene")
    with View(left) as view:
        scene = view.get("api/scene")
    assert "dead" not in before and scene["layout"] == before["layout"] and scene["names"] == before["names"]
    assert sorted(zip(scene["dead"]["from"], scene["dead"]["to"])) == [(0, 1), (4, 7)]
    ends = [(scene["channels"]["from"][channel], scene["channels"]["to"][channel]) for channel in scene["slow"]["channel"]]
    assert sorted(ends) == [(1, 2), (2, 1)] and scene["slow"]["share"] == [0.25, 0.25]
    assert len(scene["channels"]["from"]) == len(before["channels"]["from"]) - 4


def test_channels_join_the_routers_that_flitwarp_topology_says(tmp_path):
    subprocess.run([PROGRAM, "topology", str(SCENARIOS[8]), "--export", str(tmp_path / "links.csv")], check=True,
                   capture_output=True)
    rows = [line.split(",") for line in (tmp_path / "links.csv").read_text().splitlines()[1:]]
    linked = sorted(sorted((int(row[0][1:]), int(row[1][1:]))) for row in rows if row[0][0] == row[1][0] == "r")
    with View(SCENARIOS[8]) as view:
        channels = view.get("api/scene")["channels"]
    pairs = list(zip(channels["from"], channels["to"]))
    assert len(linked) == 50 * 7 // 2  # of a Slim Fly of q 5: (3 q - 1) / 2 channels at each router
    assert sorted(sorted(pair) for pair in pairs) == sorted(linked * 2)
    back = dict(zip(zip(channels["from"], channels["from_port"]), zip(channels["to"], channels["to_port"])))
    assert all(back[there] == here for here, there in back.items())


# ---- settings ----

def test_forms_come_from_the_option_tables():
    with View(SCENARIOS[0]) as view:
        forms = {form["path"]: form for form in view.get("api/options")["forms"]}
    load = forms["workload.applications.0.load"]
    assert load["type"] == "number" and load["value"] == 0.35 and load["min"] == 0
    assert forms["simulator.seed"]["type"] == "integer" and "simulator.threads" not in forms
    assert "valiant" in forms["network.routing"]["choices"] and forms["network.routing"]["value"] == "dimension_order"
    assert "uniform_random" in forms["workload.applications.0.traffic"]["choices"]
    assert forms["network.router.num_vcs"]["max"] == 64 and forms["network.router.buffer_depth"]["unit"] == "flits"
    assert forms["workload.applications.0.size.flits"]["value"] == 12
    assert forms["network.topology.widths"]["value"] == "[5, 5]"


def test_every_form_sends_back_what_it_shows():
    with View(SCENARIOS[6]) as view:
        settings = view.get("api/scene")["config"]
        same = [f"{form['path']}={form['value'] if isinstance(form['value'], str) else json.dumps(form['value'])}"
                for form in view.get("api/options")["forms"]]
        scene = view.post("api/restart", overrides=same)
        assert scene["ok"], scene
        assert scene["config"] == settings


def test_restarting_keeps_the_command_lines_settings_and_tells_errors():
    with View(SCENARIOS[0], "simulator.seed=5") as view:
        view.post("api/step", cycles=30)
        scene = view.post("api/restart", overrides=["workload.applications.0.load=0.1"])
        assert scene["tick"] == 0 and scene["config"]["simulator"]["seed"] == 5
        assert scene["config"]["workload"]["applications"][0]["load"] == 0.1
        wrong = view.post("api/restart", overrides=["network.routing=valian"])
        assert not wrong["ok"] and "did you mean 'valiant'" in wrong["errors"][0]
        assert view.get("api/scene")["config"]["workload"]["applications"][0]["load"] == 0.1
        assert view.post("api/restart", overrides=[1])["ok"] is False


def test_series_have_a_point_for_each_window():
    with View(SCENARIOS[5]) as view:
        view.post("api/step", cycles=350)
        series = view.get("api/series")
        assert series["time"] == [100, 200, 300]
        assert view.get("api/series?from=2")["time"] == [300]
        assert all(len(series[key]) == 3 for key in ("latency", "accepted", "offered", "in_flight"))
        # One flit a cycle leaves by the exit; offered are 0.5 by each terminal but the one at the exit.
        assert series["accepted"][2] == pytest.approx(1 / 8, abs=0.005)
        assert series["offered"][2] == pytest.approx(0.5 * 7 / 8, abs=0.1)


def test_series_of_long_runs_have_longer_windows():
    """After 2000 points they are joined by twos, so that a page that is left open does not grow without end."""
    with View(SCENARIOS[5], "workload.applications.0.sample=1000000") as view:
        while (frame := view.post("api/step", until=200150))["more"]:
            pass
        assert frame["now"] == 200150
        series = view.get("api/series")
        assert series["window"] == 200 and series["time"] == list(range(200, 200001, 200))
        assert len(series["latency"]) == 1000 and series["accepted"][500] == pytest.approx(1 / 8, abs=0.005)
        view.post("api/step", until=200400)
        assert view.get("api/series?from=1000")["time"] == [200200, 200400]


# ---- results ----

def test_results_documents_are_shown(tmp_path):
    expected, _ = run(SCENARIOS[0], *shorter(SCENARIOS[0]))
    for name in ("one.json", "other.json"):
        (tmp_path / name).write_text(json.dumps(expected))
    with View(tmp_path / "one.json", tmp_path / "other.json") as view:
        assert view.get("api/scene") == {"ok": True, "kind": "results"}
        documents = view.get("api/results")["documents"]
        assert [document["name"] for document in documents] == ["one.json", "other.json"]
        assert documents[1]["results"] == expected
        assert view.get("api/frame")["ok"] is False


def test_studies_are_shown(tmp_path):
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]
    from made_study import make_study
    make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]}, loads=(0.1, 0.25))
    with View(tmp_path / "study.sqlite") as view:
        documents = view.get("api/results")["documents"]
    assert [(d["line"], d["x"], d["variables"]["VCs"]) for d in documents] == [(0, 0.1, 2), (0, 0.25, 2), (1, 0.1, 4), (1, 0.25, 4)]
    assert documents[1]["results"]["applications"][0]["target_load"] == 0.25


def test_a_file_that_is_no_study_is_refused(tmp_path):
    (tmp_path / "wrong.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    ended = subprocess.run([PROGRAM, "view", str(tmp_path / "wrong.sqlite"), "--no-open"], capture_output=True, text=True,
                           timeout=30, check=False)
    assert ended.returncode == 1 and "wrong.sqlite: is no study of flitwarp" in ended.stderr


# ---- recordings ----

def unpack(page):
    """The scene and the frames of a recording, with what a frame leaves out put back: flits on channels and lanes."""
    text = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.S)[1]
    recording = json.loads(text)
    frames = []
    for chunk in recording["chunks"]:
        links, lanes = [], {}
        for frame in json.loads(gzip.decompress(base64.b64decode(chunk))):
            links = [link for link in links if link[5] >= frame["now"]] + frame["links"]
            for router, inputs, _, _ in frame.get("detail", []):
                lanes.update({(router, lane[0]): lane[4] for lane in inputs})
            frames.append({**frame, "links": list(links), "lanes": {at: flits for at, flits in lanes.items() if flits}})
    return recording, frames


def record(*arguments):
    return subprocess.run([PROGRAM, "record", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_a_recording_holds_what_the_viewer_shows(tmp_path):
    page = tmp_path / "run.html"
    ended = record(SCENARIOS[0], "-o", page, "--cycles", "70", "--from", "100")
    if ended.returncode == 3 and "without the viewer's page" in ended.stderr:
        pytest.skip("flitwarp is built without the viewer's page")
    assert ended.returncode == 0, ended.stderr
    text = page.read_text()
    recording, frames = unpack(text)
    assert 'src="app.js"' not in text and 'href="app.css"' not in text and "http://" not in text.split("<script")[0]
    assert [frame["now"] for frame in frames] == list(range(100, 171)) and recording["frames"] == 71
    with View(SCENARIOS[0]) as view:
        scene = view.get("api/scene")
        assert all(recording[key] == scene[key] for key in ("channels", "terminals", "names", "layout", "router"))
        everywhere = ",".join(map(str, range(25)))
        shown = view.post(f"api/step?routers={everywhere}", until=100)
        for frame in frames:
            assert frame["in_flight"] == shown["in_flight"] and frame["delivered"] == shown["delivered"]
            assert sorted(link[:5] for link in frame["links"]) == sorted(link[:5] for link in shown["links"])
            lanes = {(int(router), lane["lane"]): [word for run in lane["flits"] for word in run]
                     for router, state in shown["detail"].items() for lane in state["inputs"] if lane["flits"]}
            assert frame["lanes"] == lanes
            shown = view.post(f"api/step?routers={everywhere}", cycles=1)


def test_a_recording_is_whole_whatever_its_settings_say(tmp_path):
    config = json.loads(re.sub(r"^//.*$", "", SCENARIOS[0].read_text(), flags=re.M))
    config["workload"]["applications"][0]["name"] = "<!--<script></script>"
    (tmp_path / "odd.json").write_text("// <!-- <script> & co\n" + json.dumps(config))
    ended = record(tmp_path / "odd.json", "-o", tmp_path / "odd.html", "--cycles", "5")
    if ended.returncode == 3 and "without the viewer's page" in ended.stderr:
        pytest.skip("flitwarp is built without the viewer's page")
    assert ended.returncode == 0, ended.stderr
    text = (tmp_path / "odd.html").read_text()
    data = re.search(r'<script type="application/json" id="recording">(.*?)</script>', text, re.S)[1]
    assert "<" not in data
    recording, frames = unpack(text)
    assert recording["title"] == "<!-- <script> & co" and len(frames) == 6
    assert recording["config"]["workload"]["applications"][0]["name"] == "<!--<script></script>"
    assert re.search(r"Content-Security-Policy\" content=\"default-src 'none';", text)


@pytest.mark.parametrize("arguments, message", [
    (["-o", "x.html"], "no configuration"),
    ([SCENARIOS[0]], "-o FILE.html is missing"),
    ([SCENARIOS[0], "-o", "x.html", "--cycles", "0"], "--cycles 0; accepted: 1 to 100000"),
    ([SCENARIOS[0], "-o", "x.html", "--from", "x"], "--from x; accepted"),
    ([SCENARIOS[0], "network.router.num_vcs=0", "-o", "x.html"], "network.router.num_vcs"),
])
def test_wrong_recordings_are_told_so(arguments, message):
    ended = record(*arguments)
    assert ended.returncode == 1 and message in ended.stderr

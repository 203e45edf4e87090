# SPDX-License-Identifier: Apache-2.0
"""A device gives what the program gives, to the last byte: every example, every benchmark with a short window, and networks and
traffic that are drawn. What a device refuses says so before the run, and what is in scope is found by asking."""
import json
import os
import random
import re
import subprocess
import sys

import pytest

from on_device import AS_USUAL, LOGS, check, compare, compare_together, device, run  # noqa: F401
from support import PROGRAM, ROOT, schema, shorter

sys.path.insert(0, str(ROOT / "tests" / "contract"))
import test_everything_runs as everything  # noqa: E402

FILES = sorted(path for folder in ("examples", "bench") for path in (ROOT / folder).glob("**/*.json")
               if path.parent.name != "parts" and re.search(r'"(network|model)"\s*:', path.read_text()))


# Of many routers, which take long on a processor: the same in small.
DRAGONFLY = 'network.topology={"type":"dragonfly","terminals":2,"routers":4,"global":2}'
TORUS_4D = "network.topology.widths=[4,4,4,4]"
SMALLER = {"mesh_256": "network.topology.widths=[16,64]", "idle_256": "network.topology.widths=[64,16]", "mesh_128": "network.topology.widths=[16,32]",
           "mesh_32x32": "network.topology.widths=[16,16]", "mesh_32": "network.topology.widths=[16,16]", "torus_4d": TORUS_4D, "torus_65536": "network.topology.widths=[4,4,4,8]",
           "packet_torus_4d": TORUS_4D, "dragonfly": DRAGONFLY, "dragonfly_16512": DRAGONFLY, "packet_dragonfly": DRAGONFLY}
# PoCL's compiler does its utmost for one network of each kind: the general and the usual router, with sensors and without, and packets.
AT_THEIR_BEST = {"mesh_8x8", "dragonfly", "packet_torus_4d"}
# A packet of 64 flits needs as many ticks as it has to arrive at all.
LONGER = {"packet_torus_4d": 300, "packet_dragonfly": 300, "packet": 300}


def short(path):
    """Overrides for a short run of a benchmark or of an example; a model has none."""
    if not re.search(r'"network"\s*:', path.read_text()):
        return []
    window = 300 if "examples" in path.parts else LONGER.get(path.stem, 60)
    return [*filter(None, [SMALLER.get(path.stem)]), *(re.sub(r"=\d+$", f"={window}", one) for one in shorter(str(path))),
            f"workload.check_interval={window // 3}"]


# Those that a device runs. Of the others it must say what is in the way: a device that refuses all would differ in nothing.
RUN_THERE = """
    bench: dragonfly growth/idle_256 growth/mesh_128 growth/mesh_256 growth/mesh_32 growth/mesh_8 mesh_32x32 mesh_8x8 scaling/dragonfly_16512
    bench: packet_dragonfly packet_torus_4d scaling/torus_65536 short/mesh short/packet torus_16x16 torus_4d
    examples: butterfly deadlock_torus dragonfly dragonfly_2d duato fat_tree hypercube hyperx hyperx_omniwar mesh_transpose_o1turn network_file
    examples: megafly odd_even packet_dragonfly request_reply slim_fly torus_adaptive torus_uniform virtual_cut_through view/01_wormhole_blocking view/02_tornado_torus
    examples: view/04_valiant_dragonfly view/05_hotspot view/07_duato_escape view/09_slim_fly
"""
RUN_THERE = {ROOT / folder.strip() / f"{name}.json" for folder, _, names in (line.partition(":") for line in RUN_THERE.split("\n")) for name in names.split()}


def test_files_that_a_device_runs_are_there():
    assert len(RUN_THERE) == 41 and RUN_THERE <= set(FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_gives_the_same_or_is_refused_with_its_setting(path, device, tmp_path, monkeypatch):  # noqa: F811
    overrides = short(path)
    if path.stem in AT_THEIR_BEST:
        monkeypatch.setenv("POCL_EXTRA_BUILD_FLAGS", AS_USUAL)
    status, said = check(path, device, *overrides)
    refusal = compare(path, tmp_path, device, *overrides)
    if status == 1:
        assert path not in RUN_THERE, said
        assert re.match(r"([^ ]*:\d+|command line): (network|workload|simulator)[\w.\[\]]*: .*device", said) and refusal == said
    else:
        assert f"device: {device.partition(':')[2]} (" in said and refusal is None


@pytest.mark.parametrize("name", ["torus_uniform", "virtual_cut_through", "fat_tree", "duato"])
def test_team_of_work_items_does_what_one_does(name, device, tmp_path):  # noqa: F811
    """As on a GPU, where several go through the stages of a router: of the usual and of the general variant, and with sensors."""
    assert compare(ROOT / "examples" / f"{name}.json", tmp_path, device, "simulator.device_team=4") is None


@pytest.mark.parametrize("router", [{}, {"type": "packet", "buffer_depth": 8}], ids=["input_queued", "packet"])
def test_deadlock_of_routers_with_more_lanes_than_a_word_is_told_as_here(router, device, tmp_path):  # noqa: F811
    config = json.loads(re.sub(r"//.*", "", (ROOT / "examples" / "deadlock_torus.json").read_text()))
    config["network"]["router"] |= {"num_vcs": 2, **router}
    config["network"]["topology"] |= {"widths": [5], "concentration": 31}
    path = everything.write(config, tmp_path)
    assert compare(path, tmp_path, device) is None
    assert run(path, tmp_path, "--device", device).said.startswith("deadlock at tick ")


@pytest.mark.parametrize("router", [{"type": "input_queued"}, {"type": "input_queued", "cycle": 3, "routing_latency": 2}, {"type": "packet"}],
                         ids=["usual", "general", "packet"])
def test_steps_that_a_deadlock_comes_before_do_not_count(router, device, tmp_path):  # noqa: F811
    """Part of the network stands still and the rest goes on, so that some are due to step when the run ends."""
    network = {"topology": {"type": "torus", "widths": [5, 5]}, "routing": {"type": "dimension_order", "dateline": "none"}, "deadlock_interval": 20,
               "router": {**router, "num_vcs": 1, "buffer_depth": 2}}
    blast = {"type": "blast", "load": 0.5, "size": {"type": "fixed", "flits": 2}, "warmup": 200, "sample": 200}
    path = everything.write({"network": network, "workload": {"applications": [blast], "check_interval": 20}}, tmp_path)
    assert compare(path, tmp_path, device) is None
    assert re.match(r"deadlock at tick \d+: packets in \d+ buffers can never move again", run(path, tmp_path, "--device", device).said)


# ---- what is drawn -----------------------------------------------------------------------------------------------------------------

# A chunk is of one routing algorithm on one network, for which the device's compiler works once: that takes longer than all of its runs.
CHUNKS, IN_A_CHUNK = int(os.environ.get("FLITWARP_DEVICE_CHUNKS", 10)), 20
PACKET_CHUNKS = CHUNKS // 2  # of packet routers, behind the others
MOST_TRIES = 40 * IN_A_CHUNK
LARGER = {"mesh": [{"widths": [7, 6]}, {"widths": [4, 4, 3]}], "torus": [{"widths": [8, 5]}, {"widths": [3, 3, 3], "concentration": 2}],
          "dragonfly": [{"terminals": 2, "routers": 4, "global": 2}], "hyperx": [{"widths": [4, 4], "concentration": 2}]}


def with_form(kind):
    listed = json.loads(subprocess.run([PROGRAM, "list", kind, "--json"], capture_output=True, text=True, check=True).stdout)
    return [entry["name"] for entry in listed if entry["device"]]


DEFINITIONS = schema()["$defs"]
FORMS = {kind: with_form(kind) for kind in ("routing", "traffic", "injection", "size")}


def some_with_form(draw, kind):
    """As its example has it, or by its name where it has no settings that it needs."""
    name = draw.choice(FORMS[kind])
    is_complete = "required" not in DEFINITIONS[f"{kind}.{name}"]
    return name if is_complete and draw.random() < 0.5 else everything.registered()[kind][name]


def some_words(draw, kind, name):
    """Settings that take one of a few words, or true or false, now and then with another than is usual."""
    rows = DEFINITIONS[f"{kind}.{name}"].get("properties", {})
    chosen = {}
    for key, row in rows.items():
        words = [word for form in [row, *row.get("anyOf", [])] for word in form.get("enum", [True, False] if form.get("type") == "boolean" else [])]
        if key != "type" and words and draw.random() < 0.3:
            chosen[key] = draw.choice(words)
    return chosen


def some_routers(draw, router, is_usual, packet):
    """Of a network that has some settings already; the usual ones are compiled apart."""
    if router["type"] == "packet":
        drawn = {**everything.packet_router(draw, router["num_vcs"], packet), **router}
        drawn["delay"] = {1200: 90}.get(drawn["delay"], drawn["delay"])  # for here every tick takes its time
        return drawn if "chunk" in drawn else {**drawn, "queueing": draw.choice(["by_input", "by_output"])}
    drawn = everything.input_queued(draw, router["num_vcs"], packet)
    drawn |= {"allocator": "round_robin", "vc_allocator": "round_robin", "arbiter": "round_robin", "input_speedup": 1, "output_speedup": 1}
    for key in ("buffer_exclusive", "buffer_maximum"):
        drawn.pop(key, None)
    if is_usual:
        drawn |= {"cycle": 1, "routing_latency": 0, "vc_needs_credit": False, "crossbar_flow": "flit_buffer", "switching": "wormhole"}
    elif drawn["crossbar_flow"] == "flit_buffer":
        drawn |= {"vc_needs_credit": True}
    return {**drawn, **router}


def some_application(draw, packet):
    application = {
        "type": "blast", "load": draw.choice([0.02, 0.1, 0.3, 0.6, 1]), "traffic": some_with_form(draw, "traffic"),
        "injection": some_with_form(draw, "injection"), "max_packet": draw.choice([packet, 64, 64]),
        "size": draw.choice([{"type": "fixed", "flits": packet}, {"type": "uniform", "max": packet}, some_with_form(draw, "size")]),
        "warmup": draw.choice([0, 100, 200]), "finish_limit": draw.choice([200, 5000]),
        **draw.choice([{"sample": 300}, {"sample": 77}, {"sample": "auto", "min_sample": 200, "max_sample": 600}]),
    }
    if draw.random() < 0.2:
        application["reply"] = draw.choice([{"type": "fixed", "flits": 2 * packet}, some_with_form(draw, "size")])
        application["reply_delay"] = draw.choice([0, 0, 7, 500])
    return application


def some_network(draw, chunk):
    """What the device's compiler sees of a network. Each algorithm has its turn."""
    number, chunks, router = (chunk, CHUNKS, "input_queued") if chunk < CHUNKS else (chunk - CHUNKS, PACKET_CHUNKS, "packet")
    routing = FORMS["routing"][number * len(FORMS["routing"]) // chunks]
    topology = draw.choice(sorted(everything.FITS.get(routing, everything.ANY) - {"file"}))
    classes = draw.choice([{}, {}, {"protocol_classes": 2}])
    return {
        "topology": draw.choice([{"type": topology, **form} for form in LARGER.get(topology, [])] + everything.shapes_of(topology)),
        "routing": draw.choice([{"type": routing, **some_words(draw, "routing", routing)}, routing, everything.registered()["routing"][routing]]),
        "router": {"type": router, "num_vcs": draw.choice([1, 2, 3, 4, 6, 8]) * len({"", *classes}), "congestion": everything.some_sensor(draw)},
        "interface": {"type": "standard", "injection_channels": draw.choice([1, 1, 2]), "ejection_channels": draw.choice([1, 1, 2])},
        "deadlock_interval": 100, "flit_bytes": 32, **classes,
    }


def some_config(draw, network, is_usual):
    packet = draw.choice([1, 1, 2, 4, 9])
    applications = [some_application(draw, packet) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    for number, one in enumerate(applications):
        if number and draw.random() < 0.5:
            one["allocation"] = {"type": "random", "count": 2}
        if "protocol_classes" in network:
            one["protocol_class"] = number % 2
    cycles = [{}, {}, {"cycle": 2}, {"cycles": [3]}]
    return {
        "simulator": {"seed": draw.randint(0, 10**9)},
        "network": {
            **network, "router": some_routers(draw, network["router"], is_usual, packet),
            "interface": {**network["interface"], "latency": draw.choice([0, 0, 2])},
            "channel": {"latency": draw.choice([1, 1, 2, 5, 70]), **draw.choice(cycles[:1] if is_usual else cycles)},
            "terminal_channel": {"latency": draw.choice([1, 1, 3]), "cycle": draw.choice([1] if is_usual else [1, 1, 2])}},
        "workload": {"applications": applications, "check_interval": draw.choice([50, 100]), "per_channel": draw.random() < 0.3,
                     "per_terminal": draw.random() < 0.3, "series_interval": draw.choice([0, 0, 0, 30, 1000])},
    }


def network_that_runs(draw, chunk, folder, device):  # noqa: F811
    for _ in range(MOST_TRIES):
        network = some_network(draw, chunk)
        path = everything.write({"network": network, "workload": {"applications": [{"type": "blast"}]}}, folder)
        if check(path, device)[0] != 1:
            return network
    pytest.fail(f"none of {MOST_TRIES} networks runs on a device")


@pytest.mark.parametrize("chunk", range(CHUNKS + PACKET_CHUNKS))
def test_whatever_is_drawn_gives_the_same(chunk, device, tmp_path):  # noqa: F811
    """Those that are refused, here or by the device, do not count. They run together, by twos and more."""
    draw, cases = random.Random(f"device {chunk}"), []
    (tmp_path / "sizes.csv").write_text("1,3\n4,1\n")  # that an example names
    network, is_usual = network_that_runs(draw, chunk, tmp_path, device), chunk % 2 == 0
    for number in range(MOST_TRIES):
        path = everything.write(some_config(draw, network, is_usual), tmp_path).rename(tmp_path / f"{number}.json")
        logs = [flag for flag in LOGS if draw.random() < 0.1]
        if check(path, device)[0] != 1:
            cases.append((path, [], logs))
        if len(cases) == IN_A_CHUNK:
            break
    ended = compare_together(cases, tmp_path, device)
    assert len(ended) == IN_A_CHUNK, f"only {len(ended)} of {MOST_TRIES} that were drawn run on a device"
    assert sum(int(one.results["simulation"]["device"]["runs"]) > 1 for one in ended) > IN_A_CHUNK / 2

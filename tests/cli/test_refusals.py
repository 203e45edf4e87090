# SPDX-License-Identifier: Apache-2.0
"""Wrong settings are refused before anything runs: exit status 1 (3 where files cannot be written), a message that
names the place and what is accepted, and no file left behind. Half of the cases are made from the schema, so that a
new component's options are covered on the day it is written. Runs under sanitizers where $FLITWARP_ASAN is built; of the
cases from the schema those that are the first of their kind.
"""
import copy
import json
import math
import os
import re
import subprocess

import pytest

from support import PROGRAM, ROOT, schema, set_path

ASAN = os.environ.get("FLITWARP_ASAN", "")
REFUSING = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM

BASE = {
    "simulator": {"seed": 1},
    "network": {"topology": {"type": "mesh", "widths": [4, 4]}, "routing": "dimension_order",
                "router": {"type": "input_queued", "num_vcs": 2, "buffer_depth": 8}},
    "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 100, "sample": 200}]},
}
APPLICATION = "workload.applications.0"


def shown(path):
    """A path as messages write it: applications[0] for applications.0."""
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".")).lstrip(".")


def start(directory, *arguments, program=REFUSING):
    """The program with a results file and a log asked for; afterwards the directory holds what it held before."""
    before = set(os.listdir(directory))
    ended = subprocess.run([program, *arguments], cwd=directory, capture_output=True, text=True, errors="replace",
                           timeout=60, check=False)
    assert "Sanitizer" not in ended.stderr and "runtime error" not in ended.stderr, ended.stderr
    assert ended.returncode >= 0, f"ended by signal {-ended.returncode}"
    assert set(os.listdir(directory)) == before, "a file was left behind"
    assert ended.stdout == "", "results were written"
    return ended


def refuse(directory, config, *expected, overrides=(), status=1, program=REFUSING):
    """Runs a configuration (text, bytes or tree) that must be refused with a message that holds all of `expected`."""
    text = config if isinstance(config, (str, bytes)) else json.dumps(config, indent=1)
    (directory / "config.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    ended = start(directory, "run", "config.json", *overrides, "--results", "results.json", "--log", "packets.csv",
                  program=program)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    for part in expected:
        assert part in ended.stderr, f"no '{part}' in: {ended.stderr}"
    return ended.stderr


def changed(**settings):
    """The base with settings changed; __ stands for the dots."""
    config = copy.deepcopy(BASE)
    for path, value in settings.items():
        set_path(config, path.replace("__", "."), value)
    return config


# ---- from the option rows ----

PLACES = {"topology": "network.topology", "routing": "network.routing", "router": "network.router",
          "interface": "network.interface", "arbiter": "network.router.arbiter",
          "allocator": "network.router.allocator", "congestion": "network.router.congestion", "application": APPLICATION,
          "traffic": f"{APPLICATION}.traffic", "injection": f"{APPLICATION}.injection",
          "size": f"{APPLICATION}.size", "allocation": f"{APPLICATION}.allocation"}
PLACES["selection"] = "network.planes.selection"
PLACES["reduction"] = "network.routing.reduction"
PLACES["trace_reader"] = f"{APPLICATION}.format"
PLACES["motif"] = f"{APPLICATION}.motif"
PLACES["model"] = "model"
MODEL = {"model": "phold"}  # has all that a simulator block may have


def wrong_values(schema):
    """(what is wrong, value) for one option."""
    if "$ref" in schema:  # a component of some kind
        yield from (("type", 5), ("type", []), ("component", "no_such_component"))
    for part in schema.get("anyOf", []):
        if part.get("type") == "integer" or "$ref" in part:
            yield from wrong_values(part)
        elif "b/s" in part.get("pattern", ""):
            yield from (("rate", "fast"), ("rate", "10 Gb"), ("below", "-5Gb/s"), ("below", -5))
        elif "pattern" in part:
            yield from (("time", "soon"), ("time", "10 parsec"), ("below", "-5ns"))
    if "pattern" in schema:
        yield from (("type", 5), ("time", "soon"), ("below", "-5ns"))
    kind = schema.get("type")
    if kind in ("integer", "number"):
        yield from (("type", True), ("type", {}), ("type", [1]))
        if "minimum" in schema:
            yield "below", schema["minimum"] - 1
        if "maximum" in schema and schema["maximum"] < 2**53:
            yield "above", schema["maximum"] + 1
        yield "above", 10**30
    if kind == "integer":
        yield from (("fraction", schema.get("minimum", 0) + 0.5), ("type", "many"))
    if kind == "boolean":
        yield from (("type", 1), ("type", "true"), ("type", None))
    if kind == "string" and "pattern" not in schema:
        yield from (("type", 5), ("type", []))
    if kind == "array":
        yield from (("type", 5), ("type", "all"), ("type", {}))
        for what, value in wrong_values(schema["items"]):
            yield what, [value]
        if schema.get("minItems"):
            yield "number of elements", []
    if "enum" in schema:
        yield from (("type", 5), ("word", schema["enum"][0] + "x"), ("word", "something_else_altogether"))


def with_blocks(properties, path):
    """The options below a block: (path of the block, properties, required)."""
    for key, schema in properties.items():
        inner = schema.get("anyOf", [{}])[0]
        if inner.get("type") == "object" and "properties" in inner:
            yield f"{path}{key}", inner["properties"], inner.get("required", [])
            yield from with_blocks(inner["properties"], f"{path}{key}.")


NO_SUCH_KEY = "no_such_key_at_all"
EXPECTED = {"below": "is below", "above": "is above"}  # and then the range; otherwise what was expected


def blocks_of_the_schema():
    """(title, path, content to begin with, properties, required) of every block and component."""
    try:
        document = schema()
    except (OSError, subprocess.CalledProcessError):
        return
    for path, properties, required in with_blocks(document["properties"], ""):
        yield path, path, {}, properties, required
    for name, definition in document["$defs"].items():
        if "." in name:
            kind, component = name.split(".")
            yield f"{PLACES[kind]}:{component}", PLACES[kind], {"type": component}, definition["properties"], definition.get("required", [])


def wrong_blocks(properties, required):
    """Contents of a block, all of whose keys are wrong, and what is said of each: [{key: (value, parts of the message)}]. All errors
    are shown at once, so that one run shows what a block refuses: the first wrong value of every option, then the second ..."""
    options = {key: row["anyOf"][0] for key, row in properties.items() if key not in ("type", "$include", "$schema")}
    rounds = [{NO_SUCH_KEY: (1, ["unknown key"])} | {key + "x": (1, ["unknown key", f"did you mean '{key}'?"]) for key in options}]
    if required:
        rounds.append({key: (MISSING, ["missing", "expected"]) for key in required})
    wrong = {}
    for key, row in options.items():
        if row.get("type") == "object":
            wrong[key] = [(5, ["expected an object"])]
        else:
            wrong[key] = [(value, [EXPECTED.get(what, "expected")]) for what, value in wrong_values(row)]
    for number in range(max(map(len, wrong.values()), default=0)):
        rounds.append({key: values[number] for key, values in wrong.items() if number < len(values)})
    return rounds


MISSING = object()  # in the place of a value
BLOCKS = list(blocks_of_the_schema())


def test_the_schema_gives_cases_for_everything():
    listed = json.loads(subprocess.run([PROGRAM, "list", "--json"], capture_output=True, check=True).stdout)
    assert {entry["name"] for entry in listed} <= {title.rpartition(":")[2] for title, *_ in BLOCKS}
    assert sum(len(one) for *_, properties, required in BLOCKS for one in wrong_blocks(properties, required)) > 4000


SEEN = set()  # sorts of wrong values that the sanitizers have seen


def refusing_program(title, wrong):
    """One reader serves all rows: a wrong value of a sort that another row has shown takes the same steps, so sanitizers, which
    take ten times as long to start, see each sort once and each block's unknown and missing keys."""
    sorts = {title if value is MISSING or "unknown key" in said else json.dumps([value, said]) for value, said in wrong.values()}
    is_new = not sorts <= SEEN
    SEEN.update(sorts)
    return REFUSING if is_new else PROGRAM


@pytest.mark.parametrize("title, path, block, properties, required", BLOCKS, ids=[case[0] for case in BLOCKS])
def test_wrong_options_are_refused(title, path, block, properties, required, tmp_path):
    for wrong in wrong_blocks(properties, required):
        config = copy.deepcopy(MODEL if path in ("model", "simulator") else BASE)
        if path == PLACES["reduction"]:
            config["network"]["routing"] = {"type": "minimal_adaptive"}
        if path == PLACES["trace_reader"]:
            set_path(config, APPLICATION, {"type": "trace", "file": "none.goal"})
        if path == PLACES["motif"]:
            set_path(config, APPLICATION, {"type": "trace"})
        set_path(config, path, {**block, **{key: value for key, (value, _) in wrong.items() if value is not MISSING}})
        told = refuse(tmp_path, config, program=refusing_program(title, wrong)).splitlines()
        for key, (value, expected) in wrong.items():
            about = [line for line in told if re.search(rf"{re.escape(shown(path))}\.{key}(?!\w)", line)]
            assert any(line.startswith("config.json:") and all(part in line for part in expected) for line in about), \
                f"{key}: {value!r} is not refused by {expected}: {told}"


# ---- what the network cannot have ----

TORUS = {"type": "torus", "widths": [4, 4]}
WHOLE_PACKETS = [("crossbar_flow", "packet_buffer"), ("switching", "virtual_cut_through"),
                 ("switching", "store_and_forward")]

NETWORKS = {
    "2^40 routers": ({"network__topology": {"type": "mesh", "widths": [1024, 1024, 1024, 1024]}},
                     "network.topology.widths", "more than"),
    "2^64 routers": ({"network__topology": {"type": "torus", "widths": [65536] * 4}}, "network.topology.widths"),
    "17 dimensions": ({"network__topology": {"type": "torus", "widths": [2] * 17}}, "network.topology.widths", "1 to 16"),
    "no dimensions": ({"network__topology": {"type": "torus", "widths": []}}, "network.topology.widths", "1 to 16"),
    "more buffers than memory": ({"network__topology": {"type": "torus", "widths": [65536, 16384]}}, "network.topology", "GiB"),
    "zero width": ({"network__topology__widths": [4, 0]}, "network.topology.widths[1]", "2 to 65536"),
    "width of one": ({"network__topology__widths": [1]}, "network.topology.widths[0]", "2 to 65536"),
    "channels for three of two dimensions": ({"network__topology__channels": [1, 1, 1]}, "network.topology.channels",
                                             "one for all or one for each"),
    "torus with 1 VC": ({"network__topology": TORUS, "network__router__num_vcs": 1}, "network.routing", "needs 2 VCs",
                        "num_vcs is 1"),
    "o1turn on a mesh with 1 VC": ({"network__routing": "o1turn", "network__router__num_vcs": 1}, "network.routing",
                                   "needs 2 VCs"),
    "o1turn on a torus with 2 VCs": ({"network__topology": TORUS, "network__routing": "o1turn"}, "network.routing",
                                     "needs 4 VCs"),
    "o1turn in three dimensions": ({"network__topology__widths": [2, 2, 2], "network__routing": "o1turn"},
                                   "network.routing", "2 dimensions"),
    "dal on a mesh": ({"network__routing": "dal"}, "network.routing", "needs topology \"hyperx\", not \"mesh\""),
    "omniwar on a mesh": ({"network__routing": "omniwar"}, "network.routing", "needs topology \"hyperx\""),
    "least_congested_queue on a mesh": ({"network__routing": "least_congested_queue"}, "network.routing",
                                        "needs topology \"hyperx\""),
    "skipping_dimensions on a mesh": ({"network__routing": "skipping_dimensions"}, "network.routing",
                                      "needs topology \"hyperx\""),
    "least buffer above the largest": ({"network__router": {"type": "input_queued", "buffer_per_latency": 2, "buffer_min": 9}},
                                       "network.router.buffer_min",
                                       "9 is above buffer_depth (8)"),
    "packet larger than the least buffer": ({"network__router": {"type": "input_queued", "switching": "virtual_cut_through",
                                                                "buffer_per_latency": 2, "buffer_min": 3},
                                             "workload__applications__0__size": {"type": "fixed", "flits": 4}},
                                            "max_packet", "network.router.buffer_min (3)"),
    "par with too few VCs for its first hop": ({"network__topology": {"type": "slim_fly"}, "network__routing": "par",
                                                "network__router__num_vcs": 4}, "network.routing", "needs 5 VCs",
                                               "num_vcs is 4"),
    "ugal with too few VCs for its hops": ({"network__topology": {"type": "jellyfish", "routers": 6, "degree": 4},
                                            "network__routing": "ugal", "network__router__num_vcs": 3},
                                           "network.routing", "needs 4 VCs"),
    "slim_fly of no field": ({"network__topology": {"type": "slim_fly", "q": 14}, "network__routing": "minimal"},
                             "network.topology.q", "14 is no power of a prime", "13 and 16"),
    "slim_fly of two": ({"network__topology": {"type": "slim_fly", "q": 2}, "network__routing": "minimal"},
                        "network.topology.q", "2 is below 3"),
    "slim_fly by dimensions": ({"network__topology": {"type": "slim_fly"}}, "network.routing", "needs a grid"),
    "jellyfish of odd ends": ({"network__topology": {"type": "jellyfish", "routers": 15, "degree": 3},
                               "network__routing": "minimal"}, "network.topology.degree", "degree 2 or 4",
                              "routers 14 or 16"),
    "jellyfish of more channels than routers": ({"network__topology": {"type": "jellyfish", "routers": 4, "degree": 5},
                                                 "network__routing": "minimal"}, "network.topology.degree",
                                                "at most 3"),
    "dragonfly_minimal on a mesh": ({"network__routing": "dragonfly_minimal"}, "network.routing",
                                    "needs topology \"dragonfly\""),
    "too few global channels": ({"network__topology": {"type": "megafly", "spines": 3, "global": 2, "groups": 11}},
                                "network.topology.groups", "accepted: 2 to spines * global + 1 = 7, or global from 4 on"),
    "global channels from no file": ({"network__topology": {"type": "dragonfly_2d", "arrangement": "file"}},
                                     "network.topology.arrangement", "\"file\" needs a file"),
    "par with too few VCs for either order": ({"network__topology": "dragonfly_2d",
                                               "network__routing": {"type": "par", "local_order": "either"}},
                                              "network.routing", "needs 8 VCs"),
    "up_down on a mesh": ({"network__routing": "up_down"}, "network.routing", "needs topology \"folded_clos\""),
    "destination_tag on a mesh": ({"network__routing": "destination_tag"}, "network.routing",
                                  "needs topology \"butterfly\""),
    "torus_adaptive without a grid": ({"network__topology": "dragonfly", "network__routing": "torus_adaptive"},
                                      "network.routing", "needs a grid"),
    "torus_adaptive without adaptive VCs": ({"network__topology": TORUS, "network__routing": "torus_adaptive"},
                                            "network.routing", "needs 3 VCs"),
    "ugal with too few VCs for a dragonfly": ({"network__topology": "dragonfly", "network__routing": "ugal"},
                                              "network.routing", "needs 3 VCs"),
    "valiant by group on a mesh": ({"network__routing": {"type": "valiant", "intermediate": "group"}},
                                   "network.routing.intermediate", "needs topology \"dragonfly\""),
    "valiant by rows on a mesh": ({"network__routing": {"type": "valiant", "intermediate": "source"}},
                                  "network.routing.intermediate", "needs topology \"hyperx\""),
    "more candidates than are weighed": ({"network__topology": {"type": "hyperx", "widths": [300, 2]},
                                          "network__routing": "minimal_adaptive", "network__router__num_vcs": 4},
                                         "network.routing", "at most 512 candidates", "may be 600"),
    "valiant on a torus with 2 VCs": ({"network__topology": TORUS, "network__routing": "valiant"}, "network.routing",
                                      "needs 4 VCs"),
    "minimal with fewer VCs than hops": ({"network__routing": "minimal"}, "network.routing", "needs 6 VCs"),
    "voq with fewer VCs than terminals": ({"network__topology": {"type": "single_router", "terminals": 8},
                                           "network__routing": "voq"}, "network.routing", "needs 8 VCs"),
    "voq on a mesh": ({"network__routing": "voq", "network__router__num_vcs": 16}, "network.routing", "single_router"),
    "voq with more terminals than VCs can be": ({"network__topology": {"type": "single_router", "terminals": 65},
                                                 "network__routing": "voq", "network__router__num_vcs": 64},
                                                "network.routing", "needs 65 VCs"),
    "dimension order without a grid": ({"network__topology": {"type": "single_router", "terminals": 8}},
                                       "network.routing", "needs a grid"),
    "more ports than a router counts": ({"network__topology": {"type": "single_router", "terminals": 4096},
                                         "network__routing": "minimal", "network__router__num_vcs": 64},
                                        "network.router.num_vcs"),
    "a table of too many routers": ({"network__topology__widths": [200, 200], "network__routing": "minimal"},
                                    "network.routing", "16384"),
    "more from an input than its VCs": ({"network__router__input_speedup": 4}, "network.router.input_speedup",
                                        "num_vcs"),
    "speedup of an output that one packet has": ({"network__router__output_speedup": 2,
                                                  "network__router__crossbar_flow": "winner_take_all"},
                                                 "network.router.output_speedup", "above 1"),
    "two threads": ({"simulator__threads": 2}, "simulator.threads", "sequential runs on 1"),
    "a check of what is not undone": ({"simulator__check_reversal": True}, "simulator.check_reversal", "optimistic"),
    "a check on two threads": ({"simulator__sync": "optimistic", "simulator__threads": 2, "simulator__check_reversal": True},
                               "simulator.check_reversal", "1 thread"),
    "a tick of no length": ({"simulator__tick": "0ns"}, "simulator.tick", "1e-15 to 1 s"),
    "a tick above a second": ({"simulator__tick": "2s"}, "simulator.tick", "1e-15 to 1 s"),
    "a latency between two ticks": ({"network__channel": {"latency": "1.5ns"}}, "network.channel.latency", "'1ns' is 1",
                                    "'2ns' is 2"),
    "a latency of no ticks": ({"network__channel": {"latency": 0}}, "network.channel.latency", "1 to"),
}
NETWORKS["an output queue smaller than a packet that moves whole"] = (
    {"network__router": {"type": "input_output_queued", "crossbar_flow": "packet_buffer", "output_depth": 4},
     "workload__applications__0__size": {"type": "fixed", "flits": 9}},
    "workload.applications[0].max_packet", "output_depth (4)", "accepted: 1 to 4")
for setting, value in WHOLE_PACKETS:
    NETWORKS[f"a buffer smaller than a packet under {value}"] = (
        {f"network__router__{setting}": value, f"workload__applications__0__size": {"type": "fixed", "flits": 9}},
        "workload.applications[0].max_packet", "buffer_depth (8)", "accepted: 1 to 8")


@pytest.mark.parametrize("settings, expected", [(case[0], case[1:]) for case in NETWORKS.values()], ids=NETWORKS)
def test_network_is_refused(settings, expected, tmp_path):
    refuse(tmp_path, changed(**settings), "config.json:", *expected)


ON_THREADS = {name: case for name, case in NETWORKS.items() if not any(path.startswith("simulator") for path in case[0])}


@pytest.mark.parametrize("settings, expected", [(case[0], case[1:]) for case in ON_THREADS.values()], ids=ON_THREADS)
def test_network_is_refused_on_several_threads_alike(settings, expected, tmp_path):
    """Some of it is there for each thread by then, and some is not."""
    threads = {"simulator__sync": "conservative", "simulator__threads": 2}
    refuse(tmp_path, changed(**settings, **threads), "config.json:", *expected, program=PROGRAM)


@pytest.mark.parametrize("setting, value", WHOLE_PACKETS, ids=[value for _, value in WHOLE_PACKETS])
def test_a_packet_as_large_as_the_buffer_is_accepted(setting, value, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(changed(**{
        f"network__router__{setting}": value, "workload__applications__0__size": {"type": "fixed", "flits": 8}})))
    ended = subprocess.run([REFUSING, "run", tmp_path / "config.json"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


# ---- what the workload cannot be ----

MESH_3X4 = {"type": "mesh", "widths": [3, 4]}
LINEAR = {"type": "linear", "first": 0, "count": 8}


def of_application(**settings):
    return {f"workload__applications__0__{key}": value for key, value in settings.items()}


WORKLOADS = {
    "no applications": ({"workload__applications": []}, "workload.applications", "found 0"),
    "a reply larger than the buffer of a router that moves whole packets": (
        {**of_application(reply={"type": "fixed", "flits": 9}), "network__router__switching": "virtual_cut_through"},
        "workload.applications[0].max_packet", "up to 9 flits", "accepted: 1 to 8"),
    "a reply without a type": (of_application(reply={"flits": 9}), "workload.applications[0].reply.type", "missing"),
    "a reply that is a number": (of_application(reply=9), "workload.applications[0].reply", "of kind size, or null"),
    "a reply from a file that is not there": (of_application(reply={"type": "file", "file": "gone.csv"}),
                                              "workload.applications[0].reply.file", "cannot read"),
    "an application that is a number": ({"workload__applications": [5]}, "workload.applications[0]", "'type'"),
    "300 applications": ({"workload__applications": [BASE["workload"]["applications"][0]] * 300},
                         "workload.applications", "found 300"),
    "a negative load": (of_application(load=-0.1), "workload.applications[0].load", "0 to 64"),
    "a load above the terminal's channel": (of_application(load=1.5, injection="poisson"),
                                            "workload.applications[0].load", "accepted: 0 to 1"),
    "a load above the terminal's two channels": (
        {**of_application(load=2.5, injection="poisson"),
         "network__interface": {"type": "standard", "injection_channels": 2}},
        "workload.applications[0].load", "accepted: 0 to 2"),
    "more than a message a cycle from bernoulli": (
        {**of_application(load=2), "network__interface": {"type": "standard", "injection_channels": 2}},
        "workload.applications[0].load", "at most 1"),
    "more than a message a cycle from periodic": (
        {**of_application(load=2, injection="periodic"),
         "network__interface": {"type": "standard", "injection_channels": 2}},
        "workload.applications[0].load", "at most 1"),
    "on_off above its rate": (of_application(load=0.9, injection={"type": "on_off", "on_rate": 0.5}),
                              "workload.applications[0]", "0.5"),
    "a pulse without load": ({"workload__applications__0": {"type": "pulse", "load": 0}},
                             "workload.applications[0].load", "above 0"),
    "min_sample above max_sample": (of_application(sample="auto", min_sample=100, max_sample=50),
                                    "workload.applications[0].min_sample", "max_sample"),
    **{f"{pattern} on 12 terminals": ({"network__topology": MESH_3X4, **of_application(traffic=pattern)},
                                      "workload.applications[0].traffic", "12", "power of two")
       for pattern in ("bit_complement", "bit_reverse", "bit_rotation", "shuffle")},
    "tornado without a grid": ({"network__topology": {"type": "single_router", "terminals": 8},
                                "network__routing": "minimal", **of_application(traffic="tornado")},
                               "workload.applications[0].traffic", "needs coordinates"),
    "tornado on half of a grid": (of_application(traffic="tornado", allocation=LINEAR),
                                  "workload.applications[0].traffic", "needs coordinates"),
    "transpose of 3x4": ({"network__topology": MESH_3X4, **of_application(traffic="transpose")},
                         "workload.applications[0].traffic"),
    "transpose of 12 terminals without a grid": (
        {"network__topology": {"type": "single_router", "terminals": 12}, "network__routing": "minimal",
         **of_application(traffic="transpose")}, "workload.applications[0].traffic"),
    "a hot terminal that is not there": (of_application(traffic={"type": "hotspot", "terminals": [3, 16]}),
                                         "workload.applications[0].traffic.terminals", "16"),
    "no hot terminal": (of_application(traffic={"type": "hotspot", "terminals": []}),
                        "workload.applications[0].traffic.terminals"),
    "weights for two of one hot terminal": (
        of_application(traffic={"type": "hotspot", "terminals": [3], "weights": [1, 2]}),
        "workload.applications[0].traffic.weights"),
    "hot weights that are all zero": (
        of_application(traffic={"type": "hotspot", "terminals": [3, 4], "weights": [0, 0]}),
        "workload.applications[0].traffic.weights"),
    "mix weights that are all zero": (
        of_application(traffic={"type": "mix", "patterns": ["neighbor", "tornado"], "weights": [0, 0]}),
        "workload.applications[0].traffic.weights"),
    "a mix of one pattern with two weights": (
        of_application(traffic={"type": "mix", "patterns": ["neighbor"], "weights": [1, 2]}),
        "workload.applications[0].traffic.weights"),
    "a wrong pattern in a mix": (of_application(traffic={"type": "mix", "patterns": ["neighbour"]}),
                                 "workload.applications[0].traffic.patterns[0]", "did you mean 'neighbor'"),
    "sizes without weight": (of_application(size={"type": "mix", "sizes": [1, 2], "weights": [0, 0]}),
                             "workload.applications[0].size.weights"),
    "sizes with one weight of two": (of_application(size={"type": "mix", "sizes": [1, 2], "weights": [1]}),
                                     "workload.applications[0].size.weights"),
    "no sizes": (of_application(size={"type": "mix", "sizes": []}), "workload.applications[0].size.sizes"),
    "sizes from 8 to 4": (of_application(size={"type": "uniform", "min": 8, "max": 4}),
                          "workload.applications[0].size.max", "below min"),
    "a size file that is not there": (of_application(size={"type": "file", "file": "none.csv"}),
                                      "workload.applications[0].size.file", "none.csv", "No such file"),
    "a matrix that is not there": (of_application(traffic={"type": "matrix", "file": "none.csv"}),
                                   "workload.applications[0].traffic.file", "none.csv", "No such file"),
    "an allocation beyond the network": (of_application(allocation={"type": "linear", "first": 10, "count": 8}),
                                         "workload.applications[0].allocation", "0 to 15"),
    "an allocation of more than there are": (of_application(allocation={"type": "random", "count": 17}),
                                             "workload.applications[0].allocation", "16"),
    "a map of more than there are": (of_application(allocation={"type": "random", "count": 4, "among": 17}),
                                     "workload.applications[0].allocation.among", "17 is above the network's 16 terminals"),
    "an allocation of more than its map has": (of_application(allocation={"type": "random", "count": 9, "among": 8}),
                                               "workload.applications[0].allocation.count", "8"),
    "an allocation behind the end of its map": (of_application(allocation={"type": "random", "count": 8, "skip": 9}),
                                                "workload.applications[0].allocation.skip", "accepted: 0 to 8"),
    "a listed terminal that is not there": (of_application(allocation={"type": "list", "terminals": [0, 16]}),
                                            "workload.applications[0].allocation.terminals", "16"),
    "a terminal listed twice": (of_application(allocation={"type": "list", "terminals": [3, 3]}),
                                "workload.applications[0].allocation.terminals", "3"),
    "an empty list": (of_application(allocation={"type": "list", "terminals": []}),
                      "workload.applications[0].allocation.terminals"),
    "an allocation file that is not there": (of_application(allocation={"type": "list", "file": "none.csv"}),
                                             "workload.applications[0].allocation.file", "none.csv", "No such file"),
    "turns over groups that are not there": (
        of_application(allocation={"type": "round_robin", "count": 4, "over": "groups"}),
        "workload.applications[0].allocation.over", "has no groups", "accepted: routers"),
    "groups that are not there": (of_application(allocation={"type": "random_groups", "count": 4}),
                                  "workload.applications[0].allocation", "has no groups"),
    "a check interval of no ticks": ({"workload__check_interval": 0}, "workload.check_interval", "1 to"),
}


@pytest.mark.parametrize("settings, expected", [(case[0], case[1:]) for case in WORKLOADS.values()], ids=WORKLOADS)
def test_workload_is_refused(settings, expected, tmp_path):
    refuse(tmp_path, changed(**settings), "config.json:", *expected)


ROW = ",".join(["1"] * 16)
FILES = {
    "matrix of 3 rows": ("traffic", "matrix", "\n".join([ROW] * 3), "16"),
    "matrix of short rows": ("traffic", "matrix", "\n".join(["1,2"] * 16), "16"),
    "matrix with a word": ("traffic", "matrix", "\n".join([ROW] * 15 + [ROW.replace("1", "one", 1)]), "one"),
    "matrix with a negative weight": ("traffic", "matrix", "\n".join([ROW] * 15 + ["-" + ROW]), "-1"),
    "matrix with nan": ("traffic", "matrix", "\n".join([ROW] * 15 + [ROW.replace("1", "nan", 1)]), "nan"),
    "matrix without content": ("traffic", "matrix", "", "no numbers"),
    "matrix of bytes": ("traffic", "matrix", "\0\1\2\3", ""),
    "sizes without content": ("size", "file", "", ""),
    "sizes of zero flits": ("size", "file", "0,1\n", "0"),
    "sizes with negative weight": ("size", "file", "4,-1\n", "-1"),
    "sizes with a word": ("size", "file", "four,1\n", "four"),
    "sizes with three columns": ("size", "file", "4,1,2\n", ""),
    "sizes with weights all zero": ("size", "file", "4,0\n8,0\n", ""),
}


@pytest.mark.parametrize("kind, component, content, expected", FILES.values(), ids=FILES)
def test_file_is_refused_with_its_name(kind, component, content, expected, tmp_path):
    (tmp_path / "numbers.csv").write_text(content)
    refuse(tmp_path, changed(**of_application(**{kind: {"type": component, "file": "numbers.csv"}})),
           "numbers.csv", expected)


# ---- latencies of channels, on a mesh of 16 routers ----

PLAN = "".join(f"{router},{router},0\n" for router in range(16))


@pytest.mark.parametrize("plan, expected", [
    (None, 'cannot read "'),
    ("0,1\n", 'plan.csv:1: "0,1" is no router,x,y[,z]'),
    ("router,x,y\n0,1,2,3,4\n", 'plan.csv:2: "0,1,2,3,4" is no router,x,y[,z]'),
    ("0.5,1,2\n", "is no router,x,y[,z]"),
    ("-1,1,2\n", "is no router,x,y[,z]"),
    ("0,one,2\n", "is no router,x,y[,z]"),
    ("0,inf,2\n", "is no router,x,y[,z]"),
    ("16,1,2\n", "plan.csv:1: there is no router 16; accepted: 0 to 15"),
    (PLAN + "3,1,2\n", "plan.csv:17: router 3 has a place already"),
    (PLAN.replace("7,7,0\n", ""), "plan.csv: router 7 of 16 has no place"),
    (PLAN.replace("7,7,0", "7,7e9,0"), "a room of 7e+09 m by 5 ticks a metre is more than 1e+09 ticks"),
])
def test_plan_is_refused(plan, expected, tmp_path):
    if plan is not None:
        (tmp_path / "plan.csv").write_text(plan)
    refuse(tmp_path, changed(network__channel__cable={"plan": "plan.csv"}), "network.channel.cable.plan: ", expected)


@pytest.mark.parametrize("settings, expected", [
    ({}, '3 values, but "mesh" has 2 classes of channels: dimension 0, dimension 1'),
    ({"network__topology": {"type": "torus", "widths": [2, 2, 2, 2]}},
     '3 values, but "torus" has 4 classes of channels: dimension 0 to dimension 3'),
    ({"network__topology": {"type": "butterfly"}, "network__routing": "minimal"},
     '3 values, but "butterfly" has 1 class of channels'),
])
def test_latencies_that_do_not_fit_the_topology_are_refused(settings, expected, tmp_path):
    refuse(tmp_path, changed(network__channel__latencies=[1, 2, 3], **settings), "network.channel.latencies: ", expected)


# ---- what is no configuration ----

GOOD = json.dumps(BASE, indent=1)
TEXTS = {
    "empty file": (b"", "config.json:1:1: "),
    "blank file": (b" \n\t\n", "config.json:"),
    "truncated": (GOOD[: GOOD.index("router")] + 'router": {', "config.json:", "the end of the text"),
    "truncated in text": ('{"simulator": {"tick": "1n', "config.json:1:"),
    "trailing comma": ('{"simulator": {"seed": 1,},}', "config.json:1:"),
    "trailing comma in an array": ('{"a": [1,]}', "config.json:1:"),
    "missing comma": ('{"simulator": {"seed": 1\n"tick": "1ns"}}', "config.json:2:1: "),
    "duplicate key": ('{"simulator": {"seed": 1,\n"seed": 2}}', "config.json:2:", "seed"),
    "unterminated comment": ("/* settings\n" + GOOD, "config.json:", "begins in line 1"),
    "unterminated comment at the end": (GOOD + "/* settings", "config.json:"),
    "text after the end": (GOOD + "{}", "config.json:"),
    "an array": ("[1, 2]", "config.json:1", "expected an object"),
    "a number": ("5", "config.json:1", "expected an object"),
    "a text": ('"torus"', "config.json:1", "expected an object"),
    "null": ("null", "config.json:1", "expected an object"),
    "single quotes": ("{'simulator': {}}", "config.json:1:2: "),
    "bare key": ("{simulator: {}}", "config.json:1:2: ", "simulator"),
    "zero bytes": (b"\0\0\0\0", "config.json:1:1: ", "0x00"),
    "a program": (open(PROGRAM, "rb").read(4096) if os.access(PROGRAM, os.R_OK) else b"\x7fELF", "config.json:1:1: "),
    "bytes that are no UTF-8": (b'{"simulator": {"tick": "\xff\xfe"}}', "config.json:1:"),
    "too deep": ("[" * 100000, "config.json:1:", "200"),
    "too deep in objects": ('{"a":' * 100000, "config.json:1:", "200"),
    "NaN": ('{"workload": {"applications": [{"type": "blast", "load": NaN}]}}', "config.json:1:", "NaN"),
    "Infinity": ('{"workload": {"applications": [{"type": "blast", "load": Infinity}]}}', "config.json:1:", "Infinity"),
    "-Infinity": ('{"workload": {"applications": [{"type": "blast", "load": -Infinity}]}}', "config.json:1:"),
    "1e999": ('{"workload": {"applications": [{"type": "blast", "load": 1e999}]}}', "config.json:1:"),
    "leading zero": ('{"simulator": {"seed": 01}}', "config.json:1:"),
    "plus sign": ('{"simulator": {"seed": +1}}', "config.json:1:"),
    "hexadecimal": ('{"simulator": {"seed": 0x10}}', "config.json:1:"),
    "newline in text": ('{"simulator": {"tick": "1\nns"}}', "config.json:1:"),
    "wrong escape": (r'{"simulator": {"tick": "\q"}}', "config.json:1:"),
    "half a surrogate": (r'{"simulator": {"tick": "\ud800"}}', "config.json:1:"),
    "a seed that no double holds": ('{"simulator": {"seed": 9007199254740993}}', "simulator.seed"),
    "unknown block": ('{"netwrok": {}}', "netwrok", "did you mean 'network'?"),
}


@pytest.mark.parametrize("text, expected", [(case[0], case[1:]) for case in TEXTS.values()], ids=TEXTS)
def test_text_is_refused(text, expected, tmp_path):
    refuse(tmp_path, text, *expected)


def test_missing_configuration_is_refused(tmp_path):
    ended = start(tmp_path, "run", "nowhere.json")
    assert ended.returncode == 1 and "nowhere.json" in ended.stderr and "No such file" in ended.stderr


def test_a_directory_is_no_configuration(tmp_path):
    ended = start(tmp_path, "run", ".")
    assert ended.returncode == 1 and "'.'" in ended.stderr


def test_all_errors_are_shown_at_once(tmp_path):
    message = refuse(tmp_path, changed(network__router__num_vcs=0, network__router__buffer_depth=0, simulator__seed="x"),
                     "network.router.num_vcs", "network.router.buffer_depth", "simulator.seed")
    assert len(message.strip().splitlines()) == 3


def test_the_line_of_the_setting_is_named(tmp_path):
    text = json.dumps(changed(network__router__num_vcs=65), indent=1)
    line = next(number for number, content in enumerate(text.splitlines(), 1) if '"num_vcs": 65' in content)
    refuse(tmp_path, text, f"config.json:{line}:", "network.router.num_vcs", "1 to 64")


# ---- includes and references ----

INCLUDES = {
    "a file that is not there": ({"$include": "none.json"}, "none.json", "No such file"),
    "itself": ({"$include": "config.json"}, "config.json", "includes itself"),
    "a circle": ({"$include": "one.json"}, "includes itself"),
    "a number": ({"$include": 5}, "expected a file name"),
    "a file with a mistake": ({"$include": "broken.json"}, "broken.json:1:"),
    "a file that holds an array": ({"$include": "array.json"}, "array.json", "expected an object"),
    "the second of two": ({"$include": ["good.json", "none.json"]}, "none.json", "No such file"),
    "a wrong setting in the file": ({"$include": "wrong.json"}, "wrong.json:2", "workload.per_terminal"),
    "a reference to nothing": ({"simulator": {"seed": {"$ref": "/network/nothing"}}}, "simulator.seed", "nothing"),
    "a reference to itself": ({"simulator": {"seed": {"$ref": "/simulator/seed"}}}, "simulator.seed"),
    "references in a circle": ({"simulator": {"seed": {"$ref": "/simulator/threads"},
                                              "threads": {"$ref": "/simulator/seed"}}}, "simulator."),
    "a reference to what holds it": ({"simulator": {"seed": {"$ref": "/simulator"}}}, "simulator.seed"),
    "a reference that is a number": ({"simulator": {"seed": {"$ref": 5}}}, "simulator.seed"),
    "a reference with other keys": ({"simulator": {"seed": {"$ref": "/simulator/threads", "x": 1}}}, "simulator.seed"),
    "a reference of the wrong type": ({"simulator": {"seed": {"$ref": "/network/routing"}}}, "simulator.seed"),
    "a reference that doubles and doubles": (
        {f"a{i}": [{"$ref": f"/a{i + 1}"}] * 16 if i < 16 else 1 for i in range(17)}, "a0"),
}


@pytest.mark.parametrize("part, expected", [(case[0], case[1:]) for case in INCLUDES.values()], ids=INCLUDES)
def test_include_or_reference_is_refused(part, expected, tmp_path):
    (tmp_path / "one.json").write_text('{"$include": "two.json"}')
    (tmp_path / "two.json").write_text('{"$include": "one.json"}')
    (tmp_path / "broken.json").write_text('{"simulator": }')
    (tmp_path / "array.json").write_text("[]")
    (tmp_path / "good.json").write_text('{"simulator": {"seed": 2}}')
    (tmp_path / "wrong.json").write_text('{"workload":\n{"per_terminal": 5}}')
    refuse(tmp_path, {**{key: value for key, value in BASE.items() if key not in part}, **part}, *expected)


# ---- overrides and arguments ----

OVERRIDES = {
    "an unknown key": ("network.router.num_vsc=4", "network.router.num_vsc", "did you mean 'num_vcs'?"),
    "an unknown block": ("nework.router.num_vcs=4", "nework", "did you mean 'network'?"),
    "an element beyond the end": ("workload.applications.1.load=0.2", "no element '1'", "0 to 0"),
    "an element that is no number": ("workload.applications.first.load=0.2", "no element 'first'"),
    "an element of a number": ("network.router.num_vcs.0=4", "network.router.num_vcs", "expected an object"),
    "a value below": ("network.router.num_vcs=0", "network.router.num_vcs", "1 to 64"),
    "a value of the wrong type": ("network.router.num_vcs=many", "network.router.num_vcs", "a whole number"),
    "a uint that is negative": ("network.router.num_vcs=uint=-4", "network.router.num_vcs", "a whole number from 0"),
    "a uint that is a fraction": ("network.router.num_vcs=uint=2.5", "network.router.num_vcs", "a whole number"),
    "an int that is a word": ("network.router.num_vcs=int=four", "network.router.num_vcs", "a whole number"),
    "a float that is a word": (f"{APPLICATION}.load=float=high", "load", "a number"),
    "a float that is infinite": (f"{APPLICATION}.load=float=inf", "load", "a number"),
    "a bool that is a number": ("network.router.vc_needs_credit=bool=2", "vc_needs_credit", "true, false"),
    "a string for a number": ("network.router.num_vcs=string=4", "network.router.num_vcs", "found text '4'"),
    "a reference to nothing": ("network.router.num_vcs=ref=/nothing", "network.router.num_vcs", "nothing"),
    "a file that is not there": ("network.router=file=none.json", "none.json", "No such file"),
    "broken JSON": ("network.topology.widths=[4,", "network.topology.widths"),
    "an empty step": ("network..num_vcs=4", "network..num_vcs", "single dots"),
    "a double reference": ('network.router.num_vcs={"$ref": "/network/router/num_vcs"}', "num_vcs"),
}


@pytest.mark.parametrize("override, expected", [(case[0], case[1:]) for case in OVERRIDES.values()], ids=OVERRIDES)
def test_override_is_refused(override, expected, tmp_path):
    refuse(tmp_path, BASE, *expected, overrides=[override])


@pytest.mark.parametrize("setting, text", [
    ('network.topology={"type": "file", "file": "nul.txt"}', "router 0 node 0 router 1\0 router 2\nrouter 1 node 1\n"),
    (APPLICATION + '.size={"type": "file", "file": "nul.txt"}', "1,3\n4,1\0,7\n"),
])
def test_nul_in_a_file_is_refused(setting, text, tmp_path, monkeypatch):
    """What stands behind it was passed over."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nul.txt").write_text(text)
    refuse(tmp_path, BASE, "nul.txt:", "found a NUL, expected text", overrides=[setting])


ARGUMENTS = {
    "nothing": ([], 1, "usage:"),
    "an unknown command": (["rum"], 1, "unknown command 'rum'", "did you mean 'run'?", "usage:"),
    "help for an unknown command": (["help", "rum"], 1, "unknown command 'rum'", "did you mean 'run'?"),
    "help for two commands": (["help", "run", "check"], 1, "found 'check' as well, expected at most one command"),
    "a command that is a program": (["plot"], 1, "did you mean the program flitwarp-plot?"),
    "a plugin behind the command": (["run", "--plugin", "x.so", "config.json"], 1, "'--plugin' comes before the command"),
    "an option that is spelt like another": (["run", "config.json", "--result", "x"], 1, "did you mean '--results'?", "usage:"),
    "an unknown flag before the command": (["--fast", "run", "good.json"], 1, "--fast", "usage:"),
    "no configuration": (["run"], 1, "no configuration", "usage:"),
    "an unknown flag": (["run", "good.json", "--fast"], 1, "--fast", "usage:"),
    "a flag without its value": (["run", "good.json", "--results"], 1, "--results", "needs a value"),
    "a view without a port": (["view", "good.json", "--no-open", "--port"], 1, "flitwarp view: '--port' needs a value", "usage:"),
    "a view with an unknown flag": (["view", "good.json", "--fast"], 1, "flitwarp view: '--fast' is not understood", "usage:"),
    "a value for a flag without": (["run", "good.json", "--quiet=yes"], 1, "--quiet=yes"),
    "two configurations": (["run", "good.json", "good.json"], 1, "several runs are done together by a device alone", "--device"),
    "a log of an unknown form": (["run", "good.json", "--log", "packets.txt"], 1, "--log", ".csv or .csv.zst"),
    "a log into a missing directory": (["run", "good.json", "--log", "none/packets.csv"], 3, "none/packets.csv",
                                       "No such file"),
    "results into a missing directory": (["run", "good.json", "--results", "none/results.json"], 3,
                                         "none/results.json", "No such file"),
    "results over a directory": (["run", "good.json", "--results", "."], 3, "cannot write"),
    "two threads": (["run", "good.json", "--threads", "2"], 1, "simulator.threads", "sequential runs on 1"),
    "no threads": (["run", "good.json", "--threads", "0"], 1, "simulator.threads", "below 1"),
    "an unknown synchronisation": (["run", "good.json", "--sync", "optimist"], 1, "simulator.sync",
                                   "did you mean 'optimistic'?"),
    "a list of an unknown kind": (["list", "topologie"], 1, "topologie", "did you mean 'topology'?"),
    "a list of two kinds": (["list", "topology", "router"], 1, "router"),
    "an explanation of nothing": (["explain"], 1, "usage:"),
    "an explanation of the unknown": (["explain", "tours"], 1, "tours", "torus"),
    "a schema of something": (["schema", "torus"], 1, "torus", "no arguments"),
    "a trace without a packet": (["trace", "good.json"], 1, "--packet is missing"),
    "a trace of a word": (["trace", "good.json", "--packet", "first"], 1, "first", "SOURCE.NUMBER"),
    "a trace of a negative packet": (["trace", "good.json", "--packet", "-1"], 1, "-1", "SOURCE.NUMBER"),
    "a trace from a missing terminal": (["trace", "good.json", "--packet", "16.0"], 1, "no terminal 16", "0 to 15"),
    "a check of nothing": (["check"], 1, "usage:"),
    "a check of a wrong setting": (["check", "good.json", "network.router.num_vcs=0"], 1, "network.router.num_vcs"),
    "a plugin that is not there": (["--plugin", "none.so", "list"], 1, "none.so"),
    "a plugin without a name": (["--plugin"], 1, "--plugin"),
    "a plugin that is no program": (["--plugin", "good.json", "list"], 1, "good.json"),
}


@pytest.mark.parametrize("arguments, status, expected", [(case[0], case[1], case[2:]) for case in ARGUMENTS.values()],
                         ids=ARGUMENTS)
def test_arguments_are_refused(arguments, status, expected, tmp_path):
    (tmp_path / "good.json").write_text(GOOD)
    ended = subprocess.run([REFUSING, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == status, ended.stderr
    assert os.listdir(tmp_path) == ["good.json"], "a file was left behind"
    for part in expected:
        assert part in ended.stderr, f"no '{part}' in: {ended.stderr}"


@pytest.mark.parametrize("text", ['{"a": ', "5", '{"flitwarp": 1', ""])
def test_what_is_no_json_is_not_viewed(text, tmp_path):
    (tmp_path / "broken.json").write_text(text)
    ended = start(tmp_path, "view", "broken.json", "--no-open")
    assert ended.returncode == 1 and "broken.json:1:" in ended.stderr, ended.stderr


def test_a_file_without_end_is_refused(tmp_path):
    ended = start(tmp_path, "check", "/dev/zero", program=PROGRAM)
    assert ended.returncode == 1 and "'/dev/zero': File too large" in ended.stderr, ended.stderr


def test_results_that_cannot_be_written_are_refused_before_the_run(tmp_path):
    """A run of days must not find out at its end that there is nowhere to write to."""
    long = changed(workload__applications__0__sample=10**12)
    (tmp_path / "config.json").write_text(json.dumps(long))
    ended = start(tmp_path, "run", "config.json", "--results", "none/results.json")
    assert ended.returncode == 3 and "none/results.json" in ended.stderr


def test_the_base_of_all_cases_is_accepted(tmp_path):
    (tmp_path / "config.json").write_text(GOOD)
    ended = subprocess.run([REFUSING, "run", tmp_path / "config.json"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert math.isfinite(json.loads(ended.stdout)["applications"][0]["packet_latency"]["mean"])
    assert (ROOT / "examples").is_dir()

# SPDX-License-Identifier: Apache-2.0
"""A setting that another one makes void is refused: a user who sets it believes that it does something. Left at its default it is
accepted, written or not, so that the effective settings of a run can be run again.
"""
import json
import subprocess

import pytest

from support import PROGRAM, schema


def network(**settings):
    return {"network": settings}


def application(kind, **settings):
    return {"workload": {"applications": [{"type": kind, **settings}]}}


APPLICATION = "workload.applications[0]."
# What is accepted, where another setting stands, its value, and what has no effect then.
VOID = {
    "least buffer where all are alike": (network(router={"type": "input_queued"}), "network.router.buffer_min", 4,
                                         "without buffer_per_latency"),
    "most of a buffer that is not shared": (network(router={"type": "input_queued"}), "network.router.buffer_maximum", 9,
                                            "without buffer_exclusive"),
    "length of what counts nothing": (network(router={"type": "input_queued", "congestion": {"type": "buffer_occupancy"}}),
                                      "network.router.congestion.phantom_length", 2, "without phantom_value"),
    "lock of queues that one packet holds": (network(router={"type": "staged", "output_depth": 8}), "network.router.lock", "packet",
                                             "beside output_depth"),
    "match of queues that one packet holds": (network(router={"type": "staged", "output_depth": 8}), "network.router.allocator", "wavefront",
                                              "beside output_depth"),
    "hold of an output without queues": (network(router={"type": "staged"}), "network.router.output_hold", "packet",
                                         "without output_depth"),
    "latency beside a delay": (network(router={"type": "packet", "delay": 9}), "network.router.crossbar_latency", 3,
                               "without delay \"auto\"; accepted: 1"),
    "flits of a buffer beside bytes": (network(router={"type": "packet", "buffer": 512}), "network.router.buffer_depth", 9,
                                       "beside buffer; accepted: one of them"),
    "one level's arbitration": (network(), "network.service.arbitration", "alike", "without levels"),
    "congestion for ways at random": (network(topology="folded_clos", routing={"type": "up_down", "selection": "random"}),
                                      "network.routing.mode", "port_average", "without selection \"adaptive\""),
    "reduction for ways at random": (network(topology="folded_clos", routing={"type": "up_down", "selection": "random"}),
                                     "network.routing.reduction", "weighted", "without selection \"adaptive\""),
    "detour of packets that stop at their destination": (
        network(topology="mesh", router={"num_vcs": 2}, routing={"type": "valiant", "passes_by": False}), "network.routing.own_router", True,
        "with passes_by false"),
    "detour between a router and itself": (
        network(topology="mesh", router={"num_vcs": 2}, routing={"type": "valiant", "intermediate": "between"}),
        "network.routing.own_router", True, "with intermediate 'between'"),
    "legs joined on a torus": (network(topology="torus", router={"num_vcs": 4}, routing={"type": "valiant"}), "network.routing.joins_legs", True,
                               "but on a mesh"),
    "VCs shared by one class": (network(topology="dragonfly", router={"num_vcs": 2}, routing={"type": "dragonfly_phases"}),
                                "network.routing.shared_vcs", True, "with one protocol class"),
    "delay of no replies": (application("blast"), APPLICATION + "reply_delay", 5, "without replies"),
    "class of no replies": ({**application("blast"), **network(protocol_classes=2, router={"num_vcs": 4})},
                            APPLICATION + "reply_protocol_class", 1, "without replies"),
    "destinations of one message": (application("blast"), APPLICATION + "transaction_destinations", "each",
                                    "without messages_per_transaction"),
    "share beside a list": (application("memory", memories=[3]), APPLICATION + "share", 0.25, "beside memories"),
    "flits of no collective": (application("stencil", ranks=[8, 8]), APPLICATION + "collective_flits", 2, "without collective"),
    "delay of an endless stream": (application("stream"), APPLICATION + "delay", 100, "without messages"),
    "window of a stream that ends": (application("stream", messages=9), APPLICATION + "sample", 100, "beside messages"),
    "format of no file": (application("trace", motif="halo"), APPLICATION + "format", "goal", "without file"),
    "places of one rank a terminal": (application("trace", motif="halo"), APPLICATION + "placing", "cyclic",
                                      "without ranks_per_terminal"),
    "root of an allreduce": (application("trace", motif={"type": "collective"}), APPLICATION + "motif.root", 3, "has no root"),
    "experts of a token without any": (application("trace", motif={"type": "training"}), APPLICATION + "motif.experts_per_token", 3,
                                       "without expert"),
    "offset of the other half": (application("blast", traffic={"type": "group_attack", "group": 4, "target": "half"}),
                                 APPLICATION + "traffic.offset", 2, "without target \"offset\""),
    "first of a scan from anywhere": (application("blast", traffic={"type": "scan", "start": "random"}),
                                      APPLICATION + "traffic.first", 2, "without start \"first\""),
    "rate of a ping-pong": ({"model": {"type": "node", "widths": [4], "traffic": "ping_pong", "from": [0], "to": [2]}},
                            "model.rate", 2, "without traffic \"uniform\""),
    "ends of uniform traffic": ({"model": {"type": "node", "widths": [4]}}, "model.from", [1], "without traffic \"ping_pong\""),
}


def check(folder, settings, *overrides):
    (folder / "config.json").write_text(json.dumps(settings))
    return subprocess.run([PROGRAM, "check", folder / "config.json", *overrides], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("settings, path, value, said", VOID.values(), ids=VOID)
def test_what_has_no_effect_is_refused(settings, path, value, said, tmp_path):
    ended = check(tmp_path, settings, f"{path}={json.dumps(value)}")
    assert ended.returncode == 1
    assert f"{path}: " in ended.stderr and said in ended.stderr and ended.stderr.count("\n") == 1


@pytest.mark.parametrize("settings, path, value, said", VOID.values(), ids=VOID)
def test_defaults_are_accepted_though_they_have_no_effect(settings, path, value, said, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(settings))
    shown = subprocess.run([PROGRAM, "settings", tmp_path / "config.json"], capture_output=True, text=True, check=True)
    ended = check(tmp_path, json.loads(shown.stdout)["config"])
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("application_type", ["alltoall", "stencil", "stream", "trace"])
def test_what_never_answers_has_no_class_of_replies(application_type):
    explained = subprocess.run([PROGRAM, "explain", "application", application_type], capture_output=True, text=True, check=True)
    assert "reply_protocol_class" not in explained.stdout


def test_explain_and_schema_say_what_an_option_goes_with():
    explained = subprocess.run([PROGRAM, "explain", "router", "packet"], capture_output=True, text=True, check=True).stdout
    rows = schema()["$defs"]["router.packet"]["properties"]
    assert "to cross the router (only with delay \"auto\")" in explained
    assert rows["buffer_depth"]["description"] == "buffer of each virtual channel (not beside buffer) [flits]"

# SPDX-License-Identifier: Apache-2.0
"""The same bytes on any number of threads: results (but for times, memory and what the threads did), logs, and what is said
of a deadlock. On every example; the thread sanitizer looks on for some.
"""
import json
import os
import subprocess
import sys

import pytest

from support import OF_THE_RUN, PROGRAM, ROOT, shorter

sys.path.insert(0, str(ROOT / "tests" / "digests"))
from cases import drawn_configs  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
TSAN = os.environ.get("FLITWARP_TSAN", "")
LOGS = ("log", "message-log", "traffic-log", "rate-log", "channel-log")


def outcome(program, example, threads, directory, *arguments, sync=None):
    sync = sync or ("sequential" if threads == 1 else "conservative")
    logs = [word for name in LOGS for word in (f"--{name}", directory / f"{name}.csv")]
    ended = subprocess.run([program, "run", example, "--quiet", "--sync", sync, "--threads", str(threads), "--results",
                            directory / "r.json", *logs, "--rate-interval", "500", *arguments], capture_output=True, text=True,
                           timeout=600, check=False)
    assert ended.returncode in (0, 2), ended.stderr
    results = json.loads((directory / "r.json").read_text())
    for key in OF_THE_RUN:
        del results["simulation"][key]
    del results["config"]["simulator"]
    return [json.dumps(results), ended.stderr, *((directory / f"{name}.csv").read_text() for name in LOGS)]


def is_of_network(example):
    return "network" in (text := example.read_text()) or "workload" in text


NETWORKS = [example for example in EXAMPLES if is_of_network(example)]


# Threads, how they meet, and more: windows that are too long nearly always, and every tick run twice. Threads on fewer cores take
# long to meet: an example goes one half of the ways, the next one the other. Two conservative threads are in the recorded runs
# (test_digests.py) of every example.
WAYS = [
    [(8, "optimistic", []), (1, "optimistic", ["--check-reversal"])],
    [(8, "conservative", []), (2, "optimistic", []), (3, "optimistic", ["simulator.window=60"])],
]


@pytest.mark.parametrize("number, example", enumerate(NETWORKS), ids=[example.stem for example in NETWORKS])
def test_threads_do_not_show(number, example, tmp_path):
    few = shorter(example)
    alone = outcome(PROGRAM, example, 1, tmp_path, *few)
    for threads, sync, more in WAYS[number % 2]:
        assert outcome(PROGRAM, example, threads, tmp_path, *few, *more, sync=sync) == alone, (threads, sync, more)


def test_threads_do_not_show_in_the_steps_of_a_router_that_is_woken_for_two_times_at_once(tmp_path):
    """A flit that can move and a head that is yet to be routed come in one tick, in either order."""
    row = next(row for row in drawn_configs() if row["name"] == "one_way output_queued")
    row["network"]["router"]["routing_latency"] = 1
    config = tmp_path / "config.json"
    config.write_text(json.dumps({key: row[key] for key in ("simulator", "network", "workload")}))
    alone = outcome(PROGRAM, config, 1, tmp_path)
    assert all(outcome(PROGRAM, config, threads, tmp_path) == alone for threads in (2, 3))


def test_threads_do_not_show_in_the_steps_of_simured(tmp_path):
    """A head, which is routed in a cycle, and another flit, which crosses in two, come in one tick, in either order."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({
        "network": {"topology": {"type": "torus", "widths": [8, 8]}, "channel": {"latency": 3},
                    "router": {"type": "simured", "num_vcs": 4, "buffer_depth": 4, "crossbar_delay": 2, "switching_delay": 0}},
        "workload": {"applications": [{"type": "blast", "load": 0.3, "size": {"type": "uniform", "max": 6}, "warmup": 200,
                                       "sample": 3000}]}}))
    alone = outcome(PROGRAM, config, 1, tmp_path)
    assert all(outcome(PROGRAM, config, threads, tmp_path) == alone for threads in (2, 3))


WEIGHTED = {"type": "weighted", "congestion_bias": 0.1}
AS_SUPERSIM = {
    "dragonfly": ({"type": "dragonfly", "terminals": 2, "routers": 4, "groups": 5, "global": 1, "arrangement": "relative"},
                  {"type": "dragonfly_adaptive", "by_router": True, "reduction": WEIGHTED}, {"type": "staged_output", "output_depth": 16}),
    "tree": ({"type": "folded_clos", "down": [4, 2, 2], "up": [2, 2]}, {"type": "up_down", "reduced": "always"}, {"type": "staged"}),
    "hyperx": ({"type": "hyperx", "widths": [3, 3], "concentration": 2},
               {"type": "ugal", "mode": "offered_sum", "straight_vcs": "together", "by_destination": False, "detour_vcs": "first"},
               {"type": "staged", "output_depth": 4}),
}


@pytest.mark.parametrize("name", AS_SUPERSIM)
def test_threads_do_not_show_in_networks_such_as_supersims(name, tmp_path):
    topology, routing, router = AS_SUPERSIM[name]
    config = {"network": {"topology": topology, "routing": routing, "router": {**router, "num_vcs": 4},
                          "interface": {"type": "queue_per_vc", "choice": "shortest"}},
              "workload": {"applications": [{"type": "blast", "load": 0.4, "size": {"type": "fixed", "flits": 2}, "warmup": 300, "sample": 700}]}}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    alone = outcome(PROGRAM, path, 1, tmp_path)
    for threads, sync, more in [(2, "conservative", []), (2, "optimistic", []), (1, "optimistic", ["--check-reversal"])]:
        assert outcome(PROGRAM, path, threads, tmp_path, *more, sync=sync) == alone, (threads, sync, more)


def test_running_ahead_is_tried_where_nothing_is_set(tmp_path):
    """Now and then, as it may pay; in a torus that is full of packets each try is put back."""
    example = ROOT / "examples" / "torus_uniform.json"
    few = ["workload.check_interval=40", "workload.applications.0.warmup=500", "workload.applications.0.sample=1500"]
    alone = outcome(PROGRAM, example, 1, tmp_path, *few)
    assert outcome(PROGRAM, example, 2, tmp_path, *few, sync="optimistic") == alone
    ended = run("--sync", "optimistic", "--threads", "2", *few)
    assert json.loads(ended.stdout)["simulation"]["sync"]["primary_rollbacks"] > 0


@pytest.mark.skipif(not os.access(TSAN, os.X_OK), reason="FLITWARP_TSAN names no program with the thread sanitizer")
@pytest.mark.parametrize("name", ["request_reply", "memory", "dragonfly_ugal", "butterfly", "input_output_queued", "output_queued", "simured"])
def test_threads_share_nothing_that_changes(name, tmp_path):
    example = ROOT / "examples" / f"{name}.json"
    # Under this sanitizer threads take longest of all to meet: longer channels let them do so more rarely.
    few = ["workload.applications.0.sample=200", "workload.applications.0.warmup=100", "network.channel.latency=10",
           "network.terminal_channel.latency=10"]
    if "single_router" in example.read_text():  # which has no parts
        few += ['network.topology={"type": "mesh", "widths": [4, 4]}', "network.routing=dimension_order", "workload.applications.0.load=0.3"]
    alone = outcome(PROGRAM, example, 1, tmp_path, *few)
    assert outcome(TSAN, example, 3, tmp_path, *few) == alone
    assert outcome(TSAN, example, 3, tmp_path, *few, "simulator.window=25", sync="optimistic") == alone


def run(*arguments):
    return subprocess.run([PROGRAM, "run", ROOT / "examples" / "torus_uniform.json", "--quiet", *arguments], capture_output=True,
                          text=True, timeout=100, check=False)


def test_metis_shares_out_otherwise_with_the_same_results(tmp_path):
    example = ROOT / "examples" / "network_file.json"
    ended = run("--sync", "conservative", "--threads", "2", "simulator.partition=metis", "workload.applications.0.sample=100")
    if "built without METIS" in ended.stderr:
        pytest.skip("built without METIS")
    assert outcome(PROGRAM, example, 3, tmp_path, "simulator.partition=metis") == outcome(PROGRAM, example, 1, tmp_path)


@pytest.mark.parametrize("topology, latencies", [
    ({"type": "dragonfly", "terminals": 4, "routers": 8, "global": 4}, [10, 100]),
    ({"type": "dragonfly_2d", "terminals": 1, "columns": 4, "rows": 2, "global": 4}, [10, 20, 100]),
    ({"type": "megafly", "terminals": 2, "leaves": 4, "spines": 4, "global": 8}, [10, 100]),
], ids=lambda value: value.get("type") if isinstance(value, dict) else "")
def test_parts_are_cut_where_only_long_channels_cross(topology, latencies, tmp_path):
    """33 groups of 8 routers in halves: a cut within a group would make windows of its 10 ticks, not of the 100 between groups."""
    (tmp_path / "c.json").write_text(json.dumps({
        "network": {"topology": topology, "routing": "dragonfly_minimal", "channel": {"latencies": latencies}},
        "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 100, "sample": 100}]}}))
    for threads in (2, 3, 5):
        ended = subprocess.run([PROGRAM, "run", tmp_path / "c.json", "--quiet", "--sync", "conservative", "--threads", str(threads)],
                               capture_output=True, text=True, timeout=100, check=True)
        assert json.loads(ended.stdout)["simulation"]["sync"]["window"] == 102


def test_more_threads_than_routers_are_as_many_as_routers():
    ended = run("--sync", "conservative", "--threads", "100", "network.topology.widths=[2,2]", "workload.applications.0.sample=100")
    assert ended.returncode == 0 and json.loads(ended.stdout)["simulation"]["sync"]["threads"] == 4


def test_windows_are_the_shortest_way_between_parts():
    """A flit takes 1 + 1 cycles from the grant to the channel, a credit as many, and then the channel's latency."""
    ended = run("--sync", "conservative", "--threads", "2", "network.channel.latency=5", "workload.applications.0.sample=100")
    sync = json.loads(ended.stdout)["simulation"]["sync"]
    assert sync["window"] == 7 and sync["windows"] > 0 and 0 < sync["remote_share"] < 0.5


def test_a_window_that_is_too_long_ends_at_the_horizon(tmp_path):
    """One message across the middle of a line of two routers: nothing else can be late, so the state is put back once for the
    flit and once for the credit, or less where a window begins there; and every window without them is right."""
    (tmp_path / "c.json").write_text(json.dumps({
        "network": {"topology": {"type": "mesh", "widths": [2]}, "channel": {"latency": 5}},
        "workload": {"applications": [{"type": "alltoall", "iterations": 1}]}}))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "c.json", "--quiet", "--sync", "optimistic", "--threads", "2",
                            "simulator.window=100"], capture_output=True, text=True, timeout=100, check=True)
    sync = json.loads(ended.stdout)["simulation"]["sync"]
    assert sync["window"] == 7 and 1 <= sync["primary_rollbacks"] <= 2 and sync["secondary_rollbacks"] == 0
    assert sync["remote_events"] == 4 and 0 < sync["rolled_back"] <= sync["committed"]
    assert sync["events"] == sync["committed"] + sync["rolled_back"]
    assert sync["efficiency"] == pytest.approx(1 - sync["rolled_back"] / sync["committed"])


FORGETFUL = """
#include "flitwarp/injection.h"

static uint64_t gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    static uint64_t calls; /* which nothing puts back */
    (void)injection, (void)state, (void)first, (void)random;
    return 10 + calls++ % 7;
}
static const struct option options[] = {OPTION_END};
static const struct injection_ops forgetful = {.name = "forgetful", .summary = "keeps its state to itself", .options = options,
    .gap = gap};
REGISTER_INJECTION(forgetful);
"""


def test_state_that_is_not_put_back_is_found(tmp_path):
    (tmp_path / "forgetful.c").write_text(FORGETFUL)
    subprocess.run(["gcc", "-std=c17", "-fPIC", "-shared", f"-I{ROOT / 'include'}", tmp_path / "forgetful.c", "-o",
                    tmp_path / "forgetful.so"], check=True)
    ended = subprocess.run([PROGRAM, "--plugin", tmp_path / "forgetful.so", "run", ROOT / "examples" / "torus_uniform.json",
                            "--quiet", "--sync", "optimistic", "--check-reversal", "workload.applications.0.injection=forgetful"],
                           capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 2 and "end in another state" in ended.stderr, ended.stderr


@pytest.mark.parametrize("arguments, said", [
    (["--threads", "2"], 'simulator.threads: 2 threads need "sync": "conservative"'),
    (["--sync", "conservative", "--threads", "0"], "simulator.threads"),
    (["--sync", "optimism"], "simulator.sync"),
    (["--sync", "conservative", "--threads", "2", 'network.routing={"type": "ugal", "knowledge": "global"}',
      "network.router.num_vcs=8"], "network.routing.knowledge: this setting reads other routers"),
    (["--sync", "conservative", "--threads", "2", 'network.routing={"type": "ugal", "decides": "source"}',
      "network.router.num_vcs=8"], "network.routing.decides: this setting reads other routers at no delay, which threads cannot; "
     "accepted: 'router'"),
])
def test_what_threads_cannot_do_is_refused(arguments, said):
    ended = run(*arguments)
    assert ended.returncode == 1 and said in ended.stderr and not ended.stdout, ended.stderr

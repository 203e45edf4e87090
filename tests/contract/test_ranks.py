# SPDX-License-Identifier: Apache-2.0
"""Networks over MPI ranks: the same bytes as on one, in results (but for times, memory and what the ranks did) and in every
log, on every example; what cannot run so is refused once; a run whose rank is killed ends.
"""
import json
import os
import signal
import subprocess
import time

import pytest

from support import OF_THE_RUN, PROGRAM, ROOT, children, mpirun, shorter, still_running, wait_for

TORUS = ROOT / "examples" / "torus_uniform.json"
LOGS = {"--log": "packets.csv", "--message-log": "messages.csv", "--traffic-log": "traffic.csv", "--rate-log": "rates.csv",
        "--channel-log": "channels.csv"}
EVERYTHING = ["workload.series_interval=150", "workload.per_terminal=true", "workload.per_channel=true"]


def outcome(example, ranks, threads, directory, *arguments, sync="conservative"):
    """What a run leaves behind, without what may differ."""
    how = ["--sync", sync, "--threads", str(threads)] if ranks * threads > 1 else []
    files = [word for flag, name in LOGS.items() for word in (flag, str(directory / name))]
    ended = subprocess.run([*(mpirun(ranks) if ranks > 1 else []), PROGRAM, "run", example, "--quiet", *how, *files,
                            "--rate-interval", "200", "--results", directory / "r.json", *arguments], capture_output=True,
                           text=True, timeout=600, check=False)
    assert ended.returncode in (0, 2), ended.stderr
    results = json.loads((directory / "r.json").read_text())
    sync = results["simulation"]["sync"]
    assert sync["ranks"] == ranks and sync["threads"] <= threads
    for key in (*OF_THE_RUN, "bytes_per_router"):
        del results["simulation"][key]
    del results["config"]["simulator"]
    return ended.returncode, json.dumps(results), [(directory / name).read_text() for name in LOGS.values()]


NETWORKS = [example for example in sorted((ROOT / "examples").glob("*.json"))
            if "network" in example.read_text() or "workload" in example.read_text()]


# Ranks, threads of each, and how they meet. A start by mpirun is dear: every example is run in one of two ways, every fourth in all.
# Two and three ranks of a thread each are in the recorded runs (test_digests.py).
WAYS = [(2, 2, "conservative"), (4, 1, "optimistic")]
MORE_WAYS = [(4, 1, "conservative")]


@pytest.mark.parametrize("number, example", enumerate(NETWORKS), ids=[example.stem for example in NETWORKS])
def test_ranks_do_not_show(number, example, tmp_path):
    mpirun(2)
    few = [*shorter(example), *EVERYTHING]
    alone = outcome(example, 1, 1, tmp_path, *few)
    for ranks, threads, sync in [*WAYS, *MORE_WAYS] if number % 4 == 0 else WAYS[number % 2:][:1]:
        assert outcome(example, ranks, threads, tmp_path, *few, sync=sync) == alone, (ranks, threads, sync)


# What rules decide from a view of the whole: the end of warm-up, a window that is long enough, transactions of several.
RULES = {
    "auto": ["workload.applications.0.min_sample=500", "workload.applications.0.max_sample=1000"],
    "transactions": ["workload.applications.0.warmup=200", "workload.applications.0.sample=400",
                     "workload.applications.0.messages_per_transaction=3", "workload.applications.0.reply=fixed",
                     "workload.applications.0.transaction_destinations=each", "workload.applications.0.load=0.1"],
    "packets": ["workload.applications.0.warmup=200", "workload.applications.0.sample=400",
                'workload.applications.0.size={"type": "uniform", "max": 9}', "workload.applications.0.max_packet=2"],
    "random_places": ["workload.applications.0.warmup=200", "workload.applications.0.sample=400",
                      'workload.applications.0.allocation={"type": "random", "count": 40}'],
}


@pytest.mark.parametrize("rule", RULES)
def test_ranks_decide_alike(rule, tmp_path):
    mpirun(2)
    settings = [*RULES[rule], "network.channel.latency=20"]  # ranks on few cores are slow to meet, and now do so more rarely
    alone = outcome(TORUS, 1, 1, tmp_path, *settings)
    for ranks, threads in ((2, 2), (3, 1), (4, 2)):
        assert outcome(TORUS, ranks, threads, tmp_path, *settings) == alone, (ranks, threads)


def run(ranks, *arguments, config=TORUS, timeout=100):
    return subprocess.run([*mpirun(ranks), PROGRAM, "run", config, "--quiet", *arguments], capture_output=True, text=True,
                          timeout=timeout, check=False)


SHORT = ["workload.applications.0.warmup=100", "workload.applications.0.sample=100"]


# Issue 22's torus with the routers of bench/scaling: four ranks together take at most 1.5 times the memory of one, none more
# than 0.4 of it. That holds though MPI takes some 9 MiB of each and the program itself 6.
def test_four_ranks_share_a_torus_of_32768_routers(tmp_path):
    mpirun(4)
    peaks, digests = [], set()
    for ranks in (1, 4):
        how = [*mpirun(ranks)] if ranks > 1 else []
        subprocess.run([*how, PROGRAM, "run", ROOT / "bench" / "scaling" / "torus_65536.json", "--quiet", "--sync",
                        "conservative", "--results", tmp_path / "r.json", "network.topology.widths=[32,32,32]",
                        "workload.applications.0.warmup=20", "workload.applications.0.sample=20",
                        "workload.applications.0.load=0.05"], timeout=300, check=True)
        simulation = json.loads((tmp_path / "r.json").read_text())["simulation"]
        peaks.append(simulation["peak_rss_bytes"])
        digests.add(simulation["digest"])
    assert len(digests) == 1
    assert peaks[1] <= 1.5 * peaks[0] and simulation["sync"]["largest_rank_bytes"] <= 0.4 * peaks[0], peaks


# What reads more than a rank's own routers: tables of minimal ways at the border, routers that look at those beside them,
# terminals that leave elsewhere, planes. With a terminal on every router, and none on most.
SHARED = {
    "jellyfish": {"topology": {"type": "jellyfish", "routers": 30, "degree": 4}, "routing": "minimal",
                  "router": {"type": "input_queued", "num_vcs": 6}},
    "adaptive": {"topology": {"type": "slim_fly", "q": 5}, "routing": "minimal_adaptive",
                 "router": {"type": "input_queued", "num_vcs": 4}},
    "detours": {"topology": {"type": "slim_fly", "q": 4}, "routing": "ugal", "router": {"type": "input_queued", "num_vcs": 4}},
    "ahead": {"topology": {"type": "mesh", "widths": [5, 5]}, "interface": {"type": "booksim"},
              "router": {"type": "booksim", "num_vcs": 8, "vcs_by_next_output": True}},
    "booksim": {"topology": {"type": "mesh", "widths": [5, 5]}, "interface": {"type": "booksim"}, "router": {"type": "booksim", "num_vcs": 8}},
    "booksim, general": {"topology": {"type": "mesh", "widths": [5, 5]}, "interface": {"type": "booksim"},
                         "router": {"type": "booksim", "num_vcs": 8, "general": True}},
    "fast terminals": {"topology": {"type": "torus", "widths": [4, 4]}, "router": {"type": "packet", "buffer_depth": 32, "num_vcs": 2},
                       "channel": {"latency": 10, "cycle": 4}, "terminal_channel": {"cycle": 1}},
    "fast channels": {"topology": {"type": "mesh", "widths": [4, 4]}, "router": {"type": "packet", "buffer_depth": 32, "num_vcs": 2},
                      "channel": {"latency": 10, "cycle": 2}, "terminal_channel": {"cycle": 7}},
    "sensors": {"topology": {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "routing": "ugal",
                "router": {"type": "input_queued", "num_vcs": 4, "buffer_depth": 100}, "channel": {"latencies": [3, 20]}},
    "butterfly": {"topology": {"type": "butterfly", "radix": 3, "stages": 3}, "routing": "destination_tag"},
    "planes": {"topology": {"type": "torus", "widths": [4, 3]}, "planes": {"count": 2}},
    "levels": {"topology": {"type": "cluster", "servers": 3, "gpus": 4, "switches": 2}, "routing": {"type": "hierarchical", "gateways": "destination"},
               "router": {"type": "input_queued", "num_vcs": 2}},
    "clos": {"topology": {"type": "folded_clos", "radix": 8}, "routing": "up_down",
             "router": {"type": "input_output_queued", "num_vcs": 2}},
}


@pytest.mark.parametrize("name", SHARED)
def test_what_ranks_know_of_each_other_does_not_show(name, tmp_path):
    mpirun(2)
    config = tmp_path / "shared.json"
    config.write_text(json.dumps({"network": {"channel": {"latency": 10}, **SHARED[name]}, "workload": {"applications": [
        {"type": "blast", "load": 0.2, "warmup": 100, "sample": 300, "size": {"type": "uniform", "max": 5}}]}}))
    alone = outcome(config, 1, 1, tmp_path, *EVERYTHING)
    for ranks, threads in ((2, 1), (3, 2), (4, 1), (7, 1)):
        assert outcome(config, ranks, threads, tmp_path, *EVERYTHING) == alone, (ranks, threads)


def test_threads_are_fewer_where_routers_are():
    ended = run(2, "--sync", "conservative", "--threads", "4", "network.topology.widths=[2,3]", *SHORT)
    sync = json.loads(ended.stdout)["simulation"]["sync"]
    assert (sync["ranks"], sync["threads"]) == (2, 3) and sync["windows"] > 0 and 0 < sync["remote_share"] < 1


def test_ranks_may_have_nothing_to_do():
    ended = run(4, "--sync", "conservative", "--threads", "2", "network.topology.widths=[3]", *SHORT)
    sync = json.loads(ended.stdout)["simulation"]["sync"]
    assert (sync["ranks"], sync["threads"]) == (4, 1)
    assert sync["waiting_share"] > 0.1, "a rank of four does nothing but wait for the others"


@pytest.mark.parametrize("arguments, said, status", [
    ([], "simulator.sync: found 'sequential' with 2 ranks, expected 'conservative'", 1),
    (["--sync", "optimistic", "--check-reversal"], "simulator.check_reversal: found true", 1),
    (["--sync", "conservative", "network.router.num_vcs=none"], "network.router.num_vcs", 1),
    (["--sync", "conservative", "--frob"], "'--frob' is not understood", 1),
    (["--sync", "conservative", "--rate-log", "r.csv"], "--rate-log: there is no interval", 1),
    (["--sync", "conservative", "--results", "/nowhere/r.json"], "/nowhere/r.json", 3),
    (["--sync", "conservative", "--log", "/nowhere/l.csv"], "/nowhere/l.csv", 3),
], ids=lambda value: value[-1].split("=")[0].strip("-").replace("/", "_") if isinstance(value, list) and value else None)
def test_what_is_wrong_is_said_once_and_ends_all(arguments, said, status):
    ended = run(2, *arguments, *SHORT)
    assert ended.returncode == status and ended.stderr.count(said) == 1 and not ended.stdout, ended.stderr


def test_a_configuration_that_is_not_there_ends_all(tmp_path):
    ended = run(2, config=tmp_path / "none.json")
    assert ended.returncode == 1 and ended.stderr.count("none.json:") <= 1 and "none.json" in ended.stderr


@pytest.mark.parametrize("other, said", [
    ("missing.json", "missing.json"),
    (f"{TORUS} simulator.seed=2", "ranks have different settings"),
], ids=["missing", "different"])
def test_a_rank_that_differs_ends_all(other, said):
    """As where a file is missing, or an old copy, on one machine."""
    script = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && set -- {other} || set -- {TORUS}; exec {PROGRAM} run "$@" --quiet --sync conservative'
    ended = subprocess.run([*mpirun(3), "sh", "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 1 and ended.stderr.count(said) == 1 and not ended.stdout, ended.stderr


def test_a_deadlock_is_found_over_ranks():
    ended = run(2, "--sync", "conservative", config=ROOT / "examples" / "deadlock_torus.json")
    assert ended.returncode == 2 and json.loads(ended.stdout)["outcome"] == "deadlock"
    assert ended.stderr.count("deadlock at tick") == 1 and ended.stderr.count(" holds ") >= 4


ENDLESS = ["--sync", "conservative", "--threads", "2", "workload.applications.0.warmup=0",
           "workload.applications.0.sample=100000000"]


def start_endless(ranks, out):
    """A run that goes on for ever, and its ranks once they are there."""
    process = subprocess.Popen([*mpirun(ranks), PROGRAM, "run", TORUS, "--quiet", *ENDLESS], stdout=out, stderr=subprocess.STDOUT)
    for _ in range(300):
        time.sleep(0.1)
        if len(found := children(process.pid)) >= ranks:
            break
    time.sleep(1)
    return process, found


@pytest.mark.parametrize("victim", [0, -1])
def test_a_killed_rank_ends_the_run(victim, tmp_path):
    with open(tmp_path / "out", "w") as out:
        process, ranks = start_endless(3, out)
        os.kill(ranks[victim], signal.SIGKILL)
        assert wait_for(process) != 0
    assert "signal 9 (Killed)" in (tmp_path / "out").read_text()
    assert not still_running(ranks)


def test_an_interrupted_rank_ends_the_run_with_what_there_is(tmp_path):
    with open(tmp_path / "out", "w") as out:
        process, ranks = start_endless(2, out)
        os.kill(ranks[-1], signal.SIGINT)
        assert wait_for(process) == 130
    assert '"outcome": "interrupted"' in (tmp_path / "out").read_text()


BROKEN = """
#include "flitwarp/application.h"

struct config { struct application_config common; };
static uint32_t counted; /* that prepare() does not share */
static void prepare(struct application *application, struct errors *errors) { (void)application, (void)errors; }
static void begin(struct application *application) { application_wake_at(application, application->ranks - 1, 5); }
static void wake(struct application *application, uint32_t rank, tick_t now)
{
    (void)rank, (void)now;
    application_count(application, &counted, 1);
}
static void check(struct application *application, tick_t now)
{
    application->ready = now > 1000;
    application->complete = application->phase == PHASE_GENERATING;
    application->done = application->phase == PHASE_FINISHING;
}
static const struct application_ops broken = {.name = "broken", .summary = "counts what is not shared", .options = application_options,
    .prepare = prepare, .begin = begin,
    .wake = wake, .check = check};
REGISTER_APPLICATION(broken);
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_broken_invariant_on_one_rank_ends_all(ranks, tmp_path):
    (tmp_path / "broken.c").write_text(BROKEN)
    subprocess.run(["gcc", "-std=c17", "-fPIC", "-shared", f"-I{ROOT / 'include'}", tmp_path / "broken.c", "-o",
                    tmp_path / "broken.so"], check=True)
    ended = subprocess.run([*(mpirun(ranks) if ranks > 1 else []), PROGRAM, "--plugin", tmp_path / "broken.so", "run", TORUS,
                            "--quiet", "--sync", "conservative", "workload.applications.0=broken"], capture_output=True,
                           text=True, timeout=100, check=False)
    assert ended.returncode == 2 and ended.stderr.count("changes what prepare() did not share") == 1, ended.stderr

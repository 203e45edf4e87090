# SPDX-License-Identifier: Apache-2.0
"""Models of processes: the same answer sequentially, conservatively and optimistically, over threads and MPI ranks; wrong
settings and wrong models are refused with a message; a run whose rank or thread fails ends."""
import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from support import PROGRAM, ROOT, children, mpirun, still_running, wait_for

PHOLD = ROOT / "examples" / "phold.json"
TSAN = os.environ.get("FLITWARP_TSAN", "")
THREADS = (1, 8)  # tests/contract/test_digests.py has the same loads on 2 and 3, and under the address sanitizer
# Little work of different kinds: many events at one tick, no lookahead, long delays, processes that hardly talk.
LOADS = {
    "ties": ["model.processes=64", "model.events=4", "model.lookahead=1", "model.mean_delay=2", "model.end=150",
             "model.remote=0.5"],
    "no_lookahead": ["model.processes=50", "model.events=3", "model.lookahead=0", "model.mean_delay=5", "model.end=200",
                     "model.remote=1"],
    "long_delays": ["model.processes=77", "model.lookahead=5000", "model.mean_delay=1000000", "model.end=12000000"],
    "few_remote": ["model.processes=500", "model.lookahead=10", "model.mean_delay=1000", "model.end=8000",
                   "model.remote=0.02"],
    "few_processes": ["model.processes=3", "model.lookahead=10", "model.mean_delay=100", "model.end=8000"],
}
WAYS = {
    "conservative": ["--sync", "conservative"],
    "optimistic": ["--sync", "optimistic"],
    "tiny_window": ["--sync", "optimistic", "simulator.window=1"],
    "one_partition": ["--sync", "optimistic", "simulator.partitions=1", "simulator.window=50"],
}


def run(*arguments, program=PROGRAM, config=PHOLD, ranks=1, status=0, plugin=None, timeout=120):
    launcher = mpirun(ranks) if ranks > 1 else []
    loaded = ["--plugin", plugin] if plugin else []
    command = [*launcher, program, *loaded, "run", config, *arguments, "--quiet"]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, check=False,
                           env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})
    assert ended.returncode == status, ended.stderr
    return json.loads(ended.stdout) if status == 0 else ended.stderr


def answer(results):
    """What may not depend on how it ran."""
    simulation = results["simulation"]
    return results["model"], simulation["digest"], simulation["events"], simulation["end_tick"], results["complete"]


@pytest.fixture(scope="module")
def sequential():
    return {name: answer(run(*settings)) for name, settings in LOADS.items()}


def possible(load, way):
    return not (load == "no_lookahead" and way == "conservative")


CASES = [pytest.param(load, way, id=f"{load}-{way}") for load, way in itertools.product(LOADS, WAYS) if possible(load, way)]


@pytest.mark.parametrize("load, way", CASES)
def test_any_number_of_threads_gives_the_sequential_answer(load, way, sequential):
    for threads in THREADS:
        results = run(*LOADS[load], *WAYS[way], "--threads", threads)
        assert answer(results) == sequential[load], threads
        sync = results["simulation"]["sync"]
        assert sync["threads"] == threads and sync["events"] - sync["rolled_back"] == sync["committed"]


def check_ranks(load, way, ranks, threads, sequential):
    results = run(*LOADS[load], *WAYS[way], "--threads", threads, ranks=ranks)
    assert answer(results) == sequential[load]
    assert results["simulation"]["sync"]["ranks"] == ranks


@pytest.mark.parametrize("load, way", CASES)
def test_many_ranks_give_the_sequential_answer(load, way, sequential):
    """Two and three are among the recorded runs."""
    check_ranks(load, way, 4, 1, sequential)


@pytest.mark.parametrize("way", WAYS)
def test_ranks_with_threads_give_the_sequential_answer(way, sequential):
    check_ranks("few_processes", way, 2, 2, sequential)


@pytest.mark.parametrize("load, way", CASES)
@pytest.mark.skipif(not os.access(TSAN, os.X_OK), reason="FLITWARP_TSAN names no program with the thread sanitizer")
def test_threads_share_nothing_that_changes(load, way, sequential):
    assert answer(run(*LOADS[load], *WAYS[way], "--threads", 3, program=TSAN)) == sequential[load]


def test_optimistic_runs_roll_back_and_say_so():
    settings = ["model.processes=64", "model.lookahead=0", "model.mean_delay=100", "model.remote=0.5", "model.end=100000"]
    sync = run(*settings, "--sync", "optimistic", "--threads", 4)["simulation"]["sync"]
    assert sync["rolled_back"] > 0 and sync["primary_rollbacks"] > 0 and sync["gvt_count"] > 1
    assert sync["efficiency"] == pytest.approx(1 - sync["rolled_back"] / sync["committed"])
    assert 0.2 < sync["remote_share"] < 0.5  # half of the events go to any process, three in four of them elsewhere
    assert sync["events_per_second"] > 0


def test_conservative_runs_roll_nothing_back():
    sync = run("--sync", "conservative", "--threads", 2)["simulation"]["sync"]
    assert sync["rolled_back"] == 0 and sync["efficiency"] == 1 and sync["gvt_count"] > 100


# ---- refusals ----

@pytest.mark.parametrize("arguments, message", [
    (["--threads", 2], "simulator.threads: found 2 with sync 'sequential', expected 1"),
    (["--sync", "conservative", "model.lookahead=0"], "without lookahead, expected 'sequential' or 'optimistic'"),
    (["--sync", "optimistik"], "did you mean 'optimistic'?"),
    (["--sync", "optimistic", "--threads", 0], "simulator.threads: 0 is below 1"),
    (["--check-reversal"], "simulator.check_reversal: found true, expected it with sync 'optimistic' and one thread"),
    (["--check-reversal", "--sync", "optimistic", "--threads", 2], "simulator.check_reversal: found true"),
    (["--log", "packets.csv"], "--log: a model has no packets or channels to log"),
    (["network.topology=mesh"], "network: unknown key, expected one of simulator, model"),
    (["model.type=pholt"], "did you mean 'phold'?"),
    (["model.remote=1.5"], "model.remote: 1.5 is above 1"),
])
def test_wrong_settings_are_refused(arguments, message):
    assert message in run(*arguments, status=1)


def test_sequential_over_ranks_is_refused():
    assert "found 'sequential' with 2 ranks, expected 'conservative' or 'optimistic'" in run(ranks=2, status=1)


def test_a_network_does_not_run_over_ranks():
    assert "2 ranks" in run(ranks=2, status=1, config=ROOT / "examples" / "torus_uniform.json")


def test_a_model_has_no_packets_to_trace():
    ended = subprocess.run([PROGRAM, "trace", str(PHOLD), "--packet", "1"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "found a model, expected a network and a workload" in ended.stderr


def test_results_that_cannot_be_written_are_refused_before_the_run(tmp_path):
    assert "no/such" in run("--results", tmp_path / "no" / "such" / "file.json", status=3)


# ---- wrong models ----

FAULTY = r"""
#include "flitwarp/process.h"

struct faulty_config {
    uint32_t fault;
};
static const char *const faults[] = {"none", "forgets", "hurries", "goes_back", "repeats", NULL};
enum { NO_FAULT, FORGETS, HURRIES, GOES_BACK, REPEATS };
static const struct option faulty_options[] = {
    OPTION_ENUM(struct faulty_config, fault, "\"none\"", faults, "what it does wrong"),
    OPTION_END,
};

enum { PROCESSES = 8 };
struct faulty_state {
    uint64_t counts[PROCESSES]; /* of all, each used by its owner */
};

static void faulty_prepare(struct model *model, struct errors *errors)
{
    (void)errors;
    model->lookahead = 100;
    model->end = 100000;
    model->sum_count = 1;
}
static uint32_t faulty_owner(const struct model *model, uint64_t process, uint32_t partitions)
{
    (void)model;
    return process_block(process, PROCESSES, partitions);
}
static void faulty_build(struct partition *partition)
{
    partition->state = process_memory(partition, sizeof(struct faulty_state));
}
static void faulty_begin(struct partition *partition)
{
    for (uint64_t process = 0; process < PROCESSES; process++)
        if (faulty_owner(partition->model, process, partition->count) == partition->number)
            process_post(partition, &(struct event){.time = 1000, .process = process, .tie = process});
}
static void faulty_handle(struct partition *partition, struct event *event)
{
    const struct faulty_config *config = partition->model->config;
    struct faulty_state *state = partition->state;
    uint64_t *count = &state->counts[event->process], other = (event->process + 1) % PROCESSES;
    if (config->fault != FORGETS)
        process_save(partition, count, sizeof *count);
    ++*count;
    struct event next = {.time = event->time + 100, .process = other, .tie = event->tie};
    if (event->time > 50000 && config->fault == HURRIES)
        next.time -= 99;
    if (event->time > 50000 && config->fault == GOES_BACK)
        next.time -= 101;
    if (event->time > 50000 && config->fault == REPEATS)
        process_post(partition, &next);
    process_post(partition, &next);
}
static void faulty_commit(struct partition *partition, const struct event *event)
{
    partition->sums[0]++;
    digest_add(&partition->digest, (const uint64_t[]){event->time, event->process, event->tie}, 3);
}
static void faulty_results(const struct model *model, const struct model_totals *totals, struct report *report)
{
    (void)model;
    report_count(report, "events", totals->sums[0]);
}
static const struct model_ops faulty = {
    .name = "faulty", .summary = "does one thing wrong", .options = faulty_options,
    .prepare = faulty_prepare, .owner = faulty_owner,
    .build = faulty_build, .begin = faulty_begin, .handle = faulty_handle, .commit = faulty_commit,
    .results = faulty_results,
};
REGISTER_MODEL(faulty);
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "faulty.c").write_text(FAULTY)
    subprocess.run(["gcc", "-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{ROOT / 'include'}",
                    folder / "faulty.c", "-o", folder / "faulty.so"], check=True)

    def call(fault, *arguments, **more):
        config = folder / f"{fault}.json"
        config.write_text(json.dumps({"model": {"type": "faulty", "fault": fault}}))
        return run(*arguments, config=config, plugin=folder / "faulty.so", **more)

    return call


def test_a_model_may_be_a_plugin(faulty):
    expected = answer(faulty("none"))
    for sync in ("conservative", "optimistic"):
        assert answer(faulty("none", "--sync", sync, "--threads", 3)) == expected
    assert answer(faulty("none", "--sync", "optimistic", "--check-reversal")) == expected


def test_what_is_not_saved_is_found(faulty):
    message = faulty("forgets", "--sync", "optimistic", "--check-reversal", status=2)
    assert "tick 1000, process 0: with 1 event from here on undone the state is not as it was" in message
    assert "expected process_save()" in message


def test_more_haste_than_the_lookahead_ends_all_threads(faulty):
    message = faulty("hurries", "--sync", "conservative", "--threads", 4, status=2)
    assert "sooner than model 'faulty' says by its lookahead of 100 ticks" in message


def test_a_rank_that_fails_ends_all_ranks(faulty):
    message = faulty("hurries", "--sync", "conservative", ranks=4, status=2)
    assert "sooner than model 'faulty' says by its lookahead of 100 ticks" in message


def test_an_event_to_the_past_is_refused(faulty):
    assert "whose key is not above its own" in faulty("goes_back", status=2)


def test_two_events_with_one_key_are_refused(faulty):
    assert "have the same key" in faulty("repeats", status=2)


# ---- ends ----

ENDLESS = ["model.end=1e18", "model.processes=100"]


@pytest.mark.parametrize("how", [["--sync", "sequential"], ["--sync", "conservative", "--threads", "3"],
                                 ["--sync", "optimistic", "--threads", "3"]], ids=lambda how: how[1])
def test_an_interrupted_run_writes_what_it_has(how, tmp_path):
    results = tmp_path / "results.json"
    process = subprocess.Popen([PROGRAM, "run", str(PHOLD), *ENDLESS, *how, "--quiet", "--results", str(results)])
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    assert wait_for(process) == 130
    document = json.loads(results.read_text())
    assert not document["complete"] and document["outcome"] == "interrupted"
    assert document["model"]["events"] == document["simulation"]["events"] > 0


def test_a_terminal_sees_gvt_and_efficiency():
    terminal, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, "run", str(PHOLD), *ENDLESS, "--sync", "optimistic", "--threads", "2"],
                               stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = ""
    while not re.search(r"GVT \d+ .* M events/s  efficiency [01]\.\d+", seen):
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096).decode()
    process.send_signal(signal.SIGINT)
    assert wait_for(process) == 130
    os.close(terminal)


@pytest.mark.parametrize("sync", ["conservative", "optimistic"])
def test_a_killed_rank_ends_the_run(sync, tmp_path):
    command = [*mpirun(3), PROGRAM, "run", str(PHOLD), *ENDLESS, "--sync", sync, "--quiet"]
    with open(tmp_path / "out", "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        ranks = []
        for _ in range(300):
            time.sleep(0.1)
            ranks = children(process.pid)
            if len(ranks) >= 3:
                break
        time.sleep(0.5)
        os.kill(ranks[-1], signal.SIGKILL)
        assert wait_for(process) != 0
    assert "signal 9 (Killed)" in (tmp_path / "out").read_text()
    assert not still_running(ranks)

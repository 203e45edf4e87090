# SPDX-License-Identifier: Apache-2.0
"""Many jobs on one network: several ranks at a terminal, start times, jobs beside each other and alone.

Times are counted by hand on the ideal network of test_trace.py, whose costs are L, O and G."""
import json
import subprocess

import pytest

from support import PROGRAM, ROOT, blast, config_of, invoke, network_of, run, run_logged
from test_trace import G, L, LIMIT, O, config, dissemination, eager, text_of

LOCAL = 700  # the latency within a terminal


@pytest.fixture
def results(tmp_path):
    """Of jobs side by side: (statements of each rank, settings of the application)."""
    def play(*jobs, terminals=4, network=None, arguments=()):
        applications = []
        for number, (ranks, settings) in enumerate(jobs):
            file = tmp_path / f"job{number}.goal"
            file.write_text(text_of(ranks))
            whole = config(file, terminals, **settings)
            applications += whole["workload"]["applications"]
        whole["workload"]["applications"] = applications
        found = json.loads(invoke(whole, network, arguments=arguments)[0])
        assert found["complete"]
        return found
    return play


def shared(count=2, **settings):
    return {"ranks_per_terminal": count, "local_latency": LOCAL, **settings}


# ---- several ranks at a terminal ----

def test_messages_within_a_terminal_take_the_local_latency(results):
    # Ranks 0 and 1 are at terminal 0, 2 and 3 at the next.
    ranks = ["a: send 1000b to 1; b: send 1000b to 2; b requires a", "recv 1000b from 0", "recv 1000b from 0", ""]
    block = results((ranks, shared()))["applications"][0]
    assert block["time_by_rank"] == [2 * O, O + LOCAL + O, eager(1000, sent=O), 0]
    assert block["packets"] == 1 and block["bytes"] == 2000 and block["ranks"] == 4


def test_large_messages_within_a_terminal_wait_for_their_receive(results):
    size = LIMIT + 1
    block = results(([f"send {size}b to 1", f"c: calc 50000; r: recv {size}b from 0; r requires c"], shared()))
    times = block["applications"][0]["time_by_rank"]
    assert times == [50000 + LOCAL, 50000 + 2 * LOCAL + O] and block["applications"][0]["packets"] == 0


def test_a_rank_sends_to_itself_within_its_terminal(results):
    block = results((["send 9b to 0; recv 9b from 0"], shared(1)))["applications"][0]
    assert block["time_by_rank"] == [O + LOCAL + O] and block["packets"] == 0


def test_ranks_of_a_terminal_share_its_channel(results):
    # Rank 0 and rank 1 send at once over one channel of a flit every G: the second waits for the first one's 1000 flits.
    ranks = ["send 1000b to 2", "send 1000b to 3", "recv 1000b from 0", "recv 1000b from 1"]
    times = results((ranks, shared()))["applications"][0]["time_by_rank"]
    assert times == [O, O, eager(1000), eager(1000) + 1000 * G]


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_dissemination_ends_wherever_its_ranks_are(count, results):
    # Rounds of distance 1, 2 and 4; with 8 to a terminal all are within it, with 1 all without.
    block = results((dissemination(8), shared(count)), terminals=8)["applications"][0]
    assert block["unfinished_ranks"] == 0
    if count in (1, 8):
        assert block["time_by_rank"] == [3 * (2 * O + (L if count == 1 else LOCAL))] * 8
    assert (block["packets"] == 0) == (count == 8)


def test_collectives_of_a_motif_stay_within_their_terminal():
    barrier = {"type": "collective", "operation": "barrier", "iterations": 1}
    whole = config(None, 2, motif=barrier, allocation={"type": "list", "terminals": [1]}, **shared(8))
    whole["workload"]["applications"][0]["file"] = None
    block = json.loads(invoke(whole)[0])["applications"][0]
    assert block["time_by_rank"] == [3 * (2 * O + LOCAL)] * 8 and block["packets"] == 0


def test_more_ranks_than_room_are_refused(tmp_path):
    (tmp_path / "job.goal").write_text(text_of(["calc 1"] * 5))
    (tmp_path / "config.json").write_text(json.dumps(config("job.goal", 2, ranks_per_terminal=2)))
    ended = subprocess.run([PROGRAM, "run", "config.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "5 ranks for an application on 2 terminals (ranks_per_terminal is 2)" in ended.stderr


def test_ranks_that_wait_within_a_terminal_are_reported(tmp_path):
    (tmp_path / "job.goal").write_text(text_of(["send 4b to 1 tag 1", "recv 4b from 0 tag 2"]))
    (tmp_path / "config.json").write_text(json.dumps(config("job.goal", 2, ranks_per_terminal=2)))
    ended = subprocess.run([PROGRAM, "run", "config.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "rank 1: no receive has taken the message of rank 0" in ended.stderr


# ---- beside each other ----

TORUS = {"network.topology": {"type": "torus", "widths": [4, 2]}, "network.routing": "dimension_order",
         "network.router.num_vcs": 2}


def halves(first, second):
    """Jobs of 8 ranks on disjoint terminals, two to a terminal."""
    return [(dissemination(8), shared(name="first", allocation={"type": "round_robin", "count": 4}, **first)),
            (dissemination(8), shared(name="second", allocation={"type": "round_robin", "count": 4, "skip": 4}, **second))]


def test_a_job_begins_at_its_time(results):
    blocks = results(*halves({}, {"delay": "30us"}), terminals=8)["applications"]
    assert [block["name"] for block in blocks] == ["first", "second"]
    assert blocks[0]["time_by_rank"] == blocks[1]["time_by_rank"]  # counted from its own beginning
    assert blocks[0]["completion_time"] == blocks[1]["completion_time"]


@pytest.mark.parametrize("arguments", [["--sync", "conservative", "--threads", "2"],
                                       ["--sync", "optimistic", "--threads", "2"],
                                       ["--sync", "optimistic", "--check-reversal"]],
                         ids=["conservative", "optimistic", "reversal"])
def test_jobs_are_the_same_on_threads_and_backwards(arguments, results):
    jobs = halves({}, {"delay": 777, "eager_limit": 0})
    for chosen in (jobs, jobs[1:]):
        once, again = (results(*chosen, network=TORUS, arguments=given) for given in ([], arguments))
        assert once["simulation"]["digest"] == again["simulation"]["digest"]
        assert once["applications"] == again["applications"]


# ---- against running alone ----

PAIR = ["send 1000b to 1", "recv 1000b from 0"]


def test_slowdown_is_the_time_together_over_the_time_alone(results):
    # Two jobs on the same terminals send at once: the second one's flits wait for the 1000 of the first.
    jobs = [(PAIR, {"name": "first"}), (PAIR, {"name": "second"})]
    first, second = results(*jobs, terminals=2, arguments=["--baseline"])["applications"]
    alone, together = eager(1000), eager(1000) + 1000 * G
    assert (first["communication_time"]["max"], first["alone_time"], first["slowdown"]) == (alone, alone, 1)
    assert (second["communication_time"]["max"], second["alone_time"]) == (together, alone)
    assert second["slowdown"] == together / alone


def test_compute_does_not_count_in_a_slowdown(results):
    computing = ["c: calc 50000; s: send 1000b to 1; s requires c", "c: calc 50000; r: recv 1000b from 0; r requires c"]
    jobs = [(PAIR, {"delay": 50000}), (computing, {})]
    second = results(*jobs, terminals=2, arguments=["--baseline"])["applications"][1]
    assert second["slowdown"] == (eager(1000) + 1000 * G) / eager(1000)


def test_a_job_is_alone_where_it_was_beside_others(results):
    # Beside one that sends nothing: the same terminals of a ring, drawn by the same numbers, take the same time.
    somewhere = {"allocation": {"type": "random", "count": 8}}
    ring = {**TORUS, "network.topology": {"type": "torus", "widths": [64]}}
    jobs = [(["calc 10"] * 8, somewhere), (dissemination(8), somewhere)]
    idle, busy = results(*jobs, network=ring, arguments=["--baseline"])["applications"]
    assert busy["slowdown"] == 1 and busy["alone_time"] == busy["communication_time"]["max"] > 0
    assert idle["alone_time"] == 0 and idle["slowdown"] is None  # it never waits


EXAMPLE = [PROGRAM, "run", str(ROOT / "examples" / "many_jobs.json"), "--quiet"]


def example(*arguments):
    return json.loads(subprocess.run([*EXAMPLE, *arguments], capture_output=True, text=True, check=True).stdout)


def test_a_list_of_jobs_is_included_and_background_has_no_slowdown():
    blocks = example("--baseline")["applications"]
    assert [block["name"] for block in blocks] == ["transpose", "barrier", "background"]
    assert [block["terminals"] for block in blocks] == [18, 4, 50] and blocks[1]["ranks"] == 8
    assert all(block["slowdown"] > 1 for block in blocks[:2]) and blocks[2]["slowdown"] is None
    assert blocks[0]["slowdown"] == blocks[0]["completion_time"] / blocks[0]["alone_time"]
    plain = example()["applications"]
    assert [{**block, "alone_time": 0, "slowdown": 0} for block in plain] == \
        [{**block, "alone_time": 0, "slowdown": 0} for block in blocks] and "slowdown" not in plain[0]


@pytest.mark.parametrize("sync", ["conservative", "optimistic"])
def test_a_baseline_is_the_same_on_threads(sync):
    once, again = example("--baseline"), example("--baseline", "--sync", sync, "--threads", "2")
    assert once["applications"] == again["applications"]


def test_a_model_has_no_baseline():
    ended = subprocess.run([PROGRAM, "run", str(ROOT / "examples" / "phold.json"), "--baseline"], capture_output=True,
                           text=True, check=False)
    assert ended.returncode == 1 and "--baseline: a model has no applications to run alone" in ended.stderr


# ---- when they begin ----

@pytest.mark.parametrize("how", [{}, {"simulator.sync": "conservative", "simulator.threads": 2},
                                 {"simulator.sync": "optimistic", "simulator.threads": 2}], ids=str)
def test_a_trace_begins_at_tick_0_where_that_is_asked_for(how, tmp_path):
    """All else is the same, an interval of the grid earlier."""
    (tmp_path / "packets.trc").write_text("0 0 9 4\n0 5 10 4\n30 3 12 8\n" + "".join(f"{t} {t % 16} {(t * 7 + 1) % 16} 4\n" for t in range(31, 90)))
    network = network_of({"type": "mesh", "widths": [4, 4]}, router={"num_vcs": 2})
    config = config_of(network, {"type": "trace", "file": str(tmp_path / "packets.trc")})
    overrides = {path.replace(".", "__"): value for path, value in how.items()}
    later, packets_later = run_logged(config, **overrides)
    results, packets = run_logged(config, workload__starts_at_zero=True, **overrides)
    assert results["applications"][0]["phases"]["generating"] == 0 and later["applications"][0]["phases"]["generating"] == 100
    times = ("created", "injected", "head_arrived", "tail_arrived")
    assert [{**one, **{time: one[time] + 100 for time in times}} for one in packets] == packets_later and len(packets) == 62
    assert packets[0]["created"] == 0
    assert results["applications"][0]["completion_time"] == later["applications"][0]["completion_time"]


@pytest.mark.parametrize("warmup, begins", [(0, 0), (50, 100), (200, 200), ("auto", None)])
def test_a_window_begins_at_tick_0_only_without_a_warm_up(warmup, begins):
    config = config_of(network_of({"type": "mesh", "widths": [4, 4]}), blast(0.2, warmup=warmup, sample=1000), blast(0.1, warmup=0, sample=1000))
    found = run(config, workload__starts_at_zero=True)["applications"][0]["phases"]
    assert found["generating"] == begins if begins is not None else found["generating"] > 0
    assert found["finishing"] >= found["generating"] + 1000

# SPDX-License-Identifier: Apache-2.0
"""Collective operations on an ideal network, tick by tick. A message of b bytes, a flit each, is there after LATENCY for its
first flit and a tick for each further one: ALPHA + b. So the closed forms of the textbooks hold exactly (Thakur, Rabenseifner
and Gropp 2005; Hockney's model: a message takes alpha + b / B), where messages of one rank do not wait for each other.
"""
import json
import math
import re
import subprocess

import pytest
from support import PROGRAM, config_of, network_of, run, run_all

LATENCY = 1000
ALPHA = LATENCY - 1
POWERS, SOME = (2, 4, 8, 16), (2, 3, 4, 7, 8, 13, 16)


def config(ranks, motif, **collectives):
    network = network_of({"type": "ideal", "terminals": ranks, "latency": LATENCY}, "minimal",
                         {"type": "packet", "delay": 0, "buffer_depth": 1 << 20}, flit_bytes=1)
    application = {"type": "trace", "max_packet": 1 << 20, "motif": motif, "collectives": collectives}
    return config_of(network, application)


def collective(operation, total, **more):
    return {"type": "collective", "operation": operation, "bytes": total, "iterations": 1, **more}


def up(ranks):
    return math.ceil(math.log2(ranks))


# (operation, settings, numbers of ranks, bytes by ranks n, time by n and bytes s)
FORMS = {
    "ring allreduce": ("allreduce", {"allreduce": "ring"}, SOME, lambda n: 40 * n, lambda n, s: 2 * (n - 1) * (ALPHA + s // n)),
    "recursive doubling allreduce": ("allreduce", {"allreduce": "recursive_doubling"}, POWERS, lambda n: 700,
                                     lambda n, s: up(n) * (ALPHA + s)),
    "rabenseifner allreduce": ("allreduce", {"allreduce": "rabenseifner"}, POWERS, lambda n: 40 * n,
                               lambda n, s: 2 * up(n) * ALPHA + 2 * (n - 1) * s // n),
    "barrier": ("barrier", {}, SOME, lambda n: 0, lambda n, s: up(n) * LATENCY),
    "binomial broadcast": ("broadcast", {"broadcast": "binomial"}, POWERS, lambda n: 300, lambda n, s: up(n) * (ALPHA + s)),
    # the first piece goes from rank to rank, the nine others follow it
    "pipelined broadcast": ("broadcast", {"broadcast": "pipelined", "segment": 50}, SOME, lambda n: 500,
                            lambda n, s: (n - 1) * (ALPHA + 50) + 9 * 50),
    "binomial reduce": ("reduce", {}, POWERS, lambda n: 300, lambda n, s: up(n) * (ALPHA + s)),
    "binomial gather": ("gather", {"gather": "binomial"}, POWERS, lambda n: 30, lambda n, s: up(n) * ALPHA + (n - 1) * s),
    "binomial scatter": ("scatter", {"scatter": "binomial"}, POWERS, lambda n: 30, lambda n, s: up(n) * ALPHA + (n - 1) * s),
    # one after the other through the root's channel
    "linear gather": ("gather", {"gather": "linear"}, SOME, lambda n: 30, lambda n, s: ALPHA + (n - 1) * s),
    "linear scatter": ("scatter", {"scatter": "linear"}, SOME, lambda n: 30, lambda n, s: ALPHA + (n - 1) * s),
    "ring allgather": ("allgather", {"allgather": "ring"}, SOME, lambda n: 30, lambda n, s: (n - 1) * (ALPHA + s)),
    "recursive doubling allgather": ("allgather", {"allgather": "recursive_doubling"}, POWERS, lambda n: 30,
                                     lambda n, s: up(n) * ALPHA + (n - 1) * s),
    "bruck allgather": ("allgather", {"allgather": "bruck"}, SOME, lambda n: 30, lambda n, s: up(n) * ALPHA + (n - 1) * s),
    "ring reduce_scatter": ("reduce_scatter", {"reduce_scatter": "ring"}, SOME, lambda n: 30,
                            lambda n, s: (n - 1) * (ALPHA + s)),
    "pairwise reduce_scatter": ("reduce_scatter", {"reduce_scatter": "pairwise"}, SOME, lambda n: 30,
                                lambda n, s: (n - 1) * (ALPHA + s)),
    "recursive halving reduce_scatter": ("reduce_scatter", {"reduce_scatter": "recursive_halving"}, POWERS, lambda n: 30,
                                         lambda n, s: up(n) * ALPHA + (n - 1) * s),
    "pairwise alltoall": ("alltoall", {"alltoall": "pairwise"}, SOME, lambda n: 30, lambda n, s: (n - 1) * (ALPHA + s)),
    "spread alltoall": ("alltoall", {"alltoall": "spread"}, SOME, lambda n: 30, lambda n, s: ALPHA + (n - 1) * s),
    "bruck alltoall": ("alltoall", {"alltoall": "bruck"}, POWERS, lambda n: 30, lambda n, s: up(n) * (ALPHA + n // 2 * s)),
    # the last rank hears in the last step from one that has heard in all steps before
    "scan": ("scan", {}, POWERS, lambda n: 300, lambda n, s: up(n) * (ALPHA + s)),
    "exscan": ("exscan", {}, POWERS, lambda n: 300, lambda n, s: up(n) * (ALPHA + s)),
}


@pytest.mark.parametrize("name", FORMS)
def test_closed_forms_hold_exactly(name):
    operation, settings, ranks, size, time = FORMS[name]
    results = run_all([config(n, collective(operation, size(n)), **settings) for n in ranks])
    for n, result in zip(ranks, results):
        assert result["applications"][0]["completion_time"] == time(n, size(n)), n


GAMMA = 3  # ticks to combine a byte: what is combined is added to the times above
REDUCTIONS = {
    "recursive doubling allreduce": lambda n, s: up(n) * s,
    "ring allreduce": lambda n, s: (n - 1) * (s // n),  # once round; the second time sums are handed on
    "rabenseifner allreduce": lambda n, s: (n - 1) * s // n,  # halves, quarters ... on the way there
    "binomial reduce": lambda n, s: up(n) * s,
    "ring reduce_scatter": lambda n, s: (n - 1) * s,
    "pairwise reduce_scatter": lambda n, s: (n - 1) * s,
    "scan": lambda n, s: up(n) * s,
    "binomial broadcast": lambda n, s: 0,
    "ring allgather": lambda n, s: 0,
    "pairwise alltoall": lambda n, s: 0,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_combining_takes_its_time(name):
    operation, settings, ranks, size, time = FORMS[name]
    made = [config(n, collective(operation, size(n)), **settings) for n in ranks]
    for each in made:
        each["workload"]["applications"][0]["reduction_time"] = GAMMA
    for n, result in zip(ranks, run_all(made)):
        assert result["applications"][0]["completion_time"] == time(n, size(n)) + GAMMA * REDUCTIONS[name](n, size(n)), n


@pytest.mark.parametrize("size, name", [(792, "recursive doubling allreduce"), (800, "ring allreduce"), (1600, "ring allreduce")])
def test_large_operations_have_algorithms_of_their_own(size, name):
    made = config(8, collective("allreduce", size), large={"allreduce": "ring", "broadcast": "pipelined"}, large_from={"allreduce": 800})
    assert run(made)["applications"][0]["completion_time"] == FORMS[name][4](8, size)


def test_roots_and_repetitions_make_no_difference():
    """A chain of three trees from rank 5 takes three times what one from rank 0 does: all of its ranks wait for the last."""
    for iterations in (1, 3):
        motif = collective("allreduce", 64, iterations=iterations)
        result = run(config(8, motif, allreduce="ring"))
        assert result["applications"][0]["completion_time"] == iterations * 14 * (ALPHA + 8)
    times = [run(config(8, collective("broadcast", 300, root=root)))["applications"][0]["completion_time"] for root in range(8)]
    assert times == 8 * [3 * (ALPHA + 300)]


# ---- blocks that differ ----

def step_by_step(ranks, source, size):
    """When the last rank ends, where in each of n - 1 steps one message comes from source(rank, step), of size(rank, step)
    bytes, and a step begins when that of the step before is there."""
    ended = [0] * ranks
    for step in range(ranks - 1):
        ended = [max(ended[rank], ended[source(rank, step)] + ALPHA + size(rank, step)) for rank in range(ranks)]
    return max(ended)


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_blocks_that_differ_take_what_their_bytes_take(ranks):
    """Block r is of 20 + 7 r bytes. Gather and scatter are linear then, and an all-to-all by pairs, whatever the settings say."""
    def block(rank):
        return 20 + 7 * (rank % ranks)

    def time(operation, **settings):
        root = {"root": ranks // 2} if operation in ("gather", "scatter") else {}
        motif = collective(operation, 20, growth=7, **root)
        return run(config(ranks, motif, **settings))["applications"][0]["completion_time"]

    others = sum(block(rank) for rank in range(ranks)) - block(ranks // 2)
    assert time("gather", gather="binomial") == ALPHA + others
    assert time("scatter", scatter="binomial") == ALPHA + others
    assert time("allgather", allgather="ring") == step_by_step(
        ranks, lambda rank, step: rank - 1, lambda rank, step: block(rank - step - 1))
    assert time("reduce_scatter", reduce_scatter="pairwise") == step_by_step(
        ranks, lambda rank, step: rank - step - 1, lambda rank, step: block(rank))
    assert time("alltoall", alltoall="bruck") == step_by_step(
        ranks, lambda rank, step: rank - step - 1, lambda rank, step: block(rank))


# ---- motifs ----

def motifs():
    """{name: example}; all examples are for 64 ranks."""
    listed = json.loads(subprocess.run([PROGRAM, "list", "motif", "--json"], capture_output=True, check=True).stdout)
    found = {}
    for entry in listed:
        text = subprocess.run([PROGRAM, "explain", "motif", entry["name"]], capture_output=True, text=True, check=True).stdout
        found[entry["name"]] = json.loads("{" + re.search(r"example: (.*)", text).group(1) + "}")["motif"]
    return found


@pytest.mark.parametrize("router", [{"type": "packet", "buffer_depth": 4096}, {"type": "input_queued"}], ids=["packet", "flit"])
def test_every_motif_ends_on_a_real_network(router):
    network = network_of({"type": "torus", "widths": [4, 4, 4]}, "dimension_order", router, flit_bytes=65536)
    blocks = list(motifs().values())
    assert len(blocks) > 5
    for block, result in zip(blocks, run_all([config_of(network, {"type": "trace", "motif": {**block, "iterations": 1}})
                                              for block in blocks])):
        application = result["applications"][0]
        assert application["unfinished_ranks"] == 0 and application["unfinished_packets"] == 0, block
        assert application["completion_time"] > 0, block


def one_forward_one_backward(stages, batches, forward, backward, message):
    """When the last of the stages ends, by the definition of 1F1B."""
    turns = []
    for stage in range(stages):
        ahead = min(stages - stage - 1, batches)
        order = [("F", i) for i in range(ahead)]
        for i in range(batches):
            order += [("F", ahead + i)] * (ahead + i < batches) + [("B", i)]
        turns.append(order)
    ended, clock = {}, [0] * stages
    while any(turns):
        for stage, order in enumerate(turns):
            if not order:
                continue
            way, batch = order[0]
            source = stage - 1 if way == "F" else stage + 1
            there = ended.get((way, source, batch))
            if 0 <= source < stages and there is None:
                continue
            begins = max(clock[stage], there + message if there is not None else 0)
            clock[stage] = ended[way, stage, batch] = begins + (forward if way == "F" else backward)
            order.pop(0)
    return max(clock)


@pytest.mark.parametrize("batches", [1, 3, 8])
def test_a_pipeline_runs_as_its_schedule_says(batches):
    """4 stages of 3 us forward and 6 us backward, as worked out in test_motif.c; activations of 1000 bytes go from stage to
    stage in ALPHA + 1000 ns."""
    motif = {"type": "training", "layers": 12, "hidden": 10, "sequence": 50, "flops": 1.2e11, "pipeline": 4,
             "micro_batches": batches}
    assert one_forward_one_backward(4, batches, 3000, 6000, 0) == (batches + 3) * 9000
    expected = one_forward_one_backward(4, batches, 3000, 6000, ALPHA + 1000)
    assert run(config(4, motif))["applications"][0]["completion_time"] == expected


def test_gradients_are_summed_while_the_layers_before_go_back():
    """Three layers of 6 us forward and 12 us back on four copies, a bucket of 2400 bytes each, whose sum in a ring takes less
    than a layer: all but that of the first layer, which is last on the way back, is hidden."""
    motif = {"type": "training", "layers": 3, "hidden": 10, "sequence": 50, "flops": 2e10, "micro_batches": 1, "bucket": 2400}
    ring = 2 * 3 * (ALPHA + 2400 // 4)
    assert ring < 12000
    time = run(config(4, motif, allreduce="ring"))["applications"][0]["completion_time"]
    assert time == 3 * (6000 + 12000) + ring

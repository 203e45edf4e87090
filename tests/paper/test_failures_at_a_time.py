# SPDX-License-Identifier: Apache-2.0
"""Links and routers that fail while packets are on them, counted by hand, to the tick.

A ring of four routers with a terminal each, all channels of one tick, routers of three cycles (v, s and x of 1). A packet of
L flits that meets no other takes 2 + 3 H + (H - 1) + (L - 1) ticks through H routers: see test_zero_load.py. Grid points are
10 ticks apart, and a trace begins at the first, so that what it has for 4 is made at 14. A packet of 8 flits from 0 to 1 that is made at tick C enters the network flit by flit at C, C + 1, ...; flit i
is on the channel between the routers from C + 4 + i to C + 5 + i, and at its terminal 4 ticks later.
"""
import csv
import json
import random
import subprocess

import pytest

from support import OF_THE_RUN, PROGRAM, Failed, as_number, blast, config_of, has_ranks, invoke, mpirun, network_of, run

RING = {"type": "torus", "widths": [4]}
ROUTERS = ["input_queued", "packet"]
FLITS = 8


def alone(routers, flits=FLITS):
    return 2 + 3 * routers + (routers - 1) + flits - 1


def outcome_of(config, folder):
    """Results, and the log by (source, number); also of a run that is stuck since messages are lost for good."""
    (folder / "config.json").write_text(json.dumps(config))
    command = [PROGRAM, "run", folder / "config.json", "--results", folder / "results.json", "--log", folder / "packets.csv", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    results = json.loads((folder / "results.json").read_text())
    stuck = results.get("failures", {}).get("lost_messages", 0) > 0 and config["workload"]["applications"][0]["type"] == "trace"
    assert done.returncode == (2 if stuck else 0), done.stderr
    assert results["outcome"] == ("stuck" if stuck else "done")
    assert ("messages that failures have cost are waited for" in done.stderr) == stuck
    with open(folder / "packets.csv", newline="") as file:
        return results, {(int(row["source"]), int(row["packet"])): {key: as_number(text) for key, text in row.items()} for row in csv.DictReader(file)}


def ring(folder, packets, failures, router="input_queued", topology=None):
    """Packets are (created, source, destination), from the first grid point on."""
    trace = folder / "packets.trc"
    trace.write_text("".join(f"{created} {source} {destination} {FLITS}\n" for created, source, destination in packets))
    network = network_of(topology or RING, "minimal", {"type": router, "num_vcs": 4, "buffer_depth": 16}, failures={"reaction": 0, **failures})
    return outcome_of(config_of(network, {"type": "trace", "file": str(trace), "format": "simured"}, check_interval=10), folder)


def link(a, b, at, until=None):
    return {"links": {"list": [[a, b]], "at": at, "until": until}}


def counts(results):
    failures = results["failures"]
    return tuple(failures[key] for key in ("lost_packets", "lost_flits", "resent_packets", "packets_given_up", "lost_messages"))


def test_a_packet_that_is_cut_between_two_flits_is_lost_as_a_whole(tmp_path):
    """At tick 20 its flits 0 to 9 - 4 = 5 have entered, for it was made at 14; the first two have crossed, and none has arrived."""
    results, log = ring(tmp_path, [(4, 0, 1)], link(0, 1, at=20))
    assert counts(results) == (1, 6, 0, 1, 1)
    assert not log


def test_flits_that_have_arrived_are_not_among_the_lost(tmp_path):
    """Made at 10: at tick 20 all 8 have entered, and of those the first has arrived at 10 + 9 = 19."""
    results, _ = ring(tmp_path, [(0, 0, 1)], link(0, 1, at=20))
    assert counts(results) == (1, 7, 0, 1, 1)


@pytest.mark.parametrize("router", ROUTERS)
def test_what_has_crossed_arrives(tmp_path, router):
    """The tail enters at C + 7 and has crossed at C + 7 + 5 = 30 where C is 18, before what happens at that tick."""
    results, log = ring(tmp_path, [(7, 0, 1)], link(0, 1, at=30), router)
    assert counts(results) == (0, 0, 0, 0, 0)
    assert log[0, 0]["tail_arrived"] - log[0, 0]["created"] == alone(2)


@pytest.mark.parametrize("router", ROUTERS)
def test_a_lost_packet_is_sent_again_the_other_way(tmp_path, router):
    """Entered at 14, lost at 20, again 30 ticks after 14, at the grid point 50: through four routers."""
    results, log = ring(tmp_path, [(4, 0, 1)], {**link(0, 1, at=20), "resend_after": 30}, router)
    assert counts(results)[0] == 1 and counts(results)[2:] == (1, 0, 0)
    assert (log[0, 0]["created"], log[0, 0]["injected"]) == (14, 50)
    assert (log[0, 0]["tail_arrived"], log[0, 0]["hops"]) == (50 + alone(4), 3)


def test_the_next_packet_enters_as_soon_as_the_lost_one_is_gone(tmp_path):
    """The terminal has sent flits up to tick 19; what is left of the packet is not sent, and the next begins at 20."""
    results, log = ring(tmp_path, [(4, 0, 1), (7, 0, 1)], link(0, 1, at=20))
    assert counts(results) == (1, 6, 0, 1, 1)
    assert list(log) == [(0, 1)]
    assert (log[0, 1]["injected"], log[0, 1]["tail_arrived"]) == (20, 20 + alone(4))


@pytest.mark.parametrize("router", ROUTERS)
def test_heads_wait_until_the_tables_know(tmp_path, router):
    """Made at 24, its head is at router 0 at 25 and can take no way until 20 + 30; then as if it came at that tick."""
    results, log = ring(tmp_path, [(14, 0, 1)], {**link(0, 1, at=20), "reaction": 30}, router)
    assert counts(results) == (0, 0, 0, 0, 0)
    wait = 50 - 25 if router == "input_queued" else 50 - 28  # at packet level a router is told of a head when it could leave
    assert log[0, 0]["tail_arrived"] == 24 + alone(4) + wait
    assert log[0, 0]["hops"] == 3


@pytest.mark.parametrize("router", ROUTERS)
def test_a_repaired_link_is_taken_at_once(tmp_path, router):
    """Before the tables know of its failure; they are changed at 520 and 540, when nobody needs them."""
    results, log = ring(tmp_path, [(14, 0, 1)], {**link(0, 1, at=20, until=40), "reaction": 500}, router)
    assert counts(results) == (0, 0, 0, 0, 0)
    wait = 40 - 25 if router == "input_queued" else 40 - 28
    assert (log[0, 0]["tail_arrived"], log[0, 0]["hops"]) == (24 + alone(2) + wait, 1)


@pytest.mark.parametrize("router", ROUTERS)
def test_a_repaired_link_has_all_its_credits(tmp_path, router):
    """After a packet was lost on it, packets in a row go over it as over one that has not failed yet: tick 90000 is after the end.
    Both networks have the same classes of VCs, for the three hops that a packet may need."""
    after = [(400 + 3 * i, 0, 1) for i in range(12)]
    results, log = ring(tmp_path, [(4, 0, 1), *after], link(0, 1, at=20, until=200), router)
    _, whole = ring(tmp_path, [(4, 0, 1), *after], link(0, 1, at=90000), router)
    assert counts(results)[0] == 1
    for number in range(1, 13):
        assert log[0, number] == whole[0, number]


@pytest.mark.parametrize("router", ROUTERS)
def test_a_router_fails_with_all_that_is_in_it(tmp_path, router):
    """Router 1 at tick 20: packets from 0 to 2 and from 2 to 0 that go through it; both ways are as long, so numbers decide."""
    packets = [(4, 0, 1), (4, 2, 1), (4, 3, 0)]
    results, log = ring(tmp_path, packets, {"routers": {"list": [1], "at": 20}, "cut_off": "lose", "resend_after": 50, "resends": 2}, router)
    assert counts(results)[0] == 2 and counts(results)[3:] == (2, 2)  # sent again, they find no way and are given up
    assert list(log) == [(3, 0)]


def test_terminals_that_are_cut_off_for_good_are_given_up_and_the_run_ends(tmp_path):
    line = {"type": "mesh", "widths": [3]}
    failures = {**link(1, 2, at=20), "resend_after": 20, "resends": 3, "cut_off": "lose"}
    results, log = ring(tmp_path, [(4, 0, 2), (4, 1, 0), (60, 0, 2)], failures, topology=line)
    assert list(log) == [(1, 0)]
    assert counts(results) == (1, 6, 0, 1, 1)
    assert results["failures"]["messages_not_sent"] == 1


def test_they_are_heard_of_again_when_the_link_is_repaired_in_time(tmp_path):
    """Lost at 20, due at 34, but cut off at the grid points 40, 60 and so on until 100; 14 + 30 = 44, 50 and then 30 more each."""
    line = {"type": "mesh", "widths": [3]}
    failures = {**link(1, 2, at=20, until=100), "resend_after": 30, "resends": 8, "cut_off": "lose"}
    results, log = ring(tmp_path, [(4, 0, 2)], failures, topology=line)
    assert counts(results) == (1, 6, 1, 0, 0)
    assert (log[0, 0]["injected"], log[0, 0]["tail_arrived"]) == (110, 110 + alone(3))  # at 50 and 80 there is no way


def test_a_packet_of_a_message_that_is_lost_arrives_once(tmp_path):
    """A message of four packets of two flits, of which the first two or so are on the link when it fails."""
    trace = tmp_path / "packets.trc"
    trace.write_text(f"4 0 1 {FLITS}\n")
    network = network_of(RING, "minimal", {"num_vcs": 4, "buffer_depth": 16}, failures={**link(0, 1, at=20), "resend_after": 30})
    application = {"type": "trace", "file": str(trace), "format": "simured", "max_packet": 2}
    results, log = outcome_of(config_of(network, application, check_interval=10), tmp_path)
    assert sorted(log) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert results["applications"][0]["message_latency"]["max"] == max(row["tail_arrived"] for row in log.values()) - 14
    assert results["failures"]["lost_packets"] == results["failures"]["resent_packets"] > 0


def test_the_walk_of_a_packet_goes_on_behind_its_loss(tmp_path):
    (tmp_path / "packets.trc").write_text(f"4 0 1 {FLITS}\n")
    network = network_of(RING, "minimal", {"num_vcs": 4}, failures={**link(0, 1, at=20), "resend_after": 30})
    application = {"type": "trace", "file": str(tmp_path / "packets.trc"), "format": "simured"}
    (tmp_path / "config.json").write_text(json.dumps(config_of(network, application, check_interval=10)))
    command = [PROGRAM, "trace", tmp_path / "config.json", "--packet", "0.0"]
    walk = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout.splitlines()
    told = [line.split() for line in walk[1:]]
    assert [(words[0], words[2]) for words in told if words[2] in ("lost", "send_again", "eject")] == [
        ("20", "lost"), ("50", "send_again"), (str(50 + alone(4)), "eject")]


# ---- the same in all modes: tests/unit/run/test_outages.c has 500 drawn ones, and counts their flits ------------------------------

def drawn(seed):
    """A small network with drawn failures at drawn times."""
    draw = random.Random(seed)
    topology = draw.choice([{"type": "torus", "widths": [4, 4]}, {"type": "mesh", "widths": [3, 3]}, {"type": "torus", "widths": [5], "concentration": 2},
                            {"type": "dragonfly", "routers": 4, "global": 1}, {"type": "folded_clos", "radix": 4, "levels": 2}])

    def times():
        at = draw.choice([0, draw.randrange(1, 900), draw.randrange(1, 900)])
        return {"at": at, **({"until": at + draw.randrange(1, 500)} if not at or draw.random() < 0.6 else {})}
    failures = {"cut_off": "lose", "reaction": draw.choice([0, 10, 100]), "resend_after": draw.choice([1, 50, 400]), "resends": draw.choice([1, 8]),
                "links": [{"count": draw.randrange(1, 4), "seed": draw.randrange(1000), **times()} for _ in range(draw.randrange(1, 4))]}
    if draw.random() < 0.5:
        failures["routers"] = {"count": 1, "seed": draw.randrange(100), **times()}
    if draw.random() < 0.5:
        failures["links"].append({"count": 2, "seed": draw.randrange(1000), "bandwidth": 1, "bit_error_rate": 1e-4})
    network = network_of(topology, "minimal", {"type": draw.choice(ROUTERS), "num_vcs": 10, "buffer_depth": 8}, draw.choice([1, 3, 20]), failures=failures)
    application = blast(draw.choice([0.1, 0.3, 0.9]), flits=draw.choice([1, 4, 7]), warmup=0, sample=1000, finish_limit=5000,
                        max_packet=draw.choice([2, 8]))
    return config_of(network, application, seed=seed, check_interval=draw.choice([10, 50]))


def unchanging(results):
    """All that is a function of configuration and seed, as text."""
    simulation = {key: value for key, value in results["simulation"].items() if key not in (*OF_THE_RUN, "bytes_per_router")}
    return json.dumps({**results, "config": None, "simulation": simulation}, sort_keys=True)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_lost_is_the_same_on_any_number_of_threads(seed):
    first, *others = [run(drawn(seed), **how) for how in ({}, {"simulator__sync": "conservative", "simulator__threads": 3},
                                                          {"simulator__sync": "optimistic", "simulator__threads": 2})]
    assert first["failures"]["lost_packets"] >= first["failures"]["packets_given_up"]
    for other in others:
        assert unchanging(other) == unchanging(first)


@pytest.mark.skipif(not has_ranks(), reason="no MPI")
@pytest.mark.parametrize("seed", [1, 5])
def test_what_is_lost_is_the_same_on_several_ranks(seed, tmp_path):
    config = drawn(seed)
    alone = run(config)
    config["simulator"] |= {"sync": "conservative", "threads": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    subprocess.run([*mpirun(2), PROGRAM, "run", tmp_path / "config.json", "--results", tmp_path / "results.json", "--quiet"], check=True, timeout=100)
    assert unchanging(json.loads((tmp_path / "results.json").read_text())) == unchanging(alone)


def test_a_run_goes_on_from_a_checkpoint_between_a_loss_and_the_next_try(tmp_path):
    config = config_of(network_of(RING, "minimal", {"num_vcs": 4, "buffer_depth": 8}, failures={**link(0, 1, at=400, until=900), "reaction": 100,
                                                                                                 "resend_after": 300}),
                       blast(0.5, flits=4, warmup=0, sample=1500), check_interval=50)
    (tmp_path / "config.json").write_text(json.dumps(config))
    again = [PROGRAM, "run", "--quiet", "--results", tmp_path / "again.json", "--checkpoint-every", "550", "--checkpoint"]
    whole = run(config)
    assert whole["failures"]["resent_packets"] > 0
    subprocess.run([*again, tmp_path / "{tick}.checkpoint", tmp_path / "config.json"], check=True, timeout=100)
    subprocess.run([*again, tmp_path / "other", "--restart", tmp_path / "550.checkpoint"], check=True, timeout=100)
    found = json.loads((tmp_path / "again.json").read_text())
    found["simulation"].pop("restarts")
    assert unchanging(found) == unchanging(whole)


# ---- what cannot be done is refused -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("settings, said", [
    ({"network.router": "output_queued"}, "\"output_queued\" does not know failures at a time; accepted: router"),
    ({"network.router": {"type": "packet", "queueing": "by_output", "num_vcs": 4}}, "does not go with packets that queue by output"),
    ({"network.routing": "valiant", "network.router.num_vcs": 8}, "\"valiant\" does not know failures at a time; accepted: routing"),
    ({"network.interface": "queue_per_vc"}, "\"queue_per_vc\" does not know failures at a time; accepted: interface"),
    ({"network.planes.count": 2}, "does not go with several planes"),
    ({"network.deadlock": "recover"}, "does not go with network.deadlock \"recover\""),
    ({"network.failures.links": {"list": [[0, 1]], "at": 5, "bandwidth": 0.5}}, "is to be slow at a time; accepted: slow links from"),
    ({"network.failures.terminals": {"list": [1], "at": 5}}, "terminal 1 is to fail at a time; accepted: terminals from"),
    ({"network.failures.routers": {"list": [1], "at": 5}}, "from tick 5 on: .*no way to each other; accepted: \"lose\""),
    ({"network.router.num_vcs": 2}, "from tick 20 on: .*needs 3 VCs"),
    ({"network.failures.links": {"list": [[0, 1]], "bandwidth": 1, "bit_error_rate": 0.1}}, "in 1000 comes through; accepted: up to 0.0266"),
])
def test_what_does_not_know_failures_at_a_time_is_refused(settings, said):
    config = config_of(network_of(RING, "minimal", {"num_vcs": 4}, failures=link(0, 1, at=20)), blast(0.1, sample=100))
    with pytest.raises(Failed, match=said) as refused:
        invoke(config, settings)
    assert refused.value.status == 1

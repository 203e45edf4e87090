# SPDX-License-Identifier: Apache-2.0
"""Routers with a register for each stage, and interfaces with a queue for each VC: latencies and rates that follow from counting.

A packet that is made in a cycle is heard of at the next one; k cycles later a flit is on its channel of ct cycles. In a staged
router it is routed (r cycles), given a VC (1), given the crossbar (1), crosses (x) and is on the channel o cycles later; in one with
output queues the same, o counting from the choice among the queues. A staged_output router waits for all of a packet, routes it (r),
has it in the queue x cycles later and on the channel o cycles after that.
"""
import csv
import json
import subprocess

import pytest

from support import PROGRAM, blast, config_of, network_of, run, run_logged
from test_zero_load import lonely, mesh, torus


def alone(router, topology, flits, channel, terminal_channel, latency, **more):
    settings = {"num_vcs": 4, "buffer_depth": 64, **router}
    network = network_of(topology, "dimension_order", settings, channel, terminal_channel,
                         interface={"type": "queue_per_vc", "latency": latency}, **more)
    _, packets = run_logged(config_of(network, blast(flits / 16000, flits=flits, warmup=0, sample=400000)))
    found = lonely(packets)
    assert len(found) > 100
    return found


#          topology   r  x  o  k  c  ct L
PARTS = [(mesh(4, 4), 1, 1, 1, 1, 1, 1, 1), (mesh(4, 4), 2, 5, 1, 2, 3, 2, 4), (torus(4, 4), 1, 50, 2, 1, 5, 1, 8)]


@pytest.mark.parametrize("output_depth", [None, 64])
@pytest.mark.parametrize("topology, r, x, o, k, c, ct, flits", PARTS, ids=str)
def test_latency_at_zero_load_is_the_sum_of_the_stages(topology, r, x, o, k, c, ct, flits, output_depth):
    router = {"type": "staged", "routing_latency": r, "crossbar_latency": x, "output_latency": o, "output_depth": output_depth}
    for packet in alone(router, topology, flits, c, ct, k):
        routers = packet["hops"] + 1
        head = 1 + k + ct + routers * (r + 2 + x + o) + (routers - 1) * c + ct
        assert packet["head_arrived"] - packet["created"] == head
        assert packet["tail_arrived"] - packet["created"] == head + flits - 1


@pytest.mark.parametrize("topology, r, x, o, k, c, ct, flits", PARTS, ids=str)
def test_latency_of_whole_packets_at_zero_load(topology, r, x, o, k, c, ct, flits):
    router = {"type": "staged_output", "routing_latency": r, "transfer_latency": x, "output_latency": o}
    for packet in alone(router, topology, flits, c, ct, k):
        routers = packet["hops"] + 1
        tail = 1 + k + ct + routers * (flits - 1 + r + x + o) + (routers - 1) * c + ct + flits - 1
        assert packet["tail_arrived"] - packet["created"] == tail


# Two terminals send to each other as much as they can, by one VC. A packet of L flits takes its VC L cycles, and, where it waits
# for the exit, one more: the next one asks for an output VC when its tail has gone. Without waiting it could ask earlier, but
# finds the same output VC held, so that it makes no difference with one VC.
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("flits", [1, 2, 7])
def test_a_packet_waits_a_cycle_for_the_one_before_it(flits, waits):
    network = network_of({"type": "single_router", "terminals": 2}, "minimal",
                         {"type": "staged", "num_vcs": 1, "buffer_depth": 32, "waits_for_exit": waits}, interface="queue_per_vc")
    results = run(config_of(network, blast(1.0, flits=flits, warmup=2000, sample=4000)))
    assert results["applications"][0]["accepted_load"] == pytest.approx(flits / (flits + 1), rel=0.01)


# All packets come by one of two VCs. The next one may take the other output VC while the tail of the one before it is about to leave,
# and then the channel is never idle; where it waits for the exit, the cycle is lost as with one VC.
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("flits", [1, 2, 7])
def test_without_waiting_for_the_exit_a_second_output_vc_saves_the_cycle(flits, waits):
    network = network_of({"type": "single_router", "terminals": 2}, "minimal",
                         {"type": "staged", "num_vcs": 2, "buffer_depth": 32, "waits_for_exit": waits}, interface={"injection_vcs": 1})
    results = run(config_of(network, blast(1.0, flits=flits, injection="periodic", warmup=2000, sample=4200)))
    assert results["applications"][0]["accepted_load"] == pytest.approx(flits / (flits + 1) if waits else 1, rel=0.001)


def test_two_vcs_fill_the_cycle_between_packets():
    network = network_of({"type": "single_router", "terminals": 2}, "minimal",
                         {"type": "staged", "num_vcs": 2, "buffer_depth": 32}, interface="queue_per_vc")
    results = run(config_of(network, blast(1.0, warmup=2000, sample=4000)))
    assert results["applications"][0]["accepted_load"] > 0.95


def refusal(config, folder):
    (folder / "config.json").write_text(json.dumps(config))
    ended = subprocess.run([PROGRAM, "check", folder / "config.json"], capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    return ended.stderr


@pytest.mark.parametrize("router", ["staged", "staged_output"])
def test_routers_that_do_not_look_at_room_refuse_escape_vcs(router, tmp_path):
    network = network_of(mesh(4, 4), "duato", {"type": router, "num_vcs": 2})
    assert "which escape VCs need" in refusal(config_of(network, blast(0.1)), tmp_path)


@pytest.mark.parametrize("more, words", [({"planes": {"count": 2}}, "several planes"),
                                         ({"router": {"type": "input_queued", "buffer_exclusive": 2}}, "share buffers")])
def test_networks_that_a_queue_per_vc_cannot_serve_are_refused(more, words, tmp_path):
    network = {**network_of(mesh(4, 4), interface="queue_per_vc"), **more}
    assert words in refusal(config_of(network, blast(0.1)), tmp_path)


@pytest.mark.parametrize("lock", ["none", "packet", "until_idle"])
def test_who_waited_for_a_locked_channel_has_it_next(lock):
    """Messages of two packets at a load at which no two messages meet: whichever queues the two are given, the second leaves when the
    first has, so that its tail is as many cycles later as it has flits."""
    network = network_of(mesh(4, 4), "dimension_order", {"type": "staged", "num_vcs": 4, "buffer_depth": 16},
                         interface={"type": "queue_per_vc", "lock": lock, "room": "packet" if lock == "packet" else "flit"})
    application = {**blast(8 / 16000, flits=8, warmup=0, sample=400000), "max_packet": 4}
    _, packets = run_logged(config_of(network, application))
    pairs = {}
    for packet in packets:
        pairs.setdefault((packet["source"], packet["created"]), []).append(packet["tail_arrived"])
    spread = [max(tails) - min(tails) for tails in pairs.values() if len(tails) == 2]
    assert len(spread) > 100
    assert max(spread) <= 4 + 1  # one more where both take one VC: the second asks when the first has gone


def test_a_message_draws_its_queue_whoever_had_its_record_before():
    """The record of a message that has arrived is given to the next one, of which there are others on several threads."""
    network = network_of(torus(4, 4), "dimension_order", {"type": "staged", "num_vcs": 4, "buffer_depth": 16},
                         interface={"type": "queue_per_vc", "per_message": True})
    config = config_of(network, {**blast(0.3, flits=4, warmup=0, sample=300), "max_packet": 2})
    digests = {run({**config, "simulator": simulator})["simulation"]["digest"] for simulator in ({}, {"sync": "conservative", "threads": 2})}
    assert len(digests) == 1


def test_the_shortest_queue_is_filled_first():
    """Of four VCs one is given to each of four packets that are made in turn before any leaves: the waits are those of one channel."""
    def mean(choice):
        network = network_of(mesh(4, 4), "dimension_order", {"type": "staged", "num_vcs": 4},
                             interface={"type": "queue_per_vc", "choice": choice})
        return run(config_of(network, blast(0.5, flits=4, warmup=2000, sample=8000)))["applications"][0]["packet_latency"]["mean"]
    assert mean("shortest") < mean("random")


@pytest.mark.parametrize("period, alternates", [(2, True), (4, False)])
def test_a_flit_counts_until_the_cycle_after_it_was_given_its_channel(period, alternates, tmp_path):
    """One that is made in cycle t asks in t + 1 and is given the channel in t + 2, when the next one chooses: with two VCs and a period of 2
    cycles that one takes the other VC, always. With a period of 4 both are empty, and either is drawn."""
    network = network_of({"type": "single_router", "terminals": 4}, "minimal", {"type": "staged", "num_vcs": 2},
                         interface={"type": "queue_per_vc", "choice": "shortest"})
    application = {**blast(1 / period, warmup=1000, sample=2000), "injection": "periodic"}
    (tmp_path / "config.json").write_text(json.dumps(config_of(network, application)))
    subprocess.run([PROGRAM, "run", tmp_path / "config.json", "--quiet", "--channel-log", tmp_path / "channels.csv"], check=True,
                   capture_output=True)
    with open(tmp_path / "channels.csv") as file:
        apart = [abs(int(row["vc0"]) - int(row["vc1"])) for row in csv.DictReader(file) if row["kind"] == "injection"]
    assert len(apart) == 4 and (max(apart) <= 1) == alternates


# --- Gaps between messages --------------------------------------------------------------------------------------

@pytest.mark.parametrize("sizes", [{"type": "fixed", "flits": 3}, {"type": "uniform", "min": 1, "max": 7},
                                   {"type": "mix", "sizes": [1, 16], "weights": [3, 1]}], ids=str)
@pytest.mark.parametrize("injection", ["periodic", "poisson", {"type": "periodic", "rounding": "random"}], ids=str)
def test_gaps_by_size_make_the_load(sizes, injection):
    application = {**blast(0.37, warmup=1000, sample=40000), "size": sizes, "injection": injection, "gap_by_size": True}
    results = run(config_of(network_of(mesh(4, 4)), application))
    assert results["applications"][0]["offered_load"] == pytest.approx(0.37, rel=0.02)


def test_the_gap_after_a_message_is_by_its_size():
    application = {**blast(0.25, warmup=0, sample=20000), "size": {"type": "mix", "sizes": [1, 8], "weights": [1, 1]},
                   "injection": "periodic", "gap_by_size": True}
    _, packets = run_logged(config_of(network_of(mesh(4, 4)), application))
    of_one = sorted((one for one in packets if one["source"] == 5), key=lambda one: one["created"])
    assert len(of_one) > 50
    for before, after in zip(of_one, of_one[1:]):
        assert after["created"] - before["created"] == 4 * before["packet_flits"]


def test_gaps_by_size_need_a_process_without_its_own(tmp_path):
    application = {**blast(0.25), "gap_by_size": True, "injection": "bernoulli"}
    assert 'accepted: false, or injection "periodic" or "poisson"' in refusal(config_of(network_of(mesh(4, 4)), application), tmp_path)


# --- Valiant for a router's own packets -------------------------------------------------------------------------

def test_own_packets_are_spread_on_demand():
    """On a line of two routers with two terminals each, a third of the packets is for the own router. A waypoint is either of the
    two: half of these then take two hops; of all others one hop, whichever it is."""
    def hops(own):
        network = network_of({"type": "mesh", "widths": [2], "concentration": 2}, {"type": "valiant", "own_router": own})
        return run(config_of(network, blast(0.1, warmup=1000, sample=40000)))["applications"][0]["hops"]["mean"]
    assert hops(False) == pytest.approx(2 / 3, rel=0.03)
    assert hops(True) == pytest.approx(2 / 3 + 1 / 3, rel=0.03)


# --- Standing still ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("output_depth", [None, 4])
def test_a_router_in_which_nothing_can_move_sleeps(output_depth, tmp_path):
    """A ring without a dateline locks up soon. Then nothing is due any more, and the run ends long before the first look for deadlock."""
    network = network_of({"type": "torus", "widths": [8]}, {"type": "dimension_order", "dateline": "none"},
                         {"type": "staged", "num_vcs": 1, "buffer_depth": 4, "output_depth": output_depth})
    (tmp_path / "config.json").write_text(json.dumps(config_of(network, {**blast(1.0, flits=8, warmup=0, sample=500)})))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "config.json", "--quiet"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and json.loads(ended.stdout)["simulation"]["end_tick"] < 5000

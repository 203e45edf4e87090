# SPDX-License-Identifier: Apache-2.0
"""Buffers that the VCs of a port share: what a VC gets follows from counting credits. That no VC has more than its
maximum and that the others' shares stay free is checked by the program at every flit; here it is seen from outside."""
import pytest
from support import Failed, blast, config_of, network_of, run, run_all

# One flow over two routers, as in test_flow_control.py: throughput is the flits that its VC may have downstream, over
# the credit loop. With default stages the loop is 2 c + 4; where output queues follow the crossbar it begins there and
# is 2 c + 2. Four VCs of D flits each, one for each protocol class; three of them idle but keep their share E.
CHANNEL = 20
LOOP = {"input_queued": 2 * CHANNEL + 4, "input_output_queued": 2 * CHANNEL + 2}
SHARES = [(4, None, None), (4, 4, None), (4, 1, None), (4, 2, None), (4, 1, 6), (8, 1, None), (8, 3, 12), (16, 1, None)]


def flow(router, depth, exclusive, maximum):
    settings = {"type": router, "num_vcs": 4, "buffer_depth": depth, "buffer_exclusive": exclusive,
                "buffer_maximum": maximum}
    network = network_of({"type": "mesh", "widths": [2]}, router=settings, channel=CHANNEL, protocol_classes=4)
    return config_of(network, blast(1.0, "neighbor", 1000, injection="periodic", warmup=10000, sample=20000,
                                    finish_limit=1, protocol_class=2))


@pytest.mark.parametrize("router", LOOP)
def test_one_flow_has_all_but_the_others_shares(router):
    for case, result in zip(SHARES, run_all([flow(router, *case) for case in SHARES])):
        depth, exclusive, maximum = case
        room = 4 * depth - 3 * (exclusive or depth)
        room = min(room, maximum) if maximum else room
        accepted = result["applications"][0]["accepted_load"]
        assert accepted == pytest.approx(min(1, room / LOOP[router]), rel=0.006), case


def test_depth_by_latency_is_shared_too():
    """Two flits for each cycle of latency are 40 at the long channel: 4 x 40 - 3 x 2 there, more than the loop of 44.
    Injection over 1 cycle has 2 flits a VC, all its own, and its loop of 4 cycles (1 + s + credit_latency + 1)."""
    config = flow("input_queued", 100, 2, None)
    config["network"]["router"].update(buffer_per_latency=2, buffer_min=2)
    assert run(config)["applications"][0]["accepted_load"] == pytest.approx(2 / 4, rel=0.006)
    config["network"]["router"].update(buffer_min=8)  # enough for injection and ejection
    assert run(config)["applications"][0]["accepted_load"] == pytest.approx(1, rel=0.006)


@pytest.mark.parametrize("router", LOOP)
@pytest.mark.parametrize("switching", ["wormhole", "virtual_cut_through"])
def test_with_all_room_exclusive_it_is_the_fixed_partition(router, switching):
    network = network_of({"type": "torus", "widths": [4, 4]}, router={
        "type": router, "num_vcs": 4, "buffer_depth": 5, "switching": switching}, channel=2)
    config = config_of(network, blast(0.5, flits=3, warmup=500, sample=1500))
    alone, shared = run(config), run(config, network__router__buffer_exclusive=5)
    assert alone["simulation"]["digest"] == shared["simulation"]["digest"]


@pytest.mark.parametrize("router", LOOP)
def test_a_jam_leaves_the_others_their_share(router):
    """Class 0 jams the channel from router 0 to router 1: terminals 0 and 2 send to terminal 4 all they can, and the
    pool fills with what waits for it. Class 1 goes the same way, to a terminal that is free, and has its share of E
    flits at least: E over the loop, or more."""
    exclusive = 3
    network = network_of({"type": "mesh", "widths": [3], "concentration": 2}, protocol_classes=2, channel=CHANNEL, router={
        "type": router, "num_vcs": 2, "buffer_depth": 20, "buffer_exclusive": exclusive})

    def to(target, sources, protocol):
        return blast(1.0, {"type": "hotspot", "terminals": [len(sources)]}, 200, protocol_class=protocol, warmup=4000,
                     sample=10000, finish_limit=1, allocation={"type": "list", "terminals": [*sources, target]})

    free = run(config_of(network, to(4, [0, 2], 0), to(3, [1], 1)))["applications"][1]["accepted_load"]
    assert 2 * free >= 0.99 * exclusive / LOOP[router]  # per terminal of the application: one sends, one receives


def hotspot(router, load):
    """Four of sixteen terminals get all of class 0; the other three classes have some traffic everywhere."""
    network = network_of({"type": "mesh", "widths": [4, 4]}, protocol_classes=4, channel=8, router={
        "type": router, "num_vcs": 4, "buffer_depth": 4}, service={"levels": [1, 0, 0, 0]})
    window = {"warmup": 1000, "sample": 3000, "finish_limit": 1}
    return config_of(network, blast(load, {"type": "hotspot", "terminals": [5, 6, 9, 10]}, 4, **window),
                     *[blast(0.02, flits=4, protocol_class=c, **window) for c in (1, 2, 3)])


@pytest.mark.parametrize("router", LOOP)
def test_sharing_beats_a_fixed_partition_of_equal_size_at_a_hotspot(router):
    """16 flits a port over a loop of 20 cycles: a VC of 4 carries 0.2 flits a cycle at most, one that has all but the
    others' shares of 1 carries 13 / 20. Three times as much would arrive if nothing else held it up; half of that gain
    must be there. The hot terminals can take 4 flits a cycle, 0.25 for each terminal."""
    config = hotspot(router, 0.5)
    fixed, shared = run_all([config, {**config, "network": {**config["network"], "router": {
        **config["network"]["router"], "buffer_exclusive": 1}}}])
    accepted = [result["applications"][0]["accepted_load"] for result in (fixed, shared)]
    assert accepted[1] > 1.6 * accepted[0]
    assert accepted[1] < 0.25
    for calm in range(1, 4):  # and the other classes have what they ask for
        application = shared["applications"][calm]
        assert application["accepted_load"] == pytest.approx(application["offered_load"], rel=0.05)


@pytest.mark.parametrize("router", LOOP)
@pytest.mark.parametrize("routing, vcs", [("dimension_order", 2), ("torus_adaptive", 3)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_share_of_one_flit_is_enough_against_deadlock(router, routing, vcs, seed):
    """Datelines, or an escape layer (test_escape.py), in a full torus, with packets that are longer than shares. A VC
    that is given to a packet before the room that it was given for is taken would stand still in most of these runs."""
    network = network_of({"type": "torus", "widths": [8, 8]}, routing, {
        "type": router, "num_vcs": vcs, "buffer_depth": 4, "buffer_exclusive": 1})
    result = run(config_of(network, blast(0.95, "tornado", 5, warmup=500, sample=2000, finish_limit=1), seed=seed))
    assert result["outcome"] == "done"


def test_recovery_from_deadlock_wants_buffers_that_are_not_shared():
    network = network_of({"type": "mesh", "widths": [2]}, router={"buffer_exclusive": 2}, deadlock="recover")
    with pytest.raises(Failed) as failed:
        run(config_of(network, blast(0.1)))
    assert failed.value.status == 1 and 'buffer_exclusive: network.deadlock "recover"' in failed.value.message


@pytest.mark.parametrize("router, message", [
    ({"buffer_exclusive": 9}, "buffer_exclusive: 9 is above the smallest buffer of a virtual channel (8)"),
    ({"buffer_exclusive": 3, "buffer_per_latency": 2, "buffer_min": 2}, "above the smallest buffer of a virtual channel (2)"),
    ({"buffer_exclusive": 4, "buffer_maximum": 3}, "buffer_maximum: 3 is below buffer_exclusive (4)"),
    ({"buffer_maximum": 3}, "buffer_maximum: has no effect without buffer_exclusive"),
    ({"buffer_exclusive": 0}, "buffer_exclusive: 0 is below 1"),
    ({"buffer_exclusive": 4, "num_vcs": 32, "buffer_depth": 4096}, "32 virtual channels share 131072 flits"),
    ({"buffer_exclusive": 3, "switching": "virtual_cut_through"}, "buffer_exclusive"),  # packets of 4 flits
])
def test_shares_that_cannot_be_are_refused(router, message):
    network = network_of({"type": "mesh", "widths": [2]}, router=router)
    with pytest.raises(Failed) as failed:
        run(config_of(network, blast(0.1, flits=4, warmup=10, sample=10)))
    assert failed.value.status == 1 and message in failed.value.message

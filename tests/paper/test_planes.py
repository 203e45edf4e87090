# SPDX-License-Identifier: Apache-2.0
"""Router planes and rails, as in Fit Fly (McGlohon et al., PADS 2019): accepted load grows with the rails (its Figure 3),
planes are copies of the one, and the way that a packet takes follows from the plane that it was given.
"""
import json
import subprocess
from collections import deque

import pytest
from support import NO_LATENCY, PROGRAM, Failed, blast, config_of, invoke, network_of, run, run_all, run_logged

# 4 groups, 12 terminals; wired such that the other way round is another graph
DRAGONFLY = {"type": "dragonfly", "terminals": 1, "routers": 3, "global": 1, "arrangement": "circulant"}
HYPERX = {"type": "hyperx", "widths": [4, 2], "concentration": 2}  # 8 routers, 16 terminals
ROUTERS = ["input_queued", "output_queued", "input_output_queued", "packet"]


def planes(count, **more):
    return {"count": count, **more}


def config(topology, block, *applications, router="input_queued", classes=1, **more):
    network = network_of(topology, "minimal", {"type": router, "num_vcs": 3 * classes, "buffer_depth": 16}, planes=block,
                         protocol_classes=classes, **more)
    return config_of(network, *applications)


def everyone(**more):
    """A message of one flit from every terminal to every other."""
    return {"type": "alltoall", "load": 0.2, "order": "random", "limit": 100000,
            "size": {"type": "fixed", "flits": 1}, **more}


# ---- load ----

@pytest.mark.parametrize("router", ["input_queued", "packet"])
def test_accepted_load_grows_with_the_rails(router):
    """Figure 3: 1, 2, 4 and 8 rails, a plane for each. What is below the capacity of one plane is accepted whole; what is
    above it is accepted in proportion to the rails."""
    def point(rails, load):
        application = blast(rails * load, flits=16, warmup=1000, sample=3000, finish_limit=1)
        return config(HYPERX, planes(rails, selection="congestion"), application, router=router)

    rails = [1, 2, 4, 8]
    below, above = ([results["applications"][0] for results in run_all([point(count, load) for count in rails])]
                    for load in (0.3, 1.0))
    for count, application in zip(rails, below):
        assert application["accepted_load"] == pytest.approx(0.3 * count, rel=0.05)
    for count, application in zip(rails, above):
        assert application["saturated"]
        assert application["accepted_load"] == pytest.approx(count * above[0]["accepted_load"], rel=0.05)


def test_rails_of_one_plane_are_channels_to_its_router():
    one = run(config(HYPERX, planes(1, rails=2), blast(0.5, flits=2, warmup=100, sample=500)))
    two = run(config(HYPERX, planes(1), blast(0.5, flits=2, warmup=100, sample=500),
                     interface={"type": "standard", "injection_channels": 2, "ejection_channels": 2}))
    assert one["simulation"]["digest"] == two["simulation"]["digest"]


# ---- ways ----

def distances(topology):
    """Between the routers of all pairs of terminals, by breadth-first search over the channels that a run lists."""
    text, _ = invoke(config(topology, planes(1), everyone()), {"workload.per_channel": True})
    neighbours = {}
    for router, _, target, _ in json.loads(text)["channels"]["list"]:
        neighbours.setdefault(router, set()).add(target)
    found = {}
    for start in neighbours:
        found[start, start], waiting = 0, deque([start])
        while waiting:
            router = waiting.popleft()
            for other in neighbours[router]:
                if (start, other) not in found:
                    found[start, other] = found[start, router] + 1
                    waiting.append(other)
    return found


def test_path_takes_the_shortest_way_of_all_planes():
    hops, count = distances(DRAGONFLY), 12  # a terminal at each router: by the same number, or in odd planes the other way
    def shortest(source, to):
        return min(hops[source, to], hops[count - 1 - source, count - 1 - to])

    pairs = [(source, to) for source in range(count) for to in range(count) if source != to]
    expected = sum(shortest(*pair) for pair in pairs) / len(pairs)
    assert expected < sum(hops[pair] for pair in pairs) / len(pairs) - 0.1  # or it would not matter where terminals hang
    results, packets = run_logged(config(DRAGONFLY, planes(2, order="reversed", selection="path"), everyone()))
    assert len(packets) == len(pairs)
    for packet in packets:
        assert packet["hops"] == packet["minimal_hops"] == shortest(packet["source"], packet["destination"])
    assert results["applications"][0]["hops"]["mean"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("routing", ["minimal", "ugal"])
def test_a_packet_goes_by_its_own_plane(routing):
    """Also where routing makes detours: what is minimal is so in the plane that the packet took."""
    hops, count = distances(DRAGONFLY), 12
    _, packets = run_logged(config(DRAGONFLY, planes(3, order="reversed", selection="round_robin"), everyone()),
                            network__routing=routing, network__router__num_vcs=6)
    taken = {plane: 0 for plane in range(3)}
    for packet in packets:
        source, to = packet["source"], packet["destination"]
        taken[packet["plane"]] += 1
        if packet["plane"] % 2:
            source, to = count - 1 - source, count - 1 - to
        assert packet["minimal_hops"] == hops[source, to] <= packet["hops"]
    assert all(count > 0 for count in taken.values())


def test_identical_planes_have_the_hops_of_one():
    one = run(config(DRAGONFLY, planes(1), everyone()))["applications"][0]
    many = run(config(DRAGONFLY, planes(4, order="identical", selection="random"), everyone()))["applications"][0]
    assert many["hops"]["mean"] == one["hops"]["mean"] and many["packets"] == one["packets"] == sum(many["planes"]["packets"])
    assert many["planes"]["share"] == [count / many["packets"] for count in many["planes"]["packets"]]


def test_shuffled_terminals_hang_elsewhere_in_all_planes_but_the_first(tmp_path):
    """As the channel log has it: each terminal once in each plane, by the seed."""
    def order(seed):
        invoke(config(HYPERX, planes(3, order="shuffled"), everyone()), {"simulator.seed": seed},
               arguments=["--channel-log", str(tmp_path / "channels.csv")])
        rows = [line.split(",") for line in (tmp_path / "channels.csv").read_text().splitlines()]
        return [int(row[3]) for row in rows if row[0] == "injection"]

    first, other = order(1), order(2)
    thirds = [first[16 * plane:16 * plane + 16] for plane in range(3)]
    assert all(sorted(third) == list(range(16)) for third in thirds)
    assert thirds[0] == list(range(16)) and thirds[1] != thirds[0] and thirds[2] != thirds[1]
    assert first == order(1) and other[16:] != first[16:]


@pytest.mark.parametrize("topology, routing, router", [
    (HYPERX, {"type": "ugal", "knowledge": "global"}, "input_queued"), (HYPERX, "ugal", "packet"),
    (HYPERX, "omniwar", "input_output_queued"), (HYPERX, "dal", "input_queued"), (DRAGONFLY, "par", "input_queued"),
    ({"type": "folded_clos", "radix": 4, "levels": 3}, "up_down", "input_queued"),
    ({"type": "torus", "widths": [4, 4]}, "torus_adaptive", "output_queued"),
    ({"type": "mesh", "widths": [4, 4]}, "dimension_order", "packet"),
    ({"type": "single_router", "terminals": 6}, "voq", "input_queued"),
    ({"type": "butterfly", "radix": 2, "stages": 3}, "destination_tag", "input_queued"),
], ids=lambda part: part if isinstance(part, str) else part["type"])
def test_another_plane_alone_is_as_good_as_the_first(topology, routing, router):
    """Routing sees the numbers and the congestion of its own plane: with all packets in the second of two identical planes,
    every one of them has the same way and the same times as in the only one."""
    sensor = {"type": "buffer_occupancy", "normalised": False}
    def digest(block):
        network = network_of(topology, routing, {"type": router, "num_vcs": 8, "buffer_depth": 8, "congestion": sensor},
                             planes=block)
        results = run(config_of(network, blast(0.6, flits=3, warmup=100, sample=300, finish_limit=2000)))
        return results["simulation"]["digest"], results["applications"][0]["hops"]

    alone = {"type": "by_class", "planes": [[1]]}
    assert digest(planes(2, order="identical", selection=alone)) == digest(planes(1))


# ---- time ----

@pytest.mark.parametrize("router", ROUTERS)
def test_a_lonely_packet_takes_as_long_as_in_one_plane(router):
    lonely = blast(0.0004, flits=4, warmup=0, sample=20000)
    _, one = run_logged(config(HYPERX, planes(1), lonely, router=router))
    _, many = run_logged(config(HYPERX, planes(3, order="identical"), lonely, router=router))
    latency = [{(packet["source"], packet["packet"]): packet["tail_arrived"] - packet["created"] for packet in packets}
               for packets in (one, many)]
    assert len(one) > 10 and latency[0] == latency[1]


def test_a_lonely_packet_is_counted_by_hand():
    """Channels of one tick and routers that take one: a tick to the router, two for it and each hop, a flit more each."""
    network = network_of(HYPERX, "minimal", {"num_vcs": 3, **NO_LATENCY, "switch_allocation_latency": 1},
                         planes=planes(2, selection="random"))
    _, packets = run_logged(config_of(network, blast(0.0004, flits=4, warmup=0, sample=20000)))
    for packet in packets:
        assert packet["tail_arrived"] - packet["created"] == 1 + 2 * (packet["hops"] + 1) + 3


# ---- quality of service ----

def test_classes_keep_to_their_planes():
    selection = {"type": "by_class", "planes": [[0], [1, 2]], "within": "random"}
    urgent = blast(0.1, warmup=100, sample=500, name="urgent")
    bulk = blast(0.4, flits=4, warmup=100, sample=500, protocol_class=1, name="bulk")
    results = run(config(HYPERX, planes(3, selection=selection), urgent, bulk, classes=2))
    first, second = (application["planes"]["packets"] for application in results["applications"])
    assert first[0] == results["applications"][0]["packets"] > 0 and first[1:] == [0, 0]
    assert second[0] == 0 and second[1] > 0 and second[2] > 0 and sum(second) == results["applications"][1]["packets"]


def test_a_jam_in_one_plane_does_not_hold_up_a_class_in_another():
    """Where both classes share rails and planes the jam is felt; with a plane for each it is not."""
    def latency(selection, load):
        calm = blast(0.02, warmup=500, sample=2000, name="calm")
        jam = blast(load, {"type": "hotspot", "terminals": [5], "share": 1.0}, flits=4, warmup=500, sample=2000,
                    protocol_class=1, finish_limit=1)
        results = run(config(HYPERX, planes(2, selection=selection), calm, jam, classes=2))
        return results["applications"][0]["packet_latency"]["mean"]

    apart = {"type": "by_class", "planes": [[0], [1]]}
    assert latency(apart, 0.9) == pytest.approx(latency(apart, 0), rel=0.01)
    assert latency("random", 0.9) > 2 * latency("random", 0)


# ---- on threads ----

@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("selection", ["congestion", "path", "round_robin"])
def test_threads_change_nothing(router, selection):
    """Planes are cut apart and across: a terminal's rails lead to routers of other threads."""
    def outcome(threads):
        text, packets = invoke(config(HYPERX, planes(2, rails=4, selection=selection), application, router=router),
                               {"network.routing": "ugal", "network.router.num_vcs": 6,
                                "network.router.congestion": sensor}, log=True, arguments=threads)
        results = json.loads(text)
        return results["applications"], results["channels"], results["simulation"]["digest"], packets

    sensor = {"type": "buffer_occupancy", "normalised": False}
    application = blast(1.5, flits=6, max_packet=4, warmup=100, sample=300, reply={"type": "fixed", "flits": 5})
    outcomes = [outcome(["--sync", "conservative", "--threads", str(count)] if count > 1 else []) for count in (1, 2, 3)]
    assert outcomes[0] == outcomes[1] == outcomes[2]


# ---- other commands ----

def saved(tmp_path, *arguments, **more):
    (tmp_path / "config.json").write_text(json.dumps(config(HYPERX, planes(2), blast(0.1), **more)))
    return subprocess.run([PROGRAM, arguments[0], "config.json", *arguments[1:]], cwd=tmp_path, capture_output=True,
                          text=True, check=False)


def test_a_packets_walk_names_its_plane(tmp_path):
    walk = saved(tmp_path, "trace", "--packet", "0").stdout.splitlines()
    plane = next(line for line in walk if "select_plane" in line).split("plane ")[-1].split(",")[0]
    routed = [line for line in walk if " route " in line]
    assert routed and all(f"  p{plane}:" in line for line in routed)


def test_one_plane_is_checked_for_all(tmp_path):
    ended = saved(tmp_path, "check")
    assert ended.returncode == 0 and "2 of 8 routers, 2 rails of each terminal" in ended.stdout
    assert "checked 64 of 64 pairs of routers" in ended.stdout and ": no deadlock\n" in ended.stdout


def test_deadlock_is_found_in_a_plane(tmp_path):
    ring = {"type": "torus", "widths": [8]}
    (tmp_path / "config.json").write_text(json.dumps(config_of(
        network_of(ring, {"type": "minimal", "vcs": "all"}, {"num_vcs": 1, "buffer_depth": 2}, planes=planes(2)),
        blast(1.0, "tornado", flits=16, warmup=1000, sample=5000))))
    ended = subprocess.run([PROGRAM, "run", "config.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "a cycle of" in ended.stderr
    cycle = [line for line in ended.stderr.splitlines() if " holds " in line]
    assert cycle and all("p0:" in line and "p1:" not in line or "p1:" in line and "p0:" not in line for line in cycle)
    ended = subprocess.run([PROGRAM, "check", "config.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "deadlock is possible" in ended.stdout


# ---- refusals ----

@pytest.mark.parametrize("change, message", [
    ({"network__planes__count": 0}, "network.planes.count: 0 is below 1"),
    ({"network__planes__count": 65}, "network.planes.count: 65 is above 64"),
    ({"network__planes__rails": 0}, "network.planes.rails: 0 is below 1"),
    ({"network__planes__rails": 5}, "network.planes.rails: 5 rails cannot be shared evenly by 2 planes; accepted: "
                                    "multiples of 2, such as 4 or 6"),
    ({"network__planes": {"count": 4, "rails": 3}}, "accepted: multiples of 4, such as 4 or 8"),
    ({"network__planes__rails": 4, "network__interface": {"type": "standard", "injection_channels": 3}},
     "network.interface.injection_channels: 3 contradict network.planes.rails, which are 2 for each plane"),
    ({"network__planes__order": "mirrored"}, "found 'mirrored', expected one of 'reversed', 'identical', 'shuffled'"),
    ({"network__planes__selection": "nearest"}, "network.planes.selection"),
    ({"network__planes__selection": {"type": "by_class", "planes": [[0], [1]]}},
     "network.planes.selection.planes: 2 sets of planes, expected one for each of network.protocol_classes (1)"),
    ({"network__planes__selection": {"type": "by_class", "planes": [[0, 2]]}}, "there is no plane 2"),
    ({"network__planes": {"selection": {"type": "by_class", "planes": [[1]]}}}, "there is no plane 1"),
    ({"workload__applications__0__load": 2.5}, "accepted: 0 to 2"),
])
def test_refusals(change, message):
    with pytest.raises(Failed) as failed:
        run(config(HYPERX, planes(2), blast(0.1, flits=4)), **change)
    assert failed.value.status == 1 and message in failed.value.message


# ---- what a terminal's processor hands over ----

@pytest.mark.parametrize("router", ["input_queued", "packet"])
@pytest.mark.parametrize("feed, last", [(None, 6), (1, 14), (2, 28), (3, 42)])
def test_rails_are_fed_no_faster_than_packets_are_handed_over(router, feed, last):
    """8 packets of 2 flits by two rails: the last two begin after 3 others each, 6 ticks, unless the processor takes `feed`
    for each of the 14 flits before the last packet."""
    application = {"type": "stream", "sources": [0], "destinations": [2], "messages": 1,
                   "size": {"type": "fixed", "flits": 16}, "max_packet": 2}
    _, packets = run_logged(config({"type": "single_router", "terminals": 4}, planes(2), application, router=router,
                                   interface={"type": "standard", "feed_cycle": feed}))
    injected = sorted(packet["injected"] for packet in packets)
    assert injected[-1] - injected[0] == last
    if feed:
        assert injected == [injected[0] + 2 * feed * i for i in range(8)]
    assert {packet["plane"] for packet in packets} == {0, 1}

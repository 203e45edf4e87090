# SPDX-License-Identifier: Apache-2.0
"""The node model against what can be worked out without it: hand counts, queueing theory, a plain simulation.

A packet over H links that meets no other takes H holdings of a link (setup and serialisation), H latencies, and H - 1
processings: a node's own packet goes to its link at once, and a packet has arrived when its destination takes it up.
"""
import heapq
import json
import os
import signal
import subprocess
import time

import pytest

from support import PROGRAM, Failed, run

SETTINGS = {"processing": 300, "link_setup": 900, "link_latency": 20, "packet_bytes": 256, "bandwidth": "175MB/s"}
HOLDING = 900 + 1463  # 256 bytes at 175 MB/s are 1462.9 ns


def config(widths, simulator=None, **settings):
    return {"simulator": {"tick": "1ns", **(simulator or {})}, "model": {"type": "node", "widths": widths, **settings}}


def measured(widths, simulator=None, **settings):
    results = run(config(widths, simulator, **settings))
    return results["applications"][0], results["model"]


# ---- hand counts ----

@pytest.mark.parametrize("to, hops", [([0, 0, 1], 1), ([1, 1, 0], 2), ([0, 31, 30], 3), ([0, 4, 4], 8), ([3, 16, 16], 35),
                                      ([4, 0, 31], 5)])
def test_a_lonely_packet_takes_what_its_stages_take(to, hops):
    one, model = measured([8, 32, 32], traffic="ping_pong", **SETTINGS, **{"from": [0, 0, 0], "to": to}, warmup=0,
                          sample="5ms")
    expected = hops * (HOLDING + 20) + (hops - 1) * 300
    assert one["packet_latency"]["min"] == one["packet_latency"]["max"] == expected
    assert one["hops"]["min"] == one["hops"]["max"] == hops
    assert one["packets"] == 5000000 // expected
    assert model["packets_in_flight"]["time_average"] == 1


def test_no_packet_is_faster_than_its_way():
    one, model = measured([4, 4, 4], rate=0.002, **SETTINGS, sample="2ms")
    assert model["mean_distance"] == pytest.approx(3 * 64 / 63)
    assert model["zero_load_latency"] == pytest.approx(3 * 64 / 63 * (HOLDING + 320) - 300)
    assert one["packet_latency"]["min"] == HOLDING + 20
    assert one["packet_latency"]["mean"] == pytest.approx(model["zero_load_latency"], rel=0.02)
    assert one["hops"]["max"] == 6


def test_destinations_are_as_far_as_counting_says():
    one, _ = measured([3, 5, 8], rate=0.5, processing=0, link_setup=0, link_latency=1, bandwidth="1000GB/s", warmup=0,
                      sample=400000)
    mean = (2 / 3 + 6 / 5 + 2) * 120 / 119
    assert one["hops"]["mean"] == pytest.approx(mean, rel=0.005)
    assert one["offered_rate"] == pytest.approx(0.5, rel=0.01)


# ---- queueing theory: constant service, Poisson arrivals (M/D/1) ----
# On a ring of three nodes every packet makes one hop, over a link that no other node's packets take.

def waiting(load, service):
    return load * service / (2 * (1 - load))


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_links_are_m_d_1_queues(load):
    service = 1000
    one, model = measured([3], rate=6 * load / service, processing=0, link_setup=service, bandwidth="1000GB/s",
                          warmup="1ms", sample="100ms")
    assert model["link_utilisation"] == pytest.approx(load, rel=0.01)
    assert one["packet_latency"]["mean"] - service == pytest.approx(waiting(load, service), rel=0.04)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_processing_units_are_m_d_1_queues(load):
    service = 1000
    one, model = measured([3], rate=3 * load / service, processing=service, link_setup=1, bandwidth="1000GB/s",
                          warmup="1ms", sample="100ms")
    assert model["unit_utilisation"] == pytest.approx(load, rel=0.01)
    assert one["packet_latency"]["mean"] - 1 == pytest.approx(waiting(load, service), rel=0.04)


# ---- a plain simulation of the same pairs ----

def plainly(widths, pairs, end, processing, holding, latency, adaptive=False, packets=1):
    """Latencies of ping-pong packets, by the rules alone: a heap of arrivals, a dictionary of servers. Those of messages too, and
    how long packets waited for links."""
    free, done, whole, waits, heap = {}, [], [], [], []

    def serve(server, ready, duration):
        start = max(ready, free.get(server, 0))
        free[server] = start + duration
        return start

    def towards(node, target, d):
        up = (target[d] - node[d]) % widths[d]
        assert 2 * up != widths[d], "either way would do"
        return 1 if 2 * up < widths[d] else -1

    def send(node, target, ready, birth, hops, tie):
        ways = [d for d in range(len(widths)) if node[d] != target[d]]
        d = min(ways, key=lambda d: max(ready, free.get((node, d, towards(node, target, d)), 0))) if adaptive else ways[0]
        step = towards(node, target, d)
        waits.append((birth if not hops else ready - processing, max(0, free.get((node, d, step), 0) - ready)))
        following = node[:d] + ((node[d] + step) % widths[d],) + node[d + 1:]
        arrival = serve((node, d, step), ready, holding) + holding + latency
        heapq.heappush(heap, (arrival, following, tie, target, birth, hops + 1))

    for number, (first, second) in enumerate(pairs):
        heapq.heappush(heap, (0, first, (number, packets - 1), first, 0, 0))
    while heap and heap[0][0] < end:
        now, node, tie, target, birth, hops = heapq.heappop(heap)
        start = serve((node, "unit"), now, processing) if hops else now
        if node != target:
            send(node, target, start + processing, birth, hops, tie)
            continue
        if hops and start < end:
            done.append(start - birth)
        if tie[1] % packets != packets - 1:
            continue
        if hops and start < end:
            whole.append(start - birth)
        first, second = pairs[tie[0]]
        for number in range(1, packets + 1):
            send(node, second if node == first else first, start, start, 0, (tie[0], tie[1] + number))
    return done, whole, [wait for _, wait in waits]


@pytest.mark.parametrize("processing, settings", [(0, {}), (250, {}), (250, {"routing": "adaptive"}), (0, {"message_packets": 3}),
                                                  (250, {"message_packets": 4})], ids=str)
def test_crossing_pairs_wait_for_each_other_as_in_a_plain_simulation(processing, settings):
    widths = [5, 7, 3]
    pairs = [((a, b, c), ((a + 1 + b % 2) % 5, (b + 3) % 7, (c + 1) % 3)) for a in range(5) for b in range(7) for c in range(3)]
    pairs += pairs[::3] + pairs[::2]  # some play twice
    expected, whole, waits = plainly(widths, pairs, 3000000, processing, 1463 + 100, 7, "routing" in settings,
                                     settings.get("message_packets", 1))
    one, model = measured(widths, traffic="ping_pong", processing=processing, link_setup=100, link_latency=7, warmup=0,
                          sample=3000000, queue_statistics=True, **settings,
                          **{"from": [x for pair in pairs for x in pair[0]], "to": [x for pair in pairs for x in pair[1]]})
    assert max(expected) > 1.5 * min(expected)  # they do wait
    assert one["packets"] == len(expected)
    assert one["packet_latency"]["mean"] == pytest.approx(sum(expected) / len(expected), rel=1e-12)
    assert one["packet_latency"]["max"] == max(expected)
    assert model["link_queues"]["mean_wait"] == pytest.approx(sum(waits) / len(waits), rel=1e-9)
    assert model["link_queues"]["max_wait"] == max(waits)
    if "message_packets" in settings:
        assert model["messages"] == {"messages": len(whole), "mean_latency": pytest.approx(sum(whole) / len(whole), rel=1e-12)}
    else:
        assert "messages" not in model


# ---- messages, routing and queues as the paper plans them ----

@pytest.mark.parametrize("packets", [2, 5])
def test_the_last_packet_of_a_message_comes_a_holding_after_the_one_before(packets):
    one, model = measured([8, 32], traffic="ping_pong", **SETTINGS, **{"from": [0, 0], "to": [1, 30]}, warmup=0, sample="5ms",
                          message_packets=packets)
    alone = 3 * (HOLDING + 20) + 2 * 300
    assert model["messages"]["mean_latency"] == one["packet_latency"]["max"] == alone + (packets - 1) * HOLDING
    assert one["packet_latency"]["min"] == alone and one["packets"] == pytest.approx(packets * model["messages"]["messages"], abs=packets)


def test_queues_are_counted_where_they_are():
    """A ring of three at a load of 0.5: links are M/D/1 queues, half a packet waits at a busy one, and none at units."""
    _, model = measured([3], rate=6 * 0.5 / 1000, processing=0, link_setup=1000, bandwidth="1000GB/s", warmup="1ms",
                        sample="100ms", queue_statistics=True)
    assert model["link_queues"]["mean_wait"] == pytest.approx(waiting(0.5, 1000), rel=0.04)
    assert model["link_queues"]["mean_length"] == pytest.approx(0.5 * waiting(0.5, 1000) / 1000, rel=0.05)
    assert model["link_queues"]["max_length"] == -(-model["link_queues"]["max_wait"] // 1000) > 3
    assert model["unit_queues"] == {"mean_wait": 0, "max_wait": 0, "mean_length": 0, "max_length": 0}


@pytest.mark.parametrize("settings", [{"routing": "rotated"}, {"routing": "adaptive"}, {"message_packets": 4},
                                      {"routing": "rotated", "message_packets": 3, "queue_statistics": True}], ids=str)
def test_no_way_of_running_changes_them(settings):
    base = config([6, 5, 4], rate=0.02, sample="300us", **settings)
    first = run(base)
    assert first["applications"][0]["hops"]["mean"] == pytest.approx((1.5 + 1.2 + 1) * 120 / 119, rel=0.03)
    for simulator in ({"sync": "optimistic", "threads": 3}, {"sync": "conservative", "threads": 2}):
        other = run({**base, "simulator": {**base["simulator"], **simulator}})
        assert other["simulation"]["digest"] == first["simulation"]["digest"] and other["model"] == first["model"]


def test_adaptive_routing_waits_less_than_e_cube():
    waits = {routing: measured([8, 8, 8], rate=0.15, sample="400us", routing=routing)[0]["packet_latency"]["mean"]
             for routing in ("e_cube", "adaptive")}
    assert waits["adaptive"] < 0.97 * waits["e_cube"]


def test_packets_of_a_message_may_not_overtake_each_other():
    with pytest.raises(Failed, match="model.message_packets: 2, but with adaptive routing"):
        measured([4, 4], routing="adaptive", message_packets=2)


# ---- steady state ----

def test_little_s_law_holds_in_a_steady_state():
    one, model = measured([8] * 6, rate=0.5, sample="200us")
    flight = model["packets_in_flight"]
    assert flight["agree"] and not one["saturated"]
    assert flight["littles_law"] == pytest.approx(one["accepted_rate"] * one["packet_latency"]["mean"])
    assert flight["time_average"] == pytest.approx(flight["littles_law"], rel=flight["tolerance"])
    assert flight["tolerance"] < 0.01


def test_little_s_law_tells_that_a_network_is_still_filling(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config([8] * 6, rate=4, warmup=0, sample="40us")))
    ended = subprocess.run([PROGRAM, "run", str(tmp_path / "config.json"), "--results", str(tmp_path / "results.json")],
                           capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert "not a steady state" in ended.stderr and "SATURATED" not in ended.stderr
    assert not json.loads((tmp_path / "results.json").read_text())["model"]["packets_in_flight"]["agree"]


def test_an_interrupted_run_measures_what_it_has_seen(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config([8] * 6, rate=1, warmup="60us", sample="1s")))
    running = subprocess.Popen([PROGRAM, "run", str(tmp_path / "config.json"), "--quiet", "--results",
                                str(tmp_path / "results.json")])
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    results = json.loads((tmp_path / "results.json").read_text())
    flight = results["model"]["packets_in_flight"]
    assert not results["complete"] and results["applications"][0]["sampled_ticks"] < 900000000
    assert flight["agree"] and flight["time_average"] == pytest.approx(12 * 2658 - 300, rel=0.05)


def test_more_than_links_carry_is_saturation():
    # 64 nodes, mean distance 4 over 4 links each: a link is full at one packet a node every holding
    full = 64 / HOLDING
    one, _ = measured([8, 8], rate=1.3 * full, **SETTINGS, sample="2ms")
    assert one["saturated"] and one["accepted_rate"] < 1.05 * full
    assert not measured([8, 8], rate=0.7 * full, **SETTINGS, sample="2ms")[0]["saturated"]


# ---- the same however it runs ----

MODES = [("conservative", 2), ("conservative", 3), ("optimistic", 1), ("optimistic", 2), ("optimistic", 3)]


@pytest.mark.parametrize("settings", [{"widths": [8] * 4, "rate": 0.3, "sample": "30us"},
                                      {"widths": [5, 6, 7], "rate": 0.2, "sample": "30us", "blocks": 11},
                                      {"widths": [4, 4], "traffic": "ping_pong", "from": [0, 0, 1, 1, 3, 3],
                                       "to": [1, 2, 0, 0, 0, 1], "warmup": 0, "sample": "300us"}],
                         ids=["uniform", "blocks", "ping_pong"])
def test_results_do_not_depend_on_how_it_runs(settings):
    settings = dict(settings)
    base = run(config(settings.pop("widths"), **settings))
    for sync, threads in MODES:
        widths = base["config"]["model"]["widths"]
        other = run(config(widths, {"sync": sync, "threads": threads}, **settings))
        assert other["simulation"]["digest"] == base["simulation"]["digest"], (sync, threads)
        assert other["applications"] == base["applications"] and other["model"] == base["model"]


def test_the_seed_and_nothing_else_changes_the_digest():
    digests = {run(config([8] * 4, {"seed": seed}, rate=0.3, sample="10us"))["simulation"]["digest"] for seed in (1, 1, 2)}
    assert len(digests) == 2


# ---- size ----

def test_a_trillion_nodes_take_no_memory():
    results = run(config([16] * 10, rate=0.02, sample="20us"))
    assert results["model"]["nodes"] == 2.0 ** 40
    assert results["applications"][0]["hops"]["mean"] == pytest.approx(40, rel=0.03)
    if not os.environ.get("FLITWARP", "").endswith("asan/flitwarp"):
        assert results["simulation"]["peak_rss_bytes"] < 64 << 20


# ---- refusals ----

@pytest.mark.parametrize("settings, message", [
    ({"widths": []}, "0 dimensions are given, 1 to 28 are accepted"),
    ({"widths": [2] * 29}, "29 dimensions are given, 1 to 28 are accepted"),
    ({"widths": [8, 1]}, "model.widths[1]"),
    ({"widths": [1048576] * 3}, "coordinates take 60 bits together, at most 56 are accepted"),
    ({"widths": [8], "rate": 0}, "model.rate"),
    ({"widths": [8], "bandwidth": "1b/s", "packet_bytes": 1000000000, "sample": 5}, "at most 1e12 are accepted"),
    ({"widths": [8], "bandwidth": "100000000GB/s", "link_setup": 0}, "at least one is needed"),
    ({"widths": [8, 8], "traffic": "ping_pong"}, "0 coordinates are given, 2 for each node are needed"),
    ({"widths": [8, 8], "traffic": "ping_pong", "from": [1, 2, 3], "to": [1, 2]}, "3 coordinates are given"),
    ({"widths": [8, 8], "traffic": "ping_pong", "from": [1, 8], "to": [1, 2]},
     "coordinate 8 of dimension 1 is not below its width 8"),
    ({"widths": [8, 8], "traffic": "ping_pong", "from": [1, 2, 3, 4], "to": [1, 3]}, "as many as in 'from' are needed: 4"),
    ({"widths": [8, 8], "traffic": "ping_pong", "from": [1, 2], "to": [1, 2]}, "pair 0 is a node and itself"),
    ({"widths": [1048576, 1048576], "processing": 1000000000}, "at most 17592186044416 is accepted"),
    ({"widths": [8], "traffic": "all"}, "uniform"),
])
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(Failed) as failure:
        run(config(**settings))
    assert failure.value.status == 1
    assert message in failure.value.message
    assert "config.json" in failure.value.message

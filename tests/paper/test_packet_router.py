# SPDX-License-Identifier: Apache-2.0
"""The packet router: latencies, waits and throughputs that follow from counting and from queueing theory.

A channel carries the L flits of a packet one after the other, `cycle` ticks apart, and is free for the next packet L cycles
after it began. A router has a packet for `delay` ticks before it can leave.
"""
import json
import subprocess

import pytest

from support import PROGRAM, ROOT, Failed, blast, config_of, network_of, run, run_all, run_logged
from test_zero_load import OTHER_CLOCKS, UNIT_CLOCKS, mesh, send_seldom, torus

UNIFORM = {"type": "uniform_random", "self": True}


def routing_of(topology):
    return "minimal" if topology["type"] == "single_router" else "dimension_order"


# --- A packet alone ---------------------------------------------------------------------------------------------
#
# With all clocks 1 the formulas are those of the input-queued router, whose stages add up to the delay:
#
#     virtual cut-through   2 ct + H delay + (H - 1) c + L - 1
#     store and forward     2 ct + H delay + (H - 1) c + (H + 1) (L - 1)

CASES = [case[:5] for case in UNIT_CLOCKS if case[5] == "wormhole"][::2] + [
    (mesh(4, 4), (0, 1, 1, 1), 1, 1, 64), (torus(5, 5), (0, 0, 0, 50), 20, 10, 64)]


@pytest.mark.parametrize("switching", ["virtual_cut_through", "store_and_forward"])
@pytest.mark.parametrize("topology, stages, c, ct, flits", CASES, ids=str)
def test_latency_at_zero_load_is_the_sum_of_its_parts(topology, stages, c, ct, flits, switching):
    for packet in send_seldom(topology, stages, flits, c, ct, routing_of(topology),
                              {"type": "packet", "switching": switching}):
        routers = packet["hops"] + 1
        head = 2 * ct + routers * sum(stages) + (routers - 1) * c
        stores = routers if switching == "store_and_forward" else 0
        assert packet["injected"] == packet["created"]
        assert packet["head_arrived"] - packet["created"] == head + stores * (flits - 1)
        assert packet["tail_arrived"] - packet["created"] == head + (stores + 1) * (flits - 1)


@pytest.mark.parametrize("topology, stages, c, ct, flits", CASES[::3], ids=str)
def test_the_flit_level_is_the_same_at_zero_load(topology, stages, c, ct, flits):
    """One configuration, two fidelities: every lonely packet takes as long, to the tick."""
    times = [{(packet["source"], packet["packet"]): (packet["head_arrived"], packet["tail_arrived"])
              for packet in send_seldom(topology, stages, flits, c, ct, routing_of(topology),
                                        {"type": router, "switching": "virtual_cut_through"})}
             for router in ("packet", "input_queued")]
    assert len(times[0]) > 100 and times[0] == times[1]


# Channels of different speed. A head must not run dry: where the channel that it came by is slower (ci) than one that leaves
# its router (fastest co), it waits until the rest comes soon enough for that one. So a head is eligible (L - 1)(ci - co)
# after its arrival, and the tail leaves at the earliest when it is there.

@pytest.mark.parametrize("topology, stages, cycle, channel, terminal, flits",
                         [case for case in OTHER_CLOCKS if case[2] == 1] + [
                             (mesh(4, 4), (0, 0, 0, 7), 1, (3, 1), (2, 4), 16),
                             (mesh(4, 4), (0, 0, 0, 7), 1, (3, 4), (2, 1), 16),
                             (torus(5), (1, 1, 1, 1), 1, (20, 5), (10, 2), 33)], ids=str)
def test_latency_is_exact_where_bandwidths_differ(topology, stages, cycle, channel, terminal, flits):
    del cycle
    delay = sum(stages)
    (c, fast), (ct, slow) = channel, terminal
    for packet in send_seldom(topology, stages, flits, {"latency": c, "cycle": fast}, {"latency": ct, "cycle": slow},
                              routing_of(topology), {"type": "packet"}):
        hops, fastest = packet["hops"], slow if topology["type"] == "single_router" else min(fast, slow)
        at, cycle_in = packet["created"] + ct, slow  # the head at the first router
        for hop in range(hops + 1):
            leaves = at + delay + (flits - 1) * (cycle_in - min(cycle_in, fastest))
            at, cycle_in = (leaves + c, fast) if hop < hops else (leaves + ct, slow)
        assert packet["head_arrived"] == at
        assert packet["tail_arrived"] == at + (flits - 1) * slow


@pytest.mark.parametrize("switching", ["virtual_cut_through", "store_and_forward"])
@pytest.mark.parametrize("by_class", [{"cycles": [1, 4]}, {"cycles": [4, 2]}, {"bandwidths": [8, "16GB/s"]}], ids=str)
def test_latency_is_exact_where_classes_of_channels_differ(by_class, switching):
    # A 4x4 mesh, x before y; terminals at 2 ticks a flit; 16 bytes/tick are 2 ticks a flit of 32 bytes.
    cycles, ct, flits, delay, c = by_class.get("cycles", [4, 2]), 2, 20, 6, 9
    fastest = 0 if switching == "store_and_forward" else min(*cycles, ct)
    for packet in send_seldom(mesh(4, 4), (0, 0, 0, delay), flits, {"latency": c, **by_class}, {"latency": 3, "cycle": ct},
                              router={"type": "packet", "switching": switching}):
        steps = [abs(packet["source"] // size % 4 - packet["destination"] // size % 4) for size in (1, 4)]
        way = [cycles[0]] * steps[0] + [cycles[1]] * steps[1]  # the channels between routers, in order
        assert len(way) == packet["hops"]
        at = packet["created"] + 3
        for cycle_in, latency in zip([ct] + way, [c] * len(way) + [3]):
            at += delay + (flits - 1) * max(0, cycle_in - fastest) + latency
        assert packet["tail_arrived"] == at + (flits - 1) * ct


@pytest.mark.parametrize("switching", ["virtual_cut_through", "store_and_forward"])
def test_chunks_are_stored_and_forwarded_one_by_one(switching):
    # 64 flits in chunks of 16 over H routers: a router that stores waits for 16 flits, not for 64.
    for packet in send_seldom(mesh(4, 4), (0, 0, 0, 5), 64, 10, 2,
                              router={"type": "packet", "switching": switching, "chunk": 16 * 32}):
        routers = packet["hops"] + 1
        stored = routers * 15 if switching == "store_and_forward" else 0
        assert packet["tail_arrived"] - packet["created"] == 4 + routers * 5 + (routers - 1) * 10 + 63 + stored


# --- Bandwidth --------------------------------------------------------------------------------------------------

def test_bandwidth_is_flit_bytes_in_a_cycle():
    # 25 GB/s and flits of 32 bytes: 1.28 ns, or 128 ticks of 10 ps; the same as saying so by cycle
    network = network_of(mesh(4, 4), router={"type": "packet", "buffer": 4096},
                         channel={"latency": "20ns", "bandwidth": "25GB/s"},
                         terminal_channel={"latency": "20ns", "bandwidth": "200Gb/s"})
    config = config_of(network, blast(0.2, flits=16, warmup="20us", sample="100us"))
    config["simulator"]["tick"] = "10ps"
    by_rate = run(config)
    assert by_rate["config"]["network"]["channel"]["cycle"] == 128
    for channel in ("channel", "terminal_channel"):
        config["network"][channel] = {"latency": "20ns", "cycle": 128}
    by_cycle = run(config)
    assert by_rate["simulation"]["digest"] == by_cycle["simulation"]["digest"]
    assert run(by_rate["config"])["simulation"]["digest"] == by_cycle["simulation"]["digest"]


def refusal(**overrides):
    network = network_of(mesh(2, 2), router={"type": "packet"})
    with pytest.raises(Failed) as caught:
        run(config_of(network, blast(0.1, warmup=0, sample=100)), **overrides)
    assert caught.value.status == 1
    return caught.value.message


@pytest.mark.parametrize("overrides, said", [
    ({"network__channel__bandwidth": "25GB/s"}, "network.channel.bandwidth: at 25GB/s a flit of 32 bytes takes 1.28 ticks"),
    ({"network__channel__bandwidth": "64GB/s"}, "takes 0.5 ticks"),
    ({"network__channel__bandwidth": "1KB/s"}, "accepted: at most 65535"),
    ({"network__channel__bandwidth": "16GB/s", "network__channel__cycle": 3},
     "network.channel.cycle: 3 contradicts the bandwidth beside it, 16GB/s, at which a flit of 32 bytes takes 2 ticks"),
    ({"network__terminal_channel__bandwidth": "16GB/s", "network__terminal_channel__cycle": 1},
     "network.terminal_channel.cycle: 1 contradicts"),
    ({"network__channel__bandwidths": [32, "25GB/s"]}, "network.channel.bandwidths: at 25GB/s a flit of 32 bytes"),
    ({"network__channel__bandwidths": [32, 16], "network__channel__cycles": [1, 3]}, "network.channel.cycles: they contradict"),
    ({"network__channel__bandwidths": [32, 16, 8]}, 'network.channel.bandwidths: 3 values, but "mesh" has 2 classes'),
    ({"network__channel__cycles": [1, 2, 3]}, 'network.channel.cycles: 3 values, but "mesh" has 2 classes'),
    ({"network__channel__bandwidth": "fast"}, "expected a rate like \"25GB/s\" or a number of bytes a tick"),
    ({"network__router__buffer": 31}, "network.router.buffer: 31 bytes, but a flit has 32"),
    ({"network__router__chunk": 33}, "network.router.chunk: 33 bytes are no whole number of flits of 32"),
    ({"network__router__chunk": 512}, "network.router.chunk: 512 bytes do not fit network.router.buffer_depth"),
    ({"network__router__chunk": 512, "network__router__buffer": 511}, "do not fit network.router.buffer, which holds 15"),
    ({"network__router__cycle": 1000000, "network__router__crossbar_latency": 9999},
     "network.router.cycle: the four latencies come to 10001000000 ticks; accepted: at most 1000000000"),
    ({"network__router__switching": "wormhole"}, "found 'wormhole', expected one of 'virtual_cut_through'"),
    ({"workload__applications__0__size__flits": 9}, "packets of up to 9 flits do not fit network.router.buffer_depth (8)"),
    ({"workload__applications__0__size__flits": 9, "network__router__buffer": 100}, "do not fit network.router.buffer (3)"),
    ({"network__router__arbiter": "age"}, "unknown key"),
])
def test_what_cannot_be_meant_is_refused(overrides, said):
    assert said in refusal(**overrides)


# --- Queueing ---------------------------------------------------------------------------------------------------

def test_packets_wait_for_an_output_as_in_an_m_d_1_queue():
    # 64 terminals send to one other by Poisson processes; the output serves each packet in S ticks. Pollaczek and
    # Khinchine: W = rho S / (2 (1 - rho)), beyond what a packet alone takes. A packet that waits in its source for the
    # one before it, S ticks, would have waited for it at the output: the sum is that of one queue.
    flits, sources = 32, 64
    router = {"type": "packet", "num_vcs": 1, "buffer": 1 << 28, "delay": 0}
    network = network_of({"type": "single_router", "terminals": sources + 1}, "minimal", router)
    loads = (0.2, 0.4, 0.6, 0.8, 0.9)
    results = run_all([config_of(network, blast(rho / sources, {"type": "hotspot", "terminals": [sources]}, flits,
                                                injection="poisson", warmup=200000, sample=40000000))
                       for rho in loads])
    for rho, result in zip(loads, results):
        wait = result["applications"][0]["packet_latency"]["mean"] - (2 + flits - 1)
        assert wait == pytest.approx(rho * flits / (2 * (1 - rho)), rel=0.025), rho


def test_a_source_is_an_m_d_1_queue():
    # A terminal's own channel, Poisson arrivals of 16 flits: W = rho S / (2 (1 - rho))
    network = network_of(mesh(8), router={"type": "packet", "buffer": 1 << 20})
    loads = (0.3, 0.6, 0.8)
    results = run_all([config_of(network, blast(rho, "neighbor", 16, injection="poisson", warmup=20000, sample=1000000))
                       for rho in loads])
    for rho, result in zip(loads, results):
        application = result["applications"][0]
        wait = application["packet_latency"]["mean"] - application["network_latency"]["mean"]
        assert wait == pytest.approx(rho * 16 / (2 * (1 - rho)), rel=0.03), rho


def test_a_switch_makes_packets_wait_as_an_ideal_one():
    # Karol, Hluchyj and Morgan 1987: (N - 1) / N * p / (2 (1 - p)) slots; packets of a flit, slots of a tick. Nothing
    # waits before the outputs, whatever the number of VCs.
    cases = [(n, p) for n in (4, 16) for p in (0.3, 0.5, 0.8, 0.9)]
    router = {"type": "packet", "num_vcs": 1, "buffer_depth": 4096, "delay": 0}
    results = run_all([config_of(network_of({"type": "single_router", "terminals": n}, "minimal", router),
                                 blast(p, UNIFORM, warmup=2000, sample=1600000 // n)) for n, p in cases])
    for (n, p), result in zip(cases, results):
        wait = result["applications"][0]["packet_latency"]["mean"] - 2
        assert wait == pytest.approx((n - 1) / n * p / (2 * (1 - p)), rel=0.04), (n, p)


# --- Credits ----------------------------------------------------------------------------------------------------
#
# Terminal 0 sends packets of L flits to terminal 1 without pause over two routers; the buffer between them holds k packets.
# A place is reserved when the packet starts at the first router; its last flit comes L - 1 + c + delay later to the
# second router's channel (cut-through: that channel is as fast), and its credits are back after credit_latency + c.
# Stored packets start from the second router L - 1 ticks later. Throughput is min(1, k L / loop).

@pytest.mark.parametrize("switching", ["virtual_cut_through", "store_and_forward"])
@pytest.mark.parametrize("flits", [1, 10, 50])
def test_one_flow_gets_its_buffer_over_the_credit_loop(flits, switching):
    cases = [(k, c, delay, credit) for k in (1, 2, 3, 5, 8) for c, delay, credit in ((20, 5, 1), (60, 0, 7), (100, 40, 0))]

    def flow(k, c, delay, credit):
        router = {"type": "packet", "num_vcs": 1, "buffer_depth": k * flits, "delay": delay, "credit_latency": credit,
                  "switching": switching}
        return config_of(network_of(mesh(2), router=router, channel=c),
                         blast(1.0, "neighbor", flits, injection="periodic", warmup=10000, sample=60000, finish_limit=1))

    for (k, c, delay, credit), result in zip(cases, run_all([flow(*case) for case in cases])):
        loop = (flits - 1) * (2 if switching == "store_and_forward" else 1) + 2 * c + delay + credit
        # The last hop and the injection channel have loops of their own, with ct = 1.
        inject = (flits - 1) * (2 if switching == "store_and_forward" else 1) + 2 + delay + credit
        expected = min(1, k * flits / loop, k * flits / inject)
        assert result["applications"][0]["accepted_load"] == pytest.approx(expected, rel=0.01), (k, c, delay, credit)


def test_stops_of_the_parking_lot_share_by_turns():
    # Who waited longest goes first: stop i gets half of what is behind it, 1/2, 1/4, ..., as by round robin.
    router = {"type": "packet", "num_vcs": 1, "buffer_depth": 32, "delay": 0}
    network = network_of({"type": "parking_lot", "stops": 6}, router=router)
    application = blast(1.0, {"type": "hotspot", "terminals": [0]}, 8, warmup=20000, sample=64000, finish_limit=1)
    accepted = run(config_of(network, application, per_terminal=True))["applications"][0]["accepted_by_terminal"]
    assert accepted[1:] == [pytest.approx(2.0 ** -min(i, 4), rel=0.01) for i in range(1, 6)]


def test_small_packets_do_not_starve_large_ones():
    # Packets of 1 and of 32 flits for one buffer of 32: a large one needs all of it, and gets it in its turn.
    router = {"type": "packet", "num_vcs": 1, "buffer_depth": 32}
    network = network_of({"type": "parking_lot", "stops": 3}, router=router)
    large = blast(1.0, {"type": "hotspot", "terminals": [0]}, 32, warmup=5000, sample=50000, finish_limit=1,
                  allocation={"type": "list", "terminals": [0, 2]})
    small = {**large, "size": {"type": "fixed", "flits": 1}, "allocation": {"type": "list", "terminals": [0, 1]}}
    shares = [application["accepted_load"] for application in run(config_of(network, large, small))["applications"]]
    assert shares[0] > 0.2, shares


# --- Queueing by output -----------------------------------------------------------------------------------------
#
# Three routers in a row. Terminal 1's packet of 100 flits fills the buffer behind the channel to router 2. Then terminal 0
# sends 10 flits to terminal 2, which must wait for it at router 1, and 10 to terminal 1.


@pytest.mark.parametrize("switching, later, stored", [("virtual_cut_through", 0, 0), ("store_and_forward", 150, 2)])
def test_a_packet_that_waits_keeps_others_only_where_they_queue_by_input(switching, later, stored, tmp_path):
    (tmp_path / "packets.csv").write_text(f"time,source,destination,bytes\n0,1,2,100\n{later},0,2,10\n{later},0,1,10\n")
    application = {"type": "trace", "file": str(tmp_path / "packets.csv"), "max_packet": 100}

    def times(queueing):
        router = {"type": "packet", "num_vcs": 1, "buffer_depth": 100, "delay": 0, "switching": switching, "queueing": queueing}
        _, packets = run_logged(config_of(network_of(mesh(3), router=router, flit_bytes=1), application), simulator__tick="1ns")
        return {(packet["source"], packet["destination"]): packet["tail_arrived"] - packet["injected"] for packet in packets}

    by_input, by_output = times("by_input"), times("by_output")
    assert by_output[0, 1] == 2 + 1 + (1 + stored) * (10 - 1)  # as if it were alone: over two routers, see above
    assert by_input[0, 1] > 100
    assert by_output[1, 2] == by_input[1, 2] and 100 < by_output[0, 2] <= by_input[0, 2]


@pytest.mark.parametrize("routing", ["dimension_order", "duato"])  # duato: packets wait for escape VCs
def test_queueing_by_output_is_the_same_in_every_mode(routing):
    network = network_of(mesh(6, 6), routing, {"type": "packet", "num_vcs": 4, "buffer_depth": 8, "queueing": "by_output"})
    config = config_of(network, blast(0.95, flits=4, warmup=200, sample=500))
    found = [run(config, **mode) for mode in ({}, {"simulator__sync": "conservative", "simulator__threads": 2},
                                              {"simulator__sync": "optimistic", "simulator__threads": 2},
                                              {"simulator__sync": "optimistic", "simulator__check_reversal": True})]
    assert len({each["simulation"]["digest"] for each in found}) == 1 and found[0]["complete"]


def test_more_is_carried_where_packets_do_not_keep_each_other():
    network = network_of(mesh(6, 6), router={"type": "packet", "num_vcs": 2, "buffer_depth": 8})
    config = config_of(network, blast(0.95, flits=4, warmup=500, sample=2000, finish_limit=1))
    by_input, by_output = (run(config, network__router__queueing=queueing)["applications"][0]["accepted_load"]
                           for queueing in ("by_input", "by_output"))
    assert by_output > 1.02 * by_input


def test_packets_in_chunks_do_not_queue_by_output():
    router = {"type": "packet", "buffer_depth": 64, "chunk": 64, "queueing": "by_output"}
    with pytest.raises(Failed, match="network.router.queueing.*whole"):
        run(config_of(network_of(mesh(3), router=router, flit_bytes=16), blast(0.1)))


# --- Bounds -----------------------------------------------------------------------------------------------------

def test_no_channel_carries_more_than_it_can():
    # Overloaded: utilisation is at most 1 (and a packet that was half through at the window's edge), some channel is full.
    flits = 16
    network = network_of(torus(8), router={"type": "packet", "buffer_depth": 64, "num_vcs": 4})
    result = run(config_of(network, blast(1.0, "tornado", flits, warmup=5000, sample=20000, finish_limit=1)))
    channels = result["channels"]["utilisation"]
    assert 0.95 < channels["max"] <= 1 + flits / 20000 * 2


# Largest loads by channel load (shared/reference/published.md): the worst-served terminal never gets more.
BOUNDS = [("torus", "tornado", 1 / 3), ("torus", "bit_complement", 1 / 2), ("torus", "transpose", 2 / 7),
          ("mesh", "tornado", 1 / 3), ("mesh", "bit_complement", 1 / 4), ("mesh", "transpose", 1 / 7),
          ("mesh", "uniform", 1 / 2), ("torus", "uniform", 1)]


def test_patterns_keep_their_bounds_and_most_of_it_is_reached():
    def grid(topology, pattern, load):
        router = {"type": "packet", "num_vcs": 4, "buffer_depth": 128, "delay": 2}
        return config_of(network_of({"type": topology, "widths": [8, 8]}, router=router),
                         blast(load, UNIFORM if pattern == "uniform" else pattern, 8, warmup=20000, sample=40000,
                               finish_limit=1))

    full = run_all([grid(topology, pattern, 1.0) for topology, pattern, _ in BOUNDS])
    most = run_all([grid(topology, pattern, 0.85 * bound) for topology, pattern, bound in BOUNDS])
    for case, overloaded, steady in zip(BOUNDS, full, most):
        assert overloaded["applications"][0]["worst_terminal"]["accepted_load"] <= 1.01 * case[2], case
        assert not steady["applications"][0]["saturated"], case


# --- Deadlock ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("chunk", [None, 64])
def test_deadlock_names_the_cycle(chunk, tmp_path):
    # A ring without dateline, one VC
    network = network_of(torus(6), {"type": "dimension_order", "dateline": "none"},
                         {"type": "packet", "num_vcs": 1, "buffer_depth": 8, "chunk": chunk})
    config = config_of(network, blast(1.0, "tornado", 8, warmup=2000, sample=20000))
    (tmp_path / "config.json").write_text(json.dumps(config))
    ended = subprocess.run([PROGRAM, "run", tmp_path / "config.json"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "deadlock at tick" in ended.stderr and "a cycle of 6 waits" in ended.stderr and "wants" in ended.stderr
    checked = subprocess.run([PROGRAM, "check", tmp_path / "config.json"], capture_output=True, text=True, check=False)
    assert checked.returncode == 2


# --- One setting -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("example", ["virtual_cut_through", "dragonfly", "torus_uniform", "hypercube", "fat_tree", "butterfly"])
def test_the_type_of_the_router_alone_makes_an_example_packet_level(example, tmp_path):
    results = tmp_path / "results.json"
    for router in ("packet", "input_queued"):
        ended = subprocess.run([PROGRAM, "run", ROOT / "examples" / f"{example}.json", f"network.router.type={router}", "--quiet",
                                "--results", results], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr

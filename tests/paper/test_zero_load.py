# SPDX-License-Identifier: Apache-2.0
"""A packet that meets no other takes exactly as long as its stages and channels say, to the tick.

Terminals send so seldom that most packets are alone in the network from creation to arrival; those that are not
are left out. Every pair of terminals may come up, so all distances are tried.

One packet of L flits through H routers, all clocks 1. Its head enters the injection channel when it is created,
arrives ct later (ct: latency of the terminal channels), and at each router is routed (r), given a virtual channel
(v), given the switch (s) and carried across (x); then a channel: c between routers, ct to the terminal. Flits follow
their head one by one, since later flits need s and x only and never catch up with it:

    wormhole, virtual cut-through   2 ct + H (r + v + s + x) + (H - 1) c + (L - 1)
    store and forward               2 ct + H (r + v + s + x) + (H - 1) c + (H + 1) (L - 1)

A router that stores and forwards begins with a head when its tail is there, L - 1 ticks later: once more at each of
the H routers. Cut-through differs from wormhole only when there is no room ahead, and there always is room here.
"""
import pytest

from support import blast, config_of, network_of, run_logged

LATENCIES = ("routing_latency", "vc_allocation_latency", "switch_allocation_latency", "crossbar_latency")


def mesh(*widths, concentration=1):
    return {"type": "mesh", "widths": list(widths), "concentration": concentration}


def torus(*widths, concentration=1):
    return {"type": "torus", "widths": list(widths), "concentration": concentration}


def lonely(packets):
    """Packets with the network to themselves: none other between their creation and arrival."""
    packets = sorted(packets, key=lambda packet: packet["created"])
    alone = []
    busy_until = -1
    for packet, after in zip(packets, packets[1:]):
        if packet["created"] > busy_until and packet["tail_arrived"] < after["created"]:
            alone.append(packet)
        busy_until = max(busy_until, packet["tail_arrived"])
    return alone


def send_seldom(topology, stages, flits, channel=1, terminal_channel=1, routing="dimension_order", router=None,
                latencies=LATENCIES, **more):
    """Lonely packets of a network; about 400 packets in all, 1 in 1000 ticks."""
    settings = {"num_vcs": 4, "buffer_depth": 64, **dict(zip(latencies, stages)), **(router or {})}
    network = network_of(topology, routing, settings, channel, terminal_channel, **more)
    terminals = topology.get("terminals") or topology.get("stops") or 0
    if not terminals:
        terminals = 2 ** topology["dimensions"] if "dimensions" in topology else 1
        for width in topology.get("widths", []):
            terminals *= width
    terminals *= topology.get("concentration", 1)
    load = flits / 1000 / terminals * network["terminal_channel"].get("cycle", 1)  # a load counts channel cycles
    _, packets = run_logged(config_of(network, blast(load, flits=flits, warmup=0, sample=400000)))
    alone = lonely(packets)
    assert len(alone) > 100
    return alone


#     topology                        r  v  s  x   c  ct  L   switching
UNIT_CLOCKS = [
    (mesh(8, 8),                     (0, 1, 1, 1),  1,  1,  1, "wormhole"),
    (mesh(8, 8),                     (0, 1, 1, 1),  1,  1,  8, "wormhole"),
    (mesh(4, 4),                     (0, 0, 0, 0),  1,  1,  1, "wormhole"),
    (mesh(4, 4),                     (0, 0, 0, 0),  1,  1, 16, "wormhole"),
    (mesh(4, 4),                     (1, 1, 1, 1),  2,  3,  4, "wormhole"),
    (mesh(4, 4),                     (2, 0, 3, 1),  5,  1,  7, "wormhole"),
    (mesh(4, 4),                     (3, 3, 3, 3), 10,  7, 16, "wormhole"),
    (mesh(4, 4),                     (0, 3, 0, 2),  1,  4,  3, "wormhole"),
    (mesh(4, 4),                     (1, 0, 0, 0),  1,  1,  2, "wormhole"),
    (mesh(4, 4),                     (0, 0, 2, 0),  3,  1,  5, "wormhole"),
    (mesh(4, 4),                     (0, 0, 0, 3),  1,  1,  5, "wormhole"),
    (mesh(9),                        (0, 1, 1, 1),  2,  1,  4, "wormhole"),
    (mesh(3, 4, 5),                  (1, 1, 1, 2),  4,  2,  4, "wormhole"),
    (mesh(2, 3, 2, 3),               (0, 2, 1, 0),  6,  1,  2, "wormhole"),
    (mesh(3, 3, concentration=4),    (0, 1, 1, 1),  1,  1,  4, "wormhole"),
    (torus(8, 8),                    (0, 1, 1, 1),  2,  1,  1, "wormhole"),
    (torus(8, 8),                    (1, 2, 3, 0),  3,  2,  9, "wormhole"),
    (torus(5, 5),                    (0, 0, 1, 0),  7,  1,  4, "wormhole"),
    (torus(4, 4, 4),                 (0, 1, 1, 1),  1,  1,  6, "wormhole"),
    (torus(16),                      (0, 1, 1, 1),  9,  5,  3, "wormhole"),
    (torus(4, 4, concentration=3),   (2, 2, 2, 2),  2,  2,  2, "wormhole"),
    ({"type": "hypercube", "dimensions": 4}, (0, 1, 1, 1),  1, 1, 1, "wormhole"),
    ({"type": "hypercube", "dimensions": 6}, (1, 1, 2, 1),  3, 2, 5, "wormhole"),
    ({"type": "single_router", "terminals": 8}, (0, 1, 1, 1), 1, 1,  1, "wormhole"),
    ({"type": "single_router", "terminals": 8}, (0, 0, 0, 0), 1, 1, 16, "wormhole"),
    ({"type": "single_router", "terminals": 5}, (3, 2, 1, 3), 1, 8, 11, "wormhole"),
    ({"type": "parking_lot", "stops": 6},    (0, 1, 1, 1),  2, 1,  5, "wormhole"),
    ({"type": "parking_lot", "stops": 9},    (1, 3, 0, 2),  4, 6,  8, "wormhole"),
    (mesh(4, 4),                     (0, 1, 1, 1),  1,  1,  8, "virtual_cut_through"),
    (mesh(4, 4),                     (2, 1, 3, 1),  5,  3, 16, "virtual_cut_through"),
    (torus(5, 4),                    (0, 0, 0, 0),  2,  1,  5, "virtual_cut_through"),
    (mesh(4, 4),                     (0, 1, 1, 1),  1,  1,  1, "store_and_forward"),
    (mesh(4, 4),                     (0, 1, 1, 1),  1,  1,  8, "store_and_forward"),
    (mesh(4, 4),                     (3, 1, 2, 1),  6,  2, 16, "store_and_forward"),
    (torus(5, 4),                    (0, 0, 0, 0),  2,  1,  5, "store_and_forward"),
    ({"type": "single_router", "terminals": 4}, (1, 1, 1, 1), 1, 3, 7, "store_and_forward"),
]


@pytest.mark.parametrize("router", ["input_queued", "input_output_queued"])
@pytest.mark.parametrize("topology,stages,c,ct,flits,switching", UNIT_CLOCKS,
                         ids=lambda value: value["type"] if isinstance(value, dict) else str(value).replace(" ", ""))
def test_latency_at_zero_load_is_the_sum_of_its_parts(topology, stages, c, ct, flits, switching, router):
    # Output queues add nothing: a flit that comes out of the crossbar alone goes on at once.
    routing = "minimal" if topology["type"] == "single_router" else "dimension_order"
    settings = {"type": router, "switching": switching, **({"output_depth": 16} if router != "input_queued" else {})}
    for packet in send_seldom(topology, stages, flits, c, ct, routing, settings):
        routers = packet["hops"] + 1
        assert packet["hops"] == packet["minimal_hops"]
        head = 2 * ct + routers * sum(stages) + (routers - 1) * c
        stores = routers if switching == "store_and_forward" else 0
        assert packet["injected"] == packet["created"]
        assert packet["head_arrived"] - packet["created"] == head + stores * (flits - 1)
        assert packet["tail_arrived"] - packet["created"] == head + (stores + 1) * (flits - 1)


@pytest.mark.parametrize("topology, latency, c, ct, flits", [
    (mesh(4, 4), 1, 1, 1, 1), (mesh(4, 4), 0, 3, 2, 5), (torus(5, 4), 4, 2, 1, 9)], ids=["mesh", "no latency", "torus"])
def test_the_small_router_has_one_latency_for_all_stages(topology, latency, c, ct, flits):
    for packet in send_seldom(topology, [latency], flits, c, ct, router={"type": "single_cycle"}, latencies=["latency"]):
        head = 2 * ct + (packet["hops"] + 1) * latency + packet["hops"] * c
        assert packet["head_arrived"] - packet["created"] == head
        assert packet["tail_arrived"] - packet["created"] == head + flits - 1


@pytest.mark.parametrize("delay", [1, 5])
def test_interface_latency_is_paid_once(delay):
    # 8x8 mesh of 3-cycle routers, single flits: 2 + 3 H + (H - 1), and the way from the source queue to the channel
    for packet in send_seldom(mesh(8, 8), (0, 1, 1, 1), 1, interface={"type": "standard", "latency": delay}):
        assert packet["tail_arrived"] - packet["created"] == 2 + 4 * (packet["hops"] + 1) - 1 + delay


def walk(created, routers, flits, stages, cycle, channel, terminal_channel):
    """
    When head and tail arrive where clocks differ: a flit that comes between two router clocks waits for the next one
    (a clock ticks at multiples of its cycle), a switch takes one flit of a packet a router cycle, and a channel takes
    one a channel cycle. The same for each flit, router after router.
    """
    r, v, s, x = (stage * cycle for stage in stages)
    arrivals = [created + i * terminal_channel["cycle"] + terminal_channel["latency"] for i in range(flits)]
    for router in range(routers):
        link = terminal_channel if router == routers - 1 else channel
        granted = departed = None
        for i, arrival in enumerate(arrivals):
            ready = -(-arrival // cycle) * cycle + (r + v if i == 0 else 0)
            granted = ready if granted is None else max(ready, granted + cycle)
            departure = granted + s + x
            departed = departure if departed is None else max(departure, departed + link["cycle"])
            arrivals[i] = departed + link["latency"]
    return arrivals[0], arrivals[-1]


OTHER_CLOCKS = [  # topology, stages, router cycle, channel latency and cycle, terminal channel latency and cycle, flits
    (mesh(4, 4), (0, 1, 1, 1), 2, (2, 2), (2, 2), 4),
    (mesh(4, 4), (0, 1, 1, 1), 2, (3, 1), (1, 1), 5),
    (mesh(4, 4), (1, 2, 1, 1), 2, (1, 1), (4, 2), 8),
    (mesh(4, 4), (0, 1, 1, 1), 3, (5, 2), (2, 1), 6),
    (mesh(4, 4), (0, 1, 1, 1), 1, (4, 2), (1, 1), 6),
    (mesh(4, 4), (0, 0, 1, 1), 1, (4, 1), (3, 3), 6),
    (torus(5, 5), (0, 1, 1, 1), 2, (7, 3), (1, 2), 7),
    (torus(5, 5), (3, 0, 2, 0), 4, (9, 3), (5, 5), 3),
    ({"type": "hypercube", "dimensions": 4}, (0, 1, 1, 1), 5, (2, 5), (2, 5), 4),
    ({"type": "single_router", "terminals": 6}, (1, 1, 1, 1), 2, (1, 1), (3, 1), 9),
]


@pytest.mark.parametrize("router", ["input_queued", "input_output_queued"])
@pytest.mark.parametrize("topology,stages,cycle,channel,terminal,flits", OTHER_CLOCKS,
                         ids=lambda value: value["type"] if isinstance(value, dict) else str(value).replace(" ", ""))
def test_latency_is_exact_where_clocks_differ(topology, stages, cycle, channel, terminal, flits, router):
    routing = "minimal" if topology["type"] == "single_router" else "dimension_order"
    channel, terminal = ({"latency": latency, "cycle": step} for latency, step in (channel, terminal))
    for packet in send_seldom(topology, stages, flits, channel, terminal, routing, {"type": router, "cycle": cycle}):
        head, tail = walk(packet["created"], packet["hops"] + 1, flits, stages, cycle, channel, terminal)
        assert (packet["head_arrived"], packet["tail_arrived"]) == (head, tail)


def test_a_scaled_clock_scales_every_latency():
    # Router, channels and interface at half the frequency: a lonely packet made on the clock takes twice as long.
    for packet in send_seldom(mesh(4, 4), (0, 1, 1, 1), 4, {"latency": 2, "cycle": 2}, {"latency": 2, "cycle": 2},
                              router={"cycle": 2}):
        if packet["created"] % 2 == 0:
            routers = packet["hops"] + 1
            assert packet["tail_arrived"] - packet["created"] == 2 * (2 + 3 * routers + routers - 1 + 3)

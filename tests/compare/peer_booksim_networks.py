# SPDX-License-Identifier: Apache-2.0
"""BookSim 2's networks beside meshes, tori and butterflies, with all their routing functions, on its plain router: what differs is the
network. Everything else is as in booksim.py."""
from peer_booksim import FILE, NAME, NODE_CYCLES, PERIODS, POWERS, TOLERANCE, figures, our_figures, write  # noqa: F401

# (topology, routing function, least number of VCs, what their number must divide by)
KINDS = [
    ("cmesh", "dor", 1, 1), ("cmesh", "dor_no_express", 1, 1), ("cmesh", "xy_yx", 2, 2), ("cmesh", "xy_yx_no_express", 2, 2),
    ("qtree", "nca", 1, 1), ("tree4", "nca", 1, 1), ("tree4", "anca", 1, 1), ("fattree", "nca", 1, 1), ("fattree", "anca", 1, 1),
    ("flatfly", "ran_min", 1, 1), ("flatfly", "xyyx", 2, 2), ("flatfly", "adaptive_xyyx", 2, 2), ("flatfly", "valiant", 2, 2),
    ("flatfly", "ugal", 2, 2), ("flatfly", "ugal", 2, 2), ("flatfly", "ugal_xyyx", 4, 4),
    ("dragonflynew", "min", 2, 2), ("dragonflynew", "ugal", 3, 3), ("anynet", "min", 1, 1),
]


def draw_size(draw, topology):
    """(settings, nodes)"""
    if topology == "cmesh":
        k = draw.choice([2, 4, 4])
        return {"k": k, "n": 2, "c": 4, "x": k, "y": k, "xr": 2, "yr": 2}, 4 * k * k
    if topology in ("qtree", "tree4"):
        return {"k": 4, "n": 3}, 64
    if topology == "fattree":
        k, n = draw.choice([(2, 3), (4, 2), (4, 3), (3, 3), (2, 4)])
        return {"k": k, "n": n}, k**n
    if topology == "flatfly":
        k, n, row, side = draw.choice([(4, 2, 4, 2), (4, 2, 4, 2), (4, 2, 4, 1), (8, 2, 8, 1), (2, 2, 2, 2), (4, 1, 2, 2), (4, 1, 2, 4), (4, 3, 8, 1)])
        return {"k": k, "n": n, "c": side * side, "x": row, "y": row, "xr": side, "yr": side}, side * side * k**n
    if topology == "dragonflynew":
        return {"k": 2, "n": 1}, 72
    return draw_file(draw)


def draw_file(draw):
    """A tree of routers, so that nothing can lock, with channels of drawn latencies, given for one direction or for both."""
    routers, each = draw.choice([(4, 2), (6, 1), (8, 2), (16, 1)])
    lines = [f"router {router} " + " ".join(f"node {router * each + node}" for node in range(each)) for router in range(routers)]
    latency = lambda: draw.choice(["", " 2", " 3", " 5"])  # noqa: E731
    for router in range(1, routers):
        parent = draw.randrange(router)
        lines[parent] += f" router {router}{latency()}"
        if draw.random() < 0.5:
            lines[router] += f" router {parent}{latency()}"
    return {"network_file": "net", "files": {"net": "\n".join(lines) + "\n"}}, routers * each


def draw_traffic(draw, topology, nodes):
    kinds = ["uniform", "uniform", "asymmetric"]
    if nodes in POWERS:
        kinds += ["bitcomp", "bitrev", "shuffle"] + (["transpose"] if round(nodes**0.5)**2 == nodes else [])
    if topology in ("flatfly", "cmesh", "fattree"):
        kinds += ["tornado", "neighbor"]
    if topology == "dragonflynew":
        kinds += ["bad_dragon"] * 3
    return draw.choice(kinds)


def draw(random):
    topology, function, least, unit = random.choice(KINDS)
    network, nodes = draw_size(random, topology)
    vcs = least if topology == "dragonflynew" else max(least, unit * random.choice([1, 1, 2, 4]))
    size = random.choice([1, 1, 2, 4, 8])
    config = {
        "topology": topology, "routing_function": function, **network, "num_vcs": vcs, "vc_buf_size": random.choice([4, 8, 8, 16]),
        "traffic": draw_traffic(random, topology, nodes), "packet_size": size, "use_noc_latency": random.choice([0, 1]),
        "routing_delay": random.choice([0, 1]), "credit_delay": random.choice([0, 1, 2]),
    }
    long = 12 if topology == "dragonflynew" else 1  # little is accepted, in bursts of a buffer every 200 cycles
    return {**config, "injection_rate_uses_flits": 1, "warmup_periods": 1, "sample_period": round(long * NODE_CYCLES * (1 + size / 4) / nodes),
            "max_samples": 1 + PERIODS, "stopping_thres": 0.0, "acc_stopping_thres": 0.0, "latency_thres": 1e9, "seed": 1}

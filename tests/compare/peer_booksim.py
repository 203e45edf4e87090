# SPDX-License-Identifier: Apache-2.0
"""BookSim 2: what its configurations can be, and its figures."""
import os
import re
import statistics
from pathlib import Path

import compare
from programs import Failed, Refused, run

NAME, FILE, TOLERANCE = "booksim", "peer.cfg", 0.03
PROGRAM = os.environ.get("BOOKSIM", "booksim")
LIMIT_S = 120

POWERS = {2**i for i in range(1, 10)}
PERIODS = 4            # measured, after one to warm up
NODE_CYCLES = 40000    # in a period for packets of a flit, more for longer ones
# Seeds: further ones until the mean latency (at full load: what is accepted) is known to within this share with 95 % confidence, or until
# there are MOST. The rule looks at each program's own figures; ours, the faster, has to know its mean twice as well.
WIDTH, OUR_WIDTH, LEAST, MOST = 0.015, 0.0075, 3, 200


def write(config, load, folder):
    """At full load (1) what arrives is asked for, not the latency of packets that would be waited for."""
    lines = [f"{key} = {value};" for key, value in config.items() if key != "files"]
    lines.append(f"injection_rate = {load};")
    if load == 1:
        lines.append("sim_type = throughput;")
    (Path(folder) / FILE).write_text("\n".join(lines) + "\n")
    for name, words in config.get("files", {}).items():
        (Path(folder) / name).write_text(words)


def figures(folder):
    judged = "accepted" if "sim_type = throughput" in (Path(folder) / FILE).read_text() else "packet_latency"
    found, cpu = [], 0
    for seed in range(1, MOST + 1):
        if is_settled([one[judged] for one in found], WIDTH):
            break
        one, seconds = run_once(folder, seed)
        found.append(one)
        cpu += seconds
    error = compare.error_of([one[judged] for one in found])
    return {what: statistics.fmean(one[what] for one in found) for what in found[0]} | {"seeds": len(found), "error": error}, cpu


def glimpse(folder):
    return run_once(folder, 1)


def seeds(name):
    """Others for each configuration: what one seed draws by chance, a little more traffic than asked, shows in one of them alone."""
    first = 1000 * int(name.partition(".")[2])
    return range(first + 1, first + 1 + MOST)


def is_settled(values, width=OUR_WIDTH):
    return len(values) >= LEAST and None not in values and compare.half_width(values) <= width


def run_once(folder, seed):
    try:
        status, said, cpu = run([PROGRAM, FILE, f"seed={seed}"], folder, LIMIT_S)
    except Failed as endless:  # its own deadlocks
        raise Refused(str(endless)) from endless
    classes = said.rpartition("====== Overall Traffic Statistics ======")[2].split("====== Traffic class ")[1:]
    if not classes:
        last = [line for line in said.splitlines() if line.strip()][-3:]
        raise Refused(f"status {status}: {' | '.join(last)}")
    number = lambda part, what: float(re.search(rf"{what} average = (\S+)", part).group(1))  # noqa: E731
    mean = lambda what: mean_of([number(part, what) for part in classes])  # noqa: E731
    return {"packet_latency": mean("Packet latency"), "network_latency": mean("Network latency"), "hops": mean("Hops") - 1,
            "accepted": sum(number(part, "Accepted flit rate") for part in classes)}, cpu  # it counts routers as hops


def mean_of(values):
    """Of the classes: each counts alike, however many packets it has, since BookSim does not say how many those are."""
    return statistics.fmean(values)


def our_figures(results):
    parts = results["applications"]
    mean = lambda what: mean_of([part[what]["mean"] for part in parts]) if all(part["packets"] for part in parts) else None  # noqa: E731
    return {"packet_latency": mean("packet_latency"), "network_latency": mean("network_latency"), "hops": mean("hops"),
            "accepted": sum(part["accepted_load"] for part in parts)}


# ---- drawing ---------------------------------------------------------------------------------------------------------------------

MESH = [("dor", 1, 1), ("dim_order", 1, 1), ("xy_yx", 2, 2), ("adaptive_xy_yx", 2, 2), ("min_adapt", 2, 1), ("valiant", 2, 2), ("romm", 2, 2),
        ("planar_adapt", 3, 1)]
TORUS = [("dim_order", 2, 2), ("dim_order", 2, 2), ("dim_order_bal", 2, 2), ("min_adapt", 4, 1), ("valiant", 4, 4)]
FLATFLY = [("ran_min", 1, 1), ("xyyx", 2, 2), ("adaptive_xyyx", 2, 2), ("valiant", 2, 2), ("ugal", 2, 2), ("ugal_xyyx", 4, 4)]


def draw_cube(draw, topology):
    k, n = draw.choice([(4, 2), (4, 2), (8, 2), (5, 2), (3, 3), (8, 1), (6, 2)])
    functions = [one for one in (MESH if topology == "mesh" else TORUS) if n == 2 or "xy_yx" not in one[0]]
    function, least, unit = draw.choice(functions)
    return {"topology": topology, "k": k, "n": n, "routing_function": function}, k**n, least, unit


def draw_network(draw):
    """(settings, nodes, least number of VCs, what their number must divide by)"""
    topology = draw.choice(["mesh", "mesh", "mesh", "torus", "torus", "torus", "cmesh", "fly", "qtree", "tree4", "fattree", "flatfly", "flatfly",
                            "dragonflynew", "anynet"])
    if topology in ("mesh", "torus"):
        return draw_cube(draw, topology)
    if topology == "cmesh":
        k = draw.choice([2, 4])
        function, least, unit = draw.choice([("dor", 1, 1), ("dor_no_express", 1, 1), ("xy_yx", 2, 2), ("xy_yx_no_express", 2, 2)])
        return {"topology": topology, "k": k, "n": 2, "c": 4, "x": k, "y": k, "xr": 2, "yr": 2, "routing_function": function}, 4 * k * k, least, unit
    if topology == "fly":
        k, n = draw.choice([(2, 3), (4, 2), (2, 4), (4, 3), (3, 3)])
        return {"topology": topology, "k": k, "n": n, "routing_function": "dest_tag"}, k**n, 1, 1
    if topology in ("qtree", "tree4"):
        return {"topology": topology, "k": 4, "n": 3, "routing_function": draw.choice(["nca"] if topology == "qtree" else ["nca", "anca"])}, 64, 1, 1
    if topology == "fattree":
        k, n = draw.choice([(2, 3), (4, 2), (4, 3), (3, 3), (2, 4)])
        return {"topology": topology, "k": k, "n": n, "routing_function": draw.choice(["nca", "anca"])}, k**n, 1, 1
    if topology == "flatfly":
        k, n, c = draw.choice([(4, 2, 4), (4, 2, 1), (2, 2, 4), (4, 1, 4), (8, 1, 1)])
        function, least, unit = draw.choice(FLATFLY)
        side = 2 if c == 4 else 1
        return {"topology": topology, "k": k, "n": n, "c": c, "x": k, "y": k if n == 2 else 1, "xr": side, "yr": side, "routing_function": function}, c * k**n, least, unit
    if topology == "anynet":
        return draw_anynet(draw)
    function, least, unit = draw.choice([("min", 2, 2), ("ugal", 3, 3)])  # as many VCs and no others
    return {"topology": topology, "k": 2, "n": 1, "routing_function": function}, 72, least, unit


def draw_anynet(draw):
    """A ring of routers without wrap-around, so that minimal routing cannot lock, with a few nodes at each and channels of drawn lengths."""
    routers, each = draw.choice([(4, 2), (6, 1), (8, 2)])
    lines = []
    for router in range(routers):
        nodes = " ".join(f"node {router * each + node}" for node in range(each))
        onward = f" router {router + 1} {draw.choice([1, 1, 2, 3])}" if router + 1 < routers else ""
        lines.append(f"router {router} {nodes}{onward}")
    return {"topology": "anynet", "network_file": "net", "routing_function": "min", "files": {"net": "\n".join(lines) + "\n"}}, routers * each, 1, 1


def draw_traffic(draw, network, nodes):
    kinds = ["uniform"] * 4 + ["hotspot({{0,1},{1,3}})", "diagonal", "asymmetric", "randperm"]
    if nodes in POWERS:
        kinds += ["bitcomp", "bitrev", "shuffle"] + (["transpose"] if round(nodes**0.5)**2 == nodes else [])
    if network["topology"] in ("mesh", "torus"):
        kinds += ["tornado", "neighbor"]
    if nodes == 64:
        kinds += ["taper64"]
    if network["topology"] == "dragonflynew":
        kinds += ["bad_dragon", "bad_dragon"]
    return draw.choice(kinds)


ALLOCATORS = ["islip", "islip(2)", "separable_input_first", "separable_output_first(matrix)", "pim", "wavefront", "rr_wavefront", "max_size", "loa", "select"]
# With these probabilities each, alone of the others.
SELDOM = [
    (0.15, lambda draw, vcs: {"input_speedup": 2} if vcs % 2 == 0 else {}),
    (0.15, lambda draw, vcs: {"output_speedup": 2}),
    (0.12, lambda draw, vcs: {"internal_speedup": draw.choice([1.5, 2.0])}),
    (0.10, lambda draw, vcs: {"hold_switch_for_packet": 1}),
    (0.10, lambda draw, vcs: {"wait_for_tail_credit": 1}),
    (0.08, lambda draw, vcs: {"vc_busy_when_full": 1}),
    (0.05, lambda draw, vcs: {"vc_prioritize_empty": 1}),
    (0.05, lambda draw, vcs: {"vc_shuffle_requests": 1}),
    (0.08, lambda draw, vcs: {"speculative": 1}),
    (0.05, lambda draw, vcs: {"output_buffer_size": draw.choice([1, 2, 4])}),
    (0.05, lambda draw, vcs: {"output_delay": 1}),
    (0.05, lambda draw, vcs: {"noq": 1, "routing_delay": 0, "num_vcs": max(vcs, 8)}),
    (0.10, lambda draw, vcs: {"priority": draw.choice(["age", "age", "network_age", "local_age", "queue_length", "hop_count", "sequence"])}),
    (0.15, lambda draw, vcs: {"injection_process": "on_off", "burst_alpha": 0.2, "burst_beta": 0.1}),
    (0.06, lambda draw, vcs: {"buffer_policy": "shared", "buf_size": 4 * vcs, "private_buf_size": 2}),
]


def draw_packets(draw):
    """(settings, mean size): of one class mostly; of two with a pattern each; requests and replies."""
    kind = draw.random()
    if kind < 0.08:
        config = {"classes": 2, "packet_size": "{1,4}", "injection_process": "bernoulli"}
        if draw.random() < 0.5:
            config |= {"priority": "class", "class_priority": "{0,1}"}
        return config, 2.5
    if kind < 0.16:
        return {"use_read_write": 1, "read_request_size": 1, "read_reply_size": 4, "write_request_size": 4, "write_reply_size": 1}, 2.5
    if kind < 0.26:
        return {"packet_size": "{{1,5}}", "packet_size_rate": draw.choice(["{{1,1}}", "{{3,1}}"])}, 3
    size = draw.choice([1, 1, 1, 2, 4, 8])
    return {"packet_size": size}, size


def draw(random):
    network, nodes, least, unit = draw_network(random)
    vcs = max(least, unit * random.choice([1, 1, 2, 4]))
    if network["topology"] == "dragonflynew":
        vcs = least
    packets, size = draw_packets(random)
    if "use_read_write" in packets:
        vcs *= 2
        for word, first, last in (("request", 0, vcs // 2 - 1), ("reply", vcs // 2, vcs - 1)):
            packets |= {f"{kind}_{word}_{end}_vc": vc for kind in ("read", "write") for end, vc in (("begin", first), ("end", last))}
    config = {
        **network, "num_vcs": vcs, "vc_buf_size": random.choice([1, 2, 4, 4, 8, 8, 8, 16]), "traffic": draw_traffic(random, network, nodes),
        "use_noc_latency": random.choice([0, 1]),
        "routing_delay": random.choice([0, 0, 1, 1, 2]), "st_prepare_delay": random.choice([0, 0, 0, 1]), "st_final_delay": random.choice([1, 1, 1, 2]),
        "credit_delay": random.choice([0, 1, 1, 2]), "vc_allocator": random.choice(ALLOCATORS), "sw_allocator": random.choice(ALLOCATORS),
        "alloc_iters": random.choice([1, 1, 2, 3]), "arb_type": random.choice(["round_robin", "round_robin", "matrix", "tree(2,round_robin)"]),
    }
    for chance, more in SELDOM:
        if random.random() < chance:
            config |= more(random, vcs)
    # Few packets arrive where all go to two nodes.
    period = round(NODE_CYCLES * (1 + size / 4) * (4 if config["traffic"].startswith("hotspot") else 1) / nodes)
    return {**config, **packets, "injection_rate_uses_flits": 1, "warmup_periods": 1, "sample_period": period, "max_samples": 1 + PERIODS,
            "stopping_thres": 0.0, "acc_stopping_thres": 0.0, "latency_thres": 1e9, "seed": 1}

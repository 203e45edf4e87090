# SPDX-License-Identifier: Apache-2.0
"""SuperSim (ssnetsim/supersim 2ee12fe): what its configurations can be, and its figures.

Saturation is what arrives at full load in a window of time, the same for both: after WARM cycles, in batches of BATCH cycles. The
rates that SuperSim writes are no such thing: they are taken until the last of some messages has arrived, and so for as long as the most
unlucky terminal waits, which may be without end. So its interfaces are told to report flits as they arrive (`debug` of the
configuration), and the program is stopped when the window is over.

How long a window is follows from the error that a figure may have, 0.5 %, a sixth of what is tolerated (fixed before the draws were
recorded that are kept here): the standard error of the mean of batches. Saturation: batches until it is that small, from LEAST to MOST of
them. Latency: PILOT messages, and if their error is larger, as many as it takes if errors shrink with the root of the number, up to
MESSAGES. Errors are recorded with the figures. Ours are the means of three runs, each of MESSAGES messages, or of as many batches.
"""
import copy
import csv
import itertools
import json
import os
import re
import statistics
import subprocess
from pathlib import Path

from programs import Refused, run

NAME, FILE, TOLERANCE = "supersim", "peer.json", 0.03
PROGRAM = os.environ.get("SUPERSIM", "supersim")
LIMIT_S = 1500

ERROR = 0.005
WARM, BATCH, LEAST, MOST = 2000, 500, 10, 100
PILOT, MESSAGES, PARTS = 5000, 30000, 20

SEPARABLE = {"type": "rc_separable", "slip_latch": True, "iterations": 1, "resource_arbiter": {"type": "lslp"}, "client_arbiter": {"type": "lslp"}}
FLOWS = {"flit_buffer": (False, False, False), "packet_buffer": (True, True, False), "winner_take_all": (False, True, True)}


def scheduler(arbiter, flow):
    full, lock, unlock = FLOWS[flow]
    return {"allocator": {"type": "r_separable", "slip_latch": True, "resource_arbiter": {"type": arbiter}},
            "full_packet": full, "packet_lock": lock, "idle_unlock": unlock}


def write(config, load, folder):
    settings = copy.deepcopy(config)
    application = settings["workload"]["applications"][0]
    terminal = application["blast_terminal"]
    terminal["request_injection_rate"] = float(load)
    settings["workload"]["message_log"]["file"] = "messages"
    application["rate_log"]["file"] = "rates"
    send(settings, MESSAGES)
    (Path(folder) / FILE).write_text(json.dumps(settings, indent=1))


def send(settings, messages):
    """So many are measured, of all terminals."""
    application = settings["workload"]["applications"][0]
    terminal = application["blast_terminal"]
    terminal["num_transactions"] = round(messages / len(interfaces(settings["network"])))
    application["max_saturation_cycles"] = round(3 * terminal["num_transactions"] * mean_size(terminal) / terminal["request_injection_rate"])


def interfaces(network):
    """What SuperSim calls them."""
    topology = network["topology"]
    if topology == "single_router":
        return [str(number) for number in range(network["concentration"])]
    if topology == "butterfly":
        return [str(number) for number in range(network["radix"] ** network["stages"])]
    if topology == "dragonfly":
        radices = [network["concentration"], network["local_width"], network["global_width"]]
    elif topology == "fat_tree":
        radices = [level[0] for level in network["down_up"]]
    else:
        radices = [network["concentration"], *network["dimension_widths"]]
    return [f"[{'-'.join(map(str, digits))}]" for digits in itertools.product(*map(range, radices))]


def mean_size(terminal):
    sizes = terminal["message_size_distribution"]
    return sizes["message_size"] if sizes["type"] == "single" else (sizes["min_message_size"] + sizes["max_message_size"]) / 2


def figures(folder):
    config = json.loads((Path(folder) / FILE).read_text())
    if config["workload"]["applications"][0]["blast_terminal"]["request_injection_rate"] == 1:
        return saturation(config, folder)
    found, cpu = measured(config, folder, PILOT)
    more = PILOT * (found["packet_latency_error"] / found["packet_latency"] / ERROR) ** 2
    if more > PILOT:
        found, again = measured(config, folder, min(more, MESSAGES))
        cpu += again
    return found, cpu


def saturation(config, folder):
    """Counts flits as they are reported. One interface tells of the packets that it sends too, so that time goes on in a deadlock."""
    names = interfaces(config["network"])
    vcs = sum(one["num_vcs"] for one in config["network"]["protocol_classes"])
    config["debug"] = [f"Network.Interface_{names[0]}"] + [f"Network.Interface_{name}.PacketReassembler_0_{vc}" for name in names
                                                           for vc in range(vcs)]
    config["workload"]["applications"][0]["max_saturation_cycles"] = 10**9
    config["workload"]["applications"][0]["blast_terminal"]["num_transactions"] = 10**9
    (Path(folder) / FILE).write_text(json.dumps(config))
    batches, full = [0] * (MOST + 1), 0
    child = subprocess.Popen(["timeout", str(LIMIT_S), PROGRAM, FILE], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in child.stdout:
        stamp = re.match(rb"\[(\d+):", line)
        if not stamp or int(stamp[1]) < WARM:
            continue
        batch = (int(stamp[1]) - WARM) // BATCH
        if batch > full:
            full = batch
            if full >= MOST or (full >= LEAST and relative_error(batches[:full]) < ERROR):
                break
        batches[batch] += b" src=" in line
    child.terminate()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    batches = batches[:min(full, MOST)]
    if full < LEAST:
        raise Refused(f"status {child.returncode} after {full} batches at full load")
    share = BATCH * len(names)
    return {"accepted": statistics.mean(batches) / share, "accepted_error": standard_error(batches) / share,
            "batches": len(batches)}, used.ru_utime + used.ru_stime


def standard_error(values):
    return statistics.stdev(values) / len(values) ** 0.5


def relative_error(values):
    return standard_error(values) / statistics.mean(values) if any(values) else 0


def measured(config, folder, messages):
    """Latencies at a load below saturation."""
    send(config, messages)
    (Path(folder) / FILE).write_text(json.dumps(config))
    for name in ("messages", "rates"):
        (Path(folder) / name).unlink(missing_ok=True)
    status, said, cpu = run([PROGRAM, FILE], folder, LIMIT_S)
    if status:
        last = [line for line in said.splitlines() if line.strip()][-2:]
        raise Refused(f"status {status}: {' | '.join(last)}")
    with open(Path(folder) / "rates") as file:
        rates = [float(row["ejection"]) for row in csv.DictReader(file)]
    packets, whole, hops = latencies(Path(folder) / "messages")
    cycle = config["simulator"]["channel_cycle_time"] / config["simulator"]["terminal_cycle_time"]
    size = max(1, len(packets) // PARTS)
    parts = [statistics.mean(packets[at:at + size]) for at in range(0, size * PARTS, size)]
    return {"packet_latency": statistics.mean(packets), "packet_latency_error": standard_error(parts), "packets": len(packets),
            "message_latency": statistics.mean(whole), "hops": statistics.mean(hops), "accepted": statistics.mean(rates) * cycle}, cpu


def latencies(path):
    """Of packets and of messages from when the message was made; hops are channels between routers."""
    packets, messages, hops = [], [], []
    with open(path) as file:
        for line in file:
            words = line.strip().split(",")
            if words[0] == "+M":
                sent, last = None, 0
            elif words[0] == "+P":
                hops.append(int(words[2]) - 1)
            elif words[0] == "F":
                sent, received = int(words[2]), int(words[3])
                last = max(last, received)
            elif words[0] == "-P":
                packets.append(received - sent)
            elif words[0] == "-M":
                messages.append(last - sent)
    return packets, messages, hops


def our_figures(results):
    one = results["applications"][0]
    return {"packet_latency": one["packet_latency"]["mean"], "message_latency": one["message_latency"]["mean"], "hops": one["hops"]["mean"],
            "accepted": one["accepted_load"]}


def compared(_config, theirs, ours):
    """As compare.by_load, but SuperSim does not tell when a packet enters the network."""
    import compare
    figures_full, their_cpu = theirs(compare.FULL)
    if not figures_full["accepted"]:
        raise Refused("nothing arrives at full load: a deadlock")
    loads = compare.parts_of_saturation(theirs)
    blast = "workload.applications[0]"
    found, our_cpu = ours(compare.FULL, [f"{blast}.warmup={WARM}", f"{blast}.sample={figures_full['batches'] * BATCH}"])
    rows = [compare.row(compare.FULL, "saturation", figures_full["accepted"], found["accepted"], True, (their_cpu, our_cpu))]
    for load in loads:
        (figures_there, their_cpu), (found, our_cpu) = theirs(load), ours(load)
        rows += [compare.row(load, what, figures_there[what], found[what], what.endswith("latency"), (their_cpu, our_cpu))
                 for what in ("packet_latency", "message_latency", "hops", "accepted")]
    return rows


# ---- drawing ---------------------------------------------------------------------------------------------------------------------

def reduced(algorithm="all_minimal", outputs=0):
    return {"algorithm": algorithm, "max_outputs": outputs, "congestion_bias": 0.1, "independent_bias": 0.0, "non_minimal_weight_func": "regular"}


def draw_cube(draw, topology):
    widths = draw.choice([[4, 4], [4, 4], [5, 3], [8], [3, 3], [2, 3, 2]])
    concentration = draw.choice([1, 1, 1, 2])
    algorithm = draw.choice(["dimension_order", "dimension_order", "valiants"])
    sets = (2 if topology == "torus" else 1) * (2 if algorithm == "valiants" else 1)
    network = {"topology": topology, "dimension_widths": widths, "dimension_weights": [1] * len(widths), "concentration": concentration}
    routing = {"algorithm": algorithm, "mode": "vc", "reduction": reduced()}
    terminals = concentration
    for width in widths:
        terminals *= width
    return network, routing, sets, terminals


def draw_hyperx(draw):
    widths = draw.choice([[4, 4], [3, 3], [5], [4, 3]])
    concentration = draw.choice([1, 2, 2, 3])
    algorithm = draw.choice(["dimension_order", "minimal", "valiants", "ugal"])
    routing = {"algorithm": algorithm, "output_type": draw.choice(["vc", "port"]), "output_algorithm": "random", "max_outputs": 0}
    sets = 1
    if algorithm == "minimal":
        routing["minimal"] = "adaptive"
        sets = len(widths)
    if algorithm in ("valiants", "ugal"):
        routing |= {"minimal": "dimension_order", "intermediate_node": "regular", "short_cut": False}
        sets = 2
    if algorithm == "ugal":
        routing |= {"non_minimal": "valiants", "min_all_vc_sets": draw.choice([True, False]), "decision_scheme": "monolithic_weighted",
                    "bias_mode": "regular", "hop_count_mode": "absolute", "congestion_bias": 0.0, "independent_bias": 0.0}
    terminals = concentration
    for width in widths:
        terminals *= width
    return ({"topology": "hyperx", "dimension_widths": widths, "dimension_weights": [1] * len(widths), "concentration": concentration},
            routing, sets, terminals)


def draw_tree(draw):
    levels, terminals = draw.choice([([[2, 2], [2, 2], [2]], 8), ([[3, 3], [3, 3], [3]], 27), ([[4, 2], [2, 2], [2]], 16), ([[4, 4], [2, 2], [2]], 16)])
    routing = {"algorithm": "common_ancestor", "mode": draw.choice(["vc", "port_ave"]), "least_common_ancestor": draw.choice([True, True, False]),
               "selection": "all", "reduction": reduced(draw.choice(["all_minimal", "least_congested_minimal"]), draw.choice([0, 1]))}
    return {"topology": "fat_tree", "down_up": levels}, routing, 1, terminals


def draw_dragonfly(draw):
    concentration, local, groups = draw.choice([(2, 2, 3), (1, 4, 5), (2, 4, 5)])
    algorithm = draw.choice(["minimal", "minimal", "adaptive"])
    routing = {"algorithm": algorithm, "mode": "vc", "reduction": reduced()}
    if algorithm == "minimal":
        routing["randomized_global"] = False
    else:
        routing |= {"progressive_adaptive": False, "valiant_node": draw.choice([True, False]), "reduction": reduced("weighted", 1)}
    network = {"topology": "dragonfly", "concentration": concentration, "local_width": local, "local_weight": 1, "global_width": groups,
               "global_weight": 1}
    return network, routing, 2 if algorithm == "minimal" else 5, concentration * local * groups


def draw_network(draw):
    """(settings, routing, sets of VCs, terminals)"""
    topology = draw.choice(["torus", "torus", "mesh", "mesh", "hyperx", "hyperx", "fat_tree", "dragonfly", "butterfly", "single_router"])
    if topology in ("torus", "mesh"):
        return draw_cube(draw, topology)
    if topology == "butterfly":
        radix, stages = draw.choice([(2, 3), (4, 2), (2, 4), (3, 2)])
        return {"topology": topology, "radix": radix, "stages": stages}, {"algorithm": "dest_tag"}, 1, radix**stages
    if topology == "single_router":
        terminals = draw.choice([4, 8, 16])
        return {"topology": topology, "concentration": terminals}, {"algorithm": "direct", "adaptive": False}, 1, terminals
    return {"hyperx": draw_hyperx, "fat_tree": draw_tree, "dragonfly": draw_dragonfly}[topology](draw)


def draw_router(draw, size, architecture):
    """With buffers that hold a packet where it moves as a whole."""
    flow = draw.choice(list(FLOWS)) if architecture != "output_queued" else "packet_buffer"
    whole = flow == "packet_buffer" or architecture == "output_queued"
    depth = draw.choice([4, 8, 16, 32])
    depth = max(depth, size) if whole else depth
    arbiter = draw.choice(["lslp", "lru", "random"])
    router = {
        "architecture": architecture, "input_queue_mode": "fixed", "input_queue_depth": depth, "store_and_forward": architecture == "output_queued",
        "congestion_sensor": {"algorithm": "buffer_occupancy", "latency": 1, "granularity": 0, "minimum": 0.0, "offset": 0.0,
                              "mode": draw.choice(["normalized_vc", "normalized_port"])},
        "congestion_mode": "downstream",
    }
    if architecture == "output_queued":
        router |= {"transfer_latency": draw.choice([1, 2, 5]), "output_queue_depth": max(draw.choice([8, 16, 64]), size)}
    else:
        router |= {"vca_swa_wait": True, "crossbar": {"latency": draw.choice([1, 1, 2, 5])},
                   "vc_scheduler": {"allocator": copy.deepcopy(SEPARABLE)}, "crossbar_scheduler": scheduler(arbiter, flow),
                   "output_queue_depth": max(draw.choice([4, 8, 16]), size) if architecture == "input_output_queued" else 64}
    if architecture != "input_queued":
        router |= {"output_crossbar": {"latency": 1}, "output_crossbar_scheduler": scheduler(arbiter, flow)}
    interface = {"type": "standard", "crossbar_scheduler": scheduler(arbiter, flow), "crossbar": {"latency": draw.choice([1, 1, 2])},
                 "init_credits_mode": "fixed", "init_credits": depth}
    return router, interface


def draw_messages(draw):
    """(distribution, largest packet, mean size)"""
    if draw.random() < 0.2:
        return {"type": "random", "min_message_size": 1, "max_message_size": 7}, 4, 4
    size = draw.choice([1, 1, 1, 2, 4, 8])
    return {"type": "single", "message_size": size}, draw.choice([size, size, max(1, size // 2)]), size


def draw_traffic(draw, network, terminals):
    kinds = [{"type": "uniform_random", "send_to_self": False}] * 3 + [{"type": "uniform_random", "send_to_self": True}]
    if terminals in (4, 8, 16, 32, 64):
        kinds += [{"type": "bit_complement"}]
    if network["topology"] in ("torus", "mesh") and min(network["dimension_widths"]) > 2:
        kinds += [{"type": "tornado", "dimensions": network["dimension_widths"], "concentration": network["concentration"], "interface_ports": 1,
                   "enabled_dimensions": [True] + [False] * (len(network["dimension_widths"]) - 1)}]
    return draw.choice(kinds)


def draw(random):
    network, routing, sets, terminals = draw_network(random)
    sizes, packet, mean = draw_messages(random)
    architecture = random.choice(["input_queued", "input_queued", "input_output_queued", "output_queued"])
    router, interface = draw_router(random, packet, architecture)
    vcs = sets * random.choice([1, 1, 2])
    local = random.choice([1, 2, 5])
    channels = {"external_channel": {"latency": random.choice([1, 1, 2])}}
    if network["topology"] == "dragonfly":
        channels |= {"channel_mode": "fixed", "local_channel": {"latency": local}, "global_channel": {"latency": random.choice([2, 10])}}
    elif network["topology"] == "fat_tree":
        channels |= {"internal_channels": [{"latency": local}] * (len(network["down_up"]) - 1)}
    elif network["topology"] != "single_router":
        channels |= {"internal_channel": {"latency": local}}
    if network["topology"] in ("torus", "mesh", "hyperx"):
        channels |= {"channel_mode": "fixed"}
    injection = {"algorithm": "common", "adaptive": random.choice([True, False]), "fixed_msg_vc": False}
    return {
        "simulator": {"channel_cycle_time": 1, "router_cycle_time": 1, "interface_cycle_time": 1, "terminal_cycle_time": 1, "print_progress": False,
                      "print_interval": 1.0, "random_seed": 12345678, "info_log": {"file": None}},
        "network": {**network, "interface_ports": 1, "protocol_classes": [{"num_vcs": vcs, "routing": {**routing, "latency": random.choice([1, 1, 2])},
                                                                           "injection": injection}],
                    **channels, "channel_log": {"file": None}, "traffic_log": {"file": None}, "router": router, "interface": interface},
        "metadata_handler": {"type": "zero"},
        "workload": {"message_log": {"file": None}, "applications": [{
            "type": "blast", "warmup_threshold": 0.9, "kill_on_saturation": False, "log_during_saturation": True, "max_saturation_cycles": 0,
            "blast_terminal": {"request_protocol_class": 0, "request_injection_rate": 0.1, "enable_responses": False, "warmup_interval": 100,
                               "warmup_window": 5, "warmup_attempts": 1, "num_transactions": 0, "max_packet_size": packet,
                               "transaction_size": 1, "traffic_pattern": draw_traffic(random, network, terminals),
                               "message_size_distribution": sizes},
            "rate_log": {"file": None}}]},
        "debug": [],
    }


def cause(config):
    network = config["network"]
    if network["topology"] == "torus" and len(network["dimension_widths"]) == 1:
        return "past saturation a ring settles in one of two states, and seeds of either program in both"
    return ""

# SPDX-License-Identifier: Apache-2.0
"""Whatever is registered works with whatever it accepts. Settings are drawn at random from a fixed seed; a run that ends
with status 0 has kept every invariant that the program checks as it goes: order within a packet, arrival at the right
terminal, no buffer overrun, every packet accounted for and every credit back at the end. A newcomer's component is drawn
too, with the settings of its example.
"""
import contextlib
import functools
import json
import os
import random
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import PROGRAM, on_one_core


def built(variable):
    """A program that was built with sanitizers; the usual one where it was not."""
    program = os.environ.get(variable, "")
    return program if program and os.access(program, os.X_OK) else PROGRAM


# Alone, and in parts, with the sanitizers' eyes on about half of these: the digests must be the same.
IN_PARTS = ["--sync", "conservative", "--threads", "2"]
PROGRAMS = [[PROGRAM], [built("FLITWARP_ASAN"), *IN_PARTS]]
TSAN = [built("FLITWARP_TSAN"), "--sync", "conservative", "--threads", "2"]
RUNS_A_PAIR = int(os.environ.get("FLITWARP_RUNS_A_PAIR", 1))


def runs_a_pair(router):
    """The usual router has most to draw."""
    return RUNS_A_PAIR * (2 if router == "input_queued" else 1)


# Small forms; a topology that is not here takes part with its example.
TOPOLOGIES = {
    "torus": [{"widths": [4, 3]}, {"widths": [2, 2, 3]}, {"widths": [5], "concentration": 2},
              {"widths": [3, 4], "channels": [2, 1]}],
    "mesh": [{"widths": [3, 4]}, {"widths": [2, 3, 2]}, {"widths": [3, 3], "channels": [2]},
             {"widths": [6], "concentration": 3}],
    "hypercube": [{"dimensions": 2}, {"dimensions": 3}, {"dimensions": 2, "concentration": 2}],
    "parking_lot": [{"stops": 5}, {"stops": 3, "concentration": 2}],
    "single_router": [{"terminals": 6}, {"terminals": 3}],
    "ideal": [{"terminals": 5, "latency": 9}, {"terminals": 2, "latency": 3}],
    "hyperx": [{"widths": [3, 2]}, {"widths": [5], "concentration": 3}, {"widths": [2, 3, 2], "channels": [2, 1, 1]}],
    "dragonfly": [{"terminals": 1, "routers": 2, "global": 1}, {"terminals": 2, "routers": 3, "global": 2, "groups": 4},
                  {"terminals": 1, "routers": 2, "global": 2, "arrangement": "circulant"}],
    "dragonfly_2d": [{"terminals": 1, "columns": 2, "rows": 2, "global": 1, "groups": 3},
                     {"terminals": 1, "columns": 3, "rows": 2, "column_channels": 2, "groups": 3, "arrangement": "palm_tree"}],
    "megafly": [{"terminals": 1}, {"terminals": 2, "leaves": 2, "spines": 1, "global": 2},
                {"terminals": 1, "leaves": 1, "spines": 2, "global": 2, "groups": 2, "arrangement": "file", "file": "links.csv"}],
    "folded_clos": [{"radix": 4, "levels": 2}, {"down": [3, 2, 2], "up": [2, 1]}, {"down": [2, 2, 2], "up": [2, 1], "joined": 2}],
    "butterfly": [{"radix": 2, "stages": 3}, {"radix": 3, "stages": 2}],
    "slim_fly": [{"q": 3, "terminals": 1}],
    "jellyfish": [{"routers": 9, "degree": 4, "terminals": 1}, {"routers": 12, "degree": 3}],
    "file": [{"file": "network.txt"}, {"file": "network.txt", "one_way": True}],
    "express_mesh": [{"width": 4}, {"width": 4, "concentration": 2}],
    "polarfly": [{"q": 2, "terminals": 1}, {"q": 3, "terminals": 1}],
    "polarstar": [{"q": 2, "supernode_degree": 0, "terminals": 1}],
    "xpander": [{"degree": 3, "lifts": [2]}, {"degree": 3, "lifts": [3], "terminals": 1}],
    "kautz": [{"degree": 2, "diameter": 2}],
    "de_bruijn": [{"degree": 2, "diameter": 3}],
    "spectralfly": [{"p": 3, "q": 5, "terminals": 1}],
    "bcube": [{"n": 2, "k": 1}, {"n": 3, "k": 1, "concentration": 2}],
    "dcell": [{"n": 2, "k": 1}, {"n": 3, "k": 1}],
    "spidergon": [{"routers": 8}, {"routers": 6, "concentration": 2}],
    "hierarchical_rings": [{"widths": [3, 2]}, {"widths": [2, 2, 2]}],
    "express_cube": [{"widths": [5, 3], "interval": [2]}, {"widths": [7], "interval": [3], "concentration": 2}],
    "hamming_mesh": [{"boards": [2, 1]}, {"board": [1, 1], "boards": [3, 2]}, {"board": [2, 1], "boards": [3, 2], "radix": 4}],
    "folded_hyperx": [{"widths": [3], "spines": 1}, {"widths": [2, 2], "leaves": 1, "terminals": 1}],
    "interposer": [{"layout": "kite_small", "rows": 3, "columns": 3}, {"layout": "folded_torus", "rows": 2, "columns": 3, "concentration": 2}],
    "hierarchy": [{"inside": [{"type": "torus", "widths": [3, 2]}, {"type": "folded_clos", "down": [2, 2], "up": [2]}], "copies": [2, 1],
                   "gateways": [[0, 4], [1]], "outside": {"type": "mesh", "widths": [3], "concentration": 2}, "channels": 2, "spare": "terminals"},
                  {"inside": [{"type": "mesh", "widths": [2, 2]}], "copies": [4], "gateways": [[1, 0, 3]], "outside": {"type": "torus", "widths": [4]},
                   "joined": "directly"}],
    "cluster": [{"servers": 2, "gpus": 4, "rails": 2, "leaf_servers": 1}, {"servers": 3, "gpus": 2, "switches": 2, "rail_only": True},
                {"servers": 4, "gpus": 2, "switches": 0, "taper": 2}],
}
LARGE = {"spectralfly"}  # 120 routers, the least that there are: the usual router alone, and not all pairs of routers
NETWORK = """router 0 node 0 node 3 2 router 1 4 router 2
router 1 node 1 router 2 router 2 3
router 3 node 2 router 2
router 2 router 1 2
"""
ROUTES = "".join(f"router {here} to router {there} via router {there if {here, there} == {0, 1} or here == 2 else 2}\n"
                 for here in range(4) for there in range(4) if here != there)
TRACE = """num_ranks 3
rank 0 {
a: calc 100
b: send 70000b to 2 tag 1
b requires a
}
rank 1 {
send 8b to 2 tag 2
}
rank 2 {
recv 8b from -1 tag 2
recv 70000b from -1 tag -1
}
"""
LINKS = "router,router\n1,4\n2,5,2\n"
ANY = set(TOPOLOGIES)
DRAGONFLIES = {"dragonfly", "dragonfly_2d", "megafly"}
GRIDS = {"torus", "mesh", "hypercube", "parking_lot"}
FITS = {
    "dimension_order": GRIDS | {"hyperx"}, "o1turn": {"torus", "mesh", "hypercube", "hyperx"}, "torus_adaptive": GRIDS,
    "duato": GRIDS, "fully_adaptive": GRIDS, "turn_model": GRIDS - {"torus"},
    "minimal": ANY, "minimal_adaptive": ANY, "valiant": ANY, "ugal": ANY, "par": ANY,
    "dal": {"hyperx"}, "omniwar": {"hyperx"}, "least_congested_queue": {"hyperx"}, "skipping_dimensions": {"hyperx"},
    "up_down": {"folded_clos"}, "destination_tag": {"butterfly"},
    "one_way": {"torus"}, "dragonfly_minimal": DRAGONFLIES, "voq": {"single_router"},
    "dragonfly_phases": {"dragonfly"}, "dragonfly_adaptive": {"dragonfly"}, "express_order": {"express_mesh"}, "least_latency": ANY,
    "bcube_order": {"bcube"}, "across_first": {"spidergon"}, "ring_levels": {"hierarchical_rings"},
    "express_cube_order": {"express_cube"}, "hamming_mesh_order": {"hamming_mesh"},
    "hierarchical": {"hierarchy", "cluster"},
}
DEADLOCKS = {"fully_adaptive", "dragonfly_phases", "least_latency"}  # on purpose; the last two as in BookSim


@functools.cache
def registered():
    """{kind: {name: example}}"""
    found = {}
    try:
        listed = json.loads(subprocess.run([PROGRAM, "list", "--json"], capture_output=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return {"topology": {}, "routing": {}}
    for entry in listed:
        text = subprocess.run([PROGRAM, "explain", entry["kind"], entry["name"]], capture_output=True, text=True,
                              check=True).stdout
        block, = json.loads("{" + re.search(r"example: (.*)", text).group(1) + "}").values()
        block = block[0] if isinstance(block, list) else block
        found.setdefault(entry["kind"], {})[entry["name"]] = block
    return found


def some(draw, kind, without=()):
    return draw.choice([block for name, block in sorted(registered()[kind].items()) if name not in without])


def shapes_of(name):
    return [{"type": name, **form} for form in TOPOLOGIES[name]] if name in TOPOLOGIES else [registered()["topology"][name]]


def some_sensor(draw):
    return draw.choice(["none", {"type": "buffer_occupancy", "normalised": False, "latency": draw.choice([1, 2, 50])},
                        {"type": "buffer_occupancy", "accounting": "downstream", "granularity": 0.25,
                         "phantom_value": draw.choice([0, 0, 1]),
                         "per": draw.choice(["vc", "port", "port_min", "port_max", "lesser", "greater"])}])


def input_queued(draw, num_vcs, packet):
    crossbar_flow = draw.choice(["flit_buffer", "flit_buffer", "packet_buffer", "winner_take_all"])
    switching = draw.choice(["wormhole", "wormhole", "virtual_cut_through", "store_and_forward"])
    moves_whole = switching != "wormhole" or crossbar_flow == "packet_buffer"
    is_usual = draw.random() < 0.2  # the router's fast paths have conditions of their own
    latency = (lambda: 1) if is_usual else (lambda: draw.choice([0, 0, 1, 1, 2, 3]))
    settings = {
        "type": "input_queued", "num_vcs": num_vcs,
        "buffer_depth": draw.choice([1, 2, 3, 5, 8]) + (packet - 1 if moves_whole else 0),
        "buffer_per_latency": draw.choice([0, 0, 0.5, 2]),
        "cycle": 1 if is_usual else draw.choice([1, 1, 2, 3]),
        "routing_latency": 0 if is_usual else latency(), "vc_allocation_latency": latency(),
        "switch_allocation_latency": latency(), "crossbar_latency": latency(), "credit_latency": latency(),
        "input_speedup": 1 if is_usual else draw.randint(1, min(3, num_vcs)),
        "output_speedup": draw.randint(1, 3) if crossbar_flow == "flit_buffer" and not is_usual else 1,
        "switching": switching, "crossbar_flow": crossbar_flow, "vc_needs_credit": draw.random() < 0.3,
        "vc_allocator": "round_robin" if is_usual else some(draw, "allocator"),
        "allocator": "round_robin" if is_usual else some(draw, "allocator"),
        "arbiter": some(draw, "arbiter"),
        "congestion": some_sensor(draw),
    }
    if settings["buffer_per_latency"]:
        settings["buffer_min"] = packet if moves_whole else 1
    if draw.random() < 0.3:
        least = settings.get("buffer_min", settings["buffer_depth"])
        exclusive = draw.randint(packet if moves_whole else 1, least)
        settings.update(buffer_exclusive=exclusive, buffer_maximum=draw.choice([None, exclusive, exclusive + 3]))
    return settings


def output_queued(draw, num_vcs, packet):
    del packet  # any size
    latency = lambda: draw.choice([0, 0, 1, 1, 2, 7])
    return {
        "type": "output_queued", "num_vcs": num_vcs, "buffer_depth": draw.choice([1, 2, 3, 5, 8]),
        "buffer_per_latency": draw.choice([0, 0, 0.5, 2]),
        "output_depth": draw.choice([None, None, 1, 2, 5, 16]), "cycle": draw.choice([1, 1, 2, 3]),
        "routing_latency": latency(), "transfer_latency": latency(), "credit_latency": latency(),
        "arbiter": some(draw, "arbiter"), "congestion": some_sensor(draw), "output_hold": draw.choice(["flit", "packet"]),
    }


def input_output_queued(draw, num_vcs, packet):
    settings = input_queued(draw, num_vcs, packet)
    moves_whole = settings["switching"] != "wormhole" or settings["crossbar_flow"] == "packet_buffer"
    return {**settings, "type": "input_output_queued", "output_arbiter": some(draw, "arbiter"),
            "output_hold": draw.choice(["flit", "packet"]),
            "output_depth": draw.choice([1, 2, 3, 5, 8]) + (packet - 1 if moves_whole else 0)}


def packet_router(draw, num_vcs, packet):
    """Buffers and chunks in bytes of flits of 32; a packet fits its buffer, or moves in chunks that do."""
    latency = lambda: draw.choice([0, 0, 1, 2])
    flits = draw.choice([0, 1, 2, 5, 13]) + packet
    settings = {
        "type": "packet", "num_vcs": num_vcs, "switching": draw.choice(["virtual_cut_through", "store_and_forward"]),
        "cycle": draw.choice([1, 1, 2]), "routing_latency": latency(), "vc_allocation_latency": latency(),
        "switch_allocation_latency": latency(), "crossbar_latency": latency(), "credit_latency": latency(),
        "delay": draw.choice(["auto", "auto", 0, 7, 1200]), "congestion": some_sensor(draw),
        **draw.choice([{"buffer_depth": flits}, {"buffer": 32 * flits + draw.randint(0, 31)}]),
    }
    if draw.random() < 0.5:
        settings["chunk"] = 32 * draw.randint(1, packet)
        if draw.random() < 0.5:  # buffers smaller than a packet
            settings = {key: value for key, value in settings.items() if key not in ("buffer", "buffer_depth")}
            settings["buffer_depth"] = settings["chunk"] // 32 + draw.choice([0, 0, 1, 2])
    if settings["delay"] != "auto":  # which stands for the others
        for stage in ("routing", "vc_allocation", "switch_allocation", "crossbar"):
            del settings[stage + "_latency"]
    return settings


def omnipath(draw, num_vcs, packet):
    """A lane's own share holds a packet, and the buffers hold all shares and more, or no more."""
    latency = lambda *choices: draw.choice([0, 0, 1, 2, 9, *choices])
    flits = draw.choice([1, 2, 4])
    exclusive = -(-packet // flits) + draw.choice([0, 0, 1])
    maximum = exclusive + draw.choice([0, 1, 5])
    size = lambda unit: unit * max(num_vcs * exclusive + draw.choice([0, 1, 7]), maximum)
    unit = draw.choice(["credits", "flits"])
    return {
        "type": "omnipath", "num_vcs": num_vcs, "ports": draw.choice([None, None, 64]),
        "flits_per_credit": flits, "exclusive_credits": exclusive, "max_credits": maximum, "queue_unit": unit,
        "queue_size": size(flits if unit == "flits" else 1),
        "central_queue_size": draw.choice([None, size(flits if unit == "flits" else 1)]), "cycle": draw.choice([1, 1, 2, 3]),
        "input_latency": latency(50), "routing_latency": latency(32), "mport_arbitration_latency": latency(),
        "central_arbitration_latency": latency(), "mport_crossbar_latency": 1 + latency(),
        "central_crossbar_latency": 1 + latency(), "output_latency": latency(50), "credit_latency": latency(),
        "mport_speedup": draw.randint(1, 3), "local_speedup": draw.randint(1, 4), "central_speedup": draw.randint(1, 4),
        "pipelined_arbitration": draw.random() < 0.3, "candidates": draw.choice(["one", "all"]),
        "allocator": some(draw, "allocator"), "arbiter": some(draw, "arbiter"), "output_arbiter": some(draw, "arbiter"),
        "congestion": some_sensor(draw), "allocation_interval": draw.choice([1, 1, 2, 9]),
    }


def simured(draw, num_vcs, packet):
    del packet  # any size
    delay = lambda: draw.choice([0, 1, 1, 1, 2, 3])
    return {
        "type": "simured", "num_vcs": num_vcs, "buffer_depth": draw.choice([1, 2, 2, 3, 5]), "buffer_delay": delay(),
        "crossbar_delay": delay(), "switching_delay": delay(), "channel_delay": delay(),
        "buffer_forwarding": draw.random() < 0.7, "physical_channels": draw.random() < 0.3,
        "lane_free": draw.choice(["auto", "when_empty"]), "cycle": draw.choice([1, 1, 2, 5]), "congestion": some_sensor(draw),
    }


def single_cycle(draw, num_vcs, packet):
    del packet  # any size
    return {"type": "single_cycle", "num_vcs": num_vcs, "buffer_depth": draw.choice([1, 2, 3, 5, 8]),
            "latency": draw.choice([0, 1, 1, 4]), "congestion": some_sensor(draw)}


def staged(draw, num_vcs, packet):
    room = draw.choice(["flit", "packet"])
    locks = ["none", "until_idle"] + ["packet"] * (room == "packet")  # a lock to the tail without room for all of a packet may deadlock
    router = {"type": "staged", "num_vcs": num_vcs, "buffer_depth": packet + draw.choice([0, 1, 4]), "routing_latency": draw.choice([1, 1, 3]),
              "crossbar_latency": draw.choice([1, 1, 4]), "output_latency": draw.choice([1, 2]), "stores_packet": draw.random() < 0.2,
              "waits_for_exit": draw.random() < 0.7, "room": room, "lock": draw.choice(locks), "congestion": some_sensor(draw),
              "cycle": draw.choice([1, 1, 2])}
    if draw.random() < 0.5:
        router |= {"output_depth": packet + draw.choice([0, 1, 8]), "output_room": draw.choice(["flit", "packet"]),
                   "output_hold": draw.choice(["flit", "packet"])}
        del router["lock"]  # has no effect then
    return router


def staged_output(draw, num_vcs, packet):
    return {"type": "staged_output", "num_vcs": num_vcs, "buffer_depth": packet + draw.choice([0, 1, 4]),
            "output_depth": draw.choice([None, packet, packet + 5]), "routing_latency": draw.choice([1, 1, 3]),
            "transfer_latency": draw.choice([1, 1, 4]), "output_latency": draw.choice([1, 2]), "output_hold": draw.choice(["flit", "packet"]),
            "congestion": some_sensor(draw), "cycle": draw.choice([1, 1, 2])}


def booksim(draw, num_vcs, packet):
    del packet  # any size
    depth = draw.choice([1, 2, 4, 8])
    speculation = draw.choice(["none", "none", "on_credit", "on_vc", "always"])
    # Those that look at no ranks may serve heads without a VC for ever.
    unfair = () if speculation == "none" else ("islip", "lonely_output", "maximum_size", "pim", "round_robin")
    router = {"type": "booksim", "num_vcs": num_vcs, "buffer_depth": depth, "routing_latency": draw.choice([0, 1, 2]),
              "crossbar_latency": draw.choice([1, 1, 3]), "credit_latency": draw.choice([0, 1, 2]), "steps": draw.choice([1, 1, 1.5, 2]),
              "cycle": draw.choice([1, 1, 2]), "input_speedup": draw.choice([1, min(2, num_vcs)]), "output_speedup": draw.choice([1, 1, 2]),
              "output_depth": draw.choice([None, None, 1, 3]), "vc_freed": draw.choice(["behind_tail", "when_empty"]),
              "speculation": speculation, "congestion": some_sensor(draw),
              "priority": draw.choice(["none", "age", "network_age", "local_age", "queue_length", "hops", "sequence"]),
              "vc_allocator": some(draw, "allocator"), "allocator": some(draw, "allocator", without=unfair),
              **{key: draw.random() < 0.3 for key in ("holds_switch", "vc_needs_credit", "empty_vcs_first", "shuffled")}}
    if depth > 1 and draw.random() < 0.3:
        router |= {"buffer_exclusive": draw.choice([1, 2]), "buffer_maximum": draw.choice([None, depth])}
    return router


ROUTERS = {"booksim": booksim, "staged": staged, "staged_output": staged_output, "input_queued": input_queued, "output_queued": output_queued, "input_output_queued": input_output_queued,
           "packet": packet_router, "omnipath": omnipath, "simured": simured, "single_cycle": single_cycle}


def router_of(draw, name, num_vcs, packet):
    """A router with every option drawn, such that it can carry packets of so many flits."""
    if name in ROUTERS:
        return ROUTERS[name](draw, num_vcs, packet)
    return {**registered()["router"][name], "num_vcs": num_vcs}


def answers(application):
    return application["type"] == "memory" or "reply" in application


def config_for(draw, topology, routing, router, num_vcs):
    packet = draw.choice([1, 1, 2, 4])
    channels = {"injection_channels": draw.randint(1, 2), "ejection_channels": draw.randint(1, 2)}
    traffic = draw.choice(["uniform_random", {"type": "uniform_random", "self": True}, "neighbor", "random_permutation",
                           {"type": "hotspot", "terminals": [0, 1], "share": 0.3}])
    application = {
        "type": "blast", "load": draw.choice([0.05, 0.2, 0.5]), "traffic": traffic,
        "injection": draw.choice([some(draw, "injection", without=["on_off"]), {"type": "on_off", "burst": 3}]),
        "max_packet": packet, "warmup": 100, "sample": 300, "finish_limit": 20000,
        "size": draw.choice([{"type": "fixed", "flits": packet}, {"type": "uniform", "max": 2 * packet},
                             {"type": "mix", "sizes": [1, 3 * packet], "weights": [3, 1]}]),
    }
    if draw.random() < 0.3:
        application["reply"] = draw.choice([{"type": "fixed", "flits": 2 * packet}, {"type": "uniform", "max": 3 * packet}])
        application["reply_delay"] = draw.choice([0, 0, 7, 1500])
    if draw.random() < 0.2:
        application["messages_per_transaction"] = draw.choice([2, 3])
        application["transaction_destinations"] = draw.choice(["same", "each"])
    planes = {"count": draw.choice([2, 3]), "order": draw.choice(["reversed", "identical", "shuffled"]),
              "selection": some(draw, "selection")}
    applications = [application]
    if draw.random() < 0.25:
        applications.append({"type": "pulse", "load": 0.3, "messages": 10, "delay": 100, "max_packet": packet})
    if draw.random() < 0.25:
        other = draw.choice([{"type": "alltoall", "wait": True, "order": "random"}, {"type": "memory", "memories": [1]},
                             {"type": "stencil", "ranks": [2], "iterations": 3, "collective": "barrier"},
                             {"type": "stream", "messages": 10, "load": 0.1}])
        timed = {"warmup": 100, "sample": 3000, "finish_limit": 20000} if other["type"] == "memory" else {"limit": 20000}
        applications.append({**other, **timed, "max_packet": packet, "allocation": {"type": "random", "count": 2}})
    levels = {}
    if router in ("input_queued", "input_output_queued", "output_queued") and num_vcs <= 32 and draw.random() < 0.3:
        num_vcs *= 2
        levels = {"protocol_classes": 2, "service": draw.choice([
            {"levels": [0, 1], "preemption": draw.random() < 0.5}, {"levels": [1, 0], "arbitration": "alike"},
            {"levels": [0, 1], "arbitration": "weighted", "weights": [draw.randint(1, 5), 2]}])}
        for number, one in enumerate(applications):
            one.update(protocol_class=number % 2, **({"reply_protocol_class": 1} if answers(one) else {}))
        if "by_class" in json.dumps(planes):
            planes["selection"] = {"type": "by_class", "planes": [[0], [0, 1]]}
    seed, drawn = draw.randint(0, 10**9), router_of(draw, router, num_vcs, packet)
    interface = {"type": "standard", "latency": draw.choice([0, 0, 2]), **channels}
    if router == "booksim" and draw.random() < 0.7:
        interface, planes = {"type": "booksim", "classes": draw.choice([1, 2])}, {}
    return {
        "simulator": {"seed": seed},
        "network": {
            "topology": topology, "routing": routing, "router": drawn,
            "interface": interface,
            "channel": {"latency": draw.choice([1, 1, 2, 5, 1500]), **draw.choice([{}, {"cycle": 2}, {"cycles": [3]}])},
            "terminal_channel": {"latency": draw.choice([1, 1, 3]), "cycle": draw.choice([1, 1, 2])},
            "planes": draw.choice([{}, {}, planes]), **levels,
            "deadlock_interval": 100,  # nobody may be said to be stuck who is not
        },
        "workload": {"applications": applications, "check_interval": 100},
    }


def write(config, directory):
    """The configuration's path; files that examples name lie beside it."""
    path = directory / "config.json"
    (directory / "network.txt").write_text(NETWORK)
    (directory / "routes.txt").write_text(ROUTES)
    (directory / "links.csv").write_text(LINKS)
    (directory / "dissemination.goal").write_text(TRACE)
    path.write_text(json.dumps(config, indent=1))
    return path


def start(program, config, directory):
    command = [program[0], "run", write(config, directory), "--quiet", *program[1:]]
    with on_one_core() if program[1:] == IN_PARTS and program is not TSAN else contextlib.nullcontext():
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@functools.cache
def nothing_sent(network):
    """What becomes of a network, given as text so that it is asked once, under a workload that does nothing."""
    with tempfile.TemporaryDirectory() as directory:
        return start([PROGRAM], {"network": json.loads(network), "workload": {"applications": [
            {"type": "blast", "warmup": 0, "sample": 0}]}}, Path(directory))


def of_one_vc(routing, topology):
    return nothing_sent(json.dumps({"topology": topology, "routing": routing, "router": {"num_vcs": 1}}))


def more_vcs(ended):
    return re.search(r"needs (\d+) VCs", ended.stderr)


def is_accepted(routing, topology):
    """It runs, or would with more VCs: asked together, for a start of the program is what this takes."""
    ended = of_one_vc(routing, topology)
    assert ended.returncode in (0, 1), ended.stderr
    assert ended.returncode == 0 or "network.routing" in ended.stderr, ended.stderr
    return ended.returncode == 0 or more_vcs(ended) is not None


def needs_escape(routing, topology, router):
    """Whether the router says that it gives no escape VCs."""
    if "staged" not in router and router != "booksim":
        return False
    ended = nothing_sent(json.dumps({"topology": topology, "routing": routing, "router": {"type": router, "num_vcs": 32}}))
    return "which escape VCs need" in ended.stderr


def vcs_needed(routing, topology):
    """What the program asks for when it is given too few."""
    found = more_vcs(of_one_vc(routing, topology))
    return int(found.group(1)) if found else 1


def run_everywhere(config, routing, directory, what, programs):
    """Runs a configuration by some programs: it ends well, accounts for all packets, and gives one digest."""
    digests = set()
    for program in programs:
        ended = start(program, config, directory)
        is_stuck = routing in DEADLOCKS and ended.stderr.startswith("deadlock at tick")
        assert ended.returncode == (2 if is_stuck else 0), f"{what}: exit status {ended.returncode}: {ended.stderr}\n{json.dumps(config)}"
        results = json.loads(ended.stdout)
        if is_stuck:
            digests.add(ended.stderr)
            continue
        is_silent = not any(application["offered_load"] for application in results["applications"])
        assert results["complete"] and (results["simulation"]["flit_hops"] > 0 or is_silent), f"{what}\n{json.dumps(config)}"
        for application in results["applications"]:
            # A processor whose requests are all under way makes none; so it may be in a network that hardly moves. Packets of
            # a transaction that began before the window are offered in it and not measured.
            late = application["saturated"] or application["unfinished_packets"] or application["name"] == "memory" or application.get("transactions") == 0
            assert application["packets"] > 0 or late or not application["offered_load"], f"{what}\n{json.dumps(config)}"
        digests.add(results["simulation"]["digest"])
    assert len(digests) == 1, f"{what}: programs differ\n{json.dumps(config)}"


@functools.cache
def pairs_on(routing, topology):
    """Shapes of the topology and forms of the algorithm that fit together: without settings, and as in its example."""
    return [(shape, block) for shape in shapes_of(topology) for block in [routing, registered()["routing"][routing]]
            if is_accepted(block, shape)]


def combinations(routing):
    """(topology, router): the usual router on every topology that the algorithm accepts, and every other router with the
    algorithm, in turn over those topologies. All three by all three would be some thousand runs."""
    names = sorted(registered()["topology"])
    topologies = [name for name in names if pairs_on(routing, name)]
    # An algorithm has escape VCs in all forms or in none.
    routers = [router for router in sorted(set(registered()["router"]) - {"input_queued"})
               if not needs_escape(*reversed(pairs_on(routing, topologies[0])[0]), router)]
    yield from ((topology, "input_queued") for topology in topologies)
    topologies = [topology for topology in topologies if topology not in LARGE] or topologies
    first = sorted(registered()["routing"]).index(routing)  # so that algorithms pair a topology with different routers
    for place in range(max(len(topologies), len(routers))):
        yield topologies[place % len(topologies)], routers[(place + first) % len(routers)]


@pytest.mark.parametrize("routing", sorted(registered()["routing"]))
def test_routing_is_refused_or_runs_and_drains(routing, tmp_path):
    for topology, router in combinations(routing):
        draw = random.Random(f"{routing} {topology}" + (f" {router}" if router != "input_queued" else ""))
        pairs = pairs_on(routing, topology)
        for number, (shape, block) in enumerate(draw.sample(pairs, min(len(pairs), runs_a_pair(router)))):
            num_vcs = vcs_needed(block, shape)
            num_vcs = min(64, num_vcs * draw.choice([1, 1, 2]) + draw.choice([0, 0, 1]))
            programs = draw.choice([[[PROGRAM], [PROGRAM, *IN_PARTS]], PROGRAMS])
            run_everywhere(config_for(draw, shape, block, router, num_vcs), routing, tmp_path, f"{topology}, {router}, run {number}", programs)


@pytest.mark.parametrize("routing", sorted(FITS))
def test_routing_fits_the_topologies_that_it_says(routing):
    assert {topology for topology in TOPOLOGIES if pairs_on(routing, topology)} == FITS[routing]


@pytest.mark.parametrize("routing", sorted(set(registered()["routing"]) - DEADLOCKS))
def test_routing_is_free_of_deadlock_wherever_it_is_accepted(routing, tmp_path):
    """As it is by default and in its example, with as many VCs as it asks for."""
    for topology in registered()["topology"]:
        for shape, block in pairs_on(routing, topology):
            if topology in LARGE and block is not routing:
                continue
            config = {"network": {"topology": shape, "routing": block, "router": {"num_vcs": vcs_needed(block, shape)}}}
            ended = subprocess.run([PROGRAM, "check", write(config, tmp_path)], capture_output=True, text=True, timeout=120, check=False)
            verdict = ": no deadlock found\n" if "checked a sample" in ended.stdout and topology in LARGE else ": no deadlock\n"
            if routing in ("one_way_escape", "ring_halves") and " of escape VCs:" in ended.stdout:  # as BookSim's: see test_deadlock.py
                verdict = ": no deadlock of escape VCs, but the others are taken without room"
            assert ended.returncode == 0 and verdict in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("kind", ["allocator", "arbiter", "congestion", "traffic", "injection", "size", "allocation"])
def test_every_component_runs_with_its_example(kind, tmp_path):
    """On a network of 64 terminals in a grid, which all examples fit."""
    (tmp_path / "sizes.csv").write_text("1,3\n4,1\n")
    (tmp_path / "matrix.csv").write_text("\n".join([",".join(["1"] * 64)] * 64))
    for name, block in registered()[kind].items():
        config = {"network": {"topology": {"type": "torus", "widths": [8, 8]}, "router": {"num_vcs": 2}},
                  "workload": {"applications": [{"type": "blast", "load": 0.2, "warmup": 200, "sample": 500}]}}
        place = config["network"]["router"] if kind in ("allocator", "arbiter", "congestion") else config["workload"]["applications"][0]
        if isinstance(block, dict) and "file" in block:
            block = {**block, "file": "matrix.csv" if kind == "traffic" else "sizes.csv"}
        if name == "tiles":  # of a chip whose routers have four terminals
            config["network"]["topology"] = {"type": "mesh", "widths": [4, 4], "concentration": 4}
        place[kind] = block
        for program in PROGRAMS:
            ended = start(program, config, tmp_path)
            assert ended.returncode == 0, f"{kind} {name}: {ended.stderr}"
            assert json.loads(ended.stdout)["applications"][0]["packets"] > 0, (kind, name)


# Examples that are long for what they show here.
SHORTER = {"blast": {"warmup": 300, "sample": 600}, "memory": {"warmup": 200, "sample": 500}, "stencil": {"iterations": 2}}


@pytest.mark.parametrize("name", sorted(registered().get("application", {})))
def test_every_application_runs_with_its_example(name, tmp_path):
    """On 64 terminals in a grid, alone and beside a blast; the same in every program."""
    example = {**registered()["application"][name], **SHORTER.get(name, {})}
    steady = {"type": "blast", "load": 0.05, "warmup": 200, "sample": 500}
    for applications in ([example], [steady, example], [example, steady]):
        config = {"network": {"topology": {"type": "torus", "widths": [8, 8]}, "router": {"num_vcs": 2}},
                  "workload": {"applications": applications}}
        digests = set()
        for program in [*PROGRAMS, TSAN]:
            ended = start(program, config, tmp_path)
            assert ended.returncode == 0 and not ended.stderr, ended.stderr
            results = json.loads(ended.stdout)
            assert results["complete"] and all(block["packets"] > 0 for block in results["applications"])
            digests.add(results["simulation"]["digest"])
        assert len(digests) == 1

# SPDX-License-Identifier: Apache-2.0
"""OPASim (Cano and others, 2018): Table 1, the defaults of section 2.3, Figures 3 to 5."""
import functools
import json
from statistics import fmean

from group import SLIGHTLY, Group, Paper, alike, maker
from work import flat, of_sweep, replay, study, task

FIGURES = study("opasim", "figures_3_to_5")
LOADS = tuple(i / 10 for i in range(1, 11))


@functools.cache
def runs():
    return of_sweep(FIGURES.study(allocators=("simple", "iSLIP")), "traffic", "allocator", "load")


def alone():
    """A packet of 16 flits (4 of SimuRed's) from terminal 3 to terminal 4, of the next MPort."""
    config = json.loads(json.dumps(router()))
    config["workload"]["applications"] = [{"type": "trace", "file": "$trace", "format": "simured", "max_packet": 16}]
    return task(replay, config, ["0 3 4 4"])


TABLE_1 = {"routing": ("routing_latency", 32), "storing in input buffer": ("input_latency", 50),
           "storing in output buffer": ("output_latency", 50),
           "crossbar MPort": ("mport_crossbar_latency", 2), "crossbar central": ("central_crossbar_latency", 2)}
DEFAULTS = {"NUMBER_OF_VC": ("num_vcs", 8), "FLITS_PER_CREDIT": ("flits_per_credit", 4),
            "QUEUE_SIZE": ("queue_size", 256)}
IN_FLITS = {"EXCLUSIVE_VC_CREDITS": ("exclusive_credits", 16), "MAX_VC_CREDITS": ("max_credits", 48)}


def router():
    """The configuration of all figures."""
    return next(iter(of_sweep(FIGURES.study((0.1,), 1), "traffic").values()))[0][1][0]


def model_figures(_):
    make = maker("opasim.model")
    config = router()
    found = config["network"]["router"]
    for what, (key, cycles) in TABLE_1.items():
        yield make("Table 1", what, "cycles", cycles, found[key], "exact")
    yield make("Table 1", "arbitration, both crossbars together", "cycles", 16,
               found["mport_arbitration_latency"] + found["central_arbitration_latency"], "exact")
    yield make("Table 1", "transmission", "cycles", 8, config["network"]["terminal_channel"]["latency"], "exact")
    for name, (key, value) in DEFAULTS.items():
        yield make("2.3", f"{name}, default", "", value, found[key], "exact")
    for name, (key, value) in IN_FLITS.items():
        yield make("2.3", f"{name}, default, read as flits", "flits", value, found[key] * found["flits_per_credit"], "exact")
    yield make("2.3", "BYTES_PER_FLIT, default", "", 8, config["network"]["flit_bytes"], "exact")
    yield make("2.3", "PACKET_SIZE, default", "flits", 16, config["workload"]["applications"][0]["size"]["flits"], "exact")
    yield make("2.3", "NUMBER_OF_PORTS, default", "ports", 48, config["network"]["topology"]["terminals"], "exact")
    yield make("2.1", "flits a cycle from an MPort to the central crossbar", "flits/cycle", 3, found["mport_speedup"], "exact")
    yield make("2.1", "flits a cycle from the central crossbar to an output", "flits/cycle", 4, found["central_speedup"], "exact")


def alone_figures(results):
    paper = Paper("opasim.alone")
    packet, = results[alone()]["log"]
    way = packet["head_arrived"] - packet["injected"] - 8  # without INJ, the channel
    yield paper.count("2.2", "head across MPorts, without contention: cycles", 160, way)
    yield paper.count("2.2", "the same: ns", 100, 0.625 * way)


def curve_figures(results):
    paper = Paper("opasim.figures_3_to_5")

    def carried(traffic, allocator, load):
        return fmean(results.column(runs()[traffic, allocator, load], "accepted_load"))

    def latency(load):
        return fmean(results.column(runs()["uniform", "simple", load], "network_latency/mean"))

    most = {allocator: max(carried("uniform", allocator, load) for load in LOADS) for allocator in ("simple", "iSLIP")}
    yield paper.number("3, Figure 3", "uniform, 48 terminals: maximum throughput, mean of 30 seeds", "flits/cycle/NIC", 0.72,
                       most["simple"])
    congested = next(load for load in LOADS if carried("uniform", "simple", load) < 0.97 * load)
    yield paper.number("3, Figure 4", "uniform: congestion begins at, of loads .1, .2, ...", "flits/cycle/NIC", 0.8, congested)
    times = [latency(load) for load in LOADS]
    yield paper.says("3, Figure 4", "latency rises up to 0.8", times[:8] == sorted(times[:8]),
                     ", ".join(f"{value:.0f}" for value in times[:8]) + " cycles")
    yield paper.says("3, Figure 4", "latency stabilises after 0.8 (0.8, 0.9, 1)", alike(times[7:]),
                     ", ".join(f"{value:.0f}" for value in times[7:]) + " cycles")
    worst = max(abs(carried("neighbour", "simple", load) / load - 1) for load in LOADS)
    yield paper.says("3, Figure 5", "each terminal to the next: all that is offered is carried", worst <= 0.005,
                     f"to {100 * worst:.2f} %")
    yield paper.says("3", "iSLIP (3 iterations) is expected to improve the maximum drastically", most["iSLIP"] > SLIGHTLY * most["simple"],
                     f"{most['simple']:.4f} to {most['iSLIP']:.4f}")


GROUPS = [
    Group("opasim.alone", "papers", "OPASim: a packet alone", "By kind.",
          "build/flitwarp trace examples/omnipath.json --packet 3", lambda: [alone()], alone_figures),
    Group("opasim.figures_3_to_5", "papers", "OPASim: Figures 3 to 5, 30 seeds", "By kind.",
          "./dev reproduce opasim figures_3_to_5", lambda: flat(runs()), curve_figures),
    Group("opasim.model", "inputs", "OPASim: the router's stages and defaults", "Exact.", "build/flitwarp explain omnipath",
          list, model_figures),
]

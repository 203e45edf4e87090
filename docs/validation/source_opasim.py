# SPDX-License-Identifier: Apache-2.0
"""OPASim (Cano and others, 2018): Table 1, the defaults of section 2.3, Figures 3 to 5."""
import functools
from statistics import fmean

from group import Group, maker, says
from work import flat, of_sweep, simulate, study, task

FIGURES = study("opasim", "figures_3_to_5")
LOADS = tuple(i / 10 for i in range(1, 11))


@functools.cache
def runs():
    return of_sweep(FIGURES.study(), "traffic", "allocator", "load")


def alone():
    """Each terminal to the one half a router away, and to its neighbour, one packet now and then."""
    base = {"simulator": {"tick": "625ps"},
            "network": {"topology": {"type": "single_router", "terminals": 48}, "routing": "minimal", "flit_bytes": 8,
                        "router": {"type": "omnipath"}, "terminal_channel": {"latency": 8}}}
    application = {"type": "blast", "load": 0.0002, "warmup": 0, "sample": 60000, "size": {"type": "fixed", "flits": 16},
                   "traffic": "neighbor"}
    return task(simulate, {**base, "workload": {"applications": [application]}}, log=True)


TABLE_1 = {"routing": ("routing_latency", 32), "storing in input buffer": ("input_latency", 50),
           "storing in output buffer": ("output_latency", 50),
           "crossbar MPort": ("mport_crossbar_latency", 2), "crossbar central": ("central_crossbar_latency", 2)}
DEFAULTS = {"NUMBER_OF_VC": ("num_vcs", 8), "FLITS_PER_CREDIT": ("flits_per_credit", 4),
            "EXCLUSIVE_VC_CREDITS": ("exclusive_credits", 16),
            "MAX_VC_CREDITS": ("max_credits", 48), "QUEUE_SIZE": ("queue_size", 256)}


def router():
    """A configuration that says nothing of the router's settings, with all of them."""
    return next(iter(of_sweep(FIGURES.study((0.1,), 1), "traffic").values()))[0][1][0]


def model_figures(results):
    make = maker("opasim.model")
    config = router()
    found = config["network"]["router"]
    for what, (key, cycles) in TABLE_1.items():
        yield make("Table 1", what, "cycles", cycles, found[key], "exact")
    yield make("Table 1", "arbitration, both crossbars together", "cycles", 16,
               found["mport_arbitration_latency"] + found["central_arbitration_latency"], "exact")
    yield make("Table 1", "transmission", "cycles", 8, config["network"]["terminal_channel"]["latency"], "exact")
    for name, (key, value) in DEFAULTS.items():
        yield make("2.3", f"{name}, default", "", value, found[key], "exact",
                   "in credits: in flits the lanes' own shares would not fit" if key == "queue_size" else "")
    yield make("2.3", "BYTES_PER_FLIT, default", "", 8, config["network"]["flit_bytes"], "exact")
    yield make("2.3", "PACKET_SIZE, default", "flits", 16, config["workload"]["applications"][0]["size"]["flits"], "exact")
    yield make("2.3", "NUMBER_OF_PORTS, default", "ports", 48, config["network"]["topology"]["terminals"], "exact")
    yield make("2.1", "flits a cycle from an MPort to the central crossbar", "flits/cycle", 3, found["mport_speedup"], "exact")
    yield make("2.1", "flits a cycle from the central crossbar to an output", "flits/cycle", 4, found["central_speedup"], "exact")
    yield make("2.1", "links of an MPort to the central crossbar: 75 GB/s of 12.5 GB/s and a speedup of 3", "links",
               75 / 12.5 / 3, 2, "exact")
    yield make("2.2", "clock: flits of 64 bits at 100 Gb/s", "GHz", 1.5625, 1 / 0.625, "5 %", "the report says 1.6")
    ways = sorted({packet["head_arrived"] - packet["injected"] for packet in results[alone()]["log"]})
    ways = [way - 8 for way in ways]  # without the channel to the router: INJ
    yield make("2.2", "head across MPorts, without contention", "cycles", 160, max(ways), "exact")
    yield make("2.2", "the same", "ns", 100, 0.625 * max(ways), "exact")
    yield make("2.2", "head within an MPort, by the same sum without the second arbitration and crossbar", "cycles", 150,
               min(ways), "exact")


def curve_figures(results):
    make = maker("opasim.figures_3_to_5")

    def carried(traffic, allocator, load):
        return fmean(results.column(runs()[traffic, allocator, load], "accepted_load"))

    def latency(load):
        return fmean(results.column(runs()["uniform", "simple", load], "network_latency/mean"))

    most = {allocator: max(carried("uniform", allocator, load) for load in LOADS) for allocator in FIGURES.ALLOCATORS}
    yield make("3, Figure 3", "uniform, 48 terminals: maximum throughput, mean of 30 seeds", "flits/cycle/NIC", 0.72,
               most["simple"], "+- 0.03")
    yield make("3, Figure 3", "uniform: throughput at an injection rate of 1", "flits/cycle/NIC", 0.72,
               carried("uniform", "simple", 1.0), "+- 0.03")
    congested = next(load for load in LOADS if carried("uniform", "simple", load) < 0.97 * load)
    yield make("3, Figure 4", "uniform: congestion begins at", "flits/cycle/NIC", 0.8, congested, "exact")
    below = [latency(load) for load in LOADS[:8]]
    yield says(make, "3, Figure 4", f"latency rises up to 0.8 ({', '.join(f'{value:.0f}' for value in below)} cycles)",
               below == sorted(below))
    steps = [latency(b) / latency(a) for a, b in zip(LOADS[6:], LOADS[7:])]
    yield says(make, "3, Figure 4",
               f"latency stabilises after that: 0.7 to 0.8 times {steps[0]:.1f}, then {steps[1]:.2f} and {steps[2]:.2f}",
               steps[0] > steps[1] > steps[2] and steps[2] < 1.1)
    for load in LOADS:
        yield make("3, Figure 5", f"each terminal to the next, {load:g} offered: throughput", "flits/cycle/NIC", load,
                   carried("neighbour", "simple", load), "+- 0.005")
    yield says(make, "3", f"iSLIP improves the maximum ({most['simple']:.4f} to {most['iSLIP']:.4f})",
               most["iSLIP"] > most["simple"])


GROUPS = [
    Group("opasim.model", "OPASim: the router's stages and defaults", "Exact.",
          "build/flitwarp explain omnipath; build/flitwarp trace examples/omnipath.json --packet 3",
          lambda: [alone()], model_figures),
    Group("opasim.figures_3_to_5", "OPASim: Figures 3 to 5, 30 seeds",
          "Maximum .72 +- .03, as was asked for beforehand; neighbour traffic without loss: 0.005, a packet at each end of the "
          "window.",
          "./dev reproduce opasim figures_3_to_5", lambda: flat(runs()), curve_figures),
]

# SPDX-License-Identifier: Apache-2.0
"""ROSS and CODES as they were measured on two cores (shared/reference/ross_codes.md): speed, memory, hops, and whether
optimistic runs give other results."""
import copy
import functools
import os
from pathlib import Path

from group import Group, maker
from work import ROOT, settings, simulate, task

DUMPI = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared")) / "traces" / "dumpi" / "amg_n27"
FITFLY = ROOT / "examples" / "papers" / "fitfly"
PHOLD = {"phold_1k": (1024, 1.86e6), "phold_16k": (16384, 0.47e6), "phold_1m": (1048576, 0.139e6)}
NETWORKS = {  # file whose channels and router are taken, topology or None for its own, routing or None
    "slim fly (150)": ("slim_fly", {"type": "slim_fly", "q": 5, "terminals": 3}, "minimal"),
    "slim fly (3042)": ("slim_fly", None, None),
    "fit fly 2 rails (3042)": ("fit_fly", None, None),
    "dragonfly-dally (72)": ("dragonfly", {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "dragonfly_minimal"),
    "dragonfly-dally (3078)": ("dragonfly", None, "dragonfly_minimal"),
    "megafly (80)": ("megafly", {"type": "megafly", "terminals": 4, "leaves": 4, "spines": 4, "global": 4, "groups": 5},
                     "dragonfly_minimal"),
    "megafly (8448)": ("megafly", {"type": "megafly", "terminals": 16, "leaves": 16, "spines": 16, "global": 16, "groups": 33},
                       "dragonfly_minimal"),
    "fat tree (128)": ("slim_fly", {"type": "folded_clos", "radix": 8}, {"type": "up_down", "selection": "adaptive"}),
}
MEASURED = {  # hops, latency mean / max us, events, CPU s, MB, optimistic on 2 ranks
    "slim fly (150)": (2.836, "0.156 / 0.871", 337338, 0.40, 253, "crashes"), "slim fly (3042)": (3.221, "1.705 / 3.783", 302027,
                                                                                                  3.6, 4970, "other results"),
    "fit fly 2 rails (3042)": (3.072, "1.253 / 3.264", 310453, 3.6, 5066, "crashes"), "dragonfly-dally (72)": (3.367,
                                                                                                               "13.197 / 18.520",
                                                                                                               303918, 0.30, 75,
                                                                                                               "identical"),
    "dragonfly-dally (3078)": (3.734, "3.242 / 5.008", 344766, 2.3, 2090, "identical"), "megafly (80)": (3.872, "11.244 / 219.3",
                                                                                                         627822, 0.66, 119,
                                                                                                         "crashes"),
    "megafly (8448)": (3.966, "0.854 / 1.250", 395310, 13.0, 9208, "identical"), "fat tree (128)": (4.696, "0.663 / 0.781",
                                                                                                    618172, 0.53, 106,
                                                                                                    "other results")}
AMG = {  # topology, routing; events, slowest rank's communication time ns, mean hops
    "torus 4x4x2": ({"type": "torus", "widths": [4, 4, 2]}, "dimension_order", 742642, 644047, 2.274),
    "slim fly 150": ({"type": "slim_fly", "q": 5, "terminals": 3}, "minimal", 897611, 370853, 2.159),
    "dragonfly 216": (None, None, 759419, 445641, 1.710),
    "fat tree 128": ({"type": "folded_clos", "radix": 8}, "up_down", 709973, 368198, 3.020),
    "dragonfly-dally 72": ({"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "dragonfly_minimal", 415598, 1794261,
                           2.943)}


def model(name):
    return task(simulate, settings(ROOT / "bench" / f"{name}.json"))


def torus(widths, sample, load=0.1):
    network = {"topology": {"type": "torus", "widths": widths}, "routing": "dimension_order", "flit_bytes": 32,
               "router": {"type": "packet", "num_vcs": 4, "buffer_depth": 64},
               "channel": {"latency": 10}}
    return task(simulate, {"network": network, "workload": {"applications": [
        {"type": "blast", "load": load, "size": {"type": "fixed", "flits": 16}, "warmup": 100, "sample": sample,
         "finish_limit": 1}]}})


def phold_tasks():
    return [*map(model, PHOLD), torus([8] * 4, 5000), torus([64] * 3, 300), torus([100] * 3, 50)]


def phold_figures(results):
    make = maker("codes.ross")
    for name, (processes, rate) in PHOLD.items():
        found = results[model(name)]["simulation"]
        yield make("PHOLD", f"{processes:,} processes: speed", "events/CPU s", rate, found["events"] / found["cpu_seconds"],
                   "at least")
    found = results[model("phold_1m")]["simulation"]
    yield make("PHOLD", "1,048,576 processes: memory", "bytes/process", 1183, found["peak_rss_bytes"] / 1048576, "at most")
    yield make("PHOLD", "1,048,576 processes: to start; ours the whole run", "us/process", 22,
               1e6 * found["cpu_seconds"] / 1048576, "at most")
    yield make("PHOLD", "1,024 processes: memory, 1.2 KB", "bytes/process", 1200, "", "not compared",
               "so few processes weigh less than the program itself, 6 MB; the row of a million tells")
    for widths, sample, rate, what in (([8] * 4, 5000, 0.33e6, "4,096"), ([64] * 3, 300, 0.124e6, "262,144")):
        found = results[torus(widths, sample)]["simulation"]
        yield make("Torus model", f"{what} nodes, packets of 512 bytes: speed; ours of the packet router", "events/CPU s", rate,
                   found["events"] / found["cpu_seconds"], "at least")
    yield make("Torus model", "262,144 nodes: memory", "bytes/node", 11e3,
               results[torus([64] * 3, 300)]["simulation"]["peak_rss_bytes"] / 262144, "at most")
    yield make("Torus model", "a million nodes: memory, 6 GB", "MB", 6000,
               results[torus([100] * 3, 50)]["simulation"]["peak_rss_bytes"] / 1e6, "at most")
    yield make("Torus model", "8 GiB are filled by 5,000 nodes as shipped; ours 4,096", "MB", 8590,
               results[torus([8] * 4, 5000)]["simulation"]["peak_rss_bytes"] / 1e6, "at most")


@functools.cache
def config_of(name):
    file, shape, routing = NETWORKS[name]
    config = copy.deepcopy(settings(FITFLY / f"{file}.json"))
    if shape:
        config["network"]["topology"] = shape
    if routing:
        config["network"]["routing"] = routing
    config["workload"]["applications"][0].update(load=0.1, warmup=20000, sample=100000 if "8448" not in name else 40000)
    return config


def run(name):
    return task(simulate, config_of(name), sync=[])


def hop_figures(results):
    make = maker("codes.hops")
    for name, (hops, latency, *_) in MEASURED.items():
        yield make("CODES, uniform", f"{name}: hops, counted in routers", "routers", hops,
                   results.application(run(name))["hops"]["mean"] + 1, "10 %")
        yield make("CODES, uniform", f"{name}: mean / longest latency", "us", latency, "", "not compared",
                   "bandwidths, delays and loads differ by configuration and are not recorded; the reference says that they "
                   "are no targets")


def network_figures(results):
    make = maker("codes.networks")
    for name, (_, _, events, seconds, memory, _) in MEASURED.items():
        found = results[run(name)]["simulation"]
        yield make("CODES, uniform", f"{name}: speed", "events/CPU s", events / seconds, found["events"] / found["cpu_seconds"],
                   "at least")
        yield make("CODES, uniform", f"{name}: memory", "MB", memory, found["peak_rss_bytes"] / 1e6, "at most")


def amg(name):
    shape, routing, *_ = AMG[name]
    config = {"simulator": {"tick": "1ns"},
              "network": {"flit_bytes": 64, "topology": shape, "routing": routing, "channel": {"latency": 20},
                          "router": {"type": "packet", "num_vcs": 3, "buffer_depth": 32768, "delay": 10}},
              "workload": {"check_interval": "20us", "applications": [{"type": "trace", "file": str(next(DUMPI.glob("*.meta"))),
                                                                       "compute_scale": 0, "max_packet": 64,
                                                                       "overhead": "100ns", "allocation": {"type": "linear",
                                                                                                           "count": 27}}]}}
    return task(simulate, config)


def amg_figures(results):
    make = maker("codes.amg")
    for name, (shape, _, events, time, hops) in AMG.items():
        if shape:
            yield make("CODES, AMG", f"{name}: bytes sent", "bytes", 13584368, results.application(amg(name))["bytes"], "exact")
            counted = 0 if name.startswith("torus") else 1  # its torus counts channels, the others routers
            yield make("CODES, AMG", f"{name}: mean hops", "", hops, results.application(amg(name))["hops"]["mean"] + counted,
                       "10 %",
                       "where CODES placed the ranks and how it cut messages is not recorded; ours: ranks in order, packets of "
                       "4 KiB")
        else:
            yield make("CODES, AMG", f"{name}: bytes, events, hops", "", f"13584368, {events}, {hops}", "", "not compared",
                       "the shape of a dragonfly of 216 terminals is not recorded")
        yield make("CODES, AMG", f"{name}: communication time of the slowest rank", "ns", time, "", "not compared",
                   "bandwidths and delays differ by configuration and are not recorded; the reference says that they are no "
                   "targets")


GROUPS = [
    Group("codes.hops", "peers", "CODES: ways through eight networks under uniform traffic", """
10 %: load and routing, which detours hang on, are not recorded (the reference: not targets to match digit by digit).
Dragonflies and the smallest Slim Fly go minimally here, as the hops of the largest ones there say that they did.""",
          "docs/validation/measure.py codes.hops", lambda: [run(name) for name in NETWORKS], hop_figures),
    Group("codes.amg", "peers", "CODES: AMG on 27 ranks", "Bytes exact; hops 10 %, as above.", "./dev reproduce amg",
          lambda: [amg(name) for name, row in AMG.items() if row[0]], amg_figures),
    Group("codes.ross", "speed", "ROSS: PHOLD and its torus model", "At least as fast, no more memory: one core.",
          "./dev bench phold_1k phold_16k phold_1m", phold_tasks, phold_figures),
    Group("codes.networks", "speed", "CODES: eight networks under uniform traffic", "Speed at least, memory at most as measured.",
          "docs/validation/measure.py codes.networks", lambda: [run(name) for name in NETWORKS], network_figures),
]

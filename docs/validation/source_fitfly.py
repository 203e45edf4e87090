# SPDX-License-Identifier: Apache-2.0
"""Fit Fly (McGlohon and others, 2019): Tables 2 to 4, Figures 3 to 10 and what the text says of them."""
import functools
import json
import math
import re
import sys
from statistics import fmean

from group import Group, maker, says
from work import ROOT, flat, of_sweep, settings, simulate, study, task, topology

sys.path.insert(0, str(ROOT / "examples" / "papers" / "fitfly" / "common"))
RAILS = study("fitfly", "figure_3_rails")
BESIDE = study("fitfly", "figures_4_to_9_interference")
SPEED = study("fitfly", "full_size_speed")
FOUR, TOP = BESIDE.FOUR, BESIDE.TOP
FOLDER = ROOT / "examples" / "papers" / "fitfly"


# ---- Tables 2 and 4 ----------------------------------------------------------------------------------------------

TABLE_2 = {  # row: Slim Fly, Fit Fly, Dragonfly, Megafly
    "router radix": (28, 28, 36, 36), "planes": (1, 2, 1, 1), "rails": (1, 2, 1, 1), "groups": (26, 52, 19, 10),
    "node count": (3042, 3042, 3078, 3240), "router count": (338, 676, 342, 360), "global connections": (4732, 9464, 3078, 3240),
    "nodes of a group and rail": (117, 117, 162, 324), "global connections of a group": (169, 169, 162, 324),
    "link bandwidth": (12.5, 12.5, 12.5, 12.5), "nodes of a router": (9, 9, 9, 18)}
TABLE_4 = {  # row: Slim Fly EDR, Fit Fly EDR, Fit Fly FDR, Dragonfly EDR, Megafly EDR
    "links": (6253, 12506, 12506, 7524, 8100), "routers": (338, 676, 676, 342, 360), "cost of a link": (134, 134, 86, 134, 134),
    "cost of a router": (25633, 25633, 19803, 25633, 25633), "cost of links": (837902, 1675804, 1075516, 1008216, 1085400),
    "cost of routers": (8663954, 17327908, 13868828, 8766486, 9277880), "total cost": (9501856, 19003712, 14462344, 9774702,
                                                                                       10313280)}
FILES = {"Slim Fly": "slim_fly", "Fit Fly": "fit_fly", "Fit Fly FDR": "fit_fly_fdr", "Dragonfly": "dragonfly",
         "Megafly": "megafly"}
MISPRINTS = {("cost of routers", "Fit Fly FDR"): 13386828, ("cost of routers", "Megafly"): 9227880}
REMARKS = {
    ("router radix", "Dragonfly"): "9 + 17 + 9 = 35 channels are used; 36 is the size of the switch",
    ("global connections", "Slim Fly"): "the paper's own 26 groups of 169 make 4,394; 4,732 is 338 x 14",
    ("global connections", "Fit Fly"): "the paper's own 52 groups of 169 make 8,788; 9,464 is 676 x 14"}


@functools.cache
def network(name):
    return settings(FOLDER / f"{FILES[name]}.json")


def surveyed(name):
    file = FOLDER / f"prices_{'fdr' if 'FDR' in name else 'edr'}.json"
    prices = json.loads(re.sub(r"//.*", "", file.read_text()))
    return task(topology, network(name), prices)


def table_2(results):
    make = maker("fitfly.tables")
    for i, name in enumerate(FOUR):
        found, config = results[surveyed(name)], network(name)["network"]
        planes = found.get("planes", 1)
        classes = found["links"]["by_class"]
        groups = TABLE_2["groups"][i]
        shape = config["topology"]
        counted = {"Slim Fly": 2 * shape.get("q", 0), "Fit Fly": 2 * shape.get("q", 0) * planes, "Dragonfly": shape.get("groups"),
                   "Megafly": shape.get("groups")}[name]
        if counted in (None, 0) or counted == "auto":
            counted = shape["routers"] * shape["global"] + 1
        cycle = config["terminal_channel"]["cycle"] * 0.3406e-9
        ours = {"router radix": found["radix"]["max"], "planes": planes, "rails": config.get("planes", {}).get("rails") or planes,
                "groups": counted, "node count": found["terminals"], "router count": found["routers"],
                "global connections": 2 * classes["global"], "nodes of a group and rail": classes["terminal"] / groups,
                "global connections of a group": 2 * classes["global"] / groups,
                "link bandwidth": 64 / cycle / 2 ** 30, "nodes of a router": shape["terminals"]}
        for row, printed in TABLE_2.items():
            unit = "GiB/s" if row == "link bandwidth" else ""
            yield make("Table 2", f"{name}: {row}", unit, printed[i], ours[row], "0.1 %" if unit else "exact",
                       REMARKS.get((row, name), ""))
        yield make("Table 2", f"{name}: routing", "", {"Slim Fly": "ugal", "Fit Fly": "ugal"}.get(name, "par"),
                   config["routing"]["type"], "same")
    yield make("Table 2", "Fit Fly: planar selection", "", "congestion",
               network("Fit Fly")["network"]["planes"]["selection"]["type"], "same")
    for i, name in enumerate(FILES):
        found = results[surveyed(name)]
        cost = found["cost"]
        ours = {"links": found["links"]["total"], "routers": found["routers"],
                "cost of a link": cost["links"] / found["links"]["total"],
                "cost of a router": cost["routers"] / found["routers"], "cost of links": cost["links"],
                "cost of routers": cost["routers"],
                "total cost": cost["total"]}
        for row, printed in TABLE_4.items():
            meant = MISPRINTS.get((row, name))
            yield make("Table 4", f"{name}: {row}", "$" if "cost" in row else "", printed[i], ours[row], "exact",
                       f"a misprint: the paper's own total and unit price give {meant:,}" if meant else "")
    costs = {name: results[surveyed(name)]["cost"]["total"] for name in FILES if name != "Fit Fly FDR"}
    yield make("7.3", "order of costs", "", "Slim Fly < Dragonfly < Megafly < Fit Fly", " < ".join(sorted(costs, key=costs.get)),
               "same")
    mine = results[surveyed("Slim Fly")]
    yield make("4.1", "Slim Fly: diameter", "hops", 2, mine["diameter"], "exact")
    yield make("4.2.1", "Slim Fly: routers of a plane, 2 q^2, q = 13", "routers", 2 * 13 ** 2, mine["routers"], "exact")
    yield make("Table 1", "Slim Fly: radix k = k' + h = 19 + 9", "ports", 19 + 9, mine["radix"]["max"], "exact")
    yield make("6.4", "12.5 GiB/s above the 12.5 GB/s of EDR by about 7 %", "%", 7, 100 * (64 / (14 * 0.3406e-9) / 12.5e9 - 1),
               "+- 0.5")


# ---- Figure 3 ----------------------------------------------------------------------------------------------------


@functools.cache
def rails():
    return of_sweep(RAILS.study((0.3, 0.6, 0.9, 1.0), 20 * RAILS.MICROSECOND), "rails", "share")


def rails_figures(results):
    make = maker("fitfly.figure_3")
    for (count, share), tasks in rails().items():
        ours = fmean(results.column(tasks, "accepted_load"))
        one = fmean(results.column(rails()[1, share], "accepted_load"))
        if count > 1:
            yield make("5, Figure 3", f"{count} rails, {100 * share:g} % offered a rail: accepted over that of one rail", "times",
                       count, ours / one, "5 %")
    yield says(make, "5, Figure 3", "below saturation all that is offered is accepted, 1 rail at 30 and 60 %",
               all(abs(fmean(results.column(rails()[1, share], "accepted_load")) / share - 1) < 0.02 for share in (0.3, 0.6)))


# ---- Figures 4 to 9, Table 3 -------------------------------------------------------------------------------------

SHARES = (0, 0.15, 0.4, TOP)
TABLE_3 = {"AMG": (28.4, 1.4, ">1000", ">1000"), "MultiGrid": (20.3, 5.4, ">1000", ">1000")}


@functools.cache
def beside():
    return of_sweep(BESIDE.study(shares=SHARES), "job", "network", "background")


class Read:
    """Results as the study's functions of them want them."""

    def __init__(self, found):
        self.found = found

    def __getitem__(self, key):
        return self.found[key]

    def value(self, path, application=0):
        value = self.found["applications"][application]
        for name in path.split("."):
            value = value[name]
        return value


def beside_figures(results):
    make = maker("fitfly.interference")

    def get(job, network, share, measure="communication time"):
        return BESIDE.MEASURES[measure][1](Read(results[beside()[job, network, share][0]]))

    def time(*key):
        value = get(*key) / 1000
        return f">{3:g} ms" if math.isinf(value) else f"{value:.3f} ms"

    for job, printed in TABLE_3.items():
        for name, theirs in zip(FOUR, printed):
            yield make("Table 3", f"{job}, {name}, 72.5 %: communication time; ours of a motif, {time(job, name, TOP)}", "ms",
                       str(theirs), "", "not compared",
                       "the traces of 1,728 and 1,000 ranks are not at hand: motifs stand for them, whose times are shorter; "
                       "orders are compared below")
        for measure in BESIDE.MEASURES:
            at = {name: get(job, name, TOP, measure) for name in FOUR}
            for other in ("Dragonfly", "Megafly"):
                yield says(make, "Table 3, Figures 4 and 5", f"{job}, 72.5 %, {measure}: Fit Fly < Slim Fly < {other} "
                           f"({', '.join(f'{at[n]:.4g}' for n in ('Fit Fly', 'Slim Fly', other))})",
                           at["Fit Fly"] < at["Slim Fly"] < at[other])
        low = [get(job, name, 0) for name in FOUR]
        yield says(make, "6.4, Figures 4a and 5a",
                   f"{job}: without background the networks are close ({', '.join(f'{t:.1f}' for t in low)} us)",
                   max(low) < 1.3 * min(low))
        yield says(make, "6.4, Figures 4c and 5c",
                   f"{job}, 40 %: fewer hops on Slim Fly and Fit Fly than on Dragonfly and Megafly",
                   max(get(job, n, 0.4, "hops") for n in ("Slim Fly", "Fit Fly")) < min(get(job, n, 0.4, "hops")
                                                                                        for n in ("Dragonfly", "Megafly")))
        yield says(make, "7.1",
                   f"{job}, 40 %: Slim Fly's time at most half of Dragonfly's and Megafly's ({time(job, 'Slim Fly', 0.4)}, "
                   f"{time(job, 'Dragonfly', 0.4)}, "
                   f"{time(job, 'Megafly', 0.4)})", 2 * get(job, "Slim Fly", 0.4) <= min(get(job, n, 0.4)
                                                                                         for n in ("Dragonfly", "Megafly")))
    for name in FOUR:
        rise = get("MultiGrid", name, 0.15) / get("MultiGrid", name, 0)
        yield make("6.4, Figure 5a", f"MultiGrid, {name}: background of 15 % does not disturb, time over that without", "times",
                   1, rise, "10 %",
                   "our motif lasts 50 us, less than the 100 us between two messages of the background of 197 KiB, each of "
                   "which holds a link for 15 us: one that is met is seen")
    best = {share: min(FOUR, key=lambda name, share=share: get("MultiGrid", name, share)) for share in SHARES}
    yield says(make, "6.4, Figure 5a", "MultiGrid: Fit Fly ahead of all others at 0, 15, 40 and 72.5 %",
               set(best.values()) == {"Fit Fly"})
    for job, figure, first, second in (("AMG", "6", "Fit Fly, 7 GiB/s", "Slim Fly"),
                                       ("MultiGrid", "7", "Fit Fly, 7 GiB/s", "Slim Fly"),
                                       ("AMG", "8", "Fit Fly", "Slim Fly, 25 GiB/s"), ("MultiGrid", "9", "Fit Fly",
                                                                                       "Slim Fly, 25 GiB/s")):
        for part, measure in zip("abc", BESIDE.MEASURES):
            yield says(make, f"6.5, Figure {figure}{part}", f"{job}, 72.5 %, {measure}: {first} < {second}",
                       get(job, first, TOP, measure) < get(job, second, TOP, measure))
    for job, figure in (("AMG", "6"), ("MultiGrid", "7")):
        single, double = (get(job, name, 0) for name in ("Slim Fly", "Fit Fly, 7 GiB/s"))
        yield says(make, f"7.2, Figure {figure}a",
                   f"{job}, no background: Slim Fly slightly ahead of Fit Fly of 7 GiB/s ({single:.1f}, {double:.1f} us)",
                   single < double < 1.5 * single,
                   "Slim Fly is ahead, by more than slightly: our motif sends large messages one at a time, which take as long as "
                   "a link of 7 GiB/s makes them")
    falls = [name for name in ("Slim Fly", "Dragonfly", "Megafly")
             if get("AMG", name, TOP, "hops") < get("AMG", name, 0.4, "hops")]
    yield says(make, "7.2", f"at the heaviest background mean hops sometimes fall (AMG: {', '.join(falls) or 'nowhere'})",
               bool(falls))
    yield says(make, "7.1", "Fit Fly's hops are sometimes higher without background than with a little (0 and 15 %)",
               any(get(job, "Fit Fly", 0, "hops") > get(job, "Fit Fly", 0.15, "hops") for job in TABLE_3),
               "here they rise with the background; the paper suspects its planar selection")
    longest = max(results[tasks[0]]["simulation"]["cpu_seconds"] for (_, name, share), tasks in beside().items() if share == TOP)
    yield make("7.4", "longest run, 72.5 %, of 24 cores: 99,478 s; ours on one core, a shorter job", "s", 99478, longest,
               "at most")


# ---- speed -------------------------------------------------------------------------------------------------------


@functools.cache
def timed():
    """A millisecond of uniform traffic on each network: one thread, and sixteen."""
    found = {}
    for name in FOUR:
        config = network(name)
        config["workload"]["applications"][0].update(warmup=100 * SPEED.MICROSECOND, sample=900 * SPEED.MICROSECOND)
        found[name] = [task(simulate, config, sync=["--sync", sync, "--threads", str(threads)])
                       for sync, threads in (("sequential", 1), ("optimistic", 16), ("conservative", 16))]
    return found


def speed_figures(results):
    make = maker("fitfly.speed")
    for name, tasks in timed().items():
        one, optimistic, conservative = (results[each]["simulation"]["wall_seconds"] for each in tasks)
        digests = {results[each]["simulation"]["digest"] for each in tasks}
        yield make("7.4, Figure 10",
                   f"{name}: {one:.1f} s on one core, {optimistic:.1f} s optimistic and {conservative:.1f} s conservative on 16; "
                   "optimistic speedup, 24 cores there", "times", 7, one / optimistic, "at least",
                   "16 cores against 24; 340 routers are few for 16 threads, and terminals with short channels to both planes make "
                   "windows so short that Fit Fly is slower on 16 threads than on one")
        yield make("3", f"{name}: different results of sequential, optimistic and conservative", "digests", 1, len(digests),
                   "exact")


GROUPS = [
    Group("fitfly.tables", "Fit Fly: networks (Table 2) and costs (Table 4)",
          "Exact, as was asked for beforehand; bandwidth to the tick that it is made of.",
          "./dev reproduce fitfly tables_2_and_4", lambda: [surveyed(name) for name in FILES], table_2),
    Group("fitfly.figure_3", "Fit Fly: rails (Figure 3)",
          "Accepted load proportional to rails within 5 % (asked for beforehand).",
          "./dev reproduce fitfly figure_3_rails --full", lambda: flat(rails()), rails_figures),
    Group("fitfly.interference", "Fit Fly: a job beside background traffic (Figures 4 to 9, Table 3)", """
Orders, as was asked for beforehand: the paper's traces are not at hand. "Close" is 30 %, "does not disturb" 10 %.""",
          "./dev reproduce fitfly figures_4_to_9; python3 docs/validation/measure.py fitfly.interference",
          lambda: flat(beside()), beside_figures),
    Group("fitfly.speed", "Fit Fly: parallel execution", "At least as many times as fast; the same digest.",
          "./dev reproduce fitfly full_size_speed --full", lambda: flat(timed()), speed_figures),
]

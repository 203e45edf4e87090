# SPDX-License-Identifier: Apache-2.0
"""SimuRed: what its paper says, and every row that was measured with the original program (shared/reference/simured)."""
import collections
import csv
import functools
import math
import os
from pathlib import Path
from statistics import fmean

from group import SLIGHTLY, Group, Paper, alike, maker
import drawn
from simured import FLITS, NETWORKS, ROUTINGS, TICKS, network_of, original_of
from work import ROOT, flat, of_sweep, replay, simulate, simured_heads, simured_point, simured_speed, study, task

REFERENCE = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared")) / "reference" / "simured"
CYCLE = 32  # ticks: more than there are routers in a row
SEEDS = range(1, 5)
NAMES = {"mesh8x8": "mesh", "hcube64": "hypercube", "dor_mesh": "deterministic", "duato_mesh": "adaptive"}


def table(name):
    with open(REFERENCE / name) as file:
        return list(csv.DictReader(file))


# ---- a lone packet -----------------------------------------------------------------------------------------------


def mesh(router, injection=1, ejection=1):
    return {"network": {"topology": {"type": "mesh", "widths": [8, 8]}, "routing": "dimension_order",
                        "router": {"type": "simured", "cycle": CYCLE, **router}, "channel": {"cycle": CYCLE},
                        "interface": {"injection_channels": injection, "ejection_channels": ejection}},
            "workload": {"applications": [{"type": "trace", "file": "$trace", "format": "simured"}]}}


def lone(row):
    delays = {key: int(row[key]) for key in ("buffer_delay", "crossbar_delay", "switching_delay", "channel_delay")}
    router = {"num_vcs": int(row["vcs"]), "buffer_depth": int(row["buffer_length"]),
              "buffer_forwarding": row["forwarding"] == "1", **delays}
    return task(replay, mesh(router), [f"0 0 {int(row['dist_x']) + 8 * int(row['dist_y'])} {row['packet_flits']}"])


def latencies(log):
    """Of head and packet as SimuRed counts them, and the cycle of the last arrival, each in cycles."""
    times = [[packet[key] // CYCLE for key in ("injected", "head_arrived", "tail_arrived")] for packet in log]
    return (fmean(head - begin - 1 for begin, head, _ in times), fmean(tail - begin - 1 for begin, _, tail in times),
            max(tail for _, _, tail in times) - min(begin for begin, _, _ in times) - 1)


def zero_load_figures(results):
    make = maker("simured.zero_load")
    for number, row in enumerate(table("zero_load.csv"), 1):
        head, packet, _ = latencies(results[lone(row)]["log"])
        delays = " ".join(row[key] for key in ("buffer_delay", "crossbar_delay", "switching_delay", "channel_delay"))
        what = (f"delays {delays}, buffer {row['buffer_length']}, forwarding {row['forwarding']}, {row['vcs']} VC, "
                f"{row['packet_flits']} flits, {row['dist_x']}+{row['dist_y']} hops")
        yield make(f"zero_load.csv, row {number}", f"{what}: head", "cycles", float(row["head_latency"]), head, "exact")
        yield make(f"zero_load.csv, row {number}", f"{what}: packet", "cycles", float(row["packet_latency"]), packet, "exact")


# ---- two packets -------------------------------------------------------------------------------------------------

PAIRS = {  # what: router, injection and ejection channels, packets, (cycles, mean latency, mean head latency)
    "one packet": ({"num_vcs": 1}, 1, 1, ["0 0 3 8"], (18, 18, 11)),
    "two, 1 injection channel, 1 VC": ({"num_vcs": 1}, 1, 1, ["0 0 3 8"] * 2, (27, 18.5, 11.5)),
    "two, 2 injection and ejection channels, 1 VC": ({"num_vcs": 1}, 2, 2, ["0 0 3 8"] * 2, (27, 22.5, 15.5)),
    "two, 2 channels, 2 VCs that share the link": ({"num_vcs": 2}, 2, 2, ["0 0 3 8"] * 2, (25, 23.5, 12.5)),
    "two, 2 channels, 2 VCs with a link each": ({"num_vcs": 2, "physical_channels": True}, 2, 2, ["0 0 3 8"] * 2, (18, 18, None)),
    "2 to 3 and 4 to 3, 1 ejection channel": ({"num_vcs": 1}, 1, 1, ["0 2 3 8", "0 4 3 8"], (20, 16, None)),
    "2 to 3 and 4 to 3, 2 ejection channels": ({"num_vcs": 1}, 1, 2, ["0 2 3 8", "0 4 3 8"], (12, 12, None)),
}


def pair(what):
    router, injection, ejection, lines, _ = PAIRS[what]
    return task(replay, mesh({"buffer_depth": 2, **router}, injection, ejection), lines)


def chain():
    """A packet that waits for another at the same node: 0 to 3, then 3 to 0."""
    return task(replay, {"network": original_of(NETWORKS["mesh8x8"]), "workload": {"applications": [
        {"type": "trace", "file": "$trace", "format": "simured"}]}}, ["0 0 3 8 p1", "p1 3 0 8 p2"])


def pair_figures(results):
    make = maker("simured.two_packets")
    for what, (_, _, _, _, (cycles, packet, head)) in PAIRS.items():
        found = latencies(results[pair(what)]["log"])
        for name, theirs, ours in (("cycles", cycles, found[2]), ("mean latency", packet, found[1]),
                                   ("mean head latency", head, found[0])):
            if theirs is not None:
                yield make("zero_load.md", f"{what}: {name}", "cycles", theirs, ours, "exact")


# ---- section 6 ---------------------------------------------------------------------------------------------------


def point(row):
    return row["network"], row["routing"], int(row["injection"]), float(row["offered"])


def is_steady(row):
    return float(row["accepted"]) >= 0.97 * float(row["offered"])


@functools.cache
def carried():
    """What the original accepted past saturation, mean of its seeds."""
    found = collections.defaultdict(list)
    for row in table("section6.csv"):
        found[point(row)].append(float(row["accepted"]))
    return {key: fmean(values) for key, values in found.items()}


def loaded(network, routing, channels, load, packets=20000):
    """Past saturation: terminals that make more than is carried, for as long as 20,000 packets took to arrive in the original."""
    base = network_of(NETWORKS[network], ROUTINGS[routing], vcs=2, injection=channels, ejection=4)
    cycles = int(packets * FLITS / 64 / carried()[network, routing, channels, load])
    application = {"type": "blast", "size": {"type": "fixed", "flits": FLITS}, "load": load, "warmup": 1000 * TICKS,
                   "sample": cycles * TICKS, "finish_limit": 1}
    return [task(simulate, {"simulator": {"seed": seed}, "network": base, "workload": {"applications": [application]}})
            for seed in SEEDS[:2]]


def steady(key):
    return [task(simured_point, *key, seed) for seed in SEEDS]


def section6_tasks():
    for row in table("section6.csv"):
        yield from steady(point(row)) if is_steady(row) else loaded(*point(row))


def section6_figures(results):
    make = maker("simured.section6")
    for row in table("section6.csv"):
        key = point(row)
        place = f"{NAMES[key[0]]}, {NAMES[key[1]]}, {key[2]} channels, {key[3]:g}, seed {row['seed']}"
        if is_steady(row):
            found = [results[one] for one in steady(key)]
            packet, head = float(row["mean_packet_latency"]), float(row["mean_head_latency"])
            yield make(place, "packet latency", "cycles", packet, fmean(one["packet"] for one in found),
                       "5 %")
            yield make(place, "head latency", "cycles", head, fmean(one["head"] for one in found),
                       f"+- {0.05 * packet:.3g}")
            yield make(place, "hops", "hops", float(row["mean_hops"]), fmean(one["hops"] for one in found), "1.5 %")
        else:
            tasks, accepted = loaded(*key), float(row["accepted"])
            yield make(place, "accepted load", "flits/cycle", accepted, fmean(results.column(tasks, "accepted_load")),
                       "5 %")
            yield make(place, "hops", "hops", float(row["mean_hops"]), fmean(results.column(tasks, "hops/mean")), "5 %")


# ---- the curves of Figures 5 and 7 to 9 as they are drawn -----------------------------------------------------------

STUDIES = study("simured", "figures_7_to_9_as_drawn"), study("simured", "figure_5_virtual_channels")
DRAWN = {"mesh8x8": ((1, 2, 4, 8), (0.1, 0.2, 0.3, 0.4, 0.45, 0.5)), "hcube64": ((4, 8, 16), (0.4, 0.8, 1.0, 1.4))}
DRAWN_SEEDS = 2
CURVES = {**{("7", "deterministic", channels): curve for channels, curve in drawn.FIGURE_7.items()}, ("8", "adaptive", 1): drawn.FIGURE_8}
# The original program with these settings, run again: 2,000 packets for Figure 5 without any to warm up, 20,000 after 2,000 for the others.
ORIGINAL_5 = {1: ("53.8", "0.442"), 2: ("33.0", "0.559"), 4: ("13.8", "0.737"), 8: ("11.2", "0.822"), 16: ("11.1", "0.837")}
ORIGINAL_MARKS = {  # {(figure, channels): latency at the load that arrives}; with 8 injection channels it needs 8 to eject
    ("7", 1): ("49.3 at 0.099", "50.5 at 0.190", "53.2 at 0.295", "58.6 at 0.397", "63.3 at 0.448", "68.0 at 0.470"),
    ("7", 2): ("49.5 at 0.100", "51.5 at 0.197", "55.1 at 0.297", "64.6 at 0.398", "77.0 at 0.448", "88.4 at 0.478"),
    ("7", 4): ("49.7 at 0.100", "51.5 at 0.196", "56.4 at 0.299", "69.6 at 0.400", "85.4 at 0.449", "120.7 at 0.483"),
    ("7", 8): ("49.6 at 0.099", "51.6 at 0.194", "56.0 at 0.296", "70.4 at 0.396", "97.5 at 0.449", "161.0 at 0.488"),
    ("8", 1): ("49.4 at 0.113", "50.3 at 0.189", "52.3 at 0.294", "58.0 at 0.398", "65.3 at 0.449", "69.9 at 0.460"),
}


@functools.cache
def as_drawn():
    """{(network, routing, channels, load): tasks} of what the paper says of its figures."""
    return {(network, routing, *key): tasks for network, (channels, loads) in DRAWN.items() for routing in ("deterministic", "adaptive")
            for key, tasks in of_sweep(STUDIES[0].study(routing, channels, loads, network=network).add_seeds(DRAWN_SEEDS), "channels",
                                       "load").items()}


@functools.cache
def marks():
    """{(figure, routing, channels, delivery rate): tasks} of all marks that were read."""
    found = {}
    for (figure, routing, channels), curve in CURVES.items():
        loads = [load for load, _ in curve]
        runs = of_sweep(STUDIES[0].study(routing, (channels,), loads).add_seeds(DRAWN_SEEDS), "load")
        found.update({(figure, routing, channels, load): runs[load,] for load in loads})
    return found


@functools.cache
def heads():
    """{(virtual channels, load): tasks} of Figure 5, from its fourth load on."""
    runs = of_sweep(STUDIES[1].study(loads=drawn.FIGURE_5_LOADS[3:]).add_seeds(DRAWN_SEEDS), "vcs", "load")
    return {key: [task(simured_heads, config) for _, (config,), _ in tasks] for key, tasks in runs.items()}


def drawn_tasks():
    return flat(marks()) + flat(heads())


def latency_of(results, tasks):
    """As SimuRed counts it, mean of the seeds."""
    return fmean(results.column(tasks, "network_latency/mean")) - 1


def marks_of(results, wanted):
    """Of Figure 7 or 8."""
    make = maker("simured.marks")
    for (figure, routing, channels), curve in CURVES.items():
        for (load, theirs), original in zip(curve, ORIGINAL_MARKS[figure, channels]) if figure == wanted else ():
            yield make(f"6.1, Figure {figure}", f"mesh, {routing}, {channels} channel{'s' * (channels > 1)}: latency at {load}", "cycles",
                       theirs, latency_of(results, marks()[figure, routing, channels, load]), "10 %", f"original: {original}")


def marks_of_5(results):
    make = maker("simured.marks")
    for vcs, (head, most) in drawn.FIGURE_5.items():
        runs = {load: tasks for (count, load), tasks in heads().items() if count == vcs}
        what = f"mesh 4x4, {vcs} VC{'s' * (vcs > 1)}"
        yield make("Figure 5", f"{what}: head latency at 0.367", "cycles", head, fmean(results[one]["head"] for one in runs[min(runs)]), "10 %",
                   f"original: {ORIGINAL_5[vcs][0]}")
        yield make("Figure 5", f"{what}: highest productivity", "flits/cycle", most,
                   max(fmean(results[one]["accepted"] for one in tasks) for tasks in runs.values()), "10 %",
                   f"original: {ORIGINAL_5[vcs][1]}")


def mark_figures(results):
    return [*marks_of_5(results), *marks_of(results, "7"), *marks_of(results, "8")]


def curve(paper, where, what, found, why=""):
    """A row for a drawing: it comes out where all its marks do."""
    found = list(found)
    off = [f"{one.what}: {one.theirs} {one.unit} drawn, {one.ours}; {one.remark}" for one in found if not one.inside]
    return paper.says(where, f"{what}: all {len(found)} marks that were read, within 10 %", not off,
                      f"{len(found) - len(off)} of {len(found)}", reason="; ".join(off) + why)


def section6_paper(results):
    paper = Paper("simured.paper")
    latency = {key: latency_of(results, tasks) for key, tasks in as_drawn().items()}
    accepted = {key: fmean(results.column(tasks, "accepted_load")) for key, tasks in as_drawn().items()}
    mesh, cube, dor, duato = "mesh8x8", "hcube64", "deterministic", "adaptive"

    def shown(values, places=3):
        return ", ".join(f"{value:.{places}f}" for value in values)

    def at(network, routing, load, *channels):
        return [latency[network, routing, count, load] for count in channels]

    def most(network, routing, load, *channels):
        """Carried past saturation."""
        return [accepted[network, routing, count, load] for count in channels]

    yield curve(paper, "Figure 5", "mesh 4x4, 1 to 16 VCs", marks_of_5(results))
    yield curve(paper, "6.1, Figure 7", "mesh, deterministic: latency", marks_of(results, "7"),
                ". These are past the knee, where more was offered than arrives, and how much is not printed: ours and the original were "
                "offered what arrives")
    yield curve(paper, "6.1, Figure 8", "mesh, adaptive, 1 channel: latency", marks_of(results, "8"))
    times = at(mesh, dor, 0.45, 1, 2, 4, 8)
    yield paper.says("6.1, Figure 7", "mesh, deterministic: latency rises with injection channels 1, 2, 4, 8 (at 0.45)",
                     times == sorted(times), f"{shown(times, 1)} cycles")
    tops = most(mesh, dor, 0.5, 1, 2, 4, 8)
    yield paper.says("6.1, Figure 7", "mesh, deterministic: the most that is carried stays nearly constant", alike(tops),
                     shown(tops))
    yield paper.number("6.1, Figures 7 to 9", "mesh: load at the knee of the curves", "flits/cycle", 0.48, tops[0], "curve",
                       original="0.487 with LONBUFFER 1 and PHYSICAL true, which give the curves; .31 to .32 with LONBUFFER 2 and "
                       "VCs that share channels")
    pairs = {load: at(mesh, duato, load, 1, 4) for load in (0.1, 0.2)}
    yield paper.says("6.1, Figure 8", "mesh, adaptive: latency changes little with injection channels (1 and 4 at 0.1 and 0.2)",
                     all(alike(pair) for pair in pairs.values()), "; ".join(shown(pair, 1) for pair in pairs.values()))
    tops = most(mesh, duato, 0.5, 1, 2, 4, 8)
    yield paper.says("6.1, Figure 8", "mesh, adaptive: maximum rate falls with injection channels (at 0.5)",
                     tops == sorted(tops, reverse=True), shown(tops))
    (one,), (other,) = at(mesh, duato, 0.5, 4), at(mesh, dor, 0.5, 4)
    yield paper.says("6.1", "mesh, saturated: adaptive latency rises more than deterministic (4 channels at 0.5)", one > other,
                     f"{one:.0f} and {other:.0f} cycles")
    pairs = [at(mesh, duato, load, 1) + at(mesh, dor, load, 1) for load in (0.1, 0.2, 0.3, 0.4)]
    yield paper.says("6.1, Figure 9", "mesh, 1 channel: adaptive and deterministic latency almost the same (at 0.1 to 0.4)",
                     all(map(alike, pairs)), "; ".join(shown(pair, 1) for pair in pairs))
    (one,), (other,) = at(mesh, dor, 0.4, 4), at(mesh, duato, 0.4, 4)
    yield paper.says("6.1, Figure 9", "mesh, 4 channels at 0.4: deterministic latency above adaptive", one > other,
                     f"{one:.1f} and {other:.1f} cycles")
    (one,), (other,) = most(mesh, duato, 0.5, 4), most(mesh, dor, 0.5, 4)
    yield paper.says("6.1, Figure 9", "mesh, 4 channels: adaptive routing carries less at most than deterministic", one < other,
                     f"{one:.3f} and {other:.3f}")
    groups = [at(cube, duato, load, 4, 8, 16) for load in (0.4, 0.8, 1.0)]
    yield paper.says("6.2, Figure 10", "hypercube, adaptive: latency changes little with 4, 8, 16 channels (at 0.4, 0.8, 1.0)",
                     all(map(alike, groups)), "; ".join(shown(group, 1) for group in groups))
    tops = most(cube, duato, 1.4, 4, 8, 16)
    yield paper.says("6.2, Figure 10", "hypercube, adaptive: very many channels over-saturate, the maximum falls (at 1.4)",
                     tops[-1] < tops[0], shown(tops))
    times = at(cube, dor, 1.0, 4, 8, 16)
    yield paper.says("6.2, Figure 10", "hypercube, deterministic: latency rises with channels 4, 8, 16 (at 1.0)",
                     times == sorted(times), f"{shown(times, 1)} cycles")
    tops = most(cube, dor, 1.4, 4, 8, 16)
    yield paper.says("6.2, Figure 10", "hypercube, deterministic: the maximum rises a little with channels",
                     tops[0] < tops[-1] <= SLIGHTLY * tops[0], shown(tops))
    better = [at(cube, duato, load, c) < at(cube, dor, load, c) for load in (0.4, 0.8, 1.0) for c in (4, 8, 16)]
    yield paper.says("6.2, Figure 10", "hypercube: adaptive latency below deterministic in all cases (9 of them)", all(better),
                     f"{sum(better)} of 9")
    (one,), (other,) = most(cube, duato, 1.4, 4), most(cube, dor, 1.4, 4)
    yield paper.says("6.2, Figure 10", "hypercube, 4 channels: adaptive routing carries more at most than deterministic",
                     one > other, f"{one:.3f} and {other:.3f}")
    gains = [at(n, dor, load, c)[0] / at(n, duato, load, c)[0] for n, c, load in ((mesh, 1, 0.4), (cube, 4, 0.8))]
    yield paper.says("6.2, 7", "the hypercube gains more from adaptivity than the mesh", gains[1] > gains[0],
                     f"latency {gains[1]:.2f} and {gains[0]:.2f} times")


def figure_6(results):
    """The time of a run."""
    two, three = (results[task(simured_speed, widths, 200000)]["simulation"]["cpu_seconds"] for widths in ([64, 64], [16] * 3))
    yield Paper("simured.figure_6").says("5, Figure 6", "4,096 nodes in 3 dimensions take less time than in 2", three < two,
                                         f"{three:.0f} and {two:.0f} s")


# ---- deadlock ----------------------------------------------------------------------------------------------------

CASES = {  # reference/simured/README.md: topology, routing, load, within how many cycles the original deadlocked
    "torus 8x8, dimension order, 1 VC, offered 0.3": ("torus", {"type": "dimension_order", "dateline": "none"}, 0.3, 10000),
    "torus 8x8, dimension order, 1 VC, offered 1.0": ("torus", {"type": "dimension_order", "dateline": "none"}, 1.0, 750),
    "mesh 8x8, fully adaptive, 1 VC, offered 0.5": ("mesh", "fully_adaptive", 0.5, 350),
}
DEADLOCK_SEEDS = range(1, 21)


def stuck(case):
    """Looked at every ten cycles: are there packets that can never move again?"""
    topology, routing, load, _ = CASES[case]
    network = {**network_of({"type": topology, "widths": [8, 8]}, routing, ticks=1), "deadlock_interval": 10}
    application = {"type": "blast", "size": {"type": "fixed", "flits": FLITS}, "load": load, "warmup": 0, "sample": 200000}
    return [task(simulate, {"simulator": {"seed": seed}, "network": network,
                            "workload": {"applications": [application], "check_interval": 10}}) for seed in DEADLOCK_SEEDS]


def deadlock_figures(results):
    make = maker("simured.deadlock")
    for case, (_, _, _, cycles) in CASES.items():
        found = [results[one] for one in stuck(case)]
        yield make("README", f"{case}: runs of 20 that deadlock", "runs", 20,
                   sum(one["outcome"] == "deadlock" for one in found), "exact")
        times = [one["simulation"]["end_tick"] for one in found]
        yield make("README", f"{case}: deadlocks within, mean of 20 seeds ({min(times)} to {max(times)})", "cycles", cycles,
                   fmean(times), "5 %", "of how many runs the original's number was taken, and whether it is when the last packet "
                   "stood still or when that was noticed, is not recorded")


# ---- speed -------------------------------------------------------------------------------------------------------

README_SECONDS = {(8, 8): 15, (16, 16): 53, (32, 32): 196, (64, 64): 484}
CUBES = [[4] * 3, [8] * 3, [16] * 3]


def speed_tasks():
    yield task(simured_speed, [256, 256], 200000)
    yield task(simured_speed, [63, 63], 60000)
    yield task(simured_speed, [256, 256], 20000)
    for widths in [*map(list, README_SECONDS), *CUBES]:
        yield task(simured_speed, widths, 200000)


def exponent(points):
    logs = [(math.log(nodes), math.log(seconds)) for nodes, seconds in points]
    x, y = (fmean(values) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def speed_figures(results):
    make = maker("simured.speed")

    def run(widths, packets=200000):
        return results[task(simured_speed, list(widths), packets)]["simulation"]

    def seconds(widths, packets=200000):
        return run(widths, packets)["cpu_seconds"]

    for widths, theirs in README_SECONDS.items():
        nodes = math.prod(widths)
        yield make("README", f"200,000 packets on {nodes} nodes", "CPU s", theirs, seconds(widths), "at most")
    yield make("README", "20,000 packets on 65,536 nodes", "CPU s", 252, seconds([256, 256], 20000), "at most")
    for widths, theirs in (((8, 8), 2.2e6), ((64, 64), 0.5e6)):
        found = run(widths)
        yield make("README", f"speed on {math.prod(widths)} nodes", "flit-hops/CPU s", theirs,
                   found["flit_hops"] / found["cpu_seconds"], "at least")
    grown = exponent([(math.prod(widths), seconds(widths)) for widths in (*README_SECONDS, (256, 256))])
    yield make("README", "time grows as nodes to the power of", "", 0.85, grown, "at most")
    yield make("paper, 5, equation 1", "time of 2-D meshes grows as nodes to the power of", "", 0.8, grown, "at most")
    yield make("paper, 5", "200,000 packets on 65,536 nodes: 82 min", "s", 82 * 60, seconds([256, 256]), "at most")
    yield make("paper, 5", "a run on more than a thousand nodes: 1 to 10 min", "s", 600, seconds([32, 32]), "at most")
    yield make("paper, 5", "63x63 nodes, 8 runs of 60,000 packets: 50 min; ours 8 times the heaviest", "s", 50 * 60,
               8 * seconds([63, 63], 60000), "at most")
    yield make("paper, 5", "the same in another flit-level simulator: 1077 min", "s", 1077 * 60, 8 * seconds([63, 63], 60000),
               "at most")
    yield make("paper, 5", "the same by an analytical model: 13 min", "s", 13 * 60, 8 * seconds([63, 63], 60000), "at most")


# ---- semantics ---------------------------------------------------------------------------------------------------


# SimuRed's program, run again with packets of 4 flits: (VCs and channels of terminals, load, mean path of so many runs of 200,000 packets
# after 500). With one VC at 0.3 all of its runs and ours deadlock sooner or later.
RINGS_OF_5 = ((1, 0.05, 1.7720, 6), (2, 0.3, 1.8555, 4), (4, 0.3, 1.8221, 3))


def ring(width, load, vcs=1):
    network = original_of({"type": "torus", "widths": [width]}, {"type": "dimension_order", "dateline": "none"}, vcs, vcs, vcs)
    return task(simulate, {"network": network, "workload": {"applications": [
        {"type": "blast", "size": {"type": "fixed", "flits": 4}, "load": load, "warmup": 1000, "sample": 200000}]}})


def semantics_tasks():
    return [ring(4, .05), ring(8, .05), ring(5, .05), ring(5, .3), *(ring(5, load, vcs) for vcs, load, _, _ in RINGS_OF_5), chain()]


def semantics_figures(results):
    make = maker("simured.semantics")

    def path(*network):
        return results.application(ring(*network))["hops"]["mean"]

    for width, theirs in ((4, 4 / 3), (8, 16 / 7)):
        yield make("semantics.md, 6", f"ring of {width}: mean path is minimal", "hops", theirs, path(width, 0.05), "1 %")
    yield make("semantics.md, 6", "ring of 5, light load: mean path, which is not minimal (1.5)", "hops", 1.74, path(5, 0.05), "1 %",
               "the settings of the reference are not recorded; ours: 1 VC, packets of 4 flits, load 0.05, where SimuRed's program has 1.772")
    yield make("semantics.md, 6", "ring of 5, load 0.3: mean path, which is not minimal (1.5)", "hops", 1.79, path(5, 0.3), "1 %",
               "the settings of the reference are not recorded; ours: 1 VC, packets of 4 flits, until it deadlocks, as SimuRed's program "
               "does, with 1.88 to 1.94")
    for vcs, load, theirs, runs in RINGS_OF_5:
        yield make("SimuRed's program, run again", f"ring of 5, load {load}, {vcs} VC{'s' * (vcs > 1)}, packets of 4 flits: mean path "
                   f"(theirs: of {runs} runs)", "hops", theirs, path(5, load, vcs), "1 %")
    first, second = sorted(packet["tail_arrived"] for packet in results[chain()]["log"])
    yield make("semantics.md, 2", "a packet that waits for another adds its latency over 3 hops, 18, and 2", "cycles", 20,
               second - first, "exact")


GROUPS = [
    Group("simured.zero_load", "peers", "SimuRed: a lone packet, all 82 settings measured with the original",
          "Exact, as was asked for beforehand: nothing is left to chance.",
          "docs/validation/measure.py simured.zero_load", lambda: [lone(row)
                                                                           for row in table("zero_load.csv")], zero_load_figures),
    Group("simured.two_packets", "peers", "SimuRed: two packets of 8 flits on an 8x8 mesh", "Exact: no chance in it.",
          "docs/validation/measure.py simured.two_packets", lambda: [pair(what) for what in PAIRS], pair_figures),
    Group("simured.section6", "peers", "SimuRed: section 6 with the original program, 256 runs of 20,000 packets", """
Below saturation 5 % of the packet latency, for heads as many cycles, as was asked for beforehand; past it (less than 97 % of
what is offered arrives) 5 % of accepted load. Hops: 1.5 % where all arrive, three standard errors of their sample and the like of ours; 5 % where the far ones do not. Ours:
packets made as SimuRed makes them below saturation, means of four seeds; by each terminal past it, of two. Latencies past
saturation say how long the run was and have no line.""",
          "docs/validation/measure.py simured.section6 (./dev reproduce simured has the same points of one seed)",
          section6_tasks, section6_figures, """
Outside: adaptive routing past saturation, where throughput collapses and ours carries 5 to 10 % more, and latencies close to
saturation, where a little more load is much more latency: each router serves its own packets here (order per_router), which any
number of threads can. With order original the same packets arrive in the same cycles: ./dev compare simured.""",
          wide=True),
    Group("simured.paper", "papers", "SimuRed: what its paper says of Figures 5 to 10",
          "The paper prints curves and says what they show.",
          "docs/validation/measure.py simured.paper", lambda: flat(as_drawn()) + drawn_tasks(), section6_paper),
    Group("simured.marks", "drawn", "SimuRed: marks of Figures 5, 7 and 8", "10 %, as of all that is read off a drawing.",
          "docs/validation/measure.py simured.marks", drawn_tasks, mark_figures),
    Group("simured.figure_6", "papers", "SimuRed: the time of a run, Figure 6", "The statement.",
          "./dev reproduce simured figure_6 --full", lambda: [task(simured_speed, widths, 200000) for widths in ([64, 64], [16] * 3)],
          figure_6),
    Group("simured.deadlock", "peers", "SimuRed: deadlocks on purpose", """
All runs deadlock; the time within which they do 5 % ("some ten thousand" is 10,000).""",
          "docs/validation/measure.py simured.deadlock", lambda: [one for case in CASES
                                                                          for one in stuck(case)], deadlock_figures),
    Group("simured.speed", "speed", "SimuRed: speed, of the paper and of the original measured again",
          "At least as fast, and growing no faster with the network.",
          "./dev reproduce simured figure_6 --full", speed_tasks, speed_figures),
    Group("simured.semantics", "peers", "SimuRed: measured behaviour", "Mean paths 1 %: the chance in which destinations are drawn.",
          "docs/validation/measure.py simured.semantics", semantics_tasks, semantics_figures),
]

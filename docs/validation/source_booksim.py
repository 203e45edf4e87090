# SPDX-License-Identifier: Apache-2.0
"""BookSim 2: every row of the seven tables in shared/reference/booksim, each of one seed, beside the mean of ten of ours."""
import math
import sys
from statistics import fmean, stdev

from group import Group, maker
from work import ROOT, instructions, settings, simulate, task

sys.path.insert(0, str(ROOT / "tests"))
import support  # noqa: E402

SEEDS = range(1, 11)
SPREAD = 3 * math.sqrt(1 + 1 / len(SEEDS))  # standard errors: one run of theirs against the mean of ours
VAGUE, VAGUE_WORDS = 0.3, "three standard deviations of ten runs are more than 30 % of it"  # of longest latencies
SPEEDS = {  # README: network, benchmark, flit-hops per CPU second, bytes of a router
    "mesh 8x8, 2 VCs x 8, 1 flit, load 0.3": ("mesh_8x8", 551e3, 118e3),
    "mesh 32x32, 8 flits, load 0.1": ("mesh_32x32", 359e3, 55e3),
    "torus 16x16, 4 VCs x 8, 1 flit, load 0.3": ("torus_16x16", 333e3, 81e3),
    "torus 8x8x8x8, 4 VCs x 8, 1 flit, load 0.2": ("torus_4d", 99e3, 98e3),
    "dragonfly, 1,056 terminals, load 0.1": ("dragonfly", 143e3, 216e3),
    "dragonfly, 16,512 terminals, load 0.1": ("scaling/dragonfly_16512", 71e3, 467e3),
}


def tasks_of(name, load):
    return [task(simulate, support.from_booksim(name, load, seed=seed)) for seed in SEEDS]


def tasks():
    return [one for name in support.BOOKSIM_TABLES for row in support.booksim_rows(name)
            for one in tasks_of(name, row["offered"])]


def saturation(rows, latencies):
    """The load at which the mean latency passes three times that of the first row."""
    limit = 3 * latencies[0]
    for i in range(1, len(rows)):
        if latencies[i] > limit:
            low, high = rows[i - 1]["offered"], rows[i]["offered"]
            return low + (high - low) * (limit - latencies[i - 1]) / (latencies[i] - latencies[i - 1])
    return None


def ours_of(name, rows, results):
    """Mean latency of ours at each load."""
    return [fmean(results.column(tasks_of(name, row["offered"]), "packet_latency/mean")) for row in rows]


def saturation_of(name):
    """BookSim's; `_lat1` has no rows for it, and differs by the channels' latency alone."""
    rows = support.booksim_rows(name.removesuffix("_lat1"))
    return saturation(rows, [row["packet_latency"] for row in rows])


def saturation_figures(results):
    make = maker("booksim.saturation")
    for name in support.BOOKSIM_TABLES:
        if not name.endswith("_lat1"):
            rows = support.booksim_rows(name)
            yield make(name, "load at which the mean latency passes 3 times that of the first row", "flits/cycle",
                       saturation_of(name),
                       saturation(rows, ours_of(name, rows, results)), "3 %")


def figures(results):
    make = maker("booksim.tables")
    for name in support.BOOKSIM_TABLES:
        rows = support.booksim_rows(name)
        flits = int(support.booksim_settings(name)["packet_size"])
        for row, latency in zip(rows, ours_of(name, rows, results)):
            yield from of_row(make, name, row, latency, tasks_of(name, row["offered"]), results, flits, saturation_of(name))


def of_row(make, name, row, latency, tasks, results, flits, limit):
    place = f"{name}, {'SAT' if row['offered'] == 0.999 else format(row['offered'], 'g')}"

    def column(path):
        return fmean(results.column(tasks, path))

    is_past = row["offered"] > limit
    if not row["stable"]:
        yield make(place, "accepted load", "flits/cycle", row["accepted"], column("accepted_load"), "3 %")
        return
    packets = 64 * 10000 * row["offered"] / flits
    deviation = math.sqrt((1 - row["offered"] / flits) / packets)  # of the number of packets, by chance
    yield make(place, "accepted load", "flits/cycle", row["accepted"], column("accepted_load"),
               "3 %" if is_past else f"{100 * SPREAD * deviation:.2g} %")
    yield make(place, "packet latency", "cycles", row["packet_latency"], latency, "3 %")
    yield make(place, "network latency", "cycles", row["network_latency"], column("network_latency/mean"),
               "3 %")
    if flits > 1:  # of single flits it is the network latency
        yield make(place, "flit latency", "cycles", row["flit_latency"], "", "not compared",
                   "results have latencies of packets and messages, not of single flits")
    if "routers_visited" in row:
        error = SPREAD * math.sqrt(results[tasks[0]]["hop_variance"][0] / packets) / row["routers_visited"]
        yield make(place, "routers visited", "routers", row["routers_visited"], column("hops/mean") + 1,
                   "3 %" if is_past else f"{100 * max(error, 5e-6):.2g} %")
    longest = list(results.column(tasks, "packet_latency/max"))
    reach = SPREAD * stdev(longest)
    is_vague = reach > VAGUE * row["max_latency"]
    yield make(place, "longest packet latency", "cycles", row["max_latency"], fmean(longest),
               "not compared" if is_vague else f"+- {max(reach, 1):.3g}", f"{VAGUE_WORDS}: {reach:.3g} cycles" if is_vague else "")


def speed_tasks():
    return [task(instructions, "mesh_8x8"), *(task(simulate, benchmark(name)) for name, _, _ in SPEEDS.values())]


def benchmark(name):
    return settings(ROOT / "bench" / f"{name}.json", *(["workload.applications.0.load=0.1"] if "dragonfly" in name else []))


def speed_figures(results):
    make = maker("booksim.speed")
    for what, (name, speed, memory) in SPEEDS.items():
        found = results[task(simulate, benchmark(name))]["simulation"]
        yield make("README", f"{what}: speed", "flit-hops/CPU s", speed, found["flit_hops"] / found["cpu_seconds"], "at least")
        yield make("README", f"{what}: memory", "bytes a router", memory, found["bytes_per_router"], "at most")
    yield make("README", "instructions for a flit-hop, mesh 8x8", "instructions", 9200, results[task(instructions, "mesh_8x8")],
               "at most")


GROUPS = [
    Group("booksim.tables", "peers", "BookSim 2, seven tables: one seed there, the mean of ten here", """
3 %, as was asked for beforehand
below 80 % of saturation, and the same beyond. Accepted load and routers visited of stable rows: three standard errors of a run
like theirs (packets are made by chance; hops vary as the pattern says); past saturation 3 %. The longest latency is that of one packet: three standard
deviations of ten runs, and where these are more than 30 % of it, it is not compared. Latencies of rows that are not stable say how long the run was, as the reference itself says: they
have no line here.""",
          "docs/validation/measure.py booksim.tables", tasks, figures, """
Close to saturation a little more load is much more latency: one seed there lies up to 15 % beside the mean of ten here. Mesh
with 8 flits carries more at full load; other windows give the same, and we do not know why. One longest latency of
33 lies outside: extremes are skewed, and BookSim's is one run.""",
          wide=True),
    Group("booksim.saturation", "peers", "BookSim 2: saturation", "3 %, as was asked for beforehand.",
          "docs/validation/measure.py booksim.saturation", tasks, saturation_figures),
    Group("booksim.speed", "speed", "BookSim 2: speed and memory",
          "At least as fast, and no more memory: one core, the program's own count.",
          "./dev bench; ./dev bench --instructions mesh_8x8", speed_tasks, speed_figures),
]

# SPDX-License-Identifier: Apache-2.0
"""SuperSim: its paper's case studies and figures, and what its program of 2022 was measured at (shared/reference/supersim)."""
import copy
import functools
from statistics import fmean

from group import ALIKE, SLIGHTLY, Group, Paper, alike, maker
from work import ROOT, flat, flitwarp, of_sweep, settings, simulate, study, task, topology

A = study("supersim", "A_latent_congestion")
B = study("supersim", "B_credit_accounting")
C = study("supersim", "C_flow_control")
FIGURE_8 = study("supersim", "figure_8_phantom_congestion")
FIGURE_5 = study("supersim", "figure_5_pulse")


def accepted(results, tasks):
    return fmean(results.column(tasks, "accepted_load"))


# ---- Table I -----------------------------------------------------------------------------------------------------

NETWORKS = {  # topology, routers, terminals, radix
    "A: 3-level folded Clos": ({"type": "folded_clos", "down": [16] * 3, "up": [16] * 2}, None, 4096, 32),
    "A, smaller: 3-level folded Clos": ({"type": "folded_clos", "down": [8] * 3, "up": [8] * 2}, None, 512, 16),
    "B: flattened butterfly": ({"type": "hyperx", "widths": [32], "concentration": 32}, 32, 1024, 63),
    "C: 4D torus": ({"type": "torus", "widths": [8] * 4}, None, 4096, 9),
}


def described(what):
    return task(topology, {"network": {"topology": NETWORKS[what][0], "routing": "minimal"}})


def table_1(results):
    make = maker("supersim.table_1")
    for what, (_, routers, terminals, radix) in NETWORKS.items():
        found = results[described(what)]
        yield make("Table I" if "smaller" not in what else "VI.A", f"{what}: terminals", "terminals", terminals,
                   found["terminals"], "exact")
        yield make("Table I" if "smaller" not in what else "VI.A", f"{what}: ports of a router", "ports", radix,
                   found["radix"]["max"], "exact")
        if routers:
            yield make("Table I", f"{what}: routers", "routers", routers, found["routers"], "exact")


@functools.cache
def c_grid():
    return of_sweep(C.study(), "VCs", "flits", "technique", "load")


# ---- A -----------------------------------------------------------------------------------------------------------

PAPER_A = {1: 0.90, 2: 0.90, 4: 0.75, 8: 0.40}
DROPS = {2: 15, 4: 45, 8: 65}
# Loads around the end of each curve, by what it is sensed after; what is carried there is carried below.
ENDS = {16: {1: (0.85, 0.9, 0.95), 2: (0.85, 0.9, 0.95), 4: (0.7, 0.75, 0.8), 8: (0.35, 0.4, 0.45)},
        32: {1: (0.8, 0.85, 0.9), 2: (0.65, 0.7, 0.75, 0.8), 4: (0.35, 0.4, 0.45, 0.5), 8: (0.15, 0.2, 0.25), 16: (0.05, 0.1, 0.15, 0.2, 0.25),
             32: (0.05, 0.1, 0.15, 0.2, 0.25)}}
MEASURED_A = {  # offered, sensed after ns: accepted, mean and 99 % latency in ns
    (0.4, 1): (0.400, 542, 576), (0.4, 8): (0.401, 560, 616), (0.7, 1): (0.699, 545, 582), (0.7, 2): (0.699, 550, 591),
    (0.7, 4): (0.698, 559, 610), (0.7, 8): (0.527, 679, 903), (1.0, 1): (0.914, 601, 717), (1.0, 2): (0.914, 607, 725),
    (1.0, 4): (0.807, 679, 791), (1.0, 8): (0.507, 858, 1096)}
MEASURED_ENDLESS = (0.970, 622, 724)


@functools.cache
def late(radix):
    found = {}
    for sensing, loads in ENDS[radix].items():
        found |= {(sensing, load): tasks for (load,), tasks in of_sweep(A.study(radix, loads, (sensing,)), "load").items()}
    return found


@functools.cache
def endless():
    return of_sweep(A.study(32, (1.0,), endless=True), "sensing")


@functools.cache
def window():
    """As SuperSim was measured, counting output queues alone: 900 to 1500 ns from an empty network."""
    found = {}
    for kind, loads in (("64 flits", (0.4, 0.7, 1.0)), ("endless", (1.0,))):
        sweep = A.study(16, loads, (1, 2, 4, 8), accounting="output", endless=kind == "endless")
        sweep.base["workload"]["applications"][0].update(warmup=900, sample=600, finish_limit=5000)
        found |= {(kind, *key): tasks for key, tasks in of_sweep(sweep.add_seeds(3), "sensing", "load").items()}
    return found


def a_tasks():
    return flat(late(32)) + flat(late(16)) + flat(endless())


def carried(results, radix, sensing):
    """The highest load that does not pile up traffic, nor one below it."""
    best = 0.0
    for load in ENDS[radix][sensing]:
        if any(results.application(one)["saturated"] for one in late(radix)[sensing, load]):
            return best
        best = load
    raise ValueError(f"{radix} ports, {sensing} ns: the curve does not end at {best}")


def a_figures(results):
    paper = Paper("supersim.A")
    for sensing, theirs in PAPER_A.items():
        yield paper.number("VI.A", f"512 terminals, 64-flit queues, sensed after {sensing} ns: throughput", "share", theirs,
                           carried(results, 16, sensing))
    ends = {sensing: carried(results, 32, sensing) for sensing in ENDS[32]}
    yield paper.says("VI.A, Figure 9b", "4096 terminals, sensed after 1 ns: good throughput (.85 or more)", ends[1] >= 0.85,
                     f"{ends[1]:.2f}")
    for sensing, theirs in DROPS.items():
        yield paper.number("VI.A, Figure 9b", f"4096 terminals, sensed after {sensing} ns: throughput lost against 1 ns, in points of load", "%",
                           theirs, 100 * (ends[1] - ends[sensing]))
    values = [accepted(results, endless()[f"{n} ns",]) for n in (1, 2, 4, 8)]
    yield paper.says("VI.A, Figure 9a", "4096 terminals, endless queues: throughput is not affected", alike(values),
                     ", ".join(f"{value:.3f}" for value in values))
    means = {n: results.application(endless()[f"{n} ns",][0])["packet_latency"]["mean"] for n in ENDS[32]}
    yield paper.says("VI.A, Figure 9a", "4096 terminals, endless queues: latency is significantly higher",
                     means[8] > SLIGHTLY * means[1], f"{means[1]:.0f} ns with 1 ns, {means[8]:.0f} with 8")
    lost = {n: [100 * (carried(results, radix, 1) - carried(results, radix, n)) for radix in (16, 32)] for n in DROPS}
    yield paper.says("VI.A", "512 terminals lose less than 4096 (2, 4, 8 ns)", all(a < b for a, b in lost.values()),
                     "; ".join(f"{a:.0f} and {b:.0f} %" for a, b in lost.values()))
    for sensing in (16, 32):
        ours = accepted(results, endless()[f"{sensing} ns",])
        yield paper.says("VI.A, Figure 9", f"sensed after {sensing} ns: curves with both kinds of queues", None,
                         reason=f"drawn alone, and nothing to be read off; here 64 flits carry {ends[sensing]}, endless queues {ours:.3f} at "
                                f"{means[sensing]:.0f} ns")


def measured_a(results):
    make = maker("supersim.A_measured")
    for (load, sensing), row in MEASURED_A.items():
        yield from cell_a(make, results, f"{load:g} offered, 64-flit queues, sensed after {sensing} ns",
                          window()["64 flits", f"{sensing} ns", load], row)
    yield from cell_a(make, results, "1 offered, endless queues, sensed after 8 ns", window()["endless", "8 ns", 1.0],
                      MEASURED_ENDLESS)


def cell_a(make, results, what, tasks, row):
    yield make("README, A", f"{what}: accepted", "share", row[0], accepted(results, tasks), "+- 0.05")
    for name, key, theirs in (("mean", "mean", row[1]), ("99 %", "p99", row[2])):
        yield make("README, A", f"{what}: {name} latency", "ns", theirs, fmean(results.column(tasks, f"packet_latency/{key}")),
                   "5 %")


# ---- B and Figure 8 ----------------------------------------------------------------------------------------------


@functools.cache
def accounting():
    return of_sweep(B.study(), "straight", "traffic", "per", "counts", "load")


@functools.cache
def phantom():
    return of_sweep(FIGURE_8.study(), "load")


COUNTS = ("output", "downstream", "both")


def b_figures(results):
    paper = Paper("supersim.B")
    most = {}
    for (straight, traffic, per, counts, load), tasks in accounting().items():
        key = straight, traffic, per, counts
        most[key] = max(most.get(key, 0), accepted(results, tasks))

    def of(traffic, per):
        return [most["second", traffic, per, counts] for counts in COUNTS]

    def shown(traffic):
        return "; ".join(f"by {per} " + ", ".join(f"{value:.3f}" for value in of(traffic, per)) for per in ("port", "vc"))

    yield paper.number("VI.B, Figure 10a", "uniform: by port ahead of by VC in mean throughput by", "%", 31.6,
                       100 * (fmean(of("uniform", "port")) / fmean(of("uniform", "vc")) - 1), reason=OPEN_B,
                       original=ORIGINAL_B)
    latency = {per: fmean(results.application(accounting()["second", "uniform", per, counts, 0.6][0])["packet_latency"]["mean"]
                          for counts in COUNTS) for per in ("vc", "port")}
    yield paper.says("VI.B, Figure 10a", "uniform: significantly less latency by port (at 0.6)",
                     latency["vc"] > SLIGHTLY * latency["port"], f"{latency['port']:.0f} and {latency['vc']:.0f} ns")
    yield paper.says("VI.B, Figure 10a", "uniform: output, downstream or both make no significant difference",
                     alike(of("uniform", "port")) and alike(of("uniform", "vc")), shown("uniform"), reason=OPEN_B)
    yield paper.number("VI.B, Figure 10b", "bit complement: by VC ahead of by port in mean throughput by", "%", 3.33,
                       100 * (fmean(of("complement", "vc")) / fmean(of("complement", "port")) - 1), reason=OPEN_B)
    yield paper.says("VI.B, Figure 10b", "bit complement: downstream alone does not show the congestion",
                     all(of("complement", per)[1] < min(of("complement", per)[0::2]) for per in ("vc", "port")),
                     shown("complement"))


OPEN_B = ("the paper does not print which VCs packets that go straight may use, and that decides it; read where curves end it does not "
          "come out either: docs/supersim.md")
ORIGINAL_B = ("SuperSim of 2022, one set of VCs, full load, counting output queues: .757 by VC and .807 by port, 6.6 % apart, on 8 routers "
              "of 8 terminals; .786 by port on 16 of 16 (ours .785)")


SSPLOT = ("SSPlot's test data of 2017 have 592.87 ns at .65 (messages of 32 flits, oldest first) on a network that is not "
          "described; their only file for a plot of percentiles has 223 ns")


def figure_8(results):
    paper = Paper("supersim.figure_8")
    shares = {load: fmean(results.column(tasks, "nonminimal_share")) for (load,), tasks in phantom().items()}
    yield paper.says("V, Figure 8", "packets on detours near zero load: more than 1 in 10", shares[0.02] > 0.1,
                     f"{shares[0.02]:.3f}", "> 0.1")
    yield paper.number("V, Figure 8", "packets on detours at 12 %: 1 in 100", "share", 0.01, shares[0.12], "curve")
    yield paper.says("V, Figure 8", "packets on detours at 40 %: fewer than 1 in 10,000", shares[0.4] < 1e-4,
                     f"{shares[0.4]:.2g}", "< 0.0001")
    carried = max(accepted(results, tasks) for tasks in phantom().values())
    yield paper.number("V, Figure 8", "the network saturates at", "share", 0.98, carried)
    quantile = results.application(phantom()[0.02,][0])["packet_latency"]
    yield paper.number("V, Figure 8", "a detour costs a channel and a router, 50 ns each", "ns", 100,
                       (quantile["p99"] - quantile["p50"]) / 2)
    yield paper.number("V, Figure 7", "99.9 % latency of a sample plot", "ns", 592, None,
                       reason="its network and load are not printed", original=SSPLOT)


def pulse_figures(results):
    courses = {}
    for name, tasks in pulse().items():
        course = [latency for latency in results[tasks[0]]["course"] if latency]
        courses[name[0]] = fmean(course[30:60]), max(course), fmean(course[-60:-30])
    yield Paper("supersim.figure_5").says(
        "IV.A, Figure 5", "a pulse disturbs a blast: latency rises to a peak and comes back",
        all(peak > SLIGHTLY * calm and alike((calm, after)) for calm, peak, after in courses.values()),
        "; ".join(f"{name} {calm:.0f}, {peak:.0f}, {after:.0f} ns" for name, (calm, peak, after) in courses.items()))


@functools.cache
def pulse():
    return of_sweep(FIGURE_5.study(), "pulse")


# ---- C -----------------------------------------------------------------------------------------------------------

MEASURED_C = {  # VCs: technique: mean and 99 % latency, ns; torus 8x8, 8 flits, 0.5
    2: {"FB": (221.8, 403), "PB": (216.4, 395), "WTA": (216.4, 395)},
    4: {"FB": (204.3, 346), "PB": (200.5, 340), "WTA": (200.5, 340)},
    8: {"FB": (205.4, 341), "PB": (199.8, 342), "WTA": (199.8, 342)}}
LOADS_12 = (0.6, 0.85, 1.0)


def at_loads(sweep, *loads):
    """The study at these loads alone."""
    sweep.along = None
    return sweep.add_loads(values=loads, past=0)


@functools.cache
def small_torus():
    sweep = C.study((8, 8), sizes=(8,))
    sweep.base["workload"]["applications"][0]["injection"] = "periodic"  # as SuperSim makes messages
    return of_sweep(at_loads(sweep, 0.5).add_seeds(3), "VCs", "technique")


@functools.cache
def full_load():
    """Figure 11: what is carried when all offer everything."""
    sweep = C.study(sample=1500)
    sweep.base["workload"]["applications"][0]["warmup"] = 2000
    sweep.base["workload"]["applications"][0]["finish_limit"] = 1
    return of_sweep(at_loads(sweep, 1.0), "VCs", "flits", "technique")


@functools.cache
def figure_12():
    sweep = C.study(vcs=(8,), sizes=(32,))
    sweep.base["workload"]["applications"][0]["finish_limit"] = 3000
    return of_sweep(at_loads(sweep, *LOADS_12), "load", "technique")


def c_tasks():
    return flat(figure_12()) + flat(full_load())


def c_figures(results):
    paper = Paper("supersim.C")
    script = (ROOT / "examples" / "papers" / "supersim" / "C_flow_control.py").read_text().splitlines()
    runs = sum(map(len, c_grid().values()))
    yield paper.says("VI.C", "some 1,800 simulations by 50 lines of Python", alike((1800, runs)) and len(script) <= 50,
                     f"{runs} by {len(script)}", "1,800 by 50")
    digests = [len({results[full_load()[vcs, 1, technique][0]]["simulation"]["digest"] for technique in C.TECHNIQUES})
               for vcs in (2, 4, 8)]
    yield paper.says("VI.C, Figure 11", "single flits: the three techniques act the same", digests == [1] * 3,
                     f"{', '.join(map(str, digests))} different results with 2, 4, 8 VCs")
    spread = max(max(carried) / min(carried) for carried in (
        [accepted(results, full_load()[vcs, flits, technique]) for technique in C.TECHNIQUES]
        for vcs in (2, 4, 8) for flits in (1, 2, 4, 8, 16, 32)))
    yield paper.says("VI.C, Figure 11", "very little difference of throughput in all 18 cells", spread <= ALIKE,
                     f"at most {100 * spread - 100:.1f} %")
    times = {load: {technique: results.application(figure_12()[load, technique][0])["packet_latency"]["mean"]
                    for technique in C.TECHNIQUES} for load in LOADS_12}
    yield paper.says("VI.C, Figure 12", "8 VCs, 32 flits: latency FB < WTA < PB (at 0.6, 0.85, 1)",
                     all(one["FB"] < one["WTA"] < one["PB"] for one in times.values()),
                     "; ".join(f"{one['FB']:.0f}, {one['WTA']:.0f}, {one['PB']:.0f} ns" for one in times.values()),
                     reason="WTA and PB differ by less than chance does; FB is first from saturation on",
                     original="on an 8x8 torus SuperSim has PB and WTA alike, both ahead of FB")


def measured_c(results):
    make = maker("supersim.C_measured")
    for vcs, row in MEASURED_C.items():
        for technique, (middle, tail) in row.items():
            tasks = small_torus()[vcs, technique]
            yield make("README, C", f"torus 8x8, 8 flits, 0.5, {vcs} VCs, {technique}: mean latency", "ns", middle,
                       fmean(results.column(tasks, "packet_latency/mean")), "5 %")
            yield make("README, C", f"torus 8x8, 8 flits, 0.5, {vcs} VCs, {technique}: 99 % latency", "ns", tail,
                       fmean(results.column(tasks, "packet_latency/p99")), "5 %")


# ---- speed -------------------------------------------------------------------------------------------------------


def grid(kind, widths, vcs, depth, load, latency=1, crossbar=None, sample=1000):
    router = {"type": "input_queued", "num_vcs": vcs, "buffer_depth": depth,
              **({"crossbar_latency": crossbar} if crossbar else {})}
    return {"network": {"topology": {"type": kind, "widths": widths}, "routing": "dimension_order", "router": router,
                        "channel": {"latency": latency}},
            "workload": {"applications": [{"type": "blast", "load": load, "warmup": 500, "sample": sample}]}}


@functools.cache
def speeds():
    """What: configuration, flit-hops, events per CPU second, memory in MB."""
    clos = settings(ROOT / "bench" / "clos_adaptive.json")
    large = copy.deepcopy(clos)
    large["network"]["topology"].update(down=[16] * 3, up=[16] * 2)
    large["network"]["channel"]["latency"] = large["network"]["terminal_channel"]["latency"] = 5
    large["workload"]["applications"][0].update(warmup=500, sample=1000)
    large["workload"]["applications"][0]["traffic"]["block"] = 256
    torus = {vcs: grid("torus", [8] * 4, vcs, 128, 0.2, 5, 25) for vcs in (2, 4, 8)}
    return {
        "mesh 8x8, load 0.3": (grid("mesh", [8, 8], 2, 8, 0.3, sample=10000), 275e3, 2.90e6, 10),
        "torus 8x8, load 0.3": (grid("torus", [8, 8], 2, 8, 0.3, sample=10000), 242e3, 2.61e6, 10),
        "torus 8^4, load 0.2, 2 VCs": (torus[2], 36e3, 0.42e6, 645),
        "torus 8^4, load 0.2, 4 VCs": (torus[4], 26e3, 0.32e6, 1257),
        "torus 8^4, load 0.2, 8 VCs": (torus[8], 15e3, 0.18e6, 3137),
        "HyperX of 1024 terminals, UGAL, load 0.5": (settings(ROOT / "bench" / "butterfly_ugal.json"), 34e3, 0.41e6, 205),
        "Clos of 512 terminals, load 0.5": (clos, 63e3, 0.73e6, 118),
        "Clos of 4096 terminals, load 0.5": (large, 50e3, 0.58e6, 331)}


def speed_figures(results):
    make = maker("supersim.speed")
    for what, (config, hops, events, memory) in speeds().items():
        found = results[task(simulate, config)]["simulation"]
        yield make("README", f"{what}: speed", "flit-hops/CPU s", hops, found["flit_hops"] / found["cpu_seconds"], "at least")
        yield make("README", f"{what}: events", "events/CPU s", events, found["events"] / found["cpu_seconds"], "at least")
        yield make("README", f"{what}: memory", "MB", memory, found["peak_rss_bytes"] / 1e6, "at most")


# ---- inventory ---------------------------------------------------------------------------------------------------

INVENTORY = {  # row of inventory.md: {SuperSim's name: what is here}; words with : are settings, others components
    "Topologies": {"butterfly": "butterfly", "dragonfly": "dragonfly", "fat_tree": "folded_clos", "hyperx": "hyperx",
                   "interface_only": None,
                   "mesh": "mesh", "parking_lot": "parking_lot", "single_router": "single_router", "torus": "torus"},
    "Protocol classes": {"protocol_classes": ":protocol_classes"},
    "Routing: butterfly": {"dest_tag": "destination_tag"},
    "Routing: dragonfly": {"minimal": "dragonfly_minimal", "valiants": "valiant", "adaptive": "ugal",
                           "progressive_adaptive": "par"},
    "Routing: fat_tree": {"common_ancestor": "up_down", "selection": ":selection", "least_common_ancestor": ":common_ancestor"},
    "Routing: hyperx": {"dimension_order": "dimension_order", "minimal": "minimal_adaptive", "valiants": "valiant",
                        "ugal": "ugal", "dal": "dal",
                        "least_congested_queue": "least_congested_queue", "skipping_dimensions": "skipping_dimensions"},
    "Routing: mesh / torus": {"dimension_order": "dimension_order", "valiants": "valiant"},
    "Routing: parking_lot / single_router": {"exit_lot": "dimension_order", "direct": "minimal"},
    "Routing mode": {name: ":mode" for name in ("vc", "port_ave", "port_min", "port_max")},
    "Route reduction": {"all_minimal": "all_minimal", "least_congested_minimal": "least_congested", "weighted": "weighted"},
    "Router architectures": {"input_queued": "input_queued", "output_queued": "output_queued",
                             "input_output_queued": "input_output_queued"},
    "Allocators": {"r_separable": "separable_output_first", "rc_separable": "islip", "cr_separable": "separable_input_first",
                   "wavefront": "wavefront"},
    "Arbiters": {"comparing": "age", "dual_stage_class": "dual_stage_class", "lru": "least_recently_served",
                 "lslp": "round_robin", "random": "random",
                 "random_priority": "random_priority"},
    "Crossbar scheduler": {name: ":crossbar_flow" for name in ("FB", "PB", "WTA")},
    "VC scheduler": {"any allocator": ":vc_allocator", "vca_swa_wait": ":vc_allocation_latency"},
    "Congestion sensor": {"null_sensor": "none", "buffer_occupancy": "buffer_occupancy"},
    "Congestion mode": {name: ":accounting" for name in ("output", "downstream", "output_and_downstream")},
    "Interface": {"standard": "standard"},
    "Clocks": {"channel": ":cycle", "router": ":cycle"},
    "Applications": {"blast": "blast", "pulse": "pulse", "stream": "stream", "alltoall": "alltoall", "simple_mem": "memory",
                     "stencil": "stencil", "paragraph": None},
    "Application phases": {"four phases": ":check_interval"},
    "Traffic: continuous": {**{name: name for name in (
        "bit_complement", "dim_bisection_stress", "dim_complement_reverse", "dim_reverse", "dim_rotate", "dim_transpose",
        "group_attack", "local_random_remote_attack", "local_remote_random", "loopback", "matrix", "neighbor",
        "random_block_out", "random_exchange", "random_exchange_neighbor", "random_exchange_quadrant", "scan", "swap2",
        "tornado", "uniform_random", "uniform_random_bisection", "uniform_random_quadrant")},
        "BitReverse": "bit_reverse", "bit_rotate": "bit_rotation", "bit_transpose": "transpose"},
    "Traffic: distribution": {"random": "alltoall"},
    "Message size": {"single": "fixed", "random": "uniform", "probability": "mix", "read_write": "read_write"},
}


def inventory_figures(_):
    make = maker("supersim.inventory")
    components = {line.split()[1] for line in flitwarp("list").stdout.splitlines()}
    words = flitwarp("schema").stdout
    for row, names in INVENTORY.items():
        there = [name for name, ours in names.items() if ours
                 and (f'"{ours[1:]}"' in words if ours[0] == ":" else ours in components)]
        missing = sorted(set(names) - set(there))
        yield make("inventory.md", f"{row}: names with a counterpart", "names", len(names), len(there), "exact",
                   f"not here: {', '.join(missing)}; docs/supersim.md names what comes nearest" if missing else "")


GROUPS = [
    Group("supersim.A", "papers", "SuperSim A: congestion that is sensed late", "By kind.",
          "./dev reproduce supersim A; the same with --full for 4096 terminals", a_tasks, a_figures),
    Group("supersim.B", "papers", "SuperSim B: what counts as congestion", "By kind.", "./dev reproduce supersim B",
          lambda: flat(accounting()), b_figures),
    Group("supersim.figure_8", "papers", "SuperSim's Figures 7 and 8", "By kind.", "./dev reproduce supersim figure_8",
          lambda: flat(phantom()), figure_8),
    Group("supersim.figure_5", "papers", "SuperSim's Figure 5: a pulse disturbs a blast", "By kind.",
          "./dev reproduce supersim figure_5", lambda: flat(pulse()), pulse_figures),
    Group("supersim.C", "papers", "SuperSim C: flow control techniques", "By kind.",
          "examples/papers/supersim/C_flow_control.py runs all loads; docs/validation/measure.py supersim.C those used "
          "here", c_tasks, c_figures),
    Group("supersim.A_measured", "peers", "SuperSim A, measured: 512 terminals, 600 ns",
          "Accepted load 5 points, latency 5 %, saturated or not.", "docs/validation/measure.py supersim.A_measured",
          lambda: flat(window()), measured_a, """
Latencies of saturated cells say how far queues have grown in 600 ns; ours carries 2 points less and has filled them more. With
endless queues at a load of exactly 1 terminals wait for their channels for as long as the run lasts; SuperSim's count of that
is not known."""),
    Group("supersim.C_measured", "peers", "SuperSim C, measured: an 8x8 torus", "5 %.",
          "docs/validation/measure.py supersim.C_measured", lambda: flat(small_torus()), measured_c, """
With 4 and 8 VCs SuperSim takes 3 cycles more in each router (15 of the mean over 5 routers, 27 of the farthest over 9): stages of
its router that the reference does not record, and that we did not fit. With 2 VCs it takes 30 more, half of which is not
explained."""),
    Group("supersim.speed", "speed", "SuperSim: speed and memory",
          "At least as fast, no more memory. Flit-hops of ours leave out the way into the first router, which SuperSim counts.",
          "docs/validation/measure.py supersim.speed", lambda: [task(simulate, config) for config,
                                                                        *_ in speeds().values()], speed_figures),
    Group("supersim.table_1", "inputs", "SuperSim's paper: networks of its case studies", "Exact: they are counted.",
          "build/flitwarp topology examples/hyperx.json network.topology.widths=[32] network.topology.concentration=32",
          lambda: [described(what) for what in NETWORKS], table_1),
    Group("supersim.inventory", "inputs", "SuperSim: components and their counterparts", "All of them.",
          "build/flitwarp list; docs/supersim.md", list, inventory_figures),
]

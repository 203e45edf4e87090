#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 4 to 9 and Table 3 of the Fit Fly paper: a job shares a network with 1,000 ranks of background traffic. How long does
its communication take, how long do packets, and how far do they go?

    examples/papers/fitfly/figures_4_to_9_interference.py           two jobs, 0 to 72.5 %: five CPU minutes
    examples/papers/fitfly/figures_4_to_9_interference.py --full    more points, three seeds, all comparisons: hours
    examples/papers/fitfly/figures_4_to_9_interference.py --reduced networks of 200 terminals, five seeds: a CPU minute
    examples/papers/fitfly/figures_4_to_9_interference.py --codes   with what CODES, the paper's simulator, has where the paper
                                                                    prints nothing, as in docs/validation: fifteen CPU minutes

The paper replays traces of AMG and MultiGrid. In their place stand motifs of the same names on as many ranks: one V-cycle of few
levels. (amg_trace.py replays traces, of fewer ranks.) The background sends a message every 100 us on average from each of its
ranks to any other of them; its size is what makes the share of a link's bandwidth. All networks have the same map of ranks to
terminals.
"""
import math
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp import Sweep, open_study  # noqa: E402
from flitwarp.figures.style import Layout, drawing, finish, look, save  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from networks import EDR_CYCLE, FOUR, MICROSECOND, TICK_NS, overrides, settings  # noqa: E402

TOP = 0.725
INTERVAL = 100 * MICROSECOND
JOBS = {  # motifs; they communicate and do not compute
    "AMG": {"type": "amg", "points": 16, "levels": 2, "iterations": 1},
    "MultiGrid": {"type": "multigrid", "points": 64, "levels": 3, "iterations": 1},
}
# Collectives send nothing there. Five cycles last longer than the interval of the background.
JOBS_IN_CODES = {job: {**motif, "points": 16, "allreduce": 0, "iterations": 5} for job, motif in JOBS.items()}
ALIGNED = {"type": "periodic", "phase": "aligned"}  # all send at once, every 100 us, from the beginning
MPI_LATENCY = round(3.51 * MICROSECOND)  # of each message before it enters the network: 2.5, 1 and 0.01 us; of the background's 0
MPI_COPY = {"eager_limit": 8191, "copy_per_byte": "0.55ns"}
PRINTED = {job: dict(zip(FOUR, times)) for job, times in {  # Table 3
    "AMG": ("28.4 ms", "1.4 ms", "> 1 s", "> 1 s"), "MultiGrid": ("20.3 ms", "5.4 ms", "> 1 s", "> 1 s")}.items()}


@dataclass(frozen=True)
class Side:
    """A network in a comparison, and what its terminals offer."""

    network: str
    full: int  # ticks of a flit at 100 %
    feeds_rails: bool = False  # a terminal's processor feeds all rails at once, not as fast as one link


SIDES = {**{name: Side(name, EDR_CYCLE) for name in FOUR}, "Fit Fly, 7 GiB/s": Side("Fit Fly FDR", 25),
         "Slim Fly, 25 GiB/s": Side("Slim Fly HDR", 7),
         "Fit Fly, 7 GiB/s, the bytes of 12.5": Side("Fit Fly FDR", EDR_CYCLE, True)}
SIX = (*FOUR, "Fit Fly, 7 GiB/s", "Slim Fly, 25 GiB/s")
COMPARISONS = {"Figures 4 and 5": FOUR, "Figures 6 and 7": ("Slim Fly", "Fit Fly, 7 GiB/s", "Fit Fly, 7 GiB/s, the bytes of 12.5"),
               "Figures 8 and 9": ("Slim Fly, 25 GiB/s", "Fit Fly")}


@dataclass(frozen=True)
class Scale:
    """How large networks and applications are."""

    grids: dict  # ranks of a job
    background: int  # ranks
    terminals: int  # that all networks have: ranks are mapped among them
    topologies: dict  # in place of those of the networks' files, by type

    def mapped(self, count, skip=0):
        return {"type": "random", "map": 1, "among": self.terminals, "count": count, "skip": skip}


FULL = Scale({"AMG": [12, 12, 12], "MultiGrid": [10, 10, 10]}, 1000, 3042, {})
REDUCED = Scale({"AMG": [5, 5, 4], "MultiGrid": [4, 4, 4]}, 60, 180, {  # 180 and 200 terminals, of the same proportions
    "slim_fly": {"type": "slim_fly", "q": 5, "terminals": 4},
    "dragonfly": {"type": "dragonfly", "terminals": 3, "routers": 6, "global": 3, "groups": 10},
    "megafly": {"type": "megafly", "terminals": 6, "leaves": 6, "spines": 6, "global": 6, "groups": 5}})


def motif(job, scale):
    """What the job replays, and on how many ranks."""
    grid = scale.grids[job]
    return {"motif": {**JOBS[job], "grid": grid}}, math.prod(grid)


def motif_in_codes(job, scale):
    """The same, with messages of MultiGrid that are short: in the paper links of 7 GiB/s hardly slow it down."""
    grid = scale.grids[job]
    return {"motif": {**JOBS_IN_CODES[job], "grid": grid}, **MPI_COPY}, math.prod(grid)


def as_in_codes(network):
    """What the files of these networks set that come with CODES, and what its replay of MPI adds to a message."""
    network["router"].update(buffer=65536, switching="store_and_forward", queueing="by_output")
    network["channel"]["latencies"] = [1, 1]
    network["terminal_channel"]["latency"] = 1
    network["interface"]["latency"] = MPI_LATENCY
    network["deadlock_interval"] = 0  # VC classes rule deadlock out
    if network["routing"]["type"] == "ugal":
        network["routing"].update(detours=4, hop_count="normalized", mode="vc")
    else:
        network["routing"].update(detours=2, mode="port_total")
    if network["topology"]["type"] == "dragonfly":
        network["routing"].update(hop_count="ignored", intermediate="router")
        network["router"]["num_vcs"] = 5
    if network.get("planes", {}).get("count", 1) > 1:
        network["planes"]["selection"] = {"type": "congestion", "count": "buffered"}


def applications(replayed, ranks, side, cycle, share, limit, scale, codes=False):
    """The job, and what runs beside it: from before, so that the network is busy when the job begins. In CODES both begin at once,
    and the background's messages do without MPI: here they wait as long as the job begins later."""
    found = [{"type": "trace", "name": "job", **replayed, "max_packet": 64, "delay": MPI_LATENCY if codes else 0, "limit": limit,
              "allocation": scale.mapped(ranks)}]
    if share:
        found.append({"type": "blast", "name": "background", "load": share * cycle / side.full,
                      "injection": ALIGNED if codes else "poisson",
                      "size": {"type": "fixed", "flits": round(share * INTERVAL / side.full)}, "max_packet": 64,
                      "warmup": 0 if codes else INTERVAL, "sample": 10 * MICROSECOND, "finish_limit": 1,
                      "allocation": scale.mapped(scale.background, ranks)})
    return found


def study(jobs=tuple(JOBS), sides=SIX, shares=(0, 0.4, TOP), limit=3000 * MICROSECOND, seeds=1, scale=FULL,
          name="fitfly_interference", replay=motif, codes=False):
    """`limit` in ticks; what takes longer is given up. `replay` says of a job what motif() does. `codes`: see as_in_codes(); the
    background then sends at fixed intervals, all ranks at once."""
    networks = {side: settings(SIDES[side].network)["network"] for side in SIDES if side in sides}
    for side, network in networks.items():
        network["topology"] = scale.topologies.get(network["topology"]["type"], network["topology"])
        if SIDES[side].feeds_rails:
            network["interface"]["feed_cycle"] = None
        if codes:
            as_in_codes(network)

    def beside(share, others):
        network = others["network"]
        cycle = networks[network]["terminal_channel"]["cycle"]
        made = applications(*replay(others["job"], scale), SIDES[network], cycle, share, limit, scale, codes)
        return {"workload.applications": made}

    sweep = Sweep(settings("Slim Fly"), name, title="A job beside background traffic")
    sweep.add_variable("network", "N", {side: side for side in networks}, lambda side: overrides(networks[side]))
    sweep.add_variable("job", "J", jobs, lambda job: {})
    sweep.add_loads(values=shares, past=0, name="background", short="B", override=beside)
    axis = "background traffic (share of the bandwidth of a link)"
    sweep.add_figure("load-column", lines="network", column="network_latency.mean", log="y", x_label=axis)  # of the job
    sweep.add_figure("load-column", lines="network", column="hops.mean", x_label=axis)
    return sweep.add_seeds(seeds)


# ---- what came out ----


def of_all(results, column):
    """A mean over the packets of job and background."""
    blocks = [(block["packets"], results.value(f"{column}.mean", i)) for i, block in enumerate(results["applications"])]
    return sum(packets * value for packets, value in blocks if packets) / sum(packets for packets, _ in blocks)


def time_us(results):
    """Of the job's slowest rank; infinite where it was given up."""
    job = results["applications"][0]
    return math.inf if job["unfinished_ranks"] else job["communication_time"]["max"] * TICK_NS / 1000


MEASURES = {  # what -> unit, function of results
    "communication time": ("us", time_us),
    "packet latency": ("us", lambda results: of_all(results, "network_latency") * TICK_NS / 1000),
    "hops": ("routers", lambda results: 1 + of_all(results, "hops")),  # as CODES counts
}


def values(study, job, network, measure):
    """By share of background, the mean over the seeds."""
    found = {}
    for run in study.select({"job": job, "network": network}):
        found.setdefault(float(run.variables["background"]), []).append(MEASURES[measure][1](run.results))
    return {share: sum(each) / len(each) for share, each in sorted(found.items())}


def limit_us(study):
    return study.runs[0].results["config"]["workload"]["applications"][0]["limit"] * TICK_NS / 1000


def drawn(study, job, networks):
    """The three panels of one of the paper's figures; what was given up stands on the line of the limit."""
    limit, layout = limit_us(study), Layout(size=(3.4, 5.6))
    with drawing(layout, rows=len(MEASURES)) as (figure, axes):
        for ax, (measure, (unit, _)) in zip(axes, MEASURES.items()):
            curves = {network: values(study, job, network, measure) for network in networks}
            for i, (network, curve) in enumerate(curves.items()):
                ax.plot([100 * share for share in curve], [limit if math.isinf(value) else value for value in curve.values()],
                        label=network, **look(i, len(networks)))
            if any(math.isinf(value) for curve in curves.values() for value in curve.values()):
                ax.axhline(limit, color="0.4", linewidth=0.7, linestyle=":", zorder=1)
                ax.annotate(f"given up after {limit / 1000:.3g} ms", (0.98, limit), (0, 2), xycoords=("axes fraction", "data"),
                            textcoords="offset points", ha="right", fontsize=7)
                ax.margins(y=0.12)
            finish(ax, Layout(log="" if measure == "hops" else "y", legend="auto" if ax is axes[0] else "none"),
                   "background traffic (% of the bandwidth of a link)" if ax is axes[-1] else "", f"{measure} ({unit})")
    return figure


def figures(study, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for title, networks in COMPARISONS.items():
        there = [name for name in networks if name in study.variables["network"]]
        for job in study.variables["job"]:
            if len(there) > 1 and all(study.select({"job": job, "network": name}) for name in there):
                stem = f"{title}_{job}".replace(" ", "_").lower()
                save(drawn(study, job, there), folder / stem, ("png", "svg"))


# ---- beside what was published ----


def shown_time(value, limit):
    return f"> {limit / 1000:g} ms" if math.isinf(value) else f"{value / 1000:.3f} ms"


def compare(study):
    limit = limit_us(study)
    for job in study.variables["job"]:
        for name in study.variables["network"]:
            if study.select({"job": job, "network": name}):
                yield from rows_of(study, job, name, limit)
        yield from orders(study, job)


def rows_of(study, job, name, limit):
    times, latencies, hops = (values(study, job, name, measure) for measure in MEASURES)
    for share in times:
        printed = PRINTED.get(job, {}).get(name, "") if share == TOP else ""
        yield Row(f"{job}, {name}, {100 * share:g} %: time; latency; hops",
                  f"{shown_time(times[share], limit)}; {latencies[share]:.2f} us; {hops[share]:.2f}", printed)


def orders(study, job):
    """What the paper says of its curves at the heaviest background."""
    there = [name for name in study.variables["network"] if study.select({"job": job, "network": name})]
    has_top = any(float(run.variables["background"]) == TOP for run in study.runs)
    for measure in MEASURES if has_top else ():
        at_top = {name: values(study, job, name, measure)[TOP] for name in there}

        def before(*names, measure=measure, at_top=at_top):
            found = [at_top[name] for name in names]
            text = " < ".join(names)
            return Row(f"{job}, {100 * TOP:g} %: {measure}", text if found == sorted(found) else f"not {text}", text,
                       found == sorted(found) and len(set(found)) > 1 and not math.isinf(found[0]))
        if set(FOUR) <= set(there):
            yield before("Fit Fly", "Slim Fly", "Dragonfly")
            yield before("Fit Fly", "Slim Fly", "Megafly")
        for pair in (("Fit Fly, 7 GiB/s", "Slim Fly"), ("Fit Fly", "Slim Fly, 25 GiB/s")):
            if set(pair) <= set(there):
                yield before(*pair)


MANY = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, TOP)


def in_codes(shares=(0, 0.15, 0.4, TOP)):
    return study(shares=shares, name="fitfly_interference_codes", replay=motif_in_codes, codes=True)


def chosen(words):
    if "--full" in words:
        return study(sides=tuple(SIDES), shares=MANY, limit=20000 * MICROSECOND, seeds=3)
    if "--codes" in words:
        return in_codes()
    if "--reduced" in words:
        return study(sides=tuple(SIDES), shares=MANY, seeds=5, scale=REDUCED)
    return study().exclude(lambda values: values["job"] != "AMG" and values["network"] not in FOUR)


def main(argv):
    sweep = chosen(argv)
    status = reproduce(sweep, compare, [word for word in argv if word not in ("--full", "--reduced", "--codes")])
    if sweep.path.exists():
        figures(open_study(sweep.path), sweep.out / "figures")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

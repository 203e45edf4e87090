# SPDX-License-Identifier: Apache-2.0
"""The ROSS torus paper (Liu and others, 2012): Tables 1 to 5, Figures 5 to 12 and what the text says."""
import csv
import functools

from figure import FOLDER
from group import ALIKE, SLIGHTLY, Group, Paper, alike, maker
from work import flat, of_sweep, simulate, study, task

TABLES = study("torus", "tables_1_and_2")
CURVES = study("torus", "figures_5_to_7_latency")
PING_PONG = study("torus", "figure_8_ping_pong")
CUBES = {"8-ary 6-cube": 24, "64-ary 3-cube": 96, "512-ary 2-cube": 512}  # longest way, hops
COMPUTED = {"8^8 at 4": 40700, "8^8 at 5": 42048, "16^6 at 40": 63292, "16^6 at 50": 63339, "64^4 at 30": 169847,
            "64^4 at 40": 170144,
            "8^10 at 2": 52753, "32^6 at 0.5": 128218, "64^5 at 0.5": 2142709}
MEANT = {"8^8 at 4": 168201 / 4, "64^5 at 0.5": 107135 / 0.5}  # misprints
SCALING = {  # table: packets/ns, {processors: (efficiency %, million events/s, remote %, secondary rollbacks in 1e-5)}
    "Table 3": (200, {4096: (97.05, 639, 11.72, 28.6), 8192: (96.00, 1066, 12.41, 34.7), 16384: (81.90, 1681, 13.79, 220)}),
    "Table 4": (400, {4096: (97.33, 638, 11.72, 26.8), 8192: (96.81, 1241, 12.41, 31.2), 16384: (96.42, 1966, 13.79, 24.5)}),
    "Table 5": (160, {4096: (99.83, 609, 11.71, 1.06), 8192: (99.90, 1192, 12.39, 0.254), 16384: (99.83, 2260, 13.77, 0.0429),
                      32768: (99.55, 4002, 16.53, 0.51), 65536: (98.89, 7307, 16.88, 3.87), 131072: (97.51, 12359, 17.22, 21.7)})}
BEGUN = 50  # us after which the rate of events is measured on 32^6


@functools.cache
def tables():
    return of_sweep(TABLES.study(), "torus")


def table_figures(results):
    paper = Paper("torus.tables_1_and_2")
    for (label,), (one,) in tables().items():
        _, rate, waiting, latency, _, _ = TABLES.ROWS[label]
        in_flight = results[one]["model"]["packets_in_flight"]["time_average"]
        place = "Table 2" if label in TABLES.TABLE_2 else "Table 1"
        yield paper.number(place, f"{label} packets/ns: packets waiting", "packets", waiting, in_flight)
        yield paper.number(place, f"{label} packets/ns: simulated latency", "ns", latency,
                           results.application(one)["packet_latency"]["mean"])
        meant = MEANT.get(label, "")
        yield paper.number(place, f"{label} packets/ns: latency computed by Little's law", "ns", COMPUTED[label], in_flight / rate,
                           meant=meant, reason=meant and "the paper's own packets and rate contradict what it prints")


# ---- latency curves and ping-pong ----------------------------------------------------------------------------------


@functools.cache
def curves():
    found = of_sweep(CURVES.study(loads=(0.02, 0.1, 0.3, 0.7, 0.9, 1.05)), "torus", "load")
    found.update(of_sweep(CURVES.study(("512-ary 2-cube",), LOADS_512, sample=0.2), "torus", "load"))
    return found


LOADS_512 = (0.02, 0.1)


def opposite(cube):
    """A packet to and fro between nodes that are as far from each other as can be."""
    widths = CURVES.CUBES[cube]
    return task(simulate, {"simulator": {"tick": "1ns"}, "model": {
        "type": "node", "widths": widths, "traffic": "ping_pong", "from": [0] * len(widths), "to": [k // 2 for k in widths],
        "warmup": 0, "sample": "10ms"}})


def curve_figures(results):
    paper = Paper("torus.figures_5_to_7")

    def latency(cube, load, key="mean"):
        return results.application(curves()[cube, load][0])["packet_latency"][key]

    for cube, longest in CUBES.items():
        yield paper.count("4.1", f"{cube}: longest way, hops", longest, results.application(opposite(cube))["hops"]["max"])
    each = [latency(cube, 0.02) / longest for cube, longest in CUBES.items()]
    yield paper.says("4.1", "average latency is in proportion to the longest way", alike(each),
                     ", ".join(f"{value:.0f}" for value in each) + " ns a hop")
    flat_ones = [latency(cube, 0.1) / latency(cube, 0.02) for cube in CUBES]
    yield paper.says("4.1", "average latency does not rise at first (a tenth of what servers carry over a fiftieth)",
                     max(flat_ones) <= ALIKE, ", ".join(f"{value:.3f}" for value in flat_ones) + " times")
    for number, cube in zip("765", CUBES):
        calm, busy, saturated = curve_512() if number == "5" else (
            latency(cube, 0.02, "max"), latency(cube, 0.9, "max"),
            [results.application(curves()[cube, load][0])["saturated"] for load in (0.9, 1.05)])
        if calm is None:
            yield paper.says(f"4.1, Figure {number}", f"{cube}: maximum latency rises dramatically, and there is a saturation point",
                             None, reason="its longest way takes 1.4 ms: not run yet")
            continue
        yield paper.says(f"4.1, Figure {number}", f"{cube}: maximum latency rises dramatically, and there is a saturation point",
                         busy > SLIGHTLY * calm and saturated == [False, True],
                         f"{calm / 1000:.0f} to {busy / 1000:.0f} us; saturates between 0.9 and 1.05 of what servers carry")


def curve_512():
    """Figure 5, which takes too long for one core: maximum latency at 0.02 and 0.9 of capacity, saturation at 0.9 and 1.05."""
    found = {load: row for (name, _), row in threads().items() for load in ("0.02", "0.9", "1.05")
             if name == f"512^2 at {load} of capacity"}
    if len(found) < 3:
        return None, None, []
    return (float(found["0.02"]["max_latency"]), float(found["0.9"]["max_latency"]),
            [found[load]["saturated"] == "True" for load in ("0.9", "1.05")])


@functools.cache
def ping_pong():
    return of_sweep(PING_PONG.study(), "hops")


def ping_pong_figures(results):
    paper = Paper("torus.figure_8")
    times = {hops: results.application(one)["packet_latency"]["mean"] / 1000 for (hops,), (one,) in ping_pong().items()}
    yield paper.says("4.1, Figure 8", "ping-pong of 250 bytes: model and Blue Gene/L match at 8 hops better than at 2", None,
                     reason=f"the machine's latencies are drawn only; the model's are {times[2]:.2f} us over 2 hops and "
                     f"{times[8]:.2f} over 8: with the hop of Tables 1 and 2 it cannot be off by 2 us over 2 hops and by less over 8 "
                     "unless the machine takes 3 us over 2 hops and 18.7 or more over 8")
    yield paper.number("4.1", "2 hops: the model is off the machine by", "us", 2, None,
                       reason=f"the machine's latency is drawn only; the model takes {times[2]:.2f} us")


# ---- scaling -----------------------------------------------------------------------------------------------------


def heavy(rate):
    """A billion nodes, 32^6; long enough for queues of events as large as memory makes them."""
    return task(simulate, {"simulator": {"tick": "1ns"}, "model": {"type": "node", "widths": [32] * 6, "rate": rate,
                                                                   "warmup": f"{BEGUN}us", "sample": "10us"}})


def million(widths):
    """Sixteen million nodes at 10 packets/ms each."""
    return task(simulate, {"simulator": {"tick": "1ns"}, "model": {"type": "node", "widths": widths, "rate": 160,
                                                                   "warmup": "30us", "sample": "10us"}})


@functools.cache
def threads():
    """What torus_threads.py measured on a machine of 16 cores: {(study, threads): row}; empty if it was not run."""
    file = FOLDER / "torus_threads.csv"
    if not file.exists():
        return {}
    with open(file, newline="") as rows:
        return {(row["study"], int(row["threads"])): row for row in csv.DictReader(rows)}


def course(study, column, factor=1.0):
    """A column over the numbers of threads: "1: 5.1, 2: 9.9"; None where it was not run."""
    found = sorted((count, factor * float(row[column])) for (name, count), row in threads().items() if name == study)
    return ", ".join(f"{count}: {value:.4g}" for count, value in found) or None


def rate(results, one):
    found = results[one]["simulation"]
    return found["events"] / found["cpu_seconds"]


def scaling_figures(results):
    """What their processors gave; of ours what runs of the same tori on the threads of one machine measured, if they were made."""
    paper = Paper("torus.scaling")
    columns = {"efficiency": ("%", "efficiency", 100), "event rate": ("million/s", "events_per_second", 1e-6),
               "remote events": ("%", "remote_share", 100), "secondary rollbacks": ("%", "secondary_rollbacks", 100)}
    for table, (packets, rows) in SCALING.items():
        for processors, theirs in rows.items():
            what = f"32^6 at {packets} packets/ns, {processors:,} processors"
            ours = threads().get((f"32^6 at {packets}", processors // 1024))
            if table != "Table 5":
                made, total = {200: (40, 5644), 400: (80, 11442)}[packets]
                yield paper.number(table, f"{what}: packets", "10^9", made, None, "machine")
                yield paper.number(table, f"{what}: events", "10^9", total, None, "machine")
            for (name, (unit, column, factor)), printed in zip(columns.items(), (*theirs[:3], theirs[3] / 1000)):
                value = ours and factor * float(ours[column]) / (float(ours["events"]) if name == "secondary rollbacks" else 1)
                yield paper.number(table, f"{what}: {name}", unit, printed, value, "machine",
                                   reason=f"ours: {processors // 1024} threads, 20 us simulated" if ours else "")
    for where, what, column, factor in (
            ("4.2, Figure 9", "16 million nodes: 4.78 G events/s on 32,768 cores", "events_per_second", 1e-6),
            ("4.2, Figure 9", "16 million nodes: near-linear speedup from 1,024 to 32,768 cores", "wall_seconds", 1),
            ("4.2, Figure 10", "16 million nodes: efficiency below 90 % at 32,768 cores", "efficiency", 100),
            ("4.2, Figure 11", "16 million nodes: remote events rise with cores", "remote_share", 100),
            ("4.2, Figure 12", "16 million nodes: secondary rollbacks rise with cores", "secondary_rollbacks", 1)):
        found = course("8^8 at 160, hop 2658", column, factor)
        unit = {"events_per_second": "million/s", "wall_seconds": "s", "secondary_rollbacks": "rollbacks"}.get(column, "%")
        yield paper.number(where, what, "", "so", found and f"{found} {unit}", "machine",
                           reason=f"by threads; with a hop of 50 ns at 4 packets/ns {course('8^8 at 4, hop 50', column, factor)}"
                           if found else "")
    found = results[tables()["8^8 at 4",][0]]
    yield paper.says("4.2", "16 million nodes: a steady state within 10 ms",
                     found["model"]["packets_in_flight"]["agree"] and found["simulation"]["end_tick"] < 10e6,
                     "Little's law holds between 0.09 and 0.29 ms")


def speed_figures(results):
    make = maker("torus.speed")
    for table, (packets, rows) in SCALING.items():
        processors, (_, events, _, _) = max(rows.items(), key=lambda item: item[1][1] / item[0])
        yield make(table, f"32^6 at {packets} packets/ns, best of {len(rows)}, {processors:,} processors: events a core",
                   "events/s", 1e6 * events / processors, rate(results, heavy(packets)), "at least")
    yield make("4.2, Figure 9", "16 million nodes, 160 packets/ns: 4.78 G events/s on 32,768 cores, per core", "events/s",
               4.78e9 / 32768, rate(results, million([8] * 8)), "at least")
    yield make("4.3", "a billion nodes: total memory, 2 TB", "MiB", 2 * 2 ** 20,
               results[heavy(400)]["simulation"]["peak_rss_bytes"] / 2 ** 20, "at most")


def scaling_tasks():
    return [tables()["8^8 at 4",][0]]


GROUPS = [
    Group("torus.tables_1_and_2", "papers", "ROSS torus: Little's law on 16 million and a billion nodes (Tables 1 and 2)",
          "By kind; all latencies are those of the steady state.", "./dev reproduce torus tables_1_and_2",
          lambda: flat(tables()), table_figures),
    Group("torus.figures_5_to_7", "papers", "ROSS torus: latency curves", "By kind.", "./dev reproduce torus figures_5_to_7",
          lambda: flat(curves()) + [opposite(cube) for cube in CUBES], curve_figures),
    Group("torus.figure_8", "papers", "ROSS torus: ping-pong", "By kind.", "./dev reproduce torus figure_8",
          lambda: flat(ping_pong()), ping_pong_figures),
    Group("torus.scaling", "papers", "ROSS torus: scaling (Tables 3 to 5, Figures 9 to 12)", "By kind; not judged.",
          "./dev reproduce torus tables_3_to_5", scaling_tasks, scaling_figures),
    Group("torus.speed", "speed", "ROSS torus: events of a core",
          "At least as many (ours does in one event what takes three there), no more memory.",
          "docs/validation/measure.py torus.speed",
          lambda: [*(heavy(packets) for packets, _ in SCALING.values()), million([8] * 8)], speed_figures),
]

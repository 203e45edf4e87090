# SPDX-License-Identifier: Apache-2.0
"""Our numbers beside those of another simulator: draws configurations of the peer, runs the peer's program, imports the same
file, runs ours, and writes a table.

    ./dev compare PEER [--count N] [--seed N] [--jobs N] [--out TABLE.csv] [--only NAME ...] [--record | --recorded]

PEER is a module of this folder: booksim, supersim, simured; $BOOKSIM, $SUPERSIM, $SIMURED name its program. A module has

    NAME, FILE              whose files these are (flitwarp import --from NAME), and what the file is called
    TOLERANCE               share by which a figure that is judged may differ; 0: exact
    draw(random)            a configuration, as what JSON can hold
    write(config, load, folder)         writes FILE, and what else the run needs
    figures(folder)         runs the program on them: ({what: figure}, CPU seconds); raises Refused where it wants no such thing
    glimpse(folder)         the same by a short run, where `figures` takes many: optional, to find the loads to compare at
    our_figures(results)    the same out of our results
    compared(config, theirs, ours)      rows (see `row`); without it `by_load` below, which needs these figures: packet_latency,
                            network_latency, hops, accepted
    cause(config)           why a configuration is known to differ, "" when it is not; optional
    seeds(name)             of ours for a configuration, whose mean is compared; without it SEEDS below
    is_settled(values)      are the first of them enough, to go by what they gave for the figure that is judged? optional

Four verdicts: holds; noise: beyond the tolerance, but within two standard errors of the means, which counts as not holding;
differs; and decisive: the import itself says that something decisive is not carried over, which counts as not holding whatever the
figures. What the peer refuses is drawn again, and listed. --record keeps configurations, the peer's figures and the verdicts in
PEER.jsonl of this folder, where tests/contract/test_compare.py finds them; --recorded takes those configurations and figures and runs
ours alone.
"""
import argparse
import csv
import importlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from programs import Failed, Refused  # noqa: E402

PROGRAM = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))

# Fixed before the first comparison.
FULL = 1.0
PARTS = (0.25, 0.5, 0.75)  # of the peer's saturation, at which latencies are compared
STEEP = 3                  # latency at the last of PARTS above so many times that at the first: saturation lies lower
SEEDS = (1, 2, 3)          # of ours, whose mean is compared: a peer runs once
REDRAWN = 20               # times, until something is taken
COLUMNS = ("name", "load", "what", "theirs", "ours", "deviation", "judged", "error", "their_cpu", "our_cpu")


# ---- one configuration -----------------------------------------------------------------------------------------------------------

class Theirs:
    """The peer's figures at a load: recorded ones, or those of a run now."""

    def __init__(self, peer, config, folder, recorded=None):
        self.peer, self.config, self.folder, self.recorded, self.points = peer, config, folder, recorded, []

    def __call__(self, load, glimpse=False):
        glimpse = glimpse and hasattr(self.peer, "glimpse")
        for point in self.recorded or self.points:
            if point["load"] == load and (glimpse or not point.get("glimpse")):
                return point["figures"], point["cpu"]
        if self.recorded is not None:
            raise Failed(f"nothing is recorded at load {load}")
        self.peer.write(self.config, load, self.folder)
        figures, cpu = (self.peer.glimpse if glimpse else self.peer.figures)(self.folder)
        self.points.append({"load": load, "figures": figures, "cpu": round(cpu, 3)} | ({"glimpse": True} if glimpse else {}))
        return figures, cpu

    def recorded_loads(self):
        """Below full load, where they stand apart from those that were only glimpsed at: saturation may be known better since."""
        if self.recorded and hasattr(self.peer, "glimpse"):
            return sorted(point["load"] for point in self.recorded if point["load"] != FULL and not point.get("glimpse"))
        return []


class Ours:
    """Figures of our runs of the peer's file at a load; what the import called decisive gathers in `decisive`."""

    def __init__(self, peer, config, folder, seeds=SEEDS):
        self.peer, self.config, self.folder, self.seeds, self.decisive = peer, config, folder, seeds, []

    def imported(self, load):
        self.peer.write(self.config, load, self.folder)
        ours = Path(self.folder) / "ours.json"
        ended = subprocess.run([PROGRAM, "import", self.peer.FILE, "--from", self.peer.NAME, "-o", ours], cwd=self.folder, capture_output=True,
                               text=True, check=False)
        if ended.returncode:
            raise Failed(f"import: {ended.stderr.strip()}")
        for line in ended.stderr.splitlines():
            words = line.removesuffix(" [decisive]").partition(": ")[2]
            if line.endswith(" [decisive]") and words not in self.decisive:
                self.decisive.append(words)
        return ours

    def __call__(self, load, overrides=()):
        """`overrides`: settings beyond what the import says."""
        path = self.imported(load)
        found, cpu = [], 0
        judged = "accepted" if load == FULL else "packet_latency"
        for seed in self.seeds:
            if hasattr(self.peer, "is_settled") and self.peer.is_settled([one[judged] for one in found]):
                break
            ended = subprocess.run([PROGRAM, "run", path, "--quiet", f"simulator.seed={seed}", *overrides], capture_output=True,
                                   text=True, check=False)
            if ended.returncode:  # also a deadlock
                first_line = ended.stderr.strip().partition("\n")[0]
                raise Failed(f"ours at load {load} with seed {seed}: {first_line}")
            results = json.loads(ended.stdout)
            found.append(self.peer.our_figures(results))
            cpu += results["simulation"]["cpu_seconds"]
        values = [one.get(judged) for one in found]
        error = {} if None in values else {"error": error_of(values)}
        return {what: mean([one[what] for one in found]) for what in found[0]} | error, cpu / len(found)


def mean(values):
    return None if None in values else sum(values) / len(values)


def error_of(values):
    """The standard error of their mean, as a share of it."""
    return statistics.stdev(values) / len(values) ** 0.5 / statistics.fmean(values) if len(values) > 1 and any(values) else 0.0


# Of Student's distribution, 95 % of it within plus and minus so much: for 2 values, 3 and so on.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def half_width(values):
    """Of the interval that holds the mean of all with 95 % confidence, as a share of their mean."""
    freedom = len(values) - 1
    return error_of(values) * (STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96 + 2.5 / freedom)


def row(load, what, theirs, ours, judged, cpus=(None, None), error=0.0):
    """A figure of both; `judged`: it decides whether the configuration holds. `error`: of their deviation, where it is known."""
    deviation = None if theirs is None or ours is None else (ours - theirs) / theirs if theirs else 0.0 if theirs == ours else float("inf")
    return {"load": load, "what": what, "theirs": theirs, "ours": ours, "deviation": deviation, "judged": judged, "error": error,
            "their_cpu": cpus[0], "our_cpu": cpus[1]}


def parts_of_saturation(theirs):
    """Loads below 80 % of the peer's saturation: that is what it accepts at full load, or less where a few flows are the first to
    wait without end, which the mean latency tells."""
    saturation = theirs(FULL)[0]["accepted"]
    while True:
        loads = [round(part * saturation, 4) for part in PARTS]
        low, high = (theirs(load, glimpse=True)[0]["packet_latency"] for load in (loads[0], loads[-1]))
        if high <= STEEP * low:
            return loads
        saturation *= PARTS[-1]
        if saturation < 0.01:
            raise Refused("saturated at any load")


def by_load(_config, theirs, ours):
    """Saturation: what is accepted at full load; and at loads below it latencies, which are judged too, hops and accepted load."""
    figures, their_cpu = theirs(FULL)
    if not figures["accepted"]:
        raise Refused("nothing arrives at full load: a deadlock")
    loads = theirs.recorded_loads() or parts_of_saturation(theirs)
    found, our_cpu = ours(FULL)
    rows = [row(FULL, "saturation", figures["accepted"], found["accepted"], True, (their_cpu, our_cpu), error_between(figures, found))]
    for load in loads:
        (figures, their_cpu), (found, our_cpu) = theirs(load), ours(load)
        error = error_between(figures, found)
        rows += [row(load, what, figures[what], found[what], what.endswith("latency"), (their_cpu, our_cpu), error)
                 for what in ("packet_latency", "network_latency", "hops", "accepted")]
    return rows


def error_between(theirs, ours):
    return math.hypot(theirs["error"], ours.get("error", 0.0)) if "error" in theirs else 0.0


def holds(peer, rows, errors=0):
    """Is every figure that is judged within the tolerance, or within so many standard errors of its deviation?"""
    return all(one["deviation"] is not None and abs(one["deviation"]) <= max(peer.TOLERANCE, errors * one["error"]) for one in rows if one["judged"])


def judge(peer, name, config, recorded=None, seeds=None):
    """A record of a configuration: what was found, the verdict and its cause. Raises Refused."""
    with tempfile.TemporaryDirectory(prefix="flitwarp-compare-") as folder:
        seeds = seeds or (peer.seeds(name) if hasattr(peer, "seeds") else SEEDS)
        theirs, ours = Theirs(peer, config, folder, recorded), Ours(peer, config, folder, seeds)
        failure, rows = "", []
        try:
            rows = getattr(peer, "compared", by_load)(config, theirs, ours)
        except Failed as failed:
            failure = str(failed)
    known = peer.cause(config) if hasattr(peer, "cause") else ""
    if ours.decisive:
        verdict, cause = "decisive", "; ".join(ours.decisive)
    elif rows and holds(peer, rows):
        verdict, cause = "holds", ""
    elif rows and holds(peer, rows, errors=2):
        verdict, cause = "noise", "within two standard errors of what so many seeds give: it may hold or not"
    else:
        verdict, cause = "differs", failure or known or "not found yet"
    return {"name": name, "config": config, "points": recorded or theirs.points, "rows": rows, "verdict": verdict, "cause": cause}


# ---- many of them ----------------------------------------------------------------------------------------------------------------

def judge_drawn(peer, seed, number):
    """(a record, what the peer refused before it)"""
    refused = []
    for attempt in range(REDRAWN):
        config = peer.draw(random.Random(f"{peer.NAME} {seed} {number} {attempt}"))
        try:
            return judge(peer, f"{seed}.{number}", config), refused
        except Refused as why:
            refused.append({"name": f"{seed}.{number}", "config": config, "verdict": "refused", "cause": str(why)})
    raise SystemExit(f"{peer.NAME} refused {REDRAWN} draws in a row: {refused[-1]['cause']}")


def recorded_of(peer):
    path = HERE / f"{peer.NAME}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tell(record):
    print(f"{record['name']}: {record['verdict']}: {record['cause']}".rstrip(": "), flush=True)
    if record["verdict"] != "holds":
        print(f"    {record['config']}")
        for one in record["rows"]:
            if one["deviation"] is not None:
                print(f"    {one['what']} at {one['load']}: {one['theirs']:.5g} theirs, {one['ours']:.5g} ours, {100 * one['deviation']:+.2f} %")
        sys.stdout.flush()


def kept(record):
    """Of the rows what is judged."""
    small = {key: record[key] for key in ("name", "config", "points", "verdict", "cause") if key in record}
    if "rows" in record:
        judged = [one for one in record["rows"] if one["judged"] and one["deviation"] is not None]
        small["ours"] = {f"{one['what']} at {one['load']:g}": float(f"{one['ours']:.5g}") for one in judged}
        small["worst"] = max((abs(one["deviation"]) for one in judged), default=None)
    return small


def keep(peer, records):
    with open(HERE / f"{peer.NAME}.jsonl", "w") as file:
        file.writelines(json.dumps(kept(one)) + "\n" for one in records)


def main():
    parser = argparse.ArgumentParser(prog="./dev compare", description=__doc__.split("\n\n")[0])
    parser.add_argument("peer", choices=["booksim", "supersim", "simured"])
    parser.add_argument("--count", type=int, default=300, help="configurations")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", default="compare.csv", help="table of all figures")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="only those of these names: SEED.NUMBER")
    kept_ones = parser.add_mutually_exclusive_group()
    kept_ones.add_argument("--record", action="store_true", help="keep them in the repository, instead of those that are there")
    kept_ones.add_argument("--recorded", action="store_true", help="those that are kept, without the peer")
    asked = parser.parse_args()
    if asked.record and asked.only:
        parser.error("--record keeps all configurations of a draw, --only leaves some out; accepted: one of them")
    peer = importlib.import_module(f"peer_{asked.peer}")
    if asked.recorded:
        cases = [case for case in recorded_of(peer) if case["verdict"] != "refused" and (not asked.only or case["name"] in asked.only)]
        refused = [case for case in recorded_of(peer) if case["verdict"] == "refused" and (not asked.only or case["name"] in asked.only)]
        work = lambda case: (judge(peer, case["name"], case["config"], case["points"]), [])  # noqa: E731
    else:
        cases = [number for number in range(asked.count) if not asked.only or f"{asked.seed}.{number}" in asked.only]
        refused = []
        work = lambda number: judge_drawn(peer, asked.seed, number)  # noqa: E731
    records = []
    with ThreadPoolExecutor(asked.jobs) as pool, open(asked.out, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for record, before in pool.map(work, cases):
            records.append(record)
            refused += before
            writer.writerows({"name": record["name"], **one} for one in record["rows"])
            file.flush()
            tell(record)
            if asked.record:
                keep(peer, records + refused)
    for one in refused:
        print(f"{one['name']}: refused by {peer.NAME}, drawn again: {one['cause'][:200]}")
    count = {verdict: sum(record["verdict"] == verdict for record in records) for verdict in ("holds", "noise", "differs", "decisive")}
    print(f"{count['holds']} of {len(records)} hold ({100 * count['holds'] / max(1, len(records)):.1f} %), {count['noise']} are off within noise, "
          f"{count['differs']} differ, {count['decisive']} are called decisive by the import; {len(refused)} draws refused by {peer.NAME}")


if __name__ == "__main__":
    main()

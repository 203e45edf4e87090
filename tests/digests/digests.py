# SPDX-License-Identifier: Apache-2.0
"""What runs gave when it was last written down: digest, events and a hash of all else that they say, of every example and
of small drawn configurations (drawn.jsonl). Results must not change unnoticed:

    ./dev digests             compares, in every way of running
    ./dev digests --record    writes recorded.csv again, where results have changed on purpose
    ./dev digests --draw      draws configurations for components that none has yet, and records

The hash is of the results without times and sizes in memory, of all logs and of standard error: what differs between two
machines or two ways of running is not in it. Needs nothing but Python and the program: ./dev mutate uses it too.
"""
import argparse
import csv
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
DRAWN, RECORDED = HERE / "drawn.jsonl", HERE / "recorded.csv"
OF_THE_RUN = ("cpu_seconds", "wall_seconds", "peak_rss_bytes", "bytes_per_router", "sync")
LOGS = ("log", "message-log", "traffic-log", "rate-log", "channel-log")
WAYS = {
    "conservative": ["--sync", "conservative", "--threads", "2"],
    "optimistic": ["--sync", "optimistic", "--threads", "2", "simulator.window=40"],
    "reversal": ["--sync", "optimistic", "--check-reversal"],
}
# Files that drawn configurations name; they lie beside them.
BESIDE = {
    "network.txt": "router 0 node 0 node 3 2 router 1 4 router 2\nrouter 1 node 1 router 2 router 2 3\n"
                   "router 3 node 2 router 2\nrouter 2 router 1 2\n",
    "links.csv": "router,router\n1,4\n2,5,2\n",
    "dissemination.goal": "num_ranks 3\nrank 0 {\na: calc 100\nb: send 70000b to 2 tag 1\nb requires a\n}\n"
                          "rank 1 {\nsend 8b to 2 tag 2\n}\nrank 2 {\nrecv 8b from -1 tag 2\nrecv 70000b from -1 tag -1\n}\n",
}
# Little work of different kinds for models of processes: ties, no lookahead, long delays, processes that hardly talk.
MODELS = {
    "ties": {"type": "phold", "processes": 64, "events": 4, "lookahead": 1, "mean_delay": 2, "end": 150, "remote": 0.5},
    "no_lookahead": {"type": "phold", "processes": 50, "events": 3, "lookahead": 0, "mean_delay": 5, "end": 200, "remote": 1},
    "long_delays": {"type": "phold", "processes": 77, "lookahead": 5000, "mean_delay": 1000000, "end": 12000000},
    "few_remote": {"type": "phold", "processes": 500, "lookahead": 10, "mean_delay": 1000, "end": 8000, "remote": 0.02},
    "few_processes": {"type": "phold", "processes": 3, "lookahead": 10, "mean_delay": 100, "end": 8000},
    "node": {"type": "node", "widths": [4, 4, 3], "rate": 1, "warmup": 500, "sample": 3000},
}
MODEL_WAYS = {
    "conservative": ["--sync", "conservative", "--threads", "3"],
    "optimistic": ["--sync", "optimistic", "--threads", "3"],
    "tiny_window": ["--sync", "optimistic", "--threads", "2", "simulator.window=1"],
    "one_partition": ["--sync", "optimistic", "simulator.partitions=1", "simulator.window=50"],
    "reversal": ["--sync", "optimistic", "--check-reversal"],
}
# What is asked of a packet log, each after the words `parse packets.csv`.
QUESTIONS = [
    [], ["--json"], ["--of", "messages"], ["--of", "transactions", "--json"], ["+src=0,3-5", "-hops=2-", "--csv", "-"],
    ["+nonminimal", "--json"], ["-latency=-20", "+size=1-3", "--distribution", "-"], ["--matrix", "-"],
    ["--series", "-", "--interval", "50"], ["+send=150-300", "--of", "messages", "--csv", "-"],
    ["-app=1", "+network_latency=5-", "--of", "transactions", "--csv", "-"], ["+recv=200-", "-dst=1", "--json"],
]


class Case:
    """Commands that run one after the other in a folder of their own, which holds `files`; $ROOT stands for the tree."""

    def __init__(self, name, commands, files=None, row=None):
        self.name, self.commands, self.files = name, commands, files or {}
        self.row = row or name  # whose recorded results it must give


def run_command(config, *arguments, logs=True):
    wanted = [word for name in LOGS for word in (f"--{name}", f"{name}.csv")] + ["--rate-interval", "50"] if logs else []
    return ["run", config, "--quiet", "--results", "results.json", *wanted, *arguments]


def shorter(program, example):
    """Overrides for an example's windows."""
    shown = subprocess.run([program, "settings", example], capture_output=True, text=True, check=True).stdout
    few = {"warmup": 300, "sample": 600, "min_sample": 300, "max_sample": 600, "delay": 0, "messages": 20, "iterations": 2}
    config = json.loads(shown)["config"]
    return [f"workload.applications.{i}.{key}={value}"
            for i, application in enumerate(config.get("workload", {}).get("applications", []))
            for key, value in few.items() if application.get(key, "auto") not in (0, "auto")]


def example_cases(program):
    for path in sorted([*ROOT.glob("examples/*.json"), *ROOT.glob("examples/view/*.json"), *ROOT.glob("bench/short/*.json")]):
        name = str(path.relative_to(ROOT))
        few = shorter(program, path) if name.startswith("examples") else []
        is_network = "phold" not in name
        yield Case(name, [run_command(f"$ROOT/{name}", *few, logs=is_network)])


def drawn_configs():
    return [json.loads(line) for line in DRAWN.read_text().splitlines()] if DRAWN.exists() else []


def drawn_cases():
    for config in drawn_configs():
        name, way = config.pop("name"), config.pop("way")
        files = {"config.json": json.dumps(config), **BESIDE}
        yield Case(name, [run_command("config.json")], files)
        if way:
            yield Case(f"{name} {way}", [run_command("config.json", *WAYS[way])], files, name)


def model_cases():
    for name, model in MODELS.items():
        files = {"config.json": json.dumps({"simulator": {"seed": 3}, "model": model})}
        yield Case(f"model {name}", [run_command("config.json", logs=False)], files)
        for way, words in MODEL_WAYS.items():
            if not (name == "no_lookahead" and way == "conservative"):
                yield Case(f"model {name} {way}", [run_command("config.json", *words, logs=False)], files, f"model {name}")


def log_cases():
    """Logs of a run with detours, replies and two applications, and what parse says of them."""
    overrides = ["workload.applications.0.load=0.2", "workload.applications.0.warmup=100", "workload.applications.0.sample=200",
                 "workload.applications.0.size={\"type\": \"uniform\", \"max\": 5}", "workload.applications.0.max_packet=2",
                 "workload.applications.0.reply={\"type\": \"fixed\", \"flits\": 2}"]
    written = ["run", "$ROOT/examples/dragonfly_ugal.json", *overrides, "--quiet", "--results", "results.json", "--log", "packets.csv"]
    yield Case("parse", [written, *(["parse", "packets.csv", *words] for words in QUESTIONS)])
    yield Case("parse compressed", [[*written[:-1], "packets.csv.zst", "--message-log", "messages.csv.zst"],
                                    ["parse", "packets.csv.zst", "--csv", "-"], ["parse", "packets.csv.zst", "+src=2", "--json"]])
    yield Case("baseline", [["run", "$ROOT/examples/many_jobs.json", "--quiet", "--baseline", "--results", "results.json"]])


def schema_cases():
    yield Case("schema", [["schema"]])


def all_cases(program):
    return [*schema_cases(), *model_cases(), *drawn_cases(), *log_cases(), *example_cases(program)]


# ---- running ---------------------------------------------------------------------------------------------------------------------

def without(value, keys):
    """A document without what it has under some keys, however deep."""
    if isinstance(value, dict):
        return {key: without(one, keys) for key, one in value.items() if key not in keys}
    return [without(one, keys) for one in value] if isinstance(value, list) else value


def settled(text):
    """Results as text without what no two runs share; other text as it is."""
    try:
        document = json.loads(text)
    except ValueError:
        return text
    if isinstance(document, dict):
        document = without(document, {"description"} if "$defs" in document else {*OF_THE_RUN, "flitwarp"})
        if isinstance(document.get("config"), dict):
            document["config"].pop("simulator", None)
    return json.dumps(document, sort_keys=True)


class Limits:
    """Of a command: CPU seconds, and seconds by the clock for those that wait for ever."""

    def __init__(self, cpu=60, wall=120, memory=None):
        self.cpu, self.wall, self.memory = cpu, wall, memory

    def set(self):
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu, self.cpu + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))


def outcome(program, case, limits=None, environment=None):
    """[status, digest, events, hash] of a case's commands; a status below zero: ended by a signal, or by the clock."""
    limits = limits or Limits()
    status, digest, events, said = 0, "", "", []
    with tempfile.TemporaryDirectory(prefix="flitwarp-digest-") as folder:
        for name, text in case.files.items():
            (Path(folder) / name).write_text(text)
        for command in case.commands:
            words = [str(program), *(word.replace("$ROOT", str(ROOT)) for word in command)]
            try:
                ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=limits.wall,
                                       check=False, preexec_fn=limits.set if limits.memory else None, env=environment)
            except subprocess.TimeoutExpired:
                return ["-99", "", "", "too long"]
            if ended.returncode < 0 or ended.returncode == 3:  # a broken invariant, or a crash
                return [str(ended.returncode), "", "", ended.stderr[-400:]]
            status = max(status, ended.returncode)
            said += [settled(ended.stdout), ended.stderr.replace(folder, ".").replace(str(ROOT), "$ROOT")]
        results = Path(folder) / "results.json"
        if results.exists():
            try:
                simulation = json.loads(results.read_text())["simulation"]
                digest, events = simulation.get("digest", ""), str(simulation["events"])
            except (ValueError, KeyError):
                return [str(status), "", "", "no results"]
        for path in sorted(Path(folder).iterdir()):
            if path.name not in case.files:
                said += [path.name, settled(path.read_text()) if path.suffix in (".json", ".csv") else path.read_bytes().hex()]
    return [str(status), digest, events, hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]]


def recorded():
    if not RECORDED.exists():
        return {}
    with open(RECORDED, newline="") as file:
        return {row[0]: row[1:] for row in list(csv.reader(file))[1:]}


def differences(program, cases):
    """What differs from what was recorded, a line each."""
    known = recorded()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: outcome(program, case), cases))
    for case, now in zip(cases, found):
        then = known.get(case.row)
        if then is None:
            yield f"{case.name}: not recorded yet: ./dev digests --record"
        elif then != now:
            words = [f"{what} {a} -> {b}" for what, a, b in zip(("status", "digest", "events", "results"), then, now) if a != b]
            yield f"{case.name}: {', '.join(words)}"


def record(program, cases):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        plain = [case for case in cases if case.row == case.name]
        found = list(pool.map(lambda case: outcome(program, case), plain))
    with open(RECORDED, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "status", "digest", "events", "results"])
        writer.writerows([case.name, *now] for case, now in zip(plain, found))
    return len(plain)


def main():
    parser = argparse.ArgumentParser(prog="./dev digests", description=__doc__.split("\n\n")[0])
    parser.add_argument("--record", action="store_true", help="write down what runs give now")
    parser.add_argument("--draw", action="store_true", help="draw configurations for what has none yet, and record")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only cases whose name contains one of these")
    asked = parser.parse_args()
    program = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
    if asked.draw:
        import draw
        print(f"{draw.add_missing()} configurations drawn")
    cases = all_cases(program)
    if asked.record or asked.draw:
        print(f"{record(program, cases)} recorded in {RECORDED.relative_to(ROOT)}")
        cases = [case for case in cases if case.row != case.name]
    cases = [case for case in cases if not asked.words or any(word in case.name for word in asked.words)]
    found = list(differences(program, cases))
    print("\n".join([*found, f"{len(cases)} runs compared, {len(found)} differ"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

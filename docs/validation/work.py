# SPDX-License-Identifier: Apache-2.0
"""Runs that the figures of the validation table are made of: what is run, once each, and kept in a folder.

A task is the name of a function below and its arguments, so that it can be written down, carried to a larger machine and
run there: `work.py TASKS.json FOLDER` runs those of a file that `measure.py --list` wrote.
"""
import csv
import functools
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
sys.path[:0] = [str(ROOT / "examples" / "papers" / "simured" / "common")]
import simured  # noqa: E402


def flitwarp(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)


def without_distributions(found):
    """Results as short as they can be kept."""
    if isinstance(found, dict):
        return {key: without_distributions(value) for key, value in found.items()
                if key not in ("config", "distribution", "latency_distribution", "hop_distribution", "series")}
    return [without_distributions(value) for value in found] if isinstance(found, list) else found


def mean(values):
    values = list(values)
    return sum(values) / len(values)


# ---- what a task may be ------------------------------------------------------------------------------------------


def simulate(config, log=False, sync=()):
    """Results of a configuration, and with `log` the means that only the log of packets has."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "config.json").write_text(json.dumps(config))
        words = ["run", place / "config.json", "--quiet", "--results", place / "results.json", *sync]
        done = flitwarp(*words, *(["--log", place / "packets.csv"] if log else []))
        if not (place / "results.json").exists():
            raise RuntimeError(done.stderr)
        full = json.loads((place / "results.json").read_text())
        found = without_distributions(full)
        found["hop_variance"] = [variance(one.get("hop_distribution", [])) for one in full.get("applications", [])]
        if full["applications"] and "series" in full["applications"][0]:
            found["course"] = full["applications"][0]["series"]["packet_latency"]
        if log:
            with open(place / "packets.csv") as file:
                rows = [{key: int(row[key]) for key in ("injected", "head_arrived", "tail_arrived", "hops")}
                        for row in csv.DictReader(file)]
            found["log"] = rows
        return found


def variance(distribution):
    count = sum(number for _, number in distribution)
    if not count:
        return 0
    middle = sum(value * number for value, number in distribution) / count
    return sum(number * (value - middle) ** 2 for value, number in distribution) / count


def simured_point(network, routing, channels, load, seed, packets=20000, warmup=2000):
    """Section 6 of SimuRed's paper with packets made as SimuRed makes them: means of those that arrive after the first ones."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "packets.trc"
        simured.write_trace(trace, 64, load, packets + warmup, seed)
        config = {"network": simured.network_of(simured.NETWORKS[network], simured.ROUTINGS[routing], 2, channels, 4),
                  "workload": {"applications": [{"type": "trace", "file": str(trace), "format": "simured"}]}}
        found = simulate(config, log=True)
    arrived = sorted(found["log"], key=lambda packet: packet["tail_arrived"])[warmup:]
    return {"packet": simured.in_cycles(mean(p["tail_arrived"] - p["injected"] for p in arrived)),
            "head": simured.in_cycles(mean(p["head_arrived"] - p["injected"] for p in arrived)),
            "hops": mean(p["hops"] for p in arrived), "outcome": found["outcome"]}


def simured_heads(config, warmup=500):
    """Figure 5 of SimuRed's paper: the head latency of packets, and what is carried, after the first ones."""
    found = simulate(config, log=True)
    arrived = sorted(found["log"], key=lambda packet: packet["tail_arrived"])[warmup:]
    return {"head": mean(p["head_arrived"] - p["injected"] for p in arrived) - 1,
            "accepted": found["applications"][0]["accepted_load"]}


def simured_speed(widths, packets, seed=1):
    """Figure 6: so many packets of 32 flits at 0.3 flits a node and cycle on a mesh."""
    nodes = 1
    for width in widths:
        nodes *= width
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "packets.trc"
        simured.write_trace(trace, nodes, 0.3, packets, seed, ticks=1)
        return simulate({"network": simured.network_of({"type": "mesh", "widths": widths}, ticks=1),
                         "workload": {"applications": [{"type": "trace", "file": str(trace), "format": "simured"}]}})


def replay(config, lines):
    """A configuration with a trace of its own: {"$trace"} stands for the file's name."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "packets.trc"
        trace.write_text("".join(line + "\n" for line in lines))
        return simulate(json.loads(json.dumps(config).replace("$trace", str(trace))), log=True)


def topology(config, prices=None):
    """What `flitwarp topology` counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(config))
        words = []
        if prices:
            (Path(folder) / "prices.json").write_text(json.dumps(prices))
            words = ["--prices", Path(folder) / "prices.json"]
        done = flitwarp("topology", file, *words, "--json")
        if done.returncode:
            raise RuntimeError(done.stderr)
        return without_distributions(json.loads(done.stdout)["networks"][0])


def instructions(benchmark):
    """Of a hop, counted by callgrind as `./dev bench --instructions` does."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        subprocess.run([sys.executable, ROOT / "bench" / "bench.py", "--instructions", "--json", file, benchmark], check=True,
                       env={**os.environ, "FLITWARP": PROGRAM}, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())["benchmarks"][benchmark]["instructions_per_hop"]


# ---- where configurations come from --------------------------------------------------------------------------------


@functools.cache
def settings_text(file, overrides):
    done = flitwarp("settings", file, *overrides)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def settings(file, *overrides):
    """A configuration file with all its settings."""
    return json.loads(settings_text(str(file), overrides))["config"]


def of_sweep(sweep, *names, **named):
    """The runs of a study of examples/papers as lists of tasks, one for each seed, by the values of the variables named."""
    with tempfile.TemporaryDirectory() as folder:
        sweep.out = Path(folder)
        found = {}
        for values, _, config in sweep.planned():
            found.setdefault(tuple(values[name] for name in names), []).append(task(simulate, config, **named))
        return found


def flat(found):
    """All tasks of such runs."""
    return [one for tasks in found.values() for one in tasks]


def study(paper, name):
    """A script of examples/papers as a module."""
    path = ROOT / "examples" / "papers" / paper / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- running them ------------------------------------------------------------------------------------------------


def task(function, *arguments, **named):
    """A task as it is written down."""
    return [function.__name__, list(arguments), named]


def key_of(one):
    return hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:24]


def run_task(one):
    name, arguments, named = one
    return globals()[name](*arguments, **named)


def kept(folder, one):
    file = Path(folder) / f"{key_of(one)}.json"
    return json.loads(file.read_text()) if file.exists() else None


def run_all(tasks, folder, processes=None, say=lambda text: None):
    """Results of all tasks; those that the folder has are not run again. {key: result}"""
    Path(folder).mkdir(parents=True, exist_ok=True)
    tasks = {key_of(one): one for one in tasks}
    found = {key: result for key, one in tasks.items() if (result := kept(folder, one)) is not None}
    missing = {key: one for key, one in tasks.items() if key not in found}
    with ProcessPoolExecutor(processes or os.cpu_count()) as pool:
        running = {pool.submit(run_task, one): key for key, one in missing.items()}
        for number, future in enumerate(as_completed(running), 1):
            key = running[future]
            try:
                found[key] = future.result()
            except Exception as error:  # pylint: disable=broad-exception-caught  # the others go on
                say(f"failed: {str(missing[key])[:300]}: {error!r}")
                continue
            part = Path(folder) / f"{key}.part"
            part.write_text(json.dumps(found[key]))
            part.rename(Path(folder) / f"{key}.json")
            if number % 50 == 0 or number == len(missing):
                say(f"{number} of {len(missing)}")
    return found


if __name__ == "__main__":
    run_all(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], say=lambda text: print(text, flush=True))

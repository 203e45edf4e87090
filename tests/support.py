# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole runs share: starting the program, short forms of configurations, reference tables.

The program is $FLITWARP, or build/flitwarp of this tree. The reference tables lie in $FLITWARP_SHARED, or in
shared/ beside the tree; tests that need them are skipped where they are absent.
"""
import collections
import contextlib
import copy
import csv
import functools
import gzip
import importlib.util
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
SHARED = Path(os.environ.get("FLITWARP_SHARED", ROOT.parent / "shared"))
BOOKSIM = SHARED / "reference" / "booksim"
OF_THE_RUN = ("cpu_seconds", "wall_seconds", "peak_rss_bytes", "sync")  # what "simulation" has that no two runs share


class Failed(Exception):
    """The program ended with an error; `status` is its exit status."""

    def __init__(self, status, message):
        super().__init__(f"exit status {status}: {message}")
        self.status = status
        self.message = message


def set_path(config, path, value):
    """Sets one setting by its dotted path, as `flitwarp run CONFIG PATH=VALUE` does."""
    *parents, last = path.split(".")
    for key in parents:
        config = config[int(key)] if isinstance(config, list) else config.setdefault(key, {})
    if isinstance(config, list):
        config[int(last)] = value
    else:
        config[last] = value


def invoke(config, overrides=None, log=False, arguments=()):
    """Runs a configuration; returns the text of its results, and the packets of its log if asked for."""
    config = copy.deepcopy(config)
    for path, value in (overrides or {}).items():
        set_path(config, path, value)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "config.json").write_text(json.dumps(config))
        command = [PROGRAM, "run", str(place / "config.json"), "--results", str(place / "results.json"), "--quiet"]
        if log:
            command += ["--log", str(place / "packets.csv")]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.returncode, done.stderr.strip())
        packets = None
        if log:
            with open(place / "packets.csv") as file:
                packets = [{key: as_number(value) for key, value in row.items()} for row in csv.DictReader(file)]
        return (place / "results.json").read_text(), packets


def as_number(text):
    try:
        return int(text)
    except ValueError:
        return text


def run(config, **overrides):
    """Runs a configuration and returns its results. Overrides are paths with __ for the dots."""
    text, _ = invoke(config, {path.replace("__", "."): value for path, value in overrides.items()})
    return json.loads(text)


def run_logged(config, **overrides):
    """The same, with the list of packets."""
    text, packets = invoke(config, {path.replace("__", "."): value for path, value in overrides.items()}, log=True)
    return json.loads(text), packets


def run_all(configs):
    """Runs configurations side by side, as many at a time as there are processors; results in their order."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, configs))


def blast(load, traffic="uniform_random", flits=1, **more):
    return {"type": "blast", "load": load, "traffic": traffic, "size": {"type": "fixed", "flits": flits}, **more}


def network_of(topology, routing="dimension_order", router=None, channel=1, terminal_channel=1, **more):
    return {
        "topology": topology,
        "routing": routing,
        "router": {"type": "input_queued", **(router or {})},
        "channel": {"latency": channel} if isinstance(channel, int) else channel,
        "terminal_channel": {"latency": terminal_channel} if isinstance(terminal_channel, int) else terminal_channel,
        **more,
    }


def config_of(network, *applications, seed=1, **workload):
    return {"simulator": {"seed": seed}, "network": network, "workload": {"applications": list(applications), **workload}}


NO_LATENCY = {"routing_latency": 0, "vc_allocation_latency": 0, "switch_allocation_latency": 0,
              "crossbar_latency": 0, "credit_latency": 0}


# --- BookSim's tables -------------------------------------------------------------------------------------------

def booksim_settings(name):
    """A configuration of BookSim: {key: text}."""
    settings = {}
    for line in (BOOKSIM / f"{name}.cfg").read_text().splitlines():
        line = line.split("//")[0].strip().rstrip(";")
        if "=" in line:
            key, value = line.split("=")
            settings[key.strip()] = value.strip()
    return settings


def booksim_rows(name):
    """The rows of one table in order of load; the row SAT, at full load, has the offered load 0.999."""
    with open(BOOKSIM / f"{name}.csv") as file:
        rows = []
        for row in csv.DictReader(file):
            is_full = row["offered"] == "SAT"
            numbers = {key: float(value) for key, value in row.items() if key not in ("offered", "stable") and value}
            rows.append({"offered": 0.999 if is_full else float(row["offered"]),
                         "stable": row["stable"] == "True" and not is_full, **numbers})
    return sorted(rows, key=lambda row: row["offered"])


BOOKSIM_TRAFFIC = {"uniform": {"type": "uniform_random", "self": True}, "tornado": "tornado",
                   "bitcomp": "bit_complement", "transpose": "transpose"}
BOOKSIM_TABLES = ["a_mesh8x8_p1", "a_mesh8x8_p8", "b_torus8x8_uniform", "b_torus8x8_uniform_lat1",
                  "b_torus8x8_tornado", "b_torus8x8_bitcomp", "b_torus8x8_transpose"]


def from_booksim(name, load, warmup=5000, sample=10000, seed=1):
    """The same network and workload in flitwarp's words. docs/booksim.md explains the mapping."""
    theirs = booksim_settings(name)
    is_torus = theirs["topology"] == "torus"
    router = {
        "type": "booksim",
        "num_vcs": int(theirs["num_vcs"]),
        "buffer_depth": int(theirs["vc_buf_size"]),
        "routing_latency": int(theirs["routing_delay"]),
        "crossbar_latency": int(theirs["st_prepare_delay"]) + int(theirs["st_final_delay"]),
        "credit_latency": int(theirs["credit_delay"]),
        "vc_allocator": {"type": theirs["vc_allocator"], "iterations": 1},  # its routers do not read alloc_iters
        "allocator": {"type": theirs["sw_allocator"], "iterations": 1},
    }
    assert theirs["vc_alloc_delay"] == theirs["sw_alloc_delay"] == "1"
    routing = "ring_halves" if is_torus else "dimension_order"
    widths = [int(theirs["k"])] * int(theirs["n"])
    latency = 2 if is_torus and theirs["use_noc_latency"] == "1" else 1
    network = network_of({"type": theirs["topology"], "widths": widths}, routing, router, channel=latency)
    network["interface"] = "booksim"
    return config_of(network, blast(load, BOOKSIM_TRAFFIC[theirs["traffic"]], int(theirs["packet_size"]),
                                    warmup=warmup, sample=sample, finish_limit=30000), seed=seed)


# ---- packets that another program sent, one by one ---------------------------------------------------------------------

TRACE_START = 100  # a trace begins with its first sampled tick


def packets_by_case(path):
    """{case: packets} of a file with the columns case, created, source, destination, flits, head_arrived, tail_arrived."""
    packets = collections.defaultdict(list)
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            packets[int(row.pop("case"))].append({key: int(value) for key, value in row.items()})
    return packets


def arrivals(network, packets, folder):
    """When heads and tails arrive here, if these packets are sent as a trace, in their order."""
    trace = folder / "packets.trc"
    trace.write_text("".join(f"{p['created']} {p['source']} {p['destination']} {p['flits']}\n" for p in packets))
    _, log = run_logged(config_of(network, {"type": "trace", "file": str(trace), "format": "simured"}))
    by_name = {(row["source"], row["packet"]): row for row in log}
    sent = collections.Counter()
    for packet in packets:
        row = by_name[packet["source"], sent[packet["source"]]]
        sent[packet["source"]] += 1
        assert (row["destination"], row["packet_flits"], row["created"]) == (packet["destination"], packet["flits"], packet["created"] + TRACE_START)
        yield row["head_arrived"] - TRACE_START, row["tail_arrived"] - TRACE_START


def assert_same_cycles(case, packets, found):
    """Every packet at the recorded times, but for as many as a case is known to differ in."""
    other = [(packet, times) for packet, times in zip(packets, found) if times != (packet["head_arrived"], packet["tail_arrived"])]
    known = case.get("differs_in", 0)
    assert len(other) == known, f"{len(other)} of {len(packets)} differ, first {other[:1]}; expected {known} {case.get('differs', '')}"


def script(path):
    """A script of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def shorter(example, program=PROGRAM):
    """Overrides for an example's windows, still long enough to hold something of everything: for the costly ways to run it."""
    shown = subprocess.run([program, "settings", example], capture_output=True, text=True, check=True).stdout
    few = {"warmup": 300, "sample": 600, "min_sample": 300, "max_sample": 600, "delay": 0, "messages": 20, "iterations": 2}
    return [f"workload.applications.{i}.{key}={value}"
            for i, application in enumerate(json.loads(shown)["config"].get("workload", {}).get("applications", []))
            for key, value in few.items() if application.get(key, "auto") not in (0, "auto")]


def schema():
    """Of configurations, as the program tells it."""
    return json.loads(subprocess.run([PROGRAM, "schema"], capture_output=True, text=True, check=True).stdout)


@contextlib.contextmanager
def on_one_core():
    """What is started meanwhile has one core for all its threads: they wake each other and do not spin, for half of the CPU time. They
    take turns then; those that see whether threads get in each other's way run side by side (test_threads.py, the thread sanitizer)."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {random.choice(sorted(cores))})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


# --- ranks ------------------------------------------------------------------------------------------------------

def launcher(ranks):
    """The words that start a program so many times."""
    here = ["--mca", "pml", "ob1", "--mca", "btl", "self,vader"]  # by memory: looking for other networks takes longer than many a run
    return ["mpirun", "-n", str(ranks), "--oversubscribe", *here, *(["--allow-run-as-root"] if os.getuid() == 0 else [])]


def has_ranks(program=PROGRAM):
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return "libmpi" in linked and shutil.which("mpirun") is not None


def mpirun(ranks):
    """The same in a test, which is skipped where there are no ranks."""
    if not has_ranks():
        import pytest  # which those who only record digests may not have
        pytest.skip("there is no mpirun (libopenmpi-dev and openmpi-bin bring it), or the program was built without MPI")
    return launcher(ranks)


def children(pid):
    """Of a launcher such as mpirun: its ranks."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(word) for word in listed.split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"  # ended, and nobody has asked how
    except FileNotFoundError:
        return False


def wait_for(process, seconds=60):
    """Its exit status; one that takes longer is ended."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def still_running(pids, seconds=30):
    """Those that have not ended after a while: a launcher may be gone before the last of its ranks."""
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < until:
        time.sleep(0.1)
    return left

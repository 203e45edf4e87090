# SPDX-License-Identifier: Apache-2.0
"""Runs on an OpenCL device beside the same runs here. The device is the first of the machine that can be used, mostly the
processor itself by PoCL, whose compiler's results all tests of a session share."""
import dataclasses
import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

from support import PROGRAM

OF_THE_RUN = ("cpu_seconds", "wall_seconds", "peak_rss_bytes")
DEVICE_KEYS = {"name", "driver", "kind", "runs", "seconds", "compile_seconds", "memory_bytes"}
SECONDS = 120
AS_USUAL = "-Werror"  # words for PoCL's compiler
QUICK = f"{AS_USUAL} -cl-opt-disable"


@functools.cache
def find_device():
    """("opencl:N", "") or (None, why there is none)."""
    ended = subprocess.run([PROGRAM, "list", "device", "--json"], capture_output=True, text=True, timeout=SECONDS, check=True)
    usable = [one["number"] for one in json.loads(ended.stdout) if not one["refusal"]]
    return (f"opencl:{usable[0]}", "") if usable else (None, f"no OpenCL device here that can be used (pocl-opencl-icd): {ended.stderr.strip()}")


@pytest.fixture(scope="session")
def device(tmp_path_factory):
    """The word for --device. PoCL takes a warning for a mistake, and does without what would take longer than most runs here."""
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    cache = place / "pocl"
    cache.mkdir(exist_ok=True)
    os.environ.update(POCL_CACHE_DIR=str(cache), POCL_EXTRA_BUILD_FLAGS=QUICK)
    word, why = find_device()
    assert word or not Path("/etc/OpenCL/vendors/pocl.icd").exists() or "built without" in why, why  # then there is one
    if not word:
        pytest.skip(why)
    return word


@dataclasses.dataclass
class Ended:
    status: int
    said: str  # on standard error
    results: dict  # numbers as they are written


def run(config, folder, *arguments):
    results = Path(folder) / "results.json"
    results.unlink(missing_ok=True)
    ended = subprocess.run([PROGRAM, "run", str(config), *arguments, "--results", str(results)], capture_output=True, text=True,
                           timeout=SECONDS, check=False)
    document = json.loads(results.read_text(), parse_int=str, parse_float=str) if results.exists() else None
    return Ended(ended.returncode, ended.stderr, document)


def check(config, device, *overrides):
    """What `flitwarp check` says of a device: (exit status, all that it says)."""
    ended = subprocess.run([PROGRAM, "check", str(config), *overrides, "--device", device], capture_output=True, text=True,
                           timeout=SECONDS, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def is_refused(ended):
    """By the device, which names what is in the way, rather than by the program, for other mistakes."""
    return ended.status == 1 and "device" in ended.said and ended.results is None


def without_times(results):
    simulation = {key: value for key, value in results["simulation"].items() if key not in (*OF_THE_RUN, "device")}
    simulator = {**results["config"]["simulator"], "device": None}
    return {**results, "simulation": simulation, "config": {**results["config"], "simulator": simulator}}


def first_difference(here, there, path=""):
    """Where two documents differ and how; None: nowhere."""
    if isinstance(here, dict) and isinstance(there, dict):
        if list(here) != list(there):
            return f"{path}: keys {list(here)} here, {list(there)} there"
        pairs = [(f"{path}.{key}", here[key], there[key]) for key in here]
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(here, there))]
    else:
        return None if here == there and type(here) is type(there) else f"{path}: {here} here, {there} there"
    return next((found for found in (first_difference(a, b, at) for at, a, b in pairs) if found), None)


def assert_same(here, there, what):
    """All that a run says, times and memory apart; and that the device has run it, if it ran."""
    assert (there.status, there.said) == (here.status, here.said), what
    difference = first_difference(without_times(here.results), without_times(there.results))
    assert difference is None, f"{what}: {difference}"
    assert "device" not in here.results["simulation"]
    told = there.results["simulation"]["device"]
    assert DEVICE_KEYS - {"driver"} <= set(told) <= DEVICE_KEYS, told
    assert told["kind"] == "opencl" and int(told["memory_bytes"]) > 0
    assert float(told["seconds"]) >= 0 and float(told["compile_seconds"]) >= 0
    assert told["runs"] != "1" or float(told["seconds"]) <= float(there.results["simulation"]["wall_seconds"])


LOGS = {"--log": "packets.csv", "--message-log": "messages.csv", "--traffic-log": "traffic.csv", "--channel-log": "channels.csv", "--rate-log": "rates.csv"}


def words_for(logs, place):
    """Of a run that writes them into a folder, which is made."""
    place.mkdir(exist_ok=True)
    named = [word for flag in logs for word in (flag, str(place / LOGS[flag]))]
    return [*named, *(["--rate-interval", "70"] if "--rate-log" in logs else [])]


def assert_same_logs(logs, here, there, what):
    for flag in logs:
        assert (here / LOGS[flag]).read_bytes() == (there / LOGS[flag]).read_bytes(), f"{what} {flag}"


def compare(config, folder, device, *overrides, logs=()):
    """Runs it both ways and holds one against the other, logs too; what the device refuses it with, or None."""
    def started(place, *arguments):
        return run(config, folder / place, *overrides, *words_for(logs, folder / place), *arguments)
    there = started("there", "--device", device)
    if is_refused(there):
        return there.said
    assert_same(started("here"), there, f"{config} {' '.join(overrides)} {' '.join(logs)}")
    assert_same_logs(logs, folder / "here", folder / "there", config)
    return None


def run_together(runs, device, folder, *arguments, program=PROGRAM):
    """Lists of words as one process on the device: how each ended, what that process said, and its exit status."""
    (folder / "runs.json").write_text(json.dumps(runs))
    ended = subprocess.run([program, "run", "--runs", folder / "runs.json", "--device", device, *arguments], capture_output=True, text=True,
                           timeout=4 * SECONDS, check=False)
    told = {one["run"]: one for one in map(json.loads, ended.stdout.splitlines())}
    assert sorted(told) == list(range(len(runs))), ended.stderr
    documents = [Path(run[run.index("--results") + 1]) for run in runs]
    return [Ended(told[i]["status"], told[i]["said"], json.loads(path.read_text(), parse_int=str, parse_float=str) if path.exists() else None)
            for i, path in enumerate(documents)], ended.stderr, ended.returncode


def compare_together(cases, folder, device):
    """(config, overrides, logs) of each case: all at once on the device, one after the other here. How those there ended."""
    runs = [[str(config), *overrides, *words_for(logs, folder / f"there{i}"), "--results", str(folder / f"there{i}" / "results.json")]
            for i, (config, overrides, logs) in enumerate(cases)]
    ended, _, _ = run_together(runs, device, folder)
    for i, ((config, overrides, logs), there) in enumerate(zip(cases, ended)):
        what = f"{config} {' '.join(overrides)} {' '.join(logs)}"
        assert_same(run(config, folder / f"here{i}", *overrides, *words_for(logs, folder / f"here{i}")), there, what)
        assert_same_logs(logs, folder / f"here{i}", folder / f"there{i}", what)
    return ended

# SPDX-License-Identifier: Apache-2.0
"""A study on a device has the runs and the numbers that it has on cores, whatever was run there that nobody needed."""
import json
import re
import shutil
import subprocess
import sys

import pytest

from on_device import device, first_difference  # noqa: F401
from support import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "python"))
from flitwarp import Sweep, open_study  # noqa: E402

BASE = {"network": {"topology": {"type": "torus", "widths": [4, 4]}, "router": {"type": "input_queued", "num_vcs": 2, "buffer_depth": 4}},
        "workload": {"check_interval": 50,
                     "applications": [{"type": "blast", "load": 0.1, "traffic": "tornado", "warmup": 200, "sample": 500, "finish_limit": 1000}]}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def counted(folder, monkeypatch):
    """The program, which notes how it is called."""
    (folder / "noted").write_text(f'#!/bin/sh\necho "$@" >> {folder}/calls\nexec {PROGRAM} "$@"\n')
    (folder / "noted").chmod(0o755)
    monkeypatch.setenv("FLITWARP", str(folder / "noted"))
    return lambda: [line for line in (folder / "calls").read_text().splitlines() if re.match("run ", line)]


def numbers(study):
    """Of each run, without what a device and time tell."""
    found = {}
    for run in study.runs:
        document = json.loads(json.dumps(run.results.document if hasattr(run.results, "document") else dict(run.results)))
        simulation = {key: value for key, value in document["simulation"].items()
                      if key not in ("cpu_seconds", "wall_seconds", "peak_rss_bytes", "device")}
        document["config"]["simulator"]["device"] = None
        found[run.name] = {**document, "simulation": simulation}
    return found


def sweep_of(name):
    sweep = Sweep(BASE, name).add_variable("depth", "D", [2, 8], "network.router.buffer_depth")
    return sweep.add_loads(0.1, 0.9, 0.1, past=1, refine=1)


def test_study_with_stops_and_halved_gaps_has_the_same_runs(folder, counted, device):  # noqa: F811
    here = sweep_of("here").run(quiet=True)
    alone = len(counted())
    there = sweep_of("there").on_device(device).run(quiet=True)
    assert list(numbers(here)) == list(numbers(there)) and 8 < len(here.runs) < 18
    assert first_difference(numbers(here), numbers(there)) is None
    calls = counted()[alone:]
    assert len(calls) <= 4 and all(re.match(rf"run --runs .* --device {device}", call) for call in calls), "all loads at once, then the gaps"
    assert all(run.results["config"]["simulator"]["device"] == device for run in there.runs)
    assert max(run.results["simulation"]["device"]["runs"] for run in there.runs) == 18
    assert open_study("out/there/study.sqlite").saturation() == here.saturation()
    sweep_of("there").on_device(device).run(quiet=True)
    assert counted()[alone:] == calls, "all is there"
    assert not (folder / "out" / "there" / "study.runs").exists()


def flitwarp_sweep(*arguments):
    return subprocess.run([sys.executable, ROOT / "bin" / "flitwarp-sweep", *arguments], capture_output=True, text=True, check=False)


def test_command_line_and_study_file_take_a_device(folder, device):  # noqa: F811
    (folder / "base.json").write_text(json.dumps(BASE))
    ended = flitwarp_sweep("base.json", "--load", "0.1,0.2", "--seeds", "2", "--device", device, "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert [run.results["simulation"]["device"]["runs"] for run in open_study("out/base/study.sqlite").runs] == [4] * 4
    (folder / "study.json").write_text(json.dumps({"name": "s", "base": "base.json", "load": {"values": [0.1, 0.3]}, "logs": True,
                                                   "runner": {"device": device}}))
    assert flitwarp_sweep("study.json", "--no-report").returncode == 0
    study = open_study("out/s/study.sqlite")
    assert [run.results["simulation"]["device"]["runs"] for run in study.runs] == [2] * 2 and len(list((folder / "out/s/logs").iterdir())) == 2
    listed = flitwarp_sweep("base.json", "--load", "0.1,0.2", "--device", device, "--list").stdout.splitlines()
    assert len(listed) == 2 and all(f"simulator.device={device}" in line for line in listed)


def test_what_a_device_refuses_is_told_of_the_run(folder, device):  # noqa: F811
    (folder / "base.json").write_text(json.dumps(BASE))
    ended = flitwarp_sweep("base.json", "network.router.input_speedup=2", "--load", "0.1,0.2", "--device", device, "--no-report")
    assert ended.returncode == 2 and "L0.1: wrong settings: command line: network.router.input_speedup: a speedup does not run on a device; accepted: 1\n" in ended.stderr
    ended = flitwarp_sweep("base.json", "--load", "0.1", "--device", "cuda", "--no-report")
    assert ended.returncode == 2 and "simulator.device: found 'cuda', expected \"opencl\" or \"opencl:NUMBER\"" in ended.stderr


def test_no_estimate_of_a_device(folder):
    (folder / "base.json").write_text(json.dumps(BASE))
    ended = flitwarp_sweep("base.json", "--load", "0.1", "--device", "opencl", "--estimate")
    assert ended.returncode == 1 and "--estimate tells what cores take" in ended.stderr


def test_baselines_of_a_study_run_on_the_device_too(folder, device):  # noqa: F811
    base = {**BASE, "workload": {**BASE["workload"], "applications": [
        {"type": "blast", "name": "a", "load": 0.1, "warmup": 0, "sample": 300}, {"type": "blast", "name": "b", "load": 0.1, "warmup": 0, "sample": 300}]}}
    here, there = (sweep.run(quiet=True) for sweep in (Sweep(base, "here", baseline=True), Sweep(base, "there", baseline=True).on_device(device)))
    assert first_difference(numbers(here), numbers(there)) is None
    assert "slowdown" in there.runs[0].results["applications"][0]

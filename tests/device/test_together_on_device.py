# SPDX-License-Identifier: Apache-2.0
"""Runs that a device does together: each has the bytes that it has alone, and what is wrong with one is no matter of the others."""
import json
import os
import signal
import subprocess
import time

import pytest

from on_device import assert_same, compare_together, device, run, run_together  # noqa: F401
from support import PROGRAM, ROOT

BASE = {
    "network": {"topology": {"type": "torus", "widths": [4, 4]}, "routing": "dimension_order",
                "router": {"type": "input_queued", "num_vcs": 2, "buffer_depth": 4}},
    "workload": {"check_interval": 50, "applications": [{"type": "blast", "load": 0.2, "warmup": 100, "sample": 300}]},
}
APPLICATION = "workload.applications.0"
INTERRUPTED = 130


@pytest.fixture
def base(tmp_path):
    (tmp_path / "base.json").write_text(json.dumps(BASE, indent=1))
    return tmp_path / "base.json"


def listed(base, name, *words):
    return [str(base), *words, "--results", str(base.parent / f"{name}.json")]


def test_runs_of_one_shape_go_together_and_others_after_them(base, tmp_path, device):  # noqa: F811
    """Loads, seeds, patterns, injection, sizes, depths, latencies, windows and logs differ; then the shape does."""
    of_one_shape = [
        ([f"{APPLICATION}.load=0.05"], ["--log"]), ([f"{APPLICATION}.load=0.9", "simulator.seed=7"], ["--channel-log"]),
        ([f"{APPLICATION}.traffic=tornado", f"{APPLICATION}.injection=poisson"], []),
        ([f"{APPLICATION}.size={{\"type\":\"uniform\",\"max\":5}}", f"{APPLICATION}.max_packet=2"], ["--message-log"]),
        (["network.router.buffer_depth=16", "network.channel.latency=9"], []), (["workload.series_interval=20"], ["--rate-log"]),
        ([f"{APPLICATION}.reply=fixed", f"{APPLICATION}.reply_delay=40"], ["--traffic-log"]),
        ([f"{APPLICATION}.sample=auto", f"{APPLICATION}.min_sample=500", f"{APPLICATION}.max_sample=2000", "workload.check_interval=70"], [])]
    of_others = [(["network.topology.widths=[3,5]"], []), (["network.router.num_vcs=4"], []), (["network.topology=mesh"], [])]
    ended = compare_together([(base, *case) for case in of_one_shape + of_others], tmp_path, device)
    runs = [int(one.results["simulation"]["device"]["runs"]) for one in ended]
    assert runs[:8] == [8] * 8 and runs[8:] != [11] * 3 and all(count < 8 for count in runs[8:])


def test_one_that_is_wrong_leaves_the_others_alone(base, tmp_path, device):  # noqa: F811
    """In its settings, in its files, or refused by the device."""
    runs = [listed(base, "good"), listed(base, "key", "network.router.depth=3"), listed(base, "speedup", "network.router.input_speedup=2"),
            listed(base, "log", "--log", str(tmp_path / "nowhere" / "log.csv")), listed(tmp_path / "nothing.json", "file"),
            listed(base, "model", f"{APPLICATION}=null"), listed(base, "too", "simulator.seed=2")]
    ended, said, status = run_together(runs, device, tmp_path, "--quiet")
    assert [one.status for one in ended] == [0, 1, 1, 3, 1, 1, 0] and status == 3
    assert "input_speedup: a speedup does not run on a device" in ended[2].said and "nowhere" in ended[3].said
    for one in ended:
        assert all(f": {line}" in said or line in said for line in one.said.splitlines())
    assert [one.results is None for one in ended] == [False, True, True, True, True, True, False]
    assert_same(run(base, tmp_path, "--quiet"), ended[0], "good")
    assert_same(run(base, tmp_path, "--quiet", "simulator.seed=2"), ended[6], "too")


def test_deadlock_of_one_is_told_as_it_is_alone(tmp_path, device):  # noqa: F811
    deadlock = ROOT / "examples" / "deadlock_torus.json"
    ended = compare_together([(deadlock, [], []), (deadlock, [f"{APPLICATION}.load=0.01"], []), (deadlock, ["simulator.seed=3"], [])],
                             tmp_path, device)
    assert [one.status for one in ended] == [2, 0, 2]


@pytest.mark.parametrize("name", ["FLITWARP_TSAN", "FLITWARP_ASAN"])
def test_sanitizers_find_nothing_in_runs_that_meet(name, base, tmp_path, device, monkeypatch):  # noqa: F811
    """Of different lengths, two shapes and one that is refused; what PoCL keeps to itself is no leak of ours, and the stack for
    signals that its compiler gives a thread is not the sanitizer's to free."""
    program = os.environ.get(name, "")
    if not os.access(program, os.X_OK):
        pytest.skip(f"{name} names no program: ./dev test builds it")
    monkeypatch.setenv("TSAN_OPTIONS", "halt_on_error=1")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0")
    runs = [listed(base, str(seed), f"simulator.seed={seed}", f"{APPLICATION}.sample={seed * 100}") for seed in range(1, 9)]
    runs += [listed(base, "mesh", "network.topology=mesh"), listed(base, "speedup", "network.router.input_speedup=2")]
    ended, said, status = run_together(runs, device, tmp_path, "--quiet", program=program)
    assert status == 1 and [one.status for one in ended] == [0] * 9 + [1] and "Sanitizer" not in said, said
    assert ended[7].results["simulation"]["digest"] == run(base, tmp_path, *runs[7][1:3]).results["simulation"]["digest"]


def call(*arguments):
    ended = subprocess.run([PROGRAM, "run", *map(str, arguments)], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def test_several_configurations_leave_results_in_a_folder(base, tmp_path, device):  # noqa: F811
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**BASE, "simulator": {"seed": 5}}))
    status, out, said = call(base, other, f"{APPLICATION}.load=0.1", "--device", device, "--results", tmp_path / "made")
    assert (status, out) == (0, "") and said.count("packet latency") == 2
    for path in (base, other):
        made = json.loads((tmp_path / "made" / path.name).read_text(), parse_int=str, parse_float=str)
        here = run(path, tmp_path, f"{APPLICATION}.load=0.1").results
        assert made["simulation"]["digest"] == here["simulation"]["digest"] and made["applications"] == here["applications"]


@pytest.mark.parametrize("arguments, sentence", [
    (["base.json", "base.json"], "flitwarp run: several runs are done together by a device alone; expected --device\n"),
    (["base.json", "x.json", "--device", "opencl"], "flitwarp run: several configurations need --results FOLDER\n"),
    (["base.json", "base.json", "--device", "opencl", "--results", "made"], "--results: 'made/base.json' is the file of two runs\n"),
    (["base.json", "x.json", "--device", "opencl", "--results", "base.json"], "--results: 'base.json' is no folder, and cannot be made one\n"),
    (["base.json", "x.json", "--device", "opencl", "--results", "made", "--log", "log.csv"],
     "flitwarp run: --log belongs to one run, and there are several\n"),
    (["--runs", "none.json", "--device", "opencl"], "cannot read 'none.json': No such file or directory\n"),
    (["base.json", "--runs", "runs.json", "--device", "opencl"], "flitwarp run: 'base.json': all that is to be run is in the file of --runs\n"),
], ids=range(7))
def test_wrong_call_is_refused(arguments, sentence, base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.json").write_text('[["base.json", "--results", "a.json"]]')
    status, out, said = call(*arguments)
    assert status == 1 and out == "" and sentence in said


@pytest.mark.parametrize("runs, sentence", [
    ("{}", "runs.json: found an object, expected an array of runs\n"), ("[]", "runs.json: found no run, expected an array of runs\n"),
    ("[[", "runs.json:1:3: "), ("[\n3]", "runs.json:2: found a number, expected an array of words\n"),
    ('[["base.json", 3]]', "runs.json:1: found another than a text among the words of a run\n"),
    ('[["base.json"]]', "runs.json:1: '--results' is missing\n"), ('[["--results", "a.json"]]', "runs.json:1: flitwarp run: no configuration is given\n"),
    ('[["base.json", "--results", "a.json", "--baseline"]]', "runs.json:1: flitwarp run: '--baseline' is not understood\n"),
    ('[["base.json", "--results", "a.json"], ["base.json", "x=3", "--results", "a.json"]]', "--results: 'a.json' is the file of two runs\n"),
], ids=range(9))
def test_wrong_list_is_refused(runs, sentence, base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.json").write_text(runs)
    status, out, said = call("--runs", "runs.json", "--device", "opencl")
    assert status == 1 and out == "" and sentence in said and not (tmp_path / "a.json").exists()


def test_interrupt_ends_all_with_what_was_measured(base, tmp_path, device):  # noqa: F811
    assert run(base, tmp_path, "--device", device).status == 0, "its kernels are compiled from now on"
    runs = [listed(base, name, f"{APPLICATION}.sample=1000000", f"simulator.seed={name}") for name in "123"]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    with subprocess.Popen([PROGRAM, "run", "--runs", tmp_path / "runs.json", "--device", device], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and [json.loads(line)["status"] for line in out.splitlines()] == [INTERRUPTED] * 3
    for name in "123":
        document = json.loads((tmp_path / f"{name}.json").read_text())
        assert document["complete"] is False and 0 < document["simulation"]["end_tick"] < 1_000_000

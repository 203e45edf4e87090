# SPDX-License-Identifier: Apache-2.0
"""How runs of a study come to a device and back, with a program in its place that needs none."""
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import is_running  # noqa: E402

from flitwarp.backend import Job
from flitwarp.device import Device

# Ends the runs of its list one by one, each as its words say: a status, "hang" for ever, "die" with the others. Notes the list.
PROGRAM = """#!/usr/bin/python3
import json, os, sys, time
runs = json.load(open(sys.argv[sys.argv.index("--runs") + 1]))
with open("lists", "a") as lists:
    lists.write(json.dumps([words[0] for words in runs]) + "\\n")
assert sys.argv[-3:] == ["--device", "opencl:3", "--quiet"], sys.argv
for number, words in enumerate(runs):
    if words[1] == "usage":
        sys.exit("wrong usage")
    if words[1] == "die":
        print("broken", file=sys.stderr)
        sys.stderr.flush()
        os._exit(2)
    while words[1] == "hang":
        time.sleep(1)
    status = int(words[1])
    if status == 0:
        open(words[-1], "w").write("{}")
    print(json.dumps({"run": number, "results": words[-1], "status": status, "said": f"{words[0]} ended\\n"}), flush=True)
"""


@pytest.fixture
def spool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755 | stat.S_IEXEC)
    (tmp_path / "spool").mkdir()
    return tmp_path / "spool"


def job(name, what="0"):
    return Job(name, name, (str(Path("program").absolute()), "--plugin", "p.so", "run", name, what, "--results", f"spool/{name}.json"))


def lists():
    return [json.loads(line) for line in Path("lists").read_text().splitlines()]


def finished(backend, count, seconds=20):
    """The ends of so many jobs, by name."""
    ended, until = [], time.monotonic() + seconds
    while len(ended) < count and time.monotonic() < until:
        ended += backend.wait(0.5)
    assert len(ended) == count
    return {item.key: (item.status, item.message) for item in ended}


def test_all_that_is_asked_for_goes_together(spool):
    backend = Device(spool, "opencl:3")
    assert backend.start([job("a"), job("b", "1")]) + backend.start(iter([job("c")])) == ["a", "b", "c"]
    assert finished(backend, 3) == {"a": (0, "a ended"), "b": (1, "b ended"), "c": (0, "c ended")}
    assert lists() == [["a", "b", "c"]] and backend.wait(0) == []
    backend.start([job("d")])
    assert finished(backend, 1) == {"d": (0, "d ended")} and len(lists()) == 2
    backend.close()
    assert not list(spool.glob("*.lock"))


def test_others_are_tried_alone_when_one_takes_the_process_with_it(spool):
    backend = Device(spool, "opencl:3")
    backend.start([job("a"), job("b", "die"), job("c"), job("d", "1")])
    assert finished(backend, 4) == {"a": (0, "a ended"), "b": (2, "broken"), "c": (0, "c ended"), "d": (1, "d ended")}
    assert lists()[0] == ["a", "b", "c", "d"] and sorted(lists()[1:]) == [["b"], ["c"], ["d"]]


def test_a_wrong_call_is_the_end_of_all(spool):
    backend = Device(spool, "opencl:3")
    backend.start([job("a", "usage"), job("b")])
    assert finished(backend, 2) == {"a": (1, "wrong usage"), "b": (1, "wrong usage")} and len(lists()) == 1


def test_nobody_waits_for_runs_that_are_not_wanted_any_more(spool):
    backend = Device(spool, "opencl:3")
    backend.start([job("a"), job("slow", "hang"), job("b")])
    assert finished(backend, 1) == {"a": (0, "a ended")}
    backend.start([job("c")])  # waits for the process
    assert backend.wait(0.3) == [] and len(lists()) == 1
    backend.cancel("slow")
    backend.cancel("b")
    assert finished(backend, 1) == {"c": (0, "c ended")} and lists() == [["a", "slow", "b"], ["c"]]


def test_a_run_that_is_wanted_again_while_it_runs_is_not_begun_anew(spool):
    backend = Device(spool, "opencl:3")
    backend.start([job("slow", "hang"), job("a")])
    backend.wait(0.3)
    backend.cancel("a")
    assert backend.start([job("a")]) == ["a"]
    backend.cancel("a")
    backend.cancel("slow")
    assert backend.wait(0.5) == []
    backend.start([job("a")])
    assert finished(backend, 1) == {"a": (0, "a ended")} and lists() == [["slow", "a"], ["a"]]


def test_closing_ends_the_process(spool):
    backend = Device(spool, "opencl:3")
    backend.start([job("a", "hang")])
    backend.wait(0.3)
    pid = int((spool / "device.lock").read_text())
    backend.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_a_killed_runner_left_at_work_is_ended(spool):
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from test_device_backend import Device, Path, job
backend = Device(Path("spool").absolute(), "opencl:3")
backend.start([job("a", "hang")])
while True:
    backend.wait(1)
"""
    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)}) as runner:
        until = time.monotonic() + 20
        while not (spool / "device.lock").exists() or not (spool / "device.lock").read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        runner.send_signal(signal.SIGKILL)
    pid = int((spool / "device.lock").read_text())
    os.kill(pid, 0)  # it works on
    backend = Device(spool, "opencl:3")
    assert backend.adopt({"a"}) == set()
    until = time.monotonic() + 20
    while is_running(pid):
        assert time.monotonic() < until
    backend.start([job("b")])
    assert finished(backend, 1) == {"b": (0, "b ended")}


def test_baselines_and_other_commands_run_by_themselves(spool):
    backend = Device(spool, "opencl:3")
    touch = Job("t", "t", ("touch", "spool/t.json"))
    with_jobs_alone = Job("w", "w", ("sh", "-c", "exit 4", "run", "x.json", "--baseline"))
    assert backend.start([touch, job("a"), with_jobs_alone]) == ["t", "a"], "those apart one after the other"
    assert finished(backend, 2) == {"t": (0, ""), "a": (0, "a ended")}
    assert backend.start([with_jobs_alone]) == ["w"] and finished(backend, 1) == {"w": (4, "")}
    backend.cancel("w")

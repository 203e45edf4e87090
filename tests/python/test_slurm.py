# SPDX-License-Identifier: Apache-2.0
"""The Slurm backend, against a real Slurm of one machine."""

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import flitwarp  # noqa: E402
import slurm_machine  # noqa: E402
from flitwarp.backend import Job  # noqa: E402
from flitwarp.slurm import Slurm, SlurmError  # noqa: E402

LARGEST_ARRAY = 8
QUICK = {"poll": 0.2, "grace": 1.0}
LIMIT = 60  # seconds for any wait

# ./dev test --slurm wants them to run, and fails where they cannot.
REQUIRED = os.environ.get("FLITWARP_SLURM") == "required"
pytestmark = pytest.mark.skipif(bool(slurm_machine.why_not()) and not REQUIRED, reason=slurm_machine.why_not())


@pytest.fixture(scope="module")
def machine():
    with contextlib.ExitStack() as stack:
        try:
            machine = stack.enter_context(slurm_machine.slurm_machine(MaxArraySize=LARGEST_ARRAY))
        except RuntimeError as error:  # a sandbox may lack what it needs, such as control groups
            if REQUIRED:
                raise
            pytest.skip(str(error).splitlines()[0])
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in [name for name in os.environ if name.startswith(slurm_machine.OTHERS)]:
            patch.delenv(name)
        for name, value in machine.environment.items():
            patch.setenv(name, value)
        yield machine
    assert not slurm_machine.processes(machine.folder)
    assert not machine.folder.exists()


@pytest.fixture(scope="module", autouse=True)
def overdue(machine, tmp_path_factory):
    """A job at its time limit. Slurm looks for such jobs twice a minute: other tests run meanwhile."""
    slurm = Slurm(tmp_path_factory.mktemp("overdue"), time_limit="00:02:00", **QUICK)
    slurm.start([shell("late", "trap 'echo {} >\"$1\"; exit 130' TERM; echo working >&2; while :; do sleep 0.1; done",
                       slurm.spool / "late.json")])
    job = slurm._elements["late"].id
    until(lambda: "RUNNING" in queue("--jobs", job))
    subprocess.run(["scontrol", "update", f"JobId={job}", "EndTime=now"], check=True)
    return slurm


@pytest.fixture
def spool(tmp_path):
    """Its name is as bad as names get."""
    return tmp_path / "a spool $HOME 'of' \"50%\" é"


def shell(key, script, *arguments, **settings):
    return Job(key, f"job {key}", ("sh", "-c", script, "sh", *map(str, arguments)), **settings)


def product(spool, key, more="", **settings):
    """Notes that it ran, and leaves a product."""
    return shell(key, f'echo "$2" >>"$1/../ran"; {more} echo "{{}}" >"$1/$2.part"; mv "$1/$2.part" "$1/$2.json"', spool,
                 key, **settings)


def ran(spool):
    path = spool.parent / "ran"
    return sorted(path.read_text().split()) if path.exists() else []


def all_ended(slurm, count):
    ended = {}
    until(lambda: ended.update({one.key: one for one in slurm.wait(1.0)}) or len(ended) >= count)
    return ended


def until(claim):
    end = time.monotonic() + LIMIT
    while not claim():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def queue(*options):
    command = ["squeue", "--noheader", "--array", "--format=%j %i %T", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_idle(slurm):
    names = {line.split()[0] for line in queue().splitlines()}
    return not names & {note["name"] for note in notes(slurm)}


def notes(slurm):
    return [json.loads(line) for line in (slurm.spool / "slurm.jobs").read_text().splitlines() if line]


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a script in a program's place; `$real` is the program."""
    folder = tmp_path / "bin"

    def make(program, script):
        real = shutil.which(program)
        folder.mkdir(exist_ok=True)
        (folder / program).write_text(f"#!/bin/sh\nreal={real}\n{script}\n")
        (folder / program).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return make


# ---- jobs end ----


def test_more_jobs_than_an_array_holds_end_with_their_statuses_and_products(spool, stand_in):
    stand_in("squeue", f'echo x >>"{spool.parent}/asked"; exec "$real" "$@"')
    slurm = Slurm(spool, **QUICK)
    jobs = [product(spool, f"job{i}", f"exit {i % 3};" if i % 3 else "sleep 0.2;") for i in range(20)]
    began = time.time()
    assert slurm.start(iter(jobs)) == [job.key for job in jobs]
    ended = all_ended(slurm, 20)
    assert {key: one.status for key, one in ended.items()} == {f"job{i}": i % 3 for i in range(20)}
    assert [len(note["keys"]) for note in notes(slurm)] == [8, 8, 4]
    assert ran(spool) == sorted(job.key for job in jobs)
    done = ended["job0"]
    assert began <= done.started <= time.time() and 0.2 <= done.wall_seconds < 5 and 0 <= done.cpu_seconds < 0.2
    products = {f"job{i}.json" for i in range(0, 20, 3)}
    assert {path.name for path in spool.iterdir()} == products | {"slurm.jobs"}  # nothing else is left
    asked = len((spool.parent / "asked").read_text().split())
    assert asked <= 1 + (time.time() - began) / (5 * QUICK["poll"])
    assert slurm.wait(0) == []


def test_a_failing_job_s_message_is_what_it_printed(spool):
    slurm = Slurm(spool, **QUICK)
    slurm.start([shell("fails", "echo out; echo no such network >&2; exit 3"), shell("killed", "kill -9 $$"),
                 Job("absent", "absent", ("/nowhere/flitwarp", "run"))])
    ended = all_ended(slurm, 3)
    assert (ended["fails"].status, ended["fails"].message) == (3, "no such network")
    assert ended["killed"].status == 137
    assert ended["absent"].status == 127 and "/nowhere/flitwarp" in ended["absent"].message


def test_awkward_commands_arrive_as_they_are(spool):
    words = ["", " ", "a b", "$HOME", "`id`", "it's", '"', "\\", "\\n", "*", "~", "#", "a\nb", "%A_%a", "$(id)", ";",
             "é", "-n", "'; exit 9 #", "${x}", "{}", "!", "x" * 5000]
    target = spool.parent / "words"
    slurm = Slurm(spool, **QUICK)
    code = "import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"
    slurm.start([Job("it's-$x", "awkward\nname", (sys.executable, "-c", code, str(target), *words))])
    assert all_ended(slurm, 1)["it's-$x"].status == 0
    assert json.loads(target.read_text()) == words


def test_jobs_get_the_cores_and_memory_that_they_ask_for(spool):
    slurm = Slurm(spool, options=["--comment=from the test"], **QUICK)
    script = ('echo $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE >"$1";'
              'scontrol show job $SLURM_JOB_ID | grep Comment >>"$1"')
    jobs = [shell(f"job{i}", script, spool.parent / f"got{i}", cores=cores, memory=memory << 20)
            for i, (cores, memory) in enumerate([(1, 64), (2, 100), (1, 60), (2, 128)])]
    slurm.start(jobs)
    assert [note["keys"] for note in notes(slurm)] == [["job0", "job2"], ["job1", "job3"]]
    all_ended(slurm, 4)
    got = [(spool.parent / f"got{i}").read_text().split(maxsplit=2) for i in range(4)]
    assert [(one[0], one[1]) for one in got] == [("1", "64"), ("2", "128"), ("1", "64"), ("2", "128")]
    assert "from the test" in got[0][2]


def test_no_more_jobs_are_taken_than_allowed(spool):
    slurm = Slurm(spool, at_most=3, **QUICK)
    offered = (product(spool, f"job{i}") for i in range(5))
    assert slurm.start(offered) == ["job0", "job1", "job2"]
    assert next(offered).key == "job3"
    assert slurm.start([product(spool, "more")]) == []
    all_ended(slurm, 3)
    assert slurm.start([product(spool, "more")]) == ["more"]
    slurm.close()


# ---- jobs that Slurm ends ----


def test_jobs_that_slurm_ends_are_told_with_the_reason(spool):
    slurm = Slurm(spool, **QUICK)
    slurm.start([product(spool, "cancelled", "echo step 1 >&2; exec sleep 60;"), product(spool, "pending", cores=8),
                 shell("greedy", f"exec {sys.executable} -c 'x = b\"x\" * (400 << 20); import time; time.sleep(60)'",
                       memory=64 << 20)])
    ids = {key: element.id for key, element in slurm._elements.items()}
    until(lambda: (spool / "cancelled.err").read_text())
    assert "PENDING" in queue("--jobs", ids["pending"])
    subprocess.run(["scancel", ids["cancelled"], ids["pending"]], check=True)
    ended = all_ended(slurm, 3)
    told = ended["cancelled"].message.splitlines()
    assert told[0] == f"slurm job {ids['cancelled']}: CANCELLED, someone cancelled it"
    assert "CANCELLED AT" in told[1] and told[-1] == "step 1"
    assert ended["pending"].message.startswith(f"slurm job {ids['pending']}: gone, it left the queue while it waited")
    assert ended["cancelled"].status == ended["pending"].status == 143
    assert math.isnan(ended["pending"].started)
    # OUT_OF_MEMORY takes cgroups; without them the node's own words tell.
    assert ended["greedy"].status == 3 and f"slurm job {ids['greedy']}: FAILED" in ended["greedy"].message
    assert "exceeded memory limit" in ended["greedy"].message


def test_jobs_that_the_queue_has_forgotten_are_judged_by_accounts_and_products(spool, stand_in):
    slurm = Slurm(spool, **QUICK)
    slurm.start([shell(key, "exec sleep 60") for key in ("done", "lost", "late", "greedy", "stopped")])
    ids = {key: element.id for key, element in slurm._elements.items()}
    until(lambda: queue("--jobs", ids["lost"].split("_")[0]).count("RUNNING") == 5)
    assert slurm.wait(0) == []
    for key in ("done", "late"):  # when it was stopped, it wrote what it had
        (spool / f"{key}.json").write_text("{}")
    stand_in("squeue", "exit 0")
    accounts = {"late": "TIMEOUT", "greedy": "OUT_OF_MEMORY", "stopped": "CANCELLED by 1000"}
    stand_in("sacct", "\n".join(f"echo '{ids[key]}|{state}'" for key, state in accounts.items()))
    ended = all_ended(slurm, 5)
    assert {key: one.status for key, one in ended.items()} == {"done": 0, "lost": 3, "late": 143, "greedy": 137,
                                                               "stopped": 143}
    assert ended["lost"].message.startswith(f"slurm job {ids['lost']}: gone, the queue has forgotten it")
    assert ended["late"].message == f"slurm job {ids['late']}: TIMEOUT, it reached its time limit"
    assert ended["greedy"].message.startswith(f"slurm job {ids['greedy']}: OUT_OF_MEMORY")
    assert ended["stopped"].message.startswith(f"slurm job {ids['stopped']}: CANCELLED")
    assert {path.name for path in spool.glob("*.json")} == {"done.json"}
    subprocess.run(["scancel", *ids.values()], check=True)


def test_a_controller_that_does_not_answer_loses_no_job(spool, stand_in):
    slurm = Slurm(spool, **QUICK)
    slurm.start([product(spool, "job", "sleep 2;")])
    stand_in("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    assert all_ended(slurm, 1)["job"].status == 0


def test_cancelled_jobs_are_not_told_and_leave_no_product(spool):
    slurm = Slurm(spool, **QUICK)
    script = "trap 'sleep 0.5; echo {} >\"$1\"; exit 130' TERM; echo >&2; while :; do sleep 0.1; done"
    slurm.start([shell("stubborn", script, spool / "stubborn.json"), product(spool, "other", "sleep 3;")])
    until(lambda: (spool / "stubborn.err").read_text())
    slurm.cancel("stubborn")
    slurm.cancel("unknown")
    assert set(all_ended(slurm, 1)) == {"other"}
    until(lambda: is_idle(slurm))
    assert not (spool / "stubborn.json").exists() and slurm.wait(0) == []


def test_closing_ends_all_jobs(spool):
    slurm = Slurm(spool, **QUICK)
    slurm.start([product(spool, f"job{i}", "exec sleep 60;") for i in range(12)])
    slurm.close()
    until(lambda: is_idle(slurm))
    assert slurm.wait(0) == [] and not list(spool.glob("*.json")) and not list(spool.glob("*.sh"))


# ---- runners that are killed ----

RUNNER = """
import sys, time
from pathlib import Path
from flitwarp.backend import Job
from flitwarp.slurm import Slurm
import test_slurm as test
slurm = Slurm(Path(sys.argv[1]), **test.QUICK)
slurm.start([test.product(slurm.spool, f"job{i}", f"sleep {i % 4}; exit 1;" if i % 2 else "sleep 1;")
             for i in range(12)])
print("started", flush=True)
time.sleep(600)
"""


def runner(spool):
    paths = [ROOT / "python", ROOT / "tests", ROOT / "tests" / "python"]
    return subprocess.Popen(["/usr/bin/python3", "-c", RUNNER, str(spool)], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))})


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def keys_in(spool):
    """What a runner asks for: all that has files in the spool."""
    return {path.name.split(".")[0] for path in spool.iterdir()}


def test_jobs_of_a_killed_runner_are_adopted_and_run_once(spool):
    process = runner(spool)
    assert process.stdout.readline() == "started\n"
    until(lambda: len(ran(spool)) > 2)
    kill(process)
    slurm = Slurm(spool, **QUICK)
    assert slurm.adopt(keys_in(spool) | {"never"}) == {f"job{i}" for i in range(12)}
    ended = all_ended(slurm, 12)
    assert {key: one.status for key, one in ended.items()} == {f"job{i}": i % 2 for i in range(12)}
    assert ran(spool) == sorted(f"job{i}" for i in range(12))
    assert Slurm(spool, **QUICK).adopt(keys_in(spool)) == set()  # all has been told


def test_a_runner_killed_while_it_submits_leaves_nothing_to_run_twice(spool, stand_in):
    stand_in("sbatch", f'touch "{spool.parent}/called"; sleep 1; exec "$real" "$@"')
    process = runner(spool)
    until(lambda: (spool.parent / "called").exists())
    kill(process)  # sbatch goes on without it
    slurm = Slurm(spool, **QUICK)
    assert slurm.adopt(keys_in(spool)) == {f"job{i}" for i in range(8)}  # it got no further than the first array
    all_ended(slurm, 8)
    assert ran(spool) == sorted(f"job{i}" for i in range(8))


def test_a_torn_record_is_no_hindrance(spool):
    slurm = Slurm(spool, **QUICK)
    (spool / "slurm.jobs").write_text('{"name": "flitwarp-1", "ke')
    slurm.start([product(spool, "job", "sleep 1;")])
    again = Slurm(spool, **QUICK)
    assert again.adopt({"job"}) == {"job"}
    assert all_ended(again, 1)["job"].status == 0


# ---- refusals ----


def test_a_lost_answer_of_sbatch_submits_nothing_twice(spool, stand_in):
    stand_in("sbatch", '"$real" "$@" >/dev/null\n'
                       'echo "sbatch: error: Batch job submission failed: Socket timed out" >&2; exit 1')
    slurm = Slurm(spool, **QUICK)
    slurm.start([product(spool, "job")])
    assert all_ended(slurm, 1)["job"].status == 0
    assert ran(spool) == ["job"]


def test_a_controller_that_is_away_for_a_moment_is_asked_again(spool, stand_in):
    stand_in("sbatch", f'[ -e "{spool.parent}/away" ] && exec "$real" "$@"; touch "{spool.parent}/away"\n'
                       'echo "sbatch: error: Unable to contact slurm controller (connect failure)" >&2; exit 1')
    slurm = Slurm(spool, **QUICK)
    slurm.start([product(spool, "job")])
    assert all_ended(slurm, 1)["job"].status == 0
    assert ran(spool) == ["job"]


def test_what_sbatch_refuses_is_an_error_with_its_message(spool):
    slurm = Slurm(spool, partition="nowhere", **QUICK)
    with pytest.raises(SlurmError, match="status 1: .*invalid partition specified: nowhere"):
        slurm.start([product(spool, "job")])
    assert slurm.wait(0) == [] and Slurm(spool).adopt({"job"}) == set()


def test_a_machine_without_slurm_is_an_error(spool, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SlurmError, match="there is no 'sbatch' here"):
        Slurm(spool)


# ---- the machine ----

HOLDER = """
import slurm_machine, subprocess, time
with slurm_machine.slurm_machine() as machine:
    mark = machine.folder / "job"
    subprocess.run(["sbatch", "--quiet", "--output=/dev/null", f"--wrap=touch {mark}; exec sleep 300"],
                   env=machine.environment, check=True, stdout=subprocess.DEVNULL)
    while not mark.exists():
        time.sleep(0.05)
    print(machine.folder, flush=True)
    time.sleep(600)
"""


def test_a_killed_test_s_cluster_is_removed_by_the_next(machine):
    process = subprocess.Popen(["/usr/bin/python3", "-c", HOLDER], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "tests")})
    folder = Path(process.stdout.readline().strip())
    kill(process)
    assert folder.exists() and slurm_machine.processes(folder)
    slurm_machine.remove_leftovers()
    assert not folder.exists() and not slurm_machine.processes(folder)
    assert machine.folder.exists() and slurm_machine.processes(machine.folder)  # this one is in use


def test_a_job_over_its_time_limit_is_told_with_the_reason(overdue):
    job = overdue._elements["late"].id
    ended = all_ended(overdue, 1)["late"]
    assert ended.status == 143
    assert ended.message.startswith(f"slurm job {job}: TIMEOUT, it reached its time limit\n")
    assert "DUE TO TIME LIMIT" in ended.message and "\nworking" in ended.message
    assert not (overdue.spool / "late.json").exists()


# ---- a sweep ----


def test_a_sweep_on_the_cluster_gives_what_it_gives_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = {"network": {"topology": {"type": "torus", "widths": [4, 4]}},
            "workload": {"applications": [{"type": "blast", "warmup": 200, "sample": 1000, "finish_limit": 2000}]}}

    def sweep(name):
        made = flitwarp.Sweep(base, "s", out=name).add_variable("VCs", "VC", [2, 4, 8], "network.router.num_vcs")
        return made.add_loads(0.25, 1.0, 0.25, refine=1)

    cluster = sweep("cluster").run(backend={"type": "slurm", **QUICK}, quiet=True)
    here = sweep("here").run(quiet=True)
    assert len(here.runs) > 10

    def digests(study):
        return [(run.name, run.row.key, run.results["simulation"]["digest"]) for run in study.runs]

    assert digests(cluster) == digests(here)
    assert not (tmp_path / "cluster" / "study.runs").exists()


# ---- one run over ranks ----


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no mpirun here")
@pytest.mark.parametrize("config, sync", [("dragonfly.json", "conservative"), ("phold.json", "optimistic")])
def test_the_job_script_runs_over_ranks_with_the_same_results(tmp_path, config, sync):
    program = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
    environment = {**os.environ, "FLITWARP": program, "SYNC": sync, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    example = ROOT / "examples" / config
    ended = subprocess.run(["sbatch", "--wait", "--ntasks", "2", "--output", "log", ROOT / "examples" / "slurm" / "run.sbatch",
                            example], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    said = (tmp_path / "log").read_text() if (tmp_path / "log").exists() else ""
    assert ended.returncode == 0, ended.stderr + said
    results, = tmp_path.glob("flitwarp-*.json")
    over_ranks = json.loads(results.read_text())["simulation"]
    alone = json.loads(subprocess.run([program, "run", example, "--quiet"], capture_output=True, check=True).stdout)["simulation"]
    assert over_ranks["sync"]["ranks"] == 2 and over_ranks["digest"] == alone["digest"]

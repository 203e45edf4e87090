# SPDX-License-Identifier: Apache-2.0
"""The task runner: order, policies, retries, resources, memory of what was done."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from flitwarp.backend import Job, Local
from flitwarp.store import Store, StudyError
from flitwarp.tasks import SKIPPED, Need, Runner, Stopped, Task, call

LOG = "echo $1 >> log; "


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(name, script="", **more):
    """A task that notes its name in the file log."""
    return Task(name, ["sh", "-c", LOG + script, "sh", name], **more)


def ran():
    return Path("log").read_text().split() if Path("log").exists() else []


def needing(*tasks, likely=()):
    yield Need(list(tasks), list(likely))


def do(*plans, cores=2, **settings):
    with Store("study.sqlite", write=True) as store:
        runner = Runner(store, Local(Path("spool").absolute(), cores, settings.pop("memory", None)),
                        Path("spool").absolute(), **settings)
        runner.run(plans)
    return runner


def test_tasks_run_after_those_they_depend_on(folder):
    first = shell("first", "sleep 0.1")
    left, right = shell("left", after=[first]), shell("right", after=[first])
    last = shell("last", after=[left, right])
    do(needing(last))  # asking for the last asks for all
    assert ran()[0] == "first" and ran()[-1] == "last" and sorted(ran()) == ["first", "last", "left", "right"]


def test_what_depends_on_a_failure_is_not_run_and_says_why(folder):
    bad = shell("bad", "echo broken >&2; exit 3")
    after, other = shell("after", after=[bad]), shell("other")
    runner = do(needing(after, other))
    assert sorted(ran()) == ["bad", "other"]
    assert runner.outcomes[after.key].status == SKIPPED and "'bad' failed" in runner.outcomes[after.key].message
    assert runner.outcomes[bad.key].message == "broken"


def test_failure_policy_finish_starts_nothing_more_but_lets_run_what_runs(folder):
    tasks = [shell("bad", "exit 3"), shell("slow", "sleep 0.4; echo done > slow"), *(shell(f"t{i}") for i in range(5))]
    with pytest.raises(Stopped, match="'bad' failed"):
        do(needing(*tasks), on_failure="finish")
    assert Path("slow").exists() and len(ran()) < 5


def test_failure_policy_stop_ends_what_runs(folder):
    with pytest.raises(Stopped):
        do(needing(shell("slow", "sleep 5; echo done > slow"), shell("bad", "sleep 0.1; exit 3")), on_failure="stop")
    assert not Path("slow").exists()


def test_unknown_policy_is_refused(folder):
    with pytest.raises(ValueError, match="continue, finish, stop"):
        do(on_failure="ignore")


def test_a_killed_task_is_tried_again_as_often_as_allowed(folder):
    dies_twice = "test $(wc -l < log) -ge 3 || kill -9 $$"
    runner = do(needing(shell("unlucky", dies_twice)), retries=2)
    outcome, = runner.outcomes.values()
    assert outcome.ok and outcome.attempts == 3 and ran() == ["unlucky"] * 3


def test_without_retries_a_killed_task_has_failed_and_runs_next_time(folder):
    task = shell("unlucky", "test $(wc -l < log) -ge 2 || kill -9 $$")
    assert do(needing(task)).outcomes[task.key].status == 137
    assert do(needing(task)).outcomes[task.key].ok


def test_what_is_up_to_date_is_not_run_again(folder):
    Path("in").write_text("1")
    make = lambda: shell("copy", "cp in out", inputs=["in"], outputs=["out"])  # noqa: E731
    do(needing(make()))
    assert do(needing(make())).found == 1 and ran() == ["copy"]
    Path("in").write_text("2")  # another content
    do(needing(make()))
    assert Path("out").read_text() == "2" and len(ran()) == 2
    Path("out").unlink()  # a product that is gone
    do(needing(make()))
    assert Path("out").exists() and len(ran()) == 3


def test_a_task_must_make_what_it_promises(folder):
    task = shell("lazy", outputs=["never"])
    assert "did not make never" in do(needing(task)).outcomes[task.key].message


def peak(lines):
    """Most tasks at once, from lines `+` and `-`."""
    now = most = 0
    for line in lines:
        now += 1 if line == "+" else -1
        most = max(most, now)
    return most


@pytest.mark.parametrize("settings, most", [({}, 4), ({"cores": 2}, 2), ({"memory": 1}, 1)])
def test_cores_and_memory_bound_what_runs_at_once(folder, settings, most):
    task = {"cores": settings.get("cores", 1), "memory": settings.get("memory", 0) * 1000}
    do(needing(*(Task(f"t{i}", ["sh", "-c", "echo + >> log; sleep 0.15; echo - >> log", str(i)], **task) for i in range(6))),
       cores=4, memory=1500)
    assert peak(ran()) == most


def test_a_task_larger_than_the_machine_runs_alone(folder):
    do(needing(shell("big", cores=99, memory=1 << 60), shell("small")))
    assert sorted(ran()) == ["big", "small"]


def double(number):
    return {"twice": 2 * number}


def test_functions_are_tasks_too(folder):
    task = call(double, 21, name="double")
    assert do(needing(task)).outcomes[task.key].document == {"twice": 42}
    assert do(needing(call(double, 21))).found == 1
    assert do(needing(call(double, 22))).found == 0


def test_a_likely_task_fills_an_idle_core_but_is_kept_only_when_needed(folder):
    slow, next_one, never = shell("slow", "sleep 0.3"), shell("next"), shell("never", "sleep 9")

    def plan():
        yield Need([slow], [next_one])
        yield Need([next_one], [never])

    runner = do(plan())
    assert ran()[:2] == ["slow", "next"] or ran()[:2] == ["next", "slow"]
    assert never.key not in runner.outcomes and ran().count("next") == 1
    with Store("study.sqlite") as store:
        assert store.outcome(next_one.key).ok and store.outcome(never.key) is None
    assert not Path("spool").exists()


def test_needed_tasks_come_before_likely_ones(folder):
    needed = [shell(f"n{i}", "sleep 0.05") for i in range(4)]
    do(needing(*needed, likely=[shell(f"l{i}") for i in range(4)]), cores=1)
    assert ran()[:4] == ["n0", "n1", "n2", "n3"]


def test_a_product_left_by_someone_else_is_taken(folder):
    task = Task("made", ["false"], product=True)
    Path("spool").mkdir()
    (Path("spool") / f"{task.key}.json").write_text('{"by": "make"}')
    assert do(needing(task)).outcomes[task.key].document == {"by": "make"}


def test_a_job_of_a_killed_runner_is_waited_for_not_run_twice(folder):
    spool = Path("spool").absolute()
    spool.mkdir()
    task = Task("orphan", ["sh", "-c", "echo orphan >> log; sleep 1; echo '{}' > $0.part; mv $0.part $0", "{product}"],
                product=True)
    pid = os.fork()
    if pid == 0:  # a runner that starts the job and is killed
        Local(spool, 1).start([task.job(spool)])
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    start = time.monotonic()
    assert do(needing(task)).outcomes[task.key].ok
    assert ran() == ["orphan"] and time.monotonic() - start > 0.3


def test_one_process_writes_a_study_at_a_time(folder):
    with Store("study.sqlite", write=True):
        with pytest.raises(StudyError, match=f"in use by process {os.getpid()}"):
            Store("study.sqlite", write=True)
        Store("study.sqlite").close()  # reading is fine
    Store("study.sqlite", write=True).close()


def test_strange_files_are_no_studies(folder):
    Path("text").write_text("no database, but longer than the header of one" * 10)
    with pytest.raises(StudyError, match="'text' is no study"):
        Store("text")
    with pytest.raises(StudyError, match="there is no study 'gone'"):
        Store("gone")
    import sqlite3
    base = sqlite3.connect("other.sqlite")
    base.execute("create table t (x)")
    base.commit()
    with pytest.raises(StudyError, match="another program made it"):
        Store("other.sqlite")
    Store("study.sqlite", write=True).close()
    base = sqlite3.connect("study.sqlite")
    base.execute("pragma user_version = 99")
    base.commit()
    with pytest.raises(StudyError, match="newer version of flitwarp.*run the sweep again"):
        Store("study.sqlite")


def test_an_interrupt_ends_the_jobs_and_keeps_what_is_done(folder):
    tasks = [shell("quick"), shell("slow", "sleep 30; echo done > slow")]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    interrupt = threading.Timer(0.5, lambda: os.kill(os.getpid(), 2))
    interrupt.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        do(needing(*tasks))
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 10
    with Store("study.sqlite") as store:
        assert store.outcome(tasks[0].key).ok and store.outcome(tasks[1].key) is None


def test_a_job_says_how_long_it_took(folder):
    spool = Path("spool")
    spool.mkdir()
    local = Local(spool, 1)
    local.start([Job("k", "burn", (sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"))])
    ended, = local.wait(10)
    assert ended.status == 0 and 0.3 <= ended.cpu_seconds < 5 and ended.wall_seconds >= 0.28
    assert abs(ended.started - time.time()) < 30


def test_files_of_others_in_the_spool_stay(folder):
    Path("spool").mkdir()
    Path("spool/precious.txt").write_text("mine")
    do(needing(shell("one")))
    assert Path("spool/precious.txt").exists()


def test_a_program_that_is_not_there_fails_and_the_rest_goes_on(folder):
    gone = Task("gone", ["/nowhere/program"])
    runner = do(needing(gone, shell("other")))
    assert runner.outcomes[gone.key].status == 127 and "/nowhere/program" in runner.outcomes[gone.key].message
    assert ran() == ["other"]


def test_what_a_task_started_ends_with_it(folder):
    local = Local(Path("spool").absolute(), 1)
    Path("spool").mkdir()
    local.start([Job("k" * 32, "parent", ("sh", "-c", "sleep 77 & echo $! > child; wait"))])
    while not Path("child").exists() or not Path("child").read_text().strip():
        time.sleep(0.01)
    local.close()
    child = int(Path("child").read_text())
    for _ in range(100):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split(") ")[1][0] == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("the task's child lives on")


def test_a_task_whose_input_another_makes_runs_once(folder):
    def both():
        first = shell("first", "echo made > file", outputs=["file"])
        return shell("second", "cat file", after=[first], inputs=["file"])
    do(needing(both()))
    do(needing(both()))
    assert ran() == ["first", "second"]


def test_outcomes_survive_as_they_were(folder):
    task = Task("made", ["sh", "-c", "echo '{\"x\": [1, 2.5, null]}' > $0", "{product}"], product=True)
    do(needing(task))
    with Store("study.sqlite") as store:
        assert json.loads(json.dumps(store.outcome(task.key).document)) == {"x": [1, 2.5, None]}

# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a run that is put back to one ends like the run that was never interrupted, in results (but for times, memory and
what threads did) and logs; on every example, in every mode, killed whenever. What cannot be restarted from is refused.
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from support import OF_THE_RUN, PROGRAM, ROOT, blast, config_of, mpirun, network_of, shorter

EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
ASAN = os.environ.get("FLITWARP_ASAN", "")
LOGS = {"--log": "packets.csv.zst", "--message-log": "messages.csv", "--traffic-log": "traffic.csv.zst",
        "--rate-log": "rates.csv", "--channel-log": "channels.csv.zst"}
MESH = config_of(network_of({"type": "mesh", "widths": [4, 4]}), blast(0.3, warmup=500, sample=4000))
LARGER = config_of(network_of({"type": "mesh", "widths": [8, 8]}), blast(0.3, warmup=500, sample=8000))


def flitwarp(*arguments, program=PROGRAM, before=(), **options):
    return subprocess.run([*before, program, *arguments], capture_output=True, text=True, timeout=300, check=False, **options)


def results(path):
    """What may not differ."""
    found = json.loads(path.read_text())
    for key in (*OF_THE_RUN, "restarts"):
        found["simulation"].pop(key, None)
    return found


def written(directory):
    """The checkpoints of a run that keeps all of them, in order."""
    return sorted(directory.glob("*.checkpoint"), key=lambda path: int(path.stem))


def check(config, directory, *arguments, **how):
    """Runs it whole, with a few checkpoints, and again from the middle one of them."""
    run = ["run", config, "--quiet", *arguments]
    whole = flitwarp(*run, "--results", directory / "whole.json", **how)
    assert whole.returncode in (0, 2), whole.stderr
    every = results(directory / "whole.json")["simulation"]["end_tick"] // 4
    kept = flitwarp(*run, "--results", directory / "kept.json", "--checkpoint-every", str(every), "--checkpoint",
                    directory / "{tick}.checkpoint", **how)
    assert (kept.returncode, kept.stderr) == (whole.returncode, whole.stderr)
    assert results(directory / "kept.json") == results(directory / "whole.json")
    checkpoints = written(directory)
    assert checkpoints, "no checkpoint was written"
    again = flitwarp("run", "--restart", checkpoints[len(checkpoints) // 2], "--results", directory / "again.json",
                     "--checkpoint-every", "1000h", "--checkpoint", directory / "other", **how)
    assert again.returncode == whole.returncode, again.stderr
    assert results(directory / "again.json") == results(directory / "whole.json")
    assert json.loads((directory / "again.json").read_text())["simulation"]["restarts"] == 1
    assert not (directory / "other").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_every_example(example, tmp_path):
    is_network = "network" in example.read_text() or "workload" in example.read_text()
    few = [*shorter(example), "workload.check_interval=50"] if is_network else []
    check(example, tmp_path, *few)


def test_a_topology_that_no_example_has(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config_of(
        network_of({"type": "jellyfish"}, "valiant", {"num_vcs": 16}), blast(0.1, warmup=200, sample=500), check_interval=50)))
    check(tmp_path / "config.json", tmp_path)


MODES = [("torus_uniform", "conservative", 2, 1), ("goal_dissemination", "conservative", 2, 1), ("phold", "conservative", 2, 1),
         ("torus_uniform", "optimistic", 2, 1), ("goal_dissemination", "optimistic", 2, 1), ("phold", "optimistic", 2, 1),
         ("goal_dissemination", "conservative", 1, 2), ("phold", "optimistic", 1, 2)]


@pytest.mark.parametrize("name, sync, threads, ranks", MODES)
def test_modes(name, sync, threads, ranks, tmp_path):
    few = {"torus_uniform": ["workload.applications.0.sample=600"], "phold": ["model.end=50000"]}.get(name, [])
    check(ROOT / "examples" / f"{name}.json", tmp_path, *few, "--sync", sync, "--threads", str(threads),
          before=mpirun(ranks) if ranks > 1 else ())


def unpacked(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    return path.read_bytes()


def kept_run(directory, *more, config=MESH):
    """The arguments of a run with all logs and a checkpoint now and then."""
    (directory / "config.json").write_text(json.dumps(config))
    logs = [word for flag, name in LOGS.items() for word in (flag, name)]
    return ["run", "config.json", "--quiet", "--results", "r.json", "--rate-interval", "500", *logs, *more]


def test_killed_until_done(tmp_path):
    """Dies at any moment, writing included, many times in one run; the logs have every line once."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for directory in (whole, broken):
        directory.mkdir()
    assert flitwarp(*kept_run(whole, config=LARGER), cwd=whole).returncode == 0
    draw = random.Random(1)
    arguments, deaths = kept_run(broken, "--checkpoint-every", "200", config=LARGER), 0
    while True:
        seconds = draw.uniform(0.02, 0.1)  # of its own CPU time: no wait, and no clock that a busy machine would shift
        ended = flitwarp(*arguments, cwd=broken,
                         preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, seconds))  # noqa: B023
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGPROF, ended.stderr
        deaths += 1
        assert deaths < 100
        if (broken / "r.json.checkpoint").exists():
            arguments = ["run", "--restart", "r.json.checkpoint"]
    assert deaths > 1
    assert results(broken / "r.json") == results(whole / "r.json")
    for name in LOGS.values():
        assert unpacked(broken / name) == unpacked(whole / name), name
    left = {path.name for path in broken.iterdir()} - {path.name for path in whole.iterdir()}
    assert not [name for name in left if "checkpoint" in name]


def test_kill_9_of_a_group(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(MESH))
    whole = flitwarp("run", "config.json", "--quiet", "--results", "whole.json", cwd=tmp_path)
    assert whole.returncode == 0
    arguments, kills = ["run", "config.json", "--quiet", "--results", "r.json", "--sync", "conservative", "--threads", "2",
                        "--checkpoint-every", "300"], 0
    draw = random.Random(2)
    while True:
        process = subprocess.Popen([PROGRAM, *arguments], cwd=tmp_path, start_new_session=True)
        try:
            assert process.wait(draw.uniform(0.05, 0.3) if kills < 4 else 60) == 0
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        if (tmp_path / "r.json.checkpoint").exists():
            arguments = ["run", "--restart", "r.json.checkpoint"]
    ended, expected = results(tmp_path / "r.json"), results(tmp_path / "whole.json")
    for one in (ended, expected):
        del one["config"]["simulator"]
    assert ended == expected


def test_the_same_bytes_of_logs_with_the_same_interval(tmp_path):
    """What a compressed log looks like depends on where its frames end."""
    first, second = tmp_path / "first", tmp_path / "second"
    for directory in (first, second):
        directory.mkdir()
    assert flitwarp(*kept_run(first, "--checkpoint-every", "500"), cwd=first).returncode == 0
    arguments = kept_run(second, "--checkpoint-every", "500")
    killed = flitwarp(*arguments, cwd=second, preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, 0.04))
    if (second / "r.json.checkpoint").exists():
        arguments = ["run", "--restart", "r.json.checkpoint"]
    assert killed.returncode == 0 or flitwarp(*arguments, cwd=second).returncode == 0
    for name in LOGS.values():
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


LONG = {"mesh": config_of(MESH["network"], blast(0.1, warmup=500, sample=1000000000)),
        "phold": {"model": {"type": "phold", "end": 1000000000000}}}


def terminate(process):
    """When it runs, that is, when it has said that it wants to hear of it."""
    while True:
        caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        if int(caught[1], 16) >> signal.SIGTERM - 1 & 1:
            break
        time.sleep(0.01)
    time.sleep(0.1)
    process.terminate()


@pytest.mark.parametrize("name", LONG)
def test_a_signal_leaves_a_checkpoint(name, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LONG[name]))
    process = subprocess.Popen([PROGRAM, "run", "config.json", "--quiet", "--checkpoint-every", "1h"],
                               cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    terminate(process)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    told = re.search(r"stopped at tick (\d+); goes on from there by: flitwarp (run --restart (\S+))", said)
    assert told and told[3] == "config.json.checkpoint"
    process = subprocess.Popen([PROGRAM, *told[2].split()], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    terminate(process)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(printed)["simulation"]["restarts"] == 1
    assert int(re.search(r"tick (\d+)", said)[1]) > int(told[1])


@pytest.mark.parametrize("name", LONG)
def test_progress_is_shown_where_there_is_a_terminal(name, tmp_path):
    """The run began on one, and goes on without."""
    (tmp_path / "config.json").write_text(json.dumps(LONG[name]))
    terminal, end = os.openpty()
    process = subprocess.Popen([PROGRAM, "run", "config.json", "--results", "r.json", "--checkpoint-every", "1h"],
                               cwd=tmp_path, stderr=end)
    terminate(process)
    assert process.wait(60) == 130
    os.close(end)
    os.close(terminal)
    process = subprocess.Popen([PROGRAM, "run", "--restart", "r.json.checkpoint", "--checkpoint-every", "1h"],
                               cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    terminate(process)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "M events/s" not in said


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("checkpoint")
    (directory / "config.json").write_text(json.dumps(MESH))
    assert flitwarp("run", "config.json", "--quiet", "--results", "r.json", "--checkpoint-every", "1000", "--checkpoint",
                    "{tick}.checkpoint", cwd=directory).returncode == 0
    return written(directory)[0]


def refused(*arguments, **how):
    ended = flitwarp("run", *arguments, **how)
    assert ended.returncode == 1, ended.stderr
    assert "Sanitizer" not in ended.stderr
    return ended.stderr


def test_what_is_damaged_is_refused(checkpoint, tmp_path):
    whole = checkpoint.read_bytes()
    file = tmp_path / "damaged"
    draw = random.Random(3)
    places = [*range(0, 160, 16), *(draw.randrange(len(whole)) for _ in range(20)), len(whole) - 1]
    for at in places:
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1:])
        assert f"cannot restart from '{file}'" in refused("--restart", file), at
    for length in (0, 1, 8, 100, 200, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert f"cannot restart from '{file}'" in refused("--restart", file), length
    file.write_bytes(whole + b"\0")
    assert "damaged" in refused("--restart", file)
    assert "expected a checkpoint" in refused("--restart", ROOT / "README.md")
    assert "No such file" in refused("--restart", tmp_path / "none")


def mixed(word):
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    word = (word ^ word >> 27) * 0x94d049bb133111eb % 2**64
    return word ^ word >> 31


def checksum(data):
    """As src/base/loaded.c has it."""
    lanes, whole = [1, 2, 3, 4], len(data) // 32 * 32
    for i, (word,) in enumerate(struct.iter_unpack("<Q", data[:whole])):
        product = (lanes[i % 4] ^ word) * 0x9e3779b97f4a7c15 % 2**64
        lanes[i % 4] = product ^ product >> 29
    total = mixed(len(data))
    for lane, rest in zip(lanes, struct.unpack("<4Q", data[whole:].ljust(32, b"\0"))):
        total = mixed(total ^ mixed(lane ^ mixed(rest)))
    return struct.pack("<Q", total)


def test_numbers_that_do_not_fit_are_refused(checkpoint, tmp_path):
    whole = checkpoint.read_bytes()[:-8]
    assert checksum(whole) == checkpoint.read_bytes()[-8:]
    counts = whole.index(struct.pack("<Q", 0x200000000000)) + 16  # of plugins, and of words that point into them
    file = tmp_path / "misfit"
    for at, count in ((counts, 65), (counts + 8, 2**59), (counts + 8, 2**64 - 1)):
        changed = whole[:at] + struct.pack("<Q", count) + whole[at + 8:]
        file.write_bytes(changed + checksum(changed))
        assert f"cannot restart from '{file}': what it holds does not fit together" in refused("--restart", file), (at, count)


def test_another_build_is_refused(checkpoint):
    if not ASAN:
        pytest.skip("FLITWARP_ASAN names no other build")
    assert "another build" in refused("--restart", checkpoint, program=ASAN)


def test_another_number_of_ranks_is_refused(checkpoint):
    assert "found 2 ranks, expected 1" in refused("--restart", checkpoint, before=mpirun(2))


def test_requests_that_make_no_sense(checkpoint, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(MESH))
    config = tmp_path / "config.json"
    for every in ("0", "-5", "1.5", "5 s", "3days", "s", "1e30"):
        assert f"'{every}' is no interval; accepted: a number of ticks" in refused(config, f"--checkpoint-every={every}")
    assert "expected --checkpoint-every" in refused(config, "--checkpoint", "here")
    (tmp_path / "nowhere.csv").symlink_to("/dev/null")
    assert "--log: found no regular file" in refused(config, "--checkpoint-every", "5", "--log", tmp_path / "nowhere.csv")
    assert "'config.json': a restart takes no configuration" in refused("config.json", "--restart", checkpoint)
    unknown = refused("--restart", checkpoint, "--threads", "2")
    assert "'--threads' is not understood" in unknown and "no configuration" not in unknown
    (tmp_path / "empty").touch()
    assert "found an empty file or no file, expected a checkpoint" in refused("--restart", tmp_path / "empty")
    assert "check_reversal" in refused(ROOT / "examples" / "phold.json", "--sync", "optimistic", "--check-reversal",
                                       "--checkpoint-every", "5")


def test_a_log_that_is_gone_is_refused(tmp_path):
    killed = flitwarp(*kept_run(tmp_path, "--checkpoint-every", "1000", "--checkpoint", "{tick}.checkpoint"), cwd=tmp_path)
    assert killed.returncode == 0  # its logs are in their places now, and cannot be gone on with
    said = refused("--restart", written(tmp_path)[0].name, cwd=tmp_path)
    assert "packets.csv.zst" in said and "cannot go on writing" in said
    assert (tmp_path / "packets.csv.zst").exists()


def test_no_other_file_is_lost(tmp_path):
    """A checkpoint takes the place of what has its name, and goes at the end."""
    run = kept_run(tmp_path, "--checkpoint-every", "1000", "--checkpoint")
    assert "'r.json' is the file of --results too" in refused(*run[1:], "r.json", cwd=tmp_path)
    assert "'rates.csv' is the file of --rate-log too" in refused(*run[1:], "rates.csv", cwd=tmp_path)
    assert "'config.json' is read, and would be written over" in refused(*run[1:], "config.json", cwd=tmp_path)
    (tmp_path / "notes").write_text("mine")
    assert "'notes' is another kind of file" in refused(*run[1:], "notes", cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "notes"] and (tmp_path / "notes").read_text() == "mine"


def test_results_do_not_replace_the_checkpoint_that_a_run_restarts_from(checkpoint, tmp_path):
    shutil.copy(checkpoint, tmp_path / "a.checkpoint")
    before = (tmp_path / "a.checkpoint").read_bytes()
    said = refused("--restart", "a.checkpoint", "--checkpoint", "b.checkpoint", "--results", "./a.checkpoint", cwd=tmp_path)
    assert "--results: './a.checkpoint' is read, and would be written over" in said
    assert (tmp_path / "a.checkpoint").read_bytes() == before


def test_an_older_one_stays_until_there_is_another(checkpoint, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(MESH))
    shutil.copy(checkpoint, tmp_path / "older")
    assert flitwarp("run", "config.json", "--quiet", "--results", "r.json", "--checkpoint-every", "1000h", "--checkpoint",
                    "older", cwd=tmp_path).returncode == 0
    assert (tmp_path / "older").read_bytes() == checkpoint.read_bytes()


def test_results_that_cannot_be_written(tmp_path):
    """Nothing is lost: what the message says goes on, with the logs."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for directory in (whole, broken):
        directory.mkdir()
    assert flitwarp(*kept_run(whole), cwd=whole).returncode == 0
    run = kept_run(broken, "--checkpoint-every", "1000", "--checkpoint", "here")
    run[run.index("r.json")] = "gone/r.json"
    (broken / "gone").mkdir()
    process = subprocess.Popen([PROGRAM, *run], cwd=broken, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (broken / "here").exists():
        time.sleep(0.001)
    (broken / "gone").rmdir()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    told = re.search(r"goes on from there by: flitwarp (run --restart here)", said)
    assert told, said
    assert flitwarp(*told[1].split(), "--results", "r.json", cwd=broken).returncode == 0
    assert results(broken / "r.json") == results(whole / "r.json")
    for name in LOGS.values():
        assert unpacked(broken / name) == unpacked(whole / name), name
    assert {path.name for path in broken.iterdir()} == {path.name for path in whole.iterdir()}


def test_two_runs_with_one_name(tmp_path):
    """The second is refused while the first goes on, and takes its place afterwards."""
    (tmp_path / "config.json").write_text(json.dumps(LARGER))
    command = ["run", "config.json", "--quiet", "--checkpoint-every", "500", "--checkpoint", "c"]
    first = subprocess.Popen([PROGRAM, *command, "workload.applications.0.sample=100000000"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "c").exists() and time.monotonic() < until:
            time.sleep(0.02)
        refused = flitwarp(*command, cwd=tmp_path)
        assert refused.returncode == 1 and "--checkpoint: 'c' is that of a run that goes on" in refused.stderr
        again = flitwarp("run", "--restart", "c", cwd=tmp_path)
        assert again.returncode == 1 and "is that of a run that goes on" in again.stderr
    finally:
        first.kill()
        first.wait()
    assert flitwarp(*command, cwd=tmp_path).returncode == 0


def test_the_disk_is_full(tmp_path):
    """The run goes on without, and says so."""
    (tmp_path / "config.json").write_text(json.dumps(LARGER))
    ended = flitwarp("run", "config.json", "--quiet", "--results", "r.json", "--checkpoint-every", "1000", cwd=tmp_path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384)))
    assert ended.returncode == 0, ended.stderr
    assert "cannot write 'r.json.checkpoint': File too large" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "r.json"]


def test_the_disk_is_full_of_logs(tmp_path):
    """The last checkpoint with whole logs stays, and the run goes on from there when there is room again."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for directory in (whole, broken):
        directory.mkdir()
    assert flitwarp(*kept_run(whole), cwd=whole).returncode == 0
    room = (whole / "messages.csv").stat().st_size // 2
    ended = flitwarp(*kept_run(broken, "--checkpoint-every", "500"), cwd=broken,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert ended.returncode == 3
    assert "messages.csv': File too large" in ended.stderr and "a log could not be written" in ended.stderr
    assert results(broken / "r.json") == results(whole / "r.json")
    assert flitwarp("run", "--restart", "r.json.checkpoint", cwd=broken).returncode == 0
    assert results(broken / "r.json") == results(whole / "r.json")
    for name in LOGS.values():
        assert unpacked(broken / name) == unpacked(whole / name), name
    assert {path.name for path in broken.iterdir()} == {path.name for path in whole.iterdir()}


PLUGIN = r"""
#include "flitwarp/arena.h"
#include "flitwarp/traffic.h"

static void opposite_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                             struct errors *errors)
{
    (void)traffic, (void)self, (void)space, (void)errors;
    %s
}

static uint32_t opposite_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return traffic->terminals - 1 - source;
}
static const struct traffic_ops opposite = {.name = "opposite", .summary = "the last in place of the first",
    .prepare = opposite_prepare, .destination = opposite_destination};
REGISTER_TRAFFIC(opposite);
"""


def plugin(directory, name, code=""):
    source = directory / f"{name}.c"
    source.write_text("#include <stdlib.h>\n" + PLUGIN % code)
    subprocess.run(["gcc", "-std=c17", "-shared", "-fPIC", "-O1", "-I", ROOT / "include", source, "-o",
                    directory / f"{name}.so"], check=True)
    return directory / f"{name}.so"


@pytest.mark.parametrize("program", [PROGRAM, *([ASAN] if ASAN else [])])
def test_plugins(program, tmp_path):
    """It lies elsewhere in each process; restarts find it by themselves, also where it has moved to."""
    (tmp_path / "config.json").write_text(json.dumps({**MESH, "workload": {"applications": [
        blast(0.2, "opposite", warmup=500, sample=3000)]}}))
    file = plugin(tmp_path, "opposite")
    run = ["--plugin", file, "run", tmp_path / "config.json", "--quiet"]
    assert flitwarp(*run, "--results", tmp_path / "whole.json", program=program).returncode == 0
    kept = flitwarp(*run, "--results", tmp_path / "kept.json", "--checkpoint-every", "800", "--checkpoint",
                    tmp_path / "{tick}.checkpoint", program=program)
    assert kept.returncode == 0, kept.stderr
    middle = written(tmp_path)[2]
    for before in ([], ["--plugin", tmp_path / "moved.so"]):
        if before:
            file.rename(tmp_path / "moved.so")
            assert "cannot be loaded" in refused("--restart", middle, program=program)
        again = flitwarp(*before, "run", "--restart", middle, "--results", tmp_path / "again.json", program=program)
        assert again.returncode == 0, again.stderr
        assert results(tmp_path / "again.json") == results(tmp_path / "whole.json")
    plugin(tmp_path, "opposite", "if (traffic->terminals == 0) abort();")
    assert "of another build" in refused("--restart", middle, program=program)


def test_a_plugin_with_memory_of_its_own_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(MESH))
    file = plugin(tmp_path, "own", "traffic->state = malloc(8);")
    ended = flitwarp("--plugin", file, "run", tmp_path / "config.json", "--checkpoint-every", "5")
    assert ended.returncode == 1 and "calls malloc()" in ended.stderr and "memory_take()" in ended.stderr


@pytest.mark.skipif(not ASAN, reason="FLITWARP_ASAN names no build with sanitizers")
@pytest.mark.parametrize("name, how", [("omnipath", ()), ("goal_dissemination", ("--sync", "conservative", "--threads", "2")),
                                       ("phold", ("--sync", "optimistic", "--threads", "2"))])
def test_sanitizers_find_nothing(name, how, tmp_path):
    check(ROOT / "examples" / f"{name}.json", tmp_path, *how, *(["model.end=50000"] if name == "phold" else []), program=ASAN)

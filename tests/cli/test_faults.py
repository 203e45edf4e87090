# SPDX-License-Identifier: Apache-2.0
"""What happens when the machine fails, or somebody: a full disk, a folder that nobody may write to, a reader that goes away,
signals at any moment, no memory. Every command ends with the status that docs/guide/trouble.md promises, says why, and leaves no file
behind that is half of one, under its own name or any other.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from support import PROGRAM, ROOT, children, mpirun, still_running

CONFIG = {"network": {"topology": {"type": "mesh", "widths": [4, 4]}},
          "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 100, "sample": 200}]}}
GOAL = "num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\nrank 1 {\nl1: recv 10b from 0 tag 1\n}\n"
LONG = "workload.applications.0.sample=100000000000"
LOGS = ["--log", "out/packets.csv.zst", "--message-log", "out/messages.csv", "--traffic-log", "out/traffic.csv", "--channel-log",
        "out/channels.csv", "--rate-log", "out/rates.csv", "--rate-interval", "100"]
WRITING = {  # every command that writes, into the folder out/
    "run": ["run", "config.json", "--quiet", "--results", "out/results.json", *LOGS],
    "run threads": ["run", "config.json", "--sync", "conservative", "--threads", "2", "--quiet", "--results", "out/results.json", *LOGS],
    "run model": ["run", "model.json", "--quiet", "--results", "out/results.json"],
    "parse": ["parse", "packets.csv", "--csv", "out/some.csv", "--distribution", "out/spread.csv.zst", "--matrix", "out/pairs.csv",
              "--series", "out/series.csv", "--interval", "10"],
    "trace-convert": ["trace-convert", "trace.goal", "-o", "out/trace.bin"],
    "trace-info": ["trace-info", "trace.goal", "--matrix", "out/matrix.svg"],
    "record": ["record", "config.json", "-o", "out/page.html", "--cycles", "20"],
    "topology": ["topology", "config.json", "--export", "out/network.graphml"],
    "picture": ["topology", "config.json", "--picture", "out/network.svg"],
    "import": ["import", "booksim.cfg", "-o", "out/config.json"],
    "new": ["new", "topology", "mine", "--dir", "out/"],
}
PRINTING = [["run", "config.json", "--quiet"], ["check", "config.json"], ["settings", "config.json"], ["topology", "config.json"],
            ["trace", "config.json", "--packet", "1"], ["parse", "packets.csv"], ["list"], ["explain", "torus"], ["schema"],
            ["import", "booksim.cfg"], ["trace-info", "trace.goal"], ["help"], ["version"]]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with what the commands read, and an empty folder for what they write."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.json").write_text(json.dumps({"model": {"type": "phold", "processes": 64, "end": 10000}}))
    (folder / "trace.goal").write_text(GOAL)
    (folder / "booksim.cfg").write_text("topology = mesh;\nk = 4;\nn = 2;\nrouting_function = dim_order;\n")
    subprocess.run([PROGRAM, "run", "config.json", "--quiet", "--results", os.devnull, "--log", "packets.csv"], cwd=folder, check=True)
    return folder


@pytest.fixture
def place(inputs, tmp_path):
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    (tmp_path / "out").mkdir()
    return tmp_path


def start(place, arguments, **more):
    return subprocess.Popen([PROGRAM, *arguments], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def end(process, seconds=60):
    out, errors = process.communicate(timeout=seconds)
    return process.returncode, out, errors


def left(place):
    return sorted(os.listdir(place / "out"))


def written(name):
    """The files of a command that has ended well."""
    return ["mine.c", "mine.json", "test_mine.py"] if name == "new" else sorted(word[4:] for word in WRITING[name] if word.startswith("out/"))


# ---- what works must work first ----

@pytest.mark.parametrize("name", WRITING)
def test_command_writes_its_files(name, place):
    status, _, errors = end(start(place, WRITING[name]))
    assert status == 0, errors
    assert left(place) == written(name)


# ---- a full disk ----

def limit_files(size):
    """Files end at a size, as they do on a full disk; the signal that comes with it kills nobody."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 100])
@pytest.mark.parametrize("name", WRITING)
def test_full_disk(name, size, place):
    status, _, errors = end(start(place, WRITING[name], preexec_fn=limit_files(size)))
    if size and name in ("trace-convert", "import"):
        return  # has room for all of it
    assert status == 3 and "cannot write '" in errors and "File too large" in errors, (status, errors)
    for file in left(place):  # another than the one that failed, and that had room
        assert (place / "out" / file).stat().st_size <= size and (place / "out" / file).read_text().endswith("\n")


def test_full_disk_keeps_the_file_that_was_there(place):
    (place / "out" / "results.json").write_text("precious")
    status, _, _ = end(start(place, WRITING["run model"], preexec_fn=limit_files(100)))
    assert status == 3 and left(place) == ["results.json"] and (place / "out" / "results.json").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a file system")
def test_file_system_without_room(place):
    """A real one, which fills in the middle of a log."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place / "out"], check=False, capture_output=True).returncode:
        pytest.skip("mount is not allowed here")
    try:
        status, _, errors = end(start(place, [*WRITING["run"], "workload.applications.0.sample=3000"]))
        assert status == 3 and "No space left on device" in errors and "results.json" not in left(place), (status, errors)
        assert not [file for file in left(place) if file.startswith(("packets", "messages"))], "half a log"
        for file in left(place):
            assert (place / "out" / file).read_text().endswith("\n")
    finally:
        subprocess.run(["umount", place / "out"], check=True)


@pytest.mark.parametrize("arguments", PRINTING, ids=lambda arguments: arguments[0])
def test_full_disk_behind_standard_output(arguments, place):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([PROGRAM, *arguments], cwd=place, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.returncode == 3 and ("standard output" in ended.stderr or "'-'" in ended.stderr), (ended.returncode, ended.stderr)


# ---- a folder that nobody may write to ----

@pytest.mark.parametrize("name", WRITING)
def test_read_only_folder(name, place):
    """Root may write anywhere: there another user tries it."""
    (place / "out").chmod(0o555)
    more = {}
    if os.geteuid() == 0:
        for folder in (place, *place.parents):
            if not folder.stat().st_mode & 0o005:
                folder.chmod(folder.stat().st_mode | 0o055)
        more = {"user": 65534, "group": 65534, "extra_groups": []}
    if os.geteuid() == 0 and not os.access(ROOT, os.X_OK):
        pytest.skip("the program lies where another user does not get")
    try:
        process = start(place, WRITING[name], **more)
    except PermissionError:
        pytest.skip("the program lies where another user does not get")
    status, _, errors = end(process)
    assert status == 3 and "cannot write '" in errors and "Permission denied" in errors, (status, errors)
    assert left(place) == []


# ---- a reader that goes away ----

@pytest.mark.parametrize("arguments", PRINTING, ids=lambda arguments: arguments[0])
def test_closed_standard_output(arguments, place):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run([PROGRAM, *arguments], cwd=place, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(write)
    assert ended.returncode == 3, (ended.returncode, ended.stderr)


@pytest.mark.parametrize("name", WRITING)
def test_closed_standard_error(name, place):
    """What nobody reads does not keep the files from being written."""
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run([PROGRAM, *[word for word in WRITING[name] if word != "--quiet"]], cwd=place, stdout=subprocess.DEVNULL,
                           stderr=write, timeout=60, check=False)
    os.close(write)
    assert ended.returncode == 0 and left(place) == written(name)


# ---- signals ----

def interrupt_at(place, arguments, seconds, number=signal.SIGTERM, **more):
    process = start(place, arguments, **more)
    time.sleep(seconds)
    process.send_signal(number)
    return end(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("threads", [[], ["--sync", "conservative", "--threads", "2"], ["--sync", "optimistic", "--threads", "2"]],
                         ids=["one", "conservative", "optimistic"])
def test_interrupted_run_writes_what_it_has(threads, number, place):
    """At whatever moment: before the run there is nothing to write, in it all files are."""
    for seconds in (0, 0.01, 0.3):
        status, _, errors = interrupt_at(place, [*WRITING["run"], LONG, *threads], seconds, number)
        if not left(place) and seconds < 0.3:  # it was being started or built
            assert status in (130, -number)
            continue
        assert status == 130 and not errors, (status, errors)
        assert left(place) == written("run")
        assert json.loads((place / "out" / "results.json").read_text())["outcome"] == "interrupted"
        shutil.rmtree(place / "out")
        (place / "out").mkdir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_building_ends_at_once(number, place):
    """A network of 16 million routers takes minutes to build."""
    began = time.monotonic()
    status, _, _ = interrupt_at(place, [*WRITING["run"], "network.topology.widths=[4096,4096]"], 0.3, number,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (64 << 30, 64 << 30)))
    assert status == 130 and left(place) == [] and time.monotonic() - began < 30


SLOW = {
    "record": ["record", "config.json", "-o", "out/page.html", "--from", "1000000000", LONG],
    "reading": ["run", "pipe", "--results", "out/results.json"],
    "parse": ["parse", "pipe", "--csv", "out/some.csv"],
    "baseline": ["run", "config.json", "--baseline", "--quiet", LONG, "--results", "out/results.json"],
}


@pytest.mark.parametrize("name", SLOW)
def test_interrupted_command(name, place):
    os.mkfifo(place / "pipe")
    reader = os.open(place / "pipe", os.O_RDWR)  # so that opening it does not wait, and reading does
    if name == "parse":
        os.write(reader, (place / "packets.csv").read_bytes()[:500])
    status, _, _ = interrupt_at(place, SLOW[name], 0.3)
    os.close(reader)
    assert status == 130 and left(place) in ([], ["results.json"])


def test_killed_run_leaves_nothing(place):
    """Where the file system has files without a name: whatever ends the program."""
    try:
        os.close(os.open(place, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        pytest.skip("the file system has no files without a name")
    assert interrupt_at(place, [*WRITING["run"], LONG], 0.3, signal.SIGKILL)[0] == -signal.SIGKILL
    assert left(place) == []


def test_second_signal_ends_a_run_at_once(place):
    """The first is seen at the next point of the grid on which phases change, and here that is far away."""
    process = start(place, [*WRITING["run"], LONG, "workload.check_interval=1000000000"])
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert end(process)[0] == 130 and left(place) == []


@pytest.mark.parametrize("settings", [[LONG], ["network.topology.widths=[2048,2048]"]], ids=["running", "building"])
def test_interrupted_ranks_end_all_together(settings, place):
    command = [*mpirun(2), PROGRAM, "run", "config.json", "--sync", "conservative", "--quiet",
               "--results", "out/results.json", "--log", "out/packets.csv", *settings]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while len(children(process.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.5)
    ranks = children(process.pid)
    for rank in ranks:
        os.kill(rank, signal.SIGTERM)
    status, _, errors = end(process)
    assert status != 0 and still_running(ranks) == [], errors
    assert left(place) in ([], ["packets.csv", "results.json"])


# ---- names of files ----

TRACE = {"network": {"topology": {"type": "torus", "widths": [4]}, "router": {"num_vcs": 2}},
         "workload": {"applications": [{"type": "trace", "file": "messages.csv", "format": "csv"}]}}
ONE_NAME = {
    "two outputs": ("config.json", ["--results", "out/a.csv", "--log", "out/../out/a.csv"], "--log: 'out/../out/a.csv' is the file of --results too"),
    "a link": ("config.json", ["--results", "link.csv", "--log", "out/a.csv"], "is the file of --results too"),
    "the configuration": ("config.json", ["--results", "config.json"], "--results: 'config.json' is read, and would be written over"),
    "what it includes": ("including.json", ["--results", "config.json"], "--results: 'config.json' is read"),
    "the trace": ("trace.json", ["--message-log", "./messages.csv"], "--message-log: './messages.csv' is read"),
    "the trace and a checkpoint": ("trace.json", ["--checkpoint-every", "1000", "--checkpoint", "messages.csv"], "--checkpoint: 'messages.csv' is read"),
}


@pytest.mark.parametrize("case", ONE_NAME)
def test_no_file_is_written_twice_or_over_what_is_read(case, place):
    config, arguments, message = ONE_NAME[case]
    (place / "messages.csv").write_text("time,source,destination,bytes\n0,0,1,8\n")
    (place / "trace.json").write_text(json.dumps(TRACE))
    (place / "including.json").write_text('{"$include": "config.json"}')
    (place / "link.csv").symlink_to("out/a.csv")
    if case == "a link":
        (place / "out" / "a.csv").touch()
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    status, _, errors = end(start(place, ["run", config, *arguments]))
    assert status == 1 and message in errors, errors
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


OVER_ITSELF = {  # what other commands read, by its name and by another of the same file
    "record": ["record", "including.json", "-o", "config.json", "--cycles", "5"],
    "record the trace": ["record", "trace.json", "-o", "other.csv", "--cycles", "5"],
    "topology": ["topology", "config.json", "--export", "hard.txt"],
    "topology's file": ["topology", "net.json", "--export", "net.txt"],
    "prices": ["topology", "config.json", "--prices", "prices.json", "--picture", "prices.svg"],
    "two pictures": ["topology", "config.json", "--export", "one.svg", "--picture", "one.svg"],
    "trace-info": ["trace-info", "messages.csv", "--format", "csv", "--matrix", "other.csv"],
    "trace-convert": ["trace-convert", "trace.goal", "-o", "./trace.goal"],
    "trace-convert csv": ["trace-convert", "messages.csv", "-o", "other.csv"],
    "another rank": ["trace-convert", "job.meta", "--to", "goal", "-o", "job-0001.bin"],
    "the job": ["trace-convert", "job-0001.bin", "--to", "goal", "-o", "linked"],
    "another rank's nodes": ["trace-convert", "ai.0.et", "--to", "goal", "-o", "./ai.1.et"],
    "groups of ranks": ["trace-convert", "ai.0.et", "--to", "goal", "-o", "ai.groups.json"],
    "parse": ["parse", "packets.csv", "--matrix", "out/../packets.csv"],
    "parse twice": ["parse", "packets.csv", "--matrix", "out/a.csv", "--csv", "./out/a.csv"],
    "import": ["import", "booksim.cfg", "-o", "booksim.cfg"],
    "import what is named": ["import", "anynet.cfg", "-o", "anynet.txt"],
}


@pytest.mark.parametrize("case", OVER_ITSELF)
def test_no_command_writes_over_what_it_reads(case, place):
    (place / "messages.csv").write_text("time,source,destination,bytes\n0,0,1,8\n")
    (place / "other.csv").hardlink_to(place / "messages.csv")
    for name in ("job.meta", "job-0000.bin", "job-0001.bin", "ai.0.et", "ai.1.et", "ai.groups.json"):
        (place / name).write_text("of a trace")
    (place / "linked").symlink_to("job.meta")
    (place / "hard.txt").hardlink_to(place / "config.json")
    (place / "trace.json").write_text(json.dumps(TRACE))
    (place / "including.json").write_text('{"$include": "config.json"}')
    (place / "net.json").write_text('{"network": {"topology": {"type": "file", "file": "net.txt"}, "routing": "minimal"}}')
    (place / "net.txt").write_text("node 0 router 0 1\nnode 1 router 0 1\n")
    (place / "prices.json").write_text('{"router": 1, "link": 1}')
    (place / "prices.svg").symlink_to("prices.json")
    (place / "anynet.cfg").write_text("topology = anynet;\nrouting_function = min;\nnetwork_file = anynet.txt;\n")
    (place / "anynet.txt").write_text("router 0 node 0 router 1\nrouter 1 node 1\n")
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    status, _, errors = end(start(place, OVER_ITSELF[case]))
    words = "is the file of" if "twice" in case or "two" in case else "is read, and would be written over"
    assert status == 1 and words in errors, errors
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before and not left(place)


def test_what_is_no_file_is_written_twice(place):
    status, _, errors = end(start(place, ["run", "config.json", "--quiet", "--results", "/dev/null", "--log", "out/a.csv"]))
    assert status == 0, errors


# ---- no memory ----

def limit_memory(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


LARGE = ["network.topology.widths=[48,48]", "workload.applications.0.sample=100"]
HUNGRY = {
    "run": [*WRITING["run"], *LARGE],
    "run threads": [*WRITING["run threads"], *LARGE],
    "run optimistic": ["run", "config.json", "--sync", "optimistic", "--quiet", "--results", "out/results.json", *LARGE],
    "saturated": [*WRITING["run"], "workload.applications.0.load=1", "network.topology.widths=[16,16]",
                  "workload.applications.0.sample=1000000"],
    "model": ["run", "model.json", "--quiet", "--results", "out/results.json", "model.processes=50000"],
    "parse": WRITING["parse"],
    "record": [*WRITING["record"], "network.topology.widths=[30,30]"],
    "topology": [*WRITING["topology"], "network.topology.widths=[80,80]"],
    "check": ["check", "config.json", "network.topology.widths=[24,24]"],
}


def least_to_start(place):
    """Address space in which the program starts at all, in MiB: what its libraries take."""
    size = 8
    while subprocess.run([PROGRAM, "version"], cwd=place, preexec_fn=limit_memory(size << 20), capture_output=True, check=False).returncode:
        size += 1
    return size


@pytest.mark.parametrize("name", HUNGRY)
def test_out_of_memory(name, place):
    """From what the program hardly starts in to what is enough, or 60 MiB more."""
    least, statuses = least_to_start(place), []
    for more in (0, 1, 3, 6, 12, 25, 60):
        process = start(place, HUNGRY[name], preexec_fn=limit_memory((least + more) << 20))
        status, _, errors = end(process)
        statuses.append(status)
        if status == 0:
            break
        assert status == 3 and ("memory" in errors or "refuses" in errors), (more, status, errors)
        assert left(place) == [], more
    assert 3 in statuses, statuses


def test_a_time_series_of_too_many_bins_names_the_setting(place):
    (place / "late.csv").write_text("time,source,destination,bytes\n0,0,1,8\n5000000000,0,1,8\n")
    trace = {"network": {"topology": {"type": "torus", "widths": [4]}, "router": {"num_vcs": 2}},
             "workload": {"series_interval": 1, "applications": [{"type": "trace", "file": "late.csv", "format": "csv"}]}}
    (place / "late.json").write_text(json.dumps(trace))
    status, _, errors = end(start(place, ["run", "late.json", "--results", "out/results.json"]))
    assert status == 3 and "take a longer workload.series_interval" in errors and "invariant" not in errors and left(place) == []


# ---- sweeps ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_sweep_can_go_on(number, place):
    """What it has written is whole, its runs have ended with it, and the same command does the rest."""
    study = {"name": "s", "base": "config.json", "load": {"values": [0.05, 0.1]},
             "variables": [{"name": "sample", "short": "N", "values": [200, 50000000], "path": "workload.applications.0.sample"}]}
    (place / "study.json").write_text(json.dumps(study))
    command = [sys.executable, str(ROOT / "bin" / "flitwarp-sweep"), "study.json", "--out", "out", "--no-report"]
    environment = {**os.environ, "FLITWARP": PROGRAM}
    process = subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while not (runs := children(process.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    runs = children(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "goes on from here" in errors and still_running(runs) == []
    study["variables"][0]["values"][1] = 300
    (place / "study.json").write_text(json.dumps(study))
    subprocess.run([*command, "--quiet"], cwd=place, env=environment, check=True)
    assert not [file for _, _, files in os.walk(place / "out") for file in files if "tmp" in file]

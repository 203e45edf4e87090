# SPDX-License-Identifier: Apache-2.0
"""./dev, the benchmark runner and the Python package behind ./dev run. Nothing here builds."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLITWARP = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
ENVIRONMENT = {**os.environ, "FLITWARP": FLITWARP, "PYTHONPATH": str(ROOT / "python")}
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", FLITWARP)

import flitwarp  # noqa: E402

SMALL = {"network": {"topology": {"type": "torus", "widths": [4, 4]}},
         "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 500, "sample": 2000}]}}


def dev(*arguments, cwd=ROOT):
    return subprocess.run([str(ROOT / "dev"), *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=300, check=False)


def python(*arguments, cwd=ROOT, **environment):
    return subprocess.run(["/usr/bin/python3", *map(str, arguments)], cwd=cwd, env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True, timeout=300, check=False)


# ---- ./dev ----


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_has_a_line_for_every_command(arguments, tmp_path):
    ended = dev(*arguments, cwd=tmp_path)
    assert ended.returncode == 0
    for command in ("build", "run", "test", "coverage", "digests", "compare", "mutate", "bench", "reproduce", "docs", "format", "lint", "fuzz", "soak", "package", "artifact", "help"):
        assert re.search(rf"^  {command} ", ended.stdout, re.M), command


def test_unknown_command_is_refused():
    ended = dev("biuld")
    assert ended.returncode == 1
    assert "unknown command 'biuld'" in ended.stderr and "usage:" in ended.stderr


def test_the_page_is_made_by_whatever_builds_the_program(tmp_path):
    """In a tree of its own, with a cmake and an npm that only say that they were called."""
    tree, tools = tmp_path / "tree", tmp_path / "tools"
    for folder in (tools, tree / "python" / "flitwarp", tree / "viewer" / "src", tree / "bench"):
        folder.mkdir(parents=True)
    for script in ("python/flitwarp/__init__.py", "python/flitwarp/experiment.py", "python/matplotlib.py", "python/numpy.py", "bench/bench.py", "viewer/build.mjs", "viewer/package-lock.json"):
        (tree / script).touch()
    shutil.copy(ROOT / "dev", tree)
    for tool, more in (("cmake", ""), ("npm", "[ $1 = ci ] || { mkdir -p dist; }")):
        (tools / tool).write_text(f"#!/bin/sh\necho {tool} $1 >> {tmp_path}/called\n{more}\n")
        (tools / tool).chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{tools}:{os.environ['PATH']}", "FLITWARP": ""}

    def called(*words):
        (tmp_path / "called").write_text("")
        subprocess.run([tree / "dev", *words], env=environment, capture_output=True, check=True)
        return (tmp_path / "called").read_text().split("\n")

    made = ["npm ci", "npm run"]
    assert called("run")[:3] == [*made, "cmake -S"]
    assert called("run")[0] == "cmake -S"  # it is there
    (tree / "viewer" / "src" / "main.ts").write_text("changed")
    assert called("bench")[:3] == [*made, "cmake -S"]


# What apt-get prints when it is told to say how far it is, and its other lines between those.
APT = """#!/bin/sh
[ "$2" = update ] && exit
printf 'dlstatus:1:40.0000:Retrieving file 1 of 2\\npmstatus:libc6:amd64:70.5000:Unpacking libc6 (amd64)\\nUnpacking libc6 ...\\nE: no such package\\n'
exit $STATUS
"""


def install(tmp_path, status, stderr=subprocess.PIPE):
    """./dev's installing of two packages, by an apt-get that ends with a status."""
    for tool, text in (("apt-get", APT), ("sudo", '#!/bin/sh\nexec "$@"\n')):
        (tmp_path / tool).write_text(text)
        (tmp_path / tool).chmod(0o755)
    script = """set -euo pipefail; eval "$(sed -n '/^say()/,/^# ---- commands/p' "$1/dev")"; MISSING=(this that); install_missing"""
    return subprocess.run(["bash", "-c", script, "-", ROOT], stdout=subprocess.PIPE, stderr=stderr, text=True, check=False,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "STATUS": str(status)})


def test_installing_says_in_a_line_what_is_installed(tmp_path):
    ended = install(tmp_path, 0)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "== installing this that, and what they need\n")


def test_installing_that_fails_shows_what_apt_said(tmp_path):
    ended = install(tmp_path, 100)
    assert ended.returncode == 1 and ended.stderr.endswith("need\nUnpacking libc6 ...\nE: no such package\n")


def test_installing_on_a_terminal_says_how_far_it_is(tmp_path):
    ours, theirs = os.openpty()
    assert install(tmp_path, 0, stderr=theirs).returncode == 0
    said = os.read(ours, 10000).decode()
    assert said.index("40 % downloaded") < said.index("70 % installed") and said.endswith("\r\033[K")
    os.close(ours)
    os.close(theirs)


def test_the_page_in_the_repository_is_made_of_its_sources():
    """Whoever changes them runs ./dev build, and commits viewer/dist with them."""
    script = """ROOT=$1; eval "$(sed -n '/^page_sources()/,/^}/p' "$1/dev")"; page_sources"""
    words = subprocess.run(["bash", "-c", script, "-", ROOT], capture_output=True, text=True, check=True)
    assert (ROOT / "viewer" / "dist" / "made_of").read_text() == words.stdout, "viewer/src has changed: run ./dev build, and commit viewer/dist"


def test_the_fuzzer_fits_the_program():
    """./dev fuzz needs clang and minutes; that its files call only what there is takes a moment."""
    sources = [*sorted((ROOT / "tests" / "fuzz").glob("*.c")), ROOT / "tests" / "unit" / "config" / "test_config_rows.c"]
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *(f"-I{ROOT / folder}" for folder in ("include", "src", "tests/unit"))]
    ended = subprocess.run(["gcc", "-fsyntax-only", *flags, *sources], capture_output=True, text=True, check=False)
    assert len(sources) > 5 and ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("words, told", [(("package", "--whell"), "none of --deb, --wheel, --tarball"), (("artifact",), "takes one of amg fitfly"),
                                         (("artifact", "fitflies"), "takes one of amg fitfly")])
def test_packages_that_there_are_not_are_refused(words, told):
    ended = dev(*words)
    assert ended.returncode == 1 and told in ended.stderr


def test_soak_samples_the_memory_of_a_run(tmp_path):
    ended = python(ROOT / "bench" / "soak.py", "0.0003", "flit level", "model", "--out", tmp_path)
    assert ended.returncode in (0, 1), ended.stderr  # a second is no time to judge in
    assert re.search(r"^flit level +[0-9,]+ +[0-9,]+ .*events", ended.stdout, re.M)
    rows = list(csv.DictReader(open(tmp_path / "soak.csv")))
    assert len(rows) > 100 and all(int(row["flit level"]) > 1 << 20 for row in rows[10:])
    assert (tmp_path / "soak.svg").stat().st_size > 1000
    assert python(ROOT / "bench" / "soak.py", "1", "flat level").returncode == 2


@pytest.mark.parametrize("arguments", [("fuzz", "soon"), ("fuzz", "-1"), ("fuzz", "0"), ("fuzz", "1", "2"),
                                       ("docs", "a", "b"), ("format", "src"), ("lint", "src")])
def test_wrong_arguments_are_refused(arguments):
    ended = dev(*arguments)
    assert ended.returncode == 1
    assert ended.stderr.startswith("./dev: ")


def test_continuous_integration_calls_dev_test():
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("./dev test")
    assert os.access(ROOT / ".ci" / "run", os.X_OK) and os.access(ROOT / "dev", os.X_OK)


# ---- mutants ----


def mutants(source):
    """{what: changed source} of the changes of a file."""
    script = ("import json, sys; sys.path.insert(0, sys.argv[1]); from mutants import mutants_of; source = sys.stdin.read();"
              "print(json.dumps([[one.what, one.apply(source)] for one in mutants_of('a.c', source)]))")
    ended = subprocess.run(["/usr/bin/python3", "-c", script, ROOT / "tests" / "mutation"], input=source, capture_output=True,
                           text=True, check=True)
    return json.loads(ended.stdout)


def test_mutants_are_small_changes_of_what_runs():
    source = 'int f(int *a) /* 1 < 2 */\n{\n    FW_CHECK(a[0] == 1, "3 > 2");\n    if (*a < 7)\n        g(a);\n    return *a + 0;\n}\n'
    found = mutants(source)
    assert sorted({what for what, _ in found}) == sorted({
        "'<' -> '<='", "'<' -> '>='", "7 -> 6", "7 -> 8", "condition negated", "condition never true", "condition always true",
        "statement dropped", "returned value negated", "returns 0", "'+' -> '-'", "0 -> 1"})
    assert all(text.startswith(source[:source.index("if")]) for _, text in found)  # comments, texts and claims stay
    assert dict(found)["statement dropped"] == source.replace("g(a)", "")
    assert dict(found)["condition negated"] == source.replace("*a < 7", "!(*a < 7)")


def test_mutants_of_a_folder_are_listed_and_drawn_by_seed():
    ended = dev("mutate", "--list", "src/network/allocator")
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0 and re.fullmatch(r"[1-9][0-9]* changes", lines[-1]), ended.stderr
    assert all(line.startswith("src/network/allocator/") for line in lines[:-1])
    draw = [dev("mutate", "--list", "--count", "5", "--seed", seed, "src/network/allocator").stdout for seed in ("1", "1", "2")]
    assert draw[0] == draw[1] != draw[2] and draw[0].endswith("5 changes\n")
    assert "there is no src/nowhere.c" in dev("mutate", "--list", "src/nowhere.c").stderr


def test_changes_that_are_known_to_be_harmless_are_of_lines_that_stand():
    script = ("import json, sys; sys.path.insert(0, 'tests/mutation'); import mutate; known = mutate.listed('tests/mutation/harmless.txt');"
              "found = [one for path in mutate.files_of({key.split(': ')[0] for key in known}) for one in mutate.mutants_of(path, open(path).read())];"
              "print(json.dumps(sorted(known - {one.key() for one in found} - {f'{one.path}: {one.source_line}: *' for one in found})))")
    ended = subprocess.run(["/usr/bin/python3", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == []


# ---- coverage ----


def test_coverage_names_the_lines_that_never_ran_and_fails_below_the_target(tmp_path):
    """One of the program's two lines."""
    source, objects = tmp_path / "src" / "some.c", tmp_path / "build" / "CMakeFiles" / "flitwarp.dir"
    source.parent.mkdir()
    objects.mkdir(parents=True)
    source.write_text("static int never(void) { return -1; }\n"
                      "int main(int count, char **words) { return words[0] ? count - 1 : never(); }\n")
    subprocess.run(["gcc", "--coverage", source, "-o", objects / "some"], cwd=objects, check=True)
    subprocess.run([objects / "some"], check=True)
    report = ROOT / "tests" / "coverage" / "report.py"
    settings = (tmp_path / "build", tmp_path / "out", "--sources", source.parent)
    ended = python(report, *settings, "--target", 50)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1].split() == ["1", "2", "50.0", "%", "total"]
    marked = (tmp_path / "out" / "src" / "some.c.txt").read_text().splitlines()
    assert [line for line in marked if line.startswith(">")] == [">    1 static int never(void) { return -1; }"]
    assert python(report, *settings, "--target", 51).returncode == 1


# ---- bench ----


def test_unknown_benchmark_is_refused_and_the_known_are_named():
    ended = python(ROOT / "bench" / "bench.py", "mesh_9x9")
    assert ended.returncode == 1
    assert "'mesh_9x9'" in ended.stderr and "mesh_8x8" in ended.stderr


def test_benchmark_prints_a_table_and_json(tmp_path):
    ended = python(ROOT / "bench" / "bench.py", "--json", tmp_path / "bench.json", "mesh_8x8", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    head, row = ended.stdout.splitlines()
    assert head.split()[0] == "name" and row.split()[0] == "mesh_8x8"
    numbers = json.loads((tmp_path / "bench.json").read_text())["benchmarks"]["mesh_8x8"]
    # 0.3 flits from each of 64 terminals through 6.33 routers on average, for 101300 ticks
    assert numbers["flit_hops"] == pytest.approx(0.3 * 64 * (16 / 3 + 1) * 101300, rel=0.02)
    assert numbers["hops_per_cpu_second"] == pytest.approx(numbers["flit_hops"] / numbers["cpu_seconds"])


def test_growth_benchmarks_carry_the_same_channel_load():
    for path in (ROOT / "bench" / "growth").glob("mesh_*.json"):
        config = json.loads(path.read_text())
        width = config["network"]["topology"]["widths"][0]
        assert config["workload"]["applications"][0]["load"] * width == pytest.approx(2.4)


# ---- the package ----


def test_binary_is_asked_for_components_and_schema():
    assert "torus" in flitwarp.components("topology")
    assert "network" in flitwarp.schema()["properties"]


def test_a_wrong_program_is_refused(monkeypatch):
    monkeypatch.setenv("FLITWARP", "/nowhere/flitwarp")
    with pytest.raises(FileNotFoundError, match="/nowhere/flitwarp"):
        flitwarp.find_binary()


def test_run_takes_settings_and_overrides():
    results = flitwarp.run(SMALL, {"network.router.num_vcs": 4, "workload.applications.0.traffic": "tornado"})
    assert results["complete"]
    assert results["config"]["network"]["router"]["num_vcs"] == 4
    assert results["config"]["workload"]["applications"][0]["traffic"]["type"] == "tornado"


def test_wrong_settings_raise_with_the_program_s_message():
    with pytest.raises(flitwarp.RunFailed, match="num_vcs") as caught:
        flitwarp.run(SMALL, {"network.router.num_vcs": 0})
    assert caught.value.status == 1 and caught.value.results is None


def test_deadlock_raises_and_keeps_what_was_measured():
    with pytest.raises(flitwarp.RunFailed, match="deadlock") as caught:
        flitwarp.run(ROOT / "examples" / "deadlock_torus.json")
    assert caught.value.status == 2 and not caught.value.results["complete"]


def test_many_runs_keep_their_order():
    loads = [0.05, 0.2, 0.1, 0.15]
    results = flitwarp.run_many((SMALL, {"load": load}) for load in loads)
    assert [r["applications"][0]["target_load"] for r in results] == loads


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """What a short form of ./dev run leaves."""
    out = tmp_path_factory.mktemp("experiment") / "out"
    ended = python("-m", "flitwarp.experiment", "--quick", "--out", out)
    assert ended.returncode == 0, ended.stderr
    assert str(out / "report.html") in ended.stdout
    return out


def test_default_experiment_leaves_figures_numbers_and_a_page(experiment):
    figures = experiment / "figures"
    for stem in ("load-latency_by_traffic_VCs", "offered-accepted_by_traffic_VCs"):
        assert (figures / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert (figures / f"{stem}.pdf").read_bytes().startswith(b"%PDF")
        assert "<svg" in (figures / f"{stem}.svg").read_text()
    with (experiment / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    study = flitwarp.open_study(experiment)
    assert len(rows) == len(study.runs) and len({(row["traffic"], row["VCs"]) for row in rows}) == 4
    # What the channels of an 8x8 torus can carry bounds what it accepts: 1 flit uniform, 1/3 under tornado
    for row in study.saturation():
        assert row["carried"] < (1 if row["traffic"] == "uniform random" else 1 / 3)
    assert "8x8 torus" in (experiment / "report.html").read_text()


def test_a_run_of_the_experiment_can_be_repeated(experiment):
    run = flitwarp.open_study(experiment).runs[0]
    again = subprocess.run([FLITWARP, "run", "examples/torus_uniform.json", *run.row.overrides], cwd=ROOT,
                           capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["simulation"]["digest"] == run.results["simulation"]["digest"]

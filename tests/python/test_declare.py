# SPDX-License-Identifier: Apache-2.0
"""Studies declared in a file, and the command that runs them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from flitwarp import Sweep, open_study
from flitwarp.declare import make_sweep, read_sweep

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"network": {"topology": {"type": "torus", "widths": [4, 4]}},
         "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 200, "sample": 1000}]}}
STUDY = {"name": "vcs", "base": "small.json",
         "variables": [{"name": "VCs", "short": "VC", "values": [2, 4], "path": "network.router.num_vcs"}],
         "load": {"from": 0.2, "to": 0.6, "step": 0.2}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(SMALL))
    return tmp_path


def command(*arguments):
    return subprocess.run([str(ROOT / "bin" / "flitwarp-sweep"), *map(str, arguments)], capture_output=True, text=True,
                          env=os.environ, timeout=120, check=False)


def write(folder, **changes):
    path = folder / "study.json"
    path.write_text("// a study\n" + json.dumps({**STUDY, **changes}))
    return path


def test_a_file_and_a_script_define_the_same_study(folder):
    declared = read_sweep(write(folder, seeds=2)).run(quiet=True)
    scripted = Sweep("small.json", "other").add_variable("VCs", "VC", [2, 4], "network.router.num_vcs") \
        .add_loads(0.2, 0.6, 0.2).add_seeds(2).run(quiet=True)
    assert [(r.name, r.row.key) for r in declared.runs] == [(r.name, r.row.key) for r in scripted.runs]


def test_everything_can_be_declared(folder):
    sweep = make_sweep({
        "name": "all", "title": "All of it", "base": SMALL, "overrides": {"network.router.buffer_depth": 4},
        "variables": [{"name": "VCs", "values": [2, 4], "path": "network.router.num_vcs"},
                      {"name": "kind", "short": "K", "values": {"small": {"network.topology.widths": [2, 2]},
                                                                "large": {"network.topology.widths": [4, 4], "seed": 3}}}],
        "load": {"search": 0.25, "from": 0.0, "to": 1.0},
        "seeds": {"at_least": 2, "at_most": 3, "precision": 0.5},
        "exclude": [{"VCs": 4, "kind": ["small"]}],
        "figures": [{"kind": "offered-accepted", "lines": "VCs", "options": {"title": "x"}}],
        "runner": {"cores": 1, "retries": 1, "on_failure": "finish"},
    }, folder)
    assert sweep.runner == {"cores_limit": 1, "retries": 1, "on_failure": "finish"}
    study = sweep.run(quiet=True, **sweep.runner)
    assert study.combinations(["VCs", "kind"]) == [{"VCs": 2, "kind": "small"}, {"VCs": 2, "kind": "large"},
                                                  {"VCs": 4, "kind": "large"}]
    assert study.runs[0].results["config"]["network"]["topology"]["widths"] == [2, 2]
    assert study.facts["figures"][0]["kind"] == "offered-accepted"


@pytest.mark.parametrize("changes, message", [
    ({"varables": []}, "has no key 'varables'; did you mean variables"),
    ({"base": "gone.json"}, "there is no configuration"),
    ({"base": 3}, "study.json.base: found a whole number, expected text or an object"),
    ({"name": "a b"}, "cannot name files"),
    ({"variables": [{"name": "v", "values": [1]}]}, "variables.0: give a \"path\""),
    ({"variables": [{"values": [1], "path": "a.b"}]}, "variables.0: 'name' is missing"),
    ({"variables": [{"name": "v", "values": 1, "path": "a.b"}]}, "values: found a whole number, expected a list or an object"),
    ({"variables": [{"name": "v", "values": [1], "path": "network.ruoter.num_vcs"}]}, "did you mean 'router'"),
    ({"load": {"from": 0.1}}, "load: give \"from\", \"to\" and \"step\""),
    ({"load": {"from": 0.5, "to": 0.1, "step": 0.1}}, "the end not below the start"),
    ({"load": {"values": [0.1, "x"]}}, "load.values.1: found text, expected a number"),
    ({"load": {"values": [None]}}, "load.values.0: found null, expected a number"),
    ({"load": {"from": 0, "to": 1e9, "step": 1e-9}}, "more than 100,000 values"),
    ({"load": {"values": [0.1], "past": -1}}, "load.past: -1 is below 0"),
    ({"runner": {"cores": 0}}, "runner.cores: 0 is below 1"),
    ({"load": {"search": 3}}, "precision: 3 does not lie between 0 and 1"),
    ({"seeds": {"at_least": 1, "precision": 0.1}}, "takes at_least 2"),
    ({"exclude": [{"VC": 2}]}, "has no key 'VC'; did you mean VCs"),
    ({"runner": {"core": 2}}, "did you mean cores"),
    ({"runner": {"cores": "4"}}, "runner.cores: found text, expected a whole number"),
    ({"runner": {"memory": "lots"}}, "'lots' is no size"),
    ({"runner": {"backend": 7}}, "runner.backend: found a whole number"),
    ({"seeds": {"at_least": "3"}}, "seeds.at_least: found text"),
    ({"exclude": [{"VCs": 3}]}, "no value of VCs '3'; it has 2, 4"),
    ({"figures": [{"lines": "VCs"}]}, "'kind' is missing"),
])
def test_wrong_studies_are_refused_with_the_place_and_what_is_accepted(folder, changes, message):
    ended = command(write(folder, **changes))
    assert ended.returncode == 1 and message in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr and not (folder / "out" / "vcs").exists()


@pytest.mark.parametrize("text, message", [("{", "study.json:1:2:"), ("[]", "found a list, expected an object"),
                                           (json.dumps(SMALL), "is a configuration: say what to vary")])
def test_other_files_are_refused(folder, text, message):
    (folder / "study.json").write_text(text)
    ended = command("study.json")
    assert ended.returncode == 1 and message in ended.stderr


def test_a_missing_study_is_named(folder):
    assert "there is no study 'gone.json'" in command("gone.json").stderr


def test_the_command_lists_estimates_and_runs(folder):
    write(folder)
    listed = command("study.json", "--list").stdout.splitlines()
    assert [line.split(":")[0] for line in listed] == [f"VC{v}_L{x}" for v in (2, 4) for x in (0.2, 0.4, 0.6)]
    assert not Path("out").exists()
    assert "6 runs at most" in command("study.json", "--estimate").stdout
    ended = command("study.json", "--no-report", "--cores", 1)
    assert ended.returncode == 0 and "out/vcs/study.sqlite" in ended.stdout, ended.stderr
    assert len(open_study("out/vcs").runs) == 6
    assert "all of them done before" in command("study.json", "--no-report").stdout


def test_a_reader_that_goes_away_is_told_nothing(folder):
    write(folder, load={"from": 0.001, "to": 0.9, "step": 0.001})
    gone = subprocess.run(["bash", "-c", f"{ROOT / 'bin' / 'flitwarp-sweep'} study.json --list | head -n 1; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True, check=True)
    assert gone.stderr == "" and gone.stdout.splitlines()[1:] == ["0"]


def test_a_study_with_a_baseline_knows_how_much_jobs_slow_each_other_down(folder):
    path = "workload.applications.2.load"
    declared = write(folder, base=str(ROOT / "examples" / "many_jobs.json"), baseline=True, variables=[],
                     load={"values": [0.1, 0.3], "path": path, "past": 0})
    sweep = read_sweep(declared)
    assert [job.command.count("--baseline") for job in sweep.jobs()] == [1, 0]  # alone once, not once for each load
    study = sweep.run(quiet=True)
    subprocess.run([os.environ["FLITWARP"], "run", ROOT / "examples" / "many_jobs.json", f"{path}=0.3", "--baseline", "--quiet",
                    "--results", "r.json"], check=True)
    assert study.runs[1].results["applications"] == json.loads(Path("r.json").read_text())["applications"]
    assert study.runs[1].results.value("slowdown", "transpose") > study.runs[0].results.value("slowdown", "transpose") >= 1


def test_a_configuration_and_what_varies_in_one_line(folder):
    Path("net.json").write_text((ROOT / "examples" / "torus_uniform.json").read_text())
    short = ["workload.applications.0.warmup=100", "workload.applications.0.sample=300"]
    ended = command("net.json", "--load", "0.1:0.3:0.1", "--seeds", 2, "--vary", "network.router.num_vcs=2,4", "--no-report", *short)
    assert ended.returncode == 0, ended.stderr
    study = open_study("out/net")
    assert [run.name for run in study.runs][:3] == ["num-vcs2_L0.1_S1", "num-vcs2_L0.1_S2", "num-vcs2_L0.2_S1"] and len(study.runs) == 12
    listed = command("net.json", "--vary", "network.topology.widths=[4,4],[8,8]", "--load", "0.1,0.25", "--list").stdout
    assert [line.split(":")[0] for line in listed.splitlines()] == [f"widths-{n}-{n}-_L{x}" for n in (4, 8) for x in (0.1, 0.25)]
    assert "1 run at most" in command("net.json", "--load", 0.1, "--estimate", *short).stdout
    write(folder)
    for arguments, message in ((("net.json",), "say what to vary"), (("net.json", "--load", "0.1:x"), "expected FROM:TO:STEP"),
                               (("net.json", "--load", "nan:1:0.1"), "from nan to 1 by 0.1: the step must be above 0"),
                               (("net.json", "--load", "0.1,0.2", "--makefile", "net.json"), "'net.json' is read"),
                               (("study.json", "--makefile", "./study.json"), "'./study.json' is read"),
                               (("net.json", "--vary", "simulator.seed=1,2"), "runs are repeated by seeds: --seeds 3"),
                               (("study.json", "--seeds", 2), "is a study and says itself"), (("net.json", "x", "--seeds", 2), "PATH=VALUE")):
        ended = command(*arguments)
        assert ended.returncode == 1 and message in ended.stderr and "Traceback" not in ended.stderr


def test_make_runs_what_a_makefile_says_and_the_study_takes_it_in(folder):
    write(folder)
    assert "6 runs in vcs.mk" in command("study.json", "--makefile", "vcs.mk").stdout
    subprocess.run(["make", "-s", "-j2", "-f", "vcs.mk"], check=True, capture_output=True)
    made = len(list(Path("out/vcs/study.runs").glob("*.json")))
    assert made == 6
    before = {p.name: p.stat().st_mtime_ns for p in Path("out/vcs/study.runs").glob("*.json")}
    ended = command("study.json", "--no-report")
    assert ended.returncode == 0, ended.stderr
    study = open_study("out/vcs")
    assert {f"{run.row.key}.json" for run in study.runs} == set(before)


@pytest.mark.parametrize("arguments, message", [(("--cores", "0"), "no number from 1"), (("--memory", "lots"), "2GiB"),
                                                (("--backend", "cloud"), "invalid choice")])
def test_wrong_options_are_refused(folder, arguments, message):
    ended = command(write(folder), *arguments)
    assert ended.returncode == 1 and message in ended.stderr


def test_a_python_without_numpy_runs_studies_and_says_how_figures_come(folder):
    """A virtual environment sees nothing of the system's packages."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "bare"], check=True)

    def bare(program, *arguments):
        ended = subprocess.run(["bare/bin/python3", ROOT / "bin" / program, *arguments], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr

    sweep = ("flitwarp-sweep", "small.json", "--load", "0.1:0.2:0.1", "--quiet")
    status, told = bare(*sweep)
    assert status == 1 and "No module named" in told and "pip install numpy matplotlib" in told and "--no-report" in told
    assert bare(*sweep, "--no-report") == (0, "")
    status, told = bare("flitwarp-plot", "load-latency", "out/small/study.sqlite", "-o", "a.png")
    assert status == 1 and "pip install numpy matplotlib" in told

# SPDX-License-Identifier: Apache-2.0
"""`flitwarp settings`: effective settings and their files, one configuration or a batch of them."""
import json
import os
import subprocess

import pytest

from support import PROGRAM, ROOT, blast, config_of, network_of, shorter

ASAN = os.environ.get("FLITWARP_ASAN", "")
PROGRAMS = [PROGRAM] + ([ASAN] if ASAN and os.access(ASAN, os.X_OK) else [])
EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
MESH = {"type": "mesh", "widths": [4, 4]}


def flitwarp(*arguments, cwd=None, text="", status=0, program=PROGRAM):
    ended = subprocess.run([program, *map(str, arguments)], cwd=cwd, input=text, capture_output=True, text=True,
                           timeout=60, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


def batch(*arguments, lines, cwd=None, status=0, program=PROGRAM):
    """One answer for each line; a line that is no text is written as JSON."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    ended = flitwarp("settings", *arguments, "--batch", cwd=cwd, text=text, status=status, program=program)
    assert ended.stderr == ""
    answers = ended.stdout.splitlines()
    assert len(answers) == len(lines)
    return [json.loads(answer) for answer in answers]


@pytest.fixture
def folder(tmp_path):
    """A configuration with an include and a file that an option names."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "network.json").write_text(json.dumps({"network": network_of(MESH)}))
    (tmp_path / "parts" / "extra.json").write_text(json.dumps({"buffer_depth": 5}))
    (tmp_path / "sizes.csv").write_text("1,3\n4,1\n")
    application = {**blast(0.1, warmup=0, sample=100), "size": {"type": "file", "file": "sizes.csv"}}
    (tmp_path / "main.json").write_text(json.dumps({"$include": "parts/network.json",
                                                    "workload": {"applications": [application]}}))
    return tmp_path


def files_of(folder, *names):
    return [str((folder / name).resolve()) for name in names]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_settings_are_those_of_the_results(example):
    overrides = ["simulator.seed=7", *shorter(example)]
    document = json.loads(flitwarp("settings", example, *overrides).stdout)
    status = 2 if example.stem in ("deadlock_torus", "deadlock_adaptive_mesh") else 0
    results = json.loads(flitwarp("run", example, *overrides, "--quiet", status=status).stdout)
    assert document["config"] == results["config"] and list(document) == ["config", "files", "data"]
    assert document["files"][0] == str(example.resolve())
    assert list(batch(example, *overrides, lines=[[]])[0].items()) == list(document.items())


def test_files_are_the_configuration_its_includes_and_what_options_name(folder):
    document = json.loads(flitwarp("settings", "main.json", cwd=folder).stdout)
    assert document["files"] == files_of(folder, "main.json", "parts/network.json")
    assert document["data"] == files_of(folder, "sizes.csv")
    override = 'network.router={"$include": "parts/extra.json"}'
    document = json.loads(flitwarp("settings", "../" + folder.name + "/main.json", override, cwd=folder).stdout)
    assert document["files"] == files_of(folder, "main.json", "parts/network.json", "parts/extra.json")
    assert document["config"]["network"]["router"]["buffer_depth"] == 5


def test_files_of_a_line_are_its_own(folder):
    plain, more, again = batch("main.json", cwd=folder, lines=[
        [], ["network.router=file=parts/extra.json", "workload.applications.0.size=fixed"], []])
    assert plain == again
    assert plain["files"] == files_of(folder, "main.json", "parts/network.json")
    assert plain["data"] == files_of(folder, "sizes.csv") and more["data"] == []
    assert more["files"] == files_of(folder, "main.json", "parts/network.json", "parts/extra.json")


def test_a_file_that_is_missing_is_named_all_the_same(folder):
    (folder / "sizes.csv").unlink()
    document = json.loads(flitwarp("settings", "main.json", cwd=folder).stdout)
    assert document["data"] == [str(folder.resolve() / "sizes.csv")]


@pytest.mark.parametrize("wrong", [["network.router.num_vcs=400", "no_such_key=1"], ["network.topology=tours"],
                                   ["network.router.num_vcs"], ["a..b=1", "network.topology.widths={"],
                                   ["workload.applications.7.load=1"], ["simulator.tick=ref=/nowhere"]])
def test_wrong_settings_are_refused_as_check_refuses_them(folder, wrong):
    if all("=" in override for override in wrong):  # check's arguments must look like overrides
        checked = flitwarp("check", "main.json", *wrong, cwd=folder, status=1)
        alone = flitwarp("settings", "main.json", *wrong, cwd=folder, status=1)
        assert alone.stderr == checked.stderr != "" and alone.stdout == ""
        assert batch("main.json", cwd=folder, status=1, lines=[wrong]) == [{"errors": checked.stderr.splitlines()}]
    else:
        (answer,) = batch("main.json", cwd=folder, status=1, lines=[wrong])
        assert "expected PATH=VALUE" in answer["errors"][0]


def test_a_configuration_that_cannot_be_read_ends_a_batch_before_it_begins(tmp_path):
    ended = flitwarp("settings", tmp_path / "gone.json", "--batch", text="[]\n", status=1)
    assert "cannot read" in ended.stderr and ended.stdout == ""
    (tmp_path / "list.json").write_text("[]")
    ended = flitwarp("settings", tmp_path / "list.json", "--batch", text="[]\n", status=1)
    assert "expected an object" in ended.stderr and ended.stdout == ""


def test_unknown_arguments_are_refused(folder):
    assert "usage: flitwarp settings" in flitwarp("settings", status=1).stderr
    assert "--batches" in flitwarp("settings", folder / "main.json", "--batches", status=1).stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_line_stands_by_itself(folder, program):
    lines = [
        ["network.router.num_vcs=4", "simulator.seed=2"],
        ["network.router.num_vcs=400"],
        [],
        ["network.router.buffer_depth=ref=/network/router/num_vcs"],
        "{}", "17", "", "  ", "[\"a=1\"", "[\"simulator.seed=3\", 5]", "[\"a=1\"] []", "\"simulator.seed=3\"", "null",
        "// nothing", "[\"simulator.seed=3\"] // a comment",
        ["simulator.seed=4"],
    ]
    answers = batch("main.json", "simulator.seed=9", "network.router.num_vcs=3", cwd=folder, status=1, lines=lines,
                    program=program)
    assert [index for index, answer in enumerate(answers) if "errors" not in answer] == [0, 2, 3, 14, 15]
    router = [answer["config"]["network"]["router"] if "config" in answer else None for answer in answers]
    seed = [answer["config"]["simulator"]["seed"] if "config" in answer else None for answer in answers]
    # those of the line come after those of the command line
    assert (seed[0], seed[2], seed[14], seed[15]) == (2, 9, 3, 4)
    assert (router[0]["num_vcs"], router[2]["num_vcs"], router[3]["buffer_depth"]) == (4, 3, 3)
    assert "num_vcs: 400 is above 64" in answers[1]["errors"][0]
    for index in range(4, 14):  # what is no array of text is an error with the number of its line
        assert answers[index]["errors"][0].startswith(f"standard input:{index + 1}:"), answers[index]
        assert "expected" in answers[index]["errors"][0]


def test_a_line_without_an_end_counts_and_no_lines_are_no_error(folder):
    ended = flitwarp("settings", folder / "main.json", "--batch", text='["simulator.seed=5"]')
    assert json.loads(ended.stdout)["config"]["simulator"]["seed"] == 5
    assert flitwarp("settings", folder / "main.json", "--batch").stdout == ""


def test_a_batch_takes_well_under_a_millisecond_a_line_and_no_more_memory_for_more():
    lines = "".join(json.dumps([f"simulator.seed={seed}", f"workload.applications.0.load=0.{seed % 9 + 1}",
                                "network.router.num_vcs=4"]) + "\n" for seed in range(5000))

    def run(text):
        """CPU seconds and peak KiB, both of the program alone."""
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdin=sys.stdin, check=True, "
                "stdout=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
                "print(used.ru_utime + used.ru_stime, used.ru_maxrss)")
        ended = subprocess.run(["/usr/bin/env", "python3", "-c", code, PROGRAM, "settings",
                                str(ROOT / "examples" / "torus_uniform.json"), "--batch"], input=text,
                               capture_output=True, text=True, check=True)
        return map(float, ended.stdout.split())

    seconds, peak = run(lines)
    assert seconds / 5000 < 0.0005
    _, little = run("[]\n" * 10)
    assert peak < little + 2048

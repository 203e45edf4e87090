# SPDX-License-Identifier: Apache-2.0
"""Jobs as a Makefile, through the real make."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from flitwarp.backend import Job  # noqa: E402
from flitwarp.makefile import makefile  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="there is no make")

WORDS = ["", " ", "a b", "$HOME", "$(id)", "$$", "$@", "it's", '"', "\\", "end\\", "a\nb", "\n", "a\\\nb", "*", "~",
         "#", "%", ";", "é", "@x", "-x", "+x", "`id`", "${x}", "$(shell id)", ":=", "\ttab"]


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "a spool $HOME 'of' \"50%\" #1:2 (x=y) é~&!"


def job(key, spool, script, *arguments):
    return Job(key, f"job {key}", ("sh", "-c", script, "sh", str(spool / f"{key}.json"), *arguments))


def make(text, folder, *options):
    (folder / "Makefile").write_text(text)
    return subprocess.run(["make", "-j2", *options, "-f", str(folder / "Makefile")], cwd="/", capture_output=True,
                          text=True, timeout=60, check=False)


def test_make_runs_every_job_once_with_its_words(tmp_path, spool):
    code = ("import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'));"
            "open(sys.argv[1] + '.ran', 'a').write('x')")
    jobs = [Job(key, f"job {key}", (sys.executable, "-c", code, str(spool / f"{key}.json"), *words))
            for key, words in (("first", WORDS), ("second", ["other"]))]
    text = makefile(jobs, spool)
    done = make(text, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((spool / "first.json").read_text()) == WORDS
    assert sorted(done.stdout.splitlines()) == ["job first", "job second"]
    again = make(text, tmp_path)
    assert again.returncode == 0 and "job" not in again.stdout
    files = {f"{key}.json{ending}" for key in ("first", "second") for ending in ("", ".ran")}
    assert {path.name for path in spool.iterdir()} == files
    assert (spool / "first.json.ran").read_text() == "x"


def test_a_failed_job_leaves_no_product_and_the_others_are_made(tmp_path, spool):
    jobs = [job("bad", spool, 'echo half >"$1"; echo no such network >&2; exit 3'), job("good", spool, 'echo {} >"$1"'),
            Job("absent", "absent", ("/nowhere/flitwarp",))]
    done = make(makefile(jobs, spool), tmp_path, "-k")
    assert done.returncode == 2
    assert "no such network" in done.stderr and "Error 3" in done.stderr and "Error 127" in done.stderr
    assert {path.name for path in spool.iterdir()} == {"good.json", "bad.err", "absent.err"}


def test_rules_keep_their_order_and_name_their_jobs(tmp_path):
    jobs = [Job("b", "load 0.1\nseed\\", ("true",)), Job("a", "load 0.2", ("true",))]
    lines = makefile(jobs, tmp_path).splitlines()
    first, second = lines.index("# load 0.1 seed"), lines.index("# load 0.2")
    assert first < second
    assert lines[first + 1] == f"{tmp_path}/b.json:" and lines[second + 1] == f"{tmp_path}/a.json:"


def test_commands_run_in_the_folder_that_they_were_made_in(tmp_path, monkeypatch):
    (tmp_path / "it's here").mkdir()
    monkeypatch.chdir(tmp_path / "it's here")
    done = make(makefile([Job("a", "a", ("sh", "-c", "pwd >../spool/a.json"))], Path("../spool")), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "spool" / "a.json").read_text() == f"{tmp_path}/it's here\n"


def test_no_jobs_are_no_error(tmp_path):
    assert make(makefile([], tmp_path), tmp_path).returncode == 0


@pytest.mark.parametrize("character", ["\n", "\t", ";", "|", "\\", "*", "?", "["])
def test_names_that_make_cannot_have_are_refused(tmp_path, character):
    with pytest.raises(ValueError, match="make cannot have"):
        makefile([Job("a", "a", ("true",))], tmp_path / f"x{character}y")

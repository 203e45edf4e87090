# SPDX-License-Identifier: Apache-2.0
"""flitwarp new: what it writes compiles as it is, runs its example, passes its own test, and overwrites nothing."""
import json
import os
import re
import subprocess
import sys

import pytest

from support import PROGRAM, ROOT

KINDS = sorted({entry["kind"] for entry in json.loads(subprocess.run(
    [PROGRAM, "list", "--json"], capture_output=True, text=True, check=True).stdout)})
DATA = {"trace_reader"}  # kinds whose example reads a file
STRICT = ["-std=c17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fPIC", "-shared", f"-I{ROOT / 'include'}"]


def new(directory, *arguments, status=0):
    ended = subprocess.run([PROGRAM, "new", *map(str, arguments)], cwd=directory, capture_output=True, text=True,
                           timeout=60, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended.stdout if status == 0 else ended.stderr


def files(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("kind", KINDS)
def test_new_component_compiles_registers_and_runs(kind, tmp_path):
    name = f"my_{kind}2"
    shown = new(tmp_path, kind, name)
    assert files(tmp_path) == sorted([f"{name}.c", f"{name}.json", f"test_{name}.py"] + [f"{name}.txt"] * (kind in DATA))
    for file in files(tmp_path):
        assert f"wrote ./{file}" in shown
    command = next(line.split() for line in shown.splitlines() if line.startswith("  gcc "))
    assert f"-I{ROOT / 'include'}" in command and command[-1] == f"{name}.so"
    subprocess.run([*command, *STRICT], cwd=tmp_path, check=True)  # as printed, and without warnings
    program = [PROGRAM, "--plugin", f"./{name}.so"]
    listed = subprocess.run([*program, "list", kind], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^{kind} +{name} ", listed, re.M)
    ended = subprocess.run([*program, "run", f"{name}.json", "--quiet"], cwd=tmp_path, capture_output=True, text=True,
                           check=False)
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)
    assert results["complete"] and results["simulation"]["events"] > 100
    assert kind == "model" or results["applications"][0]["packets"] > (0 if kind in DATA else 100)
    assert f'"{name}"' in json.dumps(results["config"])


@pytest.mark.parametrize("kind", KINDS)
def test_new_component_can_be_a_part_of_the_tree(kind, tmp_path):
    """It compiles with the tree's own flags, and exports no name that another file could have."""
    flags = json.loads((ROOT / "build/compile_commands.json").read_text())[0]["command"].split()
    kept = [flag for flag in flags if flag.startswith(("-W", "-D", "-std", "-f", "-m"))]
    new(tmp_path, kind, "mine")
    subprocess.run(["gcc", *kept, f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-c", "mine.c"], cwd=tmp_path, check=True)
    named = subprocess.run(["nm", "-g", "--defined-only", "mine.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert named.stdout == ""


@pytest.mark.parametrize("kind", KINDS)
def test_new_component_includes_public_headers_only_and_keeps_no_old_name(kind, tmp_path):
    new(tmp_path, kind, "renamed")
    text = (tmp_path / "renamed.c").read_text()
    includes = re.findall(r'#include "(.*)"', text)
    assert includes and all(include.startswith("flitwarp/") for include in includes)
    original = re.search(r"made by `flitwarp new` from (\w+)", text).group(1)
    assert f'"{original}"' not in text and f"{original}_" not in text
    assert f"REGISTER_{kind.upper()}(renamed);" in text
    source = next(path for path in (ROOT / "src").rglob(f"{original}.c")
                  if f"REGISTER_{kind.upper()}(" in path.read_text()).read_text()
    source = source[:source.index("/*\n * Copied by" if kind in DATA else "/* Copied by")]
    assert len(text.splitlines()) == len(source.splitlines()) + 1, "not the real component's text"


@pytest.mark.parametrize("kind", ["arbiter", "model", "trace_reader"])
def test_new_component_passes_its_own_test(kind, tmp_path):
    new(tmp_path, kind, "fair")
    ended = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fair.py"], cwd=tmp_path,
                           env={**os.environ, "FLITWARP": PROGRAM}, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "1 passed" in ended.stdout, ended.stdout + ended.stderr


def test_copy_behaves_as_its_original(tmp_path):
    """The parking lot under another name gives the same digest."""
    new(tmp_path, "topology", "car_park")
    subprocess.run(["gcc", *STRICT, "car_park.c", "-o", "car_park.so"], cwd=tmp_path, check=True)
    digests = set()
    for topology in ("car_park", "parking_lot"):
        ended = subprocess.run([PROGRAM, "--plugin", "./car_park.so", "run", "car_park.json", "--quiet",
                                f'network.topology={{"type": "{topology}", "stops": 6}}'],
                               cwd=tmp_path, capture_output=True, text=True, check=True)
        digests.add(json.loads(ended.stdout)["simulation"]["digest"])
    assert len(digests) == 1


def test_directory_is_taken_from_the_command(tmp_path):
    (tmp_path / "here").mkdir()
    new(tmp_path, "size", "small", "--dir", "here")
    new(tmp_path, "--dir=here", "size", "large")
    assert files(tmp_path) == ["here"]
    assert len(files(tmp_path / "here")) == 6


@pytest.mark.parametrize("existing", ["mine.c", "mine.json", "test_mine.py"])
def test_nothing_is_overwritten_and_nothing_half_written(existing, tmp_path):
    (tmp_path / existing).write_text("precious")
    message = new(tmp_path, "traffic", "mine", status=1)
    assert existing in message and "exists" in message and "another name" in message
    assert files(tmp_path) == [existing] and (tmp_path / existing).read_text() == "precious"


def test_missing_directory_is_refused(tmp_path):
    assert "none/mine.c" in new(tmp_path, "traffic", "mine", "--dir", "none", status=3)
    assert files(tmp_path) == []


@pytest.mark.parametrize("name", ["Mine", "2mine", "my-topology", "my topology", "", "_mine", "mine.c", "../mine", "größe",
                                  "int", "static", "x" * 41])
def test_wrong_names_are_refused_with_the_accepted_form(name, tmp_path):
    message = new(tmp_path, "topology", name, status=1)
    assert "lower-case letters, digits and underscores" in message and "my_topology" in message
    assert files(tmp_path) == []


@pytest.mark.parametrize("kind, name", [("topology", "torus"), ("traffic", "tornado"), ("arbiter", "age")])
def test_name_of_an_existing_component_is_refused(kind, name, tmp_path):
    message = new(tmp_path, kind, name, status=1)
    assert f"there is a {kind} '{name}' already" in message and f"flitwarp list {kind}" in message
    assert files(tmp_path) == []


@pytest.mark.parametrize("kind, name", [("topology", "topology"), ("topology", "config"), ("traffic", "random"),
                                        ("size", "size"), ("topology", "grid"), ("application", "application")])
def test_name_that_the_file_uses_itself_is_refused(kind, name, tmp_path):
    message = new(tmp_path, kind, name, status=1)
    assert "has a meaning of its own" in message and f"my_{name}" in message
    assert files(tmp_path) == []


def test_name_of_another_kind_is_free(tmp_path):
    new(tmp_path, "traffic", "torus")
    subprocess.run(["gcc", *STRICT, "torus.c", "-o", "torus.so"], cwd=tmp_path, check=True)
    subprocess.run([PROGRAM, "--plugin", "./torus.so", "run", "torus.json", "--quiet"], cwd=tmp_path,
                   capture_output=True, check=True)


@pytest.mark.parametrize("arguments, expected", [
    ((), "no kind is given"),
    (("topology",), "no name is given"),
    (("topology", "a", "b"), "'b' is not understood"),
    (("topology", "a", "--fast"), "'--fast' is not understood"),
    (("topology", "a", "--dir"), "'--dir' needs a value"),
    (("topologie", "a"), "unknown kind 'topologie'"),
])
def test_wrong_arguments_are_refused(arguments, expected, tmp_path):
    message = new(tmp_path, *arguments, status=1)
    assert expected in message
    assert "usage:" in message or all(kind in message for kind in KINDS)
    assert files(tmp_path) == []

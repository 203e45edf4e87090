# SPDX-License-Identifier: Apache-2.0
"""What a file exports, another file uses: another of the program, a test, or a plugin, whose headers name it."""
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

OBJECTS = Path(PROGRAM).resolve().parent / "CMakeFiles"
KEPT = {"main", "rollback_post",  # that one is named by the table of its own file
        "study_files"}  # used where there is SQLite


def symbols(folder, live):
    """(file, kind, name) of all that objects of the build define and need; those of files that are gone do not count."""
    objects = [str(path) for path in (OBJECTS / folder).rglob("*.o") if str(path.relative_to(OBJECTS.parent)) in live]
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        file, *_, kind, name = line.replace(":", " ", 1).split()
        yield file, kind, name


def test_everything_that_is_exported_is_used():
    if not (OBJECTS.parent / "build.ninja").exists() or not list((OBJECTS / "unit_tests.dir").rglob("*.o")):
        pytest.skip("needs the objects of a build with ninja, those of the unit tests too")
    live = set(re.findall(r"CMakeFiles/\S+\.o", (OBJECTS.parent / "build.ninja").read_text()))
    exported, needed = {}, defaultdict(set)
    for file, kind, name in symbols("flitwarp_objects.dir", live):
        if kind in "TDBR":
            exported[name] = file
        elif kind == "U":
            needed[name].add(file)
    for folder in ("flitwarp.dir", "unit_tests.dir"):
        for file, kind, name in symbols(folder, live):
            if kind == "U":
                needed[name].add(file)
    public = "".join(path.read_text() for path in (ROOT / "include/flitwarp").glob("*.h"))
    dead = [f"{name} in {file}" for name, file in exported.items()
            if name not in needed and name not in KEPT and not name.startswith("__wrap_") and name not in public]
    assert len(exported) > 500 and not dead, dead

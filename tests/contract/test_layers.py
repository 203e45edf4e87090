# SPDX-License-Identifier: Apache-2.0
"""Dependencies point one way: each folder of src includes those of the rows above its own, and none of its own row."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = [["base"],
        ["config", "engine"],
        ["network", "metrics", "checkpoint", "import"],
        ["workload"],
        ["model", "traces", "device"],
        ["run"],
        ["view"],
        ["blueprint"],
        ["cli"]]
LEVELS = {folder: level for level, row in enumerate(ROWS) for folder in row}
INCLUDE = re.compile(r'^#include "(\w+)/', re.M)


def sources(folder):
    return [*(ROOT / "src" / folder).rglob("*.c"), *(ROOT / "src" / folder).rglob("*.h")]


def test_every_folder_has_a_row():
    assert {path.name for path in (ROOT / "src").iterdir()} == set(LEVELS)


def test_folders_include_lower_ones_alone():
    wrong = [f"{path.relative_to(ROOT)} includes {included}/"
             for folder, level in LEVELS.items() for path in sources(folder)
             for included in set(INCLUDE.findall(path.read_text())) - {folder, "flitwarp"} if LEVELS[included] >= level]
    assert not wrong


def test_public_headers_include_public_headers_alone():
    for path in ROOT.glob("include/flitwarp/*.h"):
        assert set(INCLUDE.findall(path.read_text())) <= {"flitwarp"}, path.name

# SPDX-License-Identifier: Apache-2.0
"""Dependencies point one way: base <- config, engine <- network, workload, metrics <- run, view, import, traces, blueprint <- cli."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"base": 0, "config": 1, "engine": 1, "network": 2, "workload": 2, "metrics": 2, "model": 2, "view": 4, "run": 4, "checkpoint": 4, "blueprint": 4,
          "import": 4, "traces": 4, "cli": 4}
INCLUDE = re.compile(r'^#include "(\w+)/', re.M)


def test_no_layer_includes_a_higher_one():
    wrong = []
    for path in [*ROOT.glob("src/**/*.c"), *ROOT.glob("src/**/*.h")]:
        level = LEVELS[path.relative_to(ROOT / "src").parts[0]]
        wrong += [f"{path.relative_to(ROOT)} includes {folder}/"
                  for folder in INCLUDE.findall(path.read_text()) if LEVELS.get(folder, 0) > level]
    assert not wrong


def test_public_headers_include_public_headers_alone():
    for path in ROOT.glob("include/flitwarp/*.h"):
        assert set(INCLUDE.findall(path.read_text())) <= {"flitwarp"}, path.name


def test_network_knows_no_workload():
    for path in [*ROOT.glob("src/network/**/*.c"), *ROOT.glob("src/network/**/*.h")]:
        assert not {"workload", "metrics"} & set(INCLUDE.findall(path.read_text())), path

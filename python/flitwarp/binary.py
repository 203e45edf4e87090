# SPDX-License-Identifier: Apache-2.0
"""Finds the flitwarp program and asks it what it can do."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the tree
PREFIX = (ROOT / ".." / "..").resolve()  # where it is installed: PREFIX/lib/python3/dist-packages/flitwarp; of a tree below / that is /


def find_binary() -> Path:
    """The program: the environment's FLITWARP, this tree's build/flitwarp, the one installed with this, or that on PATH."""
    named = os.environ.get("FLITWARP")
    if named:
        path = Path(named).absolute()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise FileNotFoundError(f"FLITWARP names '{named}', which is not a program")
        return path
    for near in (ROOT / "build" / "flitwarp", PREFIX / "bin" / "flitwarp"):
        if os.access(near, os.X_OK) and near.is_file():
            return near
    found = shutil.which("flitwarp")
    if found:
        return Path(found)
    raise FileNotFoundError(f"no flitwarp program: neither FLITWARP, '{ROOT / 'build' / 'flitwarp'}' nor PATH has one; "
                            "./dev build makes it")


def find_example(name: str) -> Path:
    """A file of examples/, of the tree or as installed."""
    in_tree = ROOT / "examples" / name
    return in_tree if in_tree.exists() else PREFIX / "share" / "doc" / "flitwarp" / "examples" / name


def _ask(*arguments: str) -> str:
    command = [str(find_binary()), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise ValueError(answer.stderr.strip() or f"{' '.join(command)} ended with status {answer.returncode}")
    return answer.stdout


def version() -> str:
    """Such as "flitwarp 1.0.0": the first line of `flitwarp --version`; the others tell how it was built."""
    return _ask("--version").splitlines()[0]


def schema() -> dict:
    """The JSON schema of the whole configuration."""
    return json.loads(_ask("schema"))


@functools.cache
def results_schema() -> dict:
    """The JSON schema of results: type, unit, label and meaning of each value."""
    return json.loads(_ask("schema", "--results"))


def components(kind: str) -> list[str]:
    """The names of a kind's registered components, such as components("topology")."""
    return [line.split()[1] for line in _ask("list", kind).splitlines() if line.split()[:1] == [kind]]

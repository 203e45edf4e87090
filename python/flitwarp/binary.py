# SPDX-License-Identifier: Apache-2.0
"""Finds the flitwarp program and asks it what it can do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find_binary() -> Path:
    """The program: the environment's FLITWARP, this tree's build/flitwarp, or the one on PATH."""
    named = os.environ.get("FLITWARP")
    if named:
        path = Path(named).absolute()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise FileNotFoundError(f"FLITWARP names '{named}', which is not a program")
        return path
    built = ROOT / "build" / "flitwarp"
    if os.access(built, os.X_OK):
        return built
    installed = shutil.which("flitwarp")
    if installed:
        return Path(installed)
    raise FileNotFoundError(f"no flitwarp program: neither FLITWARP, '{built}' nor PATH has one; ./dev build makes it")


def _ask(*arguments: str) -> str:
    command = [str(find_binary()), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise ValueError(answer.stderr.strip() or f"{' '.join(command)} ended with status {answer.returncode}")
    return answer.stdout


def version() -> str:
    """What `flitwarp --version` prints."""
    return _ask("--version").strip()


def schema() -> dict:
    """The JSON schema of the whole configuration."""
    return json.loads(_ask("schema"))


def components(kind: str) -> list[str]:
    """The names of a kind's registered components, such as components("topology")."""
    return [line.split()[1] for line in _ask("list", kind).splitlines() if line.split()[:1] == [kind]]

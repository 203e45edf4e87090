# SPDX-License-Identifier: Apache-2.0
"""Settings as the program takes them: overrides by path, and what they come to."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Mapping, Sequence, Union

from .binary import find_binary

Config = Union[str, Path, Mapping]  # a file, or the settings themselves
Overrides = Mapping[str, object]  # {"network.router.num_vcs": 4}

LOAD, SEED = "workload.applications.0.load", "simulator.seed"
SHORT = {"load": LOAD, "seed": SEED}  # the two that everyone sets


class WrongSettings(ValueError):
    """The program refuses a configuration; the message is its own."""


def path_of(name: str) -> str:
    """A setting's path: `load` and `seed` for short, `__` for the dots where a name may have none.

    >>> path_of("network__router__num_vcs"), path_of("load")
    ('network.router.num_vcs', 'workload.applications.0.load')
    """
    path = SHORT.get(name, name.replace("__", "."))
    if "." not in path:
        raise WrongSettings(f"'{name}' is no setting's path: write network.router.num_vcs (as a keyword "
                            "network__router__num_vcs); load and seed are known for short")
    return path


def arguments(overrides: Overrides | None) -> list[str]:
    """Overrides as the command line takes them: text as it is, everything else as JSON.

    >>> arguments({"load": 0.5, "network.topology.widths": [4, 4]})
    ['workload.applications.0.load=0.5', 'network.topology.widths=[4, 4]']
    """
    return [f"{path_of(name)}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in (overrides or {}).items()]


class Reader:
    """Asks the program what a configuration with overrides comes to: one process answers any number of questions."""

    def __init__(self, config: Path, overrides: Sequence[str] = (), plugins: Sequence[Path] = ()):
        if not config.exists():
            raise FileNotFoundError(f"there is no configuration '{config}'")
        loaded = [word for plugin in plugins for word in ("--plugin", str(plugin))]
        self._process = subprocess.Popen([str(find_binary()), *loaded, "settings", str(config), *overrides, "--batch"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def effective(self, overrides: Sequence[str]) -> tuple[dict, list[str]]:
        """The effective settings, and the files whose content matters beside them. Raises WrongSettings."""
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        try:
            process.stdin.write(json.dumps(list(overrides)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            message = process.stderr.read().strip()
            if "unknown command" in message:
                message = f"'{find_binary()}' is older than this package; ./dev build makes a new one"
            raise WrongSettings(message or "flitwarp settings ended early")
        answer = json.loads(line)
        if "errors" in answer:
            raise WrongSettings("\n".join(answer["errors"]))
        return answer["config"], answer["data"]

    def close(self) -> None:
        """Ends the process."""
        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream
            try:
                stream.close()
            except BrokenPipeError:
                pass
        process.wait()

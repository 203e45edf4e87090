# SPDX-License-Identifier: Apache-2.0
"""Runs simulations: one, or many side by side."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Iterable, Mapping, TypeVar, Union

from .binary import find_binary

Config = Union[str, Path, Mapping]  # a file, or the settings themselves
Overrides = Mapping[str, object]  # {"network.router.num_vcs": 4}
Item = TypeVar("Item")
Result = TypeVar("Result")


class RunFailed(Exception):
    """A run that did not end with exit status 0.

    `status` is the exit status (1 settings, 2 deadlock or a broken invariant, 3 input or output, 130
    interrupted), `results` what was written all the same, or None.
    """

    def __init__(self, status: int, message: str, results: dict | None):
        super().__init__(message)
        self.status = status
        self.results = results


def arguments(overrides: Overrides | None) -> list[str]:
    """Overrides as the command line takes them: text as it is, everything else as JSON."""
    return [f"{path}={value if isinstance(value, str) else json.dumps(value)}"
            for path, value in (overrides or {}).items()]


def run(config: Config, overrides: Overrides | None = None, *, results: str | Path | None = None,
        log: str | Path | None = None) -> dict:
    """Runs one simulation and returns its results document.

    `results` keeps the document in a file, `log` a packet log. Raises RunFailed.
    """
    with tempfile.TemporaryDirectory(prefix="flitwarp-") as folder:
        if isinstance(config, Mapping):
            path = Path(folder) / "config.json"
            path.write_text(json.dumps(config))
        else:
            path = Path(config)
        document = Path(results) if results else Path(folder) / "results.json"
        if results:
            document.unlink(missing_ok=True)  # else a failure would leave an older run's
        # A child begins with its parent's peak memory, and Python's is the larger: so a small shell is the parent.
        command = ["/bin/sh", "-c", '"$@"; exit $?', "sh", str(find_binary()), "run", str(path), *arguments(overrides), "--quiet", "--results", str(document)]
        if log:
            command += ["--log", str(log)]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        found = json.loads(document.read_text()) if document.exists() else None
        if ended.returncode != 0 or found is None:
            raise RunFailed(ended.returncode, ended.stderr.strip() or f"exit status {ended.returncode}", found)
        return found


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(function: Callable[[Item], Result], items: Iterable[Item], workers: int | None = None) -> list[Result]:
    """function(item) for every item, in order of the items; threads suffice, as each waits for a process."""
    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def run_many(jobs: Iterable[tuple[Config, Overrides]], workers: int | None = None) -> list[dict]:
    """Runs (config, overrides) pairs on all cores; results in the same order."""
    return parallel(lambda job: run(job[0], job[1]), jobs, workers)

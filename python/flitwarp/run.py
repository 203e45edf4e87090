# SPDX-License-Identifier: Apache-2.0
"""One simulation, in one line."""

from __future__ import annotations

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterable

from .backend import cores
from .binary import find_binary
from .results import Results
from .settings import Config, Overrides, arguments


class RunFailed(Exception):
    """A run that did not end with exit status 0.

    `status` is the exit status (1 settings, 2 deadlock or a broken invariant, 3 input or output, 130
    interrupted), `results` what was written all the same, or None.
    """

    def __init__(self, status: int, message: str, results: Results | None):
        super().__init__(message)
        self.status = status
        self.results = results


def run(config: Config, overrides: Overrides | None = None, *, results: str | Path | None = None,
        log: str | Path | None = None, **settings: object) -> Results:
    """Runs one simulation and returns its results.

    Settings are keywords with `__` for the dots, or a mapping by path; `load` and `seed` go for short.
    `results` keeps the document in a file, `log` a packet log. Raises RunFailed.

    >>> r = run("examples/torus_uniform.json", load=0.2, network__router__num_vcs=4,
    ...         workload__applications__0__max_sample=5000)
    >>> r.saturated, r.value("hops.max")
    (False, 8)
    """
    with tempfile.TemporaryDirectory(prefix="flitwarp-") as folder:
        if isinstance(config, (str, Path)):
            path = Path(config)
        else:
            path = Path(folder) / "config.json"
            path.write_text(json.dumps(config))
        document = Path(results) if results else Path(folder) / "results.json"
        if results:
            document.unlink(missing_ok=True)  # else a failure would leave an older run's
        command = [str(find_binary()), "run", str(path), *arguments({**(overrides or {}), **settings}), "--quiet",
                   "--results", str(document), *(["--log", str(log)] if log else [])]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        found = Results.read(document) if document.exists() else None
        if ended.returncode != 0 or found is None:
            raise RunFailed(ended.returncode, ended.stderr.strip() or f"exit status {ended.returncode}", found)
        found.source = str(results or config if isinstance(config, (str, Path)) else "results")
        return found


def run_many(jobs: Iterable[tuple[Config, Overrides]], workers: int | None = None) -> list[Results]:
    """Runs (config, overrides) pairs on all cores; results in the same order. Nothing is kept: that is Sweep's work."""
    with ThreadPoolExecutor(workers or cores()) as pool:
        return list(pool.map(lambda job: run(job[0], job[1]), jobs))

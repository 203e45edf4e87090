# SPDX-License-Identifier: Apache-2.0
"""Jobs: applications that come to an end. What counts is when, by itself and beside others.

How long a job takes alone does not depend on the load of traffic that then keeps still: of runs that differ in nothing
else, the first measures it for all (run --baseline).
"""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Mapping, Sequence

from .apart import identity
from .store import Outcome

BACKGROUND = ("blast", "pulse", "memory")  # have no end of their own, so that there is nothing to measure alone
TRAFFIC = ("offered_load", "accepted_load", "saturated", "packet_latency.mean", "packet_latency.p50", "packet_latency.p99",
           "packet_latency.p99.9", "hops.mean")  # what counts of steady traffic

TIMES = ("completion_time", "step_time", "communication_time.max", "alone_time")  # of a job, also beside saturated traffic


def is_job(application: Mapping) -> bool:
    """Whether an application's results say when it ended."""
    return "completion_time" in application


def alone(config: dict) -> str:
    """All settings that jobs notice when they run alone, as one text."""
    applications = config.get("workload", {}).get("applications", [])
    return identity(config, [f"workload.applications.{i}.load" for i, a in enumerate(applications) if a["type"] in BACKGROUND])


def time_of(application: dict) -> float | None:
    """What a job took: its slowest rank's communication, else all of it; None for what has no end."""
    whole = application.get("completion_time")
    return application["communication_time"]["max"] if whole is not None and "communication_time" in application else whole


def completed(document: object, before: Sequence[Outcome]) -> object:
    """Results with the times alone that the run before has measured, as `run --baseline` writes them."""
    measured = before[0].document if before[0].ok else None
    if not isinstance(document, dict) or not isinstance(measured, dict) or not document.get("complete"):
        return document
    made = copy.deepcopy(document)
    for application, other in zip(made["applications"], measured["applications"]):
        time, by_itself = time_of(application), other.get("alone_time")
        application["alone_time"] = by_itself
        application["slowdown"] = time / by_itself if time is not None and by_itself else None
    return made


def pairs(config: dict, files: Sequence[str]) -> dict[str, dict]:
    """Every two applications of a configuration by themselves, as settings under the names of both."""
    applications = config["workload"]["applications"]
    if len(applications) < 2:
        raise ValueError("pairs: the workload has one application; expected two or more")
    names = [a.get("name") or f"{a['type']} {i}" for i, a in enumerate(applications)]
    named = [{**_with_whole_names(a, files), "name": name} for a, name in zip(applications, names)]
    return {f"{names[i]} + {names[k]}": {"workload.applications": [named[i], named[k]]}
            for i, k in itertools.combinations(range(len(names)), 2)}


def _with_whole_names(tree: object, files: Sequence[str]) -> object:
    """Settings with the whole names of the files that they name: a file's place is another than the command line's."""
    if isinstance(tree, dict):
        return {key: _with_whole_names(child, files) for key, child in tree.items()}
    if isinstance(tree, list):
        return [_with_whole_names(child, files) for child in tree]
    known = [file for file in files if isinstance(tree, str) and tree and Path(file).name == Path(tree).name]
    return known[0] if len(set(known)) == 1 else tree

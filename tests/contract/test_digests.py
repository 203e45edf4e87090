# SPDX-License-Identifier: Apache-2.0
"""Results are what they were when they were last recorded, in every way of running: tests/digests/digests.py tells how to
record them again where a change is meant."""
import os
import sys

import pytest

from support import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "digests"))
import cases  # noqa: E402
import digests  # noqa: E402

CASES = {
    "examples": lambda: cases.example_cases(PROGRAM),
    "drawn": cases.drawn_cases,
    "settings": cases.settings_cases,
    "made": cases.made_cases,
    "models": cases.model_cases,
    "ranks": lambda: cases.rank_cases(PROGRAM),
    "logs": lambda: [*cases.log_cases(), *cases.packed_log_cases(), *cases.wrong_log_cases()],
}


@pytest.mark.parametrize("kind", CASES)
def test_results_are_as_recorded(kind):
    compared = list(CASES[kind]())
    if kind == "ranks" and not compared:
        pytest.skip("there is no mpirun, or the program was built without MPI")
    assert compared
    differ = list(digests.differences(PROGRAM, compared))
    assert not differ, "\n".join(differ)


def test_what_has_no_results_is_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "RECORDED", tmp_path / "recorded.csv")
    crash = tmp_path / "crash"
    for line in ("kill -SEGV $$", "echo flitwarp: broken invariant: so >&2; exit 2"):
        crash.write_text(f"#!/bin/sh\n{line}\n")
        crash.chmod(0o755)
        with pytest.raises(SystemExit, match="these have no results"):
            digests.record(crash, [cases.Case("some", [["run"]])])
    assert not digests.RECORDED.exists()
    crash.write_text("#!/bin/sh\necho cannot read >&2; exit 3\n")
    assert digests.record(crash, [cases.Case("some", [["run"]])]) == 1


def in_parts_if_possible(every):
    """An example that runs alone and in two parts: in two parts, which goes through all that one does, and through what goes between them."""
    every = list(every)
    names = {case.name for case in every}
    return [case for case in every if f"{case.name} conservative" not in names or case.name.startswith("model ")]


@pytest.mark.parametrize("kind", ["examples", "models", "logs"])
def test_sanitizers_and_another_compiler_find_nothing_and_change_nothing(kind):
    program = os.environ.get("FLITWARP_ASAN", "")
    if not os.access(program, os.X_OK):
        pytest.skip("FLITWARP_ASAN names no program: ./dev test builds it")
    differ = list(digests.differences(program, list(in_parts_if_possible(CASES[kind]()))))
    assert not differ, "\n".join(differ)


def test_every_router_and_routing_algorithm_is_recorded_with_all_others():
    names = {config["name"] for config in cases.drawn_configs()}
    routers = {name.split()[1] for name in names}
    assert len(names) >= 100 and len({name.split()[0] for name in names}) * len(routers) - len(names) <= 5


def test_nothing_is_recorded_that_no_case_gives():
    rows = {case.row for case in cases.all_cases(PROGRAM)}
    assert rows == set(digests.recorded())

# SPDX-License-Identifier: Apache-2.0
"""The history of benchmarks, and the check of instructions per hop against it. Counts of instructions are no timings."""

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLITWARP = os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]

import bench  # noqa: E402
import history  # noqa: E402

TOOLS = ("gcc 12.2.0", "-O3 -march=x86-64-v3")
RECORD = history.Record("0123abc", "2026-01-31", "a processor, 2 cores", *TOOLS, "mesh_8x8", 100.0, 18.5)


def test_short_benchmarks_take_no_more_instructions_than_last_recorded():
    tools = history.toolchain(Path(FLITWARP))
    if not shutil.which("valgrind"):
        pytest.skip("there is no valgrind to count instructions")
    if not history.last(history.read(), "short/mesh", tools):
        pytest.skip(f"nothing is recorded with {' '.join(tools).strip() or 'an unknown compiler'}")
    ended = subprocess.run(["/usr/bin/python3", str(ROOT / "bench" / "bench.py"), "--check", "short"],
                           capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(ended.stdout.splitlines()) == len(list((ROOT / "bench" / "short").glob("*.json"))), ended.stdout
    assert "cannot compare" not in ended.stdout


def check_against(monkeypatch, record, count):
    """What the check says of mesh_8x8 where this is recorded and so many instructions are counted."""
    monkeypatch.setattr(history, "read", lambda: [record])
    monkeypatch.setattr(history, "toolchain", lambda binary: TOOLS)
    monkeypatch.setattr(bench, "instructions_per_hop", lambda path: count)
    return bench.check(bench.choose(["mesh_8x8"]))


def test_six_percent_more_instructions_fail_and_the_benchmark_is_named(monkeypatch, capsys):
    assert check_against(monkeypatch, RECORD, 106.0) == 1
    said = capsys.readouterr()
    assert "mesh_8x8: 106.0 instructions per hop, +6.0% from 100.0 at 0123abc" in said.out
    assert "more than 5% more instructions" in said.err and said.err.rstrip().endswith("mesh_8x8")


@pytest.mark.parametrize("count", [50.0, 100.0, 104.9])
def test_fewer_or_hardly_more_instructions_pass(monkeypatch, capsys, count):
    assert check_against(monkeypatch, RECORD, count) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("other", [{"compiler": "gcc 14.2.0"}, {"flags": "-O3 -march=x86-64"}, {"compiler": "", "flags": ""},
                                   {"benchmark": "torus_4d"}, {"instructions_per_hop": None}])
def test_what_was_not_counted_alike_is_not_compared(monkeypatch, capsys, other):
    assert check_against(monkeypatch, dataclasses.replace(RECORD, **other), 200.0) == 0
    assert "cannot compare: nothing is recorded with gcc 12.2.0 -O3 -march=x86-64-v3" in capsys.readouterr().out


def test_the_last_record_counts():
    later = dataclasses.replace(RECORD, commit="4567def", instructions_per_hop=90.0)
    assert history.compare([RECORD, later], "mesh_8x8", 96.0, TOOLS)[0] is False
    assert history.compare([later, RECORD], "mesh_8x8", 96.0, TOOLS)[0] is True


def test_recording_adds_a_row_and_makes_the_table_anew(monkeypatch, tmp_path):
    read, write = history.read, history.write
    write([RECORD], tmp_path)
    monkeypatch.setattr(history, "read", lambda: read(tmp_path))
    monkeypatch.setattr(history, "write", lambda records: write(records, tmp_path))
    monkeypatch.setattr(bench, "measure", lambda path: {"hops_per_cpu_second": 2e7})
    monkeypatch.setattr(bench, "instructions_per_hop", lambda path: 91.234)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.1, 0.1))
    bench.record(bench.choose(["mesh_8x8"]))
    first, second = read(tmp_path)
    assert first == RECORD
    assert (second.benchmark, second.instructions_per_hop, second.million_per_cpu_second) == ("mesh_8x8", 91.23, 20.0)
    assert second.machine.endswith(" cores") and second.commit
    assert f"| {second.commit} | {second.date} | 91.2 | 20.0 | {second.machine} |" in (tmp_path / history.TABLE).read_text()


def test_a_busy_machine_records_no_speed(monkeypatch, tmp_path, capsys):
    written = []
    monkeypatch.setattr(history, "read", lambda: [])
    monkeypatch.setattr(history, "write", written.extend)
    monkeypatch.setattr(bench, "instructions_per_hop", lambda path: 91.0)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0, 1.0, 1.0))
    bench.record(bench.choose(["mesh_8x8"]))
    assert [record.million_per_cpu_second for record in written] == [None]
    assert "busy" in capsys.readouterr().err


def test_the_table_is_made_of_the_records_that_are_kept():
    assert (ROOT / "bench" / history.TABLE).read_text() == history.table(history.read())


def test_a_program_outside_its_build_folder_tells_no_compiler(tmp_path):
    assert history.toolchain(tmp_path / "flitwarp") == ("", "")

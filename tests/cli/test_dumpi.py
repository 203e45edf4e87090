# SPDX-License-Identifier: Apache-2.0
"""DUMPI traces: every call and argument of every rank against the listings beside the traces (by sst-dumpi's own
dumpi2ascii), calls and bytes of whole runs against the summaries inside their archives. Traces are read where they lie,
and tests that need them are skipped where they do not."""
import csv
import functools
import json
import lzma
import os
import re
import subprocess
import tarfile
import xml.dom.minidom
from collections import Counter

import pytest

from support import PROGRAM, SHARED, run

TRACES = SHARED / "traces" / "dumpi"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no DUMPI traces in {TRACES}")
ASAN = os.environ.get("FLITWARP_ASAN", "")
CHECKED = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM
MOMENT = re.compile(r"(\w+) (entering|returning) (at walltime .*)$")
ARGUMENT = re.compile(r"\S+ ([\w.]+)(?:\[\d+\])?=(.*?)(?: \([\w-]+\))?$")
ROOTED = {"MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv"}


def info(file, *arguments, program=PROGRAM, status=0):
    ended = subprocess.run([program, "trace-info", file, *arguments], capture_output=True, text=True, timeout=60)
    assert ended.returncode == status, ended.stderr
    return ended.stderr if status else ended.stdout


def facts_of(file, *arguments, **more):
    return json.loads(info(file, "--json", *arguments, **more))


def read_listing(text):
    """The calls, each with the times of its entry and return and its arguments, and the counts and sizes at the end."""
    calls, arguments, tables = [], {}, []
    for line in text.splitlines():
        moment = MOMENT.match(line)
        if moment and moment[2] == "entering":
            arguments = {}
            calls.append([moment[1], moment[3], arguments])
        elif moment:
            calls[-1].append(moment[3])
        elif "called" in line or line.startswith("Datatype"):
            tables.append(re.sub(r" \([\w-]+\)", "", line))
        elif calls and len(calls[-1]) == 3:
            name, value = ARGUMENT.match(line).groups()
            arguments[name.replace(".", "_")] = value
    return calls, tables


RANKS = sorted(path for path in TRACES.glob("*/*.bin") if path.with_suffix(".ascii.xz").exists()) if TRACES.is_dir() else []


@pytest.mark.parametrize("path", RANKS, ids=[f"{path.parent.name}-{path.stem[-4:]}" for path in RANKS])
def test_calls_and_arguments_equal_the_listing(path):
    ours, our_tables = read_listing(info(path, "--list"))
    theirs, their_tables = read_listing(lzma.open(path.with_suffix(".ascii.xz"), "rt").read())
    assert [call[0] for call in ours] == [call[0] for call in theirs]
    for our, their in zip(ours, theirs):
        assert (our[1], our[3]) == (their[1], their[3])
        absent = their[2].keys() - our[2].keys()  # what only a root has, which the file does not hold
        assert our[2] == {name: value for name, value in their[2].items() if name not in absent}
        assert not absent or our[0] in ROOTED
        assert {their[2][name] for name in absent} <= {"0", "<IGNORED>"}
    assert our_tables == their_tables and our_tables


def test_there_is_a_listing_of_every_rank_of_the_small_traces():
    assert Counter(path.parent.name for path in RANKS) == {"ring_n4": 4, "halo3d_n8": 8, "allmix_n4": 4,
                                                           "sst-dumpi-tests": 4}


@functools.cache
def window_of_amg():
    """27 ranks of 2014: calls in the files, calls that the footers count as left out, bytes of all sends."""
    called, ignored, sent = Counter(), Counter(), 0
    for path in sorted((TRACES / "amg_n27").glob("*.bin")):
        calls, tables = read_listing(info(path, "--list"))
        counted, sizes = Counter(), {}
        for line in tables:
            name, *numbers = re.match(r"(\w+)\D+(\d+)\D+(\d+)", line).groups()
            if name == "Datatype":
                sizes[numbers[0]] = int(numbers[1])
            elif name != "MPI_ALL_FUNCTIONS":
                counted[name] = int(numbers[0]) - int(numbers[1])
                ignored[name] += int(numbers[1])
        assert Counter(call[0] for call in calls) == +counted
        called += counted
        sent += sum(int(call[2]["count"]) * sizes[call[2]["datatype"]] for call in calls if call[0] == "MPI_Isend")
    return called, +ignored, sent


def test_the_window_of_amg_names_what_it_lacks():
    called, ignored, sent = window_of_amg()
    facts = facts_of(next((TRACES / "amg_n27").glob("*.meta")))
    assert facts["calls"] == called and facts["missing"] == ignored
    assert facts["ranks"] == 27 and facts["missing"]["MPI_Allreduce"] > 0
    assert facts["tasks"]["send"] == called["MPI_Isend"] and facts["tasks"]["receive"] == called["MPI_Irecv"]
    assert facts["messages"]["bytes"] == sent


# ---- whole runs of AMG ----


def read_summary(text):
    """The tables of a SUMMARY.md by their first heading, and its lines of facts."""
    tables, rows = {}, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            rows = None
        elif rows is None:
            rows = tables.setdefault(cells[0], [])
        elif not cells[0].startswith("---"):
            rows.append(cells)
    return tables


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("amg")
    for name in ("amg_n8", "amg_n64"):
        with tarfile.open(TRACES / f"{name}.tar.xz") as archive:
            archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", ["amg_n8", "amg_n64"])
def test_amg_has_the_calls_bytes_and_sizes_of_its_summary(name, unpacked, tmp_path):
    summary = (unpacked / name / "SUMMARY.md").read_text()
    tables = read_summary(summary)
    facts = facts_of(next((unpacked / name).glob("*.meta")), "--matrix", tmp_path / "matrix.csv")
    assert facts["calls"] == {call: int(count) for call, count in tables["call"]}
    for call, count, payload in tables["collective"]:
        assert (facts["calls"][call], facts["call_bytes"][call]) == (int(count), int(payload))
    sent, bytes_sent, by_isend, by_send = map(int, re.search(
        r"messages sent: (\d+), bytes sent: (\d+) \(Isend (\d+), Send (\d+)\)", summary).groups())
    assert (facts["messages"]["count"], facts["messages"]["bytes"]) == (sent, bytes_sent)
    assert (facts["call_bytes"]["MPI_Isend"], facts["call_bytes"]["MPI_Send"]) == (by_isend, by_send)
    assert facts["messages"]["largest"] == int(re.search(r"size min 0 max (\d+)", summary)[1])
    assert facts["messages"]["sizes"] == [[int(ends.split("-")[0]), int(ends.split("-")[-1]), int(count)]
                                          for ends, count in tables["message size (bytes)"]]
    least, mean, most = re.search(r"destinations per rank: min (\d+) mean ([\d.]+) max (\d+)", summary).groups()
    destinations = facts["destinations"]
    assert (destinations["min"], f"{destinations['mean']:.1f}", destinations["max"]) == (int(least), mean, int(most))
    with open(tmp_path / "matrix.csv") as file:
        rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert sum(row["messages"] for row in rows) == sent and sum(row["bytes"] for row in rows) == bytes_sent
    peers = Counter(row["source"] for row in rows)
    assert (min(peers.values()), max(peers.values())) == (int(least), int(most))


def test_the_matrix_of_the_ring_holds_neighbours_alone(tmp_path):
    """Each of four ranks sends to the one before it and the one behind it: eight pairs, eight squares."""
    meta = next((TRACES / "ring_n4").glob("*.meta"))
    info(meta, "--matrix", tmp_path / "matrix.csv")
    with open(tmp_path / "matrix.csv") as file:
        pairs = {(int(row["source"]), int(row["destination"])) for row in csv.DictReader(file)}
    assert pairs == {(rank, (rank + step) % 4) for rank in range(4) for step in (1, 3)}
    info(meta, "--matrix", tmp_path / "matrix.svg")
    places = [float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="160.00"',
                                           (tmp_path / "matrix.svg").read_text())]
    assert len(places) == 8 and len(set(places)) == 4
    xml.dom.minidom.parse(str(tmp_path / "matrix.svg"))


# ---- wrong files ----


def copy_of(name, folder):
    for path in (TRACES / name).glob("*"):
        if path.suffix in (".bin", ".meta"):
            (folder / path.name).write_bytes(path.read_bytes())
    return next(folder.glob("*.meta"))


def test_a_rank_that_is_missing_is_named(tmp_path):
    meta = copy_of("ring_n4", tmp_path)
    next(tmp_path.glob("*-0003.bin")).unlink()
    assert re.search(r"-0003\.bin: there is no such file, but .*\.meta says that there are 4 ranks",
                     info(meta, program=CHECKED, status=1))


def test_without_a_meta_file_the_ranks_are_those_that_lie_there(tmp_path):
    copy_of("ring_n4", tmp_path).unlink()
    assert facts_of(next(tmp_path.glob("*-0001.bin")))["ranks"] == 4


@pytest.mark.parametrize("size, message", [
    (5000, r"-0002\.bin: at byte 4936: no index at the end of the file"),
    (4, r"-0002\.bin: at byte 0: not a DUMPI file"),
    (0, r"-0002\.bin: the file is empty"),
])
def test_a_file_that_was_cut_off_is_refused_with_its_offset(tmp_path, size, message):
    meta = copy_of("ring_n4", tmp_path)
    path = next(tmp_path.glob("*-0002.bin"))
    path.write_bytes(path.read_bytes()[:size])
    assert re.search(message, info(meta, program=CHECKED, status=1))


def test_a_meta_file_without_a_number_of_ranks_is_refused(tmp_path):
    meta = copy_of("ring_n4", tmp_path)
    meta.write_text(meta.read_text().replace("numprocs=4", "numprocs=many"))
    assert "accepted: a line numprocs= with 1 to" in info(meta, program=CHECKED, status=1)


# ---- replayed ----


@pytest.mark.parametrize("name, ranks", [("ring_n4", 4), ("halo3d_n8", 8), ("allmix_n4", 4), ("sst-dumpi-tests", 4)])
def test_small_traces_replay_to_the_end(name, ranks):
    """Those of AMG: tests/reproduce/test_amg.py."""
    file = next((TRACES / name).glob("*.meta"))
    result = run({"simulator": {"tick": "1ns"},
                  "network": {"flit_bytes": 16, "topology": {"type": "torus", "widths": [3, 3, 3]}, "routing": "dimension_order",
                              "router": {"type": "packet", "num_vcs": 2, "buffer_depth": 4096, "delay": 10},
                              "channel": {"latency": 20}},
                  "workload": {"check_interval": "20us", "applications": [
                      {"type": "trace", "file": str(file), "overhead": "100ns",
                       "allocation": {"type": "linear", "count": ranks}}]}})["applications"][0]
    assert (result["unfinished_ranks"], result["ranks"]) == (0, ranks)
    assert result["completion_time"] >= facts_of(file)["compute"]["longest_seconds"] * 1e9

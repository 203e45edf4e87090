# SPDX-License-Identifier: Apache-2.0
"""Every trace of shared/traces replays to the end on a small network: whatever lies there is a trace, a part of one, or
listed here as something else. Bytes are what the files say, by sums of their own columns and the formulas of the
collectives' algorithms."""
import json
import re
import tarfile

import pytest

from support import SHARED, config_of, invoke, run_logged

TRACES = SHARED / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no traces in {TRACES}")

# Neither traces nor parts of one: terms, descriptions, and what other programs print of a trace.
ABOUT = re.compile(r"(README|LICEN[CS]E|SUMMARY)\b.*|.*\.ascii\.xz|callcounts-.*\.txt|testtrace-0000\.txt|dumpi\.(out|conf)")
# Formats of a file for each rank, and the one that names the trace.
PARTS = {".bin": lambda path: next(path.parent.glob("*.meta"), path),
         ".et": lambda path: path.with_name(re.sub(r"\.\d+\.et$", ".0.et", path.name))}
# Fewer ranks than the header says, 9216, in groups that fit.
FORMATS = {"Resnet50_DataParallel.txt": {"ranks": 16}, "DLRM_HybridParallel.txt": {"ranks": 16},
           "simai_workload_analytical.txt": {"ranks": 16, "expert_parallel": 4, "pipeline_parallel": 1}}

TORUS = {"flit_bytes": 256, "topology": {"type": "torus", "widths": [8, 8]}, "routing": "dimension_order",
         "router": {"type": "packet", "num_vcs": 2, "buffer_depth": 1048576, "delay": 1}, "channel": {"latency": 10}}
L = 100
IDEAL = {"flit_bytes": 8, "topology": {"type": "ideal", "terminals": 128, "latency": L}, "routing": "minimal",
         "router": {"type": "packet", "num_vcs": 1, "buffer_depth": 1048576, "delay": 0}}


def traces_in(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not ABOUT.fullmatch(path.name)]
    return sorted({PARTS[path.suffix](path) if path.suffix in PARTS else path for path in files})


def name_of(path):
    return str(path.relative_to(TRACES))


FOUND = traces_in(TRACES) if TRACES.is_dir() else []
MATRICES = [path for path in FOUND if path.suffix == ".cm"]


def trace(path, **settings):
    settings["format"] = {"type": "astrasim", **FORMATS[path.name]} if path.name in FORMATS else None
    return {"type": "trace", "file": str(path), "compute_scale": 0, "max_packet": 1048576, "per_rank": True,
            "collectives": {"allreduce": "ring"}, **settings}


def replay(path, **settings):
    text, _ = invoke(config_of(TORUS, trace(path, ranks_per_terminal=2, **settings), check_interval="100us"))
    results = json.loads(text)
    block = results["applications"][0]
    assert results["complete"] and block["unfinished_ranks"] == 0 and block["tasks"] > 0
    return block


@pytest.mark.parametrize("path", FOUND, ids=map(name_of, FOUND))
def test_every_trace_replays_to_the_end(path, tmp_path):
    if path.name.endswith(".tar.xz"):
        with tarfile.open(path) as archive:
            archive.extractall(tmp_path)
        inside = traces_in(tmp_path)
        assert inside
        for other in inside:
            replay(other)
        return
    block = replay(path)
    if path.parent.name in BYTES:
        assert block["bytes"] == BYTES[path.parent.name](path)


# ---- bytes, from the files themselves ----

def sizes_of(path):
    return [int(size) for size in re.findall(r" size (\d+)", path.read_text())]


def collectives_of(path):
    """The policy's line, and (phase, collective, bytes) of all layers."""
    header, _, *layers = path.read_text().splitlines()
    rows = [line.split() for line in layers if line.strip()]
    return header, [(phase, row[3 * phase + 3], int(row[3 * phase + 4])) for row in rows for phase in range(3)]


def sent_by(collective, size, ranks):
    """All ranks of a group together: a ring sends a vector twice but for each rank's own part; others send blocks."""
    if collective == "ALLREDUCE":
        return 2 * (ranks - 1) * size
    return ranks * (ranks - 1) * -(-size // ranks)


def bytes_of_layers(path):
    header, collectives = collectives_of(path)
    fields = dict(re.findall(r"(\w+):? (\d+)", header))
    settings = FORMATS.get(path.name, {})
    ranks = settings.get("ranks", int(fields.get("all_gpus", 0)))
    tensor = int(fields.get("model_parallel_NPU_group", ranks))
    experts = settings.get("expert_parallel", int(fields.get("ep", 1)))
    copies = ranks // tensor if "model_parallel_NPU_group" in fields else ranks
    total = 0
    for phase, name, size in collectives:
        collective, _, group = name.partition("_")
        members = {"EP": experts, "DP_EP": copies // experts, "": copies if phase == 2 else tensor}[group]
        if collective != "NONE":
            total += ranks // members * sent_by(collective, size, members)
    return total


BYTES = {"htsim-cm": lambda path: sum(sizes_of(path)), "astrasim-text": bytes_of_layers}


def test_the_sums_of_the_files_are_not_empty():
    for folder in BYTES:
        for path in traces_in(TRACES / folder):
            assert BYTES[folder](path) > 1000000


# ---- order, on an ideal network ----

def one_way(size):
    return L + -(-size // 8) - 1


@pytest.mark.parametrize("path", MATRICES, ids=map(name_of, MATRICES))
def test_flows_of_htsim_start_when_the_flow_that_they_wait_for_is_over(path):
    """In these files a flow waits for one of the same source, whose end that hears of a message later: it leaves then, in
    that tick. All pairs of nodes have one flow at most."""
    results, log = run_logged(config_of(IDEAL, trace(path), check_interval="100us"))
    start = results["applications"][0]["phases"]["generating"]
    flows, firing = {}, {}
    for line in path.read_text().splitlines():
        found = re.match(r"(\d+)->(\d+)", line)
        if found:
            words = line.split()[1:]
            flows[int(found[1]), int(found[2])] = fields = dict(zip(words[::2], map(int, words[1::2])))
            firing[fields.get("send_done_trigger")] = int(found[1]), int(found[2])
    times = {(row["source"], row["destination"]): row for row in log if row["packet_flits"] > 1}
    told = {(row["source"], row["destination"], row["created"]): row["tail_arrived"] for row in log if row["packet_flits"] == 1}
    assert len(times) == len(flows)
    for ends, fields in flows.items():
        expected = start + fields.get("start", 0)
        if "trigger" in fields:
            source, destination = firing[fields["trigger"]]
            assert source == ends[0]
            over = times[source, destination]["tail_arrived"]
            expected = told[destination, source, over]
            assert expected >= over + L
        assert times[ends]["created"] == expected
        assert times[ends]["tail_arrived"] >= expected + one_way(fields["size"])

# SPDX-License-Identifier: Apache-2.0
"""What a GPU runs, work-item by work-item: Oclgrind, a device that tells of data races and of barriers that not all come to, gives the
program's bytes and finds nothing. PoCL does one work-item of a group after the other, so that it would go well there."""
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from on_device import assert_same, Ended, run
from support import PROGRAM

LIBRARY = Path("/usr/lib/oclgrind/liboclgrind-rt.so")
# Its interpreter does not know what clang writes when it puts a function into another.
OPTIONS = ["--data-races", "--check-api", "--build-options", "-cl-opt-disable -Dalways_inline=unused"]
CONFIGS = {
    "usual": {"network": {"topology": {"type": "torus", "widths": [3, 2]}, "router": {"num_vcs": 2, "buffer_depth": 4}}},
    "of two words, with sensors": {
        "network": {"topology": {"type": "mesh", "widths": [3, 2], "concentration": 2}, "routing": "ugal",
                    "router": {"num_vcs": 14, "buffer_depth": 6, "switching": "virtual_cut_through", "routing_latency": 2, "vc_needs_credit": True}},
        "workload": {"applications": [{"size": {"type": "uniform", "min": 1, "max": 4}}]}},
    "of several ways, with answers": {
        "network": {"topology": {"type": "dragonfly", "terminals": 1, "routers": 2, "global": 1}, "routing": "minimal_adaptive",
                    "router": {"num_vcs": 6, "buffer_depth": 8}, "protocol_classes": 2},
        "workload": {"applications": [{"size": {"type": "fixed", "flits": 5}, "max_packet": 2,
                                       "reply": {"type": "fixed", "flits": 1}}]}},
    "of packets, in parts, with sensors": {
        "network": {"topology": {"type": "dragonfly", "terminals": 1, "routers": 2, "global": 1}, "routing": "minimal_adaptive", "flit_bytes": 32,
                    "router": {"type": "packet", "num_vcs": 6, "buffer_depth": 4, "chunk": 64}},
        "workload": {"applications": [{"size": {"type": "uniform", "min": 1, "max": 5}, "max_packet": 5}]}},
    "of packets by output, which are stored": {
        "network": {"topology": {"type": "torus", "widths": [3, 2]}, "terminal_channel": {"cycle": 2},
                    "router": {"type": "packet", "num_vcs": 2, "buffer_depth": 8, "switching": "store_and_forward", "queueing": "by_output"}},
        "workload": {"applications": [{"size": {"type": "uniform", "min": 1, "max": 3}, "max_packet": 3}]}},
}


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    """The words before a command that is to find Oclgrind's library in place of the machine's, and where that tells what it finds."""
    if not shutil.which("oclgrind"):
        pytest.skip("there is no oclgrind here, which is Debian's package of that name")
    assert LIBRARY.exists(), "oclgrind is here, and its library is not where Debian has it"
    folder = tmp_path_factory.mktemp("oclgrind")
    (folder / "libOpenCL.so.1").symlink_to(LIBRARY)
    said = folder / "said"
    return ["env", f"LD_LIBRARY_PATH={folder}:{LIBRARY.parent}", "oclgrind", *OPTIONS, "--log", str(said)], said


@pytest.mark.parametrize("name", CONFIGS)
def test_work_items_do_not_meet_by_accident(name, checker, tmp_path):
    words, said = checker
    config = {"workload": {}, **CONFIGS[name]}
    blast = {"type": "blast", "load": 0.6, "warmup": 0, "sample": 20, **config["workload"].get("applications", [{}])[0]}
    config["workload"] = {"check_interval": 25, "applications": [blast]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    command = [*words, PROGRAM, "run", str(tmp_path / "config.json"), "--device", "opencl", "simulator.device_group=16", "--results", str(tmp_path / "there.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    there = Ended(ended.returncode, ended.stderr, json.loads((tmp_path / "there.json").read_text(), parse_int=str, parse_float=str))
    here = run(tmp_path / "config.json", tmp_path, "simulator.device_group=16")
    assert "Oclgrind" in there.results["simulation"]["device"]["name"]
    assert_same(here, there, name)
    assert not said.read_text(), said.read_text()[:3000]

# SPDX-License-Identifier: Apache-2.0
"""Logs that a device tells have the bytes that the program writes, and Ctrl-C ends its runs."""
import json
import signal
import subprocess
import time

import pytest

from on_device import device, run  # noqa: F401
from support import PROGRAM

LOGS = ["--log", "--message-log", "--traffic-log", "--rate-log", "--channel-log"]
INTERRUPTED = 130

# Requests with replies of several packets, one that only sends, classes of their own; several channels of a terminal.
CONFIG = {
    "network": {"topology": {"type": "torus", "widths": [4, 3], "concentration": 2}, "routing": "dimension_order", "protocol_classes": 2,
                "router": {"type": "input_queued", "num_vcs": 4, "buffer_depth": 4}, "interface": {"type": "standard", "injection_channels": 2}},
    "workload": {"check_interval": 50, "series_interval": 30, "applications": [
        {"type": "blast", "load": 0.3, "size": "read_write", "max_packet": 2, "reply_delay": 7, "reply_protocol_class": 1, "warmup": 100, "sample": 400},
        {"type": "blast", "load": 0.2, "injection": "poisson", "size": {"type": "uniform", "max": 9}, "max_packet": 4, "warmup": 0, "sample": 300}]},
}


@pytest.fixture
def config(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path / "config.json"


@pytest.mark.parametrize("logs", [LOGS, LOGS[:1], LOGS[3:4], LOGS[4:]], ids=" ".join)
def test_log_of_a_device_has_the_same_bytes(logs, config, tmp_path, device):  # noqa: F811
    def written(name, *more):
        (tmp_path / name).mkdir()
        files = [tmp_path / name / f"{log}.csv" for log in logs]
        assert run(config, tmp_path / name, *(word for pair in zip(logs, map(str, files)) for word in pair), *more).status == 0
        return [file.read_bytes() for file in files]
    here = written("here")
    assert all(len(file.splitlines()) > 20 for file in here)
    assert here == written("there", "--device", device)


@pytest.mark.parametrize("interval", [100, 1_000_000])
def test_interrupt_ends_the_run_with_what_was_measured(interval, config, tmp_path, device):  # noqa: F811
    """Also where the next grid point is far away: that is not waited for."""
    results = tmp_path / "results.json"
    overrides = [f"workload.check_interval={interval}", "workload.applications.0.sample=1000000", "workload.applications.1.sample=1000000"]
    assert run(config, tmp_path, "--device", device).status == 0, "its kernels are compiled from now on"
    results.unlink()
    with subprocess.Popen([PROGRAM, "run", config, *overrides, "--device", device, "--results", results], stderr=subprocess.PIPE) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == INTERRUPTED
    assert 0 < json.loads(results.read_text())["simulation"]["end_tick"] < 1_000_000

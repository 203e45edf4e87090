# SPDX-License-Identifier: Apache-2.0
"""./dev bench --device measures what a device has done, and holds its digests against the program's."""
import json
import subprocess
import sys

from on_device import device  # noqa: F401
from support import ROOT

SHORT = ["workload.applications.0.warmup=10", "workload.applications.0.sample=10", "workload.check_interval=10"]


def bench(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "bench" / "device.py"), *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_device_is_measured_beside_a_core(device, tmp_path):  # noqa: F811
    ended = bench("--device", device, "--beside", "--json", str(tmp_path / "rows.json"), "mesh_8x8", *SHORT)
    assert (ended.returncode, ended.stderr) == (0, "")
    row = json.loads((tmp_path / "rows.json").read_text())["mesh_8x8"]
    assert row["runs"] == 1 and row["ticks"] >= 20 and row["hops_per_second"] == row["flit_hops"] / row["seconds"]
    assert row["digest"] in ended.stdout and row["hops_per_cpu_second_here"] > 0


def test_what_cannot_be_measured_is_said(device):  # noqa: F811
    for words, said in (([device, "mesh_9x9"], "no benchmark of devices is called 'mesh_9x9'"), (["opencl:99", "mesh_8x8"], "device 99"),
                        ([device, "mesh_8x8", "network.router.num_vcs=0"], "network.router.num_vcs: 0 is below 1")):
        ended = bench("--device", *words)
        assert ended.returncode == 1 and said in ended.stderr, ended.stderr

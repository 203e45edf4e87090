# SPDX-License-Identifier: Apache-2.0
"""The text that a device compiles, for GPUs too, which no machine of the tests has: clang finds nothing to warn of in it."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from on_device import run
from support import PROGRAM, ROOT
from test_refused_by_device import BASE

HERE = Path(__file__).parent
FUNCTIONS = ["cl" + name for name in re.findall(r"X\((\w+)\)", (ROOT / "src/device/library.h").read_text())]
CLANG = ["clang", "-x", "cl", "-cl-std=CL1.2", "-D__OPENCL_VERSION__=120", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-target", "spir64",
         "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Wno-unused-function", "-Wno-unused-parameter"]  # of each file a run has use for some
KINDS = {
    "usual": [],
    "general": ["network.router.routing_latency=2", "network.router.vc_needs_credit=true", "network.router.switching=virtual_cut_through"],
    "words": ["network.router.num_vcs=20"],
    "packets": ["network.router.type=packet"],
    "packets and sensors": ["network.router.type=packet", "network.routing=minimal_adaptive", "network.router.num_vcs=6"],
    "sources": ["workload.applications.0.injection=poisson", "workload.applications.0.traffic=transpose",
                'workload.applications.0.size={"type":"uniform","max":4}'],
}


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    """A folder with the library that writes."""
    version = subprocess.run([PROGRAM, "version"], capture_output=True, text=True, check=True).stdout
    if "OPENCL" in version.split("without")[1]:
        pytest.skip("the program was built without OpenCL (opencl-headers)")
    if not shutil.which("clang") or not Path("/usr/include/CL/cl.h").exists():
        pytest.skip("there is no clang, or no CL/cl.h (opencl-headers)")
    folder = tmp_path_factory.mktemp("library")
    source = HERE / "text_opencl.c"
    own = set(re.findall(r"^cl_\w+ (cl\w+)\(", source.read_text(), re.M))
    others = [f"-Wl,--defsym={name}=done" for name in FUNCTIONS if name not in own]
    subprocess.run(["clang", "-shared", "-fPIC", "-w", source, "-o", folder / "libOpenCL.so.1", *others], check=True)
    return folder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number, is_gpu", [(0, True), (1, False)])
def test_text_compiles_without_a_warning(number, is_gpu, kind, writer, tmp_path, monkeypatch):
    text = tmp_path / "text.cl"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(writer))
    monkeypatch.setenv("TEXT_OPENCL", str(text))
    (tmp_path / "config.json").write_text(json.dumps(BASE))
    ended = run(tmp_path / "config.json", tmp_path, *KINDS[kind], "--device", f"opencl:{number}")
    assert ended.status == 1 and "CL_BUILD_PROGRAM_FAILURE while compiling its kernels" in ended.said, ended.said
    written = text.read_text()
    assert ("#define FACT_routers 9ul\n" in written) == is_gpu, "a GPU has the numbers of the run in its text"
    monkeypatch.delenv("LD_LIBRARY_PATH")
    compiled = subprocess.run([*CLANG, text], capture_output=True, text=True, check=False)
    assert compiled.returncode == 0 and not compiled.stderr, compiled.stderr[:3000]
    usual = re.search(r"^#define USUAL_ROUTER", written, re.M) is not None
    assert usual == (kind in ("usual", "sources")) and f"#define WORDS {2 if kind == 'words' else 1}\n" in written


def test_text_of_a_processor_is_the_same_whatever_its_sources_are(writer, tmp_path, monkeypatch):
    """Whose compiler takes longer than a short run: what it made of one is there for the next."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(writer))
    (tmp_path / "config.json").write_text(json.dumps(BASE))
    texts = []
    for overrides in ([], KINDS["sources"], ["network.topology.widths=[4,5]", "network.channel.latency=9", "network.router.num_vcs=3"]):
        monkeypatch.setenv("TEXT_OPENCL", str(tmp_path / "text.cl"))
        run(tmp_path / "config.json", tmp_path, *overrides, "--device", "opencl:1")
        texts.append((tmp_path / "text.cl").read_text())
    assert texts[0] == texts[1] == texts[2]

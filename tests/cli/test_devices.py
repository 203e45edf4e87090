# SPDX-License-Identifier: Apache-2.0
"""The machine's OpenCL devices, as `flitwarp list device` tells them: of libraries made here, and of what there really is."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

HERE = Path(__file__).parent
FUNCTIONS = ["cl" + name for name in re.findall(r"X\((\w+)\)", (ROOT / "src/device/library.h").read_text())]


def list_device(*arguments, **environment):
    ended = subprocess.run([PROGRAM, "list", "device", *arguments], capture_output=True, text=True, timeout=60, check=False,
                           env={**os.environ, **environment})
    assert ended.returncode == 0, ended.stderr
    return ended


@pytest.fixture(autouse=True)
def with_opencl():
    version = subprocess.run([PROGRAM, "version"], capture_output=True, text=True, check=True).stdout
    if "OPENCL" in version.split("without")[1]:
        pytest.skip("the program was built without OpenCL (opencl-headers)")


def make_library(folder, lacks=""):
    """The fake library where the program will find it: its own functions, and the names of all others but one."""
    if not shutil.which("cc") or not Path("/usr/include/CL/cl.h").exists():
        pytest.skip("there is no cc, or no CL/cl.h (opencl-headers)")
    own = set(re.findall(r"^cl_int (cl\w+)", (HERE / "fake_opencl.c").read_text(), re.M))
    others = [f"-Wl,--defsym={name}=clGetPlatformIDs" for name in FUNCTIONS if name not in own | {lacks}]
    subprocess.run(["cc", "-shared", "-fPIC", HERE / "fake_opencl.c", "-o", folder / "libOpenCL.so.1", *others], check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def test_devices_are_numbered_gpus_first_and_each_says_why_it_cannot_be_used(tmp_path):
    library = make_library(tmp_path)
    lines = [re.split(r"  +", line) for line in list_device(**library).stdout.splitlines()]
    assert lines == [
        ["0", "No doubles", "6.0 GiB", "driver 7.5", "OpenCL 1.2", "cannot be used: it has no double precision (cl_khr_fp64)"],
        ["1", "No atomics", "6.0 GiB", "driver 7.5", "OpenCL 2.0", "cannot be used: it has no 64-bit atomics (cl_khr_int64_base_atomics)"],
        ["2", "Old", "6.0 GiB", "driver 7.5", "OpenCL 1.1", "cannot be used: its OpenCL is older than 1.2"],
        ["3", "No compiler", "6.0 GiB", "driver 7.5", "OpenCL 3.0", "cannot be used: its driver has no compiler"],
        ["4", "Slow processor", "6.0 GiB", "driver 7.5", "OpenCL 3.0", "can be used"],
        ["5", "Busy", "6.0 GiB", "driver 7.5", "OpenCL 3.0", "cannot be used: it is not available now"]]
    listed = json.loads(list_device("--json", **library).stdout)
    assert [(one["number"], one["name"], one["gpu"], one["refusal"] is None) for one in listed] == [
        (0, "No doubles", True, False), (1, "No atomics", True, False), (2, "Old", True, False),
        (3, "No compiler", True, False), (4, "Slow processor", False, True), (5, "Busy", False, False)]
    assert listed[4] == {"number": 4, "name": "Slow processor", "vendor": "", "gpu": False, "driver": "7.5", "version": "OpenCL 3.0 Fake",
                         "memory_bytes": 6 << 30, "largest_bytes": 0, "compute_units": 0, "fp64": True, "int64_atomics": True,
                         "refusal": None}


def test_library_that_lacks_a_function_is_named_with_it(tmp_path):
    ended = list_device(**make_library(tmp_path, lacks="clEnqueueFillBuffer"))
    assert ended.stdout == "OpenCL: libOpenCL.so.1 has no clEnqueueFillBuffer, expected OpenCL 1.2 or newer\n"


def test_library_that_cannot_be_loaded_is_told_in_a_sentence_and_no_error(tmp_path):
    (tmp_path / "libOpenCL.so.1").write_text("no library")
    sentence = re.compile(r"OpenCL: .*/libOpenCL.so.1: .*; it comes with the driver of a GPU, or as package ocl-icd-libopencl1\n")
    assert sentence.fullmatch(list_device(LD_LIBRARY_PATH=str(tmp_path)).stdout)
    as_json = list_device("--json", LD_LIBRARY_PATH=str(tmp_path))
    assert json.loads(as_json.stdout) == [] and sentence.fullmatch(as_json.stderr)


def library_is_there():
    found = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    return "libOpenCL.so.1 " in found


def test_machine_without_drivers_has_no_device(tmp_path):
    if not library_is_there():
        pytest.skip("there is no libOpenCL.so.1 (ocl-icd-libopencl1)")
    said = list_device(OCL_ICD_VENDORS=str(tmp_path)).stdout
    assert said.startswith("OpenCL: no device on this machine (") and said.count("\n") == 1


def test_processor_is_a_device_by_pocl(tmp_path):
    icd = Path("/etc/OpenCL/vendors/pocl.icd")
    if not library_is_there() or not icd.exists():
        pytest.skip("there is no PoCL (pocl-opencl-icd)")
    shutil.copy(icd, tmp_path)
    # PoCL's own figures: the memory that it may give of the machine's, and as many processors as it is told.
    listed = json.loads(list_device("--json", OCL_ICD_VENDORS=str(tmp_path), POCL_CACHE_DIR=str(tmp_path), POCL_DEVICES="pthread",
                                    POCL_MEMORY_LIMIT="1", POCL_MAX_PTHREAD_COUNT="3").stdout)
    assert [one["number"] for one in listed] == [0]
    assert listed[0]["refusal"] is None and not listed[0]["gpu"] and "PoCL" in listed[0]["version"]
    assert 0 < listed[0]["largest_bytes"] <= listed[0]["memory_bytes"] <= 1 << 30


def test_kind_that_is_nearly_device_is_told_so():
    ended = subprocess.run([PROGRAM, "list", "devices"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "unknown kind 'devices' (did you mean 'device'?)" in ended.stderr
    assert ended.stderr.rstrip().endswith(", or device")


def test_shells_complete_device():
    words = subprocess.run([PROGRAM, "complete", "--", "list", "de"], capture_output=True, text=True, check=True).stdout
    assert words.split() == ["device"]

# SPDX-License-Identifier: Apache-2.0
"""What leaves this machine: a wheel that pip installs without the network, and a program that asks for an old C library."""
import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

BUILD = Path(PROGRAM).resolve().parent
sys.path.insert(0, str(ROOT / "packaging"))

import make_wheel  # noqa: E402

USES = """
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
static int registered;
__attribute__((constructor)) static void enrol(void) { registered++; }
static void *work(void *context) { return context; }
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    struct stat facts, file;
    int is_there = stat(argv[0], &facts) == 0 && lstat("/", &file) == 0 && fstat(0, &file) == 0;
    int is_none = dlopen("/none", RTLD_NOW) == NULL;
    printf("%d %d %d %g %s\\n", registered, is_there, is_none, hypot(3 * argc, 4) + pow(2, argc) + log(argc), dlerror());
    return facts.st_size > 0 ? 0 : 1;
}
"""


@pytest.mark.skipif(subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, check=False).stdout[:6] != "x86_64",
                    reason="the versions are those of x86-64")
def test_a_portable_program_asks_for_an_old_c_library_and_runs_its_constructors_once(tmp_path):
    source = ROOT / "packaging" / "portable.c"
    names = re.findall(r"FORWARD\((\w+), |__wrap_(__libc_start_main)\(", source.read_text())
    wraps = [f"-Wl,--wrap={one or other}" for one, other in names] + [f"-Wl,--wrap={name}" for name in ("stat", "lstat", "fstat")]
    (tmp_path / "uses.c").write_text(USES)
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-no-pie", "uses.c", source, *wraps, "-lm", "-o", "uses"], cwd=tmp_path, check=True)
    asked = subprocess.run(["nm", "-D", "uses"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"@GLIBC_([\d.]+)", asked)}
    assert versions and max(versions) <= (2, 28), asked
    said = subprocess.run([tmp_path / "uses"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("1 1 1 7 /none:")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not (BUILD / "cmake_install.cmake").exists() or not shutil.which("cmake"):
        pytest.skip("the program under test was not built by CMake here")
    place = tmp_path_factory.mktemp("wheel")
    return place / make_wheel.write_wheel(BUILD, place, "linux_x86_64")


def test_a_wheel_holds_what_its_record_says_and_no_path_of_the_build(wheel):
    with zipfile.ZipFile(wheel) as file:
        held = {name: file.read(name) for name in file.namelist()}
    info = f"flitwarp-{make_wheel.VERSION}.dist-info"
    record = dict(line.split(",", 1) for line in held.pop(f"{info}/RECORD").decode().splitlines())
    assert record.pop(f"{info}/RECORD") == ","
    assert record == {name: f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
                      for name, data in held.items()}
    assert not [name for name, data in held.items() if str(ROOT).encode() in data]
    assert f"Version: {make_wheel.VERSION}\n" in held[f"{info}/METADATA"].decode()


def test_a_wheel_is_installed_without_the_network_and_found(wheel, tmp_path):
    pytest.importorskip("pip")
    place = tmp_path / "environment"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", place], check=True)
    ended = subprocess.run(["/usr/bin/python3", "-m", "pip", "--disable-pip-version-check", "--python", place / "bin" / "python", "install", "-q",
                            "--no-index", wheel], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=False)
    assert ended.returncode == 0, ended.stderr

    def call(*words):
        return subprocess.run([place / "bin" / words[0], *words[1:]], cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True).stdout

    example = place / "share" / "doc" / "flitwarp" / "examples" / "torus_uniform.json"
    assert json.loads(call("flitwarp", "run", example, "--quiet", "network.topology.widths=[4,4]"))["complete"]
    assert "usage: flitwarp-sweep" in call("flitwarp-sweep", "--help")
    assert call("python", "-c", "import flitwarp; print(flitwarp.find_binary())").strip() == str(place / "bin" / "flitwarp")
    assert (place / "include" / "flitwarp" / "routing.h").exists()


def test_recipes_have_the_version_of_the_program():
    for recipe in ("spack/package.py", "conda/meta.yaml"):
        assert f'"{make_wheel.VERSION}"' in (ROOT / "packaging" / recipe).read_text(), recipe

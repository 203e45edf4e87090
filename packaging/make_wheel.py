# SPDX-License-Identifier: Apache-2.0
"""Wheels: what `pip install .` calls, by pyproject.toml, and ./dev package --wheel.

A wheel is what `cmake --install` leaves, in the places that pip knows: the Python package beside others, program, headers,
manual and examples below the environment. It needs nothing but Python, CMake and a compiler, so nothing is downloaded.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.search(r'FLITWARP_VERSION "(.*)"', (ROOT / "src/base/version.h").read_text())[1]
NAME = f"flitwarp-{VERSION}"
METADATA = f"""Metadata-Version: 2.1
Name: flitwarp
Version: {VERSION}
Summary: simulator of interconnection networks
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: figures
Requires-Dist: numpy; extra == "figures"
Requires-Dist: matplotlib >=3.6; extra == "figures"
Description-Content-Type: text/markdown

"""
TOOLS = "[console_scripts]\nflitwarp-sweep = flitwarp.sweep_command:main\nflitwarp-plot = flitwarp.plot:main\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Called by pip first, so that it need not build to know the name."""
    info = Path(metadata_directory) / f"{NAME}.dist-info"
    info.mkdir()
    for name, text in metadata("any").items():
        (info / name).write_text(text)
    return info.name


def metadata(platform: str) -> dict[str, str]:
    return {"METADATA": METADATA + (ROOT / "README.md").read_text(),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: flitwarp\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n",
            "entry_points.txt": TOOLS, "LICENSE": (ROOT / "LICENSE").read_text()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip: builds the program for this machine, in build-wheel/."""
    for tool, package in (("cmake", "cmake"), ("cc", "gcc"), ("pkg-config", "pkg-config")):
        if not shutil.which(tool):
            raise SystemExit(f"flitwarp is built by {tool}, which is not here; on Debian: apt-get install {package} libzstd-dev")
    build = ROOT / "build-wheel"
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not (build / "CMakeCache.txt").exists() else []
    subprocess.run(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "flitwarp", "--parallel", str(os.cpu_count())], check=True)
    return write_wheel(build, Path(wheel_directory), sysconfig.get_platform().replace("-", "_").replace(".", "_"))


def places(prefix: Path):
    """(path in the wheel, file) of all that is installed below a prefix."""
    package = next(prefix.glob("lib/python3*/*-packages"))
    for path in sorted(prefix.rglob("*")):
        inside = path.relative_to(prefix)
        if path.is_dir() or inside in (Path("bin/flitwarp-sweep"), Path("bin/flitwarp-plot")) or inside.parts[:4] == ("share", "doc", "flitwarp", "docs"):
            continue  # the tools are made by pip; pages with their pictures are no part of a library
        if path.is_relative_to(package):
            yield str(path.relative_to(package)), path
        else:
            yield f"{NAME}.data/{'scripts' if inside.parts[0] == 'bin' else 'data'}/{inside if inside.parts[0] != 'bin' else inside.name}", path


def write_wheel(build: Path, folder: Path, platform: str) -> str:
    """From a build; the name of the file."""
    name = f"{NAME}-py3-none-{platform}.whl"
    records = []
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(folder / f"{name}.part", "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path: str, data: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same bytes from the same files
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}\n")

        prefix = Path(place) / "prefix"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        for path, file in places(prefix):
            add(path, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        info = f"{NAME}.dist-info"
        for file_name, text in metadata(platform).items():
            add(f"{info}/{file_name}", text.encode())
        wheel.writestr(f"{info}/RECORD", "".join(records) + f"{info}/RECORD,,\n")
    os.replace(folder / f"{name}.part", folder / name)
    return name


if __name__ == "__main__":  # BUILD FOLDER PLATFORM
    print(Path(sys.argv[2]) / write_wheel(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))

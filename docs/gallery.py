#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/figures.md and puts the pictures that it shows into docs/images/.

    python3 docs/gallery.py [FOLDER]        FOLDER: for the pictures, docs/images/ by default
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "figures.md"
sys.path.insert(0, str(ROOT / "python"))

from flitwarp.binary import find_binary  # noqa: E402


def blocks():
    """The text of each block of shell commands."""
    return re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def shown():
    """The pictures that the page shows."""
    return re.findall(r"!\[[^]]*\]\(images/([\w.-]+)\)", PAGE.read_text())


def run(folder):
    """All commands, in a folder that looks like the tree."""
    (folder / "build").mkdir()
    (folder / "build" / "flitwarp").symlink_to(find_binary())
    for name in ("bin", "examples", "python"):
        (folder / name).symlink_to(ROOT / name)
    for block in blocks():
        subprocess.run(["bash", "-ec", block], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main():
    images = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder)
        for picture in shown():
            few = Image.open(folder / picture).convert("RGB").quantize(256, dither=Image.Dither.NONE)
            few.save(images / picture, optimize=True)
            print(f"{picture:28s} {(images / picture).stat().st_size:6d} bytes")


if __name__ == "__main__":
    main()

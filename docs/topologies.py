#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/topologies.md, by `flitwarp topology --picture`, into docs/images/topologies/.

    python3 docs/topologies.py [NAME ...]        NAME: of topologies; all of the page by default

What is drawn stands in the page: the settings in the row of a topology. A picture is small, so titles, legends and numbers are left out.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "topologies.md"
IMAGES = ROOT / "docs" / "images" / "topologies"
WIDTH = 170  # as shown
ROUTER_LINE, LINK_LINE = 5, 4  # of a canvas of about 860
sys.path.insert(0, str(ROOT / "python"))

from flitwarp.binary import find_binary  # noqa: E402


def drawn():
    """The settings of each topology of the page, by name."""
    return {block["type"]: block for block in map(json.loads, re.findall(r"^\| !\[[^]]*\]\([^)]*\) \| `(\{.*?\})` \|", PAGE.read_text(), re.M))}


def borders(text):
    """Of the window that circles and links need: left, top, right and low."""
    spots = []
    for x, y, radius in re.findall(r'cx="(-?\d+)" cy="(-?\d+)" r="(\d+)"', text):
        spots += [(int(x) - int(radius), int(y) - int(radius)), (int(x) + int(radius), int(y) + int(radius))]
    for numbers in re.findall(r"M(-?\d+) (-?\d+)Q(-?\d+) (-?\d+) (-?\d+) (-?\d+)", text):
        x0, y0, x1, y1, x2, y2 = map(int, numbers)
        spots.append(((x0 + 2 * x1 + x2) // 4, (y0 + 2 * y1 + y2) // 4))
    sides = list(zip(*spots))
    return min(sides[0]) - 6, min(sides[1]) - 6, max(sides[0]) + 6, max(sides[1]) + 6


def small(text):
    """The drawing alone: no words, whole pixels, thick lines; its window is what the drawing needs."""
    lines = [line for line in text.splitlines() if re.match(r"<(circle|path data|g |/g)", line)]
    text = re.sub(r" data-[\w-]+=\"[^\"]*\"", "", "\n".join(lines))
    text = re.sub(r"-?\d+\.\d", lambda number: f"{float(number[0]):.0f}", re.sub(r' stroke-opacity="[^"]*"', "", text))
    text = re.sub(r'stroke-width="[^"]*"', f'stroke-width="{LINK_LINE}"', text)
    text = text.replace('stroke="#2b2f36"', f'stroke="#2b2f36" stroke-width="{ROUTER_LINE}"')
    left, top, right, low = borders(text)
    width, height = right - left, low - top
    shown = WIDTH / max(width, height, 200)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * shown:.0f}" height="{height * shown:.0f}" '
            f'viewBox="{left} {top} {width} {height}">\n<rect x="{left}" y="{top}" width="100%" height="100%" fill="#ffffff"/>\n{text}\n</svg>\n')


def main():
    blocks = drawn()
    for name in sys.argv[1:] or blocks:
        with tempfile.TemporaryDirectory() as folder:
            config, picture = Path(folder) / "config.json", Path(folder) / "picture.svg"
            config.write_text(json.dumps({"network": {"topology": blocks[name]}}))
            (config.parent / "examples").symlink_to(ROOT / "examples")
            subprocess.run([find_binary(), "topology", config, "--picture", picture], check=True, stdout=subprocess.DEVNULL)
            text = small(picture.read_text())
        (IMAGES / f"{name}.svg").write_text(text)
        print(f"{name:16s} {len(text):6d} bytes")


if __name__ == "__main__":
    main()

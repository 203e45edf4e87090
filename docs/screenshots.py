#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures that docs/viewer.md shows, in a headless Chromium, and puts them into docs/images/.

    python3 docs/screenshots.py [FOLDER]        FOLDER: for the pictures, docs/images/ by default
"""
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "viewer")]

from browser import Browser  # noqa: E402
from shown import viewed, wait_for  # noqa: E402
from support import PROGRAM  # noqa: E402

SCENARIOS = ROOT / "examples" / "view"


class Camera:
    def __init__(self, window, folder):
        self.window, self.folder = window, Path(folder)

    def resize(self, width, height):
        self.window.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, name):
        self.window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name},
                                                                 {"name": "prefers-reduced-motion", "value": "reduce"}])

    def take(self, name):
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            self.window.picture(file.name)
            picture = Image.open(io.BytesIO(Path(file.name).read_bytes())).convert("RGB")
        picture.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(self.folder / f"viewer-{name}.png", optimize=True)


def network(camera):
    with viewed(camera.window, SCENARIOS / "02_tornado_torus.json") as page:
        page.go_to(1500)
        page.at(1500)
        camera.window.click("#tab-settings")
        camera.take("network")


def beside(camera):
    with viewed(camera.window, SCENARIOS / "02_tornado_torus.json") as page:
        camera.window.click("#tab-settings")
        camera.window.run("document.getElementById('option-network.routing').value = 'valiant'")
        camera.window.click("#run-beside")
        page.go_to(1000)
        page.at(1000)
        wait_for(lambda: camera.window.run("return window.flitwarp.besideTick()") == 1000)
        camera.take("beside")


def flits(camera):
    with viewed(camera.window, SCENARIOS / "01_wormhole_blocking.json") as page:
        page.go_to(300)
        page.at(300)
        page.find_router("(2,2)")
        for _ in range(2):
            camera.window.click("#step")
        page.at(302)
        camera.take("flits")


def deadlock(camera):
    with viewed(camera.window, SCENARIOS / "03_torus_deadlock.json") as page:
        page.go_to(100000)
        wait_for(lambda: camera.window.run("return window.flitwarp.drawn().deadlock.length"))
        page.drawn()
        camera.take("deadlock")


def groups(camera):
    with viewed(camera.window, SCENARIOS / "04_valiant_dragonfly.json") as page:
        page.go_to(400)
        page.at(400)
        wait_for(lambda: camera.window.run("return window.flitwarp.chartPoints()"))
        camera.take("dragonfly")


def results(camera):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for routing in ("dimension_order", "o1turn"):
            for load in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
                files.append(f"{folder}/{routing} {load}.json")
                subprocess.run([PROGRAM, "run", ROOT / "examples" / "mesh_transpose_o1turn.json", f"network.routing={routing}",
                                f"workload.applications.0.load={load}", "workload.applications.0.sample=4000",
                                "workload.per_channel=true", "--results", files[-1], "--quiet"], check=True)
        with viewed(camera.window, *files):
            camera.take("results")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with Browser(1280, 720) as window:
        camera = Camera(window, folder)
        camera.resize(1280, 720)
        camera.theme("light")
        network(camera)
        beside(camera)
        flits(camera)
        results(camera)
        camera.theme("dark")
        deadlock(camera)
        camera.resize(1920, 1080)
        groups(camera)


if __name__ == "__main__":
    main()

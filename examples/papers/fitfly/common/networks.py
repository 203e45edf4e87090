# SPDX-License-Identifier: Apache-2.0
"""The networks of the Fit Fly study: what its tables print, and their settings from the files beside."""
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from flitwarp import find_binary

FOLDER = Path(__file__).resolve().parents[1]
TICK_NS = 0.3406
MICROSECOND = 2936  # ticks
EDR_CYCLE = 14  # ticks of a flit of 64 bytes at 12.5 GiB/s


@dataclass(frozen=True)
class Network:
    """Columns of Tables 2 and 4."""

    file: str
    prices: str
    radix: int  # that the paper prints: ports of a router
    planes: int
    groups: int
    terminals: int
    routers: int
    global_ends: int  # of a group: its global connections
    terminals_a_group: int
    links: int
    cost: tuple  # of links, of routers, of both


NETWORKS = {
    "Slim Fly": Network("slim_fly.json", "prices_edr.json", 28, 1, 26, 3042, 338, 169, 117, 6253,
                        (837_902, 8_663_954, 9_501_856)),
    "Fit Fly": Network("fit_fly.json", "prices_edr.json", 28, 2, 52, 3042, 676, 169, 117, 12506,
                       (1_675_804, 17_327_908, 19_003_712)),
    "Fit Fly FDR": Network("fit_fly_fdr.json", "prices_fdr.json", 28, 2, 52, 3042, 676, 169, 117, 12506,
                           (1_075_516, 13_386_828, 14_462_344)),  # prints 13,868,828, which its own sum contradicts
    "Dragonfly": Network("dragonfly.json", "prices_edr.json", 36, 1, 19, 3078, 342, 162, 162, 7524,
                         (1_008_216, 8_766_486, 9_774_702)),
    "Megafly": Network("megafly.json", "prices_edr.json", 36, 1, 10, 3240, 360, 324, 324, 8100,
                       (1_085_400, 9_227_880, 10_313_280)),  # prints 9,277,880
}
FILES = {**{name: network.file for name, network in NETWORKS.items()}, "Slim Fly HDR": "slim_fly_hdr.json"}
FOUR = ("Slim Fly", "Fit Fly", "Dragonfly", "Megafly")


def settings(name):
    """All settings of a network's file."""
    answer = subprocess.run([find_binary(), "settings", FOLDER / FILES[name]], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)["config"]


def overrides(network):
    """The block `network` of settings, as a sweep sets it."""
    return {f"network.{key}": value for key, value in network.items()}


def survey(name):
    """What `flitwarp topology` finds."""
    command = [find_binary(), "topology", FOLDER / FILES[name], "--prices", FOLDER / NETWORKS[name].prices, "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)["networks"][0]

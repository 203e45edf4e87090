# SPDX-License-Identifier: Apache-2.0
"""Any network as the program draws it (flitwarp topology --picture), with the channels in the colour of what they carry."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

import numpy
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize

from ..binary import find_binary
from ..results import Results
from .style import Figure, Layout, drawing

LINK = re.compile(r'<path data-from="(\d+)\.(\d+)" data-to="(\d+)\.(\d+)" d="M([\d.-]+) ([\d.-]+)(?:Q([\d.-]+) ([\d.-]+) |L)([\d.-]+) ([\d.-]+)"/>')
CLASS = re.compile(r'data-class="([^"]*)"')
ROUTER = re.compile(r'<circle data-router="\d+" cx="([\d.-]+)" cy="([\d.-]+)" r="([\d.]+)"')
NAMED = 10  # channels whose names stand beside the picture


@dataclass
class Channel:
    """A channel between two routers: half of a link, from its router to the middle."""

    router: int
    target: int
    kind: str  # its class: global, dimension 1 ...
    way: numpy.ndarray  # points, in pixels
    utilisation: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.router} \N{RIGHTWARDS ARROW} {self.target}"


class NoPicture(ValueError):
    """The program cannot draw the network of these results."""


def picture_of(results: Results, table: Mapping[str, numpy.ndarray]) -> tuple[list[Channel], numpy.ndarray, float]:
    """The channels of a network with what each carries, the places of its routers, and their radius."""
    with tempfile.TemporaryDirectory(prefix="flitwarp-") as folder:
        config, picture = Path(folder) / "config.json", Path(folder) / "network.svg"
        config.write_text(json.dumps(results["config"]))
        ended = subprocess.run([str(find_binary()), "topology", str(config), "--picture", str(picture)], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            raise NoPicture(f"{results.source}: its network cannot be drawn: {ended.stderr.strip() or ended.returncode}; "
                            "use form matrix or profile")
        text = picture.read_text()
    return _channels(text, results.source, table), *_routers(text)


def _routers(text: str) -> tuple[numpy.ndarray, float]:
    found = [tuple(map(float, numbers)) for numbers in ROUTER.findall(text)]
    return numpy.array([(x, y) for x, y, _ in found]), found[0][2]


def _channels(text: str, source: str, table: Mapping[str, numpy.ndarray]) -> list[Channel]:
    """A router's ports are numbered behind its terminals in results, and from 0 in a topology: in the same order."""
    found: dict[tuple[int, int], Channel] = {}
    kind = ""
    for line in text.splitlines():
        kind = match[1] if (match := CLASS.search(line)) else kind
        if match := LINK.match(line):
            router, port, target, other = map(int, match.groups()[:4])
            way = _way([None if number is None else float(number) for number in match.groups()[4:]])
            middle = len(way) // 2
            found[router, port] = Channel(router, target, kind, way[:middle + 1])
            found[target, other] = Channel(target, router, kind, way[middle:][::-1])
    drawn = [found[place] for place in sorted(found)]
    order = numpy.lexsort((table["port"], table["router"]))
    pairs = list(zip(table["router"][order].astype(int), table["target"][order].astype(int)))
    if pairs != [(channel.router, channel.target) for channel in drawn]:
        raise NoPicture(f"{source}: its channels are not those that the program draws; use form matrix or profile")
    for channel, busy in zip(drawn, table["utilisation"][order]):
        channel.utilisation = float(busy)
    return drawn


def _way(numbers: list) -> numpy.ndarray:
    """Points of a straight line, or of a curve with one point that pulls it."""
    x0, y0, x1, y1, x2, y2 = numbers
    t = numpy.linspace(0, 1, 3 if x1 is None else 17)[:, None]
    start, end = numpy.array([x0, y0]), numpy.array([x2, y2])
    if x1 is None:
        return (1 - t) * start + t * end
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * numpy.array([x1, y1]) + t ** 2 * end


def busiest(channels: list[Channel], count: int = NAMED) -> list[Channel]:
    """Those that carry most, from the first down."""
    return sorted(channels, key=lambda channel: -channel.utilisation)[:count]


def draw_network(channels: list[Channel], routers: numpy.ndarray, radius: float, colours: str, norm: Normalize,
                 chosen: Layout) -> Figure:
    """Each half of a link is the channel that leaves the router there; the busiest ones are named below."""
    low, high = routers.min(axis=0) - 2 * radius, routers.max(axis=0) + 2 * radius
    for channel in channels:
        low = numpy.minimum(low, channel.way.min(axis=0) - radius)
        high = numpy.maximum(high, channel.way.max(axis=0) + radius)
    tall = min(max((high[1] - low[1]) / (high[0] - low[0]), 0.15), 1.3)
    with drawing(chosen, 2.8 * tall + 1.0, 5.6 * tall + 1.0) as (figure, ax):
        rising = sorted(channels, key=lambda channel: channel.utilisation)  # the busiest on top
        crowd = len(channels) / 2
        ax.add_collection(LineCollection([c.way for c in rising], array=numpy.array([c.utilisation for c in rising]), cmap=colours,
                                         norm=norm, linewidths=1.8 if crowd <= 120 else 0.9 if crowd <= 600 else 0.5))
        _draw_routers(ax, routers, radius, figure.get_figwidth() / (high[0] - low[0]) * 72)
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(high[1], low[1])
        ax.set_aspect("equal")
        ax.axis("off")
        bar = figure.colorbar(ScalarMappable(norm, colours), ax=ax, label="channel utilisation", aspect=25, pad=0.02, shrink=0.9)
        bar.outline.set_linewidth(0.5)
        named = ["the busiest channels:", *(f"{c.name}  {c.kind}  {c.utilisation:.2f}" for c in busiest(channels))]
        half = (len(named) + 1) // 2
        for i, part in enumerate((named[:half], named[half:])):
            ax.text(0.02 + 0.5 * i, -0.03, "\n".join(part), transform=ax.transAxes, va="top", fontsize=7, linespacing=1.25)
        if chosen.title:
            figure.suptitle(chosen.title)
    return figure


def _draw_routers(ax: Axes, routers: numpy.ndarray, radius: float, points: float) -> None:
    """Discs with their numbers where those can be read; `points` is the length of a pixel of the picture."""
    size = max(2 * radius * points * 0.8, 1.5)
    ax.plot(routers[:, 0], routers[:, 1], linestyle="none", marker="o", markersize=size, markerfacecolor="white",
            markeredgecolor="0.3", markeredgewidth=0.4)
    if size >= 5.5:
        for number, (x, y) in enumerate(routers):
            ax.text(x, y, str(number), ha="center", va="center", fontsize=min(size * 0.55, 6.5))

# SPDX-License-Identifier: Apache-2.0
"""Units on axes: ticks become seconds with a prefix, columns become words.

A unit is chosen once for an axis; each run's ticks are then scaled by its own tick, so that networks
with clocks of their own can be compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

from .binary import results_schema
from .results import Results, UnknownColumn, seconds

NAMES = ("fs", "ps", "ns", "us", "ms", "s")
LOAD = "flits/terminal/cycle"


@dataclass(frozen=True)
class Unit:
    """A unit of time: a name of NAMES, or "ticks".

    >>> Unit("ns").text, Unit("us").text
    ('ns', 'µs')
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in (*NAMES, "ticks"):
            raise ValueError(f"'{self.name}' is no unit of time; there are ticks, {', '.join(NAMES)}")

    @property
    def text(self) -> str:
        """As an axis shows it."""
        return "µs" if self.name == "us" else self.name

    def scale(self, run: Results | None) -> float:
        """What a number of ticks of this run is multiplied by."""
        if self.name == "ticks":
            return 1.0
        tick = tick_of(run)
        if tick is None:
            where = run.source if run is not None else "a packet log alone"
            raise ValueError(f"{where} does not say how long a tick is: give the results of the run too, or --unit ticks")
        return seconds(tick) / seconds(f"1{self.name}")


def tick_of(run: Results | None) -> str | None:
    """The length of a tick as it was written, such as "1ns"; None where the document has none."""
    try:
        return str(run.value("config.simulator.tick")) if run is not None else None
    except UnknownColumn:
        return None


def choose(runs: Iterable[Results], asked: str | None = None, ticks: float = 0) -> Unit:
    """The unit that was asked for, or that of the tick in the configuration.

    `ticks` is the length to be shown, in ticks of the first run: 10,000 of a unit and more become the next larger.

    >>> run = Results({"flitwarp": {}, "applications": [], "config": {"simulator": {"tick": "1ns"}}})
    >>> choose([run]).name, choose([run], ticks=22000).name, choose([], None).name
    ('ns', 'us', 'ticks')
    """
    if asked:
        return Unit(asked)
    first = next(iter(runs), None)
    tick = tick_of(first)
    if tick is None:
        return Unit("ticks")
    name = re.sub(r"^[\d.eE+-]*", "", tick).strip()
    while ticks * seconds(tick) / seconds(f"1{name}") >= 10_000 and name != "s":
        name = NAMES[NAMES.index(name) + 1]
    return Unit(name)


def _described(column: str) -> dict:
    """What the program says of a column of the results, with the unit of the block that it is in; {} where nothing.

    >>> _described("packet_latency.p99")["unit"], _described("config.network.topology")
    ('ticks', {})
    """
    schema = results_schema()
    known, path = schema["properties"], column.split(".")
    place = known["applications"]["items"] if path[0] in known["applications"]["items"]["properties"] else schema
    unit = {}
    while path:
        place = schema["$defs"][place["$ref"].rpartition("/")[2]] if "$ref" in place else place.get("items", place)
        inner = place.get("properties", {})
        length = next((n for n in range(len(path), 0, -1) if ".".join(path[:n]) in inner), None)  # "p99.9" is one key
        if length is None:
            return {}
        place, path = inner[".".join(path[:length])], path[length:]
        unit = {"unit": place["unit"]} if "unit" in place else unit
    return {**place, **unit}


def is_time(column: str) -> bool:
    """Whether a column of the results counts ticks.

    >>> is_time("packet_latency.p99"), is_time("hops.mean"), is_time("sampled_ticks"), is_time("completion_time")
    (True, False, True, True)
    """
    return column in TIMES or _described(column).get("unit") == "ticks"


TIMES = {"step_time": "time of a step"}  # worked out of others, in ticks
WORDS = {"load": f"offered load ({LOAD})", "percent_minimal": "packets on shortest ways (%)"}  # not of the results
STATISTICS = {"mean": "mean", "max": "maximum", "min": "minimum", "p50": "median", "ci95": "95 % interval of"}


def words(column: str, unit: Unit) -> str:
    """A column as the label of an axis.

    >>> words("packet_latency.mean", Unit("ns")), words("simulation.cpu_seconds", Unit("ns"))
    ('mean packet latency (ns)', 'CPU time (s)')
    >>> words("channels.utilisation.max", Unit("ns"))
    'maximum channel utilisation'
    """
    if column in WORDS:
        return WORDS[column]
    if column in TIMES:
        return f"{TIMES[column]} ({unit.text})"
    path = re.sub(r"^channels\.", "channel ", re.sub(r"^simulation\.", "", column))
    if column.startswith("config."):
        return path.rpartition(".")[2]
    row = _described(column)
    head, _, last = path.partition(".")
    statistic = STATISTICS.get(last) or (f"{last} of" if re.fullmatch(r"p[\d.]+", last) else "")
    text = f"{statistic} {head}" if statistic else path
    text = text.replace("_", " ").replace(".", " ") if not re.search(r"p\d+\.\d", text) else text.replace("_", " ")
    shown = unit.text if row.get("unit") == "ticks" else row.get("unit")
    text = row.get("title", text)
    return f"{text} ({shown})" if shown and shown not in text.split() else text


SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(text: str) -> int:
    """A size of memory.

    >>> bytes_of("2GiB"), bytes_of("500M")
    (2147483648, 524288000)
    """
    number = text.rstrip("KMGTiBkmgtb")
    unit = text[len(number):].upper().removesuffix("B").removesuffix("I")
    try:
        return int(float(number) * SIZES[unit])
    except (KeyError, ValueError):
        raise ValueError(f"'{text}' is no size; accepted: such as 500M or 2GiB") from None

# SPDX-License-Identifier: Apache-2.0
"""Results documents: what a run wrote, and the questions one asks of it.

>>> r = Results({"flitwarp": {"version": "0.1.0"}, "config": {}, "complete": True,
...              "applications": [{"name": "blast", "packet_latency": {"mean": 23.5}}]})
>>> r.value("packet_latency.mean")
23.5
>>> r
<Results results: blast latency 23.5>
"""

from __future__ import annotations

import json
import math
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Mapping, Union

if TYPE_CHECKING:
    import numpy

PARTS = ("config", "simulation", "channels", "levels", "model", "flitwarp")  # of the document that are not an application's
Which = Union[int, str]  # an application: its number or its name


class UnknownColumn(ValueError):
    """A number was asked for that the results do not have."""


class NotResults(ValueError):
    """A file or a document that holds no results."""


def flatten(value: object, prefix: str = "") -> dict[str, object]:
    """A nested document as one row; lists are left out.

    >>> flatten({"packet_latency": {"mean": 23.4}, "packets": 7})
    {'packet_latency.mean': 23.4, 'packets': 7}
    """
    if isinstance(value, Mapping):
        row: dict[str, object] = {}
        for key, child in value.items():
            row.update(flatten(child, f"{prefix}.{key}" if prefix else key))
        return row
    return {} if isinstance(value, list) else {prefix: value}


def _at(tree: object, path: str) -> object:
    """The value at a dotted path; keys such as p99.9 have dots of their own. KeyError when there is none."""
    if not path:
        return tree
    if isinstance(tree, list) and path.split(".")[0].isdigit():
        head, _, rest = path.partition(".")
        if int(head) < len(tree):
            return _at(tree[int(head)], rest)
    if isinstance(tree, Mapping):
        steps = path.split(".")
        for count in range(1, len(steps) + 1):
            key = ".".join(steps[:count])
            if key in tree:
                try:
                    return _at(tree[key], ".".join(steps[count:]))
                except KeyError:
                    continue
    raise KeyError(path)


def seconds(text: str) -> float:
    """A time with a unit, in seconds.

    >>> seconds("625ps")
    6.25e-10
    """
    for unit, scale in (("fs", 1e-15), ("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if text.endswith(unit):
            return float(text[: -len(unit)].strip()) * scale
    raise ValueError(f"'{text}' is no time with a unit, such as \"1ns\"")


def several(count: int, what: str) -> str:
    """So many of something.

    >>> several(1, "run"), several(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def _in_words(application: Mapping) -> str:
    """What an application came to: a job's time, or load and latency in ticks."""
    name = application.get("name", "application")
    if application.get("completion_time") is not None:
        slowdown = f", slowdown {application['slowdown']:.4g}" if application.get("slowdown") else ""
        return f"{name} done in {application['completion_time']:g} ticks{slowdown}"
    latency = application.get("packet_latency", {})
    numbers = [("accepted", application.get("accepted_load")), ("latency", latency.get("mean")), ("p99", latency.get("p99"))]
    if application.get("saturated"):
        numbers[1:] = []
    said = ", ".join(f"{word} {value:.4g}" for word, value in numbers if value is not None)
    return " ".join(filter(None, [str(name), said + (", saturated" if application.get("saturated") else "")]))


class Results(dict):
    """A results document. It is a dict; `source` says where it came from, `variables` what its study calls it by."""

    def __init__(self, document: Mapping, source: str = "results", variables: Mapping[str, object] | None = None):
        super().__init__(document)
        self.source, self.variables = source, variables
        is_document = isinstance(self.get("applications", self.get("model")), (list, dict))  # of a network, of a model
        if not is_document or not isinstance(self.get("flitwarp"), dict):
            kind = "a configuration: run it with flitwarp run" if {"network", "workload", "model"} & self.keys() else \
                "no results document of flitwarp"
            raise NotResults(f"{source} is {kind}")

    @classmethod
    def read(cls, path: str | Path) -> Results:
        """Reads what `flitwarp run --results FILE` wrote."""
        path = Path(path)
        try:
            text = path.read_text()
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file '{path}'; flitwarp run CONFIG --results {path} makes it") from None
        except UnicodeDecodeError:
            raise NotResults(f"'{path}' is no results document: it is not text") from None
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise NotResults(f"'{path}' is no results document: {error}") from None
        if not isinstance(document, dict):
            raise NotResults(f"'{path}' is no results document of flitwarp")
        return cls(document, str(path))

    def __repr__(self) -> str:
        """In a line: a document has thousands of numbers."""
        if not self.get("applications"):
            return f"<Results {self.source}: {self.get('outcome', 'no applications')}>"
        outcome = "" if self.get("complete", True) else f" ({self.get('outcome', 'incomplete')})"
        return f"<Results {self.source}: {'; '.join(_in_words(a) for a in self['applications'])}{outcome}>"

    @property
    def version(self) -> str:
        """Of the program that wrote it."""
        return str(self["flitwarp"].get("version", "unknown"))

    @property
    def tick_seconds(self) -> float:
        """The length of a tick."""
        return seconds(str(_at(self["config"], "simulator.tick")))

    def application(self, which: Which = 0) -> dict:
        """One application's block, by number or by name."""
        every = self["applications"]
        if isinstance(which, int) and which < len(every):
            return every[which]
        for application in every:
            if application["name"] == which:
                return application
        names = ", ".join(f"{i} ({a['name']})" for i, a in enumerate(every))
        raise UnknownColumn(f"{self.source} has no application {which!r}; it has {names}")

    @property
    def saturated(self) -> bool:
        """Whether any application offered more than the network carried."""
        return any(a.get("saturated") for a in self["applications"])

    def columns(self, which: Which = 0) -> list[str]:
        """Every number that value() knows."""
        return list(self.row(which))

    def value(self, column: str, which: Which = 0) -> object:
        """One number by its dotted name: `packet_latency.p99`, `simulation.flit_hops`, `config.network.router.num_vcs`.

        NaN where the document has null. `step_time` is the time of a job by its steps.
        """
        if column == "step_time":
            return self._step_time(which)
        head = column.split(".")[0]
        try:
            found = _at(self, column) if head in PARTS and head in self else _at(self.application(which), column)
        except KeyError:
            raise UnknownColumn(unknown("column", column, self.columns(which), self.source)) from None
        return math.nan if found is None else found

    def steps(self, which: Which = 0) -> int | None:
        """How many times a job does the same: steps of training, iterations of a motif; None where it does not say."""
        application = self.application(which)
        try:
            settings = _at(self, f"config.workload.applications.{self['applications'].index(application)}")
        except KeyError:
            return None
        motif = settings.get("motif") or {}  # type: ignore[attr-defined]
        found = application.get("iterations", motif.get("iterations") if isinstance(motif, dict) else None)
        return found if isinstance(found, int) and found > 0 else None

    def _step_time(self, which: Which) -> float:
        time, steps = self.value("completion_time", which), self.steps(which)
        if steps is None:
            raise UnknownColumn(f"{self.source}: '{self.application(which)['name']}' does not say of how many steps it consists")
        return time / steps  # type: ignore[operator]

    def row(self, which: Which = 0) -> dict[str, object]:
        """All numbers of the run, flat: one line of a table."""
        row = flatten(self.application(which))
        for part in ("simulation", "channels", "model", "config"):
            row.update(flatten(self.get(part, {}), part))
        for level, block in enumerate(self.get("levels", [])):
            row.update(flatten(block, f"levels.{level}"))
        return row

    def latency_distribution(self, which: Which = 0) -> numpy.ndarray:
        """Rows (low, high, count) of packet latency in ticks."""
        return self._rows("latency_distribution", which, 3)

    def hop_distribution(self, which: Which = 0) -> numpy.ndarray:
        """Rows (hops, count)."""
        return self._rows("hop_distribution", which, 2)

    def _rows(self, key: str, which: Which, width: int) -> numpy.ndarray:
        import numpy
        block = self.application(which)
        if key not in block:
            raise UnknownColumn(f"{self.source} has no {key}: it comes from flitwarp {self.version}; run it again")
        return numpy.array(block[key], dtype=float).reshape(-1, width)

    def series(self, which: Which = 0) -> dict[str, numpy.ndarray]:
        """The time series as arrays, `time` (middle of each interval, in ticks) among them."""
        import numpy
        block = self.application(which)
        if "series" not in block:
            raise UnknownColumn(f"{self.source} has no time series: set workload.series_interval, and run again")
        series = dict(block["series"])
        width = series.pop("interval")
        start = series.pop("start", 0)
        arrays = {name: numpy.array([math.nan if v is None else v for v in values], dtype=float)
                  for name, values in series.items()}
        count = max((len(a) for a in arrays.values()), default=0)
        return {"time": start + (numpy.arange(count) + 0.5) * width, **arrays}


def unknown(what: str, name: str, known: Iterable[str], where: str) -> str:
    """The message for a name that is not there, with those that look like it."""
    known = list(known)
    near = [k for k in known if k.endswith(f".{name}")][:3] or get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    few = f"; it has {', '.join(known)}" if len(known) <= 12 else "" if near else f"; it has {', '.join(known[:12])}, ..."
    return f"{where} has no {what} '{name}'{hint}{few}"


def one_version(documents: Iterable[Results]) -> None:
    """Raises when results of different versions of the program would be compared."""
    versions: dict[str, str] = {}
    for document in documents:
        versions.setdefault(document.version, document.source)
    if len(versions) > 1:
        listed = ", ".join(f"{version} ({source})" for version, source in versions.items())
        raise NotResults(f"results of different versions of flitwarp: {listed}; run the older ones again, "
                         "or allow it (--mixed-versions, mixed_versions=True)")


def frame(rows: Iterable[Mapping[str, object]]) -> object:
    """Rows as a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas is not installed (Debian: python3-pandas); rows() and numpy do without") from None
    return pandas.DataFrame(list(rows))

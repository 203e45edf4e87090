# SPDX-License-Identifier: Apache-2.0
"""Sweeps from a file: JSON with the words of sweep.py.

    {
      "name": "vcs",
      "base": "torus_uniform.json",
      "variables": [{"name": "VCs", "short": "VC", "values": [2, 4, 8], "path": "network.router.num_vcs"}],
      "load": {"from": 0.1, "to": 1.0, "step": 0.1},
      "seeds": 3,
      "figures": [{"kind": "load-latency", "lines": "VCs"}]
    }
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Callable, Mapping, Sequence

from .results import unknown
from .settings import path_of
from .study import same
from .sweep import Sweep
from .units import bytes_of

KEYS = {"name", "title", "base", "overrides", "plugins", "logs", "baseline", "pairs", "variables", "load", "seeds", "exclude", "figures",
        "runner"}
RUNNER = {"backend": ("backend", (str, dict)), "cores": ("cores_limit", int), "memory": ("memory_limit", (int, str)),
          "retries": ("retries", int), "on_failure": ("on_failure", str), "cores_per_run": ("cores_per_run", int),
          "memory_per_run": ("memory_per_run", (int, str))}
DEVICE = "device"  # beside those: not how runs are begun alone, but a setting of theirs
SEEDS = {"at_least": int, "at_most": int, "precision": (int, float), "column": str, "first": int}


class _Block:
    """An object of the file that remembers which of its keys were read."""

    def __init__(self, place: str, value: object, known: set[str]):
        if not isinstance(value, dict):
            raise ValueError(f"{place}: found {_kind(value)}, expected an object")
        for key in value:
            if key not in known:
                raise ValueError(unknown("key", key, sorted(known), place))
        self.place, self.value = place, value

    def get(self, key: str, kinds: type | tuple[type, ...], default: object = None) -> object:
        if key not in self.value:
            return default
        found = self.value[key]
        accepted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(found, accepted) or (isinstance(found, bool) and bool not in accepted):
            names = " or ".join(_KINDS[kind] for kind in accepted)
            raise ValueError(f"{self.place}.{key}: found {_kind(found)}, expected {names}")
        return found

    def need(self, key: str, kinds: type | tuple[type, ...]) -> object:
        if key not in self.value:
            raise ValueError(f"{self.place}: '{key}' is missing")
        return self.get(key, kinds)


_KINDS = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "an object", bool: "true or false"}
NUMBER = (int, float)


def _kind(value: object) -> str:
    return "null" if value is None else _KINDS[type(value)]


def _without_comments(text: str) -> str:
    """As in configurations, // and /* */ are comments; line breaks stay, so that places in messages are right."""
    def blank(match: re.Match) -> str:
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


def sweep_of(config: str | Path, settings: Sequence[str] = (), load: str | None = None, vary: Sequence[str] = (),
             seeds: int | None = None) -> Sweep:
    """The sweep of a configuration that a command line says.

    `load` is from:to:step or values with commas, `vary` has PATH=VALUE,VALUE,... each, `settings` PATH=VALUE for all.
    """
    path = Path(config)
    if not path.exists():
        raise FileNotFoundError(f"there is no configuration '{path}'")
    try:
        is_study = "base" in json.loads(_without_comments(path.read_text()))
    except (ValueError, TypeError, OSError):
        is_study = False  # the program says what is wrong
    if is_study:
        raise ValueError(f"{path} is a study and says itself what varies: --load, --vary, --seeds and settings go with a configuration")
    sweep = Sweep(path, re.sub(r"[^\w.+-]+", "-", path.stem).lstrip("-._+") or "sweep", overrides=dict(_pair(s) for s in settings))
    for asked in vary:
        where, values = _pair(asked)
        name = where.rpartition(".")[2] if not where.endswith(".type") else where.split(".")[-2]
        sweep.add_variable(name, re.sub(r"\W", "", name), [_value(v) for v in _split(values)], where)
    if load is not None:
        _add_spoken_load(sweep, load)
    if seeds is not None:
        sweep.add_seeds(seeds)
    return sweep


def _pair(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise ValueError(f"'{text}': expected PATH=VALUE, such as network.router.num_vcs=4")
    return path, value


def _split(text: str) -> list[str]:
    """Values between commas; those in brackets, braces and quotes keep theirs.

    >>> _split('[4, 4],[8, 8]'), _split("2,4")
    (['[4, 4]', '[8, 8]'], ['2', '4'])
    """
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "[{") - (letter in "]}")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _value(text: str) -> object:
    """As the program takes it: JSON where it is some, else text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _add_spoken_load(sweep: Sweep, text: str) -> None:
    is_range = text.count(":") == 2
    try:
        numbers = [float(part) for part in text.split(":" if is_range else ",")]
    except ValueError:
        raise ValueError(f"--load '{text}': expected FROM:TO:STEP, such as 0.1:0.9:0.1, or loads with commas") from None
    sweep.add_loads(*numbers) if is_range else sweep.add_loads(values=numbers)


def read_sweep(path: str | Path) -> Sweep:
    """The sweep that a file declares; paths in it are relative to the file."""
    path = Path(path)
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no study '{path}'") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no study: it is not text") from None
    try:
        document = json.loads(_without_comments(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}:{error.colno}: {error.msg}") from None
    return make_sweep(document, path.parent, str(path))


def make_sweep(document: object, folder: Path, place: str = "study") -> Sweep:
    """The sweep of a document that was read already."""
    if isinstance(document, dict) and "network" in document:
        raise ValueError(f"{place} is a configuration: say what to vary (--load 0.1:0.9:0.1, --vary PATH=VALUE,..., --seeds 3), "
                         "or write a study that names it as its \"base\"")
    root = _Block(place, document, KEYS)
    base = root.need("base", (str, dict))
    sweep = Sweep(folder / base if isinstance(base, str) else base, str(root.need("name", str)),
                  title=root.get("title", str), overrides=root.get("overrides", dict), logs=bool(root.get("logs", bool)),
                  baseline=bool(root.get("baseline", bool)),
                  plugins=[folder / str(p) for p in root.get("plugins", list, [])])
    for number, variable in enumerate(root.get("variables", list, [])):
        _add_variable(sweep, _Block(f"{place}.variables.{number}", variable, {"name", "short", "values", "path"}))
    if root.get("pairs", bool):
        sweep.add_pairs()
    if "load" in root.value:
        _add_load(sweep, root)
    if "seeds" in root.value:
        _add_seeds(sweep, root)
    for rule in root.get("exclude", list, []):
        sweep.exclude(_matches(sweep, rule, f"{place}.exclude"))
    for number, figure in enumerate(root.get("figures", list, [])):
        block = _Block(f"{place}.figures.{number}", figure, {"kind", "lines", "where", "options"})
        sweep.add_figure(str(block.need("kind", str)), block.get("lines", (str, list)), block.get("where", dict),
                         **block.get("options", dict, {}))
    runner = _Block(f"{place}.runner", root.get("runner", dict, {}), {*RUNNER, DEVICE})
    for key, (name, kinds) in RUNNER.items():
        value = runner.get(key, kinds)
        least = 0 if key == "retries" else 1
        if isinstance(value, int) and value < least:
            raise ValueError(f"{runner.place}.{key}: {value} is below {least}")
        if value is not None:
            sweep.runner[name] = bytes_of(value) if key.startswith("memory") and isinstance(value, str) else value
    if device := runner.get(DEVICE, str):
        sweep.on_device(str(device))
    return sweep


def _add_variable(sweep: Sweep, block: _Block) -> None:
    name = str(block.need("name", str))
    values = block.need("values", (list, dict))
    path = block.get("path", str)
    if path is None:
        # Without a path, each value is itself a set of overrides: {"small": {"network...": 4, ...}}.
        if not isinstance(values, dict) or not all(isinstance(v, dict) for v in values.values()):
            raise ValueError(f"{block.place}: give a \"path\", or values as {{\"label\": {{\"path\": value, ...}}}}")
        path = lambda overrides: overrides  # noqa: E731
    sweep.add_variable(name, str(block.get("short", str, re.sub(r"\W", "", name))), values, path)  # type: ignore[arg-type]


def _add_load(sweep: Sweep, root: _Block) -> None:
    block = _Block(f"{root.place}.load", root.get("load", dict),
                   {"from", "to", "step", "values", "past", "refine", "search", "path", "name", "short"})
    more = {key: block.get(key, str) for key in ("name", "short") if key in block.value}
    if "path" in block.value:
        more["override"] = path = str(block.get("path", str))
        more.setdefault("name", "load" if path_of(path).endswith(".load") else path.rpartition(".")[2])
    if "search" in block.value:
        sweep.find_saturation(block.get("search", NUMBER), block.get("from", NUMBER, 0.0),  # type: ignore[arg-type]
                              block.get("to", NUMBER, 1.0), **more)  # type: ignore[arg-type]
        return
    values = block.get("values", list)
    for number, value in enumerate(values or ()):
        if isinstance(value, bool) or not isinstance(value, NUMBER):
            raise ValueError(f"{block.place}.values.{number}: found {_kind(value)}, expected a number")
    for key in ("past", "refine"):
        if block.get(key, int, 0) < 0:  # type: ignore[operator]
            raise ValueError(f"{block.place}.{key}: {block.value[key]} is below 0")
    if values is None and not {"from", "to", "step"} <= set(block.value):
        raise ValueError(f"{block.place}: give \"from\", \"to\" and \"step\", or \"values\", or \"search\"")
    sweep.add_loads(block.get("from", NUMBER), block.get("to", NUMBER), block.get("step", NUMBER),  # type: ignore[arg-type]
                    values=values, past=block.get("past", int, 1), refine=block.get("refine", int, 0),  # type: ignore[arg-type]
                    **more)  # type: ignore[arg-type]


def _add_seeds(sweep: Sweep, root: _Block) -> None:
    seeds = root.get("seeds", (int, dict))
    if isinstance(seeds, int):
        sweep.add_seeds(seeds)
        return
    block = _Block(f"{root.place}.seeds", seeds, set(SEEDS))
    sweep.add_seeds(**{key: block.get(key, kinds) for key, kinds in SEEDS.items() if key in block.value})


def _matches(sweep: Sweep, rule: object, place: str) -> Callable[[dict], bool]:
    """A rule is {"VCs": 2, "size": [16, 32]}: true where all of it holds."""
    block = _Block(place, rule, {v.name for v in sweep.variables})
    accepted: Mapping[str, list] = {name: value if isinstance(value, list) else [value]
                                    for name, value in block.value.items()}
    for variable in sweep.variables:
        for value in accepted.get(variable.name, []):
            if not any(same(value, label) for label in variable.values):
                raise ValueError(unknown(f"value of {variable.name}", str(value), map(str, variable.values), place))
    return lambda labels: all(any(same(labels[name], v) for v in values) for name, values in accepted.items())

# SPDX-License-Identifier: Apache-2.0
"""What tells runs apart.

Runs whose effective settings differ in the seed alone are repetitions of one measurement. All others are kept apart,
whatever their labels look like: groups are made by all settings, and labels only describe them.
"""

from __future__ import annotations

import json
import math
from typing import Callable, Iterable, Sequence

from .results import Results, unknown

SEED = "simulator.seed"
DATA = "data."  # in front of a file's name: what it holds


def leaves_of(tree: object, path: str = "") -> dict[str, object]:
    """Every setting by its path."""
    if isinstance(tree, dict) and (tree or not path):
        return {k: v for key, child in tree.items()
                for k, v in leaves_of(child, f"{path}.{key}" if path else key).items()}
    if isinstance(tree, list) and any(isinstance(child, dict) for child in tree):
        return {k: v for i, child in enumerate(tree) for k, v in leaves_of(child, f"{path}.{i}").items()}
    return {path: tree}


def exact(value: object) -> str:
    """A value as a text that no other value has; 1 and 1.0 are one.

    >>> exact(1.0), exact(True), exact({"b": 1, "a": [2.5]})
    ('1', 'true', '{"a": [2.5], "b": 1}')
    """
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: object) -> object:
    """A value with 1 in the place of 1.0."""
    if isinstance(value, dict):
        return {key: _whole(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_whole(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def at(leaves: dict[str, object], paths: Iterable[str]) -> tuple[str, ...]:
    """The values at paths, each as its exact text; "" where there is none."""
    return tuple(exact(leaves[path]) if path in leaves else "" for path in paths)


def _without(tree: object, paths: Sequence[str], here: str = "") -> object:
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    kept = [(key, _without(child, paths, f"{here}{key}.")) for key, child in children if f"{here}{key}" not in paths]
    return dict(kept) if isinstance(tree, dict) else [child for _, child in kept] if isinstance(tree, list) else tree


def identity(config: dict, besides: Sequence[str] = (SEED,)) -> str:
    """All settings but some, as one text: equal for repetitions alone."""
    return exact(_without(config, besides))


def differences(configs: Sequence[dict], besides: Sequence[str] = ()) -> list[str]:
    """The paths of settings whose values tell all configurations apart that differ.

    Where components of different types stand, the type tells them apart; keys that one of them lacks count only among
    those of one type.

    >>> differences([{"traffic": {"type": "tornado"}}, {"traffic": {"type": "uniform", "self": False}}])
    ['traffic.type']
    >>> differences([{"type": "torus", "widths": [8]}, {"type": "torus", "widths": [16]}, {"type": "cube"}])
    ['type', 'widths']
    """
    every = [{path: v for path, v in leaves_of(config).items() if path not in besides} for config in configs]
    unlike = list({exact(leaves): leaves for leaves in every}.values())
    found = set(_telling(unlike))
    settings = {path for path in found if not path.startswith(DATA)}  # a file's name says enough, unless others have it too
    if len({at(leaves, sorted(settings)) for leaves in unlike}) == len(unlike):
        found = settings
    return [path for path in dict.fromkeys(path for leaves in every for path in leaves) if path in found]


def _telling(every: Sequence[dict]) -> list[str]:
    paths = dict.fromkeys(path for leaves in every for path in leaves)
    differing = [path for path in paths if len({at(leaves, [path]) for leaves in every}) > 1]
    owners = [p[: -len("type")] for p in differing if p.rpartition(".")[2] == "type"]
    found = [p for p in differing if all(p in leaves for leaves in every)
             or not any(p.startswith(owner) and p != f"{owner}type" for owner in owners)]
    alike: dict[tuple[str, ...], list[dict]] = {}
    for leaves in every:
        alike.setdefault(at(leaves, found), []).append(leaves)
    return found + [path for group in alike.values() if 1 < len(group) < len(every) for path in _telling(group)]


def names_of(paths: Sequence[str]) -> dict[str, str]:
    """Short names of settings: the last key, or the component's where that is `type`; longer ones where two are alike.

    >>> names_of(["network.channel.latency", "network.terminal_channel.latency", "workload.applications.0.traffic.type"])
    {'network.channel.latency': 'channel.latency', 'network.terminal_channel.latency': 'terminal_channel.latency', \
'workload.applications.0.traffic.type': 'traffic'}
    """
    steps = {path: path.split(".", 1 if path.startswith(DATA) else -1) for path in paths}  # files have dots in their names
    for path, parts in steps.items():
        if parts[-1] == "type" and len(parts) > 1:
            parts.pop()
        if parts[-1].isdigit() and len(parts) > 1:  # an application's own type
            parts[-2:] = [f"{parts[-2].rstrip('s')} {parts[-1]}"]
    names = {path: parts[-1] for path, parts in steps.items()}
    alike = [path for path, name in names.items() if list(names.values()).count(name) > 1]
    return {path: ".".join(steps[path][-2:]) if path in alike else name for path, name in names.items()}


def shown(value: object) -> str:
    """A setting's value as a label shows it.

    >>> shown([8, 8]), shown(0.30000000000000004), shown("uniform_random"), shown(True)
    ('8x8', '0.3', 'uniform random', 'on')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "x".join(map(shown, value)) if value and len(value) <= 6 else f"({len(value)} values)"
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value).replace("_", " ")


def distinct(texts: Sequence[str], exactly: Sequence[str]) -> list[str]:
    """Texts of different things: where two are alike, what they are exactly, or else a number, is added.

    >>> distinct(["load 0.3", "load 0.3", "x"], ["0.3000001", "0.3000002", "x"])
    ['load 0.3 (0.3000001)', 'load 0.3 (0.3000002)', 'x']
    >>> distinct(["a", "a", "a (1)"], ["", "", ""])
    ['a (1) #1', 'a (2) #2', 'a (1) #3']
    """
    made = list(texts)
    for text in {text for text in texts if texts.count(text) > 1}:
        places = [i for i, other in enumerate(texts) if other == text]
        more = [exactly[i] for i in places]
        is_short = len(set(more)) == len(more) and max(map(len, more)) <= 40 and all(more)
        for number, i in enumerate(places, start=1):
            made[i] = f"{text} ({exactly[i] if is_short else number})".strip()
    return made if len(set(made)) == len(made) else [f"{text} #{number}" for number, text in enumerate(made, start=1)]


def rank(value: object, firsts: Sequence[str]) -> tuple[float, int]:
    """Where a value stands among others: numbers by size, all else as it came."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value), 0
    return -math.inf, firsts.index(str(value))


class Labels:
    """Values at some paths, in order, each combination with a label of its own."""

    def __init__(self, every: Sequence[dict], paths: Sequence[str], name: Callable[[str, object], str]):
        self.paths = list(paths)
        found = {at(leaves, paths): leaves for leaves in reversed(every)}  # the first of each
        firsts = {path: list(dict.fromkeys(str(leaves.get(path)) for leaves in every)) for path in paths}
        self.keys = sorted((key for key in dict.fromkeys(at(leaves, paths) for leaves in every)),
                           key=lambda key: [rank(found[key].get(path), firsts[path]) for path in paths])
        self.texts = distinct([", ".join(name(path, found[key][path]) for path in paths if path in found[key])
                               for key in self.keys], [", ".join(filter(None, key)) for key in self.keys])

    def place(self, leaves: dict) -> int:
        """Which of the combinations one has."""
        return self.keys.index(at(leaves, self.paths))


def config_of(document: Results) -> dict:
    """What a run's results depend on: its settings, what the files hold that they name, and the program's version."""
    return {**document.get("config", {}), "data": document.get("data", {}), "flitwarp": document.version}


def settings_of(documents: Sequence[Results], names: bool = False) -> list[dict[str, object]]:
    """All settings of each document by path; with `names`, a study's own variables where they say everything."""
    if names and all(document.variables is not None for document in documents):
        meant = {(exact(dict(d.variables or {})), identity(config_of(d))) for d in documents}
        if len({said for said, _ in meant}) == len(meant):
            return [dict(document.variables or {}) for document in documents]
    return [leaves_of(config_of(document)) for document in documents]


def called(name: str, value: object) -> str:
    """A value of a study's variable as a legend says it: numbers need the variable's name, words do not.

    >>> called("VCs", 2), called("load", 0.3), called("network", "fat tree"), called("adaptive", True)
    ('2 VCs', 'load 0.3', 'fat tree', 'adaptive: yes')
    """
    if isinstance(value, bool):
        return f"{name}: {'yes' if value else 'no'}"
    if isinstance(value, str):
        return value
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{number} {name}" if name.endswith("s") else f"{name} {number}"  # 2 VCs, but load 0.3


def wording(documents: Sequence[Results], settings: Sequence[dict], names: dict[str, str]) -> Callable[[str, object], str]:
    """How labels say settings: as "num_vcs 2", and a study's variables as the study does."""
    if documents and documents[0].variables is not None and settings[0] == dict(documents[0].variables):
        return called
    return lambda path, value: f"{names[path]} {shown(value)}"


def groups(documents: Sequence[Results], besides: Callable[[Results], Sequence[str]] = lambda _: (SEED,), *,
           names: bool = False) -> list[tuple[str, list[Results]]]:
    """Documents whose settings are alike but for `besides`, with a label such as "num_vcs 2, traffic tornado".

    In rising order of numbers among the settings that differ, otherwise as they came. With `names`, labels say a
    study's own variables where there are some.
    """
    found: dict[tuple[str, str], tuple[dict, list[Results]]] = {}
    settings = settings_of(documents, names)
    for document, said in zip(documents, settings):
        left_out = besides(document)
        leaves = {path: value for path, value in said.items() if path not in left_out}
        key = exact(leaves), identity(config_of(document), left_out)
        found.setdefault(key, (leaves, []))[1].append(document)
    every = [leaves for leaves, _ in found.values()]
    paths = differences(every)
    labels = Labels(every, paths, wording(documents, settings, names_of(paths)))
    ordered = sorted(((labels.place(leaves), same) for leaves, same in found.values()), key=lambda pair: pair[0])
    return [(labels.texts[place], once(same)) for place, same in ordered]


def repetitions(documents: Sequence[Results]) -> list[list[Results]]:
    """Documents that differ in the seed alone, together."""
    found: dict[str, list[Results]] = {}
    for document in documents:
        found.setdefault(identity(config_of(document)), []).append(document)
    return [once(same) for same in found.values()]


def split(documents: Sequence[Results], name: str | None) -> dict[str, list[Results]]:
    """Documents by the value of a setting, which a short name or a path names; all of them under "" without one."""
    if name is None:
        return {"": list(documents)}
    every = settings_of(documents)
    names = names_of(differences(every))
    paths = [path for path, short in names.items() if name in (path, short)]
    if not paths:
        raise ValueError(unknown("setting that differs", name, names.values(), "these results"))
    labels = Labels(every, paths, wording(documents, every, names))
    found: dict[str, list[Results]] = {text: [] for text in labels.texts}
    for document, leaves in zip(documents, every):
        found[labels.texts[labels.place(leaves)]].append(document)
    return found


def once(runs: Sequence[Results]) -> list[Results]:
    """Repetitions, each seed once. A run that is there twice is the same run; two that differ in results are refused."""
    if len(runs) < 2:
        return list(runs)
    seeds: dict[str, Results] = {}
    for run in runs:
        first = seeds.setdefault(identity(config_of(run), ()), run)
        if outcome(first) != outcome(run):
            raise ValueError(f"{first.source} and {run.source} have the same settings and seed, and different results: "
                             "draw them apart, or run them again")
    return list(seeds.values())


def outcome(run: Results) -> object:
    """By which two runs are seen to be one."""
    return run.get("simulation", {}).get("digest") or run["applications"]

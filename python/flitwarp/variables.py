# SPDX-License-Identifier: Apache-2.0
"""What a sweep varies: values under their labels, how they become settings, and what rises along a line."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Callable, Iterable, Mapping, Union

from .lines import DIGITS, Line, LinePlan
from .settings import arguments

MOST_VALUES = 100_000  # along a line: more is a slip

Made = Union[Mapping[str, object], str, Iterable[str], None]  # what an override function may return
Override = Union[str, Callable[..., Made]]


@dataclass(frozen=True)
class Variable:
    """Something that the sweep varies: labels and values, and how a value becomes settings."""

    name: str
    short: str
    values: dict[object, object]  # what tables show -> what is set
    override: Override

    def settings(self, value: object, others: Mapping[str, object]) -> list[str]:
        """The overrides of one value, as the command line takes them."""
        if isinstance(self.override, str):
            return arguments({self.override: value})
        made = self.override(value, others) if _parameters(self.override) > 1 else self.override(value)
        if made is None:
            return []
        if isinstance(made, str):
            return [made]
        return arguments(made) if isinstance(made, Mapping) else list(made)


def _parameters(function: Callable) -> int:
    """How many values a function takes in order."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is p.empty for p in inspect.signature(function).parameters.values())


@dataclass(frozen=True)
class Along:
    """What runs along a line: the load, or another variable whose values rise."""

    variable: Variable
    past: int = 0
    refine: int = 0
    search: float | None = None  # precision of a bisection between the two values

    def plan(self, line: Line) -> LinePlan:
        values: list[float] = list(self.variable.values.values())  # type: ignore[arg-type]
        if self.search is not None:
            line.expect([values[-1], (values[0] + values[-1]) / 2])  # the first two
            return line.search(values[0], values[-1], self.search)
        line.expect(values)
        return line.rise(values, self.past, self.refine)


def grid(start: float, stop: float, step: float) -> list[float]:
    """Values from start to stop, both included, without the dust of binary fractions.

    >>> grid(0.1, 0.4, 0.1)
    [0.1, 0.2, 0.3, 0.4]
    """
    if not (step > 0 and start <= stop):
        raise ValueError(f"from {start:g} to {stop:g} by {step:g}: the step must be above 0, the end not below the start")
    if (stop - start) / step > MOST_VALUES:
        raise ValueError(f"from {start:g} to {stop:g} by {step:g}: more than {MOST_VALUES:,} values")
    return [round(start + i * step, DIGITS) for i in range(int((stop - start) / step + 1e-9) + 1)]


def labelled(name: str, values: Iterable[object] | Mapping[object, object]) -> dict[object, object]:
    """Values as {label: value}; a list's are their own labels."""
    if isinstance(values, Mapping):
        labelled = {str(label): value for label, value in values.items()}
    else:
        values = list(values)
        labelled = {v if isinstance(v, (int, float, str, bool)) else json.dumps(v): v for v in values}
        if len(labelled) < len(values):
            raise ValueError(f"variable '{name}': a value occurs twice")
    if not labelled:
        raise ValueError(f"variable '{name}' has no values")
    return labelled

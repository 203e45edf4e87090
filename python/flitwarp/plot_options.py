# SPDX-License-Identifier: Apache-2.0
"""How flitwarp-plot reads its arguments: ranges, sizes, percentiles, and what it says of others."""

from __future__ import annotations

import argparse
import re

from .results import Which


class Usage(ValueError):
    """The command was given what it does not take."""


class Parser(argparse.ArgumentParser):
    """Complains in one line, by an exception."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise Usage(f"{message} ({self.prog} --help lists options)")


def pair_of(text: str) -> tuple[float | None, float | None]:
    """A range such as 0,0.8; either end may be left out."""
    match = re.fullmatch(r"([^,:]*)[,:]([^,:]*)", text)
    try:
        low, high = (float(part) if part.strip() else None for part in match.groups())  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is no range, such as 0,0.8 or ,200") from None
    return low, high


def size_of(text: str) -> str | tuple[float, float]:
    """A size by name, or in inches."""
    match = re.fullmatch(r"([\d.]+)x([\d.]+)", text)
    if text in ("column", "page"):
        return text
    try:
        size = tuple(map(float, match.groups()))  # type: ignore[union-attr]
        if not all(0.8 <= side <= 100 for side in size):
            raise ValueError
    except (AttributeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is no size: column, page, or inches such as 3.4x2.2, "
                                         "from 0.8 to 100") from None
    return size  # type: ignore[return-value]


def percentiles_of(text: str) -> list[float]:
    """A list of percentiles."""
    if text == "none":
        return []
    try:
        found = [float(part.strip().lstrip("p")) for part in text.split(",")]
        if not all(0 <= p <= 100 for p in found):
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of percentiles, such as 50,99,99.9, or none") from None
    return found


def application_of(text: str) -> Which:
    """An application's number or name."""
    return int(text) if text.isdigit() else text


def place_of(text: str) -> str:
    """A place of a legend."""
    from .figures.style import PLACES
    place = text.replace("-", " ").replace("_", " ")
    if place not in PLACES:
        raise argparse.ArgumentTypeError(f"no place '{text}'; there are {', '.join(p.replace(' ', '-') for p in PLACES)}")
    return place

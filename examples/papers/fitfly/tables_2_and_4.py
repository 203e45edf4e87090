#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tables 2 and 4 of the Fit Fly paper: what the four networks consist of, and what they cost. Nothing is simulated.

    examples/papers/fitfly/tables_2_and_4.py
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp.reproduce import Row, table  # noqa: E402
from networks import NETWORKS, survey  # noqa: E402


def compare():
    """Every number of the tables; a misprint stands beside what the paper's own other numbers give."""
    for name, printed in NETWORKS.items():
        found = survey(name)
        groups = printed.groups
        pairs = [
            ("planes", found.get("planes", 1), printed.planes), ("terminals", found["terminals"], printed.terminals),
            ("routers", found["routers"], printed.routers), ("links", found["links"]["total"], printed.links),
            ("terminals of a group and rail", found["links"]["by_class"]["terminal"] / groups, printed.terminals_a_group),
            ("global connections of a group", 2 * found["links"]["by_class"]["global"] / groups, printed.global_ends),
            *((f"cost of {what}, $", found["cost"][key], cost)
              for what, key, cost in zip(("links", "routers", "all"), ("links", "routers", "total"), printed.cost))]
        for what, ours, published in pairs:
            yield Row(f"{name}: {what}", f"{ours:,.10g}", f"{published:,}", ours == published)
        spare = ", one of them spare" if name == "Dragonfly" else ""  # 9 + 17 + 9 channels on a switch of 36
        yield Row(f"{name}: radix", str(found["radix"]["max"]), f"{printed.radix}{spare}",
                  found["radix"]["max"] == printed.radix - bool(spare))


def main():
    rows = list(compare())
    print(table(rows), end="")
    return not all(row.holds for row in rows)


if __name__ == "__main__":
    sys.exit(main())

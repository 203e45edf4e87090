# SPDX-License-Identifier: Apache-2.0
"""Made-up results, alike in form to those of an 8x8 torus, for examples in documentation and for tests."""

from __future__ import annotations

import math

import numpy

from ..curve import Curve, curves_of_files
from ..results import Results

WIDTH = 8
CAPACITY = {2: 0.62, 4: 0.78}


def results(load: float = 0.3, vcs: int = 2, seed: int = 1, traffic: str = "uniform_random") -> Results:
    """A run's results with everything in them: time series, hops, channels.

    >>> results(0.3).value("packet_latency.mean") > results(0.1).value("packet_latency.mean")
    True
    """
    capacity = CAPACITY.get(vcs, 0.7 + 0.01 * vcs) * (0.7 if traffic == "tornado" else 1)
    saturated = load >= capacity
    queueing = 4 * load / max(1 - load / capacity, 0.02)
    rows, mean = _histogram(20 + queueing, 5 + 0.7 * queueing, 20_000 + 100 * seed)
    latency = {"mean": mean + 0.05 * seed, "ci95": 0.01 * mean, "min": rows[0][0], "max": rows[-1][1],
               **{f"p{p:g}": _percentile(rows, p) for p in (50, 90, 99, 99.9, 99.99)}}
    hops = [[h, n] for h, n in zip(range(1, 9), (4, 8, 12, 14, 12, 8, 4, 1))]
    bins = 60
    series = [latency["mean"] * (1 + (0.8 if 20 <= i < 26 else 0)) if i else None for i in range(bins)]
    application = {
        "name": "blast", "terminals": WIDTH ** 2, "target_load": load, "offered_load": load,
        "accepted_load": min(load, capacity), "saturated": saturated, "packets": sum(r[2] for r in rows),
        "packet_latency": latency, "network_latency": {**latency, "ci95": None}, "hops": {"mean": 4.06, "ci95": None},
        "minimal_hops": {"mean": 4.06, "ci95": None}, "nonminimal_share": 0.02 * load,
        "phases": {"warming": 0, "generating": 1000, "finishing": 5600, "draining": 5800},
        "latency_distribution": rows, "hop_distribution": hops,
        "series": {"interval": 100, "packet_latency": series, "packets": [1] * bins,
                   "flits_offered": [int(100 * load * 64)] * bins, "flits_accepted": [int(100 * load * 64)] * bins}}
    config = {"simulator": {"seed": seed, "tick": "1ns"},
              "network": {"topology": {"type": "torus", "widths": [WIDTH, WIDTH]}, "router": {"num_vcs": vcs}},
              "workload": {"applications": [{"type": "blast", "load": load, "traffic": {"type": traffic}}]}}
    return Results({"flitwarp": {"version": "0.1.0"}, "config": config, "complete": True, "outcome": "done",
                    "simulation": {"end_tick": 6000}, "applications": [application], "channels": channels(load)},
                   f"demo_{traffic}_{vcs}_{load:g}_{seed}")


def with_job(seed: int = 1) -> Results:
    """Results of a job beside other traffic, and alone.

    >>> with_job().value("slowdown", "solver")
    1.26
    """
    run = results(0.2, seed=seed)
    job = {"name": "solver", "completion_time": 50_000 + seed, "alone_time": 40_000, "slowdown": 1.25 + seed / 100}
    return Results({**run, "applications": [*run["applications"], job]}, f"demo_job_{seed}")


def channels(load: float = 0.3, width: int = WIDTH) -> dict:
    """Every channel of a torus, busier towards one corner."""
    rows, coordinates = [], []
    for router in range(width * width):
        x, y = router % width, router // width
        coordinates.append([x, y])
        steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
        for port, (dx, dy) in enumerate(steps, start=1):
            target = (x + dx) % width + (y + dy) % width * width
            rows.append([router, port, target, round(min(load * (0.5 + (x + y + port / 4) / (2 * width)), 1), 6)])
    busy = [row[3] for row in rows]
    return {"count": len(rows), "utilisation": {"mean": sum(busy) / len(busy), "max": max(busy)},
            "columns": ["router", "port", "target", "utilisation"], "list": rows, "coordinates": coordinates}


def curves(count: int = 2, seeds: int = 1) -> list[Curve]:
    """Load sweeps that differ in virtual channels and traffic, up to saturation.

    >>> [curve.label for curve in curves(2)]
    ['num_vcs 2', 'num_vcs 4']
    """
    kinds = [(2, "uniform_random"), (4, "uniform_random"), (2, "tornado"), (4, "tornado")]
    kinds += [(vcs, "uniform_random") for vcs in range(5, 30)]
    loads = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return curves_of_files([results(load, vcs, seed, traffic) for vcs, traffic in kinds[:count] for load in loads
                            for seed in range(1, seeds + 1)])


def log(packets: int = 500, applications: int = 1) -> dict[str, numpy.ndarray]:
    """A packet log's columns."""
    number = numpy.arange(packets)
    created = 1000 + number * 9
    return {"application": number % applications, "source": number % 64, "destination": (number * 7 + 3) % 64,
            "packet": number // 64, "packet_flits": 1 + number % 4, "hops": 1 + number % 8,
            "minimal_hops": 1 + number % 7, "created": created, "injected": created + number % 5, "head_arrived": created + 20 + number % 13,
            "tail_arrived": created + 22 + number % 13}


def matrix(terminals: int = 16) -> dict[str, numpy.ndarray]:
    """Traffic to neighbours, and a little to everyone."""
    source, destination = (grid.ravel() for grid in numpy.meshgrid(numpy.arange(terminals), numpy.arange(terminals)))
    near = numpy.abs(source - destination) % (terminals - 2) == 1
    count = numpy.where(source == destination, 0, numpy.where(near, 900, 5 + (source * 3 + destination) % 11))
    return {"source": source, "destination": destination, "count": count, "flits": 4 * count,
            "latency": 15.0 + numpy.abs(source - destination)}


def _histogram(mean: float, width: float, packets: int) -> tuple[list[list[int]], float]:
    """Buckets of one tick below 256 and wider ones above, as the program's: a hump with a long tail."""
    rows, low = [], 9
    while low < 4000:
        high = low if low < 256 else low + (1 << (int(low).bit_length() - 8)) - 1
        z = (math.log(low + 0.5) - math.log(mean)) / (width / mean)
        count = round(packets * math.exp(-z * z / 2) / (2.5 * width) * (high - low + 1))
        if count:
            rows.append([low, high, count])
        low = high + 1
    total = sum(row[2] for row in rows)
    return rows, sum((row[0] + row[1]) / 2 * row[2] for row in rows) / total


def _percentile(rows: list[list[int]], p: float) -> int:
    need, seen = p / 100 * sum(row[2] for row in rows), 0
    for _, high, count in rows:
        seen += count
        if seen >= need * (1 - 1e-12):
            return high
    return rows[-1][1]

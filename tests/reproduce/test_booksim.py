# SPDX-License-Identifier: Apache-2.0
"""The same networks in BookSim 2: load against latency, and saturation.

Its tables were measured with 5,000 cycles of warm-up and 10,000 more, one seed; so are ours.
support.from_booksim() holds the mapping of the settings; docs/booksim.md explains it.

Saturation is the offered load at which the mean latency reaches three times that of the first row, interpolated
between the rows on either side: the same for both curves, from the same loads.
"""
import functools

import pytest

from support import BOOKSIM, BOOKSIM_TABLES, booksim_rows, from_booksim, run_all

pytestmark = pytest.mark.skipif(not BOOKSIM.is_dir(), reason="BookSim's tables are not here")


@functools.cache
def curves(name):
    """Rows of BookSim, each with ours: [(theirs, latency, accepted load)]."""
    rows = booksim_rows(name)
    results = run_all([from_booksim(name, row["offered"]) for row in rows])
    ours = [result["applications"][0] for result in results]
    return [(row, our["packet_latency"]["mean"], our["accepted_load"]) for row, our in zip(rows, ours)]


def saturation(loads, latencies):
    limit = 3 * latencies[0]
    for i in range(1, len(loads)):
        if latencies[i] > limit:
            share = (limit - latencies[i - 1]) / (latencies[i] - latencies[i - 1])
            return loads[i - 1] + share * (loads[i] - loads[i - 1])
    raise AssertionError("no load saturates")


def saturations(name):
    rows = curves(name)
    loads = [row["offered"] for row, _, _ in rows]
    return (saturation(loads, [row["packet_latency"] for row, _, _ in rows]),
            saturation(loads, [latency for _, latency, _ in rows]))


@pytest.mark.parametrize("name", BOOKSIM_TABLES)
def test_latency_is_booksims_below_saturation(name):
    # Found: within 1.4 % on every row, one seed on either side.
    limit = 0.8 * saturations("b_torus8x8_uniform" if name.endswith("lat1") else name)[0]
    compared = [(row["offered"], row["packet_latency"], latency) for row, latency, _ in curves(name) if row["offered"] < limit]
    assert len(compared) >= 3
    for load, theirs, ours in compared:
        assert ours == pytest.approx(theirs, rel=0.03), load


@pytest.mark.parametrize("name", [name for name in BOOKSIM_TABLES if not name.endswith("lat1")])  # which lacks the rows
def test_saturation_is_booksims(name):
    theirs, ours = saturations(name)
    assert ours == pytest.approx(theirs, rel=0.03)


# Rows that miss the 3 % by chance, theirs being one seed: what ten seeds of BookSim give, run as the row was.
TEN_SEEDS = {("a_mesh8x8_p8", 0.999): 0.3630, ("b_torus8x8_tornado", 0.25): 0.1652}
OVERLOADED = [(name, row["offered"]) for name in BOOKSIM_TABLES for row in booksim_rows(name) if not row["stable"]] \
    if BOOKSIM.is_dir() else []


@pytest.mark.parametrize("name,load", OVERLOADED)
def test_throughput_past_saturation_is_booksims(name, load, request):
    # In the rows that BookSim calls unstable, and at full load.
    if (name, load) in TEN_SEEDS:
        request.applymarker(pytest.mark.xfail(reason=f"one seed of BookSim; ten give {TEN_SEEDS[name, load]}", strict=True))
    theirs, ours = next((row["accepted"], accepted) for row, _, accepted in curves(name) if row["offered"] == load)
    assert ours == pytest.approx(theirs, rel=0.03)


@pytest.mark.parametrize("name, load", TEN_SEEDS)
def test_ten_seeds_are_booksims_ten_seeds(name, load):
    """A run for throughput measures 1,000 cycles; the other one until the mean latency passes 1,000, some 7,000 cycles."""
    sample = 1000 if load == 0.999 else 7000
    results = run_all([from_booksim(name, load, sample=sample, seed=seed) for seed in range(1, 11)])
    ours = sum(result["applications"][0]["accepted_load"] for result in results) / len(results)
    assert ours == pytest.approx(TEN_SEEDS[name, load], rel=0.03)

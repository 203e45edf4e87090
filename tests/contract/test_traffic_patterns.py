# SPDX-License-Identifier: Apache-2.0
"""Where messages go, by runs of the whole program against formulas written a second time: for each source the set of
its destinations, all of which occur and are as likely as each other unless the case says otherwise. What each pattern
means is told in its own file; names of SuperSim's are the same where it has them.
"""
import itertools

import pytest

from support import blast, config_of, network_of, run_logged

WIDTHS, SLOTS = [4, 4], 2
NETWORK = network_of({"type": "torus", "widths": WIDTHS, "concentration": SLOTS})
TERMINALS = 32
PLACES = [(slot, x, y) for y in range(4) for x in range(4) for slot in range(SLOTS)]
NUMBER = {place: number for number, place in enumerate(PLACES)}


def one(rule):
    """A pattern with one destination for each source, given by its place (slot, x, y)."""
    return lambda source: {NUMBER[rule(*PLACES[source])]}


def some(claim):
    """A pattern that goes to every destination for which the claim holds of both places."""
    return lambda source: {to for to in range(TERMINALS) if claim(PLACES[source], PLACES[to])}


def quadrant(place):
    return (place[1] // 2, place[2] // 2)


def half(at):
    return (at + 2) % 4


def mirror(at):
    return 3 - at


def stress(by_half):
    return one(lambda s, x, y: (s, half(x), half(y)) if by_half(s, x, y) else (s, mirror(x), mirror(y)))


def group(size, target, place=None):
    count = TERMINALS // size

    def destinations(source):
        first = target(source // size, count) * size
        return set(range(first, first + size)) if place is None else {first + place(source % size, size)}
    return destinations


CASES = {
    "dim_reverse": ({}, one(lambda s, x, y: (s, y, x))),
    "dim_complement_reverse": ({}, one(lambda s, x, y: (s, mirror(y), mirror(x)))),
    "dim_rotate": ({"direction": "right"}, one(lambda s, x, y: (s, y, x))),
    "dim_transpose": ({"dimensions": [1, 0]}, one(lambda s, x, y: (s, y, x))),
    "dim_bisection_stress": ({}, stress(lambda s, x, y: y >= 2)),
    "dim_bisection_stress parity": ({"groups": "parity"}, stress(lambda s, x, y: s % 2)),
    "dim_bisection_stress quadrant": ({"groups": "quadrant"}, stress(lambda s, x, y: (x >= 2) != (y >= 2))),
    "swap2": ({}, one(lambda s, x, y: (s, x, half(y)) if s % 2 else (s, half(x), y))),
    "loopback": ({}, one(lambda *place: place)),
    "scan": ({"start": "random", "direction": "random"}, lambda source: set(range(TERMINALS)) - {source}),
    "scan self": ({"self": True}, lambda source: set(range(TERMINALS))),
    "random_exchange": ({}, lambda source: {to for to in range(TERMINALS) if (to < 16) != (source < 16)}),
    "random_exchange_neighbor": ({}, some(lambda a, b: a[0] == b[0] and a[2] == b[2] and (a[1] - b[1]) % 4 in (1, 3))),
    "random_exchange_neighbor all": (
        {"dimensions": [0, 1], "all_slots": True},
        some(lambda a, b: ((a[1] - b[1]) % 4 in (1, 3)) + ((a[2] - b[2]) % 4 in (1, 3)) == 1
             and (a[1] == b[1] or a[2] == b[2]))),
    "random_exchange_quadrant": ({}, some(lambda a, b: quadrant(b) == tuple(1 - q for q in quadrant(a)))),
    "uniform_random_quadrant": ({}, some(lambda a, b: quadrant(a) == quadrant(b) and a != b)),
    "uniform_random_quadrant self": ({"self": True}, some(lambda a, b: quadrant(a) == quadrant(b))),
    "uniform_random_bisection": ({}, some(lambda a, b: b[0] == 1 - a[0] and b[1] == mirror(a[1]))),
    "uniform_random_bisection both": ({"dimensions": [0, 1]},
                                      one(lambda s, x, y: (1 - s, mirror(x), mirror(y)))),
    "group_attack": ({"group": 8}, group(8, lambda g, n: (g + 1) % n)),
    "group_attack same": ({"group": 4, "offset": 3, "place": "same"}, group(4, lambda g, n: (g + 3) % n, lambda p, n: p)),
    "group_attack mirrored": ({"group": 8, "target": "half", "place": "mirrored"},
                              group(8, lambda g, n: (g + n // 2) % n, lambda p, n: n - 1 - p)),
    "group_attack opposite": ({"group": 8, "target": "opposite"}, group(8, lambda g, n: n - 1 - g)),
    "adversarial": ({}, group(SLOTS, lambda g, n: (g + 1) % n)),
    "adversarial groups": ({"group": 16, "offset": 1}, group(16, lambda g, n: (g + 1) % n)),
    "random_block_out": ({"block": 8}, lambda source: {to for to in range(TERMINALS) if to // 8 != source // 8}),
    "to_root": ({"block": 16}, lambda source: {to for to in range(TERMINALS) if to // 16 != source // 16}),
    "local_remote_random": ({"block": 4, "local": 3 / 31},  # as much as makes all alike
                            lambda source: set(range(TERMINALS)) - {source}),
    "local_random_remote_attack": (
        {"block": 4, "local": 3 / 7, "offset": 2},
        lambda source: {to for to in range(TERMINALS)
                        if to != source and (to // 4 - source // 4) % 8 in (0, 2)}),
}


@pytest.mark.parametrize("name", CASES)
def test_messages_go_where_the_formula_says(name):
    settings, formula = CASES[name]
    application = blast(0.25, {"type": name.split(" ")[0], **settings}, injection="periodic", warmup=100, sample=4000,
                        finish_limit=3000)
    _, packets = run_logged(config_of(NETWORK, application), network__interface={"type": "standard", "ejection_channels": 2})
    found = [{} for _ in range(TERMINALS)]
    for packet in packets:
        counts = found[packet["source"]]
        counts[packet["destination"]] = counts.get(packet["destination"], 0) + 1
    for source, counts in enumerate(found):
        expected = formula(source)
        assert set(counts) == expected, f"from {source}"
        mean = sum(counts.values()) / len(expected)
        assert mean > 25
        for count in counts.values():  # within six deviations of a share of 1 / n
            assert count == pytest.approx(mean, abs=6 * mean**0.5 + 1)


@pytest.mark.parametrize("local", [0, 0.25, 1])
@pytest.mark.parametrize("name", ["local_remote_random", "local_random_remote_attack"])
def test_the_local_share_stays_in_the_block(name, local):
    application = blast(0.1, {"type": name, "block": 8, "local": local}, warmup=100, sample=4000)
    _, packets = run_logged(config_of(NETWORK, application))
    inside = sum(packet["source"] // 8 == packet["destination"] // 8 for packet in packets)
    assert inside / len(packets) == pytest.approx(local, abs=0.03)


def test_patterns_of_three_dimensions_go_by_given_widths():
    # 4 x 2 x 4 laid over 32 terminals of a network that is no grid; a rotation needs widths that are all the same.
    network = network_of({"type": "single_router", "terminals": 32}, "minimal")
    application = blast(0.1, {"type": "dim_complement_reverse", "widths": [4, 2, 4]}, warmup=100, sample=2000)
    _, packets = run_logged(config_of(network, application))
    expected = {x + 4 * (y + 2 * z): (3 - z) + 4 * ((1 - y) + 2 * (3 - x))
                for x, y, z in itertools.product(range(4), range(2), range(4))}
    assert {(packet["source"], packet["destination"]) for packet in packets} == set(expected.items())

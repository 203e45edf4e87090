# SPDX-License-Identifier: Apache-2.0
"""PolarFly, PolarStar, SpectralFly, Xpander, Kautz and de Bruijn networks against what is proved of their graphs, and against the same
graphs made another way here: from difference sets, recursion, products of quaternions and words. The program's are those that it exports.
"""
import csv
import functools
import itertools
import json
import math
import subprocess
import tempfile
from collections import Counter, deque
from pathlib import Path

import numpy
import pytest

from support import PROGRAM, ROOT

# ---- graphs ----


@functools.cache
def links_of(text):
    """Channels between routers as pairs of their numbers, and what the program tells of the network, of settings as JSON text."""
    with tempfile.TemporaryDirectory() as folder:
        config, links = Path(folder) / "config.json", Path(folder) / "links.csv"
        config.write_text(json.dumps({"network": {"topology": json.loads(text)}}))
        told = subprocess.run([PROGRAM, "topology", config, "--json", "--export", links], capture_output=True, text=True, check=True)
        with open(links, encoding="utf-8") as file:
            pairs = [(int(row["from"][1:]), int(row["to"][1:])) for row in csv.DictReader(file) if row["class"] != "terminal"]
    return pairs, json.loads(told.stdout)["networks"][0]


def links_and_facts(name, settings):
    return links_of(json.dumps({"type": name, "terminals": 1, **settings}))


def matrix_of(name, **settings):
    """Channels between every two routers; as often as they are joined."""
    pairs, facts = links_and_facts(name, settings)
    matrix = numpy.zeros((facts["routers"],) * 2, dtype=int)
    for one, other in pairs:
        assert one != other
        matrix[one, other] += 1
        matrix[other, one] += 1
    return matrix


def distances_from(matrix, start):
    neighbours = functools.cache(lambda router: numpy.flatnonzero(matrix[router]).tolist())
    found, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in neighbours(here):
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    assert len(found) == len(matrix)
    return found


def profile(matrix, starts=None):
    """How many routers are at each distance, from each router, sorted: what does not depend on how routers are numbered."""
    return sorted(tuple(sorted(Counter(distances_from(matrix, start).values()).items())) for start in starts or range(len(matrix)))


def diameter(matrix, starts=None):
    return max(row[-1][0] for row in profile(matrix, starts))


def spectrum(matrix):
    """Largest first."""
    return numpy.linalg.eigvalsh(matrix.astype(float))[::-1]


def girth_at(matrix, start):
    """The length of a shortest circle through a router's breadth-first search: the girth, in a graph that looks alike from everywhere."""
    found, least = distances_from(matrix, start), math.inf
    for one, other in zip(*numpy.nonzero(numpy.triu(matrix))):
        same = found[one] == found[other]
        if same:
            least = min(least, 2 * found[one] + 1)
    for router, far in found.items():
        before = sum(found[other] == far - 1 for other in numpy.flatnonzero(matrix[router]))
        if before > 1:
            least = min(least, 2 * far)
    return least


# ---- PolarFly ----

def difference_set(q):
    """q + 1 numbers modulo q^2 + q + 1 of which each number but 0 is the difference of just one pair (Singer 1938)."""
    modulus = q * q + q + 1

    def grown(chosen, differences):
        if len(chosen) == q + 1:
            return chosen
        for number in range(chosen[-1] + 1, modulus):
            new = [(number - one) % modulus for one in chosen] + [(one - number) % modulus for one in chosen]
            if len(set(new)) == len(new) and not differences & set(new):
                found = grown([*chosen, number], differences | set(new))
                if found:
                    return found
        return None
    return grown([0, 1], {1, modulus - 1})


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 11])
def test_polarfly_is_the_polarity_of_a_projective_plane(q):
    """With a loop at each quadric A A = q I + J: any two points have one line in common, and lines are their points' polars."""
    matrix = matrix_of("polarfly", q=q)
    routers, degrees = q * q + q + 1, matrix.sum(axis=0)
    assert matrix.max() == 1 and len(matrix) == routers
    assert Counter(degrees) == {q + 1: q * q, q: q + 1}  # q + 1 quadrics
    assert matrix.sum() == q * (q + 1)**2 and diameter(matrix) == 2
    looped = matrix + numpy.diag(degrees == q)
    assert (looped @ looped == q * numpy.eye(routers, dtype=int) + 1).all()
    assert numpy.trace(matrix @ matrix @ matrix) == q * (q * q - 1)  # six times as often as there are triangles


@pytest.mark.parametrize("q", [2, 3, 4, 5])
def test_polarfly_is_the_graph_of_sums_of_a_difference_set(q):
    chosen, routers = set(difference_set(q)), q * q + q + 1
    sums = numpy.array([[int(i != j and (i + j) % routers in chosen) for j in range(routers)] for i in range(routers)])
    matrix = matrix_of("polarfly", q=q)
    assert profile(matrix) == profile(sums) and numpy.allclose(spectrum(matrix), spectrum(sums))


# ---- PolarStar ----

def inductive_quad(degree):
    """(vertices, channels, partner of each) by the recursion of its paper: eight vertices at a time."""
    a, fa, links = ([0], [1], set()) if degree % 4 == 0 else ([], [], set())
    partner = {0: 1, 1: 0} if a else {}
    while 2 * len(a) < 2 * degree + 2:
        base = len(partner)
        x = [base + i for i in range(4)]
        fx = [base + 4 + i for i in range(4)]
        links |= {(end, x[i]) for end in (x[0], fx[0]) for i in (1, 2, 3)}
        links |= {(end, fx[w]) for y, w in ((1, 2), (2, 3), (3, 1)) for end in (x[y], fx[y])}
        links |= {(new, old) for i, olds in ((0, a), (1, a), (2, fa), (3, fa)) for new in (x[i], fx[i]) for old in olds}
        partner |= {one: other for pair in zip(x, fx) for one, other in (pair, pair[::-1])}
        a, fa = a + x, fa + fx
    return len(partner), links, partner


def star_product(q, order, links, image, loops):
    """The product with a graph of sums, whose quadrics are i with 2 i in the difference set."""
    chosen, points = difference_set(q), q * q + q + 1
    matrix = numpy.zeros((points * order,) * 2, dtype=int)
    for point in range(points):
        for one, other in links:
            matrix[point * order + one, point * order + other] = matrix[point * order + other, point * order + one] = 1
        for other in {(number - point) % points for number in chosen}:
            for vertex in range(order):
                if point < other or (point == other and loops):
                    here, there = point * order + vertex, other * order + image[vertex]
                    matrix[here, there] = matrix[there, here] = 1
    return matrix


@pytest.mark.parametrize("q, degree", [(2, 0), (2, 3), (4, 3), (3, 4), (2, 7), (2, 8)])
def test_polarstar_of_inductive_quads(q, degree):
    matrix = matrix_of("polarstar", q=q, supernode_degree=degree)
    assert len(matrix) == (q * q + q + 1) * (2 * degree + 2) and matrix.max() == 1
    assert set(matrix.sum(axis=0)) == {q + 1 + degree}
    made = star_product(q, *inductive_quad(degree), True)
    assert diameter(made) == diameter(matrix) == 3
    assert profile(matrix) == profile(made)


@pytest.mark.parametrize("degree", [0, 3, 4, 7, 8, 11, 12, 15])
def test_supernodes_and_their_images_join_all_but_partners(degree):
    """The condition on inductive quads (R*), of the first supernode as it is exported. f swaps 2 i and 2 i + 1."""
    order = 2 * degree + 2
    matrix = matrix_of("polarstar", q=2, supernode_degree=degree)[:order, :order]  # point (0, 0, 1), which is no quadric
    swap = [vertex ^ 1 for vertex in range(order)]
    assert set(matrix.sum(axis=0)) == {degree}
    assert (matrix + matrix[swap][:, swap] == 1 - numpy.eye(order, dtype=int) - numpy.eye(order, dtype=int)[swap]).all()


@pytest.mark.parametrize("q, degree", [(2, 2), (3, 2), (2, 6), (4, 6), (2, 8)])
def test_polarstar_of_paley_graphs(q, degree):
    """Squares modulo a prime; the map is by 2 or 3, which are no squares modulo 5, 13 and 17."""
    order = 2 * degree + 1
    matrix = matrix_of("polarstar", q=q, supernode="paley", supernode_degree=degree)
    assert len(matrix) == (q * q + q + 1) * order and matrix.max() == 1
    assert Counter(matrix.sum(axis=0)) == {q + 1 + degree: q * q * order, q + degree: (q + 1) * order}
    squares = {i * i % order for i in range(1, order)}
    links = {(i, j) for i, j in itertools.combinations(range(order), 2) if (j - i) % order in squares}
    factor = 2 if order in (5, 13) else 3
    assert factor not in squares
    made = star_product(q, order, links, [factor * vertex % order for vertex in range(order)], False)
    assert diameter(made) == diameter(matrix) == 3 and matrix.sum() == made.sum()


@pytest.mark.parametrize("degree", [2, 4, 6, 8, 12])
def test_a_paley_supernode_is_self_complementary_by_its_map(degree):
    """The condition on the other supernodes (R1): no channel is mapped to one, and the map is that between two supernodes."""
    order, q = 2 * degree + 1, 2
    matrix = matrix_of("polarstar", q=q, supernode="paley", supernode_degree=degree)
    inside = matrix[:order, :order]
    there = next(point for point in range(1, 7) if matrix[0, point * order:(point + 1) * order].any())
    between = matrix[:order, there * order:(there + 1) * order]
    assert (between.sum(axis=0) == 1).all() and (between.sum(axis=1) == 1).all()
    assert set(inside.sum(axis=0)) == {degree}
    image = between.argmax(axis=1)
    back = numpy.argsort(image)
    assert (inside + inside[back][:, back] == 1 - numpy.eye(order, dtype=int)).all()


# ---- SpectralFly ----

def quaternions(p):
    """The p + 1 sums of four squares that are p (Jacobi 1834), one of each with its multiples by units."""
    most = math.isqrt(p)
    found = []
    for rest in itertools.product(range(-most, most + 1), repeat=3):
        first = math.isqrt(max(p - sum(x * x for x in rest), 0))
        if first * first + sum(x * x for x in rest) == p and first % 2 == (p % 4 == 1) and (first or rest > (0, 0, 0)):
            found.append((first, *rest))
    return [one for one in found if all(x % 2 != one[0] % 2 for x in one[1:])]


def cayley_graph(p, q):
    """By search from 1 among quaternions modulo q up to multiples: they are the 2x2 matrices, and nothing is chosen here."""
    generators = quaternions(p)
    assert len(generators) == p + 1

    def product(a, b):
        return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])

    def reduced(a):
        scale = next(pow(x, -1, q) for x in a if x % q)
        return tuple(x * scale % q for x in a)
    numbers, order, pairs = {(1, 0, 0, 0): 0}, [(1, 0, 0, 0)], []
    for here in order:
        for generator in generators:
            there = reduced(product(here, generator))
            if there not in numbers:
                numbers[there] = len(order)
                order.append(there)
            pairs.append((numbers[here], numbers[there]))
    matrix = numpy.zeros((len(order),) * 2, dtype=int)
    for one, other in pairs:
        matrix[one, other] += 1
    return matrix


@pytest.mark.parametrize("p, q", [(3, 5), (3, 7), (5, 7), (11, 7), (3, 11), (23, 11)])
def test_spectralfly_is_a_ramanujan_graph(p, q):
    matrix = matrix_of("spectralfly", p=p, q=q)
    is_square = p % q in {x * x % q for x in range(1, q)}
    routers = (q**3 - q) // (2 if is_square else 1)
    assert len(matrix) == routers and matrix.max() == 1 and set(matrix.sum(axis=0)) == {p + 1}
    values = spectrum(matrix)
    assert values[0] == pytest.approx(p + 1) and values[1] <= 2 * math.sqrt(p) + 1e-9  # Lubotzky, Phillips, Sarnak: theorem 4.1
    if is_square:
        assert values[-1] >= -2 * math.sqrt(p) - 1e-9
    else:  # two sides
        assert values[-1] == pytest.approx(-p - 1) and values[-2] >= -2 * math.sqrt(p) - 1e-9
    alike = set(profile(matrix, [0, 1, routers - 1]))  # from everywhere
    assert len(alike) == 1 and alike == set(profile(cayley_graph(p, q), [0]))
    assert diameter(matrix, [0]) <= 2 * math.log(routers, p) + 2 * math.log(2, p) + 1  # the same theorem
    girth = girth_at(matrix, 0)
    assert girth >= (2 * math.log(q, p) if is_square else 4 * math.log(q, p) - math.log(4, p))
    assert girth == girth_at(matrix, routers // 2) and (is_square or girth % 2 == 0)


@pytest.mark.parametrize("name, settings", [
    ("spectralfly", {"p": 3, "q": 5}), ("spectralfly", {"p": 11, "q": 7}), ("xpander", {"degree": 5, "lifts": [2, 2, 2]}),
    ("polarstar", {"q": 4, "supernode_degree": 3}), ("kautz", {"degree": 2, "diameter": 4}), ("de_bruijn", {"degree": 2, "diameter": 5})],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value))
def test_no_half_has_fewer_channels_to_the_other_than_the_spectrum_allows(name, settings):
    """Two halves of n routers have at least mu n / 4 channels between them; mu: the second eigenvalue of the Laplacian (Fiedler 1973)."""
    matrix, (_, facts) = matrix_of(name, **settings), links_and_facts(name, settings)
    connectivity = numpy.linalg.eigvalsh(numpy.diag(matrix.sum(axis=0)) - matrix)[1]
    assert connectivity * len(matrix) / 4 - 1e-9 <= facts["bisection"]["links"] <= matrix.sum() / 4  # half of all: a random half


# ---- Xpander ----

@pytest.mark.parametrize("degree, lifts", [(3, [2]), (5, [2, 2, 2]), (5, [8]), (7, [6, 3]), (11, [16])])
@pytest.mark.parametrize("seed", [1, 2])
def test_xpander_is_a_lift_of_a_complete_graph(degree, lifts, seed):
    """It keeps the eigenvalues of what it is a lift of: d once and -1 d times. The others of nearly all lifts are below
    2 sqrt(d - 1) + 0.84 (Puder 2015)."""
    matrix, copies = matrix_of("xpander", degree=degree, lifts=lifts, seed=seed), math.prod(lifts)
    assert len(matrix) == (degree + 1) * copies
    for one, other in itertools.product(range(degree + 1), repeat=2):
        block = matrix[one * copies:(one + 1) * copies, other * copies:(other + 1) * copies]
        assert (block.sum(axis=0) == (one != other)).all() and (block.sum(axis=1) == (one != other)).all()
    distances_from(matrix, 0)  # all are reached
    values = spectrum(matrix)
    assert values[0] == pytest.approx(degree) and numpy.isclose(values, -1).sum() >= degree
    assert max(abs(values[1]), abs(values[-1])) <= 2 * math.sqrt(degree - 1) + 0.84


def test_lifts_one_after_the_other_are_lifts_of_each_other():
    """Joined four by four, the routers of two lifts by 2 and by 4 are a lift by 2."""
    matrix = matrix_of("xpander", degree=4, lifts=[2, 4])
    small = matrix.reshape(10, 4, 10, 4).sum(axis=(1, 3))
    assert set(numpy.unique(small)) == {0, 4}  # all four copies of a channel lead to copies of one router
    small //= 4
    assert (small.sum(axis=0) == 4).all() and (small.reshape(5, 2, 5, 2).sum(axis=(1, 3)) == 2 - 2 * numpy.eye(5, dtype=int)).all()


# ---- words ----

def shifts(words):
    """Channels between words by their place in the list, as often as one becomes the other by a shift; none from a word to itself."""
    place, found = {word: number for number, word in enumerate(words)}, Counter()
    for word in words:
        for last in {other[-1] for other in words}:
            there = (*word[1:], last)
            if there in place and there != word:
                found[tuple(sorted((place[word], place[there])))] += 1
    return found


def joined(name, **settings):
    pairs, facts = links_and_facts(name, settings)
    return Counter(tuple(sorted(pair)) for pair in pairs), facts["routers"]


@pytest.mark.parametrize("degree, length", [(2, 1), (2, 2), (2, 3), (2, 6), (3, 3), (5, 1), (5, 2)])
def test_de_bruijn_is_all_words_and_shifts(degree, length):
    found, routers = joined("de_bruijn", degree=degree, diameter=length)
    words = list(itertools.product(range(degree), repeat=length))
    assert routers == degree**length and found == shifts(words)
    assert sum(found.values()) == degree**(length + 1) - degree  # without loops
    assert sum(times == 2 for times in found.values()) == degree * (degree - 1) // 2 and max(found.values()) <= 2
    matrix = matrix_of("de_bruijn", degree=degree, diameter=length)
    assert diameter(matrix) == length


@pytest.mark.parametrize("degree, length", [(2, 2), (2, 4), (3, 3)])
def test_eigenvalues_of_de_bruijn_graphs_are_those_proved(degree, length):
    """With its loops: 2 d cos(pi i / (j + 1)), i up to j up to n, and 2 d once (Delorme and Tillich 1998)."""
    matrix = matrix_of("de_bruijn", degree=degree, diameter=length)
    looped = matrix + numpy.diag(2 * degree - matrix.sum(axis=0))
    allowed = [2 * degree] + [2 * degree * math.cos(math.pi * i / (j + 1)) for j in range(1, length + 1) for i in range(1, j + 1)]
    values = spectrum(looped)
    assert all(min(abs(value - one) for one in allowed) < 1e-6 for value in values)
    assert values[1] == pytest.approx(2 * degree * math.cos(math.pi / (length + 1)))


def test_a_shuffle_is_one_channel_long_in_a_de_bruijn_network():
    """Of the 32 words of five bits two are all alike, and send to themselves."""
    ran = subprocess.run([PROGRAM, "run", ROOT / "examples" / "de_bruijn.json", "--quiet"], capture_output=True, text=True, check=True)
    [application] = json.loads(ran.stdout)["applications"]
    assert [hops for hops, _ in application["hops"]["distribution"]] == [0, 1] and not application["saturated"]
    assert application["hops"]["mean"] == pytest.approx(30 / 32, abs=4 * math.sqrt(30 / 32 * 2 / 32 / application["packets"]))


@pytest.mark.parametrize("degree, length", [(2, 1), (2, 2), (2, 3), (2, 6), (3, 3), (4, 2), (5, 1)])
def test_kautz_is_all_words_without_repeats_and_shifts(degree, length):
    found, routers = joined("kautz", degree=degree, diameter=length)
    words = [word for word in itertools.product(range(degree + 1), repeat=length) if all(a != b for a, b in zip(word, word[1:]))]
    words.sort(key=lambda word: (word[0], *((b - a - 1) % (degree + 1) for a, b in zip(word, word[1:]))))  # by letter and steps
    assert routers == degree**length + degree**(length - 1) and found == shifts(words)
    assert sum(found.values()) == degree * routers
    assert sum(times == 2 for times in found.values()) == (degree + 1) * degree // 2 and max(found.values()) <= 2
    assert diameter(matrix_of("kautz", degree=degree, diameter=length)) == length

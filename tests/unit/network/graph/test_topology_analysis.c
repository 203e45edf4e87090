/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances, numbers of shortest paths, disjoint paths and bisections of whole
 * networks, against closed forms where the network has one and against every
 * possible cut where it is small.
 */
#include "test.h"

#include "network/graph/analysis.h"
#include "routed.h"
#include "sandbox.h"

#include <math.h>

#define PLENTY ((uint64_t)1 << 40)

struct surveyed {
    struct routed routed;
    struct adjacency adjacency;
    struct distances distances;
    struct disjoint_paths disjoint;
    struct bisection bisection;
};

static void survey(struct surveyed *surveyed, const char *json, uint64_t budget)
{
    EXPECT(routed_topology(&surveyed->routed, json));
    struct arena *arena = &surveyed->routed.arena;
    adjacency_init(&surveyed->adjacency, &surveyed->routed.topology, arena);
    distances_find(&surveyed->distances, &surveyed->adjacency, budget, arena);
    disjoint_paths_find(&surveyed->disjoint, &surveyed->adjacency, budget);
    bisection_find(&surveyed->bisection, &surveyed->adjacency, budget < PLENTY ? budget : 10000000, arena);
}

static void survey_release(struct surveyed *surveyed) { routed_release(&surveyed->routed); }

static void expect_means(const struct surveyed *surveyed, uint32_t diameter, double routers, double terminals)
{
    EXPECT_EQ_U64(surveyed->distances.sources, surveyed->adjacency.sources);
    EXPECT_EQ_U64(surveyed->distances.unreached, 0);
    EXPECT_EQ_U64(surveyed->distances.diameter, diameter);
    EXPECT_NEAR(surveyed->distances.routers.mean, routers, 1e-12);
    EXPECT_NEAR(surveyed->distances.terminals.mean, terminals, 1e-12);
    EXPECT(surveyed->distances.routers.error == 0 && surveyed->distances.terminals.error == 0);
}

static double choose_of(uint32_t n, uint32_t k)
{
    double ways = 1;
    for (uint32_t i = 1; i <= k; i++)
        ways = ways * (n - k + i) / i;
    return ways;
}

/* ---- lists of neighbours ---- */

TEST(adjacency_gathers_parallel_channels_and_knows_the_way_back)
{
    struct routed routed;
    struct adjacency adjacency;
    EXPECT(routed_topology(&routed, "{\"type\": \"torus\", \"widths\": [2, 3], \"channels\": [2, 1]}"));
    adjacency_init(&adjacency, &routed.topology, &routed.arena);
    uint32_t wrong = 0;
    for (uint32_t router = 0; router < 6; router++) {
        EXPECT_EQ_U64(adjacency.first[router + 1] - adjacency.first[router], 3);
        NEIGHBOURS_EACH(to, &adjacency, router) {
            const struct neighbour *back = &adjacency.neighbours[to->back];
            wrong += back->router != router || adjacency.neighbours + back->back != to || back->links != to->links;
            wrong += to->links != (to->router / 2 == router / 2 ? 4 : 1); /* up and down, two each; a ring of three */
        }
    }
    EXPECT_EQ_U64(wrong, 0);
    EXPECT_EQ_U64(adjacency.sources, 6);
    routed_release(&routed);
}

/* ---- closed forms ---- */

/* (k^2 - 1) / 3k on average in each dimension, the own place included. */
TEST(distances_of_a_mesh)
{
    struct surveyed mesh;
    survey(&mesh, "{\"type\": \"mesh\", \"widths\": [8, 8]}", PLENTY);
    expect_means(&mesh, 14, 2 * 63.0 / 24 * 64 / 63, 2 * 63.0 / 24 * 64 / 63);
    EXPECT_EQ_U64(mesh.distances.pairs[1], 4 * 7 * 8);
    EXPECT_EQ_U64(mesh.distances.pairs[14], 4);
    EXPECT_NEAR(mesh.distances.paths[14], 4 * choose_of(14, 7), 1e-6);
    /* Over all pairs: C(x + y, x) ways for each of the 2 (8 - x) places and directions, and the same for y. */
    double paths = 0, disjoint = 0;
    for (uint32_t x = 0; x < 8; x++)
        for (uint32_t y = 0; y < 8; y++) {
            double pairs = (x ? 2 * (8 - x) : 8) * (y ? 2 * (8 - y) : 8);
            paths += x + y ? pairs * choose_of(x + y, x) : 0;
            disjoint += x + y ? pairs * (x && y ? 2 : 1) : 0;
        }
    EXPECT_NEAR(mesh.distances.paths_of_pair.mean, paths / (64 * 63), 1e-9);
    EXPECT(mesh.disjoint.is_exact);
    EXPECT_NEAR(mesh.disjoint.paths.mean, disjoint / (64 * 63), 1e-9);
    EXPECT_EQ_U64(mesh.disjoint.least, 1);
    EXPECT_EQ_U64(mesh.bisection.links, 8);
    survey_release(&mesh);
}

/* k / 4 in each dimension of even width. */
TEST(distances_of_a_torus)
{
    struct surveyed torus;
    survey(&torus, "{\"type\": \"torus\", \"widths\": [8, 8], \"concentration\": 3}", PLENTY);
    expect_means(&torus, 8, 4 * 64.0 / 63, 4 * 192.0 / 191);
    EXPECT_EQ_U64(torus.distances.pairs[8], 64); /* the one opposite, two ways round in each dimension */
    EXPECT_NEAR(torus.distances.paths[8], 64 * 4 * choose_of(8, 4), 1e-6);
    EXPECT_EQ_U64(torus.bisection.links, 16);
    survey_release(&torus);
}

TEST(paths_of_a_hypercube_are_factorials)
{
    struct surveyed cube;
    survey(&cube, "{\"type\": \"hypercube\", \"dimensions\": 6, \"concentration\": 2}", PLENTY);
    expect_means(&cube, 6, 3 * 64.0 / 63, 3 * 128.0 / 127);
    double factorial = 1;
    for (uint32_t d = 1; d <= 6; d++) {
        factorial *= d;
        EXPECT_NEAR((double)cube.distances.pairs[d], 64 * choose_of(6, d), 0);
        EXPECT_NEAR(cube.distances.paths[d], 64 * choose_of(6, d) * factorial, 0);
    }
    EXPECT_NEAR(cube.disjoint.paths.mean, 3 * 64.0 / 63, 1e-12); /* d of them at distance d */
    EXPECT_EQ_U64(cube.bisection.links, 32);
    survey_release(&cube);
}

TEST(hypercubes_are_cut_in_halves_by_a_dimension)
{
    for (uint32_t n = 1; n <= 8; n++) {
        struct surveyed cube;
        char json[64];
        snprintf(json, sizeof json, "{\"type\": \"hypercube\", \"dimensions\": %u}", n);
        survey(&cube, json, 100000);
        EXPECT_EQ_U64(cube.bisection.links, 1u << (n - 1));
        survey_release(&cube);
    }
}

TEST(complete_graphs_have_one_hop_and_a_quarter_of_their_square_to_cut)
{
    struct surveyed complete;
    survey(&complete, "{\"type\": \"hyperx\", \"widths\": [10], \"concentration\": 4}", PLENTY);
    expect_means(&complete, 1, 1, 36.0 / 39);
    EXPECT_NEAR(complete.distances.paths_of_pair.mean, 1, 0);
    EXPECT_EQ_U64(complete.bisection.links, 25);
    survey_release(&complete);
    survey(&complete, "{\"type\": \"hyperx\", \"widths\": [9], \"channels\": [3]}", PLENTY);
    EXPECT_EQ_U64(complete.bisection.links, 3 * 4 * 5);
    EXPECT_NEAR(complete.disjoint.paths.mean, 3, 0);
    survey_release(&complete);
}

/* 8 leaves of 2 terminals: one other in the same pod, six elsewhere; two ways within, four across. */
TEST(distances_of_a_fat_tree)
{
    struct surveyed tree;
    survey(&tree, "{\"type\": \"folded_clos\", \"radix\": 4, \"levels\": 3}", PLENTY);
    expect_means(&tree, 4, (2 + 6 * 4) / 7.0, (2 * 2 + 12 * 4) / 15.0);
    EXPECT_EQ_U64(tree.adjacency.sources, 8);
    EXPECT_EQ_U64(tree.distances.pairs[1], 0);
    EXPECT_NEAR(tree.distances.paths_of_pair.mean, (2 + 6 * 4) / 7.0, 1e-12);
    EXPECT_NEAR(tree.disjoint.paths.mean, 2, 1e-12); /* as many as a leaf has ports up */
    EXPECT_EQ_U64(tree.bisection.links, 8);          /* half of the terminals */
    survey_release(&tree);
}

/* Every packet crosses all stages on its one way, to its own router too. */
TEST(distances_of_a_butterfly)
{
    struct surveyed fly;
    survey(&fly, "{\"type\": \"butterfly\", \"radix\": 2, \"stages\": 4}", PLENTY);
    expect_means(&fly, 3, 3, 3);
    EXPECT_NEAR(fly.distances.paths_of_pair.mean, 1, 0);
    EXPECT_EQ_U64(fly.distances.pairs[3], 64);
    survey_release(&fly);
}

/* p 1, a 2, h 1: three groups of two routers, a ring of six in which local and global channels alternate. */
TEST(smallest_dragonfly_is_a_ring)
{
    struct surveyed ring;
    survey(&ring, "{\"type\": \"dragonfly\", \"terminals\": 1, \"routers\": 2, \"global\": 1}", PLENTY);
    expect_means(&ring, 3, (2 * 1 + 2 * 2 + 3) / 5.0, (2 * 1 + 2 * 2 + 3) / 5.0);
    EXPECT_NEAR(ring.distances.paths_of_pair.mean, 6 / 5.0, 1e-12);
    EXPECT_EQ_U64(ring.bisection.links, 2);
    survey_release(&ring);
}

TEST(one_router_has_no_pairs)
{
    struct surveyed one;
    survey(&one, "{\"type\": \"single_router\", \"terminals\": 5}", PLENTY);
    expect_means(&one, 0, 0, 0);
    EXPECT_EQ_U64(one.disjoint.pairs, 0);
    EXPECT_EQ_U64(one.bisection.links, 0);
    survey_release(&one);
}

/* ---- samples ---- */

TEST(a_ratio_of_sums_has_the_standard_error_of_a_sample_without_replacement)
{
    const double sums[] = {1, 3}, counts[] = {1, 1};
    struct pair_mean some = ratio_of_sums(sums, counts, 2, 4);
    EXPECT_NEAR(some.mean, 2, 0);
    EXPECT_NEAR(some.error, sqrt(2.0 / 2 * (1 - 2.0 / 4)), 1e-15); /* s^2 / n, half of the population seen */
    EXPECT(ratio_of_sums(sums, counts, 2, 2).error == 0);
}

TEST(sampled_means_are_within_their_errors)
{
    struct surveyed mesh;
    survey(&mesh, "{\"type\": \"mesh\", \"widths\": [32, 32]}", 400000);
    double exact = 2 * 1023.0 / 96 * 1024 / 1023;
    EXPECT(mesh.distances.sources > 2 && mesh.distances.sources < 1024);
    EXPECT(mesh.distances.routers.error > 0 && mesh.distances.routers.error < 1);
    EXPECT_NEAR(mesh.distances.routers.mean, exact, 4 * mesh.distances.routers.error);
    EXPECT(!mesh.disjoint.is_exact && mesh.disjoint.pairs > 32);
    EXPECT(mesh.disjoint.paths.mean > 1 && mesh.disjoint.paths.mean <= 2);
    survey_release(&mesh);
}

/* All routers of a torus see the same: a sample has no error. */
TEST(a_sample_of_a_torus_is_exact)
{
    struct surveyed torus;
    survey(&torus, "{\"type\": \"torus\", \"widths\": [32, 32]}", 100000);
    EXPECT(torus.distances.sources < 1024);
    EXPECT_NEAR(torus.distances.routers.mean, 16 * 1024.0 / 1023, 1e-9);
    EXPECT_NEAR(torus.distances.routers.error, 0, 1e-9);
    EXPECT_EQ_U64(torus.bisection.links, 64);
    survey_release(&torus);
}

/* ---- every cut ---- */

static uint64_t cut_of(const struct adjacency *adjacency, uint32_t sides)
{
    uint64_t links = 0;
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        NEIGHBOURS_EACH(to, adjacency, router)
            links += (sides >> router & 1) && !(sides >> to->router & 1) ? to->links : 0;
    return links;
}

/* The fewest links of all cuts that are as well balanced as any can be. */
static uint64_t fewest(const struct adjacency *adjacency)
{
    uint32_t routers = adjacency->topology->routers, most = 2 * adjacency->topology->terminals;
    uint64_t best = UINT64_MAX;
    uint32_t best_off = UINT32_MAX;
    for (uint32_t sides = 0; sides < 1u << (routers - 1); sides++) {
        uint32_t weight = 0;
        for (uint32_t router = 0; router < routers; router++)
            weight += sides >> router & 1 ? adjacency->entering[router] + adjacency->leaving[router] : 0;
        uint32_t off = 2 * weight > most ? 2 * weight - most : most - 2 * weight;
        uint64_t links = cut_of(adjacency, sides);
        if (off < best_off || (off == best_off && links < best)) {
            best_off = off;
            best = links;
        }
    }
    return best;
}

static void expect_fewest(const char *json)
{
    struct surveyed surveyed;
    survey(&surveyed, json, PLENTY);
    EXPECT_EQ_U64(surveyed.bisection.links, fewest(&surveyed.adjacency));
    uint32_t sides = 0;
    for (uint32_t router = 0; router < surveyed.routed.topology.routers; router++)
        sides |= (uint32_t)surveyed.bisection.side[router] << router;
    EXPECT_EQ_U64(cut_of(&surveyed.adjacency, sides), surveyed.bisection.links);
    survey_release(&surveyed);
}

TEST(no_cut_of_a_small_network_is_smaller)
{
    expect_fewest("{\"type\": \"mesh\", \"widths\": [3, 3]}");
    expect_fewest("{\"type\": \"mesh\", \"widths\": [5, 3]}");
    expect_fewest("{\"type\": \"torus\", \"widths\": [4, 3]}");
    expect_fewest("{\"type\": \"hyperx\", \"widths\": [4, 4]}");
    expect_fewest("{\"type\": \"folded_clos\", \"radix\": 6, \"levels\": 2}");
    expect_fewest("{\"type\": \"folded_clos\", \"down\": [2, 3, 2], \"up\": [1, 1]}");
    expect_fewest("{\"type\": \"butterfly\", \"radix\": 2, \"stages\": 3}");
    expect_fewest("{\"type\": \"dragonfly\", \"terminals\": 1, \"routers\": 4, \"global\": 1, \"groups\": 4}");
}

/* A ring and twelve chords that are drawn. */
TEST(no_cut_of_a_random_network_is_smaller)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sandbox box;
        struct text lines = {0};
        struct random random = random_stream(seed, 0, RANDOM_SETUP);
        sandbox_open(&box);
        for (uint32_t router = 0; router < 14; router++) {
            uint32_t chord = random_below(&random, 14);
            text_addf(&lines, "router %u node %u router %u", router, router, (router + 1) % 14);
            text_addf(&lines, chord == router ? "\n" : " router %u\n", chord);
        }
        sandbox_write(&box, "network.txt", lines.chars, lines.length);
        expect_fewest(arena_format(&box.arena, "{\"type\": \"file\", \"file\": \"%s\"}", path_in(&box, "network.txt")));
        text_release(&lines);
        sandbox_close(&box, "network.txt", NULL);
    }
}

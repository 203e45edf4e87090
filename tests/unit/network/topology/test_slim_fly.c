/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slim Flies and random regular graphs: sizes, degrees and distances against what
 * the literature says of them.
 */
#include "test.h"

#include "flitwarp/bits.h"
#include "routed.h"

/* Who is linked to whom: a row of bits for each router. */
struct links {
    uint64_t *rows;
    uint32_t words;
};

static uint64_t *row_of(const struct links *links, uint32_t router)
{
    return links->rows + (size_t)router * links->words;
}

/* Returns how many ports are unused, lead back to their router, or are not where their peer says. */
static uint32_t find_links(struct links *links, const struct topology *topology, struct arena *arena)
{
    uint32_t wrong = 0;
    links->words = words_for(topology->routers);
    links->rows = arena_array(arena, uint64_t, (size_t)topology->routers * links->words);
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer = {0}, back = {0};
            wrong += !topology->ops->peer(topology, router, port, &peer) || peer.router == router ||
                     !topology->ops->peer(topology, peer.router, peer.port, &back) || back.router != router ||
                     back.port != port;
            bits_add(row_of(links, router), peer.router);
        }
    return wrong;
}

static uint32_t count_bits(const uint64_t *bits, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        count += (uint32_t)__builtin_popcountll(bits[w]);
    return count;
}

/* Routers with fewer neighbours than ports, where two ports lead to one router; and those that do not reach all in 2. */
static void expect_diameter_2(const struct links *links, const struct topology *topology, struct arena *arena)
{
    uint32_t poor = 0, far = 0, wrong = 0;
    uint64_t *reached = arena_array(arena, uint64_t, links->words);
    for (uint32_t router = 0; router < topology->routers; router++) {
        const uint64_t *row = row_of(links, router);
        memcpy(reached, row, sizeof *row * links->words);
        BITS_EACH(neighbour, row, links->words)
            for (uint32_t w = 0; w < links->words; w++)
                reached[w] |= row_of(links, (uint32_t)neighbour)[w];
        bits_add(reached, router);
        poor += count_bits(row, links->words) != topology->ports;
        far += count_bits(reached, links->words) != topology->routers;
        for (uint32_t other = 0; other < topology->routers; other++) {
            uint32_t distance = other == router ? 0 : bits_test(row, other) ? 1 : 2;
            wrong += topology->ops->distance(topology, router, other) != distance;
        }
    }
    EXPECT_EQ_U64(poor, 0);
    EXPECT_EQ_U64(far, 0);
    EXPECT_EQ_U64(wrong, 0);
}

/* Every prime power up to 32 but 2, with d of q = 4w + d. */
static const struct {
    uint32_t q;
    int d;
} fields[] = {{3, -1}, {4, 0},   {5, 1},   {7, -1}, {8, 0},   {9, 1},  {11, -1}, {13, 1}, {16, 0},
              {17, 1}, {19, -1}, {23, -1}, {25, 1}, {27, -1}, {29, 1}, {31, -1}, {32, 0}};

TEST(slim_flies_of_all_fields_have_diameter_2)
{
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct routed routed;
        struct links links;
        char json[64];
        snprintf(json, sizeof json, "{\"type\": \"slim_fly\", \"q\": %u}", fields[i].q);
        EXPECT(routed_topology(&routed, json));
        uint32_t degree = (3 * fields[i].q - (uint32_t)fields[i].d) / 2;
        EXPECT_EQ_U64(routed.topology.routers, 2 * fields[i].q * fields[i].q);
        EXPECT_EQ_U64(routed.topology.ports, degree);
        EXPECT_EQ_U64(routed.topology.concentration, (degree + 1) / 2);
        EXPECT_EQ_U64(find_links(&links, &routed.topology, &routed.arena), 0);
        expect_diameter_2(&links, &routed.topology, &routed.arena);
        routed_release(&routed);
    }
}

/* Besta and Hoefler 2014. */
TEST(slim_fly_sizes_are_those_of_the_literature)
{
    static const uint32_t sizes[][3] = {{5, 50, 7}, {7, 98, 11}, {13, 338, 19}, {17, 578, 25}, {19, 722, 29}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct routed routed;
        char json[64];
        snprintf(json, sizeof json, "{\"type\": \"slim_fly\", \"q\": %u}", sizes[i][0]);
        EXPECT(routed_topology(&routed, json));
        EXPECT_EQ_U64(routed.topology.routers, sizes[i][1]);
        EXPECT_EQ_U64(routed.topology.ports, sizes[i][2]);
        routed_release(&routed);
    }
}

/* With 50 routers of degree 7 a diameter of 2 is the Moore bound: 7 others are 1 away and 42 are 2. */
TEST(slim_fly_of_5_meets_the_moore_bound)
{
    struct routed routed;
    double sum = 0;
    EXPECT(routed_topology(&routed, "{\"type\": \"slim_fly\", \"q\": 5}"));
    for (uint32_t from = 0; from < 50; from++)
        for (uint32_t to = 0; to < 50; to++)
            sum += routed.topology.ops->distance(&routed.topology, from, to);
    EXPECT_NEAR(sum / (50 * 49), 1.857, 0.0005);
    routed_release(&routed);
}

/* Fit Fly, Tables 2 and 4: radix 28, 3042 nodes, 169 global connections of a group, 6253 links with those of terminals. */
TEST(slim_fly_of_the_fit_fly_study)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"slim_fly\", \"q\": 13, \"terminals\": 9}"));
    const struct topology *fly = &routed.topology;
    uint32_t globals = 0;
    EXPECT_EQ_U64(fly->terminals, 3042);
    EXPECT_EQ_U64(fly->ports + fly->concentration, 28);
    EXPECT_EQ_U64(fly->routers * fly->ports / 2 + fly->terminals, 6253);
    for (uint32_t router = 13; router < 26; router++)
        for (uint32_t port = 0; port < fly->ports; port++)
            globals += fly->ops->channel_class(fly, router, port) == 1;
    EXPECT_EQ_U64(globals, 169);
    routed_release(&routed);
}

TEST(slim_fly_of_no_field_is_refused)
{
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 2}", "2 is below 3");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 6}", "no power of a prime; the nearest that are: 5 and 7");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 10}", "9 and 11");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 12}", "11 and 13");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 14}", "13 and 16");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 15}", "13 and 16");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 1021}", "more than 2147483647 channels");
    expect_topology_refused("{\"type\": \"slim_fly\", \"q\": 1024, \"terminals\": 1024}",
                            "more than 2147483647 terminals");
}

/* ---- jellyfish ---- */

static bool make_fish(struct routed *routed, struct links *links, uint32_t routers, uint32_t degree, uint32_t seed)
{
    char json[128];
    snprintf(json, sizeof json, "{\"type\": \"jellyfish\", \"routers\": %u, \"degree\": %u, \"seed\": %u}", routers,
             degree, seed);
    return routed_topology(routed, json) && find_links(links, &routed->topology, &routed->arena) == 0;
}

/* From a single channel and a ring up to all that are possible; connected by the contract of topologies. */
TEST(jellyfish_routers_have_as_many_neighbours_as_ports)
{
    static const uint32_t sizes[][2] = {{2, 1}, {3, 2}, {7, 2}, {64, 2}, {8, 3},    {9, 4},
                                        {6, 5}, {7, 6}, {8, 6}, {10, 7}, {100, 11}, {501, 20}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct routed routed;
        struct links links;
        uint32_t wrong = 0, reached;
        EXPECT(make_fish(&routed, &links, sizes[i][0], sizes[i][1], i));
        for (uint32_t router = 0; router < sizes[i][0]; router++)
            wrong += count_bits(row_of(&links, router), links.words) != sizes[i][1];
        struct search search;
        search_init(&search, &routed.topology, &routed.arena);
        search_from(&search, 0);
        reached = search.reached;
        EXPECT_EQ_U64(wrong, 0);
        EXPECT_EQ_U64(reached, sizes[i][0]);
        routed_release(&routed);
    }
}

TEST(jellyfish_depends_on_its_seed_alone)
{
    struct routed one, again, other;
    struct links links, same, different;
    EXPECT(make_fish(&one, &links, 40, 4, 3) && make_fish(&again, &same, 40, 4, 3) &&
           make_fish(&other, &different, 40, 4, 4));
    EXPECT(memcmp(links.rows, same.rows, sizeof(uint64_t) * 40) == 0);
    EXPECT(memcmp(links.rows, different.rows, sizeof(uint64_t) * 40) != 0);
    routed_release(&one);
    routed_release(&again);
    routed_release(&other);
}

/* Of the 70 graphs of 6 routers with 3 channels each, 10 are K(3,3), which has no triangle; 60 are prisms. */
TEST(jellyfish_graphs_are_equally_likely)
{
    uint32_t bipartite = 0;
    for (uint32_t seed = 0; seed < 700; seed++) {
        struct routed routed;
        struct links links;
        uint32_t triangles = 0;
        EXPECT(make_fish(&routed, &links, 6, 3, seed));
        for (uint32_t router = 0; router < 6; router++)
            BITS_EACH(neighbour, row_of(&links, router), 1)
                triangles += (*row_of(&links, router) & *row_of(&links, (uint32_t)neighbour)) != 0;
        bipartite += triangles == 0;
        routed_release(&routed);
    }
    EXPECT_NEAR(bipartite, 100, 6 * 9.3); /* six deviations of a binomial share of 1/7 */
}

TEST(impossible_jellyfish_are_refused)
{
    expect_topology_refused("{\"type\": \"jellyfish\", \"routers\": 15, \"degree\": 3}",
                            "an odd number of ends; accepted: degree 2 or 4, or routers 14 or 16");
    expect_topology_refused("{\"type\": \"jellyfish\", \"routers\": 8, \"degree\": 8}",
                            "there are 7 others; accepted: at most 7");
    expect_topology_refused("{\"type\": \"jellyfish\", \"routers\": 8, \"degree\": 1}", "accepted: at least 2");
    expect_topology_refused("{\"type\": \"jellyfish\", \"routers\": 16777216, \"degree\": 4, \"terminals\": 1024}",
                            "more than 2147483647 terminals");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PolarFly, PolarStar, SpectralFly, Xpander, Kautz and de Bruijn networks: sizes as
 * their papers have them, what is refused, and what is random of an Xpander. Their
 * graphs are held against others made another way in tests/reproduce/test_graphs.py.
 */
#include "test.h"

#include "routed.h"

/* Ports that lead somewhere, of all routers; half as many channels. */
static uint64_t used_ports(const struct topology *topology)
{
    uint64_t used = 0;
    struct router_port peer;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++)
            used += topology->ops->peer(topology, router, port, &peer);
    return used;
}

/* Settings, routers, ports, terminals and channels. */
struct size {
    const char *json;
    uint32_t routers, ports, terminals, channels;
};

static void expect_sizes(const struct size *sizes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct routed routed;
        EXPECT(routed_topology(&routed, sizes[i].json));
        EXPECT_EQ_U64(routed.topology.routers, sizes[i].routers);
        EXPECT_EQ_U64(routed.topology.ports, sizes[i].ports);
        EXPECT_EQ_U64(routed.topology.terminals, sizes[i].terminals);
        EXPECT_EQ_U64(used_ports(&routed.topology), 2 * (uint64_t)sizes[i].channels);
        routed_release(&routed);
    }
}
#define EXPECT_SIZES(sizes) expect_sizes(sizes, sizeof sizes / sizeof *sizes)

/*
 * q^2 + q + 1 routers and q (q + 1)^2 / 2 channels. q 9 is what SST's merlin tests, with 455 terminals; of q 2 they say 7 and
 * 9; q 31, a radix of 32, is the paper's.
 */
TEST(polarflies_have_the_sizes_of_the_literature)
{
    static const struct size sizes[] = {
        {"{\"type\": \"polarfly\", \"q\": 2}", 7, 3, 14, 9},
        {"{\"type\": \"polarfly\", \"q\": 9}", 91, 10, 455, 450},
        {"{\"type\": \"polarfly\", \"q\": 31, \"terminals\": 16}", 993, 32, 15888, 15872},
    };
    EXPECT_SIZES(sizes);
}

/* Routers with a port that is unused; distances by formula are held by the contract of topologies. */
TEST(a_polarfly_has_as_many_quadrics_as_ports)
{
    static const uint32_t orders[] = {2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 25, 27};
    for (uint32_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct routed routed;
        char json[64];
        uint32_t q = orders[i];
        snprintf(json, sizeof json, "{\"type\": \"polarfly\", \"q\": %u}", q);
        EXPECT(routed_topology(&routed, json));
        EXPECT_EQ_U64((q * q + q + 1) * (q + 1) - used_ports(&routed.topology), q + 1);
        routed_release(&routed);
    }
}

/*
 * (q^2 + q + 1) times 2 d + 2 or 2 d + 1 routers. The first is the largest of degree 8, as SST's merlin finds and tests it, with
 * 504 terminals. With inductive_quad no port is unused; with paley those of quadrics are, one at each of (q + 1) (2 d + 1).
 */
TEST(polarstars_have_the_sizes_of_the_literature)
{
    static const struct size sizes[] = {
        {"{\"type\": \"polarstar\", \"q\": 4, \"supernode_degree\": 3}", 168, 8, 504, 168 * 8 / 2},
        {"{\"type\": \"polarstar\", \"q\": 11, \"supernode_degree\": 3}", 1064, 15, 5320, 1064 * 15 / 2},
        {"{\"type\": \"polarstar\", \"q\": 8, \"supernode\": \"paley\", \"supernode_degree\": 6}", 949, 15, 4745,
         (949 * 15 - 9 * 13) / 2},
    };
    EXPECT_SIZES(sizes);
}

/* q^3 - q routers where p is no square modulo q, half as many where it is, and p + 1 channels. */
TEST(spectralflies_have_the_sizes_of_the_literature)
{
    static const struct size sizes[] = {
        {"{\"type\": \"spectralfly\", \"p\": 3, \"q\": 5}", 120, 4, 240, 120 * 4 / 2},
        {"{\"type\": \"spectralfly\", \"p\": 11, \"q\": 7}", 168, 12, 672, 168 * 12 / 2},
        {"{\"type\": \"spectralfly\", \"p\": 5, \"q\": 7}", 336, 6, 672, 336 * 6 / 2},
        {"{\"type\": \"spectralfly\", \"p\": 23, \"q\": 11}", 660, 24, 5280, 660 * 24 / 2},
        {"{\"type\": \"spectralfly\", \"p\": 23, \"q\": 13}", 1092, 24, 8736, 1092 * 24 / 2},
    };
    EXPECT_SIZES(sizes);
}

/* k (d + 1) routers, whichever lifts make k; d^n + d^(n-1) words and d channels each; d^n, and d channels less. */
TEST(lifts_and_words_have_the_sizes_of_the_literature)
{
    static const struct size sizes[] = {
        {"{\"type\": \"xpander\", \"degree\": 5, \"lifts\": [8]}", 48, 5, 96, 120},
        {"{\"type\": \"xpander\", \"degree\": 5, \"lifts\": [2, 2, 2]}", 48, 5, 96, 120},
        {"{\"type\": \"kautz\", \"degree\": 2, \"diameter\": 3}", 12, 4, 12, 24},
        {"{\"type\": \"kautz\", \"degree\": 4, \"diameter\": 4, \"terminals\": 3}", 320, 8, 960, 1280},
        {"{\"type\": \"de_bruijn\", \"degree\": 2, \"diameter\": 10}", 1024, 4, 1024, 2046},
        {"{\"type\": \"de_bruijn\", \"degree\": 3, \"diameter\": 4}", 81, 6, 81, 240},
    };
    EXPECT_SIZES(sizes);
}

/* ---- refusals ---- */

TEST(polarities_of_no_field_or_supernode_are_refused)
{
    expect_topology_refused("{\"type\": \"polarfly\", \"q\": 6}", "no power of a prime; the nearest that are: 5 and 7");
    expect_topology_refused("{\"type\": \"polarfly\", \"q\": 1}", "1 is below 2");
    expect_topology_refused("{\"type\": \"polarstar\", \"q\": 10}", "9 and 11");
    expect_topology_refused("{\"type\": \"polarstar\", \"supernode_degree\": 5}",
                            "no inductive_quad graph of degree 5; the nearest that are: 4 and 7");
    expect_topology_refused("{\"type\": \"polarstar\", \"supernode\": \"paley\", \"supernode_degree\": 10}",
                            "no paley graph of degree 10; the nearest that are: 8 and 12");
    expect_topology_refused("{\"type\": \"polarstar\", \"supernode\": \"paley\", \"supernode_degree\": 0}",
                            "the nearest that are: 2");
    expect_topology_refused("{\"type\": \"polarstar\", \"q\": 1024, \"terminals\": 1}",
                            "more than 2147483647 channels");
}

TEST(ramanujan_graphs_of_no_two_primes_are_refused)
{
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 9, \"q\": 7}",
                            "9 is no odd prime; the nearest that are: 7 and 11");
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 5, \"q\": 8}",
                            "8 is no odd prime; the nearest that are: 7 and 11");
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 7, \"q\": 7}", "accepted: two different odd primes");
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 13, \"q\": 7}",
                            "accepted: q from 11 on, or p up to 11");
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 5, \"q\": 3}", "accepted: q from 7 on");
    expect_topology_refused("{\"type\": \"spectralfly\", \"p\": 3, \"q\": 821, \"terminals\": 1}",
                            "more than 2147483647 channels");
}

TEST(too_many_copies_and_words_are_refused)
{
    expect_topology_refused("{\"type\": \"xpander\", \"degree\": 2}", "2 is below 3");
    expect_topology_refused("{\"type\": \"xpander\", \"lifts\": [65536, 65536, 2]}", "more than 2147483647 terminals");
    expect_topology_refused("{\"type\": \"kautz\", \"degree\": 1}", "1 is below 2");
    expect_topology_refused("{\"type\": \"kautz\", \"degree\": 2, \"diameter\": 30}", "more than 2147483647 channels");
    expect_topology_refused("{\"type\": \"de_bruijn\", \"degree\": 2, \"diameter\": 30}",
                            "more than 2147483647 channels");
    expect_topology_refused("{\"type\": \"de_bruijn\", \"degree\": 32768, \"diameter\": 30}",
                            "more than 2147483647 terminals");
}

/* ---- what is random ---- */

static uint32_t router_behind(const struct topology *topology, uint32_t router, uint32_t port)
{
    struct router_port peer = {0};
    EXPECT(topology->ops->peer(topology, router, port, &peer));
    return peer.router;
}

static bool same_graph(const struct topology *one, const struct topology *other)
{
    uint32_t differ = 0;
    for (uint32_t router = 0; router < one->routers; router++)
        for (uint32_t port = 0; port < one->ports; port++)
            differ += router_behind(one, router, port) != router_behind(other, router, port);
    return differ == 0;
}

static bool make_xpander(struct routed *routed, uint32_t degree, uint32_t lift, uint32_t seed)
{
    char json[128];
    snprintf(json, sizeof json, "{\"type\": \"xpander\", \"degree\": %u, \"lifts\": [%u], \"seed\": %u}", degree, lift,
             seed);
    return routed_topology(routed, json);
}

TEST(xpander_depends_on_its_seed_alone)
{
    struct routed one, again, other;
    EXPECT(make_xpander(&one, 4, 8, 3) && make_xpander(&again, 4, 8, 3) && make_xpander(&other, 4, 8, 4));
    EXPECT(same_graph(&one.topology, &again.topology));
    EXPECT(!same_graph(&one.topology, &other.topology));
    routed_release(&one);
    routed_release(&again);
    routed_release(&other);
}

static bool is_bipartite(const struct topology *topology, struct arena *arena)
{
    struct search search;
    uint32_t odd = 0;
    search_init(&search, topology, arena);
    search_from(&search, 0);
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++)
            odd += search.distance[router] % 2 == search.distance[router_behind(topology, router, port)] % 2;
    return odd == 0;
}

/*
 * Channels of four routers that are all joined: six. Of the 2^6 lifts by 2 each eight are the same graph, since the three
 * channels of a spanning tree can be lifted in any way. Of these eight graphs one falls apart and is drawn again, and in one
 * all four triangles become hexagons, so that no odd circle is left: a cube.
 */
TEST(lifts_of_four_routers_are_equally_likely)
{
    uint32_t cubes = 0;
    for (uint32_t seed = 0; seed < 700; seed++) {
        struct routed routed;
        EXPECT(make_xpander(&routed, 3, 2, seed));
        cubes += is_bipartite(&routed.topology, &routed.arena);
        routed_release(&routed);
    }
    EXPECT_NEAR(cubes, 100, 6 * 9.3); /* six deviations of a binomial share of 1/7 */
}

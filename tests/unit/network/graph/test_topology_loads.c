/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact channel loads of minimal routing on the topologies of large machines, by
 * adding up all ways with their probabilities, against the throughput bounds of
 * the literature: 1 / the largest load when each terminal sends one flit a cycle,
 * the terminals' own channels among them, so that no bound is above 1.
 */
#include "test.h"

#include "flitwarp/dragonfly.h"
#include "routed.h"

/* Which share of a terminal's flits goes to another terminal. */
typedef double share_function(const struct topology *topology, uint32_t source, uint32_t destination);

static double uniform(const struct topology *topology, uint32_t source, uint32_t destination)
{
    (void)source, (void)destination;
    return 1.0 / topology->terminals;
}

/* Router i to router i + 1, all terminals of it alike. */
static double next_router(const struct topology *topology, uint32_t source, uint32_t destination)
{
    uint32_t next = (topology_router_of(topology, source) + 1) % topology->routers;
    return topology_router_of(topology, destination) == next ? 1.0 / topology->concentration : 0;
}

static double bound_of(const double *loads, size_t channels)
{
    double most = 1;
    for (size_t channel = 0; channel < channels; channel++)
        most = loads[channel] > most ? loads[channel] : most;
    return 1 / most;
}

/* Terminals of one router are alike: the first of each stands for all of them. */
static double minimal_bound(const char *json, share_function *share)
{
    struct routed routed;
    EXPECT(routed_init(&routed, json, "{\"type\": \"minimal\"}", 8));
    const struct topology *topology = &routed.topology;
    uint32_t *first = arena_array(&routed.arena, uint32_t, topology->routers);
    uint32_t *count = arena_array(&routed.arena, uint32_t, topology->routers);
    size_t channels = (size_t)topology->routers * topology->ports;
    routed.load = arena_array(&routed.arena, double, channels);
    for (uint32_t terminal = topology->terminals; terminal-- > 0;) {
        first[topology_router_of(topology, terminal)] = terminal;
        count[topology_router_of(topology, terminal)]++;
    }
    for (uint32_t from = 0; from < topology->routers; from++)
        for (uint32_t to = 0; to < topology->routers; to++)
            if (count[from] && count[to] && share(topology, first[from], first[to]) > 0)
                routed_walk(&routed, first[from], first[to],
                            count[from] * count[to] * share(topology, first[from], first[to]));
    double bound = bound_of(routed.load, channels);
    routed_release(&routed);
    return bound;
}

TEST(flattened_butterfly_bounds_are_those_of_the_literature)
{
    static const char flat[] = "{\"type\": \"hyperx\", \"widths\": [32], \"concentration\": 32}";
    EXPECT_NEAR(minimal_bound(flat, uniform), 1, 1e-9);
    EXPECT_NEAR(minimal_bound(flat, next_router), 1.0 / 32, 1e-9);
}

/* A channel of a dimension of width k carries 1/k of what k^(n-1) rows of terminals send: 1 where there are k of them. */
TEST(square_hyperx_carries_uniform_traffic)
{
    EXPECT_NEAR(minimal_bound("{\"type\": \"hyperx\", \"widths\": [4, 4], \"concentration\": 4}", uniform), 1, 1e-9);
    EXPECT_NEAR(minimal_bound("{\"type\": \"hyperx\", \"widths\": [4, 4], \"concentration\": 8}", uniform), 0.5, 1e-9);
}

TEST(fat_tree_carries_uniform_traffic)
{
    EXPECT_NEAR(minimal_bound("{\"type\": \"folded_clos\", \"radix\": 8, \"levels\": 3}", uniform), 1, 1e-9);
    EXPECT_NEAR(minimal_bound("{\"type\": \"folded_clos\", \"radix\": 8, \"levels\": 2}", uniform), 1, 1e-9);
}

/* 8 terminals at a leaf share 4 ports up, and 3 of 4 flits leave the leaf. */
TEST(tapered_tree_carries_what_its_ports_up_do)
{
    EXPECT_NEAR(minimal_bound("{\"type\": \"folded_clos\", \"down\": [8, 4], \"up\": [4]}", uniform), 4 / (8 * 0.75),
                1e-9);
}

/*
 * 4 terminals at each of 50 routers send to all alike: 7 routers are one channel away and 42 are two, so that 200 * 91 / 50
 * flits share 350 channels, by the symmetry of this graph evenly.
 */
TEST(slim_fly_of_5_carries_what_the_moore_bound_says)
{
    EXPECT_NEAR(minimal_bound("{\"type\": \"slim_fly\", \"q\": 5, \"terminals\": 4}", uniform), 350.0 / 364, 1e-9);
}

/* Every channel of a butterfly carries exactly one flit a cycle. */
TEST(butterfly_is_filled_by_uniform_traffic)
{
    struct routed routed;
    EXPECT(
        routed_init(&routed, "{\"type\": \"butterfly\", \"radix\": 3, \"stages\": 3}", "{\"type\": \"minimal\"}", 2));
    uint32_t terminals = routed.topology.terminals, channels = routed.topology.routers * routed.topology.ports, odd = 0;
    routed.load = arena_array(&routed.arena, double, channels);
    for (uint32_t source = 0; source < terminals; source++)
        for (uint32_t destination = 0; destination < terminals; destination++) {
            struct walk walk = routed_walk(&routed, source, destination, 1.0 / terminals);
            odd += walk.went_astray || walk.min_hops != 2 || walk.max_hops != 2;
        }
    for (uint32_t channel = 0; channel < channels; channel++) {
        bool is_forward = channel % 6 < 3 && channel / 6 < 18;
        odd += routed.load[channel] < is_forward - 1e-9 || routed.load[channel] > is_forward + 1e-9;
    }
    EXPECT_EQ_U64(odd, 0);
    routed_release(&routed);
}

/* ---- dragonfly: at most one local, one global, one local channel, as Kim et al. have it ---- */

static void add_hierarchical_way(const struct topology *topology, double *loads, uint32_t from, uint32_t to,
                                 double weight)
{
    const struct dragonfly *dragonfly = topology_dragonfly(topology);
    uint32_t here = dragonfly_group(dragonfly, from), there = dragonfly_group(dragonfly, to);
    uint32_t place = dragonfly_place(dragonfly, from), target = dragonfly_place(dragonfly, to);
    if (here != there) {
        const struct dragonfly_gate *out = dragonfly_gates(dragonfly, here, there);
        if (out->place != place)
            loads[(size_t)from * topology->ports + dragonfly_local_port(place, out->place)] += weight;
        loads[(size_t)dragonfly_router(dragonfly, here, out->place) * topology->ports + out->port] += weight;
        place = dragonfly_gates(dragonfly, there, here)->place;
    }
    if (place != target)
        loads[(size_t)dragonfly_router(dragonfly, there, place) * topology->ports +
              dragonfly_local_port(place, target)] += weight;
}

/* All groups send to the one `shift` further on; 0: everybody sends to everybody. */
static double dragonfly_bound(uint32_t h, const char *arrangement, uint32_t shift)
{
    struct routed routed;
    char json[192];
    snprintf(json, sizeof json,
             "{\"type\": \"dragonfly\", \"terminals\": %u, \"routers\": %u, \"global\": %u, \"arrangement\": \"%s\"}",
             h, 2 * h, h, arrangement);
    EXPECT(routed_topology(&routed, json));
    const struct topology *topology = &routed.topology;
    const struct dragonfly *dragonfly = topology_dragonfly(topology);
    size_t channels = (size_t)topology->routers * topology->ports;
    double *loads = arena_array(&routed.arena, double, channels);
    double weight = (double)h * h / (shift ? h * dragonfly->routers : topology->terminals);
    for (uint32_t from = 0; from < topology->routers; from++)
        for (uint32_t to = 0; to < topology->routers; to++) {
            uint32_t next = (dragonfly_group(dragonfly, from) + shift) % dragonfly->groups;
            if (!shift || dragonfly_group(dragonfly, to) == next)
                add_hierarchical_way(topology, loads, from, to, weight);
        }
    double bound = bound_of(loads, channels);
    routed_release(&routed);
    return bound;
}

TEST(dragonfly_bounds_are_those_of_the_literature)
{
    static const char *const arrangements[] = {"absolute", "relative", "circulant", "palm_tree"};
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_NEAR(dragonfly_bound(2, arrangements[i], 0), 1, 1e-9);
        EXPECT_NEAR(dragonfly_bound(2, arrangements[i], 1), 1.0 / 8, 1e-9);
        EXPECT_NEAR(dragonfly_bound(2, arrangements[i], 2), 1.0 / 8, 1e-9);
        EXPECT_NEAR(dragonfly_bound(4, arrangements[i], 0), 1, 1e-9);
        EXPECT_NEAR(dragonfly_bound(4, arrangements[i], 1), 1.0 / 32, 1e-9);
        EXPECT_NEAR(dragonfly_bound(4, arrangements[i], 4), 1.0 / 32, 1e-9);
    }
}

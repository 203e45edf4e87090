/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing algorithms by themselves, without a router. Every algorithm on every
 * topology that it accepts delivers from everywhere to everywhere. Channel loads,
 * found exactly by adding up all routes with their probabilities, give the
 * throughput bounds of the literature: the bound is 1 / the largest load when
 * each terminal sends one flit a cycle.
 */
#include "test.h"

#include "fitting.h"
#include "flitwarp/dragonfly.h"
#include "flitwarp/tree.h"

#define TORUS "{\"type\": \"torus\", \"widths\": [8, 8]}"
#define MESH "{\"type\": \"mesh\", \"widths\": [8, 8]}"

static const struct fitting topologies[] = {
    {"{\"type\": \"torus\", \"widths\": [4, 4]}", "grid flat"},
    {"{\"type\": \"torus\", \"widths\": [2, 5], \"channels\": [2, 1], \"concentration\": 2}", "grid flat"},
    {"{\"type\": \"torus\", \"widths\": [3, 2, 3]}", "grid"},
    {"{\"type\": \"torus\", \"widths\": [7]}", "grid"},
    {"{\"type\": \"mesh\", \"widths\": [4, 3], \"concentration\": 2}", "grid flat"},
    {"{\"type\": \"mesh\", \"widths\": [3, 3, 2]}", "grid"},
    {"{\"type\": \"hypercube\", \"dimensions\": 4}", "grid"},
    {"{\"type\": \"parking_lot\", \"stops\": 5}", "grid"},
    {"{\"type\": \"single_router\", \"terminals\": 6}", "single"},
    {"{\"type\": \"hyperx\", \"widths\": [3, 4], \"concentration\": 2}", "hyperx"},
    {"{\"type\": \"hyperx\", \"widths\": [4, 2, 2], \"channels\": [1, 2, 1]}", "hyperx"},
    {"{\"type\": \"hyperx\", \"widths\": [6], \"concentration\": 3}", "hyperx"},
    {"{\"type\": \"dragonfly\"}", "dragonfly"},
    {"{\"type\": \"dragonfly\", \"terminals\": 1, \"routers\": 3, \"global\": 2, \"groups\": 3}", "dragonfly"},
    {"{\"type\": \"dragonfly\", \"terminals\": 1, \"routers\": 2, \"groups\": 2}", "dragonfly"},
    {"{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2, \"groups\": 4}", "dragonfly rows"},
    {"{\"type\": \"dragonfly_2d\", \"columns\": 2, \"rows\": 2, \"column_channels\": 3, \"global\": 2, \"groups\": 3}",
     "dragonfly rows"},
    {"{\"type\": \"megafly\", \"terminals\": 1}", "dragonfly"},
    {"{\"type\": \"megafly\", \"leaves\": 2, \"spines\": 3, \"global\": 2, \"groups\": 3}", "dragonfly"},
    {"{\"type\": \"folded_clos\", \"radix\": 4}", "tree"},
    {"{\"type\": \"folded_clos\", \"down\": [2, 3], \"up\": [2]}", "tree"},
    {"{\"type\": \"butterfly\", \"radix\": 3, \"stages\": 3}", "butterfly"},
    {"{\"type\": \"butterfly\", \"radix\": 4, \"stages\": 1}", "butterfly single"},
    {"{\"type\": \"slim_fly\", \"q\": 3, \"terminals\": 1}", "fly"},
    {"{\"type\": \"bcube\", \"n\": 3, \"k\": 1}", "bcube"},
    {"{\"type\": \"dcell\", \"n\": 3, \"k\": 1}", "dcell"},
    {"{\"type\": \"spidergon\", \"routers\": 10}", "spidergon"},
    {"{\"type\": \"hierarchical_rings\", \"widths\": [3, 2]}", "rings"},
    {"{\"type\": \"express_cube\", \"widths\": [5, 3], \"interval\": [2]}", "express"},
    {"{\"type\": \"hamming_mesh\", \"board\": [2, 1], \"boards\": [2, 2]}", "hamming"},
    {"{\"type\": \"interposer\", \"layout\": \"kite_small\", \"rows\": 3, \"columns\": 3}", "interposer"},
    {"{\"type\": \"bcube\", \"n\": 2, \"k\": 2}", "bcube"},
    {"{\"type\": \"spidergon\", \"routers\": 8, \"concentration\": 2}", "spidergon"},
    {"{\"type\": \"hierarchical_rings\", \"widths\": [2, 2, 2]}", "rings"},
    {"{\"type\": \"hamming_mesh\", \"board\": [1, 1], \"boards\": [3, 1], \"radix\": 4}", "hamming"},
    {"{\"type\": \"hamming_mesh\", \"board\": [8, 1], \"boards\": [1, 1]}", "hamming"},
};

static const struct fitting algorithms[] = {
    {"{\"type\": \"dimension_order\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"dateline\": \"fixed\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"dateline\": \"by_wrap\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"tie\": \"up\", \"dateline\": \"none\"}", "grid hyperx"},
    {"{\"type\": \"minimal\"}", "any"},
    {"{\"type\": \"minimal\", \"select\": \"all\"}", "any"},
    {"{\"type\": \"minimal\", \"select\": \"first\", \"vcs\": \"all\"}", "any"},
    {"{\"type\": \"minimal_adaptive\"}", "any"},
    {"{\"type\": \"minimal_adaptive\", \"reduction\": \"all_minimal\", \"mode\": \"port_average\"}", "any"},
    {"{\"type\": \"valiant\"}", "any"},
    {"{\"type\": \"valiant\", \"intermediate\": \"router\"}", "any"},
    {"{\"type\": \"valiant\", \"intermediate\": \"group\"}", "dragonfly"},
    {"{\"type\": \"valiant\", \"intermediate\": \"unaligned\"}", "hyperx"},
    {"{\"type\": \"valiant\", \"intermediate\": \"source\"}", "hyperx"},
    {"{\"type\": \"valiant\", \"intermediate\": \"destination\"}", "hyperx"},
    {"{\"type\": \"valiant\", \"intermediate\": \"source_destination\"}", "hyperx"},
    {"{\"type\": \"ugal\"}", "any"},
    {"{\"type\": \"ugal\", \"knowledge\": \"global\", \"intermediate\": \"router\"}", "any"},
    {"{\"type\": \"par\"}", "any"},
    {"{\"type\": \"par\", \"intermediate\": \"router\"}", "any: dragonfly"},
    {"{\"type\": \"dragonfly_minimal\"}", "dragonfly"},
    {"{\"type\": \"dragonfly_minimal\", \"channel\": \"random\"}", "dragonfly"},
    {"{\"type\": \"dragonfly_minimal\", \"local_order\": \"column_first\"}", "dragonfly: rows"},
    {"{\"type\": \"par\", \"local_order\": \"either\"}", "dragonfly: rows"},
    {"{\"type\": \"dal\", \"mode\": \"port_average\"}", "hyperx"},
    {"{\"type\": \"omniwar\", \"mode\": \"port_average\"}", "hyperx"},
    {"{\"type\": \"omniwar\", \"mode\": \"port_average\", \"deroutes\": 0}", "hyperx"},
    {"{\"type\": \"least_congested_queue\", \"mode\": \"port_average\"}", "hyperx"},
    {"{\"type\": \"skipping_dimensions\", \"rounds\": 3, \"deroutes\": true}", "hyperx"},
    {"{\"type\": \"up_down\", \"mode\": \"port_average\"}", "tree"},
    {"{\"type\": \"up_down\", \"selection\": \"random\", \"common_ancestor\": \"top\"}", "tree"},
    {"{\"type\": \"up_down\", \"selection\": \"deterministic\"}", "tree"},
    {"{\"type\": \"up_down\", \"selection\": \"hash\"}", "tree"},
    {"{\"type\": \"destination_tag\"}", "butterfly"},
    {"{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}", "grid"},
    {"{\"type\": \"duato\"}", "grid"},
    {"{\"type\": \"fully_adaptive\"}", "grid"},
    {"{\"type\": \"o1turn\"}", "flat hyperx"},
    {"{\"type\": \"o1turn\", \"dateline\": \"fixed\"}", "flat hyperx"},
    {"{\"type\": \"voq\"}", "single"},
    {"{\"type\": \"bcube_order\"}", "bcube"},
    {"{\"type\": \"bcube_order\", \"start\": \"any\"}", "bcube"},
    {"{\"type\": \"across_first\"}", "spidergon"},
    {"{\"type\": \"ring_levels\"}", "rings"},
    {"{\"type\": \"express_cube_order\"}", "express"},
    {"{\"type\": \"hamming_mesh_order\"}", "hamming"},
    {"{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}", "hamming"},
};

/* Everything goes home with certainty; minimal algorithms in the fewest hops, others in at most twice the diameter and
   one more, or a hop for each VC class. Where a passage through a group takes up to two local channels: two global ones
   and two local ones for each class. */
static void expect_delivery(struct routed *routed)
{
    const struct topology *topology = &routed->topology;
    bool is_minimal = routed->routing.ops->is_minimal, goes_up = topology_tree(topology) != NULL;
    uint32_t longest = routed->routing.classes, wrong = 0, detours = 0;
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t distance = routed_distance(routed, 0, router);
        longest = 2 * distance + 1 > longest ? 2 * distance + 1 : longest;
    }
    if (topology_dragonfly(topology) && topology_dragonfly(topology)->shape != GROUP_ALL_TO_ALL)
        longest = 2 + 2 * routed->routing.classes;
    for (uint32_t source = 0; source < topology->terminals; source++)
        for (uint32_t destination = 0; destination < topology->terminals; destination++) {
            struct walk walk = routed_walk(routed, source, destination, 1);
            uint32_t distance = routed_distance(routed, topology_router_of(topology, source),
                                                topology_ejects_at(topology, destination));
            wrong += walk.went_astray || walk.delivered < 1 - 1e-9 || walk.delivered > 1 + 1e-9;
            bool is_home = distance == 0 && !goes_up; /* a packet for its own router stays there */
            detours += walk.min_hops < distance || walk.max_hops > (is_minimal || is_home ? distance : longest);
        }
    EXPECT_EQ_U64(wrong, 0);
    EXPECT_EQ_U64(detours, 0);
}

TEST(every_algorithm_delivers_from_everywhere_to_everywhere)
{
    uint32_t accepted = 0;
    for (uint32_t t = 0; t < COUNT_OF(topologies); t++)
        for (uint32_t a = 0; a < COUNT_OF(algorithms); a++) {
            struct routed routed;
            if (fitting_init(&routed, &topologies[t], &algorithms[a], 16)) {
                expect_delivery(&routed);
                accepted++;
            }
            routed_release(&routed);
        }
    /* Nothing of this takes more than 16 VCs. */
    uint32_t expected = 0;
    for (uint32_t t = 0; t < COUNT_OF(topologies); t++)
        for (uint32_t a = 0; a < COUNT_OF(algorithms); a++)
            expected += fits(&topologies[t], &algorithms[a]);
    EXPECT_EQ_U64(accepted, expected);
    EXPECT(accepted > 300);
}

/* ---- throughput bounds ---- */

static uint32_t uniform(uint32_t source) { return source; } /* stands for all destinations */
static uint32_t tornado(uint32_t source) { return source / 8 * 8 + (source % 8 + 3) % 8; }
static uint32_t bit_complement(uint32_t source) { return source ^ 63; }
static uint32_t transpose(uint32_t source) { return source % 8 * 8 + source / 8; }
static uint32_t shuffle(uint32_t source) { return (source << 1 & 63) | source >> 5; }

static uint32_t bit_reverse(uint32_t source)
{
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < 6; i++)
        reversed |= (source >> i & 1) << (5 - i);
    return reversed;
}

/* Every source sends one flit: to its partner, or with a set of partners an equal share to each of them. */
static double bound_of(const char *topology, const char *algorithm, uint32_t (*pattern)(uint32_t source),
                       uint32_t partners)
{
    struct routed routed;
    double most = 0;
    if (!routed_init(&routed, topology, algorithm, 8))
        return -1;
    uint32_t channels = routed.topology.routers * routed.topology.ports, terminals = routed.topology.terminals;
    routed.load = arena_array(&routed.arena, double, channels);
    for (uint32_t source = 0; source < terminals; source++)
        for (uint32_t i = 0; i < (pattern == uniform ? terminals : partners); i++)
            routed_walk(&routed, source, pattern == uniform ? i : pattern(source) + i,
                        1.0 / (pattern == uniform ? terminals : partners));
    for (uint32_t channel = 0; channel < channels; channel++)
        most = routed.load[channel] > most ? routed.load[channel] : most;
    routed_release(&routed);
    return 1 / most;
}

static double bound(const char *topology, const char *algorithm, uint32_t (*pattern)(uint32_t))
{
    return bound_of(topology, algorithm, pattern, 1);
}

TEST(torus_bounds_are_those_of_the_literature)
{
    static const char algorithm[] = "{\"type\": \"dimension_order\"}";
    EXPECT_NEAR(bound(TORUS, algorithm, uniform), 1, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, tornado), 1.0 / 3, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, bit_complement), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, transpose), 2.0 / 7, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, bit_reverse), 2.0 / 7, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, shuffle), 2.0 / 7, 1e-9);
}

TEST(ties_that_always_go_up_are_a_trap)
{
    static const char algorithm[] = "{\"type\": \"dimension_order\", \"tie\": \"up\"}";
    EXPECT_NEAR(bound(TORUS, algorithm, uniform), 4.0 / 5, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, tornado), 1.0 / 3, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, bit_complement), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, transpose), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, shuffle), 1.0 / 4, 1e-9);
}

TEST(mesh_bounds_are_those_of_the_literature)
{
    static const char algorithm[] = "{\"type\": \"dimension_order\"}";
    EXPECT_NEAR(bound(MESH, algorithm, uniform), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, tornado), 1.0 / 3, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, bit_complement), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, transpose), 1.0 / 7, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, bit_reverse), 1.0 / 7, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, shuffle), 1.0 / 4, 1e-9);
}

TEST(o1turn_bounds_are_those_of_the_literature)
{
    static const char algorithm[] = "{\"type\": \"o1turn\"}";
    EXPECT_NEAR(bound(MESH, algorithm, uniform), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, bit_complement), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, transpose), 2.0 / 7, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, bit_reverse), 2.0 / 7, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, shuffle), 1.0 / 3, 1e-9);
}

TEST(valiant_bounds_are_those_of_the_literature)
{
    static const char algorithm[] = "{\"type\": \"valiant\"}";
    /* One in 64 packets of uniform traffic is for its own router and stays there: 63/64 of the rest is 1/2 and 1/4. */
    EXPECT_NEAR(bound(TORUS, algorithm, uniform), 32.0 / 63, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, tornado), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(TORUS, algorithm, transpose), 8.0 / 15, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, uniform), 16.0 / 63, 1e-9);
    EXPECT_NEAR(bound(MESH, algorithm, transpose), 4.0 / 15, 1e-9);
}

/* To all terminals of a group of a dragonfly, of which there are 8 or 32. */
static uint32_t group_after(uint32_t source, uint32_t after, uint32_t groups, uint32_t terminals)
{
    return (source / terminals + after) % groups * terminals;
}
static uint32_t next_of_9(uint32_t source) { return group_after(source, 1, 9, 8); }
static uint32_t second_of_9(uint32_t source) { return group_after(source, 2, 9, 8); }
static uint32_t next_of_33(uint32_t source) { return group_after(source, 1, 33, 32); }
static uint32_t fourth_of_33(uint32_t source) { return group_after(source, 4, 33, 32); }

TEST(dragonfly_bounds_of_minimal_and_valiant_are_those_of_the_literature)
{
    static const char small[] = "{\"type\": \"dragonfly\"}", minimal[] = "{\"type\": \"dragonfly_minimal\"}";
    static const char large[] = "{\"type\": \"dragonfly\", \"terminals\": 4, \"routers\": 8, \"global\": 4}";
    static const char valiant[] = "{\"type\": \"valiant\"}";
    EXPECT_NEAR(bound(small, minimal, uniform), 18.0 / 17, 1e-9); /* so that terminals limit it to 1 */
    EXPECT_NEAR(bound_of(small, minimal, next_of_9, 8), 1.0 / 8, 1e-9);
    EXPECT_NEAR(bound_of(small, minimal, second_of_9, 8), 1.0 / 8, 1e-9);
    EXPECT_NEAR(bound_of(large, minimal, next_of_33, 32), 1.0 / 32, 1e-9);
    EXPECT_NEAR(bound_of(large, minimal, fourth_of_33, 32), 1.0 / 32, 1e-9);
    EXPECT_NEAR(bound(small, valiant, uniform), 18.0 / 35, 1e-9);
    EXPECT_NEAR(bound_of(small, valiant, next_of_9, 8), 7.0 / 16, 1e-9);
    /* From a router where many groups' channels end, all take one local channel on. */
    EXPECT_NEAR(bound_of(small, valiant, second_of_9, 8), 7.0 / 24, 1e-9);
    EXPECT_NEAR(bound_of(large, valiant, next_of_33, 32), 31.0 / 64, 1e-9);
    EXPECT_NEAR(bound_of(large, valiant, fourth_of_33, 32), 31.0 / 160, 1e-9);
}

static uint32_t next_of_5(uint32_t source) { return group_after(source, 1, 5, 4); }
static uint32_t next_of_7(uint32_t source) { return group_after(source, 1, 7, 6); }

/*
 * Two leaves with two terminals each and two spines with two global channels each: 5 groups of 4 terminals, and one
 * channel between every two. A global channel carries 4 x 4/20 of uniform traffic; a channel from a leaf to a spine 2 x
 * 4/20 for each of the two groups behind the spine, and half of 2 x 2/20 for the other leaf: 0.9. Of next-group traffic
 * one channel carries 4; with Valiant's detours all channels of a group but that one carry 4/3 of its own, and 4/3 of
 * others' second halves: 8/3.
 */
TEST(megafly_bounds_follow_from_its_channels)
{
    static const char megafly[] = "{\"type\": \"megafly\"}", minimal[] = "{\"type\": \"dragonfly_minimal\"}";
    EXPECT_NEAR(bound(megafly, minimal, uniform), 10.0 / 9, 1e-9);
    EXPECT_NEAR(bound_of(megafly, minimal, next_of_5, 4), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound_of(megafly, "{\"type\": \"valiant\"}", next_of_5, 4), 3.0 / 8, 1e-9);
    EXPECT_NEAR(bound(megafly, "{\"type\": \"valiant\"}", uniform), 5.0 / 9,
                1e-9); /* 9 of 10 cross two of 4 channels */
}

/*
 * Groups of 3 columns and 2 rows, a terminal and a global channel at each router: 7 groups of 6, and one channel between
 * every two, which carries 6 x 6/42 of uniform traffic. The channel of a column carries what comes along its row of 3 for
 * the router at its end: 3/7 for other groups, 3/7 from other groups, and 3/42 of the group's own: 13/14, or half of that
 * where there are two channels. Next-group traffic as above: 6, and 2 x 6/5.
 */
TEST(dragonfly_2d_bounds_follow_from_its_channels)
{
    static const char one[] = "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2}";
    static const char two[] =
        "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2, \"column_channels\": 2}";
    static const char minimal[] = "{\"type\": \"dragonfly_minimal\"}", valiant[] = "{\"type\": \"valiant\"}";
    EXPECT_NEAR(bound(one, minimal, uniform), 14.0 / 13, 1e-9);
    EXPECT_NEAR(bound(two, minimal, uniform), 7.0 / 6, 1e-9);
    EXPECT_NEAR(bound_of(one, minimal, next_of_7, 6), 1.0 / 6, 1e-9);
    EXPECT_NEAR(bound_of(two, valiant, next_of_7, 6), 5.0 / 12, 1e-9);
    /* Every packet but those for their own router crosses two of the global channels, of which there is one a terminal. */
    EXPECT_NEAR(bound(two, valiant, uniform), 21.0 / 41, 1e-9);
}

static uint32_t next_router(uint32_t source) { return (source + 8) % 64; }
static uint32_t next_in_row(uint32_t source) { return source / 32 * 32 + (source + 4) % 32; }

/* Every server has a channel to a switch of each level, and n - 1 of n packets change their digit: all loads are alike. */
TEST(bcube_bounds_follow_from_its_digits)
{
    EXPECT_NEAR(bound("{\"type\": \"bcube\", \"n\": 4, \"k\": 1}", "{\"type\": \"bcube_order\"}", uniform), 4.0 / 3,
                1e-9);
    EXPECT_NEAR(
        bound("{\"type\": \"bcube\", \"n\": 3, \"k\": 2}", "{\"type\": \"bcube_order\", \"start\": \"any\"}", uniform),
        3.0 / 2, 1e-9);
}

/*
 * Upwards round 16 routers: 1 + 2 + 3 + 4 hops to those up to a quarter away, and 1 + 2 + 3 to those next to the opposite
 * one, 16 hops on 16 channels. Of 8: (1 + 2 + 1) / 8.
 */
TEST(spidergon_bounds_follow_from_its_ring)
{
    EXPECT_NEAR(bound("{\"type\": \"spidergon\", \"routers\": 16}", "{\"type\": \"across_first\"}", uniform), 1, 1e-9);
    EXPECT_NEAR(bound("{\"type\": \"spidergon\", \"routers\": 8}", "{\"type\": \"across_first\"}", uniform), 2, 1e-9);
}

/*
 * A ring of four sends 4 x 4 / 16 = 1 to each other: round the four bridges 1 to the next and half of what goes to the
 * opposite one, two hops, so 2 on each channel, more than the 1.5 and a little that each channel to a bridge has.
 */
TEST(rings_of_rings_are_bound_by_the_last_ring)
{
    EXPECT_NEAR(bound("{\"type\": \"hierarchical_rings\", \"widths\": [4, 4]}", "{\"type\": \"ring_levels\"}", uniform),
                0.5, 1e-9);
}

/* From router 4 of a row to 5 go the packets of routers 0 to 4 for 5, 6 and 7: 5 x 3 / 8, where a mesh has 4 x 4 / 8 in its middle. */
TEST(express_cube_bounds_follow_from_its_rows)
{
    EXPECT_NEAR(bound("{\"type\": \"express_cube\", \"widths\": [8, 8], \"interval\": [4]}",
                      "{\"type\": \"express_cube_order\"}", uniform),
                8.0 / 15, 1e-9);
}

/* Every accelerator of a board of 2 x 2 has a channel to the switch of its row, and 6 of 8 packets are for another board. */
TEST(hamming_mesh_bounds_follow_from_its_switches)
{
    EXPECT_NEAR(
        bound("{\"type\": \"hamming_mesh\", \"boards\": [4, 4]}", "{\"type\": \"hamming_mesh_order\"}", uniform),
        4.0 / 3, 1e-9);
    EXPECT_NEAR(bound("{\"type\": \"hamming_mesh\", \"boards\": [4, 4]}",
                      "{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}", uniform),
                4.0 / 3, 1e-9);
}

TEST(flattened_butterfly_bounds_of_valiant_are_those_of_the_literature)
{
    static const char butterfly[] = "{\"type\": \"hyperx\", \"widths\": [8], \"concentration\": 8}";
    static const char *const minimal[] = {"{\"type\": \"dimension_order\"}", "{\"type\": \"minimal_adaptive\"}"};
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_NEAR(bound(butterfly, minimal[i], uniform), 1, 1e-9);
        EXPECT_NEAR(bound(butterfly, minimal[i], next_router), 1.0 / 8, 1e-9);
    }
    EXPECT_NEAR(bound(butterfly, "{\"type\": \"valiant\"}", next_router), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(butterfly, "{\"type\": \"valiant\"}", uniform), 4.0 / 7, 1e-9); /* 7/8 of it leaves its router */
    /* Two rows: what agrees already stays, so that a row spreads its own traffic. */
    EXPECT_NEAR(bound("{\"type\": \"hyperx\", \"widths\": [8, 2], \"concentration\": 4}",
                      "{\"type\": \"valiant\", \"intermediate\": \"unaligned\"}", next_in_row),
                1, 1e-9);
}

static uint32_t shift_20(uint32_t source) { return (source + 20) % 64; }

TEST(fat_tree_carries_permutations)
{
    static const char tree[] = "{\"type\": \"folded_clos\", \"down\": [4, 4, 4], \"up\": [4, 4]}";
    static const char small[] = "{\"type\": \"folded_clos\", \"down\": [2, 2, 2], \"up\": [2, 2]}";
    static const char deterministic[] = "{\"type\": \"up_down\", \"selection\": \"deterministic\"}";
    static const char *const spread[] = {"{\"type\": \"up_down\", \"selection\": \"random\"}",
                                         "{\"type\": \"up_down\", \"selection\": \"adaptive\"}"};
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_NEAR(bound(small, spread[i], uniform), 4.0 / 3, 1e-9); /* 2 of 8 stay at their leaf */
        EXPECT_NEAR(bound(tree, spread[i], transpose), 1, 1e-9);
        EXPECT_NEAR(bound(tree, spread[i], bit_reverse), 1, 1e-9);
        EXPECT_NEAR(bound(tree, spread[i], shuffle), 1, 1e-9);
    }
    /* A way for each destination: free of conflicts for shifts, not for permutations that send a leaf to equal digits. */
    EXPECT_NEAR(bound(tree, deterministic, uniform), 16.0 / 15, 1e-9);
    EXPECT_NEAR(bound(tree, deterministic, shift_20), 1, 1e-9);
    EXPECT_NEAR(bound(tree, deterministic, bit_complement), 1, 1e-9);
    EXPECT_NEAR(bound(tree, deterministic, transpose), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound(tree, deterministic, bit_reverse), 1.0 / 4, 1e-9);
    EXPECT_NEAR(bound(tree, deterministic, shuffle), 1.0 / 2, 1e-9);
    EXPECT_NEAR(
        bound(small, "{\"type\": \"up_down\", \"selection\": \"random\", \"common_ancestor\": \"top\"}", uniform), 1,
        1e-9); /* nothing stays below */
}

TEST(butterfly_has_one_way)
{
    static const char fly[] = "{\"type\": \"butterfly\", \"radix\": 4, \"stages\": 3}";
    static const char algorithm[] = "{\"type\": \"destination_tag\"}";
    EXPECT_NEAR(bound(fly, algorithm, uniform), 1, 1e-9);
    EXPECT_NEAR(bound(fly, algorithm, transpose), 1.0 / 2, 1e-9);
    EXPECT_NEAR(bound(fly, algorithm, bit_reverse), 1.0 / 4, 1e-9);
}

/* ---- VC classes ---- */

static uint64_t vcs_of_class(struct routed *routed, uint32_t source, uint32_t destination)
{
    uint64_t vcs[8] = {0}, found = 0;
    struct packet packet = {.source = source, .destination = destination, .destination_router = destination};
    struct route route = {.routing = &routed->routing, .packet = &packet, .router = source, .vcs = vcs};
    FW_CHECK(routed->routing.words <= 8, "%u words", routed->routing.words);
    if (routed->routing.inject)
        routed->routing.inject(&route);
    routed->routing.route(&route);
    BITS_EACH(index, vcs, routed->routing.words)
        found |= bit((uint32_t)index % routed->routing.num_vcs);
    return found;
}

TEST(fixed_dateline_leaves_class_0_to_packets_that_will_wrap)
{
    struct routed routed;
    EXPECT(routed_init(&routed, "{\"type\": \"torus\", \"widths\": [8]}",
                       "{\"type\": \"dimension_order\", \"dateline\": \"fixed\"}", 4));
    EXPECT_EQ_U64(vcs_of_class(&routed, 1, 3), 0xc);
    EXPECT_EQ_U64(vcs_of_class(&routed, 6, 1), 0x3);
    EXPECT_EQ_U64(vcs_of_class(&routed, 7, 1), 0x3);
    EXPECT_EQ_U64(vcs_of_class(&routed, 0, 1), 0xc);
    EXPECT_EQ_U64(vcs_of_class(&routed, 1, 6), 0x3);
    routed_release(&routed);
}

TEST(balanced_dateline_offers_both_classes_on_the_pivot)
{
    struct routed routed;
    EXPECT(routed_init(&routed, "{\"type\": \"torus\", \"widths\": [8]}", "{\"type\": \"dimension_order\"}", 4));
    EXPECT_EQ_U64(vcs_of_class(&routed, 1, 3), 0x3); /* lower half, not the last hop */
    EXPECT_EQ_U64(vcs_of_class(&routed, 1, 2), 0xf); /* the last hop */
    EXPECT_EQ_U64(vcs_of_class(&routed, 4, 6), 0xf); /* first hop in the upper half */
    EXPECT_EQ_U64(vcs_of_class(&routed, 6, 1), 0x3); /* before the wrap channel */
    EXPECT_EQ_U64(vcs_of_class(&routed, 7, 1), 0xf); /* on it */
    EXPECT_EQ_U64(vcs_of_class(&routed, 0, 6), 0xf); /* on it, going down */
    routed_release(&routed);
}

TEST(classes_share_all_vcs)
{
    struct routed routed;
    EXPECT(routed_init(&routed, TORUS, "{\"type\": \"valiant\"}", 7));
    EXPECT_EQ_U64(routed.routing.classes, 4);
    uint64_t all = 0;
    for (uint32_t class = 0; class < 4; class ++) {
        EXPECT_EQ_U64(all & routed.routing.class_vcs[class], 0);
        EXPECT(routed.routing.class_vcs[class] != 0);
        all |= routed.routing.class_vcs[class];
    }
    EXPECT_EQ_U64(all, 0x7f);
    routed_release(&routed);
}

TEST(voq_keeps_a_queue_for_each_output)
{
    struct routed routed;
    EXPECT(routed_init(&routed, "{\"type\": \"single_router\", \"terminals\": 4}", "{\"type\": \"voq\"}", 4));
    uint64_t vcs = 0;
    struct packet packet = {.source = 3, .destination = 2};
    struct route route = {.routing = &routed.routing, .packet = &packet, .vcs = &vcs};
    EXPECT_EQ_U64(routed.routing.ops->injection_vcs(&routed.routing, &packet), 1 << 2);
    routed.routing.route(&route);
    EXPECT_EQ_U64(vcs, 1u << (2 * 4 + 3));
    routed_release(&routed);
}

TEST(random_choices_are_even_and_independent)
{
    struct routed routed;
    EXPECT(routed_init(&routed, TORUS, "{\"type\": \"o1turn\"}", 4));
    uint32_t counts[4] = {0};
    for (uint32_t sequence = 0; sequence < 40000; sequence++) {
        uint64_t vcs = 0;
        /* from (0,0) to (4,4), half way round in both dimensions */
        struct packet packet = {.sequence = sequence, .destination = 36, .destination_router = 36};
        struct route route = {.routing = &routed.routing, .packet = &packet, .router = 0, .vcs = &vcs};
        if (routed.routing.inject)
            routed.routing.inject(&route);
        route.draws = 0;
        routed.routing.route(&route);
        counts[lowest_bit(vcs) / 4 - 1]++; /* by port: the order and the way round */
    }
    for (uint32_t port = 0; port < 4; port++)
        EXPECT_NEAR(counts[port], 10000, 400);
    routed_release(&routed);
}

static void expect_refusal(const char *topology, const char *routing, uint32_t num_vcs, const char *message)
{
    struct routed routed;
    EXPECT(!routed_init(&routed, topology, routing, num_vcs));
    EXPECT_TEXT_CONTAINS(errors_text(&routed.errors), message);
    routed_release(&routed);
}

TEST(algorithms_refuse_what_they_cannot_route)
{
    expect_refusal(TORUS, "{\"type\": \"dimension_order\"}", 1,
                   "needs 2 VCs on this topology, but network.router.num_vcs is 1");
    expect_refusal(TORUS, "{\"type\": \"minimal\"}", 7, "needs 8 VCs");
    expect_refusal("{\"type\": \"single_router\"}", "{\"type\": \"o1turn\"}", 4, "needs a grid of routers");
    expect_refusal("{\"type\": \"dragonfly\"}", "{\"type\": \"par\"}", 3, "needs 4 VCs");
    expect_refusal(TORUS, "{\"type\": \"valiant\", \"intermediate\": \"group\"}", 4,
                   "\"group\" needs topology \"dragonfly\", \"dragonfly_2d\" or \"megafly\", not \"torus\"");
    expect_refusal(TORUS, "{\"type\": \"torus_adaptive\"}", 2, "needs 3 VCs");
    expect_refusal("{\"type\": \"hyperx\", \"widths\": [40, 40]}", "{\"type\": \"omniwar\"}", 64,
                   "weighs at most 512 candidates at a router, but there may be 1716");
    expect_refusal("{\"type\": \"single_router\", \"terminals\": 9}", "{\"type\": \"voq\"}", 8, "needs 9 VCs");
    expect_refusal(TORUS, "{\"type\": \"voq\"}", 64, "needs one router");
    expect_refusal("{\"type\": \"mesh\", \"widths\": [3, 3, 3]}", "{\"type\": \"o1turn\"}", 4, "needs 2 dimensions");
    expect_refusal("{\"type\": \"spidergon\"}", "{\"type\": \"across_first\"}", 1, "needs 2 VCs");
    expect_refusal("{\"type\": \"hierarchical_rings\"}", "{\"type\": \"ring_levels\"}", 1, "needs 2 VCs");
    expect_refusal("{\"type\": \"bcube\"}", "{\"type\": \"bcube_order\", \"start\": \"any\"}", 1, "needs 2 VCs");
    expect_refusal("{\"type\": \"hamming_mesh\"}", "{\"type\": \"hamming_mesh_order\"}", 1, "needs 2 VCs");
    expect_refusal("{\"type\": \"hamming_mesh\"}", "{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}", 3,
                   "needs 4 VCs");
    expect_refusal(TORUS, "{\"type\": \"across_first\"}", 4,
                   "\"across_first\" needs topology \"spidergon\", not \"torus\"");
    expect_refusal(TORUS, "{\"type\": \"ring_levels\"}", 4,
                   "\"ring_levels\" needs topology \"hierarchical_rings\", not \"torus\"");
    expect_refusal(TORUS, "{\"type\": \"bcube_order\"}", 4, "\"bcube_order\" needs topology \"bcube\", not \"torus\"");
    expect_refusal(TORUS, "{\"type\": \"express_cube_order\"}", 4,
                   "\"express_cube_order\" needs topology \"express_cube\", not \"torus\"");
    expect_refusal(TORUS, "{\"type\": \"hamming_mesh_order\"}", 4,
                   "\"hamming_mesh_order\" needs topology \"hamming_mesh\", not \"torus\"");
    expect_refusal("{\"type\": \"mesh\", \"widths\": [129, 128]}", "{\"type\": \"minimal\"}", 4,
                   "at most 16384 routers; there are 16512");
}

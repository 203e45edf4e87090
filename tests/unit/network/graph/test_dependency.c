/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel dependency check: it clears every algorithm that claims to be free
 * of deadlock, shows the cycle of those that are not, and finds the faults of
 * algorithms that are wrong on purpose.
 */
#include "test.h"

#include "fitting.h"

#include <math.h>

#define TORUS_4X4 "{\"type\": \"torus\", \"widths\": [4, 4]}"

/* Rings of odd and even width down to the smallest, and what is not a ring. */
static const struct fitting topologies[] = {
    {TORUS_4X4, "grid flat small"},
    {"{\"type\": \"torus\", \"widths\": [5, 5]}", "grid flat small"},
    {"{\"type\": \"torus\", \"widths\": [8, 8]}", "grid flat"},
    {"{\"type\": \"torus\", \"widths\": [4, 4, 4]}", "grid"},
    {"{\"type\": \"torus\", \"widths\": [2, 2]}", "grid flat"},
    {"{\"type\": \"torus\", \"widths\": [3, 3]}", "grid flat"},
    {"{\"type\": \"torus\", \"widths\": [2, 3, 2]}", "grid small"},
    {"{\"type\": \"torus\", \"widths\": [16]}", "grid"},
    {"{\"type\": \"torus\", \"widths\": [7, 6], \"channels\": [2, 1], \"concentration\": 2}", "grid flat small"},
    {"{\"type\": \"mesh\", \"widths\": [5, 4]}", "grid flat small"},
    {"{\"type\": \"mesh\", \"widths\": [3, 3, 3]}", "grid"},
    {"{\"type\": \"hypercube\", \"dimensions\": 5}", "grid"},
    {"{\"type\": \"parking_lot\", \"stops\": 9}", "grid small"},
    {"{\"type\": \"single_router\", \"terminals\": 8}", "single"},
    {"{\"type\": \"hyperx\", \"widths\": [4, 4]}", "hyperx"},
    {"{\"type\": \"hyperx\", \"widths\": [3, 2, 3], \"channels\": [2, 1, 1]}", "hyperx"},
    {"{\"type\": \"dragonfly\"}", "dragonfly"},
    {"{\"type\": \"dragonfly\", \"routers\": 5, \"global\": 2, \"groups\": 4}", "dragonfly"},
    {"{\"type\": \"dragonfly\", \"routers\": 3, \"global\": 2, \"groups\": 2}", "dragonfly"},
    {"{\"type\": \"dragonfly\", \"arrangement\": \"circulant\"}", "dragonfly"},
    {"{\"type\": \"dragonfly_2d\", \"columns\": 3, \"rows\": 3, \"groups\": 4}", "dragonfly rows"},
    {"{\"type\": \"dragonfly_2d\", \"columns\": 2, \"rows\": 3, \"row_channels\": 2, \"global\": 2, \"groups\": 3}",
     "dragonfly rows"},
    {"{\"type\": \"megafly\", \"leaves\": 3, \"spines\": 2, \"arrangement\": \"palm_tree\"}", "dragonfly"},
    {"{\"type\": \"megafly\", \"leaves\": 2, \"spines\": 3, \"global\": 2, \"groups\": 4}", "dragonfly"},
    {"{\"type\": \"folded_clos\", \"radix\": 6}", "tree"},
    {"{\"type\": \"folded_clos\", \"down\": [3, 2, 3], \"up\": [2, 4]}", "tree small"},
    {"{\"type\": \"butterfly\", \"radix\": 3, \"stages\": 3}", "butterfly"},
    {"{\"type\": \"slim_fly\", \"q\": 4, \"terminals\": 1}", "fly"},
    {"{\"type\": \"jellyfish\", \"routers\": 15, \"degree\": 4}", "fly"},
    {"{\"type\": \"bcube\", \"n\": 3, \"k\": 1}", "bcube"},
    {"{\"type\": \"bcube\", \"n\": 2, \"k\": 2}", "bcube"},
    {"{\"type\": \"dcell\", \"n\": 2, \"k\": 1}", "dcell"},
    {"{\"type\": \"spidergon\", \"routers\": 8}", "spidergon"},
    {"{\"type\": \"spidergon\", \"routers\": 22}", "spidergon"},
    {"{\"type\": \"hierarchical_rings\", \"widths\": [3, 3]}", "rings"},
    {"{\"type\": \"hierarchical_rings\", \"widths\": [2, 2, 2]}", "rings"},
    {"{\"type\": \"express_cube\", \"widths\": [7, 3], \"interval\": [3, 2]}", "express"},
    {"{\"type\": \"interposer\"}", "interposer"},
    {"{\"type\": \"hamming_mesh\", \"board\": [2, 2], \"boards\": [2, 2]}", "hamming"},
    {"{\"type\": \"hamming_mesh\", \"board\": [1, 1], \"boards\": [4, 1], \"radix\": 4}", "hamming"},
};

static const struct fitting algorithms[] = {
    {"{\"type\": \"dimension_order\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"dateline\": \"fixed\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"dateline\": \"by_wrap\"}", "grid hyperx"},
    {"{\"type\": \"dimension_order\", \"tie\": \"up\"}", "grid hyperx"},
    {"{\"type\": \"minimal\"}", "any"},
    {"{\"type\": \"minimal\", \"select\": \"all\"}", "any"},
    {"{\"type\": \"minimal_adaptive\", \"mode\": \"port_average\"}", "any"},
    {"{\"type\": \"valiant\"}", "any"},
    {"{\"type\": \"valiant\", \"dateline\": \"fixed\"}", "any: grid"},
    {"{\"type\": \"valiant\", \"dateline\": \"by_wrap\"}", "any: grid"},
    {"{\"type\": \"valiant\", \"intermediate\": \"router\"}", "any: dragonfly"},
    {"{\"type\": \"valiant\", \"intermediate\": \"unaligned\"}", "hyperx"},
    {"{\"type\": \"ugal\"}", "any"},
    {"{\"type\": \"ugal\", \"intermediate\": \"router\"}", "any: dragonfly"},
    {"{\"type\": \"par\"}", "any: small hyperx dragonfly single butterfly fly"},
    {"{\"type\": \"par\", \"intermediate\": \"router\"}", "any: dragonfly"},
    {"{\"type\": \"dragonfly_minimal\"}", "dragonfly"},
    {"{\"type\": \"dragonfly_minimal\", \"channel\": \"random\"}", "dragonfly"},
    {"{\"type\": \"dragonfly_minimal\", \"local_order\": \"either\"}", "dragonfly: rows"},
    {"{\"type\": \"valiant\", \"local_order\": \"either\", \"intermediate\": \"router\"}", "dragonfly: rows"},
    {"{\"type\": \"par\", \"local_order\": \"either\"}", "dragonfly: rows"},
    {"{\"type\": \"par\", \"local_order\": \"either\", \"intermediate\": \"router\"}", "dragonfly: rows"},
    {"{\"type\": \"par\", \"local_order\": \"column_first\"}", "dragonfly: rows"},
    {"{\"type\": \"dal\"}", "hyperx"},
    {"{\"type\": \"dal\", \"deroutes\": 1}", "hyperx"},
    {"{\"type\": \"omniwar\", \"deroutes\": 3}", "hyperx"},
    {"{\"type\": \"least_congested_queue\"}", "hyperx"},
    {"{\"type\": \"least_congested_queue\", \"finish\": \"dimension_order\"}", "hyperx"},
    {"{\"type\": \"skipping_dimensions\"}", "hyperx"},
    {"{\"type\": \"skipping_dimensions\", \"rounds\": 3, \"deroutes\": true}", "hyperx"},
    {"{\"type\": \"up_down\"}", "tree"},
    {"{\"type\": \"up_down\", \"selection\": \"hash\", \"common_ancestor\": \"top\"}", "tree"},
    {"{\"type\": \"up_down\", \"selection\": \"deterministic\"}", "tree"},
    {"{\"type\": \"destination_tag\"}", "butterfly"},
    {"{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}", "grid"},
    {"{\"type\": \"duato\"}", "grid"},
    {"{\"type\": \"o1turn\"}", "flat hyperx"},
    {"{\"type\": \"voq\"}", "single"},
    {"{\"type\": \"bcube_order\"}", "bcube"},
    {"{\"type\": \"bcube_order\", \"start\": \"any\"}", "bcube"},
    {"{\"type\": \"across_first\"}", "spidergon"},
    {"{\"type\": \"ring_levels\"}", "rings"},
    {"{\"type\": \"express_cube_order\"}", "express"},
    {"{\"type\": \"hamming_mesh_order\"}", "hamming"},
    {"{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}", "hamming"},
};

/* What the check prints, into the arena; *is_sound says what it found. */
static const char *check(struct routed *routed, uint64_t budget, bool *is_sound)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    *is_sound = dependency_check(&routed->routing, budget, NULL, out);
    fclose(out);
    const char *kept = arena_text(&routed->arena, text);
    free(text);
    return kept;
}

static void note_share(void *context, double share)
{
    double *told = context; /* how often, and the last */
    EXPECT(share >= told[1]);
    told[0]++;
    told[1] = share;
}

TEST(a_listener_hears_of_the_check_up_to_its_end)
{
    struct routed routed;
    EXPECT(routed_init(&routed, "{\"type\": \"torus\", \"widths\": [4, 4]}", "{\"type\": \"dimension_order\"}", 2));
    double told[2] = {0};
    FILE *out = fopen("/dev/null", "w");
    dependency_check(&routed.routing, DEPENDENCY_BUDGET, &(struct check_listener){note_share, told}, out);
    EXPECT(told[0] == 16 && told[1] == 1);
    told[0] = told[1] = 0;
    dependency_check(&routed.routing, 100, &(struct check_listener){note_share, told}, out);
    EXPECT(told[0] > 1 && told[1] == 1);
    fclose(out);
    routed_release(&routed);
}

TEST(every_proper_algorithm_is_free_of_deadlock)
{
    uint32_t checked = 0, expected = 0;
    for (uint32_t t = 0; t < COUNT_OF(topologies); t++)
        for (uint32_t a = 0; a < COUNT_OF(algorithms); a++) {
            struct routed routed;
            bool is_sound;
            expected += fits(&topologies[t], &algorithms[a]);
            if (fitting_init(&routed, &topologies[t], &algorithms[a], 16)) {
                EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ": no deadlock\n");
                EXPECT(is_sound);
                checked++;
            }
            routed_release(&routed);
        }
    EXPECT_EQ_U64(checked, expected);
    EXPECT(checked > 300);
}

/*
 * Larger than others can be with a VC for each hop: each has a place where a class too few would close a cycle, the
 * middle of an odd ring, boards that are crossed and left, leaves without boards, dimensions of other kinds.
 */
TEST(algorithms_of_one_kind_of_network_are_free_of_deadlock_on_larger_ones)
{
    static const char *const pairs[][2] = {
        {"{\"type\": \"bcube\", \"n\": 4, \"k\": 2}", "{\"type\": \"bcube_order\"}"},
        {"{\"type\": \"bcube\", \"n\": 3, \"k\": 3}", "{\"type\": \"bcube_order\", \"start\": \"any\"}"},
        {"{\"type\": \"spidergon\", \"routers\": 64}", "{\"type\": \"across_first\"}"},
        {"{\"type\": \"spidergon\", \"routers\": 62}", "{\"type\": \"across_first\"}"},
        {"{\"type\": \"hierarchical_rings\", \"widths\": [5, 4, 3]}", "{\"type\": \"ring_levels\"}"},
        {"{\"type\": \"hierarchical_rings\", \"widths\": [2, 3, 2, 4]}", "{\"type\": \"ring_levels\"}"},
        {"{\"type\": \"express_cube\", \"widths\": [11, 9], \"interval\": [4, 3]}",
         "{\"type\": \"express_cube_order\"}"},
        {"{\"type\": \"hamming_mesh\", \"board\": [5, 3], \"boards\": [4, 3], \"radix\": 4}",
         "{\"type\": \"hamming_mesh_order\"}"},
        {"{\"type\": \"hamming_mesh\", \"board\": [9, 1], \"boards\": [3, 2]}",
         "{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}"},
        {"{\"type\": \"hamming_mesh\", \"board\": [1, 2], \"boards\": [5, 6], \"radix\": 6, \"up\": 4}",
         "{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}"},
    };
    for (uint32_t i = 0; i < COUNT_OF(pairs); i++) {
        struct routed routed;
        bool is_sound;
        EXPECT(routed_init(&routed, pairs[i][0], pairs[i][1], 4));
        EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ": no deadlock\n");
        EXPECT(is_sound);
        routed_release(&routed);
    }
}

/* Wider than those with a table of hops. Detours by way of every router are many here: one algorithm takes them. */
TEST(a_ring_without_a_table_of_hops_is_free_of_deadlock)
{
    static const char *const by_dimension[] = {
        "{\"type\": \"dimension_order\"}",
        "{\"type\": \"dimension_order\", \"dateline\": \"fixed\"}",
        "{\"type\": \"dimension_order\", \"dateline\": \"by_wrap\"}",
        "{\"type\": \"dimension_order\", \"tie\": \"up\"}",
        "{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}",
        "{\"type\": \"duato\"}",
        "{\"type\": \"valiant\"}",
    };
    for (uint32_t a = 0; a < COUNT_OF(by_dimension); a++) {
        struct routed routed;
        bool is_sound;
        EXPECT(routed_init(&routed, "{\"type\": \"torus\", \"widths\": [66]}", by_dimension[a], 16));
        EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ": no deadlock\n");
        EXPECT(is_sound);
        routed_release(&routed);
    }
}

static void expect_cycle(const char *topology, const char *algorithm, uint32_t num_vcs, const char *part)
{
    struct routed routed;
    bool is_sound = true;
    EXPECT(routed_init(&routed, topology, algorithm, num_vcs));
    const char *text = check(&routed, DEPENDENCY_BUDGET, &is_sound);
    EXPECT(!is_sound);
    EXPECT_TEXT_CONTAINS(text, "deadlock is possible");
    EXPECT_TEXT_CONTAINS(text, part);
    routed_release(&routed);
}

TEST(torus_without_dateline_shows_the_cycle_round_a_ring)
{
    expect_cycle(TORUS_4X4, "{\"type\": \"dimension_order\", \"dateline\": \"none\"}", 1,
                 "4 VCs can wait for each other");
    expect_cycle("{\"type\": \"torus\", \"widths\": [8, 8]}", "{\"type\": \"dimension_order\", \"dateline\": \"none\"}",
                 2, "channel (1,0)->(0,0) vc 0 waits for channel (0,0)->(7,0) vc 0");
    expect_cycle("{\"type\": \"torus\", \"widths\": [5]}", "{\"type\": \"valiant\", \"dateline\": \"none\"}", 2,
                 "channel (4)->(0)");
}

TEST(minimal_routing_on_any_vc_can_deadlock)
{
    expect_cycle(TORUS_4X4, "{\"type\": \"minimal\", \"vcs\": \"all\"}", 4, "waits for");
    expect_cycle("{\"type\": \"mesh\", \"widths\": [2, 2]}", "{\"type\": \"minimal\", \"vcs\": \"all\"}", 1,
                 "4 VCs can wait for each other");
}

TEST(full_adaptivity_shows_the_cycle_round_a_square)
{
    static const char routing[] = "{\"type\": \"fully_adaptive\"}";
    expect_cycle("{\"type\": \"mesh\", \"widths\": [2, 2]}", routing, 1, "4 VCs can wait for each other");
    expect_cycle("{\"type\": \"mesh\", \"widths\": [4, 4]}", routing, 3, "4 VCs can wait for each other");
    expect_cycle(TORUS_4X4, routing, 2, "4 VCs can wait for each other");
    expect_cycle("{\"type\": \"hypercube\", \"dimensions\": 3}", routing, 1, "4 VCs can wait for each other");
}

/* What its escape VC forbids: with one VC it is dimension order, whose dependencies it has then. */
TEST(duato_without_adaptive_vcs_is_dimension_order)
{
    static const char *const topologies_of_1_or_2[] = {"{\"type\": \"mesh\", \"widths\": [4, 3]}", TORUS_4X4,
                                                       "{\"type\": \"hypercube\", \"dimensions\": 4}"};
    for (uint32_t t = 0; t < COUNT_OF(topologies_of_1_or_2); t++) {
        struct routed duato, order;
        bool is_sound;
        uint32_t num_vcs = t == 1 ? 2 : 1;
        EXPECT(routed_init(&duato, topologies_of_1_or_2[t], "{\"type\": \"duato\"}", num_vcs));
        EXPECT(routed_init(&order, topologies_of_1_or_2[t],
                           "{\"type\": \"dimension_order\", \"dateline\": \"fixed\", \"tie\": \"up\"}", num_vcs));
        const char *found = strstr(check(&duato, DEPENDENCY_BUDGET, &is_sound), "checked");
        EXPECT(is_sound);
        EXPECT(strcmp(found, strstr(check(&order, DEPENDENCY_BUDGET, &is_sound), "checked")) == 0);
        EXPECT_EQ_U64(duato.routing.escape_vcs, 0); /* so that routers do not wait for room as others with escapes do */
        routed_release(&duato);
        routed_release(&order);
    }
}

TEST(a_spent_budget_says_how_many_pairs_were_checked)
{
    struct routed routed;
    bool is_sound;
    EXPECT(routed_init(&routed, "{\"type\": \"mesh\", \"widths\": [16, 16]}", "{\"type\": \"valiant\"}", 2));
    const char *text = check(&routed, 100000, &is_sound);
    EXPECT(is_sound);
    EXPECT_TEXT_CONTAINS(text, " of 65536 pairs");
    EXPECT_TEXT_CONTAINS(text, "no deadlock found");
    EXPECT_TEXT_CONTAINS(text, "checked a sample, ");
    EXPECT(!strstr(text, "checked 65536"));
    EXPECT(strcmp(text, check(&routed, 100000, &is_sound)) == 0);
    routed_release(&routed);
}

TEST(weighted_choices_come_once_each_and_their_chances_are_their_weights)
{
    const struct weighted choices[] = {{3, 10}, {4, 20}, {12, 30}}; /* weights 3, 1 and 8 */
    struct decisions decisions = {0};
    double chances[31] = {0};
    do {
        bool is_first = decisions_take(&decisions, 2) == 0;
        uint32_t what = is_first ? choices[decisions_take_weighted(&decisions, choices, 3)].what : 0;
        EXPECT(chances[what] == 0);
        chances[what] = decisions_chance(&decisions);
    } while (decisions_next(&decisions));
    EXPECT(chances[0] == 0.5);
    EXPECT(chances[10] == 0.125 && fabs(chances[20] - 1 / 24.0) < 1e-12 && fabs(chances[30] - 1 / 3.0) < 1e-12);
}

TEST(decisions_enumerate_every_string_of_choices_once)
{
    struct decisions decisions = {0};
    uint32_t seen[2][3] = {{0}}, strings = 0;
    do {
        uint32_t first = decisions_take(&decisions, 2);
        uint32_t second = first ? decisions_take(&decisions, 3) : 0;
        seen[first][second]++;
        strings++;
    } while (decisions_next(&decisions));
    EXPECT_EQ_U64(strings, 4);
    EXPECT(seen[0][0] == 1 && seen[1][0] == 1 && seen[1][1] == 1 && seen[1][2] == 1);
}

/* ---- escape VCs ---- */

/* VC 0 is said to be the escape VC of an algorithm that knows nothing of it. */
static void expect_escape(const char *topology, const char *algorithm, const char *message)
{
    struct routed routed;
    bool is_sound;
    EXPECT(routed_init(&routed, topology, algorithm, 4));
    routed.routing.escape_vcs = 1;
    EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), message);
    EXPECT(is_sound == (strstr(message, "no deadlock") != NULL));
    routed_release(&routed);
}

TEST(escape_vcs_must_be_free_of_cycles_and_always_there)
{
    static const char any_vc[] = "{\"type\": \"minimal\", \"select\": \"all\", \"vcs\": \"all\"}";
    static const char by_hops[] = "{\"type\": \"minimal\", \"select\": \"all\"}";
    expect_escape(TORUS_4X4, any_vc, "dependencies of escape VCs: deadlock is possible");
    expect_escape(TORUS_4X4, by_hops, "after 1 hops is offered no escape VC");
    expect_escape("{\"type\": \"mesh\", \"widths\": [6]}", any_vc, "dependencies of escape VCs: no deadlock");
}

/* Dimension order on VC 0; on VC 1, for two hops, any way at all. */
static void route_astray(struct route *route)
{
    const struct topology *topology = route->routing->topology;
    uint32_t here[MAX_DIMENSIONS], there[MAX_DIMENSIONS], d = 0;
    struct router_port peer;
    if (route->router == route->packet->destination_router) {
        route_eject(route);
        return;
    }
    grid_coordinates(topology->grid, route->router, here);
    grid_coordinates(topology->grid, route->packet->destination_router, there);
    while (here[d] == there[d])
        d++;
    route_add_vcs(route, grid_port(topology->grid, d, there[d] < here[d], 0), 1);
    for (uint32_t port = 0; port < topology->ports && route->packet->hops < 2; port++)
        if (topology->ops->peer(topology, route->router, port, &peer))
            route_add_vcs(route, port, 2);
}

TEST(an_escape_vc_waits_for_those_beyond_other_vcs)
{
    struct routed routed;
    bool is_sound;
    EXPECT(routed_init(&routed, TORUS_4X4, "{\"type\": \"torus_adaptive\"}", 3));
    EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ", 284 dependencies of escape VCs: no deadlock");
    routed_release(&routed);
    /* dimension order by itself, which is its escape */
    EXPECT(routed_init(&routed, TORUS_4X4, "{\"type\": \"dimension_order\", \"dateline\": \"fixed\", \"tie\": \"up\"}",
                       2));
    EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ", 104 dependencies: no deadlock");
    routed_release(&routed);
    /* who leaves the minimal ways may hold an escape VC of y and ask for one of x */
    EXPECT(routed_init(&routed, "{\"type\": \"mesh\", \"widths\": [3, 3]}", "{\"type\": \"dimension_order\"}", 2));
    routed.routing.route = route_astray;
    routed.routing.escape_vcs = 1;
    EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), "of escape VCs: deadlock is possible");
    routed_release(&routed);
}

/* ---- algorithms that are wrong on purpose ---- */

static void route_nowhere(struct route *route) { (void)route; }
static void route_round_for_ever(struct route *route) { route_add(route, 0, 0); }

static void route_to_a_neighbours_terminal(struct route *route)
{
    if (route->packet->hops == 0)
        route_add(route, 0, 0);
    else
        route_eject(route);
}

static void expect_fault(const char *topology, void (*wrong)(struct route *route), const char *message)
{
    struct routed routed;
    bool is_sound = true;
    EXPECT(routed_init(&routed, topology, "{\"type\": \"dimension_order\"}", 2));
    routed.routing.route = wrong;
    EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), message);
    EXPECT(!is_sound);
    routed_release(&routed);
}

TEST(faults_of_an_algorithm_are_named)
{
    expect_fault(TORUS_4X4, route_nowhere, "has nowhere to go");
    expect_fault(TORUS_4X4, route_round_for_ever, "after 50 hops is still on its way");
    expect_fault(TORUS_4X4, route_to_a_neighbours_terminal, "is given to another terminal");
    expect_fault("{\"type\": \"mesh\", \"widths\": [3, 3]}", route_round_for_ever, "is sent to an unused port");
}

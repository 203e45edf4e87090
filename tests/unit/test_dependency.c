/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel dependency check: it clears every algorithm that claims to be free
 * of deadlock, shows the cycle of those that are not, and finds the faults of
 * algorithms that are wrong on purpose.
 */
#include "test.h"

#include "routed.h"

#define TORUS_4X4 "{\"type\": \"torus\", \"widths\": [4, 4]}"

/* Rings of odd and even width down to the smallest, and what is not a ring. */
static const char *const topologies[] = {
    TORUS_4X4,
    "{\"type\": \"torus\", \"widths\": [5, 5]}",
    "{\"type\": \"torus\", \"widths\": [8, 8]}",
    "{\"type\": \"torus\", \"widths\": [4, 4, 4]}",
    "{\"type\": \"torus\", \"widths\": [2, 2]}",
    "{\"type\": \"torus\", \"widths\": [3, 3]}",
    "{\"type\": \"torus\", \"widths\": [2, 3, 2]}",
    "{\"type\": \"torus\", \"widths\": [16]}",
    "{\"type\": \"torus\", \"widths\": [70]}", /* no table of hops; too far for minimal with 8 VCs */
    "{\"type\": \"torus\", \"widths\": [7, 6], \"channels\": [2, 1], \"concentration\": 2}",
    "{\"type\": \"mesh\", \"widths\": [5, 4]}",
    "{\"type\": \"mesh\", \"widths\": [3, 3, 3]}",
    "{\"type\": \"hypercube\", \"dimensions\": 5}",
    "{\"type\": \"parking_lot\", \"stops\": 9}",
    "{\"type\": \"single_router\", \"terminals\": 8}",
};

static const char *const algorithms[] = {
    "{\"type\": \"dimension_order\"}",
    "{\"type\": \"dimension_order\", \"dateline\": \"fixed\"}",
    "{\"type\": \"dimension_order\", \"dateline\": \"by_wrap\"}",
    "{\"type\": \"dimension_order\", \"tie\": \"up\"}",
    "{\"type\": \"minimal\"}",
    "{\"type\": \"minimal\", \"select\": \"all\"}",
    "{\"type\": \"valiant\"}",
    "{\"type\": \"valiant\", \"dateline\": \"fixed\"}",
    "{\"type\": \"valiant\", \"dateline\": \"by_wrap\"}",
    "{\"type\": \"o1turn\"}",
    "{\"type\": \"voq\"}",
};

/* What the check prints, into the arena; *is_sound says what it found. */
static const char *check(struct routed *routed, uint64_t budget, bool *is_sound)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    *is_sound = dependency_check(&routed->routing, budget, out);
    fclose(out);
    const char *kept = arena_text(&routed->arena, text);
    free(text);
    return kept;
}

TEST(every_proper_algorithm_is_free_of_deadlock)
{
    uint32_t checked = 0;
    for (uint32_t t = 0; t < sizeof topologies / sizeof *topologies; t++)
        for (uint32_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
            struct routed routed;
            bool is_sound;
            if (routed_init(&routed, topologies[t], algorithms[a], 8)) {
                EXPECT_TEXT_CONTAINS(check(&routed, DEPENDENCY_BUDGET, &is_sound), ": no deadlock\n");
                EXPECT(is_sound);
                checked++;
            }
            routed_release(&routed);
        }
    /* 9 on each of 13 grids, o1turn on the 7 of two dimensions, 3 on the single router, 7 on the wide ring */
    EXPECT_EQ_U64(checked, 13 * 9 + 7 + 3 + 7);
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

TEST(a_spent_budget_says_how_many_pairs_were_checked)
{
    struct routed routed;
    bool is_sound;
    EXPECT(routed_init(&routed, "{\"type\": \"mesh\", \"widths\": [16, 16]}", "{\"type\": \"valiant\"}", 2));
    const char *text = check(&routed, 100000, &is_sound);
    EXPECT(is_sound);
    EXPECT_TEXT_CONTAINS(text, " of 65536 pairs");
    EXPECT_TEXT_CONTAINS(text, "no deadlock found");
    EXPECT(!strstr(text, "checked 65536"));
    EXPECT(strcmp(text, check(&routed, 100000, &is_sound)) == 0);
    routed_release(&routed);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn models by themselves: every way between every pair of routers of small
 * meshes, turn by turn. How many ways there are is known: Glass and Ni (1992)
 * give it in closed form, and for the odd-even model (Chiu 2000) all minimal ways
 * are listed here and those with a forbidden turn struck out.
 */
#include "test.h"

#include "routed.h"

enum { EAST, WEST, NORTH, SOUTH, STARTS }; /* ports of a flat mesh: dimension, then up before down */

#define MODEL(name) "{\"type\": \"turn_model\", \"model\": \"" name "\"}"
static const char mesh_5x4[] = "{\"type\": \"mesh\", \"widths\": [5, 4]}";

struct ways {
    struct routed routed;
    uint64_t count;
    uint32_t longest;
    uint32_t turns[4][4]; /* by direction before and after: a bit for even columns and one for odd */
};

static void go_on(struct ways *ways, struct packet packet, uint32_t router, uint32_t from)
{
    const struct routing *routing = &ways->routed.routing;
    const struct topology *topology = &ways->routed.topology;
    uint64_t vcs[4] = {0};
    struct route route = {.routing = routing, .packet = &packet, .router = router, .vcs = vcs};
    routing->route(&route);
    uint32_t ports[64], count = answer_ports(routing, vcs, ports);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t port = ports[i] - routing->local_ports;
        struct router_port peer;
        if (ports[i] < routing->local_ports) {
            EXPECT_EQ_U64(router, packet.destination_router);
            ways->count++;
            ways->longest = packet.hops > ways->longest ? packet.hops : ways->longest;
            continue;
        }
        if (from != STARTS && topology->grid->dimensions == 2)
            ways->turns[from][port] |= 1u << router % topology->grid->width[0] % 2;
        EXPECT(packet.hops < 100 && topology->ops->peer(topology, router, port, &peer));
        struct packet moved = packet;
        moved.hops++;
        go_on(ways, moved, peer.router, port);
    }
}

/* All ways between two routers, which have one terminal each. */
static uint64_t ways_between(struct ways *ways, uint32_t source, uint32_t destination)
{
    struct packet packet = {.source = source, .destination = destination, .destination_router = destination, .size = 1};
    struct route route = {.routing = &ways->routed.routing, .packet = &packet, .router = source};
    if (ways->routed.routing.inject)
        ways->routed.routing.inject(&route);
    ways->count = ways->longest = 0;
    go_on(ways, packet, source, STARTS);
    return ways->count;
}

static uint64_t factorial(uint32_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

/* Orders in which some hops of each of several kinds can be made. */
static uint64_t orders(const uint32_t *hops, uint32_t kinds)
{
    uint32_t sum = 0;
    uint64_t alike = 1;
    for (uint32_t i = 0; i < kinds; i++) {
        sum += hops[i];
        alike *= factorial(hops[i]);
    }
    return factorial(sum) / alike;
}

/* ---- Glass and Ni ---- */

/* Hops of an even number are up in a dimension, of an odd number down. */
typedef bool comes_first(uint32_t kind, uint32_t dimensions);
static bool west_first(uint32_t kind, uint32_t dimensions) { return kind % 2 && kind / 2 != dimensions - 1; }
static bool north_last(uint32_t kind, uint32_t dimensions) { return (void)dimensions, kind % 2 || kind / 2 == 0; }
static bool negative_first(uint32_t kind, uint32_t dimensions) { return (void)dimensions, kind % 2; }

/* The first hops in any order, then the others in any order. */
static uint64_t orders_of_phases(const struct grid *grid, uint32_t source, uint32_t destination, comes_first *is_first)
{
    uint32_t from[MAX_DIMENSIONS], to[MAX_DIMENSIONS], first[2 * MAX_DIMENSIONS] = {0}, then[2 * MAX_DIMENSIONS] = {0};
    grid_coordinates(grid, source, from);
    grid_coordinates(grid, destination, to);
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t kind = 2 * d + (to[d] < from[d]), hops = to[d] < from[d] ? from[d] - to[d] : to[d] - from[d];
        *(is_first(kind, grid->dimensions) ? &first[kind] : &then[kind]) = hops;
    }
    return orders(first, 2 * grid->dimensions) * orders(then, 2 * grid->dimensions);
}

static void expect_ways_of_phases(const char *topology, const char *model, comes_first *is_first)
{
    struct ways ways = {0};
    EXPECT(routed_init(&ways.routed, topology, model, 1));
    uint32_t routers = ways.routed.topology.routers, wrong = 0, detours = 0;
    for (uint32_t source = 0; source < routers; source++)
        for (uint32_t destination = 0; destination < routers; destination++) {
            uint64_t expected = orders_of_phases(ways.routed.topology.grid, source, destination, is_first);
            wrong += ways_between(&ways, source, destination) != expected;
            detours += ways.longest != routed_distance(&ways.routed, source, destination);
        }
    EXPECT_EQ_U64(wrong, 0);
    EXPECT_EQ_U64(detours, 0);
    routed_release(&ways.routed);
}

TEST(turn_models_have_as_many_ways_as_glass_and_ni_say)
{
    static const char *const topologies[] = {mesh_5x4, "{\"type\": \"mesh\", \"widths\": [3, 2, 3]}",
                                             "{\"type\": \"hypercube\", \"dimensions\": 4}"};
    for (uint32_t t = 0; t < 3; t++) {
        expect_ways_of_phases(topologies[t], MODEL("west_first"), west_first);
        expect_ways_of_phases(topologies[t], MODEL("north_last"), north_last);
        expect_ways_of_phases(topologies[t], MODEL("negative_first"), negative_first);
    }
}

/* From (2,1) to one and the same place relative to it: 3!/(2! 1!) = 3 ways where the model is free, 1 where not. */
TEST(turn_models_are_free_in_their_quadrants)
{
    static const uint32_t places[4] = {2 * 5 + 4, 2 * 5 + 0, 0 * 5 + 4, 0 * 5 + 0}; /* NE, NW, SE, SW */
    static const struct {
        const char *model;
        uint64_t ways[4];
    } cases[] = {{MODEL("west_first"), {3, 1, 3, 1}},
                 {MODEL("north_last"), {1, 1, 3, 3}},
                 {MODEL("negative_first"), {3, 1, 1, 3}}};
    for (uint32_t i = 0; i < 3; i++) {
        struct ways ways = {0};
        EXPECT(routed_init(&ways.routed, mesh_5x4, cases[i].model, 1));
        for (uint32_t place = 0; place < 4; place++)
            EXPECT_EQ_U64(ways_between(&ways, 5 + 2, places[place]), cases[i].ways[place]);
        routed_release(&ways.routed);
    }
}

/* ---- turns ---- */

enum { EVEN = 1, ODD = 2, BOTH = 3 };
struct forbidden {
    uint32_t from, to, columns;
};

static const struct forbidden west_first_turns[] = {{NORTH, WEST, BOTH}, {SOUTH, WEST, BOTH}};
static const struct forbidden north_last_turns[] = {{NORTH, EAST, BOTH}, {NORTH, WEST, BOTH}};
static const struct forbidden negative_first_turns[] = {{EAST, SOUTH, BOTH}, {NORTH, WEST, BOTH}};
static const struct forbidden odd_even_turns[] = {
    {EAST, NORTH, EVEN}, {EAST, SOUTH, EVEN}, {NORTH, WEST, ODD}, {SOUTH, WEST, ODD}};

static uint32_t allowed(const struct forbidden *forbidden, uint32_t count, uint32_t from, uint32_t to)
{
    uint32_t columns = BOTH;
    for (uint32_t i = 0; i < count; i++)
        if (forbidden[i].from == from && forbidden[i].to == to)
            columns &= ~forbidden[i].columns;
    return columns;
}

/* In the middle of a mesh a model makes every turn that it allows, and none that it forbids. */
static void expect_turns(const char *model, const struct forbidden *forbidden, uint32_t count)
{
    struct ways ways = {0};
    EXPECT(routed_init(&ways.routed, mesh_5x4, model, 1));
    for (uint32_t source = 0; source < 20; source++)
        for (uint32_t destination = 0; destination < 20; destination++)
            ways_between(&ways, source, destination);
    for (uint32_t from = 0; from < 4; from++)
        for (uint32_t to = 0; to < 4; to++) {
            bool is_reversal = from != to && from / 2 == to / 2;
            EXPECT_EQ_U64(ways.turns[from][to], is_reversal ? 0 : allowed(forbidden, count, from, to));
        }
    routed_release(&ways.routed);
}

TEST(turn_models_make_the_turns_that_they_allow_and_no_others)
{
    expect_turns(MODEL("west_first"), west_first_turns, 2);
    expect_turns(MODEL("north_last"), north_last_turns, 2);
    expect_turns(MODEL("negative_first"), negative_first_turns, 2);
    expect_turns(MODEL("odd_even"), odd_even_turns, 4);
}

/* ---- odd-even ---- */

/* Minimal ways without a forbidden turn, by trying them all. */
static uint64_t allowed_ways(int x, int y, int to_x, int to_y, uint32_t from)
{
    uint64_t count = 0;
    if (x == to_x && y == to_y)
        return 1;
    for (uint32_t to = 0; to < 4; to++) {
        static const int step_x[] = {1, -1, 0, 0}, step_y[] = {0, 0, 1, -1};
        bool is_closer = (to_x - x) * step_x[to] > 0 || (to_y - y) * step_y[to] > 0;
        uint32_t column = x % 2 ? ODD : EVEN;
        if (is_closer && (from == STARTS || allowed(odd_even_turns, 4, from, to) & column))
            count += allowed_ways(x + step_x[to], y + step_y[to], to_x, to_y, to);
    }
    return count;
}

TEST(odd_even_takes_every_minimal_way_without_a_forbidden_turn)
{
    struct ways ways = {0};
    EXPECT(routed_init(&ways.routed, "{\"type\": \"mesh\", \"widths\": [6, 4]}", MODEL("odd_even"), 1));
    uint32_t wrong = 0;
    for (uint32_t source = 0; source < 24; source++)
        for (uint32_t to = 0; to < 24; to++)
            wrong += ways_between(&ways, source, to) !=
                     allowed_ways((int)source % 6, (int)source / 6, (int)to % 6, (int)to / 6, STARTS);
    EXPECT_EQ_U64(wrong, 0);
    /* 0,0 to 5,3: north in columns 0, 1, 3 and 5, so three hops in four places; back in 4, 2 and 0 */
    EXPECT_EQ_U64(ways_between(&ways, 0, 23), 20);
    EXPECT_EQ_U64(ways_between(&ways, 23, 0), 10);
    routed_release(&ways.routed);
}

/* Of 7 x 7 places for each of 8 turns a quarter is forbidden, beside 4 x 8 x 6 pairs of hops straight on. */
TEST(turn_models_have_the_dependencies_of_six_turns_and_no_cycle)
{
    static const char *const models[] = {MODEL("west_first"), MODEL("north_last"), MODEL("negative_first"),
                                         MODEL("odd_even")};
    for (uint32_t i = 0; i < 4; i++) {
        struct routed routed;
        char text[1024] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        EXPECT(routed_init(&routed, "{\"type\": \"mesh\", \"widths\": [8, 8]}", models[i], 1));
        EXPECT(dependency_check(&routed.routing, DEPENDENCY_BUDGET, NULL, out));
        fclose(out);
        EXPECT_TEXT_CONTAINS(text, ", 486 dependencies: no deadlock");
        routed_release(&routed);
    }
}

static void expect_model_refused(const char *topology, const char *model, const char *message)
{
    struct routed routed;
    EXPECT(!routed_init(&routed, topology, model, 1));
    EXPECT_TEXT_CONTAINS(errors_text(&routed.errors), message);
    routed_release(&routed);
}

TEST(turn_models_are_refused_where_they_do_not_hold)
{
    expect_model_refused("{\"type\": \"torus\"}", MODEL("west_first"), "needs a grid that does not wrap");
    expect_model_refused("{\"type\": \"dragonfly\"}", MODEL("west_first"), "not \"dragonfly\"");
    expect_model_refused("{\"type\": \"mesh\", \"widths\": [3, 3, 3]}", MODEL("odd_even"), "2 dimensions, not 3");
}

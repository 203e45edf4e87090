/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic patterns of dimensions, groups and blocks against their definitions, and what they refuse. */
#include "test.h"

#include "chosen_traffic.h"

static const struct grid grid_4x4x4 = {.dimensions = 3, .width = {4, 4, 4}};

static uint32_t destination(const struct traffic *traffic, uint32_t source)
{
    static struct random random = {.key = 1};
    return traffic->ops->destination(traffic, source, &random);
}

static void expect_permutation(const char *json, uint32_t terminals, const struct grid *grid, uint32_t concentration)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic traffic = make(&chosen, json, terminals, grid, concentration);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    bool *hit = arena_array(&chosen.arena, bool, terminals);
    uint32_t hits = 0;
    for (uint32_t source = 0; source < terminals && chosen.errors.count == 0; source++) {
        uint32_t to = destination(&traffic, source);
        EXPECT(to < terminals);
        hits += to < terminals && !hit[to];
        hit[to % terminals] = true;
    }
    EXPECT_EQ_U64(hits, terminals);
    arena_release(&chosen.arena);
}

TEST(patterns_that_move_coordinates_are_bijective)
{
    static const char *const patterns[] = {
        "\"dim_reverse\"",
        "\"dim_complement_reverse\"",
        "\"dim_rotate\"",
        "{\"type\": \"dim_rotate\", \"direction\": \"right\"}",
        "\"dim_transpose\"",
        "\"dim_bisection_stress\"",
        "{\"type\": \"dim_bisection_stress\", \"groups\": \"quadrant\"}",
        "\"swap2\"",
        "\"loopback\"",
    };
    for (uint32_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        expect_permutation(patterns[i], 64, &grid_8x8, 1);
        expect_permutation(patterns[i], 64, &grid_4x4x4, 1);
        expect_permutation(patterns[i], 192, &grid_8x8, 3);
    }
    expect_permutation("{\"type\": \"dim_bisection_stress\", \"groups\": \"parity\"}", 128, &grid_8x8, 2);
    expect_permutation("{\"type\": \"group_attack\", \"group\": 8, \"place\": \"same\"}", 64, NULL, 1);
    expect_permutation("{\"type\": \"group_attack\", \"group\": 8, \"target\": \"opposite\", \"place\": \"mirrored\"}",
                       72, NULL, 1);
}

/* (1, 2, 3) of 4x4x4 is terminal 1 + 4 * (2 + 4 * 3) = 57. */
TEST(coordinates_move_as_they_are_defined)
{
    static const struct {
        const char *json;
        uint32_t x, y, z;
    } cases[] = {
        {"\"dim_reverse\"", 3, 2, 1},
        {"\"dim_complement_reverse\"", 0, 1, 2},
        {"\"dim_rotate\"", 2, 3, 1},
        {"{\"type\": \"dim_rotate\", \"direction\": \"right\"}", 3, 1, 2},
        {"\"dim_transpose\"", 2, 1, 3},
        {"{\"type\": \"dim_transpose\", \"dimensions\": [2, 0]}", 3, 2, 1},
        {"\"dim_bisection_stress\"", 3, 0, 1}, /* z is in the upper half: by half */
        {"{\"type\": \"dim_bisection_stress\", \"groups\": \"quadrant\"}", 2, 1, 0}, /* two upper halves: mirrored */
        {"\"swap2\"", 1, 0, 3},                                                      /* 57 is odd: dimension 1 */
        {"{\"type\": \"swap2\", \"dimensions\": [1, 2]}", 1, 2, 1},
    };
    struct chosen chosen = CHOSEN_INIT(chosen);
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct traffic traffic = make(&chosen, cases[i].json, 64, &grid_4x4x4, 1);
        EXPECT_EQ_U64(destination(&traffic, 57), cases[i].x + 4 * (cases[i].y + 4 * cases[i].z));
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

/* Terminals of a router keep their slots: 6x6 routers of 2, laid over 72 terminals that are no grid. */
TEST(widths_lay_a_grid_over_terminals)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic traffic = make(&chosen, "{\"type\": \"dim_reverse\", \"widths\": [6, 6]}", 72, NULL, 1);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 6; x++)
            for (uint32_t slot = 0; slot < 2; slot++)
                EXPECT_EQ_U64(destination(&traffic, (y * 6 + x) * 2 + slot), (x * 6 + y) * 2 + slot);
    arena_release(&chosen.arena);
}

/* A scan passes over the terminal itself unless told, and goes on round the end. */
TEST(scan_goes_to_one_after_the_other)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic up = make(&chosen, "{\"type\": \"scan\", \"first\": 2}", 5, NULL, 1);
    struct traffic down = make(&chosen, "{\"type\": \"scan\", \"direction\": \"down\", \"self\": true}", 5, NULL, 1);
    static const uint32_t ups[] = {2, 4, 0, 1, 2, 4}, downs[] = {0, 4, 3, 2, 1, 0};
    for (uint32_t i = 0; i < 6; i++) {
        EXPECT_EQ_U64(destination(&up, 3), ups[i]);
        EXPECT_EQ_U64(destination(&down, 3), downs[i]);
    }
    EXPECT_EQ_U64(destination(&up, 0), 2); /* each has a place of its own */
    struct traffic alone = make(&chosen, "\"scan\"", 1, NULL, 1);
    EXPECT_EQ_U64(destination(&alone, 0), FW_NONE);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

TEST(patterns_of_space_refuse_what_does_not_fit)
{
    static const struct grid odd = {.dimensions = 2, .width = {3, 4}};
    static const struct {
        const char *json;
        uint32_t terminals;
        const struct grid *grid;
        const char *message;
    } cases[] = {
        {"\"dim_reverse\"", 12, NULL, "dim_reverse needs coordinates"},
        {"\"dim_reverse\"", 12, &odd, "read the same from both ends"},
        {"\"dim_rotate\"", 12, &odd, "all the same"},
        {"\"dim_transpose\"", 12, &odd, "their widths differ: 3 and 4"},
        {"{\"type\": \"dim_transpose\", \"dimensions\": [0, 2]}", 12, &odd, "there is no dimension 2"},
        {"{\"type\": \"dim_transpose\", \"dimensions\": [1, 1]}", 12, &odd, "1 is listed twice"},
        {"{\"type\": \"swap2\", \"dimensions\": [1]}", 12, &odd, "accepted: two dimensions"},
        {"{\"type\": \"uniform_random_bisection\", \"dimensions\": []}", 12, &odd, "accepted: one or more"},
        {"\"uniform_random_bisection\"", 12, &odd, "needs even widths: dimension 0 has 3"},
        {"\"dim_bisection_stress\"", 12, &odd, "needs even widths"},
        {"{\"type\": \"dim_bisection_stress\", \"groups\": \"parity\"}", 64, &grid_8x8, "even number of terminals"},
        {"\"uniform_random_quadrant\"", 12, &odd, "needs even widths"},
        {"{\"type\": \"dim_reverse\", \"widths\": [5, 5]}", 64, NULL, "do not fill a grid"},
        {"{\"type\": \"dim_reverse\", \"widths\": [65536, 65536, 65536, 65536]}", 64, NULL, "do not fill a grid"},
        {"{\"type\": \"random_exchange_neighbor\", \"widths\": [1, 64]}", 64, NULL, "no neighbours"},
        {"\"random_exchange\"", 5, NULL, "even number of terminals: there are 5"},
        {"{\"type\": \"group_attack\", \"group\": 5}", 64, NULL, "64 terminals are not several blocks of 5"},
        {"{\"type\": \"group_attack\", \"group\": 64}", 64, NULL, "not several blocks"},
        {"{\"type\": \"to_root\", \"block\": 48}", 64, NULL, "not several blocks"},
        {"{\"type\": \"local_remote_random\", \"block\": 1}", 64, NULL, "nobody to send to"},
        {"{\"type\": \"scan\", \"first\": 64}", 64, NULL, "there is no terminal 64"},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        make(&chosen, cases[i].json, cases[i].terminals, cases[i].grid, 1);
        EXPECT_EQ_U64(chosen.errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), cases[i].message);
        arena_release(&chosen.arena);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic patterns against their definitions. */
#include "test.h"

#include "chosen_traffic.h"

#include <stdlib.h>
#include <unistd.h>

static uint32_t destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    return traffic->ops->destination(traffic, source, random);
}

static bool is_permutation(const struct traffic *traffic)
{
    struct random random = random_stream(1, 0, RANDOM_TRAFFIC);
    bool *hit = calloc(traffic->terminals, sizeof(bool)), ok = true;
    for (uint32_t source = 0; source < traffic->terminals; source++) {
        uint32_t to = destination(traffic, source, &random);
        ok = ok && to < traffic->terminals && !hit[to];
        if (ok)
            hit[to] = true;
    }
    free(hit);
    return ok;
}

static void expect_table(const char *json, const uint32_t *table, uint32_t terminals)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic traffic = make(&chosen, json, terminals, NULL, 1);
    for (uint32_t source = 0; source < terminals; source++)
        EXPECT_EQ_U64(destination(&traffic, source, NULL), table[source]);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

/* The share of messages from `source` that go to each terminal. */
static void measure(const struct traffic *traffic, uint32_t source, uint32_t messages, double *share)
{
    struct random random = random_stream(7, source, RANDOM_TRAFFIC);
    for (uint32_t i = 0; i < traffic->terminals; i++)
        share[i] = 0;
    for (uint32_t i = 0; i < messages; i++)
        share[destination(traffic, source, &random)] += 1.0 / messages;
}

TEST(every_pattern_names_terminals_and_repeats_itself)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EACH_REGISTERED(at, "traffic")
    {
        if (strcmp(at->component->name, "matrix") == 0) /* needs a file: see below */
            continue;
        const char *example = at->component->example;
        const char *json = example ? example : arena_format(&chosen.arena, "\"%s\"", at->component->name);
        struct traffic traffic = make(&chosen, json, 64, &grid_8x8, 1);
        EXPECT_EQ_U64(chosen.errors.count, 0);
        struct random random = random_stream(1, 0, RANDOM_TRAFFIC);
        for (uint32_t i = 0; i < 1000; i++) {
            struct random again = random;
            uint32_t to = destination(&traffic, i % 64, &random);
            EXPECT(to < 64 || to == FW_NONE);
            if (strcmp(at->component->name, "scan") != 0) /* which remembers */
                EXPECT_EQ_U64(destination(&traffic, i % 64, &again), to);
        }
    }
    arena_release(&chosen.arena);
}

TEST(bit_patterns_follow_their_definitions)
{
    expect_table("\"bit_complement\"", (const uint32_t[]){7, 6, 5, 4, 3, 2, 1, 0}, 8);
    expect_table("\"bit_reverse\"", (const uint32_t[]){0, 4, 2, 6, 1, 5, 3, 7}, 8);
    expect_table("\"shuffle\"", (const uint32_t[]){0, 2, 4, 6, 1, 3, 5, 7}, 8);
    expect_table("\"bit_rotation\"", (const uint32_t[]){0, 4, 1, 5, 2, 6, 3, 7}, 8);
    expect_table("\"transpose\"", (const uint32_t[]){0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}, 16);
    expect_table("\"neighbor\"", (const uint32_t[]){1, 2, 3, 4, 0}, 5);
    expect_table("\"shuffle\"", (const uint32_t[]){0, 1}, 2);
    expect_table("\"bit_rotation\"", (const uint32_t[]){0, 1}, 2);
}

TEST(permutation_patterns_are_bijective)
{
    static const char *const patterns[] = {"\"bit_complement\"", "\"bit_reverse\"",       "\"bit_rotation\"",
                                           "\"shuffle\"",        "\"transpose\"",         "\"neighbor\"",
                                           "\"tornado\"",        "\"random_permutation\""};
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const struct grid wide = {.dimensions = 2, .width = {32, 32}};
    for (uint32_t i = 0; i < 8; i++) {
        struct traffic small = make(&chosen, patterns[i], 64, &grid_8x8, 1);
        struct traffic large = make(&chosen, patterns[i], 4096, &wide, 4);
        EXPECT(is_permutation(&small));
        EXPECT(is_permutation(&large));
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

TEST(patterns_of_bits_refuse_other_numbers_of_terminals)
{
    static const char *const patterns[] = {"\"bit_complement\"", "\"bit_reverse\"", "\"bit_rotation\"", "\"shuffle\""};
    for (uint32_t i = 0; i < 4; i++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        make(&chosen, patterns[i], 48, NULL, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "needs a power of two of terminals: there are 48");
        arena_release(&chosen.arena);
    }
    struct chosen chosen = CHOSEN_INIT(chosen);
    make(&chosen, "\"transpose\"", 32, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "needs a square grid or a power of four");
    make(&chosen, "\"tornado\"", 64, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "tornado needs coordinates");
    arena_release(&chosen.arena);
}

/* 6x6 routers are no power of two; with 2 terminals each, (x, y) slot s goes to (y, x) slot s. */
TEST(transpose_swaps_the_coordinates_of_a_square_grid)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const struct grid grid = {.dimensions = 2, .width = {6, 6}};
    struct traffic traffic = make(&chosen, "\"transpose\"", 72, &grid, 2);
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 6; x++)
            for (uint32_t slot = 0; slot < 2; slot++)
                EXPECT_EQ_U64(destination(&traffic, (y * 6 + x) * 2 + slot, NULL), (x * 6 + y) * 2 + slot);
    arena_release(&chosen.arena);
}

static uint32_t ring_distance(uint32_t a, uint32_t b, uint32_t width)
{
    uint32_t up = (b + width - a) % width;
    return up < width - up ? up : width - up;
}

/* Width k: ceil(k/2) - 1 up. In an 8x8 torus that makes 3 + 3 hops for every message. */
TEST(tornado_goes_nearly_half_way_round_in_every_dimension)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic traffic = make(&chosen, "\"tornado\"", 64, &grid_8x8, 1);
    EXPECT_EQ_U64(destination(&traffic, 0, NULL), 3 * 8 + 3);
    EXPECT_EQ_U64(destination(&traffic, 5 * 8 + 7, NULL), 0 * 8 + 2);
    for (uint32_t source = 0; source < 64; source++) {
        uint32_t to = destination(&traffic, source, NULL);
        EXPECT_EQ_U64(ring_distance(source % 8, to % 8, 8) + ring_distance(source / 8, to / 8, 8), 6);
    }
    static const struct grid odd = {.dimensions = 2, .width = {5, 7}};
    struct traffic slots = make(&chosen, "\"tornado\"", 105, &odd, 3);
    EXPECT_EQ_U64(destination(&slots, (6 * 5 + 4) * 3 + 1, NULL), ((6 + 3) % 7 * 5 + (4 + 2) % 5) * 3 + 1);
    struct traffic first = make(&chosen, "{\"type\": \"tornado\", \"dimensions\": \"first\"}", 105, &odd, 3);
    EXPECT_EQ_U64(destination(&first, (6 * 5 + 4) * 3 + 1, NULL), (6 * 5 + (4 + 2) % 5) * 3 + 1);
    arena_release(&chosen.arena);
}

/* Chi-square with n - 1 degrees of freedom: mean n - 1, variance 2 (n - 1); within five deviations. */
TEST(uniform_random_reaches_all_alike_and_itself_only_when_told)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic others = make(&chosen, "\"uniform_random\"", 10, NULL, 1);
    struct traffic all = make(&chosen, "{\"type\": \"uniform_random\", \"self\": true}", 10, NULL, 1);
    double share[10], without_self = 0, with_self = 0;
    measure(&others, 4, 90000, share);
    EXPECT(share[4] == 0);
    for (uint32_t i = 0; i < 10; i++)
        without_self += i == 4 ? 0 : 90000 * 9 * (share[i] - 1.0 / 9) * (share[i] - 1.0 / 9);
    EXPECT_NEAR(without_self, 8, 20);
    measure(&all, 4, 90000, share);
    for (uint32_t i = 0; i < 10; i++)
        with_self += 90000 * 10 * (share[i] - 0.1) * (share[i] - 0.1);
    EXPECT_NEAR(with_self, 9, 21.3);
    struct traffic alone = make(&chosen, "\"uniform_random\"", 1, NULL, 1);
    EXPECT_EQ_U64(destination(&alone, 0, NULL), FW_NONE);
    arena_release(&chosen.arena);
}

TEST(random_permutation_leaves_nobody_alone_unless_told)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    for (uint32_t terminals = 2; terminals < 200; terminals++) {
        struct traffic traffic = make(&chosen, "\"random_permutation\"", terminals, NULL, 1);
        EXPECT(is_permutation(&traffic));
        for (uint32_t i = 0; i < terminals; i++)
            EXPECT(destination(&traffic, i, NULL) != i);
    }
    struct traffic with_self = make(&chosen, "{\"type\": \"random_permutation\", \"self\": true}", 1, NULL, 1);
    EXPECT_EQ_U64(destination(&with_self, 0, NULL), 0);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    make(&chosen, "\"random_permutation\"", 1, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "random_permutation needs 2 terminals or more: there are 1");
    arena_release(&chosen.arena);
}

/* Of 8 terminals, half the messages to 0 and 7 as 3 to 1, the rest to all: .5 * .75 + .5 / 8 to terminal 0. */
TEST(hotspot_gives_the_hot_terminals_their_share)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const char json[] =
        "{\"type\": \"hotspot\", \"terminals\": [0, 7], \"weights\": [3, 1], \"share\": 0.5, \"self\": true}";
    struct traffic traffic = make(&chosen, json, 8, NULL, 1);
    double share[8];
    measure(&traffic, 3, 100000, share);
    EXPECT_NEAR(share[0], 0.5 * 0.75 + 0.5 / 8, 0.008);
    EXPECT_NEAR(share[7], 0.5 * 0.25 + 0.5 / 8, 0.008);
    EXPECT_NEAR(share[3], 0.5 / 8, 0.004);
    arena_release(&chosen.arena);
}

TEST(hotspot_never_sends_to_itself_unless_told)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(1, 0, RANDOM_TRAFFIC);
    struct traffic all_to_0 = make(&chosen, "\"hotspot\"", 8, NULL, 1);
    EXPECT_EQ_U64(destination(&all_to_0, 0, &random), FW_NONE);
    EXPECT_EQ_U64(destination(&all_to_0, 5, &random), 0);
    struct traffic twice =
        make(&chosen, "{\"type\": \"hotspot\", \"terminals\": [2, 2, 3], \"weights\": [1, 1, 0]}", 8, NULL, 1);
    EXPECT_EQ_U64(destination(&twice, 2, &random), FW_NONE);
    struct traffic some = make(&chosen, "{\"type\": \"hotspot\", \"share\": 0.9}", 8, NULL, 1);
    double share[8];
    measure(&some, 0, 70000, share);
    EXPECT(share[0] == 0);
    for (uint32_t i = 1; i < 8; i++)
        EXPECT_NEAR(share[i], 1.0 / 7, 0.007);
    arena_release(&chosen.arena);
}

TEST(hotspot_refuses_terminals_and_weights_that_do_not_fit)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    make(&chosen, "{\"type\": \"hotspot\", \"terminals\": [8]}", 8, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "there is no terminal 8: the last one is 7");
    make(&chosen, "{\"type\": \"hotspot\", \"terminals\": []}", 8, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "there must be a hot terminal");
    make(&chosen, "{\"type\": \"hotspot\", \"weights\": [1, 2]}", 8, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "2 weights for 1 entries");
    make(&chosen, "{\"type\": \"hotspot\", \"weights\": [0]}", 8, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "all weights are 0");
    arena_release(&chosen.arena);
}

/* A quarter of the messages go to the next terminal, the others to the complement. */
TEST(mix_draws_its_patterns_by_weight)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const char json[] =
        "{\"type\": \"mix\", \"patterns\": [\"neighbor\", \"bit_complement\"], \"weights\": [1, 3]}";
    struct traffic traffic = make(&chosen, json, 8, NULL, 1);
    double share[8];
    measure(&traffic, 1, 40000, share);
    EXPECT_NEAR(share[2], 0.25, 0.011);
    EXPECT_NEAR(share[6], 0.75, 0.011);
    struct traffic silent =
        make(&chosen, "{\"type\": \"mix\", \"patterns\": [\"hotspot\", \"neighbor\", \"hotspot\"]}", 8, NULL, 1);
    measure(&silent, 0, 100, share);
    EXPECT_NEAR(share[1], 1, 1e-9);
    struct traffic none = make(&chosen, "{\"type\": \"mix\", \"patterns\": [\"hotspot\", \"hotspot\"]}", 8, NULL, 1);
    struct random random = random_stream(1, 0, RANDOM_TRAFFIC);
    EXPECT_EQ_U64(destination(&none, 0, &random), FW_NONE);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    make(&chosen, "{\"type\": \"mix\", \"patterns\": [\"neighbor\", \"shuffle\"], \"weights\": [1]}", 6, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "shuffle needs a power of two");
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "1 weights for 2 entries");
    arena_release(&chosen.arena);
}

/* A matrix pattern from a file with this text. */
static struct traffic make_matrix(struct chosen *chosen, const char *text, uint32_t terminals)
{
    char path[] = "/tmp/flitwarp-matrix-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(text, file);
    fclose(file);
    const char *json = arena_format(&chosen->arena, "{\"type\": \"matrix\", \"file\": \"%s\"}", path);
    struct traffic traffic = make(chosen, json, terminals, NULL, 1);
    unlink(path);
    return traffic;
}

TEST(matrix_draws_by_the_weights_of_the_source)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct traffic traffic = make_matrix(&chosen, "# three terminals\n0, 1,3\n\n0,0,0\r\n5,0,0\n", 3);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    double share[3];
    measure(&traffic, 0, 40000, share);
    EXPECT(share[0] == 0);
    EXPECT_NEAR(share[1], 0.25, 0.011);
    measure(&traffic, 2, 100, share);
    EXPECT_NEAR(share[0], 1, 1e-9);
    struct random random = random_stream(1, 0, RANDOM_TRAFFIC);
    EXPECT_EQ_U64(destination(&traffic, 1, &random), FW_NONE);
    arena_release(&chosen.arena);
}

TEST(matrix_errors_name_file_and_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1,2\n3,x\n", ":2: field 2 (\"x\") is not a number"},
        {"1,2\n\n3,-1\n", ":3: field 2 (\"-1\") is not a number"},
        {"1,2\n3,\n", ":2: field 2 (\"\") is not a number"},
        {"1,2\n3 4,5\n", ":2: field 1 (\"3 4\") is not a number"},
        {"1,2\n3,4,5\n", ":2: 3 weights for 2 terminals"},
        {"1,2\n", ": 1 lines of weights for 2 terminals"},
        {"# nothing\n", "holds no numbers"},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        make_matrix(&chosen, cases[i].text, 2);
        EXPECT_EQ_U64(chosen.errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), cases[i].message);
        arena_release(&chosen.arena);
    }
    struct chosen chosen = CHOSEN_INIT(chosen);
    make(&chosen, "{\"type\": \"matrix\", \"file\": \"/nowhere/weights.csv\"}", 2, NULL, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "No such file or directory");
    arena_release(&chosen.arena);
}

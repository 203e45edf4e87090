/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators: the contract over everything registered, then what theory says of each. */
#include "test.h"

#include "chosen.h"
#include "flitwarp/allocator.h"

#include <math.h>

struct bench {
    struct choice choice;
    const struct allocator_ops *ops;
    void *state;
    struct matching matching;
    struct random random;
};

static bool needs_age(const struct choice *choice)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    return ops->needs_age && ops->needs_age(choice->config);
}

static void bench_init(struct bench *bench, struct chosen *chosen, struct choice choice, uint32_t rows, uint32_t cols)
{
    const struct allocator_ops *ops = CHOICE_OPS(&choice, struct allocator_ops);
    *bench = (struct bench){.choice = choice, .ops = ops, .random = random_stream(1, rows, RANDOM_ARBITER)};
    bench->state = arena_take(&chosen->arena, ops->state_size ? ops->state_size(choice.config, rows, cols) : 0);
    if (ops->init)
        ops->init(bench->state, choice.config, rows, cols);
    matching_init(&bench->matching, &chosen->arena, rows, cols, needs_age(&choice), &bench->random);
}

static bool wants(const struct matching *matching, uint64_t row, uint64_t col)
{
    return bits_test(matching->wants + row * matching->col_words, (uint32_t)col);
}

static void request_some(struct matching *matching, uint32_t one_in, struct random *random)
{
    matching_request(matching, random_below(random, matching->rows), random_below(random, matching->cols));
    for (uint32_t row = 0; row < matching->rows; row++)
        for (uint32_t col = 0; col < matching->cols; col++)
            if (random_below(random, one_in) == 0)
                matching_request(matching, row, col);
}

static bool is_zero(const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return false;
    return true;
}

static bool scratch_is_zero(const struct matching *m)
{
    return is_zero(m->scratch, (size_t)(m->rows + m->cols) * (m->row_words + m->col_words + 2));
}

static uint32_t grants(const struct matching *matching)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < matching->row_words; w++)
        count += (uint32_t)__builtin_popcountll(matching->granted[w]);
    return count;
}

/* Whether grants are requests, and no two share a column. */
static bool is_matching(const struct matching *matching)
{
    uint64_t taken[8] = {0};
    BITS_EACH(row, matching->granted, matching->row_words) {
        uint32_t col = matching->grant[row];
        if (row >= matching->rows || col >= matching->cols || !wants(matching, row, col) || bits_test(taken, col))
            return false;
        bits_add(taken, col);
    }
    return true;
}

/* Whether no request is left whose row and column are both free. */
static bool is_maximal(const struct matching *matching)
{
    uint64_t taken[8] = {0};
    BITS_EACH(row, matching->granted, matching->row_words)
        bits_add(taken, matching->grant[row]);
    for (uint32_t row = 0; row < matching->rows; row++)
        for (uint32_t col = 0; col < matching->cols; col++)
            if (wants(matching, row, col) && !bits_test(matching->granted, row) && !bits_test(taken, col))
                return false;
    return true;
}

/* The most grants possible for rows from `row` on, by trying everything. */
static uint32_t most_grants(const struct matching *matching, uint32_t row, uint64_t taken)
{
    if (row == matching->rows)
        return 0;
    uint32_t best = most_grants(matching, row + 1, taken);
    for (uint32_t col = 0; col < matching->cols; col++) {
        if (!wants(matching, row, col) || (taken & bit(col)))
            continue;
        uint32_t count = 1 + most_grants(matching, row + 1, taken | bit(col));
        best = count > best ? count : best;
    }
    return best;
}

static void allocate(struct bench *bench)
{
    bench->ops->allocate(bench->state, bench->choice.config, &bench->matching);
}

static const uint32_t shapes[][2] = {{1, 1}, {5, 5}, {64, 64}, {65, 3}, {3, 130}, {64, 65}, {200, 150}};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

static void check_contract(struct chosen *chosen, struct choice choice, struct random *random)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++) {
        struct bench bench;
        bench_init(&bench, chosen, choice, shapes[shape][0], shapes[shape][1]);
        struct matching *matching = &bench.matching;
        for (uint32_t round = 0; round < 40; round++) {
            request_some(matching, round % 2 ? 2 : 40, random);
            allocate(&bench);
            EXPECT(is_matching(matching));
            EXPECT(grants(matching) >= 1);
            EXPECT(scratch_is_zero(matching));
            matching_clear(matching, matching->row_words, matching->col_words);
            EXPECT(is_zero(matching->wants, (size_t)matching->rows * matching->col_words));
            EXPECT(is_zero(matching->wanted_by, (size_t)matching->cols * matching->row_words));
        }
        allocate(&bench); /* nothing asked for: nothing granted */
        EXPECT_EQ_U64(grants(matching), 0);
    }
}

TEST(every_allocator_grants_requests_one_to_a_row_and_column)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(2, 0, RANDOM_SETUP);
    EACH_REGISTERED(at, "allocator")
    {
        check_contract(&chosen, choose_default(&chosen, at), &random);
        if (at->component->example)
            check_contract(&chosen, choose(&chosen, "allocator", at->component->example), &random);
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

TEST(no_allocator_starves_a_row_when_all_ask_for_all)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EACH_REGISTERED(at, "allocator")
    {
        struct bench bench;
        bench_init(&bench, &chosen, choose_default(&chosen, at), 70, 5);
        bool served[70] = {0};
        for (uint32_t round = 0; round < 1400; round++) { /* odds that random picks miss one: 70 * (1 - 1/70)^7000 */
            for (uint32_t i = 0; i < 70 * 5; i++)
                matching_request(&bench.matching, i / 5, i % 5);
            allocate(&bench);
            BITS_EACH(row, bench.matching.granted, bench.matching.row_words)
                served[row] = true;
            matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
        }
        for (uint32_t row = 0; row < 70; row++)
            EXPECT(served[row]);
    }
    arena_release(&chosen.arena);
}

static void request_all(struct matching *matching)
{
    for (uint32_t row = 0; row < matching->rows; row++)
        for (uint32_t col = 0; col < matching->cols; col++)
            matching_request(matching, row, col);
}

/* After settling, N calls in which all ask for all: N grants each, and every pair exactly once. */
static void check_full_throughput(struct chosen *chosen, const char *json, uint32_t size)
{
    struct bench bench;
    bench_init(&bench, chosen, choose(chosen, "allocator", json), size, size);
    uint8_t *served = arena_array(&chosen->arena, uint8_t, size * size);
    for (uint32_t call = 0; call < 3 * size; call++) {
        request_all(&bench.matching);
        allocate(&bench);
        if (call >= 2 * size) {
            EXPECT_EQ_U64(grants(&bench.matching), size);
            BITS_EACH(row, bench.matching.granted, bench.matching.row_words)
                served[row * size + bench.matching.grant[row]]++;
        }
        matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
    }
    for (uint32_t i = 0; i < size * size; i++)
        EXPECT_EQ_U64(served[i], 1);
}

TEST(rotating_allocators_reach_full_throughput_when_all_ask_for_all)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const uint32_t widths[] = {1, 4, 16, 64, 100};
    for (uint32_t i = 0; i < 5; i++) {
        check_full_throughput(&chosen, "\"islip\"", widths[i]);
        check_full_throughput(&chosen, "{\"type\": \"islip\", \"iterations\": 4}", widths[i]);
        check_full_throughput(&chosen, "\"separable_input_first\"", widths[i]);
        check_full_throughput(&chosen, "\"separable_output_first\"", widths[i]);
        check_full_throughput(&chosen, "\"wavefront\"", widths[i]);
    }
    arena_release(&chosen.arena);
}

/*
 * All 3 rows ask for all 3 columns, all pointers at 0. First call: every column offers itself to row 0, which takes
 * column 0; then columns 1 and 2 turn to row 1, which takes column 1, but its pointer and the column's stay. So in the
 * second call column 0 turns to row 1 and columns 1 and 2 to row 0 again, which is at column 1 by now; column 2 is left
 * for row 2.
 */
TEST(islip_pointers_move_in_the_first_iteration_alone)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct bench bench;
    bench_init(&bench, &chosen, choose(&chosen, "allocator", "{\"type\": \"islip\", \"iterations\": 2}"), 3, 3);
    request_all(&bench.matching);
    allocate(&bench);
    EXPECT_EQ_U64(bench.matching.granted[0], 3);
    EXPECT_EQ_U64(bench.matching.grant[0], 0);
    EXPECT_EQ_U64(bench.matching.grant[1], 1);
    matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
    request_all(&bench.matching);
    allocate(&bench);
    EXPECT_EQ_U64(bench.matching.granted[0], 7);
    EXPECT_EQ_U64(bench.matching.grant[0], 1);
    EXPECT_EQ_U64(bench.matching.grant[1], 0);
    EXPECT_EQ_U64(bench.matching.grant[2], 2);
    arena_release(&chosen.arena);
}

/* A row gets an offer unless all N columns turn elsewhere: N (1 - (1 - 1/N)^N) grants in the mean. */
TEST(pim_with_one_iteration_grants_what_theory_says)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const uint32_t widths[] = {4, 8, 16, 70};
    for (uint32_t i = 0; i < 4; i++) {
        double size = widths[i], total = 0;
        struct bench bench;
        bench_init(&bench, &chosen, choose(&chosen, "allocator", "\"pim\""), widths[i], widths[i]);
        for (uint32_t call = 0; call < 4000; call++) {
            matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
            request_all(&bench.matching);
            allocate(&bench);
            total += grants(&bench.matching);
        }
        EXPECT_NEAR(total / 4000 / size, 1 - pow(1 - 1 / size, size), 0.01);
    }
    arena_release(&chosen.arena);
}

/* Of four places one draws row 0, the others the next row from there on that asks. */
TEST(pim_that_draws_a_place_favours_who_stands_behind_a_gap)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct bench bench;
    bench_init(&bench, &chosen, choose(&chosen, "allocator", "{\"type\": \"pim\", \"draw\": \"place\"}"), 4, 1);
    double last = 0;
    for (uint32_t call = 0; call < 4000; call++) {
        matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
        matching_request(&bench.matching, 0, 0);
        matching_request(&bench.matching, 3, 0);
        allocate(&bench);
        last += bits_test(bench.matching.granted, 3);
    }
    EXPECT_NEAR(last / 4000, 0.75, 0.03);
    arena_release(&chosen.arena);
}

TEST(maximum_size_grants_as_many_as_trying_everything)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(3, 0, RANDOM_SETUP);
    for (uint32_t round = 0; round < 400; round++) {
        struct bench bench;
        uint32_t rows = 1 + random_below(&random, 6), cols = 1 + random_below(&random, 6);
        bench_init(&bench, &chosen, choose(&chosen, "allocator", "\"maximum_size\""), rows, cols);
        for (uint32_t call = 0; call < 4; call++) {
            request_some(&bench.matching, 2 + round % 4, &random);
            allocate(&bench);
            EXPECT_EQ_U64(grants(&bench.matching), most_grants(&bench.matching, 0, 0));
            matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
        }
    }
    arena_release(&chosen.arena);
}

TEST(allocators_are_maximal_given_enough_iterations_and_never_above_the_maximum)
{
    static const char *const allocators[] = {
        "\"wavefront\"",
        "\"maximum_size\"",
        "{\"type\": \"islip\", \"iterations\": 64}",
        "{\"type\": \"pim\", \"iterations\": 64}",
        "{\"type\": \"separable_input_first\", \"iterations\": 64}",
        "{\"type\": \"separable_output_first\", \"iterations\": 64, \"input_arbiter\": \"least_recently_served\"}",
    };
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(4, 0, RANDOM_SETUP);
    for (uint32_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++) {
        for (uint32_t shape = 0; shape < SHAPES; shape++) {
            struct bench bench, best;
            uint32_t rows = shapes[shape][0], cols = shapes[shape][1];
            bench_init(&bench, &chosen, choose(&chosen, "allocator", allocators[i]), rows, cols);
            for (uint32_t call = 0; call < 20; call++) {
                request_some(&bench.matching, call % 2 ? 3 : 30, &random);
                allocate(&bench);
                EXPECT(is_maximal(&bench.matching));
                bench_init(&best, &chosen, choose(&chosen, "allocator", "\"maximum_size\""), rows, cols);
                for (uint32_t row = 0; row < rows; row++)
                    for (uint32_t col = 0; col < cols; col++)
                        if (wants(&bench.matching, row, col))
                            matching_request(&best.matching, row, col);
                allocate(&best);
                EXPECT(grants(&bench.matching) <= grants(&best.matching));
                matching_clear(&bench.matching, bench.matching.row_words, bench.matching.col_words);
            }
        }
    }
    arena_release(&chosen.arena);
}

TEST(separable_hands_ages_to_the_arbiters_of_both_sides)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct bench bench;
    struct choice by_output =
        choose(&chosen, "allocator", "{\"type\": \"separable_input_first\", \"output_arbiter\": \"age\"}");
    bench_init(&bench, &chosen, by_output, 70, 90);
    for (uint32_t row = 0; row < 70; row++) {
        matching_request(&bench.matching, row, 80);
        bench.matching.age[row * 90 + 80] = 1000 - row % 69; /* row 68 is the oldest */
    }
    allocate(&bench);
    EXPECT_EQ_U64(grants(&bench.matching), 1);
    EXPECT(bits_test(bench.matching.granted, 68));
    EXPECT(scratch_is_zero(&bench.matching));

    struct choice by_input =
        choose(&chosen, "allocator", "{\"type\": \"separable_output_first\", \"input_arbiter\": \"age\"}");
    bench_init(&bench, &chosen, by_input, 70, 90);
    for (uint32_t col = 0; col < 90; col++) {
        matching_request(&bench.matching, 66, col);
        bench.matching.age[66 * 90 + col] = col == 77 ? 1 : 5;
    }
    allocate(&bench);
    EXPECT_EQ_U64(bench.matching.grant[66], 77);
    EXPECT(scratch_is_zero(&bench.matching));
    arena_release(&chosen.arena);
}

/* ---- by words ---- */

static const char *const by_words[] = {
    "{\"type\": \"round_robin\"}",
    "{\"type\": \"islip\"}",
    "{\"type\": \"islip\", \"iterations\": 3}",
    "{\"type\": \"separable_input_first\"}",
    "{\"type\": \"separable_input_first\", \"iterations\": 2, \"output_arbiter\": \"age\"}",
    "{\"type\": \"separable_output_first\", \"iterations\": 2}",
    "{\"type\": \"separable_output_first\", \"output_arbiter\": \"least_recently_served\"}",
    "{\"type\": \"separable_output_first\", \"input_arbiter\": \"weighted\"}",
    "{\"type\": \"pim\", \"iterations\": 2}",
    "{\"type\": \"pim\", \"draw\": \"place\"}",
    "{\"type\": \"wavefront\"}",
    "{\"type\": \"wavefront\", \"first\": \"behind_served\"}",
};

/* The requests of a matching, as words. */
static void ask_by_words(const struct matching *matching, struct word_matching *words, struct random *random)
{
    words->asked = (struct word_requests){0};
    words->row_count = matching->rows;
    words->col_count = matching->cols;
    words->age = matching->age;
    words->random = random;
    BITS_EACH(row, matching->active_rows, matching->row_words)
        words_request(words, &words->asked, row, matching->wants[row]);
}

static void check_words(struct chosen *chosen, struct choice choice, uint32_t rows, uint32_t cols,
                        struct random *random)
{
    struct bench one, other;
    struct word_matching words;
    bench_init(&one, chosen, choice, rows, cols);
    bench_init(&other, chosen, choice, rows, cols);
    EXPECT(allocator_takes_words(&choice, rows, cols));
    for (uint32_t round = 0; round < 300; round++) {
        struct matching *matching = &one.matching;
        if (round % 10 < 9) /* and some without requests */
            request_some(matching, round % 3 ? 20 : 2, random);
        for (uint32_t i = 0; matching->age && i < rows * cols; i++)
            matching->age[i] = random_below(random, 50);
        allocate(&one);
        ask_by_words(matching, &words, &other.random);
        other.ops->allocate_words(other.state, choice.config, &words);
        EXPECT_EQ_U64(words.granted, *matching->granted);
        BITS_EACH(row, matching->granted, 1)
            EXPECT_EQ_U64(words.grant[row], matching->grant[row]);
        matching_clear(matching, matching->row_words, matching->col_words);
    }
}

TEST(allocators_grant_by_words_what_they_grant_by_matchings)
{
    static const uint32_t sizes[][2] = {{1, 1}, {5, 5}, {10, 4}, {3, 40}, {64, 64}};
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(12, 0, RANDOM_SETUP);
    for (uint32_t i = 0; i < sizeof by_words / sizeof *by_words; i++)
        for (uint32_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            check_words(&chosen, choose(&chosen, "allocator", by_words[i]), sizes[size][0], sizes[size][1], &random);
    struct choice islip = choose(&chosen, "allocator", "\"islip\""),
                  other = choose(&chosen, "allocator", "\"lonely_output\"");
    EXPECT(!allocator_takes_words(&islip, 65, 64) && !allocator_takes_words(&islip, 64, 65));
    EXPECT(!allocator_takes_words(&other, 5, 5));
    arena_release(&chosen.arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Arbiters: the contract over everything registered, then each one's own order. */
#include "test.h"

#include "chosen.h"
#include "flitwarp/arbiter.h"
#include "flitwarp/packet.h"

#define MAX_INPUTS 200
#define MAX_WORDS 4

struct bench {
    const struct arbiter_ops *ops;
    void *state;
    uint32_t inputs;
    uint64_t requests[MAX_WORDS];
    uint64_t age[MAX_INPUTS];
    struct random random;
};

static struct bench bench_init(struct chosen *chosen, const struct choice *choice, uint32_t inputs)
{
    struct bench bench = {
        .ops = CHOICE_OPS(choice, struct arbiter_ops),
        .inputs = inputs,
        .random = random_stream(1, inputs, RANDOM_ARBITER),
    };
    size_t bytes = arbiter_state_size(bench.ops, choice->config, inputs);
    bench.state = arena_take(&chosen->arena, bytes);
    arbiter_init(bench.ops, bench.state, choice->config, inputs);
    return bench;
}

static uint32_t bench_pick(struct bench *bench)
{
    struct arbitration arbitration = {
        .requests = bench->requests,
        .inputs = bench->inputs,
        .words = words_for(bench->inputs),
        .age = bench->ops->needs_age ? bench->age : NULL,
        .random = &bench->random,
    };
    return bench->ops->pick(bench->state, &arbitration);
}

static uint32_t bench_serve(struct bench *bench)
{
    uint32_t winner = bench_pick(bench);
    arbiter_served(bench->ops, bench->state, bench->inputs, winner);
    return winner;
}

static void request_all(struct bench *bench) { bits_add_range(bench->requests, 0, bench->inputs); }

static void request_some(struct bench *bench, struct random *random)
{
    memset(bench->requests, 0, sizeof(bench->requests));
    bits_add(bench->requests, random_below(random, bench->inputs));
    for (uint32_t i = 0; i < bench->inputs; i++)
        if (random_below(random, 3) == 0)
            bits_add(bench->requests, i);
}

static const uint32_t sizes[] = {1, 2, 5, 63, 64, 65, 130, 200};
#define SIZES (sizeof(sizes) / sizeof(*sizes))
#define EACH_SIZE(inputs) for (const uint32_t *inputs = sizes; inputs < sizes + SIZES; inputs++)

TEST(every_arbiter_grants_only_requesters_and_picks_the_same_twice)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(2, 0, RANDOM_SETUP);
    EACH_REGISTERED(at, "arbiter")
    {
        struct choice choice = choose_default(&chosen, at);
        EACH_SIZE(inputs)
        {
            struct bench bench = bench_init(&chosen, &choice, *inputs);
            for (uint32_t round = 0; round < 300; round++) {
                request_some(&bench, &random);
                for (uint32_t i = 0; i < *inputs; i++)
                    bench.age[i] = random_below(&random, 50);
                struct random before = bench.random;
                uint32_t winner = bench_pick(&bench);
                EXPECT(winner < *inputs && bits_test(bench.requests, winner));
                bench.random = before;
                EXPECT_EQ_U64(bench_serve(&bench), winner);
            }
        }
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

/* A served input gets a younger packet, as in a router. Missing one of n in 60 n random picks has odds below 1e-23. */
TEST(no_arbiter_starves_an_input_but_fixed_priority)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EACH_REGISTERED(at, "arbiter")
    {
        if (strcmp(at->component->name, "fixed_priority") == 0)
            continue;
        struct choice choice = choose_default(&chosen, at);
        EACH_SIZE(inputs)
        {
            struct bench bench = bench_init(&chosen, &choice, *inputs);
            uint32_t served[MAX_INPUTS] = {0};
            request_all(&bench);
            for (uint32_t time = 1; time <= 60 * *inputs; time++) {
                uint32_t winner = bench_serve(&bench);
                served[winner]++;
                bench.age[winner] = time;
            }
            for (uint32_t i = 0; i < *inputs; i++)
                EXPECT(served[i] > 0);
        }
    }
    arena_release(&chosen.arena);
}

TEST(round_robin_goes_on_after_the_last_served_and_wraps)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter", "\"round_robin\"");
    EACH_SIZE(inputs)
    {
        struct bench bench = bench_init(&chosen, &choice, *inputs);
        request_all(&bench);
        for (uint32_t i = 0; i < 3 * *inputs; i++)
            EXPECT_EQ_U64(bench_serve(&bench), i % *inputs);
    }
    struct bench bench = bench_init(&chosen, &choice, 70);
    bits_add(bench.requests, 3);
    bits_add(bench.requests, 66);
    EXPECT_EQ_U64(bench_serve(&bench), 3);
    EXPECT_EQ_U64(bench_serve(&bench), 66);
    EXPECT_EQ_U64(bench_serve(&bench), 3);
    arena_release(&chosen.arena);
}

TEST(least_recently_served_follows_the_times_of_service)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter", "\"least_recently_served\"");
    struct random random = random_stream(3, 0, RANDOM_SETUP);
    EACH_SIZE(inputs)
    {
        struct bench bench = bench_init(&chosen, &choice, *inputs);
        uint32_t served_at[MAX_INPUTS];
        for (uint32_t i = 0; i < *inputs; i++)
            served_at[i] = i;
        for (uint32_t time = *inputs; time < *inputs + 1000; time++) {
            request_some(&bench, &random);
            uint32_t oldest = FW_NONE;
            BITS_EACH(i, bench.requests, MAX_WORDS)
                if (oldest == FW_NONE || served_at[i] < served_at[oldest])
                    oldest = (uint32_t)i;
            EXPECT_EQ_U64(bench_serve(&bench), oldest);
            served_at[oldest] = time;
        }
    }
    arena_release(&chosen.arena);
}

TEST(age_serves_the_oldest_and_takes_turns_among_equals)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter", "\"age\"");
    struct bench bench = bench_init(&chosen, &choice, 130);
    request_all(&bench);
    for (uint32_t i = 0; i < 130; i++)
        bench.age[i] = 10;
    for (uint32_t i = 0; i < 260; i++)
        EXPECT_EQ_U64(bench_serve(&bench), i % 130);
    bench.age[77] = 9;
    EXPECT_EQ_U64(bench_serve(&bench), 77);
    bench.age[77] = 10;
    EXPECT_EQ_U64(bench_serve(&bench), 78);
    bits_remove(bench.requests, 79);
    EXPECT_EQ_U64(bench_serve(&bench), 80);
    arena_release(&chosen.arena);
}

TEST(fixed_priority_serves_one_end)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice lowest = choose(&chosen, "arbiter", "\"fixed_priority\"");
    struct choice highest = choose(&chosen, "arbiter", "{\"type\": \"fixed_priority\", \"order\": \"highest_first\"}");
    struct bench low = bench_init(&chosen, &lowest, 130), high = bench_init(&chosen, &highest, 130);
    bits_add(low.requests, 5);
    bits_add(low.requests, 70);
    memcpy(high.requests, low.requests, sizeof(low.requests));
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ_U64(bench_serve(&low), 5);
        EXPECT_EQ_U64(bench_serve(&high), 70);
    }
    arena_release(&chosen.arena);
}

/* How often each of 130 inputs is served, of which 0, 63 and 129 ask 30000 times. */
static void count_served(const char *json, uint32_t served[130])
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter", json);
    struct bench bench = bench_init(&chosen, &choice, 130);
    bits_add(bench.requests, 0);
    bits_add(bench.requests, 63);
    bits_add(bench.requests, 129);
    for (uint32_t i = 0; i < 30000; i++)
        served[bench_serve(&bench)]++;
    arena_release(&chosen.arena);
}

/* Each of 3 requesters a third of the time: the standard deviation of 30000 picks is 0.0027. */
TEST(random_arbiter_is_fair_in_the_mean)
{
    uint32_t served[130] = {0};
    count_served("\"random\"", served);
    EXPECT_NEAR(served[0] / 30000.0, 1.0 / 3, 0.014);
    EXPECT_NEAR(served[63] / 30000.0, 1.0 / 3, 0.014);
    EXPECT_NEAR(served[129] / 30000.0, 1.0 / 3, 0.014);
}

/* 130 places to begin at: only 0 itself leads to 0, 1 to 63 lead to 63, the other 66 to 129. */
TEST(random_priority_favours_those_behind_silent_inputs)
{
    uint32_t served[130] = {0};
    count_served("\"random_priority\"", served);
    EXPECT_NEAR(served[0] / 30000.0, 1.0 / 130, 0.003);
    EXPECT_NEAR(served[63] / 30000.0, 63.0 / 130, 0.015);
    EXPECT_NEAR(served[129] / 30000.0, 66.0 / 130, 0.015);
}

TEST(classes_share_evenly_however_many_inputs_they_have)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter", "{\"type\": \"dual_stage_class\", \"class_map\": [0, 1, 1, 1]}");
    struct bench bench = bench_init(&chosen, &choice, 8); /* 0 and 4 are of class 0 */
    static const uint32_t turns[] = {0, 1, 4, 2, 0, 3, 4, 5, 0, 6, 4, 7};
    request_all(&bench);
    for (uint32_t i = 0; i < 36; i++)
        EXPECT_EQ_U64(bench_serve(&bench), turns[i % 12]);
    bits_remove(bench.requests, 0);
    bits_remove(bench.requests, 4);
    for (uint32_t i = 0; i < 6; i++)
        EXPECT(bench_serve(&bench) % 4 != 0); /* class 1 has it all */
    arena_release(&chosen.arena);
}

/* A tree of arbiters: of three ports with two inputs each a port is next, then one of its inputs. */
TEST(inputs_that_stand_together_are_of_one_class)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice =
        choose(&chosen, "arbiter", "{\"type\": \"dual_stage_class\", \"class_map\": [0, 1, 2], \"together\": 2}");
    struct bench bench = bench_init(&chosen, &choice, 6);
    static const uint32_t turns[] = {0, 2, 4, 1, 3, 5};
    request_all(&bench);
    for (uint32_t i = 0; i < 18; i++)
        EXPECT_EQ_U64(bench_serve(&bench), turns[i % 6]);
    bits_remove(bench.requests, 2);
    bits_remove(bench.requests, 3);
    static const uint32_t without[] = {0, 4, 1, 5};
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ_U64(bench_serve(&bench), without[i % 4]);
    arena_release(&chosen.arena);
}

TEST(a_class_is_as_old_as_its_oldest_request)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "arbiter",
                                  "{\"type\": \"dual_stage_class\", \"class_map\": [0, 1, 2], \"class_arbiter\": "
                                  "\"age\", \"input_arbiter\": {\"type\": \"fixed_priority\"}}");
    struct bench bench = bench_init(&chosen, &choice, 130);
    request_all(&bench);
    for (uint32_t i = 0; i < 130; i++)
        bench.age[i] = 100 + i;
    bench.age[127] = 5; /* of class 1, whose first input is 1 */
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ_U64(bench_serve(&bench), 1);
    bench.age[128] = 4;
    EXPECT_EQ_U64(bench_serve(&bench), 2);
    arena_release(&chosen.arena);
}

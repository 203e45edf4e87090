/* SPDX-License-Identifier: Apache-2.0 */
/* Injection processes: rates, variances and steady state against theory. */
#include "test.h"

#include "chosen.h"
#include "flitwarp/injection.h"

#include <math.h>

static struct injection make(struct chosen *chosen, const char *json, double rate)
{
    struct choice *choice = arena_array(&chosen->arena, struct choice, 1);
    *choice = choose(chosen, "injection", json);
    struct injection injection = {
        .ops = CHOICE_OPS(choice, struct injection_ops), .config = choice->config, .rate = rate};
    if (injection.ops->prepare)
        injection.ops->prepare(&injection, choice, &chosen->errors);
    return injection;
}

struct source {
    const struct injection *injection;
    char state[64];
    bool has_begun;
    struct random random;
};

static struct source source_init(const struct injection *injection, uint64_t number)
{
    FW_CHECK(injection->ops->state_size <= 64, "room for the state");
    return (struct source){.injection = injection, .random = random_stream(5, number, RANDOM_INJECTION)};
}

static uint64_t source_gap(struct source *source)
{
    bool first = !source->has_begun;
    source->has_begun = true;
    return source->injection->ops->gap(source->injection, source->state, first, &source->random);
}

/* Messages made by one source in the cycles [0, cycles). */
static uint64_t count_messages(struct source *source, uint64_t cycles)
{
    uint64_t messages = 0;
    for (uint64_t now = source_gap(source); now < cycles; now += source_gap(source))
        messages++;
    return messages;
}

struct moments {
    double mean, variance;
};

/* Of the number of messages in the cycles [0, cycles), over so many sources. */
static struct moments count_moments(const struct injection *injection, uint64_t cycles, uint32_t sources)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < sources; i++) {
        struct source source = source_init(injection, i);
        double count = (double)count_messages(&source, cycles);
        sum += count;
        squares += count * count;
    }
    double mean = sum / sources;
    return (struct moments){mean, squares / sources - mean * mean};
}

/* Both in the long run and in the very first cycle: the process starts in its steady state. */
TEST(every_process_keeps_its_rate_from_the_first_cycle_on)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const double rates[] = {0.03, 0.3, 0.77, 1};
    EACH_REGISTERED(at, "injection")
    {
        const char *name = arena_format(&chosen.arena, "\"%s\"", at->component->name);
        for (uint32_t i = 0; i < 4; i++) {
            struct injection injection = make(&chosen, name, rates[i]);
            struct source source = source_init(&injection, 99);
            EXPECT_NEAR((double)count_messages(&source, 3000000) / 3000000, rates[i], 0.015 * rates[i] + 0.002);
            double first = count_moments(&injection, 1, 40000).mean;
            EXPECT_NEAR(first, rates[i], 5 * sqrt(rates[i] / 40000));
        }
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

TEST(only_processes_without_a_limit_make_several_messages_in_a_cycle)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EACH_REGISTERED(at, "injection")
    {
        const char *name = arena_format(&chosen.arena, "\"%s\"", at->component->name);
        struct injection injection = make(&chosen, name, 0.9);
        struct source source = source_init(&injection, 1);
        bool several = false;
        source_gap(&source);
        for (uint32_t i = 0; i < 10000; i++)
            several |= source_gap(&source) == 0;
        EXPECT(several == (injection.ops->max_rate == 0));
    }
    arena_release(&chosen.arena);
}

/* Counts in T cycles are binomial: mean T p, variance T p (1 - p). */
TEST(bernoulli_counts_are_binomial)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct injection injection = make(&chosen, "\"bernoulli\"", 0.3);
    struct moments counts = count_moments(&injection, 100, 20000);
    EXPECT_NEAR(counts.mean, 30, 0.17);
    EXPECT_NEAR(counts.variance, 21, 1.1);
    struct injection always = make(&chosen, "\"bernoulli\"", 1);
    struct source source = source_init(&always, 0);
    EXPECT_EQ_U64(source_gap(&source), 0);
    for (uint32_t i = 0; i < 100; i++)
        EXPECT_EQ_U64(source_gap(&source), 1);
    arena_release(&chosen.arena);
}

/* Counts in T cycles have mean and variance T * rate, above one a cycle too. */
TEST(poisson_counts_have_equal_mean_and_variance)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct injection slow = make(&chosen, "\"poisson\"", 0.2), fast = make(&chosen, "\"poisson\"", 2.5);
    struct moments counts = count_moments(&slow, 100, 20000);
    EXPECT_NEAR(counts.mean, 20, 0.16);
    EXPECT_NEAR(counts.variance, 20, 1);
    counts = count_moments(&fast, 10, 20000);
    EXPECT_NEAR(counts.mean, 25, 0.18);
    EXPECT_NEAR(counts.variance, 25, 1.3);
    arena_release(&chosen.arena);
}

/* Every 2.5 cycles: moments 0, 2.5, 5, 7.5, ... fall into cycles 0, 2, 5, 7, 10. */
TEST(periodic_gaps_are_the_whole_numbers_around_the_period)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct injection aligned = make(&chosen, "{\"type\": \"periodic\", \"phase\": \"aligned\"}", 0.4);
    struct source source = source_init(&aligned, 0);
    static const uint64_t gaps[] = {0, 2, 3, 2, 3, 2, 3};
    for (uint32_t i = 0; i < 7; i++)
        EXPECT_EQ_U64(source_gap(&source), gaps[i]);
    struct injection spread = make(&chosen, "\"periodic\"", 0.01);
    for (uint32_t i = 0; i < 100; i++) {
        source = source_init(&spread, i);
        EXPECT(source_gap(&source) < 100);
        EXPECT_EQ_U64(source_gap(&source), 100);
    }
    arena_release(&chosen.arena);
}

/*
 * on_rate 1, rate f: in each cycle the chain leaves a burst with probability b = 1 / burst and a pause with
 * a = b f / (1 - f). States n cycles apart correlate by r^n, r = 1 - a - b, so that the variance of a count over T
 * cycles tends to T f (1 - f) (1 + r) / (1 - r).
 */
TEST(on_off_counts_have_the_variance_of_the_chain)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    double f = 0.25, b = 1.0 / 8, a = b * f / (1 - f), r = 1 - a - b, cycles = 4000;
    struct injection injection = make(&chosen, "{\"type\": \"on_off\", \"burst\": 8}", f);
    struct moments counts = count_moments(&injection, (uint64_t)cycles, 5000);
    double variance = cycles * f * (1 - f) * (1 + r) / (1 - r);
    EXPECT_NEAR(counts.mean, cycles * f, 5 * sqrt(variance / 5000));
    EXPECT_NEAR(counts.variance, variance, 0.11 * variance); /* five deviations of sqrt(2 / 5000), and the ends */
    arena_release(&chosen.arena);
}

/* With on_rate 1 a burst is a run of gaps of 1: its mean length is `burst`, deviation about the same. */
TEST(on_off_bursts_have_their_mean_length)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct injection injection = make(&chosen, "{\"type\": \"on_off\", \"burst\": 10}", 0.2);
    struct source source = source_init(&injection, 0);
    uint64_t messages = 200000, bursts = 0;
    for (uint64_t i = 0; i < messages; i++)
        bursts += source_gap(&source) > 1;
    EXPECT_NEAR((double)messages / (double)bursts, 10, 0.4);
    arena_release(&chosen.arena);
}

TEST(on_off_keeps_the_mean_rate_at_any_rate_within_a_burst)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    static const double rates[] = {0.05, 0.2, 0.39, 0.4};
    for (uint32_t i = 0; i < 4; i++) {
        struct injection injection = make(&chosen, "{\"type\": \"on_off\", \"burst\": 20, \"on_rate\": 0.4}", rates[i]);
        struct source source = source_init(&injection, i);
        EXPECT_NEAR((double)count_messages(&source, 20000000) / 20000000, rates[i], 0.02 * rates[i]);
    }
    EXPECT_EQ_U64(chosen.errors.count, 0);
    make(&chosen, "{\"type\": \"on_off\", \"on_rate\": 0.4}", 0.5);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "0.4 messages per cycle during a burst cannot give 0.5");
    arena_release(&chosen.arena);
}

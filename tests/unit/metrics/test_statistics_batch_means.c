/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confidence intervals are judged by what they promise: over many runs of a
 * process whose mean is known, 95 % of them contain it.
 */
#include "test.h"

#include "flitwarp/random.h"
#include "metrics/statistics.h"

#include <math.h>
#include <string.h>

#define RUNS 400
#define MEAN 10000.0

/* Nearly normal with variance 1: twelve uniform numbers. */
static double draw_normal(struct random *random)
{
    double sum = -6;
    for (uint32_t i = 0; i < 12; i++)
        sum += random_unit(random);
    return sum;
}

/* An autoregression x' = rho x + noise about MEAN that is sampled at one of `gap` ticks, at random. */
static void fill(struct batch_means *batches, uint64_t run, double rho, uint32_t ticks, uint32_t gap)
{
    struct random random = random_stream(11, run, RANDOM_SETUP);
    double state = draw_normal(&random) / sqrt(1 - rho * rho);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        state = rho * state + draw_normal(&random);
        if (gap == 1 || random_below(&random, gap) == 0)
            batch_means_add(batches, tick, (uint64_t)(MEAN + 500 * state + 0.5));
    }
}

/* The share of runs whose interval contains the mean; also the mean number of batches used. */
static double coverage(double rho, uint32_t ticks, uint32_t gap, double *batches_used)
{
    uint32_t covered = 0;
    *batches_used = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        struct batch_means batches = {0};
        fill(&batches, run, rho, ticks, gap);
        struct estimate estimate = batch_means_estimate(&batches);
        covered += fabs(estimate.mean - MEAN) <= estimate.half_width;
        *batches_used += estimate.batches / (double)RUNS;
    }
    return covered / (double)RUNS;
}

TEST(interval_covers_the_mean_of_independent_samples)
{
    double batches;
    EXPECT_NEAR(coverage(0, 6400, 1, &batches), 0.95, 0.03);
    EXPECT(batches > 40);
    EXPECT_NEAR(coverage(0, 5000, 7, &batches), 0.95, 0.03);
}

TEST(interval_covers_the_mean_of_a_correlated_process)
{
    double batches;
    EXPECT_NEAR(coverage(0.8, 10000, 1, &batches), 0.95, 0.03);
    EXPECT_NEAR(coverage(0.8, 6000, 3, &batches), 0.95, 0.03);
}

/* 250 correlated samples in slots of 4: as they are they would promise far too much. */
TEST(correlated_slots_are_merged_into_fewer_batches)
{
    double batches;
    EXPECT_NEAR(coverage(0.8, 250, 1, &batches), 0.95, 0.04);
    EXPECT(batches < 32);
    EXPECT(batches >= BATCHES_MIN);
}

TEST(interval_narrows_with_the_root_of_the_window)
{
    double width[2] = {0};
    for (uint64_t run = 0; run < 50; run++)
        for (uint32_t i = 0; i < 2; i++) {
            struct batch_means batches = {0};
            fill(&batches, run, 0, i ? 40000 : 10000, 1);
            width[i] += batch_means_estimate(&batches).half_width;
        }
    EXPECT_NEAR(width[0] / width[1], 2, 0.2);
}

TEST(interval_of_a_few_slots_is_that_of_the_textbook)
{
    struct batch_means batches = {0};
    for (uint32_t slot = 0; slot < 40; slot++)
        for (uint32_t i = 0; i < 4; i++)
            batch_means_add(&batches, slot, slot % 2 ? 150 : 100);
    struct estimate estimate = batch_means_estimate(&batches);
    EXPECT_NEAR(estimate.mean, 125, 0);
    EXPECT_EQ_U64(estimate.batches, 40);
    /* variance of slot means 25^2 * 40 / 39, over 40 slots; t(39) = 2.0227 */
    EXPECT_NEAR(estimate.half_width, 2.0227 * sqrt(25.0 * 25 / 39), 1e-3);
}

TEST(too_few_samples_give_no_interval)
{
    struct batch_means batches = {0};
    EXPECT(isnan(batch_means_estimate(&batches).mean));
    EXPECT(isinf(batch_means_estimate(&batches).half_width));
    for (uint32_t i = 0; i < 1000; i++)
        batch_means_add(&batches, 5, i);
    EXPECT_NEAR(batch_means_estimate(&batches).mean, 499.5, 0);
    EXPECT(isinf(batch_means_estimate(&batches).half_width));
}

TEST(constant_samples_have_an_interval_of_no_width)
{
    struct batch_means batches = {0};
    for (uint32_t tick = 0; tick < 5000; tick++)
        batch_means_add(&batches, tick, 17);
    EXPECT_NEAR(batch_means_estimate(&batches).mean, 17, 0);
    EXPECT_NEAR(batch_means_estimate(&batches).half_width, 0, 0);
}

TEST(slots_double_as_the_window_grows)
{
    struct batch_means batches = {0};
    batch_means_add(&batches, 63, 1);
    EXPECT_EQ_U64(batches.shift, 0);
    batch_means_add(&batches, 64, 1);
    EXPECT_EQ_U64(batches.shift, 1);
    EXPECT_EQ_U64(batches.slots[31].count, 1);
    EXPECT_EQ_U64(batches.slots[32].count, 1);
    batch_means_add(&batches, UINT64_MAX, 1);
    EXPECT_EQ_U64(batches.shift, 58);
    EXPECT_EQ_U64(batches.slots[0].count, 2);
    EXPECT_EQ_U64(batches.slots[63].count, 1);
}

static bool is_same(const struct batch_means *a, const struct batch_means *b)
{
    bool same = a->shift == b->shift;
    for (uint32_t i = 0; i < BATCH_SLOTS; i++)
        same = same && a->slots[i].sum == b->slots[i].sum && a->slots[i].count == b->slots[i].count;
    return same;
}

TEST(batches_of_reversed_and_split_samples_are_the_same)
{
    enum { SAMPLES = 3000 };
    struct batch_means whole = {0}, parts[2] = {0}, other_way;
    for (uint32_t i = 0; i < SAMPLES; i++)
        batch_means_add(&whole, i, random_mix(i) % 1000);
    for (uint32_t i = SAMPLES; i-- > 0;) /* the first part ends early: its slots are shorter */
        batch_means_add(&parts[i > 700], i, random_mix(i) % 1000);
    other_way = parts[1];
    batch_means_merge(&other_way, &parts[0]);
    batch_means_merge(&parts[0], &parts[1]);
    EXPECT(is_same(&whole, &parts[0]));
    EXPECT(is_same(&whole, &other_way));
}

TEST(student_quantiles_agree_with_published_tables)
{
    static const struct {
        uint32_t degrees;
        double t;
    } published[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},   {5, 2.571},     {6, 2.447},
                     {7, 2.365},  {8, 2.306},  {9, 2.262},  {10, 2.228},  {15, 2.131},    {20, 2.086},
                     {31, 2.040}, {60, 2.000}, {63, 1.998}, {120, 1.980}, {100000, 1.960}};
    for (uint32_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        EXPECT_NEAR(student_t95(published[i].degrees), published[i].t, 0.003 * published[i].t);
}

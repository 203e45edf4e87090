/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms against sorted arrays of the same samples, at the edges of buckets,
 * and in whatever order and split the samples come.
 */
#include "test.h"

#include "flitwarp/random.h"
#include "metrics/statistics.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES 20000

static int compare_u64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Values of every magnitude up to 2^bits. */
static uint64_t draw(struct random *random, uint32_t bits)
{
    return random_u64(random) >> (64 - bits + random_below(random, bits));
}

static struct histogram *fill(uint64_t *values, uint32_t count, uint32_t bits)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    struct random random = random_stream(7, bits, RANDOM_SETUP);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = draw(&random, bits);
        histogram_add(histogram, values[i]);
    }
    return histogram;
}

static void expect_percentiles_near(uint32_t bits, double tolerance)
{
    static uint64_t values[SAMPLES];
    static const double percents[] = {0, 1, 10, 50, 90, 99, 99.9, 99.99, 100};
    struct histogram *histogram = fill(values, SAMPLES, bits);
    qsort(values, SAMPLES, sizeof(values[0]), compare_u64);
    for (uint32_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        uint32_t rank = (uint32_t)(percents[i] * SAMPLES / 100 + 0.5);
        double exact = (double)values[rank ? rank - 1 : 0];
        EXPECT_NEAR((double)histogram_percentile(histogram, percents[i]), exact, tolerance * exact);
    }
    EXPECT_EQ_U64(histogram_min(histogram), values[0]);
    EXPECT_EQ_U64(histogram_max(histogram), values[SAMPLES - 1]);
    EXPECT_EQ_U64(histogram_count(histogram), SAMPLES);
    free(histogram);
}

TEST(percentiles_of_small_values_are_exact) { expect_percentiles_near(8, 0); }
TEST(percentiles_are_within_half_a_percent_of_sorting)
{
    expect_percentiles_near(16, 0.005);
    expect_percentiles_near(40, 0.005);
    expect_percentiles_near(63, 0.005);
}

TEST(every_value_lies_in_its_bucket)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    for (uint32_t shift = 0; shift < 64; shift++)
        for (uint64_t near = 0; near < 3; near++)
            histogram_add(histogram, ((uint64_t)1 << shift) + near - 1);
    histogram_add(histogram, UINT64_MAX);
    uint64_t last = 0, count = 0;
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        EXPECT(count == 0 || bucket.low > last);
        EXPECT_EQ_U64(histogram_index(bucket.low), cursor - 1);
        EXPECT_EQ_U64(histogram_index(bucket.high), cursor - 1);
        EXPECT(bucket.high - bucket.low <= bucket.low / 128);
        last = bucket.high;
        count += bucket.count;
    }
    EXPECT_EQ_U64(count, 64 * 3 + 1);
    EXPECT_EQ_U64(last, UINT64_MAX);
    EXPECT_EQ_U64(histogram_min(histogram), 0);
    EXPECT_EQ_U64(histogram_max(histogram), UINT64_MAX);
    free(histogram);
}

TEST(nearest_rank_does_not_suffer_from_binary_fractions)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    for (uint32_t i = 1; i <= 200; i++)
        histogram_add(histogram, i);
    EXPECT_EQ_U64(histogram_percentile(histogram, 50), 100);
    EXPECT_EQ_U64(histogram_percentile(histogram, 99.5), 199);
    EXPECT_EQ_U64(histogram_percentile(histogram, 99.9), 200);
    EXPECT_EQ_U64(histogram_percentile(histogram, 7), 14); /* 0.07 * 200 is 14.000000000000002 */
    EXPECT_EQ_U64(histogram_percentile(histogram, 0), 1);
    free(histogram);
}

TEST(empty_histogram_answers_zero)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    struct histogram_bucket bucket;
    uint32_t cursor = 0;
    EXPECT_EQ_U64(histogram_count(histogram), 0);
    EXPECT_EQ_U64(histogram_percentile(histogram, 50), 0);
    EXPECT_NEAR(histogram_mean(histogram), 0, 0);
    EXPECT(!histogram_next(histogram, &cursor, &bucket));
    free(histogram);
}

TEST(one_sample_is_every_percentile)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    histogram_add(histogram, 123457);
    EXPECT_EQ_U64(histogram_percentile(histogram, 1), 123457);
    EXPECT_EQ_U64(histogram_percentile(histogram, 99.99), 123457);
    EXPECT_NEAR(histogram_mean(histogram), 123457, 0);
    free(histogram);
}

TEST(sums_do_not_overflow_64_bits)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    for (uint32_t i = 0; i < 8; i++)
        histogram_add(histogram, UINT64_MAX - 1);
    EXPECT_NEAR(histogram_mean(histogram), 0x1p64, 1);
    free(histogram);
}

TEST(histogram_of_reversed_and_split_samples_is_the_same)
{
    static uint64_t values[SAMPLES];
    struct histogram *whole = fill(values, SAMPLES, 33);
    struct histogram *parts = calloc(3, sizeof(*parts));
    for (uint32_t i = SAMPLES; i-- > 0;)
        histogram_add(&parts[i % 2], values[i]);
    histogram_merge(&parts[2], &parts[0]);
    histogram_merge(&parts[2], &parts[1]);
    EXPECT(memcmp(whole, &parts[2], sizeof(*whole)) == 0);
    free(whole);
    free(parts);
}

TEST(merging_with_zeros_and_empty_histograms_keeps_the_range)
{
    struct histogram *parts = calloc(3, sizeof(*parts));
    histogram_add(&parts[0], 0);
    histogram_add(&parts[0], 9);
    histogram_merge(&parts[1], &parts[0]);
    histogram_merge(&parts[1], &parts[2]);
    EXPECT(memcmp(&parts[0], &parts[1], sizeof(parts[0])) == 0);
    histogram_add(&parts[2], 5);
    histogram_merge(&parts[2], &parts[0]);
    EXPECT_EQ_U64(histogram_min(&parts[2]), 0);
    EXPECT_EQ_U64(histogram_max(&parts[2]), 9);
    EXPECT_EQ_U64(histogram_count(&parts[2]), 3);
    free(parts);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A log-linear histogram of 64-bit values: exact below 256, 128 buckets for each
 * power of two above, so that a bucket's middle is within 0.4 % of every value in
 * it. Count, sum, minimum and maximum are exact. All sums are integers: the result
 * does not depend on the order of samples, nor on how they were shared out before
 * merging. Zeroed memory is an empty histogram; most of it stays untouched pages.
 */
#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS (58 * 128)

struct histogram {
    unsigned __int128 sum;
    uint64_t min;  /* 0 while empty */
    uint64_t span; /* maximum - minimum: one comparison tells whether a value widens the range */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Values from low to high, both included. */
struct histogram_bucket {
    uint64_t low;
    uint64_t high;
    uint64_t count;
};

/* Makes room in [min, max] for a value outside it; called before the value is counted. */
void histogram_widen(struct histogram *histogram, uint64_t value);

/* `shift` halves a value until it fits eight bits; each halving has 128 buckets of its own. */
static inline uint64_t histogram_index(uint64_t value)
{
    uint64_t shift = 56 - (uint64_t)__builtin_clzll(value | 128);
    return (shift << 7) + (value >> shift);
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (__builtin_expect(value - histogram->min > histogram->span, 0))
        histogram_widen(histogram, value);
    histogram->sum += value;
    histogram->buckets[histogram_index(value)]++;
}

/* The same value several times. */
static inline void histogram_add_many(struct histogram *histogram, uint64_t value, uint64_t times)
{
    if (!times)
        return;
    histogram_add(histogram, value);
    histogram->sum += (unsigned __int128)value * (times - 1);
    histogram->buckets[histogram_index(value)] += times - 1;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t histogram_count(const struct histogram *histogram);
/* These four are 0 for an empty histogram. */
static inline uint64_t histogram_min(const struct histogram *histogram) { return histogram->min; }
static inline uint64_t histogram_max(const struct histogram *histogram) { return histogram->min + histogram->span; }
double histogram_mean(const struct histogram *histogram);
/* The smallest value that at least `percent` % of the samples do not exceed (nearest rank): exact below 256,
 * otherwise the middle of its bucket. `percent` lies in [0, 100]. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* Walks the buckets that are not empty in rising order: start with *cursor = 0, stop when it returns false. */
bool histogram_next(const struct histogram *histogram, uint32_t *cursor, struct histogram_bucket *bucket);

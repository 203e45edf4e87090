/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions asked of a histogram after a run. Everything walks the buckets
 * between minimum and maximum only, so that the untouched pages of a histogram
 * of small values are never brought into memory.
 */
#include "metrics/histogram.h"

static bool is_empty(const struct histogram *histogram)
{
    /* Only the value 0 makes 0 the minimum, and it counts in bucket 0. */
    return histogram->min == 0 && histogram->buckets[0] == 0;
}

static uint32_t first_index(const struct histogram *histogram) { return (uint32_t)histogram_index(histogram->min); }

static uint32_t last_index(const struct histogram *histogram)
{
    return (uint32_t)histogram_index(histogram_max(histogram));
}

void histogram_widen(struct histogram *histogram, uint64_t value)
{
    uint64_t max = histogram_max(histogram);
    bool empty = is_empty(histogram);
    if (empty || value < histogram->min)
        histogram->min = value;
    if (empty || value > max)
        max = value;
    histogram->span = max - histogram->min;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (is_empty(from))
        return;
    histogram_widen(into, histogram_min(from));
    /* The new minimum may be 0 before bucket 0 is filled: fill it before asking again. */
    for (uint32_t i = first_index(from); i <= last_index(from); i++)
        into->buckets[i] += from->buckets[i];
    histogram_widen(into, histogram_max(from));
    into->sum += from->sum;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;
    for (uint32_t i = first_index(histogram); i <= last_index(histogram); i++)
        count += histogram->buckets[i];
    return count;
}

double histogram_mean(const struct histogram *histogram)
{
    uint64_t count = histogram_count(histogram);
    return count ? (double)histogram->sum / (double)count : 0;
}

/* percent % of count, rounded up, at least 1. */
static uint64_t nearest_rank(double percent, uint64_t count)
{
    /* 99.9 % of 1000 is 999: what binary fractions add to it must not make it 1000. */
    double exact = percent / 100 * (double)count * (1 - 1e-12);
    uint64_t rank = (uint64_t)exact;
    rank += (double)rank < exact;
    return rank < 1 ? 1 : rank > count ? count : rank;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    uint64_t rank = nearest_rank(percent, histogram_count(histogram));
    struct histogram_bucket bucket;
    uint64_t seen = 0;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        uint64_t middle = bucket.low + (bucket.high - bucket.low) / 2, max = histogram_max(histogram);
        seen += bucket.count;
        if (seen >= rank)
            return middle < histogram->min ? histogram->min : middle > max ? max : middle;
    }
    return 0;
}

bool histogram_next(const struct histogram *histogram, uint32_t *cursor, struct histogram_bucket *bucket)
{
    uint32_t first = first_index(histogram);
    for (uint32_t i = *cursor > first ? *cursor : first; i <= last_index(histogram); i++)
        if (histogram->buckets[i]) {
            uint32_t shift = i < 256 ? 0 : (i >> 7) - 1;
            uint64_t low = (uint64_t)(i - (shift << 7)) << shift;
            *bucket = (struct histogram_bucket){low, low + (((uint64_t)1 << shift) - 1), histogram->buckets[i]};
            *cursor = i + 1;
            return true;
        }
    return false;
}

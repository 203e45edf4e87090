/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From sums to a block of the results. The mean is the histogram's, which is exact
 * and counts the same samples; ci95 is the half-width, so mean +- ci95.
 */
#include "metrics/summary.h"

#include <math.h>

static const struct {
    const char *key;
    double percent;
} percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}};

/* A number, or null when it stands for no samples. */
static struct json *number_or_null(struct arena *arena, bool is_known, uint64_t number)
{
    return is_known ? json_number_u64(arena, number) : json_null(arena);
}

struct json *summary_json(struct arena *arena, const struct histogram *histogram, const struct estimate *estimate)
{
    bool is_known = histogram_count(histogram) > 0;
    struct json *block = json_object(arena);
    json_add(block, "mean", json_number_f64(arena, is_known ? histogram_mean(histogram) : NAN));
    json_add(block, "ci95", json_number_f64(arena, is_known && estimate ? estimate->half_width : NAN));
    json_add(block, "min", number_or_null(arena, is_known, histogram_min(histogram)));
    json_add(block, "max", number_or_null(arena, is_known, histogram_max(histogram)));
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        json_add(block, percentiles[i].key,
                 number_or_null(arena, is_known, histogram_percentile(histogram, percentiles[i].percent)));
    return block;
}

struct json *values_json(struct arena *arena, const struct histogram *histogram)
{
    struct json *values = json_array(arena);
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        struct json *row = json_append(values, json_array(arena));
        json_append(row, json_number_u64(arena, bucket.low + (bucket.high - bucket.low) / 2));
        json_append(row, json_number_u64(arena, bucket.count));
    }
    return values;
}

struct json *counts_json(struct arena *arena, const struct histogram *histogram)
{
    struct json *block = summary_json(arena, histogram, NULL);
    json_add(block, "distribution", values_json(arena, histogram));
    return block;
}

struct json *distribution_json(struct arena *arena, const struct histogram *histogram)
{
    struct json *buckets = json_array(arena);
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        struct json *row = json_append(buckets, json_array(arena));
        json_append(row, json_number_u64(arena, bucket.low));
        json_append(row, json_number_u64(arena, bucket.high));
        json_append(row, json_number_u64(arena, bucket.count));
    }
    return buckets;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values told for a block of the results. Each has a row, or the block has a place for what a component reports of its
 * own: a value that nobody described does not get into the results.
 */
#include "metrics/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct result summary_results[] = {
    RESULT("mean", NUMBER, NULL, "exact"),
    RESULT("ci95", NUMBER, NULL, "half width of the mean's 95 % confidence interval"),
    RESULT("min", NUMBER, NULL, "exact"),
    RESULT("max", NUMBER, NULL, "exact"),
    RESULT("p50", NUMBER, NULL, "percentile; exact below 256, within 0.4 % above"),
    RESULT("p90", NUMBER, NULL, "percentile"),
    RESULT("p99", NUMBER, NULL, "percentile"),
    RESULT("p99.9", NUMBER, NULL, "percentile"),
    RESULT("p99.99", NUMBER, NULL, "percentile"),
    RESULT_END,
};

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
    for (const struct result *row = summary_results; row->type != RESULT_TYPE_END; row++)
        if (!json_find(block, row->key)) /* the percentiles */
            json_add(block, row->key,
                     number_or_null(arena, is_known, histogram_percentile(histogram, strtod(row->key + 1, NULL))));
    return block;
}

struct json *buckets_json(struct arena *arena, const struct histogram *histogram, bool shows_middle)
{
    struct json *buckets = json_array(arena);
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        struct json *row = json_append(buckets, json_array(arena));
        uint64_t middle = bucket.low + (bucket.high - bucket.low) / 2;
        json_append(row, json_number_u64(arena, shows_middle ? middle : bucket.low));
        if (!shows_middle)
            json_append(row, json_number_u64(arena, bucket.high));
        json_append(row, json_number_u64(arena, bucket.count));
    }
    return buckets;
}

struct json *counts_json(struct arena *arena, const struct histogram *histogram)
{
    struct json *block = summary_json(arena, histogram, NULL);
    json_add(block, "distribution", buckets_json(arena, histogram, true));
    return block;
}

static const struct result *result_find(const struct result *rows, const char *key)
{
    for (; rows && rows->type != RESULT_TYPE_END; rows++)
        if (rows->key && strcmp(rows->key, key) == 0)
            return rows;
    return NULL;
}

/* The row of a key; NULL: it belongs to a component that lists no rows. */
static const struct result *report_row(const struct report *report, const char *key)
{
    const struct result *row = result_find(report->rows, key), *at = report->rows;
    row = row ? row : result_find(report->own, key);
    while (at && at->type != RESULT_TYPE_OWN && at->type != RESULT_TYPE_END)
        at++;
    bool takes_any = !report->own && (!at || at->type == RESULT_TYPE_OWN);
    FW_CHECK(row || takes_any, "no row describes the result '%s'", key);
    return row;
}

void report_json(struct report *report, const char *key, struct json *value)
{
    report_row(report, key);
    json_add(report->block, key, value);
}

void report_number(struct report *report, const char *key, double value)
{
    report_json(report, key, json_number_f64(report->arena, value));
}

void report_count(struct report *report, const char *key, uint64_t value)
{
    report_json(report, key, json_number_u64(report->arena, value));
}

void report_counts(struct report *report, const char *key, const uint64_t *values, uint32_t count)
{
    struct json *list = json_array(report->arena);
    for (uint32_t i = 0; i < count; i++)
        json_append(list, json_number_u64(report->arena, values[i]));
    report_json(report, key, list);
}

void report_flag(struct report *report, const char *key, bool value)
{
    report_json(report, key, json_bool(report->arena, value));
}

void report_text(struct report *report, const char *key, const char *text)
{
    report_json(report, key, json_text(report->arena, text));
}

void report_summary(struct report *report, const char *key, const struct histogram *histogram)
{
    report_json(report, key, summary_json(report->arena, histogram, NULL));
}

static struct report *report_below(const struct report *report, const char *key, struct json *block)
{
    const struct result *row = report_row(report, key);
    struct report *below = arena_take(report->arena, sizeof *below);
    *below = (struct report){.block = block, .arena = report->arena, .rows = row ? row->rows : NULL};
    return below;
}

struct report *report_block(struct report *report, const char *key)
{
    return report_below(report, key, json_add(report->block, key, json_object(report->arena)));
}

struct report *report_item(struct report *report, const char *key)
{
    struct json *list = json_find(report->block, key);
    if (!list)
        list = json_add(report->block, key, json_array(report->arena));
    return report_below(report, key, json_append(list, json_object(report->arena)));
}

/* What the rows do not name, in the order in which it was told. */
static void move_own_last(struct json *block, const struct result *rows)
{
    uint32_t left = block->count;
    struct json *next;
    for (struct json *child = block->first; left--; child = next) {
        next = child->next;
        if (!result_find(rows, child->key))
            json_move_last(block, child->key);
    }
}

/* What a row finds in a record. */
static struct json *result_json(const struct result *row, const void *record, struct arena *arena)
{
    const void *field = (const char *)record + row->offset;
    if (row->type == RESULT_TYPE_COUNT)
        return json_number_u64(arena, *(const uint64_t *)field);
    return row->type == RESULT_TYPE_SPREAD ? counts_json(arena, field) : summary_json(arena, field, NULL);
}

void report_finish(struct report *report, const void *record)
{
    for (const struct result *row = report->rows; row->type != RESULT_TYPE_END; row++) {
        bool is_counted = row->key && row->merging && !json_find(report->block, row->key);
        if (is_counted && (!row->is_shown || row->is_shown(record)))
            json_add(report->block, row->key, result_json(row, record, report->arena));
        if (row->key)
            json_move_last(report->block, row->key);
        if (row->type == RESULT_TYPE_OWN)
            move_own_last(report->block, report->rows);
    }
}

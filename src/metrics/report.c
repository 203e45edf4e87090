/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values told for a block of the results. Each has a row, or the block has a place for what a component reports of its
 * own: a value that nobody described does not get into the results.
 */
#include "metrics/report.h"

#include "flitwarp/digest.h"
#include "metrics/statistics.h"

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

/* ---- counted results put together, by type of field: adds what another part has, or has a tally list what is to become that of all ranks ---- */

static enum result_moment moment_of(enum result_merging merging)
{
    bool is_rule = merging == MERGED_SUM || merging == MERGED_BATCHES;
    return is_rule ? RESULT_AT_GRID_POINTS : merging == MERGED_WINDOW_SUMS ? RESULT_AT_WINDOW_ENDS : RESULT_AT_END;
}

static void sums_gather(uint64_t *sums, const uint64_t *from, uint64_t count, struct tally *tally)
{
    if (tally)
        tally_row(tally, sums, count);
    for (uint64_t i = 0; from && i < count; i++)
        sums[i] += from[i];
}

static void small_sums_gather(uint32_t *sums, const uint32_t *from, uint64_t count, struct tally *tally)
{
    if (tally)
        tally_row_u32(tally, sums, count);
    for (uint64_t i = 0; from && i < count; i++)
        sums[i] += from[i];
}

static void bins_gather(struct bins *bins, const struct bins *from, bool are_small, struct tally *tally)
{
    if (from)
        bins_reach(bins, from->count);
    uint64_t bytes = (from ? from : bins)->count * bins->bin_bytes;
    if (are_small)
        small_sums_gather((void *)bins->bytes, from ? (const void *)from->bytes : NULL, bytes / 4, tally);
    else
        sums_gather((void *)bins->bytes, from ? (const void *)from->bytes : NULL, bytes / 8, tally);
}

/* Slots have the same length on all ranks by now. */
static void batches_tally(struct batch_means *batches, struct tally *tally)
{
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        tally_sum_wide(tally, &batches->slots[i].sum);
        tally_sum(tally, &batches->slots[i].count);
    }
}

/* A histogram without samples has a minimum of 0 that nobody has seen. */
void histogram_tally(struct histogram *histogram, struct tally *tally)
{
    uint64_t min = UINT64_MAX, max = histogram_max(histogram);
    if (!tally->is_back && histogram_count(histogram))
        min = histogram_min(histogram);
    tally_smallest(tally, &min);
    tally_largest(tally, &max);
    tally_sum_wide(tally, &histogram->sum);
    tally_row(tally, histogram->buckets, HISTOGRAM_BUCKETS);
    if (tally->is_back && min != UINT64_MAX) {
        histogram->min = min;
        histogram->span = max - min;
    }
}

static void field_gather(enum result_merging merging, void *field, const void *from, uint32_t count,
                         struct tally *tally)
{
    switch (merging) {
    case MERGED_SUM:
        from ? sums_gather(field, from, 1, NULL) : tally_sum(tally, field);
        break;
    case MERGED_WINDOW_SUMS:
    case MERGED_SUMS:
        sums_gather(field, from, count, tally);
        break;
    case MERGED_RANK_SUMS:
        sums_gather(field, NULL, count, tally);
        break;
    case MERGED_BATCHES:
        from ? batch_means_merge(field, from) : batches_tally(field, tally);
        break;
    case MERGED_SAMPLES:
        from ? histogram_merge(field, from) : histogram_tally(field, tally);
        break;
    case MERGED_DIGEST:
        from ? digest_merge(field, from) : sums_gather(((struct digest *)field)->lanes, NULL, 2, tally);
        break;
    case MERGED_SERIES:
    case MERGED_RATES:
        bins_gather(field, from, merging == MERGED_RATES, tally);
        break;
    case MERGED_NOT:
        break;
    }
}

/* ---- by rows ---- */

/* Where a row's field lies in a record, and how many it is. */
static void *field_of(const struct result *row, const void *record, uint32_t *count)
{
    char *at = (char *)record + row->offset;
    *count = 1;
    if (!row->count_offset)
        return at;
    void *items;
    memcpy(&items, at, sizeof items);
    memcpy(count, (const char *)record + row->count_offset, sizeof *count);
    return items;
}

/* Bins that another rank has exist on all. */
static void lengths_tally(enum result_merging merging, struct bins *bins, struct tally *tally)
{
    if (merging != MERGED_SERIES && merging != MERGED_RATES)
        return;
    uint64_t count = bins->count;
    tally_largest(tally, &count);
    if (tally->is_back)
        bins_reach(bins, count);
}

enum gathering { GATHERING_FORGETS, GATHERING_GATHERS, GATHERING_TALLIES_LENGTHS };

/* All fields that are put together at a moment; `other` is a record of the same type to be merged, or NULL. */
static void fields_each(enum gathering gathering, const struct result *rows, enum result_moment moment, void *record,
                        const void *other, struct tally *tally)
{
    for (const struct result *row = rows; row->type != RESULT_TYPE_END; row++) {
        uint32_t count;
        char *field = field_of(row, record, &count);
        const char *from = other ? field_of(row, other, &count) : NULL;
        for (uint32_t i = 0; row->item_size && i < count; i++)
            fields_each(gathering, row->rows, moment, field + i * row->item_size,
                        from ? from + i * row->item_size : NULL, tally);
        if (!row->merging || moment_of(row->merging) != moment)
            continue;
        if (gathering == GATHERING_FORGETS)
            memset(field, 0, row->merging == MERGED_BATCHES ? sizeof(struct batch_means) : count * sizeof(uint64_t));
        else if (gathering == GATHERING_GATHERS)
            field_gather(row->merging, field, from, count, tally);
        else
            lengths_tally(row->merging, (void *)field, tally);
    }
}

void results_forget(const struct result *rows, enum result_moment moment, void *record)
{
    fields_each(GATHERING_FORGETS, rows, moment, record, NULL, NULL);
}

void results_merge(const struct result *rows, enum result_moment moment, void *into, const void *from)
{
    fields_each(GATHERING_GATHERS, rows, moment, into, from, NULL);
}

void results_tally(const struct result *rows, enum result_moment moment, void *record, struct tally *tally)
{
    fields_each(GATHERING_GATHERS, rows, moment, record, NULL, tally);
}

void results_tally_lengths(const struct result *rows, void *record, struct tally *tally)
{
    fields_each(GATHERING_TALLIES_LENGTHS, rows, RESULT_AT_END, record, NULL, tally);
}

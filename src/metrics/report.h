/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A block of the results that is being filled (flitwarp/report.h has the functions for components), and distributions as
 * blocks show them: mean with its 95 % confidence interval, extremes and percentiles. What is not known (no samples, too
 * few batches for an interval) is null, never a number that looks like a measurement.
 */
#include "config/json.h"
#include "engine/ranks.h"
#include "flitwarp/report.h"
#include "metrics/statistics.h"

struct report {
    struct json *block;
    struct arena *arena;
    const struct result *rows; /* what may be told; NULL: anything */
    const struct result *own;  /* where the rows have a place for a component's own: its `.reports`; NULL: anything */
};

void report_json(struct report *report, const char *key, struct json *value);
/* One more in a list of blocks. */
struct report *report_item(struct report *report, const char *key);
/* Adds what the rows find in the record and was not told, and puts all keys in the order of the rows. */
void report_finish(struct report *report, const void *record);

/* {"mean", "ci95", "min", "max", "p50", "p90", "p99", "p99.9", "p99.99"}; estimate NULL: no interval was taken. */
struct json *summary_json(struct arena *arena, const struct histogram *histogram, const struct estimate *estimate);
/* The same for small whole numbers, and how often each occurred: "distribution", by middles. */
struct json *counts_json(struct arena *arena, const struct histogram *histogram);
/* Every bucket with samples, for figures: [[low, high, count], ...], or by its middle: [[value, count], ...]. */
struct json *buckets_json(struct arena *arena, const struct histogram *histogram, bool shows_middle);

/*
 * Results that are counted while a network runs: every part of it counts in a struct of its own, and the rows say how
 * those of parts, and then of ranks, are put together. A field without a row stays what one part has seen, so the table
 * of a struct lists all of its fields that parts fill.
 */
enum result_moment {
    RESULT_AT_GRID_POINTS, /* what rules look at: counts since the beginning, put together anew each time */
    RESULT_AT_WINDOW_ENDS, /* the same, of this rank's parts when sampling begins and ends, of all ranks at the end */
    RESULT_AT_END,
};

#define RESULT_FIELD_(record, field, type_)                                                                            \
    (offsetof(record, field) + 0 * sizeof(_Generic(((record *)0)->field, type_ : 1)))

/* A uint64_t that is added up, and is shown. */
#define RESULT_SUM(record, field, key_, unit_, ...)                                                                    \
    {                                                                                                                  \
        .key = key_, .type = RESULT_TYPE_COUNT, .merging = MERGED_SUM,                                                 \
        .offset = RESULT_FIELD_(record, field, uint64_t), .unit = unit_, .help = __VA_ARGS__                           \
    }
/* A struct histogram, shown as a SUMMARY or a SPREAD. */
#define RESULT_SAMPLES(record, field, type_, key_, unit_, ...)                                                         \
    {                                                                                                                  \
        .key = key_, .type = RESULT_TYPE_##type_, .merging = MERGED_SAMPLES,                                           \
        .offset = RESULT_FIELD_(record, field, struct histogram), .unit = unit_, .help = __VA_ARGS__                   \
    }
/* A field that others are worked out from. */
#define RESULT_HIDDEN(record, field, type_, kind_)                                                                     \
    {                                                                                                                  \
        .type = RESULT_TYPE_HIDDEN, .merging = MERGED_##kind_, .offset = RESULT_FIELD_(record, field, type_)           \
    }
/* An array of uint64_t, as many as another field says. */
#define RESULT_HIDDEN_ARRAY(record, field, count, kind_)                                                               \
    {                                                                                                                  \
        .type = RESULT_TYPE_HIDDEN, .merging = MERGED_##kind_, .offset = RESULT_FIELD_(record, field, uint64_t *),     \
        .count_offset = RESULT_FIELD_(record, count, uint32_t)                                                         \
    }
/* An array of structs with rows of their own. */
#define RESULT_HIDDEN_RECORDS(record, field, count, item, item_rows)                                                   \
    {                                                                                                                  \
        .type = RESULT_TYPE_HIDDEN, .rows = item_rows, .item_size = sizeof(item),                                      \
        .offset = RESULT_FIELD_(record, field, item *), .count_offset = RESULT_FIELD_(record, count, uint32_t)         \
    }

/* Zeroes what is put together anew at such a moment. */
void results_forget(const struct result *rows, enum result_moment moment, void *record);
/* Adds what another part of the network has. */
void results_merge(const struct result *rows, enum result_moment moment, void *into, const void *from);
/* What each rank has becomes that of all (engine/ranks.h); lengths come first. */
void results_tally(const struct result *rows, enum result_moment moment, void *record, struct tally *tally);
void results_tally_lengths(const struct result *rows, void *record, struct tally *tally);

void histogram_tally(struct histogram *histogram, struct tally *tally);

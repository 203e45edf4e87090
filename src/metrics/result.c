/* SPDX-License-Identifier: Apache-2.0 */
/* Counted results put together, see result.h. One walk along the rows serves parts and ranks alike. */
#include "metrics/result.h"

#include "base/digest.h"
#include "metrics/rates.h"
#include "metrics/series.h"

#include <string.h>

/* ---- by type of field ---- */

static enum result_moment moment_of(enum result_merging merging)
{
    bool is_rule = merging == MERGED_SUM || merging == MERGED_BATCHES;
    return is_rule ? RESULT_AT_GRID_POINTS : merging == MERGED_WINDOW_SUMS ? RESULT_AT_WINDOW_ENDS : RESULT_AT_END;
}

static void field_forget(enum result_merging merging, void *field, uint32_t count)
{
    if (merging == MERGED_BATCHES)
        *(struct batch_means *)field = (struct batch_means){0};
    else
        memset(field, 0, count * sizeof(uint64_t));
}

static void sums_merge(uint64_t *into, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        into[i] += from[i];
}

static void field_merge(enum result_merging merging, void *into, const void *from, uint32_t count)
{
    switch (merging) {
    case MERGED_SUM:
    case MERGED_WINDOW_SUMS:
    case MERGED_SUMS:
        sums_merge(into, from, count);
        break;
    case MERGED_BATCHES:
        batch_means_merge(into, from);
        break;
    case MERGED_SAMPLES:
        histogram_merge(into, from);
        break;
    case MERGED_DIGEST:
        digest_merge(into, from);
        break;
    case MERGED_SERIES:
        series_merge(into, from);
        break;
    case MERGED_RATES:
        rates_merge(into, from);
        break;
    case MERGED_NOT:
    case MERGED_RANK_SUMS:
        break;
    }
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

static void digest_tally(struct digest *digest, struct tally *tally)
{
    tally_sum(tally, &digest->lanes[0]);
    tally_sum(tally, &digest->lanes[1]);
}

static void series_tally(struct series *series, struct tally *tally)
{
    for (uint32_t i = 0; i < series->count; i++) {
        struct series_bin *bin = &series->bins[i];
        tally_sum_wide(tally, &bin->latency_sum);
        tally_largest(tally, &bin->latency_max);
        tally_sum(tally, &bin->packets_created);
        tally_sum(tally, &bin->packets_arrived);
        tally_sum(tally, &bin->flits_offered);
        tally_sum(tally, &bin->flits_accepted);
    }
}

static void rates_tally(struct rates *rates, struct tally *tally)
{
    _Static_assert(sizeof(struct rate_bin) == 4 * sizeof(uint32_t), "bins of rates are four counts");
    tally_row_u32(tally, (uint32_t *)rates->bins, 4 * rates->count * rates->terminals);
}

static void field_tally(enum result_merging merging, void *field, uint32_t count, struct tally *tally)
{
    switch (merging) {
    case MERGED_SUM:
        tally_sum(tally, field);
        break;
    case MERGED_WINDOW_SUMS:
    case MERGED_SUMS:
    case MERGED_RANK_SUMS:
        tally_row(tally, field, count);
        break;
    case MERGED_BATCHES:
        batches_tally(field, tally);
        break;
    case MERGED_SAMPLES:
        histogram_tally(field, tally);
        break;
    case MERGED_DIGEST:
        digest_tally(field, tally);
        break;
    case MERGED_SERIES:
        series_tally(field, tally);
        break;
    case MERGED_RATES:
        rates_tally(field, tally);
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
static void lengths_tally(enum result_merging merging, void *field, struct tally *tally)
{
    struct series *series = merging == MERGED_SERIES ? field : NULL;
    struct rates *rates = merging == MERGED_RATES ? field : NULL;
    if (!series && !rates)
        return;
    uint64_t bins = series ? series->count : rates->count;
    tally_largest(tally, &bins);
    if (!tally->is_back || !bins)
        return;
    if (series)
        series_seek(series, series->start + (bins - 1) * series->length);
    else
        rates_at(rates, (bins - 1) * rates->interval, 0);
}

enum gathering { GATHERING_FORGETS, GATHERING_MERGES, GATHERING_TALLIES, GATHERING_TALLIES_LENGTHS };

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
            field_forget(row->merging, field, count);
        else if (gathering == GATHERING_MERGES)
            field_merge(row->merging, field, from, count);
        else if (gathering == GATHERING_TALLIES)
            field_tally(row->merging, field, count, tally);
        else
            lengths_tally(row->merging, field, tally);
    }
}

void results_forget(const struct result *rows, enum result_moment moment, void *record)
{
    fields_each(GATHERING_FORGETS, rows, moment, record, NULL, NULL);
}

void results_merge(const struct result *rows, enum result_moment moment, void *into, const void *from)
{
    fields_each(GATHERING_MERGES, rows, moment, into, from, NULL);
}

void results_tally(const struct result *rows, enum result_moment moment, void *record, struct tally *tally)
{
    fields_each(GATHERING_TALLIES, rows, moment, record, NULL, tally);
}

void results_tally_lengths(const struct result *rows, void *record, struct tally *tally)
{
    fields_each(GATHERING_TALLIES_LENGTHS, rows, RESULT_AT_END, record, NULL, tally);
}

struct json *result_json(const struct result *row, const void *record, struct arena *arena)
{
    uint32_t count;
    const void *field = field_of(row, record, &count);
    if (row->type == RESULT_TYPE_COUNT)
        return json_number_u64(arena, *(const uint64_t *)field);
    return row->type == RESULT_TYPE_SPREAD ? counts_json(arena, field) : summary_json(arena, field, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Counted results put together, see report.h. One walk along the rows serves parts and ranks alike. */
#include "metrics/report.h"

#include "flitwarp/digest.h"
#include "metrics/statistics.h"

#include <string.h>

/* ---- by type of field: adds what another part has, or has a tally list what is to become that of all ranks ---- */

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

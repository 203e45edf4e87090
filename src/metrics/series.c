/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growing array behind a time series. Bins between the first and the last
 * that was touched exist and may be empty: a gap in time is a fact too.
 */
#include "metrics/series.h"

#include "flitwarp/error.h"
#include "base/rewind.h"

#include <string.h>

void series_init(struct series *series, uint64_t start, uint64_t length, struct rewind *rewind)
{
    FW_CHECK(length > 0, "time series with bins of no length");
    *series = (struct series){.start = start, .length = length, .here = start, .rewind = rewind};
}

void series_release(struct series *series)
{
    rewind_give(series->rewind, series->bins);
    series_init(series, series->start, series->length, series->rewind);
}

static void make_room(struct series *series, uint64_t bins)
{
    if (bins <= series->room)
        return;
    FW_CHECK(bins <= UINT32_MAX / 2, "time series of %llu bins", (unsigned long long)bins);
    uint32_t room = series->room ? series->room : 16;
    while (room < bins)
        room *= 2;
    series->bins = rewind_resize(series->rewind, series->bins, room * sizeof(*series->bins));
    memset(series->bins + series->room, 0, (room - series->room) * sizeof(*series->bins));
    series->room = room;
}

struct series_bin *series_seek(struct series *series, uint64_t tick)
{
    FW_CHECK(tick >= series->start, "tick %llu is before the series starts", (unsigned long long)tick);
    uint64_t bin = (tick - series->start) / series->length;
    make_room(series, bin + 1);
    series->current = (uint32_t)bin;
    series->here = series->start + bin * series->length;
    if (series->count <= bin)
        series->count = (uint32_t)bin + 1;
    return &series->bins[bin];
}

static void bin_merge(struct series_bin *into, const struct series_bin *from)
{
    into->latency_sum += from->latency_sum;
    if (into->latency_max < from->latency_max)
        into->latency_max = from->latency_max;
    into->packets_created += from->packets_created;
    into->packets_arrived += from->packets_arrived;
    into->flits_offered += from->flits_offered;
    into->flits_accepted += from->flits_accepted;
}

void series_merge(struct series *into, const struct series *from)
{
    FW_CHECK(into->start == from->start && into->length == from->length, "two time series with different bins");
    make_room(into, from->count);
    if (into->count < from->count)
        into->count = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        bin_merge(&into->bins[i], &from->bins[i]);
}

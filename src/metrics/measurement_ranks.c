/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of all ranks put together, see measurement_ranks.h. */
#include "metrics/measurement_ranks.h"

static void batch_means_tally(struct batch_means *batches, struct tally *tally)
{
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        tally_sum_wide(tally, &batches->slots[i].sum);
        tally_sum(tally, &batches->slots[i].count);
    }
}

void measurement_tally_counts(struct measurement *m, struct tally *tally)
{
    uint64_t *const counts[] = {
        &m->created_packets,   &m->created_flits,      &m->delivered_packets, &m->accepted_flits,
        &m->latency_sum,       &m->withdrawn_packets,  &m->sampled_created,   &m->sampled_delivered,
        &m->sampled_withdrawn, &m->transactions_begun, &m->nonminimal,        &m->transactions_ended,
    };
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++)
        tally_sum(tally, counts[i]);
    batch_means_tally(&m->batches, tally);
    for (uint32_t level = 0; level < m->levels; level++) {
        tally_sum(tally, &m->by_level[level].created_flits);
        tally_sum(tally, &m->by_level[level].accepted_flits);
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

/* Bins that another rank has exist on all. */
void measurement_tally_lengths(struct measurement *m, struct tally *tally)
{
    uint64_t bins = m->series.count, rates = m->rates.count;
    tally_largest(tally, &bins);
    tally_largest(tally, &rates);
    if (!tally->is_back)
        return;
    if (bins)
        series_seek(&m->series, m->series.start + (bins - 1) * m->series.length);
    if (rates)
        rates_at(&m->rates, (rates - 1) * m->rates.interval, 0);
}

void measurement_tally_rest(struct measurement *m, struct tally *tally)
{
    struct histogram *const histograms[] = {&m->packet_latency, &m->network_latency, &m->message_latency,    &m->hops,
                                            &m->detours,        &m->shortcuts,       &m->transaction_latency};
    for (uint32_t i = 0; i < sizeof histograms / sizeof *histograms; i++)
        histogram_tally(histograms[i], tally);
    tally_sum(tally, &m->digest.lanes[0]);
    tally_sum(tally, &m->digest.lanes[1]);
    tally_row(tally, m->accepted_from, m->terminals);
    tally_row(tally, m->accepted_from_at_start, m->terminals);
    tally_row(tally, m->accepted_from_at_end, m->terminals);
    tally_row(tally, m->packets_by_plane, m->planes);
    for (uint32_t level = 0; level < m->levels; level++) {
        tally_sum(tally, &m->by_level[level].packets);
        histogram_tally(&m->by_level[level].packet_latency, tally);
        histogram_tally(&m->by_level[level].network_latency, tally);
    }
    series_tally(&m->series, tally);
    _Static_assert(sizeof(struct rate_bin) == 4 * sizeof(uint32_t), "bins of rates are four counts");
    tally_row_u32(tally, (uint32_t *)m->rates.bins, 4 * m->rates.count * m->rates.terminals);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Statistics of samples: histograms, means with their confidence, counts over time, and when a network has warmed up.
 *
 * A log-linear histogram of 64-bit values: exact below 256, 128 buckets for each
 * power of two above, so that a bucket's middle is within 0.4 % of every value in
 * it. Count, sum, minimum and maximum are exact. All sums are integers: the result
 * does not depend on the order of samples, nor on how they were shared out before
 * merging. Zeroed memory is an empty histogram; most of it stays untouched pages.
 */
#include "metrics/histogram_index.h"

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

/*
 * A mean and its 95 % confidence interval from samples that depend on each other,
 * as the latencies of packets do that waited in the same queue. The window of
 * time is cut into slots; sums over slots that are long enough are as good as
 * independent. Slots are 2^shift ticks long: when time outgrows the last one, pairs
 * of slots merge and the length doubles, so a window may be extended at will and
 * between 33 and 64 slots are always in use. State depends on the set of samples
 * only, not on their order. Zeroed memory is empty.
 */

#define BATCH_SLOTS 64
#define BATCHES_MIN 8 /* fewer say nothing about a variance */

struct batch_means {
    uint32_t shift;
    struct batch_slot {
        unsigned __int128 sum;
        uint64_t count;
    } slots[BATCH_SLOTS];
};

struct estimate {
    double mean;       /* NAN without samples */
    double half_width; /* of the 95 % interval; INFINITY when there are too few batches to tell */
    uint32_t batches;  /* that the interval rests on */
};

/* Doubles the length of a slot. */
void batch_means_halve(struct batch_means *batches);

/* A sample that belongs to a moment of the window: when its packet was created, say. */
static inline void batch_means_add(struct batch_means *batches, uint64_t time_in_window, uint64_t value)
{
    while (__builtin_expect(time_in_window >> batches->shift >= BATCH_SLOTS, 0))
        batch_means_halve(batches);
    struct batch_slot *slot = &batches->slots[time_in_window >> batches->shift];
    slot->sum += value;
    slot->count++;
}

/* Several that belong to one moment. */
static inline void batch_means_add_many(struct batch_means *batches, uint64_t time_in_window, uint64_t sum,
                                        uint64_t count)
{
    while (time_in_window >> batches->shift >= BATCH_SLOTS)
        batch_means_halve(batches);
    struct batch_slot *slot = &batches->slots[time_in_window >> batches->shift];
    slot->sum += sum;
    slot->count += count;
}

void batch_means_merge(struct batch_means *into, const struct batch_means *from);
struct estimate batch_means_estimate(const struct batch_means *batches);

/* The 97.5 % quantile of Student's t, which bounds a two-sided 95 % interval; degrees >= 1. Good to 0.3 %. */
double student_t95(uint32_t degrees);

/*
 * Counts over time: bins of equal length from tick 0 on, up to the last that was touched; those between exist and may
 * be empty, since a gap in time is a fact. A bin is a struct or an array of whole numbers that are only added up, so
 * neither the order of additions nor a split over threads shows in the result.
 */

struct rewind;

struct bins {
    uint64_t interval; /* ticks of a bin; 0: none are kept */
    size_t bin_bytes;
    uint64_t count, room;
    unsigned char *bytes;  /* owned */
    struct rewind *rewind; /* borrowed: where their memory comes from */
};

void bins_init(struct bins *bins, uint64_t interval, size_t bin_bytes, struct rewind *rewind);
void bins_release(struct bins *bins);
/* The bin of a tick, zeros when it is new; valid until the next call. */
void *bins_at(struct bins *bins, uint64_t tick);
/* Makes as many as another has. */
void bins_reach(struct bins *bins, uint64_t count);

/*
 * Tells when a network has warmed up, from one record for each interval of the
 * check grid: packets that arrived, the sum of their latencies, flits accepted.
 *
 * The rule: compare the last quarter of all intervals so far with the quarter
 * before it. Warm-up is over when mean latency and throughput each differ by less
 * than a tolerance, or by less than twice the standard error of the difference.
 * Why: windows that grow with the run see slow transients that fixed ones miss,
 * while the first half, where the transient lies, is left out. A network beyond
 * saturation has latencies that rise in proportion to time, so the quarters stay
 * a third apart however long it runs: such a run is given up after WARMUP_MOST intervals.
 */

enum { WARMUP_LEAST = 16, WARMUP_MOST = 400 }; /* intervals; below 8 a steady rise cannot be told from noise */

/* Zeroed memory has no intervals yet. */
struct warmup {
    uint32_t count;
    struct warmup_interval {
        uint64_t packets, latency_sum, flits;
    } intervals[WARMUP_MOST];
};

/* The next interval; not after WARMUP_MOST. */
void warmup_add(struct warmup *warmup, uint64_t packets, uint64_t latency_sum, uint64_t flits);
/* Whether there is a steady state. Where there is none within WARMUP_MOST, most likely the network is saturated. */
bool warmup_is_over(const struct warmup *warmup);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics, see statistics.h. Everything walks the buckets of a histogram between minimum and maximum only, so that the
 * untouched pages of one of small values are never brought into memory.
 */
#include "metrics/statistics.h"

#include "base/need.h"
#include "base/rewind.h"
#include "flitwarp/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

/*
 * ---- batch means ----
 *
 * The estimate, in three steps:
 *   1. mean = sum of all samples / their count. Slots hold different counts, so this
 *      is a ratio of two random sums, and its variance comes from the residuals
 *      d = slot sum - mean * slot count (the classical ratio estimator).
 *   2. While neighbouring residuals are significantly correlated, slots merge in
 *      pairs, down to BATCHES_MIN.
 *   3. What positive correlation r is left widens the interval by the variance of
 *      a first-order autoregression, (1 + r) / (1 - r), as in Skart (Tafazzoli,
 *      Steiger and Wilson, 2011).
 */

/* What the residuals of all slots say. */
struct spread {
    double variance;    /* of the mean, were the slots independent */
    double correlation; /* of a slot with the next */
    uint32_t slots;     /* up to the last with a sample */
    uint32_t filled;    /* with a sample */
};

void batch_means_halve(struct batch_means *batches)
{
    struct batch_slot *slots = batches->slots;
    for (uint32_t i = 0; i < BATCH_SLOTS / 2; i++) {
        slots[i].sum = slots[2 * i].sum + slots[2 * i + 1].sum;
        slots[i].count = slots[2 * i].count + slots[2 * i + 1].count;
    }
    for (uint32_t i = BATCH_SLOTS / 2; i < BATCH_SLOTS; i++)
        slots[i] = (struct batch_slot){0};
    batches->shift++;
}

void batch_means_merge(struct batch_means *into, const struct batch_means *from)
{
    struct batch_means other = *from;
    while (other.shift < into->shift)
        batch_means_halve(&other);
    while (into->shift < other.shift)
        batch_means_halve(into);
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        into->slots[i].sum += other.slots[i].sum;
        into->slots[i].count += other.slots[i].count;
    }
}

static struct spread spread_of(const struct batch_means *batches, double mean, double count)
{
    struct spread spread = {0};
    double squares = 0, products = 0, previous = 0;
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        const struct batch_slot *slot = &batches->slots[i];
        double residual = (double)slot->sum - mean * (double)slot->count;
        squares += residual * residual;
        products += residual * previous;
        previous = residual;
        if (slot->count) {
            spread.slots = i + 1;
            spread.filled++;
        }
    }
    if (squares > 0) /* then at least two slots are filled */
        spread.correlation = products / squares;
    if (spread.filled > 1)
        spread.variance = squares / (count * count) * spread.filled / (spread.filled - 1);
    return spread;
}

struct estimate batch_means_estimate(const struct batch_means *batches)
{
    struct batch_means work = *batches;
    struct batch_slot total = {0};
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        total.sum += work.slots[i].sum;
        total.count += work.slots[i].count;
    }
    if (total.count == 0)
        return (struct estimate){.mean = NAN, .half_width = INFINITY};
    double count = (double)total.count, mean = (double)total.sum / count;
    struct spread spread = spread_of(&work, mean, count);
    /* Against the one-sided 5 % level for n independent slots, 1.645 / sqrt(n). */
    while (spread.correlation * sqrt(spread.slots) > 1.645 && spread.slots >= 2 * BATCHES_MIN) {
        batch_means_halve(&work);
        spread = spread_of(&work, mean, count);
    }
    if (spread.filled < BATCHES_MIN)
        return (struct estimate){.mean = mean, .half_width = INFINITY, .batches = spread.filled};
    double r = spread.correlation > 0 ? spread.correlation : 0;
    double deviation = sqrt(spread.variance * (1 + r) / (1 - r));
    return (struct estimate){
        .mean = mean, .half_width = student_t95(spread.filled - 1) * deviation, .batches = spread.filled};
}

/* Tabulated where it is steep, then Fisher's expansion about the normal quantile z (Abramowitz and Stegun 26.7.5). */
double student_t95(uint32_t degrees)
{
    static const double table[] = {INFINITY, 12.706, 4.303, 3.182, 2.776};
    if (degrees < sizeof(table) / sizeof(table[0]))
        return table[degrees];
    const double z = 1.959964, z2 = z * z, v = degrees;
    double first = z * (z2 + 1) / 4;
    double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + (first + (second + third / v) / v) / v;
}

/* ---- bins ---- */

void bins_init(struct bins *bins, uint64_t interval, size_t bin_bytes, struct rewind *rewind)
{
    *bins = (struct bins){.interval = interval, .bin_bytes = bin_bytes, .rewind = rewind};
}

void bins_release(struct bins *bins)
{
    rewind_give(bins->rewind, bins->bytes);
    *bins = (struct bins){0};
}

enum { MOST_BINS = 100000000 };

void bins_reach(struct bins *bins, uint64_t count)
{
    uint64_t room = bins->room ? bins->room : 16;
    NEED(count <= MOST_BINS,
         "a time series reaches bin %llu of %llu ticks, and has at most %u; take a longer workload.series_interval or "
         "--rate-interval",
         (unsigned long long)count, (unsigned long long)bins->interval, MOST_BINS);
    while (room < count)
        room *= 2;
    if (room > bins->room && count) {
        bins->bytes = rewind_resize(bins->rewind, bins->bytes, room * bins->bin_bytes);
        memset(bins->bytes + bins->room * bins->bin_bytes, 0, (room - bins->room) * bins->bin_bytes);
        bins->room = room;
    }
    if (bins->count < count)
        bins->count = count;
}

void *bins_at(struct bins *bins, uint64_t tick)
{
    uint64_t bin = tick / bins->interval;
    if (bin >= bins->count)
        bins_reach(bins, bin + 1);
    return bins->bytes + bin * bins->bin_bytes;
}

/*
 * ---- warm-up ----
 *
 * The comparison of the last two quarters. Latency and throughput are both means
 * of samples in intervals (packets with their latencies; one interval with its
 * flits), so one function judges them. The variance of a sample comes from the
 * differences of neighbouring intervals: a trend hardly enters them, where it
 * would inflate a variance about the mean and so pass for noise.
 */

struct samples {
    double count;
    double sum;
};

/* The packets of an interval with their latencies, or the interval as one sample with its flits. */
static struct samples samples_of(const struct warmup_interval *interval, bool of_latency)
{
    return of_latency ? (struct samples){(double)interval->packets, (double)interval->latency_sum}
                      : (struct samples){1, (double)interval->flits};
}

void warmup_add(struct warmup *warmup, uint64_t packets, uint64_t latency_sum, uint64_t flits)
{
    FW_CHECK(warmup->count < WARMUP_MOST, "warm-up goes on after %u intervals", warmup->count);
    warmup->intervals[warmup->count++] =
        (struct warmup_interval){.packets = packets, .latency_sum = latency_sum, .flits = flits};
}

static struct samples sum_over(const struct warmup_interval *intervals, uint32_t count, bool of_latency)
{
    struct samples total = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct samples here = samples_of(&intervals[i], of_latency);
        total.count += here.count;
        total.sum += here.sum;
    }
    return total;
}

/* The variance of one sample, from the differences of neighbours that both have samples. */
static double variance_over(const struct warmup_interval *intervals, uint32_t count, bool of_latency)
{
    double squares = 0;
    uint32_t pairs = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        struct samples a = samples_of(&intervals[i], of_latency), b = samples_of(&intervals[i + 1], of_latency);
        if (a.count == 0 || b.count == 0)
            continue;
        double difference = b.sum / b.count - a.sum / a.count;
        squares += difference * difference / (1 / a.count + 1 / b.count);
        pairs++;
    }
    return pairs ? squares / pairs : 0;
}

/* The tolerance is relative. */
static bool is_settled(const struct warmup *warmup, bool of_latency, double tolerance)
{
    uint32_t quarter = warmup->count / 4;
    const struct warmup_interval *recent = &warmup->intervals[warmup->count - 2 * quarter];
    struct samples before = sum_over(recent, quarter, of_latency);
    struct samples after = sum_over(recent + quarter, quarter, of_latency);
    if (before.count == 0 || after.count == 0)
        return warmup->count == WARMUP_MOST; /* the first packets may be on their way still, but not for ever */
    double mean = after.sum / after.count;
    double difference = fabs(mean - before.sum / before.count);
    double noise = 2 * sqrt(variance_over(recent, 2 * quarter, of_latency) * (1 / before.count + 1 / after.count));
    return difference <= fmax(tolerance * mean, noise);
}

bool warmup_is_over(const struct warmup *warmup)
{
    return warmup->count >= WARMUP_LEAST && is_settled(warmup, true, 0.05) && is_settled(warmup, false, 0.02);
}

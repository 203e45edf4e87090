/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of the last two quarters. Latency and throughput are both means
 * of samples in intervals (packets with their latencies; one interval with its
 * flits), so one function judges them. The variance of a sample comes from the
 * differences of neighbouring intervals: a trend hardly enters them, where it
 * would inflate a variance about the mean and so pass for noise.
 */
#include "metrics/warmup.h"

#include "flitwarp/error.h"

#include <math.h>

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

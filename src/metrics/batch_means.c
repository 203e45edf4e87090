/* SPDX-License-Identifier: Apache-2.0 */
/*
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
#include "metrics/batch_means.h"

#include <math.h>
#include <stdbool.h>

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

static struct batch_slot total_of(const struct batch_means *batches)
{
    struct batch_slot total = {0};
    for (uint32_t i = 0; i < BATCH_SLOTS; i++) {
        total.sum += batches->slots[i].sum;
        total.count += batches->slots[i].count;
    }
    return total;
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
    struct batch_slot total = total_of(&work);
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

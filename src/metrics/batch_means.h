/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A mean and its 95 % confidence interval from samples that depend on each other,
 * as the latencies of packets do that waited in the same queue. The window of
 * time is cut into slots; sums over slots that are long enough are as good as
 * independent. Slots are 2^shift ticks long: when time outgrows the last one, pairs
 * of slots merge and the length doubles, so a window may be extended at will and
 * between 33 and 64 slots are always in use. State depends on the set of samples
 * only, not on their order. Zeroed memory is empty.
 */
#include <stdint.h>

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

void batch_means_merge(struct batch_means *into, const struct batch_means *from);
struct estimate batch_means_estimate(const struct batch_means *batches);

/* The 97.5 % quantile of Student's t, which bounds a two-sided 95 % interval; degrees >= 1. Good to 0.3 %. */
double student_t95(uint32_t degrees);

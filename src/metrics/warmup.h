/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
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
 * a third apart however long it runs: such a run is given up after max_intervals.
 */
#include "flitwarp/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct warmup_rule {
    uint32_t min_intervals;
    uint32_t max_intervals;
    double latency_tolerance; /* relative */
    double throughput_tolerance;
};

#define WARMUP_RULE_DEFAULT                                                                                            \
    ((struct warmup_rule){                                                                                             \
        .min_intervals = 16, .max_intervals = 400, .latency_tolerance = 0.05, .throughput_tolerance = 0.02})

struct warmup {
    struct warmup_rule rule;
    uint32_t count;
    struct warmup_interval {
        uint64_t packets;
        uint64_t latency_sum;
        uint64_t flits;
    } * intervals; /* max_intervals of them, in the arena */
};

/* min_intervals is at least 8: below that a steady rise cannot be told from noise. */
void warmup_init(struct warmup *warmup, const struct warmup_rule *rule, struct arena *arena);
/* The next interval; not after max_intervals. */
void warmup_add(struct warmup *warmup, uint64_t packets, uint64_t latency_sum, uint64_t flits);

/* Both answer for the intervals so far and remember nothing. */
bool warmup_is_over(const struct warmup *warmup);
/* No steady state within max_intervals: most likely the network is saturated. */
bool warmup_gave_up(const struct warmup *warmup);

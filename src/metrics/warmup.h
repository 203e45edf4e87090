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
 * a third apart however long it runs: such a run is given up after WARMUP_MOST intervals.
 */
#include <stdbool.h>
#include <stdint.h>

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

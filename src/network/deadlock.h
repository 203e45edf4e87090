/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* When nothing moves any more: who waits for whom. */
#include "flitwarp/network.h"

/* An input lane whose front packet waits for the next one of a cycle, and the last for the first. */
struct deadlock_wait {
    uint32_t router, lane;
};
/* A cycle of waits in a network that stands still, on one rank; *count is 0 when there is none. */
struct deadlock_wait *deadlock_find(const struct network *network, struct arena *arena, uint32_t *count);

/*
 * Prints the cycle of packets, with the channel that each holds and the one it wants. Over several ranks, none of which
 * sees all of them, it says that alone.
 */
void deadlock_report(const struct network *network, tick_t now, uint64_t packets, FILE *out);

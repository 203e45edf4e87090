/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Flits of every VC of every channel in the sampling window. Routers count what
 * leaves by their output lanes anyway; what enters from terminals is counted here, by
 * the router's input lane. Both are copied at the ends of the window. All counts are
 * modulo 2^32.
 */
#include "network/network.h"

struct lane_counts {
    uint32_t lanes;    /* of a router */
    size_t count;      /* of all routers */
    uint32_t *entered; /* by router * lanes + lane: flits from a terminal so far */
    uint32_t *in[2];   /* the same at the start [0] and the end [1] of the window */
    uint32_t *out[2];  /* by router * lanes + lane: flits that have left by it, then */
};

struct lane_counts *lane_counts_create(const struct network *network, struct arena *arena);
/* The window begins, or ends. */
void lane_counts_note(struct lane_counts *counts, const struct network *network, bool is_end);

static inline void lane_counts_enter(struct lane_counts *counts, struct lane_place to, uint32_t flits)
{
    counts->entered[(size_t)to.target * counts->lanes + to.lane] += flits;
}

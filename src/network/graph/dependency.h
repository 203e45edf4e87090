/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The channel dependency graph: whether a routing algorithm can deadlock, found
 * without running anything, and whether it brings every packet home at all.
 */
#include "flitwarp/routing.h"

#define MAX_DECISIONS 64

/*
 * One string of random choices. Start with an empty one, ask a question under it, then move on to the next string
 * until there is none: every combination of answers comes up exactly once.
 */
struct decisions {
    uint32_t made;  /* in this run */
    uint32_t known; /* choices laid down by earlier runs */
    uint32_t taken[MAX_DECISIONS];
    uint32_t options[MAX_DECISIONS];
};

/* Lays down the next string and rewinds; false when all have been tried. */
bool decisions_next(struct decisions *decisions);

/* Hops of packets that an interactive check follows: a few seconds. */
#define DEPENDENCY_BUDGET 16000000

/*
 * Follows packets between every pair of routers with terminals by every route that the algorithm may give them.
 * Prints what was checked and, where there are any, faults (dead ends, unused ports, wrong terminals, endless ways) and
 * a cycle of VCs that wait for each other. True when there are neither. Once `budget` hops have been followed, the
 * pairs left over are not checked; which ones depends on the network alone. Routes may depend on all that a packet
 * carries except its source.
 * Where the algorithm names escape VCs (routing->escape_vcs) they alone must have no cycle, and every answer must offer
 * one. That is enough in routers that give a packet an output VC only with room for all of it: those with buffers at
 * their inputs do so where routing has escape VCs.
 */
bool dependency_check(const struct routing *routing, uint64_t budget, FILE *out);

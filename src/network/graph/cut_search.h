/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Local search for a better cut of a network in halves, by moving one router after
 * the other to the other side (Fiduccia and Mattheyses 1982).
 */
#include "network/graph/adjacency.h"

struct cut_search {
    const struct adjacency *adjacency; /* borrowed */
    uint32_t *weight;                  /* by router: terminals that enter and leave there */
    uint64_t total;                    /* of all routers */
    uint64_t slack;                    /* by which halves may differ in weight */
    uint64_t reach;                    /* the same on the way from one cut to another */
    uint64_t work;                     /* channels looked at so far */
    /* Of a pass: */
    int64_t ahead;     /* the weight of side 0 less that of side 1 */
    int32_t *gain;     /* by router: links that a move takes out of the cut */
    uint32_t most;     /* gain of any router, or loss */
    uint32_t *buckets; /* by shelf * (2 * most + 1) + most + gain: the first router in it */
    uint32_t *next, *previous;
    uint32_t *highest; /* by shelf: no bucket above this one has a router */
    uint32_t *moved;   /* routers in the order in which they were moved */
    bool *is_moved;
};

void cut_search_init(struct cut_search *search, const struct adjacency *adjacency, struct arena *arena);
/* Betters a cut, and balances it; returns the links that it cuts, UINT64_MAX where no balance was found. */
uint64_t cut_search_improve(struct cut_search *search, uint8_t *side);

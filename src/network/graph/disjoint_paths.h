/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * How many shortest paths between two routers there are at once, no two of them
 * sharing a channel: what is left of a network's ways when each is taken by
 * somebody. Over all pairs of routers with terminals, or a sample of them.
 */
#include "network/graph/distances.h"

struct disjoint_paths {
    uint64_t pairs; /* looked at */
    bool is_exact;  /* those were all */
    struct pair_mean paths;
    uint32_t least;
};

/* `budget` counts channels looked at; the first two sources are free. */
void disjoint_paths_find(struct disjoint_paths *disjoint, const struct adjacency *adjacency, uint64_t budget);

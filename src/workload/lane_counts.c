/* SPDX-License-Identifier: Apache-2.0 */
/* Flits of every VC of every channel in the sampling window, see lane_counts.h. */
#include "workload/lane_counts.h"

#include "network/network.h"

#include <string.h>

struct lane_counts *lane_counts_create(const struct network *network, struct arena *arena)
{
    struct lane_counts *counts = arena_array(arena, struct lane_counts, 1);
    counts->lanes = network->ports * network->num_vcs;
    counts->count = (size_t)network->topology.routers * counts->lanes;
    counts->entered = arena_array(arena, uint32_t, counts->count);
    for (uint32_t end = 0; end < 2; end++) {
        counts->in[end] = arena_array(arena, uint32_t, counts->count);
        counts->out[end] = arena_array(arena, uint32_t, counts->count);
    }
    return counts;
}

void lane_counts_note(struct lane_counts *counts, const struct network *network, bool is_end)
{
    memcpy(counts->in[is_end], counts->entered, sizeof *counts->entered * counts->count);
    network_count_flits(network, 1, counts->out[is_end]);
}

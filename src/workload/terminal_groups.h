/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The terminals of a network by what they share: a router, a group of routers, or a block of numbers. */
#include "flitwarp/topology.h"

struct terminal_groups {
    uint32_t count;      /* some may be empty */
    uint32_t *first;     /* owned: by group, into terminals; one more at the end */
    uint32_t *terminals; /* owned: by group, in rising order */
};

void terminal_groups_by_router(struct terminal_groups *groups, const struct topology *topology);
/* The groups of a dragonfly or one of its family; false: the network has none. */
bool terminal_groups_of(struct terminal_groups *groups, const struct topology *topology);
/* So many terminals with neighbouring numbers each; the last has what is left. */
void terminal_groups_in_blocks(struct terminal_groups *groups, const struct topology *topology, uint32_t size);
void terminal_groups_release(struct terminal_groups *groups);

static inline uint32_t terminal_group_size(const struct terminal_groups *groups, uint32_t group)
{
    return groups->first[group + 1] - groups->first[group];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals sorted by group: counted first, then each put in its place. */
#include "workload/terminal_groups.h"

#include "flitwarp/dragonfly.h"

#include <stdlib.h>
#include <string.h>

/* By terminal: its group, in memory that is given back. */
static void sort(struct terminal_groups *groups, uint32_t *group_of, uint32_t terminals, uint32_t count)
{
    *groups = (struct terminal_groups){.count = count,
                                       .first = memory_take((count + 2ull) * sizeof *groups->first),
                                       .terminals = memory_take(terminals * sizeof *groups->terminals)};
    uint32_t *next = groups->first + 1; /* of the group before it: ends up at its own first */
    memset(groups->first, 0, (count + 2ull) * sizeof *groups->first);
    for (uint32_t terminal = 0; terminal < terminals; terminal++)
        next[group_of[terminal] + 1]++;
    for (uint32_t group = 0; group < count; group++)
        next[group + 1] += next[group];
    for (uint32_t terminal = 0; terminal < terminals; terminal++)
        groups->terminals[next[group_of[terminal]]++] = terminal;
    free(group_of);
}

static uint32_t *routers_of(const struct topology *topology)
{
    uint32_t *router_of = memory_take(topology->terminals * sizeof *router_of);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        router_of[terminal] = topology_router_of(topology, terminal);
    return router_of;
}

void terminal_groups_by_router(struct terminal_groups *groups, const struct topology *topology)
{
    sort(groups, routers_of(topology), topology->terminals, topology->routers);
}

bool terminal_groups_of(struct terminal_groups *groups, const struct topology *topology)
{
    const struct dragonfly *dragonfly = topology_dragonfly(topology);
    if (!dragonfly)
        return false;
    uint32_t *group_of = routers_of(topology);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        group_of[terminal] = dragonfly_group(dragonfly, group_of[terminal]);
    sort(groups, group_of, topology->terminals, dragonfly->groups);
    return true;
}

void terminal_groups_in_blocks(struct terminal_groups *groups, const struct topology *topology, uint32_t size)
{
    uint32_t *group_of = memory_take(topology->terminals * sizeof *group_of);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        group_of[terminal] = terminal / size;
    sort(groups, group_of, topology->terminals, (topology->terminals - 1) / size + 1);
}

void terminal_groups_release(struct terminal_groups *groups)
{
    free(groups->first);
    free(groups->terminals);
}

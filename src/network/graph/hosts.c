/* SPDX-License-Identifier: Apache-2.0 */
/* Which terminals stand for which in a check of routes, and in which order they are gone through; see dependency.h. */
#include "network/graph/dependency.h"

struct hosts hosts_find(const struct topology *topology, bool takes_all,
                        uint32_t (*place)(const struct topology *topology, uint32_t terminal), struct arena *arena)
{
    struct hosts hosts = {.terminals = arena_array(arena, uint32_t, topology->terminals),
                          .first = arena_array(arena, uint32_t, topology->routers)};
    for (uint32_t router = 0; router < topology->routers; router++)
        hosts.first[router] = FW_NONE;
    for (uint32_t terminal = topology->terminals; terminal-- > 0;)
        hosts.first[place(topology, terminal)] = terminal;
    for (uint32_t router = 0; router < topology->routers && !takes_all; router++)
        if (hosts.first[router] != FW_NONE)
            hosts.terminals[hosts.count++] = hosts.first[router];
    for (uint32_t terminal = 0; terminal < topology->terminals && takes_all; terminal++)
        hosts.terminals[hosts.count++] = terminal;
    return hosts;
}

uint32_t spread_step(uint32_t count)
{
    for (uint32_t step = (uint32_t)(count * 0.618) | 1;; step++) {
        uint32_t a = step, b = count;
        for (uint32_t rest; b; a = b, b = rest)
            rest = a % b;
        if (a == 1)
            return step;
    }
}

uint32_t hops_to_farthest(const struct topology *topology, struct arena *arena)
{
    struct search search;
    uint32_t most = 0;
    search_init(&search, topology, arena);
    for (uint32_t router = 0; router < topology->routers; router++) {
        if (router && (!topology->islands || topology->islands[router] != router))
            continue;
        search_from(&search, router);
        uint32_t hops = search.distance[search.order[search.reached - 1]];
        most = hops > most ? hops : most;
    }
    return most;
}

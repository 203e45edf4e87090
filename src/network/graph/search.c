/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search over routers, for whoever needs distances that a topology does not know. */
#include "flitwarp/topology.h"

#include <string.h>

void search_init(struct search *search, const struct topology *topology, struct arena *arena)
{
    *search = (struct search){
        .topology = topology,
        .neighbours = arena_array(arena, uint32_t, (size_t)topology->routers * topology->ports),
        .distance = arena_array(arena, uint32_t, topology->routers),
        .order = arena_array(arena, uint32_t, topology->routers),
    };
    uint32_t *next = search->neighbours;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            *next++ = topology->ops->peer(topology, router, port, &peer) ? peer.router : FW_NONE;
        }
}

void search_from(struct search *search, uint32_t router)
{
    uint32_t ports = search->topology->ports, *distance = search->distance, *order = search->order;
    memset(distance, 0xff, sizeof *distance * search->topology->routers);
    distance[router] = 0;
    order[0] = router;
    search->reached = 1;
    for (uint32_t i = 0; i < search->reached; i++)
        for (uint32_t port = 0; port < ports; port++) {
            uint32_t neighbour = search->neighbours[(size_t)order[i] * ports + port];
            if (neighbour == FW_NONE || distance[neighbour] != FW_NONE)
                continue;
            distance[neighbour] = distance[order[i]] + 1;
            order[search->reached++] = neighbour;
        }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of neighbours from a topology's ports. Going through the routers in rising
 * order and entering each at those behind its ports leaves every list sorted, with
 * parallel channels next to each other, since peer is symmetric.
 */
#include "network/graph/analysis.h"

#include "base/need.h"
#include "flitwarp/random.h"

#include <stdlib.h>
#include <string.h>

/* Room for each router's entries, were there no parallel channels. */
static uint32_t *count_ports(const struct topology *topology)
{
    uint32_t *first = memory_take(sizeof *first * ((size_t)topology->routers + 1)), ports = 0;
    for (uint32_t router = 0; router < topology->routers; router++) {
        first[router] = ports;
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            ports += topology->ops->peer(topology, router, port, &peer);
        }
    }
    first[topology->routers] = ports;
    return first;
}

/* Fills the room; `count` is how much of it each router needs. A channel from a router to itself leads nowhere. */
static void enter_all(struct adjacency *adjacency, const uint32_t *room, struct neighbour *entries, uint32_t *count)
{
    const struct topology *topology = adjacency->topology;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (!topology->ops->peer(topology, router, port, &peer) || peer.router == router)
                continue;
            struct neighbour *next = entries + room[peer.router] + count[peer.router];
            if (count[peer.router] && next[-1].router == router) {
                next[-1].links++;
            } else {
                *next = (struct neighbour){.router = router, .links = 1};
                count[peer.router]++;
            }
        }
}

/* A list's entries are met in rising order again when all lists are gone through: a count of them finds each. */
static void find_back(struct adjacency *adjacency, uint32_t *count)
{
    memset(count, 0, sizeof *count * adjacency->topology->routers);
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        NEIGHBOURS_EACH(neighbour, adjacency, router)
            neighbour->back = adjacency->first[neighbour->router] + count[neighbour->router]++;
}

static void count_terminals(struct adjacency *adjacency)
{
    const struct topology *topology = adjacency->topology;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        adjacency->entering[topology_router_of(topology, terminal)]++;
        adjacency->leaving[topology_ejects_at(topology, terminal)]++;
    }
    for (uint32_t router = 0; router < topology->routers; router++)
        adjacency->sources += adjacency->entering[router] > 0;
}

void adjacency_init(struct adjacency *adjacency, const struct topology *topology, struct arena *arena)
{
    uint32_t routers = topology->routers, entry = 0;
    *adjacency = (struct adjacency){
        .topology = topology,
        .first = arena_array(arena, uint32_t, (size_t)routers + 1),
        .entering = arena_array(arena, uint32_t, routers),
        .leaving = arena_array(arena, uint32_t, routers),
    };
    uint32_t *room = count_ports(topology), *count = calloc((size_t)routers + 1, sizeof *count);
    NEED(count, "out of memory for %u routers", routers);
    adjacency->neighbours = arena_array(arena, struct neighbour, room[routers]);
    enter_all(adjacency, room, adjacency->neighbours, count);
    for (uint32_t router = 0; router < routers; router++) {
        memmove(adjacency->neighbours + entry, adjacency->neighbours + room[router],
                sizeof *adjacency->neighbours * count[router]);
        adjacency->first[router] = entry;
        entry += count[router];
    }
    adjacency->first[routers] = entry;
    find_back(adjacency, count);
    count_terminals(adjacency);
    free(room);
    free(count);
}

uint32_t *adjacency_sources(const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t *sources = arena_array(arena, uint32_t, adjacency->sources), count = 0;
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        if (adjacency->entering[router])
            sources[count++] = router;
    struct random random = random_stream(1, 0, RANDOM_SETUP);
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = random_below(&random, i), swap = sources[i - 1];
        sources[i - 1] = sources[other];
        sources[other] = swap;
    }
    return sources;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of neighbours from a topology's ports. Going through the routers in rising
 * order and entering each at those behind its ports leaves every list sorted, with
 * parallel channels next to each other, since peer is symmetric.
 */
#include "network/graph/analysis.h"

#include "flitwarp/random.h"

#include <string.h>

/* Where the router at one end is entered at that of the other, as the next entry there unless it is the last one. */
struct entering {
    uint32_t *last;  /* by router: the one that was entered last */
    uint32_t *count; /* by router: those entered */
};

/* Enters all routers at those behind their ports. A channel from a router to itself leads nowhere. NULL: only counts. */
static void enter_all(const struct topology *topology, struct entering *at, const uint32_t *first,
                      struct neighbour *entries)
{
    memset(at->last, 0xff, sizeof *at->last * topology->routers);
    memset(at->count, 0, sizeof *at->count * topology->routers);
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (!topology->ops->peer(topology, router, port, &peer) || peer.router == router)
                continue;
            at->count[peer.router] += at->last[peer.router] != router;
            at->last[peer.router] = router;
            if (entries) {
                struct neighbour *entry = &entries[first[peer.router] + at->count[peer.router] - 1];
                *entry = (struct neighbour){.router = router, .links = entry->links + 1};
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
    uint32_t routers = topology->routers;
    struct arena scratch = {0};
    struct entering at = {arena_array(&scratch, uint32_t, routers), arena_array(&scratch, uint32_t, routers)};
    *adjacency = (struct adjacency){
        .topology = topology,
        .first = arena_array(arena, uint32_t, (size_t)routers + 1),
        .entering = arena_array(arena, uint32_t, routers),
        .leaving = arena_array(arena, uint32_t, routers),
    };
    enter_all(topology, &at, NULL, NULL);
    for (uint32_t router = 0; router < routers; router++)
        adjacency->first[router + 1] = adjacency->first[router] + at.count[router];
    adjacency->neighbours = arena_array(arena, struct neighbour, adjacency->first[routers]);
    enter_all(topology, &at, adjacency->first, adjacency->neighbours);
    find_back(adjacency, at.count);
    count_terminals(adjacency);
    arena_release(&scratch);
}

uint32_t *adjacency_sources(const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t *sources = arena_array(arena, uint32_t, adjacency->sources), count = 0;
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        if (adjacency->entering[router])
            sources[count++] = router;
    struct random random = random_stream(1, 0, RANDOM_SETUP);
    random_shuffle(&random, sources, count);
    return sources;
}

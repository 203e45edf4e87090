/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. The way of least latency by table, one for each router and destination, on any
 * topology that knows its latencies (one from a file; channels without one count
 * 1). Of ways that take equally long every router has one, as Dijkstra's algorithm
 * finds it from there, taking nearer routers before farther ones and lower numbers
 * before higher ones: BookSim's anynet. Any VC may be taken, so that rings in the
 * network can deadlock.
 */
#include "network/routing/routing.h"

static void least_latency_route(struct route *route)
{
    FW_GLOBAL const uint16_t *table = route->routing->state;
    size_t row = (size_t)route->router * routing_routers(route->routing);
    if (!route_ends(route))
        route_add(route, table[row + route->packet->destination_router], 0);
}

#if FW_HOST
#define MAX_ROUTERS 16384 /* whose table takes half a GiB */

/* Of one search. Routers to look at are in a binary heap of distance * MAX_ROUTERS + router. */
struct tree_of_ways {
    const struct topology *topology;
    const uint32_t *neighbours; /* by router * ports + port; FW_NONE: unused */
    uint64_t *distance;         /* ticks */
    uint16_t *first_port;       /* by router: the port of the root that its way begins with */
    uint64_t *heap;
    size_t count;
};

static void push(struct tree_of_ways *tree, uint64_t key)
{
    size_t at = tree->count++;
    for (; at && tree->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
        tree->heap[at] = tree->heap[(at - 1) / 2];
    tree->heap[at] = key;
}

static uint64_t pop(struct tree_of_ways *tree)
{
    uint64_t least = tree->heap[0], last = tree->heap[--tree->count];
    size_t at = 0;
    for (size_t below = 1; below < tree->count; at = below, below = 2 * at + 1) {
        below += below + 1 < tree->count && tree->heap[below + 1] < tree->heap[below];
        if (tree->heap[below] >= last)
            break;
        tree->heap[at] = tree->heap[below];
    }
    tree->heap[at] = last;
    return least;
}

/* Fills first_port; false where a router cannot be reached. */
static bool find_ways(struct tree_of_ways *tree, uint32_t root)
{
    uint32_t routers = tree->topology->routers, ports = tree->topology->ports, done = 0;
    for (uint32_t router = 0; router < routers; router++)
        tree->distance[router] = router == root ? 0 : UINT64_MAX;
    for (push(tree, root); tree->count;) {
        uint64_t key = pop(tree);
        uint32_t router = key % MAX_ROUTERS;
        if (tree->distance[router] != key / MAX_ROUTERS) /* a nearer way has been found since */
            continue;
        done++;
        for (uint32_t port = 0; port < ports; port++) {
            size_t number = (size_t)router * ports + port;
            uint32_t next = tree->neighbours[number];
            uint32_t latency = tree->topology->latencies ? tree->topology->latencies[number] : 0;
            uint64_t distance = tree->distance[router] + (latency ? latency : 1);
            if (next == FW_NONE || distance >= tree->distance[next])
                continue;
            tree->distance[next] = distance;
            tree->first_port[next] = router == root ? (uint16_t)port : tree->first_port[router];
            push(tree, distance * MAX_ROUTERS + next);
        }
    }
    return done == routers;
}

static void least_latency_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                  struct errors *errors)
{
    const struct topology *topology = routing->topology;
    uint32_t routers = topology->routers;
    struct arena scratch = {0};
    struct search search;
    if (routers > MAX_ROUTERS) {
        choice_error(errors, self, NULL, "\"least_latency\" keeps a table of at most %u routers; there are %u",
                     MAX_ROUTERS, routers);
        return;
    }
    uint16_t *table = arena_array(arena, uint16_t, (size_t)routers * routers);
    search_init(&search, topology, &scratch);
    struct tree_of_ways tree = {.topology = topology,
                                .neighbours = search.neighbours,
                                .distance = arena_array(&scratch, uint64_t, routers),
                                .heap = arena_array(&scratch, uint64_t, (size_t)routers * topology->ports + 1)};
    bool is_connected = true;
    for (uint32_t root = 0; root < routers && is_connected; root++) {
        tree.first_port = table + (size_t)root * routers;
        is_connected = find_ways(&tree, root);
    }
    if (!is_connected)
        choice_error(errors, self, NULL, "some routers of this \"%s\" cannot be reached from others",
                     topology->ops->name);
    arena_release(&scratch);
    routing->state = table;
}

static const struct routing_ops least_latency = {
    .name = "least_latency",
    .summary = "the one way of least latency by table, in any VC; channels count 1 where the topology says nothing",
    .example = "{\"type\": \"least_latency\"}",
    .needs = "1 VC",
    .prepare = least_latency_prepare,
    .route = least_latency_route,
    DEVICE_FORM(least_latency_route),
};
REGISTER_ROUTING(least_latency);
#endif

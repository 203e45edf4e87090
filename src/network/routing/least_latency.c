/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of least latency by table, one for each router and destination, on any
 * topology that knows its latencies (one from a file; channels without one count
 * 1). Of ways that take equally long every router has one, as Dijkstra's algorithm
 * finds it from there, taking nearer routers before farther ones and lower numbers
 * before higher ones: BookSim's anynet. Any VC may be taken, so that rings in the
 * network can deadlock.
 */
#include "network/routing/routing.h"

#define MAX_ROUTERS 2048 /* a table takes time with their third power */

/* Of one search. */
struct tree_of_ways {
    const struct topology *topology;
    const uint32_t *neighbours; /* by router * ports + port; FW_NONE: unused */
    uint32_t *distance;         /* ticks */
    uint16_t *first_port;       /* by router: the port of the root that its way begins with */
    bool *is_done;
};

static uint32_t latency_of(const struct topology *topology, size_t port)
{
    return topology->latencies && topology->latencies[port] ? topology->latencies[port] : 1;
}

static uint32_t nearest_left(const struct tree_of_ways *tree)
{
    uint32_t nearest = FW_NONE;
    for (uint32_t router = 0; router < tree->topology->routers; router++)
        if (!tree->is_done[router] && tree->distance[router] < (nearest == FW_NONE ? FW_NONE : tree->distance[nearest]))
            nearest = router;
    return nearest;
}

/* Fills first_port; false where a router cannot be reached. */
static bool find_ways(struct tree_of_ways *tree, uint32_t root)
{
    uint32_t routers = tree->topology->routers, ports = tree->topology->ports;
    for (uint32_t router = 0; router < routers; router++) {
        tree->distance[router] = router == root ? 0 : FW_NONE;
        tree->is_done[router] = false;
    }
    for (uint32_t done = 0; done < routers; done++) {
        uint32_t router = nearest_left(tree);
        if (router == FW_NONE)
            return false;
        tree->is_done[router] = true;
        for (uint32_t port = 0; port < ports; port++) {
            size_t number = (size_t)router * ports + port;
            uint32_t next = tree->neighbours[number];
            uint32_t distance = tree->distance[router] + latency_of(tree->topology, number);
            if (next == FW_NONE || distance >= tree->distance[next])
                continue;
            tree->distance[next] = distance;
            tree->first_port[next] = router == root ? (uint16_t)port : tree->first_port[router];
        }
    }
    return true;
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
                                .distance = arena_array(&scratch, uint32_t, routers),
                                .is_done = arena_array(&scratch, bool, routers)};
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

static void least_latency_route(struct route *route)
{
    const uint16_t *table = route->routing->state;
    size_t row = (size_t)route->router * route->routing->topology->routers;
    if (!route_ends(route))
        route_add(route, table[row + route->packet->destination_router], 0);
}

static const struct routing_ops least_latency = {
    .name = "least_latency",
    .summary = "the one way of least latency by table, in any VC",
    .example = "{\"type\": \"least_latency\"}",
    .needs = "1 VC",
    .prepare = least_latency_prepare,
    .route = least_latency_route,
};
REGISTER_ROUTING(least_latency);

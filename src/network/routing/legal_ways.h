/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Up/down on any graph (Schroeder et al. 1991, Autonet). Routers have an order; a channel to one of a lower number in it
 * goes up, any other down. A way goes up as far as it likes and then down, never up again. So channels wait for channels in
 * one direction alone, and there is no deadlock, with one VC and whatever the graph.
 *   The table has the shortest of these ways: for each pair of routers the ports that begin one, for a packet that may still
 * go up and for one that has gone down.
 */
#include "flitwarp/route_table.h"

enum way_phase { MAY_GO_UP, GOES_DOWN, WAY_PHASES };

struct legal_ways {
    const uint32_t *lists; /* by ((there * routers) + here) * WAY_PHASES + phase: place in the pool */
    const uint32_t *pool;  /* see port_lists.h */
    const uint64_t *order; /* by router: the lower is up */
    uint32_t routers;
    uint32_t longest; /* hops from where a packet is injected to where it is ejected */
};

/*
 * By levels of the routers, 0 for roots, and among equals by number; those of the topology are all of one direction or
 * another. NULL, with errors, where there are too many routers.
 */
const struct legal_ways *legal_ways_create(const struct routing *routing, const uint32_t *levels,
                                           const struct choice *self, struct arena *arena, struct errors *errors);

/*
 * The same with levels by the distance to the nearest of some roots. Where there are none, and in parts of the network that
 * have none, the root is the centre: the router from which the farthest is nearest, of equals the one with the least mean
 * distance. NULL, with errors, also where there are several roots without such a way from terminals to terminals.
 */
const struct legal_ways *legal_ways_from_roots(const struct routing *routing, const struct u32_list *roots,
                                               const struct choice *self, struct arena *arena, struct errors *errors);

/* The row of a config struct that has the roots. */
#define OPTION_ROOTS(config)                                                                                           \
    OPTION_U32_LIST(config, roots, "[]", 0, FW_NONE - 1, NULL,                                                         \
                    "routers at the top, whose distance orders the others; []: the centre, of each part that "         \
                    "failures leave of a network")

static inline bool legal_ways_rise(const struct legal_ways *ways, uint32_t from, uint32_t to)
{
    return ways->order[to] < ways->order[from];
}

/* The ports that a packet may take, with their number and the distance, as in a route_table. */
static inline const uint32_t *legal_ways_list(const struct legal_ways *ways, uint32_t here, uint32_t there,
                                              enum way_phase phase)
{
    return ways->pool + ways->lists[((size_t)there * ways->routers + here) * WAY_PHASES + phase];
}

static inline bool legal_ways_reach(const struct legal_ways *ways, uint32_t from, uint32_t to)
{
    return legal_ways_list(ways, from, to, MAY_GO_UP)[ROUTE_TABLE_DISTANCE] != FW_NONE;
}

/* The phase that a packet is in which came by the channel from its waypoint, a router; from its terminal it may go up. */
static inline enum way_phase legal_ways_phase(const struct legal_ways *ways, const struct route *route)
{
    bool has_sunk = route->packet->hops && !legal_ways_rise(ways, route->packet->waypoint, route->router);
    return has_sunk ? GOES_DOWN : MAY_GO_UP;
}

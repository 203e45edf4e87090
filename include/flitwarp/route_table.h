/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Shortest ways on any topology, as a table. Breadth-first search from every
 * router finds, for each pair, the ports that lead one hop closer:
 *
 *     lists[there * width + here - first] -> pool: count, distance, port, port, ...
 *
 * A table is of all routers, or of those alone at which this rank asks.
 */
#include "flitwarp/routing.h"

enum route_table_list {
    ROUTE_TABLE_COUNT,
    ROUTE_TABLE_DISTANCE,
    ROUTE_TABLE_PORTS
}; /* places in a list; the ports are last */

struct route_table {
    FW_FAR(const uint32_t) lists; /* index into pool */
    FW_FAR(const uint32_t) pool;
    uint64_t self;         /* see FW_NEAR() */
    uint32_t first, width; /* `here` is one of so many routers from the first on */
    uint32_t diameter;     /* hops between any two routers */
    uint32_t longest;      /* hops that a packet makes: from where it is injected to where it is ejected */
};

#if FW_HOST
/* NULL, with errors added, where there are too many routers or some cannot be reached. */
const struct route_table *route_table_create(const struct routing *routing, const struct choice *self,
                                             struct arena *arena, struct errors *errors);
/* For algorithms that look for the ways from the router that is asked, and from no other. */
const struct route_table *route_table_create_here(const struct routing *routing, const struct choice *self,
                                                  struct arena *arena, struct errors *errors);
#endif

static inline FW_GLOBAL const uint32_t *route_table_list(FW_GLOBAL const struct route_table *table, uint32_t here,
                                                         uint32_t there)
{
    return FW_NEAR(const uint32_t, table, table->pool) +
           FW_NEAR(const uint32_t, table, table->lists)[(size_t)there * table->width + here - table->first];
}

static inline uint32_t route_table_distance(FW_GLOBAL const struct route_table *table, uint32_t here, uint32_t there)
{
    return route_table_list(table, here, there)[ROUTE_TABLE_DISTANCE];
}

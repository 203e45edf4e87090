/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a HyperX, for routing algorithms that know one: topology_hyperx().
 * Routers have coordinates, coordinate 0 varying fastest, and are linked to all
 * that differ in exactly one of them. Ports go by dimension, then by offset (from
 * 1: the coordinate behind it is (own + offset) mod width), then by parallel
 * channel: first_port[d] + (offset - 1) * channels[d] + j.
 */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

struct hyperx {
    uint32_t dimensions;
    uint32_t width[MAX_DIMENSIONS];
    uint32_t channels[MAX_DIMENSIONS]; /* parallel channels between two routers */
    uint32_t first_port[MAX_DIMENSIONS];
    uint32_t stride[MAX_DIMENSIONS];    /* between the numbers of routers next to each other in a dimension */
    FW_FAR(const uint16_t) coordinates; /* by router * dimensions + dimension */
    uint64_t self;                      /* see FW_NEAR() */
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char hyperx_family[];
static inline const struct hyperx *topology_hyperx(const struct topology *topology)
{
    return topology->family == hyperx_family ? topology->facts : NULL;
}
#endif

/* All coordinates of a router. */
static inline FW_GLOBAL const uint16_t *hyperx_coordinates(FW_GLOBAL const struct hyperx *hyperx, uint32_t router)
{
    return FW_NEAR(const uint16_t, hyperx, hyperx->coordinates) + (size_t)router * hyperx->dimensions;
}

static inline uint32_t hyperx_coordinate(FW_GLOBAL const struct hyperx *hyperx, uint32_t router, uint32_t dimension)
{
    return hyperx_coordinates(hyperx, router)[dimension];
}

/* The router that has another coordinate in one dimension. */
static inline uint32_t hyperx_router(FW_GLOBAL const struct hyperx *hyperx, uint32_t router, uint32_t dimension,
                                     uint32_t coordinate)
{
    uint32_t own = hyperx_coordinate(hyperx, router, dimension);
    return router + (coordinate - own) * hyperx->stride[dimension]; /* modulo 2^32, so it may also go down */
}

/* The first of the ports that lead from one coordinate to another; channels[dimension] of them. */
static inline uint32_t hyperx_port_from(FW_GLOBAL const struct hyperx *hyperx, uint32_t own, uint32_t dimension,
                                        uint32_t coordinate)
{
    uint32_t offset = coordinate > own ? coordinate - own : coordinate + hyperx->width[dimension] - own;
    return hyperx->first_port[dimension] + (offset - 1) * hyperx->channels[dimension];
}

/* The same from a router. */
static inline uint32_t hyperx_port(FW_GLOBAL const struct hyperx *hyperx, uint32_t router, uint32_t dimension,
                                   uint32_t coordinate)
{
    return hyperx_port_from(hyperx, hyperx_coordinate(hyperx, router, dimension), dimension, coordinate);
}

/* Channels on a shortest way: the coordinates that differ. */
static inline uint32_t hyperx_distance(FW_GLOBAL const struct hyperx *hyperx, uint32_t from, uint32_t to)
{
    if (from == to || hyperx->dimensions == 1)
        return from != to;
    FW_GLOBAL const uint16_t *a = hyperx_coordinates(hyperx, from), *b = hyperx_coordinates(hyperx, to);
    uint32_t distance = 0;
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        distance += a[d] != b[d];
    return distance;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The shape of a grid and its ports. Read by OpenCL too. */
#include "flitwarp/both.h"

#define MAX_DIMENSIONS 16

/*
 * Routers at the points of a grid, coordinate 0 varying fastest. Ports go by
 * dimension, then direction (up before down), then parallel channel:
 * first_port[d] + down * channels[d] + j. In a hypercube one port serves both
 * directions.
 */
struct grid {
    uint32_t dimensions;
    uint32_t width[MAX_DIMENSIONS];
    uint32_t channels[MAX_DIMENSIONS]; /* parallel channels in each direction */
    uint32_t first_port[MAX_DIMENSIONS];
    fw_bool wraps;    /* torus */
    fw_bool one_port; /* both directions of a dimension are the same port (hypercube) */
};

static inline void grid_coordinates(FW_GLOBAL const struct grid *grid, uint32_t router, uint32_t *coordinates)
{
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        coordinates[d] = router % grid->width[d];
        router /= grid->width[d];
    }
}

/* Channels on a shortest way between two routers. */
static inline uint32_t grid_hops(FW_GLOBAL const struct grid *grid, uint32_t from, uint32_t to)
{
    uint32_t a[MAX_DIMENSIONS], b[MAX_DIMENSIONS], hops = 0;
    grid_coordinates(grid, from, a);
    grid_coordinates(grid, to, b);
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t apart = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d], around = grid->width[d] - apart;
        hops += grid->wraps && around < apart ? around : apart;
    }
    return hops;
}

static inline uint32_t grid_port(FW_GLOBAL const struct grid *grid, uint32_t dimension, bool down, uint32_t channel)
{
    uint32_t direction = grid->one_port ? 0 : down;
    return grid->first_port[dimension] + direction * grid->channels[dimension] + channel;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hypercube of n dimensions: 2^n routers, and port d of a router leads to the
 * router whose number differs in bit d:
 *
 *     2 --- 3
 *     |     |        dimensions 2
 *     0 --- 1
 *
 * It is a grid of width 2 in which one port serves both directions.
 */
#include "network/topology/grid.h"

struct hypercube_config {
    uint32_t dimensions;
    uint32_t concentration;
};

static const struct option hypercube_options[] = {
    OPTION_U32(struct hypercube_config, dimensions, "6", 1, MAX_DIMENSIONS, "dimensions",
               "dimensions; there are 2 to this power routers"),
    OPTION_U32(struct hypercube_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void hypercube_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct hypercube_config *hypercube = config;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid->dimensions = hypercube->dimensions;
    grid->one_port = true;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        grid->width[d] = 2;
        grid->channels[d] = 1;
        grid->first_port[d] = d;
    }
    grid_shape(topology, grid, hypercube->concentration);
}

static const struct topology_ops hypercube = {
    .name = "hypercube",
    .summary = "2^n routers, linked where their numbers differ in one bit",
    .options = hypercube_options,
    .config_size = sizeof(struct hypercube_config),
    .example = "{\"type\": \"hypercube\", \"dimensions\": 6}",
    .shape = hypercube_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(hypercube);

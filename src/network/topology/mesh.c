/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mesh: routers at the points of a grid of any number of dimensions, each
 * linked to its neighbours. Ports that would lead over the edge are unused:
 *
 *     0 <-> 1 <-> 2
 *     |     |     |        widths [3, 2]
 *     3 <-> 4 <-> 5
 */
#include "network/topology/grid.h"

static void mesh_shape(const void *config, struct arena *arena, struct topology *topology)
{
    grid_shape_of(config, false, arena, topology);
}

static const struct topology_ops mesh = {
    .name = "mesh",
    .summary = "grid of routers, each linked to its neighbours",
    .options = grid_options,
    .config_size = sizeof(struct grid_config),
    .example = "{\"type\": \"mesh\", \"widths\": [16, 16], \"concentration\": 1}",
    .check = grid_check,
    .shape = mesh_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(mesh);

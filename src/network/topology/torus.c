/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A torus (k-ary n-cube): routers at the points of a grid of any number of
 * dimensions, each linked to its two neighbours in every dimension, the last
 * back to the first:
 *
 *     +-> 0 <-> 1 <-> 2 <-> 3 <-+        one dimension, 4 wide
 *     +-------------------------+
 *
 * In a dimension of width 2 both ports lead to the same neighbour, over two
 * channels.
 */
#include "network/topology/grid.h"

static void torus_shape(const void *config, struct arena *arena, struct topology *topology)
{
    grid_shape_of(config, true, arena, topology);
}

static const struct topology_ops torus = {
    .name = "torus",
    .summary = "grid of routers whose rows and columns wrap around",
    .options = grid_options,
    .config_size = sizeof(struct grid_config),
    .example = "{\"type\": \"torus\", \"widths\": [4, 4, 4], \"concentration\": 2}",
    .check = grid_check,
    .shape = torus_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(torus);

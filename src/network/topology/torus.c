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

struct torus_config {
    struct u32_list widths;
    struct u32_list channels;
    uint32_t concentration;
};

static const struct option torus_options[] = {
    OPTION_U32_LIST(struct torus_config, widths, "[8, 8]", 2, 65536, "routers", "routers along each dimension"),
    OPTION_U32(struct torus_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32_LIST(struct torus_config, channels, "[1]", 1, 64, "channels",
                    "parallel channels between neighbours, for all dimensions or for each"),
    OPTION_END,
};

static void torus_check(const struct choice *self, struct errors *errors)
{
    const struct torus_config *config = self->config;
    grid_check(self, &config->widths, &config->channels, config->concentration, errors);
}

static void torus_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct torus_config *torus = config;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid_init(grid, &torus->widths, &torus->channels, true);
    grid_shape(topology, grid, torus->concentration);
}

static const struct topology_ops torus = {
    .name = "torus",
    .summary = "grid of routers whose rows and columns wrap around",
    .options = torus_options,
    .config_size = sizeof(struct torus_config),
    .example = "{\"type\": \"torus\", \"widths\": [4, 4, 4], \"concentration\": 2}",
    .check = torus_check,
    .shape = torus_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(torus);

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

struct mesh_config {
    struct u32_list widths;
    struct u32_list channels;
    uint32_t concentration;
};

static const struct option mesh_options[] = {
    OPTION_U32_LIST(struct mesh_config, widths, "[8, 8]", 2, 65536, "routers", "routers along each dimension"),
    OPTION_U32(struct mesh_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32_LIST(struct mesh_config, channels, "[1]", 1, 64, "channels",
                    "parallel channels between neighbours, for all dimensions or for each"),
    OPTION_END,
};

static void mesh_check(const struct choice *self, struct errors *errors)
{
    const struct mesh_config *config = self->config;
    grid_check(self, &config->widths, &config->channels, config->concentration, errors);
}

static void mesh_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct mesh_config *mesh = config;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid_init(grid, &mesh->widths, &mesh->channels, false);
    grid_shape(topology, grid, mesh->concentration);
}

static const struct topology_ops mesh = {
    .name = "mesh",
    .summary = "grid of routers, each linked to its neighbours",
    .options = mesh_options,
    .config_size = sizeof(struct mesh_config),
    .example = "{\"type\": \"mesh\", \"widths\": [16, 16], \"concentration\": 1}",
    .check = mesh_check,
    .shape = mesh_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(mesh);

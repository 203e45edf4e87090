/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A square mesh whose edges have express channels: the ports of a mesh that would
 * lead over the edge join the routers of the edge that are half a side apart
 * (Balfour and Dally 2006, with four terminals at each router).
 *
 *     +-----------+
 *     0 --- 1 --- 2 --- 3      the upper edge of a 4x4 mesh: 0 and 2, 1 and 3 are
 *     |     +-----|-----+      joined by the ports that lead up at the others
 */
#include "flitwarp/express_mesh.h"

#include "network/topology/sizes.h"

const char express_mesh_family[] = "express_mesh";

struct express_mesh_config {
    uint32_t width, concentration;
};

static const struct option express_mesh_options[] = {
    OPTION_U32(struct express_mesh_config, width, "4", 2, 32768, "routers", "routers along each side, an even number"),
    OPTION_U32(struct express_mesh_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void express_mesh_check(const struct choice *self, struct errors *errors)
{
    const struct express_mesh_config *config = self->config;
    uint64_t routers = (uint64_t)config->width * config->width;
    if (config->width % 2)
        choice_error(errors, self, "width", "%u is odd; express channels span half a side", config->width);
    topology_check_size(self, "width", routers * config->concentration, 4 * routers, errors);
}

static void express_mesh_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    const struct express_mesh_config *config = settings;
    uint32_t sides[] = {config->width, config->width}, one = 1;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid_init(grid, &(struct u32_list){2, sides}, &(struct u32_list){1, &one}, false);
    topology->family = express_mesh_family;
    topology->facts = grid;
    topology_size(topology, grid_routers(grid), config->concentration, grid_ports(grid));
}

/* Ports: up and down along a row, up and down along a column. */
static bool express_mesh_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct grid *grid = topology->facts;
    uint32_t at[MAX_DIMENSIONS], side = grid->width[0], d = port / 2, down = port % 2;
    grid_coordinates(grid, router, at);
    bool is_express = at[d] == (down ? 0 : side - 1);
    if (is_express)
        at[1 - d] = (at[1 - d] + side / 2) % side;
    else
        at[d] = down ? at[d] - 1 : at[d] + 1;
    *peer = (struct router_port){grid_router(grid, at), is_express ? port : port ^ 1};
    return true;
}

static const struct topology_ops express_mesh = {
    .name = "express_mesh",
    .summary = "square mesh with express channels of half a side along its edges",
    .options = express_mesh_options,
    .example = "{\"type\": \"express_mesh\", \"width\": 4, \"concentration\": 4}",
    .check = express_mesh_check,
    .shape = express_mesh_shape,
    .peer = express_mesh_peer,
};
REGISTER_TOPOLOGY(express_mesh);

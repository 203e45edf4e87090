/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routers at the points of a grid of any number of dimensions: torus, mesh and
 * hypercube. Coordinate 0 varies fastest, so router 1 of an 8x8 grid is at (1,0).
 * Ports of a dimension stand together, those that go up first:
 *
 *     dimension   0             1
 *     direction   up    down    up    down
 *     channel     0 1   0 1     0     0         (channels [2, 1])
 *     port        0 1   2 3     4     5
 */
#include "network/topology/sizes.h"

static const struct option grid_options[] = {
    OPTION_U32_LIST(struct grid_config, widths, "[8, 8]", 2, 65536, "routers", "routers along each dimension"),
    OPTION_U32(struct grid_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32_LIST(struct grid_config, channels, "[1]", 1, 64, "channels",
                    "parallel channels between neighbours, for all dimensions or for each"),
    OPTION_END,
};

const char *const dimension_names[MAX_DIMENSIONS] = {"dimension 0",  "dimension 1",  "dimension 2",  "dimension 3",
                                                     "dimension 4",  "dimension 5",  "dimension 6",  "dimension 7",
                                                     "dimension 8",  "dimension 9",  "dimension 10", "dimension 11",
                                                     "dimension 12", "dimension 13", "dimension 14", "dimension 15"};

void grid_init(struct grid *grid, const struct u32_list *widths, const struct u32_list *channels, bool wraps)
{
    *grid = (struct grid){.dimensions = widths->count, .wraps = wraps};
    uint32_t port = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        grid->width[d] = widths->items[d];
        grid->channels[d] = channels->items[channels->count == 1 ? 0 : d];
        grid->first_port[d] = port;
        port += 2 * grid->channels[d];
    }
}

void grid_check(const struct choice *self, struct errors *errors)
{
    const struct grid_config *config = self->config;
    const struct u32_list *widths = &config->widths, *channels = &config->channels;
    if (widths->count == 0 || widths->count > MAX_DIMENSIONS) {
        choice_error(errors, self, "widths", "%u dimensions, but a grid has 1 to %u", widths->count, MAX_DIMENSIONS);
        return;
    }
    if (channels->count != 1 && channels->count != widths->count)
        choice_error(errors, self, "channels", "%u values for %u dimensions; give one for all or one for each",
                     channels->count, widths->count);
    uint64_t terminals = config->concentration;
    for (uint32_t d = 0; d < widths->count && terminals <= MAX_TERMINALS; d++)
        terminals *= widths->items[d];
    topology_check_size(self, "widths", terminals, 0, errors);
}

uint32_t grid_routers(const struct grid *grid)
{
    uint32_t routers = 1;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        routers *= grid->width[d];
    return routers;
}

uint32_t grid_ports(const struct grid *grid)
{
    uint32_t ports = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        ports += (grid->one_port ? 1 : 2) * grid->channels[d];
    return ports;
}

uint32_t grid_router(const struct grid *grid, const uint32_t *coordinates)
{
    uint32_t router = 0;
    for (uint32_t d = grid->dimensions; d-- > 0;)
        router = router * grid->width[d] + coordinates[d];
    return router;
}

const uint16_t *grid_bake(const struct topology *topology, struct arena *arena)
{
    const struct grid *grid = topology->grid;
    uint16_t *baked = arena_array(arena, uint16_t, (size_t)topology->routers * grid->dimensions);
    uint16_t *next = baked;
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t coordinates[MAX_DIMENSIONS];
        grid_coordinates(grid, router, coordinates);
        for (uint32_t d = 0; d < grid->dimensions; d++)
            *next++ = (uint16_t)coordinates[d];
    }
    return baked;
}

uint32_t grid_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct grid *grid = topology->grid;
    (void)router;
    uint32_t d = grid->dimensions - 1;
    while (port < grid->first_port[d])
        d--;
    return d;
}

bool grid_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct grid *grid = topology->grid;
    uint32_t d = grid_channel_class(topology, router, port);
    uint32_t coordinates[MAX_DIMENSIONS];
    grid_coordinates(grid, router, coordinates);
    uint32_t at = coordinates[d], last = grid->width[d] - 1;
    uint32_t offset = port - grid->first_port[d];
    bool down = grid->one_port ? at > 0 : offset >= grid->channels[d];
    if (!grid->wraps && at == (down ? 0 : last))
        return false;
    coordinates[d] = down ? (at == 0 ? last : at - 1) : (at == last ? 0 : at + 1);
    peer->router = grid_router(grid, coordinates);
    peer->port = grid_port(grid, d, !down, offset % grid->channels[d]);
    return true;
}

uint32_t grid_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    return grid_hops(topology->grid, from, to);
}

/* ---- the topologies ---- */

static void grid_shape(struct topology *topology, const struct grid *grid, uint32_t concentration)
{
    topology->grid = grid;
    topology_size(topology, grid_routers(grid), concentration, grid_ports(grid));
    topology->channel_classes = grid->dimensions;
    topology->channel_class_names = dimension_names;
}

static const struct topology_ops torus;

/* Of torus and mesh. */
static void open_grid_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct grid_config *settings = config;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid_init(grid, &settings->widths, &settings->channels, topology->ops == &torus);
    grid_shape(topology, grid, settings->concentration);
}

#define OPEN_GRID                                                                                                      \
    .options = grid_options, .check = grid_check, .shape = open_grid_shape, .peer = grid_peer,                         \
    .distance = grid_distance, .channel_class = grid_channel_class

/*
 * A torus (k-ary n-cube): each router is linked to its two neighbours in every dimension, the last back to the first. In
 * a dimension of width 2 both ports lead to the same neighbour, over two channels.
 *
 *     +-> 0 <-> 1 <-> 2 <-> 3 <-+        one dimension, 4 wide
 *     +-------------------------+
 */
static const struct topology_ops torus = {
    .name = "torus",
    .summary = "grid of routers whose rows and columns wrap around",
    .example = "{\"type\": \"torus\", \"widths\": [4, 4, 4], \"concentration\": 2}",
    OPEN_GRID,
};
REGISTER_TOPOLOGY(torus);

/* A mesh: ports that would lead over the edge are unused. */
static const struct topology_ops mesh = {
    .name = "mesh",
    .summary = "grid of routers, each linked to its neighbours",
    .example = "{\"type\": \"mesh\", \"widths\": [16, 16], \"concentration\": 1}",
    OPEN_GRID,
};
REGISTER_TOPOLOGY(mesh);

/* A hypercube: port d of a router leads to the one whose number differs in bit d, a grid of width 2. */
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
    *grid = (struct grid){.dimensions = hypercube->dimensions, .one_port = true};
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
    .example = "{\"type\": \"hypercube\", \"dimensions\": 6}",
    .shape = hypercube_shape,
    .peer = grid_peer,
    .distance = grid_distance,
    .channel_class = grid_channel_class,
};
REGISTER_TOPOLOGY(hypercube);

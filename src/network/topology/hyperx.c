/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A HyperX (Ahn et al. 2009): routers at the points of a grid, each linked to all
 * that differ from it in one coordinate, so that every row is fully connected:
 *
 *     0 --- 1 --- 2
 *     |\_________/|        one row and one column of widths [3, 3]:
 *     3           ...      0 is linked to 1, 2 and to 3, 6
 *
 * Flattened butterflies (all widths equal) and hypercubes (all widths 2) are
 * HyperX networks. Ports of a dimension stand together, ordered by how far the
 * coordinate moves, going round:
 *
 *     dimension   0          1
 *     offset      1    2     1    2
 *     channel     0 1  0 1   0    0         (widths [3, 3], channels [2, 1])
 *     port        0 1  2 3   4    5
 */
#include "flitwarp/hyperx.h"

#include "network/topology/sizes.h"

const char hyperx_family[] = "hyperx";

static const struct option hyperx_options[] = {
    OPTION_U32_LIST(struct grid_config, widths, "[4, 4]", 2, 65536, "routers", "routers along each dimension"),
    OPTION_U32(struct grid_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32_LIST(struct grid_config, channels, "[1]", 1, 64, "channels",
                    "parallel channels between two routers, for all dimensions or for each"),
    OPTION_END,
};

static void hyperx_check(const struct choice *self, struct errors *errors)
{
    const struct grid_config *config = self->config;
    uint32_t before = errors->count;
    grid_check(self, errors);
    if (errors->count > before)
        return;
    uint64_t routers = 1, ports = 0;
    for (uint32_t d = 0; d < config->widths.count; d++) {
        routers *= config->widths.items[d];
        ports += (uint64_t)(config->widths.items[d] - 1) * config->channels.items[config->channels.count == 1 ? 0 : d];
    }
    topology_check_size(self, "widths", 0, routers * ports, errors);
}

static void hyperx_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct grid_config *settings = config;
    struct hyperx *hyperx = arena_array(arena, struct hyperx, 1);
    hyperx->self = FW_SELF(hyperx);
    hyperx->dimensions = settings->widths.count;
    uint32_t routers = 1, ports = 0;
    for (uint32_t d = 0; d < hyperx->dimensions; d++) {
        hyperx->width[d] = settings->widths.items[d];
        hyperx->channels[d] = settings->channels.items[settings->channels.count == 1 ? 0 : d];
        hyperx->first_port[d] = ports;
        hyperx->stride[d] = routers;
        ports += (hyperx->width[d] - 1) * hyperx->channels[d];
        routers *= hyperx->width[d];
    }
    uint16_t *next = arena_array(arena, uint16_t, (size_t)routers * hyperx->dimensions);
    hyperx->coordinates = next;
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t d = 0; d < hyperx->dimensions; d++)
            *next++ = (uint16_t)(router / hyperx->stride[d] % hyperx->width[d]);
    topology->family = hyperx_family;
    topology->facts = hyperx;
    topology_size(topology, routers, settings->concentration, ports);
    topology->channel_classes = hyperx->dimensions;
    topology->channel_class_names = dimension_names;
}

static uint32_t hyperx_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct hyperx *hyperx = topology->facts;
    (void)router;
    uint32_t d = hyperx->dimensions - 1;
    while (port < hyperx->first_port[d])
        d--;
    return d;
}

/* Offset and width - offset lead there and back, on the same parallel channel. */
static bool hyperx_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct hyperx *hyperx = topology->facts;
    uint32_t d = hyperx_channel_class(topology, router, port), width = hyperx->width[d], channels = hyperx->channels[d];
    uint32_t place = port - hyperx->first_port[d], offset = place / channels + 1;
    uint32_t coordinate = (hyperx_coordinate(hyperx, router, d) + offset) % width;
    peer->router = hyperx_router(hyperx, router, d, coordinate);
    peer->port = hyperx->first_port[d] + (width - offset - 1) * channels + place % channels;
    return true;
}

static uint32_t hyperx_router_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    return hyperx_distance(topology->facts, from, to);
}

static const struct topology_ops hyperx = {
    .name = "hyperx",
    .summary = "grid of routers whose rows are fully connected: flattened butterflies, hypercubes",
    .options = hyperx_options,
    .example = "{\"type\": \"hyperx\", \"widths\": [4, 4], \"concentration\": 4}",
    .check = hyperx_check,
    .shape = hyperx_shape,
    .peer = hyperx_peer,
    .distance = hyperx_router_distance,
    .channel_class = hyperx_channel_class,
};
REGISTER_TOPOLOGY(hyperx);

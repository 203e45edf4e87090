/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A HyperX with a level of leaves: at each point of a grid are leaves with terminals
 * and spines, every leaf joined to every spine; the spines of equal place form
 * a HyperX, so that rows of the grid are fully connected, once for each spine.
 *
 *     leaf     terminals | to spines 0, 1, ...
 *     spine    to leaves 0, 1, ... | along dimension 0 | along dimension 1 | ...
 *
 * What a megafly is to a dragonfly, this is to a HyperX: terminals share the ports
 * of several routers, and any spine leads everywhere. Points are counted as routers of
 * a grid are; at each the leaves come first. Along a dimension ports go by how
 * far the coordinate moves, going round, and then by parallel channel.
 */
#include "network/topology/sizes.h"

struct folded_hyperx_config {
    struct u32_list widths, channels;
    uint32_t leaves, spines, terminals;
};

struct folded_hyperx {
    uint32_t leaves, spines, dimensions;
    uint32_t width[MAX_DIMENSIONS], channels[MAX_DIMENSIONS];
    uint32_t stride[MAX_DIMENSIONS];     /* between points next to each other in a dimension */
    uint32_t first_port[MAX_DIMENSIONS]; /* of a spine */
};

static const struct option folded_hyperx_options[] = {
    OPTION_U32_LIST(struct folded_hyperx_config, widths, "[4, 4]", 2, 65536, "points", "along each dimension"),
    OPTION_U32_LIST(struct folded_hyperx_config, channels, "[1]", 1, 64, "channels",
                    "parallel channels between two spines, for all dimensions or for each"),
    OPTION_U32(struct folded_hyperx_config, leaves, "2", 1, 32768, "routers", "leaves at each point"),
    OPTION_U32(struct folded_hyperx_config, spines, "2", 1, 32768, "routers", "spines at each point"),
    OPTION_U32(struct folded_hyperx_config, terminals, "2", 1, 1024, "terminals", "terminals at each leaf"),
    OPTION_END,
};

static uint32_t channels_of(const struct folded_hyperx_config *config, uint32_t dimension)
{
    return config->channels.items[config->channels.count == 1 ? 0 : dimension];
}

static void folded_hyperx_check(const struct choice *self, struct errors *errors)
{
    const struct folded_hyperx_config *config = self->config;
    uint32_t dimensions = config->widths.count, before = errors->count;
    if (dimensions == 0 || dimensions > MAX_DIMENSIONS)
        choice_error(errors, self, "widths", "%u dimensions; accepted: 1 to %u", dimensions, MAX_DIMENSIONS);
    else if (config->channels.count != 1 && config->channels.count != dimensions)
        choice_error(errors, self, "channels", "%u values for %u dimensions; give one for all or one for each",
                     config->channels.count, dimensions);
    if (errors->count > before)
        return;
    uint64_t points = 1, ports = config->leaves;
    for (uint32_t d = 0; d < dimensions && points <= MAX_TERMINALS; d++) {
        points *= config->widths.items[d];
        ports += (uint64_t)(config->widths.items[d] - 1) * channels_of(config, d);
    }
    ports = ports > config->spines ? ports : config->spines;
    uint64_t terminals = points * config->leaves * config->terminals;
    topology_check_size(self, "widths", terminals,
                        points > MAX_TERMINALS ? 0 : points * (config->leaves + config->spines) * ports, errors);
}

static void folded_hyperx_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    const struct folded_hyperx_config *config = settings;
    struct folded_hyperx *hyperx = arena_array(arena, struct folded_hyperx, 1);
    const char **names = arena_array(arena, const char *, config->widths.count + 1);
    uint32_t points = 1, port = config->leaves;
    *hyperx = (struct folded_hyperx){config->leaves, config->spines, config->widths.count, {0}, {0}, {0}, {0}};
    names[0] = "leaf";
    for (uint32_t d = 0; d < hyperx->dimensions; d++) {
        hyperx->width[d] = config->widths.items[d];
        hyperx->channels[d] = channels_of(config, d);
        hyperx->stride[d] = points;
        hyperx->first_port[d] = port;
        names[d + 1] = dimension_names[d];
        points *= hyperx->width[d];
        port += (hyperx->width[d] - 1) * hyperx->channels[d];
    }
    topology->state = hyperx;
    topology->routers = points * (config->leaves + config->spines);
    topology->terminals = points * config->leaves * config->terminals;
    topology->ports = port > config->spines ? port : config->spines;
    topology->channel_classes = hyperx->dimensions + 1;
    topology->channel_class_names = names;
}

static uint32_t folded_hyperx_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct folded_hyperx_config *config = topology->config;
    uint32_t leaf = terminal / config->terminals;
    return leaf / config->leaves * (config->leaves + config->spines) + leaf % config->leaves;
}

/* 0: between leaves and spines; else the dimension and 1. */
static uint32_t folded_hyperx_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct folded_hyperx *hyperx = topology->state;
    uint32_t d = hyperx->dimensions;
    if (router % (hyperx->leaves + hyperx->spines) < hyperx->leaves)
        return 0;
    while (d > 0 && port < hyperx->first_port[d - 1])
        d--;
    return d;
}

static bool folded_hyperx_peer(const struct topology *topology, uint32_t router, uint32_t port,
                               struct router_port *peer)
{
    const struct folded_hyperx *hyperx = topology->state;
    uint32_t here = hyperx->leaves + hyperx->spines, own = router % here, point = router / here;
    uint32_t class = folded_hyperx_channel_class(topology, router, port);
    if (class == 0) {
        bool is_leaf = own < hyperx->leaves;
        *peer = (struct router_port){router - own + port + (is_leaf ? hyperx->leaves : 0),
                                     is_leaf ? own : own - hyperx->leaves};
        return port < (is_leaf ? hyperx->spines : hyperx->leaves);
    }
    uint32_t d = class - 1, width = hyperx->width[d], channels = hyperx->channels[d];
    uint32_t place = port - hyperx->first_port[d], offset = place / channels + 1;
    uint32_t at = point / hyperx->stride[d] % width, to = (at + offset) % width;
    if (offset >= width)
        return false;
    peer->router = router + (to - at) * hyperx->stride[d] * here; /* modulo 2^32, so it may also go down */
    peer->port = hyperx->first_port[d] + (width - offset - 1) * channels + place % channels;
    return true;
}

/* The coordinates that differ, and to a spine and back: between leaves, or spines of different places. */
static uint32_t folded_hyperx_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct folded_hyperx *hyperx = topology->state;
    uint32_t here = hyperx->leaves + hyperx->spines, a = from % here, b = to % here, hops = 0;
    bool a_is_leaf = a < hyperx->leaves, b_is_leaf = b < hyperx->leaves;
    if (from == to)
        return 0;
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        hops += from / here / hyperx->stride[d] % hyperx->width[d] != to / here / hyperx->stride[d] % hyperx->width[d];
    return hops + (a_is_leaf != b_is_leaf ? 1 : a_is_leaf || a != b ? 2 : 0);
}

static const struct topology_ops folded_hyperx = {
    .name = "folded_hyperx",
    .summary = "a grid whose points are leaves with terminals and spines; spines of a row are fully connected",
    .options = folded_hyperx_options,
    .example = "{\"type\": \"folded_hyperx\", \"widths\": [3, 2], \"channels\": [1, 2], \"leaves\": 2, \"spines\": 3}",
    .check = folded_hyperx_check,
    .shape = folded_hyperx_shape,
    .peer = folded_hyperx_peer,
    .router_of = folded_hyperx_router_of,
    .distance = folded_hyperx_distance,
    .channel_class = folded_hyperx_channel_class,
};
REGISTER_TOPOLOGY(folded_hyperx);

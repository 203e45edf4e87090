/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A megafly, or dragonfly+ (Flajslik, Borch, Parker 2018; Shpiner et al. 2017): a
 * group is leaf routers, which have all the terminals, and spine routers, which
 * have all the global channels, each leaf joined to each spine.
 *
 *     leaf     terminals | to spines 0, 1, ...
 *     spine    to leaves 0, 1, ... | global
 *
 * Within a group leaves have the lower numbers. Where global channels lead is in
 * global_channels.c.
 */
#include "network/topology/global_channels.h"

struct megafly_config {
    struct global_config channels;
    uint32_t terminals;
    uint32_t leaves, spines;
};

static const char *const channel_names[] = {"local", "global", NULL};

static const struct option megafly_options[] = {
    OPTION_U32(struct megafly_config, terminals, "2", 1, 1024, "terminals", "terminals at each leaf"),
    OPTION_U32(struct megafly_config, leaves, "2", 1, MAX_GROUP_ROUTERS / 2, "routers", "leaf routers of each group"),
    OPTION_U32(struct megafly_config, spines, "2", 1, MAX_GROUP_ROUTERS / 2, "routers", "spine routers of each group"),
    GLOBAL_OPTIONS("2", "global channels at each spine", "groups, at most spines * global + 1; null: as many as that"),
    OPTION_END,
};

static struct dragonfly megafly_describe(const struct megafly_config *config)
{
    uint32_t spine_ports = config->leaves + config->channels.global;
    return (struct dragonfly){
        .shape = GROUP_BIPARTITE,
        .routers = config->leaves + config->spines,
        .hosts = config->leaves,
        .first_gate = config->leaves,
        .globals = config->channels.global,
        .groups = global_groups(&config->channels, config->spines),
        .first_global = config->leaves,
        .ports = spine_ports > config->spines ? spine_ports : config->spines,
    };
}

static void megafly_check(const struct choice *self, struct errors *errors)
{
    const struct megafly_config *config = self->config;
    global_check(self, megafly_describe(config), "spines", config->terminals, errors);
}

static void megafly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct megafly_config *settings = config;
    global_shape(topology, megafly_describe(settings), &settings->channels, settings->terminals, arena);
    topology->channel_classes = 2;
    topology->channel_class_names = channel_names;
}

static uint32_t megafly_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct megafly_config *config = topology->config;
    uint32_t leaf = terminal / config->terminals;
    return dragonfly_router(topology->facts, leaf / config->leaves, leaf % config->leaves);
}

static bool megafly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t place = dragonfly_place(dragonfly, router), leaves = dragonfly->hosts;
    if (place < leaves) {
        *peer = (struct router_port){router - place + leaves + port, place};
        return port < dragonfly->routers - leaves;
    }
    if (port < leaves) {
        *peer = (struct router_port){router - place + port, place - leaves};
        return true;
    }
    return port < leaves + dragonfly->globals && global_peer(dragonfly, router, port, peer);
}

static uint32_t megafly_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct dragonfly *dragonfly = topology->facts;
    return dragonfly_place(dragonfly, router) >= dragonfly->hosts && port >= dragonfly->first_global;
}

static const struct topology_ops megafly = {
    .name = "megafly",
    .summary = "a dragonfly whose groups are leaves with terminals and spines with global channels (Dragonfly+)",
    .options = megafly_options,
    .config_size = sizeof(struct megafly_config),
    .example = "{\"type\": \"megafly\", \"terminals\": 2, \"leaves\": 2, \"spines\": 2, \"global\": 2}",
    .check = megafly_check,
    .shape = megafly_shape,
    .peer = megafly_peer,
    .router_of = megafly_router_of,
    .channel_class = megafly_channel_class,
};
REGISTER_TOPOLOGY(megafly);

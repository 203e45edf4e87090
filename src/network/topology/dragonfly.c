/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dragonfly (Kim, Dally, Scott, Abts 2008): groups of routers, fully connected
 * within a group by local channels, and every two groups joined by one global
 * channel or more. With p terminals, a routers in a group and h global channels
 * at each router there can be up to a*h + 1 groups.
 *
 *     router of 4, place 1:  terminals | to places 0, 2, 3 | global
 *     port                             | 0     1  2        | 3 4         (a 4, h 2)
 *
 * Where global channels lead is in global_channels.c.
 */
#include "network/topology/global_channels.h"

struct dragonfly_config {
    struct global_config channels;
    uint32_t terminals;
    uint32_t routers;
};

static const char *const channel_names[] = {"local", "global", NULL};

static const struct option dragonfly_options[] = {
    OPTION_U32(struct dragonfly_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32(struct dragonfly_config, routers, "4", 1, MAX_GROUP_ROUTERS, "routers", "routers in each group"),
    GLOBAL_OPTIONS("2", "global channels at each router",
                   "groups, at most routers * global + 1; null: as many as that"),
    OPTION_END,
};

static struct dragonfly dragonfly_describe(const struct dragonfly_config *config)
{
    return (struct dragonfly){
        .shape = GROUP_ALL_TO_ALL,
        .routers = config->routers,
        .hosts = config->routers,
        .globals = config->channels.global,
        .groups = global_groups(&config->channels, config->routers),
        .first_global = config->routers - 1,
        .ports = config->routers - 1 + config->channels.global,
    };
}

static void dragonfly_check(const struct choice *self, struct errors *errors)
{
    const struct dragonfly_config *config = self->config;
    global_check(self, dragonfly_describe(config), "routers", config->terminals, errors);
}

static void dragonfly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct dragonfly_config *settings = config;
    global_shape(topology, dragonfly_describe(settings), &settings->channels, settings->terminals, arena);
    topology->channel_classes = 2;
    topology->channel_class_names = channel_names;
}

static bool dragonfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t group = dragonfly_group(dragonfly, router), place = dragonfly_place(dragonfly, router);
    if (port >= dragonfly->first_global)
        return global_peer(dragonfly, router, port, peer);
    uint32_t other = port + (port >= place);
    *peer = (struct router_port){dragonfly_router(dragonfly, group, other), dragonfly_local_port(other, place)};
    return true;
}

static uint32_t dragonfly_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    (void)router;
    return port >= topology_dragonfly(topology)->first_global;
}

/* Is there a router to which both have a global channel? */
static bool meet_in_a_third_group(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t there = dragonfly_group(dragonfly, to), place = dragonfly_place(dragonfly, to);
    struct router_port met;
    for (uint32_t port = dragonfly->first_global; port < topology->ports; port++) {
        if (!global_peer(dragonfly, from, port, &met))
            continue;
        uint32_t third = dragonfly_group(dragonfly, met.router), its_place = dragonfly_place(dragonfly, met.router);
        if (third == there)
            continue;
        const struct dragonfly_gate *in = dragonfly_gates(dragonfly, there, third);
        const struct dragonfly_gate *out = dragonfly_gates(dragonfly, third, there);
        for (uint32_t i = 0; i < dragonfly_channels(dragonfly, there, third); i++)
            if (in[i].place == place && out[i].place == its_place)
                return true;
    }
    return false;
}

/* Local, global, local; by the best of the parallel channels; and two global channels may be shorter than three. */
static uint32_t dragonfly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t here = dragonfly_group(dragonfly, from), there = dragonfly_group(dragonfly, to), best = 3;
    if (here == there)
        return from != to;
    const struct dragonfly_gate *out = dragonfly_gates(dragonfly, here, there);
    const struct dragonfly_gate *in = dragonfly_gates(dragonfly, there, here);
    for (uint32_t i = 0; i < dragonfly_channels(dragonfly, here, there); i++) {
        uint32_t hops =
            1u + (out[i].place != dragonfly_place(dragonfly, from)) + (in[i].place != dragonfly_place(dragonfly, to));
        best = hops < best ? hops : best;
    }
    return best == 3 && meet_in_a_third_group(topology, from, to) ? 2 : best;
}

static const struct topology_ops dragonfly = {
    .name = "dragonfly",
    .summary = "fully connected groups of routers, every two groups joined by global channels",
    .options = dragonfly_options,
    .config_size = sizeof(struct dragonfly_config),
    .example = "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 4, \"global\": 2}",
    .check = dragonfly_check,
    .shape = dragonfly_shape,
    .peer = dragonfly_peer,
    .distance = dragonfly_distance,
    .channel_class = dragonfly_channel_class,
};
REGISTER_TOPOLOGY(dragonfly);

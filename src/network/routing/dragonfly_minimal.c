/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimal routing on a dragonfly of any kind and size: to a router of the group
 * that has a channel to the destination's group, over that channel, and to the
 * destination's router. Local channels behind the global one have VCs of their
 * own (Kim, Dally, Scott and Abts 2008). No table is kept. That two global
 * channels may now and then be shorter than local, global, local is not used.
 */
#include "network/routing/dragonfly.h"

enum channel { CHANNEL_NEAREST, CHANNEL_RANDOM };
static const char *const channel_names[] = {"nearest", "random", NULL};

struct dragonfly_minimal_config {
    uint32_t channel, local_order;
};

static const struct option dragonfly_minimal_options[] = {
    OPTION_ENUM(
        struct dragonfly_minimal_config, channel, "\"nearest\"", channel_names,
        "where several channels join two groups: the router's own if it has one, else one of the nearest; or any "
        "of them (on a megafly the same)"),
    OPTION_ENUM(struct dragonfly_minimal_config, local_order, "\"row_first\"", local_order_names,
                "within a group of a dragonfly_2d: along the row first, along the column first, or whichever is free, "
                "which takes twice the VC classes"),
    OPTION_END,
};

static void dragonfly_minimal_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                      struct errors *errors)
{
    const struct dragonfly_minimal_config *config = self->config;
    const struct dragonfly *dragonfly = topology_dragonfly(routing->topology);
    (void)arena;
    if (!dragonfly)
        choice_error(errors, self, NULL, "\"dragonfly_minimal\" needs topology \"" DRAGONFLIES "\", not \"%s\"",
                     routing->topology->ops->name);
    routing->classes = dragonfly ? 2 * local_classes(dragonfly, config->local_order) : 1;
}

static void dragonfly_minimal_route(struct route *route)
{
    const struct dragonfly *dragonfly = route->routing->topology->facts;
    const struct dragonfly_minimal_config *config = route->routing->config;
    uint32_t target = route->packet->destination_router, passage = globals_crossed(route->packet);
    if (route_ends(route))
        return;
    struct hop_rules rules = passage_rules(route->packet, passage, passage,
                                           local_classes(dragonfly, config->local_order), config->local_order);
    rules.any_channel = config->channel == CHANNEL_RANDOM;
    dragonfly_step(route, dragonfly, dragonfly_group(dragonfly, target), dragonfly_place(dragonfly, target), rules);
}

static const struct routing_ops dragonfly_minimal = {
    .name = "dragonfly_minimal",
    .summary = "local, global, local channels on a dragonfly of any kind and size",
    .options = dragonfly_minimal_options,
    .example = "{\"type\": \"dragonfly_minimal\", \"channel\": \"random\"}",
    .needs = "2 VCs; 4 with local_order either on a dragonfly_2d",
    .prepare = dragonfly_minimal_prepare,
    .route = dragonfly_minimal_route,
};
REGISTER_ROUTING(dragonfly_minimal);

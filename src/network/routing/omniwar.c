/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OmniWAR, omni-dimensional weighted adaptive routing on a HyperX (McDonald,
 * Isaev, Flores, Davis and Kim 2019): at every hop a packet may correct any
 * coordinate that is wrong or deroute in its row, `deroutes` times in all, and
 * takes the candidate with the least congestion times hops to come. Each hop has
 * a VC class of its own; a packet may deroute as long as classes are left for the
 * hops that it needs.
 */
#include "network/routing/hyperx.h"

struct omniwar_config {
    struct adaptive_config adaptive;
    uint32_t deroutes;
};

static const struct option omniwar_options[] = {
    OPTION_U32(struct omniwar_config, deroutes, "1", 0, 62, "hops",
               "hops that lead no closer, at most; a VC class each"),
    OPTION_ROWS(struct omniwar_config, adaptive, struct adaptive_config, adaptive_options,
                OTHER_DEFAULT("reduction", "\"weighted\"")),
    OPTION_END,
};

static void omniwar_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    (void)arena;
    hyperx_prepare(routing, self, ((const struct omniwar_config *)self->config)->deroutes, errors);
}

static void omniwar_route(struct route *route)
{
    const struct routing *routing = route->routing;
    const struct omniwar_config *config = routing->config;
    uint32_t hops = route->packet->hops, target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    struct candidates candidates;
    candidates.count = 0;
    uint32_t distance = hyperx_distance(routing->topology->facts, route->router, target);
    hyperx_gather(&candidates, route, &config->adaptive, (struct candidate){.vcs = routing->class_vcs[hops]},
                  hops + distance < routing->classes ? ~0u : 0);
    candidates_offer(&candidates, route, &config->adaptive);
}

static const struct routing_ops omniwar = {
    .name = "omniwar",
    .summary = "any dimension, derouting where that promises a shorter wait, on a hyperx",
    .options = omniwar_options,
    .config_size = sizeof(struct omniwar_config),
    .example = "{\"type\": \"omniwar\", \"deroutes\": 2, \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = omniwar_prepare,
    .route = omniwar_route,
};
REGISTER_ROUTING(omniwar);

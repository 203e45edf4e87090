/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two algorithms of derouting on a HyperX. At every hop a packet may correct any
 * coordinate that is wrong or move to a third coordinate of its row, as long as VC
 * classes are left for the hops that it needs: each hop has one of its own.
 *
 * DAL, dimensionally adaptive load-balanced routing (Ahn, Binkert, Davis, McLaren
 * and Schreiber 2009), deroutes at most once in a dimension. The paper has one
 * escape VC where this has classes. packet->waypoint is the router before, from
 * which the next one sees whether the last hop was a deroute; packet->route holds a
 * bit for each dimension in which there was one.
 *
 * OmniWAR, omni-dimensional weighted adaptive routing (McDonald, Isaev, Flores,
 * Davis and Kim 2019), deroutes `deroutes` times in all, in any dimensions, and
 * takes the candidate with the least congestion times hops to come.
 */
#include "network/routing/hyperx.h"

struct deroute_config {
    struct adaptive_config adaptive;
    uint32_t deroutes;
};

#define DEROUTE_ROWS                                                                                                   \
    OPTION_ROWS(struct deroute_config, adaptive, struct adaptive_config, adaptive_options,                             \
                OTHER_DEFAULT("reduction", "\"weighted\""))

static const struct option dal_options[] = {
    OPTION_U32(struct deroute_config, deroutes, "16", 0, MAX_DIMENSIONS, "hops",
               "deroutes of a packet, at most; one in a dimension"),
    DEROUTE_ROWS,
    OPTION_END,
};

static const struct option omniwar_options[] = {
    OPTION_U32(struct deroute_config, deroutes, "1", 0, 62, "hops",
               "hops that lead no closer, at most; a VC class each"),
    DEROUTE_ROWS,
    OPTION_END,
};

static void dal_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    uint32_t deroutes = ((const struct deroute_config *)self->config)->deroutes;
    (void)arena;
    hyperx_prepare(routing, self, hyperx && deroutes > hyperx->dimensions ? hyperx->dimensions : deroutes, errors);
}

static void omniwar_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    (void)arena;
    hyperx_prepare(routing, self, ((const struct deroute_config *)self->config)->deroutes, errors);
}

/* Whether the hop that led here was a deroute, and in which dimension. */
static void note_last_hop(const struct route *route, const struct hyperx *hyperx)
{
    struct packet *packet = route->packet;
    const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    const uint16_t *there = hyperx_coordinates(hyperx, packet->destination_router);
    for (uint32_t d = 0; packet->hops > 0 && d < hyperx->dimensions; d++)
        if (here[d] != hyperx_coordinate(hyperx, packet->waypoint, d) && here[d] != there[d])
            packet->route |= 1u << d;
    packet->waypoint = route->router;
}

/* `deroutes` has a bit for each dimension in which the packet may. */
static inline void deroute_step(struct route *route, uint32_t deroutes)
{
    const struct routing *routing = route->routing;
    const struct deroute_config *config = routing->config;
    uint32_t hops = route->packet->hops, target = route->packet->destination_router;
    struct candidates candidates;
    candidates.count = 0;
    bool may_deroute = hops + hyperx_distance(routing->topology->facts, route->router, target) < routing->classes;
    hyperx_gather(&candidates, route, &config->adaptive, (struct candidate){.vcs = routing->class_vcs[hops]},
                  may_deroute ? deroutes : 0);
    candidates_offer(&candidates, route, &config->adaptive);
}

static void dal_route(struct route *route)
{
    if (route_ends(route))
        return;
    note_last_hop(route, route->routing->topology->facts);
    deroute_step(route, ~route->packet->route);
}

static void omniwar_route(struct route *route)
{
    if (!route_ends(route))
        deroute_step(route, ~0u);
}

static const struct routing_ops dal = {
    .name = "dal",
    .summary = "any dimension, derouting at most once in each, on a hyperx",
    .options = dal_options,
    .example = "{\"type\": \"dal\", \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = dal_prepare,
    .route = dal_route,
};
REGISTER_ROUTING(dal);

static const struct routing_ops omniwar = {
    .name = "omniwar",
    .summary = "any dimension, derouting where that promises a shorter wait, on a hyperx",
    .options = omniwar_options,
    .example = "{\"type\": \"omniwar\", \"deroutes\": 2, \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = omniwar_prepare,
    .route = omniwar_route,
};
REGISTER_ROUTING(omniwar);

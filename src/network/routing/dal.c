/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DAL, dimensionally adaptive load-balanced routing on a HyperX (Ahn, Binkert,
 * Davis, McLaren and Schreiber 2009): at every hop a packet may correct any
 * coordinate that is wrong, or deroute in a dimension in which it has not yet
 * done so. Each hop has a VC class of its own, where the paper has one escape VC.
 *   packet->waypoint is the router before, from which the next one sees whether
 * the last hop was a deroute; packet->route holds a bit for each dimension in
 * which there was one.
 */
#include "network/routing/hyperx.h"

struct dal_config {
    struct adaptive_config adaptive;
    uint32_t deroutes;
};

static const struct option dal_options[] = {
    OPTION_U32(struct dal_config, deroutes, "16", 0, MAX_DIMENSIONS, "hops",
               "deroutes of a packet, at most; one in a dimension"),
    OPTION_ROWS(struct dal_config, adaptive, struct adaptive_config, adaptive_options,
                OTHER_DEFAULT("reduction", "\"weighted\"")),
    OPTION_END,
};

static void dal_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    uint32_t deroutes = ((const struct dal_config *)self->config)->deroutes;
    (void)arena;
    hyperx_prepare(routing, self, hyperx && deroutes > hyperx->dimensions ? hyperx->dimensions : deroutes, errors);
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

static void dal_route(struct route *route)
{
    const struct routing *routing = route->routing;
    const struct hyperx *hyperx = routing->topology->facts;
    const struct dal_config *config = routing->config;
    uint32_t hops = route->packet->hops, target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    note_last_hop(route, hyperx);
    struct candidates candidates;
    candidates.count = 0;
    bool may_deroute = hops + hyperx_distance(hyperx, route->router, target) < routing->classes;
    hyperx_gather(&candidates, route, &config->adaptive, (struct candidate){.vcs = routing->class_vcs[hops]},
                  may_deroute ? ~route->packet->route : 0);
    candidates_offer(&candidates, route, &config->adaptive);
}

static const struct routing_ops dal = {
    .name = "dal",
    .summary = "any dimension, derouting at most once in each, on a hyperx",
    .options = dal_options,
    .config_size = sizeof(struct dal_config),
    .example = "{\"type\": \"dal\", \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = dal_prepare,
    .route = dal_route,
};
REGISTER_ROUTING(dal);

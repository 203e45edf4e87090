/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progressive adaptive routing (Jiang, Kim and Dally 2009): like UGAL, but a
 * packet that went straight chooses again at the next router, which sees outputs
 * that the first one does not. On a dragonfly it does so at all routers of its group
 * (two behind each other in a dragonfly_2d), which see the global channel itself. What
 * that may add is one more channel, or passage through the group, with VC classes of
 * its own.
 */
#include "network/routing/dragonfly.h"
#include "network/routing/ugal.h"

static void par_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    ugal_init(routing, self, true, arena, errors);
}

/* At the first router, and while the packet goes straight at the second, or at all of the same group. */
static bool may_choose(const struct route *route)
{
    const struct packet *packet = route->packet;
    bool is_straight = packet->route & ROUTE_SECOND_LEG;
    bool is_early = topology_dragonfly(route->routing->topology) ? globals_crossed(packet) == 0 : packet->hops == 1;
    return packet->hops == 0 || (is_straight && is_early);
}

static void par_route(struct route *route) { ugal_step(route, may_choose(route)); }

static const struct routing_ops par = {
    .name = "par",
    .summary = "UGAL that chooses again at the second router",
    .options = ugal_options,
    .config_size = sizeof(struct ugal_config),
    .example = "{\"type\": \"par\", \"mode\": \"port_average\"}",
    .needs = "VCs for a hop and two legs: 4 on a dragonfly (5 by router), 3 on hyperx and grids, 6 on a torus, "
             "elsewhere one for "
             "each hop: twice the diameter and 1",
    .is_adaptive = true,
    .prepare = par_prepare,
    .route = par_route,
};
REGISTER_ROUTING(par);

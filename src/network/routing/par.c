/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progressive adaptive routing on a dragonfly (Jiang, Kim and Dally 2009): like
 * UGAL, but a packet that went straight chooses again at the next router of its
 * group (and, in a dragonfly_2d, at the one behind it), which sees the global
 * channel itself. What that may add is one more passage through the group, with a
 * VC class of its own.
 */
#include "network/routing/dragonfly.h"
#include "network/routing/ugal.h"

static const struct option par_options[] = {UGAL_OPTIONS, OPTION_END};

static void par_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    if (routing->topology->dragonfly)
        ugal_init(routing, self, true, arena, errors);
    else
        choice_error(errors, self, NULL, "\"par\" needs topology \"" DRAGONFLIES "\", not \"%s\"",
                     routing->topology->ops->name);
}

/* At the first router, and at the next ones of the same group while the packet goes straight. */
static bool may_choose(const struct packet *packet)
{
    bool is_straight = packet->route & ROUTE_SECOND_LEG;
    return packet->hops == 0 || (is_straight && globals_crossed(packet) == 0);
}

static void par_route(struct route *route) { ugal_step(route, may_choose(route->packet)); }

static const struct routing_ops par = {
    .name = "par",
    .summary = "UGAL that chooses again at the second router, on a dragonfly of any kind",
    .options = par_options,
    .config_size = sizeof(struct ugal_config),
    .example = "{\"type\": \"par\", \"mode\": \"port_average\"}",
    .is_adaptive = true,
    .prepare = par_prepare,
    .route = par_route,
};
REGISTER_ROUTING(par);

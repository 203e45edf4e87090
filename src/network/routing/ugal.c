/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UGAL, universal globally-adaptive load balancing: at its first router a packet
 * compares the minimal way with a Valiant way and takes the one that promises the
 * shorter wait (Singh 2005). Traffic that is spread already goes straight, other
 * traffic is spread.
 */
#include "network/routing/ugal.h"

static void ugal_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    ugal_init(routing, self, false, arena, errors);
}

static void ugal_route(struct route *route) { ugal_step(route, route->packet->hops == 0); }

static const struct routing_ops ugal = {
    .name = "ugal",
    .summary = "straight or by a detour, whichever promises the shorter wait at the first router",
    .options = ugal_options,
    .config_size = sizeof(struct ugal_config),
    .example = "{\"type\": \"ugal\", \"mode\": \"port_average\", \"bias\": 0.1}",
    .needs = DETOUR_NEEDS,
    .is_adaptive = true,
    .prepare = ugal_prepare,
    .route = ugal_route,
};
REGISTER_ROUTING(ugal);

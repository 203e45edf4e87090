/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any minimal way on a grid, on any VC, with nothing done against deadlock: to
 * see it happen. Four packets that each turn the same corner of a square are
 * enough, and `flitwarp check` shows them.
 */
#include "network/routing/grid_adaptive.h"

static void fully_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    static const struct ring_config careless = {.dateline = DATELINE_NONE};
    const struct dimension_order *order = dimension_order_create(routing, self, &careless, arena, errors);
    routing->state = order ? (void *)order->coordinates : NULL; /* only ever read */
}

static void fully_adaptive_route(struct route *route)
{
    const struct routing *routing = route->routing;
    if (route->router == route->packet->destination_router)
        route_eject(route);
    else
        grid_offer_all(route, routing->state, routing->class_vcs[0]);
}

static const struct routing_ops fully_adaptive = {
    .name = "fully_adaptive",
    .summary = "any minimal way on a grid, on any VC: can deadlock, for those who study it",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = fully_adaptive_prepare,
    .route = fully_adaptive_route,
};
REGISTER_ROUTING(fully_adaptive);

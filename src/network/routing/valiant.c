/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valiant routing on a grid: every packet first goes to a router drawn at random
 * and only then to its destination, both by dimension order. Any traffic then
 * loads the channels like uniform traffic does, at the price of twice the hops
 * (Valiant and Brebner 1981). The second phase has VC classes of its own, so a
 * packet in it never waits for one in the first.
 */
#include "network/routing/dimension_order.h"
#include "network/routing/routing.h"

#define ROUTE_SECOND_PHASE 2u

static const struct option valiant_options[] = {RING_OPTIONS, OPTION_END};

static void valiant_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct dimension_order *order = dimension_order_create(routing, self, self->config, arena, errors);
    routing->state = order;
    routing->classes = order ? 2 * order->classes : 1;
}

static void valiant_inject(struct route *route)
{
    route->draws = INJECTION_DRAWS;
    /* A packet for its own router has no way to be spread. */
    bool is_there = route->packet->destination_router == route->router;
    route->packet->waypoint = is_there ? route->router : route_pick(route, route->routing->topology->routers);
    route->packet->route = 0;
}

static void valiant_route(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    struct packet *packet = route->packet;
    if (route->router == packet->waypoint)
        packet->route |= ROUTE_SECOND_PHASE;
    if (!(packet->route & ROUTE_SECOND_PHASE))
        dimension_order_step(route, order, packet->waypoint, 0, false);
    else if (route->router != packet->destination_router)
        dimension_order_step(route, order, packet->destination_router, order->classes, false);
    else
        route_eject(route);
}

static const struct routing_ops valiant = {
    .name = "valiant",
    .summary = "by way of a router drawn at random: the same throughput for any traffic on a grid",
    .options = valiant_options,
    .config_size = sizeof(struct ring_config),
    .example = "{\"type\": \"valiant\"}",
    .prepare = valiant_prepare,
    .inject = valiant_inject,
    .route = valiant_route,
};
REGISTER_ROUTING(valiant);

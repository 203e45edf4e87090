/* SPDX-License-Identifier: Apache-2.0 */
/*
 * O1TURN routing on grids of two dimensions: half of the packets go first along
 * x and then along y, the other half first along y, drawn at the source. Each
 * order has VC classes of its own and is free of deadlock by itself; together
 * they come close to the best worst case of any minimal routing (Seo, Ali, Lim,
 * Rafique and Thottethodi 2005).
 */
#include "network/routing/dimension_order.h"
#include "network/routing/routing.h"

#define ROUTE_REVERSED 2u

static void o1turn_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                           struct errors *errors)
{
    struct dimension_order *order = dimension_order_create(routing, self, self->config, arena, errors);
    if (order && order->dimensions != 2)
        choice_error(errors, self, NULL, "\"o1turn\" needs 2 dimensions, but this \"%s\" has %u",
                     routing->topology->ops->name, order->dimensions);
    routing->state = order;
    routing->classes = order ? 2 * order->classes : 1;
}

static void o1turn_inject(struct route *route)
{
    route->draws = INJECTION_DRAWS;
    route->packet->route = route_pick(route, 2) ? ROUTE_REVERSED : 0;
}

static void o1turn_route(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    const struct packet *packet = route->packet;
    bool reversed = packet->route & ROUTE_REVERSED;
    if (route->router == packet->destination_router)
        route_eject(route);
    else
        dimension_order_step(route, order, packet->destination_router, reversed ? order->classes : 0, reversed);
}

static const struct routing_ops o1turn = {
    .name = "o1turn",
    .summary = "x before y for half of the packets, y before x for the others; 2 dimensions",
    .options = ring_options,
    .example = "{\"type\": \"o1turn\"}",
    .needs = "4 VCs on a torus, elsewhere 2",
    .is_minimal = true,
    .prepare = o1turn_prepare,
    .inject = o1turn_inject,
    .route = o1turn_route,
};
REGISTER_ROUTING(o1turn);

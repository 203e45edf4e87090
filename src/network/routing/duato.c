/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Duato's protocol (1993) on a grid, without a look at congestion: a packet is
 * offered every hop that leads closer on any adaptive VC, and beside them the hop
 * of dimension order on its escape VC, one as good as the other. VC allocation
 * takes what is free. Adaptive VCs may wait for each other in a circle; packets
 * in it leave by the escape VCs, which do not. Without adaptive VCs what is left
 * is dimension order. `torus_adaptive` is the same with the least congested of
 * the adaptive hops.
 */
#include "network/routing/grid_adaptive.h"

static void duato_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                          struct errors *errors)
{
    routing->state = (void *)escape_layer_create(routing, self, arena, errors); /* only ever read */
}

static void duato_route(struct route *route)
{
    const struct escape_layer *layer = route->routing->state;
    uint32_t target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    grid_offer_all(route, layer->order->coordinates, layer->adaptive_vcs);
    dimension_order_step(route, layer->order, target, 0, false);
}

static const struct routing_ops duato = {
    .name = "duato",
    .summary = "any minimal way on a grid, with dimension order on escape VCs",
    .needs = "2 VCs on a torus, elsewhere 1: for escape; it is adaptive on those beyond them",
    .is_minimal = true,
    .prepare = duato_prepare,
    .route = duato_route,
};
REGISTER_ROUTING(duato);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimal adaptive routing on a grid with escape VCs (Duato 1993). A packet may
 * correct any coordinate next, on any of the adaptive VCs, and the reduction
 * chooses among them. Beside that choice it is always offered the hop of
 * dimension order on the escape VCs. Adaptive VCs may wait for each other in a
 * circle; packets in it leave by the escape VCs, which do not.
 */
#include "flitwarp/reduction.h"
#include "network/routing/grid_adaptive.h"

static void torus_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    const struct adaptive_config *config = self->config;
    const struct escape_layer *layer = escape_layer_create(routing, self, arena, errors);
    routing->state = (void *)layer; /* only ever read */
    if (!layer)
        return;
    uint32_t escapes = layer->order->classes, num_vcs = routing->vcs;
    if (!layer->adaptive_vcs)
        routing->classes = escapes + 1; /* a choice to make is what it is for */
    bool is_each = config->mode == CONGESTION_VC && layer->adaptive_vcs;
    adaptive_check(routing, self, routing->topology->ports * (is_each ? num_vcs - escapes : 1), errors);
}

static void gather(struct candidates *candidates, const struct route *route, uint32_t dimension, uint32_t ways,
                   struct candidate like)
{
    const struct grid *grid = route->routing->topology->grid;
    for (uint32_t down = 0; down < 2; down++)
        for (uint32_t channel = 0; ways >> down & 1 && channel < grid->channels[dimension]; channel++) {
            like.port = grid_port(grid, dimension, down, channel);
            candidates_add(candidates, route, route->routing->config, &like);
        }
}

static void torus_adaptive_route(struct route *route)
{
    const struct escape_layer *layer = route->routing->state;
    const struct grid *grid = route->routing->topology->grid;
    uint32_t target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    struct candidates candidates;
    candidates.count = 0;
    struct candidate like = {.vcs = layer->adaptive_vcs, .hops = 1, .is_minimal = true}; /* all are equally long */
    for (uint32_t d = 0; d < grid->dimensions; d++)
        gather(&candidates, route, d, grid_ways(grid, layer->order->coordinates, route->router, target, d), like);
    candidates_offer(&candidates, route, route->routing->config);
    dimension_order_step(route, layer->order, target, 0, false);
}

static const struct routing_ops torus_adaptive = {
    .name = "torus_adaptive",
    .summary = "the least congested minimal way on a grid, with dimension order on escape VCs",
    .options = adaptive_options,
    .config_size = sizeof(struct adaptive_config),
    .example = "{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}",
    .needs = "3 VCs on a torus, elsewhere 2",
    .is_adaptive = true,
    .is_minimal = true,
    .prepare = torus_adaptive_prepare,
    .route = torus_adaptive_route,
};
REGISTER_ROUTING(torus_adaptive);

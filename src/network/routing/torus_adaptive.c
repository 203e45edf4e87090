/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimal adaptive routing on a grid with escape VCs (Duato 1993). A packet may
 * correct any coordinate next, on any of the adaptive VCs, and the reduction
 * chooses among them. Beside that choice it is always offered the hop of
 * dimension order on the escape VCs: one on a mesh or hypercube, two on a torus,
 * where the first is taken while the wrap channel lies ahead. Adaptive VCs may
 * wait for each other in a circle; packets in it leave by the escape VCs, which
 * do not.
 */
#include "flitwarp/reduction.h"
#include "network/routing/dimension_order.h"

static const struct option torus_adaptive_options[] = {ADAPTIVE_OPTIONS("\"least_congested\""), OPTION_END};

struct torus_adaptive {
    const struct dimension_order *escape; /* a VC is a class by itself, and the first ones are its */
    uint64_t adaptive_vcs;
};

static void torus_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    /* A fixed dateline and ties that go up depend on where a packet is alone, not on how it came there. */
    static const struct ring_config stateless = {.dateline = DATELINE_FIXED, .tie = TIE_UP};
    const struct adaptive_config *config = self->config;
    struct torus_adaptive *torus = arena_array(arena, struct torus_adaptive, 1);
    torus->escape = dimension_order_create(routing, self, &stateless, arena, errors);
    routing->state = torus;
    if (!torus->escape)
        return;
    uint32_t escapes = torus->escape->classes, num_vcs = routing->vcs;
    routing->classes = num_vcs > escapes ? num_vcs : escapes + 1;
    routing->escape_vcs = bits_range(0, escapes);
    torus->adaptive_vcs = bits_range(0, num_vcs) & ~routing->escape_vcs;
    bool is_each = config->mode == CONGESTION_VC && num_vcs > escapes;
    adaptive_check(routing, self, routing->topology->ports * (is_each ? num_vcs - escapes : 1), errors);
}

/* One or, where both ways round are equally long, two directions of a dimension. */
static void gather(struct candidates *candidates, const struct route *route, uint32_t dimension, struct candidate like)
{
    const struct grid *grid = route->routing->topology->grid;
    const struct torus_adaptive *torus = route->routing->state;
    const struct dimension_order *order = torus->escape;
    uint32_t at = order->coordinates[(size_t)route->router * grid->dimensions + dimension];
    uint32_t to = order->coordinates[(size_t)route->packet->destination_router * grid->dimensions + dimension];
    uint32_t up = to > at ? to - at : to + grid->width[dimension] - at, down = grid->width[dimension] - up;
    for (uint32_t is_down = 0; is_down < 2; is_down++) {
        bool is_closer = !grid->wraps ? (to < at) == is_down : is_down ? down <= up : up <= down;
        for (uint32_t channel = 0; is_closer && at != to && channel < grid->channels[dimension]; channel++) {
            like.port = grid_port(grid, dimension, is_down, channel);
            candidates_add(candidates, route, route->routing->config, &like);
        }
    }
}

static void torus_adaptive_route(struct route *route)
{
    const struct torus_adaptive *torus = route->routing->state;
    const struct topology *topology = route->routing->topology;
    uint32_t target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    struct candidates candidates;
    candidates.count = 0;
    struct candidate like = {.vcs = torus->adaptive_vcs, .hops = 1, .is_minimal = true}; /* all are equally long */
    for (uint32_t d = 0; d < topology->grid->dimensions; d++)
        gather(&candidates, route, d, like);
    candidates_offer(&candidates, route, route->routing->config);
    dimension_order_step(route, torus->escape, target, 0, false);
}

static const struct routing_ops torus_adaptive = {
    .name = "torus_adaptive",
    .summary = "the least congested minimal way on a grid, with dimension order on escape VCs",
    .options = torus_adaptive_options,
    .config_size = sizeof(struct adaptive_config),
    .example = "{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}",
    .needs = "3 VCs on a torus, elsewhere 2",
    .is_adaptive = true,
    .is_minimal = true,
    .prepare = torus_adaptive_prepare,
    .route = torus_adaptive_route,
};
REGISTER_ROUTING(torus_adaptive);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of minimal adaptive routing on a grid. One VC of a mesh or hypercube
 * is for escape, and two of a torus: the first of them is taken while the wrap
 * channel lies ahead.
 */
#include "network/routing/grid_adaptive.h"

void grid_offer(struct route *route, uint32_t dimension, uint32_t ways, uint64_t vcs)
{
    const struct grid *grid = route->routing->topology->grid;
    for (uint32_t down = 0; down < 2; down++)
        for (uint32_t channel = 0; ways >> down & 1 && channel < grid->channels[dimension]; channel++)
            route_add_vcs(route, grid_port(grid, dimension, down, channel), vcs);
}

void grid_offer_all(struct route *route, const uint16_t *coordinates, uint64_t vcs)
{
    const struct grid *grid = route->routing->topology->grid;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        grid_offer(route, d, grid_ways(grid, coordinates, route->router, route->packet->destination_router, d), vcs);
}

const struct escape_layer *escape_layer_create(struct routing *routing, const struct choice *self, struct arena *arena,
                                               struct errors *errors)
{
    /* A fixed dateline and ties that go up depend on where a packet is alone, not on how it came there. */
    static const struct ring_config stateless = {.dateline = DATELINE_FIXED, .tie = TIE_UP};
    struct escape_layer *layer = arena_array(arena, struct escape_layer, 1);
    layer->order = dimension_order_create(routing, self, &stateless, arena, errors);
    if (!layer->order)
        return NULL;
    uint32_t escapes = layer->order->classes, num_vcs = routing->vcs;
    routing->classes = num_vcs > escapes ? num_vcs : escapes;
    layer->adaptive_vcs = num_vcs > escapes ? bits_range(escapes, num_vcs - escapes) : 0;
    routing->escape_vcs = layer->adaptive_vcs ? bits_range(0, escapes) : 0;
    return layer;
}

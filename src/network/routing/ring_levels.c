/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Routing on rings of rings: up by the bridges to the ring that has the destination below it, and down
 * again, in each ring by the shorter way; there is no other.
 *   Two classes of VCs are enough for any number of levels. Place 0 of a ring, where its bridge is, is a dateline: class
 * 0 while the packet has still to come to place 0, class 1 otherwise. So packets that go up are in class 0, which
 * leads to class 0 of the ring above and to class 1; those that go down are in class 1, which begins at a bridge, ends before it
 * comes round, and leads to class 1 of rings below alone.
 */
#include "flitwarp/hierarchical_rings.h"
#include "network/routing/routing.h"

static void ring_levels_route(struct route *route)
{
    FW_GLOBAL const struct hierarchical_rings *rings = routing_facts(route->routing);
    uint32_t destination = route->packet->destination_router, first_port = 0;
    if (route_ends(route))
        return;
    struct ring_place at = rings_place(rings, route->router);
    uint32_t to = rings_towards(rings, at, destination);
    if (to == at.place) { /* at a bridge whose ring has not got it below */
        at = rings_above(rings, at);
        to = rings_towards(rings, at, destination);
        first_port = RINGS_ABOVE;
    }
    uint32_t size = rings_size(rings, at.level), up = (to + size - at.place) % size;
    bool is_down = 2 * up > size || (2 * up == size && route_pick(route, 2));
    bool is_ahead = at.place && (!to || (is_down ? to > at.place : to < at.place));
    route_add(route, first_port + is_down, is_ahead ? 0 : 1);
}

#if FW_HOST
static void ring_levels_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                struct errors *errors)
{
    (void)arena;
    routing->classes = 2;
    if (!topology_rings(routing->topology))
        routing_misfit(routing, self, "topology \"hierarchical_rings\"", errors);
}

static const struct routing_ops ring_levels = {
    .name = "ring_levels",
    .summary = "up by bridges to the ring above the destination and down again, on hierarchical_rings",
    .needs = "2 VCs",
    .is_minimal = true,
    .prepare = ring_levels_prepare,
    .route = ring_levels_route,
    DEVICE_FORM(ring_levels_route),
};
REGISTER_ROUTING(ring_levels);
#endif

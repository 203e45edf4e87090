/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valiant routing: every packet first goes to a router drawn at random and only
 * then to its destination, both by minimal ways. Any traffic then loads the
 * channels like uniform traffic does, at the price of twice the hops (Valiant and
 * Brebner 1981). The second leg has VC classes of its own, so a packet in it
 * never waits for one in the first. On dragonflies the detour goes to another
 * group, not to a router of it (Kim, Dally, Scott and Abts 2008).
 */
#include "network/routing/detour.h"
#include "network/routing/routing.h"

static void valiant_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct detours *detours = arena_array(arena, struct detours, 1);
    routing->state = detours;
    if (detours_init(detours, routing, self, false, arena, errors))
        routing->classes = detours->classes;
}

static void valiant_inject(struct route *route)
{
    const struct detours *detours = route->routing->state;
    route->draws = INJECTION_DRAWS;
    detour_start(route->packet, detours->draw(route, detours));
}

static void valiant_route(struct route *route)
{
    const struct detours *detours = route->routing->state;
    detours->step(route, detours);
}

static const struct routing_ops valiant = {
    .name = "valiant",
    .summary = "by way of a router or group drawn at random: the same throughput for any traffic",
    .options = detour_options,
    .example = "{\"type\": \"valiant\", \"intermediate\": \"router\"}",
    .needs = DETOUR_NEEDS,
    .prepare = valiant_prepare,
    .inject = valiant_inject,
    .route = valiant_route,
};
REGISTER_ROUTING(valiant);

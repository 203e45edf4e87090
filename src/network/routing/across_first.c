/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Across first on a spidergon (Coppola et al. 2004): a packet that has more than a quarter of
 * the ring to go crosses to the opposite side with its first hop, and then goes along the ring by the shorter way. All ways
 * are shortest ones.
 *   Nothing on the ring waits for a channel across. The ring has two classes of VCs and a dateline: class 0 while the
 * channel between the last router and router 0 lies ahead, class 1 otherwise (Dally and Seitz 1987).
 */
#include "flitwarp/spidergon.h"
#include "network/routing/routing.h"

static void across_first_route(struct route *route)
{
    uint32_t here = route->router, there = route->packet->destination_router, routers = routing_routers(route->routing);
    if (route_ends(route))
        return;
    uint32_t up = there > here ? there - here : there + routers - here, down = routers - up;
    if (4 * (uint64_t)up <= routers)
        route_add(route, SPIDERGON_UP, there > here);
    else if (4 * (uint64_t)down <= routers)
        route_add(route, SPIDERGON_DOWN, there < here);
    else
        for (uint32_t class = 0; class < 2; class ++)
            route_add(route, SPIDERGON_ACROSS, class);
}

#if FW_HOST
static void across_first_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                 struct errors *errors)
{
    (void)arena;
    routing->classes = 2;
    if (!topology_is_spidergon(routing->topology))
        routing_misfit(routing, self, "topology \"spidergon\"", errors);
}

static const struct routing_ops across_first = {
    .name = "across_first",
    .summary = "to the opposite side where that is shorter, then along the ring, on a spidergon",
    .needs = "2 VCs",
    .is_minimal = true,
    .prepare = across_first_prepare,
    .route = across_first_route,
    DEVICE_FORM(across_first_route),
};
REGISTER_ROUTING(across_first);
#endif

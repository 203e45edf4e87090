/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Destination-tag routing on a butterfly: each digit of the destination's row
 * names the port of one stage. There is no other way, and nothing to deadlock.
 */
#include "flitwarp/butterfly.h"
#include "network/routing/routing.h"

static void destination_tag_route(struct route *route)
{
    FW_GLOBAL const struct butterfly *fly = routing_facts(route->routing);
    uint32_t row = route->packet->destination_router % fly->rows;
    if (!route_ends(route))
        route_add(route, row / fly->strides[route->router / fly->rows] % fly->radix, 0);
}

#if FW_HOST
static void destination_tag_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    (void)arena;
    if (!topology_butterfly(routing->topology))
        routing_misfit(routing, self, "topology \"butterfly\"", errors);
}

static const struct routing_ops destination_tag = {
    .name = "destination_tag",
    .summary = "a digit of the destination for each stage of a butterfly",
    .example = "{\"type\": \"destination_tag\"}",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = destination_tag_prepare,
    .route = destination_tag_route,
    DEVICE_FORM(destination_tag_route),
};
REGISTER_ROUTING(destination_tag);
#endif

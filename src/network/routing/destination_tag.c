/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destination-tag routing on a butterfly: each digit of the destination's row
 * names the port of one stage. There is no other way, and nothing to deadlock.
 */
#include "flitwarp/butterfly.h"
#include "flitwarp/routing.h"

static void destination_tag_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    (void)arena;
    if (!topology_butterfly(routing->topology))
        choice_error(errors, self, NULL, "\"destination_tag\" needs topology \"butterfly\", not \"%s\"",
                     routing->topology->ops->name);
}

static void destination_tag_route(struct route *route)
{
    const struct butterfly *fly = route->routing->topology->facts;
    uint32_t target = route->packet->destination_router;
    if (route->router == target)
        route_eject(route);
    else
        route_add(route, target % fly->rows / fly->strides[route->router / fly->rows] % fly->radix, 0);
}

static const struct routing_ops destination_tag = {
    .name = "destination_tag",
    .summary = "a digit of the destination for each stage of a butterfly",
    .example = "{\"type\": \"destination_tag\"}",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = destination_tag_prepare,
    .route = destination_tag_route,
};
REGISTER_ROUTING(destination_tag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. BCube's routing for one path (Guo et al. 2009): a packet corrects the digits of its server one
 * after the other, from the highest level down, each by way of the switch of that level.
 *   One class of VCs is enough: a packet that has taken a channel of a level waits for channels of that level's switch
 * or of lower levels.
 *   With start any the digit to begin with is drawn at the source and the others follow it downwards, round from the lowest to the
 * highest: the first digits of the k + 1 parallel ways of the paper. Levels that come behind the lowest have a class of
 * their own.
 */
#include "flitwarp/bcube.h"
#include "network/routing/routing.h"

enum digit_start { START_HIGHEST, START_ANY };

struct bcube_order_config {
    uint32_t start;
};

#if FW_HOST
static const char *const start_names[] = {"highest", "any", NULL};

static const struct option bcube_order_options[] = {
    OPTION_ENUM(struct bcube_order_config, start, "\"highest\"", start_names,
                "the digit that is corrected first: the highest, or any, drawn at the source"),
    OPTION_END,
};

static void bcube_order_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                struct errors *errors)
{
    (void)arena;
    routing->classes = ((const struct bcube_order_config *)self->config)->start == START_ANY ? 2 : 1;
    if (!topology_bcube(routing->topology))
        routing_misfit(routing, self, "topology \"bcube\"", errors);
}
#endif

/* packet->waypoint is the level to begin with. */
static void bcube_order_inject(struct route *route)
{
    FW_GLOBAL const struct bcube_order_config *config = route->routing->config;
    FW_GLOBAL const struct bcube *bcube = routing_facts(route->routing);
    route->draws = INJECTION_DRAWS;
    route->packet->waypoint =
        config->start == START_ANY && bcube->levels > 1 ? route_pick(route, bcube->levels) : bcube->levels - 1;
}

static void bcube_order_route(struct route *route)
{
    FW_GLOBAL const struct bcube *bcube = routing_facts(route->routing);
    uint32_t here = route->router, there = route->packet->destination_router, first = route->packet->waypoint;
    if (route_ends(route))
        return;
    if (here >= bcube->servers) {
        uint32_t level = (here - bcube->servers) / bcube->row;
        route_add(route, bcube_digit(bcube, there, level), level > first);
        return;
    }
    uint32_t level = first;
    while (bcube_digit(bcube, here, level) == bcube_digit(bcube, there, level))
        level = level ? level - 1 : bcube->levels - 1;
    route_add(route, level, level > first);
}

#if FW_HOST
static const struct routing_ops bcube_order = {
    .name = "bcube_order",
    .summary = "one digit after the other, each by the switch of its level, on a bcube",
    .options = bcube_order_options,
    .example = "{\"type\": \"bcube_order\", \"start\": \"any\"}",
    .needs = "1 VC; 2 with start any",
    .is_minimal = true,
    .prepare = bcube_order_prepare,
    .inject = bcube_order_inject,
    .route = bcube_order_route,
    DEVICE_FORM_WITH(bcube_order_route, .inject = "bcube_order_inject"),
};
REGISTER_ROUTING(bcube_order);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dimension order on a torus whose channels are used in one direction only: every
 * packet goes up, round the ring where it must. What a torus of unidirectional
 * channels does; those that lead down carry nothing.
 */
#include "network/routing/dimension_order.h"

struct one_way_config {
    uint32_t dateline;
};

static const struct option one_way_options[] = {
    OPTION_ENUM(struct one_way_config, dateline, "\"balanced\"", dateline_names,
                "how the rings are kept free of deadlock (none: not at all, to see what happens)"),
    OPTION_END,
};

static void one_way_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    const struct one_way_config *config = self->config;
    const struct ring_config ring = {.dateline = config->dateline, .one_way = true};
    const struct grid *grid = routing->topology->grid;
    if (!grid || !grid->wraps) {
        choice_error(errors, self, NULL, "\"one_way\" needs a torus, not \"%s\"", routing->topology->ops->name);
        return;
    }
    struct dimension_order *order = dimension_order_create(routing, self, &ring, arena, errors);
    routing->state = order;
    routing->classes = order ? order->classes : 1;
}

static void one_way_route(struct route *route)
{
    uint32_t target = route->packet->destination_router;
    if (route->router == target)
        route_eject(route);
    else
        dimension_order_step(route, route->routing->state, target, 0, false);
}

static const struct routing_ops one_way = {
    .name = "one_way",
    .summary = "corrects one coordinate after the other, always upwards round a torus",
    .options = one_way_options,
    .example = "{\"type\": \"one_way\", \"dateline\": \"balanced\"}",
    .needs = "2 VCs",
    .prepare = one_way_prepare,
    .route = one_way_route,
};
REGISTER_ROUTING(one_way);

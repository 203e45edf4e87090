/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates on a HyperX. A hop in a dimension whose coordinate is wrong either
 * corrects it or deroutes: it moves to a third coordinate of the row, from where
 * one more hop is needed.
 */
#include "network/routing/hyperx.h"

void hyperx_gather_in(struct candidates *candidates, const struct route *route, const struct adaptive_config *config,
                      struct candidate like, uint32_t d, bool may_deroute)
{
    const struct hyperx *hyperx = route->routing->topology->facts;
    uint32_t target = route->packet->destination_router, distance = hyperx_distance(hyperx, route->router, target);
    uint32_t right = hyperx_port(hyperx, route->router, d, hyperx_coordinate(hyperx, target, d));
    uint32_t count = hyperx->channels[d], first = may_deroute ? hyperx->first_port[d] : right;
    uint32_t end = may_deroute ? first + (hyperx->width[d] - 1) * count : right + count;
    for (like.port = first; like.port < end; like.port++) {
        like.is_minimal = like.port - right < count;
        like.hops = (uint16_t)(distance + !like.is_minimal);
        candidates_add(candidates, route, config, &like);
    }
}

void hyperx_gather(struct candidates *candidates, const struct route *route, const struct adaptive_config *config,
                   struct candidate like, uint32_t deroutes)
{
    const struct hyperx *hyperx = route->routing->topology->facts;
    const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        if (here[d] != there[d])
            hyperx_gather_in(candidates, route, config, like, d, deroutes >> d & 1);
}

void hyperx_prepare(struct routing *routing, const struct choice *self, uint32_t deroutes, struct errors *errors)
{
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    if (!hyperx) {
        choice_error(errors, self, NULL, "\"%s\" needs topology \"hyperx\", not \"%s\"", self->component->name,
                     routing->topology->ops->name);
        return;
    }
    routing->classes = hyperx->dimensions + deroutes;
    adaptive_check(routing, self, routing->topology->ports, errors);
}

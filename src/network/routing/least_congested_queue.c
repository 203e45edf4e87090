/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least congested queue on a HyperX, after SuperSim: the first hop is by the output
 * with the shortest queue, wherever it leads, and all others are minimal. It is
 * Valiant's detour with a middle that the first router chooses by what it sees, one
 * hop away. The first hop has a VC class of its own; those behind it share one in
 * dimension order, or have one each when they may go in any order.
 */
#include "network/routing/hyperx.h"

enum finish { FINISH_ADAPTIVE, FINISH_DIMENSION_ORDER };
static const char *const finish_names[] = {"adaptive", "dimension_order", NULL};

struct least_congested_queue_config {
    struct adaptive_config adaptive;
    uint32_t finish;
};

static const struct option least_congested_queue_options[] = {
    OPTION_ENUM(struct least_congested_queue_config, finish, "\"adaptive\"", finish_names,
                "behind the first hop: any dimension next, with a VC class for each hop, or in order, with one"),
    OPTION_ROWS(struct least_congested_queue_config, adaptive, struct adaptive_config, adaptive_options),
    OPTION_END,
};

static void least_congested_queue_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                          struct errors *errors)
{
    const struct least_congested_queue_config *config = self->config;
    (void)arena;
    hyperx_prepare(routing, self, 1, errors);
    if (config->finish == FINISH_DIMENSION_ORDER)
        routing->classes = 2;
}

/* To every neighbour. All are said to be minimal: this algorithm prefers none, and a reduction shall not either. */
static void gather_neighbours(struct candidates *candidates, const struct route *route, const struct hyperx *hyperx)
{
    const struct least_congested_queue_config *config = route->routing->config;
    const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    uint32_t distance = hyperx_distance(hyperx, route->router, route->packet->destination_router);
    struct candidate candidate = {.vcs = route->routing->class_vcs[0], .is_minimal = true};
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        for (uint32_t to = 0; to < hyperx->width[d]; to++) {
            if (to == here[d])
                continue;
            candidate.hops = (uint16_t)(1 + distance - (here[d] != there[d]) + (to != there[d]));
            candidate.port = hyperx_port(hyperx, route->router, d, to);
            for (uint32_t channel = 0; channel < hyperx->channels[d]; channel++, candidate.port++)
                candidates_add(candidates, route, &config->adaptive, &candidate);
        }
}

static void least_congested_queue_route(struct route *route)
{
    const struct routing *routing = route->routing;
    const struct least_congested_queue_config *config = routing->config;
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    uint32_t hops = route->packet->hops, target = route->packet->destination_router;
    struct candidates candidates;
    candidates.count = 0;
    if (route_ends(route))
        return;
    if (hops && config->finish == FINISH_DIMENSION_ORDER) {
        hyperx_step(route, hyperx, target, 1);
        return;
    }
    if (hops)
        hyperx_gather(&candidates, route, &config->adaptive, (struct candidate){.vcs = routing->class_vcs[hops]}, 0);
    else
        gather_neighbours(&candidates, route, hyperx);
    candidates_offer(&candidates, route, &config->adaptive);
}

static const struct routing_ops least_congested_queue = {
    .name = "least_congested_queue",
    .summary = "first by the least congested output wherever it leads, then minimally, on a hyperx",
    .options = least_congested_queue_options,
    .example = "{\"type\": \"least_congested_queue\", \"finish\": \"dimension_order\"}",
    .needs = "a VC for each dimension and 1; 2 with finish dimension_order",
    .is_adaptive = true,
    .prepare = least_congested_queue_prepare,
    .route = least_congested_queue_route,
};
REGISTER_ROUTING(least_congested_queue);

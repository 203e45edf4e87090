/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skipping dimensions on a HyperX, after SuperSim: dimension order in rounds. In a
 * round a packet goes through the dimensions upwards and may skip one whose output is
 * congested; what it skipped comes in the next round. The last round skips nothing,
 * so that it ends at the destination: with one round this is dimension order. With
 * `deroutes` a packet may also move within a dimension to a third coordinate, once,
 * and then to the right one.
 *
 * Each round has a VC class, or two with deroutes: for the first hop in a dimension
 * and for the one that makes it good. Within a round dimensions only rise, so that
 * no cycle is possible with far fewer classes than hops.
 *   packet->waypoint is the router before, which tells the dimension of the last hop;
 * packet->route is the round.
 */
#include "network/routing/hyperx.h"

struct skipping_dimensions_config {
    struct adaptive_config adaptive;
    uint32_t rounds;
    double step;
    bool deroutes;
};

static const struct option skipping_dimensions_options[] = {
    OPTION_U32(struct skipping_dimensions_config, rounds, "2", 1, 32, NULL,
               "passes through the dimensions, at most; the last skips none"),
    OPTION_F64(struct skipping_dimensions_config, step, "0", 0, 1e9, NULL,
               "added to the congestion of an output for each dimension that it skips"),
    OPTION_BOOL(struct skipping_dimensions_config, deroutes, "false",
                "move to a third coordinate too, once a dimension"),
    OPTION_ROWS(struct skipping_dimensions_config, adaptive, struct adaptive_config, adaptive_options,
                OTHER_DEFAULT("reduction", "\"weighted\"")),
    OPTION_END,
};

static void skipping_dimensions_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                        struct errors *errors)
{
    const struct skipping_dimensions_config *config = self->config;
    (void)arena;
    hyperx_prepare(routing, self, 0, errors);
    routing->classes = config->rounds * (config->deroutes ? 2 : 1);
}

/* The first of the dimensions from `d` on that is yet to be corrected. */
static uint32_t next_wrong(const struct hyperx *hyperx, const uint16_t *here, const uint16_t *there, uint32_t d)
{
    while (d < hyperx->dimensions && here[d] == there[d])
        d++;
    return d;
}

/* The dimension to go on with; a new round begins where none is left in this one. */
static uint32_t continue_round(const struct route *route, const struct hyperx *hyperx, const uint16_t *here,
                               const uint16_t *there)
{
    struct packet *packet = route->packet;
    const uint16_t *before = hyperx_coordinates(hyperx, packet->waypoint);
    uint32_t last = 0;
    if (packet->hops == 0)
        return next_wrong(hyperx, here, there, 0);
    while (here[last] == before[last])
        last++;
    uint32_t next = next_wrong(hyperx, here, there, last); /* the same one after a deroute */
    if (next < hyperx->dimensions)
        return next;
    packet->route++;
    return next_wrong(hyperx, here, there, 0);
}

/* One dimension's outputs, dearer for each dimension that is skipped for them. */
static void gather_dimension(struct candidates *candidates, const struct route *route, uint32_t class,
                             uint32_t dimension, bool may_deroute, uint32_t skipped)
{
    const struct skipping_dimensions_config *config = route->routing->config;
    uint32_t first = candidates->count;
    hyperx_gather_in(candidates, route, &config->adaptive, (struct candidate){.vcs = route->routing->class_vcs[class]},
                     dimension, may_deroute);
    for (uint32_t i = first; i < candidates->count; i++)
        candidates->list[i].congestion += config->step * skipped;
}

static void skipping_dimensions_route(struct route *route)
{
    const struct skipping_dimensions_config *config = route->routing->config;
    const struct hyperx *hyperx = route->routing->topology->facts;
    struct packet *packet = route->packet;
    const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    const uint16_t *there = hyperx_coordinates(hyperx, packet->destination_router);
    if (route_ends(route))
        return;
    uint32_t d = continue_round(route, hyperx, here, there), round = packet->route;
    bool was_derouted = packet->hops && here[d] != hyperx_coordinate(hyperx, packet->waypoint, d);
    uint32_t class = config->deroutes ? 2 * round + was_derouted : round;
    bool is_bound = was_derouted || round + 1 == config->rounds; /* to this dimension */
    packet->waypoint = route->router;
    struct candidates candidates;
    candidates.count = 0;
    gather_dimension(&candidates, route, class, d, config->deroutes && !was_derouted, 0);
    for (uint32_t skipped = 1; !is_bound && (d = next_wrong(hyperx, here, there, d + 1)) < hyperx->dimensions;
         skipped++)
        gather_dimension(&candidates, route, class, d, config->deroutes, skipped);
    candidates_offer(&candidates, route, &config->adaptive);
}

static const struct routing_ops skipping_dimensions = {
    .name = "skipping_dimensions",
    .summary = "dimension order in rounds that skip congested dimensions, on a hyperx",
    .options = skipping_dimensions_options,
    .example = "{\"type\": \"skipping_dimensions\", \"rounds\": 2, \"step\": 0.1, \"deroutes\": true}",
    .needs = "a VC for each round, two with deroutes",
    .is_adaptive = true,
    .prepare = skipping_dimensions_prepare,
    .route = skipping_dimensions_route,
};
REGISTER_ROUTING(skipping_dimensions);

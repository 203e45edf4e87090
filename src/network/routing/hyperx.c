/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Adaptive routing on a HyperX. A hop in a dimension whose coordinate is wrong
 * either corrects it or deroutes: it moves to a third coordinate of the row, from
 * where one more hop is needed.
 */
#include "network/routing/hyperx.h"

#include "flitwarp/reduction.h"
#include "network/routing/routing.h"

/* ---- what all have in common ---- */

/* Gathers the hops in one dimension, whose coordinate is wrong. */
static void gather_dimension(struct candidates *candidates, const struct route *route,
                             FW_GLOBAL const struct adaptive_config *config, uint32_t class, uint32_t d,
                             bool may_deroute)
{
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    uint32_t target = route->packet->destination_router, distance = hyperx_distance(hyperx, route->router, target);
    uint32_t right = hyperx_port(hyperx, route->router, d, hyperx_coordinate(hyperx, target, d));
    uint32_t count = hyperx->channels[d], first = may_deroute ? hyperx->first_port[d] : right;
    uint32_t end = may_deroute ? first + (hyperx->width[d] - 1) * count : right + count;
    struct candidate candidate = {.vcs = route->routing->class_vcs[class], .port = first};
    for (; candidate.port < end; candidate.port++) {
        candidate.is_minimal = candidate.port - right < count;
        candidate.hops = (uint16_t)(distance + !candidate.is_minimal);
        candidates_add(candidates, route, config, &candidate);
    }
}

void hyperx_gather(struct candidates *candidates, const struct route *route,
                   FW_GLOBAL const struct adaptive_config *config, uint32_t class, uint32_t deroutes)
{
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    FW_GLOBAL const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        if (here[d] != there[d])
            gather_dimension(candidates, route, config, class, d, deroutes >> d & 1);
}

#if FW_HOST
/* Refuses other topologies and too many candidates; the algorithm deroutes at most `deroutes` times, a class each. */
static void hyperx_prepare(struct routing *routing, const struct choice *self, uint32_t deroutes, struct errors *errors)
{
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    if (!hyperx) {
        routing_misfit(routing, self, "topology \"hyperx\"", errors);
        return;
    }
    routing->classes = hyperx->dimensions + deroutes;
    adaptive_check(routing, self, routing->topology->ports, errors);
}
#endif

/* ---- derouting: DAL and OmniWAR ---- */

/*
 * At every hop a packet may correct any coordinate that is wrong or move to a third coordinate of its row, as long as VC
 * classes are left for the hops that it needs: each hop has one of its own.
 *
 * DAL, dimensionally adaptive load-balanced routing (Ahn, Binkert, Davis, McLaren and Schreiber 2009), deroutes at most
 * once in a dimension. The paper has one escape VC where this has classes. packet->waypoint is the router before, from
 * which the next one sees whether the last hop was a deroute; packet->route holds a bit for each dimension in which
 * there was one.
 *
 * OmniWAR, omni-dimensional weighted adaptive routing (McDonald, Isaev, Flores, Davis and Kim 2019), deroutes `deroutes`
 * times in all, in any dimensions, and takes the candidate with the least congestion times hops to come.
 */
struct deroute_config {
    struct adaptive_config adaptive;
    uint32_t deroutes;
};

#if FW_HOST
#define WEIGHTED_ROWS(config)                                                                                          \
    OPTION_ROWS(config, adaptive, struct adaptive_config, adaptive_options, OTHER_DEFAULT("reduction", "\"weighted\""))

static const struct option dal_options[] = {
    OPTION_U32(struct deroute_config, deroutes, "16", 0, MAX_DIMENSIONS, "hops",
               "deroutes of a packet, at most; one in a dimension"),
    WEIGHTED_ROWS(struct deroute_config),
    OPTION_END,
};

static const struct option omniwar_options[] = {
    OPTION_U32(struct deroute_config, deroutes, "1", 0, 62, "hops",
               "hops that lead no closer, at most; a VC class each"),
    WEIGHTED_ROWS(struct deroute_config),
    OPTION_END,
};

static const struct routing_ops dal;

static void deroute_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    uint32_t deroutes = ((const struct deroute_config *)self->config)->deroutes;
    (void)arena;
    if (routing->ops == &dal && hyperx && deroutes > hyperx->dimensions)
        deroutes = hyperx->dimensions;
    hyperx_prepare(routing, self, deroutes, errors);
}
#endif

/* Whether the hop that led here was a deroute, and in which dimension. */
static void note_last_hop(const struct route *route, FW_GLOBAL const struct hyperx *hyperx)
{
    FW_GLOBAL struct packet *packet = route->packet;
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    FW_GLOBAL const uint16_t *there = hyperx_coordinates(hyperx, packet->destination_router);
    for (uint32_t d = 0; packet->hops > 0 && d < hyperx->dimensions; d++)
        if (here[d] != hyperx_coordinate(hyperx, packet->waypoint, d) && here[d] != there[d])
            packet->route |= 1u << d;
    packet->waypoint = route->router;
}

/* `deroutes` has a bit for each dimension in which the packet may. */
static inline void deroute_step(struct route *route, uint32_t deroutes)
{
    const struct routing *routing = route->routing;
    FW_GLOBAL const struct deroute_config *config = routing->config;
    uint32_t hops = route->packet->hops, target = route->packet->destination_router;
    struct candidates candidates;
    candidates.count = 0;
    bool may_deroute = hops + hyperx_distance(routing_facts(routing), route->router, target) < routing->classes;
    hyperx_gather(&candidates, route, &config->adaptive, hops, may_deroute ? deroutes : 0);
    candidates_offer(&candidates, route, &config->adaptive);
}

static void dal_route(struct route *route)
{
    if (route_ends(route))
        return;
    note_last_hop(route, routing_facts(route->routing));
    deroute_step(route, ~route->packet->route);
}

static void omniwar_route(struct route *route)
{
    if (!route_ends(route))
        deroute_step(route, ~0u);
}

#if FW_HOST
static const struct routing_ops dal = {
    .name = "dal",
    .summary = "any dimension, derouting at most once in each, on a hyperx",
    .options = dal_options,
    .example = "{\"type\": \"dal\", \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = deroute_prepare,
    .route = dal_route,
    DEVICE_FORM(dal_route),
};
REGISTER_ROUTING(dal);

static const struct routing_ops omniwar = {
    .name = "omniwar",
    .summary = "any dimension, derouting where that promises a shorter wait, on a hyperx",
    .options = omniwar_options,
    .example = "{\"type\": \"omniwar\", \"deroutes\": 2, \"mode\": \"port_average\"}",
    .needs = "a VC for each dimension and each deroute",
    .is_adaptive = true,
    .prepare = deroute_prepare,
    .route = omniwar_route,
    DEVICE_FORM(omniwar_route),
};
REGISTER_ROUTING(omniwar);
#endif

/* ---- least congested queue ---- */

/*
 * After SuperSim: the first hop is by the output with the shortest queue, wherever it leads, and all others are minimal.
 * It is Valiant's detour with a middle that the first router chooses by what it sees, one hop away. The first hop has a
 * VC class of its own; those behind it share one in dimension order, or have one each when they may go in any order.
 */
enum finish { FINISH_ADAPTIVE, FINISH_DIMENSION_ORDER };

struct least_congested_queue_config {
    struct adaptive_config adaptive;
    uint32_t finish;
};

#if FW_HOST
static const char *const finish_names[] = {"adaptive", "dimension_order", NULL};

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
#endif

/* To every neighbour. All are said to be minimal: this algorithm prefers none, and a reduction shall not either. */
static void gather_neighbours(struct candidates *candidates, const struct route *route,
                              FW_GLOBAL const struct hyperx *hyperx)
{
    FW_GLOBAL const struct least_congested_queue_config *config = route->routing->config;
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    FW_GLOBAL const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    uint32_t distance = hyperx_distance(hyperx, route->router, route->packet->destination_router);
    struct candidate candidate = {.vcs = route->routing->class_vcs[0], .is_minimal = true};
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        for (uint32_t to = 0; to < hyperx->width[d]; to++) {
            if (to == here[d])
                continue;
            candidate.hops = (uint16_t)(1 + distance - (here[d] != there[d]) + (to != there[d]));
            candidate.port = hyperx_port(hyperx, route->router, d, to);
            candidates_add_ports(candidates, route, &config->adaptive, &candidate, hyperx->channels[d]);
        }
}

static void least_congested_queue_route(struct route *route)
{
    FW_GLOBAL const struct least_congested_queue_config *config = route->routing->config;
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    uint32_t hops = route->packet->hops;
    struct candidates candidates;
    candidates.count = 0;
    if (route_ends(route))
        return;
    if (hops && config->finish == FINISH_DIMENSION_ORDER) {
        hyperx_step(route, hyperx, route->packet->destination_router, 1, false);
        return;
    }
    if (hops)
        hyperx_gather(&candidates, route, &config->adaptive, hops, 0);
    else
        gather_neighbours(&candidates, route, hyperx);
    candidates_offer(&candidates, route, &config->adaptive);
}

#if FW_HOST
static const struct routing_ops least_congested_queue = {
    .name = "least_congested_queue",
    .summary = "first by the least congested output wherever it leads, then minimally, on a hyperx",
    .options = least_congested_queue_options,
    .example = "{\"type\": \"least_congested_queue\", \"finish\": \"dimension_order\"}",
    .needs = "a VC for each dimension and 1; 2 with finish dimension_order",
    .is_adaptive = true,
    .prepare = least_congested_queue_prepare,
    .route = least_congested_queue_route,
    DEVICE_FORM(least_congested_queue_route),
};
REGISTER_ROUTING(least_congested_queue);
#endif

/* ---- skipping dimensions ---- */

/*
 * After SuperSim: dimension order in rounds. In a round a packet goes through the dimensions upwards and may skip one
 * whose output is congested; what it skipped comes in the next round. The last round skips nothing, so that it ends at
 * the destination: with one round this is dimension order. With `deroutes` a packet may also move within a dimension to
 * a third coordinate, once, and then to the right one.
 *
 * Each round has a VC class, or two with deroutes: for the first hop in a dimension and for the one that makes it good.
 * Within a round dimensions only rise, so that no cycle is possible with far fewer classes than hops.
 *   packet->waypoint is the router before, which tells the dimension of the last hop; packet->route is the round.
 */
struct skipping_dimensions_config {
    struct adaptive_config adaptive;
    uint32_t rounds;
    double step;
    fw_bool deroutes;
};

#if FW_HOST
static const struct option skipping_dimensions_options[] = {
    OPTION_U32(struct skipping_dimensions_config, rounds, "2", 1, 32, NULL,
               "passes through the dimensions, at most; the last skips none"),
    OPTION_F64(struct skipping_dimensions_config, step, "0", 0, 1e9, NULL,
               "added to the congestion of an output for each dimension that it skips"),
    OPTION_BOOL(struct skipping_dimensions_config, deroutes, "false",
                "move to a third coordinate too, once a dimension"),
    WEIGHTED_ROWS(struct skipping_dimensions_config),
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
#endif

/* The first of the dimensions from `d` on that is yet to be corrected. */
static uint32_t next_wrong(FW_GLOBAL const struct hyperx *hyperx, FW_GLOBAL const uint16_t *here,
                           FW_GLOBAL const uint16_t *there, uint32_t d)
{
    while (d < hyperx->dimensions && here[d] == there[d])
        d++;
    return d;
}

/* The dimension to go on with; a new round begins where none is left in this one. */
static uint32_t continue_round(const struct route *route, FW_GLOBAL const struct hyperx *hyperx,
                               FW_GLOBAL const uint16_t *here, FW_GLOBAL const uint16_t *there)
{
    FW_GLOBAL struct packet *packet = route->packet;
    FW_GLOBAL const uint16_t *before = hyperx_coordinates(hyperx, packet->waypoint);
    uint32_t last = 0;
    while (packet->hops && here[last] == before[last])
        last++;
    uint32_t next = next_wrong(hyperx, here, there, last); /* the same one after a deroute */
    if (next < hyperx->dimensions)
        return next;
    packet->route++;
    return next_wrong(hyperx, here, there, 0);
}

static void skipping_dimensions_route(struct route *route)
{
    FW_GLOBAL const struct skipping_dimensions_config *config = route->routing->config;
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    FW_GLOBAL struct packet *packet = route->packet;
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    FW_GLOBAL const uint16_t *there = hyperx_coordinates(hyperx, packet->destination_router);
    if (route_ends(route))
        return;
    uint32_t d = continue_round(route, hyperx, here, there), round = packet->route;
    bool was_derouted = packet->hops && here[d] != hyperx_coordinate(hyperx, packet->waypoint, d);
    uint32_t class = config->deroutes ? 2 * round + was_derouted : round;
    bool is_bound = was_derouted || round + 1 == config->rounds; /* to this dimension */
    packet->waypoint = route->router;
    struct candidates candidates;
    candidates.count = 0;
    gather_dimension(&candidates, route, &config->adaptive, class, d, config->deroutes && !was_derouted);
    for (uint32_t skipped = 1; !is_bound && (d = next_wrong(hyperx, here, there, d + 1)) < hyperx->dimensions;
         skipped++) {
        uint32_t first = candidates.count;
        gather_dimension(&candidates, route, &config->adaptive, class, d, config->deroutes);
        for (uint32_t i = first; i < candidates.count; i++)
            candidates.list[i].congestion += config->step * skipped;
    }
    candidates_offer(&candidates, route, &config->adaptive);
}

#if FW_HOST
static const struct routing_ops skipping_dimensions = {
    .name = "skipping_dimensions",
    .summary = "dimension order in rounds that skip congested dimensions, on a hyperx",
    .options = skipping_dimensions_options,
    .example = "{\"type\": \"skipping_dimensions\", \"rounds\": 2, \"step\": 0.1, \"deroutes\": true}",
    .needs = "a VC for each round, two with deroutes",
    .is_adaptive = true,
    .prepare = skipping_dimensions_prepare,
    .route = skipping_dimensions_route,
    DEVICE_FORM(skipping_dimensions_route),
};
REGISTER_ROUTING(skipping_dimensions);
#endif

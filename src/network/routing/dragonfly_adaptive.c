/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. A dragonfly whose packets weigh the outputs of every router that they come to, rather than whole ways, as
 * SuperSim has it. A packet for another group weighs, at its first router, every output that leads to a global
 * channel: the one to its destination's group counts as minimal, all others as detours. From then on
 *
 *     in its own group       the global channels of the router alone, whichever was meant before;
 *                            progressive: once more all outputs
 *     in the detour's group  the outputs towards the destination's group; by router: any output to a router
 *                            with a global channel first
 *     in the last group      the way to its router, and one VC of its terminal
 *
 * Within a group it may go by any other router. Each kind of hop has a class of VCs: those whose number is the
 * class's, and every so many from there on (not ranges of them, as other algorithms have).
 */
#include "flitwarp/dragonfly.h"
#include "flitwarp/reduction.h"
#include "network/routing/routing.h"

/* The hop that brought a packet here; in packet->route. */
enum hop {
    HOP_NONE,
    HOP_SOURCE_AGAIN, /* within its first group, to choose again */
    HOP_SOURCE,       /* within its first group */
    HOP_AWAY,         /* global, to the group of its detour */
    HOP_MIDDLE_ANY,   /* within that group, to any router */
    HOP_MIDDLE,       /* within that group, to one with a channel to the destination's group */
    HOP_HOME,         /* global, to that */
    HOP_LAST,         /* within it */
    HOP_KINDS,
};

#define UNUSED 255u

/* By [progressive][by router] and kind. */
FW_TABLE uint8_t class_of[2][2][HOP_KINDS] = {
    {{UNUSED, UNUSED, 0, 0, UNUSED, 1, 1, 2}, {UNUSED, UNUSED, 0, 0, 1, 2, 2, 3}},
    {{UNUSED, 0, 1, 1, UNUSED, 2, 2, 3}, {UNUSED, 0, 1, 1, 2, 3, 3, 4}},
};

struct dragonfly_adaptive_config {
    struct adaptive_config adaptive; /* first */
    fw_bool progressive, by_router;
};

static uint32_t class_of_hop(FW_GLOBAL const struct dragonfly_adaptive_config *config, enum hop hop)
{
    return class_of[config->progressive][config->by_router][hop];
}

/* The VCs of a hop. */
static uint64_t vcs_of(const struct routing *routing, enum hop hop)
{
    uint32_t class = class_of_hop(routing->config, hop);
    uint64_t vcs = 0;
    for (uint32_t vc = class; vc < routing->vcs; vc += routing->classes)
        vcs |= bit(vc);
    return vcs;
}

/* An output counts once as minimal and once as a detour, however many global channels are behind it. */
static void weigh_output(struct candidates *candidates, const struct route *route, uint32_t port, enum hop hop,
                         bool is_minimal)
{
    FW_GLOBAL const struct dragonfly_adaptive_config *config = route->routing->config;
    const struct candidate output = {
        .vcs = vcs_of(route->routing, hop), .port = port, .hops = is_minimal ? 1 : 2, .is_minimal = is_minimal};
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->list[i].port == port && candidates->list[i].is_minimal == is_minimal)
            return;
    candidates_add(candidates, route, &config->adaptive, &output);
}

/* Hops that lead to global channels; HOP_NONE: such channels do not count. */
struct ways_out {
    enum hop own_minimal, own_detour;   /* by a channel of the router itself */
    enum hop peer_minimal, peer_detour; /* to a router that has one */
};

static void weigh_ways_out(struct candidates *candidates, const struct route *route,
                           FW_GLOBAL const struct dragonfly *dragonfly, uint32_t home, struct ways_out ways)
{
    uint32_t group = dragonfly_group(dragonfly, route->router), own = dragonfly_place(dragonfly, route->router);
    for (uint32_t other = 0; other < dragonfly->groups; other++) {
        bool is_minimal = other == home;
        if (other == group)
            continue;
        FW_GLOBAL const struct dragonfly_gate *gates = dragonfly_gates(dragonfly, group, other);
        for (uint32_t i = 0; i < dragonfly_channels(dragonfly, group, other); i++) {
            bool is_own = gates[i].place == own;
            enum hop hop = is_own       ? is_minimal ? ways.own_minimal : ways.own_detour
                           : is_minimal ? ways.peer_minimal
                                        : ways.peer_detour;
            if (hop != HOP_NONE)
                weigh_output(candidates, route, is_own ? gates[i].port : dragonfly_local_port(own, gates[i].place), hop,
                             is_minimal);
        }
    }
}

/* Within the group that the packet has to go to, by any router of it or none. */
static void weigh_ways_home(struct candidates *candidates, const struct route *route,
                            FW_GLOBAL const struct dragonfly *dragonfly, bool may_detour)
{
    uint32_t own = dragonfly_place(dragonfly, route->router);
    uint32_t place = dragonfly_place(dragonfly, route->packet->destination_router);
    for (uint32_t other = 0; other < dragonfly->routers; other++)
        if (other != own && (other == place || may_detour))
            weigh_output(candidates, route, dragonfly_local_port(own, other), other == place ? HOP_LAST : HOP_SOURCE,
                         other == place);
}

static struct ways_out ways_out(FW_GLOBAL const struct dragonfly_adaptive_config *config, enum hop before)
{
    enum hop first = config->progressive ? HOP_SOURCE_AGAIN : HOP_SOURCE;
    switch (before) {
    case HOP_NONE:
        return (struct ways_out){HOP_HOME, HOP_AWAY, first, first};
    case HOP_SOURCE_AGAIN:
        return (struct ways_out){HOP_HOME, HOP_AWAY, HOP_SOURCE, HOP_SOURCE};
    case HOP_SOURCE:
        return (struct ways_out){HOP_HOME, HOP_AWAY, HOP_NONE, HOP_NONE};
    case HOP_AWAY:
        return config->by_router ? (struct ways_out){HOP_HOME, HOP_NONE, HOP_MIDDLE_ANY, HOP_MIDDLE_ANY}
                                 : (struct ways_out){HOP_HOME, HOP_NONE, HOP_MIDDLE, HOP_NONE};
    case HOP_MIDDLE_ANY:
        return (struct ways_out){HOP_HOME, HOP_NONE, HOP_MIDDLE, HOP_NONE};
    default:
        return (struct ways_out){HOP_HOME, HOP_NONE, HOP_NONE, HOP_NONE};
    }
}

/* Which hop the one output that was offered is. */
static enum hop hop_offered(const struct route *route, FW_GLOBAL const struct dragonfly *dragonfly)
{
    const struct routing *routing = route->routing;
    BITS_EACH(lane, route->vcs, routing->words) {
        uint32_t port = (uint32_t)lane / routing->num_vcs - routing->local_ports;
        uint32_t class = (uint32_t)lane % routing->num_vcs % routing->classes;
        bool is_global = port >= dragonfly->first_global;
        for (uint32_t hop = HOP_SOURCE_AGAIN; hop < HOP_KINDS; hop++)
            if (class_of_hop(routing->config, (enum hop)hop) == class &&
                (hop == HOP_AWAY || hop == HOP_HOME) == is_global)
                return (enum hop)hop;
    }
#if FW_HOST
    FW_CHECK(false, "router %u: no hop was offered", route->router);
#endif
    return HOP_NONE;
}

/* Where all are detours, none is. */
static void find_minimal(struct candidates *candidates)
{
    bool has_minimal = false;
    for (uint32_t i = 0; i < candidates->count; i++)
        has_minimal |= candidates->list[i].is_minimal;
    for (uint32_t i = 0; i < candidates->count; i++)
        candidates->list[i].is_minimal |= !has_minimal;
}

static void dragonfly_adaptive_route(struct route *route)
{
    FW_GLOBAL const struct dragonfly_adaptive_config *config = route->routing->config;
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    FW_GLOBAL struct packet *packet = route->packet;
    uint32_t home = dragonfly_group(dragonfly, packet->destination_router);
    enum hop before = packet->hops == 0 ? HOP_NONE : (enum hop)packet->route;
    struct candidates candidates;
    candidates.count = 0;
    if (route->router == packet->destination_router) {
        candidates_add_terminal(&candidates, route, &config->adaptive);
        candidates_offer(&candidates, route, &config->adaptive);
        return;
    }
    if (dragonfly_group(dragonfly, route->router) == home)
        weigh_ways_home(&candidates, route, dragonfly, before == HOP_NONE);
    else
        weigh_ways_out(&candidates, route, dragonfly, home, ways_out(config, before));
    find_minimal(&candidates);
    candidates_offer(&candidates, route, &config->adaptive);
    packet->route = hop_offered(route, dragonfly);
}

#if FW_HOST
static const struct option dragonfly_adaptive_options[] = {
    OPTION_BOOL(struct dragonfly_adaptive_config, progressive, "false",
                "weigh all outputs once more at the second router of the first group"),
    OPTION_BOOL(struct dragonfly_adaptive_config, by_router, "false",
                "a detour goes by any router of its group, not straight on"),
    OPTION_ROWS(struct dragonfly_adaptive_config, adaptive, struct adaptive_config, adaptive_options),
    OPTION_END,
};

static void dragonfly_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                       struct errors *errors)
{
    const struct dragonfly_adaptive_config *config = self->config;
    const struct reduction_config *reduction = config->adaptive.reduction.config;
    const struct dragonfly *dragonfly = topology_dragonfly(routing->topology);
    (void)arena;
    routing->classes = 1u + class_of_hop(config, HOP_LAST);
    if (!dragonfly || dragonfly->shape != GROUP_ALL_TO_ALL) {
        routing_misfit(routing, self, "topology \"dragonfly\"", errors);
        return;
    }
    if (reduction->max_outputs != 1)
        choice_error(errors, self, "reduction",
                     "found max_outputs %u, expected 1: a packet's VCs tell how far it is on its way",
                     reduction->max_outputs);
    adaptive_check(routing, self, 2 * dragonfly->ports, errors);
}

static const struct routing_ops dragonfly_adaptive = {
    .name = "dragonfly_adaptive",
    .summary = "the outputs of every router weighed anew on a dragonfly, as SuperSim's",
    .options = dragonfly_adaptive_options,
    .example = "{\"type\": \"dragonfly_adaptive\", \"by_router\": true, \"reduction\": {\"type\": \"weighted\", "
               "\"congestion_bias\": 0.1}}",
    .needs = "3 VCs; one more each by_router and progressive",
    .is_adaptive = true,
    .prepare = dragonfly_adaptive_prepare,
    .route = dragonfly_adaptive_route,
    DEVICE_FORM(dragonfly_adaptive_route),
};
REGISTER_ROUTING(dragonfly_adaptive);
#endif

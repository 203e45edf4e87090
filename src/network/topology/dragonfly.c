/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dragonfly (Kim, Dally, Scott, Abts 2008): groups of routers, fully connected
 * within a group by local channels, and every two groups joined by one global
 * channel or more. With p terminals, a routers in a group and h global channels
 * at each router there can be up to a*h + 1 groups.
 *
 *     router of 4, place 1:  terminals | to places 0, 2, 3 | global
 *     port                             | 0     1  2        | 3 4         (a 4, h 2)
 *
 * The global channels of a group are counted through: channel c is port c mod h
 * of router c / h. They go to the g - 1 other groups in ranks: channel c leads to
 * the neighbour of rank c mod (g - 1), so that with fewer groups than a*h + 1 each
 * pair has floor(a*h / (g - 1)) parallel channels; the last ones of every group
 * that do not suffice for all neighbours are unused. The arrangement says which
 * group is group i's neighbour of rank r (Hastings et al. 2015):
 *
 *     absolute    r if r < i, else r + 1: all groups in order ("consecutive")
 *     relative    i + r + 1 mod g: the next group first ("palm tree")
 *     circulant   i + 1, i - 1, i + 2, i - 2, ... mod g
 *
 * Channel number m between two groups is number m for both of them.
 */
#include "flitwarp/dragonfly.h"

#include "network/topology/grid.h"

struct dragonfly_config {
    uint32_t terminals;
    uint32_t routers;
    uint32_t global;
    uint32_t groups;
    uint32_t arrangement;
};

static const char *const channel_names[] = {"local", "global", NULL};
static const char *const arrangement_names[] = {"absolute", "relative", "circulant", NULL};

static const struct option dragonfly_options[] = {
    OPTION_U32(struct dragonfly_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32(struct dragonfly_config, routers, "4", 1, 32768, "routers", "routers in each group"),
    OPTION_U32(struct dragonfly_config, global, "2", 1, 16384, "channels", "global channels at each router"),
    OPTION_U32(struct dragonfly_config, groups, "null", 2, 1 << 30, "groups",
               "groups, at most routers * global + 1; null: as many as that"),
    OPTION_ENUM(struct dragonfly_config, arrangement, "\"absolute\"", arrangement_names,
                "which group a global channel leads to: all in order, the next first, or one up, one down, two up"),
    OPTION_END,
};

static uint64_t group_count(const struct dragonfly_config *config)
{
    return config->groups ? config->groups : (uint64_t)config->routers * config->global + 1;
}

static void dragonfly_check(const struct choice *self, struct errors *errors)
{
    const struct dragonfly_config *config = self->config;
    uint64_t most = (uint64_t)config->routers * config->global + 1, routers = group_count(config) * config->routers;
    if (config->groups > most)
        choice_error(errors, self, "groups", "%u groups; accepted: 2 to routers * global + 1 = %llu", config->groups,
                     (unsigned long long)most);
    else if (routers * config->terminals > MAX_TERMINALS)
        choice_error(errors, self, "groups", "more than %llu terminals", (unsigned long long)MAX_TERMINALS);
    else if (routers * (config->routers - 1 + config->global) > MAX_CHANNELS)
        choice_error(errors, self, "groups", "more than %llu channels", (unsigned long long)MAX_CHANNELS);
}

static void bake(struct dragonfly *dragonfly, struct arena *arena)
{
    uint32_t routers = dragonfly->groups * dragonfly->routers, ranks = dragonfly->groups - 1;
    uint32_t *group_of = arena_array(arena, uint32_t, routers);
    uint16_t *place_of = arena_array(arena, uint16_t, routers);
    for (uint32_t router = 0; router < routers; router++) {
        group_of[router] = router / dragonfly->routers;
        place_of[router] = (uint16_t)(router % dragonfly->routers);
    }
    struct dragonfly_gate *gates = arena_array(arena, struct dragonfly_gate, (size_t)ranks * dragonfly->channels);
    for (uint32_t channel = 0; channel < ranks * dragonfly->channels; channel++)
        gates[channel % ranks * dragonfly->channels + channel / ranks] = (struct dragonfly_gate){
            .place = (uint16_t)(channel / dragonfly->globals),
            .port = (uint16_t)(dragonfly->first_global + channel % dragonfly->globals),
        };
    dragonfly->group_of = group_of;
    dragonfly->place_of = place_of;
    dragonfly->gates = gates;
}

static void dragonfly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct dragonfly_config *settings = config;
    struct dragonfly *dragonfly = arena_array(arena, struct dragonfly, 1);
    dragonfly->routers = settings->routers;
    dragonfly->globals = settings->global;
    dragonfly->groups = (uint32_t)group_count(settings);
    dragonfly->channels = settings->routers * settings->global / (dragonfly->groups - 1);
    dragonfly->first_global = settings->routers - 1;
    dragonfly->arrangement = settings->arrangement;
    bake(dragonfly, arena);
    topology->dragonfly = dragonfly;
    topology->routers = dragonfly->groups * settings->routers;
    topology->concentration = settings->terminals;
    topology->terminals = topology->routers * settings->terminals;
    topology->ports = settings->routers - 1 + settings->global;
    topology->channel_classes = 2;
    topology->channel_class_names = channel_names;
}

/* A group's neighbour of a rank: the inverse of dragonfly_rank. */
static uint32_t neighbour(const struct dragonfly *dragonfly, uint32_t group, uint32_t rank)
{
    uint32_t groups = dragonfly->groups;
    if (dragonfly->arrangement == DRAGONFLY_ABSOLUTE)
        return rank + (rank >= group);
    uint32_t offset = dragonfly->arrangement == DRAGONFLY_RELATIVE ? rank + 1
                      : rank % 2 == 0                              ? rank / 2 + 1
                                                                   : groups - 1 - rank / 2;
    return (group + offset) % groups;
}

static bool global_peer(const struct dragonfly *dragonfly, uint32_t group, uint32_t channel, struct router_port *peer)
{
    uint32_t ranks = dragonfly->groups - 1, parallel = channel / ranks;
    if (parallel >= dragonfly->channels)
        return false;
    uint32_t other = neighbour(dragonfly, group, channel % ranks);
    const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, other, group) + parallel;
    *peer = (struct router_port){dragonfly_router(dragonfly, other, gate->place), gate->port};
    return true;
}

static bool dragonfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->dragonfly;
    uint32_t group = dragonfly_group(dragonfly, router), place = dragonfly_place(dragonfly, router);
    if (port >= dragonfly->first_global)
        return global_peer(dragonfly, group, place * dragonfly->globals + port - dragonfly->first_global, peer);
    uint32_t other = port + (port >= place);
    *peer = (struct router_port){dragonfly_router(dragonfly, group, other), dragonfly_local_port(other, place)};
    return true;
}

static uint32_t dragonfly_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    (void)router;
    return port >= topology->dragonfly->first_global;
}

/* Is there a router to which both have a global channel? */
static bool meet_in_a_third_group(const struct topology *topology, uint32_t from, uint32_t to)
{
    struct router_port a, b;
    for (uint32_t i = topology->dragonfly->first_global; i < topology->ports; i++)
        for (uint32_t j = topology->dragonfly->first_global;
             j < topology->ports && dragonfly_peer(topology, from, i, &a); j++)
            if (dragonfly_peer(topology, to, j, &b) && a.router == b.router)
                return true;
    return false;
}

/* Local, global, local; by the best of the parallel channels; and two global channels may be shorter than three. */
static uint32_t dragonfly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = topology->dragonfly;
    uint32_t here = dragonfly_group(dragonfly, from), there = dragonfly_group(dragonfly, to), best = 3;
    if (here == there)
        return from != to;
    const struct dragonfly_gate *out = dragonfly_gates(dragonfly, here, there);
    const struct dragonfly_gate *in = dragonfly_gates(dragonfly, there, here);
    for (uint32_t i = 0; i < dragonfly->channels; i++) {
        uint32_t hops =
            1u + (out[i].place != dragonfly_place(dragonfly, from)) + (in[i].place != dragonfly_place(dragonfly, to));
        best = hops < best ? hops : best;
    }
    return best == 3 && meet_in_a_third_group(topology, from, to) ? 2 : best;
}

static const struct topology_ops dragonfly = {
    .name = "dragonfly",
    .summary = "fully connected groups of routers, every two groups joined by global channels",
    .options = dragonfly_options,
    .config_size = sizeof(struct dragonfly_config),
    .example = "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 4, \"global\": 2}",
    .check = dragonfly_check,
    .shape = dragonfly_shape,
    .peer = dragonfly_peer,
    .distance = dragonfly_distance,
    .channel_class = dragonfly_channel_class,
};
REGISTER_TOPOLOGY(dragonfly);

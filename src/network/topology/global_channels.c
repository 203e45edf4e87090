/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The global channels of a group are counted through, in the order of its routers:
 * channel c is global port c mod h of the router with number c / h among those
 * that have h such ports each. They go to the g - 1 other groups in ranks: channel
 * c leads to the neighbour of rank c mod (g - 1), so that with fewer groups than
 * there could be each pair has floor(channels of a group / (g - 1)) parallel
 * channels; the last ones of every group that do not suffice for all neighbours
 * are unused. The arrangement says which group is group i's neighbour of rank r:
 *
 *     absolute    r if r < i, else r + 1: all groups in order ("consecutive")
 *     relative    i + r + 1 mod g: the next group first
 *     circulant   i + 1, i - 1, i + 2, i - 2, ... mod g
 *     palm_tree   i - r - 1 mod g: the group before it first
 *     file        as listed there: global_file.c
 *
 * The first three are those of Hastings et al. 2015, who compare them; the palm
 * tree is that of Camarero, Vallejo and Beivide 2014, the mirror image of relative:
 * the two are one network with the groups numbered in opposite directions, but
 * traffic to the next group meets different routers.
 *   Channel number m between two groups is number m for both of them.
 */
#include "network/topology/global_channels.h"

#include "config/json.h"
#include "network/topology/sizes.h"

#include <inttypes.h>

const char dragonfly_family[] = "dragonfly";

#define MAX_FILE_GROUPS 8192 /* a file takes a table of their pairs */

const char *const arrangement_names[] = {"absolute", "relative", "circulant", "palm_tree", "file", NULL};

/* With as many groups as were asked for, or else as its routers with global channels can join. */
static struct dragonfly global_describe(const struct dragonfly_kind *kind, const struct global_config *config)
{
    struct dragonfly dragonfly = kind->describe(config);
    uint64_t gates = dragonfly.routers - dragonfly.first_gate, most = gates * config->global + 1;
    dragonfly.groups = config->groups ? config->groups : most < FW_NONE ? (uint32_t)most : FW_NONE;
    dragonfly.globals = config->global;
    return dragonfly;
}

/* ---- judging ---- */

static void check_file(const struct choice *self, struct dragonfly *dragonfly, const struct global_config *config,
                       struct errors *errors)
{
    struct arena scratch = {0};
    bool is_wanted = config->arrangement == DRAGONFLY_FROM_FILE;
    if (is_wanted && !config->file)
        choice_error(errors, self, "arrangement", "\"file\" needs a file: give its name as file");
    else if (is_wanted && dragonfly->groups > MAX_FILE_GROUPS)
        choice_error(errors, self, "groups", "%u groups; accepted with a file: 2 to %u", dragonfly->groups,
                     MAX_FILE_GROUPS);
    else if (is_wanted)
        global_read(dragonfly, config->file, &scratch, self, errors);
    arena_release(&scratch);
}

void global_check(const struct choice *self, struct errors *errors)
{
    const struct global_config *config = self->config;
    const struct dragonfly_kind *kind = CHOICE_OPS(self, struct dragonfly_kind);
    struct dragonfly described = global_describe(kind, config);
    uint32_t before = errors->count;
    if (described.routers > MAX_GROUP_ROUTERS) {
        choice_error(errors, self, NULL, "%u routers in a group; accepted: up to %u", described.routers,
                     MAX_GROUP_ROUTERS);
        return;
    }
    uint64_t gate_count = described.routers - described.first_gate, most = gate_count * config->global + 1;
    uint64_t routers = (uint64_t)described.groups * described.routers;
    if (described.groups > most)
        choice_error(errors, self, "groups",
                     "%u groups; accepted: 2 to %s * global + 1 = %" PRIu64 ", or global from %" PRIu64 " on",
                     described.groups, kind->gates, most, (described.groups - 2 + gate_count) / gate_count);
    else
        topology_check_size(self, "groups", (uint64_t)described.groups * described.hosts * config->terminals,
                            routers * described.ports, errors);
    if (errors->count == before)
        check_file(self, &described, config, errors);
}

/* ---- making ---- */

static void bake_places(struct dragonfly *dragonfly, struct arena *arena)
{
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    uint32_t *group_of = arena_array(arena, uint32_t, routers);
    uint16_t *place_of = arena_array(arena, uint16_t, routers);
    for (uint32_t router = 0; router < routers; router++) {
        group_of[router] = router / dragonfly->routers;
        place_of[router] = (uint16_t)(router % dragonfly->routers);
    }
    dragonfly->group_of = group_of;
    dragonfly->place_of = place_of;
    if (dragonfly->shape == GROUP_GRID) {
        uint16_t *row_of = arena_array(arena, uint16_t, dragonfly->routers);
        for (uint32_t place = 0; place < dragonfly->routers; place++)
            row_of[place] = (uint16_t)(place / dragonfly->columns);
        dragonfly->row_of = row_of;
    }
}

static void bake_gates(struct dragonfly *dragonfly, struct arena *arena)
{
    uint32_t ranks = dragonfly->groups - 1;
    dragonfly->channels = (dragonfly->routers - dragonfly->first_gate) * dragonfly->globals / ranks;
    struct dragonfly_gate *gates = arena_array(arena, struct dragonfly_gate, (size_t)ranks * dragonfly->channels);
    for (uint32_t channel = 0; channel < ranks * dragonfly->channels; channel++)
        gates[channel % ranks * dragonfly->channels + channel / ranks] = (struct dragonfly_gate){
            .place = (uint16_t)(dragonfly->first_gate + channel / dragonfly->globals),
            .port = (uint16_t)(dragonfly->first_global + channel % dragonfly->globals),
        };
    dragonfly->gates = gates;
}

static void bake_file(struct dragonfly *dragonfly, const char *path, struct arena *arena)
{
    const struct json nowhere = {.type = JSON_NULL};
    const struct choice self = {.node = &nowhere};
    struct errors errors = {.arena = arena};
    FW_CHECK(global_read(dragonfly, path, arena, &self, &errors),
             "the file of the global channels has changed since it was checked");
}

void global_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct global_config *settings = config;
    const struct dragonfly_kind *kind = (const struct dragonfly_kind *)topology->ops;
    struct dragonfly *dragonfly = arena_array(arena, struct dragonfly, 1);
    *dragonfly = global_describe(kind, settings);
    dragonfly->arrangement = settings->arrangement;
    bake_places(dragonfly, arena);
    if (dragonfly->arrangement == DRAGONFLY_FROM_FILE)
        bake_file(dragonfly, settings->file, arena);
    else
        bake_gates(dragonfly, arena);
    topology->family = dragonfly_family;
    topology->facts = dragonfly;
    topology->routers = dragonfly->groups * dragonfly->routers;
    topology->terminals = dragonfly->groups * dragonfly->hosts * settings->terminals;
    topology->concentration = dragonfly->hosts == dragonfly->routers ? settings->terminals : 0;
    topology->ports = dragonfly->ports;
    topology->channel_classes = kind->channel_classes;
    topology->channel_class_names = kind->channel_class_names;
}

/* ---- answering ---- */

/* Rows come before columns, and local channels before global ones. */
uint32_t global_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct dragonfly *dragonfly = topology->facts;
    if (is_global(dragonfly, router, port))
        return topology->channel_classes - 1;
    return dragonfly->shape == GROUP_GRID && port >= (dragonfly->columns - 1) * dragonfly->row_channels;
}

/* A group's neighbour of a rank: the inverse of dragonfly_rank. */
static uint32_t neighbour(const struct dragonfly *dragonfly, uint32_t group, uint32_t rank)
{
    uint32_t groups = dragonfly->groups;
    switch (dragonfly->arrangement) {
    case DRAGONFLY_ABSOLUTE:
        return rank + (rank >= group);
    case DRAGONFLY_RELATIVE:
        return (group + rank + 1) % groups;
    case DRAGONFLY_PALM_TREE:
        return (group + groups - rank - 1) % groups;
    default:
        return (group + (rank % 2 == 0 ? rank / 2 + 1 : groups - 1 - rank / 2)) % groups;
    }
}

bool global_peer(const struct dragonfly *dragonfly, uint32_t router, uint32_t port, struct router_port *peer)
{
    uint32_t group = dragonfly_group(dragonfly, router), place = dragonfly_place(dragonfly, router);
    uint32_t global = port - dragonfly->first_global;
    if (global >= dragonfly->globals)
        return false;
    if (dragonfly->far_ends) {
        *peer = dragonfly->far_ends[(size_t)router * dragonfly->globals + global];
        return peer->router != FW_NONE;
    }
    uint32_t channel = (place - dragonfly->first_gate) * dragonfly->globals + global;
    uint32_t ranks = dragonfly->groups - 1, parallel = channel / ranks;
    if (parallel >= dragonfly->channels)
        return false;
    uint32_t other = neighbour(dragonfly, group, channel % ranks);
    const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, other, group) + parallel;
    *peer = (struct router_port){dragonfly_router(dragonfly, other, gate->place), gate->port};
    return true;
}

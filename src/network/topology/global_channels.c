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
 *     file        as listed there, see below
 *
 * The first three are those of Hastings et al. 2015, who compare them; the palm
 * tree is that of Camarero, Vallejo and Beivide 2014, the mirror image of relative:
 * the two are one network with the groups numbered in opposite directions, but
 * traffic to the next group meets different routers.
 *   Channel number m between two groups is number m for both of them.
 */
#include "network/topology/global_channels.h"

#include "config/json.h"
#include "flitwarp/bits.h"
#include "network/line_file.h"
#include "network/topology/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/*
 * Global channels from a file: lines "router,router" or "router,router,channels",
 * by the numbers that routers have in the whole network. The global ports of a
 * router are in the order of the lines that name it. Every two groups must be
 * joined, since ways go by one global channel or by a group between.
 */

struct global_reader {
    struct line_file file;
    struct dragonfly *dragonfly;
    struct router_port *far_ends; /* by router * globals + global port */
    uint32_t *lines;              /* that said so */
    uint32_t *used;               /* by router: ports */
};

/* ---- lines ---- */

static bool has_globals(const struct global_reader *reader, uint32_t router)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    if (router >= routers)
        return line_error(&reader->file, "there is no router %u; accepted: 0 to %u", router, routers - 1);
    if (router % dragonfly->routers < dragonfly->first_gate)
        return line_error(&reader->file,
                          "router %u has no global channels; in each group those from its number %u on have", router,
                          dragonfly->first_gate);
    return true;
}

static bool is_new(const struct global_reader *reader, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    size_t first = (size_t)from * dragonfly->globals;
    if (from / dragonfly->routers == to / dragonfly->routers)
        return line_error(&reader->file, "routers %u and %u are both in group %u", from, to, from / dragonfly->routers);
    for (size_t i = first; i < first + reader->used[from]; i++)
        if (reader->far_ends[i].router == to)
            return line_error(&reader->file,
                              "routers %u and %u are joined by line %u already; give the number of channels there",
                              from, to, reader->lines[i]);
    return true;
}

static bool has_global_room(const struct global_reader *reader, uint32_t router, uint32_t channels)
{
    uint32_t globals = reader->dragonfly->globals, left = globals - reader->used[router];
    return channels <= left ||
           line_error(&reader->file, "router %u has ports for %u global channels, of which %u are left, not %u", router,
                      globals, left, channels);
}

static void join_globals(struct global_reader *reader, uint32_t from, uint32_t to, uint32_t count)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    for (; count > 0; count--) {
        struct router_port here = {from, reader->used[from]++}, there = {to, reader->used[to]++};
        size_t out = (size_t)from * dragonfly->globals + here.port, back = (size_t)to * dragonfly->globals + there.port;
        here.port += dragonfly->first_global;
        there.port += dragonfly->first_global;
        reader->far_ends[out] = there, reader->lines[out] = reader->file.line;
        reader->far_ends[back] = here, reader->lines[back] = reader->file.line;
    }
}

static bool global_read_line(void *context, char *line)
{
    struct global_reader *reader = context;
    const char *text = line + strspn(line, " \t");
    bool is_header = reader->file.line == 1 && strncmp(text, "router,", strlen("router,")) == 0;
    if (!*text || is_header)
        return true;
    double numbers[3] = {0, 0, 1};
    bool is_whole = text[strspn(text, "0123456789, \t")] == '\0' && line_numbers(text, numbers, 3) >= 2;
    if (!is_whole || numbers[2] == 0 || fmax(fmax(numbers[0], numbers[1]), numbers[2]) >= FW_NONE)
        return line_error(&reader->file, "\"%s\" is no router,router[,channels]", text);
    uint32_t from = (uint32_t)numbers[0], to = (uint32_t)numbers[1], channels = (uint32_t)numbers[2];
    if (!has_globals(reader, from) || !has_globals(reader, to) || !is_new(reader, from, to) ||
        !has_global_room(reader, from, channels) || !has_global_room(reader, to, channels))
        return false;
    join_globals(reader, from, to, channels);
    return true;
}

/* ---- gates ---- */

/* Lists the channels of each pair of groups, in the order of the lower group's routers and ports on both sides. */
static void list_gates(struct global_reader *reader, struct arena *arena)
{
    struct dragonfly *dragonfly = reader->dragonfly;
    uint32_t groups = dragonfly->groups, globals = dragonfly->globals, routers = groups * dragonfly->routers;
    size_t pairs = (size_t)groups * groups, total = 0;
    uint32_t *first = arena_array(arena, uint32_t, pairs + 2) + 1; /* counts, then where the next one goes */
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = 0; port < reader->used[router]; port++, total++) {
            uint32_t other = reader->far_ends[(size_t)router * globals + port].router / dragonfly->routers;
            first[(size_t)router / dragonfly->routers * groups + other + 1]++;
        }
    for (size_t pair = 0; pair < pairs; pair++)
        first[pair + 1] += first[pair];
    struct dragonfly_gate *gates = arena_array(arena, struct dragonfly_gate, total);
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = 0; port < reader->used[router]; port++) {
            struct router_port end = reader->far_ends[(size_t)router * globals + port];
            uint32_t group = router / dragonfly->routers, other = end.router / dragonfly->routers;
            if (group > other)
                continue;
            gates[first[(size_t)group * groups + other]++] = (struct dragonfly_gate){
                (uint16_t)(router % dragonfly->routers), (uint16_t)(dragonfly->first_global + port)};
            gates[first[(size_t)other * groups + group]++] =
                (struct dragonfly_gate){(uint16_t)(end.router % dragonfly->routers), (uint16_t)end.port};
        }
    dragonfly->first_gates = first - 1; /* each has moved on to where the next pair begins */
    dragonfly->gates = gates;
    dragonfly->far_ends = reader->far_ends;
}

static bool are_all_joined(const struct global_reader *reader)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    for (uint32_t group = 0; group < dragonfly->groups; group++)
        for (uint32_t other = 0; other < group; other++)
            if (!dragonfly_channels(dragonfly, group, other))
                return line_file_error(&reader->file,
                                       "no global channel joins groups %u and %u; every two of the %u groups need one",
                                       other, group, dragonfly->groups);
    return true;
}

/* Reads the channels. False, with errors that name file and line, where that is no network. */
static bool global_read(struct dragonfly *dragonfly, const char *path, struct arena *arena, const struct choice *self,
                        struct errors *errors)
{
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    size_t ends = (size_t)routers * dragonfly->globals;
    struct global_reader reader = {
        .file = {.path = path, .node = self->node, .key = "file", .errors = errors},
        .dragonfly = dragonfly,
        .far_ends = arena_array(arena, struct router_port, ends),
        .lines = arena_array(arena, uint32_t, ends),
        .used = arena_array(arena, uint32_t, routers),
    };
    for (size_t i = 0; i < ends; i++)
        reader.far_ends[i].router = FW_NONE;
    if (!line_file_read(&reader.file, global_read_line, &reader))
        return false;
    list_gates(&reader, arena);
    return are_all_joined(&reader);
}

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

static void bake_behind_globals(struct dragonfly *dragonfly, struct arena *arena)
{
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    uint64_t *behind = arena_array(arena, uint64_t, routers);
    struct router_port peer;
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = dragonfly->first_global; port < dragonfly->ports; port++)
            if (global_peer(dragonfly, router, port, &peer))
                behind[router] |= bit(peer.router % WORD_BITS);
    dragonfly->behind_globals = behind;
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
    bake_behind_globals(dragonfly, arena);
    topology->family = dragonfly_family;
    topology->facts = dragonfly;
    dragonfly->self = FW_SELF(dragonfly);
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

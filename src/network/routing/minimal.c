/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimal routing by table, on any topology: breadth-first search from every
 * router finds, for each pair, the ports that lead one hop closer. The table
 * holds for a pair where its list of ports begins in one pool; equal lists are
 * kept once, so that the pool stays small:
 *
 *     lists[there * routers + here] -> pool: count, port, port, ...
 *
 * With a VC class for every hop (the default) a packet always waits for a higher
 * class than it holds, and there is no deadlock whatever the topology.
 */
#include "flitwarp/routing.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE_ROUTERS 16384

enum select { SELECT_RANDOM, SELECT_ALL, SELECT_FIRST };
enum vcs { VCS_HOPS, VCS_ALL };

struct minimal_config {
    uint32_t select;
    uint32_t vcs;
};

static const char *const select_names[] = {"random", "all", "first", NULL};
static const char *const vcs_names[] = {"hops", "all", NULL};

static const struct option minimal_options[] = {
    OPTION_ENUM(struct minimal_config, select, "\"random\"", select_names,
                "among minimal ports: one at random, all of them (VC allocation picks), or the first"),
    OPTION_ENUM(struct minimal_config, vcs, "\"hops\"", vcs_names,
                "hops: a VC class for each hop, free of deadlock; all: any VC, no guarantee"),
    OPTION_END,
};

struct minimal {
    const uint32_t *lists; /* by there * routers + here: index into pool */
    const uint32_t *pool;
    enum select select;
    bool counts_hops;
};

/* What is needed while the table is built. */
struct table_builder {
    const struct topology *topology;
    struct search search;
    uint32_t *pool;
    uint32_t used, room; /* of pool */
    uint32_t *slots;     /* hash table of lists in the pool; 0: empty */
    uint32_t slot_count; /* a power of two */
    uint32_t list_count;
    uint8_t *injects, *ejects; /* by router: does a terminal? */
    uint32_t longest;          /* hops that a packet makes */
};

static uint32_t *list_slot(const struct table_builder *builder, const uint32_t *list)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i <= list[0]; i++)
        hash = (hash ^ list[i]) * 0x9e3779b97f4a7c15u;
    uint32_t mask = builder->slot_count - 1, slot = (uint32_t)(hash >> 32) & mask;
    while (builder->slots[slot] &&
           memcmp(builder->pool + builder->slots[slot], list, sizeof *list * ((size_t)list[0] + 1)) != 0)
        slot = (slot + 1) & mask;
    return &builder->slots[slot];
}

static void grow_slots(struct table_builder *builder)
{
    uint32_t *old = builder->slots, old_count = builder->slot_count;
    builder->slot_count = old_count ? 2 * old_count : 64;
    builder->slots = memory_take(sizeof *old * builder->slot_count);
    memset(builder->slots, 0, sizeof *old * builder->slot_count);
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i])
            *list_slot(builder, builder->pool + old[i]) = old[i];
    free(old);
}

/* Writes the ports that lead closer behind the pool's end, and keeps them there unless the pool has them already. */
static uint32_t find_list(struct table_builder *builder, uint32_t router)
{
    uint32_t ports = builder->topology->ports;
    if (builder->used + ports + 1 > builder->room) {
        builder->room = 2 * builder->room + ports + 1;
        builder->pool = memory_resize(builder->pool, sizeof *builder->pool * builder->room);
    }
    uint32_t *list = builder->pool + builder->used;
    list[0] = 0;
    for (uint32_t port = 0; port < ports; port++) {
        uint32_t neighbour = builder->search.neighbours[(size_t)router * ports + port];
        if (neighbour != NONE && builder->search.distance[neighbour] + 1 == builder->search.distance[router])
            list[++list[0]] = port;
    }
    uint32_t *slot = list_slot(builder, list);
    if (*slot)
        return *slot;
    uint32_t found = *slot = builder->used;
    builder->used += list[0] + 1;
    if (++builder->list_count * 2 > builder->slot_count)
        grow_slots(builder);
    return found;
}

static void find_hosts(struct table_builder *builder, struct arena *arena)
{
    const struct topology *topology = builder->topology;
    builder->injects = arena_array(arena, uint8_t, topology->routers);
    builder->ejects = arena_array(arena, uint8_t, topology->routers);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        builder->injects[topology_router_of(topology, terminal)] = 1;
        builder->ejects[topology_ejects_at(topology, terminal)] = 1;
    }
}

static bool fill_table(struct table_builder *builder, uint32_t *lists)
{
    uint32_t routers = builder->topology->routers;
    const uint32_t *distance = builder->search.distance;
    for (uint32_t there = 0; there < routers; there++) {
        search_from(&builder->search, there);
        if (builder->search.reached < routers)
            return false;
        for (uint32_t here = 0; here < routers; here++) {
            lists[(size_t)there * routers + here] = find_list(builder, here);
            if (builder->ejects[there] && builder->injects[here] && distance[here] > builder->longest)
                builder->longest = distance[here];
        }
    }
    return true;
}

static void minimal_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    const struct topology *topology = routing->topology;
    const struct minimal_config *config = self->config;
    if (topology->routers > MAX_TABLE_ROUTERS) {
        choice_error(errors, self, NULL, "\"minimal\" keeps a table of all pairs of at most %u routers; there are %u",
                     MAX_TABLE_ROUTERS, topology->routers);
        return;
    }
    struct arena scratch = {0};
    struct table_builder builder = {
        .topology = topology,
        .pool = memory_take(sizeof(uint32_t)),
        .used = 1, /* 0 stands for an empty slot */
        .room = 1,
    };
    builder.pool[0] = 0;
    grow_slots(&builder);
    search_init(&builder.search, topology, &scratch);
    find_hosts(&builder, &scratch);
    uint32_t *lists = arena_array(arena, uint32_t, (size_t)topology->routers * topology->routers);
    if (!fill_table(&builder, lists))
        choice_error(errors, self, NULL, "some routers of this \"%s\" cannot be reached from others",
                     topology->ops->name);
    uint32_t *pool = arena_array(arena, uint32_t, builder.used);
    memcpy(pool, builder.pool, sizeof *pool * builder.used);
    free(builder.pool);
    free(builder.slots);
    arena_release(&scratch);

    struct minimal *minimal = arena_array(arena, struct minimal, 1);
    *minimal = (struct minimal){lists, pool, config->select, config->vcs == VCS_HOPS};
    routing->state = minimal;
    routing->classes = minimal->counts_hops && builder.longest > 1 ? builder.longest : 1;
}

static void minimal_route(struct route *route)
{
    const struct minimal *minimal = route->routing->state;
    const struct packet *packet = route->packet;
    if (route->router == packet->destination_router) {
        route_eject(route);
        return;
    }
    size_t pair = (size_t)packet->destination_router * route->routing->topology->routers + route->router;
    const uint32_t *list = minimal->pool + minimal->lists[pair];
    uint32_t count = list[0], class = minimal->counts_hops ? packet->hops : 0;
    if (minimal->select == SELECT_ALL)
        for (uint32_t i = 1; i <= count; i++)
            route_add(route, list[i], class);
    else
        route_add(route, list[1 + (minimal->select == SELECT_RANDOM && count > 1 ? route_pick(route, count) : 0)],
                  class);
}

static const struct routing_ops minimal = {
    .name = "minimal",
    .summary = "a shortest way by table, on any topology",
    .options = minimal_options,
    .config_size = sizeof(struct minimal_config),
    .example = "{\"type\": \"minimal\", \"select\": \"all\", \"vcs\": \"hops\"}",
    .is_minimal = true,
    .prepare = minimal_prepare,
    .route = minimal_route,
};
REGISTER_ROUTING(minimal);

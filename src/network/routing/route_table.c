/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of shortest ways. Equal lists are kept once, so that the pool stays
 * small: two routers that see a destination through the same ports at the same
 * distance share one.
 */
#include "flitwarp/route_table.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE_ROUTERS 16384

/* What is needed while the table is built. */
struct builder {
    const struct topology *topology;
    struct search search;
    uint32_t *pool;
    uint32_t used, room; /* of pool */
    uint32_t *slots;     /* hash table of lists in the pool; 0: empty */
    uint32_t slot_count; /* a power of two */
    uint32_t list_count;
    uint8_t *injects, *ejects; /* by router: does a terminal? */
    struct route_table *table;
};

static uint32_t list_words(const uint32_t *list) { return ROUTE_TABLE_PORTS + list[ROUTE_TABLE_COUNT]; }

static uint32_t *list_slot(const struct builder *builder, const uint32_t *list)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < list_words(list); i++)
        hash = (hash ^ list[i]) * 0x9e3779b97f4a7c15u;
    uint32_t mask = builder->slot_count - 1, slot = (uint32_t)(hash >> 32) & mask;
    while (builder->slots[slot] &&
           memcmp(builder->pool + builder->slots[slot], list, sizeof *list * list_words(list)) != 0)
        slot = (slot + 1) & mask;
    return &builder->slots[slot];
}

static void route_table_grow(struct builder *builder)
{
    uint32_t *old = builder->slots, old_count = builder->slot_count;
    builder->slot_count = old_count ? 2 * old_count : 64;
    builder->slots = memory_take(sizeof *old * builder->slot_count);
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i])
            *list_slot(builder, builder->pool + old[i]) = old[i];
    free(old);
}

/* Writes the ports that lead closer behind the pool's end, and keeps them there unless the pool has them already. */
static uint32_t find_list(struct builder *builder, uint32_t router)
{
    uint32_t ports = builder->topology->ports;
    if (builder->used + ports + ROUTE_TABLE_PORTS > builder->room) {
        builder->room = 2 * builder->room + ports + ROUTE_TABLE_PORTS;
        builder->pool = memory_resize(builder->pool, sizeof *builder->pool * builder->room);
    }
    uint32_t *list = builder->pool + builder->used, count = 0, distance = builder->search.distance[router];
    for (uint32_t port = 0; port < ports; port++) {
        uint32_t neighbour = builder->search.neighbours[(size_t)router * ports + port];
        if (neighbour != FW_NONE && builder->search.distance[neighbour] + 1 == distance)
            list[ROUTE_TABLE_PORTS + count++] = port;
    }
    if (distance == FW_NONE)
        count = 0;
    list[ROUTE_TABLE_COUNT] = count;
    list[ROUTE_TABLE_DISTANCE] = distance;
    uint32_t *slot = list_slot(builder, list);
    if (*slot)
        return *slot;
    uint32_t found = *slot = builder->used;
    builder->used += list_words(list);
    if (++builder->list_count * 2 > builder->slot_count)
        route_table_grow(builder);
    return found;
}

static bool fill_lists(struct builder *builder, uint32_t *lists)
{
    uint32_t routers = builder->topology->routers, first = builder->table->first, width = builder->table->width;
    const uint32_t *distance = builder->search.distance;
    for (uint32_t there = 0; there < routers; there++) {
        search_from(&builder->search, there);
        if (builder->search.reached < routers && !builder->topology->islands)
            return false;
        for (uint32_t here = 0; here < routers; here++) {
            if (here - first < width)
                lists[(size_t)there * width + here - first] = find_list(builder, here);
            if (distance[here] == FW_NONE)
                continue;
            if (distance[here] > builder->table->diameter)
                builder->table->diameter = distance[here];
            if (builder->ejects[there] && builder->injects[here] && distance[here] > builder->table->longest)
                builder->table->longest = distance[here];
        }
    }
    return true;
}

static const struct route_table *create(const struct routing *routing, const struct choice *self, uint32_t first,
                                        uint32_t width, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    if (topology->routers > MAX_TABLE_ROUTERS) {
        choice_error(errors, self, NULL, "\"%s\" keeps a table of all pairs of at most %u routers; there are %u",
                     self->component->name, MAX_TABLE_ROUTERS, topology->routers);
        return NULL;
    }
    struct arena scratch = {0};
    uint32_t *lists = arena_array(arena, uint32_t, (size_t)topology->routers * width);
    struct builder builder = {
        .topology = topology,
        .pool = memory_take(sizeof(uint32_t)),
        .used = 1, /* 0 stands for an empty slot */
        .room = 1,
        .injects = arena_array(&scratch, uint8_t, topology->routers),
        .ejects = arena_array(&scratch, uint8_t, topology->routers),
        .table = arena_array(arena, struct route_table, 1),
    };
    *builder.table = (struct route_table){.first = first, .width = width, .self = FW_SELF(builder.table)};
    builder.pool[0] = 0;
    route_table_grow(&builder);
    search_init(&builder.search, topology, &scratch);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        builder.injects[topology_router_of(topology, terminal)] = 1;
        builder.ejects[topology_ejects_at(topology, terminal)] = 1;
    }
    bool is_connected = fill_lists(&builder, lists);
    if (!is_connected)
        choice_error(errors, self, NULL, "some routers of this \"%s\" cannot be reached from others",
                     topology->ops->name);
    uint32_t *pool = arena_array(arena, uint32_t, builder.used);
    memcpy(pool, builder.pool, sizeof *pool * builder.used);
    builder.table->lists = lists;
    builder.table->pool = pool;
    free(builder.pool);
    free(builder.slots);
    arena_release(&scratch);
    return is_connected ? builder.table : NULL;
}

const struct route_table *route_table_create(const struct routing *routing, const struct choice *self,
                                             struct arena *arena, struct errors *errors)
{
    return create(routing, self, 0, routing->topology->routers, arena, errors);
}

const struct route_table *route_table_create_here(const struct routing *routing, const struct choice *self,
                                                  struct arena *arena, struct errors *errors)
{
    return create(routing, self, routing->first_asked, routing->end_asked - routing->first_asked, arena, errors);
}

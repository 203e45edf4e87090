/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ports, see port_lists.h. */
#include "network/routing/port_lists.h"

#include "flitwarp/route_table.h"

#include <stdlib.h>
#include <string.h>

static uint32_t list_words(const uint32_t *list) { return ROUTE_TABLE_PORTS + list[ROUTE_TABLE_COUNT]; }

static uint32_t *list_slot(const struct port_lists *lists, const uint32_t *list)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < list_words(list); i++)
        hash = (hash ^ list[i]) * 0x9e3779b97f4a7c15u;
    uint32_t mask = lists->slot_count - 1, slot = (uint32_t)(hash >> 32) & mask;
    while (lists->slots[slot] && memcmp(lists->pool + lists->slots[slot], list, sizeof *list * list_words(list)) != 0)
        slot = (slot + 1) & mask;
    return &lists->slots[slot];
}

static void grow(struct port_lists *lists)
{
    uint32_t *old = lists->slots, old_count = lists->slot_count;
    lists->slot_count = old_count ? 2 * old_count : 64;
    lists->slots = memory_take(sizeof *old * lists->slot_count);
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i])
            *list_slot(lists, lists->pool + old[i]) = old[i];
    free(old);
}

void port_lists_init(struct port_lists *lists)
{
    *lists = (struct port_lists){.pool = memory_take(sizeof *lists->pool), .used = 1, .room = 1}; /* 0: an empty slot */
    lists->pool[0] = 0;
    grow(lists);
}

uint32_t *port_lists_room(struct port_lists *lists, uint32_t ports)
{
    if (lists->used + ports + ROUTE_TABLE_PORTS > lists->room) {
        lists->room = 2 * lists->room + ports + ROUTE_TABLE_PORTS;
        lists->pool = memory_resize(lists->pool, sizeof *lists->pool * lists->room);
    }
    return lists->pool + lists->used;
}

uint32_t port_lists_keep(struct port_lists *lists)
{
    const uint32_t *list = lists->pool + lists->used;
    uint32_t *slot = list_slot(lists, list);
    if (*slot)
        return *slot;
    uint32_t found = *slot = lists->used;
    lists->used += list_words(list);
    if (++lists->list_count * 2 > lists->slot_count)
        grow(lists);
    return found;
}

const uint32_t *port_lists_finish(struct port_lists *lists, struct arena *arena)
{
    uint32_t *pool = arena_array(arena, uint32_t, lists->used);
    memcpy(pool, lists->pool, sizeof *pool * lists->used);
    free(lists->pool);
    free(lists->slots);
    *lists = (struct port_lists){0};
    return pool;
}

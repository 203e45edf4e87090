/* SPDX-License-Identifier: Apache-2.0 */
/* The table, see process_tombstones.h: open addressing, linear probing, removal by moving back what follows. */
#include "engine/process_tombstones.h"

#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, EMPTY = 0, TAKEN = 1 };

static void slots_create(struct tombstones *tombstones, uint32_t capacity)
{
    tombstones->capacity = capacity;
    tombstones->slots = memory_take(sizeof *tombstones->slots * capacity);
    memset(tombstones->slots, 0, sizeof *tombstones->slots * capacity);
}

void tombstones_init(struct tombstones *tombstones)
{
    tombstones->count = 0;
    slots_create(tombstones, FIRST_CAPACITY);
}

void tombstones_release(struct tombstones *tombstones) { free(tombstones->slots); }

static uint32_t tombstone_home(const struct tombstones *tombstones, const struct event *event)
{
    uint64_t hash = random_mix(event->tie ^ random_mix(event->process ^ (uint64_t)event->serial << 32));
    return (uint32_t)hash & (tombstones->capacity - 1);
}

static bool tombstone_is_of(const struct event *a, const struct event *b)
{
    return a->serial == b->serial && a->time == b->time && a->process == b->process && a->tie == b->tie;
}

static void tombstones_put(struct tombstones *tombstones, const struct event *event)
{
    uint32_t at = tombstone_home(tombstones, event);
    while (tombstones->slots[at].partition != EMPTY)
        at = (at + 1) & (tombstones->capacity - 1);
    tombstones->slots[at] = *event;
    tombstones->slots[at].partition = TAKEN;
}

void tombstones_add(struct tombstones *tombstones, const struct event *event)
{
    if (++tombstones->count > tombstones->capacity / 2) {
        struct tombstones old = *tombstones;
        slots_create(tombstones, old.capacity * 2);
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.slots[i].partition != EMPTY)
                tombstones_put(tombstones, &old.slots[i]);
        free(old.slots);
    }
    tombstones_put(tombstones, event);
}

/* Closes the gap at `hole`: an entry moves there unless its own place lies behind the hole. */
static void close_gap(struct tombstones *tombstones, uint32_t hole)
{
    uint32_t mask = tombstones->capacity - 1;
    for (uint32_t at = (hole + 1) & mask; tombstones->slots[at].partition != EMPTY; at = (at + 1) & mask) {
        uint32_t from_place = (at - tombstone_home(tombstones, &tombstones->slots[at])) & mask;
        if (from_place >= ((at - hole) & mask)) {
            tombstones->slots[hole] = tombstones->slots[at];
            hole = at;
        }
    }
    tombstones->slots[hole].partition = EMPTY;
}

bool tombstones_remove(struct tombstones *tombstones, const struct event *event)
{
    uint32_t at = tombstone_home(tombstones, event);
    while (tombstones->slots[at].partition != EMPTY && !tombstone_is_of(&tombstones->slots[at], event))
        at = (at + 1) & (tombstones->capacity - 1);
    if (tombstones->slots[at].partition == EMPTY)
        return false;
    close_gap(tombstones, at);
    tombstones->count--;
    return true;
}

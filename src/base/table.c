/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear probing over small slots (hash, entry); entries lie
 * in an array of their own and do not move when the slots grow. Removing shifts
 * what follows in the run of slots back, so that there are no graves.
 */
#include "base/table.h"

#include "flitwarp/error.h"
#include "base/rewind.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u
#define ALIGNMENT 16u

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Of an entry's key and marks; the value begins here. */
static size_t value_offset(void) { return aligned(sizeof(struct table_entry)); }

static struct table_entry *table_entry_at(const struct table *table, uint32_t index)
{
    return (struct table_entry *)(table->entries + index * table->entry_bytes);
}

static void *table_value_of(struct table_entry *entry) { return (unsigned char *)entry + value_offset(); }

const struct table_key *table_key_of(const void *value)
{
    return &((const struct table_entry *)((const unsigned char *)value - value_offset()))->key;
}

/* Each part goes through a multiplication whose high half, the well mixed one, is folded back. */
static uint32_t table_hash(const struct table_key *key)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 3; i++) {
        unsigned __int128 product =
            (unsigned __int128)(hash ^ key->part[i] ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

void table_init(struct table *table, size_t value_bytes, struct rewind *rewind)
{
    *table = (struct table){
        .entry_bytes = value_offset() + aligned(value_bytes), .slot_count = FIRST_SLOTS, .rewind = rewind};
    table->slots = rewind_take(rewind, FIRST_SLOTS * sizeof(*table->slots));
}

void table_release(struct table *table)
{
    rewind_give(table->rewind, table->entries);
    rewind_give(table->rewind, table->slots);
    *table = (struct table){0};
}

/* The slot that holds the key, or the free one where it would go. */
static struct table_slot *table_slot_of(const struct table *table, const struct table_key *key, uint32_t hash)
{
    uint32_t mask = table->slot_count - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        struct table_slot *slot = &table->slots[i];
        if (!slot->entry)
            return slot;
        if (slot->hash == hash && memcmp(&table_entry_at(table, slot->entry - 1)->key, key, sizeof(*key)) == 0)
            return slot;
    }
}

static void table_grow_slots(struct table *table)
{
    struct table_slot *old = table->slots;
    uint32_t old_count = table->slot_count;
    FW_CHECK(old_count < (uint32_t)1 << 31, "a table of %u entries is full", table->count);
    table->slot_count *= 2;
    table->slots = rewind_take(table->rewind, table->slot_count * sizeof(*table->slots));
    uint32_t mask = table->slot_count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        if (!old[i].entry)
            continue;
        uint32_t at = old[i].hash & mask;
        while (table->slots[at].entry)
            at = (at + 1) & mask;
        table->slots[at] = old[i];
    }
    rewind_give(table->rewind, old);
}

/* The index of an entry that is not in use. */
static uint32_t table_take_entry(struct table *table)
{
    if (table->first_free) {
        uint32_t index = table->first_free - 1;
        table->first_free = table_entry_at(table, index)->next_free;
        return index;
    }
    if (table->entry_count == table->room) {
        table->room = table->room ? table->room * 2 : FIRST_SLOTS;
        table->entries = rewind_resize(table->rewind, table->entries, table->room * table->entry_bytes);
    }
    return table->entry_count++;
}

void *table_put(struct table *table, const struct table_key *key)
{
    if (table->count >= table->slot_count / 2)
        table_grow_slots(table);
    uint32_t hash = table_hash(key);
    struct table_slot *slot = table_slot_of(table, key, hash);
    if (!slot->entry) {
        uint32_t index = table_take_entry(table);
        struct table_entry *entry = table_entry_at(table, index);
        memset(entry, 0, table->entry_bytes);
        entry->key = *key;
        entry->is_used = true;
        *slot = (struct table_slot){.hash = hash, .entry = index + 1};
        table->count++;
    }
    return table_value_of(table_entry_at(table, slot->entry - 1));
}

/* Fills the hole with what probed past it, again and again, until a run of slots ends. */
static void close_hole(struct table *table, uint32_t hole)
{
    uint32_t mask = table->slot_count - 1;
    for (uint32_t i = (hole + 1) & mask; table->slots[i].entry; i = (i + 1) & mask) {
        uint32_t from_home = (i - table->slots[i].hash) & mask;
        if (from_home < ((i - hole) & mask))
            continue; /* its home lies behind the hole */
        table->slots[hole] = table->slots[i];
        hole = i;
    }
    table->slots[hole] = (struct table_slot){0};
}

bool table_remove(struct table *table, const struct table_key *key)
{
    struct table_slot *slot = table_slot_of(table, key, table_hash(key));
    if (!slot->entry)
        return false;
    struct table_entry *entry = table_entry_at(table, slot->entry - 1);
    entry->is_used = false;
    entry->next_free = table->first_free;
    table->first_free = slot->entry;
    table->count--;
    close_hole(table, (uint32_t)(slot - table->slots));
    return true;
}

static int table_compare_keys(const void *a, const void *b)
{
    const struct table_key *x = table_key_of(*(void *const *)a), *y = table_key_of(*(void *const *)b);
    for (uint32_t i = 0; i < 3; i++)
        if (x->part[i] != y->part[i])
            return x->part[i] < y->part[i] ? -1 : 1;
    return 0;
}

void **table_sorted(const struct table *table)
{
    void **values = memory_take(table->count * sizeof(*values));
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->entry_count; i++)
        if (table_entry_at(table, i)->is_used)
            values[count++] = table_value_of(table_entry_at(table, i));
    qsort(values, count, sizeof(*values), table_compare_keys);
    return values;
}

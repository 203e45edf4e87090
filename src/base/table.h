/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A hash table from up to three numbers to a value of fixed size, for what has no
 * natural index: messages by (application, source, number), pairs of terminals.
 * Nothing that comes out of it depends on addresses or on the order of the slots:
 * a walk through the table goes by key.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct rewind;

struct table_key {
    uint64_t part[3];
};

/* One entry; its value follows. */
struct table_entry {
    struct table_key key;
    uint32_t next_free; /* index + 1 */
    bool is_used;
};

struct table_slot {
    uint32_t hash;  /* the low half of the key's; most others differ in it */
    uint32_t entry; /* index + 1; 0: the slot is free */
};

struct table {
    size_t entry_bytes;
    unsigned char *entries;   /* owned */
    struct table_slot *slots; /* owned; a power of two of them, at most half of them taken */
    uint32_t slot_count;
    uint32_t entry_count; /* used or free */
    uint32_t room;
    uint32_t first_free;   /* index + 1 */
    uint32_t count;        /* used */
    struct rewind *rewind; /* borrowed: where its memory comes from */
};

void table_init(struct table *table, size_t value_bytes, struct rewind *rewind);
void table_release(struct table *table);

/* Finds the value, or makes one of zeros. Values stay where they are until the next call. */
void *table_put(struct table *table, const struct table_key *key);
/* False: the key is not there. */
bool table_remove(struct table *table, const struct table_key *key);

/* The values in rising order of their keys, an array of table->count to be freed by the caller. */
void **table_sorted(const struct table *table);
/* The key of a value that the table gave out. */
const struct table_key *table_key_of(const void *value);

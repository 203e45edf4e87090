/* SPDX-License-Identifier: Apache-2.0 */
/* State of partitions, in pieces that the engine can find again, and the undo log, see process_state.h. */
#include "engine/process_rollback.h"

#include "base/loaded.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, FOOT = 2 };

struct process_region {
    struct process_region *next;
    size_t bytes;
    alignas(64) unsigned char data[];
};

void *process_memory(struct partition *partition, size_t bytes)
{
    struct process_region *region = memory_take_aligned(sizeof *region + bytes);
    memset(region->data, 0, bytes);
    region->next = partition->memory;
    region->bytes = bytes;
    partition->memory = region;
    return region->data;
}

void process_memory_release(struct partition *partition)
{
    for (struct process_region *region = partition->memory, *next; region; region = next) {
        next = region->next;
        free(region);
    }
    partition->memory = NULL;
}

size_t process_memory_size(const struct partition *partition)
{
    size_t bytes = 0;
    for (const struct process_region *region = partition->memory; region; region = region->next)
        bytes += region->bytes;
    return bytes;
}

uint64_t process_memory_hash(const struct partition *partition, size_t bytes)
{
    uint64_t hash = 0;
    size_t left = process_memory_size(partition);
    for (const struct process_region *region = partition->memory; region; region = region->next) {
        if (left <= bytes) /* newer regions come first */
            hash = random_mix(hash ^ bytes_checksum(region->data, region->bytes));
        left -= region->bytes;
    }
    return hash;
}

/* ---- rings ---- */

void log_ring_init(struct log_ring *ring, size_t item_size)
{
    *ring = (struct log_ring){.item_size = item_size, .capacity = FIRST_CAPACITY};
    ring->items = memory_take(item_size * FIRST_CAPACITY);
}

void log_ring_release(struct log_ring *ring) { free(ring->items); }

void log_ring_grow(struct log_ring *ring, uint64_t more)
{
    struct log_ring old = *ring;
    while (ring->next - ring->first + more > ring->capacity)
        ring->capacity *= 2;
    ring->items = memory_resize(NULL, ring->item_size * ring->capacity);
    for (uint64_t i = ring->first; i < ring->next; i++)
        memcpy(log_ring_at(ring, i), log_ring_at(&old, i), ring->item_size);
    free(old.items);
}

/* ---- the undo log ---- */

static uint64_t *word_at(const struct log_ring *undo, uint64_t position)
{
    return (uint64_t *)(void *)undo->items + (position & (undo->capacity - 1));
}

void undo_save(struct log_ring *undo, void *memory, size_t size)
{
    uint64_t *next = &undo->next;
    log_ring_reserve(undo, (size + 7) / 8 + FOOT);
    if (size == 8) { /* a counter or a pointer: most of what is saved */
        memcpy(word_at(undo, (*next)++), memory, 8);
    } else {
        const unsigned char *from = memory;
        for (size_t at = 0; at < size; at += 8) {
            uint64_t word = 0;
            memcpy(&word, from + at, size - at < 8 ? size - at : 8);
            *word_at(undo, (*next)++) = word;
        }
    }
    *word_at(undo, (*next)++) = (uint64_t)(uintptr_t)memory;
    *word_at(undo, (*next)++) = size;
}

void undo_to(struct log_ring *undo, uint64_t mark)
{
    uint64_t *next = &undo->next;
    while (*next > mark) {
        size_t size = *word_at(undo, *next - 1);
        unsigned char *to = (unsigned char *)(uintptr_t)*word_at(undo, *next - 2);
        *next -= FOOT + (size + 7) / 8;
        for (size_t at = 0; at < size; at += 8)
            memcpy(to + at, word_at(undo, *next + at / 8), size - at < 8 ? size - at : 8);
    }
}

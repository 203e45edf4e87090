/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of chunks, see chunks.h. Chunk n is of class n, and of the last class from there on. */
#include "workload/trace/chunks.h"

#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

static uint32_t chunk_class_of(uint32_t chunk) { return chunk < CHUNK_CLASSES ? chunk : CHUNK_CLASSES - 1; }

/* In units of the first chunk. */
static uint64_t units_before(uint32_t chunk)
{
    const uint32_t last = CHUNK_CLASSES - 1;
    return chunk <= last ? ((uint64_t)1 << chunk) - 1 : (((uint64_t)chunk - last + 1) << last) - 1;
}

static uint32_t chunk_of(uint64_t unit)
{
    const uint32_t last = CHUNK_CLASSES - 1;
    uint64_t large = (unit + 1) >> last;
    return large ? last + (uint32_t)large - 1 : 63 - (uint32_t)__builtin_clzll(unit + 1);
}

static void *take_chunk(struct chunk_store *store, uint32_t class)
{
    void *chunk = store->free[class];
    if (!chunk)
        return spill_take(store->spill, (size_t)FIRST_CHUNK << class);
    memcpy(&store->free[class], chunk, sizeof(void *));
    return chunk;
}

void *chunks_at(const struct chunks *chunks, uint32_t index, size_t element_bytes)
{
    uint32_t per_unit = (uint32_t)(FIRST_CHUNK / element_bytes);
    uint32_t chunk = chunk_of(index / per_unit);
    return (unsigned char *)chunks->items[chunk] + (index - units_before(chunk) * per_unit) * element_bytes;
}

void *chunks_add(struct chunks *chunks, struct chunk_store *store, size_t element_bytes)
{
    uint32_t chunk = chunk_of(chunks->count / (FIRST_CHUNK / element_bytes));
    if (chunk == chunks->chunk_count) {
        chunks->items = memory_grow(chunks->items, chunk, &chunks->room, sizeof *chunks->items);
        chunks->items[chunks->chunk_count++] = take_chunk(store, chunk_class_of(chunk));
    }
    return chunks_at(chunks, chunks->count++, element_bytes);
}

void chunks_copy(const struct chunks *chunks, size_t element_bytes, void *to)
{
    unsigned char *at = to;
    size_t left = chunks->count * element_bytes;
    for (uint32_t i = 0; i < chunks->chunk_count; i++) {
        size_t bytes = (size_t)FIRST_CHUNK << chunk_class_of(i);
        bytes = bytes < left ? bytes : left;
        memcpy(at, chunks->items[i], bytes);
        at += bytes;
        left -= bytes;
    }
}

void chunks_give(struct chunks *chunks, struct chunk_store *store)
{
    for (uint32_t i = 0; i < chunks->chunk_count; i++) {
        void **head = &store->free[chunk_class_of(i)];
        memcpy(chunks->items[i], head, sizeof *head);
        *head = chunks->items[i];
    }
    free(chunks->items);
    *chunks = (struct chunks){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing pools. They double, so that growth is rare; items are linked in
 * rising order, so that a young pool hands out neighbours.
 */
#include "base/pool.h"

#include "base/rewind.h"
#include "flitwarp/error.h"

#define FIRST_CAPACITY 256u

void pool_init(struct pool *pool, size_t item_size, struct rewind *rewind)
{
    *pool = (struct pool){.item_size = item_size, .free = FW_NONE, .rewind = rewind};
}

void pool_release(struct pool *pool)
{
    rewind_give(pool->rewind, pool->items);
    pool_init(pool, pool->item_size, pool->rewind);
}

/*
 * Items of a cache line must not straddle two, so the memory is aligned, which
 * realloc would not keep.
 */
void pool_grow(struct pool *pool)
{
    uint32_t old = pool->capacity;
    uint32_t capacity = old ? old * 2 : FIRST_CAPACITY;
    FW_CHECK(capacity > old && capacity < FW_NONE, "pool of %zu-byte items is full at %u", pool->item_size, old);
    size_t bytes = ((size_t)capacity * pool->item_size + 63) / 64 * 64;
    unsigned char *items = rewind_take_aligned(pool->rewind, bytes);
    if (old)
        __builtin_memcpy(items, pool->items, (size_t)old * pool->item_size);
    rewind_give(pool->rewind, pool->items);
    pool->items = items;
    pool->capacity = capacity;
    for (uint32_t index = capacity; index-- > old;) {
        *(uint32_t *)(void *)(items + (size_t)index * pool->item_size) = pool->free;
        pool->free = index;
    }
}

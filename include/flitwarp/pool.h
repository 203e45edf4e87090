/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Pools of things that come and go (packets, messages), named by index. Taking
 * one may move the pool in memory, so pointers into it are not kept across
 * pool_take; in the steady state nothing is allocated.
 */
#include "flitwarp/arena.h"
#include "flitwarp/packet.h"

struct rewind;

struct pool {
    unsigned char *items; /* owned; each item's first word links the free ones */
    size_t item_size;
    uint32_t capacity;
    uint32_t free;         /* first free index, NONE: full */
    uint32_t taken;        /* now in use */
    struct rewind *rewind; /* borrowed: where its memory comes from */
};

void pool_init(struct pool *pool, size_t item_size, struct rewind *rewind);
void pool_release(struct pool *pool);
void pool_grow(struct pool *pool);

static inline void *pool_at(const struct pool *pool, uint32_t index, size_t item_size)
{
    return pool->items + (size_t)index * item_size;
}

/* The content is whatever was there before. The size is the pool's; as a constant it spares a multiplication. */
static inline uint32_t pool_take(struct pool *pool, size_t item_size)
{
    if (__builtin_expect(pool->free == NONE, 0))
        pool_grow(pool);
    uint32_t index = pool->free;
    pool->free = *(uint32_t *)pool_at(pool, index, item_size);
    pool->taken++;
    return index;
}

static inline void pool_give(struct pool *pool, uint32_t index, size_t item_size)
{
    *(uint32_t *)pool_at(pool, index, item_size) = pool->free;
    pool->free = index;
    pool->taken--;
}

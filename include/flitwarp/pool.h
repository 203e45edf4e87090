/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Pools of things that come and go (packets, messages), named by index. Taking
 * one may move the pool in memory, so pointers into it are not kept.
 */
#include "flitwarp/arena.h"
#include "flitwarp/packet.h"

struct rewind;

struct pool {
    unsigned char *items; /* owned; each item's first word links the free ones */
    size_t item_size;
    uint32_t capacity;
    uint32_t linked; /* items that have been in use or are free; behind them lies memory that nobody has touched */
    uint32_t free;   /* first free index, FW_NONE: none that is linked */
    uint32_t taken;  /* now in use */
    struct rewind *rewind; /* borrowed: where its memory comes from */
};

static inline void *pool_at(const struct pool *pool, uint32_t index, size_t item_size)
{
    return pool->items + (size_t)index * item_size;
}

static inline void pool_give(struct pool *pool, uint32_t index, size_t item_size)
{
    *(uint32_t *)pool_at(pool, index, item_size) = pool->free;
    pool->free = index;
    pool->taken--;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Making pools and taking from them; what components see of them is flitwarp/pool.h. In the steady state nothing is allocated. */
#include "flitwarp/pool.h"

void pool_init(struct pool *pool, size_t item_size, struct rewind *rewind);
void pool_release(struct pool *pool);
void pool_grow(struct pool *pool);

/* The content is whatever was there before. The size is the pool's; as a constant it spares a multiplication. */
static inline uint32_t pool_take(struct pool *pool, size_t item_size)
{
    if (__builtin_expect(pool->free == FW_NONE, 0))
        pool_grow(pool);
    uint32_t index = pool->free;
    pool->free = *(uint32_t *)pool_at(pool, index, item_size);
    pool->taken++;
    return index;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Terminals in blocks of the same size by number, and the block that one sends to: a group of routers, a subtree. */
#include "flitwarp/traffic.h"

enum block_target { TARGET_OFFSET, TARGET_HALF, TARGET_OPPOSITE };
extern const char *const block_targets[];

/* False, with an error at option `key`, unless several blocks of this size hold all terminals. */
static inline bool blocks_fit(uint32_t size, const char *key, const struct choice *self,
                              const struct traffic_space *space, struct errors *errors)
{
    if (size < space->terminals && space->terminals % size == 0)
        return true;
    choice_error(errors, self, key, "%u terminals are not several blocks of %u", space->terminals, size);
    return false;
}

/* The block that a block sends to. */
static inline uint32_t block_target_of(uint32_t block, uint32_t blocks, uint32_t target, uint32_t offset)
{
    if (target == TARGET_OPPOSITE)
        return blocks - 1 - block;
    return (block + (target == TARGET_HALF ? blocks / 2 : offset)) % blocks;
}

/* Any terminal of a block. */
static inline uint32_t block_draw(uint32_t block, uint32_t size, struct random *random)
{
    return block * size + random_below(random, size);
}

/* Any terminal outside the block that holds the source. */
static inline uint32_t block_draw_outside(uint32_t source, uint32_t size, uint32_t terminals, struct random *random)
{
    uint32_t first = source / size * size;
    uint32_t other = random_below(random, terminals - size);
    return other + (other >= first ? size : 0);
}

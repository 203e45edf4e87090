/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Terminals in blocks of the same size by number (the terminals of a router, of a
 * group, below a port of the roots), and where a block sends: what the patterns of
 * groups have in common.
 */
#include "flitwarp/traffic.h"

enum block_target { TARGET_OFFSET, TARGET_HALF, TARGET_OPPOSITE };
extern const char *const block_targets[];

/* False, with an error at option `key`, unless several blocks of this size hold all terminals. */
bool blocks_fit(uint32_t size, const char *key, const struct choice *self, const struct traffic_space *space,
                struct errors *errors);

/* The block that a block sends to. */
static inline uint32_t block_target_of(uint32_t block, uint32_t blocks, uint32_t target, uint32_t offset)
{
    if (target == TARGET_OPPOSITE)
        return blocks - 1 - block;
    return (uint32_t)(((uint64_t)block + (target == TARGET_HALF ? blocks / 2 : offset)) % blocks);
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

/* Blocks with traffic of their own, beside what leaves them. */
struct local_traffic {
    uint32_t block;
    double local; /* share of the messages that stay */
    bool self;
};
/* For a config struct that has these fields. */
#define LOCAL_OPTIONS(config)                                                                                          \
    OPTION_U32(config, block, REQUIRED, 1, NONE - 1, NULL, "terminals of a block"),                                    \
        OPTION_F64(config, local, "0.5", 0, 1, NULL, "share of the messages that stay in a block"),                    \
        OPTION_BOOL(config, self, "false", "whether a terminal also sends to itself")

void local_check(const struct local_traffic *traffic, const struct choice *self, const struct traffic_space *space,
                 struct errors *errors);
/* A destination within the block, or NONE when this message leaves it. */
uint32_t local_draw(const struct local_traffic *traffic, uint32_t source, struct random *random);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Counter-based random numbers. A stream is a key and a count: number n of a
 * stream is a hash of both, so streams are independent of each other and of
 * the order in which processes run, and rewinding one is setting its count.
 * Everything here is integer or exactly rounded arithmetic: the same numbers on
 * every machine. Read by OpenCL too.
 */
#include "flitwarp/both.h"

struct random {
    uint64_t key;
    uint64_t count;
};

/* What a stream is for: streams of one process with different purposes never meet. */
enum random_purpose {
    RANDOM_INJECTION = 1,
    RANDOM_TRAFFIC,
    RANDOM_SIZE,
    RANDOM_ROUTE,
    RANDOM_ARBITER,
    RANDOM_ALLOCATION,
    RANDOM_SETUP,
    RANDOM_REPLY,
    RANDOM_OUTPUT,
    RANDOM_PLANE,
    RANDOM_SOURCE,
    RANDOM_FAILURE,
    RANDOM_RETRY,
    RANDOM_PLUGIN = 1000, /* from here on free for components outside the tree */
};

/* A 64-bit mix with full avalanche (the finaliser of splitmix64). */
static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline struct random random_stream(uint64_t seed, uint64_t process, uint64_t purpose)
{
    uint64_t key = random_mix(seed + 0x9e3779b97f4a7c15u);
    key = random_mix(key ^ random_mix(process + 0xd1b54a32d192ed03u));
    key = random_mix(key ^ random_mix(purpose + 0x8cb92ba72f3d8dd7u));
    return (struct random){.key = key, .count = 0};
}

static inline uint64_t random_u64(struct random *random)
{
    return random_mix(random->key + ++random->count * 0x9e3779b97f4a7c15u);
}

/* Below `limit`, uniform to within 2^-32 of exactness for limits that fit 32 bits. */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)(((random_u64(random) >> 32) * limit) >> 32);
}

/* Moves `drawn` of the items, without repetition, to the front (Fisher-Yates). */
static inline void random_draw(struct random *random, uint32_t *items, uint32_t count, uint32_t drawn)
{
    for (uint32_t i = 0; i < drawn; i++) {
        uint32_t other = i + random_below(random, count - i);
        uint32_t item = items[other];
        items[other] = items[i];
        items[i] = item;
    }
}

/* Puts all items into an order, each as likely as any other: the last is drawn first. */
static inline void random_shuffle(struct random *random, uint32_t *items, uint32_t count)
{
    for (uint32_t left = count; left > 1; left--) {
        uint32_t other = random_below(random, left), item = items[other];
        items[other] = items[left - 1];
        items[left - 1] = item;
    }
}

/* In [0, 1), 53 bits. */
static inline double random_unit(struct random *random) { return (double)(random_u64(random) >> 11) * 0x1p-53; }

/* Natural logarithm by basic arithmetic alone, so that it has the same bits everywhere; x > 0. */
double exact_log(double x);

/* Exponential with mean 1. */
double random_exponential(struct random *random);
/* Trials up to and including the first success; `log_of_failure` is exact_log(1 - p), p in (0, 1]. */
uint64_t random_geometric(struct random *random, double log_of_failure);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arbiters pick one of several requesters. Picking and remembering are apart,
 * since an allocator's second stage may turn a pick down: the arbiter's memory
 * moves only when the winner was really served.
 */
#include "flitwarp/bits.h"
#include "flitwarp/component.h"
#include "flitwarp/random.h"

struct arbitration {
    const uint64_t *requests; /* not empty */
    uint32_t inputs;          /* how many there could be */
    uint32_t words;           /* of requests */
    const uint64_t *age;      /* by input, smaller is older; only for arbiters that need it, else NULL */
    struct random *random;    /* for arbiters that draw */
};

struct arbiter_ops {
    COMPONENT_HEAD;
    bool needs_age;
    bool remembers_last; /* its memory is one uint32_t, the last winner; .served and .state_size are then not asked */
    /* Bytes of memory for so many inputs; NULL: none. It starts zeroed. */
    size_t (*state_size)(const void *config, uint32_t inputs);
    /* Fills the zeroed memory; optional. */
    void (*init)(void *state, const void *config, uint32_t inputs);
    /* The winner, one of the requests. Must not change the state. */
    uint32_t (*pick)(const void *state, const struct arbitration *arbitration);
    /* The winner was served; optional. */
    void (*served)(void *state, uint32_t inputs, uint32_t winner);
};

/* These treat all arbiters alike. */
static inline size_t arbiter_state_size(const struct arbiter_ops *ops, const void *config, uint32_t inputs)
{
    return ops->remembers_last ? sizeof(uint32_t) : ops->state_size ? ops->state_size(config, inputs) : 0;
}
static inline void arbiter_init(const struct arbiter_ops *ops, void *state, const void *config, uint32_t inputs)
{
    if (ops->remembers_last)
        *(uint32_t *)state = inputs - 1; /* so that the first input is the first to be served */
    else if (ops->init)
        ops->init(state, config, inputs);
}
static inline void arbiter_served(const struct arbiter_ops *ops, void *state, uint32_t inputs, uint32_t winner)
{
    if (ops->remembers_last)
        *(uint32_t *)state = winner;
    else if (ops->served)
        ops->served(state, inputs, winner);
}

/* Each member of the set, which is not empty, is as likely as any other. */
static inline uint32_t bits_draw(const uint64_t *set, uint32_t words, struct random *random)
{
    uint32_t members = bits_count(set, words), word = 0;
    uint32_t skip = members > 1 ? random_below(random, members) : 0;
    for (uint32_t here; skip >= (here = (uint32_t)__builtin_popcountll(set[word])); word++)
        skip -= here;
    uint64_t left = set[word];
    while (skip--)
        left &= left - 1;
    return word * WORD_BITS + lowest_bit(left);
}

#define REGISTER_ARBITER(ops) REGISTER_COMPONENT("arbiter", ops)

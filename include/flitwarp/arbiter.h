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
    /* Bytes of memory for so many inputs; NULL: none. It starts zeroed. */
    size_t (*state_size)(const void *config, uint32_t inputs);
    /* Fills the zeroed memory; optional. */
    void (*init)(void *state, const void *config, uint32_t inputs);
    /* The winner, one of the requests. Must not change the state. */
    uint32_t (*pick)(const void *state, const struct arbitration *arbitration);
    /* The winner was served; optional. */
    void (*served)(void *state, uint32_t inputs, uint32_t winner);
};

#define REGISTER_ARBITER(ops) REGISTER_COMPONENT("arbiter", ops)

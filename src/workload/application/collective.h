/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Collective operations in rounds: in each a rank sends one message at most and then
 * waits for one at most.
 *
 *   barrier    dissemination: in round k to rank + 2^k, going round; ceil(log2 n) rounds
 *   allreduce  recursive doubling: in round k exchanged with rank xor 2^k. Where n is no
 *              power of two, the ranks beyond the largest one below first hand their part
 *              to a rank within it, and get the result back in the end
 */
#include "flitwarp/packet.h"

enum collective_type { COLLECTIVE_NONE, COLLECTIVE_BARRIER, COLLECTIVE_ALLREDUCE };
extern const char *const collective_names[];

struct collective {
    uint32_t type;
    uint32_t ranks;
    uint32_t rounds;
    uint32_t core; /* allreduce: the largest power of two of ranks */
};

void collective_init(struct collective *collective, uint32_t type, uint32_t ranks);
/* The rank that a rank sends to in a round; NONE: it does not. */
uint32_t collective_target(const struct collective *collective, uint32_t rank, uint32_t round);
/* Whether a rank gets a message in a round. */
bool collective_expects(const struct collective *collective, uint32_t rank, uint32_t round);

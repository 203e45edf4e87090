/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the algorithms of collectives share: sums of blocks, ranks going round, and messages. */
#include "workload/trace/collective.h"

/* Each group of algorithms, ended by one without a name. */
extern const struct collective_algorithm tree_algorithms[];
extern const struct collective_algorithm chain_algorithms[];
extern const struct collective_algorithm ring_algorithms[];
extern const struct collective_algorithm doubling_algorithms[];
extern const struct collective_algorithm dissemination_algorithms[];
extern const struct collective_algorithm alltoall_algorithms[];

/* How often one has to double to reach `ranks`. */
static inline uint32_t doublings(uint32_t ranks) { return ranks > 1 ? 32 - (uint32_t)__builtin_clz(ranks - 1) : 0; }

/* Ranks and blocks go round: `distance` is below `size`. */
static inline uint32_t forward(uint32_t from, uint32_t distance, uint32_t size)
{
    return from < size - distance ? from + distance : from - (size - distance);
}

static inline uint32_t backward(uint32_t from, uint32_t distance, uint32_t size)
{
    return from >= distance ? from - distance : from + (size - distance);
}

/* A message of the whole vector. */
static inline struct plan_message whole_vector(const struct plan *plan, uint32_t peer)
{
    return (struct plan_message){.peer = peer, .bytes = plan->bytes, .blocks = {0, 1, 0}};
}

/* A message of some parts of the vector, which is cut as evenly as bytes allow; they do not go round. */
struct plan_message vector_parts(const struct plan *plan, uint32_t peer, uint32_t parts, uint32_t first,
                                 uint32_t count);
/* A message of blocks of ranks, going round. */
struct plan_message rank_blocks(const struct plan *plan, uint32_t peer, uint32_t first, uint32_t count);

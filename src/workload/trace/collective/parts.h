/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the algorithms of collectives share: sums of blocks, ranks going round, and messages. */
#include "workload/trace/collective.h"

/* Each group of algorithms, ended by one without a name. */
extern const struct collective_algorithm rooted_algorithms[];
extern const struct collective_algorithm round_algorithms[];
extern const struct collective_algorithm doubling_algorithms[];

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

/* As many steps as it takes to double up to all ranks, of the whole vector or of the blocks of all ranks. */
struct plan_shape shape_of_doublings(const struct plan *plan);
struct plan_shape shape_of_block_doublings(const struct plan *plan);
/* A step for each other rank, and the blocks of all. */
struct plan_shape shape_of_others(const struct plan *plan);

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broadcast down a chain of all ranks, in pieces: while a rank sends one on, the next is
 * on its way to it. And gather and scatter between the root and each other rank, all at
 * once, which is what can be done where a rank knows the size of its own block alone.
 */
#include "workload/trace/collective/parts.h"

enum { MOST_PIECES = 65536 }; /* so that steps are a number that messages can carry */

static uint32_t pieces(const struct plan *plan)
{
    uint64_t count = (plan->bytes + plan->segment - 1) / plan->segment;
    if (count == 0)
        return 1; /* of no bytes */
    return count < MOST_PIECES ? (uint32_t)count : MOST_PIECES;
}

static struct plan_shape pipeline_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks > 1 ? pieces(plan) + plan->ranks - 2 : 0, .blocks = pieces(plan)};
}

/* A rank `d` behind the root gets piece p in step p + d - 1 and sends it on in the next. */
static void pipeline(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = backward(rank, plan->root, plan->ranks), count = pieces(plan);
    uint32_t next = forward(rank, 1, plan->ranks), previous = backward(rank, 1, plan->ranks);
    if (distance + 1 < plan->ranks && step >= distance && step - distance < count)
        out->send = vector_parts(plan, next, count, step - distance, 1);
    if (distance > 0 && step + 1 >= distance && step + 1 - distance < count)
        out->receive = vector_parts(plan, previous, count, step + 1 - distance, 1);
}

static struct plan_shape linear_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks - 1, .blocks = plan->ranks};
}

/* The block of a rank, which is all that others than the root know of. */
static struct plan_message block_of(const struct plan *plan, uint32_t rank, uint32_t peer)
{
    return rank_blocks(plan, peer, rank, 1);
}

/* Step k is for the rank k + 1 behind the root. */
static void linear_gather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t other = forward(plan->root, step + 1, plan->ranks);
    out->is_free = true;
    if (rank == plan->root)
        out->receive = block_of(plan, other, other);
    else if (rank == other)
        out->send = block_of(plan, rank, plan->root);
}

static void linear_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t other = forward(plan->root, step + 1, plan->ranks);
    out->is_free = true;
    if (rank == plan->root)
        out->send = block_of(plan, other, other);
    else if (rank == other)
        out->receive = block_of(plan, rank, plan->root);
}

const struct collective_algorithm chain_algorithms[] = {
    {"pipelined", "down a chain of ranks, in pieces of `segment` bytes", OPERATION_BROADCAST, false, pipeline_shape,
     pipeline},
    {"linear", "each rank to the root", OPERATION_GATHER, false, linear_shape, linear_gather},
    {"linear", "the root to each rank", OPERATION_SCATTER, false, linear_shape, linear_scatter},
    {0},
};

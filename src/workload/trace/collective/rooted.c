/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives with a root.
 *
 * Binomial trees. Ranks are counted from the root. Down the tree a rank whose number is
 * a multiple of twice the stride sends to the one a stride further on, and strides
 * shrink from step to step; up the tree all of it goes backwards. A child stands for
 * the ranks from itself to one stride on.
 *
 *   0 ---------------> 4                 stride 4
 *   0 -----> 2         4 -----> 6               2
 *   0 -> 1   2 -> 3    4 -> 5   6 -> 7          1
 *
 * Broadcast down a chain of all ranks, in pieces: while a rank sends one on, the next is
 * on its way to it. And gather and scatter between the root and each other rank, all at
 * once, which is what can be done where a rank knows the size of its own block alone.
 */
#include "workload/trace/collective/parts.h"

enum { MOST_PIECES = 65536 }; /* so that steps are a number that messages can carry */

/* ---- trees ---- */

/* The edge of the tree that a rank has at a step, if it has one: all that is known of the ranks behind its child goes. */
static void tree_step(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    bool goes_up = plan->algorithm->flags & PLAN_UP, is_vector = plan->algorithm->flags & PLAN_VECTOR;
    uint32_t stride = (uint32_t)1 << (goes_up ? step : doublings(plan->ranks) - 1 - step);
    uint32_t position = backward(rank, plan->root, plan->ranks), lower = position | stride;
    if (position % stride || lower >= plan->ranks)
        return;
    bool is_child = position == lower;
    uint32_t parent = forward(plan->root, lower - stride, plan->ranks), child = forward(plan->root, lower, plan->ranks);
    uint32_t behind = plan->ranks - lower < stride ? plan->ranks - lower : stride, peer = is_child ? parent : child;
    *(is_child == goes_up ? &out->send : &out->receive) =
        is_vector ? whole_vector(plan, peer) : rank_blocks(plan, peer, child, behind);
}

/* ---- a chain ---- */

static uint32_t pieces(const struct plan *plan)
{
    uint64_t count = (plan->bytes + plan->segment - 1) / plan->segment;
    if (count == 0)
        return 1; /* of no bytes */
    return count < MOST_PIECES ? (uint32_t)count : MOST_PIECES;
}

static struct plan_shape chain_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks > 1 ? pieces(plan) + plan->ranks - 2 : 0, .blocks = pieces(plan)};
}

/* A rank `d` behind the root gets piece p in step p + d - 1 and sends it on in the next. */
static void chain_broadcast(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = backward(rank, plan->root, plan->ranks), count = pieces(plan);
    uint32_t next = forward(rank, 1, plan->ranks), previous = backward(rank, 1, plan->ranks);
    if (distance + 1 < plan->ranks && step >= distance && step - distance < count)
        out->send = vector_parts(plan, next, count, step - distance, 1);
    if (distance > 0 && step + 1 >= distance && step + 1 - distance < count)
        out->receive = vector_parts(plan, previous, count, step + 1 - distance, 1);
}

/* ---- each rank directly ---- */

/* Step k is for the rank k + 1 behind the root. Its block is all that others than the root know of. */
static void linear_step(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t other = forward(plan->root, step + 1, plan->ranks);
    bool is_root = rank == plan->root, gathers = plan->algorithm->flags & PLAN_UP;
    if (is_root || rank == other)
        *(is_root == gathers ? &out->receive : &out->send) = rank_blocks(plan, is_root ? other : plan->root, other, 1);
}

const struct collective_algorithm rooted_algorithms[] = {
    {"binomial", OPERATION_BROADCAST, PLAN_VECTOR, shape_of_doublings, tree_step},
    {"binomial", OPERATION_REDUCE, PLAN_VECTOR | PLAN_UP | PLAN_SUMS, shape_of_doublings, tree_step},
    {"binomial", OPERATION_GATHER, PLAN_EVEN | PLAN_UP, shape_of_block_doublings, tree_step},
    {"binomial", OPERATION_SCATTER, PLAN_EVEN, shape_of_block_doublings, tree_step},
    {"pipelined", OPERATION_BROADCAST, 0, chain_shape, chain_broadcast},
    {"linear", OPERATION_GATHER, PLAN_FREE | PLAN_UP, shape_of_others, linear_step},
    {"linear", OPERATION_SCATTER, PLAN_FREE, shape_of_others, linear_step},
    {0},
};

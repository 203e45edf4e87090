/* SPDX-License-Identifier: Apache-2.0 */
/* In step k to and from ranks 2^k away: as few steps as any number of ranks allows. */
#include "workload/trace/collective/parts.h"

static struct plan_shape vector_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = 1};
}

static struct plan_shape blocks_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = plan->ranks};
}

/* Messages without bytes, going round. */
static void barrier(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step;
    out->send = (struct plan_message){.peer = forward(rank, distance, plan->ranks), .blocks = {0, 1, 0}};
    out->receive = (struct plan_message){.peer = backward(rank, distance, plan->ranks), .blocks = {0, 1, 0}};
    out->reduces = true;
}

/* Sums of 2^k ranks, to those behind and not round. An exscan is the same: a rank leaves out its own part at the end. */
static void scan(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step;
    if (distance < plan->ranks - rank)
        out->send = whole_vector(plan, rank + distance);
    if (rank >= distance)
        out->receive = whole_vector(plan, rank - distance);
    out->reduces = true;
}

/* Bruck: all blocks that a rank has, at most those that are missing, going round backwards. */
static void allgather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step, missing = plan->ranks - distance;
    uint32_t count = distance < missing ? distance : missing;
    uint32_t from = forward(rank, distance, plan->ranks);
    out->send = rank_blocks(plan, backward(rank, distance, plan->ranks), rank, count);
    out->receive = rank_blocks(plan, from, from, count);
}

const struct collective_algorithm dissemination_algorithms[] = {
    {"dissemination", "to ranks 1, 2, 4 ... further on", OPERATION_BARRIER, false, vector_shape, barrier},
    {"recursive_doubling", "sums to ranks 1, 2, 4 ... further on", OPERATION_SCAN, false, vector_shape, scan},
    {"recursive_doubling", "sums to ranks 1, 2, 4 ... further on", OPERATION_EXSCAN, false, vector_shape, scan},
    {"bruck", "all that is there to ranks 1, 2, 4 ... before", OPERATION_ALLGATHER, false, blocks_shape, allgather},
    {0},
};

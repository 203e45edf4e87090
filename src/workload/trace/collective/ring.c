/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: every rank sends to the next in every step, a block each time, so that all
 * links work all the time. Once round with sums on their way is a reduce-scatter, once
 * round with what is ready an allgather, and the one after the other an allreduce.
 */
#include "workload/trace/collective/parts.h"

static struct plan_shape once_round(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks - 1, .blocks = plan->ranks};
}

static struct plan_shape twice_round(const struct plan *plan)
{
    return (struct plan_shape){.steps = 2 * (plan->ranks - 1), .blocks = plan->ranks};
}

/* The block that a rank sends in step k: a sum that ends its way k + 1 ranks before, having begun with the next one. */
static uint32_t sum_sent(const struct plan *plan, uint32_t rank, uint32_t step)
{
    return backward(rank, step + 1, plan->ranks);
}

/* Or one that is ready, from k ranks before. */
static uint32_t ready_sent(const struct plan *plan, uint32_t rank, uint32_t step)
{
    return backward(rank, step, plan->ranks);
}

/* What arrives is what the rank before has sent. */
static void send_round(const struct plan *plan, uint32_t rank, uint32_t sent, struct plan_step *out)
{
    out->send = rank_blocks(plan, forward(rank, 1, plan->ranks), sent, 1);
    out->receive = rank_blocks(plan, backward(rank, 1, plan->ranks), backward(sent, 1, plan->ranks), 1);
}

static void reduce_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    send_round(plan, rank, sum_sent(plan, rank, step), out);
    out->reduces = true;
}

static void allgather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    send_round(plan, rank, ready_sent(plan, rank, step), out);
}

static void allreduce(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t ranks = plan->ranks, once = ranks - 1;
    out->reduces = step < once;
    uint32_t sent = out->reduces ? sum_sent(plan, rank, step) : ready_sent(plan, rank, step - once);
    out->send = vector_parts(plan, forward(rank, 1, ranks), ranks, sent, 1);
    out->receive = vector_parts(plan, backward(rank, 1, ranks), ranks, backward(sent, 1, ranks), 1);
}

/* Not round but directly: in step k the block of the rank k + 1 further on to that rank. */
static void pairwise_reduce_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t to = forward(rank, step + 1, plan->ranks), from = backward(rank, step + 1, plan->ranks);
    out->send = rank_blocks(plan, to, to, 1);
    out->receive = rank_blocks(plan, from, rank, 1);
    out->reduces = true;
}

const struct collective_algorithm ring_algorithms[] = {
    {"ring", "sums of blocks once round, then the blocks once more", OPERATION_ALLREDUCE, false, twice_round,
     allreduce},
    {"ring", "blocks once round", OPERATION_ALLGATHER, false, once_round, allgather},
    {"ring", "sums of blocks once round", OPERATION_REDUCE_SCATTER, false, once_round, reduce_scatter},
    {"pairwise", "each block directly to its rank, one after the other", OPERATION_REDUCE_SCATTER, false, once_round,
     pairwise_reduce_scatter},
    {0},
};

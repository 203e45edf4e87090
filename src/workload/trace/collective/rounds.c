/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives in which all ranks do the same, counted from themselves.
 *
 * Rings: every rank sends to the next in every step, a block each time, so that all
 * links work all the time. Once round with sums on their way is a reduce-scatter, once
 * round with what is ready an allgather, and the one after the other an allreduce.
 *
 * Directly: in step k to the rank k + 1 further on, one after the other (pairwise) or all at
 * once (spread). Or by Bruck: a block that has to go d ranks on goes 2^k of them in step k
 * where d has that bit; few messages, bytes sent several times.
 */
#include "workload/trace/collective/parts.h"

/* ---- rings ---- */

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
static void ring_blocks(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t sent = (out->reduces ? sum_sent : ready_sent)(plan, rank, step);
    out->send = rank_blocks(plan, forward(rank, 1, plan->ranks), sent, 1);
    out->receive = rank_blocks(plan, backward(rank, 1, plan->ranks), backward(sent, 1, plan->ranks), 1);
}

static void ring_allreduce(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t ranks = plan->ranks, once = ranks - 1;
    out->reduces = step < once;
    uint32_t sent = out->reduces ? sum_sent(plan, rank, step) : ready_sent(plan, rank, step - once);
    out->send = vector_parts(plan, forward(rank, 1, ranks), ranks, sent, 1);
    out->receive = vector_parts(plan, backward(rank, 1, ranks), ranks, backward(sent, 1, ranks), 1);
}

/* ---- directly ---- */

/* The block of the rank k + 1 further on to that rank. */
static void pairwise_reduce_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t to = forward(rank, step + 1, plan->ranks), from = backward(rank, step + 1, plan->ranks);
    out->send = rank_blocks(plan, to, to, 1);
    out->receive = rank_blocks(plan, from, rank, 1);
}

/* Counts are those to each rank, and behind them those from each. */
static void pairwise_alltoall(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = step + 1;
    uint32_t to = forward(rank, distance, plan->ranks), from = backward(rank, distance, plan->ranks);
    struct block_set block = {distance, 1, 0};
    out->send = (struct plan_message){to, plan->counts ? plan->counts[to] : plan->bytes, block};
    out->receive = (struct plan_message){from, plan->counts ? plan->counts[plan->ranks + from] : plan->bytes, block};
}

/* Numbers below `limit` that have a bit. */
static uint32_t count_with_bit(uint32_t limit, uint32_t bit)
{
    uint32_t rest = limit & (2 * bit - 1);
    return (limit - rest) / 2 + (rest > bit ? rest - bit : 0);
}

static void bruck_alltoall(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step;
    struct plan_message message = {
        .bytes = plan->bytes * count_with_bit(plan->ranks, distance),
        .blocks = {0, plan->ranks, distance},
    };
    out->send = out->receive = message;
    out->send.peer = forward(rank, distance, plan->ranks);
    out->receive.peer = backward(rank, distance, plan->ranks);
}

const struct collective_algorithm round_algorithms[] = {
    {"ring", OPERATION_ALLREDUCE, 0, twice_round, ring_allreduce},
    {"ring", OPERATION_ALLGATHER, 0, shape_of_others, ring_blocks},
    {"ring", OPERATION_REDUCE_SCATTER, PLAN_SUMS, shape_of_others, ring_blocks},
    {"pairwise", OPERATION_REDUCE_SCATTER, PLAN_SUMS, shape_of_others, pairwise_reduce_scatter},
    {"pairwise", OPERATION_ALLTOALL, 0, shape_of_others, pairwise_alltoall},
    {"spread", OPERATION_ALLTOALL, PLAN_FREE, shape_of_others, pairwise_alltoall},
    {"bruck", OPERATION_ALLTOALL, PLAN_EVEN, shape_of_block_doublings, bruck_alltoall},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-to-all. Directly: in step k to the rank k + 1 further on, one after the other
 * (pairwise) or all at once (spread). Or by Bruck: a block that has to go d ranks on
 * goes 2^k of them in step k where d has that bit; few messages, bytes sent several times.
 */
#include "workload/trace/collective/parts.h"

static struct plan_shape direct_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks - 1, .blocks = plan->ranks};
}

static struct plan_shape bruck_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = plan->ranks};
}

/* Counts are those to each rank, and behind them those from each. */
static void pairwise(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = step + 1;
    uint32_t to = forward(rank, distance, plan->ranks), from = backward(rank, distance, plan->ranks);
    struct block_set block = {distance, 1, 0};
    out->send = (struct plan_message){to, plan->counts ? plan->counts[to] : plan->bytes, block};
    out->receive = (struct plan_message){from, plan->counts ? plan->counts[plan->ranks + from] : plan->bytes, block};
}

static void spread(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    pairwise(plan, rank, step, out);
    out->is_free = true;
}

/* Numbers below `limit` that have a bit. */
static uint32_t count_with_bit(uint32_t limit, uint32_t bit)
{
    uint32_t rest = limit & (2 * bit - 1);
    return (limit - rest) / 2 + (rest > bit ? rest - bit : 0);
}

static void bruck(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
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

const struct collective_algorithm alltoall_algorithms[] = {
    {"pairwise", "to ranks 1, 2, 3 ... further on, one after the other", OPERATION_ALLTOALL, false, direct_shape,
     pairwise},
    {"spread", "to all others at once", OPERATION_ALLTOALL, false, direct_shape, spread},
    {"bruck", "collected for ranks 1, 2, 4 ... further on", OPERATION_ALLTOALL, true, bruck_shape, bruck},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binomial trees. Ranks are counted from the root. Down the tree a rank whose number is
 * a multiple of twice the stride sends to the one a stride further on, and strides
 * shrink from step to step; up the tree all of it goes backwards. A child stands for
 * the ranks from itself to one stride on.
 *
 *   0 ---------------> 4                 stride 4
 *   0 -----> 2         4 -----> 6               2
 *   0 -> 1   2 -> 3    4 -> 5   6 -> 7          1
 */
#include "workload/trace/collective/parts.h"

static struct plan_shape vector_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = 1};
}

static struct plan_shape blocks_shape(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = plan->ranks};
}

static uint32_t stride_down(const struct plan *plan, uint32_t step)
{
    return (uint32_t)1 << (doublings(plan->ranks) - 1 - step);
}

/* The edge of the tree that a rank has at a stride, if it has one: ranks at both ends, and how many are behind it. */
struct edge {
    uint32_t parent, child, behind;
    bool is_child;
};

static bool find_edge(const struct plan *plan, uint32_t rank, uint32_t stride, struct edge *edge)
{
    uint32_t position = backward(rank, plan->root, plan->ranks), child = position | stride;
    if (position % stride || child >= plan->ranks)
        return false;
    *edge = (struct edge){
        .parent = forward(plan->root, child - stride, plan->ranks),
        .child = forward(plan->root, child, plan->ranks),
        .behind = plan->ranks - child < stride ? plan->ranks - child : stride,
        .is_child = position == child,
    };
    return true;
}

static void broadcast(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct edge edge;
    if (!find_edge(plan, rank, stride_down(plan, step), &edge))
        return;
    if (edge.is_child)
        out->receive = whole_vector(plan, edge.parent);
    else
        out->send = whole_vector(plan, edge.child);
}

static void reduce(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct edge edge;
    if (!find_edge(plan, rank, (uint32_t)1 << step, &edge))
        return;
    out->reduces = !edge.is_child;
    if (edge.is_child)
        out->send = whole_vector(plan, edge.parent);
    else
        out->receive = whole_vector(plan, edge.child);
}

static void scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct edge edge;
    if (!find_edge(plan, rank, stride_down(plan, step), &edge))
        return;
    if (edge.is_child)
        out->receive = rank_blocks(plan, edge.parent, edge.child, edge.behind);
    else
        out->send = rank_blocks(plan, edge.child, edge.child, edge.behind);
}

static void gather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct edge edge;
    if (!find_edge(plan, rank, (uint32_t)1 << step, &edge))
        return;
    if (edge.is_child)
        out->send = rank_blocks(plan, edge.parent, edge.child, edge.behind);
    else
        out->receive = rank_blocks(plan, edge.child, edge.child, edge.behind);
}

const struct collective_algorithm tree_algorithms[] = {
    {"binomial", "down a binomial tree", OPERATION_BROADCAST, false, vector_shape, broadcast},
    {"binomial", "up a binomial tree", OPERATION_REDUCE, false, vector_shape, reduce},
    {"binomial", "up a binomial tree", OPERATION_GATHER, true, blocks_shape, gather},
    {"binomial", "down a binomial tree", OPERATION_SCATTER, true, blocks_shape, scatter},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives over distances that double.
 *
 * Exchanges with ranks at distances 1, 2, 4 ... (doubling) or ... 4, 2, 1 (halving), for
 * which a power of two of ranks is needed: the core. Of n ranks that are no power of two
 * the first 2(n - core) stand in pairs: the even one hands all to the odd one in a step
 * before (fold), which stands for both, and gets its result in a step behind (unfold).
 *
 *   ranks    0 1 2 3 4 5 6        n = 7: core 4, three pairs
 *   members    0   1   2 3        and the blocks of members 0 .. m are those of ranks 0 .. their last
 */
#include "workload/trace/collective/parts.h"

struct core {
    uint32_t size, levels; /* size = 2^levels */
    uint32_t pairs;
};

static struct core core_of(const struct plan *plan)
{
    uint32_t levels = 31 - (uint32_t)__builtin_clz(plan->ranks), size = (uint32_t)1 << levels;
    return (struct core){size, levels, plan->ranks - size};
}

/* The number of a rank in the core; FW_NONE: it is outside, and the next one stands for it. */
static uint32_t doubling_member_of(const struct core *core, uint32_t rank)
{
    if (rank >= 2 * core->pairs)
        return rank - core->pairs;
    return rank % 2 ? rank / 2 : FW_NONE;
}

/* The first rank that a member stands for; its own is the last of them. */
static uint32_t first_rank(const struct core *core, uint32_t member)
{
    return member < core->pairs ? 2 * member : member + core->pairs;
}

/* ---- steps ---- */

/* Where a step belongs. */
enum stage { FOLD, EXCHANGE, UNFOLD };
/* How distances go: up, down, or down and then up again. */
enum course { UP, DOWN, DOWN_AND_UP };

/* What a rank does in a step: in an exchange it gives what `count` members have, from `sent` on, and gets that of others. */
struct exchange {
    struct core core;
    enum stage stage;
    bool halves;   /* distances go down: what the peer stands for is given, not what this rank stands for */
    uint32_t peer; /* FW_NONE: the rank is not in the core, or in no exchange */
    uint32_t sent, received, count;
};

static struct plan_shape shape(const struct plan *plan, enum course course, uint32_t blocks)
{
    struct core core = core_of(plan);
    uint32_t rounds = course == DOWN_AND_UP ? 2 : 1;
    return (struct plan_shape){.steps = rounds * core.levels + (core.pairs ? 2 : 0), .blocks = blocks};
}

static struct exchange exchange_at(const struct plan *plan, uint32_t rank, uint32_t step, enum course course)
{
    struct exchange at = {.core = core_of(plan), .stage = EXCHANGE, .peer = FW_NONE};
    uint32_t level = step - (at.core.pairs > 0), member = doubling_member_of(&at.core, rank);
    if (at.core.pairs)
        at.stage = step == 0 ? FOLD : step == shape(plan, course, 0).steps - 1 ? UNFOLD : EXCHANGE;
    at.halves = course != UP && level < at.core.levels;
    if (at.stage != EXCHANGE || member == FW_NONE)
        return at;
    at.count = at.halves ? at.core.size >> (level + 1)
                         : (uint32_t)1 << (level < at.core.levels ? level : level - at.core.levels);
    uint32_t mine = member & ~(at.count - 1), theirs = mine ^ at.count;
    at.peer = first_rank(&at.core, (member ^ at.count) + 1) - 1; /* the last that the other member stands for */
    at.sent = at.halves ? theirs : mine;
    at.received = at.halves ? mine : theirs;
    return at;
}

/* Within a pair: to the odd one in a fold, from it in an unfold. */
static void doubling_hand_over(const struct exchange *at, uint32_t rank, struct plan_message message,
                               struct plan_step *out)
{
    if (rank >= 2 * at->core.pairs)
        return;
    message.peer = rank ^ 1;
    *((at->stage == FOLD) == rank % 2 ? &out->receive : &out->send) = message;
}

/* ---- allreduce: the whole vector in each step ---- */

static struct plan_shape doubling_shape(const struct plan *plan) { return shape(plan, UP, 1); }

static void allreduce_doubling(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step, UP);
    out->reduces = at.stage != UNFOLD;
    if (at.stage != EXCHANGE)
        doubling_hand_over(&at, rank, whole_vector(plan, FW_NONE), out);
    else if (at.peer != FW_NONE)
        out->send = out->receive = whole_vector(plan, at.peer);
}

/* ---- allreduce of Rabenseifner: a reduce-scatter by halving, then an allgather by doubling ---- */

static struct plan_shape rabenseifner_shape(const struct plan *plan)
{
    return shape(plan, DOWN_AND_UP, core_of(plan).size);
}

static void allreduce_rabenseifner(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step, DOWN_AND_UP);
    uint32_t parts = at.core.size;
    out->reduces = at.stage == FOLD || (at.stage == EXCHANGE && at.halves);
    if (at.stage != EXCHANGE)
        doubling_hand_over(&at, rank, vector_parts(plan, FW_NONE, parts, 0, parts), out);
    if (at.peer == FW_NONE)
        return;
    out->send = vector_parts(plan, at.peer, parts, at.sent, at.count);
    out->receive = vector_parts(plan, at.peer, parts, at.received, at.count);
}

/* ---- allgather by doubling, reduce-scatter by halving: the blocks of all ranks that members stand for ---- */

static struct plan_shape blocks_shape(const struct plan *plan) { return shape(plan, UP, plan->ranks); }

static struct plan_message member_blocks(const struct plan *plan, const struct exchange *at, uint32_t member)
{
    uint32_t first = first_rank(&at->core, member);
    return rank_blocks(plan, at->peer, first, first_rank(&at->core, member + at->count) - first);
}

static void exchange_blocks(const struct plan *plan, const struct exchange *at, struct plan_step *out)
{
    if (at->peer == FW_NONE)
        return;
    out->send = member_blocks(plan, at, at->sent);
    out->receive = member_blocks(plan, at, at->received);
}

static void allgather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step, UP);
    uint32_t even = rank & ~(uint32_t)1;
    if (at.stage == FOLD)
        doubling_hand_over(&at, rank, rank_blocks(plan, FW_NONE, even, 1), out);
    if (at.stage == UNFOLD) /* all but its own */
        doubling_hand_over(&at, rank, rank_blocks(plan, FW_NONE, forward(even, 1, plan->ranks), plan->ranks - 1), out);
    exchange_blocks(plan, &at, out);
}

static void reduce_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step, DOWN);
    out->reduces = at.stage != UNFOLD;
    if (at.stage == FOLD)
        doubling_hand_over(&at, rank, rank_blocks(plan, FW_NONE, 0, plan->ranks), out);
    if (at.stage == UNFOLD)
        doubling_hand_over(&at, rank, rank_blocks(plan, FW_NONE, rank & ~(uint32_t)1, 1), out);
    exchange_blocks(plan, &at, out);
}

/* ---- dissemination: in step k to and from ranks 2^k away, going round, as few steps as any number of ranks allows ---- */

/* Messages without bytes, going round. */
static void barrier(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step;
    out->send = (struct plan_message){.peer = forward(rank, distance, plan->ranks), .blocks = {0, 1, 0}};
    out->receive = (struct plan_message){.peer = backward(rank, distance, plan->ranks), .blocks = {0, 1, 0}};
}

/* Sums of 2^k ranks, to those behind and not round. An exscan is the same: a rank leaves out its own part at the end. */
static void scan(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step;
    if (distance < plan->ranks - rank)
        out->send = whole_vector(plan, rank + distance);
    if (rank >= distance)
        out->receive = whole_vector(plan, rank - distance);
}

/* All blocks that a rank has, at most those that are missing, going round backwards. */
static void bruck_allgather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t distance = (uint32_t)1 << step, missing = plan->ranks - distance;
    uint32_t count = distance < missing ? distance : missing;
    uint32_t from = forward(rank, distance, plan->ranks);
    out->send = rank_blocks(plan, backward(rank, distance, plan->ranks), rank, count);
    out->receive = rank_blocks(plan, from, from, count);
}

const struct collective_algorithm doubling_algorithms[] = {
    {"recursive_doubling", OPERATION_ALLREDUCE, 0, doubling_shape, allreduce_doubling},
    {"rabenseifner", OPERATION_ALLREDUCE, 0, rabenseifner_shape, allreduce_rabenseifner},
    {"recursive_doubling", OPERATION_ALLGATHER, 0, blocks_shape, allgather},
    {"recursive_halving", OPERATION_REDUCE_SCATTER, 0, blocks_shape, reduce_scatter},
    {"dissemination", OPERATION_BARRIER, PLAN_SUMS, shape_of_doublings, barrier},
    {"recursive_doubling", OPERATION_SCAN, PLAN_SUMS, shape_of_doublings, scan},
    {"recursive_doubling", OPERATION_EXSCAN, PLAN_SUMS, shape_of_doublings, scan},
    {"bruck", OPERATION_ALLGATHER, 0, shape_of_block_doublings, bruck_allgather},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
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

/* The number of a rank in the core; NONE: it is outside, and the next one stands for it. */
static uint32_t member_of(const struct core *core, uint32_t rank)
{
    if (rank >= 2 * core->pairs)
        return rank - core->pairs;
    return rank % 2 ? rank / 2 : NONE;
}

static uint32_t rank_of(const struct core *core, uint32_t member)
{
    return member < core->pairs ? 2 * member + 1 : member + core->pairs;
}

/* The first rank that a member stands for. */
static uint32_t first_rank(const struct core *core, uint32_t member)
{
    return member < core->pairs ? 2 * member : member + core->pairs;
}

/* Where a step belongs. */
enum stage { FOLD, EXCHANGE, UNFOLD };

static enum stage stage_of(const struct core *core, uint32_t steps, uint32_t step, uint32_t *level)
{
    *level = step - (core->pairs > 0);
    if (core->pairs && step == 0)
        return FOLD;
    return core->pairs && step == steps - 1 ? UNFOLD : EXCHANGE;
}

/* The two of a pair, where a rank is in one. */
static bool is_paired(const struct core *core, uint32_t rank) { return rank < 2 * core->pairs; }

static void fold(const struct core *core, uint32_t rank, struct plan_message message, struct plan_step *out)
{
    if (!is_paired(core, rank))
        return;
    message.peer = rank ^ 1;
    *(rank % 2 ? &out->receive : &out->send) = message;
}

static void unfold(const struct core *core, uint32_t rank, struct plan_message message, struct plan_step *out)
{
    if (!is_paired(core, rank))
        return;
    message.peer = rank ^ 1;
    *(rank % 2 ? &out->send : &out->receive) = message;
}

/* Exchanges of a level: the members from `mine` on for those from `theirs` on, `count` of each. */
struct exchange {
    uint32_t peer; /* NONE: the rank is not in the core */
    uint32_t mine, theirs, count;
};

static struct exchange exchange_at(const struct core *core, uint32_t rank, uint32_t distance)
{
    uint32_t member = member_of(core, rank);
    if (member == NONE)
        return (struct exchange){.peer = NONE};
    uint32_t mine = member & ~(distance - 1);
    return (struct exchange){rank_of(core, member ^ distance), mine, mine ^ distance, distance};
}

static uint32_t distance_up(uint32_t level) { return (uint32_t)1 << level; }
static uint32_t distance_down(const struct core *core, uint32_t level) { return core->size >> (level + 1); }

static struct plan_shape shape(const struct plan *plan, uint32_t rounds, uint32_t blocks)
{
    struct core core = core_of(plan);
    return (struct plan_shape){.steps = rounds * core.levels + (core.pairs ? 2 : 0), .blocks = blocks};
}

/* ---- allreduce: the whole vector in each step ---- */

static struct plan_shape doubling_shape(const struct plan *plan) { return shape(plan, 1, 1); }

static void allreduce_doubling(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct core core = core_of(plan);
    uint32_t level;
    enum stage stage = stage_of(&core, doubling_shape(plan).steps, step, &level);
    out->reduces = stage != UNFOLD;
    if (stage == FOLD)
        return fold(&core, rank, whole_vector(plan, NONE), out);
    if (stage == UNFOLD)
        return unfold(&core, rank, whole_vector(plan, NONE), out);
    struct exchange exchange = exchange_at(&core, rank, distance_up(level));
    if (exchange.peer != NONE)
        out->send = out->receive = whole_vector(plan, exchange.peer);
}

/* ---- allreduce of Rabenseifner: a reduce-scatter by halving, then an allgather by doubling ---- */

static struct plan_shape rabenseifner_shape(const struct plan *plan) { return shape(plan, 2, core_of(plan).size); }

static void allreduce_rabenseifner(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct core core = core_of(plan);
    uint32_t level;
    enum stage stage = stage_of(&core, rabenseifner_shape(plan).steps, step, &level);
    bool halves = level < core.levels;
    out->reduces = stage == FOLD || (stage == EXCHANGE && halves);
    if (stage == FOLD)
        return fold(&core, rank, vector_parts(plan, NONE, core.size, 0, core.size), out);
    if (stage == UNFOLD)
        return unfold(&core, rank, vector_parts(plan, NONE, core.size, 0, core.size), out);
    uint32_t distance = halves ? distance_down(&core, level) : distance_up(level - core.levels);
    struct exchange exchange = exchange_at(&core, rank, distance);
    if (exchange.peer == NONE)
        return;
    uint32_t sent = halves ? exchange.theirs : exchange.mine, received = halves ? exchange.mine : exchange.theirs;
    out->send = vector_parts(plan, exchange.peer, core.size, sent, exchange.count);
    out->receive = vector_parts(plan, exchange.peer, core.size, received, exchange.count);
}

/* ---- allgather by doubling, reduce-scatter by halving: the blocks of all ranks that members stand for ---- */

static struct plan_shape blocks_shape(const struct plan *plan) { return shape(plan, 1, plan->ranks); }

static struct plan_message member_blocks(const struct plan *plan, const struct core *core, uint32_t peer,
                                         uint32_t member, uint32_t count)
{
    uint32_t first = first_rank(core, member);
    return rank_blocks(plan, peer, first, first_rank(core, member + count) - first);
}

static void allgather(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct core core = core_of(plan);
    uint32_t level, even = rank & ~(uint32_t)1;
    enum stage stage = stage_of(&core, blocks_shape(plan).steps, step, &level);
    if (stage == FOLD)
        return fold(&core, rank, rank_blocks(plan, NONE, even, 1), out);
    if (stage == UNFOLD) /* all but its own */
        return unfold(&core, rank, rank_blocks(plan, NONE, forward(even, 1, plan->ranks), plan->ranks - 1), out);
    struct exchange exchange = exchange_at(&core, rank, distance_up(level));
    if (exchange.peer == NONE)
        return;
    out->send = member_blocks(plan, &core, exchange.peer, exchange.mine, exchange.count);
    out->receive = member_blocks(plan, &core, exchange.peer, exchange.theirs, exchange.count);
}

static void reduce_scatter(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct core core = core_of(plan);
    uint32_t level, even = rank & ~(uint32_t)1;
    enum stage stage = stage_of(&core, blocks_shape(plan).steps, step, &level);
    out->reduces = stage != UNFOLD;
    if (stage == FOLD)
        return fold(&core, rank, rank_blocks(plan, NONE, 0, plan->ranks), out);
    if (stage == UNFOLD)
        return unfold(&core, rank, rank_blocks(plan, NONE, even, 1), out);
    struct exchange exchange = exchange_at(&core, rank, distance_down(&core, level));
    if (exchange.peer == NONE)
        return;
    out->send = member_blocks(plan, &core, exchange.peer, exchange.theirs, exchange.count);
    out->receive = member_blocks(plan, &core, exchange.peer, exchange.mine, exchange.count);
}

const struct collective_algorithm doubling_algorithms[] = {
    {"recursive_doubling", "the whole vector exchanged over distances 1, 2, 4 ...", OPERATION_ALLREDUCE, false,
     doubling_shape, allreduce_doubling},
    {"rabenseifner", "halves of the vector reduced over distances ... 4, 2, 1, then gathered again",
     OPERATION_ALLREDUCE, false, rabenseifner_shape, allreduce_rabenseifner},
    {"recursive_doubling", "all that is there exchanged over distances 1, 2, 4 ...", OPERATION_ALLGATHER, false,
     blocks_shape, allgather},
    {"recursive_halving", "halves of what is left reduced over distances ... 4, 2, 1", OPERATION_REDUCE_SCATTER, false,
     blocks_shape, reduce_scatter},
    {0},
};

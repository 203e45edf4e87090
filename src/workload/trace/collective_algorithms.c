/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algorithms of collectives, see collective.h: a row each at the end, with the functions that say how many steps there
 * are and what a rank does in one.
 *
 * With a root. Binomial trees: ranks are counted from the root. Down the tree a rank whose number is a multiple of twice the
 * stride sends to the one a stride further on, and strides shrink from step to step; up the tree all of it goes backwards. A
 * child stands for the ranks from itself to one stride on.
 *
 *   0 ---------------> 4                 stride 4
 *   0 -----> 2         4 -----> 6               2
 *   0 -> 1   2 -> 3    4 -> 5   6 -> 7          1
 *
 * Broadcast down a chain of all ranks, in pieces: while a rank sends one on, the next is on its way to it. And gather and
 * scatter between the root and each other rank, all at once, which is what can be done where a rank knows the size of its own
 * block alone.
 *
 * Rings: every rank sends to the next in every step, a block each time, so that all links work all the time. Once round with
 * sums on their way is a reduce-scatter, once round with what is ready an allgather, and the one after the other an allreduce.
 *
 * Directly: in step k to the rank k + 1 further on, one after the other (pairwise) or all at once (spread). Or by Bruck: a
 * block that has to go d ranks on goes 2^k of them in step k where d has that bit; few messages, bytes sent several times.
 *
 * Exchanges with ranks at distances 1, 2, 4 ... (doubling) or ... 4, 2, 1 (halving), for which a power of two of ranks is
 * needed: the core. Of n ranks that are no power of two the first 2(n - core) stand in pairs: the even one hands all to the
 * odd one in a step before (fold), which stands for both, and gets its result in a step behind (unfold).
 *
 *   ranks    0 1 2 3 4 5 6        n = 7: core 4, three pairs
 *   members    0   1   2 3        and the blocks of members 0 .. m are those of ranks 0 .. their last
 */
#include "workload/trace/collective.h"

enum { MOST_PIECES = 65536 }; /* so that steps are a number that messages can carry */

/* ---- what algorithms share ---- */

/* How often one has to double to reach `ranks`. */
static uint32_t doublings(uint32_t ranks) { return ranks > 1 ? 32 - (uint32_t)__builtin_clz(ranks - 1) : 0; }

/* Ranks and blocks go round: `distance` is below `size`. */
static uint32_t forward(uint32_t from, uint32_t distance, uint32_t size)
{
    return from < size - distance ? from + distance : from - (size - distance);
}

static uint32_t backward(uint32_t from, uint32_t distance, uint32_t size)
{
    return from >= distance ? from - distance : from + (size - distance);
}

/* As many steps as it takes to double up to all ranks, of the whole vector or of the blocks of all ranks. */
static struct plan_shape shape_of_doublings(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = 1};
}

static struct plan_shape shape_of_block_doublings(const struct plan *plan)
{
    return (struct plan_shape){.steps = doublings(plan->ranks), .blocks = plan->ranks};
}

/* A step for each other rank, and the blocks of all. */
static struct plan_shape shape_of_others(const struct plan *plan)
{
    return (struct plan_shape){.steps = plan->ranks - 1, .blocks = plan->ranks};
}

/* A message of the whole vector. */
static struct plan_message whole_vector(const struct plan *plan, uint32_t peer)
{
    return (struct plan_message){.peer = peer, .bytes = plan->bytes, .blocks = {0, 1, 0}};
}

/* Bytes of the parts before `part`: those that are left over go to the first ones. */
static uint64_t bytes_before(uint64_t bytes, uint32_t parts, uint32_t part)
{
    uint64_t left_over = bytes % parts;
    return bytes / parts * part + (part < left_over ? part : left_over);
}

/* A message of some parts of the vector, which is cut as evenly as bytes allow; they do not go round. */
static struct plan_message vector_parts(const struct plan *plan, uint32_t peer, uint32_t parts, uint32_t first,
                                        uint32_t count)
{
    return (struct plan_message){
        .peer = peer,
        .bytes = bytes_before(plan->bytes, parts, first + count) - bytes_before(plan->bytes, parts, first),
        .blocks = {first, count, 0},
    };
}

/* A message of blocks of ranks, going round. */
static struct plan_message rank_blocks(const struct plan *plan, uint32_t peer, uint32_t first, uint32_t count)
{
    struct plan_message message = {.peer = peer, .blocks = {first, count, 0}};
    if (!plan->counts)
        message.bytes = plan->bytes * count;
    for (uint32_t i = 0; plan->counts && i < count; i++)
        message.bytes += plan->counts[forward(first, i, plan->ranks)];
    return message;
}

/* ---- with a root ---- */

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

/* Each rank directly: step k is for the rank k + 1 behind the root. Its block is all that others than the root know of. */
static void linear_step(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t other = forward(plan->root, step + 1, plan->ranks);
    bool is_root = rank == plan->root, gathers = plan->algorithm->flags & PLAN_UP;
    if (is_root || rank == other)
        *(is_root == gathers ? &out->receive : &out->send) = rank_blocks(plan, is_root ? other : plan->root, other, 1);
}

/* ---- rings ---- */

static struct plan_shape twice_round(const struct plan *plan)
{
    return (struct plan_shape){.steps = 2 * (plan->ranks - 1), .blocks = plan->ranks};
}

/*
 * A rank sends in step k a sum that ends its way k + 1 ranks before, having begun with the next one; or a block that is ready,
 * from k ranks before. What arrives is what the rank before has sent.
 */
static void collective_ring_step(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    uint32_t ranks = plan->ranks, to = forward(rank, 1, ranks), from = backward(rank, 1, ranks);
    bool is_vector = plan->algorithm->flags & PLAN_VECTOR; /* round with sums, then with what is ready */
    out->reduces = is_vector ? step < ranks - 1 : out->reduces;
    uint32_t sent = backward(rank, out->reduces ? step + 1 : step % (ranks - 1), ranks), got = backward(sent, 1, ranks);
    out->send = is_vector ? vector_parts(plan, to, ranks, sent, 1) : rank_blocks(plan, to, sent, 1);
    out->receive = is_vector ? vector_parts(plan, from, ranks, got, 1) : rank_blocks(plan, from, got, 1);
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
    struct plan_message message = {.bytes = plan->bytes * count_with_bit(plan->ranks, distance),
                                   .blocks = {0, plan->ranks, distance}};
    out->send = out->receive = message;
    out->send.peer = forward(rank, distance, plan->ranks);
    out->receive.peer = backward(rank, distance, plan->ranks);
}

/* ---- exchanges over distances that double ---- */

struct core {
    uint32_t size, levels; /* size = 2^levels */
    uint32_t pairs;
};

static struct core core_of(const struct plan *plan)
{
    uint32_t levels = 31 - (uint32_t)__builtin_clz(plan->ranks), size = (uint32_t)1 << levels;
    return (struct core){size, levels, plan->ranks - size};
}

/* The first rank that a member stands for; its own is the last of them. */
static uint32_t first_rank(const struct core *core, uint32_t member)
{
    return member < core->pairs ? 2 * member : member + core->pairs;
}

/* Where a step belongs. */
enum stage { FOLD, EXCHANGE, UNFOLD };

/* What a rank does in a step: in an exchange it gives what `count` members have, from `sent` on, and gets that of others. */
struct exchange {
    struct core core;
    enum stage stage;
    bool halves;   /* distances go down: what the peer stands for is given, not what this rank stands for */
    uint32_t peer; /* FW_NONE: the rank is not in the core, or in no exchange */
    uint32_t sent, received, count;
};

/* Down, up, or down and then up again, where the vector is cut into a part for each member of the core. */
static struct plan_shape exchange_shape(const struct plan *plan)
{
    struct core core = core_of(plan);
    uint32_t flags = plan->algorithm->flags;
    bool is_twice = flags & PLAN_HALVES && flags & PLAN_DOUBLES;
    return (struct plan_shape){.steps = (is_twice ? 2 : 1) * core.levels + (core.pairs ? 2 : 0),
                               .blocks = flags & PLAN_VECTOR ? 1
                                         : is_twice          ? core.size
                                                             : plan->ranks};
}

static struct exchange exchange_at(const struct plan *plan, uint32_t rank, uint32_t step)
{
    struct exchange at = {.core = core_of(plan), .stage = EXCHANGE, .peer = FW_NONE};
    uint32_t pairs = at.core.pairs, levels = at.core.levels, level = step - (pairs > 0);
    bool is_outside = rank < 2 * pairs && rank % 2 == 0; /* the next one stands for it */
    if (pairs)
        at.stage = step == 0 ? FOLD : step == exchange_shape(plan).steps - 1 ? UNFOLD : EXCHANGE;
    at.halves = plan->algorithm->flags & PLAN_HALVES && level < levels;
    if (at.stage != EXCHANGE || is_outside)
        return at;
    at.count = at.halves ? at.core.size >> (level + 1) : (uint32_t)1 << (level < levels ? level : level - levels);
    uint32_t member = rank < 2 * pairs ? rank / 2 : rank - pairs;
    uint32_t mine = member & ~(at.count - 1), theirs = mine ^ at.count;
    at.peer = first_rank(&at.core, (member ^ at.count) + 1) - 1; /* the last that the other member stands for */
    at.sent = at.halves ? theirs : mine;
    at.received = at.halves ? mine : theirs;
    return at;
}

/* Within a pair: to the odd one in a fold, from it in an unfold. */
static void exchange_hand_over(const struct exchange *at, uint32_t rank, struct plan_message message,
                               struct plan_step *out)
{
    if (rank >= 2 * at->core.pairs)
        return;
    message.peer = rank ^ 1;
    *((at->stage == FOLD) == rank % 2 ? &out->receive : &out->send) = message;
}

/* The whole vector in each step; or by Rabenseifner, a reduce-scatter by halving, then an allgather by doubling. */
static void exchange_allreduce(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step);
    bool is_whole = plan->algorithm->flags & PLAN_VECTOR;
    uint32_t parts = is_whole ? 1 : at.core.size, count = is_whole ? 1 : at.count;
    out->reduces = at.stage == FOLD || (at.stage == EXCHANGE && (is_whole || at.halves));
    if (at.stage != EXCHANGE)
        exchange_hand_over(&at, rank, vector_parts(plan, FW_NONE, parts, 0, parts), out);
    if (at.peer == FW_NONE)
        return;
    out->send = vector_parts(plan, at.peer, parts, is_whole ? 0 : at.sent, count);
    out->receive = vector_parts(plan, at.peer, parts, is_whole ? 0 : at.received, count);
}

static struct plan_message member_blocks(const struct plan *plan, const struct exchange *at, uint32_t member)
{
    uint32_t first = first_rank(&at->core, member);
    return rank_blocks(plan, at->peer, first, first_rank(&at->core, member + at->count) - first);
}

/* An allgather by doubling, or a reduce-scatter by halving: the blocks of all ranks that members stand for. */
static void exchange_blocks(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out)
{
    struct exchange at = exchange_at(plan, rank, step);
    bool sums = plan->algorithm->flags & PLAN_SUMS;
    uint32_t even = rank & ~(uint32_t)1, all = plan->ranks;
    out->reduces = sums && at.stage != UNFOLD;
    if (at.stage == FOLD)
        exchange_hand_over(&at, rank, rank_blocks(plan, FW_NONE, sums ? 0 : even, sums ? all : 1), out);
    if (at.stage == UNFOLD) /* of an allgather all but its own */
        exchange_hand_over(&at, rank,
                           rank_blocks(plan, FW_NONE, sums ? even : forward(even, 1, all), sums ? 1 : all - 1), out);
    if (at.peer == FW_NONE)
        return;
    out->send = member_blocks(plan, &at, at.sent);
    out->receive = member_blocks(plan, &at, at.received);
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

const struct collective_algorithm collective_algorithms[] = {
    {"binomial", OPERATION_BROADCAST, PLAN_VECTOR, shape_of_doublings, tree_step},
    {"binomial", OPERATION_REDUCE, PLAN_VECTOR | PLAN_UP | PLAN_SUMS, shape_of_doublings, tree_step},
    {"binomial", OPERATION_GATHER, PLAN_EVEN | PLAN_UP, shape_of_block_doublings, tree_step},
    {"binomial", OPERATION_SCATTER, PLAN_EVEN, shape_of_block_doublings, tree_step},
    {"pipelined", OPERATION_BROADCAST, 0, chain_shape, chain_broadcast},
    {"linear", OPERATION_GATHER, PLAN_FREE | PLAN_UP, shape_of_others, linear_step},
    {"linear", OPERATION_SCATTER, PLAN_FREE, shape_of_others, linear_step},
    {"ring", OPERATION_ALLREDUCE, PLAN_VECTOR, twice_round, collective_ring_step},
    {"ring", OPERATION_ALLGATHER, 0, shape_of_others, collective_ring_step},
    {"ring", OPERATION_REDUCE_SCATTER, PLAN_SUMS, shape_of_others, collective_ring_step},
    {"pairwise", OPERATION_REDUCE_SCATTER, PLAN_SUMS, shape_of_others, pairwise_reduce_scatter},
    {"pairwise", OPERATION_ALLTOALL, 0, shape_of_others, pairwise_alltoall},
    {"spread", OPERATION_ALLTOALL, PLAN_FREE, shape_of_others, pairwise_alltoall},
    {"bruck", OPERATION_ALLTOALL, PLAN_EVEN, shape_of_block_doublings, bruck_alltoall},
    {"recursive_doubling", OPERATION_ALLREDUCE, PLAN_VECTOR | PLAN_DOUBLES, exchange_shape, exchange_allreduce},
    {"rabenseifner", OPERATION_ALLREDUCE, PLAN_HALVES | PLAN_DOUBLES, exchange_shape, exchange_allreduce},
    {"recursive_doubling", OPERATION_ALLGATHER, PLAN_DOUBLES, exchange_shape, exchange_blocks},
    {"recursive_halving", OPERATION_REDUCE_SCATTER, PLAN_HALVES | PLAN_SUMS, exchange_shape, exchange_blocks},
    {"dissemination", OPERATION_BARRIER, PLAN_SUMS, shape_of_doublings, barrier},
    {"recursive_doubling", OPERATION_SCAN, PLAN_SUMS, shape_of_doublings, scan},
    {"recursive_doubling", OPERATION_EXSCAN, PLAN_SUMS, shape_of_doublings, scan},
    {"bruck", OPERATION_ALLGATHER, 0, shape_of_block_doublings, bruck_allgather},
    {0},
};

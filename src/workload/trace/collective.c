/* SPDX-License-Identifier: Apache-2.0 */
/* Which algorithm a collective goes by, see collective.h. */
#include "workload/trace/collective.h"

#include <string.h>

const struct collective_algorithm *collective_algorithm(enum collective_operation operation, uint32_t number)
{
    const struct collective_algorithm *algorithm = collective_algorithms;
    while (algorithm->name && (algorithm->operation != operation || number-- > 0))
        algorithm++;
    return algorithm->name ? algorithm : NULL;
}

const struct collective_algorithm *collective_find(enum collective_operation operation, const char *name)
{
    uint32_t number = 0;
    const struct collective_algorithm *found = collective_algorithm(operation, 0);
    while (found && strcmp(found->name, name))
        found = collective_algorithm(operation, ++number);
    FW_CHECK(found, "%s knows no algorithm %s", collective_operation_name(operation), name);
    return found;
}

/* In the order of collective_algorithm(): a test compares them. */
static const char *const broadcast_names[] = {"binomial", "pipelined", NULL};
static const char *const allreduce_names[] = {"ring", "recursive_doubling", "rabenseifner", NULL};
static const char *const gather_names[] = {"binomial", "linear", NULL};
static const char *const scatter_names[] = {"binomial", "linear", NULL};
static const char *const allgather_names[] = {"ring", "recursive_doubling", "bruck", NULL};
static const char *const reduce_scatter_names[] = {"ring", "pairwise", "recursive_halving", NULL};
static const char *const alltoall_names[] = {"pairwise", "spread", "bruck", NULL};

#define CHOICE_ROWS(config)                                                                                            \
    OPTION_ENUM(config, broadcast, "\"binomial\"", broadcast_names,                                                    \
                "down a binomial tree, or down a chain of ranks in pieces"),                                           \
        OPTION_ENUM(config, allreduce, "\"recursive_doubling\"", allreduce_names,                                      \
                    "blocks twice round; the whole vector over distances 1, 2, 4 ...; halves there and back"),         \
        OPTION_ENUM(config, gather, "\"binomial\"", gather_names,                                                      \
                    "up a binomial tree, or each rank directly, as always where blocks differ"),                       \
        OPTION_ENUM(config, scatter, "\"binomial\"", scatter_names,                                                    \
                    "down a binomial tree, or to each rank directly, as always where blocks differ"),                  \
        OPTION_ENUM(config, allgather, "\"ring\"", allgather_names,                                                    \
                    "blocks once round; all over distances 1, 2, 4 ..., in pairs or going round"),                     \
        OPTION_ENUM(config, reduce_scatter, "\"ring\"", reduce_scatter_names,                                          \
                    "sums once round; each block directly; halves over distances ... 4, 2, 1"),                        \
        OPTION_ENUM(config, alltoall, "\"pairwise\"", alltoall_names,                                                  \
                    "to one after the other, to all at once, or collected over distances 1, 2, 4 ...; where blocks "   \
                    "differ pairwise instead of bruck")

static const struct option large_options[] = {CHOICE_ROWS(struct collective_choice), OPTION_END};

#define SIZE_ROW(operation, what)                                                                                      \
    OPTION_U64(struct collective_sizes, operation, "null", 1, 1e18, "bytes", what "; null: never")
static const struct option large_from_options[] = {
    SIZE_ROW(broadcast, "of the vector"), SIZE_ROW(allreduce, "of the vector"),
    SIZE_ROW(gather, "of a block"),       SIZE_ROW(scatter, "of a block"),
    SIZE_ROW(allgather, "of a block"),    SIZE_ROW(reduce_scatter, "of a block"),
    SIZE_ROW(alltoall, "of a block"),     OPTION_END,
};

const struct option collective_options[] = {
    CHOICE_ROWS(struct collective_settings),
    OPTION_BLOCK(struct collective_settings, large, struct collective_choice, large_options,
                 "the same for large operations, where large_from says which these are"),
    OPTION_BLOCK(struct collective_settings, large_from, struct collective_sizes, large_from_options,
                 "how many bytes make an operation large; not where blocks differ"),
    OPTION_U64(struct collective_settings, segment, "65536", 1, 1e15, "bytes",
               "pieces of a pipelined broadcast, of which there are at most 65536"),
    OPTION_END,
};

struct plan plan_make(const struct collective_settings *settings, enum collective_operation operation, uint32_t ranks,
                      uint32_t root, uint64_t bytes, const uint64_t *counts, bool is_uneven)
{
    uint64_t large_from = settings->large_from.of[operation];
    bool is_large = large_from && bytes >= large_from && !is_uneven; /* ranks that know different bytes choose alike */
    uint32_t chosen = is_large ? settings->large.of[operation] : settings->of[operation];
    const struct collective_algorithm *algorithm = collective_algorithm(operation, chosen);
    for (uint32_t number = 0; is_uneven && algorithm->flags & PLAN_EVEN; number++)
        algorithm = collective_algorithm(operation, number);
    return (struct plan){algorithm, ranks, root, bytes, counts, settings->segment};
}

/* Most communicators are evenly spaced: all ranks, rows, columns. Others are looked through. */
uint32_t communicator_place(const struct trace_communicator *communicator, uint32_t rank)
{
    const uint32_t *ranks = communicator->ranks;
    bool has_stride = communicator->size > 1 && ranks[1] != ranks[0];
    uint32_t at = communicator->size ? (rank - ranks[0]) / (has_stride ? ranks[1] - ranks[0] : 1) : 0;
    if (at < communicator->size && ranks[at] == rank)
        return at;
    for (at = 0; at < communicator->size && ranks[at] != rank;)
        at++;
    return at;
}

struct plan plan_of_task(const struct collective_settings *settings, const struct trace *trace, const struct task *task)
{
    const struct trace_communicator *communicator = &trace->communicators[task->communicator];
    const uint64_t *counts = trace_counts(trace, task);
    return plan_make(settings, task->unit, communicator->size, communicator_place(communicator, task->peer),
                     task->amount, counts, counts || task->flags & TASK_UNEVEN);
}

struct plan_shape plan_shape(const struct plan *plan) { return plan->algorithm->shape(plan); }

struct plan_step plan_step(const struct plan *plan, uint32_t rank, uint32_t step)
{
    uint32_t flags = plan->algorithm->flags;
    struct plan_step out = {
        .send.peer = FW_NONE, .receive.peer = FW_NONE, .reduces = flags & PLAN_SUMS, .is_free = flags & PLAN_FREE};
    plan->algorithm->step(plan, rank, step, &out);
    return out;
}

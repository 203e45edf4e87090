/* SPDX-License-Identifier: Apache-2.0 */
/* Which algorithm a collective goes by, see collective.h. */
#include "workload/trace/collective.h"

#include "workload/trace/collective/parts.h"

#include <string.h>

static const struct collective_algorithm *const groups[] = {
    tree_algorithms,     chain_algorithms,         ring_algorithms,
    doubling_algorithms, dissemination_algorithms, alltoall_algorithms,
};

const struct collective_algorithm *collective_algorithm(enum collective_operation operation, uint32_t number)
{
    for (uint32_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
        for (const struct collective_algorithm *algorithm = groups[i]; algorithm->name; algorithm++)
            if (algorithm->operation == operation && number-- == 0)
                return algorithm;
    return NULL;
}

const struct collective_algorithm *collective_find(enum collective_operation operation, const char *name)
{
    uint32_t number = 0;
    const struct collective_algorithm *found = collective_algorithm(operation, 0);
    while (found && strcmp(found->name, name))
        found = collective_algorithm(operation, ++number);
    CHECK(found, "%s knows no algorithm %s", collective_operation_name(operation), name);
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

const struct option collective_options[] = {
    OPTION_ENUM(struct collective_settings, broadcast, "\"binomial\"", broadcast_names,
                "down a binomial tree, or down a chain of ranks in pieces"),
    OPTION_ENUM(struct collective_settings, allreduce, "\"recursive_doubling\"", allreduce_names,
                "blocks twice round; the whole vector over distances 1, 2, 4 ...; halves there and back"),
    OPTION_ENUM(struct collective_settings, gather, "\"binomial\"", gather_names,
                "up a binomial tree, or each rank directly, as always where blocks differ"),
    OPTION_ENUM(struct collective_settings, scatter, "\"binomial\"", scatter_names,
                "down a binomial tree, or to each rank directly, as always where blocks differ"),
    OPTION_ENUM(struct collective_settings, allgather, "\"ring\"", allgather_names,
                "blocks once round; all over distances 1, 2, 4 ..., in pairs or going round"),
    OPTION_ENUM(struct collective_settings, reduce_scatter, "\"ring\"", reduce_scatter_names,
                "sums once round; each block directly; halves over distances ... 4, 2, 1"),
    OPTION_ENUM(struct collective_settings, alltoall, "\"pairwise\"", alltoall_names,
                "to one after the other, to all at once, or collected over distances 1, 2, 4 ...; where blocks differ "
                "pairwise instead of bruck"),
    OPTION_U64(struct collective_settings, segment, "65536", 1, 1e15, "bytes",
               "pieces of a pipelined broadcast, of which there are at most 65536"),
    OPTION_END,
};

static uint32_t chosen(const struct collective_settings *settings, enum collective_operation operation)
{
    switch (operation) {
    case OPERATION_BROADCAST:
        return settings->broadcast;
    case OPERATION_ALLREDUCE:
        return settings->allreduce;
    case OPERATION_GATHER:
        return settings->gather;
    case OPERATION_SCATTER:
        return settings->scatter;
    case OPERATION_ALLGATHER:
        return settings->allgather;
    case OPERATION_REDUCE_SCATTER:
        return settings->reduce_scatter;
    case OPERATION_ALLTOALL:
        return settings->alltoall;
    default:
        return 0;
    }
}

struct plan plan_make(const struct collective_settings *settings, enum collective_operation operation, uint32_t ranks,
                      uint32_t root, uint64_t bytes, const uint64_t *counts, bool is_uneven)
{
    const struct collective_algorithm *algorithm = collective_algorithm(operation, chosen(settings, operation));
    for (uint32_t number = 0; is_uneven && algorithm->is_even; number++)
        algorithm = collective_algorithm(operation, number);
    return (struct plan){algorithm, ranks, root, bytes, counts, settings->segment};
}

struct plan_shape plan_shape(const struct plan *plan) { return plan->algorithm->shape(plan); }

struct plan_step plan_step(const struct plan *plan, uint32_t rank, uint32_t step)
{
    struct plan_step out = {.send.peer = NONE, .receive.peer = NONE};
    plan->algorithm->step(plan, rank, step, &out);
    return out;
}

bool block_set_has(const struct block_set *set, uint32_t blocks, uint32_t block)
{
    uint32_t offset = block >= set->first ? block - set->first : block + (blocks - set->first);
    return offset < set->count && (!set->bit || block & set->bit);
}

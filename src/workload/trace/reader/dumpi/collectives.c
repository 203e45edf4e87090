/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective calls of a DUMPI trace as tasks, and one-sided ones.
 *
 * Where blocks differ, a call has an argument commsize, and a row of bytes. MPI_Gatherv and
 * MPI_Scatterv have them at the root only: they are kept when the root comes to its call,
 * and found again by the others, who count their calls. Where all ranks give the same
 * row (root FW_ANY), the first that comes keeps it for all.
 *
 * A put (or MPI_Accumulate) and a get go on by themselves until the call that ends their epoch:
 * MPI_Win_fence and MPI_Win_free, where all ranks of the window meet, or MPI_Win_complete and
 * MPI_Win_unlock. Whether the other side has opened its epoch (MPI_Win_post, a lock) is not waited for.
 */
#include "workload/trace/reader/dumpi/tasks.h"

#include <stdlib.h>

/* The arguments by which a rank says what it gives, or gets where the root gives. */
static const struct {
    const char *count, *type;
} amounts[OPERATIONS] = {
    [OPERATION_BROADCAST] = {"count", "datatype"},    [OPERATION_GATHER] = {"sendcount", "sendtype"},
    [OPERATION_SCATTER] = {"recvcount", "recvtype"},  [OPERATION_ALLGATHER] = {"recvcount", "recvtype"},
    [OPERATION_ALLTOALL] = {"recvcount", "recvtype"}, [OPERATION_REDUCE] = {"count", "datatype"},
    [OPERATION_ALLREDUCE] = {"count", "datatype"},    [OPERATION_REDUCE_SCATTER] = {"recvcount", "datatype"},
    [OPERATION_SCAN] = {"count", "datatype"},         [OPERATION_EXSCAN] = {"count", "datatype"},
};

/* ---- rows ---- */

bool dumpi_row_is_kept(const struct dumpi_call *call)
{
    return call->function->does == DUMPI_COLLECTIVE && dumpi_find(call, "commsize") && dumpi_find(call, "root");
}

/* Where the row of the rank's next call of this communicator and root is; 0 there: nobody has kept one. */
static uint32_t *dumpi_next_row(struct dumpi_communicators *communicators, uint32_t rank, uint32_t communicator,
                                uint32_t root)
{
    uint64_t *calls = table_put(&communicators->row_calls, &(struct table_key){{rank, communicator, root}});
    return table_put(&communicators->rows, &(struct table_key){{communicator, root, (*calls)++}});
}

/* The bytes of an array of counts, one for each of `size` ranks. False with an error. */
static bool row_bytes(struct dumpi_rank *rank, const struct dumpi_call *call, const char *counts,
                      const struct dumpi_argument *type, uint32_t size, uint64_t *bytes)
{
    const struct dumpi_argument *elements = dumpi_find(call, counts);
    if (!elements || !type || elements->count != size || (type->is_array && type->count != size))
        return dumpi_call_error(&rank->file, call, "%u %s in a communicator of %u ranks",
                                elements ? elements->count : 0, counts, size);
    for (uint32_t i = 0; i < size; i++)
        if (!dumpi_bytes(rank, call, dumpi_number(elements, i), dumpi_number(type, type->is_array ? i : 0), &bytes[i]))
            return false;
    return true;
}

/* A row of counts, and of a second one behind it if that has a name; its number + 1, or 0 with an error. */
static uint32_t make_row(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call,
                         const struct dumpi_communicator *communicator, const char *counts,
                         const struct dumpi_argument *type, bool is_alltoall)
{
    struct dumpi_rank *at = &communicators->ranks->ranks[rank];
    uint32_t size = communicator->size, row = 0;
    uint64_t *bytes = memory_take(2 * (size_t)size * sizeof *bytes);
    if (row_bytes(at, call, counts, type, size, bytes) &&
        (!is_alltoall ||
         row_bytes(at, call, "recvcounts", dumpi_find_either(call, "recvtype", "recvtypes"), size, bytes + size)))
        row = 1 + builder_counts(communicators->builder, bytes, is_alltoall ? 2 * size : size);
    free(bytes);
    return row;
}

bool dumpi_row_keep(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    bool is_gather = call->function->with == OPERATION_GATHER;
    const char *counts = is_gather ? "recvcounts" : "sendcounts";
    const struct dumpi_argument *type = dumpi_find(call, is_gather ? "recvtype" : "sendtype");
    const struct dumpi_communicator *communicator = dumpi_communicator_within(communicators, rank, call, "comm");
    if (!communicator || !dumpi_find(call, counts))
        return communicator;
    uint32_t row = make_row(communicators, rank, call, communicator, counts, type, false);
    if (row)
        *dumpi_next_row(communicators, rank, communicator->number, rank) = row;
    return row;
}

/* The row that the root, or whoever came first, has kept; of an all-to-all a rank's own. 0 with an error. */
static uint32_t find_row(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                         const struct dumpi_communicator *communicator, uint32_t root)
{
    struct dumpi_communicators *communicators = conversion->communicators;
    uint32_t operation = call->function->with;
    bool is_of_root = dumpi_find(call, "root");
    if (operation == OPERATION_ALLTOALL)
        return make_row(communicators, conversion->rank, call, communicator, "sendcounts",
                        dumpi_find_either(call, "sendtype", "sendtypes"), true);
    uint32_t *row = dumpi_next_row(communicators, conversion->rank, communicator->number, is_of_root ? root : FW_ANY);
    if (!*row && is_of_root)
        dumpi_call_error(&conversion->at->file, call, "rank %u, its root, has no such call", root);
    else if (!*row)
        *row = make_row(communicators, conversion->rank, call, communicator, "recvcounts",
                        dumpi_find(call, amounts[operation].type), false);
    return *row;
}

/* ---- collectives ---- */

/* What this rank itself gives, or gets where the root gives: its block of the row. */
static bool own_block(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                      const struct dumpi_communicator *communicator, struct task *task)
{
    const char *count = amounts[task->unit].count;
    const struct dumpi_argument *counts = dumpi_find_either(call, count, "recvcounts");
    uint32_t place = 0;
    while (communicator->ranks[place] != conversion->rank)
        place++;
    return dumpi_bytes(conversion->at, call, dumpi_number(counts, counts->is_array ? place : 0),
                       dumpi_value(call, amounts[task->unit].type), &task->amount);
}

bool dumpi_collective(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct task task = {.kind = TASK_COLLECTIVE, .unit = call->function->with, .tag = NO_COUNTS};
    bool is_barrier = task.unit == OPERATION_BARRIER, is_uneven = dumpi_find(call, "commsize");
    const struct dumpi_communicator *communicator = (is_barrier ? dumpi_communicator_of : dumpi_communicator_within)(
        conversion->communicators, conversion->rank, call, "comm");
    if (!communicator)
        return false;
    if (communicator->joint)
        communicator = communicator->joint;
    task.communicator = communicator->number;
    task.peer = communicator->ranks[0];
    if (dumpi_find(call, "root") && !dumpi_peer(conversion, call, communicator, dumpi_value(call, "root"), &task.peer))
        return false;
    if (!is_barrier && !(is_uneven && task.unit == OPERATION_ALLTOALL) &&
        !own_block(conversion, call, communicator, &task))
        return false;
    uint32_t row = is_uneven ? find_row(conversion, call, communicator, task.peer) : 0;
    if (is_uneven && !row)
        return false;
    task.tag = is_uneven ? row - 1 : NO_COUNTS;
    dumpi_task_add(conversion, &task, true);
    return true;
}

/* ---- one-sided calls ---- */

/* All that was put or got under a window so far has ended before the task does. */
static bool end_epoch(struct dumpi_conversion *conversion, struct dumpi_request *window, bool all_meet)
{
    const struct dumpi_communicator *communicator = window->communicator;
    const struct task join = {.kind = TASK_JOIN}, barrier = {.kind = TASK_COLLECTIVE,
                                                             .unit = OPERATION_BARRIER,
                                                             .tag = NO_COUNTS,
                                                             .communicator = communicator->number,
                                                             .peer = communicator->ranks[0]};
    uint32_t end = dumpi_task_add(conversion, all_meet ? &barrier : &join, true), earlier;
    while (dumpi_request_end(conversion, window, &earlier))
        builder_wait(conversion->builder, conversion->rank, end, earlier, false);
    return true;
}

static bool dumpi_reach(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                        struct dumpi_request *window)
{
    struct task task = {.kind = call->function->does == DUMPI_GET ? TASK_GET : TASK_PUT};
    int64_t target = dumpi_value(call, "targetrank");
    task.communicator = window->communicator->number;
    if (!dumpi_bytes(conversion->at, call, dumpi_value(call, "origincount"), dumpi_value(call, "origintype"),
                     &task.amount))
        return false;
    if (target < 0)
        return true; /* MPI_PROC_NULL */
    if (!dumpi_peer(conversion, call, window->communicator, target, &task.peer))
        return false;
    dumpi_request_start(conversion, window, dumpi_task_add(conversion, &task, false));
    return true;
}

bool dumpi_one_sided(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct dumpi_request *window = dumpi_request_of(conversion, dumpi_value(call, "win"), true);
    uint32_t does = call->function->does;
    if (does == DUMPI_WINDOW) {
        window->communicator = dumpi_communicator_within(conversion->communicators, conversion->rank, call, "comm");
        return window->communicator && end_epoch(conversion, window, true);
    }
    if (!window->communicator)
        return dumpi_call_error(&conversion->at->file, call, "no call made window %lld",
                                (long long)dumpi_value(call, "win"));
    if (does == DUMPI_PUT || does == DUMPI_GET)
        return dumpi_reach(conversion, call, window);
    return end_epoch(conversion, window, does == DUMPI_FENCE);
}

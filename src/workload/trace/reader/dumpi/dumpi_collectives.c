/* SPDX-License-Identifier: Apache-2.0 */
/* Collective calls of a DUMPI trace as tasks. */
#include "workload/trace/reader/dumpi/dumpi_conversion.h"

#include <stdlib.h>
#include <string.h>

enum row_from { ROW_NONE, ROW_OF_ROOT, ROW_OF_ALL, ROW_OF_EACH };

/* Which arguments say how much: what every rank knows, or all blocks of the row. */
static const struct collective {
    uint16_t id;
    uint8_t operation, row;
    const char *count, *type;
} collectives[] = {
    {DUMPI_BARRIER, OPERATION_BARRIER, ROW_NONE, NULL, NULL},
    {DUMPI_BCAST, OPERATION_BROADCAST, ROW_NONE, "count", "datatype"},
    {DUMPI_GATHER, OPERATION_GATHER, ROW_NONE, "sendcount", "sendtype"},
    {DUMPI_GATHERV, OPERATION_GATHER, ROW_OF_ROOT, "sendcount", "sendtype"},
    {DUMPI_SCATTER, OPERATION_SCATTER, ROW_NONE, "recvcount", "recvtype"},
    {DUMPI_SCATTERV, OPERATION_SCATTER, ROW_OF_ROOT, "recvcount", "recvtype"},
    {DUMPI_ALLGATHER, OPERATION_ALLGATHER, ROW_NONE, "recvcount", "recvtype"},
    {DUMPI_ALLGATHERV, OPERATION_ALLGATHER, ROW_OF_ALL, "recvcounts", "recvtype"},
    {DUMPI_ALLTOALL, OPERATION_ALLTOALL, ROW_NONE, "recvcount", "recvtype"},
    {DUMPI_ALLTOALLV, OPERATION_ALLTOALL, ROW_OF_EACH, "sendtype", "recvtype"},
    {DUMPI_ALLTOALLW, OPERATION_ALLTOALL, ROW_OF_EACH, "sendtypes", "recvtypes"},
    {DUMPI_REDUCE, OPERATION_REDUCE, ROW_NONE, "count", "datatype"},
    {DUMPI_ALLREDUCE, OPERATION_ALLREDUCE, ROW_NONE, "count", "datatype"},
    {DUMPI_REDUCE_SCATTER, OPERATION_REDUCE_SCATTER, ROW_OF_ALL, "recvcounts", "datatype"},
    {DUMPI_SCAN, OPERATION_SCAN, ROW_NONE, "count", "datatype"},
    {DUMPI_EXSCAN, OPERATION_EXSCAN, ROW_NONE, "count", "datatype"},
};

static const struct collective *collective_of(const struct dumpi_call *call)
{
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (collectives[i].id == call->id)
            return &collectives[i];
    return NULL;
}

/* The row that the root, or whoever came first, has kept. */
static bool find_row(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                     const struct collective *collective, const struct dumpi_communicator *communicator,
                     struct task *task)
{
    bool is_of_root = collective->row == ROW_OF_ROOT;
    uint32_t *row = dumpi_rows_next(&conversion->communicators->rows, conversion->rank, communicator->number,
                                    is_of_root ? task->peer : ANY);
    if (!*row && is_of_root)
        return dumpi_error(&conversion->at->file, call->offset, "%s: rank %u, its root, has no such call",
                           dumpi_functions[call->id].name, task->peer);
    if (!*row) {
        uint64_t *bytes = memory_take(communicator->size * sizeof *bytes);
        if (dumpi_row_bytes(&conversion->at->types, call, collective->count, collective->type, communicator->size,
                            bytes))
            *row = 1 + builder_counts(conversion->builder, bytes, communicator->size);
        free(bytes);
    }
    task->tag = *row - 1;
    return *row;
}

/* What this rank itself gives, or gets where the root gives: its block of the row. */
static bool own_block(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                      const struct collective *collective, const struct dumpi_communicator *communicator,
                      struct task *task)
{
    const struct dumpi_argument *counts = dumpi_find(call, collective->count);
    uint32_t place = 0;
    while (communicator->ranks[place] != conversion->rank)
        place++;
    return dumpi_bytes(&conversion->at->types, call, dumpi_number(counts, counts->is_array ? place : 0),
                       dumpi_value(call, collective->type), &task->amount);
}

/* Of an all-to-all: what goes to each, then what comes from each. */
static bool own_row(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                    const struct collective *collective, const struct dumpi_communicator *communicator,
                    struct task *task)
{
    uint32_t size = communicator->size;
    uint64_t *bytes = memory_take(2 * (size_t)size * sizeof *bytes);
    bool is_good = dumpi_row_bytes(&conversion->at->types, call, "sendcounts", collective->count, size, bytes) &&
                   dumpi_row_bytes(&conversion->at->types, call, "recvcounts", collective->type, size, bytes + size);
    if (is_good)
        task->tag = builder_counts(conversion->builder, bytes, 2 * size);
    free(bytes);
    return is_good;
}

static bool convert(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                    const struct collective *collective)
{
    bool is_barrier = collective->operation == OPERATION_BARRIER;
    const struct dumpi_communicator *communicator = (is_barrier ? dumpi_communicator_of : dumpi_communicator_within)(
        conversion->communicators, conversion->rank, call, "comm");
    struct task task = {.kind = TASK_COLLECTIVE, .unit = collective->operation, .tag = NO_COUNTS};
    if (!communicator)
        return false;
    if (communicator->joint)
        communicator = communicator->joint;
    task.communicator = communicator->number;
    task.peer = communicator->ranks[0];
    if (dumpi_find(call, "root") && !dumpi_peer(conversion, call, communicator, dumpi_value(call, "root"), &task.peer))
        return false;
    if (collective->row != ROW_OF_EACH && collective->count &&
        !own_block(conversion, call, collective, communicator, &task))
        return false;
    bool is_good = collective->row == ROW_NONE      ? true
                   : collective->row == ROW_OF_EACH ? own_row(conversion, call, collective, communicator, &task)
                                                    : find_row(conversion, call, collective, communicator, &task);
    if (is_good)
        dumpi_task_add(conversion, &task, true);
    return is_good;
}

bool dumpi_collective(struct dumpi_conversion *conversion, const struct dumpi_call *call, bool *is_good)
{
    const struct collective *collective = collective_of(call);
    if (collective)
        *is_good = convert(conversion, call, collective);
    return collective;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where blocks of a collective differ, its call has an argument commsize, and a row of bytes. MPI_Gatherv and
 * MPI_Scatterv have them at the root only: they are kept when the root comes to its call, and found again by the
 * others, who count their calls. Where all ranks give the same row (root FW_ANY), the first that comes keeps it.
 */
#include "workload/trace/reader/dumpi/dumpi.h"

#include <stdlib.h>

bool dumpi_row_is_kept(const struct dumpi_rank *rank)
{
    return rank->call.does == DUMPI_COLLECTIVE && dumpi_find(rank, "commsize") && dumpi_find(rank, "root");
}

/* Where the row of the rank's next call of this communicator and root is; 0 there: nobody has kept one. */
static uint32_t *next_row(struct dumpi_rank *rank, uint32_t communicator, uint32_t root)
{
    uint64_t *calls = table_put(&rank->job->row_calls, &(struct table_key){{rank->number, communicator, root}});
    return table_put(&rank->job->rows, &(struct table_key){{communicator, root, (*calls)++}});
}

/* The bytes of an array of counts, one for each of `size` ranks. False with an error. */
static bool row_bytes(struct dumpi_rank *rank, const char *counts, const struct dumpi_argument *type, uint32_t size,
                      uint64_t *bytes)
{
    const struct dumpi_argument *elements = dumpi_find(rank, counts);
    if (!elements || !type || elements->count != size || (type->is_array && type->count != size))
        return dumpi_call_error(rank, "%u %s in a communicator of %u ranks", elements ? elements->count : 0, counts,
                                size);
    for (uint32_t i = 0; i < size; i++)
        if (!dumpi_bytes(rank, dumpi_number(elements, i), dumpi_number(type, type->is_array ? i : 0), &bytes[i]))
            return false;
    return true;
}

/* A row of counts, and of an all-to-all the other one behind it; its number + 1, or 0 with an error. */
static uint32_t make_row(struct dumpi_rank *rank, uint32_t size, const char *counts, const struct dumpi_argument *type,
                         bool is_alltoall)
{
    uint32_t row = 0;
    uint64_t *bytes = memory_take(2 * (size_t)size * sizeof *bytes);
    if (row_bytes(rank, counts, type, size, bytes) &&
        (!is_alltoall ||
         row_bytes(rank, "recvcounts", dumpi_find_either(rank, "recvtype", "recvtypes"), size, bytes + size)))
        row = 1 + builder_counts(rank->job->builder, bytes, is_alltoall ? 2 * size : size);
    free(bytes);
    return row;
}

bool dumpi_row_keep(struct dumpi_rank *rank)
{
    bool is_gather = rank->call.function->with == OPERATION_GATHER;
    const char *counts = is_gather ? "recvcounts" : "sendcounts";
    const struct dumpi_communicator *communicator = dumpi_communicator_within(rank, "comm");
    if (!communicator || !dumpi_find(rank, counts))
        return communicator;
    uint32_t row =
        make_row(rank, communicator->size, counts, dumpi_find(rank, is_gather ? "recvtype" : "sendtype"), false);
    if (row)
        *next_row(rank, communicator->number, rank->number) = row;
    return row;
}

uint32_t dumpi_row_find(struct dumpi_rank *rank, const struct dumpi_communicator *communicator, uint32_t root,
                        const char *type)
{
    bool is_of_root = dumpi_find(rank, "root");
    if (rank->call.function->with == OPERATION_ALLTOALL)
        return make_row(rank, communicator->size, "sendcounts", dumpi_find_either(rank, "sendtype", "sendtypes"), true);
    uint32_t *row = next_row(rank, communicator->number, is_of_root ? root : FW_ANY);
    if (!*row && is_of_root)
        dumpi_call_error(rank, "rank %u, its root, has no such call", root);
    else if (!*row)
        *row = make_row(rank, communicator->size, "recvcounts", dumpi_find(rank, type), false);
    return *row;
}

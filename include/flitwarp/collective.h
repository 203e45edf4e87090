/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Collective operations of programs, and the groups of ranks that they go on: for motifs and readers of traces. */
#include <stdint.h>

/* Bytes of a collective are what a rank gives: in rooted ones and all-to-all to or from each other rank. */
enum collective_operation {
    OPERATION_BARRIER,
    OPERATION_BROADCAST,
    OPERATION_REDUCE,
    OPERATION_ALLREDUCE,
    OPERATION_GATHER,
    OPERATION_SCATTER,
    OPERATION_ALLGATHER,
    OPERATION_REDUCE_SCATTER, /* bytes of a block; there are as many as ranks */
    OPERATION_ALLTOALL,
    OPERATION_SCAN,
    OPERATION_EXSCAN,
    OPERATIONS,
};
extern const char *const collective_operation_names[]; /* "barrier" ..., NULL behind the last */

#define FW_WORLD 0u          /* the communicator of all ranks */
#define NO_COUNTS UINT32_MAX /* all blocks of a collective are of the same size */

struct trace_builder;

/* The number of a communicator of these ranks of the job; another one each time. FW_WORLD is there from the beginning. */
uint32_t builder_communicator(struct trace_builder *builder, const uint32_t *ranks, uint32_t size);
/*
 * A row of bytes for collectives whose blocks differ. One for each rank of the communicator; of an all-to-all what goes to
 * each of them, then what comes from each.
 */
uint32_t builder_counts(struct trace_builder *builder, const uint64_t *counts, uint32_t count);

/*
 * Communicators of `size` ranks each that lie `stride` apart: rows of a grid with a
 * stride of 1, columns with that of its width. `size` times `stride` divides the number
 * of ranks, so that each is in one of them.
 */
struct rank_groups {
    uint32_t size, stride;
    uint32_t first; /* communicator */
};

/* The builder knows its ranks by then. */
struct rank_groups rank_groups_make(struct trace_builder *builder, uint32_t size, uint32_t stride);
/* The communicator that a rank is in. */
uint32_t rank_group_of(const struct rank_groups *groups, uint32_t rank);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Groups of a DUMPI trace: each rank makes its own, out of those that it has. */
#include "workload/trace/reader/dumpi/dumpi_file.h"

#include "base/table.h"

struct dumpi_group {
    const uint32_t *ranks; /* of the job; borrowed */
    uint32_t size;
};

struct dumpi_groups {
    struct table handles; /* by rank and handle */
    bool *is_marked;      /* owned; by rank of the job, all false between calls */
    struct arena *arena;  /* borrowed */
};

void dumpi_groups_init(struct dumpi_groups *groups, uint32_t ranks, struct arena *arena);
void dumpi_groups_release(struct dumpi_groups *groups);
/* NULL with an error when a call made none of this name. */
const struct dumpi_group *dumpi_group_of(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                                         const struct dumpi_call *call, const char *name);
/* What the group of a communicator is: MPI_Comm_group. */
void dumpi_groups_set(struct dumpi_groups *groups, uint32_t rank, int64_t handle, struct dumpi_group group);
/* Takes note of a call that makes a group out of others, if it does. */
bool dumpi_groups_follow(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                         const struct dumpi_call *call);

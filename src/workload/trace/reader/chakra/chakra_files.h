/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The files of a Chakra execution trace: PREFIX.RANK.et, one for each rank, and
 * PREFIX.groups.json, which lists the ranks of each process group, where there are any.
 */
#include "workload/trace/trace.h"

struct chakra_files {
    const char *path;   /* the one that was named */
    const char *prefix; /* NULL: the name has no rank, the file is all there is */
    uint32_t ranks;
};

/* Finds the ranks by the names beside a file; false, with an error, where one is missing. */
bool chakra_files_find(struct chakra_files *files, const char *path, struct arena *arena, struct errors *errors);
const char *chakra_file(const struct chakra_files *files, uint32_t rank, struct arena *arena);

struct chakra_group {
    const char *name;
    uint32_t communicator, size, root; /* the first of its ranks is the root of what has none */
};

struct chakra_groups {
    const char *path;           /* where they are listed, if at all */
    struct chakra_group *items; /* in the arena */
    uint32_t count;
};

/* Reads the groups and tells the builder; no file means no groups. */
bool chakra_groups_read(struct chakra_groups *groups, const struct chakra_files *files, struct trace_builder *builder,
                        struct arena *arena, struct errors *errors);
/* NULL: there is none of that name, which is not ended by a NUL. */
const struct chakra_group *chakra_group_find(const struct chakra_groups *groups, const unsigned char *name,
                                             size_t size);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Real traces, which lie in $FLITWARP_SHARED or beside the tree; tests say so where they are absent. */
#include "workload/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* NULL where there is none of that name. */
static inline const char *shared_trace(struct arena *arena, const char *name)
{
    const char *folder = getenv("FLITWARP_SHARED");
    const char *path = arena_format(arena, "%s/traces/%s", folder ? folder : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    printf("skipped: there is no %s\n", path);
    return NULL;
}

/* Tasks of a kind in all ranks, their bytes or times, and what they wait for. */
struct task_sum {
    uint64_t count, amount, waits;
};

static inline struct task_sum sum_of(const struct trace *trace, enum task_kind kind)
{
    struct task_sum sum = {0};
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        for (uint32_t i = 0; i < trace->ranks[rank].task_count; i++) {
            const struct task *task = &trace->ranks[rank].tasks[i];
            if (task->kind == kind)
                sum = (struct task_sum){sum.count + 1, sum.amount + task->amount, sum.waits + task->waits};
        }
    return sum;
}

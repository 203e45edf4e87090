/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a trace holds, counted: tasks, messages, sizes, who sends to whom. A put is a message to the other rank, a get one
 * from it. Collectives count as such, not as messages.
 */
#include "base/table.h"
#include "workload/trace/trace.h"

#define SIZE_CLASSES 65 /* 0 bytes, 1, 2-3, 4-7 ... */
#define TASK_KINDS (TASK_JOIN + 1)

struct operation_counts {
    uint64_t tasks, bytes;
};

/* Of a pair of ranks. */
struct traffic_counts {
    uint64_t messages, bytes;
};

struct trace_survey {
    const struct trace *trace; /* borrowed */
    uint64_t tasks[TASK_KINDS];
    struct operation_counts operations[OPERATIONS];
    uint64_t messages, bytes; /* of sends, puts and gets */
    uint64_t largest_bytes;
    uint64_t sizes[SIZE_CLASSES]; /* messages */
    struct table pairs;           /* by sender and receiver: struct traffic_counts */
    uint32_t least_peers, most_peers;
    uint64_t peers; /* sum over ranks of those that a rank sends to */
    uint64_t computed_ps;
    uint64_t longest_compute_ps;
    uint32_t longest_compute_rank;
};

void trace_survey_init(struct trace_survey *survey, const struct trace *trace);
void trace_survey_release(struct trace_survey *survey);

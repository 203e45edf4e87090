/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What is done with workload traces by themselves: surveys, matrices, other formats, and their settings. */
#include "flitwarp/error.h"

#include "base/table.h"
#include "config/json.h"
#include "workload/trace/collective.h"
#include "workload/trace/trace.h"

/* ---- survey ---- */

/*
 * What a trace holds, counted: tasks, messages, sizes, who sends to whom. A put is a message to the other rank, a get one
 * from it. Collectives count as such, not as messages.
 */
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

/* The communication matrix of a trace: a table of pairs (.csv), or a picture (.svg). False, with an error: it is neither. */
bool trace_matrix_check(const char *path, struct errors *errors);
/* False, with an error, when it cannot be written. */
bool trace_matrix_write(const char *path, const char *title, const struct trace_survey *survey, struct errors *errors);

/* ---- what other formats cannot say ---- */

/* So many of something, "probes, which would be left out"; the last of several is of none and NULL. */
struct trace_loss {
    uint64_t count;
    const char *what;
};
/* An error for each of which there are some. */
void trace_report_losses(const char *format, const struct trace_loss *losses, struct errors *errors);

/* ---- GOAL ---- */

struct goal_form {
    const struct collective_settings *collectives; /* how they become messages */
    uint64_t copies;                               /* of all ranks, beside each other: each talks to its own copy's */
    uint64_t repeats;                              /* of what a rank does: it begins again when it has done all */
    bool is_binary, is_lossy;
};

/* Refused, with errors, when the trace has what GOAL cannot say; lossy: what can be left out, is. The result is an exit status. */
int goal_write(const struct trace *trace, const struct goal_form *form, const char *path, struct errors *errors);

/* ---- messages ---- */

/* The messages of a trace with their times, as CSV: what a trace without answers is. */
/*
 * Times are as if communication took none. Refused, with errors, where sends wait for other ranks or where there are
 * collectives; lossy: they are written as if they did not, and those are left out. The result is an exit status.
 */
int messages_write(const struct trace *trace, const char *path, bool is_lossy, struct errors *errors);

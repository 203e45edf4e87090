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

/*
 * A trace as a GOAL schedule (docs/formats.md), rank by rank. GOAL knows sends, receives
 * and computing, so collectives become the messages of their algorithms, times since
 * the start a chain of computing on a processor of its own, and communicators tags.
 */
enum goal_type { GOAL_SEND = 1, GOAL_RECEIVE = 2, GOAL_COMPUTE = 3 }; /* as binary files call them */

struct goal_node {
    uint8_t type, cpu, nic;
    uint32_t peer, tag;
    uint64_t amount; /* bytes; of computing nanoseconds */
};

/* `later` waits for `earlier` to end, or to begin. */
struct goal_edge {
    uint32_t later, earlier;
    bool on_start;
};

struct goal_rank {
    struct goal_node *nodes; /* owned */
    struct goal_edge *edges; /* owned */
    uint32_t node_count, node_room, edge_count, edge_room;
};

struct goal_schedule {
    const struct trace *trace; /* borrowed */
    const struct collective_settings *settings;
    struct table tags; /* by communicator and tag */
    uint32_t next_tag;
    uint32_t timer_cpu, max_nic;
    uint32_t copies;  /* of all ranks, beside each other: each talks to its own copy's */
    uint32_t repeats; /* of what a rank does: it begins again when it has done all */
};

/* False, with errors, when the trace has what GOAL cannot say; lossy: what can be left out, is. One copy, done once. */
bool goal_schedule_init(struct goal_schedule *schedule, const struct trace *trace,
                        const struct collective_settings *settings, bool is_lossy, struct errors *errors);
void goal_schedule_release(struct goal_schedule *schedule);
uint32_t goal_rank_count(const struct goal_schedule *schedule);
/* The nodes and edges of a rank; the struct is used again from rank to rank, {0} at first. */
void goal_rank_make(struct goal_schedule *schedule, uint32_t rank, struct goal_rank *made);
void goal_rank_release(struct goal_rank *made);

/* Writes it as text or in binary. False, with an error, when it cannot be written. */
bool goal_write_text(struct goal_schedule *schedule, const char *path, struct errors *errors);
bool goal_write_binary(struct goal_schedule *schedule, const char *path, struct errors *errors);

/* ---- messages ---- */

/* The messages of a trace with their times, as CSV: what a trace without answers is. */
/*
 * Times are as if communication took none. Refused, with errors, where sends wait for other ranks or where there are
 * collectives; lossy: they are written as if they did not, and those are left out. The result is an exit status.
 */
int messages_write(const struct trace *trace, const char *path, bool is_lossy, struct errors *errors);

/* ---- settings ---- */

/* Settings on the command lines of trace-info and trace-convert: KEY=VALUE, and format.KEY=VALUE for the reader. */
/* An empty object for the reader's settings, which messages call "format". */
struct json *format_settings(struct arena *arena);

/* Adds a word to the object; an error where its key is there already. It has an equals sign. */
void setting_take(struct json *object, const char *word, struct arena *arena, struct errors *errors);
/* The same for a word that is the reader's; false: it is something else. */
bool format_setting_take(struct json *settings, const char *word, struct arena *arena, struct errors *errors);

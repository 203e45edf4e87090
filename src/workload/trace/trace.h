/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What an application does, as a graph of tasks (flitwarp/trace_reader.h). Readers of trace files
 * and generators make it through a builder; it never changes afterwards, so that all threads share it.
 */
#include "flitwarp/trace_reader.h"

static inline bool task_is_one_sided(const struct task *task)
{
    return task->kind == TASK_PUT || task->kind == TASK_GET;
}

/* Somebody waits: the number of a task of the same rank, and whether a beginning is enough. */
#define EDGE_TASK RANK_MAX_TASKS
#define EDGE_ON_START 0x80000000u

/* Tasks of different ranks are one collective if they have the same number in their communicator. */
struct trace_collective {
    uint32_t task, ordinal;
};

struct trace_rank {
    const struct task *tasks; /* one more than `task_count`, whose first edge is where all end */
    const uint32_t *edges;
    const struct trace_collective *collectives; /* by task */
    uint32_t task_count, collective_count;
};

struct trace_communicator {
    const uint32_t *ranks; /* of the job, by rank in the communicator */
    uint32_t size;
    uint32_t collectives;      /* the most that a rank has */
    uint32_t first_collective; /* how many there are in the communicators before */
};

struct trace {
    uint32_t rank_count;
    uint32_t communicator_count;
    const struct trace_rank *ranks;
    const struct trace_communicator *communicators;
    const uint64_t *counts;
    uint64_t task_count, edge_count; /* of all ranks */
    struct spill *spill;             /* owned: all of the above */
};

/* Those that wait for a task. */
static inline const uint32_t *trace_edges(const struct trace_rank *rank, uint32_t task, uint32_t *count)
{
    uint32_t first = rank->tasks[task].first_edge;
    *count = rank->tasks[task + 1].first_edge - first;
    return rank->edges + first;
}

/*
 * The row of bytes of a collective whose blocks differ, as builder_counts() took it; NULL where they do not. One for
 * each rank of the communicator; of an all-to-all first those to each and then those from each.
 */
static inline const uint64_t *trace_counts(const struct trace *trace, const struct task *task)
{
    return task->tag == NO_COUNTS ? NULL : trace->counts + task->tag;
}

/* The number of a collective among all of the job, the same at each rank that takes part. */
uint32_t trace_collective_number(const struct trace *trace, uint32_t rank, uint32_t task);

void trace_destroy(struct trace *trace);

/* "send", "receive" ...; of a collective as collective_operation_names */
const char *task_kind_name(uint32_t kind);
const char *collective_operation_name(uint32_t operation);
/* One task in words, for reports: "task 7 (receive of 8 bytes from rank 3, tag 5)", and " in line 7" where places know. */
struct text;
void task_describe(const struct task *task, uint32_t number, const struct task_places *places, struct text *text);

/* ---- making ---- */

/*
 * Makes a trace task by task, ranks in any order. What is added lies in a temporary file without a name once it is
 * large, so that a trace may be larger than memory; traces that are built rank by rank touch the least of it at a time.
 */
struct trace_builder *trace_builder_create(void);
/* Also after builder_finish. */
void trace_builder_destroy(struct trace_builder *builder);
/*
 * The trace, or NULL with errors that begin with `where`: peers and roots that do not exist or are not in the
 * communicator, and tasks that wait for themselves in a circle. The builder is empty afterwards.
 */
struct trace *builder_finish(struct trace_builder *builder, const char *where, struct errors *errors);

/*
 * The order in which the tasks of a rank can begin. In a circle of waiting none ever can. Collectives of different ranks
 * are one by it: the first of each in a communicator, the second, and so on, in the order of the program. When they begin
 * does not count: of two that go on side by side one rank may begin this one first, another that one.
 */
/* Adds an error that names the tasks of a circle, if there is one. */
void task_order_check(const struct trace_rank *rank, uint32_t number, const struct task_places *places,
                      struct errors *errors);
/* Finds and numbers the collectives of a rank whose tasks wait for each other in no circle. */
void task_order_number(struct trace_rank *rank, struct spill *spill);

/* ---- reading ---- */

/* How a file is to be read. */
struct trace_format {
    const char *name;      /* of the reader; NULL or "auto": found by the content of the file */
    const void *config;    /* its settings; NULL: to be read from: */
    struct json *settings; /* an object, completed on the way; NULL: all are at their defaults */
    uint32_t room;         /* ranks that there is place for; 0: any number */
};

/* The reader of that name, or for "auto" and NULL the one that recognises the file; NULL with errors. */
const struct trace_reader_ops *trace_reader_find(const struct trace_source *source, const char *name,
                                                 struct errors *errors);
/* Gives the source what its reader needs to know of the format; the arena of the errors keeps it. False with errors. */
bool trace_source_set(struct trace_source *source, const struct trace_reader_ops *reader,
                      const struct trace_format *format, struct errors *errors);
/* Whether a file is one that a trace is read from, or another of the same trace: its ranks may have files of their own. */
bool trace_has_file(const char *file, const char *path);
/* The files that a trace is read from, by the name of one of them and in order; of what is no such trace that file. */
struct json *trace_files(struct arena *arena, const char *path);
/* All of it: opens, finds the reader, reads, builds. NULL with errors. Without a format all is found or at its default. */
struct trace *trace_read(const char *path, const struct trace_format *format, struct errors *errors);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What an application does, as a graph: every rank has tasks in program order, and a
 * task begins when all that it waits for has ended, or has begun. Readers of trace
 * files and generators make it through a builder (trace_builder.h); it never changes
 * afterwards, so that all threads share it. Ranks meet by messages alone.
 *
 * Calls of MPI become this: a blocking call waits for the end of the task before it;
 * a non-blocking one for the end of the last blocking one; a wait or a test that
 * succeeded is a TASK_JOIN that waits for the tasks of its requests and for the last
 * blocking one; the time between calls is a TASK_COMPUTE.
 */
#include "flitwarp/collective.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_kind {
    TASK_COMPUTE,    /* amount: picoseconds */
    TASK_UNTIL,      /* amount: picoseconds after the start of the job, when it ends at the earliest */
    TASK_SEND,       /* amount: bytes; peer, tag, communicator */
    TASK_RECEIVE,    /* the same, of the largest message that fits; peer and tag may be ANY */
    TASK_PROBE,      /* ends when a message has arrived that a receive would take, and leaves it there */
    TASK_COLLECTIVE, /* operation; amount: bytes, of each rank or of each block; peer: the root; counts, communicator */
    TASK_PUT,        /* amount: bytes to the peer, whose program takes no part; ends when they are there */
    TASK_GET,        /* the same from the peer */
    TASK_JOIN,       /* ends when what it waits for allows it to begin */
};

enum task_flag {
    TASK_SYNCHRONOUS = 1, /* a send that ends when its receive is there, whatever its size */
    TASK_BUFFERED = 2,    /* a send that ends at once, whatever its size */
    TASK_READY = 4,       /* a send whose receive is known to be there */
    TASK_UNEVEN = 8,      /* a collective whose blocks differ, of which this rank knows its own alone: `amount` */
};

#define ANY UINT32_MAX /* as a peer or a tag: whatever comes */

struct task {
    uint64_t amount;
    uint32_t peer;         /* a rank of the job, whatever the communicator; a root too */
    uint32_t tag;          /* of a collective: its counts, as trace_counts() wants it */
    uint32_t communicator; /* messages match within one */
    uint8_t kind;          /* enum task_kind */
    uint8_t flags;         /* of enum task_flag */
    uint8_t cpu;           /* tasks of one are never computed at the same time */
    uint8_t unit;          /* the network interface that it uses; of a collective: enum collective_operation */
    uint32_t waits;        /* how many tasks it waits for; made by the builder, as is what follows */
    uint32_t first_edge;   /* of those that wait for it; they end where those of the next task begin */
};
_Static_assert(sizeof(struct task) == 32, "large traces have many of them");

static inline bool task_is_one_sided(const struct task *task)
{
    return task->kind == TASK_PUT || task->kind == TASK_GET;
}

/* Somebody waits: the number of a task of the same rank, and whether a beginning is enough. */
#define EDGE_TASK 0x7fffffffu
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
/* One task in words, for reports: "task 7 (receive of 8 bytes from rank 3, tag 5)". */
struct text;
void task_describe(const struct task *task, uint32_t number, struct text *text);

/* Where the tasks of a rank stand in its file, for errors: adds " in line 7", or the like. */
struct task_places {
    void (*add)(const void *reader, uint32_t task, struct text *text);
    const void *reader;
};
/* Both; places may be NULL, where nobody knows. */
void task_describe_at(const struct task *task, uint32_t number, const struct task_places *places, struct text *text);

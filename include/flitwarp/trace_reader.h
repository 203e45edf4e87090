/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Readers of trace files, one component each: they recognise a file by its content and
 * tell a builder what is in it, as a graph. Every rank has tasks in program order, and a
 * task begins when all that it waits for has ended, or has begun. Ranks meet by messages alone.
 *
 * Calls of MPI become this: a blocking call waits for the end of the task before it;
 * a non-blocking one for the end of the last blocking one; a wait or a test that
 * succeeded is a TASK_JOIN that waits for the tasks of its requests and for the last
 * blocking one; the time between calls is a TASK_COMPUTE.
 *
 * For files of lines of text see trace_lines.h, for traces of packets trace_packets.h.
 */
#include "flitwarp/collective.h"
#include "flitwarp/component.h"

/* ---- tasks ---- */

enum task_kind {
    TASK_COMPUTE,    /* amount: picoseconds */
    TASK_UNTIL,      /* amount: picoseconds after the start of the job, when it ends at the earliest */
    TASK_SEND,       /* amount: bytes; peer, tag, communicator */
    TASK_RECEIVE,    /* the same, of the largest message that fits; peer and tag may be FW_ANY */
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

#define FW_ANY UINT32_MAX /* as a peer or a tag: whatever comes */

struct task {
    uint64_t amount;
    uint32_t peer;         /* a rank of the job, whatever the communicator; a root too */
    uint32_t tag;          /* of a collective: its row of builder_counts(), or NO_COUNTS */
    uint32_t communicator; /* messages match within one */
    uint8_t kind;          /* enum task_kind */
    uint8_t flags;         /* of enum task_flag */
    uint8_t cpu;           /* tasks of one are never computed at the same time */
    uint8_t unit;          /* the network interface that it uses; of a collective: enum collective_operation */
    uint32_t waits;        /* how many tasks it waits for; made by the builder, as is what follows */
    uint32_t first_edge;   /* of those that wait for it; they end where those of the next task begin */
};
_Static_assert(sizeof(struct task) == 32, "large traces have many of them");

/* ---- the builder ---- */

#define RANK_MAX_TASKS 0x7fffffffu

/* Comes first, once: how many ranks there are. */
void builder_set_ranks(struct trace_builder *builder, uint32_t ranks);
uint32_t builder_ranks(const struct trace_builder *builder); /* 0: nobody has said */

/* Adds a task to a rank, ranks in any order, and returns its number, from 0 on. */
uint32_t builder_add(struct trace_builder *builder, uint32_t rank, const struct task *task);
uint32_t builder_task_count(const struct trace_builder *builder, uint32_t rank);
/* A task that was added, to be changed: until the next call. */
struct task *builder_task(struct trace_builder *builder, uint32_t rank, uint32_t task);
/* A task of the rank waits for another one to end, or to begin; both have been added. */
void builder_wait(struct trace_builder *builder, uint32_t rank, uint32_t task, uint32_t earlier, bool on_start);

/* Where the tasks of a rank stand in its file, for errors: "in line 7", or the like. */
struct task_places {
    const char *(*find)(const void *reader, uint32_t task, struct arena *arena);
    const void *reader;
};
/*
 * Nothing is added to the rank from here on; optional. Readers that go rank by rank save memory with it, and can say
 * where its tasks stand (NULL: they do not).
 */
void builder_end_rank(struct trace_builder *builder, uint32_t rank, const struct task_places *places);

/* ---- readers ---- */

/* A file, mapped; a folder has no bytes. Readers of formats of several files open the others by its path. */
struct trace_source {
    const char *path;
    const unsigned char *bytes;
    size_t size;
    bool is_mapped;
    const void *config; /* what the reader's option rows filled; NULL: it has none */
    uint32_t room;      /* for so many ranks; 0: for any number */
};

/* A number of so many bytes, the lowest first. */
static inline uint64_t little_endian(const unsigned char *at, uint32_t bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0)
        number = number << 8 | at[bytes];
    return number;
}

/* Maps a file; errors say why it cannot be read. Closed by trace_source_close. */
bool trace_source_open(struct trace_source *source, const char *path, struct errors *errors);
void trace_source_close(struct trace_source *source);
/* Tells the system that what lies before `offset` will not be read again: large files are read in little memory. */
void trace_source_done(const struct trace_source *source, size_t offset);

struct trace_reader_ops {
    COMPONENT_HEAD;
    const char *
        ending; /* of names, ".csv", by which a file is of this format too, so that it is told what is wrong; NULL: none */
    /* Whether a file is of this format, judged by its first bytes. At most one reader may agree. */
    bool (*looks_like)(const struct trace_source *source);
    /* Fills the builder, or adds errors that name file and line, or file and offset. */
    bool (*read)(const struct trace_source *source, struct trace_builder *builder, struct errors *errors);
    /* Whether another file belongs to a file's trace, by their names; NULL: a trace is one file. */
    bool (*is_beside)(const char *path, const char *other);
    /* Adds to what trace-info says: calls by name, say, and "missing": what the file lacks; optional. */
    void (*describe)(const struct trace_source *source, struct report *facts, struct errors *errors);
    /* Prints what is in the file as it is, record by record; optional. */
    void (*list)(const struct trace_source *source, FILE *out, struct errors *errors);
};
#define REGISTER_TRACE_READER(ops) REGISTER_COMPONENT("trace_reader", ops)

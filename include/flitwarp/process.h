/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Processes that exchange timestamped events, for models of their own beside the
 * flit-level network. A model is written once, as forward code, and runs
 * sequentially, conservatively in windows, or optimistically (Time Warp), over
 * threads and ranks, always with the same results.
 *
 * A process has a 64-bit number and belongs to one of any number of partitions,
 * as the model's owner() says. A partition is what owns state and what is rolled
 * back as a whole; a thread runs one or several. Events are handled in the order
 * of their keys (time, process, tie) as far as a process can tell.
 *
 * What a model promises:
 * - handle() reads and writes the state of the event's own partition only, and
 *   calls process_save() before it overwrites any of it, and all of it lies in
 *   memory from process_memory(), which never moves
 * - statistics are touched in commit() only
 * - what it posts depends on the event and on the state of the event's process,
 *   never on the partition's number or on how many there are
 * - no two events have the same key
 */
#include "flitwarp/component.h"
#include "flitwarp/digest.h"
#include "flitwarp/packet.h"
#include "flitwarp/random.h"

/*
 * A model's event begins with this: struct hop { struct event event; uint32_t node; ... }. handle() may also write
 * into what follows, to leave notes for commit() and reverse() in fields that it does not read.
 */
struct event {
    tick_t time;
    uint64_t process;
    uint64_t tie;       /* the model's choice: makes the key unique whatever the partitions */
    uint32_t partition; /* from here on the engine's own */
    uint32_t serial;
};

/* The order of keys. */
static inline bool event_is_before(const struct event *a, const struct event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->process != b->process ? a->process < b->process : a->tie < b->tie;
}

struct model_ops;

/* One model of a configuration; the same on every thread and rank. */
struct model {
    const struct model_ops *ops;
    const void *config;          /* what the option rows filled */
    const struct choice *choice; /* for choice_error */
    uint64_t seed;
    double tick_seconds; /* length of a tick */
    struct arena *arena; /* for what prepare() makes; read only afterwards */
    void *shared;        /* the model's own, made by prepare() */

    /* prepare() says: */
    uint32_t event_size;         /* bytes of its event struct, a multiple of 8; 0: nothing follows struct event */
    uint32_t sum_count;          /* statistics that are added up over partitions */
    uint32_t maximum_count;      /* and those of which the largest counts */
    tick_t lookahead;            /* smallest delay of an event to another process; 0: not known */
    tick_t end;                  /* the last tick to be simulated; FW_NEVER: until no event is left */
    uint64_t expected_processes; /* for messages and for the size of partitions; 0: not known */
};

struct log_ring;
struct process_worker;

/* What owns the state of some processes. */
struct partition {
    const struct model *model;
    void *state;      /* the model's own, made by build() */
    uint32_t number;  /* of `count` */
    uint32_t count;   /* of all partitions, on all threads and ranks */
    uint64_t *sums;   /* statistics, all 0 at first: for commit() */
    uint64_t *maxima; /* the same */
    struct digest digest;

    struct log_ring *undo;         /* NULL: nothing is ever undone */
    struct process_worker *worker; /* that runs it */
    struct process_region *memory; /* from process_memory, newest first */
};

/* Statistics of all partitions, merged. */
struct model_totals {
    const uint64_t *sums, *maxima;
    tick_t end_tick; /* of the last event */
    uint64_t events;
    bool is_complete; /* not interrupted before the model's end */
};

struct model_ops {
    COMPONENT_HEAD;
    /* Checks the settings and fills in the second half of the model; adds errors where it cannot. */
    void (*prepare)(struct model *model, struct errors *errors);
    /* The partition of a process, below `partitions`: about the same work for each; may leave some empty. */
    uint32_t (*owner)(const struct model *model, uint64_t process, uint32_t partitions);
    /* Makes the state of a partition. */
    void (*build)(struct partition *partition);
    /* Posts the first events of the processes that it owns. */
    void (*begin)(struct partition *partition);
    void (*handle)(struct partition *partition, struct event *event);
    /* Once for each event that can never be undone any more, by rising key within a partition; optional. */
    void (*commit)(struct partition *partition, const struct event *event);
    /* The inverse of handle() where that is faster than the log of process_save(), which then stays empty; optional. */
    void (*reverse)(struct partition *partition, struct event *event);
    /* Asks for the memory that handle() will need; optional. */
    void (*prefetch)(const struct partition *partition, const struct event *event);
    /* Adds the model's block of the results. */
    void (*results)(const struct model *model, const struct model_totals *totals, struct report *report);
    /* What is comparable with other networks, as the only entry of "applications"; optional. */
    void (*application)(const struct model *model, const struct model_totals *totals, struct report *report);
    /* Lines for people, after a run; optional. */
    void (*print_summary)(const struct model *model, const struct model_totals *totals, FILE *out);
};
#define REGISTER_MODEL(ops) REGISTER_COMPONENT("model", ops)

/*
 * Sends a copy of an event of the model's size, and fills in its last two fields. Its key must be above that of the
 * event being handled.
 */
void process_post(struct partition *partition, struct event *event);

/* Zeroed memory for state, which stays where it is to the end. */
void *process_memory(struct partition *partition, size_t bytes);

/* Slow path of process_save. */
void undo_save(struct log_ring *undo, void *memory, size_t size);

/* To be called before state is overwritten. */
static inline void process_save(struct partition *partition, void *memory, size_t size)
{
    if (__builtin_expect(partition->undo != NULL, 0))
        undo_save(partition->undo, memory, size);
}

/* The share of a block partitioning: process p of `processes` belongs to partition p * partitions / processes. */
static inline uint32_t process_block(uint64_t process, uint64_t processes, uint32_t partitions)
{
    if (__builtin_expect(processes >> 40 == 0 && partitions >> 24 == 0, 1))
        return (uint32_t)(process * partitions / processes);
    return (uint32_t)((unsigned __int128)process * partitions / processes);
}
/* The first process of a partition under process_block; that of partition `partitions` is `processes`. */
static inline uint64_t process_block_start(uint32_t partition, uint64_t processes, uint32_t partitions)
{
    return (uint64_t)(((unsigned __int128)processes * partition + partitions - 1) / partitions);
}

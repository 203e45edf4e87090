/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One run of a model from its first event to its results: workers, each with a
 * queue of pending events and the partitions that it runs, and the statistics of
 * all of them. Two runs can live in one process.
 */
#include "engine/process_queue.h"

#include <signal.h>

enum process_sync { SYNC_SEQUENTIAL, SYNC_CONSERVATIVE, SYNC_OPTIMISTIC };

struct process_settings {
    enum process_sync sync;
    uint32_t threads;
};

/* Counts of one worker, added up at the end. */
struct process_counts {
    uint64_t handled;     /* with what was rolled back later */
    uint64_t committed;   /* that can never be undone any more */
    uint64_t posted;      /* of those handled */
    uint64_t posted_away; /* to another worker's partitions */
};

/* A thread's own. */
struct process_worker {
    struct process_run *run;
    const struct event *current; /* being handled; NULL: none */
    bool is_alone;               /* the only one: nothing is ever sent away */
    struct event_queue queue;
    struct partition *partitions; /* owned: its share */
    uint32_t first_partition, partition_count;
    struct process_counts counts;
    tick_t last_time; /* of what it committed */
};

struct process_progress {
    tick_t time;
    uint64_t events;
    double efficiency; /* share of the work that was not undone */
};

struct process_run {
    const struct model *model; /* borrowed */
    struct process_settings settings;
    uint32_t event_size;
    struct process_worker *workers; /* owned */
    uint32_t worker_count;
    uint32_t partition_count; /* over all workers */

    volatile sig_atomic_t *interrupt;                                         /* borrowed; NULL: nobody interrupts */
    void (*progress)(void *context, const struct process_progress *progress); /* now and then; may be NULL */
    void *progress_context;

    bool is_complete;
    struct process_counts counts; /* of all workers, after the run */
    struct digest digest;
    struct model_totals totals;
    uint64_t *sums, *maxima; /* owned: what totals shows */
};

/* Checks that the model can run so; false with errors at the place of its settings. */
bool process_run_check(const struct model *model, const struct process_settings *settings, const struct json *simulator,
                       struct errors *errors);
void process_run_init(struct process_run *run, const struct model *model, const struct process_settings *settings);
/* Runs to the end, or until interrupted. */
void process_run(struct process_run *run);
void process_run_release(struct process_run *run);

/* Within the engine. */
void worker_init(struct process_worker *worker, struct process_run *run, uint32_t first, uint32_t count);
void worker_build(struct process_worker *worker);
void worker_release(struct process_worker *worker);
void run_sequential(struct process_run *run);

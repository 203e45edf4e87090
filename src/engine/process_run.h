/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One run of a model from its first event to its results: workers, each a thread
 * with a queue of pending events and the partitions that it runs, and the
 * statistics of all of them. Two runs can live in one process.
 *
 *   rank 0                         rank 1
 *   worker 0       worker 1        worker 2       worker 3
 *   partitions     partitions      partitions     partitions
 *   0 1 2 3        4 5 6 7         8 9 10 11      12 13 14 15
 */
#include "base/table.h"
#include "engine/crew.h"
#include "engine/ranks.h"
#include "engine/process_queue.h"

#include <signal.h>

enum process_sync { SYNC_SEQUENTIAL, SYNC_CONSERVATIVE, SYNC_OPTIMISTIC };

struct process_settings {
    enum process_sync sync;
    uint32_t threads;    /* of each rank */
    uint32_t partitions; /* of each thread; optimistic only, others have one */
    tick_t window;       /* optimistic: ticks ahead of the slowest; 0: found out during the run */
    bool check_reversal; /* optimistic, one thread: every event is undone once and handled again */
};

/* Counts of one worker, added up at the end. */
struct process_counts {
    uint64_t handled;     /* with what was rolled back later */
    uint64_t committed;   /* that can never be undone any more */
    uint64_t rolled_back; /* events */
    uint64_t posted;
    uint64_t posted_away; /* of those: to another worker's partitions */
    uint64_t primary;     /* rollbacks by an event that came late */
    uint64_t secondary;   /* rollbacks by an event that was taken back */
};
#define PROCESS_COUNTS (sizeof(struct process_counts) / sizeof(uint64_t))

/* What workers agree on when they meet: the smallest, the largest, the sums. */
struct sync_values {
    tick_t time;                   /* smallest: of any event that may still be handled */
    tick_t furthest;               /* largest: of any event that was handled */
    uint64_t stop;                 /* largest: enum process_stop */
    uint64_t handled, rolled_back; /* sums, since the last time */
};

enum process_stop { STOP_NOT, STOP_PAUSE, STOP_END };

struct sync_slot {
    _Alignas(64) struct sync_values values;
};

struct partition_log;

/* In event.partition: the event is taken back. */
#define EVENT_TAKEN_BACK ((uint32_t)1 << 31)

/* A thread's own. */
struct process_worker {
    struct process_run *run;
    const struct event *current; /* being handled; NULL: none */
    /* where process_post() hands an event on; NULL: into the queue, since there is one partition only */
    void (*post)(struct process_worker *worker, struct partition *from, struct event *event);
    struct event_queue queue;
    struct partition *partitions; /* owned: its share */
    uint32_t number;              /* on this rank */
    uint32_t first_partition, partition_count;
    struct process_counts counts;
    tick_t last_time;     /* of what it committed */
    bool is_second;       /* which of the two sets of slots is next */
    bool is_built;        /* it goes on after a pause where it is */
    uint64_t all_handled; /* by all workers, at the last meeting */

    tick_t sent_time;         /* smallest, of what it sent away since all workers last met */
    tick_t horizon;           /* conservative: nothing sent away may come before it */
    struct words *rank_boxes; /* owned: events for each other rank */
    struct words from_ranks;  /* owned: events from all other ranks */

    /* optimistic */
    struct partition_log *logs; /* owned: one a partition */
    struct table tombstones; /* owned: events taken back that are still in the queue, which is not searched for them */
    struct words taken_back; /* owned: events of its own partitions that are to be taken back */
    struct event *word;      /* owned: word to another worker that an event is taken back */
    uint32_t next_serial;
    uint64_t uncommitted; /* events in all logs */
    tick_t furthest;
    struct round *round; /* owned: where it is */
};

struct process_progress {
    tick_t time;
    uint64_t events;
    double efficiency; /* 1 - rolled back / committed */
};

/* Moments at which all workers come to rest, as if the run had ended there. */
struct process_pauses {
    bool (*is_wanted)(void *context, tick_t now); /* asked now and then by worker 0 of each rank; NULL: never */
    void (*take)(void *context, tick_t now);      /* by the calling thread, while there is no other */
    void *context;
};

struct process_run {
    const struct model *model; /* borrowed */
    struct process_settings settings;
    struct ranks *ranks; /* borrowed; NULL: this process is alone */
    struct mail mail;    /* owned: with the other ranks */
    uint32_t event_size;
    uint32_t worker_count; /* on this rank */
    uint32_t rank, rank_count;
    uint32_t partitions_each;        /* of a worker */
    uint32_t partition_count;        /* over all workers and ranks */
    struct process_worker **workers; /* owned */
    struct mailbox *mailboxes;       /* owned: [from][to] */
    struct sync_slot *slots[2];      /* owned: by worker */
    struct sync_values agreed;       /* over all ranks; written by worker 0 */
    struct crew *crew;               /* owned, while they run */

    const volatile sig_atomic_t *interrupt;                                   /* borrowed; NULL: nobody interrupts */
    void (*progress)(void *context, const struct process_progress *progress); /* now and then; may be NULL */
    void *progress_context;
    struct process_pauses pauses;
    bool is_paused; /* written by worker 0, as the time is */
    tick_t now;     /* of the last meeting */

    bool is_complete;
    uint64_t meetings;            /* windows, or rounds that made a GVT */
    struct process_counts counts; /* of all workers, after the run */
    struct digest digest;
    struct model_totals totals;
    uint64_t *sums, *maxima; /* owned: what totals shows */
};

/* Checks that the model can run so; false with errors at the place of its settings. */
bool process_run_check(const struct model *model, const struct process_settings *settings, struct ranks *ranks,
                       const struct json *simulator, struct errors *errors);
void process_run_init(struct process_run *run, const struct model *model, const struct process_settings *settings,
                      struct ranks *ranks);
/* Runs to the end, or until interrupted. */
void process_run(struct process_run *run);
void process_run_release(struct process_run *run);

/* ---- within the engine ---- */

void worker_build(struct process_worker *worker);
/* Whether the run is to end here or to pause, as worker 0 sees it; the others do not ask. */
enum process_stop worker_wants_stop(const struct process_worker *worker, tick_t now);
static inline uint32_t worker_of(const struct process_run *run, uint32_t partition)
{
    return partition / run->partitions_each; /* over all ranks */
}
enum { PREFETCH_AHEAD = 4 }; /* events; 1.3 times as fast at a million processes */

/* Asks for the memory that an event after the next few will need. */
static inline void worker_prefetch(const struct process_worker *worker)
{
    const struct event_queue *queue = &worker->queue;
    const struct model_ops *ops = worker->run->model->ops;
    if (!ops->prefetch || queue->hand_at + PREFETCH_AHEAD >= queue->hand_size)
        return;
    const struct event *event = queue_hand_event(queue, queue->hand_at + PREFETCH_AHEAD);
    ops->prefetch(&worker->partitions[event->partition - worker->first_partition], event);
}
/* The partition that an event goes to; most models post much to the process at hand. */
static inline uint32_t worker_owner(const struct process_worker *worker, const struct partition *from,
                                    const struct event *event)
{
    const struct model *model = worker->run->model;
    if (worker->current && event->process == worker->current->process)
        return from->number;
    return model->ops->owner(model, event->process, worker->run->partition_count);
}
/* Hands an event to the worker that owns its partition, which is another one. */
void worker_send(struct process_worker *worker, const struct event *event);
/* Calls receive() for everything that other workers have sent so far. */
void worker_drain(struct process_worker *worker, void (*receive)(struct process_worker *worker, struct event *event));
/*
 * Waits for all workers of all ranks; what any of them sent before it is there to be drained afterwards. Returns what
 * they agree on.
 */
struct sync_values worker_meet(struct process_worker *worker, struct sync_values values);
/*
 * Whether there is more to do after a meeting, where all workers have handled and undone so much; worker 0 tells the
 * run.
 */
bool worker_goes_on(const struct process_worker *worker, const struct sync_values *values, uint64_t handled,
                    uint64_t rolled_back);

void run_sequential(struct process_worker *worker);
void run_conservative(struct process_worker *worker);
void run_optimistic(struct process_worker *worker);
void run_reversal(struct process_worker *worker);

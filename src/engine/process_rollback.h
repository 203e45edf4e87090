/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Time Warp for one worker: what it has handled and may have to undo, by
 * partition. A log holds events in the order of their keys; with each goes how
 * far the undo log and the list of what was sent reached before it was handled.
 *
 *   late event or event taken back -> rollback: state back, what was sent is
 *   taken back, the undone events are pending again
 */
#include "engine/process_run.h"
#include "flitwarp/process.h"

/*
 * ---- the memory that partitions have taken by process_memory(), and what handlers have overwritten in
 * it ----
 */
void process_memory_release(struct partition *partition);
size_t process_memory_size(const struct partition *partition);
/* Of what there was when the state had so many bytes. */
uint64_t process_memory_hash(const struct partition *partition, size_t bytes);

/*
 * Things of one size that come at one end, and go at either. Positions count them from the beginning of the run. A ring
 * grows when it is full and never shrinks.
 */
struct log_ring {
    unsigned char *items; /* owned */
    size_t item_size;
    uint64_t capacity; /* a power of two */
    uint64_t first, next;
};

void log_ring_init(struct log_ring *ring, size_t item_size);
void log_ring_release(struct log_ring *ring);
static inline void *log_ring_at(const struct log_ring *ring, uint64_t position)
{
    return ring->items + (position & (ring->capacity - 1)) * ring->item_size;
}

/*
 * What handlers have overwritten, newest last, is a ring of words: an entry is its bytes, the address, their number. This
 * writes back all that was saved from position `mark` on, newest first.
 */
void undo_to(struct log_ring *undo, uint64_t mark);

/* ---- handling, undoing and committing ---- */

struct log_entry {
    uint64_t undo_mark, sent_mark;
    struct event event; /* and what follows it */
};

struct partition_log {
    struct log_ring handled; /* log_entry */
    struct log_ring sent;    /* struct event, without what follows it */
    struct log_ring undo;    /* words */
};

void rollback_init(struct process_worker *worker);
void rollback_release(struct process_worker *worker);

/* process_post() of an optimistic worker. */
void rollback_post(struct process_worker *worker, struct partition *from, struct event *event);
/* An event, or word that one is taken back, from another worker. */
void rollback_receive(struct process_worker *worker, struct event *event);
/* Handles up to `most` pending events at or before tick `last`; returns how many it were. */
uint32_t rollback_forward(struct process_worker *worker, tick_t last, uint32_t most);
/* Commits all events before `time`. */
void rollback_commit(struct process_worker *worker, tick_t time);
/* Undoes everything that is not committed. */
void rollback_all(struct process_worker *worker);

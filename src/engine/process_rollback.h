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
#include "engine/process_state.h"

struct log_entry {
    uint64_t undo_mark, sent_mark;
    struct event event; /* and what follows it */
};

struct partition_log {
    struct log_ring handled; /* log_entry */
    struct log_ring sent;    /* struct event, without what follows it */
    struct log_ring undo;    /* words, see process_state.h */
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

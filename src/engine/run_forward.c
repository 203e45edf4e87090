/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in which nothing is ever undone: events are handled by rising key and committed
 * at once.
 *
 *   sequential    one worker, until no event is left
 *   conservative  in windows: workers meet, agree on the earliest event of all, and handle
 *                 what lies within the lookahead from there, into which nothing can fall
 *                 that another worker sends meanwhile
 */
#include "engine/process_run.h"

enum { SLICE = 1 << 16 }; /* events between two looks at the world outside */

/* Handles up to `most` events at or before tick `last`; returns how many it were. */
static uint64_t run_forward(struct process_worker *worker, tick_t last, uint64_t most)
{
    struct partition *partition = &worker->partitions[0];
    const struct model_ops *ops = worker->run->model->ops;
    uint64_t left = most;
    for (struct event *event; left && (event = queue_take(&worker->queue, last)); left--) {
        worker->current = event;
        worker->last_time = event->time;
        worker_prefetch(worker);
        ops->handle(partition, event);
        if (ops->commit)
            ops->commit(partition, event);
    }
    worker->counts.handled += most - left;
    worker->counts.committed += most - left;
    return most - left;
}

void run_sequential(struct process_worker *worker)
{
    struct process_run *run = worker->run;
    if (!worker->is_built)
        worker_build(worker);
    enum process_stop stop = worker_wants_stop(worker, worker->last_time);
    for (; !run->is_complete && stop == STOP_NOT; stop = worker_wants_stop(worker, worker->last_time)) {
        run->is_complete = run_forward(worker, run->model->end, SLICE) < SLICE;
        if (run->progress)
            run->progress(run->progress_context,
                          &(struct process_progress){worker->last_time, worker->counts.handled, 1});
    }
    run->is_paused = !run->is_complete && stop == STOP_PAUSE;
    run->now = worker->last_time;
}

static void conservative_post(struct process_worker *worker, struct partition *from, struct event *event)
{
    const struct model *model = worker->run->model;
    event->partition = worker_owner(worker, from, event);
    event->serial = 0;
    worker->counts.posted++;
    if (event->partition == from->number) {
        queue_push(&worker->queue, event);
        return;
    }
    FW_CHECK(
        event->time >= worker->horizon,
        "process %llu: an event is posted at tick %llu to process %llu, sooner than model '%s' says by its lookahead "
        "of %llu ticks",
        (unsigned long long)(worker->current ? worker->current->process : 0), (unsigned long long)event->time,
        (unsigned long long)event->process, model->ops->name, (unsigned long long)model->lookahead);
    worker->counts.posted_away++;
    worker_send(worker, event);
}

static void conservative_receive(struct process_worker *worker, struct event *event)
{
    queue_push(&worker->queue, event);
}

void run_conservative(struct process_worker *worker)
{
    const struct model *model = worker->run->model;
    if (!worker->is_built) {
        worker->post = conservative_post;
        worker->sent_time = FW_NEVER;
        worker_build(worker);
    }
    tick_t now = worker->run->now; /* the same for all: what the run has of it is the leader's */
    for (uint64_t mine = worker->counts.handled;;) {
        tick_t first = queue_first_time(&worker->queue);
        struct sync_values values = {.time = first < worker->sent_time ? first : worker->sent_time,
                                     .handled = worker->counts.handled - mine,
                                     .stop = worker_wants_stop(worker, now)};
        mine = worker->counts.handled;
        values = worker_meet(worker, values);
        now = values.time;
        worker_drain(worker, conservative_receive);
        worker->all_handled += values.handled;
        if (!worker_goes_on(worker, &values, worker->all_handled, 0))
            break;
        worker->horizon = values.time + model->lookahead;
        run_forward(worker, worker->horizon - 1 < model->end ? worker->horizon - 1 : model->end, UINT64_MAX);
    }
}

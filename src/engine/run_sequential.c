/* SPDX-License-Identifier: Apache-2.0 */
/* One worker, one partition: takes events by rising key until none is left. */
#include "engine/process_run.h"

enum { SLICE = 1 << 16 }; /* events between two looks at the world outside */

/* Handles up to SLICE events; false when none is left. */
static bool run_slice(struct process_worker *worker)
{
    struct partition *partition = &worker->partitions[0];
    struct event_queue *queue = &worker->queue;
    const struct model *model = worker->run->model;
    const struct model_ops *ops = model->ops;
    tick_t end = model->end;
    uint32_t left = SLICE;
    struct event *event = NULL;
    for (; left && (event = queue_take(queue, end)); left--) {
        worker->current = event;
        worker->last_time = event->time;
        worker_prefetch(worker);
        ops->handle(partition, event);
        if (ops->commit)
            ops->commit(partition, event);
    }
    worker->counts.handled += SLICE - left;
    return event != NULL;
}

void run_sequential(struct process_worker *worker)
{
    struct process_run *run = worker->run;
    if (!worker->is_built)
        worker_build(worker);
    enum process_stop stop = worker_wants_stop(worker, worker->last_time);
    for (; !run->is_complete && stop == STOP_NOT; stop = worker_wants_stop(worker, worker->last_time)) {
        run->is_complete = !run_slice(worker);
        if (run->progress)
            run->progress(run->progress_context,
                          &(struct process_progress){worker->last_time, worker->counts.handled, 1});
    }
    run->is_paused = !run->is_complete && stop == STOP_PAUSE;
    run->now = worker->last_time;
    worker->counts.committed = worker->counts.handled;
}

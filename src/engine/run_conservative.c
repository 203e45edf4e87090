/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: workers meet, agree on the earliest event of all, and handle what lies
 * within the lookahead from there. Nothing that another worker sends meanwhile can
 * fall into the window, so nothing is ever undone.
 */
#include "engine/process_run.h"

#include "flitwarp/error.h"

static void post(struct process_worker *worker, struct partition *from, struct event *event)
{
    const struct model *model = worker->run->model;
    event->partition = worker_owner(worker, from, event);
    event->serial = 0;
    worker->counts.posted++;
    if (event->partition == from->number) {
        queue_push(&worker->queue, event);
        return;
    }
    CHECK(event->time >= worker->horizon,
          "process %llu: an event is posted at tick %llu to process %llu, sooner than model '%s' says by its lookahead "
          "of %llu ticks",
          (unsigned long long)(worker->current ? worker->current->process : 0), (unsigned long long)event->time,
          (unsigned long long)event->process, model->ops->name, (unsigned long long)model->lookahead);
    worker->counts.posted_away++;
    worker_send(worker, event);
}

static void receive(struct process_worker *worker, struct event *event) { queue_push(&worker->queue, event); }

static void run_window(struct process_worker *worker, tick_t last)
{
    struct partition *partition = &worker->partitions[0];
    const struct model_ops *ops = worker->run->model->ops;
    uint64_t handled = 0;
    for (struct event *event; (event = queue_take(&worker->queue, last)); handled++) {
        worker->current = event;
        worker->last_time = event->time;
        worker_prefetch(worker);
        ops->handle(partition, event);
        if (ops->commit)
            ops->commit(partition, event);
    }
    worker->counts.handled += handled;
    worker->counts.committed += handled;
}

void run_conservative(struct process_worker *worker)
{
    struct process_run *run = worker->run;
    const struct model *model = run->model;
    if (!worker->is_built) {
        worker->post = post;
        worker->sent_time = TICK_NEVER;
        worker_build(worker);
    }
    bool leads = worker->number == 0;
    tick_t now = run->now; /* the same for all: what the run has of it is the leader's */
    for (uint64_t mine = worker->counts.handled;;) {
        tick_t first = queue_first_time(&worker->queue);
        struct sync_values values = {.time = first < worker->sent_time ? first : worker->sent_time,
                                     .handled = worker->counts.handled - mine,
                                     .stop = worker_wants_stop(worker, now)};
        mine = worker->counts.handled;
        values = worker_meet(worker, values);
        now = values.time;
        worker_drain(worker, receive);
        bool is_complete = values.time > model->end || values.time == TICK_NEVER;
        worker->all_handled += values.handled;
        if (leads) {
            run->now = now;
            run->is_complete = is_complete;
            run->is_paused = !is_complete && values.stop == STOP_PAUSE;
            run->meetings += !run->is_paused; /* it will be met again */
            if (run->progress)
                run->progress(run->progress_context, &(struct process_progress){values.time, worker->all_handled, 1});
        }
        if (values.stop || is_complete)
            break;
        worker->horizon = values.time + model->lookahead;
        tick_t last = worker->horizon - 1 < model->end ? worker->horizon - 1 : model->end;
        run_window(worker, last);
    }
}

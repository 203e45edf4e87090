/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time Warp: each worker handles what it has, hoping that nothing earlier comes
 * from the others, and undoes what was in vain. In rounds the workers meet and
 * find the GVT: no event before it can appear any more. What lies before it is
 * committed.
 *
 * A round: handle some events, looking into the mailboxes now and then; meet, so
 * that all that was sent is there; receive it; meet again with the earliest event
 * that is pending or, taken back just now, still under way.
 *
 * Nobody runs further ahead of the GVT than a window. It is set, or follows the
 * share of events that are undone.
 */
#include "engine/process_rollback.h"

#include <string.h>

enum {
    ROUND = 1024,               /* events a worker handles between two meetings */
    FEW = 64,                   /* events of a worker between two meetings that are hardly worth meeting for */
    LOOK = 16,                  /* events between two looks into the mailboxes */
    MOST_UNCOMMITTED = 1 << 18, /* events whose undoing a worker keeps possible */
};
#define WIDEST ((tick_t)1 << 61)

struct round {
    struct process_worker *worker;
    tick_t gvt, window;
    bool window_is_set;
    uint64_t handled, rolled_back; /* this worker's, before this round */
    uint64_t all_handled, all_rolled_back;
};

static tick_t earlier(tick_t a, tick_t b) { return a < b ? a : b; }

static void run_round(struct round *round)
{
    struct process_worker *worker = round->worker;
    tick_t end = worker->run->model->end;
    for (uint32_t left = ROUND; left; left -= LOOK) {
        worker_drain(worker, rollback_receive);
        bool is_full = worker->uncommitted > MOST_UNCOMMITTED; /* the earliest event of all may always go on */
        tick_t last = earlier(is_full ? round->gvt : round->gvt + round->window, end);
        if (rollback_forward(worker, last, LOOK) < LOOK)
            break;
    }
}

/*
 * More than a quarter in vain: half as far ahead, unless so little is handled between two meetings that these cost more
 * than what is undone. Else further each time.
 */
static void adapt_window(struct round *round, const struct sync_values *values)
{
    const struct process_run *run = round->worker->run;
    if (round->window_is_set || !values->handled)
        return;
    bool is_short = values->handled < (uint64_t)FEW * run->worker_count * run->rank_count;
    if (values->rolled_back > values->handled / (is_short ? 2 : 4)) {
        tick_t spread = values->furthest > round->gvt ? values->furthest - round->gvt : 1;
        round->window = earlier(round->window, spread) / 2 + 1;
    } else if (round->window < WIDEST) {
        round->window += round->window / (values->rolled_back > values->handled / 16 ? 8 : 2) + 1;
    }
}

/* Finds the GVT, and how far ahead everybody may run from it; false when the run is over. */
static bool round_meet(struct round *round)
{
    struct process_worker *worker = round->worker;
    worker_meet(worker, (struct sync_values){.time = FW_NEVER});
    worker_drain(worker, rollback_receive);
    struct sync_values values = {
        .time = earlier(queue_first_time(&worker->queue), worker->sent_time),
        .furthest = worker->furthest,
        .handled = worker->counts.handled - round->handled,
        .rolled_back = worker->counts.rolled_back - round->rolled_back,
        .stop = worker_wants_stop(worker, round->gvt),
    };
    round->handled = worker->counts.handled;
    round->rolled_back = worker->counts.rolled_back;
    worker->furthest = 0;
    values = worker_meet(worker, values);
    round->gvt = values.time;
    round->all_handled += values.handled;
    round->all_rolled_back += values.rolled_back;
    adapt_window(round, &values);
    return worker_goes_on(worker, &values, round->all_handled, round->all_rolled_back);
}

void run_optimistic(struct process_worker *worker)
{
    tick_t window = worker->run->settings.window;
    if (!worker->is_built) {
        rollback_init(worker);
        worker->sent_time = FW_NEVER;
        worker_build(worker);
        worker->round = memory_take(sizeof *worker->round);
        *worker->round =
            (struct round){.worker = worker, .window = window ? window : WIDEST, .window_is_set = window > 0};
    }
    struct round *round = worker->round;
    while (round_meet(round)) {
        rollback_commit(worker, round->gvt);
        run_round(round);
    }
    rollback_commit(worker, round->gvt);
}

/*
 * ---- the check of reversal ----
 *
 * Does a model save all that it overwrites? Some events are handled, undone and
 * handled again; undone, the state must be as before, and handled again as after
 * the first time, and so must be what was sent. One thread; the results are those
 * of any other run.
 */

enum {
    SMALL_STATE = 1 << 16, /* bytes: up to here every event is checked by itself */
    AT_ONCE = 64,
};

/* The state of the one partition: its bytes, and a hash of them. */
struct state {
    size_t bytes;
    uint64_t hash;
};

static struct state state_of(const struct process_worker *worker)
{
    size_t bytes = process_memory_size(&worker->partitions[0]);
    return (struct state){bytes, process_memory_hash(&worker->partitions[0], bytes)};
}

static void expect_same(const struct state *state, const struct process_worker *worker, const struct event *event,
                        uint32_t count, const char *when)
{
    FW_CHECK(
        process_memory_hash(&worker->partitions[0], state->bytes) == state->hash,
        "tick %llu, process %llu: with %u event%s from here on %s the state is not as it was; expected process_save() "
        "before everything that handle() overwrites, or a reverse() that undoes all of it",
        (unsigned long long)event->time, (unsigned long long)event->process, count, count == 1 ? "" : "s", when);
}

/* Of the keys of all that was sent and is not committed. */
static struct digest sent_digest(const struct process_worker *worker)
{
    struct digest digest = {0};
    const struct log_ring *sent = &worker->logs[0].sent;
    for (uint64_t i = sent->first; i < sent->next; i++) {
        const struct event *event = log_ring_at(sent, i);
        digest_add(&digest, (const uint64_t[]){event->time, event->process, event->tie}, 3);
    }
    return digest;
}

void run_reversal(struct process_worker *worker)
{
    struct process_run *run = worker->run;
    tick_t end = run->model->end;
    rollback_init(worker);
    worker_build(worker);
    const struct log_ring *handled = &worker->logs[0].handled;
    while (!(run->interrupt && *run->interrupt)) {
        struct state before = state_of(worker);
        uint32_t count = rollback_forward(worker, end, before.bytes <= SMALL_STATE ? 1 : AT_ONCE);
        if (!count)
            break;
        struct event first = ((const struct log_entry *)log_ring_at(handled, handled->first))->event;
        struct digest sent = sent_digest(worker);
        struct state after = state_of(worker);
        worker->current = NULL;
        rollback_all(worker);
        expect_same(&before, worker, &first, count, "undone");
        rollback_forward(worker, end, count);
        expect_same(&after, worker, &first, count, "handled again");
        struct digest again = sent_digest(worker);
        FW_CHECK(
            memcmp(&sent, &again, sizeof sent) == 0,
            "tick %llu, process %llu: handled again, %u event%s from here on sent other events than the first time",
            (unsigned long long)first.time, (unsigned long long)first.process, count, count == 1 ? "" : "s");
        rollback_commit(worker, FW_NEVER);
    }
    run->is_complete = !(run->interrupt && *run->interrupt);
}

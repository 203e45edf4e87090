/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a model save all that it overwrites? Some events are handled, undone and
 * handled again; undone, the state must be as before, and handled again as after
 * the first time, and so must be what was sent. One thread; the results are those
 * of any other run.
 */
#include "engine/process_rollback.h"

#include <string.h>

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

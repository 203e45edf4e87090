/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a model save all that it overwrites? Some events are handled, undone and
 * handled again; undone, the state must be as before, and handled again as after
 * the first time, and so must be what was sent. One thread; the results are those
 * of any other run.
 */
#include "engine/process_rollback.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_STATE = 1 << 16, /* bytes: up to here every event is checked by itself */
    AT_ONCE = 64,
};

struct copy {
    unsigned char *bytes; /* owned */
    size_t size, capacity;
};

static void copy_take(struct copy *copy, const struct process_worker *worker)
{
    copy->size = 0;
    for (uint32_t i = 0; i < worker->partition_count; i++)
        copy->size += process_memory_size(&worker->partitions[i]);
    if (copy->size > copy->capacity) {
        copy->capacity = copy->size * 2;
        copy->bytes = memory_resize(copy->bytes, copy->capacity);
    }
    unsigned char *to = copy->bytes;
    for (uint32_t i = 0; i < worker->partition_count; i++) {
        process_memory_copy(&worker->partitions[i], to);
        to += process_memory_size(&worker->partitions[i]);
    }
}

static void expect_same(const struct copy *copy, const struct process_worker *worker, const struct event *event,
                        uint32_t count, const char *when)
{
    FW_CHECK(
        !process_memory_differs(&worker->partitions[0], copy->bytes, copy->size),
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
    struct copy before = {0}, after = {0};
    rollback_init(worker);
    worker_build(worker);
    const struct log_ring *handled = &worker->logs[0].handled;
    while (!(run->interrupt && *run->interrupt)) {
        copy_take(&before, worker);
        uint32_t count = rollback_forward(worker, end, before.size <= SMALL_STATE ? 1 : AT_ONCE);
        if (!count)
            break;
        struct event first = ((const struct log_entry *)log_ring_at(handled, handled->first))->event;
        struct digest sent = sent_digest(worker);
        copy_take(&after, worker);
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
    free(before.bytes);
    free(after.bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does whatever the synchronisation: builds, posts, sends, receives and meets the others. */
#include "engine/process_run.h"

#include <stdlib.h>

void process_post(struct partition *partition, struct event *event)
{
    struct process_worker *worker = partition->worker;
    const struct event *current = worker->current;
    FW_CHECK(!current || event_is_before(current, event),
             "tick %llu: process %llu posts an event at tick %llu to process %llu whose key is not above its own",
             (unsigned long long)current->time, (unsigned long long)current->process, (unsigned long long)event->time,
             (unsigned long long)event->process);
    if (worker->post) {
        worker->post(worker, partition, event);
        return;
    }
    event->partition = event->serial = 0;
    queue_push(&worker->queue, event);
}

void worker_build(struct process_worker *worker)
{
    const struct model_ops *ops = worker->run->model->ops;
    for (uint32_t i = 0; i < worker->partition_count; i++)
        ops->build(&worker->partitions[i]);
    for (uint32_t i = 0; i < worker->partition_count; i++)
        ops->begin(&worker->partitions[i]);
    worker->is_built = true;
}

enum process_stop worker_wants_stop(const struct process_worker *worker, tick_t now)
{
    const struct process_run *run = worker->run;
    if (worker->number)
        return STOP_NOT;
    if (run->interrupt && *run->interrupt)
        return STOP_END;
    return run->pauses.is_wanted && run->pauses.is_wanted(run->pauses.context, now) ? STOP_PAUSE : STOP_NOT;
}

void worker_send(struct process_worker *worker, const struct event *event)
{
    struct process_run *run = worker->run;
    uint32_t target = worker_of(run, event->partition & ~EVENT_TAKEN_BACK);
    uint32_t rank = target / run->worker_count;
    if (event->time < worker->sent_time)
        worker->sent_time = event->time;
    if (rank == run->rank)
        mailbox_put(&run->mailboxes[worker->number * run->worker_count + target % run->worker_count], event);
    else
        words_add(&worker->rank_boxes[rank], event, run->event_size / 8);
}

void worker_drain(struct process_worker *worker, void (*receive)(struct process_worker *worker, struct event *event))
{
    struct process_run *run = worker->run;
    for (uint32_t from = 0; from < run->worker_count; from++) {
        if (from == worker->number)
            continue;
        struct mailbox *mailbox = &run->mailboxes[from * run->worker_count + worker->number];
        for (struct event *event; (event = mailbox_take(mailbox));)
            receive(worker, event);
    }
    struct words *box = &worker->from_ranks;
    for (size_t at = 0; at < box->count; at += run->event_size / 8)
        receive(worker, (struct event *)(void *)(box->words + at));
    box->count = 0;
}

static void values_merge(struct sync_values *into, const struct sync_values *from)
{
    into->time = from->time < into->time ? from->time : into->time;
    into->furthest = from->furthest > into->furthest ? from->furthest : into->furthest;
    into->stop = from->stop > into->stop ? from->stop : into->stop;
    into->handled += from->handled;
    into->rolled_back += from->rolled_back;
}

/* To the workers that they are for. */
static void ranks_scatter(struct process_run *run)
{
    uint32_t words = run->event_size / 8;
    for (size_t at = 0; at < run->mail.in.count; at += words) {
        const struct event *event = (const void *)(run->mail.in.words + at);
        uint32_t worker = worker_of(run, event->partition & ~EVENT_TAKEN_BACK) - run->rank * run->worker_count;
        FW_CHECK(worker < run->worker_count, "an event for partition %u came to rank %u",
                 event->partition & ~EVENT_TAKEN_BACK, run->rank);
        words_add(&run->workers[worker]->from_ranks, event, words);
    }
}

/* Where the workers of a rank have met: what each rank's workers agreed on becomes what all agree on. */
static void ranks_meet(struct process_run *run)
{
    for (uint32_t rank = 0; rank < run->rank_count; rank++)
        for (uint32_t i = 0; i < run->worker_count; i++) {
            struct words *box = &run->workers[i]->rank_boxes[rank];
            words_add(&run->mail.out[rank], box->words, box->count);
            box->count = 0;
        }
    mail_swap(&run->mail, (const uint64_t *)&run->agreed);
    for (uint32_t rank = 0; rank < run->rank_count; rank++)
        if (rank != run->rank)
            values_merge(&run->agreed, (const struct sync_values *)mail_told(&run->mail, rank));
    ranks_scatter(run);
}

struct sync_values worker_meet(struct process_worker *worker, struct sync_values values)
{
    struct process_run *run = worker->run;
    struct sync_slot *slots = run->slots[worker->is_second];
    worker->is_second =
        !worker->is_second; /* a slot is written again when all have met once more: nobody reads it then */
    slots[worker->number].values = values;
    worker->sent_time = FW_NEVER;
    crew_meet(run->crew);
    if (run->rank_count > 1) {
        if (worker->number == 0) {
            run->agreed = slots[0].values;
            for (uint32_t i = 1; i < run->worker_count; i++)
                values_merge(&run->agreed, &slots[i].values);
            ranks_meet(run);
        }
        crew_meet(run->crew);
        return run->agreed;
    }
    values = slots[0].values;
    for (uint32_t i = 1; i < run->worker_count; i++)
        values_merge(&values, &slots[i].values);
    return values;
}

bool worker_goes_on(const struct process_worker *worker, const struct sync_values *values, uint64_t handled,
                    uint64_t rolled_back)
{
    struct process_run *run = worker->run;
    bool is_complete = values->time > run->model->end || values->time == FW_NEVER;
    if (worker->number == 0) {
        run->now = values->time;
        run->is_complete = is_complete;
        run->is_paused = !is_complete && values->stop == STOP_PAUSE;
        run->meetings += !run->is_paused; /* it will be met again */
        double committed = (double)(handled - rolled_back);
        if (run->progress)
            run->progress(run->progress_context,
                          &(struct process_progress){values->time, handled - rolled_back,
                                                     1 - (double)rolled_back / (committed ? committed : 1)});
    }
    return !is_complete && !values->stop;
}

/*
 * ---- mailboxes ----
 *
 * The writer takes chunks from the front of the
 * chain up to the one that is being read:
 *
 *   oldest -> ... -> reading -> ... -> writing
 *   \___ free ___/
 */

enum { PER_CHUNK = 32 };

/* An empty chunk: this one, which was read, or where it is NULL a new one. */
static struct mail_chunk *chunk_take(struct mail_chunk *chunk, uint32_t words)
{
    if (!chunk)
        chunk = memory_take_aligned(sizeof *chunk + sizeof(uint64_t) * words * PER_CHUNK);
    atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&chunk->filled, 0, memory_order_relaxed);
    return chunk;
}

void mailbox_init(struct mailbox *mailbox, uint32_t event_size)
{
    mailbox->words = event_size / 8;
    mailbox->writing = mailbox->oldest = chunk_take(NULL, mailbox->words);
    mailbox->taken = 0;
    atomic_init(&mailbox->reading, mailbox->writing);
}

void mailbox_release(struct mailbox *mailbox)
{
    for (struct mail_chunk *chunk = mailbox->oldest, *next; chunk; chunk = next) {
        next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        free(chunk);
    }
}

/* An empty chunk at the end of the chain: one that was read, or a new one. */
static struct mail_chunk *next_chunk(struct mailbox *mailbox)
{
    struct mail_chunk *chunk = mailbox->oldest;
    bool is_read = chunk != atomic_load_explicit(&mailbox->reading, memory_order_acquire);
    if (is_read)
        mailbox->oldest = atomic_load_explicit(&chunk->next, memory_order_relaxed);
    chunk = chunk_take(is_read ? chunk : NULL, mailbox->words);
    atomic_store_explicit(&mailbox->writing->next, chunk, memory_order_release);
    return chunk;
}

void mailbox_put(struct mailbox *mailbox, const struct event *event)
{
    uint32_t filled = atomic_load_explicit(&mailbox->writing->filled, memory_order_relaxed);
    if (filled == PER_CHUNK) {
        mailbox->writing = next_chunk(mailbox);
        filled = 0;
    }
    event_copy(mailbox->writing->events + (size_t)filled * mailbox->words, event, mailbox->words);
    atomic_store_explicit(&mailbox->writing->filled, filled + 1, memory_order_release);
}

struct event *mailbox_take(struct mailbox *mailbox)
{
    struct mail_chunk *chunk = atomic_load_explicit(&mailbox->reading, memory_order_relaxed);
    if (mailbox->taken == PER_CHUNK) {
        struct mail_chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        if (!next)
            return NULL;
        mailbox->taken = 0;
        atomic_store_explicit(&mailbox->reading, next, memory_order_release);
        chunk = next;
    }
    if (mailbox->taken == atomic_load_explicit(&chunk->filled, memory_order_acquire))
        return NULL;
    return (struct event *)(void *)(chunk->events + (size_t)mailbox->taken++ * mailbox->words);
}

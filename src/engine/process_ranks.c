/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a model over several ranks. Where the workers of a rank have met, the
 * events for other ranks go there, and what each rank's workers agreed on becomes
 * what all agree on.
 */
#include "engine/process_run.h"

#include "flitwarp/arena.h"
#include "flitwarp/error.h"

#include <stdlib.h>

static uint64_t *event_buffer_extend(struct event_buffer *buffer, size_t count, uint32_t words)
{
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : 64;
        while (capacity < buffer->count + count)
            capacity *= 2;
        buffer->words = memory_resize(buffer->words, sizeof *buffer->words * words * capacity);
        buffer->capacity = capacity;
    }
    uint64_t *at = buffer->words + buffer->count * words;
    buffer->count += count;
    return at;
}

void event_buffer_add(struct event_buffer *buffer, const struct event *event, uint32_t words)
{
    event_copy(event_buffer_extend(buffer, 1, words), event, words);
}

void event_buffer_release(struct event_buffer *buffer) { free(buffer->words); }

/* All events for other ranks, by worker. */
static void gather(struct process_run *run)
{
    uint32_t words = run->event_size / 8;
    for (uint32_t rank = 0; rank < run->rank_count; rank++)
        for (uint32_t i = 0; i < run->worker_count; i++) {
            struct event_buffer *box = &run->workers[i]->rank_boxes[rank];
            words_add(&run->mail.out[rank], box->words, box->count * words);
            box->count = 0;
        }
}

static void scatter(struct process_run *run)
{
    uint32_t words = run->event_size / 8;
    for (size_t at = 0; at < run->mail.in.count; at += words) {
        const struct event *event = (const void *)(run->mail.in.words + at);
        uint32_t worker = worker_of(run, event->partition & ~EVENT_TAKEN_BACK) - run->rank * run->worker_count;
        CHECK(worker < run->worker_count, "an event for partition %u came to rank %u",
              event->partition & ~EVENT_TAKEN_BACK, run->rank);
        event_buffer_add(&run->workers[worker]->from_ranks, event, words);
    }
}

void ranks_meet(struct process_run *run)
{
    gather(run);
    mail_swap(&run->mail, (const uint64_t *)&run->agreed);
    for (uint32_t rank = 0; rank < run->rank_count; rank++)
        if (rank != run->rank)
            values_merge(&run->agreed, (const struct sync_values *)mail_told(&run->mail, rank));
    scatter(run);
}

void ranks_total(struct process_run *run)
{
    const struct model *model = run->model;
    ranks_add(run->ranks, run->sums, model->sum_count);
    ranks_raise(run->ranks, run->maxima, model->maximum_count);
    ranks_add(run->ranks, (uint64_t *)&run->counts, PROCESS_COUNTS);
    ranks_add(run->ranks, run->digest.lanes, 2);
    run->totals.end_tick = ranks_largest(run->ranks, run->totals.end_tick);
}

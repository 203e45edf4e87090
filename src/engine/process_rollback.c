/* SPDX-License-Identifier: Apache-2.0 */
/* Handling, undoing and committing, see process_rollback.h. */
#include "engine/process_rollback.h"

#include "base/checksum.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define IS_DROPPED EVENT_TAKEN_BACK /* of an entry: its event was taken back while it was undone */

static void log_ring_grow(struct log_ring *ring, uint64_t more)
{
    struct log_ring old = *ring;
    while (ring->next - ring->first + more > ring->capacity)
        ring->capacity *= 2;
    ring->items = memory_resize(NULL, ring->item_size * ring->capacity);
    for (uint64_t i = ring->first; i < ring->next; i++)
        memcpy(log_ring_at(ring, i), log_ring_at(&old, i), ring->item_size);
    free(old.items);
}

/* Makes room for so many more than there are. */
static void log_ring_reserve(struct log_ring *ring, uint64_t more)
{
    if (__builtin_expect(ring->next - ring->first + more > ring->capacity, 0))
        log_ring_grow(ring, more);
}

static void *ring_add(struct log_ring *ring)
{
    log_ring_reserve(ring, 1);
    return log_ring_at(ring, ring->next++);
}

static struct log_entry *log_entry_at(const struct partition_log *log, uint64_t position)
{
    return log_ring_at(&log->handled, position);
}

/* Was something handled in this partition that has `event` or a later key? */
static bool is_late(const struct partition_log *log, const struct event *event)
{
    return log->handled.next > log->handled.first &&
           !event_is_before(&log_entry_at(log, log->handled.next - 1)->event, event);
}

void rollback_init(struct process_worker *worker)
{
    worker->logs = memory_take_aligned(sizeof *worker->logs * worker->partition_count);
    for (uint32_t i = 0; i < worker->partition_count; i++) {
        struct partition_log *log = &worker->logs[i];
        log_ring_init(&log->handled, offsetof(struct log_entry, event) + worker->run->event_size);
        log_ring_init(&log->sent, sizeof(struct event));
        log_ring_init(&log->undo, sizeof(uint64_t));
        if (!worker->run->model->ops->reverse)
            worker->partitions[i].undo = &log->undo;
    }
    table_init(&worker->tombstones, 0, NULL);
    worker->word = memory_take(worker->run->event_size);
    worker->post = rollback_post;
}

void rollback_release(struct process_worker *worker)
{
    for (uint32_t i = 0; worker->logs && i < worker->partition_count; i++) {
        log_ring_release(&worker->logs[i].handled);
        log_ring_release(&worker->logs[i].sent);
        log_ring_release(&worker->logs[i].undo);
    }
    table_release(&worker->tombstones);
    free(worker->word);
    free(worker->logs);
}

/* ---- back ---- */

/* Takes back what an undone event sent: its own partition's from among those undone with it, others by their owners. */
static void take_back(struct process_worker *worker, struct partition_log *log, uint64_t from, uint64_t end,
                      const struct event *sent, uint32_t partition)
{
    uint32_t mine = sent->partition - worker->first_partition;
    if (mine >= worker->partition_count) {
        *worker->word = *sent;
        worker->word->partition |= EVENT_TAKEN_BACK;
        worker_send(worker, worker->word);
        return;
    }
    uint64_t low = from, high = end; /* the first entry that is not before it */
    while (mine == partition && low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (event_is_before(&log_entry_at(log, middle)->event, sent))
            low = middle + 1;
        else
            high = middle;
    }
    struct event *found = mine == partition && low < end ? &log_entry_at(log, low)->event : NULL;
    if (found && found->serial == sent->serial && found->tie == sent->tie && found->process == sent->process)
        found->partition |= IS_DROPPED;
    else
        words_add(&worker->taken_back, sent, sizeof *sent / 8);
}

/* Undoes all events of a partition from `key` on; `cause` is not pending again if it is among them. */
static void rollback(struct process_worker *worker, uint32_t partition, const struct event *key,
                     const struct event *cause)
{
    struct partition_log *log = &worker->logs[partition];
    const struct model_ops *ops = worker->run->model->ops;
    uint64_t end = log->handled.next;
    while (log->handled.next > log->handled.first) {
        struct log_entry *entry = log_entry_at(log, log->handled.next - 1);
        if (event_is_before(&entry->event, key))
            break;
        if (ops->reverse)
            ops->reverse(&worker->partitions[partition], &entry->event);
        else
            undo_to(&log->undo, entry->undo_mark);
        log->handled.next--;
        while (log->sent.next > entry->sent_mark)
            take_back(worker, log, log->handled.next, end, log_ring_at(&log->sent, --log->sent.next), partition);
    }
    for (uint64_t i = log->handled.next; i < end; i++) {
        struct event *event = &log_entry_at(log, i)->event;
        bool is_cause = cause && event->serial == cause->serial && event->tie == cause->tie &&
                        event->process == cause->process && event->time == cause->time;
        if (!is_cause && !(event->partition & IS_DROPPED))
            queue_push(&worker->queue, event);
    }
    worker->uncommitted -= end - log->handled.next;
    worker->counts.rolled_back += end - log->handled.next;
}

/*
 * Names this very event: two may share a key for a while, and differ in their serial numbers then. The low half of the time is
 * enough beside them: two that are 2^32 ticks apart would need the same serial number too.
 */
static struct table_key tombstone_key(const struct event *event)
{
    return (struct table_key){{event->process, event->tie, event->time << 32 | event->serial}};
}

/* Undoes what was handled of the event, or sees to it that it never will be. */
static void rollback_cancel(struct process_worker *worker, const struct event *event)
{
    uint32_t partition = event->partition - worker->first_partition;
    if (is_late(&worker->logs[partition], event)) {
        worker->counts.secondary++;
        rollback(worker, partition, event, event);
    } else {
        struct table_key key = tombstone_key(event);
        table_put(&worker->tombstones, &key);
    }
}

/* Rollbacks take back events, which makes further rollbacks: one after another, not one inside another. */
static void rollback_cancel_all(struct process_worker *worker)
{
    struct words *list = &worker->taken_back;
    while (list->count) {
        struct event event;
        list->count -= sizeof event / 8;
        memcpy(&event, list->words + list->count, sizeof event);
        rollback_cancel(worker, &event);
    }
}

/* A new event for one of its own partitions. */
static void rollback_arrive(struct process_worker *worker, struct event *event)
{
    uint32_t partition = event->partition - worker->first_partition;
    if (__builtin_expect(is_late(&worker->logs[partition], event), 0)) {
        worker->counts.primary++;
        rollback(worker, partition, event, NULL);
        rollback_cancel_all(worker);
    }
    queue_push(&worker->queue, event);
}

void rollback_receive(struct process_worker *worker, struct event *event)
{
    if (event->partition & EVENT_TAKEN_BACK) {
        event->partition &= ~EVENT_TAKEN_BACK;
        rollback_cancel(worker, event);
        rollback_cancel_all(worker);
    } else {
        rollback_arrive(worker, event);
    }
}

void rollback_all(struct process_worker *worker)
{
    static const struct event first = {0};
    for (uint32_t i = 0; i < worker->partition_count; i++)
        rollback(worker, i, &first, NULL);
    rollback_cancel_all(worker);
}

/* ---- forward ---- */

void rollback_post(struct process_worker *worker, struct partition *from, struct event *event)
{
    event->partition = worker_owner(worker, from, event);
    event->serial = worker->next_serial;
    worker->next_serial += worker->run->rank_count * worker->run->worker_count; /* no two workers give the same */
    worker->counts.posted++;
    if (worker->current) /* what begin() posts is never taken back */
        *(struct event *)ring_add(&worker->logs[from->number - worker->first_partition].sent) = *event;
    if (event->partition == from->number) {
        queue_push(&worker->queue, event); /* its key is above that of the last one handled there */
    } else if (event->partition - worker->first_partition < worker->partition_count) {
        rollback_arrive(worker, event);
    } else {
        worker->counts.posted_away++;
        worker_send(worker, event);
    }
}

/* So that it can be undone. */
static void rollback_handle(struct process_worker *worker, const struct event *event)
{
    uint32_t index = event->partition - worker->first_partition;
    struct partition_log *log = &worker->logs[index];
    struct log_entry *entry = ring_add(&log->handled);
    entry->undo_mark = log->undo.next;
    entry->sent_mark = log->sent.next;
    event_copy(&entry->event, event, worker->queue.words);
    worker->current = &entry->event;
    worker->run->model->ops->handle(&worker->partitions[index], &entry->event);
    worker->counts.handled++;
    worker->uncommitted++;
}

/* The next event that was not taken back. */
static struct event *rollback_take(struct process_worker *worker, tick_t last)
{
    for (struct event *event; (event = queue_take(&worker->queue, last));) {
        if (!worker->tombstones.count)
            return event;
        struct table_key key = tombstone_key(event);
        if (!table_remove(&worker->tombstones, &key))
            return event;
    }
    return NULL;
}

uint32_t rollback_forward(struct process_worker *worker, tick_t last, uint32_t most)
{
    uint32_t done = 0;
    for (struct event *event; done < most && (event = rollback_take(worker, last)); done++) {
        if (event->time > worker->furthest)
            worker->furthest = event->time;
        worker_prefetch(worker);
        rollback_handle(worker, event);
    }
    return done;
}

static void commit_partition(struct process_worker *worker, uint32_t partition, tick_t time)
{
    struct partition_log *log = &worker->logs[partition];
    const struct model_ops *ops = worker->run->model->ops;
    uint64_t before = log->handled.first;
    while (log->handled.first < log->handled.next) {
        struct log_entry *entry = log_entry_at(log, log->handled.first);
        if (entry->event.time >= time)
            break;
        if (ops->commit)
            ops->commit(&worker->partitions[partition], &entry->event);
        if (entry->event.time > worker->last_time)
            worker->last_time = entry->event.time;
        log->handled.first++;
    }
    bool is_empty = log->handled.first == log->handled.next;
    const struct log_entry *oldest = is_empty ? NULL : log_entry_at(log, log->handled.first);
    log->undo.first = oldest ? oldest->undo_mark : log->undo.next;
    log->sent.first = oldest ? oldest->sent_mark : log->sent.next;
    worker->counts.committed += log->handled.first - before;
    worker->uncommitted -= log->handled.first - before;
}

void rollback_commit(struct process_worker *worker, tick_t time)
{
    for (uint32_t i = 0; i < worker->partition_count; i++)
        commit_partition(worker, i, time);
}

/* ---- state of partitions, in pieces that the engine can find again ---- */

enum { FIRST_CAPACITY = 64, FOOT = 2 };

struct process_region {
    struct process_region *next;
    size_t bytes;
    alignas(64) unsigned char data[];
};

void *process_memory(struct partition *partition, size_t bytes)
{
    struct process_region *region = memory_take_aligned(sizeof *region + bytes);
    memset(region->data, 0, bytes);
    region->next = partition->memory;
    region->bytes = bytes;
    partition->memory = region;
    return region->data;
}

void process_memory_release(struct partition *partition)
{
    for (struct process_region *region = partition->memory, *next; region; region = next) {
        next = region->next;
        free(region);
    }
    partition->memory = NULL;
}

size_t process_memory_size(const struct partition *partition)
{
    size_t bytes = 0;
    for (const struct process_region *region = partition->memory; region; region = region->next)
        bytes += region->bytes;
    return bytes;
}

uint64_t process_memory_hash(const struct partition *partition, size_t bytes)
{
    uint64_t hash = 0;
    size_t left = process_memory_size(partition);
    for (const struct process_region *region = partition->memory; region; region = region->next) {
        if (left <= bytes) /* newer regions come first */
            hash = random_mix(hash ^ bytes_checksum(region->data, region->bytes));
        left -= region->bytes;
    }
    return hash;
}

/* ---- rings ---- */

void log_ring_init(struct log_ring *ring, size_t item_size)
{
    *ring = (struct log_ring){.item_size = item_size, .capacity = FIRST_CAPACITY};
    ring->items = memory_take(item_size * FIRST_CAPACITY);
}

void log_ring_release(struct log_ring *ring) { free(ring->items); }

/* ---- the undo log ---- */

static uint64_t *word_at(const struct log_ring *undo, uint64_t position)
{
    return (uint64_t *)(void *)undo->items + (position & (undo->capacity - 1));
}

void undo_save(struct log_ring *undo, void *memory, size_t size)
{
    uint64_t *next = &undo->next;
    log_ring_reserve(undo, (size + 7) / 8 + FOOT);
    if (size == 8) { /* a counter or a pointer: most of what is saved */
        memcpy(word_at(undo, (*next)++), memory, 8);
    } else {
        const unsigned char *from = memory;
        for (size_t at = 0; at < size; at += 8) {
            uint64_t word = 0;
            memcpy(&word, from + at, size - at < 8 ? size - at : 8);
            *word_at(undo, (*next)++) = word;
        }
    }
    *word_at(undo, (*next)++) = (uint64_t)(uintptr_t)memory;
    *word_at(undo, (*next)++) = size;
}

void undo_to(struct log_ring *undo, uint64_t mark)
{
    uint64_t *next = &undo->next;
    while (*next > mark) {
        size_t size = *word_at(undo, *next - 1);
        unsigned char *to = (unsigned char *)(uintptr_t)*word_at(undo, *next - 2);
        *next -= FOOT + (size + 7) / 8;
        for (size_t at = 0; at < size; at += 8)
            memcpy(to + at, word_at(undo, *next + at / 8), size - at < 8 ? size - at : 8);
    }
}

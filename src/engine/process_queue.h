/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The pending events of one thread, by rising key. Events are copied in and out.
 *
 *   hand     the bucket whose time has come, sorted
 *   heap     what is posted into the time of the hand or, after a rollback, before it
 *   wheel    buckets of 2^shift ticks each, unsorted, from `edge` on
 *   far      what lies beyond the wheel: 64 lists by the highest bit in which an
 *            event's bucket differs from a base that only rises (a radix heap), so
 *            that each event moves down a few times at most
 *
 * Width and number of buckets follow what is pending, so that a bucket has some
 * 16 events. Buckets are lists of small chunks from a pool; in the steady state
 * nothing is allocated.
 */
#include "flitwarp/process.h"

#include <stdatomic.h>

struct queue_chunk {
    struct queue_chunk *next;
    uint64_t events[]; /* per_chunk of them */
};

/* Unordered events, newest chunk first; all chunks but that one are full. */
struct queue_list {
    struct queue_chunk *chunk;
    uint32_t room; /* events that the newest chunk still takes */
    uint32_t chunks;
};

struct queue_heap_item {
    tick_t time;
    uint32_t slot;
};

struct event_queue {
    uint32_t size, words; /* of an event: bytes, and the same in 64-bit words */
    uint32_t per_chunk;
    uint32_t shift;
    uint64_t edge;         /* first bucket that is not yet in the hand */
    uint64_t bucket_count; /* a power of two */
    struct queue_list *buckets;
    uint64_t *occupied;  /* bit per bucket */
    uint64_t wheel_size; /* events in the wheel */

    uint64_t *hand;  /* events as they came */
    uint64_t *order; /* sorted: the low QUEUE_INDEX_BITS say which of them */
    uint32_t hand_at, hand_size, hand_capacity;

    struct queue_heap_item *heap;
    uint64_t *heap_events; /* by slot */
    uint32_t *heap_free;   /* stack of slots */
    uint32_t heap_size, heap_capacity;
    uint64_t *taken; /* the event that came from the heap last */

    struct queue_list far[64];
    uint64_t far_min[64]; /* smallest bucket in each list */
    uint64_t far_lists;   /* bit per list that is not empty */
    uint64_t far_base, far_size;

    struct queue_chunk *free;
    void *slabs;
    uint32_t next_slab;

    /* since the width was looked at last */
    uint64_t buckets_taken, events_taken, heap_pushes;
    uint64_t next_look, look_edge;
    uint64_t moved_since; /* events taken since the last rebuild */
    uint64_t allocations;
};

#define QUEUE_INDEX_BITS 28

void queue_init(struct event_queue *queue, uint32_t event_size);
void queue_release(struct event_queue *queue);
/* Slow paths of queue_push. */
void queue_push_heap(struct event_queue *queue, const struct event *event);
void queue_push_far(struct event_queue *queue, const struct event *event);
void queue_add_chunk(struct event_queue *queue, struct queue_list *list);
/* The next bucket into the empty hand, if it begins at or before `limit`. */
bool queue_advance(struct event_queue *queue, tick_t limit);
struct event *queue_pop_heap(struct event_queue *queue);

/* Time of the earliest event; FW_NEVER when there is none. */
tick_t queue_first_time(const struct event_queue *queue);
uint64_t queue_pending(const struct event_queue *queue);

/* process_sort.c: fills order[] with 0..count-1 in its low QUEUE_INDEX_BITS, by rising key of the events, which stay. */
void events_sort(uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count);

/* A model's event seen as plain words, whatever its fields are. */
typedef uint64_t event_word __attribute__((may_alias));

static inline void event_copy(void *to, const void *from, uint32_t words)
{
    event_word *target = to;
    const event_word *source = from;
    target[0] = source[0], target[1] = source[1], target[2] = source[2], target[3] = source[3];
    for (uint32_t i = 4; i < words; i++)
        target[i] = source[i];
}

static inline void queue_append(struct event_queue *queue, struct queue_list *list, const struct event *event)
{
    if (__builtin_expect(list->room == 0, 0))
        queue_add_chunk(queue, list);
    event_copy(list->chunk->events + (size_t)--list->room * queue->words, event, queue->words);
}

static inline void queue_push(struct event_queue *queue, const struct event *event)
{
    uint64_t bucket = event->time >> queue->shift;
    if (__builtin_expect(bucket < queue->edge, 0)) {
        queue_push_heap(queue, event);
    } else if (__builtin_expect(bucket - queue->edge >= queue->bucket_count, 0)) {
        queue_push_far(queue, event);
    } else {
        uint64_t at = bucket & (queue->bucket_count - 1);
        queue_append(queue, &queue->buckets[at], event);
        queue->occupied[at / 64] |= (uint64_t)1 << at % 64;
        queue->wheel_size++;
    }
}

static inline struct event *queue_hand_event(const struct event_queue *queue, uint32_t at)
{
    uint64_t index = queue->order[at] & (((uint64_t)1 << QUEUE_INDEX_BITS) - 1);
    return (struct event *)(void *)(queue->hand + index * queue->words);
}

/*
 * Takes the event with the smallest key if its time is at most `limit`; NULL otherwise. The event stays where it is
 * until the next call.
 */
static inline struct event *queue_take(struct event_queue *queue, tick_t limit)
{
    if (__builtin_expect(queue->hand_at == queue->hand_size, 0)) {
        /* what is in the heap comes before every bucket */
        if (queue->heap_size)
            return queue->heap[0].time <= limit ? queue_pop_heap(queue) : NULL;
        if (!queue_advance(queue, limit))
            return NULL;
    }
    struct event *event = queue_hand_event(queue, queue->hand_at);
    if (__builtin_expect(queue->heap_size != 0, 0)) {
        const struct queue_heap_item *top = queue->heap;
        const struct event *other = (const void *)(queue->heap_events + (size_t)top->slot * queue->words);
        if (event_is_before(other, event))
            return top->time <= limit ? queue_pop_heap(queue) : NULL;
    }
    if (event->time > limit)
        return NULL;
    queue->hand_at++;
    return event;
}

/*
 * Events from one thread to another, in order and without locks: a chain of
 * chunks with one writer and one reader. It never fills up; chunks that have been
 * read are used again by the writer, so that in the steady state nothing is
 * allocated.
 */

struct mail_chunk {
    _Atomic(struct mail_chunk *) next;
    atomic_uint filled; /* events that may be read */
    uint64_t events[];
};

struct mailbox {
    /* the writer's */
    struct mail_chunk *writing;
    struct mail_chunk *oldest; /* owned: the chain begins here */
    uint32_t words;
    /* the reader's */
    _Alignas(64) _Atomic(struct mail_chunk *) reading;
    uint32_t taken; /* from the chunk being read */
};

void mailbox_init(struct mailbox *mailbox, uint32_t event_size);
void mailbox_release(struct mailbox *mailbox);
void mailbox_put(struct mailbox *mailbox, const struct event *event);
/* The next event, which stays where it is until the call after this; NULL: there is none now. */
struct event *mailbox_take(struct mailbox *mailbox);

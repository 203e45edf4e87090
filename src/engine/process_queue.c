/* SPDX-License-Identifier: Apache-2.0 */
/* The pending events of one thread, see process_queue.h. */
#include "engine/process_queue.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 256 - sizeof(struct queue_chunk),
    FEWEST_PER_CHUNK = 4,
    FIRST_SLAB = 16,
    LARGEST_SLAB = 4096,
    FIRST_BUCKETS = 256,
    FIRST_LOOK = 64, /* buckets taken before the width is looked at */
    LATER_LOOK = 1024,
    WANTED = 16, /* events a bucket */
    FEW = 6,
    MANY = 48,
    WIDEST = 40, /* shift */
};
#define MOST_BUCKETS ((uint64_t)1 << 21)
#define LARGEST_HAND ((uint32_t)1 << QUEUE_INDEX_BITS)
#define LATEST ((tick_t)1 << 62)

struct slab {
    struct slab *previous;
};

static void buckets_create(struct event_queue *queue, uint64_t count)
{
    free(queue->buckets);
    free(queue->occupied);
    queue->bucket_count = count;
    queue->buckets = memory_take_aligned(sizeof *queue->buckets * count);
    queue->occupied = memory_take_aligned(count / 8);
    memset(queue->buckets, 0, sizeof *queue->buckets * count);
    memset(queue->occupied, 0, count / 8);
    queue->allocations++;
}

void queue_init(struct event_queue *queue, uint32_t event_size)
{
    memset(queue, 0, sizeof *queue);
    queue->size = event_size;
    queue->words = event_size / 8;
    queue->per_chunk = CHUNK_BYTES / event_size;
    if (queue->per_chunk < FEWEST_PER_CHUNK)
        queue->per_chunk = FEWEST_PER_CHUNK;
    queue->next_slab = FIRST_SLAB;
    queue->next_look = FIRST_LOOK;
    queue->taken = memory_take(event_size);
    buckets_create(queue, FIRST_BUCKETS);
}

void queue_release(struct event_queue *queue)
{
    for (struct slab *slab = queue->slabs, *previous; slab; slab = previous) {
        previous = slab->previous;
        free(slab);
    }
    free(queue->buckets);
    free(queue->occupied);
    free(queue->hand);
    free(queue->order);
    free(queue->heap);
    free(queue->heap_events);
    free(queue->heap_free);
    free(queue->taken);
    memset(queue, 0, sizeof *queue);
}

uint64_t queue_pending(const struct event_queue *queue)
{
    return queue->hand_size - queue->hand_at + queue->heap_size + queue->wheel_size + queue->far_size;
}

/* ---- chunks ---- */

static void queue_make_chunks(struct event_queue *queue)
{
    size_t bytes = (sizeof(struct queue_chunk) + (size_t)queue->per_chunk * queue->size + 15) / 16 * 16;
    struct slab *slab = memory_take_aligned(64 + bytes * queue->next_slab);
    slab->previous = queue->slabs;
    queue->slabs = slab;
    for (uint32_t i = queue->next_slab; i-- > 0;) {
        struct queue_chunk *chunk = (struct queue_chunk *)(void *)((char *)slab + 64 + bytes * i);
        chunk->next = queue->free;
        queue->free = chunk;
    }
    if (queue->next_slab < LARGEST_SLAB)
        queue->next_slab *= 2;
    queue->allocations++;
}

void queue_add_chunk(struct event_queue *queue, struct queue_list *list)
{
    if (!queue->free)
        queue_make_chunks(queue);
    struct queue_chunk *chunk = queue->free;
    queue->free = chunk->next;
    chunk->next = list->chunk;
    list->chunk = chunk;
    list->room = queue->per_chunk;
    list->chunks++;
}

static uint64_t list_size(const struct event_queue *queue, const struct queue_list *list)
{
    return (uint64_t)list->chunks * queue->per_chunk - list->room;
}

static void chunk_give(struct event_queue *queue, struct queue_chunk *chunk)
{
    chunk->next = queue->free;
    queue->free = chunk;
}

/* ---- heap ---- */

static const struct event *heap_event(const struct event_queue *queue, uint32_t slot)
{
    return (const void *)(queue->heap_events + (size_t)slot * queue->words);
}

static bool heap_is_before(const struct event_queue *queue, const struct queue_heap_item *a,
                           const struct queue_heap_item *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return event_is_before(heap_event(queue, a->slot), heap_event(queue, b->slot));
}

static void heap_grow(struct event_queue *queue)
{
    uint32_t capacity = queue->heap_capacity ? queue->heap_capacity * 2 : 64;
    queue->heap = memory_resize(queue->heap, sizeof *queue->heap * capacity);
    queue->heap_events = memory_resize(queue->heap_events, (size_t)queue->size * capacity);
    queue->heap_free = memory_resize(queue->heap_free, sizeof *queue->heap_free * capacity);
    /* slots in use and free ones are a permutation: entries from heap_size on are free */
    for (uint32_t i = queue->heap_capacity; i < capacity; i++)
        queue->heap_free[i] = i;
    queue->heap_capacity = capacity;
    queue->allocations++;
}

void queue_push_heap(struct event_queue *queue, const struct event *event)
{
    if (queue->heap_size == queue->heap_capacity)
        heap_grow(queue);
    struct queue_heap_item item = {event->time, queue->heap_free[queue->heap_size]};
    event_copy(queue->heap_events + (size_t)item.slot * queue->words, event, queue->words);
    uint32_t at = queue->heap_size++;
    while (at && heap_is_before(queue, &item, &queue->heap[(at - 1) / 2])) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = item;
    queue->heap_pushes++;
}

struct event *queue_pop_heap(struct event_queue *queue)
{
    struct queue_heap_item first = queue->heap[0], last = queue->heap[--queue->heap_size];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < queue->heap_size; at = child) {
        if (child + 1 < queue->heap_size && heap_is_before(queue, &queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!heap_is_before(queue, &queue->heap[child], &last))
            break;
        queue->heap[at] = queue->heap[child];
    }
    queue->heap[at] = last;
    queue->heap_free[queue->heap_size] = first.slot;
    event_copy(queue->taken, heap_event(queue, first.slot), queue->words);
    return (struct event *)(void *)queue->taken;
}

/* ---- far ---- */

void queue_push_far(struct event_queue *queue, const struct event *event)
{
    FW_CHECK(event->time < LATEST, "process %llu: an event at tick %llu is beyond what a run can reach",
             (unsigned long long)event->process, (unsigned long long)event->time);
    uint64_t bucket = event->time >> queue->shift;
    uint64_t differs = bucket ^ queue->far_base;
    uint32_t list = differs ? 63 - (uint32_t)__builtin_clzll(differs) : 0;
    if (!(queue->far_lists >> list & 1) || bucket < queue->far_min[list])
        queue->far_min[list] = bucket;
    queue->far_lists |= (uint64_t)1 << list;
    queue_append(queue, &queue->far[list], event);
    queue->far_size++;
}

static uint64_t far_first(const struct event_queue *queue)
{
    return queue->far_lists ? queue->far_min[__builtin_ctzll(queue->far_lists)] : UINT64_MAX;
}

/* Pushes all events of a list again and gives its chunks back. */
static void list_push_again(struct event_queue *queue, struct queue_list list)
{
    uint32_t from = list.room;
    for (struct queue_chunk *chunk = list.chunk, *next; chunk; chunk = next, from = 0) {
        next = chunk->next;
        for (uint32_t i = from; i < queue->per_chunk; i++)
            queue_push(queue, (const void *)(chunk->events + (size_t)i * queue->words));
        chunk_give(queue, chunk);
    }
}

/* Moves what has come within the wheel's reach. */
static void far_pull(struct event_queue *queue)
{
    while (queue->far_lists && far_first(queue) < queue->edge + queue->bucket_count) {
        uint32_t lowest = (uint32_t)__builtin_ctzll(queue->far_lists);
        struct queue_list list = queue->far[lowest];
        queue->far_base = queue->far_min[lowest];
        queue->far[lowest] = (struct queue_list){0};
        queue->far_lists &= queue->far_lists - 1;
        queue->far_size -= list_size(queue, &list);
        list_push_again(queue, list);
    }
}

/* ---- width ---- */

static void queue_rebuild(struct event_queue *queue, uint32_t shift, uint64_t count)
{
    struct queue_list *old = queue->buckets;
    uint64_t old_count = queue->bucket_count;
    tick_t edge_time = queue->edge << queue->shift;
    struct queue_list far[64];
    memcpy(far, queue->far, sizeof far);
    memset(queue->far, 0, sizeof queue->far);
    queue->buckets = NULL;
    buckets_create(queue, count);
    queue->wheel_size = queue->far_size = queue->far_lists = 0;
    queue->shift = shift;
    queue->edge = edge_time >> shift; /* a wider first bucket may begin before the old edge: it only lacks events */
    queue->far_base = queue->edge;
    for (uint64_t i = 0; i < old_count; i++)
        list_push_again(queue, old[i]);
    for (uint32_t i = 0; i < 64; i++)
        list_push_again(queue, far[i]);
    free(old);
    queue->moved_since = 0;
}

static uint32_t log2_of(uint64_t number) { return 63 - (uint32_t)__builtin_clzll(number | 1); }

/*
 * Looks from time to time whether buckets have about the wanted number of events. Too many: they are made narrower by
 * that much. Too few: as wide as the events taken since the last look were apart on average.
 */
static uint32_t wanted_shift(const struct event_queue *queue, uint64_t pending)
{
    uint64_t mean = queue->events_taken / queue->buckets_taken;
    bool heap_is_busy = queue->heap_pushes > queue->events_taken / 4;
    uint32_t shift = queue->shift;
    if (mean >= MANY || (heap_is_busy && mean > FEW)) {
        uint32_t down = log2_of(mean / FEW);
        return shift > down ? shift - down : 0;
    }
    if (mean >= FEW || heap_is_busy || pending < 4 * WANTED)
        return shift;
    uint64_t buckets = (queue->edge - queue->look_edge) * WANTED / queue->events_taken;
    shift += log2_of(buckets);
    return shift < WIDEST ? shift : WIDEST;
}

static void queue_adapt(struct event_queue *queue)
{
    uint64_t pending = queue_pending(queue);
    uint32_t shift = wanted_shift(queue, pending);
    uint64_t count = queue->bucket_count;
    while (count < MOST_BUCKETS && count < pending / 4)
        count *= 2;
    bool is_wanted = shift != queue->shift || count > queue->bucket_count;
    bool is_due = is_wanted && queue->moved_since >= pending / 4; /* what it costs is spread over as many events */
    if (is_due)
        queue_rebuild(queue, shift, count);
    queue->next_look = is_wanted ? FIRST_LOOK : LATER_LOOK;
    queue->buckets_taken = queue->events_taken = queue->heap_pushes = 0;
    queue->look_edge = queue->edge;
}

/* ---- hand ---- */

static void hand_reserve(struct event_queue *queue, uint64_t count)
{
    FW_CHECK(count < LARGEST_HAND, "more than %u events lie in one bucket of %llu ticks", LARGEST_HAND - 1,
             1ull << queue->shift);
    if (count <= queue->hand_capacity)
        return;
    uint32_t capacity = queue->hand_capacity ? queue->hand_capacity : 64;
    while (capacity < count)
        capacity *= 2;
    free(queue->hand);
    free(queue->order);
    queue->hand = memory_take_aligned((size_t)capacity * queue->size);
    queue->order = memory_take_aligned((size_t)capacity * sizeof *queue->order);
    queue->hand_capacity = capacity;
    queue->allocations++;
}

static void hand_fill(struct event_queue *queue, struct queue_list *list)
{
    uint64_t count = list_size(queue, list);
    hand_reserve(queue, count);
    uint64_t *to = queue->hand;
    uint32_t from = list->room;
    for (struct queue_chunk *chunk = list->chunk, *next; chunk; chunk = next, from = 0) {
        next = chunk->next;
        size_t words = (size_t)(queue->per_chunk - from) * queue->words;
        memcpy(to, chunk->events + (size_t)from * queue->words, words * 8);
        to += words;
        chunk_give(queue, chunk);
    }
    *list = (struct queue_list){0};
    queue->hand_at = 0;
    queue->hand_size = (uint32_t)count;
    queue->wheel_size -= count;
    events_sort(queue->order, queue->hand, queue->words, (uint32_t)count);
}

/* The first occupied bucket from `edge` on; the wheel is not empty. */
static uint64_t wheel_first(const struct event_queue *queue)
{
    uint64_t mask = queue->bucket_count - 1, start = queue->edge & mask;
    uint64_t word = start / 64, bits = queue->occupied[word] & UINT64_MAX << start % 64;
    while (!bits) {
        word = (word + 1) & mask / 64;
        bits = queue->occupied[word];
    }
    uint64_t at = word * 64 + (uint64_t)__builtin_ctzll(bits);
    return queue->edge + ((at - start) & mask);
}

bool queue_advance(struct event_queue *queue, tick_t limit)
{
    if (queue->buckets_taken >= queue->next_look)
        queue_adapt(queue);
    uint64_t last = limit >> queue->shift, bucket;
    for (;;) {
        bucket = queue->wheel_size ? wheel_first(queue) : UINT64_MAX;
        uint64_t far = far_first(queue);
        if (far > bucket || far == UINT64_MAX)
            break;
        if (far > last)
            return false;
        if (!queue->wheel_size && far > queue->edge)
            queue->edge = far;
        far_pull(queue);
    }
    if (bucket == UINT64_MAX || bucket > last)
        return false;
    uint64_t at = bucket & (queue->bucket_count - 1);
    queue->occupied[at / 64] &= ~((uint64_t)1 << at % 64);
    hand_fill(queue, &queue->buckets[at]);
    queue->edge = bucket + 1;
    queue->buckets_taken++;
    queue->events_taken += queue->hand_size;
    queue->moved_since += queue->hand_size;
    return true;
}

static tick_t list_first_time(const struct event_queue *queue, const struct queue_list *list)
{
    tick_t first = FW_NEVER;
    uint32_t from = list->room;
    for (const struct queue_chunk *chunk = list->chunk; chunk; chunk = chunk->next, from = 0)
        for (uint32_t i = from; i < queue->per_chunk; i++)
            if (chunk->events[(size_t)i * queue->words] < first)
                first = chunk->events[(size_t)i * queue->words];
    return first;
}

tick_t queue_first_time(const struct event_queue *queue)
{
    tick_t first = queue->heap_size ? queue->heap[0].time : FW_NEVER;
    if (queue->hand_at < queue->hand_size) {
        tick_t time = queue_hand_event(queue, queue->hand_at)->time;
        return time < first ? time : first;
    }
    if (queue->heap_size)
        return first; /* what is in the heap comes before every bucket */
    uint64_t bucket = queue->wheel_size ? wheel_first(queue) : UINT64_MAX;
    if (queue->far_lists && far_first(queue) <= bucket) {
        first = list_first_time(queue, &queue->far[__builtin_ctzll(queue->far_lists)]);
        if (far_first(queue) < bucket)
            return first;
    }
    if (bucket == UINT64_MAX)
        return first;
    tick_t time = list_first_time(queue, &queue->buckets[bucket & (queue->bucket_count - 1)]);
    return time < first ? time : first;
}

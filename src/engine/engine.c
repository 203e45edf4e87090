/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential engine: a timing wheel over a heap. A tick's lists are handled
 * kind by kind in rising epsilon; chunks go back to a free list and are used
 * again while they are still in the cache.
 */
#include "engine/engine.h"

#include "flitwarp/bits.h"
#include "flitwarp/error.h"
#include "base/rewind.h"

#include <stdlib.h>
#include <string.h>

struct far_event {
    tick_t when;
    uint64_t sequence; /* keeps equal times in posting order */
    uint32_t kind;
    alignas(8) unsigned char data[MAX_EVENT_SIZE];
};

void engine_init(struct engine *engine, struct rewind *rewind)
{
    *engine = (struct engine){.rewind = rewind};
    engine->wheel = rewind_take(rewind, sizeof *engine->wheel * WHEEL_SLOTS * MAX_EVENT_KINDS);
}

/* Chunks are made in ever larger slabs, so that those of a large network lie together. */
struct chunk_slab {
    struct chunk_slab *previous;
    alignas(64) struct event_chunk chunks[];
};
enum { FIRST_SLAB = 8, LARGEST_SLAB = 1024 };

static void engine_make_chunks(struct engine *engine)
{
    uint32_t last = engine->slab_chunks, count = !last ? FIRST_SLAB : last < LARGEST_SLAB ? 2 * last : last;
    struct chunk_slab *slab = rewind_take_aligned(engine->rewind, sizeof *slab + sizeof(struct event_chunk) * count);
    slab->previous = engine->slabs;
    engine->slabs = slab;
    engine->slab_chunks = count;
    engine->slab_used = 0;
    engine->allocations++;
}

static struct event_chunk *engine_take_chunk(struct engine *engine)
{
    struct event_chunk *chunk = engine->free;
    if (chunk) {
        engine->free = chunk->next;
        return chunk;
    }
    if (engine->slab_used == engine->slab_chunks)
        engine_make_chunks(engine);
    return &engine->slabs->chunks[engine->slab_used++];
}

void engine_release(struct engine *engine)
{
    while (engine->slabs) {
        struct chunk_slab *previous = engine->slabs->previous;
        rewind_give(engine->rewind, engine->slabs);
        engine->slabs = previous;
    }
    rewind_give(engine->rewind, engine->heap);
    rewind_give(engine->rewind, engine->wheel);
    rewind_give(engine->rewind, engine->sorted);
    memset(engine, 0, sizeof *engine);
}

uint32_t engine_add_kind(struct engine *engine, struct event_kind kind)
{
    uint32_t number = engine->kind_count;
    FW_CHECK(number < MAX_EVENT_KINDS, "event kind '%s' is one too many", kind.name);
    FW_CHECK(kind.size > 0 && kind.size <= MAX_EVENT_SIZE && kind.size % 8 == 0, "event kind '%s' has %u bytes",
             kind.name, kind.size);
    FW_CHECK(kind.epsilon < 1u << EPSILON_BITS, "event kind '%s' has epsilon %u", kind.name, kind.epsilon);
    FW_CHECK(!number || engine->kinds[number - 1].epsilon <= kind.epsilon, "event kind '%s' comes too late", kind.name);
    engine->kinds[engine->kind_count++] = kind;
    return number;
}

/* Events in the last chunk of a list. */
static uint32_t last_count(const struct engine *engine, const struct event_list *list, uint32_t kind)
{
    return (uint32_t)(list->next - list->last->data) / engine->kinds[kind].size;
}

void engine_grow(struct engine *engine, struct event_list *list)
{
    uint32_t slot = (uint32_t)(list - engine->wheel) / MAX_EVENT_KINDS;
    uint32_t kind = (uint32_t)(list - engine->wheel) % MAX_EVENT_KINDS;
    struct event_chunk *chunk = engine_take_chunk(engine);
    chunk->next = NULL;
    if (list->last) {
        list->last->count = last_count(engine, list, kind);
        list->last->next = chunk;
    } else {
        list->first = chunk;
    }
    uint32_t size = engine->kinds[kind].size;
    list->last = chunk;
    list->next = chunk->data;
    list->end = chunk->data + EVENT_CHUNK_BYTES / size * size;
    bits_add(engine->occupied, slot);
}

static bool far_is_earlier(const struct far_event *a, const struct far_event *b)
{
    return a->when != b->when ? a->when < b->when : a->sequence < b->sequence;
}

void *engine_post_far(struct engine *engine, uint32_t kind, tick_t when)
{
    FW_CHECK(when >= engine->now, "tick %llu: event '%s' posted to the past (%llu)", (unsigned long long)engine->now,
             engine->kinds[kind].name, (unsigned long long)when);
    if (engine->heap_count == engine->heap_capacity) {
        engine->heap_capacity = engine->heap_capacity ? engine->heap_capacity * 2 : 64;
        engine->heap = rewind_resize(engine->rewind, engine->heap, sizeof *engine->heap * engine->heap_capacity);
        engine->allocations++;
    }
    uint32_t at = engine->heap_count++;
    while (at && when < engine->heap[(at - 1) / 2].when) { /* what was posted before comes before at equal times */
        engine->heap[at] = engine->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    struct far_event *event = &engine->heap[at];
    event->when = when;
    event->sequence = engine->far_sequence++;
    event->kind = kind;
    return event->data;
}

static void far_drop_first(struct engine *engine)
{
    const struct far_event *last = &engine->heap[--engine->heap_count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < engine->heap_count; at = child) {
        if (child + 1 < engine->heap_count && far_is_earlier(&engine->heap[child + 1], &engine->heap[child]))
            child++;
        if (!far_is_earlier(&engine->heap[child], last))
            break;
        engine->heap[at] = engine->heap[child];
    }
    engine->heap[at] = *last;
}

/* What comes within the wheel's reach by that moves into it. */
void engine_advance(struct engine *engine, tick_t tick)
{
    engine->now = tick;
    while (engine->heap_count && engine->heap[0].when - engine->now < WHEEL_SLOTS) {
        const struct far_event *event = &engine->heap[0];
        uint32_t size = engine->kinds[event->kind].size;
        memcpy(engine_post(engine, event->kind, event->when, size), event->data, size);
        far_drop_first(engine);
    }
}

tick_t engine_next(const struct engine *engine)
{
    if (bits_any(engine->occupied, WHEEL_SLOTS / 64)) {
        uint32_t here = engine->now % WHEEL_SLOTS;
        uint32_t slot = bits_next_cyclic(engine->occupied, WHEEL_SLOTS / 64, here);
        return engine->now + (slot - here + WHEEL_SLOTS) % WHEEL_SLOTS;
    }
    return engine->heap_count ? engine->heap[0].when : FW_NEVER;
}

static int event_compare_keys(const void *a, const void *b)
{
    const struct event_key *x = a, *y = b;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void handle_ordered(struct engine *engine, const struct event_kind *kind, const struct event_chunk *first)
{
    uint32_t count = 0;
    for (const struct event_chunk *chunk = first; chunk; chunk = chunk->next)
        count += chunk->count;
    if ((size_t)count * kind->size > engine->sorted_bytes) {
        engine->sorted_bytes = (size_t)count * kind->size * 2;
        engine->sorted = rewind_resize(engine->rewind, engine->sorted, engine->sorted_bytes);
        engine->allocations++;
    }
    unsigned char *to = engine->sorted;
    for (const struct event_chunk *chunk = first; chunk; chunk = chunk->next) {
        memcpy(to, chunk->data, (size_t)chunk->count * kind->size);
        to += (size_t)chunk->count * kind->size;
    }
    qsort(engine->sorted, count, kind->size, event_compare_keys);
    kind->handle(kind->context, engine->now, engine->sorted, count);
}

static void handle_list(struct engine *engine, const struct event_kind *kind, struct event_chunk *first)
{
    if (kind->ordered)
        handle_ordered(engine, kind, first);
    for (struct event_chunk *chunk = first, *next; chunk; chunk = next) {
        next = chunk->next;
        engine->events += chunk->count;
        if (!kind->ordered)
            kind->handle(kind->context, engine->now, chunk->data, chunk->count);
        chunk->next = engine->free;
        engine->free = chunk;
    }
}

static void engine_run_tick(struct engine *engine)
{
    uint32_t slot = engine->now % WHEEL_SLOTS;
    struct event_list *lists = engine->wheel + (size_t)slot * MAX_EVENT_KINDS;
    for (uint32_t kind = 0; kind < engine->kind_count; kind++) {
        struct event_chunk *first = lists[kind].first;
        if (first) {
            lists[kind].last->count = last_count(engine, &lists[kind], kind);
            lists[kind] = (struct event_list){0};
            handle_list(engine, &engine->kinds[kind], first);
        }
    }
    for (uint32_t kind = 0; kind < engine->kind_count; kind++)
        FW_CHECK(!lists[kind].first, "tick %llu: an event '%s' was posted to an epsilon that has passed",
                 (unsigned long long)engine->now, engine->kinds[kind].name);
    bits_remove(engine->occupied, slot);
}

void engine_run(struct engine *engine, tick_t last)
{
    for (tick_t next; (next = engine_next(engine)) <= last && next != FW_NEVER;) {
        engine_advance(engine, next);
        engine_run_tick(engine);
    }
}

static int far_compare(const void *a, const void *b) { return far_is_earlier(a, b) ? -1 : 1; }

static void far_drop(struct engine *engine, uint32_t kind)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < engine->heap_count; i++)
        if (engine->heap[i].kind != kind)
            engine->heap[left++] = engine->heap[i];
    engine->heap_count = left;
    if (left)
        qsort(engine->heap, left, sizeof *engine->heap, far_compare); /* what is sorted is a heap */
}

void engine_drop(struct engine *engine, uint32_t kind)
{
    BITS_EACH(slot, engine->occupied, WHEEL_SLOTS / 64) {
        struct event_list *lists = engine->wheel + slot * MAX_EVENT_KINDS;
        if (lists[kind].first) {
            lists[kind].last->next = engine->free;
            engine->free = lists[kind].first;
            lists[kind] = (struct event_list){0};
        }
        bool is_empty = true;
        for (uint32_t other = 0; other < engine->kind_count; other++)
            is_empty &= !lists[other].first;
        if (is_empty)
            bits_remove(engine->occupied, (uint32_t)slot);
    }
    far_drop(engine, kind);
}

/* Those of a list that stay are posted again, in their order, into the chunks that they came from. */
static void filter_list(struct engine *engine, uint32_t kind, struct event_list *list, tick_t when, event_filter *keeps,
                        void *context)
{
    uint32_t size = engine->kinds[kind].size;
    list->last->count = last_count(engine, list, kind);
    struct event_chunk *chunk = list->first;
    *list = (struct event_list){0};
    for (struct event_chunk *next; chunk; chunk = next) {
        next = chunk->next;
        for (uint32_t i = 0; i < chunk->count; i++) {
            const unsigned char *event = chunk->data + (size_t)i * size;
            if (keeps(context, when, event))
                memcpy(engine_list_post(engine, list, size), event, size);
        }
        chunk->next = engine->free;
        engine->free = chunk;
    }
}

static void far_filter(struct engine *engine, uint32_t kind, event_filter *keeps, void *context)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < engine->heap_count; i++) {
        const struct far_event *event = &engine->heap[i];
        if (event->kind != kind || keeps(context, event->when, event->data))
            engine->heap[left++] = *event;
    }
    bool is_heap = left == engine->heap_count;
    engine->heap_count = left;
    if (!is_heap && left)
        qsort(engine->heap, left, sizeof *engine->heap, far_compare);
}

void engine_filter(struct engine *engine, uint32_t kind, event_filter *keeps, void *context)
{
    BITS_EACH(slot, engine->occupied, WHEEL_SLOTS / 64) {
        struct event_list *lists = engine->wheel + slot * MAX_EVENT_KINDS;
        tick_t when = engine->now + (slot - engine->now % WHEEL_SLOTS + WHEEL_SLOTS) % WHEEL_SLOTS;
        if (lists[kind].first)
            filter_list(engine, kind, &lists[kind], when, keeps, context);
        bool is_empty = true;
        for (uint32_t other = 0; other < engine->kind_count; other++)
            is_empty &= !lists[other].first;
        if (is_empty)
            bits_remove(engine->occupied, (uint32_t)slot);
    }
    far_filter(engine, kind, keeps, context);
}

/* ---- looking at what is to come ---- */

static void visit_slot(const struct engine *engine, uint32_t kind, tick_t when, event_visitor *visit, void *context)
{
    const struct event_list *list = engine_list((struct engine *)engine, kind, when);
    uint32_t size = engine->kinds[kind].size;
    for (const struct event_chunk *chunk = list->first; chunk; chunk = chunk->next) {
        uint32_t count = chunk == list->last ? last_count(engine, list, kind) : chunk->count;
        for (uint32_t i = 0; i < count; i++)
            visit(context, when, chunk->data + (size_t)i * size);
    }
}

void engine_visit_tick(const struct engine *engine, uint32_t kind, tick_t when, event_visitor *visit, void *context)
{
    if (when >= engine->now && when - engine->now < WHEEL_SLOTS)
        visit_slot(engine, kind, when, visit, context);
    bool is_far = engine->heap_count && engine->heap[0].when <= when;
    for (uint32_t i = 0; is_far && i < engine->heap_count; i++)
        if (engine->heap[i].when == when && engine->heap[i].kind == kind)
            visit(context, when, engine->heap[i].data);
}

void engine_visit(const struct engine *engine, uint32_t kind, event_visitor *visit, void *context)
{
    BITS_EACH(slot, engine->occupied, WHEEL_SLOTS / 64)
        visit_slot(engine, kind, engine->now + (slot - engine->now % WHEEL_SLOTS + WHEEL_SLOTS) % WHEEL_SLOTS, visit,
                   context);
    for (uint32_t i = 0; i < engine->heap_count; i++)
        if (engine->heap[i].kind == kind)
            visit(context, engine->heap[i].when, engine->heap[i].data);
}

static void count_event(void *context, tick_t when, const void *event)
{
    (void)when;
    (void)event;
    ++*(uint64_t *)context;
}

uint64_t engine_pending(const struct engine *engine, uint32_t kind)
{
    uint64_t pending = 0;
    engine_visit(engine, kind, count_event, &pending);
    return pending;
}

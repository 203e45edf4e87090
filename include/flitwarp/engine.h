/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The event queue of one partition. Time is 64 bits: ticks, and below them 8
 * bits of epsilon that order the work inside a tick. An event's kind carries its
 * epsilon, its size and its handler; a handler gets all events of its kind at
 * one time as arrays, and may post to any later (tick, epsilon).
 *
 *   wheel: WHEEL_SLOTS ticks ahead, a list of event chunks for each kind
 *   heap:  what lies beyond, moved into the wheel when its time comes near
 *
 * Most kinds do not care about the order inside a batch (a router only stores
 * what arrives). A kind that does is `ordered`: its events begin with a struct
 * event_key and are handed over by destination, source and sequence.
 */
#include "flitwarp/packet.h"

#include <stdalign.h>
#include <stddef.h>

#define EPSILON_BITS 8

enum {
    WHEEL_SLOTS = 1024,
    MAX_EVENT_KINDS = 16,
    MAX_EVENT_SIZE = 48,
    EVENT_CHUNK_BYTES = 4096 - 16,
};

struct event_key {
    uint32_t destination;
    uint32_t source;
    uint32_t sequence;
};

typedef void event_handler(void *context, tick_t now, const void *events, uint32_t count);

struct event_kind {
    const char *name;
    uint32_t epsilon;
    uint32_t size; /* bytes, at most MAX_EVENT_SIZE, a multiple of 8 */
    bool ordered;
    event_handler *handle;
    void *context;
};

struct event_chunk {
    struct event_chunk *next;
    uint32_t count;
    alignas(8) unsigned char data[EVENT_CHUNK_BYTES];
};

/* Events of one kind at one tick. The last chunk is filled up to `next`; full chunks know their counts. */
struct event_list {
    struct event_chunk *first, *last;
    unsigned char *next, *end; /* room in the last chunk; both NULL when there is none */
};

struct far_event;
struct chunk_slab;
struct rewind;

struct engine {
    tick_t now;
    struct event_list *wheel; /* owned: [slot][kind] */
    uint64_t occupied[WHEEL_SLOTS / 64];
    struct event_kind kinds[MAX_EVENT_KINDS]; /* by rising epsilon */
    uint32_t kind_count;
    uint64_t events;          /* handled so far */
    struct event_chunk *free; /* empty chunks */
    struct chunk_slab *slabs; /* owned: the memory of all chunks, the latest first */
    uint32_t slab_chunks;     /* of the latest, */
    uint32_t slab_used;       /* and those of them that have been in use: nobody has touched what lies behind */
    struct far_event *heap;   /* owned: earliest first */
    uint32_t heap_count, heap_capacity;
    uint64_t far_sequence;
    void *sorted; /* owned: room for ordering a batch */
    size_t sorted_bytes;
    uint64_t allocations;  /* of memory, to show that the steady state makes none */
    struct rewind *rewind; /* borrowed: where its memory comes from */
};

/* Slow paths of engine_post. */
void engine_grow(struct engine *engine, struct event_list *list);
void *engine_post_far(struct engine *engine, uint32_t kind, tick_t when);

/* Where events of a kind go at a tick within the wheel's reach, for those who post many. */
static inline struct event_list *engine_list(struct engine *engine, uint32_t kind, tick_t when)
{
    return &engine->wheel[when % WHEEL_SLOTS * MAX_EVENT_KINDS + kind];
}

/* Room for one event of `size` bytes (a constant, the kind's size) in a list; the caller fills it. */
static inline __attribute__((always_inline)) void *engine_list_post(struct engine *engine, struct event_list *list,
                                                                    uint32_t size)
{
    if (__builtin_expect(list->next == list->end, 0))
        engine_grow(engine, list);
    void *event = list->next;
    list->next += size;
    return event;
}

/*
 * Room for one event of `size` bytes (a constant, the kind's size) at a tick from now on. The caller fills it before the next
 * is posted: those beyond the wheel lie in a heap, which moves.
 */
static inline __attribute__((always_inline)) void *engine_post(struct engine *engine, uint32_t kind, tick_t when,
                                                               uint32_t size)
{
    if (__builtin_expect(when - engine->now >= WHEEL_SLOTS, 0))
        return engine_post_far(engine, kind, when);
    return engine_list_post(engine, engine_list(engine, kind, when), size);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The buffers of the simured router: chains of slots of one flit each, numbered
 * from 1, where flits come in, to the last, where they leave. A flit rests in a
 * slot for the buffer's delay. With forwarding it jumps over the slots that are
 * free before it at once, and rests only where it stops behind another flit;
 * without, it rests in every slot. The last slot is a stage of the router (the
 * crossbar, the channel) and has that stage's delay instead.
 *
 * With forwarding and a delay of one cycle, flits that stop close up in the cycle in
 * which the first one leaves: such a buffer is a plain queue, and where a flit is
 * follows from how many are before it. Else every flit has the number of its slot, 0
 * being a place before the first slot: see `spare` in simured.h.
 *
 * Times are edges: ticks at which a cycle begins.
 */
#include "flitwarp/network.h"

struct buffer {
    uint16_t first, count; /* of its ring, free-running */
};

struct buffers {
    uint32_t length, ring_mask;
    tick_t delay;
    bool forwards, is_plain;
    struct buffer *heads;
    struct flit *rings; /* ring_mask + 1 each */
    tick_t *since;      /* the same: when a flit came to its slot; NULL: plain */
    uint16_t *slots;    /* the same: the slot of a flit; NULL: plain */
};

/* What became of a buffer. */
struct settled {
    tick_t next;   /* when a flit can move on that rests now and has a free slot before it; NEVER: none */
    uint32_t left; /* flits that have left the first slot; of a plain queue, the whole buffer */
    bool reached;  /* a flit has come to the last slot */
};

static inline size_t place_in_ring(const struct buffers *b, size_t number, uint32_t place)
{
    return number * (b->ring_mask + 1) + ((b->heads[number].first + place) & b->ring_mask);
}

static inline struct flit buffer_front(const struct buffers *b, size_t number)
{
    return b->rings[place_in_ring(b, number, 0)];
}

/* Is there a flit in the last slot? */
static inline bool buffer_is_ready(const struct buffers *b, size_t number)
{
    return b->heads[number].count && (b->is_plain || b->slots[place_in_ring(b, number, 0)] == b->length);
}

/* Is the first slot free? */
static inline bool buffer_has_room(const struct buffers *b, size_t number)
{
    uint32_t count = b->heads[number].count;
    return b->is_plain ? count < b->length : !count || b->slots[place_in_ring(b, number, count - 1)] > 1;
}

/* Moves on whatever can move at `edge`, the first flits first. */
void buffer_settle(const struct buffers *b, size_t number, tick_t edge, struct settled *settled);

/* A flit comes in. */
static inline void buffer_put(const struct buffers *b, size_t number, struct flit flit, tick_t edge,
                              struct settled *settled)
{
    size_t at = place_in_ring(b, number, b->heads[number].count++);
    b->rings[at] = flit;
    *settled = (struct settled){.next = NEVER};
    if (b->is_plain) {
        settled->reached = b->heads[number].count == 1;
    } else {
        b->slots[at] = 0;
        b->since[at] = edge;
        buffer_settle(b, number, edge, settled);
    }
}

/* The flit in the last slot leaves, and those behind it move up. */
static inline void buffer_take(const struct buffers *b, size_t number, tick_t edge, struct settled *settled)
{
    struct buffer *head = &b->heads[number];
    *settled = (struct settled){.next = NEVER};
    head->first++;
    head->count--;
    if (b->is_plain) {
        settled->left = 1;
        settled->reached = head->count;
    } else {
        settled->left = b->length == 1;
        buffer_settle(b, number, edge, settled);
    }
}

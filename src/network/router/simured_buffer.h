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
 * being a place before the first slot, for a flit that comes early: see simured_depth().
 *
 * Times are edges: ticks at which a cycle begins.
 */
#include "flitwarp/network.h"

/* What all buffers have in common. */
struct buffers {
    uint32_t length, ring_mask;
    uint32_t capacity;           /* flits of an input buffer: slots, and places for those that come early */
    uint32_t bytes;              /* of a buffer */
    uint32_t since_at, slots_at; /* of these rings, in bytes behind its beginning */
    bool forwards, is_plain;
    tick_t delay;
};

struct buffer {
    uint16_t first, count; /* of its rings, free-running */
    uint32_t unused;
    struct flit flits[]; /* a ring; behind it the two others, where it is not plain: see since_of(), slots_of() */
};

/* What became of a buffer. */
struct settled {
    tick_t next;   /* when a flit can move on that rests now and has a free slot before it; FW_NEVER: none */
    uint32_t left; /* flits that have left the first slot; of a plain queue, the whole buffer */
    bool reached;  /* a flit has come to the last slot */
};

static inline uint32_t place_in_ring(const struct buffers *b, const struct buffer *buffer, uint32_t place)
{
    return (buffer->first + place) & b->ring_mask;
}

/* When a flit came to its slot. */
static inline tick_t *since_of(const struct buffers *b, struct buffer *buffer)
{
    return (tick_t *)((char *)buffer + b->since_at);
}

/* Which slot that is. */
static inline uint16_t *slots_of(const struct buffers *b, struct buffer *buffer)
{
    return (uint16_t *)((char *)buffer + b->slots_at);
}

static inline struct flit buffer_front(const struct buffers *b, const struct buffer *buffer)
{
    return buffer->flits[place_in_ring(b, buffer, 0)];
}

/* Is there a flit in the last slot? */
static inline bool buffer_is_ready(const struct buffers *b, struct buffer *buffer)
{
    return buffer->count && (b->is_plain || slots_of(b, buffer)[place_in_ring(b, buffer, 0)] == b->length);
}

/* Is the first slot free? */
static inline bool buffer_has_room(const struct buffers *b, struct buffer *buffer)
{
    uint32_t count = buffer->count;
    return b->is_plain ? count < b->length : !count || slots_of(b, buffer)[place_in_ring(b, buffer, count - 1)] > 1;
}

/* May a flit leave its slot? One that came there in this cycle is still jumping. */
static inline bool is_rested(const struct buffers *b, uint32_t slot, tick_t since, tick_t edge)
{
    return slot == 0 || since + b->delay <= edge || (b->forwards && since == edge);
}

/* Moves on whatever can move at `edge`, the first flits first. */
static inline void buffer_settle(const struct buffers *b, struct buffer *buffer, tick_t edge, struct settled *settled)
{
    uint32_t limit = b->length; /* the furthest slot that is free */
    for (uint32_t place = 0; place < buffer->count; place++) {
        uint32_t at = place_in_ring(b, buffer, place);
        tick_t *since = &since_of(b, buffer)[at];
        uint32_t slot = slots_of(b, buffer)[at];
        if (slot < limit && is_rested(b, slot, *since, edge)) {
            uint32_t to = b->forwards ? limit : slot + 1;
            settled->left += slot <= 1 && to > 1;
            settled->reached |= to == b->length;
            slots_of(b, buffer)[at] = (uint16_t)to;
            *since = edge;
        }
        slot = slots_of(b, buffer)[at];
        if (slot < limit && *since + b->delay < settled->next)
            settled->next = *since + b->delay;
        limit = slot ? slot - 1 : 0;
    }
}

/* A flit comes in. */
static inline void buffer_put(const struct buffers *b, struct buffer *buffer, struct flit flit, tick_t edge,
                              struct settled *settled)
{
    uint32_t at = place_in_ring(b, buffer, buffer->count++);
    buffer->flits[at] = flit;
    *settled = (struct settled){.next = FW_NEVER};
    if (b->is_plain) {
        settled->reached = buffer->count == 1;
    } else {
        slots_of(b, buffer)[at] = 0;
        since_of(b, buffer)[at] = edge;
        buffer_settle(b, buffer, edge, settled);
    }
}

/* The flit in the last slot leaves, and those behind it move up. */
static inline void buffer_take(const struct buffers *b, struct buffer *buffer, tick_t edge, struct settled *settled)
{
    *settled = (struct settled){.next = FW_NEVER};
    buffer->first++;
    buffer->count--;
    if (b->is_plain) {
        settled->left = 1;
        settled->reached = buffer->count;
    } else {
        settled->left = b->length == 1;
        buffer_settle(b, buffer, edge, settled);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A router's state for those who look at it from outside, such as the viewer:
 * what is in its buffers and who holds what, between two ticks. Routers keep
 * nothing for this; they are asked.
 */
#include "flitwarp/router.h"

enum shown_state {
    SHOWN_IDLE,    /* no packet at the front */
    SHOWN_ROUTING, /* its route is not known yet */
    SHOWN_WAITING, /* it wants an output lane */
    SHOWN_ACTIVE,  /* it holds one */
};

/* So many flits of one packet, one behind the other. */
struct shown_run {
    uint32_t packet; /* handle */
    uint32_t position;
    uint32_t flits;
};

/* Some of the runs of a router, front first. */
struct shown_queue {
    uint32_t first, count;
    uint32_t flits; /* in all */
};

struct shown_input {
    enum shown_state state;
    uint16_t output; /* lane held, where it is active */
    struct shown_queue queue;
};

struct shown_output {
    bool is_usable;
    uint16_t holder;          /* input lane, or HELD_BY_NOBODY */
    uint32_t credits;         /* flits that have room at the far end */
    struct shown_queue queue; /* of the output, where it has one */
};

struct shown_router {
    uint32_t lanes;
    struct shown_input *inputs;   /* owned, by lane */
    struct shown_output *outputs; /* owned, by lane */
    struct shown_run *runs;       /* owned */
    uint32_t run_count, run_capacity;
};

/* Puts flits behind those of a queue; the queues of a router are filled one after the other. */
void shown_add(struct shown_router *shown, struct shown_queue *queue, uint32_t packet, uint32_t position,
               uint32_t flits);
/* The same for flits in a ring of `mask` + 1 places. */
void shown_add_ring(struct shown_router *shown, struct shown_queue *queue, const struct flit *ring, uint32_t mask,
                    uint32_t first, uint32_t count);
/* The same for an input lane's flits in its buffer, behind one that has left it; where somebody looks: NULL, nobody does. */
static inline void shown_add_input(struct shown_router *shown, uint32_t lane, struct flit flit)
{
    if (shown)
        shown_add(shown, &shown->inputs[lane].queue, flit.packet, flit.place & FLIT_POSITION, 1);
}
static inline void shown_add_buffer(struct shown_router *shown, uint32_t lane, const struct lane_buffer *buffer,
                                    uint32_t mask)
{
    if (shown)
        shown_add_ring(shown, &shown->inputs[lane].queue, buffer->ring, mask, buffer->first, buffer->count);
}

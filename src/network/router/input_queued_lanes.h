/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Lanes of the input-queued routers: packets come to their front, flits and credits arrive. What includes
 * this knows struct input_queued, facts_of(), wake(), has_sensors() and tell_sensors() already: those of the program are in
 * input_queued.h, a device has its own.
 */
#include "network/router/input_queued_state.h"

#if FW_HOST
#include "network/router/input_queued.h"
#endif

/* ---- the parts of a router's memory ---- */

static inline FW_GLOBAL struct router_head *block_of(const struct input_queued *q, uint32_t router)
{
    return block_at(q->blocks, router);
}

/* The set of output lanes with a credit; kept only where packets need one to be given a lane. */
static inline FW_GLOBAL uint64_t *credited_of(const struct input_queued *q, FW_GLOBAL struct router_head *head)
{
    return PART(uint64_t, q->credited_at);
}
static inline FW_GLOBAL struct output_lane *outputs_of(const struct input_queued *q, FW_GLOBAL struct router_head *head)
{
    return PART(struct output_lane, q->outputs_at);
}
/* By port: when its channel can take the next flit. */
static inline FW_GLOBAL tick_t *free_at_of(const struct input_queued *q, FW_GLOBAL struct router_head *head)
{
    return PART(tick_t, q->free_at_at);
}
/* By output port: the input lane that alone may use it; UNLOCKED: any may. */
static inline FW_GLOBAL uint16_t *locks_of(const struct input_queued *q, FW_GLOBAL struct router_head *head)
{
    return PART(uint16_t, q->locks_at);
}
static inline FW_GLOBAL uint64_t *wants_of(const struct input_queued *q, FW_GLOBAL struct router_head *head,
                                           uint32_t lane, uint32_t words)
{
    return words == 1 ? &inputs_of(head, 1)[lane].wants : q->routes + ((size_t)head->number * q->lanes + lane) * words;
}
/*
 * A function that stages seldom call. What the compiler knows of it (that it changes nothing, which registers it leaves
 * alone) must not decide how it lays out the stages: on the 8x8 mesh that took 4 instructions a hop.
 */
#if FW_HOST
#if __has_attribute(noipa)
#define SELDOM static __attribute__((noipa))
#else
#define SELDOM static __attribute__((noinline))
#endif
#else
#define SELDOM FW_INLINE
#endif

/* The packet at the front of a lane. */
static inline FW_GLOBAL const struct packet *front_of(const struct view *v, size_t lane)
{
    return network_packet(v->q->network, v->inputs[lane].front.packet);
}

/* The VC arbiter of a switch input, for an output port. */
STAGE size_t arbiter_number(const struct input_queued *q, size_t row, size_t port)
{
    return row * q->arbiters_each + (port & q->arbiter_port_mask);
}

/* A place in a lane's ring, by its free-running number. */
STAGE FW_GLOBAL struct flit *ring_place(const struct input_queued *q, FW_GLOBAL struct router_head *head, size_t lane,
                                        uint32_t number, struct variant is)
{
#if FW_HOST
    if (!is.narrow && q->rings_grow) {
        const struct lane_ring *ring = PART(const struct lane_ring, facts_of(q, lane, is).ring_at);
        return &ring->flits[number & (ring->size - 1)];
    }
#endif
    return &PART(struct flit, facts_of(q, lane, is).ring_at)[number & q->ring_mask];
}

/* Puts a flit behind `count` others in a lane's ring. */
STAGE void ring_put(const struct input_queued *q, FW_GLOBAL struct router_head *head, size_t lane, uint32_t first,
                    uint32_t count, struct flit flit, struct variant is)
{
#if FW_HOST
    if (!is.narrow && q->rings_grow) {
        struct lane_ring *ring = PART(struct lane_ring, facts_of(q, lane, is).ring_at);
        if (__builtin_expect(count == ring->size, 0))
            input_queued_widen(q, ring, first);
    }
#endif
    *ring_place(q, head, lane, first + count, is) = flit;
}

/* A lane's stage takes until `when`. */
STAGE void keep_busy(const struct input_queued *q, FW_GLOBAL struct router_head *head, uint64_t *busy, size_t lane,
                     tick_t when, struct variant is)
{
    add(busy, lane, is);
    if (!is.usual && !q->ends_in_a_cycle)
        q->ready_at[(size_t)head->number * q->lanes + lane] = when;
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, FW_GLOBAL struct router_head *head, uint64_t *fresh,
                        uint64_t *busy, size_t lane, FW_GLOBAL struct input_lane *input, tick_t when, struct variant is)
{
    FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", head->number, lane,
             input->front.packet, input->front.place & FLIT_POSITION);
    if (!is.usual && q->stores_packet && input->count < network_packet(q->network, input->front.packet)->size)
        return false;
    input->output = LANE_WAITS;
    add(fresh, lane, is);
    if (!is.usual)
        keep_busy(q, head, busy, lane, when + q->routing, is);
    return true;
}

/* A flit arrives: the sets are those of its router. */
STAGE void receive_flit(const struct input_queued *q, FW_GLOBAL struct router_head *head, uint64_t *fresh,
                        uint64_t *busy, uint64_t *sendable, size_t lane, struct flit flit, tick_t now,
                        struct variant is)
{
    FW_GLOBAL struct input_lane *input = &inputs_of(head, is.words)[lane];
    uint32_t count = input->count++;
    if (count) {
        FW_CHECK(count < q->depth, "tick %llu router %u lane %zu: packet %u overruns the buffer",
                 (unsigned long long)now, head->number, lane, flit.packet);
        ring_put(q, head, lane, input->first, count - 1, flit, is);
        if (is.usual || input->output != LANE_IDLE)
            return;
    } else {
        input->front = flit;
    }
    if (input->output == LANE_IDLE) {
        if (begin_packet(q, head, fresh, busy, lane, input, now, is))
            wake(q, head, now, is);
    } else if (outputs_of(q, head)[input->output].credits) {
        add(sendable, lane, is);
        wake(q, head, now, is);
    }
}

/* A credit arrives for an output lane. */
STAGE void receive_credit(const struct input_queued *q, FW_GLOBAL struct router_head *head,
                          FW_GLOBAL struct output_lane *outputs, uint64_t *sendable, uint64_t *credited, uint32_t lane,
                          tick_t now, struct variant is)
{
    FW_GLOBAL struct output_lane *output = &outputs[lane];
    if (!is.narrow && has_sensors(q))
        tell_sensors(q, head->number, lane, -1, now);
#if FW_HOST
    if (!is.usual && q->shares_room) {
        if (input_queued_return_shared(q, head, lane) || q->credits_wake)
            wake(q, head, now, is);
        return;
    }
#endif
    FW_CHECK(output->credits < q->room, "tick %llu router %u lane %u: a credit too many", (unsigned long long)now,
             head->number, lane);
    if (output->credits++ == 0) {
        if (!is.usual && q->vc_needs_credit)
            add(credited, lane, is);
        if (output->owner != NOBODY && inputs_of(head, is.words)[output->owner].count)
            add(sendable, output->owner, is);
        else if (is.usual || !q->vc_needs_credit)
            return;
        wake(q, head, now, is);
    } else if (!is.usual && q->credits_wake) {
        wake(q, head, now, is);
    }
}

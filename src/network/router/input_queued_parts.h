/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the stages of the input-queued router work with: how they are compiled,
 * one router as they see it, waking it, and the beginning of a packet. A stage is
 * a function that is compiled into its caller, once for each variant.
 */
#include "network/router/input_queued.h"

#define STAGE static inline __attribute__((always_inline))

/*
 * A function that stages seldom call. What the compiler knows of it (that it changes nothing, which registers it leaves
 * alone) must not decide how it lays out the stages: on the 8x8 mesh that took 4 instructions a hop.
 */
#if __has_attribute(noipa)
#define SELDOM static __attribute__((noipa))
#else
#define SELDOM static __attribute__((noinline))
#endif

/* How a stage is compiled; constants wherever it is used. */
struct variant {
    bool plain;
    bool turns; /* allocators and arbiters take turns, and no matching need be filled; always where plain */
    bool traced;
    bool extended; /* VCs share buffers downstream, or levels the switch; only asked where not plain */
    bool parted;   /* the network is in parts: what is sent may leave this one; only asked where plain */
    uint32_t words;
};
#define PLAIN ((struct variant){.plain = true, .turns = true, .words = 1})

/* Sets of lanes: one word in the plain variant, so that the compiler can keep it in a register. */
STAGE void add(uint64_t *set, size_t lane, struct variant is) { set[is.plain ? 0 : lane / WORD_BITS] |= bit(lane); }
STAGE void drop(uint64_t *set, size_t lane, struct variant is) { set[is.plain ? 0 : lane / WORD_BITS] &= ~bit(lane); }

/* Where a tick's flits and credits go: to terminals [0] and routers [1]. For the plain variant, whose channels are all
   alike. */
struct destinations {
    struct event_list *flits[2], *credits[2];
};

/* One router during a step. */
struct view {
    struct input_queued *q;
    struct router_head *head;
    struct input_lane *inputs;
    struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *busy, *free, *credited, *usable; /* see enum lane_set */
    const struct destinations *to;
    tick_t now;
    tick_t soonest; /* when the next busy lane is not any more */
    bool moved;     /* something was granted */
};

STAGE struct view view_of(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                          struct variant is)
{
    struct view view = {
        .q = q,
        .head = head,
        .inputs = inputs_of(head, is.words),
        .outputs = outputs_of(q, head),
        .fresh = lanes_in(head, SET_FRESH, is.words),
        .waiting = lanes_in(head, SET_WAITING, is.words),
        .sendable = lanes_in(head, SET_SENDABLE, is.words),
        .busy = lanes_in(head, SET_BUSY, is.words),
        .free = lanes_in(head, SET_FREE, is.words),
        .credited = credited_of(q, head),
        .usable = lanes_in(head, SET_USABLE, is.words),
        .to = to,
        .now = now,
        .soonest = NEVER,
    };
    return view;
}

/* Posts the event that steps all routers of a tick. */
SELDOM void post_due(const struct input_queued *q, tick_t when)
{
    q->due_at[when % 2] = when;
    struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
    *event = (struct step_event){.target = NONE};
}

/* The router steps at `when`, or at its clock's next edge; in the plain variant that is this tick or the next. */
STAGE void wake(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    if (is.plain) {
        if (head->step_at == when)
            return;
        head->step_at = when;
        bits_add(q->due[when % 2], head->number);
        if (__builtin_expect(q->due_at[when % 2] != when, 0))
            post_due(q, when);
        return;
    }
    if (q->cycle > 1)
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    if (when < head->step_at) {
        head->step_at = when;
        struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
        *event = (struct step_event){.target = head->number};
    }
}

STAGE const struct lane_facts *facts_of(const struct input_queued *q, size_t lane, struct variant is)
{
    return is.plain ? &q->few_facts[lane] : &q->facts[lane];
}

/* A lane's stage takes until `when`. */
STAGE void keep_busy(const struct input_queued *q, struct router_head *head, uint64_t *busy, size_t lane, tick_t when,
                     struct variant is)
{
    add(busy, lane, is);
    if (!is.plain && !q->ends_in_a_cycle)
        q->ready_at[(size_t)head->number * q->lanes + lane] = when;
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, struct router_head *head, uint64_t *fresh, uint64_t *busy,
                        size_t lane, struct input_lane *input, tick_t when, struct variant is)
{
    CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", head->number, lane,
          input->front.packet, input->front.place & FLIT_POSITION);
    if (!is.plain && q->config.switching == STORE_AND_FORWARD &&
        input->count < network_packet(q->network, input->front.packet)->size)
        return false;
    input->output = LANE_WAITS;
    add(fresh, lane, is);
    if (!is.plain)
        keep_busy(q, head, busy, lane, when + q->routing, is);
    return true;
}

STAGE struct flit *ring_of(const struct input_queued *q, struct router_head *head, size_t lane, struct variant is)
{
    return PART(struct flit, facts_of(q, lane, is)->ring_at);
}

/* When the packet at the front of a lane was made: smaller is older. */
static inline uint64_t age_of(const struct view *v, size_t lane)
{
    return network_packet(v->q->network, v->inputs[lane].front.packet)->created;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The staged router: a virtual-channel router whose input lanes have a register for each
 * stage behind their buffers, with a crossbar input for every lane. After the input-queued and
 * input-output-queued routers of SuperSim (McDonald et al., ISPASS 2018, IV-C), to the cycle without contention.
 *
 *   buffer -> entry -> middle -> exit -> crossbar -> channel, or output queue -> arbiter -> channel
 *             route    VC        switch
 *
 * What tells it from the input-queued router: a flit gives its place in the buffer back when it goes
 * to the entry, so that a lane holds three flits more than its buffer; and a packet is routed while
 * the one before it is still about to leave. With `waits_for_exit` it asks for an output lane only when
 * that one is gone, else as soon as the middle is free.
 *
 * A step, at an edge of the router's clock, does these in order:
 *
 *   end_routing      heads at the entry whose time is over: ask the algorithm
 *   advance          every lane from the exit backwards: leave, move on, take a flit of the buffer
 *   allocate_vcs     heads in the middle: what they are given counts from the next step on
 *   allocate_switch  the same for flits at the exit, with a credit
 */
#include "network/router/staged.h"

static void staged_wake(const struct staged *q, struct staged_router *r, tick_t when)
{
    router_wake(q->engine, r->number, &r->step_at, next_edge(when, q->cycle));
}

/* ---- what arrives ---- */

void staged_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct staged_router *r = &q->each[event->to.target];
        lane_buffer_put(&r->inputs[event->to.lane].buffer, event, q->config.buffer.buffer_depth, q->ring_mask, now);
        bits_add(r->active, event->to.lane);
        staged_wake(q, r, now);
    }
}

/* Room behind an output lane: in its queue where it has one. */
void staged_receive_room(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct staged_router *r = &q->each[event->to.target];
        r->credits[event->to.lane]++;
        if (r->owner[event->to.lane] != NOBODY)
            staged_wake(q, r, now);
        if (q->outputs) {
            output_sense_left(q->outputs, event->to, now);
            continue;
        }
        uint32_t depth = network_link(q->network, r->number, event->to.lane / q->num_vcs)->depth;
        FW_CHECK(r->credits[event->to.lane] <= depth, "tick %llu router %u lane %u: a credit too many",
                 (unsigned long long)now, r->number, event->to.lane);
        congestion_change(q->congestion, r->number, event->to.lane, QUEUE_DOWNSTREAM, -1, now);
    }
}

void staged_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged *q = routers;
    if (q->outputs)
        output_receive_credits(q->outputs, now, events, count);
    else
        staged_receive_room(q, now, events, count);
}

/* ---- the stages ---- */

static void end_routing(struct staged *q, struct staged_router *r, tick_t now)
{
    BITS_EACH(number, r->active, q->words) {
        struct staged_lane *lane = &r->inputs[number];
        if (lane->entry_state != REGISTER_ASKS || lane->routed_at > now)
            continue;
        route_packet(q, r->number, lane->entry.packet, (uint32_t)number, lane->answer, r->usable, now);
        lane->entry_state = REGISTER_READY;
    }
}

/* A flit crosses and is on its channel, or in the queue of its output lane, by the channel's clock. */
static void cross(struct staged *q, struct staged_router *r, uint32_t output, struct flit flit, tick_t now)
{
    uint32_t port = output / q->num_vcs;
    const struct link *link = network_link(q->network, r->number, port);
    tick_t crossed = now + q->crossbar, cycle = link->cycle;
    if (q->outputs) {
        output_put(q->outputs, r->number, output, flit, now, next_edge(crossed, cycle));
        return;
    }
    congestion_change(q->congestion, r->number, output, QUEUE_DOWNSTREAM, 1, now);
    tick_t sent = (crossed / cycle + q->config.output_latency) * cycle;
    sent = sent > r->free_at[port] ? sent : r->free_at[port];
    r->free_at[port] = sent + cycle;
    send_flit(q->network, link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT, link_lane(link, output % q->num_vcs),
              flit, sent + link->latency);
}

static void leave(struct staged *q, struct staged_router *r, struct staged_lane *lane, tick_t now)
{
    uint32_t output = lane->output;
    struct flit flit = lane->exit;
    FW_CHECK(r->credits[output] > 0, "tick %llu router %u output lane %u: packet %u is sent without a credit",
             (unsigned long long)now, r->number, output, flit.packet);
    r->credits[output]--;
    r->flits[output]++;
    q->flit_hops++;
    trace_leaving(q->network, r->number, flit, output, now);
    cross(q, r, output, flit, now);
    if (flit.place & FLIT_TAIL) {
        r->owner[output] = NOBODY;
        bits_add(r->free, output);
    }
    lane->exit_state = REGISTER_EMPTY;
}

/* From the buffer to the entry. */
static void enter(struct staged *q, struct staged_lane *lane, tick_t now)
{
    struct flit flit = lane_buffer_front(&lane->buffer, q->ring_mask);
    bool is_head = flit.place & FLIT_HEAD;
    if (is_head && q->config.stores_packet && lane->buffer.count < network_packet(q->network, flit.packet)->size)
        return;
    lane->entry = lane_buffer_take(&lane->buffer, q->ring_mask, q->network, now);
    lane->entry_state = is_head ? REGISTER_ASKS : REGISTER_READY;
    lane->routed_at = now + q->routing;
}

static void advance(struct staged *q, struct staged_router *r, struct staged_lane *lane, tick_t now)
{
    if (lane->exit_state == REGISTER_READY)
        leave(q, r, lane, now);
    if (lane->exit_state == REGISTER_EMPTY && lane->middle_state == REGISTER_READY) {
        lane->exit = lane->middle;
        lane->output = lane->held;
        lane->exit_state = REGISTER_ASKS;
        lane->middle_state = REGISTER_EMPTY;
        if (lane->exit.place & FLIT_TAIL)
            lane->held = NOBODY;
    }
    if (lane->middle_state == REGISTER_EMPTY && lane->entry_state == REGISTER_READY) {
        bool is_head = lane->entry.place & FLIT_HEAD;
        FW_CHECK(is_head == (lane->held == NOBODY), "tick %llu router %u: packet %u goes on with flit %u",
                 (unsigned long long)now, r->number, lane->entry.packet, lane->entry.place & FLIT_POSITION);
        lane->middle = lane->entry;
        lane->middle_state = is_head ? REGISTER_ASKS : REGISTER_READY;
        lane->entry_state = REGISTER_EMPTY;
        for (uint32_t w = 0; is_head && w < q->words; w++)
            lane->asked[w] = lane->answer[w];
    }
    if (lane->entry_state == REGISTER_EMPTY && lane->buffer.count)
        enter(q, lane, now);
}

static void request(const struct staged *q, struct matching *matching, size_t row, uint32_t col, struct flit flit)
{
    matching_request_for(matching, (uint32_t)row, col, network_packet(q->network, flit.packet));
}

/* True: somebody asked. */
static bool allocate_vcs(struct staged *q, struct staged_router *r)
{
    struct matching *matching = &q->vcs.matching;
    BITS_EACH(number, r->active, q->words) {
        const struct staged_lane *lane = &r->inputs[number];
        if (lane->middle_state != REGISTER_ASKS || (q->config.waits_for_exit && lane->exit_state != REGISTER_EMPTY))
            continue;
        for (uint32_t w = 0; w < q->words; w++)
            for (uint64_t left = lane->asked[w] & r->free[w]; left; left &= left - 1)
                request(q, matching, number, (uint32_t)(w * WORD_BITS + lowest_bit(left)), lane->middle);
    }
    if (!allocation_run(&q->vcs, r->vc_state, &r->random))
        return false;
    BITS_EACH(number, matching->granted, q->words) {
        struct staged_lane *lane = &r->inputs[number];
        lane->held = matching->grant[number];
        lane->middle_state = REGISTER_READY;
        r->owner[lane->held] = (uint16_t)number;
        bits_remove(r->free, lane->held);
    }
    matching_clear(matching, matching->row_words, matching->col_words);
    return true;
}

/* Has a flit at the exit the room that it needs? That of a packet whose head has gone is its own. */
static bool has_room(const struct staged *q, const struct staged_router *r, const struct staged_lane *lane)
{
    if (q->config.room == ROOM_FOR_FLIT || !(lane->exit.place & FLIT_HEAD))
        return r->credits[lane->output] > 0;
    return r->credits[lane->output] >= network_packet(q->network, lane->exit.packet)->size;
}

/* Outputs of the crossbar that belong to one lane are taken from the others, or are nobody's when that one is idle. */
static void heed_locks(const struct staged *q, struct staged_router *r)
{
    if (q->config.lock == LOCK_UNTIL_IDLE)
        BITS_EACH(number, r->active, q->words) {
            const struct staged_lane *lane = &r->inputs[number];
            uint16_t *lock = &r->lock[lane->output / q->num_vcs];
            if (lane->exit_state == REGISTER_ASKS && *lock != NOBODY && !bits_test(q->eligible, *lock))
                *lock = NOBODY;
        }
    BITS_EACH(number, q->eligible, q->words) {
        uint16_t lock = r->lock[r->inputs[number].output / q->num_vcs];
        if (lock != NOBODY && lock != number)
            bits_remove(q->eligible, (uint32_t)number);
    }
}

/* The outputs of the crossbar are ports. Where they are lanes with queues, each is its holder's alone, who needs no match. */
static void match_ports(struct staged *q, struct staged_router *r)
{
    struct matching *matching = &q->ways.matching;
    if (q->config.lock != LOCK_NONE)
        heed_locks(q, r);
    BITS_EACH(number, q->eligible, q->words)
        request(q, matching, number, r->inputs[number].output / q->num_vcs, r->inputs[number].exit);
    if (!allocation_run(&q->ways, r->switch_state, &r->random))
        return;
    BITS_EACH(number, matching->granted, q->words) {
        struct staged_lane *lane = &r->inputs[number];
        lane->exit_state = REGISTER_READY;
        r->lock[lane->output / q->num_vcs] = lane->exit.place & FLIT_TAIL ? NOBODY : (uint16_t)number;
    }
    matching_clear(matching, matching->row_words, matching->col_words);
}

/* True: somebody asked. */
static bool allocate_switch(struct staged *q, struct staged_router *r)
{
    bits_clear(q->eligible, q->words);
    BITS_EACH(number, r->active, q->words)
        if (r->inputs[number].exit_state == REGISTER_ASKS && has_room(q, r, &r->inputs[number]))
            bits_add(q->eligible, (uint32_t)number);
    if (!q->outputs)
        match_ports(q, r);
    else
        BITS_EACH(number, q->eligible, q->words)
            r->inputs[number].exit_state = REGISTER_READY;
    return bits_any(q->eligible, q->words);
}

/*
 * When a lane goes on by itself; FW_NEVER: what it waits for wakes the router, a flit or room, or is a flit of this
 * router's that leaves, which is a step.
 */
static tick_t lane_goes_on(const struct staged_lane *lane, tick_t next)
{
    bool moves = lane->exit_state == REGISTER_READY ||
                 (lane->middle_state == REGISTER_READY && lane->exit_state == REGISTER_EMPTY) ||
                 (lane->entry_state == REGISTER_READY && lane->middle_state == REGISTER_EMPTY);
    return moves ? next : lane->entry_state == REGISTER_ASKS ? lane->routed_at : FW_NEVER;
}

static void wake_again(const struct staged *q, struct staged_router *r, bool is_asked, tick_t now)
{
    tick_t first = is_asked ? now + q->cycle : FW_NEVER;
    BITS_EACH(number, r->active, q->words) {
        tick_t when = lane_goes_on(&r->inputs[number], now + q->cycle);
        first = when < first ? when : first;
    }
    if (first != FW_NEVER)
        staged_wake(q, r, first);
}

void staged_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct staged_router *r = &q->each[event->target];
        if (!router_is_due(q->engine, &r->step_at, now))
            continue;
        end_routing(q, r, now);
        BITS_EACH(number, r->active, q->words) {
            struct staged_lane *lane = &r->inputs[number];
            advance(q, r, lane, now);
            if (!lane->buffer.count && !(lane->entry_state | lane->middle_state | lane->exit_state))
                bits_remove(r->active, (uint32_t)number);
        }
        bool is_asked = allocate_vcs(q, r);
        is_asked |= allocate_switch(q, r);
        wake_again(q, r, is_asked, now);
    }
}

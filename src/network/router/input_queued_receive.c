/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arrives at the input-queued routers is stored, and wakes them: see input_queued.c. As the step, it is compiled for the
 * usual router and for all others.
 */
#include "network/router/input_queued_lanes.h"

void input_queued_post_due(const struct input_queued *q, tick_t when)
{
    q->due_at[when % 2] = when;
    network_post_step(q->engine, EVENT_ROUTER_STEP, FW_NONE, 0, when);
}

STAGE void store_flit(const struct input_queued *q, struct router_head *head, const struct flit_event *event,
                      tick_t now, struct variant is)
{
    receive_flit(q, head, lanes_in(head, SET_FRESH, is.words), lanes_in(head, SET_BUSY, is.words),
                 lanes_in(head, SET_SENDABLE, is.words), event->to.lane, event->flit, now, is);
}

STAGE void store_credit(const struct input_queued *q, struct router_head *head, struct output_lane *outputs,
                        const struct credit_event *event, tick_t now, struct variant is)
{
    receive_credit(q, head, outputs, lanes_in(head, SET_SENDABLE, is.words), credited_of(q, head), event->to.lane, now,
                   is);
}

/* Networks that do not fit the cache: what events to come will touch is fetched while those before are worked on. */
#define EVENTS_AHEAD 12

/* How many of a batch's events have one so far ahead of them. */
static uint32_t fetching_events(const struct input_queued *q, uint32_t count)
{
    return q->fetches_ahead && count > EVENTS_AHEAD ? count - EVENTS_AHEAD : 0;
}

STAGE void receive_flits(const struct input_queued *q, tick_t now, const struct flit_event *event, uint32_t count,
                         struct variant is)
{
    const struct blocks blocks = q->blocks;
    const struct flit_event *end = event + count, *fetching = event + fetching_events(q, count);
    for (; event < fetching; event++) {
        struct router_head *ahead = block_at(blocks, event[EVENTS_AHEAD].to.target);
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(&inputs_of(ahead, is.words)[event[EVENTS_AHEAD].to.lane], 1);
        if (!is.narrow)
            __builtin_prefetch(network_packet(q->network, event[EVENTS_AHEAD].flit.packet), 1);
        store_flit(q, block_at(blocks, event->to.target), event, now, is);
    }
    for (; event < end; event++)
        store_flit(q, block_at(blocks, event->to.target), event, now, is);
}

STAGE void receive_credits(const struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count,
                           struct variant is)
{
    const struct blocks blocks = q->blocks, outputs = {blocks.first + q->outputs_at, blocks.stride};
    const struct credit_event *end = event + count, *fetching = event + fetching_events(q, count);
    for (; event < fetching; event++) {
        const struct lane_place *ahead = &event[EVENTS_AHEAD].to;
        __builtin_prefetch((struct output_lane *)(void *)block_at(outputs, ahead->target) + ahead->lane, 1);
        store_credit(q, block_at(blocks, event->to.target), (void *)block_at(outputs, event->to.target), event, now,
                     is);
    }
    for (; event < end; event++)
        store_credit(q, block_at(blocks, event->to.target), (void *)block_at(outputs, event->to.target), event, now,
                     is);
}

void input_queued_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    if (q->is_usual)
        receive_flits(q, now, events, count, USUAL);
    else if (q->is_wide)
        receive_flits(q, now, events, count, WIDE);
    else
        receive_flits(q, now, events, count, GENERAL(q->words));
}

void input_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    if (q->is_usual)
        receive_credits(q, now, events, count, USUAL);
    else if (q->is_wide)
        receive_credits(q, now, events, count, WIDE);
    else
        receive_credits(q, now, events, count, GENERAL(q->words));
}

void input_queued_look_again(struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count)
{
    for (const struct credit_event *end = event + count; event < end; event++) {
        struct router_head *head = block_of(q, event->to.target);
        if (bits_any(lanes_in(head, SET_WAITING, q->words), q->words))
            wake(q, head, now, GENERAL(q->words));
    }
}

void input_queued_begin_next(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t now)
{
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    if (input->output < LANE_WAITS) {
        outputs_of(q, head)[input->output].owner = NOBODY;
        bits_add(lanes_in(head, SET_FREE, q->words), input->output);
        if (q->locks_outputs && locks_of(q, head)[input->out_port] == lane)
            locks_of(q, head)[input->out_port] = UNLOCKED;
    }
    for (enum lane_set set = SET_FRESH; set <= SET_BUSY; set++)
        bits_remove(lanes_in(head, set, q->words), lane);
    input->output = LANE_IDLE;
    if (input->count)
        begin_packet(q, head, lanes_in(head, SET_FRESH, q->words), lanes_in(head, SET_BUSY, q->words), lane, input, now,
                     GENERAL(q->words));
}

void input_queued_wake(const struct input_queued *q, struct router_head *head, tick_t now)
{
    wake(q, head, now, GENERAL(q->words));
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The output side of the simured router: buffers whose last slot is the channel. A
 * flit there takes the channel's delay and leaves when the far end has room.
 *
 * Virtual channels that share a channel take turns. The VC in turn keeps it until its
 * flit has left; then the next one with a flit has it, from the next cycle on. When the far end
 * of the VC in turn has no room, the turn goes on to the next one whose flit could
 * leave. A flit that finds the channel idle has the turn at once. What the packet in turn
 * sees of the others depends on their age, and room may come until a cycle's last tick.
 */
#include "network/router/simured.h"

/* The router steps at `when`. */
static inline void simured_wake(const struct simured *q, struct simured_router *r, tick_t when)
{
    router_wake(q->engine, r->number, &r->step_at, when);
}

/* A flit in the middle of a buffer will move on at `when`. */
static inline void rest(const struct simured *q, struct simured_router *r, uint64_t *resting, uint32_t lane,
                        tick_t when)
{
    if (when != FW_NEVER) {
        bits_add(resting, lane);
        simured_wake(q, r, when);
    }
}

static inline void serve_at(const struct simured *q, struct simured_router *r, uint32_t port, tick_t when)
{
    bits_add(r->due, port);
    simured_wake(q, r, when);
}

/* Is nothing in the buffers behind an output lane, here and at the far end? */
static inline bool lane_is_empty(const struct simured *q, struct simured_router *r, uint32_t lane)
{
    const struct link *link = network_link(q->network, r->number, q->port_of[lane]);
    return !output_buffer(q, r, lane)->count &&
           (link->to_terminal || output_at(q, r, lane)->credits == (int32_t)link->depth);
}

/* There is room in the first slot of an output buffer: for the packet that holds the lane, or for any. */
static inline void offer_room(struct simured *q, struct simured_router *r, uint32_t lane, tick_t edge)
{
    struct simured_output *output = output_at(q, r, lane);
    if (output->owner != NOBODY) {
        bits_add(r->crossing, output->owner);
    } else if (!bits_test(r->open, lane)) {
        r->releases[lane].edge = edge;
        bits_add(r->open, lane);
        r->opened = true;
    }
}

/*
 * A flit is coming to a shared channel. One that finds it idle has the turn at once: of several in a cycle, that of the oldest
 * packet, which SimuRed moves first. Where a flit has left in this cycle and its packet's next one is there, the same holds: an
 * older packet's flit was there before, and the turn handed over to it.
 */
static inline void join_turns(const struct simured *q, struct simured_router *r, struct simured_port *port,
                              uint32_t lane, uint32_t vc, tick_t edge)
{
    const struct simured_output *holder = output_at(q, r, lane - vc + port->turn);
    bool is_idle = !(port->linked & bit(port->turn));
    if (is_idle || (holder->since == edge && port->turn_from < edge &&
                    is_older(&output_at(q, r, lane)->linked_age, &holder->linked_age))) {
        port->turn = (uint16_t)vc;
        port->turn_from = 0;
    }
}

/* A flit has come to the channel. Terminals always take it, so its arrival there is known. */
static inline void reach_channel(struct simured *q, struct simured_router *r, uint32_t lane, tick_t edge)
{
    uint32_t number = q->port_of[lane], vc = lane - number * q->num_vcs;
    struct simured_port *port = &r->ports[number];
    struct flit flit = buffer_front(&q->buffers, output_buffer(q, r, lane));
    struct simured_output *output = output_at(q, r, lane);
    if (port->is_shared) {
        if (flit.place & FLIT_HEAD)
            output->linked_age = age_of(q, flit.packet);
        join_turns(q, r, port, lane, vc, edge);
    }
    port->linked |= bit(vc);
    output->since = edge;
    serve_at(q, r, number, edge + port->delay);
    if (port->to_terminal) {
        struct lane_place to = {.target = port->to.target, .lane = port->to.lane + vc};
        send_flit(q->network, EVENT_TERMINAL_FLIT, to, flit, edge + port->delay + port->latency - 1);
    }
}

static inline void output_settled(struct simured *q, struct simured_router *r, uint32_t lane,
                                  const struct settled *settled, tick_t edge)
{
    if (settled->reached)
        reach_channel(q, r, lane, edge);
    if (settled->left && buffer_has_room(&q->buffers, output_buffer(q, r, lane)))
        offer_room(q, r, lane, edge);
    rest(q, r, r->resting_outputs, lane, settled->next);
}

/* A flit comes in from the crossbar; behind a tail, nobody holds the lane. */
static inline void enter_output(struct simured *q, struct simured_router *r, uint32_t lane, struct flit flit,
                                tick_t edge, tick_t now)
{
    struct buffer *buffer = output_buffer(q, r, lane);
    struct settled settled;
    buffer_put(&q->buffers, buffer, flit, edge, &settled);
    congestion_change(q->congestion, r->number, lane, QUEUE_OUTPUT, 1, now);
    if ((flit.place & FLIT_TAIL) && buffer_has_room(&q->buffers, buffer))
        offer_room(q, r, lane, edge);
    output_settled(q, r, lane, &settled, edge);
}

void serve_channels(struct simured *q, struct simured_router *r, tick_t edge, tick_t now);
void settle_outputs(struct simured *q, struct simured_router *r, tick_t edge);
event_handler simured_receive_credits;

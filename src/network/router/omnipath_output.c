/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output buffers of the Omni-Path router: OB, see omnipath.c. The VLs of an
 * output take turns, a packet each: whoever has a flit that is stored and, before
 * its head, room for the whole packet downstream.
 */
#include "network/router/omnipath.h"

static void wake_port(struct omnipath *q, uint32_t router, uint32_t number, tick_t now)
{
    struct omnipath_port *port = port_at(q, router, number);
    if (port->is_due || !port->stored)
        return;
    port->is_due = true;
    network_post_step(q->engine, EVENT_OUTPUT_STEP, router, number, port->free_at > now ? port->free_at : now);
}

void omnipath_stored(struct omnipath *q, uint32_t router, uint32_t port, uint32_t vl, tick_t now)
{
    port_at(q, router, port)->stored |= bit(vl);
    wake_port(q, router, port, now);
}

static const struct shared_room_rule *rule_downstream(const struct omnipath *q, const struct omnipath_port *port)
{
    return port->kind == EVENT_TERMINAL_FLIT ? &q->terminal_rule : &q->rule[0];
}

/* Room that a packet takes downstream; terminals count flits. */
static uint32_t credits_downstream(const struct omnipath *q, const struct omnipath_port *port, uint32_t size)
{
    return port->kind == EVENT_TERMINAL_FLIT ? size : credits_for(size, q->flits_per_credit);
}

/* Flits that a credit from downstream stands for. */
static int32_t flits_of_credit(const struct omnipath *q, const struct omnipath_port *port)
{
    return port->kind == EVENT_TERMINAL_FLIT ? 1 : (int32_t)q->flits_per_credit;
}

void omnipath_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, number = event->to.lane / q->num_vcs;
        const struct omnipath_port *port = port_at(q, router, number);
        shared_room_give(rule_downstream(q, port), room_downstream(q, router, number), event->to.lane % q->num_vcs, 1);
        congestion_change(q->congestion, router, event->to.lane, QUEUE_DOWNSTREAM, -flits_of_credit(q, port), now);
        wake_port(q, router, number, now);
    }
}

/* The VLs of a port that can send now. */
static uint64_t sendable(const struct omnipath *q, uint32_t router, uint32_t number)
{
    const struct omnipath_port *port = port_at(q, router, number);
    const struct shared_room *room = room_downstream(q, router, number);
    uint64_t vls = port->stored;
    uint32_t held = lane_scheduler_held(choice_at(q, router, number));
    if (held != NO_VC && (vls & bit(held)) && !q->scheduler.service->preempts)
        return bit(held); /* no other has a chance */
    for (uint64_t left = vls; left; left &= left - 1) {
        uint32_t vl = (uint32_t)lowest_bit(left);
        size_t lane = lane_number(q, router, output_buffer(q, number), vl);
        if (q->lane_states[lane].sent)
            continue;
        uint32_t size = network_packet(q->network, first_packet(q, lane))->size;
        if (!shared_room_can_take(rule_downstream(q, port), room, vl, credits_downstream(q, port, size)))
            vls &= ~bit(vl);
    }
    return vls;
}

/* Which of several. */
static __attribute__((noinline)) uint32_t choose_vl(struct omnipath *q, uint32_t router, uint32_t number, uint64_t vls)
{
    if (q->scheduler.arbiter->needs_age)
        BITS_EACH(vl, &vls, 1) {
            size_t lane = lane_number(q, router, output_buffer(q, number), (uint32_t)vl);
            q->vl_age[vl] = network_packet(q->network, first_packet(q, lane))->created;
        }
    const struct arbitration arbitration = {.requests = &vls,
                                            .inputs = q->num_vcs,
                                            .words = 1,
                                            .age = q->vl_age,
                                            .random = &q->port_random[(size_t)router * q->all_ports + number]};
    return lane_scheduler_pick(&q->scheduler, choice_at(q, router, number), &arbitration);
}

/* The next flit of a VL leaves its buffer. */
static struct flit leave(struct omnipath *q, uint32_t router, uint32_t number, uint32_t vl, tick_t now)
{
    struct omnipath_port *port = port_at(q, router, number);
    uint32_t buffer = output_buffer(q, number), output = number * q->num_vcs + vl;
    size_t at = lane_number(q, router, buffer, vl);
    struct omnipath_lane *lane = &q->lane_states[at];
    uint32_t handle = first_packet(q, at), size = network_packet(q->network, handle)->size, position = lane->sent;
    if (position == 0) {
        uint32_t credits = credits_downstream(q, port, size);
        shared_room_take(rule_downstream(q, port), room_downstream(q, router, number), vl, credits);
        congestion_change(q->congestion, router, output, QUEUE_DOWNSTREAM, (int32_t)credits * flits_of_credit(q, port),
                          now);
    }
    congestion_change(q->congestion, router, output, QUEUE_OUTPUT, -1, now);
    if (credit_ends_at(position, position + 1 == size, q->flits_per_credit)) {
        shared_room_give(&q->rule[0], room_at(q, router, buffer), vl, 1);
        if (bits_any(q->asking + (size_t)router * q->source_words, q->source_words))
            omnipath_wake(q, router, now + 1);
    }
    q->lane_flits[(size_t)router * q->lanes + output]++;
    lane->ready--;
    if (++lane->sent == size) {
        lane->sent = 0;
        lane->first++;
        lane->count--;
    }
    if (!lane->ready)
        port->stored &= ~bit(vl);
    return (struct flit){.packet = handle,
                         .place = position | (position == 0 ? FLIT_HEAD : 0) | (position + 1 == size ? FLIT_TAIL : 0)};
}

static void step_port(struct omnipath *q, uint32_t router, uint32_t number, tick_t now)
{
    struct omnipath_port *port = port_at(q, router, number);
    port->is_due = false;
    uint64_t vls = sendable(q, router, number);
    if (!vls)
        return; /* until there are credits */
    uint32_t vl = vls & (vls - 1) ? choose_vl(q, router, number, vls) : (uint32_t)lowest_bit(vls);
    struct flit flit = leave(q, router, number, vl, now);
    struct lane_place to = {.target = port->far.target, .lane = port->far.lane + vl};
    port->free_at = now + port->cycle;
    lane_scheduler_sent(&q->scheduler, choice_at(q, router, number), vl, flit.place & FLIT_TAIL);
    send_flit(q->network, port->kind, to, flit, now + port->latency);
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, router, "OB", "flit %u by port %u vl %u, arrives at %llu",
                      flit.place & FLIT_POSITION, number, vl, (unsigned long long)(now + port->latency));
    wake_port(q, router, number, now);
}

void omnipath_step_outputs(void *routers, tick_t now, const void *events, uint32_t count)
{
    for (const struct step_event *event = events, *end = event + count; event < end; event++)
        step_port(routers, event->target, event->port, now);
}

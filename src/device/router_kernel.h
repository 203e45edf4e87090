/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: what the stages of input_queued find on a device: channels in place of events, routing,
 * sensors. Teams of work-items go through the stages, in team_kernel.h.
 */
#include "device/kernels.h"
#include "network/router/input_queued_state.h"

#ifdef USUAL_ROUTER
#define VARIANT USUAL
#else
#define VARIANT GENERAL(WORDS)
#endif

struct input_queued {
    const struct network *network;
    struct route question;
    uint32_t ports, num_vcs, lanes, words, ring_mask, local_ports;
    FW_TEAM uint32_t *is_woken; /* while flits and credits are received: NULL then no more */
    INPUT_QUEUED_FACTS;
};

FW_INLINE struct lane_facts facts_of(const struct input_queued *q, size_t lane, struct variant is)
{
    uint32_t port = (uint32_t)lane / q->num_vcs;
    return (struct lane_facts){
        .port = (uint16_t)port,
        .vc = (uint8_t)(lane - port * q->num_vcs),
        .at_router = port >= q->local_ports,
        .ring_at = q->rings_at + (uint32_t)sizeof(struct flit) * (q->ring_mask + 1) * (uint32_t)lane,
    };
}
FW_INLINE uint64_t lanes_of_port(const struct input_queued *q, size_t lane)
{
    return bits_range(0, q->num_vcs) << (lane - lane % q->num_vcs);
}

/* How many steps of a router are due at a tick: those that were overtaken by one before count too. */
FW_INLINE FW_GLOBAL uint16_t *steps_at(const struct memory *m, uint32_t router, tick_t when)
{
    return &m->steps[(when & FACT(slot_mask)) * FACT(routers) + router];
}

/* The router steps at `when`, or at its clock's next edge. */
FW_INLINE void wake(const struct input_queued *q, FW_GLOBAL struct router_head *head, tick_t when, struct variant is)
{
    if (q->is_woken) {
        *q->is_woken = true; /* of the team its leader does it */
        return;
    }
    if (is.usual || q->steps_each_tick) {
        head->step_at = when;
        return;
    }
    when = next_edge(when, q->cycle);
    if (when >= head->step_at)
        return;
    head->step_at = when;
    steps_at(q->network->memory, head->number, when)[0]++;
}

FW_INLINE bool has_sensors(const struct input_queued *q)
{
    (void)q;
    return HAS_SENSORS;
}
/* The buffer behind an output lane has so many more flits. */
FW_INLINE void tell_sensors(const struct input_queued *q, uint32_t router, uint32_t lane, int32_t change, tick_t now)
{
    CONGESTION_CHANGE(q->question.congestion, router, lane, QUEUE_DOWNSTREAM, change, now);
}

#define FAULT_OF (q->network->memory->fault)
#include "network/router/input_queued_lanes.h"

/* Those of some output lanes, one word of them, that can take all of the packet at the front of a lane. */
FW_INLINE uint64_t with_room(const struct view *v, size_t lane, uint32_t word, uint64_t outputs)
{
    uint32_t size = front_of(v, lane)->size;
    uint64_t found = 0;
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = (uint32_t)(word * WORD_BITS + lowest_bit(outputs));
        uint32_t room = network_link(v->q->network, v->head->number, output / v->q->num_vcs)->depth;
        found |= v->outputs[output].credits >= (size < room ? size : room) ? outputs & -outputs : 0;
    }
    return found;
}

/* The flit goes out, a credit goes back. */
FW_INLINE void send(const struct view *v, size_t lane, FW_GLOBAL const struct input_lane *input,
                    FW_GLOBAL const struct output_lane *out, tick_t granted, struct variant is)
{
    const struct input_queued *q = v->q;
    const struct memory *m = q->network->memory;
    const struct lane_facts from = facts_of(q, lane, is), to = facts_of(q, input->output, is);
    const struct lane_place back_to = input->back, out_to = out->to;
    put_credit(m, far_port(m, back_to, from.at_router), from.vc,
               v->now + q->credit + latency_of(q->network, v->head->number, from.port, from.at_router));
    put_flit(m, far_port(m, out_to, to.at_router), to.vc, input->front,
             granted + q->to_channel + latency_of(q->network, v->head->number, to.port, to.at_router));
}

#include "network/router/input_queued_stages.h"

FW_INLINE struct input_queued input_queued_of(const struct memory *m, struct network *network)
{
#define ROUTER_FACT(name) .name = FACT(name)
    return (struct input_queued){
        .network = network,
        .question = {.routing = &network->routing, .congestion = &network->sensors},
        ROUTER_FACT(ports),
        ROUTER_FACT(num_vcs),
        ROUTER_FACT(lanes),
        .words = WORDS,
        ROUTER_FACT(ring_mask),
        ROUTER_FACT(local_ports),
        ROUTER_FACT(room),
        ROUTER_FACT(depth),
        ROUTER_FACT(cycle),
        ROUTER_FACT(routing),
        ROUTER_FACT(vc_allocation),
        ROUTER_FACT(to_channel),
        ROUTER_FACT(credit),
        ROUTER_FACT(next_packet),
        ROUTER_FACT(busy_after_grant),
        ROUTER_FACT(vc_needs_credit),
        ROUTER_FACT(stores_packet),
        ROUTER_FACT(reserves_packet),
        ROUTER_FACT(needs_room),
        ROUTER_FACT(credits_wake),
        ROUTER_FACT(ends_in_a_cycle),
        ROUTER_FACT(steps_each_tick),
        ROUTER_FACT(locks_outputs),
        ROUTER_FACT(keeps_outputs),
        ROUTER_FACT(queues_to_send),
        ROUTER_FACT(outputs_at),
        ROUTER_FACT(vc_state_at),
        ROUTER_FACT(switch_state_at),
        ROUTER_FACT(arbiter_state_at),
        ROUTER_FACT(arbiters_each),
        ROUTER_FACT(arbiter_port_mask),
        ROUTER_FACT(free_at_at),
        ROUTER_FACT(locks_at),
        ROUTER_FACT(credited_at),
        ROUTER_FACT(rings_at),
        .ready_at = m->ready_at,
        .routes = m->routes,
        .blocks = {.first = m->blocks, .stride = FACT(stride)},
    };
}

/* ---- for those who count ---- */

FW_INLINE bool lane_is_idle(const struct memory *m, const struct network *network, uint32_t router, uint32_t lane)
{
    FW_GLOBAL struct router_head *head = block_at((struct blocks){m->blocks, FACT(stride)}, router);
    FW_GLOBAL const struct output_lane *out = &PART(struct output_lane, FACT(outputs_at))[lane];
    FW_GLOBAL const struct link *link = network_link(network, router, lane / FACT(num_vcs));
    bool is_usable = lanes_in(head, SET_USABLE, WORDS)[lane / WORD_BITS] & bit(lane);
    return !inputs_of(head, WORDS)[lane].count && out->owner == NOBODY && out->credits == (is_usable ? link->depth : 0);
}
FW_INLINE uint32_t flits_by_lane(const struct memory *m, const struct network *network, uint32_t router, uint32_t lane)
{
    FW_GLOBAL struct router_head *head = block_at((struct blocks){m->blocks, FACT(stride)}, router);
    (void)network;
    return PART(struct output_lane, FACT(outputs_at))[lane].flits;
}
/* The next event of a router beside those that are in rings; `due`: when something must be done that is none. */
FW_INLINE tick_t next_of_router(const struct memory *m, const struct network *network, uint32_t router, tick_t now,
                                tick_t *due)
{
    tick_t step_at = block_at((struct blocks){m->blocks, FACT(stride)}, router)->step_at;
    (void)network, (void)due;
    for (tick_t ahead = 0; !FACT(steps_each_tick) && ahead <= FACT(slot_mask); ahead++)
        if (*steps_at(m, router, now + ahead))
            return now + ahead;
    return step_at >= now ? step_at : FW_NEVER;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. By nobody else: A router's tick: the stages of input_queued, with channels in place of events. */
#include "device/kernels.h"

#ifdef USUAL_ROUTER
#define VARIANT USUAL
#else
#define VARIANT GENERAL(WORDS)
#endif

struct input_queued {
    const struct network *network;
    struct route question;
    uint32_t ports, num_vcs, lanes, words, ring_mask, local_ports;
    uint64_t flit_hops;
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

/* The router steps at `when`, or at its clock's next edge. */
FW_INLINE void wake(const struct input_queued *q, FW_GLOBAL struct router_head *head, tick_t when, struct variant is)
{
    if (is.usual || q->steps_each_tick) {
        head->step_at = when;
        return;
    }
    when = next_edge(when, q->cycle);
    if (when >= head->step_at)
        return;
    head->step_at = when;
    q->network->memory->router_counts[head->number].events++;
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

/* Asks where a packet at the front of an input lane may go. */
FW_INLINE void ask_route(const struct network *network, struct route *question, uint32_t packet, uint32_t lane,
                         bool from_router, FW_GLOBAL uint64_t *wants, const uint64_t *usable, uint32_t words,
                         tick_t now)
{
    const struct memory *m = network->memory;
    uint64_t answer[WORDS];
    for (uint32_t w = 0; w < WORDS; w++)
        answer[w] = 0;
    question->packet = network_packet(network, packet);
    question->packet->hops += from_router;
    question->draws = 0;
    question->input_lane = lane;
    question->vcs = answer;
    question->now = now;
    ROUTE(question);
    if (FACT(has_protocols))
        route_move_up(question);
    uint64_t some = 0, wrong = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        some |= answer[w];
        wrong |= answer[w] & ~usable[w];
        wants[w] = answer[w];
    }
    if (!some || wrong)
        *m->fault = __LINE__;
}

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
    FW_GLOBAL const struct link *back = network_link(q->network, v->head->number, from.port);
    FW_GLOBAL const struct link *link = network_link(q->network, v->head->number, to.port);
    const struct lane_place back_to = input->back, out_to = out->to;
    put_credit(m, far_port(m, back_to, from.at_router), from.vc, v->now + q->credit + back->latency);
    put_flit(m, far_port(m, out_to, to.at_router), to.vc, input->front, granted + q->to_channel + link->latency);
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

/* The sets of a router, while it is worked on. */
struct lane_sets {
    uint64_t words[LANE_SETS][WORDS], credited[WORDS];
};

FW_INLINE void load_sets(const struct input_queued *q, FW_GLOBAL struct router_head *head, struct lane_sets *sets)
{
    for (uint32_t set = 0; set < LANE_SETS; set++)
        for (uint32_t w = 0; w < WORDS; w++)
            sets->words[set][w] = lanes_in(head, (enum lane_set)set, WORDS)[w];
    for (uint32_t w = 0; w < WORDS && q->vc_needs_credit; w++)
        sets->credited[w] = credited_of(q, head)[w];
}

FW_INLINE void store_sets(const struct input_queued *q, FW_GLOBAL struct router_head *head,
                          const struct lane_sets *sets)
{
    for (uint32_t set = 0; set < SET_USABLE; set++)
        for (uint32_t w = 0; w < WORDS; w++)
            lanes_in(head, (enum lane_set)set, WORDS)[w] = sets->words[set][w];
    for (uint32_t w = 0; w < WORDS && q->vc_needs_credit; w++)
        credited_of(q, head)[w] = sets->credited[w];
}

/* What has come in this tick; returns how many events that are. */
FW_INLINE uint32_t receive_all(struct input_queued *q, FW_GLOBAL struct router_head *head, struct lane_sets *sets,
                               tick_t now)
{
    const struct memory *m = q->network->memory;
    size_t first = slot_of(m, now, router_port(m, head->number, 0));
    uint32_t count = 0, vc;
    struct flit flit;
    for (uint32_t port = 0; port < q->ports; port++) {
        if (take_flit(m, first + port, &flit, &vc)) {
            receive_flit(q, head, sets->words[SET_FRESH], sets->words[SET_BUSY], sets->words[SET_SENDABLE],
                         port * q->num_vcs + vc, flit, now, VARIANT);
            count++;
        }
        for (uint64_t vcs = take_credits(m, first + port); vcs; vcs &= vcs - 1, count++)
            receive_credit(q, head, outputs_of(q, head), sets->words[SET_SENDABLE], sets->credited,
                           port * q->num_vcs + (uint32_t)lowest_bit(vcs), now, VARIANT);
    }
    return count;
}

/* One step of a router; true when it steps in the next cycle too. */
FW_INLINE bool step_router(struct input_queued *q, FW_GLOBAL struct router_head *head, struct lane_sets *sets,
                           tick_t now)
{
    struct view view = {
        .q = q,
        .head = head,
        .inputs = inputs_of(head, WORDS),
        .outputs = outputs_of(q, head),
        .fresh = sets->words[SET_FRESH],
        .waiting = sets->words[SET_WAITING],
        .sendable = sets->words[SET_SENDABLE],
        .busy = sets->words[SET_BUSY],
        .free = sets->words[SET_FREE],
        .credited = sets->credited,
        .usable = sets->words[SET_USABLE],
        .wants = wants_of(q, head, 0, WORDS),
        .wants_apart = WORDS == 1 ? sizeof(struct input_lane) / sizeof(uint64_t) : WORDS,
        .now = now,
        .soonest = FW_NEVER,
        .moved = false,
    };
    end_stages(&view, VARIANT);
    route(&view, VARIANT);
    share_outputs(&view, VARIANT);
    share_switch(&view, VARIANT);
    return goes_on(&view, VARIANT);
}

FW_INLINE void router_tick(const struct memory *m, uint32_t router, tick_t now)
{
    struct network network = network_of(m);
    struct input_queued queued = input_queued_of(m, &network), *q = &queued;
    FW_GLOBAL struct router_head *head = block_of(q, router);
    struct lane_sets sets;
    load_sets(q, head, &sets);
    uint32_t events = receive_all(q, head, &sets, now);
    bool is_due = head->step_at == now;
    if (!is_due && !events)
        return;
    if (is_due) {
        if (!q->steps_each_tick)
            head->step_at = FW_NEVER;
        events += q->steps_each_tick;
        if (step_router(q, head, &sets, now))
            wake(q, head, now + (q->steps_each_tick ? 1 : q->cycle), VARIANT);
    }
    store_sets(q, head, &sets);
    FW_GLOBAL struct lockstep_router_counts *counts = &m->router_counts[router];
    counts->flit_hops += q->flit_hops;
    counts->events += events;
    counts->last_event = now;
}

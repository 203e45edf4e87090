/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: a packet router's tick, by one work-item. What its stages send they send at once, for the
 * time at which the channel will be free. That may be too far ahead for a ring that has a place for each tick; so here chunks
 * wait beside the channel (struct lockstep_sending), and each begins when the one before it is through.
 */
#include "device/kernels.h"
#include "network/router/packet_state.h"

#define LANES_MOST (WORDS * WORD_BITS)

struct packets {
    const struct network *network;
    uint32_t ports, num_vcs, lanes;
    uint32_t words;
    PACKETS_FACTS;
    uint64_t *sets;   /* of the router, by enum packet_set */
    int32_t *changes; /* of the buffers behind its output lanes, in this tick; of one lane sensors are told once */
    tick_t sends_at;  /* when one of its channels has something to do next */
    uint64_t flit_hops;
};

#define FAULT_OF (q->network->memory->fault)
#include "network/router/packet_lanes.h"

FW_INLINE uint64_t *packet_set(const struct packets *q, FW_GLOBAL struct packet_head *head, enum packet_set set,
                               uint32_t words)
{
    (void)head;
    return q->sets + set * words;
}
FW_INLINE void wake(const struct packets *q, FW_GLOBAL struct packet_head *head, tick_t now)
{
    (void)q;
    head->step_at = now;
}
FW_INLINE void tell_sensors(const struct packets *q, FW_GLOBAL const struct packet_head *head, uint32_t lane,
                            int32_t change, tick_t now)
{
    (void)head, (void)now;
    if (HAS_SENSORS)
        q->changes[lane] += change;
}

/* ---- channels ---- */

FW_INLINE FW_GLOBAL struct lockstep_sending *sending_of(const struct memory *m, uint32_t router, uint32_t port)
{
    return &m->sending[router_port(m, router, port)];
}
FW_INLINE FW_GLOBAL struct lockstep_chunk *waiting_at(const struct memory *m,
                                                      FW_GLOBAL const struct lockstep_sending *sending, uint32_t place)
{
    uint32_t places = (uint32_t)FACT(sending_places), at = sending->first + place;
    return &m->chunks[(size_t)(sending - m->sending) * places + (at < places ? at : at - places)];
}

/* When a channel has something to do next. */
FW_INLINE tick_t due_of(FW_GLOBAL const struct lockstep_sending *sending)
{
    tick_t due = sending->count ? sending->start : FW_NEVER;
    if (sending->flit && sending->flit_at < due)
        due = sending->flit_at;
    return sending->credits && sending->credits_at < due ? sending->credits_at : due;
}

FW_INLINE void put_on_way(const struct packets *q, FW_GLOBAL const struct packet_port *port, uint64_t flit, tick_t now)
{
    const struct memory *m = q->network->memory;
    const struct lane_place to = {port->target, port->first_lane};
    put_word(m, far_port(m, to, port->kind == EVENT_FLIT), flit, now + port->latency);
}
FW_INLINE void give_back(const struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t lane, uint32_t flits,
                         tick_t now)
{
    const struct memory *m = q->network->memory;
    FW_GLOBAL const struct packet_lane *input = packet_input(q, head, lane);
    const struct lane_place back = input->back;
    put_credits(m, far_port(m, back, input->back_kind == EVENT_CREDIT), lane % q->num_vcs, flits,
                now + input->back_delay);
}

/* The channel is free for a chunk: it is told of when the far end may hear of it, and its place is free when it has left. */
FW_INLINE void start_chunk(const struct packets *q, FW_GLOBAL struct packet_head *head,
                           FW_GLOBAL const struct packet_port *port, FW_GLOBAL struct lockstep_sending *sending,
                           const struct lockstep_chunk *chunk, tick_t now)
{
    tick_t behind = chunk->flits - 1, lag = behind * port->lag;
    sending->start = now + (behind + 1) * port->cycle;
    sending->flit_at = now + lag;
    if (lag)
        sending->flit = chunk->flit;
    else
        put_on_way(q, port, chunk->flit, now);
    if (q->by_output)
        return;
    sending->credits_at = now + behind * port->cycle;
    sending->credits_lane = chunk->lane;
    if (behind)
        sending->credits = chunk->flits;
    else
        give_back(q, head, chunk->lane, chunk->flits, now);
}

/* What is due at the router's channels. */
FW_INLINE void tend_channels(struct packets *q, FW_GLOBAL struct packet_head *head, tick_t now)
{
    const struct memory *m = q->network->memory;
    q->sends_at = FW_NEVER;
    for (uint32_t number = 0; number < q->ports; number++) {
        FW_GLOBAL struct lockstep_sending *sending = sending_of(m, head->number, number);
        FW_GLOBAL const struct packet_port *port = packet_port(q, head, number);
        if (sending->flit && sending->flit_at == now) {
            put_on_way(q, port, sending->flit, now);
            sending->flit = 0;
        }
        if (sending->credits && sending->credits_at == now) {
            give_back(q, head, sending->credits_lane, sending->credits, now);
            sending->credits = 0;
        }
        if (sending->count && sending->start == now) {
            const struct lockstep_chunk chunk = *waiting_at(m, sending, 0);
            sending->first = sending->first + 1 < FACT(sending_places) ? sending->first + 1 : 0;
            sending->count--;
            start_chunk(q, head, port, sending, &chunk, now);
        }
        tick_t due = due_of(sending);
        q->sends_at = due < q->sends_at ? due : q->sends_at;
    }
}

FW_INLINE void put_on_channel(struct packets *q, FW_GLOBAL struct packet_head *head,
                              FW_GLOBAL const struct packet_lane *input, FW_GLOBAL const struct packet_port *port,
                              const struct chunk *chunk, tick_t start, tick_t now)
{
    const struct memory *m = q->network->memory;
    uint32_t number = chunk->output / q->num_vcs;
    FW_GLOBAL struct lockstep_sending *sending = sending_of(m, head->number, number);
    const struct lockstep_chunk leaving = {
        .flit = flit_word(chunk->unit, chunk->output - number * q->num_vcs),
        .lane = (uint32_t)((FW_GLOBAL const uint8_t *)input - PACKET_PART(head, uint8_t, q->inputs_at)) /
                PACKET_LANE_STRIDE,
        .flits = chunk->flits,
    };
    if (q->by_output)
        give_back(q, head, leaving.lane, leaving.flits, now);
    if (start == now) {
        start_chunk(q, head, port, sending, &leaving, now);
    } else {
        FW_CHECK(sending->count < FACT(sending_places));
        *waiting_at(m, sending, sending->count++) = leaving;
    }
    tick_t due = due_of(sending);
    q->sends_at = due < q->sends_at ? due : q->sends_at;
}

#include "network/router/packet_stages.h"

/* ---- a tick ---- */

struct team {
    uint32_t unused; /* a router has one work-item alone */
};

FW_INLINE struct packets packets_of(const struct memory *m, const struct network *network, uint64_t *sets,
                                    int32_t *changes)
{
#define ROUTER_FACT(name) .name = FACT(name)
    return (struct packets){
        .network = network,
        ROUTER_FACT(ports),
        ROUTER_FACT(num_vcs),
        ROUTER_FACT(lanes),
        .words = WORDS,
        .blocks = m->blocks,
        ROUTER_FACT(stride),
        ROUTER_FACT(inputs_at),
        ROUTER_FACT(ports_at),
        ROUTER_FACT(port_stride),
        ROUTER_FACT(waits_at),
        ROUTER_FACT(owners_at),
        ROUTER_FACT(lines_at),
        ROUTER_FACT(depth),
        ROUTER_FACT(divides),
        ROUTER_FACT(by_output),
        ROUTER_FACT(whole_for_room),
        .wants = m->routes,
        .sets = sets,
        .changes = changes,
    };
}

FW_INLINE bool has_arrivals(const struct memory *m, uint32_t router, tick_t now)
{
    size_t first = slot_of(m, now, router_port(m, router, 0));
    for (uint32_t port = 0; port < FACT(ports); port++)
        if (m->flits[first + port] || has_credits(m, first + port))
            return true;
    return false;
}

/* Returns how many events that were. */
FW_INLINE uint32_t receive_arrivals(const struct packets *q, FW_GLOBAL struct packet_head *head, struct route *question,
                                    tick_t now)
{
    const struct memory *m = q->network->memory;
    size_t first = slot_of(m, now, router_port(m, head->number, 0));
    uint32_t events = 0;
    for (uint32_t port = 0; port < q->ports; port++) {
        uint64_t word = take_flit(m, first + port);
        if (!word)
            continue;
        receive_chunk(q, head, port * q->num_vcs + slot_vc(word), slot_flit(word), question, WORDS, now);
        events++;
    }
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        uint64_t word = take_credits_of(m, first + lane / q->num_vcs, lane % q->num_vcs);
        if (!word)
            continue;
        receive_room(q, head, lane, slot_credits(word), now);
        events += slot_events(word);
    }
    return events;
}

FW_INLINE void router_arrivals(struct packets *q, FW_GLOBAL struct packet_head *head, struct network *network,
                               FW_GLOBAL struct lockstep_router_counts *counts, tick_t now)
{
    struct route question = {.routing = &network->routing, .congestion = &network->sensors, .now = now};
    for (uint32_t i = 0; i < PACKET_SETS * WORDS; i++)
        q->sets[i] = packet_set_at(head, SET_FRESH, WORDS)[i];
    if (HAS_SENSORS) {
        CONGESTION_CATCH_UP(&network->sensors, head->number, now);
        for (uint32_t lane = 0; lane < q->lanes; lane++)
            q->changes[lane] = 0;
    }
    uint32_t events = receive_arrivals(q, head, &question, now);
    if (head->step_at == now) {
        head->step_at = FW_NEVER;
        events++;
        step_router(q, head, &question, WORDS, now);
    }
    for (uint32_t i = 0; i < SET_USABLE * WORDS; i++)
        packet_set_at(head, SET_FRESH, WORDS)[i] = q->sets[i];
    for (uint32_t lane = 0; HAS_SENSORS && lane < q->lanes; lane++)
        if (q->changes[lane])
            CONGESTION_CHANGE(&network->sensors, head->number, lane, QUEUE_DOWNSTREAM, q->changes[lane], now);
    counts->flit_hops += q->flit_hops;
    counts->events += events;
    counts->last_event = now;
}

FW_INLINE void router_tick(const struct memory *m, FW_TEAM struct team *team, uint32_t router, uint32_t member,
                           tick_t now)
{
    (void)team;
    if (member || router >= FACT(routers))
        return;
    struct network network = network_of(m);
    uint64_t sets[PACKET_SETS * WORDS];
    int32_t changes[HAS_SENSORS ? LANES_MOST : 1];
    struct packets packets = packets_of(m, &network, sets, changes), *q = &packets;
    FW_GLOBAL struct packet_head *head = packet_head(q, router);
    FW_GLOBAL struct lockstep_router_counts *counts = &m->router_counts[router];
    tick_t sends_at = q->sends_at = counts->sends_at;
    if (sends_at <= now)
        tend_channels(q, head, now);
    if (has_arrivals(m, router, now))
        router_arrivals(q, head, &network, counts, now);
    if (q->sends_at != sends_at)
        counts->sends_at = q->sends_at;
}

/* ---- for those who count ---- */

FW_INLINE struct packets packets_at(const struct memory *m, const struct network *network)
{
    return packets_of(m, network, 0, 0);
}
FW_INLINE bool lane_is_idle(const struct memory *m, const struct network *network, uint32_t router, uint32_t lane)
{
    const struct packets packets = packets_at(m, network), *q = &packets;
    FW_GLOBAL struct packet_head *head = packet_head(q, router);
    bool is_usable = packet_set_at(head, SET_USABLE, WORDS)[lane / WORD_BITS] & bit(lane);
    return packet_input(q, head, lane)->first == FW_NONE && packet_owners(q, head)[lane] == NOBODY && !head->waiting &&
           packet_output(q, head, lane)->credits == (is_usable ? q->depth : 0);
}
FW_INLINE uint32_t flits_by_lane(const struct memory *m, const struct network *network, uint32_t router, uint32_t lane)
{
    const struct packets packets = packets_at(m, network), *q = &packets;
    return packet_output(q, packet_head(q, router), lane)->flits;
}

/*
 * The next event of a router beside those that are in rings already; `due` is when its channels have something to do. As long
 * as a chunk waits nobody asks for more than that there is something to come.
 */
FW_INLINE tick_t next_of_router(const struct memory *m, const struct network *network, uint32_t router, tick_t now,
                                tick_t *due)
{
    const struct packets packets = packets_at(m, network), *q = &packets;
    FW_GLOBAL struct packet_head *head = packet_head(q, router);
    tick_t next = FW_NEVER;
    (void)now;
    for (uint32_t number = 0; number < q->ports; number++) {
        FW_GLOBAL const struct lockstep_sending *sending = sending_of(m, router, number);
        tick_t own = due_of(sending), event = sending->count ? sending->start : FW_NEVER;
        if (sending->flit && sending->flit_at + packet_port(q, head, number)->latency < event)
            event = sending->flit_at + packet_port(q, head, number)->latency;
        if (sending->credits && sending->credits_at + packet_input(q, head, sending->credits_lane)->back_delay < event)
            event = sending->credits_at + packet_input(q, head, sending->credits_lane)->back_delay;
        *due = own < *due ? own : *due;
        next = event < next ? event : next;
    }
    return next;
}

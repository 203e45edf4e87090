/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: What waits at a terminal to be sent, and the packets that are made of it when its turn
 * comes. It comes by the time when it was made, and of one tick answers come before messages, those by their sources.
 */
#include "device/kernels.h"

/* What an application's functions need of it. */
struct maker {
    struct injection injection;
    struct traffic traffic;
    struct size size;
};

FW_INLINE struct maker maker_of(const struct memory *m, FW_GLOBAL const struct lockstep_application *a)
{
    return (struct maker){
        .injection = {.config = m->tables + a->injection_config_at,
                      .rate = a->rate,
                      .a = a->a,
                      .b = a->b,
                      .limits = (FW_GLOBAL const uint64_t *)(m->tables + a->limits_at),
                      .tables = m->tables},
        .traffic = {.config = m->tables + a->traffic_config_at,
                    .state = m->tables + a->traffic_state_at,
                    .tables = m->tables,
                    .terminals = a->ranks},
        .size = {.config = m->tables + a->size_config_at,
                 .state = m->tables + a->size_state_at,
                 .tables = m->tables,
                 .max = a->size_max},
    };
}

/* Ticks to the next message. */
FW_INLINE tick_t draw_gap(const struct maker *maker, FW_GLOBAL const struct lockstep_application *a,
                          struct source_memory *memory, struct random *random)
{
    return injection_ticks(injection_gap(a->injection_kind, &maker->injection, memory->bytes, false, random), a->cycle);
}

/* A message that is to be cut into packets. */
struct order {
    tick_t made, started; /* of an answer: when its request was made */
    uint32_t application, to, flits;
    uint32_t transaction; /* the number of the request; of a message that is none its own */
    uint32_t tag;
    bool is_sampled, is_answer;
};

/* The next message of a source, by its random stream; false: the pattern keeps it silent. */
FW_INLINE bool draw_order(const struct memory *m, const struct maker *maker,
                          FW_GLOBAL const struct lockstep_source *source,
                          FW_GLOBAL const struct lockstep_application *a, struct random *random, struct order *order)
{
    uint32_t to = traffic_destination(a->traffic_kind, &maker->traffic, source->rank, random);
    order->tag = 0;
    order->application = source->application;
    order->is_answer = false;
    if (to == FW_NONE)
        return false;
    order->flits = request_flits(a->size_kind, &maker->size, random, &order->tag);
    order->to = ((FW_GLOBAL const uint32_t *)(m->tables + a->terminals_at))[to];
    return true;
}

/* ---- packets ---- */

/* Places go by number, then by terminal: those that are in use, the lowest, lie close together. */
FW_INLINE size_t place_word(const struct memory *m, uint32_t terminal, uint32_t word)
{
    return (size_t)word * FACT(terminals) + terminal;
}

/* One of a terminal's `each` places, of packets or messages. Others may give some back meanwhile, so it is read atomically. */
FW_INLINE uint32_t take_place(const struct memory *m, FW_GLOBAL uint32_t *free_places, uint64_t each, uint32_t terminal)
{
    for (uint32_t word = 0; word < each / 32; word++) {
        volatile FW_GLOBAL uint *places = (volatile FW_GLOBAL uint *)&free_places[place_word(m, terminal, word)];
        uint32_t free_ones = atomic_or(places, 0u), lowest = free_ones & -free_ones;
        if (!free_ones)
            continue;
        atomic_and(places, ~lowest);
        return (uint32_t)place_word(m, terminal, word * 32 + 31 - (uint32_t)clz(lowest));
    }
    *m->fault = FAULT_NO_PACKET;
    return terminal;
}

FW_INLINE void give_place(const struct memory *m, FW_GLOBAL uint32_t *free_places, uint32_t handle)
{
    uint32_t place = handle / (uint32_t)FACT(terminals), terminal = handle - place * (uint32_t)FACT(terminals);
    atomic_or((volatile FW_GLOBAL uint *)&free_places[place_word(m, terminal, place / 32)], 1u << place % 32);
}

/* A message's record, which all its packets have. */
FW_INLINE uint32_t make_record(const struct memory *m, uint32_t terminal, const struct order *order, uint32_t packets)
{
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    uint32_t place = take_place(m, m->free_messages, FACT(messages_each), terminal);
    FW_GLOBAL struct lockstep_message *message = &m->messages[place];
    message->started = order->started;
    message->number = t->sequence;
    message->flits = order->flits;
    message->packets = packets;
    message->arrived = 0;
    message->transaction = order->is_answer ? order->transaction : t->sequence;
    message->tag = order->tag;
    message->is_answer = order->is_answer;
    return place;
}

/* What all packets of a terminal begin with. */
FW_INLINE uint32_t new_packet(const struct memory *m, uint32_t terminal, uint32_t flits)
{
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    uint32_t handle = take_place(m, m->free_places, FACT(packets_each), terminal);
    FW_GLOBAL struct packet *packet = &m->packets[handle];
    packet->injected = 0;
    packet->source = terminal;
    packet->size = flits;
    packet->sequence = t->sequence++;
    packet->received = 0;
    packet->next = FW_NONE;
    packet->head_delay = 0;
    packet->hops = 0;
    packet->waypoint = 0;
    packet->route = 0;
    return handle;
}

/* The first packet of a message; what is left of it stays with the terminal. */
FW_INLINE uint32_t first_packet(const struct memory *m, uint32_t terminal, const struct order *order)
{
    FW_GLOBAL const struct lockstep_application *a = &m->applications[order->application];
    uint32_t protocol = order->is_answer ? a->reply_protocol : a->protocol, record = FW_NONE;
    uint32_t flits = order->flits;
    if (FACT(messages_each) && flits > a->plain_flits) {
        uint32_t packets = (flits - 1) / a->max_packet + 1;
        record = make_record(m, terminal, order, packets);
        if (packets > 1) {
            m->terminals[terminal].left = flits - a->max_packet;
            flits = a->max_packet;
        }
    }
    uint32_t handle = new_packet(m, terminal, flits);
    FW_GLOBAL struct packet *packet = &m->packets[handle];
    packet->created = order->made;
    packet->destination = order->to;
    packet->destination_router = ((FW_GLOBAL const uint32_t *)(m->own_tables + FACT(ejection_router_at)))[order->to];
    packet->message = record;
    packet->application = (uint8_t)order->application;
    packet->marks = (uint8_t)(order->is_sampled | protocol << 1);
    return handle;
}

/* The packet behind another of the same message. */
FW_INLINE uint32_t packet_behind(const struct memory *m, uint32_t terminal, uint32_t before)
{
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    FW_GLOBAL const struct packet *last = &m->packets[before];
    uint32_t most = m->applications[last->application].max_packet, flits = t->left < most ? t->left : most;
    uint32_t handle = new_packet(m, terminal, flits);
    FW_GLOBAL struct packet *packet = &m->packets[handle];
    t->left -= flits;
    packet->created = last->created;
    packet->destination = last->destination;
    packet->destination_router = last->destination_router;
    packet->message = last->message;
    packet->application = last->application;
    packet->marks = last->marks;
    return handle;
}

/* ---- what waits ---- */

/*
 * Of the messages of a source that wait without a packet the first gets one. Its random stream is taken up where that was
 * made, and goes on to where the next one was, over those that its pattern kept silent.
 */
FW_INLINE uint32_t make_waiting(const struct memory *m, uint32_t terminal, FW_GLOBAL struct lockstep_source *source,
                                bool is_sampled)
{
    FW_GLOBAL const struct lockstep_application *a = &m->applications[source->application];
    const struct maker maker = maker_of(m, a);
    struct random random = source->waits;
    struct source_memory memory = source->waits_memory;
    tick_t made = source->waits_at;
    struct order order = {.made = made, .started = made, .is_sampled = is_sampled};
    draw_order(m, &maker, source, a, &random, &order);
    uint32_t handle = first_packet(m, terminal, &order);
    for (source->waiting--; source->waiting;) {
        made += draw_gap(&maker, a, &memory, &random);
        struct random next = random;
        if (traffic_destination(a->traffic_kind, &maker.traffic, source->rank, &next) != FW_NONE)
            break;
        random = next;
    }
    source->waits = random;
    source->waits_at = made;
    source->waits_memory = memory;
    return handle;
}

FW_INLINE FW_GLOBAL struct lockstep_answer *answer_at(const struct memory *m, uint32_t terminal, uint32_t number)
{
    size_t room = (size_t)m->facts->answers_mask + 1;
    return &m->answers[terminal * room + (number & m->facts->answers_mask)];
}

/* The first answer that waits gets its packet. */
FW_INLINE uint32_t make_answer(const struct memory *m, uint32_t terminal)
{
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    FW_GLOBAL const struct lockstep_answer *answer = answer_at(m, terminal, t->first_answer++);
    const struct order order = {.made = answer->due,
                                .started = answer->started,
                                .application = answer->application,
                                .to = answer->source,
                                .flits = answer->flits,
                                .transaction = answer->transaction,
                                .tag = answer->tag,
                                .is_sampled = answer->is_sampled,
                                .is_answer = true};
    t->answers--;
    return first_packet(m, terminal, &order);
}

/* The first of all that waits at a terminal gets a packet; FW_NONE: nothing waits. */
FW_INLINE uint32_t make_first_waiting(const struct memory *m, uint32_t terminal, const struct lockstep_phase *phase)
{
    FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[terminal];
    FW_GLOBAL struct lockstep_source *first = 0;
    for (uint32_t i = 0; i < t->sources; i++) {
        FW_GLOBAL struct lockstep_source *source = &m->sources[t->first_source + i];
        if (source->waiting && (!first || source->waits_at < first->waits_at))
            first = source;
    }
    if (FACT(listeners) && t->answers && (!first || answer_at(m, terminal, t->first_answer)->due <= first->waits_at))
        return make_answer(m, terminal);
    return first ? make_waiting(m, terminal, first, is_in_window(phase, first->waits_at)) : FW_NONE;
}

/*
 * Is the packet behind this one of the same message not in the queue yet? The message that is just being made is the last of
 * all, and the program puts its packets into the queue one by one: what channels take depends on it.
 */
FW_INLINE bool is_hidden(const struct interfaces *n, uint32_t terminal, uint32_t handle)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[terminal];
    uint32_t most = m->applications[m->packets[handle].application].max_packet;
    bool something_waits = t->answers;
    for (uint32_t i = 0; i < t->sources; i++)
        something_waits |= m->sources[t->first_source + i].waiting > 0;
    return n->hidden && !something_waits && (t->left - 1) / most + 1 <= n->hidden;
}

/* Of what waits in the source queue the front alone has a packet. */
FW_INLINE void source_queue_put(struct interfaces *n, uint32_t number, FW_GLOBAL struct packet_queue *queue,
                                uint32_t handle)
{
    (void)n, (void)number;
    queue->first = handle;
}
FW_INLINE uint32_t source_queue_take(struct interfaces *n, uint32_t number, FW_GLOBAL struct packet_queue *queue)
{
    const struct memory *m = n->network->memory;
    uint32_t handle = queue->first;
    n->last = handle;
    if (FACT(messages_each) && m->terminals[number].left)
        queue->first = is_hidden(n, number, handle) ? FW_NONE : packet_behind(m, number, handle);
    else
        queue->first = make_first_waiting(m, number, n->phase);
    return handle;
}

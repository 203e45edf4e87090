/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. By nobody else: Messages are made by sources, and as answers to those that have arrived. */
#include "device/kernels.h"

FW_INLINE void count_made(const struct memory *m, uint32_t terminal, const struct order *order, tick_t now)
{
    FW_GLOBAL const struct lockstep_application *a = &m->applications[order->application];
    FW_GLOBAL struct lockstep_counts *counts = counts_of(m, order->application, terminal);
    uint32_t packets = FACT(messages_each) ? (order->flits - 1) / a->max_packet + 1 : 1;
    counts->created_packets += packets;
    counts->created_flits += order->flits;
    counts->sampled_created += order->is_sampled ? packets : 0;
    if (FACT(listeners) && order->is_answer)
        counts->answered_flits += order->flits;
    else if (FACT(listeners) && order->is_sampled)
        counts->transactions_begun += a->listener != 0;
    watch_made(m, terminal, order->application, packets, order->flits, now);
}

/* A packet comes to the empty queue: what enqueue_packet() does. */
FW_INLINE void enqueue(struct interfaces *n, uint32_t terminal, uint32_t handle, tick_t now)
{
    FW_GLOBAL struct outlet *outlet = &n->outlets[terminal];
    n->last = handle;
    if (send_at_once(n, terminal, handle, now, MOVES_CHUNKS))
        return;
    source_queue_put(n, terminal, &outlet->source, handle);
    if (outlet->step_at > now)
        step_channels(n, terminal, now, MOVES_CHUNKS);
}

/* A packet comes behind others. */
FW_INLINE void enqueue_behind(struct interfaces *n, uint32_t terminal, tick_t now)
{
    if (n->outlets[terminal].step_at > now)
        step_channels(n, terminal, now, MOVES_CHUNKS);
}

/* A message begins to come to the queue: its first packet goes, if nothing waits before it; false: it has to wait. */
FW_INLINE bool send_first(struct interfaces *n, uint32_t terminal, const struct order *order, tick_t now)
{
    const struct memory *m = n->network->memory;
    if (FACT(messages_each))
        n->hidden = (order->flits - 1) / m->applications[order->application].max_packet;
    if (n->outlets[terminal].source.first != FW_NONE)
        return false;
    enqueue(n, terminal, first_packet(m, terminal, order), now);
    return true;
}

/* The other packets of a message, one by one, until one sees that nothing goes any more. */
FW_INLINE void send_others(struct interfaces *n, uint32_t terminal, tick_t now)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL const struct packet_queue *queue = &n->outlets[terminal].source;
    while (FACT(messages_each) && n->hidden) {
        uint32_t front = queue->first;
        n->hidden--;
        if (front == FW_NONE)
            enqueue(n, terminal, packet_behind(m, terminal, n->last), now);
        else
            enqueue_behind(n, terminal, now);
        if (front != FW_NONE && queue->first == front)
            n->hidden = 0;
    }
}

/* A message is made and its packet goes out, or waits; it has none while others wait before it. */
FW_INLINE void send_message(struct interfaces *n, uint32_t terminal, FW_GLOBAL struct lockstep_source *source,
                            FW_GLOBAL const struct lockstep_application *a, const struct maker *maker,
                            struct random *random, const struct source_memory *memory, tick_t now, bool is_sampled)
{
    const struct memory *m = n->network->memory;
    const struct random before = *random;
    struct order order = {.made = now, .started = now, .is_sampled = is_sampled};
    if (!draw_order(m, maker, source, a, random, &order))
        return;
    count_made(m, terminal, &order, now);
    if (!send_first(n, terminal, &order, now)) {
        if (source->waiting++ == 0) {
            source->waits = before;
            source->waits_at = now;
            source->waits_memory = *memory;
        }
        enqueue_behind(n, terminal, now);
    }
    send_others(n, terminal, now);
}

/* A source's timer goes off. */
FW_INLINE void wake_source(struct interfaces *n, uint32_t terminal, FW_GLOBAL struct lockstep_source *source,
                           tick_t now)
{
    const struct memory *m = n->network->memory;
    source->wake_at = FW_NEVER;
    m->terminals[terminal].events++;
    if (n->phase->is_draining)
        return;
    FW_GLOBAL const struct lockstep_application *a = &m->applications[source->application];
    const struct maker maker = maker_of(m, a);
    struct random random = source->made;
    struct source_memory memory = source->memory;
    tick_t gap;
    do {
        send_message(n, terminal, source, a, &maker, &random, &memory, now, is_in_window(n->phase, now));
        gap = draw_gap(&maker, a, &memory, &random);
    } while (gap == 0);
    source->wake_at = now + gap;
    source->made = random;
    source->memory = memory;
}

/* ---- answers ---- */

FW_INLINE FW_GLOBAL struct lockstep_ring *heard_ring(const struct memory *m, uint32_t listener, uint32_t terminal)
{
    return &m->heard_rings[(size_t)(listener - 1) * FACT(terminals) + terminal];
}
FW_INLINE FW_GLOBAL struct lockstep_answer *heard_at(const struct memory *m, FW_GLOBAL const struct lockstep_ring *ring,
                                                     uint32_t number)
{
    size_t room = (size_t)m->facts->heard_mask + 1;
    return &m->heard[(size_t)(ring - m->heard_rings) * room + (number & m->facts->heard_mask)];
}

static inline bool comes_before(FW_GLOBAL const struct lockstep_answer *a, FW_GLOBAL const struct lockstep_answer *b)
{
    return a->source < b->source || (a->source == b->source && a->number < b->number);
}

/* A message has arrived of which its application will hear. Those that it hears of in one tick come by source and number. */
FW_INLINE void note_heard(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                          FW_GLOBAL const struct lockstep_message *message, tick_t now)
{
    FW_GLOBAL const struct lockstep_application *a = &m->applications[packet->application];
    FW_GLOBAL struct lockstep_ring *ring = heard_ring(m, a->listener, terminal);
    uint32_t at = ring->first + ring->count++;
    struct lockstep_answer answer = {.due = now + a->receive_delay,
                                     .started = message->started,
                                     .source = packet->source,
                                     .number = message->number,
                                     .transaction = message->transaction,
                                     .tag = message->tag,
                                     .application = packet->application,
                                     .is_sampled = packet_is_sampled(packet),
                                     .is_answer = (uint8_t)message->is_answer};
    *heard_at(m, ring, at) = answer;
    for (; at != ring->first; at--) {
        FW_GLOBAL struct lockstep_answer *last = heard_at(m, ring, at), *before = heard_at(m, ring, at - 1);
        if (before->due < last->due || comes_before(before, last))
            break;
        *last = *before;
        *before = answer;
    }
}

/* An application hears of a message, and answers it. */
FW_INLINE void hear(struct interfaces *n, uint32_t terminal, FW_GLOBAL const struct lockstep_answer *heard, tick_t now)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    FW_GLOBAL const struct lockstep_application *a = &m->applications[heard->application];
    t->events++;
    if (heard->is_answer || n->phase->is_draining)
        return;
    const struct size size = {.config = m->tables + a->reply_config_at,
                              .state = m->tables + a->reply_state_at,
                              .tables = m->tables,
                              .max = a->reply_max};
    struct random random = random_stream(a->seed, (uint64_t)heard->source << 32 | heard->number, RANDOM_REPLY);
    struct lockstep_answer answer = *heard;
    answer.flits = a->replies_by_request ? reply_flits(a->reply_kind, &size, answer.tag)
                                         : size_draw(a->reply_kind, &size, &random);
    const struct order order = {.made = now,
                                .started = answer.started,
                                .application = answer.application,
                                .to = answer.source,
                                .flits = answer.flits,
                                .transaction = answer.transaction,
                                .tag = answer.tag,
                                .is_sampled = answer.is_sampled,
                                .is_answer = true};
    count_made(m, terminal, &order, now);
    if (!send_first(n, terminal, &order, now)) {
        *answer_at(m, terminal, t->first_answer + t->answers++) = answer;
        enqueue_behind(n, terminal, now);
    }
    send_others(n, terminal, now);
}

/* All that applications hear of in this tick; false: nothing. */
FW_INLINE bool hear_all(struct interfaces *n, uint32_t terminal, tick_t now)
{
    const struct memory *m = n->network->memory;
    bool has_heard = false;
    for (;;) {
        FW_GLOBAL struct lockstep_ring *first = 0;
        for (uint32_t listener = 1; listener <= FACT(listeners); listener++) {
            FW_GLOBAL struct lockstep_ring *ring = heard_ring(m, listener, terminal);
            if (ring->count && heard_at(m, ring, ring->first)->due == now &&
                (!first || comes_before(heard_at(m, ring, ring->first), heard_at(m, first, first->first))))
                first = ring;
        }
        if (!first)
            return has_heard;
        hear(n, terminal, heard_at(m, first, first->first), now);
        first->first++;
        first->count--;
        has_heard = true;
    }
}

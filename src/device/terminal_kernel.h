/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: A terminal's tick: what arrives is counted, messages are made, packets enter. The
 * channels are those of the standard interface.
 */
#include "device/kernels.h"
#include "device/watch_kernel.h"

struct interfaces {
    const struct network *network;
    const struct lockstep_phase *phase;
    tick_t now;
    struct {
        uint32_t injection_vcs;
    } config;
    uint32_t num_vcs, channels, lanes;
    uint64_t all_vcs;
    tick_t channel_cycle;
    FW_GLOBAL struct outlet *outlets;
    FW_GLOBAL struct injector *injectors;
    FW_GLOBAL uint32_t *credits;
    /* While a message is made: how many packets of it are not in the queue yet, and the last that was. */
    uint32_t hidden, last;
};

FW_INLINE FW_GLOBAL uint32_t *injector_credits(const struct interfaces *n, FW_GLOBAL const struct injector *injector)
{
    size_t number = (size_t)(injector - n->injectors), outlet = number / n->channels;
    return n->credits + outlet * n->lanes + (number - outlet * n->channels) * n->num_vcs;
}
FW_INLINE bool has_injection_vcs(const struct interfaces *n)
{
    (void)n;
    return HAS_INJECTION_VCS;
}
FW_INLINE uint64_t injection_vcs_of(const struct interfaces *n, FW_GLOBAL const struct packet *packet)
{
    return INJECTION_VCS(&n->network->routing, packet);
}
FW_INLINE uint32_t piece_flits(const struct interfaces *n, FW_GLOBAL const struct packet *packet, uint32_t position,
                               bool chunks)
{
    return chunks ? transfer_flits(&n->network->plan.transfer, packet, position) : 1;
}
FW_INLINE FW_GLOBAL struct lockstep_counts *counts_of(const struct memory *m, uint32_t application, uint32_t terminal)
{
    return &m->counts[(size_t)application * FACT(terminals) + terminal];
}
FW_INLINE void begin_route(struct interfaces *n, FW_GLOBAL struct packet *packet, uint32_t router, tick_t now)
{
    packet->injected = now;
    counts_of(n->network->memory, packet->application, packet->source)->entered++;
    struct route question = {
        .routing = &n->network->routing, .packet = packet, .router = router, .draws = INJECTION_DRAWS, .now = now};
    INJECT(&question);
}
/* Of a terminal's channel, by its number among all. */
FW_INLINE FW_GLOBAL struct lockstep_sending *entry_of(const struct memory *m, size_t number)
{
    size_t terminal = number / FACT(channels);
    return &m->sending[terminal_port(m, (uint32_t)terminal, (uint32_t)(number - terminal * FACT(channels)))];
}
FW_INLINE void put_entry(const struct memory *m, FW_GLOBAL const struct injector *injector, uint64_t word, tick_t now)
{
    size_t port = router_port(m, injector->to.target, injector->to.lane / (uint32_t)FACT(num_vcs));
    put_word(m, port, word, now + injector->latency);
}
FW_INLINE void send_piece(struct interfaces *n, FW_GLOBAL const struct injector *injector, struct flit unit,
                          uint32_t flits, tick_t now)
{
    const struct memory *m = n->network->memory;
    watch_entry(m, injector, &m->packets[unit.packet], flits, now);
    uint64_t word = flit_word(unit, injector->vc);
    tick_t lag = FACT(enters_late) ? (tick_t)(flits - 1) * injector->lag : 0;
    if (lag) {
        FW_GLOBAL struct lockstep_sending *sending = entry_of(m, (size_t)(injector - n->injectors));
        sending->flit = word;
        sending->flit_at = now + lag;
    } else {
        put_entry(m, injector, word, now);
    }
}
/* What has been sent and was to be told of later. */
FW_INLINE void send_entries(const struct interfaces *n, uint32_t terminal, tick_t now)
{
    for (uint32_t channel = 0; channel < n->channels; channel++) {
        size_t number = (size_t)terminal * n->channels + channel;
        FW_GLOBAL struct lockstep_sending *sending = entry_of(n->network->memory, number);
        if (!sending->flit || sending->flit_at != now)
            continue;
        put_entry(n->network->memory, &n->injectors[number], sending->flit, now);
        sending->flit = 0;
    }
}
/* The next arrival at a router of what is not in its ring yet. */
FW_INLINE tick_t next_entry(const struct memory *m, uint32_t terminal, tick_t *due)
{
    tick_t next = FW_NEVER;
    for (uint32_t channel = 0; FACT(enters_late) && channel < FACT(channels); channel++) {
        size_t number = (size_t)terminal * FACT(channels) + channel;
        FW_GLOBAL const struct lockstep_sending *sending = entry_of(m, number);
        if (!sending->flit)
            continue;
        tick_t arrival = sending->flit_at + m->injectors[number].latency;
        next = arrival < next ? arrival : next;
        *due = sending->flit_at < *due ? sending->flit_at : *due;
    }
    return next;
}
/* Steps are counted when they have been done, which those for later may never be: see count_all(). */
FW_INLINE void step_later(struct interfaces *n, uint32_t number, tick_t when)
{
    const struct memory *m = n->network->memory;
    size_t channel = (size_t)number * n->channels;
    while (n->injectors[channel].free_at != when)
        channel++;
    if (m->later[channel].when != when) {
        m->terminals[number].events += m->later[channel].count;
        m->later[channel].when = when;
        m->later[channel].count = 0;
    }
    m->later[channel].count++;
}
FW_INLINE void outlet_wake(struct interfaces *n, uint32_t number, tick_t when)
{
    FW_GLOBAL struct outlet *outlet = &n->outlets[number];
    if (when >= outlet->step_at)
        return;
    outlet->step_at = when;
    if (when > n->now)
        step_later(n, number, when);
    else
        n->network->memory->terminals[number].events++;
}

#include "device/source_kernel.h"

#undef FAULT_OF
#define FAULT_OF (n->network->memory->fault)
#include "network/interface/standard_channels.h"

#include "device/message_kernel.h"

/* ---- what arrives ---- */

FW_INLINE void widen(FW_GLOBAL uint64_t *least, FW_GLOBAL uint64_t *most, uint64_t value, bool is_first)
{
    if (is_first || value < *least)
        *least = value;
    if (is_first || value > *most)
        *most = value;
}

FW_INLINE void count_in(const struct memory *m, uint32_t terminal, uint32_t application, uint32_t histogram,
                        uint64_t value)
{
    size_t copy = (size_t)application * HISTOGRAM_COPIES + terminal % HISTOGRAM_COPIES;
    atom_inc(&m->histograms[(copy * LOCKSTEP_HISTOGRAMS + histogram) * HISTOGRAM_BUCKETS + histogram_index(value)]);
}

/* Channels on a shortest way for a packet. */
FW_INLINE uint32_t minimal_hops(const struct memory *m, FW_GLOBAL const struct packet *packet)
{
    uint32_t from = m->injectors[(size_t)packet->source * FACT(channels)].to.target, to = packet->destination_router;
    if (FACT(grid_at))
        return grid_hops((FW_GLOBAL const struct grid *)(m->own_tables + FACT(grid_at)), from, to);
    return m->distances[(size_t)from * FACT(routers) + to];
}

/* A sampled packet has arrived, perhaps not by a minimal way. */
FW_INLINE void count_detour(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                            FW_GLOBAL struct lockstep_counts *counts)
{
    uint32_t least = minimal_hops(m, packet), hops = packet->hops;
    if (hops <= least)
        return;
    bool is_first = counts->nonminimal++ == 0;
    counts->detours_sum += hops;
    counts->shortcuts_sum += least;
    widen(&counts->least_detour, &counts->most_detour, hops, is_first);
    widen(&counts->least_shortcut, &counts->most_shortcut, least, is_first);
    count_in(m, terminal, packet->application, HISTOGRAM_DETOURS, hops);
    count_in(m, terminal, packet->application, HISTOGRAM_SHORTCUTS, least);
}

/* A sampled packet has arrived as a whole. What began it `started` in the window: of an answer that is its request. */
FW_INLINE void count_sampled(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                             FW_GLOBAL struct lockstep_counts *counts, tick_t now, tick_t started,
                             const struct lockstep_phase *phase)
{
    uint64_t latency = now - packet->created, network = now - packet->injected, moment = started - phase->window_start;
    bool is_first = counts->sampled_delivered++ == 0;
    counts->sampled_sum += latency;
    counts->network_sum += network;
    counts->hops_sum += packet->hops;
    widen(&counts->least_latency, &counts->most_latency, latency, is_first);
    widen(&counts->least_network, &counts->most_network, network, is_first);
    if (is_first || packet->hops < counts->least_hops)
        counts->least_hops = packet->hops;
    if (is_first || packet->hops > counts->most_hops)
        counts->most_hops = packet->hops;
    count_in(m, terminal, packet->application, HISTOGRAM_LATENCY, latency);
    count_in(m, terminal, packet->application, HISTOGRAM_NETWORK, network);
    count_in(m, terminal, packet->application, HISTOGRAM_HOPS, packet->hops);
    if (FACT(measures_detours))
        count_detour(m, terminal, packet, counts);
    if (moment < FACT(bins)) {
        FW_GLOBAL struct lockstep_bin *bin = &m->bins[(size_t)packet->application * FACT(bins) + moment];
        atom_add(&bin->sum, latency);
        atom_inc(&bin->count);
    } else {
        *m->fault = FAULT_WINDOW;
    }
    struct digest digest = {{counts->digest[0], counts->digest[1]}};
    packet_record(&digest, packet, now);
    counts->digest[0] = digest.lanes[0];
    counts->digest[1] = digest.lanes[1];
}

/* A sampled message has arrived as a whole. */
FW_INLINE void count_message(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                             FW_GLOBAL struct lockstep_counts *counts, tick_t now)
{
    uint64_t latency = now - packet->created;
    bool is_first = counts->sampled_messages++ == 0;
    counts->message_sum += latency;
    widen(&counts->least_message, &counts->most_message, latency, is_first);
    count_in(m, terminal, packet->application, HISTOGRAM_MESSAGE, latency);
}

/* The last packet of a message has arrived; what is kept of it goes to those who will hear of it. */
FW_INLINE void end_message(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                           FW_GLOBAL struct lockstep_counts *counts, tick_t now)
{
    FW_GLOBAL const struct lockstep_message *message = &m->messages[packet->message];
    uint64_t whole = now - message->started;
    if (packet_is_sampled(packet))
        count_message(m, terminal, packet, counts, now);
    if (packet_is_sampled(packet) && message->is_answer) {
        bool is_first = counts->transactions_ended++ == 0;
        counts->transaction_sum += whole;
        widen(&counts->least_transaction, &counts->most_transaction, whole, is_first);
        count_in(m, terminal, packet->application, HISTOGRAM_TRANSACTION, whole);
    }
    if (m->applications[packet->application].listener)
        note_heard(m, terminal, packet, message, now);
}

/* Of a packet that belongs to a message of several, or to one that is answered; returns the record if nobody needs it any more. */
FW_INLINE uint32_t count_of_message(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                                    FW_GLOBAL struct lockstep_counts *counts, tick_t now)
{
    FW_GLOBAL struct lockstep_message *message = &m->messages[packet->message];
    if (++message->arrived < message->packets)
        return FW_NONE;
    end_message(m, terminal, packet, counts, now);
    return packet->message;
}

/* Places that are free a tick later; FW_NONE: none. */
struct freed {
    uint32_t packet, message;
};

/* Flits arrive, the last of them now: they must be those that are due. Returns what has arrived as a whole. */
FW_INLINE struct freed arrive(const struct interfaces *n, uint32_t terminal, struct flit flit, uint32_t flits,
                              tick_t now, const struct lockstep_phase *phase)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL struct packet *packet = &m->packets[flit.packet];
    uint32_t position = flit.place & FLIT_POSITION, received = packet->received;
    FW_CHECK(packet->destination == terminal, "a packet at another terminal than its own");
    FW_CHECK(received == position, "a flit out of turn");
    packet->received = received + flits;
    if (flit.place & FLIT_HEAD)
        packet->head_delay = (uint32_t)(now - (flits - 1) * n->channel_cycle - packet->injected);
    FW_GLOBAL struct lockstep_counts *counts = counts_of(m, packet->application, terminal);
    counts->accepted_flits += flits;
    atom_add(&m->accepted_from[(size_t)packet->application * FACT(terminals) + packet->source], (ulong)flits);
    struct freed freed = {FW_NONE, FW_NONE};
    watch_arrival(m, terminal, packet, flits, now);
    if (!(flit.place & FLIT_TAIL))
        return freed;
    FW_CHECK(received + flits == packet->size, "a packet that ends too early");
    counts->delivered_packets++;
    counts->latency_sum += now - packet->created;
    watch_packet(m, packet, now);
    bool has_message = FACT(messages_each) && packet->message != FW_NONE;
    if (packet_is_sampled(packet)) {
        tick_t started = has_message ? m->messages[packet->message].started : packet->created;
        count_sampled(m, terminal, packet, counts, now, started, phase);
        if (FACT(messages_each) && !has_message)
            count_message(m, terminal, packet, counts, now);
    }
    freed.packet = flit.packet;
    if (has_message)
        freed.message = count_of_message(m, terminal, packet, counts, now);
    return freed;
}

/* What was freed a tick ago may be given out again; what is freed now has its turn. */
FW_INLINE void exchange_place(const struct memory *m, FW_GLOBAL uint32_t *freed, FW_GLOBAL uint32_t *all_free,
                              uint32_t place)
{
    uint32_t before = *freed;
    if (before != FW_NONE)
        give_place(m, all_free, before);
    if (before != place)
        *freed = place;
}

/* Places of packets that arrived a tick ago are free: whoever took one then might have written while it was read. */
FW_INLINE uint32_t receive_flits(struct interfaces *n, uint32_t terminal, tick_t now,
                                 const struct lockstep_phase *phase)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL const struct outlet *outlet = &n->outlets[terminal];
    uint32_t events = 0;
    for (uint32_t port = 0; port < FACT(ejection_channels); port++) {
        size_t number = (size_t)terminal * FACT(terminal_ports) + port;
        uint64_t word = take_flit(m, slot_of(m, now, terminal_port(m, terminal, port)));
        struct freed arrived = {FW_NONE, FW_NONE};
        if (word) {
            uint32_t vc = slot_vc(word);
            uint32_t lane = outlet->ejector.lane + port * n->num_vcs + vc;
            size_t back = router_port(m, outlet->ejector.target, lane / n->num_vcs);
            const struct flit flit = slot_flit(word);
            uint32_t flits = piece_flits(n, &m->packets[flit.packet], flit.place & FLIT_POSITION, MOVES_CHUNKS);
            if (MOVES_CHUNKS)
                put_credits(m, back, vc, flits, now + outlet->latency);
            else
                put_credit(m, back, vc, now + outlet->latency);
            arrived = arrive(n, terminal, flit, flits, now, phase);
            events++;
        }
        exchange_place(m, &m->freed[number], m->free_places, arrived.packet);
        if (FACT(messages_each))
            exchange_place(m, &m->freed_messages[number], m->free_messages, arrived.message);
    }
    return events;
}

FW_INLINE uint32_t receive_credits(struct interfaces *n, uint32_t terminal, tick_t now)
{
    const struct memory *m = n->network->memory;
    uint32_t events = 0;
#if MOVES_CHUNKS
    for (uint32_t lane = 0; lane < n->channels * n->num_vcs; lane++) {
        size_t slot = slot_of(m, now, terminal_port(m, terminal, lane / n->num_vcs));
        uint64_t word = take_credits_of(m, slot, lane % n->num_vcs);
        const struct lane_place to = {terminal, lane};
        if (word)
            outlet_receive_credit(n, to, slot_credits(word), now);
        events += slot_events(word);
    }
#else
    for (uint32_t port = 0; port < n->channels; port++) {
        uint64_t vcs = take_credits(m, slot_of(m, now, terminal_port(m, terminal, port)));
        for (; vcs; vcs &= vcs - 1, events++) {
            const struct lane_place to = {terminal, port * n->num_vcs + (uint32_t)lowest_bit(vcs)};
            outlet_receive_credit(n, to, 1, now);
        }
    }
#endif
    return events;
}

FW_INLINE struct interfaces interfaces_of(const struct memory *m, const struct network *network,
                                          const struct lockstep_phase *phase, tick_t now)
{
    return (struct interfaces){
        .network = network,
        .phase = phase,
        .now = now,
        .config = {.injection_vcs = FACT(injection_vcs)},
        .num_vcs = FACT(num_vcs),
        .channels = FACT(channels),
        .lanes = FACT(outlet_lanes),
        .all_vcs = FACT(all_vcs),
        .channel_cycle = FACT(channel_cycle),
        .outlets = m->outlets,
        .injectors = m->injectors,
        .credits = m->outlet_credits,
    };
}

/* As routers do. */
FW_INLINE void terminal_read_ahead(const struct memory *m, uint32_t terminal, tick_t now)
{
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    size_t slot = slot_of(m, now, terminal_port(m, terminal, 0));
    uint64_t word = m->flits[slot], sum = m->outlets[terminal].step_at + m->credits[credits_place(m, slot, 0)];
    sum += t->sources ? m->sources[t->first_source].wake_at : 0;
    sum += word ? m->packets[slot_flit(word).packet].created : 0;
    if (sum == NEVER_READ)
        t->unused = 1;
}

FW_INLINE void terminal_tick(const struct memory *m, uint32_t terminal, tick_t now, const struct lockstep_phase *phase)
{
    const struct network network = network_of(m);
    struct interfaces interfaces = interfaces_of(m, &network, phase, now), *n = &interfaces;
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    terminal_read_ahead(m, terminal, now);
    if (FACT(enters_late))
        send_entries(n, terminal, now);
    uint32_t events = receive_flits(n, terminal, now, phase);
    events += receive_credits(n, terminal, now);
    bool is_active = events > 0;
    if (FACT(listeners) && hear_all(n, terminal, now))
        is_active = true;
    for (uint32_t i = 0; i < t->sources; i++) {
        FW_GLOBAL struct lockstep_source *source = &m->sources[t->first_source + i];
        if (source->wake_at != now)
            continue;
        wake_source(n, terminal, source, now);
        is_active = true;
    }
    if (n->outlets[terminal].step_at == now) {
        n->outlets[terminal].step_at = FW_NEVER;
        step_channels(n, terminal, now, MOVES_CHUNKS);
        is_active = true;
    }
    if (!is_active)
        return;
    t->events += events;
    t->last_event = now;
}

FW_INLINE void terminal_drop_timers(const struct memory *m, uint32_t terminal)
{
    FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[terminal];
    for (uint32_t i = 0; i < t->sources; i++)
        m->sources[t->first_source + i].wake_at = FW_NEVER;
}

/* What waits never enters. */
FW_INLINE void terminal_withdraw(const struct memory *m, uint32_t terminal)
{
    FW_GLOBAL struct packet_queue *queue = &m->outlets[terminal].source;
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    if (queue->first != FW_NONE)
        give_place(m, m->free_places, queue->first);
    queue->first = FW_NONE;
    t->left = 0;
    t->answers = 0;
    for (uint32_t i = 0; i < t->sources; i++)
        m->sources[t->first_source + i].waiting = 0;
}

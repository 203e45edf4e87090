/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: A terminal's tick: what arrives is counted, messages are made, packets enter. The
 * channels are those of the standard interface.
 */
#include "device/kernels.h"

struct interfaces {
    const struct network *network;
    const struct lockstep_phase *phase;
    struct {
        uint32_t injection_vcs;
    } config;
    uint32_t num_vcs, channels, lanes;
    uint64_t all_vcs;
    tick_t channel_cycle;
    FW_GLOBAL struct outlet *outlets;
    FW_GLOBAL struct injector *injectors;
    FW_GLOBAL uint32_t *credits;
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
    (void)n, (void)packet, (void)position, (void)chunks;
    return 1;
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
FW_INLINE void send_piece(struct interfaces *n, FW_GLOBAL const struct injector *injector, struct flit unit,
                          uint32_t flits, tick_t now)
{
    const struct memory *m = n->network->memory;
    (void)flits;
    size_t port = router_port(m, injector->to.target, injector->to.lane / n->num_vcs);
    put_flit(m, port, injector->vc, unit, now + injector->latency);
}
FW_INLINE void outlet_wake(struct interfaces *n, uint32_t number, tick_t when)
{
    FW_GLOBAL struct outlet *outlet = &n->outlets[number];
    if (when >= outlet->step_at)
        return;
    outlet->step_at = when;
    n->network->memory->terminals[number].events++;
}

/* ---- packets of a terminal's region ---- */

/* Places go by number, then by terminal: those that are in use, the lowest, lie close together. */
FW_INLINE size_t place_word(const struct memory *m, uint32_t terminal, uint32_t word)
{
    return (size_t)word * FACT(terminals) + terminal;
}

FW_INLINE uint32_t take_place(const struct memory *m, uint32_t terminal)
{
    for (uint32_t word = 0; word < FACT(packets_each) / 32; word++) {
        FW_GLOBAL uint32_t *places = &m->free_places[place_word(m, terminal, word)];
        uint32_t free_ones = *places, lowest = free_ones & -free_ones;
        if (!free_ones)
            continue;
        atomic_and((volatile FW_GLOBAL uint *)places, ~lowest);
        return (uint32_t)place_word(m, terminal, word * 32 + 31 - (uint32_t)clz(lowest));
    }
    *m->fault = FAULT_NO_PACKET;
    return terminal;
}

FW_INLINE void give_place(const struct memory *m, uint32_t handle)
{
    uint32_t place = handle / (uint32_t)FACT(terminals), terminal = handle - place * (uint32_t)FACT(terminals);
    atomic_or((volatile FW_GLOBAL uint *)&m->free_places[place_word(m, terminal, place / 32)], 1u << place % 32);
}

/* ---- messages ---- */

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

#define MAX_GAP ((uint64_t)1 << 40)

/* Ticks to the next message. */
FW_INLINE tick_t draw_gap(const struct maker *maker, FW_GLOBAL const struct lockstep_application *a,
                          struct source_memory *memory, struct random *random)
{
    uint64_t cycles = injection_gap(a->injection_kind, &maker->injection, memory->bytes, false, random);
    return cycles < MAX_GAP ? cycles * a->cycle : MAX_GAP;
}

/* A packet of the terminal's region, for a message that was made at a moment. */
FW_INLINE uint32_t make_packet(const struct memory *m, uint32_t terminal,
                               FW_GLOBAL const struct lockstep_source *source,
                               FW_GLOBAL const struct lockstep_application *a, uint32_t to_rank, uint32_t flits,
                               tick_t made, bool is_sampled)
{
    uint32_t handle = take_place(m, terminal);
    uint32_t to = ((FW_GLOBAL const uint32_t *)(m->tables + a->terminals_at))[to_rank];
    FW_GLOBAL struct packet *packet = &m->packets[handle];
    packet->created = made;
    packet->injected = 0;
    packet->source = terminal;
    packet->destination = to;
    packet->destination_router = ((FW_GLOBAL const uint32_t *)(m->tables + FACT(ejection_router_at)))[to];
    packet->size = flits;
    packet->sequence = m->terminals[terminal].sequence++;
    packet->received = 0;
    packet->message = FW_NONE;
    packet->next = FW_NONE;
    packet->head_delay = 0;
    packet->hops = 0;
    packet->application = (uint8_t)source->application;
    packet->marks = (uint8_t)(is_sampled | a->protocol << 1);
    packet->waypoint = 0;
    packet->route = 0;
    return handle;
}

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
    uint32_t to = traffic_destination(a->traffic_kind, &maker.traffic, source->rank, &random);
    uint32_t flits = size_draw(a->size_kind, &maker.size, &random);
    uint32_t handle = make_packet(m, terminal, source, a, to, flits, made, is_sampled);
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

/* The first of all messages that wait at a terminal: by time, and of one tick by the order of its sources. */
FW_INLINE FW_GLOBAL struct lockstep_source *first_waiting(const struct memory *m, uint32_t terminal)
{
    FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[terminal];
    FW_GLOBAL struct lockstep_source *first = 0;
    for (uint32_t i = 0; i < t->sources; i++) {
        FW_GLOBAL struct lockstep_source *source = &m->sources[t->first_source + i];
        if (source->waiting && (!first || source->waits_at < first->waits_at))
            first = source;
    }
    return first;
}

/* Packets in the source queue have a packet each at the front alone. */
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
    FW_GLOBAL struct lockstep_source *source = first_waiting(m, number);
    queue->first = source ? make_waiting(m, number, source, is_in_window(n->phase, source->waits_at)) : FW_NONE;
    return handle;
}

#undef FAULT_OF
#define FAULT_OF (n->network->memory->fault)
#include "network/interface/standard_channels.h"

/* A message is made and its packet goes out, or waits; it has none while others wait before it. */
FW_INLINE void send_message(struct interfaces *n, uint32_t terminal, FW_GLOBAL struct lockstep_source *source,
                            FW_GLOBAL const struct lockstep_application *a, const struct maker *maker,
                            struct random *random, const struct source_memory *memory, tick_t now, bool is_sampled)
{
    const struct memory *m = n->network->memory;
    const struct random before = *random;
    uint32_t to = traffic_destination(a->traffic_kind, &maker->traffic, source->rank, random);
    if (to == FW_NONE)
        return;
    uint32_t flits = size_draw(a->size_kind, &maker->size, random);
    FW_GLOBAL struct lockstep_counts *counts = counts_of(m, source->application, terminal);
    counts->created_packets++;
    counts->created_flits += flits;
    counts->sampled_created += is_sampled;
    FW_GLOBAL struct outlet *outlet = &n->outlets[terminal];
    if (outlet->source.first == FW_NONE) {
        uint32_t handle = make_packet(m, terminal, source, a, to, flits, now, is_sampled);
        if (send_at_once(n, terminal, handle, now, false))
            return;
        source_queue_put(n, terminal, &outlet->source, handle);
    } else if (source->waiting++ == 0) {
        source->waits = before;
        source->waits_at = now;
        source->waits_memory = *memory;
    }
    if (outlet->step_at > now)
        step_channels(n, terminal, now, false);
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
        return grid_hops((FW_GLOBAL const struct grid *)(m->tables + FACT(grid_at)), from, to);
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

/* A sampled packet has arrived as a whole. */
FW_INLINE void count_sampled(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                             FW_GLOBAL struct lockstep_counts *counts, tick_t now, const struct lockstep_phase *phase)
{
    uint64_t latency = now - packet->created, network = now - packet->injected,
             moment = packet->created - phase->window_start;
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

/* A flit arrives: it must be the one that is due. Returns the packet if it was the last, FW_NONE otherwise. */
FW_INLINE uint32_t arrive(const struct interfaces *n, uint32_t terminal, struct flit flit, tick_t now,
                          const struct lockstep_phase *phase)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL struct packet *packet = &m->packets[flit.packet];
    uint32_t position = flit.place & FLIT_POSITION, received = packet->received;
    FW_CHECK(packet->destination == terminal, "a packet at another terminal than its own");
    FW_CHECK(received == position, "a flit out of turn");
    packet->received = received + 1;
    if (flit.place & FLIT_HEAD)
        packet->head_delay = (uint32_t)(now - packet->injected);
    FW_GLOBAL struct lockstep_counts *counts = counts_of(m, packet->application, terminal);
    counts->accepted_flits++;
    atom_inc(&m->accepted_from[(size_t)packet->application * FACT(terminals) + packet->source]);
    if (!(flit.place & FLIT_TAIL))
        return FW_NONE;
    FW_CHECK(received + 1 == packet->size, "a packet that ends too early");
    counts->delivered_packets++;
    counts->latency_sum += now - packet->created;
    if (packet_is_sampled(packet))
        count_sampled(m, terminal, packet, counts, now, phase);
    return flit.packet;
}

/* Places of packets that arrived a tick ago are free: whoever took one then might have written while it was read. */
FW_INLINE uint32_t receive_flits(struct interfaces *n, uint32_t terminal, tick_t now,
                                 const struct lockstep_phase *phase)
{
    const struct memory *m = n->network->memory;
    FW_GLOBAL const struct outlet *outlet = &n->outlets[terminal];
    uint32_t events = 0;
    for (uint32_t port = 0; port < FACT(ejection_channels); port++) {
        FW_GLOBAL uint32_t *freed = &m->freed[(size_t)terminal * FACT(terminal_ports) + port];
        uint64_t word = take_flit(m, slot_of(m, now, terminal_port(m, terminal, port)));
        uint32_t before = *freed, arrived = FW_NONE;
        if (word) {
            uint32_t vc = slot_vc(word);
            uint32_t lane = outlet->ejector.lane + port * n->num_vcs + vc;
            put_credit(m, router_port(m, outlet->ejector.target, lane / n->num_vcs), vc, now + outlet->latency);
            arrived = arrive(n, terminal, slot_flit(word), now, phase);
            events++;
        }
        if (before != FW_NONE)
            give_place(m, before);
        if (before != arrived)
            *freed = arrived;
    }
    return events;
}

FW_INLINE uint32_t receive_credits(struct interfaces *n, uint32_t terminal, tick_t now)
{
    const struct memory *m = n->network->memory;
    uint32_t events = 0;
    for (uint32_t port = 0; port < n->channels; port++) {
        uint64_t vcs = take_credits(m, slot_of(m, now, terminal_port(m, terminal, port)));
        for (; vcs; vcs &= vcs - 1, events++) {
            const struct lane_place to = {terminal, port * n->num_vcs + (uint32_t)lowest_bit(vcs)};
            outlet_receive_credit(n, to, 1, now);
        }
    }
    return events;
}

FW_INLINE struct interfaces interfaces_of(const struct memory *m, const struct network *network,
                                          const struct lockstep_phase *phase)
{
    return (struct interfaces){
        .network = network,
        .phase = phase,
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
    uint64_t word = m->flits[slot], sum = m->outlets[terminal].step_at + m->credits[slot];
    sum += t->sources ? m->sources[t->first_source].wake_at : 0;
    sum += word ? m->packets[slot_flit(word).packet].created : 0;
    if (sum == NEVER_READ)
        t->unused = 1;
}

FW_INLINE void terminal_tick(const struct memory *m, uint32_t terminal, tick_t now, const struct lockstep_phase *phase)
{
    const struct network network = network_of(m);
    struct interfaces interfaces = interfaces_of(m, &network, phase), *n = &interfaces;
    FW_GLOBAL struct lockstep_terminal *t = &m->terminals[terminal];
    terminal_read_ahead(m, terminal, now);
    uint32_t events = receive_flits(n, terminal, now, phase);
    events += receive_credits(n, terminal, now);
    bool is_active = events > 0;
    for (uint32_t i = 0; i < t->sources; i++) {
        FW_GLOBAL struct lockstep_source *source = &m->sources[t->first_source + i];
        if (source->wake_at != now)
            continue;
        wake_source(n, terminal, source, now);
        is_active = true;
    }
    if (n->outlets[terminal].step_at == now) {
        n->outlets[terminal].step_at = FW_NEVER;
        step_channels(n, terminal, now, false);
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
    FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[terminal];
    if (queue->first != FW_NONE)
        give_place(m, queue->first);
    queue->first = FW_NONE;
    for (uint32_t i = 0; i < t->sources; i++)
        m->sources[t->first_source + i].waiting = 0;
}

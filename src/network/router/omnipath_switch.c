/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crossbars of the Omni-Path router: VA-SA and X, see omnipath.c.
 *
 * All crossbars of a router are one matching of sources (input and central buffers)
 * with sinks (central and output buffers): who may ask whom is what makes them MPort
 * crossbars of 4:6 and a central one of 2 an MPort to all outputs. A buffer sends one
 * packet at a time and takes one at a time, each until its tail.
 *
 * With one candidate a source names a VL by its arbiter, whatever sinks are busy, and
 * asks for that VL's sink alone; with all, it asks for the sinks of all its VLs, as
 * iSLIP wants it, and chooses among the VLs for the sink that it got.
 */
#include "network/router/omnipath.h"

static uint32_t credits_of(const struct omnipath *q, size_t number)
{
    return credits_for(network_packet(q->network, first_packet(q, number))->size, q->flits_per_credit);
}

static bool has_room(const struct omnipath *q, uint32_t router, uint32_t buffer, uint32_t vl, uint32_t credits)
{
    return shared_room_can_take(&q->rule[is_central(q, buffer)], room_at(q, router, buffer), vl, credits);
}

static struct omnipath_turn *turn_at(const struct omnipath *q, uint32_t router, uint32_t output)
{
    return &q->turns[(size_t)router * q->lanes + output];
}

/* Waits a packet at an input that may leave by an output lane? */
static bool waits_for_output(const struct omnipath *q, uint32_t router, uint32_t input, uint32_t output)
{
    uint64_t vls = source_at(q, router, input)->ready;
    BITS_EACH(vl, &vls, 1)
        if (bits_test(wants_of(q, router, input, (uint32_t)vl), output))
            return true;
    return false;
}

/*
 * Is it an input's turn to take room of an output lane? Sinks alone cannot see to that: inputs that get different ones
 * may want the same room, and who comes first by number, or by the sinks' turns, would have it for ever.
 */
static bool is_in_turn(const struct omnipath *q, uint32_t router, uint32_t input, uint32_t output)
{
    struct omnipath_turn *turn = turn_at(q, router, output);
    if (turn->next != NOBODY && waits_for_output(q, router, turn->next, output))
        return turn->next == input;
    const uint64_t *asking = q->asking + (size_t)router * q->source_words;
    uint32_t next = turn->last;
    do
        next = next + 1 < q->all_ports ? next + 1 : 0;
    while (next != input && !(bits_test(asking, next) && waits_for_output(q, router, next, output)));
    turn->next = (uint16_t)next;
    return next == input;
}

/* Is there room for an input's packet: and for another one behind it (none is larger than a lane's own share), or is it its turn? */
static bool output_has_room(const struct omnipath *q, uint32_t router, uint32_t input, uint32_t output,
                            uint32_t credits)
{
    uint32_t buffer = output_buffer(q, output / q->num_vcs), vl = output % q->num_vcs;
    return has_room(q, router, buffer, vl, credits + q->rule[0].exclusive) ||
           (has_room(q, router, buffer, vl, credits) && is_in_turn(q, router, input, output));
}

/* Of the output lanes that routing offered, one with room for the packet: on the same VL if there is one, in turn. */
static uint32_t choose_output(struct omnipath *q, uint32_t router, uint32_t input, uint32_t vl, uint32_t credits)
{
    const uint64_t *wants = wants_of(q, router, input, vl), *same = q->same_vl + (size_t)vl * q->words;
    uint64_t some = 0, some_same = 0;
    for (uint32_t w = 0; w < q->words; w++) {
        q->offered[w] = wants[w];
        for (uint64_t left = wants[w]; left; left &= left - 1)
            if (!output_has_room(q, router, input, (uint32_t)(w * WORD_BITS + lowest_bit(left)), credits))
                q->offered[w] &= ~(left & -left);
        some |= q->offered[w];
        some_same |= q->offered[w] & same[w];
    }
    if (!some)
        return LANE_WAITS;
    for (uint32_t w = 0; some_same && w < q->words; w++)
        q->offered[w] &= same[w];
    return bits_next_after(q->offered, q->words, source_at(q, router, input)->last);
}

/* The output lane of the packet at the front of a source's lane; LANE_WAITS: none that it may take has room. */
static uint32_t target_of(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl, uint32_t credits)
{
    struct omnipath_lane *lane = &q->lane_states[lane_number(q, router, source, vl)];
    if (source >= q->all_ports)
        return lane->target; /* whose room it has taken already */
    if (lane->target == LANE_WAITS || !output_has_room(q, router, source, lane->target, credits))
        lane->target = (uint16_t)choose_output(q, router, source, vl, credits);
    return lane->target;
}

/* What a source's VL asks for. */
static struct aims aims_of(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl)
{
    uint32_t credits = credits_of(q, lane_number(q, router, source, vl));
    uint32_t target = target_of(q, router, source, vl, credits), port = target / q->num_vcs;
    struct aims aims = {.count = 0};
    if (target == LANE_WAITS)
        return aims;
    if (source >= q->all_ports || port / MPORT_PORTS == mport_of(q, source))
        return (struct aims){.sinks = {output_buffer(q, port)}, .count = 1};
    for (uint32_t link = first_link(q, mport_of(q, source)), end = link + MPORT_LINKS; link < end; link++)
        if (has_room(q, router, link, target % q->num_vcs, credits))
            aims.sinks[aims.count++] = link;
    return aims;
}

static void *choice_of(const struct omnipath *q, uint32_t router, uint32_t source)
{
    return q->source_choices + ((size_t)router * q->sources + source) * q->source_scheduler.bytes;
}

/* VA: which of some VLs of a source. */
static uint32_t choose_vl(struct omnipath *q, uint32_t router, uint32_t source, uint64_t vls)
{
    if (q->source_scheduler.arbiter->needs_age)
        BITS_EACH(vl, &vls, 1)
            q->vl_age[vl] =
                network_packet(q->network, first_packet(q, lane_number(q, router, source, (uint32_t)vl)))->created;
    const struct arbitration arbitration = {
        .requests = &vls, .inputs = q->num_vcs, .words = 1, .age = q->vl_age, .random = &q->random[router]};
    return lane_scheduler_pick(&q->source_scheduler, choice_of(q, router, source), &arbitration);
}

/* Notes what the packet of a VL aims at; false: it has no room anywhere. */
static bool aim(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl)
{
    struct aims *aims = &q->aims[source * q->num_vcs + vl];
    *aims = aims_of(q, router, source, vl);
    return aims->count;
}

/* The next VL whose packet has room; who is named once is not named next. A set of one, or empty. */
static uint64_t name_one(struct omnipath *q, uint32_t router, uint32_t source, uint64_t vls)
{
    const struct lane_scheduler *scheduler = &q->source_scheduler;
    while (vls) {
        uint32_t vl = choose_vl(q, router, source, vls);
        if (aim(q, router, source, vl)) {
            void *arbiter =
                lane_scheduler_arbiter(scheduler, choice_of(q, router, source), scheduler->service->vc_group[vl]);
            arbiter_served(scheduler->arbiter, arbiter, q->num_vcs, vl);
            return bit(vl);
        }
        vls &= ~bit(vl);
    }
    return 0;
}

/* The VLs of a source that take part in an allocation. */
static uint64_t candidates_of(struct omnipath *q, uint32_t router, uint32_t source, tick_t now)
{
    uint64_t vls = source_at(q, router, source)->ready;
    BITS_EACH(vl, &vls, 1)
        if (omnipath_arbitrated(q, router, source, (uint32_t)vl) > now)
            vls &= ~bit((uint32_t)vl);
    if (q->config.candidates == CANDIDATES_ONE)
        return name_one(q, router, source, vls);
    BITS_EACH(vl, &vls, 1)
        if (!aim(q, router, source, (uint32_t)vl))
            vls &= ~bit((uint32_t)vl);
    return vls;
}

/* A source asks for the sinks of some of its VLs that nobody sends to. */
static void ask(struct omnipath *q, uint32_t router, uint32_t source, uint64_t vls)
{
    BITS_EACH(vl, &vls, 1) {
        const struct aims *aims = &q->aims[source * q->num_vcs + vl];
        for (uint32_t i = 0; i < aims->count; i++) {
            uint32_t column = sink_column(q, aims->sinks[i]);
            if (!bits_test(q->open + (size_t)router * q->sink_words, column))
                continue;
            matching_request(&q->matching, source, column);
            if (q->matching.age)
                q->matching.age[(size_t)source * q->sinks + column] =
                    network_packet(q->network, first_packet(q, lane_number(q, router, source, (uint32_t)vl)))->created;
        }
    }
}

/* Which of some VLs goes to the sink that the source got; FW_NONE: others got their room in this cycle. */
static uint32_t granted_vl(struct omnipath *q, uint32_t router, uint32_t source, uint64_t asked, uint32_t sink)
{
    uint64_t vls = 0;
    BITS_EACH(vl, &asked, 1) {
        struct aims aims = aims_of(q, router, source, (uint32_t)vl);
        for (uint32_t i = 0; i < aims.count; i++)
            vls |= aims.sinks[i] == sink ? bit((uint32_t)vl) : 0;
    }
    return vls ? choose_vl(q, router, source, vls) : FW_NONE;
}

/* A packet gets its place in the lane of a sink, behind those that are there or on their way. */
static void join(struct omnipath *q, uint32_t router, uint32_t sink, uint32_t output, uint32_t packet)
{
    uint32_t vl = output % q->num_vcs;
    size_t number = lane_number(q, router, sink, vl);
    struct omnipath_lane *lane = &q->lane_states[number];
    uint16_t last = (uint16_t)(lane->first + lane->count++);
    q->rings[number * (q->ring_mask + 1) + (last & q->ring_mask)] = packet;
    if (is_central(q, sink))
        q->targets[central_slot(q, router, sink, vl, last)] = (uint16_t)output;
}

/* The packet of a VL begins to cross: all its room is taken. */
static void begin_crossing(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl, uint32_t sink, tick_t now)
{
    struct omnipath_source *from = source_at(q, router, source);
    size_t number = lane_number(q, router, source, vl);
    uint32_t output = q->lane_states[number].target, packet = first_packet(q, number), credits = credits_of(q, number);
    if (source < q->all_ports) {
        shared_room_take(&q->rule[0], room_at(q, router, output_buffer(q, output / q->num_vcs)), output % q->num_vcs,
                         credits);
        congestion_change(q->congestion, router, output, QUEUE_OUTPUT,
                          (int32_t)network_packet(q->network, packet)->size, now);
        from->last = (uint16_t)output;
        *turn_at(q, router, output) = (struct omnipath_turn){.last = (uint16_t)source, .next = NOBODY};
    }
    if (is_central(q, sink))
        shared_room_take(&q->rule[1], room_at(q, router, sink), output % q->num_vcs, credits);
    join(q, router, sink, output, packet);
    lane_scheduler_sent(&q->source_scheduler, choice_of(q, router, source), vl, true);
    from->vl = (uint16_t)vl;
    from->sink = (uint16_t)sink;
    from->speed = (uint16_t)(source >= q->all_ports ? q->config.central_speedup
                             : is_central(q, sink)  ? q->config.mport_speedup
                                                    : q->config.local_speedup);
    from->ready &= ~bit(vl);
    bits_remove(q->asking + (size_t)router * q->source_words, source);
    bits_add(q->busy + (size_t)router * q->source_words, source);
    bits_remove(q->open + (size_t)router * q->sink_words, sink_column(q, sink));
    if (network_is_traced(q->network, packet))
        network_trace(q->network, now, router, "VA-SA",
                      is_central(q, sink) ? "from buffer %u to central buffer %u vl %u"
                                          : "from buffer %u to output buffer %u vl %u",
                      source, is_central(q, sink) ? sink - q->all_ports : sink - q->sources, output % q->num_vcs);
}

/* SA: sinks take one of the sources that ask for them with some of their VLs. */
static void allocate(struct omnipath *q, uint32_t router, uint64_t vls, tick_t now)
{
    struct matching *matching = &q->matching;
    BITS_EACH(source, q->asking + (size_t)router * q->source_words, q->source_words)
        ask(q, router, (uint32_t)source, q->candidates[source] & vls);
    if (!bits_any(matching->active_rows, matching->row_words))
        return;
    matching->random = &q->random[router];
    q->allocator->allocate(q->allocator_states + (size_t)router * q->allocator_bytes, q->config.allocator.config,
                           matching);
    BITS_EACH(source, matching->granted, matching->row_words) {
        uint32_t sink = matching->grant[source] + q->all_ports;
        uint32_t vl = granted_vl(q, router, (uint32_t)source, q->candidates[source] & vls, sink);
        if (vl != FW_NONE)
            begin_crossing(q, router, (uint32_t)source, vl, sink, now);
    }
    matching_clear(matching, matching->row_words, matching->col_words);
}

void omnipath_allocate(struct omnipath *q, uint32_t router, tick_t now)
{
    const struct service *service = &q->network->service;
    BITS_EACH(source, q->asking + (size_t)router * q->source_words, q->source_words)
        q->candidates[source] = candidates_of(q, router, (uint32_t)source, now);
    if (service->arbitration != LEVELS_STRICT) {
        allocate(q, router, ~(uint64_t)0, now);
        return;
    }
    for (uint32_t level = 0; level < service->groups; level++)
        allocate(q, router, service->group_vcs[level], now);
}

/* Flits have left a buffer: their room is free, and those who sent them may know. */
static void give_room(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl, uint32_t credits,
                      uint32_t flits, tick_t now)
{
    shared_room_give(&q->rule[is_central(q, source)], room_at(q, router, source), vl, credits);
    if (source >= q->all_ports)
        return;
    const struct omnipath_port *port = port_at(q, router, source);
    struct lane_place back = {.target = port->far.target, .lane = port->far.lane + vl};
    for (uint32_t i = 0; i < credits; i++)
        send_credit(q->network, port->back_kind, back, now + q->credit + port->latency);
    q->flit_hops += flits;
}

/* The packet is through: its source looks at what is behind it. */
static void end_crossing(struct omnipath *q, uint32_t router, uint32_t source, struct omnipath_lane *lane, tick_t now)
{
    struct omnipath_source *from = source_at(q, router, source);
    lane->first++;
    lane->count--;
    lane->sent = 0;
    lane->target = LANE_IDLE;
    omnipath_look_at_front(q, router, source, from->vl, now);
    bits_add(q->open + (size_t)router * q->sink_words, sink_column(q, from->sink));
    bits_remove(q->busy + (size_t)router * q->source_words, source);
    from->sink = NOBODY;
    *free_at(q, router, source, from->vl) = now + q->cycle;
    omnipath_ask(q, router, source, from->ready, now);
}

/* As many flits of a source's packet as the crossbar takes in a cycle. */
static void cross(struct omnipath *q, uint32_t router, uint32_t source, tick_t now)
{
    const struct omnipath_source *from = source_at(q, router, source);
    size_t number = lane_number(q, router, source, from->vl);
    struct omnipath_lane *lane = &q->lane_states[number];
    uint32_t packet = first_packet(q, number), size = network_packet(q->network, packet)->size;
    uint32_t flits = size - lane->sent, output = lane->target, sink = from->sink;
    flits = flits < lane->ready ? flits : lane->ready;
    flits = flits < from->speed ? flits : from->speed;
    if (!flits)
        return;
    bool to_central = is_central(q, sink);
    tick_t arrival = now + q->crossbar[source >= q->all_ports] + (to_central ? q->pipeline : q->output);
    struct crossed_event *event = engine_post(q->engine, EVENT_QUEUED, arrival, sizeof *event);
    *event = (struct crossed_event){.router = router, .lane = sink * q->num_vcs + output % q->num_vcs, .flits = flits};
    if (network_is_traced(q->network, packet))
        network_trace(q->network, now, router, "X", "flits %u to %u, there at %llu", lane->sent, lane->sent + flits - 1,
                      (unsigned long long)arrival);
    give_room(q, router, source, from->vl, credits_left(q, lane->sent, lane->sent + flits, size), flits, now);
    lane->ready -= flits;
    lane->sent += flits;
    if (lane->sent == size)
        end_crossing(q, router, source, lane, now);
}

void omnipath_cross(struct omnipath *q, uint32_t router, tick_t now)
{
    const uint64_t *busy = q->busy + (size_t)router * q->source_words;
    bool is_busy = bits_any(busy, q->source_words);
    BITS_EACH(source, busy, q->source_words)
        cross(q, router, (uint32_t)source, now);
    if (is_busy)
        omnipath_wake(q, router, now + q->cycle);
}

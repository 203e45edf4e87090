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

static uint32_t credits_of(const struct omnipath *q, const struct omnipath_lane *lane)
{
    return credits_for(first_size(q, lane), q->flits_per_credit);
}

static bool has_room(const struct omnipath *q, const struct omnipath_router *r, uint32_t buffer, uint32_t vl,
                     uint32_t credits)
{
    return shared_room_can_take(&q->rule[is_central(q, buffer)], r->rooms[buffer], vl, credits);
}

/* Waits a packet at an input that may leave by an output lane? */
static bool waits_for_output(const struct omnipath *q, const struct omnipath_router *r, uint32_t input, uint32_t output)
{
    BITS_EACH(vl, &r->sources[input].ready, 1)
        if (bits_test(lane_at(q, r, input, (uint32_t)vl)->wants, output))
            return true;
    return false;
}

/*
 * Is it an input's turn to take room of an output lane? Sinks alone cannot see to that: inputs that get different ones
 * may want the same room, and who comes first by number, or by the sinks' turns, would have it for ever.
 */
static bool is_in_turn(const struct omnipath *q, const struct omnipath_router *r, uint32_t input, uint32_t output)
{
    struct omnipath_turn *turn = &r->turns[output];
    if (turn->next != NOBODY && waits_for_output(q, r, turn->next, output))
        return turn->next == input;
    uint32_t next = turn->last;
    do
        next = next + 1 < q->all_ports ? next + 1 : 0;
    while (next != input && !(bits_test(r->asking, next) && waits_for_output(q, r, next, output)));
    turn->next = (uint16_t)next;
    return next == input;
}

/* Is there room for an input's packet: and for another one behind it (none is larger than a lane's own share), or is it its turn? */
static bool output_has_room(const struct omnipath *q, const struct omnipath_router *r, uint32_t input, uint32_t output,
                            uint32_t credits)
{
    uint32_t buffer = output_buffer(q, output / q->num_vcs), vl = output % q->num_vcs;
    return has_room(q, r, buffer, vl, credits + q->rule[0].exclusive) ||
           (has_room(q, r, buffer, vl, credits) && is_in_turn(q, r, input, output));
}

/* Of the output lanes that routing offered, one with room for the packet: on the same VL if there is one, in turn. */
static uint32_t choose_output(struct omnipath *q, const struct omnipath_router *r, uint32_t input, uint32_t vl,
                              uint32_t credits)
{
    const uint64_t *wants = lane_at(q, r, input, vl)->wants, *same = q->same_vl + (size_t)vl * q->words;
    uint64_t some = 0, some_same = 0;
    for (uint32_t w = 0; w < q->words; w++) {
        q->offered[w] = wants[w];
        for (uint64_t left = wants[w]; left; left &= left - 1)
            if (!output_has_room(q, r, input, (uint32_t)(w * WORD_BITS + lowest_bit(left)), credits))
                q->offered[w] &= ~(left & -left);
        some |= q->offered[w];
        some_same |= q->offered[w] & same[w];
    }
    if (!some)
        return LANE_WAITS;
    for (uint32_t w = 0; some_same && w < q->words; w++)
        q->offered[w] &= same[w];
    return bits_next_after(q->offered, q->words, r->sources[input].last);
}

/* The output lane of the packet at the front of a source's lane; LANE_WAITS: none that it may take has room. */
static uint32_t target_of(struct omnipath *q, const struct omnipath_router *r, uint32_t source, uint32_t vl,
                          uint32_t credits)
{
    struct omnipath_lane *lane = lane_at(q, r, source, vl);
    if (source >= q->all_ports)
        return lane->target; /* whose room it has taken already */
    if (lane->target == LANE_WAITS || !output_has_room(q, r, source, lane->target, credits))
        lane->target = (uint16_t)choose_output(q, r, source, vl, credits);
    return lane->target;
}

/* What a source's VL asks for. */
static struct aims aims_of(struct omnipath *q, const struct omnipath_router *r, uint32_t source, uint32_t vl)
{
    uint32_t credits = credits_of(q, lane_at(q, r, source, vl));
    uint32_t target = target_of(q, r, source, vl, credits), port = target / q->num_vcs;
    struct aims aims = {.count = 0};
    if (target == LANE_WAITS)
        return aims;
    if (source >= q->all_ports || port / MPORT_PORTS == mport_of(q, source))
        return (struct aims){.sinks = {output_buffer(q, port)}, .count = 1};
    for (uint32_t link = first_link(q, mport_of(q, source)), end = link + MPORT_LINKS; link < end; link++)
        if (has_room(q, r, link, target % q->num_vcs, credits))
            aims.sinks[aims.count++] = link;
    return aims;
}

/* VA: which of some VLs of a source. */
static uint32_t choose_vl(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint64_t vls)
{
    return omnipath_choose_vl(q, &q->source_scheduler, r->sources[source].choice, lane_at(q, r, source, 0), vls,
                              &r->random);
}

/* Notes what the packet of a VL aims at; false: it has no room anywhere. */
static bool aim(struct omnipath *q, const struct omnipath_router *r, uint32_t source, uint32_t vl)
{
    struct aims *aims = &q->aims[source * q->num_vcs + vl];
    *aims = aims_of(q, r, source, vl);
    return aims->count;
}

/* The next VL whose packet has room; who is named once is not named next. A set of one, or empty. */
static uint64_t name_one(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint64_t vls)
{
    const struct lane_scheduler *scheduler = &q->source_scheduler;
    while (vls) {
        uint32_t vl = choose_vl(q, r, source, vls);
        if (aim(q, r, source, vl)) {
            void *arbiter =
                lane_scheduler_arbiter(scheduler, r->sources[source].choice, scheduler->service->vc_group[vl]);
            arbiter_served(scheduler->arbiter, arbiter, q->num_vcs, vl);
            return bit(vl);
        }
        vls &= ~bit(vl);
    }
    return 0;
}

/* The VLs of a source that take part in an allocation. */
static uint64_t candidates_of(struct omnipath *q, struct omnipath_router *r, uint32_t source, tick_t now)
{
    uint64_t vls = r->sources[source].ready;
    BITS_EACH(vl, &vls, 1)
        if (omnipath_arbitrated(q, r, source, (uint32_t)vl) > now)
            vls &= ~bit((uint32_t)vl);
    if (q->config.candidates == CANDIDATES_ONE)
        return name_one(q, r, source, vls);
    BITS_EACH(vl, &vls, 1)
        if (!aim(q, r, source, (uint32_t)vl))
            vls &= ~bit((uint32_t)vl);
    return vls;
}

/* A source asks for the sinks of some of its VLs that nobody sends to. */
static void ask(struct omnipath *q, const struct omnipath_router *r, uint32_t source, uint64_t vls)
{
    BITS_EACH(vl, &vls, 1) {
        const struct aims *aims = &q->aims[source * q->num_vcs + vl];
        const struct omnipath_lane *lane = lane_at(q, r, source, (uint32_t)vl);
        for (uint32_t i = 0; i < aims->count; i++) {
            uint32_t column = sink_column(q, aims->sinks[i]);
            if (bits_test(r->open, column))
                matching_request_for(&q->allocation.matching, source, column,
                                     network_packet(q->network, packet_at(q, lane, 0)));
        }
    }
}

/* Which of some VLs goes to the sink that the source got; FW_NONE: others got their room in this cycle. */
static uint32_t granted_vl(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint64_t asked,
                           uint32_t sink)
{
    uint64_t vls = 0;
    BITS_EACH(vl, &asked, 1) {
        struct aims aims = aims_of(q, r, source, (uint32_t)vl);
        for (uint32_t i = 0; i < aims.count; i++)
            vls |= aims.sinks[i] == sink ? bit((uint32_t)vl) : 0;
    }
    return vls ? choose_vl(q, r, source, vls) : FW_NONE;
}

/* The packet of a VL begins to cross: all its room is taken. */
static void begin_crossing(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint32_t vl, uint32_t sink,
                           tick_t now)
{
    struct omnipath_source *from = &r->sources[source];
    const struct omnipath_lane *lane = lane_at(q, r, source, vl);
    uint32_t output = lane->target, out_vl = output % q->num_vcs, packet = packet_at(q, lane, 0);
    uint32_t credits = credits_of(q, lane);
    struct omnipath_lane *to = lane_at(q, r, sink, out_vl);
    bool is_input = source < q->all_ports, to_central = is_central(q, sink);
    if (is_input) {
        shared_room_take(&q->rule[0], r->rooms[output_buffer(q, output / q->num_vcs)], out_vl, credits);
        congestion_change(q->congestion, r->number, output, QUEUE_OUTPUT, (int32_t)first_size(q, lane), now);
        from->last = (uint16_t)output;
        r->turns[output] = (struct omnipath_turn){.last = (uint16_t)source, .next = NOBODY};
    }
    if (to_central) {
        shared_room_take(&q->rule[1], r->rooms[sink], out_vl, credits);
        to->targets[(to->first + to->count) & q->ring_mask] = (uint16_t)output;
    }
    join_lane(q, to, packet);
    lane_scheduler_sent(&q->source_scheduler, from->choice, vl, true);
    from->vl = (uint16_t)vl;
    from->sink = (uint16_t)sink;
    from->speed = (uint16_t)(!is_input    ? q->config.central_speedup
                             : to_central ? q->config.mport_speedup
                                          : q->config.local_speedup);
    from->ready &= ~bit(vl);
    bits_remove(r->asking, source);
    bits_add(r->busy, source);
    bits_remove(r->open, sink_column(q, sink));
    if (network_is_traced(q->network, packet))
        network_trace(q->network, now, r->number, "VA-SA",
                      to_central ? "from buffer %u to central buffer %u vl %u"
                                 : "from buffer %u to output buffer %u vl %u",
                      source, sink - (to_central ? q->all_ports : q->sources), out_vl);
}

/* SA: sinks take one of the sources that ask for them with some of their VLs. */
static void allocate(struct omnipath *q, struct omnipath_router *r, uint64_t vls, tick_t now)
{
    struct matching *matching = &q->allocation.matching;
    BITS_EACH(source, r->asking, q->source_words)
        ask(q, r, (uint32_t)source, q->candidates[source] & vls);
    if (!allocation_run(&q->allocation, r->allocator, &r->random))
        return;
    BITS_EACH(source, matching->granted, matching->row_words) {
        uint32_t sink = matching->grant[source] + q->all_ports;
        uint32_t vl = granted_vl(q, r, (uint32_t)source, q->candidates[source] & vls, sink);
        if (vl != FW_NONE)
            begin_crossing(q, r, (uint32_t)source, vl, sink, now);
    }
    matching_clear(matching, matching->row_words, matching->col_words);
}

bool omnipath_allocate(struct omnipath *q, struct omnipath_router *r, tick_t now)
{
    const struct service *service = &q->network->service;
    uint64_t taking_part = 0;
    BITS_EACH(source, r->asking, q->source_words)
        taking_part |= q->candidates[source] = candidates_of(q, r, (uint32_t)source, now);
    if (service->arbitration == LEVELS_STRICT)
        for (uint32_t level = 0; level < service->groups; level++)
            allocate(q, r, service->group_vcs[level], now);
    else
        allocate(q, r, ~(uint64_t)0, now);
    return taking_part;
}

/* Flits have left a buffer: their room is free, and those who sent them may know. */
static void give_room(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint32_t vl, uint32_t credits,
                      uint32_t flits, tick_t now)
{
    shared_room_give(&q->rule[is_central(q, source)], r->rooms[source], vl, credits);
    if (source >= q->all_ports)
        return;
    const struct omnipath_port *port = &r->ports[source];
    struct lane_place back = {.target = port->far.target, .lane = port->far.lane + vl};
    for (uint32_t i = 0; i < credits; i++)
        send_credit(q->network, port->back_kind, back, now + q->credit + port->latency);
    q->flit_hops += flits;
}

/* The packet is through: its source looks at what is behind it. */
static void end_crossing(struct omnipath *q, struct omnipath_router *r, uint32_t source, struct omnipath_lane *lane,
                         tick_t now)
{
    struct omnipath_source *from = &r->sources[source];
    lane->first++;
    lane->count--;
    lane->sent = 0;
    lane->target = LANE_IDLE;
    omnipath_look_at_front(q, r, source, from->vl, now);
    bits_add(r->open, sink_column(q, from->sink));
    bits_remove(r->busy, source);
    from->sink = NOBODY;
    from->free_at[q->network->service.vc_group[from->vl]] = now + q->cycle;
    omnipath_ask(q, r, source, from->ready, now);
}

/* As many flits of a source's packet as the crossbar takes in a cycle. */
static void cross(struct omnipath *q, struct omnipath_router *r, uint32_t source, tick_t now)
{
    const struct omnipath_source *from = &r->sources[source];
    struct omnipath_lane *lane = lane_at(q, r, source, from->vl);
    uint32_t size = first_size(q, lane), flits = size - lane->sent, sink = from->sink;
    flits = flits < lane->ready ? flits : lane->ready;
    flits = flits < from->speed ? flits : from->speed;
    if (!flits)
        return;
    tick_t arrival = now + q->crossbar[source >= q->all_ports] + (is_central(q, sink) ? q->pipeline : q->output);
    struct crossed_event *event = engine_post(q->engine, EVENT_QUEUED, arrival, sizeof *event);
    *event = (struct crossed_event){
        .router = r->number, .lane = sink * q->num_vcs + lane->target % q->num_vcs, .flits = flits};
    if (network_is_traced(q->network, packet_at(q, lane, 0)))
        network_trace(q->network, now, r->number, "X", "flits %u to %u, there at %llu", lane->sent,
                      lane->sent + flits - 1, (unsigned long long)arrival);
    give_room(q, r, source, from->vl, credits_left(q, lane->sent, lane->sent + flits, size), flits, now);
    lane->ready -= flits;
    lane->sent += flits;
    if (lane->sent == size)
        end_crossing(q, r, source, lane, now);
}

void omnipath_cross(struct omnipath *q, struct omnipath_router *r, tick_t now)
{
    bool is_busy = bits_any(r->busy, q->source_words);
    BITS_EACH(source, r->busy, q->source_words)
        cross(q, r, (uint32_t)source, now);
    if (is_busy)
        omnipath_wake(q, r, now + q->cycle);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's input-queued router (N. Jiang et al., "A detailed and flexible cycle-accurate Network-on-Chip
 * simulator", ISPASS 2013), cycle by cycle. In each cycle it steps as often as `steps` says; a
 * step looks first and acts then, so that what one stage does the next one sees in the next step:
 *
 *   queue_arrivals    a flit that comes to an empty lane begins a stage
 *   (routing begins)  for all heads that wait for it, if none is being routed
 *   ask_for_vcs       the VC allocator
 *   look_at_held      packets that have the switch: can they go on?
 *   ask_for_switch    the switch allocator; heads that have no VC yet too, where they speculate
 *   (crossing begins) for all flits that wait for it, if none is crossing
 *
 *   end_routing, take_vcs, go_on_held, leave_by_switch, end_crossing    what the same stages have decided
 *
 * A stage of several cycles, routing or crossing, does not begin again until it is over. Flits that have crossed queue
 * for their channel, which takes one a cycle and is a cycle longer than its latency says: what is
 * sent in a cycle is on the channel from the next one on. The same goes for credits.
 *
 * A router whose step neither asked for anything nor had anything under way sleeps until something arrives.
 */
#include "network/router/booksim.h"

#include <string.h>

#define SPECULATIVE_RANK ((int64_t)1 << 62) /* below all others */

static void booksim_wake(const struct booksim *q, struct booksim_router *r, tick_t when)
{
    router_wake(q->engine, r->number, &r->step_at, next_edge(when, q->config.cycle));
}

/* BookSim's number of the port of an input lane. */
static uint32_t in_number(const struct booksim *q, const struct booksim_router *r, uint32_t lane)
{
    return r->ports.in_number[lane / q->num_vcs];
}

/* ---- what arrives ---- */

void booksim_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct booksim *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct booksim_router *r = &q->each[event->to.target];
        struct booksim_lane *lane = &r->inputs[event->to.lane];
        uint32_t place = (uint32_t)(lane->buffer.first + lane->buffer.count) & q->ring_mask;
        lane_buffer_put(&lane->buffer, event, q->ring_mask + 1, q->ring_mask, now);
        if (lane->came)
            lane->came[place] = now;
        if (lane->ahead && (event->flit.place & FLIT_HEAD))
            route_packet(q, r->number, event->flit.packet, event->to.lane, lane->ahead + (size_t)place * q->words,
                         r->usable, now);
        lane->arrived++;
        bits_add(r->arrived, in_number(q, r, event->to.lane) * q->num_vcs + event->to.lane % q->num_vcs);
        booksim_wake(q, r, now);
    }
}

void booksim_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct booksim *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct booksim_router *r = &q->each[event->to.target];
        uint32_t port = event->to.lane / q->num_vcs;
        room_receive_credit(&q->rule, booksim_room_of(q, r, port), event->to.lane % q->num_vcs);
        congestion_change(q->congestion, r->number, event->to.lane, QUEUE_DOWNSTREAM, -1, now);
        booksim_wake(q, r, now);
    }
}

/* ---- numbers ---- */

static uint32_t vc_row(const struct booksim *q, const struct booksim_router *r, uint32_t lane)
{
    uint32_t port = in_number(q, r, lane), vc = lane % q->num_vcs;
    return q->config.shuffled ? vc * r->ports.in_count + port : port * q->num_vcs + vc;
}

static uint32_t switch_row(const struct booksim *q, const struct booksim_router *r, uint32_t lane)
{
    uint32_t speedup = q->config.input_speedup;
    return in_number(q, r, lane) * speedup + lane % q->num_vcs % speedup;
}

static uint32_t switch_column(const struct booksim *q, const struct booksim_router *r, uint32_t lane, uint32_t output)
{
    uint32_t speedup = q->config.output_speedup;
    return r->ports.out_number[output / q->num_vcs] * speedup + in_number(q, r, lane) % speedup;
}

static void list_add(struct stage_list *list, uint32_t lane) { list->lanes[list->count++] = (uint16_t)lane; }

/* Those that a stage is through with leave its list. */
static void list_drop_begun(struct stage_list *list)
{
    list->count -= list->begun;
    memmove(list->lanes, list->lanes + list->begun, list->count * sizeof *list->lanes);
    list->begun = 0;
}

/* A stage of several cycles: all that wait begin together, when those before them are through. */
static void list_begin(const struct booksim *q, struct stage_list *list, uint32_t cycles, tick_t now)
{
    if (list->begun || !list->count)
        return;
    list->begun = list->count;
    list->end = now + (cycles - 1) * q->config.cycle;
}

static bool has_full_queue(const struct booksim *q, const struct booksim_router *r, uint32_t port, tick_t now)
{
    return q->config.output_depth && /* the channel takes one after the other */
           r->free_at[port] > now + (q->config.output_depth - 1) * network_link(q->network, r->number, port)->cycle;
}

static bool has_any_full_queue(const struct booksim *q, const struct booksim_router *r, tick_t now)
{
    for (uint32_t port = 0; port < q->ports; port++)
        if (has_full_queue(q, r, port, now))
            return true;
    return false;
}

static bool is_full(const struct booksim *q, const struct booksim_router *r, uint32_t output)
{
    return room_is_full(&q->rule, booksim_room_of(q, r, output / q->num_vcs), output % q->num_vcs);
}

/* ---- a packet comes to the front of its lane ---- */

static void route(struct booksim *q, struct booksim_router *r, uint32_t number, tick_t now)
{
    struct booksim_lane *lane = &r->inputs[number];
    if (lane->ahead)
        memcpy(lane->wants, lane->ahead + (size_t)(lane->buffer.first & q->ring_mask) * q->words,
               q->words * sizeof *lane->wants);
    else
        route_packet(q, r->number, lane_buffer_front(&lane->buffer, q->ring_mask).packet, number, lane->wants,
                     r->usable, now);
    if (q->config.vcs_by_next_output)
        booksim_keep_vcs_for_output(q, r, lane);
    lane->hops = booksim_front(q, lane)->hops;
    lane->stage = STAGE_ASKS_VC;
    list_add(&r->vc, number);
    if (q->config.speculation != SPECULATES_NOT)
        list_add(&r->waiting, number);
}

static void begin_packet(struct booksim *q, struct booksim_router *r, uint32_t number, tick_t now)
{
    if (!q->config.routing_latency) {
        route(q, r, number, now);
        return;
    }
    r->inputs[number].stage = STAGE_ROUTING;
    list_add(&r->routing, number);
}

static void queue_arrival(struct booksim *q, struct booksim_router *r, uint32_t number, tick_t now)
{
    struct booksim_lane *lane = &r->inputs[number];
    bool was_empty = lane->buffer.count == lane->arrived;
    lane->arrived = 0;
    if (lane->stage == STAGE_IDLE)
        begin_packet(q, r, number, now);
    else if (lane->stage == STAGE_HAS_VC && was_empty)
        list_add(&r->waiting, number);
}

static bool queue_arrivals(struct booksim *q, struct booksim_router *r, tick_t now)
{
    bool has_some = bits_any(r->arrived, q->words);
    BITS_EACH(row, r->arrived, q->words) {
        uint32_t port = r->ports.in_port[(uint32_t)row / q->num_vcs];
        queue_arrival(q, r, port * q->num_vcs + (uint32_t)row % q->num_vcs, now);
    }
    bits_clear(r->arrived, q->words);
    return has_some;
}

/* ---- routing ---- */

static void end_routing(struct booksim *q, struct booksim_router *r, tick_t now)
{
    if (!r->routing.begun || now < r->routing.end)
        return;
    for (uint32_t i = 0; i < r->routing.begun; i++)
        route(q, r, r->routing.lanes[i], now);
    list_drop_begun(&r->routing);
}

/* ---- virtual channels ---- */

static void ask_for_vc(const struct booksim *q, const struct booksim_router *r, uint32_t number, struct matching *m)
{
    const struct booksim_lane *lane = &r->inputs[number];
    uint32_t row = vc_row(q, r, number);
    BITS_EACH(output, lane->wants, q->words) {
        uint32_t vc = (uint32_t)output % q->num_vcs,
                 column = r->ports.out_number[output / q->num_vcs] * q->num_vcs + vc;
        const struct booksim_room *room = booksim_room_of(q, r, (uint32_t)output / q->num_vcs);
        if (!room_is_free(room, vc) || (q->config.vc_needs_credit && room_is_full(&q->rule, room, vc)))
            continue;
        matching_request_for(m, row, column, booksim_front(q, lane));
        if (!m->in_rank)
            continue;
        bool is_last_choice = q->config.empty_vcs_first && room->held[vc];
        m->in_rank[(size_t)row * m->cols + column] =
            (routing_is_escape(&q->network->routing, vc) ? 0 : 1) - (is_last_choice ? SPECULATIVE_RANK : 0);
        m->out_rank[(size_t)row * m->cols + column] = booksim_rank_of(q, lane);
    }
}

/* True: somebody asked. */
static bool ask_for_vcs(struct booksim *q, struct booksim_router *r)
{
    struct matching *m = &q->vcs.matching;
    m->rows = r->ports.in_count * q->num_vcs;
    m->cols = r->ports.out_count * q->num_vcs;
    r->vc.begun = r->vc.count;
    if (!r->vc.begun)
        return false;
    for (uint32_t i = 0; i < r->vc.begun; i++)
        ask_for_vc(q, r, r->vc.lanes[i], m);
    bool has_requests = allocation_run(&q->vcs, r->vc_state, &r->random);
    for (uint32_t i = 0; i < r->vc.begun; i++) {
        uint32_t number = r->vc.lanes[i], row = vc_row(q, r, number);
        uint32_t column = m->grant[row], port = r->ports.out_port[column / q->num_vcs];
        bool is_granted = bits_test(m->granted, row);
        r->inputs[number].output = is_granted ? (uint16_t)(port * q->num_vcs + column % q->num_vcs) : NO_GRANT;
    }
    if (has_requests)
        matching_clear(m, m->row_words, m->col_words);
    return has_requests;
}

static void take_vcs(struct booksim *q, struct booksim_router *r)
{
    for (uint32_t i = 0; i < r->vc.begun; i++) {
        uint32_t number = r->vc.lanes[i];
        struct booksim_lane *lane = &r->inputs[number];
        if (lane->output == NO_GRANT) {
            list_add(&r->vc, number);
            continue;
        }
        room_take(booksim_room_of(q, r, lane->output / q->num_vcs), lane->output % q->num_vcs);
        r->owner[lane->output] = (uint16_t)number;
        lane->stage = STAGE_HAS_VC;
        if (q->config.speculation == SPECULATES_NOT)
            list_add(&r->waiting, number);
    }
    list_drop_begun(&r->vc);
}

/* ---- the switch ---- */

/* Of the lanes that share an input of the switch and ask for one output, the best is the one that asks. */
static void ask_for_column(const struct booksim *q, const struct booksim_router *r, uint32_t number, uint32_t output,
                           struct matching *m)
{
    const struct booksim_lane *lane = &r->inputs[number];
    uint32_t row = switch_row(q, r, number), column = switch_column(q, r, number, output), vcs = q->num_vcs;
    size_t at = (size_t)row * m->cols + column;
    if (r->held_lane[row] != NOBODY || r->held_by[column] != NOBODY)
        return;
    int64_t rank = q->is_ranked ? booksim_rank_of(q, lane) - (lane->stage == STAGE_ASKS_VC ? SPECULATIVE_RANK : 0) : 0;
    if (bits_test(m->wants + (size_t)row * m->col_words, column)) {
        uint32_t mine = (number + vcs - r->turn[row]) % vcs, other = (q->asker[at] + vcs - r->turn[row]) % vcs;
        int64_t its = q->is_ranked ? m->in_rank[at] : 0;
        if (rank < its || (rank == its && mine >= other))
            return;
    }
    q->asker[at] = (uint16_t)number;
    matching_request_for(m, row, column, booksim_front(q, lane));
    if (q->is_ranked)
        m->in_rank[at] = m->out_rank[at] = rank;
}

/* Is it worth while for a head without a VC to ask for the switch? */
static bool may_speculate(const struct booksim *q, const struct booksim_router *r, uint32_t port, uint64_t vcs,
                          tick_t now)
{
    const struct booksim_room *room = booksim_room_of(q, r, port);
    if (q->config.speculation == SPECULATES_ALWAYS)
        return true;
    for (; vcs && !has_full_queue(q, r, port, now); vcs &= vcs - 1) {
        uint32_t vc = (uint32_t)lowest_bit(vcs);
        if (room_is_free(room, vc) && (q->config.speculation == SPECULATES_ON_VC || !room_is_full(&q->rule, room, vc)))
            return true;
    }
    return false;
}

/*
 * Asks for each way that the head may take; escape VCs of a port are one by themselves. `m` NULL: asks nobody. True: all were
 * worth while.
 */
static bool ask_by_speculation(const struct booksim *q, const struct booksim_router *r, uint32_t number,
                               struct matching *m, tick_t now)
{
    const struct booksim_lane *lane = &r->inputs[number];
    bool has_arrived = booksim_front(q, lane)->destination_router == r->number;
    uint64_t escapes = has_arrived ? 0 : q->network->routing.all_escape_vcs;
    bool may_take_all = true;
    for (uint32_t port = 0; port < q->ports; port++) {
        uint64_t vcs = bits_word(lane->wants, port * q->num_vcs, q->num_vcs);
        bool may_escape = vcs & escapes && may_speculate(q, r, port, vcs & escapes, now);
        bool may_go = vcs & ~escapes && may_speculate(q, r, port, vcs & ~escapes, now);
        if (m && (may_escape || may_go))
            ask_for_column(q, r, number, port * q->num_vcs, m);
        may_take_all &= may_escape == !!(vcs & escapes) && may_go == !!(vcs & ~escapes);
    }
    return may_take_all;
}

static void read_switch_grants(struct booksim *q, struct booksim_router *r, const struct matching *m, tick_t now)
{
    for (uint32_t i = 0; i < r->waiting.begun; i++) {
        uint32_t number = r->waiting.lanes[i], row = switch_row(q, r, number);
        struct booksim_lane *lane = &r->inputs[number];
        lane->grant = NO_GRANT;
        if (!bits_test(m->granted, row) || q->asker[(size_t)row * m->cols + m->grant[row]] != number)
            continue;
        if (lane->stage == STAGE_ASKS_VC && !ask_by_speculation(q, r, number, NULL, now))
            continue; /* BookSim looks at no grant of a head that had one way less */
        r->turn[row] = (uint16_t)((number % q->num_vcs + q->config.input_speedup) % q->num_vcs);
        bool comes_true = lane->stage == STAGE_HAS_VC || /* a head that speculated needs a VC for it too */
                          (lane->output != NO_GRANT && switch_column(q, r, number, lane->output) == m->grant[row] &&
                           !is_full(q, r, lane->output));
        if (comes_true)
            lane->grant = m->grant[row];
    }
}

/* True: somebody asked. */
static bool ask_for_switch(struct booksim *q, struct booksim_router *r, tick_t now)
{
    struct matching *m = &q->ways.matching;
    m->rows = r->ports.in_count * q->config.input_speedup;
    m->cols = r->ports.out_count * q->config.output_speedup;
    r->waiting.begun = r->waiting.count;
    if (!r->waiting.begun)
        return false;
    for (uint32_t i = 0; i < r->waiting.begun; i++) {
        uint32_t number = r->waiting.lanes[i], output = r->inputs[number].output;
        if (r->inputs[number].stage == STAGE_ASKS_VC)
            ask_by_speculation(q, r, number, m, now);
        else if (!is_full(q, r, output) && !has_full_queue(q, r, output / q->num_vcs, now))
            ask_for_column(q, r, number, output, m);
    }
    bool has_requests = allocation_run(&q->ways, r->switch_state, &r->random);
    read_switch_grants(q, r, m, now);
    if (has_requests)
        matching_clear(m, m->row_words, m->col_words);
    return has_requests;
}

/* When a credit goes back: one for all flits of an input that leave in a step; the channel takes one a cycle. */
static tick_t credit_time(const struct booksim *q, struct booksim_router *r, uint32_t port, tick_t now, tick_t step)
{
    if (r->credit_of[port] != step) {
        tick_t next = r->credit_at[port] + q->config.cycle;
        r->credit_at[port] = next > now ? next : now;
        r->credit_of[port] = step;
    }
    return r->credit_at[port];
}

/* The front flit of a lane leaves for the switch; what comes next waits for its stage. */
static void leave(struct booksim *q, struct booksim_router *r, uint32_t number, tick_t now, tick_t step)
{
    struct booksim_lane *lane = &r->inputs[number];
    struct flit flit =
        lane_buffer_take(&lane->buffer, q->ring_mask, q->network, credit_time(q, r, number / q->num_vcs, now, step));
    uint32_t output = lane->output, row = switch_row(q, r, number);
    bool is_tail = flit.place & FLIT_TAIL;
    room_send(&q->rule, booksim_room_of(q, r, output / q->num_vcs), output % q->num_vcs, is_tail);
    congestion_change(q->congestion, r->number, output, QUEUE_DOWNSTREAM, 1, now);
    r->flits[output]++;
    q->flit_hops++;
    FW_CHECK(r->crossing.count < q->most_crossing, "router %u: the switch is full", r->number);
    r->crossing.flits[r->crossing.count++] = (struct crossing){flit, output};
    trace_leaving(q->network, r->number, flit, output, now);
    if (is_tail) {
        r->owner[output] = NOBODY;
        lane->stage = STAGE_IDLE;
        if (lane->buffer.count)
            begin_packet(q, r, number, now);
    } else if (lane->buffer.count && q->config.holds_switch) {
        r->held_lane[row] = (uint16_t)number;
        r->held_by[switch_column(q, r, number, output)] = (uint16_t)row;
        list_add(&r->held, number);
    } else if (lane->buffer.count) {
        list_add(&r->waiting, number);
    }
}

static void leave_by_switch(struct booksim *q, struct booksim_router *r, tick_t now, tick_t step)
{
    for (uint32_t i = 0; i < r->waiting.begun; i++) {
        uint32_t number = r->waiting.lanes[i];
        if (r->inputs[number].grant == NO_GRANT || is_full(q, r, r->inputs[number].output))
            list_add(&r->waiting, number);
        else
            leave(q, r, number, now, step);
    }
    list_drop_begun(&r->waiting);
}

/* Packets that have the switch keep it while they have flits and room. */
static void look_at_held(const struct booksim *q, struct booksim_router *r)
{
    r->held.begun = r->held.count;
    for (uint32_t i = 0; i < r->held.begun; i++) {
        struct booksim_lane *lane = &r->inputs[r->held.lanes[i]];
        lane->grant = is_full(q, r, lane->output) ? NO_GRANT : lane->output;
    }
}

static void go_on_held(struct booksim *q, struct booksim_router *r, tick_t now, tick_t step)
{
    for (uint32_t i = 0; i < r->held.begun; i++) {
        uint32_t number = r->held.lanes[i];
        const struct booksim_lane *lane = &r->inputs[number];
        r->held_lane[switch_row(q, r, number)] = NOBODY; /* taken again below, unless this was the last flit */
        r->held_by[switch_column(q, r, number, lane->output)] = NOBODY;
        if (lane->grant == NO_GRANT || has_full_queue(q, r, lane->output / q->num_vcs, now))
            list_add(&r->waiting, number);
        else
            leave(q, r, number, now, step);
    }
    list_drop_begun(&r->held);
}

/* ---- crossing ---- */

static void end_crossing(struct booksim *q, struct booksim_router *r, tick_t now)
{
    struct stage_list *crossing = &r->crossing;
    if (!crossing->begun || now < crossing->end)
        return;
    for (uint32_t i = 0; i < crossing->begun; i++) {
        uint32_t output = crossing->flits[i].output, port = output / q->num_vcs;
        const struct link *link = network_link(q->network, r->number, port);
        tick_t sent = r->free_at[port] > now ? r->free_at[port] : now;
        r->free_at[port] = sent + link->cycle;
        send_flit(q->network, link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT,
                  link_lane(link, output % q->num_vcs), crossing->flits[i].flit,
                  sent + q->config.cycle + link->latency);
    }
    crossing->count -= crossing->begun;
    memmove(crossing->flits, crossing->flits + crossing->begun, crossing->count * sizeof *crossing->flits);
    crossing->begun = 0;
}

/* ---- the step ---- */

/* True: something happened, or is under way. */
static bool step_once(struct booksim *q, struct booksim_router *r, tick_t now, tick_t step)
{
    bool is_active = queue_arrivals(q, r, now);
    list_begin(q, &r->routing, q->config.routing_latency, now);
    is_active |= ask_for_vcs(q, r);
    look_at_held(q, r);
    is_active |= ask_for_switch(q, r, now);
    list_begin(q, &r->crossing, q->config.crossbar_latency, now);
    is_active |= r->routing.count || r->held.count || r->crossing.count;

    end_routing(q, r, now);
    take_vcs(q, r);
    go_on_held(q, r, now, step);
    leave_by_switch(q, r, now, step);
    end_crossing(q, r, now);
    return is_active;
}

/* Steps before a cycle, since the first. */
static tick_t steps_before(const struct booksim *q, tick_t cycle)
{
    return q->config.steps == 1 ? cycle : (tick_t)((double)cycle * q->config.steps + 1e-9);
}

void booksim_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct booksim *q = routers;
    tick_t cycle = now / q->config.cycle, first = steps_before(q, cycle), end = steps_before(q, cycle + 1);
    for (const struct step_event *event = events, *last = event + count; event < last; event++) {
        struct booksim_router *r = &q->each[event->target];
        bool is_active = false;
        if (!router_is_due(q->engine, &r->step_at, now))
            continue;
        for (tick_t step = first; step < end; step++)
            is_active |= step_once(q, r, now, step + 1);
        if (is_active || ((r->waiting.count || r->vc.count) && has_any_full_queue(q, r, now)))
            booksim_wake(q, r, now + q->config.cycle);
    }
}

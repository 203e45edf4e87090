/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's router where its settings are the usual ones: one step a cycle, which is a tick, no speed-up, speculation,
 * priority or shared buffer, routing in one cycle or none, crossing in one, and lanes that fit a word. It does what
 * booksim.c does, cycle by cycle, by sets of lanes:
 *
 *   who came first does not matter: whatever a step grants goes by BookSim's numbers, so that lists become sets
 *   a channel takes what crosses at once: a flit is posted to the far end when it leaves its buffer
 *   allocators match by words
 *
 * On the 8x8 mesh a hop takes a quarter of the instructions by that. tests/contract/test_router_variants.py compares.
 */
#include "network/router/booksim_usual.h"

/* ---- one router during a step ---- */

struct view {
    struct booksim *q;
    const struct booksim_usual *u;
    struct usual_router *r;
    const struct usual_numbers *numbers;
    struct usual_input *inputs;
    struct usual_output *outputs;
    uint64_t asks, waiting, blocked, free; /* the router's, which gets them back at the end */
    struct event_list *const *flits, *const
                                         *credits; /* of now: to terminals [0] and routers [1], where these are alike */
    tick_t now;
};

/* Asks where packets that have come to the front may go. */
FW_INLINE void route(struct booksim *q, struct usual_router *r, uint64_t lanes, tick_t now)
{
    struct usual_input *inputs = inputs_of(r);
    const struct network *network = q->network;
    q->question.router = r->number;
    q->question.now = now;
    for (; lanes; lanes &= lanes - 1) {
        size_t lane = lowest_bit(lanes);
        struct usual_input *input = &inputs[lane];
        FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", r->number, lane,
                 input->front.packet, input->front.place & FLIT_POSITION);
        if (q->asks_ahead) {
            input->wants = *ahead_at(q, r, lane, (uint32_t)input->first - 1);
            continue;
        }
        ask_route(network, &q->question, input->front.packet, (uint32_t)lane, lane >= q->usual->local, &input->wants,
                  &r->usable, 1, now);
        if (network_is_traced(network, input->front.packet))
            trace_route(network, &q->question, (uint32_t)lane, now);
    }
}

static __attribute__((noinline)) void route_later(struct booksim *q, struct usual_router *r, uint64_t lanes, tick_t now)
{
    route(q, r, lanes, now);
}

/* ---- virtual channels ---- */

static __attribute__((noinline)) uint64_t count_columns(const struct usual_numbers *numbers, uint64_t outputs)
{
    uint64_t columns = 0;
    for (; outputs; outputs &= outputs - 1)
        columns |= bit(numbers->column[lowest_bit(outputs)]);
    return columns;
}

FW_INLINE uint64_t columns_of(const struct usual_numbers *numbers, uint64_t outputs)
{
    return numbers->are_ours ? outputs : count_columns(numbers, outputs);
}

FW_INLINE void take_vc(struct view *v, size_t lane, size_t output)
{
    struct usual_input *input = &v->inputs[lane];
    struct usual_output *out = &v->outputs[output];
    out->owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->column = v->numbers->facts[output].column;
    v->asks &= ~bit((uint32_t)lane);
    v->waiting |= bit((uint32_t)lane);
    v->free &= ~bit((uint32_t)output);
    v->blocked |= out->credits ? 0 : bit((uint32_t)lane);
}

/* Grants what a word_matching asks for to those who have rivals, or to all. */
static void allocate(const struct booksim *q, const struct usual_router *r, struct allocation *allocation,
                     uint32_t state_at, struct turn_rounds turns, struct word_requests asked, struct word_matching *m)
{
    uint32_t each = allocation == &q->vcs ? 1 : q->num_vcs;
    void *state = (unsigned char *)r + state_at;
    allocation->matching.rows = r->numbers->rows / each;
    allocation->matching.cols = r->numbers->columns / each;
    if (!turns.rounds) {
        allocation_run_words(allocation, state, &q->usual->random[r->number], asked, m);
        return;
    }
    words_end(m, asked, allocation);
    separable_match_turns(state, turns, m, asked.rows);
}

/* Who of the lanes that ask gets what, in `given`, by any allocator. */
static __attribute__((noinline)) uint64_t match_vcs(struct booksim *q, struct usual_router *r, uint64_t lanes,
                                                    uint64_t free, uint8_t *given)
{
    const struct usual_numbers *numbers = r->numbers;
    const struct usual_input *inputs = inputs_of(r);
    struct word_requests asked = {0};
    struct word_matching m;
    uint64_t winners = 0;
    for (; lanes; lanes &= lanes - 1) {
        size_t lane = lowest_bit(lanes);
        uint64_t wants = inputs[lane].wants & free;
        if (wants)
            words_request(&m, &asked, numbers->row[lane], columns_of(numbers, wants));
    }
    allocate(q, r, &q->vcs, q->usual->vc_state_at, q->usual->vc_turns, asked, &m);
    for (uint64_t left = m.granted; left; left &= left - 1) {
        size_t row = lowest_bit(left), lane = numbers->lane[row];
        given[lane] = numbers->output[m.grant[row]];
        winners |= bit((uint32_t)lane);
    }
    return winners;
}

/* True: somebody asked, or the allocator moves all the same. */
FW_INLINE bool share_vcs(struct view *v)
{
    struct booksim *q = v->q;
    const struct booksim_usual *u = v->u;
    const struct usual_numbers *numbers = v->numbers;
    uint64_t free = v->free, wanted, contested = 0, rivals = v->asks;
    wanted = v->inputs[lowest_bit(rivals)].wants & free;
    for (uint64_t left = rivals & (rivals - 1); left; left &= left - 1) {
        uint64_t wants = v->inputs[lowest_bit(left)].wants & free;
        contested |= wanted & wants;
        wanted |= wants;
    }
    if (!wanted && !q->vcs.runs_idle)
        return false;
    if (u->vc_turns.rounds) {
        const struct turn_memory memory =
            separable_turn_memory(PART(struct separable_state, v->r, u->vc_state_at), numbers->rows);
        for (uint64_t left = rivals; left; left &= left - 1) {
            size_t lane = lowest_bit(left), row = numbers->row[lane];
            uint64_t wants = v->inputs[lane].wants & free;
            if (wants & contested)
                continue;
            rivals ^= left & -left;
            if (wants)
                take_vc(v, lane, numbers->output[separable_take_turn(memory, row, columns_of(numbers, wants))]);
        }
        if (!rivals)
            return true;
    }
    uint8_t given[WORD_BITS];
    for (uint64_t left = match_vcs(q, v->r, rivals, free, given); left; left &= left - 1)
        take_vc(v, lowest_bit(left), given[lowest_bit(left)]);
    return true;
}

/* ---- the switch ---- */

/* By channels that are not alike, or lead to another part of the network. */
static __attribute__((noinline)) void send_apart(const struct booksim *q, const struct usual_router *r, size_t lane,
                                                 const struct usual_input *input, const struct usual_output *out,
                                                 tick_t now)
{
    const struct booksim_usual *u = q->usual;
    const struct usual_times *times = &u->times[(size_t)r->number * q->ports];
    bool from_router = lane >= u->local, to_router = input->output >= u->local;
    const struct usual_facts *facts = r->numbers->facts;
    send_credit(q->network, from_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT, input->back,
                now + times[facts[lane].port].credit);
    send_flit(q->network, to_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT, out->to, input->front,
              now + times[facts[input->output].port].flit);
}

/* The flit goes out, and a credit goes back. */
FW_INLINE void send(const struct view *v, size_t lane, const struct usual_input *input, const struct usual_output *out)
{
    const struct booksim_usual *u = v->u;
    if (!u->is_alike) {
        send_apart(v->q, v->r, lane, input, out, v->now);
        return;
    }
    struct engine *engine = v->q->engine;
    struct credit_event *credit = engine_list_post(engine, v->credits[lane >= u->local], sizeof *credit);
    credit->to = input->back;
    struct flit_event *event = engine_list_post(engine, v->flits[input->output >= u->local], sizeof *event);
    event->to = out->to;
    event->flit = input->front;
}

/* A winner's flit leaves its buffer. Returns whether another packet comes to the front. */
FW_INLINE bool leave(struct view *v, size_t lane)
{
    struct booksim *q = v->q;
    struct usual_input *input = &v->inputs[lane];
    uint32_t output = input->output;
    struct usual_output *out = &v->outputs[output];
    bool is_tail = input->front.place & FLIT_TAIL;
    FW_CHECK(out->credits > 0, "tick %llu router %u output lane %u: packet %u is sent without a credit",
             (unsigned long long)v->now, v->r->number, output, input->front.packet);
    send(v, lane, input, out);
    congestion_change(q->congestion, v->r->number, output, QUEUE_DOWNSTREAM, 1, v->now);
    trace_leaving(q->network, v->r->number, input->front, output, v->now);
    out->flits++;
    out->credits--;
    uint32_t count = --input->count;
    if (count)
        input->front = ring_of(v->u, v->r, lane)[input->first++ & q->ring_mask];
    if (!is_tail) {
        v->waiting &= ~(count ? 0 : bit((uint32_t)lane));
        v->blocked |= out->credits ? 0 : bit((uint32_t)lane);
        return false;
    }
    out->owner = NOBODY;
    if (q->rule.when_empty)
        v->u->tail_sent[v->r->number] |= bit(output);
    else
        v->free |= bit(output);
    v->waiting &= ~bit((uint32_t)lane);
    input->output = count ? LANE_WAITS : LANE_IDLE;
    return count;
}

/* Of the lanes of an input that share an output which it was granted, the next in turn. */
static size_t choose_lane(const struct usual_input *inputs, uint64_t lanes, uint32_t column, uint32_t first,
                          uint32_t turn)
{
    uint64_t vcs = 0;
    for (uint64_t left = lanes; left; left &= left - 1)
        vcs |= inputs[lowest_bit(left)].column == column ? left & -left : 0;
    vcs >>= first;
    return first + bits_next_cyclic(&vcs, 1, turn);
}

/*
 * By turns, where no two of the lanes are of one port: each input wants one output, and the first of these in turn gets it,
 * whichever side goes first and however many rounds there are. False, and nothing has changed, if two are of one port.
 */
FW_INLINE bool take_turns(struct view *v, uint64_t lanes, uint64_t *winners)
{
    const struct booksim_usual *u = v->u;
    const struct usual_facts *facts = v->numbers->facts;
    const struct turn_memory memory =
        separable_turn_memory(PART(struct separable_state, v->r, u->switch_state_at), v->numbers->ports.in_count);
    uint8_t taker[WORD_BITS]; /* by output */
    uint64_t asked = 0, ports = 0;
    for (uint64_t left = lanes; left; left &= left - 1) {
        size_t lane = lowest_bit(left), output = v->inputs[lane].column;
        if (ports & left & -left)
            return false;
        ports |= u->port_lanes[lane];
        if ((asked & bit((uint32_t)output)) &&
            !turn_is_before(facts[lane].row, facts[taker[output]].row, memory.last_row[output]))
            continue;
        taker[output] = (uint8_t)lane;
        asked |= bit((uint32_t)output);
    }
    for (; asked; asked &= asked - 1) {
        size_t output = lowest_bit(asked), lane = taker[output];
        const struct usual_facts its = facts[lane];
        memory.last_col[its.row] = (uint32_t)output;
        memory.last_row[output] = its.row;
        PART(uint8_t, v->r, u->turns_at)[its.port] = its.next_vc;
        *winners |= bit((uint32_t)lane);
    }
    return true;
}

/* Who of the lanes with a flit and room for it sends, by any allocator. */
static __attribute__((noinline)) uint64_t match_switch(struct booksim *q, struct usual_router *r, uint64_t lanes)
{
    const struct booksim_usual *u = q->usual;
    const struct usual_numbers *numbers = r->numbers;
    const struct usual_input *inputs = inputs_of(r);
    uint8_t *turns = PART(uint8_t, r, u->turns_at);
    struct word_requests asked = {0};
    struct word_matching m;
    uint64_t lanes_of[WORD_BITS], winners = 0;
    while (lanes) {
        const struct usual_facts its = numbers->facts[lowest_bit(lanes)];
        uint64_t mine = lanes & u->port_lanes[lowest_bit(lanes)], outputs = 0;
        lanes_of[its.row] = mine;
        lanes ^= mine;
        for (; mine; mine &= mine - 1)
            outputs |= bit(inputs[lowest_bit(mine)].column);
        words_request(&m, &asked, its.row, outputs);
    }
    allocate(q, r, &q->ways, u->switch_state_at, u->switch_turns, asked, &m);
    for (uint64_t left = m.granted; left; left &= left - 1) {
        size_t row = lowest_bit(left), lane = lowest_bit(lanes_of[row]);
        const struct usual_facts its = numbers->facts[lane];
        lane = choose_lane(inputs, lanes_of[row], m.grant[row], (uint32_t)(lane - its.vc), turns[its.port]);
        turns[its.port] = numbers->facts[lane].next_vc;
        winners |= bit((uint32_t)lane);
    }
    return winners;
}

FW_INLINE uint64_t share_switch(struct view *v, uint64_t lanes)
{
    uint64_t winners = 0;
    if (v->u->switch_turns.rounds && take_turns(v, lanes, &winners))
        return winners;
    return match_switch(v->q, v->r, lanes);
}

/* ---- the step ---- */

/* True: something happened, or is under way. */
FW_INLINE bool step_router(struct view *v)
{
    struct booksim *q = v->q;
    struct usual_router *r = v->r;
    bool is_active = r->is_active, routes_at_once = !q->config.routing_latency;
    uint64_t fresh = r->fresh, sends = v->waiting & ~v->blocked, next = 0;
    bool asks_switch = sends || (v->waiting && q->ways.runs_idle);
    r->is_active = false;
    if (fresh && routes_at_once) {
        route(q, r, fresh, v->now);
        v->asks |= fresh;
    }
    if (v->asks)
        is_active |= share_vcs(v);
    if (asks_switch) {
        uint64_t winners = share_switch(v, sends);
        r->is_active = winners;
        q->flit_hops += (uint32_t)__builtin_popcountll(winners);
        for (; winners; winners &= winners - 1)
            next |= leave(v, lowest_bit(winners)) ? winners & -winners : 0;
    }
    uint64_t routed = routes_at_once ? next : fresh; /* else next begins in the next step */
    if (routed)
        route_later(q, r, routed, v->now);
    r->fresh = routes_at_once ? 0 : next;
    r->asks = v->asks | routed;
    r->waiting = v->waiting;
    r->blocked = v->blocked;
    r->free = v->free;
    return is_active || asks_switch || (fresh && !routes_at_once);
}

static struct event_list *list_at(const struct booksim *q, uint32_t kind, tick_t latency)
{
    return q->usual->is_alike ? engine_list(q->engine, kind, q->engine->now + latency) : NULL;
}

/*
 * A network that does not fit the cache is fetched ahead in three strides, as by the input-queued router: the sets of a
 * router and its allocators' memory, the lanes that the sets name, and the packets that are to be routed.
 */
enum { SETS_AHEAD = 12, LANES_AHEAD = 8, PACKETS_AHEAD = 4, LINE = 64 };

static __attribute__((noinline)) void fetch_ahead(const struct booksim *q, const uint32_t *at, const uint32_t *end)
{
    const struct booksim_usual *u = q->usual;
    if (at + SETS_AHEAD < end) {
        struct usual_router *r = router_at(u, at[SETS_AHEAD]);
        __builtin_prefetch(r, 1);
        for (uint32_t byte = u->turns_at; byte < u->rings_at; byte += LINE)
            __builtin_prefetch(PART(char, r, byte), 1);
    }
    if (at + LANES_AHEAD < end) {
        struct usual_router *r = router_at(u, at[LANES_AHEAD]);
        for (uint64_t lanes = r->fresh | r->asks | r->waiting; lanes; lanes &= lanes - 1)
            __builtin_prefetch(&inputs_of(r)[lowest_bit(lanes)], 1);
        for (uint32_t byte = u->outputs_at; byte < u->turns_at; byte += LINE)
            __builtin_prefetch(PART(char, r, byte), 1);
    }
    if (at + PACKETS_AHEAD < end) {
        struct usual_router *r = router_at(u, at[PACKETS_AHEAD]);
        for (uint64_t lanes = r->fresh; lanes; lanes &= lanes - 1)
            __builtin_prefetch(network_packet(q->network, inputs_of(r)[lowest_bit(lanes)].front.packet), 1);
    }
}

/* Lists the routers that step now, for fetch_ahead. */
static uint32_t list_due(const struct booksim_usual *u, const uint64_t *due)
{
    uint32_t count = 0;
    BITS_EACH(router, due, u->due_words)
        u->order[count++] = (uint32_t)router;
    return count;
}

/* Registers are given out for the whole function at once, as in input_queued.c. */
#if defined __GNUC__ && !defined __clang__
__attribute__((optimize("ira-region=one")))
#endif
void booksim_usual_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct booksim *q = routers;
    (void)events, (void)count;
    const struct booksim_usual *u = q->usual;
    tick_t terminal = q->network->terminal_latency, channel = q->network->channel_latency;
    struct event_list *flits[] = {list_at(q, EVENT_TERMINAL_FLIT, terminal + 2), list_at(q, EVENT_FLIT, channel + 2)};
    struct event_list *credits[] = {list_at(q, EVENT_TERMINAL_CREDIT, terminal + 1),
                                    list_at(q, EVENT_CREDIT, channel + 1 + q->config.credit_latency)};
    uint64_t *due = u->due[now % 2], *next = u->due[(now + 1) % 2];
    const uint32_t *at = u->order, *end = at + (u->fetches_ahead ? list_due(u, due) : 0);
    bool any = false;
    q->engine->events--; /* each router is counted instead, as if it had an event of its own */
    for (size_t w = 0; w < u->due_words; w++) {
        uint64_t left = due[w];
        q->engine->events += (uint64_t)__builtin_popcountll(left);
        for (due[w] = 0; left; left &= left - 1) {
            struct usual_router *r = router_at(u, (uint32_t)(w * WORD_BITS + lowest_bit(left)));
            if (u->fetches_ahead)
                fetch_ahead(q, at++, end);
            if (!(r->is_active | r->fresh | r->asks | r->waiting))
                continue; /* a credit has come */
            struct view view = {q,       u,          r,          r->numbers, inputs_of(r), outputs_of(u, r),
                                r->asks, r->waiting, r->blocked, r->free,    flits,        credits,
                                now};
            if (!step_router(&view))
                continue;
            next[w] |= left & -left;
            any = true;
        }
    }
    if (any)
        booksim_usual_post_due(q, now + 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input-queued router: a buffer for each virtual channel at each input,
 * credits for the buffers beyond each output, one crossbar. After Dally and
 * Towles, "Principles and Practices of Interconnection Networks", chapter 16.
 *
 * A step does the stages in this order, each on the lanes that are ready for it:
 *
 *   route            front packets without a route: ask the algorithm
 *   allocate_vc      routed packets without an output lane
 *   allocate_switch  lanes with output lane, flit and credit: one per input and output
 *   traverse         winners leave: credit back, flit on its channel
 *   goes_on          or sleep until something can change
 *
 * A stage's latency is a ready_at time of the lane, not an event. A router that
 * granted nothing has nothing to do before a flit or credit arrives or a
 * ready_at comes, so it sleeps; arbiters move only on grants, so that sleeping
 * changes nothing.
 *
 * Each stage is compiled twice from the same text: once for the usual router
 * (`plain`: lanes fit one word, wormhole switching with a flit-wise crossbar, no
 * stage longer than a cycle, round-robin allocators), where most questions are
 * answered by the compiler, and once for all others. On the 8x8 mesh that is 18
 * million flit-hops a second against 6.
 */
#include "network/router/input_queued.h"

#include <string.h>

#define STAGE static inline __attribute__((always_inline))

/* How a stage is compiled; constants wherever it is used. */
struct variant {
    bool plain;
    bool traced;
    uint32_t words;
};
#define PLAIN ((struct variant){.plain = true, .words = 1})

/* Sets of lanes: one word in the plain variant, so that the compiler can keep it in a register. */
STAGE void add(uint64_t *set, size_t lane, struct variant is)
{
    set[is.plain ? 0 : lane / WORD_BITS] |= bit(lane);
}
STAGE void drop(uint64_t *set, size_t lane, struct variant is)
{
    set[is.plain ? 0 : lane / WORD_BITS] &= ~bit(lane);
}

/* Where a tick's flits and credits go: to terminals [0] and routers [1]. For the plain variant, whose channels are all
   alike. */
struct destinations {
    struct event_list *flits[2], *credits[2];
};

/* One router during a step. */
struct view {
    struct input_queued *q;
    struct router_head *head;
    struct input_lane *inputs;
    struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *busy, *free, *credited, *usable; /* see enum lane_set */
    const struct destinations *to;
    tick_t now;
    tick_t soonest; /* when the next busy lane is not any more */
    bool moved;     /* something was granted */
};

STAGE struct view view_of(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                          struct variant is)
{
    struct view view = {
        .q = q,
        .head = head,
        .inputs = inputs_of(head, is.words),
        .outputs = outputs_of(q, head),
        .fresh = lanes_in(head, SET_FRESH, is.words),
        .waiting = lanes_in(head, SET_WAITING, is.words),
        .sendable = lanes_in(head, SET_SENDABLE, is.words),
        .busy = lanes_in(head, SET_BUSY, is.words),
        .free = lanes_in(head, SET_FREE, is.words),
        .credited = credited_of(q, head),
        .usable = lanes_in(head, SET_USABLE, is.words),
        .to = to,
        .now = now,
        .soonest = NEVER,
    };
    return view;
}

/* Posts the event that steps all routers of a tick. */
static __attribute__((noinline)) void post_due(const struct input_queued *q, tick_t when)
{
    q->due_at[when % 2] = when;
    struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
    *event = (struct step_event){.target = NONE};
}

/* The router steps at `when`, or at its clock's next edge; in the plain variant that is this tick or the next. */
STAGE void wake(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    if (is.plain) {
        if (head->step_at == when)
            return;
        head->step_at = when;
        bits_add(q->due[when % 2], head->number);
        if (__builtin_expect(q->due_at[when % 2] != when, 0))
            post_due(q, when);
        return;
    }
    if (q->cycle > 1)
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    if (when < head->step_at) {
        head->step_at = when;
        struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
        *event = (struct step_event){.target = head->number};
    }
}

STAGE const struct lane_facts *facts_of(const struct input_queued *q, size_t lane, struct variant is)
{
    return is.plain ? &q->few_facts[lane] : &q->facts[lane];
}

/* A lane's stage takes until `when`. */
STAGE void keep_busy(const struct input_queued *q, struct router_head *head, uint64_t *busy, size_t lane, tick_t when,
                     struct variant is)
{
    add(busy, lane, is);
    if (!is.plain)
        q->ready_at[(size_t)head->number * q->lanes + lane] = when;
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, struct router_head *head, uint64_t *fresh, uint64_t *busy,
                        size_t lane, struct input_lane *input, tick_t when, struct variant is)
{
    CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", head->number, lane,
          input->front.packet, input->front.place & FLIT_POSITION);
    if (!is.plain && q->config.switching == STORE_AND_FORWARD &&
        input->count < network_packet(q->network, input->front.packet)->size)
        return false;
    input->output = LANE_WAITS;
    add(fresh, lane, is);
    if (!is.plain)
        keep_busy(q, head, busy, lane, when + q->routing, is);
    return true;
}

STAGE struct flit *ring_of(const struct input_queued *q, struct router_head *head, size_t lane, struct variant is)
{
    return PART(struct flit, facts_of(q, lane, is)->ring_at);
}

STAGE void receive_flit(const struct input_queued *q, const struct flit_event *event, tick_t now, struct variant is)
{
    struct router_head *head = block_of(q, event->to.target);
    size_t lane = event->to.lane;
    struct input_lane *input = &inputs_of(head, is.words)[lane];
    uint32_t count = input->count++;
    if (count) {
        CHECK(count < q->config.buffer_depth, "tick %llu router %u lane %zu: packet %u overruns the buffer",
              (unsigned long long)now, head->number, lane, event->flit.packet);
        ring_of(q, head, lane, is)[(input->first + count - 1) & q->ring_mask] = event->flit;
        if (is.plain || input->output != LANE_IDLE)
            return;
    } else {
        input->front = event->flit;
    }
    if (input->output == LANE_IDLE) {
        if (begin_packet(q, head, lanes_in(head, SET_FRESH, is.words), lanes_in(head, SET_BUSY, is.words), lane, input,
                         now, is))
            wake(q, head, now, is);
    } else if (outputs_of(q, head)[input->output].credits) {
        add(lanes_in(head, SET_SENDABLE, is.words), lane, is);
        wake(q, head, now, is);
    }
}

static void receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct flit_event *event = events, *end = event + count;
    if (q->is_plain && !q->fetches_ahead) {
        for (; event < end; event++)
            receive_flit(q, event, now, PLAIN);
        return;
    }
    for (; event < end; event++) {
        if (q->fetches_ahead && event + 12 < end) {
            struct router_head *ahead = block_of(q, event[12].to.target);
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch(&inputs_of(ahead, q->words)[event[12].to.lane], 1);
        }
        if (q->is_plain)
            receive_flit(q, event, now, PLAIN);
        else
            receive_flit(q, event, now, (struct variant){.words = q->words});
    }
}

STAGE void receive_credit(const struct input_queued *q, const struct credit_event *event, tick_t now,
                          struct variant is)
{
    struct router_head *head = block_of(q, event->to.target);
    struct output_lane *output = &outputs_of(q, head)[event->to.lane];
    CHECK(output->credits < q->config.buffer_depth, "tick %llu router %u lane %u: a credit too many",
          (unsigned long long)now, head->number, event->to.lane);
    if (output->credits++ == 0) {
        if (!is.plain && q->config.vc_needs_credit)
            add(credited_of(q, head), event->to.lane, is);
        if (output->owner != NOBODY && inputs_of(head, is.words)[output->owner].count)
            add(lanes_in(head, SET_SENDABLE, is.words), output->owner, is);
        else if (is.plain || !q->config.vc_needs_credit)
            return;
        wake(q, head, now, is);
    } else if (!is.plain && q->reserves_packet) {
        wake(q, head, now, is);
    }
}

static void receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct credit_event *event = events, *end = event + count;
    if (q->is_plain && !q->fetches_ahead) {
        for (; event < end; event++)
            receive_credit(q, event, now, PLAIN);
        return;
    }
    for (; event < end; event++) {
        if (q->fetches_ahead && event + 12 < end)
            __builtin_prefetch(&outputs_of(q, block_of(q, event[12].to.target))[event[12].to.lane], 1);
        if (q->is_plain)
            receive_credit(q, event, now, PLAIN);
        else
            receive_credit(q, event, now, (struct variant){.words = q->words});
    }
}

/* Lanes whose stage is over are busy no more. */
STAGE void end_stages(struct view *v, struct variant is)
{
    const struct input_queued *q = v->q;
    if (is.plain || q->ends_in_a_cycle) {
        for (uint32_t w = 0; w < is.words; w++)
            v->busy[w] = 0;
        return;
    }
    BITS_EACH(lane, v->busy, is.words) {
        tick_t ready_at = q->ready_at[(size_t)v->head->number * q->lanes + lane];
        if (ready_at <= v->now)
            drop(v->busy, lane, is);
        else
            v->soonest = ready_at < v->soonest ? ready_at : v->soonest;
    }
}

/* Asks the algorithm where the packet at the front of a lane may go. */
STAGE void route_lane(struct view *v, struct route *question, size_t lane, struct variant is)
{
    const struct input_queued *q = v->q;
    const struct input_lane *input = &v->inputs[lane];
    uint64_t *wants = wants_of(q, v->head, lane, is.words);
    for (uint32_t w = 0; w < is.words; w++)
        wants[w] = 0;
    question->packet = network_packet(q->network, input->front.packet);
    question->packet->hops += facts_of(q, lane, is)->at_router;
    question->draws = 0;
    question->vcs = wants;
    question->routing->route(question);
    uint64_t some = 0, wrong = 0;
    for (uint32_t w = 0; w < is.words; w++) {
        some |= wants[w];
        wrong |= wants[w] & ~v->usable[w];
    }
    CHECK(some && !wrong, "tick %llu router %u: routing gives packet %u for terminal %u %s",
          (unsigned long long)v->now, v->head->number, input->front.packet, question->packet->destination,
          wrong ? "an unused port" : "nowhere to go");
    if (is.traced && input->front.packet == q->network->traced)
        network_trace(q->network, v->now, v->head->number, "route", "from port %u vc %u, to terminal %u",
                      facts_of(q, lane, is)->port, facts_of(q, lane, is)->vc, question->packet->destination);
}

STAGE void route(struct view *v, struct variant is)
{
    struct route *question = &v->q->question;
    question->router = v->head->number;
    for (uint32_t w = 0; w < is.words; w++)
        for (uint64_t left = v->fresh[w]; left; left &= left - 1)
            route_lane(v, question, w * WORD_BITS + lowest_bit(left), is);
    for (uint32_t w = 0; w < is.words; w++) {
        v->waiting[w] |= v->fresh[w];
        v->fresh[w] = 0;
    }
}

/* When the packet at the front of a lane was made: smaller is older. */
static uint64_t age_of(const struct view *v, size_t lane)
{
    return network_packet(v->q->network, v->inputs[lane].front.packet)->created;
}

/* A lane holds an output lane from now on. The sets of waiting, free and busy lanes are the caller's. */
STAGE void hold_output(struct view *v, size_t lane, size_t output, struct variant is)
{
    const struct input_queued *q = v->q;
    struct input_lane *input = &v->inputs[lane];
    struct output_lane *out = &v->outputs[output];
    out->owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->out_port = facts_of(q, output, is)->port;
    if (out->credits)
        add(v->sendable, lane, is);
    if (is.traced && input->front.packet == q->network->traced)
        network_trace(q->network, v->now, v->head->number, "allocate_vc", "port %u vc %u",
                      facts_of(q, output, is)->port, facts_of(q, output, is)->vc);
}

/* What a lane may take of the output lanes that are free, one word of it. */
STAGE uint64_t wanted_outputs(const struct view *v, size_t lane, uint32_t word, struct variant is)
{
    uint64_t want = wants_of(v->q, v->head, lane, is.words)[word] & v->free[word];
    return !is.plain && v->q->config.vc_needs_credit ? want & v->credited[word] : want;
}

STAGE void request_outputs(const struct view *v, struct matching *m, size_t lane, struct variant is)
{
    uint64_t some = 0;
    for (uint32_t w = 0; w < is.words; w++) {
        uint64_t want = wanted_outputs(v, lane, w, is);
        m->wants[lane * is.words + w] = want;
        m->active_cols[w] |= want;
        some |= want;
        for (; want; want &= want - 1) {
            size_t output = w * WORD_BITS + lowest_bit(want);
            bits_add(m->wanted_by + output * is.words, lane);
            if (!is.plain && m->age)
                m->age[lane * m->cols + output] = age_of(v, lane);
        }
    }
    if (some)
        bits_add(m->active_rows, lane);
}

/* The allocator sees who wants what as a whole. */
STAGE bool match_outputs(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->vc_matching;
    for (uint32_t w = 0; w < is.words; w++)
        for (uint64_t left = v->waiting[w] & ~v->busy[w]; left; left &= left - 1)
            request_outputs(v, m, w * WORD_BITS + lowest_bit(left), is);
    if (!bits_any(m->active_rows, is.words))
        return false;
    m->random = &q->random[v->head->number];
    q->vc_allocator->allocate((unsigned char *)v->head + q->vc_state_at, q->config.vc_allocator.config, m);
    BITS_EACH(lane, m->granted, is.words) {
        hold_output(v, lane, m->grant[lane], is);
        drop(v->waiting, lane, is);
        drop(v->free, m->grant[lane], is);
        if (q->vc_allocation)
            keep_busy(q, v->head, v->busy, lane, v->now + q->vc_allocation, is);
    }
    matching_clear(m, is.words, is.words);
    return true;
}

STAGE void allocate_vc(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    if (!is.plain) {
        v->moved |= match_outputs(v, is);
        return;
    }
    uint8_t *last = (uint8_t *)v->head + q->vc_state_at;
    uint8_t asker[WORD_BITS];
    uint64_t asked = 0;
    for (uint64_t left = *v->waiting; left; left &= left - 1) { /* nobody is busy yet in a plain step */
        size_t lane = lowest_bit(left);
        uint64_t want = wanted_outputs(v, lane, 0, is);
        if (!want)
            continue;
        size_t output = turn_after(want, last[lane]);
        if ((asked & bit(output)) && !turn_is_before(lane, asker[output], last[q->lanes + output]))
            continue;
        asker[output] = (uint8_t)lane;
        asked |= bit(output);
    }
    v->moved |= asked != 0;
    *v->free &= ~asked;
    uint64_t granted = 0;
    for (; asked; asked &= asked - 1) {
        size_t output = lowest_bit(asked), lane = asker[output];
        last[lane] = (uint8_t)output;
        last[q->lanes + output] = (uint8_t)lane;
        granted |= bit(lane);
        hold_output(v, lane, output, is);
    }
    *v->waiting &= ~granted;
    *v->busy = granted & q->busy_after_grant;
}

/* May this lane ask for the switch now? The flow control of the crossbar has its say here. */
static bool may_send(struct view *v, size_t lane)
{
    const struct input_queued *q = v->q;
    const struct input_lane *input = &v->inputs[lane];
    if (q->reserves_packet && (input->front.place & FLIT_HEAD) &&
        v->outputs[input->output].credits < network_packet(q->network, input->front.packet)->size)
        return false;
    if (q->config.crossbar_flow != FLIT_BUFFER) {
        uint16_t *lock = &locks_of(q, v->head)[input->out_port];
        if (*lock != UNLOCKED && *lock != lane) {
            if (q->config.crossbar_flow == PACKET_BUFFER || bits_test(v->sendable, *lock))
                return false;
            *lock = UNLOCKED; /* the winner that took all is idle: others may have the output */
        }
    }
    return true;
}

/* The flit goes out, a credit goes back. Returns when the flit arrives. */
STAGE tick_t send(struct view *v, size_t lane, const struct input_lane *input, struct output_lane *out,
                  struct variant is)
{
    struct input_queued *q = v->q;
    const struct lane_facts *from = facts_of(q, lane, is), *to = facts_of(q, input->output, is);
    out->flits++;
    if (is.plain) {
        struct flit_event *flit = list_post(q->engine, v->to->flits[to->at_router], sizeof *flit);
        flit->to = out->to;
        flit->flit = input->front;
        struct credit_event *credit = list_post(q->engine, v->to->credits[from->at_router], sizeof *credit);
        credit->to = input->back;
        return v->now + q->to_channel + network_link(q->network, v->head->number, to->port)->latency;
    }
    /* Flits may leave the switch faster than the channel takes them. */
    const struct link *link = network_link(q->network, v->head->number, to->port);
    const struct link *back = network_link(q->network, v->head->number, from->port);
    tick_t *free_at = &free_at_of(q, v->head)[to->port], enters = v->now + q->to_channel;
    enters = enters > *free_at ? enters : *free_at;
    *free_at = enters + link->cycle;
    send_flit(q->engine, to->at_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT, out->to, input->front,
              enters + link->latency);
    send_credit(q->engine, from->at_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT, input->back,
                v->now + q->credit + back->latency);
    return enters + link->latency;
}

/* A winner leaves its buffer. */
STAGE void traverse(struct view *v, size_t lane, struct variant is)
{
    struct input_queued *q = v->q;
    struct input_lane *input = &v->inputs[lane];
    size_t output = input->output;
    struct output_lane *out = &v->outputs[output];
    struct flit flit = input->front;
    CHECK(out->credits > 0, "tick %llu router %u output lane %zu: packet %u is sent without a credit",
          (unsigned long long)v->now, v->head->number, output, flit.packet);
    tick_t arrival = send(v, lane, input, out, is);
    if (is.traced && flit.packet == q->network->traced)
        network_trace(q->network, v->now, v->head->number, "traverse", "flit %u by port %u vc %u, arrives at %llu",
                      flit.place & FLIT_POSITION, facts_of(q, output, is)->port, facts_of(q, output, is)->vc, (unsigned long long)arrival);

    if (--input->count)
        input->front = ring_of(q, v->head, lane, is)[input->first++ & q->ring_mask];
    out->credits--;
    if (!is.plain && q->config.vc_needs_credit && out->credits == 0)
        drop(v->credited, output, is);
    if (!is.plain && q->config.crossbar_flow != FLIT_BUFFER && (flit.place & FLIT_HEAD))
        locks_of(q, v->head)[input->out_port] = (uint16_t)lane;
    if (flit.place & FLIT_TAIL) {
        out->owner = NOBODY;
        add(v->free, output, is);
        drop(v->sendable, lane, is);
        if (!is.plain && q->config.crossbar_flow != FLIT_BUFFER)
            locks_of(q, v->head)[input->out_port] = UNLOCKED;
        input->output = LANE_IDLE;
        if (input->count)
            begin_packet(q, v->head, v->fresh, v->busy, lane, input, v->now + q->next_packet, is);
    } else if (out->credits == 0 || input->count == 0) {
        drop(v->sendable, lane, is);
    }
}

/* The VC arbiter of a switch input; it remembers whom it served. */
STAGE void *arbiter_state(const struct view *v, size_t row)
{
    return (unsigned char *)v->head + v->q->arbiter_state_at + row * v->q->arbiter_state_size;
}

/* The row of the switch that a lane's input uses. */
STAGE uint32_t row_of(const struct view *v, size_t lane, struct variant is)
{
    const struct lane_facts *facts = facts_of(v->q, lane, is);
    uint32_t speedup = is.plain ? 1 : v->q->config.input_speedup;
    return speedup == 1 ? facts->port : facts->port * speedup + facts->vc % speedup;
}

/* Which of the eligible lanes of a switch input uses the output port that the input was granted. */
STAGE uint32_t choose_lane(struct view *v, size_t row, size_t port, struct variant is)
{
    const struct input_queued *q = v->q;
    size_t first = (is.plain ? row : row / q->config.input_speedup) * q->num_vcs;
    uint64_t vcs = 0;
    for (uint32_t vc = 0; vc < q->num_vcs; vc++)
        if (bits_test(q->eligible, first + vc) && v->inputs[first + vc].out_port == port &&
            row_of(v, first + vc, is) == row)
            vcs |= bit(vc);
    uint32_t vc = lowest_bit(vcs);
    if (vcs & (vcs - 1)) {
        if (q->arbiter->needs_age)
            for (uint64_t left = vcs; left; left &= left - 1)
                q->vc_age[lowest_bit(left)] = age_of(v, first + lowest_bit(left));
        struct arbitration arbitration = {.requests = &vcs,
                                          .inputs = q->num_vcs,
                                          .words = 1,
                                          .age = q->vc_age,
                                          .random = &q->random[v->head->number]};
        vc = q->arbiter->pick(arbiter_state(v, row), &arbitration);
    }
    arbiter_served(q->arbiter, arbiter_state(v, row), q->num_vcs, vc);
    return first + vc;
}

STAGE void request_switch(struct view *v, struct matching *m, size_t lane, struct variant is)
{
    size_t row = row_of(v, lane, is), spread = is.plain ? 1 : v->q->config.output_speedup;
    for (uint32_t col = v->inputs[lane].out_port * spread, end = col + spread; col < end; col++) {
        matching_request(m, row, col);
        if (!is.plain && m->age) {
            uint64_t *oldest = &m->age[row * m->cols + col], age = age_of(v, lane);
            *oldest = age < *oldest ? age : *oldest;
        }
    }
}

static void forget_ages(struct matching *m)
{
    BITS_EACH(row, m->active_rows, m->row_words)
        BITS_EACH(col, m->wants + row * m->col_words, m->col_words)
            m->age[row * m->cols + col] = UINT64_MAX;
}

/* The allocator sees which input wants which output as a whole. q->eligible says who asks. */
STAGE void match_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->switch_matching;
    uint32_t row_words = is.plain ? 1 : m->row_words, col_words = is.plain ? 1 : m->col_words;
    BITS_EACH(lane, q->eligible, is.words)
        request_switch(v, m, lane, is);
    m->random = &q->random[v->head->number];
    q->switch_allocator->allocate((unsigned char *)v->head + q->switch_state_at, q->config.allocator.config, m);
    BITS_EACH(row, m->granted, row_words) {
        traverse(v, choose_lane(v, row, is.plain ? m->grant[row] : m->grant[row] / q->config.output_speedup, is), is);
        q->flit_hops++;
    }
    if (!is.plain && m->age)
        forget_ages(m);
    matching_clear(m, row_words, col_words);
}

/* An input with several lanes that can send: the one that asks for its output port. */
static __attribute__((noinline)) uint32_t choose_among(struct input_queued *q, struct router_head *head, uint64_t lanes)
{
    const struct input_lane *inputs = inputs_of(head, 1);
    const uint8_t *last = PART(const uint8_t, q->switch_state_at);
    size_t row = facts_of(q, lowest_bit(lanes), PLAIN)->port;
    uint64_t ports = 0, vcs = 0;
    for (uint64_t left = lanes; left; left &= left - 1)
        ports |= bit(inputs[lowest_bit(left)].out_port);
    size_t port = turn_after(ports, last[row]);
    for (uint64_t left = lanes; left; left &= left - 1)
        if (inputs[lowest_bit(left)].out_port == port)
            vcs |= bit(facts_of(q, lowest_bit(left), PLAIN)->vc);
    const struct arbitration arbitration = {.requests = &vcs, .inputs = q->num_vcs, .words = 1};
    void *state = PART(void, q->arbiter_state_at + row * sizeof(uint32_t));
    return row * q->num_vcs + (vcs & (vcs - 1) ? q->arbiter->pick(state, &arbitration) : lowest_bit(vcs));
}

/* What match_switch does with a round-robin allocator and an arbiter that remembers the last. */
STAGE void share_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    uint8_t *last = (uint8_t *)v->head + q->switch_state_at;
    uint32_t *last_vc = (uint32_t *)(void *)((unsigned char *)v->head + q->arbiter_state_at);
    uint8_t asker[WORD_BITS]; /* by port: the lane that it takes */
    uint64_t asked = 0;
    for (uint64_t left = *v->sendable & ~*v->busy; left;) {
        size_t lane = lowest_bit(left);
        const struct lane_facts *facts = facts_of(q, lane, is);
        uint64_t rivals = left & q->port_lanes << (lane - facts->vc);
        left ^= rivals;
        if (rivals & (rivals - 1))
            lane = choose_among(q, v->head, rivals);
        size_t port = v->inputs[lane].out_port;
        if ((asked & bit(port)) &&
            !turn_is_before(facts->port, facts_of(q, asker[port], is)->port, last[q->ports + port]))
            continue;
        asker[port] = (uint8_t)lane;
        asked |= bit(port);
    }
    v->moved |= asked != 0;
    q->flit_hops += (uint32_t)__builtin_popcountll(asked);
    for (; asked; asked &= asked - 1) {
        size_t port = lowest_bit(asked), lane = asker[port], row = facts_of(q, lane, is)->port;
        last[row] = (uint8_t)port;
        last[q->ports + port] = (uint8_t)row;
        last_vc[row] = facts_of(q, lane, is)->vc;
        traverse(v, lane, is);
    }
}

STAGE void allocate_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    if (is.plain) {
        share_switch(v, is);
        return;
    }
    for (uint32_t w = 0; w < is.words; w++)
        q->eligible[w] = v->sendable[w] & ~v->busy[w];
    BITS_EACH(lane, q->eligible, is.words)
        if (!may_send(v, lane))
            bits_remove(q->eligible, lane);
    if (bits_any(q->eligible, is.words)) {
        match_switch(v, is);
        v->moved = true;
    }
}

/* Has the router something to do in the next cycle? If not, it sleeps until something arrives or a stage is over. */
STAGE bool goes_on(const struct view *v, struct variant is)
{
    uint64_t work = 0;
    for (uint32_t w = 0; w < is.words; w++)
        work |= v->fresh[w] | v->waiting[w] | v->sendable[w];
    if (work && !v->moved && !is.plain && v->soonest != NEVER)
        wake(v->q, v->head, v->soonest, is);
    return work && v->moved;
}

/* One step of one router; true when it steps in the next cycle too. The usual router's sets are held in registers. */
STAGE bool step_router(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                       struct variant is)
{
    struct view view = view_of(q, head, now, to, is);
    uint64_t fresh, waiting, sendable, busy, free;
    struct view memory = view;
    if (is.plain) {
        fresh = *view.fresh, view.fresh = &fresh;
        waiting = *view.waiting, view.waiting = &waiting;
        sendable = *view.sendable, view.sendable = &sendable;
        busy = *view.busy, view.busy = &busy;
        free = *view.free, view.free = &free;
    }
    end_stages(&view, is);
    route(&view, is);
    allocate_vc(&view, is);
    allocate_switch(&view, is);
    bool again = goes_on(&view, is);
    if (is.plain) {
        *memory.fresh = fresh;
        *memory.waiting = waiting;
        *memory.sendable = sendable;
        *memory.busy = busy;
        *memory.free = free;
    }
    return again;
}

static struct destinations destinations_at(const struct input_queued *q, tick_t now)
{
    const struct network_config *config = q->network->config;
    tick_t latency = config->channel.latency, terminal = config->terminal_channel.latency;
    return (struct destinations){
        .flits = {engine_list(q->engine, EVENT_TERMINAL_FLIT, now + q->to_channel + terminal),
                  engine_list(q->engine, EVENT_FLIT, now + q->to_channel + latency)},
        .credits = {engine_list(q->engine, EVENT_TERMINAL_CREDIT, now + q->credit + terminal),
                    engine_list(q->engine, EVENT_CREDIT, now + q->credit + latency)},
    };
}

/*
 * A network that does not fit the cache is fetched ahead in three strides: the
 * sets of a router, the lanes that its sets name, and the packets that it will
 * route. On a 256x256 mesh waiting for packets took half of all time before.
 */
enum { SETS_AHEAD = 12, LANES_AHEAD = 8, PACKETS_AHEAD = 4 };

STAGE void fetch_ahead(const struct input_queued *q, const uint32_t *at, const uint32_t *end)
{
    if (at + SETS_AHEAD < end) {
        struct router_head *head = block_of(q, at[SETS_AHEAD]);
        __builtin_prefetch(head, 1);
        __builtin_prefetch(PART(char, 64), 1);
    }
    if (at + LANES_AHEAD < end) {
        struct router_head *head = block_of(q, at[LANES_AHEAD]);
        uint64_t lanes = *lanes_in(head, SET_FRESH, 1) | *lanes_in(head, SET_WAITING, 1) | *lanes_in(head, SET_SENDABLE, 1);
        for (; lanes; lanes &= lanes - 1)
            __builtin_prefetch(&inputs_of(head, 1)[lowest_bit(lanes)], 1);
        for (uint32_t lane = 0; lane < q->lanes && lane < 16; lane += 4)
            __builtin_prefetch(&outputs_of(q, head)[lane], 1);
    }
    if (at + PACKETS_AHEAD < end) {
        struct router_head *head = block_of(q, at[PACKETS_AHEAD]);
        BITS_EACH(lane, lanes_in(head, SET_FRESH, 1), 1)
            __builtin_prefetch(network_packet(q->network, inputs_of(head, 1)[lane].front.packet), 1);
    }
}

/* Steps one router of the due set, and puts it into the next one if it goes on. */
STAGE bool step_due(struct input_queued *q, size_t number, tick_t now, const struct destinations *to,
                    struct variant is)
{
    struct router_head *head = block_of(q, (uint32_t)number);
    if (!step_router(q, head, now, to, is))
        return false;
    head->step_at = now + 1;
    bits_add(q->due[(now + 1) % 2], head->number);
    return true;
}

/* These are apart so that each has the compiler's registers to itself. All return whether a router goes on. */
static __attribute__((noinline)) bool step_small(struct input_queued *q, tick_t now, const struct destinations *to)
{
    uint64_t *due = q->due[now % 2];
    bool any = false;
    for (size_t w = 0; w < q->router_words; w++) {
        uint64_t left = due[w];
        for (due[w] = 0; left; left &= left - 1)
            any |= step_due(q, w * WORD_BITS + lowest_bit(left), now, to, PLAIN);
    }
    return any;
}

static uint32_t list_due(struct input_queued *q, tick_t now)
{
    uint64_t *due = q->due[now % 2];
    uint32_t count = 0;
    BITS_EACH(router, due, q->router_words)
        q->order[count++] = (uint32_t)router;
    memset(due, 0, q->router_words * sizeof *due);
    return count;
}

static __attribute__((noinline)) bool step_large(struct input_queued *q, tick_t now, const struct destinations *to)
{
    bool any = false;
    for (const uint32_t *at = q->order, *end = at + list_due(q, now); at < end; at++) {
        fetch_ahead(q, at, end);
        any |= step_due(q, *at, now, to, PLAIN);
    }
    return any;
}

static __attribute__((noinline)) bool step_traced(struct input_queued *q, tick_t now, const struct destinations *to)
{
    bool any = false;
    for (const uint32_t *at = q->order, *end = at + list_due(q, now); at < end; at++)
        any |= step_due(q, *at, now, to, (struct variant){.plain = true, .traced = true, .words = 1});
    return any;
}

static void step_plain(struct input_queued *q, tick_t now)
{
    const struct destinations to = destinations_at(q, now);
    bool any = q->network->trace_out ? step_traced(q, now, &to)
               : q->fetches_ahead    ? step_large(q, now, &to)
                                     : step_small(q, now, &to);
    if (any && q->due_at[(now + 1) % 2] != now + 1)
        post_due(q, now + 1);
}

static void step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    if (q->is_plain) {
        step_plain(q, now);
        return;
    }
    const struct variant is = {.traced = q->network->trace_out != NULL, .words = q->words};
    const struct step_event *event = events;
    for (uint32_t i = 0; i < count; i++) {
        struct router_head *head = block_of(q, event[i].target);
        if (head->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        head->step_at = NEVER;
        if (step_router(q, head, now, NULL, is))
            wake(q, head, now + q->cycle, is);
    }
}

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .options = input_queued_options,
    .config_size = sizeof(struct input_queued_config),
    .example = "{\"type\": \"input_queued\", \"num_vcs\": 4, \"buffer_depth\": 8, \"allocator\": \"islip\"}",
    .num_vcs = input_queued_num_vcs,
    .buffer_depth = input_queued_depth,
    .max_packet = input_queued_max_packet,
    .build = input_queued_build,
    .receive_flits = receive_flits,
    .receive_credits = receive_credits,
    .step = step,
    .check_idle = input_queued_check_idle,
    .waits_for = input_queued_waits_for,
    .flit_hops = input_queued_flit_hops,
    .port_flits = input_queued_port_flits,
};
REGISTER_ROUTER(input_queued);

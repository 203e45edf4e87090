/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input-queued router: a buffer for each virtual channel at each input,
 * credits for the buffers beyond each output, one crossbar. After Dally and
 * Towles, "Principles and Practices of Interconnection Networks", chapter 16.
 *
 * A step does the stages in this order, each on the lanes that are ready for it:
 *
 *   end_stages       lanes whose stage is over are busy no more
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
 * Everything is compiled twice from this text: for the usual router (lanes fit one
 * word, wormhole switching with a flit-wise crossbar, no stage longer than a cycle,
 * round-robin allocators, channels that are alike), where most questions are answered
 * by the compiler and sets of lanes are registers, and for all others. On the 8x8
 * mesh a hop takes less than half of the instructions by that. Both leave the same state behind
 * after every step; the general one also does what the usual one could, for `flitwarp
 * trace` and for the test that compares them (tests/contract/test_router_variants.py).
 */
#include "network/router/input_queued.h"

#include <string.h>

/*
 * A function that stages seldom call. What the compiler knows of it (that it changes nothing, which registers it leaves
 * alone) must not decide how it lays out the stages: on the 8x8 mesh that took 4 instructions a hop.
 */
#if __has_attribute(noipa)
#define SELDOM static __attribute__((noipa))
#else
#define SELDOM static __attribute__((noinline))
#endif

/* Registers are given out for the whole function at once: 9 instructions a hop less in the usual variant, 6 more in the other. */
#if defined __GNUC__ && !defined __clang__
#define ONE_REGION __attribute__((optimize("ira-region=one")))
#else
#define ONE_REGION
#endif

/* Where a tick's flits and credits go: to terminals [0] and routers [1]. NULL, if not usual: their channels differ. */
struct destinations {
    struct event_list *flits[2], *credits[2];
};

/* ---- waking ---- */

SELDOM void post_step(const struct input_queued *q, tick_t when, uint32_t router)
{
    struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
    *event = (struct step_event){.target = router};
}

/* One event stands for the steps of all routers of a tick. */
SELDOM void post_due(const struct input_queued *q, tick_t when)
{
    q->due_at[when % 2] = when;
    post_step(q, when, FW_NONE);
}

/* The router steps in this tick or the next. */
STAGE void make_due(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    head->step_at = when;
    if (is.usual || q->is_usual)
        bits_add(q->due[when % 2], head->number);
    else
        q->woken[when % 2][q->woken_count[when % 2]++] = head->number;
}

/* The router steps at `when`, or at its clock's next edge. */
STAGE void wake(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    if (is.usual || q->steps_each_tick) {
        if (head->step_at == when)
            return;
        make_due(q, head, when, is);
        if (__builtin_expect(q->due_at[when % 2] != when, 0))
            post_due(q, when);
        return;
    }
    if (q->cycle > 1)
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    if (when < head->step_at) {
        head->step_at = when;
        post_step(q, when, head->number);
    }
}

/* A lane's stage takes until `when`. */
STAGE void keep_busy(const struct input_queued *q, struct router_head *head, uint64_t *busy, size_t lane, tick_t when,
                     struct variant is)
{
    add(busy, lane, is);
    if (!is.usual && !q->ends_in_a_cycle)
        q->ready_at[(size_t)head->number * q->lanes + lane] = when;
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, struct router_head *head, uint64_t *fresh, uint64_t *busy,
                        size_t lane, struct input_lane *input, tick_t when, struct variant is)
{
    FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", head->number, lane,
             input->front.packet, input->front.place & FLIT_POSITION);
    if (!is.usual && q->config.switching == STORE_AND_FORWARD &&
        input->count < network_packet(q->network, input->front.packet)->size)
        return false;
    input->output = LANE_WAITS;
    add(fresh, lane, is);
    if (!is.usual)
        keep_busy(q, head, busy, lane, when + q->routing, is);
    return true;
}

/* ---- what arrives is stored ---- */

STAGE void receive_flit(const struct input_queued *q, struct router_head *head, const struct flit_event *event,
                        tick_t now, struct variant is)
{
    size_t lane = event->to.lane;
    struct input_lane *input = &inputs_of(head, is.words)[lane];
    uint32_t count = input->count++;
    if (count) {
        FW_CHECK(count < q->depth, "tick %llu router %u lane %zu: packet %u overruns the buffer",
                 (unsigned long long)now, head->number, lane, event->flit.packet);
        ring_of(q, head, lane, is)[(input->first + count - 1) & q->ring_mask] = event->flit;
        if (is.usual || input->output != LANE_IDLE)
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

STAGE void receive_credit(const struct input_queued *q, struct router_head *head, struct output_lane *outputs,
                          const struct credit_event *event, tick_t now, struct variant is)
{
    uint32_t lane = event->to.lane;
    struct output_lane *output = &outputs[lane];
    if (!is.usual && q->congestion)
        q->congestion->ops->change(q->congestion, head->number, lane, QUEUE_DOWNSTREAM, -1, now);
    if (!is.usual && q->shares_room) {
        if (input_queued_return_shared(q, head, lane) || q->credits_wake)
            wake(q, head, now, is);
        return;
    }
    FW_CHECK(output->credits < q->room, "tick %llu router %u lane %u: a credit too many", (unsigned long long)now,
             head->number, lane);
    if (output->credits++ == 0) {
        if (!is.usual && q->config.vc_needs_credit)
            add(credited_of(q, head), lane, is);
        if (output->owner != NOBODY && inputs_of(head, is.words)[output->owner].count)
            add(lanes_in(head, SET_SENDABLE, is.words), output->owner, is);
        else if (is.usual || !q->config.vc_needs_credit)
            return;
        wake(q, head, now, is);
    } else if (!is.usual && q->credits_wake) {
        wake(q, head, now, is);
    }
}

/* Networks that do not fit the cache: what events to come will touch is fetched while those before are worked on. */
#define EVENTS_AHEAD 12

/* How many of a batch's events have one so far ahead of them. */
static uint32_t fetching_events(const struct input_queued *q, uint32_t count)
{
    return q->fetches_ahead && count > EVENTS_AHEAD ? count - EVENTS_AHEAD : 0;
}

STAGE void receive_flits(const struct input_queued *q, tick_t now, const struct flit_event *event, uint32_t count,
                         struct variant is)
{
    const struct blocks blocks = q->blocks;
    const struct flit_event *end = event + count, *fetching = event + fetching_events(q, count);
    for (; event < fetching; event++) {
        struct router_head *ahead = block_at(blocks, event[EVENTS_AHEAD].to.target);
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(&inputs_of(ahead, is.words)[event[EVENTS_AHEAD].to.lane], 1);
        if (!is.usual)
            __builtin_prefetch(network_packet(q->network, event[EVENTS_AHEAD].flit.packet), 1);
        receive_flit(q, block_at(blocks, event->to.target), event, now, is);
    }
    for (; event < end; event++)
        receive_flit(q, block_at(blocks, event->to.target), event, now, is);
}

STAGE void receive_credits(const struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count,
                           struct variant is)
{
    const struct blocks blocks = q->blocks, outputs = {blocks.first + q->outputs_at, blocks.stride};
    const struct credit_event *end = event + count, *fetching = event + fetching_events(q, count);
    for (; event < fetching; event++) {
        const struct lane_place *ahead = &event[EVENTS_AHEAD].to;
        __builtin_prefetch((struct output_lane *)(void *)block_at(outputs, ahead->target) + ahead->lane, 1);
        receive_credit(q, block_at(blocks, event->to.target), (void *)block_at(outputs, event->to.target), event, now,
                       is);
    }
    for (; event < end; event++)
        receive_credit(q, block_at(blocks, event->to.target), (void *)block_at(outputs, event->to.target), event, now,
                       is);
}

void input_queued_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    if (q->is_usual)
        receive_flits(q, now, events, count, USUAL);
    else
        receive_flits(q, now, events, count, GENERAL(q->words));
}

void input_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    if (q->is_usual)
        receive_credits(q, now, events, count, USUAL);
    else
        receive_credits(q, now, events, count, GENERAL(q->words));
}

void input_queued_look_again(struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count)
{
    for (const struct credit_event *end = event + count; event < end; event++) {
        struct router_head *head = block_of(q, event->to.target);
        if (bits_any(lanes_in(head, SET_WAITING, q->words), q->words))
            wake(q, head, now, GENERAL(q->words));
    }
}

void input_queued_begin_next(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t now)
{
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    if (input->output < LANE_WAITS) {
        outputs_of(q, head)[input->output].owner = NOBODY;
        bits_add(lanes_in(head, SET_FREE, q->words), input->output);
        if (q->locks_outputs && locks_of(q, head)[input->out_port] == lane)
            locks_of(q, head)[input->out_port] = UNLOCKED;
    }
    for (enum lane_set set = SET_FRESH; set <= SET_BUSY; set++)
        bits_remove(lanes_in(head, set, q->words), lane);
    input->output = LANE_IDLE;
    if (input->count)
        begin_packet(q, head, lanes_in(head, SET_FRESH, q->words), lanes_in(head, SET_BUSY, q->words), lane, input, now,
                     GENERAL(q->words));
}

void input_queued_wake(const struct input_queued *q, struct router_head *head, tick_t now)
{
    wake(q, head, now, GENERAL(q->words));
}

/* ---- packets at the front of their lanes are routed and are given output lanes ---- */

STAGE void end_stages(struct view *v, struct variant is)
{
    const struct input_queued *q = v->q;
    if (is.usual || q->ends_in_a_cycle) {
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

STAGE bool is_traced(const struct view *v, struct flit flit, struct variant is)
{
    return !is.usual && __builtin_expect(v->traces, 0) && flit.packet == v->q->network->traced;
}

STAGE void route(struct view *v, struct variant is)
{
    const struct input_queued *q = v->q;
    struct route *question = &v->q->question;
    question->router = v->head->number;
    if (!is.usual)
        question->now = v->now;
    BITS_EACH(lane, v->fresh, is.words) {
        struct flit front = v->inputs[lane].front;
        ask_route(q->network, question, front.packet, facts_of(q, lane, is)->at_router,
                  v->wants + lane * v->wants_apart, v->usable, is.words, v->now);
        if (is_traced(v, front, is))
            trace_route(q->network, question, (uint32_t)lane, v->now);
    }
    for (uint32_t w = 0; w < is.words; w++) {
        v->waiting[w] |= v->fresh[w];
        v->fresh[w] = 0;
    }
}

/* A lane holds an output lane from now on. The set of free lanes is the caller's, and all sets but one if usual. */
STAGE void hold_output(struct view *v, size_t lane, size_t output, struct variant is)
{
    struct input_lane *input = &v->inputs[lane];
    struct output_lane *out = &v->outputs[output];
    const struct lane_facts *facts = facts_of(v->q, output, is);
    out->owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->out_port = facts->port;
    if (out->credits)
        add(v->sendable, lane, is);
    if (is_traced(v, input->front, is))
        network_trace(v->q->network, v->now, v->head->number, "allocate_vc", "port %u vc %u", facts->port, facts->vc);
    if (is.usual)
        return;
    drop(v->waiting, lane, is);
    if (v->q->busy_after_grant)
        keep_busy(v->q, v->head, v->busy, lane, v->now + v->q->vc_allocation, is);
}

void input_queued_hold(struct view *v, size_t lane, size_t output)
{
    hold_output(v, lane, output, GENERAL(v->q->words));
}

/* What a lane may take of the output lanes that are free, one word of it. */
STAGE uint64_t wanted_outputs(const struct view *v, size_t lane, uint32_t word, struct variant is)
{
    uint64_t want = (v->wants + lane * v->wants_apart)[word] & v->free[word];
    if (is.usual || !v->q->config.vc_needs_credit)
        return want;
    want &= v->credited[word];
    if (!v->q->needs_room)
        return want;
    const struct view seen = *v;
    return input_queued_with_room(&seen, lane, word, want);
}

uint64_t input_queued_wanted(const struct view *v, size_t lane, uint32_t word)
{
    return wanted_outputs(v, lane, word, GENERAL(v->q->words));
}

/* What the round-robin allocator would grant. */
STAGE void share_outputs(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    const struct turns turns = turns_at((unsigned char *)v->head + q->vc_state_at, q->lanes);
    uint16_t asker[TURNS_MOST]; /* by output: the lane that it takes */
    uint64_t asked[TURNS_MOST / WORD_BITS] = {0}, wanted[TURNS_MOST / WORD_BITS], granted = 0;
    for (uint32_t word = 0; word < is.words; word++)
        /* nobody is busy yet in a usual step */
        for (uint64_t left = v->waiting[word] & ~(is.usual ? 0 : v->busy[word]); left; left &= left - 1) {
            size_t lane = word * WORD_BITS + lowest_bit(left);
            uint64_t some = 0;
            for (uint32_t w = 0; w < is.words; w++)
                some |= wanted[w] = wanted_outputs(v, lane, w, is);
            if (!some)
                continue;
            size_t output = turn_after(wanted, is.words, turns.last_col[lane]);
            turns_ask(turns, word_of(asked, output, is), asker, lane, output);
        }
    for (uint32_t w = 0; w < is.words; w++) {
        v->free[w] &= ~asked[w];
        v->moved |= asked[w] != 0;
    }
    BITS_EACH(output, asked, is.words) {
        /* cppcheck-suppress uninitvar -- asker is set for each bit of asked */
        size_t lane = asker[output];
        turns_grant(turns, lane, output);
        hold_output(v, lane, output, is);
        granted |= bit((uint32_t)lane);
    }
    if (is.usual) {
        *v->waiting &= ~granted;
        *v->busy = granted & q->busy_after_grant;
    }
}

STAGE void allocate_vc(struct view *v, struct variant is)
{
    if (is.usual || v->q->takes_turns) {
        share_outputs(v, is);
        return;
    }
    struct view seen = *v;
    v->moved = input_queued_match_outputs(&seen);
}

/* ---- lanes that hold an output lane share the switch, and the winners' flits leave ---- */

/* May this lane ask for the switch now? The flow control of the crossbar has its say here. */
bool input_queued_may_send(const struct view *v, size_t lane)
{
    const struct input_queued *q = v->q;
    const struct input_lane *input = &v->inputs[lane];
    if (q->reserves_packet && (input->front.place & FLIT_HEAD) &&
        v->outputs[input->output].credits < network_packet(q->network, input->front.packet)->size)
        return false;
    if (q->locks_outputs) {
        uint16_t *lock = &locks_of(q, v->head)[input->out_port];
        if (*lock != UNLOCKED && *lock != lane) {
            if (q->config.crossbar_flow == PACKET_BUFFER || bits_test(v->sendable, *lock))
                return false;
            *lock = UNLOCKED; /* the winner that took all is idle: others may have the output */
        }
    }
    return true;
}

/* When something gets to the far end of a lane's channel, that enters it or its end here at `sent`. */
static tick_t arrival_at(const struct input_queued *q, const struct router_head *head, const struct lane_facts *facts,
                         tick_t sent)
{
    return sent + network_link(q->network, head->number, facts->port)->latency;
}

/* Sends by channels of which one leads to another part of the network. */
SELDOM void send_across(const struct input_queued *q, const struct router_head *head, const struct input_lane *input,
                        size_t lane, tick_t granted, tick_t now)
{
    const struct lane_facts *from = &q->facts[lane], *to = &q->facts[input->output];
    const struct link *back = network_link(q->network, head->number, from->port);
    const struct link *link = network_link(q->network, head->number, to->port);
    send_credit(q->network, from->at_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT, link_lane(back, from->vc),
                now + q->credit + back->latency);
    if (q->outputs)
        output_put(q->outputs, head->number, input->output, input->front, now, now + q->to_channel);
    else
        send_flit(q->network, to->at_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT, link_lane(link, to->vc), input->front,
                  granted + q->to_channel + link->latency);
}

/* Room for an event to one of the terminals or routers; there is a list for it, unless channels differ. */
STAGE void *post(const struct view *v, struct event_list *const *lists, const struct lane_facts *facts, uint32_t kind,
                 tick_t sent, uint32_t size, struct variant is)
{
    struct event_list *list = lists[facts->at_router];
    if (is.usual || list)
        return engine_list_post(v->q->engine, list, size);
    kind += facts->at_router ? 0 : EVENT_TERMINAL_FLIT - EVENT_FLIT;
    return engine_post(v->q->engine, kind, arrival_at(v->q, v->head, facts, sent), size);
}

/* The flit goes out, a credit goes back. */
STAGE void send(const struct view *v, size_t lane, const struct input_lane *input, const struct output_lane *out,
                tick_t granted, struct variant is)
{
    const struct input_queued *q = v->q;
    if (__builtin_expect((int32_t)(input->back.lane | out->to.lane) < 0, 0)) { /* ELSEWHERE */
        send_across(q, v->head, input, lane, granted, v->now);
        return;
    }
    struct credit_event *credit =
        post(v, v->to->credits, facts_of(q, lane, is), EVENT_CREDIT, v->now + q->credit, sizeof *credit, is);
    credit->to = input->back;
    if (!is.usual && q->outputs) {
        output_put(q->outputs, v->head->number, input->output, input->front, v->now, v->now + q->to_channel);
        return;
    }
    struct flit_event *event =
        post(v, v->to->flits, facts_of(q, input->output, is), EVENT_FLIT, granted + q->to_channel, sizeof *event, is);
    event->to = out->to;
    event->flit = input->front;
}

/* When the switch would have to grant a flit so that its channel takes it without waiting. */
STAGE tick_t wait_for_channel(const struct view *v, uint32_t port)
{
    tick_t *free_at = &free_at_of(v->q, v->head)[port], granted = v->now > *free_at ? v->now : *free_at;
    *free_at = granted + network_link(v->q->network, v->head->number, port)->cycle;
    return granted;
}

SELDOM void trace_flit(const struct input_queued *q, const struct router_head *head, size_t output, struct flit flit,
                       tick_t granted, tick_t now)
{
    const struct lane_facts *facts = &q->facts[output];
    tick_t crossed = granted + q->to_channel;
    network_trace(q->network, now, head->number, "traverse", "flit %u by port %u vc %u, %s at %llu",
                  flit.place & FLIT_POSITION, facts->port, facts->vc, q->outputs ? "queued" : "arrives",
                  (unsigned long long)(q->outputs ? crossed : arrival_at(q, head, facts, crossed)));
}

/* A winner leaves its buffer. */
STAGE void traverse(struct view *v, size_t lane, struct variant is)
{
    struct input_queued *q = v->q;
    struct input_lane *input = &v->inputs[lane];
    size_t output = input->output;
    struct output_lane *out = &v->outputs[output];
    uint32_t place = input->front.place;
    FW_CHECK(out->credits > 0, "tick %llu router %u output lane %zu: packet %u is sent without a credit",
             (unsigned long long)v->now, v->head->number, output, input->front.packet);
    out->flits++;
    tick_t granted = !is.usual && q->queues_to_send ? wait_for_channel(v, input->out_port) : v->now;
    if (!is.usual && q->congestion)
        q->congestion->ops->change(q->congestion, v->head->number, (uint32_t)output, QUEUE_DOWNSTREAM, 1, v->now);
    send(v, lane, input, out, granted, is);
    if (is_traced(v, input->front, is))
        trace_flit(q, v->head, output, input->front, granted, v->now);

    uint32_t count = --input->count;
    if (!is.usual && q->shares_room) {
        input_queued_spend_shared(q, v->head, (uint32_t)output, input->front);
    } else {
        out->credits--;
        if (!is.usual && q->config.vc_needs_credit && out->credits == 0)
            drop(v->credited, output, is);
    }
    if (count)
        input->front = ring_of(q, v->head, lane, is)[input->first++ & q->ring_mask];
    if (!is.usual && q->locks_outputs && (place & FLIT_HEAD))
        locks_of(q, v->head)[input->out_port] = (uint16_t)lane;
    if (place & FLIT_TAIL) {
        out->owner = NOBODY;
        add(v->free, output, is);
        drop(v->sendable, lane, is);
        if (!is.usual && q->locks_outputs)
            locks_of(q, v->head)[input->out_port] = UNLOCKED;
        input->output = LANE_IDLE;
        if (count)
            begin_packet(q, v->head, v->fresh, v->busy, lane, input, v->now + q->next_packet, is);
    } else if (out->credits == 0 || count == 0) {
        drop(v->sendable, lane, is);
    }
}

void input_queued_leave(struct view *v, size_t lane)
{
    traverse(v, lane, GENERAL(v->q->words));
    v->q->flit_hops++;
}

#define CONTESTED 0x80000000u

/* An input with several VCs that can send: the lane that asks for its output port, CONTESTED if others wanted that. */
SELDOM uint32_t choose_among(const struct input_queued *q, struct router_head *head, const struct input_lane *inputs,
                             uint32_t row, uint64_t ready, uint32_t last_port)
{
    uint32_t first = row * q->num_vcs, least = UINT32_MAX;
    uint64_t vcs = 0;
    inputs += first;
    for (uint64_t left = ready; left; left &= left - 1) {
        uint32_t ports = inputs[lowest_bit(left)].out_port - last_port - 1; /* that come before this one */
        vcs = ports < least ? 0 : vcs;
        least = ports < least ? ports : least;
        vcs |= ports == least ? left & -left : 0;
    }
    if (!(vcs & (vcs - 1)))
        return first + (uint32_t)lowest_bit(vcs);
    const uint32_t *last_vc = PART(const uint32_t, q->arbiter_state_at);
    return (first + turn_after(&vcs, 1, last_vc[arbiter_number(q, row, last_port + 1 + least)])) | CONTESTED;
}

/* Of the winners, by output port, those that other VCs of their input stood back for have had their turn. */
SELDOM void note_turns(const struct input_queued *q, struct router_head *head, const uint16_t *winner, uint64_t ports,
                       uint64_t contested)
{
    uint32_t *last_vc = PART(uint32_t, q->arbiter_state_at);
    for (; ports; ports &= ports - 1) {
        size_t port = lowest_bit(ports);
        const struct lane_facts *facts = &q->facts[winner[port]];
        if (contested & bit(facts->port))
            last_vc[arbiter_number(q, facts->port, port)] = facts->vc;
    }
}

/* Takes the lanes of one port, which may go on in the next word, out of a set. True, and its VCs, if it has several. */
STAGE bool take_port(const struct input_queued *q, uint64_t *left, size_t lane, uint32_t vc, uint64_t *vcs,
                     struct variant is)
{
    if (is.words == 1) {
        uint64_t lanes = *left & q->port_lanes[lane];
        *left ^= lanes;
        *vcs = lanes >> (lane - vc);
        return lanes & (lanes - 1);
    }
    uint32_t word = (uint32_t)(lane / WORD_BITS), shift = lane % WORD_BITS;
    uint64_t rest = q->port_lanes[0] >> vc, found = left[word] >> shift & rest;
    left[word] ^= found << shift;
    if (shift + q->num_vcs - vc > WORD_BITS && word + 1 < is.words) {
        uint64_t more = left[word + 1] << (WORD_BITS - shift) & rest;
        left[word + 1] ^= more >> (WORD_BITS - shift);
        found |= more;
    }
    *vcs = found << vc;
    return found & (found - 1);
}

/* Lanes that may ask for the switch. */
STAGE void find_eligible(struct view *v, uint64_t *eligible, struct variant is)
{
    const struct input_queued *q = v->q;
    for (uint32_t w = 0; w < is.words; w++)
        eligible[w] = v->sendable[w] & ~v->busy[w];
    if (!is.usual && (q->reserves_packet || q->locks_outputs))
        BITS_EACH(lane, eligible, is.words) {
            const struct view seen = *v;
            if (!input_queued_may_send(&seen, lane))
                bits_remove(eligible, (uint32_t)lane);
        }
}

/* What the round-robin allocator would grant, and a round-robin arbiter among the VCs of an input. */
STAGE void share_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    const struct turns turns = turns_at((unsigned char *)v->head + q->switch_state_at, q->ports);
    uint16_t asker[WORD_BITS];         /* by output port: the lane that it takes */
    uint64_t asked = 0, contested = 0; /* sets of output ports; of inputs */
    uint64_t left[TURNS_MOST / WORD_BITS];
    find_eligible(v, left, is);
    for (uint32_t w = 0; w < is.words; w++)
        while (left[w]) {
            size_t lane = w * WORD_BITS + lowest_bit(left[w]);
            const struct lane_facts *facts = facts_of(q, lane, is);
            uint64_t vcs;
            if (take_port(q, left, lane, facts->vc, &vcs, is)) {
                uint32_t chosen = choose_among(q, v->head, v->inputs, facts->port, vcs, turns.last_col[facts->port]);
                lane = chosen & ~CONTESTED;
                contested |= (uint64_t)(chosen >> 31) << facts->port;
            }
            size_t port = v->inputs[lane].out_port;
            if ((asked & bit((uint32_t)port)) &&
                !turn_is_before(facts->port, facts_of(q, asker[port], is)->port, turns.last_row[port]))
                continue;
            asker[port] = (uint16_t)lane;
            asked |= bit((uint32_t)port);
        }
    if (contested)
        note_turns(q, v->head, asker, asked, contested);
    v->moved |= asked != 0;
    q->flit_hops += (uint32_t)__builtin_popcountll(asked);
    for (; asked; asked &= asked - 1) {
        /* cppcheck-suppress uninitvar -- asker is set for each bit of asked */
        size_t port = lowest_bit(asked), lane = asker[port];
        turns_grant(turns, facts_of(q, lane, is)->port, port);
        traverse(v, lane, is);
    }
}

STAGE void allocate_switch(struct view *v, struct variant is)
{
    if (is.usual || v->q->takes_turns) {
        share_switch(v, is);
        return;
    }
    find_eligible(v, v->q->eligible, is);
    if (bits_any(v->q->eligible, is.words)) {
        struct view seen = *v;
        input_queued_match_switch(&seen);
        v->moved = true;
    }
}

/* ---- the step ---- */

/* Has the router something to do in the next cycle? If not, it sleeps until something arrives or a stage is over. */
STAGE bool goes_on(const struct view *v, struct variant is)
{
    uint64_t work = 0;
    for (uint32_t w = 0; w < is.words; w++)
        work |= v->fresh[w] | v->waiting[w] | v->sendable[w];
    if (work && !v->moved && !is.usual && v->soonest != FW_NEVER)
        wake(v->q, v->head, v->soonest, is);
    return work && v->moved;
}

/* One step of one router; true when it steps in the next cycle too. The usual router's sets are held in registers. */
STAGE bool step_router(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                       struct variant is)
{
    uint64_t fresh, waiting, sendable, busy = 0, free;
    if (is.usual) {
        fresh = *lanes_in(head, SET_FRESH, 1);
        waiting = *lanes_in(head, SET_WAITING, 1);
        sendable = *lanes_in(head, SET_SENDABLE, 1);
        free = *lanes_in(head, SET_FREE, 1);
    }
    struct view view = {
        .q = q,
        .head = head,
        .inputs = inputs_of(head, is.words),
        .outputs = outputs_of(q, head),
        .fresh = is.usual ? &fresh : lanes_in(head, SET_FRESH, is.words),
        .waiting = is.usual ? &waiting : lanes_in(head, SET_WAITING, is.words),
        .sendable = is.usual ? &sendable : lanes_in(head, SET_SENDABLE, is.words),
        .busy = is.usual ? &busy : lanes_in(head, SET_BUSY, is.words),
        .free = is.usual ? &free : lanes_in(head, SET_FREE, is.words),
        .credited = credited_of(q, head),
        .usable = lanes_in(head, SET_USABLE, is.words),
        .wants = wants_of(q, head, 0, is.words),
        .wants_apart = is.words == 1 ? sizeof(struct input_lane) / sizeof(uint64_t) : is.words,
        .to = to,
        .traces = !is.usual && q->network->trace_out,
        .now = now,
        .soonest = FW_NEVER,
        .moved = false,
    };
    end_stages(&view, is);
    route(&view, is);
    allocate_vc(&view, is);
    allocate_switch(&view, is);
    bool again = goes_on(&view, is);
    if (is.usual) {
        *lanes_in(head, SET_FRESH, 1) = fresh;
        *lanes_in(head, SET_WAITING, 1) = waiting;
        *lanes_in(head, SET_SENDABLE, 1) = sendable;
        *lanes_in(head, SET_FREE, 1) = free;
    }
    return again;
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
        uint64_t lanes =
            *lanes_in(head, SET_FRESH, 1) | *lanes_in(head, SET_WAITING, 1) | *lanes_in(head, SET_SENDABLE, 1);
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

/* Lists the routers that step now, for fetch_ahead. */
static uint32_t list_due(const struct input_queued *q, const uint64_t *due)
{
    uint32_t *next = q->order;
    BITS_EACH(router, due, q->router_words)
        *next++ = (uint32_t)router;
    return (uint32_t)(next - q->order);
}

/* Where events of a kind go that are sent now; NULL: their channels' latencies differ, or are too long. */
static struct event_list *list_at(const struct input_queued *q, uint32_t kind, tick_t sent, tick_t latency)
{
    bool is_far = sent + latency - q->engine->now >= WHEEL_SLOTS;
    return latency && !is_far ? engine_list(q->engine, kind, sent + latency) : NULL;
}

STAGE void step_routers(struct input_queued *q, tick_t now, const uint32_t *list, uint32_t count, struct variant is)
{
    const struct destinations to = {
        .flits = {list_at(q, EVENT_TERMINAL_FLIT, now + q->to_channel,
                          q->queues_to_send ? 0 : q->network->terminal_latency),
                  list_at(q, EVENT_FLIT, now + q->to_channel, q->queues_to_send ? 0 : q->network->channel_latency)},
        .credits = {list_at(q, EVENT_TERMINAL_CREDIT, now + q->credit, q->network->terminal_latency),
                    list_at(q, EVENT_CREDIT, now + q->credit, q->network->channel_latency)},
    };
    const struct blocks blocks = q->blocks;
    bool any = false;
    if (is.usual) {
        uint64_t *due = q->due[now % 2];
        const uint32_t *at = q->order, *end = at + (q->fetches_ahead ? list_due(q, due) : 0);
        for (size_t w = 0; w < q->router_words; w++) {
            uint64_t left = due[w];
            q->engine->events += (uint64_t)__builtin_popcountll(left);
            for (due[w] = 0; left; left &= left - 1) {
                struct router_head *head = block_at(blocks, (uint32_t)(w * WORD_BITS + lowest_bit(left)));
                if (q->fetches_ahead)
                    fetch_ahead(q, at++, end);
                if (!step_router(q, head, now, &to, is))
                    continue;
                make_due(q, head, now + 1, is);
                any = true;
            }
        }
    } else {
        for (const uint32_t *at = list, *end = at + count; at < end; at++) {
            struct router_head *head = block_at(blocks, *at);
            if (!step_router(q, head, now, &to, is))
                continue;
            if (q->steps_each_tick)
                make_due(q, head, now + 1, is);
            else
                wake(q, head, now + q->cycle, is);
            any = q->steps_each_tick;
        }
    }
    if (any && q->due_at[(now + 1) % 2] != now + 1)
        post_due(q, now + 1);
}

/* The variants are apart so that each has the compiler's registers to itself. */
static __attribute__((noinline)) ONE_REGION void step_usual(struct input_queued *q, tick_t now)
{
    step_routers(q, now, NULL, 0, USUAL);
}

static __attribute__((noinline)) void step_one_word(struct input_queued *q, tick_t now, const uint32_t *list,
                                                    uint32_t count)
{
    step_routers(q, now, list, count, GENERAL(1));
}

static __attribute__((noinline)) void step_general(struct input_queued *q, tick_t now, const uint32_t *list,
                                                   uint32_t count)
{
    step_routers(q, now, list, count, GENERAL(q->words));
}

/* Those of the routers that an event was posted for which were not woken earlier. */
static uint32_t list_events(const struct input_queued *q, tick_t now, const struct step_event *event, uint32_t count)
{
    uint32_t *next = q->order;
    for (const struct step_event *end = event + count; event < end; event++) {
        struct router_head *head = block_of(q, event->target);
        if (head->step_at != now)
            continue;
        head->step_at = FW_NEVER;
        *next++ = event->target;
    }
    return (uint32_t)(next - q->order);
}

/* Where one event stands for all routers that step in a tick, each is counted, as if it had its own. */
void input_queued_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    uint32_t parity = now % 2;
    if (q->steps_each_tick)
        q->engine->events--;
    if (q->is_usual && !q->network->trace_out) {
        step_usual(q, now);
        return;
    }
    const uint32_t *list = q->order;
    if (q->is_usual) { /* the general variant tells a packet's walk */
        count = list_due(q, q->due[parity]);
        memset(q->due[parity], 0, q->router_words * sizeof *q->due[parity]);
    } else if (q->steps_each_tick) {
        list = q->woken[parity];
        count = q->woken_count[parity];
        q->woken_count[parity] = 0;
    } else {
        count = list_events(q, now, events, count);
    }
    q->engine->events += q->steps_each_tick ? count : 0;
    (q->words == 1 ? step_one_word : step_general)(q, now, list, count);
}

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .options = input_queued_options,
    .example = "{\"type\": \"input_queued\", \"num_vcs\": 4, \"buffer_depth\": 8, \"allocator\": \"islip\"}",
    .serves_levels = true,
    .size = sizeof(struct input_queued),
    .plan = input_queued_plan,
    .check = input_queued_check,
    .build = input_queued_build,
    .share = input_queued_share,
    .receive_flits = input_queued_receive_flits,
    .receive_credits = input_queued_receive_credits,
    .step = input_queued_step,
    .look = input_queued_look,
    .find = input_queued_find,
    .take_out = input_queued_take_out,
};
REGISTER_ROUTER(input_queued);

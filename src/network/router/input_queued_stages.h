/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. The stages of an input-queued router's step, in their order: see input_queued.c, into whose steps they
 * are compiled, as they are into a kernel's. Who includes this says before by send() how a flit goes out and a credit back.
 */
#include "network/router/input_queued_lanes.h"

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

STAGE void route(struct view *v, struct variant is)
{
    const struct input_queued *q = v->q;
    struct route *question = &v->q->question;
    question->router = v->head->number;
    if (!is.narrow)
        question->now = v->now;
    BITS_EACH(lane, v->fresh, is.words) {
        struct flit front = v->inputs[lane].front;
        ask_route(q->network, question, front.packet, (uint32_t)lane, facts_of(q, lane, is).at_router,
                  v->wants + lane * v->wants_apart, v->usable, is.words, v->now);
#if FW_HOST
        if (is_traced(v, front, is))
            trace_route(q->network, question, (uint32_t)lane, v->now);
#endif
    }
    for (uint32_t w = 0; w < is.words; w++) {
        v->waiting[w] |= v->fresh[w];
        v->fresh[w] = 0;
    }
}

/* A lane holds an output lane from now on. The set of free lanes is the caller's, and all sets but one if usual. */
STAGE void hold_output(struct view *v, size_t lane, size_t output, struct variant is)
{
    FW_GLOBAL struct input_lane *input = &v->inputs[lane];
    FW_GLOBAL struct output_lane *out = &v->outputs[output];
    const struct lane_facts facts = facts_of(v->q, output, is);
    out->owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->out_port = facts.port;
    if (out->credits)
        add(v->sendable, lane, is);
#if FW_HOST
    if (is_traced(v, input->front, is))
        network_trace(v->q->network, v->now, v->head->number, "allocate_vc", "port %u vc %u", facts.port, facts.vc);
#endif
    if (is.usual)
        return;
    drop(v->waiting, lane, is);
    if (v->q->busy_after_grant)
        keep_busy(v->q, v->head, v->busy, lane, v->now + v->q->vc_allocation, is);
}

/* What a lane may take of the output lanes that are free, one word of it. */
STAGE uint64_t wanted_outputs(const struct view *v, size_t lane, uint32_t word, struct variant is)
{
    uint64_t want = (v->wants + lane * v->wants_apart)[word] & v->free[word];
    if (is.usual || !v->q->vc_needs_credit)
        return want;
    want &= v->credited[word];
    if (!v->q->needs_room)
        return want;
#if FW_HOST
    const struct view seen = *v;
    return input_queued_with_room(&seen, lane, word, want);
#else
    return with_room(v, lane, word, want);
#endif
}

/* The output lane that a routed packet asks for: the next in turn after the last one that its lane had; FW_NONE: none is free. */
STAGE uint32_t ask_output(const struct view *v, struct turns turns, size_t lane, struct variant is)
{
    uint64_t wanted[TURNS_MOST / WORD_BITS], some = 0;
    for (uint32_t w = 0; w < is.words; w++)
        some |= wanted[w] = wanted_outputs(v, lane, w, is);
    return some ? (uint32_t)turn_after(wanted, is.words, turns.last_col[lane]) : FW_NONE;
}

#if FW_HOST
/* What the round-robin allocator would grant: who takes which output lanes, one word of these after the other. */
STAGE void share_outputs_by_turns(struct view *v, struct turns turns, uint64_t *asked, uint16_t *asker,
                                  struct variant is)
{
    for (uint32_t word = 0; word < is.words; word++)
        /* nobody is busy yet in a usual step */
        for (uint64_t left = v->waiting[word] & ~(is.usual ? 0 : v->busy[word]); left; left &= left - 1) {
            size_t lane = word * WORD_BITS + lowest_bit(left);
            uint32_t output = ask_output(v, turns, lane, is);
            if (output != FW_NONE)
                turns_ask(turns, word_of(asked, output, is), asker, lane, output);
        }
}

/* Lanes hold the output lanes that they were granted. */
STAGE void hold_outputs(struct view *v, const uint64_t *taken, const uint16_t *taker, const struct turns *turns,
                        struct variant is)
{
    uint64_t granted[TURNS_MOST / WORD_BITS] = {0};
    for (uint32_t w = 0; w < is.words; w++) {
        v->free[w] &= ~taken[w];
        v->moved |= taken[w] != 0;
    }
    BITS_EACH(output, taken, is.words) {
        /* cppcheck-suppress uninitvar -- taker is set for each bit of taken */
        size_t lane = taker[output];
        if (turns)
            turns_grant(*turns, lane, output);
        hold_output(v, lane, output, is);
        if (is.usual)
            *word_of(granted, lane, is) |= bit((uint32_t)lane);
    }
    for (uint32_t w = 0; is.usual && w < is.words; w++) {
        v->waiting[w] &= ~granted[w];
        v->busy[w] = granted[w] & v->q->busy_after_grant;
    }
}

/* Wide routers have no other allocators. */
STAGE bool always_turns(struct variant is) { return is.usual && !is.narrow; }

/* By turns, or by allocators that match by words. */
STAGE void share_outputs(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    uint16_t asker[TURNS_MOST]; /* by output: the lane that it takes */
    uint64_t asked[TURNS_MOST / WORD_BITS] = {0};
    if (always_turns(is) || __builtin_expect(q->takes_turns, 1)) {
        const struct turns turns = turns_at((FW_GLOBAL unsigned char *)v->head + q->vc_state_at, q->lanes);
        share_outputs_by_turns(v, turns, asked, asker, is);
        hold_outputs(v, asked, asker, &turns, is);
    } else if (*v->waiting) {
        *asked = input_queued_share_outputs(q, v->head, *v->waiting & ~(is.usual ? 0 : *v->busy), *v->free, asker);
        hold_outputs(v, asked, asker, NULL, is);
    }
}
#endif

/* ---- lanes that hold an output lane share the switch, and the winners' flits leave ---- */

/* May this lane ask for the switch now? The flow control of the crossbar has its say here. */
STAGE bool may_send(const struct view *v, size_t lane)
{
    const struct input_queued *q = v->q;
    FW_GLOBAL const struct input_lane *input = &v->inputs[lane];
    if (q->reserves_packet && (input->front.place & FLIT_HEAD) &&
        v->outputs[input->output].credits < network_packet(q->network, input->front.packet)->size)
        return false;
    if (q->locks_outputs) {
        FW_GLOBAL uint16_t *lock = &locks_of(q, v->head)[input->out_port];
        if (*lock != UNLOCKED && *lock != lane) {
            if (q->keeps_outputs || bits_test(v->sendable, *lock))
                return false;
            *lock = UNLOCKED; /* the winner that took all is idle: others may have the output */
        }
    }
    return true;
}

/* When the switch would have to grant a flit so that its channel takes it without waiting. */
STAGE tick_t wait_for_channel(const struct view *v, uint32_t port)
{
    FW_GLOBAL tick_t *free_at = &free_at_of(v->q, v->head)[port];
    tick_t granted = v->now > *free_at ? v->now : *free_at;
    *free_at = granted + network_link(v->q->network, v->head->number, port)->cycle;
    return granted;
}

/* The credit of the flit in front of a lane. */
STAGE void spend_credit(const struct view *v, FW_GLOBAL const struct input_lane *input, size_t output,
                        struct variant is)
{
    FW_GLOBAL struct output_lane *out = &v->outputs[output];
#if FW_HOST
    if (!is.usual && v->q->shares_room) {
        input_queued_spend_shared(v->q, v->head, (uint32_t)output, input->front);
        return;
    }
#endif
    (void)input;
    out->credits--;
    if (!is.usual && v->q->vc_needs_credit && out->credits == 0)
        drop(v->credited, output, is);
}

/* A winner leaves its buffer. */
STAGE void traverse(struct view *v, size_t lane, struct variant is)
{
    struct input_queued *q = v->q;
    FW_GLOBAL struct input_lane *input = &v->inputs[lane];
    size_t output = input->output;
    FW_GLOBAL struct output_lane *out = &v->outputs[output];
    uint32_t place = input->front.place;
    FW_CHECK(out->credits > 0, "tick %llu router %u output lane %zu: packet %u is sent without a credit",
             (unsigned long long)v->now, v->head->number, output, input->front.packet);
    out->flits++;
    tick_t granted = !is.usual && q->queues_to_send ? wait_for_channel(v, input->out_port) : v->now;
    if (!is.narrow && has_sensors(q))
        tell_sensors(q, v->head->number, (uint32_t)output, 1, v->now);
    send(v, lane, input, out, granted, is);
#if FW_HOST
    if (is_traced(v, input->front, is))
        trace_flit(q, v->head, output, input->front, granted, v->now);
#endif

    uint32_t count = --input->count;
    spend_credit(v, input, output, is);
    if (count)
        input->front = *ring_place(q, v->head, lane, input->first++, is);
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

#define CONTESTED 0x80000000u

/* An input with several VCs that can send: the lane that asks for its output port, CONTESTED if others wanted that. */
SELDOM uint32_t choose_among(const struct input_queued *q, FW_GLOBAL struct router_head *head,
                             FW_GLOBAL const struct input_lane *inputs, uint32_t row, uint64_t ready,
                             uint32_t last_port)
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
    FW_GLOBAL const uint32_t *last_vc = PART(const uint32_t, q->arbiter_state_at);
    return (first + turn_after(&vcs, 1, last_vc[arbiter_number(q, row, last_port + 1 + least)])) | CONTESTED;
}

/* A winner that other VCs of its input stood back for has had its turn. */
STAGE void note_turn(const struct input_queued *q, FW_GLOBAL struct router_head *head, size_t lane, size_t port)
{
    const struct lane_facts facts = facts_of(q, lane, GENERAL(q->words));
    PART(uint32_t, q->arbiter_state_at)[arbiter_number(q, facts.port, port)] = facts.vc;
}

#if FW_HOST
SELDOM void note_turns(const struct input_queued *q, struct router_head *head, const uint16_t *winner, uint64_t ports,
                       uint64_t contested)
{
    for (; ports; ports &= ports - 1) {
        size_t port = lowest_bit(ports);
        if (contested & bit(facts_of(q, winner[port], GENERAL(q->words)).port))
            note_turn(q, head, winner[port], port);
    }
}
#endif

#if FW_HOST
/* Takes the lanes of one port, which may go on in the next word, out of a set. True, and its VCs, if it has several. */
STAGE bool take_port(const struct input_queued *q, uint64_t *left, size_t lane, uint32_t vc, uint64_t *vcs,
                     struct variant is)
{
    if (is.words == 1) {
        uint64_t lanes = *left & lanes_of_port(q, lane);
        *left ^= lanes;
        *vcs = lanes >> (lane - vc);
        return lanes & (lanes - 1);
    }
    uint32_t word = (uint32_t)(lane / WORD_BITS), shift = lane % WORD_BITS;
    uint64_t rest = lanes_of_port(q, 0) >> vc, found = left[word] >> shift & rest;
    left[word] ^= found << shift;
    if (shift + q->num_vcs - vc > WORD_BITS && word + 1 < is.words) {
        uint64_t more = left[word + 1] << (WORD_BITS - shift) & rest;
        left[word + 1] ^= more >> (WORD_BITS - shift);
        found |= more;
    }
    *vcs = found << vc;
    return found & (found - 1);
}
#endif

/* Lanes that may ask for the switch. */
STAGE void find_eligible(struct view *v, uint64_t *eligible, struct variant is)
{
    const struct input_queued *q = v->q;
    for (uint32_t w = 0; w < is.words; w++)
        eligible[w] = v->sendable[w] & ~v->busy[w];
    if (!is.usual && (q->reserves_packet || q->locks_outputs))
        BITS_EACH(lane, eligible, is.words) {
            const struct view seen = *v;
            if (!may_send(&seen, lane))
                bits_remove(eligible, (uint32_t)lane);
        }
}

#if FW_HOST
/*
 * What the round-robin allocator would grant, and a round-robin arbiter among the VCs of an input: who takes which output
 * ports; `left` is who may ask, and empty afterwards.
 */
STAGE uint64_t share_switch_by_turns(struct view *v, struct turns turns, uint64_t *left, uint16_t *asker,
                                     struct variant is)
{
    const struct input_queued *q = v->q;
    uint64_t asked = 0, contested = 0; /* sets of output ports; of inputs */
    for (uint32_t w = 0; w < is.words; w++)
        while (left[w]) {
            size_t lane = w * WORD_BITS + lowest_bit(left[w]);
            const struct lane_facts facts = facts_of(q, lane, is);
            uint64_t vcs;
            if (take_port(q, left, lane, facts.vc, &vcs, is)) {
                uint32_t chosen = choose_among(q, v->head, v->inputs, facts.port, vcs, turns.last_col[facts.port]);
                lane = chosen & ~CONTESTED;
                contested |= (uint64_t)(chosen >> 31) << facts.port;
            }
            size_t port = v->inputs[lane].out_port;
            if ((asked & bit((uint32_t)port)) &&
                !turn_is_before(facts.port, facts_of(q, asker[port], is).port, turns.last_row[port]))
                continue;
            asker[port] = (uint16_t)lane;
            asked |= bit((uint32_t)port);
        }
    if (contested)
        note_turns(q, v->head, asker, asked, contested);
    return asked;
}

/* By turns, or by allocators that match by words. */
STAGE void share_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)v->head + q->switch_state_at, q->ports);
    uint16_t asker[WORD_BITS]; /* by output port: the lane that it takes */
    uint64_t left[TURNS_MOST / WORD_BITS], asked = 0;
    find_eligible(v, left, is);
    if (always_turns(is) || q->takes_turns)
        asked = share_switch_by_turns(v, turns, left, asker, is);
    else if (*left)
        asked = input_queued_share_switch(q, v->head, *left, asker);
    v->moved |= asked != 0;
    q->flit_hops += (uint32_t)__builtin_popcountll(asked);
    for (; asked; asked &= asked - 1) {
        /* cppcheck-suppress uninitvar -- asker is set for each bit of asked */
        size_t port = lowest_bit(asked), lane = asker[port];
        if (always_turns(is) || q->takes_turns)
            turns_grant(turns, facts_of(q, lane, is).port, port);
        traverse(v, lane, is);
    }
}
#endif

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

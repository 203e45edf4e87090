/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The second half of a step: lanes that hold an output lane share the switch, and
 * the winners' flits leave.
 */
#include "network/router/input_queued_levels.h"
#include "network/router/input_queued_shared.h"

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

/* The flit goes out, a credit goes back. Returns when the flit arrives, in the output queue where there is one. */
STAGE tick_t send(struct view *v, size_t lane, const struct input_lane *input, struct output_lane *out,
                  struct variant is)
{
    struct input_queued *q = v->q;
    const struct lane_facts *from = facts_of(q, lane, is), *to = facts_of(q, input->output, is);
    out->flits++;
    if (is.plain) {
        if (is.parted && (out->to.lane & ELSEWHERE)) {
            struct lane_place there = {.target = out->to.target, .lane = out->to.lane & ~ELSEWHERE};
            uint32_t kind = to->at_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT;
            tick_t latency = to->at_router ? q->network->channel_latency : q->network->terminal_latency;
            network_export_flit(q->network, kind, there, input->front, v->now + q->to_channel + latency);
        } else {
            struct flit_event *flit = engine_list_post(q->engine, v->to->flits[to->at_router], sizeof *flit);
            flit->to = out->to;
            flit->flit = input->front;
        }
        if (is.parted && (input->back.lane & ELSEWHERE)) { /* a terminal only where there are several planes */
            struct lane_place there = {.target = input->back.target, .lane = input->back.lane & ~ELSEWHERE};
            uint32_t kind = from->at_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT;
            tick_t latency = from->at_router ? q->network->channel_latency : q->network->terminal_latency;
            network_export_credit(q->network, kind, there, v->now + q->credit + latency);
        } else {
            struct credit_event *credit = engine_list_post(q->engine, v->to->credits[from->at_router], sizeof *credit);
            credit->to = input->back;
        }
        return v->now + q->to_channel + network_link(q->network, v->head->number, to->port)->latency;
    }
    const struct link *back = network_link(q->network, v->head->number, from->port);
    send_credit(q->network, from->at_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT, input->back,
                v->now + q->credit + back->latency);
    tick_t enters = v->now + q->to_channel;
    if (q->outputs) {
        output_put(q->outputs, v->head->number, input->output, input->front, v->now, enters);
        return enters;
    }
    /* Flits may leave the switch faster than the channel takes them. */
    const struct link *link = network_link(q->network, v->head->number, to->port);
    tick_t *free_at = &free_at_of(q, v->head)[to->port];
    enters = enters > *free_at ? enters : *free_at;
    *free_at = enters + link->cycle;
    send_flit(q->network, to->at_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT, out->to, input->front,
              enters + link->latency);
    if (q->congestion)
        q->congestion->ops->change(q->congestion, v->head->number, input->output, QUEUE_DOWNSTREAM, 1, v->now);
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
        network_trace(q->network, v->now, v->head->number, "traverse", "flit %u by port %u vc %u, %s at %llu",
                      flit.place & FLIT_POSITION, facts_of(q, output, is)->port, facts_of(q, output, is)->vc,
                      q->outputs ? "queued" : "arrives", (unsigned long long)arrival);

    if (--input->count)
        input->front = ring_of(q, v->head, lane, is)[input->first++ & q->ring_mask];
    if (is.extended && q->shares_room) {
        spend_shared(v, (uint32_t)output, flit);
    } else {
        out->credits--;
        if (!is.plain && q->config.vc_needs_credit && out->credits == 0)
            drop(v->credited, output, is);
    }
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

/* The VC arbiter of a switch input, for an output port; it remembers whom it served. */
STAGE size_t arbiter_number(const struct input_queued *q, size_t row, size_t port)
{
    return row * q->arbiters_each + (port & q->arbiter_port_mask);
}
STAGE void *arbiter_state(const struct view *v, size_t row, size_t port)
{
    const struct input_queued *q = v->q;
    return (unsigned char *)v->head + q->arbiter_state_at + arbiter_number(q, row, port) * q->arbiter_state_size;
}

/* The row of the switch that a lane's input uses. */
STAGE uint32_t row_of(const struct view *v, size_t lane, struct variant is)
{
    const struct lane_facts *facts = facts_of(v->q, lane, is);
    uint32_t speedup = v->q->config.input_speedup;
    return facts->port * speedup + facts->vc % speedup;
}

/* Which of the eligible lanes of a switch input uses the output port that the input was granted. */
STAGE uint32_t choose_lane(struct view *v, size_t row, size_t port, struct variant is)
{
    const struct input_queued *q = v->q;
    size_t first = row / q->config.input_speedup * q->num_vcs;
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
        vc = q->arbiter->pick(arbiter_state(v, row, port), &arbitration);
    } else if (q->arbiter->remembers_last) {
        return first + vc; /* without rivals it was nobody's turn */
    }
    arbiter_served(q->arbiter, arbiter_state(v, row, port), q->num_vcs, vc);
    return first + vc;
}

STAGE void request_switch(struct view *v, struct matching *m, size_t lane, struct variant is)
{
    size_t row = row_of(v, lane, is), spread = v->q->config.output_speedup;
    for (uint32_t col = v->inputs[lane].out_port * spread, end = col + spread; col < end; col++) {
        if (is.extended && bits_test(v->q->used_cols, col))
            continue;
        matching_request(m, row, col);
        if (m->age) {
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
    BITS_EACH(lane, q->eligible, is.words)
        request_switch(v, m, lane, is);
    m->random = &q->random[v->head->number];
    q->switch_allocator->allocate((unsigned char *)v->head + q->switch_state_at, q->config.allocator.config, m);
    BITS_EACH(row, m->granted, m->row_words) {
        uint32_t lane = choose_lane(v, row, m->grant[row] / q->config.output_speedup, is);
        if (is.extended && !(bits_test(v->sendable, lane) && may_send(v, lane)))
            continue; /* another winner of this output has taken the room that they share */
        if (is.extended)
            note_winner(v, row, m->grant[row], lane);
        traverse(v, lane, is);
        q->flit_hops++;
    }
    if (m->age)
        forget_ages(m);
    matching_clear(m, m->row_words, m->col_words);
}

#define CONTESTED 0x80000000u

/* An input with several VCs that can send: the lane that asks for its output port, CONTESTED if others wanted that. */
SELDOM uint32_t choose_among(const struct input_queued *q, struct router_head *head, const struct input_lane *inputs,
                             uint32_t row, uint64_t ready)
{
    size_t last = PART(const uint8_t, q->switch_state_at)[row], least = WORD_BITS;
    uint64_t vcs = 0;
    inputs += row * q->num_vcs;
    for (uint64_t left = ready; left; left &= left - 1) {
        size_t turns = (inputs[lowest_bit(left)].out_port - last - 1) % WORD_BITS; /* until this port is next */
        vcs = turns < least ? 0 : vcs;
        least = turns < least ? turns : least;
        vcs |= turns == least ? left & -left : 0;
    }
    uint32_t first = row * q->num_vcs;
    if (!(vcs & (vcs - 1)))
        return first + (uint32_t)lowest_bit(vcs);
    const uint32_t *last_vc = PART(const uint32_t, q->arbiter_state_at);
    return (first + (uint32_t)turn_after(vcs, last_vc[arbiter_number(q, row, (last + 1 + least) % WORD_BITS)])) |
           CONTESTED;
}

/* Of the winners, by output port, those that other VCs of their input stood back for have had their turn. */
SELDOM void note_turns(const struct input_queued *q, struct router_head *head, const uint8_t *winner, uint64_t ports,
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

/* Takes the lanes of one port, which may go on in the next word, out of a set: those of the first lane's. As VCs. */
STAGE uint64_t take_port(const struct input_queued *q, uint64_t *left, size_t lane, uint32_t vc, struct variant is)
{
    uint32_t word = is.words == 1 ? 0 : (uint32_t)(lane / WORD_BITS), shift = lane % WORD_BITS;
    uint64_t rest = q->port_lanes >> vc, vcs = left[word] >> shift & rest;
    left[word] ^= vcs << shift;
    if (is.words > 1 && word + 1 < is.words && shift + q->num_vcs - vc > WORD_BITS) {
        uint64_t more = left[word + 1] << (WORD_BITS - shift) & rest;
        left[word + 1] ^= more >> (WORD_BITS - shift);
        vcs |= more;
    }
    return vcs << vc;
}

/* Lanes that may ask for the switch. */
STAGE void find_eligible(struct view *v, uint64_t *eligible, struct variant is)
{
    const struct input_queued *q = v->q;
    for (uint32_t w = 0; w < is.words; w++)
        eligible[w] = v->sendable[w] & ~v->busy[w];
    if (!is.plain && (q->reserves_packet || q->config.crossbar_flow != FLIT_BUFFER))
        BITS_EACH(lane, eligible, is.words)
            if (!may_send(v, lane))
                bits_remove(eligible, lane);
}

/* What match_switch does with a round-robin allocator and an arbiter that remembers the last. */
STAGE void share_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    uint8_t *last_port = (uint8_t *)v->head + q->switch_state_at, *last_row = last_port + q->ports;
    uint8_t asker[WORD_BITS];          /* by port: the lane that it takes */
    uint64_t asked = 0, contested = 0; /* sets of output ports; of inputs */
    uint64_t left[MOST_TURNS / WORD_BITS];
    find_eligible(v, left, is);
    for (uint32_t w = 0; w < is.words; w++)
        while (left[w]) {
            size_t lane = w * WORD_BITS + lowest_bit(left[w]);
            const struct lane_facts *facts = facts_of(q, lane, is);
            uint64_t vcs = take_port(q, left, lane, facts->vc, is);
            if (vcs & (vcs - 1)) {
                uint32_t chosen = choose_among(q, v->head, v->inputs, facts->port, vcs);
                lane = chosen & ~CONTESTED;
                contested |= (uint64_t)(chosen >> 31) << facts->port;
            }
            size_t port = v->inputs[lane].out_port;
            if ((asked & bit(port)) && !turn_is_before(facts->port, facts_of(q, asker[port], is)->port, last_row[port]))
                continue;
            asker[port] = (uint8_t)lane;
            asked |= bit(port);
        }
    if (contested)
        note_turns(q, v->head, asker, asked, contested);
    v->moved |= asked != 0;
    q->flit_hops += (uint32_t)__builtin_popcountll(asked);
    for (; asked; asked &= asked - 1) {
        /* cppcheck-suppress uninitvar -- asker is set for each bit of asked */
        size_t port = lowest_bit(asked), lane = asker[port], row = facts_of(q, lane, is)->port;
        last_port[row] = (uint8_t)port;
        last_row[port] = (uint8_t)row;
        traverse(v, lane, is);
    }
}

/* The same, several times, for what the levels of service have left. */
STAGE void match_levels(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    const struct service *service = &q->network->service;
    uint32_t rounds = service->arbitration == LEVELS_STRICT ? service->groups : 2;
    memcpy(q->asking, q->eligible, is.words * sizeof *q->asking);
    memset(q->used_rows, 0, words_for(q->switch_rows) * sizeof *q->used_rows);
    memset(q->used_cols, 0, words_for(q->switch_cols) * sizeof *q->used_cols);
    if (service->arbitration == LEVELS_WEIGHTED)
        choose_groups(v);
    for (uint32_t round = 0; round < rounds; round++) {
        memset(q->eligible, 0, is.words * sizeof *q->eligible);
        BITS_EACH(lane, q->asking, is.words)
            if (is_asked(v, lane, round) && !bits_test(q->used_rows, row_of(v, lane, is)))
                bits_add(q->eligible, (uint32_t)lane);
        if (bits_any(q->eligible, is.words))
            match_switch(v, is);
    }
}

STAGE void allocate_switch(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    if (is.turns) {
        share_switch(v, is);
        return;
    }
    find_eligible(v, q->eligible, is);
    if (bits_any(q->eligible, is.words)) {
        if (is.extended && q->network->service.groups > 1)
            match_levels(v, is);
        else
            match_switch(v, is);
        v->moved = true;
    }
}

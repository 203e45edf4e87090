/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The first half of a step: packets at the front of their lanes are routed and
 * are given output lanes.
 */
#include "network/router/input_queued_shared.h"

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
    ask_route(q->network, question, input->front.packet, facts_of(q, lane, is)->at_router,
              wants_of(q, v->head, lane, is.words), v->usable, is.words, v->now);
    if (is.traced && input->front.packet == q->network->traced)
        trace_route(q->network, question, lane, v->now);
}

STAGE void route(struct view *v, struct variant is)
{
    struct route *question = &v->q->question;
    question->router = v->head->number;
    if (!is.plain) {
        question->now = v->now;
        BITS_EACH(lane, v->fresh, is.words)
            __builtin_prefetch(network_packet(v->q->network, v->inputs[lane].front.packet), 1);
    }
    for (uint32_t w = 0; w < is.words; w++)
        for (uint64_t left = v->fresh[w]; left; left &= left - 1)
            route_lane(v, question, w * WORD_BITS + lowest_bit(left), is);
    for (uint32_t w = 0; w < is.words; w++) {
        v->waiting[w] |= v->fresh[w];
        v->fresh[w] = 0;
    }
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

/* Those of some output lanes, one word of them, that can take all of the packet at the front of a lane. */
static uint64_t with_room(const struct view *v, size_t lane, uint32_t word, uint64_t outputs)
{
    const struct input_queued *q = v->q;
    uint32_t size = network_packet(q->network, v->inputs[lane].front.packet)->size;
    uint64_t found = 0;
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = (uint32_t)(word * WORD_BITS + lowest_bit(outputs));
        uint32_t room = room_of(q, v->head->number, q->facts[output].port);
        if (q->outputs       ? output_has_room(q->outputs, v->head->number, output, size)
            : q->shares_room ? has_shared_room(v, output, size)
                             : v->outputs[output].credits >= (size < room ? size : room))
            found |= outputs & -outputs;
    }
    return found;
}

/* What a lane may take of the output lanes that are free, one word of it. */
STAGE uint64_t wanted_outputs(const struct view *v, size_t lane, uint32_t word, struct variant is)
{
    uint64_t want = wants_of(v->q, v->head, lane, is.words)[word] & v->free[word];
    if (is.plain || !v->q->config.vc_needs_credit)
        return want;
    want &= v->credited[word];
    return v->q->needs_room ? with_room(v, lane, word, want) : want;
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
            if (m->age)
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
        if (is.extended && q->shares_room && q->needs_room && !reserve_shared(v, lane, m->grant[lane]))
            continue;
        hold_output(v, lane, m->grant[lane], is);
        drop(v->waiting, lane, is);
        drop(v->free, m->grant[lane], is);
        if (q->vc_allocation)
            keep_busy(q, v->head, v->busy, lane, v->now + q->vc_allocation, is);
    }
    matching_clear(m, is.words, is.words);
    return true;
}

/* The next free output after the last one, going round, of those that a lane wants; NONE: there is none. */
STAGE uint32_t next_output(const struct view *v, size_t lane, uint32_t last, struct variant is)
{
    if (is.words == 1) {
        uint64_t want = wanted_outputs(v, lane, 0, is);
        return want ? (uint32_t)turn_after(want, last) : NONE;
    }
    uint32_t first = last / WORD_BITS, word = first;
    uint64_t here = wanted_outputs(v, lane, first, is), want = here & (~(uint64_t)1 << last % WORD_BITS);
    for (; !want && (word = word + 1 < is.words ? word + 1 : 0) != first;)
        want = wanted_outputs(v, lane, word, is);
    want = want ? want : here;
    return want ? (uint32_t)(word * WORD_BITS + lowest_bit(want)) : NONE;
}

/* Does `lane` come before `other` when they are counted round from after `last`? */
STAGE bool is_sooner(size_t lane, size_t other, size_t last, struct variant is)
{
    return is.words == 1 ? turn_is_before(lane, other, last) : (uint8_t)(lane - last - 1) < (uint8_t)(other - last - 1);
}

/* What match_outputs does with a round-robin allocator. */
STAGE void share_outputs(struct view *v, struct variant is)
{
    struct input_queued *q = v->q;
    /* By lane its last output, by output its last lane. Pointers of their own: bytes may alias all that q holds. */
    uint8_t *last_output = (uint8_t *)v->head + q->vc_state_at, *last_lane = last_output + q->lanes;
    uint8_t asker[MOST_TURNS]; /* by output: the lane that it takes */
    uint64_t asked[MOST_TURNS / WORD_BITS] = {0}, any = 0, granted = 0;
    for (uint32_t w = 0; w < is.words; w++)
        /* nobody is busy yet in a plain step */
        for (uint64_t left = is.plain ? *v->waiting : v->waiting[w] & ~v->busy[w]; left; left &= left - 1) {
            size_t lane = w * WORD_BITS + lowest_bit(left);
            uint32_t output = next_output(v, lane, last_output[lane], is);
            if (output == NONE || (bits_test(asked, output) && !is_sooner(lane, asker[output], last_lane[output], is)))
                continue;
            asker[output] = (uint8_t)lane;
            add(asked, output, is);
        }
    for (uint32_t w = 0; w < is.words; w++) {
        any |= asked[w];
        v->free[w] &= ~asked[w];
        for (uint64_t left = asked[w]; left; left &= left - 1) {
            size_t output = w * WORD_BITS + lowest_bit(left), lane = asker[output];
            last_output[lane] = (uint8_t)output;
            last_lane[output] = (uint8_t)lane;
            hold_output(v, lane, output, is);
            if (is.plain) {
                granted |= bit(lane);
                continue;
            }
            drop(v->waiting, lane, is);
            if (q->vc_allocation)
                keep_busy(q, v->head, v->busy, lane, v->now + q->vc_allocation, is);
        }
    }
    v->moved |= any != 0;
    if (is.plain) {
        *v->waiting &= ~granted;
        *v->busy = granted & q->busy_after_grant;
    }
}

STAGE void allocate_vc(struct view *v, struct variant is)
{
    if (is.turns)
        share_outputs(v, is);
    else
        v->moved |= match_outputs(v, is);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What few networks ask of an input-queued router, in its general variant alone:
 *
 *   allocators of any kind  they see who wants what as a whole, as a matching
 *   shared buffers          the credits of an output lane are what is left for it downstream, and change for all
 *                           lanes of a port at once
 *   levels of service       the switch allocator is asked several times in a step, each time for some of the lanes
 *                           and for what is left of inputs and outputs:
 *                           strict    level by level, so that no lane of a lower one stands in a higher one's way
 *                           weighted  at each output the level that is next by its weight, then all others
 */
#include "network/fair_share.h"
#include "network/router/input_queued_lanes.h"

#include <string.h>

/* ---- buffers downstream that the VCs of an output share ---- */

/* Counts the credits of a port's lanes anew, and who can send by them. Returns whether a lane has some that had none. */
static bool count_room(const struct input_queued *q, struct router_head *head, uint32_t port,
                       const struct shared_room_rule *rule)
{
    const struct input_lane *inputs = inputs_of(head, q->words);
    uint64_t *sendable = lanes_in(head, SET_SENDABLE, q->words);
    bool has_more = false;
    for (uint32_t vc = 0; vc < q->num_vcs; vc++) {
        uint32_t lane = port * q->num_vcs + vc;
        struct output_lane *out = &outputs_of(q, head)[lane];
        bool had = out->credits;
        out->credits = (uint16_t)shared_room_usable(rule, shared_room_of(q, head, port), vc);
        if (had == (out->credits > 0))
            continue;
        if (q->vc_needs_credit)
            (had ? bits_remove : bits_add)(credited_of(q, head), lane);
        if (out->owner != NOBODY && inputs[out->owner].count)
            (had ? bits_remove : bits_add)(sendable, out->owner);
        has_more |= !had;
    }
    return has_more;
}

static struct shared_room_rule rule_of(const struct input_queued *q, const struct router_head *head, uint32_t port)
{
    return room_behind(q->network, network_link(q->network, head->number, port));
}

void input_queued_spend_shared(const struct input_queued *q, struct router_head *head, uint32_t output,
                               struct flit flit)
{
    const struct lane_facts *facts = &q->facts[output];
    struct shared_room_rule rule = rule_of(q, head, facts->port);
    room_send(q->network, &rule, shared_room_of(q, head, facts->port), facts->vc, flit);
    count_room(q, head, facts->port, &rule);
}

bool input_queued_return_shared(const struct input_queued *q, struct router_head *head, uint32_t output)
{
    const struct lane_facts *facts = &q->facts[output];
    struct shared_room_rule rule = rule_of(q, head, facts->port);
    shared_room_give(&rule, shared_room_of(q, head, facts->port), facts->vc, 1);
    return count_room(q, head, facts->port, &rule);
}

/*
 * A packet that must not wait for an adaptive VC alone is about to be given one: takes the room before others do. False
 * when another packet of this step has taken too much of the pool.
 */
static bool reserve_shared(struct view *v, size_t lane, uint32_t output)
{
    const struct input_queued *q = v->q;
    const struct lane_facts *facts = &q->facts[output];
    uint32_t flits = front_of(v, lane)->size;
    struct shared_room_rule rule = rule_of(q, v->head, facts->port);
    struct shared_room *room = shared_room_of(q, v->head, facts->port);
    if (!shared_room_can_take(&rule, room, facts->vc, flits))
        return !room->taken[facts->vc];
    shared_room_reserve(&rule, room, facts->vc, flits);
    count_room(q, v->head, facts->port, &rule);
    return true;
}

/* ---- output lanes ---- */

uint64_t input_queued_with_room(const struct view *v, size_t lane, uint32_t word, uint64_t outputs)
{
    const struct input_queued *q = v->q;
    uint32_t size = front_of(v, lane)->size;
    uint64_t found = 0;
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = (uint32_t)(word * WORD_BITS + lowest_bit(outputs));
        const struct lane_facts *facts = &q->facts[output];
        uint32_t room = room_of(q, v->head->number, facts->port), credits = v->outputs[output].credits;
        /* Of a shared buffer all, or nothing of the VC is downstream: its own share lets it pass, whoever has the pool. */
        if (q->outputs       ? output_has_room(q->outputs, v->head->number, output, size)
            : q->shares_room ? credits >= size || !shared_room_of(q, v->head, facts->port)->taken[facts->vc]
                             : credits >= (size < room ? size : room))
            found |= outputs & -outputs;
    }
    return found;
}

static void request_outputs(const struct view *v, struct matching *m, uint32_t lane)
{
    for (uint32_t w = 0; w < m->col_words; w++)
        for (uint64_t want = input_queued_wanted(v, lane, w); want; want &= want - 1) {
            uint32_t col = (uint32_t)(w * WORD_BITS + lowest_bit(want));
            matching_request_for(m, lane, col, front_of(v, lane));
        }
}

bool input_queued_match_outputs(struct view *v)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->vcs.matching;
    BITS_EACH(lane, v->waiting, q->words)
        if (!bits_test(v->busy, (uint32_t)lane))
            request_outputs(v, m, (uint32_t)lane);
    if (!allocation_run(&q->vcs, (unsigned char *)v->head + q->vc_state_at, &q->random[v->head->number]))
        return false;
    BITS_EACH(lane, m->granted, q->words) {
        uint32_t output = m->grant[lane];
        if (!q->shares_room || !q->needs_room || reserve_shared(v, lane, output)) {
            input_queued_hold(v, (uint32_t)lane, output);
            bits_remove(v->free, output);
        }
    }
    matching_clear(m, q->words, q->words);
    return true;
}

/* ---- levels of service at the switch ---- */

static uint32_t group_of(const struct view *v, size_t lane)
{
    return v->q->network->service.vc_group[v->q->facts[lane].vc];
}

static struct fair_share *shares_of_port(const struct view *v, uint32_t port)
{
    const struct input_queued *q = v->q;
    return (struct fair_share *)(void *)((unsigned char *)v->head + q->shares_at +
                                         port * fair_share_bytes(q->network->service.groups));
}

/* The level that is next at each output that somebody asks for. */
static void choose_groups(const struct view *v)
{
    const struct input_queued *q = v->q;
    memset(q->next_group, 0, q->ports * sizeof *q->next_group);
    BITS_EACH(lane, q->asking, q->words)
        q->next_group[v->inputs[lane].out_port] |= bit(group_of(v, lane));
    for (uint32_t port = 0; port < q->ports; port++)
        if (q->next_group[port])
            q->next_group[port] =
                bit(fair_share_next(shares_of_port(v, port), q->network->service.weights, &q->next_group[port], 1));
}

/* Is it a lane's turn in this round? */
static bool is_asked(const struct view *v, size_t lane, uint32_t round)
{
    if (v->q->network->service.arbitration == LEVELS_STRICT)
        return group_of(v, lane) == round;
    return round > 0 || (v->q->next_group[v->inputs[lane].out_port] & bit(group_of(v, lane)));
}

/* An input and a place at an output are used in this step. */
static void note_winner(const struct view *v, uint32_t row, uint32_t col, size_t lane)
{
    const struct input_queued *q = v->q;
    const struct service *service = &q->network->service;
    bits_add(q->used_rows, row);
    bits_add(q->used_cols, col);
    if (service->arbitration == LEVELS_WEIGHTED)
        fair_share_serve(shares_of_port(v, v->inputs[lane].out_port), service->weights, group_of(v, lane), true);
}

/* ---- the switch ---- */

/* The row of the switch that a lane's input uses. */
static uint32_t row_of(const struct input_queued *q, size_t lane)
{
    uint32_t speedup = q->config.input_speedup, port = q->facts[lane].port;
    return speedup == 1 ? port : port * speedup + q->facts[lane].vc % speedup;
}

/* The VCs of a switch input that are eligible: for one output port, or (FW_NONE) for any. */
static uint64_t eligible_vcs(const struct view *v, uint32_t row, uint32_t port)
{
    const struct input_queued *q = v->q;
    uint32_t first = row / q->config.input_speedup * q->num_vcs;
    uint64_t vcs = bits_word(q->eligible, first, q->num_vcs);
    for (uint64_t left = vcs; left; left &= left - 1) {
        size_t lane = first + lowest_bit(left);
        if ((port != FW_NONE && v->inputs[lane].out_port != port) || row_of(q, lane) != row)
            vcs ^= left & -left;
    }
    return vcs;
}

static void *arbiter_memory(const struct view *v, uint32_t row, uint32_t port)
{
    const struct input_queued *q = v->q;
    return (unsigned char *)v->head + q->arbiter_state_at + arbiter_number(q, row, port) * q->arbiter_state_size;
}

/* Which of several VCs of a switch input is the next. */
static uint32_t pick_vc(const struct view *v, uint32_t row, uint64_t vcs, const void *memory)
{
    const struct input_queued *q = v->q;
    size_t first = row / q->config.input_speedup * q->num_vcs;
    for (uint64_t left = q->arbiter->needs_age ? vcs : 0; left; left &= left - 1)
        q->vc_age[lowest_bit(left)] = front_of(v, first + lowest_bit(left))->created;
    struct arbitration arbitration = {
        .requests = &vcs, .inputs = q->num_vcs, .words = 1, .age = q->vc_age, .random = &q->random[v->head->number]};
    return q->arbiter->pick(memory, &arbitration);
}

uint32_t input_queued_choose_lane(const struct view *v, uint32_t row, uint64_t vcs, uint32_t port)
{
    const struct input_queued *q = v->q;
    uint32_t first = row / q->config.input_speedup * q->num_vcs, vc = (uint32_t)lowest_bit(vcs);
    bool has_rivals = vcs & (vcs - 1);
    if (!has_rivals && q->arbiter->remembers_last && q->config.input_picks == PICKS_OUTPUT)
        return first + vc; /* it was nobody's turn */
    void *memory = arbiter_memory(v, row, port);
    if (has_rivals)
        vc = pick_vc(v, row, vcs, memory);
    arbiter_served(q->arbiter, memory, q->num_vcs, vc);
    return first + vc;
}

/* Each switch input puts up one VC, whatever output that wants. */
static void keep_one_vc(const struct view *v)
{
    const struct input_queued *q = v->q;
    for (uint32_t row = 0; row < q->switch_rows; row++) {
        uint64_t vcs = eligible_vcs(v, row, FW_NONE);
        if (!(vcs & (vcs - 1)))
            continue;
        size_t first = row / q->config.input_speedup * q->num_vcs;
        for (uint64_t left = vcs ^ bit(pick_vc(v, row, vcs, arbiter_memory(v, row, 0))); left; left &= left - 1)
            bits_remove(q->eligible, (uint32_t)(first + lowest_bit(left)));
    }
}

static void request_switch(struct view *v, struct matching *m, size_t lane)
{
    const struct input_queued *q = v->q;
    uint32_t row = row_of(q, lane), spread = q->config.output_speedup;
    uint32_t col = v->inputs[lane].out_port * spread, end = col + spread;
    for (; col < end; col++) {
        if (q->is_extended && bits_test(q->used_cols, col))
            continue;
        matching_request(m, row, col);
        if (m->age) {
            uint64_t *oldest = &m->age[(size_t)row * m->cols + col], age = front_of(v, lane)->created;
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

static void match_eligible(struct view *v)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->ways.matching;
    if (q->config.input_picks == PICKS_VC)
        keep_one_vc(v);
    BITS_EACH(lane, q->eligible, q->words)
        request_switch(v, m, lane);
    allocation_run(&q->ways, (unsigned char *)v->head + q->switch_state_at, &q->random[v->head->number]);
    BITS_EACH(row, m->granted, m->row_words) {
        uint32_t port = m->grant[row] / q->config.output_speedup;
        uint32_t lane = input_queued_choose_lane(v, (uint32_t)row, eligible_vcs(v, (uint32_t)row, port), port);
        if (q->is_extended && !(bits_test(v->sendable, lane) && input_queued_may_send(v, lane)))
            continue; /* another winner of this output has taken the room that they share */
        if (q->network->service.groups > 1)
            note_winner(v, (uint32_t)row, m->grant[row], lane);
        input_queued_leave(v, lane);
    }
    if (m->age)
        forget_ages(m);
    matching_clear(m, m->row_words, m->col_words);
}

void input_queued_match_switch(struct view *v)
{
    struct input_queued *q = v->q;
    const struct service *service = &q->network->service;
    uint32_t rounds = service->arbitration == LEVELS_STRICT ? service->groups : 2;
    if (service->groups == 1) {
        match_eligible(v);
        return;
    }
    memcpy(q->asking, q->eligible, q->words * sizeof *q->asking);
    memset(q->used_rows, 0, words_for(q->switch_rows) * sizeof *q->used_rows);
    memset(q->used_cols, 0, words_for(q->switch_cols) * sizeof *q->used_cols);
    if (service->arbitration == LEVELS_WEIGHTED)
        choose_groups(v);
    for (uint32_t round = 0; round < rounds; round++) {
        memset(q->eligible, 0, q->words * sizeof *q->eligible);
        BITS_EACH(lane, q->asking, q->words)
            if (is_asked(v, lane, round) && !bits_test(q->used_rows, row_of(q, lane)))
                bits_add(q->eligible, (uint32_t)lane);
        if (bits_any(q->eligible, q->words))
            match_eligible(v);
    }
}

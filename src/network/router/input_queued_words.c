/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets what, for input-queued routers whose allocators match by words: where lanes fit a word, what a lane or an input
 * wants is a set at hand, and no matching need be filled. The stages of both variants ask here where they do not take turns
 * by themselves; sets come and go as values, so that the usual variant can keep its own in registers.
 */
#include "network/router/input_queued_lanes.h"

/* A packet's requests are as old as that; of several for one output of an input the oldest counts. */
static void note_ages(const struct view *v, const struct matching *ages, uint32_t row, uint64_t cols, size_t lane,
                      bool is_another)
{
    uint64_t *age = ages->age + (size_t)row * ages->cols, created = front_of(v, lane)->created;
    for (; cols; cols &= cols - 1) {
        uint64_t *its = &age[lowest_bit(cols)];
        *its = is_another && *its < created ? *its : created;
    }
}

uint64_t input_queued_share_outputs(struct input_queued *q, struct router_head *head, uint64_t waiting, uint64_t free,
                                    uint16_t *taker)
{
    const struct view v = {.q = q, .head = head, .inputs = inputs_of(head, 1), .outputs = outputs_of(q, head)};
    const struct matching *ages = q->vcs.matching.age ? &q->vcs.matching : NULL;
    struct word_requests asked = {0};
    struct word_matching m;
    uint64_t taken = 0;
    free &= q->vc_needs_credit ? *credited_of(q, head) : ~(uint64_t)0;
    for (; waiting; waiting &= waiting - 1) {
        size_t lane = lowest_bit(waiting);
        uint64_t wanted = v.inputs[lane].wants & free;
        if (wanted && q->needs_room)
            wanted = input_queued_with_room(&v, lane, 0, wanted);
        if (!wanted)
            continue;
        words_request(&m, &asked, lane, wanted);
        if (ages)
            note_ages(&v, ages, (uint32_t)lane, wanted, lane, false);
    }
    if (!asked.rows)
        return 0;
    if (q->vc_turns.rounds) {
        void *state = PART(void, q->vc_state_at);
        const struct turn_memory memory = separable_turn_memory(state, q->lanes);
        uint64_t rivals = asked.rows;
        for (uint64_t left = rivals; left; left &= left - 1) {
            size_t lane = lowest_bit(left);
            if (m.wants[lane] & asked.contested)
                continue;
            size_t output = separable_take_turn(memory, lane, m.wants[lane]);
            rivals ^= left & -left;
            taker[output] = (uint16_t)lane;
            taken |= bit((uint32_t)output);
        }
        if (!rivals)
            return taken;
        words_end(&m, asked, &q->vcs);
        separable_match_turns(state, q->vc_turns, &m, rivals);
    } else {
        allocation_run_words(&q->vcs, PART(void, q->vc_state_at), &q->random[head->number], asked, &m);
    }
    for (uint64_t left = m.granted; left; left &= left - 1) {
        size_t lane = lowest_bit(left), output = m.grant[lane];
        taker[output] = (uint16_t)lane;
        taken |= bit((uint32_t)output);
    }
    return taken;
}

/* The output ports that the lanes of an input can send by. */
static uint64_t outputs_wanted(const struct view *v, const struct matching *ages, uint32_t port, uint64_t lanes)
{
    uint64_t outputs = 0;
    for (; lanes; lanes &= lanes - 1) {
        size_t lane = lowest_bit(lanes);
        uint64_t output = bit(v->inputs[lane].out_port);
        if (ages)
            note_ages(v, ages, port, output, lane, outputs & output);
        outputs |= output;
    }
    return outputs;
}

/* The lane of an input, several of whose lanes can send, that uses the output which the input was granted. */
static size_t winner_of(const struct view *v, uint32_t port, uint64_t lanes, uint32_t output_port)
{
    uint64_t vcs = 0;
    for (uint64_t left = lanes; left; left &= left - 1)
        vcs |= v->inputs[lowest_bit(left)].out_port == output_port ? left & -left : 0;
    return input_queued_choose_lane(v, port, vcs >> port * v->q->num_vcs, output_port);
}

/*
 * By turns, where no two of the lanes are of one port: each input wants one output, and the first of these in turn gets it,
 * whichever side goes first and however many rounds there are. False, and nothing has changed, if two are of one port.
 */
static bool take_turns(const struct view *v, uint64_t lanes, uint16_t *taker, uint64_t *taken)
{
    const struct input_queued *q = v->q;
    const struct router_head *head = v->head;
    const struct turn_memory memory = separable_turn_memory(PART(void, q->switch_state_at), q->ports);
    uint64_t asked = 0, ports = 0;
    for (uint64_t left = lanes; left; left &= left - 1) {
        size_t lane = lowest_bit(left), output = v->inputs[lane].out_port;
        if (ports & left & -left)
            return false;
        ports |= lanes_of_port(q, lane);
        if ((asked & bit((uint32_t)output)) &&
            !turn_is_before(q->few_facts[lane].port, q->few_facts[taker[output]].port, memory.last_row[output]))
            continue;
        taker[output] = (uint16_t)lane;
        asked |= bit((uint32_t)output);
    }
    *taken = asked;
    for (; asked; asked &= asked - 1) {
        size_t output = lowest_bit(asked), row = q->few_facts[taker[output]].port;
        memory.last_col[row] = (uint32_t)output;
        memory.last_row[output] = (uint32_t)row;
    }
    return true;
}

uint64_t input_queued_share_switch(struct input_queued *q, struct router_head *head, uint64_t eligible, uint16_t *taker)
{
    const struct view v = {.q = q, .head = head, .inputs = inputs_of(head, 1)};
    const struct matching *ages = q->ways.matching.age ? &q->ways.matching : NULL;
    struct word_requests asked = {0};
    struct word_matching m;
    uint64_t lanes_of[WORD_BITS], several = 0, taken = 0;
    if (q->switch_turns.rounds && q->arbiter->remembers_last && take_turns(&v, eligible, taker, &taken))
        return taken;
    while (eligible) {
        size_t lane = lowest_bit(eligible), port = q->few_facts[lane].port;
        uint64_t lanes = eligible & lanes_of_port(q, lane), outputs = bit(v.inputs[lane].out_port);
        eligible ^= lanes;
        lanes_of[port] = lanes;
        if ((lanes & (lanes - 1)) || ages) {
            outputs = outputs_wanted(&v, ages, (uint32_t)port, lanes);
            several |= bit((uint32_t)port);
        }
        words_request(&m, &asked, port, outputs);
    }
    allocation_run_words(&q->ways, PART(void, q->switch_state_at), &q->random[head->number], asked, &m);
    if (!q->arbiter->remembers_last) /* others hear of winners that had no rivals too */
        several = ~(uint64_t)0;
    for (uint64_t left = m.granted; left; left &= left - 1) {
        uint32_t port = (uint32_t)lowest_bit(left), output = m.grant[port];
        uint64_t lanes = lanes_of[port];
        taker[output] = (uint16_t)(several & bit(port) ? winner_of(&v, port, lanes, output) : lowest_bit(lanes));
        taken |= bit(output);
    }
    return taken;
}

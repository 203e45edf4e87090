/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: a router's tick. It is worked on by a team of TEAM work-items, which share out its ports
 * and lanes. In a stage each reads copies of the team's sets of lanes, or notes what it adds to them and takes out of them, and
 * then tells the team: no set is read while another member may change it. Ways that only the program goes, one lane after the
 * other, are in input_queued_stages.h.
 */
#include "device/router_kernel.h"

#define SETS (LANE_SETS + 1) /* the last one: output lanes with a credit */
#define SET_CREDITED LANE_SETS

struct team {
    uint64_t sets[SETS][WORDS];
    uint64_t asked[WORDS];       /* output lanes that are asked for; input lanes that may use the switch */
    uint16_t asker[WORDS * 64];  /* by output lane: who gets it */
    uint16_t choice[WORDS * 64]; /* by input lane: what it asks for, or NOBODY */
    uint16_t row_lane[64],
        row_port[64]; /* by input port: the lane that asks for the switch, and for which output port */
    uint32_t row_contested[64];
    uint32_t is_woken, is_due, moved, events, flit_hops;
};

#if TEAM > 1
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define TOGETHER ((void)0)
#endif

/* A member's own sets: copies of the team's, or what it adds to them and takes out of them. */
struct own_sets {
    uint64_t words[SETS][WORDS];
};

#define ONE(set) (1u << (set)) /* of several sets, joined by | */

FW_INLINE void copy_sets(struct own_sets *own, FW_TEAM const struct team *team, uint32_t which)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t w = 0; w < WORDS; w++)
            own->words[set][w] = which & ONE(set) ? team->sets[set][w] : 0;
}

/* A stage takes lanes out of these sets, and adds lanes to others: to none it does both. */
FW_INLINE void begin_changes(struct own_sets *own, uint32_t taken_out_of)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t w = 0; w < WORDS; w++)
            own->words[set][w] = taken_out_of & ONE(set) ? ~(uint64_t)0 : 0;
}

FW_INLINE void add_lanes(FW_TEAM uint64_t *word, uint64_t lanes)
{
#if TEAM > 1
    if (lanes)
        atom_or((volatile FW_TEAM ulong *)word, lanes);
#else
    *word |= lanes;
#endif
}

FW_INLINE void keep_lanes(FW_TEAM uint64_t *word, uint64_t lanes)
{
#if TEAM > 1
    if (~lanes)
        atom_and((volatile FW_TEAM ulong *)word, lanes);
#else
    *word &= lanes;
#endif
}

FW_INLINE void tell_changes(FW_TEAM struct team *team, const struct own_sets *own, uint32_t taken_out_of)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t w = 0; w < WORDS; w++)
            if (taken_out_of & ONE(set))
                keep_lanes(&team->sets[set][w], own->words[set][w]);
            else
                add_lanes(&team->sets[set][w], own->words[set][w]);
}

FW_INLINE void count_for_team(FW_TEAM uint32_t *counter, uint32_t count)
{
#if TEAM > 1
    if (count)
        atomic_add((volatile FW_TEAM uint *)counter, count);
#else
    *counter += count;
#endif
}

FW_INLINE struct view view_of(struct input_queued *q, FW_GLOBAL struct router_head *head, struct own_sets *sets,
                              tick_t now)
{
    return (struct view){
        .q = q,
        .head = head,
        .inputs = inputs_of(head, WORDS),
        .outputs = outputs_of(q, head),
        .fresh = sets->words[SET_FRESH],
        .waiting = sets->words[SET_WAITING],
        .sendable = sets->words[SET_SENDABLE],
        .busy = sets->words[SET_BUSY],
        .free = sets->words[SET_FREE],
        .credited = sets->words[SET_CREDITED],
        .usable = sets->words[SET_USABLE],
        .wants = wants_of(q, head, 0, WORDS),
        .wants_apart = WORDS == 1 ? sizeof(struct input_lane) / sizeof(uint64_t) : WORDS,
        .now = now,
        .soonest = FW_NEVER,
        .moved = false,
    };
}

/* Of the members of a set every TEAM-th, by who asks. */
FW_INLINE void share_of(uint64_t *share, const uint64_t *set, uint32_t member)
{
    uint32_t turn = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        share[w] = 0;
        for (uint64_t left = set[w]; left; left &= left - 1, turn++)
            share[w] |= turn % TEAM == member ? left & -left : 0;
    }
}

/* A router of a team in a tick: its place, and who of the team this is. */
struct duty {
    struct input_queued *q;
    FW_GLOBAL struct router_head *head;
    FW_TEAM struct team *team;
    uint32_t router, member;
    tick_t now;
    bool is_there; /* the last teams of a group may have no router */
};

FW_INLINE void load_team(const struct duty *d)
{
    for (uint32_t i = d->member; d->is_there && i < LANE_SETS * WORDS; i += TEAM)
        d->team->sets[i / WORDS][i % WORDS] = lanes_in(d->head, SET_FRESH, WORDS)[i];
    for (uint32_t w = d->member; w < WORDS; w += TEAM)
        d->team->sets[SET_CREDITED][w] = d->is_there && d->q->vc_needs_credit ? credited_of(d->q, d->head)[w] : 0;
    if (d->member == 0) {
        d->team->is_woken = d->team->is_due = d->team->moved = d->team->events = d->team->flit_hops = 0;
    }
}

FW_INLINE void store_team(const struct duty *d)
{
    for (uint32_t i = d->member; i < SET_USABLE * WORDS; i += TEAM)
        lanes_in(d->head, SET_FRESH, WORDS)[i] = d->team->sets[i / WORDS][i % WORDS];
    for (uint32_t w = d->member; w < WORDS && d->q->vc_needs_credit; w += TEAM)
        credited_of(d->q, d->head)[w] = d->team->sets[SET_CREDITED][w];
}

/* Of what has come a member takes that of its ports. */
struct arrivals {
    uint64_t flits[PORTS_EACH];
    slot_vcs credits[PORTS_EACH];
};

FW_INLINE struct arrivals take_arrivals(const struct duty *d)
{
    const struct memory *m = d->q->network->memory;
    struct arrivals come = {{0}, {0}};
    size_t first = slot_of(m, d->now, router_port(m, d->router, 0));
    for (uint32_t i = 0, port = d->member; d->is_there && port < d->q->ports; i++, port += TEAM) {
        come.flits[i] = take_flit(m, first + port);
        come.credits[i] = take_credits(m, first + port);
    }
    return come;
}

/* Reads what the stages will need, all at once. */
FW_INLINE void read_ahead(const struct duty *d, const struct arrivals *come)
{
    const struct memory *m = d->q->network->memory;
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + d->q->switch_state_at, d->q->ports);
    FW_GLOBAL const struct input_lane *inputs = inputs_of(d->head, WORDS);
    FW_GLOBAL const struct output_lane *outputs = outputs_of(d->q, d->head);
    uint64_t sum = 0;
    for (uint32_t i = 0, port = d->member; d->is_there && port < d->q->ports; i++, port += TEAM) {
        uint32_t lane = port * d->q->num_vcs;
        if (come->flits[i]) {
            sum += inputs[lane + slot_vc(come->flits[i])].count;
            sum += m->packets[slot_flit(come->flits[i]).packet].destination_router + turns.last_col[port];
        }
        if (come->credits[i])
            sum += outputs[lane + lowest_bit(come->credits[i])].credits;
    }
    if (sum == NEVER_READ)
        d->head->unused = 1;
}

FW_INLINE void receive_team_flits(const struct duty *d, const struct arrivals *come)
{
    struct own_sets changes;
    uint32_t count = 0;
    begin_changes(&changes, 0);
    for (uint32_t i = 0, port = d->member; port < d->q->ports; i++, port += TEAM)
        if (come->flits[i]) {
            receive_flit(d->q, d->head, changes.words[SET_FRESH], changes.words[SET_BUSY], changes.words[SET_SENDABLE],
                         port * d->q->num_vcs + slot_vc(come->flits[i]), slot_flit(come->flits[i]), d->now, VARIANT);
            count++;
        }
    if (!count)
        return;
    tell_changes(d->team, &changes, 0);
    count_for_team(&d->team->events, count);
}

FW_INLINE void receive_team_credits(const struct duty *d, const struct arrivals *come)
{
    struct own_sets changes;
    uint32_t count = 0;
    begin_changes(&changes, 0);
    for (uint32_t i = 0, port = d->member; port < d->q->ports; i++, port += TEAM)
        for (uint64_t vcs = come->credits[i]; vcs; vcs &= vcs - 1, count++)
            receive_credit(d->q, d->head, outputs_of(d->q, d->head), changes.words[SET_SENDABLE],
                           changes.words[SET_CREDITED], port * d->q->num_vcs + (uint32_t)lowest_bit(vcs), d->now,
                           VARIANT);
    if (!count)
        return;
    tell_changes(d->team, &changes, 0);
    count_for_team(&d->team->events, count);
}

/* Who is woken steps, and who was to step anyway. */
FW_INLINE void begin_step(const struct duty *d)
{
    if (d->member || !d->is_there)
        return;
    if (d->team->is_woken)
        wake(d->q, d->head, d->now, VARIANT);
    d->team->is_due = d->head->step_at == d->now;
    if (!d->q->steps_each_tick) {
        FW_GLOBAL uint16_t *steps = steps_at(d->q->network->memory, d->router, d->now);
        d->team->events += *steps;
        if (*steps)
            *steps = 0;
    }
    if (HAS_SENSORS && (d->team->is_due || d->team->events))
        CONGESTION_CATCH_UP(d->q->question.congestion, d->router, d->now);
    if (!d->team->is_due)
        return;
    if (!d->q->steps_each_tick)
        d->head->step_at = FW_NEVER;
    d->team->events += d->q->steps_each_tick;
}

FW_INLINE void route_team(const struct duty *d)
{
    struct own_sets own, share;
    copy_sets(&own, d->team, ONE(SET_FRESH) | ONE(SET_USABLE));
    share = own;
    share_of(share.words[SET_FRESH], own.words[SET_FRESH], d->member);
    struct view view = view_of(d->q, d->head, &share, d->now);
    route(&view, VARIANT);
}

/* Every routed packet asks for an output lane. */
FW_INLINE void ask_team(const struct duty *d)
{
    struct own_sets own;
    copy_sets(&own, d->team, ONE(SET_FRESH) | ONE(SET_WAITING) | ONE(SET_BUSY) | ONE(SET_FREE) | ONE(SET_CREDITED));
    struct view view = view_of(d->q, d->head, &own, d->now);
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + d->q->vc_state_at, d->q->lanes);
    uint64_t asking[WORDS], mine[WORDS];
    for (uint32_t w = 0; w < WORDS; w++)
        asking[w] = (own.words[SET_WAITING][w] | own.words[SET_FRESH][w]) & ~own.words[SET_BUSY][w];
    share_of(mine, asking, d->member);
    BITS_EACH(lane, mine, WORDS) {
        uint32_t output = ask_output(&view, turns, lane, VARIANT);
        d->team->choice[lane] = output == FW_NONE ? (uint16_t)NOBODY : (uint16_t)output;
    }
}

/* The leader settles who gets which: as turns have it, in the order of lanes. */
FW_INLINE void settle_outputs(const struct duty *d)
{
    FW_TEAM struct team *team = d->team;
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + d->q->vc_state_at, d->q->lanes);
    uint64_t asking[WORDS], asked[WORDS];
    for (uint32_t w = 0; w < WORDS; w++) {
        team->sets[SET_WAITING][w] |= team->sets[SET_FRESH][w];
        team->sets[SET_FRESH][w] = 0;
        asking[w] = team->sets[SET_WAITING][w] & ~team->sets[SET_BUSY][w];
        asked[w] = 0;
    }
    BITS_EACH(lane, asking, WORDS)
        if (team->choice[lane] != NOBODY)
            turns_ask(turns, &asked[team->choice[lane] / WORD_BITS], team->asker, lane, team->choice[lane]);
    for (uint32_t w = 0; w < WORDS; w++) {
        team->asked[w] = asked[w];
        team->sets[SET_FREE][w] &= ~asked[w];
        team->moved |= asked[w] != 0;
    }
}

FW_INLINE void hold_team(const struct duty *d)
{
    struct own_sets changes;
    uint64_t asked[WORDS], mine[WORDS];
    begin_changes(&changes, ONE(SET_WAITING));
    struct view view = view_of(d->q, d->head, &changes, d->now);
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + d->q->vc_state_at, d->q->lanes);
    for (uint32_t w = 0; w < WORDS; w++)
        asked[w] = d->team->asked[w];
    share_of(mine, asked, d->member);
    BITS_EACH(output, mine, WORDS) {
        size_t lane = d->team->asker[output];
        turns_grant(turns, lane, output);
        hold_output(&view, lane, output, VARIANT);
#ifdef USUAL_ROUTER
        drop(view.waiting, lane, VARIANT);
        *view.busy |= bit((uint32_t)lane) & d->q->busy_after_grant;
#endif
    }
    tell_changes(d->team, &changes, ONE(SET_WAITING));
}

#ifndef USUAL_ROUTER
FW_INLINE void find_team_eligible(const struct duty *d)
{
    struct own_sets own;
    uint64_t eligible[TURNS_MOST / WORD_BITS];
    copy_sets(&own, d->team, ONE(SET_SENDABLE) | ONE(SET_BUSY));
    struct view view = view_of(d->q, d->head, &own, d->now);
    find_eligible(&view, eligible, VARIANT);
    for (uint32_t w = 0; w < WORDS; w++)
        d->team->asked[w] = eligible[w];
}
#endif

/* Every input port asks for the switch by one of its lanes. */
FW_INLINE void ask_team_rows(const struct duty *d)
{
    const struct input_queued *q = d->q;
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + q->switch_state_at, q->ports);
    FW_GLOBAL const struct input_lane *inputs = inputs_of(d->head, WORDS);
    uint64_t eligible[WORDS];
    for (uint32_t w = 0; w < WORDS; w++)
#ifdef USUAL_ROUTER
        eligible[w] = d->team->sets[SET_SENDABLE][w] & ~d->team->sets[SET_BUSY][w];
#else
        eligible[w] = d->team->asked[w];
#endif
    for (uint32_t row = d->member; row < q->ports; row += TEAM) {
        uint64_t vcs = bits_word(eligible, row * q->num_vcs, q->num_vcs);
        d->team->row_port[row] = NOBODY;
        if (!vcs)
            continue;
        uint32_t chosen = vcs & (vcs - 1) ? choose_among(q, d->head, inputs, row, vcs, turns.last_col[row])
                                          : row * q->num_vcs + (uint32_t)lowest_bit(vcs);
        d->team->row_lane[row] = (uint16_t)(chosen & ~CONTESTED);
        d->team->row_contested[row] = chosen & CONTESTED;
        d->team->row_port[row] = inputs[chosen & ~CONTESTED].out_port;
    }
}

/* The input port that gets an output port; NOBODY: none asks. */
FW_INLINE uint32_t winning_row(const struct duty *d, struct turns turns, uint32_t port)
{
    uint32_t best = NOBODY;
    for (uint32_t row = 0; row < d->q->ports; row++)
        if (d->team->row_port[row] == port && (best == NOBODY || turn_is_before(row, best, turns.last_row[port])))
            best = row;
    return best;
}

FW_INLINE void send_team(const struct duty *d)
{
    const struct turns turns = turns_at((FW_GLOBAL unsigned char *)d->head + d->q->switch_state_at, d->q->ports);
    const uint32_t taken_out_of = ONE(SET_SENDABLE) | ONE(SET_CREDITED);
    struct own_sets changes;
    uint32_t winners = 0;
    begin_changes(&changes, taken_out_of);
    struct view view = view_of(d->q, d->head, &changes, d->now);
    for (uint32_t port = d->member; port < d->q->ports; port += TEAM) {
        uint32_t row = winning_row(d, turns, port);
        if (row == NOBODY)
            continue;
        size_t lane = d->team->row_lane[row];
        if (d->team->row_contested[row])
            note_turn(d->q, d->head, lane, port);
        turns_grant(turns, row, port);
        traverse(&view, lane, VARIANT);
        winners++;
    }
    if (!winners)
        return;
    tell_changes(d->team, &changes, taken_out_of);
    count_for_team(&d->team->flit_hops, winners);
    d->team->moved = true;
}

/* The stages, one after the other. Only the leader knows when the next busy lane is not any more. */
FW_INLINE void step_team(const struct duty *d)
{
    bool is_due = d->team->is_due, leads = is_due && d->member == 0;
    tick_t soonest = FW_NEVER;
    if (leads) {
        struct own_sets own;
        copy_sets(&own, d->team, ONE(SET_BUSY));
        struct view view = view_of(d->q, d->head, &own, d->now);
        end_stages(&view, VARIANT);
        soonest = view.soonest;
        for (uint32_t w = 0; w < WORDS; w++)
            d->team->sets[SET_BUSY][w] = own.words[SET_BUSY][w];
    }
    if (is_due)
        route_team(d);
    TOGETHER;
    if (is_due)
        ask_team(d);
    TOGETHER;
    if (leads)
        settle_outputs(d);
    TOGETHER;
    if (is_due)
        hold_team(d);
    TOGETHER;
#ifndef USUAL_ROUTER
    if (leads)
        find_team_eligible(d);
    TOGETHER;
#endif
    if (is_due)
        ask_team_rows(d);
    TOGETHER;
    if (is_due)
        send_team(d);
    TOGETHER;
    if (!leads)
        return;
    struct own_sets own;
    copy_sets(&own, d->team, ONE(SET_FRESH) | ONE(SET_WAITING) | ONE(SET_SENDABLE));
    struct view view = view_of(d->q, d->head, &own, d->now);
    view.soonest = soonest;
    view.moved = d->team->moved;
    if (goes_on(&view, VARIANT))
        wake(d->q, d->head, d->now + (d->q->steps_each_tick ? 1 : d->q->cycle), VARIANT);
}

FW_INLINE void router_tick(const struct memory *m, FW_TEAM struct team *team, uint32_t router, uint32_t member,
                           tick_t now)
{
    struct network network = network_of(m);
    struct input_queued queued = input_queued_of(m, &network);
    const bool is_there = router < FACT(routers);
    const struct duty duty = {&queued, block_of(&queued, is_there ? router : 0), team, router, member, now, is_there};
    const struct duty *d = &duty;
    const struct arrivals come = take_arrivals(d);
    load_team(d);
    read_ahead(d, &come);
    TOGETHER;
    queued.is_woken = &team->is_woken;
    receive_team_flits(d, &come);
    TOGETHER;
    receive_team_credits(d, &come);
    queued.is_woken = 0;
    TOGETHER;
    begin_step(d);
    TOGETHER;
    step_team(d);
    TOGETHER;
    if (!is_there || (!team->events && !team->is_due))
        return;
    store_team(d);
    if (member)
        return;
    FW_GLOBAL struct lockstep_router_counts *counts = &m->router_counts[router];
    counts->flit_hops += team->flit_hops;
    counts->events += team->events;
    counts->last_event = now;
}

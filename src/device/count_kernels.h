/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. By nobody else: What a grid point asks of the device: sums, and when something happens next. */
#include "device/kernels.h"

/* Each work-item adds up its share. */
FW_INLINE void count_terminals(const struct memory *m, uint32_t application)
{
    uint64_t sum[LOCKSTEP_SUMS] = {0};
    for (size_t i = get_global_id(0); i < FACT(terminals); i += get_global_size(0)) {
        FW_GLOBAL const struct lockstep_counts *c = counts_of(m, application, (uint32_t)i);
        sum[SUM_CREATED_PACKETS] += c->created_packets;
        sum[SUM_CREATED_FLITS] += c->created_flits;
        sum[SUM_SAMPLED_CREATED] += c->sampled_created;
        sum[SUM_DELIVERED] += c->delivered_packets;
        sum[SUM_ACCEPTED] += c->accepted_flits;
        sum[SUM_LATENCY] += c->latency_sum;
        sum[SUM_ENTERED] += c->entered;
        sum[SUM_SAMPLED_DELIVERED] += c->sampled_delivered;
        sum[SUM_TRANSACTIONS_BEGUN] += c->transactions_begun;
        sum[SUM_TRANSACTIONS_ENDED] += c->transactions_ended;
    }
    for (uint32_t i = 0; i < LOCKSTEP_SUMS; i++)
        if (sum[i])
            atom_add(&m->sums[application * LOCKSTEP_SUMS + i], sum[i]);
}

/* The most that wait in a ring. */
FW_INLINE void count_rings(const struct memory *m, FW_GLOBAL uint64_t *sums)
{
    uint64_t heard = 0, answers = 0;
    for (size_t i = get_global_id(0); i < FACT(terminals) * FACT(listeners); i += get_global_size(0))
        heard = m->heard_rings[i].count > heard ? m->heard_rings[i].count : heard;
    for (size_t i = get_global_id(0); i < FACT(terminals); i += get_global_size(0))
        answers = m->terminals[i].answers > answers ? m->terminals[i].answers : answers;
    atomic_max((volatile FW_GLOBAL uint *)&sums[SUM_MOST_HEARD], (uint)heard);
    atomic_max((volatile FW_GLOBAL uint *)&sums[SUM_MOST_ANSWERS], (uint)answers);
}

FW_INLINE void count_all(const struct memory *m)
{
    FW_GLOBAL uint64_t *sums = m->sums + FACT(application_count) * LOCKSTEP_SUMS;
    for (uint32_t application = 0; application < FACT(application_count); application++)
        count_terminals(m, application);
    uint64_t hops = 0, events = 0;
    for (size_t i = get_global_id(0); i < FACT(routers); i += get_global_size(0)) {
        hops += m->router_counts[i].flit_hops;
        events += m->router_counts[i].events;
    }
    for (size_t i = get_global_id(0); i < FACT(terminals); i += get_global_size(0))
        events += m->terminals[i].events;
    for (size_t i = get_global_id(0); i < FACT(terminals) * FACT(channels); i += get_global_size(0))
        events += m->later[i].when < m->clock->now ? m->later[i].count : 0;
    atom_add(&sums[SUM_HOPS], hops);
    atom_add(&sums[SUM_EVENTS], events);
    if (FACT(listeners))
        count_rings(m, sums);
}

/* Is everything back where it was? Else next[0] is not 0, and the program looks what is not: network_check_idle(). */
FW_INLINE void check_idle(const struct memory *m)
{
    const struct network network = network_of(m);
    for (size_t i = get_global_id(0); i < FACT(routers) * FACT(lanes); i += get_global_size(0)) {
        uint32_t router = (uint32_t)(i / FACT(lanes)), lane = (uint32_t)(i - (size_t)router * FACT(lanes));
        if (!lane_is_idle(m, &network, router, lane))
            m->next[0] = 1;
    }
}

/* Flits that have left by every `lanes` output lanes of a router, modulo 2^32: network_count_flits(). */
FW_INLINE void count_flits(const struct memory *m, uint32_t lanes)
{
    const struct network network = network_of(m);
    for (size_t i = get_global_id(0); i < FACT(routers) * FACT(lanes) / lanes; i += get_global_size(0)) {
        size_t first = i * lanes, router = first / FACT(lanes);
        uint32_t flits = 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            flits += flits_by_lane(m, &network, (uint32_t)router, (uint32_t)(first - router * FACT(lanes)) + lane);
        m->lane_flits[i] = flits;
    }
}

/*
 * By work-items, each with a share of routers, terminals and places of the channels: the earliest tick from `now` on at
 * which one of them has an event, into its own place of `next`; behind all of those the last at which it had; and behind
 * these the earliest at which it has something else to do.
 */
FW_INLINE void find_next(const struct memory *m, tick_t now, bool with_timers)
{
    const struct network network = network_of(m);
    tick_t earliest = FW_NEVER, last = 0, soonest = FW_NEVER;
    for (size_t i = get_global_id(0); i < FACT(routers); i += get_global_size(0)) {
        tick_t next = next_of_router(m, &network, (uint32_t)i, now, &soonest);
        earliest = next < earliest ? next : earliest;
        last = m->router_counts[i].last_event > last ? m->router_counts[i].last_event : last;
    }
    for (size_t i = get_global_id(0); i < FACT(terminals); i += get_global_size(0)) {
        FW_GLOBAL const struct lockstep_terminal *t = &m->terminals[i];
        tick_t step_at = m->outlets[i].step_at;
        earliest = step_at < earliest ? step_at : earliest;
        for (uint32_t s = 0; with_timers && s < t->sources; s++) {
            tick_t wake_at = m->sources[t->first_source + s].wake_at;
            earliest = wake_at < earliest ? wake_at : earliest;
        }
        tick_t enters = next_entry(m, (uint32_t)i, &soonest);
        earliest = enters < earliest ? enters : earliest;
        last = t->last_event > last ? t->last_event : last;
    }
    for (size_t i = get_global_id(0); with_timers && i < FACT(terminals) * FACT(listeners); i += get_global_size(0)) {
        FW_GLOBAL const struct lockstep_ring *ring = &m->heard_rings[i];
        tick_t due = ring->count ? heard_at(m, ring, ring->first)->due : FW_NEVER;
        earliest = due < earliest ? due : earliest;
    }
    for (size_t port = get_global_id(0); port < FACT(slot_row); port += get_global_size(0))
        for (tick_t ahead = 0; ahead <= FACT(slot_mask); ahead++) {
            size_t slot = slot_of(m, now + ahead, port);
            if ((m->flits[slot] || has_credits(m, slot)) && now + ahead < earliest)
                earliest = now + ahead;
        }
    m->next[get_global_id(0)] = earliest;
    m->next[get_global_size(0) + get_global_id(0)] = last;
    m->next[2 * get_global_size(0) + get_global_id(0)] = soonest;
}

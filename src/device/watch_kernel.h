/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: What is counted over time and what logs are told, where somebody asks for it. Whether
 * somebody does is looked up in memory: it is known when the kernels have long been compiled.
 */
#include "device/kernels.h"

FW_INLINE FW_GLOBAL struct lockstep_series *series_at(const struct memory *m, uint32_t application, tick_t now)
{
    return &m->series[application * m->facts->series_bins + now / m->facts->series_interval];
}

FW_INLINE FW_GLOBAL struct lockstep_rates *rates_at(const struct memory *m, uint32_t application, uint32_t terminal,
                                                    tick_t now)
{
    uint64_t bin = now / m->facts->rate_interval - m->facts->rate_first, all = application * m->facts->rate_bins + bin;
    return &m->rates[all * FACT(terminals) + terminal];
}

/* A message is made. */
FW_INLINE void watch_made(const struct memory *m, uint32_t terminal, uint32_t application, uint32_t packets,
                          uint32_t flits, tick_t now)
{
    if (!m->facts->is_watched)
        return;
    if (m->facts->series_interval) {
        FW_GLOBAL struct lockstep_series *bin = series_at(m, application, now);
        atom_add(&bin->packets_created, (ulong)packets);
        atom_add(&bin->flits_offered, (ulong)flits);
    }
    if (m->facts->rate_interval)
        rates_at(m, application, terminal, now)->offered += flits;
}

/* Flits enter. */
FW_INLINE void watch_entry(const struct memory *m, FW_GLOBAL const struct injector *injector,
                           FW_GLOBAL const struct packet *packet, uint32_t flits, tick_t now)
{
    if (!m->facts->is_watched)
        return;
    if (m->facts->counts_lanes)
        m->entered[(size_t)injector->to.target * FACT(lanes) + injector->to.lane + injector->vc] += flits;
    if (m->facts->rate_interval)
        rates_at(m, packet->application, packet->source, now)->injected += flits;
}

/* Flits arrive. */
FW_INLINE void watch_arrival(const struct memory *m, uint32_t terminal, FW_GLOBAL const struct packet *packet,
                             uint32_t flits, tick_t now)
{
    if (!m->facts->is_watched)
        return;
    if (m->facts->series_interval)
        atom_add(&series_at(m, packet->application, now)->flits_accepted, (ulong)flits);
    if (m->facts->rate_interval) {
        rates_at(m, packet->application, terminal, now)->delivered += flits;
        atomic_add(&rates_at(m, packet->application, packet->source, now)->accepted, flits);
    }
}

/* A packet has arrived as a whole. */
FW_INLINE void watch_packet(const struct memory *m, FW_GLOBAL const struct packet *packet, tick_t now)
{
    if (!m->facts->is_watched)
        return;
    if (m->facts->series_interval) {
        FW_GLOBAL struct lockstep_series *bin = series_at(m, packet->application, packet->created);
        atom_inc(&bin->packets_arrived);
        atom_add(&bin->latency_sum, now - packet->created);
    }
    if (!m->facts->log_room || !packet_is_sampled(packet))
        return;
    uint32_t place = atomic_inc(&m->log_head->count);
    FW_GLOBAL struct lockstep_record *record = &m->log_records[place];
    record->packet = *packet;
    record->arrived = now;
    if (FACT(messages_each) && packet->message != FW_NONE)
        record->message = m->messages[packet->message];
}

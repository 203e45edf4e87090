/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting what happens to one application's packets. The sampling window is
 * marked by copies of running counters, so that counting costs the same inside
 * and outside of it.
 */
#include "metrics/measurement.h"

#include "base/digest.h"

#include <math.h>
#include <string.h>

void measurement_init(struct measurement *measurement, struct arena *arena, uint32_t terminals, tick_t series_interval)
{
    memset(measurement, 0, sizeof *measurement);
    measurement->terminals = terminals;
    measurement->accepted_from = arena_array(arena, uint64_t, terminals);
    measurement->accepted_from_at_start = arena_array(arena, uint64_t, terminals);
    measurement->accepted_from_at_end = arena_array(arena, uint64_t, terminals);
    measurement->is_watched = series_interval;
    if (series_interval)
        series_init(&measurement->series, 0, series_interval, arena->rewind);
}

void measurement_keep_rates(struct measurement *measurement, uint64_t interval, struct rewind *rewind)
{
    measurement->is_watched = true;
    rates_init(&measurement->rates, interval, measurement->terminals, rewind);
}

void measurement_keep_planes(struct measurement *measurement, uint32_t planes, struct arena *arena)
{
    measurement->planes = planes;
    measurement->packets_by_plane = arena_array(arena, uint64_t, planes);
}

void measurement_keep_levels(struct measurement *measurement, uint32_t levels, const uint8_t *class_level,
                             struct arena *arena)
{
    measurement->is_watched = true;
    measurement->levels = levels;
    measurement->class_level = class_level;
    measurement->by_level = arena_array(arena, struct level_count, levels);
}

void measurement_release(struct measurement *measurement)
{
    if (measurement->series.length)
        series_release(&measurement->series);
    rates_release(&measurement->rates);
}

void measurement_watch_created(struct measurement *measurement, tick_t now, uint32_t source, uint32_t packets,
                               uint32_t flits, uint32_t protocol)
{
    if (measurement->levels)
        measurement->by_level[measurement->class_level[protocol]].created_flits += flits;
    if (measurement->series.length)
        series_created(&measurement->series, now, packets, flits);
    if (measurement->rates.interval)
        rates_at(&measurement->rates, now, source)->offered += flits;
}

void measurement_watch_flits(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits)
{
    if (measurement->levels)
        measurement->by_level[measurement->class_level[packet->protocol]].accepted_flits += flits;
    if (measurement->series.length)
        series_accepted(&measurement->series, now, flits);
    if (measurement->rates.interval) {
        rates_at(&measurement->rates, now, packet->destination)->delivered += flits;
        rates_at(&measurement->rates, now, packet->source)->accepted += flits;
    }
}

void measurement_watch_entry(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits)
{
    if (measurement->rates.interval)
        rates_at(&measurement->rates, now, packet->source)->injected += flits;
}

static void add_to_level(struct level_count *level, tick_t now, const struct packet *packet)
{
    level->packets++;
    histogram_add(&level->packet_latency, now - packet->created);
    histogram_add(&level->network_latency, now - packet->injected);
}

void measurement_watch_packet(struct measurement *measurement, tick_t now, const struct packet *packet)
{
    if (measurement->levels && packet->sampled)
        add_to_level(&measurement->by_level[measurement->class_level[packet->protocol]], now, packet);
    if (measurement->series.length)
        series_arrived(&measurement->series, packet->created, now - packet->created);
}

void measurement_open(struct measurement *measurement, tick_t now)
{
    measurement->window_start = now;
    measurement->offered_at_start = measurement->created_flits;
    measurement->accepted_at_start = measurement->accepted_flits;
    memcpy(measurement->accepted_from_at_start, measurement->accepted_from, sizeof(uint64_t) * measurement->terminals);
    for (uint32_t i = 0; i < measurement->levels; i++) {
        struct level_count *level = &measurement->by_level[i];
        level->offered_at_start = level->created_flits;
        level->accepted_at_start = level->accepted_flits;
    }
}

void measurement_close(struct measurement *measurement, tick_t now)
{
    measurement->window_end = now;
    measurement->offered_at_end = measurement->created_flits;
    measurement->accepted_at_end = measurement->accepted_flits;
    memcpy(measurement->accepted_from_at_end, measurement->accepted_from, sizeof(uint64_t) * measurement->terminals);
    for (uint32_t i = 0; i < measurement->levels; i++) {
        struct level_count *level = &measurement->by_level[i];
        level->offered_at_end = level->created_flits;
        level->accepted_at_end = level->accepted_flits;
    }
}

/* Most ways are minimal, so only the others are counted twice. */
void measurement_minimal_hops(const struct measurement *measurement, struct histogram *minimal)
{
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(&measurement->hops, &cursor, &bucket);) {
        uint64_t detours = measurement->detours.buckets[histogram_index(bucket.low)];
        histogram_add_many(minimal, bucket.low, bucket.count - detours);
    }
    histogram_merge(minimal, &measurement->shortcuts);
}

void measurement_forget_counts(struct measurement *m)
{
    m->created_packets = m->created_flits = m->delivered_packets = m->accepted_flits = m->latency_sum = 0;
    m->withdrawn_packets = m->sampled_created = m->sampled_delivered = m->sampled_withdrawn = m->nonminimal = 0;
    m->transactions_begun = m->transactions_ended = 0;
    m->batches = (struct batch_means){0};
    for (uint32_t level = 0; level < m->levels; level++)
        m->by_level[level].created_flits = m->by_level[level].accepted_flits = 0;
}

void measurement_forget_sources(struct measurement *m)
{
    memset(m->accepted_from, 0, sizeof *m->accepted_from * m->terminals);
}

void measurement_count_sources(struct measurement *into, const struct measurement *from)
{
    for (uint32_t terminal = 0; terminal < into->terminals; terminal++)
        into->accepted_from[terminal] += from->accepted_from[terminal];
}

void measurement_count(struct measurement *into, const struct measurement *from)
{
    into->created_packets += from->created_packets;
    into->created_flits += from->created_flits;
    into->delivered_packets += from->delivered_packets;
    into->accepted_flits += from->accepted_flits;
    into->latency_sum += from->latency_sum;
    into->withdrawn_packets += from->withdrawn_packets;
    into->sampled_created += from->sampled_created;
    into->sampled_delivered += from->sampled_delivered;
    into->sampled_withdrawn += from->sampled_withdrawn;
    into->nonminimal += from->nonminimal;
    into->transactions_begun += from->transactions_begun;
    into->transactions_ended += from->transactions_ended;
    batch_means_merge(&into->batches, &from->batches);
    for (uint32_t level = 0; level < into->levels; level++) {
        into->by_level[level].created_flits += from->by_level[level].created_flits;
        into->by_level[level].accepted_flits += from->by_level[level].accepted_flits;
    }
}

void level_count_merge(struct level_count *into, const struct level_count *from)
{
    into->packets += from->packets;
    histogram_merge(&into->packet_latency, &from->packet_latency);
    histogram_merge(&into->network_latency, &from->network_latency);
}

void measurement_merge(struct measurement *into, const struct measurement *from)
{
    measurement_count_sources(into, from);
    histogram_merge(&into->packet_latency, &from->packet_latency);
    histogram_merge(&into->network_latency, &from->network_latency);
    histogram_merge(&into->message_latency, &from->message_latency);
    histogram_merge(&into->hops, &from->hops);
    histogram_merge(&into->detours, &from->detours);
    histogram_merge(&into->shortcuts, &from->shortcuts);
    histogram_merge(&into->transaction_latency, &from->transaction_latency);
    digest_merge(&into->digest, &from->digest);
    for (uint32_t plane = 0; plane < into->planes; plane++)
        into->packets_by_plane[plane] += from->packets_by_plane[plane];
    for (uint32_t level = 0; level < into->levels; level++)
        level_count_merge(&into->by_level[level], &from->by_level[level]);
    if (into->series.length)
        series_merge(&into->series, &from->series);
    if (into->rates.interval)
        rates_merge(&into->rates, &from->rates);
}

/*
 * Backlog that grows by more than 0.5 % of what was offered, and by more than it
 * fluctuates in a steady state (the number in flight varies about as a Poisson
 * variable does).
 */
bool measurement_is_saturated(const struct measurement *m)
{
    uint64_t offered = m->window_end ? m->offered_at_end : m->created_flits;
    uint64_t accepted = m->window_end ? m->accepted_at_end : m->accepted_flits;
    double before = (double)(m->offered_at_start - m->accepted_at_start);
    double after = (double)(offered - accepted);
    double size = m->created_packets ? (double)m->created_flits / (double)m->created_packets : 1;
    double noise = 5 * sqrt(2 * (before + 1) * size);
    return after - before > 0.005 * (double)(offered - m->offered_at_start) + noise;
}

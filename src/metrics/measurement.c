/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting what happens to one application's packets. The sampling window is
 * marked by copies of running counters, so that counting costs the same inside
 * and outside of it.
 */
#include "metrics/measurement.h"

#include <math.h>
#include <string.h>

#define LOAD "flits/terminal/cycle"

const struct result level_results[] = {
    RESULT("level", COUNT, NULL, "number of the level of service"),
    RESULT("protocol_classes", LIST, NULL, "protocol classes of this level"),
    RESULT("offered_load", NUMBER, LOAD, "flits made by all applications, per terminal of the network"),
    RESULT("accepted_load", NUMBER, LOAD, "flits that arrived"),
    RESULT_SUM(struct level_count, packets, "packets", NULL, "sampled packets that arrived"),
    RESULT_SAMPLES(struct level_count, packet_latency, SUMMARY, "packet_latency", "ticks",
                   "from creation to the tail's arrival"),
    RESULT_SAMPLES(struct level_count, network_latency, SUMMARY, "network_latency", "ticks",
                   "from the head's entry into the network to the tail's arrival"),
    RESULT_HIDDEN(struct level_count, created_flits, uint64_t, SUM),
    RESULT_HIDDEN(struct level_count, accepted_flits, uint64_t, SUM),
    RESULT_END,
};

static const struct result worst_terminal_results[] = {
    RESULT("terminal", COUNT, NULL, "its number"),
    RESULT("accepted_load", NUMBER, LOAD, "flits that arrived from it", LABEL("least accepted load of a terminal")),
    RESULT_END,
};
static const struct result plane_results[] = {
    RESULT("packets", LIST, NULL, "sampled packets that arrived by each plane"),
    RESULT("share", LIST, NULL, "share of all packets by each plane"),
    RESULT_END,
};
static const struct result phase_results[] = {
    RESULT("warming", COUNT, "ticks", "messages are made but not sampled"),
    RESULT("generating", COUNT, "ticks", "messages are sampled"),
    RESULT("finishing", COUNT, "ticks", "sampled packets are waited for"),
    RESULT("draining", COUNT, "ticks", "the network empties"),
    RESULT_END,
};
static const struct result series_results[] = {
    RESULT("interval", COUNT, "ticks", "length of a bin; lists have an entry for each bin, starting at tick 0"),
    RESULT("packet_latency", LIST, "ticks", "mean of the packets created in the bin; null if there are none"),
    RESULT("packets", LIST, NULL, "messages made"),
    RESULT("flits_offered", LIST, "flits", "flits made"),
    RESULT("flits_accepted", LIST, "flits", "flits that arrived"),
    RESULT_END,
};

static bool has_transactions(const void *record) { return ((const struct measurement *)record)->has_transactions; }

const struct result application_results[] = {
    RESULT("name", TEXT, NULL, "name in the configuration, or its type"),
    RESULT("terminals", COUNT, NULL, "how many terminals it runs on"),
    RESULT("target_load", NUMBER, LOAD,
           "load in the configuration; of requests if there are replies; null if none is given", LABEL("offered load")),
    RESULT("offered_load", NUMBER, LOAD, "flits made in the sampling window, including replies"),
    RESULT("accepted_load", NUMBER, LOAD, "flits that arrived in the sampling window"),
    RESULT("offered_rate", NUMBER, "packets/tick", "packets made (model node)"),
    RESULT("accepted_rate", NUMBER, "packets/tick", "packets that arrived (model node)"),
    RESULT("saturated", FLAG, NULL, "whether offered traffic piled up in the sampling window"),
    RESULT("warmup_ticks", COUNT, "ticks", "start of the sampling window"),
    RESULT("sampled_ticks", COUNT, "ticks", "length of the sampling window"),
    RESULT_SUM(struct measurement, sampled_delivered, "packets", NULL, "sampled packets that arrived"),
    RESULT("unfinished_packets", COUNT, NULL, "sampled packets that did not"),
    RESULT_SAMPLES(struct measurement, packet_latency, SUMMARY, "packet_latency", "ticks",
                   "from creation to the tail's arrival"),
    RESULT_SAMPLES(struct measurement, network_latency, SUMMARY, "network_latency", "ticks",
                   "from the head's entry into the network to the tail's arrival"),
    RESULT_SAMPLES(struct measurement, message_latency, SUMMARY, "message_latency", "ticks",
                   "from creation to the arrival of the message's last packet"),
    RESULT_SUM(struct measurement, transactions_ended, "transactions", NULL,
               "with replies or several messages: sampled transactions that ended", .is_shown = has_transactions),
    RESULT("unfinished_transactions", COUNT, NULL, "sampled transactions that did not"),
    RESULT_SAMPLES(struct measurement, transaction_latency, SUMMARY, "transaction_latency", "ticks",
                   "from the creation of the first message to the arrival of the last packet",
                   .is_shown = has_transactions),
    {.type = RESULT_TYPE_OWN, .kind = "application"},
    RESULT_SAMPLES(struct measurement, hops, SPREAD, "hops", NULL, "channels between routers that a packet crossed"),
    RESULT("minimal_hops", SPREAD, NULL, "the same on a shortest path"),
    RESULT("nonminimal_share", NUMBER, NULL, "share of packets that took more hops than that",
           LABEL("share of packets on longer ways")),
    RESULT_BLOCK("planes", BLOCK, plane_results, "if there are several planes"),
    RESULT_BLOCK("worst_terminal", BLOCK, worst_terminal_results, "the source that got the least"),
    RESULT("accepted_by_terminal", LIST, LOAD, "with per_terminal: accepted from each source"),
    RESULT_BLOCK("phases", BLOCK, phase_results, "the tick at which each phase began"),
    RESULT("latency_distribution", LISTS, NULL, "[from, to, packets] of packet latencies"),
    RESULT("hop_distribution", LISTS, NULL, "the same as hops.distribution"),
    RESULT_BLOCK("series", BLOCK, series_results, "with series_interval"),
    RESULT("alone_time", NUMBER, "ticks", "with --baseline: its time alone"),
    RESULT("slowdown", NUMBER, NULL, "with --baseline: its time together divided by alone_time"),
    RESULT_HIDDEN(struct measurement, created_packets, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, created_flits, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, delivered_packets, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, accepted_flits, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, latency_sum, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, withdrawn_packets, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, lost_messages, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, lost_packets, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, lost_flits, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, sampled_created, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, sampled_withdrawn, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, sampled_lost, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, nonminimal, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, transactions_begun, uint64_t, SUM),
    RESULT_HIDDEN(struct measurement, batches, struct batch_means, BATCHES),
    RESULT_HIDDEN(struct measurement, detours, struct histogram, SAMPLES),
    RESULT_HIDDEN(struct measurement, shortcuts, struct histogram, SAMPLES),
    RESULT_HIDDEN(struct measurement, digest, struct digest, DIGEST),
    RESULT_HIDDEN(struct measurement, series, struct bins, SERIES),
    RESULT_HIDDEN(struct measurement, rates, struct bins, RATES),
    RESULT_HIDDEN_ARRAY(struct measurement, accepted_from, terminals, WINDOW_SUMS),
    RESULT_HIDDEN_ARRAY(struct measurement, accepted_in_window, terminals, RANK_SUMS),
    RESULT_HIDDEN_ARRAY(struct measurement, packets_by_plane, planes, SUMS),
    RESULT_HIDDEN_RECORDS(struct measurement, by_level, levels, struct level_count, level_results),
    RESULT_END,
};

void measurement_init(struct measurement *measurement, struct arena *arena, uint32_t terminals, tick_t series_interval)
{
    memset(measurement, 0, sizeof *measurement);
    measurement->terminals = terminals;
    measurement->accepted_from = arena_array(arena, uint64_t, terminals);
    measurement->accepted_in_window = arena_array(arena, uint64_t, terminals);
    measurement->is_watched = series_interval;
    bins_init(&measurement->series, series_interval, sizeof(struct series_bin), arena->rewind);
}

void measurement_keep_rates(struct measurement *measurement, uint64_t interval, struct rewind *rewind)
{
    measurement->is_watched = true;
    bins_init(&measurement->rates, interval, measurement->terminals * sizeof(struct rate_bin), rewind);
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
    bins_release(&measurement->series);
    bins_release(&measurement->rates);
}

static struct rate_bin *rate_at(struct measurement *measurement, tick_t now, uint32_t terminal)
{
    return (struct rate_bin *)bins_at(&measurement->rates, now) + terminal;
}

void measurement_watch_created(struct measurement *measurement, tick_t now, uint32_t source, uint32_t packets,
                               uint32_t flits, uint32_t protocol)
{
    if (measurement->levels)
        measurement->by_level[measurement->class_level[protocol]].created_flits += flits;
    if (measurement->series.interval) {
        struct series_bin *bin = bins_at(&measurement->series, now);
        bin->packets_created += packets;
        bin->flits_offered += flits;
    }
    if (measurement->rates.interval)
        rate_at(measurement, now, source)->offered += flits;
}

void measurement_lose(struct measurement *measurement, tick_t now, const struct packet *packet, bool is_message_end)
{
    measurement->lost_messages += is_message_end;
    measurement->lost_packets++;
    measurement->lost_flits += packet->size;
    measurement->created_packets--; /* modulo 2^64, as all of these: they are counted behind the loss */
    measurement->created_flits -= packet->size;
    measurement->sampled_created -= packet->sampled;
    if (!measurement->is_watched)
        return;
    if (measurement->levels)
        measurement->by_level[measurement->class_level[packet->protocol]].created_flits -= packet->size;
    if (measurement->series.interval) {
        struct series_bin *bin = bins_at(&measurement->series, now);
        bin->packets_created--;
        bin->flits_offered -= packet->size;
    }
    if (measurement->rates.interval)
        rate_at(measurement, now, packet->source)->offered -= packet->size;
}

void measurement_watch_flits(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits)
{
    if (measurement->levels)
        measurement->by_level[measurement->class_level[packet->protocol]].accepted_flits += flits;
    if (measurement->series.interval)
        ((struct series_bin *)bins_at(&measurement->series, now))->flits_accepted += flits;
    if (measurement->rates.interval) {
        rate_at(measurement, now, packet->destination)->delivered += flits;
        rate_at(measurement, now, packet->source)->accepted += flits;
    }
}

void measurement_watch_entry(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits)
{
    if (measurement->rates.interval)
        rate_at(measurement, now, packet->source)->injected += flits;
}

void measurement_watch_packet(struct measurement *measurement, tick_t now, const struct packet *packet)
{
    if (measurement->levels && packet->sampled) {
        struct level_count *level = &measurement->by_level[measurement->class_level[packet->protocol]];
        level->packets++;
        histogram_add(&level->packet_latency, now - packet->created);
        histogram_add(&level->network_latency, now - packet->injected);
    }
    if (measurement->series.interval) {
        struct series_bin *bin = bins_at(&measurement->series, packet->created);
        bin->packets_arrived++;
        bin->latency_sum += now - packet->created;
    }
}

/* What is counted in the window: less all before it, modulo 2^64, then all up to its end. */
static void mark_window(struct measurement *measurement, bool is_end)
{
    for (uint32_t i = 0; i < measurement->terminals; i++) {
        uint64_t *flits = &measurement->accepted_in_window[i], now = measurement->accepted_from[i];
        *flits = is_end ? *flits + now : -now;
    }
    for (uint32_t i = 0; i < measurement->levels; i++) {
        struct level_count *level = &measurement->by_level[i];
        level->offered = is_end ? level->offered + level->created_flits : -level->created_flits;
        level->accepted = is_end ? level->accepted + level->accepted_flits : -level->accepted_flits;
    }
}

void measurement_open(struct measurement *measurement, tick_t now)
{
    measurement->window_start = now;
    measurement->offered_at_start = measurement->created_flits;
    measurement->accepted_at_start = measurement->accepted_flits;
    mark_window(measurement, false);
}

void measurement_close(struct measurement *measurement, tick_t now)
{
    measurement->window_end = now;
    measurement->offered_at_end = measurement->created_flits;
    measurement->accepted_at_end = measurement->accepted_flits;
    mark_window(measurement, true);
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

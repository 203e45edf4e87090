/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What is measured of one application while it runs. Everything is an integer
 * sum, so that it does not matter in which order packets arrive.
 */
#include "flitwarp/packet.h"

#include "metrics/statistics.h"
#include "flitwarp/digest.h"
#include "metrics/packet_record.h"
#include "metrics/report.h"

/* What is kept of one level of service. */
struct level_count {
    uint64_t created_flits, accepted_flits; /* since the beginning */
    uint64_t offered, accepted;             /* flits in the window */
    uint64_t packets;                       /* sampled ones that have arrived */
    struct histogram packet_latency, network_latency;
};

/* What happened to packets and flits in a bin of the series. */
struct series_bin {
    uint64_t latency_sum, packets_arrived; /* of packets that were created in it */
    uint64_t packets_created, flits_offered, flits_accepted;
};

/* Flits of a terminal in a bin of rates. A message is made as a whole; all else is counted flit by flit. */
struct rate_bin {
    uint32_t offered, injected, delivered; /* made for it to send, entered, arrived at it */
    uint32_t accepted;                     /* that it sent and that have arrived where they were meant to */
};

struct measurement {
    /* Since the beginning. */
    uint64_t created_packets, created_flits;
    uint64_t delivered_packets, accepted_flits;
    uint64_t latency_sum; /* of delivered packets */
    uint64_t withdrawn_packets;
    uint64_t lost_messages, lost_packets,
        lost_flits; /* not sent, since there is no way: they do not count as created */
    /* Sampled packets. */
    uint64_t sampled_created, sampled_delivered, sampled_withdrawn;
    uint64_t sampled_lost; /* by failures, for good */
    uint64_t nonminimal;
    struct histogram packet_latency, network_latency, message_latency;
    struct histogram hops;               /* of all sampled packets */
    struct histogram detours, shortcuts; /* of those on non-minimal ways: their hops, and the hops of a minimal way */
    struct batch_means batches;
    struct digest digest;
    tick_t window_start, window_end; /* of sampling; end is 0 while it goes on */
    /* At the ends of the window. */
    uint64_t offered_at_start, offered_at_end, accepted_at_start, accepted_at_end;
    uint64_t *accepted_from;      /* by terminal: flits that arrived from it */
    uint64_t *accepted_in_window; /* the same, of the window; before its end less what there was at its start */
    uint32_t terminals;
    bool is_watched;       /* over time: a series is kept, or rates are; or by levels */
    struct bins series;    /* struct series_bin */
    struct bins rates;     /* struct rate_bin, one for each terminal */
    bool has_transactions; /* of several messages, or with replies */
    /* Sampled transactions, and those whose last message has arrived. */
    uint64_t transactions_begun, transactions_ended;
    struct histogram transaction_latency;
    uint32_t planes;            /* of the network; 0: nobody asks */
    uint64_t *packets_by_plane; /* sampled ones that have arrived */
    uint32_t levels;            /* of service; 0: nobody asks */
    const uint8_t *class_level; /* by protocol class; borrowed */
    struct level_count *by_level;
};

/* Rows of an application's block of the results and of a level's: of these structs, and of what is worked out from them. */
extern const struct result application_results[], level_results[];

void measurement_init(struct measurement *measurement, struct arena *arena, uint32_t terminals, tick_t series_interval);
void measurement_release(struct measurement *measurement);
/* Before the run: counts the flits of every terminal in bins of so many ticks. */
void measurement_keep_rates(struct measurement *measurement, uint64_t interval, struct rewind *rewind);

/* Before the run: counts the packets of every router plane. */
void measurement_keep_planes(struct measurement *measurement, uint32_t planes, struct arena *arena);

/* Before the run: counts the packets of every level of service. */
void measurement_keep_levels(struct measurement *measurement, uint32_t levels, const uint8_t *class_level,
                             struct arena *arena);

void measurement_open(struct measurement *measurement, tick_t now);  /* sampling begins */
void measurement_close(struct measurement *measurement, tick_t now); /* sampling ends */

/*
 * A sampled packet has arrived. `started` is in the window: when the packet was
 * created, or for a reply, which may come long after, its request.
 */
static inline void measurement_add(struct measurement *measurement, const struct packet *packet, tick_t now,
                                   tick_t started, uint32_t minimal_hops, bool is_message_end)
{
    uint64_t latency = now - packet->created;
    tick_t in_window = started - measurement->window_start;
    measurement->sampled_delivered++;
    histogram_add(&measurement->packet_latency, latency);
    histogram_add(&measurement->network_latency, now - packet->injected);
    if (is_message_end)
        histogram_add(&measurement->message_latency, latency);
    histogram_add(&measurement->hops, packet->hops);
    if (__builtin_expect(packet->hops > minimal_hops, 0)) {
        measurement->nonminimal++;
        histogram_add(&measurement->detours, packet->hops);
        histogram_add(&measurement->shortcuts, minimal_hops);
    }
    batch_means_add(&measurement->batches, in_window, latency);
    packet_record(&measurement->digest, packet, now);
}

/* What happens over time, where it is watched: a message is made, flits enter, flits or a packet arrive. */
void measurement_watch_created(struct measurement *measurement, tick_t now, uint32_t source, uint32_t packets,
                               uint32_t flits, uint32_t protocol);
/* A packet that was counted as created, or is about to be, is lost: it was not. */
void measurement_lose(struct measurement *measurement, tick_t now, const struct packet *packet, bool is_message_end);
void measurement_watch_entry(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits);
void measurement_watch_flits(struct measurement *measurement, tick_t now, const struct packet *packet, uint32_t flits);
void measurement_watch_packet(struct measurement *measurement, tick_t now, const struct packet *packet);

/* The last message of a sampled transaction has arrived. */
static inline void measurement_add_transaction(struct measurement *measurement, uint64_t latency)
{
    measurement->transactions_ended++;
    histogram_add(&measurement->transaction_latency, latency);
}

/* Hops on minimal ways of all sampled packets. */
void measurement_minimal_hops(const struct measurement *measurement, struct histogram *minimal);

/* Did offered traffic pile up during the window (so far, while it is open)? */
bool measurement_is_saturated(const struct measurement *measurement);

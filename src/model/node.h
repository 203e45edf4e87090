/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the files of the node model share: its settings, its event and where its
 * statistics lie.
 */
#include "flitwarp/process.h"
#include "metrics/statistics.h"
#include "model/node_servers.h"
#include "model/node_torus.h"

#include <stddef.h>

enum node_traffic { TRAFFIC_UNIFORM, TRAFFIC_PING_PONG };
enum node_routing { ROUTING_E_CUBE, ROUTING_ROTATED, ROUTING_ADAPTIVE };

struct node_config {
    struct u32_list widths;
    uint32_t traffic;
    double rate;
    struct u32_list from, to;
    uint32_t blocks;
    uint32_t routing, message_packets;
    bool queue_statistics;
    uint32_t packet_bytes;
    double bandwidth;
    uint64_t link_setup, link_latency, processing;
    uint64_t warmup, sample;
};

/* Worked out once; the same for all partitions. */
struct node_model {
    struct node_torus torus;
    tick_t processing; /* of a packet by a node's unit */
    tick_t holding;    /* of a link by a packet: setup and serialisation */
    tick_t latency;    /* from the end of that to the arrival */
    tick_t longest;    /* way between two nodes, without waiting */
    tick_t start, end; /* of the window in which packets are measured: [start, end) */
    tick_t slot;       /* length of a batch in that window */
    double gap;        /* mean, between messages of a slab of nodes, in parts of a tick */
    enum node_routing routing;
    uint32_t message_packets;
    bool counts_queues;
    uint32_t pairs; /* that play ping-pong */
    uint64_t (*ends)[2];
};

#define PARTS ((double)((uint64_t)1 << 20)) /* of a tick, in which sources count time */
#define TIME_MAX 0x1p44                     /* so that such times fit 64 bits */
#define WAIT_BITS 40

/*
 * A packet on its way: the event is its arrival at the node that is the event's process. Its number is the event's tie.
 * The event of a source (node_is_source) uses none of the rest.
 */
struct hop {
    struct event event;
    uint64_t destination;
    tick_t birth;
    uint64_t hops : 24;        /* made so far; 0 only in the event that starts a pair's ping-pong */
    uint64_t wait : WAIT_BITS; /* a note for commit: before the destination's unit took the packet up */
    /* Notes for commit that are there with queue statistics alone: of the packets that the event sent on */
    tick_t link_wait, longest_link_wait;
};
#define HOP_BYTES offsetof(struct hop, link_wait) /* of an event without queue statistics */

#define NUMBER_BITS 44 /* of a packet within its source; the source is above */
#define BATCHES 64

/* The message that a packet is a part of: its packets go the same way, and arrive in order. */
static inline uint64_t node_message(const struct node_model *node, uint64_t packet)
{
    if (node->message_packets == 1)
        return packet;
    uint64_t number = packet & (((uint64_t)1 << NUMBER_BITS) - 1);
    return packet - number + number / node->message_packets;
}
static inline bool node_is_last(const struct node_model *node, uint64_t packet)
{
    uint64_t number = packet & (((uint64_t)1 << NUMBER_BITS) - 1);
    return node->message_packets == 1 || number % node->message_packets == node->message_packets - 1;
}

/* The source of a block is a process too: its number follows those of nodes, close by, as the engine sorts by them. */
static inline uint64_t node_source(const struct node_torus *torus, uint32_t block)
{
    return ((uint64_t)1 << torus->bits) + block;
}
static inline bool node_is_source(const struct node_torus *torus, uint64_t process) { return process >> torus->bits; }
static inline uint32_t node_block_of_source(const struct node_torus *torus, uint64_t process)
{
    return (uint32_t)(process - ((uint64_t)1 << torus->bits));
}

/* Statistics that are added up over partitions, by their place among the sums. */
enum node_sum {
    SUM_CREATED,       /* packets, from the beginning */
    SUM_FINISHED,      /* the same */
    SUM_OFFERED,       /* packets created in the window */
    SUM_SAMPLED,       /* packets that finished in the window */
    SUM_IN_FLIGHT,     /* ticks that packets spent in flight in the window */
    SUM_LATENCY,       /* of packets that finished in the window */
    SUM_EVERY_LATENCY, /* of packets that finished at any time */
    SUM_HOPS,          /* of packets that finished in the window */
    SUM_HOP_EVENTS,    /* packets' arrivals at nodes, from the beginning */
    SUM_MESSAGES,      /* whose last packet finished in the window */
    SUM_MESSAGE_LATENCY,
    SUM_UNIT_TAKEN, /* units, and links, that packets came to in the window, and how long they waited for them */
    SUM_UNIT_WAIT,
    SUM_LINK_TAKEN,
    SUM_LINK_WAIT,
    SUM_BATCH_LATENCY, /* of packets, by when in the window they finished */
    SUM_BATCH_COUNT = SUM_BATCH_LATENCY + BATCHES,
    SUM_LATENCIES = SUM_BATCH_COUNT + BATCHES, /* their histogram */
    SUM_HOP_COUNTS = SUM_LATENCIES + HISTOGRAM_BUCKETS,
    SUMS = SUM_HOP_COUNTS + HISTOGRAM_BUCKETS,
};
/* Those of which the largest counts; a smallest value is kept as the largest complement. */
enum node_maximum {
    MAX_LATENCY,
    MAX_LATENCY_COMPLEMENT,
    MAX_HOPS,
    MAX_HOPS_COMPLEMENT,
    MAX_UNIT_WAIT,
    MAX_LINK_WAIT,
    MAXIMA
};

/* node_settings.c */
extern const struct option node_options[];
extern const struct result node_reports[];
void node_prepare(struct model *model, struct errors *errors);
/* node_results.c */
void node_application(const struct model *model, const struct model_totals *totals, struct report *report);
void node_results(const struct model *model, const struct model_totals *totals, struct report *report);
void node_summary(const struct model *model, const struct model_totals *totals, FILE *out);

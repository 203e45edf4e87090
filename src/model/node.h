/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the files of the node model share: its settings, its event and where its
 * statistics lie.
 */
#include "flitwarp/process.h"
#include "metrics/statistics.h"
#include "flitwarp/option.h"
#include "flitwarp/random.h"

#include <stddef.h>

/* ---- node_torus.c ---- */

/*
 * The arithmetic of a torus of any size. A node is named by its coordinates, each
 * in a bit field of its own, so that a step of a route is shifts and masks however
 * many nodes there are, and nothing is stored per node:
 *
 *     widths [4, 10, 8], node (2, 9, 5):   | 10 | 1001 | 101 |
 *                                  dimension  0     1      2
 *
 * Routing is the short way round in each dimension. E-cube routing takes the most
 * significant dimension in which the node and the destination differ first.
 */
#define NODE_BITS_MAX 56       /* of all coordinates together: above them lie the port and the mark of a source */
#define NODE_DIMENSIONS_MAX 28 /* 2 n + 1 servers of a node fit six bits */
#define NODE_WIDTH_MAX 1048576

struct node_torus {
    uint32_t dimensions;
    uint32_t bits; /* of a node */
    uint32_t widths[NODE_DIMENSIONS_MAX];
    uint64_t masks[NODE_DIMENSIONS_MAX];
    uint8_t shifts[NODE_DIMENSIONS_MAX];
    uint8_t dimension_of_bit[64];
    double nodes; /* exact below 2^53 */

    /* Nodes with the same leading coordinates form a slab; a block is a run of slabs. Both depend on the widths alone. */
    uint32_t leading; /* dimensions that tell a slab */
    uint32_t prefix_shift;
    uint32_t slabs;
    uint32_t blocks;
    uint16_t *block_of; /* by the leading bits; in the model's arena */
};

/* The widths have been checked: at least 2 each, and at most NODE_BITS_MAX bits. */
void node_torus_init(struct node_torus *torus, const struct u32_list *widths, uint32_t blocks, struct arena *arena);
uint32_t node_torus_bits(const struct u32_list *widths);

/* Ports are 2 d for the step up in dimension d, 2 d + 1 for the step down. */
struct node_step {
    uint64_t node;
    uint32_t port;
};

/* The first dimension in which two nodes differ. */
static inline uint32_t node_torus_first(const struct node_torus *torus, uint64_t node, uint64_t destination)
{
    return torus->dimension_of_bit[63 - __builtin_clzll(node ^ destination)];
}

/*
 * The next step from a node to another, in a dimension in which they differ. Where both ways round are equally long the
 * packet's number decides, in each dimension by a bit of its own, so that both directions carry the same.
 */
static inline struct node_step node_torus_step(const struct node_torus *torus, uint64_t node, uint64_t destination,
                                               uint64_t packet, uint32_t d)
{
    uint32_t shift = torus->shifts[d];
    uint64_t width = torus->widths[d], here = node >> shift & torus->masks[d];
    uint64_t there = destination >> shift & torus->masks[d];
    uint64_t up = there >= here ? there - here : there - here + width;
    uint64_t coin = packet * 0x9e3779b97f4a7c15u >> (32 + d) & 1;
    bool is_up = 2 * up + coin <= width;
    uint64_t next = is_up ? (here + 1 == width ? 0 : here + 1) : (here ? here : width) - 1;
    return (struct node_step){node + ((next - here) << shift), 2 * d + !is_up};
}

/* Mean over all pairs of different nodes. */
double node_torus_mean_distance(const struct node_torus *torus);
uint64_t node_torus_pack(const struct node_torus *torus, const uint32_t *coordinates);

static inline uint32_t node_torus_block(const struct node_torus *torus, uint64_t node)
{
    return torus->block_of[node >> torus->prefix_shift];
}
/* Slabs [first, end) of a block. */
void node_torus_slabs(const struct node_torus *torus, uint32_t block, uint32_t *first, uint32_t *end);
/* A node of the slabs [first, end), every one equally likely. */
uint64_t node_torus_draw(const struct node_torus *torus, uint32_t first, uint32_t end, struct random *random);

/* ---- node_servers.c ---- */

/*
 * When the servers of a torus (processing units and links) are free again, for
 * those that are busy: one that is free is not kept, so memory follows traffic.
 *
 * A hash table of buckets of a cache line, three servers in each; all servers of a
 * node begin at the same one. An entry whose time has passed may be overwritten
 * by any other. A bucket without such an entry passes a
 * server on to the next bucket, and remembers until when one that it passed on is
 * busy: a search ends where that time has passed. So nothing is ever removed or
 * swept, and nothing moves, as the engine's log of overwritten state demands.
 *
 * "Passed" means before the last committed event: an event that may still be undone
 * can look into the past no further. A table that is too full is followed by
 * one of twice the size; the old one is only read, until all of it has passed.
 */

#define BUCKET_SERVERS 3
#define TABLES_MAX 40 /* each twice as large as the one before */

struct server_bucket {
    struct server {
        uint64_t key; /* of node and port; 0: none yet */
        tick_t until; /* it is busy; zeroed memory is a server that is free */
    } servers[BUCKET_SERVERS];
    tick_t passed_on_until;
    uint64_t unused; /* fills the cache line */
};

struct server_table {
    struct server_bucket *buckets; /* in the partition's memory */
    uint64_t mask;                 /* buckets - 1; they are a power of two */
    uint32_t shift;                /* a 64-bit hash to a bucket */
    tick_t last;                   /* of an old one: when all in it has passed */
};

struct servers {
    struct server_table tables[TABLES_MAX]; /* the newest first, those that have not passed; at least one */
    uint32_t count;
    tick_t horizon; /* no event from now on is earlier */
    uint64_t steps; /* further buckets that searches went on to since the last look at how full the table is */
};

#define PORT_BITS 6
#define PORT_UNIT 0 /* the processing unit; the link of port p is 1 + p */

/* A table for this many busy servers to begin with, a third to two thirds of its buckets; `servers` is zeroed memory. */
void servers_init(struct servers *servers, struct partition *partition, double expected);

/* The bucket of a node: the high bits of a product with the golden ratio are a hash that is cheap and good enough. */
static inline uint64_t server_home(const struct server_table *table, uint64_t node)
{
    return node * 0x9e3779b97f4a7c15u >> table->shift;
}

static inline uint64_t server_key(uint64_t node, uint32_t port) { return (node << PORT_BITS | port) + 1; }

/* Asks for what servers_take will look at. */
static inline void servers_prefetch(const struct servers *servers, uint64_t node)
{
    __builtin_prefetch(&servers->tables[0].buckets[server_home(&servers->tables[0], node)], 1);
}

/* Until when a server is busy, or some time before now. */
tick_t servers_until(const struct servers *servers, uint64_t node, uint32_t port);

/* servers_take where it is not as simple as below. */
tick_t servers_take_slowly(struct servers *servers, struct partition *partition, uint64_t node, uint32_t port,
                           tick_t ready, tick_t duration);

/*
 * First come, first served: takes a server for `duration` from `ready` on, or from when it is free. Returns the start.
 * Nearly always the server has an entry in the first bucket, or that has one to overwrite. Which of them is chosen
 * without branches, as no processor could guess it: 1.25 times as fast in all.
 */
static inline tick_t servers_take(struct servers *servers, struct partition *partition, uint64_t node, uint32_t port,
                                  tick_t ready, tick_t duration)
{
    const struct server_table *table = &servers->tables[0];
    struct server_bucket *bucket = &table->buckets[server_home(table, node)];
    uint64_t key = server_key(node, port);
    tick_t horizon = servers->horizon;
    uint32_t known = 0, passed = 0;
    for (uint32_t i = 0; i < BUCKET_SERVERS; i++) {
        known |= (uint32_t)(bucket->servers[i].key == key) << i;
        passed |= (uint32_t)(bucket->servers[i].until <= horizon) << i;
    }
    bool is_simple = known || (passed && bucket->passed_on_until <= horizon && servers->count == 1);
    if (__builtin_expect(!is_simple, 0))
        return servers_take_slowly(servers, partition, node, port, ready, duration);
    struct server *server = &bucket->servers[__builtin_ctz(known ? known : passed)];
    tick_t until = known ? server->until : 0, start = until > ready ? until : ready;
    process_save(partition, server, sizeof *server);
    *server = (struct server){key, start + duration};
    return start;
}

/* ---- the model ---- */

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

/* node_results.c */
extern const struct result node_reports[];
void node_application(const struct model *model, const struct model_totals *totals, struct report *report);
void node_results(const struct model *model, const struct model_totals *totals, struct report *report);
void node_summary(const struct model *model, const struct model_totals *totals, FILE *out);

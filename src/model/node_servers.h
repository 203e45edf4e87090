/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
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
#include "flitwarp/process.h"

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

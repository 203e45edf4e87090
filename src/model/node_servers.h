/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * When the servers of a torus (processing units and links) are free again, for
 * those that are busy: one that is free is not kept, so memory follows traffic.
 *
 * A hash table of buckets of a cache line, three servers in each; a node's
 * processing unit and half of its links share a bucket. An entry whose time has
 * passed may be overwritten by any other. A bucket without such an entry passes a
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
        uint64_t key; /* node and port */
        tick_t until; /* it is busy; zeroed memory is a server that is free */
    } servers[BUCKET_SERVERS];
    tick_t passed_on_until;
    uint64_t unused; /* fills the cache line */
};

struct server_table {
    struct server_bucket *buckets; /* in the partition's memory */
    uint64_t mask;                 /* buckets - 1 */
    tick_t last;                   /* the largest `until` ever written */
};

struct servers {
    struct server_table tables[TABLES_MAX]; /* the newest first, those that have not passed; at least one */
    uint32_t count;
    tick_t horizon; /* no event from now on is earlier */
    uint64_t steps; /* further buckets that searches went on to since the last look at how full the table is */
};

#define PORT_UNIT 0 /* the processing unit; the link of port p is 1 + p */

/* A table for about this many busy servers to begin with; the structure itself lies in zeroed memory. */
void servers_init(struct servers *servers, struct partition *partition, double expected);

/* The bucket of a node, to be asked for before it is needed. */
static inline uint64_t servers_home(const struct servers *servers, uint64_t node)
{
    return random_mix(node) & servers->tables[0].mask;
}

/* First come, first served: takes a server for `duration` from `ready` on, or from when it is free. Returns the start. */
tick_t servers_take(struct servers *servers, struct partition *partition, uint64_t node, uint32_t port, tick_t ready,
                    tick_t duration);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A network in parts, each run by a thread of its own, on one rank or several. Time
 * goes on in windows no longer than the shortest way between two parts, so that what
 * a part sends in one window arrives in the next or later:
 *
 *   window k:   every part takes in what was sent to it in window k - 1, then handles its events
 *   meeting:    everybody says when its next event is, sent ones included; the earliest begins window k + 1
 *
 * A head flit takes a copy of its packet along; the copy left behind serves the flits
 * behind it and goes when the tail does. So parts share nothing that changes.
 *
 * Over ranks each builds the routers and terminals of its own parts and runs these:
 *
 *   rank 0               rank 1
 *   part 0    part 1     part 2    part 3
 *
 * Its arrays are as long as if it built all, and indexed by the same numbers; what it does not build is memory that it
 * never touches, which the system does not give it. Of others' routers it knows what the topology answers.
 */
#include "engine/ranks.h"
#include "network/network.h"

/*
 * Which part a router belongs to: equal work, long channels between parts rather than short ones, and few of them. By
 * blocks of numbers, or by METIS.
 */
enum partition_method { PARTITION_BLOCKS, PARTITION_METIS };
extern const char *const partition_names[];

/* In how many parts it is to run, and how routers are given to them. */
struct network_split {
    uint32_t parts;      /* of each rank */
    struct ranks *ranks; /* borrowed; NULL: there is one */
    enum partition_method method;
    tick_t window;        /* at most; 0: as channels allow, or as far ahead as pays where the arena can be put back */
    bool checks_reversal; /* there is one part, whose arena can be put back */
    bool is_for_device;   /* see struct network */
};

/* Before anything is built for routers: gives them to at most so many parts on each rank. False with errors. */
bool network_share_out(struct network *network, const struct network_split *split, struct errors *errors);
/* Before routers are built: can the routing do with that? False with an error. */
bool network_routes_in_parts(const struct network *network, struct errors *errors);
/* Makes the parts of a built network, with an engine each; before network_connect. */
void network_make_parts(struct network *network, const struct network_split *split);
/* Handles all events up to and including a tick, in all parts; all ranks together. */
void network_run(struct network *network, tick_t last);
/* When the next event is, in all parts of all ranks; after network_run. */
tick_t network_next(const struct network *network);
/* Time goes on to a tick that is not after it. */
void network_advance(struct network *network, tick_t tick);
/* Sends the threads home until the next network_run: then nothing of the network lies outside its memory. */
void network_rest(struct network *network);
void network_release_parts(struct network *network);

/* Over all parts of this rank. */
struct network_totals {
    tick_t now;
    uint64_t events, flit_hops;
    uint64_t in_flight; /* packets in the network; modulo 2^64, since they enter and arrive on different ranks */
};
struct network_totals network_count(const struct network *network);
/* Whether anything but timers is pending; slow. */
bool network_is_about_to_move(const struct network *network);

/* NULL: there is one. */
struct ranks *network_ranks(const struct network *network);
/* The rank of a part, where there are several. */
uint32_t network_rank_of(const struct network *network, uint32_t part);

/* How the parts got on with each other. */
struct network_sync {
    uint32_t threads, ranks; /* threads of this rank */
    uint32_t parts;          /* of all ranks */
    tick_t window;           /* longest that is safe, in ticks; FW_NEVER: the parts never meet */
    uint64_t windows;        /* run */
    uint64_t sent;           /* flits and credits to another part, by those of this rank */
    uint64_t rollbacks;      /* windows that were too long */
    uint64_t rolled_back;    /* events, by parts of this rank */
    double waited;           /* seconds, by all parts of this rank, for each other */
};
struct network_sync network_sync_facts(const struct network *network);

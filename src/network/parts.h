/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A network in parts, each run by its own thread. Time goes on in windows no longer
 * than the shortest way between two parts, so that what a part sends in one window
 * arrives in the next or later:
 *
 *   window k:   every part takes in what was sent to it in window k - 1, then handles its events
 *   meeting:    everybody says when its next event is, sent ones included; the earliest begins window k + 1
 *
 * A head flit takes a copy of its packet along; the copy left behind serves the flits
 * behind it and goes when the tail does. So parts share nothing that changes.
 */
#include "network/partition.h"

/* Before routers are built: gives them to at most so many parts. False with errors. */
bool network_share_out(struct network *network, uint32_t parts, enum partition_method method, struct errors *errors);
/* Makes the parts of a built network, with an engine each and windows of at most so many ticks, 0: as long as channels
   allow; before network_connect. */
void network_make_parts(struct network *network, tick_t window);
/* Handles all events up to and including a tick, in all parts. */
void network_run(struct network *network, tick_t last);
/* Time goes on to a tick that is not after the next event; network_next. */
void network_advance(struct network *network, tick_t tick);
tick_t network_next(const struct network *network);
void network_release_parts(struct network *network);

/* Sums over all parts. */
uint64_t network_in_flight(const struct network *network);
uint64_t network_flit_hops(const struct network *network);
uint64_t network_events(const struct network *network);
tick_t network_now(const struct network *network);

/* How the parts got on with each other. */
struct network_sync {
    uint32_t parts;
    tick_t window;    /* longest, in ticks; NEVER: the parts never meet */
    uint64_t windows; /* run */
    uint64_t sent;    /* flits and credits to another part */
    double waited;    /* seconds, by all parts together, for each other */
};
struct network_sync network_sync_facts(const struct network *network);

/* The part that runs a router. */
static inline struct network *network_at(const struct network *network, uint32_t router)
{
    return network->parts[network->router_part ? network->router_part[router] : 0];
}

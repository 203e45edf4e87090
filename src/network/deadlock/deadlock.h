/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Packets that can never move again: all of them, or some while the others go on.
 */
#include "network/network.h"

/* ---- who waits for whom ---- */

/*
 * Who waits for whom, at one moment between two ticks. A node is an input lane
 * with a packet at its front:
 *
 *   it wants output lanes that others hold     waits for any one of those input lanes
 *   it wants or holds one without room         waits for the input lane at the channel's far end,
 *                                              or any of the port's where these share a buffer
 *   it wants one that others wanted before it  waits for all of those, where nobody may overtake
 *
 * A packet with several lanes to choose from goes on when one of them is free, so
 * lanes are stuck only when none of all that they lead to, by any number of waits,
 * can move: a knot. A cycle alone says nothing where there is a choice.
 */
struct waiter {
    tick_t created; /* of the packet at its front, whose are the next four too */
    uint32_t source, sequence;
    uint32_t destination, size;
    uint32_t router, lane; /* where it waits */
    uint32_t taken, turn;  /* as in struct waiting */
    uint32_t first_wanted, wanted_count;
    bool for_credit;
    bool is_stuck;
    uint16_t unused[3];
};

struct wait_graph {
    const struct network *network; /* borrowed */
    struct waiter *waiters;        /* owned, in the order of routers and lanes */
    uint32_t count, room;
    struct wanted *wanted; /* owned: those of one waiter after another */
    uint32_t wanted_count, wanted_room;
    bool is_of_one_rank; /* nothing is known of waiters on others */
};

/* All that wait now, on all ranks, which call it together; every rank gets the same. */
void wait_graph_init(struct wait_graph *graph, const struct network *network);
/*
 * The same without those of whom their own rank knows that they can move, which is nearly all where there is no deadlock.
 * Where none of these is stuck none of all is: a lane that nobody waits in is as good as one whose packet can move.
 */
void wait_graph_init_doubtful(struct wait_graph *graph, const struct network *network);
void wait_graph_release(struct wait_graph *graph);

/* Finds those that are stuck and returns how many. Where all are known to stand still, nobody is taken to be about to move. */
uint32_t wait_graph_reduce(struct wait_graph *graph, bool stands_still);
/*
 * A cycle among those that are stuck: each waits for the next, the last for the first. Numbers of waiters, into memory
 * that the caller frees; NULL, with *length 0, when nobody is stuck.
 */
uint32_t *wait_graph_cycle(const struct wait_graph *graph, uint32_t *length);
/* A waiter that holds, or is before, what a waiter wants; FW_NONE: nobody who waits. */
uint32_t wait_graph_next(const struct wait_graph *graph, const struct waiter *waiter, uint32_t wanted);

/* ---- deadlock ---- */

struct deadlock {
    tick_t tick;
    uint64_t packets;        /* in the network */
    bool stands_still;       /* none of them moves */
    struct wait_graph graph; /* owned */
    uint32_t stuck;          /* lanes of it */
    uint32_t *cycle;         /* owned: waiters, each waits for the next; NULL: none was found */
    uint32_t length;
};

/* A packet in the cycle: the lanes of it that come one after the other. */
struct cycle_packet {
    uint32_t first, count;      /* in the cycle */
    const struct waiter *front; /* its last lane there: the one that wants something of the next packet */
};

/*
 * Looks for packets that are stuck; all ranks together. False, and nothing to release, when there are none. Where all
 * stand still there is a deadlock, whether routers can say who waits for whom or not.
 */
bool deadlock_find(struct deadlock *deadlock, const struct network *network, tick_t now, uint64_t packets,
                   bool stands_still);
void deadlock_release(struct deadlock *deadlock);

/* The packets of the cycle, into memory that the caller frees; each waits for the next, the last for the first. */
struct cycle_packet *deadlock_packets(const struct deadlock *deadlock, uint32_t *count);

/* The channel of one of a router's lanes, by the names of its ends. */
struct channel_name {
    char from[64], to[64];
    uint32_t vc;
};
struct channel_name channel_name(const struct network *network, uint32_t router, uint32_t lane, bool incoming);

/* Prints the cycle of packets, with the channels that each holds and wants. */
void deadlock_report(const struct deadlock *deadlock, FILE *out);

/* ---- recovery ---- */

/*
 * Recovery from deadlock: one packet of a cycle is taken out of the routers'
 * buffers and goes to its destination by a side path that nobody else uses, as in
 * Disha (Anjan and Pinkston 1995); what it held is free, and the others go on. The
 * side path is as long as a shortest way from the head's router and takes one flit a
 * cycle; packets of several cycles do not hinder each other on it.
 *
 * A packet is taken out when none of its flits is under way between two buffers.
 * All that happens at a grid point, so it is the same for any number of parts.
 */
/* Adds an error and returns false where the router or the interface cannot give a packet up. */
bool recovery_is_possible(const struct network *network, struct errors *errors);

/* Takes out the oldest packet of the cycle that is at rest; all ranks together. False: there is none. */
bool recovery_from(struct network *network, const struct deadlock *deadlock, tick_t now);

/* The side path comes to terminals by a lane behind those of all ejection channels. */
static inline uint32_t recovery_lane(const struct network *network)
{
    return network->plane_count * network->terminal_ports * network->num_vcs;
}

/* Flits at a terminal, where recovery is on; its context is the part of the network. */
event_handler recovery_receive;

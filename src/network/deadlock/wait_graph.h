/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Who waits for whom, at one moment between two ticks. A node is an input lane
 * with a packet at its front:
 *
 *   it wants output lanes that others hold     waits for any one of those input lanes
 *   it wants or holds one without room         waits for the input lane at the channel's far end
 *
 * A packet with several lanes to choose from goes on when one of them is free, so
 * lanes are stuck only when none of all that they lead to, by any number of waits,
 * can move: a knot. A cycle alone says nothing where there is a choice.
 */
#include "network/network.h"

struct waiter {
    tick_t created; /* of the packet at its front, whose are the next four too */
    uint32_t source, sequence;
    uint32_t destination, size;
    uint32_t router, lane; /* where it waits */
    uint32_t flits, room;  /* as in struct waiting */
    uint32_t first_wanted, wanted_count;
    bool for_credit;
    bool is_stuck;
    uint16_t unused[3];
};

struct wanted {
    uint16_t lane; /* output lane of the same router */
    uint16_t holder;
    uint32_t space;
};

struct wait_graph {
    const struct network *network; /* borrowed */
    struct waiter *waiters;        /* owned, in the order of routers and lanes */
    uint32_t count, room;
    struct wanted *wanted; /* owned: those of one waiter after another */
    uint32_t wanted_count, wanted_room;
};

/* All that wait now, on all ranks, which call it together; every rank gets the same. */
void wait_graph_init(struct wait_graph *graph, const struct network *network);
void wait_graph_release(struct wait_graph *graph);

/* Finds those that are stuck and returns how many. Where all are known to stand still, nobody is taken to be about to move. */
uint32_t wait_graph_reduce(struct wait_graph *graph, bool stands_still);
/*
 * A cycle among those that are stuck: each waits for the next, the last for the first. Numbers of waiters, into memory
 * that the caller frees; NULL, with *length 0, when nobody is stuck.
 */
uint32_t *wait_graph_cycle(const struct wait_graph *graph, uint32_t *length);
/* The waiter that holds, or is before, what a waiter wants; FW_NONE: nobody who waits. */
uint32_t wait_graph_next(const struct wait_graph *graph, const struct waiter *waiter, uint32_t wanted);

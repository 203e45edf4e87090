/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Things to do at a rank: first come first served, or by time. Both grow, and are put back by optimistic runs. */
#include "flitwarp/packet.h"
#include "base/rewind.h"

struct work {
    uint32_t kind; /* the owner's own, as what follows */
    uint32_t task, step;
};

/* A ring of a power of two of places. */
struct work_queue {
    struct work *items; /* owned */
    uint32_t first, count, room;
};

void work_queue_add(struct work_queue *queue, struct work work, struct rewind *rewind);
struct work work_queue_take(struct work_queue *queue); /* there is one */

struct timer {
    tick_t when;
    uint64_t number; /* the order of those of one tick */
    struct work work;
    uint32_t unused; /* no bytes without a value: optimistic runs compare them */
};

/* A heap: the earliest in front. */
struct timers {
    struct timer *items; /* owned */
    uint32_t count, room;
    uint64_t number; /* of the next */
};

void timers_add(struct timers *timers, tick_t when, struct work work, struct rewind *rewind);
/* The earliest, if it is due. */
bool timers_take(struct timers *timers, tick_t now, struct work *work);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Things to do at a rank, first come first served or by time; and receives that wait for messages, or messages that
 * wait for receives, in the order in which they came: of several that match the first is taken. A search goes by
 * source, tag and communicator at once; only those with FW_ANY are looked through. All grow, and are put back by
 * optimistic runs.
 */
#include "base/rewind.h"
#include "base/table.h"
#include "flitwarp/packet.h"

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

struct envelope {
    uint32_t source, tag; /* either may be FW_ANY: in the queue, or in what is asked for, never in both */
    uint32_t communicator;
};

/* Without padding: optimistic runs compare all bytes. */
struct envelope_entry {
    uint64_t number; /* in the order in which they came */
    struct envelope envelope;
    uint32_t task, detail;  /* the owner's own */
    uint32_t before, after; /* of all in use; FW_NONE: it is the first, the last */
    uint32_t next;          /* in its list, index + 1; 0: it is the last */
};
_Static_assert(sizeof(struct envelope_entry) == 40, "every byte has a value");

/* A list by `next`, index + 1; 0: it is empty. */
struct envelope_list {
    uint32_t first, last;
};

struct envelope_queue {
    struct envelope_entry *entries; /* owned */
    uint32_t entry_count, room;     /* in use or free */
    uint32_t first_free;            /* of a list by `next`, index + 1 */
    uint32_t first, last;           /* of all in use, by `before` and `after` */
    uint32_t count;
    uint64_t number;           /* of the next */
    struct envelope_list wild; /* those with FW_ANY */
    struct table exact;        /* by envelope without FW_ANY: lists */
    struct rewind *rewind;     /* borrowed */
};

void envelope_queue_init(struct envelope_queue *queue, struct rewind *rewind);
void envelope_queue_release(struct envelope_queue *queue);
void envelope_queue_add(struct envelope_queue *queue, const struct envelope *envelope, uint32_t task, uint32_t detail);
/* The first that matches; false: there is none. `keeps`: it stays there. */
bool envelope_queue_find(struct envelope_queue *queue, const struct envelope *wanted, bool keeps,
                         struct envelope_entry *found);

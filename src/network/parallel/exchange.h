/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the parts of a network have for each other, see parts.h: within a rank they
 * reach into each other's boxes; for those of other ranks, thread 0 carries the boxes
 * over when all threads have met.
 */
#include "network/network.h"

#include "engine/ranks.h"

/* Parcels from another rank to a part of this one, in its mail. */
struct inbox {
    const uint64_t *words; /* borrowed */
    size_t used;
};

/* What a part has for the others. Apart from those of its neighbours in memory: each is written all the time. */
struct exchange {
    struct schedule *schedule; /* of all parts */
    struct words *boxes[2];    /* parcels, by parity of the window, by receiver: one is filled, the other emptied */
    tick_t soonest;            /* arrival of what was sent in this window */
    uint32_t parity;           /* of this window */
    uint64_t sent;
    uint64_t waited;             /* nanoseconds, for the others */
    uint32_t *arriving;          /* by router lane: the packet whose flits come in; of all parts, shared */
    uint32_t *terminal_arriving; /* by terminal lane, the side path's included, the same */
    /* Optimistic: */
    tick_t length;                       /* of the next window that runs ahead; the same in all parts */
    uint32_t failures;                   /* of the windows before it, in a row */
    uint64_t rolled_back;                /* events */
    alignas(64) tick_t next[2], horizon; /* for the others to see: when it has something to do, by parity; soonest */
};

struct schedule {
    struct crew *crew;
    struct network **parts; /* of this rank */
    uint32_t count;
    tick_t window; /* longest that is safe */
    tick_t last;
    tick_t next; /* of all events, when the last call has run */
    uint64_t windows;
    struct arena own; /* what is here and in the exchanges: no part of the state */
    /* Optimistic: */
    struct rewind *rewind; /* borrowed; NULL: it is not */
    bool is_fixed;         /* windows are as long as set */
    bool runs_ahead;       /* in this grid interval */
    double cost[2];        /* nanoseconds an event, safely and running ahead; 0: not known */
    uint64_t until_trial;  /* intervals until the slower kind is tried again */
    bool checks_reversal;
    tick_t horizon; /* of all ranks */
    uint64_t rollbacks;
    struct ranks *ranks; /* borrowed; NULL: this is the only one. Then nothing below is used */
    uint32_t all_parts;
    struct mail mail;     /* owned */
    struct words lengths; /* owned: of what is for each part of a rank, while its mail is made up */
    struct inbox *inbox;  /* by rank * count + part */
    tick_t elsewhere;     /* when other ranks have something to do */
};

/* Parts of a rank: those from the first to that of the next rank. */
static inline uint32_t first_part(uint32_t rank, uint32_t all_parts, uint32_t ranks)
{
    return (uint32_t)((uint64_t)rank * all_parts / ranks);
}

/* A part's box for another. That for one of another rank is empty when the next window begins, so one does for both. */
static inline struct words *exchange_box(const struct network *part, uint32_t parity, uint32_t receiver)
{
    bool is_here = receiver - part->core->first_part < part->core->part_count;
    return &part->core->exchange->boxes[is_here ? parity : 0][receiver];
}

/* Takes in what the other parts have sent in the window before. */
void network_import(struct network *network, uint32_t parity);

/* Brings what parts of one rank have sent to those of another in a window; with all parts at rest. */
void exchange_with_ranks(struct schedule *schedule, uint32_t parity);

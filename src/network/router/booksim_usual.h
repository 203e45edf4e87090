/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the usual variant of BookSim's router: see booksim_usual.c. A router is one block, all of the same size:
 *
 *   | struct usual_router | inputs | outputs | turns | allocators | rings |
 *
 * Lanes have our numbers; those of BookSim, in which its allocators count, are in a table. A lane's first flit lies in
 * the lane itself, those behind it in its ring.
 */
#include "network/allocator/separable.h"
#include "network/router/booksim.h"

/* What does not change about a lane. */
struct usual_facts {
    uint8_t port, vc;
    uint8_t next_vc; /* in turn */
    uint8_t row;     /* BookSim's number of its port as an input, */
    uint8_t column;  /* and as an output */
};

/* BookSim's numbers of lanes and ports, and ours by its; routers with the same ones share them. */
struct usual_numbers {
    struct usual_facts facts[WORD_BITS];          /* by lane */
    uint8_t row[WORD_BITS], lane[WORD_BITS];      /* for the VC allocator: of an input lane; the lane by row */
    uint8_t column[WORD_BITS], output[WORD_BITS]; /* of an output lane; the lane by column */
    uint32_t rows, columns;
    bool are_ours;                   /* the allocators count as we do: see keep_our_numbers() */
    uint8_t first_row, first_column; /* then: the lanes whose turn it is first */
    struct booksim_ports ports;
};
#define NO_TURN UINT32_MAX

struct usual_router {
    uint64_t fresh;   /* input lanes whose front packet is yet to be routed */
    uint64_t asks;    /* whose packet wants a VC */
    uint64_t waiting; /* with a VC and a flit */
    uint64_t blocked; /* with a VC that has no room */
    uint64_t free;    /* output lanes that a packet may be given */
    uint64_t usable;  /* that lead somewhere */
    const struct usual_numbers *numbers;
    uint32_t number;
    bool is_active; /* a flit has come since the last step, or is crossing */
};

struct usual_input {
    uint64_t wants;    /* output lanes that the packet may take */
    struct flit front; /* while count > 0 */
    uint16_t first;    /* of the ring, free-running */
    uint16_t count;    /* flits, the front one included */
    uint16_t output;   /* lane that the packet has, LANE_IDLE or LANE_WAITS */
    uint16_t column;   /* of that, at the switch */
    struct lane_place back;
};

struct usual_output {
    uint16_t credits; /* flits that there is room for behind it */
    uint16_t owner;   /* input lane whose packet has it, or NOBODY */
    uint32_t flits;   /* that have left, modulo 2^32 */
    struct lane_place to;
};

/* What is behind a port, from a flit's leave of its buffer on, in ticks. */
struct usual_times {
    uint32_t flit, credit;
};

struct booksim_usual {
    unsigned char *blocks;
    size_t stride;
    uint32_t outputs_at, turns_at, vc_state_at, switch_state_at, rings_at, ring_bytes;
    struct turn_rounds vc_turns, switch_turns; /* of the allocators, where they take some */
    uint64_t port_lanes[WORD_BITS];            /* by lane: those of its port */
    uint64_t *tail_sent;                       /* by router: output lanes that are free when they are empty */
    uint64_t
        *ahead; /* by router, lane and place: where the head there may go; NULL unless that was asked before it came */
    struct usual_times *times; /* by router and port */
    struct random *random;     /* by router */
    uint32_t local;            /* lanes below are terminals' */
    bool is_alike;             /* channels to routers, and those to terminals; no part of the network is elsewhere */
    /* The routers that step, by the tick's parity, and the tick that an event for them is posted for: one for all. */
    uint64_t *due[2];
    uint32_t due_words;
    tick_t *due_at;
    bool fetches_ahead; /* the routers do not fit the cache; then scratch: those that step now */
    uint32_t *order;
};
#define USUAL_CACHE_BYTES (1u << 20)

static inline struct usual_router *router_at(const struct booksim_usual *u, uint32_t number)
{
    return (struct usual_router *)(void *)(u->blocks + number * u->stride);
}
#define PART(type, r, offset) ((type *)(void *)((unsigned char *)(r) + (offset)))

static inline struct usual_input *inputs_of(struct usual_router *r) { return PART(struct usual_input, r, sizeof *r); }

static inline struct usual_output *outputs_of(const struct booksim_usual *u, struct usual_router *r)
{
    return PART(struct usual_output, r, u->outputs_at);
}

static inline struct flit *ring_of(const struct booksim_usual *u, struct usual_router *r, size_t lane)
{
    return PART(struct flit, r, u->rings_at + lane * u->ring_bytes);
}

/* Where the head of an input lane may go that has a place in its ring, counted on. */
static inline uint64_t *ahead_at(const struct booksim *q, const struct usual_router *r, size_t lane, uint32_t place)
{
    return &q->usual->ahead[((size_t)r->number * q->lanes + lane) * (q->ring_mask + 1) + (place & q->ring_mask)];
}

/* Somebody steps at a tick: an event is posted for it. */
void booksim_usual_post_due(const struct booksim *q, tick_t when);

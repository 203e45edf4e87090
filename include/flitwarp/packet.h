/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. What travels. A message is what an application hands over; the interface cuts
 * it into packets, which are what routing sees; a packet moves as flits, which
 * are no more than the packet's handle and a position.
 */
#include "flitwarp/both.h"

#define FW_NONE UINT32_MAX /* no packet, no terminal, no router */

typedef uint64_t tick_t;
#define FW_NEVER UINT64_MAX /* no tick */

/* One cache line: a hop touches it once, when the head is routed. */
struct packet {
    tick_t created;              /* when the application made the message */
    tick_t injected;             /* when the head flit entered the network */
    uint32_t source;             /* terminal */
    uint32_t destination;        /* terminal */
    uint32_t destination_router; /* the router that terminal hangs on */
    uint32_t size;               /* flits */
    uint32_t sequence;           /* of this source's packets; (source, sequence) names a packet for ever */
    uint32_t received;           /* flits that have reached the destination */
    uint32_t message;            /* handle; FW_NONE when this packet is the whole message */
    uint32_t next;               /* in the queue of its source */
    uint32_t head_delay;         /* from entering the network to the head's arrival; before it a router's own */
    uint16_t hops;               /* channels between routers that the head has crossed */
    uint8_t application;
#if FW_HOST
    bool sampled : 1;     /* counts in the results */
    uint8_t protocol : 7; /* its protocol class, which has VCs of its own */
#else
    uint8_t marks; /* both, from the lowest bit on */
#endif
    uint32_t waypoint; /* free for the routing algorithm: a router on the way, say */
    uint32_t route;    /* free for the routing algorithm: phase, order, ... */
};

#if FW_HOST
_Static_assert(sizeof(struct packet) == 64, "a packet is one cache line");
static inline uint32_t packet_protocol(const struct packet *packet) { return packet->protocol; }
#else
static inline uint32_t packet_protocol(const __global struct packet *packet) { return packet->marks >> 1; }
static inline bool packet_is_sampled(const __global struct packet *packet) { return packet->marks & 1; }
#endif

#define FLIT_HEAD 0x80000000u
#define FLIT_TAIL 0x40000000u
#define FLIT_POSITION 0x3fffffffu

struct flit {
    uint32_t packet; /* handle in network->packets */
    uint32_t place;  /* FLIT_HEAD, FLIT_TAIL and the position in the packet */
};

/*
 * What moves at once, and when a router hears of it. Where it is more than a flit, an event that has `struct flit`
 * stands for a chunk whose first flit that is, and credits are struct credits_event.
 */
struct transfer {
    uint32_t chunk; /* flits at most; 0: flits move one by one */
    bool stores;    /* a router is told when the last flit is there, else as soon as the first may go on */
    uint64_t delay; /* ticks after that, which it spends in the router before it can leave */
};

/* Flits of the chunk that begins at a position. */
static inline uint32_t transfer_flits(const struct transfer *transfer, FW_GLOBAL const struct packet *packet,
                                      uint32_t position)
{
    uint32_t left = packet->size - position;
    return left < transfer->chunk ? left : transfer->chunk;
}

/* The name of a chunk of so many flits. */
static inline struct flit transfer_unit(FW_GLOBAL const struct packet *packet, uint32_t handle, uint32_t position,
                                        uint32_t flits)
{
    uint32_t ends = (position == 0 ? FLIT_HEAD : 0) | (position + flits == packet->size ? FLIT_TAIL : 0);
    return (struct flit){.packet = handle, .place = position | ends};
}

/* Packets that wait in a row, each with the one behind it in its `next`, the last with FW_NONE. */
struct packet_queue {
    uint32_t first; /* FW_NONE: there is none */
    uint32_t last;  /* valid while there is a first */
};

/* Where a flit or a credit arrives. */
struct lane_place {
    uint32_t target; /* router or terminal */
    uint32_t lane;
};

#if FW_HOST

/*
 * A message that is more than its one packet: it has several, or its application
 * hears of its arrival. (source, number) names a message and (initiator,
 * transaction) a transaction: requests that were made together and their replies,
 * or the message alone.
 */
struct message {
    uint32_t packets;      /* that it was cut into */
    uint32_t packets_here; /* that this part of the network has of them, this record's users */
    uint32_t flits;
    uint32_t source, destination;  /* ranks of the application */
    uint32_t number;               /* of its first packet */
    uint32_t initiator;            /* terminal that began the transaction */
    uint32_t transaction;          /* number of the message that began it */
    uint32_t transaction_messages; /* that belong to it */
    uint32_t group;                /* handle of the count of a transaction of several requests; FW_NONE: it has one */
    uint32_t tag, order, detail;   /* the application's own; a reply has its request's */
    uint8_t application;
    bool is_reply;
    bool sampled;
    tick_t started; /* when the transaction's first message was made */
};
#endif

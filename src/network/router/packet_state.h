/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Layout of the packet routers.
 *
 * The buffer of an input lane is a count of flits; what is in it is a list of
 * packets. Chunks of one packet are never apart in a lane, so all packets but the
 * last have come whole, and of none but the first has anything left: two counts
 * tell the rest. The list runs through the packets themselves. A packet that is
 * spread over several routers is the first one of all of them but the farthest;
 * therefore a lane keeps what comes behind its first packet itself, and the link
 * in a packet is the farthest router's alone.
 *   Where packets queue by output, which are whole then, a lane's list has none but those of this tick: who must wait goes
 * into the line of an output lane. The input lane whose buffer it fills stands in its head_delay, which means nothing yet.
 *
 * All routers have blocks of the same size in one array:
 *
 *   | head, sets | inputs | ports, each with its output lanes | lanes that wait | owners | lines |
 */
#include "flitwarp/link.h"

/* An input lane, in a cache line of its own. */
struct packet_lane {
    uint32_t first;       /* packet at the front; FW_NONE: empty */
    uint32_t second;      /* behind it; FW_NONE: nothing */
    uint32_t last;        /* valid while there is a first */
    uint32_t sent;        /* flits of the first that have gone on */
    uint32_t arrived;     /* flits of the last that have come */
    uint32_t flits;       /* in the buffer */
    uint16_t output;      /* lane held, LANE_IDLE (not routed), LANE_ROUTED or LANE_WAITS */
    uint16_t last_output; /* that was taken last */
    uint32_t back_kind;
    tick_t back_delay;      /* from a chunk's leaving until its credits arrive */
    struct lane_place back; /* where they go */
    uint64_t wants;         /* output lanes that the first may take, where one word holds them */
};
#define PACKET_LANE_STRIDE 64
#if FW_HOST
_Static_assert(sizeof(struct packet_lane) <= PACKET_LANE_STRIDE, "an input lane fits a cache line");
#endif

/* The channel that leaves by a port. Its output lanes lie behind it: with up to five VCs that is one cache line. */
struct packet_port {
    tick_t free_at;      /* when it can take the next chunk */
    uint32_t target;     /* router or terminal at the far end */
    uint16_t first_lane; /* of the port there */
    uint16_t kind;       /* of the events that it sends */
    uint32_t latency;    /* from a chunk's start until the far end is told of its first flit, */
    uint16_t lag;        /* and for each flit behind that: see network_lag() */
    uint16_t cycle;
};

struct packet_output {
    uint32_t credits;
    uint32_t flits; /* that have left, modulo 2^32 */
};

/* The sets of lanes that a router keeps, each `words` long. Head and sets of one word are one cache line. */
enum packet_set {
    SET_FRESH,   /* input lanes with something that was not tried yet */
    SET_OPENED,  /* output lanes that have more room, or are free, since the waiting were tried */
    SET_CLAIMED, /* output lanes that somebody waits for: who comes later must not overtake */
    SET_OWNED,   /* output lanes that a packet holds until its last chunk */
    SET_USABLE,  /* output lanes that lead somewhere; never changes */
    PACKET_SETS,
};

struct packet_head {
    tick_t step_at;   /* when it steps next; FW_NEVER: asleep */
    uint32_t waiting; /* how many lanes wait for an output lane; by output: packets */
    uint32_t number;
    /* Behind it PACKET_SETS of `words`. */
};

/* What leaves at once: by which lane, and how many flits it has. */
struct chunk {
    struct flit unit;
    uint32_t output, flits;
};

/* Where an output lane and its port lie in a block, and its VC; the same in every router. */
struct packet_place {
    uint32_t output_at, port_at, vc;
};

/*
 * What all routers of a part of the network work with, by the program and by a device, which has a struct of its own with
 * the same names.
 */
#define PACKETS_FACTS                                                                                                  \
    FW_GLOBAL unsigned char *blocks;                                                                                   \
    size_t stride; /* of a block */                                                                                    \
    uint32_t inputs_at, ports_at, port_stride, waits_at, owners_at, lines_at;                                          \
    uint32_t depth;           /* flits of a lane's buffer */                                                           \
    bool divides;             /* packets may move in chunks */                                                         \
    bool by_output;           /* packets wait for their own output lane alone */                                       \
    bool whole_for_room;      /* routing has escape VCs: a lane is taken only with room for the whole packet */        \
    FW_GLOBAL uint64_t *wants /* by router * lanes + lane, `words` each, where one word does not hold them */

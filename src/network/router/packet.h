/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the packet routers: flat arrays over all routers of a network.
 *
 * The buffer of an input lane is a count of flits; what is in it is a list of
 * packets. Chunks of one packet are never apart in a lane, so all packets but the
 * last have come whole, and of none but the first has anything left: two counts
 * tell the rest. The list runs through the packets themselves. A packet that is
 * spread over several routers is the first one of all of them but the farthest;
 * therefore a lane keeps what comes behind its first packet itself, and the link
 * in a packet is the farthest router's alone.
 */
#include "network/router/lane.h"

struct packet_config {
    uint32_t num_vcs, buffer_depth, buffer, chunk;
    uint32_t switching;
    uint64_t cycle, delay;
    uint32_t routing_latency, vc_allocation_latency, switch_allocation_latency, crossbar_latency; /* cycles */
    uint32_t credit_latency;
    struct choice congestion;
};

/* An input lane, in a cache line of its own. */
struct packet_lane {
    uint32_t first;       /* packet at the front; NONE: empty */
    uint32_t second;      /* behind it; NONE: nothing */
    uint32_t last;        /* valid while there is a first */
    uint32_t sent;        /* flits of the first that have gone on */
    uint32_t arrived;     /* flits of the last that have come */
    uint32_t flits;       /* in the buffer */
    uint16_t output;      /* lane held, LANE_IDLE or LANE_WAITS */
    uint16_t last_output; /* that was taken last */
    uint32_t back_kind;
    tick_t back_delay; /* from a chunk's leaving until its credits arrive */
    struct place back; /* where they go */
    uint64_t wants;    /* output lanes that the first may take, where one word holds them */
};

struct packet_output {
    uint32_t credits;
    uint16_t owner; /* the input lane whose packet is passing in chunks, or NOBODY */
    uint16_t port;
};

struct packet_port {
    tick_t free_at; /* when its channel can take the next chunk */
    tick_t latency; /* from a chunk's start until the far end is told of its first flit, */
    uint32_t lag;   /* and for each flit behind that: see network_lag() */
    uint32_t flits; /* that have left, modulo 2^32 */
    uint16_t cycle;
    uint16_t kind;
    struct place to; /* VC 0 at the far end */
    uint32_t unused;
};

struct packet_head {
    tick_t step_at;     /* when it steps next; NEVER: asleep */
    uint64_t flit_hops; /* a router's own, so that routers share nothing */
    uint32_t waiting;   /* how many lanes wait for an output lane */
    uint32_t unused;
};

/* The sets of lanes that a router keeps, each `words` long. */
enum packet_set {
    SET_FRESH,   /* input lanes with something that was not tried yet */
    SET_OPENED,  /* output lanes that have more room, or are free, since the waiting were tried */
    SET_CLAIMED, /* output lanes that somebody waits for: who comes later must not overtake */
    SET_OWNED,   /* output lanes that a packet holds until its last chunk */
    SET_USABLE,  /* output lanes that lead somewhere; never changes */
    PACKET_SETS,
};

struct packets {
    struct network *network;
    struct engine *engine;
    struct congestion *congestion; /* NULL: nobody looks */
    uint32_t num_vcs, ports, lanes, words;
    uint32_t depth;      /* flits of a lane's buffer */
    bool divides;        /* packets may move in chunks */
    bool whole_for_room; /* routing has escape VCs: a lane is taken only with room for the whole packet */
    struct packet_head *heads;
    uint64_t *sets;                /* by router, PACKET_SETS sets each */
    struct packet_lane *inputs;    /* by router * lanes + lane */
    struct packet_output *outputs; /* the same */
    struct packet_port *out_ports; /* by router * ports + port */
    uint16_t *wait_order;          /* by router * lanes: input lanes that wait, the longest wait first */
    uint64_t *wants;               /* by input lane, `words` each, where one word does not hold them */
};

static inline uint64_t *packet_set(const struct packets *q, uint32_t router, enum packet_set set)
{
    return q->sets + ((size_t)router * PACKET_SETS + set) * q->words;
}

static inline size_t packet_lane_number(const struct packets *q, uint32_t router, uint32_t lane)
{
    return (size_t)router * q->lanes + lane;
}

static inline uint64_t *packet_wants(const struct packets *q, size_t number)
{
    return q->words == 1 ? &q->inputs[number].wants : q->wants + number * q->words;
}

/* Building and checking, in packet_build.c. */
extern const struct option packet_options[];
uint32_t packet_num_vcs(const void *config);
uint32_t packet_depth(const void *config);
void packet_plan(struct network *network, const struct choice *self, struct errors *errors);
void *packet_build(struct network *network, const struct choice *self, struct errors *errors);
void packet_check_idle(void *routers);
bool packet_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting);
uint64_t packet_flit_hops(const void *routers);
uint32_t packet_port_flits(const void *routers, uint32_t router, uint32_t port);

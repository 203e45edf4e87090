/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the simured routers: flat arrays over all routers of a network. Both sides of a lane have a buffer: those of
 * input lanes are numbered first, those of output lanes behind them, router by router.
 */
#include "flitwarp/congestion.h"
#include "network/router/lane.h"
#include "network/router/simured_buffer.h"

#define FETCH_AHEAD 8 /* events, in networks that do not fit the cache */

struct simured_config {
    uint32_t num_vcs, buffer_depth;
    uint32_t buffer_delay, crossbar_delay, switching_delay, channel_delay; /* cycles */
    bool buffer_forwarding, physical_channels;
    uint32_t lane_free;
    uint64_t cycle;
    struct choice congestion;
};

/* Since when a packet has been in the network, which decides who is served first; sources are for those of one tick. */
struct age {
    tick_t injected;
    uint32_t source, unused;
};

static inline bool is_older(const struct age *a, const struct age *b)
{
    return a->injected != b->injected ? a->injected < b->injected : a->source < b->source;
}

/* An input lane, and how far the packet at its front has come. */
struct simured_input {
    tick_t leave_at;       /* when the flit in the last slot may cross, once it holds an output lane */
    struct age age;        /* of the packet at its front that waits for an output lane, or holds one */
    struct place back;     /* where its credits go */
    uint32_t back_latency; /* of the channel there */
    uint16_t back_kind;
    uint16_t output; /* lane held, LANE_IDLE or LANE_WAITS */
};

/* A cache line. */
struct simured_output {
    tick_t since;          /* when the flit in the last slot came there */
    struct age linked_age; /* of its packet */
    struct age freed_by;   /* the packet that held the lane last */
    tick_t freed_at;       /* the edge at which it became free */
    uint32_t flits;        /* that have left, modulo 2^32 */
    int32_t credits;       /* room at the far end; below 0 to terminals, which always have room */
    uint16_t owner;        /* the input lane that holds it, or NOBODY */
    uint16_t unused[3];
};

struct simured_port {
    uint64_t linked;  /* set of VCs with a flit in the last slot, which is the channel's */
    tick_t turn_from; /* when the VC in turn got it */
    tick_t delay;     /* ticks that a flit takes */
    struct place to;  /* VC 0 at the far end */
    uint32_t latency; /* of the channel there */
    uint16_t turn;    /* VC that may use the channel */
    bool is_shared;   /* by virtual channels that take turns */
    bool to_terminal;
};

struct simured_head {
    tick_t step_at;   /* when it steps next; NEVER: asleep */
    uint32_t waiting; /* how many lanes wait for an output lane */
    bool opened;      /* an output lane has become free since the last retry */
    bool unused[3];
};

enum simured_set {
    SET_FRESH,          /* input lanes whose front packet has no answer of routing yet */
    SET_CROSSING,       /* input lanes that hold an output lane, and may have a flit to move */
    SET_OPEN,           /* output lanes that a packet may take */
    SET_USABLE,         /* output lanes that lead somewhere */
    SET_RESTING_INPUTS, /* buffers in which a flit will move on by itself */
    SET_RESTING_OUTPUTS,
    SIMURED_SETS,
};

struct simured {
    struct network *network;
    struct engine *engine;
    struct congestion *congestion; /* NULL: nobody looks */
    struct buffers buffers;
    tick_t cycle, crossbar, head_crossbar; /* ticks; the last from the grant of an output until a head leaves */
    uint32_t num_vcs, ports, lanes, words, port_words, first_link;
    bool needs_empty; /* a lane is given only when both buffers behind it are empty */
    uint64_t flit_hops;
    struct route question; /* scratch */
    uint64_t *offered;     /* scratch: a set of output lanes */
    struct simured_head *heads;
    uint64_t *sets;               /* by router * SIMURED_SETS: `words` each */
    uint64_t *due_ports;          /* by router, port_words each: ports whose channel may have a flit to send */
    struct simured_input *inputs; /* by router * lanes + lane */
    struct simured_output *outputs;
    struct simured_port *output_ports; /* by router * ports + port */
    uint64_t *wants;                   /* by input lane, `words` each: the answer of routing */
    uint16_t *port_of;                 /* by lane */
    uint16_t *wait_order;              /* by router * lanes: input lanes that wait, the oldest packet first */
    struct random *random;             /* by router */
};

static inline uint64_t *set_of(const struct simured *q, uint32_t router, enum simured_set set)
{
    return q->sets + ((size_t)router * SIMURED_SETS + set) * q->words;
}

static inline size_t lane_number(const struct simured *q, uint32_t router, uint32_t lane)
{
    return (size_t)router * q->lanes + lane;
}

static inline size_t input_buffer(const struct simured *q, uint32_t router, uint32_t lane)
{
    return (size_t)router * 2 * q->lanes + lane;
}

static inline size_t output_buffer(const struct simured *q, uint32_t router, uint32_t lane)
{
    return ((size_t)router * 2 + 1) * q->lanes + lane;
}

static inline uint64_t *wants_of(const struct simured *q, uint32_t router, uint32_t lane)
{
    return q->wants + lane_number(q, router, lane) * q->words;
}

static inline struct simured_port *port_at(const struct simured *q, uint32_t router, uint32_t port)
{
    return &q->output_ports[(size_t)router * q->ports + port];
}

/* The age of a packet whose head is here. */
static inline struct age age_of(const struct simured *q, uint32_t packet)
{
    const struct packet *record = network_packet(q->network, packet);
    return (struct age){.injected = record->injected, .source = record->source};
}

/* The last edge of the clock up to a tick. */
static inline tick_t edge_of(const struct simured *q, tick_t tick)
{
    return q->cycle == 1 ? tick : tick - tick % q->cycle;
}

/* Building and checking, in simured_build.c. */
extern const struct option simured_options[];

void *simured_build(struct network *network, const struct choice *self, struct errors *errors);
void *simured_share(const void *routers, struct network *part);
uint32_t simured_num_vcs(const void *config);
uint32_t simured_depth(const void *config);
void simured_check_idle(void *routers);
bool simured_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting);
uint64_t simured_flit_hops(const void *routers);
uint32_t simured_lane_flits(const void *routers, uint32_t router, uint32_t lane);

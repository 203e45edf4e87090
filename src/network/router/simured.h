/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Layout of the simured routers. */
#include "flitwarp/congestion.h"
#include "flitwarp/router.h"
#include "network/router/simured_buffer.h"

#define FETCH_AHEAD 8 /* events, in networks that do not fit the cache */

enum lane_free { FREE_AUTO, FREE_BEHIND_TAIL, FREE_WHEN_EMPTY };
enum order { ORDER_PER_ROUTER, ORDER_ORIGINAL };

struct simured_config {
    uint32_t num_vcs, buffer_depth;
    uint32_t buffer_delay, crossbar_delay, switching_delay, channel_delay; /* cycles */
    bool buffer_forwarding, physical_channels;
    uint32_t lane_free; /* enum lane_free */
    uint32_t order;     /* enum order */
    uint64_t cycle;
    struct choice congestion;
};

/* Since when a packet has been in the network, which decides who is served first; the others are for those of one tick. */
struct age {
    tick_t injected;
    uint32_t source, sequence;
};

static inline bool is_older(const struct age *a, const struct age *b)
{
    return a->injected != b->injected ? a->injected < b->injected
           : a->source != b->source   ? a->source < b->source
                                      : a->sequence < b->sequence;
}

/* An input lane, and how far the packet at its front has come. */
struct simured_input {
    tick_t leave_at;        /* when the flit in the last slot may cross, once it holds an output lane */
    struct age age;         /* of the packet at its front that waits for an output lane, or holds one */
    struct lane_place back; /* where its credits go */
    uint32_t back_latency;  /* of the channel there */
    uint16_t back_kind;
    uint16_t output; /* lane held, LANE_IDLE or LANE_WAITS */
};

/* An output lane. Its buffer is behind it, as that of an input lane: with two flits, either is a cache line. */
struct simured_output {
    tick_t since;          /* when the flit in the last slot came there */
    struct age linked_age; /* of its packet */
    uint32_t flits;        /* that have left, modulo 2^32 */
    int32_t credits;       /* room at the far end; below 0 to terminals, which always have room */
    uint16_t owner;        /* the input lane that holds it, or NOBODY */
    uint16_t unused[3];
};

/* How an output lane became free. */
struct simured_release {
    struct age age; /* of the packet that held it last */
    tick_t edge;
};

struct simured_port {
    uint64_t linked;      /* set of VCs with a flit in the last slot, which is the channel's */
    tick_t turn_from;     /* when the VC in turn got it */
    tick_t delay;         /* ticks that a flit takes */
    struct lane_place to; /* VC 0 at the far end */
    uint32_t latency;     /* of the channel there */
    uint16_t number;      /* of the port */
    uint16_t turn;        /* VC that may use the channel */
    bool is_shared;       /* by virtual channels that take turns */
    bool to_terminal;
    bool looks_at_once; /* the VC in turn got it from an older packet: it looks for room in that cycle already */
};

/* What it points to lies behind it, in the order in which it is named: a step touches a little of many things. */
struct simured_router {
    tick_t step_at;            /* when it steps next; FW_NEVER: asleep */
    struct random random;      /* for choices between lanes */
    uint32_t number;           /* of the router */
    uint32_t waiting;          /* how many lanes wait for an output lane */
    bool opened;               /* an output lane has become free since the last retry */
    uint64_t *due;             /* a set of ports whose channel may have a flit to send */
    uint64_t *fresh;           /* input lanes whose front packet has no answer of routing yet */
    uint64_t *crossing;        /* input lanes that hold an output lane, and may have a flit to move */
    uint64_t *open;            /* output lanes that a packet may take */
    uint64_t *usable;          /* output lanes that lead somewhere */
    uint64_t *resting_inputs;  /* buffers in which a flit will move on by itself */
    uint64_t *resting_outputs; /* the same of outputs */
    char *inputs;              /* struct simured_input and struct buffer, by lane */
    char *outputs;             /* struct simured_output and struct buffer, by lane */
    struct simured_port *ports;
    struct simured_release *releases; /* by output lane */
    uint64_t *wants;                  /* by input lane, `words` each: the answer of routing */
    uint16_t *order;                  /* input lanes that wait, the oldest packet first */
};

struct simured {
    ROUTERS_HEAD;
    struct buffers buffers;
    tick_t cycle, crossbar, head_crossbar; /* ticks; the last from the grant of an output until a head leaves */
    uint32_t port_words, first_link;
    bool needs_empty;                     /* a lane is given only when both buffers behind it are empty */
    uint64_t *offered;                    /* scratch: a set of output lanes */
    uint16_t *port_of;                    /* by lane */
    uint32_t input_stride, output_stride; /* of a lane and its buffer */
    struct simured_router *each;
    struct walk *walk; /* simured_walk.h: of the order original, in place of all the above; else NULL */
};

static inline struct simured_input *input_at(const struct simured *q, const struct simured_router *r, uint32_t lane)
{
    return (void *)(r->inputs + (size_t)q->input_stride * lane);
}

static inline struct simured_output *output_at(const struct simured *q, const struct simured_router *r, uint32_t lane)
{
    return (void *)(r->outputs + (size_t)q->output_stride * lane);
}

static inline struct buffer *input_buffer(const struct simured *q, const struct simured_router *r, uint32_t lane)
{
    return (struct buffer *)(input_at(q, r, lane) + 1);
}

static inline struct buffer *output_buffer(const struct simured *q, const struct simured_router *r, uint32_t lane)
{
    return (struct buffer *)(output_at(q, r, lane) + 1);
}

static inline uint64_t *wants_of(const struct simured *q, const struct simured_router *r, uint32_t lane)
{
    return r->wants + (size_t)lane * q->words;
}

/* The age of a packet whose head is here. */
static inline struct age age_of(const struct simured *q, uint32_t packet)
{
    const struct packet *record = network_packet(q->network, packet);
    return (struct age){.injected = record->injected, .source = record->source, .sequence = record->sequence};
}

/* The last edge of the clock up to a tick. */
static inline tick_t edge_of(const struct simured *q, tick_t tick)
{
    return q->cycle == 1 ? tick : tick - tick % q->cycle;
}

/* Building, and looking from outside, in simured_build.c. */
extern const struct option simured_options[];
void simured_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
void simured_check(const struct network *network, const struct choice *self, struct errors *errors);
void simured_build(void *routers, const void *config);
void simured_share(void *routers);
uint32_t simured_lane_flits(const void *routers, uint32_t router, uint32_t lane);
void simured_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                  struct shown_router *shown);

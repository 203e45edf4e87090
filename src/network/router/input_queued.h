/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the input-queued routers. All routers of a network have blocks of
 * the same size in one array; the parts of a block lie at offsets that are
 * worked out once:
 *
 *   | head | sets | allocators | inputs | outputs | free_at | locks | credited | rooms | shares |
 *   rings |
 *
 * The parts that a step touches come first and together are a few cache lines.
 * Head, sets and inputs have places that the compiler knows when a set is one
 * word. Small allocators fit between sets and inputs, large ones go behind the
 * outputs. A lane's first flit lies in the lane itself, those behind it in its ring:
 * at low load the rings are never touched.
 */
#include "engine/engine.h"
#include "flitwarp/allocator.h"
#include "network/router/buffer_size.h"
#include "flitwarp/router.h"
#include "network/router/output_stage.h"

enum switching { WORMHOLE, VIRTUAL_CUT_THROUGH, STORE_AND_FORWARD };
enum crossbar_flow { FLIT_BUFFER, PACKET_BUFFER, WINNER_TAKE_ALL };

struct input_queued_config {
    uint32_t num_vcs;
    uint32_t buffer_depth, buffer_min; /* see buffer_size.h */
    double buffer_per_latency;
    uint32_t buffer_exclusive, buffer_maximum;
    uint64_t cycle;
    uint32_t routing_latency, vc_allocation_latency, switch_allocation_latency, crossbar_latency; /* cycles */
    uint32_t credit_latency;
    uint32_t input_speedup, output_speedup;
    uint32_t switching, crossbar_flow;
    bool vc_needs_credit;
    struct choice vc_allocator, allocator, arbiter, congestion;
};

#define UNLOCKED 0xffffu
#define MOST_TURNS 256 /* lanes of a router whose allocators take turns without a matching */

/* An input lane: a queue of flits, and how far its front packet has come. */
struct input_lane {
    uint64_t wants;         /* output lanes that the packet may take, where one word holds them */
    struct flit front;      /* the first flit, while count > 0 */
    uint16_t first;         /* of the ring, free-running; the ring's size is a power of two */
    uint16_t count;         /* flits, the front one included */
    uint16_t output;        /* output lane held, LANE_IDLE or LANE_WAITS */
    uint16_t out_port;      /* of the output lane */
    struct lane_place back; /* where its credits go; never changes. In the plain variant with a mark, see ELSEWHERE */
};

struct output_lane {
    uint16_t credits;     /* flits that there is room for */
    uint16_t owner;       /* input lane that holds it, or NOBODY */
    uint32_t flits;       /* that have left, modulo 2^32 */
    struct lane_place to; /* where its flits go; never changes; with the same mark */
};

/* Set in the lane of a place in another part of the network, where a glance must be enough: in the plain variant. */
#define ELSEWHERE 0x80000000u

/* What does not change about a lane and is the same in every router. */
struct lane_facts {
    uint16_t port;
    uint8_t vc;
    bool at_router;   /* its channel comes from and leads to a router, not a terminal */
    uint32_t ring_at; /* offset of its ring in the block */
};

struct router_head {
    tick_t step_at; /* when it steps next, or did last; NEVER: asleep */
    uint32_t number;
    uint32_t unused;
};

/* The sets of lanes that a router keeps, each `words` long. Head and sets of one word are one cache line. */
enum lane_set {
    SET_FRESH,    /* input lanes whose front packet is yet to be routed */
    SET_WAITING,  /* input lanes that are routed and want an output lane */
    SET_SENDABLE, /* input lanes with an output lane, a flit and a credit */
    SET_BUSY,     /* input lanes whose last stage is not over yet: those above must wait for it */
    SET_FREE,     /* output lanes that nobody holds */
    SET_USABLE,   /* output lanes that lead somewhere; never changes */
    LANE_SETS,
};

struct input_queued {
    struct network *network;
    struct engine *engine;
    struct input_queued_config config;
    struct output_stage *outputs;  /* the crossbar leads to output queues; NULL: to the channels */
    struct congestion *congestion; /* told of credits spent and back; NULL: nobody looks, or the output stage tells */
    uint32_t room;                 /* credits of an output lane when all are back, at most; see room_of */
    uint32_t depth;                /* flits that an input lane can hold */
    /* In ticks. */
    tick_t cycle, routing, vc_allocation;
    tick_t to_channel;  /* from the switch grant to the channel */
    tick_t credit;      /* from the switch grant to the credit's way back */
    tick_t next_packet; /* from the switch grant of a tail to the next packet's turn */
    uint32_t ports, num_vcs, lanes, words;
    uint64_t port_lanes;       /* the lanes of port 0 */
    uint64_t busy_after_grant; /* all ones, or none when a VC is allocated in no time */
    uint32_t ring_mask;
    uint32_t switch_rows, switch_cols;
    bool reserves_packet; /* a head moves on only when the whole packet has room */
    bool needs_room;      /* routing has escape VCs: an output lane is given only with room for the whole packet, or all
                             that there can be, so that no packet waits for an adaptive VC alone */
    bool shares_room;     /* the VCs of an output share the buffer downstream */
    bool is_extended;     /* that, or levels of service: the stages are compiled apart for it */
    bool takes_turns;     /* allocators and arbiters are round robins, and their memory is small; see share_switch */
    bool is_plain;        /* the usual router, for which the stages are compiled apart; see input_queued.c */
    bool ends_in_a_cycle; /* no stage is longer than a cycle, so what was busy in the last step is not in the next */
    const struct allocator_ops *vc_allocator, *switch_allocator;
    const struct arbiter_ops *arbiter;
    struct matching vc_matching, switch_matching; /* scratch, shared by all routers */
    struct lane_facts *facts;                     /* by lane */
    struct lane_facts few_facts[WORD_BITS];       /* the same where a word holds the lanes, a load nearer */
    uint64_t *eligible;                           /* scratch: lanes that ask for the switch */
    uint64_t *vc_age;                             /* scratch: by VC, for arbiters that look at age */
    /* Scratch, for levels of service: who asks in the first place, rows and columns of the switch that are used, and by
       output port the set of the one level that is next. */
    uint64_t *asking, *used_rows, *used_cols, *next_group;
    struct random *random; /* by router */
    struct route question; /* scratch: to the routing algorithm */
    tick_t *ready_at;      /* by router * lanes + lane: end of the stage of a busy lane */
    uint64_t *routes;      /* by router * lanes + lane, `words` each; NULL where one is enough */
    /* The routers that step, in the plain variant: by the tick's parity a set of them, and the tick its event is posted
       for. A set keeps them in the order of memory, whatever order they were woken in. */
    uint64_t *due[2];
    uint32_t router_words;
    tick_t *due_at;
    uint32_t *order;    /* scratch: the members of a set */
    bool fetches_ahead; /* the routers do not fit the cache */
    uint64_t flit_hops;

    unsigned char *blocks; /* by router */
    size_t stride;
    uint32_t outputs_at, vc_state_at, switch_state_at, arbiter_state_at, arbiter_state_size, arbiters_each,
        arbiter_port_mask, free_at_at, locks_at, credited_at, rooms_at, shares_at, rings_at;
};

static inline struct router_head *block_of(const struct input_queued *q, uint32_t router)
{
    return (struct router_head *)(void *)(q->blocks + (size_t)router * q->stride);
}

#define PART(type, offset) ((type *)(void *)((unsigned char *)head + (offset)))
#define SETS_AT sizeof(struct router_head)
#define SETS_END(words) (SETS_AT + LANE_SETS * (words) * sizeof(uint64_t))
#define ALLOCATORS_ROOM 64
#define INPUTS_AT(words) ((SETS_END(words) + ALLOCATORS_ROOM + 63) / 64 * 64)

static inline uint64_t *lanes_in(struct router_head *head, enum lane_set set, uint32_t words)
{
    return PART(uint64_t, SETS_AT) + set * words;
}
/* The set of output lanes with a credit; kept only where packets need one to be given a lane. */
static inline uint64_t *credited_of(const struct input_queued *q, struct router_head *head)
{
    return PART(uint64_t, q->credited_at);
}
static inline struct input_lane *inputs_of(struct router_head *head, uint32_t words)
{
    return PART(struct input_lane, INPUTS_AT(words));
}
static inline struct output_lane *outputs_of(const struct input_queued *q, struct router_head *head)
{
    return PART(struct output_lane, q->outputs_at);
}
/* By port: when its channel can take the next flit. */
static inline tick_t *free_at_of(const struct input_queued *q, struct router_head *head)
{
    return PART(tick_t, q->free_at_at);
}
static inline uint16_t *locks_of(const struct input_queued *q, struct router_head *head)
{
    return PART(uint16_t, q->locks_at);
}
static inline uint64_t *wants_of(const struct input_queued *q, struct router_head *head, uint32_t lane, uint32_t words)
{
    return words == 1 ? &inputs_of(head, 1)[lane].wants : q->routes + ((size_t)head->number * q->lanes + lane) * words;
}

/* Credits of an output lane when all are back: places in its queue, or in the buffer downstream. */
static inline uint32_t room_of(const struct input_queued *q, uint32_t router, uint32_t port)
{
    return q->outputs ? q->outputs->depth : room_at_most(q->network, network_link(q->network, router, port));
}
/* The buffer beyond an output port, where VCs share it. */
static inline struct shared_room *shared_room_of(const struct input_queued *q, struct router_head *head, uint32_t port)
{
    return PART(struct shared_room, q->rooms_at + port * shared_room_bytes(q->num_vcs));
}

/* The handlers of events, in input_queued.c. Credits are those of the crossbar: of output queues where there are any. */
event_handler input_queued_receive_flits, input_queued_receive_credits, input_queued_step;
/* Room downstream that output queues have spent is back: packets that wait for room on all their way may have it now. */
void input_queued_look_again(struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count);

/* Building and checking, in input_queued_build.c. */
extern const struct option input_queued_options[];
void *input_queued_build(struct network *network, const struct choice *self, struct errors *errors);
/* What input_queued_build does; and so can routers do that have output queues. */
void input_queued_check(const struct network *network, const struct choice *self, struct errors *errors);
struct input_queued *input_queued_make(struct network *network, const struct input_queued_config *config,
                                       struct output_stage *outputs, struct congestion *congestion);
void *input_queued_share(const void *routers, struct network *part);
void input_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
void input_queued_check_idle(void *routers);
/* In input_queued_recovery.c; not with output queues, where a packet may be too. */
struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
void input_queued_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
bool input_queued_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting);
void input_queued_show(const void *routers, uint32_t router, struct shown_router *shown);
uint64_t input_queued_flit_hops(const void *routers);
uint32_t input_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane);

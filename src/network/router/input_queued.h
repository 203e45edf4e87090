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
#include "flitwarp/router.h"
#include "network/allocator/round_robin.h"
#include "network/router/buffer_size.h"
#include "network/router/output_stage.h"

enum switching { WORMHOLE, VIRTUAL_CUT_THROUGH, STORE_AND_FORWARD };
enum input_picks { PICKS_OUTPUT, PICKS_VC };
enum crossbar_flow { FLIT_BUFFER, PACKET_BUFFER, WINNER_TAKE_ALL };

struct input_queued_config {
    struct buffer_config buffer;
    uint32_t buffer_exclusive, buffer_maximum;
    uint64_t cycle;
    uint32_t routing_latency, vc_allocation_latency, switch_allocation_latency, crossbar_latency; /* cycles */
    uint32_t credit_latency;
    uint32_t input_speedup, output_speedup;
    uint32_t switching, crossbar_flow, input_picks;
    bool vc_needs_credit;
    bool general; /* hidden, for a test that compares: neither the usual variant nor turns without a matching */
    struct choice vc_allocator, allocator, arbiter, congestion;
};

#define UNLOCKED 0xffffu

/* An input lane: a queue of flits, and how far its front packet has come. */
struct input_lane {
    uint64_t wants;         /* output lanes that the packet may take, where one word holds them */
    struct flit front;      /* the first flit, while count > 0 */
    uint16_t first;         /* of the ring, free-running; the ring's size is a power of two */
    uint16_t count;         /* flits, the front one included */
    uint16_t output;        /* output lane held, LANE_IDLE or LANE_WAITS */
    uint16_t out_port;      /* of the output lane */
    struct lane_place back; /* where its credits go; never changes; with a mark, see ELSEWHERE */
};

struct output_lane {
    uint16_t credits;     /* flits that there is room for */
    uint16_t owner;       /* input lane that holds it, or NOBODY */
    uint32_t flits;       /* that have left, modulo 2^32 */
    struct lane_place to; /* where its flits go; never changes; with the same mark */
};

/* Set in the lane of a place in another part of the network. */
#define ELSEWHERE 0x80000000u

/* What does not change about a lane and is the same in every router. */
struct lane_facts {
    uint16_t port;
    uint8_t vc;
    bool at_router;   /* its channel comes from and leads to a router, not a terminal */
    uint32_t ring_at; /* offset of its ring in the block */
};

struct router_head {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep. With `due` sets, the last time if it is asleep */
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

/* The memory of the routers, by router. */
struct blocks {
    unsigned char *first;
    size_t stride;
};

struct input_queued {
    ROUTERS_HEAD; /* where there are output queues, these tell the sensors */
    struct input_queued_config config;
    uint32_t room;  /* credits of an output lane when all are back, at most; see room_of */
    uint32_t depth; /* flits that an input lane can hold */
    /* In ticks. */
    tick_t cycle, vc_allocation;
    tick_t to_channel;              /* from the switch grant to the channel */
    tick_t credit;                  /* from the switch grant to the credit's way back */
    tick_t next_packet;             /* from the switch grant of a tail to the next packet's turn */
    uint64_t port_lanes[WORD_BITS]; /* by lane of the first word: the lanes of its port, as far as they are in it */
    uint64_t busy_after_grant;      /* all ones, or none when a VC is allocated in no time */
    uint32_t switch_rows, switch_cols;
    bool reserves_packet; /* a head moves on only when the whole packet has room */
    bool needs_room;      /* routing has escape VCs: an output lane is given only with room for the whole packet, or all
                             that there can be, so that no packet waits for an adaptive VC alone */
    bool credits_wake;    /* either of them: any credit may set a packet going, not only the first */
    bool shares_room;     /* the VCs of an output share the buffer downstream */
    bool is_extended;     /* that, or levels of service */
    bool takes_turns; /* allocators and arbiter are round robins, and their memory is small: no matching is filled */
    bool is_usual;    /* the stages are compiled apart for it; see input_queued.c */
    bool ends_in_a_cycle; /* no stage is longer than a cycle, so what was busy in the last step is not in the next */
    bool steps_each_tick; /* no step is further away than the next tick: routers wait for it in the `due` sets */
    bool locks_outputs;   /* a packet that passes may have its output for itself */
    bool queues_to_send;  /* flits may leave the switch faster than a channel takes them: free_at says when it can */
    const struct arbiter_ops *arbiter;
    struct allocation vcs, ways;            /* of output lanes to packets, of outputs to switch inputs */
    struct lane_facts *facts;               /* by lane */
    struct lane_facts few_facts[WORD_BITS]; /* the same where a word holds the lanes, a load nearer */
    uint64_t *eligible;                     /* scratch: lanes that ask for the switch */
    uint64_t *vc_age;                       /* scratch: by VC, for arbiters that look at age */
    /* Scratch, for levels of service: who asks in the first place, rows and columns of the switch that are used, and by
       output port the set of the one level that is next. */
    uint64_t *asking, *used_rows, *used_cols, *next_group;
    struct random *random; /* by router */
    tick_t *ready_at;      /* by router * lanes + lane: end of the stage of a busy lane */
    uint64_t *routes;      /* by router * lanes + lane, `words` each; NULL where one is enough */
    /* The routers that step, by the tick's parity: of the usual ones a set, which keeps them in the order of memory,
       whatever order they were woken in; of others a list. And the tick that the event for them is posted for. */
    uint64_t *due[2];
    uint32_t router_words;
    uint32_t *woken[2], *woken_count;
    tick_t *due_at;
    uint32_t *order;    /* scratch: routers that step now */
    bool fetches_ahead; /* the routers do not fit the cache */

    struct blocks blocks;
    uint32_t outputs_at, vc_state_at, switch_state_at, arbiter_state_at, arbiter_state_size, arbiters_each,
        arbiter_port_mask, free_at_at, locks_at, credited_at, rooms_at, shares_at, rings_at;
};

static inline struct router_head *block_at(struct blocks blocks, uint32_t router)
{
    return (struct router_head *)(void *)(blocks.first + router * blocks.stride);
}
static inline struct router_head *block_of(const struct input_queued *q, uint32_t router)
{
    return block_at(q->blocks, router);
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
/* By output port: the input lane that alone may use it; UNLOCKED: any may. */
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

/*
 * Stages are compiled into their callers, once for each of two variants: see input_queued.c. A variant is a constant
 * wherever it is used, but for the general one's words.
 */
#define STAGE static inline __attribute__((always_inline))

struct variant {
    bool usual;
    uint32_t words; /* of a set of lanes */
};
#define USUAL ((struct variant){.usual = true, .words = 1})
#define GENERAL(words_) ((struct variant){.usual = false, .words = (words_)})

/* Sets of lanes: one word in the usual variant, so that the compiler can keep it in a register. */
STAGE uint64_t *word_of(uint64_t *set, size_t lane, struct variant is)
{
    return set + (is.usual ? 0 : lane / WORD_BITS);
}
STAGE void add(uint64_t *set, size_t lane, struct variant is) { *word_of(set, lane, is) |= bit(lane); }
STAGE void drop(uint64_t *set, size_t lane, struct variant is) { *word_of(set, lane, is) &= ~bit(lane); }

STAGE const struct lane_facts *facts_of(const struct input_queued *q, size_t lane, struct variant is)
{
    return is.usual ? &q->few_facts[lane] : &q->facts[lane];
}
STAGE struct flit *ring_of(const struct input_queued *q, struct router_head *head, size_t lane, struct variant is)
{
    return PART(struct flit, facts_of(q, lane, is)->ring_at);
}

/* One router during a step. */
struct view {
    struct input_queued *q;
    struct router_head *head;
    struct input_lane *inputs;
    struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *busy, *free, *credited, *usable; /* see enum lane_set */
    uint64_t *wants; /* of the first lane; the others follow so many words apart */
    size_t wants_apart;
    const struct destinations *to; /* of the usual variant */
    bool traces;                   /* a packet's walk is told, by the general variant */
    tick_t now;
    tick_t soonest; /* when the next busy lane is not any more */
    bool moved;     /* something was granted */
};

/* The packet at the front of a lane. */
static inline const struct packet *front_of(const struct view *v, size_t lane)
{
    return network_packet(v->q->network, v->inputs[lane].front.packet);
}

/* The VC arbiter of a switch input, for an output port. */
STAGE size_t arbiter_number(const struct input_queued *q, size_t row, size_t port)
{
    return row * q->arbiters_each + (port & q->arbiter_port_mask);
}

/* ---- waking ---- */

/* One event that stands for the steps of all routers of a tick. */
void input_queued_post_due(const struct input_queued *q, tick_t when);

/* The router steps in this tick or the next. */
STAGE void make_due(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    head->step_at = when;
    if (is.usual || q->is_usual)
        bits_add(q->due[when % 2], head->number);
    else
        q->woken[when % 2][q->woken_count[when % 2]++] = head->number;
}

/* The router steps at `when`, or at its clock's next edge. */
STAGE void wake(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    if (is.usual || q->steps_each_tick) {
        if (head->step_at == when)
            return;
        make_due(q, head, when, is);
        if (__builtin_expect(q->due_at[when % 2] != when, 0))
            input_queued_post_due(q, when);
        return;
    }
    router_wake(q->engine, head->number, &head->step_at, next_edge(when, q->cycle));
}

/* A lane's stage takes until `when`. */
STAGE void keep_busy(const struct input_queued *q, struct router_head *head, uint64_t *busy, size_t lane, tick_t when,
                     struct variant is)
{
    add(busy, lane, is);
    if (!is.usual && !q->ends_in_a_cycle)
        q->ready_at[(size_t)head->number * q->lanes + lane] = when;
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, struct router_head *head, uint64_t *fresh, uint64_t *busy,
                        size_t lane, struct input_lane *input, tick_t when, struct variant is)
{
    FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %zu: packet %u begins with flit %u", head->number, lane,
             input->front.packet, input->front.place & FLIT_POSITION);
    if (!is.usual && q->config.switching == STORE_AND_FORWARD &&
        input->count < network_packet(q->network, input->front.packet)->size)
        return false;
    input->output = LANE_WAITS;
    add(fresh, lane, is);
    if (!is.usual)
        keep_busy(q, head, busy, lane, when + q->config.routing_latency * q->cycle, is);
    return true;
}

/* The handlers of events, in input_queued_receive.c and input_queued.c. Credits are those of the crossbar: of output queues where there are any. */
event_handler input_queued_receive_flits, input_queued_receive_credits, input_queued_step;
/* Room downstream that output queues have spent is back: packets that wait for room on all their way may have it now. */
void input_queued_look_again(struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count);
/* Steps of the general variant, for those who match: an input lane holds an output lane; a winner leaves its buffer. */
void input_queued_hold(struct view *v, size_t lane, size_t output);
void input_queued_leave(struct view *v, size_t lane);
bool input_queued_may_send(const struct view *v, size_t lane);
uint64_t input_queued_wanted(const struct view *v, size_t lane, uint32_t word);
/* The packet in front of a lane was taken out: what it held and asked for is nobody's, and the next one begins. */
void input_queued_begin_next(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t now);
void input_queued_wake(const struct input_queued *q, struct router_head *head, tick_t now);

/* What few networks ask for, in input_queued_match.c: allocators of any kind, levels of service, VCs that share room. */
bool input_queued_match_outputs(struct view *v); /* true: somebody asked */
void input_queued_match_switch(struct view *v);  /* among q->eligible */
/* A flit has gone to an output lane; a credit of one is back: true, if a lane has credits that had none. */
void input_queued_spend_shared(const struct input_queued *q, struct router_head *head, uint32_t output,
                               struct flit flit);
bool input_queued_return_shared(const struct input_queued *q, struct router_head *head, uint32_t output);
/* Those of some output lanes, one word of them, that can take all of the packet at the front of a lane. */
uint64_t input_queued_with_room(const struct view *v, size_t lane, uint32_t word, uint64_t outputs);

/* Building and looking at them, in input_queued_build.c: all that the architectures with and without output queues share. */
extern const struct option input_queued_options[];
void input_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
void input_queued_check(const struct network *network, const struct choice *self, struct errors *errors);
void input_queued_build(void *routers, const void *config);
void input_queued_share(void *routers);
uint32_t input_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane);
void input_queued_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                       struct shown_router *shown);
/* Not with output queues, where a packet may be too. */
struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
void input_queued_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);

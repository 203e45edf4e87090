/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The input-queued routers as the program builds and steps them; what lies in their memory is in input_queued_state.h. */
#include "engine/engine.h"
#include "flitwarp/router.h"
#include "network/allocator/separable.h"
#include "network/router/buffer_size.h"
#include "network/router/input_queued_state.h"
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

/* Classes of channels: those of a class have one latency. */
enum {
    CHANNELS_OF_TERMINALS,
    CHANNELS_OF_ROUTERS, /* where all of these are alike; or else those that no other class has */
    CHANNEL_CLASSES = 8,
};

struct input_queued {
    ROUTERS_HEAD; /* where there are output queues, these tell the sensors */
    struct input_queued_config config;
    INPUT_QUEUED_FACTS;
    uint64_t port_lanes[WORD_BITS]; /* by lane of the first word: the lanes of its port, as far as they are in it */
    bool shares_room;               /* the VCs of an output share the buffer downstream */
    bool is_extended;               /* that, or levels of service */
    bool takes_turns; /* allocators and arbiter are round robins, and their memory is small: no matching is filled */
    bool takes_words; /* they match by words, and lanes fit one: no matching is filled either */
    struct turn_rounds vc_turns, switch_turns; /* of those that take turns by words */
    bool is_usual, is_wide;                    /* the stages are compiled apart for it; see input_queued.c */
    const uint8_t *channels;                   /* by router * ports + port: the class */
    tick_t channel_latencies[CHANNEL_CLASSES]; /* 0: they differ */
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
    /* The routers that step, where each may in every tick, by the tick's parity: of the usual ones a set, which keeps them in the order of memory,
       whatever order they were woken in; of others a list. And the tick that the event for them is posted for. */
    uint64_t *due[2];
    uint32_t router_words;
    uint32_t *woken[2], *woken_count;
    tick_t *due_at;
    uint32_t *order;    /* scratch: routers that step now */
    void **spare_rings; /* by the logarithm of their size: those that have become too small for a lane; each
                                  begins with the address of the next */
    bool fetches_ahead; /* the routers do not fit the cache */
};

/* Credits of an output lane when all are back: places in its queue, or in the buffer downstream. */
static inline uint32_t room_of(const struct input_queued *q, uint32_t router, uint32_t port)
{
    return q->outputs ? q->outputs->depth : room_at_most(q->network, network_link(q->network, router, port));
}
/* What does not change about a lane. */
STAGE struct lane_facts facts_of(const struct input_queued *q, size_t lane, struct variant is)
{
    return is.narrow ? q->few_facts[lane] : q->facts[lane];
}
/* Of a lane of the first word: the lanes of its port, as far as they are in it. */
STAGE uint64_t lanes_of_port(const struct input_queued *q, size_t lane) { return q->port_lanes[lane]; }

/* The buffer beyond an output port, where VCs share it. */
static inline struct shared_room *shared_room_of(const struct input_queued *q, struct router_head *head, uint32_t port)
{
    return PART(struct shared_room, q->rooms_at + port * shared_room_bytes(q->num_vcs));
}

STAGE bool has_sensors(const struct input_queued *q) { return q->congestion; }
/* The buffer behind an output lane has so many more flits. */
STAGE void tell_sensors(const struct input_queued *q, uint32_t router, uint32_t lane, int32_t change, tick_t now)
{
    congestion_change(q->congestion, router, lane, QUEUE_DOWNSTREAM, change, now);
}

/* ---- waking ---- */

/* One event that stands for the steps of all routers of a tick. */
void input_queued_post_due(const struct input_queued *q, tick_t when);

/* The router steps in this tick or the next. */
STAGE void make_due(const struct input_queued *q, struct router_head *head, tick_t when, struct variant is)
{
    head->step_at = when;
    if (is.narrow || q->is_usual)
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
/* A lane's ring, which is full, becomes twice as large. */
void input_queued_widen(const struct input_queued *q, struct lane_ring *ring, uint32_t first);
void input_queued_wake(const struct input_queued *q, struct router_head *head, tick_t now);

/* What few networks ask for, in input_queued_match.c: allocators of any kind, levels of service, VCs that share room. */
bool input_queued_match_outputs(struct view *v); /* true: somebody asked */
void input_queued_match_switch(struct view *v);  /* among q->eligible */
/* Which of the VCs of a switch input that can send by an output port uses it, when the input was granted that. */
uint32_t input_queued_choose_lane(const struct view *v, uint32_t row, uint64_t vcs, uint32_t port);
/* A flit has gone to an output lane; a credit of one is back: true, if a lane has credits that had none. */
void input_queued_spend_shared(const struct input_queued *q, struct router_head *head, uint32_t output,
                               struct flit flit);
bool input_queued_return_shared(const struct input_queued *q, struct router_head *head, uint32_t output);
/* Those of some output lanes, one word of them, that can take all of the packet at the front of a lane. */
uint64_t input_queued_with_room(const struct view *v, size_t lane, uint32_t word, uint64_t outputs);

/* Allocators that match by words, in input_queued_words.c: the output lanes or ports that are granted, and who takes each. */
uint64_t input_queued_share_outputs(struct input_queued *q, struct router_head *head, uint64_t waiting, uint64_t free,
                                    uint16_t *taker);
uint64_t input_queued_share_switch(struct input_queued *q, struct router_head *head, uint64_t eligible,
                                   uint16_t *taker);

/* Building and looking at them, in input_queued_build.c: all that the architectures with and without output queues share. */
extern const struct option input_queued_options[];
void input_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
void input_queued_check(const struct network *network, const struct choice *self, struct errors *errors);
void input_queued_build(void *routers, const void *config);
void input_queued_share(void *routers);
uint32_t input_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane);
void input_queued_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                       struct shown_router *shown);
/* In input_queued_control.c; not with output queues, where a packet may be too. */
struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
void input_queued_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
uint32_t input_queued_holder(const void *routers, uint32_t router, uint32_t lane);
void input_queued_close(void *routers, uint32_t router, uint32_t port, bool is_closed, tick_t now);
void input_queued_ask_again(void *routers, uint32_t router, tick_t now);

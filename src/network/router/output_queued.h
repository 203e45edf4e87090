/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Layout of the output-queued routers: flat arrays over all routers of a network. */
#include "network/router/buffer_size.h"
#include "flitwarp/router.h"
#include "network/router/output_stage.h"

struct output_queued_config {
    uint32_t num_vcs;
    uint32_t buffer_depth, buffer_min; /* see buffer_size.h */
    double buffer_per_latency;
    uint32_t output_depth, output_hold;
    uint64_t cycle;
    uint32_t routing_latency, transfer_latency, credit_latency; /* cycles */
    struct choice arbiter, congestion;
};

/* An input lane: a queue of flits, and how far its front packet has come. */
struct input_lane {
    struct flit front;      /* the first flit, while count > 0; those behind it are in the ring */
    uint16_t first, count;  /* of the ring, free-running; all flits */
    uint16_t output;        /* lane held, LANE_IDLE or LANE_WAITS */
    uint16_t last_output;   /* lane that its last packet took */
    struct lane_place back; /* where its credits go */
    uint32_t back_latency;  /* of the channel there */
    uint32_t back_kind;
};

struct router_head {
    tick_t step_at;                  /* when it steps next; FW_NEVER: asleep */
    uint16_t waiting;                /* how many lanes wait for an output lane */
    uint16_t first_routing, routing; /* of the ring of lanes that are being routed */
    bool opened;                     /* an output lane has become free, or has room again, since the last retry */
};

struct output_queued {
    struct network *network;
    struct engine *engine;
    struct output_stage *outputs;
    struct output_queued_config config;
    tick_t cycle, routing, transfer, credit; /* ticks */
    uint32_t num_vcs, lanes, words, ring_mask;
    bool
        needs_room; /* routing has escape VCs: a lane is given only with room for the whole packet; see output_has_room */
    uint64_t flit_hops;
    struct route question;     /* scratch */
    uint64_t *ready, *offered; /* scratch: sets of input and of output lanes */
    struct router_head *heads;
    /* By router * words: sets of lanes. */
    uint64_t *fresh;  /* input lanes whose front packet has been routed long enough and has no answer yet */
    uint64_t *bodies; /* input lanes that hold an output lane with room, and have a flit */
    uint64_t *open;   /* output lanes that nobody holds and that have room */
    uint64_t *usable; /* output lanes that lead somewhere */
    /* By router * lanes + lane. */
    struct input_lane *inputs;
    struct flit *rings;    /* ring_mask + 1 each */
    uint64_t *wants;       /* by input lane, `words` each: the answer of routing */
    uint16_t *owner;       /* by output lane: the input lane that holds it, or NOBODY */
    uint16_t *wait_order;  /* input lanes that wait, in the order in which they began to */
    uint16_t *route_order; /* a ring: input lanes that are being routed, in the order of ready_at */
    tick_t *ready_at;      /* by input lane */
};

static inline uint64_t *set_of(uint64_t *sets, const struct output_queued *q, uint32_t router)
{
    return sets + (size_t)router * q->words;
}

static inline size_t number_of(const struct output_queued *q, uint32_t router, uint32_t lane)
{
    return (size_t)router * q->lanes + lane;
}

static inline uint64_t *wants_of(const struct output_queued *q, uint32_t router, uint32_t lane)
{
    return q->wants + number_of(q, router, lane) * q->words;
}

/* Building, and looking from outside, in output_queued_build.c. */
extern const struct option output_queued_options[];
void *output_queued_build(struct network *network, const struct choice *self, struct errors *errors);
void *output_queued_share(const void *routers, struct network *part);
void output_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan,
                        struct errors *errors);
extern const struct router_inspect_ops output_queued_inspect;

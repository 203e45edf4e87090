/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Routers: what an architecture does, what it may show of itself, and what all of them have in common: how far the packet
 * at the front of an input lane has come, and the question to the routing algorithm.
 */
#include "flitwarp/network.h"

struct waiting;
struct shown_router;
struct piece;
struct router_inspect_ops;

/* What a router architecture does. One object steps all routers of a partition. */
struct router_ops {
    COMPONENT_HEAD;
    bool serves_levels; /* arbitrates between levels of service as network->service says; else they must be alike */
    const struct router_inspect_ops *inspect; /* NULL: nobody sees into it */
    /* Turns the settings into the plan, num_vcs and buffer_depth at least, or adds errors. */
    void (*plan)(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
    /* Checks the settings against the network and makes the routers; NULL with errors. */
    void *(*build)(struct network *network, const struct choice *self, struct errors *errors);
    /* The same routers as another part of the network steps them: with an engine, scratch and counters of its own. NULL:
       they run on one thread. */
    void *(*share)(const void *routers, struct network *part);
    event_handler *receive_flits;   /* struct flit_event */
    event_handler *receive_credits; /* struct credit_event, or credits_event */
    event_handler *step;            /* struct step_event */
    /* Where there are output queues (network/router/output_stage.h); else NULL. */
    event_handler *receive_room;   /* struct credit_event */
    event_handler *receive_queued; /* struct credit_event */
    event_handler *step_outputs;   /* struct step_event */
};
#define REGISTER_ROUTER(ops) REGISTER_COMPONENT("router", ops)

/* What those see who look at routers from outside, between steps. All of it is optional. */
struct router_inspect_ops {
    uint64_t (*flit_hops)(const void *routers);
    /* Flits that have left by an output lane, modulo 2^32. */
    uint32_t (*lane_flits)(const void *routers, uint32_t router, uint32_t lane);
    /* After draining: FW_CHECKs that every buffer is empty and every credit back. */
    void (*check_idle)(void *routers);
    /* For deadlock reports: what the packet at the front of an input lane waits for; false: the lane is empty. See
       network/deadlock/wait_graph.h. */
    bool (*waits_for)(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting);
    /* For the viewer: what is in its buffers; see flitwarp/shown.h. */
    void (*show)(const void *routers, uint32_t router, struct shown_router *shown);
    /* For recovery from deadlock, see network/deadlock/deadlock.h; NULL: not with this router. What a lane has of a packet, by its
       source and sequence; and takes that out with all that it holds there, but for credits, which the caller sends. */
    struct piece (*find)(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
    void (*take_out)(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
};

#define MAX_WANTED 64

/* The state of one input lane, for those who look for deadlock. */
struct waiting {
    uint32_t packet; /* at the front; FW_NONE: empty */
    uint32_t flits;  /* in the lane's buffer */
    /* What must fit behind an output lane that it holds, or that nobody holds: 0: it can have that one, or the router
       does not say. It is never said to be stuck for that then, unless all stand still. */
    uint32_t room;
    bool for_credit; /* holds `wanted[0]` and waits for room beyond it; else waits for an output lane */
    uint32_t wanted_count;
    uint16_t wanted[MAX_WANTED]; /* output lanes; none while the packet is yet to be routed */
    uint16_t holder[MAX_WANTED]; /* the input lane that holds each, HELD_BY_NOBODY, or WITHOUT_ROOM for a flit */
    uint32_t space[MAX_WANTED];  /* flits that fit into the queue of each, where there are output queues */
};
#define HELD_BY_NOBODY 0xffffu
#define WITHOUT_ROOM 0xfffeu

/* What a lane, or a terminal that has not sent all of it yet, has of a packet. */
struct piece {
    uint32_t packet; /* its handle here; FW_NONE: nothing of it is here */
    uint32_t flits;  /* may be none: then there is what it holds alone */
    bool has_head;
    bool is_routed; /* the head, here */
};

/* ---- what all have in common ---- */

#define LANE_IDLE 0xffffu   /* input lane without a packet at its front */
#define LANE_WAITS 0xfffeu  /* its packet has no output lane yet */
#define LANE_ROUTED 0xfffdu /* and has not been tried, where that is told apart; lanes are below */
#define NOBODY 0xffffu      /* holds an output lane */

/* Refuses more lanes than their numbers can name. */
static inline void check_lanes(const struct network *network, const struct choice *self, struct errors *errors)
{
    if ((uint64_t)network->ports * network->num_vcs >= LANE_WAITS)
        choice_error(errors, self, "num_vcs", "%u virtual channels at each of %u ports are more than %u in all",
                     network->num_vcs, network->ports, LANE_WAITS - 1);
}

/* A router steps at a tick, unless it does so before: `step_at` is when it steps next, FW_NEVER where it sleeps. */
static inline void router_wake(struct engine *engine, uint32_t router, tick_t *step_at, tick_t when)
{
    if (when < *step_at) {
        *step_at = when;
        network_post_step(engine, EVENT_ROUTER_STEP, router, 0, when);
    }
}

/* One more output lane that the packet at the front of a lane waits for; `space` is that of its output queue. */
static inline void waiting_add(struct waiting *waiting, size_t output, uint16_t holder, uint32_t space)
{
    if (waiting->wanted_count == MAX_WANTED)
        return;
    waiting->holder[waiting->wanted_count] = holder;
    waiting->space[waiting->wanted_count] = space;
    waiting->wanted[waiting->wanted_count++] = (uint16_t)output;
}

/* For check_idle: nothing is in a lane, nobody holds it as an output, and its credits are back. */
static inline void lane_check_idle(uint32_t router, uint32_t lane, uint32_t flits, uint32_t owner, uint32_t credits,
                                   uint32_t depth)
{
    FW_CHECK(flits == 0, "router %u lane %u: %u flits are left at the end", router, lane, flits);
    FW_CHECK(owner == NOBODY, "router %u output lane %u: lane %u holds it at the end", router, lane, owner);
    FW_CHECK(credits == depth, "router %u output lane %u: %u of %u credits are back at the end", router, lane, credits,
             depth);
}

/* Rings have a power of two of places, so that a counter's low bits are the place. */
static inline uint32_t ring_mask_for(uint32_t depth)
{
    uint32_t size = 1;
    while (size < depth)
        size *= 2;
    return size - 1;
}

/* Gives the next part of a router's block of memory its place in it. */
static inline uint32_t block_place(size_t *size, size_t bytes, size_t alignment)
{
    *size = (*size + alignment - 1) / alignment * alignment;
    uint32_t at = (uint32_t)*size;
    *size += bytes;
    return at;
}

/*
 * Asks where a packet at the front of its lane may go. The answer, of `words` words, is left in `wants`; it must be some
 * of the lanes in `usable`.
 */
static inline __attribute__((always_inline)) void ask_route(const struct network *network, struct route *question,
                                                            uint32_t packet, bool from_router, uint64_t *wants,
                                                            const uint64_t *usable, uint32_t words, tick_t now)
{
    for (uint32_t w = 0; w < words; w++)
        wants[w] = 0;
    question->packet = network_packet(network, packet);
    question->packet->hops += from_router;
    question->draws = 0;
    question->vcs = wants;
    question->routing->route(question);
    uint64_t some = 0, wrong = 0;
    for (uint32_t w = 0; w < words; w++) {
        some |= wants[w];
        wrong |= wants[w] & ~usable[w];
    }
    FW_CHECK(some && !wrong, "tick %llu router %u: routing gives packet %u for terminal %u %s", (unsigned long long)now,
             question->router, packet, question->packet->destination, wrong ? "an unused port" : "nowhere to go");
}

static inline void trace_route(const struct network *network, const struct route *question, uint32_t lane, tick_t now)
{
    network_trace(network, now, question->router, "route", "from port %u vc %u, to terminal %u",
                  lane / network->num_vcs, lane % network->num_vcs, question->packet->destination);
}

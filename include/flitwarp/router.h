/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Routers: what an architecture does, what it may show of itself, and what all of them have in common: how far the packet
 * at the front of an input lane has come, and the question to the routing algorithm.
 */
#include "flitwarp/network.h"

struct lane_look;
struct shown_router;
struct piece;

/* What the routers of a part of the network have in common: an architecture's own struct begins with ROUTERS_HEAD. */
#define ROUTERS_HEAD                                                                                                   \
    struct network *network;                                                                                           \
    struct engine *engine;                                                                                             \
    struct congestion *congestion; /* to be told of the output lanes' queues; NULL: nobody looks */                    \
    struct output_stage *outputs;  /* of network/router/output_stage.h; NULL: there are no output queues */            \
    struct route question;         /* scratch: to the routing algorithm */                                             \
    uint32_t ports, num_vcs, lanes;                                                                                    \
    uint32_t words;     /* of a set of lanes */                                                                        \
    uint32_t ring_mask; /* of a place in an input lane's ring, where the architecture has such rings */                \
    uint64_t flit_hops  /* flits through routers so far: the architecture counts them */

/* The head of any architecture's struct. */
struct __attribute__((may_alias)) routers {
    ROUTERS_HEAD;
};

/* What a router architecture does. One object steps all routers of a partition. */
struct router_ops {
    COMPONENT_HEAD;
    bool serves_levels;  /* arbitrates between levels of service as network->service says; else they must be alike */
    bool is_in_one_part; /* it runs on one thread */
    size_t size;         /* of its own struct, zeroed but for its head before it is built */
    /* Turns the settings into the plan, num_vcs and buffer_depth at least, or adds errors. */
    void (*plan)(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
    /* Checks the settings against the network; optional. */
    void (*check)(const struct network *network, const struct choice *self, struct errors *errors);
    /* Makes the routers; nothing can be wrong any more. */
    void (*build)(void *routers, const void *config);
    /* Each part of the network has a copy of the struct: gives it scratch of its own; optional. */
    void (*share)(void *routers);
    event_handler *receive_flits;   /* struct flit_event */
    event_handler *receive_credits; /* struct credit_event, or credits_event */
    event_handler *step;            /* struct step_event */
    /* Where there are output queues (network/router/output_stage.h); else NULL. */
    event_handler *receive_room;   /* struct credit_event */
    event_handler *receive_queued; /* struct credit_event */
    event_handler *step_outputs;   /* struct step_event */

    /*
     * For those who look at routers from outside, between steps; all of it is optional. Of a lane what the struct asks
     * for, which is an empty lane's at first; with `shown`, the flits in its queues too, see flitwarp/shown.h.
     */
    void (*look)(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                 struct shown_router *shown);
    /* Flits that have left by an output lane, modulo 2^32; of all lanes they are asked for at once. */
    uint32_t (*lane_flits)(const void *routers, uint32_t router, uint32_t lane);
    /* After draining, of a router: FW_CHECKs what lanes alone do not tell. */
    void (*check_idle)(const void *routers, uint32_t router);
    /* For recovery from deadlock, see network/deadlock/deadlock.h; NULL: not with this router. What a lane has of a packet, by its
       source and sequence; and takes that out with all that it holds there, but for credits, which the caller sends. */
    struct piece (*find)(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
    void (*take_out)(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
    /*
     * With these, for failures at a time, see network/failures/outages.h. The packet that holds an output lane, or FW_NONE;
     * no packet takes an output lane of a port while it is closed, which is when none holds one; and packets in front that
     * have asked for their way and not taken it yet ask again.
     */
    uint32_t (*holder)(const void *routers, uint32_t router, uint32_t lane);
    void (*close)(void *routers, uint32_t router, uint32_t port, bool is_closed, tick_t now);
    void (*ask_again)(void *routers, uint32_t router, tick_t now);
};
#define REGISTER_ROUTER(ops) REGISTER_COMPONENT("router", ops)

/* An input lane and the output lane of the same number. */
struct lane_look {
    uint32_t packet;       /* at the front of the input lane; FW_NONE: it is empty */
    uint32_t flits, freed; /* in its buffer; of those, the ones whose place another may take already */
    uint32_t room;   /* flits that must fit into the output lane's queue, or behind its channel where it has none, for
                                the packet to go on; 0: it can, or the router does not say */
    uint32_t beyond; /* and that must fit behind the channel in any case */
    uint32_t turn;   /* its place among those that wait and may not be overtaken, from 1 on; 0: there is no order */
    uint16_t output; /* output lane that it holds, LANE_IDLE, LANE_WAITS or LANE_ROUTED */
    uint16_t owner;  /* input lane that holds the output lane, or NOBODY */
    const uint64_t *wants;   /* with LANE_WAITS: the output lanes that the packet may take; NULL: not known yet */
    bool is_full;            /* there is no room behind the output lane for a packet to begin, whoever holds it */
    uint32_t credits, depth; /* flits that there is room for behind the output lane, now and when all is idle */
    uint32_t queued, space;  /* flits in its output queue, and places that are left there */
    uint32_t ahead;    /* flits that must fit behind the channel for the first in the queue to leave; 0: it is empty */
    bool shares_queue; /* the places are those of all lanes of the port */
    bool port_holds;   /* the output lane is free again as soon as any lane of the owner's port has moved on */
};

/* The state of one input lane, for those who look for deadlock. */
struct waiting {
    uint32_t packet; /* at the front; FW_NONE: empty */
    uint32_t taken;  /* places of the lane's buffer */
    uint32_t turn;   /* as in struct lane_look */
    bool for_credit; /* holds `wanted[0]` and waits for room beyond it; else waits for an output lane */
    uint32_t wanted_count, wanted_room;
    struct wanted {
        uint16_t lane;   /* output lane of the same router */
        uint16_t holder; /* the input lane that holds it, HELD_BY_NOBODY, or WITHOUT_ROOM for a flit */
        /* What must fit behind the channel of a lane that it holds, or that nobody holds. 0: it can have that one, or the
           router does not say. It is never said to be stuck for that then, unless all stand still. */
        uint32_t need;
    } * wanted; /* owned; none while the packet is yet to be routed */
    /* What was seen of output lanes, kept from one question to the next in the same tick. */
    struct lane_look *outputs; /* owned, by lane */
    uint64_t *known;           /* owned: a set of lanes */
    uint32_t router;           /* whose they are */
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

static inline void router_wake(struct engine *engine, uint32_t router, tick_t *step_at, tick_t when)
{
    network_wake(engine, EVENT_ROUTER_STEP, router, step_at, when);
}

/*
 * Is a router's step that was posted for now to be done? Not if it has been woken earlier since. Then the step does not
 * count: whether it was posted depends on the order of what arrives in a tick.
 */
static inline bool router_is_due(struct engine *engine, tick_t *step_at, tick_t now)
{
    bool is_due = *step_at == now;
    if (is_due)
        *step_at = FW_NEVER;
    else
        engine->events--;
    return is_due;
}

/* Rings have a power of two of places, so that a counter's low bits are the place. */
static inline uint32_t ring_mask_for(uint32_t depth)
{
    uint32_t size = 1;
    while (size < depth)
        size *= 2;
    return size - 1;
}

/* The set of a router's output lanes that lead somewhere, from the network's arena. */
static inline uint64_t *router_usable(const struct network *network, uint32_t router)
{
    uint64_t *usable = arena_array(network->arena, uint64_t, words_for(network->ports * network->num_vcs));
    for (uint32_t port = 0; port < network->ports; port++)
        if (network_link(network, router, port)->target != FW_NONE && network_link(network, router, port)->carries_out)
            bits_add_range(usable, port * network->num_vcs, network->num_vcs);
    return usable;
}

/* The buffer of an input lane: a ring of flits, and where the credits of those that leave it go. `mask` is ring_mask. */
struct lane_buffer {
    struct flit *ring;
    uint16_t first, count; /* free-running; flits in it */
    uint16_t back_kind, back_lane;
    uint32_t back_target, back_latency;
};

static inline struct lane_buffer lane_buffer_make(const struct network *network, uint32_t router, uint32_t lane,
                                                  uint32_t mask)
{
    const struct link *link = network_link(network, router, lane / network->num_vcs);
    return (struct lane_buffer){
        .ring = arena_array(network->arena, struct flit, mask + 1),
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
        .back_lane = (uint16_t)link_lane(link, lane % network->num_vcs).lane,
        .back_target = link->target,
        .back_latency = link->latency,
    };
}

/* A flit that has come is stored; the buffer holds `depth` of them. */
static inline void lane_buffer_put(struct lane_buffer *buffer, const struct flit_event *event, uint32_t depth,
                                   uint32_t mask, tick_t now)
{
    FW_CHECK(buffer->count < depth, "tick %llu router %u lane %u: packet %u overruns the buffer",
             (unsigned long long)now, event->to.target, event->to.lane, event->flit.packet);
    buffer->ring[(buffer->first + buffer->count++) & mask] = event->flit;
}

static inline struct flit lane_buffer_front(const struct lane_buffer *buffer, uint32_t mask)
{
    return buffer->ring[buffer->first & mask];
}

/* The flit in front leaves, and gives its place back at `sent`. */
static inline struct flit lane_buffer_take(struct lane_buffer *buffer, uint32_t mask, struct network *network,
                                           tick_t sent)
{
    struct lane_place back = {.target = buffer->back_target, .lane = buffer->back_lane};
    send_credit(network, buffer->back_kind, back, sent + buffer->back_latency);
    buffer->count--;
    return buffer->ring[buffer->first++ & mask];
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
 * Asks where a packet at the front of an input lane may go. The answer, of `words` words, is left in `wants`; it must be some
 * of the lanes in `usable`.
 */
static inline __attribute__((always_inline)) void ask_route(const struct network *network, struct route *question,
                                                            uint32_t packet, uint32_t lane, bool from_router,
                                                            uint64_t *wants, const uint64_t *usable, uint32_t words,
                                                            tick_t now)
{
    for (uint32_t w = 0; w < words; w++)
        wants[w] = 0;
    question->packet = network_packet(network, packet);
    question->packet->hops += from_router;
    question->draws = 0;
    question->input_lane = lane;
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

/* The same by the routers' own question, whose struct begins with ROUTERS_HEAD; also told where the packet's walk is printed. */
static inline void route_packet(void *routers, uint32_t router, uint32_t packet, uint32_t lane, uint64_t *wants,
                                const uint64_t *usable, tick_t now)
{
    struct routers *q = routers;
    q->question.router = router;
    q->question.now = now;
    ask_route(q->network, &q->question, packet, lane, lane >= q->network->routing.local_ports * q->num_vcs, wants,
              usable, q->words, now);
    if (network_is_traced(q->network, packet))
        trace_route(q->network, &q->question, lane, now);
}

/* Tells of a flit that leaves by an output lane, where its packet's walk is printed. */
static inline void trace_leaving(const struct network *network, uint32_t router, struct flit flit, uint32_t output,
                                 tick_t now)
{
    if (network_is_traced(network, flit.packet))
        network_trace(network, now, router, "leave", "flit %u by port %u vc %u", flit.place & FLIT_POSITION,
                      output / network->num_vcs, output % network->num_vcs);
}

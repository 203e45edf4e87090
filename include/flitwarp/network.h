/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A built network: routers and interfaces joined by channels. Every effect of
 * one component on another travels over a channel of at least one tick as an
 * event, so the order in which components step within a tick cannot matter.
 *
 * Ports of a router: first those of its terminals (terminal_ports each), then
 * those to other routers in the topology's order. A lane is one VC of one port:
 * lane = port * num_vcs + vc. Input lanes have buffers; output lanes have
 * credits for the buffer at the other end.
 */
#include "flitwarp/engine.h"
#include "flitwarp/link.h"
#include "flitwarp/pool.h"
#include "flitwarp/routing.h"

struct flit_event {
    struct lane_place to;
    struct flit flit;
};
struct credit_event {
    struct lane_place to;
};
/* A credit where packets, or chunks of them, move whole (struct transfer): for all of its flits at once. */
struct credits_event {
    struct lane_place to;
    uint32_t flits;
    uint32_t unused;
};
struct step_event {
    uint32_t target;
    uint32_t port; /* of EVENT_OUTPUT_STEP */
};

/*
 * Levels of service. Each protocol class is of a level, and so each VC: the levels
 * share what they all need (channels, crossbars, sources) as the settings say. What
 * is between the VCs of one level stays the routers' arbiters' business.
 */
#define MAX_LEVELS 16
#define MAX_VCS 64 /* of a port */

enum level_arbitration { LEVELS_ALIKE, LEVELS_WEIGHTED, LEVELS_STRICT };

struct service {
    uint32_t levels;                    /* that are told apart in results; at least 1 */
    uint32_t groups;                    /* that are arbitrated: levels, or 1 where they are alike */
    enum level_arbitration arbitration; /* strict: level 0 goes first, then 1, ... */
    bool preempts;                      /* a packet is interrupted for one of a level before its own */
    uint32_t weights[MAX_LEVELS];       /* by level, at least 1 */
    uint8_t class_level[MAX_VCS];       /* by protocol class */
    uint8_t vc_group[MAX_VCS];          /* by VC */
    uint64_t group_vcs[MAX_LEVELS];     /* by group: its VCs at a port */
    uint64_t before[MAX_LEVELS];        /* by group: the VCs of groups before it, where arbitration is strict */
};

/* What a router says of itself before it is built: routing, terminals and neighbours need to know. All 0 at first. */
struct router_plan {
    uint32_t num_vcs;      /* of a port */
    uint32_t buffer_depth; /* flits that the buffer of a VC holds: the largest; link->depth is that of each channel */
    uint32_t buffer_min;   /* where they differ: flits of the smallest, and for each cycle of latency of the */
    double buffer_per_latency;  /* channel that fills it; 0: all have buffer_depth */
    uint32_t room_exclusive;    /* the VCs of a port share its buffer: flits that are each one's own; 0: they do not */
    uint32_t room_maximum;      /* and that it may have at most, as far as the others leave them */
    uint32_t credit_flits;      /* that a credit of a shared buffer stands for: packets take whole ones; 0: one */
    uint32_t max_packet;        /* the largest that it can carry, in flits; 0: any */
    const char *max_packet_key; /* the setting that limits it */
    struct transfer transfer;
    bool takes_packets;              /* by itself from their sources: see network_next_packet() */
    bool looks_ahead;                /* at routers beside its own: ranks build all of them */
    const char *one_part_key;        /* the setting for which it steps the whole network on one thread; NULL: none */
    bool queues_by_output;           /* packets in a buffer wait for their output alone, not for those before them */
    bool reserves_packet;            /* a packet enters a buffer only when there is room for all of it */
    tick_t lead;                     /* ticks that pass at least before what a step sends enters a channel */
    const struct choice *congestion; /* sensors of its outputs; NULL: it has none */
    uint32_t output_depth; /* flits of a lane's output queue, for them: 0 without queues, ENDLESS without an end */
};

/* Who hears of the packets of a network: the workload. */
struct network_listener {
    void *context;
    /* Flits enter the network, towards a router's input lane. Told only where network->is_watched. */
    void (*enter)(void *context, tick_t now, const struct packet *packet, struct lane_place to, uint32_t flits);
    /* Flits have arrived that are not their packet's last. */
    void (*accept)(void *context, tick_t now, const struct packet *packet, uint32_t flits);
    /* A packet's last flit has arrived; the packet is gone afterwards. */
    void (*deliver)(void *context, tick_t now, uint32_t packet);
};

/*
 * What components see of a network. It is run in parts, one for each thread of each rank: a part is a copy of this
 * struct. What is built is shared, each router and terminal is touched by one part only, and a part has its own engine,
 * packets and counters.
 */
struct network {
    struct engine *engine;    /* borrowed */
    struct arena *arena;      /* borrowed: holds all built state */
    struct pool packets;      /* owned */
    struct topology topology; /* of all planes; routing.topology is that of one */
    struct routing routing;
    struct service service;
    uint64_t seed;
    struct router_plan plan;       /* as the router has made it */
    bool is_for_device;            /* a device will run it, which copies the memory of routers as it is, */
    size_t device_bytes;           /* and for which they have so much more */
    uint32_t num_vcs;              /* plan.num_vcs */
    uint32_t ports;                /* of a router, terminals' included */
    const struct link *links;      /* by router * ports + port */
    tick_t channel_latency;        /* of all channels between routers; 0: they differ */
    tick_t channel_cycle;          /* the same */
    tick_t terminal_latency;       /* of all channels of terminals; 0: they differ */
    tick_t terminal_cycle;         /* of all channels of terminals */
    uint64_t *delivers;            /* the set of all routers from which a channel leads to a terminal */
    uint32_t plane_count;          /* of routers, with all terminals on each */
    uint32_t terminal_ports;       /* of each terminal, in each plane, */
    uint32_t injection_channels;   /* and of those, the ones that lead to the router */
    struct congestion *congestion; /* sensors of the routers' outputs; NULL: nobody looks */

    struct network_listener listener;
    uint64_t in_network; /* packets whose head has entered here, less those whose tail has arrived here, modulo 2^64 */
    bool is_watched;     /* somebody wants to know of every flit that enters: a log, or a packet's walk */
    FILE *trace_out;     /* NULL unless a packet's walk is printed */
    uint32_t traced;     /* that packet's handle; FW_NONE before it is made and after it has arrived */

    uint32_t part;                 /* this one */
    const uint16_t *router_part;   /* by router; NULL: there is one part */
    const uint16_t *terminal_part; /* by terminal: that of the router where its packets enter, in one of the planes */
    /*
     * The same for flits, which do not just arrive where they have to go to another part, or may come by a channel with errors:
     * routers that have such channels are in no part here. NULL: all flits just arrive.
     */
    const uint16_t *flit_router_part, *flit_terminal_part;
    struct retries *retries; /* of channels with errors, in src/network/failures/retries.h; NULL: there are none */
    /*
     * What this rank builds: the routers and terminals that it runs are among these, and what is known of any others by
     * number stays 0, in memory that nobody has touched. All of them where there is one rank.
     */
    uint32_t first_router, end_router, first_terminal, end_terminal;
    struct network_core *core; /* the network's own, in src/network/network.h */
};

static inline struct packet *network_packet(const struct network *network, uint32_t handle)
{
    return pool_at(&network->packets, handle, sizeof(struct packet));
}

static inline const struct link *network_link(const struct network *network, uint32_t router, uint32_t port)
{
    return &network->links[(size_t)router * network->ports + port];
}

/* Is this the packet whose walk is printed? */
static inline bool network_is_traced(const struct network *network, uint32_t packet)
{
    return __builtin_expect(network->trace_out != NULL, 0) && packet == network->traced;
}

#include "flitwarp/packet_queue.h"

/* A component's step, of one port where it has several. */
static inline void network_post_step(struct engine *engine, uint32_t kind, uint32_t target, uint32_t port, tick_t when)
{
    struct step_event *event = engine_post(engine, kind, when, sizeof *event);
    *event = (struct step_event){.target = target, .port = port};
}

/* A component steps at a tick, unless it does so before: `step_at` is when it steps next, FW_NEVER where it sleeps. */
static inline void network_wake(struct engine *engine, uint32_t kind, uint32_t target, tick_t *step_at, tick_t when)
{
    if (when < *step_at) {
        *step_at = when;
        network_post_step(engine, kind, target, 0, when);
    }
}

/* Flits of a buffer that so many of a packet take: whole credits. */
static inline uint32_t network_room_for(const struct network *network, uint32_t flits)
{
    uint32_t credit = network->plan.credit_flits;
    return credit > 1 ? (flits + credit - 1) / credit * credit : flits;
}

/* Does a router's link lead to another part of the network? */
static inline bool network_crosses(const struct network *network, uint32_t router, const struct link *link)
{
    const uint16_t *owner = link->to_terminal ? network->terminal_part : network->router_part;
    return owner && link->target != FW_NONE && owner[link->target] != network->router_part[router];
}

/* Is a place in another part of the network? */
static inline bool network_is_elsewhere(const struct network *network, uint32_t kind, struct lane_place to)
{
    bool is_terminal = kind == EVENT_TERMINAL_FLIT || kind == EVENT_TERMINAL_CREDIT;
    return (is_terminal ? network->terminal_part : network->router_part)[to.target] != network->part;
}

/* May a flit not just arrive there? */
static inline bool network_takes_way(const struct network *network, uint32_t kind, struct lane_place to)
{
    return (kind == EVENT_TERMINAL_FLIT ? network->flit_terminal_part : network->flit_router_part)[to.target] !=
           network->part;
}

/* A terminal's first lane at a router of a plane: where its packets enter there, and where those to it leave. */
struct lane_place network_entry(const struct network *network, uint32_t plane, uint32_t terminal);
struct lane_place network_exit(const struct network *network, uint32_t plane, uint32_t terminal);

/*
 * For a router that takes packets by itself, which steps in the tick in which a packet is made at its terminal: the first
 * one that waits there; FW_NONE: there is none.
 */
uint32_t network_next_packet(struct network *network, uint32_t terminal);

/*
 * To another part: a flit or chunk, with its packet if it is the head, or credits, 0: a plain one. See network/parallel/parts.h.
 * Also a flit to this part that may have come by a channel with errors: see network/failures/retries.h.
 */
void network_export_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                         tick_t arrival);
void network_export_credits(struct network *network, uint32_t kind, struct lane_place to, uint32_t flits,
                            tick_t arrival);

/* Sends a flit to a place. */
static inline void send_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                             tick_t arrival)
{
    if (__builtin_expect(network->flit_router_part != NULL, 0) && network_takes_way(network, kind, to)) {
        network_export_flit(network, kind, to, flit, arrival);
        return;
    }
    struct flit_event *event = engine_post(network->engine, kind, arrival, sizeof *event);
    *event = (struct flit_event){.to = to, .flit = flit};
}

/* Gives a place in a buffer back. */
static inline void send_credit(struct network *network, uint32_t kind, struct lane_place to, tick_t arrival)
{
    if (__builtin_expect(network->router_part != NULL, 0) && network_is_elsewhere(network, kind, to)) {
        network_export_credits(network, kind, to, 0, arrival);
        return;
    }
    struct credit_event *event = engine_post(network->engine, kind, arrival, sizeof *event);
    *event = (struct credit_event){.to = to};
}

/* The same for the whole place of a chunk. */
static inline void send_credits(struct network *network, uint32_t kind, struct lane_place to, uint32_t flits,
                                tick_t arrival)
{
    if (__builtin_expect(network->router_part != NULL, 0) && network_is_elsewhere(network, kind, to)) {
        network_export_credits(network, kind, to, flits, arrival);
        return;
    }
    struct credits_event *event = engine_post(network->engine, kind, arrival, sizeof *event);
    *event = (struct credits_event){.to = to, .flits = flits};
}

/* What lies behind a port of any router, also of one that this rank does not build: its terminals are not told there. */
struct link network_find_link(const struct network *network, uint32_t router, uint32_t port);

/*
 * A chunk comes to a router by a channel of this cycle: ticks that its first flit waits for each flit behind it until
 * the router is told. None where the chunk can be cut through, since no channel that leaves is faster; up to the
 * cycle where it is stored. So a chunk never leaves before it is there, and never keeps a channel idle.
 */
uint32_t network_lag(const struct network *network, uint32_t router, uint32_t cycle);

/* Prints one line of the traced packet's walk. */
void network_trace(const struct network *network, tick_t now, uint32_t router, const char *stage, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

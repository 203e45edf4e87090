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
#include "flitwarp/pool.h"
#include "flitwarp/routing.h"
#include "flitwarp/service.h"

#define FLIT_HEAD 0x80000000u
#define FLIT_TAIL 0x40000000u
#define FLIT_POSITION 0x3fffffffu

struct flit {
    uint32_t packet; /* handle in network->packets */
    uint32_t place;  /* FLIT_HEAD, FLIT_TAIL and the position in the packet */
};

/* The kinds of events, in the order in which they are handled within a tick. */
enum network_event {
    EVENT_FLIT,            /* a flit arrives at a router */
    EVENT_CREDIT,          /* a credit arrives at a router */
    EVENT_ROOM,            /* an output queue of a router has room again */
    EVENT_QUEUED,          /* a flit has crossed a router into its output queue */
    EVENT_TERMINAL_FLIT,   /* a flit arrives at an interface */
    EVENT_TERMINAL_CREDIT, /* a credit arrives at an interface */
    EVENT_MESSAGE,         /* a whole message is there for its application */
    EVENT_WAKE,            /* an application's timer at a terminal */
    EVENT_INTERFACE_STEP,
    EVENT_ROUTER_STEP,
    EVENT_OUTPUT_STEP, /* an output port sends */
};

/* Where an event arrives. */
struct lane_place {
    uint32_t target; /* router or terminal */
    uint32_t lane;
};
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

/* The far end of a port, for flits going out and for credits going back alike. */
struct link {
    uint32_t target;     /* router or terminal; NONE: the port is unused */
    uint16_t first_lane; /* of the port at the far end */
    uint16_t cycle;      /* ticks between two flits */
    uint32_t latency;    /* ticks, at least 1 */
    uint32_t depth;      /* flits that the buffer of each VC holds, at either end where there are routers */
    bool to_terminal : 1;
    bool carries_out : 1; /* flits may leave through it (a terminal may have fewer ejection channels than ports) */
    bool carries_in : 1;  /* flits may come from the terminal behind it */
};

enum on_deadlock { DEADLOCK_REPORT, DEADLOCK_RECOVER };

struct network_config {
    struct choice topology, routing, router, interface;
    uint32_t protocol_classes;
    struct service_config {
        struct u32_list levels, weights;
        uint32_t arbitration; /* enum level_arbitration */
        bool preemption;
    } service;
    uint32_t flit_bytes;
    uint32_t deadlock; /* enum on_deadlock */
    uint64_t deadlock_interval;
    struct channel_config {
        uint64_t latency, cycle;
        double bandwidth;       /* bytes a tick; 0: as cycle says */
        struct u64_list cycles; /* by the topology's class of channel; empty: cycle is for all */
        struct f64_list bandwidths;
        struct u64_list latencies; /* by the topology's class of channel */
        struct cable_config {
            double per_metre; /* ticks */
            const char *plan; /* NULL: cables have no length */
        } cable;
    } channel;
    struct terminal_channel_config {
        uint64_t latency, cycle;
        double bandwidth;
    } terminal_channel;
    struct planes_config {
        uint32_t count;
        uint32_t rails; /* 0: as the interface says for each plane */
        uint32_t order;
        struct choice selection;
    } planes;
};
extern const struct option network_options[];

struct network;
struct selection;
struct exchange;
struct ranks;
struct waiting;
struct shown_router;
struct piece;

/*
 * What moves at once, and when a router hears of it. Where it is more than a flit, an event that has `struct flit`
 * stands for a chunk whose first flit that is, and credits are struct credits_event.
 */
struct transfer {
    uint32_t chunk; /* flits at most; 0: flits move one by one */
    bool stores;    /* a router is told when the last flit is there, else as soon as the first may go on */
    uint64_t delay; /* ticks after that, which it spends in the router before it can leave */
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
    bool reserves_packet; /* a packet enters a buffer only when there is room for all of it */
    tick_t lead;          /* ticks that pass at least before what a step sends enters a channel */
};

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
    /* After draining: CHECKs that every buffer is empty and every credit back. */
    void (*check_idle)(void *routers);
    /* For deadlock reports: what the packet at the front of an input lane waits for; false: the lane is empty. See
       network/deadlock/wait_graph.h. */
    bool (*waits_for)(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting);
    /* For the viewer: what is in its buffers; see flitwarp/shown.h. */
    void (*show)(const void *routers, uint32_t router, struct shown_router *shown);
    /* For recovery from deadlock, see network/deadlock/recovery.h; NULL: not with this router. What a lane has of a packet, by its
       source and sequence; and takes that out with all that it holds there, but for credits, which the caller sends. */
    struct piece (*find)(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
    void (*take_out)(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
};

#define MAX_WANTED 64

/* The state of one input lane, for those who look for deadlock. */
struct waiting {
    uint32_t packet; /* at the front; NONE: empty */
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
    uint32_t packet; /* its handle here; NONE: nothing of it is here */
    uint32_t flits;  /* may be none: then there is what it holds alone */
    bool has_head;
    bool is_routed; /* the head, here */
};

struct interface_ops {
    COMPONENT_HEAD;
    uint32_t (*injection_channels)(const void *config);
    uint32_t (*ejection_channels)(const void *config);
    void *(*build)(struct network *network, const struct choice *self, struct errors *errors);
    void *(*share)(const void *interfaces, struct network *part); /* as a router's */
    event_handler *receive_flits;
    event_handler *receive_credits;
    event_handler *step;
    /* Puts a packet into the source queue of its terminal. */
    void (*enqueue)(void *interfaces, uint32_t packet);
    /* Removes packets of this part's terminals that have not begun to enter the network; returns how many. */
    uint64_t (*withdraw)(void *interfaces, void (*withdrawn)(void *context, uint32_t packet), void *context);
    /* As a router's: what a terminal has not sent yet of a packet that it sends, and gives up sending it. */
    struct piece (*find)(void *interfaces, uint32_t source, uint32_t sequence);
    void (*take_out)(void *interfaces, uint32_t packet, tick_t now);
    void (*check_idle)(void *interfaces);
};
#define REGISTER_INTERFACE(ops) REGISTER_COMPONENT("interface", ops)

/* A timer of an application at a terminal. Where several applications share terminals the order is theirs. */
struct wake_event {
    struct event_key key; /* destination: terminal, source: application, sequence: rank */
    uint32_t rank;
};

/* A message that has arrived. Those of one tick and terminal come in the order of their sources and numbers. */
struct message_event {
    struct event_key key; /* destination and source: terminals, sequence: the message's number */
    uint32_t message;     /* handle */
};

/* Who uses the network: the workload. */
struct network_client {
    void *context;
    event_handler *receive; /* struct message_event */
    event_handler *wake;    /* struct wake_event */
    bool wakes_are_ordered; /* several ranks at a terminal: its timers go off in the order of applications and ranks */
    /* Flits enter the network, towards a router's input lane. Told only where network->is_watched. */
    void (*enter)(void *context, tick_t now, const struct packet *packet, struct lane_place to, uint32_t flits);
    /* Flits have arrived that are not their packet's last. */
    void (*accept)(void *context, tick_t now, const struct packet *packet, uint32_t flits);
    /* A packet's last flit has arrived; the packet is gone afterwards. */
    void (*deliver)(void *context, tick_t now, uint32_t packet);
    /* A packet with a message leaves for another part of the network: writes what belongs to it, BELONGINGS bytes. */
    void (*pack)(void *context, const struct packet *packet, void *belongings);
    /* And arrives there. */
    void (*unpack)(void *context, struct packet *packet, const void *belongings);
};
#define BELONGINGS sizeof(struct message)

/*
 * A network is run in parts, one for each thread of each rank. A part is a copy of this struct: what is built is shared,
 * each router and terminal is touched by one part only, and a part has its own engine, packets and counters.
 */
struct network {
    struct engine *engine;    /* borrowed */
    struct arena *arena;      /* borrowed: holds all built state */
    size_t bytes;             /* of what was built, in one part */
    struct pool packets;      /* owned */
    struct topology topology; /* of all planes; routing.topology is that of one */
    struct routing routing;
    struct service service;
    uint32_t plane_count;
    struct planes *planes;       /* network/planes.h; NULL: there is one, and nobody needs to ask which */
    struct selection *selection; /* of planes; NULL with them */
    const struct network_config *config;
    uint64_t seed;
    struct router_plan plan;                        /* as the router has made it */
    uint32_t num_vcs;                               /* plan.num_vcs */
    uint32_t ports;                                 /* of a router, terminals' included */
    uint32_t terminal_ports;                        /* of each terminal, in each plane */
    uint32_t injection_channels, ejection_channels; /* the same */
    tick_t channel_latency;                         /* of all channels between routers; 0: they differ */
    tick_t channel_cycle;                           /* the same */
    tick_t terminal_latency;                        /* of all channels of terminals; 0: they differ */
    struct link *links;                             /* by router * ports + port */
    const uint32_t *terminal_router;                /* by plane * terminals + terminal: where its packets enter */
    const uint16_t *terminal_slot;                  /* its place at that router */
    const uint32_t *ejection_router;                /* where packets to it leave: nearly always the same arrays */
    const uint16_t *ejection_slot;
    const uint16_t *coordinates; /* by router of a plane * dimensions + dimension; NULL without a grid */
    uint16_t *distances;         /* by pair of routers of a plane; NULL where the topology knows its distances */

    const struct router_ops *router_ops;
    void *routers;
    const struct interface_ops *interface_ops;
    void *interfaces;

    struct network_client client;
    uint64_t in_network; /* packets whose head has entered here, less those whose tail has arrived here, modulo 2^64 */

    uint32_t part;                 /* this one */
    uint32_t part_count;           /* of this rank */
    struct network **parts;        /* those of this rank */
    uint32_t first_part;           /* the number of the first of them */
    uint32_t all_parts;            /* of all ranks */
    const uint16_t *router_part;   /* by router; NULL: there is one part */
    const uint16_t *terminal_part; /* by terminal: that of the router where its packets enter, in one of the planes */
    struct exchange *exchange;     /* with the other parts; NULL: there are none */

    bool is_watched; /* somebody wants to know of every flit that enters: a log, or a packet's walk */
    FILE *trace_out; /* NULL unless a packet's walk is printed */
    uint32_t traced; /* that packet's handle; NONE before it is made and after it has arrived */
};

static inline struct packet *network_packet(const struct network *network, uint32_t handle)
{
    return pool_at(&network->packets, handle, sizeof(struct packet));
}

static inline const struct link *network_link(const struct network *network, uint32_t router, uint32_t port)
{
    return &network->links[(size_t)router * network->ports + port];
}

/* The far end of one VC of a link. */
static inline struct lane_place link_lane(const struct link *link, uint32_t vc)
{
    return (struct lane_place){.target = link->target, .lane = link->first_lane + vc};
}

/* Flits of a buffer that so many of a packet take: whole credits. */
static inline uint32_t network_room_for(const struct network *network, uint32_t flits)
{
    uint32_t credit = network->plan.credit_flits;
    return credit > 1 ? (flits + credit - 1) / credit * credit : flits;
}

/* Flits of the chunk that begins at a position. */
static inline uint32_t transfer_flits(const struct transfer *transfer, const struct packet *packet, uint32_t position)
{
    uint32_t left = packet->size - position;
    return left < transfer->chunk ? left : transfer->chunk;
}

/* The name of a chunk of so many flits. */
static inline struct flit transfer_unit(const struct packet *packet, uint32_t handle, uint32_t position, uint32_t flits)
{
    uint32_t ends = (position == 0 ? FLIT_HEAD : 0) | (position + flits == packet->size ? FLIT_TAIL : 0);
    return (struct flit){.packet = handle, .place = position | ends};
}

/* Does a router's link lead to another part of the network? */
static inline bool network_crosses(const struct network *network, uint32_t router, const struct link *link)
{
    const uint16_t *owner = link->to_terminal ? network->terminal_part : network->router_part;
    return owner && link->target != NONE && owner[link->target] != network->router_part[router];
}

/* Is a place in another part of the network? */
static inline bool network_is_elsewhere(const struct network *network, uint32_t kind, struct lane_place to)
{
    bool is_terminal = kind == EVENT_TERMINAL_FLIT || kind == EVENT_TERMINAL_CREDIT;
    return (is_terminal ? network->terminal_part : network->router_part)[to.target] != network->part;
}

/* To another part: a flit or chunk, with its packet if it is the head, a credit, or credits. See network/parallel/parts.h. */
void network_export_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                         tick_t arrival);
void network_export_credit(struct network *network, uint32_t kind, struct lane_place to, tick_t arrival);
void network_export_credits(struct network *network, uint32_t kind, struct lane_place to, uint32_t flits,
                            tick_t arrival);

/* Sends a flit to a place. */
static inline void send_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                             tick_t arrival)
{
    if (__builtin_expect(network->router_part != NULL, 0) && network_is_elsewhere(network, kind, to)) {
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
        network_export_credit(network, kind, to, arrival);
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

/*
 * A chunk comes to a router by a channel of this cycle: ticks that its first flit waits for each flit behind it until
 * the router is told. None where the chunk can be cut through, since no channel that leaves is faster; up to the
 * cycle where it is stored. So a chunk never leaves before it is there, and never keeps a channel idle.
 */
uint32_t network_lag(const struct network *network, uint32_t router, uint32_t cycle);

/* The plane of a router. */
static inline uint32_t network_plane(const struct network *network, uint32_t router)
{
    return network->planes ? router / network->routing.topology->routers : 0;
}

/* Channels on a shortest way between two routers, by their numbers in the plane. */
static inline uint32_t network_distance(const struct network *network, uint32_t from, uint32_t to)
{
    const struct topology *topology = network->routing.topology;
    const struct grid *grid = topology->grid;
    if (!grid)
        return network->distances ? network->distances[(size_t)from * topology->routers + to]
                                  : topology->ops->distance(topology, from, to);
    const uint16_t *a = network->coordinates + (size_t)from * grid->dimensions;
    const uint16_t *b = network->coordinates + (size_t)to * grid->dimensions;
    uint32_t hops = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t apart = (uint32_t)(a[d] > b[d] ? a[d] - b[d] : b[d] - a[d]);
        if (grid->wraps && grid->width[d] - apart < apart)
            apart = grid->width[d] - apart;
        hops += apart;
    }
    return hops;
}

/* Channels on a shortest way from one terminal to another in a plane. */
static inline uint32_t network_hops_between(const struct network *network, uint32_t plane, uint32_t source,
                                            uint32_t destination)
{
    uint32_t first = plane * network->routing.topology->routers;
    size_t terminals = plane * (size_t)network->topology.terminals;
    return network_distance(network, network->terminal_router[terminals + source] - first,
                            network->ejection_router[terminals + destination] - first);
}

/*
 * Makes the sensors that a router's setting asks for. NULL where routing is not adaptive, so that nobody would look at
 * them, and with errors. The output depth is that of a lane: 0 without output queues, ENDLESS without an end.
 */
struct congestion *network_sense(const struct network *network, const struct choice *sensor, uint32_t output_depth,
                                 struct errors *errors);

/* Prints one line of the traced packet's walk. */
void network_trace(const struct network *network, tick_t now, uint32_t router, const char *stage, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

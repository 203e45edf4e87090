/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Building a network from its settings, and taking it down. */
#include "engine/engine.h"
#include "flitwarp/interface.h"

struct exchange;
struct network_split; /* network/parallel/parts.h */
struct planes;
struct ranks;

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
    struct network_listener listener; /* its context is everybody's */
    event_handler *receive;           /* struct message_event */
    event_handler *wake;              /* struct wake_event */
    bool wakes_are_ordered; /* several ranks at a terminal: its timers go off in the order of applications and ranks */
    /* A packet with a message leaves for another part of the network: writes what belongs to it, BELONGINGS bytes. */
    void (*pack)(void *context, const struct packet *packet, void *belongings);
    /* And arrives there. */
    void (*unpack)(void *context, struct packet *packet, const void *belongings);
};
#define BELONGINGS sizeof(struct message)

/* What is nobody's business but the network's own, and of those who build it and look at it; of each part. */
struct network_core {
    const struct network_config *config;
    size_t bytes;                /* of what was built, in one part */
    struct planes *planes;       /* network/planes.h; NULL: there is one, and nobody needs to ask which */
    struct selection *selection; /* of planes; NULL with them */
    struct rails rails;
    const uint32_t *terminal_router; /* by plane * terminals + terminal: where its packets enter */
    const uint16_t *terminal_slot;   /* its place at that router */
    const uint32_t *ejection_router; /* where packets to it leave: nearly always the same arrays */
    const uint16_t *ejection_slot;
    const uint16_t *coordinates; /* by router of a plane * dimensions + dimension; NULL without a grid */
    uint16_t *distances;         /* by pair of routers of a plane; NULL where the topology knows its distances */

    const struct router_ops *router_ops;
    void *routers;
    const struct interface_ops *interface_ops;
    void *interfaces;
    struct network_client client;

    uint32_t part_count;       /* of this rank */
    struct network **parts;    /* those of this rank */
    uint32_t first_part;       /* the number of the first of them */
    uint32_t all_parts;        /* of all ranks */
    struct exchange *exchange; /* with the other parts; NULL: there are none */
};

/* The topology that the settings choose; false, with errors added, when they are wrong. */
bool topology_init(struct topology *topology, const struct choice *choice, struct arena *arena, struct errors *errors);

/*
 * Builds routers, interfaces and the links between them, and registers their
 * events with the engine. False, with errors added, when the settings do not fit
 * together. The config must outlive the network.
 */
bool network_build(struct network *network, const struct network_config *config, struct engine *engine,
                   struct arena *arena, uint64_t seed, const struct network_split *split, struct errors *errors);
/* Joins the workload to the network and registers all events with the engine; once, after building. */
void network_connect(struct network *network, const struct network_client *client);
void network_release(struct network *network);
/* Takes back all packets of a part's terminals that have not begun to enter the network. */
void network_withdraw(struct network *part, void (*withdrawn)(void *context, uint32_t packet), void *context);

/* What routers show of themselves, see struct lane_look; nothing where they do not. */
static inline uint64_t network_flit_hops(const struct network *part)
{
    return ((const struct routers *)part->core->routers)->flit_hops;
}
uint32_t network_lane_flits(const struct network *network, uint32_t router, uint32_t lane);
/* That of all lanes, each `lanes` of them added up, by router: num_vcs for ports. */
void network_count_flits(const struct network *network, uint32_t lanes, uint32_t *counts);
/* What the packet at the front of an input lane waits for; false: the lane is empty. */
bool network_waits_for(const struct network *part, uint32_t router, uint32_t lane, struct waiting *waiting);

/* Every buffer empty and every credit back; FW_CHECKs. */
void network_check_idle(struct network *network);

/* "(3,1)" on a grid, "7" elsewhere; of several planes "p1:(3,1)", "p1:7". */
const char *network_router_name(const struct network *network, uint32_t router, char *buffer, size_t size);

/* The plane of a router. */
static inline uint32_t network_plane(const struct network *network, uint32_t router)
{
    return network->core->planes ? router / network->routing.topology->routers : 0;
}

/* Channels on a shortest way between two routers, by their numbers in the plane. */
static inline uint32_t network_distance(const struct network *network, uint32_t from, uint32_t to)
{
    const struct topology *topology = network->routing.topology;
    const struct grid *grid = topology->grid;
    if (!grid)
        return network->core->distances ? network->core->distances[(size_t)from * topology->routers + to]
                                        : topology->ops->distance(topology, from, to);
    const uint16_t *a = network->core->coordinates + (size_t)from * grid->dimensions;
    const uint16_t *b = network->core->coordinates + (size_t)to * grid->dimensions;
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
    return network_distance(network, network->core->terminal_router[terminals + source] - first,
                            network->core->ejection_router[terminals + destination] - first);
}

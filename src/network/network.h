/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Building a network from its settings, and taking it down. */
#include "engine/engine.h"
#include "flitwarp/interface.h"
#include "network/failures/failures.h"

struct exchange;
struct network_split; /* network/parallel/parts.h */
struct planes;
struct outages;
struct routing_ports;
struct ranks;
struct json;
struct shown_router;

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
        struct chip_config {
            uint32_t row; /* routers; 0: no chip */
            struct u32_list tile;
        } chip;
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
    struct failures_config failures;
};
extern const struct option network_options[], channel_options[], terminal_channel_options[], service_options[],
    planes_options[];

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
    /* A packet is lost where it was made, since its destination is cut off; it is gone afterwards. */
    void (*lose)(void *context, tick_t now, const struct packet *packet);
    /* A packet with a message leaves for another part of the network: writes what belongs to it, BELONGINGS bytes. */
    void (*pack)(void *context, const struct packet *packet, void *belongings);
    /* And arrives there. */
    void (*unpack)(void *context, struct packet *packet, const void *belongings);
};
#define BELONGINGS sizeof(struct message)

struct network_totals;

/*
 * Somebody who runs a network in place of its engine, as a device does (src/device). What is measured is put into the
 * workload's own measurements when it is asked for: enum result_moment.
 */
struct network_runner {
    void (*run)(struct network_runner *runner, tick_t last);
    tick_t (*reached)(
        struct network_runner *runner); /* the tick before which it has run, sooner where it is interrupted */
    tick_t (*next)(struct network_runner *runner);
    void (*count)(struct network_runner *runner, struct network_totals *totals);
    bool (*is_about_to_move)(struct network_runner *runner);
    void (*gather)(struct network_runner *runner, uint32_t application, uint32_t moment);
    /* Brings what routers and terminals have into the network's own memory, for those who look; packets too, or not. */
    void (*bring)(struct network_runner *runner, bool with_packets);
    void (*withdraw)(struct network_runner *runner);
    /* After draining: whether routers are as they were, so that nobody need look at each. */
    bool (*is_idle)(struct network_runner *runner);
    /* What network_count_flits() tells. */
    void (*count_flits)(struct network_runner *runner, uint32_t lanes, uint32_t *counts);
    void (*drop_timers)(struct network_runner *runner); /* of applications, which do nothing any more */
};

/* What the latencies of a network's channels follow from. */
struct channel_latencies {
    const struct topology *topology;
    const struct network_config *config;
    const double *places;        /* in metres, by router * 3 + axis; NULL: cables have no length */
    const struct failures *slow; /* where links are slow; NULL: nowhere */
};

/* What is nobody's business but the network's own, and of those who build it and look at it; of each part. */
struct network_core {
    const struct network_config *config;
    struct channel_latencies latencies;
    size_t bytes;                /* of what was built, in one part */
    struct failures *failures;   /* NULL: nothing fails */
    struct outages *outages;     /* network/failures/outages.h; NULL: nothing fails at a time */
    struct planes *planes;       /* see below; NULL: there is one, and nobody needs to ask which */
    struct selection *selection; /* of planes; NULL with them */
    struct rails rails;
    const uint32_t *terminal_router; /* by plane * terminals + terminal: where its packets enter */
    const uint16_t *terminal_slot;   /* its place at that router */
    const uint32_t *ejection_router; /* where packets to it leave: nearly always the same arrays */
    const uint16_t *ejection_slot;
    const uint16_t *
        coordinates; /* by router of a plane * dimensions + dimension, on grids; NULL where nobody asks for distances */
    uint16_t *distances;        /* by pair of routers of a plane; NULL where the topology knows its distances */
    uint16_t **plane_distances; /* the same by plane, where failures make planes differ; else NULL */

    const struct router_ops *router_ops;
    void *routers;
    const struct interface_ops *interface_ops;
    const struct interface_ops *sender; /* the same, where those loses what cannot be sent */
    void *interfaces;
    struct network_client client;
    struct network_runner *runner; /* borrowed; NULL: its engine runs it */

    uint32_t part_count;       /* of this rank */
    struct network **parts;    /* those of this rank */
    uint32_t first_part;       /* the number of the first of them */
    uint32_t all_parts;        /* of all ranks */
    struct exchange *exchange; /* with the other parts; NULL: there are none */
};

/* A block of the network's settings in the document, for errors; all of them where it is not there. */
const struct json *network_node(const struct network_config *config, const char *block);

/* Takes what the settings say has failed from the topology of all planes; false, with errors. */
bool network_damage(struct network *network, struct errors *errors);
/* Slow links must have a whole number of ticks between two flits; false, with errors. */
bool failures_check_slow(const struct failures *failures, const struct channel_latencies *latencies,
                         const struct json *node, struct errors *errors);

/* Where something has failed: is there a way between two terminals, in a plane or in any? */
bool network_joins_in(const struct network *network, uint32_t plane, uint32_t source, uint32_t destination);
bool network_joins(const struct network *network, uint32_t source, uint32_t destination);
/* Of all ordered pairs of these terminals those without a way; the first of them, or one for each two parts. */
#define CUT_OFF_SHOWN 3
struct cut_off_pairs {
    uint64_t pairs, all;
    uint32_t shown;
    uint32_t sources[CUT_OFF_SHOWN], destinations[CUT_OFF_SHOWN];
};
struct cut_off_pairs network_cut_off(const struct network *network, const struct u32_list *terminals);
/* Of links of a class, 0 where there are none: those that are dead or slow from the start on, and all. */
struct link_counts {
    uint64_t dead, slow, all;
};
struct link_counts failures_count_links(const struct failures *failures, const struct topology *left, uint32_t class);
/* Terminals that are dead, or have a dead router in every plane. */
uint32_t network_dead_terminals(const struct network *network);
/* From now on packets without a way are lost, where the settings say so. */
void network_lose_cut_off(struct network *network);

/* The topology that the settings choose; false, with errors added, when they are wrong. */
bool topology_init(struct topology *topology, const struct choice *choice, struct arena *arena, struct errors *errors);

/*
 * Builds routers, interfaces and the links between them; network_connect() registers
 * their events with the engine. False, with errors added, when the settings do not fit
 * together. The config must outlive the network.
 */
bool network_build(struct network *network, const struct network_config *config, struct engine *engine,
                   struct arena *arena, uint64_t seed, const struct network_split *split, struct errors *errors);
/* Joins the workload to the network and registers all events with the engine; once, after building. */
void network_connect(struct network *network, const struct network_client *client);
void network_release(struct network *network);
/* What its routing has at routers; `least_classes` of VCs as failures at a time ask for. */
struct routing_ports network_routing_ports(const struct network *network);
/* Takes back all packets of a part's terminals that have not begun to enter the network. */
void network_withdraw(struct network *part, void (*withdrawn)(void *context, uint32_t packet), void *context);

/* Before somebody looks at routers and terminals from outside. */
static inline void network_bring(const struct network *network, bool with_packets)
{
    if (network->core->runner)
        network->core->runner->bring(network->core->runner, with_packets);
}

/* What routers show of themselves, see struct lane_look; nothing where they do not. */
static inline uint64_t network_flit_hops(const struct network *part)
{
    return ((const struct routers *)part->core->routers)->flit_hops;
}
static inline uint32_t network_lane_flits(const struct network *network, uint32_t router, uint32_t lane)
{
    const struct router_ops *ops = network->core->router_ops;
    return ops->lane_flits ? ops->lane_flits(network->core->routers, router, lane) : 0;
}
/* That of all lanes, each `lanes` of them added up, by router: num_vcs for ports. */
void network_count_flits(const struct network *network, uint32_t lanes, uint32_t *counts);
/* What the packet at the front of an input lane waits for; false: the lane is empty. */
bool network_waits_for(const struct network *part, uint32_t router, uint32_t lane, struct waiting *waiting);
void waiting_release(struct waiting *waiting);

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

/* The same in a plane. */
static inline uint32_t network_distance_in(const struct network *network, uint32_t plane, uint32_t from, uint32_t to)
{
    const struct network_core *core = network->core;
    /* What is known of plane 0 is its own in any case: one plane pays for no question. */
    return plane && core->plane_distances
               ? core->plane_distances[plane][(size_t)from * network->routing.topology->routers + to]
               : network_distance(network, from, to);
}

/* Channels on a shortest way from one terminal to another in a plane. */
static inline uint32_t network_hops_between(const struct network *network, uint32_t plane, uint32_t source,
                                            uint32_t destination)
{
    uint32_t first = plane * network->routing.topology->routers;
    size_t terminals = plane * (size_t)network->topology.terminals;
    return network_distance_in(network, plane, network->core->terminal_router[terminals + source] - first,
                               network->core->ejection_router[terminals + destination] - first);
}

/* ---- looking at routers ---- */

void shown_init(struct shown_router *shown, const struct network *network);
void shown_release(struct shown_router *shown);
/* Looks at a router. One whose architecture does not show itself is empty. */
void network_show(const struct network *network, uint32_t router, struct shown_router *shown);

/* ---- channels ---- */

/* Works out cycles from bandwidths, in the settings that were read from `network` without an error and in that. */
void channels_settle(struct network_config *config, const struct json *network, struct arena *arena,
                     struct errors *errors);

/*
 * Judges the settings and reads the plan; false, with errors added, when they do not fit the topology. That is one of
 * all planes or of the first alone; `of_plane` are the routers of one.
 */
bool channel_latencies_init(struct channel_latencies *latencies, const struct network_config *config,
                            const struct topology *topology, uint32_t of_plane, struct arena *arena,
                            struct errors *errors);
/* Ticks from a port of a router to the neighbour behind it. */
uint32_t channel_latency(const struct channel_latencies *latencies, uint32_t router, uint32_t port, uint32_t neighbour);
/* Ticks between two flits on it. */
uint32_t channel_cycle(const struct channel_latencies *latencies, uint32_t router, uint32_t port);
/* A channel from one router to another. */
struct router_channel {
    uint64_t next; /* where the walk goes on */
    struct router_port from, to;
    uint32_t latency;
};
/* Goes to the next channel of the whole network, whoever runs its routers; begins with {0}. False at the end. */
bool network_next_channel(const struct network *network, struct router_channel *channel);
/* Makes the links of the routers that this rank builds. */
void network_wire(struct network *network);
/* Before somebody prints channels: the links of routers that this rank does not build are there as well from now on. */
void network_know_links(struct network *network);
static inline bool network_builds(const struct network *network, uint32_t router)
{
    return router >= network->first_router && router < network->end_router;
}
static inline bool network_builds_all(const struct network *network)
{
    return network->end_router - network->first_router == network->topology.routers;
}
/* Ticks between a terminal and its router, either way. */
uint32_t terminal_latency(const struct channel_latencies *latencies, uint32_t terminal);

/* ---- levels of service ---- */

/* Sets network->service from what is planned of the network: its VCs and router. False, with errors. */
bool service_plan(struct network *network, struct errors *errors);

/* ---- planes ---- */

/*
 * Router planes: copies of one topology that no channel joins. Every terminal hangs
 * on each of them, by rails of its own, and a packet stays in the plane that its
 * terminal chose for it:
 *
 *   plane 0   routers 0 to R-1          terminals   0   1   2 ... N-1
 *   plane 1   routers R to 2R-1         terminals N-1 N-2 N-3 ...   0     (order "reversed")
 *   plane 2   routers 2R to 3R-1        terminals   0   1   2 ... N-1
 *
 * The place where a terminal hangs in a plane is called by the terminal that hangs
 * there in plane 0: its seat. Routing algorithms see seats and one plane's routers
 * alone, so that each of them works on any number of planes.
 */

struct planes {
    struct topology one;          /* of each plane, without failures */
    const struct topology **left; /* by plane: what failures leave of it; NULL: all planes are whole */
    struct routing *routings;     /* by plane, where failures make them differ; else NULL */
    const uint8_t *plane_of;      /* by router */
    const uint32_t *seats;        /* by plane * terminals + terminal */
    /* As the routing has them for one plane. */
    void (*inject)(struct route *route);
    void (*route)(struct route *route);
};

/* The channels of terminals, as the settings of the interface and of the planes say; false, with errors, where they do not fit together. */
bool planes_share_rails(const struct network_config *config, uint32_t num_vcs, struct rails *rails,
                        struct errors *errors);
/* Makes several planes of network->topology, which is one so far; false with errors. */
bool planes_repeat(struct network *network, struct errors *errors);
/* Judges the selection also where there is nothing to select. */
bool planes_check_selection(const struct network *network, struct errors *errors);
/* Takes routing, which is ready for one plane, to all of them, and makes the selection; false with errors. */
bool planes_join(struct network *network, const struct routing_ports *ports, struct errors *errors);
/* The source of the packet in question, as its plane counts terminals: what algorithms know as its destination, too. */
uint32_t planes_source(const struct route *route);
/* The routing of one plane alone, for checks. */
struct routing planes_routing_of_one(const struct routing *routing);
/* What is left of a plane; the whole network where there is one. */
static inline const struct topology *planes_left(const struct network *network, uint32_t plane)
{
    const struct planes *planes = network->core->planes;
    return !planes ? &network->topology : planes->left ? planes->left[plane] : &planes->one;
}

/* Where a terminal hangs in a plane. */
static inline uint32_t planes_seat(const struct network *network, uint32_t plane, uint32_t terminal)
{
    return network->core->planes ? network->core->planes->seats[(size_t)plane * network->topology.terminals + terminal]
                                 : terminal;
}

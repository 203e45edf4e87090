/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Ways of two legs: to a waypoint and from there to the destination, each leg by
 * a minimal way with VC classes of its own. Valiant sends all packets so; UGAL
 * and PAR choose between such a detour and going straight, which is a detour by
 * way of where the packet is already.
 */
#include "flitwarp/dragonfly.h"
#include "flitwarp/route_table.h"
#include "network/routing/dimension_order.h"

/* ---- dragonflies ---- */

/*
 * Minimal steps on any kind of dragonfly: to a router of the group that has a
 * channel to the wanted group, over that channel, and to the wanted router. A
 * packet counts what it has crossed in packet->route, for its VC classes.
 */

#define ROUTE_GLOBAL 4u       /* this many for each global channel crossed; up to three */
#define ROUTE_LOCAL 16u       /* the last channel crossed was one inside the group */
#define ROUTE_MIDWAY 32u      /* it has been at the router of its detour */
#define ROUTE_STRAIGHT 64u    /* it has gone straight inside its first group, */
#define ROUTE_LEFT 128u       /* and has left the straight way there */
#define ROUTE_GATE (1u << 16) /* this many for each place up to the gate that it heads for, from 1; 0: for none */

/* For messages: the topologies that are one, but for the outermost quotation marks. */
#define DRAGONFLIES "dragonfly\", \"dragonfly_2d\" or \"megafly"

static inline uint32_t globals_crossed(FW_GLOBAL const struct packet *packet)
{
    return packet->route / ROUTE_GLOBAL % 4;
}

/* How to go in a group that is a grid. */
enum local_order { ORDER_ROW_FIRST, ORDER_COLUMN_FIRST, ORDER_EITHER };

#if FW_HOST
extern const char *const local_order_names[];
#define OPTION_LOCAL_ORDER(config)                                                                                     \
    OPTION_ENUM(                                                                                                       \
        config, local_order, "\"row_first\"", local_order_names,                                                       \
        "within a group of a dragonfly_2d: along the row first, along the column first, or whichever is free, "        \
        "which takes twice the VC classes")
#endif

/* VC classes that the local channels of one passage through a group take. */
static inline uint32_t local_classes(FW_GLOBAL const struct dragonfly *dragonfly, enum local_order order)
{
    return dragonfly->shape == GROUP_GRID && order == ORDER_EITHER ? 2 : 1;
}

/* How the next hop may go, whichever it is. */
struct hop_rules {
    uint32_t local_class, global_class;
    enum local_order order;
    bool any_channel; /* draw any of the channels between two groups, not one of the nearest */
};

/*
 * The rules for a packet whose next local and next global channel belong to these passages, where each takes `classes`
 * classes: the second local channel has a class of its own where there is one.
 */
static inline struct hop_rules passage_rules(FW_GLOBAL const struct packet *packet, uint32_t local_passage,
                                             uint32_t global_passage, uint32_t classes, enum local_order order)
{
    bool is_second = classes > 1 && packet->route & ROUTE_LOCAL;
    return (struct hop_rules){classes * local_passage + is_second, classes * global_passage, order, false};
}

/* Channels between two places of a group. */
static inline uint32_t dragonfly_local_hops(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t place, uint32_t other)
{
    if (dragonfly->shape == GROUP_ALL_TO_ALL || place == other)
        return place != other;
    if (dragonfly->shape == GROUP_BIPARTITE)
        return (place < dragonfly->hosts) == (other < dragonfly->hosts) ? 2 : 1;
    uint32_t row = dragonfly_row(dragonfly, place), other_row = dragonfly_row(dragonfly, other);
    return (row != other_row) + (place - row * dragonfly->columns != other - other_row * dragonfly->columns);
}

/* The channels between two groups. */
struct gates {
    FW_GLOBAL const struct dragonfly_gate *items;
    uint32_t count;
};

FW_INLINE struct gates gates_between(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group, uint32_t other)
{
    return (struct gates){dragonfly_gates(dragonfly, group, other), dragonfly_channels(dragonfly, group, other)};
}

/* The router's own channels to a group; all of them are offered. False: there are none. */
FW_INLINE bool offer_own_gates(struct route *route, struct gates gates, uint32_t own, uint32_t class)
{
    bool is_found = false;
    for (uint32_t i = 0; i < gates.count; i++)
        if (gates.items[i].place == own) {
            route_add(route, gates.items[i].port, class);
            is_found = true;
        }
    return is_found;
}

static inline FW_GLOBAL const struct dragonfly_gate *draw_any(struct route *route, struct gates gates)
{
    return gates.items + (gates.count > 1 ? route_pick(route, gates.count) : 0);
}

/* The packet leaves its group. */
static inline void cross_globally(FW_GLOBAL struct packet *packet)
{
    packet->route = (packet->route & (ROUTE_GATE - 1) & ~ROUTE_LOCAL) + ROUTE_GLOBAL;
}

/* In fully connected groups all gates but the router's own are one channel away, so the next router is one and need not be noted. */
FW_INLINE void dragonfly_step_all_to_all(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly,
                                         uint32_t group, uint32_t place, struct hop_rules rules)
{
    uint32_t own_group = dragonfly_group(dragonfly, route->router), own = dragonfly_place(dragonfly, route->router);
    FW_GLOBAL struct packet *packet = route->packet;
    uint32_t towards = place;
    if (own_group != group) {
        struct gates gates = gates_between(dragonfly, own_group, group);
        bool may_draw = rules.any_channel && !(packet->route & ROUTE_LOCAL);
        if (!may_draw && offer_own_gates(route, gates, own, rules.global_class)) {
            cross_globally(packet);
            return;
        }
        FW_GLOBAL const struct dragonfly_gate *gate = draw_any(route, gates);
        if (gate->place == own) {
            route_add(route, gate->port, rules.global_class);
            cross_globally(packet);
            return;
        }
        towards = gate->place;
    }
    route_add(route, dragonfly_local_port(own, towards), rules.local_class);
    packet->route |= ROUTE_LOCAL;
}

/* In all others. */
void dragonfly_step_apart(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group,
                          uint32_t place, struct hop_rules rules);

/* Offers the next hop towards a group, and in it towards a router by its place; the packet is not there yet. */
FW_INLINE void dragonfly_step(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group,
                              uint32_t place, struct hop_rules rules)
{
    if (dragonfly->shape == GROUP_ALL_TO_ALL)
        dragonfly_step_all_to_all(route, dragonfly, group, place, rules);
    else
        dragonfly_step_apart(route, dragonfly, group, place, rules);
}

/* ---- detours ---- */

enum intermediate {
    INTERMEDIATE_AUTO,
    INTERMEDIATE_ROUTER,
    INTERMEDIATE_GROUP,
    INTERMEDIATE_UNALIGNED,
    INTERMEDIATE_SOURCE,
    INTERMEDIATE_DESTINATION,
    INTERMEDIATE_SOURCE_DESTINATION,
    INTERMEDIATE_BETWEEN,
    INTERMEDIATE_ISLAND, /* not a setting: any router of the part of a network that failures leave the packet in */
};

/* The first member of the config struct of an algorithm with detours. */
struct detour_config {
    struct ring_config ring;
    uint32_t intermediate, local_order, order;
    fw_bool passes_by;
};

#if FW_HOST
extern const struct option detour_options[];

#define DETOUR_NEEDS                                                                                                   \
    "VCs for two legs: 3 on a dragonfly (4 by router), 2 on hyperx and grids, 4 on a torus, elsewhere one for each "   \
    "hop: twice the diameter"
#endif

/* What the legs are ways of. */
enum detour_kind { DETOUR_ON_DRAGONFLY, DETOUR_ON_GRID, DETOUR_ON_HYPERX, DETOUR_BY_TABLE };

/* How a hop is found: where it goes by one output that needs no drawing, see detour_hop.h. */
enum detour_ways { WAYS_OF_ANY, WAYS_BY_GROUP, WAYS_ON_HYPERX };

struct detours {
    uint32_t kind;         /* enum detour_kind */
    uint32_t ways;         /* enum detour_ways */
    uint32_t intermediate; /* enum intermediate */
    uint32_t classes;      /* of VCs, in all */
    uint32_t leg_classes;  /* of one leg; neither on a dragonfly nor by table */
    fw_bool
        has_orders;    /* on a hyperx: half of the packets correct the last coordinate first, in classes of their own */
    fw_bool passes_by; /* on the first leg a packet goes on from its destination's router */
    fw_bool takes_own; /* a packet for its own router is spread too */
    fw_bool joins_legs; /* behind its destination's router a first leg has the second's VCs too */
    fw_bool
        keeps_first; /* the second leg of a detour has the VCs of the first, and only straight ways those of the second */
    fw_bool is_progressive; /* a packet may leave the minimal way after its first hop, which takes classes of its own */
    uint32_t local_order;   /* enum local_order; on a dragonfly, */
    uint32_t passage_classes; /* and of the local channels of one passage through a group */
    uint32_t host_count;
    FW_FAR(const uint32_t) hosts;   /* routers with terminals; island by island */
    FW_FAR(const uint32_t) islands; /* by router * 2: the first of its island among the hosts, and how many */
    FW_FAR(const struct dimension_order) order; /* on a grid */
    FW_FAR(const struct route_table) table;     /* where the topology is of no kind known here */
};

/* A waypoint drawn at random where not every router, or group, may be one; see detour_hop.h. */
uint32_t detour_draw_by_rule(struct route *route, FW_GLOBAL const struct detours *detours);
/* Channels on the way from the packet's router by a waypoint to its destination, and the next hop; see detour_hop.h. */
uint32_t detour_hops_by_any(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t waypoint);
void detour_step_by_any(struct route *route, FW_GLOBAL const struct detours *detours);

#if FW_HOST
/* False, with errors added, where the topology or the settings do not fit. */
bool detours_init(struct detours *detours, const struct routing *routing, const struct choice *self,
                  bool is_progressive, struct arena *arena, struct errors *errors);
#endif

/* The waypoint of a packet that goes straight. */
static inline uint32_t detour_here(const struct routing *routing, FW_GLOBAL const struct detours *detours,
                                   uint32_t router)
{
    return detours->intermediate == INTERMEDIATE_GROUP ? dragonfly_group(routing_facts(routing), router) : router;
}

/* Bits of packet->route beside ROUTE_PAST_PIVOT. */
#define ROUTE_SECOND_LEG 2u
#define ROUTE_LAST_FIRST 4u /* on a hyperx: corrects the last coordinate first */
#define ROUTE_EITHER 512u   /* it goes straight, in the VCs of whichever leg it is given */
#define ROUTE_TURNED 256u   /* with keeps_first: it has been at its waypoint, and did not start there */

/* Draws the order of dimensions where there are two, before a packet's way is chosen. */
static inline void detour_draw_order(struct route *route, FW_GLOBAL const struct detours *detours)
{
    if (detours->has_orders)
        route->packet->route = route_pick(route, 2) ? ROUTE_LAST_FIRST : 0;
}

#define ROUTE_OF_WAY (ROUTE_SECOND_LEG | ROUTE_PAST_PIVOT | ROUTE_TURNED)

/* A way begins here, whatever the packet has behind it. */
static inline void detour_start(FW_GLOBAL struct packet *packet, uint32_t waypoint)
{
    packet->waypoint = waypoint;
    packet->route &= ~ROUTE_OF_WAY;
}

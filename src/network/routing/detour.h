/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ways of two legs: to a waypoint and from there to the destination, each leg by
 * a minimal way with VC classes of its own. Valiant sends all packets so; UGAL
 * and PAR choose between such a detour and going straight, which is a detour by
 * way of where the packet is already.
 */
#include "flitwarp/dragonfly.h"
#include "network/routing/dimension_order.h"
#include "flitwarp/route_table.h"

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

static inline uint32_t globals_crossed(const struct packet *packet) { return packet->route / ROUTE_GLOBAL % 4; }

/* How to go in a group that is a grid. */
enum local_order { ORDER_ROW_FIRST, ORDER_COLUMN_FIRST, ORDER_EITHER };
extern const char *const local_order_names[];
#define OPTION_LOCAL_ORDER(config)                                                                                     \
    OPTION_ENUM(                                                                                                       \
        config, local_order, "\"row_first\"", local_order_names,                                                       \
        "within a group of a dragonfly_2d: along the row first, along the column first, or whichever is free, "        \
        "which takes twice the VC classes")

/* VC classes that the local channels of one passage through a group take. */
static inline uint32_t local_classes(const struct dragonfly *dragonfly, enum local_order order)
{
    return dragonfly->shape == GROUP_GRID && order == ORDER_EITHER ? 2 : 1;
}

/* How the next hop may go, whichever it is. */
struct hop_rules {
    uint32_t local, global; /* classes */
    enum local_order order;
    bool any_channel; /* draw any of the channels between two groups, not one of the nearest */
};

/*
 * The rules for a packet whose next local and next global channel belong to these passages, where each takes `classes`
 * classes: the second local channel has a class of its own where there is one.
 */
static inline struct hop_rules passage_rules(const struct packet *packet, uint32_t local, uint32_t global,
                                             uint32_t classes, enum local_order order)
{
    bool is_second = classes > 1 && packet->route & ROUTE_LOCAL;
    return (struct hop_rules){classes * local + is_second, classes * global, order, false};
}

/* Channels between two places of a group. */
static inline uint32_t dragonfly_local_hops(const struct dragonfly *dragonfly, uint32_t place, uint32_t other)
{
    if (dragonfly->shape == GROUP_ALL_TO_ALL || place == other)
        return place != other;
    if (dragonfly->shape == GROUP_BIPARTITE)
        return (place < dragonfly->hosts) == (other < dragonfly->hosts) ? 2 : 1;
    uint32_t row = dragonfly->row_of[place], other_row = dragonfly->row_of[other];
    return (row != other_row) + (place - row * dragonfly->columns != other - other_row * dragonfly->columns);
}

/* Offers the next hop towards a group, and in it towards a router by its place; the packet is not there yet. */
void dragonfly_step(struct route *route, const struct dragonfly *dragonfly, uint32_t group, uint32_t place,
                    struct hop_rules rules);

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
};

/* The first member of the config struct of an algorithm with detours. */
struct detour_config {
    struct ring_config ring;
    uint32_t intermediate, local_order, order;
    bool passes_by;
};
extern const struct option detour_options[];

#define DETOUR_NEEDS                                                                                                   \
    "VCs for two legs: 3 on a dragonfly (4 by router), 2 on hyperx and grids, 4 on a torus, elsewhere one for each "   \
    "hop: twice the diameter"

struct detours {
    const struct topology *topology;
    enum intermediate intermediate;
    uint32_t classes;     /* of VCs, in all */
    uint32_t leg_classes; /* of one leg; neither on a dragonfly nor by table */
    bool has_orders; /* on a hyperx: half of the packets correct the last coordinate first, in classes of their own */
    bool passes_by;  /* on the first leg a packet goes on from its destination's router */
    bool takes_own;  /* a packet for its own router is spread too */
    bool joins_legs; /* behind its destination's router a first leg has the second's VCs too */
    bool
        keeps_first; /* the second leg of a detour has the VCs of the first, and only straight ways those of the second */
    bool is_progressive; /* a packet may leave the minimal way after its first hop, which takes classes of its own */
    enum local_order local_order; /* on a dragonfly, */
    uint32_t passage_classes;     /* and of the local channels of one passage through a group */
    const uint32_t *hosts;        /* routers with terminals */
    uint32_t host_count;
    const struct dimension_order *order; /* on a grid */
    const struct route_table *table;     /* where the topology is of no kind known here */
    /* Offers the next hop of a leg that ends at `target`, with VCs of leg_classes classes from `class` on. */
    void (*leg)(struct route *route, const struct detours *detours, uint32_t target, uint32_t class);
    /* A waypoint drawn at random. A packet for its own router has no way to be spread: its waypoint is where it is, unless
       takes_own. */
    uint32_t (*draw)(struct route *route, const struct detours *detours);
    /* Offers the next hop, or the destination's terminal. */
    void (*step)(struct route *route, const struct detours *detours);
    /* Channels on the way from a router by the packet's waypoint to its destination. */
    uint32_t (*hops)(const struct detours *detours, uint32_t router, const struct packet *packet);
};

/* False, with errors added, where the topology or the settings do not fit. */
bool detours_init(struct detours *detours, const struct routing *routing, const struct choice *self,
                  bool is_progressive, struct arena *arena, struct errors *errors);

/* The waypoint of a packet that goes straight. */
static inline uint32_t detour_here(const struct detours *detours, uint32_t router)
{
    return detours->intermediate == INTERMEDIATE_GROUP ? dragonfly_group(detours->topology->facts, router) : router;
}

/* Bits of packet->route beside ROUTE_PAST_PIVOT. */
#define ROUTE_SECOND_LEG 2u
#define ROUTE_LAST_FIRST 4u /* on a hyperx: corrects the last coordinate first */
#define ROUTE_EITHER 512u   /* it goes straight, in the VCs of whichever leg it is given */
#define ROUTE_TURNED 256u   /* with keeps_first: it has been at its waypoint, and did not start there */

/* Draws the order of dimensions where there are two, before a packet's way is chosen. */
static inline void detour_draw_order(struct route *route, const struct detours *detours)
{
    if (detours->has_orders)
        route->packet->route = route_pick(route, 2) ? ROUTE_LAST_FIRST : 0;
}

/* A way begins here, whatever the packet has behind it. */
static inline void detour_start(struct packet *packet, uint32_t waypoint)
{
    packet->waypoint = waypoint;
    packet->route &= ~(ROUTE_SECOND_LEG | ROUTE_PAST_PIVOT | ROUTE_TURNED);
}

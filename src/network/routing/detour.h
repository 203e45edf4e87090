/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ways of two legs: to a waypoint and from there to the destination, each leg by
 * a minimal way with VC classes of its own. Valiant sends all packets so; UGAL
 * and PAR choose between such a detour and going straight, which is a detour by
 * way of where the packet is already.
 */
#include "network/routing/dimension_order.h"
#include "network/routing/dragonfly.h"
#include "flitwarp/route_table.h"

enum intermediate {
    INTERMEDIATE_AUTO,
    INTERMEDIATE_ROUTER,
    INTERMEDIATE_GROUP,
    INTERMEDIATE_UNALIGNED,
    INTERMEDIATE_SOURCE,
    INTERMEDIATE_DESTINATION,
    INTERMEDIATE_SOURCE_DESTINATION,
};

/* The first member of the config struct of an algorithm with detours. */
struct detour_config {
    struct ring_config ring;
    uint32_t intermediate, local_order;
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
    bool is_progressive;  /* a packet may leave the minimal way after its first hop, which takes classes of its own */
    enum local_order local_order; /* on a dragonfly, */
    uint32_t passage_classes;     /* and of the local channels of one passage through a group */
    const uint32_t *hosts;        /* routers with terminals */
    uint32_t host_count;
    const struct dimension_order *order; /* on a grid */
    const struct route_table *table;     /* where the topology is of no kind known here */
    /* Offers the next hop of a leg that ends at `target`, with VCs of leg_classes classes from `class` on. */
    void (*leg)(struct route *route, const struct detours *detours, uint32_t target, uint32_t class);
    /* A waypoint drawn at random. A packet for its own router has no way to be spread: its waypoint is where it is. */
    uint32_t (*draw)(struct route *route, const struct detours *detours);
    /* Offers the next hop, or the destination's terminal. */
    void (*step)(struct route *route, const struct detours *detours);
    /* Channels on the way from a router by the packet's waypoint to its destination. */
    uint32_t (*hops)(const struct detours *detours, uint32_t router, const struct packet *packet);
};

/* False, with errors added, where the topology or the settings do not fit. */
bool detours_init(struct detours *detours, const struct routing *routing, const struct choice *self,
                  bool is_progressive, struct arena *arena, struct errors *errors);
/* On a dragonfly; called by detours_init. */
void dragonfly_detours_init(struct detours *detours, enum local_order order, bool is_progressive);

/* The waypoint of a packet that goes straight. */
static inline uint32_t detour_here(const struct detours *detours, uint32_t router)
{
    return detours->intermediate == INTERMEDIATE_GROUP ? dragonfly_group(detours->topology->facts, router) : router;
}

/* Bits of packet->route beside ROUTE_PAST_PIVOT. */
#define ROUTE_SECOND_LEG 2u

/* A way begins here, whatever the packet has behind it. */
static inline void detour_start(struct packet *packet, uint32_t waypoint)
{
    packet->waypoint = waypoint;
    packet->route &= ~(ROUTE_SECOND_LEG | ROUTE_PAST_PIVOT);
}

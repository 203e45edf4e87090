/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Facts of a network of networks, for routing algorithms that know one:
 * topology_hierarchy(). Its parts are sub-networks, each a topology with routers and
 * terminals of its own, and a network outside that joins them:
 *
 *   by routers   the outside network has routers of its own; what would be its terminals are
 *                the sub-networks' gateways, each by as many channels
 *   directly     each sub-network stands in place of a router of the outside network,
 *                whose ports its gateways have in turn
 *
 * Routers go by sub-network, those of the outside network last; terminals the same.
 * Ports of a router are first those of its own topology, then those that lead out of it.
 */
#include "flitwarp/topology.h"

/* Sub-networks that are copies of one topology. */
struct hierarchy_kind {
    struct topology topology;
    uint32_t copies;
    uint32_t gateways;
    const uint32_t *gateway; /* the router of each, as its topology counts them */
    /* Ports that lead out of a copy: by routers, `channels` for each gateway; directly, those of the outside router. */
    uint32_t ways_out;
    const uint32_t *way_router; /* by way out */
    const uint32_t *way_port;   /* at that router */
    const uint32_t *first_way;  /* by router, and one more: where its ways out begin in: */
    const uint32_t *way_at;     /* ways out by router, in the order of its ports */
};

struct subnetwork {
    const struct hierarchy_kind *kind;
    uint32_t first_router, first_terminal, first_gateway;
    uint32_t number_of_kind;
};

struct hierarchy {
    bool is_direct;
    uint32_t kind_count, count; /* of sub-networks */
    struct hierarchy_kind *kinds;
    struct subnetwork *subnetworks;
    const uint32_t *router_subnetwork;   /* by router; `count` for those outside */
    const uint32_t *terminal_subnetwork; /* by terminal; the same */

    struct topology outside; /* one copy of it */
    uint32_t copies;         /* of it, side by side; 1 where sub-networks are joined directly */
    uint32_t first_outside;  /* router; there are none where they are joined directly */
    /* Where they are joined by routers: */
    uint32_t channels;                  /* of each gateway */
    const uint32_t *hung_at;            /* by gateway of all: which terminal of the outside copies it stands for */
    const uint32_t *gateway_subnetwork; /* by gateway of all */
    const uint32_t *gateway_at;         /* by such terminal: the gateway; FW_NONE: it has none */
    const uint32_t *first_at;           /* by outside router of one copy, and one more: where its terminals begin in: */
    const uint32_t *terminal_at;        /* terminals of one copy by router */
    const uint32_t *place_at;           /* by terminal of one copy: how many others of its router are before it */
    uint32_t spare;                     /* terminals of the outside network that are terminals of the whole */
    const uint32_t *spare_at;           /* by these: which */
    const uint32_t *first_class; /* of channels: by kind, of the gateways' channels, and of the outside network */
    bool is_by_level;            /* classes are levels, whatever the topologies tell apart */
};

/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char hierarchy_family[];
static inline const struct hierarchy *topology_hierarchy(const struct topology *topology)
{
    return topology->family == hierarchy_family ? topology->facts : NULL;
}

/* Of an outside router: in which copy, and which one there. */
static inline uint32_t hierarchy_copy(const struct hierarchy *hierarchy, uint32_t router)
{
    return (router - hierarchy->first_outside) / hierarchy->outside.routers;
}

/* The first port of an outside router towards one of its terminals in a copy, a gateway: `channels` of them. */
static inline uint32_t hierarchy_port_to(const struct hierarchy *hierarchy, uint32_t terminal)
{
    return hierarchy->outside.ports + hierarchy->place_at[terminal] * hierarchy->channels;
}

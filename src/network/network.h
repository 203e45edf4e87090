/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Building a network from its settings, and taking it down. */
#include "network/parallel/partition.h"

/* In how many parts it is to run, and how routers are given to them. */
struct network_split {
    uint32_t parts;      /* of each rank */
    struct ranks *ranks; /* borrowed; NULL: there is one */
    enum partition_method method;
    tick_t window;        /* at most; 0: as channels allow, or as far ahead as pays where the arena can be put back */
    bool checks_reversal; /* there is one part, whose arena can be put back */
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

/* What a router shows of itself; nothing where it does not, see struct router_inspect_ops. */
static inline uint64_t network_flit_hops(const struct network *part)
{
    const struct router_inspect_ops *inspect = part->router_ops->inspect;
    return inspect && inspect->flit_hops ? inspect->flit_hops(part->routers) : 0;
}
static inline uint32_t network_lane_flits(const struct network *network, uint32_t router, uint32_t lane)
{
    const struct router_inspect_ops *inspect = network->router_ops->inspect;
    return inspect && inspect->lane_flits ? inspect->lane_flits(network->routers, router, lane) : 0;
}
static inline bool network_waits_for(const struct network *part, uint32_t router, uint32_t lane,
                                     struct waiting *waiting)
{
    const struct router_inspect_ops *inspect = part->router_ops->inspect;
    return inspect && inspect->waits_for && inspect->waits_for(part->routers, router, lane, waiting);
}

/* Every buffer empty and every credit back; CHECKs. */
void network_check_idle(struct network *network);

/* "(3,1)" on a grid, "7" elsewhere; of several planes "p1:(3,1)", "p1:7". */
const char *network_router_name(const struct network *network, uint32_t router, char *buffer, size_t size);

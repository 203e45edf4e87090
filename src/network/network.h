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

/* Every buffer empty and every credit back; CHECKs. */
void network_check_idle(struct network *network);

/* "(3,1)" on a grid, "7" elsewhere; of several planes "p1:(3,1)", "p1:7". */
const char *network_router_name(const struct network *network, uint32_t router, char *buffer, size_t size);

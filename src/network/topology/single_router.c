/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One router with all terminals on it and no channel to any other: the place to
 * study queues, arbiters and allocators by themselves, where theory knows the
 * answers (input queues saturate at 0.586, virtual output queues at 1).
 */
#include "flitwarp/topology.h"

struct single_router_config {
    uint32_t terminals;
};

static const struct option single_router_options[] = {
    OPTION_U32(struct single_router_config, terminals, "8", 1, 4096, "terminals", "terminals at the router"),
    OPTION_END,
};

static void single_router_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct single_router_config *single_router = config;
    (void)arena;
    topology->routers = 1;
    topology->terminals = topology->concentration = single_router->terminals;
}

static bool single_router_peer(const struct topology *topology, uint32_t router, uint32_t port,
                               struct router_port *peer)
{
    (void)topology, (void)router, (void)port, (void)peer;
    return false;
}

static const struct topology_ops single_router = {
    .name = "single_router",
    .summary = "all terminals on one router: a switch by itself",
    .options = single_router_options,
    .example = "{\"type\": \"single_router\", \"terminals\": 16}",
    .shape = single_router_shape,
    .peer = single_router_peer,
};
REGISTER_TOPOLOGY(single_router);

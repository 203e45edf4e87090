/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ideal network, for numbers that can be worked out by hand: every terminal has a
 * router of its own, and every two routers a channel. Nothing is shared but the
 * terminals' own channels, so that messages wait for each other only where they leave
 * one terminal or enter one. With packet routers of no delay a head takes `latency`
 * ticks from terminal to terminal, and each further flit a cycle: the L and G of LogGP.
 */
#include "flitwarp/topology.h"

enum { TERMINAL_LATENCY = 1 }; /* at either end */

struct ideal_config {
    uint32_t terminals;
    uint64_t latency;
};

static const struct option ideal_options[] = {
    OPTION_U32(struct ideal_config, terminals, "8", 2, 4096, "terminals", "terminals, with a router each"),
    OPTION_TICKS(struct ideal_config, latency, "100", 3, 1e9,
                 "from terminal to terminal, two ticks of which are the terminals' channels"),
    OPTION_END,
};

static void ideal_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct ideal_config *ideal = config;
    uint32_t routers = ideal->terminals, channels = routers * (routers - 1);
    topology->routers = topology->terminals = routers;
    topology->concentration = 1;
    topology->ports = routers - 1;
    uint32_t *latencies = arena_array(arena, uint32_t, channels);
    uint32_t *terminal_latencies = arena_array(arena, uint32_t, routers);
    for (uint32_t i = 0; i < channels; i++)
        latencies[i] = (uint32_t)ideal->latency - 2 * TERMINAL_LATENCY;
    for (uint32_t i = 0; i < routers; i++)
        terminal_latencies[i] = TERMINAL_LATENCY;
    topology->latencies = latencies;
    topology->terminal_latencies = terminal_latencies;
}

/* Ports go by how far the number moves, going round. */
static bool ideal_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    peer->router = (router + port + 1) % topology->routers;
    peer->port = topology->ports - 1 - port;
    return true;
}

static uint32_t ideal_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    (void)topology;
    return from != to;
}

static const struct topology_ops ideal = {
    .name = "ideal",
    .summary = "a router at each terminal and a channel between every two: no contention",
    .options = ideal_options,
    .example = "{\"type\": \"ideal\", \"terminals\": 16, \"latency\": \"2500ns\"}",
    .shape = ideal_shape,
    .peer = ideal_peer,
    .distance = ideal_distance,
};
REGISTER_TOPOLOGY(ideal);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PolarFly (Lakhotia, Besta, Monroe, Isham, Iff, Hoefler and Petrini 2022): the
 * polarity graph ER_q, which comes nearest to the Moore bound of all graphs of
 * diameter 2. q^2 + q + 1 routers have q + 1 channels; those of the q + 1 quadrics,
 * which would lead back to themselves, are left out, so that quadrics have q.
 *   Routers and ports are numbered as points and ports are in polarity_graph.h;
 * at a quadric one port in between is unused. There is one way of two channels
 * between two routers that are not joined, by the cross product of their points.
 */
#include "network/topology/polarity_graph.h"
#include "network/topology/sizes.h"

struct polarfly_config {
    uint32_t q;
    uint32_t terminals;
};

static const struct option polarfly_options[] = {
    OPTION_U32(struct polarfly_config, q, "5", 2, 1024, NULL, "a prime power: there are q^2 + q + 1 routers"),
    OPTION_U32(struct polarfly_config, terminals, "null", 1, 1024, "terminals",
               "terminals at each router; null: half as many as it has channels, rounded up"),
    OPTION_END,
};

static uint32_t terminal_count(const struct polarfly_config *config)
{
    return config->terminals ? config->terminals : (config->q + 2) / 2;
}

/* The largest has 2^30 channels, and terminals. */
static void polarfly_check(const struct choice *self, struct errors *errors)
{
    topology_check_prime_power(self, "q", ((const struct polarfly_config *)self->config)->q, errors);
}

static void polarfly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct polarfly_config *settings = config;
    struct polarity_graph *graph = arena_array(arena, struct polarity_graph, 1);
    polarity_graph_init(graph, settings->q, arena);
    topology->state = graph;
    topology_size(topology, graph->points, terminal_count(settings), graph->ports);
}

static bool polarfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct polarity_graph *graph = topology->state;
    uint32_t there = polarity_graph_neighbour(graph, router, port);
    if (there == router)
        return false;
    *peer = (struct router_port){there, polarity_graph_port(graph, there, router)};
    return true;
}

static uint32_t polarfly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    return polarity_graph_has(topology->state, from, to) ? 1 : 2;
}

static const struct topology_ops polarfly = {
    .name = "polarfly",
    .summary = "q^2 + q + 1 routers, no two more than two channels apart: polarity graphs of projective planes",
    .options = polarfly_options,
    .example = "{\"type\": \"polarfly\", \"q\": 3, \"terminals\": 2}",
    .check = polarfly_check,
    .shape = polarfly_shape,
    .peer = polarfly_peer,
    .distance = polarfly_distance,
};
REGISTER_TOPOLOGY(polarfly);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parking lot: routers in a line, named after the exit of a car park, where
 * cars from every level merge into one queue. Let all terminals send to terminal
 * 0 and each router shares its one channel evenly between its own terminals and
 * all that come from behind:
 *
 *     0 <-- 1 <-- 2 <-- 3        shares of the exit with round-robin merging:
 *                                1/2,  1/4,  1/8,  1/8
 *
 * Arbiters that look at age give everyone the same share.
 */
#include "flitwarp/topology.h"

enum { UP, DOWN, PORTS }; /* the ports of a router: away from the exit, towards it */

struct parking_lot_config {
    uint32_t stops;
    uint32_t concentration;
};

static const struct option parking_lot_options[] = {
    OPTION_U32(struct parking_lot_config, stops, "8", 2, 65536, "routers", "routers in the line"),
    OPTION_U32(struct parking_lot_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

/* A grid of one dimension, so that routing by coordinates works too. */
static void parking_lot_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct parking_lot_config *settings = config;
    struct grid *grid = arena_array(arena, struct grid, 1);
    *grid = (struct grid){.dimensions = 1, .width = {settings->stops}, .channels = {1}};
    topology->grid = grid;
    topology->routers = settings->stops;
    topology->concentration = settings->concentration;
    topology->terminals = settings->stops * settings->concentration;
    topology->ports = PORTS;
}

static bool parking_lot_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    if (router == (port == UP ? topology->routers - 1 : 0))
        return false;
    *peer = port == UP ? (struct router_port){router + 1, DOWN} : (struct router_port){router - 1, UP};
    return true;
}

static uint32_t parking_lot_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    (void)topology;
    return from < to ? to - from : from - to;
}

static const struct topology_ops parking_lot = {
    .name = "parking_lot",
    .summary = "routers in a line: all traffic to terminal 0 shows unfair merging",
    .options = parking_lot_options,
    .example = "{\"type\": \"parking_lot\", \"stops\": 4}",
    .shape = parking_lot_shape,
    .peer = parking_lot_peer,
    .distance = parking_lot_distance,
};
REGISTER_TOPOLOGY(parking_lot);
/* Copied by `flitwarp new`, with an example: network.topology=$ */

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
#include "network/topology/grid.h"

struct parking_lot_config {
    uint32_t stops;
    uint32_t concentration;
};

static const struct option parking_lot_options[] = {
    OPTION_U32(struct parking_lot_config, stops, "8", 2, 65536, "routers", "routers in the line"),
    OPTION_U32(struct parking_lot_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void parking_lot_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct parking_lot_config *parking_lot = config;
    uint32_t width = parking_lot->stops, one = 1;
    struct grid *grid = arena_array(arena, struct grid, 1);
    grid_init(grid, &(struct u32_list){1, &width}, &(struct u32_list){1, &one}, false);
    grid_shape(topology, grid, parking_lot->concentration);
}

static const struct topology_ops parking_lot = {
    .name = "parking_lot",
    .summary = "routers in a line: all traffic to terminal 0 shows unfair merging",
    .options = parking_lot_options,
    .config_size = sizeof(struct parking_lot_config),
    .example = "{\"type\": \"parking_lot\", \"stops\": 4}",
    .shape = parking_lot_shape,
    .peer = grid_peer,
    .distance = grid_distance,
};
REGISTER_TOPOLOGY(parking_lot);

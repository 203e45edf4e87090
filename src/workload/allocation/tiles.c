/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All terminals of a chip, row by row: routers lie in rows, and the terminals of a
 * router form a tile, so that ranks 0, 1, 2, ... run along the chip's edge through
 * the tiles of several routers.
 *
 *     row 2, tile [2, 2]       0  1 | 2  3        terminals by router: 0 1 4 5,
 *                              4  5 | 6  7        2 3 6 7, ...
 */
#include "flitwarp/application.h"

struct tiles_config {
    uint32_t row;
    struct u32_list tile;
};

static const struct option tiles_options[] = {
    OPTION_U32(struct tiles_config, row, REQUIRED, 1, 65536, "routers", "routers in a row of the chip"),
    OPTION_U32_LIST(struct tiles_config, tile, REQUIRED, 1, 1024, "terminals",
                    "terminals of a router along a row of the chip, and across"),
    OPTION_END,
};

static uint32_t tiles_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                               uint32_t *terminals, struct errors *errors)
{
    const struct tiles_config *config = self->config;
    (void)seed;
    if (!tile_fits(&config->tile, topology->concentration))
        return choice_error(errors, self, "tile", TILE_EXPECTED, topology->concentration);
    if (topology->routers % config->row)
        return choice_error(errors, self, "row", "%u routers do not fill rows of %u", topology->routers, config->row);
    uint32_t width = config->tile.items[0], height = config->tile.items[1];
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t router = terminal / topology->concentration, slot = terminal % topology->concentration;
        uint32_t column = router % config->row * width + slot % width;
        uint32_t line = router / config->row * height + slot / width;
        terminals[line * config->row * width + column] = terminal;
    }
    return topology->terminals;
}

static const struct allocation_ops tiles = {
    .name = "tiles",
    .summary = "every terminal, by rows of a chip on which each router has a tile of them",
    .options = tiles_options,
    .example = "{\"type\": \"tiles\", \"row\": 4, \"tile\": [2, 2]}",
    .allocate = tiles_allocate,
};
REGISTER_ALLOCATION(tiles);

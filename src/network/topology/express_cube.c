/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An express cube (Dally 1991): a mesh of any number of dimensions in which
 * every interval-th router of a row is also joined to the next such router by
 * an express channel.
 *
 *     +-----------------+-----------------+
 *     0 --- 1 --- 2 --- 3 --- 4 --- 5 --- 6 --- 7       width 8, interval 3
 *
 * The paper puts interchanges between routers, which are routers here. Ports of a
 * dimension: up, down, express up, express down.
 */
#include "flitwarp/express_cube.h"

#include "network/topology/sizes.h"

const char express_cube_family[] = "express_cube";

struct express_cube_config {
    struct u32_list widths, interval;
    uint32_t concentration;
};

static const struct option express_cube_options[] = {
    OPTION_U32_LIST(struct express_cube_config, widths, "[8, 8]", 3, 65536, "routers", "routers along each dimension"),
    OPTION_U32_LIST(struct express_cube_config, interval, "[4]", 2, 65535, "routers",
                    "from one express channel to the next, for all dimensions or for each"),
    OPTION_U32(struct express_cube_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static uint32_t interval_of(const struct express_cube_config *config, uint32_t dimension)
{
    return config->interval.items[config->interval.count == 1 ? 0 : dimension];
}

static void express_cube_check(const struct choice *self, struct errors *errors)
{
    const struct express_cube_config *config = self->config;
    uint32_t dimensions = config->widths.count;
    if (dimensions == 0 || dimensions > MAX_DIMENSIONS) {
        choice_error(errors, self, "widths", "%u dimensions; accepted: 1 to %u", dimensions, MAX_DIMENSIONS);
        return;
    }
    if (config->interval.count != 1 && config->interval.count != dimensions) {
        choice_error(errors, self, "interval", "%u values for %u dimensions; give one for all or one for each",
                     config->interval.count, dimensions);
        return;
    }
    uint64_t routers = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
        routers *= routers > MAX_TERMINALS ? 1 : config->widths.items[d];
        if (interval_of(config, d) >= config->widths.items[d])
            choice_error(errors, self, "interval",
                         "%u leaves a row of %u routers without an express channel; accepted: 2 to %u",
                         interval_of(config, d), config->widths.items[d], config->widths.items[d] - 1);
    }
    topology_check_size(self, "widths", routers * config->concentration,
                        routers > MAX_TERMINALS ? routers : routers * dimensions * EXPRESS_PORTS, errors);
}

static void express_cube_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    static const char *const names[] = {"local", "express"};
    const struct express_cube_config *config = settings;
    struct express_cube *cube = arena_array(arena, struct express_cube, 1);
    uint32_t one = 1;
    grid_init(&cube->grid, &config->widths, &(struct u32_list){1, &one}, false);
    for (uint32_t d = 0; d < cube->grid.dimensions; d++)
        cube->interval[d] = interval_of(config, d);
    topology->family = express_cube_family;
    topology->facts = cube;
    topology_size(topology, grid_routers(&cube->grid), config->concentration, cube->grid.dimensions * EXPRESS_PORTS);
    topology->channel_classes = 2;
    topology->channel_class_names = names;
}

static bool express_cube_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct express_cube *cube = topology->facts;
    uint32_t at[MAX_DIMENSIONS] = {0}, d = port / EXPRESS_PORTS, down = port % 2;
    bool is_express = port % EXPRESS_PORTS >= EXPRESS;
    uint32_t step = is_express ? cube->interval[d] : 1;
    grid_coordinates(&cube->grid, router, at);
    if ((is_express && at[d] % step) || (down ? at[d] < step : at[d] + step >= cube->grid.width[d]))
        return false;
    at[d] += down ? -step : step;
    *peer = (struct router_port){grid_router(&cube->grid, at), port ^ 1};
    return true;
}

/* Straight on, or to an end of an express channel near the one, along these, and on from one near the other. */
static uint32_t row_distance(const struct express_cube *cube, uint32_t d, uint32_t from, uint32_t to)
{
    uint32_t interval = cube->interval[d], least = from < to ? to - from : from - to;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t on = (from / interval + i % 2) * interval, off = (to / interval + i / 2) * interval;
        if (on >= cube->grid.width[d] || off >= cube->grid.width[d])
            continue;
        uint32_t hops = (on > from ? on - from : from - on) + (on > off ? on - off : off - on) / interval +
                        (off > to ? off - to : to - off);
        least = hops < least ? hops : least;
    }
    return least;
}

static uint32_t express_cube_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct express_cube *cube = topology->facts;
    uint32_t a[MAX_DIMENSIONS], b[MAX_DIMENSIONS], hops = 0;
    grid_coordinates(&cube->grid, from, a);
    grid_coordinates(&cube->grid, to, b);
    for (uint32_t d = 0; d < cube->grid.dimensions; d++)
        hops += row_distance(cube, d, a[d], b[d]);
    return hops;
}

static uint32_t express_cube_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    (void)topology, (void)router;
    return port % EXPRESS_PORTS >= EXPRESS;
}

static const struct topology_ops express_cube = {
    .name = "express_cube",
    .summary = "a mesh whose rows have express channels that pass over the routers between",
    .options = express_cube_options,
    .example = "{\"type\": \"express_cube\", \"widths\": [7, 5], \"interval\": [3, 2]}",
    .check = express_cube_check,
    .shape = express_cube_shape,
    .peer = express_cube_peer,
    .distance = express_cube_distance,
    .channel_class = express_cube_channel_class,
};
REGISTER_TOPOLOGY(express_cube);

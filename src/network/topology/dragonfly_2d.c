/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dragonfly whose groups are grids of routers, fully connected along each row
 * and along each column: Cray's Cascade (Faanes et al. 2012, the XC series). There
 * a row is a chassis of 16 routers with one channel for each pair (green), a column
 * is the routers of one slot in the 6 chassis of a group with three channels for
 * each pair (black), and each router has up to ten global channels (blue):
 *
 *     columns 16, row_channels 1, rows 6, column_channels 3, global 10
 *
 * Router row * columns + column of a group has ports to the other columns of its
 * row in rising order, then to the other rows of its column, parallel ones side by
 * side, then the global ones of global_channels.c.
 */
#include "network/topology/global_channels.h"

struct dragonfly_2d_config {
    struct global_config channels;
    uint32_t terminals;
    uint32_t columns, rows;
    uint32_t row_channels, column_channels;
};

enum { CLASS_ROW, CLASS_COLUMN, CLASS_GLOBAL };
static const char *const channel_names[] = {"row", "column", "global", NULL};

static const struct option dragonfly_2d_options[] = {
    OPTION_U32(struct dragonfly_2d_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32(struct dragonfly_2d_config, columns, "4", 1, 1024, "routers", "routers in each row of a group"),
    OPTION_U32(struct dragonfly_2d_config, rows, "2", 1, 1024, "rows", "rows of each group"),
    OPTION_U32(struct dragonfly_2d_config, row_channels, "1", 1, 16, "channels",
               "channels between two routers of a row (Cascade's green ones)"),
    OPTION_U32(struct dragonfly_2d_config, column_channels, "1", 1, 16, "channels",
               "channels between two routers of a column (Cascade's black ones)"),
    GLOBAL_OPTIONS("1", "global channels at each router (Cascade's blue ones)",
                   "groups, at most columns * rows * global + 1; null: as many as that"),
    OPTION_END,
};

static struct dragonfly dragonfly_2d_describe(const struct dragonfly_2d_config *config)
{
    uint32_t routers = config->columns * config->rows;
    uint32_t local = (config->columns - 1) * config->row_channels + (config->rows - 1) * config->column_channels;
    return (struct dragonfly){
        .shape = GROUP_GRID,
        .routers = routers,
        .hosts = routers,
        .globals = config->channels.global,
        .groups = global_groups(&config->channels, routers),
        .first_global = local,
        .ports = local + config->channels.global,
        .columns = config->columns,
        .row_channels = config->row_channels,
        .column_channels = config->column_channels,
    };
}

static void dragonfly_2d_check(const struct choice *self, struct errors *errors)
{
    const struct dragonfly_2d_config *config = self->config;
    global_check(self, dragonfly_2d_describe(config), "columns * rows", config->terminals, errors);
}

static void dragonfly_2d_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct dragonfly_2d_config *settings = config;
    global_shape(topology, dragonfly_2d_describe(settings), &settings->channels, settings->terminals, arena);
    topology->channel_classes = 3;
    topology->channel_class_names = channel_names;
}

static uint32_t dragonfly_2d_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct dragonfly *dragonfly = topology->facts;
    (void)router;
    if (port >= dragonfly->first_global)
        return CLASS_GLOBAL;
    return port < (dragonfly->columns - 1) * dragonfly->row_channels ? CLASS_ROW : CLASS_COLUMN;
}

static bool dragonfly_2d_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t place = dragonfly_place(dragonfly, router);
    uint32_t row = dragonfly->row_of[place], column = place - row * dragonfly->columns;
    uint32_t class = dragonfly_2d_channel_class(topology, router, port);
    if (class == CLASS_GLOBAL)
        return global_peer(dragonfly, router, port, peer);
    if (class == CLASS_ROW) {
        uint32_t index = port / dragonfly->row_channels, other = place - column + index + (index >= column);
        *peer = (struct router_port){router + other - place,
                                     dragonfly_row_port(dragonfly, other, column) + port % dragonfly->row_channels};
    } else {
        uint32_t behind = port - (dragonfly->columns - 1) * dragonfly->row_channels;
        uint32_t index = behind / dragonfly->column_channels;
        uint32_t other = (index + (index >= row)) * dragonfly->columns + column;
        *peer = (struct router_port){router + other - place, dragonfly_column_port(dragonfly, other, row) +
                                                                 behind % dragonfly->column_channels};
    }
    return true;
}

static const struct topology_ops dragonfly_2d = {
    .name = "dragonfly_2d",
    .summary = "a dragonfly whose groups are grids, fully connected along rows and columns (Cray Cascade)",
    .options = dragonfly_2d_options,
    .config_size = sizeof(struct dragonfly_2d_config),
    .example = "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2, \"row_channels\": 1, "
               "\"column_channels\": 2, \"global\": 1}",
    .check = dragonfly_2d_check,
    .shape = dragonfly_2d_shape,
    .peer = dragonfly_2d_peer,
    .channel_class = dragonfly_2d_channel_class,
};
REGISTER_TOPOLOGY(dragonfly_2d);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dragonflies (Kim, Dally, Scott, Abts 2008): groups of routers, and every two
 * groups joined by one global channel or more. With a routers in a group that have
 * h global channels each there can be up to a*h + 1 groups. Where global channels
 * lead is in global_channels.c; the kinds differ in what a group is inside.
 */
#include "network/topology/global_channels.h"

/* ---- dragonfly: fully connected groups ---- */

/*
 *     router of 4, place 1:  terminals | to places 0, 2, 3 | global
 *     port                             | 0     1  2        | 3 4         (a 4, h 2)
 */
struct dragonfly_config {
    struct global_config channels;
    uint32_t routers;
};

static const struct option dragonfly_options[] = {
    OPTION_U32(struct global_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U32(struct dragonfly_config, routers, "4", 1, MAX_GROUP_ROUTERS, "routers", "routers in each group"),
    GLOBAL_OPTIONS("2", "global channels at each router",
                   "groups, at most routers * global + 1; null: as many as that"),
    OPTION_END,
};

static struct dragonfly dragonfly_describe(const void *settings)
{
    const struct dragonfly_config *config = settings;
    return (struct dragonfly){
        .shape = GROUP_ALL_TO_ALL,
        .routers = config->routers,
        .hosts = config->routers,
        .first_global = config->routers - 1,
        .ports = config->routers - 1 + config->channels.global,
    };
}

static bool dragonfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t place = dragonfly_place(dragonfly, router), other = port + (port >= place);
    if (is_global(dragonfly, router, port))
        return global_peer(dragonfly, router, port, peer);
    *peer = (struct router_port){router - place + other, dragonfly_local_port(other, place)};
    return true;
}

/* Is there a router to which both have a global channel? */
static bool meet_in_a_third_group(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t there = dragonfly_group(dragonfly, to), place = dragonfly_place(dragonfly, to);
    struct router_port met;
    if (!(dragonfly->behind_globals[from] & dragonfly->behind_globals[to]))
        return false;
    for (uint32_t port = dragonfly->first_global; port < topology->ports; port++) {
        if (!global_peer(dragonfly, from, port, &met))
            continue;
        uint32_t third = dragonfly_group(dragonfly, met.router), its_place = dragonfly_place(dragonfly, met.router);
        if (third == there)
            continue;
        const struct dragonfly_gate *in = dragonfly_gates(dragonfly, there, third);
        const struct dragonfly_gate *out = dragonfly_gates(dragonfly, third, there);
        for (uint32_t i = 0; i < dragonfly_channels(dragonfly, there, third); i++)
            if (in[i].place == place && out[i].place == its_place)
                return true;
    }
    return false;
}

/* Local, global, local; by the best of the parallel channels; and two global channels may be shorter than three. */
static uint32_t dragonfly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t here = dragonfly_group(dragonfly, from), there = dragonfly_group(dragonfly, to), best = 3;
    if (here == there)
        return from != to;
    const struct dragonfly_gate *out = dragonfly_gates(dragonfly, here, there);
    const struct dragonfly_gate *in = dragonfly_gates(dragonfly, there, here);
    for (uint32_t i = 0; i < dragonfly_channels(dragonfly, here, there); i++) {
        uint32_t hops =
            1u + (out[i].place != dragonfly_place(dragonfly, from)) + (in[i].place != dragonfly_place(dragonfly, to));
        best = hops < best ? hops : best;
    }
    return best == 3 && meet_in_a_third_group(topology, from, to) ? 2 : best;
}

/* ---- dragonfly_2d: groups that are grids, fully connected along each row and along each column ---- */

/*
 * Cray's Cascade (Faanes et al. 2012, the XC series): there a row is a chassis of 16 routers with one channel for each
 * pair (green), a column is the routers of one slot in the 6 chassis of a group with three channels for each pair
 * (black), and each router has up to ten global channels (blue):
 *
 *     columns 16, row_channels 1, rows 6, column_channels 3, global 10
 *
 * Router row * columns + column of a group has ports to the other columns of its row in rising order, then to the other
 * rows of its column, parallel ones side by side, then the global ones.
 */
struct dragonfly_2d_config {
    struct global_config channels;
    uint32_t columns, rows;
    uint32_t row_channels, column_channels;
};

static const struct option dragonfly_2d_options[] = {
    OPTION_U32(struct global_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
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

static struct dragonfly dragonfly_2d_describe(const void *settings)
{
    const struct dragonfly_2d_config *config = settings;
    uint32_t routers = config->columns * config->rows;
    uint32_t local = (config->columns - 1) * config->row_channels + (config->rows - 1) * config->column_channels;
    return (struct dragonfly){
        .shape = GROUP_GRID,
        .routers = routers,
        .hosts = routers,
        .first_global = local,
        .ports = local + config->channels.global,
        .columns = config->columns,
        .row_channels = config->row_channels,
        .column_channels = config->column_channels,
    };
}

static bool dragonfly_2d_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t place = dragonfly_place(dragonfly, router), row_ports = (dragonfly->columns - 1) * dragonfly->row_channels;
    uint32_t row = dragonfly->row_of[place], column = place - row * dragonfly->columns, other;
    if (is_global(dragonfly, router, port))
        return global_peer(dragonfly, router, port, peer);
    if (port < row_ports) {
        uint32_t index = port / dragonfly->row_channels;
        other = place - column + index + (index >= column);
        peer->port = dragonfly_row_port(dragonfly, other, column) + port % dragonfly->row_channels;
    } else {
        uint32_t behind = port - row_ports, index = behind / dragonfly->column_channels;
        other = (index + (index >= row)) * dragonfly->columns + column;
        peer->port = dragonfly_column_port(dragonfly, other, row) + behind % dragonfly->column_channels;
    }
    peer->router = router + other - place;
    return true;
}

/* ---- megafly: leaves with terminals, and spines with global channels ---- */

/*
 * Also dragonfly+ (Flajslik, Borch, Parker 2018; Shpiner et al. 2017). Each leaf is joined to each spine; leaves have the
 * lower numbers.
 *
 *     leaf     terminals | to spines 0, 1, ...
 *     spine    to leaves 0, 1, ... | global
 */
struct megafly_config {
    struct global_config channels;
    uint32_t leaves, spines;
};

static const struct option megafly_options[] = {
    OPTION_U32(struct global_config, terminals, "2", 1, 1024, "terminals", "terminals at each leaf"),
    OPTION_U32(struct megafly_config, leaves, "2", 1, MAX_GROUP_ROUTERS / 2, "routers", "leaf routers of each group"),
    OPTION_U32(struct megafly_config, spines, "2", 1, MAX_GROUP_ROUTERS / 2, "routers", "spine routers of each group"),
    GLOBAL_OPTIONS("2", "global channels at each spine", "groups, at most spines * global + 1; null: as many as that"),
    OPTION_END,
};

static struct dragonfly megafly_describe(const void *settings)
{
    const struct megafly_config *config = settings;
    uint32_t spine_ports = config->leaves + config->channels.global;
    return (struct dragonfly){
        .shape = GROUP_BIPARTITE,
        .routers = config->leaves + config->spines,
        .hosts = config->leaves,
        .first_gate = config->leaves,
        .first_global = config->leaves,
        .ports = spine_ports > config->spines ? spine_ports : config->spines,
    };
}

static uint32_t megafly_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct megafly_config *config = topology->config;
    uint32_t leaf = terminal / config->channels.terminals;
    return dragonfly_router(topology->facts, leaf / config->leaves, leaf % config->leaves);
}

static bool megafly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dragonfly *dragonfly = topology->facts;
    uint32_t place = dragonfly_place(dragonfly, router), leaves = dragonfly->hosts;
    bool is_leaf = place < leaves;
    if (is_global(dragonfly, router, port))
        return global_peer(dragonfly, router, port, peer);
    *peer = (struct router_port){router - place + port + (is_leaf ? leaves : 0), is_leaf ? place : place - leaves};
    return port < (is_leaf ? dragonfly->routers - leaves : leaves);
}

/* ---- all of them ---- */

static const struct dragonfly_kind dragonfly_kinds[] = {
    {
        .ops = {.name = "dragonfly",
                .summary = "fully connected groups of routers, every two groups joined by global channels",
                .options = dragonfly_options,
                .example = "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 4, \"global\": 2}",
                .check = global_check,
                .shape = global_shape,
                .peer = dragonfly_peer,
                .distance = dragonfly_distance,
                .channel_class = global_channel_class},
        .describe = dragonfly_describe,
        .gates = "routers",
        .channel_classes = 2,
        .channel_class_names = {"local", "global"},
    },
    {
        .ops = {.name = "dragonfly_2d",
                .summary = "a dragonfly whose groups are grids, fully connected along rows and columns (Cray Cascade)",
                .options = dragonfly_2d_options,
                .example = "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2, "
                           "\"row_channels\": 1, \"column_channels\": 2, \"global\": 1}",
                .check = global_check,
                .shape = global_shape,
                .peer = dragonfly_2d_peer,
                .channel_class = global_channel_class},
        .describe = dragonfly_2d_describe,
        .gates = "columns * rows",
        .channel_classes = 3,
        .channel_class_names = {"row", "column", "global"},
    },
    {
        .ops = {.name = "megafly",
                .summary =
                    "a dragonfly whose groups are leaves with terminals and spines with global channels (Dragonfly+)",
                .options = megafly_options,
                .example = "{\"type\": \"megafly\", \"terminals\": 2, \"leaves\": 2, \"spines\": 2, \"global\": 2}",
                .check = global_check,
                .shape = global_shape,
                .peer = megafly_peer,
                .router_of = megafly_router_of,
                .channel_class = global_channel_class},
        .describe = megafly_describe,
        .gates = "spines",
        .channel_classes = 2,
        .channel_class_names = {"local", "global"},
    },
};
REGISTER_COMPONENTS("topology", dragonfly_kinds);

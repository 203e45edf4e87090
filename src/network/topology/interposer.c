/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of routers on an interposer, below chiplets: a grid of routers with at most four
 * channels each, some of which pass over routers.
 *
 *     kite_small        all diagonals, and the border          (Bharadwaj et al. 2020)
 *     kite_medium       rows of a folded torus; columns and diagonals
 *     kite_large        channels that go one router across and two along
 *     folded_torus      rings along rows and columns, over every other router
 *     double_butterfly  rows, and crosses of one and two rows between columns
 *     butter_donut      the same with rows of a folded torus   (Kannan et al. 2015)
 *
 * The two first rules hold for any grid, of the others there is the published one, 4
 * rows of 5. The three kites are named after their longest channels, by which
 * channels have their classes. Ports are numbered as channels are named below.
 */
#include "network/topology/sizes.h"

#include <string.h>

enum layout { KITE_SMALL, KITE_MEDIUM, KITE_LARGE, FOLDED_TORUS, DOUBLE_BUTTERFLY, BUTTER_DONUT };
enum { DEGREE = 4, ROWS = 4, COLUMNS = 5 };

struct interposer_config {
    uint32_t layout;
    uint32_t rows, columns;
    uint32_t concentration;
};

struct interposer {
    uint32_t rows, columns;
    struct router_port *peers; /* by router * DEGREE + port */
    uint8_t *used;             /* ports of each router */
};

static const char *const layout_names[] = {"kite_small",       "kite_medium",  "kite_large", "folded_torus",
                                           "double_butterfly", "butter_donut", NULL};

static const struct option interposer_options[] = {
    OPTION_ENUM(struct interposer_config, layout, "\"kite_medium\"", layout_names, "which routers are joined"),
    OPTION_U32(struct interposer_config, rows, "4", 2, 1024, "rows",
               "rows of routers; 4 but for kite_small and folded_torus"),
    OPTION_U32(struct interposer_config, columns, "5", 2, 1024, "columns",
               "columns of routers; 5 but for kite_small and folded_torus"),
    OPTION_U32(struct interposer_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void interposer_check(const struct choice *self, struct errors *errors)
{
    const struct interposer_config *config = self->config;
    const char *layout = layout_names[config->layout];
    uint64_t routers = (uint64_t)config->rows * config->columns;
    if (config->layout != KITE_SMALL && config->layout != FOLDED_TORUS) {
        if (config->rows != ROWS)
            choice_error(errors, self, "rows", "\"%s\" of %u rows is not defined; accepted: %u", layout, config->rows,
                         ROWS);
        if (config->columns != COLUMNS)
            choice_error(errors, self, "columns", "\"%s\" of %u columns is not defined; accepted: %u", layout,
                         config->columns, COLUMNS);
    }
    topology_check_size(self, "rows", routers * config->concentration, routers * DEGREE, errors);
}

static void join(struct interposer *interposer, uint32_t router, uint32_t other)
{
    struct router_port one = {router, interposer->used[router]++}, two = {other, interposer->used[other]++};
    interposer->peers[(size_t)router * DEGREE + one.port] = two;
    interposer->peers[(size_t)other * DEGREE + two.port] = one;
}

static bool is_joined(const struct interposer *interposer, uint32_t router, uint32_t other)
{
    for (uint32_t port = 0; port < interposer->used[router]; port++)
        if (interposer->peers[(size_t)router * DEGREE + port].router == other)
            return true;
    return false;
}

static uint32_t at(const struct interposer *interposer, uint32_t row, uint32_t column)
{
    return row * interposer->columns + column;
}

/* A line of routers, `stride` between their numbers: each to the next, */
static void join_line(struct interposer *interposer, uint32_t first, uint32_t stride, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++)
        join(interposer, first + i * stride, first + (i + 1) * stride);
}

/* or as a ring that is folded: each to the next but one, and both ends to their neighbours. */
static void join_folded(struct interposer *interposer, uint32_t first, uint32_t stride, uint32_t count)
{
    join(interposer, first, first + stride);
    for (uint32_t i = 0; i + 2 < count; i++)
        join(interposer, first + i * stride, first + (i + 2) * stride);
    if (count > 2)
        join(interposer, first + (count - 2) * stride, first + (count - 1) * stride);
}

static void join_kite_small(struct interposer *interposer)
{
    uint32_t rows = interposer->rows, columns = interposer->columns;
    for (uint32_t row = 0; row + 1 < rows; row++)
        for (uint32_t column = 0; column + 1 < columns; column++) {
            join(interposer, at(interposer, row, column), at(interposer, row + 1, column + 1));
            join(interposer, at(interposer, row, column + 1), at(interposer, row + 1, column));
        }
    join_line(interposer, 0, 1, columns);
    join_line(interposer, at(interposer, rows - 1, 0), 1, columns);
    join_line(interposer, 0, columns, rows);
    join_line(interposer, columns - 1, columns, rows);
}

/* Between columns one and two from the sides: rows next to each other, and in the middle two apart, cross. */
static void join_crosses(struct interposer *interposer)
{
    for (uint32_t column = 0; column + 1 < COLUMNS; column++)
        for (uint32_t row = 0; row < ROWS; row++) {
            uint32_t apart = column == 0 || column + 2 == COLUMNS ? 1 : 2;
            join(interposer, at(interposer, row, column), at(interposer, row ^ apart, column + 1));
        }
}

struct channel_of {
    uint8_t row, column, to_row, to_column;
};

/* Channels, and their images in a mirror of rows, of columns, and of both. */
static void join_mirrored(struct interposer *interposer, const struct channel_of *channels, uint32_t count)
{
    for (uint32_t i = 0; i < 4 * count; i++) {
        struct channel_of c = channels[i / 4];
        uint32_t rows = i & 1 ? ROWS - 1 : 0, columns = i & 2 ? COLUMNS - 1 : 0;
        uint32_t one = at(interposer, rows ? rows - c.row : c.row, columns ? columns - c.column : c.column);
        uint32_t other =
            at(interposer, rows ? rows - c.to_row : c.to_row, columns ? columns - c.to_column : c.to_column);
        if (!is_joined(interposer, one, other))
            join(interposer, one, other);
    }
}

static const struct channel_of medium[] = {{0, 0, 1, 0}, {0, 0, 2, 0}, {0, 1, 2, 1}, {0, 1, 1, 2}, {0, 2, 1, 1}};
static const struct channel_of large[] = {{0, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 1, 2}, {0, 0, 2, 1}, {0, 1, 1, 3},
                                          {0, 2, 1, 0}, {0, 2, 2, 1}, {1, 0, 1, 1}, {1, 0, 2, 2}};

static void join_layout(struct interposer *interposer, uint32_t layout)
{
    bool folds = layout == FOLDED_TORUS || layout == BUTTER_DONUT || layout == KITE_MEDIUM;
    for (uint32_t row = 0; row < interposer->rows; row++)
        if (folds)
            join_folded(interposer, at(interposer, row, 0), 1, interposer->columns);
        else if (layout == DOUBLE_BUTTERFLY)
            join_line(interposer, at(interposer, row, 0), 1, interposer->columns);
    for (uint32_t column = 0; column < interposer->columns && layout == FOLDED_TORUS; column++)
        join_folded(interposer, column, interposer->columns, interposer->rows);
    if (layout == KITE_SMALL)
        join_kite_small(interposer);
    else if (layout == KITE_MEDIUM)
        join_mirrored(interposer, medium, sizeof medium / sizeof *medium);
    else if (layout == KITE_LARGE)
        join_mirrored(interposer, large, sizeof large / sizeof *large);
    else if (layout != FOLDED_TORUS)
        join_crosses(interposer);
}

static void interposer_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    static const char *const names[] = {"straight 1", "diagonal", "straight 2", "one and two"};
    const struct interposer_config *config = settings;
    struct interposer *interposer = arena_array(arena, struct interposer, 1);
    uint32_t routers = config->rows * config->columns;
    interposer->rows = config->rows;
    interposer->columns = config->columns;
    interposer->peers = arena_array(arena, struct router_port, (size_t)routers * DEGREE);
    interposer->used = arena_array(arena, uint8_t, routers);
    join_layout(interposer, config->layout);
    topology->state = interposer;
    topology_size(topology, routers, config->concentration, DEGREE);
    topology->channel_classes = 4;
    topology->channel_class_names = names;
}

static bool interposer_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct interposer *interposer = topology->state;
    *peer = interposer->peers[(size_t)router * DEGREE + port];
    return port < interposer->used[router];
}

/* By the rows and columns that the channel spans. */
static uint32_t interposer_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct interposer *interposer = topology->state;
    uint32_t other = interposer->peers[(size_t)router * DEGREE + port].router, columns = interposer->columns;
    int32_t across = (int32_t)(router % columns) - (int32_t)(other % columns);
    int32_t along = (int32_t)(router / columns) - (int32_t)(other / columns);
    int32_t squares = across * across + along * along; /* 1, 2, 4 or 5 */
    return (uint32_t)(squares < 4 ? squares - 1 : squares - 2);
}

static const struct topology_ops interposer = {
    .name = "interposer",
    .summary = "routers below chiplets: Kite, ButterDonut, Double Butterfly, Folded Torus",
    .options = interposer_options,
    .example = "{\"type\": \"interposer\", \"layout\": \"kite_large\"}",
    .check = interposer_check,
    .shape = interposer_shape,
    .peer = interposer_peer,
    .channel_class = interposer_channel_class,
};
REGISTER_TOPOLOGY(interposer);

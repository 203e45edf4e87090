/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of coordinates in which a terminal has one destination for the whole run,
 * worked out before it; the slot at the router stays.
 *
 *   dim_reverse             (x, y, z) to (z, y, x), for widths that read the same from both ends
 *   dim_complement_reverse  of widths X, Y, X to (X-1-z, Y-1-y, X-1-x), for such widths too: in two dimensions a
 *                           transposition about the other diagonal
 *   dim_rotate              to (y, z, x) or to (z, x, y); all widths are the same
 *   dim_transpose           two coordinates change places; their widths are the same
 *   swap2                   even terminals half a width further in one dimension, odd ones in another: adaptive routing
 *                           that spreads over dimensions gains nothing; a permutation where half a width holds an even
 *                           number of terminals
 *   dim_bisection_stress    over the middle of every dimension, near for some and far for others, so that no choice of
 *                           dimension helps: one group of terminals to the mirrored coordinates, the other half a width
 *                           further; all widths are even
 *   tornado                 ceil(k/2) - 1 routers up in each dimension, or in the first alone, going round: in a ring
 *                           nearly half way, all in one direction, so that minimal routing leaves the other direction
 *                           idle and reaches 1 / (ceil(k/2) - 1) at most
 */
#include "workload/traffic/coordinates.h"

enum rotation { ROTATE_LEFT, ROTATE_RIGHT };
static const char *const rotations[] = {"left", "right", NULL};
enum stress_groups { GROUPS_PARITY, GROUPS_HALF, GROUPS_QUADRANT };
static const char *const stress_groups[] = {"parity", "half", "quadrant", NULL};
enum tornado_dimensions { DIMENSIONS_ALL, DIMENSIONS_FIRST };
static const char *const tornado_dimensions[] = {"all", "first", NULL};

/* Of all patterns here but the tornado. */
struct dim_config {
    struct u32_list widths, dimensions;
    uint32_t direction, groups;
};

static const struct option dim_reverse_options[] = {
    COORDINATES_OPTION(struct dim_config),
    OPTION_END,
};
static const struct option dim_rotate_options[] = {
    COORDINATES_OPTION(struct dim_config),
    OPTION_ENUM(struct dim_config, direction, "\"left\"", rotations,
                "left: coordinate 1 becomes 0, and so on; right: the other way"),
    OPTION_END,
};
static const struct option dim_transpose_options[] = {
    COORDINATES_OPTION(struct dim_config),
    OPTION_U32_LIST(struct dim_config, dimensions, "[0, 1]", 0, MAX_DIMENSIONS - 1, NULL, "the two that change places"),
    OPTION_END,
};
static const struct option swap2_options[] = {
    COORDINATES_OPTION(struct dim_config),
    OPTION_U32_LIST(struct dim_config, dimensions, "[0, 1]", 0, MAX_DIMENSIONS - 1, NULL,
                    "of the even terminals, and of the odd ones"),
    OPTION_END,
};
static const struct option dim_bisection_stress_options[] = {
    COORDINATES_OPTION(struct dim_config),
    OPTION_ENUM(struct dim_config, groups, "\"half\"", stress_groups,
                "parity of the slot at the router, half of the last dimension, or parity of the quadrant"),
    OPTION_END,
};

struct tornado_config {
    uint32_t dimensions;
};

static const struct option tornado_options[] = {
    OPTION_ENUM(struct tornado_config, dimensions, "\"all\"", tornado_dimensions,
                "the dimensions in which a message moves"),
    OPTION_END,
};

/* Adds errors where the coordinates do not suit the pattern. */
typedef void dim_checker(const struct coordinates *coordinates, const struct dim_config *config,
                         const struct choice *self, struct errors *errors);
/* Moves from a terminal's spot to that of its destination. */
typedef void dim_mover(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot);

struct dim_pattern {
    struct traffic_ops ops;
    dim_checker *check;
    dim_mover *move;
};

/* ---- which coordinates suit ---- */

static void widths_are_symmetric(const struct coordinates *coordinates, const struct dim_config *config,
                                 const struct choice *self, struct errors *errors)
{
    (void)config;
    uint32_t d = 0, last = coordinates->dimensions - 1;
    while (d < coordinates->dimensions && coordinates->width[d] == coordinates->width[last - d])
        d++;
    if (d < coordinates->dimensions)
        choice_error(errors, self, NULL, "%s needs widths that read the same from both ends", self->component->name);
}

static void widths_are_equal(const struct coordinates *coordinates, const struct dim_config *config,
                             const struct choice *self, struct errors *errors)
{
    (void)config;
    uint32_t d = 0;
    while (d < coordinates->dimensions && coordinates->width[d] == coordinates->width[0])
        d++;
    if (d < coordinates->dimensions)
        choice_error(errors, self, NULL, "%s needs widths that are all the same", self->component->name);
}

static void picks_two(const struct coordinates *coordinates, const struct dim_config *config, const struct choice *self,
                      struct errors *errors)
{
    uint64_t set;
    coordinates_pick(coordinates, &config->dimensions, 2, &set, self, errors);
}

static void picks_two_equal(const struct coordinates *coordinates, const struct dim_config *config,
                            const struct choice *self, struct errors *errors)
{
    uint64_t set;
    if (!coordinates_pick(coordinates, &config->dimensions, 2, &set, self, errors))
        return;
    uint32_t a = coordinates->width[config->dimensions.items[0]], b = coordinates->width[config->dimensions.items[1]];
    if (a != b)
        choice_error(errors, self, "dimensions", "their widths differ: %u and %u", a, b);
}

static void suits_stress(const struct coordinates *coordinates, const struct dim_config *config,
                         const struct choice *self, struct errors *errors)
{
    if (coordinates_check_even(coordinates, UINT64_MAX, self, errors) && config->groups == GROUPS_PARITY &&
        coordinates->slots % 2)
        choice_error(errors, self, "groups", "parity needs an even number of terminals at a router: there are %u",
                     coordinates->slots);
}

/* ---- where terminals send ---- */

/* Coordinate d becomes what coordinate (a + b d) modulo the number of dimensions was. */
static void permute_coordinates(const struct coordinates *coordinates, struct spot *spot, uint32_t a, uint32_t b)
{
    struct spot old = *spot;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = old.at[(a + b * d) % coordinates->dimensions];
}

static void move_reversed(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                          struct spot *spot)
{
    (void)config, (void)terminal;
    permute_coordinates(coordinates, spot, coordinates->dimensions - 1, coordinates->dimensions - 1);
}

static void mirror(const struct coordinates *coordinates, struct spot *spot)
{
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = coordinates->width[d] - 1 - spot->at[d];
}

static void move_complement_reversed(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                                     struct spot *spot)
{
    move_reversed(coordinates, config, terminal, spot);
    mirror(coordinates, spot);
}

static void move_rotated(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                         struct spot *spot)
{
    (void)terminal;
    bool is_left = ((const struct dim_config *)config)->direction == ROTATE_LEFT;
    permute_coordinates(coordinates, spot, is_left ? 1 : coordinates->dimensions - 1, 1);
}

static void move_transposed(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                            struct spot *spot)
{
    (void)coordinates, (void)terminal;
    const uint32_t *swapped = ((const struct dim_config *)config)->dimensions.items;
    uint32_t first = spot->at[swapped[0]];
    spot->at[swapped[0]] = spot->at[swapped[1]];
    spot->at[swapped[1]] = first;
}

/* The same place of the other half; the middle of an odd width stays. */
static uint32_t other_half(uint32_t at, uint32_t width)
{
    if (at < width / 2)
        return at + (width + 1) / 2;
    return at >= (width + 1) / 2 ? at - (width + 1) / 2 : at;
}

static void move_half(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    uint32_t d = ((const struct dim_config *)config)->dimensions.items[terminal % 2];
    spot->at[d] = other_half(spot->at[d], coordinates->width[d]);
}

/* Of the two groups: quadrants are told apart in the manner of a chess board. */
static bool stresses_by_half(const struct coordinates *coordinates, uint32_t groups, const struct spot *spot)
{
    uint32_t last = coordinates->dimensions - 1, upper = 0;
    if (groups == GROUPS_PARITY)
        return spot->slot % 2;
    if (groups == GROUPS_HALF)
        return spot->at[last] >= coordinates->width[last] / 2;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        upper += spot->at[d] >= coordinates->width[d] / 2;
    return upper % 2;
}

static void move_stressed(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                          struct spot *spot)
{
    (void)terminal;
    if (!stresses_by_half(coordinates, ((const struct dim_config *)config)->groups, spot)) {
        mirror(coordinates, spot);
        return;
    }
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = other_half(spot->at[d], coordinates->width[d]);
}

static void move_round(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)terminal;
    bool is_first_alone = ((const struct tornado_config *)config)->dimensions == DIMENSIONS_FIRST;
    for (uint32_t d = 0; d < (is_first_alone ? 1 : coordinates->dimensions); d++)
        spot->at[d] = (spot->at[d] + (coordinates->width[d] + 1) / 2 - 1) % coordinates->width[d];
}

/* ---- before the run ---- */

/* All destinations are the pattern's state. */
static void list_destinations(struct traffic *traffic, const struct coordinates *coordinates,
                              const struct traffic_space *space)
{
    const struct dim_pattern *pattern = (const void *)traffic->ops;
    uint32_t *destinations = arena_array(space->arena, uint32_t, space->terminals);
    for (uint32_t terminal = 0; terminal < space->terminals; terminal++) {
        struct spot spot = coordinates_spot(coordinates, terminal);
        pattern->move(coordinates, traffic->config, terminal, &spot);
        destinations[terminal] = coordinates_terminal(coordinates, &spot);
    }
    traffic->state = destinations;
}

static void dim_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                        struct errors *errors)
{
    const struct dim_config *config = traffic->config;
    const struct dim_pattern *pattern = (const void *)traffic->ops;
    struct coordinates coordinates;
    uint32_t before = errors->count;
    if (coordinates_init(&coordinates, &config->widths, self, space, errors))
        pattern->check(&coordinates, config, self, errors);
    if (errors->count == before)
        list_destinations(traffic, &coordinates, space);
}

static void tornado_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                            struct errors *errors)
{
    struct coordinates coordinates;
    if (!space->grid)
        choice_error(errors, self, NULL,
                     "tornado needs coordinates: an application on all terminals, in order, of a torus or mesh");
    else if (coordinates_init(&coordinates, &(struct u32_list){0}, self, space, errors))
        list_destinations(traffic, &coordinates, space);
}

static uint32_t dim_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return ((const uint32_t *)traffic->state)[source];
}

#define DIM_OPS .prepare = dim_prepare, .destination = dim_destination
static const struct dim_pattern dimensions[] = {
    {.ops = {.name = "dim_reverse",
             .summary = "to the router whose coordinates stand in reverse order",
             .options = dim_reverse_options,
             DIM_OPS},
     .check = widths_are_symmetric,
     .move = move_reversed},
    {.ops = {.name = "dim_complement_reverse",
             .summary = "to the router whose coordinates are the complements in reverse order",
             .options = dim_reverse_options,
             .example = "{\"type\": \"dim_complement_reverse\", \"widths\": [8, 8]}",
             DIM_OPS},
     .check = widths_are_symmetric,
     .move = move_complement_reversed},
    {.ops = {.name = "dim_rotate",
             .summary = "to the router whose coordinates are rotated by one dimension",
             .options = dim_rotate_options,
             .example = "{\"type\": \"dim_rotate\", \"widths\": [4, 4, 4], \"direction\": \"right\"}",
             DIM_OPS},
     .check = widths_are_equal,
     .move = move_rotated},
    {.ops = {.name = "dim_transpose",
             .summary = "to the router with two coordinates exchanged",
             .options = dim_transpose_options,
             .example = "{\"type\": \"dim_transpose\", \"widths\": [4, 4, 4], \"dimensions\": [0, 2]}",
             DIM_OPS},
     .check = picks_two_equal,
     .move = move_transposed},
    {.ops = {.name = "swap2",
             .summary = "half a width further, in one dimension or the other by the terminal's parity",
             .options = swap2_options,
             .example = "{\"type\": \"swap2\", \"dimensions\": [1, 0]}",
             DIM_OPS},
     .check = picks_two,
     .move = move_half},
    {.ops = {.name = "dim_bisection_stress",
             .summary = "over the middle of every dimension, by mirror or by half a width",
             .options = dim_bisection_stress_options,
             .example = "{\"type\": \"dim_bisection_stress\", \"groups\": \"quadrant\"}",
             DIM_OPS},
     .check = suits_stress,
     .move = move_stressed},
    {.ops = {.name = "tornado",
             .summary = "nearly half way round a grid in every dimension",
             .options = tornado_options,
             .example = "{\"type\": \"tornado\", \"dimensions\": \"first\"}",
             .prepare = tornado_prepare,
             .destination = dim_destination},
     .move = move_round},
};
REGISTER_TRAFFIC_FAMILY(dimensions);

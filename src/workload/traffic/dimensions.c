/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of coordinates: those of the network's grid, or of a grid that option `widths` lays over the terminals. Terminals
 * of one router stand together: number = router * slots + slot, and coordinate 0 of the routers varies fastest.
 *
 * In these a terminal has one destination for the whole run, worked out before it; the slot at the router stays.
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
 *
 * In these each message has a destination of its own. A quadrant is a half of every dimension.
 *
 *   uniform_random_bisection  over the middle of some dimensions: there to the mirrored coordinate, in all others to
 *                             any; the slot at the router is mirrored too
 *   uniform_random_quadrant   within the own quadrant, so that no message crosses a middle; a terminal that is alone
 *                             there and may not send to itself stays silent
 *   random_exchange_quadrant  to the opposite quadrant, so that each message crosses the middle of all dimensions
 *   random_exchange_neighbor  to a router next door, up or down in one of some dimensions, going round; to the same
 *                             slot there, or to any
 *
 * Read by OpenCL too.
 */
#include "flitwarp/bits.h"
#include "flitwarp/traffic.h"

enum rotation { ROTATE_LEFT, ROTATE_RIGHT };
enum stress_groups { GROUPS_PARITY, GROUPS_HALF, GROUPS_QUADRANT };
enum tornado_dimensions { DIMENSIONS_ALL, DIMENSIONS_FIRST };

struct dim_config {
    struct u32_list widths, dimensions;
    uint32_t direction, groups;
    fw_bool self, all_slots;
};

/* Its setting `dimensions` is a word. */
struct tornado_config {
    struct dim_config others; /* which it does not have */
    uint32_t dimensions;
};

/* The grid of a pattern, with its settings. */
struct dim {
    FW_FAR(const struct choice) self;
    FW_FAR(const struct dim_config) config;
    uint32_t dimensions;
    uint32_t width[MAX_DIMENSIONS];
    uint32_t slots;  /* terminals of a router */
    uint64_t picked; /* set of dimensions: of option `dimensions`, or all */
};

/* Where a terminal is. */
struct spot {
    uint32_t at[MAX_DIMENSIONS];
    uint32_t slot, terminal;
};

static struct spot dim_spot(FW_GLOBAL const struct dim *dim, uint32_t terminal)
{
    struct spot spot = {.slot = terminal % dim->slots, .terminal = terminal};
    uint32_t router = terminal / dim->slots;
    for (uint32_t d = 0; d < dim->dimensions; d++) {
        spot.at[d] = router % dim->width[d];
        router /= dim->width[d];
    }
    return spot;
}

static uint32_t dim_terminal(FW_GLOBAL const struct dim *dim, const struct spot *spot)
{
    uint32_t router = 0;
    for (uint32_t d = dim->dimensions; d-- > 0;)
        router = router * dim->width[d] + spot->at[d];
    return router * dim->slots + spot->slot;
}

/* ---- a destination for each message: the state is the grid ---- */

static uint32_t bisection_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct dim *dim = traffic->state;
    struct spot spot = dim_spot(dim, source);
    spot.slot = dim->slots - 1 - spot.slot;
    for (uint32_t d = 0; d < dim->dimensions; d++)
        spot.at[d] = dim->picked >> d & 1 ? dim->width[d] - 1 - spot.at[d] : random_below(random, dim->width[d]);
    return dim_terminal(dim, &spot);
}

/* Moves to any place of the spot's quadrant, or of the opposite one. */
static void draw_quadrant(FW_GLOBAL const struct dim *dim, struct spot *spot, bool is_opposite, struct random *random)
{
    spot->slot = random_below(random, dim->slots);
    for (uint32_t d = 0; d < dim->dimensions; d++) {
        uint32_t middle = dim->width[d] / 2;
        bool is_upper = (spot->at[d] >= middle) != is_opposite;
        spot->at[d] = (is_upper ? middle : 0) + random_below(random, middle);
    }
}

static uint32_t own_quadrant_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct dim_config *config = traffic->config;
    FW_GLOBAL const struct dim *dim = traffic->state;
    bool is_alone = traffic->terminals >> dim->dimensions == 1; /* in its quadrant */
    if (is_alone && !config->self)
        return FW_NONE;
    struct spot spot = dim_spot(dim, source);
    uint32_t destination;
    do {
        draw_quadrant(dim, &spot, false, random);
        destination = dim_terminal(dim, &spot);
    } while (!config->self && destination == source);
    return destination;
}

static uint32_t opposite_quadrant_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct dim *dim = traffic->state;
    struct spot spot = dim_spot(dim, source);
    draw_quadrant(dim, &spot, true, random);
    return dim_terminal(dim, &spot);
}

static uint32_t next_door_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct dim_config *config = traffic->config;
    FW_GLOBAL const struct dim *dim = traffic->state;
    struct spot spot = dim_spot(dim, source);
    uint32_t way = random_below(random, 2 * config->dimensions.count);
    uint32_t d = FW_AT(const uint32_t, traffic, config->dimensions.items)[way / 2], width = dim->width[d];
    spot.at[d] = (spot.at[d] + (way % 2 ? 1 : width - 1)) % width;
    if (config->all_slots)
        spot.slot = random_below(random, dim->slots);
    return dim_terminal(dim, &spot);
}

#if FW_HOST
static const char *const rotations[] = {"left", "right", NULL};
static const char *const stress_groups[] = {"parity", "half", "quadrant", NULL};
static const char *const tornado_dimensions[] = {"all", "first", NULL};

#define WIDTHS_OPTION                                                                                                  \
    OPTION_U32_LIST(struct dim_config, widths, "[]", 1, 65536, NULL,                                                   \
                    "routers along each dimension; empty: as in the network")
#define DIMENSIONS_OPTION(fallback, help)                                                                              \
    OPTION_U32_LIST(struct dim_config, dimensions, fallback, 0, MAX_DIMENSIONS - 1, NULL, help)

static const struct option dim_options[] = {WIDTHS_OPTION, OPTION_END};
static const struct option dim_rotate_options[] = {
    WIDTHS_OPTION,
    OPTION_ENUM(struct dim_config, direction, "\"left\"", rotations,
                "left: coordinate 1 becomes 0, and so on; right: the other way"),
    OPTION_END,
};
static const struct option dim_transpose_options[] = {
    WIDTHS_OPTION,
    DIMENSIONS_OPTION("[0, 1]", "the two that change places"),
    OPTION_END,
};
static const struct option swap2_options[] = {
    WIDTHS_OPTION,
    DIMENSIONS_OPTION("[0, 1]", "of the even terminals, and of the odd ones"),
    OPTION_END,
};
static const struct option dim_bisection_stress_options[] = {
    WIDTHS_OPTION,
    OPTION_ENUM(struct dim_config, groups, "\"half\"", stress_groups,
                "parity of the slot at the router, half of the last dimension, or parity of the quadrant"),
    OPTION_END,
};
static const struct option tornado_options[] = {
    OPTION_ENUM(struct tornado_config, dimensions, "\"all\"", tornado_dimensions,
                "the dimensions in which a message moves"),
    OPTION_END,
};
static const struct option bisection_options[] = {
    WIDTHS_OPTION,
    DIMENSIONS_OPTION("[0]", "whose middle every message crosses"),
    OPTION_END,
};
static const struct option own_quadrant_options[] = {
    WIDTHS_OPTION,
    OPTION_BOOL(struct dim_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};
static const struct option neighbor_options[] = {
    WIDTHS_OPTION,
    DIMENSIONS_OPTION("[0]", "in which there are neighbours"),
    OPTION_BOOL(struct dim_config, all_slots, "false",
                "whether it sends to all terminals of those routers; otherwise to the one in its own place"),
    OPTION_END,
};

enum dim_needs {
    NEEDS_SYMMETRY = 1 << 0,  /* widths that read the same from both ends */
    NEEDS_ONE_WIDTH = 1 << 1, /* of all dimensions */
    NEEDS_EVEN = 1 << 2,      /* widths of the dimensions that are picked, or of all */
    NEEDS_GROUPS = 1 << 3,    /* that option `groups` names */
    PICKS = 1 << 4,           /* dimensions, by option `dimensions` */
    PICKS_TWO = 1 << 5,       /* of them */
    PICKS_EQUAL = 1 << 6,     /* of the same width */
    PICKS_WIDE = 1 << 7,      /* with neighbours */
};

struct dim_pattern {
    struct traffic_ops ops;
    enum dim_needs needs; /* a set: what it asks of grid and settings */
    /* Of those with one destination for ever: moves from the spot of a terminal to that of its destination. */
    void (*move)(const struct dim *dim, struct spot *spot);
};

/* ---- which grids suit ---- */

/* Takes over option `dimensions`: none twice, and two, or any number but none, of widths that suit. */
static void dim_pick(struct dim *dim, enum dim_needs needs, struct errors *errors)
{
    const struct u32_list *list = &dim->config->dimensions;
    bool is_two = needs & PICKS_TWO;
    uint32_t before = errors->count;
    dim->picked = 0;
    for (uint32_t i = 0; i < list->count && errors->count == before; i++) {
        if (list->items[i] >= dim->dimensions)
            choice_error(errors, dim->self, "dimensions", "there is no dimension %u: the last one is %u",
                         list->items[i], dim->dimensions - 1);
        else if (bits_test(&dim->picked, list->items[i]))
            choice_error(errors, dim->self, "dimensions", "%u is listed twice", list->items[i]);
        else
            bits_add(&dim->picked, list->items[i]);
    }
    if (errors->count == before && (is_two ? list->count != 2 : list->count == 0))
        choice_error(errors, dim->self, "dimensions", "lists %u; accepted: %s", list->count,
                     is_two ? "two dimensions" : "one or more");
    bool is_good = errors->count == before;
    for (uint32_t i = 0; i < list->count && is_good; i++) {
        uint32_t width = dim->width[list->items[i]], first = dim->width[list->items[0]];
        if (needs & PICKS_EQUAL && width != first)
            choice_error(errors, dim->self, "dimensions", "their widths differ: %u and %u", first, width);
        if (needs & PICKS_WIDE && width < 2)
            choice_error(errors, dim->self, "dimensions", "dimension %u has one router and no neighbours",
                         list->items[i]);
    }
}

static void dim_check_widths(const struct dim *dim, enum dim_needs needs, struct errors *errors)
{
    const char *name = dim->self->component->name;
    uint32_t last = dim->dimensions - 1, before = errors->count;
    for (uint32_t d = 0; d <= last && errors->count == before; d++) {
        uint32_t width = dim->width[d];
        if (needs & NEEDS_SYMMETRY && width != dim->width[last - d])
            choice_error(errors, dim->self, NULL, "%s needs widths that read the same from both ends", name);
        if (needs & NEEDS_ONE_WIDTH && width != dim->width[0])
            choice_error(errors, dim->self, NULL, "%s needs widths that are all the same", name);
        if (needs & NEEDS_EVEN && bits_test(&dim->picked, d) && width % 2)
            choice_error(errors, dim->self, NULL, "%s needs even widths: dimension %u has %u", name, d, width);
    }
    if (needs & NEEDS_GROUPS && errors->count == before && dim->config->groups == GROUPS_PARITY && dim->slots % 2)
        choice_error(errors, dim->self, "groups", "parity needs an even number of terminals at a router: there are %u",
                     dim->slots);
}

/* ---- where terminals send ---- */

/* Coordinate d becomes what coordinate (a + b d) modulo the number of dimensions was. */
static void dim_permute(const struct dim *dim, struct spot *spot, uint32_t a, uint32_t b)
{
    struct spot old = *spot;
    for (uint32_t d = 0; d < dim->dimensions; d++)
        spot->at[d] = old.at[(a + b * d) % dim->dimensions];
}

static void dim_reverse(const struct dim *dim, struct spot *spot)
{
    dim_permute(dim, spot, dim->dimensions - 1, dim->dimensions - 1);
}

static void dim_mirror(const struct dim *dim, struct spot *spot)
{
    for (uint32_t d = 0; d < dim->dimensions; d++)
        spot->at[d] = dim->width[d] - 1 - spot->at[d];
}

static void dim_complement_reverse(const struct dim *dim, struct spot *spot)
{
    dim_reverse(dim, spot);
    dim_mirror(dim, spot);
}

static void dim_rotate(const struct dim *dim, struct spot *spot)
{
    dim_permute(dim, spot, dim->config->direction == ROTATE_LEFT ? 1 : dim->dimensions - 1, 1);
}

static void dim_transpose(const struct dim *dim, struct spot *spot)
{
    const uint32_t *swapped = dim->config->dimensions.items;
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

static void dim_swap2(const struct dim *dim, struct spot *spot)
{
    uint32_t d = dim->config->dimensions.items[spot->terminal % 2];
    spot->at[d] = other_half(spot->at[d], dim->width[d]);
}

/* Of the two groups: quadrants are told apart in the manner of a chess board. */
static bool stresses_by_half(const struct dim *dim, const struct spot *spot)
{
    uint32_t last = dim->dimensions - 1, upper = 0;
    if (dim->config->groups == GROUPS_PARITY)
        return spot->slot % 2;
    if (dim->config->groups == GROUPS_HALF)
        return spot->at[last] >= dim->width[last] / 2;
    for (uint32_t d = 0; d < dim->dimensions; d++)
        upper += spot->at[d] >= dim->width[d] / 2;
    return upper % 2;
}

static void dim_stress(const struct dim *dim, struct spot *spot)
{
    if (!stresses_by_half(dim, spot)) {
        dim_mirror(dim, spot);
        return;
    }
    for (uint32_t d = 0; d < dim->dimensions; d++)
        spot->at[d] = other_half(spot->at[d], dim->width[d]);
}

static void dim_tornado(const struct dim *dim, struct spot *spot)
{
    bool is_first_alone = ((const struct tornado_config *)dim->config)->dimensions == DIMENSIONS_FIRST;
    for (uint32_t d = 0; d < (is_first_alone ? 1 : dim->dimensions); d++)
        spot->at[d] = (spot->at[d] + (dim->width[d] + 1) / 2 - 1) % dim->width[d];
}

/* ---- before the run ---- */

static void dim_take_grid(struct dim *dim, uint32_t dimensions, const uint32_t *width, uint32_t slots)
{
    dim->dimensions = dimensions;
    dim->slots = slots;
    for (uint32_t d = 0; d < dimensions; d++)
        dim->width[d] = width[d];
}

static void dim_take_widths(struct dim *dim, const struct traffic_space *space, struct errors *errors)
{
    const struct u32_list *widths = &dim->config->widths;
    uint64_t routers = 1;
    for (uint32_t d = 0; d < widths->count && routers <= space->terminals; d++)
        routers *= widths->items[d];
    if (widths->count > MAX_DIMENSIONS)
        choice_error(errors, dim->self, "widths", "%u dimensions, but a grid has 1 to %u", widths->count,
                     MAX_DIMENSIONS);
    else if (routers > space->terminals || space->terminals % routers)
        choice_error(errors, dim->self, "widths", "%u terminals do not fill a grid of these widths", space->terminals);
    else
        dim_take_grid(dim, widths->count, widths->items, space->terminals / (uint32_t)routers);
}

/* The state is the grid, or what has been worked out of it: the destinations by terminal. */
static void dim_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                        struct errors *errors)
{
    const struct dim_pattern *pattern = (const void *)traffic->ops;
    struct dim *dim = traffic->state = arena_array(space->arena, struct dim, 1);
    uint32_t before = errors->count;
    *dim = (struct dim){.self = self, .config = traffic->config, .picked = UINT64_MAX};
    if (dim->config->widths.count)
        dim_take_widths(dim, space, errors);
    else if (space->grid)
        dim_take_grid(dim, space->grid->dimensions, space->grid->width, space->concentration);
    else
        choice_error(errors, self, NULL, "%s needs coordinates: an application on all terminals, in order, of a %s",
                     traffic->ops->name, pattern->needs ? "grid, or `widths`" : "torus or mesh");
    if (errors->count == before && pattern->needs & PICKS)
        dim_pick(dim, pattern->needs, errors);
    if (errors->count == before)
        dim_check_widths(dim, pattern->needs, errors);
    if (errors->count > before || !pattern->move)
        return;
    uint32_t *destinations = traffic->state = arena_array(space->arena, uint32_t, space->terminals);
    for (uint32_t terminal = 0; terminal < space->terminals; terminal++) {
        struct spot spot = dim_spot(dim, terminal);
        pattern->move(dim, &spot);
        destinations[terminal] = dim_terminal(dim, &spot);
    }
}

#define DIM_FIXED .prepare = dim_prepare, .destination = traffic_listed, DEVICE_FORM(traffic_listed)
#define DIM_DRAWN(function) .prepare = dim_prepare, .destination = function, DEVICE_FORM(function)
static const struct dim_pattern dimensions[] = {
    {.ops = {COMPONENT("dim_reverse", "to the router whose coordinates stand in reverse order", dim_options, NULL),
             DIM_FIXED},
     .needs = NEEDS_SYMMETRY,
     .move = dim_reverse},
    {.ops = {COMPONENT("dim_complement_reverse", "to the router whose coordinates are the complements in reverse order",
                       dim_options, "{\"type\": \"dim_complement_reverse\", \"widths\": [8, 8]}"),
             DIM_FIXED},
     .needs = NEEDS_SYMMETRY,
     .move = dim_complement_reverse},
    {.ops = {COMPONENT("dim_rotate", "to the router whose coordinates are rotated by one dimension", dim_rotate_options,
                       "{\"type\": \"dim_rotate\", \"widths\": [4, 4, 4], \"direction\": \"right\"}"),
             DIM_FIXED},
     .needs = NEEDS_ONE_WIDTH,
     .move = dim_rotate},
    {.ops = {COMPONENT("dim_transpose", "to the router with two coordinates exchanged", dim_transpose_options,
                       "{\"type\": \"dim_transpose\", \"widths\": [4, 4, 4], \"dimensions\": [0, 2]}"),
             DIM_FIXED},
     .needs = PICKS | PICKS_TWO | PICKS_EQUAL,
     .move = dim_transpose},
    {.ops = {COMPONENT("swap2", "half a width further, in one dimension or the other by the terminal's parity",
                       swap2_options, "{\"type\": \"swap2\", \"dimensions\": [1, 0]}"),
             DIM_FIXED},
     .needs = PICKS | PICKS_TWO,
     .move = dim_swap2},
    {.ops = {COMPONENT("dim_bisection_stress", "over the middle of every dimension, by mirror or by half a width",
                       dim_bisection_stress_options, "{\"type\": \"dim_bisection_stress\", \"groups\": \"quadrant\"}"),
             DIM_FIXED},
     .needs = NEEDS_EVEN | NEEDS_GROUPS,
     .move = dim_stress},
    {.ops = {COMPONENT("tornado", "nearly half way round a grid in every dimension", tornado_options,
                       "{\"type\": \"tornado\", \"dimensions\": \"first\"}"),
             DIM_FIXED},
     .move = dim_tornado},
    {.ops = {COMPONENT("uniform_random_bisection",
                       "to the mirrored coordinate in some dimensions, to any in the others", bisection_options,
                       "{\"type\": \"uniform_random_bisection\", \"dimensions\": [1]}"),
             DIM_DRAWN(bisection_destination)},
     .needs = PICKS | NEEDS_EVEN},
    {.ops = {COMPONENT("uniform_random_quadrant", "to any terminal of the own quadrant", own_quadrant_options,
                       "{\"type\": \"uniform_random_quadrant\", \"self\": true}"),
             DIM_DRAWN(own_quadrant_destination)},
     .needs = NEEDS_EVEN},
    {.ops = {COMPONENT("random_exchange_quadrant", "to any terminal of the opposite quadrant", dim_options, NULL),
             DIM_DRAWN(opposite_quadrant_destination)},
     .needs = NEEDS_EVEN},
    {.ops = {COMPONENT("random_exchange_neighbor", "to a router next door", neighbor_options,
                       "{\"type\": \"random_exchange_neighbor\", \"dimensions\": [0, 1], \"all_slots\": true}"),
             DIM_DRAWN(next_door_destination)},
     .needs = PICKS | PICKS_WIDE},
};
REGISTER_TRAFFIC_FAMILY(dimensions);
#endif

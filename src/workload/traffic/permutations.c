/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns in which a terminal has one destination for the whole run, by its number.
 *
 *   loopback            itself, by way of its router: what interfaces alone can do
 *   neighbor            the next one, as in a ring of processes; one that is alone sends to itself
 *   bit_complement      every bit inverted: in a grid with widths that are powers of two each message
 *                       crosses the middle of every dimension, so that the bisection limits
 *   bit_reverse         the bits in opposite order, as in a fast Fourier transform; palindromes to themselves
 *   bit_rotation        the bits move one place to the right, the lowest to the top; inverse of shuffle
 *   shuffle             they move one place to the left, the highest to the bottom, as between the stages
 *                       of a fast Fourier transform or a sort; of both, the first and the last to themselves
 *   transpose           the element at (x, y) of a matrix spread over the terminals goes to (y, x). On a grid whose
 *                       first half of the dimensions has the widths of the second half, the halves of the router's
 *                       coordinates change places and the terminal keeps its slot at the router. Elsewhere the
 *                       halves of the terminal's number do, which needs 4, 16, 64, ... terminals. Terminals on the
 *                       diagonal send to themselves
 *   random_permutation  each is the partner of one other; drawn once from the seed, each as likely as any other;
 *                       without `self` each of those that leave nobody alone, by drawing until one comes up (2.7
 *                       times in the mean)
 *   listed              any mapping at all, of which no rule need be known; two sources may have the same destination
 *
 * Those of bits need 2, 4, 8, ... terminals.
 *
 * Read by OpenCL too.
 */
#include "flitwarp/traffic.h"

static uint32_t to_itself(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)traffic, (void)random;
    return source;
}

static uint32_t to_neighbor(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return source + 1 < traffic->terminals ? source + 1 : 0;
}

static uint32_t to_complement(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return traffic->terminals - 1 - source;
}

/* Of this one and those that follow the number of bits is the state. */
static uint32_t to_reversed(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    uint32_t bits = *(FW_GLOBAL const uint32_t *)traffic->state, reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
        reversed |= (source >> i & 1) << (bits - 1 - i);
    return reversed;
}

static uint32_t to_rotated(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return source >> 1 | (source & 1) << (*(FW_GLOBAL const uint32_t *)traffic->state - 1);
}

static uint32_t to_shuffled(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return (source << 1 | source >> (*(FW_GLOBAL const uint32_t *)traffic->state - 1)) & (traffic->terminals - 1);
}

struct transpose_state {
    uint32_t slots; /* terminals that move together */
    uint32_t side;  /* of the square */
};

static uint32_t transpose_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    FW_GLOBAL const struct transpose_state *state = traffic->state;
    uint32_t slot = source % state->slots, place = source / state->slots;
    uint32_t x = place % state->side, y = place / state->side;
    return (x * state->side + y) * state->slots + slot;
}

struct listed_config {
    struct u32_list destinations;
};

static uint32_t listed_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    FW_GLOBAL const struct listed_config *config = traffic->config;
    FW_GLOBAL const uint32_t *destinations = FW_AT(const uint32_t, traffic, config->destinations.items);
    return source < config->destinations.count ? destinations[source] : FW_NONE;
}

#if FW_HOST
static void bits_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                         struct errors *errors)
{
    uint32_t *bits = arena_array(space->arena, uint32_t, 1);
    while (*bits < 31 && (uint32_t)1 << *bits < space->terminals)
        ++*bits;
    traffic->state = bits;
    if (space->terminals < 2 || space->terminals != (uint32_t)1 << *bits)
        choice_error(errors, self, NULL, "%s needs a power of two of terminals: there are %u", traffic->ops->name,
                     space->terminals);
}

/* ---- transpose ---- */

/* The number of routers in half the dimensions; 0: the halves differ. */
static uint32_t grid_side(const struct grid *grid)
{
    uint32_t half = grid->dimensions / 2, side = 1;
    if (grid->dimensions % 2)
        return 0;
    for (uint32_t d = 0; d < half; d++) {
        if (grid->width[d] != grid->width[half + d])
            return 0;
        side *= grid->width[d];
    }
    return side;
}

/* 2^b of 2^(2b); 0: it is not a power of four. */
static uint32_t power_side(uint32_t terminals)
{
    uint32_t side = 1;
    while (side < 1u << 15 && side * side < terminals)
        side *= 2;
    return side * side == terminals ? side : 0;
}

static void transpose_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                              struct errors *errors)
{
    struct transpose_state *state = traffic->state = arena_array(space->arena, struct transpose_state, 1);
    *state = (struct transpose_state){space->concentration, space->grid ? grid_side(space->grid) : 0};
    if (!state->side)
        *state = (struct transpose_state){1, power_side(space->terminals)};
    if (!state->side)
        choice_error(errors, self, NULL, "transpose needs a square grid or a power of four of terminals: there are %u",
                     space->terminals);
}

/* ---- random_permutation ---- */

struct random_permutation_config {
    bool self;
};

static const struct option random_permutation_options[] = {
    OPTION_BOOL(struct random_permutation_config, self, "false", "whether a terminal may be its own partner"),
    OPTION_END,
};

static bool someone_is_alone(const uint32_t *partner, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (partner[i] == i)
            return true;
    return false;
}

static void random_permutation_prepare(struct traffic *traffic, const struct choice *self,
                                       const struct traffic_space *space, struct errors *errors)
{
    const struct random_permutation_config *config = traffic->config;
    uint32_t count = space->terminals;
    if (count < 2 && !config->self) {
        choice_error(errors, self, NULL, "random_permutation needs 2 terminals or more: there are %u", count);
        return;
    }
    uint32_t *partner = arena_array(space->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        partner[i] = i;
    struct random random = random_stream(space->seed, 0, RANDOM_SETUP);
    do
        random_shuffle(&random, partner, count);
    while (!config->self && someone_is_alone(partner, count));
    traffic->state = partner;
}

/* ---- listed ---- */

static const struct option listed_options[] = {
    OPTION_U32_LIST(struct listed_config, destinations, NULL, 0, FW_NONE - 1, NULL,
                    "by terminal, the one that it sends to; those beyond the list send nothing"),
    OPTION_END,
};

static void listed_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    const struct u32_list *list = &((const struct listed_config *)traffic->config)->destinations;
    if (list->count > space->terminals)
        choice_error(errors, self, "destinations", "found %u for %u terminals, expected one each", list->count,
                     space->terminals);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] >= space->terminals)
            choice_error(errors, self, "destinations", "there is no terminal %u: the last one is %u", list->items[i],
                         space->terminals - 1);
}

static const struct traffic_ops permutations[] = {
    {COMPONENT("loopback", "to the terminal itself", NULL, NULL), .destination = to_itself, DEVICE_FORM(to_itself)},
    {COMPONENT("neighbor", "to the next terminal by number", NULL, NULL), .destination = to_neighbor,
     DEVICE_FORM(to_neighbor)},
    {COMPONENT("bit_complement", "to the terminal with all bits of the number inverted", NULL, NULL),
     .prepare = bits_prepare, .destination = to_complement, DEVICE_FORM(to_complement)},
    {COMPONENT("bit_reverse", "to the terminal with the bits of the number in opposite order", NULL, NULL),
     .prepare = bits_prepare, .destination = to_reversed, DEVICE_FORM(to_reversed)},
    {COMPONENT("bit_rotation", "to the terminal with the bits of the number rotated right", NULL, NULL),
     .prepare = bits_prepare, .destination = to_rotated, DEVICE_FORM(to_rotated)},
    {COMPONENT("shuffle", "to the terminal with the bits of the number rotated left", NULL, NULL),
     .prepare = bits_prepare, .destination = to_shuffled, DEVICE_FORM(to_shuffled)},
    {COMPONENT("transpose", "from (x, y) to (y, x)", NULL, NULL), .prepare = transpose_prepare,
     .destination = transpose_destination, DEVICE_FORM(transpose_destination)},
    {COMPONENT("random_permutation", "one fixed partner each, drawn from the seed", random_permutation_options,
               "{\"type\": \"random_permutation\", \"self\": true}"),
     .prepare = random_permutation_prepare, .destination = traffic_listed, DEVICE_FORM(traffic_listed)},
    {COMPONENT("listed", "to the terminal that a list names for each", listed_options,
               "{\"type\": \"listed\", \"destinations\": [1, 2, 3, 0]}"),
     .prepare = listed_prepare, .destination = listed_destination, DEVICE_FORM(listed_destination)},
};
REGISTER_TRAFFIC_FAMILY(permutations);
#endif

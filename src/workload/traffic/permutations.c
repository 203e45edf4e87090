/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns that work out a destination from the terminal's number.
 *
 *   loopback        itself, by way of its router: what interfaces alone can do
 *   neighbor        the next one, as in a ring of processes; one that is alone sends to itself
 *   bit_complement  every bit inverted: in a grid with widths that are powers of two each message
 *                   crosses the middle of every dimension, so that the bisection limits
 *   bit_reverse     the bits in opposite order, as in a fast Fourier transform; palindromes to themselves
 *   bit_rotation    the bits move one place to the right, the lowest to the top; inverse of shuffle
 *   shuffle         they move one place to the left, the highest to the bottom, as between the stages
 *                   of a fast Fourier transform or a sort; of both, the first and the last to themselves
 *
 * Those of bits need 2, 4, 8, ... terminals.
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

/* The number of bits is the pattern's state. */
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

static uint32_t to_complement(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return traffic->terminals - 1 - source;
}

static uint32_t to_reversed(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    uint32_t bits = *(const uint32_t *)traffic->state, reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
        reversed |= (source >> i & 1) << (bits - 1 - i);
    return reversed;
}

static uint32_t to_rotated(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return source >> 1 | (source & 1) << (*(const uint32_t *)traffic->state - 1);
}

static uint32_t to_shuffled(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return (source << 1 | source >> (*(const uint32_t *)traffic->state - 1)) & (traffic->terminals - 1);
}

static const struct traffic_ops permutations[] = {
    {.name = "loopback", .summary = "to the terminal itself", .destination = to_itself},
    {.name = "neighbor", .summary = "to the next terminal by number", .destination = to_neighbor},
    {
        .name = "bit_complement",
        .summary = "to the terminal with all bits of the number inverted",
        .prepare = bits_prepare,
        .destination = to_complement,
    },
    {
        .name = "bit_reverse",
        .summary = "to the terminal with the bits of the number in opposite order",
        .prepare = bits_prepare,
        .destination = to_reversed,
    },
    {
        .name = "bit_rotation",
        .summary = "to the terminal with the bits of the number rotated right",
        .prepare = bits_prepare,
        .destination = to_rotated,
    },
    {
        .name = "shuffle",
        .summary = "to the terminal with the bits of the number rotated left",
        .prepare = bits_prepare,
        .destination = to_shuffled,
    },
};
REGISTER_TRAFFIC_FAMILY(permutations);

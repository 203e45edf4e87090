/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The bits of a terminal's number, for the patterns that permute them. */
#include "flitwarp/traffic.h"

/* Sets traffic->state to the number of bits; an error unless the terminals are a power of two, 2 or more. */
static inline void address_prepare(struct traffic *traffic, const struct choice *self,
                                   const struct traffic_space *space, struct errors *errors)
{
    uint32_t *bits = arena_array(space->arena, uint32_t, 1);
    while (*bits < 31 && (uint32_t)1 << *bits < space->terminals)
        ++*bits;
    traffic->state = bits;
    if (space->terminals < 2 || space->terminals != (uint32_t)1 << *bits)
        choice_error(errors, self, NULL, "%s needs a power of two of terminals: there are %u", traffic->ops->name,
                     space->terminals);
}

static inline uint32_t address_bits(const struct traffic *traffic) { return *(const uint32_t *)traffic->state; }

/* Rotates a terminal's number left by `count` below its number of bits. */
static inline uint32_t address_rotate(uint32_t address, uint32_t bits, uint32_t count)
{
    uint32_t mask = ((uint32_t)1 << bits) - 1;
    return (address << count | address >> (bits - count)) & mask;
}

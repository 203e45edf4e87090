/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A random member of a set, for the arbiters and allocators that draw. */
#include "flitwarp/arbiter.h"

extern const struct arbiter_ops random_arbiter;

/* Each member of the set, which is not empty, is as likely as any other. */
static inline uint32_t bits_draw(const uint64_t *set, uint32_t words, struct random *random)
{
    uint32_t members = bits_count(set, words), word = 0;
    uint32_t skip = members > 1 ? random_below(random, members) : 0;
    for (uint32_t here; skip >= (here = (uint32_t)__builtin_popcountll(set[word])); word++)
        skip -= here;
    uint64_t left = set[word];
    while (skip--)
        left &= left - 1;
    return word * WORD_BITS + lowest_bit(left);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The numbers that rand() of the GNU C library gives after srand(): an additive feedback generator (Knuth, The Art of Computer
 * Programming 2, 3.2.2) of 31 words, r[i] = r[i-3] + r[i-31], begun by a multiplicative one. SimuRed draws all its choices
 * from it, so who draws the same ones in the same order makes the same choices.
 */
#include <stdint.h>

enum { GNU_WORDS = 31, GNU_LAG = 3, GNU_SKIPPED = 10 * GNU_WORDS };

struct gnu_random {
    uint32_t words[GNU_WORDS];
    uint32_t oldest;
};

static inline uint32_t gnu_random_next(struct gnu_random *random)
{
    uint32_t at = random->oldest;
    random->words[at] += random->words[(at + GNU_WORDS - GNU_LAG) % GNU_WORDS];
    random->oldest = (at + 1) % GNU_WORDS;
    return random->words[at] >> 1;
}

static inline struct gnu_random gnu_random_begin(uint32_t seed)
{
    struct gnu_random random = {.words = {seed ? seed : 1}, .oldest = GNU_LAG};
    for (uint32_t i = 1; i < GNU_WORDS; i++) {
        int64_t next = 16807 * (int64_t)(int32_t)random.words[i - 1] % 2147483647;
        random.words[i] = (uint32_t)(next < 0 ? next + 2147483647 : next);
    }
    for (uint32_t i = 0; i < GNU_SKIPPED; i++)
        gnu_random_next(&random);
    return random;
}

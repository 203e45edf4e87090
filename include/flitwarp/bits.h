/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Sets as bit words. A set of up to 64 members is one word; larger ones are
 * arrays of words. The hot loops are written once for any number of words and
 * compiled a second time for exactly one.
 */
#include "flitwarp/both.h"

#define WORD_BITS 64u

static inline uint32_t words_for(uint32_t bits) { return (bits + WORD_BITS - 1) / WORD_BITS; }
static inline uint64_t bit(uint32_t index) { return (uint64_t)1 << (index % WORD_BITS); }
static inline size_t lowest_bit(uint64_t word) { return (size_t)__builtin_ctzll(word); }

static inline bool bits_test(const uint64_t *set, uint32_t index) { return set[index / WORD_BITS] & bit(index); }
static inline void bits_add(uint64_t *set, uint32_t index) { set[index / WORD_BITS] |= bit(index); }
static inline void bits_remove(uint64_t *set, uint32_t index) { set[index / WORD_BITS] &= ~bit(index); }

/* A word with bits [first, first + count) set; the range lies within one word. */
static inline uint64_t bits_range(uint32_t first, uint32_t count)
{
    return (count >= WORD_BITS ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first;
}

/* Adds the members of a word, counted from `first` on: they may go on in the next word. */
static inline void bits_add_word(uint64_t *set, uint32_t first, uint64_t word)
{
    uint32_t shift = first % WORD_BITS;
    uint64_t beyond = word >> 1 >> (WORD_BITS - 1 - shift);
    set[first / WORD_BITS] |= word << shift;
    if (beyond)
        set[first / WORD_BITS + 1] |= beyond;
}

/* The members in [first, first + count), of which there are no more than a word's, counted from `first` on. */
static inline uint64_t bits_word(const uint64_t *set, uint32_t first, uint32_t count)
{
    uint32_t word = first / WORD_BITS, shift = first % WORD_BITS;
    uint64_t more = shift + count > WORD_BITS ? set[word + 1] << (WORD_BITS - shift) : 0;
    return (set[word] >> shift | more) & bits_range(0, count);
}

/* Adds [first, first + count), which may cross words. */
static inline void bits_add_range(uint64_t *set, uint32_t first, uint32_t count)
{
    for (; count > WORD_BITS; first += WORD_BITS, count -= WORD_BITS)
        bits_add_word(set, first, ~(uint64_t)0);
    bits_add_word(set, first, bits_range(0, count));
}

static inline void bits_clear(uint64_t *set, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] = 0;
}

static inline bool bits_any(const uint64_t *set, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (set[w])
            return true;
    return false;
}

/* Have two sets a member in common? */
static inline bool bits_meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

static inline uint32_t bits_count(const uint64_t *set, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        count += (uint32_t)__builtin_popcountll(set[w]);
    return count;
}

/* The first member at or after `from`, going round; the set is not empty and `from` lies in its words. */
static inline uint32_t bits_next_cyclic(const uint64_t *set, uint32_t words, uint32_t from)
{
    uint32_t word = from / WORD_BITS;
    uint64_t here = set[word] & (~(uint64_t)0 << (from % WORD_BITS));
    while (!here) {
        word = word + 1 < words ? word + 1 : 0;
        here = set[word];
    }
    return (uint32_t)(word * WORD_BITS + lowest_bit(here));
}

/* The first member after `last`, going round; the set is not empty. */
static inline uint32_t bits_next_after(const uint64_t *set, uint32_t words, uint32_t last)
{
    return bits_next_cyclic(set, words, last + 1 < words * WORD_BITS ? last + 1 : 0);
}

/* Walks the members of a set in rising order; the loop works on a copy of each word, so members may leave. */
#define BITS_EACH(index, set, words)                                                                                   \
    for (uint32_t index##_word = 0; index##_word < (words); index##_word++)                                            \
        for (uint64_t index##_left = (set)[index##_word], index = 0;                                                   \
             index##_left && (index = index##_word * WORD_BITS + lowest_bit(index##_left), 1);                         \
             index##_left &= index##_left - 1)

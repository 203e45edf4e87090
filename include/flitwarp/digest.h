/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A 128-bit digest of a set of records that does not depend on their order: each
 * record is hashed by itself and the hashes are added, modulo 2^64 in each of two
 * lanes. Within a record the order of words matters. Inside, pairs of words are
 * multiplied under fixed keys and summed (the NH hash of UMAC), and two folded
 * multiplications scramble that sum, so that exchanging words between two records
 * shows. It guards against mistakes, not against an adversary.
 * Zeroed memory is the digest of no records. Read by OpenCL too.
 */
#include "flitwarp/both.h"

#define DIGEST_WORDS 16 /* the longest record */

struct digest {
    uint64_t lanes[2];
};

/* The fraction bits of pi, as published for Blowfish: keys without a hidden purpose. */
FW_TABLE uint64_t digest_keys[DIGEST_WORDS + 4] = {
    0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89, 0x452821e638d01377,
    0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917, 0x9216d5d98979fb1b, 0xd1310ba698dfb5ac,
    0x2ffd72dbd01adfb7, 0xb8e1afed6a267e96, 0xba7c9045f12c7f99, 0x24a19947b3916cf7, 0x0801f2e2858efc16,
    0x636920d871574e69, 0xa458fea3f4933d7e, 0x0d95748f728eb658, 0x718bcd5882154aee, 0x7b54a41dc25a59b5,
};

static inline uint64_t digest_fold(uint64_t a, uint64_t b)
{
    uint64_t high, low = multiply_wide(a, b, &high);
    return low ^ high;
}

/* Adds one record of up to DIGEST_WORDS words; meant to be called with a constant count, which unrolls it. */
static inline void digest_add(struct digest *digest, const uint64_t *words, uint32_t count)
{
    fw_wide sum = wide_from(count);
#pragma GCC unroll 8
    for (uint32_t i = 0; i + 1 < count; i += 2)
        sum = wide_add_product(sum, words[i] ^ digest_keys[i], words[i + 1] ^ digest_keys[i + 1]);
    if (count % 2)
        sum = wide_add_product(sum, words[count - 1] ^ digest_keys[count - 1], digest_keys[count]);
    uint64_t low = wide_low(sum), high = wide_high(sum);
    digest->lanes[0] += digest_fold(low ^ digest_keys[DIGEST_WORDS], high ^ digest_keys[DIGEST_WORDS + 1]);
    digest->lanes[1] += digest_fold(high + digest_keys[DIGEST_WORDS + 2], low ^ high ^ digest_keys[DIGEST_WORDS + 3]);
}

/* Addition, unlike an exclusive or, also tells a record that was lost from one that came twice. */
static inline void digest_merge(struct digest *into, const struct digest *from)
{
    into->lanes[0] += from->lanes[0];
    into->lanes[1] += from->lanes[1];
}

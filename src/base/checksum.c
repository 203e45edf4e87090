/* SPDX-License-Identifier: Apache-2.0 */
/* See checksum.h. */
#include "base/checksum.h"

#include "flitwarp/random.h"

/* Four lanes, so that the processor can work on them side by side. A program has gaps that the sanitizer would not let us read. */
__attribute__((no_sanitize("address"))) uint64_t bytes_checksum(const void *bytes, size_t count)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) any_word;
    const unsigned char *at = bytes;
    uint64_t lanes[4] = {1, 2, 3, 4};
    size_t left = count;
    for (; left >= sizeof lanes; left -= sizeof lanes, at += sizeof lanes)
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t mixed = (lanes[i] ^ ((const any_word *)at)[i]) * 0x9e3779b97f4a7c15;
            lanes[i] = mixed ^ mixed >> 29;
        }
    uint64_t rest[4] = {0};
    for (size_t i = 0; i < left; i++)
        rest[i / 8] |= (uint64_t)at[i] << i % 8 * 8;
    uint64_t sum = random_mix(count);
    for (uint32_t i = 0; i < 4; i++)
        sum = random_mix(sum ^ random_mix(lanes[i] ^ random_mix(rest[i])));
    return sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging and showing digests. Addition is what makes the digest independent of
 * order; it also tells a record that was lost from one that came twice, which an
 * exclusive or would not.
 */
#include "base/digest.h"

void digest_merge(struct digest *into, const struct digest *from)
{
    for (uint32_t lane = 0; lane < 2; lane++)
        into->lanes[lane] += from->lanes[lane];
}

void digest_text(const struct digest *digest, char text[33])
{
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t lane = digest->lanes[i / 16];
        text[i] = "0123456789abcdef"[lane >> (60 - 4 * (i % 16)) & 15];
    }
    text[32] = '\0';
}

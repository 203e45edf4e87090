/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Mail between ranks: words that each has for each other, of any number, and some
 * that everybody tells everybody at the same time.
 */
#include "base/words.h"
#include "engine/ranks.h"

struct mail {
    struct ranks *ranks; /* borrowed */
    struct words *out;   /* owned, by rank: filled by the caller, empty after a swap */
    struct words in;     /* owned: what came, by rank */
    uint32_t told;       /* words that everybody tells everybody */
    uint64_t *said, *heard;
    struct words sent;                          /* owned: all of out */
    int *out_count, *out_at, *in_count, *in_at; /* owned, by rank */
};

void mail_init(struct mail *mail, struct ranks *ranks, uint32_t told);
void mail_release(struct mail *mail);
/* All ranks together, with the words that this one tells. */
void mail_swap(struct mail *mail, const uint64_t *told);

/* What a rank told at the last swap, and what came from it. */
const uint64_t *mail_told(const struct mail *mail, uint32_t rank);
static inline const uint64_t *mail_from(const struct mail *mail, uint32_t rank, size_t *count)
{
    *count = (size_t)mail->in_count[rank];
    return *count ? mail->in.words + mail->in_at[rank] : NULL;
}

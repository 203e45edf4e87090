/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Numbers that all ranks put together: sums, and the largest or smallest. A function
 * lists them, by calls of those below, and is called twice: on the way out it is asked
 * for this rank's numbers; on the way back each of them becomes that of all ranks.
 *
 *     static void list(void *context, struct tally *tally)
 *     {
 *         struct counts *counts = context;
 *         tally_sum(tally, &counts->packets);
 *         tally_largest(tally, &counts->last_arrival);
 *     }
 *     ...
 *     tally_agree(&tally, list, &counts);
 */
#include "base/words.h"
#include "engine/ranks.h"

struct tally {
    const struct ranks *ranks;  /* borrowed */
    struct words sums, largest; /* owned */
    bool is_back;               /* the numbers are those of all ranks now */
    size_t sum_at, largest_at;  /* on the way back: the next */
};

typedef void tally_list(void *context, struct tally *tally);

/* Zeroed memory with ranks is ready to use. Called by all ranks together, with lists of the same length. */
void tally_agree(struct tally *tally, tally_list *list, void *context);
void tally_release(struct tally *tally);

void tally_sum(struct tally *tally, uint64_t *number); /* modulo 2^64 */
void tally_sum_wide(struct tally *tally, unsigned __int128 *number);
void tally_largest(struct tally *tally, uint64_t *number);
void tally_smallest(struct tally *tally, uint64_t *number);
/* Long rows of sums, which are not copied. */
void tally_row(struct tally *tally, uint64_t *numbers, size_t count);
void tally_row_u32(struct tally *tally, uint32_t *numbers, size_t count); /* modulo 2^32 */

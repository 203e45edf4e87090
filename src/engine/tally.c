/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that all ranks put together, see tally.h: all single ones travel at once. */
#include "engine/tally.h"

void tally_agree(struct tally *tally, tally_list *list, void *context)
{
    tally->is_back = false;
    tally->sums.count = tally->largest.count = 0;
    list(context, tally);
    ranks_add(tally->ranks, tally->sums.words, tally->sums.count);
    ranks_raise(tally->ranks, tally->largest.words, tally->largest.count);
    tally->is_back = true;
    tally->sum_at = tally->largest_at = 0;
    list(context, tally);
}

void tally_release(struct tally *tally)
{
    words_release(&tally->sums);
    words_release(&tally->largest);
}

void tally_sum(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->sums.words[tally->sum_at++];
    else
        *words_take(&tally->sums, 1) = *number;
}

/* In quarters, whose sums have room for what is carried over. */
void tally_sum_wide(struct tally *tally, unsigned __int128 *number)
{
    unsigned __int128 sum = 0;
    for (uint32_t shift = 0; shift < 128; shift += 32) {
        uint64_t quarter = (uint32_t)(*number >> shift);
        tally_sum(tally, &quarter);
        sum += (unsigned __int128)quarter << shift;
    }
    if (tally->is_back)
        *number = sum;
}

void tally_largest(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->largest.words[tally->largest_at++];
    else
        *words_take(&tally->largest, 1) = *number;
}

void tally_smallest(struct tally *tally, uint64_t *number)
{
    uint64_t complement = ~*number;
    tally_largest(tally, &complement);
    *number = ~complement;
}

void tally_row(struct tally *tally, uint64_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_add(tally->ranks, numbers, count);
}

void tally_row_u32(struct tally *tally, uint32_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_add_u32(tally->ranks, numbers, count);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Round robin: whose turn is it after the last? An arbiter serves the next of its
 * inputs. An allocator lets every row ask for the next column that it wants after the
 * last one it got, and every column take the next of the rows that ask for it after
 * the last one it took; what is remembered moves with grants only.
 *
 * The allocator `round_robin` works on a matching. Routers whose allocators and
 * arbiter are the ones named here ask and grant by themselves instead, from sets of
 * lanes that they have at hand: no matching need be filled.
 */
#include "flitwarp/bits.h"

#if FW_HOST
#include "flitwarp/allocator.h"

extern const struct arbiter_ops round_robin_arbiter;
extern const struct allocator_ops round_robin_allocator;
#endif

/* The first member of a set, which is not empty, that comes after `last`, going round. */
FW_INLINE size_t turn_after(const uint64_t *set, uint32_t words, uint32_t last)
{
    uint32_t word = words == 1 ? 0 : last / WORD_BITS;
    uint64_t after = set[word] & (~(uint64_t)1 << last % WORD_BITS);
    if (words == 1)
        return lowest_bit(after ? after : *set);
    while (!after) {
        word = word + 1 < words ? word + 1 : 0;
        after = set[word];
    }
    return word * WORD_BITS + lowest_bit(after);
}

/* Does one come before another when they are counted round from after `last`? */
FW_INLINE bool turn_is_before(size_t one, size_t other, size_t last) { return one - last - 1 < other - last - 1; }

#define TURNS_MOST 256 /* rows or columns whose numbers fit the memory */

/* The memory of an allocator, which has turns_bytes(). */
struct turns {
    FW_GLOBAL uint8_t *last_col; /* by row: what it got last */
    FW_GLOBAL uint8_t *last_row; /* by column: who took it last */
};

static inline size_t turns_bytes(uint32_t rows, uint32_t cols) { return (size_t)rows + cols; }

FW_INLINE struct turns turns_at(FW_GLOBAL void *memory, uint32_t rows)
{
    return (struct turns){.last_col = memory, .last_row = (FW_GLOBAL uint8_t *)memory + rows};
}

/* The first of all is the first to be served. */
static inline void turns_init(struct turns turns, uint32_t rows, uint32_t cols)
{
    for (uint32_t row = 0; row < rows; row++)
        turns.last_col[row] = (uint8_t)(cols - 1);
    for (uint32_t col = 0; col < cols; col++)
        turns.last_row[col] = (uint8_t)(rows - 1);
}

/*
 * A row asks for a column. The caller has a set of the columns that were asked for, of which this is the column's word,
 * and by column the row that it will take.
 */
FW_INLINE void turns_ask(struct turns turns, uint64_t *asked, FW_TEAM uint16_t *asker, size_t row, size_t col)
{
    if ((*asked & bit((uint32_t)col)) && !turn_is_before(row, asker[col], turns.last_row[col]))
        return;
    asker[col] = (uint16_t)row;
    *asked |= bit((uint32_t)col);
}

FW_INLINE void turns_grant(struct turns turns, size_t row, size_t col)
{
    turns.last_col[row] = (uint8_t)col;
    turns.last_row[col] = (uint8_t)row;
}

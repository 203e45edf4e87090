/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greedy allocation in rotating order: rows have their turns one after the
 * other, and each takes a column that is still free. The match is maximal (no
 * free column is left to a row that wants it), as that of a wavefront allocator
 * is, and it is the cheapest to simulate. See struct greedy in flitwarp/allocator.h.
 */
#include "flitwarp/allocator.h"

static size_t greedy_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config, (void)cols;
    return sizeof(struct greedy) + sizeof(uint16_t) * rows;
}

/* The first column is the first to be given. */
static void greedy_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    struct greedy *greedy = state;
    (void)config;
    for (uint32_t row = 0; row < rows; row++)
        greedy->last_col[row] = (uint16_t)(cols - 1);
}

/* One row's turn; false when all that it wants is taken. */
static bool take_turn(struct greedy *greedy, struct matching *matching, uint32_t row, uint64_t *free)
{
    const uint64_t *wants = matching->wants + (size_t)row * matching->col_words;
    bool any = false;
    for (uint32_t w = 0; w < matching->col_words; w++) {
        free[w] = wants[w] & ~matching->scratch[w]; /* scratch: the columns taken */
        any |= free[w] != 0;
    }
    if (!any)
        return false;
    uint32_t col = bits_next_after(free, matching->col_words, greedy->last_col[row]);
    greedy->last_col[row] = (uint16_t)col;
    bits_add(matching->scratch, col);
    matching_grant(matching, row, col);
    return true;
}

static void greedy_allocate(void *state, const void *config, struct matching *matching)
{
    struct greedy *greedy = state;
    uint64_t *taken = matching->scratch, *free = taken + matching->col_words;
    uint32_t start = greedy->first;
    bool is_first = true;
    (void)config;
    for (uint32_t turn = 0; turn < 2; turn++)
        BITS_EACH(row, matching->active_rows, matching->row_words)
            if ((row >= start) == (turn == 0) && take_turn(greedy, matching, (uint32_t)row, free) && is_first) {
                greedy->first = (uint16_t)(row + 1 < matching->rows ? row + 1 : 0);
                is_first = false;
            }
    for (uint32_t w = 0; w < matching->col_words; w++)
        taken[w] = free[w] = 0;
}

static const struct allocator_ops greedy = {
    .name = "greedy",
    .summary = "rows in rotating order take what is free; maximal",
    .is_greedy = true,
    .state_size = greedy_state_size,
    .init = greedy_init,
    .allocate = greedy_allocate,
};
REGISTER_ALLOCATOR(greedy);

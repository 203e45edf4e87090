/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round-robin allocation, described in flitwarp/allocator.h: the usual
 * separable allocator, input first, one iteration, round-robin arbiters on both
 * sides. It grants what separable_input_first grants with its defaults; this one
 * is compact and routers know it, which makes it the fastest to simulate.
 */
#include "flitwarp/allocator.h"

static size_t round_robin_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return sizeof(uint16_t) * (rows + cols);
}

/* The first of all is the first to be served. */
static void round_robin_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    uint16_t *last = state;
    (void)config;
    for (uint32_t i = 0; i < rows + cols; i++)
        last[i] = (uint16_t)((i < rows ? cols : rows) - 1);
}

static uint32_t steps_from(uint32_t last, uint32_t row, uint32_t rows)
{
    return row > last ? row - last : row + rows - last;
}

static void round_robin_allocate(void *state, const void *config, struct matching *matching)
{
    uint16_t *last_col = state, *last_row = last_col + matching->rows;
    uint64_t *asked = matching->scratch, *asker = asked + matching->col_words; /* set of columns; by column, the next row */
    (void)config;
    BITS_EACH(row, matching->active_rows, matching->row_words) {
        const uint64_t *wants = matching->wants + row * matching->col_words;
        uint32_t col = bits_next_after(wants, matching->col_words, last_col[row]);
        if (!bits_test(asked, col) || steps_from(last_row[col], (uint32_t)row, matching->rows) <
                                          steps_from(last_row[col], (uint32_t)asker[col], matching->rows))
            asker[col] = row;
        bits_add(asked, col);
    }
    BITS_EACH(col, asked, matching->col_words) {
        uint32_t row = (uint32_t)asker[col];
        matching_grant(matching, row, (uint32_t)col);
        last_col[row] = (uint16_t)col;
        last_row[col] = (uint16_t)row;
        asker[col] = 0;
    }
    for (uint32_t w = 0; w < matching->col_words; w++)
        asked[w] = 0;
}

static const struct allocator_ops round_robin = {
    .name = "round_robin",
    .summary = "inputs ask in turn for one output each, outputs take one of them in turn",
    .takes_turns = true,
    .state_size = round_robin_state_size,
    .init = round_robin_init,
    .allocate = round_robin_allocate,
};
REGISTER_ALLOCATOR(round_robin);

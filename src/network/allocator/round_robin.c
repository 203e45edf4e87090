/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round-robin allocation, described in flitwarp/allocator.h: the usual
 * separable allocator, input first, one iteration, round-robin arbiters on both
 * sides. It grants what separable_input_first grants with its defaults; this one
 * is compact and routers know it, which makes it the fastest to simulate.
 */
#include "flitwarp/allocator.h"

static bool is_wide(uint32_t rows, uint32_t cols) { return rows > 256 || cols > 256; }

static size_t round_robin_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return (size_t)(rows + cols) * (is_wide(rows, cols) ? sizeof(uint16_t) : sizeof(uint8_t));
}

static uint32_t get_last(const void *state, size_t index, bool wide)
{
    return wide ? ((const uint16_t *)state)[index] : ((const uint8_t *)state)[index];
}

static void set_last(void *state, size_t index, uint32_t last, bool wide)
{
    if (wide)
        ((uint16_t *)state)[index] = (uint16_t)last;
    else
        ((uint8_t *)state)[index] = (uint8_t)last;
}

/* The first of all is the first to be served. */
static void round_robin_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    for (uint32_t i = 0; i < rows + cols; i++)
        set_last(state, i, (i < rows ? cols : rows) - 1, is_wide(rows, cols));
}

static uint32_t steps_from(uint32_t last, uint32_t row, uint32_t rows)
{
    return row > last ? row - last : row + rows - last;
}

/* Is it the row's turn before the asker's? */
static bool comes_first(const void *state, const struct matching *matching, uint32_t col, uint32_t row, uint32_t asker)
{
    uint32_t last = get_last(state, matching->rows + col, is_wide(matching->rows, matching->cols));
    return steps_from(last, row, matching->rows) < steps_from(last, asker, matching->rows);
}

static void round_robin_allocate(void *state, const void *config, struct matching *matching)
{
    bool wide = is_wide(matching->rows, matching->cols);
    uint64_t *asked = matching->scratch,
             *asker = asked + matching->col_words; /* set of columns; by column, the next row */
    (void)config;
    BITS_EACH(row, matching->active_rows, matching->row_words) {
        const uint64_t *wants = matching->wants + row * matching->col_words;
        uint32_t col = bits_next_after(wants, matching->col_words, get_last(state, row, wide));
        if (!bits_test(asked, col) || comes_first(state, matching, col, (uint32_t)row, (uint32_t)asker[col]))
            asker[col] = row;
        bits_add(asked, col);
    }
    BITS_EACH(col, asked, matching->col_words) {
        uint32_t row = (uint32_t)asker[col];
        matching_grant(matching, row, (uint32_t)col);
        set_last(state, row, (uint32_t)col, wide);
        set_last(state, matching->rows + col, row, wide);
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

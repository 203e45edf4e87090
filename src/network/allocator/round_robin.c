/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round-robin allocation: the usual separable allocator, input first, one
 * iteration, round-robin arbiters on both sides. It grants what
 * separable_input_first grants with its defaults, and is just that where rows or
 * columns are too many for its compact memory.
 */
#include "network/allocator/round_robin.h"
#include "network/allocator/separable.h"

static const struct separable_config by_turns = {
    .iterations = 1,
    .input_arbiter = {.component = &round_robin_arbiter.component},
    .output_arbiter = {.component = &round_robin_arbiter.component},
};

static bool is_small(uint32_t rows, uint32_t cols) { return rows <= TURNS_MOST && cols <= TURNS_MOST; }

static size_t round_robin_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return is_small(rows, cols) ? turns_bytes(rows, cols) : separable_state_size(&by_turns, rows, cols);
}

static void round_robin_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    if (is_small(rows, cols))
        turns_init(turns_at(state, rows), rows, cols);
    else
        separable_init(state, &by_turns, rows, cols);
}

static void round_robin_allocate(void *state, const void *config, struct matching *matching)
{
    (void)config;
    if (!is_small(matching->rows, matching->cols)) {
        separable_allocate(state, &by_turns, matching, INPUT_FIRST);
        return;
    }
    struct turns turns = turns_at(state, matching->rows);
    uint16_t asker[TURNS_MOST];
    uint64_t asked[TURNS_MOST / WORD_BITS] = {0};
    BITS_EACH(row, matching->active_rows, matching->row_words) {
        const uint64_t *wants = matching->wants + row * matching->col_words;
        uint32_t col = turn_after(wants, matching->col_words, turns.last_col[row]);
        turns_ask(turns, &asked[col / WORD_BITS], asker, (uint32_t)row, col);
    }
    BITS_EACH(col, asked, matching->col_words) {
        matching_grant(matching, asker[col], (uint32_t)col);
        turns_grant(turns, asker[col], (uint32_t)col);
    }
}

const struct allocator_ops round_robin_allocator = {
    .name = "round_robin",
    .summary = "inputs ask in turn for one output each, outputs take one of them in turn",
    .state_size = round_robin_state_size,
    .init = round_robin_init,
    .allocate = round_robin_allocate,
};
REGISTER_ALLOCATOR(round_robin_allocator);

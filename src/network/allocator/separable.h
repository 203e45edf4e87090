/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Separable allocation by matchings (separable.c) and by words (separable_words.c): what both work on. */
#include "network/allocator/round_robin.h"

struct separable_config {
    uint32_t iterations;
    struct choice input_arbiter;  /* of each row, among columns */
    struct choice output_arbiter; /* of each column, among rows */
};

/* Output first, arbiters may remember the grants of the first iteration alone. */
enum separable_order { INPUT_FIRST, OUTPUT_FIRST, OUTPUT_FIRST_ONCE };

/* Followed by the arbiters' memory: rows first, then columns. */
struct separable_state {
    size_t row_bytes, col_bytes; /* of one arbiter */
};

static inline char *row_arbiters(struct separable_state *state) { return (char *)(state + 1); }

static inline size_t col_arbiters_at(const struct separable_state *state, uint32_t rows)
{
    return (rows * state->row_bytes + 7) / 8 * 8;
}
static inline char *col_arbiters(struct separable_state *state, uint32_t rows)
{
    return row_arbiters(state) + col_arbiters_at(state, rows);
}

/* By words. */
void separable_allocate_words(void *state, const struct separable_config *config, uint32_t iterations,
                              struct word_matching *words, enum separable_order order);

/*
 * With turns on both sides, and by words. A row none of whose columns another wants has no rival on either side: it gets the
 * column whose turn it is, whichever side goes first. Who has requests at hand serves such rows by itself, the others by rounds.
 */
struct turn_rounds {
    uint32_t rounds; /* 0: the allocator does not take turns */
    enum separable_order order;
};
struct turn_rounds separable_turns(const struct choice *allocator);
void separable_match_turns(void *state, struct turn_rounds rounds, struct word_matching *words, uint64_t rivals);

struct turn_memory {
    uint32_t *last_col, *last_row; /* by row, and by column */
};
/* As col_arbiters_at() has it, for arbiters that take turns: their memory is one number. */
static inline struct turn_memory separable_turn_memory(struct separable_state *state, uint32_t rows)
{
    uint32_t *first = (uint32_t *)(void *)row_arbiters(state);
    return (struct turn_memory){first, first + (rows + 1) / 2 * 2};
}
/* The column of a row without rivals. */
FW_INLINE size_t separable_take_turn(struct turn_memory memory, size_t row, uint64_t wants)
{
    size_t col = turn_after(&wants, 1, memory.last_col[row]);
    memory.last_col[row] = (uint32_t)col;
    memory.last_row[col] = (uint32_t)row;
    return col;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iSLIP (N. McKeown, "The iSLIP scheduling algorithm for input-queued
 * switches", IEEE/ACM Transactions on Networking 7(2), 1999). In each iteration
 *   1. every free column offers itself to one free row that wants it,
 *   2. every row with offers accepts one,
 * both by round robin. A pointer moves past its choice only when the offer was
 * accepted in the first iteration: that keeps the columns' pointers apart, so
 * that a saturated switch reaches full throughput, and starves no request.
 *
 * Cost follows the rows and columns that take part. Sets of one word, the usual
 * case, have their own copy of the code with the sets in registers: 22
 * instructions a column and 21 a row, against 50 each with two words (gcc 12).
 */
#include "network/allocator/round_robin.h"
#include "flitwarp/packet.h"

#include <string.h>

struct islip_config {
    uint32_t iterations;
};

static const struct option islip_options[] = {
    OPTION_U32(struct islip_config, iterations, "1", 1, 64, NULL, "rounds of offers and acceptances"),
    OPTION_END,
};

/* By row the column that it accepted last, then by column the row that accepted it last. */
static size_t islip_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return (rows + cols) * sizeof(uint32_t);
}

/* The last of all was served last: the first is the first to be served. */
static void islip_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    uint32_t *last = state;
    for (uint32_t i = 0; i < rows + cols; i++)
        last[i] = i < rows ? cols - 1 : rows - 1;
}

/* What turn_after finds in a set without the members of `taken`; FW_NONE: there is no other. */
TURNS_INLINE uint32_t next_free(const uint64_t *set, const uint64_t *taken, uint32_t words, uint32_t last)
{
    uint32_t word = words == 1 ? 0 : last / WORD_BITS;
    uint64_t after = set[word] & ~taken[word] & (~(uint64_t)1 << (last % WORD_BITS));
    for (uint32_t step = 0; !after && step < words; step++) {
        word = word + 1 < words ? word + 1 : 0;
        after = set[word] & ~taken[word];
    }
    return after ? word * WORD_BITS + lowest_bit(after) : FW_NONE;
}

/* One allocation while it runs. */
struct islip_run {
    struct matching *matching;
    uint32_t *last_col; /* by row */
    uint32_t *last_row; /* by column */
    uint64_t *taken_cols;
    uint64_t *offered_rows;
    uint64_t *offers; /* by row: the set of columns that offer themselves */
    uint32_t row_words, col_words;
};

TURNS_INLINE void offer_to(const struct islip_run *run, uint32_t row, uint32_t col)
{
    bits_add(run->offered_rows, row);
    bits_add(run->offers + (size_t)row * run->col_words, col);
}

TURNS_INLINE void offer_all(const struct islip_run *run)
{
    const struct matching *matching = run->matching;
    BITS_EACH(col, matching->active_cols, run->col_words)
        offer_to(run, turn_after(matching->wanted_by + col * run->row_words, run->row_words, run->last_row[col]),
                 (uint32_t)col);
}

TURNS_INLINE void offer_free(const struct islip_run *run)
{
    const struct matching *matching = run->matching;
    BITS_EACH(row, matching->granted, run->row_words)
        bits_add(run->taken_cols, matching->grant[row]);
    BITS_EACH(col, matching->active_cols, run->col_words) {
        if (bits_test(run->taken_cols, (uint32_t)col))
            continue;
        const uint64_t *wanted_by = matching->wanted_by + col * run->row_words;
        uint32_t row = next_free(wanted_by, matching->granted, run->row_words, run->last_row[col]);
        if (row != FW_NONE)
            offer_to(run, row, (uint32_t)col);
    }
}

/* Empties the offers. */
TURNS_INLINE void accept(const struct islip_run *run, bool is_first)
{
    BITS_EACH(row, run->offered_rows, run->row_words) {
        uint64_t *offers = run->offers + row * run->col_words;
        uint32_t col = turn_after(offers, run->col_words, run->last_col[row]);
        for (uint32_t w = 0; w < run->col_words; w++)
            offers[w] = 0;
        run->matching->grant[row] = (uint16_t)col;
        if (is_first) {
            run->last_col[row] = col;
            run->last_row[col] = (uint32_t)row;
        }
    }
    for (uint32_t w = 0; w < run->row_words; w++) {
        run->matching->granted[w] |= run->offered_rows[w];
        run->offered_rows[w] = 0;
    }
}

TURNS_INLINE void match(const struct islip_run *run, uint32_t iterations)
{
    offer_all(run);
    accept(run, true);
    while (--iterations) {
        offer_free(run);
        if (!bits_any(run->offered_rows, run->row_words))
            break;
        accept(run, false);
    }
}

static void match_one_word(uint32_t *last, uint32_t iterations, struct matching *matching)
{
    uint64_t taken_cols = 0, offered_rows = 0;
    struct islip_run run = {
        .matching = matching,
        .last_col = last,
        .last_row = last + matching->rows,
        .taken_cols = &taken_cols,
        .offered_rows = &offered_rows,
        .offers = matching->scratch,
        .row_words = 1,
        .col_words = 1,
    };
    match(&run, iterations);
}

static __attribute__((noinline)) void match_many_words(uint32_t *last, uint32_t iterations, struct matching *matching)
{
    uint64_t *taken_cols = matching->scratch, *offered_rows = taken_cols + matching->col_words;
    struct islip_run run = {
        .matching = matching,
        .last_col = last,
        .last_row = last + matching->rows,
        .taken_cols = taken_cols,
        .offered_rows = offered_rows,
        .offers = offered_rows + matching->row_words,
        .row_words = matching->row_words,
        .col_words = matching->col_words,
    };
    match(&run, iterations);
    memset(taken_cols, 0, matching->col_words * sizeof(*taken_cols));
}

static void islip_allocate(void *state, const void *config, struct matching *matching)
{
    const struct islip_config *islip = config;
    if (matching->row_words == 1 && matching->col_words == 1)
        match_one_word(state, islip->iterations, matching);
    else
        match_many_words(state, islip->iterations, matching);
}

static const struct allocator_ops islip = {
    .name = "islip",
    .summary = "rotating offers and acceptances whose pointers move on success only",
    .options = islip_options,
    .example = "{\"type\": \"islip\", \"iterations\": 2}",
    .state_size = islip_state_size,
    .init = islip_init,
    .allocate = islip_allocate,
};
REGISTER_ALLOCATOR(islip);

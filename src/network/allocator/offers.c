/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two allocators of rotating offers beside iSLIP, as BookSim (N. Jiang et al., "A detailed
 * and flexible cycle-accurate Network-on-Chip simulator", ISPASS 2013) has them:
 *
 *   lonely_output     every row asks for the column that the fewest rows want, every column serves one of those
 *                     rows; one round. The turns of both move on by one with each grant, whoever got it.
 *   standing_offers   columns offer themselves, rows take offers, as in iSLIP; but an offer that was not taken
 *                     stands in the next round, in which a row may change for it and leave a column idle.
 */
#include "flitwarp/allocator.h"
#include "flitwarp/packet.h"

#include <string.h>

/* Whose turn it is: of columns for each row, then of rows for each column. */
static size_t turns_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return ((size_t)rows + cols) * sizeof(uint16_t);
}

static uint16_t next_of(uint32_t turn, uint32_t count) { return (uint16_t)(turn + 1 < count ? turn + 1 : 0); }

/* The column that the fewest rows want, the first of them from `turn` on. */
static uint32_t loneliest(const struct matching *m, size_t row, uint32_t turn)
{
    const uint64_t *wants = m->wants + row * m->col_words;
    uint32_t first = bits_next_cyclic(wants, m->col_words, turn), best = first, least = UINT32_MAX, col = first;
    do {
        uint32_t rivals = bits_count(m->wanted_by + (size_t)col * m->row_words, m->row_words);
        if (rivals < least) {
            best = col;
            least = rivals;
        }
        col = bits_next_after(wants, m->col_words, col);
    } while (col != first);
    return best;
}

static void lonely_output_allocate(void *state, const void *config, struct matching *m)
{
    (void)config;
    uint16_t *col_turn = state, *row_turn = col_turn + m->rows;
    uint64_t *asked = m->scratch, *asking = asked + m->col_words;
    BITS_EACH(row, m->active_rows, m->row_words) {
        uint32_t col = loneliest(m, row, col_turn[row]);
        bits_add(asked, col);
        bits_add(asking + (size_t)col * m->row_words, (uint32_t)row);
    }
    BITS_EACH(col, asked, m->col_words) {
        uint64_t *rows = asking + col * m->row_words;
        uint32_t row = bits_next_cyclic(rows, m->row_words, row_turn[col]);
        matching_grant(m, row, (uint32_t)col);
        col_turn[row] = next_of(col_turn[row], m->cols);
        row_turn[col] = next_of(row_turn[col], m->rows);
        bits_clear(rows, m->row_words);
    }
    bits_clear(asked, m->col_words);
}

static const struct allocator_ops lonely_output = {
    .name = "lonely_output",
    .summary = "each input asks for the output that the fewest want, each output serves one in turn",
    .state_size = turns_state_size,
    .allocate = lonely_output_allocate,
};
REGISTER_ALLOCATOR(lonely_output);

struct standing_config {
    uint32_t iterations;
};

static const struct option standing_options[] = {
    OPTION_U32(struct standing_config, iterations, "1", 1, 64, NULL, "rounds of offers and acceptances"),
    OPTION_END,
};

/* Columns that nobody took offer themselves to the next row in turn that has nothing. */
static void offer(const struct matching *m, const uint16_t *row_turn, const uint64_t *taken, uint64_t *offers,
                  uint64_t *free_rows)
{
    BITS_EACH(col, m->active_cols, m->col_words) {
        if (bits_test(taken, (uint32_t)col))
            continue;
        for (uint32_t w = 0; w < m->row_words; w++)
            free_rows[w] = m->wanted_by[col * m->row_words + w] & ~m->granted[w];
        if (m->out_rank)
            keep_foremost(free_rows, m->row_words, m->out_rank + col, m->cols);
        if (bits_any(free_rows, m->row_words))
            offers[col] = (uint64_t)bits_next_cyclic(free_rows, m->row_words, row_turn[col]) + 1;
    }
    bits_clear(free_rows, m->row_words);
}

static void standing_offers_allocate(void *state, const void *config, struct matching *m)
{
    uint16_t *col_turn = state, *row_turn = col_turn + m->rows;
    uint64_t *taken = m->scratch, *mine = taken + m->col_words, *free_rows = mine + m->col_words,
             *offers = free_rows + m->row_words;
    for (uint32_t round = 0; round < ((const struct standing_config *)config)->iterations; round++) {
        offer(m, row_turn, taken, offers, free_rows);
        BITS_EACH(row, m->active_rows, m->row_words) {
            BITS_EACH(col, m->wants + row * m->col_words, m->col_words)
                if (offers[col] == row + 1)
                    bits_add(mine, (uint32_t)col);
            if (!bits_any(mine, m->col_words))
                continue;
            if (m->in_rank)
                keep_foremost(mine, m->col_words, m->in_rank + row * m->cols, 1);
            uint32_t col = bits_next_cyclic(mine, m->col_words, col_turn[row]);
            bits_clear(mine, m->col_words);
            matching_grant(m, (uint32_t)row, col);
            bits_add(taken, col);
            if (round == 0) {
                row_turn[col] = next_of((uint32_t)row, m->rows);
                col_turn[row] = next_of(col, m->cols);
            }
        }
    }
    bits_clear(taken, m->col_words);
    memset(offers, 0, m->cols * sizeof *offers);
}

static const struct allocator_ops standing_offers = {
    .name = "standing_offers",
    .summary = "rotating offers and acceptances; offers that were not taken stand in the next round",
    .options = standing_options,
    .example = "{\"type\": \"standing_offers\", \"iterations\": 2}",
    .state_size = turns_state_size,
    .allocate = standing_offers_allocate,
};
REGISTER_ALLOCATOR(standing_offers);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wavefront allocation (Y. Tamir and H.-C. Chi, "Symmetric crossbar arbiters for
 * VLSI communication switches", IEEE Transactions on Parallel and Distributed
 * Systems 4(1), 1993). Request (row, column) lies on diagonal row + column, modulo
 * the larger side; requests of one diagonal never conflict. Diagonals are served
 * in order, each granting what is still free, which gives a maximal matching. The
 * first diagonal moves on by one with every allocation, or to behind the first that
 * was served.
 *
 * Requests are sorted into their diagonals first, so that empty ones cost nothing. Where
 * they have ranks, all diagonals are served for the highest first: the column's rank counts, then the row's.
 */
#include "flitwarp/allocator.h"

#include <string.h>

enum first_diagonal { NEXT, BEHIND_SERVED };
static const char *const first_names[] = {"next", "behind_served", NULL};

struct wavefront_config {
    uint32_t first;
};

static const struct option wavefront_options[] = {
    OPTION_ENUM(struct wavefront_config, first, "\"next\"", first_names,
                "diagonal that is served first the next time: the one behind the last first one, or behind the first "
                "that had requests"),
    OPTION_END,
};

struct wavefront_state {
    uint32_t first; /* the diagonal with the highest priority */
};

static size_t wavefront_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config, (void)rows, (void)cols;
    return sizeof(struct wavefront_state);
}

struct diagonals {
    uint32_t count;
    uint64_t *occupied; /* set of diagonals with requests */
    uint64_t *rows;     /* by diagonal: set of rows, row_words each */
};

struct rank {
    int64_t out, in;
};

static struct rank rank_at(const struct matching *matching, size_t row, size_t col)
{
    size_t at = row * matching->cols + col;
    return matching->in_rank ? (struct rank){matching->out_rank[at], matching->in_rank[at]} : (struct rank){0, 0};
}

static bool ranks_below(struct rank one, struct rank other)
{
    return one.out < other.out || (one.out == other.out && one.in < other.in);
}

/* The highest rank below one that was served; false: there is none. */
static bool next_rank(const struct matching *matching, struct rank *rank)
{
    const struct rank served = *rank;
    bool found = false;
    BITS_EACH(row, matching->active_rows, matching->row_words)
        BITS_EACH(col, matching->wants + row * matching->col_words, matching->col_words) {
            struct rank one = rank_at(matching, row, col);
            if (!ranks_below(one, served) || (found && !ranks_below(*rank, one)))
                continue;
            *rank = one;
            found = true;
        }
    return found;
}

static void sort_requests(const struct matching *matching, const struct diagonals *diagonals, struct rank rank)
{
    BITS_EACH(row, matching->active_rows, matching->row_words) {
        BITS_EACH(col, matching->wants + row * matching->col_words, matching->col_words) {
            struct rank one = rank_at(matching, row, col);
            if (ranks_below(one, rank) || ranks_below(rank, one))
                continue;
            uint32_t sum = (uint32_t)(row + col);
            uint32_t diagonal = sum < diagonals->count ? sum : sum - diagonals->count;
            bits_add(diagonals->occupied, diagonal);
            bits_add(diagonals->rows + (size_t)diagonal * matching->row_words, (uint32_t)row);
        }
    }
}

/* Grants what is free on one diagonal and empties it. */
static void serve(struct matching *matching, const struct diagonals *diagonals, uint32_t diagonal, uint64_t *taken_cols)
{
    uint64_t *rows = diagonals->rows + (size_t)diagonal * matching->row_words;
    BITS_EACH(row, rows, matching->row_words) {
        uint32_t col = diagonal >= row ? diagonal - (uint32_t)row : diagonal + diagonals->count - (uint32_t)row;
        if (bits_test(matching->granted, (uint32_t)row) || bits_test(taken_cols, col))
            continue;
        bits_add(taken_cols, col);
        matching_grant(matching, (uint32_t)row, col);
    }
    memset(rows, 0, matching->row_words * sizeof(uint64_t));
    bits_remove(diagonals->occupied, diagonal);
}

static void wavefront_allocate(void *state, const void *config, struct matching *matching)
{
    const struct wavefront_config *settings = config;
    struct wavefront_state *memory = state;
    uint64_t *taken_cols = matching->scratch;
    struct diagonals diagonals = {
        .count = matching->rows > matching->cols ? matching->rows : matching->cols,
        .occupied = taken_cols + matching->col_words,
    };
    uint32_t words = words_for(diagonals.count);
    diagonals.rows = diagonals.occupied + words;
    uint32_t first = memory->first;
    bool is_ranked = matching->in_rank;
    struct rank rank = is_ranked ? (struct rank){INT64_MAX, INT64_MAX} : (struct rank){0, 0};
    for (bool is_first = true; is_ranked ? next_rank(matching, &rank) : is_first; is_first = false) {
        uint32_t diagonal = first;
        sort_requests(matching, &diagonals, rank);
        if (settings->first == BEHIND_SERVED && is_first && bits_any(diagonals.occupied, words))
            memory->first = bits_next_cyclic(diagonals.occupied, words, diagonal);
        while (bits_any(diagonals.occupied, words)) {
            diagonal = bits_next_cyclic(diagonals.occupied, words, diagonal);
            serve(matching, &diagonals, diagonal, taken_cols);
        }
    }
    memset(taken_cols, 0, matching->col_words * sizeof(uint64_t));
    memory->first = memory->first + 1 < diagonals.count ? memory->first + 1 : 0;
}

/*
 * By words: a row's next diagonal is that of the first column it wants from its own place on the first diagonal on. The row
 * whose next diagonal comes first is served first; rows of one diagonal want different columns, so that their order is none.
 */
static void wavefront_words(void *state, const void *config, struct word_matching *m)
{
    const struct wavefront_config *settings = config;
    struct wavefront_state *memory = state;
    uint32_t count = m->row_count > m->col_count ? m->row_count : m->col_count, first = memory->first;
    uint32_t foremost = count; /* diagonal with requests, counted from the first one */
    uint64_t taken = 0, granted = 0, left = m->asked.rows;
    while (left) {
        size_t best_row = 0, best_col = 0;
        uint32_t best = count;
        for (uint64_t rows = left; rows; rows &= rows - 1) {
            uint32_t row = (uint32_t)lowest_bit(rows), from = first >= row ? first - row : first + count - row;
            uint64_t wants = m->wants[row] & ~taken;
            if (!wants) {
                left &= ~bit(row);
                continue;
            }
            uint32_t col = bits_next_cyclic(&wants, 1, from % WORD_BITS);
            uint32_t diagonal = col >= from ? col - from : col + count - from;
            bool is_alone = !(m->wants[row] & m->asked.contested);
            foremost = diagonal < foremost ? diagonal : foremost;
            if (is_alone) {
                m->grant[row] = (uint8_t)col;
                granted |= bit(row);
                left &= ~bit(row);
            } else if (diagonal < best) {
                best = diagonal;
                best_row = row;
                best_col = col;
            }
        }
        if (best == count)
            break;
        m->grant[best_row] = (uint8_t)best_col;
        granted |= bit((uint32_t)best_row);
        left &= ~bit((uint32_t)best_row);
        taken |= bit((uint32_t)best_col);
    }
    m->granted = granted;
    if (settings->first == BEHIND_SERVED && foremost < count)
        memory->first = (first + foremost) % count;
    memory->first = memory->first + 1 < count ? memory->first + 1 : 0;
}

static const struct allocator_ops wavefront = {
    .name = "wavefront",
    .summary = "diagonal after diagonal, each granting what is still free; maximal",
    .options = wavefront_options,
    .example = "{\"type\": \"wavefront\", \"first\": \"behind_served\"}",
    .state_size = wavefront_state_size,
    .allocate = wavefront_allocate,
    .allocate_words = wavefront_words,
};
REGISTER_ALLOCATOR(wavefront);
/* Copied by `flitwarp new`, with an example: network.router.allocator=$ */

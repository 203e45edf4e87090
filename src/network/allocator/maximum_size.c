/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maximum-size matching by augmenting paths: no allocator grants more requests
 * in one allocation. An upper bound to compare others with, not a circuit. A row
 * once matched stays matched, so the row that goes first is sure of a grant; that
 * turn rotates among the rows that ask. A row that asks for several columns may
 * still starve for one of them, and most grants is not least delay.
 */
#include "flitwarp/allocator.h"
#include "flitwarp/packet.h"

#include <string.h>

struct maximum_size_state {
    uint32_t first; /* the row that goes first, or the next that asks */
};

static size_t maximum_size_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config, (void)rows, (void)cols;
    return sizeof(struct maximum_size_state);
}

struct search {
    uint64_t *visited; /* set of columns */
    uint64_t *mate;    /* by column: its row plus 1; 0: free */
    uint64_t *parent;  /* by visited column: the row that it was reached from */
    uint64_t *queue;   /* rows to search from */
};

/* Breadth first from `root` over alternating paths to a free column; FW_NONE: there is none. */
static uint32_t find_free_col(const struct matching *matching, const struct search *search, uint32_t root)
{
    uint32_t head = 0, tail = 0;
    search->queue[tail++] = root;
    while (head < tail) {
        uint64_t row = search->queue[head++];
        BITS_EACH(col, matching->wants + row * matching->col_words, matching->col_words) {
            if (bits_test(search->visited, (uint32_t)col))
                continue;
            bits_add(search->visited, (uint32_t)col);
            search->parent[col] = row;
            if (!search->mate[col])
                return (uint32_t)col;
            search->queue[tail++] = search->mate[col] - 1;
        }
    }
    return FW_NONE;
}

/* Swaps matched and unmatched requests along the path that ends in `col`. */
static void augment(struct matching *matching, const struct search *search, uint32_t root, uint32_t col)
{
    uint32_t row;
    do {
        row = (uint32_t)search->parent[col];
        uint32_t left = matching->grant[row]; /* means something for all rows but the root */
        matching_grant(matching, row, col);
        search->mate[col] = (uint64_t)row + 1;
        col = left;
    } while (row != root);
}

static void maximum_size_allocate(void *state, const void *config, struct matching *matching)
{
    (void)config;
    struct maximum_size_state *memory = state;
    if (!bits_any(matching->active_rows, matching->row_words))
        return;
    struct search search = {.visited = matching->scratch};
    search.mate = search.visited + matching->col_words;
    search.parent = search.mate + matching->cols;
    search.queue = search.parent + matching->cols;

    uint32_t first = bits_next_cyclic(matching->active_rows, matching->row_words, memory->first), row = first;
    do {
        uint32_t col = find_free_col(matching, &search, row);
        if (col != FW_NONE)
            augment(matching, &search, row, col);
        memset(search.visited, 0, matching->col_words * sizeof(uint64_t));
        row = bits_next_cyclic(matching->active_rows, matching->row_words, row + 1 < matching->rows ? row + 1 : 0);
    } while (row != first);

    BITS_EACH(col, matching->active_cols, matching->col_words)
        search.mate[col] = search.parent[col] = 0;
    memset(search.queue, 0, matching->rows * sizeof(uint64_t));
    memory->first = first + 1 < matching->rows ? first + 1 : 0;
}

static const struct allocator_ops maximum_size = {
    .name = "maximum_size",
    .summary = "as many grants as possible; an upper bound, may starve single requests",
    .state_size = maximum_size_state_size,
    .allocate = maximum_size_allocate,
};
REGISTER_ALLOCATOR(maximum_size);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maximum-size matching by augmenting paths: no allocator grants more requests
 * in one allocation. An upper bound to compare others with, not a circuit. A row
 * once matched stays matched, so the row that goes first is sure of a grant; that
 * turn rotates among the rows that ask. A row that asks for several columns may
 * still starve for one of them, and most grants is not least delay.
 *   Which of the largest matchings is found depends on where paths are sought from: row
 * after row, or from all rows without a grant at once, so that the shortest path goes
 * first and rows that ask for a column of their own keep the first of them.
 */
#include "flitwarp/allocator.h"
#include "flitwarp/packet.h"

#include <string.h>

enum paths { BY_ROW, SHORTEST };
static const char *const paths_names[] = {"by_row", "shortest", NULL};

struct maximum_size_config {
    uint32_t paths;
};

static const struct option maximum_size_options[] = {
    OPTION_ENUM(struct maximum_size_config, paths, "\"by_row\"", paths_names,
                "augmenting paths: for one row after the other, or the shortest of all rows first"),
    OPTION_END,
};

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

/* Breadth first from the rows in the queue over alternating paths to a free column; FW_NONE: there is none. */
static uint32_t find_free_col(const struct matching *matching, const struct search *search, uint32_t tail)
{
    uint32_t head = 0;
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
static void augment(struct matching *matching, const struct search *search, uint32_t col)
{
    for (bool is_root = false; !is_root;) {
        uint32_t row = (uint32_t)search->parent[col], left = matching->grant[row];
        is_root = !bits_test(matching->granted, row);
        matching_grant(matching, row, col);
        search->mate[col] = (uint64_t)row + 1;
        col = left; /* means something for all rows but the root */
    }
}

/* One path from a row; false: there is none. */
static bool add_path(struct matching *matching, const struct search *search, uint32_t roots)
{
    uint32_t col = find_free_col(matching, search, roots);
    if (col != FW_NONE)
        augment(matching, search, col);
    memset(search->visited, 0, matching->col_words * sizeof(uint64_t));
    return col != FW_NONE;
}

/* The rows without a grant, from `first` on. */
static uint32_t queue_roots(const struct matching *matching, const struct search *search, uint32_t first)
{
    uint32_t count = 0, row = first;
    do {
        if (!bits_test(matching->granted, row))
            search->queue[count++] = row;
        row = bits_next_cyclic(matching->active_rows, matching->row_words, row + 1 < matching->rows ? row + 1 : 0);
    } while (row != first);
    return count;
}

static void maximum_size_allocate(void *state, const void *config, struct matching *matching)
{
    bool is_by_row = ((const struct maximum_size_config *)config)->paths == BY_ROW;
    struct maximum_size_state *memory = state;
    if (!bits_any(matching->active_rows, matching->row_words)) {
        memory->first = memory->first + 1 < matching->rows ? memory->first + 1 : 0;
        return;
    }
    struct search search = {.visited = matching->scratch};
    search.mate = search.visited + matching->col_words;
    search.parent = search.mate + matching->cols;
    search.queue = search.parent + matching->cols;

    uint32_t first = bits_next_cyclic(matching->active_rows, matching->row_words, memory->first), row = first;
    bool has_path = true;
    while (has_path) {
        search.queue[0] = row;
        bool found = add_path(matching, &search, is_by_row ? 1 : queue_roots(matching, &search, first));
        row = bits_next_cyclic(matching->active_rows, matching->row_words, row + 1 < matching->rows ? row + 1 : 0);
        has_path = is_by_row ? row != first : found;
    }

    BITS_EACH(col, matching->active_cols, matching->col_words)
        search.mate[col] = search.parent[col] = 0;
    memset(search.queue, 0, matching->rows * sizeof(uint64_t));
    uint32_t last = is_by_row ? first : memory->first;
    memory->first = last + 1 < matching->rows ? last + 1 : 0;
}

static const struct allocator_ops maximum_size = {
    .name = "maximum_size",
    .summary = "as many grants as possible; an upper bound, may starve single requests",
    .options = maximum_size_options,
    .example = "{\"type\": \"maximum_size\", \"paths\": \"shortest\"}",
    .moves_by_itself = true,
    .state_size = maximum_size_state_size,
    .allocate = maximum_size_allocate,
};
REGISTER_ALLOCATOR(maximum_size);

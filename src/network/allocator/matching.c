/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for an allocator's memory, and for the requests and grants of one allocation. Everything lies in the
 * network's arena and is sized once; an allocation afterwards touches only the
 * sets of the rows and columns that take part in it.
 */
#include "flitwarp/allocator.h"

size_t allocator_bytes(const struct choice *choice, uint32_t rows, uint32_t cols)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    return ops->state_size ? ops->state_size(choice->config, rows, cols) : 0;
}

void allocator_init(void *state, const struct choice *choice, uint32_t rows, uint32_t cols)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    if (ops->init)
        ops->init(state, choice->config, rows, cols);
}

void *allocator_create(struct arena *arena, const struct choice *choice, uint32_t rows, uint32_t cols)
{
    void *state = arena_take(arena, allocator_bytes(choice, rows, cols));
    allocator_init(state, choice, rows, cols);
    return state;
}

bool allocator_takes_words(const struct choice *choice, uint32_t rows, uint32_t cols)
{
    return CHOICE_OPS(choice, struct allocator_ops)->allocate_words && rows <= WORD_BITS && cols <= WORD_BITS;
}

void matching_init(struct matching *matching, struct arena *arena, uint32_t rows, uint32_t cols, bool needs_age,
                   struct random *random)
{
    FW_CHECK(rows > 0 && cols > 0 && cols < NO_GRANT, "a matching of %u rows and %u columns", rows, cols);
    uint32_t row_words = words_for(rows), col_words = words_for(cols);
    *matching = (struct matching){
        .rows = rows,
        .cols = cols,
        .row_words = row_words,
        .col_words = col_words,
        .active_rows = arena_array(arena, uint64_t, row_words),
        .active_cols = arena_array(arena, uint64_t, col_words),
        .wants = arena_array(arena, uint64_t, (size_t)rows * col_words),
        .wanted_by = arena_array(arena, uint64_t, (size_t)cols * row_words),
        .granted = arena_array(arena, uint64_t, row_words),
        .grant = arena_array(arena, uint16_t, rows),
        .age = needs_age ? arena_array(arena, uint64_t, (size_t)rows * cols) : NULL,
        .random = random,
        .scratch = arena_array(arena, uint64_t, (size_t)(rows + cols) * (row_words + col_words + 2)),
    };
}

void allocation_init(struct allocation *allocation, struct arena *arena, const struct choice *choice, uint32_t rows,
                     uint32_t cols)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    allocation->ops = ops;
    allocation->config = choice->config;
    matching_init(&allocation->matching, arena, rows, cols, ops->needs_age && ops->needs_age(choice->config), NULL);
}

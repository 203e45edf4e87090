/* SPDX-License-Identifier: Apache-2.0 */
/* The undo log, see process_undo.h. */
#include "engine/process_undo.h"

#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256, FOOT = 2 };

void undo_init(struct undo_log *undo)
{
    *undo = (struct undo_log){.capacity = FIRST_CAPACITY};
    undo->words = memory_take(sizeof *undo->words * undo->capacity);
}

void undo_release(struct undo_log *undo)
{
    free(undo->words);
    *undo = (struct undo_log){0};
}

static uint64_t *word_at(const struct undo_log *undo, uint64_t position)
{
    return &undo->words[position & (undo->capacity - 1)];
}

static void reserve(struct undo_log *undo, uint64_t more)
{
    if (undo->next - undo->first + more <= undo->capacity)
        return;
    struct undo_log old = *undo;
    while (undo->next - undo->first + more > undo->capacity)
        undo->capacity *= 2;
    undo->words = memory_take(sizeof *undo->words * undo->capacity);
    for (uint64_t i = undo->first; i < undo->next; i++)
        *word_at(undo, i) = *word_at(&old, i);
    free(old.words);
}

void undo_save(struct undo_log *undo, void *memory, size_t size)
{
    uint64_t words = (size + 7) / 8;
    reserve(undo, words + FOOT);
    if (size == 8) { /* a counter or a pointer: most of what is saved */
        memcpy(word_at(undo, undo->next++), memory, 8);
        *word_at(undo, undo->next++) = (uint64_t)(uintptr_t)memory;
        *word_at(undo, undo->next++) = size;
        return;
    }
    const unsigned char *from = memory;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, from + at, size - at < 8 ? size - at : 8);
        *word_at(undo, undo->next++) = word;
    }
    *word_at(undo, undo->next++) = (uint64_t)(uintptr_t)memory;
    *word_at(undo, undo->next++) = size;
}

void undo_to(struct undo_log *undo, uint64_t mark)
{
    while (undo->next > mark) {
        size_t size = *word_at(undo, undo->next - 1);
        unsigned char *to = (unsigned char *)(uintptr_t)*word_at(undo, undo->next - 2);
        undo->next -= FOOT + (size + 7) / 8;
        for (size_t at = 0; at < size; at += 8)
            memcpy(to + at, word_at(undo, undo->next + at / 8), size - at < 8 ? size - at : 8);
    }
}

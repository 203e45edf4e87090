/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A growing row of 64-bit words, such as travels between ranks. Zeroed memory is empty. */
#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

struct words {
    uint64_t *words; /* owned */
    size_t count, room;
};

/* `count` words more; where they begin, until the next call. */
static inline uint64_t *words_take(struct words *words, size_t count)
{
    if (words->count + count > words->room) {
        words->room = 2 * (words->count + count);
        words->words = memory_resize(words->words, words->room * sizeof *words->words);
    }
    words->count += count;
    return words->words + words->count - count;
}

static inline void words_add(struct words *words, const void *from, size_t count)
{
    if (count)
        memcpy(words_take(words, count), from, count * sizeof *words->words);
}

static inline void words_release(struct words *words)
{
    free(words->words);
    *words = (struct words){0};
}

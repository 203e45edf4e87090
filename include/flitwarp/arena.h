/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arenas: memory that is built up piece by piece and given back as a whole.
 * Everything that lives as long as a simulation (settings, names, built
 * networks) lies in one, so nobody has to free single pieces. Running out of
 * memory is fatal here, so that no caller tests for it. Several threads may take
 * from one arena.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;
struct rewind;

struct arena {
    struct arena_block *last; /* owned */
    size_t bytes;             /* handed out so far */
    bool is_locked;           /* somebody is taking */
    bool is_sparse;           /* large pieces are touched here and there alone: by small pages */
    struct rewind *rewind;    /* borrowed: where its memory comes from; NULL: plain memory */
};

/* Zeroed memory, aligned to a cache line when it is as large as one, to 16 bytes otherwise. */
void *arena_take(struct arena *arena, size_t bytes);

/* Room for `count` things of one type, zeroed. */
#define arena_array(arena, type, count) ((type *)arena_take((arena), sizeof(type) * (size_t)(count)))

/*
 * Memory in one piece, where what is taken next lies one after the other, as long as there is room; returns where it begins.
 * And how much of it has been taken: 0 when something did not find room there.
 */
void *arena_reserve(struct arena *arena, size_t bytes);
size_t arena_reserved(const struct arena *arena, const void *piece);

char *arena_text(struct arena *arena, const char *text);
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_formatv(struct arena *arena, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* A piece of a sparse arena that is touched all over, often and in order: by large pages. */
void memory_is_walked(void *memory, size_t bytes);

/* Frees everything; the arena is empty and usable afterwards. */
void arena_release(struct arena *arena);

/* Zeroed memory, and realloc, that end the program when memory is gone. */
void *memory_take(size_t bytes);
void *memory_resize(void *memory, size_t bytes);
/* Room for one more item in an array that has `count` of them: it grows by doubling, and may move. */
void *memory_grow(void *items, uint32_t count, uint32_t *room, size_t item_bytes);
/* Aligned to a cache line, and not zeroed. */
void *memory_take_aligned(size_t bytes);
/* Frees what these gave; NULL is nothing. Plugins have to call it in place of free(), the program itself may call either. */
void memory_give(void *memory);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: arenas and pools. Arenas are a chain of blocks, newest first. Blocks come from calloc, so a
 * large piece that nobody touches costs address space only: the system hands
 * out its zero pages when they are first written.
 */
#include "flitwarp/arena.h"

#include "base/heap.h"
#include "base/need.h"
#include "base/rewind.h"
#include "base/pool.h"
#include "flitwarp/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE 64u
#define SMALL_ALIGNMENT 16u
#define FIRST_BLOCK ((size_t)4096)
#define LARGEST_BLOCK ((size_t)1 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

struct arena_block {
    struct arena_block *previous;
    size_t size; /* of the bytes that follow this header */
    size_t used;
};

static void out_of_memory(size_t bytes) { need_failed("out of memory: %zu more bytes were needed", bytes); }

/*
 * A network of many routers is walked through once a tick: with small pages most
 * of its lines would miss the translation cache too (5 % on a 256x256 mesh).
 */
static void prefer_huge_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (end > first)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

void memory_is_walked(void *memory, size_t bytes) { prefer_huge_pages(memory, bytes); }

static char *block_bytes(struct arena_block *block) { return (char *)(block + 1); }

/* A block holds twice its forerunner up to a limit; a piece larger than that gets a block to itself. */
static struct arena_block *block_create(struct arena *arena, size_t bytes)
{
    size_t size = arena->last ? arena->last->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (bytes > SIZE_MAX / 2)
        out_of_memory(bytes);
    if (size < bytes + CACHE_LINE)
        size = bytes + CACHE_LINE;
    struct arena_block *block;
    if (arena->rewind) {
        block = rewind_take(arena->rewind, sizeof(*block) + size);
    } else {
        block = calloc(1, sizeof(*block) + size);
        if (!block)
            out_of_memory(bytes);
        if (!arena->is_sparse)
            prefer_huge_pages(block, size);
    }
    block->size = size;
    block->previous = arena->last;
    arena->last = block;
    return block;
}

/* Where the next piece would begin, as an offset into the block. */
static size_t aligned_offset(struct arena_block *block, size_t alignment)
{
    uintptr_t at = (uintptr_t)(block_bytes(block) + block->used);
    return block->used + (size_t)(-at & (alignment - 1));
}

void *arena_take(struct arena *arena, size_t bytes)
{
    size_t alignment = bytes >= CACHE_LINE ? CACHE_LINE : SMALL_ALIGNMENT;
    memory_lock(&arena->is_locked);
    struct arena_block *block = arena->last;
    if (!block || aligned_offset(block, alignment) > block->size ||
        block->size - aligned_offset(block, alignment) < bytes)
        block = block_create(arena, bytes);
    size_t offset = aligned_offset(block, alignment);
    block->used = offset + bytes;
    arena->bytes += bytes;
    memory_unlock(&arena->is_locked);
    return block_bytes(block) + offset;
}

void *arena_reserve(struct arena *arena, size_t bytes)
{
    memory_lock(&arena->is_locked);
    struct arena_block *block = block_create(arena, bytes);
    block->used = aligned_offset(block, CACHE_LINE);
    memory_unlock(&arena->is_locked);
    return block_bytes(block) + block->used;
}

size_t arena_reserved(const struct arena *arena, const void *piece)
{
    const char *from = piece, *first = block_bytes(arena->last);
    bool is_there = from >= first && from <= first + arena->last->used;
    return is_there ? (size_t)(first + arena->last->used - from) : 0;
}

char *arena_text(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(arena_take(arena, size), text, size);
}

char *arena_formatv(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return arena_text(arena, format);
    char *text = arena_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_formatv(arena, format, arguments);
    va_end(arguments);
    return text;
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->last;
    while (block) {
        struct arena_block *previous = block->previous;
        rewind_give(arena->rewind, block);
        block = previous;
    }
    *arena = (struct arena){.rewind = arena->rewind, .is_sparse = arena->is_sparse};
}

void *memory_take(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        out_of_memory(bytes);
    return memory;
}

void *memory_resize(void *memory, size_t bytes)
{
    void *resized = realloc(memory, bytes ? bytes : 1);
    if (!resized)
        out_of_memory(bytes);
    return resized;
}

void *memory_grow(void *items, uint32_t count, uint32_t *room, size_t item_bytes)
{
    return rewind_grow(NULL, items, count, room, item_bytes);
}

void *memory_take_aligned(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory)
        out_of_memory(bytes);
    prefer_huge_pages(memory, bytes);
    return memory;
}

void memory_give(void *memory) { free(memory); }

/*
 * ---- pools: they double, so that growth is rare; items are linked in rising order, some at a time: a young pool hands out
 * neighbours, and takes no more memory than it needs ----
 */

enum { ITEMS_AT_ONCE = 256 };

void pool_init(struct pool *pool, size_t item_size, struct rewind *rewind)
{
    *pool = (struct pool){.item_size = item_size, .free = FW_NONE, .rewind = rewind};
}

void pool_release(struct pool *pool)
{
    rewind_give(pool->rewind, pool->items);
    pool_init(pool, pool->item_size, pool->rewind);
}

/*
 * Items of a cache line must not straddle two, so the memory is aligned, which
 * realloc would not keep.
 */
static void pool_double(struct pool *pool)
{
    uint32_t old = pool->capacity;
    uint32_t capacity = old ? old * 2 : ITEMS_AT_ONCE;
    FW_CHECK(capacity > old && capacity < FW_NONE, "pool of %zu-byte items is full at %u", pool->item_size, old);
    size_t bytes = ((size_t)capacity * pool->item_size + 63) / 64 * 64;
    unsigned char *items = rewind_take_aligned(pool->rewind, bytes);
    if (old)
        __builtin_memcpy(items, pool->items, (size_t)old * pool->item_size);
    rewind_give(pool->rewind, pool->items);
    pool->items = items;
    pool->capacity = capacity;
}

void pool_grow(struct pool *pool)
{
    if (pool->linked == pool->capacity)
        pool_double(pool);
    for (uint32_t index = pool->linked + ITEMS_AT_ONCE; index-- > pool->linked;) {
        *(uint32_t *)pool_at(pool, index, pool->item_size) = pool->free;
        pool->free = index;
    }
    pool->linked += ITEMS_AT_ONCE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap at a fixed address, see heap.h. The region begins with what the heap knows of
 * itself, so that this is put back with the rest. Blocks have one of a series of
 * sizes, four to a doubling, and a free list for each. Large ones give their pages to the
 * system when they are freed, and are all 0 from then on.
 *
 *   | struct heap | header | memory | header | memory | ...        grows upwards, piece by piece
 */
#include "base/heap.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Far from where the system puts programs and libraries, and where the sanitizers leave room: they keep notes of memory at
 * addresses of their own.
 */
#if defined(__SANITIZE_THREAD__)
#define HEAP_START 0x004000000000
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEAP_START 0x004000000000
#endif
#endif
#ifndef HEAP_START
#define HEAP_START 0x200000000000
#endif

enum { UNIT = 64, CLASSES = 256, PAGE = 4096 };
#define PIECE ((size_t)64 << 20)
#define LARGE ((size_t)1 << 20)

struct header {
    size_t room;  /* of the memory behind it */
    size_t bytes; /* asked for */
    struct header *next_free;
};

struct heap {
    size_t used, mapped; /* bytes from the start of the region */
    void *root;
    struct header *free[CLASSES];
    bool is_locked;
};

/* The one thing in the program that every part of it changes: a heap is the process's own. */
static bool is_fixed, passes_on;

void *__real_malloc(size_t bytes) __attribute__((weak)); /* weak: a program that is linked without --wrap has none */
void *__real_calloc(size_t count, size_t bytes) __attribute__((weak));
void *__real_realloc(void *memory, size_t bytes) __attribute__((weak));
void *__real_aligned_alloc(size_t alignment, size_t bytes) __attribute__((weak));
void __real_free(void *memory) __attribute__((weak));
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);

static struct heap *the_heap(void) { return (struct heap *)HEAP_START; }

static bool heap_holds(const void *memory) { return is_fixed && (uintptr_t)memory - HEAP_START < the_heap()->mapped; }

/* ---- the region ---- */

static bool map_piece(size_t at, size_t bytes)
{
#ifndef MAP_FIXED_NOREPLACE
    enum { MAP_FIXED_NOREPLACE = 0x100000 };
#endif
    void *wanted = (void *)(HEAP_START + at);
    void *piece = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (piece == MAP_FAILED)
        return false;
    if (piece != wanted) { /* an old kernel takes the address for a hint */
        munmap(piece, bytes);
        errno = EEXIST;
        return false;
    }
#ifdef MADV_HUGEPAGE
    madvise(piece, bytes, MADV_HUGEPAGE);
#endif
    return true;
}

static size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

bool heap_fix_again(size_t bytes)
{
    size_t mapped = round_up(bytes, PIECE);
    if (!map_piece(0, mapped))
        return false;
    *the_heap() = (struct heap){.used = round_up(sizeof(struct heap), UNIT), .mapped = mapped};
    is_fixed = true;
    return true;
}

bool heap_fix(void) { return heap_fix_again(sizeof(struct heap)); }

bool heap_is_fixed(void) { return is_fixed && !passes_on; }

void heap_pass(bool passes) { passes_on = passes; }

unsigned char *heap_start(void) { return (unsigned char *)HEAP_START; }

size_t heap_used(void) { return the_heap()->used; }

void heap_set_root(void *root) { the_heap()->root = root; }

void *heap_root(void) { return the_heap()->root; }

/* ---- blocks ---- */

static struct header *header_of(void *memory) { return (struct header *)(void *)((unsigned char *)memory - UNIT); }

/* The smallest size of the series that holds so many bytes; returns its number. */
static uint32_t size_class(size_t bytes, size_t *room)
{
    size_t units = bytes ? (bytes + UNIT - 1) / UNIT : 1;
    uint32_t order = 63 - (uint32_t)__builtin_clzll(units);
    uint32_t shift = order > 2 ? order - 2 : 0;
    units = round_up(units, (size_t)1 << shift);
    *room = units * UNIT;
    return 4 * shift + (uint32_t)(units >> shift);
}

/* Behind all that there is; NULL: the system has no more. */
static struct header *take_new(struct heap *heap, size_t room)
{
    size_t end = heap->used + UNIT + room;
    if (end > heap->mapped) {
        size_t more = round_up(end - heap->mapped, PIECE);
        if (!map_piece(heap->mapped, more))
            return NULL;
        heap->mapped += more;
    }
    struct header *header = (struct header *)(void *)(heap_start() + heap->used);
    header->room = room;
    heap->used = end;
    return header;
}

/* `is_zero` says whether the memory is known to be. */
static void *heap_take(size_t bytes, bool *is_zero)
{
    struct heap *heap = the_heap();
    size_t room;
    if (bytes > (size_t)1 << 46) {
        errno = ENOMEM;
        return NULL;
    }
    uint32_t class = size_class(bytes, &room);
    memory_lock(&heap->is_locked);
    struct header *header = heap->free[class];
    *is_zero = !header || room >= LARGE;
    if (header)
        heap->free[class] = header->next_free;
    else
        header = take_new(heap, room);
    memory_unlock(&heap->is_locked);
    if (!header)
        return NULL;
    header->bytes = bytes;
    return (unsigned char *)header + UNIT;
}

/* Gives the pages back, which are all 0 when they are touched again. */
static void clear_large(void *memory, size_t bytes)
{
    uintptr_t start = (uintptr_t)memory, end = start + bytes;
    uintptr_t first = round_up(start, PAGE), last = end / PAGE * PAGE;
    memset(memory, 0, first - start);
    memset((void *)last, 0, end - last);
    if (madvise((void *)first, last - first, MADV_DONTNEED) != 0)
        memset((void *)first, 0, last - first);
}

static void heap_give(void *memory)
{
    struct heap *heap = the_heap();
    struct header *header = header_of(memory);
    size_t room;
    uint32_t class = size_class(header->room, &room);
    if (room >= LARGE)
        clear_large(memory, room);
    memory_lock(&heap->is_locked);
    header->next_free = heap->free[class];
    heap->free[class] = header;
    memory_unlock(&heap->is_locked);
}

/* ---- what the program calls ---- */

void *__wrap_malloc(size_t bytes)
{
    bool is_zero;
    return heap_is_fixed() ? heap_take(bytes, &is_zero) : __real_malloc(bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    bool is_zero;
    return heap_is_fixed() && alignment <= UNIT ? heap_take(bytes, &is_zero) : __real_aligned_alloc(alignment, bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (!heap_is_fixed())
        return __real_calloc(count, bytes);
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    bool is_zero;
    void *memory = heap_take(all, &is_zero);
    return memory && !is_zero ? memset(memory, 0, all) : memory;
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (memory ? !heap_holds(memory) : !heap_is_fixed())
        return __real_realloc(memory, bytes);
    bool is_zero;
    if (memory && header_of(memory)->room >= bytes && header_of(memory)->room < 2 * bytes) {
        header_of(memory)->bytes = bytes;
        return memory;
    }
    void *resized = heap_take(bytes, &is_zero);
    if (resized && memory) {
        size_t old = header_of(memory)->bytes;
        memcpy(resized, memory, old < bytes ? old : bytes);
        heap_give(memory);
    }
    return resized;
}

void __wrap_free(void *memory)
{
    if (heap_holds(memory))
        heap_give(memory);
    else
        __real_free(memory);
}

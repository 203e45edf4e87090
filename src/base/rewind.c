/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that can be put back, see rewind.h: a list of blocks, each with a copy. What
 * is given back while there is a mark stays until the next one, since it may come
 * again; what was taken since the mark is spare after a return, for the same run
 * takes the same again, at the same addresses.
 */
#include "base/rewind.h"

#include "base/checksum.h"
#include "base/heap.h"
#include "flitwarp/arena.h"
#include "flitwarp/error.h"
#include "flitwarp/random.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 1 << 16 }; /* bytes that a thread copies at a time */

struct block {
    unsigned char *memory;
    unsigned char *copy; /* owned; NULL: none yet */
    size_t bytes;
    uint32_t index; /* among all */
    bool is_new;    /* since the mark */
    bool is_given;  /* back since the mark */
};
enum { HEADER = 64 }; /* in front of memory that was taken here: keeps it aligned */
_Static_assert(sizeof(struct block) <= HEADER, "a block lies in front of its memory");

struct rewind {
    struct block **blocks; /* owned */
    uint32_t count, room;
    struct block **spare; /* owned: taken after the mark and undone, in that order */
    uint32_t spare_count, spare_room;
    bool is_marked;
    bool is_locked; /* somebody is taking */
};

static void rewind_append(struct block ***list, uint32_t *count, uint32_t *room, struct block *block)
{
    *list = memory_grow(*list, *count, room, sizeof **list);
    (*list)[(*count)++] = block;
}

static void block_add(struct rewind *rewind, struct block *block)
{
    block->index = rewind->count;
    block->is_new = rewind->is_marked;
    rewind_append(&rewind->blocks, &rewind->count, &rewind->room, block);
}

static void block_free(struct block *block)
{
    free(block->copy);
    free(block);
}

static struct block *rewind_block(void *memory) { return (struct block *)(void *)((unsigned char *)memory - HEADER); }

struct rewind *rewind_create(void) { return memory_take(sizeof(struct rewind)); }

static void free_all(struct block **blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        block_free(blocks[i]);
}

void rewind_release(struct rewind *rewind)
{
    if (!rewind)
        return;
    free_all(rewind->blocks, rewind->count);
    free_all(rewind->spare, rewind->spare_count);
    free(rewind->blocks);
    free(rewind->spare);
    free(rewind);
}

static struct block *take_spare(struct rewind *rewind, size_t bytes)
{
    for (uint32_t i = 0; i < rewind->spare_count; i++) {
        struct block *block = rewind->spare[i];
        if (block->bytes == bytes) {
            rewind->spare_count--;
            memmove(&rewind->spare[i], &rewind->spare[i + 1], (rewind->spare_count - i) * sizeof *rewind->spare);
            return block;
        }
    }
    return NULL;
}

void *rewind_take_aligned(struct rewind *rewind, size_t bytes)
{
    if (!rewind)
        return memory_take_aligned(bytes);
    memory_lock(&rewind->is_locked);
    struct block *block = take_spare(rewind, bytes);
    if (!block) {
        block = memory_take_aligned(HEADER + bytes);
        *block = (struct block){.memory = (unsigned char *)block + HEADER, .bytes = bytes};
    }
    block_add(rewind, block);
    memory_unlock(&rewind->is_locked);
    return memset(block->memory, 0, bytes);
}

void *rewind_take(struct rewind *rewind, size_t bytes)
{
    return rewind ? rewind_take_aligned(rewind, bytes) : memory_take(bytes);
}

void rewind_give(struct rewind *rewind, void *memory)
{
    if (!rewind || !memory) {
        free(memory);
        return;
    }
    struct block *block = rewind_block(memory);
    memory_lock(&rewind->is_locked);
    block->is_given = true; /* and stays while there is a mark: it may come again, or be taken again by the same run */
    if (!rewind->is_marked) {
        struct block *last = rewind->blocks[--rewind->count];
        last->index = block->index;
        rewind->blocks[block->index] = last;
        block_free(block);
    }
    memory_unlock(&rewind->is_locked);
}

void *rewind_resize(struct rewind *rewind, void *memory, size_t bytes)
{
    if (!rewind)
        return memory_resize(memory, bytes);
    void *resized = rewind_take_aligned(rewind, bytes);
    if (memory) {
        size_t old = rewind_block(memory)->bytes;
        memcpy(resized, memory, old < bytes ? old : bytes);
        rewind_give(rewind, memory);
    }
    return resized;
}

void *rewind_grow(struct rewind *rewind, void *items, uint32_t count, uint32_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    FW_CHECK(*room < (uint32_t)1 << 31, "an array of %u items of %zu bytes is full", count, item_bytes);
    *room = *room ? 2 * *room : 4;
    return rewind_resize(rewind, items, *room * item_bytes);
}

void rewind_add(struct rewind *rewind, void *memory, size_t bytes)
{
    struct block *block = memory_take(sizeof *block);
    *block = (struct block){.memory = memory, .bytes = bytes};
    block_add(rewind, block);
}

/* The mark: what was given back will not come again. */
static void forget(struct rewind *rewind)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rewind->count; i++) {
        struct block *block = rewind->blocks[i];
        block->is_new = false;
        if (block->is_given)
            block_free(block);
        else
            rewind->blocks[block->index = kept++] = block;
    }
    rewind->count = kept;
    free_all(rewind->spare, rewind->spare_count);
    rewind->spare_count = 0;
}

void rewind_mark(struct rewind *rewind)
{
    forget(rewind);
    for (uint32_t i = 0; i < rewind->count; i++)
        if (!rewind->blocks[i]->copy)
            rewind->blocks[i]->copy = memory_resize(NULL, rewind->blocks[i]->bytes);
    rewind->is_marked = true;
}

/* Calls for a member's shares of all that was there at the mark. */
static void each_share(const struct rewind *rewind, uint32_t member, uint32_t members, bool puts_back)
{
    uint64_t share = 0;
    for (uint32_t i = 0; i < rewind->count; i++) {
        const struct block *block = rewind->blocks[i];
        for (size_t at = 0; at < block->bytes && !block->is_new; at += SHARE, share++) {
            size_t bytes = block->bytes - at < SHARE ? block->bytes - at : SHARE;
            if (share % members == member)
                memcpy((puts_back ? block->memory : block->copy) + at, (puts_back ? block->copy : block->memory) + at,
                       bytes);
        }
    }
}

void rewind_copy(const struct rewind *rewind, uint32_t member, uint32_t members)
{
    each_share(rewind, member, members, false);
}

void rewind_put_back(const struct rewind *rewind, uint32_t member, uint32_t members)
{
    each_share(rewind, member, members, true);
}

void rewind_return(struct rewind *rewind)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rewind->count; i++) {
        struct block *block = rewind->blocks[i];
        block->is_given = false;
        if (block->is_new)
            rewind_append(&rewind->spare, &rewind->spare_count, &rewind->spare_room, block);
        else
            rewind->blocks[block->index = kept++] = block;
    }
    rewind->count = kept;
}

uint64_t rewind_hash(const struct rewind *rewind)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rewind->count; i++) {
        const struct block *block = rewind->blocks[i];
        uint64_t bytes = block->is_given ? 0 : bytes_checksum(block->memory, block->bytes);
        sum += random_mix((uintptr_t)block->memory ^ bytes);
    }
    return sum;
}

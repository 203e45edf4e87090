/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Memory that can be put back to what it was. An optimistic run keeps the state of
 * the simulation, goes ahead, and puts the state back when that was too far. All that
 * a run changes lies in such memory then: arenas, pools, event queues. Everybody else
 * passes NULL for it, and gets plain memory.
 *
 *   mark, copy --> run ahead --> mark, copy ...     it was right
 *                            --> put back, return   it was not; the mark stays
 *
 * What is taken, resized and given back since the mark is undone with the rest.
 * Several threads may take at a time.
 */
#include <stddef.h>
#include <stdint.h>

struct rewind;

struct rewind *rewind_create(void);
/* With everything that was taken from it. */
void rewind_release(struct rewind *rewind);

/* Zeroed. */
void *rewind_take(struct rewind *rewind, size_t bytes);
/* Aligned to a cache line; with NULL not zeroed. */
void *rewind_take_aligned(struct rewind *rewind, size_t bytes);
void *rewind_resize(struct rewind *rewind, void *memory, size_t bytes);
/* Room for one more item in an array that has `count` of them: it grows by doubling, and may move. */
void *rewind_grow(struct rewind *rewind, void *items, uint32_t count, uint32_t *room, size_t item_bytes);
void rewind_give(struct rewind *rewind, void *memory);
/* Memory from elsewhere that belongs to the state. */
void rewind_add(struct rewind *rewind, void *memory, size_t bytes);

/* By one thread, while nobody takes. A mark takes the place of the one before. */
void rewind_mark(struct rewind *rewind);
void rewind_return(struct rewind *rewind); /* after rewind_put_back */
/* By `members` threads, each its share, after rewind_mark. */
void rewind_copy(const struct rewind *rewind, uint32_t member, uint32_t members);
void rewind_put_back(const struct rewind *rewind, uint32_t member, uint32_t members);

/* Equal for equal content at equal addresses. */
uint64_t rewind_hash(const struct rewind *rewind);

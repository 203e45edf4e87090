/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The state of partitions: the memory that they have taken by process_memory(), copied
 * and compared as a whole, and what handlers have overwritten in it.
 */
#include "flitwarp/process.h"

void process_memory_release(struct partition *partition);
size_t process_memory_size(const struct partition *partition);
void process_memory_copy(const struct partition *partition, unsigned char *to);
/* The first byte that is not as in the copy, which was made when there were `bytes`; NULL: none. */
const void *process_memory_differs(const struct partition *partition, const unsigned char *from, size_t bytes);

/*
 * Things of one size that come at one end, and go at either. Positions count them from the beginning of the run. A ring
 * grows when it is full and never shrinks.
 */
struct log_ring {
    unsigned char *items; /* owned */
    size_t item_size;
    uint64_t capacity; /* a power of two */
    uint64_t first, next;
};

void log_ring_init(struct log_ring *ring, size_t item_size);
void log_ring_release(struct log_ring *ring);
void log_ring_grow(struct log_ring *ring, uint64_t more);
/* Makes room for so many more than there are. */
static inline void log_ring_reserve(struct log_ring *ring, uint64_t more)
{
    if (__builtin_expect(ring->next - ring->first + more > ring->capacity, 0))
        log_ring_grow(ring, more);
}

static inline void *log_ring_at(const struct log_ring *ring, uint64_t position)
{
    return ring->items + (position & (ring->capacity - 1)) * ring->item_size;
}

/*
 * What handlers have overwritten, newest last, is a ring of words: an entry is its bytes, the address, their number. This
 * writes back all that was saved from position `mark` on, newest first.
 */
void undo_to(struct log_ring *undo, uint64_t mark);

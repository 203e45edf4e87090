/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arrays that grow without moving, many of them side by side: each is a list of
 * chunks, the first ones small. Chunks that are given back are used again.
 */
#include "base/spill.h"

enum { CHUNK_CLASSES = 8, FIRST_CHUNK = 512 }; /* bytes; each class is twice the one before */

/* Where chunks come from. */
struct chunk_store {
    struct spill *spill;       /* owned */
    void *free[CHUNK_CLASSES]; /* lists */
};

struct chunks {
    void **items; /* owned: chunks */
    uint32_t chunk_count, room;
    uint32_t count; /* of elements, all of one size that divides FIRST_CHUNK */
};

/* An element behind the last, not initialised. */
void *chunks_add(struct chunks *chunks, struct chunk_store *store, size_t element_bytes);
void *chunks_at(const struct chunks *chunks, uint32_t index, size_t element_bytes);
/* Copies all of them, in order. */
void chunks_copy(const struct chunks *chunks, size_t element_bytes, void *to);
/* Empties it. */
void chunks_give(struct chunks *chunks, struct chunk_store *store);

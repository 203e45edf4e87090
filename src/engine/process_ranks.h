/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ranks: processes of the operating system that share one run by MPI. One thread
 * of each rank talks to the others, when all its workers have met.
 */
#include "flitwarp/process.h"

/* Events one after another, of one size. */
struct event_buffer {
    uint64_t *words; /* owned */
    size_t count, capacity;
};

void event_buffer_add(struct event_buffer *buffer, const struct event *event, uint32_t words);
/* Room for `count` events more; where they begin. */
uint64_t *event_buffer_extend(struct event_buffer *buffer, size_t count, uint32_t words);
void event_buffer_release(struct event_buffer *buffer);

struct ranks {
    uint32_t number, count;
    uint32_t on_this_machine;
    struct event_buffer out, in;          /* owned: what is under way */
    int *out_counts, *in_counts, *places; /* owned: by rank */
};

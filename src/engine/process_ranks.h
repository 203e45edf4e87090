/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ranks: processes of the operating system that share one run by MPI. One thread
 * of each rank talks to the others, when all its workers have met. MPI is optional
 * when the program is built, and not touched by a program that mpirun or srun has
 * not started as one of several.
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
    struct event_buffer out, in; /* owned: what is under way */
    int *counts;                 /* owned: events to and from each rank, and where they begin */
    uint64_t *words;             /* owned: what each rank tells each other when they meet */
};

/* How many ranks a launcher says there are; 1: this process is alone. */
uint32_t ranks_launched(void);
/* Joins the other ranks. False with an error where the program cannot. */
bool ranks_open(struct ranks *ranks, struct errors *errors);
void ranks_close(struct ranks *ranks);
/* Over all ranks: the sum; and the largest. */
double ranks_sum(const struct ranks *ranks, double value);
uint64_t ranks_largest(const struct ranks *ranks, uint64_t value);

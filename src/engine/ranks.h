/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ranks: processes of the operating system that share one run by MPI. One thread
 * of each rank talks to the others, while its other threads wait. MPI is optional
 * when the program is built, and not touched by a program that mpirun or srun has
 * not started as one of several: `ranks` is NULL then, everywhere, and what is
 * asked of all ranks is answered by this process alone.
 */
#include "flitwarp/error.h"

struct ranks {
    uint32_t number, count;
    uint32_t sharing_cores; /* ranks that may run on cores of this one, itself included */
};

/* How many ranks a launcher says there are, and which this is; 1 and 0: this process is alone. */
uint32_t ranks_launched(void);
uint32_t ranks_launched_as(void);
/* Joins the other ranks. False with an error where the program cannot. */
bool ranks_open(struct ranks *ranks, struct errors *errors);
void ranks_close(struct ranks *ranks);

/* Writes and speaks for all. */
static inline bool ranks_lead(const struct ranks *ranks) { return !ranks || ranks->number == 0; }

/* ---- called by all ranks together ---- */

/* Over all ranks, in place: the sums, modulo 2^64 or 2^32; the largest. */
void ranks_add(const struct ranks *ranks, uint64_t *numbers, size_t count);
void ranks_add_u32(const struct ranks *ranks, uint32_t *numbers, size_t count);
void ranks_raise(const struct ranks *ranks, uint64_t *numbers, size_t count);
double ranks_sum(const struct ranks *ranks, double value);
uint64_t ranks_largest(const struct ranks *ranks, uint64_t value);
/* Is this the first of the ranks that claim something? */
bool ranks_first(const struct ranks *ranks, bool claims);

/* Each rank has `each` words for each other: said[rank * each] on its side is heard[rank * each] on the other. */
void ranks_tell(const struct ranks *ranks, const uint64_t *said, uint64_t *heard, uint32_t each);
/* The same with a number of words of each pair's own, which both know; by rank one after another from `at` on. */
void ranks_swap(const struct ranks *ranks, const uint64_t *out, const int *out_count, const int *out_at, uint64_t *in,
                const int *in_count, const int *in_at);

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
#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

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

/* Over all ranks, in place: the sums, modulo 2^64; the largest. */
void ranks_add(const struct ranks *ranks, uint64_t *numbers, size_t count);
void ranks_raise(const struct ranks *ranks, uint64_t *numbers, size_t count);
double ranks_sum(const struct ranks *ranks, double value);
uint64_t ranks_largest(const struct ranks *ranks, uint64_t value);
/* Is this the first of the ranks that claim something? */
bool ranks_first(const struct ranks *ranks, bool claims);

/* A growing row of 64-bit words, such as travels between ranks. Zeroed memory is empty. */
struct words {
    uint64_t *words; /* owned */
    size_t count, room;
};

/* `count` words more; where they begin, until the next call. */
static inline uint64_t *words_take(struct words *words, size_t count)
{
    if (words->count + count > words->room) {
        words->room = 2 * (words->count + count);
        words->words = memory_resize(words->words, words->room * sizeof *words->words);
    }
    words->count += count;
    return words->words + words->count - count;
}

static inline void words_add(struct words *words, const void *from, size_t count)
{
    if (count)
        memcpy(words_take(words, count), from, count * sizeof *words->words);
}

static inline void words_release(struct words *words)
{
    free(words->words);
    *words = (struct words){0};
}

/*
 * Mail between ranks: words that each has for each other, of any number, and some
 * that everybody tells everybody at the same time.
 */
struct mail {
    struct ranks *ranks;  /* borrowed */
    struct words *out;    /* owned, by rank: filled by the caller, empty after a swap */
    struct words for_all; /* owned: if there is some, it goes to all in place of that; empty after a swap too */
    struct words in;      /* owned: what came, by rank */
    uint32_t told;        /* words that everybody tells everybody */
    uint64_t *said, *heard;
    size_t *in_count, *in_at; /* owned, by rank */
};

void mail_init(struct mail *mail, struct ranks *ranks, uint32_t told);
void mail_release(struct mail *mail);
/* All ranks together, with the words that this one tells. */
void mail_swap(struct mail *mail, const uint64_t *told);

/* What a rank told at the last swap, and what came from it. */
const uint64_t *mail_told(const struct mail *mail, uint32_t rank);
static inline const uint64_t *mail_from(const struct mail *mail, uint32_t rank, size_t *count)
{
    *count = mail->in_count[rank];
    return *count ? mail->in.words + mail->in_at[rank] : NULL;
}

/*
 * Numbers that all ranks put together: sums, and the largest or smallest. A function
 * lists them, by calls of those below, and is called twice: on the way out it is asked
 * for this rank's numbers; on the way back each of them becomes that of all ranks.
 *
 *     static void list(void *context, struct tally *tally)
 *     {
 *         struct counts *counts = context;
 *         tally_sum(tally, &counts->packets);
 *         tally_largest(tally, &counts->last_arrival);
 *     }
 *     ...
 *     tally_agree(&tally, list, &counts);
 */
struct tally {
    const struct ranks *ranks;  /* borrowed */
    struct words sums, largest; /* owned */
    bool is_back;               /* the numbers are those of all ranks now */
    size_t sum_at, largest_at;  /* on the way back: the next */
};

typedef void tally_list(void *context, struct tally *tally);

/* Zeroed memory with ranks is ready to use. Called by all ranks together, with lists of the same length. */
void tally_agree(struct tally *tally, tally_list *list, void *context);
void tally_release(struct tally *tally);

void tally_sum(struct tally *tally, uint64_t *number); /* modulo 2^64 */
void tally_sum_wide(struct tally *tally, unsigned __int128 *number);
void tally_largest(struct tally *tally, uint64_t *number);
void tally_smallest(struct tally *tally, uint64_t *number);
/* Long rows of sums, which are not copied; rank 0 alone has them, and the others keep their own. */
void tally_row(struct tally *tally, uint64_t *numbers, size_t count);
void tally_row_u32(struct tally *tally, uint32_t *numbers, size_t count); /* modulo 2^32 */

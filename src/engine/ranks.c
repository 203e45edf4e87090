/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks by MPI, see ranks.h: the only file that knows of it. A rank that dies takes
 * the others with it: the launcher sees to that, and check_end below where the
 * launcher would not.
 */
#include "engine/ranks.h"

#include "base/need.h"

#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t number_from(const char *variable)
{
    const char *text = getenv(variable);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

uint32_t ranks_launched(void)
{
    uint32_t count = number_from("OMPI_COMM_WORLD_SIZE"); /* Open MPI's mpirun */
    if (!count)
        count = number_from("PMI_SIZE"); /* that of MPICH, and srun */
    if (!count && getenv("PMIX_RANK"))
        count = number_from("SLURM_STEP_NUM_TASKS"); /* srun --mpi=pmix */
    return count ? count : 1;
}

uint32_t ranks_launched_as(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (uint32_t i = 0; ranks_launched() > 1 && i < 3; i++)
        if (getenv(names[i]))
            return number_from(names[i]);
    return 0;
}

uint64_t ranks_largest(const struct ranks *ranks, uint64_t value)
{
    ranks_raise(ranks, &value, 1);
    return value;
}

bool ranks_first(const struct ranks *ranks, bool claims)
{
    if (!ranks)
        return claims;
    uint64_t mine = claims ? ranks->count - ranks->number : 0;
    return ranks_largest(ranks, mine) == mine && claims;
}

static const struct words *mail_to(const struct mail *mail, uint32_t rank)
{
    return mail->for_all.count ? &mail->for_all : &mail->out[rank];
}

enum reduction { SUM_U64, SUM_F64, LARGEST_U64 };

#ifdef FLITWARP_HAVE_MPI
#include <mpi.h>

#define FRESH_FROM                                                                                                     \
    (1 << 20) /* bytes: memory as large as this comes from the system, which gives pages as they are touched */

/* Launchers may give each rank cores of its own, or let all of a machine have all. */
static uint32_t count_sharing(MPI_Comm machine)
{
    int here;
    uint32_t sharing = 0;
    cpu_set_t mine, both;
    MPI_Comm_size(machine, &here);
    cpu_set_t *all = memory_take(sizeof *all * (size_t)here);
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, machine);
    for (int i = 0; i < here; i++) {
        CPU_AND(&both, &mine, &all[i]);
        sharing += CPU_COUNT(&both) > 0;
    }
    free(all);
    return sharing ? sharing : 1;
}

bool ranks_open(struct ranks *ranks, struct errors *errors)
{
    int provided, number, count;
    MPI_Comm machine;
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD,
            FRESH_FROM); /* else it rises, and arrays that a rank hardly touches are cleared by hand */
#endif
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    *ranks =
        (struct ranks){.number = (uint32_t)number, .count = (uint32_t)count, .sharing_cores = count_sharing(machine)};
    MPI_Comm_free(&machine);
    if (provided < MPI_THREAD_FUNNELED)
        errors_add(errors, "flitwarp run: this MPI takes no threads, expected one that gives MPI_THREAD_FUNNELED");
    return provided >= MPI_THREAD_FUNNELED;
}

void ranks_close(struct ranks *ranks)
{
    (void)ranks;
    MPI_Finalize();
}

/* A broken invariant on one rank ends all of them, whatever the launcher thinks of one that leaves. */
void check_end(int status)
{
    int is_open = 0, is_closed = 0;
    MPI_Initialized(&is_open);
    MPI_Finalized(&is_closed);
    if (is_open && !is_closed)
        MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

enum { AT_ONCE = 1 << 14, MAIL_TAG = 1 }; /* numbers, that MPI takes no copies of a long row */

static void ranks_reduce(void *numbers, size_t count, enum reduction how)
{
    for (size_t at = 0; at < count; at += AT_ONCE)
        MPI_Allreduce(MPI_IN_PLACE, (char *)numbers + at * 8, (int)(count - at < AT_ONCE ? count - at : AT_ONCE),
                      how == SUM_F64 ? MPI_DOUBLE : MPI_UINT64_T, how == LARGEST_U64 ? MPI_MAX : MPI_SUM,
                      MPI_COMM_WORLD);
}

/* The sums are on rank 0, and all others keep what they have. */
static void ranks_collect(const struct ranks *ranks, void *numbers, size_t count, size_t size)
{
    const MPI_Datatype type = size == 4 ? MPI_UINT32_T : MPI_UINT64_T;
    for (size_t at = 0; ranks && at < count; at += AT_ONCE) {
        void *here = (char *)numbers + at * size;
        int some = (int)(count - at < AT_ONCE ? count - at : AT_ONCE);
        MPI_Reduce(ranks_lead(ranks) ? MPI_IN_PLACE : here, here, some, type, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Each rank has `each` words for each other: said[rank * each] on its side is heard[rank * each] on the other. */
static void ranks_tell(const struct ranks *ranks, const uint64_t *said, uint64_t *heard, uint32_t each)
{
    if (ranks)
        MPI_Alltoall(said, (int)each, MPI_UINT64_T, heard, (int)each, MPI_UINT64_T, MPI_COMM_WORLD);
}

/* The same with a number of words of each pair's own, which both know, from where they lie: nothing is copied. */
static void mail_carry(struct mail *mail)
{
    uint32_t count = mail->ranks->count, under_way = 0;
    MPI_Request *requests = memory_take(sizeof *requests * 2 * count);
    for (uint32_t i = 0; i < count; i++)
        if (mail->in_count[i])
            MPI_Irecv(mail->in.words + mail->in_at[i], (int)mail->in_count[i], MPI_UINT64_T, (int)i, MAIL_TAG,
                      MPI_COMM_WORLD, &requests[under_way++]);
    for (uint32_t i = 0; i < count; i++) {
        const struct words *out = mail_to(mail, i);
        if (out->count)
            MPI_Isend(out->words, (int)out->count, MPI_UINT64_T, (int)i, MAIL_TAG, MPI_COMM_WORLD,
                      &requests[under_way++]);
    }
    MPI_Waitall((int)under_way, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

#else

bool ranks_open(struct ranks *ranks, struct errors *errors)
{
    (void)ranks;
    errors_add(errors,
               "flitwarp run: started as one of %u ranks, but this program was built without MPI; expected one "
               "rank, or a build that finds MPI (libopenmpi-dev)",
               ranks_launched());
    return false;
}

/* There is one rank: what it has is what all have. */
void ranks_close(struct ranks *ranks) { (void)ranks; }
static void ranks_reduce(void *numbers, size_t count, enum reduction how) { (void)numbers, (void)count, (void)how; }
static void ranks_collect(const struct ranks *ranks, void *numbers, size_t count, size_t size)
{
    (void)ranks, (void)numbers, (void)count, (void)size;
}
static void ranks_tell(const struct ranks *ranks, const uint64_t *said, uint64_t *heard, uint32_t each)
{
    (void)ranks, (void)said, (void)heard, (void)each;
}
static void mail_carry(struct mail *mail) { (void)mail; }

#endif

void ranks_add(const struct ranks *ranks, uint64_t *numbers, size_t count)
{
    if (ranks)
        ranks_reduce(numbers, count, SUM_U64);
}

void ranks_raise(const struct ranks *ranks, uint64_t *numbers, size_t count)
{
    if (ranks)
        ranks_reduce(numbers, count, LARGEST_U64);
}

double ranks_sum(const struct ranks *ranks, double value)
{
    if (ranks)
        ranks_reduce(&value, 1, SUM_F64);
    return value;
}

/* ---- mail: first each tells each other how many words it has for it; then these travel between those who have some ---- */

enum { FOR_YOU, HEADER }; /* words before those that are told */

void mail_init(struct mail *mail, struct ranks *ranks, uint32_t told)
{
    *mail = (struct mail){.ranks = ranks, .told = told};
    size_t count = ranks->count, letter = HEADER + told;
    mail->out = memory_take(sizeof *mail->out * count);
    mail->said = memory_take(sizeof *mail->said * letter * count);
    mail->heard = memory_take(sizeof *mail->heard * letter * count);
    mail->in_count = memory_take(sizeof(size_t) * 2 * count);
    mail->in_at = mail->in_count + count;
}

void mail_release(struct mail *mail)
{
    for (uint32_t rank = 0; mail->ranks && rank < mail->ranks->count; rank++)
        words_release(&mail->out[rank]);
    words_release(&mail->for_all);
    words_release(&mail->in);
    free(mail->out);
    free(mail->said);
    free(mail->heard);
    free(mail->in_count);
    *mail = (struct mail){0};
}

const uint64_t *mail_told(const struct mail *mail, uint32_t rank)
{
    return mail->heard + (size_t)rank * (HEADER + mail->told) + HEADER;
}

void mail_swap(struct mail *mail, const uint64_t *told)
{
    uint32_t count = mail->ranks->count, letter = HEADER + mail->told;
    for (uint32_t rank = 0; rank < count; rank++) {
        uint64_t *said = mail->said + (size_t)rank * letter;
        said[FOR_YOU] = mail_to(mail, rank)->count;
        FW_CHECK(said[FOR_YOU] <= INT_MAX, "%llu words are too many for another rank at one time",
                 (unsigned long long)said[FOR_YOU]);
        if (mail->told)
            memcpy(said + HEADER, told, mail->told * sizeof *told);
    }
    ranks_tell(mail->ranks, mail->said, mail->heard, letter);
    mail->in.count = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        mail->in_at[rank] = mail->in.count;
        mail->in_count[rank] = mail->heard[(size_t)rank * letter + FOR_YOU];
        words_take(&mail->in, mail->in_count[rank]);
    }
    mail_carry(mail);
    for (uint32_t rank = 0; rank < count; rank++)
        mail->out[rank].count = 0;
    mail->for_all.count = 0;
}

/* ---- tallies: all single numbers travel at once ---- */

void tally_agree(struct tally *tally, tally_list *list, void *context)
{
    tally->is_back = false;
    tally->sums.count = tally->largest.count = 0;
    list(context, tally);
    ranks_add(tally->ranks, tally->sums.words, tally->sums.count);
    ranks_raise(tally->ranks, tally->largest.words, tally->largest.count);
    tally->is_back = true;
    tally->sum_at = tally->largest_at = 0;
    list(context, tally);
}

void tally_release(struct tally *tally)
{
    words_release(&tally->sums);
    words_release(&tally->largest);
}

void tally_sum(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->sums.words[tally->sum_at++];
    else
        *words_take(&tally->sums, 1) = *number;
}

/* In quarters, whose sums have room for what is carried over. */
void tally_sum_wide(struct tally *tally, unsigned __int128 *number)
{
    unsigned __int128 sum = 0;
    for (uint32_t shift = 0; shift < 128; shift += 32) {
        uint64_t quarter = (uint32_t)(*number >> shift);
        tally_sum(tally, &quarter);
        sum += (unsigned __int128)quarter << shift;
    }
    if (tally->is_back)
        *number = sum;
}

void tally_largest(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->largest.words[tally->largest_at++];
    else
        *words_take(&tally->largest, 1) = *number;
}

void tally_smallest(struct tally *tally, uint64_t *number)
{
    uint64_t complement = ~*number;
    tally_largest(tally, &complement);
    *number = ~complement;
}

void tally_row(struct tally *tally, uint64_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_collect(tally->ranks, numbers, count, sizeof *numbers);
}

void tally_row_u32(struct tally *tally, uint32_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_collect(tally->ranks, numbers, count, sizeof *numbers);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks by MPI, see process_ranks.h. At a meeting each rank tells each other how
 * many events it has for it and what its own workers agreed on; then the events
 * travel. A rank that dies takes the others with it: the launcher sees to that.
 */
#include "engine/process_run.h"

#include "flitwarp/arena.h"
#include "flitwarp/error.h"

#include <stdlib.h>

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

#ifdef FLITWARP_HAVE_MPI
#include <mpi.h>

enum { MEETING_WORDS = 1 + sizeof(struct sync_values) / sizeof(uint64_t) };

bool ranks_open(struct ranks *ranks, struct errors *errors)
{
    int provided, number, count, here;
    MPI_Comm machine;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    *ranks = (struct ranks){.number = (uint32_t)number, .count = (uint32_t)count, .on_this_machine = (uint32_t)here};
    ranks->counts = memory_take(sizeof *ranks->counts * 4 * ranks->count);
    ranks->words = memory_take(sizeof *ranks->words * 2 * MEETING_WORDS * ranks->count);
    if (provided < MPI_THREAD_FUNNELED)
        errors_add(errors, "flitwarp run: this MPI takes no threads, expected one that gives MPI_THREAD_FUNNELED");
    return provided >= MPI_THREAD_FUNNELED;
}

void ranks_close(struct ranks *ranks)
{
    event_buffer_release(&ranks->out);
    event_buffer_release(&ranks->in);
    free(ranks->counts);
    free(ranks->words);
    MPI_Finalize();
}

double ranks_sum(const struct ranks *ranks, double value)
{
    if (ranks)
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

uint64_t ranks_largest(const struct ranks *ranks, uint64_t value)
{
    if (ranks)
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

/* All events for other ranks behind one another, by rank and then by worker. */
static void gather(struct process_run *run, int *counts, int *places)
{
    struct ranks *ranks = run->ranks;
    uint32_t words = run->event_size / 8;
    ranks->out.count = 0;
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        places[rank] = (int)ranks->out.count;
        for (uint32_t i = 0; i < run->worker_count; i++) {
            struct event_buffer *box = &run->workers[i]->rank_boxes[rank];
            for (size_t e = 0; e < box->count; e++)
                event_buffer_add(&ranks->out, (const void *)(box->words + e * words), words);
            box->count = 0;
        }
        counts[rank] = (int)ranks->out.count - places[rank];
    }
}

static void scatter(struct process_run *run)
{
    struct ranks *ranks = run->ranks;
    uint32_t words = run->event_size / 8;
    for (size_t i = 0; i < ranks->in.count; i++) {
        const struct event *event = (const void *)(ranks->in.words + i * words);
        uint32_t worker = worker_of(run, event->partition & ~EVENT_TAKEN_BACK) - run->rank * run->worker_count;
        CHECK(worker < run->worker_count, "an event for partition %u came to rank %u",
              event->partition & ~EVENT_TAKEN_BACK, run->rank);
        event_buffer_add(&run->workers[worker]->from_ranks, event, words);
    }
}

static void exchange(struct process_run *run, const int *out, const int *out_at, const int *in, const int *in_at)
{
    struct ranks *ranks = run->ranks;
    MPI_Datatype type;
    MPI_Type_contiguous((int)(run->event_size / 8), MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(ranks->out.words, out, out_at, type, ranks->in.words, in, in_at, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    scatter(run);
}

void ranks_meet(struct process_run *run)
{
    struct ranks *ranks = run->ranks;
    uint32_t count = ranks->count;
    int *out = ranks->counts, *out_at = out + count, *in = out_at + count, *in_at = in + count;
    uint64_t *said = ranks->words, *heard = said + (size_t)MEETING_WORDS * count;
    gather(run, out, out_at);
    run->agreed.sent = ranks->out.count;
    for (uint32_t rank = 0; rank < count; rank++) {
        said[(size_t)rank * MEETING_WORDS] = (uint64_t)out[rank];
        *(struct sync_values *)(void *)&said[(size_t)rank * MEETING_WORDS + 1] = run->agreed;
    }
    MPI_Alltoall(said, MEETING_WORDS, MPI_UINT64_T, heard, MEETING_WORDS, MPI_UINT64_T, MPI_COMM_WORLD);
    ranks->in.count = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        in[rank] = (int)heard[(size_t)rank * MEETING_WORDS];
        in_at[rank] = (int)ranks->in.count;
        event_buffer_extend(&ranks->in, (size_t)in[rank], run->event_size / 8);
        if (rank != run->rank)
            values_merge(&run->agreed, (const void *)&heard[(size_t)rank * MEETING_WORDS + 1]);
    }
    if (run->agreed.sent)
        exchange(run, out, out_at, in, in_at);
}

void ranks_total(struct process_run *run)
{
    const struct model *model = run->model;
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Allreduce(MPI_IN_PLACE, run->sums, (int)model->sum_count, MPI_UINT64_T, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, run->maxima, (int)model->maximum_count, MPI_UINT64_T, MPI_MAX, all);
    MPI_Allreduce(MPI_IN_PLACE, &run->counts, (int)PROCESS_COUNTS, MPI_UINT64_T, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, run->digest.lanes, 2, MPI_UINT64_T, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, &run->totals.end_tick, 1, MPI_UINT64_T, MPI_MAX, all);
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

void ranks_close(struct ranks *ranks) { (void)ranks; }
void ranks_meet(struct process_run *run) { (void)run; }
void ranks_total(struct process_run *run) { (void)run; }

double ranks_sum(const struct ranks *ranks, double value)
{
    (void)ranks;
    return value;
}

uint64_t ranks_largest(const struct ranks *ranks, uint64_t value)
{
    (void)ranks;
    return value;
}

#endif

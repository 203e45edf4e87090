/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided calls of a DUMPI trace as tasks. A put (or MPI_Accumulate) and a get go on by
 * themselves until the call that ends their epoch: MPI_Win_fence and MPI_Win_free, where all
 * ranks of the window meet, or MPI_Win_complete and MPI_Win_unlock. Whether the other side
 * has opened its epoch (MPI_Win_post, a lock) is not waited for.
 */
#include "workload/trace/reader/dumpi/dumpi_conversion.h"

/* All that was put or got under a window so far has ended before the task does. */
static bool end_epoch(struct dumpi_conversion *conversion, struct dumpi_request *window, const struct task *task)
{
    uint32_t end = dumpi_task_add(conversion, task, true), earlier;
    while (dumpi_request_end(&conversion->windows, window, &earlier))
        builder_wait(conversion->builder, conversion->rank, end, earlier, false);
    return true;
}

static struct task barrier_of(const struct dumpi_communicator *communicator)
{
    return (struct task){.kind = TASK_COLLECTIVE,
                         .unit = OPERATION_BARRIER,
                         .tag = NO_COUNTS,
                         .communicator = communicator->number,
                         .peer = communicator->ranks[0]};
}

static bool create(struct dumpi_conversion *conversion, const struct dumpi_call *call, struct dumpi_request *window)
{
    window->communicator = dumpi_communicator_within(conversion->communicators, conversion->rank, call, "comm");
    if (!window->communicator)
        return false;
    struct task barrier = barrier_of(window->communicator);
    return end_epoch(conversion, window, &barrier);
}

static bool reach(struct dumpi_conversion *conversion, const struct dumpi_call *call, struct dumpi_request *window)
{
    struct task task = {.kind = call->id == DUMPI_GET ? TASK_GET : TASK_PUT};
    int64_t target = dumpi_value(call, "targetrank");
    task.communicator = window->communicator->number;
    if (!dumpi_bytes(&conversion->at->types, call, dumpi_value(call, "origincount"), dumpi_value(call, "origintype"),
                     &task.amount))
        return false;
    if (target < 0)
        return true; /* MPI_PROC_NULL */
    if (!dumpi_peer(conversion, call, window->communicator, target, &task.peer))
        return false;
    dumpi_request_start(&conversion->windows, window, dumpi_task_add(conversion, &task, false));
    return true;
}

static bool is_of_windows(uint32_t id)
{
    return id == DUMPI_WIN_CREATE || id == DUMPI_PUT || id == DUMPI_GET || id == DUMPI_ACCUMULATE ||
           id == DUMPI_WIN_FENCE || id == DUMPI_WIN_FREE || id == DUMPI_WIN_COMPLETE || id == DUMPI_WIN_UNLOCK;
}

bool dumpi_one_sided(struct dumpi_conversion *conversion, const struct dumpi_call *call, bool *is_good)
{
    if (!is_of_windows(call->id))
        return false;
    struct dumpi_request *window = dumpi_window_of(&conversion->windows, dumpi_value(call, "win"));
    const struct task join = {.kind = TASK_JOIN};
    if (call->id == DUMPI_WIN_CREATE) {
        *is_good = create(conversion, call, window);
    } else if (!window->communicator) {
        *is_good = dumpi_error(&conversion->at->file, call->offset, "%s: no call made window %lld",
                               dumpi_functions[call->id].name, (long long)dumpi_value(call, "win"));
    } else if (call->id == DUMPI_PUT || call->id == DUMPI_GET || call->id == DUMPI_ACCUMULATE) {
        *is_good = reach(conversion, call, window);
    } else {
        bool all_meet = call->id == DUMPI_WIN_FENCE || call->id == DUMPI_WIN_FREE;
        struct task barrier = barrier_of(window->communicator);
        *is_good = end_epoch(conversion, window, all_meet ? &barrier : &join);
    }
    return true;
}

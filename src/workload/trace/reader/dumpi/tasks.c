/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a rank as tasks. Where a call's status says which message it got, the task asks for that one, wildcards
 * or not: what was seen once can happen again, whereas another order of arrival could leave a later receive without
 * its message.
 *
 * A put (or MPI_Accumulate) and a get go on by themselves until the call that ends their epoch: MPI_Win_fence and
 * MPI_Win_free, where all ranks of the window meet, or MPI_Win_complete and MPI_Win_unlock. Whether the other side
 * has opened its epoch (MPI_Win_post, a lock) is not waited for.
 */
#include "workload/trace/reader/dumpi/dumpi.h"

#include <stdlib.h>

enum { ANY_RANK = -1, ANY_TAG = -1, REQUEST_NULL = 1 };
#define NO_TASK UINT32_MAX /* of an operation with nobody */

/*
 * A request, or a window with what was put or got since its last epoch. The id of a request is the value of a handle,
 * which comes back: MPI libraries give all sends that are complete at once the same handle, so that an id may be
 * outstanding several times; a persistent request keeps its id over many starts. A receive's handle is its own: when
 * its id is given anew, the receive has ended by a call that is not in the file.
 */
struct dumpi_request {
    uint64_t name;
    uint32_t started, ended; /* how many; those between are pending, the oldest ends first */
    bool is_send, is_persistent, is_to_cancel;
    struct task task; /* what a start of a persistent one does */
    const struct dumpi_communicator *communicator;
};

struct dumpi_conversion {
    struct dumpi_rank *rank; /* borrowed, as is the next */
    struct trace_builder *builder;
    uint32_t last;         /* the task that the next one waits for; NO_TASK: none */
    uint64_t computed_ps;  /* since then */
    uint64_t returned_ns;  /* when the call before came back; 0: there was none */
    struct table requests; /* by name, windows too */
    struct table pending;  /* by name and number of the start: the task */
};

static void task_wait(struct dumpi_conversion *conversion, uint32_t task, uint32_t earlier)
{
    builder_wait(conversion->builder, conversion->rank->number, task, earlier, false);
}

/* A task after all that has been computed; what follows waits for it if it is blocking. */
static uint32_t task_add(struct dumpi_conversion *conversion, const struct task *task, bool is_blocking)
{
    if (conversion->computed_ps) {
        struct task compute = {.kind = TASK_COMPUTE, .amount = conversion->computed_ps};
        conversion->computed_ps = 0;
        task_add(conversion, &compute, true);
    }
    uint32_t added = builder_add(conversion->builder, conversion->rank->number, task);
    if (conversion->last != NO_TASK)
        task_wait(conversion, added, conversion->last);
    if (is_blocking)
        conversion->last = added;
    return added;
}

/* The rank of the job; false with an error. */
static bool find_peer(const struct dumpi_rank *rank, const struct dumpi_communicator *communicator, int64_t place,
                      uint32_t *peer)
{
    if (place < 0 || place >= communicator->size)
        return dumpi_call_error(rank, "rank %lld of a communicator of %u", (long long)place, communicator->size);
    *peer = communicator->ranks[place];
    return true;
}

/* ---- messages ---- */

/* Asks for the message that came. MPI_PROC_NULL may look like a wildcard; its status says that nobody sent. */
static bool narrow(const struct dumpi_rank *rank, const struct dumpi_communicator *communicator,
                   const struct dumpi_status *status, struct task *task)
{
    if (task->peer == FW_ANY && status->source < 0)
        task->kind = TASK_JOIN;
    else if (task->peer == FW_ANY && !find_peer(rank, communicator, status->source, &task->peer))
        return false;
    if (task->tag == FW_ANY && status->tag >= 0)
        task->tag = (uint32_t)status->tag;
    return true;
}

/* What a message's task is. A negative rank that is no wildcard is MPI_PROC_NULL: then it is a TASK_JOIN. */
static bool read_message(struct dumpi_rank *rank, enum task_kind kind, struct task *task)
{
    bool is_send = kind == TASK_SEND;
    const struct dumpi_communicator *communicator = dumpi_communicator_of(rank, "comm");
    const struct dumpi_argument *count = dumpi_find_either(rank, is_send ? "sendcount" : "recvcount", "count"),
                                *type = dumpi_find_either(rank, is_send ? "sendtype" : "recvtype", "datatype"),
                                *statuses = dumpi_find(rank, "status");
    int64_t peer = dumpi_value(rank, is_send ? "dest" : "source");
    int64_t tag = dumpi_number(dumpi_find_either(rank, is_send ? "sendtag" : "recvtag", "tag"), 0);
    bool is_any = !is_send && peer == ANY_RANK;
    *task = (struct task){.kind = peer < 0 && !is_any ? TASK_JOIN : kind, .flags = rank->call.function->with};
    if (!communicator)
        return false;
    task->communicator = communicator->number;
    task->peer = FW_ANY;
    task->tag = !is_send && tag == ANY_TAG ? FW_ANY : (uint32_t)tag;
    if (!dumpi_bytes(rank, dumpi_number(count, 0), dumpi_number(type, 0), &task->amount) ||
        (peer >= 0 && !find_peer(rank, communicator, peer, &task->peer)))
        return false;
    if (is_send || !statuses || !statuses->count)
        return true;
    struct dumpi_status status = dumpi_status(rank, statuses, 0);
    return narrow(rank, communicator, &status, task);
}

/* A blocking send or receive; a probe, if it found something. */
static bool convert_message(struct dumpi_conversion *conversion)
{
    struct dumpi_rank *rank = conversion->rank;
    uint32_t does = rank->call.does;
    const struct dumpi_argument *flag = dumpi_find(rank, "flag");
    struct task task;
    if (flag && !dumpi_number(flag, 0))
        return true;
    if (!read_message(rank, does == DUMPI_SEND ? TASK_SEND : does == DUMPI_RECEIVE ? TASK_RECEIVE : TASK_PROBE, &task))
        return false;
    if (task.kind != TASK_JOIN)
        task_add(conversion, &task, true);
    return true;
}

/* Both directions at once, then a join. */
static bool convert_both(struct dumpi_conversion *conversion)
{
    struct task send, receive;
    if (!read_message(conversion->rank, TASK_SEND, &send) || !read_message(conversion->rank, TASK_RECEIVE, &receive))
        return false;
    uint32_t sent = task_add(conversion, &send, false), received = task_add(conversion, &receive, false);
    uint32_t end = task_add(conversion, &(struct task){.kind = TASK_JOIN}, true);
    task_wait(conversion, end, sent);
    task_wait(conversion, end, received);
    return true;
}

/* ---- requests ---- */

/* The request or window of a handle, made if it is not there; until the next call. */
static struct dumpi_request *handle_request(struct dumpi_conversion *conversion, int64_t handle, bool is_window)
{
    uint64_t name = (uint64_t)handle << 1 | is_window;
    struct dumpi_request *request = table_put(&conversion->requests, &(struct table_key){{name}});
    request->name = name;
    return request;
}

/* NULL for MPI_REQUEST_NULL. */
static struct dumpi_request *request_of(struct dumpi_conversion *conversion, int64_t id)
{
    if (conversion->rank->version < 607) /* older libraries left rubbish in the upper bits */
        id &= 0xff;
    return id == REQUEST_NULL ? NULL : handle_request(conversion, id, false);
}

/* A new operation under this request. */
static void request_start(struct dumpi_conversion *conversion, struct dumpi_request *request, const struct task *task)
{
    const struct table_key key = {{request->name, request->started++}};
    uint32_t added = task->kind == TASK_JOIN ? NO_TASK : task_add(conversion, task, false);
    *(uint32_t *)table_put(&conversion->pending, &key) = added;
}

/* Ends the oldest; false when there is none. */
static bool request_end(struct dumpi_conversion *conversion, struct dumpi_request *request, uint32_t *task)
{
    if (request->ended == request->started)
        return false;
    const struct table_key key = {{request->name, request->ended++}};
    *task = *(uint32_t *)table_put(&conversion->pending, &key);
    table_remove(&conversion->pending, &key);
    return true;
}

/* Forgets what was started under an id and has ended unseen. */
static void request_clear(struct dumpi_conversion *conversion, struct dumpi_request *request)
{
    uint32_t task;
    while (request_end(conversion, request, &task))
        continue;
    request->is_persistent = request->is_to_cancel = false;
}

static bool convert_request(struct dumpi_conversion *conversion)
{
    struct dumpi_rank *rank = conversion->rank;
    struct task task;
    uint32_t does = rank->call.does;
    bool is_send = does == DUMPI_START_SEND || does == DUMPI_KEEP_SEND;
    bool is_persistent = does == DUMPI_KEEP_SEND || does == DUMPI_KEEP_RECEIVE;
    struct dumpi_request *request = request_of(conversion, dumpi_value(rank, "request"));
    if (!read_message(rank, is_send ? TASK_SEND : TASK_RECEIVE, &task))
        return false;
    if (!request)
        return dumpi_call_error(rank, "it gives MPI_REQUEST_NULL");
    if (!is_send || !request->is_send || is_persistent || request->is_persistent)
        request_clear(conversion, request);
    request->is_send = is_send;
    request->is_persistent = is_persistent;
    request->communicator = dumpi_communicator_of(rank, "comm");
    request->task = task;
    if (!is_persistent)
        request_start(conversion, request, &task);
    return true;
}

/* Whether calls that make persistent requests were left out of the file, so that nobody knows what a start does. */
static bool lacks_persistent(const struct dumpi_rank *rank)
{
    for (uint32_t id = 0; id < DUMPI_COUNTED; id++)
        if ((dumpi_functions[id].does == DUMPI_KEEP_SEND || dumpi_functions[id].does == DUMPI_KEEP_RECEIVE) &&
            dumpi_called(rank, id, true))
            return true;
    return false;
}

static bool convert_start(struct dumpi_conversion *conversion)
{
    const struct dumpi_argument *ids = dumpi_find_either(conversion->rank, "request", "requests");
    for (uint32_t i = 0; i < ids->count; i++) {
        struct dumpi_request *request = request_of(conversion, dumpi_number(ids, i));
        if (request && request->is_persistent)
            request_start(conversion, request, &request->task);
        else if (!lacks_persistent(conversion->rank))
            return dumpi_call_error(conversion->rank, "request %lld was not made to be started",
                                    (long long)dumpi_number(ids, i));
    }
    return true;
}

/* A wait or a test that found something ended, as the join that it becomes. */
struct ending {
    const struct dumpi_argument *ids, *statuses;
    uint32_t join; /* NO_TASK: none yet */
};

/* The request at `place` among the ids has ended, with the status at `status_place`. */
static bool end_one(struct dumpi_conversion *conversion, struct ending *ending, int64_t place, uint32_t status_place)
{
    struct dumpi_rank *rank = conversion->rank;
    uint32_t task;
    if (place < 0 || place >= ending->ids->count)
        return true; /* MPI_UNDEFINED: all were null */
    struct dumpi_request *request = request_of(conversion, dumpi_number(ending->ids, (uint32_t)place));
    if (!request || !request_end(conversion, request, &task) || task == NO_TASK)
        return true;
    if (!request->is_send && ending->statuses && status_place < ending->statuses->count) {
        struct dumpi_status status = dumpi_status(rank, ending->statuses, status_place);
        struct task *receive = builder_task(conversion->builder, rank->number, task);
        if (request->is_to_cancel && status.is_cancelled)
            receive->kind = TASK_JOIN;
        else if (!narrow(rank, request->communicator, &status, receive))
            return false;
    }
    request->is_to_cancel = false;
    if (ending->join == NO_TASK)
        ending->join = task_add(conversion, &(struct task){.kind = TASK_JOIN}, true);
    task_wait(conversion, ending->join, task);
    return true;
}

/* Those that `indices` name, the one of `index`, or all. */
static bool convert_end(struct dumpi_conversion *conversion)
{
    const struct dumpi_rank *rank = conversion->rank;
    const struct dumpi_argument *indices = dumpi_find(rank, "indices"), *flag = dumpi_find(rank, "flag");
    struct ending ending = {dumpi_find_either(rank, "requests", "request"),
                            dumpi_find_either(rank, "statuses", "status"), NO_TASK};
    if (flag && !dumpi_number(flag, 0))
        return true;
    if (dumpi_find(rank, "index"))
        return end_one(conversion, &ending, dumpi_value(rank, "index"), 0);
    for (uint32_t i = 0; indices ? i < indices->count && i < dumpi_value(rank, "outcount") : i < ending.ids->count; i++)
        if (!end_one(conversion, &ending, indices ? dumpi_number(indices, i) : i, i))
            return false;
    return true;
}

/* A request is to be cancelled, or forgotten. */
static bool convert_drop(struct dumpi_conversion *conversion)
{
    struct dumpi_request *request = request_of(conversion, dumpi_value(conversion->rank, "request"));
    if (request && conversion->rank->call.does == DUMPI_CANCEL)
        request->is_to_cancel = true;
    else if (request)
        request_clear(conversion, request);
    return true;
}

/* ---- collectives ---- */

/* The arguments by which a rank says what it gives, or gets where the root gives. */
static const struct {
    const char *count, *type;
} amounts[OPERATIONS] = {
    [OPERATION_BROADCAST] = {"count", "datatype"},    [OPERATION_GATHER] = {"sendcount", "sendtype"},
    [OPERATION_SCATTER] = {"recvcount", "recvtype"},  [OPERATION_ALLGATHER] = {"recvcount", "recvtype"},
    [OPERATION_ALLTOALL] = {"recvcount", "recvtype"}, [OPERATION_REDUCE] = {"count", "datatype"},
    [OPERATION_ALLREDUCE] = {"count", "datatype"},    [OPERATION_REDUCE_SCATTER] = {"recvcount", "datatype"},
    [OPERATION_SCAN] = {"count", "datatype"},         [OPERATION_EXSCAN] = {"count", "datatype"},
};

static bool convert_collective(struct dumpi_conversion *conversion)
{
    struct dumpi_rank *rank = conversion->rank;
    struct task task = {.kind = TASK_COLLECTIVE, .unit = rank->call.function->with, .tag = NO_COUNTS};
    bool is_barrier = task.unit == OPERATION_BARRIER, is_uneven = dumpi_find(rank, "commsize");
    const struct dumpi_communicator *communicator =
        (is_barrier ? dumpi_communicator_of : dumpi_communicator_within)(rank, "comm");
    if (!communicator)
        return false;
    if (communicator->joint)
        communicator = communicator->joint;
    task.communicator = communicator->number;
    task.peer = communicator->ranks[0];
    if (dumpi_find(rank, "root") && !find_peer(rank, communicator, dumpi_value(rank, "root"), &task.peer))
        return false;
    if (!is_barrier && !(is_uneven && task.unit == OPERATION_ALLTOALL)) {
        /* what this rank itself gives, or gets where the root gives: its block of the row */
        const struct dumpi_argument *counts = dumpi_find_either(rank, amounts[task.unit].count, "recvcounts");
        uint32_t place = 0;
        while (counts->is_array && communicator->ranks[place] != rank->number)
            place++;
        if (!dumpi_bytes(rank, dumpi_number(counts, place), dumpi_value(rank, amounts[task.unit].type), &task.amount))
            return false;
    }
    uint32_t row = is_uneven ? dumpi_row_find(rank, communicator, task.peer, amounts[task.unit].type) : 0;
    if (is_uneven && !row)
        return false;
    task.tag = is_uneven ? row - 1 : NO_COUNTS;
    task_add(conversion, &task, true);
    return true;
}

/* ---- one-sided calls ---- */

/* All that was put or got under a window so far has ended before the task does. */
static bool end_epoch(struct dumpi_conversion *conversion, struct dumpi_request *window, bool all_meet)
{
    const struct dumpi_communicator *communicator = window->communicator;
    const struct task join = {.kind = TASK_JOIN}, barrier = {.kind = TASK_COLLECTIVE,
                                                             .unit = OPERATION_BARRIER,
                                                             .tag = NO_COUNTS,
                                                             .communicator = communicator->number,
                                                             .peer = communicator->ranks[0]};
    uint32_t end = task_add(conversion, all_meet ? &barrier : &join, true), earlier;
    while (request_end(conversion, window, &earlier))
        task_wait(conversion, end, earlier);
    return true;
}

static bool convert_one_sided(struct dumpi_conversion *conversion)
{
    struct dumpi_rank *rank = conversion->rank;
    struct dumpi_request *window = handle_request(conversion, dumpi_value(rank, "win"), true);
    uint32_t does = rank->call.does;
    struct task task = {.kind = does == DUMPI_GET ? TASK_GET : TASK_PUT};
    if (does == DUMPI_WINDOW) {
        window->communicator = dumpi_communicator_within(rank, "comm");
        return window->communicator && end_epoch(conversion, window, true);
    }
    if (!window->communicator)
        return dumpi_call_error(rank, "no call made window %lld", (long long)dumpi_value(rank, "win"));
    if (does != DUMPI_PUT && does != DUMPI_GET)
        return end_epoch(conversion, window, does == DUMPI_FENCE);
    int64_t target = dumpi_value(rank, "targetrank");
    task.communicator = window->communicator->number;
    if (!dumpi_bytes(rank, dumpi_value(rank, "origincount"), dumpi_value(rank, "origintype"), &task.amount))
        return false;
    if (target < 0)
        return true; /* MPI_PROC_NULL */
    if (!find_peer(rank, window->communicator, target, &task.peer))
        return false;
    request_start(conversion, window, &task);
    return true;
}

/* ---- all calls ---- */

static bool (*const conversions[DUMPI_MEANINGS])(struct dumpi_conversion *conversion) = {
    [DUMPI_SEND] = convert_message,          [DUMPI_RECEIVE] = convert_message,
    [DUMPI_PROBE] = convert_message,         [DUMPI_EXCHANGE] = convert_both,
    [DUMPI_START_SEND] = convert_request,    [DUMPI_START_RECEIVE] = convert_request,
    [DUMPI_KEEP_SEND] = convert_request,     [DUMPI_KEEP_RECEIVE] = convert_request,
    [DUMPI_START] = convert_start,           [DUMPI_END] = convert_end,
    [DUMPI_CANCEL] = convert_drop,           [DUMPI_FORGET] = convert_drop,
    [DUMPI_COLLECTIVE] = convert_collective, [DUMPI_WINDOW] = convert_one_sided,
    [DUMPI_PUT] = convert_one_sided,         [DUMPI_GET] = convert_one_sided,
    [DUMPI_FENCE] = convert_one_sided,       [DUMPI_COMPLETE] = convert_one_sided,
};

/* Time since the call before came back, and that of calls about files, which count as computing. Clocks of hosts differ, so only differences within a rank count. */
static void note_time(struct dumpi_conversion *conversion)
{
    const struct dumpi_call *call = &conversion->rank->call;
    const uint64_t *times = call->has_wall ? call->wall_ns : call->cpu_ns;
    uint64_t ns;
    if (!call->has_wall && !call->has_cpu)
        return;
    if (conversion->returned_ns && times[0] > conversion->returned_ns)
        conversion->computed_ps += 1000 * (times[0] - conversion->returned_ns);
    if (dumpi_is_about_files(conversion->rank, &ns))
        conversion->computed_ps += 1000 * ns;
    if (times[1] > conversion->returned_ns)
        conversion->returned_ns = times[1];
}

bool dumpi_convert(struct dumpi_rank *rank)
{
    struct dumpi_conversion conversion = {.rank = rank, .builder = rank->job->builder, .last = NO_TASK};
    uint32_t before = rank->errors->count;
    bool is_good = true;
    table_init(&conversion.requests, sizeof(struct dumpi_request), NULL);
    table_init(&conversion.pending, sizeof(uint32_t), NULL);
    while (is_good && dumpi_next(rank)) {
        note_time(&conversion);
        dumpi_communicators_follow(rank);
        is_good = !conversions[rank->call.does] || conversions[rank->call.does](&conversion);
    }
    table_release(&conversion.requests);
    table_release(&conversion.pending);
    return rank->errors->count == before;
}

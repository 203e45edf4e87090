/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a rank as tasks. Where a call's status says which message it got, the
 * task asks for that one, wildcards or not: what was seen once can happen again,
 * whereas another order of arrival could leave a later receive without its message.
 */
#include "workload/trace/reader/dumpi/tasks.h"

enum { ANY_RANK = -1, ANY_TAG = -1, REQUEST_NULL = 1 };

uint32_t dumpi_task_add(struct dumpi_conversion *conversion, const struct task *task, bool is_blocking)
{
    if (conversion->computed_ps) {
        struct task compute = {.kind = TASK_COMPUTE, .amount = conversion->computed_ps};
        conversion->computed_ps = 0;
        dumpi_task_add(conversion, &compute, true);
    }
    uint32_t added = builder_add(conversion->builder, conversion->rank, task);
    if (conversion->last != NO_TASK)
        builder_wait(conversion->builder, conversion->rank, added, conversion->last, false);
    if (is_blocking)
        conversion->last = added;
    return added;
}

bool dumpi_peer(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                const struct dumpi_communicator *communicator, int64_t rank, uint32_t *peer)
{
    if (rank < 0 || rank >= communicator->size)
        return dumpi_call_error(&conversion->at->file, call, "rank %lld of a communicator of %u", (long long)rank,
                                communicator->size);
    *peer = communicator->ranks[rank];
    return true;
}

/* ---- messages ---- */

/* The arguments of a call that say what to send or receive. */
struct message_names {
    const char *count, *type, *peer, *tag;
};
static const struct message_names sends = {"count", "datatype", "dest", "tag"};
static const struct message_names receives = {"count", "datatype", "source", "tag"};
static const struct message_names probes = {NULL, NULL, "source", "tag"};

static const struct dumpi_communicator *communicator_of(const struct dumpi_conversion *conversion,
                                                        const struct dumpi_call *call)
{
    return dumpi_communicator_of(conversion->communicators, conversion->rank, call, "comm");
}

/* What a message's task is. A negative rank that is no wildcard is MPI_PROC_NULL: then it is a TASK_JOIN. */
static bool dumpi_read_message(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                               const struct message_names *names, enum task_kind kind, struct task *task)
{
    const struct dumpi_communicator *communicator = communicator_of(conversion, call);
    int64_t peer = dumpi_value(call, names->peer), tag = dumpi_value(call, names->tag);
    bool is_any = kind != TASK_SEND && peer == ANY_RANK;
    *task = (struct task){.kind = peer < 0 && !is_any ? TASK_JOIN : kind, .flags = call->function->with};
    if (!communicator)
        return false;
    task->communicator = communicator->number;
    task->peer = FW_ANY;
    task->tag = kind != TASK_SEND && tag == ANY_TAG ? FW_ANY : (uint32_t)tag;
    if (names->count && !dumpi_bytes(conversion->at, call, dumpi_value(call, names->count),
                                     dumpi_value(call, names->type), &task->amount))
        return false;
    return peer < 0 || dumpi_peer(conversion, call, communicator, peer, &task->peer);
}

/* Asks for the message that came. MPI_PROC_NULL may look like a wildcard; its status says that nobody sent. */
static bool narrow(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                   const struct dumpi_communicator *communicator, const struct dumpi_status *status, struct task *task)
{
    if (task->peer == FW_ANY && status->source < 0)
        task->kind = TASK_JOIN;
    else if (task->peer == FW_ANY && !dumpi_peer(conversion, call, communicator, status->source, &task->peer))
        return false;
    if (task->tag == FW_ANY && status->tag >= 0)
        task->tag = (uint32_t)status->tag;
    return true;
}

/* The same of one that is received or looked at, by the call's own status. */
static bool read_incoming(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                          const struct message_names *names, enum task_kind kind, struct task *task)
{
    const struct dumpi_argument *statuses = dumpi_find(call, "status");
    if (!dumpi_read_message(conversion, call, names, kind, task))
        return false;
    if (kind == TASK_SEND || !statuses || !statuses->count)
        return true;
    struct dumpi_status status = dumpi_status(&conversion->at->file, statuses, 0);
    return narrow(conversion, call, communicator_of(conversion, call), &status, task);
}

static bool convert_blocking(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                             const struct message_names *names, enum task_kind kind)
{
    struct task task;
    if (!read_incoming(conversion, call, names, kind, &task))
        return false;
    if (task.kind != TASK_JOIN)
        dumpi_task_add(conversion, &task, true);
    return true;
}

/* Both directions at once, then a join. */
static bool convert_both(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    bool is_replace = dumpi_find(call, "count");
    const struct message_names send = {is_replace ? "count" : "sendcount", is_replace ? "datatype" : "sendtype", "dest",
                                       "sendtag"};
    const struct message_names receive = {is_replace ? "count" : "recvcount", is_replace ? "datatype" : "recvtype",
                                          "source", "recvtag"};
    struct task tasks[2], join = {.kind = TASK_JOIN};
    uint32_t added[2];
    if (!dumpi_read_message(conversion, call, &send, TASK_SEND, &tasks[0]) ||
        !read_incoming(conversion, call, &receive, TASK_RECEIVE, &tasks[1]))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        added[i] = dumpi_task_add(conversion, &tasks[i], false);
    uint32_t end = dumpi_task_add(conversion, &join, true);
    for (uint32_t i = 0; i < 2; i++)
        builder_wait(conversion->builder, conversion->rank, end, added[i], false);
    return true;
}

/* ---- requests ---- */

struct dumpi_request *dumpi_request_of(struct dumpi_conversion *conversion, int64_t handle, bool is_window)
{
    uint64_t name = (uint64_t)handle << 1 | is_window;
    struct dumpi_request *request = table_put(&conversion->requests, &(struct table_key){{name}});
    request->name = name;
    return request;
}

/* NULL for MPI_REQUEST_NULL. */
static struct dumpi_request *request_of(struct dumpi_conversion *conversion, int64_t id)
{
    if (conversion->at->file.version < 607) /* older libraries left rubbish in the upper bits */
        id &= 0xff;
    return id == REQUEST_NULL ? NULL : dumpi_request_of(conversion, id, false);
}

void dumpi_request_start(struct dumpi_conversion *conversion, struct dumpi_request *request, uint32_t task)
{
    const struct table_key key = {{request->name, request->started++}};
    *(uint32_t *)table_put(&conversion->pending, &key) = task;
}

bool dumpi_request_end(struct dumpi_conversion *conversion, struct dumpi_request *request, uint32_t *task)
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
    while (dumpi_request_end(conversion, request, &task))
        continue;
    request->is_persistent = request->is_to_cancel = false;
}

static void dumpi_operation_start(struct dumpi_conversion *conversion, struct dumpi_request *request,
                                  const struct task *task)
{
    dumpi_request_start(conversion, request,
                        task->kind == TASK_JOIN ? NO_TASK : dumpi_task_add(conversion, task, false));
}

static bool convert_request(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct task task;
    uint32_t does = call->function->does;
    bool is_send = does == DUMPI_START_SEND || does == DUMPI_KEEP_SEND;
    bool is_persistent = does == DUMPI_KEEP_SEND || does == DUMPI_KEEP_RECEIVE;
    struct dumpi_request *request = request_of(conversion, dumpi_value(call, "request"));
    if (!dumpi_read_message(conversion, call, is_send ? &sends : &receives, is_send ? TASK_SEND : TASK_RECEIVE, &task))
        return false;
    if (!request)
        return dumpi_call_error(&conversion->at->file, call, "it gives MPI_REQUEST_NULL");
    if (!is_send || !request->is_send || is_persistent || request->is_persistent)
        request_clear(conversion, request);
    request->is_send = is_send;
    request->is_persistent = is_persistent;
    request->communicator = communicator_of(conversion, call);
    request->task = task;
    if (!is_persistent)
        dumpi_operation_start(conversion, request, &task);
    return true;
}

/* Whether calls that make persistent requests were left out of the file, so that nobody knows what a start does. */
static bool lacks_persistent(const struct dumpi_file *file)
{
    for (uint32_t id = 0; id < DUMPI_COUNTED; id++)
        if ((dumpi_functions[id].does == DUMPI_KEEP_SEND || dumpi_functions[id].does == DUMPI_KEEP_RECEIVE) &&
            dumpi_ignored(file, id))
            return true;
    return false;
}

static bool convert_start(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    const struct dumpi_argument *ids = dumpi_find_either(call, "request", "requests");
    for (uint32_t i = 0; i < ids->count; i++) {
        struct dumpi_request *request = request_of(conversion, dumpi_number(ids, i));
        if (request && request->is_persistent)
            dumpi_operation_start(conversion, request, &request->task);
        else if (!lacks_persistent(&conversion->at->file))
            return dumpi_call_error(&conversion->at->file, call, "request %lld was not made to be started",
                                    (long long)dumpi_number(ids, i));
    }
    return true;
}

/* ---- waits and tests ---- */

/* A wait or a test that found something ended, as the join that it becomes. */
struct ending {
    struct dumpi_conversion *conversion;
    const struct dumpi_call *call;
    const struct dumpi_argument *ids, *statuses;
    uint32_t join; /* NO_TASK: none yet */
};

/* The request at `place` among the ids has ended, with the status at `status_place`. */
static bool end_one(struct ending *ending, int64_t place, uint32_t status_place)
{
    struct dumpi_conversion *conversion = ending->conversion;
    uint32_t task;
    if (place < 0 || place >= ending->ids->count)
        return true; /* MPI_UNDEFINED: all were null */
    struct dumpi_request *request = request_of(conversion, dumpi_number(ending->ids, (uint32_t)place));
    if (!request || !dumpi_request_end(conversion, request, &task) || task == NO_TASK)
        return true;
    if (!request->is_send && ending->statuses && status_place < ending->statuses->count) {
        struct dumpi_status status = dumpi_status(&conversion->at->file, ending->statuses, status_place);
        struct task *receive = builder_task(conversion->builder, conversion->rank, task);
        if (request->is_to_cancel && status.is_cancelled)
            receive->kind = TASK_JOIN;
        else if (!narrow(conversion, ending->call, request->communicator, &status, receive))
            return false;
    }
    request->is_to_cancel = false;
    if (ending->join == NO_TASK)
        ending->join = dumpi_task_add(conversion, &(struct task){.kind = TASK_JOIN}, true);
    builder_wait(conversion->builder, conversion->rank, ending->join, task, false);
    return true;
}

/* Those that `indices` name, the one of `index`, or all. */
static bool convert_end(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct ending ending = {conversion, call, dumpi_find_either(call, "requests", "request"),
                            dumpi_find_either(call, "statuses", "status"), NO_TASK};
    const struct dumpi_argument *indices = dumpi_find(call, "indices"), *flag = dumpi_find(call, "flag");
    if (flag && !dumpi_number(flag, 0))
        return true;
    if (dumpi_find(call, "index"))
        return end_one(&ending, dumpi_value(call, "index"), 0);
    for (uint32_t i = 0; indices ? i < indices->count && i < dumpi_value(call, "outcount") : i < ending.ids->count; i++)
        if (!end_one(&ending, indices ? dumpi_number(indices, i) : i, i))
            return false;
    return true;
}

static void note_request(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct dumpi_request *request = request_of(conversion, dumpi_value(call, "request"));
    if (request && call->function->does == DUMPI_CANCEL)
        request->is_to_cancel = true;
    else if (request)
        request_clear(conversion, request);
}

/* ---- all calls ---- */

static bool convert_call(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    const struct dumpi_argument *flag = dumpi_find(call, "flag");
    switch (call->function->does) {
    case DUMPI_SEND:
        return convert_blocking(conversion, call, &sends, TASK_SEND);
    case DUMPI_RECEIVE:
        return convert_blocking(conversion, call, &receives, TASK_RECEIVE);
    case DUMPI_PROBE:
        return (flag && !dumpi_number(flag, 0)) || convert_blocking(conversion, call, &probes, TASK_PROBE);
    case DUMPI_EXCHANGE:
        return convert_both(conversion, call);
    case DUMPI_START_SEND:
    case DUMPI_START_RECEIVE:
    case DUMPI_KEEP_SEND:
    case DUMPI_KEEP_RECEIVE:
        return convert_request(conversion, call);
    case DUMPI_START:
        return convert_start(conversion, call);
    case DUMPI_END:
        return convert_end(conversion, call);
    case DUMPI_CANCEL:
    case DUMPI_FORGET:
        note_request(conversion, call);
        return true;
    case DUMPI_COLLECTIVE:
        return dumpi_collective(conversion, call);
    case DUMPI_WINDOW:
    case DUMPI_PUT:
    case DUMPI_GET:
    case DUMPI_FENCE:
    case DUMPI_COMPLETE:
        return dumpi_one_sided(conversion, call);
    default:
        return true;
    }
}

/* Time since the call before came back, and that of calls about files, which count as computing. Clocks of hosts differ, so only differences within a rank count. */
static void note_time(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    const uint64_t *times = call->has_wall ? call->wall_ns : call->cpu_ns;
    if (!call->has_wall && !call->has_cpu)
        return;
    if (conversion->returned_ns && times[0] > conversion->returned_ns)
        conversion->computed_ps += 1000 * (times[0] - conversion->returned_ns);
    if (dumpi_is_about_files(call))
        conversion->computed_ps += 1000 * dumpi_duration_ns(call);
    if (times[1] > conversion->returned_ns)
        conversion->returned_ns = times[1];
}

bool dumpi_convert(struct dumpi_conversion *conversion)
{
    const struct errors *errors = conversion->at->file.errors;
    struct dumpi_call call;
    uint32_t before = errors->count;
    bool is_good = true;
    conversion->last = NO_TASK;
    table_init(&conversion->requests, sizeof(struct dumpi_request), NULL);
    table_init(&conversion->pending, sizeof(uint32_t), NULL);
    while (is_good && dumpi_rank_next(conversion->at, &call)) {
        note_time(conversion, &call);
        dumpi_communicators_follow(conversion->communicators, conversion->rank, &call);
        is_good = convert_call(conversion, &call);
    }
    table_release(&conversion->requests);
    table_release(&conversion->pending);
    return errors->count == before;
}

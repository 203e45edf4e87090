/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a rank as tasks. Where a call's status says which message it got, the
 * task asks for that one, wildcards or not: what was seen once can happen again,
 * whereas another order of arrival could leave a later receive without its message.
 */
#include "workload/trace/reader/dumpi/dumpi_conversion.h"

enum { ANY_RANK = -1, ANY_TAG = -1 };

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
        return dumpi_error(&conversion->at->file, call->offset, "%s: rank %lld of a communicator of %u",
                           dumpi_functions[call->id].name, (long long)rank, communicator->size);
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

static uint8_t flags_of(uint32_t id)
{
    switch (id) {
    case DUMPI_BSEND:
    case DUMPI_IBSEND:
    case DUMPI_BSEND_INIT:
        return TASK_BUFFERED;
    case DUMPI_SSEND:
    case DUMPI_ISSEND:
    case DUMPI_SSEND_INIT:
        return TASK_SYNCHRONOUS;
    case DUMPI_RSEND:
    case DUMPI_IRSEND:
    case DUMPI_RSEND_INIT:
        return TASK_READY;
    default:
        return 0;
    }
}

/* What a message's task is. A negative rank that is no wildcard is MPI_PROC_NULL: then it is a TASK_JOIN. */
static bool read_message(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                         const struct message_names *names, enum task_kind kind, struct task *task)
{
    const struct dumpi_communicator *communicator =
        dumpi_communicator_of(conversion->communicators, conversion->rank, call, "comm");
    int64_t peer = dumpi_value(call, names->peer), tag = dumpi_value(call, names->tag);
    bool is_any = kind != TASK_SEND && peer == ANY_RANK;
    *task = (struct task){.kind = peer < 0 && !is_any ? TASK_JOIN : kind, .flags = flags_of(call->id)};
    if (!communicator)
        return false;
    task->communicator = communicator->number;
    task->peer = ANY;
    task->tag = kind != TASK_SEND && tag == ANY_TAG ? ANY : (uint32_t)tag;
    if (names->count && !dumpi_bytes(&conversion->at->types, call, dumpi_value(call, names->count),
                                     dumpi_value(call, names->type), &task->amount))
        return false;
    return peer < 0 || dumpi_peer(conversion, call, communicator, peer, &task->peer);
}

/* Asks for the message that came. MPI_PROC_NULL may look like a wildcard; its status says that nobody sent. */
static bool narrow(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                   const struct dumpi_communicator *communicator, const struct dumpi_status *status, struct task *task)
{
    if (task->peer == ANY && status->source < 0)
        task->kind = TASK_JOIN;
    else if (task->peer == ANY && !dumpi_peer(conversion, call, communicator, status->source, &task->peer))
        return false;
    if (task->tag == ANY && status->tag >= 0)
        task->tag = (uint32_t)status->tag;
    return true;
}

static bool narrow_by_call(const struct dumpi_conversion *conversion, const struct dumpi_call *call, struct task *task)
{
    const struct dumpi_argument *statuses = dumpi_find(call, "status");
    if (!statuses || !statuses->count)
        return true;
    struct dumpi_status status = dumpi_status(&conversion->at->file, statuses, 0);
    return narrow(conversion, call, dumpi_communicator_of(conversion->communicators, conversion->rank, call, "comm"),
                  &status, task);
}

static bool convert_blocking(struct dumpi_conversion *conversion, const struct dumpi_call *call,
                             const struct message_names *names, enum task_kind kind)
{
    struct task task;
    if (!read_message(conversion, call, names, kind, &task) ||
        (kind != TASK_SEND && !narrow_by_call(conversion, call, &task)))
        return false;
    if (task.kind != TASK_JOIN)
        dumpi_task_add(conversion, &task, true);
    return true;
}

/* Both directions at once, then a join. */
static bool convert_both(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    bool is_replace = call->id == DUMPI_SENDRECV_REPLACE;
    const struct message_names send = {is_replace ? "count" : "sendcount", is_replace ? "datatype" : "sendtype", "dest",
                                       "sendtag"};
    const struct message_names receive = {is_replace ? "count" : "recvcount", is_replace ? "datatype" : "recvtype",
                                          "source", "recvtag"};
    struct task tasks[2], join = {.kind = TASK_JOIN};
    uint32_t added[2];
    if (!read_message(conversion, call, &send, TASK_SEND, &tasks[0]) ||
        !read_message(conversion, call, &receive, TASK_RECEIVE, &tasks[1]) ||
        !narrow_by_call(conversion, call, &tasks[1]))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        added[i] = dumpi_task_add(conversion, &tasks[i], false);
    uint32_t end = dumpi_task_add(conversion, &join, true);
    for (uint32_t i = 0; i < 2; i++)
        builder_wait(conversion->builder, conversion->rank, end, added[i], false);
    return true;
}

/* ---- requests ---- */

static struct dumpi_request *request_of(struct dumpi_conversion *conversion, int64_t id)
{
    /* Older libraries left rubbish in the upper bits. */
    return dumpi_request_of(&conversion->requests, conversion->at->file.version < 607 ? id & 0xff : id);
}

/* Forgets what was started under an id and has ended unseen. */
static void request_clear(struct dumpi_conversion *conversion, struct dumpi_request *request)
{
    uint32_t task;
    while (dumpi_request_end(&conversion->requests, request, &task))
        continue;
    request->is_persistent = request->is_to_cancel = false;
}

static void start(struct dumpi_conversion *conversion, struct dumpi_request *request, const struct task *task)
{
    uint32_t added = task->kind == TASK_JOIN ? NO_TASK : dumpi_task_add(conversion, task, false);
    dumpi_request_start(&conversion->requests, request, added);
}

static bool convert_request(struct dumpi_conversion *conversion, const struct dumpi_call *call, enum task_kind kind,
                            bool is_persistent)
{
    struct task task;
    bool is_send = kind == TASK_SEND;
    struct dumpi_request *request = request_of(conversion, dumpi_value(call, "request"));
    if (!read_message(conversion, call, is_send ? &sends : &receives, kind, &task))
        return false;
    if (!request)
        return dumpi_error(&conversion->at->file, call->offset, "%s: it gives MPI_REQUEST_NULL",
                           dumpi_functions[call->id].name);
    if (!is_send || !request->is_send || is_persistent || request->is_persistent)
        request_clear(conversion, request);
    request->is_send = is_send;
    request->is_persistent = is_persistent;
    request->communicator = dumpi_communicator_of(conversion->communicators, conversion->rank, call, "comm");
    request->task = task;
    if (!is_persistent)
        start(conversion, request, &task);
    return true;
}

/* Whether calls that make persistent requests were left out of the file, so that nobody knows what a start does. */
static bool lacks_persistent(const struct dumpi_file *file)
{
    for (uint32_t id = DUMPI_SEND_INIT; id <= DUMPI_RECV_INIT; id++)
        if (dumpi_ignored(file, id))
            return true;
    return false;
}

static bool convert_start(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    const struct dumpi_argument *ids = dumpi_find(call, call->id == DUMPI_START ? "request" : "requests");
    for (uint32_t i = 0; i < ids->count; i++) {
        struct dumpi_request *request = request_of(conversion, dumpi_number(ids, i));
        if ((!request || !request->is_persistent) && lacks_persistent(&conversion->at->file))
            continue;
        if (!request || !request->is_persistent)
            return dumpi_error(&conversion->at->file, call->offset, "%s: request %lld was not made to be started",
                               dumpi_functions[call->id].name, (long long)dumpi_number(ids, i));
        start(conversion, request, &request->task);
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
    if (!request || !dumpi_request_end(&conversion->requests, request, &task) || task == NO_TASK)
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

static bool end_all(struct ending *ending)
{
    for (uint32_t i = 0; i < ending->ids->count; i++)
        if (!end_one(ending, i, i))
            return false;
    return true;
}

static bool end_some(struct ending *ending)
{
    const struct dumpi_argument *indices = dumpi_find(ending->call, "indices");
    for (uint32_t i = 0; i < indices->count && i < dumpi_value(ending->call, "outcount"); i++)
        if (!end_one(ending, dumpi_number(indices, i), i))
            return false;
    return true;
}

static bool convert_end(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct ending ending = {conversion, call, dumpi_find(call, "requests"), dumpi_find(call, "statuses"), NO_TASK};
    if (!ending.ids)
        ending.ids = dumpi_find(call, "request");
    if (!ending.statuses)
        ending.statuses = dumpi_find(call, "status");
    if (dumpi_find(call, "flag") && !dumpi_value(call, "flag"))
        return true;
    if (dumpi_find(call, "indices"))
        return end_some(&ending);
    return dumpi_find(call, "index") ? end_one(&ending, dumpi_value(call, "index"), 0) : end_all(&ending);
}

static bool convert_probe(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    static const struct message_names probes = {NULL, NULL, "source", "tag"};
    if (call->id == DUMPI_IPROBE && !dumpi_value(call, "flag"))
        return true;
    return convert_blocking(conversion, call, &probes, TASK_PROBE);
}

static void note_request(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    struct dumpi_request *request = request_of(conversion, dumpi_value(call, "request"));
    if (request && call->id == DUMPI_CANCEL)
        request->is_to_cancel = true;
    else if (request)
        request_clear(conversion, request);
}

/* ---- all calls ---- */

static bool convert_call(struct dumpi_conversion *conversion, const struct dumpi_call *call)
{
    bool is_good = true;
    switch (call->id) {
    case DUMPI_SEND:
    case DUMPI_BSEND:
    case DUMPI_SSEND:
    case DUMPI_RSEND:
        return convert_blocking(conversion, call, &sends, TASK_SEND);
    case DUMPI_RECV:
        return convert_blocking(conversion, call, &receives, TASK_RECEIVE);
    case DUMPI_ISEND:
    case DUMPI_IBSEND:
    case DUMPI_ISSEND:
    case DUMPI_IRSEND:
        return convert_request(conversion, call, TASK_SEND, false);
    case DUMPI_IRECV:
        return convert_request(conversion, call, TASK_RECEIVE, false);
    case DUMPI_SEND_INIT:
    case DUMPI_BSEND_INIT:
    case DUMPI_SSEND_INIT:
    case DUMPI_RSEND_INIT:
        return convert_request(conversion, call, TASK_SEND, true);
    case DUMPI_RECV_INIT:
        return convert_request(conversion, call, TASK_RECEIVE, true);
    case DUMPI_START:
    case DUMPI_STARTALL:
        return convert_start(conversion, call);
    case DUMPI_WAIT:
    case DUMPI_TEST:
    case DUMPI_WAITANY:
    case DUMPI_TESTANY:
    case DUMPI_WAITALL:
    case DUMPI_TESTALL:
    case DUMPI_WAITSOME:
    case DUMPI_TESTSOME:
        return convert_end(conversion, call);
    case DUMPI_PROBE:
    case DUMPI_IPROBE:
        return convert_probe(conversion, call);
    case DUMPI_SENDRECV:
    case DUMPI_SENDRECV_REPLACE:
        return convert_both(conversion, call);
    case DUMPI_CANCEL:
    case DUMPI_REQUEST_FREE:
        note_request(conversion, call);
        return true;
    default:
        if (!dumpi_collective(conversion, call, &is_good))
            dumpi_one_sided(conversion, call, &is_good);
        return is_good;
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
    struct dumpi_file *file = &conversion->at->file;
    struct dumpi_call call;
    uint32_t before = file->errors->count;
    bool is_good = true;
    conversion->last = NO_TASK;
    dumpi_requests_init(&conversion->requests);
    dumpi_requests_init(&conversion->windows);
    while (is_good && dumpi_next(file, &call)) {
        note_time(conversion, &call);
        dumpi_types_follow(&conversion->at->types, &call);
        dumpi_communicators_follow(conversion->communicators, conversion->rank, &call);
        is_good = convert_call(conversion, &call);
    }
    dumpi_requests_release(&conversion->requests);
    dumpi_requests_release(&conversion->windows);
    return file->errors->count == before;
}

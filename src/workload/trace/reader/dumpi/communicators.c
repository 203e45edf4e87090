/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks of communicators, see communicators.h. */
#include "workload/trace/reader/dumpi/communicators.h"

/* ---- handles ---- */

static struct dumpi_communicator **handle_of(struct dumpi_communicators *communicators, uint64_t rank, int64_t handle)
{
    return table_put(&communicators->handles, &(struct table_key){{rank, (uint64_t)handle}});
}

/* Of a rank alone; or of all ranks, for traces of a part of a run that begin after the calls that made it. */
static struct dumpi_communicator *look_up_lasting(struct dumpi_communicators *communicators, uint32_t rank,
                                                  int64_t handle)
{
    bool is_self = handle == HANDLE_SELF;
    const struct table_key key = {{is_self, is_self ? rank : (uint64_t)handle}};
    struct dumpi_communicator **lasting = table_put(&communicators->lasting, &key);
    const struct dumpi_communicator *world = communicators->world;
    if (!*lasting)
        *lasting =
            dumpi_communicator_add(communicators, world->ranks + (is_self ? rank : 0), is_self ? 1 : world->size);
    return *lasting;
}

struct dumpi_communicator *dumpi_communicator_of(struct dumpi_communicators *communicators, uint32_t rank,
                                                 const struct dumpi_call *call, const char *name)
{
    const struct dumpi_file *file = &communicators->ranks->ranks[rank].file;
    int64_t handle = dumpi_value(call, name);
    if (handle <= HANDLE_NULL) {
        dumpi_call_error(file, call, "communicator %lld is none", (long long)handle);
        return NULL;
    }
    struct dumpi_communicator *found = *handle_of(communicators, rank, handle);
    if (!found)
        found = look_up_lasting(communicators, rank, handle);
    if (!found->is_with_strangers)
        return found;
    dumpi_call_error(file, call, "communicator %lld joins processes that are not in the trace", (long long)handle);
    return NULL;
}

struct dumpi_communicator *dumpi_communicator_within(struct dumpi_communicators *communicators, uint32_t rank,
                                                     const struct dumpi_call *call, const char *name)
{
    struct dumpi_communicator *found = dumpi_communicator_of(communicators, rank, call, name);
    if (!found || !found->joint)
        return found;
    dumpi_call_error(
        &communicators->ranks->ranks[rank].file, call,
        "communicator %lld joins two groups; supported there: messages, MPI_Barrier and MPI_Intercomm_merge",
        (long long)dumpi_value(call, name));
    return NULL;
}

void dumpi_communicator_give(struct dumpi_communicators *communicators, uint32_t rank, struct dumpi_communicator *given)
{
    *handle_of(communicators, rank, dumpi_value(&communicators->waits[rank], "newcomm")) = given;
    const struct table_key key = {{rank, communicators->made_count[rank]++}};
    *(struct dumpi_communicator **)table_put(&communicators->made, &key) = given;
}

/* ---- following all ranks ---- */

static bool is_making(const struct dumpi_call *call)
{
    return call->function->does >= DUMPI_COPY && call->function->does <= DUMPI_MERGE;
}

static void note_strangers(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    struct dumpi_communicator *joined = arena_array(communicators->arena, struct dumpi_communicator, 1);
    joined->is_with_strangers = true;
    *handle_of(communicators, rank, dumpi_value(call, "newcomm")) = joined;
}

/* The ranks that a call which makes a communicator waits for. NULL with an error. */
static struct dumpi_communicator *old_of(struct dumpi_communicators *communicators, uint32_t rank,
                                         const struct dumpi_call *call)
{
    if (call->function->does != DUMPI_MERGE)
        return dumpi_communicator_within(communicators, rank, call,
                                         call->function->does == DUMPI_JOIN ? "localcomm" : "oldcomm");
    const struct dumpi_communicator *side = dumpi_communicator_of(communicators, rank, call, "comm");
    if (side && !side->joint)
        dumpi_call_error(&communicators->ranks->ranks[rank].file, call, "communicator %lld does not join two groups",
                         (long long)dumpi_value(call, "comm"));
    return side ? side->joint : NULL;
}

/* Goes on to the next call that has to wait for other ranks, or to the end. */
static bool dumpi_go_on(struct dumpi_communicators *communicators, uint32_t rank)
{
    struct dumpi_rank *at = &communicators->ranks->ranks[rank];
    struct dumpi_call *call = &communicators->waits[rank];
    uint32_t before = at->file.errors->count;
    bool is_good = true;
    while (is_good && dumpi_rank_next(at, call)) {
        if (is_making(call))
            return (communicators->old[rank] = old_of(communicators, rank, call)) != NULL;
        if (call->function->does == DUMPI_STRANGERS)
            note_strangers(communicators, rank, call);
        is_good = dumpi_row_is_kept(call) ? dumpi_row_keep(communicators, rank, call)
                                          : dumpi_groups_follow(communicators, rank, call);
    }
    return at->file.errors->count == before;
}

/* Somebody waits for ranks that have come to their end, or that wait elsewhere. */
static bool dumpi_report_missing(const struct dumpi_communicators *communicators)
{
    for (uint32_t rank = 0; rank < communicators->ranks->count; rank++) {
        const struct dumpi_communicator *old = communicators->old[rank];
        const struct dumpi_file *file = &communicators->ranks->ranks[rank].file;
        if (old && old->waiting == old->size)
            return dumpi_call_error(file, &communicators->waits[rank],
                                    "no other group calls it with leaders that name each other and the same tag");
        if (old)
            return dumpi_call_error(file, &communicators->waits[rank],
                                    "%u of the %u ranks of the communicator call it, the others do not", old->waiting,
                                    old->size);
    }
    return true;
}

static bool dumpi_follow_all(struct dumpi_communicators *communicators)
{
    bool is_good = true;
    while (is_good && communicators->ready_count > 0) {
        uint32_t rank = communicators->ready[--communicators->ready_count];
        is_good = dumpi_go_on(communicators, rank);
        struct dumpi_communicator *here = communicators->old[rank];
        if (is_good && here && ++here->waiting == here->size)
            is_good = dumpi_communicators_make(communicators, here);
    }
    return is_good && dumpi_report_missing(communicators);
}

/* Nothing has been made yet; every rank has a handle of all ranks from the beginning. */
static void dumpi_communicators_start(struct dumpi_communicators *communicators)
{
    table_init(&communicators->handles, sizeof(struct dumpi_communicator *), NULL);
    table_init(&communicators->row_calls, sizeof(uint64_t), NULL);
    for (uint32_t rank = 0; rank < communicators->ranks->count; rank++) {
        *handle_of(communicators, rank, HANDLE_WORLD) = communicators->world;
        communicators->made_count[rank] = 0;
    }
}

bool dumpi_communicators_find(struct dumpi_communicators *communicators, struct dumpi_ranks *ranks,
                              struct trace_builder *builder, struct arena *arena)
{
    uint32_t count = ranks->count, *all = arena_array(arena, uint32_t, count);
    *communicators = (struct dumpi_communicators){
        .ranks = ranks,
        .builder = builder,
        .arena = arena,
        .world = arena_array(arena, struct dumpi_communicator, 1),
        .made_count = arena_array(arena, uint32_t, count),
        .is_marked = arena_array(arena, bool, count),
        .waits = arena_array(arena, struct dumpi_call, count),
        .old = arena_array(arena, struct dumpi_communicator *, count),
        .ready = arena_array(arena, uint32_t, count),
        .ready_count = count,
    };
    for (uint32_t rank = 0; rank < count; rank++) {
        all[rank] = rank;
        communicators->ready[rank] = count - 1 - rank;
    }
    *communicators->world = (struct dumpi_communicator){.number = FW_WORLD, .size = count, .ranks = all};
    table_init(&communicators->lasting, sizeof(struct dumpi_communicator *), NULL);
    table_init(&communicators->made, sizeof(struct dumpi_communicator *), NULL);
    table_init(&communicators->groups, sizeof(struct dumpi_group), NULL);
    table_init(&communicators->rows, sizeof(uint32_t), NULL);
    dumpi_communicators_start(communicators);
    if (!dumpi_follow_all(communicators))
        return false;
    table_release(&communicators->handles);
    table_release(&communicators->row_calls);
    dumpi_communicators_start(communicators);
    dumpi_ranks_rewind(ranks);
    return true;
}

void dumpi_communicators_release(struct dumpi_communicators *communicators)
{
    table_release(&communicators->handles);
    table_release(&communicators->lasting);
    table_release(&communicators->made);
    table_release(&communicators->groups);
    table_release(&communicators->row_calls);
    table_release(&communicators->rows);
}

void dumpi_communicators_follow(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    if (call->function->does == DUMPI_STRANGERS)
        note_strangers(communicators, rank, call);
    else if (is_making(call) && dumpi_value(call, "newcomm") > HANDLE_NULL) {
        const struct table_key key = {{rank, communicators->made_count[rank]++}};
        *handle_of(communicators, rank, dumpi_value(call, "newcomm")) =
            *(struct dumpi_communicator **)table_put(&communicators->made, &key);
    }
}

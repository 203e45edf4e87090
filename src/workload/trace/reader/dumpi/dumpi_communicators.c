/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks of communicators, see dumpi_communicators.h. */
#include "workload/trace/reader/dumpi/dumpi_communicators.h"

#include <stdlib.h>

/* ---- handles ---- */

struct dumpi_communicator *dumpi_communicator_add(struct dumpi_communicators *communicators, const uint32_t *ranks,
                                                  uint32_t size)
{
    struct dumpi_communicator *made = arena_array(communicators->arena, struct dumpi_communicator, 1);
    made->number = builder_communicator(communicators->builder, ranks, size);
    made->size = size;
    made->ranks = ranks;
    return made;
}

struct dumpi_communicator **dumpi_handle(struct dumpi_communicators *communicators, uint64_t rank, int64_t handle)
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
    if (*lasting)
        return *lasting;
    const uint32_t *all = communicators->world->ranks;
    *lasting =
        dumpi_communicator_add(communicators, is_self ? all + rank : all, is_self ? 1 : communicators->world->size);
    return *lasting;
}

const struct dumpi_communicator *dumpi_communicator_of(struct dumpi_communicators *communicators, uint32_t rank,
                                                       const struct dumpi_call *call, const char *name)
{
    const struct dumpi_file *file = &communicators->ranks->ranks[rank].file;
    int64_t handle = dumpi_value(call, name);
    const char *function = dumpi_functions[call->id].name;
    if (handle <= HANDLE_NULL) {
        dumpi_error(file, call->offset, "%s: communicator %lld is none", function, (long long)handle);
        return NULL;
    }
    const struct dumpi_communicator *found = *dumpi_handle(communicators, rank, handle);
    if (!found)
        found = look_up_lasting(communicators, rank, handle);
    if (!found->is_with_strangers)
        return found;
    dumpi_error(file, call->offset, "%s: communicator %lld joins processes that are not in the trace", function,
                (long long)handle);
    return NULL;
}

const struct dumpi_communicator *dumpi_communicator_within(struct dumpi_communicators *communicators, uint32_t rank,
                                                           const struct dumpi_call *call, const char *name)
{
    const struct dumpi_communicator *found = dumpi_communicator_of(communicators, rank, call, name);
    if (!found || !found->joint)
        return found;
    dumpi_error(
        &communicators->ranks->ranks[rank].file, call->offset,
        "%s: communicator %lld joins two groups; supported there: messages, MPI_Barrier and MPI_Intercomm_merge",
        dumpi_functions[call->id].name, (long long)dumpi_value(call, name));
    return NULL;
}

/* ---- following all ranks ---- */

static bool is_making(const struct dumpi_call *call)
{
    return call->id == DUMPI_COMM_DUP || call->id == DUMPI_COMM_CREATE || call->id == DUMPI_COMM_SPLIT ||
           call->id == DUMPI_CART_CREATE || call->id == DUMPI_GRAPH_CREATE || call->id == DUMPI_CART_SUB ||
           call->id == DUMPI_INTERCOMM_CREATE || call->id == DUMPI_INTERCOMM_MERGE;
}

static bool is_joining_strangers(const struct dumpi_call *call)
{
    return call->id == DUMPI_COMM_ACCEPT || call->id == DUMPI_COMM_CONNECT || call->id == DUMPI_COMM_SPAWN ||
           call->id == DUMPI_COMM_SPAWN_MULTIPLE;
}

static void note_strangers(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    struct dumpi_communicator *joined = arena_array(communicators->arena, struct dumpi_communicator, 1);
    joined->is_with_strangers = true;
    *dumpi_handle(communicators, rank, dumpi_value(call, "newcomm")) = joined;
}

/* The root of these knows what the others need. */
static bool keep_row(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    const char *counts = call->id == DUMPI_GATHERV ? "recvcounts" : "sendcounts";
    const char *type = call->id == DUMPI_GATHERV ? "recvtype" : "sendtype";
    const struct dumpi_communicator *communicator = dumpi_communicator_within(communicators, rank, call, "comm");
    if (!communicator || !dumpi_find(call, counts))
        return communicator;
    uint64_t *bytes = memory_take(communicator->size * sizeof *bytes);
    bool is_good =
        dumpi_row_bytes(&communicators->ranks->ranks[rank].types, call, counts, type, communicator->size, bytes);
    if (is_good)
        *dumpi_rows_next(&communicators->rows, rank, communicator->number, rank) =
            1 + builder_counts(communicators->builder, bytes, communicator->size);
    free(bytes);
    return is_good;
}

/* The ranks that a call which makes a communicator waits for. NULL with an error. */
static struct dumpi_communicator *old_of(struct dumpi_communicators *communicators, uint32_t rank,
                                         const struct dumpi_call *call)
{
    if (call->id != DUMPI_INTERCOMM_MERGE) {
        const char *name = call->id == DUMPI_INTERCOMM_CREATE ? "localcomm" : "oldcomm";
        return (struct dumpi_communicator *)(uintptr_t)dumpi_communicator_within(communicators, rank, call, name);
    }
    const struct dumpi_communicator *side = dumpi_communicator_of(communicators, rank, call, "comm");
    if (side && !side->joint)
        dumpi_error(&communicators->ranks->ranks[rank].file, call->offset,
                    "MPI_Intercomm_merge: communicator %lld does not join two groups",
                    (long long)dumpi_value(call, "comm"));
    return side ? side->joint : NULL;
}

static bool keep_group(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    const struct dumpi_communicator *of = dumpi_communicator_of(communicators, rank, call, "comm");
    if (!of)
        return false;
    bool is_own = of->joint && call->id == DUMPI_COMM_GROUP;
    struct dumpi_group group = is_own ? of->own : (struct dumpi_group){of->ranks, of->size};
    dumpi_groups_set(&communicators->groups, rank, dumpi_value(call, "group"), group);
    return true;
}

/* Goes on to the next call that has to wait for other ranks: *old is the communicator; NULL at the end. */
static bool go_on(struct dumpi_communicators *communicators, uint32_t rank, struct dumpi_communicator **old)
{
    struct dumpi_rank *at = &communicators->ranks->ranks[rank];
    struct dumpi_call *call = &communicators->waits[rank];
    uint32_t before = at->file.errors->count;
    bool is_good = true;
    for (*old = NULL; is_good && dumpi_next(&at->file, call);) {
        dumpi_types_follow(&at->types, call);
        if (is_making(call)) {
            *old = old_of(communicators, rank, call);
            return *old != NULL;
        }
        if (is_joining_strangers(call))
            note_strangers(communicators, rank, call);
        else if (call->id == DUMPI_COMM_GROUP || call->id == DUMPI_COMM_REMOTE_GROUP)
            is_good = keep_group(communicators, rank, call);
        else if (call->id == DUMPI_GATHERV || call->id == DUMPI_SCATTERV)
            is_good = keep_row(communicators, rank, call);
        else
            is_good = dumpi_groups_follow(&communicators->groups, rank, &at->file, call);
    }
    return at->file.errors->count == before;
}

/* Somebody waits for ranks that have come to their end, or that wait elsewhere. */
static bool report_missing(const struct dumpi_communicators *communicators, struct dumpi_communicator **old)
{
    for (uint32_t rank = 0; rank < communicators->ranks->count; rank++)
        if (old[rank] && old[rank]->waiting == old[rank]->size)
            return dumpi_error(&communicators->ranks->ranks[rank].file, communicators->waits[rank].offset,
                               "%s: no other group calls it with leaders that name each other and the same tag",
                               dumpi_functions[communicators->waits[rank].id].name);
        else if (old[rank])
            return dumpi_error(&communicators->ranks->ranks[rank].file, communicators->waits[rank].offset,
                               "%s: %u of the %u ranks of the communicator call it, the others do not",
                               dumpi_functions[communicators->waits[rank].id].name, old[rank]->waiting,
                               old[rank]->size);
    return true;
}

/* All ranks as they are followed. */
struct following {
    struct dumpi_communicators *communicators;
    uint32_t *ready; /* owned: a stack of those that can go on */
    uint32_t ready_count;
    struct dumpi_communicator **old; /* owned: by rank, the communicator whose ranks it waits for; NULL: none */
};

static void let_go(struct following *following, const struct dumpi_communicator *group)
{
    for (uint32_t place = 0; place < group->size; place++) {
        following->old[group->ranks[place]] = NULL;
        following->ready[following->ready_count++] = group->ranks[place];
    }
}

/* All ranks of a communicator wait. Those of a group that is to be joined with another may have to wait for that too. */
static bool make(struct following *following, struct dumpi_communicator *here)
{
    struct dumpi_communicators *communicators = following->communicators;
    if (!dumpi_communicators_are_one_call(communicators, here))
        return false;
    if (communicators->waits[here->ranks[0]].id != DUMPI_INTERCOMM_CREATE) {
        let_go(following, here);
        return dumpi_communicators_make(communicators, here);
    }
    uint32_t before = communicators->ranks->ranks[0].file.errors->count;
    struct dumpi_communicator *other = dumpi_other_group(communicators, here, following->old);
    if (other) {
        dumpi_join_groups(communicators, here, other);
        let_go(following, here);
        let_go(following, other);
    }
    return communicators->ranks->ranks[0].file.errors->count == before;
}

static bool follow_all(struct dumpi_communicators *communicators)
{
    uint32_t count = communicators->ranks->count;
    struct following following = {.communicators = communicators, .ready_count = count};
    following.ready = memory_take(count * sizeof *following.ready);
    following.old = memory_take(count * sizeof(*following.old));
    bool is_good = true;
    for (uint32_t rank = 0; rank < count; rank++) {
        following.ready[rank] = count - 1 - rank;
        following.old[rank] = NULL;
    }
    while (is_good && following.ready_count > 0) {
        uint32_t rank = following.ready[--following.ready_count];
        is_good = go_on(communicators, rank, &following.old[rank]);
        struct dumpi_communicator *here = following.old[rank];
        if (is_good && here && ++here->waiting == here->size)
            is_good = make(&following, here);
    }
    is_good = is_good && report_missing(communicators, following.old);
    free(following.old);
    free(following.ready);
    return is_good;
}

static void add_world(struct dumpi_communicators *communicators)
{
    uint32_t count = communicators->ranks->count;
    uint32_t *all = arena_array(communicators->arena, uint32_t, count);
    for (uint32_t rank = 0; rank < count; rank++)
        all[rank] = rank;
    communicators->world = arena_array(communicators->arena, struct dumpi_communicator, 1);
    *communicators->world = (struct dumpi_communicator){.number = WORLD, .size = count, .ranks = all};
}

/* Handles that every rank has from the beginning. */
static void start_handles(struct dumpi_communicators *communicators)
{
    table_init(&communicators->handles, sizeof(struct dumpi_communicator *), NULL);
    for (uint32_t rank = 0; rank < communicators->ranks->count; rank++)
        *dumpi_handle(communicators, rank, HANDLE_WORLD) = communicators->world;
}

bool dumpi_communicators_find(struct dumpi_communicators *communicators, struct dumpi_ranks *ranks,
                              struct trace_builder *builder, struct arena *arena)
{
    *communicators = (struct dumpi_communicators){.ranks = ranks, .builder = builder, .arena = arena};
    communicators->made = arena_array(arena, struct dumpi_made, ranks->count);
    communicators->waits = arena_array(arena, struct dumpi_call, ranks->count);
    dumpi_groups_init(&communicators->groups, ranks->count, arena);
    dumpi_rows_init(&communicators->rows);
    table_init(&communicators->lasting, sizeof(struct dumpi_communicator *), NULL);
    add_world(communicators);
    start_handles(communicators);
    if (!follow_all(communicators))
        return false;
    table_release(&communicators->handles);
    start_handles(communicators);
    dumpi_ranks_rewind(ranks);
    dumpi_rows_restart(&communicators->rows);
    return true;
}

void dumpi_communicators_release(struct dumpi_communicators *communicators)
{
    for (uint32_t rank = 0; rank < communicators->ranks->count; rank++)
        free(communicators->made[rank].list);
    table_release(&communicators->handles);
    table_release(&communicators->lasting);
    dumpi_groups_release(&communicators->groups);
    dumpi_rows_release(&communicators->rows);
}

void dumpi_communicators_follow(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    if (is_joining_strangers(call))
        note_strangers(communicators, rank, call);
    else if (is_making(call) && dumpi_value(call, "newcomm") > HANDLE_NULL) {
        struct dumpi_made *made = &communicators->made[rank];
        *dumpi_handle(communicators, rank, dumpi_value(call, "newcomm")) = made->list[made->next++];
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks of communicators, see dumpi_communicators.h. */
#include "workload/trace/reader/dumpi_communicators.h"

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
    if (!found->is_between_groups)
        return found;
    dumpi_error(file, call->offset, "%s: communicator %lld joins two groups, which is not supported", function,
                (long long)handle);
    return NULL;
}

/* ---- following all ranks ---- */

static bool is_making(const struct dumpi_call *call)
{
    return call->id == DUMPI_COMM_DUP || call->id == DUMPI_COMM_CREATE || call->id == DUMPI_COMM_SPLIT ||
           call->id == DUMPI_CART_CREATE || call->id == DUMPI_GRAPH_CREATE || call->id == DUMPI_CART_SUB;
}

static bool is_joining_groups(const struct dumpi_call *call)
{
    return call->id == DUMPI_INTERCOMM_CREATE || call->id == DUMPI_INTERCOMM_MERGE || call->id == DUMPI_COMM_ACCEPT ||
           call->id == DUMPI_COMM_CONNECT || call->id == DUMPI_COMM_SPAWN || call->id == DUMPI_COMM_SPAWN_MULTIPLE;
}

static void note_joined(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    struct dumpi_communicator *joined = arena_array(communicators->arena, struct dumpi_communicator, 1);
    joined->is_between_groups = true;
    *dumpi_handle(communicators, rank, dumpi_value(call, "newcomm")) = joined;
}

/* The root of these knows what the others need. */
static bool keep_row(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    const char *counts = call->id == DUMPI_GATHERV ? "recvcounts" : "sendcounts";
    const char *type = call->id == DUMPI_GATHERV ? "recvtype" : "sendtype";
    const struct dumpi_communicator *communicator = dumpi_communicator_of(communicators, rank, call, "comm");
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
            const char *name = dumpi_find(call, "oldcomm") ? "oldcomm" : "comm";
            *old = (struct dumpi_communicator *)(uintptr_t)dumpi_communicator_of(communicators, rank, call, name);
            return *old != NULL;
        }
        if (is_joining_groups(call))
            note_joined(communicators, rank, call);
        else if (call->id == DUMPI_COMM_GROUP) {
            const struct dumpi_communicator *of = dumpi_communicator_of(communicators, rank, call, "comm");
            if ((is_good = of))
                dumpi_groups_set(&communicators->groups, rank, dumpi_value(call, "group"),
                                 (struct dumpi_group){of->ranks, of->size});
        } else if (call->id == DUMPI_GATHERV || call->id == DUMPI_SCATTERV)
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
        if (old[rank])
            return dumpi_error(&communicators->ranks->ranks[rank].file, communicators->waits[rank].offset,
                               "%s: %u of the %u ranks of the communicator call it, the others do not",
                               dumpi_functions[communicators->waits[rank].id].name, old[rank]->waiting,
                               old[rank]->size);
    return true;
}

static bool follow_all(struct dumpi_communicators *communicators)
{
    uint32_t count = communicators->ranks->count, ready_count = count;
    uint32_t *ready = memory_take(count * sizeof *ready); /* a stack of those that can go on */
    struct dumpi_communicator **old = memory_take(count * sizeof(*old));
    bool is_good = true;
    for (uint32_t rank = 0; rank < count; rank++)
        ready[rank] = count - 1 - rank;
    while (is_good && ready_count > 0) {
        uint32_t rank = ready[--ready_count];
        is_good = go_on(communicators, rank, &old[rank]);
        struct dumpi_communicator *here = old[rank];
        if (!is_good || !here || ++here->waiting < here->size)
            continue;
        is_good = dumpi_communicators_make(communicators, here);
        for (uint32_t place = 0; place < here->size; place++) {
            old[here->ranks[place]] = NULL;
            ready[ready_count++] = here->ranks[place];
        }
    }
    is_good = is_good && report_missing(communicators, old);
    free(old);
    free(ready);
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
    if (is_joining_groups(call))
        note_joined(communicators, rank, call);
    else if (is_making(call) && dumpi_value(call, "newcomm") > HANDLE_NULL) {
        struct dumpi_made *made = &communicators->made[rank];
        *dumpi_handle(communicators, rank, dumpi_value(call, "newcomm")) = made->list[made->next++];
    }
}

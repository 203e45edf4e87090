/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks of communicators, see dumpi_communicators.h. */
#include "workload/trace/reader/dumpi_communicators.h"

#include <stdlib.h>
#include <string.h>

enum { HANDLE_NULL = 1, HANDLE_WORLD = 2, HANDLE_SELF = 3 };

/* ---- handles ---- */

static struct dumpi_communicator *communicator_add(struct dumpi_communicators *communicators, const uint32_t *ranks,
                                                   uint32_t size)
{
    struct dumpi_communicator *made = arena_array(communicators->arena, struct dumpi_communicator, 1);
    made->number = builder_communicator(communicators->builder, ranks, size);
    made->size = size;
    made->ranks = ranks;
    return made;
}

static struct dumpi_communicator **slot_of(struct dumpi_communicators *communicators, uint64_t rank, int64_t handle)
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
    *lasting = communicator_add(communicators, is_self ? all + rank : all, is_self ? 1 : communicators->world->size);
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
    const struct dumpi_communicator *found = *slot_of(communicators, rank, handle);
    if (!found)
        found = look_up_lasting(communicators, rank, handle);
    if (!found->is_between_groups)
        return found;
    dumpi_error(file, call->offset, "%s: communicator %lld joins two groups, which is not supported", function,
                (long long)handle);
    return NULL;
}

/* ---- making new ones ---- */

/* A rank of the old communicator and where it belongs: those of one colour, by key, are a new communicator. */
struct member {
    int64_t colour, key;
    uint32_t place; /* in the old one */
};

static int by_colour(const void *a, const void *b)
{
    const struct member *one = a, *other = b;
    if (one->colour != other->colour)
        return one->colour < other->colour ? -1 : 1;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

struct making {
    struct dumpi_communicators *communicators;
    struct dumpi_communicator *old;
    struct member *members; /* by place in the old one, until they are sorted */
    uint32_t member_count;
    uint32_t dimensions; /* of the new ones */
    uint32_t *widths;
};

static const struct dumpi_call *call_of(const struct making *making, uint32_t place)
{
    return &making->communicators->waits[making->old->ranks[place]];
}

static const struct dumpi_file *file_of(const struct making *making, uint32_t place)
{
    return &making->communicators->ranks->ranks[making->old->ranks[place]].file;
}

static void member_add(struct making *making, uint32_t place, int64_t colour, int64_t key)
{
    if (dumpi_value(call_of(making, place), "newcomm") > HANDLE_NULL)
        making->members[making->member_count++] = (struct member){colour, key, place};
}

static void colour_by_split(struct making *making)
{
    for (uint32_t place = 0; place < making->old->size; place++) {
        const struct dumpi_call *call = call_of(making, place);
        member_add(making, place, dumpi_value(call, "color"), dumpi_value(call, "key"));
    }
}

/* All ranks, or the first of them where others got none. */
static void colour_alike(struct making *making)
{
    for (uint32_t place = 0; place < making->old->size; place++)
        member_add(making, place, 0, place);
}

static bool is_same(const struct dumpi_group *one, const struct dumpi_group *other)
{
    return one->size == other->size &&
           (!one->size || memcmp(one->ranks, other->ranks, one->size * sizeof *one->ranks) == 0);
}

/* Ranks with the same group come together, in its order. */
static bool colour_by_group(struct making *making)
{
    struct dumpi_groups *groups = &making->communicators->groups;
    const uint32_t *ranks = making->old->ranks;
    struct dumpi_group *given = arena_array(making->communicators->arena, struct dumpi_group, making->old->size);
    for (uint32_t place = 0; place < making->old->size; place++) {
        const struct dumpi_call *call = call_of(making, place);
        if (dumpi_value(call, "newcomm") <= HANDLE_NULL)
            continue;
        const struct dumpi_group *group = dumpi_group_of(groups, ranks[place], file_of(making, place), call, "group");
        if (!group)
            return false;
        given[place] = *group;
        uint32_t colour = 0, key = 0;
        while (!is_same(&given[colour], group))
            colour++;
        while (key < group->size && group->ranks[key] != ranks[place])
            key++;
        member_add(making, place, colour, key);
    }
    return true;
}

static bool read_widths(struct making *making)
{
    const struct dumpi_argument *dims = dumpi_find(call_of(making, 0), "dims");
    uint64_t product = 1;
    making->dimensions = dims ? dims->count : 0;
    making->widths = arena_array(making->communicators->arena, uint32_t, making->dimensions + 1);
    for (uint32_t d = 0; d < making->dimensions; d++) {
        int64_t width = dumpi_number(dims, d);
        product = width < 1 ? UINT64_MAX : product * (uint64_t)width;
        if (product > making->old->size)
            return dumpi_error(file_of(making, 0), call_of(making, 0)->offset,
                               "MPI_Cart_create: a grid that %u ranks do not fill", making->old->size);
        making->widths[d] = (uint32_t)width;
    }
    return true;
}

/* Coordinates along the dimensions that are dropped say where a rank belongs. The last dimension runs fastest. */
static bool colour_by_coordinates(struct making *making)
{
    const struct dumpi_communicator *old = making->old;
    const struct dumpi_argument *remains = dumpi_find(call_of(making, 0), "remain_dims");
    if (!old->dimensions || !remains || remains->count != old->dimensions)
        return dumpi_error(file_of(making, 0), call_of(making, 0)->offset,
                           "MPI_Cart_sub: %u dimensions of a communicator that has %u", remains ? remains->count : 0,
                           old->dimensions);
    making->widths = arena_array(making->communicators->arena, uint32_t, old->dimensions);
    for (uint32_t d = 0; d < old->dimensions; d++)
        if (dumpi_number(remains, d))
            making->widths[making->dimensions++] = old->widths[d];
    for (uint32_t place = 0; place < old->size; place++) {
        uint32_t rest = place;
        int64_t colour = 0;
        for (uint32_t d = old->dimensions; d-- > 0; rest /= old->widths[d])
            if (!dumpi_number(remains, d))
                colour = colour * old->widths[d] + rest % old->widths[d];
        member_add(making, place, colour, place);
    }
    return true;
}

static bool colour_members(struct making *making)
{
    switch (call_of(making, 0)->id) {
    case DUMPI_COMM_SPLIT:
        colour_by_split(making);
        return true;
    case DUMPI_COMM_CREATE:
        return colour_by_group(making);
    case DUMPI_CART_SUB:
        return colour_by_coordinates(making);
    case DUMPI_CART_CREATE:
        colour_alike(making);
        return read_widths(making);
    default: /* dup, graph */
        colour_alike(making);
        return true;
    }
}

static void made_add(struct dumpi_made *made, struct dumpi_communicator *communicator)
{
    if (made->count == made->room) {
        made->room = made->room ? 2 * made->room : 4;
        made->list = memory_resize(made->list, made->room * sizeof(*made->list));
    }
    made->list[made->count++] = communicator;
}

static void give_out(struct making *making)
{
    struct dumpi_communicators *communicators = making->communicators;
    qsort(making->members, making->member_count, sizeof *making->members, by_colour);
    for (uint32_t first = 0, end; first < making->member_count; first = end) {
        uint32_t *ranks = arena_array(communicators->arena, uint32_t, making->member_count - first);
        for (end = first; end < making->member_count && making->members[end].colour == making->members[first].colour;
             end++)
            ranks[end - first] = making->old->ranks[making->members[end].place];
        struct dumpi_communicator *new = communicator_add(communicators, ranks, end - first);
        new->dimensions = making->dimensions;
        new->widths = making->widths;
        for (uint32_t i = 0; i < new->size; i++) {
            int64_t handle = dumpi_value(&communicators->waits[ranks[i]], "newcomm");
            *slot_of(communicators, ranks[i], handle) = new;
            made_add(&communicators->made[ranks[i]], new);
        }
    }
}

/* All ranks of the old communicator wait: makes the new ones. */
static bool make(struct dumpi_communicators *communicators, struct dumpi_communicator *old)
{
    struct making making = {.communicators = communicators, .old = old};
    making.members = memory_take(old->size * sizeof *making.members);
    bool is_good = true;
    for (uint32_t place = 1; place < old->size && is_good; place++)
        if (call_of(&making, place)->id != call_of(&making, 0)->id)
            is_good = dumpi_error(file_of(&making, place), call_of(&making, place)->offset,
                                  "%s, where rank %u calls %s of the same communicator (%s: byte %zu)",
                                  dumpi_functions[call_of(&making, place)->id].name, old->ranks[0],
                                  dumpi_functions[call_of(&making, 0)->id].name, file_of(&making, 0)->source.path,
                                  call_of(&making, 0)->offset);
    is_good = is_good && colour_members(&making);
    if (is_good)
        give_out(&making);
    old->waiting = 0;
    free(making.members);
    return is_good;
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
    *slot_of(communicators, rank, dumpi_value(call, "newcomm")) = joined;
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
        is_good = make(communicators, here);
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
        *slot_of(communicators, rank, HANDLE_WORLD) = communicators->world;
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
        *slot_of(communicators, rank, dumpi_value(call, "newcomm")) = made->list[made->next++];
    }
}

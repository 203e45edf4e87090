/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes new communicators of an old one, all of whose ranks have come to the same call:
 * each rank gets a colour and a key, whichever way the call says so, and ranks of one
 * colour, by key, are one communicator.
 */
#include "workload/trace/reader/dumpi/dumpi_communicators.h"

#include <stdlib.h>
#include <string.h>

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

/* Both groups, those that want to be behind the others last. */
static void colour_by_side(struct making *making)
{
    for (uint32_t place = 0; place < making->old->size; place++) {
        bool is_high = dumpi_value(call_of(making, place), "high") != 0;
        member_add(making, place, 0, (int64_t)place + (is_high ? making->old->size : 0));
    }
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
    case DUMPI_INTERCOMM_MERGE:
        colour_by_side(making);
        return true;
    case DUMPI_CART_CREATE:
        colour_alike(making);
        return read_widths(making);
    default: /* dup, graph */
        colour_alike(making);
        return true;
    }
}

void dumpi_made_add(struct dumpi_made *made, struct dumpi_communicator *communicator)
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
        struct dumpi_communicator *new = dumpi_communicator_add(communicators, ranks, end - first);
        new->dimensions = making->dimensions;
        new->widths = making->widths;
        for (uint32_t i = 0; i < new->size; i++) {
            int64_t handle = dumpi_value(&communicators->waits[ranks[i]], "newcomm");
            *dumpi_handle(communicators, ranks[i], handle) = new;
            dumpi_made_add(&communicators->made[ranks[i]], new);
        }
    }
}

bool dumpi_communicators_are_one_call(const struct dumpi_communicators *communicators,
                                      const struct dumpi_communicator *old)
{
    uint32_t first = old->ranks[0];
    const struct dumpi_call *waits = communicators->waits;
    for (uint32_t place = 1; place < old->size; place++) {
        uint32_t rank = old->ranks[place];
        if (waits[rank].id != waits[first].id)
            return dumpi_error(&communicators->ranks->ranks[rank].file, waits[rank].offset,
                               "%s, where rank %u calls %s of the same communicator (%s: byte %zu)",
                               dumpi_functions[waits[rank].id].name, first, dumpi_functions[waits[first].id].name,
                               communicators->ranks->ranks[first].file.source.path, waits[first].offset);
    }
    return true;
}

bool dumpi_communicators_make(struct dumpi_communicators *communicators, struct dumpi_communicator *old)
{
    struct making making = {.communicators = communicators, .old = old};
    making.members = memory_take(old->size * sizeof *making.members);
    bool is_good = colour_members(&making);
    if (is_good)
        give_out(&making);
    old->waiting = 0;
    free(making.members);
    return is_good;
}

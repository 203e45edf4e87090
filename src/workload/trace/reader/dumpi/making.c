/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes new communicators of an old one, all of whose ranks have come to the same call:
 * each rank gets a colour and a key, whichever way the call says so, and ranks of one
 * colour, by key, are one communicator.
 *
 * Those between two groups (MPI_Intercomm_create): each group waits by itself; when
 * both have come, their leaders name each other. Each side then sees the other's ranks,
 * to which its messages go, under one number; what both do together goes by `joint`.
 */
#include "workload/trace/reader/dumpi/communicators.h"

#include <stdlib.h>
#include <string.h>

struct dumpi_communicator *dumpi_communicator_add(struct dumpi_communicators *communicators, const uint32_t *ranks,
                                                  uint32_t size)
{
    struct dumpi_communicator *made = arena_array(communicators->arena, struct dumpi_communicator, 1);
    made->number = builder_communicator(communicators->builder, ranks, size);
    made->size = size;
    made->ranks = ranks;
    return made;
}

/* The ranks of a communicator wait no longer. */
static void let_go(struct dumpi_communicators *communicators, struct dumpi_communicator *group)
{
    group->waiting = 0;
    for (uint32_t place = 0; place < group->size; place++) {
        communicators->old[group->ranks[place]] = NULL;
        communicators->ready[communicators->ready_count++] = group->ranks[place];
    }
}

/* ---- of one communicator ---- */

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
    const struct dumpi_call *first; /* the call of the first rank, and its file */
    const struct dumpi_file *file;
    struct dumpi_group *given; /* by place: the group that a rank gave */
    struct member *members;    /* by place in the old one, until they are sorted */
    uint32_t member_count;
    uint32_t dimensions; /* of the new ones */
    uint32_t *widths;
};

static bool read_widths(struct making *making)
{
    const struct dumpi_argument *dims = dumpi_find(making->first, "dims");
    uint64_t product = 1;
    making->dimensions = dims ? dims->count : 0;
    making->widths = arena_array(making->communicators->arena, uint32_t, making->dimensions + 1);
    for (uint32_t d = 0; d < making->dimensions; d++) {
        int64_t width = dumpi_number(dims, d);
        product = width < 1 ? UINT64_MAX : product * (uint64_t)width;
        if (product > making->old->size)
            return dumpi_call_error(making->file, making->first, "a grid that %u ranks do not fill", making->old->size);
        making->widths[d] = (uint32_t)width;
    }
    return true;
}

static bool keep_widths(struct making *making)
{
    const struct dumpi_communicator *old = making->old;
    const struct dumpi_argument *remains = dumpi_find(making->first, "remain_dims");
    if (!old->dimensions || !remains || remains->count != old->dimensions)
        return dumpi_call_error(making->file, making->first, "%u dimensions of a communicator that has %u",
                                remains ? remains->count : 0, old->dimensions);
    making->widths = arena_array(making->communicators->arena, uint32_t, old->dimensions);
    for (uint32_t d = 0; d < old->dimensions; d++)
        if (dumpi_number(remains, d))
            making->widths[making->dimensions++] = old->widths[d];
    return true;
}

/* Coordinates along the dimensions that are dropped say where a rank belongs. The last dimension runs fastest. */
static int64_t colour_by_coordinates(const struct making *making, uint32_t place)
{
    const struct dumpi_communicator *old = making->old;
    const struct dumpi_argument *remains = dumpi_find(making->first, "remain_dims");
    int64_t colour = 0;
    for (uint32_t d = old->dimensions; d-- > 0; place /= old->widths[d])
        if (!dumpi_number(remains, d))
            colour = colour * old->widths[d] + place % old->widths[d];
    return colour;
}

static bool dumpi_groups_are_same(const struct dumpi_group *one, const struct dumpi_group *other)
{
    return one->size == other->size &&
           (!one->size || memcmp(one->ranks, other->ranks, one->size * sizeof *one->ranks) == 0);
}

/* Ranks with the same group come together, in its order. */
static bool colour_by_group(struct making *making, const struct dumpi_call *call, struct member *member)
{
    uint32_t rank = making->old->ranks[member->place];
    struct dumpi_group *group = &making->given[member->place];
    if (!dumpi_group_of(making->communicators, rank, call, "group", group))
        return false;
    while (!dumpi_groups_are_same(&making->given[member->colour], group))
        member->colour++;
    for (member->key = 0; member->key < group->size && group->ranks[member->key] != rank;)
        member->key++;
    return true;
}

static bool colour(struct making *making, const struct dumpi_call *call, struct member *member)
{
    switch (call->function->does) {
    case DUMPI_SPLIT:
        member->colour = dumpi_value(call, "color");
        member->key = dumpi_value(call, "key");
        return true;
    case DUMPI_CREATE:
        return colour_by_group(making, call, member);
    case DUMPI_SUBGRID:
        member->colour = colour_by_coordinates(making, member->place);
        return true;
    case DUMPI_MERGE: /* both groups, those that want to be behind the others last */
        member->key += dumpi_value(call, "high") ? making->old->size : 0;
        return true;
    default: /* all ranks, or the first of them where others got none */
        return true;
    }
}

static bool colour_members(struct making *making)
{
    uint32_t does = making->first->function->does;
    if ((does == DUMPI_GRID && !read_widths(making)) || (does == DUMPI_SUBGRID && !keep_widths(making)))
        return false;
    if (does == DUMPI_CREATE)
        making->given = arena_array(making->communicators->arena, struct dumpi_group, making->old->size);
    for (uint32_t place = 0; place < making->old->size; place++) {
        const struct dumpi_call *call = &making->communicators->waits[making->old->ranks[place]];
        struct member member = {0, place, place};
        if (dumpi_value(call, "newcomm") <= HANDLE_NULL)
            continue;
        if (!colour(making, call, &member))
            return false;
        making->members[making->member_count++] = member;
    }
    return true;
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
        for (uint32_t i = 0; i < new->size; i++)
            dumpi_communicator_give(communicators, ranks[i], new);
    }
}

static bool dumpi_make_by_colour(struct dumpi_communicators *communicators, struct dumpi_communicator *old)
{
    struct making making = {.communicators = communicators,
                            .old = old,
                            .first = &communicators->waits[old->ranks[0]],
                            .file = &communicators->ranks->ranks[old->ranks[0]].file,
                            .members = memory_take(old->size * sizeof *making.members)};
    bool is_good = colour_members(&making);
    if (is_good)
        give_out(&making);
    free(making.members);
    let_go(communicators, old);
    return is_good;
}

/* ---- of two groups ---- */

static int64_t argument_of(const struct dumpi_communicators *communicators, uint32_t rank, const char *name)
{
    return dumpi_value(&communicators->waits[rank], name);
}

/* The rank of the job that leads a group; FW_ANY: it has no such rank. */
static uint32_t leader_of(const struct dumpi_communicators *communicators, const struct dumpi_communicator *group)
{
    int64_t place = argument_of(communicators, group->ranks[0], "localleader");
    return place >= 0 && place < group->size ? group->ranks[place] : FW_ANY;
}

/* Whom a leader names. */
static uint32_t named_by(struct dumpi_communicators *communicators, uint32_t leader)
{
    const struct dumpi_communicator *bridge =
        dumpi_communicator_of(communicators, leader, &communicators->waits[leader], "remotecomm");
    int64_t place = argument_of(communicators, leader, "remoteleader");
    return bridge && place >= 0 && place < bridge->size ? bridge->ranks[place] : FW_ANY;
}

/* The group that one which waits, all of it, is to be joined with, if that waits too. */
static struct dumpi_communicator *other_group(struct dumpi_communicators *communicators,
                                              const struct dumpi_communicator *group)
{
    uint32_t leader = leader_of(communicators, group),
             named = leader == FW_ANY ? FW_ANY : named_by(communicators, leader);
    struct dumpi_communicator *other = named == FW_ANY ? NULL : communicators->old[named];
    if (!other || other == group || other->waiting < other->size ||
        communicators->waits[named].function->does != DUMPI_JOIN || leader_of(communicators, other) != named ||
        named_by(communicators, named) != leader ||
        argument_of(communicators, leader, "tag") != argument_of(communicators, named, "tag"))
        return NULL;
    return other;
}

static void give_side(struct dumpi_communicators *communicators, struct dumpi_communicator *joint,
                      struct dumpi_communicator *own, const struct dumpi_communicator *other)
{
    struct dumpi_communicator *side = arena_array(communicators->arena, struct dumpi_communicator, 1);
    *side = (struct dumpi_communicator){.number = joint->number,
                                        .size = other->size,
                                        .ranks = other->ranks,
                                        .joint = joint,
                                        .own = {own->ranks, own->size}};
    for (uint32_t place = 0; place < own->size; place++)
        dumpi_communicator_give(communicators, own->ranks[place], side);
}

static void dumpi_join_groups(struct dumpi_communicators *communicators, struct dumpi_communicator *one,
                              struct dumpi_communicator *other)
{
    struct dumpi_communicator *first = one->ranks[0] < other->ranks[0] ? one : other;
    struct dumpi_communicator *second = first == one ? other : one;
    uint32_t *ranks = arena_array(communicators->arena, uint32_t, (size_t)first->size + second->size);
    for (uint32_t i = 0; i < first->size + second->size; i++)
        ranks[i] = i < first->size ? first->ranks[i] : second->ranks[i - first->size];
    struct dumpi_communicator *joint = dumpi_communicator_add(communicators, ranks, first->size + second->size);
    give_side(communicators, joint, first, second);
    give_side(communicators, joint, second, first);
    let_go(communicators, one);
    let_go(communicators, other);
}

/* ---- either ---- */

static bool are_one_call(const struct dumpi_communicators *communicators, const struct dumpi_communicator *old)
{
    uint32_t first = old->ranks[0];
    const struct dumpi_call *waits = communicators->waits;
    for (uint32_t place = 1; place < old->size; place++) {
        uint32_t rank = old->ranks[place];
        if (waits[rank].id != waits[first].id)
            return dumpi_error(&communicators->ranks->ranks[rank].file, waits[rank].offset,
                               "%s, where rank %u calls %s of the same communicator (%s: byte %zu)",
                               waits[rank].function->name, first, waits[first].function->name,
                               communicators->ranks->ranks[first].file.source.path, waits[first].offset);
    }
    return true;
}

bool dumpi_communicators_make(struct dumpi_communicators *communicators, struct dumpi_communicator *old)
{
    if (!are_one_call(communicators, old))
        return false;
    if (communicators->waits[old->ranks[0]].function->does != DUMPI_JOIN)
        return dumpi_make_by_colour(communicators, old);
    struct errors *errors = communicators->ranks->ranks[0].file.errors;
    uint32_t before = errors->count;
    struct dumpi_communicator *other = other_group(communicators, old);
    if (other)
        dumpi_join_groups(communicators, old, other);
    return errors->count == before;
}

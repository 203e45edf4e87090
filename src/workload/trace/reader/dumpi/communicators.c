/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ranks of communicators. A rank's file has only what that rank gave: its colour and key, its group.
 * So all ranks are followed at once, each up to the next call that makes a communicator, until all ranks of the
 * old one have come to theirs. Handles are numbers of one rank and are given again after MPI_Comm_free; what a
 * call made is therefore kept by call, for when the ranks are followed a second time.
 *
 * A new communicator of an old one: each rank gets a colour and a key, whichever way the call says so, and ranks
 * of one colour, by key, are one communicator.
 *
 * Those between two groups (MPI_Intercomm_create): each group waits by itself; when both have come, their leaders
 * name each other. Each side then sees the other's ranks, to which its messages go, under one number; what both do
 * together goes by `joint`.
 */
#include "workload/trace/reader/dumpi/dumpi.h"

#include <stdlib.h>
#include <string.h>

enum { HANDLE_NULL = 1, HANDLE_WORLD = 2, HANDLE_SELF = 3 }; /* the same at all ranks */

static struct dumpi_communicator *communicator_add(struct dumpi_job *job, const uint32_t *ranks, uint32_t size)
{
    struct dumpi_communicator *made = arena_array(job->arena, struct dumpi_communicator, 1);
    *made = (struct dumpi_communicator){
        .number = builder_communicator(job->builder, ranks, size), .size = size, .ranks = ranks};
    return made;
}

/* ---- handles ---- */

static struct dumpi_communicator **handle_of(const struct dumpi_rank *rank, int64_t handle)
{
    return table_put(&rank->job->handles, &(struct table_key){{rank->number, (uint64_t)handle}});
}

/* What the rank's calls have made, in their order. */
static struct dumpi_communicator **next_made(struct dumpi_rank *rank)
{
    return table_put(&rank->job->made, &(struct table_key){{rank->number, rank->made_count++}});
}

/* Of a rank alone; or of all ranks, for traces of a part of a run that begin after the calls that made it. */
static struct dumpi_communicator *look_up_lasting(const struct dumpi_rank *rank, int64_t handle)
{
    bool is_self = handle == HANDLE_SELF;
    const struct table_key key = {{is_self, is_self ? rank->number : (uint64_t)handle}};
    struct dumpi_communicator **lasting = table_put(&rank->job->lasting, &key), *world = rank->job->world;
    if (!*lasting)
        *lasting = is_self ? communicator_add(rank->job, &world->ranks[rank->number], 1)
                           : communicator_add(rank->job, world->ranks, world->size);
    return *lasting;
}

struct dumpi_communicator *dumpi_communicator_of(struct dumpi_rank *rank, const char *name)
{
    int64_t handle = dumpi_value(rank, name);
    struct dumpi_communicator *found = NULL;
    if (handle > HANDLE_NULL && !(found = *handle_of(rank, handle)))
        found = look_up_lasting(rank, handle);
    if (found && !found->is_with_strangers)
        return found;
    dumpi_call_error(rank, "communicator %lld %s", (long long)handle,
                     found ? "joins processes that are not in the trace" : "is none");
    return NULL;
}

struct dumpi_communicator *dumpi_communicator_within(struct dumpi_rank *rank, const char *name)
{
    struct dumpi_communicator *found = dumpi_communicator_of(rank, name);
    if (!found || !found->joint)
        return found;
    dumpi_call_error(
        rank, "communicator %lld joins two groups; supported there: messages, MPI_Barrier and MPI_Intercomm_merge",
        (long long)dumpi_value(rank, name));
    return NULL;
}

static void communicator_give(struct dumpi_rank *rank, struct dumpi_communicator *given)
{
    *handle_of(rank, dumpi_value(rank, "newcomm")) = given;
    *next_made(rank) = given;
}

static bool is_making(const struct dumpi_rank *rank)
{
    return rank->call.does >= DUMPI_COPY && rank->call.does <= DUMPI_MERGE;
}

static void note_strangers(struct dumpi_rank *rank)
{
    struct dumpi_communicator *joined = arena_array(rank->job->arena, struct dumpi_communicator, 1);
    joined->is_with_strangers = true;
    *handle_of(rank, dumpi_value(rank, "newcomm")) = joined;
}

void dumpi_communicators_follow(struct dumpi_rank *rank)
{
    if (rank->call.does == DUMPI_STRANGERS)
        note_strangers(rank);
    else if (is_making(rank) && dumpi_value(rank, "newcomm") > HANDLE_NULL)
        *handle_of(rank, dumpi_value(rank, "newcomm")) = *next_made(rank);
}

/* ---- making others of one communicator ---- */

/* The ranks of a communicator wait no longer. */
static void let_go(struct dumpi_job *job, struct dumpi_communicator *group)
{
    group->waiting = 0;
    for (uint32_t place = 0; place < group->size; place++) {
        job->ranks[group->ranks[place]].old = NULL;
        job->ready[job->ready_count++] = group->ranks[place];
    }
}

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
    struct dumpi_job *job;
    struct dumpi_communicator *old;
    struct dumpi_rank *first;  /* whose call says what is the same for all */
    struct dumpi_group *given; /* by place: the group that a rank gave */
    struct member *members;    /* by place in the old one, until they are sorted */
    uint32_t member_count;
    uint32_t dimensions; /* of the new ones */
    uint32_t *widths;
};

/* Of a grid that is made of the ranks. */
static bool read_widths(struct making *making)
{
    const struct dumpi_argument *dims = dumpi_find(making->first, "dims");
    uint64_t product = 1;
    making->dimensions = dims ? dims->count : 0;
    making->widths = arena_array(making->job->arena, uint32_t, making->dimensions + 1);
    for (uint32_t d = 0; d < making->dimensions; d++) {
        int64_t width = dumpi_number(dims, d);
        product = width < 1 ? UINT64_MAX : product * (uint64_t)width;
        if (product > making->old->size)
            return dumpi_call_error(making->first, "a grid that %u ranks do not fill", making->old->size);
        making->widths[d] = (uint32_t)width;
    }
    return true;
}

static bool keep_widths(struct making *making)
{
    const struct dumpi_communicator *old = making->old;
    const struct dumpi_argument *remains = dumpi_find(making->first, "remain_dims");
    if (!old->dimensions || !remains || remains->count != old->dimensions)
        return dumpi_call_error(making->first, "%u dimensions of a communicator that has %u",
                                remains ? remains->count : 0, old->dimensions);
    making->widths = arena_array(making->job->arena, uint32_t, old->dimensions);
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

/* Ranks with the same group come together, in its order. */
static bool colour_by_group(struct making *making, struct dumpi_rank *rank, struct member *member)
{
    struct dumpi_group *group = &making->given[member->place], *same = making->given;
    if (!dumpi_group_of(rank, "group", group))
        return false;
    while (same->size != group->size ||
           (group->size && memcmp(same->ranks, group->ranks, group->size * sizeof *group->ranks) != 0))
        same++;
    member->colour = same - making->given;
    for (member->key = 0; member->key < group->size && group->ranks[member->key] != rank->number;)
        member->key++;
    return true;
}

/* All ranks are of one colour, or the first of them where others got none, unless the call says something else. */
static bool colour_members(struct making *making)
{
    uint32_t does = making->first->call.does;
    if ((does == DUMPI_GRID && !read_widths(making)) || (does == DUMPI_SUBGRID && !keep_widths(making)))
        return false;
    if (does == DUMPI_CREATE)
        making->given = arena_array(making->job->arena, struct dumpi_group, making->old->size);
    for (uint32_t place = 0; place < making->old->size; place++) {
        struct dumpi_rank *rank = &making->job->ranks[making->old->ranks[place]];
        struct member member = {0, place, place};
        if (dumpi_value(rank, "newcomm") <= HANDLE_NULL)
            continue;
        if (does == DUMPI_SPLIT)
            member = (struct member){dumpi_value(rank, "color"), dumpi_value(rank, "key"), place};
        else if (does == DUMPI_CREATE && !colour_by_group(making, rank, &member))
            return false;
        else if (does == DUMPI_SUBGRID)
            member.colour = colour_by_coordinates(making, place);
        else if (does == DUMPI_MERGE && dumpi_value(rank, "high"))
            member.key += making->old->size; /* those that want to be behind the others are last */
        making->members[making->member_count++] = member;
    }
    return true;
}

static void give_out(struct making *making)
{
    qsort(making->members, making->member_count, sizeof *making->members, by_colour);
    for (uint32_t first = 0, end; first < making->member_count; first = end) {
        uint32_t *ranks = arena_array(making->job->arena, uint32_t, making->member_count - first);
        for (end = first; end < making->member_count && making->members[end].colour == making->members[first].colour;
             end++)
            ranks[end - first] = making->old->ranks[making->members[end].place];
        struct dumpi_communicator *new = communicator_add(making->job, ranks, end - first);
        new->dimensions = making->dimensions;
        new->widths = making->widths;
        for (uint32_t i = 0; i < new->size; i++)
            communicator_give(&making->job->ranks[ranks[i]], new);
    }
}

static bool make_by_colour(struct dumpi_job *job, struct dumpi_communicator *old)
{
    struct making making = {.job = job,
                            .old = old,
                            .first = &job->ranks[old->ranks[0]],
                            .members = memory_take(old->size * sizeof *making.members)};
    bool is_good = colour_members(&making);
    if (is_good)
        give_out(&making);
    free(making.members);
    let_go(job, old);
    return is_good;
}

/* ---- of two groups ---- */

/* The rank that leads a group; NULL: it has no such rank. */
static struct dumpi_rank *leader_of(const struct dumpi_job *job, const struct dumpi_communicator *group)
{
    int64_t place = dumpi_value(&job->ranks[group->ranks[0]], "localleader");
    return place >= 0 && place < group->size ? &job->ranks[group->ranks[place]] : NULL;
}

/* Whom a leader names. */
static struct dumpi_rank *named_by(struct dumpi_rank *leader)
{
    const struct dumpi_communicator *bridge = dumpi_communicator_of(leader, "remotecomm");
    int64_t place = dumpi_value(leader, "remoteleader");
    return bridge && place >= 0 && place < bridge->size ? &leader->job->ranks[bridge->ranks[place]] : NULL;
}

/* The group that one which waits, all of it, is to be joined with, if that waits too. */
static struct dumpi_communicator *other_group(const struct dumpi_job *job, const struct dumpi_communicator *group)
{
    struct dumpi_rank *leader = leader_of(job, group), *named = leader ? named_by(leader) : NULL;
    struct dumpi_communicator *other = named ? named->old : NULL;
    if (!other || other == group || other->waiting < other->size || named->call.does != DUMPI_JOIN ||
        leader_of(job, other) != named || named_by(named) != leader ||
        dumpi_value(leader, "tag") != dumpi_value(named, "tag"))
        return NULL;
    return other;
}

static void join_groups(struct dumpi_job *job, struct dumpi_communicator *one, struct dumpi_communicator *other)
{
    bool is_second = other->ranks[0] < one->ranks[0];
    struct dumpi_communicator *sides[2] = {is_second ? other : one, is_second ? one : other};
    uint32_t first = sides[0]->size, size = first + sides[1]->size, *ranks = arena_array(job->arena, uint32_t, size);
    for (uint32_t i = 0; i < size; i++)
        ranks[i] = i < first ? sides[0]->ranks[i] : sides[1]->ranks[i - first];
    struct dumpi_communicator *joint = communicator_add(job, ranks, size);
    for (uint32_t i = 0; i < 2; i++) {
        const struct dumpi_communicator *own = sides[i], *peers = sides[!i];
        struct dumpi_communicator *side = arena_array(job->arena, struct dumpi_communicator, 1);
        *side = (struct dumpi_communicator){.number = joint->number,
                                            .size = peers->size,
                                            .ranks = peers->ranks,
                                            .joint = joint,
                                            .own = {own->ranks, own->size}};
        for (uint32_t place = 0; place < own->size; place++)
            communicator_give(&job->ranks[own->ranks[place]], side);
    }
    let_go(job, one);
    let_go(job, other);
}

/* All ranks of a communicator wait, and go on with new ones, or for a while wait on. False with an error. */
static bool communicators_make(struct dumpi_job *job, struct dumpi_communicator *old)
{
    const struct dumpi_rank *first = &job->ranks[old->ranks[0]];
    uint32_t before = first->errors->count;
    for (uint32_t place = 1; place < old->size; place++) {
        const struct dumpi_rank *rank = &job->ranks[old->ranks[place]];
        if (rank->call.id != first->call.id)
            return dumpi_error(rank, rank->call.offset,
                               "%s, where rank %u calls %s of the same communicator (%s: byte %zu)",
                               rank->call.function->name, first->number, first->call.function->name, first->source.path,
                               first->call.offset);
    }
    if (first->call.does != DUMPI_JOIN)
        return make_by_colour(job, old);
    struct dumpi_communicator *other = other_group(job, old);
    if (other)
        join_groups(job, old, other);
    return first->errors->count == before;
}

/* ---- following all ranks ---- */

/* The ranks that a call which makes a communicator waits for. NULL with an error. */
static struct dumpi_communicator *old_of(struct dumpi_rank *rank)
{
    if (rank->call.does != DUMPI_MERGE)
        return dumpi_communicator_within(rank, rank->call.does == DUMPI_JOIN ? "localcomm" : "oldcomm");
    const struct dumpi_communicator *side = dumpi_communicator_of(rank, "comm");
    if (side && !side->joint)
        dumpi_call_error(rank, "communicator %lld does not join two groups", (long long)dumpi_value(rank, "comm"));
    return side ? side->joint : NULL;
}

/* Goes on to the next call that has to wait for other ranks, or to the end. */
static bool go_on(struct dumpi_rank *rank)
{
    uint32_t before = rank->errors->count;
    bool is_good = true;
    while (is_good && dumpi_next(rank)) {
        if (is_making(rank))
            return (rank->old = old_of(rank)) != NULL;
        if (rank->call.does == DUMPI_STRANGERS)
            note_strangers(rank);
        is_good = dumpi_row_is_kept(rank) ? dumpi_row_keep(rank) : dumpi_groups_follow(rank);
    }
    return rank->errors->count == before;
}

static bool follow_all(struct dumpi_job *job)
{
    bool is_good = true;
    while (is_good && job->ready_count > 0) {
        struct dumpi_rank *rank = &job->ranks[job->ready[--job->ready_count]];
        is_good = go_on(rank);
        if (is_good && rank->old && ++rank->old->waiting == rank->old->size)
            is_good = communicators_make(job, rank->old);
    }
    for (uint32_t i = 0; is_good && i < job->count; i++) {
        const struct dumpi_communicator *old = job->ranks[i].old;
        if (old && old->waiting == old->size)
            return dumpi_call_error(&job->ranks[i],
                                    "no other group calls it with leaders that name each other and the same tag");
        if (old) /* it waits for ranks that have come to their end, or that wait elsewhere */
            return dumpi_call_error(&job->ranks[i], "%u of the %u ranks of the communicator call it, the others do not",
                                    old->waiting, old->size);
    }
    return is_good;
}

/* Nothing has been made yet; every rank has a handle of all ranks from the beginning. */
static void communicators_start(struct dumpi_job *job)
{
    table_init(&job->handles, sizeof(struct dumpi_communicator *), NULL);
    table_init(&job->row_calls, sizeof(uint64_t), NULL);
    for (uint32_t rank = 0; rank < job->count; rank++) {
        *handle_of(&job->ranks[rank], HANDLE_WORLD) = job->world;
        job->ranks[rank].made_count = 0;
        dumpi_rewind(&job->ranks[rank]);
    }
}

bool dumpi_communicators_find(struct dumpi_job *job)
{
    uint32_t count = job->count, *all = arena_array(job->arena, uint32_t, count);
    job->world = arena_array(job->arena, struct dumpi_communicator, 1);
    job->is_marked = arena_array(job->arena, bool, count);
    job->ready = arena_array(job->arena, uint32_t, count);
    job->ready_count = count;
    for (uint32_t rank = 0; rank < count; rank++) {
        all[rank] = rank;
        job->ready[rank] = count - 1 - rank;
    }
    *job->world = (struct dumpi_communicator){.number = FW_WORLD, .size = count, .ranks = all};
    table_init(&job->lasting, sizeof(struct dumpi_communicator *), NULL);
    table_init(&job->made, sizeof(struct dumpi_communicator *), NULL);
    table_init(&job->groups, sizeof(struct dumpi_group), NULL);
    table_init(&job->rows, sizeof(uint32_t), NULL);
    communicators_start(job);
    if (!follow_all(job))
        return false;
    table_release(&job->handles);
    table_release(&job->row_calls);
    communicators_start(job);
    return true;
}

void dumpi_communicators_release(struct dumpi_job *job)
{
    struct table *const tables[] = {&job->handles, &job->lasting,   &job->made,
                                    &job->groups,  &job->row_calls, &job->rows};
    for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++)
        table_release(tables[i]);
}

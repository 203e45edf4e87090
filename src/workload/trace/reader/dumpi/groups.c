/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: lists of ranks of the job, in the order of the group. Each rank has its own. */
#include "workload/trace/reader/dumpi/communicators.h"

#define EMPTY_GROUP 2

static struct dumpi_group *dumpi_group_slot(struct dumpi_communicators *communicators, uint32_t rank, int64_t handle)
{
    return table_put(&communicators->groups, &(struct table_key){{rank, (uint64_t)handle}});
}

static bool dumpi_group_set(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call,
                            const char *name, struct dumpi_group group)
{
    *dumpi_group_slot(communicators, rank, dumpi_value(call, name)) = group;
    return true;
}

bool dumpi_group_of(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call,
                    const char *name, struct dumpi_group *group)
{
    int64_t handle = dumpi_value(call, name);
    *group = *dumpi_group_slot(communicators, rank, handle);
    return group->ranks || handle == EMPTY_GROUP ||
           dumpi_call_error(&communicators->ranks->ranks[rank].file, call,
                            "group %lld is not known: no call before made it", (long long)handle);
}

static bool of_communicator(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    const struct dumpi_communicator *of = dumpi_communicator_of(communicators, rank, call, "comm");
    if (!of)
        return false;
    bool is_own = of->joint && call->function->does == DUMPI_GROUP;
    return dumpi_group_set(communicators, rank, call, "group",
                           is_own ? of->own : (struct dumpi_group){of->ranks, of->size});
}

/* ---- of one group: some of its ranks ---- */

/* Members of a group by their place in it, given as numbers or as ranges of numbers. */
struct places {
    const struct dumpi_file *file;
    const struct dumpi_call *call;
    struct dumpi_group of;
    uint32_t *list; /* no longer than the group */
    uint32_t count;
};

static bool place_add(struct places *places, int64_t place)
{
    if (place < 0 || place >= places->of.size || places->count == places->of.size)
        return dumpi_call_error(places->file, places->call, "rank %lld of a group of %u, or more ranks than it has",
                                (long long)place, places->of.size);
    places->list[places->count++] = (uint32_t)place;
    return true;
}

/* Each range is an array of first, last and step. */
static bool places_find(struct places *places)
{
    const struct dumpi_argument *ranks = dumpi_find(places->call, "ranks"),
                                *ranges = dumpi_find(places->call, "ranges");
    const unsigned char *at = ranges ? ranges->elements : NULL;
    for (uint32_t i = 0; ranks && i < ranks->count; i++)
        if (!place_add(places, dumpi_number(ranks, i)))
            return false;
    for (uint32_t i = 0; ranges && i < ranges->count; i++, at += 16) {
        int64_t first = (int32_t)dumpi_u32(at + 4), last = (int32_t)dumpi_u32(at + 8);
        int64_t step = (int32_t)dumpi_u32(at + 12);
        if (dumpi_u32(at) != 3 || step == 0)
            return dumpi_call_error(places->file, places->call, "a range that is not first, last and step");
        for (; step > 0 ? first <= last : first >= last; first += step)
            if (!place_add(places, first))
                return false;
    }
    return true;
}

static bool of_one(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    struct places places = {.file = &communicators->ranks->ranks[rank].file, .call = call};
    if (!dumpi_group_of(communicators, rank, call, "group", &places.of))
        return false;
    places.list = arena_array(communicators->arena, uint32_t, places.of.size + 1);
    if (!places_find(&places))
        return false;
    struct dumpi_group part = {.ranks = places.list};
    if (call->function->does == DUMPI_GROUP_REST) {
        bool *is_out = arena_array(communicators->arena, bool, places.of.size + 1);
        for (uint32_t i = 0; i < places.count; i++)
            is_out[places.list[i]] = true;
        for (uint32_t i = 0; i < places.of.size; i++)
            if (!is_out[i])
                places.list[part.size++] = places.of.ranks[i];
    } else
        for (; part.size < places.count; part.size++)
            places.list[part.size] = places.of.ranks[places.list[part.size]];
    return dumpi_group_set(communicators, rank, call, "newgroup", part);
}

/* ---- of two groups ---- */

/* All of the first, and those of the second that are not in it; or those of the first that are in the second, or not. */
static bool of_two(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    struct dumpi_group first, second;
    if (!dumpi_group_of(communicators, rank, call, "group1", &first) ||
        !dumpi_group_of(communicators, rank, call, "group2", &second))
        return false;
    bool is_union = call->function->does == DUMPI_GROUP_UNION, *is_marked = communicators->is_marked;
    const struct dumpi_group *marked = is_union ? &first : &second, *from = is_union ? &second : &first;
    uint32_t *ranks = arena_array(communicators->arena, uint32_t, first.size + second.size + 1);
    struct dumpi_group both = {.ranks = ranks};
    for (; is_union && both.size < first.size; both.size++)
        ranks[both.size] = first.ranks[both.size];
    for (uint32_t i = 0; i < marked->size; i++)
        is_marked[marked->ranks[i]] = true;
    for (uint32_t i = 0; i < from->size; i++)
        if (is_marked[from->ranks[i]] == (call->function->does == DUMPI_GROUP_INTERSECTION))
            ranks[both.size++] = from->ranks[i];
    for (uint32_t i = 0; i < marked->size; i++)
        is_marked[marked->ranks[i]] = false;
    return dumpi_group_set(communicators, rank, call, "newgroup", both);
}

bool dumpi_groups_follow(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call)
{
    switch (call->function->does) {
    case DUMPI_GROUP:
    case DUMPI_REMOTE_GROUP:
        return of_communicator(communicators, rank, call);
    case DUMPI_GROUP_PART:
    case DUMPI_GROUP_REST:
        return of_one(communicators, rank, call);
    case DUMPI_GROUP_UNION:
    case DUMPI_GROUP_INTERSECTION:
    case DUMPI_GROUP_DIFFERENCE:
        return of_two(communicators, rank, call);
    default:
        return true;
    }
}

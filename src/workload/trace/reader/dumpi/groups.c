/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: lists of ranks of the job, in the order of the group. Each rank has its own. */
#include "workload/trace/reader/dumpi/dumpi.h"

#define EMPTY_GROUP 2

static struct dumpi_group *group_slot(struct dumpi_rank *rank, const char *name)
{
    return table_put(&rank->job->groups, &(struct table_key){{rank->number, (uint64_t)dumpi_value(rank, name)}});
}

bool dumpi_group_of(struct dumpi_rank *rank, const char *name, struct dumpi_group *group)
{
    int64_t handle = dumpi_value(rank, name);
    *group = *group_slot(rank, name);
    return group->ranks || handle == EMPTY_GROUP ||
           dumpi_call_error(rank, "group %lld is not known: no call before made it", (long long)handle);
}

static bool of_communicator(struct dumpi_rank *rank)
{
    const struct dumpi_communicator *of = dumpi_communicator_of(rank, "comm");
    if (!of)
        return false;
    bool is_own = of->joint && rank->call.does == DUMPI_GROUP;
    *group_slot(rank, "group") = is_own ? of->own : (struct dumpi_group){of->ranks, of->size};
    return true;
}

/* ---- of one group: some of its ranks ---- */

/* Members of a group by their place in it, given as numbers or as ranges of numbers. */
struct places {
    struct dumpi_group of;
    uint32_t *list; /* no longer than the group */
    uint32_t count;
};

static bool place_add(const struct dumpi_rank *rank, struct places *places, int64_t place)
{
    if (place < 0 || place >= places->of.size || places->count == places->of.size)
        return dumpi_call_error(rank, "rank %lld of a group of %u, or more ranks than it has", (long long)place,
                                places->of.size);
    places->list[places->count++] = (uint32_t)place;
    return true;
}

/* Each range is an array of first, last and step. */
static bool places_find(const struct dumpi_rank *rank, struct places *places)
{
    const struct dumpi_argument *ranks = dumpi_find(rank, "ranks"), *ranges = dumpi_find(rank, "ranges");
    const unsigned char *at = ranges ? ranges->elements : NULL;
    for (uint32_t i = 0; ranks && i < ranks->count; i++)
        if (!place_add(rank, places, dumpi_number(ranks, i)))
            return false;
    for (uint32_t i = 0; ranges && i < ranges->count; i++, at += 16) {
        int64_t first = (int32_t)dumpi_u32(at + 4), last = (int32_t)dumpi_u32(at + 8);
        int64_t step = (int32_t)dumpi_u32(at + 12);
        if (dumpi_u32(at) != 3 || step == 0)
            return dumpi_call_error(rank, "a range that is not first, last and step");
        for (; step > 0 ? first <= last : first >= last; first += step)
            if (!place_add(rank, places, first))
                return false;
    }
    return true;
}

static bool of_one(struct dumpi_rank *rank)
{
    struct places places = {0};
    if (!dumpi_group_of(rank, "group", &places.of))
        return false;
    places.list = arena_array(rank->job->arena, uint32_t, places.of.size + 1);
    if (!places_find(rank, &places))
        return false;
    struct dumpi_group part = {.ranks = places.list};
    if (rank->call.does == DUMPI_GROUP_REST) {
        bool *is_out = arena_array(rank->job->arena, bool, places.of.size + 1);
        for (uint32_t i = 0; i < places.count; i++)
            is_out[places.list[i]] = true;
        for (uint32_t i = 0; i < places.of.size; i++)
            if (!is_out[i])
                places.list[part.size++] = places.of.ranks[i];
    } else
        for (; part.size < places.count; part.size++)
            places.list[part.size] = places.of.ranks[places.list[part.size]];
    *group_slot(rank, "newgroup") = part;
    return true;
}

/* ---- of two groups ---- */

/* All of the first, and those of the second that are not in it; or those of the first that are in the second, or not. */
static bool of_two(struct dumpi_rank *rank)
{
    struct dumpi_group first, second;
    if (!dumpi_group_of(rank, "group1", &first) || !dumpi_group_of(rank, "group2", &second))
        return false;
    bool is_union = rank->call.does == DUMPI_GROUP_UNION, *is_marked = rank->job->is_marked;
    const struct dumpi_group *marked = is_union ? &first : &second, *from = is_union ? &second : &first;
    uint32_t *ranks = arena_array(rank->job->arena, uint32_t, first.size + second.size + 1);
    struct dumpi_group both = {.ranks = ranks};
    for (; is_union && both.size < first.size; both.size++)
        ranks[both.size] = first.ranks[both.size];
    for (uint32_t i = 0; i < marked->size; i++)
        is_marked[marked->ranks[i]] = true;
    for (uint32_t i = 0; i < from->size; i++)
        if (is_marked[from->ranks[i]] == (rank->call.does == DUMPI_GROUP_INTERSECTION))
            ranks[both.size++] = from->ranks[i];
    for (uint32_t i = 0; i < marked->size; i++)
        is_marked[marked->ranks[i]] = false;
    *group_slot(rank, "newgroup") = both;
    return true;
}

bool dumpi_groups_follow(struct dumpi_rank *rank)
{
    uint32_t does = rank->call.does;
    if (does < DUMPI_GROUP || does > DUMPI_GROUP_DIFFERENCE)
        return true;
    return (does <= DUMPI_REMOTE_GROUP ? of_communicator : does <= DUMPI_GROUP_REST ? of_one : of_two)(rank);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: lists of ranks of the job, in the order of the group. */
#include "workload/trace/reader/dumpi/dumpi_groups.h"

#define EMPTY_GROUP 2

void dumpi_groups_init(struct dumpi_groups *groups, uint32_t ranks, struct arena *arena)
{
    groups->arena = arena;
    groups->is_marked = arena_array(arena, bool, ranks);
    table_init(&groups->handles, sizeof(struct dumpi_group), NULL);
}

void dumpi_groups_release(struct dumpi_groups *groups) { table_release(&groups->handles); }

static struct dumpi_group *slot_of(struct dumpi_groups *groups, uint32_t rank, int64_t handle)
{
    return table_put(&groups->handles, &(struct table_key){{rank, (uint64_t)handle}});
}

void dumpi_groups_set(struct dumpi_groups *groups, uint32_t rank, int64_t handle, struct dumpi_group group)
{
    *slot_of(groups, rank, handle) = group;
}

const struct dumpi_group *dumpi_group_of(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                                         const struct dumpi_call *call, const char *name)
{
    int64_t handle = dumpi_value(call, name);
    const struct dumpi_group *group = slot_of(groups, rank, handle);
    if (group->ranks || handle == EMPTY_GROUP)
        return group;
    dumpi_error(file, call->offset, "%s: group %lld is not known: no call before made it",
                dumpi_functions[call->id].name, (long long)handle);
    return NULL;
}

/* ---- of one group: some of its ranks ---- */

/* Members of a group by their place in it, given as numbers or as ranges of numbers. */
struct places {
    const struct dumpi_group *of;
    uint32_t *list; /* no longer than the group */
    uint32_t count;
};

static bool place_add(struct places *places, int64_t place, const struct dumpi_file *file,
                      const struct dumpi_call *call)
{
    if (place < 0 || place >= places->of->size || places->count == places->of->size)
        return dumpi_error(file, call->offset, "%s: rank %lld of a group of %u, or more ranks than it has",
                           dumpi_functions[call->id].name, (long long)place, places->of->size);
    places->list[places->count++] = (uint32_t)place;
    return true;
}

static bool places_of_list(struct places *places, const struct dumpi_file *file, const struct dumpi_call *call)
{
    const struct dumpi_argument *ranks = dumpi_find(call, "ranks");
    for (uint32_t i = 0; ranks && i < ranks->count; i++)
        if (!place_add(places, dumpi_number(ranks, i), file, call))
            return false;
    return true;
}

/* Each range is an array of first, last and step. */
static bool places_of_ranges(struct places *places, const struct dumpi_file *file, const struct dumpi_call *call)
{
    const struct dumpi_argument *ranges = dumpi_find(call, "ranges");
    const unsigned char *at = ranges ? ranges->elements : NULL;
    for (uint32_t i = 0; ranges && i < ranges->count; i++, at += 16) {
        int64_t first = (int32_t)dumpi_u32(at + 4), last = (int32_t)dumpi_u32(at + 8);
        int64_t step = (int32_t)dumpi_u32(at + 12);
        if (dumpi_u32(at) != 3 || step == 0)
            return dumpi_error(file, call->offset, "%s: a range that is not first, last and step",
                               dumpi_functions[call->id].name);
        for (; step > 0 ? first <= last : first >= last; first += step)
            if (!place_add(places, first, file, call))
                return false;
    }
    return true;
}

static bool follow_part(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                        const struct dumpi_call *call, bool is_ranges, bool is_without)
{
    const struct dumpi_group *of = dumpi_group_of(groups, rank, file, call, "group");
    if (!of)
        return false;
    struct places places = {of, arena_array(groups->arena, uint32_t, of->size + 1), 0};
    struct dumpi_group part = {.ranks = places.list};
    if (!(is_ranges ? places_of_ranges : places_of_list)(&places, file, call))
        return false;
    if (is_without) {
        bool *is_out = arena_array(groups->arena, bool, of->size + 1);
        for (uint32_t i = 0; i < places.count; i++)
            is_out[places.list[i]] = true;
        for (uint32_t i = 0; i < of->size; i++)
            if (!is_out[i])
                places.list[part.size++] = of->ranks[i];
    } else
        for (; part.size < places.count; part.size++)
            places.list[part.size] = of->ranks[places.list[part.size]];
    dumpi_groups_set(groups, rank, dumpi_value(call, "newgroup"), part);
    return true;
}

/* ---- of two groups ---- */

static void mark_all(struct dumpi_groups *groups, const struct dumpi_group *group, bool is_marked)
{
    for (uint32_t i = 0; i < group->size; i++)
        groups->is_marked[group->ranks[i]] = is_marked;
}

/* The ranks of a group that are in the other, or that are not. */
static void add_marked(const struct dumpi_groups *groups, struct dumpi_group *to, uint32_t *ranks,
                       const struct dumpi_group *from, bool is_marked)
{
    for (uint32_t i = 0; i < from->size; i++)
        if (groups->is_marked[from->ranks[i]] == is_marked)
            ranks[to->size++] = from->ranks[i];
}

static bool follow_pair(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                        const struct dumpi_call *call)
{
    /* The table may move what it holds when the second one is looked up. */
    const struct dumpi_group *found = dumpi_group_of(groups, rank, file, call, "group1");
    struct dumpi_group first = found ? *found : (struct dumpi_group){0};
    const struct dumpi_group *second = found ? dumpi_group_of(groups, rank, file, call, "group2") : NULL;
    if (!second)
        return false;
    uint32_t *ranks = arena_array(groups->arena, uint32_t, first.size + second->size + 1);
    struct dumpi_group both = {.ranks = ranks};
    if (call->id == DUMPI_GROUP_UNION) {
        mark_all(groups, &first, true);
        for (; both.size < first.size; both.size++)
            ranks[both.size] = first.ranks[both.size];
        add_marked(groups, &both, ranks, second, false);
        mark_all(groups, &first, false);
    } else {
        mark_all(groups, second, true);
        add_marked(groups, &both, ranks, &first, call->id == DUMPI_GROUP_INTERSECTION);
        mark_all(groups, second, false);
    }
    dumpi_groups_set(groups, rank, dumpi_value(call, "newgroup"), both);
    return true;
}

bool dumpi_groups_follow(struct dumpi_groups *groups, uint32_t rank, const struct dumpi_file *file,
                         const struct dumpi_call *call)
{
    switch (call->id) {
    case DUMPI_GROUP_INCL:
    case DUMPI_GROUP_EXCL:
        return follow_part(groups, rank, file, call, false, call->id == DUMPI_GROUP_EXCL);
    case DUMPI_GROUP_RANGE_INCL:
    case DUMPI_GROUP_RANGE_EXCL:
        return follow_part(groups, rank, file, call, true, call->id == DUMPI_GROUP_RANGE_EXCL);
    case DUMPI_GROUP_UNION:
    case DUMPI_GROUP_INTERSECTION:
    case DUMPI_GROUP_DIFFERENCE:
        return follow_pair(groups, rank, file, call);
    default:
        return true;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjoint shortest paths as a flow of the most units, each channel carrying one
 * (Ford and Fulkerson). Units go from the target to the source, always to a router
 * that is one step nearer; a later unit may send an earlier one another way. So
 * nothing off the shortest paths is ever looked at.
 */
#include "network/graph/analysis.h"

#include "flitwarp/random.h"

#define EVERY_TARGET 512 /* routers up to which all targets of a source are looked at, and above that: */
#define TARGETS 32

struct flow {
    struct path_search search; /* from the source */
    uint32_t *carried;         /* by entry of the adjacency: units that go that way */
    bool *is_changed;          /* by entry: is in this list: */
    uint32_t *changed;         /* entries by which units went */
    uint32_t changed_count;
    uint32_t *came_by; /* by router: the entry by which this unit came there */
    uint32_t *seen;    /* by router: the last unit that was there */
    uint32_t *stack;   /* routers to go on from */
    uint32_t unit;
    uint64_t work;
};

static void flow_init(struct flow *flow, const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t routers = adjacency->topology->routers, entries = adjacency_entries(adjacency);
    *flow = (struct flow){.carried = arena_array(arena, uint32_t, entries),
                          .is_changed = arena_array(arena, bool, entries),
                          .changed = arena_array(arena, uint32_t, entries),
                          .came_by = arena_array(arena, uint32_t, routers),
                          .seen = arena_array(arena, uint32_t, routers),
                          .stack = arena_array(arena, uint32_t, routers)};
    path_search_init(&flow->search, adjacency, arena);
}

/* Room for another unit by an entry of `from`: a free channel one step nearer, or a unit that came the other way. */
static bool flow_has_room(const struct flow *flow, uint32_t from, const struct neighbour *to, uint32_t entry)
{
    uint32_t here = flow->search.reached[from].distance, there = flow->search.reached[to->router].distance;
    return there + 1 == here ? flow->carried[entry] < to->links : there == here + 1 && flow->carried[to->back] > 0;
}

/* Walks on from the target until the source is met. */
static bool find_way(struct flow *flow, uint32_t source, uint32_t target)
{
    const struct adjacency *adjacency = flow->search.adjacency;
    uint32_t depth = 1;
    flow->unit++;
    flow->stack[0] = target;
    flow->seen[target] = flow->unit;
    while (depth > 0) {
        uint32_t from = flow->stack[--depth];
        NEIGHBOURS_EACH(to, adjacency, from) {
            uint32_t entry = (uint32_t)(to - adjacency->neighbours);
            flow->work++;
            if (flow->seen[to->router] == flow->unit || !flow_has_room(flow, from, to, entry))
                continue;
            flow->seen[to->router] = flow->unit;
            flow->came_by[to->router] = entry;
            if (to->router == source)
                return true;
            flow->stack[depth++] = to->router;
        }
    }
    return false;
}

static void carry(struct flow *flow, uint32_t source, uint32_t target)
{
    const struct neighbour *neighbours = flow->search.adjacency->neighbours;
    const struct reached *reached = flow->search.reached;
    for (uint32_t router = source; router != target;) {
        uint32_t entry = flow->came_by[router], back = neighbours[entry].back, before = neighbours[back].router;
        if (reached[router].distance < reached[before].distance) {
            flow->carried[entry]++;
            if (!flow->is_changed[entry])
                flow->changed[flow->changed_count++] = entry;
            flow->is_changed[entry] = true;
        } else {
            flow->carried[back]--;
        }
        router = before;
    }
}

/* Channels of a router one step nearer to the source or farther from it: no more units can pass it. */
static uint32_t channels_at(const struct flow *flow, uint32_t router, int32_t step)
{
    uint32_t channels = 0;
    NEIGHBOURS_EACH(to, flow->search.adjacency, router)
        if (flow->search.reached[to->router].distance == flow->search.reached[router].distance + (uint32_t)step)
            channels += to->links;
    return channels;
}

static uint32_t count_paths(struct flow *flow, uint32_t source, uint32_t target)
{
    uint32_t out = channels_at(flow, source, 1), in = channels_at(flow, target, -1), most = out < in ? out : in;
    uint32_t paths = 0;
    for (; paths < most && find_way(flow, source, target); paths++)
        carry(flow, source, target);
    for (uint32_t i = 0; i < flow->changed_count; i++) {
        flow->carried[flow->changed[i]] = 0;
        flow->is_changed[flow->changed[i]] = false;
    }
    flow->changed_count = 0;
    return paths;
}

/* The targets of a source, all of them or some that are drawn anew; returns how many. */
static uint32_t choose_targets(const struct adjacency *adjacency, struct random *random, uint32_t *targets)
{
    uint32_t routers = adjacency->topology->routers, count = routers <= EVERY_TARGET ? routers : TARGETS;
    for (uint32_t i = 0; i < count; i++)
        targets[i] = count == routers ? i : random_below(random, routers);
    return count;
}

void disjoint_paths_find(struct disjoint_paths *disjoint, const struct adjacency *adjacency, uint64_t budget)
{
    struct arena scratch = {0};
    struct flow flow;
    struct random random = random_stream(1, 1, RANDOM_SETUP);
    uint32_t all = adjacency->sources, done = 0, targets[EVERY_TARGET];
    const uint32_t *sources = adjacency_sources(adjacency, &scratch);
    double *sums = arena_array(&scratch, double, all), *counts = arena_array(&scratch, double, all);
    flow_init(&flow, adjacency, &scratch);
    *disjoint = (struct disjoint_paths){.least = FW_NONE};
    for (; done < all && (done < 2 || flow.work < budget); done++) {
        path_search_from(&flow.search, sources[done]);
        flow.work += adjacency_entries(adjacency);
        for (uint32_t i = choose_targets(adjacency, &random, targets); i-- > 0;) {
            if (targets[i] == sources[done] || !adjacency->leaving[targets[i]] ||
                flow.search.reached[targets[i]].distance == FW_NONE)
                continue;
            uint32_t paths = count_paths(&flow, sources[done], targets[i]);
            sums[done] += paths;
            counts[done]++;
            disjoint->pairs++;
            disjoint->least = paths < disjoint->least ? paths : disjoint->least;
        }
    }
    disjoint->is_exact = done == all && adjacency->topology->routers <= EVERY_TARGET;
    disjoint->paths = ratio_of_sums(sums, counts, done, disjoint->is_exact ? done : FW_NONE);
    arena_release(&scratch);
}

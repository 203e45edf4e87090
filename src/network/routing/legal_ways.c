/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of ways that go up and then down, see legal_ways.h. */
#include "network/routing/legal_ways.h"

#include "network/routing/port_lists.h"

#include <string.h>

#define MAX_WAYS_ROUTERS 11584 /* as many lists as the table of all shortest ways has at most */

/* What is needed while the table is made. A state is router * WAY_PHASES + phase. */
struct builder {
    const struct topology *topology;
    struct legal_ways *ways;
    uint32_t *neighbours; /* by router * ports + port; FW_NONE: unused */
    uint32_t *distance;   /* by state, to the router searched from */
    uint32_t *order;      /* states as they were reached */
    struct port_lists lists;
    uint8_t *injects, *ejects; /* by router: does a terminal? */
};

/* The phase that a packet is in behind a channel; false: it may not take it. */
static bool next_phase(const struct legal_ways *ways, uint32_t from, uint32_t to, enum way_phase phase,
                       enum way_phase *next)
{
    bool rises = legal_ways_rise(ways, from, to);
    *next = rises ? MAY_GO_UP : GOES_DOWN;
    return !rises || phase == MAY_GO_UP;
}

/* Distances of all states to a router, by a search backwards. */
static void search_back(struct builder *b, uint32_t there)
{
    uint32_t ports = b->topology->ports, reached = 0;
    memset(b->distance, 0xff, sizeof *b->distance * b->topology->routers * WAY_PHASES);
    for (uint32_t phase = 0; phase < WAY_PHASES; phase++) {
        b->order[reached++] = there * WAY_PHASES + phase;
        b->distance[there * WAY_PHASES + phase] = 0;
    }
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t router = b->order[i] / WAY_PHASES, hops = b->distance[b->order[i]] + 1;
        enum way_phase here = (enum way_phase)(b->order[i] % WAY_PHASES), next;
        for (uint32_t port = 0; port < ports; port++) {
            uint32_t from = b->neighbours[(size_t)router * ports + port];
            for (uint32_t phase = 0; from != FW_NONE && phase < WAY_PHASES; phase++) {
                uint32_t state = from * WAY_PHASES + phase;
                if (b->distance[state] != FW_NONE || !next_phase(b->ways, from, router, (enum way_phase)phase, &next) ||
                    next != here)
                    continue;
                b->distance[state] = hops;
                b->order[reached++] = state;
            }
        }
    }
}

/* The ports by which a state comes one hop closer. */
static uint32_t list_state(struct builder *b, uint32_t router, enum way_phase phase)
{
    uint32_t ports = b->topology->ports, count = 0, distance = b->distance[router * WAY_PHASES + phase];
    uint32_t *list = port_lists_room(&b->lists, ports);
    for (uint32_t port = 0; port < ports && distance != FW_NONE; port++) {
        uint32_t to = b->neighbours[(size_t)router * ports + port];
        enum way_phase next;
        if (to != FW_NONE && next_phase(b->ways, router, to, phase, &next) &&
            b->distance[to * WAY_PHASES + next] + 1 == distance)
            list[ROUTE_TABLE_PORTS + count++] = port;
    }
    list[ROUTE_TABLE_COUNT] = count;
    list[ROUTE_TABLE_DISTANCE] = distance;
    return port_lists_keep(&b->lists);
}

static void fill_ways(struct builder *b, uint32_t *lists)
{
    uint32_t routers = b->topology->routers;
    for (uint32_t there = 0; there < routers; there++) {
        search_back(b, there);
        for (uint32_t here = 0; here < routers; here++) {
            uint32_t hops = b->distance[here * WAY_PHASES + MAY_GO_UP];
            for (uint32_t phase = 0; phase < WAY_PHASES; phase++)
                lists[((size_t)there * routers + here) * WAY_PHASES + phase] =
                    list_state(b, here, (enum way_phase)phase);
            if (b->ejects[there] && b->injects[here] && hops != FW_NONE && hops > b->ways->longest)
                b->ways->longest = hops;
        }
    }
}

static bool legal_ways_fit(const struct topology *topology, const struct choice *self, struct errors *errors)
{
    return topology->routers <= MAX_WAYS_ROUTERS ||
           choice_error(errors, self, NULL, "\"%s\" keeps a table of all pairs of at most %u routers; there are %u",
                        self->component->name, MAX_WAYS_ROUTERS, topology->routers);
}

const struct legal_ways *legal_ways_create(const struct routing *routing, const uint32_t *levels,
                                           const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    uint32_t routers = topology->routers;
    if (!legal_ways_fit(topology, self, errors))
        return NULL;
    struct arena scratch = {0};
    struct search search;
    struct legal_ways *ways = arena_array(arena, struct legal_ways, 1);
    uint32_t *lists = arena_array(arena, uint32_t, (size_t)routers * routers * WAY_PHASES);
    uint64_t *order = arena_array(arena, uint64_t, routers);
    for (uint32_t router = 0; router < routers; router++)
        order[router] = (uint64_t)levels[router] << 32 | router;
    *ways = (struct legal_ways){.lists = lists, .order = order, .routers = routers};
    search_init(&search, topology, &scratch);
    struct builder builder = {
        .topology = topology,
        .ways = ways,
        .neighbours = search.neighbours,
        .distance = arena_array(&scratch, uint32_t, (size_t)routers * WAY_PHASES),
        .order = arena_array(&scratch, uint32_t, (size_t)routers * WAY_PHASES),
        .injects = arena_array(&scratch, uint8_t, routers),
        .ejects = arena_array(&scratch, uint8_t, routers),
    };
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        builder.injects[topology_router_of(topology, terminal)] = 1;
        builder.ejects[topology_ejects_at(topology, terminal)] = 1;
    }
    port_lists_init(&builder.lists);
    fill_ways(&builder, lists);
    ways->pool = port_lists_finish(&builder.lists, arena);
    arena_release(&scratch);
    return ways;
}

/* ---- levels ---- */

/* Of the part of the network that a router is in; the search is left as from anywhere. */
static uint32_t find_centre(struct search *search, uint32_t router, uint32_t *part)
{
    uint32_t centre = router, least = FW_NONE, count;
    uint64_t least_sum = UINT64_MAX;
    search_from(search, router);
    count = search->reached;
    memcpy(part, search->order, sizeof *part * count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        search_from(search, part[i]);
        uint32_t farthest = search->distance[search->order[count - 1]];
        for (uint32_t j = 0; j < count; j++)
            sum += search->distance[search->order[j]];
        bool is_better = farthest != least ? farthest < least : sum != least_sum ? sum < least_sum : part[i] < centre;
        if (!is_better)
            continue;
        centre = part[i];
        least = farthest;
        least_sum = sum;
    }
    return centre;
}

static void lower_levels(struct search *search, uint32_t root, uint32_t *levels)
{
    search_from(search, root);
    for (uint32_t i = 0; i < search->reached; i++) {
        uint32_t router = search->order[i];
        if (search->distance[router] < levels[router])
            levels[router] = search->distance[router];
    }
}

static const uint32_t *levels_from_roots(const struct topology *topology, const struct u32_list *roots,
                                         struct arena *arena)
{
    struct arena scratch = {0};
    struct search search;
    uint32_t *levels = arena_array(arena, uint32_t, topology->routers);
    uint32_t *part = arena_array(&scratch, uint32_t, topology->routers);
    search_init(&search, topology, &scratch);
    memset(levels, 0xff, sizeof *levels * topology->routers);
    for (uint32_t i = 0; i < roots->count; i++)
        lower_levels(&search, roots->items[i], levels);
    for (uint32_t router = 0; router < topology->routers; router++)
        if (levels[router] == FW_NONE)
            lower_levels(&search, find_centre(&search, router, part), levels);
    arena_release(&scratch);
    return levels;
}

/* Several roots in one part of a network may have no way to each other that only goes up and then down. */
static bool reaches_all(const struct topology *topology, const struct legal_ways *ways, const struct choice *self,
                        struct errors *errors)
{
    struct arena scratch = {0};
    uint8_t *injects = arena_array(&scratch, uint8_t, topology->routers);
    uint8_t *ejects = arena_array(&scratch, uint8_t, topology->routers);
    bool is_good = true;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        injects[topology_router_of(topology, terminal)] = 1;
        ejects[topology_ejects_at(topology, terminal)] = 1;
    }
    for (uint32_t from = 0; from < topology->routers; from++)
        for (uint32_t to = 0; to < topology->routers && is_good && injects[from]; to++)
            if (ejects[to] && topology_joins(topology, from, to) && !legal_ways_reach(ways, from, to))
                is_good = choice_error(errors, self, "roots",
                                       "from router %u to router %u no way goes up and then down; accepted: one root",
                                       from, to);
    arena_release(&scratch);
    return is_good;
}

const struct legal_ways *legal_ways_from_roots(const struct routing *routing, const struct u32_list *roots,
                                               const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < roots->count; i++)
        if (roots->items[i] >= topology->routers)
            choice_error(errors, self, "roots", "there is no router %u; accepted: 0 to %u", roots->items[i],
                         topology->routers - 1);
    if (errors->count > before || !legal_ways_fit(topology, self, errors))
        return NULL;
    const struct legal_ways *ways =
        legal_ways_create(routing, levels_from_roots(topology, roots, arena), self, arena, errors);
    return !ways || roots->count < 2 || reaches_all(topology, ways, self, errors) ? ways : NULL;
}

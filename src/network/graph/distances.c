/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances and numbers of shortest paths. Each search goes outwards from one
 * router; a router's paths are those of all neighbours that are one step nearer.
 * Means are ratios of sums over sources, so that a sample of sources gives them
 * with a standard error.
 */
#include "network/graph/analysis.h"

#include "flitwarp/random.h"

#include <math.h>
#include <string.h>

/*
 * Lists of neighbours from a topology's ports. Going through the routers in rising
 * order and entering each at those behind its ports leaves every list sorted, with
 * parallel channels next to each other, since peer is symmetric.
 */

/* Where the router at one end is entered at that of the other, as the next entry there unless it is the last one. */
struct entering {
    uint32_t *last;  /* by router: the one that was entered last */
    uint32_t *count; /* by router: those entered */
};

/* Enters all routers at those behind their ports. A channel from a router to itself leads nowhere. NULL: only counts. */
static void enter_all(const struct topology *topology, struct entering *at, const uint32_t *first,
                      struct neighbour *entries)
{
    memset(at->last, 0xff, sizeof *at->last * topology->routers);
    memset(at->count, 0, sizeof *at->count * topology->routers);
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (!topology->ops->peer(topology, router, port, &peer) || peer.router == router)
                continue;
            at->count[peer.router] += at->last[peer.router] != router;
            at->last[peer.router] = router;
            if (entries) {
                struct neighbour *entry = &entries[first[peer.router] + at->count[peer.router] - 1];
                *entry = (struct neighbour){.router = router, .links = entry->links + 1};
            }
        }
}

/* A list's entries are met in rising order again when all lists are gone through: a count of them finds each. */
static void find_back(struct adjacency *adjacency, uint32_t *count)
{
    memset(count, 0, sizeof *count * adjacency->topology->routers);
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        NEIGHBOURS_EACH(neighbour, adjacency, router)
            neighbour->back = adjacency->first[neighbour->router] + count[neighbour->router]++;
}

static void count_terminals(struct adjacency *adjacency)
{
    const struct topology *topology = adjacency->topology;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        adjacency->entering[topology_router_of(topology, terminal)]++;
        adjacency->leaving[topology_ejects_at(topology, terminal)]++;
    }
    for (uint32_t router = 0; router < topology->routers; router++)
        adjacency->sources += adjacency->entering[router] > 0;
}

void adjacency_init(struct adjacency *adjacency, const struct topology *topology, struct arena *arena)
{
    uint32_t routers = topology->routers;
    struct arena scratch = {0};
    struct entering at = {arena_array(&scratch, uint32_t, routers), arena_array(&scratch, uint32_t, routers)};
    *adjacency = (struct adjacency){
        .topology = topology,
        .first = arena_array(arena, uint32_t, (size_t)routers + 1),
        .entering = arena_array(arena, uint32_t, routers),
        .leaving = arena_array(arena, uint32_t, routers),
    };
    enter_all(topology, &at, NULL, NULL);
    for (uint32_t router = 0; router < routers; router++)
        adjacency->first[router + 1] = adjacency->first[router] + at.count[router];
    adjacency->neighbours = arena_array(arena, struct neighbour, adjacency->first[routers]);
    enter_all(topology, &at, adjacency->first, adjacency->neighbours);
    find_back(adjacency, at.count);
    count_terminals(adjacency);
    arena_release(&scratch);
}

uint32_t *adjacency_sources(const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t *sources = arena_array(arena, uint32_t, adjacency->sources), count = 0;
    for (uint32_t router = 0; router < adjacency->topology->routers; router++)
        if (adjacency->entering[router])
            sources[count++] = router;
    struct random random = random_stream(1, 0, RANDOM_SETUP);
    random_shuffle(&random, sources, count);
    return sources;
}

/* ---- distances ---- */

struct pair_mean ratio_of_sums(const double *sums, const double *counts, uint32_t sources, uint32_t all)
{
    double sum = 0, count = 0, squares = 0;
    for (uint32_t i = 0; i < sources; i++) {
        sum += sums[i];
        count += counts[i];
    }
    if (count == 0)
        return (struct pair_mean){0};
    struct pair_mean ratio = {.mean = sum / count};
    for (uint32_t i = 0; i < sources; i++)
        squares += (sums[i] - ratio.mean * counts[i]) * (sums[i] - ratio.mean * counts[i]);
    if (sources > 1 && sources < all)
        ratio.error = sqrt((1 - (double)sources / all) * sources / (sources - 1.0) * squares) / count;
    return ratio;
}

void path_search_init(struct path_search *search, const struct adjacency *adjacency, struct arena *arena)
{
    *search = (struct path_search){.adjacency = adjacency,
                                   .reached = arena_array(arena, struct reached, adjacency->topology->routers),
                                   .order = arena_array(arena, uint32_t, adjacency->topology->routers)};
}

void path_search_from(struct path_search *search, uint32_t router)
{
    struct reached *reached = search->reached;
    for (uint32_t i = 0; i < search->adjacency->topology->routers; i++)
        reached[i] = (struct reached){.distance = FW_NONE};
    reached[router] = (struct reached){.distance = 0, .paths = 1};
    search->order[0] = router;
    search->count = 1;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t from = search->order[i], next = reached[from].distance + 1;
        double paths = reached[from].paths;
        NEIGHBOURS_EACH(neighbour, search->adjacency, from) {
            struct reached *to = &reached[neighbour->router];
            if (to->distance == FW_NONE) {
                to->distance = next;
                search->order[search->count++] = neighbour->router;
            }
            if (to->distance == next)
                to->paths += paths * neighbour->links;
        }
    }
}

/* What one source adds to each mean: over routers, over terminals, and shortest paths. */
enum sum { HOPS, PAIRS, TERMINAL_HOPS, TERMINAL_PAIRS, PATHS, SUMS };

/* A terminal does not send to itself; the way to itself is not of length 0 where packets leave elsewhere. */
static double hops_to_itself(const struct path_search *search, uint32_t source)
{
    const struct topology *topology = search->adjacency->topology;
    double hops = 0;
    for (uint32_t terminal = 0; topology->ops->ejects_at && terminal < topology->terminals; terminal++)
        if (topology_router_of(topology, terminal) == source)
            hops += search->reached[topology_ejects_at(topology, terminal)].distance;
    return hops;
}

static void add_source(struct distances *distances, const struct path_search *search, double *const sums[SUMS])
{
    const struct adjacency *adjacency = search->adjacency;
    uint32_t index = distances->sources++, source = search->order[0];
    double reached = 0, hops = 0, terminals = 0, entering = adjacency->entering[source];
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t router = search->order[i], distance = search->reached[router].distance;
        double paths = search->reached[router].paths;
        if (!adjacency->leaving[router])
            continue;
        terminals += (double)adjacency->leaving[router] * distance;
        reached += adjacency->leaving[router];
        if (router == source)
            continue;
        hops += distance;
        sums[PAIRS][index]++;
        sums[PATHS][index] += paths;
        distances->pairs[distance]++;
        distances->paths[distance] += paths;
        distances->least_paths = paths < distances->least_paths ? paths : distances->least_paths;
        distances->diameter = distance > distances->diameter ? distance : distances->diameter;
    }
    sums[HOPS][index] = hops;
    sums[TERMINAL_HOPS][index] = entering * terminals - hops_to_itself(search, source);
    sums[TERMINAL_PAIRS][index] = entering * reached - entering;
}

void distances_find(struct distances *distances, const struct adjacency *adjacency, uint64_t budget,
                    struct arena *arena)
{
    uint32_t routers = adjacency->topology->routers, all = adjacency->sources;
    struct arena scratch = {0};
    const uint32_t *sources = adjacency_sources(adjacency, &scratch);
    double *sums[SUMS];
    for (uint32_t i = 0; i < SUMS; i++)
        sums[i] = arena_array(&scratch, double, all);
    struct path_search search;
    path_search_init(&search, adjacency, &scratch);
    uint64_t work = 0, each = (uint64_t)adjacency_entries(adjacency) + routers;
    *distances = (struct distances){.least_paths = INFINITY,
                                    .pairs = arena_array(arena, uint64_t, routers),
                                    .paths = arena_array(arena, double, routers)};
    for (uint32_t i = 0; i < all && (i < 2 || work + each <= budget); i++, work += each) {
        path_search_from(&search, sources[i]);
        for (uint32_t router = 0; search.count < routers && router < routers; router++)
            distances->unreached += search.reached[router].distance == FW_NONE && adjacency->leaving[router];
        add_source(distances, &search, sums);
    }
    uint32_t count = distances->sources;
    distances->routers = ratio_of_sums(sums[HOPS], sums[PAIRS], count, all);
    distances->terminals = ratio_of_sums(sums[TERMINAL_HOPS], sums[TERMINAL_PAIRS], count, all);
    distances->paths_of_pair = ratio_of_sums(sums[PATHS], sums[PAIRS], count, all);
    arena_release(&scratch);
}

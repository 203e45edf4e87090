/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts to begin with, each bettered by local search (cut_search.c), the best one
 * kept: routers in the order of their numbers, by each coordinate of a grid, as
 * they lie below each other in a tree, by the rows of a butterfly; what METIS
 * finds, where it is built in; and as long as the budget lasts, what a search from
 * a router drawn at random reaches first, and halves drawn at random.
 */
#include "network/graph/bisection.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/random.h"
#include "flitwarp/tree.h"
#include "network/graph/cut_search.h"
#include "network/graph/distances.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DRAWN 64 /* cuts of each random kind */

/* Where a router comes in the order of a cut: by key, then by number. */
struct ranked {
    uint64_t key;
    uint32_t router;
};

struct finder {
    const struct adjacency *adjacency;
    struct bisection *best;
    struct cut_search search;
    struct ranked *order;
    uint8_t *side;
};

static int by_key(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->router < b->router ? -1 : 1;
}

/* Betters the cut in finder->side and keeps it if it is the best so far. */
static void try_side(struct finder *finder, const char *method)
{
    struct bisection *best = finder->best;
    uint64_t links = cut_search_improve(&finder->search, finder->side);
    best->tried++;
    if (links >= best->links)
        return;
    best->links = links;
    best->method = method;
    memcpy(best->side, finder->side, finder->adjacency->topology->routers);
}

/* The first half of the order against the second. */
static void try_order(struct finder *finder, const char *method)
{
    const struct adjacency *adjacency = finder->adjacency;
    uint32_t routers = adjacency->topology->routers;
    uint64_t before = 0;
    qsort(finder->order, routers, sizeof *finder->order, by_key);
    for (uint32_t i = 0; i < routers; i++) {
        uint32_t router = finder->order[i].router, weight = finder->search.weight[router];
        finder->side[router] = 2 * before + weight > finder->search.total; /* where the router's middle is */
        before += weight;
    }
    try_side(finder, method);
}

/* ---- natural cuts ---- */

typedef uint64_t key_of(const struct topology *topology, uint32_t router, uint32_t dimension);

static void try_keys(struct finder *finder, key_of *key, uint32_t dimension, const char *method)
{
    const struct topology *topology = finder->adjacency->topology;
    for (uint32_t router = 0; router < topology->routers; router++)
        finder->order[router] = (struct ranked){key(topology, router, dimension), router};
    try_order(finder, method);
}

static uint64_t number_key(const struct topology *topology, uint32_t router, uint32_t dimension)
{
    (void)topology, (void)dimension;
    return router;
}

static uint64_t grid_key(const struct topology *topology, uint32_t router, uint32_t dimension)
{
    uint32_t coordinates[MAX_DIMENSIONS];
    grid_coordinates(topology->grid, router, coordinates);
    return coordinates[dimension];
}

static uint64_t hyperx_key(const struct topology *topology, uint32_t router, uint32_t dimension)
{
    return hyperx_coordinate(topology_hyperx(topology), router, dimension);
}

/* The middle of the terminals below. */
static uint64_t tree_key(const struct topology *topology, uint32_t router, uint32_t dimension)
{
    const struct tree *tree = topology_tree(topology);
    (void)dimension;
    return 2 * (uint64_t)tree->first_below[router] + tree->below[tree_level(tree, router)];
}

static uint64_t row_key(const struct topology *topology, uint32_t router, uint32_t dimension)
{
    (void)dimension;
    return router % topology_butterfly(topology)->rows;
}

static void try_natural(struct finder *finder)
{
    const struct topology *topology = finder->adjacency->topology;
    try_keys(finder, number_key, 0, "routers by number");
    for (uint32_t d = 0; topology->grid && d < topology->grid->dimensions; d++)
        try_keys(finder, grid_key, d, "a coordinate");
    for (uint32_t d = 0; topology_hyperx(topology) && d < topology_hyperx(topology)->dimensions; d++)
        try_keys(finder, hyperx_key, d, "a coordinate");
    if (topology_tree(topology))
        try_keys(finder, tree_key, 0, "subtrees");
    if (topology_butterfly(topology))
        try_keys(finder, row_key, 0, "rows");
}

/* ---- drawn cuts ---- */

static void try_region(struct finder *finder, struct path_search *region, struct random *random)
{
    uint32_t routers = finder->adjacency->topology->routers;
    path_search_from(region, random_below(random, routers));
    finder->search.work += adjacency_entries(finder->adjacency);
    for (uint32_t router = 0; router < routers; router++) /* those out of reach come last */
        finder->order[router] = (struct ranked){routers, router};
    for (uint32_t i = 0; i < region->count; i++)
        finder->order[region->order[i]].key = i;
    try_order(finder, "a search from a router");
}

static void try_drawn(struct finder *finder, struct random *random)
{
    for (uint32_t router = 0; router < finder->adjacency->topology->routers; router++)
        finder->order[router] = (struct ranked){random_u64(random), router};
    try_order(finder, "a random half");
}

/* ---- METIS ---- */

#ifdef FLITWARP_HAVE_METIS
#include <metis.h>

#define METIS_SEEDS 3

static void try_metis(struct finder *finder)
{
    const struct adjacency *adjacency = finder->adjacency;
    uint32_t routers = adjacency->topology->routers, entries = adjacency_entries(adjacency);
    struct arena scratch = {0};
    idx_t *starts = arena_array(&scratch, idx_t, (size_t)routers + 1), *part = arena_array(&scratch, idx_t, routers);
    idx_t *peers = arena_array(&scratch, idx_t, entries), *links = arena_array(&scratch, idx_t, entries);
    idx_t *weight = arena_array(&scratch, idx_t, routers);
    for (uint32_t router = 0; router <= routers; router++)
        starts[router] = (idx_t)adjacency->first[router];
    for (uint32_t router = 0; router < routers; router++)
        weight[router] = (idx_t)finder->search.weight[router];
    for (uint32_t entry = 0; entry < entries; entry++) {
        peers[entry] = (idx_t)adjacency->neighbours[entry].router;
        links[entry] = (idx_t)adjacency->neighbours[entry].links;
    }
    idx_t options[METIS_NOPTIONS], vertices = (idx_t)routers, constraints = 1, parts = 2, cut = 0;
    for (uint32_t seed = 1; seed <= METIS_SEEDS; seed++) {
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = (idx_t)seed;
        options[METIS_OPTION_UFACTOR] = 1;
        if (METIS_PartGraphRecursive(&vertices, &constraints, starts, peers, weight, NULL, links, &parts, NULL, NULL,
                                     options, &cut, part) != METIS_OK)
            break;
        for (uint32_t router = 0; router < routers; router++)
            finder->side[router] = part[router] != 0;
        try_side(finder, "METIS");
    }
    arena_release(&scratch);
}
#else
static void try_metis(struct finder *finder) { (void)finder; }
#endif

void bisection_find(struct bisection *bisection, const struct adjacency *adjacency, uint64_t budget,
                    struct arena *arena)
{
    uint32_t routers = adjacency->topology->routers;
    struct arena scratch = {0};
    *bisection = (struct bisection){.links = UINT64_MAX, .side = arena_array(arena, uint8_t, routers)};
    struct finder finder = {.adjacency = adjacency,
                            .best = bisection,
                            .order = arena_array(&scratch, struct ranked, routers),
                            .side = arena_array(&scratch, uint8_t, routers)};
    struct path_search region;
    struct random random = random_stream(1, 2, RANDOM_SETUP);
    cut_search_init(&finder.search, adjacency, &scratch);
    path_search_init(&region, adjacency, &scratch);
    try_natural(&finder);
    if (routers > 1)
        try_metis(&finder);
    for (uint32_t i = 0; i < MAX_DRAWN && finder.search.work < budget; i++) {
        try_region(&finder, &region, &random);
        try_drawn(&finder, &random);
    }
    if (bisection->links == UINT64_MAX) /* one router has all terminals */
        bisection->links = 0;
    arena_release(&scratch);
}

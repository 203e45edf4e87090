/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts to begin with, each bettered by local search, the best one
 * kept: routers in the order of their numbers, by each coordinate of a grid, as
 * they lie below each other in a tree, by the rows of a butterfly; what METIS
 * finds, where it is built in; and as long as the budget lasts, what a search from
 * a router drawn at random reaches first, and halves drawn at random.
 */
#include "network/graph/analysis.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/random.h"
#include "flitwarp/tree.h"

#include <stdlib.h>
#include <string.h>

#define SHELVES 4
#define MAX_PASSES 20
#define PATIENCE 4096 /* moves without a better cut after which a pass ends, or an eighth of the routers */
#define MAX_DRAWN 64  /* cuts of each random kind */

/* ---- local search ---- */

/*
 * Local search for a better cut, by moving one router after the other to the other
 * side (Fiduccia and Mattheyses 1982).
 * A pass moves every router once: each time the one that takes most links out of
 * the cut and leaves the halves in reach of balance, even if that makes the cut
 * worse for now. Of all cuts on the way the best balanced one is kept. Passes go on
 * until one finds nothing better.
 *   Routers that have not moved lie on four shelves, by side and by whether they
 * have terminals, so that those without can move while the halves are not in
 * balance; on each they are in buckets by gain.
 */
struct cut_search {
    const struct adjacency *adjacency; /* borrowed */
    uint32_t *weight;                  /* by router: terminals that enter and leave there */
    uint64_t total;                    /* of all routers */
    uint64_t slack;                    /* by which halves may differ in weight */
    uint64_t reach;                    /* the same on the way from one cut to another */
    uint64_t work;                     /* channels looked at so far */
    /* Of a pass: */
    int64_t ahead;     /* the weight of side 0 less that of side 1 */
    int32_t *gain;     /* by router: links that a move takes out of the cut */
    uint32_t most;     /* gain of any router, or loss */
    uint32_t *buckets; /* by shelf * (2 * most + 1) + most + gain: the first router in it */
    uint32_t *next, *previous;
    uint32_t *highest; /* by shelf: no bucket above this one has a router */
    uint32_t *moved;   /* routers in the order in which they were moved */
    bool *is_moved;
};

static void cut_search_init(struct cut_search *search, const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t routers = adjacency->topology->routers, heaviest = 0, lightest = FW_NONE, with_weight = 0;
    *search = (struct cut_search){.adjacency = adjacency, .weight = arena_array(arena, uint32_t, routers)};
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t links = 0, weight = adjacency->entering[router] + adjacency->leaving[router];
        NEIGHBOURS_EACH(to, adjacency, router)
            links += to->links;
        search->most = links > search->most ? links : search->most;
        search->weight[router] = weight;
        search->total += weight;
        heaviest = weight > heaviest ? weight : heaviest;
        lightest = weight && weight < lightest ? weight : lightest;
        with_weight += weight > 0;
    }
    /* Not at all where it can be so for all we know, else by a router's terminals. */
    search->slack = lightest >= heaviest && with_weight % 2 == 0 ? 0 : heaviest;
    search->reach = search->slack + 2 * (uint64_t)heaviest;
    search->gain = arena_array(arena, int32_t, routers);
    search->buckets = arena_array(arena, uint32_t, SHELVES * (2 * (size_t)search->most + 1));
    search->next = arena_array(arena, uint32_t, routers);
    search->previous = arena_array(arena, uint32_t, routers);
    search->highest = arena_array(arena, uint32_t, SHELVES);
    search->moved = arena_array(arena, uint32_t, routers);
    search->is_moved = arena_array(arena, bool, routers);
}

/* ---- shelves ---- */

static uint32_t shelf_of(const struct cut_search *search, const uint8_t *side, uint32_t router)
{
    return 2u * side[router] + (search->weight[router] > 0);
}

static uint32_t *bucket(struct cut_search *search, uint32_t shelf, uint32_t height)
{
    return &search->buckets[shelf * (2 * (size_t)search->most + 1) + height];
}

static uint32_t height_of(const struct cut_search *search, uint32_t router)
{
    return (uint32_t)(search->gain[router] + (int32_t)search->most);
}

static void shelve(struct cut_search *search, uint32_t shelf, uint32_t router)
{
    uint32_t height = height_of(search, router), *first = bucket(search, shelf, height);
    search->previous[router] = FW_NONE;
    search->next[router] = *first;
    if (*first != FW_NONE)
        search->previous[*first] = router;
    *first = router;
    if (height > search->highest[shelf])
        search->highest[shelf] = height;
}

static void take_off(struct cut_search *search, uint32_t shelf, uint32_t router)
{
    uint32_t next = search->next[router], previous = search->previous[router];
    if (next != FW_NONE)
        search->previous[next] = previous;
    if (previous != FW_NONE)
        search->next[previous] = next;
    else
        *bucket(search, shelf, height_of(search, router)) = next;
}

/* The router of most gain on a shelf, or FW_NONE. */
static uint32_t top_of(struct cut_search *search, uint32_t shelf)
{
    while (search->highest[shelf] > 0 && *bucket(search, shelf, search->highest[shelf]) == FW_NONE)
        search->highest[shelf]--;
    return *bucket(search, shelf, search->highest[shelf]);
}

/* ---- passes ---- */

static int64_t ahead_after(const struct cut_search *search, const uint8_t *side, uint32_t router)
{
    int64_t twice = 2 * (int64_t)search->weight[router];
    return search->ahead + (side[router] ? twice : -twice);
}

/* The links in the cut; gains, shelves and weights follow from the sides. */
static uint64_t begin_pass(struct cut_search *search, const uint8_t *side)
{
    uint32_t routers = search->adjacency->topology->routers;
    uint64_t cut = 0;
    search->ahead = 0;
    memset(search->buckets, 0xff, sizeof *search->buckets * SHELVES * (2 * (size_t)search->most + 1));
    memset(search->highest, 0, sizeof *search->highest * SHELVES);
    memset(search->is_moved, 0, sizeof *search->is_moved * routers);
    for (uint32_t router = 0; router < routers; router++) {
        int32_t gain = 0;
        NEIGHBOURS_EACH(to, search->adjacency, router) {
            bool is_cut = side[to->router] != side[router];
            gain += is_cut ? (int32_t)to->links : -(int32_t)to->links;
            cut += is_cut && to->router > router ? to->links : 0;
        }
        search->gain[router] = gain;
        search->ahead += side[router] ? -(int64_t)search->weight[router] : (int64_t)search->weight[router];
        shelve(search, shelf_of(search, side, router), router);
    }
    search->work += adjacency_entries(search->adjacency);
    return cut;
}

/* The best move that there is, from the heavier side where two are as good; FW_NONE: there is none. */
static uint32_t choose_move(struct cut_search *search, const uint8_t *side)
{
    uint32_t best = FW_NONE, heavier = search->ahead < 0;
    for (uint32_t i = 0; i < SHELVES; i++) {
        uint32_t router = top_of(search, i ^ (heavier << 1));
        if (router == FW_NONE)
            continue;
        uint64_t after = (uint64_t)llabs(ahead_after(search, side, router));
        bool is_allowed = after <= search->reach || after < (uint64_t)llabs(search->ahead);
        if (is_allowed && (best == FW_NONE || search->gain[router] > search->gain[best]))
            best = router;
    }
    return best;
}

static void move(struct cut_search *search, uint8_t *side, uint32_t router)
{
    take_off(search, shelf_of(search, side, router), router);
    search->ahead = ahead_after(search, side, router);
    search->is_moved[router] = true;
    side[router] ^= 1;
    NEIGHBOURS_EACH(to, search->adjacency, router) {
        int32_t change = 2 * (int32_t)to->links;
        search->work++;
        if (search->is_moved[to->router])
            continue;
        uint32_t shelf = shelf_of(search, side, to->router);
        take_off(search, shelf, to->router);
        search->gain[to->router] += side[to->router] == side[router] ? -change : change;
        shelve(search, shelf, to->router);
    }
}

/* The best balanced cut on a way of moves; UINT64_MAX: there was none. */
static uint64_t cut_run_pass(struct cut_search *search, uint8_t *side)
{
    uint32_t routers = search->adjacency->topology->routers, moves = 0, kept = 0, router;
    uint32_t patience = routers / 8 > PATIENCE ? routers / 8 : PATIENCE;
    uint64_t cut = begin_pass(search, side);
    uint64_t best = (uint64_t)llabs(search->ahead) <= search->slack ? cut : UINT64_MAX;
    while (moves - kept < patience && (router = choose_move(search, side)) != FW_NONE) {
        cut -= (uint64_t)(int64_t)search->gain[router];
        move(search, side, router);
        search->moved[moves++] = router;
        if (cut < best && (uint64_t)llabs(search->ahead) <= search->slack) {
            best = cut;
            kept = moves;
        }
    }
    while (best != UINT64_MAX && moves > kept)
        side[search->moved[--moves]] ^= 1;
    return best;
}

/* ---- cuts to begin with ---- */

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

/* Betters the cut in finder->side, and balances it if that can be, and keeps it if it is the best so far. */
static void try_side(struct finder *finder, const char *method)
{
    struct bisection *best = finder->best;
    uint64_t links = UINT64_MAX, found = 0;
    for (uint32_t pass = 0; pass < MAX_PASSES && (found = cut_run_pass(&finder->search, finder->side)) < links; pass++)
        links = found;
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

enum natural { BY_NUMBER, BY_COORDINATE, BY_SUBTREE, BY_ROW };

/* Of a topology as it would be without failures. */
static uint64_t natural_key(const struct topology *topology, enum natural natural, uint32_t dimension, uint32_t router)
{
    const struct tree *tree = topology_tree(topology);
    switch (natural) {
    case BY_COORDINATE:
        return topology_coordinate(topology, router, dimension);
    case BY_SUBTREE: /* the middle of the terminals below */
        return 2 * (uint64_t)tree->first_below[router] + tree->below[tree_level(tree, router)];
    case BY_ROW:
        return router % topology_butterfly(topology)->rows;
    default:
        return router;
    }
}

static void try_keys(struct finder *finder, enum natural natural, uint32_t dimension, const char *method)
{
    const struct topology *topology = topology_whole(finder->adjacency->topology);
    for (uint32_t router = 0; router < topology->routers; router++)
        finder->order[router] = (struct ranked){natural_key(topology, natural, dimension, router), router};
    try_order(finder, method);
}

static void try_natural(struct finder *finder)
{
    const struct topology *topology = topology_whole(finder->adjacency->topology);
    try_keys(finder, BY_NUMBER, 0, "routers by number");
    for (uint32_t d = 0; d < topology_dimensions(topology); d++)
        try_keys(finder, BY_COORDINATE, d, "a coordinate");
    if (topology_tree(topology))
        try_keys(finder, BY_SUBTREE, 0, "subtrees");
    if (topology_butterfly(topology))
        try_keys(finder, BY_ROW, 0, "rows");
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
        for (uint32_t router = 0; router < routers; router++)
            finder.order[router] = (struct ranked){random_u64(&random), router};
        try_order(&finder, "a random half");
    }
    if (bisection->links == UINT64_MAX) /* one router has all terminals */
        bisection->links = 0;
    arena_release(&scratch);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass moves every router once: each time the one that takes most links out of
 * the cut and leaves the halves in reach of balance, even if that makes the cut
 * worse for now. Of all cuts on the way the best balanced one is kept. Passes go on
 * until one finds nothing better.
 *   Routers that have not moved lie on four shelves, by side and by whether they
 * have terminals, so that those without can move while the halves are not in
 * balance; on each they are in buckets by gain.
 */
#include "network/graph/cut_search.h"

#include <string.h>

#define SHELVES 4
#define MAX_PASSES 20
#define PATIENCE 4096 /* moves without a better cut after which a pass ends, or an eighth of the routers */

/* Not at all where it can be so for all we know, else by a router's terminals. */
static uint64_t slack_of(const struct cut_search *search)
{
    uint32_t routers = search->adjacency->topology->routers, common = 0, most = 0, with_weight = 0;
    bool is_uniform = true;
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t weight = search->weight[router];
        if (!weight)
            continue;
        is_uniform = is_uniform && (!common || weight == common);
        common = weight;
        most = weight > most ? weight : most;
        with_weight++;
    }
    return is_uniform && with_weight % 2 == 0 ? 0 : most;
}

void cut_search_init(struct cut_search *search, const struct adjacency *adjacency, struct arena *arena)
{
    uint32_t routers = adjacency->topology->routers, heaviest = 0;
    *search = (struct cut_search){.adjacency = adjacency, .weight = arena_array(arena, uint32_t, routers)};
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t links = 0;
        NEIGHBOURS_EACH(to, adjacency, router)
            links += to->links;
        search->most = links > search->most ? links : search->most;
        search->weight[router] = adjacency->entering[router] + adjacency->leaving[router];
        search->total += search->weight[router];
        heaviest = search->weight[router] > heaviest ? search->weight[router] : heaviest;
    }
    search->slack = slack_of(search);
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
    search->previous[router] = NONE;
    search->next[router] = *first;
    if (*first != NONE)
        search->previous[*first] = router;
    *first = router;
    if (height > search->highest[shelf])
        search->highest[shelf] = height;
}

static void take_off(struct cut_search *search, uint32_t shelf, uint32_t router)
{
    uint32_t next = search->next[router], previous = search->previous[router];
    if (next != NONE)
        search->previous[next] = previous;
    if (previous != NONE)
        search->next[previous] = next;
    else
        *bucket(search, shelf, height_of(search, router)) = next;
}

/* The router of most gain on a shelf, or NONE. */
static uint32_t top_of(struct cut_search *search, uint32_t shelf)
{
    while (search->highest[shelf] > 0 && *bucket(search, shelf, search->highest[shelf]) == NONE)
        search->highest[shelf]--;
    return *bucket(search, shelf, search->highest[shelf]);
}

/* ---- passes ---- */

static uint64_t magnitude(int64_t value) { return (uint64_t)(value < 0 ? -value : value); }

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

/* The best move that there is, from the heavier side where two are as good; NONE: there is none. */
static uint32_t choose_move(struct cut_search *search, const uint8_t *side)
{
    uint32_t best = NONE, heavier = search->ahead < 0;
    for (uint32_t i = 0; i < SHELVES; i++) {
        uint32_t router = top_of(search, i ^ (heavier << 1));
        if (router == NONE)
            continue;
        uint64_t after = magnitude(ahead_after(search, side, router));
        bool is_allowed = after <= search->reach || after < magnitude(search->ahead);
        if (is_allowed && (best == NONE || search->gain[router] > search->gain[best]))
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
static uint64_t run_pass(struct cut_search *search, uint8_t *side)
{
    uint32_t routers = search->adjacency->topology->routers, moves = 0, kept = 0, router;
    uint32_t patience = routers / 8 > PATIENCE ? routers / 8 : PATIENCE;
    uint64_t cut = begin_pass(search, side);
    uint64_t best = magnitude(search->ahead) <= search->slack ? cut : UINT64_MAX;
    while (moves - kept < patience && (router = choose_move(search, side)) != NONE) {
        cut -= (uint64_t)(int64_t)search->gain[router];
        move(search, side, router);
        search->moved[moves++] = router;
        if (cut < best && magnitude(search->ahead) <= search->slack) {
            best = cut;
            kept = moves;
        }
    }
    while (best != UINT64_MAX && moves > kept)
        side[search->moved[--moves]] ^= 1;
    return best;
}

uint64_t cut_search_improve(struct cut_search *search, uint8_t *side)
{
    uint64_t best = UINT64_MAX, found = 0;
    for (uint32_t pass = 0; pass < MAX_PASSES && (found = run_pass(search, side)) < best; pass++)
        best = found;
    return best;
}

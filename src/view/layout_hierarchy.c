/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of networks in a picture, see layout.h: each level is laid out as if it were alone, and a sub-network lies
 * on a box
 *
 *     at its place on the outside network, where that has routers for it alone, or where it stands for one
 *     in rows below the outside network, where its gateways hang on routers that others share
 */
#include "view/layout.h"

#include "flitwarp/hierarchy.h"

#include <math.h>
#include <string.h>

#define EDGE 0.55 /* of a box around the routers in it */
#define GAP 0.7   /* between boxes */
#define MOST_IN_A_ROW 12

/* A level by itself: the middle of what it covers is at 0, 0. */
struct piece {
    struct layout layout;
    struct spot half; /* of its width and height */
};

static void centre_piece(struct piece *piece, const struct topology *topology, bool is_turned)
{
    struct spot *at = piece->layout.routers, low = at[0], high = at[0];
    for (uint32_t router = 0; router < topology->routers; router++) {
        low = (struct spot){fmin(low.x, at[router].x), fmin(low.y, at[router].y)};
        high = (struct spot){fmax(high.x, at[router].x), fmax(high.y, at[router].y)};
    }
    piece->half = (struct spot){(high.x - low.x) / 2, (high.y - low.y) / 2};
    for (uint32_t router = 0; router < topology->routers; router++) {
        double down = at[router].y - (low.y + high.y) / 2;
        at[router] = (struct spot){at[router].x - (low.x + high.x) / 2, is_turned ? -down : down};
        piece->layout.outward[router].y *= is_turned ? -1 : 1;
    }
}

static void lay_piece(struct piece *piece, const struct topology *topology, bool is_turned, struct arena *arena)
{
    layout_find(&piece->layout, topology, NULL, arena);
    centre_piece(piece, topology, is_turned);
}

/* ---- where sub-networks are ---- */

/* The outside routers of a sub-network's gateways, on average; false where one is another's too. */
static bool find_home(const struct hierarchy *hierarchy, uint32_t number, const struct spot *outside, uint32_t *owner,
                      struct spot *home)
{
    const struct subnetwork *own = &hierarchy->subnetworks[number];
    *home = (struct spot){0, 0};
    if (hierarchy->is_direct) {
        *home = outside[number];
        return true;
    }
    for (uint32_t i = 0; i < own->kind->gateways; i++) {
        uint32_t terminal = hierarchy->hung_at[own->first_gateway + i];
        uint32_t router = topology_router_of(&hierarchy->outside, terminal % hierarchy->outside.terminals);
        if (owner[router] != FW_NONE && owner[router] != number)
            return false;
        owner[router] = number;
        home->x += outside[router].x / own->kind->gateways;
        home->y += outside[router].y / own->kind->gateways;
    }
    return true;
}

/* Homes of all sub-networks; false where they have to lie in rows. */
static bool find_homes(const struct hierarchy *hierarchy, const struct spot *outside, struct spot *homes)
{
    struct arena scratch = {0};
    uint32_t *owner = arena_array(&scratch, uint32_t, hierarchy->outside.routers);
    memset(owner, 0xff, sizeof *owner * hierarchy->outside.routers);
    bool is_found = hierarchy->copies == 1;
    for (uint32_t number = 0; number < hierarchy->count && is_found; number++)
        is_found = find_home(hierarchy, number, outside, owner, &homes[number]);
    arena_release(&scratch);
    return is_found;
}

/* How far homes are to be moved apart, so that boxes with room around them do not touch. */
static double find_spread(const struct hierarchy *hierarchy, const struct spot *homes, const struct spot *sizes,
                          double room)
{
    double spread = 1;
    for (uint32_t a = 0; a < hierarchy->count; a++)
        for (uint32_t b = 0; b < a; b++) {
            double x = fabs(homes[a].x - homes[b].x), y = fabs(homes[a].y - homes[b].y);
            double across = (sizes[a].x + sizes[b].x + room) / x, down = (sizes[a].y + sizes[b].y + room) / y;
            double needed = x < 1e-9 ? down : y < 1e-9 ? across : fmin(across, down);
            spread = needed > spread && needed < 1e6 ? needed : spread;
        }
    return spread;
}

/* In rows, as many in each; returns where the first begins, half of its width and what is above all. */
static struct spot place_rows(const struct hierarchy *hierarchy, const struct spot *sizes, struct spot *homes)
{
    uint32_t count = hierarchy->count, columns = count;
    struct spot most = {0, 0};
    if (count > MOST_IN_A_ROW)
        columns = (uint32_t)ceil(sqrt(2.0 * count));
    for (uint32_t number = 0; number < count; number++)
        most = (struct spot){fmax(most.x, sizes[number].x), fmax(most.y, sizes[number].y)};
    double across = 2 * most.x + GAP, down = 2 * most.y + GAP;
    for (uint32_t number = 0; number < count; number++)
        homes[number] =
            (struct spot){(number % columns - (columns - 1) / 2.0) * across, number / columns * down + most.y};
    return (struct spot){columns * across / 2 - GAP / 2, 0};
}

/* ---- the whole ---- */

struct hierarchy_layout {
    struct layout *layout;
    const struct hierarchy *hierarchy;
    struct piece *kinds, outside;
    struct spot *homes, *sizes; /* of boxes, half */
};

static void lay_inside(const struct hierarchy_layout *all)
{
    const struct hierarchy *hierarchy = all->hierarchy;
    for (uint32_t number = 0; number < hierarchy->count; number++) {
        const struct subnetwork *own = &hierarchy->subnetworks[number];
        const struct piece *piece = &all->kinds[own->number_of_kind];
        struct spot home = all->homes[number];
        for (uint32_t i = 0; i < own->kind->topology.routers; i++) {
            struct spot at = piece->layout.routers[i];
            all->layout->routers[own->first_router + i] = (struct spot){home.x + at.x, home.y + at.y};
            all->layout->outward[own->first_router + i] = piece->layout.outward[i];
        }
    }
}

/* Outside routers at their places; those with a box over them at its lower right corner. */
static void lay_around(const struct hierarchy_layout *all, double spread, struct spot corner)
{
    const struct hierarchy *hierarchy = all->hierarchy;
    for (uint32_t i = 0; i < hierarchy->outside.routers && !hierarchy->is_direct; i++) {
        struct spot at = all->outside.layout.routers[i];
        all->layout->routers[hierarchy->first_outside + i] =
            (struct spot){at.x * spread + corner.x, at.y * spread + corner.y};
        all->layout->outward[hierarchy->first_outside + i] = (struct spot){M_SQRT1_2, M_SQRT1_2};
    }
}

/* Copies of the outside network side by side above the rows, as wide as these. */
static void lay_above(const struct hierarchy_layout *all, double half)
{
    const struct hierarchy *hierarchy = all->hierarchy;
    const struct piece *piece = &all->outside;
    double share = 2 * half / hierarchy->copies, wide = fmax(1, (share - 1) / fmax(1, 2 * piece->half.x));
    double tall = fmax(1, fmin(wide, 3)), above = 1.6 + 0.08 * half;
    for (uint32_t copy = 0; copy < hierarchy->copies; copy++)
        for (uint32_t i = 0; i < hierarchy->outside.routers; i++) {
            struct spot at = piece->layout.routers[i];
            uint32_t router = hierarchy->first_outside + copy * hierarchy->outside.routers + i;
            all->layout->routers[router] =
                (struct spot){(copy + 0.5) * share - half + at.x * wide, -above - tall * (piece->half.y - at.y)};
            all->layout->outward[router] = (struct spot){0, -1};
        }
}

static void draw_boxes(const struct hierarchy_layout *all, struct arena *arena)
{
    struct layout *layout = all->layout;
    layout->discs = layout->label_count = all->hierarchy->count;
    layout->disc_centres = all->homes;
    layout->disc_sizes = all->sizes;
    layout->labels = arena_array(arena, struct layout_label, layout->label_count);
    for (uint32_t number = 0; number < layout->label_count; number++)
        layout->labels[number] = (struct layout_label){
            {all->homes[number].x - all->sizes[number].x + 0.25, all->homes[number].y + all->sizes[number].y - 0.25},
            arena_format(arena, "%u", number)};
}

void lay_hierarchy(struct layout *layout, const struct hierarchy *hierarchy, struct arena *arena)
{
    struct hierarchy_layout all = {.layout = layout,
                                   .hierarchy = hierarchy,
                                   .kinds = arena_array(arena, struct piece, hierarchy->kind_count),
                                   .homes = arena_array(arena, struct spot, hierarchy->count),
                                   .sizes = arena_array(arena, struct spot, hierarchy->count)};
    struct spot most = {0, 0};
    layout->outside_step = HUGE_VAL;
    lay_piece(&all.outside, &hierarchy->outside, false, arena);
    bool is_at_home = find_homes(hierarchy, all.outside.layout.routers, all.homes);
    for (uint32_t i = 0; i < hierarchy->kind_count; i++) {
        lay_piece(&all.kinds[i], &hierarchy->kinds[i].topology, !is_at_home, arena);
        layout->bends |= all.kinds[i].layout.bends;
    }
    for (uint32_t number = 0; number < hierarchy->count; number++) {
        struct spot half = all.kinds[hierarchy->subnetworks[number].number_of_kind].half;
        all.sizes[number] = (struct spot){half.x + EDGE, half.y + EDGE};
        most = (struct spot){fmax(most.x, half.x + EDGE), fmax(most.y, half.y + EDGE)};
    }
    layout->name = "sub-networks";
    layout->style = "groups";
    layout->groups = hierarchy->router_subnetwork;
    if (is_at_home) {
        double spread = find_spread(hierarchy, all.homes, all.sizes, hierarchy->is_direct ? GAP : 2 * GAP + EDGE);
        for (uint32_t number = 0; number < hierarchy->count; number++)
            all.homes[number] = (struct spot){all.homes[number].x * spread, all.homes[number].y * spread};
        layout->outside_step = spread;
        lay_around(&all, spread, (struct spot){most.x + EDGE, most.y + EDGE});
    } else {
        lay_above(&all, place_rows(hierarchy, all.sizes, all.homes).x);
    }
    lay_inside(&all);
    draw_boxes(&all, arena);
}

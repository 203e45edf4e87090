/* SPDX-License-Identifier: Apache-2.0 */
/* Places of routers in a picture, see layout.h. */
#include "view/layout.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/tree.h"
#include "network/places.h"

#include <math.h>

#define TURN (2 * M_PI)

static struct spot around(struct spot centre, double radius, double angle)
{
    return (struct spot){centre.x + radius * cos(angle), centre.y + radius * sin(angle)};
}

static struct spot direction(double angle) { return around((struct spot){0, 0}, 1, angle); }

/* The first of `count` on a circle is on top. */
static double clock_angle(uint32_t index, uint32_t count) { return TURN * index / count - TURN / 4; }

/* On a circle of this radius, `count` things are `apart` from each other along it. */
static double circle_radius(uint32_t count, double apart) { return count > 1 ? count * apart / TURN : 0; }

/* ---- circle ---- */

static void lay_circle(struct layout *layout, const struct topology *topology)
{
    double radius = circle_radius(topology->routers, 1);
    layout->name = "circle";
    layout->style = "force";
    for (uint32_t router = 0; router < topology->routers; router++) {
        double angle = clock_angle(router, topology->routers);
        layout->routers[router] = around((struct spot){0, 0}, radius < 1 ? 1 : radius, angle);
        layout->outward[router] = direction(angle);
    }
}

/* ---- grids ---- */

/* Dimensions go right and down in turns: a grid of grids of grids. */
static void lay_grid(struct layout *layout, const struct topology *topology)
{
    uint32_t dimensions = topology_dimensions(topology), width[MAX_DIMENSIONS] = {0};
    double step[MAX_DIMENSIONS];
    layout->name = "grid";
    layout->style = "grid";
    layout->bends = true;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t d = 0; d < dimensions; d++) {
            uint32_t needed = topology_coordinate(topology, router, d) + 1;
            width[d] = needed > width[d] ? needed : width[d];
        }
    for (uint32_t d = 0; d < dimensions; d++)
        step[d] = d < 2 ? 1 : step[d - 2] * width[d - 2] + 0.6;
    for (uint32_t router = 0; router < topology->routers; router++) {
        struct spot *spot = &layout->routers[router];
        for (uint32_t d = 0; d < dimensions; d++)
            *(d % 2 ? &spot->y : &spot->x) += step[d] * topology_coordinate(topology, router, d);
        layout->outward[router] = direction(TURN / 8);
    }
}

/* ---- levels ---- */

/* Levels of a tree from the leaves at the bottom to the roots, each as wide as the widest. */
static void lay_tree(struct layout *layout, const struct topology *topology, struct arena *arena)
{
    const struct tree *tree = topology->tree;
    double widest = 0;
    for (uint32_t level = 0; level < tree->levels; level++)
        widest = fmax(widest, tree->first_router[level + 1] - tree->first_router[level]);
    double height = fmax(1.5, widest / 6);
    layout->name = "levels of a tree";
    layout->style = "levels";
    layout->labels = arena_array(arena, struct layout_label, tree->levels);
    for (uint32_t level = 0; level < tree->levels; level++) {
        uint32_t first = tree->first_router[level], count = tree->first_router[level + 1] - first;
        double y = (tree->levels - 1 - level) * height;
        for (uint32_t i = 0; i < count; i++) {
            layout->routers[first + i] = (struct spot){(i + 0.5) * widest / count, y};
            layout->outward[first + i] = direction(TURN / 4);
        }
        layout->labels[layout->label_count++] =
            (struct layout_label){{-0.4, y}, arena_format(arena, "level %u", level)};
    }
}

/* Stages of a butterfly from left to right. */
static void lay_butterfly(struct layout *layout, const struct topology *topology, struct arena *arena)
{
    const struct butterfly *fly = topology->butterfly;
    double across = fmax(2, fly->rows / 4.0);
    layout->name = "stages of a butterfly";
    layout->style = "levels";
    layout->labels = arena_array(arena, struct layout_label, fly->stages);
    for (uint32_t stage = 0; stage < fly->stages; stage++) {
        for (uint32_t row = 0; row < fly->rows; row++) {
            layout->routers[stage * fly->rows + row] = (struct spot){stage * across, row};
            layout->outward[stage * fly->rows + row] = direction(stage ? 0 : TURN / 2);
        }
        layout->labels[layout->label_count++] =
            (struct layout_label){{stage * across, -0.6}, arena_format(arena, "stage %u", stage)};
    }
}

/* ---- groups ---- */

static void lay_groups(struct layout *layout, const struct topology *topology, const uint32_t *groups,
                       struct arena *arena)
{
    uint32_t routers = topology->routers, count = 0, largest = 0;
    for (uint32_t router = 0; router < routers; router++)
        count = groups[router] + 1 > count ? groups[router] + 1 : count;
    uint32_t *size = arena_array(arena, uint32_t, count), *seen = arena_array(arena, uint32_t, count);
    for (uint32_t router = 0; router < routers; router++)
        largest = ++size[groups[router]] > largest ? size[groups[router]] : largest;
    double radius = fmax(circle_radius(largest, 0.9), largest > 1 ? 0.45 : 0);
    layout->name = "ring of groups";
    layout->style = "groups";
    layout->groups = groups;
    layout->discs = layout->label_count = count;
    layout->disc_radius = radius + 0.45;
    layout->disc_centres = arena_array(arena, struct spot, count);
    layout->labels = arena_array(arena, struct layout_label, count);
    double ring = fmax(circle_radius(count, 2 * layout->disc_radius + 0.5), count > 1 ? layout->disc_radius * 1.2 : 0);
    for (uint32_t group = 0; group < count; group++) {
        double angle = clock_angle(group, count);
        layout->disc_centres[group] = around((struct spot){0, 0}, ring, angle);
        layout->labels[group] = (struct layout_label){
            around((struct spot){0, 0}, ring + layout->disc_radius + 0.3, angle), arena_format(arena, "%u", group)};
    }
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t group = groups[router];
        /* Its routers begin at the outside, so that all groups look alike from the middle. */
        double angle = clock_angle(group, count) + TURN * seen[group]++ / size[group];
        layout->routers[router] = around(layout->disc_centres[group], size[group] > 1 ? radius : 0, angle);
        layout->outward[router] = direction(angle);
    }
}

/* ---- floor plan ---- */

/* As they stand, 1 apart on average. */
static void lay_plan(struct layout *layout, const struct topology *topology, const double *places)
{
    uint32_t routers = topology->routers;
    double low[] = {places[0], places[1]}, high[] = {places[0], places[1]};
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], places[3 * (size_t)router + axis]);
            high[axis] = fmax(high[axis], places[3 * (size_t)router + axis]);
        }
    double extent = fmax(high[0] - low[0], high[1] - low[1]), scale = extent > 0 ? 2 * sqrt(routers) / extent : 1;
    layout->name = "floor plan";
    layout->style = "plan";
    for (uint32_t router = 0; router < routers; router++) {
        const double *place = places + 3 * (size_t)router;
        layout->routers[router] = (struct spot){(place[0] - low[0]) * scale, (place[1] - low[1]) * scale};
        layout->outward[router] = direction(TURN / 8);
    }
}

void layout_find(struct layout *layout, const struct topology *topology, const double *places, struct arena *arena)
{
    uint32_t dimensions = topology_dimensions(topology);
    const uint32_t *groups = topology_groups(topology, arena);
    *layout = (struct layout){.routers = arena_array(arena, struct spot, topology->routers),
                              .outward = arena_array(arena, struct spot, topology->routers)};
    if (places)
        lay_plan(layout, topology, places);
    else if (groups)
        lay_groups(layout, topology, groups, arena);
    else if (topology->tree)
        lay_tree(layout, topology, arena);
    else if (topology->butterfly)
        lay_butterfly(layout, topology, arena);
    else if (dimensions > 1 || (topology->grid && !topology->grid->wraps))
        lay_grid(layout, topology);
    else
        lay_circle(layout, topology);
}
